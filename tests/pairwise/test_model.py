"""The model: laws, an independent computation, and what simulations must find again."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from simulated_pairs import preferences, simulated_pairs
from strategies import examples

from jurors import rank
from jurors._numeric import Floats
from jurors.pairwise.data import CountedPairs, Preferences
from jurors.pairwise.model import PRIOR_MEAN, PRIOR_SPREAD, Answering, State, fit_strengths

HABITS = np.array([[1.3, 0.4, -0.5], [0.9, -0.6, 0.2], [0.8, 0.0, -1.0]])
COLUMNS = ("juror", "left", "right", "outcome")


def _small(seed: int) -> Preferences:
    return simulated_pairs(5, HABITS, 40, seed=seed).data


@pytest.mark.slow
@examples(8)
@given(st.integers(0, 10_000))
def test_names_and_rows_may_change_and_swapped_sides_flip_the_lean_alone(seed: int) -> None:
    data, rng = _small(seed), np.random.default_rng(seed)
    objects, jurors, rows = rng.permutation(5), rng.permutation(3), rng.permutation(len(data))
    renamed = replace(data, left=objects[data.left], right=objects[data.right], juror=jurors[data.juror])
    shuffled = replace(data, **{name: getattr(data, name)[rows] for name in COLUMNS})
    mirrored = replace(data, left=data.right, right=data.left, outcome=-data.outcome)
    one, two, three, four = (fit_strengths(each.counted()) for each in (data, renamed, shuffled, mirrored))
    np.testing.assert_allclose(two.state.strength[objects], one.state.strength, atol=2e-4)
    np.testing.assert_allclose(two.state.habits[jurors], one.state.habits, atol=2e-4)
    np.testing.assert_allclose(three.state.strength, one.state.strength, atol=1e-8)
    np.testing.assert_allclose(four.state.strength, one.state.strength, atol=2e-4)
    np.testing.assert_allclose(four.state.habits * [1, -1, 1], one.state.habits, atol=2e-4)
    np.testing.assert_allclose(four.covariance, one.covariance, atol=1e-3)


def test_merging_two_tables_is_counting_their_answers_together() -> None:
    one, two = _small(1), _small(2)
    both = [np.concatenate([getattr(data, name) for data in (one, two)]) for name in COLUMNS]
    merged = replace(one, juror=both[0], left=both[1], right=both[2], outcome=both[3])
    whole, parts = merged.counted(), [one.counted(), two.counted()]
    state = State(np.linspace(-1, 1, 5), HABITS, 1.0)

    def likelihood(data: CountedPairs) -> float:
        return float(data.weight @ state.answering(data).log_chance(data.outcome))

    assert likelihood(whole) == pytest.approx(sum(map(likelihood, parts)))


def test_the_mode_is_where_another_optimiser_finds_it() -> None:
    data = _small(3).counted()
    fit = fit_strengths(data)
    sigma = fit.state.sigma

    def misfit(x: Floats) -> float:
        habits = x[5:].reshape(3, 3)
        total = ((x[:5] / sigma) ** 2).sum() / 2 + (((habits - PRIOR_MEAN) / PRIOR_SPREAD) ** 2).sum() / 2
        for j, left, right, y, w in zip(data.juror, data.left, data.right, data.outcome, data.weight, strict=True):
            a, b, t = habits[j]
            eta = a * (x[left] - x[right]) + b
            scores = {1: eta / 2, -1: -eta / 2, 0: t}
            total -= w * (scores[int(y)] - np.log(sum(np.exp(s) for s in scores.values())))
        return float(total)

    start = np.concatenate([np.zeros(5), np.tile(PRIOR_MEAN, 3)])
    average = {"type": "eq", "fun": lambda x: x[5:].reshape(3, 3)[:, 0].mean() - 1}
    other = minimize(misfit, start, method="SLSQP", constraints=[average], options={"maxiter": 500, "ftol": 1e-12})
    np.testing.assert_allclose(fit.state.strength, other.x[:5], atol=2e-3)
    np.testing.assert_allclose(fit.state.habits, other.x[5:].reshape(3, 3), atol=5e-3)


def test_two_objects_and_one_juror_come_out_by_hand() -> None:
    """Seven wins of ten, no ties, no position: s / σ² = 7 - 10 p, p = 1 / (1 + exp(-2 s))."""
    data = preferences("xy", [(0, 1)] * 10, [1] * 7 + [-1] * 3, placed=False)
    state = fit_strengths(data.counted()).state
    s = state.strength[0]
    assert state.strength[1] == pytest.approx(-s, abs=1e-6)
    assert s / state.sigma**2 == pytest.approx(7 - 10 / (1 + np.exp(-2 * s)), abs=1e-3)


def test_an_object_that_never_won_and_one_that_never_lost_stay_finite() -> None:
    ranking = rank(preferences("xyz", [(0, 1), (0, 2), (1, 2)] * 50, 1))
    assert ranking.objects == ("x", "y", "z")
    assert np.abs(ranking.strength).max() < 20
    assert np.isfinite(ranking.high - ranking.low).all()


def test_chances_sum_to_one_even_far_out() -> None:
    far = Answering.of(np.array([-2000.0, 0.0, 2000.0]), np.array([0.0, 1500.0, -3.0]))
    np.testing.assert_allclose(far.first + far.second + far.tie, 1)


@pytest.mark.slow
def test_intervals_cover_what_was_simulated() -> None:
    strengths, ranks = [], []
    for seed in range(40):
        test = simulated_pairs(20, np.tile(HABITS, (2, 1)), 60, seed=seed)
        ranking = rank(test.data)
        place = [test.data.objects.index(name) for name in ranking.objects]
        strength, order = test.strength[place], (-test.strength).argsort().argsort()[place] + 1
        strengths.append(((ranking.low <= strength) & (strength <= ranking.high)).mean())
        ranks.append(((ranking.rank_low <= order) & (order <= ranking.rank_high)).mean())
    assert 0.92 <= np.mean(strengths) <= 0.98
    assert np.mean(ranks) >= 0.93


def test_few_answers_of_which_none_contradicts_another_leave_the_spread_finite() -> None:
    """Curvature can be flatter than the prior there: the spread was no number."""
    pairs = list(combinations(range(6), 2)) * 3
    ranking = rank(preferences("uvwxyz", pairs, 1, jurors=("ann", "bob", "cy"), placed=False))
    assert 0.5 < ranking.spread < 5
    assert ranking.objects == tuple("uvwxyz")
