"""Pages: the dashboard at `/` with its files, and `/docs` with the OpenAPI document.

They hold no votes, so that they need no key; what the dashboard shows, its script requests under `/v1`. Nothing is
fetched from elsewhere.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from jurors.results import COLOURS, digest
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
        return Response(COLOURS + _template(name), media_type="text/css", headers=headers)
    if name == "dashboard.js":
        return Response(_template(name), media_type="text/javascript", headers=headers)
    if name != "vega.js":
        raise ApiError(404, "no_file", f"the dashboard has no file {name!r:.60}")
    return Response(_chart_runtime(), media_type="text/javascript", headers={**headers, "Content-Encoding": "gzip"})


_STYLE = f"""{COLOURS}
body {{ font: 16px/1.5 system-ui, sans-serif; background: var(--page); color: var(--ink); }}
body {{ margin: 0 auto; max-width: 60rem; padding: 1rem; }}
section {{ background: var(--card); border: 1px solid var(--line); border-radius: 8px; }}
section {{ margin: 1rem 0; padding: 0 1rem 1rem; }}
h2 {{ font: 600 1rem/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }}
h2 b {{ color: var(--link); }}
pre {{ background: var(--page); padding: .5rem; overflow-x: auto; }}
td, th {{ text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0; }}
"""
POLICY = f"default-src 'none'; style-src {digest(_STYLE)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


@pages_router.api_route("/openapi.json", methods=["GET", "HEAD"], dependencies=[OPEN])
async def openapi(request: Request) -> JSONResponse:
    """The description for programs; FastAPI's own route could not declare who may read it."""
    return JSONResponse(request.app.openapi())


@pages_router.get("/docs", dependencies=[OPEN])
def docs(request: Request) -> HTMLResponse:
    """The page."""
    return HTMLResponse(_page(json.dumps(request.app.openapi())), headers={"Content-Security-Policy": POLICY})


@cache
def _page(description: str) -> str:
    document = json.loads(description)
    routes = ""
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            head = f"<h2><b>{method.upper()}</b> {escape(path)}</h2>"
            about = escape(route.get("description", route["summary"]))
            routes += f"<section>{head}<p>{about}</p>{''.join(_parts(route))}</section>"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>jurors HTTP API</title><style>{_STYLE}</style></head><body><main>"
        f"<h1>jurors {escape(document['info']['version'])}: HTTP API</h1>"
        "<p>Requests and responses are JSON. If the server requires an API key, send the header "
        "<code>Authorization: Bearer jk_…</code>. "
        'An error is <code>{"error": {"code": …, "message": …}}</code>. '
        'The machine-readable description is <a href="/openapi.json">openapi.json</a>.</p>'
        f"{routes}</main></body></html>"
    )


def _parts(route: dict[str, Any]) -> Iterator[str]:
    queries = [parameter for parameter in route.get("parameters", []) if parameter["in"] == "query"]
    if queries:
        rows = "".join(
            f"<tr><td><code>{escape(query['name'])}</code></td><td>{escape(query.get('description', ''))}</td></tr>"
            for query in queries
        )
        yield f"<table><thead><tr><th>Parameter</th><th>Description</th></tr></thead><tbody>{rows}</tbody></table>"
    body = route.get("requestBody", {}).get("content", {}).get("application/json", {})
    if "example" in body:
        yield f"<p>Request</p><pre>{_example(body['example'])}</pre>"
    for status, answer in sorted(route["responses"].items()):
        content = answer.get("content", {}).get("application/json", {})
        if "example" in content:
            yield f"<p>Response {escape(status)}</p><pre>{_example(content['example'])}</pre>"


def _example(example: Any) -> str:
    return escape(json.dumps(example, indent=1, ensure_ascii=False))
