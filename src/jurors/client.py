"""Clients of `jurors serve`: `Client`, and `AsyncClient` for programs that use asyncio.

Votes, gold and projects may be sent again without harm (a repeat changes nothing), so every call is retried when the
network fails or the server is busy. `_BaseClient` has the calls, each of which gives a value to one client and an
awaitable of it to the other; what waits for the network is in the clients themselves.
"""

from __future__ import annotations

import itertools
import json
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar, cast
from urllib.parse import quote

from jurors.errors import JurorsError, OptionError, ServerError

__all__ = ["AsyncClient", "Client"]

T = TypeVar("T")
Document = dict[str, Any]  #: of JSON

BATCH_SIZE = 1_000  #: votes per request: beyond, a request waits longer and gains nothing
_RETRYABLE = (408, 425, 429, 502, 503, 504)
_LONGEST_WAIT = 30.0  # seconds

# -- requests and answers -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """A request, and how its answer is read."""

    method: str
    path: str
    read: Callable[[str], Any]  #: of the answer's text
    body: Any = None
    params: Mapping[str, Any] = field(default_factory=dict)  #: of the query; None is left out

    def arguments(self) -> dict[str, Any]:
        """The arguments of httpx's `request`."""
        content = None if self.body is None else json.dumps(self.body, allow_nan=False).encode()
        headers = {} if content is None else {"Content-Type": "application/json"}
        params = {name: value for name, value in self.params.items() if value is not None}
        return {"method": self.method, "url": self.path, "content": content, "headers": headers, "params": params}


def document(text: str) -> Document:
    """Read an answer as a JSON object.

    Returns
    -------
    dict
        The object; ServerError where the answer is something else.
    """
    try:
        answer = json.loads(text)
    except ValueError:
        raise ServerError("the response is not JSON; check that the address is that of `jurors serve`") from None
    if not isinstance(answer, dict):
        raise ServerError("the response is not a JSON object; check that the address is that of `jurors serve`")
    return answer


def project_path(project: str, rest: str = "") -> str:
    """Write the path of a project; whatever its name holds is one part of it.

    Returns
    -------
    str
        The path of the URL, escaped.

    Examples
    --------
    >>> project_path("a/../b", "grade")
    '/v1/projects/a%2F..%2Fb/grade'
    """
    return f"/v1/projects/{quote(project, safe='')}" + (f"/{rest}" if rest else "")


def error_from_response(status: int, text: str) -> ServerError:
    """Make the error of a refusal, in the server's own words.

    Returns
    -------
    ServerError
        With the status and the server's code.

    Examples
    --------
    >>> print(error_from_response(404, '{"error": {"code": "no_project", "message": "the project does not exist"}}'))
    the project does not exist
    """
    try:
        error = json.loads(text)["error"]
        message, reason = str(error["message"]), str(error["code"])
    except (ValueError, KeyError, TypeError):
        message, reason = f"the server responded with status {status} and no message", ""
    return ServerError(message, status=status, reason=reason)


def retry_delay(answer: Any, tries: int, retries: int) -> float | None:
    """Decide whether to try again: with exponential backoff and jitter, so that many clients spread.

    Parameters
    ----------
    answer
        What the last try gave: httpx's response, or its TransportError.
    tries, retries
        How many tries there were before it, and how many more than the first there may be.

    Returns
    -------
    float or None
        Seconds to wait before the next try, more where the server asks for more; None where this answer stands.
    """
    is_response = not isinstance(answer, Exception)
    if tries >= retries or (is_response and answer.status_code not in _RETRYABLE):
        return None
    header = str(answer.headers.get("retry-after", "")) if is_response else ""
    planned: float = min(_LONGEST_WAIT, 0.1 * 2**tries) * random.uniform(0.5, 1)  # noqa: S311 - no secret
    return min(_LONGEST_WAIT, max(planned, float(header) if header.isdigit() else 0.0))


def read_answer(call: Call, answer: Any, url: str) -> Any:
    """Read the answer that stands.

    Returns
    -------
    object
        What the call is for; ServerError where the server refused or could not be reached.
    """
    if isinstance(answer, Exception):
        raise ServerError(f"cannot connect to {url}: {answer}") from None
    if not answer.is_success:
        raise error_from_response(answer.status_code, answer.text)
    return call.read(answer.text)


def _accepted(text: str) -> int:
    return int(document(text)["accepted"])


# -- votes ----------------------------------------------------------------------------------------------------


