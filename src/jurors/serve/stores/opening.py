"""Open the store that `--store` names."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from jurors.errors import JurorsError, OptionError
from jurors.serve.stores.dialect import Dialect
from jurors.serve.stores.sql_store import SqlStore

_SCHEMES = ("postgresql://", "postgres://")


def open_store(place: str) -> SqlStore:
    """The store at a path (SQLite) or an address of PostgreSQL, with its tables up to date."""
    store = SqlStore(_dialect(place))
    try:
        store.migrate()
    except BaseException:
        store.close()
        raise
    return store


def check_there(place: str) -> None:
    """OptionError where a file is named that is not there: what only reads should not make one."""
    if "://" not in place and not Path(place).exists():
        raise OptionError(f"--store {place}: there is no such file", name="store")


def shown_store(place: str) -> str:
    """The place without a password.

    >>> shown_store("votes.db"), shown_store("postgresql://me:secret@db.example/votes")
    ('votes.db', 'postgresql://db.example/votes')
    """
    return _dialect(place).shown


def _dialect(place: str) -> Dialect:
    if place.startswith(_SCHEMES):
        return _postgres(place)
    from jurors.serve.stores.sqlite import SQLite

    if "://" in place:
        scheme = place.partition("://")[0]
        raise OptionError(f"--store: no store is called {scheme}://; give a path, or postgresql://…", name="store")
    path = Path(place).absolute()  # SQLite has its own idea of some names, such as :memory:
    _refuse_other_files(path)
    return SQLite(str(path), place)


def _postgres(url: str) -> Dialect:
    try:
        from psycopg import ProgrammingError

        from jurors.serve.stores.postgres import PostgreSQL
    except ImportError:
        raise JurorsError("PostgreSQL needs psycopg: pip install 'jurors[serve]'") from None
    try:
        return PostgreSQL(url)
    except ProgrammingError:  # whose message has the whole address, password and all
        raise OptionError("--store: this is no address of PostgreSQL; write postgresql://user@host/database") from None


def _refuse_other_files(path: Path) -> None:
    """A file of votes is not to be opened as a database, nor a folder."""
    if path.is_dir() or not path.parent.is_dir():
        raise OptionError(f"--store {path}: name a file in a folder that is there", name="store")
    if path.exists() and path.stat().st_size and _head(path) != b"SQLite format 3\0":
        kind = f"it is no SQLite file (SQLite {sqlite3.sqlite_version})"
        raise OptionError(f"--store {path}: {kind}; name another, or one that is not there yet", name="store")


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(16)
