"""API keys: who may read, write or administer which project. Only their hashes are kept.

A key is `jk_`, 12 characters that name it, `_`, and a secret of 256 random bits. So many bits cannot be guessed however
fast a hash is, which is why SHA-256 does and a slow one would only slow the server. The name finds the row, and the
hash is compared in constant time: nothing of the secret is learnt from how long a refusal takes.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, get_args

from jurors.errors import Code
from jurors.serve.refused import Refused

Scope: TypeAlias = Literal["read", "write", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)  #: each may all that those before it may

_FORM = re.compile(r"jk_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_NOBODY = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True)
class ApiKey:
    """A key as it is kept: all but the secret."""

    id: str
    hash: str
    scope: Scope
    project: str | None = None  #: None: all of them
    note: str = ""
    created: float = 0.0
    revoked: float | None = None

    def may(self, scope: Scope, project: str | None) -> bool:
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


def make_key(scope: Scope, project: str | None = None, note: str = "") -> tuple[str, ApiKey]:
    """A new key: the text to hand out, which is told once, and what is kept of it.

    >>> token, key = make_key("read", "shop")
    >>> token.startswith(f"jk_{key.id}_"), token in str(key), len(key.hash)
    (True, False, 64)
    """
    name = secrets.token_hex(6)
    token = f"jk_{name}_{secrets.token_urlsafe(32)}"
    return token, ApiKey(name, _hash(token), scope, project, note, time.time())


def check_key(store: KeyStore, header: str | None, scope: Scope, project: str | None, *, any: bool = False) -> ApiKey:
    """The key of an Authorization header, where it may do this; else 401 or 403, the same whatever is wrong with it.

    `any`: a key for any one project does.
    """
    key = _known(store, header)
    if not key.may(scope, key.project if any else project):
        whole = "all projects" if project is None else f"project {project!r}"
        raise Refused(403, "forbidden", f"this key may not {_DOING[scope]} {whole}; ask for one that may")
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


def _unknown(code: Code, message: str) -> Refused:
    return Refused(401, code, message).with_headers(WWW_Authenticate="Bearer")


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def name_of(given: str) -> str:
    """The name of a key, also where the whole key was given by mistake.

    >>> name_of("0123456789ab"), name_of("jk_0123456789ab_secret")
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
