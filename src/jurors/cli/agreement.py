"""`jurors agreement FILE`."""

from __future__ import annotations

import click

from jurors.cli.options import Source, level_option, votes_options
from jurors.cli.output import Output, output_options
from jurors.cli.streams import say


@click.command()
@votes_options
@level_option
@output_options("text", "json", "csv", "md", alarms=False)
def agreement(source: Source, level: float, output: Output) -> None:
    """How much the jurors of FILE agree: Krippendorff's alpha, kappas, Gwet's AC1 and AC2, ICC, Kendall's W."""
    import jurors

    with output.working("counting") as bar:
        votes = source.read(bar)
        agreed = jurors.agreement(votes, level=level)
    output.warn_of(votes)
    if agreed.left_out and output.format == "csv" and not output.quiet:
        say(agreed.about_left_out)
    output.show(agreed)
