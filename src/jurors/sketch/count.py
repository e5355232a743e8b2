"""Counting files in DuckDB: files larger than memory become a few rows of counts, and no vote is held on the way.

Wide: rows with the same cells are counted as they stand in the file. Long: each (juror, label) pair gets bits of its
own, so that an item's votes are one `bit_or`; a juror who voted twice shows, because the votes are then more than the
jurors with bits. What needs the rows themselves (repeated items, empty names, sparse panels) is left to `read_votes`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Integers
from jurors.errors import VotesError
from jurors.options import Label, Reading, ReadingOptions
from jurors.sketch.sketch import Sketch
from jurors.votes import read
from jurors.votes.codes import LARGEST_COUNT, Finding, checked_counts, code_type, ordered_labels, recode
from jurors.votes.findings import repeated_rows
from jurors.votes.io.duckdb_table import BLANKS, INTEGERS, SourceTable, ToolLog, open_source, type_family
from jurors.votes.io.local_files import TablePart
from jurors.votes.io.sources import Source
from jurors.votes.layout import Layout
from jurors.votes.read import cells
from jurors.votes.scale import Recoding, apply_scale, collapse_repeats, select_jurors, selects_jurors
from jurors.votes.table import Votes, fits_dense, label_as_abstentions, with_findings

_BITS = 62  # of a BIGINT that stays positive, and one to spare for unknown pairs
_UNKNOWN = 1 << 62
_MOST_KEYS = 16  # beyond, hardly two items share a tuple
_MOST_PAIRS = 1_000_000
_HEAD_ROWS = 200_000
_TAIL_BYTES = 1 << 16
_WIDEST_RANGE = 1_000_000_000  # DuckDB's longest bitstring, 125 MB
_MOST_BYTES = 100_000_000  # of files that are read whole for the confidences in them
_NAMELESS = "('', 'nan', 'NaN', '-0')"


def read_sketch(source: Source, **reading: Unpack[ReadingOptions]) -> Sketch:
    r"""Count the votes in a file, or in several, without holding them in memory.

    The sketch is that of `Sketch.from_votes(read_votes(source))`, and so are the options and the errors. DuckDB counts
    while it reads and spills to disk beyond `memory`; only sparse panels and repeated items are read whole.

    Returns
    -------
    Sketch
        The counts of all files.

    Examples
    --------
    >>> import io
    >>> read_sketch(io.StringIO("ann,bob,cy\nyes,yes,no\nno,no,no\nyes,yes,no\n"))
    Sketch(3 items, 3 jurors, 2 tuples, labels no, yes)
    """
    counted = read_counts(source, **reading)
    return counted if isinstance(counted, Sketch) else Sketch.from_votes(counted)


def read_counts(source: Source, **reading: Unpack[ReadingOptions]) -> Sketch | Votes:
    """Count the votes in a file, as `read_sketch` does, unless it holds jurors' confidences.

    Returns
    -------
    Sketch or Votes
        The votes where columns of confidences stand beside them, in files of at most 100 MB or as the caller says.
    """
    options = Reading.of(reading)
    with open_source(source, options) as opened:
        if isinstance(opened, ToolLog):
            return Sketch.from_votes(read.votes_of_log(opened, options))
        table, layout = read.open_layout(opened, options)
        if layout.confidence:
            size = sum(part.path.stat().st_size for part in table.parts if part.path.exists())
            if size <= _MOST_BYTES or options.confidence is not None:
                whole = read.confident_votes(table.keep(layout.kept), layout, options)
                return whole if whole.confidence is not None else Sketch.from_votes(whole)
        votes = None  # as long as counting takes the votes themselves
        is_counted = layout.repeat is None and table.held is None  # where DuckDB reads it
        if is_counted and layout.kind == "long":
            votes = _count_long(_of_selected(table, layout, options), layout, options)
        elif is_counted:
            votes = _count_wide(table, layout, options)
        if votes is None:
            return Sketch.from_votes(read.votes_of(table.keep(layout.used), layout, options))
        votes = collapse_repeats(votes, options)
        repeated = repeated_rows(votes) if layout.kind != "counts" else ()
        votes = read.with_table(votes, table, layout, options)
        return Sketch.from_votes(with_findings(votes, list(repeated)))


def _of_selected(table: SourceTable, layout: Layout, options: Reading) -> SourceTable:
    """The rows of the selected jurors, and those that name none: `read_votes` reports these with their number."""
    if layout.juror is None or not selects_jurors(options):
        return table
    cell = table.cell(layout.juror)
    raw = read.fetch_column(table, f"SELECT DISTINCT {cell} AS v FROM {table.sql} WHERE v IS NOT NULL").tolist()
    names = read.clean_cells(table.parse(raw, layout.juror), column=table.names[layout.juror])
    cells = [str(cell) for cell in selected_cells(raw, names, options)]
    table.con.execute("CREATE OR REPLACE TEMP TABLE selected AS SELECT unnest(?::VARCHAR[]) AS v", [cells])
    rows = f"{cell} IS NULL OR ({cell})::VARCHAR IN (FROM selected)"
    columns = ", ".join(f"c{k}" for k in range(len(table.names)))
    return replace(table, sql=f"(SELECT * FROM {table.sql} WHERE {rows}) AS theirs({columns})")


def selected_cells(cells: Iterable[Any], names: Sequence[Any], options: Reading) -> list[Any]:
    """The cells that name a selected juror, and those that name none."""
    jurors = list(dict.fromkeys(name for name in names if name is not None))
    selected = {None, *(jurors[k] for k in select_jurors(jurors, options))}
    return [cell for cell, name in zip(cells, names, strict=True) if name in selected]


# -- wide and counts ------------------------------------------------------------------------------------------


def _count_wide(table: SourceTable, layout: Layout, options: Reading) -> Votes | None:
    columns = layout.votes if layout.count is None else (*layout.votes, layout.count)
    shown = ", ".join(f"{table.cell(k)} AS c{k}" for k in columns)
    if layout.item is not None and not _are_items_named(table, layout.item, repeated=layout.count is not None):
        return None
    bare = ", ".join(f"c{k}" for k in columns)
    grouped = table.keep_rows(f"SELECT {shown}, n FROM (SELECT {bare}, count(*) AS n FROM {table.sql} GROUP BY ALL)")
    times = read.fetch_column(grouped, "SELECT n AS v FROM kept")
    if layout.count is not None:
        try:
            times = weighted_counts(times, cells(grouped, layout.count), table.names[layout.count])
        except VotesError:  # the row of the file, not of the counts, must be named
            return None
    codes, values = read.grid(grouped, layout.votes)
    jurors = [table.names[k] for k in layout.votes]
    return read.wide_votes(codes, values, jurors=jurors, items=None, counts=times, options=options)


def weighted_counts(times: Integers, counts: Sequence[Any], name: str) -> Integers:
    """How many items each group of rows with one count stands for: added here, where integers do not overflow."""
    each = checked_counts(counts, f"column {name!r}")
    weighted = [count * rows for count, rows in zip(each.tolist(), times.tolist(), strict=True)]
    if sum(weighted) > LARGEST_COUNT:
        raise VotesError(
            f"column {name!r}: the counts add up to more than {LARGEST_COUNT:,}, the largest number of items"
        )
    return np.array(weighted, dtype=np.int64)


def _are_items_named(table: SourceTable, k: int, *, repeated: bool) -> bool:
    """Whether every row names its item, and (unless they may be repeated) no two rows name the same."""
    items = _item_names(table, k)
    if items is None:
        return False
    if table.types[k] in INTEGERS:
        rows, named, low, high = table.con.execute(
            f"SELECT count(*), count(c{k}), min(c{k})::HUGEINT, max(c{k})::HUGEINT FROM {table.sql}"
        ).fetchall()[0]
        if named < rows or repeated:
            return bool(named == rows)
        if high - low + 1 < rows:
            return False
        distinct = f"count(DISTINCT c{k})"
        if high - low < _WIDEST_RANGE:  # one bit per number
            distinct = f"bit_count(bitstring_agg(c{k}::BIGINT, {low}, {high}))"
        return bool(table.watched(f"SELECT {distinct} = {rows} FROM {table.sql}").fetchall()[0][0])
    for name in items:
        distinct = "true" if repeated else f"count(DISTINCT hash({name})) = count(*)"  # other hashes are other names
        differ, odd = table.watched(f"SELECT {distinct}, bool_or({_odd(name)}) FROM {table.sql}").fetchall()[0]
        if not odd:
            return bool(differ)
    return False


def _item_names(table: SourceTable, k: int) -> list[str] | None:
    """SQL for the item's name, as it is and without blanks around; None where two values may be one name."""
    kind, cell = table.types[k], table.cell(k)
    if kind in INTEGERS:
        return [cell]
    if type_family(kind) == "json":
        kinds = table.con.execute(f"SELECT DISTINCT json_type(c{k}) FROM {table.sql} LIMIT 9").fetchall()
        types = {row[0] for row in kinds}
        if not (types == {"VARCHAR"} or types <= {"BIGINT", "UBIGINT"}):
            return None
        cell = f"(c{k} ->> '$')"
    elif type_family(kind) not in ("text", "int"):
        return None
    return [cell, f"trim(nfc_normalize({cell}), '{BLANKS}')"]


