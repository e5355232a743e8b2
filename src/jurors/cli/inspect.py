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
        found = jurors.inspect(source.files, progress=bar, **source.options)
    output.show(found)
    if found.fault is not None:
        named = any(file in found.fault for file in found.files)
        raise JurorsError(found.fault if named else f"{found.files[0]}: {found.fault}")
