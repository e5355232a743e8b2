"""CSV as DuckDB reads it: the delimiter, the line of names, and the lines above and below it that are no votes.

Excel writes a line `sep=;` above the names, Qualtrics two lines below them (the questions, and an ImportId of each
column), spreadsheets columns without a name or a cell; a title above the names is refused with where these stand.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jurors.errors import VotesError
from jurors.results import with_formula
from jurors.votes.io.local_files import BOM, HEAD

if TYPE_CHECKING:
    import duckdb


FILES = "\0"  #: where the names of the files go in a call: no path and no column holds it
_MARKS = (",", "\t", ";", "|")
_DELIMITER_LINE = re.compile(r'"?sep=([^\w\r\n"])"?\r?\n', re.IGNORECASE)
_ENDS = re.compile(r"\r\n|\r|\n")
_LOOKED_AT = 50  # lines
_TAIL = 1 << 16  # bytes
_FEWEST = 3  # cells of a line that can be the names' where the first line is not


def delimited(
    con: duckdb.DuckDBPyConnection, path: Path, start: bytes, delimiter: str | None
) -> tuple[str, tuple[str, ...], str]:
    """Find how DuckDB reads a file of delimited text.

    Parameters
    ----------
    start
        The first bytes of the file.
    delimiter
        None: the one that makes the most columns of the first line.

    Returns
    -------
    call
        Of DuckDB, with a gap for the file's name.
    names
        Of the columns.
    delimiter

    Raises
    ------
    VotesError
        Where the first line names no columns.
    """
    head = start.removeprefix(BOM).decode("utf-8", "replace")
    named = _DELIMITER_LINE.match(head)
    if named is not None:
        delimiter, head = named[1], head[named.end() :]
    if named is not None and not head.strip():
        raise VotesError("there is nothing below the line that names the delimiter", code="empty")
    choices = [delimiter] if delimiter else _MARKS
    blank = len(_ENDS.findall(head[: len(head) - len(head.lstrip("\r\n"))]))  # DuckDB would take one for the names
    headers = {mark: _header(head.lstrip("\r\n"), mark) for mark in choices}
    if not any(headers.values()):
        raise VotesError(
            f"the first line has a cell of more than {csv.field_size_limit():,} characters; it must hold the columns' "
            "names"
        )
    mark = max(choices, key=lambda mark: len(headers[mark]))
    names = tuple(with_formula(name.strip()) for name in headers[mark])
    _refuse_title(head, names, choices, 2 if named else 1)
    skip, delim = (1 if named else 0) + blank, mark.replace("'", "''")
    types = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(len(names)))
    call = (
        f"read_csv([{FILES}], auto_detect=false, header=true, delim='{delim}', quote='\"', "
        f"escape='\"', columns={{{types}}}, max_line_size=20000000, buffer_size=32000000, "
        f"compression='uncompressed', hive_partitioning=false{f', skip={skip}' if skip else ''})"
    )
    # the two lines that Qualtrics writes below the names; a blank line has no cells, and so none that differs
    tags = [cells for _, cells in _first_lines(head.lstrip("\r\n"), mark)[1:3]]
    if len(tags) == 2 and all(tags) and all(cell.startswith('{"ImportId"') for cell in tags[1]):
        filled_tags = [[(k, cell.replace("'", "''")) for k, cell in enumerate(cells) if cell] for cells in tags]
        differs = [" OR ".join(f"trim(c{k}) IS DISTINCT FROM '{cell}'" for k, cell in cells) for cells in filled_tags]
        call = f"(SELECT * FROM {call} WHERE {' AND '.join(f'({differ})' for differ in differs)})"
    # lines of delimiters alone, as spreadsheets leave them below a table; above a row, one is an item without votes
    end = start[-_TAIL:]
    if len(start) == HEAD:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL))
            end = file.read()
    last_lines = end.decode("utf-8", "replace").splitlines()
    if any(mark in line and not line.strip(f'{mark}" ') for line in last_lines):
        is_filled = f"coalesce({', '.join(f'c{k}' for k in range(len(names)))}) IS NOT NULL"  # anything stands there
        rows = f"SELECT {is_filled} AS filled, row_number() OVER () AS place FROM {fill_files(call, path)}"
        blank_are_last = f"SELECT max(place) FILTER (filled) < min(place) FILTER (NOT filled) FROM ({rows})"
        if con.execute(blank_are_last).fetchall()[0][0] is not False:
            call = f"(SELECT * FROM {call} WHERE {is_filled})"
    # columns that have neither a name nor a cell, which spreadsheets leave at the edges
    unnamed = [k for k, name in enumerate(names) if k and not name]
    if not unnamed or len(unnamed) == len(names):
        return call, names, mark
    filled = ", ".join(f"count(nullif(trim(c{k}), ''))" for k in unnamed)
    counts = con.execute(f"SELECT {filled} FROM {fill_files(call, path)}").fetchall()[0]
    empty = {k for k, count in zip(unnamed, counts, strict=True) if not count}
    left = [k for k in range(len(names)) if k not in empty]
    columns = ", ".join(f"c{k}" for k in left)
    return f"(SELECT {columns} FROM {call})", tuple(names[k] for k in left), mark


def plain_cells(head: bytes, delimiter: str, names: Sequence[str], most: int) -> list[list[str | None]] | None:
    r"""The cells of a small file in which nothing but delimiters and line ends has a meaning.

    Parameters
    ----------
    head
        The first bytes of the file.
    most
        Rows.

    Returns
    -------
    list or None
        For each column its cells, None where one is empty. None where reading takes DuckDB: a quotation mark, a blank
        line, cells without a name, names that are not the first line, a file that is larger.

    Examples
    --------
    >>> plain_cells(b"item,ann\n1,yes\n2,\n", ",", ["item", "ann"], 9)
    [['1', '2'], ['yes', None]]
    """
    carriages = head.count(b"\r")
    if len(head) == HEAD or b'"' in head or len(names) < 2 or (carriages and carriages != head.count(b"\r\n")):
        return None
    if head.count(b"\n") > most + 1:  # before any line is split
        return None
    text = head.removeprefix(BOM).decode().replace("\r\n", "\n").removesuffix("\n")
    first, *rows = [line.split(delimiter) for line in text.split("\n")]
    if not 0 < len(rows) <= most or tuple(with_formula(name.strip()) for name in first) != tuple(names):
        return None
    if set(map(len, rows)) != {len(names)} or not all(map(any, rows)):
        return None
    return [[cell or None for cell in column] for column in zip(*rows, strict=True)]


def possible_names(head: str) -> list[str]:
    r"""The columns' names by every delimiter that there may be.

    Returns
    -------
    list of str

    Examples
    --------
    >>> possible_names('item;"model a"\n1;x\n')
    ['item;"model a"', 'item;"model a"', 'item', 'model a', 'item;"model a"']
    """
    named = _DELIMITER_LINE.match(head)
    marks = _MARKS if named is None else (named[1],)
    return [name for mark in marks for name in _header(head[named.end() if named else 0 :], mark)]


def _header(head: str, delimiter: str) -> list[str]:
    """The cells of the first line; none where one of them is too long to be a name."""
    try:
        return next(csv.reader(io.StringIO(head, newline=""), delimiter=delimiter), [])
    except csv.Error:
        return []


# -- lines that are no votes ------------------------------------------------------------------------------------


def _first_lines(head: str, delimiter: str) -> list[tuple[int, list[str]]]:
    """The first lines' cells, each with the number of its line; the last may be cut off by our reading, and is left."""
    reader = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)
    lines: list[tuple[int, list[str]]] = []
    try:
        for cells in reader:
            lines.append((reader.line_num, [cell.strip() for cell in cells]))
            if len(lines) > _LOOKED_AT:
                break
    except csv.Error:
        return []
    return lines if len(head) < HEAD else lines[:-1]


def _refuse_title(head: str, names: Sequence[str], marks: Sequence[str], first: int) -> None:
    """VotesError where the names of the columns stand further down: most cells of the lines there have none above."""
    named = sum(map(bool, names))
    for mark in marks if named == 1 else ():
        lines = _first_lines(head, mark)
        widths = [sum(map(bool, cells)) for _, cells in lines]
        widest = max(widths, default=0)
        if widest < _FEWEST or widths.count(widest) < _FEWEST:
            continue
        place = widths.index(widest)
        line = (lines[place - 1][0] if place else 0) + first
        raise VotesError(
            f"the first line, {names[0][:40]!r}, is not the columns' names, which seem to stand in line {line}: take "
            f"out what is above (`tail -n +{line} FILE | jurors … -`)",
            code="no_votes_table",
        )


def fill_files(call: str, *paths: Path) -> str:
    """A call of DuckDB with the names of files in its gap."""
    return call.replace(FILES, ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths))
