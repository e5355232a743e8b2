"""Gates: which share a limit is about, the three outcomes, and changes against a baseline."""

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
from jurors.jury.baseline import Ends, difference
from jurors.jury.check import Gate, evaluate_gates, judge
from jurors.options import Limits

NAMES = ("ann", "bob", "gpt:4", "gpt:4:pass")
LABELS = ("pass", "no:fail")


@cache
def graded(*names: str, labels: tuple[str, str] = LABELS) -> jurors.Evaluation:
    drawn = panels.simulate(400, len(names or NAMES), seed=1)
    return jurors.grade(jurors.Votes.from_matrix(drawn.votes, jurors=names or NAMES, labels=labels))


def gates(evaluation: jurors.Evaluation | None = None, **limits: Any) -> dict[str, Gate]:
    return {one.name: one for one in evaluate_gates(evaluation or graded(), Limits.of(limits))}


def test_a_gate_is_about_the_calibrated_share_and_its_interval() -> None:
    calibrated = graded().calibrated
    assert calibrated is not None
    gate = gates(min_score="ann:0.5")["min-score ann"]
    assert (gate.value, gate.interval) == (calibrated.score["ann"], calibrated.interval["score"]["ann"])
    gate = gates(min_accuracy="bob:no:fail:0.5")["min-accuracy bob on no:fail"]
    assert gate.interval == calibrated.interval["accuracy"]["bob"]["no:fail"]
    gate = gates(max_prevalence={"pass": 0.5})["max-prevalence pass"]
    assert (gate.value, gate.interval) == (calibrated.prevalence["pass"], calibrated.interval["prevalence"]["pass"])
    gate = gates(max_wrong=0.5)["max-wrong"]
    assert (gate.value, gate.interval) == (calibrated.wrong_labels, calibrated.interval["wrong_labels"])


def test_one_limit_for_all_and_another_for_one() -> None:
    limits = {name: gate.limit for name, gate in gates(min_score=["0.6", "gpt:4:0.8"]).items()}
    assert limits == {"min-score ann": 0.6, "min-score bob": 0.6, "min-score gpt:4": 0.8, "min-score gpt:4:pass": 0.6}
    limits = {name: gate.limit for name, gate in gates(min_accuracy=["no:fail:0.6", "ann:no:fail:0.7"]).items()}
    assert limits["min-accuracy ann on no:fail"] == 0.7
    assert limits["min-accuracy bob on no:fail"] == 0.6


def test_text_numbers_and_mappings_mean_the_same() -> None:
    assert gates(min_score={"ann": 0.8}) == gates(min_score="ann:0.8") == gates(min_score=["ann:0.8"])
    assert gates(min_score=0.8) == gates(min_score="0.8")
    assert gates(min_accuracy={("ann", "pass"): 0.8}) == gates(min_accuracy="ann:pass:0.8")


def test_the_names_of_gates_do_not_depend_on_the_order_of_jurors() -> None:
    one, other = graded("x", "y", "z", "w"), graded("w", "z", "y", "x")
    assert list(gates(one, min_score=0.5)) == list(gates(other, min_score=0.9))


CASES = json.loads(Path(__file__).with_name("refused_limits.json").read_text(encoding="utf-8"))
REFUSED = CASES["limits"]


@pytest.mark.parametrize("case", REFUSED)
def test_a_slip_is_refused_in_one_line_with_the_nearest_name(case: str) -> None:
    limits, message = REFUSED[case]
    with pytest.raises(OptionError) as error:
        gates(**limits)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_what_may_mean_two_things_is_refused() -> None:
    both = graded("a", "a:b", "c", "d", labels=("b:x", "x"))
    with pytest.raises(OptionError, match="may mean juror 'a' on label 'b:x' or juror 'a:b' on label 'x'"):
        gates(both, min_accuracy="a:b:x:0.5")
    assert gates(both, min_accuracy={("a:b", "x"): 0.5})["min-accuracy a:b on x"].juror == "a:b"


def test_alarms_of_gates_name_whom_they_concern() -> None:
    alarm = jurors.check(graded(), min_score={"ann": 1.0}).alarms[0]
    assert (alarm.reason, alarm.level, alarm.jurors) == ("gate_failed", "alarm", ("ann",))
    assert jurors.check(graded(), min_score=0.0).alarms == graded().alarms


def test_where_only_one_label_was_said_every_gate_is_not_known_also_on_labels_nobody_said() -> None:
    silent = jurors.grade([["pass"] * 4] * 50, jurors=("ann", "bob", "cy", "di"))
    assert not silent.has_grades
    assert [alarm.reason for alarm in silent.alarms] == ["single_label"]
    tested = gates(
        silent, min_score=0.5, min_accuracy=["fail:0.5", "ann:fail:0.7"], max_prevalence="fail:0.5", max_wrong=1
    )
    assert {gate.outcome for gate in tested.values()} == {"not known"}
    assert tested["min-accuracy ann on fail"].limit == 0.7
    assert tested["max-wrong"].reason == "every vote is 'pass'"
    assert jurors.check(silent)
    assert not jurors.check(silent, max_wrong=0.5)
    assert jurors.check(silent, max_wrong=0.5, allow_unknown=True)


