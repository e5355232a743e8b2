"""`POST /v1/projects/{name}/votes`: acknowledged only when durable; the same votes again change nothing."""

from __future__ import annotations

import asyncio
from typing import Any

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic_core import from_json

from jurors.serve.batch import Batch, batch_of, label_text
from jurors.serve.journal import Journal
from jurors.serve.refused import NoProject, Refused
from jurors.serve.stores import Store
from jurors.serve.stores.project import Project

router = APIRouter(prefix="/v1/projects", tags=["votes"])

_LARGE = 1 << 18  #: bytes that would keep other requests waiting while they are read
_EXAMPLE = {"votes": [{"item": "q1", "juror": "ann", "label": "yes"}, {"item": "q1", "juror": "bob", "label": "no"}]}
_BODY = {"requestBody": {"required": True, "content": {"application/json": {"example": _EXAMPLE}}}}


@router.post("/{name}/votes", openapi_extra=_BODY)
async def post_votes(name: str, request: Request) -> JSONResponse:
    """Take some votes: repeats change nothing, a changed label corrects."""
    body = await request.body()
    batch = await to_thread.run_sync(votes_in, body) if len(body) > _LARGE else votes_in(body)
    state = request.app.state
    project = await _fitting(state.store, name, batch)
    if batch:
        await _keep(state.journal, state.store, project, batch)
    return JSONResponse({"accepted": len(batch)})


def votes_in(body: bytes) -> Batch:
    """The votes of a body."""
    try:
        document: Any = from_json(body)
    except ValueError as error:
        raise Refused(400, "damaged", f"the body is no JSON: {error}") from None
    if not isinstance(document, dict) or "votes" not in document:
        raise Refused(422, "bad_vote", 'the body must be {"votes": [{"item": …, "juror": …, "label": …}, …]}')
    return batch_of(document["votes"])


async def _keep(journal: Journal, store: Store, project: Project, batch: Batch) -> None:
    try:
        await asyncio.wrap_future(journal.append(project.id, batch))
    except NoProject:  # deleted, and perhaps made again, since this process last looked
        store.forget_known(project.name)
        again = await to_thread.run_sync(store.known, project.name)
        await asyncio.wrap_future(journal.append(again.id, batch))


async def _fitting(store: Store, name: str, batch: Batch) -> Project:
    """The project, if these votes may go there."""
    remembered = store.remembered(name)
    project = remembered if remembered is not None else await to_thread.run_sync(store.known, name)
    if project.labels is None or set(batch.labels) <= set(map(label_text, project.labels)):
        return project
    project = await to_thread.run_sync(store.project, name)  # a label may have been added
    allowed = {label_text(label) for label in project.labels or ()}
    strange = next((label for label in batch.labels if label not in allowed), None)
    if strange is not None and project.labels is not None:
        place = list(batch.labels).index(strange)
        message = f"vote {place}: label {strange:.60} is not among the project's labels {', '.join(sorted(allowed))}"
        raise Refused(422, "bad_vote", message)
    return project
