"""`jurors mcp FILE...`."""

from __future__ import annotations

import click

from jurors.cli.paths import READS


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=READS)
def mcp(files: tuple[str, ...]) -> None:
    """Tools for an assistant over standard input and output: inspect, grade, check, label, audit (needs jurors[mcp]).

    Only FILE... is read, files or folders, and nothing is written.
    """
    from jurors.hosts.assistants import server

    server(files).run("stdio")
