"""`/docs`: the interface to read, made from its own description; no script, and nothing that is fetched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from jurors.pages import COLOURS, digest

router = APIRouter(include_in_schema=False)

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


@router.get("/docs")
def docs(request: Request) -> HTMLResponse:
    """The page."""
    return HTMLResponse(_page(json.dumps(request.app.openapi())), headers={"Content-Security-Policy": POLICY})


@cache
def _page(description: str) -> str:
    told = json.loads(description)
    routes = "".join(
        _section(method, path, route) for path, methods in told["paths"].items() for method, route in methods.items()
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>jurors: the interface</title><style>{_STYLE}</style></head><body><main>"
        f"<h1>jurors {escape(told['info']['version'])}: the interface</h1>"
        "<p>Bodies and answers are JSON. Where the server asks for a key, send "
        "<code>Authorization: Bearer jk_…</code>. "
        'What goes wrong is one line: <code>{"error": {"code": …, "message": …}}</code>. '
        'For programs: <a href="/openapi.json">openapi.json</a>.</p>'
        f"{routes}</main></body></html>"
    )


def _section(method: str, path: str, route: dict[str, Any]) -> str:
    about = escape(route.get("description", route["summary"]))
    parts = "".join(_parts(route))
    return f"<section><h2><b>{method.upper()}</b> {escape(path)}</h2><p>{about}</p>{parts}</section>"


def _parts(route: dict[str, Any]) -> Iterator[str]:
    asked = [one for one in route.get("parameters", []) if one["in"] == "query"]
    if asked:
        rows = "".join(
            f"<tr><td><code>{escape(one['name'])}</code></td><td>{escape(one.get('description', ''))}</td></tr>"
            for one in asked
        )
        yield f"<table><thead><tr><th>asked</th><th></th></tr></thead><tbody>{rows}</tbody></table>"
    body = route.get("requestBody", {}).get("content", {}).get("application/json", {})
    if "example" in body:
        yield f"<p>Send</p><pre>{_example(body['example'])}</pre>"
    for status, answer in sorted(route["responses"].items()):
        content = answer.get("content", {}).get("application/json", {})
        if "example" in content:
            yield f"<p>{escape(status)}</p><pre>{_example(content['example'])}</pre>"


def _example(example: Any) -> str:
    return escape(json.dumps(example, indent=1, ensure_ascii=False))
