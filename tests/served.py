"""What tests of the server share."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.testclient import TestClient

from jurors.serve.app import Settings, create_app
from jurors.serve.auth import ServerLimits
from jurors.serve.grading import ProjectReader
from jurors.serve.middleware import HeaderTimeoutProtocol
from jurors.serve.store import SqlStore

ADDRESS = "http://127.0.0.1:8000"


def client_of(place: str) -> TestClient:
    """A client of an application in this process, which runs while it is entered."""
    return TestClient(create_app(Settings(store=place)), base_url=ADDRESS)


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


def error_of(answer: Any) -> tuple[int, str]:
    """The status and code of an error."""
    return answer.status_code, answer.json()["error"]["code"]


def tuples_of(standing: dict[tuple[str, str], Any]) -> Counter[frozenset[tuple[str, Any]]]:
    """How many items have each set of (juror, label), of the labels that stand, by item and juror."""
    items: dict[str, set[tuple[str, Any]]] = {}
    for (item, juror), label in standing.items():
        items.setdefault(item, set()).add((juror, label))
    return Counter(map(frozenset, items.values()))


def counted_tuples(store: SqlStore) -> Counter[frozenset[tuple[str, Any]]]:
    """The same as a store counts it, in its project `p`."""
    panes = ProjectReader(store).latest("p").panes
    counts: Counter[frozenset[tuple[str, Any]]] = Counter()
    for key, times in panes.counts().items():
        counts[frozenset((panes.jurors[k], panes.labels[code - 1]) for k, code in enumerate(key) if code)] += times
    return counts
