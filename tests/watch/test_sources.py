"""Where votes come from: every line of a growing file once, whatever happens to it; and lines as votes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from other_tools import SAMPLES

from jurors import VotesError
from jurors.errors import OptionError
from jurors.options import Reading
from jurors.votes.readers import Records
from jurors.watch.sources import Rows, Tail, source_of, votes_of

# -- growing files ------------------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "votes [1].jsonl"


@pytest.fixture
def tail(path: Path) -> Iterator[Tail]:
    with closing(Tail(path)) as opened:
        yield opened


@pytest.fixture
def followed(path: Path, tail: Tail) -> Tail:
    """Of which two lines were read."""
    append(path, "1\n2\n")
    assert read(tail) == ["1", "2"]
    return tail


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def read(tail: Tail, polls: int = 8) -> list[str]:
    return [line.decode().strip() for _ in range(polls) for _, line in tail.lines()]


def restarted(tail: Tail, polls: int = 8) -> tuple[list[str], list[str]]:
    """The lines and notices after a restart, when only the position is left."""
    with closing(Tail(tail.path, replace(tail.position))) as later:
        return read(later, polls), later.notices


def test_a_half_written_line_waits_for_its_end_and_a_whole_record_does_not(path: Path, tail: Tail) -> None:
    assert read(tail) == []  # it is not there yet
    append(path, "one\ntw")
    assert read(tail) == ["one"]
    assert tail.has_rest
    append(path, 'o\n{"a": 1')
    assert read(tail) == ["two"]
    append(path, "}")
    assert read(tail) == ['{"a": 1}']
    append(path, "\nlast\n")
    assert read(tail) == ["", "last"]


def test_a_file_that_was_moved_away_is_read_to_its_end_then_the_new_one(path: Path, followed: Tail) -> None:
    moved = path.rename(path.with_name(path.name + ".1"))
    append(moved, "3\nhalf")  # its writer has not noticed
    append(path, "4\n")
    assert read(followed) == ["3", "half", "4"]


def test_what_was_moved_away_while_nobody_looked_is_read_first(path: Path, followed: Tail) -> None:
    for k in (3, 4, 5):  # three rotations
        append(path, f"{k}\n")
        for old in (2, 1):
            numbered = path.with_name(f"{path.name}.{old}")
            if numbered.exists():
                numbered.rename(path.with_name(f"{path.name}.{old + 1}"))
        path.rename(path.with_name(path.name + ".1"))
    append(path, "6\n")
    assert restarted(followed, 40)[0] == ["3", "4", "5", "6"]


def test_a_file_cut_short_begins_again_and_its_copy_keeps_the_rest(path: Path, followed: Tail) -> None:
    append(path, "3\n")
    path.with_name(path.name + ".1").write_bytes(path.read_bytes())
    path.write_text("4\n")  # copied, then cut short
    assert read(followed, 20) == ["3", "4"]


def test_a_file_that_was_written_anew_is_told(path: Path, followed: Tail) -> None:
    path.write_text("7\n8\n9\n")  # longer than what was read
    lines, (notice,) = restarted(followed)
    assert lines == ["7", "8", "9"]
    assert "was truncated or replaced" in notice


def test_a_restart_goes_on_where_it_was(path: Path, tail: Tail) -> None:
    append(path, "".join(f"{k}\n" for k in range(3000)))
    lines = tail.lines()
    assert [next(lines) for _ in range(1000)][-1] == (False, b"999\n")
    assert restarted(tail)[0] == [str(k) for k in range(1000, 3000)]


def test_a_line_that_never_ends_is_refused(path: Path, tail: Tail, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jurors.watch.sources._LONGEST", 100)
    append(path, "x" * 200)
    with pytest.raises(ValueError, match="a line is longer than"):
        read(tail)


# -- lines as votes -----------------------------------------------------------------------------------------------


def votes(*lines: str, rows: Rows | None = None) -> list[tuple[object, object, object]]:
    rows = rows or Rows(Reading())
    read = [rows.votes(line.encode(errors="surrogateescape"), is_first=not k) for k, line in enumerate(lines)]
    return [(vote["item"], vote["juror"], vote["label"]) for batch in read for vote in batch]


def test_one_vote_per_row_and_one_juror_per_column_are_the_same_votes() -> None:
    said = [("q1", "ann", "yes"), ("q1", "bob", "no")]
    assert votes("task,worker,label", "q1,ann,yes", "q1,bob,no") == said
    assert votes("item;ann;bob", "q1;yes;no") == said
    assert votes('{"item": "q1", "ann": "yes", "bob": "no"}') == said
    assert votes('{"item": "q1", "judge": "ann", "vote": "yes"}', '{"item":"q1","judge":"bob","vote":"no"}') == said


def test_a_cell_with_a_line_end_is_one_cell_and_survives_a_restart() -> None:
    rows = Rows(Reading(ignore=("text",)))
    assert votes("item,text,ann,bob", 'q1,"two\n', rows=rows) == []
    later = Rows(Reading(ignore=("text",)))
    later.restore(json.loads(json.dumps(rows.to_dict())))
    assert [vote["juror"] for vote in later.votes(b'lines",yes,no\n')] == ["ann", "bob"]


def test_the_time_is_no_juror_and_goes_along() -> None:
    rows = Rows(Reading())
    rows.votes(b"item,ann,bob,timestamp", is_first=True)
    assert [vote["time"] for vote in rows.votes(b"q1,yes,no,2026-01-01T00:00:00Z")] == ["2026-01-01T00:00:00Z"] * 2
    named = Rows(Reading(), "when")
    assert named.votes(b'{"item": 1, "juror": "a", "label": "x", "when": 7}', is_first=True)[0]["time"] == 7


def test_cells_that_mean_no_vote_are_none() -> None:
    said = votes("item,ann,bob", "q1,,no", "q2,skip,no", rows=Rows(Reading(missing=("skip",))))
    assert said == [("q1", "bob", "no"), ("q2", "bob", "no")]


def test_spans_are_read_line_by_line() -> None:
    lines = Path(SAMPLES / "openinference" / "traces.jsonl").read_text().splitlines()
    said = votes(*lines, rows=Rows(Reading(tool="openinference:correct")))
    assert len(said) == 12
    assert {juror for _, juror, _ in said} == {"gpt-4", "claude", "ann"}


@pytest.mark.parametrize(
    "lines, message",
    [
        (["ann,bob", "yes,no"], "names the item"),
        (["item,ann,bob,count", "q1,yes,no,3"], "which have no items"),
        (["item,ann", "q1,yes,no"], "the row has 3 cells, but the header has 2"),
        (['{"item": 1', "x"], "broken or cut short"),
        (["item,ann", 'q1,"yes"no'], "not a valid row of CSV"),
        (['{"item": [1], "juror": "a", "label": "x"}'], "expected a single value"),
        (["item,ann", "q1,\udcff"], "not valid UTF-8"),
    ],
    ids=["no item", "counts", "cells", "json", "quotes", "list", "bytes"],
)
def test_what_is_no_vote_is_one_line(lines: list[str], message: str) -> None:
    with pytest.raises(VotesError, match=message):
        votes(*lines)


def test_a_log_with_repeats_gives_one_vote_for_each_juror_and_item() -> None:
    records = Records(["q"] * 4, ["m", "m", "m", "n"], ["a", "b", "b", "a"], repetition=[0, 1, 2, 0])
    said = [(vote["item"], vote["juror"], vote["label"]) for vote in votes_of(records)]
    assert said == [("q", "m", "b"), ("q", "n", "a")]


@pytest.mark.parametrize("option", [{"repeat": "epoch"}, {"join": ["judge"]}, {"duplicates": "join"}])
def test_repeats_are_refused_in_a_stream_where_a_later_vote_corrects(option: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="a later vote replaces the earlier one"):
        source_of(["-"], Reading(**option))
