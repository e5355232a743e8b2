"""`jurors import FILE`; the word is Python's own, hence the module's name."""

from __future__ import annotations

from pathlib import Path

import click

from jurors.cli.paths import READS
from jurors.cli.serving import store_option, with_store
from jurors.cli.streams import say


@click.command("import")
@click.argument("file", metavar="FILE", type=READS)
@store_option
@click.option("--project", metavar="NAME", help="One project of FILE alone; without it, all that it holds.")
@click.option("--quiet", is_flag=True, help="Nothing on stderr.")
def import_(file: str, store: str, project: str | None, quiet: bool) -> None:
    """Restore what `jurors export` wrote, all of it or nothing; no project is ever overwritten."""
    with with_store(store) as opened:
        from jurors.serve.backup import import_backup

        names = import_backup(opened, Path(file), project)
    if not quiet:
        say(f"jurors: restored {', '.join(names) or 'no project'}")
