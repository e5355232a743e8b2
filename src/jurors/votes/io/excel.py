"""A sheet of an Excel workbook, through openpyxl, row by row; what a sheet can hide is refused with what to do.

Merged cells stand for several and hold one; a formula that was never computed holds nothing; a title above the names
makes the names of the columns cells. `book.xlsx::Sheet2!B3:F90` says where the table is.
"""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any

from jurors.errors import JurorsError, VotesError, format_names, optional_import
from jurors.votes.codes import Finding
from jurors.votes.io.local_files import first_line, one_of, plain_cell, write_lines
from jurors.votes.io.sources import PIECES, WHOLE

_BLOCK = 1 << 20
_MOST_ROWS = 1_048_576
_ERRORS = frozenset(("#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"))
_AREA = re.compile(r"([A-Z]{1,3})(\d{1,7})(?::([A-Z]{1,3})(\d{1,7}))?", re.IGNORECASE)
_TITLES = 50  # rows that are looked at to find where a table begins


def copy_sheet(path: Path, inside: str, target: Path, allowed: int | None, name: str) -> tuple[Finding, ...]:
    """Write one sheet as JSON lines.

    Parameters
    ----------
    inside
        The sheet, and perhaps the cells; "" for the first sheet.
    target
        The file to write.
    allowed
        How much a packed file may hold, where the user says.
    name
        The name of the workbook in messages.

    Returns
    -------
    tuple of Finding
        That there are other sheets, where none was named.
    """
    is_marked = _checked_archive(path, allowed)
    with _opened(path, read_only=True) as book:
        sheets = [str(title) for title in book.sheetnames if hasattr(book[title], "iter_rows")]
        named, area = inside, ""
        if "!" in inside and inside not in sheets:
            named, _, area = inside.rpartition("!")
            if _AREA.fullmatch(area) is None:
                raise VotesError(f"{area!r} names no cells; write the first of the table, A3, or both corners, A3:F90")
        if named not in ("", *sheets):
            named = one_of(sheets, named.strip("'"), "sheet", "")
        sheet = named if named else sheets[0] if sheets else one_of(sheets, "", "sheet", name)
        if is_marked:
            _refuse_hidden(path, sheet, area, allowed, name)
        names, rows = _table(book[sheet], sheet, area, name)
        write_lines(names, rows, target, path.stat().st_size, allowed)
    others = [title for title in sheets if title != sheet]
    if named or not others:
        return ()
    shown = format_names(map(repr, others), 6)
    message = f"only sheet {sheet!r} is read, not {shown}; to read another, use {name}::{others[0]}"
    return (Finding("other_sheets", message, value=float(len(others))),)


def _checked_archive(path: Path, allowed: int | None) -> bool:
    """Whether cells are merged or computed anywhere; VotesError where this is no workbook, or one made to burst."""
    with _parsing(), zipfile.ZipFile(path) as archive:
        names = [info.filename for info in archive.infolist()]
        if not any(name.startswith("xl/") for name in names):
            if "content.xml" in names:
                raise VotesError("this is an OpenDocument sheet; save it as .xlsx or CSV")
            raise VotesError("this is an archive, not an Excel workbook; unpack it, and name the file of votes in it")
        unpacked, marked = 0, False
        for info in archive.infolist():
            with archive.open(info) as member:
                before = b""
                while block := member.read(_BLOCK):
                    unpacked += len(block)
                    PIECES.check(unpacked, path.stat().st_size, allowed)
                    if "/worksheets/" in info.filename and not marked:
                        marked = re.search(rb"<(?:\w+:)?(?:mergeCell|f)[ >/]", before + block) is not None
                        before = block[-40:]
    return marked


@contextmanager
def _parsing() -> Iterator[None]:
    """Around what zipfile and openpyxl do, and that alone: whatever they stumble over, the file is not sound."""
    try:
        yield
    except (JurorsError, MemoryError):
        raise
    except Exception as error:  # zlib, lzma and the parsers of XML have errors of their own
        reason = first_line(error)[:80] or type(error).__name__
        raise VotesError(
            f"the Excel workbook is damaged or locked ({reason}); save it again, or save it as CSV"
        ) from None


