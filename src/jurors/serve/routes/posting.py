"""`POST /v1/projects/{name}/votes`: acknowledged only when durable; the same votes again change nothing."""

from __future__ import annotations

import asyncio
from typing import Any

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic_core import from_json

from jurors.serve.answering.shown_answers import ACCEPTED, VOTES, answers
from jurors.serve.batch import Batch, batch_of
from jurors.serve.refused import NoProject, Refused
from jurors.serve.routes.log_bodies import tool_of, votes_of_log

router = APIRouter(prefix="/v1/projects", tags=["votes"])

_LARGE = 1 << 18  #: bytes that would keep other requests waiting while they are read
_NAME = {"anyOf": [{"type": "string", "minLength": 1, "maxLength": 500}, {"type": "integer"}]}
_LABEL = {"anyOf": [*_NAME["anyOf"], {"type": "number"}, {"type": "boolean"}]}
_TIME = {"anyOf": [{"type": "number"}, {"type": "string", "format": "date-time"}, {"type": "null"}]}
_VOTE = {
    "type": "object", "required": ["item", "juror", "label"], "additionalProperties": False,
    "properties": {"item": _NAME, "juror": _NAME, "label": _LABEL, "time": _TIME},
}  # fmt: skip
_VOTES = {"type": "object", "required": ["votes"], "properties": {"votes": {"type": "array", "items": _VOTE}}}
_LOG = {"type": "object", "description": "OTLP-JSON with annotations (OpenInference), or an Inspect AI log."}
_CONTENT = {"application/json": {"schema": {"anyOf": [_VOTES, _LOG]}, "example": VOTES}}
_BODY = {"requestBody": {"required": True, "content": _CONTENT}}


_SHAPE = """{"votes": [{"item": …, "juror": …, "label": …}, …]}, OTLP-JSON or OpenInference annotations, or a log of
Inspect AI as JSON"""


@router.post("/{name}/votes", openapi_extra=_BODY, responses=answers(ACCEPTED, 400, 404, 422))
async def post_votes(name: str, request: Request) -> JSONResponse:
    """Take some votes: repeats change nothing, a changed label corrects."""
    body = await request.body()
    batch = await to_thread.run_sync(votes_in, body) if len(body) > _LARGE else votes_in(body)
    state = request.app.state
    project = await state.admission.project(name, batch)
    if batch:
        try:
            await asyncio.wrap_future(state.journal.append(project.id, batch))
        except NoProject:  # deleted, and perhaps made again, since this process last looked
            state.admission.forget(name)
            again = await state.admission.project(name, batch)
            await asyncio.wrap_future(state.journal.append(again.id, batch))
    return JSONResponse({"accepted": len(batch)})


def votes_in(body: bytes) -> Batch:
    """The votes of a body."""
    try:
        document: Any = from_json(body)
    except ValueError as error:
        raise Refused(400, "damaged", f"the body is no JSON: {error}") from None
    if isinstance(document, dict) and "votes" in document:
        return batch_of(document["votes"])
    if (tool := tool_of(document)) is not None:
        return votes_of_log(body, tool)
    raise Refused(422, "bad_vote", f"the body must be {_SHAPE}")
