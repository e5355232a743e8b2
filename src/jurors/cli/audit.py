"""`jurors audit plan` and `jurors audit result`."""

from __future__ import annotations

from pathlib import Path

import click

from jurors.cli.options import Source, texts_options, votes_options
from jurors.cli.output import Output, output_options
from jurors.cli.paths import READS, also_writes
from jurors.whole import is_stream


@click.group()
def audit() -> None:
    """A person labels a few items drawn at random, and the grades become guaranteed."""


@audit.command()
@votes_options
@click.option("-n", type=click.IntRange(min=1), default=30, show_default=True,
              help="How many items to draw: as many as you may label at most.")  # fmt: skip
@click.option("--after", multiple=True, metavar="SHEET", type=READS, help="Go on where this sheet ended; repeatable.")
@click.option("--blind/--open", default=True, show_default=True,
              help="Hide the votes from whoever labels; they go into a second file, SHEET.votes.csv.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the draw.")
@texts_options
@output_options("csv", "text", "json", alarms=False)
def plan(
    source: Source, n: int, after: tuple[str, ...], blind: bool, seed: int, items: str | None, text: tuple[str, ...],
    output: Output,
) -> None:  # fmt: skip
    """Draw items of FILE for a person to label, each with a known chance."""
    import jurors

    beside = _beside(output.path) if blind else None
    with output.working("drawing") as bar:
        votes, texts = source.read_with_texts(items, text, bar)
        sheet = jurors.audit.plan(votes, n, after=after or None, texts=texts, blind=blind, seed=seed)
    output.show(sheet, beside={str(beside): sheet.open().to_csv()} if beside else {})


def _beside(sheet: str | None) -> Path | None:
    """Where the votes go that the sheet hides; nowhere without a file."""
    if sheet is None or is_stream(Path(sheet)):
        return None
    path = Path(sheet).with_name(f"{Path(sheet).stem}.votes.csv")
    also_writes("SHEET.votes.csv", path)
    return path
