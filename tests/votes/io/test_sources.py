"""Several files are one table; what other tools wrote is found among them; every fault names its file."""

import gzip
import io
import json
import os
import sys
import threading
import tracemalloc
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from command_line import run
from votes.panels import cells

import jurors
from jurors.errors import JurorsError, VotesError
from jurors.sketch.count import read_sketch
from jurors.sketch.sketch import Sketch
from jurors.votes import readers
from jurors.votes.io import duckdb_table
from jurors.votes.io import sources as locate
from jurors.votes.io.csv import FILES, fill_files
from jurors.votes.key import read_votes_with_key
from jurors.votes.read import read_votes
from jurors.votes.readers import Records


def fails(source: Any, **options: Any) -> str:
    """The one line that reading this raises, the same for votes and for their sketch."""
    messages = []
    for read in (read_votes, read_sketch):
        with pytest.raises(JurorsError) as caught:
            read(source, **options)
        messages.append(str(caught.value))
        for one in source if isinstance(source, (list, tuple)) else [source]:
            if hasattr(one, "seek"):
                one.seek(0)
    assert messages[0] == messages[1]
    assert len(messages[0].splitlines()) == 1
    return messages[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three shards of one wide table, columns in different orders, one of them gzipped, beside what is none."""
    (tmp_path / "day1").mkdir()
    (tmp_path / "day1" / "a.csv").write_text("item,ann,bob\n1,x,y\n2,y,y\n")
    (tmp_path / "day1" / "b.csv.gz").write_bytes(gzip.compress(b"item,bob,ann\n3,x,y\n"))
    (tmp_path / "z.csv").write_text("item,ann,bob\n4,x,x\n")
    (tmp_path / "README.md").write_text("These are votes.")
    (tmp_path / ".hidden.csv").write_text("not,votes\n1,2\n")
    (tmp_path / "half.csv.tmp").write_text("item,ann\n1")
    (tmp_path / "_delta_log").mkdir()
    (tmp_path / "_delta_log" / "0.json").write_text('{"protocol": 1}')
    return tmp_path


ALL = (["1", "2", "3", "4"], [["x", "y"], ["y", "y"], ["y", "x"], ["x", "x"]])


def test_a_folder_is_one_table(folder: Path) -> None:
    for source in (folder, str(folder), [folder]):
        votes = read_votes(source)
        assert (votes.item_names().tolist(), cells(votes)) == ALL
    assert read_sketch(folder) == Sketch.from_votes(read_votes(folder))


def test_a_list_is_read_in_its_order(folder: Path) -> None:
    votes = read_votes([folder / "z.csv", str(folder / "day1")])
    assert votes.item_names().tolist() == ["4", "1", "2", "3"]
    assert jurors.grade([_three(folder)]).items == 40


def _three(folder: Path) -> Path:
    path = folder / "day1" / "three.txt"
    rows = ["x,x,x"] * 20 + ["y,y,y"] * 15 + ["x,y,x", "y,y,x", "x,x,y", "y,x,x", "x,y,y"]
    path.write_text("a,b,c\n" + "\n".join(rows) + "\n")
    return path


def test_a_pattern_is_every_file_that_matches(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert read_votes("day1/*").item_names().tolist() == ["1", "2", "3"]
    assert read_votes("**/*.csv").item_names().tolist() == ["1", "2", "4"]
    assert read_votes(["day?", "z.c*"]).rows == 4
    assert "no file matches this pattern" in fails("day2/*.csv")
    (folder / "[z].csv").write_text("item,ann,bob\n9,x,y\n")
    assert read_votes(folder / "[z].csv").item_names().tolist() == ["9"]  # a file of this very name


def test_formats_and_types_may_mix(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("item,ann,bob\nq1,1,2\n")
    (tmp_path / "b.jsonl").write_text('{"item": "q2", "ann": 1, "bob": "2"}\n')
    pyarrow.parquet.write_table(pyarrow.table({"item": ["q3"], "ann": [1], "bob": [2.0]}), tmp_path / "c.parquet")
    votes = read_votes(tmp_path)
    assert (votes.labels, cells(votes)) == (("1", "2"), [["1", "2"]] * 3)
    assert read_sketch(tmp_path).to_counts() == {("1", "2"): 3}


def test_numbers_of_different_size_stay_numbers(tmp_path: Path) -> None:
    for k, kind in enumerate((pyarrow.int8(), pyarrow.int64(), pyarrow.float64())):
        columns = {"item": pyarrow.array([k], kind), "ann": pyarrow.array([1], kind)}
        pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / f"{k}.parquet")
    assert read_votes(tmp_path).labels == (1,)
    assert read_votes([tmp_path / "0.parquet", tmp_path / "1.parquet"]).item_names().tolist() == [0, 1]


def test_a_shard_without_rows_is_fine_but_not_all(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("item,ann,bob\n")
    (tmp_path / "b.csv").write_text("item,ann,bob\n1,x,y\n")
    assert read_votes(tmp_path).rows == 1
    (tmp_path / "b.csv").write_text("item,ann,bob\n")
    assert "no rows" in fails(tmp_path)


def test_streams_and_files_go_together(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_votes([io.StringIO("item,bob,ann\n7,x,y\n"), folder / "z.csv"]).rows == 2
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"item,ann,bob\n7,x,y\n")))
    assert read_votes(["-", folder]).rows == 5


def test_a_key_column_stands_in_every_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("item,ann,bob,gold\n1,x,y,x\n")
    (tmp_path / "b.csv").write_text("gold,item,ann,bob\ny,2,x,y\n")
    votes, key = read_votes_with_key(tmp_path, "gold")
    assert key.align(votes)[1].tolist() == [0, 1]


# -- faults -------------------------------------------------------------------------------------------------------


def test_different_columns_are_told_with_both_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("item,ann,bob\n1,x,y\n")
    (tmp_path / "b.csv").write_text("item,ann,cy\n2,x,y\n")
    message = fails(tmp_path)
    assert f"'bob' only in {tmp_path / 'a.csv'}, 'cy' only in {tmp_path / 'b.csv'}" in message


def test_a_vote_given_in_two_files_is_a_duplicate(tmp_path: Path) -> None:
    for name, label in (("a", "yes"), ("b", "no")):
        (tmp_path / f"{name}.csv").write_text(f"item,juror,label\nq1,ann,{label}\n")
    assert "juror 'ann' votes more than once on item 'q1'" in fails(tmp_path)
    assert cells(read_votes(tmp_path, duplicates="last")) == [["no"]]
    assert read_sketch(tmp_path, duplicates="first").to_counts() == {("yes",): 1}


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        ("item,juror,label\nq2,ann,yes\nq3,ann\n", "line 3 has 2 fields where the header has 3"),
        ("item,juror,label\nq2,ann,yes\n,ann,no\n", "row 2, column 'item'"),
        ("item,juror,label\nq2,ann,yes\nq3,,no\n", "row 2, column 'juror'"),
        ("", "is empty"),
    ],
)
def test_a_fault_names_the_file_that_has_it(bad: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("item,juror,label\nq0,ann,yes\nq1,ann,yes\nq1,bob,no\n")
    (tmp_path / "b.csv").write_text(bad)
    message = fails(tmp_path)
    assert message.startswith(f"{tmp_path / 'b.csv'}: ")
    assert what in message


def test_a_file_that_is_missing_named_twice_or_a_device_is_named(folder: Path) -> None:
    assert fails([folder / "z.csv", folder / "y.csv"]).startswith(f"{folder / 'y.csv'}: there is no such file")
    assert "is named twice" in fails([folder / "z.csv", folder])
    assert "/dev/zero: this is a device, not a file" in fails("/dev/zero")
    assert "no file is named" in fails([])


def test_the_command_takes_several_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    ran = run("agreement", "z.csv", "day1/*")
    assert "2 jurors on 4 items" in ran.output
    assert run("agreement").exit_code == 2
    ran = run("agreement", "z.csv", "--memory", "many")
    assert (ran.exit_code, len(ran.output.splitlines())) == (2, 1)


# -- what other tools wrote ---------------------------------------------------------------------------------------


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A tool whose log begins with {"toy": …}; it is asked before all others."""
    module = ModuleType("toy")

    def read(files: Any) -> Records:
        votes = [vote for path in files.paths if path.suffix != ".txt" for vote in files.document(path)["toy"].value]
        return Records([v[0] for v in votes], [v[1] for v in votes], [v[2] for v in votes])

    vars(module).update(TITLE="Toy log", read=read, recognises=lambda files: b'{"toy"' in files.head(files.paths[-1]))
    monkeypatch.setitem(sys.modules, "jurors.votes.readers.toy", module)
    monkeypatch.setattr(readers, "READERS", {"toy": "toy", **readers.READERS})
    return module


def test_a_log_is_found_by_its_content_and_read_with_the_options(toy: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"toy": [["q1", "ann", "yes"], ["q1", "bob", "-"], ["q2", "ann", "no"]]}')
    votes = read_votes(path, missing=["-"], labels=["yes", "no"])
    assert (votes.jurors, votes.labels, cells(votes)) == (("ann", "bob"), ("yes", "no"), [["yes", None], ["no", None]])
    assert read_sketch(path, missing=["-"]) == Sketch.from_votes(read_votes(path, missing=["-"]))
    assert cells(read_votes(io.StringIO(path.read_text()), missing=["-"])) == [["yes", None], ["no", None]]
    assert "label '-' is not among" in fails(path, labels=["yes", "no"])
    path.write_text(' {"extra": 1, "toy": [["q1", "ann", "yes"]]}')
    assert read_votes(path, tool="toy").jurors == ("ann",)


def test_what_a_log_does_not_have_is_refused(toy: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"toy": [["q1", "ann", "yes"], ["q1", "ann", "no"]]}')
    assert "Toy log" in fails(path, item="q")
    assert "leave layout= out" in fails(path, layout="wide")
    assert "juror 'ann' votes more than once on item 'q1'" in fails(path)
    assert read_votes(path, duplicates="first").labels == ("no", "yes")
    assert "there is no reader 'tay'. Did you mean 'toy'?" in fails(path, tool="tay")
    with pytest.raises(VotesError, match="Toy log"):
        read_votes_with_key(path, "gold")


def test_a_table_of_text_asks_no_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} was asked")

    monkeypatch.setattr(readers, "load_reader", refuse)
    (tmp_path / "a.csv").write_text("a,b\nx,y\n")
    for source in (tmp_path / "a.csv", tmp_path):
        assert read_votes(source).jurors == ("a", "b")


