"""Files that are packed, encoded, held by other programs, broken or hostile."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from command_line import run
from votes.exported.exports import wide
from votes.exported.program_exports import workbook

import jurors
from jurors import JurorsError, OptionError, Sketch, Votes, VotesError, read_votes
from jurors.votes.io import sources as sizes

WIDE = b"item,ann,bob,cy\n1,x,y,x\n2,y,y,x\n3,x,x,y\n"


# -- files that hold more than they should -----------------------------------------------------------------------------


def _zipped(path: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def _npy(rows: int) -> bytes:
    out = io.BytesIO()
    np.save(out, np.zeros((rows, 3), dtype=np.int8))
    return out.getvalue()


HEADER = json.dumps({"version": 2, "status": "success", "eval": {"task": "t"}}).encode()
SAMPLE = b'{"id": 1, "input": "' + b"x" * 400_000 + b'"}'
BOMBS: dict[str, Callable[[Path], object]] = {
    "monday.sketch.json.gz": lambda path: path.write_bytes(
        gzip.compress(b'{"format": "jurors sketch", "x": "' + b"0" * 400_000)
    ),
    "votes.csv.gz": lambda path: path.write_bytes(gzip.compress(WIDE + b"4,x,y,x\n" * 50_000)),
    "lines.jsonl.gz": lambda path: path.write_bytes(gzip.compress(b'{"item": 1, "ann": "' + b"x" * 400_000)),
    "samples_t_2026-01-01T00-00-00.0.jsonl.gz": lambda path: path.write_bytes(
        gzip.compress(b'{"doc_id": 0, "filtered_resps": ["' + b"x" * 400_000)
    ),
    "one.eval": lambda path: _zipped(path, {"header.json": HEADER, "samples/1_epoch_1.json": SAMPLE}),
    "many.eval": lambda path: _zipped(
        path, {"header.json": HEADER, **{f"samples/{k}_epoch_1.json": SAMPLE[:90_000] + b'"}' for k in range(50)}}
    ),
    "votes.npz": lambda path: _zipped(path, {"votes.npy": _npy(140_000)}),
    "votes.npy.gz": lambda path: path.write_bytes(gzip.compress(_npy(140_000))),
    "votes.parquet": lambda path: _parquet(path, 140_000),
}


def _parquet(path: Path, rows: int) -> None:
    duckdb.sql(f"COPY (SELECT 'x' AS ann, 'y' AS bob, 'x' AS cy FROM range({rows})) TO '{path}' (FORMAT parquet)")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits low enough for a quick test."""
    for room in (sizes.PIECES, sizes.WHOLE, sizes.REPEATED):
        monkeypatch.setitem(vars(room), "least", 100_000)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", BOMBS)
def test_a_file_that_holds_too_much_is_one_line_that_names_the_flag(tmp_path: Path, name: str) -> None:
    BOMBS[name](tmp_path / name)
    with pytest.raises(VotesError, match=r"holds more than .* allow more with unpack=") as raised:
        read_votes(tmp_path / name)
    assert raised.value.code == "too_large"
    assert str(raised.value).count(name) == 1


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", ["votes.csv.gz", "votes.npz", "votes.npy.gz", "votes.parquet"])
def test_who_trusts_a_file_may_unpack_it(tmp_path: Path, name: str) -> None:
    BOMBS[name](tmp_path / name)
    assert read_votes(tmp_path / name, unpack="10MB", duplicates="first").total >= 4


def test_an_archive_that_lies_about_its_members_or_is_of_a_later_version_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    _zipped(path, {"header.json": HEADER, "samples/1_epoch_1.json": SAMPLE})
    content = path.read_bytes()
    path.write_bytes(content.replace(len(SAMPLE).to_bytes(4, "little"), (99).to_bytes(4, "little")))
    with pytest.raises(VotesError, match=r"samples/1_epoch_1.json in the archive is damaged"):
        read_votes(path)
    _zipped(path, {"header.json": HEADER})
    later = bytearray(path.read_bytes())
    later[later.find(b"PK\x01\x02") + 6] = 99
    path.write_bytes(later)
    with pytest.raises(VotesError, match=r"the archive is cut short or damaged \(zip file version 9.9\)"):
        read_votes(path)


