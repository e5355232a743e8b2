"""`jurors score FILE --key TRUTH`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from jurors.cli.options import Key, Source, by_option, key_options, votes_options
from jurors.cli.output import Output, output_options


@click.command()
@votes_options
@key_options(required=True)
@by_option
@output_options("text", "json", "csv", "md", alarms=False)
def score(source: Source, key: Key, by: str | None, output: Output) -> None:
    """Grade the jurors of FILE against an answer key, with their error correlations.

    Where votes are numbers (--scale interval), against true values, beside what is estimated without them.
    """
    import jurors

    with output.working("scoring") as bar:
        if by is not None:
            is_column = not Path(str(key.path)).exists()
            one, other = source.twice()
            votes, truth = one.without(by).read_with_key(key, bar)
            _, groups = (other.without(str(key.path)) if is_column else other).read_with_groups(by, bar)
            scored: Any = jurors.score_by(votes, truth, groups, column=by)
        else:
            scored = jurors.score(*source.read_with_key(key, bar))
    if by is None and output.format in ("text", "md"):  # the card of groups has its alarms
        output.warn(getattr(scored, "alarms", ()))
    output.show(scored)
