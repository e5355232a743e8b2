"""Posting votes: `POST /v1/projects/{name}/votes`, from the body to the inbox.

Votes are validated against the project and put in line at the journal, whose thread writes all batches that wait at the
same moment in one commit. A request is answered when its votes are durable.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from queue import Full, Queue
from threading import Thread
from typing import Any, Literal, NoReturn

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic_core import from_json

from jurors.errors import Code
from jurors.monitor.windows import MOST_LABELS
from jurors.serve.auth import ServerLimits
from jurors.serve.database import Project
from jurors.serve.errors import ApiError, NoProject, StoreUnavailable
from jurors.serve.middleware import WRITE
from jurors.serve.responses import VOTES
from jurors.serve.store import PostedBatch, SqlStore, batch_of, label_text

_MOST_VOTES = 20_000  #: in one commit

_Waiting = tuple[int, PostedBatch, "Future[None]"]


class Journal:
    """One thread that writes; each batch's future is done when the batch is durable, or has the error."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self._queue: Queue[_Waiting | None] = Queue(10_000)
        self._thread = Thread(target=self._write, name="journal", daemon=True)
        self._thread.start()

    def append(self, project: int, batch: PostedBatch) -> Future[None]:
        """Put a batch in line; the future, done when it is on the disk, can be cancelled until it is being written."""
        future: Future[None] = Future()
        try:
            self._queue.put_nowait((project, batch, future))
        except Full:
            future.set_exception(StoreUnavailable("too many requests are waiting"))
        return future

    def close(self) -> None:
        """Write what waits, then end."""
        self._queue.put(None)
        self._thread.join()

    def _write(self) -> None:
        """Write the batches that wait, some thousand votes at a time."""
        is_open = True
        while is_open:
            group: list[_Waiting] = []
            votes = 0
            while is_open and votes < _MOST_VOTES and not (group and self._queue.empty()):
                if (waiting := self._queue.get()) is None:
                    is_open = False
                else:
                    group.append(waiting)
                    votes += len(waiting[1])
            self._store_group(group)

    def _store_group(self, group: Sequence[_Waiting]) -> None:
        """Write a group, without the batches that were cancelled: whoever sent them sends them again."""
        group = [waiting for waiting in group if waiting[2].running() or waiting[2].set_running_or_notify_cancel()]
        if not group:
            return
        try:
            self._store.append([(project, batch) for project, batch, _ in group])
        except NoProject as error:
            if len(group) == 1:
                group[0][2].set_exception(error)
            else:  # only those of that project fail
                for waiting in group:
                    self._store_group([waiting])
        except Exception as error:
            for _, _, future in group:
                future.set_exception(error)
        else:
            for _, _, future in group:
                future.set_result(None)


@dataclass(frozen=True)
class _KnownNames:
    """A project and its names as this process last read them."""

    project: Project
    jurors: frozenset[str]
    labels: frozenset[str]  #: as JSON
    allowed: frozenset[str] | None  #: where the project names its labels
    read: float  #: when the project was last read, by the monotonic clock

    def covers(self, batch: PostedBatch) -> bool:
        """Whether no name of a batch is new, and every label is allowed."""
        labels = self.labels if self.allowed is None else self.allowed
        return self.jurors.issuperset(batch.jurors) and labels.issuperset(batch.labels)


class VoteValidator:
    """Which votes a project accepts: only the labels that it names, if any, and no more jurors and labels than allowed.

    Names in a batch are compared with those that this process knows; the store is read where one is new, and each
    second for the project's settings.
    """

    def __init__(self, store: SqlStore, limits: ServerLimits, waiting: Callable[[int], int] = lambda _: 0) -> None:
        self._store, self._limits, self._waiting = store, limits, waiting
        self._known: dict[str, _KnownNames] = {}

    async def project(self, name: str, batch: PostedBatch) -> Project:
        """The project, if it accepts these votes; ApiError says why not."""
        if len(batch) > self._limits.votes:
            message = f"{len(batch):,} votes are too many for one request; send at most {self._limits.votes:,}"
            raise ApiError(413, "many_votes", message, given=len(batch), needed=self._limits.votes)
        known = self._known.get(name)
        if known is None or time.monotonic() - known.read >= 1 or not known.covers(batch):
            known = await to_thread.run_sync(self._read, name, batch, abandon_on_cancel=True)
        if (waiting := self._waiting(known.project.id)) > self._limits.waiting:
            message = f"{waiting:,} votes of this project are not counted yet; wait, then send the request again"
            raise ApiError(503, "too_many_requests", message).with_headers(Retry_After="5")
        return known.project

    def forget(self, name: str) -> None:
        """Read the project again the next time: it was deleted, and perhaps made again."""
        self._known.pop(name, None)

    def _read(self, name: str, batch: PostedBatch) -> _KnownNames:
        """The project now, and its names with those that the batch would add."""
        project, before = self._store.project(name), self._known.get(name)
        allowed = None if project.labels is None else dict.fromkeys(map(label_text, project.labels))
        for place, label in enumerate(batch.labels if allowed is not None else ()):
            if label not in (allowed or ()):
                message = f"vote {place}: label {label:.60} is not one of the project: {', '.join(allowed or ())}"
                raise ApiError(422, "bad_vote", message)
        if before is not None and before.project.id == project.id:
            jurors, labels = before.jurors, before.labels
        else:
            jurors, labels = frozenset(), frozenset()
        if not (jurors.issuperset(batch.jurors) and labels.issuperset(batch.labels)):
            known_jurors, known_labels = self._store.accepted_names(project.id)
            jurors, labels = known_jurors.union(batch.jurors), known_labels.union(batch.labels)
        if len(labels) > (most := min(self._limits.labels, MOST_LABELS)):
            _refuse_many("labels", most, "if these are scores or free text, group them first")
        if len(jurors) > self._limits.jurors:
            _refuse_many("jurors", self._limits.jurors, "send some of them to another project")
        known = _KnownNames(project, jurors, labels, None if allowed is None else frozenset(allowed), time.monotonic())
        if len(self._known) > self._limits.projects:  # many were deleted
            self._known.clear()
        self._known[name] = known
        return known


