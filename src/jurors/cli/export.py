"""`jurors export`."""

from __future__ import annotations

from pathlib import Path

import click

from jurors.cli.serving import store_option, with_store
from jurors.cli.streams import put_data
from jurors.cli.writing import Target, target_options


@click.command()
@store_option
@click.option("--project", metavar="NAME", help="One project alone; without it, all of them, and the API keys' hashes.")
@target_options
def export(store: str, project: str | None, target: Target) -> None:
    """Back up a server's store, or one project, as lines of JSON; a server may go on meanwhile."""
    with with_store(store, must_be_there=True) as opened, target.working("writing"):
        from jurors.serve.backup import export_lines
        from jurors.whole import write_whole

        lines = export_lines(opened, project)
        if target.path is not None:
            write_whole(Path(target.path), lines)
            return
        put_data(lines)
