"""Labelling errors, information gain, paired changes, and grades against a key: by hand and by plain loops."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from jurors import Sketch
from jurors._numeric import Floats, Integers
from jurors.uncertainty import gold as gold_module
from jurors.uncertainty.calibrate import FitNoise, calibrate
from jurors.uncertainty.gold import (
    KeyCheck,
    Labels,
    PairedRuns,
    intervals_held,
    key_alarms,
    labelling_errors,
    paired_change,
)
from jurors.uncertainty.reference import shipped_population
from jurors.uncertainty.scenarios import DRAWS, JuryVotes, answer_spread

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
    graded = calibrate(more, shipped_population(), rho=None, spread=answer_spread(votes))
    assert share == pytest.approx(1 - graded.score[3])
    assert (1 - high, 1 - low) == pytest.approx(graded.interval(0.9)["score"][3])


def test_the_noise_of_the_fit_is_the_jurors_own() -> None:
    loud = FitNoise(np.full(3, 1e-4), np.full((3, 3), 0.01), np.full(3, 0.01))
    plain, noisy = (errors(CHOSEN[1:2], noise=noise) for noise in (None, loud))
    assert noisy[0][0] == pytest.approx(plain[0][0])
    assert noisy[0][1] == pytest.approx(plain[0][1])


def posteriors(tuples: int, labels: int, seed: int) -> Floats:
    drawn = np.random.default_rng(seed).dirichlet(np.ones(labels), (tuples, DRAWS))
    return np.asarray(drawn.transpose(0, 2, 1))


@pytest.mark.parametrize("labels", [2, 3, 5])
def test_what_a_label_teaches_of_others_is_the_sum_over_their_items(
    labels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    q = posteriors(9, labels, seed=labels)
    left = np.array([3.0, 0.0, 1.0, 0.5, 7.0, 2.0, 1.0, 4.0, 6.0])
    asked, mean = np.array([1, 2, 3, 8]), q.mean(axis=2)
    monkeypatch.setattr(gold_module, "_STRIP", 4)
    monkeypatch.setattr(gold_module, "_in_blocks", lambda *_: iter((q[:5], q[5:])))
    monkeypatch.setattr(gold_module, "_posteriors", lambda jury, odds, drawn, at: q[at])
    found = gold_module._gain_of_others(type("Jury", (), {"labels": labels})(), [], None, asked, mean, left)  # type: ignore[arg-type]
    plain = []
    for t in asked:
        best = [sum(max((q[t, y] * q[u, a]).mean() for a in range(labels)) for y in range(labels)) for u in range(9)]
        gain = [max(best[u] - mean[u].max(), 0.0) for u in range(9)]
        plain.append(sum(gain[u] * max(left[u] - (u == t), 0.0) for u in range(9)))
    assert found == pytest.approx(plain)


def runs(now: list[int], before: list[int]) -> PairedRuns:
    many = len(now)
    return PairedRuns(
        now=np.array(now)[:, None], before=np.array(before)[:, None], weights=np.arange(1.0, many + 1),
        odds=np.zeros((many, 2)), distinct=np.ones(many), noise=np.array([0.02]),
    )  # fmt: skip


@pytest.fixture
def variances(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Gains of 2 and 4 items by turns, 5 in the estimate, in doubt by 3; the variances told."""
    told: list[float] = []

    def gains(_: Any, at: Any, now: Any, before: Any, __: Any) -> tuple[Floats, float]:
        assert (now != before).all()
        return np.append(np.tile([2.0, 4.0], DRAWS // 2 + 1)[:DRAWS], 5.0), 3.0

    def spread(shares: Floats, variance: Floats) -> Floats:
        told.extend(variance.tolist())
        return np.sort(shares)

    monkeypatch.setattr(gold_module, "_gains", gains)
    monkeypatch.setattr(gold_module, "spread_shares", spread)
    return told


def test_the_change_and_its_doubt_by_hand(variances: list[float]) -> None:
    """Items of weight 1 to 6; those of weight 3 and 5 changed, that of weight 6 has a vote in one run only."""
    change = paired_change(runs([0, 1, 1, 0, 0, -1], [0, 1, 0, 0, 1, 1]), 0, Any, 0.1, 0.9)  # type: ignore[arg-type]
    assert change is not None
    assert (change.items, change.changed) == (15, 8)
    assert change.value == pytest.approx(5 / 15)
    assert change.interval == pytest.approx((2 / 15, 4 / 15))
    mean = (3 / 8 + 1) / 2
    own = (4 * mean * (1 - mean) * 0.1**2 + 0.02 / 4) / (8 / 15)
    assert variances == [pytest.approx(3 / (4 * 8**2) + own)]


def test_where_no_vote_changed_nothing_did() -> None:
    change = paired_change(runs([0, 1, -1], [0, 1, 1]), 0, Any, 0.1, 0.9)  # type: ignore[arg-type]
    assert change is not None
    assert (change.value, change.interval, change.items, change.changed) == (0.0, (0.0, 0.0), 3, 0)


def test_where_no_item_was_voted_on_twice_nothing_is_known() -> None:
    assert paired_change(runs([0, -1], [-1, 1]), 0, Any, 0.1, 0.9) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "expected", "unsure", "far"),
    [
        (21, 9.0, 0.0, True),  # P(21 or more | 9) = 0.00044
        (20, 9.0, 0.0, False),  # P(20 or more | 9) = 0.0011
        (21, 9.0, 0.9, False),  # P(21 or more | 9.9) = 0.0016
        (7, 0.9, 0.0, True),
        (5, 0.7, 0.0, True),
        (4, 0.0, 0.0, True),
        (140, 100.0, 0.0, False),  # clearly more, but not half as many again
        (152, 100.0, 0.0, True),
        (21, float("nan"), 0.0, False),
        (9, 21.0, 0.0, False),
    ],
    ids=[
        "clear", "not clear", "unsure", "few expected", "fewer expected", "none expected", "large", "half more",
        "no promise", "better",
    ],
)  # fmt: skip
def test_labels_are_far_off_by_poissons_test(wrong: int, expected: float, unsure: float, far: bool) -> None:
    labels = Labels(400, wrong, expected, 0.0, 0.0, unsure)
    assert labels.are_far_off is far


