"""Which jurors say what, told from the head of a file where its tail holds no others."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pytest

from jurors.sketch import count as count_files
from jurors.sketch.count import _pairs, _Panel, _tail
from jurors.votes.io.duckdb_table import TablePart


def table_of(path: Path, lines: list[str], *, parts: int = 1) -> Any:
    path.write_text("\n".join(["item,juror,label", *lines]) + "\n")
    read = f"(SELECT item AS c0, juror AS c1, label AS c2 FROM read_csv('{path}', all_varchar=true))"
    part = TablePart(path, path.name, "csv", names=("item", "juror", "label"), delimiter=",")
    return SimpleNamespace(parts=[part] * parts, con=duckdb.connect(), sql=read)


HEAD = ["1,ann,A", "1,bob,", "2,ann,B", "2,bob,A"]


@pytest.mark.parametrize(
    ("tail", "parts", "from_head"),
    [
        (["3,ann,B", "3,bob,", "", "4,ann,A"], 1, True),
        (["3,ann,", "4,ann,A"], 1, False),
        (["3,cy,A", "4,ann,A"], 1, False),
        (["3,ann,B", "4,ann,A"], 2, False),
    ],
    ids=["known", "an empty vote more", "a juror more", "two files"],
)
def test_the_head_tells_the_pairs_where_the_tail_has_no_others(
    tail: list[str], parts: int, from_head: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(count_files, "_HEAD_ROWS", 4)
    table = table_of(tmp_path / "votes.csv", [*HEAD, *tail], parts=parts)
    ways = list(_pairs(table, 1, 2))
    assert ways == [*(["FROM head"] if from_head else []), f"SELECT DISTINCT c1, c2 FROM {table.sql}"]
    if from_head:
        assert set(table.con.execute("FROM head").fetchall()) == {
            ("ann", "A"),
            ("bob", None),
            ("ann", "B"),
            ("bob", "A"),
        }


def test_the_tail_starts_at_a_whole_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (part,) = table_of(tmp_path / "votes.csv", HEAD).parts
    assert _tail(part) == [line.split(",") for line in HEAD]
    monkeypatch.setattr(count_files, "_TAIL_BYTES", 12)
    assert _tail(part) == [["2", "bob", "A"]]
    (short,) = table_of(tmp_path / "votes.csv", [*HEAD, "3,ann"]).parts
    assert _tail(short) == []


def test_votes_are_packed_into_keys_and_read_again() -> None:
    # four labels or none need 3 bits: 20 jurors to a key of 62 bits, two keys for 21
    juror, code = np.array([0, 1, 19, 20, 2]), np.array([3, 0, 2, 1, -1])
    panel = _Panel(tuple(range(21)), tuple("ABCD"), juror, code)
    assert (panel.width, panel.a_key, panel.keys) == (3, 20, 2)
    first, second, vote = panel.columns()
    assert first == [4, 1 << 3, 3 << 57, 0, 0]
    assert second == [0, 0, 0, 2, 0]
    assert vote == [1, 1, 1, 1, None]
    keys = [np.array([4 + (1 << 3) + (3 << 57), 0]), np.array([2, 0])]
    expected = np.full((2, 21), -1)
    expected[0, [0, 1, 19, 20]] = [3, 0, 2, 1]
    assert np.array_equal(panel.codes(keys), expected)


@pytest.mark.parametrize(
    ("items", "fine"),
    [
        ([4, 5, 6], True),
        ([4, 6, 4], False),
        ([-2_000_000_000, 0, 2_000_000_000], True),  # farther apart than bits can be
        ([-2_000_000_000, 2_000_000_000, 2_000_000_000], False),
        ([10**15, 10**15 + 2, 10**15 + 1], True),
        ([4, None, 6], False),
    ],
    ids=["near", "near and twice", "far apart", "far apart and twice", "large", "missing"],
)
def test_whole_items_are_fine_where_each_comes_once(items: list[int | None], fine: bool) -> None:
    con = duckdb.connect()
    rows = ", ".join(f"({'NULL' if item is None else item}::BIGINT)" for item in items)
    table: Any = SimpleNamespace(con=con, sql=f"(VALUES {rows}) AS votes(c0)", watched=con.execute)
    assert count_files._whole_items_are_fine(table, 0, repeated=False) is fine
    assert count_files._whole_items_are_fine(table, 0, repeated=True) is (None not in items)
