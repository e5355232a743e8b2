"""What the page at `/` is made of: one document without data, its style and script, and the charts' runtime."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from string import Template

from jurors.pages import COLOURS
from jurors.versions import VERSION

#: Everything comes from the server itself; charts set styles of their own, and nothing is fetched from elsewhere.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True)
class Asset:
    """A file of the page."""

    body: bytes
    kind: str
    is_packed: bool = False  #: by gzip


@lru_cache(maxsize=1)
def page() -> bytes:
    """The document: it holds no name and no number, so that it needs no key."""
    return Template(_template("dashboard.html")).substitute(version=VERSION).encode()


@lru_cache(maxsize=8)
def asset(name: str) -> Asset | None:
    """A file by its name; None where there is none of it."""
    if name == "dashboard.css":
        return Asset((COLOURS + _template(name)).encode(), "text/css; charset=utf-8")
    if name == "dashboard.js":
        return Asset(_template(name).encode(), "text/javascript; charset=utf-8")
    return _runtime() if name == "vega.js" else None


def _runtime() -> Asset:
    """As the report carries it, made once and kept in the user's cache."""
    from jurors.report.vega import RuntimeMaker

    maker = RuntimeMaker()
    try:
        return Asset(base64.b64decode(maker.result().packed), "text/javascript; charset=utf-8", is_packed=True)
    finally:
        maker.close()


def _template(name: str) -> str:
    return (files("jurors.serve.dashboard") / "templates" / name).read_text(encoding="utf-8")
