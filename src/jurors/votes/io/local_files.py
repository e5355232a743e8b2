"""One file of a source as a file of known format that DuckDB can read in parallel.

Gzip, other encodings (UTF-16, Windows-1252 where it is surely that), a byte order mark, mixed line ends and what other
programs hold (workbooks, SQLite, DuckDB and PostgreSQL tables) go through a temporary copy; all else is read where it
lies. What DuckDB reports about a bad file becomes one line that a person can act on. Databases are only read: no code
of the file is run, and a view can reach no other file.
"""

from __future__ import annotations

import codecs
import gzip
import json
import math
import re
import shutil
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from jurors._files import temp_directory
from jurors.errors import VotesError, format_names, match_name, optional_import
from jurors.options import Format
from jurors.results import without_secrets
from jurors.votes.codes import Finding
from jurors.votes.io.sources import CELLS, OFFLINE, PIECES, TITLES, TablePlace, named_format, split_address, unpacked
from jurors.votes.layout import check_names

if TYPE_CHECKING:
    import psycopg


# -- text that is not UTF-8, as spreadsheets save it -------------------------------------------------------------------

_LITTLE, _BIG = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE
_FEWEST, _LOOKED_AT = 16, 4096
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_INSIDE = "‘’–—·°®™ªº²³"  #: what may stand between two letters, beside letters


