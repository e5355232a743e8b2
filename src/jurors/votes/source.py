"""A file of any supported format as a DuckDB table, read in parallel; whatever is wrong with it as one line."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from jurors.errors import VotesError
from jurors.votes.fetch import BOM, FORMATS, HEAD, Format, Source, local_copy, not_utf8

if TYPE_CHECKING:
    import duckdb

_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")


@dataclass(frozen=True, kw_only=True)
class Table:
    """A file open in DuckDB: `sql` is a relation with columns c0, c1 …, called `names` in the file."""

    con: duckdb.DuckDBPyConnection
    path: Path
    format: Format
    sql: str
    names: tuple[str, ...]
    types: tuple[str, ...]  #: DuckDB's name of each type; "CSV" for a cell of text
    kept: bool = False

    def cell(self, k: int) -> str:
        """SQL for column k as a whole number or text; NULL where it is empty."""
        kind = self.types[k]
        if self.kept or kind == "CSV":  # DuckDB reads an empty cell as NULL; blanks are cut off later, once a value
            return f"c{k}"
        if kind in _INTEGERS:
            return f"c{k}::BIGINT"
        if kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION")):
            raise VotesError(f"column {self.names[k]!r} holds {kind} values, not labels or names")
        if kind == "BLOB":
            return f"nullif(decode(c{k}), '')"
        return f"nullif(c{k}::DOUBLE::VARCHAR, '')" if kind.startswith("DECIMAL") else f"nullif(c{k}::VARCHAR, '')"

    def keep(self, columns: Sequence[int]) -> Table:
        """Only these columns, cleaned and in memory (or spilled by DuckDB), so that the file is read once."""
        cells = ", ".join(f"{self.cell(k)} AS c{k}" for k in columns)
        self.con.execute(f"CREATE TEMP TABLE kept AS SELECT {cells} FROM {self.sql}")
        return replace(self, sql="kept", kept=True)

    def parse(self, values: Sequence[Any], *columns: int) -> Sequence[Any]:
        """Cells as `cell` gives them, as the values the file holds in these columns; text where they differ in type."""
        families = {_family(self.types[k]) for k in columns}
        family = families.pop() if len(families) == 1 else "float" if families == {"int", "float"} else "text"
        if family == "json":
            return cast(list[Any], json.loads("[" + ",".join("null" if v is None else v for v in values) + "]"))
        if family == "text" or (isinstance(values, np.ndarray) and values.dtype.kind == "i"):
            return values
        converters: dict[str, Callable[[Any], Any]] = {"int": int, "float": float, "bool": "true".__eq__}
        convert = converters[family]
        return [None if v is None else convert(v) for v in values]

    def is_number(self, k: int) -> bool:
        """Whether column k holds a number anywhere."""
        number = f"try_cast({self.cell(k)} AS DOUBLE) IS NOT NULL"
        found = self.con.execute(f"SELECT 1 FROM {self.sql} WHERE {number} LIMIT 1").fetchone()
        return self.types[k] != "BOOLEAN" and found is not None

    def every_column(self) -> Table:
        """The same table; of JSON, with the columns of every record, not only of the first 20,000."""
        return open_path(self.con, self.path, self.format, sample=-1) if "JSON" in self.types else self


def _family(kind: str) -> str:
    if kind in (*_INTEGERS, "UBIGINT", "HUGEINT", "UHUGEINT"):
        return "int"
    if kind.startswith("DECIMAL"):
        return "float"
    return {"JSON": "json", "DOUBLE": "float", "FLOAT": "float", "BOOLEAN": "bool"}.get(kind, "text")


@contextmanager
def open_table(source: Source, format: Format | None = None) -> Iterator[Table]:
    """The file as a table; any VotesError or DuckDB error inside the block names the file."""
    import duckdb

    if format is not None and format not in FORMATS:
        raise VotesError(f"there is no format {format!r}; there are: {', '.join(FORMATS)}")
    name = _shown_name(source)
    with tempfile.TemporaryDirectory(prefix="jurors-") as folder:
        try:
            path, kind = local_copy(source, Path(folder), format)
        except VotesError as error:
            raise _named(name, error) from None
        try:
            with duckdb.connect(config={"temp_directory": folder}) as con:
                con.execute("SET enable_progress_bar = false")
                yield open_path(con, path, kind)
        except VotesError as error:
            raise _named(name, error) from None
        except duckdb.Error as error:
            raise _named(name, _one_line(error, path, kind)) from None


def _named(name: str, what: object) -> VotesError:
    return VotesError(f"{name}: {' '.join(str(what).split())}")


def _shown_name(source: Source) -> str:
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        return "standard input" if name == "-" else name if name.isprintable() else ascii(name[:40])
    return str(getattr(source, "name", "the stream"))


# -- the table in DuckDB ------------------------------------------------------------------------------------


def open_path(con: duckdb.DuckDBPyConnection, path: Path, format: Format, *, sample: int = 20480) -> Table:
    """A local file as a table; the columns of JSON are those of the first `sample` records (-1: all)."""
    if format in ("csv", "tsv"):
        sql, names = _csv_relation(path, "\t" if format == "tsv" else None)
        types = ("CSV",) * len(names)
    else:
        parquet = f"read_parquet({_quoted(path)}, hive_partitioning=false)"
        sql = parquet if format == "parquet" else _json_relation(path, format, sample)
        described = con.execute(f"DESCRIBE SELECT * FROM {sql}").fetchall()
        names, types = tuple(str(row[0]) for row in described), tuple(str(row[1]) for row in described)
        sql = f"(SELECT * FROM {sql}) AS file({', '.join(f'c{k}' for k in range(len(names)))})"
    if con.execute(f"SELECT 1 FROM {sql} LIMIT 1").fetchone() is None:
        raise VotesError(f"there are column names ({', '.join(names[:12])}) but no rows below them")
    return Table(con=con, path=path, format=format, sql=sql, names=names, types=types)


def _csv_relation(path: Path, delimiter: str | None) -> tuple[str, tuple[str, ...]]:
    with path.open("rb") as file:
        head = file.read(HEAD).removeprefix(BOM).decode("utf-8", "replace")
    choices = [delimiter] if delimiter else [",", "\t", ";", "|"]
    headers = {d: next(csv.reader(io.StringIO(head.lstrip("\r\n"), newline=""), delimiter=d), []) for d in choices}
    chosen = max(choices, key=lambda d: len(headers[d]))
    names = tuple(name.strip() for name in headers[chosen])
    columns = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(len(names)))
    sql = (
        f"read_csv({_quoted(path)}, auto_detect=false, header=true, delim='{chosen}', quote='\"', escape='\"', "
        f"columns={{{columns}}}, max_line_size=20000000, compression='none', hive_partitioning=false)"
    )
    return sql, names


def _json_relation(path: Path, format: Format, sample: int) -> str:
    shape = "array" if format == "json" and _first_byte(path) == b"[" else "newline_delimited"
    return (
        f"read_json({_quoted(path)}, format='{shape}', records=true, maximum_depth=1, map_inference_threshold=-1, "
        f"field_appearance_threshold=0, sample_size={sample}, maximum_object_size=100000000, "
        f"compression='none', hive_partitioning=false)"
    )


def _first_byte(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD).lstrip()[:1]


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


# -- errors in one line ---------------------------------------------------------------------------------------


def _one_line(error: Exception, path: Path, format: Format) -> str:
    text = str(error)
    if format in ("json", "jsonl"):
        return _json_fault(path, format, text)
    if format == "parquet":
        return f"the Parquet file is damaged ({_first_line(text)}); fetch or write it again"
    line = found[1] if (found := re.search(r"Error on Line: (\d+)", text)) else "?"
    if widths := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text):
        return f"line {line} has {widths[2]} fields where the header has {widths[1]}; fill or remove cells"
    if "utf-8" in text or "unicode" in text:
        return not_utf8(line)
    if "unterminated quote" in text:
        return f"line {line} has a quotation mark that is not closed, or stands inside a cell; double it inside a cell"
    return f"{f'line {line}: ' if found else ''}{_first_line(text)}"


def _json_fault(path: Path, format: Format, text: str) -> str:
    """What is wrong with the JSON, by line; only after reading it has failed."""
    if format == "json" and _first_byte(path) == b"[":
        try:
            records = json.loads(path.read_bytes())
        except ValueError as error:
            return f"the JSON is broken: {_first_line(str(error))}"
        return _not_records(records) or _first_line(text)
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                record = json.loads(line) if line.strip() else {}
            except UnicodeDecodeError:
                return not_utf8(number)
            except ValueError as error:
                return f"line {number} is not a JSON record ({error}); write one {{…}} a line, or an array of them"
            if not isinstance(record, dict):
                return f"line {number} is not a JSON record but {str(record)[:30]!r}; write one {{…}} a line"
    return _first_line(text)


def _not_records(records: list[Any]) -> str | None:
    for number, record in enumerate(records, 1):
        if not isinstance(record, dict):
            return f'row {number} of the JSON array is {str(record)[:30]!r}, not a record such as {{"item": …}}'
    return "the JSON array has no records" if not records else None


def _first_line(text: str) -> str:
    return re.sub(r"^[\w ]+ Error: ", "", text).strip().split("\n")[0].rstrip(". ")
