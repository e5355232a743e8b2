"""Requests, retries, SSE."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from jurors.errors import JurorsError, OptionError, ServerError

# What both clients ask and how they read the answer: requests as values, no network in here.
#
# Votes, gold and projects may be sent again without harm (a repeat changes nothing), so every call is tried again when
# the network fails or the server says that it is busy.


T = TypeVar("T")
Document = dict[str, Any]  #: of JSON

BATCH_SIZE = 1_000  #: votes per request: beyond, a request waits longer and gains nothing
_AGAIN = (408, 425, 429, 502, 503, 504)
_LONGEST_WAIT = 30.0


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request, and what its answer is read as."""

    method: str
    path: str
    read: Callable[[Any], T]  #: of the answer's text
    body: Any = None
    asked: Mapping[str, Any] = field(default_factory=dict)  #: what stands behind the `?`

    def arguments(self) -> dict[str, Any]:
        """As httpx takes them."""
        content = None if self.body is None else json.dumps(self.body, allow_nan=False).encode()
        headers = {} if content is None else {"Content-Type": "application/json"}
        params = {name: value for name, value in self.asked.items() if value is not None}
        return {"method": self.method, "url": self.path, "content": content, "headers": headers, "params": params}


def document(text: str) -> Document:
    """A JSON answer."""
    try:
        answer = json.loads(text)
    except ValueError:
        raise ServerError("the answer is no JSON; is this the address of `jurors serve`?") from None
    if not isinstance(answer, dict):
        raise ServerError("the answer is no JSON document; is this the address of `jurors serve`?")
    return answer


def of_project(project: str, rest: str = "") -> str:
    """The path of a project; whatever its name holds is one part of it.

    >>> of_project("a/../b", "grade")
    '/v1/projects/a%2F..%2Fb/grade'
    """
    return f"/v1/projects/{quote(project, safe='')}" + (f"/{rest}" if rest else "")


def error_from_response(status: int, text: str) -> ServerError:
    """What a server said no to, in its own line.

    >>> print(error_from_response(404, '{"error": {"code": "no_project", "message": "there is no project"}}'))
    there is no project
    """
    try:
        told = json.loads(text)["error"]
        message, reason = str(told["message"]), str(told["code"])
    except (ValueError, KeyError, TypeError):
        message, reason = f"the server answered {status} and did not say why", ""
    return ServerError(message, status=status, reason=reason)


def retry_delays(retries: int) -> Iterator[float]:
    """How long to wait before each further try: twice as long each time, shaken, so that many clients spread."""
    for k in range(retries):
        yield min(_LONGEST_WAIT, 0.1 * 2**k) * random.uniform(0.5, 1)  # noqa: S311 - no secret


def is_retryable(status: int) -> bool:
    """Whether the same request may succeed a little later."""
    return status in _AGAIN


def retry_after(header: str | None, planned: float) -> float:
    """What the server asked for, where it did; never for ever."""
    asked = float(header) if header is not None and header.isdigit() else 0.0
    return min(_LONGEST_WAIT, max(planned, asked))


def server_url(url: str) -> str:
    """The server's address, checked."""
    if not url.startswith(("http://", "https://")):
        raise OptionError(f"{url!r} is no address of a server: begin with http:// or https://", name="url", value=url)
    return url.rstrip("/")


# -- votes ------------------------------------------------------------------------------------------------------------


def vote_documents(votes: Any) -> Iterator[Document]:
    """Votes as the server takes them: from `Votes`, a dataframe, mappings, or (item, juror, label[, time])."""
    for row in _rows(votes):
        if isinstance(row, Mapping):
            yield dict(row)
        else:
            yield dict(zip(("item", "juror", "label", "time"), row, strict=False))


def _rows(votes: Any) -> Iterable[Any]:
    from jurors.votes import Votes
    from jurors.votes.frame import collect_frame, is_frame

    if isinstance(votes, Votes):
        if votes.counts is not None:
            raise JurorsError("counts name no items; send the votes themselves")
        at, juror, code = votes.triples()
        items = votes.item_names().tolist()
        said = zip(at.tolist(), juror.tolist(), code.tolist(), strict=True)
        return ((items[row], votes.jurors[who], votes.labels[label]) for row, who, label in said)
    if is_frame(votes):
        rows: Iterable[Any] = collect_frame(votes).iter_rows(named=True)
        return rows
    listed: Iterable[Any] = votes
    return listed


