"""One juror several times on one item is one voice, in whatever table, under whatever names, in whatever order."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples
from votes.panels import said

import jurors
from jurors import Sketch, Votes, read_votes
from jurors.errors import VotesError
from jurors.jury.groups import split_votes
from jurors.jury.inputs import as_sketch, read_input
from jurors.numeric.data import read_numbers
from jurors.sketch.count import read_sketch
from jurors.votes.scale import families, merge_numbered_jurors
from jurors.votes.write import write_votes

ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 2), st.sampled_from(["no", "perhaps", "yes"])), min_size=1, max_size=30
)
LONG = "item,judge,epoch,verdict\n" + "".join(
    f"q{item},{judge},{epoch},{verdict}\n"
    for item, judge, verdicts in (
        (1, "gpt", ("pass", "pass", "fail")), (1, "ann", ("fail",)), (1, "bob", ("pass",)),
        (2, "gpt", ("fail", "pass")), (2, "ann", ("fail",)), (2, "bob", ("fail",)),
        (3, "gpt", ("fail", "fail", "fail")), (3, "ann", ("pass",)), (3, "bob", ("fail",)),
    )
    for epoch, verdict in enumerate(verdicts, 1)
)  # fmt: skip
JOINED = {("q1", "gpt"): "pass", ("q3", "gpt"): "fail"}  # q2 is a tie


def joined(rows: list[tuple[int, int, str]]) -> Votes:
    item, juror, label = zip(*rows, strict=True)
    return Votes.from_columns(item, [f"j{k}" for k in juror], label, duplicates="join")


@examples(30)
@given(ROWS)
def test_the_vote_is_the_commonest_answer_and_a_tie_is_none(rows: list[tuple[int, int, str]]) -> None:
    answers: dict[tuple[int, str], Counter[str]] = {}
    for item, juror, label in rows:
        answers.setdefault((item, f"j{juror}"), Counter())[label] += 1
    expected = {}
    for place, counts in answers.items():
        (best, most), *rest = counts.most_common()
        if not rest or rest[0][1] < most:
            expected[place] = best
    assert said(joined(rows)) == expected


@examples(30)
@given(ROWS)
def test_columns_of_one_name_are_joined_as_rows_are(rows: list[tuple[int, int, str]]) -> None:
    """The answers as columns of their own (`j0 (run 1)` …) and joined by name; votes and counts alike."""
    again: Counter[tuple[int, int]] = Counter()
    juror = []
    for item, who, _ in rows:
        again[item, who] += 1
        juror.append(f"j{who} (run {again[item, who]})")
    apart = Votes.from_columns([row[0] for row in rows], juror, [row[2] for row in rows])
    names = sorted({f"j{who}" for _, who, _ in rows})
    one = merge_numbered_jurors(apart, names)
    assert said(one) == said(joined(rows))
    counted = as_sketch(Sketch.from_votes(apart), join=names)
    assert counted == Sketch.from_votes(one)


FRAME = pd.read_csv(io.StringIO(LONG))
WIDE = FRAME.pivot(index=["item", "epoch"], columns="judge", values="verdict").reset_index()


@pytest.mark.parametrize(
    "table", [LONG, WIDE.to_csv(index=False), FRAME, pl.from_pandas(FRAME)], ids=["long", "wide", "pandas", "polars"]
)
def test_a_column_numbers_the_repeats(table: Any) -> None:
    votes: Any
    if isinstance(table, str):
        votes, counted = (read(io.StringIO(table), repeat="epoch") for read in (read_votes, read_sketch))
    else:
        votes, counted = (kind.from_frame(table, repeat="epoch") for kind in (Votes, Sketch))
    assert counted == Sketch.from_votes(votes)
    assert {place: label for place, label in said(votes).items() if place[1] == "gpt"} == JOINED
    assert votes.repeats.answers.tolist() == [[0, 1, 1], [-1, 0, 1], [0, 0, 0]]
    assert [finding.kind for finding in votes.findings] == ["repeats"]
    assert "ties count as missing votes (1)" in votes.findings[0].message


@pytest.mark.parametrize("layout", ["wide", "long", "counts"])
def test_names_are_joined_where_files_are_counted_too(layout: Any, tmp_path: Path) -> None:
    codes = np.random.default_rng(0).integers(0, 2, (40, 4))
    votes = Votes.from_matrix(codes, items=list(range(40)), jurors=("gpt#1", "gpt#2", "gpt#3", "ann"))
    write_votes(votes, tmp_path / "votes.csv", layout=layout)
    counted = read_sketch(tmp_path / "votes.csv", join="gpt")
    assert counted.take(["gpt", "ann"]) == Sketch.from_votes(
        merge_numbered_jurors(votes.relabel({0: "0", 1: "1"}), ["gpt"])
    )
    assert counted.tuples.repeats is not None
    assert int(counted.tuples.repeats.items.sum()) == 40


def test_inspect_takes_an_epoch_for_a_repetition_and_says_so() -> None:
    rows = [f"q{k // 6},{'abc'[k % 3]},{k % 6 // 3 + 1},{'xy'[k * 7 % 5 % 2]}" for k in range(60)]
    seen = jurors.inspect(io.StringIO("item,judge,epoch,verdict\n" + "\n".join(rows) + "\n"))
    assert seen.assumed == {"repeat": "epoch"}
    assert seen.columns["repeat"] == ("epoch",)
    assert [finding.kind for finding in seen.findings[:2]] == ["repeat_column", "repeats"]
    assert list(seen.repeats) == ["a", "b", "c"]


def test_ordered_levels_come_to_the_middle_one() -> None:
    votes = Votes.from_matrix([[1, 2, 5], [1, 2, None]], scale="ordinal", jurors=("a1", "a2", "a3"))
    assert said(merge_numbered_jurors(votes, ["a"])) == {(0, "a"): 2}


def test_numbers_come_to_their_mean() -> None:
    text = "item,juror,time,value\nq1,ann,0,1.5\nq1,ann,1,2\nq1,ann,2,4\nq1,bob,0,3\nq2,ann,0,7\nq2,bob,0,2.5\n"
    numbers = read_numbers(io.StringIO(text), repeat="time")
    assert numbers.values.tolist() == [[2.5, 3.0], [7.0, 2.5]]
    assert numbers.remarks == ("where a juror answered an item several times, the mean counts",)


def test_repeats_stay_with_their_rows_jurors_and_labels() -> None:
    votes = read_votes(io.StringIO(LONG), repeat="epoch")
    own = votes.take(["bob", "gpt"]).repeats
    assert own is not None
    assert set(own.juror.tolist()) == {1}
    assert votes.take(["ann"]).repeats is None
    turned = Sketch.from_votes(votes).relabel({"fail": "z"})
    assert turned.labels == ("pass", "z")
    assert turned.tuples.repeats is not None
    times = Counter(label for row in turned.tuples.repeats.answers.tolist() for label in row if label >= 0)
    assert times == {1: 5, 0: 3}  # as often as gpt said fail and pass
    parts = {name: part.repeats for name, _, part in split_votes(votes, np.array(["x", "y", "y"]), ["x", "y"])}
    assert {name: len(own.row) for name, own in parts.items() if own is not None} == {"x": 1, "y": 2}


def test_sketches_that_are_merged_keep_what_was_said_each_time() -> None:
    votes = read_votes(io.StringIO(LONG), repeat="epoch")
    turned = LONG.replace("fail", "x").replace("pass", "fail").replace("x", "pass")
    other = read_votes(io.StringIO(turned), repeat="epoch")
    merged = Sketch.merge([Sketch.from_votes(votes), Sketch.from_votes(other), Sketch.from_votes(votes)])
    own = merged.tuples.repeats
    assert own is not None
    times: Counter[tuple[int, ...]] = Counter()
    for said_here, items in zip(own.answers.tolist(), own.items.tolist(), strict=True):
        times[tuple(said_here)] += items
    assert times == {(0, 1, 1): 2, (0, 0, 1): 1, (-1, 0, 1): 3, (0, 0, 0): 2, (1, 1, 1): 1}


def test_repeats_that_are_counted_are_not_joined_once_more() -> None:
    sketch = Sketch.from_votes(
        merge_numbered_jurors(Votes.from_matrix([[0, 1, 1]], jurors=("a_1", "a_2", "b_1")), ["a"])
    )
    with pytest.raises(VotesError, match="counted already cannot be joined once more"):
        read_input(sketch, join=["b"])


def test_a_name_is_found_with_its_number_without_it_and_whatever_stands_between() -> None:
    names = ["judge_1", "Judge 2", "judge (run 3)", "judge-sample-4", "judge", "judgement_1", "gpt-4#1", "gpt-4", "gpt"]
    assert families(names, ["judge", "gpt-4"]) == {"judge": [0, 1, 2, 3, 4], "gpt-4": [6, 7]}
    assert families(["run_1", "run_2", "ann"], ["run"]) == {"run": [0, 1]}
    assert families(["a_1", "a_2"], ["a", "A", "a"]) == {"a": [0, 1]}


def test_every_command_hears_it_once() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(60) < 0.5
    names = ["judge_1", "judge_2", "judge_3", "ann", "bob"]
    codes = np.column_stack([np.where(rng.random(60) < 0.85, truth, ~truth) for _ in names]).astype(int)
    frame = pd.DataFrame(codes, columns=names)
    key = truth.astype(int).tolist()
    made = (jurors.grade(frame, join=["judge"]), jurors.score(frame, key, join=["judge"]))
    assert [result.jurors for result in made] == [("judge", "ann", "bob")] * 2
