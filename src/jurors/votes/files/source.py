"""Files of any supported format as one DuckDB table, read in parallel; whatever is wrong with them as one line."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from jurors.errors import JurorsError, OptionError, VotesError
from jurors.options import Format, Progress, Reading, item_name, texts
from jurors.quoting import with_formula
from jurors.scratch import scratch
from jurors.votes.columns.by_evidence import find_layout
from jurors.votes.columns.facts import Facts, facts_of_columns, head_rows
from jurors.votes.columns.field_names import item_parts
from jurors.votes.columns.hints import Hints
from jurors.votes.columns.turned import Turned, find_turned
from jurors.votes.files.faults import file_fault, first_line, row_fault
from jurors.votes.files.fetch import Local, local_copy
from jurors.votes.files.foreign.postgres_table import copy_postgres
from jurors.votes.files.locate import Found, Place, Source, locate, no_tables, shown_source
from jurors.votes.files.parts import (
    INTEGERS,
    Part,
    check_cells,
    check_same_columns,
    family,
    open_part,
    relation,
    text_cell,
)
from jurors.votes.files.reach import Made, field, joined
from jurors.votes.files.sizes import OFFLINE, in_bytes
from jurors.votes.findings.repeats import same_files
from jurors.votes.layout import Layout, find_column
from jurors.votes.readers import Reader, Records, find_reader, read_records
from jurors.votes.table import Votes

if TYPE_CHECKING:
    import duckdb

_POLL_SECONDS = 0.1


@dataclass(frozen=True, kw_only=True)
class Table:
    """Files open in DuckDB: `sql` is a relation with columns c0, c1 …, called `names` in the files."""

    con: duckdb.DuckDBPyConnection
    parts: tuple[Part, ...]
    sql: str
    names: tuple[str, ...]
    types: tuple[str, ...]  #: DuckDB's name of each type; "CSV" for a cell of text
    kept: bool = False
    made: tuple[Made, ...] = ()  #: the last columns, which are made of others
    turned: Turned | None = None  #: of a table that was turned, its own columns
    progress: Progress | None = None

    def cell(self, k: int) -> str:
        """SQL for column k as a whole number or text; NULL where it is empty."""
        kind = self.types[k]
        if self.kept or kind == "CSV":  # DuckDB reads an empty cell as NULL; blanks are cut off later, once a value
            return f"c{k}"
        if kind in INTEGERS:
            return f"c{k}::BIGINT"
        if kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION")):
            raise VotesError(f"column {self.names[k]!r} holds {kind} values, not labels or names")
        if kind == "BLOB":
            return f"nullif(decode(c{k}), '')"
        return f"nullif(c{k}::DOUBLE::VARCHAR, '')" if kind.startswith("DECIMAL") else f"nullif(c{k}::VARCHAR, '')"

    def keep(self, columns: Sequence[int]) -> Table:
        """Only these columns, cleaned and in memory (or spilled by DuckDB), so that the file is read once."""
        cells = ", ".join(f"{self.cell(k)} AS c{k}" for k in columns)
        return self.keep_rows(f"SELECT {cells} FROM {self.sql}")

    def keep_rows(self, sql: str) -> Table:
        """The rows of a query whose columns are cells of this table, under their names."""
        self.watched(f"CREATE OR REPLACE TEMP TABLE kept AS {sql}")
        return replace(self, sql="kept", kept=True)

    def watched(self, sql: str) -> duckdb.DuckDBPyConnection:
        """Run a query that reads all the files, telling how far it is."""
        if self.progress is None:
            return self.con.execute(sql)
        done = threading.Event()
        watcher = threading.Thread(target=_watch, args=(self.con, self.progress, done), daemon=True)
        watcher.start()
        try:
            return self.con.execute(sql)
        finally:
            done.set()
            watcher.join()

    def parse(self, values: Sequence[Any], *columns: int) -> Sequence[Any]:
        """Cells as `cell` gives them, as the values the file holds in these columns; text where they differ in type."""
        families = {family(self.types[k]) for k in columns}
        kind = families.pop() if len(families) == 1 else "float" if families == {"int", "float"} else "text"
        if kind == "json":
            try:
                return cast(list[Any], json.loads("[" + ",".join("null" if v is None else v for v in values) + "]"))
            except RecursionError:
                raise VotesError(f"column {self.names[columns[0]]!r} holds JSON that is nested too deeply") from None
        if kind == "text" and any(self.types[k] == "CSV" for k in columns):
            return _unquoted(values)
        if kind == "text" or (isinstance(values, np.ndarray) and values.dtype.kind == "i"):
            return values
        converters: dict[str, Callable[[Any], Any]] = {"int": int, "float": float, "bool": "true".__eq__}
        convert = converters[kind]
        return [None if v is None else convert(v) for v in values]

    def layout(self, options: Reading) -> Layout:
        """What each column is."""
        return find_layout(self.names, self.told(options), self.facts, self._count_distinct)

    def told(self, options: Reading) -> Reading:
        """The options, with the columns left out that others are made of: an item's parts are no jurors."""
        if self.turned is not None:
            item, juror, label = self.names
            return replace(options, layout="long", item=item, juror=juror, label=label, ignore=(), transpose=False)
        for name in dict.fromkeys(home for made in self.made for home in made.homes):
            options = options if name in texts(options.ignore) else options.without(name)
        return options

    def reaching(self, *names: str | None, item: str | Sequence[str] | None = None) -> Table:
        """The table with a column for each of these fields (`sample.id`), and for an item of several columns."""
        table = self
        for name in names:
            if name is not None and name not in table.names and "." in name:
                table = table._with(field(table.con, table.sql, table.names, table.types, name))
        parts = item_parts(table.names, item)
        table = table if not parts else table.reaching(*parts)
        if len(parts) < 2 or (name := item_name(item)) is None or name in table.names:
            return table
        return table._joining(name, parts)

    def _joining(self, name: str, parts: Sequence[str]) -> Table:
        places = [find_column(self.names, part) for part in parts]
        return self._with(joined(name, [(self.names[k], f"c{k}", self.types[k]) for k in places]))

    def turn(self, options: Reading) -> Table:
        """One vote per row of a table with jurors in rows and items in columns."""
        turned = find_turned(Hints(self.facts(), options))
        kinds = {self.types[k] for k in turned.items}
        kind = kinds.pop() if len(kinds) == 1 else "CSV"
        cells = [f"c{k}" if self.types[k] == kind else text_cell(f"c{k}", self.types[k]) for k in turned.items]
        asked = ["'" + self.names[k].replace("'", "''") + "'" for k in turned.items]
        who = self.names[turned.juror or 0]
        sql = (
            f"(SELECT unnest([{', '.join(asked)}]) AS c0, c{turned.juror} AS c1, unnest([{', '.join(cells)}]) AS c2 "
            f"FROM {self.sql})"
        )
        names = ("question" if who == "item" else "item", who, "vote" if who == "label" else "label")
        types = ("VARCHAR", self.types[turned.juror or 0], kind)
        return replace(self, sql=sql, names=names, types=types, made=(), turned=turned)

    def _with(self, made: Made) -> Table:
        """The table with one more column."""
        sql = f"(SELECT *, {made.sql} AS c{len(self.names)} FROM {self.sql})"
        names, types = (*self.names, made.name), (*self.types, made.kind)
        return replace(self, sql=sql, names=names, types=types, made=(*self.made, made))

    def facts(self) -> Facts:
        """What the first rows show."""
        most = head_rows(len(self.names))
        texts = (f"(c{k} ->> '$')" if kind == "JSON" else f"c{k}::VARCHAR" for k, kind in enumerate(self.types))
        named = ", ".join(f"{text} AS c{k}" for k, text in enumerate(texts))
        head = self.con.execute(f"SELECT {named} FROM {self.sql} LIMIT {most + 1}").fetchnumpy()
        columns = [head[f"c{k}"] for k in range(len(self.names))]
        rows = len(columns[0])
        return facts_of_columns(self.names, [c[:most].tolist() for c in columns], rows if rows <= most else None)

    def _count_distinct(self, columns: Sequence[int]) -> tuple[int, Sequence[int]]:
        """How many rows there are, and about how many distinct values of these columns."""
        counts = ", ".join(f"approx_count_distinct(c{k})" for k in columns)
        total, *distinct = self.watched(f"SELECT count(*), {counts} FROM {self.sql}").fetchall()[0]
        return total, distinct

    def every_column(self) -> Table:
        """The same table; of JSON, with the columns of every record, not only of the first 20,000."""
        if not any("JSON" in part.types for part in self.parts):
            return self
        parts = [part if "JSON" not in part.types else open_part(self.con, part, sample=-1) for part in self.parts]
        table = _joined(self.con, parts, self.progress)
        for made in self.made:
            table = table.reaching(made.name) if len(made.homes) == 1 else table._joining(made.name, made.homes)
        return table


