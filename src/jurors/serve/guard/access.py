"""Which key a request needs, told from its method and path alone: what is not named here needs the most."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from jurors.serve.guard.api_keys import Scope

#: pages and probes that hold no vote
_OPEN = re.compile(r"/|/healthz|/readyz|/docs|/openapi\.json|/assets/[\w.-]+")
_PROJECT = re.compile(r"/v1/projects/([^/]+)(?:/(.*))?")
_READING = ("GET", "HEAD")


@dataclass(frozen=True)
class Need:
    """What a request needs of its key."""

    scope: Scope | Literal["open"]
    project: str | None = None  #: None: all of them
    any_project: bool = False  #: a key for one project does; the answer is about that one


def need_of(method: str, path: str) -> Need:
    """What a request needs.

    >>> need_of("GET", "/v1/projects/shop/grade").scope, need_of("POST", "/v1/projects/shop/votes").scope
    ('read', 'write')
    >>> need_of("PUT", "/v1/projects/shop").scope, need_of("GET", "/anything/else").scope, need_of("GET", "/").scope
    ('admin', 'admin', 'open')
    """
    if method in _READING and _OPEN.fullmatch(path):
        return Need("open")
    if method in _READING and path == "/metrics":
        return Need("read")
    if method in _READING and path == "/v1/projects":
        return Need("read", any_project=True)
    place = _PROJECT.fullmatch(path)
    if place is None:
        return Need("admin")
    if method in _READING:
        return Need("read", place[1])
    return Need("write" if method == "POST" and place[2] in ("votes", "gold") else "admin", place[1])
