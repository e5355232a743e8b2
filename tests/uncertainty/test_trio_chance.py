"""How often chance alone contradicts independence: a law of the closed form, and rates that the alarms keep."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from jurors import Sketch, grade
from jurors._numeric import Floats, Integers
from jurors.evaluate.trio import evaluate_trios
from jurors.evaluate.trio_multiclass import DecodeOutcome, MultilabelDecode
from jurors.uncertainty.trio_alarms import UNEXPLAINED, GoodnessOfFit, chance_of_contradiction, misfit, outcome_alarms

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


def test_more_of_the_same_counts_is_more_evidence() -> None:
    table = np.array([2, 0, 19, 6, 24, 1, 189, 40]).reshape(2, 2, 2)
    assert float(misfit(100 * table)) == pytest.approx(100 * float(misfit(table)))


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


@pytest.mark.slow
def test_the_gate_of_three_jurors_is_no_coin_flip() -> None:
    tables = draws(trio_shares(*JURIES[".9/.8/.7"]), 100, 100, seed=13)
    levels = [
        {a.level for a in grade(Sketch.from_table(table, labels=(0, 1))).alarms} for table in tables if table.any()
    ]
    assert sum("alarm" in found for found in levels) <= 5


def test_what_cannot_be_with_more_labels_rings_only_where_the_fit_is_bad() -> None:
    sketch = Sketch.from_table(np.ones((3, 3, 3), dtype=int), labels="ABC")
    decode = MultilabelDecode((DecodeOutcome("complex", "complex roots."),), None, None, None, 3, sketch)
    for p_value, level in ((0.2, "warning"), (1e-6, "alarm")):
        (alarm,) = outcome_alarms(decode, GoodnessOfFit(9.0, 6, p_value, converged=True))
        assert (alarm.level, alarm.chance) == (level, p_value)
