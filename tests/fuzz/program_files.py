"""Tables as other programs hold them: workbooks with oddities, SQLite and DuckDB databases with tables beside."""

from __future__ import annotations

import io
import random
import re
import sqlite3
import tempfile
import zipfile
from contextlib import closing
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import openpyxl
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

if TYPE_CHECKING:
    from fuzz.tables import Table

_TITLES = ("votes", "Sheet 1", "a'b", "x;y", "drop table votes", "🙂")


def xlsx(rng: random.Random, table: Table) -> bytes:
    """A workbook, at times with a title, merged cells, formulas, other sheets, or a sheet of somebody's own XML."""
    place = "xl/worksheets/sheet1.xml"
    if rng.random() < 0.15:  # a workbook that lacks nearly everything
        cells = [[f"<c><v>{cell!r}</v></c>" for cell in row] for row in (table.head, *table.rows)]
        rows = "".join(f"<row>{''.join(row)}</row>" for row in cells)
        return _zipped({place: f"<worksheet><sheetData>{rows}</sheetData></worksheet>".encode("utf-8", "replace")})
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = rng.choice(_TITLES)
    if rng.random() < 0.1:
        sheet.append(["A title"])
    for row in (table.head, *table.rows):
        sheet.append([_cell(cell) for cell in row])
    if rng.random() < 0.1:
        sheet["B3"] = rng.choice(("=A1", "=1/0", "#REF!", datetime(2026, 3, 4, 5), True, 1e300, "=" * 40))
    if rng.random() < 0.1:
        sheet.merge_cells(rng.choice(("A1:C1", "B2:B4", "A1:B9")))
    if rng.random() < 0.2:
        book.create_sheet("other").append(["something", "else"])
    sink = io.BytesIO()
    book.save(sink)
    with zipfile.ZipFile(sink) as saved:
        held = {name: saved.read(name) for name in sorted(saved.namelist())}
    held["docProps/core.xml"] = re.sub(rb"\d{4}-\d\d-\d\dT[\d:]+Z", b"2026-01-01T00:00:00Z", held["docProps/core.xml"])
    if rng.random() < 0.15:
        far = rng.choice(
            ('<row r="99999999"/>', '<row r="900"><c r="XFD900"><v>1</v></c></row>', '<c r="-1"/>', "<row>")
        )
        held[place] = held[place].replace(b"</sheetData>", far.encode() + b"</sheetData>")
    if rng.random() < 0.05:
        del held[rng.choice(list(held))]
    return _zipped(held)


def _cell(cell: Any) -> Any:
    """A cell as openpyxl takes it."""
    return cell if _is_plain(cell) else ILLEGAL_CHARACTERS_RE.sub(lambda odd: ascii(odd[0]), _text(cell))[:1000]


def _is_plain(cell: Any) -> bool:
    return cell is None or isinstance(cell, float) or (isinstance(cell, int) and abs(cell) < 1 << 60)


def _zipped(held: dict[str, bytes]) -> bytes:
    """An archive that is the same whenever it is made."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in held.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return sink.getvalue()


def sqlite_file(rng: random.Random, table: Table) -> bytes:
    """An SQLite database with the table, and at times others and a view."""
    head, rows = _columns(table)
    stored = [[cell if _is_plain(cell) else _text(cell) for cell in row] for row in rows]
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as con:
        title = _quoted(rng.choice(_TITLES))
        con.execute(f"CREATE TABLE {title} ({', '.join(map(_quoted, head))})")
        con.executemany(f"INSERT INTO {title} VALUES ({', '.join('?' * len(head))})", stored)
        if rng.random() < 0.2:
            con.execute("CREATE TABLE other (a, b)")
        if rng.random() < 0.1:
            con.execute(f"CREATE VIEW seen AS SELECT * FROM {title}")
        return bytes(con.serialize())


def duckdb_file(rng: random.Random, table: Table) -> bytes:
    """A DuckDB database with the table as text, and at times a view that looks elsewhere."""
    head, rows = _columns(table)
    texts = tuple(tuple(None if cell is None else _text(cell)[:200] for cell in row) for row in rows[:40])
    return _duckdb_of(_quoted(rng.choice(_TITLES)), tuple(head), texts, looks_elsewhere=rng.random() < 0.2)


@lru_cache(64)  # DuckDB gives every file a number of its own, and a case is to be the same when it is made again
def _duckdb_of(
    title: str, head: tuple[str, ...], rows: tuple[tuple[str | None, ...], ...], *, looks_elsewhere: bool
) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.duckdb"
        with duckdb.connect(str(path)) as con:
            con.execute(f"CREATE TABLE {title} ({', '.join(f'{_quoted(name)} VARCHAR' for name in head)})")
            if rows:
                con.executemany(f"INSERT INTO {title} VALUES ({', '.join('?' * len(head))})", list(map(list, rows)))
            if looks_elsewhere:
                con.execute("CREATE VIEW leak AS SELECT * FROM read_csv('/etc/hostname')")
        return path.read_bytes()


def _columns(table: Table) -> tuple[list[str], list[list[Any]]]:
    """Names that a database can tell apart, and rows of as many cells."""
    head = list(dict.fromkeys(_text(name).casefold()[:200] or "_" for name in table.head)) or ["a"]
    return head, [[*row, *[None] * len(head)][: len(head)] for row in table.rows]


def _text(cell: Any) -> str:
    return str(cell).encode("utf-8", "replace").decode().replace("\0", "")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