def _unquoted(values: Sequence[Any]) -> Sequence[Any]:
    """Cells of CSV, without the apostrophes that keep spreadsheets from computing them."""
    if not any(value is not None and value[:1] == "'" for value in values):
        return values
    return [None if value is None else with_formula(value) for value in values]


@dataclass(frozen=True)
class Log:
    """Files that another tool wrote, and the reader that knows it."""

    tool: str  #: `--from NAME`
    reader: Reader
    found: Found
    allowed: int | None = None  #: how much a packed file may hold, where the user says

    def read(self) -> Records | Votes:
        """What the tool wrote: one vote per position, or counts."""
        return read_records(self.found.paths, self.found.root, self.reader, self.found.named, self.allowed)


@contextmanager
def open_source(source: Source, options: Reading, *, logs: bool = True) -> Iterator[Table | Log]:
    """The files as one table, or (if `logs`) as the log of another tool; any error about them names the file."""
    tool, progress = options.tool, options.progress
    limit, allowed = in_bytes(options.memory, "memory"), in_bytes(options.unpack, "unpack")
    name = shown_source(source)
    with scratch() as folder:
        located = locate(source, folder)
        with _naming(name):
            if tool and not located.paths and located.tables:
                raise OptionError("this is a table, not the log of a tool; leave --from out", code="does_not_apply")
            log = (
                find_reader(located.paths, located.root, tool, located.named, allowed)
                if logs and (tool or not options.format)
                else None
            )
        if log is not None:
            with _naming(name):
                yield Log(*log, located, allowed)
            return
        if not located.tables:
            raise no_tables().in_file(name)
        parts = _local_parts(located, folder, options.format, allowed)
        with _engine(folder, limit, watched=progress is not None) as con:
            table = _opened(con, parts, progress, allowed)
            _refuse_same(con, table.parts)
            with _naming(name if len(parts) > 1 else parts[0].name, table):
                named = (options.juror, options.label, options.count, options.repeat)
                opened = table.reaching(*named, item=options.item)
                opened = opened.turn(options) if options.transpose else opened
                with _told_by_own_rows(opened):
                    yield opened


