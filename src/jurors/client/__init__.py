"""The other end of `jurors serve`: `Client`, and `AsyncClient` for programs that wait for many things at once."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self, TypeVar

from jurors.client import protocol as requests
from jurors.client.protocol import (
    BATCH_SIZE,
    Call,
    Document,
    Event,
    EventReader,
    batches,
    error_from_response,
    events_of,
    httpx,
    is_retryable,
    of_project,
    options,
    retry_after,
    retry_delays,
    server_url,
    vote_documents,
)
from jurors.errors import ServerError

# `jurors.Client`: one call after the other.


T = TypeVar("T")


class Client:
    """A server of `jurors serve`.

    Every call is tried again, up to `retries` times and ever more patiently, when the network fails or the server is
    busy; a repeat changes nothing there. A refusal is a `ServerError` with the server's own line.

    Parameters
    ----------
    url
        Where the server is, as it prints it: "http://127.0.0.1:8000".
    key
        The API key, where the server asks for one.
    timeout, retries
        Seconds to wait for an answer, and how often to try again.
    transport
        How httpx is to reach the server, where not by the network (tests).
    """

    def __init__(
        self, url: str, key: str | None = None, *, timeout: float = 30.0, retries: int = 5, transport: Any = None
    ) -> None:
        self.url = server_url(url)
        self.retries = retries
        self._http = httpx().Client(**options(self.url, key, timeout, transport))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    # -- projects and votes ---------------------------------------------------------------------------------------

    def projects(self) -> list[Document]:
        """What projects there are, and how much each holds."""
        return self._send(requests.projects())

    def put_project(
        self, project: str, *, labels: Sequence[Any] | None = None, window: Any = None,
        thresholds: Mapping[str, Any] | None = None, settle: float | None = None,
    ) -> Document:  # fmt: skip
        """Make a project, or find it as it is."""
        settings = {"labels": labels, "window": window, "thresholds": thresholds, "settle": settle}
        return self._send(requests.put_project(project, settings))

    def delete_project(self, project: str) -> None:
        """Take a project away, votes and all."""
        self._send(requests.delete_project(project))

    def post_votes(self, project: str, votes: Any, *, batch: int = BATCH_SIZE) -> int:
        """Send votes, so many per request; how many the server holds durably now.

        `votes` are `Votes`, a dataframe, mappings with `item`, `juror`, `label` (and `time`), or tuples in that order.
        """
        return sum(self._send(requests.votes(project, part)) for part in batches(vote_documents(votes), batch))

    def post_log(self, project: str, log: Any) -> int:
        """Send a log of another tool (Inspect AI, OTLP spans with annotations), as parsed from its JSON."""
        return self._send(requests.log(project, log))

    def post_gold(self, project: str, gold: Mapping[Any, Any] | Iterable[Mapping[str, Any]]) -> int:
        """Send what a person says of some items: item -> label."""
        return self._send(requests.gold(project, gold))

    # -- what is known --------------------------------------------------------------------------------------------

    def grade(self, project: str, *, window: str | None = None, max_age: float | None = None) -> Document:
        """The report card, as `jurors grade --format json` prints it."""
        return self._send(requests.reading(project, "grade", window=window, max_age=max_age))

    def labels(self, project: str, *, after: str | None = None, limit: int | None = None) -> Document:
        """The best label of each item, a page of them."""
        return self._send(requests.reading(project, "labels", after=after, limit=limit))

    def alarms(self, project: str) -> Document:
        """What rings, and what rang."""
        return self._send(requests.reading(project, "alarms"))

    def history(self, project: str) -> Document:
        """The grades over time."""
        return self._send(requests.reading(project, "history"))

    def review(self, project: str, *, limit: int | None = None) -> Document:
        """The items where a person's label would teach most."""
        return self._send(requests.reading(project, "review", limit=limit))

    def report(self, project: str) -> str:
        """The page, as HTML."""
        return self._send(requests.report(project))

    def events(self, project: str) -> Iterator[Event]:
        """What happens, as it happens; until the server or the caller ends it."""
        with self._http.stream("GET", of_project(project, "events"), timeout=None) as answer:
            if answer.status_code != 200:
                raise error_from_response(answer.status_code, answer.read().decode("utf-8", "replace"))
            yield from events_of(answer.iter_lines())

    def _send(self, call: Call[T]) -> T:
        for planned in [*retry_delays(self.retries), None]:
            try:
                answer = self._http.request(**call.arguments())
            except httpx().TransportError as error:
                if planned is None:
                    raise ServerError(f"{self.url} cannot be reached: {error}") from None
                time.sleep(planned)
                continue
            if planned is None or not is_retryable(answer.status_code):
                break
            time.sleep(retry_after(answer.headers.get("retry-after"), planned))
        if not answer.is_success:
            raise error_from_response(answer.status_code, answer.text)
        return call.read(answer.text)


