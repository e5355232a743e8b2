"""`jurors rank FILE`."""

from __future__ import annotations

from typing import Any

import click

from jurors.cli.options import Source, pairs_options, sureness_options
from jurors.cli.output import Output, output_options


@click.command()
@pairs_options
@sureness_options
@output_options("text", "json", "csv", "md")
def rank(source: Source, sureness: dict[str, Any], output: Output) -> None:
    """Rank the objects of FILE by who preferred which of two.

    FILE has a row per answer: two objects (left,right or model_a,model_b …) and the winner, or a tie; a column may name
    the juror. Or a winner and a loser.
    """
    import jurors

    with output.working("ranking") as bar:
        ranking = jurors.rank(source.files, **sureness, progress=bar, **source.options)
    output.show(ranking)
