"""Alarms about a panel and its jurors: default answers, jurors at random, outliers, degenerate fits, gold."""

from __future__ import annotations

from statistics import NormalDist
from string import ascii_letters
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from panels import coins

import jurors
from jurors import Sketch
from jurors._numeric import Flags, Floats
from jurors.evaluate.alarms import Alarm
from jurors.evaluate.solution import Partition, majority_partition
from jurors.theory import Solution
from jurors.uncertainty import alarms as standing
from jurors.uncertainty.alarms import (
    binomial_error,
    check_gold,
    clearly_weak,
    compare_with_peers,
    contested,
    default_alarms,
    default_answers,
    degenerate_alarms,
    juror_alarms,
    scores_and_errors,
    step_up,
    uninformative,
)


def accused(right: Floats, votes: int) -> Flags:
    """Which of jurors with so many right votes are uninformative."""
    wrong = votes - right
    return uninformative(np.stack([right, wrong, wrong, right], axis=1).reshape(-1, 2, 2) / 2, right)


def test_good_jurors_are_not_accused_for_having_few_votes_but_a_coin_with_many_is() -> None:
    right = np.random.default_rng(0).binomial(30, 0.75, size=766).astype(float)
    assert not accused(right, 30).any()
    right = np.append(np.random.default_rng(0).binomial(200, 0.75, size=40), [100, 103]).astype(float)
    assert np.flatnonzero(accused(right, 200)).tolist() == [40, 41]


def test_of_the_accused_few_are_worth_listening_to() -> None:
    rng = np.random.default_rng(0)
    rates = []
    for _ in range(400):
        fallen = step_up(np.concatenate([rng.random(90), rng.random(10) * 1e-4]), 0.05)
        rates.append(fallen[:90].sum() / max(fallen.sum(), 1))
    assert np.mean(rates) < 0.06


def test_what_others_say_of_a_label_by_plain_loops() -> None:
    counts = {("A", "B", "C"): 3, ("A", None, "A"): 2, ("B", "B", None): 5, (None, "C", "B"): 1}
    sketch = Sketch.from_counts(counts, jurors="ijk", labels="ABC")
    rng = np.random.default_rng(1)
    posterior, confusion = rng.dirichlet(np.ones(3), 4), rng.dirichlet(np.ones(3), (3, 3))
    joint, squares = np.zeros((3, 3, 3)), np.zeros(3)
    for q, codes, count in zip(posterior, sketch.tuples.codes, sketch.counts, strict=True):
        for juror, said in enumerate(codes):
            if said >= 0:
                others = q / confusion[juror, :, said]
                others = others / others.sum()
                joint[juror, :, said] += count * others
                squares[juror] += count * others[said] ** 2
    result = compare_with_peers(sketch, posterior, confusion)
    assert result[0] == pytest.approx(joint)
    assert result[1] == pytest.approx(squares)


def alarms_of(cast: dict[str, tuple[int, int, float]]) -> list[Alarm]:
    """The alarms: each juror alone on its items, says A and B so often, and its votes are so probably right."""
    names = tuple(cast)
    counts: dict[Any, int] = {}
    posterior = []
    for k, (a, b, right) in enumerate(cast.values()):
        for label, count in ((label, n) for label, n in (("A", a), ("B", b)) if n):
            counts[tuple(label if k == j else None for j in range(len(names)))] = count
            posterior.append([right, 1 - right] if label == "A" else [1 - right, right])
    sketch = Sketch.from_counts(counts, jurors=names, labels="AB")
    place = [list(counts).index(votes) for votes in sketch.to_counts()]
    coins = Solution.of_two_labels(names, "AB", 0.5, [(0.5, 0.5)] * len(names))  # taking out a vote changes nothing
    alarms = juror_alarms(sketch, np.array(posterior)[place], coins)
    assert all(alarm.level == "warning" and alarm.value == len(alarm.jurors) for alarm in alarms)
    return alarms


def named_of(cast: dict[str, tuple[int, int, float]]) -> dict[str, tuple[str, ...]]:
    return {alarm.reason: alarm.jurors for alarm in alarms_of(cast)}


def test_a_liar_is_four_standard_errors_below_chance_and_has_twenty_votes() -> None:
    # 200 votes, half right by chance: a standard error is 7.07 votes, and 100 - 4 * 7.07 = 71.7
    good = {f"good {k}": (100, 100, 0.9) for k in range(3)}
    few = {"twenty": (10, 10, 0.0), "nineteen": (10, 9, 0.0)}
    named = named_of({**good, "70 right": (100, 100, 0.35), "73 right": (100, 100, 0.365), **few})
    assert named == {"inverted_juror": ("70 right", "twenty")}


