"""Transactions on SQLite or PostgreSQL, and the tables of the store.

SQL is written once, with `?` for values; `Session` spells it for the database. `Database.transaction` takes a pooled
connection, begins, and commits or rolls back; a driver's error comes out as what it means to the caller of the server
(`StoreUnavailable`, `StoreFull`). `MIGRATIONS` are the tables.
"""

from __future__ import annotations

import logging
import math
import os
import socket
import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import Empty, LifoQueue
from threading import Event, Lock, Thread
from typing import Any, ClassVar, Literal

from jurors.errors import OptionError
from jurors.monitor.windows import Window
from jurors.options import Label
from jurors.serve.errors import ApiError, NoProject, StoreDamaged, StoreFull, StoreUnavailable

Row = tuple[Any, ...]
_AT_ONCE = 500  #: names in one query
_CONNECTIONS = 8  #: open at a time, per process
SECONDS = 10.0  #: for all of a transaction that a caller waits for; clients give up after 30
_LONG_SECONDS = 120.0  #: for one that counts votes or reads many


class Session:
    """Statements inside one transaction of an open connection."""

    def __init__(self, connection: Any, placeholder: str) -> None:
        self._cursor, self._placeholder = connection.cursor(), placeholder

    def run(self, sql: str, *values: Any) -> int:
        """Run a statement; returns how many rows it changed."""
        return int(self._execute(sql, values).rowcount)

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each row."""
        if listed := list(rows):
            self._cursor.executemany(sql.replace("?", self._placeholder), listed)

    def rows(self, sql: str, *values: Any) -> list[Row]:
        """All rows of a query."""
        return list(self._execute(sql, values).fetchall())

    def parts(self, sql: str, size: int) -> tuple[list[str], Iterator[list[Row]]]:
        """The columns of a query, and its rows, `size` at a time; no other statement may run meanwhile."""
        cursor = self._execute(sql, ())
        return [column[0] for column in cursor.description], iter(lambda: cursor.fetchmany(size), [])

    def one(self, sql: str, *values: Any) -> Row | None:
        """The first row of a query, if any."""
        row: Row | None = self._execute(sql, values).fetchone()
        return row

    def rows_in(self, sql: str, value: Any, names: Sequence[Any]) -> list[Row]:
        """The rows for some of many names; `sql` has `?` for a value, and `{names}` where the names go."""
        answer: list[Row] = []
        for start in range(0, len(names), _AT_ONCE):
            part = names[start : start + _AT_ONCE]
            answer += self.rows(sql.replace("{names}", ", ".join("?" * len(part))), value, *part)
        return answer

    def _execute(self, sql: str, values: Sequence[Any]) -> Any:
        self._cursor.execute(sql.replace("?", self._placeholder), values)
        return self._cursor


class Database(ABC):
    """A database: its pool of connections, how a transaction begins, and what its errors mean."""

    shown: str  #: what messages and logs call it; no password
    placeholder: ClassVar[str]
    begin_read: ClassVar[str]
    begin_write: ClassVar[str]
    lock_project: ClassVar[str]  #: makes other aggregations of a project wait until the transaction ends
    lock_schema: ClassVar[str]
    words: ClassVar[dict[str, str]]  #: for the `{…}` of the tables
    analyze: ClassVar[str]  #: refreshes the statistics without which items are found slowly
    foreign: ClassVar[str]  #: lists tables of another program
    check: ClassVar[str]  #: gives something other than "ok" where the store is damaged
    compacting: ClassVar[tuple[str, ...]]
    is_full: bool = False  #: whether the last write failed because the disk is full
    pause: ClassVar[float]  #: seconds between two transactions of one who counts many votes, for other writers

    @contextmanager
    def transaction(self, begin: str, seconds: float = _LONG_SECONDS) -> Iterator[Session]:
        """All that the block does happens, or nothing; a driver's error comes out as what it means.

        A database that does not respond within so many seconds is unavailable, even if it is only frozen. What may take
        any time (`math.inf`) is maintenance.
        """
        until = time.monotonic() + seconds
        try:
            connection, is_sound = self._begin(begin, until), False
            try:
                yield Session(connection, self.placeholder)
                connection.execute("COMMIT")
                is_sound = True
                if begin == self.begin_write:
                    self.is_full = False
            except BaseException as error:
                fault = self.fault(error) if isinstance(error, Exception) else None
                if fault is None or isinstance(fault, NoProject):  # else the connection may be broken
                    with suppress(Exception):
                        connection.execute("ROLLBACK")
                        is_sound = True
                raise
            finally:
                self._release(connection, is_sound=is_sound)
        except Exception as error:
            fault = self.fault(error)
            if fault is None:
                raise
            self.is_full |= isinstance(fault, StoreFull)
            if time.monotonic() > until and isinstance(fault, StoreUnavailable):
                fault = StoreUnavailable(f"no response within {seconds:g} s")
            raise fault from error

    def compact(self) -> None:
        """Give the space of deleted rows back to the disk."""
        connection = self._acquire(math.inf)
        try:
            for statement in self.compacting:
                connection.execute(statement)
        except Exception as error:
            raise self.fault(error) or error from error
        finally:
            self._release(connection, is_sound=False)

    def _begin(self, begin: str, until: float) -> Any:
        """A connection in a new transaction; pooled ones may have died with their server: then another is tried."""
        for attempt in range(_CONNECTIONS + 1):
            connection = self._acquire(until)
            try:
                self._start(connection, begin, until)
                break
            except BaseException as error:
                self._release(connection, is_sound=False)
                is_known = isinstance(error, Exception) and self.fault(error) is not None
                if not is_known or attempt == _CONNECTIONS or time.monotonic() > until:
                    raise
        return connection

    @abstractmethod
    def _acquire(self, until: float) -> Any:
        """A connection on which transactions begin and end by statements; waits where too many are in use."""

    @abstractmethod
    def _start(self, connection: Any, begin: str, until: float) -> None:
        """Begin a transaction that has to end in time."""

    @abstractmethod
    def _release(self, connection: Any, *, is_sound: bool) -> None:
        """Return a connection to the pool, or close it where it may be broken."""

    @abstractmethod
    def close(self) -> None:
        """Close all connections that are not in use."""

    @abstractmethod
    def fault(self, error: Exception) -> ApiError | None:
        """What a driver's error means for the caller; None for an error of ours."""


