"""`jurors audit plan` and `jurors audit result`."""

from __future__ import annotations

from pathlib import Path

import click

from jurors.cli.options import Source, texts_options, votes_options
from jurors.cli.output import Output, output_options
from jurors.whole import write_whole


@click.group()
def audit() -> None:
    """A person labels a few items drawn at random, and the grades become guaranteed."""


@audit.command()
@votes_options
@click.option("-n", type=click.IntRange(min=1), default=30, show_default=True,
              help="How many items to draw: as many as you may label at most.")  # fmt: skip
@click.option("--after", multiple=True, metavar="SHEET", help="Go on where this sheet ended; repeatable.")
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

    with output.working("drawing") as bar:
        votes, texts = source.read_with_texts(items, text, bar)
        sheet = jurors.audit.plan(votes, n, after=after or None, texts=texts, blind=blind, seed=seed)
    output.show(sheet)
    if blind and output.path is not None:
        write_whole(_beside(Path(output.path)), sheet.open().to_csv())


def _beside(path: Path) -> Path:
    """Where the votes go that the sheet hides."""
    return path.with_name(f"{path.stem}.votes.csv")