def test_who_says_one_label_only_is_constant_from_twenty_votes_on_and_a_coin_is_noise() -> None:
    good = {f"good {k}": (100, 100, 0.9) for k in range(3)}
    named = named_of({**good, "twenty": (20, 0, 0.5), "nineteen": (0, 19, 0.5), "coin": (100, 100, 0.5)})
    assert named == {"constant_juror": ("twenty",), "uninformative_juror": ("coin",)}


def test_as_if_by_chance_is_a_lift_below_15_points_and_within_two_and_a_half_standard_errors() -> None:
    good = [90.0] * 5
    # of 100 votes the lift is (right - 50) / 50; a standard error of the share right is 0.05 (0.0497 at 57 right)
    among = accused(np.array([*good, 50, 57, 58, 43, 42]), 100)
    assert np.flatnonzero(among).tolist() == [5, 6, 8]
    # of 1,000 votes 540 right are a lift of .08 and 2.54 standard errors; 539 are 2.47
    assert accused(np.array([900.0] * 5 + [539, 540]), 1000).tolist() == [False] * 5 + [True, False]


def sketch(said: np.ndarray) -> Sketch:
    return Sketch.from_votes(jurors.Votes.from_matrix(said, labels=("no", "yes")))


def test_a_panel_of_one_answer_is_a_shared_default() -> None:
    said = (np.random.default_rng(0).random((5000, 10)) < 0.05).astype(int)
    habits = default_answers(sketch(said))
    assert abs(habits.kappa) < 0.02
    assert habits.default_share == 1
    (alarm,) = default_alarms(sketch(said))
    assert (alarm.reason, alarm.level, len(alarm.jurors)) == ("shared_default", "alarm", 10)
    assert "'no'" in alarm.message
    assert "shared_default" in {a.reason for a in jurors.grade(sketch(said)).alarms}


def test_finders_of_a_rare_label_are_no_default() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random((1000, 1)) < 0.05
    said = np.where(rng.random((1000, 6)) < np.where(truth, 0.7, 0.98), truth, ~truth).astype(int)
    habits = default_answers(sketch(said))
    assert not habits.defaults.any()
    assert default_alarms(sketch(said)) == []


@pytest.mark.parametrize("items", [30, 300])
def test_independent_jurors_share_no_default(items: int) -> None:
    rng = np.random.default_rng(items)
    for prevalence, accuracy in ((0.5, 0.9), (0.5, 0.6), (0.1, 0.99), (0.05, 0.9)):
        truth = rng.random((items, 1)) < prevalence
        said = np.where(rng.random((items, 5)) < accuracy, truth, ~truth).astype(int)
        assert default_alarms(sketch(said)) == []


def _named(result: Any) -> dict[str, tuple[str, ...]]:
    return {alarm["reason"] or alarm["kind"]: tuple(alarm["jurors"]) for alarm in result.to_dict()["alarms"]}


def test_a_clearly_weak_juror_is_a_note_of_the_grades_and_of_the_score() -> None:
    votes, truth = coins(4_000, [0.9, 0.9, 0.9, 0.9, 0.7, 0.88], seed=0)
    assert _named(jurors.grade(votes))["clearly_weak_juror"] == ("5",)
    assert _named(jurors.score(votes, truth))["clearly_weak_juror"] == ("5",)
    assert {a.level for a in jurors.grade(votes).alarms} <= {"note"}


def test_swapped_labels_are_named_by_the_key() -> None:
    votes, truth = coins(1_000, [0.9, 0.9, 0.9, 0.9, 0.25], seed=0)
    assert _named(jurors.score(votes, truth))["labels_swapped"] == ("5",)


def test_grades_that_the_key_contradicts_are_warned_of_where_both_are_compared() -> None:
    rng = np.random.default_rng(0)
    independent, truth = coins(4_000, [0.9] * 5, seed=0)
    idea = np.where(rng.random(4_000) < 0.6, truth, 1 - truth)  # which all of them follow
    votes = np.where(rng.random((4_000, 5)) < 0.9, idea[:, None], 1 - idea[:, None])
    first = jurors.compare(votes, truth, methods=["dawid_skene"]).to_dict()["methods"][0]
    assert [a["level"] for a in first["alarms"] if a["kind"] == "key_contradicts_grades"] == ["warning"]
    assert not jurors.compare(independent, truth, methods=["dawid_skene"]).alarms


