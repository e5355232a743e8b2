"""Files of any supported format as one DuckDB table, read in parallel; whatever is wrong with them as one line.

A source (a path, a pattern, a stream …) comes in. Out comes a `SourceTable`, a relation with columns c0, c1 … over all
its files, or a `ToolLog`, files that another tool wrote. Three parts: each file as a relation, and several of them as
one (the same columns, in any order); columns that the caller names and the files do not have (fields inside records
such as `sample.id`, several columns as one item); the table itself, and which file is at fault where it cannot be read.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from unicodedata import normalize

import numpy as np

from jurors._files import temp_directory
from jurors._lazy import is_computed
from jurors.errors import OptionError, VotesError, match_name
from jurors.options import Progress, Reading, item_name
from jurors.results import with_formula
from jurors.votes.findings import same_files
from jurors.votes.io.csv import FILES, delimited, fill_files, plain_cells
from jurors.votes.io.local_files import HEAD, TablePart, file_fault, first_line, local_copy, read_head, row_fault
from jurors.votes.io.sources import CELLS, OFFLINE, REPEATED, Source, in_bytes, locate, no_tables, shown_source
from jurors.votes.layout import (
    ITEM_SEPARATOR,
    ColumnProfile,
    Layout,
    LayoutHints,
    escaped,
    find_column,
    head_rows,
    home_of,
    item_parts,
    profile_columns,
    quoted_names,
)
from jurors.votes.layout_detection import TransposedColumns, find_layout, find_transposed, joint_item
from jurors.votes.readers import Reader, Records, find_reader, read_records
from jurors.votes.readers.base import Files
from jurors.votes.table import Votes

if TYPE_CHECKING:
    import duckdb


INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_MOST_COLUMNS = {"json": 2_000, "jsonl": 2_000}  # a record's keys take time by their square
_MOST = 10_000  # from some 16,000 columns on, DuckDB ends the process (SIGFPE)
BLANKS = "".join(filter(str.isspace, map(chr, range(0x3001))))  #: what str.strip cuts off


_MOST_HEADS = 16  # files whose first bytes are held
_MOST_CELLS = 2_000_000  # of a small file, most of them empty


def has_rows(con: duckdb.DuckDBPyConnection, part: TablePart) -> bool:
    """Whether there is anything below the column names."""
    return part.held is not None or bool(con.execute(f"SELECT 1 FROM {_relation([part])} LIMIT 1").fetchall())


def open_part(con: duckdb.DuckDBPyConnection, part: TablePart, *, sample: int | None = None) -> TablePart:
    """Find how DuckDB reads a file.

    Parameters
    ----------
    part
        The file.
    sample
        The number of JSON records whose keys are the columns (-1: all); by default, all of a small file.

    Returns
    -------
    TablePart
        With its columns and their types.
    """
    head = part.head or read_head(part.path)
    sample = sample or (-1 if len(head) < HEAD else _LOOKED_AT)
    if part.format in CELLS:
        call, names, delimiter = delimited(con, part.path, head, "\t" if part.format == "tsv" else None)
        held = plain_cells(head, delimiter, names, head_rows(len(names)))
        types = ("CSV",) * len(names)
        opened = replace(part, call=call, names=names, types=types, delimiter=delimiter, held=held)
    else:
        call = f"read_parquet([{FILES}], hive_partitioning=false)"
        if part.format != "parquet":
            shape = "array" if part.format == "json" and head.lstrip()[:1] == b"[" else "newline_delimited"
            call = (
                f"read_json([{FILES}], format='{shape}', records=true, maximum_depth=1, map_inference_threshold=-1, "
                f"field_appearance_threshold=0, sample_size={sample}, maximum_sample_files=1000000000, "
                f"maximum_object_size=100000000, compression='uncompressed', hive_partitioning=false)"
            )
        described = con.execute(f"DESCRIBE SELECT * FROM {fill_files(call, part.path)}").fetchall()
        names, types = tuple(str(row[0]) for row in described), tuple(str(row[1]) for row in described)
        opened = replace(part, call=call, names=names, types=types)
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


def _is_small(part: TablePart) -> bool:
    """Whether the first bytes are all of a file of text, and its records few for their keys."""
    rows = 0 if part.format in CELLS else part.head.count(b"{")
    return 0 < len(part.head) < HEAD and part.format != "parquet" and rows * len(part.names) <= _MOST_CELLS


def _relation(parts: Sequence[TablePart]) -> str:
    """Files with the same columns in the same order."""
    columns = ", ".join(f"c{k}" for k in range(len(parts[0].names)))
    return f"(SELECT * FROM {fill_files(parts[0].call, *(part.path for part in parts))}) AS file({columns})"


# -- several files as one -------------------------------------------------------------------------------------


def _joined(con: duckdb.DuckDBPyConnection, parts: Sequence[TablePart], progress: Progress | None) -> SourceTable:
    """Files with the same columns, in any order, as one table with the columns in the order of the first.

    A column has the type text where the files' types are not all numbers.
    """
    first = parts[0]
    for part in parts[1:]:
        if len(part.names) == len(first.names) and set(part.names) == set(first.names):
            continue
        lacks = [name for name in first.names if name not in part.names]
        more = [name for name in part.names if name not in first.names]
        differ = [f"{quoted_names(names)} only in {p.name}" for names, p in ((lacks, first), (more, part)) if names]
        how = ", ".join(differ) or "one of them has a column twice"
        raise VotesError(
            f"{first.name} and {part.name} have different columns ({how}); files read together must have the same"
        )
    groups = [list(group) for _, group in groupby(parts, lambda part: (part.call, part.names, part.types))]
    names, sql, types = first.names, _relation(groups[0]), first.types

    def common_type(kinds: set[str]) -> str:
        families = {type_family(kind) for kind in kinds}
        if len(kinds) == 1:
            return next(iter(kinds))
        if families == {"int"}:
            return "BIGINT" if kinds <= set(INTEGERS) else "HUGEINT"
        return "DOUBLE" if families <= {"int", "float"} else "CSV"

    def as_type(column: str, kind: str, to: str) -> str:
        if kind == to:
            return column
        return f"{column}::{to}" if to != "CSV" else f"nullif({text_cell(column, kind)}, '')"

    if len(groups) > 1:
        where = [[group[0].names.index(name) for name in names] for group in groups]
        kinds = [[group[0].types[k] for k in places] for group, places in zip(groups, where, strict=True)]
        types = tuple(common_type(set(column)) for column in zip(*kinds, strict=True))
        selects = []
        for group, places, held in zip(groups, where, kinds, strict=True):
            cells = (as_type(f"c{k}", kind, to) for k, kind, to in zip(places, held, types, strict=True))
            selects.append(f"SELECT {', '.join(cells)} FROM {_relation(group)}")
        columns = ", ".join(f"c{k}" for k in range(len(names)))
        sql = f"({' UNION ALL '.join(selects)}) AS files({columns})"
    plain = first.held if len(parts) == 1 else None
    return SourceTable(con=con, parts=tuple(parts), sql=sql, names=names, types=types, held=plain, progress=progress)


def text_cell(column: str, kind: str) -> str:
    """SQL for text as a CSV file would hold it: whole floats without a point, truth as Python writes it."""
    match type_family(kind):
        case "json":
            return f"({column} ->> '$')"
        case "float":
            whole = f"{column} = floor({column}) AND abs({column}) < 1e15"
            return f"CASE WHEN {whole} THEN {column}::BIGINT::VARCHAR ELSE {column}::DOUBLE::VARCHAR END"
        case "bool":
            return f"CASE WHEN {column} THEN 'True' WHEN NOT {column} THEN 'False' END"
    return f"decode({column})" if kind == "BLOB" else f"{column}::VARCHAR"


def type_family(kind: str) -> str:
    """What kind of values a type of DuckDB holds: int, float, bool, json or text."""
    if kind in (*INTEGERS, "UBIGINT", "HUGEINT", "UHUGEINT"):
        return "int"
    if kind.startswith("DECIMAL"):
        return "float"
    return {"JSON": "json", "DOUBLE": "float", "FLOAT": "float", "BOOLEAN": "bool"}.get(kind, "text")


def _is_nested(kind: str) -> bool:
    return kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION"))


# -- columns that the caller names and the files do not have -----------------------------------------------------------

_LOOKED_AT = 20_480  # records, to see what they hold
_MOST_KEYS = 100


# -- the table --------------------------------------------------------------------------------------------------------

_POLL_SECONDS = 0.1


@dataclass(frozen=True, kw_only=True)
class SourceTable:
    """Files open in DuckDB: `sql` is a relation with columns c0, c1 …, called `names` in the files."""

    con: duckdb.DuckDBPyConnection
    parts: tuple[TablePart, ...]
    sql: str
    names: tuple[str, ...]
    types: tuple[str, ...]  #: DuckDB's name of each type; "CSV" for a cell of text
    kept: bool = False
    held: list[list[str | None]] | None = None  #: the cells of each column, of a small file that DuckDB need not read
    #: the last columns, which are made of others: the name of each, and the columns that it is made of
    made: tuple[tuple[str, tuple[str, ...]], ...] = ()
    turned: TransposedColumns | None = None  #: of a transposed table, the columns in the file
    progress: Progress | None = None

    def cell(self, k: int) -> str:
        """SQL for column k as a whole number or text; NULL where it is empty."""
        kind = self.types[k]
        if self.kept or kind == "CSV":  # DuckDB reads an empty cell as NULL; blanks are cut off later, once a value
            return f"c{k}"
        if kind in INTEGERS:
            return f"c{k}::BIGINT"
        if _is_nested(kind):
            raise VotesError(f"column {self.names[k]!r} holds {kind} values, not labels or names")
        if kind == "BLOB":
            return f"nullif(decode(c{k}), '')"
        return f"nullif(c{k}::DOUBLE::VARCHAR, '')" if kind.startswith("DECIMAL") else f"nullif(c{k}::VARCHAR, '')"

    def keep(self, columns: Sequence[int]) -> SourceTable:
        """Store only these columns, cleaned, in memory (or spilled by DuckDB), so that the file is read once."""
        if self.held is not None:
            return self
        cells = ", ".join(f"{self.cell(k)} AS c{k}" for k in columns)
        return self.keep_rows(f"SELECT {cells} FROM {self.sql}")

    def keep_rows(self, sql: str) -> SourceTable:
        """Store the rows of a query whose columns are cells of this table, under their names."""
        self.watched(f"CREATE OR REPLACE TEMP TABLE kept AS {sql}")
        return replace(self, sql="kept", kept=True, held=None)

    def watched(self, sql: str) -> duckdb.DuckDBPyConnection:
        """Run a query that reads all the files, and report its progress."""
        with self.watching():
            return self.con.execute(sql)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Report the progress of the queries in the block."""
        if self.progress is None:
            yield
            return
        done = threading.Event()
        watcher = threading.Thread(target=_watch, args=(self.con, self.progress, done), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()

    @property
    def relation(self) -> duckdb.DuckDBPyRelation:
        """The table as a frame of DuckDB, with the names of its columns."""
        names = (name.replace('"', '""') for name in self.names)
        columns = ", ".join(f'c{k} AS "{name}"' for k, name in enumerate(names))
        return self.con.sql(f"SELECT {columns} FROM {self.sql}")

    def parse(self, values: Sequence[Any], *columns: int) -> Sequence[Any]:
        """Cells of `cell` as the values that the file holds in these columns; text where these differ in type."""
        families = {type_family(self.types[k]) for k in columns}
        kind = families.pop() if len(families) == 1 else "float" if families == {"int", "float"} else "text"
        if kind == "json":
            try:
                return cast(list[Any], json.loads("[" + ",".join("null" if v is None else v for v in values) + "]"))
            except RecursionError:
                raise VotesError(f"column {self.names[columns[0]]!r} holds JSON that is nested too deeply") from None
            except ValueError:
                where = f"column {self.names[columns[0]]!r}" if len(columns) == 1 else "the file"
                problem = f"{where} has a whole number of more than 4,300 digits; write it as text, in quotation marks"
                raise VotesError(problem, code="damaged") from None
        if kind == "text" and any(self.types[k] == "CSV" for k in columns):
            # apostrophes keep spreadsheets from computing cells
            quoted = any(value is not None and value[:1] == "'" for value in values)
            return [None if value is None else with_formula(value) for value in values] if quoted else values
        if kind == "text" or (isinstance(values, np.ndarray) and values.dtype.kind == "i"):
            return values
        converters: dict[str, Callable[[Any], Any]] = {"int": int, "float": float, "bool": "true".__eq__}
        convert = converters[kind]
        return [None if v is None else convert(v) for v in values]

    def layout(self, options: Reading) -> Layout:
        """What each column is."""
        return find_layout(self.names, self.effective_options(options), self.facts, self._count_distinct)

    @property
    def joint(self) -> tuple[str, ...]:
        """The columns that name the item together; empty where one column does."""
        return next((homes for _, homes in self.made if len(homes) > 1), ())

    def effective_options(self, options: Reading) -> Reading:
        """The options, with the columns left out that others are made of: an item's parts are no jurors."""
        if self.turned is not None:
            item, juror, label = self.names
            return options.but(layout="long", item=item, juror=juror, label=label, ignore=(), transpose=False)
        if options.item is None and self.joint:
            options = options.but(item=self.joint)
        return options.without(*(home for _, homes in self.made for home in homes))

    def reaching(self, *names: str | None, item: str | Sequence[str] | None = None) -> SourceTable:
        """The table with a column for each of these fields (`sample.id`), and for an item of several columns."""
        table = self
        for name in names:
            if name is not None and name not in table.names and "." in name:
                table = table._reaching_into(name)
        parts = item_parts(table.names, item)
        table = table if not parts else table.reaching(*parts)
        if len(parts) < 2 or (name := item_name(item)) is None or name in table.names:
            return table
        return table._joining(name, parts)

    def _reaching_into(self, path: str) -> SourceTable:
        """The table with a field inside records, by its dotted path; VotesError with the nearest name if there is none.

        The path has keys of records, or places in lists (from 0), after the name of a column. A column of text may
        hold JSON.
        """
        place, steps = home_of(self.names, path) or (find_column(self.names, path), [])
        cell, kind, at = f"c{place}", self.types[place], self.names[place]
        if kind != "JSON":
            cell = f"to_json({cell})" if _is_nested(kind) else f"TRY_CAST({cell}::VARCHAR AS JSON)"
        for step in steps:
            rows = f"SELECT {cell} AS v FROM {self.sql} LIMIT {_LOOKED_AT}"
            kinds = self.con.execute(f"SELECT DISTINCT json_type(v) FROM ({rows}) WHERE v IS NOT NULL").fetchall()
            key = step.replace("'", "''")
            if step.isdecimal() and {kind for (kind,) in kinds} - {"NULL"} == {"ARRAY"}:
                inside = f"({cell} -> {int(step)})"
            else:
                inside = f"({cell} -> '{key}')" if not step.startswith(("$", "/")) else f"({cell} -> '$.\"{key}\"')"
            if self.con.execute(f"SELECT 1 FROM {self.sql} WHERE {inside} IS NOT NULL LIMIT 1").fetchone() is None:
                rows = f"SELECT {cell} AS v FROM {self.sql} WHERE json_type({cell}) = 'OBJECT' LIMIT {_LOOKED_AT}"
                keys = f"SELECT DISTINCT key FROM (SELECT unnest(json_keys(v)) AS key FROM ({rows})) ORDER BY key"
                known = [f"{at}.{key}" for (key,) in self.con.execute(keys).fetchmany(_MOST_KEYS)]
                known = [*known, *(name for name in self.names if name != at)] if known else list(self.names)
                match_name(path, [name for name in known if name != path], "column")
            cell, at = inside, f"{at}.{step}"
        return self._with(path, cell, "JSON", (self.names[place],))

    def _joining(self, name: str, parts: Sequence[str]) -> SourceTable:
        """The table with several columns as the one that names the item: escaped as by `escaped`, NULL where one is."""
        places = [find_column(self.names, part) for part in parts]
        cells = []
        for k in places:
            text = f"nullif(trim(nfc_normalize({text_cell(f'c{k}', self.types[k])}), '{BLANKS}'), '')"
            cells.append(f"replace(replace({text}, '\\', '\\\\'), '{ITEM_SEPARATOR}', '\\{ITEM_SEPARATOR}')")
        homes = tuple(self.names[k] for k in places)
        joined = self._with(name, f" || '{ITEM_SEPARATOR}' || ".join(cells), "CSV", homes)
        if self.held is None:
            return joined
        rows = zip(
            *([normalize("NFC", cell or "").strip(BLANKS) for cell in self.held[k]] for k in places), strict=True
        )
        items = [ITEM_SEPARATOR.join(map(escaped, row)) if all(row) else None for row in rows]
        return replace(joined, held=[*self.held, items])

    def turn(self, options: Reading) -> SourceTable:
        """One vote per row of a table with jurors in rows and items in columns."""
        turned = find_transposed(LayoutHints(self.names, options, self.facts))
        kinds = {self.types[k] for k in turned.items}
        kind = kinds.pop() if len(kinds) == 1 else "CSV"
        cells = [f"c{k}" if self.types[k] == kind else text_cell(f"c{k}", self.types[k]) for k in turned.items]
        items = ["'" + self.names[k].replace("'", "''") + "'" for k in turned.items]
        who = self.names[turned.juror or 0]
        sql = (
            f"(SELECT unnest([{', '.join(items)}]) AS c0, c{turned.juror} AS c1, unnest([{', '.join(cells)}]) AS c2 "
            f"FROM {self.sql})"
        )
        names = ("question" if who == "item" else "item", who, "vote" if who == "label" else "label")
        types = ("VARCHAR", self.types[turned.juror or 0], kind)
        return replace(self, sql=sql, names=names, types=types, made=(), turned=turned, held=None)

    def _with(self, name: str, cell: str, kind: str, homes: tuple[str, ...]) -> SourceTable:
        """The table with one more column, whose cells are SQL of others."""
        sql = f"(SELECT *, {cell} AS c{len(self.names)} FROM {self.sql})"
        names, types, made = (*self.names, name), (*self.types, kind), (*self.made, (name, homes))
        return replace(self, sql=sql, names=names, types=types, made=made, held=None)

    def facts(self) -> ColumnProfile:
        """What the first rows show."""
        return self._profile

    @cached_property
    def _profile(self) -> ColumnProfile:
        if self.held is not None:
            return profile_columns(self.names, self.held, len(self.held[0]))
        most = head_rows(len(self.names))
        texts = (f"(c{k} ->> '$')" if kind == "JSON" else f"c{k}::VARCHAR" for k, kind in enumerate(self.types))
        named = ", ".join(f"{text} AS c{k}" for k, text in enumerate(texts))
        head = self.con.execute(f"SELECT {named} FROM {self.sql} LIMIT {most + 1}").fetchnumpy()
        columns = [head[f"c{k}"] for k in range(len(self.names))]
        rows = len(columns[0])
        return profile_columns(self.names, [c[:most].tolist() for c in columns], rows if rows <= most else None)

    def _count_distinct(self, columns: Sequence[int]) -> tuple[int, Sequence[int]]:
        """How many rows there are, and about how many distinct values of these columns."""
        counts = ", ".join(f"approx_count_distinct(c{k})" for k in columns)
        total, *distinct = self.watched(f"SELECT count(*), {counts} FROM {self.sql}").fetchall()[0]
        return total, distinct

    def every_column(self) -> SourceTable:
        """The same table; of JSON, with the columns of every record, not only of the first 20,000."""
        if not any("JSON" in part.types and part.call != "whole" for part in self.parts):
            return self
        parts = [part if "JSON" not in part.types else open_part(self.con, part, sample=-1) for part in self.parts]
        table = _joined(self.con, parts, self.progress)
        for name, homes in self.made:
            table = table.reaching(name) if len(homes) == 1 else table._joining(name, homes)
        return table


@dataclass(frozen=True)
class ToolLog:
    """Files that another tool wrote, and the reader that knows it."""

    tool: str  #: `--from NAME`
    reader: Reader
    files: Files

    def read(self) -> Records | Votes:
        """What the tool wrote: one vote per position, or counts."""
        return read_records(self.files, self.reader)


@contextmanager
def open_source(source: Source, options: Reading, *, logs: bool = True) -> Iterator[SourceTable | ToolLog]:
    """Open the files of a source as one table, or (if `logs`) as the log of another tool.

    Any error about them names the file.
    """
    tool, progress = options.tool, options.progress
    limit, allowed = in_bytes(options.memory, "memory"), in_bytes(options.unpack, "unpack")
    name = shown_source(source)
    with temp_directory() as folder:
        located = locate(source, folder)
        with _naming(name):
            if tool and not located.paths and located.tables:
                raise OptionError("this is a table, not the log of a tool; leave tool= out", code="does_not_apply")
            paths = {place.path for place in located.tables if not place.address}
            starts = {path: read_head(path) for path in paths} if len(located.tables) == 1 else {}
            files = Files(located.paths, located.root, located.named, allowed, starts=starts)
            log = find_reader(files, tool) if logs and (tool or not options.format) else None
        if log is not None:
            with _naming(name):
                yield ToolLog(*log, files)
            return
        if not located.tables:
            raise no_tables().in_file(name)
        parts = []
        for k, place in enumerate(located.tables):
            (folder / str(k)).mkdir()
            with _naming(place.name):
                part = local_copy(place, folder / str(k), options.format, allowed, starts.get(place.path, b""))
            parts.append(part if len(located.tables) <= _MOST_HEADS else replace(part, head=b""))
        with closing(cast("duckdb.DuckDBPyConnection", _Connection(folder, limit, progress))) as con:
            table = _opened(con, parts, progress, allowed)
            # two files that are one would count every vote twice; files without rows may well be the same
            different = list(table.parts)
            while (twice := same_files([part.path for part in different])) is not None:
                first, second = (different[k] for k in twice)
                if has_rows(con, first):
                    message = f"this file and {second.name} hold the same bytes: name it once"
                    raise VotesError(message, code="same_files").in_file(first.name)
                different = [part for part in different if part is not second]
            with _naming(name if len(parts) > 1 else parts[0].name, table):
                named = (options.juror, options.label, options.count, options.repeat)
                item = options.item or joint_item(table.names, options, table.facts)
                opened = table.reaching(*named, item=item)
                opened = opened.turn(options) if options.transpose else opened
                try:
                    yield opened
                except VotesError as fault:  # a row of a transposed table is a cell of the file's
                    if opened.turned is None or fault.code != "bad_row":
                        raise
                    row = (fault.about["row"] - 1) // len(opened.turned.items) + 1
                    raise row_fault(row, fault.about["what"]) from None


@contextmanager
def open_table(source: Source, options: Reading, *, logs: bool = True) -> Iterator[SourceTable]:
    """Open the files of a source as one table; the log of another tool is refused."""
    with open_source(source, options, logs=logs) as opened:
        if isinstance(opened, ToolLog):
            raise VotesError(f"this is a log ({opened.reader.TITLE}), not a table with columns to choose from")
        yield opened


def _connect(folder: Path, limit: int | None) -> duckdb.DuckDBPyConnection:
    import duckdb

    con = duckdb.connect(config={"temp_directory": str(folder), **OFFLINE})
    if limit is not None:
        con.execute(f"SET memory_limit = '{limit}B'")
    return con


@dataclass(frozen=True)
class _Connection:
    """A connection that starts DuckDB when it is first used: that takes as long as grading a small file."""

    folder: Path
    limit: int | None
    progress: Progress | None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._started, name)

    @cached_property
    def _started(self) -> duckdb.DuckDBPyConnection:
        import duckdb

        con = _connect(self.folder, self.limit)
        with suppress(duckdb.Error):  # a notebook without ipywidgets refuses every change, and then shows no bar
            con.execute("SET enable_progress_bar = false")  # it prints to stdout where Python looks interactive
            if self.progress is not None:
                con.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
                con.execute("SET progress_bar_time = 1000000000")
        con.execute("SET TimeZone = 'UTC'")  # a moment that names an item has the same name everywhere
        return con

    def close(self) -> None:
        """Close it, where it was started."""
        if is_computed(self, "_started"):
            self._started.close()


