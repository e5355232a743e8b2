"""Tables as tools export them: what is in the file, the votes in it, and what a refusal must say."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from votes.panels import panel

JURORS = ("ann", "bob", "cy", "dee", "eve")
ITEMS = [f"q{k + 1:02d}" for k in range(24)]
TRUTH, ROWS = panel(24, seed=5)
TEXTS = [f"Reply {k}: the {'red' if k % 3 else 'blue'} one, since it is {k * 7} cm long" for k in range(24)]
Said = set[tuple[str, str, str]]  #: item, juror and label, as text


@dataclass(frozen=True)
class Export:
    """A file and the votes in it; `say` is what the refusal proposes, which then reads them."""

    file: str
    write: Callable[[Path], object]
    votes: Said
    say: str = ""  #: options that a refusal must name, word for word
    inside: str = ""  #: what of the file is read: `::sheet`
    options: str = ""  #: what the user says from the start


EXPORTS: dict[str, Export] = {}


def export(name: str, file: str, content: bytes | Callable[[Path], object], votes: Said, **more: str) -> None:
    """One more export."""
    if name in EXPORTS:
        raise ValueError(f"two exports are called {name}")
    write = content if callable(content) else _writer(content)
    EXPORTS[name] = Export(file, write, votes, **more)


def _writer(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


def said(rows: Sequence[Sequence[Any]] = ROWS, jurors: Sequence[str] = JURORS, items: Sequence[Any] = ITEMS) -> Said:
    """The votes of a table of items by jurors."""
    return {
        (str(item), str(juror), str(vote))
        for item, row in zip(items, rows, strict=True)
        for juror, vote in zip(jurors, row, strict=True)
        if vote is not None
    }


def one_by_one(rows: Sequence[Sequence[Any]] = ROWS, jurors: Sequence[str] = JURORS) -> Iterable[tuple[int, int, Any]]:
    """Number of the item, number of the juror and vote; every crowd leaves a few out."""
    return [
        (i, j, vote)
        for i, row in enumerate(rows)
        for j, vote in enumerate(row)
        if (i + j) % 7 and jurors[j] is not None
    ]


def crowd(jurors: Sequence[str] = JURORS, items: Sequence[Any] = ITEMS, rows: Sequence[Sequence[Any]] = ROWS) -> Said:
    """The votes of `one_by_one`."""
    return {(str(items[i]), str(jurors[j]), str(vote)) for i, j, vote in one_by_one(rows, jurors)}


def cells(*rows: Sequence[Any], mark: str = ",", end: str = "\n", quote_all: bool = False) -> str:
    """Rows as delimited text."""
    out = io.StringIO(newline="")
    how: Any = csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
    csv.writer(out, delimiter=mark, lineterminator=end, quoting=how).writerows(
        [["" if cell is None else cell for cell in row] for row in rows]
    )
    return out.getvalue()


def wide(rows: Sequence[Sequence[Any]] = ROWS, head: str = "item") -> list[list[Any]]:
    """The plain table: items in rows, jurors in columns."""
    return [[head, *JURORS], *([item, *row] for item, row in zip(ITEMS, rows, strict=True))]