@pytest.mark.parametrize("size", ["99999999TB", "9" * 40 + "GB", "0.00001KB", "many", "-1GB", "0GB"])
def test_a_size_that_is_none_is_refused(size: str) -> None:
    for option in ("memory", "unpack"):
        with pytest.raises(OptionError, match=rf"{option} must be a size such as 2GB"):
            read_votes(io.BytesIO(WIDE), **{option: size})  # type: ignore[arg-type]
    assert read_votes(io.BytesIO(WIDE), memory="0.00001TB").total == 3


# -- odd bytes and names -----------------------------------------------------------------------------------------------


def test_every_kind_of_line_end_ends_a_line() -> None:
    rows = [b"item,ann,bob,cy", b"1,x,y,x", b"2,y,y,x", b"3,x,x,y"]
    plain = read_votes(io.BytesIO(WIDE)).codes.tolist()
    for ends in ([b"\r"] * 4, [b"\r\n"] * 4, [b"\r\n", b"\r", b"\n", b"\r"], [b"\n", b"\r", b"\r", b""]):
        content = b"".join(row + end for row, end in zip(rows, ends, strict=True))
        assert read_votes(io.BytesIO(content)).codes.tolist() == plain


def test_a_return_inside_a_cell_is_refused_not_dropped() -> None:
    with pytest.raises(VotesError, match=r"line 3 has 2 fields where the header has 4"):
        read_votes(io.BytesIO(WIDE.replace(b"2,y,", b"2,y\r,")))
    with pytest.raises(VotesError, match=r"fields where the header has"):
        read_votes(io.BytesIO(WIDE.replace(b"bob", b"b\rob")))


@pytest.mark.parametrize("name", ["votes.csv", "votes.jsonl"])
@pytest.mark.parametrize("command", ["grade", "inspect"])
def test_half_a_character_is_one_line(tmp_path: Path, name: str, command: str) -> None:
    row = b'{"item": 1, "ann": "\\ud800", "bob": "x", "cy": "y"}\n'
    (tmp_path / name).write_bytes(2 * row if name.endswith("l") else WIDE + b"4,\xed\xa0\x80,x,x\n")
    ran = run(command, str(tmp_path / name))
    assert ran.exit_code == 2
    assert ran.stderr.count("\n") == 1
    assert "line 1 holds half a character" in ran.stderr or "line 5 is not valid UTF-8" in ran.stderr


@pytest.mark.slow  # a process in another time zone
def test_a_moment_names_an_item_alike_in_every_time_zone(tmp_path: Path) -> None:
    path = tmp_path / "votes.parquet"
    moment = "TIMESTAMPTZ '2026-01-01 00:00:00+00' + INTERVAL (i) HOUR"
    duckdb.sql(
        f"COPY (SELECT {moment} AS item, 'x' AS ann, 'y' AS bob FROM range(2) t(i)) TO '{path}' (FORMAT parquet)"
    )
    code = f"import jurors; print(*jurors.read_votes({str(path)!r}).item_names(), sep='|')"
    elsewhere = {**os.environ, "TZ": "Asia/Kolkata"}
    said = subprocess.run(
        [sys.executable, "-c", code], env=elsewhere, capture_output=True, text=True, check=True
    ).stdout
    assert said == "2026-01-01 00:00:00+00|2026-01-01 01:00:00+00\n"


# -- counts past counting ----------------------------------------------------------------------------------------------


def test_totals_past_counting_are_refused_not_wrapped() -> None:
    half = Sketch.from_counts({"AAB": 1 << 62, "ABB": 1})
    with pytest.raises(JurorsError, match=r"add up to 9,223,372,036,854,775,810, more than"):
        half + half
    with pytest.raises(JurorsError, match="more than 9,223,372,036,854,775,807"):
        Sketch.from_counts({"AAB": 1 << 62, "ABB": 1 << 62})
    with pytest.raises(JurorsError, match="more than 9,223,372,036,854,775,807"):
        Sketch.merge([half, half])