def graded(scores: list[float], error: Any, **fields: Any) -> Any:
    """Grades of jurors with these scores and standard errors."""
    names = tuple(ascii_letters[: len(scores)])
    reach = NormalDist().inv_cdf(0.95) * np.broadcast_to(error, len(scores))
    ends = {j: (x - r, x + r) for j, x, r in zip(names, scores, reach, strict=True)}
    solution = fields.pop("solution", "some")
    score = dict(zip(names, scores, strict=True))
    model = SimpleNamespace(score=score, solution=solution, interval_of=lambda _, j: ends[j])
    given = {"target": "population", "level": 0.9, "items": 96, "votes": {}, "is_calibrated": False, "calibrated": None}
    return SimpleNamespace(jurors=names, independent=model, solution=solution, **{**given, **fields})


def test_intervals_for_the_test_lack_the_luck_of_its_items() -> None:
    score, error = scores_and_errors(graded([0.75, np.nan], 0.01))
    assert score[0] == 0.75
    assert np.isnan(score[1])
    assert error == pytest.approx([0.01, np.nan], nan_ok=True)
    _, error = scores_and_errors(graded([0.75, 0.5], 0.01, target="test"))
    assert error == pytest.approx(np.hypot(0.01, binomial_error(np.array([0.75, 0.5]), 96)))


def with_alarms(*alarms: tuple[str, str, str]) -> Any:
    """Eight jurors of whom b, c and d are weak and a is below a coin; alarms of a kind, a level and somebody."""
    scores = [0.3, 0.7, 0.71, 0.72, *[0.9] * 4]
    accuracy = {j: {"A": x, "B": x} for j, x in zip("abcdefgh", scores, strict=True)}
    solution = SimpleNamespace(to_float=lambda: SimpleNamespace(accuracy=accuracy))
    told = tuple(SimpleNamespace(reason=reason, level=level, jurors=(who,)) for reason, level, who in alarms)
    return graded(scores, 0.001, labels=("A", "B"), exam=None, solution=solution, alarms=told)


