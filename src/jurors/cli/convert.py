"""`jurors convert FILE...`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from jurors.cli.options import Source, sides_options, votes_options
from jurors.cli.streams import put_data
from jurors.cli.writing import Target, target_options


@click.command()
@votes_options
@click.option("--to", type=click.Choice(["long", "wide", "counts", "sketch"]),
              help="The layout of OUT; by default sketch for .sketch.json, counts for counts, else long.")  # fmt: skip
@sides_options
@target_options
def convert(source: Source, to: Any, sides: dict[str, Any], target: Target) -> None:
    """Write the votes of FILE... in another layout or format.

    Which of two objects is better (--scale pairs) becomes votes on pairs: first, second or tie.

    OUT's name says the format: .csv, .tsv, .json, .jsonl, .parquet (text also .gz), .sketch.json; CSV without it.
    """
    from jurors.votes.write import chosen_layout, losses, votes_text, write_votes

    with target.working("converting") as bar:
        source, pairs = source.as_pairs(sides)
        votes = source.read(bar) if pairs is None else pairs.compared(source.options["duplicates"])
        target.warn_of(votes)
        path = None if target.path is None else Path(target.path)
        chosen = chosen_layout(votes, path, to)
        if path is not None:
            write_votes(votes, path, layout=chosen)
    if path is None:
        put_data(votes_text(votes, chosen))
    target.say(losses(votes, chosen))