def test_grades_without_intervals_allow_for_no_more_errors() -> None:
    assert Labels(400, 21, 9.0, 0.0, 0.0).are_far_off


def test_a_miss_by_less_than_one_label_in_a_hundred_is_no_headline() -> None:
    assert Labels(2_000, 30, 10.0, 0.0, 0.0).are_far_off
    assert not Labels(2_001, 30, 10.0, 0.0, 0.0).are_far_off


@pytest.mark.parametrize(("z", "better"), [(2.0, "best"), (1.9, None), (-1.9, None), (-2.0, "majority")])
def test_two_rules_differ_from_two_standard_errors_on(z: float, better: str | None) -> None:
    assert Labels(100, 5, 5.0, 6.0, z).better == better


FAR, NEAR = Labels(400, 40, 9.0, 12.0, 0.0), Labels(400, 9, 9.0, 12.0, 0.0)


@pytest.mark.parametrize(
    ("estimate", "contradicted", "labels", "alarming", "against"),
    [
        (0.8125, True, None, True, True),
        (0.7, True, None, True, True),
        (0.78, True, NEAR, False, True),
        (0.9, False, NEAR, False, False),
        (0.76, False, FAR, True, True),
    ],
    ids=["far above", "far below", "near", "within", "labels"],
)
def test_a_key_speaks_against_grades_far_off_or_labels_far_off(
    estimate: float, contradicted: bool, labels: Labels | None, alarming: bool, against: bool
) -> None:
    check = KeyCheck(400, 3, 5, 0.9, ("ann", estimate, 0.75), contradicted, labels)
    assert (check.is_alarming, check.speaks_against) == (alarming, against)


def test_the_alarm_names_the_juror_furthest_off_and_the_wrong_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    checks = iter([
        KeyCheck(1_400, 3, 5, 0.9, ("ann", 0.5, 0.75), True, FAR),
        KeyCheck(1_400, 3, 5, 0.9, ("ann", 0.78, 0.75), True, NEAR),
        KeyCheck(1_400, 5, 5, 0.9, ("ann", 0.78, 0.75), False, NEAR),
        None,
    ])  # fmt: skip
    monkeypatch.setattr(gold_module, "check_with_key", lambda *_: next(checks))
    nothing: Any = None
    (loud,) = key_alarms(nothing, nothing)
    assert (loud.kind, loud.level, loud.value, loud.jurors) == ("key_contradicts_grades", "warning", 0.25, ("ann",))
    assert loud.message == (
        "the answer key (1,400 items) contradicts the grades: 'ann' is furthest off, 50.0% estimated, 75.0% actual; "
        "40 labels are wrong where 9 were expected to be"
    )
    (near,) = key_alarms(nothing, nothing)
    assert near.message.endswith("75.0% actual")
    assert key_alarms(nothing, nothing) == []
    assert key_alarms(nothing, nothing) == []


