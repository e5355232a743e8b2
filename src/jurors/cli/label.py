"""`jurors label FILE`."""

from __future__ import annotations

from typing import Any

import click

from jurors.cli.options import Output, Source, grading_options, json_text, output_options, votes_options


@click.command()
@votes_options
@grading_options
@click.option("--review", type=click.IntRange(min=1), metavar="N",
              help="Only the N items where a person's look helps most, least certain first.")  # fmt: skip
@output_options("text", "json", "csv", "md")
def label(source: Source, grading: dict[str, Any], review: int | None, output: Output) -> None:
    """One label per item of FILE, with the probability that it is right."""
    import jurors
    from jurors.tables import Table, csv_text

    with output.working("labelling"):
        labelling = jurors.label(source.read(), **grading)
    columns = ("item", "label", "probability")
    rows = labelling.rows(None if review is None else labelling.review(review))
    match output.format:
        case "json":
            document = labelling.to_dict()
            document["items"] = [dict(zip(columns, (i, a, None if p != p else p), strict=True)) for i, a, p in rows]
            output.write(json_text(document))
        case "csv":
            output.write(csv_text(columns, rows))
        case kind:
            shown = tuple((str(i), str(a), None if p != p else f"{p:.4f}") for i, a, p in rows)
            table = Table(columns, shown, right=(2,))
            output.write(table.to_markdown() if kind == "md" else table.to_text())
    output.warn(labelling.alarms)
    output.exit(labelling.alarms)
