"""Rows of typed cells as JSON lines, which keep whole numbers, truth and text apart within one column."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.names import nearest, some
from jurors.votes.files.sizes import PIECES
from jurors.votes.layout import check_names

_BLOCK = 1000


def write_lines(
    names: Sequence[str], rows: Iterable[Sequence[Any]], target: Path, packed: int, allowed: int | None
) -> None:
    """The rows under their names, one record a line; no more than what may come out of so many bytes."""
    check_names(names)
    _refuse_cases(names)
    names = [name or "Unnamed: 0" for name in names]  # of the rows, as pandas calls it: no record has a key without one
    written, lines = 0, list[str]()
    with target.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            lines.append(json.dumps(dict(zip(names, map(plain_cell, row), strict=True)), ensure_ascii=False))
            if len(lines) == _BLOCK:
                written += file.write("\n".join(lines) + "\n")
                PIECES.check(written, packed, allowed)
                lines.clear()
        written += file.write("".join(f"{line}\n" for line in lines))
    if not written:
        message = f"there are column names ({', '.join(names[:12])}) but no rows below them"
        raise VotesError(message, code="empty", columns=tuple(names))


def _refuse_cases(names: Sequence[str]) -> None:
    """VotesError where two names differ by case alone: DuckDB would call the second of them otherwise."""
    seen: dict[str, str] = {}
    for name in names:
        if (other := seen.setdefault(name.casefold(), name)) != name:
            raise VotesError(f"columns {other!r} and {name!r} differ by case alone; give each a name of its own")


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
    if isinstance(cell, (datetime, date)):
        return cell.isoformat(sep=" ") if isinstance(cell, datetime) else cell.isoformat()
    if isinstance(cell, bytes):
        try:
            return cell.decode()
        except UnicodeDecodeError:
            raise VotesError(f"a cell holds bytes that are no text ({cell[:12]!r})") from None
    return cell if cell is None or isinstance(cell, (str, int, bool)) else str(cell)


def place_of(chosen: str, places: Iterable[tuple[str, str, str]]) -> tuple[str, str]:
    """The schema and the own name of a table that is shown so; VotesError where two are.

    >>> place_of("lab.votes", [("votes", "main", "votes"), ("lab.votes", "lab", "votes")])
    ('lab', 'votes')
    """
    found = [(schema, own) for shown, schema, own in places if shown == chosen]
    if len(found) > 1:
        raise VotesError(f"there are two tables called {chosen!r}, one with the dot in its own name: rename it")
    return found[0]


def one_of(tables: Sequence[str], wanted: str, what: str, where: str) -> str:
    """The table that is wanted, or the only one; VotesError lists them where nobody can tell.

    >>> one_of(["votes"], "", "table", "v.db")
    'votes'
    >>> one_of(["votes", "users"], "", "table", "v.db")
    Traceback (most recent call last):
        ...
    jurors.errors.VotesError: there are 2 tables (votes, users): name one, v.db::votes
    """
    if wanted:
        return str(nearest(wanted, tables, what))
    if len(tables) == 1:
        return tables[0]
    if not tables:
        raise VotesError(f"there is no {what} in it", code="empty")
    raise VotesError(
        f"there are {len(tables)} {what}s ({some(tables, 12)}): name one, {where}::{tables[0]}",
        code="two_readings",
        known=tuple(tables),
    )
