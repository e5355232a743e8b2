"""`jurors grade FILE`."""

from __future__ import annotations

from typing import Any

import click

from jurors.cli.options import Output, Source, grading_options, json_text, output_options, votes_options


@click.command()
@votes_options
@grading_options
@click.option("--exam", is_flag=True, help="Choices mean nothing across questions: report scores only.")
@output_options("text", "json", "csv", "md")
def grade(source: Source, grading: dict[str, Any], exam: bool, output: Output) -> None:
    """Grade the jurors of FILE without an answer key."""
    import jurors
    from jurors.evaluate.card import csv_rows, markdown_card, text_card
    from jurors.tables import csv_text

    with output.working("grading"):
        evaluation = jurors.grade(source.read() if grading["gold"] else source.count(), exam=exam, **grading)
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
