"""Tables of votes in every layout and format, well made or with something wrong in their columns, rows or cells."""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain, product
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
    items = [f"{one} {k}" for k, one in enumerate(names(rng, size, wild=wild * (rng.random() < 0.2)))]
    truth = [rng.choice(labels) for _ in items]
    gaps = rng.choice((0, 0, 0, 0.1, 0.6))
    skill = [rng.choice((0.95, 0.8, 0.7, 0.5, 1.0)) for _ in jurors]
    votes: list[list[Any]] = [
        [true if rng.random() < right else rng.choice(labels) for right in skill] for true in truth
    ]
    votes = [[None if rng.random() < gaps else vote for vote in row] for row in votes]
    return Jury(items, jurors, labels, truth, votes)


def table_of(rng: random.Random, jury: Jury, layout: str) -> Table:
    """The votes in a layout, with the key or an item column beside them or not."""
    if layout == "wide":
        table = Table(["item", *jury.jurors], [[i, *row] for i, row in zip(jury.items, jury.votes, strict=True)])
    elif layout == "long":
        pairs = product(jury.items, jury.jurors)
        cells = ([*pair, vote] for pair, vote in zip(pairs, chain(*jury.votes), strict=True) if vote is not None)
        table = Table(["item", "juror", "label"], list(cells))
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


_MISHAPS = (
    "cells", "cells", "cells", "column", "column", "add column", "drop column", "rename", "rename", "no head",
    "rows again", "ragged", "few rows", "wide", "turned",
)  # fmt: skip


def mutated(rng: random.Random, table: Table) -> Table:
    """The table after one mishap."""
    head, rows = list(table.head), [list(row) for row in table.rows]
    at, kind, same = rng.randrange(len(head) or 1), rng.randrange(6), value(rng)
    match rng.choice(_MISHAPS):
        case "cells":
            for row in rng.choices(rows, k=rng.choice((1, 1, 3, 20))) if rows else ():
                row[at:] = [value(rng), *row[at + 1 :]]
        case "column":
            for k, row in enumerate(rows):
                row[at : at + 1] = [(same, k, k / 7, f"2026-01-{1 + k % 28:02}", value(rng), f"{k:08x}")[kind]]
        case "add column":
            head.append(rng.choice(COLUMN_WORDS) if rng.random() < 0.7 else str(value(rng)))
            for k, row in enumerate(rows):
                row.append((same, k, value(rng), row[-1] if row else k)[kind % 4])
        case "drop column":
            for row in (head, *rows):
                del row[at : at + 1]
        case "rename":
            head[at : at + 1] = [rng.choice((*COLUMN_WORDS, *head, str(value(rng))))]
        case "no head":
            head = [str(cell) for cell in rows.pop(0)] if rows else []
        case "rows again":
            rows += [list(row) for row in rows[: rng.choice((1, 5, 10**6))]]
        case "ragged":
            for row in rng.sample(rows, min(3, len(rows))):
                row[:] = rng.choice((row[:-1], [*row, value(rng)], [], [*row, *row]))
        case "few rows":
            del rows[rng.choice((0, 1, 2, 3)) :]
        case "wide":
            more = rng.choice((5, 40, 300))
            head += [f"c{k}" for k in range(more)]
            rows = [[*row, *rng.choices("ab", k=more)] for row in rows]
        case _:  # rows for columns
            first, *rows = [list(column) for column in zip(head, *rows, strict=False)] or [[]]
            head = [str(cell) for cell in first]
    return Table(head, rows)


# -- formats --------------------------------------------------------------------------------------------------------


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
        array = pa.array(texts)
        return rng.choice((array.dictionary_encode(), array.cast(pa.large_string()), array.cast(pa.binary())))
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
    "csv": lambda rng, table: _delimited(rng, table, rng.choice(",,,;|\t")),
    "tsv": lambda rng, table: _delimited(rng, table, "\t"),
    "json": _json, "jsonl": _jsonl, "parquet": _parquet, "arrow": _arrow, "xlsx": xlsx,
    "db": sqlite_file, "duckdb": duckdb_file,
}  # fmt: skip