_SETTINGS = """SELECT set_config('lock_timeout', '20s', false), set_config('statement_timeout', '120s', false),
    CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END"""


class PostgreSQL(Database):
    """PostgreSQL, for several workers and hosts on one store.

    A commit is on its disk before it is acknowledged, whatever the server's default is.
    """

    placeholder = "%s"
    begin_read = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    begin_write = "BEGIN"
    lock_project = "SELECT id FROM projects WHERE id = ? FOR NO KEY UPDATE"  # votes may still come in
    lock_schema = "SELECT pg_advisory_xact_lock(7237128721)"
    words: ClassVar = {"serial": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "blob": "BYTEA", "clustered": ""}
    compacting = ("SET statement_timeout = 0", "VACUUM")
    analyze, pause, check = "ANALYZE items, panes, gold", 0.0, "SELECT 'ok'"
    foreign = (
        "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename IN ('projects', 'inbox')"
    )

    _PATIENCE = 0.25  #: seconds without a connection until the server itself is tried

    def __init__(self, url: str) -> None:
        from psycopg.conninfo import conninfo_to_dict
        from psycopg_pool import ConnectionPool

        parts = conninfo_to_dict(url)
        self.shown = f"postgresql://{parts.get('host', 'localhost')}/{parts.get('dbname', '')}"
        self._url = url
        self._options: dict[str, Any] = {
            "autocommit": True, "connect_timeout": 3, "application_name": "jurors", "tcp_user_timeout": 10_000,
            "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3,
        }  # fmt: skip
        # It gives up at once where it cannot connect: who needs a connection next makes it try again.
        self._pool: ConnectionPool[Any] = ConnectionPool(
            url, kwargs=self._options, configure=lambda connection: connection.execute(_SETTINGS), min_size=0,
            max_size=_CONNECTIONS, reconnect_timeout=0, open=False,
        )  # fmt: skip
        self._until: dict[Any, float] = {}  # connection in use -> when it is cut off
        self._lock, self._ended = Lock(), Event()
        self._watch: Thread | None = None

    def _acquire(self, until: float) -> Any:
        import psycopg
        from psycopg_pool import PoolTimeout

        self._pool.open()  # does nothing where it is open
        while time.monotonic() < until:
            with suppress(PoolTimeout):
                return self._pool.getconn(self._PATIENCE)
            if self._pool.get_stats()["pool_size"] < _CONNECTIONS:
                # The pool keeps to itself why it cannot connect: this raises the reason, if there is one.
                psycopg.connect(self._url, **self._options).close()
        raise StoreUnavailable("too many requests at once")

    def _start(self, connection: Any, begin: str, until: float) -> None:
        with self._lock:
            self._until[connection] = until
            if self._watch is None:
                self._watch = Thread(target=self._cut_off, name="cut off", daemon=True)
                self._watch.start()
        connection.execute(begin)
        if until == math.inf:
            connection.execute("SET LOCAL statement_timeout = 0")

    def _cut_off(self) -> None:
        """Shut the sockets of connections whose time is over: whoever waits for a frozen server gets an error."""
        while not self._ended.wait(0.5):
            with self._lock:
                for connection in [each for each, until in self._until.items() if time.monotonic() > until]:
                    with suppress(Exception), socket.socket(fileno=os.dup(connection.fileno())) as line:
                        line.shutdown(socket.SHUT_RDWR)
                    self._until[connection] = math.inf

    def _release(self, connection: Any, *, is_sound: bool) -> None:
        with self._lock:
            self._until.pop(connection, None)
        if not is_sound:
            with suppress(Exception):
                connection.close()  # the pool drops it
        self._pool.putconn(connection)

    def close(self) -> None:
        """Close the pool; it cannot be used again."""
        self._ended.set()
        self._pool.close()

    def fault(self, error: Exception) -> ApiError | None:
        """Full, out of reach, or a row of a project that does not exist (any more)."""
        import psycopg

        if isinstance(error, psycopg.errors.ForeignKeyViolation):
            return NoProject("of these votes")
        line = (str(error).strip().splitlines() or ["no reason given"])[0]
        reason = line.rpartition(" failed: ")[2]  # without where it listens: this goes to the caller
        if isinstance(error, psycopg.errors.DiskFull):
            return StoreFull(reason)
        is_down = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError | psycopg.InternalError)
        return StoreUnavailable(reason) if is_down else None