def test_a_stream_is_stored_block_by_block(tmp_path: Path) -> None:
    class Stream:
        blocks = 64

        def read(self, size: int) -> bytes:
            self.blocks -= 1
            return bytes(size) if self.blocks else b""

    tracemalloc.start()
    stored = locate.store_stream(Stream(), tmp_path / "stored")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert stored.stat().st_size > 10 * peak


_CSV = b"item,ann,bob\nq1,yes,no\nq2,no,no\n"
_SMALL = {
    "lf.csv": _CSV,
    "crlf.csv": _CSV.replace(b"\n", b"\r\n"),
    "mixed.csv": _CSV.replace(b"\n", b"\r\n", 1),
    "quoted.csv": _CSV.replace(b"ann", b'"ann"'),
    "windows.csv": _CSV.replace(b"ann", "anné".encode("cp1252")),
    "tabs.tsv": _CSV.replace(b",", b"\t"),
    "lines.jsonl": b'{"item": "q1", "ann": "yes", "bob": "no"}\n{"item": "q2", "ann": "no", "bob": "no"}\n',
}


@pytest.fixture(scope="module")
def opened() -> list[str]:
    """The path of every file that Python opens from now on: such a hook stays for as long as the process."""
    paths: list[str] = []
    sys.addaudithook(lambda event, about: paths.append(str(about[0])) if event == "open" else None)
    return paths


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("name", _SMALL)
def test_a_small_file_is_opened_once(
    name: str, is_packed: bool, opened: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"{name}{'.gz' * is_packed}"
    path.write_bytes(gzip.compress(_SMALL[name]) if is_packed else _SMALL[name])
    opened.clear()
    calls: list[str] = []

    def filled(call: str, *paths: Path) -> str:
        calls.append(call)
        return fill_files(call, *paths)

    monkeypatch.setattr(duckdb_table, "fill_files", filled)
    assert read_sketch(path).items == 2
    assert opened.count(str(path)) == 1
    by_duckdb = [call for call in calls if FILES in call]  # the keys of JSON take a look of their own
    assert len(by_duckdb) == (2 if name == "lines.jsonl" else 1)


def test_a_named_pipe_is_read_once_and_an_empty_one_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "votes.csv"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("item,ann,bob\nq1,yes,no\nq2,no,no\n",))
    writer.start()
    assert read_votes(pipe).rows == 2
    writer.join()
    monkeypatch.setattr(locate, "_PATIENCE", 0)
    with pytest.raises(VotesError, match=r"votes.csv: nothing was written into this pipe"):
        read_votes(pipe)


@pytest.mark.parametrize(("ending", "columns"), [("csv", 10_001), ("json", 2_001)])
def test_more_columns_than_can_be_read_are_told(ending: str, columns: int, tmp_path: Path) -> None:
    """A table of 16,384 columns ended the process; a record of 10,000 keys took minutes."""
    names = ["item", *(f"j{k}" for k in range(columns - 1))]
    path = tmp_path / f"votes.{ending}"
    table = f"{','.join(names)}\n{','.join('a' for _ in names)}\n"
    path.write_text(table if ending == "csv" else json.dumps([dict.fromkeys(names, "a")]))
    with pytest.raises(VotesError, match=rf"{columns:,} columns, and at most {columns - 1:,} .* one vote per row") as e:
        read_votes(path)
    assert (e.value.code, e.value.about["given"]) == ("many_columns", columns)
