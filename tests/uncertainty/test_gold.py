"""Labelling errors, paired changes, and grades against a key: by hand and by plain loops."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jurors
from jurors._numeric import Floats, Integers
from jurors.uncertainty.alarms import Labels, check_gold, check_with_key, intervals_held
from jurors.uncertainty.calibrate import FitNoise, PairedRuns, calibrate, labelling_errors, paired_change
from jurors.uncertainty.reference import shipped_population
from jurors.uncertainty.scenarios import JuryVotes, panel_traits, weigh_gold

TRUTH = np.array([0, 1, 2, 0, 1, 2])
WEIGHTS = np.array([4.0, 1.0, 2.0, 3.0, 5.0, 1.0])
CHOSEN = [np.array([0, 1, 2, 0, 1, 2]), np.array([0, 1, 2, 1, 1, 0]), np.array([1, 2, 0, 1, 2, 0])]


def jury() -> JuryVotes:
    codes = np.stack([TRUTH, np.roll(TRUTH, 1), np.array([0, 1, 2, 0, 2, 1])], axis=1)
    row, juror = np.nonzero(codes >= 0)
    posterior = np.random.default_rng(1).dirichlet(np.full(3, 0.5), 6)
    return JuryVotes(posterior, WEIGHTS, row, juror, codes[row, juror], 3, np.full(6, 3.0))


def errors(labellings: list[Integers], gold: Floats | None = None, noise: FitNoise | None = None) -> Any:
    return labelling_errors(jury(), shipped_population(), None, gold, (), noise or FitNoise(), 0.9, labellings)


def test_with_the_whole_key_the_wrong_labels_are_counted() -> None:
    wrong = errors(CHOSEN, np.eye(3)[TRUTH] * WEIGHTS[:, None])
    assert [share for share, _ in wrong] == pytest.approx([0.0, 4 / 16, 1.0])
    assert [ends for _, ends in wrong] == [pytest.approx((share, share)) for share, _ in wrong]


def test_a_labelling_is_judged_as_a_juror_who_says_the_same() -> None:
    (share, (low, high)), *_ = errors(CHOSEN[1:])
    assert 0 <= low < share < high <= 1
    votes = jury()
    more = replace(
        votes, row=np.concatenate([votes.row, np.arange(6)]), juror=np.concatenate([votes.juror, np.full(6, 3)]),
        label=np.concatenate([votes.label, CHOSEN[1]]), jurors=4,
    )  # fmt: skip
    graded = calibrate(more, shipped_population(), rho=None, traits=panel_traits(votes))
    assert share == pytest.approx(1 - graded.score[3])
    assert (1 - high, 1 - low) == pytest.approx(graded.interval(0.9)["score"][3])


def panel_of(sure: Floats, items: Floats) -> JuryVotes:
    """Tuples with one vote each, of whose likeliest label the posterior is so sure."""
    row = np.arange(len(sure))
    return JuryVotes(np.stack([sure, 1 - sure], axis=1), items, row, row * 0, row * 0, 1, np.ones(len(sure)))


def test_random_gold_counts_in_full_and_the_most_doubtful_or_the_surest_items_do_not() -> None:
    rng = np.random.default_rng(3)
    panel = panel_of(rng.uniform(0.5, 1.0, 500), np.ones(500))
    order = np.argsort(panel.posterior[:, 0])
    for chosen in (order[:50], order[-50:]):
        gold = np.zeros((500, 2))
        gold[chosen, 1] = 1.0
        error = np.sqrt((501 / 12) / 50 / 450 / 499 * 500)  # of the Mann-Whitney statistic without ties
        assert weigh_gold(panel, gold) == pytest.approx(4 * error, rel=0.01)
    draws = [np.zeros((500, 2)) for _ in range(200)]
    for gold in draws:
        gold[rng.choice(500, 50, replace=False), 0] = 1.0
    weights = np.array([weigh_gold(panel, gold) for gold in draws])
    assert weights.min() > 0.5
    assert (weights == 1).mean() > 0.85


def test_the_weight_of_gold_depends_neither_on_the_order_of_tuples_nor_on_how_items_are_counted() -> None:
    sure, items = np.array([0.6, 0.9, 0.7, 0.9]), np.array([40.0, 100.0, 30.0, 60.0])
    gold = np.array([[9.0, 3.0], [2.0, 0.0], [1.0, 4.0], [1.0, 0.0]])
    weight = weigh_gold(panel_of(sure, items), gold)
    assert 0 < weight < 1
    turn = np.array([2, 0, 3, 1])
    assert weigh_gold(panel_of(sure[turn], items[turn]), gold[turn]) == pytest.approx(weight)
    merged = gold[:3] + np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    assert weigh_gold(panel_of(sure[:3], np.array([40.0, 160.0, 30.0])), merged) == pytest.approx(weight)
    assert weigh_gold(panel_of(np.full(4, 0.8), items), gold) == 1  # equally sure of all


def test_gold_that_is_no_random_draw_is_reported_with_what_it_counts_for() -> None:
    sketch = SimpleNamespace(counts=np.array([80.0, 20.0]), items=100.0)
    labels: Any = SimpleNamespace(chosen=np.zeros(2, dtype=int), probability=np.array([0.9, 0.6]), sketch=sketch)
    gold = np.array([[0, 0], [12, 8]])
    assert check_gold(labels, gold, None, 0.5)[1] == []
    (alarm,) = check_gold(labels, gold, None, 0.2)[1]
    assert (alarm.kind, alarm.level, alarm.value) == ("selected_gold", "warning", 0.2)
    assert "less sure" in alarm.message


def test_doubtful_gold_leaves_wider_intervals_than_random_gold_and_a_warning() -> None:
    rng = np.random.default_rng(0)
    truth, is_hard = rng.integers(0, 2, 600), rng.random(600) < 0.3
    is_right = rng.random((600, 5)) < np.where(is_hard, 0.6, 0.9)[:, None]
    codes = np.where(is_right, truth[:, None], 1 - truth[:, None])
    votes = jurors.Votes.from_matrix(codes.astype(np.int64))
    doubtful = np.argsort(np.abs(codes.mean(axis=1) - 0.5) + 1e-6 * rng.random(600))[:50]
    widths: list[float] = []
    for chosen in (rng.choice(600, 50, replace=False), doubtful):
        graded = jurors.grade(votes, gold={int(k): int(truth[k]) for k in chosen})
        assert [a.kind for a in graded.alarms if a.kind == "selected_gold"] == ["selected_gold"] * bool(widths)
        widths.append(
            float(np.mean([high - low for low, high in map(partial(graded.interval_of, "score"), votes.jurors)]))
        )
    assert widths[1] > 1.2 * widths[0]


@given(st.integers(0, 2**32), st.integers(20, 60), st.sampled_from(["yes", "no"]), st.floats(0.4, 0.6))
@settings(max_examples=15)
def test_gold_of_one_label_is_reported_and_random_gold_is_not(seed: int, size: int, label: str, rate: float) -> None:
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random(400) < rate, "yes", "no")
    other = np.where(truth == "yes", "no", "yes")
    codes = np.where(rng.random((5, 400)) < 0.85, truth, other).T
    votes = jurors.Votes.from_matrix(codes.tolist())
    for chosen, of in (
        (rng.choice(np.flatnonzero(truth == label), size, replace=False), [(label,)]),
        (range(size), []),
    ):
        graded = jurors.grade(votes, gold={int(k): str(truth[k]) for k in chosen})
        assert [a.labels for a in graded.alarms if a.kind == "selected_gold"] == of


@pytest.mark.parametrize(("given_to", "items", "is_selected"), [(0.5, 4, False), (0.5, 10, True), (0.9, 20, False)])
def test_gold_of_one_label_may_be_chance_where_it_is_little_or_the_label_common(
    given_to: float, items: int, is_selected: bool
) -> None:
    sketch = SimpleNamespace(counts=np.array([given_to, 1 - given_to]) * 100, items=100.0, labels=("yes", "no"))
    labels: Any = SimpleNamespace(chosen=np.array([0, 1]), probability=np.array([0.9, 0.9]), sketch=sketch)
    alarms = check_gold(labels, np.array([[items, 0], [0, 0]]), None)[1]
    assert [alarm.kind for alarm in alarms] == ["selected_gold"] * is_selected


def runs(now: list[int], before: list[int]) -> PairedRuns:
    many = len(now)
    return PairedRuns(
        now=np.array(now)[:, None], before=np.array(before)[:, None], weights=np.arange(1.0, many + 1),
        odds=np.zeros((many, 2)), distinct=np.ones(many), noise=np.array([0.02]),
    )  # fmt: skip


def test_where_no_vote_changed_nothing_did_and_where_none_was_cast_twice_nothing_is_known() -> None:
    change = paired_change(runs([0, 1, -1], [0, 1, 1]), 0, Any, 0.1, 0.9)  # type: ignore[arg-type]
    assert change is not None
    assert (change.value, change.interval, change.items, change.changed) == (0.0, (0.0, 0.0), 3, 0)
    assert paired_change(runs([0, -1], [-1, 1]), 0, Any, 0.1, 0.9) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "expected", "unsure", "far"),
    [
        (21, 9.0, 0.0, True),  # P(21 or more | 9) = 0.00044
        (20, 9.0, 0.0, False),  # P(20 or more | 9) = 0.0011
        (21, 9.0, 0.9, False),  # P(21 or more | 9.9) = 0.0016
        (4, 0.0, 0.0, True),
        (140, 100.0, 0.0, False),  # clearly more, but not half as many again
        (152, 100.0, 0.0, True),
        (21, float("nan"), 0.0, False),
        (9, 21.0, 0.0, False),
    ],
)
def test_labels_are_far_off_by_poissons_test(wrong: int, expected: float, unsure: float, far: bool) -> None:
    labels = Labels(400, wrong, expected, 0.0, 0.0, unsure)
    assert labels.are_far_off is far


NEAR = Labels(400, 9, 9.0, 12.0, 0.0)


def keyed(actual: dict[str, float], **fields: Any) -> Any:
    rounded = SimpleNamespace(score=actual)
    return SimpleNamespace(solution=SimpleNamespace(to_float=lambda: rounded), **fields)


def test_intervals_hold_where_both_are_known_ends_included() -> None:
    ends = {"a": (0.5, 0.7), "b": (0.5, 0.7), "c": (0.5, 0.7), "d": (np.nan, np.nan), "e": (0.1, 0.2), "f": (0.0, 1.0)}
    grades: Any = SimpleNamespace(score=dict.fromkeys(ends, 0.6), interval_of=lambda _, juror: ends[juror])
    assert intervals_held(grades, keyed({"a": 0.5, "b": 0.7, "c": 0.71, "d": 0.5, "e": 0.09})) == (2, 4)


def grades(ends: dict[str, tuple[float, float]], *, has_grades: bool = True) -> Any:
    """An evaluation with these score intervals; each score is the middle of its interval."""
    score = {j: (low + high) / 2 for j, (low, high) in ends.items()}
    return SimpleNamespace(
        jurors=tuple(ends), score=score, interval_of=lambda _, juror: ends[juror], has_grades=has_grades, level=0.9,
        items=400,
    )  # fmt: skip


def key_of(actual: dict[str, float], items: int = 400) -> Any:
    """A key of so many items, on each of which everybody voted."""
    return keyed(actual, items=items, votes=dict.fromkeys(actual, items), labels=(), jurors=tuple(actual))


@pytest.fixture
def known_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jurors.uncertainty.alarms.labels_beside_truth", lambda *_: NEAR)


FIVE = dict.fromkeys("abcde", (0.7, 0.8))


@pytest.mark.usefixtures("known_labels")
@pytest.mark.parametrize(
    ("missed", "contradicted"),
    [(0, False), (2, False), (3, False), (4, True), (5, True)],  # P(2 or fewer of 5 at 90%) = 0.0086, P(1) = 0.00046
    ids=["none", "two", "three", "four", "five"],
)
@pytest.mark.parametrize("actual", [0.5, 0.95], ids=["below", "above"])
def test_a_key_contradicts_where_too_few_intervals_hold(missed: int, contradicted: bool, actual: float) -> None:
    scores = {juror: actual if k < missed else 0.75 for k, juror in enumerate("abcde")}
    check = check_with_key(grades(FIVE), key_of(scores))
    assert check is not None
    assert check.is_contradicted is contradicted
    assert (check.items, check.held, check.known, check.level) == (400, 5 - missed, 5, 0.9)
    assert check.worst == ("a", 0.75, actual if missed else 0.75)
    assert check.labels == NEAR


@pytest.mark.usefixtures("known_labels")
def test_there_is_nothing_to_check_without_a_key_a_solution_or_a_score_of_both() -> None:
    key = key_of(dict.fromkeys("abcde", 0.5))
    assert check_with_key(grades(FIVE), None) is None
    assert check_with_key(grades(FIVE, has_grades=False), key) is None
    assert check_with_key(grades(FIVE), key_of({"z": 0.5})) is None
    assert check_with_key(grades({"a": (np.nan, np.nan)}), key) is None
