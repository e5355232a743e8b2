"""What the tests of readers share: files as a reader gets them, records as a table to compare, and refusals."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from jurors import VotesError, read_votes
from jurors.votes.readers import Records, find_reader, load_reader, read_records
from jurors.votes.readers.base import Files
from jurors.votes.table import Votes

SAMPLES = Path(__file__).parent / "votes" / "readers" / "samples"


def files_of(place: Path) -> Files:
    """One file, or all below a folder."""
    if place.is_file():
        return Files((place,), place.parent)
    return Files(tuple(sorted(path for path in place.rglob("*") if path.is_file())), place)


def recognised_as(place: Path) -> str | None:
    """The name of the reader that claims the files first."""
    files = files_of(place)
    found = find_reader(files)
    return found and found[0]


def said(place: Path, tool: str, question: str | None = None) -> dict[str, dict[Any, Any]]:
    """Juror -> item -> vote (None: no vote), as the reader of a tool finds them."""
    files, reader = files_of(place), load_reader(tool)
    return table(read_records(files, reader) if question is None else reader.read(files, question))


def refusal(place: Any, tool: str | None = None) -> str:
    """The one line with which votes are refused."""
    with pytest.raises(VotesError) as raised:
        read_votes(place, tool=tool)
    assert one_line(raised.value)
    return str(raised.value.args[0])


def table(records: Records | Votes) -> dict[str, dict[Any, Any]]:
    """Juror -> item -> vote; no juror may say two things of one item."""
    assert isinstance(records, Records)
    columns: dict[str, dict[Any, Any]] = {}
    for item, juror, label in zip(records.item, records.juror, records.label, strict=True):
        assert item not in columns.setdefault(juror, {}), (item, juror)
        columns[juror][item] = label
    return columns


def one_line(error: BaseException) -> bool:
    """Whether a message is one line, short enough for three of a terminal; folders do not count."""
    return "\n" not in str(error) and len(re.sub(r"\S*/", "", str(error))) < 400
