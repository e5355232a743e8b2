"""`jurors inspect FILE...`."""

from __future__ import annotations

import click

from jurors.cli.options import Source, votes_options
from jurors.cli.output import Output, output_options
from jurors.errors import JurorsError


@click.command()
@votes_options
@output_options("text", "json", "md", alarms=False)
def inspect(source: Source, output: Output) -> None:
    """Say what FILE... holds, what looks odd, and which commands would work next; nobody is graded."""
    import jurors

    with output.working("looking") as bar:
        inspection = jurors.inspect(source.files, progress=bar, **source.options)
    output.show(inspection)
    if inspection.fault is not None:
        named = any(file in inspection.fault for file in inspection.files)
        raise JurorsError(inspection.fault if named else f"{inspection.files[0]}: {inspection.fault}")
