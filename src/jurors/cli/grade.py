"""`jurors grade FILE`."""

from __future__ import annotations

from typing import Any

import click

from jurors.cli.options import Source, by_option, exam_option, grading_options, scale_option, votes_options
from jurors.cli.output import Output, output_options
from jurors.errors import OptionError
from jurors.options import Grading, GradingOptions, spelled


@click.command()
@votes_options
@grading_options
@exam_option
@by_option
@scale_option
@output_options("text", "json", "csv", "md")
def grade(
    source: Source,
    grading: dict[str, Any],
    exam: bool,
    by: str | None,
    scale: str,
    sides: dict[str, Any],
    output: Output,
) -> None:
    """Grade the jurors of FILE without an answer key."""
    import jurors

    source, pairs = source.as_pairs(scale, sides)
    with output.working("grading") as bar:
        if pairs is not None:
            level = only_level(grading, exam=exam, by=by)
            graded: Any = jurors.grade_pairs(pairs.files, level=level, progress=bar, **pairs.options)
        elif by is not None:
            votes, groups = source.read_with_groups(by, bar)
            graded = jurors.grade_by(votes, groups, column=by, exam=exam, **grading)
        else:
            graded = jurors.grade(source.read(bar) if grading["gold"] else source.count(bar), exam=exam, **grading)
    output.show(graded)


def only_level(grading: dict[str, Any], **others: Any) -> float:
    """How sure the intervals are; OptionError where something is asked that is not for pairs."""
    usual = {one.name: one.default for one in spelled(GradingOptions, Grading)}
    odd = [name for name, value in grading.items() if name != "level" and value != usual[name]]
    if odd := [*odd, *(name for name, value in others.items() if value)]:
        message = f"--{odd[0]} does not apply to pairs, which this table holds: leave it out, or say --scale nominal"
        raise OptionError(message, code="does_not_apply", name=odd[0])
    return float(grading["level"])
