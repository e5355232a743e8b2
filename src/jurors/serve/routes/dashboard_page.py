"""`/`, the dashboard: its document and files hold no votes; what it shows, its script asks for under `/v1`."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse

from jurors.serve.dashboard.assets import POLICY, asset, page
from jurors.serve.refused import Refused

router = APIRouter(include_in_schema=False)


@router.get("/")
def dashboard() -> HTMLResponse:
    """The page."""
    return HTMLResponse(page(), headers={"Content-Security-Policy": POLICY})


@router.get("/assets/{name}")
def file(name: str) -> Response:
    """One of the page's files."""
    there = asset(name)
    if there is None:
        raise Refused(404, "no_file", f"the dashboard has no file {name!r:.60}")
    packed = {"Content-Encoding": "gzip"} if there.is_packed else {}
    return Response(there.body, media_type=there.kind, headers={"Cache-Control": "no-cache", **packed})
