"""Connections, SQLite/PostgreSQL, migrations."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import Empty, LifoQueue
from threading import BoundedSemaphore
from typing import Any, Literal, Protocol

from jurors.monitor.windows import Window
from jurors.options import Label
from jurors.serve.errors import ApiError, StoreFull, StoreUnavailable

# What SQLite and PostgreSQL do differently: how to open one, how a transaction begins, and what its errors mean.


class Dialect(Protocol):
    """One database."""

    shown: str  #: what messages and logs call it; no password
    placeholder: str
    begin_read: str
    begin_write: str
    lock_project: str  #: keeps other folds of a project waiting until the transaction ends
    lock_schema: str
    words: dict[str, str]  #: for the `{…}` of the tables

    def connect(self) -> Any:
        """A new connection, on which transactions begin and end by statements."""

    def fault(self, error: Exception) -> ApiError | None:
        """What a driver's error means for whoever asked; None for an error of ours."""

    def is_orphan(self, error: Exception) -> bool:
        """Whether a row belongs to a project that is not there (any more)."""


# A transaction on either database: SQL is written once, with `?` for values.


Row = tuple[Any, ...]
_AT_ONCE = 500  #: names in one question


class Session:
    """Statements inside one transaction of an open connection."""

    def __init__(self, connection: Any, placeholder: str) -> None:
        self._cursor, self._placeholder = connection.cursor(), placeholder

    def run(self, sql: str, *values: Any) -> int:
        """Run a statement; how many rows it changed."""
        self._cursor.execute(self._spelled(sql), values)
        changed: int = self._cursor.rowcount
        return changed

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each row."""
        if listed := list(rows):
            self._cursor.executemany(self._spelled(sql), listed)

    def rows(self, sql: str, *values: Any) -> list[Row]:
        """All rows of an answer."""
        self._cursor.execute(self._spelled(sql), values)
        answer: list[Row] = self._cursor.fetchall()
        return answer

    def parts(self, sql: str, size: int) -> tuple[list[str], Iterator[list[Row]]]:
        """The columns of an answer, and its rows, so many at a time; nothing else may be asked meanwhile."""
        self._cursor.execute(self._spelled(sql))
        columns = [column[0] for column in self._cursor.description]
        return columns, iter(lambda: self._cursor.fetchmany(size), [])

    def one(self, sql: str, *values: Any) -> Row | None:
        """The first row of an answer, if any."""
        self._cursor.execute(self._spelled(sql), values)
        row: Row | None = self._cursor.fetchone()
        return row

    def rows_in(self, sql: str, value: Any, names: Sequence[Any]) -> list[Row]:
        """The rows for some of many names; `sql` has `?` for a value, and `{names}` where the names go."""
        answer: list[Row] = []
        for start in range(0, len(names), _AT_ONCE):
            part = names[start : start + _AT_ONCE]
            answer += self.rows(sql.replace("{names}", ", ".join("?" * len(part))), value, *part)
        return answer

    def _spelled(self, sql: str) -> str:
        return sql if self._placeholder == "?" else sql.replace("?", self._placeholder)


# Open connections, kept for the next who needs one; one that broke is never used again.


_WAIT = 30.0


class Connections:
    """At most `most` at a time; whoever comes later waits."""

    def __init__(self, dialect: Dialect, most: int = 8) -> None:
        self.dialect = dialect
        self._idle: LifoQueue[Any] = LifoQueue()
        self._free = BoundedSemaphore(most)

    @contextmanager
    def transaction(self, begin: str) -> Iterator[Session]:
        """All that the block does happens, or nothing; a driver's error comes out as what it means."""
        if not self._free.acquire(timeout=_WAIT):
            raise StoreUnavailable("too many requests at once")
        try:
            with self._begun(begin) as session:
                yield session
        except Exception as error:
            fault = self.dialect.fault(error)
            if fault is None:
                raise
            raise fault from error
        finally:
            self._free.release()

    @contextmanager
    def _begun(self, begin: str) -> Iterator[Session]:
        connection = self._begin(begin)
        try:
            yield Session(connection, self.dialect.placeholder)
            connection.execute("COMMIT")
        except BaseException as error:
            self._give_back(connection, is_sound=self._rolled_back(connection, error))
            raise
        self._give_back(connection, is_sound=True)

    def _begin(self, begin: str) -> Any:
        """A connection with a transaction; one that was kept may have died with its server: take another then."""
        with suppress(Empty):
            connection = self._idle.get_nowait()
            try:
                connection.execute(begin)
            except Exception as error:
                _close(connection)
                if self.dialect.fault(error) is None:
                    raise
                self.close()  # the others are no younger
            else:
                return connection
        connection = self.dialect.connect()
        connection.execute(begin)
        return connection

    def _rolled_back(self, connection: Any, error: BaseException) -> bool:
        if isinstance(error, Exception) and self.dialect.fault(error) is not None:
            return False
        try:
            connection.execute("ROLLBACK")
        except Exception:
            return False
        return True

    def _give_back(self, connection: Any, *, is_sound: bool) -> None:
        if is_sound:
            self._idle.put(connection)
        else:
            _close(connection)

    def close(self) -> None:
        """Close those that nobody uses."""
        with suppress(Empty):
            while True:
                _close(self._idle.get_nowait())


