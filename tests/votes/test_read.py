"""Reading files: every format and layout gives the votes that were written; every bad file one clear line."""

import contextlib
import csv
import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from strategies import examples
from votes.panels import cells

from jurors.errors import JurorsError, VotesError
from jurors.options import Reading
from jurors.votes.io.duckdb_table import open_table
from jurors.votes.read import read_votes

FORMATS = ("csv", "tsv", "semicolon.csv", "crlf.csv", "bom.csv", "csv.gz", "jsonl", "jsonl.gz", "json", "parquet")
JURORS = ("ann", "bob", "cy")

word = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs"), include_characters='",;\n'), max_size=5)
name = word.map(str.strip).filter(bool)
record = st.lists(st.one_of(st.none(), st.sampled_from(["yes", "no", "01", "1", 'a "b"', "x,y;z", "é\nü"])), min_size=3)
tables = st.lists(record.map(lambda r: r[:3]), min_size=1, max_size=6).filter(lambda t: any(c for r in t for c in r))
slow = examples(12, suppress_health_check=[HealthCheck.function_scoped_fixture])


def write(path: Path, columns: dict[str, list[Any]]) -> Path:
    """Write columns in the format the file's name says."""
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    kind = path.name.split(".", 1)[1]
    if kind == "parquet":
        pyarrow.parquet.write_table(pyarrow.table(columns), path)
        return path
    if kind.startswith("json"):
        text = json.dumps(records) if kind == "json" else "".join(json.dumps(record) + "\n" for record in records)
    else:
        out = io.StringIO()
        separator = "\t" if kind == "tsv" else ";" if kind.startswith("semi") else ","
        writer = csv.writer(out, delimiter=separator, lineterminator="\r\n" if kind.startswith("crlf") else "\n")
        writer.writerows([list(columns), *zip(*columns.values(), strict=True)])
        text = ("\ufeff" if kind.startswith("bom") else "") + out.getvalue()
    path.write_bytes(gzip.compress(text.encode()) if kind.endswith("gz") else text.encode())
    return path


def fails(source: Any, **options: Any) -> str:
    """The message of the VotesError that reading this raises: one line."""
    with pytest.raises(JurorsError) as caught:
        read_votes(source, **options)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    return message


# -- laws -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FORMATS)
@slow
@given(rows=tables)
def test_votes_are_read_as_they_were_written(kind: str, rows: list[list[Any]], tmp_path: Path) -> None:
    items = [f"q{k}" for k in range(len(rows))]
    wide = {"item": items} | {j: [row[k] for row in rows] for k, j in enumerate(JURORS)}
    flat = [(item, j, cell) for item, row in zip(items, rows, strict=True) for j, cell in zip(JURORS, row, strict=True)]
    long = {role: [vote[k] for vote in flat] for k, role in enumerate(("task", "Worker_ID", "label"))}
    for columns in (wide, long):
        votes = read_votes(write(tmp_path / f"v.{kind}", columns))
        assert (votes.jurors, votes.item_names().tolist(), cells(votes)) == (JURORS, items, rows)


@pytest.mark.parametrize("kind", FORMATS)
@slow
@given(rows=tables, data=st.data())
def test_counts_are_read_exactly(kind: str, rows: list[list[Any]], data: st.DataObject, tmp_path: Path) -> None:
    counts = data.draw(st.lists(st.integers(0, 2**53 + 1), min_size=len(rows), max_size=len(rows)))
    columns = {j: [row[k] for row in rows] for k, j in enumerate(JURORS)} | {"count": counts}
    votes = read_votes(write(tmp_path / f"v.{kind}", columns))
    assert votes.counts is not None
    assert votes.counts.tolist() == counts
    assert cells(votes) == rows


@slow
@given(rows=tables, names=st.lists(name, min_size=3, max_size=3, unique=True))
def test_renaming_jurors_commutes_with_reading(rows: list[list[Any]], names: list[str], tmp_path: Path) -> None:
    columns = {n: [row[k] for row in rows] for k, n in enumerate(names)}
    votes = read_votes(write(tmp_path / "v.csv", columns), layout="wide", item=None)
    plain = read_votes(write(tmp_path / "v.csv", dict(zip(JURORS, columns.values(), strict=True))))
    renamed = [n for n in names if n in votes.jurors]
    assert cells(votes) == cells(plain.take([JURORS[names.index(n)] for n in renamed]))


@pytest.mark.parametrize("kind", ["jsonl", "json", "parquet"])
@pytest.mark.parametrize("labels", [(False, True), (0, 1), (-1, 2, 30), ("01", "1"), (0.5, 1.0)])
def test_typed_formats_keep_the_type_of_labels(kind: str, labels: tuple[Any, ...], tmp_path: Path) -> None:
    column = [*labels, None, *labels]
    votes = read_votes(write(tmp_path / f"v.{kind}", {"item": list(range(len(column))), "a": column, "b": column}))
    assert votes.labels == labels
    assert [type(label) for label in votes.labels] == [type(label) for label in labels]
    assert votes.item_names().tolist() == list(range(len(column)))


def test_ten_thousand_rows_keep_their_order(tmp_path: Path) -> None:
    n = 30_000
    columns = {"item": [f"q{k * 7919 % 10_000}" for k in range(n)], "juror": [f"j{k // 10_000}" for k in range(n)]}
    votes = read_votes(write(tmp_path / "v.csv", columns | {"label": [str(k % 7) for k in range(n)]}))
    assert votes.item_names().tolist() == columns["item"][:10_000]
    assert cells(votes) == [[str((k + j * 10_000) % 7) for j in range(3)] for k in range(10_000)]