def keyed(actual: dict[str, float], **fields: Any) -> Any:
    rounded = SimpleNamespace(score=actual)
    return SimpleNamespace(solution=SimpleNamespace(to_float=lambda: rounded), **fields)


def test_intervals_hold_where_both_are_known_ends_included() -> None:
    ends = {"a": (0.5, 0.7), "b": (0.5, 0.7), "c": (0.5, 0.7), "d": (np.nan, np.nan), "e": (0.1, 0.2), "f": (0.0, 1.0)}
    grades: Any = SimpleNamespace(score=dict.fromkeys(ends, 0.6), interval_of=lambda _, juror: ends[juror])
    assert intervals_held(grades, keyed({"a": 0.5, "b": 0.7, "c": 0.71, "d": 0.5, "e": 0.09})) == (2, 4)


def test_errors_of_best_labels_and_majority_by_hand() -> None:
    sketch = Sketch.from_counts({"AAB": 10, "BBA": 20, "ABB": 30, "BBB": 8}, jurors="ijk")
    order = [list(sketch.to_counts()).index(tuple(votes)) for votes in ("AAB", "BBA", "ABB", "BBB")]
    true, chosen = np.zeros((4, 2), dtype=int), np.zeros(4, dtype=int)
    true[order] = [[1, 6], [2, 10], [11, 1], [0, 0]]
    chosen[order] = [1, 1, 0, 1]  # A, B, B by majority
    probability = np.zeros(4)
    probability[order] = [0.75, 0.875, 0.5, 0.25]
    partition = SimpleNamespace(sketch=sketch, chosen=chosen, probability=probability)
    ends = {"i": (0.5, 0.75), "j": (0.5, 1.0), "k": (np.nan, np.nan)}
    e: Any = SimpleNamespace(
        labelling_partition=partition, exam=None, labels=sketch.labels, jurors=sketch.jurors,
        leading=SimpleNamespace(interval_of=lambda _, juror: ends[juror]),
    )  # fmt: skip
    key = SimpleNamespace(
        labels=sketch.labels, jurors=sketch.jurors, sketch=sketch, by_true_label=true, items=31,
        errors_of=lambda best: 31 - int(true[np.arange(4), best].sum()), majority_errors=19.0,
    )  # fmt: skip
    labels = gold_module.labels_beside_truth(e, key)  # type: ignore[arg-type]
    assert labels is not None
    assert (labels.items, labels.wrong, labels.majority) == (31, 4, 19.0)
    assert labels.expected == pytest.approx(7 * 0.25 + 12 * 0.125 + 12 * 0.5)
    assert labels.z == pytest.approx((17 - 2) / 19**0.5)  # 6 + 11 are right by the best labels alone, 1 + 1 by majority
    assert labels.unsure == pytest.approx(31 * 0.375 / 2)
    for other in ({"labels": ("x", "y")}, {"jurors": ("x", "y", "z")}, {"sketch": sketch.take("ikj")}):
        assert gold_module.labels_beside_truth(e, SimpleNamespace(**{**vars(key), **other})) is None  # type: ignore[arg-type]
    for without in ({"exam": "some"}, {"labelling_partition": None}):
        assert gold_module.labels_beside_truth(SimpleNamespace(**{**vars(e), **without}), key) is None  # type: ignore[arg-type]


def grades(ends: dict[str, tuple[float, float]], *, level: float = 0.9, items: int = 400, **fields: Any) -> Any:
    """An evaluation that leads with these score intervals; each score is the middle of its interval."""
    leading = SimpleNamespace(
        score={j: (low + high) / 2 for j, (low, high) in ends.items()}, interval_of=lambda _, juror: ends[juror]
    )
    known: dict[str, Any] = {
        "solution": leading, "as_real": None, "interval": None, "labelling_partition": None, "exam": None
    }  # fmt: skip
    return SimpleNamespace(jurors=tuple(ends), leading=leading, level=level, items=items, **(known | fields))


def key_of(actual: dict[str, float], items: int = 400) -> Any:
    """A key of so many items, on each of which everybody voted."""
    return keyed(actual, items=items, votes=dict.fromkeys(actual, items), labels=(), jurors=tuple(actual))


@pytest.fixture
def known_votes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gold_module, "votes_of", lambda key: key.votes)
    monkeypatch.setattr(gold_module, "labels_beside_truth", lambda *_: NEAR)


FIVE = dict.fromkeys("abcde", (0.7, 0.8))


