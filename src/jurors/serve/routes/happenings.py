"""`GET /v1/projects/{name}/events`: what happens, as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from jurors.serve.grading.alarm_watch import AlarmWatch
from jurors.serve.guard.heads import ENDING
from jurors.serve.refused import NoProject, Refused
from jurors.serve.stores import Store

router = APIRouter(prefix="/v1/projects/{name}", tags=["what is known"])

_EVERY = 1.0
_STILL_HERE = 15  #: looks without news until a line says that the connection lives
_MOST = 100  #: listeners per process


@router.get("/events", response_class=StreamingResponse, responses={200: {"content": {"text/event-stream": {}}}})
async def events(name: str, request: Request) -> StreamingResponse:
    """Votes that were counted, grades that changed, alarms that ring or are cleared; until either side ends it."""
    state = request.app.state
    await to_thread.run_sync(state.store.project, name)
    if state.listeners >= _MOST:
        raise Refused(429, "too_many_requests", f"{_MOST} listen already; ask /alarms and /grade instead")
    return StreamingResponse(_happening(name, state), media_type="text/event-stream")


async def _happening(name: str, state: Any) -> AsyncIterator[str]:
    state.listeners += 1
    try:
        seen = await to_thread.run_sync(_look, state.store, state.alarms, name)
        yield _event("votes", seen["votes"])
        quiet = 0
        while not ENDING.is_set():
            await asyncio.sleep(_EVERY)
            now = await to_thread.run_sync(_look, state.store, state.alarms, name)
            news = list(_news(seen, now))
            for kind, data in news:
                yield _event(kind, data)
            quiet = 0 if news else quiet + 1
            if quiet >= _STILL_HERE:
                quiet = 0
                yield ": still here\n\n"
            seen = now
    except NoProject:
        yield _event("gone", {"project": name})
    finally:
        state.listeners -= 1


def _look(store: Store, watch: AlarmWatch, name: str) -> dict[str, Any]:
    project = store.project(name)
    votes = {"items": project.items, "votes": project.votes, "version": project.version, "updated": project.updated}
    return {"votes": votes, "alarms": watch.kept_alarms(project.id)}


def _news(before: dict[str, Any], now: dict[str, Any]) -> list[tuple[str, Any]]:
    """What is new, the loudest last."""
    news: list[tuple[str, Any]] = []
    if now["votes"]["version"] != before["votes"]["version"]:
        news += [("votes", now["votes"]), ("grade", {"version": now["votes"]["version"]})]
    known = {alarm["id"]: alarm for alarm in before["alarms"]}
    news += [("alarm", one) for one in now["alarms"] if known.get(one["id"], {}).get("active") != one["active"]]
    return news


def _event(kind: str, data: Any) -> str:
    """A name cannot end its line: JSON writes line ends as two characters."""
    return f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=True)}\n\n"