def _odd(name: str) -> str:
    """SQL: whether this is no name, or one with blanks around or letters not composed."""
    ends = " OR ".join(f"suffix({name}, '{blank}')" for blank in BLANKS if blank.isascii())
    suspect = f"{name} < '!' OR strlen({name}) <> length({name}) OR {ends}"  # cutting blanks off costs far more
    blanks = f"CASE WHEN {suspect} THEN {name} <> trim(nfc_normalize({name}), '{BLANKS}') ELSE false END"
    return f"coalesce({name} IN {_NAMELESS} OR {blanks}, true)"


# -- long -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Panel:
    """The jurors and the labels of the file, and the bits of an item's votes."""

    jurors: tuple[Label, ...]
    labels: tuple[Label, ...]
    findings: tuple[Finding, ...]

    @property
    def places(self) -> list[tuple[int, int]]:
        """For each juror the key that holds its vote, and the bits below it there."""
        width = len(self.labels).bit_length()  # bits that hold a label or nothing
        return [(j // (_BITS // width), j % (_BITS // width) * width) for j in range(len(self.jurors))]

    @property
    def keys(self) -> list[str]:
        """The columns that hold an item's votes."""
        return [f"k{key}" for key in range(self.places[-1][0] + 1)]


def _count_long(table: SourceTable, layout: Layout, options: Reading) -> Votes | None:
    item, juror, label = layout.used
    names = _item_names(table, item)
    if names is None:
        return None
    is_whole = table.types[item] in INTEGERS
    for pairs in _pairs(table, juror, label, whole=bool(Recoding.of(options))):
        panel = _panel(table, pairs, juror, label, options)
        if panel is None or len(panel.keys) > _MOST_KEYS:
            return None
        for name in names:
            tuples = _tuples(table, panel, name, "name IS NULL" if is_whole else _odd("name"), juror, label)
            if (tuples["k0"] & _UNKNOWN).any():
                break
            if not tuples["odd"].any():
                return _checked(panel, tuples, options)
        else:
            return None
    return None


def _pairs(table: SourceTable, juror: int, label: int, *, whole: bool = False) -> Iterator[str]:
    """SQL for the (juror, label) pairs of the file: at first those of its head, where its tail has no others.

    Recoding of labels depends on all of them, and not on the head (`whole`).
    """
    pairs = f"SELECT DISTINCT c{juror}, c{label} FROM"
    part = table.parts[0]
    if not whole and len(table.parts) == 1 and part.format in ("csv", "tsv") and max(juror, label) < len(part.names):
        head = f"SELECT c{juror}, c{label} FROM {table.sql} LIMIT {_HEAD_ROWS}"
        table.con.execute(f"CREATE OR REPLACE TEMP TABLE head AS {pairs} ({head})")
        known = set(table.con.execute("FROM head").fetchall())
        if all((row[juror] or None, row[label] or None) in known for row in _tail(part) if row):
            yield "FROM head"
    yield f"{pairs} {table.sql}"


def _tail(part: TablePart) -> list[list[str]]:
    """The last rows of a CSV file: where it is sorted by juror, they have pairs that its head lacks."""
    with part.path.open("rb") as file:
        file.seek(max(0, part.path.stat().st_size - _TAIL_BYTES))
        lines = file.read().decode("utf-8", "replace").splitlines()[1:]
    rows = list(csv.reader(lines, delimiter=part.delimiter))
    return rows if all(len(row) == len(part.names) for row in rows if row) else []


def _panel(table: SourceTable, pairs: str, juror: int, label: int, options: Reading) -> _Panel | None:
    """The panel of these pairs, whose bits go to the table `pairs` in DuckDB; None where a juror has no name."""
    con = table.con
    numbered = f"SELECT row_number() OVER () - 1 AS id, * FROM ({pairs} LIMIT {_MOST_PAIRS + 1})"
    con.execute(f"CREATE OR REPLACE TEMP TABLE pair AS {numbered}")
    rows = con.execute(f"SELECT {table.cell(juror)} AS j, {table.cell(label)} AS v FROM pair ORDER BY id").fetchall()
    names = read.clean_cells(table.parse([row[0] for row in rows], juror), column=table.names[juror])
    if len(rows) > _MOST_PAIRS or None in names:
        return None
    spelling = read.spelled_labels(table.parse([row[1] for row in rows], label), options, table.names[label])
    if all(value is None for value in spelling.labels):
        raise VotesError(f"every vote in column {table.names[label]!r} is missing")
    labels = read.labels_of(spelling, options)
    jurors = ordered_labels(names)
    place = {name: k for k, name in enumerate(jurors)}
    by = np.array([place[name] for name in names])
    times = _rows_of_pairs(table, juror, label) if spelling.absent or spelling.abstained else None
    findings = spelling.findings(list(map(str, jurors)), by, np.arange(len(rows)), times)
    panel = _Panel(jurors, labels, findings)
    if len(panel.keys) <= _MOST_KEYS:
        which, below = np.array(panel.places)[by].T
        code = recode(spelling.answers, labels).astype(np.int64)  # of each pair, -1 where it is no vote
        bits = (code + 1) << below
        columns = [np.where(which == key, bits, 0).tolist() for key in range(len(panel.keys))]
        columns.append([1 if vote >= 0 else None for vote in code.tolist()])
        listed = ", ".join(f"unnest(?::BIGINT[]) AS {name}" for name in (*panel.keys, "vote"))
        con.execute(
            f"CREATE OR REPLACE TEMP TABLE pairs AS SELECT c{juror} AS j, c{label} AS v, bits.* EXCLUDE (id) "
            f"FROM pair JOIN (SELECT unnest(range({len(rows)})) AS id, {listed}) AS bits USING (id)",
            columns,
        )
    return panel


def _rows_of_pairs(table: SourceTable, juror: int, label: int) -> Integers:
    """How many rows hold each pair."""
    same = f"pair.c{juror} IS NOT DISTINCT FROM f.c{juror} AND pair.c{label} IS NOT DISTINCT FROM f.c{label}"
    rows = f"SELECT c{juror}, c{label}, count(*) AS n FROM {table.sql} GROUP BY ALL"
    sql = f"SELECT coalesce(n, 0) AS n FROM pair LEFT JOIN ({rows}) AS f ON {same} ORDER BY id"
    return np.array([n for (n,) in table.watched(sql).fetchall()], dtype=np.int64)


def _tuples(table: SourceTable, panel: _Panel, name: str, odd: str, juror: int, label: int) -> dict[str, NDArray[Any]]:
    """The distinct keys of items, with how many votes an item has and how many items there are."""
    others = panel.keys[1:]
    keys = [f"bit_or(coalesce(k0, {_UNKNOWN})) AS k0", *(f"bit_or({key}) AS {key}" for key in others)]
    match = f"c{juror} IS NOT DISTINCT FROM j AND c{label} IS NOT DISTINCT FROM v"
    items = (
        f"SELECT {name} AS name, {', '.join(keys)}, count(vote) AS votes "
        f"FROM {table.sql} LEFT JOIN pairs ON {match} GROUP BY 1"
    )
    columns = ", ".join(["k0", *(f"coalesce({key}, 0) AS {key}" for key in others), "votes"])
    sql = f"SELECT {columns}, count(*) AS n, bool_or({odd}) AS odd FROM ({items}) GROUP BY ALL"
    return dict(table.watched(sql).fetchnumpy())


def _checked(panel: _Panel, tuples: dict[str, NDArray[Any]], options: Reading) -> Votes | None:
    """The tuples as votes with counts; None where a juror voted twice, or where the panel is sparse."""
    mask = (1 << len(panel.labels).bit_length()) - 1
    codes = np.empty((len(tuples["n"]), len(panel.places)), dtype=code_type(len(panel.labels)))
    for column, (key, below) in enumerate(panel.places):
        codes[:, column] = ((tuples[f"k{key}"] >> below) & mask) - 1
    votes, counts = tuples["votes"], tuples["n"].astype(np.int64)
    if not np.array_equal(np.count_nonzero(codes >= 0, axis=1), votes):
        return None
    if not fits_dense(int(counts.sum()) * len(panel.jurors), int((votes * counts).sum())):
        return None
    counted = Votes.from_matrix(codes, jurors=panel.jurors, labels=panel.labels, counts=counts, scale=None)
    told = options.labels is not None
    return apply_scale(replace(label_as_abstentions(counted), findings=panel.findings, labels_told=told), options)
