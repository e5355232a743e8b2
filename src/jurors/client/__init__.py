"""The other end of `jurors serve`: `Client`, and `AsyncClient` for programs that wait for many things at once."""

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
            message = f"{url!r} is no address of a server: begin with http:// or https://"
            raise OptionError(message, name="url", value=url)
        self.url = url.rstrip("/")
        self.retries = retries
        try:
            import httpx
        except ImportError:
            raise JurorsError("a client needs httpx: pip install 'jurors[serve]'") from None
        if key is not None and not (key.isascii() and key.isprintable()):
            problem = "this is no API key: `jurors keys create` prints one, jk_ and letters and digits"
            raise OptionError(problem, name="key")
        headers = {"Accept": "application/json"} | ({} if key is None else {"Authorization": f"Bearer {key}"})
        self._httpx: Any = httpx
        # no redirect is followed: the key goes to the address it was given for
        options = {"headers": headers, "timeout": timeout, "transport": transport, "follow_redirects": False}
        self._http = getattr(httpx, self._kind)(base_url=self.url, **options)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"


class Client(_BaseClient):
    """A server of `jurors serve`.

    Every call is tried again, up to `retries` times with exponential backoff, when the network fails or the server is
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
        """The projects there are, and how much each holds."""
        return self._send(protocol.get_projects())

    def put_project(
        self, project: str, *, labels: Sequence[Any] | None = None, window: Any = None,
        thresholds: Mapping[str, Any] | None = None, settle: float | None = None,
    ) -> Document:  # fmt: skip
        """Make a project, or get it as it is."""
        settings = {"labels": labels, "window": window, "thresholds": thresholds, "settle": settle}
        return self._send(protocol.put_project(project, settings))

    def delete_project(self, project: str) -> None:
        """Delete a project, votes and all."""
        self._send(protocol.delete_project(project))

    def post_votes(self, project: str, votes: Any, *, batch: int = BATCH_SIZE) -> int:
        """Send votes in batches; how many the server has stored durably.

        `votes` are `Votes`, a dataframe, mappings with `item`, `juror`, `label` (and `time`), or tuples in that order.
        """
        parts = protocol.batches(protocol.vote_documents(votes), batch)
        return sum(self._send(protocol.post_votes(project, part)) for part in parts)

    def post_log(self, project: str, log: Any) -> int:
        """Send a log of another tool (Inspect AI, OTLP spans with annotations), as parsed from its JSON."""
        return self._send(protocol.post_log(project, log))

    def post_gold(self, project: str, gold: Mapping[Any, Any] | Iterable[Mapping[str, Any]]) -> int:
        """Send a person's labels of some items: item -> label."""
        return self._send(protocol.post_gold(project, gold))

    # -- results --------------------------------------------------------------------------------------------------

    def grade(self, project: str, *, window: str | None = None, max_age: float | None = None) -> Document:
        """The report card, as `jurors grade --format json` prints it."""
        return self._send(protocol.get_document(project, "grade", window=window, max_age=max_age))

    def labels(self, project: str, *, after: str | None = None, limit: int | None = None) -> Document:
        """The best label of each item, a page of them."""
        return self._send(protocol.get_document(project, "labels", after=after, limit=limit))

    def alarms(self, project: str) -> Document:
        """The alarms that are active, and those that were."""
        return self._send(protocol.get_document(project, "alarms"))

    def history(self, project: str) -> Document:
        """The grades over time."""
        return self._send(protocol.get_document(project, "history"))

    def review(self, project: str, *, limit: int | None = None) -> Document:
        """The items where a person's label would have the greatest information gain."""
        return self._send(protocol.get_document(project, "review", limit=limit))

    def report(self, project: str) -> str:
        """The page, as HTML."""
        return self._send(protocol.get_report(project))

    def events(self, project: str) -> Iterator[Event]:
        """What happens, as it happens; until the server or the caller ends it."""
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
        """The projects there are, and how much each holds."""
        return await self._send(protocol.get_projects())

    async def put_project(
        self, project: str, *, labels: Sequence[Any] | None = None, window: Any = None,
        thresholds: Mapping[str, Any] | None = None, settle: float | None = None,
    ) -> Document:  # fmt: skip
        """Make a project, or get it as it is."""
        settings = {"labels": labels, "window": window, "thresholds": thresholds, "settle": settle}
        return await self._send(protocol.put_project(project, settings))

    async def delete_project(self, project: str) -> None:
        """Delete a project, votes and all."""
        await self._send(protocol.delete_project(project))

    async def post_votes(self, project: str, votes: Any, *, batch: int = BATCH_SIZE) -> int:
        """Send votes in batches, one after the other; how many the server has stored durably."""
        accepted = 0
        for part in protocol.batches(protocol.vote_documents(votes), batch):
            accepted += await self._send(protocol.post_votes(project, part))
        return accepted

    async def post_log(self, project: str, log: Any) -> int:
        """Send a log of another tool (Inspect AI, OTLP spans with annotations), as parsed from its JSON."""
        return await self._send(protocol.post_log(project, log))

    async def post_gold(self, project: str, gold: Mapping[Any, Any] | Iterable[Mapping[str, Any]]) -> int:
        """Send a person's labels of some items: item -> label."""
        return await self._send(protocol.post_gold(project, gold))

    # -- results --------------------------------------------------------------------------------------------------

    async def grade(self, project: str, *, window: str | None = None, max_age: float | None = None) -> Document:
        """The report card, as `jurors grade --format json` prints it."""
        return await self._send(protocol.get_document(project, "grade", window=window, max_age=max_age))

    async def labels(self, project: str, *, after: str | None = None, limit: int | None = None) -> Document:
        """The best label of each item, a page of them."""
        return await self._send(protocol.get_document(project, "labels", after=after, limit=limit))

    async def alarms(self, project: str) -> Document:
        """The alarms that are active, and those that were."""
        return await self._send(protocol.get_document(project, "alarms"))

    async def history(self, project: str) -> Document:
        """The grades over time."""
        return await self._send(protocol.get_document(project, "history"))

    async def review(self, project: str, *, limit: int | None = None) -> Document:
        """The items where a person's label would have the greatest information gain."""
        return await self._send(protocol.get_document(project, "review", limit=limit))

    async def report(self, project: str) -> str:
        """The page, as HTML."""
        return await self._send(protocol.get_report(project))

    async def events(self, project: str) -> AsyncIterator[Event]:
        """What happens, as it happens; until the server or the caller ends it."""
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
