"""A sketch counted in DuckDB is the sketch of the votes read whole, and every fault has the same message."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from strategies import examples

from jurors.errors import VotesError
from jurors.sketch import count as count_files
from jurors.sketch.count import read_sketch
from jurors.sketch.sketch import Sketch
from jurors.votes.io import duckdb_table
from jurors.votes.read import read_votes

CASES = json.loads((Path(__file__).parent / "tables.json").read_text(encoding="utf-8"))
FORMATS = ("csv", "jsonl", "json", "parquet")


@pytest.fixture(autouse=True)
def counted_by_duckdb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duckdb_table, "plain_cells", lambda *_: None)  # which small files need not


slow = examples(15, suppress_health_check=[HealthCheck.function_scoped_fixture])

item = st.one_of(st.integers(-3, 40), st.sampled_from(["q1", " q1", "q2\u3000", "é", "007", "7"]))
vote = st.sampled_from([None, "yes", "no", " yes", "NA", "1", "nan"])
long_rows = st.lists(st.tuples(st.integers(0, 6), st.sampled_from(["ann", "bob ", "bob", "cy"]), vote), min_size=1)
wide_rows = st.lists(st.tuples(vote, vote, vote), min_size=1, max_size=30)


def write(path: Path, columns: dict[str, list[Any]]) -> Path:
    rows = list(zip(*columns.values(), strict=True))
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.table(columns), path)
    elif path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([list(columns), *rows])
    else:
        records = [json.dumps(dict(zip(columns, row, strict=True))) for row in rows]
        path.write_text("[" + ",".join(records) + "]" if path.suffix == ".json" else "\n".join(records) + "\n")
    return path


def long_columns(rows: Iterable[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return dict(zip(("item", "juror", "label"), map(list, zip(*rows, strict=True)), strict=True))


def outcome(read: Callable[[], Sketch]) -> Any:
    """What came out, to the order of the rows, or what was wrong."""
    try:
        sketch = read()
    except VotesError as error:
        return str(error)
    return (
        sketch.jurors,
        sketch.labels,
        [type(label) for label in sketch.labels],
        sketch.tuples.is_dense,
        sketch.tuples.codes.tolist(),
        sketch.counts.tolist(),
    )


def assert_same(source: Any, **options: Any) -> Any:
    whole = outcome(lambda: Sketch.from_votes(read_votes(source, **options)))
    assert outcome(lambda: read_sketch(source, **options)) == whole
    return whole


# -- laws -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FORMATS)
@slow
@given(rows=wide_rows, data=st.data())
def test_wide_files_count_as_their_votes(
    kind: str, rows: list[tuple[Any, ...]], data: st.DataObject, tmp_path: Path
) -> None:
    columns = dict(zip(("ann", "bob", "cy"), map(list, zip(*rows, strict=True)), strict=True))
    assert_same(write(tmp_path / f"v.{kind}", columns), missing=("NA",))
    size: Any = {"min_size": len(rows), "max_size": len(rows)}
    names = data.draw(
        st.lists(st.integers(0, 40) | st.none(), **size)
        | st.lists(st.integers(0, 1 << 40), unique=True, **size)
        | st.lists(st.sampled_from(["a", "a ", "b", "", "nan", "c"]), **size)
    )
    assert_same(write(tmp_path / f"items.{kind}", {"item": names, **columns}))
    counts = data.draw(st.lists(st.integers(-1, 1 << 53), **size))
    assert_same(write(tmp_path / f"counts.{kind}", {**columns, "count": counts}))


@pytest.mark.parametrize("kind", FORMATS)
@slow
@given(rows=long_rows, names=st.lists(item, min_size=7, max_size=7))
def test_long_files_count_as_their_votes(
    kind: str, rows: list[tuple[int, str, Any]], names: list[Any], tmp_path: Path
) -> None:
    if kind == "parquet" and len({type(name) for name in names}) > 1:
        names = [str(name) for name in names]
    path = write(tmp_path / f"v.{kind}", long_columns((names[k], *vote) for k, *vote in rows))
    assert_same(path, missing=["NA"])
    assert_same(path, duplicates="last")


@pytest.mark.parametrize(("jurors", "labels"), [(1, 2), (31, 2), (32, 2), (32, 3), (20, 4), (80, 4), (9, 15)])
def test_any_number_of_jurors_and_labels_fits_the_keys(jurors: int, labels: int, tmp_path: Path) -> None:
    votes = [(k, f"j{j}", f"L{(k * 7 + j * j) % labels}") for k in range(60) for j in range(jurors) if (k + j) % 5]
    assert len(assert_same(write(tmp_path / "v.parquet", long_columns(votes)))[0]) == jurors


# -- what must not be missed ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_votes_themselves_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("the votes were held")

    monkeypatch.setattr("jurors.votes.read.votes_of", refuse)
    rows = [(k, j, "yes" if (k + ord(j)) % 3 else "no") for k in range(50) for j in "abc"]
    for kind in FORMATS:
        long = long_columns(rows)
        assert read_sketch(write(tmp_path / f"long.{kind}", long)).items == 50
        wide: dict[str, list[Any]] = {"id": list(range(20)), "ann": ["x", "y"] * 10, "bob": ["y"] * 20}
        assert read_sketch(write(tmp_path / f"wide.{kind}", wide)).items == 20
        assert read_sketch(write(tmp_path / f"text.{kind}", wide | {"id": [f"q{k}" for k in range(20)]})).items == 20
        counts = {"ann": wide["ann"], "bob": wide["bob"], "count": list(range(20))}
        assert read_sketch(write(tmp_path / f"sums.{kind}", counts)).items == 190
        blanks = long | {"item": [f"{' ' * (k % 2)}q{name}" for k, name in enumerate(long["item"])]}
        assert read_sketch(write(tmp_path / f"blanks.{kind}", blanks)).items == 50


def test_a_juror_after_the_head_of_the_file_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count_files, "_HEAD_ROWS", 10)
    monkeypatch.setattr(count_files, "_TAIL_BYTES", 40)
    rows = [(k, j, "yes") for j in ("a", "b", "a late one", "c") for k in range(30 if j != "a late one" else 3)]
    rows += [(k, j, "no") for k in range(30, 60) for j in "abc"]
    assert "a late one" in assert_same(write(tmp_path / "v.csv", long_columns(rows)))[0]


@pytest.mark.parametrize("text", CASES["faults"].values(), ids=CASES["faults"])
def test_a_fault_is_reported_in_the_same_words(text: str, tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text(text)
    assert isinstance(assert_same(path), str)


def test_labels_must_be_among_the_named_ones() -> None:
    for text in ("a,b\nyes,no\n", "item,juror,label\n1,a,yes\n1,b,no\n"):
        assert read_sketch(io.StringIO(text), labels=("yes", "no")).labels == ("yes", "no")
        with pytest.raises(VotesError, match="label 'no' is not among the labels yes, nein"):
            read_sketch(io.StringIO(text), labels=("yes", "nein"))


def test_a_sparse_panel_stays_one_row_per_item(tmp_path: Path) -> None:
    rows = [(k, f"j{(k * 31 + d) % 3000:04}", str(d)) for k in range(3000) for d in (0, 1)]
    path = write(tmp_path / "v.parquet", long_columns(rows))
    tuples, whole = read_sketch(path).tuples, Sketch.from_votes(read_votes(path)).tuples
    assert not tuples.is_dense
    assert [a.tolist() for a in tuples.triples()] == [a.tolist() for a in whole.triples()]


@pytest.mark.slow
def test_little_memory_is_enough_and_too_little_is_reported_in_one_line(tmp_path: Path) -> None:
    path = write(tmp_path / "v.csv", {"a": ["x", "y"], "b": ["y", "y"]})
    with pytest.raises(VotesError, match=r"v\.csv: reading needs more memory than it was allowed.*memory="):
        read_sketch(path, memory="1KB")
    n = 300_000
    columns = {"item": [f"item {k}" for k in range(n)], "a": ["x", "y", "x"] * (n // 3), "b": ["x", "y"] * (n // 2)}
    assert read_sketch(write(tmp_path / "v.parquet", columns), memory="60MB").items == n


@pytest.mark.slow
def test_progress_is_reported_while_the_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jurors.votes.io.duckdb_table._POLL_SECONDS", 0.002)
    path = tmp_path / "v.csv"
    path.write_text("item,juror,label\n" + "".join(f"item {k},j{k % 5},yes\n" for k in range(400_000)))
    shares: list[float] = []
    read_sketch(path, progress=shares.append)
    assert shares
    assert all(0 < share <= 1 for share in shares)


@pytest.mark.slow
def test_duckdb_shows_no_bar_of_its_own_where_python_looks_interactive(tmp_path: Path) -> None:
    path = write(tmp_path / "v.csv", {"a": ["x", "y"], "b": ["y", "y"]})
    settings = "current_setting('enable_progress_bar') AND current_setting('enable_progress_bar_print')"
    code = (  # `python -c` is interactive to DuckDB
        "import sys, duckdb; from jurors.options import Reading; from jurors.votes.io.duckdb_table import open_source\n"
        f"ask = lambda con: con.execute({'SELECT ' + settings!r}).fetchone()[0]\n"
        "seen = [ask(duckdb.connect())]\n"
        "for progress in (None, id):\n"
        "    with open_source(sys.argv[1], Reading(progress=progress)) as table: seen.append(ask(table.con))\n"
        "print(seen)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[True, False, False]"


@pytest.mark.parametrize(
    "items",
    [
        [4, 5, 6],
        [4, 6, 4],
        [-2_000_000_000, 0, 2_000_000_000],  # farther apart than bits can be
        [-2_000_000_000, 2_000_000_000, 2_000_000_000],
        [10**15, 10**15 + 2, 10**15 + 1],
        [4, None, 6],
    ],
    ids=["near", "near and twice", "far apart", "far apart and twice", "large", "missing"],
)
def test_items_may_be_whole_numbers_of_any_size(items: list[int | None], tmp_path: Path) -> None:
    columns: dict[str, list[Any]] = {"item": items, "a": ["x", "y", None], "b": ["x", "x", "y"]}
    assert_same(write(tmp_path / "v.parquet", columns))
    assert_same(write(tmp_path / "counts.parquet", {**columns, "count": [1, 2, 3]}))
