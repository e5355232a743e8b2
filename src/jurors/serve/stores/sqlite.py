"""SQLite in one file: write-ahead log, and every acknowledged vote on the disk before it is acknowledged."""

from __future__ import annotations

import sqlite3
import time
from typing import Any

from jurors.serve.refused import Refused, StoreDown, StoreFull

_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE)
_WAIT = 20.0  #: seconds for another process to finish writing


class SQLite:
    """A file; `synchronous=FULL` syncs the log at each commit, so that power may fail at any moment."""

    placeholder = "?"
    begin_read = "BEGIN"
    begin_write = "BEGIN IMMEDIATE"  # one writer at a time: what was read inside stays true
    lock_project = ""
    lock_schema = ""
    words = {"serial": "INTEGER PRIMARY KEY AUTOINCREMENT", "blob": "BLOB", "clustered": "WITHOUT ROWID"}  # noqa: RUF012

    def __init__(self, path: str, shown: str) -> None:
        self.path, self.shown = path, shown

    def connect(self) -> Any:
        """A connection that any thread may use, one at a time."""
        connection = sqlite3.connect(self.path, timeout=_WAIT, isolation_level=None, check_same_thread=False)
        _keep_a_log(connection)
        for setting in ("synchronous = FULL", "foreign_keys = ON", "cache_size = -4000"):
            connection.execute(f"PRAGMA {setting}")
        return connection

    def fault(self, error: Exception) -> Refused | None:
        """Full, busy or out of reach."""
        if not isinstance(error, sqlite3.DatabaseError) or isinstance(error, sqlite3.IntegrityError):
            return None
        code = getattr(error, "sqlite_errorcode", None)
        return StoreFull(str(error)) if code in _FULL else StoreDown(str(error))

    def is_orphan(self, error: Exception) -> bool:
        """A foreign key that leads nowhere."""
        code = getattr(error, "sqlite_errorcode", None)
        return isinstance(error, sqlite3.IntegrityError) and code == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY


def _keep_a_log(connection: sqlite3.Connection) -> None:
    """Write ahead. SQLite's `timeout` leaves this switch out, so try again while another connection holds it."""
    deadline = time.monotonic() + _WAIT
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.005)
