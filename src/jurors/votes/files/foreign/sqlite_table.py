"""A table of an SQLite database, through Python's own library; nothing is written, and no code of the file is run."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from jurors.errors import VotesError
from jurors.votes.files.faults import first_line
from jurors.votes.files.foreign.record_lines import one_of, write_lines


def copy_sqlite(path: Path, table: str, target: Path, allowed: int | None, name: str) -> None:
    """One table as JSON lines; a view only where it is named."""
    with _opened(path) as con:
        held = con.execute("SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY rowid")
        kinds = {str(table): kind for table, kind in held if not str(table).startswith("sqlite_")}
        known = [one for one in kinds if table or kinds[one] == "table"]
        chosen = one_of(known, table, "table", name).replace('"', '""')
        cursor = con.execute(f'SELECT * FROM "{chosen}"')
        names = [str(column[0]) for column in cursor.description]
        write_lines(names, cursor, target, path.stat().st_size, allowed)


def _way(path: Path) -> str:
    """How to open the file: SQLite puts two files beside one with a log of changes (WAL), even only to read it.

    Where the log is not there, nobody has the database open, and all of it is in the one file.
    """
    with path.open("rb") as file:
        logs = file.read(20)[18:] == b"\2\2"
    still = logs and not path.with_name(f"{path.name}-wal").exists()
    return "mode=ro&immutable=1" if still else "mode=ro"


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?{_way(path)}", uri=True)) as con:
            con.execute("PRAGMA trusted_schema = OFF")
            yield con
    except sqlite3.Error as error:
        reason = first_line(error)[:120]
        raise VotesError(f"the SQLite database cannot be read ({reason}); close, repair or copy it") from None
    except UnicodeError:
        raise VotesError("the SQLite database holds text that is not valid UTF-8; write it anew") from None
