"""Where votes come from: every line of a growing file once, whatever happens to it; and lines as votes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from jurors import VotesError
from jurors.errors import OptionError
from jurors.options import Reading
from jurors.votes.readers import Records
from jurors.watch.sources import Position, Rows, Tail, source_of, votes_of

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


def restarted(tail: Tail, runs: int = 1) -> tuple[list[str], list[str]]:
    """The lines and notices of some runs, with nothing between them but the state."""
    lines, notices = list[str](), list[str]()
    for _ in range(runs):
        tail.close()
        tail.positions = [Position(**position.to_dict()) for position in tail.positions]
        lines += read(tail, 1)
        notices += tail.notices
        tail.notices.clear()
    return lines, notices


def rotate(path: Path, packed: Any = None, first: int = 1) -> None:
    """As logrotate does: numbers grow by one; with `delaycompress`, only the second and older are compressed."""
    for old in sorted(path.parent.glob("*.jsonl.*"), reverse=True):
        number, *ending = old.name.removeprefix(f"{path.name}.").split(".")
        old.rename(path.with_name(".".join([path.name, str(int(number) + 1), *ending])))
    path.rename(path.with_name(f"{path.name}.1"))
    last = path.with_name(f"{path.name}.{first}")
    if packed is not None and last.exists():
        last.with_name(f"{last.name}.gz").write_bytes(packed(last.read_bytes()))
        last.unlink()


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


def test_a_file_that_was_moved_away_is_followed_beside_the_new_one(path: Path, followed: Tail) -> None:
    moved = path.rename(path.with_name(path.name + ".1"))
    append(moved, "3\nhalf")  # its writer has not noticed
    append(path, "4\n")
    assert read(followed, 1) == ["3", "4"]
    append(moved, " a line\n5")
    assert read(followed) == ["half a line", "5"]
    assert len(followed.positions) == 1


@pytest.mark.parametrize("packed, first", [(None, 1), (gzip.compress, 1), (gzip.compress, 2)])
@pytest.mark.parametrize("gap", [1, 3], ids=["each day", "after three days"])
def test_no_line_is_lost_or_doubled_by_rotation_between_runs(
    path: Path, followed: Tail, packed: Any, first: int, gap: int
) -> None:
    lines, day = list[str](), 3
    for _ in range(3):
        for _ in range(gap):
            append(path, f"{day}\n")
            rotate(path, packed, first)
            append(path, f"{day + 1}\n")
            day += 2
        new, notices = restarted(followed)
        lines += new
        assert not notices
    assert lines == [str(k) for k in range(3, day)]


@pytest.mark.parametrize("name", [".jsonl-2026010{}", "-2026010{}.jsonl", ".2026-01-0{}.jsonl"])
def test_files_named_by_date_are_followed(path: Path, followed: Tail, name: str) -> None:
    for day in (3, 4):
        append(path, f"{day}\n")
        path.rename(path.with_name(path.stem + name.format(day)))
    append(path, "5\n")
    assert restarted(followed) == (["3", "4", "5"], [])


def test_a_file_that_is_being_compressed_is_waited_for_and_a_damaged_one_is_passed_over(
    path: Path, followed: Tail
) -> None:
    append(path, "3\n")
    packed = gzip.compress(path.read_bytes())
    path.unlink()
    half = path.with_name(path.name + ".1.gz")
    half.write_bytes(packed[:12])
    path.write_text("4\n")
    followed.close()
    assert read(followed, 1) == []
    half.write_bytes(packed)
    assert read(followed, 1) == ["3", "4"]
    followed.close()
    followed.positions = [Position(4, "another file")]
    half.write_bytes(packed[:12])
    assert restarted(followed, 2)[0] == ["4"]


def test_a_file_cut_short_begins_again_and_its_copy_keeps_the_rest(path: Path, followed: Tail) -> None:
    append(path, "3\n")
    path.with_name(path.name + ".1").write_bytes(path.read_bytes())
    path.write_text("4\n")  # copied, then cut short
    assert restarted(followed)[0] == ["3", "4"]


def test_a_file_that_was_written_anew_is_noticed(path: Path, followed: Tail) -> None:
    path.write_text("7\n8\n9\n")  # longer than what was read
    lines, (notice,) = restarted(followed)
    assert lines == ["7", "8", "9"]
    assert "was truncated, replaced or moved away" in notice


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


@pytest.mark.parametrize(
    "lines, message",
    [
        (["ann,bob", "yes,no"], "names the item"),
        (["item,ann,bob,count", "q1,yes,no,3"], "which have no items"),
        (["item,ann", "q1,yes,no"], "the row has 3 cells, but the header has 2"),
        (['{"item": 1', "x"], "broken or cut short"),
        (["item,ann", 'q1,"yes"no'], "not a valid row of CSV"),
        (['{"item": [1], "juror": "a", "label": "x"}'], "expected a single value"),
        (["{}"], "the record is empty"),
        (['{"item": 1, "juror": "a", "label": "x"}', "item,ann"], "broken or cut short"),
        (["item,ann", "q1,\udcff"], "not valid UTF-8"),
    ],
    ids=["no item", "counts", "cells", "json", "quotes", "list", "empty", "stray", "bytes"],
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
