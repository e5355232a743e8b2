"""A sketch counted in DuckDB is the sketch of the votes read whole, and every fault has the same message."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from strategies import examples

from jurors.errors import OptionError, VotesError
from jurors.sketch import count as count_files
from jurors.sketch.count import _pairs, _Panel, _tail, read_sketch
from jurors.sketch.sketch import Sketch
from jurors.votes.io.duckdb_table import TablePart
from jurors.votes.read import read_votes

FORMATS = ("csv", "jsonl", "json", "parquet")
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
@given(rows=wide_rows)
def test_wide_files_without_items_count_as_their_votes(kind: str, rows: list[tuple[Any, ...]], tmp_path: Path) -> None:
    columns = dict(zip(("ann", "bob", "cy"), map(list, zip(*rows, strict=True)), strict=True))
    assert_same(write(tmp_path / f"v.{kind}", columns), missing=("NA",))


@pytest.mark.parametrize("kind", FORMATS)
@slow
@given(rows=wide_rows, data=st.data())
def test_wide_files_with_items_count_as_their_votes(
    kind: str, rows: list[tuple[Any, ...]], data: st.DataObject, tmp_path: Path
) -> None:
    columns = dict(zip(("ann", "bob", "cy"), map(list, zip(*rows, strict=True)), strict=True))
    names = data.draw(
        st.lists(st.integers(0, 40) | st.none(), min_size=len(rows), max_size=len(rows))
        | st.lists(st.integers(0, 1 << 40), min_size=len(rows), max_size=len(rows), unique=True)
        | st.lists(st.sampled_from(["a", "a ", "b", "", "nan", "c"]), min_size=len(rows), max_size=len(rows))
    )
    assert_same(write(tmp_path / f"v.{kind}", {"item": names, **columns}))


@pytest.mark.parametrize("kind", FORMATS)
@slow
@given(rows=wide_rows, data=st.data())
def test_counts_add_up_as_in_the_votes(
    kind: str, rows: list[tuple[Any, ...]], data: st.DataObject, tmp_path: Path
) -> None:
    columns = dict(zip(("ann", "bob", "cy"), map(list, zip(*rows, strict=True)), strict=True))
    sizes = data.draw(st.lists(st.integers(-1, 1 << 53), min_size=len(rows), max_size=len(rows)))
    assert_same(write(tmp_path / f"v.{kind}", {**columns, "count": sizes}))


@pytest.mark.parametrize("kind", FORMATS)
@slow
@given(rows=long_rows, names=st.lists(item, min_size=7, max_size=7))
def test_long_files_count_as_their_votes(
    kind: str, rows: list[tuple[int, str, Any]], names: list[Any], tmp_path: Path
) -> None:
    if kind == "parquet" and len({type(name) for name in names}) > 1:
        names = [str(name) for name in names]
    columns = {
        "item": [names[k] for k, _, _ in rows],
        "juror": [juror for _, juror, _ in rows],
        "label": [label for _, _, label in rows],
    }
    path = write(tmp_path / f"v.{kind}", columns)
    assert_same(path, missing=["NA"])
    assert_same(path, duplicates="last")


@pytest.mark.parametrize("jurors", [1, 9, 31, 32, 80])
@pytest.mark.parametrize("labels", [2, 3, 4, 15])
def test_any_number_of_jurors_and_labels_fits_the_keys(jurors: int, labels: int, tmp_path: Path) -> None:
    votes = [(k, f"j{j}", f"L{(k * 7 + j * j) % labels}") for k in range(60) for j in range(jurors) if (k + j) % 5]
    columns = {name: [row[c] for row in votes] for c, name in enumerate(("item", "juror", "label"))}
    sketch = assert_same(write(tmp_path / "v.parquet", columns))
    assert len(sketch[0]) == jurors


# -- what must not be missed ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_votes_themselves_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("the votes were held")

    monkeypatch.setattr("jurors.votes.read.votes_of", refuse)
    rows = [(k, j, "yes" if (k + ord(j)) % 3 else "no") for k in range(50) for j in "abc"]
    for kind in FORMATS:
        long = {name: [row[c] for row in rows] for c, name in enumerate(("item", "juror", "label"))}
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
    columns = {name: [row[c] for row in rows] for c, name in enumerate(("item", "juror", "label"))}
    jurors = assert_same(write(tmp_path / "v.csv", columns))[0]
    assert "a late one" in jurors


@pytest.mark.parametrize(
    "text",
    [
        "item,juror,label\nq1,ann,yes\nq1,ann,yes\n",
        "item,juror,label\nq1,ann,yes\n,bob,no\n",
        "item,juror,label\nq1,ann,yes\nq1, ,no\n",
        "item,juror,label\nq1,ann,\nq1,bob, \n",
        "item,a,b\nq1,x,y\nq1,y,\n",
        "item,a,b\nq1,x,y\n,y,\n",
        "a,b\n,\n,\n",
        "a,b,count\nx,y,3\nx,y,1.5\n",
        "a,b,count\nx,y,9223372036854775807\nx,y,1\n",
        "item,a,b,count\nq1,x,y,3\n,y,x,1\n",
        "a,b\nx,y\nx,y,z\n",
    ],
)
def test_a_fault_is_reported_in_the_same_words(text: str, tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text(text)
    assert isinstance(assert_same(path), str)


def test_rows_of_one_item_are_one_item() -> None:
    text = "item,a,b\nq1,x,\nq2,y,y\nq1,,y\n"
    assert read_sketch(io.StringIO(text)).to_counts() == {("x", "y"): 1, ("y", "y"): 1}


def test_labels_must_be_among_the_named_ones() -> None:
    for text in ("a,b\nyes,no\n", "item,juror,label\n1,a,yes\n1,b,no\n"):
        assert read_sketch(io.StringIO(text), labels=("yes", "no")).labels == ("yes", "no")
        with pytest.raises(VotesError, match="label 'no' is not among the labels yes, nein"):
            read_sketch(io.StringIO(text), labels=("yes", "nein"))


def test_a_sparse_panel_stays_one_row_per_item(tmp_path: Path) -> None:
    rows = [(k, f"j{(k * 31 + d) % 3000:04}", str(d)) for k in range(3000) for d in (0, 1)]
    columns = {name: [row[c] for row in rows] for c, name in enumerate(("item", "juror", "label"))}
    path = write(tmp_path / "v.parquet", columns)
    tuples, whole = read_sketch(path).tuples, Sketch.from_votes(read_votes(path)).tuples
    assert not tuples.is_dense
    assert [a.tolist() for a in tuples.triples()] == [a.tolist() for a in whole.triples()]


@pytest.mark.slow
def test_little_memory_is_enough(tmp_path: Path) -> None:
    n = 300_000
    columns = {"item": [f"item {k}" for k in range(n)], "a": ["x", "y", "x"] * (n // 3), "b": ["x", "y"] * (n // 2)}
    path = write(tmp_path / "v.parquet", columns)
    assert read_sketch(path, memory="60MB").items == n


def test_too_little_memory_is_reported_in_one_line(tmp_path: Path) -> None:
    path = write(tmp_path / "v.csv", {"a": ["x", "y"], "b": ["y", "y"]})
    with pytest.raises(VotesError, match=r"v\.csv: reading needs more memory than it was allowed.*--memory"):
        read_sketch(path, memory="1KB")


@pytest.mark.parametrize("size", ["2", "lots", "0GB", "-1GB", "2GB2", ""])
def test_a_memory_that_is_no_size_is_refused(size: str) -> None:
    for read in (read_votes, read_sketch):
        with pytest.raises(OptionError, match="memory must be a size such as 2GB"):
            read(io.StringIO("a,b\nx,y\n"), memory=size)


@pytest.mark.slow
def test_progress_is_reported_while_the_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jurors.votes.io.duckdb_table._POLL_SECONDS", 0.002)
    n = 400_000
    path = tmp_path / "v.csv"
    path.write_text("item,juror,label\n" + "".join(f"item {k},j{k % 5},yes\n" for k in range(n)))
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


def table_of(path: Path, lines: list[str], *, parts: int = 1) -> Any:
    path.write_text("\n".join(["item,juror,label", *lines]) + "\n")
    read = f"(SELECT item AS c0, juror AS c1, label AS c2 FROM read_csv('{path}', all_varchar=true))"
    part = TablePart(path, path.name, "csv", names=("item", "juror", "label"), delimiter=",")
    return SimpleNamespace(parts=[part] * parts, con=duckdb.connect(), sql=read)


HEAD = ["1,ann,A", "1,bob,", "2,ann,B", "2,bob,A"]


@pytest.mark.parametrize(
    ("tail", "parts", "from_head"),
    [
        (["3,ann,B", "3,bob,", "", "4,ann,A"], 1, True),
        (["3,ann,", "4,ann,A"], 1, False),
        (["3,cy,A", "4,ann,A"], 1, False),
        (["3,ann,B", "4,ann,A"], 2, False),
    ],
    ids=["known", "an empty vote more", "a juror more", "two files"],
)
def test_the_head_gives_the_pairs_where_the_tail_has_no_others(
    tail: list[str], parts: int, from_head: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(count_files, "_HEAD_ROWS", 4)
    table = table_of(tmp_path / "votes.csv", [*HEAD, *tail], parts=parts)
    ways = list(_pairs(table, 1, 2))
    assert ways == [*(["FROM head"] if from_head else []), f"SELECT DISTINCT c1, c2 FROM {table.sql}"]
    if from_head:
        assert set(table.con.execute("FROM head").fetchall()) == {
            ("ann", "A"),
            ("bob", None),
            ("ann", "B"),
            ("bob", "A"),
        }


def test_the_tail_starts_at_a_whole_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (part,) = table_of(tmp_path / "votes.csv", HEAD).parts
    assert _tail(part) == [line.split(",") for line in HEAD]
    monkeypatch.setattr(count_files, "_TAIL_BYTES", 12)
    assert _tail(part) == [["2", "bob", "A"]]
    (short,) = table_of(tmp_path / "votes.csv", [*HEAD, "3,ann"]).parts
    assert _tail(short) == []


def test_votes_are_packed_into_keys_and_read_again() -> None:
    # four labels or none need 3 bits: 20 jurors to a key of 62 bits, two keys for 21
    juror, code = np.array([0, 1, 19, 20, 2]), np.array([3, 0, 2, 1, -1])
    panel = _Panel(tuple(range(21)), tuple("ABCD"), juror, code)
    assert (panel.width, panel.a_key, panel.keys) == (3, 20, 2)
    first, second, vote = panel.columns()
    assert first == [4, 1 << 3, 3 << 57, 0, 0]
    assert second == [0, 0, 0, 2, 0]
    assert vote == [1, 1, 1, 1, None]
    keys = [np.array([4 + (1 << 3) + (3 << 57), 0]), np.array([2, 0])]
    expected = np.full((2, 21), -1)
    expected[0, [0, 1, 19, 20]] = [3, 0, 2, 1]
    assert np.array_equal(panel.codes(keys), expected)


@pytest.mark.parametrize(
    ("items", "fine"),
    [
        ([4, 5, 6], True),
        ([4, 6, 4], False),
        ([-2_000_000_000, 0, 2_000_000_000], True),  # farther apart than bits can be
        ([-2_000_000_000, 2_000_000_000, 2_000_000_000], False),
        ([10**15, 10**15 + 2, 10**15 + 1], True),
        ([4, None, 6], False),
    ],
    ids=["near", "near and twice", "far apart", "far apart and twice", "large", "missing"],
)
def test_whole_items_are_fine_where_each_comes_once(items: list[int | None], fine: bool) -> None:
    con = duckdb.connect()
    rows = ", ".join(f"({'NULL' if item is None else item}::BIGINT)" for item in items)
    table: Any = SimpleNamespace(
        con=con, sql=f"(VALUES {rows}) AS votes(c0)", watched=con.execute, types=["BIGINT"], cell=lambda k: f"c{k}"
    )
    assert count_files._are_items_named(table, 0, repeated=False) is fine
    assert count_files._are_items_named(table, 0, repeated=True) is (None not in items)
