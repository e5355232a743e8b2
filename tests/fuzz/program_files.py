"""Tables as other programs hold them: workbooks with oddities, SQLite and DuckDB databases with tables beside."""

from __future__ import annotations

import io
import random
import re
import sqlite3
import tempfile
import zipfile
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import openpyxl
from openpyxl.utils.exceptions import IllegalCharacterError

if TYPE_CHECKING:
    from fuzz.tables import Table

_TITLES = ("votes", "Sheet 1", "a'b", "x;y", "drop table votes", "🙂")


def bare_xlsx(rng: random.Random, table: Table) -> bytes:
    """A workbook that lacks nearly everything."""
    rows = "".join(
        f"<row>{''.join(f'<c><v>{cell!r}</v></c>' for cell in row)}</row>" for row in (table.head, *table.rows)
    )
    sheet = f"<worksheet><sheetData>{rows}</sheetData></worksheet>"
    return _zipped({"xl/worksheets/sheet1.xml": sheet.encode("utf-8", "replace")})


def xlsx(rng: random.Random, table: Table) -> bytes:
    """A workbook, at times with a title, merged cells, formulas, other sheets, or a sheet of somebody's own XML."""
    if rng.random() < 0.15:
        return bare_xlsx(rng, table)
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
    place = "xl/worksheets/sheet1.xml"
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
    if not isinstance(cell, (str, int, float, bool, type(None))):
        return str(cell)[:100]
    if isinstance(cell, int) and not isinstance(cell, bool) and abs(cell) > 1 << 60:
        return str(cell)
    if not isinstance(cell, str):
        return cell
    text = cell.encode("utf-8", "replace").decode()[:1000]
    try:
        openpyxl.cell.cell.Cell(openpyxl.Workbook().active, value=text)
    except (IllegalCharacterError, ValueError):
        return ascii(text)
    return text


def _zipped(held: dict[str, bytes]) -> bytes:
    """An archive that is the same whenever it is made."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in held.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return sink.getvalue()


def sqlite_file(rng: random.Random, table: Table) -> bytes:
    """An SQLite database with the table, and at times others and a view."""
    head = list(dict.fromkeys(_name(name).casefold() for name in table.head)) or ["a"]
    with sqlite3.connect(":memory:") as con:
        title = _quoted(rng.choice(_TITLES))
        con.execute(f"CREATE TABLE {title} ({', '.join(map(_quoted, head))})")
        rows = [[_stored(row[k] if k < len(row) else None) for k in range(len(head))] for row in table.rows]
        con.executemany(f"INSERT INTO {title} VALUES ({', '.join('?' * len(head))})", rows)
        if rng.random() < 0.2:
            con.execute("CREATE TABLE other (a, b)")
        if rng.random() < 0.1:
            con.execute(f"CREATE VIEW seen AS SELECT * FROM {title}")
    content = con.serialize()
    con.close()
    return bytes(content)


def duckdb_file(rng: random.Random, table: Table) -> bytes:
    """A DuckDB database with the table as text, and at times a view that looks elsewhere."""
    head = list(dict.fromkeys(_name(name).casefold() for name in table.head)) or ["a"]
    rows = [
        [None if k >= len(row) or row[k] is None else _name(row[k]) for k in range(len(head))] for row in table.rows
    ]
    kept = tuple(tuple(row) for row in rows[:40])
    return _duckdb_of(_quoted(rng.choice(_TITLES)), tuple(head), kept, looks_elsewhere=rng.random() < 0.2)


@lru_cache(64)  # DuckDB gives every file a number of its own, and a case is to be the same when it is made again
def _duckdb_of(
    title: str, head: tuple[str, ...], rows: tuple[tuple[str | None, ...], ...], *, looks_elsewhere: bool
) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.duckdb"
        with duckdb.connect(str(path)) as con:
            con.execute(f"CREATE TABLE {title} ({', '.join(f'{_quoted(name)} VARCHAR' for name in head)})")
            if rows:
                con.executemany(
                    f"INSERT INTO {title} VALUES ({', '.join('?' * len(head))})", [list(row) for row in rows]
                )
            if looks_elsewhere:
                con.execute("CREATE VIEW leak AS SELECT * FROM read_csv('/etc/hostname')")
        return path.read_bytes()


def _name(value: Any) -> str:
    return str(value).encode("utf-8", "replace").decode().replace("\0", "")[:200] or "_"


def _stored(cell: Any) -> Any:
    if isinstance(cell, int) and not -(1 << 63) <= cell < 1 << 63:
        return str(cell)
    if isinstance(cell, str):
        return cell.encode("utf-8", "replace").decode()
    return cell if cell is None or isinstance(cell, (int, float, bytes)) else str(cell)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
