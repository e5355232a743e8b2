"""Tables of votes in every layout and format, well made or with something wrong in their columns, rows or cells."""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
from fuzz.program_files import duckdb_file, sqlite_file, xlsx
from fuzz.words import COLUMN_WORDS, LABELS, names, value

LAYOUTS = ("wide", "long", "counts")
_SHAPES = ((6, 3), (12, 3), (30, 3), (30, 5), (60, 4), (40, 7), (80, 5))
_ODD_SHAPES = ((0, 3), (1, 3), (1, 1), (2, 2), (30, 1), (30, 2), (3, 60), (20, 20), (120, 3))


@dataclass
class Jury:
    """Who said what of which item."""

    items: list[Any]
    jurors: list[str]
    labels: list[Any]
    truth: list[Any]
    votes: list[list[Any]]  #: items x jurors


@dataclass
class Table:
    """A table as it will be written."""

    head: list[str]
    rows: list[list[Any]] = field(default_factory=list)


def jury(rng: random.Random) -> Jury:
    """A small jury, at times an odd one."""
    wild = rng.choice((0, 0, 0, 0.1, 0.5))
    size, width = rng.choice(_ODD_SHAPES if rng.random() < 0.15 else _SHAPES)
    labels = list(rng.choice(LABELS))
    if rng.random() < 0.15:
        labels = names(rng, rng.choice((1, 2, 3, 12)), wild=0.6)
    elif rng.random() < 0.02:
        labels = [f"label {k}" for k in range(rng.choice((40, 1000)))]
    jurors = names(rng, width, wild=wild)
    items = (
        [f"q{k}" for k in range(size)]
        if rng.random() < 0.8
        else [f"{one} {k}" for k, one in enumerate(names(rng, size, wild=wild))]
    )
    truth = [rng.choice(labels) for _ in items]
    gaps = rng.choice((0, 0, 0, 0.1, 0.6))
    skill = [rng.choice((0.95, 0.8, 0.7, 0.5, 1.0)) for _ in jurors]
    votes = [[_vote(rng, true, labels, skill[k], gaps) for k in range(len(jurors))] for true in truth]
    return Jury(items, jurors, labels, truth, votes)


def _vote(rng: random.Random, true: Any, labels: list[Any], skill: float, gaps: float) -> Any:
    if rng.random() < gaps:
        return None
    return true if rng.random() < skill else rng.choice(labels)


def table_of(rng: random.Random, jury: Jury, layout: str) -> Table:
    """The votes in a layout, with the key or an item column beside them or not."""
    if layout == "wide":
        table = Table(["item", *jury.jurors], [[i, *row] for i, row in zip(jury.items, jury.votes, strict=True)])
    elif layout == "long":
        cells = (
            (i, j, v)
            for i, row in zip(jury.items, jury.votes, strict=True)
            for j, v in zip(jury.jurors, row, strict=True)
        )
        table = Table(["item", "juror", "label"], [[i, j, v] for i, j, v in cells if v is not None])
    else:
        counted = Counter(tuple(row) for row in jury.votes)
        table = Table([*jury.jurors, "count"], [[*row, count] for row, count in counted.items()])
    if rng.random() < 0.1 and layout != "counts":
        table.head.append("gold")
        truth = dict(zip(jury.items, jury.truth, strict=True))
        table.rows = [[*row, truth[row[0]]] for row in table.rows]
    return table


def key_of(rng: random.Random, jury: Jury) -> Table:
    """The truth, of all items or a few."""
    few = rng.choice((len(jury.items), 5))
    return Table(["item", "label"], [[i, t] for i, t in list(zip(jury.items, jury.truth, strict=True))[:few]])


# -- what may be wrong ----------------------------------------------------------------------------------------------


def mutated(rng: random.Random, table: Table) -> Table:
    """The table after one mishap."""
    changed = Table(list(table.head), [list(row) for row in table.rows])
    rng.choice(_ALL)(rng, changed)
    return changed


def _cells(rng: random.Random, table: Table) -> None:
    for _ in range(rng.choice((1, 1, 3, 20))):
        row = rng.choice(table.rows) if table.rows else []
        if row:
            row[rng.randrange(len(row))] = value(rng)


def _whole_column(rng: random.Random, table: Table) -> None:
    at, kind = rng.randrange(len(table.head) or 1), rng.randrange(6)
    same = value(rng)
    for k, row in enumerate(table.rows):
        if at < len(row):
            row[at] = (same, k, k / 7, f"2026-01-{1 + k % 28:02}", value(rng), f"{k:08x}")[kind]


def _add_column(rng: random.Random, table: Table) -> None:
    table.head.append(rng.choice(COLUMN_WORDS) if rng.random() < 0.7 else str(value(rng)))
    kind, same = rng.randrange(4), value(rng)
    for k, row in enumerate(table.rows):
        row.append((same, k, value(rng), row[-1] if row else k)[kind])


