"""Who stands apart is said by `grade`, `score` and `compare`, not by the page alone."""

from __future__ import annotations

from statistics import NormalDist
from string import ascii_letters
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import jurors
from jurors.uncertainty import alarms as standing
from jurors.uncertainty.alarms import (
    binomial_error,
    clearly_weak,
    could_be_equal,
    gap_errors,
    scores_and_errors,
    votes_of,
)


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


def test_standard_errors_by_hand() -> None:
    assert binomial_error(0.75, 96) == pytest.approx((0.74 * 0.26 / 100) ** 0.5)  # 72 + 2 of 96 + 4
    assert binomial_error(1.25, 96) == pytest.approx((0.98 * 0.02 / 100) ** 0.5)  # no more than all of them
    assert binomial_error(-0.25, 96) == pytest.approx((0.98 * 0.02 / 100) ** 0.5)


def graded(scores: list[float], error: Any, **fields: Any) -> Any:
    """Grades of jurors with these scores and standard errors."""
    names = tuple(ascii_letters[: len(scores)])
    reach = NormalDist().inv_cdf(0.95) * np.broadcast_to(error, len(scores))
    ends = {j: (x - r, x + r) for j, x, r in zip(names, scores, reach, strict=True)}
    given = {"target": "population", "level": 0.9, "items": 96, "sketch": None, "as_real": None, "solution": "some"}
    score = dict(zip(names, scores, strict=True))
    return SimpleNamespace(jurors=names, score=score, interval_of=lambda _, j: ends[j], **{**given, **fields})


def test_intervals_for_the_test_lack_the_luck_of_its_items() -> None:
    score, error = scores_and_errors(graded([0.75, np.nan], 0.01))
    assert score[0] == 0.75
    assert np.isnan(score[1])
    assert error == pytest.approx([0.01, np.nan], nan_ok=True)
    _, error = scores_and_errors(graded([0.75, 0.5], 0.01, target="test"))
    assert error == pytest.approx(np.hypot(0.01, binomial_error(np.array([0.75, 0.5]), 96)))


def test_two_scores_could_be_equal_up_to_the_critical_gap_of_all_pairs() -> None:
    critical = NormalDist().inv_cdf(1 - 0.05 / 6) * 0.01 * 2**0.5  # three jurors, six ordered pairs
    near, far = [0.8, 0.8 - 0.99 * critical, 0.79], [0.8, 0.8 - 1.01 * critical, 0.79]
    assert could_be_equal(graded(near, 0.01), ["a", "b", "c"]) is True
    assert could_be_equal(graded(far, 0.01), ["a", "b", "c"]) is False
    assert could_be_equal(graded(far[::-1], 0.01), ["a", "b", "c"]) is False
    assert could_be_equal(graded([*near, 0.1, np.nan], 0.01), ["a", "b", "c", "e"]) is True  # d is not asked about
    two = NormalDist().inv_cdf(1 - 0.05 / 2) * 0.01 * 2**0.5
    assert could_be_equal(graded([0.8, 0.8 - 0.99 * two, 0.1], 0.01), ["a", "b"]) is True
    assert could_be_equal(graded([0.8, 0.8 - 1.01 * two, 0.1], 0.01), ["a", "b"]) is False
    assert could_be_equal(graded(near, 0.01), ["a"]) is False  # there is no pair
    assert could_be_equal(graded(near, np.nan), ["a", "b", "c"]) is False


def as_real_juries_go(scores: list[float | None], doubt: list[float]) -> Any:
    draws = np.array([[0.1, 0.3, 0.5], [0.1, 0.3, 0.5], [0.2, 0.3, 0.4], [0.1, 0.3, 0.5]])
    return SimpleNamespace(
        score=dict(zip("abcd", scores, strict=True)), score_draws=draws, score_doubt=np.array(doubt)
    )  # fmt: skip


def test_what_moves_all_scores_together_leaves_the_gaps_between_them() -> None:
    real = as_real_juries_go([0.8, 0.7, 0.7, None], [1e-4, 3e-4, 5e-4, 1e-4])
    assert gap_errors(real, 0) ** 2 == pytest.approx([2e-4, 4e-4, 0.02 / 3 + 6e-4, 2e-4])
    assert could_be_equal(graded([0.8, 0.1, 0.8, 0.8], np.nan, as_real=real), ["a", "b"]) is False  # 5 standard errors
    assert could_be_equal(graded([0.8, 0.1, 0.8, 0.8], np.nan, as_real=real), ["a", "c"]) is True
    assert could_be_equal(graded([0.8, 0.1, 0.8, 0.8], np.nan, as_real=real), ["a", "d"]) is False  # d has no score


def test_weak_as_real_juries_go_is_below_more_than_half_of_the_others_by_five_points_and_chance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(standing, "Evaluation", SimpleNamespace)

    def is_weak(scores: list[float | None], doubt: float) -> bool:
        real = as_real_juries_go(scores, [doubt] * 4)
        return clearly_weak(graded([0.6, 0.9, 0.9, 0.9], 0.001, as_real=real)) == ["a"]

    assert is_weak([0.7, 0.75001, 0.7, 0.8], 1e-5)
    assert not is_weak([0.7, 0.7499, 0.7, 0.8], 1e-5)
    assert not is_weak([0.7, 0.75001, 0.7, None], 1e-5)
    assert not is_weak([0.7, 0.75001, 0.7, 0.8], 2e-4)  # 2.64 standard errors are 0.053


