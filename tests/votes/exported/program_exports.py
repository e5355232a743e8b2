"""The plain table as other programs hold it: Excel, SQLite, DuckDB."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
from votes.exported.exports import JURORS, export, said, wide
from votes.panels import panel

TITLED: list[list[Any]] = [["Replies, round 2"], [], *wide()]
PLAIN = said()
_, RATED = panel(24, (1, 2, 3), seed=2)
_, JUDGED = panel(24, (True, False), seed=3)


def program_exports() -> None:
    """Workbooks and databases."""
    _workbooks()
    _databases()


def workbook(
    change: Callable[[Any], object] | None = None, **sheets: Sequence[Sequence[Any]]
) -> Callable[[Path], None]:
    """Writes a workbook of these sheets; `change` is done to it before it is saved."""

    def write(path: Path) -> None:
        import openpyxl

        book = openpyxl.Workbook()
        book.remove(book.active)
        for title, rows in sheets.items():
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(list(row))
        if change is not None:
            change(book)
        book.save(path)

    return write


def _workbooks() -> None:
    export("xlsx", "a.xlsx", workbook(Votes=wide()), PLAIN)
    export("xlsx_sheet", "b.xlsx", workbook(Notes=[["nothing"]], Votes=wide()), PLAIN, inside="::Votes")
    export(
        "xlsx_numbers", "c.xlsx", workbook(Votes=wide([[float(vote) for vote in row] for row in RATED])), said(RATED)
    )
    export("xlsx_truth", "d.xlsx", workbook(Votes=wide(JUDGED)), said(JUDGED))
    dated = [[*row, "when" if not k else datetime(2024, 3, k, 10)] for k, row in enumerate(wide())]
    export("xlsx_dates", "e.xlsx", workbook(Votes=dated), PLAIN)
    export("xlsx_index", "f.xlsx", workbook(Votes=[[k or None, *row] for k, row in enumerate(wide())]), PLAIN)
    export("xlsx_blank_edges", "g.xlsx", workbook(Votes=[[], *([None, *row] for row in wide()), [], []]), PLAIN)
    export("xlsx_title", "h.xlsx", workbook(Votes=TITLED), PLAIN, say="::Votes!A3")
    export("xlsx_range", "i.xlsx", workbook(Votes=[*TITLED, ["Total", 1, 2, 3, 4, 5]]), PLAIN, inside="::Votes!A3:F27")
    merged = workbook(lambda book: book["Votes"].merge_cells("A1:F1"), Votes=TITLED)
    export("xlsx_merged_title", "j.xlsx", merged, PLAIN, say="::Votes!A2")
    head, *body = wide()
    long = [["item", "juror", "label"], *([i, j, v] for i, *row in body for j, v in zip(head[1:], row, strict=True))]
    export("xlsx_long", "k.xlsx", workbook(Votes=long), PLAIN)


def _sqlite(**tables: Sequence[Sequence[Any]]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        con = sqlite3.connect(path)
        for name, (head, *rows) in tables.items():
            con.execute(f'CREATE TABLE "{name}" ({", ".join(head)})')
            con.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(head))})', rows)
        con.commit()
        con.close()

    return write


def _duckdb(*statements: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with duckdb.connect(str(path)) as con:
            con.execute(f"CREATE TABLE votes (item VARCHAR, {', '.join(f'{name} VARCHAR' for name in JURORS)})")
            con.executemany("INSERT INTO votes VALUES (?, ?, ?, ?, ?, ?)", wide()[1:])
            for statement in statements:
                con.execute(statement)

    return write


def _databases() -> None:
    users: list[list[Any]] = [["id", "name"], [1, "ann"]]
    numbers = [["item", *JURORS], *([k, *row] for k, row in enumerate(RATED))]
    export("sqlite", "a.db", _sqlite(votes=wide()), PLAIN)
    export("sqlite_numbers", "b.sqlite", _sqlite(votes=numbers), said(RATED, items=range(24)))
    export("sqlite_two", "c.sqlite3", _sqlite(users=users, votes=wide()), PLAIN, inside="::votes")
    export("sqlite_which", "d.db", _sqlite(votes=wide(), users=users), PLAIN, say="::votes")
    odd = 'we"; DROP TABLE votes; --'
    export(
        "sqlite_odd_name", "e.db", _sqlite(**{odd.replace('"', '""'): wide(), "users": users}), PLAIN, inside=f"::{odd}"
    )
    export("duckdb", "a.duckdb", _duckdb(), PLAIN)
    export("duckdb_schema", "b.duckdb", _duckdb("CREATE SCHEMA lab", "CREATE TABLE lab.votes AS FROM votes"), PLAIN,
           inside="::lab.votes")  # fmt: skip
    export("duckdb_which", "c.ddb", _duckdb("CREATE TABLE zebra (a INT)"), PLAIN, say="::votes")
