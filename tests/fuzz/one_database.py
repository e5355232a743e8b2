"""One DuckDB for all cases of a worker: starting it takes longer than most commands. A case shown alone has its own."""

from __future__ import annotations

from typing import Any

import duckdb

_connect = duckdb.connect
_ANEW = "DROP TYPE IF EXISTS known; RESET memory_limit; RESET preserve_insertion_order"


class Shared:
    """`duckdb.connect` that gives another connection to the same database, as it was in the beginning."""

    def __init__(self) -> None:
        self._base = self._started()

    def serve(self, shared: bool) -> None:
        """From now on `duckdb.connect` is this, or the true one for what changes the whole database."""
        setattr(duckdb, "connect", self if shared else _connect)  # noqa: B010

    def _started(self) -> Any:
        base = _connect()
        base.execute("SET enable_external_file_cache = false")  # the next case's file has the same name
        return base

    def __call__(self, database: str | None = None, *, config: dict[str, Any] | None = None, **more: Any) -> Any:
        if database is not None:  # a file, which is its own
            return _connect(database, config=config or {}, **more)
        try:
            self._base.execute(_ANEW)
        except duckdb.Error:  # an error so grave that the database is closed
            self._base = self._started()
        for name, value in (config or {}).items():
            self._base.execute(f"SET {name} = '{value}'")
        return self._base.cursor()
