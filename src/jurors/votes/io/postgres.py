"""A table that a PostgreSQL server keeps, through psycopg: one statement that reads, its rows as JSON by the server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jurors.errors import JurorsError, VotesError
from jurors.results import without_secrets
from jurors.votes.io.local_files import one_of, place_of
from jurors.votes.io.sources import split_address

if TYPE_CHECKING:
    import psycopg


_PATIENCE = 10  # seconds until a server must answer
_BLOCK = 5000
_LISTED = (
    "SELECT CASE WHEN table_schema = 'public' THEN table_name ELSE table_schema || '.' || table_name END, "
    "table_schema, table_name FROM information_schema.tables WHERE table_schema NOT IN ('information_schema', "
    "'pg_catalog') ORDER BY table_schema <> 'public', 1"
)


def copy_postgres(url: str, target: Path) -> None:
    """One table, or view, as JSON lines."""
    address, table = split_address(url)
    if (
        address.partition("?")[0].count("@") > 1
    ):  # the driver would take a part of the password for the host, and say it
        raise VotesError("the address has more than one @; write %40 for one that belongs to the password")
    with _opened(address) as con:
        held = con.execute(_LISTED).fetchall()
        chosen = one_of([shown for shown, _, _ in held], table, "table", without_secrets(address))
        _copy(con, place_of(chosen, held), target)


def _copy(con: psycopg.Connection[Any], place: tuple[str, str], target: Path) -> None:
    from psycopg import sql

    rows = 0
    with con.cursor("jurors") as cursor, target.open("w", encoding="utf-8", newline="\n") as file:
        cursor.itersize = _BLOCK
        cursor.execute(sql.SQL("SELECT row_to_json(held.*)::text FROM {} AS held").format(sql.Identifier(*place)))
        for (record,) in cursor:
            # Of a cell that is JSON itself, PostgreSQL keeps line ends between its parts; those in text are escaped.
            file.write(record.replace("\n", " ").replace("\r", " ") + "\n")
            rows += 1
    if not rows:
        raise VotesError("the table has no rows", code="empty")


@contextmanager
def _opened(address: str) -> Iterator[psycopg.Connection[Any]]:
    try:
        import psycopg
    except ImportError:
        raise JurorsError("PostgreSQL needs psycopg: pip install 'jurors[postgres]'") from None
    try:
        with psycopg.connect(address, connect_timeout=_PATIENCE) as con:
            con.read_only = True
            yield con
    except psycopg.ProgrammingError as error:
        if error.sqlstate is None:  # whose message has the whole address, password and all
            raise VotesError("this is no address of PostgreSQL; write postgresql://user@host/database::table") from None
        raise VotesError(f"PostgreSQL says: {_line(error)}") from None
    except (psycopg.Error, UnicodeError) as error:
        raise VotesError(f"PostgreSQL cannot be read: {_line(error)}") from None


def _line(error: Exception) -> str:
    """What the server says first: it knows who logs in, but not with what."""
    return without_secrets(str(error).strip().split("\n")[0])[:200]