# -- what is understood ---------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [127, 128, 129])
def test_codes_of_many_labels_leave_room_for_an_empty_cell(labels: int) -> None:
    rows = [(f"i{k // 2}", "ab"[k % 2], f"L{k % labels}" if k != 5 else "") for k in range(2 * labels)]
    votes = read_votes(io.StringIO("item,juror,label\n" + "".join(",".join(row) + "\n" for row in rows)))
    said = np.array([*votes.labels, None], dtype=object)[votes.codes]
    assert said.ravel().tolist() == [row[2] or None for row in rows]


def test_standard_input_is_told_by_its_content(monkeypatch: pytest.MonkeyPatch) -> None:
    for data in (
        b"id,a,b\n1,x,y\n",
        b"id\ta\tb\n1\tx\ty\n",
        b'{"id": "1", "a": "x", "b": "y"}\n',
        b'[{"id": "1", "a": "x", "b": "y"}]',
        gzip.compress(b"id;a;b\n1;x;y\n"),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        votes = read_votes("-")
        assert (votes.jurors, cells(votes), votes.item_names().tolist()) == (("a", "b"), [["x", "y"]], ["1"])


def test_a_juror_who_joins_late_in_json_is_not_missed() -> None:
    lines = ['{"a": "x", "b": "y"}'] * 25_000 + ['{"a": "x", "late": "y"}']
    assert read_votes(io.BytesIO("\n".join(lines).encode())).jurors == ("a", "b", "late")


def test_parquet_floats_with_gaps_are_the_whole_numbers_they_were(tmp_path: Path) -> None:
    columns: dict[str, list[Any]] = {"a": [0.0, 1.0, None], "b": [1, 0, 1], "c": [1.0, float("nan"), 0.0]}
    votes = read_votes(write(tmp_path / "v.parquet", columns))
    assert cells(votes) == [[0, 1, 1], [1, 0, None], [None, 1, 0]]
    assert all(type(label) is int for label in votes.labels)


@pytest.mark.parametrize("folder", ["label=1", "a'b", "[x]*"])
@pytest.mark.parametrize(
    ("file", "kind"),
    [("v[1].csv", "csv"), ("v?.jsonl", "jsonl"), ("v.csv.gz", "csv"), ("v", "parquet"), ("v.csv", "parquet")],
)
def test_the_name_of_a_file_is_only_a_name(folder: str, file: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / folder).mkdir()
    path = write(tmp_path / f"plain.{kind}", {"a": ["x"], "b": ["y"]}).rename(tmp_path / folder / file)
    assert (read_votes(path).jurors, read_votes(str(path)).labels) == (("a", "b"), ("x", "y"))


# -- what is refused, in one line --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csv", "tsv", "json", "jsonl", "parquet", "csv.gz", "jsonl.gz", "txt", "dat"])
@given(noise=st.binary(min_size=40, max_size=400).map(lambda b: b"\x00\x9c" + b))
@examples(25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_binary_noise_is_refused_under_any_name(kind: str, noise: bytes, tmp_path: Path) -> None:
    (tmp_path / f"noise.{kind}").write_bytes(noise)
    assert f"noise.{kind}" in fails(tmp_path / f"noise.{kind}")


@pytest.mark.parametrize("kind", ["csv", "json", "jsonl", "parquet", "csv.gz", "txt"])
@given(noise=st.binary(max_size=80) | st.text('{}[]",:;\n\r\t ab1é\x1f', max_size=40).map(str.encode))
@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_bytes_only_votes_or_a_votes_error_come_out(kind: str, noise: bytes, tmp_path: Path) -> None:
    (tmp_path / f"noise.{kind}").write_bytes(noise)
    with contextlib.suppress(VotesError):
        assert read_votes(tmp_path / f"noise.{kind}").n_votes > 0


def test_a_file_that_is_not_there_suggests_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("a\n")
    assert f"did you mean '{tmp_path / 'votes.csv'}'" in fails(tmp_path / "vote.csv")
    assert fails(tmp_path / "overt.csv").endswith("there is no such file")
    assert "no such file" in fails(tmp_path / "nowhere" / "vote.csv")
    (tmp_path / "void").mkdir()
    assert "this folder holds no file of votes" in fails(tmp_path / "void")
    assert "cannot be read" in fails("x" * 9_000)
    assert "io.StringIO" in fails("item,juror,label\nq1,ann,yes\n")


def test_nothing_is_fetched_from_the_network_while_reading(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("item,ann,bob\n1,a,b\n2,b,b\n")
    with open_table(tmp_path / "votes.csv", Reading()) as table:
        asked = table.con.execute("SELECT current_setting('autoinstall_known_extensions')").fetchall()
    assert asked == [(False,)]


def test_a_count_of_thousands_of_digits_is_one_line() -> None:
    with pytest.raises(VotesError, match=r"row 1, column 'count': a count can be [\d,]+ at most; found '9{9}") as told:
        read_votes(io.StringIO(f"ann,bob,count\nyes,no,{'9' * 5_000}\nno,no,3\n"), layout="counts")
    assert len(str(told.value)) < 200


@pytest.mark.parametrize("name", ["votes.jsonl", "votes.json"])
def test_a_number_of_thousands_of_digits_in_json_is_one_line(tmp_path: Path, name: str) -> None:
    rows = [f'{{"item": {k or "9" * 5_000}, "juror": "{juror}", "label": "yes"}}' for k in range(3) for juror in "ab"]
    (tmp_path / name).write_text("\n".join(rows) if name.endswith("l") else f"[{','.join(rows)}]")
    assert "has a whole number of more than 4,300 digits" in fails(tmp_path / name)