# What the pool would log comes out as `StoreUnavailable`; without a handler Python prints it on standard error.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())

_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE)
_BUSY_SECONDS = 20.0  #: for another process to finish writing
_POLL_SECONDS = 0.005  #: between two tries to write


def _retry_while_busy(connection: sqlite3.Connection, statement: str, until: float) -> None:
    """Run a statement; try again while another connection holds the lock, but not for ever."""
    while True:
        try:
            connection.execute(statement)
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_POLL_SECONDS)


class SQLite(Database):
    """SQLite in one file, with a write-ahead log.

    `synchronous=FULL` syncs the log at each commit, so that power may fail at any moment after a vote is acknowledged.
    """

    placeholder = "?"
    begin_read = "BEGIN"
    begin_write = "BEGIN IMMEDIATE"  # one writer at a time: what was read inside stays true
    lock_project, lock_schema = "SELECT ?", "SELECT 1"  # whoever writes is alone
    words: ClassVar = {"serial": "INTEGER PRIMARY KEY AUTOINCREMENT", "blob": "BLOB", "clustered": "WITHOUT ROWID"}
    compacting = ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)")
    analyze, pause, check = "", 3 * _POLL_SECONDS, "PRAGMA quick_check(1)"
    foreign = (
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('schema_version', 'sqlite_sequence')"
    )

    def __init__(self, path: str, shown: str) -> None:
        self._path, self.shown = path, shown
        self._idle: LifoQueue[sqlite3.Connection | None] = LifoQueue()  # None: one more may be opened
        for _ in range(_CONNECTIONS):
            self._idle.put(None)

    def _acquire(self, until: float) -> Any:
        try:
            connection = self._idle.get(timeout=min(max(0.0, until - time.monotonic()), _LONG_SECONDS))
        except Empty:
            raise StoreUnavailable("too many requests at once") from None
        try:
            return self._connect() if connection is None else connection
        except BaseException:
            self._idle.put(None)
            raise

    def _start(self, connection: Any, begin: str, until: float) -> None:
        """Begin; who wants to write tries often, because SQLite's own waiting would lose to one who writes a lot."""
        if begin != self.begin_write:
            connection.execute(begin)
            return
        connection.execute("PRAGMA busy_timeout = 0")
        _retry_while_busy(connection, begin, min(until, time.monotonic() + _BUSY_SECONDS))
        connection.execute(f"PRAGMA busy_timeout = {1_000 * _BUSY_SECONDS:.0f}")

    def _connect(self) -> sqlite3.Connection:
        """A connection that any thread may use, one at a time."""
        with suppress(FileExistsError):  # for its owner alone; SQLite gives its other files the same permissions
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        # `timeout` does not cover this switch.
        _retry_while_busy(connection, "PRAGMA journal_mode = WAL", time.monotonic() + _BUSY_SECONDS)
        for setting in ("synchronous = FULL", "foreign_keys = ON", "cache_size = -4000"):
            connection.execute(f"PRAGMA {setting}")
        return connection

    def _release(self, connection: Any, *, is_sound: bool) -> None:
        if not is_sound:
            with suppress(Exception):
                connection.close()
        self._idle.put(connection if is_sound else None)

    def close(self) -> None:
        """Close the connections that are not in use."""
        idle = []
        with suppress(Empty):
            while True:
                idle.append(self._idle.get_nowait())
        for connection in idle:
            if connection is not None:
                connection.close()
            self._idle.put(None)

    def fault(self, error: Exception) -> ApiError | None:
        """Full, busy, out of reach, or a row of a project that does not exist (any more)."""
        code = getattr(error, "sqlite_errorcode", 0)
        if code == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
            return NoProject("of these votes")
        if not isinstance(error, sqlite3.DatabaseError) or isinstance(error, sqlite3.IntegrityError):
            return None
        if code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return StoreDamaged(str(error))
        return StoreFull(str(error)) if code in _FULL else StoreUnavailable(str(error))


