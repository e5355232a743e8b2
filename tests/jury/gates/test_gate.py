"""Limits on calibrated shares: which share is meant, and what is known of it."""

from __future__ import annotations

from functools import cache
from typing import Any

import panels
import pytest

import jurors
from jurors.errors import OptionError
from jurors.jury.gates import Gate, evaluate_gates
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


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "juror": ({"min_score": "anm:0.8"}, "there is no juror 'anm'. Did you mean 'ann'"),
    "label": ({"min_accuracy": "ann:no:fial:0.8"}, "Did you mean 'ann:no:fail'"),
    "label of prevalence": ({"max_prevalence": "pas:0.8"}, "there is no label 'pas'. Did you mean 'pass'"),
    "no label": ({"max_prevalence": 0.8}, "of which label"),
    "no label of accuracy": ({"min_accuracy": 0.8}, "on which label"),
    "no share": ({"min_score": "ann:80%"}, "a share from 0 to 1"),
    "percent": ({"min_score": 80}, "a share from 0 to 1"),
    "nan": ({"max_wrong": "nan"}, "a share from 0 to 1"),
    "twice": ({"min_score": ["ann:0.8", "ann:0.9"]}, "--min-score is given twice for ann"),
    "about the jury": ({"max_wrong": "ann:0.1"}, "the whole jury"),
    "option": ({"min_scor": 0.5}, "Did you mean 'min_score'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_slip_is_refused_in_one_line_with_the_nearest_name(case: str) -> None:
    limits, message = REFUSED[case]
    with pytest.raises(OptionError) as error:
        jurors.gate(graded(), **limits)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_what_may_mean_two_things_is_refused() -> None:
    both = graded("a", "a:b", "c", "d", labels=("b:x", "x"))
    with pytest.raises(OptionError, match="may mean juror 'a' on label 'b:x' or juror 'a:b' on label 'x'"):
        jurors.gate(both, min_accuracy="a:b:x:0.5")
    assert gates(both, min_accuracy={("a:b", "x"): 0.5})["min-accuracy a:b on x"].juror == "a:b"


def test_alarms_of_gates_name_whom_they_concern() -> None:
    (alarm,) = jurors.gate(graded(), min_score={"ann": 1.0})
    assert (alarm.level, alarm.jurors) == ("alarm", ("ann",))
    assert jurors.gate(graded(), min_score=0.0) == ()


def test_where_only_one_label_was_said_every_gate_is_not_known_also_on_labels_nobody_said() -> None:
    silent = jurors.grade([["pass"] * 4] * 50, jurors=("ann", "bob", "cy", "di"))
    assert silent.solution is None
    assert [alarm.kind for alarm in silent.alarms] == ["single_label"]
    tested = gates(
        silent, min_score=0.5, min_accuracy=["fail:0.5", "ann:fail:0.7"], max_prevalence="fail:0.5", max_wrong=1
    )
    assert {gate.outcome for gate in tested.values()} == {"not known"}
    assert tested["min-accuracy ann on fail"].limit == 0.7
    assert tested["max-wrong"].reason == "only 'pass' was ever said"
    assert jurors.check(silent).passed
    assert not jurors.check(silent, max_wrong=0.5).passed
    assert jurors.check(silent, max_wrong=0.5, allow_unknown=True).passed


def test_a_label_that_was_declared_but_never_said_changes_nothing() -> None:
    votes = jurors.Votes.from_matrix([["pass"] * 3] * 20, jurors="abc", labels=("pass", "fail"))
    assert [alarm.kind for alarm in jurors.grade(votes).alarms] == ["single_label"]
