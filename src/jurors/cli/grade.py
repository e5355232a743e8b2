"""`jurors grade FILE`."""

from __future__ import annotations

from typing import Any

import click

from jurors.cli.options import Source, by_option, exam_option, grading_options, votes_options
from jurors.cli.output import Output, output_options


@click.command()
@votes_options
@grading_options
@exam_option
@by_option
@output_options("text", "json", "csv", "md")
def grade(source: Source, grading: dict[str, Any], exam: bool, by: str | None, output: Output) -> None:
    """Grade the jurors of FILE without an answer key."""
    import jurors

    with output.working("grading") as bar:
        if by is not None:
            votes, groups = source.read_with_groups(by, bar)
            graded: Any = jurors.grade_by(votes, groups, column=by, exam=exam, **grading)
        else:
            graded = jurors.grade(source.read(bar) if grading["gold"] else source.count(bar), exam=exam, **grading)
    output.show(graded)
