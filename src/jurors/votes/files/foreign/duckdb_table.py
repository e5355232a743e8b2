"""A table of a DuckDB database, read only; a view in it can reach no other file."""

from __future__ import annotations

from pathlib import Path

from jurors.errors import VotesError
from jurors.votes.files.faults import first_line
from jurors.votes.files.foreign.record_lines import one_of, place_of
from jurors.votes.files.sizes import OFFLINE

_LISTED = (
    "SELECT CASE WHEN table_schema = 'main' THEN table_name ELSE table_schema || '.' || table_name END, table_schema, "
    "table_name, table_type FROM information_schema.tables WHERE table_schema NOT IN ('information_schema', "
    "'pg_catalog') ORDER BY ALL"
)


def copy_duckdb(path: Path, table: str, target: Path, name: str) -> None:
    """One table as Parquet; a view only where it is named."""
    import duckdb

    out = str(target).replace("'", "''")
    folder = str(target.parent).replace("'", "''")
    try:
        with duckdb.connect(str(path), read_only=True, config=OFFLINE) as con:
            con.execute(f"SET allowed_directories = ['{folder}']; SET enable_external_access = false")
            held = con.execute(_LISTED).fetchall()
            known = [shown for shown, _, _, kind in held if table or kind == "BASE TABLE"]
            chosen = one_of(known, table, "table", name)
            place = place_of(chosen, [row[:3] for row in held])
            quoted = ".".join('"' + part.replace('"', '""') + '"' for part in place)
            con.execute(f"COPY (SELECT * FROM {quoted}) TO '{out}' (FORMAT parquet)")
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.Error as error:
        reason = first_line(error).replace(str(path), name)[:160]
        raise VotesError(f"the DuckDB database cannot be read ({reason}); close or copy it") from None
