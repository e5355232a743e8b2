"""`jurors agreement FILE`."""

from __future__ import annotations

import click

from jurors.cli.options import Source, votes_options
from jurors.cli.output import Output, json_text, output_options


@click.command()
@votes_options
@output_options("text", "json", "csv", "md", alarms=False)
def agreement(source: Source, output: Output) -> None:
    """How much the jurors of FILE agree: Krippendorff's alpha, Fleiss' and Cohen's kappa, Gwet's AC1."""
    import jurors
    from jurors.tables import csv_text

    with output.working("counting") as bar:
        found = jurors.agreement(source.read(bar))
    match output.format:
        case "json":
            output.write(json_text(found.to_dict()))
        case "csv":
            output.write(csv_text(("first", "second", "items", "agreement", "cohen_kappa"), found.pairs()))
        case "md":
            output.write("\n\n".join(table.to_markdown() for table in found.tables()))
        case _:
            output.write(str(found))