def _opened(
    con: duckdb.DuckDBPyConnection, parts: Sequence[TablePart], progress: Progress | None, allowed: int | None
) -> SourceTable:
    """The files as one table; a file of several may have no rows, but not all."""
    opened = []
    for part in parts:
        with _naming(part.name, part):
            opened.append(open_part(con, part))
            if len(parts) == 1 and opened[0].held is None and _is_small(opened[0]):  # so that it is read once
                con.execute(f"CREATE TEMP TABLE whole AS SELECT * FROM {fill_files(opened[0].call, part.path)}")
                opened = [replace(opened[0], call="whole")]
            if part.format == "parquet":  # a few bytes can hold more cells than there can be votes
                (rows,) = con.execute("SELECT num_rows FROM parquet_file_metadata(?)", [str(part.path)]).fetchall()[0]
                REPEATED.check(rows * len(opened[-1].names), part.path.stat().st_size, allowed)
    if len(opened) > 1 and any(set(part.names) != set(opened[0].names) for part in opened[1:]):
        for k, part in enumerate(opened):
            with _naming(part.name, part):
                opened[k] = open_part(con, part, sample=-1) if "JSON" in part.types else part
    table = _joined(con, opened, progress)
    for part in opened:
        with _naming(part.name, part):
            if has_rows(con, part):
                return table
    shown = ", ".join(table.names[:12])
    fault = VotesError(f"there are column names ({shown}) but no rows below them", code="empty", columns=table.names)
    raise fault.in_file(parts[0].name)