def batches(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    """So many rows at a time.

    >>> list(batches("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    rest = iter(rows)
    while batch := list(itertools.islice(rest, size)):
        yield batch


# -- server-sent events -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Event:
    """Something that happened: `votes`, `grade` or `alarm`, and what it is about."""

    kind: str
    data: Document
    id: str = ""


def events_of(lines: Iterable[str]) -> Iterator[Event]:
    """Server-sent events out of their lines.

    >>> list(events_of(["id: 7", "event: votes", 'data: {"votes": 2}', "", ": still here", ""]))
    [Event(kind='votes', data={'votes': 2}, id='7')]
    """
    reader = EventReader()
    for line in lines:
        if (event := reader.take(line)) is not None:
            yield event


class EventReader:
    """One line at a time, so that either client can feed it."""

    def __init__(self) -> None:
        self._fields: dict[str, str] = {}

    def take(self, line: str) -> Event | None:
        """The event that this line ends, if it does."""
        if line:
            name, _, value = line.partition(":")
            if name:
                self._fields[name] = value.removeprefix(" ")
            return None
        fields, self._fields = self._fields, {}
        return None if "data" not in fields else Event(
            fields.get("event", "message"), document(fields["data"]), fields.get("id", "")
        )  # fmt: skip


# The server's routes as calls, each once: both clients send these.


def projects() -> Call[list[Document]]:
    """What projects there are."""
    return Call("GET", "/v1/projects", lambda text: list(document(text)["projects"]))


def put_project(project: str, settings: Mapping[str, Any]) -> Call[Document]:
    """Make a project, or find it as it is."""
    given = {name: value for name, value in settings.items() if value is not None}
    return Call("PUT", of_project(project), document, given)


def delete_project(project: str) -> Call[None]:
    """Take a project away, votes and all."""
    return Call("DELETE", of_project(project), lambda _: None)


def votes(project: str, batch: Sequence[Document]) -> Call[int]:
    """How many votes of a batch were accepted."""
    return Call("POST", of_project(project, "votes"), _accepted, {"votes": list(batch)})


def log(project: str, body: Any) -> Call[int]:
    """How many votes a log of another tool held."""
    return Call("POST", of_project(project, "votes"), _accepted, body)


def gold(project: str, labels: Mapping[Any, Any] | Iterable[Mapping[str, Any]]) -> Call[int]:
    """How many labels of a person were accepted."""
    pairs = [{"item": item, "label": label} for item, label in labels.items()] if isinstance(labels, Mapping) else None
    return Call("POST", of_project(project, "gold"), _accepted, {"gold": list(labels) if pairs is None else pairs})


def _accepted(text: str) -> int:
    return int(document(text)["accepted"])


def reading(project: str, what: str, **asked: Any) -> Call[Document]:
    """A document about a project: its grade, labels, alarms, history or review."""
    return Call("GET", of_project(project, what), document, asked=asked)


def report(project: str, **asked: Any) -> Call[str]:
    """The page of a project."""
    return Call("GET", of_project(project, "report"), str, asked=asked)


# httpx, loaded when a client is made, and how a client sets it up.


def httpx() -> Any:
    """The library; one line where it is not installed."""
    try:
        return import_module("httpx")
    except ImportError:
        raise JurorsError("a client needs httpx: pip install 'jurors[serve]'") from None


def options(url: str, key: str | None, timeout: float, transport: Any) -> dict[str, Any]:
    """How both clients set httpx up. No redirect is followed: the key goes to the address it was given for."""
    if key is not None and not (key.isascii() and key.isprintable()):
        raise OptionError("this is no API key: `jurors keys create` prints one, jk_ and letters and digits", name="key")
    headers = {"Accept": "application/json"} | ({} if key is None else {"Authorization": f"Bearer {key}"})
    return {"base_url": url, "headers": headers, "timeout": timeout, "transport": transport, "follow_redirects": False}
