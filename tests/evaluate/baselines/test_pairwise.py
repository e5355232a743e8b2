"""Rank-one fits, the spectral meta-learner and agreement rates."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from simulated_juries import exact_jury, numbers, simulate, two_label_tables
from strategies import examples, juries

from jurors.errors import DegenerateSketchError, SketchError
from jurors.evaluate.baselines.pairwise import (
    RankOne,
    evaluate_agreement,
    evaluate_spectral,
    fit_rank_one,
    rank_one_alarms,
)
from jurors.evaluate.solution import Fit, Solution
from jurors.evaluate.trio import encode, evaluate_trio
from jurors.sketch.pairs import Pairs
from jurors.sketch.sketch import Sketch

# -- One number per juror from one number per pair, by hand and by laws of least squares -----------


def pairs_of(width: int, *linked: tuple[int, int]) -> Pairs:
    """Jurors of whom just these pairs share an item."""
    counts = {tuple("A" if k in pair else None for k in range(width)): 1 for pair in linked}
    return Pairs(Sketch.from_counts(counts, jurors=[f"j{k}" for k in range(width)], labels=("A", "B")))


def everybody(width: int) -> Pairs:
    return pairs_of(width, *combinations(range(width), 2))


@pytest.mark.parametrize("turn", [1.0, -1.0])
def test_products_give_their_factors_back(turn: float) -> None:
    b = turn * np.array([0.5, -0.2, 0.4, 0.3, 0.1])
    pairs = everybody(5)
    fit = fit_rank_one(pairs, b[pairs.first] * b[pairs.second], np.arange(1.0, 11.0), np.ones(5))
    assert fit.vector == pytest.approx(turn * b, abs=1e-9)  # turned so that the sum is greatest
    assert (fit.is_real, fit.converged, bool(fit.held.any()), bool(fit.is_fixed.all())) == (True, True, False, True)


def test_the_answer_is_the_least_of_weighted_squares() -> None:
    rng = np.random.default_rng(1)
    pairs, values, weights = everybody(5), rng.uniform(0.1, 0.3, 10), rng.uniform(1, 3, 10)
    b = fit_rank_one(pairs, values, weights, np.ones(5)).vector
    left = weights * (values - b[pairs.first] * b[pairs.second])
    slope = np.bincount(pairs.first, left * b[pairs.second], 5) + np.bincount(pairs.second, left * b[pairs.first], 5)
    assert slope == pytest.approx(0, abs=1e-9)
    assert np.abs(left).max() > 0.05


def test_three_have_a_closed_form_unless_their_signs_contradict_each_other() -> None:
    fit, torn = (fit_rank_one(everybody(3), np.array([0.06, x, -0.15]), np.ones(3), np.ones(3)) for x in (-0.1, 0.1))
    assert fit.vector == pytest.approx([0.2, 0.3, -0.5]) or fit.vector == pytest.approx([-0.2, -0.3, 0.5])
    assert (fit.iterations, fit.converged, fit.is_real) == (0, True, True)
    assert (torn.is_real, torn.converged) == (False, True)
    assert not (torn.is_fixed | torn.held).any()


def test_groups_stand_for_themselves_and_even_cycles_fix_nothing() -> None:
    pairs = pairs_of(8, (0, 1), (0, 2), (1, 2), (3, 4), (4, 5), (5, 6), (3, 6))  # a triangle, a square, one alone
    b = np.array([-0.3, -0.4, 0.2, 0.5, 0.5, 0.5, 0.5, 0.0])
    fit = fit_rank_one(pairs, b[pairs.first] * b[pairs.second], np.ones(7), np.ones(8))
    assert fit.vector[:3] == pytest.approx([0.3, 0.4, -0.2], abs=1e-9)
    assert np.isnan(fit.vector[3:]).all()


def test_a_juror_without_a_finite_answer_is_held_at_its_bound() -> None:
    pairs = everybody(4)
    values = np.array([0.2, 0.01, 0.9, 0.01, 0.9, 0.9])  # (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)
    for third, held in ((0.04, True), (0.0, False)):  # who can have no signal is not held at one
        fit = fit_rank_one(pairs, values, np.ones(6), np.array([0.05, 0.05, third, 0.06]))
        assert fit.vector == pytest.approx([0.05, 0.05, third, 0.06])
        assert fit.held.tolist() == [True, True, held, True]
    b = np.array([0.6, 0.3, 0.4, 0.5])
    free, far = (fit_rank_one(pairs, b[pairs.first] * b[pairs.second], np.ones(6), np.full(4, x)) for x in (0.5, 0.05))
    assert free.vector == pytest.approx(b)  # the bound is not imposed where there is an answer
    assert far.held.all()  # more than ten times the bound is no answer


def test_alarms_name_who_and_how_far() -> None:
    sketch = Sketch.from_counts({"AAAA": 1}, jurors="ijkl", labels=("A", "B"))
    factor = RankOne(np.array([0.1, 0.2, 0.3, np.nan]), True, 7, False, np.array([False, True, False, False]))
    accuracy = np.array([[0.9, 0.8], [1.25, 0.5], [0.5, -0.125], [np.nan, np.nan]])
    assert [(a.reason, a.level, a.jurors, a.value) for a in rank_one_alarms(sketch, factor, accuracy, "it")] == [
        ("out_of_range", "alarm", ("j", "k"), 0.25),
        ("not_identified", "warning", ("l",), 1),
        ("held_at_bound", "warning", ("j",), 1),
        ("not_converged", "warning", (), 7),
    ]


# -- spectral --------------------------------------------------------------------------------------


GOOD = [(0.9, 0.7), (0.6, 0.8), (0.75, 0.85), (0.8, 0.65), (0.7, 0.95)]


@examples(40)
@given(juries())
def test_three_jurors_get_the_closed_forms_answer(jury: Solution) -> None:
    sketch = encode(jury)
    exact = evaluate_trio(sketch)
    total = sum(float(x) for row in exact[0].accuracy.values() for x in row.values())
    if abs(total - 3) < 1e-6:  # neither solution is preferred
        return
    assert np.allclose(numbers(evaluate_spectral(sketch).solution), numbers(exact[0]), atol=1e-7)


def test_an_exactly_independent_panel_is_found_to_rounding() -> None:
    rates = [("0.9", "0.7"), ("0.6", "0.8"), ("0.75", "0.8"), ("0.8", "0.6"), ("0.2", "0.3"), ("0.5", "0.5")]
    jury = exact_jury("0.3", rates)
    fit = evaluate_spectral(encode(jury))
    assert fit.converged
    assert not fit.alarms
    assert np.allclose(numbers(fit.solution), numbers(jury), atol=1e-9)
    assert fit.details["balanced_accuracy"]["juror 4"] == pytest.approx(0.25)
    assert fit.details["third_moment_slope"] == pytest.approx(-0.4 / np.sqrt(0.21))


def test_labels_are_the_bayes_rule_of_the_grades() -> None:
    jury = exact_jury("0.3", [("0.9", "0.7"), ("0.6", "0.8"), ("0.75", "0.8"), ("0.8", "0.6")])
    sketch = encode(jury)
    table = two_label_tables([(0.9, 0.7), (0.6, 0.8), (0.75, 0.8), (0.8, 0.6)])
    joint = np.stack([p * table[np.arange(4), k, sketch.tuples.codes].prod(axis=1) for k, p in enumerate((0.3, 0.7))])
    fit = evaluate_spectral(sketch)
    assert fit.posterior is not None
    assert np.allclose(fit.posterior, (joint / joint.sum(axis=0)).T, atol=1e-9)


def test_a_juror_who_shares_items_with_too_few_stays_open() -> None:
    sketch, _, _ = simulate((0.4, 0.6), two_label_tables(GOOD), 2_000)
    counts = {(*t, None): n for t, n in sketch.to_counts().items()} | {(None,) * 5 + ("A",): 7}
    fit = evaluate_spectral(Sketch.from_counts(counts, jurors=(*sketch.jurors, "lone"), labels=("A", "B")))
    assert fit.solution.accuracy["lone"] == {"A": None, "B": None}
    assert [a.jurors for a in fit.alarms if a.reason == "not_identified"] == [("lone",)]
    assert np.allclose(numbers(fit.solution)[:22], numbers(evaluate_spectral(sketch).solution)[:22])


def test_two_panels_without_a_common_item_are_turned_the_right_way_each() -> None:
    one = encode(exact_jury("0.4", [("0.9", "0.7"), ("0.6", "0.8"), ("0.8", "0.8"), ("0.7", "0.9")]))
    two = encode(exact_jury("0.4", [("0.9", "0.9")] * 2 + [("0.25", "0.25")] * 3))  # honest by a whisker
    counts = {(*t, *(None,) * 5): n for t, n in one.to_counts().items()}
    counts |= {(*(None,) * 4, *t): n for t, n in two.to_counts().items()}
    fit = evaluate_spectral(Sketch.from_counts(counts, jurors=[f"j{k}" for k in range(9)]))
    balanced = list(fit.details["balanced_accuracy"].values())
    assert np.allclose(balanced, [0.8, 0.7, 0.8, 0.8, 0.9, 0.9, 0.25, 0.25, 0.25], atol=1e-6)


def test_counts_that_fix_no_answer_are_refused() -> None:
    with pytest.raises(DegenerateSketchError, match="no two jurors covary"):
        evaluate_spectral(encode(exact_jury("0.5", [("0.5", "0.5")] * 4)))
    with pytest.raises(DegenerateSketchError, match="some two of the three"):
        evaluate_spectral(encode(exact_jury("0.5", [("0.5", "0.5"), ("0.9", "0.7"), ("0.8", "0.9")])))
    pairs_only = {("A", "A", None): 3, ("B", "B", None): 4, ("A", None, "A"): 3, ("B", None, "B"): 3}
    more = {(None, "A", "A"): 3, (None, "B", "B"): 3}
    with pytest.raises(SketchError, match="no item has votes of three correlated jurors"):
        evaluate_spectral(Sketch.from_counts(pairs_only | more, jurors="ijk"))
    with pytest.raises(DegenerateSketchError, match="half the time"):
        evaluate_agreement(Sketch.from_counts({"AAA": 5, "AAB": 5, "ABA": 2, "ABB": 2}, jurors="ijk"))


# -- agreement rates -------------------------------------------------------------------------------


EVEN = [(0.9, 0.9), (0.8, 0.8), (0.7, 0.7), (0.6, 0.6), (0.85, 0.85)]


def test_three_jurors_have_the_closed_form() -> None:
    counts = {"AAA": 50, "AAB": 10, "ABA": 7, "ABB": 4, "BAA": 5, "BAB": 6, "BBA": 8, "BBB": 30}
    rates = evaluate_agreement(Sketch.from_counts(counts, jurors="ijk")).details["error_rate"]
    ij, ik, jk = (2 * n / 120 - 1 for n in (50 + 10 + 8 + 30, 50 + 7 + 6 + 30, 50 + 5 + 4 + 30))
    roots = np.sqrt([ij * ik / jk, ij * jk / ik, ik * jk / ij])
    assert [rates[j] for j in "ijk"] == pytest.approx((1 - roots) / 2)


@pytest.mark.parametrize("evaluate", [evaluate_spectral, evaluate_agreement])
def test_a_simulated_panel_with_missing_votes_and_a_liar_is_found_and_labelled(evaluate: Callable[..., Fit]) -> None:
    accuracy = [*EVEN, (0.15, 0.15)]
    sketch, codes, truth = simulate((0.3, 0.7), two_label_tables(accuracy), 20_000, missing=0.3)
    fit = evaluate(sketch)
    table = np.array(fit.solution.confusions, dtype=float)
    assert np.abs(np.diagonal(table, axis1=1, axis2=2) - accuracy).max() < 0.04
    assert abs(numbers(fit.solution)[0] - 0.3) < 0.06
    assert fit.posterior is not None
    _, right = np.unique(codes, axis=0, return_inverse=True)
    assert (fit.posterior.argmax(axis=1)[right.ravel()] == truth).mean() > 0.88


def test_a_panel_with_a_pair_on_the_wrong_side_rings_by_how_surely() -> None:
    def of(size: int) -> list[tuple[str, str]]:
        counts = {"AABA": 6, "BBAB": 6, "AAAB": 5, "BBBA": 5, "AAAA": 4, "BBBB": 4, "ABAA": 1, "ABBB": 1}
        fit = evaluate_agreement(Sketch.from_counts({t: size * n for t, n in counts.items()}, jurors="ijkl"))
        return [(a.reason, a.level) for a in fit.alarms if a.reason == "mixed_signs"]

    assert of(1) == [("mixed_signs", "note")]
    assert of(100) == [("mixed_signs", "warning")]