@pytest.mark.parametrize("count", [1 << 63, 10**400, 1e30, float("inf"), float("nan"), -1, 0.5, "x", None])
def test_what_is_no_count_is_refused(count: float) -> None:
    with pytest.raises(VotesError, match=r"row 1, counts: a count (must be a whole|can be)"):
        Votes.from_matrix([[0, 1], [1, 1]], counts=np.array([count, 1], dtype=object))
    assert Votes.from_matrix([[0, 1]], counts=np.array([2.0])).total == 2


def test_a_blank_third_line_is_no_line_of_qualtrics() -> None:
    lines = ["item,ann,bob", "1,yes,no", "", "2,no,no", "3,yes,yes"]
    votes = read_votes(io.StringIO("\n".join(lines) + "\n"))
    assert (votes.rows, votes.n_votes) == (3, 6)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("before", [[""], ["", "", ""], ["sep=;", ""]], ids=["one", "three", "below sep="])
def test_blank_lines_above_the_names_are_no_names(before: list[str], end: str) -> None:
    if end == "\r" and before[0]:
        return  # no program writes it so
    mark = ";" if before[0] else ","
    lines = [*before, *(line.replace(",", mark) for line in WIDE.decode().splitlines())]
    votes = read_votes(io.BytesIO((end.join(lines) + end).encode()))
    assert (votes.rows, votes.labels, votes.item_names().tolist()) == (3, ("x", "y"), ["1", "2", "3"])


def test_blank_rows_are_left_out_below_a_table_and_not_in_it() -> None:
    """Items without a name are called by their places, so that none may be lost among them."""
    inside = read_votes(io.StringIO("ann,bob\nx,y\n,\ny,y\n,\n"))
    assert inside.codes.tolist() == [[0, 1], [-1, -1], [1, 1], [-1, -1]]
    below = read_votes(io.StringIO("ann,bob\nx,y\ny,y\n,\n,\n"))
    assert below.codes.tolist() == [[0, 1], [1, 1]]


# -- Workbooks and databases: what is refused, in one line, and that no file can do harm -----------------------


