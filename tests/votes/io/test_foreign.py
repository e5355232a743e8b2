"""Workbooks and databases: what is refused, in one line, and that no file can do harm."""

from __future__ import annotations

import io
import re
import sqlite3
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner
from votes.exported.exports import wide
from votes.exported.program_exports import workbook

import jurors
from jurors import JurorsError
from jurors.cli import main


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


def test_a_formula_without_a_value_is_refused(tmp_path: Path) -> None:
    rows = wide()
    rows[3][2] = '=IF(1=1,"yes","no")'
    workbook(Votes=rows)(path := tmp_path / "f.xlsx")
    assert "cell C4 of sheet 'Votes' is a formula whose value the file does not hold" in refused(path)


def test_a_formula_that_came_to_no_text_is_an_empty_cell(book: Path) -> None:
    empty = '<c r="C4" t="str"><f>IF(1=1,"","no")</f><v></v></c>'
    with_sheet(book, lambda text: re.sub(r'<c r="C4".*?</c>', empty, text))
    votes = jurors.read_votes(book)
    assert (votes.n_votes, votes.codes[2, 1]) == (119, -1)


def test_names_that_differ_by_case_alone_are_refused(tmp_path: Path) -> None:
    workbook(Votes=[["item", "Ann", "bob", "ann"], [1, "x", "y", "x"]])(path := tmp_path / "n.xlsx")
    assert "columns 'Ann' and 'ann' differ by case alone" in refused(path)


def test_a_cell_that_is_an_error_is_refused(tmp_path: Path) -> None:
    rows = wide()
    rows[2][1] = "#REF!"
    workbook(Votes=rows)(path := tmp_path / "e.xlsx")
    assert "cell B3 holds the error #REF!" in refused(path)


def test_a_cell_without_a_name_above_is_refused(tmp_path: Path) -> None:
    rows = wide()
    rows[20].append("yes?")
    workbook(Votes=rows)(path := tmp_path / "c.xlsx")
    assert "cell G21 holds 'yes?', and its column has no name in row 1" in refused(path)


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


@pytest.mark.slow
def test_a_row_beyond_all_rows_is_refused(book: Path) -> None:
    row = "99999999"
    far = f'<row r="{row}"><c r="A{row}" t="inlineStr"><is><t>q</t></is></c></row></sheetData>'
    with_sheet(book, lambda text: text.replace("</sheetData>", far))
    assert "at most 1,048,576 rows" in refused(book)


def test_wide_rows_of_nothing_are_refused(book: Path) -> None:
    far = "".join(f'<row r="{k}"><c r="XFD{k}"><v>1</v></c></row>' for k in range(30, 60))
    with_sheet(book, lambda text: text.replace("</sheetData>", f"{far}</sheetData>"))
    assert "its column has no name" in refused(book)