def _close(connection: Any) -> None:
    with suppress(Exception):
        connection.close()


# The tables, as steps that are each taken once: a store of an older version is brought up to date when it is opened.
#
# A step is never changed once it has been released; what comes later is a step of its own. `{serial}`, `{blob}` and
# `{clustered}` are spelled by each database.
#
# * projects   a project, its settings, and how often it was folded (`version`)
# * inbox      batches of votes that are acknowledged and not yet folded, as JSON columns
# * jurors, labels   the code of each name within its project; codes are never given twice
# * items      what each item's decision tuple is counted as now: `counted` holds one byte per juror (0: no vote)
# * panes      how many items of a stretch of the stream have each decision tuple
# * spans      the first and last time of a pane, and the version of the project that changed it last
# * closed     fingerprints of items that are past their time: votes on them are late, and counted nowhere
# * api_keys   what is kept of a key: its hash, never the key
# * gold       what a person said of an item
# * drift      what watches a project's stream: its state and alarms


MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE projects (
            id {serial}, name TEXT NOT NULL UNIQUE, settings TEXT NOT NULL, created DOUBLE PRECISION NOT NULL,
            version BIGINT NOT NULL DEFAULT 0, updated DOUBLE PRECISION, items BIGINT NOT NULL DEFAULT 0,
            votes BIGINT NOT NULL DEFAULT 0, numbered BIGINT NOT NULL DEFAULT 0, late BIGINT NOT NULL DEFAULT 0,
            closed BIGINT NOT NULL DEFAULT 0)""",
        """CREATE TABLE inbox (
            seq {serial}, project BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
            arrived DOUBLE PRECISION NOT NULL, votes BIGINT NOT NULL, batch TEXT NOT NULL)""",
        "CREATE INDEX inbox_by_project ON inbox (project, seq)",
        """CREATE TABLE jurors (
            project BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE, code BIGINT NOT NULL,
            name TEXT NOT NULL, PRIMARY KEY (project, code), UNIQUE (project, name))""",
        """CREATE TABLE labels (
            project BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE, code BIGINT NOT NULL,
            name TEXT NOT NULL, PRIMARY KEY (project, code), UNIQUE (project, name))""",
        """CREATE TABLE items (
            project BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE, number BIGINT NOT NULL,
            item TEXT NOT NULL, pane BIGINT NOT NULL, counted {blob} NOT NULL, times TEXT,
            first_time DOUBLE PRECISION, updated DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (project, number), UNIQUE (project, item)) {clustered}""",
        """CREATE TABLE panes (
            project BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE, pane BIGINT NOT NULL,
            counted {blob} NOT NULL, times BIGINT NOT NULL, PRIMARY KEY (project, pane, counted)) {clustered}""",
        """CREATE TABLE spans (
            project BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE, pane BIGINT NOT NULL,
            first_time DOUBLE PRECISION NOT NULL, last_time DOUBLE PRECISION NOT NULL, version BIGINT NOT NULL,
            PRIMARY KEY (project, pane)) {clustered}""",
        """CREATE TABLE closed (
            project BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE, mark BIGINT NOT NULL,
            PRIMARY KEY (project, mark)) {clustered}""",
    ),
    (
        """CREATE TABLE api_keys (
            id TEXT PRIMARY KEY, hash TEXT NOT NULL, scope TEXT NOT NULL, project TEXT, note TEXT NOT NULL,
            created DOUBLE PRECISION NOT NULL, revoked DOUBLE PRECISION)""",
        """CREATE TABLE gold (
            project BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE, item TEXT NOT NULL,
            label TEXT NOT NULL, given DOUBLE PRECISION NOT NULL, PRIMARY KEY (project, item)) {clustered}""",
    ),
    (
        """CREATE TABLE drift (
            project BIGINT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE, version BIGINT NOT NULL,
            active BIGINT NOT NULL, alarms TEXT NOT NULL, state TEXT NOT NULL)""",
    ),
)


# PostgreSQL, for several workers and hosts on one store.


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

    def fault(self, error: Exception) -> ApiError | None:
        """Full or out of reach."""
        import psycopg

        line = (str(error).strip().splitlines() or ["no reason given"])[0]
        reason = line.rpartition(" failed: ")[2]  # without where it listens: this goes to whoever asked
        if isinstance(error, psycopg.errors.DiskFull):
            return StoreFull(reason)
        is_down = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError | psycopg.InternalError)
        return StoreUnavailable(reason) if is_down else None

    def is_orphan(self, error: Exception) -> bool:
        """A foreign key that leads nowhere."""
        import psycopg

        return isinstance(error, psycopg.errors.ForeignKeyViolation)


# SQLite in one file: write-ahead log, and every acknowledged vote on the disk before it is acknowledged.


_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE)
_SQLITE_WAIT = 20.0  #: seconds for another process to finish writing


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
        connection = sqlite3.connect(self.path, timeout=_SQLITE_WAIT, isolation_level=None, check_same_thread=False)
        _keep_a_log(connection)
        for setting in ("synchronous = FULL", "foreign_keys = ON", "cache_size = -4000"):
            connection.execute(f"PRAGMA {setting}")
        return connection

    def fault(self, error: Exception) -> ApiError | None:
        """Full, busy or out of reach."""
        if not isinstance(error, sqlite3.DatabaseError) or isinstance(error, sqlite3.IntegrityError):
            return None
        code = getattr(error, "sqlite_errorcode", None)
        return StoreFull(str(error)) if code in _FULL else StoreUnavailable(str(error))

    def is_orphan(self, error: Exception) -> bool:
        """A foreign key that leads nowhere."""
        code = getattr(error, "sqlite_errorcode", None)
        return isinstance(error, sqlite3.IntegrityError) and code == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY


def _keep_a_log(connection: sqlite3.Connection) -> None:
    """Write ahead. SQLite's `timeout` leaves this switch out, so try again while another connection holds it."""
    deadline = time.monotonic() + _SQLITE_WAIT
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.005)