def refused(source: Any, **options: Any) -> str:
    with pytest.raises(JurorsError) as caught:
        jurors.read_votes(source, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    workbook(Votes=wide())(path := tmp_path / "book.xlsx")
    return path


def with_sheet(path: Path, change: Callable[[str], str]) -> Path:
    """The workbook with the text of its first sheet changed."""
    with zipfile.ZipFile(path) as old:
        held = {name: old.read(name) for name in old.namelist()}
    place = "xl/worksheets/sheet1.xml"
    held[place] = change(held[place].decode()).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name, content in held.items():
            new.writestr(name, content)
    return path


# -- workbooks ---------------------------------------------------------------------------------------------------


def test_what_goes_wrong_elsewhere_is_not_called_a_damaged_workbook(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("jurors.votes.io.excel.write_lines", full)
    with pytest.raises((OSError, JurorsError), match="No space left on device") as caught:
        jurors.read_votes(book)
    assert "damaged" not in str(caught.value)


def test_merged_cells_are_refused_where_they_are_in_the_table(tmp_path: Path) -> None:
    workbook(lambda book: book["Votes"].merge_cells("B3:B5"), Votes=wide())(path := tmp_path / "m.xlsx")
    assert "the cells B3:B5 of sheet 'Votes' are merged" in refused(path)
    assert jurors.read_votes(f"{path}::Votes!C1:F25").jurors == ("bob", "cy", "dee", "eve")


@pytest.mark.parametrize(
    ("row", "column", "cell", "message"),
    [
        (3, 2, '=IF(1=1,"yes","no")', "cell C4 of sheet 'Votes' is a formula whose value the file does not hold"),
        (2, 1, "#REF!", "cell B3 holds the error #REF!"),
        (20, 6, "yes?", "cell G21 holds 'yes?', and its column has no name in row 1"),
        (0, 3, "Ann", "columns 'ann' and 'Ann' differ by case alone"),
    ],
)
def test_a_cell_that_can_be_no_vote_is_refused(tmp_path: Path, row: int, column: int, cell: str, message: str) -> None:
    rows = wide()
    rows[row][column : column + 1] = [cell]
    workbook(Votes=rows)(path := tmp_path / "book.xlsx")
    assert message in refused(path)


def test_a_formula_that_came_to_no_text_is_an_empty_cell_and_a_wrong_size_is_not_believed(book: Path) -> None:
    with_sheet(book, lambda text: text.replace('<dimension ref="A1:F25"', '<dimension ref="A1:B2"'))
    assert jurors.read_votes(io.BytesIO(book.read_bytes())).n_votes == 120  # through a pipe
    empty = '<c r="C4" t="str"><f>IF(1=1,"","no")</f><v></v></c>'
    with_sheet(book, lambda text: re.sub(r'<c r="C4".*?</c>', empty, text))
    votes = jurors.read_votes(book)
    assert (votes.n_votes, votes.codes[2, 1]) == (119, -1)


def test_sheets_and_cells_that_are_not_there_are_named(book: Path, tmp_path: Path) -> None:
    assert "Did you mean 'Votes'" in refused(f"{book}::votez")
    assert "names no cells" in refused(f"{book}::Votes!sixth")
    assert "the cells Z900 of sheet 'Votes' are empty" in refused(f"{book}::Votes!Z900")
    workbook(Empty=[])(path := tmp_path / "empty.xlsx")
    assert "sheet 'Empty' is empty" in refused(path)


def test_a_workbook_made_to_burst_is_refused(book: Path) -> None:
    filler = "<!--" + "0" * 5_000_000 + "-->"
    with_sheet(book, lambda text: text.replace("<sheetData>", f"{filler}<sheetData>"))
    assert "holds more than 1MB unpacked" in refused(book, unpack="1MB")


def test_a_row_beyond_all_rows_is_refused(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jurors.votes.io.excel._MOST_ROWS", 1000)  # of a million, each would be parsed
    far = '<row r="99999"><c r="A99999" t="inlineStr"><is><t>q</t></is></c></row></sheetData>'
    with_sheet(book, lambda text: text.replace("</sheetData>", far))
    assert "at most 1,000 rows" in refused(book)


def test_a_damaged_workbook_is_one_line(book: Path) -> None:
    content = book.read_bytes()
    for damaged in (content[: len(content) // 2], content[:200] + b"\0" * 50 + content[250:]):
        book.write_bytes(damaged)
        assert "damaged" in refused(book)
    book.write_bytes(content)
    with_sheet(book, lambda text: text[: len(text) // 2])
    assert "damaged" in refused(book)


def test_other_archives_and_old_workbooks_are_told(tmp_path: Path) -> None:
    for name, member, told in (
        ("a.zip", "votes.csv", "not an Excel workbook"),
        ("b.ods", "content.xml", "OpenDocument"),
    ):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(member, "item,ann\n")
        assert told in refused(tmp_path / name)
    (tmp_path / "old.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    assert "old Excel workbook" in refused(tmp_path / "old.xls")
    (tmp_path / "no.xlsx").write_text("item,ann\n")
    assert "not a valid file of this kind (Excel workbook)" in refused(tmp_path / "no.xlsx")


def test_without_openpyxl_it_says_what_to_install(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert "pip install 'jurors[excel]'" in refused(book)


# -- databases ---------------------------------------------------------------------------------------------------


def sqlite(path: Path, *statements: str) -> Path:
    con = sqlite3.connect(path)
    for statement in statements:
        con.execute(statement)
    con.commit()
    con.close()
    return path


def test_a_damaged_database_is_one_line(tmp_path: Path) -> None:
    lite, duck = tmp_path / "a.db", tmp_path / "b.duckdb"
    lite.write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 20)
    assert "the SQLite database cannot be read" in refused(lite)
    duckdb.connect(str(duck)).close()
    duck.write_bytes(duck.read_bytes()[:5000])
    assert "the DuckDB database cannot be read" in refused(duck)


def test_a_view_reaches_no_other_file_and_is_read_only_by_name(tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("item,ann,bob,cy\n1,a,b,a\n")
    with duckdb.connect(str(tmp_path / "b.duckdb")) as con:
        con.execute(f"CREATE VIEW leak AS SELECT * FROM read_csv('{secret}')")
    assert "there is no table in it" in refused(tmp_path / "b.duckdb")
    assert "cannot be read" in refused(f"{tmp_path / 'b.duckdb'}::leak")


def test_an_endless_view_is_not_taken_by_itself(tmp_path: Path) -> None:
    numbers = "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n) SELECT k FROM n"
    path = sqlite(tmp_path / "a.db", f"CREATE VIEW v AS {numbers}")
    assert "there is no table in it" in refused(path)
    assert "holds more than 100KB unpacked" in refused(f"{path}::v", unpack="100KB")


def test_nothing_is_left_beside_a_database_with_a_log_of_changes(tmp_path: Path) -> None:
    con = sqlite3.connect(tmp_path / "a.db")
    con.execute("PRAGMA journal_mode = WAL")
    con.execute("CREATE TABLE votes (item, ann, bob)")
    con.execute("INSERT INTO votes VALUES (1, 'x', 'y'), (2, 'y', 'y')")
    con.commit()
    assert jurors.read_votes(tmp_path / "a.db").rows == 2  # while somebody has it open
    con.close()
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]
    assert jurors.read_votes(tmp_path / "a.db").rows == 2
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]


def test_no_two_tables_no_rows_and_bytes_are_each_one_line(tmp_path: Path) -> None:
    duck = tmp_path / "b.duckdb"
    duckdb.connect(str(duck)).close()
    assert "there is no table in it" in refused(duck)
    with duckdb.connect(str(duck)) as con:
        con.execute('CREATE SCHEMA lab; CREATE TABLE lab.votes (item INT); CREATE TABLE "lab.votes" (item INT)')
    assert "there are two tables called 'lab.votes'" in refused(f"{duck}::lab.votes")
    path = sqlite(tmp_path / "a.db", "CREATE TABLE votes (item, ann)")
    assert "column names (item, ann) but no rows" in refused(path)
    assert "bytes that are not text" in refused(sqlite(path, "INSERT INTO votes VALUES (1, x'fffe00')"))


def test_what_is_read_is_not_written_over(tmp_path: Path) -> None:
    place = str(sqlite(tmp_path / "a.db", "CREATE TABLE votes (item, ann)"))
    ran = run("convert", f"{place}::votes", "-o", place)
    assert ran.exit_code == 2
    assert "would overwrite" in ran.stderr


def test_a_plain_file_has_nothing_inside(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("item,ann,bob\n1,a,b\n")
    assert "this file is one table; leave '::votes' out" in refused(f"{tmp_path / 'a.csv'}::votes")
    assert "there is no such file" in refused(f"{tmp_path / 'b.db'}::votes")


# -- addresses ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["grade", "check", "inspect", "convert", "agreement", "watch", "report"])
def test_no_password_is_ever_said(command: str, tmp_path: Path) -> None:
    for url in (
        "postgresql://me:s3cret@127.0.0.1:1/votes::judged",
        "postgresql://127.0.0.1:1/votes?user=me&password=s3cret::judged",
        "postgresql://me:s3cret%zz@127.0.0.1:1/votes",
        "postgresql://me:s3cret@s3cret@127.0.0.1:1/votes",
        "postgresql://me:s3 cret/?@127.0.0.1:1/votes",
    ):
        more = ["-o", str(tmp_path / "out.html")] if command == "report" else []
        ran = run(command, url, *more)
        assert ran.exit_code == 2
        assert "s3" not in ran.output
        assert ran.stderr.count("\n") == 1
