"""Tables that are not what they seem: each is told apart in one line that says what to do."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

import pytest

from jurors import VotesError, read_votes
from jurors.sketch import Sketch, read_sketch


@pytest.mark.parametrize("read", [read_votes, read_sketch])
def test_one_vote_per_row_with_a_juror_column_of_another_name_points_to_it(read: object) -> None:
    text = "item,who,label\n1,a,x\n1,b,y\n2,a,y\n2,b,y\n"
    with pytest.raises(VotesError, match=r"one vote per row: try juror='who' \(--juror who\)"):
        read(io.StringIO(text))  # type: ignore[operator]
    assert read_votes(io.StringIO(text), juror="who").jurors == ("a", "b")
    with pytest.raises(VotesError, match="votes more than once"):
        read_votes(io.StringIO(text), layout="wide")


def test_cells_set_apart_by_blanks_are_told() -> None:
    with pytest.raises(VotesError, match="the only column is 'a b c'; set cells apart by commas"):
        read_votes(io.StringIO("a b c\nyes no yes\n"))
    assert read_votes(io.StringIO("my judge\nyes\n"), layout="wide").jurors == ("my judge",)


def test_a_first_line_without_end_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("x" * 2_000_000)
    with pytest.raises(VotesError, match=r"the first line has a cell of more than 131,072 characters"):
        read_votes(tmp_path / "one.csv")


@pytest.mark.slow
def test_a_wide_first_line_is_no_long_cell() -> None:
    names = [f"juror number {k:0100}" for k in range(1_500)]  # together longer than a cell may be
    assert len(";".join(names)) > csv.field_size_limit()
    votes = read_votes(io.StringIO(";".join(names) + "\n" + ";".join("x" * len(names)) + "\n"))
    assert len(votes.jurors) == len(names)


def test_a_huge_cell_tells_the_length_and_the_limit(tmp_path: Path) -> None:
    (tmp_path / "huge.csv").write_text(f"item,a,b\n1,{'x' * 20_500_000},y\n")
    with pytest.raises(VotesError, match=r"line 2 is longer than 20,000,000 bytes, .* \(20,500,00\d were read\)"):
        read_votes(tmp_path / "huge.csv")


def test_an_empty_record_and_an_empty_name_are_told(tmp_path: Path) -> None:
    (tmp_path / "obj.json").write_text("{}")
    with pytest.raises(VotesError, match="line 1 is an empty record"):
        read_votes(tmp_path / "obj.json")
    with pytest.raises(VotesError, match=r"^'': the name of the file is empty"):
        read_votes("")
    with pytest.raises(VotesError, match="named twice"):
        read_votes(["-", "-"])


def test_a_parquet_file_cut_short_says_so_without_its_path(tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "votes.parquet"
    parquet.write_table(pyarrow.table({"ann": ["x"], "bob": ["y"]}), path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(VotesError) as raised:
        read_votes(path)
    assert "the Parquet file is damaged" in str(raised.value)
    assert str(raised.value).count(str(tmp_path)) == 1  # only the name in front


def test_a_duckdb_relation_without_pyarrow_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import duckdb

    relation = duckdb.sql("FROM (VALUES ('yes', 'no'), ('no', 'no')) AS votes(ann, bob)")
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(VotesError, match="needs pyarrow: pip install pyarrow"):
        Sketch.from_frame(relation)