# `jurors.AsyncClient`: the same calls, awaited.


class AsyncClient:
    """A server of `jurors serve`, for programs that wait for many things at once; arguments as of `Client`."""

    def __init__(
        self, url: str, key: str | None = None, *, timeout: float = 30.0, retries: int = 5, transport: Any = None
    ) -> None:
        self.url = server_url(url)
        self.retries = retries
        self._http = httpx().AsyncClient(**options(self.url, key, timeout, transport))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncClient({self.url!r})"

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    # -- projects and votes ---------------------------------------------------------------------------------------

    async def projects(self) -> list[Document]:
        """What projects there are, and how much each holds."""
        return await self._send(requests.projects())

    async def put_project(
        self, project: str, *, labels: Sequence[Any] | None = None, window: Any = None,
        thresholds: Mapping[str, Any] | None = None, settle: float | None = None,
    ) -> Document:  # fmt: skip
        """Make a project, or find it as it is."""
        settings = {"labels": labels, "window": window, "thresholds": thresholds, "settle": settle}
        return await self._send(requests.put_project(project, settings))

    async def delete_project(self, project: str) -> None:
        """Take a project away, votes and all."""
        await self._send(requests.delete_project(project))

    async def post_votes(self, project: str, votes: Any, *, batch: int = BATCH_SIZE) -> int:
        """Send votes, so many per request, one after the other; how many the server holds durably now."""
        accepted = 0
        for part in batches(vote_documents(votes), batch):
            accepted += await self._send(requests.votes(project, part))
        return accepted

    async def post_log(self, project: str, log: Any) -> int:
        """Send a log of another tool (Inspect AI, OTLP spans with annotations), as parsed from its JSON."""
        return await self._send(requests.log(project, log))

    async def post_gold(self, project: str, gold: Mapping[Any, Any] | Iterable[Mapping[str, Any]]) -> int:
        """Send what a person says of some items: item -> label."""
        return await self._send(requests.gold(project, gold))

    # -- what is known --------------------------------------------------------------------------------------------

    async def grade(self, project: str, *, window: str | None = None, max_age: float | None = None) -> Document:
        """The report card, as `jurors grade --format json` prints it."""
        return await self._send(requests.reading(project, "grade", window=window, max_age=max_age))

    async def labels(self, project: str, *, after: str | None = None, limit: int | None = None) -> Document:
        """The best label of each item, a page of them."""
        return await self._send(requests.reading(project, "labels", after=after, limit=limit))

    async def alarms(self, project: str) -> Document:
        """What rings, and what rang."""
        return await self._send(requests.reading(project, "alarms"))

    async def history(self, project: str) -> Document:
        """The grades over time."""
        return await self._send(requests.reading(project, "history"))

    async def review(self, project: str, *, limit: int | None = None) -> Document:
        """The items where a person's label would teach most."""
        return await self._send(requests.reading(project, "review", limit=limit))

    async def report(self, project: str) -> str:
        """The page, as HTML."""
        return await self._send(requests.report(project))

    async def events(self, project: str) -> AsyncIterator[Event]:
        """What happens, as it happens; until the server or the caller ends it."""
        reader = EventReader()
        async with self._http.stream("GET", of_project(project, "events"), timeout=None) as answer:
            if answer.status_code != 200:
                raise error_from_response(answer.status_code, (await answer.aread()).decode("utf-8", "replace"))
            async for line in answer.aiter_lines():
                if (event := reader.take(line)) is not None:
                    yield event

    async def _send(self, call: Call[T]) -> T:
        from asyncio import sleep  # heavy, and `import jurors` stays quick

        for planned in [*retry_delays(self.retries), None]:
            try:
                answer = await self._http.request(**call.arguments())
            except httpx().TransportError as error:
                if planned is None:
                    raise ServerError(f"{self.url} cannot be reached: {error}") from None
                await sleep(planned)
                continue
            if planned is None or not is_retryable(answer.status_code):
                break
            await sleep(retry_after(answer.headers.get("retry-after"), planned))
        if not answer.is_success:
            raise error_from_response(answer.status_code, answer.text)
        return call.read(answer.text)


__all__ = ["AsyncClient", "Client"]
