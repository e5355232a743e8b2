"""`jurors grade FILE`."""

from __future__ import annotations

from typing import Any

import click

from jurors.cli.options import Source, by_option, exam_option, grading_options, sides_options, votes_options
from jurors.cli.output import Output, output_options
from jurors.errors import OptionError
from jurors.options import Grading, GradingOptions, spelled


@click.command()
@votes_options
@grading_options
@exam_option
@by_option
@sides_options
@output_options("text", "json", "csv", "md")
def grade(
    source: Source,
    grading: dict[str, Any],
    exam: bool,
    by: str | None,
    sides: dict[str, Any],
    output: Output,
) -> None:
    """Grade the jurors of FILE without an answer key."""
    import jurors

    source, pairs = source.as_pairs(sides)
    with output.working("grading") as bar:
        if pairs is not None:
            level = only_level("pairs", grading, exam=exam, by=by)
            graded: Any = jurors.grade_pairs(pairs.files, level=level, progress=bar, **pairs.options)
        elif by is not None:
            votes, groups = source.read_with_groups(by, bar)
            if votes.scale == "interval":
                only_level("numbers", grading, exam=exam)
            graded = jurors.grade_by(votes, groups, column=by, exam=exam, **grading)
        elif (numbers := source.numbers(bar)) is not None:
            graded = jurors.grade_numbers(numbers, level=only_level("numbers", grading, exam=exam))
        else:
            graded = _graded(source, grading, exam, bar)
    output.show(graded)


def _graded(source: Source, grading: dict[str, Any], exam: bool, bar: Any) -> Any:
    """Labels, levels or numbers, by what FILE turns out to hold."""
    import jurors

    first, again = source.twice()
    votes = first.read(bar) if grading["gold"] else first.count(bar)
    if (numbers := again.numbers(bar, votes)) is not None:
        return jurors.grade_numbers(numbers, level=only_level("numbers", grading, exam=exam))
    return jurors.grade(votes, exam=exam, **grading)


def only_level(kind: str, grading: dict[str, Any], **others: Any) -> float:
    """How sure the intervals are; OptionError where something is asked that is not for this kind of answers."""
    usual = {one.name: one.default for one in spelled(GradingOptions, Grading)}
    odd = [name for name, value in grading.items() if name != "level" and value != usual[name]]
    if odd := [*odd, *(name for name, value in others.items() if value)]:
        instead = "make labels of them (--threshold NUMBER, --bins 5)" if kind == "numbers" else "say --scale nominal"
        message = f"--{odd[0]} does not apply to {kind}, which this table holds: leave it out, or {instead}"
        raise OptionError(message, code="does_not_apply", name=odd[0])
    return float(grading["level"])
