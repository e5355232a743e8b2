"""httpx, loaded when a client is made, and how a client sets it up."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from jurors.errors import JurorsError, OptionError


def httpx() -> Any:
    """The library; one line where it is not installed."""
    try:
        return import_module("httpx")
    except ImportError:
        raise JurorsError("a client needs httpx: pip install 'jurors[serve]'") from None


def options(url: str, key: str | None, timeout: float, transport: Any) -> dict[str, Any]:
    """How both clients set httpx up. No redirect is followed: the key goes to the address it was given for."""
    if key is not None and not (key.isascii() and key.isprintable()):
        raise OptionError("this is no API key: `jurors keys create` prints one, jk_ and letters and digits", name="key")
    headers = {"Accept": "application/json"} | ({} if key is None else {"Authorization": f"Bearer {key}"})
    return {"base_url": url, "headers": headers, "timeout": timeout, "transport": transport, "follow_redirects": False}