@pytest.mark.parametrize(
    "options, words",
    [
        ({}, "OK: no alarm ("),
        ({"fail_on": "warning"}, "FAIL: 1 warning ("),
        ({"max_wrong": 0.5}, "NOT KNOWN: 1 of 1 limit not known ("),
        ({"max_wrong": 0.5, "allow_unknown": True}, "OK: 1 of 1 limit not known; no alarm ("),
    ],
)
def test_the_verdict_counts_as_alarms_what_is_listed_as_alarm(options: Any, words: str) -> None:
    silent = jurors.grade([["pass"] * 4] * 50, jurors=("ann", "bob", "cy", "di"))
    verdict = jurors.check(silent, **options)
    assert verdict.verdict.startswith(words)
    assert bool(verdict) == verdict.passed == words.startswith("OK")
    if "no alarm" in words:
        assert all(alarm.level != "alarm" for alarm in verdict.alarms)


shares = st.floats(0, 1, allow_nan=False)
intervals = st.tuples(shares, shares).map(lambda pair: (min(pair), max(pair)))


@given(intervals, shares)
def test_what_passes_as_a_floor_and_as_a_ceiling_is_the_limit_itself(ends: Ends, limit: float) -> None:
    floor, ceiling = judge(ends, limit, at_least=True), judge(ends, limit, at_least=False)
    assert (floor == ceiling == "pass") == (ends == (limit, limit))
    assert not floor == ceiling == "fail"
    assert (floor == "fail") <= (ceiling == "pass")


@given(intervals, shares, shares, shares, st.booleans())
def test_a_wider_interval_decides_nothing_more(ends: Ends, limit: float, less: float, more: float, floor: bool) -> None:
    wider = ends[0] - less, ends[1] + more
    assert judge(wider, limit, at_least=floor) in ("not known", judge(ends, limit, at_least=floor))


@given(intervals, shares, shares, st.booleans())
def test_asking_for_more_never_helps(ends: Ends, limit: float, more: float, floor: bool) -> None:
    order = ("fail", "not known", "pass")
    harder = limit + more if floor else limit - more
    assert order.index(judge(ends, harder, at_least=floor)) <= order.index(judge(ends, limit, at_least=floor))


@given(shares, st.booleans())
def test_without_an_interval_nothing_is_known(limit: float, floor: bool) -> None:
    for ends in (None, (float("nan"), float("nan"))):
        assert judge(ends, limit, at_least=floor) == "not known"


def test_only_what_is_not_passed_rings_and_what_is_allowed_is_a_note() -> None:
    def rung(outcome: str, **how: bool) -> tuple[str, str] | None:
        alarm = Gate(name="max-wrong", outcome=outcome, limit=0.1, at_least=False).alarm(**how)  # type: ignore[arg-type]
        return None if alarm is None else (alarm.reason, alarm.level)

    assert rung("pass") is None
    assert rung("fail", allow_unknown=True) == ("gate_failed", "alarm")
    assert rung("not known") == ("gate_unknown", "alarm")
    assert rung("not known", allow_unknown=True) == ("gate_unknown", "note")


RUN_NAMES = ("ann", "bob", "cy", "di", "ed")
ITEMS = 300


@cache
def votes(changed: int = 0, juror: int = 0, *, right: bool = True) -> jurors.Votes:
    """A panel; one juror's vote is another on so many items, which were right (or wrong) before."""
    drawn = panels.simulate(ITEMS, len(RUN_NAMES), seed=3)
    said = drawn.votes.copy()
    at = np.flatnonzero((said[:, juror] == drawn.truth) == right)[:changed]
    said[at, juror] = 1 - said[at, juror]
    items = [f"item {k}" for k in range(ITEMS)]
    return jurors.Votes.from_matrix(said, jurors=RUN_NAMES, labels=("pass", "fail"), items=items)


graded_run = cache(jurors.grade)


def changes(now: jurors.Votes, before: Any, errors: Any = "real", **limits: Any) -> dict[str, Gate]:
    parsed = Limits.of({"baseline": before, "votes": now, **limits})
    return {one.juror or "": one for one in evaluate_gates(graded_run(now, errors=errors), parsed)}


def test_the_same_votes_pass_and_nothing_is_in_doubt() -> None:
    for same in changes(votes(), votes()).values():
        assert (same.outcome, same.value, same.interval) == ("pass", 0.0, (0.0, 0.0))