@contextmanager
def open_table(source: Source, options: Reading, *, logs: bool = True) -> Iterator[Table]:
    """The files as one table, which the log of another tool is not."""
    with open_source(source, options, logs=logs) as opened:
        if isinstance(opened, Log):
            raise VotesError(f"this is a log ({opened.reader.TITLE}), not a table with columns to choose from")
        yield opened


def _refuse_same(con: duckdb.DuckDBPyConnection, parts: Sequence[Part]) -> None:
    """VotesError where two files are one: every vote would count twice. Files without rows may well be the same."""
    while (twice := same_files([part.path for part in parts])) is not None:
        one, two = (parts[k] for k in twice)
        if one.has_rows(con):
            fault = VotesError(f"this file and {two.name} hold the same bytes: name it once", code="same_files")
            raise fault.in_file(one.name)
        parts = [part for part in parts if part is not two]


def _local_parts(located: Found, folder: Path, format: Format | None, allowed: int | None) -> list[Part]:
    parts = []
    for k, place in enumerate(located.tables):
        (folder / str(k)).mkdir()
        with _naming(place.name):
            local = _local(place, folder / str(k), format, allowed)
        parts.append(Part(local.path, place.name, local.format, holder=local.holder, notes=local.notes))
    return parts


def _local(place: Place, folder: Path, format: Format | None, allowed: int | None) -> Local:
    if not place.address:
        return local_copy(place.path, folder, format, allowed, inside=place.inside, name=place.name)
    copy_postgres(place.address, folder / "table.jsonl")
    return Local(folder / "table.jsonl", "jsonl", "postgresql")


@contextmanager
def _engine(folder: Path, limit: int | None, *, watched: bool) -> Iterator[duckdb.DuckDBPyConnection]:
    import duckdb

    with _connect(folder, limit) as con:
        with suppress(duckdb.Error):  # a notebook without ipywidgets refuses every change, and then shows no bar
            con.execute("SET enable_progress_bar = false")  # it prints to stdout where Python looks interactive
            if watched:
                con.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
                con.execute("SET progress_bar_time = 1000000000")
        con.execute("SET TimeZone = 'UTC'")  # a moment that names an item has the same name everywhere
        yield con


