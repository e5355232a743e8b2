"""`jurors compare FILE [--key TRUTH]`."""

from __future__ import annotations

import click

from jurors.cli.options import Key, Source, key_options, votes_options
from jurors.cli.output import Output, output_options


@click.command()
@votes_options
@key_options(required=False)
@click.option("--methods", metavar="A,B", help="Only these methods, in this order.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="For methods that draw random numbers."
)
@output_options("text", "json", "csv", "md")
def compare(source: Source, key: Key, methods: str | None, seed: int, output: Output) -> None:
    """All methods side by side, beside the truth where there is a key."""
    import jurors

    with output.working("comparing") as bar:
        votes, truth = source.read_with_key(key, bar)
        chosen = [name.strip() for name in methods.split(",")] if methods else None
        comparison = jurors.compare(votes, truth, methods=chosen, seed=seed)
    output.show(comparison)
