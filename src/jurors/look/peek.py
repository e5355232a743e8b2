"""What a file shows that cannot be read as votes: its columns or keys, and its first lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.votes.files.formats import CELLS, named_format
from jurors.votes.readers.log_files import Files

_LARGEST = 50_000_000
_LINES = 3
_MOST_WORDS = 3  #: in the name of a column; more are a sentence


@dataclass(frozen=True)
class Glimpse:
    """A first look at a file."""

    format: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]  #: its first lines below the column names


def peek(paths: Sequence[Path], root: Path) -> Glimpse | None:
    """The columns and first lines of the first file; None where it is no text."""
    files = Files(tuple(paths[:1]), root)
    try:
        head = files.head()
        text = head[: head.rfind(b"\n") + 1 or len(head)].decode()
    except (VotesError, UnicodeDecodeError):
        return None
    if not text.strip() or "\0" in text:
        return None
    if text.lstrip()[0] in "{[":
        return _json_glimpse(files, text)
    lines = text.splitlines()
    choices = {mark: _header(text, mark) for mark in ",\t;|"}
    mark = max(choices, key=lambda mark: len(choices[mark]))
    columns = tuple(name.strip() for name in choices[mark])
    if not _is_table(paths[0].name, columns):
        return Glimpse("text", (), tuple(line for line in lines if line.strip())[:_LINES])
    return Glimpse("TSV" if mark == "\t" else "CSV", columns, tuple(lines[1 : 1 + _LINES]))


def _header(text: str, mark: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(text, newline=""), delimiter=mark), [])
    except csv.Error:
        return []


def _is_table(name: str, columns: Sequence[str]) -> bool:
    """Whether the first line names columns, or the file's name says that it does."""
    if named_format(name) in CELLS:
        return True
    return len(columns) > 1 and all(column and len(column.split()) <= _MOST_WORDS for column in columns)


def _json_glimpse(files: Files, text: str) -> Glimpse | None:
    what = "JSON document"
    try:
        if files.paths[0].stat().st_size > _LARGEST:
            raise VotesError("too large to look at whole")
        document: Any = files.document().value
    except VotesError:
        what = "JSON lines"
        try:
            document = json.loads(text.splitlines()[0])
        except (ValueError, RecursionError):
            return Glimpse("JSON", (), tuple(line[:100] for line in text.splitlines()[:_LINES]))
    if isinstance(document, list):
        what, document = f"JSON array of {len(document):,}", document[0] if document else {}
    if not isinstance(document, dict):
        return Glimpse(what, (), (_writable(str(document)[:100]),))
    rows = tuple(_writable(f"{key}: {_kind(value)}") for key, value in list(document.items())[:8])
    return Glimpse(what, tuple(map(_writable, document)), rows)


def _writable(text: str) -> str:
    """Text in which half a character, as JSON may hold, is spelled out."""
    return text.encode("utf-8", "backslashreplace").decode()


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        return f"an object with {', '.join(map(str, list(value)[:4]))}{' …' if len(value) > 4 else ''}"
    if isinstance(value, list):
        return f"a list of {len(value):,}"
    return str(value)[:60]
