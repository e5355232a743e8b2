"""API keys in the store: their hashes, never the keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jurors.serve.guard.api_keys import ApiKey
from jurors.serve.stores import Store

_COLUMNS = "id, hash, scope, project, note, created, revoked"


class KeptKeys:
    """The keys of a store.

    Examples
    --------
    >>> from jurors.scratch import scratch
    >>> from jurors.serve.guard.api_keys import make_key
    >>> from jurors.serve.stores import open_store
    >>> with scratch() as folder:
    ...     store = open_store(str(folder / "votes.db"))
    ...     keys, (token, key) = KeptKeys(store), make_key("read", "shop")
    ...     keys.add_key(key)
    ...     kept = keys.key(key.id)
    ...     store.close()
    >>> kept == key
    True
    """

    def __init__(self, store: Store | Callable[[], Store]) -> None:
        self._given = store

    @property
    def _store(self) -> Store:
        return self._given if isinstance(self._given, Store) else self._given()  # an app opens its own when it starts

    def add_key(self, key: ApiKey) -> None:
        """Keep a key."""
        values = (key.id, key.hash, key.scope, key.project, key.note, key.created, key.revoked)
        with self._store.writing() as session:
            session.run(f"INSERT INTO api_keys ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", *values)

    def key(self, id: str) -> ApiKey | None:
        """The key of this name, revoked or not."""
        with self._store.reading() as session:
            row = session.one(f"SELECT {_COLUMNS} FROM api_keys WHERE id = ?", id)
        return None if row is None else _key(row)

    def all_keys(self) -> list[ApiKey]:
        """All of them, the oldest first."""
        with self._store.reading() as session:
            return [_key(row) for row in session.rows(f"SELECT {_COLUMNS} FROM api_keys ORDER BY created, id")]

    def revoke_key(self, id: str, when: float) -> bool:
        """Whether there was such a key that was not revoked; it is now."""
        with self._store.writing() as session:
            return bool(session.run("UPDATE api_keys SET revoked = ? WHERE id = ? AND revoked IS NULL", when, id))

    def any_key(self) -> bool:
        """Whether one was ever made."""
        with self._store.reading() as session:
            return session.one("SELECT id FROM api_keys LIMIT 1") is not None


def _key(row: Sequence[Any]) -> ApiKey:
    return ApiKey(*row)
