"""Clients of `jurors serve`: `Client`, and `AsyncClient` for programs that use asyncio."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeVar

from jurors.client import protocol
from jurors.client.protocol import BATCH_SIZE, Call, Document, Event, EventReader
from jurors.errors import JurorsError, OptionError

__all__ = ["AsyncClient", "Client"]

T = TypeVar("T")


class _BaseClient:
    """What both clients are made of; `_kind` is httpx's class."""

    _kind: ClassVar[str]

    def __init__(
        self, url: str, key: str | None = None, *, timeout: float = 30.0, retries: int = 5, transport: Any = None
    ) -> None:
        if not url.startswith(("http://", "https://")):
            message = f"{url!r} is not the address of a server; it must start with http:// or https://"
            raise OptionError(message, name="url", value=url)
        self.url = url.rstrip("/")
        self.retries = retries
        try:
            import httpx
        except ImportError:
            raise JurorsError("Client needs httpx: pip install 'jurors[serve]'") from None
        if key is not None and not (key.isascii() and key.isprintable()):
            problem = "this is not an API key, which starts with jk_; create one with `jurors store keys create`"
            raise OptionError(problem, name="key")
        headers = {"Accept": "application/json"} | ({} if key is None else {"Authorization": f"Bearer {key}"})
        self._httpx: Any = httpx
        # no redirect is followed: the key goes to the address it was given for
        options = {"headers": headers, "timeout": timeout, "transport": transport, "follow_redirects": False}
        self._http = getattr(httpx, self._kind)(base_url=self.url, **options)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"


class Client(_BaseClient):
    """A client of `jurors serve`.

    When the network fails or the server is busy, a call is retried up to `retries` times with exponential backoff;
    sending the same data again is safe. If the server refuses a request, `ServerError` has its message.

    Parameters
    ----------
    url
        The address that the server prints: "http://127.0.0.1:8000".
    key
        The API key, if the server requires one.
    timeout, retries
        Seconds to wait for a response, and how often to retry.
    transport
        The httpx transport, for tests.
    """

    _kind = "Client"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    # -- projects and votes ---------------------------------------------------------------------------------------

    def projects(self) -> list[Document]:
        """List the projects: items, votes, jurors, labels and active alarms of each."""
        return self._send(protocol.get_projects())

    def put_project(
        self, project: str, *, labels: Sequence[Any] | None = None, window: Any = None,
        thresholds: Mapping[str, Any] | None = None, settle: float | None = None,
    ) -> Document:  # fmt: skip
        """Create a project, or change the settings of an existing one."""
        settings = {"labels": labels, "window": window, "thresholds": thresholds, "settle": settle}
        return self._send(protocol.put_project(project, settings))

    def delete_project(self, project: str) -> None:
        """Delete a project and all its votes."""
        self._send(protocol.delete_project(project))

    def post_votes(self, project: str, votes: Any, *, batch: int = BATCH_SIZE) -> int:
        """Send votes in batches; returns the number of votes that the server has stored.

        `votes` are `Votes`, a dataframe, mappings with `item`, `juror`, `label` (and `time`), or tuples in that order.
        """
        parts = protocol.batches(protocol.vote_documents(votes), batch)
        return sum(self._send(protocol.post_votes(project, part)) for part in parts)

    def post_log(self, project: str, log: Any) -> int:
        """Send a log of another tool (Inspect AI, OTLP spans with annotations), parsed from JSON."""
        return self._send(protocol.post_log(project, log))

    def post_gold(self, project: str, gold: Mapping[Any, Any] | Iterable[Mapping[str, Any]]) -> int:
        """Send gold labels, the labels that a person gave: item -> label."""
        return self._send(protocol.post_gold(project, gold))

    # -- results --------------------------------------------------------------------------------------------------

    def grade(self, project: str, *, window: str | None = None, max_age: float | None = None) -> Document:
        """Get the grades, as `jurors grade --format json` prints them."""
        return self._send(protocol.get_document(project, "grade", window=window, max_age=max_age))

    def labels(self, project: str, *, after: str | None = None, limit: int | None = None) -> Document:
        """Get the best label of each item and its probability, one page."""
        return self._send(protocol.get_document(project, "labels", after=after, limit=limit))

    def alarms(self, project: str) -> Document:
        """Get the active and past alarms of the stream."""
        return self._send(protocol.get_document(project, "alarms"))

    def history(self, project: str) -> Document:
        """Get the grades of each window."""
        return self._send(protocol.get_document(project, "history"))

    def review(self, project: str, *, limit: int | None = None) -> Document:
        """Get the items whose labels are least likely to be right."""
        return self._send(protocol.get_document(project, "review", limit=limit))

    def report(self, project: str) -> str:
        """Get the report as HTML."""
        return self._send(protocol.get_report(project))

    def events(self, project: str) -> Iterator[Event]:
        """Iterate over events as they happen: votes counted, grades changed, alarms raised or cleared."""
        reader = EventReader()
        with self._http.stream("GET", protocol.project_path(project, "events"), timeout=None) as answer:
            if answer.status_code != 200:
                raise protocol.error_from_response(answer.status_code, answer.read().decode("utf-8", "replace"))
            for line in answer.iter_lines():
                if (event := reader.take(line)) is not None:
                    yield event

    def _send(self, call: Call[T]) -> T:
        answer: Any = None
        for planned in protocol.retry_delays(self.retries):
            try:
                answer = self._http.request(**call.arguments())
            except self._httpx.TransportError as error:
                answer = error
            if (delay := protocol.retry_delay(answer, planned)) is None:
                break
            time.sleep(delay)
        return protocol.read_answer(call, answer, self.url)