# The tables, as migrations that are each applied once: a store of an older version is brought up to date when it is
# opened. A migration is never changed once it has been released; what comes later is a migration of its own. Each
# database spells `{serial}`, `{blob}` and `{clustered}` its own way.
#
# * projects   a project, its settings, and how often it was aggregated (`version`)
# * inbox      batches of votes that are acknowledged and not yet aggregated, as JSON columns
# * jurors, labels   the code of each name within its project; codes are never given twice
# * items      what each item's decision tuple is counted as now: `counted` holds one byte per juror (0: no vote)
# * panes      how many items of a part of the stream have each decision tuple
# * spans      the first and last time of a pane, and the version of the project that changed it last
# * closed     fingerprints of items that are past their time: votes on them are late, and counted nowhere
# * api_keys   the hash of each key, never the key
# * gold       the label that a person gave an item
# * drift      the state and alarms of the drift detector of a project's stream
# * quarantine   batches that could not be counted, out of the way of all others until they are replayed or dropped

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
    (
        """CREATE TABLE quarantine (
            id {serial}, project BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
            arrived DOUBLE PRECISION NOT NULL, votes BIGINT NOT NULL, batch TEXT NOT NULL, reason TEXT NOT NULL)""",
        "CREATE INDEX quarantine_by_project ON quarantine (project)",
    ),
    (
        """CREATE TABLE notified (
            project BIGINT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE, state TEXT NOT NULL)""",
    ),
    ("CREATE TABLE leases (name TEXT PRIMARY KEY, owner TEXT NOT NULL, until DOUBLE PRECISION NOT NULL)",),
)


