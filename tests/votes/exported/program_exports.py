"""The plain table as other programs hold it: Excel, SQLite, DuckDB."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
from votes.exported.exports import JURORS, Export, triples, wide
from votes.panels import panel


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


def program_exports() -> dict[str, Export]:
    """Workbooks and databases."""
    titled: list[list[Any]] = [["Replies, round 2"], [], *wide()]
    rated, judged = panel(24, (1, 2, 3), seed=2)[1], panel(24, (True, False), seed=3)[1]
    dated = [[*row, "when" if not k else datetime(2024, 3, k, 10)] for k, row in enumerate(wide())]
    head, *body = wide()
    long = [["item", "juror", "label"], *([i, j, v] for i, *row in body for j, v in zip(head[1:], row, strict=True))]
    users: list[list[Any]] = [["id", "name"], [1, "ann"]]
    numbers = [["item", *JURORS], *([k, *row] for k, row in enumerate(rated))]
    odd = 'we"; DROP TABLE votes; --'
    plain = triples()
    return {
        "xlsx": Export("a.xlsx", workbook(Votes=wide()), plain),
        "xlsx_sheet": Export("b.xlsx", workbook(Notes=[["nothing"]], Votes=wide()), plain, inside="::Votes"),
        "xlsx_numbers": Export(
            "c.xlsx", workbook(Votes=wide([list(map(float, row)) for row in rated])), triples(rated)
        ),
        "xlsx_truth": Export("d.xlsx", workbook(Votes=wide(judged)), triples(judged)),
        "xlsx_dates": Export("e.xlsx", workbook(Votes=dated), plain),
        "xlsx_index": Export("f.xlsx", workbook(Votes=[[k or None, *row] for k, row in enumerate(wide())]), plain),
        "xlsx_blank_edges": Export("g.xlsx", workbook(Votes=[[], *([None, *row] for row in wide()), [], []]), plain),
        "xlsx_title": Export("h.xlsx", workbook(Votes=titled), plain, say="::Votes!A3"),
        "xlsx_range": Export(
            "i.xlsx", workbook(Votes=[*titled, ["Total", 1, 2, 3, 4, 5]]), plain, inside="::Votes!A3:F27"
        ),
        "xlsx_merged_title": Export(
            "j.xlsx", workbook(lambda book: book["Votes"].merge_cells("A1:F1"), Votes=titled), plain, say="::Votes!A2"
        ),
        "xlsx_long": Export("k.xlsx", workbook(Votes=long), plain),
        "sqlite": Export("a.db", _sqlite(votes=wide()), plain),
        "sqlite_numbers": Export("b.sqlite", _sqlite(votes=numbers), triples(rated, items=range(24))),
        "sqlite_two": Export("c.sqlite3", _sqlite(users=users, votes=wide()), plain, inside="::votes"),
        "sqlite_which": Export("d.db", _sqlite(votes=wide(), users=users), plain, say="::votes"),
        "sqlite_odd_name": Export(
            "e.db", _sqlite(**{odd.replace('"', '""'): wide(), "users": users}), plain, inside=f"::{odd}"
        ),
        "duckdb": Export("a.duckdb", _duckdb(), plain),
        "duckdb_schema": Export(
            "b.duckdb",
            _duckdb("CREATE SCHEMA lab", "CREATE TABLE lab.votes AS FROM votes"),
            plain,
            inside="::lab.votes",
        ),
        "duckdb_which": Export("c.ddb", _duckdb("CREATE TABLE zebra (a INT)"), plain, say="::votes"),
    }