@pytest.mark.parametrize(
    ("alarms", "named"),
    [
        ([], {"labels_swapped": ("a",), "clearly_weak_juror": ("b", "c", "d")}),
        ([("inverted_juror", "warning", "a")], {"clearly_weak_juror": ("b", "c", "d")}),
        ([("constant_juror", "warning", "c")], {"labels_swapped": ("a",), "clearly_weak_juror": ("b", "d")}),
        ([("uninformative_juror", "warning", "b")], {"labels_swapped": ("a",), "clearly_weak_juror": ("c", "d")}),
        ([("too_few_distinct", "alarm", "h")], {}),
        ([("correlated_errors", "warning", "h")], {}),
    ],
    ids=["none", "inverted", "constant", "noise", "alarm", "in doubt"],
)
def test_nobody_is_named_twice_or_by_grades_in_doubt(
    alarms: list[tuple[str, str, str]], named: dict[str, tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standing, "Evaluation", SimpleNamespace)
    notes = standing.outlier_alarms(with_alarms(*alarms))
    assert {note.reason: note.jurors for note in notes} == named
    assert all(note.level == "note" and note.value == len(note.jurors) for note in notes)


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


def dependent_panel(width: int, shared: float, apart: bool = False, items: int = 4_000) -> Any:
    """Jurors who are right four times in five; the last two do the same, or the opposite, on a share of the items."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, items)
    right = rng.random((items, width)) < 0.8
    together = rng.random(items) < shared
    right[together, -1] = right[together, -2] ^ apart
    return np.where(right, truth[:, None], 1 - truth[:, None])


@pytest.mark.parametrize(
    ("width", "shared", "level"),
    [(4, 0.15, "note"), (4, 0.4, "alarm"), (6, 0.2, "note"), (6, 0.6, "warning"), (24, 0.6, "warning")],
    ids=["four, little", "four, much", "six, little", "six, much", "a pair of many"],
)
def test_correlated_errors_are_a_note_unless_the_effect_is_large(width: int, shared: float, level: str) -> None:
    result = jurors.grade(dependent_panel(width, shared))
    (alarm,) = [alarm for alarm in result.alarms if alarm.reason == "correlated_errors"]
    assert alarm.level == level
    strength = {"note": "errors are slightly", "warning": "errors are", "alarm": "errors are strongly"}[level]
    assert alarm.message.startswith(f"{strength} correlated: ")
    assert "agree more often than the estimated truth explains" in alarm.message
    assert ("may then be reversed" in alarm.message) == (width == 4 and level != "note")
    assert alarm.jurors == (str(width - 1), str(width))


def test_jurors_who_disagree_too_often_are_not_said_to_share_errors() -> None:
    votes = dependent_panel(14, 0.3, apart=True)
    (alarm,) = [alarm for alarm in jurors.grade(votes).alarms if alarm.reason == "correlated_errors"]
    assert alarm.message.startswith("errors are slightly negatively correlated: jurors disagree more often")
    assert alarm.jurors == ("13", "14")


def test_a_crowds_pair_of_few_common_items_is_not_the_one_named() -> None:
    votes = dependent_panel(24, 0.7)
    votes[15:, 0] = votes[15:, 1] = -1
    votes[:15, 0] = votes[:15, 1]  # always the same answer, to fifteen items
    (alarm,) = [alarm for alarm in jurors.grade(votes).alarms if alarm.reason == "correlated_errors"]
    assert alarm.jurors == ("23", "24")


def test_grades_of_most_items_need_no_alarm_of_a_small_group() -> None:
    votes = np.full((1_600, 7), -1)
    votes[:1_000, :5], votes[1_000:, 5:] = dependent_panel(5, 0.0, items=1_000), dependent_panel(2, 1.0, items=600)
    assert {a.level for a in jurors.grade(votes).alarms if a.reason == "too_few_distinct"} == {"warning"}
    assert {a.level for a in jurors.grade(votes[600:]).alarms if a.reason == "too_few_distinct"} == {"alarm"}


SKETCH = Sketch.from_counts({"AAABB": 30, "AAAAA": 70}, jurors="ijklm", labels="AB")


def partition(sure: float) -> Partition:
    share = np.where(np.array(list(SKETCH.to_counts().values())) == 30, sure, 1.0)
    by_label = SKETCH.counts[:, None] * np.stack([share, 1 - share], axis=1)
    return Partition(SKETCH, by_label, np.zeros(2, dtype=np.int64))


def test_a_fit_that_doubts_nothing_is_noticed_and_one_that_doubts_or_promises_nothing_is_not() -> None:
    (alarm,) = degenerate_alarms(partition(1.0))
    assert (alarm.reason, alarm.level, alarm.value) == ("degenerate_fit", "warning", 0.0)
    assert contested(partition(0.9)) == pytest.approx((30, 3))
    assert degenerate_alarms(partition(0.95)) == degenerate_alarms(majority_partition(SKETCH)) == []


def test_votes_that_scatter_over_many_labels_contest_nothing() -> None:
    sketch = Sketch.from_counts({"AAABC": 300}, jurors="ijklm", labels="ABC")
    assert contested(Partition(sketch, np.array([[300.0, 0, 0]]), np.zeros(1, dtype=np.int64))) == (0, 0)


def labelled(chosen: list[int], probability: list[float]) -> Any:
    return SimpleNamespace(chosen=np.array(chosen), probability=np.array(probability))


@pytest.mark.parametrize("right", [79, 80])
def test_three_standard_errors_below_the_promise_ring(right: int) -> None:
    # 60 items promised to 95%, 40 to 80%: 89 right, spread sqrt(60 * .0475 + 40 * .16) = 3.04; 89 - 3 * 3.04 = 79.9
    gold = np.array([[52, 8], [92 - right, right - 52], [0, 0]])
    test, alarms = check_gold(labelled([0, 1, 0], [0.95, 0.8, np.nan]), gold)
    assert (test.items, test.right) == (100, right)
    assert test.expected == pytest.approx(89)
    assert len(alarms) == (right == 79)
    for alarm in alarms:
        assert (alarm.reason, alarm.level) == ("gold_contradicts", "alarm")
        assert alarm.value == pytest.approx(-10)


def test_one_wrong_gold_item_of_a_sure_labelling_does_not_ring_and_labels_without_a_probability_never() -> None:
    sure = labelled([0], [1.0])  # the spread is taken to be half an item at least
    assert check_gold(sure, np.array([[8, 1]]))[1] == []
    assert len(check_gold(sure, np.array([[8, 2]]))[1]) == 1
    test, alarms = check_gold(labelled([0, 1], [0.9, np.nan]), np.array([[3, 1], [0, 5]]))
    assert (test.items, test.right, test.expected) == (9, 8, None)
    assert alarms == []
