"""`jurors label FILE`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from jurors.cli.grade import only_level
from jurors.cli.options import Source, by_option, grading_options, texts_options, votes_options
from jurors.cli.output import Output, output_options
from jurors.errors import OptionError


@click.command()
@votes_options
@grading_options
@click.option("--review", type=click.IntRange(min=1), metavar="N",
              help="Only the N items where a person's label would teach most, and why.")  # fmt: skip
@by_option
@texts_options
@output_options("text", "json", "csv", "md")
def label(
    source: Source, grading: dict[str, Any], review: int | None, by: str | None, items: str | None,
    text: tuple[str, ...], output: Output,
) -> None:  # fmt: skip
    """One label per item of FILE, with the probability that it is right.

    Where votes are numbers (--scale interval), one value per item, with its interval.
    """
    import jurors

    if review is None and (items or text):
        raise OptionError("--items and --text show the items of a review: say how many with --review N")
    with output.working("labelling") as bar:
        if (numbers := source.numbers(bar)) is not None:
            level = only_level("numbers", grading, review=review, by=by)
            output.show(jurors.value_items(numbers, level=level))
            return
        source, texts = source.showing(items, text)
        if by is None:
            votes = source.read(bar)
            if (numbers := source.numbers(bar, votes)) is not None:
                output.show(jurors.value_items(numbers, level=only_level("numbers", grading, review=review)))
                return
            labelling = jurors.label(votes, **grading)
        else:
            votes, named = source.read_with_groups(by, bar)
            if votes.scale == "interval":
                only_level("numbers", grading, review=review, by=by)
            labelling, groups, _ = jurors.label_by(votes, named, column=by, **grading)
            labelling = replace(labelling, groups=groups)
        shown = labelling if review is None else labelling.for_review(review, votes, texts)
    output.show(shown)
