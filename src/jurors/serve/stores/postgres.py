"""PostgreSQL, for several workers and hosts on one store."""

from __future__ import annotations

from typing import Any

from jurors.serve.refused import Refused, StoreDown, StoreFull

_DURABLE = "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"


class PostgreSQL:
    """A database; a commit is on its disk before it is acknowledged, whatever its default is."""

    placeholder = "%s"
    begin_read = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    begin_write = "BEGIN"
    lock_project = "SELECT id FROM projects WHERE id = ? FOR NO KEY UPDATE"  # votes may still come in
    lock_schema = "SELECT pg_advisory_xact_lock(7237128721)"
    words = {"serial": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "blob": "BYTEA", "clustered": ""}  # noqa: RUF012

    def __init__(self, url: str) -> None:
        from psycopg.conninfo import conninfo_to_dict

        self.url = url
        parts = conninfo_to_dict(url)
        self.shown = f"postgresql://{parts.get('host', 'localhost')}/{parts.get('dbname', '')}"

    def connect(self) -> Any:
        """A connection that begins no transaction by itself."""
        import psycopg

        connection = psycopg.connect(self.url, autocommit=True, connect_timeout=10, application_name="jurors")
        connection.execute(_DURABLE)
        return connection

    def fault(self, error: Exception) -> Refused | None:
        """Full or out of reach."""
        import psycopg

        line = (str(error).strip().splitlines() or ["no reason given"])[0]
        reason = line.rpartition(" failed: ")[2]  # without where it listens: this goes to whoever asked
        if isinstance(error, psycopg.errors.DiskFull):
            return StoreFull(reason)
        is_down = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError | psycopg.InternalError)
        return StoreDown(reason) if is_down else None

    def is_orphan(self, error: Exception) -> bool:
        """A foreign key that leads nowhere."""
        import psycopg

        return isinstance(error, psycopg.errors.ForeignKeyViolation)
