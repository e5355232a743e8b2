"""Columns that a table has not, but its cells make: fields inside records (`sample.id`), several as one item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jurors.errors import VotesError
from jurors.names import nearest
from jurors.votes.columns.field_names import JOINT, home_of
from jurors.votes.files.parts import BLANKS, text_cell

if TYPE_CHECKING:
    import duckdb

_LOOKED_AT = 20_480  # records, to see what they hold
_MOST_KEYS = 100


@dataclass(frozen=True)
class Made:
    """A column made of others: SQL for its cells, its type, and the columns that it is made of."""

    name: str
    sql: str
    kind: str
    homes: tuple[str, ...]


def field(con: duckdb.DuckDBPyConnection, sql: str, names: Sequence[str], types: Sequence[str], path: str) -> Made:
    """The field of this path in the relation `sql`; VotesError with the nearest where the records hold none."""
    home = home_of(names, path)
    if home is None:
        raise _unknown(path, names)
    place, steps = home
    cell = _as_json(f"c{place}", types[place])
    at = names[place]
    for step in steps:
        inside = _inside(cell, step, _kinds(con, sql, cell))
        if not _is_there(con, sql, inside):
            known = [f"{at}.{key}" for key in _keys(con, sql, cell)]
            raise _unknown(path, [*known, *(name for name in names if name != at)] if known else names)
        cell, at = inside, f"{at}.{step}"
    return Made(path, cell, "JSON", (names[place],))


def _as_json(column: str, kind: str) -> str:
    """A column as JSON: records as they are, and text that holds one."""
    if kind == "JSON":
        return column
    nested = kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION"))
    return f"to_json({column})" if nested else f"TRY_CAST({column}::VARCHAR AS JSON)"


def _inside(cell: str, step: str, kinds: set[str]) -> str:
    """SQL for one step further: a key of a record, or a place in a list (from 0)."""
    if step.isdecimal() and kinds == {"ARRAY"}:
        return f"({cell} -> {int(step)})"
    key = step.replace("'", "''")
    return f"({cell} -> '{key}')" if not step.startswith(("$", "/")) else f"({cell} -> '$.\"{key}\"')"


def _kinds(con: duckdb.DuckDBPyConnection, sql: str, cell: str) -> set[str]:
    rows = f"SELECT {cell} AS v FROM {sql} LIMIT {_LOOKED_AT}"
    found = con.execute(f"SELECT DISTINCT json_type(v) FROM ({rows}) WHERE v IS NOT NULL").fetchall()
    return {kind for (kind,) in found} - {"NULL"}


def _is_there(con: duckdb.DuckDBPyConnection, sql: str, cell: str) -> bool:
    return con.execute(f"SELECT 1 FROM {sql} WHERE {cell} IS NOT NULL LIMIT 1").fetchone() is not None


def _keys(con: duckdb.DuckDBPyConnection, sql: str, cell: str) -> list[str]:
    """The keys of the records that stand here, as they appear."""
    rows = f"SELECT {cell} AS v FROM {sql} WHERE json_type({cell}) = 'OBJECT' LIMIT {_LOOKED_AT}"
    keys = f"SELECT unnest(json_keys(v)) AS key FROM ({rows})"
    return [str(key) for (key,) in con.execute(f"SELECT DISTINCT key FROM ({keys}) ORDER BY key").fetchmany(_MOST_KEYS)]


def _unknown(path: str, known: Sequence[str]) -> VotesError:
    try:
        nearest(path, known, "column")
    except VotesError as error:
        return error
    return VotesError(f"there is no column {path!r}", code="unknown_name", name=path)


def joined(name: str, parts: Sequence[tuple[str, str, str]]) -> Made:
    """Several columns (each its name, its cell and its type) as the one that names the item."""
    cells = [_part(cell, kind) for _, cell, kind in parts]
    return Made(name, f" || '{JOINT}' || ".join(cells), "CSV", tuple(part for part, _, _ in parts))


def _part(cell: str, kind: str) -> str:
    """SQL for what `escaped` says of a cell; NULL where it is empty, and so the item's whole name."""
    text = f"nullif(trim(nfc_normalize({text_cell(cell, kind)}), '{BLANKS}'), '')"
    return f"replace(replace({text}, '\\', '\\\\'), '{JOINT}', '\\{JOINT}')"
