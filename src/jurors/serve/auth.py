"""API keys, scopes, rate limit."""

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
from typing import Literal, Protocol, TypeAlias, get_args

from jurors.errors import Code
from jurors.results import Block, Columns, Result, Table, columns_of, escape_text
from jurors.serve.errors import ApiError

# API keys: who may read, write or administer which project. Only their hashes are kept.
#
# A key is `jk_`, 12 characters that name it, `_`, and a secret of 256 random bits. So many bits cannot be guessed
# however fast a hash is, which is why SHA-256 does and a slow one would only slow the server. The name finds the row,
# and the hash is compared in constant time: nothing of the secret is learnt from how long a refusal takes.


KeyScope: TypeAlias = Literal["read", "write", "admin"]
SCOPES: tuple[KeyScope, ...] = get_args(KeyScope)  #: each includes those before it

_FORM = re.compile(r"jk_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_NOBODY = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True)
class ApiKey:
    """A key as it is kept: all but the secret."""

    id: str
    hash: str
    scope: KeyScope
    project: str | None = None  #: None: all of them
    note: str = ""
    created: float = 0.0
    revoked: float | None = None

    def may(self, scope: KeyScope, project: str | None) -> bool:
        """Whether it is good for this; what is about all projects needs a key for all.

        >>> key = ApiKey("a", "", "write", "shop")
        >>> key.may("read", "shop"), key.may("admin", "shop"), key.may("read", "bank"), key.may("read", None)
        (True, False, False, False)
        """
        return SCOPES.index(scope) <= SCOPES.index(self.scope) and self.project in (None, project)


class KeyStore(Protocol):
    """Where keys are kept."""

    def add_key(self, key: ApiKey) -> None:
        """Keep a key."""

    def key(self, id: str) -> ApiKey | None:
        """The key of this name, revoked or not."""

    def all_keys(self) -> Iterable[ApiKey]:
        """All of them, the oldest first."""

    def revoke_key(self, id: str, when: float) -> bool:
        """Whether there was such a key that was not revoked; it is now."""

    def any_key(self) -> bool:
        """Whether one was ever made: from then on one is asked for, also when all are revoked."""


def make_key(scope: KeyScope, project: str | None = None, note: str = "") -> tuple[str, ApiKey]:
    """A new key: the text to hand out, which is told once, and what is kept of it.

    >>> token, key = make_key("read", "shop")
    >>> token.startswith(f"jk_{key.id}_"), token in str(key), len(key.hash)
    (True, False, 64)
    """
    name = secrets.token_hex(6)
    token = f"jk_{name}_{secrets.token_urlsafe(32)}"
    return token, ApiKey(name, _hash(token), scope, project, note, time.time())


def check_key(
    store: KeyStore, header: str | None, scope: KeyScope, project: str | None, *, any: bool = False
) -> ApiKey:
    """The key of an Authorization header, where it may do this; else 401 or 403, the same whatever is wrong with it.

    `any`: a key for any one project does.
    """
    key = _known(store, header)
    if not key.may(scope, key.project if any else project):
        whole = "all projects" if project is None else f"project {project!r}"
        raise ApiError(403, "forbidden", f"this key may not {_DOING[scope]} {whole}; ask for one that may")
    return key


_DOING = {"read": "read", "write": "write to", "admin": "administer"}


def _known(store: KeyStore, header: str | None) -> ApiKey:
    if header is None:
        raise _unknown("no_key", "a key is needed: send the header `Authorization: Bearer jk_…`")
    scheme, _, token = header.partition(" ")
    form = _FORM.fullmatch(token.strip()) if scheme.lower() == "bearer" else None
    key = None if form is None else store.key(form[1])
    kept = _NOBODY if key is None or key.revoked is not None else key.hash
    same = hmac.compare_digest(_hash(token.strip()), kept)
    if key is None or not same:
        raise _unknown("bad_key", "this key is unknown or revoked; `jurors keys create` makes another")
    return key


def _unknown(code: Code, message: str) -> ApiError:
    return ApiError(401, code, message).with_headers(WWW_Authenticate="Bearer")


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def key_name(given: str) -> str:
    """The name of a key, also where the whole key was given by mistake.

    >>> key_name("0123456789ab"), key_name("jk_0123456789ab_secret")
    ('0123456789ab', '0123456789ab')
    """
    return given[3:15] if given.startswith("jk_") else given[:12]


_SECRET = re.compile(r"jk_[0-9a-f]{12}_[A-Za-z0-9_-]+")


def without_secrets(text: str) -> str:
    """A line in which no key can be read, wherever it came from.

    >>> without_secrets("GET /?key=jk_0123456789ab_s3cret HTTP/1.1")
    'GET /?key=jk_0123456789ab_… HTTP/1.1'
    """
    return _SECRET.sub(lambda match: f"{match[0][:16]}…", text)


# The list of keys, as a result like any other.


_COLUMNS = ("key", "scope", "project", "note", "created", "revoked")


@dataclass(frozen=True)
class KeyList(Result):
    """Keys by name: what each is good for, and since when."""

    keys: tuple[ApiKey, ...]

    def _columns(self) -> Columns:
        rows = [
            (key.id, key.scope, key.project, key.note, _moment(key.created), _moment(key.revoked)) for key in self.keys
        ]
        return columns_of(_COLUMNS, rows)

    def _blocks(self) -> Iterable[Block]:
        return [Table.of(self._columns())] if self.keys else ["there is no key"]


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# How much a request may ask: sizes, lengths, numbers of things, and how often.


# Letters and digits of any script, so that a name is safe as part of a path, a file name, a line of a log or a label.
_QUOTAS_PROJECT = re.compile(r"[^\W_][\w.-]*")


@dataclass(frozen=True)
class ServerLimits:
    """What a server takes. Each is refused in one line that says the limit."""

    body: int = 32 << 20  #: bytes of a request's body
    body_seconds: float = 30.0  #: for a body to arrive
    votes: int = 100_000  #: of one request
    projects: int = 1_000
    jurors: int = 2_000  #: of a project
    labels: int = 250  #: of a project: a decision tuple holds a byte per juror
    name: int = 500  #: characters of an item, a juror or a label
    project_name: int = 100
    rate: float = 500.0  #: requests per second of one key, or of one address where there are no keys
    burst: int = 2_000  #: requests at once before the rate holds


def check_project(name: str, limits: ServerLimits) -> str:
    """The name of a project; refused where it could mean something elsewhere.

    >>> check_project("checkout-judges", ServerLimits())
    'checkout-judges'
    """
    if len(name) > limits.project_name or not _QUOTAS_PROJECT.fullmatch(name):
        shown = escape_text(name[: limits.project_name])
        raise ApiError(
            422, "bad_name", f"{shown!r} is no name for a project: begin with a letter or digit, then letters, "
            f"digits, '.', '-', '_'; at most {limits.project_name} characters",
        )  # fmt: skip
    return name


@dataclass
class Rate:
    """A bucket of requests per caller, filled at a steady rate; the callers heard of last are remembered.

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
        """Take one request out of the caller's bucket: 0, or in how many seconds there will be one."""
        now = self.clock()
        left, since = self._buckets.pop(caller, (float(self.burst), now))
        left = min(float(self.burst), left + (now - since) * self.per_second)
        taken = left >= 1
        self._buckets[caller] = (left - taken, now)
        if len(self._buckets) > self.most:
            self._buckets.popitem(last=False)
        return 0.0 if taken else (1 - left) / self.per_second
