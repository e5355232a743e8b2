"""`jurors serve`."""

from __future__ import annotations

import click

from jurors.cli.serving import store_option
from jurors.errors import JurorsError


@click.command()
@store_option
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65_535),
              help="0 picks one that is free; the address is printed.")  # fmt: skip
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 64), help="Processes on this machine.")
@click.option("--keep", metavar="90d", help="How long votes are kept; their counts stay. Without it, always.")
def serve(store: str, host: str, port: int, workers: int, keep: str | None) -> None:
    """Take votes over HTTP, keep them durably, and grade the jurors as they come in (needs jurors[serve])."""
    try:
        from jurors.serve.running import run
        from jurors.serve.settings import Settings, duration
    except ModuleNotFoundError as error:
        raise JurorsError(f"the server needs {error.name}: pip install 'jurors[serve]'") from None

    kept = None if keep is None else duration(keep)
    run(Settings(store=store, host=host, port=port, workers=workers, keep=kept))
