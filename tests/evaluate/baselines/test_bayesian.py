from __future__ import annotations

from itertools import product
from math import lgamma

import numpy as np
import pytest

from jurors.errors import SketchError
from jurors.evaluate.baselines.bayesian import evaluate_bayesian
from jurors.sketch.sketch import Sketch


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
    strict = evaluate_bayesian(Sketch.from_counts(counts, jurors=("ann", "bob", "cy")), right=4.0, wrong=4.0).solution
    assert strict.accuracy["ann"]["A"] < solution.accuracy["ann"]["A"]
    assert np.isclose(strict.accuracy["cy"]["A"], 0.5)


def test_pseudo_votes_must_be_positive() -> None:
    with pytest.raises(SketchError, match="must be positive, got right=0"):
        evaluate_bayesian(Sketch.from_counts({"AA": 1, "BB": 1}, jurors="ij"), right=0.0)
