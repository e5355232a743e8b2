"""Run the server: one process or several workers on one socket, until a signal asks it to end."""

from __future__ import annotations

import os
import socket
from inspect import signature
from typing import Any

import click
import uvicorn
from uvicorn.supervisors import Multiprocess

from jurors.errors import OptionError
from jurors.serve.app import SETTINGS
from jurors.serve.guard.heads import TimelyHeads
from jurors.serve.guard.hosts import check_reach
from jurors.serve.kept.kept_keys import KeptKeys
from jurors.serve.log_lines import note, use_log_lines
from jurors.serve.settings import Settings
from jurors.serve.stores import open_store, shown_store

_GRACE = 10  #: seconds for requests to end


def run(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM; requests that are being answered are answered."""
    _check(settings)
    listener = _listener(settings)
    host, port = listener.getsockname()[:2]
    os.environ[SETTINGS] = settings.to_json()
    use_log_lines()
    config = uvicorn.Config(
        "jurors.serve.app:from_environment", factory=True, host=host, port=port, workers=settings.workers,
        log_config=None, access_log=False, server_header=False, date_header=True, timeout_graceful_shutdown=_GRACE,
        http=TimelyHeads, ws="none", proxy_headers=False,  # who calls is who is connected: a header can say anything
    )  # fmt: skip
    click.echo(f"http://{f'[{host}]' if ':' in host else host}:{port}")
    note("start", store=shown_store(settings.store), host=host, port=port, workers=settings.workers)
    server = uvicorn.Server(config)
    try:
        if settings.workers > 1:
            asked = signature(Multiprocess).parameters
            target: dict[str, Any] = {"target": server.run} if "target" in asked else {}  # of older versions
            Multiprocess(config, sockets=[listener], **target).run()
        else:
            server.run(sockets=[listener])
    except KeyboardInterrupt:  # the signal that ended it, again, after everything has ended well
        pass
    note("end")


def _check(settings: Settings) -> None:
    """What is wrong with the store, or with letting others in, is told before anybody connects."""
    store = open_store(settings.store)
    try:
        check_reach(settings.host, sum(key.revoked is None for key in KeptKeys(store).all_keys()))
    finally:
        store.close()


def _listener(settings: Settings) -> socket.socket:
    """A socket that takes connections at once: whoever reads the address may connect."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Named as TCP, so that asyncio turns Nagle's delay off: else every answer waits 40 ms for an acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or error
        raise OptionError(f"cannot listen on {settings.host}:{settings.port}: {reason}", name="port") from None
    listener.listen(2_048)
    listener.set_inheritable(True)
    return listener