def vote_documents(votes: Any) -> Iterator[Document]:
    """Write votes as the server takes them.

    Parameters
    ----------
    votes
        `Votes`, a dataframe or dict of columns as for `jurors.grade`, mappings, or tuples (item, juror, label[, time]).

    Returns
    -------
    iterator of dict
        One vote each.
    """
    from jurors.monitor.ledger import UNTIMED, as_batch
    from jurors.votes.codes import is_missing
    from jurors.votes.frame import is_frame
    from jurors.votes.table import Votes

    rows: Iterable[Any] = votes
    if isinstance(votes, Votes) and votes.counts is not None:
        raise JurorsError("counts have no items; send the votes instead")
    if isinstance(votes, (Votes, Mapping)) or is_frame(votes):
        batch = as_batch(votes)
        codes = zip(batch.item.tolist(), batch.juror.tolist(), batch.label.tolist(), strict=True)
        rows = ((batch.items[i], batch.jurors[j], batch.labels[k]) for i, j, k in codes)
        if batch.time is not None:
            times = ((time,) * (time > UNTIMED) for time in batch.time.tolist())
            rows = ((*vote, *time) for vote, time in zip(rows, times, strict=True))
    for row in rows:
        is_mapping = isinstance(row, Mapping)
        vote = dict(row) if is_mapping else dict(zip(("item", "juror", "label", "time"), row, strict=False))
        if not is_missing(vote.get("label", "")):
            yield vote


def gold_documents(gold: Any) -> list[Document]:
    """Write gold labels as the server takes them.

    Parameters
    ----------
    gold
        A mapping of item to label, a path, a dataframe, a series by item, pairs (item, label), or mappings with these
        keys.

    Returns
    -------
    list of dict
        One label each.
    """
    from jurors.votes.key import as_key

    if isinstance(gold, (list, tuple, Iterator)):
        rows = list(gold)
        if all(isinstance(row, Mapping) for row in rows):
            return [dict(row) for row in rows]
        gold = dict(rows) if all(isinstance(row, (list, tuple)) and len(row) == 2 for row in rows) else None
    key = None if gold is None else as_key(gold, of_stream=True)
    if key is None or key.items is None:
        forms = "a mapping of item to label, a path, a dataframe, or pairs (item, label)"
        raise JurorsError(f"gold labels need the names of their items: give {forms}")
    pairs = zip(key.items.tolist(), key.labels.tolist(), strict=True)
    return [{"item": str(item), "label": label} for item, label in pairs if label is not None]


def _posts(project: str, votes: Any, batch: int) -> Iterator[Call]:
    """The calls that send votes in batches."""
    rest = vote_documents(votes)
    while part := list(itertools.islice(rest, batch)):
        yield Call("POST", project_path(project, "votes"), _accepted, {"votes": part})


# -- the clients ----------------------------------------------------------------------------------------------

# What a call gives: a value, or an awaitable of one.
_List = TypeVar("_List")
_Document = TypeVar("_Document")
_Text = TypeVar("_Text")
_Nothing = TypeVar("_Nothing")


