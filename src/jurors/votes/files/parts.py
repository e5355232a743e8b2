"""Each file of a table as a relation of DuckDB, and several of them as one: the same columns, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from jurors.errors import VotesError
from jurors.options import Format
from jurors.votes.files.delimited import FILES, delimited
from jurors.votes.files.faults import first_byte
from jurors.votes.files.formats import CELLS
from jurors.votes.files.sizes import REPEATED
from jurors.votes.findings.finding import Finding
from jurors.votes.layout import shown

if TYPE_CHECKING:
    import duckdb

INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_MOST_COLUMNS = {"json": 2_000, "jsonl": 2_000}  # a record's keys take time by their square
_MOST = 10_000  # from some 16,000 columns on, DuckDB ends the process (SIGFPE)
BLANKS = "".join(chr(c) for c in range(0x3001) if chr(c).isspace())  #: what str.strip cuts off


@dataclass(frozen=True)
class Part:
    """One file of a table."""

    path: Path
    name: str  #: what the user calls it
    format: Format
    call: str = ""  #: the function of DuckDB that reads it, with a gap for the file's name
    names: tuple[str, ...] = ()
    types: tuple[str, ...] = ()  #: DuckDB's name of each type; "CSV" for a cell of text
    delimiter: str = ""  #: between the cells of a CSV line
    holder: Format | None = None  #: of what program's file it is a copy
    notes: tuple[Finding, ...] = ()  #: what whoever reads the votes should know

    @property
    def sql(self) -> str:
        """The file as a relation with columns c0, c1 …"""
        return _relation([self])

    def has_rows(self, con: duckdb.DuckDBPyConnection) -> bool:
        """Whether there is anything below the column names."""
        return con.execute(f"SELECT 1 FROM {self.sql} LIMIT 1").fetchone() is not None


def open_part(con: duckdb.DuckDBPyConnection, part: Part, *, sample: int = 20480) -> Part:
    """The file with its columns; those of JSON are the ones of the first `sample` records (-1: all)."""
    opened = _with_columns(con, part, sample)
    most = _MOST_COLUMNS.get(part.format, _MOST)
    if len(opened.names) > most:
        raise VotesError(
            f"there are {len(opened.names):,} columns, and at most {most:,} can be read; write one vote per row "
            "(item, juror, label), which any number of jurors can have",
            code="many_columns",
            needed=most,
            given=len(opened.names),
        )
    return opened


def _with_columns(con: duckdb.DuckDBPyConnection, part: Part, sample: int) -> Part:
    if part.format in CELLS:
        read = delimited(con, part.path, "\t" if part.format == "tsv" else None)
        types = ("CSV",) * len(read.names)
        return replace(part, call=read.call, names=read.names, types=types, delimiter=read.delimiter)
    call = f"read_parquet([{FILES}], hive_partitioning=false)"
    if part.format != "parquet":
        call = _json_call(part.path, part.format, sample)
    described = con.execute(f"DESCRIBE SELECT * FROM {_filled(call, [part])}").fetchall()
    names, types = tuple(str(row[0]) for row in described), tuple(str(row[1]) for row in described)
    return replace(part, call=call, names=names, types=types)


def check_cells(con: duckdb.DuckDBPyConnection, part: Part, allowed: int | None) -> None:
    """VotesError where a Parquet file of a few bytes has more cells than anybody casts votes."""
    if part.format == "parquet":
        (rows,) = con.execute("SELECT num_rows FROM parquet_file_metadata(?)", [str(part.path)]).fetchall()[0]
        REPEATED.check(rows * len(part.names), part.path.stat().st_size, allowed)


def _json_call(path: Path, format: Format, sample: int) -> str:
    shape = "array" if format == "json" and first_byte(path) == b"[" else "newline_delimited"
    return (
        f"read_json([{FILES}], format='{shape}', records=true, maximum_depth=1, map_inference_threshold=-1, "
        f"field_appearance_threshold=0, sample_size={sample}, maximum_sample_files=1000000000, "
        f"maximum_object_size=100000000, compression='uncompressed', hive_partitioning=false)"
    )


def _filled(call: str, parts: Sequence[Part]) -> str:
    return call.replace(FILES, ", ".join("'" + str(part.path).replace("'", "''") + "'" for part in parts))


def _relation(parts: Sequence[Part]) -> str:
    """Files with the same columns in the same order."""
    columns = ", ".join(f"c{k}" for k in range(len(parts[0].names)))
    return f"(SELECT * FROM {_filled(parts[0].call, parts)}) AS file({columns})"


# -- several files as one -------------------------------------------------------------------------------------


def check_same_columns(parts: Sequence[Part]) -> None:
    """VotesError unless every file has the columns of the first, in whatever order."""
    first = parts[0]
    for part in parts[1:]:
        if len(part.names) == len(first.names) and set(part.names) == set(first.names):
            continue
        lacks = [name for name in first.names if name not in part.names]
        more = [name for name in part.names if name not in first.names]
        differ = [f"{shown(names)} only in {one.name}" for names, one in ((lacks, first), (more, part)) if names]
        how = ", ".join(differ) or "one of them has a column twice"
        raise VotesError(
            f"{first.name} and {part.name} have different columns ({how}); files read together must have the same"
        )


def relation(parts: Sequence[Part]) -> tuple[str, tuple[str, ...]]:
    """Files with the same columns as one relation, columns in the order of the first, and the columns' types."""
    groups = [list(group) for _, group in groupby(parts, lambda part: (part.call, part.names, part.types))]
    if len(groups) == 1:
        return _relation(groups[0]), groups[0][0].types
    names = parts[0].names
    where = [[group[0].names.index(name) for name in names] for group in groups]
    kinds = [[group[0].types[k] for k in places] for group, places in zip(groups, where, strict=True)]
    types = tuple(_common_type(set(column)) for column in zip(*kinds, strict=True))
    selects = [
        "SELECT "
        + ", ".join(_as_type(f"c{k}", kind, to) for k, kind, to in zip(places, held, types, strict=True))
        + f" FROM {_relation(group)}"
        for group, places, held in zip(groups, where, kinds, strict=True)
    ]
    columns = ", ".join(f"c{k}" for k in range(len(names)))
    return f"({' UNION ALL '.join(selects)}) AS files({columns})", types


