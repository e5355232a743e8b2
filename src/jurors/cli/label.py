"""`jurors label FILE`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from jurors.cli.options import Source, by_option, grading_options, votes_options
from jurors.cli.output import Output, output_options


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

    with output.working("labelling") as bar:
        if by is None:
            labelling = jurors.label(source.read(bar), **grading)
        else:
            votes, named = source.read_with_groups(by, bar)
            labelling, groups, _ = jurors.label_by(votes, named, column=by, **grading)
            labelling = replace(labelling, groups=groups)
    output.show(labelling if review is None else replace(labelling, listed=labelling.review(review)))
