"""Who stands apart is said by `grade`, `score` and `compare`, not by the page alone."""

from __future__ import annotations

from typing import Any

import numpy as np

import jurors


def _votes(accuracies: list[float], items: int = 4_000) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, items)
    return np.where(rng.random((items, len(accuracies))) < accuracies, truth[:, None], 1 - truth[:, None]), truth


def _named(result: Any) -> dict[str, tuple[str, ...]]:
    return {alarm["kind"]: tuple(alarm["jurors"]) for alarm in result.to_dict()["alarms"]}


def test_a_clearly_weak_juror_is_a_note_of_the_grades_and_of_the_score() -> None:
    votes, truth = _votes([0.9, 0.9, 0.9, 0.9, 0.7, 0.88])
    assert _named(jurors.grade(votes))["clearly_weak_juror"] == ("5",)
    assert _named(jurors.score(votes, truth))["clearly_weak_juror"] == ("5",)
    assert {a.level for a in jurors.grade(votes).alarms} <= {"note"}


def test_what_was_calibrated_to_name_a_weak_juror_is_not_calibrated_again() -> None:
    assert "calibrated" in vars(jurors.grade(_votes([0.9, 0.9, 0.9, 0.9, 0.7, 0.88])[0]))


def test_swapped_labels_are_named_by_the_key() -> None:
    votes, truth = _votes([0.9, 0.9, 0.9, 0.9, 0.25], items=1_000)
    assert _named(jurors.score(votes, truth))["labels_swapped"] == ("5",)


def test_grades_that_the_key_contradicts_are_warned_of_where_both_are_compared() -> None:
    rng = np.random.default_rng(0)
    _, truth = _votes([0.9] * 5)
    idea = np.where(rng.random(4_000) < 0.6, truth, 1 - truth)  # which all of them follow
    votes = np.where(rng.random((4_000, 5)) < 0.9, idea[:, None], 1 - idea[:, None])
    first = jurors.compare(votes, truth, methods=["dawid_skene"]).to_dict()["methods"][0]
    assert [a["level"] for a in first["alarms"] if a["kind"] == "key_contradicts_grades"] == ["warning"]
    assert not jurors.compare(*_votes([0.9] * 5), methods=["dawid_skene"]).alarms
