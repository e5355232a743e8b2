"""Alarms about three jurors: contradictions and their p-values, goodness of fit, too few distinct jurors."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from strategies import juries

from jurors import Sketch, SketchError, grade
from jurors._numeric import Floats, Integers
from jurors.evaluate.trio import evaluate_trios
from jurors.evaluate.trio_multiclass import DecodeOutcome, MultilabelDecode
from jurors.theory import Solution, encode, evaluate_trio
from jurors.uncertainty.trio_alarms import (
    UNEXPLAINED,
    GoodnessOfFit,
    chance_of_constant,
    chance_of_contradiction,
    chance_of_copies,
    goodness_of_fit,
    misfit,
    outcome_alarms,
    repeated_juror_alarms,
    too_few_juror_alarms,
    trio_alarms,
)


def kinds(sketch: Sketch) -> dict[str, str]:
    return {alarm.reason: alarm.level for alarm in grade(sketch).alarms}


@given(juries())
def test_an_exactly_independent_trio_never_rings_an_alarm(truth: Solution) -> None:
    sketch = encode(truth)
    found = trio_alarms(sketch, evaluate_trio(sketch)[0])
    loud = {alarm.reason for alarm in found if alarm.level == "alarm"}
    assert loud <= {"too_few_distinct"}  # perfect jurors look like copies
    assert {"exactly_independent", "rational_non_integral"} & {alarm.reason for alarm in found}


def test_labels_whose_shares_leave_the_range_of_probabilities_have_no_expected_errors() -> None:
    counts = {"AAA": 1, "AAB": 5, "ABA": 10, "ABB": 20, "BAA": 5, "BAB": 20, "BBA": 10, "BBB": 5}
    result = grade(Sketch.from_counts(counts, jurors="ijk"))
    partition = result.independent.partition
    assert partition is not None
    assert result.alarms[0].reason == "out_of_range"
    assert (partition.by_true_label < 0).any()  # shown as evidence, never clamped
    assert result.independent.wrong_labels is None
    assert ((partition.probability >= 0) & (partition.probability <= 1) | np.isnan(partition.probability)).all()


def test_negative_correlation_gives_complex_roots_and_an_alarm() -> None:
    counts = {"AAA": 2, "AAB": 30, "ABA": 30, "BAA": 30, "ABB": 30, "BAB": 30, "BBA": 30, "BBB": 2}
    result = grade(Sketch.from_counts(counts, jurors="ijk"))
    model = result.independent
    assert model.solution is None
    assert len(model.solutions) == 2
    assert not model.solutions[0].is_real
    assert (result.alarms[0].reason, result.alarms[0].level) == ("complex", "alarm")
    assert result.alarms[0].value == result.details["smallest_correlation"] > 0.05
    document = result.to_dict()["independent"]
    assert document["prevalence"] is None
    assert document["solutions"][0]["accuracy"]["i"]["A"]["imaginary"] != 0
    assert "√(-" in document["exact"]["accuracy"]["i"]["A"]


def test_an_estimate_outside_the_unit_interval_is_shown_as_it_is() -> None:
    counts = {"aaa": 2, "aba": 19, "abb": 6, "baa": 24, "bab": 1, "bba": 189, "bbb": 40}
    result = grade(Sketch.from_counts(counts, jurors=("Gemini", "Mistral", "GPT-4")))
    accuracy = result.independent.accuracy["Mistral"]["b"]
    assert accuracy > 1
    assert (result.alarms[0].reason, result.alarms[0].level) == ("out_of_range", "warning")
    assert result.alarms[0].value == pytest.approx(accuracy - 1)
    hundredfold = grade(Sketch.from_counts({votes: 100 * n for votes, n in counts.items()}, jurors="ijk"))
    loud = [alarm for alarm in hundredfold.alarms if alarm.level == "alarm"]
    assert [alarm.reason for alarm in loud] == ["out_of_range"]
    assert loud[0].chance is not None
    assert 0 < loud[0].chance < 0.001


def test_a_tie_between_the_solutions_is_a_warning() -> None:
    # d = (x, x, -x/2): Σ 1/D = 0 exactly, so both solutions have a total label accuracy of 3.
    truth = Solution.of_two_labels(
        "ijk", "AB", Fraction(1, 2), [(Fraction(3, 4), Fraction(3, 4))] * 2 + [(Fraction(0), Fraction(0))]
    )
    assert sum(x for row in truth.accuracy.values() for x in row.values()) == 3
    assert kinds(encode(truth))["tie_between_solutions"] == "warning"


def test_contradictory_pairs_are_a_warning_where_chance_explains_them_and_leave_no_numbers() -> None:
    counts = {"AAA": 3, "AAB": 1, "ABA": 2, "ABB": 2, "BAA": 2, "BAB": 2, "BBA": 1, "BBB": 3}
    result = grade(Sketch.from_counts(counts, jurors=("ann", "bob", "cy")))
    assert (result.independent.solution, result.independent.solutions) == (None, ())
    assert [(a.reason, a.level) for a in result.alarms] == [("contradictory_pairs", "warning")]
    assert result.alarms[0].value == result.smallest_correlation


def test_all_that_is_known_of_a_trio_is_told_loudest_first() -> None:
    third = Fraction(2, 3)
    truth = Solution.of_two_labels("ijk", "AB", Fraction(1, 2), [(third, third)] * 3)
    sketch = encode(truth, items=54)  # 54 / 2 / 27 = 1: whole items in every cell
    plain = trio_alarms(sketch, truth)
    assert [a.reason for a in plain] == ["weak_pair", "exactly_independent"]
    assert [a.reason for a in trio_alarms(sketch, truth, tied=True)][:2] == ["weak_pair", "tie_between_solutions"]
    outside = Solution.of_two_labels("ijk", "AB", Fraction(1, 2), [(Fraction(5, 4), third)] * 2 + [(third, third)])
    assert "out_of_range" in [a.reason for a in trio_alarms(sketch, outside)]
    empty = Sketch.from_counts({"AAA": 300, "BBB": 200, "AAB": 30, "ABA": 20, "BAB": 9, "BAA": 25}, jurors="ijk")
    values = {a.reason: a.value for a in trio_alarms(empty, truth)}
    assert values["zero_cell"] == 2
    assert "rational_non_integral" in values


VOTES = np.array(list(product((0, 1), repeat=3)), dtype=float)
#: prevalence of 1, and each juror's accuracies on 0 and on 1
JURIES = {
    ".9/.8/.7": (0.15, [(0.9, 0.9), (0.8, 0.8), (0.7, 0.7)]),
    "perfect on one label": (0.3, [(1.0, 0.7)] * 3),
    "coins": (0.5, [(0.5, 0.5)] * 3),
    "near perfect, rare": (0.05, [(0.99, 0.99)] * 3),
}


def trio_shares(prevalence: float, accuracies: list[tuple[float, float]], together: float = 0.0) -> Floats:
    """Shares of the tuples; the errors of the first two have covariance `together` on both labels."""
    shares = np.zeros((2, 2, 2))
    for truth, weight in ((0, 1 - prevalence), (1, prevalence)):
        says = [[1 - a[0], a[0]] if truth == 0 else [1 - a[1], a[1]] for a in accuracies]
        first, second, third = (np.array(p if truth else p[::-1]) for p in says)
        pair = np.outer(first, second) + together * np.array([[1, -1], [-1, 1]])
        shares += weight * pair[:, :, None] * third
    return shares


def draws(shares: Floats, items: int, tests: int, seed: int) -> Integers:
    return np.random.default_rng(seed).multinomial(items, shares.ravel(), size=tests).reshape(-1, 2, 2, 2)


def em_misfit(counts: Integers, starts: int = 60, steps: int = 3000) -> float:
    """G² of the best of many random EM fits: slow, and sure of nothing but an upper bound."""
    rng = np.random.default_rng(0)
    shares = np.repeat((counts / counts.sum())[None], starts, axis=0)
    p, up, down = rng.random(starts), rng.random((starts, 3)), rng.random((starts, 3))
    for _ in range(steps):
        one = (1 - p)[:, None] * np.where(VOTES == 1, down[:, None], 1 - down[:, None]).prod(axis=2)
        two = p[:, None] * np.where(VOTES == 1, up[:, None], 1 - up[:, None]).prod(axis=2)
        q = two / np.maximum(one + two, 1e-300)
        p = (shares * q).sum(axis=1)
        up = (shares * q) @ VOTES / np.maximum(p, 1e-300)[:, None]
        down = (shares * (1 - q)) @ VOTES / np.maximum(1 - p, 1e-300)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        return float((2 * np.where(counts > 0, counts * np.log(shares / (one + two)), 0)).sum(axis=1).min())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_the_closed_form_is_the_greatest_likelihood(seed: int) -> None:
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(int(rng.integers(20, 300)), rng.dirichlet(np.ones(8)), size=20)
    outside = [c for c in drawn if evaluate_trios(c.reshape(2, 2, 2)).outcome in (1, 2)]
    assert float(misfit(outside[0].reshape(2, 2, 2))) == pytest.approx(em_misfit(outside[0]), abs=0.02)


@pytest.mark.parametrize("flip", range(8))
def test_renaming_jurors_and_labels_changes_nothing(flip: int) -> None:
    table = np.array([3, 14, 23, 11, 41, 59, 9, 105]).reshape(2, 2, 2)
    a, b, c = (1 - 2 * (flip >> k & 1) for k in range(3))
    for axes in ((0, 1, 2), (2, 0, 1), (1, 0, 2)):
        assert float(misfit(table[::a, ::b, ::c].transpose(axes))) == pytest.approx(35.202322234)


def test_tests_with_one_tuple_only_do_not_ring() -> None:
    assert chance_of_contradiction(50 * np.eye(8).reshape(8, 2, 2, 2)).tolist() == [1.0] * 8


@pytest.mark.parametrize("jury", JURIES)
@pytest.mark.parametrize("items", [30, 100, 1000])
def test_independent_trios_ring_in_at_most_one_test_of_twenty(jury: str, items: int) -> None:
    tables = draws(trio_shares(*JURIES[jury]), items, 2000, seed=items)
    rings = (evaluate_trios(tables).outcome != 0) & (chance_of_contradiction(tables) <= UNEXPLAINED)
    assert rings.mean() <= 0.05


def test_jurors_who_avoid_each_others_errors_ring() -> None:
    tables = draws(trio_shares(0.3, [(0.75, 0.75)] * 3, together=-0.06), 1000, 500, seed=1)
    assert (chance_of_contradiction(tables) <= UNEXPLAINED).mean() > 0.8


def test_what_cannot_be_with_more_labels_rings_only_where_the_fit_is_bad() -> None:
    sketch = Sketch.from_table(np.ones((3, 3, 3), dtype=int), labels="ABC")
    decode = MultilabelDecode((DecodeOutcome("complex", "complex roots."),), None, None, None, sketch)
    for p_value, level in ((0.2, "warning"), (1e-6, "alarm")):
        (alarm,) = outcome_alarms(decode, GoodnessOfFit(9.0, 6, p_value, converged=True))
        assert (alarm.level, alarm.chance) == (level, p_value)


PREVALENCE = np.array([0.5, 0.3, 0.2])
CONFUSION = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]])
INDEPENDENT = np.einsum("l,la,lb,lc->abc", PREVALENCE, CONFUSION, CONFUSION, CONFUSION)


def sampled(shares: Floats, items: int, samples: int, seed: int) -> list[GoodnessOfFit]:
    tables = np.random.default_rng(seed).multinomial(items, shares.ravel(), size=samples)
    return [goodness_of_fit(Sketch.from_table(t.reshape(3, 3, 3), labels="ABC")) for t in tables]


@pytest.mark.slow
def test_the_statistic_has_mean_dof_and_size_near_five_percent_under_independence() -> None:
    found = sampled(INDEPENDENT, 3000, 80, seed=1)
    assert all(f.dof == 6 and f.converged for f in found)
    assert np.mean([f.statistic for f in found]) == pytest.approx(6.0, abs=1.2)  # standard error 0.39
    assert 0.005 < np.mean([f.p_value < 0.05 for f in found]) < 0.12


def test_jurors_who_share_their_answers_are_found_out() -> None:
    pair = np.einsum("la,lb->lab", CONFUSION, CONFUSION) + 0.02 * (1.5 * np.eye(3) - 0.5)
    assert (pair >= 0).all()
    shared = np.einsum("l,lab,lc->abc", PREVALENCE, pair, CONFUSION)
    found = sampled(shared, 20_000, 20, seed=2)
    assert all(f.p_value < 0.01 for f in found)


def test_the_fit_is_at_least_as_likely_as_the_truth() -> None:
    for table in np.random.default_rng(3).multinomial(2000, INDEPENDENT.ravel(), size=20).reshape(-1, 3, 3, 3):
        seen = table > 0
        at_truth = 2 * float((table[seen] * np.log(table[seen] / (2000 * INDEPENDENT[seen]))).sum())
        found = goodness_of_fit(Sketch.from_table(table, labels="ABC"))
        assert 0 <= found.statistic <= at_truth + 0.01


def test_a_label_that_nobody_uses_is_left_out() -> None:
    table = np.random.default_rng(5).multinomial(1000, INDEPENDENT.ravel()).reshape(3, 3, 3)
    wide = np.zeros((4, 4, 4), dtype=int)
    wide[:3, :3, :3] = table
    assert goodness_of_fit(Sketch.from_table(wide, labels="ABCD")) == goodness_of_fit(
        Sketch.from_table(table, labels="ABC")
    )


def test_what_cannot_be_tested_is_refused() -> None:
    with pytest.raises(SketchError, match="with 2 labels fit any counts"):
        goodness_of_fit(Sketch.from_counts({"AAB": 3, "BBA": 4}, jurors="ijk"))
    with pytest.raises(SketchError, match="needs 3 jurors, got 2"):
        goodness_of_fit(Sketch.from_counts({"AB": 3, "CA": 4}, jurors="ij"))
    with pytest.raises(SketchError, match="cannot be tested"):
        goodness_of_fit(Sketch.from_counts({"ABC": 0}, jurors="ijk"))


@pytest.mark.parametrize(("items", "level"), [(10, "warning"), (100, "alarm")])
def test_copies_are_an_alarm_from_so_many_items_on_that_good_jurors_would_differ(items: int, level: str) -> None:
    counts = {"AAA": 2 * items, "AAB": items, "BBA": items, "BBB": 2 * items}
    few = next(a for a in grade(Sketch.from_counts(counts, jurors="ijk")).alarms if a.reason == "too_few_distinct")
    assert few.level == level
    assert few.chance == pytest.approx(chance_of_copies([6 * items], jurors=3))
    assert ("Chance can explain this" in few.message) == (level == "warning")


def test_the_likeliest_of_copies_and_constant_jurors_is_the_chance() -> None:
    # bob copies ann on 400 items, dot denies her; cy has 30 votes, of which hardly any tells of the other label
    counts = {("A", "A", "A", "B"): 30, ("A", "A", None, "B"): 170, ("B", "B", None, "A"): 200}
    (alarm,) = too_few_juror_alarms(Sketch.from_counts(counts, jurors=("ann", "bob", "cy", "dot")))
    assert alarm.chance == pytest.approx(max(chance_of_copies([400, 400], 4), chance_of_constant([30], 4)))
    assert (alarm.value, alarm.jurors, alarm.level) == (1, ("ann", "bob", "cy", "dot"), "warning")


def test_three_voices_are_enough_and_two_jurors_need_no_chance_to_be_too_few() -> None:
    counts = {"AAB": 9, "ABA": 8, "BAA": 7, "BBB": 5}
    assert too_few_juror_alarms(Sketch.from_counts(counts, jurors="ijk")) == []
    (alarm,) = too_few_juror_alarms(Sketch.from_counts({"AB": 5, "BA": 4, "AA": 3}, jurors="ij"))
    assert (alarm.level, alarm.chance, alarm.value, alarm.jurors) == ("alarm", None, 2, ())


@pytest.mark.parametrize(("voices", "level"), [((0, 0, 1, 2), "warning"), ((0, 0, 1, 1), "alarm")])
def test_one_judge_asked_twice_is_an_alarm_below_three_voices(voices: tuple[int, ...], level: str) -> None:
    (alarm,) = repeated_juror_alarms(("ann", "ann 2", "bob", "cy"), [(0, 1)], voices)
    assert (alarm.reason, alarm.level, alarm.value, alarm.jurors) == ("same_judge", level, 2, ("ann", "ann 2"))
    assert "one judge that answered 2 times" in alarm.message
    assert ("Fewer than 3 distinct jurors are left" in alarm.message) == (level == "alarm")
