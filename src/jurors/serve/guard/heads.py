"""HTTP whose requests must begin in time: a connection that sends its headers for ever is closed.

uvicorn ends connections that stay silent between requests, but waits without end for the rest of a request's head; the
time for bodies is the shield's.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 15.0
ENDING = asyncio.Event()  #: this process was asked to end: answers without an end of their own (events) end


class TimelyHeads(H11Protocol):
    """uvicorn's own protocol, with a limit to how long the head of a request may take."""

    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """The first request must begin in time, too."""
        super().connection_made(transport)
        self._heed()

    def data_received(self, data: bytes) -> None:
        """Some bytes: the head may be whole now, or the next one may have begun."""
        super().data_received(data)
        self._heed()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing to wait for any more."""
        self._forget()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """The server ends."""
        ENDING.set()
        super().shutdown()

    def _heed(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._forget()
        elif self._limit is None:
            self._limit = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _forget(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _give_up(self) -> None:
        self._limit = None
        if self.conn.their_state is h11.IDLE:
            self.transport.close()
