"""The grades beside a key: where they are contradicted, and whose labels err less."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from jurors import Sketch
from jurors.uncertainty import gold as key_check
from jurors.uncertainty.gold import KeyCheck, Labels, intervals_held, key_alarms


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
    monkeypatch.setattr(key_check, "check_with_key", lambda *_: next(checks))
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
    labels = key_check.labels_beside_truth(e, key)  # type: ignore[arg-type]
    assert labels is not None
    assert (labels.items, labels.wrong, labels.majority) == (31, 4, 19.0)
    assert labels.expected == pytest.approx(7 * 0.25 + 12 * 0.125 + 12 * 0.5)
    assert labels.z == pytest.approx((17 - 2) / 19**0.5)  # 6 + 11 are right by the best labels alone, 1 + 1 by majority
    assert labels.unsure == pytest.approx(31 * 0.375 / 2)
    for other in ({"labels": ("x", "y")}, {"jurors": ("x", "y", "z")}, {"sketch": sketch.take("ikj")}):
        assert key_check.labels_beside_truth(e, SimpleNamespace(**{**vars(key), **other})) is None  # type: ignore[arg-type]
    for without in ({"exam": "some"}, {"labelling_partition": None}):
        assert key_check.labels_beside_truth(SimpleNamespace(**{**vars(e), **without}), key) is None  # type: ignore[arg-type]


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
    monkeypatch.setattr(key_check, "votes_of", lambda key: key.votes)
    monkeypatch.setattr(key_check, "labels_beside_truth", lambda *_: NEAR)


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
    check = key_check.check_with_key(grades(FIVE), key_of(scores))
    assert check is not None
    assert check.is_contradicted is contradicted
    assert (check.items, check.held, check.known, check.level) == (400, 5 - missed, 5, 0.9)
    assert check.worst == ("a", 0.75, actual if missed else 0.75)
    assert (check.labels, check.independent) == (NEAR, None)


@pytest.mark.usefixtures("known_votes")
def test_an_end_is_inside_and_a_miss_of_less_than_a_point_is_none() -> None:
    ends = dict.fromkeys(FIVE, 0.8)
    assert key_check.check_with_key(grades(FIVE), key_of(ends)).is_contradicted is False  # type: ignore[union-attr]
    narrow = dict.fromkeys(FIVE, (0.749, 0.751))
    for actual, contradicted in ((0.7595, False), (0.7605, True), (0.7405, False), (0.7395, True)):
        check = key_check.check_with_key(grades(narrow), key_of(dict.fromkeys(FIVE, actual)))
        assert check is not None
        assert check.is_contradicted is contradicted, actual


@pytest.mark.usefixtures("known_votes")
@pytest.mark.parametrize(("items", "contradicted"), [(400, True), (100, False)], ids=["all", "a quarter"])
@pytest.mark.parametrize("side", [-1, 1], ids=["below", "above"])
def test_a_key_of_some_items_is_allowed_its_own_chance(items: int, contradicted: bool, side: int) -> None:
    """1.64 √(.8 · .2 / 100) √¾ is 5.7 points: an actual score 5 points outside may be chance."""
    ends = dict.fromkeys(FIVE, (0.7, 0.75) if side > 0 else (0.85, 0.9))
    check = key_check.check_with_key(grades(ends), key_of(dict.fromkeys(FIVE, 0.8), items))
    assert check is not None
    assert check.is_contradicted is contradicted
    assert (check.held, check.known) == (0, 5)
    far = {juror: (low - side * 0.01, high - side * 0.01) for juror, (low, high) in ends.items()}
    check = key_check.check_with_key(grades(far), key_of(dict.fromkeys(FIVE, 0.8), items))
    assert check is not None
    assert check.is_contradicted


@pytest.mark.usefixtures("known_votes")
def test_jurors_without_an_interval_or_an_actual_score_are_left_out() -> None:
    ends = FIVE | {"f": (np.nan, np.nan), "g": (0.7, 0.8)}
    actual = dict.fromkeys("abcdef", 0.5) | {"g": np.nan}
    check = key_check.check_with_key(grades(ends), key_of(actual))
    assert check is not None
    assert (check.held, check.known, check.is_contradicted) == (0, 5, True)


@pytest.mark.usefixtures("known_votes")
def test_there_is_nothing_to_check_without_a_key_a_solution_or_a_score_of_both() -> None:
    key = key_of(dict.fromkeys("abcde", 0.5))
    assert key_check.check_with_key(grades(FIVE), None) is None
    assert key_check.check_with_key(grades(FIVE, solution=None), key) is None
    assert key_check.check_with_key(grades(FIVE), key_of({"z": 0.5})) is None
    assert key_check.check_with_key(grades({"a": (np.nan, np.nan)}), key) is None


@pytest.mark.usefixtures("known_votes")
def test_intervals_of_independent_errors_are_counted_beside_the_calibrated_ones() -> None:
    wide = SimpleNamespace(score=dict.fromkeys(FIVE, 0.6), interval_of=lambda *_: (0.4, 0.8))
    e = grades(FIVE, as_real=wide, solution=None, interval=wide, score=wide.score, interval_of=wide.interval_of)
    check = key_check.check_with_key(e, key_of(dict.fromkeys(FIVE, 0.5)))
    assert check is not None
    assert (check.held, check.known, check.independent) == (0, 5, (5, 5))
    e.interval = None
    assert key_check.check_with_key(e, key_of(dict.fromkeys(FIVE, 0.5))).independent is None  # type: ignore[union-attr]