@pytest.mark.usefixtures("known_votes")
@pytest.mark.parametrize(
    ("missed", "contradicted"),
    [(0, False), (2, False), (3, False), (4, True), (5, True)],  # P(2 or fewer of 5 at 90%) = 0.0086, P(1) = 0.00046
    ids=["none", "two", "three", "four", "five"],
)
@pytest.mark.parametrize("actual", [0.5, 0.95], ids=["below", "above"])
def test_a_key_contradicts_where_too_few_intervals_hold(missed: int, contradicted: bool, actual: float) -> None:
    scores = {juror: actual if k < missed else 0.75 for k, juror in enumerate("abcde")}
    check = gold_module.check_with_key(grades(FIVE), key_of(scores))
    assert check is not None
    assert check.is_contradicted is contradicted
    assert (check.items, check.held, check.known, check.level) == (400, 5 - missed, 5, 0.9)
    assert check.worst == ("a", 0.75, actual if missed else 0.75)
    assert (check.labels, check.independent) == (NEAR, None)


@pytest.mark.usefixtures("known_votes")
def test_an_end_is_inside_and_a_miss_of_less_than_a_point_is_none() -> None:
    ends = dict.fromkeys(FIVE, 0.8)
    assert gold_module.check_with_key(grades(FIVE), key_of(ends)).is_contradicted is False  # type: ignore[union-attr]
    narrow = dict.fromkeys(FIVE, (0.749, 0.751))
    for actual, contradicted in ((0.7595, False), (0.7605, True), (0.7405, False), (0.7395, True)):
        check = gold_module.check_with_key(grades(narrow), key_of(dict.fromkeys(FIVE, actual)))
        assert check is not None
        assert check.is_contradicted is contradicted, actual


@pytest.mark.usefixtures("known_votes")
@pytest.mark.parametrize(("items", "contradicted"), [(400, True), (100, False)], ids=["all", "a quarter"])
@pytest.mark.parametrize("side", [-1, 1], ids=["below", "above"])
def test_a_key_of_some_items_is_allowed_its_own_chance(items: int, contradicted: bool, side: int) -> None:
    """1.64 √(.8 · .2 / 100) √¾ is 5.7 points: an actual score 5 points outside may be chance."""
    ends = dict.fromkeys(FIVE, (0.7, 0.75) if side > 0 else (0.85, 0.9))
    check = gold_module.check_with_key(grades(ends), key_of(dict.fromkeys(FIVE, 0.8), items))
    assert check is not None
    assert check.is_contradicted is contradicted
    assert (check.held, check.known) == (0, 5)
    far = {juror: (low - side * 0.01, high - side * 0.01) for juror, (low, high) in ends.items()}
    check = gold_module.check_with_key(grades(far), key_of(dict.fromkeys(FIVE, 0.8), items))
    assert check is not None
    assert check.is_contradicted


@pytest.mark.usefixtures("known_votes")
def test_jurors_without_an_interval_or_an_actual_score_are_left_out() -> None:
    ends = FIVE | {"f": (np.nan, np.nan), "g": (0.7, 0.8)}
    actual = dict.fromkeys("abcdef", 0.5) | {"g": np.nan}
    check = gold_module.check_with_key(grades(ends), key_of(actual))
    assert check is not None
    assert (check.held, check.known, check.is_contradicted) == (0, 5, True)


@pytest.mark.usefixtures("known_votes")
def test_there_is_nothing_to_check_without_a_key_a_solution_or_a_score_of_both() -> None:
    key = key_of(dict.fromkeys("abcde", 0.5))
    assert gold_module.check_with_key(grades(FIVE), None) is None
    assert gold_module.check_with_key(grades(FIVE, solution=None), key) is None
    assert gold_module.check_with_key(grades(FIVE), key_of({"z": 0.5})) is None
    assert gold_module.check_with_key(grades({"a": (np.nan, np.nan)}), key) is None


@pytest.mark.usefixtures("known_votes")
def test_intervals_of_independent_errors_are_counted_beside_the_calibrated_ones() -> None:
    wide = SimpleNamespace(score=dict.fromkeys(FIVE, 0.6), interval_of=lambda *_: (0.4, 0.8))
    e = grades(FIVE, as_real=wide, solution=None, interval=wide, score=wide.score, interval_of=wide.interval_of)
    check = gold_module.check_with_key(e, key_of(dict.fromkeys(FIVE, 0.5)))
    assert check is not None
    assert (check.held, check.known, check.independent) == (0, 5, (5, 5))
    e.interval = None
    assert gold_module.check_with_key(e, key_of(dict.fromkeys(FIVE, 0.5))).independent is None  # type: ignore[union-attr]