class AsyncClient(_BaseClient):
    """A server of `jurors serve`, for programs that wait for many things at once; arguments as of `Client`."""

    _kind = "AsyncClient"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    # -- projects and votes ---------------------------------------------------------------------------------------

    async def projects(self) -> list[Document]:
        """List the projects: items, votes, jurors, labels and active alarms of each."""
        return await self._send(protocol.get_projects())

    async def put_project(
        self, project: str, *, labels: Sequence[Any] | None = None, window: Any = None,
        thresholds: Mapping[str, Any] | None = None, settle: float | None = None,
    ) -> Document:  # fmt: skip
        """Create a project, or change the settings of an existing one."""
        settings = {"labels": labels, "window": window, "thresholds": thresholds, "settle": settle}
        return await self._send(protocol.put_project(project, settings))

    async def delete_project(self, project: str) -> None:
        """Delete a project and all its votes."""
        await self._send(protocol.delete_project(project))

    async def post_votes(self, project: str, votes: Any, *, batch: int = BATCH_SIZE) -> int:
        """Send votes in batches, one after the other; returns the number of votes that the server has stored."""
        accepted = 0
        for part in protocol.batches(protocol.vote_documents(votes), batch):
            accepted += await self._send(protocol.post_votes(project, part))
        return accepted

    async def post_log(self, project: str, log: Any) -> int:
        """Send a log of another tool (Inspect AI, OTLP spans with annotations), parsed from JSON."""
        return await self._send(protocol.post_log(project, log))

    async def post_gold(self, project: str, gold: Mapping[Any, Any] | Iterable[Mapping[str, Any]]) -> int:
        """Send gold labels, the labels that a person gave: item -> label."""
        return await self._send(protocol.post_gold(project, gold))

    # -- results --------------------------------------------------------------------------------------------------

    async def grade(self, project: str, *, window: str | None = None, max_age: float | None = None) -> Document:
        """Get the grades, as `jurors grade --format json` prints them."""
        return await self._send(protocol.get_document(project, "grade", window=window, max_age=max_age))

    async def labels(self, project: str, *, after: str | None = None, limit: int | None = None) -> Document:
        """Get the best label of each item and its probability, one page."""
        return await self._send(protocol.get_document(project, "labels", after=after, limit=limit))

    async def alarms(self, project: str) -> Document:
        """Get the active and past alarms of the stream."""
        return await self._send(protocol.get_document(project, "alarms"))

    async def history(self, project: str) -> Document:
        """Get the grades of each window."""
        return await self._send(protocol.get_document(project, "history"))

    async def review(self, project: str, *, limit: int | None = None) -> Document:
        """Get the items whose labels are least likely to be right."""
        return await self._send(protocol.get_document(project, "review", limit=limit))

    async def report(self, project: str) -> str:
        """Get the report as HTML."""
        return await self._send(protocol.get_report(project))

    async def events(self, project: str) -> AsyncIterator[Event]:
        """Iterate over events as they happen: votes counted, grades changed, alarms raised or cleared."""
        reader = EventReader()
        async with self._http.stream("GET", protocol.project_path(project, "events"), timeout=None) as answer:
            if answer.status_code != 200:
                text = (await answer.aread()).decode("utf-8", "replace")
                raise protocol.error_from_response(answer.status_code, text)
            async for line in answer.aiter_lines():
                if (event := reader.take(line)) is not None:
                    yield event

    async def _send(self, call: Call[T]) -> T:
        from asyncio import sleep  # heavy, and `import jurors` stays quick

        answer: Any = None
        for planned in protocol.retry_delays(self.retries):
            try:
                answer = await self._http.request(**call.arguments())
            except self._httpx.TransportError as error:
                answer = error
            if (delay := protocol.retry_delay(answer, planned)) is None:
                break
            await sleep(delay)
        return protocol.read_answer(call, answer, self.url)
