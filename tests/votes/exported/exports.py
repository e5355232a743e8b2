"""Tables as tools export them: what is in the file, the votes in it, and what a refusal must say.

Text files are data: a line of `exports.jsonl` each, with the file and its votes in `files.zip`. Workbooks and databases
are written by their own programs (`program_exports.py`).
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from votes.panels import panel

JURORS = ("ann", "bob", "cy", "dee", "eve")
ITEMS = [f"q{k + 1:02d}" for k in range(24)]
_, ROWS = panel(24, seed=5)
FILES = Path(__file__).with_name("files.zip")
Triples = set[tuple[str, str, str]]  #: item, juror and label, as text


@dataclass(frozen=True)
class Export:
    """A file and the votes in it; `say` is what the refusal proposes, which then reads them."""

    file: str
    write: Callable[[Path], object]
    votes: Triples
    say: str = ""  #: options that a refusal must name, word for word
    inside: str = ""  #: what of the file is read: `::sheet`
    options: str = ""  #: what the user says from the start


def stored(member: str) -> bytes:
    """A file of the archive."""
    with zipfile.ZipFile(FILES) as archive:
        return archive.read(member)


def text_exports() -> dict[str, Export]:
    """The exports that are data."""
    lines = Path(__file__).with_name("exports.jsonl").read_text(encoding="utf-8").splitlines()
    return {export["name"]: _text_export(**export) for export in map(json.loads, lines)}


def _text_export(name: str, file: str, **more: str) -> Export:
    votes: Triples = {(item, juror, label) for item, juror, label in json.loads(stored(f"{name}/votes.json"))}
    return Export(file, lambda path: path.write_bytes(stored(f"{name}/{file}")), votes, **more)


def triples(rows: Sequence[Sequence[Any]] = ROWS, items: Sequence[Any] = ITEMS) -> Triples:
    """The votes of a table of items by jurors."""
    return {
        (str(item), juror, str(vote))
        for item, row in zip(items, rows, strict=True)
        for juror, vote in zip(JURORS, row, strict=True)
        if vote is not None
    }


def wide(rows: Sequence[Sequence[Any]] = ROWS) -> list[list[Any]]:
    """The plain table: items in rows, jurors in columns."""
    return [["item", *JURORS], *([item, *row] for item, row in zip(ITEMS, rows, strict=True))]
