"""Which program holds a table, told from its first bytes, and the table as a file that we read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jurors.errors import VotesError
from jurors.options import Format

if TYPE_CHECKING:
    from jurors.votes.findings.finding import Finding

HELD: tuple[Format, ...] = ("xlsx", "sqlite", "duckdb")
_ZIP, _OLD = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SQLITE, _DUCKDB = b"SQLite format 3\0", b"DUCK"  # the second behind a checksum of eight bytes


def holder_of(head: bytes) -> Format | None:
    """The program whose file begins so; None for text, Parquet and the like."""
    if head.startswith(_OLD):
        raise VotesError("this is an old Excel workbook (.xls) or one with a password; save it as .xlsx or CSV")
    if head.startswith(_SQLITE):
        return "sqlite"
    return "xlsx" if head.startswith(_ZIP) else "duckdb" if head[8:12] == _DUCKDB else None


def copied(
    path: Path, holder: Format, inside: str, folder: Path, allowed: int | None, name: str
) -> tuple[Path, Format, tuple[Finding, ...]]:
    """The table in a workbook or database as a file of ours, its format, and what is to know."""
    if holder == "duckdb":
        from jurors.votes.files.foreign.duckdb_table import copy_duckdb

        copy_duckdb(path, inside, folder / "table.parquet", name)
        return folder / "table.parquet", "parquet", ()
    target = folder / "table.jsonl"
    if holder == "sqlite":
        from jurors.votes.files.foreign.sqlite_table import copy_sqlite

        copy_sqlite(path, inside, target, allowed, name)
        return target, "jsonl", ()
    from jurors.votes.files.foreign.workbook import copy_sheet

    return target, "jsonl", copy_sheet(path, inside, target, allowed, name)