def _connect(folder: Path, limit: int | None) -> duckdb.DuckDBPyConnection:
    import duckdb

    con = duckdb.connect(config={"temp_directory": str(folder), **OFFLINE})
    if limit is not None:
        con.execute(f"SET memory_limit = '{limit}B'")
    return con


def _opened(
    con: duckdb.DuckDBPyConnection, parts: Sequence[Part], progress: Progress | None, allowed: int | None
) -> Table:
    """The files as one table; a file of several may have no rows, but not all."""
    opened = []
    for part in parts:
        with _naming(part.name, part):
            opened.append(open_part(con, part))
            check_cells(con, opened[-1], allowed)
    if len(opened) > 1 and any(set(part.names) != set(opened[0].names) for part in opened[1:]):
        opened = [_with_every_column(con, part) for part in opened]
    table = _joined(con, opened, progress)
    for part in opened:
        with _naming(part.name, part):
            if part.has_rows(con):
                return table
    shown = ", ".join(table.names[:12])
    fault = VotesError(f"there are column names ({shown}) but no rows below them", code="empty", columns=table.names)
    raise fault.in_file(parts[0].name)


def _joined(con: duckdb.DuckDBPyConnection, parts: Sequence[Part], progress: Progress | None) -> Table:
    check_same_columns(parts)
    sql, types = relation(parts)
    return Table(con=con, parts=tuple(parts), sql=sql, names=parts[0].names, types=types, progress=progress)


def _with_every_column(con: duckdb.DuckDBPyConnection, part: Part) -> Part:
    with _naming(part.name, part):
        return open_part(con, part, sample=-1) if "JSON" in part.types else part


def _watch(con: duckdb.DuckDBPyConnection, progress: Progress, done: threading.Event) -> None:
    while not done.wait(_POLL_SECONDS):
        if (percent := con.query_progress()) > 0:  # -1: not known yet
            progress(percent / 100)


# -- whose fault it is ------------------------------------------------------------------------------------------


@contextmanager
def _naming(name: str, what: Table | Part | None = None) -> Iterator[None]:
    """Faults inside the block get the name of the file in front; of several files, of the one that has it."""
    import duckdb

    try:
        yield
    except (VotesError, OptionError) as error:
        raise _traced(name, what, error) from None
    except OSError as error:
        raise VotesError(f"cannot be read: {error.strerror or error}").in_file(name) from None
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.Error as error:
        raise _blamed(name, what, error) from None


@contextmanager
def _told_by_own_rows(table: Table) -> Iterator[None]:
    """A row of a table that was turned is one cell of the file's: faults are told with the number of the file's row."""
    try:
        yield
    except VotesError as fault:
        if table.turned is None or fault.code != "bad_row":
            raise
        raise row_fault((fault.about["row"] - 1) // len(table.turned.items) + 1, fault.about["what"]) from None


def _traced(name: str, table: Table | Part | None, fault: JurorsError) -> JurorsError:
    """The fault with its file in front; the row of a table of several files is a row of one of them."""
    if fault.code == "bad_row" and isinstance(table, Table) and len(table.parts) > 1:
        row = fault.about["row"]
        for part in table.parts:
            (rows,) = table.con.sql(f"SELECT count(*) FROM {part.sql}").fetchall()[0]
            if row <= rows:
                return row_fault(row, fault.about["what"]).in_file(part.name)
            row -= rows
    return fault.in_file(name)


def _blamed(name: str, what: Table | Part | None, error: duckdb.Error) -> VotesError:
    """The file that cannot be read: of several, the first that fails alone."""
    import duckdb

    if isinstance(what, Part):
        return file_fault(error, what.path, what.format).in_file(what.name)
    if what is None:
        return VotesError(first_line(error)).in_file(name)
    for part in what.parts:
        try:
            what.con.execute(f"SELECT count(COLUMNS(*)) FROM {part.sql}")
        except duckdb.Error as alone:
            return file_fault(alone, part.path, part.format).in_file(part.name)
    return file_fault(error, what.parts[0].path, what.parts[0].format).in_file(name)
