"""`jurors agreement FILE`."""

from __future__ import annotations

import click

from jurors.cli.options import Source, votes_options
from jurors.cli.output import Output, output_options


@click.command()
@votes_options
@output_options("text", "json", "csv", "md", alarms=False)
def agreement(source: Source, output: Output) -> None:
    """How much the jurors of FILE agree: Krippendorff's alpha, Fleiss' and Cohen's kappa, Gwet's AC1."""
    import jurors

    with output.working("counting") as bar:
        votes = source.read(bar)
        agreed = jurors.agreement(votes)
    output.warn_of(votes)
    output.show(agreed)