def test_a_juror_who_became_worse_fails_and_the_others_pass() -> None:
    changed = changes(votes(80), votes(), errors=0.1)
    assert {name: gate.outcome for name, gate in changed.items()} == {
        "ann": "fail",
        **dict.fromkeys(RUN_NAMES[1:], "pass"),
    }
    assert changed["ann"].reason == "80 of 300 votes changed"
    assert changes(votes(80), votes(), errors=0.1, max_drop=0.3)["ann"].outcome == "pass"
    assert changes(votes(80), votes())["ann"].outcome == "not known"  # five judges may share so much error


def test_trading_the_runs_turns_the_sign() -> None:
    there, back = changes(votes(60), votes())["ann"], changes(votes(), votes(60))["ann"]
    assert there.value is not None
    assert there.interval is not None
    assert back.interval is not None
    assert there.value == pytest.approx(-back.value if back.value is not None else None, abs=0.01)
    assert there.interval[0] == pytest.approx(-back.interval[1], abs=0.02)


@pytest.mark.slow
def test_a_change_is_never_larger_than_the_share_of_changed_votes() -> None:
    for count in (1, 5, 40):
        for right in (True, False):
            gate = changes(votes(count, right=right), votes())["ann"]
            assert gate.interval is not None
            assert max(map(abs, gate.interval)) <= count / ITEMS + 1e-9


def test_items_of_another_test_are_compared_by_the_scores() -> None:
    before = votes()
    other = jurors.Votes.from_matrix(
        before.codes, jurors=RUN_NAMES, labels=("pass", "fail"), items=[f"x{k}" for k in range(ITEMS)]
    )
    assert "give the earlier votes" in changes(votes(), jurors.grade(before).to_dict())["ann"].reason
    gate = changes(votes(), other)["ann"]
    assert gate.reason == "not paired: the scores of both runs are compared"
    assert gate.interval is not None
    assert gate.interval[0] < 0 < gate.interval[1]


def test_a_document_an_evaluation_and_a_file_of_either_command_say_the_same(tmp_path: Path) -> None:
    earlier = graded_run(votes())
    wanted = changes(votes(80), earlier)["ann"]
    document = earlier.to_dict()
    checked = tmp_path / "last.json"
    checked.write_text(jurors.check(earlier, max_wrong=0.5).to_json())
    for baseline in (document, json.loads(json.dumps(document)), checked, str(checked)):
        assert changes(votes(80), baseline)["ann"] == wanted


def test_a_baseline_that_knows_nothing_leaves_everything_open() -> None:
    silent = jurors.grade([["pass"] * 5] * 50, jurors=RUN_NAMES)
    for baseline in (silent, silent.to_dict()):
        gate = changes(votes(), baseline)["ann"]
        assert (gate.outcome, gate.reason) == ("not known", "one of the runs has no score")


def test_a_new_juror_has_no_baseline() -> None:
    assert set(changes(votes(), votes().take(RUN_NAMES[:4]))) == set(RUN_NAMES[:4])


LEVELS = jurors.Votes.from_matrix(votes().codes + 1, jurors=RUN_NAMES)
NO_BASELINES = {
    **CASES["baselines"],
    "level": (jurors.grade(votes(), level=0.9).to_dict(), "graded at level 0.9"),
    "levels": (LEVELS, "are 1, 2, these votes pass, fail: they share none"),
    "grades of levels": (jurors.grade(LEVELS).to_dict(), "they share none, so they are of something else"),
    "numbers": (
        jurors.Votes.from_matrix(np.random.default_rng(0).normal(size=(40, 5)), scale="interval"),
        "it holds numbers",
    ),
}


@pytest.mark.parametrize("case", NO_BASELINES)
def test_what_is_no_baseline_is_refused_in_one_line(case: str) -> None:
    baseline, message = NO_BASELINES[case]
    with pytest.raises(OptionError, match=message):
        changes(votes(), baseline)


@given(st.lists(shares, min_size=3, max_size=3).map(sorted), st.lists(shares, min_size=3, max_size=3).map(sorted))
def test_the_difference_of_two_scores_holds_its_value_and_turns_with_them(
    now: list[float], before: list[float]
) -> None:
    value, (low, high) = difference(now[1], (now[0], now[2]), before[1], (before[0], before[2]))
    assert low <= value <= high
    back, (start, end) = difference(before[1], (before[0], before[2]), now[1], (now[0], now[2]))
    assert (back, start, end) == pytest.approx((-value, -high, -low))


def test_advice_on_gold_names_no_number_that_would_decide() -> None:
    verdict = jurors.check(panels.crowd(), min_score=0.5)
    unknown = [gate for gate in verdict.gates if gate.outcome == "not known"]
    assert {gate.advice for gate in unknown} == {"", "label 20 items to know more"}
