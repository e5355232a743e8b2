"""`jurors grade FILE`."""

from __future__ import annotations

from typing import Any

import click

from jurors.cli.options import Source, by_option, grading_options, votes_options
from jurors.cli.output import Output, json_text, output_options


@click.command()
@votes_options
@grading_options
@click.option("--exam", is_flag=True, help="Choices mean nothing across questions: report scores only.")
@by_option
@output_options("text", "json", "csv", "md")
def grade(source: Source, grading: dict[str, Any], exam: bool, by: str | None, output: Output) -> None:
    """Grade the jurors of FILE without an answer key."""
    import jurors
    from jurors.evaluate.card import csv_rows, markdown_card, text_card
    from jurors.tables import csv_text

    if by is not None:
        with output.working("grading") as bar:
            votes, groups = source.read_with_groups(by, bar)
            found = jurors.grade_by(votes, groups, column=by, exam=exam, **grading)
        write_groups(found, output)
        output.exit(found.alarms)
        return
    with output.working("grading") as bar:
        evaluation = jurors.grade(source.read(bar) if grading["gold"] else source.count(bar), exam=exam, **grading)
    match output.format:
        case "json":
            output.write(json_text(evaluation.to_dict()))
        case "csv":
            output.write(csv_text(*csv_rows(evaluation)))
            output.warn(evaluation.alarms)
        case "md":
            output.write(markdown_card(evaluation))
        case _:
            output.write(text_card(evaluation))
    output.exit(evaluation.alarms)


def write_groups(found: Any, output: Output) -> None:
    """Grades by group, in the format asked for."""
    from jurors.jury.groups.by_group_card import markdown_card, shown_alarms
    from jurors.tables import csv_text

    match output.format:
        case "json":
            output.write(json_text(found.to_dict()))
        case "csv":
            output.write(csv_text(*found.rows()))
            output.warn(shown_alarms(found.alarms))
        case "md":
            output.write(markdown_card(found))
        case _:
            output.write(str(found))
