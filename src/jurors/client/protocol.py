"""What both clients send and how they read the answer: requests as values, retries, server-sent events; no network.

Votes, gold and projects may be sent again without harm (a repeat changes nothing), so every call is retried when the
network fails or the server is busy.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from jurors.errors import JurorsError, ServerError

T = TypeVar("T")
Document = dict[str, Any]  #: of JSON

BATCH_SIZE = 1_000  #: votes per request: beyond, a request waits longer and gains nothing
_RETRYABLE = (408, 425, 429, 502, 503, 504)
_LONGEST_WAIT = 30.0  # seconds

# -- requests and answers -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request, and how its answer is read."""

    method: str
    path: str
    read: Callable[[Any], T]  #: of the answer's text
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


def retry_delays(retries: int) -> Iterator[float | None]:
    """Plan the waits after each try: exponential backoff with jitter, so that many clients spread.

    Returns
    -------
    iterator of float or None
        Seconds after each try; None after the last.
    """
    for k in range(retries):
        yield min(_LONGEST_WAIT, 0.1 * 2**k) * random.uniform(0.5, 1)  # noqa: S311 - no secret
    yield None


def retry_delay(answer: Any, planned: float | None) -> float | None:
    """Decide whether to try again.

    Parameters
    ----------
    answer
        What a try gave: httpx's response, or its TransportError.
    planned
        How long to wait, unless the server asks for more; None after the last try.

    Returns
    -------
    float or None
        Seconds to wait before the next try; None where this answer stands.
    """
    if planned is None or isinstance(answer, Exception):
        return planned
    if answer.status_code not in _RETRYABLE:
        return None
    header = answer.headers.get("retry-after")
    return min(_LONGEST_WAIT, max(planned, float(header) if header is not None and header.isdigit() else 0.0))


def read_answer(call: Call[T], answer: Any, url: str) -> T:
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


# -- votes ----------------------------------------------------------------------------------------------------


def vote_documents(votes: Any) -> Iterator[Document]:
    """Write votes as the server takes them.

    Parameters
    ----------
    votes
        `Votes`, a dataframe, mappings, or tuples (item, juror, label[, time]).

    Returns
    -------
    iterator of dict
        One vote each.
    """
    from jurors.votes.frame import collect_frame, is_frame
    from jurors.votes.table import Votes

    rows: Iterable[Any] = votes
    if isinstance(votes, Votes):
        if votes.counts is not None:
            raise JurorsError("counts have no items; send the votes instead")
        items = votes.item_names().tolist()
        triples = zip(*(column.tolist() for column in votes.triples()), strict=True)
        rows = ((items[i], votes.jurors[j], votes.labels[k]) for i, j, k in triples)
    elif is_frame(votes):
        rows = collect_frame(votes).iter_rows(named=True)
    for row in rows:
        is_mapping = isinstance(row, Mapping)
        yield dict(row) if is_mapping else dict(zip(("item", "juror", "label", "time"), row, strict=False))


def batches(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    """Split rows into batches.

    Returns
    -------
    iterator of list
        Of `size` rows each, but for the last.

    Examples
    --------
    >>> list(batches("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    rest = iter(rows)
    while batch := list(itertools.islice(rest, size)):
        yield batch


# -- server-sent events ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Event:
    """Something that happened: `votes`, `grade` or `alarm`, and what it is about."""

    kind: str
    data: Document
    id: str = ""


class EventReader:
    """Reads server-sent events line by line, so that either client can feed it.

    Examples
    --------
    >>> reader = EventReader()
    >>> [reader.take(line) for line in ("id: 7", "event: votes", 'data: {"votes": 2}', "", ": keep-alive", "")]
    [None, None, None, Event(kind='votes', data={'votes': 2}, id='7'), None, None]
    """

    def __init__(self) -> None:
        self._fields: dict[str, str] = {}

    def take(self, line: str) -> Event | None:
        """The event that this line completes, if it does."""
        if line:
            name, _, value = line.partition(":")
            if name:
                self._fields[name] = value.removeprefix(" ")
            return None
        fields, self._fields = self._fields, {}
        if "data" not in fields:
            return None
        return Event(fields.get("event", "message"), document(fields["data"]), fields.get("id", ""))


# -- the server's routes --------------------------------------------------------------------------------------


def get_projects() -> Call[list[Document]]:
    """List the projects.

    Returns
    -------
    Call
        Read as a list of documents.
    """
    return Call("GET", "/v1/projects", lambda text: list(document(text)["projects"]))


def put_project(project: str, settings: Mapping[str, Any]) -> Call[Document]:
    """Create a project, or change its settings.

    Returns
    -------
    Call
        Read as the project's document.
    """
    given = {name: value for name, value in settings.items() if value is not None}
    return Call("PUT", project_path(project), document, given)


def delete_project(project: str) -> Call[None]:
    """Delete a project and all its votes.

    Returns
    -------
    Call
        Read as None.
    """
    return Call("DELETE", project_path(project), lambda _: None)


def post_votes(project: str, batch: Sequence[Document]) -> Call[int]:
    """Send a batch of votes.

    Returns
    -------
    Call
        Read as how many were accepted.
    """
    return Call("POST", project_path(project, "votes"), _accepted, {"votes": list(batch)})


def post_log(project: str, body: Any) -> Call[int]:
    """Send a log of another tool.

    Returns
    -------
    Call
        Read as how many votes it held.
    """
    return Call("POST", project_path(project, "votes"), _accepted, body)


def post_gold(project: str, labels: Mapping[Any, Any] | Iterable[Mapping[str, Any]]) -> Call[int]:
    """Send labels of a person.

    Returns
    -------
    Call
        Read as how many were accepted.
    """
    if isinstance(labels, Mapping):
        labels = [{"item": item, "label": label} for item, label in labels.items()]
    return Call("POST", project_path(project, "gold"), _accepted, {"gold": list(labels)})


def _accepted(text: str) -> int:
    return int(document(text)["accepted"])


def get_document(project: str, what: str, **params: Any) -> Call[Document]:
    """Get a document about a project: its grade, labels, alarms, history or review.

    Returns
    -------
    Call
        Read as the document.
    """
    return Call("GET", project_path(project, what), document, params=params)


def get_report(project: str) -> Call[str]:
    """Get the page of a project.

    Returns
    -------
    Call
        Read as HTML.
    """
    return Call("GET", project_path(project, "report"), str)