def _drop_column(rng: random.Random, table: Table) -> None:
    at = rng.randrange(len(table.head) or 1)
    del table.head[at : at + 1]
    for row in table.rows:
        del row[at : at + 1]


def _rename(rng: random.Random, table: Table) -> None:
    if table.head:
        table.head[rng.randrange(len(table.head))] = rng.choice((*COLUMN_WORDS, *table.head, str(value(rng))))


def _no_head(rng: random.Random, table: Table) -> None:
    table.head = [str(cell) for cell in table.rows.pop(0)] if table.rows else []


def _rows_again(rng: random.Random, table: Table) -> None:
    table.rows += [list(row) for row in table.rows[: rng.choice((1, 5, 10**6))]]


def _ragged(rng: random.Random, table: Table) -> None:
    for row in rng.sample(table.rows, min(3, len(table.rows))):
        row[:] = rng.choice((row[:-1], [*row, value(rng)], [], [*row, *row]))


def _few_rows(rng: random.Random, table: Table) -> None:
    del table.rows[rng.choice((0, 1, 2, 3)) :]


def _wide(rng: random.Random, table: Table) -> None:
    """Many more columns."""
    more = rng.choice((5, 40, 300))
    table.head += [f"c{k}" for k in range(more)]
    for row in table.rows:
        row += [rng.choice("ab") for _ in range(more)]


def _turned(rng: random.Random, table: Table) -> None:
    """Rows for columns."""
    first, *others = [list(column) for column in zip(table.head, *table.rows, strict=False)] or [[]]
    table.head, table.rows = [str(cell) for cell in first], others


_ALL: tuple[Callable[[random.Random, Table], None], ...] = (
    _cells, _cells, _cells, _whole_column, _whole_column, _add_column, _drop_column, _rename, _rename, _no_head,
    _rows_again, _ragged, _few_rows, _wide, _turned,
)  # fmt: skip


# -- formats --------------------------------------------------------------------------------------------------------


def _csv(rng: random.Random, table: Table) -> bytes:
    return _delimited(rng, table, rng.choice((",", ",", ",", ";", "|", "\t")))


def _tsv(rng: random.Random, table: Table) -> bytes:
    return _delimited(rng, table, "\t")


def _delimited(rng: random.Random, table: Table, delimiter: str) -> bytes:
    text = io.StringIO(newline="")
    quoting: Any = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC))
    end = rng.choice(("\n", "\n", "\r\n"))
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=end)
    for row in (table.head, *table.rows):
        writer.writerow(["" if cell is None else cell for cell in row])
    return text.getvalue().encode("utf-8", "surrogatepass")


def _records(table: Table) -> list[dict[str, Any]]:
    return [dict(zip(table.head, row, strict=False)) for row in table.rows]


def _json(rng: random.Random, table: Table) -> bytes:
    if rng.random() < 0.1:  # columns under names, as pandas writes them
        columns = {name: [row[k] if k < len(row) else None for row in table.rows] for k, name in enumerate(table.head)}
        return json.dumps(columns).encode("utf-8", "surrogatepass")
    return json.dumps(_records(table), ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")


def _jsonl(rng: random.Random, table: Table) -> bytes:
    plain = rng.random() < 0.5
    lines = (json.dumps(record, ensure_ascii=plain) for record in _records(table))
    return "\n".join(lines).encode("utf-8", "surrogatepass") + b"\n"


def _arrow_table(rng: random.Random, table: Table) -> Any:
    arrays = [_array(rng, [row[k] if k < len(row) else None for row in table.rows]) for k in range(len(table.head))]
    return pa.Table.from_arrays(arrays, names=[_sound(name) for name in table.head])


def _array(rng: random.Random, cells: list[Any]) -> Any:
    texts = [None if cell is None else _sound(str(cell)) for cell in cells]
    if rng.random() < 0.15:
        texts = rng.choice(
            (pa.array(texts).dictionary_encode(), pa.array(texts, pa.large_string()), pa.array(texts).cast(pa.binary()))
        )
        return texts
    try:
        return pa.array(cells)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return pa.array(texts)


def _sound(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _parquet(rng: random.Random, table: Table) -> bytes:
    sink = io.BytesIO()
    try:
        pa.parquet.write_table(_arrow_table(rng, table), sink, compression=rng.choice(("snappy", "zstd", "none")))
    except pa.ArrowException:  # a struct without fields, which Parquet cannot hold
        return b"PAR1"
    return sink.getvalue()


def _arrow(rng: random.Random, table: Table) -> bytes:
    sink = io.BytesIO()
    pa.feather.write_feather(_arrow_table(rng, table), sink, compression="uncompressed")
    return sink.getvalue()


FORMATS: dict[str, Callable[[random.Random, Table], bytes]] = {
    "csv": _csv, "tsv": _tsv, "json": _json, "jsonl": _jsonl, "parquet": _parquet, "arrow": _arrow, "xlsx": xlsx,
    "db": sqlite_file, "duckdb": duckdb_file,
}  # fmt: skip
