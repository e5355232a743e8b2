"""A growing file: every line once, whatever happens to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from jurors.watch.sources import Position, Tail


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "votes [1].jsonl"


@pytest.fixture
def tails() -> Iterator[list[Tail]]:
    opened: list[Tail] = []
    yield opened
    for tail in opened:
        tail.close()


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def read(tail: Tail, looks: int = 8) -> list[str]:
    return [line.decode().strip() for _ in range(looks) for _, line in tail.lines()]


def again(tail: Tail, tails: list[Tail]) -> Tail:
    """After a restart: only the position is left."""
    tail.close()
    tails.append(Tail(tail.path, Position(**tail.position.to_dict())))
    return tails[-1]


def test_a_half_written_line_waits_for_its_end_and_a_whole_record_does_not(path: Path, tails: list[Tail]) -> None:
    tail = Tail(path)
    tails.append(tail)
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


def test_a_file_that_was_moved_away_is_read_to_its_end_then_the_new_one(path: Path, tails: list[Tail]) -> None:
    append(path, "1\n2\n")
    tail = Tail(path)
    tails.append(tail)
    assert read(tail) == ["1", "2"]
    moved = path.rename(path.with_name(path.name + ".1"))
    append(moved, "3\nhalf")  # its writer has not noticed
    append(path, "4\n")
    assert read(tail) == ["3", "half", "4"]


def test_what_was_moved_away_while_nobody_looked_is_read_first(path: Path, tails: list[Tail]) -> None:
    append(path, "1\n2\n")
    tail = Tail(path)
    assert read(tail) == ["1", "2"]
    for k in (3, 4, 5):  # three rotations
        append(path, f"{k}\n")
        for old in (2, 1):
            numbered = path.with_name(f"{path.name}.{old}")
            if numbered.exists():
                numbered.rename(path.with_name(f"{path.name}.{old + 1}"))
        path.rename(path.with_name(path.name + ".1"))
    append(path, "6\n")
    assert read(again(tail, tails), 40) == ["3", "4", "5", "6"]


def test_a_file_cut_short_begins_again_and_its_copy_keeps_the_rest(path: Path, tails: list[Tail]) -> None:
    append(path, "1\n2\n")
    tail = Tail(path)
    tails.append(tail)
    assert read(tail) == ["1", "2"]
    append(path, "3\n")
    path.with_name(path.name + ".1").write_bytes(path.read_bytes())
    path.write_text("4\n")  # copied, then cut short
    assert read(tail, 20) == ["3", "4"]


def test_a_file_that_was_written_anew_is_told(path: Path, tails: list[Tail]) -> None:
    append(path, "1\n2\n")
    tail = Tail(path)
    assert read(tail) == ["1", "2"]
    path.write_text("7\n8\n9\n")  # longer than what was read
    later = again(tail, tails)
    assert read(later) == ["7", "8", "9"]
    assert "not there any more" in later.notices[0]


def test_a_restart_goes_on_where_it_was(path: Path, tails: list[Tail]) -> None:
    append(path, "".join(f"{k}\n" for k in range(3000)))
    tail = Tail(path)
    lines = tail.lines()
    assert [next(lines) for _ in range(1000)][-1] == (False, b"999\n")
    assert read(again(tail, tails)) == [str(k) for k in range(1000, 3000)]


def test_a_line_that_never_ends_is_refused(path: Path, tails: list[Tail], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jurors.watch.sources._LONGEST", 100)
    append(path, "x" * 200)
    tails.append(Tail(path))
    with pytest.raises(ValueError, match="a line is longer than"):
        read(tails[-1])