# Names of jurors and labels have codes, given in order of arrival and never reused.

Names = Literal["jurors", "labels"]  #: the tables; a label is stored as JSON, so that 1 and "1" differ


def names(session: Session, project: int, kind: Names) -> list[str]:
    """The names, in the order of their codes.

    Returns
    -------
    list of str
        One per code, from 0.
    """
    return [row[0] for row in session.rows(f"SELECT name FROM {kind} WHERE project = ? ORDER BY code", project)]


def add_names(session: Session, project: int, kind: Names, new: Iterable[str]) -> dict[str, int]:
    """The code of every name, new ones appended after the others; the project must be locked.

    Returns
    -------
    dict
        Name -> code, of all names of the project.
    """
    codes = {name: code for code, name in enumerate(names(session, project, kind))}
    fresh = [name for name in dict.fromkeys(new) if name not in codes]
    rows = [(project, code, name) for code, name in enumerate(fresh, len(codes))]
    session.many(f"INSERT INTO {kind} (project, code, name) VALUES (?, ?, ?)", rows)
    return codes | {name: code for _, code, name in rows}


@dataclass(frozen=True, slots=True)
class Project:
    """A project: a stream of votes of its own, its settings, and how much of it is aggregated."""

    id: int
    name: str
    settings: dict[str, Any]  #: as it was PUT: labels, window, thresholds, settle, block, expect; only what was given
    created: float
    version: int  #: grows with every aggregation that took something: what was computed for it holds until then
    updated: float | None  #: when the last aggregated vote arrived
    items: int
    votes: int
    numbered: int  #: how many items ever came, so the number of the next
    late: int  #: votes on items past their retention: counted here and nowhere else

    @property
    def window(self) -> Window:
        """How its stream is cut into windows."""
        return window_of(self.settings)

    @property
    def labels(self) -> tuple[Label, ...] | None:
        """The only labels allowed, where the settings name them."""
        named = self.settings.get("labels")
        return None if named is None else tuple(named)


def window_of(settings: Mapping[str, Any]) -> Window:
    """The window of a project's settings as they are stored, by default 1,000 items.

    Returns
    -------
    Window
        How the stream is cut.
    """
    return Window.of(settings.get("window") or 1_000)


_MOST_PANES = 300  #: of a window that slides: each is read for every window
_LONGEST_WINDOW = {True: 1e9, False: 1e12}  #: seconds (30 years), or items


def check_window(settings: Mapping[str, Any]) -> None:
    """OptionError where the window of new settings is none, or one whose panes are too short or too many."""
    given = settings.get("window")
    window = Window.of(1_000 if given is None else given)
    if window.by_time and window.step < 1:
        problem = "its step is shorter than a second"
    elif window.size > _LONGEST_WINDOW[window.by_time]:
        problem = "it is longer than 30 years" if window.by_time else "it has more than 10^12 items"
    elif window.size > _MOST_PANES * window.step:
        problem = f"it has more than {_MOST_PANES} steps"
    else:
        return
    message = f"window {given!r:.60} cannot be used: {problem}"
    raise OptionError(message, code="out_of_range", name="window", value=given)


COLUMNS = "id, name, settings, created, version, updated, items, votes, numbered, late"
