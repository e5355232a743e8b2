"""`jurors bounds FILE`."""

from __future__ import annotations

from typing import Any

import click

from jurors.cli.options import Source, votes_options
from jurors.cli.output import Output, output_options
from jurors.errors import OptionError


@click.command()
@votes_options
@click.option("--correlation", type=click.FloatRange(min=0), metavar="E",
              help="If no error correlation (a covariance, at most 0.25) exceeds E; else logic alone.")  # fmt: skip
@click.option("--tight", is_flag=True, help="With --correlation: search for the narrowest intervals.")
@click.option("--curve", is_flag=True, help="How the bounds widen with the correlation, as rows (two labels).")
@click.option("--spec", metavar="SPEC", help='What is asked of the jurors: "0.6", "A>=0.6,B>=0.7", "gpt-4:A>=0.9".')
@click.option("--exact", is_flag=True, help="With --spec: whole items instead of shares of items.")
@output_options("text", "json", "csv", "md")
def bounds(source: Source, output: Output, curve: bool, **asked: Any) -> None:
    """Guaranteed bounds for every prevalence and accuracy, whatever the answer key is."""
    import jurors

    if curve and any(value for value in asked.values()):
        raise OptionError("--curve tries every correlation by itself; leave the other bounds options out")
    with output.working("bounding") as bar:
        sketch = source.count(bar)
        bounded = jurors.correlation_curve(sketch) if curve else jurors.bounds(sketch, progress=bar, **asked)
    output.warn_of(sketch)
    output.show(bounded)