# Names of jurors and labels, and their codes: given in the order in which they came, never twice.


Names = Literal["jurors", "labels"]  #: the tables; a label is kept as JSON, so that 1 and "1" are two


def names(session: Session, project: int, kind: Names) -> list[str]:
    """The names, in the order of their codes."""
    return [row[0] for row in session.rows(f"SELECT name FROM {kind} WHERE project = ? ORDER BY code", project)]


def add_names(session: Session, project: int, kind: Names, new: Iterable[str]) -> dict[str, int]:
    """The code of every name, the new ones behind the others; the project must be locked."""
    codes = {name: code for code, name in enumerate(names(session, project, kind))}
    fresh = [name for name in dict.fromkeys(new) if name not in codes]
    rows = [(project, code, name) for code, name in enumerate(fresh, len(codes))]
    session.many(f"INSERT INTO {kind} (project, code, name) VALUES (?, ?, ?)", rows)
    return codes | {name: code for _, code, name in rows}


# A project as the store knows it.


WINDOW = 1_000  #: items, where a project says nothing


@dataclass(frozen=True, slots=True)
class Project:
    """A stream of votes of its own: name, settings, and how much of it is folded."""

    id: int
    name: str
    settings: dict[str, Any]  #: as it was PUT: labels, window, thresholds, settle; only what was given
    created: float
    version: int  #: grows with every fold that took something: what was computed for it holds until then
    updated: float | None  #: when the last vote arrived that is folded
    items: int
    votes: int
    numbered: int  #: how many items ever came: the next has this number
    late: int  #: votes on items that are past their time: counted here and nowhere else

    @property
    def window(self) -> Window:
        """How its stream is cut."""
        return window_of(self.settings)

    @property
    def labels(self) -> tuple[Label, ...] | None:
        """The labels that may be said, where they were named."""
        named = self.settings.get("labels")
        return None if named is None else tuple(named)


def window_of(settings: Mapping[str, Any]) -> Window:
    """The window that a project was told, else of 1,000 items; OptionError where it is none."""
    return Window.of(settings.get("window") or WINDOW)


COLUMNS = "id, name, settings, created, version, updated, items, votes, numbered, late"


@dataclass(frozen=True, slots=True)
class ItemRow:
    """An item as it is counted: its decision tuple as bytes, one per juror, 0 for no vote."""

    number: int  #: by arrival, from 0: pages of items go by it
    item: str
    pane: int
    counted: bytes
    first_time: float | None