@pytest.mark.parametrize(
    "damage", [lambda data: data[: len(data) // 2], lambda data: data[:200] + b"\0" * 50 + data[250:]]
)
def test_a_damaged_workbook_is_one_line(book: Path, damage: Callable[[bytes], bytes]) -> None:
    book.write_bytes(damage(book.read_bytes()))
    assert "damaged" in refused(book)


def test_a_broken_sheet_is_one_line(book: Path) -> None:
    with_sheet(book, lambda text: text[: len(text) // 2])
    assert "damaged" in refused(book)


def test_other_archives_and_old_workbooks_are_told(tmp_path: Path) -> None:
    for name, member, told in (("a.zip", "votes.csv", "no Excel workbook"), ("b.ods", "content.xml", "OpenDocument")):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(member, "item,ann\n")
        assert told in refused(tmp_path / name)
    (tmp_path / "old.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    assert "old Excel workbook" in refused(tmp_path / "old.xls")
    (tmp_path / "no.xlsx").write_text("item,ann\n")
    assert "no file of this kind (Excel workbook)" in refused(tmp_path / "no.xlsx")


def test_without_openpyxl_it_says_what_to_install(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert "pip install 'jurors[excel]'" in refused(book)


def test_a_workbook_may_come_through_a_pipe(book: Path) -> None:
    assert jurors.read_votes(io.BytesIO(book.read_bytes())).jurors == ("ann", "bob", "cy", "dee", "eve")


def test_the_size_a_program_wrote_into_a_sheet_is_not_believed(book: Path) -> None:
    with_sheet(book, lambda text: text.replace('<dimension ref="A1:F25"', '<dimension ref="A1:B2"'))
    assert jurors.read_votes(book).n_votes == 120


# -- databases ---------------------------------------------------------------------------------------------------


def test_a_damaged_database_is_one_line(tmp_path: Path) -> None:
    lite, duck = tmp_path / "a.db", tmp_path / "b.duckdb"
    lite.write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 20)
    assert "the SQLite database cannot be read" in refused(lite)
    duckdb.connect(str(duck)).close()
    duck.write_bytes(duck.read_bytes()[:5000])
    assert "the DuckDB database cannot be read" in refused(duck)


def test_a_database_without_tables_is_told(tmp_path: Path) -> None:
    duckdb.connect(str(tmp_path / "b.duckdb")).close()
    assert "there is no table in it" in refused(tmp_path / "b.duckdb")
    with sqlite3.connect(tmp_path / "a.db") as con:
        con.execute("CREATE TABLE votes (item, ann)")
    con.close()
    assert "column names (item, ann) but no rows" in refused(tmp_path / "a.db")


def test_a_view_reaches_no_other_file_and_is_read_only_by_name(tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("item,ann,bob,cy\n1,a,b,a\n")
    with duckdb.connect(str(tmp_path / "b.duckdb")) as con:
        con.execute(f"CREATE VIEW leak AS SELECT * FROM read_csv('{secret}')")
    assert "there is no table in it" in refused(tmp_path / "b.duckdb")
    assert "cannot be read" in refused(f"{tmp_path / 'b.duckdb'}::leak")


@pytest.mark.slow
def test_an_endless_view_is_not_taken_by_itself(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "a.db") as con:
        con.execute("CREATE VIEW v AS WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n) SELECT k FROM n")
    con.close()
    assert "there is no table in it" in refused(tmp_path / "a.db")
    assert "holds more than 1MB unpacked" in refused(f"{tmp_path / 'a.db'}::v", unpack="1MB")


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


def test_two_tables_that_are_shown_alike_are_told(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "b.duckdb")) as con:
        con.execute('CREATE SCHEMA lab; CREATE TABLE lab.votes (item INT); CREATE TABLE "lab.votes" (item INT)')
    assert "there are two tables called 'lab.votes'" in refused(f"{tmp_path / 'b.duckdb'}::lab.votes")


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "a.db") as con:
        con.execute("CREATE TABLE votes (item, ann)")
        con.execute("INSERT INTO votes VALUES (1, ?)", (b"\xff\xfe\x00",))
    con.close()
    assert "bytes that are no text" in refused(tmp_path / "a.db")


def test_what_is_read_is_not_written_over(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "a.db") as con:
        con.execute("CREATE TABLE votes (item, ann)")
    con.close()
    place = str(tmp_path / "a.db")
    run = CliRunner().invoke(main, ["convert", f"{place}::votes", "-o", place], prog_name="jurors")
    assert run.exit_code == 2
    assert "would write over" in run.stderr


def test_a_plain_file_has_nothing_inside(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("item,ann,bob\n1,a,b\n")
    assert "this file is one table; leave '::votes' out" in refused(f"{tmp_path / 'a.csv'}::votes")
    assert "there is no such file" in refused(f"{tmp_path / 'b.db'}::votes")


# -- addresses ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["grade", "check", "inspect", "convert", "merge", "agreement", "watch", "report"])
def test_no_password_is_ever_said(command: str, tmp_path: Path) -> None:
    for url in (
        "postgresql://me:s3cret@127.0.0.1:1/votes::judged",
        "postgresql://127.0.0.1:1/votes?user=me&password=s3cret&table=judged",
        "postgresql://me:s3cret%zz@127.0.0.1:1/votes",
        "postgresql://me:s3cret@s3cret@127.0.0.1:1/votes",
        "postgresql://me:s3 cret/?@127.0.0.1:1/votes",
    ):
        more = ["-o", str(tmp_path / "out.html")] if command == "report" else []
        run = CliRunner().invoke(main, [command, url, *more], prog_name="jurors")
        assert run.exit_code == 2
        assert "s3" not in run.output
        assert run.stderr.count("\n") == 1
