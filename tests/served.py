"""What tests of the server share."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import uvicorn

from jurors.serve.app import Settings, create_app
from jurors.serve.auth import ApiKey, ServerLimits
from jurors.serve.middleware import HeaderTimeoutProtocol

Talk = Callable[[httpx.AsyncClient], Awaitable[Any]]


@dataclass
class KeysInMemory:
    """Where keys are kept, without a database."""

    kept: dict[str, ApiKey] = field(default_factory=dict)

    def add_key(self, key: ApiKey) -> None:
        self.kept[key.id] = key

    def key(self, id: str) -> ApiKey | None:
        return self.kept.get(id)

    def all_keys(self) -> Iterable[ApiKey]:
        return list(self.kept.values())

    def revoke_key(self, id: str, when: float) -> bool:
        there = self.kept.get(id)
        if there is None or there.revoked is not None:
            return False
        self.kept[id] = replace(there, revoked=when)
        return True

    def any_key(self) -> bool:
        return bool(self.kept)


def talked(place: str, talk: Talk) -> Any:
    """What a client gets out of an application in this process."""

    async def within() -> Any:
        app = create_app(Settings(store=place))
        async with app.router.lifespan_context(app):
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
                return await talk(client)

    return asyncio.run(within())


@contextmanager
def running(place: str, limits: ServerLimits | None = None) -> Iterator[str]:
    """The address of a server on a socket, in a thread of this process."""
    app = create_app(Settings(store=place), limits)
    config = uvicorn.Config(app, port=0, log_config=None, access_log=False, ws="none", http=HeaderTimeoutProtocol)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