def utf16_of(head: bytes) -> str | None:
    r"""Which UTF-16 this is: by its mark, or because every other byte is zero, as in Western text; None for others.

    >>> utf16_of("yes;no\n".encode("utf-16")), utf16_of("yes;no;yes;no\n".encode("utf-16-be")), utf16_of(b"yes;no\n")
    ('utf-16', 'utf-16-be', None)
    """
    if head.startswith((_LITTLE + b"\0\0", b"\0\0" + _BIG)):
        raise VotesError("the text is UTF-32; save it as UTF-8")
    if head.startswith((_LITTLE, _BIG)):
        return "utf-16"
    some = head[: min(_LOOKED_AT, len(head) // 2 * 2)]
    zeros = some[0::2].count(0), some[1::2].count(0)
    if len(some) < _FEWEST or min(zeros) or max(zeros) < 0.45 * len(some):
        return None
    return "utf-16-be" if zeros[0] else "utf-16-le"


def is_windows_text(head: bytes) -> bool:
    """Whether text that is not UTF-8 reads as Western European text of Windows does, and as no other.

    Letters stand among others of their case, few side by side; a Mac's é would be a Ž within a small word, Cyrillic or
    Chinese a run of accents.

    >>> [is_windows_text("naïve café, „weiß“".encode(code)) for code in ("cp1252", "mac_roman", "utf-8")]
    [True, False, False]
    >>> is_windows_text("да;нет".encode("cp1251"))
    False
    """
    try:
        text = head.decode("cp1252")
    except UnicodeDecodeError:
        return False
    for match in _NOT_ASCII.finditer(text):
        before, letters, after = text[match.start() - 1 : match.start()], match[0], text[match.end() : match.end() + 1]
        if len(letters) > 2 or any(c < "\xa0" for c in letters):  # control characters beyond ASCII
            return False
        if before.islower() and letters[0].isupper():
            return False
        if before.isalpha() and after.isalpha() and not all(c.isalpha() or c in _INSIDE for c in letters):
            return False
    return True


# -- tables that other programs hold ----------------------------------------------------------------------------------

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


# -- a file that DuckDB can read --------------------------------------------------------------------------------------

_GZIP, _PARQUET, BOM = b"\x1f\x8b", b"PAR1", b"\xef\xbb\xbf"
HEAD = 1 << 20  # enough for a header of ten thousand jurors


@dataclass(frozen=True)
class TablePart:
    """One file of a table, which DuckDB can read in parallel."""

    path: Path
    name: str  #: what the user calls it
    format: Format
    holder: Format | None = None  #: of what program's file it is a copy
    notes: tuple[Finding, ...] = ()  #: findings about the file
    head: bytes = field(default=b"", repr=False, compare=False)  #: the first bytes of text
    call: str = ""  #: the function of DuckDB that reads it, with a gap for the file's name
    names: tuple[str, ...] = ()
    types: tuple[str, ...] = ()  #: DuckDB's name of each type; "CSV" for a cell of text
    delimiter: str = ""  #: between the cells of a CSV line
    held: list[list[str | None]] | None = field(default=None, repr=False, compare=False)  #: columns, of a small file


def local_copy(
    place: TablePlace, folder: Path, format: Format | None, allowed: int | None, head: bytes = b""
) -> TablePart:
    """Make a file that DuckDB can read.

    Parameters
    ----------
    place
        Where the table is.
    folder
        For the copies of this file alone.
    format
        Its format, where the caller names it.
    allowed
        How much a packed file may hold, where the caller says.
    head
        The file's first bytes, where they are read already.

    Returns
    -------
    TablePart
        The file itself, or a copy; its columns are not known yet.
    """
    table = folder / "table.jsonl"
    if place.address:
        copy_postgres(place.address, table)
        return TablePart(table, place.name, "jsonl", "postgresql")
    hint = format or named_format(place.path.name)
    path, head = place.path, head or read_head(place.path)
    if head.startswith(_GZIP):
        packed, path = path, folder / "unpacked"
        try:
            with opened(packed, head) as file, path.open("wb") as out:
                shutil.copyfileobj(unpacked(file, PIECES, allowed), out, HEAD)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise damaged_gzip(error) from None
        head = read_head(path)
    holder = holder_of(head)
    if holder is None and place.inside:
        raise VotesError(f"this file is one table; leave '::{place.inside}' out")
    notes: tuple[Finding, ...] = ()
    if holder == "duckdb":
        copy_duckdb(path, place.inside, table.with_suffix(".parquet"), place.name)
        return TablePart(table.with_suffix(".parquet"), place.name, "parquet", holder)
    if holder == "sqlite":
        copy_sqlite(path, place.inside, table, allowed, place.name)
    if holder == "xlsx":
        from jurors.votes.io.excel import copy_sheet

        notes = copy_sheet(path, place.inside, table, allowed, place.name)
    if holder is not None:
        return TablePart(table, place.name, "jsonl", holder, notes)
    is_cells = b"\0" not in head and not head.lstrip().startswith((b"{", b"["))  # JSON is UTF-8, or not JSON
    encoding = None if head.startswith(_PARQUET) else utf16_of(head)
    if not head.startswith(_PARQUET) and is_cells and _broken_at(head) is not None and is_windows_text(head):
        guess = "the text is not UTF-8 and is read as Windows-1252; if letters look wrong, save the file as UTF-8"
        encoding, notes = "cp1252", (Finding("windows_text", guess),)
    if encoding is not None:
        path = _recoded(opened(path, head), folder / "utf8", encoding)
        head = read_head(path)
    kind = _format_of(head, hint)
    if kind in ("json", "jsonl") and head.startswith(BOM):
        path, head = _copy(opened(path, head), folder / "bare", skip=len(BOM)), head.removeprefix(BOM)
    if kind in CELLS and _mixes_newlines(path, head):
        # CR LF, CR and LF each as LF; in Latin-1 every byte is a character, so that nothing else changes
        path = _recoded(opened(path, head), folder / "even", "latin-1", to="latin-1", newline=None)
        head = read_head(path)
    return TablePart(_without_wildcards(path, folder / "file"), place.name, kind, None, notes, head)


def _recoded(source: BinaryIO, target: Path, encoding: str, *, to: str = "utf-8", newline: str | None = "") -> Path:
    """A copy of the text in another encoding; where `newline` is None, with LF for every line end."""
    try:
        with TextIOWrapper(source, encoding, newline=newline) as file, target.open("w", encoding=to, newline="") as out:
            shutil.copyfileobj(file, out, HEAD)
    except UnicodeError as error:
        raise VotesError(f"the text is {encoding.upper()}, and broken ({str(error)[-60:]}); save it as UTF-8") from None
    return target


def read_head(path: Path) -> bytes:
    """The first bytes of a file: what it is, and what its columns are called."""
    with path.open("rb") as file:
        return file.read(HEAD)


def opened(path: Path, head: bytes) -> BinaryIO:
    """A file, of which the first bytes are read already; one that they are all of is not opened again."""
    return BytesIO(head) if 0 < len(head) < HEAD else path.open("rb")


def _broken_at(head: bytes) -> int | None:
    """Where the text stops being UTF-8; None where it does not."""
    try:
        head.decode()
    except UnicodeDecodeError as error:
        if len(head) < HEAD or error.start < len(head) - 4:  # not just a character cut in two by our reading
            return error.start
    return None


def damaged_gzip(error: Exception) -> VotesError:
    """The error about a file that cannot be unpacked."""
    message = f"the gzip data are cut short or damaged ({error}); download or write the file again"
    return VotesError(message, code="damaged")


@contextmanager
def plainly_named(path: Path) -> Iterator[Path]:
    """The same file under a name that DuckDB takes as it is, for as long as it takes to read it."""
    with temp_directory() as folder:
        yield _without_wildcards(path, folder / "file")


def _without_wildcards(path: Path, link: Path) -> Path:
    """The same file under a name that is text for DuckDB, and in which it sees no pattern, as in "votes[1].csv"."""
    if not re.search(r"[*?\[\ud800-\udfff]", str(path)):
        return path
    try:
        link.symlink_to(path)
    except OSError:  # links need a permission on Windows
        return _copy(path.open("rb"), link)
    return link


def _copy(source: BinaryIO, target: Path, *, skip: int = 0) -> Path:
    with source as file, target.open("wb") as out:
        file.seek(skip)
        shutil.copyfileobj(file, out, HEAD)
    return target


def _mixes_newlines(path: Path, head: bytes) -> bool:
    """Whether lines end in more than one of CR LF, CR and LF, which DuckDB's strict reading refuses or misreads."""
    with opened(path, head) as file:
        if b"\r" not in head and not any(b"\r" in block for block in iter(lambda: file.read(HEAD), b"")):
            return False
        file.seek(0)
        text = TextIOWrapper(file, "latin-1")
        while text.read(HEAD):
            pass
        return isinstance(text.newlines, tuple)  # more than one of them


def _format_of(head: bytes, format: Format | None) -> Format:
    """What the bytes are: Parquet shows itself; of text, the name decides before the content does."""
    if head.startswith(_PARQUET):
        return "parquet"
    text = head.removeprefix(BOM).lstrip()
    if not text:
        raise VotesError("the file is empty", code="empty")
    if format == "parquet":
        raise VotesError("this is not a Parquet file (it does not begin with PAR1)")
    if format in HELD:
        raise VotesError(f"this is not a valid file of this kind ({TITLES[format]}); name its format, or save it again")
    if b"\0" in head or len(re.findall(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]", head)) > len(head) // 50:
        raise VotesError(
            "these are binary data, not text; supported are CSV, TSV, JSON lines, Parquet, Excel, SQLite and DuckDB, "
            "text also .gz"
        )
    if (broken := _broken_at(head)) is not None:
        raise VotesError(not_utf8(head[:broken].count(b"\n") + 1))
    if format is not None and not (format == "jsonl" and text.startswith(b"[")):
        return format
    return "json" if text.startswith(b"[") else "jsonl" if text.startswith(b"{") else "csv"


def not_utf8(line: int | str) -> str:
    """The message about a line that is not UTF-8."""
    return (
        f"line {line} is not valid UTF-8; save the file as UTF-8, or name its encoding: iconv -f CP1252 -t UTF-8 FILE"
    )


# -- what DuckDB reports about a bad file, as one line that a person can act on ----------------------------------------

INTERRUPTED_FIT = "Training interrupted by user"
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")  # two that belong together are one character to Python
_TOO_DEEP = "the JSON is nested too deeply to hold votes"


def row_fault(row: int, what: str) -> VotesError:
    """A fault in one row of a table (from 1), which a table of several files can say in which of them it is."""
    return VotesError(f"row {row}, {what}", code="bad_row", row=row, what=what)


def is_interrupt(error: Exception) -> bool:
    """Whether DuckDB, or a network of scikit-learn, means Ctrl-C."""
    return str(error) == "Query interrupted" or str(error).startswith(INTERRUPTED_FIT)


def first_line(error: Exception) -> str:
    """What a library says, without what it adds below."""
    return str(error).strip().split("\n")[0]


def file_fault(error: Exception, path: Path, format: Format) -> VotesError:
    """The error about a file, from the one that reading it raised.

    Returns
    -------
    VotesError
        In one line, with the place in the file and what to do.
    """
    text = str(error)
    if type(error).__name__ == "OutOfMemoryException":
        return VotesError("reading needs more memory than it was allowed; allow more with memory=")
    if format == "parquet":
        return damaged_parquet(error)
    if format in ("json", "jsonl"):
        return VotesError(_json_fault(path, format, text))
    line = match[1] if (match := re.search(r"Error on Line: (\d+)", text)) else "?"
    problem = f"{f'line {line}: ' if match else ''}{_first_line(text)}"
    if widths := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text):
        problem = f"line {line} has {widths[2]} fields where the header has {widths[1]}; fill or remove cells"
        if read_head(path).lstrip()[:1] == b"<":
            problem = "this is a page (HTML or XML), not a table of votes"
    elif size := re.search(r"Maximum line size of (\d+) bytes exceeded.*?Actual Size:\s*(\d+)", text, re.DOTALL):
        problem = (
            f"line {line} is longer than {int(size[1]):,} bytes, the limit of a line ({int(size[2]):,} were read): "
            "check for a quotation mark that is not closed"
        )
    elif "utf-8" in text or "unicode" in text:
        problem = not_utf8(line)
    elif "unterminated quote" in text:
        problem = (
            f"line {line} has a quotation mark that is not closed, or stands inside a cell; double it inside a cell"
        )
    return VotesError(problem)


def damaged_parquet(error: Exception) -> VotesError:
    """The error about a Parquet file that DuckDB cannot read, without the path that it puts in its messages.

    >>> damaged_parquet(ValueError("Invalid Input Error: No magic bytes found at end of file '/tmp/votes.parquet'"))
    VotesError('the Parquet file is damaged (No magic bytes found at end of file); download or write it again')
    """
    reason = _first_line(str(error))
    message = f"the Parquet file is damaged ({reason[:120].rstrip(' :.')}); download or write it again"
    return VotesError(message, code="damaged")


def _json_fault(path: Path, format: Format, text: str) -> str:
    """What is wrong with the JSON, by line; only after reading it has failed."""
    if format == "json" and read_head(path).lstrip()[:1] == b"[":
        try:
            records = json.loads(path.read_bytes())
        except RecursionError:
            return _TOO_DEEP
        except ValueError as error:
            return f"the JSON is broken: {_first_line(str(error))}"
        for number, record in enumerate(records, 1):
            if not isinstance(record, dict):
                return f'row {number} of the JSON array is {str(record)[:30]!r}, not a record such as {{"item": …}}'
        return _first_line(text) if records else "the JSON array has no records"
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                record = json.loads(line) if line.strip() else {}
            except UnicodeDecodeError:
                return not_utf8(number)
            except RecursionError:
                return _TOO_DEEP
            except ValueError as error:
                why = getattr(error, "msg", error)
                return f"line {number} is not valid JSON ({why}); put one {{…}} on each line, or write an array of them"
            if not isinstance(record, dict):
                return f"line {number} is not a JSON record but {str(record)[:30]!r}; put one {{…}} on each line"
            if half := _LONE_SURROGATE.search(json.dumps(record, ensure_ascii=False)):
                return f"line {number} holds half a character ({half[0]!a}, a lone surrogate); take it out"
            if not record and line.strip():
                return f"line {number} is an empty record ({{}}): it holds no vote"
    return _first_line(text)


def _first_line(text: str) -> str:
    """The first line of DuckDB's message, without the path that it puts there."""
    line = re.sub(r"^[\w ]+ Error: ", "", text).strip().split("\n")[0].rstrip(". ")
    return re.sub(r"(?: in file)?\s*[\"'](?:/|[A-Za-z]:\\)[^\"']*[\"'],?", "", line)


# -- rows of typed cells as JSON lines, in which one column may hold whole numbers, truth and text ---------------------


def write_lines(
    names: Sequence[str], rows: Iterable[Sequence[Any]], target: Path, packed: int, allowed: int | None
) -> None:
    """Write rows under their names, one record a line; no more than may come out of so many `packed` bytes."""
    check_names(names)
    seen: dict[str, str] = {}
    for name in names:  # DuckDB would give the second of two another name
        if (other := seen.setdefault(name.casefold(), name)) != name:
            raise VotesError(f"columns {other!r} and {name!r} differ by case alone; give each a different name")
    names = [name or "Unnamed: 0" for name in names]  # of the rows, as pandas calls it: no record has a key without one
    written, lines = 0, list[str]()
    with target.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            lines.append(json.dumps(dict(zip(names, map(plain_cell, row), strict=True)), ensure_ascii=False))
            if len(lines) == 1000:
                written += file.write("\n".join(lines) + "\n")
                PIECES.check(written, packed, allowed)
                lines.clear()
        written += file.write("".join(f"{line}\n" for line in lines))
    if not written:
        message = f"there are column names ({', '.join(names[:12])}) but no rows below them"
        raise VotesError(message, code="empty", columns=tuple(names))


def plain_cell(cell: Any) -> Any:
    """A cell as JSON has it: whole floats as integers, days without a time of day.

    >>> from datetime import datetime
    >>> [plain_cell(cell) for cell in (2.0, 2.5, True, datetime(2026, 3, 4), b"yes", float("nan"))]
    [2, 2.5, True, '2026-03-04', 'yes', None]
    """
    if isinstance(cell, float):
        return None if math.isnan(cell) else str(cell) if math.isinf(cell) else int(cell) if cell.is_integer() else cell
    if isinstance(cell, datetime) and cell.time() == datetime.min.time():
        return cell.date().isoformat()
    if isinstance(cell, bytes):
        try:
            return cell.decode()
        except UnicodeDecodeError:
            raise VotesError(f"a cell holds bytes that are not text ({cell[:12]!r})") from None
    return cell if cell is None or isinstance(cell, (str, int, bool)) else str(cell)


def place_of(selected: str, places: Iterable[tuple[str, str, str]]) -> tuple[str, str]:
    """The schema and the bare name of the table that is shown as `selected`; VotesError where two are.

    >>> place_of("lab.votes", [("votes", "main", "votes"), ("lab.votes", "lab", "votes")])
    ('lab', 'votes')
    """
    matches = [(schema, bare) for shown, schema, bare in places if shown == selected]
    if len(matches) > 1:
        raise VotesError(f"there are two tables called {selected!r}, one with the dot in its own name: rename it")
    return matches[0]


def one_of(tables: Sequence[str], named: str, what: str, where: str) -> str:
    """The table of this name, or the only one; VotesError lists them where there are several.

    >>> one_of(["votes"], "", "table", "v.db")
    'votes'
    >>> one_of(["votes", "users"], "", "table", "v.db")
    Traceback (most recent call last):
        ...
    jurors.errors.VotesError: there are 2 tables (votes, users): name one, v.db::votes
    """
    if named:
        return str(match_name(named, tables, what))
    if len(tables) == 1:
        return tables[0]
    if not tables:
        raise VotesError(f"there is no {what} in it", code="empty")
    raise VotesError(
        f"there are {len(tables)} {what}s ({format_names(tables, 12)}): name one, {where}::{tables[0]}",
        code="two_readings",
        known=tuple(tables),
    )


# -- databases --------------------------------------------------------------------------------------------------------

_TABLES = (  # of all schemas; without the schema, those of the usual one
    "SELECT CASE WHEN table_schema = '{usual}' THEN table_name ELSE table_schema || '.' || table_name END, "
    "table_schema, table_name, table_type FROM information_schema.tables WHERE table_schema NOT IN "
    "('information_schema', 'pg_catalog') ORDER BY {order}"
)


def copy_duckdb(path: Path, table: str, target: Path, name: str) -> None:
    """Copy a table of a DuckDB database to Parquet; a view only where it is named."""
    import duckdb

    out = str(target).replace("'", "''")
    folder = str(target.parent).replace("'", "''")
    try:
        with duckdb.connect(str(path), read_only=True, config=OFFLINE) as con:
            con.execute(f"SET allowed_directories = ['{folder}']; SET enable_external_access = false")
            held = con.execute(_TABLES.format(usual="main", order="ALL")).fetchall()
            known = [shown for shown, _, _, kind in held if table or kind == "BASE TABLE"]
            selected = one_of(known, table, "table", name)
            place = place_of(selected, [row[:3] for row in held])
            quoted = ".".join('"' + part.replace('"', '""') + '"' for part in place)
            con.execute(f"COPY (SELECT * FROM {quoted}) TO '{out}' (FORMAT parquet)")
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.Error as error:
        reason = first_line(error).replace(str(path), name)[:160]
        raise VotesError(f"the DuckDB database cannot be read ({reason}); close or copy it") from None


def copy_sqlite(path: Path, table: str, target: Path, allowed: int | None, name: str) -> None:
    """Copy a table of an SQLite database to JSON lines; a view only where it is named."""
    with _opened(path) as con:
        held = con.execute("SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY rowid")
        kinds = {str(table): kind for table, kind in held if not str(table).startswith("sqlite_")}
        known = [shown for shown in kinds if table or kinds[shown] == "table"]
        selected = one_of(known, table, "table", name).replace('"', '""')
        cursor = con.execute(f'SELECT * FROM "{selected}"')
        names = [str(column[0]) for column in cursor.description]
        write_lines(names, cursor, target, path.stat().st_size, allowed)


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open an SQLite database for reading.

    SQLite puts two files beside one with a log of changes (WAL), even only to read it. Where the log is not there, no
    process has the database open, and all of it is in the one file, which can be opened as immutable.
    """
    with path.open("rb") as file:
        has_log = file.read(20)[18:] == b"\2\2"
    mode = "mode=ro&immutable=1" if has_log and not path.with_name(f"{path.name}-wal").exists() else "mode=ro"
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?{mode}", uri=True)) as con:
            con.execute("PRAGMA trusted_schema = OFF")
            yield con
    except sqlite3.Error as error:
        reason = first_line(error)[:120]
        raise VotesError(f"the SQLite database cannot be read ({reason}); close, repair or copy it") from None
    except UnicodeError:
        raise VotesError("the SQLite database holds text that is not valid UTF-8; write it again") from None


_PATIENCE = 10  # seconds until a server must answer
_POSTGRES_ROWS = 5000


def copy_postgres(url: str, target: Path) -> None:
    """Copy a table, or view, of a PostgreSQL server to JSON lines, which the server makes of the rows."""
    address, table = split_address(url)
    # the driver would take a part of the password for the host, and print it
    if address.partition("?")[0].count("@") > 1:
        raise VotesError("the address has more than one @; write %40 for one that belongs to the password")
    rows = 0
    with _connect(address) as con:
        from psycopg import sql

        held = con.execute(_TABLES.format(usual="public", order="table_schema <> 'public', 1")).fetchall()
        selected = one_of([row[0] for row in held], table, "table", without_secrets(address))
        name = sql.Identifier(*place_of(selected, [row[:3] for row in held]))
        with con.cursor("jurors") as cursor, target.open("w", encoding="utf-8", newline="\n") as file:
            cursor.itersize = _POSTGRES_ROWS
            cursor.execute(sql.SQL("SELECT row_to_json(held.*)::text FROM {} AS held").format(name))
            for (record,) in cursor:
                # in a cell that is JSON itself, PostgreSQL has line ends between its parts; those in text are escaped
                file.write(record.replace("\n", " ").replace("\r", " ") + "\n")
                rows += 1
        if not rows:
            raise VotesError("the table has no rows", code="empty")


@contextmanager
def _connect(address: str) -> Iterator[psycopg.Connection[Any]]:
    with optional_import("PostgreSQL needs psycopg: pip install 'jurors[postgres]'"):
        import psycopg
    try:
        with psycopg.connect(address, connect_timeout=_PATIENCE) as con:
            con.read_only = True
            yield con
    except psycopg.ProgrammingError as error:
        if error.sqlstate is None:  # whose message has the whole address, password and all
            raise VotesError("this is not a PostgreSQL address; write postgresql://host/database::table") from None
        raise VotesError(f"PostgreSQL says: {without_secrets(first_line(error))[:200]}") from None
    except (psycopg.Error, UnicodeError) as error:
        raise VotesError(f"PostgreSQL cannot be read: {without_secrets(first_line(error))[:200]}") from None