@contextmanager
def _opened(path: Path, *, read_only: bool, computed: bool = True) -> Iterator[Any]:
    with optional_import("Excel workbooks need openpyxl: pip install 'jurors[excel]', or save the sheet as CSV"):
        import openpyxl
    with path.open("rb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of styles and the like that openpyxl leaves out
        with _parsing():
            book = openpyxl.load_workbook(file, read_only=read_only, data_only=computed, keep_links=False)
        yield book


# -- which sheet, and where the table is in it ------------------------------------------------------------------


def _bounds(area: str) -> dict[str, int]:
    from openpyxl.utils.cell import column_index_from_string

    if (match := _AREA.fullmatch(area)) is None:
        return {}
    bounds = {"min_col": column_index_from_string(match[1]), "min_row": int(match[2])}
    if match[3]:
        bounds |= {"max_col": column_index_from_string(match[3]), "max_row": int(match[4])}
    return bounds


def _table(sheet: Any, title: str, area: str, name: str) -> tuple[list[str], Iterator[list[Any]]]:
    """The names of the columns, and the rows below them that are not blank."""
    sheet.reset_dimensions()  # some programs write wrong ones, and cells would be lost
    bounds = _bounds(area)
    rows = _numbered(sheet.iter_rows(values_only=True, **bounds), bounds.get("min_row", 1))
    first, head = next(((k, row) for k, row in rows if _filled(row)), (0, ()))
    if not first:
        what = f"cells {area} of sheet {title!r} are" if area else f"sheet {title!r} is"
        raise VotesError(f"{'the ' if area else ''}{what} empty", code="empty")
    early, places, left = list(islice(rows, _TITLES)), _filled(head), bounds.get("min_col", 1)
    used = {k for _, row in early for k in _filled(row)}
    before = [k for k in used if k < places[0]]
    if len(before) == 1 and len(places) > 1:  # the first column, which R leaves without a name
        places = [*before, *places]
    if unnamed := used - set(places):
        width = max(len(_filled(row)) for _, row in early)
        begins, widest = next((k, row) for k, row in early if len(_filled(row)) == width)
        number, cell = next((k, row[min(unnamed)]) for k, row in early if min(unnamed) in _filled(row))
        raise VotesError(
            f"cell {_letter(min(unnamed) + left)}{number} holds {str(cell)[:30]!r}, and its column has no name "
            f"in row {first}: name it, or say where the table begins, such as "
            f"{name}::{title}!{_letter(_filled(widest)[0] + left)}{begins}"
        )

    def cells(number: int, row: Sequence[Any]) -> list[Any]:
        """A row's cells under the names; one outside of them is refused."""
        if odd := set(_filled(row)) - set(places):
            at = f"{_letter(min(odd) + left)}{number}"
            raise VotesError(f"cell {at} holds {str(row[min(odd)])[:30]!r}, and its column has no name in row {first}")
        named = [row[k] if k < len(row) else None for k in places]
        for k, cell in zip(places, named, strict=True):
            if isinstance(cell, str) and cell in _ERRORS:
                raise VotesError(f"cell {_letter(k + left)}{number} holds the error {cell}; correct or empty it")
        return named

    names = [head[k] if k < len(head) else None for k in places]
    named = ["" if name is None else str(plain_cell(name)).strip() for name in names]
    return named, (cells(k, row) for k, row in chain(early, rows) if _filled(row))


def _numbered(rows: Iterator[Sequence[Any]], first: int) -> Iterator[tuple[int, Sequence[Any]]]:
    """Rows, which are parsed one by one, with their numbers; what goes wrong where they are used is no such fault."""
    with _parsing():
        for k, row in enumerate(rows, first):
            if k > _MOST_ROWS:
                raise VotesError(f"a sheet has at most {_MOST_ROWS:,} rows; this one is damaged")
            yield k, row


def _filled(row: Sequence[Any]) -> list[int]:
    return [k for k, cell in enumerate(row) if cell is not None and (not isinstance(cell, str) or cell.strip())]


def _letter(column: int) -> str:
    from openpyxl.utils.cell import get_column_letter

    return str(get_column_letter(column))


# -- what a sheet hides -----------------------------------------------------------------------------------------


def _refuse_hidden(path: Path, title: str, area: str, allowed: int | None, name: str) -> None:
    """Refuse merged cells of the table, and formulas whose value the file does not hold.

    A formula that came to no text, "", has the type of texts.
    """
    with zipfile.ZipFile(path) as archive:
        WHOLE.check(sum(info.file_size for info in archive.infolist()), path.stat().st_size, allowed)
    with _opened(path, read_only=False, computed=False) as written, _opened(path, read_only=False) as computed:
        bounds = {"min_row": 1, "min_col": 1, "max_row": _MOST_ROWS, "max_col": 1 << 14, **_bounds(area)}
        for merged in written[title].merged_cells.ranges:
            is_outside = merged.max_row < bounds["min_row"] or merged.min_row > bounds["max_row"]
            if not (is_outside or merged.max_col < bounds["min_col"] or merged.min_col > bounds["max_col"]):
                raise VotesError(
                    f"the cells {merged.coord} of sheet {title!r} are merged, and only the first of them holds "
                    "anything: unmerge them and fill each; or, if they are above the table, say where it begins "
                    f"({name}::{title}!A{merged.max_row + 1})"
                )
        for row in written[title].iter_rows(**_bounds(area)):
            for cell in row:
                value = computed[title][cell.coordinate] if cell.data_type == "f" else cell
                if value is not cell and value.value is None and value.data_type != "str":
                    raise VotesError(
                        f"cell {cell.coordinate} of sheet {title!r} is a formula whose value the file does not hold: "
                        "open it in Excel or LibreOffice and save it, or paste the values"
                    )
