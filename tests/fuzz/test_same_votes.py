"""The same votes in every layout and format, be it a file, frame or array, give the same sketch and the same grades."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jurors import Sketch, Votes
from jurors.jury.inputs import as_sketch
from jurors.sketch.file import text_of

JURORS = ("ann", "bob", "cy", "dee")
LABELS = ("maybe", "no", "yes")
Cells = list[list[str | None]]
Table = dict[str, list[Any]]


@st.composite
def matrices(draw: st.DrawFn) -> Cells:
    """Items x jurors; every label is said, every juror and every item has a vote."""
    vote = st.sampled_from((*LABELS, *LABELS, None))
    rows = draw(st.lists(st.lists(vote, min_size=len(JURORS), max_size=len(JURORS)), min_size=4, max_size=12))
    return [["maybe", "no", "yes", "no"], ["no", "yes", "maybe", "yes"], *(row for row in rows if any(row))]


def wide(cells: Cells) -> Table:
    items = [f"q{k}" for k in range(len(cells))]
    return {"item": items, **{name: [row[k] for row in cells] for k, name in enumerate(JURORS)}}


def long(cells: Cells) -> Table:
    said = [(k, name, vote) for k, row in enumerate(cells) for name, vote in zip(JURORS, row, strict=True) if vote]
    items, names, votes = zip(*said, strict=True)
    return {"item": [f"q{k}" for k in items], "juror": list(names), "label": list(votes)}


def counts(cells: Cells) -> Table:
    tuples = Counter(map(tuple, cells))
    columns: Table = {name: [said[k] for said in tuples] for k, name in enumerate(JURORS)}
    return {**columns, "count": list(tuples.values())}


LAYOUTS: dict[str, tuple[Callable[[Cells], Table], dict[str, Any]]] = {
    "wide": (wide, {"layout": "wide", "item": "item"}),
    "long": (long, {"layout": "long", "item": "item", "juror": "juror", "label": "label"}),
    "counts": (counts, {"layout": "counts", "count": "count"}),
}


def records(table: Table) -> list[dict[str, Any]]:
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def delimited(table: Table, delimiter: str) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerows([list(table), *zip(*table.values(), strict=True)])
    return text.getvalue().encode()


def parquet(table: Table) -> bytes:
    sink = io.BytesIO()
    pyarrow.parquet.write_table(pa.table(table), sink)
    return sink.getvalue()


FILES: dict[str, Callable[[Table], bytes]] = {
    "csv": lambda table: delimited(table, ","),
    "tsv": lambda table: delimited(table, "\t"),
    "csv.gz": lambda table: gzip.compress(delimited(table, ",")),
    "json": lambda table: json.dumps(records(table)).encode(),
    "jsonl": lambda table: "\n".join(map(json.dumps, records(table))).encode(),
    "parquet": parquet,
}
FRAMES: dict[str, Callable[[Table], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
    "arrow": pa.table,
    "duckdb": lambda table: duckdb.connect().from_arrow(pa.table(table)),
}


def truth(cells: Cells) -> Sketch:
    return Sketch.from_votes(Votes.from_matrix(cells, jurors=JURORS))


def as_file(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def in_every_form(cells: Cells, layout: str, folder: Path) -> dict[str, Any]:
    """Each form's name, and what holds the votes in it."""
    table = LAYOUTS[layout][0](cells)
    files = {form: as_file(folder, f"votes.{form}", write(table)) for form, write in FILES.items()}
    return {**files, **{form: make(table) for form, make in FRAMES.items()}}


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cells=matrices())
def test_one_sketch_from_every_format(layout: str, cells: Cells, tmp_path: Path) -> None:
    expected, options = truth(cells), LAYOUTS[layout][1]
    forms = in_every_form(cells, layout, tmp_path)
    differing = [form for form, source in forms.items() if as_sketch(source, **options) != expected]
    assert differing == []


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cells=matrices())
def test_one_sketch_from_arrays_and_sketch_files(cells: Cells, tmp_path: Path) -> None:
    expected = truth(cells)
    place = {label: k for k, label in enumerate(LABELS)}
    codes = np.array([[-1 if vote is None else place[vote] for vote in row] for row in cells])
    np.savez(tmp_path / "votes.npz", votes=codes, jurors=np.array(JURORS), classes=np.array(LABELS))
    as_file(tmp_path, "votes.sketch.json", text_of(expected.tuples).encode())
    assert as_sketch(np.array(cells, dtype=object), jurors=JURORS) == expected
    assert as_sketch(cells, jurors=JURORS) == expected
    assert as_sketch(tmp_path / "votes.npz") == expected
    assert as_sketch(tmp_path / "votes.sketch.json") == expected