def _refuse_many(what: Literal["labels", "jurors"], most: int, advice: str) -> NoReturn:
    code: Code = "many_labels" if what == "labels" else "many_jurors"
    raise ApiError(409, code, f"a project can have at most {most:,} {what}; {advice}", needed=most)


votes_router = APIRouter(prefix="/v1/projects", tags=["votes"])

_PATIENCE = 8.0  #: seconds until a batch is written or refused; with a key's check and the write, clients wait for 30
_LARGE = 1 << 18  #: bytes that would keep other requests waiting while they are read
_NAME = {"anyOf": [{"type": "string", "minLength": 1, "maxLength": 500}, {"type": "integer"}]}
_LABEL = {"anyOf": [*_NAME["anyOf"], {"type": "number"}, {"type": "boolean"}]}
_TIME = {"anyOf": [{"type": "number"}, {"type": "string", "format": "date-time"}, {"type": "null"}]}
_VOTE = {
    "type": "object", "required": ["item", "juror", "label"], "additionalProperties": False,
    "properties": {"item": _NAME, "juror": _NAME, "label": _LABEL, "time": _TIME},
}  # fmt: skip
_VOTES = {"type": "object", "required": ["votes"], "properties": {"votes": {"type": "array", "items": _VOTE}}}
_CONTENT = {"application/json": {"schema": _VOTES, "example": VOTES}}
_BODY = {"requestBody": {"required": True, "content": _CONTENT}}


@votes_router.post("/{name}/votes", dependencies=[WRITE], openapi_extra=_BODY)
async def post_votes(name: str, request: Request) -> JSONResponse:
    """Add votes. A repeated vote changes nothing; a vote with another label replaces the earlier one."""
    body = await request.body()
    if len(body) > _LARGE:
        batch = await to_thread.run_sync(votes_in, body, limiter=request.app.state.parsing)
    else:
        batch = votes_in(body)
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        for _ in range(3):  # until asyncio has noticed that a connection was closed behind the body
            await asyncio.sleep(0)
        await _store(name, batch, request.app.state, gone)
    finally:
        gone.cancel()
    return JSONResponse({"accepted": len(batch)})


async def _store(name: str, batch: PostedBatch, state: Any, gone: asyncio.Future[None]) -> None:
    """Validate a batch and wait until it is on the disk.

    If nobody waits any more, or it takes so long that a client may give up and send the votes again, the batch is taken
    back: stored after its repetition, it could undo a correction that was sent in between.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + _PATIENCE
    for is_retry in (False, True):
        try:
            async with asyncio.timeout_at(until):
                project = await state.validator.project(name, batch)
        except TimeoutError:
            raise StoreUnavailable(f"no response within {_PATIENCE:g} s") from None
        if gone.done():
            raise ApiError(400, "bad_request", "the connection closed before the votes were stored")
        if not batch:
            return
        future = state.journal.append(project.id, batch)
        written = asyncio.wrap_future(future)
        await asyncio.wait({gone, written}, timeout=until - loop.time(), return_when=asyncio.FIRST_COMPLETED)
        if not written.done() and future.cancel():
            raise StoreUnavailable("too many requests are waiting")
        try:
            await written
            return
        except NoProject:  # deleted, and perhaps made again, since this process last read it
            state.validator.forget(name)
            if is_retry:
                raise


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def votes_in(body: bytes) -> PostedBatch:
    """The votes of a body.

    Returns
    -------
    PostedBatch
        The votes as columns; ApiError where there are none.
    """
    try:
        document: Any = from_json(body)
    except ValueError as error:
        raise ApiError(400, "damaged", f"the body is not valid JSON: {error}") from None
    if not isinstance(document, dict) or "votes" not in document:
        raise ApiError(422, "bad_vote", 'the body must be {"votes": [{"item": …, "juror": …, "label": …}, …]}')
    return batch_of(document["votes"])
