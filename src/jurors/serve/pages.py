"""Pages: the dashboard at `/` with its files, and the OpenAPI document.

They hold no votes, so that they need no key; what the dashboard shows, its script requests under `/v1`. Nothing is
fetched from elsewhere.
"""

from __future__ import annotations

import base64
from contextlib import closing
from functools import cache
from importlib.resources import files
from string import Template

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from jurors.results import colours
from jurors.serve.errors import ApiError
from jurors.serve.middleware import OPEN
from jurors.versions import VERSION

#: Everything comes from the server itself; charts set styles of their own.
DASHBOARD_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@cache
def _chart_runtime() -> bytes:
    """The script that draws charts, packed, as the report carries it: made once and stored in the user's cache."""
    from jurors.reporting.page import RuntimeMaker

    with closing(RuntimeMaker()) as maker:
        return base64.b64decode(maker.result().packed)


@cache
def _template(name: str) -> str:
    return (files("jurors.serve") / "templates" / name).read_text(encoding="utf-8")


pages_router = APIRouter(include_in_schema=False)


@pages_router.get("/", dependencies=[OPEN])
def dashboard() -> HTMLResponse:
    """The page."""
    page = Template(_template("dashboard.html")).substitute(version=VERSION)
    return HTMLResponse(page, headers={"Content-Security-Policy": DASHBOARD_POLICY})


@pages_router.get("/assets/{name}", dependencies=[OPEN])
def file(name: str) -> Response:
    """One of the page's files."""
    headers = {"Cache-Control": "no-cache"}
    if name == "dashboard.css":
        return Response(colours() + _template(name), media_type="text/css", headers=headers)
    if name == "dashboard.js":
        return Response(_template(name), media_type="text/javascript", headers=headers)
    if name != "vega.js":
        raise ApiError(404, "no_file", f"the dashboard has no file {name!r:.60}")
    return Response(_chart_runtime(), media_type="text/javascript", headers={**headers, "Content-Encoding": "gzip"})


@pages_router.api_route("/openapi.json", methods=["GET", "HEAD"], dependencies=[OPEN])
async def openapi(request: Request) -> JSONResponse:
    """The description for programs; FastAPI's own route could not declare who may read it."""
    return JSONResponse(request.app.openapi())
