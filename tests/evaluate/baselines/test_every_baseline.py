"""Laws that every baseline obeys: order, names and storage of the votes do not matter; what it cannot do is refused."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import lgamma

import numpy as np
import pytest
from simulated_juries import as_sparse, numbers, simulate, two_label_tables

from jurors.errors import SketchError
from jurors.evaluate.baselines.dawid_skene import evaluate_bayesian, evaluate_dawid_skene
from jurors.evaluate.solution import Fit
from jurors.sketch.sketch import Sketch

GOOD = [(0.9, 0.7), (0.6, 0.8), (0.75, 0.85), (0.8, 0.65), (0.7, 0.95)]
ITERATED = pytest.mark.parametrize("evaluate", [evaluate_dawid_skene, evaluate_bayesian])
Evaluate = Callable[..., Fit]


@ITERATED
def test_triples_and_counts_give_the_same_as_a_matrix(evaluate: Evaluate) -> None:
    sketch, _, _ = simulate((0.4, 0.6), two_label_tables(GOOD), 300, missing=0.5)
    dense = numbers(evaluate(sketch).solution)
    assert np.allclose(numbers(evaluate(as_sparse(sketch)).solution), dense, atol=1e-7)
    if evaluate is not evaluate_bayesian:  # whose prior counts items
        assert np.allclose(numbers(evaluate(sketch + sketch + sketch).solution), dense, atol=1e-7)


@ITERATED
def test_three_labels_with_missing_votes_liars_and_parrots_are_recovered(evaluate: Evaluate) -> None:
    tables = np.stack([np.full((3, 3), w) + (1 - 3 * w) * np.eye(3) for w in (0.05, 0.1, 0.12, 0.15, 0.2, 0.08)])
    sketch, codes, truth = simulate((0.5, 0.3, 0.2), tables, 8_000, missing=0.3)
    solution = evaluate(sketch).solution
    assert np.allclose(numbers(solution)[:3], (0.5, 0.3, 0.2), atol=0.02)
    assert np.abs(np.array(solution.confusions, dtype=float) - tables).max() < 0.03
    actual = [(codes[:, j] == truth)[codes[:, j] >= 0].mean() for j in range(6)]
    assert np.allclose(list(solution.score.values()), actual, atol=0.015)
    sketch, _, _ = simulate((0.4, 0.6), two_label_tables([*GOOD, (0.2, 0.1), (1.0, 0.0)]), 4_000)
    liar, parrot = (evaluate(sketch).solution.accuracy[f"juror {k}"] for k in (5, 6))
    assert (liar["A"], liar["B"]) == pytest.approx((0.2, 0.1), abs=0.04)
    assert (parrot["A"], parrot["B"]) == pytest.approx((1.0, 0.0), abs=1e-3)


@ITERATED
def test_stopping_early_and_two_jurors_give_a_warning_and_one_juror_is_refused(evaluate: Evaluate) -> None:
    sketch, _, _ = simulate((0.4, 0.6), two_label_tables(GOOD), 200)
    early = evaluate(sketch, max_iterations=2)
    assert not early.converged
    assert [(a.reason, a.level) for a in early.alarms] == [("not_converged", "warning")]
    two = evaluate(sketch.take(["juror 0", "juror 1"]))
    assert [(a.reason, a.level) for a in two.alarms] == [("not_identified", "warning")]
    with pytest.raises(SketchError, match="at least 2 jurors, got 1: juror 0"):
        evaluate(sketch.take(["juror 0"]))


# -- the evidence of the Bayesian panel


def test_the_lower_bound_rises_and_stays_below_the_evidence() -> None:
    counts = {("A", "A"): 2, ("A", "B"): 1, ("B", "B"): 1}
    sketch = Sketch.from_counts(counts, jurors=("ann", "bob"))
    rounds = [evaluate_bayesian(sketch, max_iterations=k, tolerance=-1.0).details["lower_bound"] for k in range(1, 20)]
    assert (np.diff(rounds) > -1e-12).all()
    items = [t for t, n in counts.items() for _ in range(n)]
    assert log_evidence(items, 2.0) - 2.0 < rounds[-1] < log_evidence(items, 2.0)


def test_the_lower_bound_is_the_evidence_where_the_labels_are_beyond_doubt() -> None:
    items = [("A", "A")] * 5 + [("B", "B")]
    sketch = Sketch.from_counts({("A", "A"): 5, ("B", "B"): 1}, jurors=("ann", "bob"))
    bound = evaluate_bayesian(sketch, right=1e5, tolerance=1e-15).details["lower_bound"]
    assert bound == pytest.approx(log_evidence(items, 1e5), abs=1e-6)


def log_evidence(items: list[tuple[str, str]], right: float) -> float:
    return float(np.logaddexp.reduce([joint(items, truth, right) for truth in product("AB", repeat=len(items))]))


def joint(items: list[tuple[str, str]], truth: tuple[str, ...], right: float) -> float:
    """The exact logarithm of P(votes, true labels), prevalences and accuracies integrated out."""
    total = dirichlet([1.0, 1.0], [truth.count("A"), truth.count("B")])
    for juror, label in product((0, 1), "AB"):
        said = [votes[juror] for votes, true in zip(items, truth, strict=True) if true == label]
        prior = [right, 1.0] if label == "A" else [1.0, right]
        total += dirichlet(prior, [said.count("A"), said.count("B")])
    return total


def dirichlet(prior: list[float], counts: list[int]) -> float:
    both = [a + n for a, n in zip(prior, counts, strict=True)]
    return sum(map(lgamma, both)) - lgamma(sum(both)) - sum(map(lgamma, prior)) + lgamma(sum(prior))


def test_a_juror_without_votes_has_the_prior_and_nobody_is_perfect() -> None:
    counts = {("A", "A", None): 30, ("B", "B", None): 30}
    solution = evaluate_bayesian(Sketch.from_counts(counts, jurors=("ann", "bob", "cy"))).solution
    assert np.allclose([solution.accuracy["cy"]["A"], solution.accuracy["cy"]["B"]], 2 / 3)
    assert solution.score["cy"] is None
    assert 0.95 < solution.accuracy["ann"]["A"] < 1.0
