"""What the tests of readers share: files as a reader gets them, and records as a table to compare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jurors.votes import Votes
from jurors.votes.readers import Records, find_reader, read_records
from jurors.votes.readers.base import Files

SAMPLES = Path(__file__).parent / "votes" / "readers" / "samples"


def files_of(place: Path) -> Files:
    """One file, or all below a folder."""
    if place.is_file():
        return Files((place,), place.parent)
    return Files(tuple(sorted(path for path in place.rglob("*") if path.is_file())), place)


def recognised_as(place: Path) -> str | None:
    """The name of the reader that claims the files first."""
    files = files_of(place)
    found = find_reader(files.paths, files.root)
    return found and found[0]


def said(place: Path, reader: Any, question: str | None = None) -> dict[str, dict[Any, Any]]:
    """What each juror said of each item, as a reader finds it; None: no vote."""
    files = files_of(place)
    found = read_records(files.paths, files.root, reader) if question is None else reader.read(files, question)
    return table(found)


def table(records: Records | Votes) -> dict[str, dict[Any, Any]]:
    """Juror -> item -> vote; no juror may say two things of one item."""
    assert isinstance(records, Records)
    columns: dict[str, dict[Any, Any]] = {}
    for item, juror, label in zip(records.item, records.juror, records.label, strict=True):
        assert item not in columns.setdefault(juror, {}), (item, juror)
        columns[juror][item] = label
    return columns


def one_line(error: BaseException) -> bool:
    """Whether a message is short enough for a terminal's line or three, and one."""
    return "\n" not in str(error) and len(str(error)) < 400