class _BaseClient(ABC, Generic[_List, _Document, _Text, _Nothing]):
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

    @abstractmethod
    def _send(self, call: Call) -> Any:
        """What the call is for, or an awaitable of it."""

    # -- projects and gold ----------------------------------------------------------------------------------------

    def projects(self) -> _List:
        """List the projects: items, votes, jurors, labels and active alarms of each."""
        return cast("_List", self._send(Call("GET", "/v1/projects", lambda text: list(document(text)["projects"]))))

    def put_project(
        self, project: str, *, labels: Sequence[Any] | None = None, window: Any = None,
        thresholds: Mapping[str, Any] | None = None, settle: float | None = None, block: int | str | None = None,
        expect: Sequence[str] | None = None, item: Sequence[str] | None = None,
    ) -> _Document:  # fmt: skip
        """Create a project, or change the settings of an existing one; `item` names the parts of items' names."""
        return self._change(
            "PUT", project, labels=labels, window=window, thresholds=thresholds, settle=settle, block=block,
            expect=expect, item=item,
        )  # fmt: skip

    def delete_project(self, project: str) -> _Nothing:
        """Delete a project and all its votes."""
        return cast("_Nothing", self._send(Call("DELETE", project_path(project), lambda _: None)))

    def post_gold(self, project: str, gold: Any) -> _Document:
        """Send gold labels, the labels that a person gave: a mapping, a path, a dataframe, or pairs (item, label).

        The answer has how many were `accepted`, how many of them are `unvoted` (on items without votes), and the
        `unused_labels`, which no juror gives: a typing error shows there.
        """
        return self._change("POST", project, "gold", gold=gold_documents(gold))

    # -- results --------------------------------------------------------------------------------------------------

    def grade(
        self, project: str, *, window: str | None = None, since: int | None = None, max_age: float | None = None
    ) -> _Document:
        """Get the grades, as `jurors grade --format json` prints them; with `since`, those since an alarm."""
        return self._get(project, "grade", window=window, since=since, max_age=max_age)

    def labels(self, project: str, *, after: str | None = None, limit: int | None = None) -> _Document:
        """Get the best label of each item and its probability, one page."""
        return self._get(project, "labels", after=after, limit=limit)

    def systems(
        self, project: str, *, system: str | None = None, good: str | None = None, level: float | None = None
    ) -> _Document:
        """Compare systems, as `jurors systems --format json` does; `system` is a part of the items' names."""
        return self._get(project, "systems", system=system, good=good, level=level)

    def alarms(self, project: str) -> _Document:
        """Get the active and past alarms of the stream."""
        return self._get(project, "alarms")

    def handle_alarm(
        self, project: str, alarm: int, action: Literal["acknowledge", "snooze", "accept"], *,
        until: int | str | None = None, note: str | None = None,
    ) -> _Document:  # fmt: skip
        """Acknowledge, snooze (`until` so many items or "2h") or accept an alarm, by its `id`."""
        return self._change("POST", project, f"alarms/{alarm}", action=action, until=until, note=note)

    def retire(self, project: str, juror: str, *, replaced_by: str | None = None) -> _Document:
        """Retire a juror, and clear its alarms."""
        return self._change("POST", project, "retired", juror=juror, replaced_by=replaced_by)

    def announce(self, project: str, juror: str) -> _Document:
        """Announce a new juror, or watch a retired one again."""
        return self._change("POST", project, "announced", juror=juror)

    def history(self, project: str) -> _Document:
        """Get the grades of each window."""
        return self._get(project, "history")

    def review(self, project: str, *, limit: int | None = None) -> _Document:
        """Get the items whose labels are least likely to be right."""
        return self._get(project, "review", limit=limit)

    def report(self, project: str) -> _Text:
        """Get the report as HTML."""
        return cast("_Text", self._send(Call("GET", project_path(project, "report"), str)))

    def _change(self, method: str, project: str, what: str = "", **given: Any) -> _Document:
        body = {name: value for name, value in given.items() if value is not None}
        return cast("_Document", self._send(Call(method, project_path(project, what), document, body)))

    def _get(self, project: str, what: str, **params: Any) -> _Document:
        return cast("_Document", self._send(Call("GET", project_path(project, what), document, params=params)))


class Client(_BaseClient[list[Document], Document, str, None]):
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

    def post_votes(self, project: str, votes: Any, *, batch: int = BATCH_SIZE) -> int:
        """Send votes in batches; returns the number of votes that the server has stored.

        `votes` are `Votes`, a dataframe as for `jurors.grade`, mappings with `item`, `juror`, `label` (and `time`), or
        tuples in that order. Those without a label are left out.
        """
        return sum(self._send(call) for call in _posts(project, votes, batch))

    def _send(self, call: Call) -> Any:
        for tries in itertools.count():
            try:
                answer = self._http.request(**call.arguments())
            except self._httpx.TransportError as error:
                answer = error
            if (delay := retry_delay(answer, tries, self.retries)) is None:
                break
            time.sleep(delay)
        return read_answer(call, answer, self.url)


class AsyncClient(_BaseClient[Awaitable[list[Document]], Awaitable[Document], Awaitable[str], Awaitable[None]]):
    """An asynchronous client of `jurors serve`, with the arguments of `Client`."""

    _kind = "AsyncClient"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def post_votes(self, project: str, votes: Any, *, batch: int = BATCH_SIZE) -> int:
        """Send votes in batches, one after the other; returns the number of votes that the server has stored."""
        accepted = 0
        for call in _posts(project, votes, batch):
            accepted += await self._send(call)
        return accepted

    async def _send(self, call: Call) -> Any:
        from asyncio import sleep  # heavy, and `import jurors` stays quick

        for tries in itertools.count():
            try:
                answer = await self._http.request(**call.arguments())
            except self._httpx.TransportError as error:
                answer = error
            if (delay := retry_delay(answer, tries, self.retries)) is None:
                break
            await sleep(delay)
        return read_answer(call, answer, self.url)