def test_clearly_weak_by_hand() -> None:
    assert clearly_weak(graded([0.7, 0.7501, 0.76], 0.001)) == ["a"]
    assert clearly_weak(graded([0.7, 0.7499, 0.76], 0.001)) == []  # below one of two others only
    assert clearly_weak(graded([0.69, 0.68, 0.76, 0.77, 0.78], 0.001)) == ["b", "a"]
    assert clearly_weak(graded([0.7, 0.9], 0.001)) == []
    assert clearly_weak(graded([0.7, 0.9, 0.9], 0.001, solution=None)) == []
    critical = NormalDist().inv_cdf(1 - 0.05 / 6) * 2**0.5
    assert clearly_weak(graded([0.7, 0.8, 0.8], 0.1 / critical / 1.01)) == ["a"]
    assert clearly_weak(graded([0.7, 0.8, 0.8], 0.1 / critical / 0.99)) == []


def test_votes_are_counted_in_dense_and_in_sparse_sketches() -> None:
    sketch = jurors.Sketch.from_counts({("A", "B", None): 3, ("A", None, None): 4, ("B", "B", "A"): 5}, jurors="ijk")
    assert votes_of(graded([0.8] * 3, 0.01, sketch=sketch)) == {"i": 12, "j": 8, "k": 5}
    assert votes_of(graded([0.8] * 3, 0.01)) == {}


def with_alarms(*alarms: tuple[str, str, str]) -> Any:
    """Eight jurors of whom b, c and d are weak and a is below a coin; alarms of a kind, a level and somebody."""
    scores = [0.3, 0.7, 0.71, 0.72, *[0.9] * 4]
    accuracy = {j: {"A": x, "B": x} for j, x in zip("abcdefgh", scores, strict=True)}
    solution = SimpleNamespace(to_float=lambda: SimpleNamespace(accuracy=accuracy))
    told = tuple(SimpleNamespace(kind=kind, level=level, jurors=(who,)) for kind, level, who in alarms)
    return graded(scores, 0.001, labels=("A", "B"), exam=None, solution=solution, alarms=told)


@pytest.mark.parametrize(
    ("alarms", "named"),
    [
        ([], {"labels_swapped": ("a",), "clearly_weak_juror": ("b", "c", "d")}),
        ([("inverted_juror", "warning", "a")], {"clearly_weak_juror": ("b", "c", "d")}),
        ([("constant_juror", "warning", "c")], {"labels_swapped": ("a",), "clearly_weak_juror": ("b", "d")}),
        ([("uninformative_juror", "warning", "b")], {"labels_swapped": ("a",), "clearly_weak_juror": ("c", "d")}),
        ([("too_few_voices", "alarm", "h")], {}),
        ([("correlated_errors", "warning", "h")], {}),
    ],
    ids=["none", "inverted", "constant", "noise", "alarm", "in doubt"],
)
def test_nobody_is_named_twice_or_by_grades_in_doubt(
    alarms: list[tuple[str, str, str]], named: dict[str, tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standing, "Evaluation", SimpleNamespace)
    notes = standing.outlier_alarms(with_alarms(*alarms))
    assert {note.kind: note.jurors for note in notes} == named
    assert all(note.level == "note" and note.value == len(note.jurors) for note in notes)


def test_swapped_is_beyond_chance_below_a_coin_with_two_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "Evaluation", SimpleNamespace)
    grades = with_alarms()
    assert standing.worse_than_chance(grades) == ["a"]
    for other in ({"labels": ("A", "B", "C")}, {"exam": "some"}, {"solution": None}):
        changed: Any = SimpleNamespace(**{**vars(grades), **other})
        assert standing.worse_than_chance(changed) == []
    for below, named in ((1.6, []), (1.7, ["a"])):  # standard errors; 1.645 at a level of 90%
        near = graded([0.5 - 0.01 * below, 0.9], 0.01, labels=("A", "B"), exam=None, solution=grades.solution)
        assert standing.worse_than_chance(near) == named


@pytest.mark.parametrize("size", [3, 9, 50])
def test_clearly_weak_is_what_all_pairs_say(size: int) -> None:
    rng = np.random.default_rng(size)
    for _ in range(20):
        score, error = rng.uniform(0.4, 0.9, size), rng.uniform(0.0, 0.03, size)
        score[rng.random(size) < 0.1] = np.nan
        error[rng.random(size) < 0.1] = np.nan
        critical = NormalDist().inv_cdf(1 - 0.05 / (size * (size - 1)))
        gap = score[None, :] - score[:, None]
        above = (gap >= 0.05) & (gap > critical * np.hypot(error[None, :], error[:, None]))
        weak = set(np.array(list(ascii_letters))[:size][2 * above.sum(axis=1) > size - 1].tolist())
        assert set(clearly_weak(graded(score.tolist(), error))) == weak
