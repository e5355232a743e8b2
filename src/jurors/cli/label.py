"""`jurors label FILE`."""

from __future__ import annotations

from typing import Any

import click

from jurors.cli.options import Source, by_option, grading_options, votes_options
from jurors.cli.output import Output, json_text, output_options


@click.command()
@votes_options
@grading_options
@click.option("--review", type=click.IntRange(min=1), metavar="N",
              help="Only the N items where a person's look helps most, least certain first.")  # fmt: skip
@by_option
@output_options("text", "json", "csv", "md")
def label(source: Source, grading: dict[str, Any], review: int | None, by: str | None, output: Output) -> None:
    """One label per item of FILE, with the probability that it is right."""
    import jurors
    from jurors.jury.groups.by_group_card import shown_alarms
    from jurors.tables import Table, csv_text

    with output.working("labelling") as bar:
        if by is None:
            labelling = jurors.label(source.read(bar), **grading)
        else:
            votes, named = source.read_with_groups(by, bar)
            labelling, groups, _ = jurors.label_by(votes, named, column=by, **grading)
    columns: tuple[str, ...] = ("item", "label", "probability")
    which = None if review is None else labelling.review(review)
    rows: list[tuple[Any, ...]] = list(labelling.rows(which))
    if by is not None:
        columns = (*columns, "group")
        rows = [(*row, group) for row, group in zip(rows, groups if which is None else groups[which], strict=True)]
    match output.format:
        case "json":
            document = labelling.to_dict()
            document["items"] = [
                dict(zip(columns, (i, a, None if p != p else p, *group), strict=True)) for i, a, p, *group in rows
            ]
            output.write(json_text(document))
        case "csv":
            output.write(csv_text(columns, rows))
        case kind:
            shown = tuple(
                (str(i), str(a), None if p != p else f"{p:.4f}", *("–" if g is None else str(g) for g in group))
                for i, a, p, *group in rows
            )
            table = Table(columns, shown, right=(2,))
            output.write(table.to_markdown() if kind == "md" else table.to_text())
    output.warn(labelling.alarms if by is None else shown_alarms(labelling.alarms))
    output.exit(labelling.alarms)
