"""API keys (who may read, write or administer which project), the limits of requests, and the rate limiter.

A key is `jk_`, 12 characters that name it, `_`, and a secret of 256 random bits. So many bits cannot be guessed however
fast a hash is, which is why SHA-256 is enough and a slow hash would only slow the server. Only hashes are stored. The
name finds the row, and the hash is compared in constant time: how long a refusal takes reveals nothing of the secret.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias, get_args

from jurors.errors import Code
from jurors.results import Block, Columns, Result, Table, columns_of, escape_text
from jurors.serve.errors import ApiError

KeyScope: TypeAlias = Literal["read", "write", "admin"]
SCOPES: tuple[KeyScope, ...] = get_args(KeyScope)  #: each includes those before it

_TOKEN = re.compile(r"jk_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_NO_HASH = hashlib.sha256(b"").hexdigest()  #: compared with where there is no key: a refusal takes as long


@dataclass(frozen=True)
class ApiKey:
    """A key as it is stored: everything but the secret."""

    id: str
    hash: str
    scope: KeyScope
    project: str | None = None  #: None: all projects
    note: str = ""
    created: float = 0.0
    revoked: float | None = None

    def may(self, scope: KeyScope, project: str | None) -> bool:
        """Whether it allows this; what concerns all projects needs a key for all.

        >>> key = ApiKey("a", "", "write", "shop")
        >>> key.may("read", "shop"), key.may("admin", "shop"), key.may("read", "bank"), key.may("read", None)
        (True, False, False, False)
        """
        return SCOPES.index(scope) <= SCOPES.index(self.scope) and self.project in (None, project)


def make_key(scope: KeyScope, project: str | None = None, note: str = "") -> tuple[str, ApiKey]:
    """A new key.

    Returns
    -------
    token : str
        The text to hand out, which is shown once.
    key : ApiKey
        What is stored of it.

    Examples
    --------
    >>> token, key = make_key("read", "shop")
    >>> token.startswith(f"jk_{key.id}_"), token in str(key), len(key.hash)
    (True, False, 64)
    """
    name = secrets.token_hex(6)
    token = f"jk_{name}_{secrets.token_urlsafe(32)}"
    return token, ApiKey(name, _hash(token), scope, project, note, time.time())


def check_key(
    find: Callable[[str], ApiKey | None], header: str | None, scope: KeyScope, project: str | None, *, any: bool = False
) -> ApiKey:
    """The key of an Authorization header, where it allows a request; else ApiError, the same whatever is wrong with it.

    Parameters
    ----------
    find
        Looks a key up by its name, revoked or not.
    header
        The value of the header, None where there is none.
    scope, project
        What the request needs; `project` None for all projects.
    any
        Whether a key for any one project is enough.

    Returns
    -------
    ApiKey
        The key.

    Raises
    ------
    ApiError
        401 where there is no valid key, 403 where it does not allow this.
    """
    if header is None:
        raise _unauthorized(
            "no_key", "this server requires an API key; send it in the header `Authorization: Bearer jk_…`"
        )
    scheme, _, token = header.partition(" ")
    token = token.strip()
    match = _TOKEN.fullmatch(token) if scheme.lower() == "bearer" else None
    key = None if match is None else find(match[1])
    stored = _NO_HASH if key is None or key.revoked is not None else key.hash
    is_same = hmac.compare_digest(_hash(token), stored)
    if key is None or not is_same:
        raise _unauthorized("bad_key", "this API key is unknown or revoked; create one with `jurors store keys create`")
    if not key.may(scope, key.project if any else project):
        verb = {"read": "read", "write": "write to", "admin": "administer"}[scope]
        subject = "all projects" if project is None else f"project {project!r}"
        raise ApiError(403, "forbidden", f"this API key cannot {verb} {subject}; use a key with that scope")
    return key


def _unauthorized(code: Code, message: str) -> ApiError:
    return ApiError(401, code, message).with_headers(WWW_Authenticate="Bearer")


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def key_name(given: str) -> str:
    """The name of a key, even where the whole key was given by mistake.

    Returns
    -------
    str
        12 hexadecimal digits.

    Examples
    --------
    >>> key_name("0123456789ab"), key_name("jk_0123456789ab_secret")
    ('0123456789ab', '0123456789ab')
    """
    return given[3:15] if given.startswith("jk_") else given[:12]


def without_secrets(text: str) -> str:
    """A line with the secret of every key in it cut out.

    Returns
    -------
    str
        The line, with keys cut after their name.

    Examples
    --------
    >>> without_secrets("GET /?key=jk_0123456789ab_s3cret HTTP/1.1")
    'GET /?key=jk_0123456789ab_… HTTP/1.1'
    """
    return re.sub(r"jk_[0-9a-f]{12}_[A-Za-z0-9_-]+", lambda match: f"{match[0][:16]}…", text)


@dataclass(frozen=True)
class KeyList(Result):
    """The list of keys: what each allows, and since when."""

    keys: tuple[ApiKey, ...]

    def _columns(self) -> Columns:
        rows = [
            (key.id, key.scope, key.project, key.note, _moment(key.created), _moment(key.revoked)) for key in self.keys
        ]
        return columns_of(("key", "scope", "project", "note", "created", "revoked"), rows)

    def _blocks(self) -> Iterable[Block]:
        return [Table.of(self._columns())] if self.keys else ["There are no keys."]


@dataclass(frozen=True)
class Quarantine(Result):
    """The batches of votes that a server could not count."""

    batches: tuple[tuple[Any, ...], ...]  #: number, project, arrival in seconds since 1970, votes, reason

    def _columns(self) -> Columns:
        rows = [(number, name, _moment(arrived), *rest) for number, name, arrived, *rest in self.batches]
        return columns_of(("batch", "project", "arrived", "votes", "reason"), rows)

    def _blocks(self) -> Iterable[Block]:
        return [Table.of(self._columns())] if self.batches else ["No votes are in quarantine."]


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class ServerLimits:
    """What a server accepts; what exceeds a limit is refused in one line that names the limit."""

    body: int = 32 << 20  #: bytes of a request's body
    body_seconds: float = 30.0  #: for a body to arrive
    bytes: int = 128 << 20  #: of all bodies that are arriving or being worked on
    turns: int = 4  #: requests for results at a time
    turn_seconds: float = 20.0  #: for a turn to come
    votes: int = 100_000  #: of one request
    waiting: int = 200_000  #: votes of a project that are not counted yet
    projects: int = 1_000
    jurors: int = 2_000  #: of a project
    labels: int = 250  #: of a project: a decision tuple holds a byte per juror
    name: int = 500  #: characters of an item, a juror or a label
    project_name: int = 100
    rate: float = 500.0  #: requests per second of one key, or of one address where there are no keys
    burst: int = 2_000  #: requests at once before the rate holds


def check_project(name: str, limits: ServerLimits) -> str:
    """Check the name of a project: it must be safe in a path, a file name and a log line.

    Returns
    -------
    str
        The name, unchanged.

    Examples
    --------
    >>> check_project("checkout-judges", ServerLimits())
    'checkout-judges'
    """
    # Letters and digits of any script, so that a name is safe as part of a path, a file name, a log line or a label.
    if len(name) > limits.project_name or not re.fullmatch(r"[^\W_][\w.-]*", name):
        shown = escape_text(name[: limits.project_name])
        raise ApiError(
            422, "bad_name", f"{shown!r} is not a valid project name: start with a letter or a digit, and use letters, "
            f"digits, '.', '-' and '_', at most {limits.project_name} characters",
        )  # fmt: skip
    return name


@dataclass
class Rate:
    """A token bucket per caller, filled at a steady rate; the most recent callers are remembered.

    >>> clock = iter([0.0, 0.0, 0.0, 2.0])
    >>> rate = Rate(per_second=1, burst=2, clock=lambda: next(clock))
    >>> [rate.wait("ann") for _ in range(4)]
    [0.0, 0.0, 1.0, 0.0]
    """

    per_second: float
    burst: int
    clock: Callable[[], float] = time.monotonic
    most: int = 10_000  #: callers
    _buckets: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict, repr=False)

    def wait(self, caller: str) -> float:
        """Take a token of the caller; returns 0, or in how many seconds there will be one."""
        now = self.clock()
        tokens, since = self._buckets.pop(caller, (float(self.burst), now))
        tokens = min(float(self.burst), tokens + (now - since) * self.per_second)
        is_taken = tokens >= 1
        self._buckets[caller] = (tokens - is_taken, now)
        if len(self._buckets) > self.most:
            self._buckets.popitem(last=False)
        return 0.0 if is_taken else (1 - tokens) / self.per_second
