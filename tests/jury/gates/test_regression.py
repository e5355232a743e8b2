"""Regressions: what changed between two runs, paired on the same items where that is possible."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import panels
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jurors
from jurors.errors import OptionError
from jurors.jury.gates import Gate, difference, evaluate_gates
from jurors.options import Limits

NAMES = ("ann", "bob", "cy", "di", "ed")
ITEMS = 300
shares = st.floats(0, 1)


@cache
def votes(changed: int = 0, juror: int = 0, *, right: bool = True) -> jurors.Votes:
    """A panel; one juror's vote is another on so many items, which were right (or wrong) before."""
    drawn = panels.simulate(ITEMS, len(NAMES), seed=3)
    said = drawn.votes.copy()
    at = np.flatnonzero((said[:, juror] == drawn.truth) == right)[:changed]
    said[at, juror] = 1 - said[at, juror]
    items = [f"item {k}" for k in range(ITEMS)]
    return jurors.Votes.from_matrix(said, jurors=NAMES, labels=("pass", "fail"), items=items)


graded = cache(jurors.grade)


def gates(now: jurors.Votes, before: Any, **limits: Any) -> dict[str, Gate]:
    asked = Limits.of({"baseline": before, "votes": now, **limits})
    return {one.juror or "": one for one in evaluate_gates(graded(now), asked)}


def test_the_same_votes_pass_and_nothing_is_in_doubt() -> None:
    for gate in gates(votes(), votes()).values():
        assert (gate.outcome, gate.value, gate.interval) == ("pass", 0.0, (0.0, 0.0))


def test_a_juror_who_became_worse_fails_and_the_others_pass() -> None:
    changed = gates(votes(80), votes())
    assert {name: gate.outcome for name, gate in changed.items()} == {"ann": "fail", **dict.fromkeys(NAMES[1:], "pass")}
    assert changed["ann"].reason == "80 of 300 votes changed"
    assert gates(votes(80), votes(), max_drop=0.3)["ann"].outcome == "pass"


def test_trading_the_runs_turns_the_sign() -> None:
    there, back = gates(votes(60), votes())["ann"], gates(votes(), votes(60))["ann"]
    assert there.value is not None
    assert there.interval is not None
    assert back.interval is not None
    assert there.value == pytest.approx(-back.value if back.value is not None else None, abs=0.01)
    assert there.interval[0] == pytest.approx(-back.interval[1], abs=0.02)


@pytest.mark.slow
def test_a_change_is_never_larger_than_the_share_of_changed_votes() -> None:
    for count in (1, 5, 40):
        for right in (True, False):
            gate = gates(votes(count, right=right), votes())["ann"]
            assert gate.interval is not None
            assert max(map(abs, gate.interval)) <= count / ITEMS + 1e-9


def test_items_of_another_test_are_compared_by_the_scores() -> None:
    before = votes()
    other = jurors.Votes.from_matrix(
        before.codes, jurors=NAMES, labels=("pass", "fail"), items=[f"x{k}" for k in range(ITEMS)]
    )
    gate = gates(votes(), other)["ann"]
    assert gate.reason.startswith("not paired")
    assert gate.interval is not None
    assert gate.interval[0] < 0 < gate.interval[1]


def test_a_document_an_evaluation_and_a_file_of_either_command_say_the_same(tmp_path: Path) -> None:
    earlier = graded(votes())
    wanted = gates(votes(80), earlier)["ann"]
    document = earlier.to_dict()
    checked = tmp_path / "last.json"
    checked.write_text(jurors.check(earlier, max_wrong=0.5).to_json())
    for baseline in (document, json.loads(json.dumps(document)), checked, str(checked)):
        assert gates(votes(80), baseline)["ann"] == wanted


def test_a_baseline_that_knows_nothing_leaves_everything_open() -> None:
    silent = jurors.grade([["pass"] * 5] * 50, jurors=NAMES)
    for baseline in (silent, silent.to_dict()):
        gate = gates(votes(), baseline)["ann"]
        assert (gate.outcome, gate.reason) == ("not known", "one of the runs knows no score")


def test_a_new_juror_has_no_baseline() -> None:
    assert set(gates(votes(), votes().take(NAMES[:4]))) == set(NAMES[:4])


REFUSED: dict[str, tuple[Any, str]] = {
    "nobody": (
        {"calibrated": {"score": {"zoe": 0.5}, "interval": {"score": {}}}, "jurors": ["zoe"]},
        "none of these jurors",
    ),
    "old": ({"schema": 1, "score": {"ann": 0.5}}, "no calibrated grades"),
    "text": ({"calibrated": "good", "jurors": ["ann"]}, "no document of grades as jurors writes it"),
    "words": (
        {"calibrated": {"score": {"ann": "0.5"}, "interval": {"score": {}}}, "jurors": ["ann"]},
        "no document of grades as jurors writes it",
    ),
    "one_end": (
        {"calibrated": {"score": {"ann": 0.5}, "interval": {"score": {"ann": [0.4]}}}, "jurors": ["ann"]},
        "no document of grades as jurors writes it",
    ),
    "newer": ({"schema": 99}, "schema 99 is newer"),
    "level": ({**jurors.grade(votes(), level=0.9).to_dict()}, "graded at level 0.9"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_baseline_is_refused_in_one_line(case: str) -> None:
    baseline, message = REFUSED[case]
    with pytest.raises(OptionError, match=message):
        gates(votes(), baseline)


@given(st.lists(shares, min_size=3, max_size=3).map(sorted), st.lists(shares, min_size=3, max_size=3).map(sorted))
def test_the_difference_of_two_scores_holds_its_value_and_turns_with_them(
    now: list[float], before: list[float]
) -> None:
    value, (low, high) = difference(now[1], (now[0], now[2]), before[1], (before[0], before[2]))
    assert low <= value <= high
    back, (start, end) = difference(before[1], (before[0], before[2]), now[1], (now[0], now[2]))
    assert (back, start, end) == pytest.approx((-value, -high, -low))


@pytest.mark.slow
def test_errors_taken_for_independent_are_known_better() -> None:
    def width(**how: Any) -> float:
        now = jurors.grade(votes(40), **how)
        (gate,) = (g for g in evaluate_gates(now, Limits(baseline=votes(), votes=votes(40))) if g.juror == "ann")
        assert gate.interval is not None
        return gate.interval[1] - gate.interval[0]

    assert width(errors="independent") < width(errors=0.2) < width(errors=2.0)