def _watch(con: duckdb.DuckDBPyConnection, progress: Progress, done: threading.Event) -> None:
    while not done.wait(_POLL_SECONDS):
        if (percent := con.query_progress()) > 0:  # -1: not known yet
            progress(percent / 100)


# -- which file is at fault -------------------------------------------------------------------------------------------


@contextmanager
def _naming(name: str, what: SourceTable | TablePart | None = None) -> Iterator[None]:
    """Faults inside the block get the name of the file in front; of several files, of the one that has it."""
    try:
        yield
    except (VotesError, OptionError) as error:
        if error.code == "bad_row" and isinstance(what, SourceTable) and len(what.parts) > 1:
            row = error.about["row"]  # of the whole table: which file is it in, and which row is it there?
            for part in what.parts:
                (rows,) = what.con.execute(f"SELECT count(*) FROM {_relation([part])}").fetchall()[0]
                if row <= rows:
                    raise row_fault(row, error.about["what"]).in_file(part.name) from None
                row -= rows
        raise error.in_file(name) from None
    except OSError as error:
        raise VotesError(f"cannot be read: {error.strerror or error}").in_file(name) from None
    except Exception as error:
        import duckdb

        if isinstance(error, duckdb.InterruptException):
            raise KeyboardInterrupt from None
        if not isinstance(error, duckdb.Error):
            raise
        if what is None:
            raise VotesError(first_line(error)).in_file(name) from None
        if isinstance(what, TablePart):
            raise file_fault(error, what.path, what.format).in_file(what.name) from None
        for part in what.parts:  # of several, the first that fails alone
            try:
                what.con.execute(f"SELECT count(COLUMNS(*)) FROM {_relation([part])}")
            except duckdb.Error as alone:
                raise file_fault(alone, part.path, part.format).in_file(part.name) from None
        raise file_fault(error, what.parts[0].path, what.parts[0].format).in_file(name) from None
