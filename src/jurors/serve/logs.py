"""Structured logs: one JSON object per line on standard error. No header, query or body is ever in them."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from jurors.serve.auth import without_secrets

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def note(event: str, level: str = "info", **facts: Any) -> None:
    """Write a line; a log that takes nothing (a full disk) is no reason to stop."""
    moment = datetime.now(UTC).isoformat(timespec="milliseconds")
    line = json.dumps({"time": moment, "level": level, "event": event, **facts}, default=str)
    with suppress(OSError, ValueError):
        sys.stderr.write(f"{without_secrets(line)}\n")
        sys.stderr.flush()


class LogLines(logging.Handler):
    """What uvicorn has to say, as lines like ours."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        facts: dict[str, Any] = {"message": record.getMessage()}
        if record.exc_info and record.exc_info[1] is not None:
            facts["error"] = f"{type(record.exc_info[1]).__name__}: {record.exc_info[1]}"
        note("server", record.levelname.lower(), **facts)


def use_log_lines() -> None:
    """Send uvicorn's own messages the same way; requests are noted by `RequestLog`."""
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], False
    logging.getLogger("uvicorn.error").addHandler(LogLines())
    logging.getLogger("uvicorn.error").setLevel(logging.INFO)


class RequestLog:
    """A line per request: method, path without its query, status, milliseconds."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and note how it ended."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, status = time.perf_counter(), 500

        async def heard(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, heard)
        finally:
            taken = round(1e3 * (time.perf_counter() - begun), 2)
            note("request", method=scope["method"], path=scope["path"], status=status, ms=taken)