def _common_type(kinds: set[str]) -> str:
    """One type for a column that has these in different files: text where they are not all numbers."""
    if len(kinds) == 1:
        return next(iter(kinds))
    families = {family(kind) for kind in kinds}
    if families == {"int"}:
        return "BIGINT" if kinds <= set(INTEGERS) else "HUGEINT"
    return "DOUBLE" if families <= {"int", "float"} else "CSV"


def _as_type(column: str, kind: str, to: str) -> str:
    if kind == to:
        return column
    if to != "CSV":
        return f"{column}::{to}"
    return f"nullif({text_cell(column, kind)}, '')"


def text_cell(column: str, kind: str) -> str:
    """Text as a CSV file would hold it: whole floats without a point, truth as Python writes it."""
    match family(kind):
        case "json":
            return f"({column} ->> '$')"
        case "float":
            whole = f"{column} = floor({column}) AND abs({column}) < 1e15"
            return f"CASE WHEN {whole} THEN {column}::BIGINT::VARCHAR ELSE {column}::DOUBLE::VARCHAR END"
        case "bool":
            return f"CASE WHEN {column} THEN 'True' WHEN NOT {column} THEN 'False' END"
    return f"decode({column})" if kind == "BLOB" else f"{column}::VARCHAR"


def family(kind: str) -> str:
    """What kind of values a type of DuckDB holds: int, float, bool, json or text."""
    if kind in (*INTEGERS, "UBIGINT", "HUGEINT", "UHUGEINT"):
        return "int"
    if kind.startswith("DECIMAL"):
        return "float"
    return {"JSON": "json", "DOUBLE": "float", "FLOAT": "float", "BOOLEAN": "bool"}.get(kind, "text")
