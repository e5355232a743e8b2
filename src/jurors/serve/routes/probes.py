"""For whoever keeps the server running: does it live, can it serve, how does it do."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from jurors.serve.measures import Measures

router = APIRouter(tags=["operations"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """The process lives; it says nothing of the store."""
    return {"status": "ok"}


@router.get("/readyz", responses={503: {"description": "The store does not answer."}})
def readyz(request: Request) -> dict[str, Any]:
    """The store answers."""
    with request.app.state.store.reading() as session:
        session.one("SELECT 1")
    return {"status": "ready"}


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
def metrics(request: Request) -> Response:
    """What Prometheus collects."""
    measures: Measures = request.app.state.measures
    return Response(measures.text(request.app.state.store, request.app.state.alarms), media_type=measures.media_type)
