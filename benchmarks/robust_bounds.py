"""Robust bounds: how fast, how narrow, and is the truth always inside?

Run `make bench`, or `python benchmarks/robust_bounds.py [trios]`. Trios on 500 to 20,000 items are drawn, their errors
correlated: independent jurors, then random changes to how often each tuple is given. ε is the largest error correlation
that a trio really has (exactly, rounded up to a float), so the truth must lie inside.
Widths by ε; a width of 1 says nothing. Last, the census of Table 1 over ε.
"""

from __future__ import annotations

import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from math import inf, nextafter
from time import perf_counter
from typing import Any

import numpy as np

from jurors import Sketch
from jurors.evaluate.evaluation import evaluate_with_key
from jurors.theory import Solution
from jurors.uncertainty.bounds import (
    Bounds,
    Branch,
    ExactTrio,
    SeparatedTrio,
    correlation_curve,
    robust_bounds,
)

TUPLES = np.array(list(product((0, 1), repeat=3)))
CENSUS = [568, 553, 649, 1068, 1813, 3607, 3534, 8208]
EDGES = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 1.0)


def draw(rng: np.random.Generator) -> tuple[Sketch, Solution, float]:
    """A trio whose accuracies sum to 3 at least: its counts, its truth and its largest error correlation."""
    while True:
        right, share = rng.uniform(0.5, 0.97, (3, 2)), rng.uniform(0.1, 0.9)
        items, noise = rng.integers(500, 20_000), rng.choice([0.0005, 0.002, 0.006])
        chances = [np.where(np.equal(TUPLES, k), right[:, k], 1 - right[:, k]).prod(axis=1) for k in (0, 1)]
        counts = (np.array(chances) + rng.normal(0, noise, (2, 8))) * items * np.array([[share], [1 - share]])
        by_label = np.maximum(np.rint(counts), 0).astype(np.int64)
        sketch = Sketch.from_table(by_label.sum(axis=0).reshape(2, 2, 2), labels="AB")
        rows = sketch.tuples.codes.astype(np.int64) @ np.array([4, 2, 1])
        keyed = evaluate_with_key(sketch, by_label[:, rows].T)
        found = [x for size in (2, 3) for row in keyed.correlations(size).values() for x in row.values()]
        largest = max(abs(x) for x in found if x is not None)
        epsilon = float(largest) if largest <= float(largest) else nextafter(float(largest), inf)
        if sum(Fraction(row[a]) for row in keyed.accuracy.values() for a in "AB") >= 3:
            return sketch, keyed.solution, epsilon


def holds(bounds: Bounds, truth: Solution) -> bool:
    """Whether the exact truth lies inside, compared as fractions."""
    if bounds.prevalence is None or bounds.accuracy is None:
        return False
    pairs: list[tuple[Any, Any]] = [(truth.prevalence[a], bounds.prevalence[a]) for a in "AB"]
    pairs += [(row[a], bounds.accuracy[j][a]) for j, row in truth.accuracy.items() for a in "AB"]
    return all(Fraction(low) <= true <= Fraction(high) for true, (low, high) in pairs)


def widths(bounds: Bounds) -> np.ndarray[Any, Any]:
    """Of the first prevalence, then of the six accuracies."""
    found = [row[4] - row[3] for row in bounds.rows()[1]]
    return np.array([found[0], *found[2:]])


def best_of(call: Callable[[], object], rounds: int = 7, times: int = 50) -> float:
    """Seconds a call."""
    found = []
    for _ in range(rounds):
        start = perf_counter()
        for _ in range(times):
            call()
        found.append((perf_counter() - start) / times)
    return min(found)


def census_by_closed_form() -> Branch:
    branch = SeparatedTrio(ExactTrio.from_counts(CENSUS), 0.001).branch()
    assert branch is not None
    return branch


def report_speed() -> None:
    sketch = Sketch.from_table(np.reshape(CENSUS, (2, 2, 2)), jurors="ijk", labels="AB")
    inner = best_of(census_by_closed_form)
    whole = best_of(lambda: robust_bounds(sketch, 0.001))
    print(f"closed form {inner * 1e6:.0f} µs, robust_bounds from a sketch {whole * 1e6:.0f} µs")
    rng = np.random.default_rng(1)
    truth = rng.random(20_000) < 0.4
    for jurors in (5, 10, 20):
        votes = np.where(rng.random((20_000, jurors)) < 0.85, truth[:, None], ~truth[:, None]).astype(int)
        rows, counts = np.unique(votes, axis=0, return_counts=True)
        panel = Sketch.from_counts({tuple(row): int(n) for row, n in zip(rows.tolist(), counts, strict=True)})
        start = perf_counter()
        bounds = robust_bounds(panel, 0.01)
        print(f"{jurors} jurors, {bounds.details['trios']} trios: {perf_counter() - start:.2f} s")


def report_coverage(trios: int) -> None:
    rng = np.random.default_rng(0)
    drawn = [draw(rng) for _ in range(trios)]
    closed = [robust_bounds(sketch, epsilon) for sketch, _, epsilon in drawn]
    inside = sum(holds(bounds, truth) for bounds, (_, truth, _) in zip(closed, drawn, strict=True))
    informative = [k for k, bounds in enumerate(closed) if not bounds.alarms]
    print(f"\nclosed form: truth inside {inside} of {trios}; {len(informative)} separated")
    print(f"{'ε':>14}{'trios':>7}{'median width of the prevalence':>32}{'of the accuracies':>20}")
    sizes = np.array([epsilon for _, _, epsilon in drawn])
    for low, high in pairwise(EDGES):
        among = [widths(closed[k]) for k in np.flatnonzero((sizes >= low) & (sizes < high))]
        if among:
            prevalence, accuracy = np.median([w[0] for w in among]), np.median([w[1:] for w in among])
            print(f"{low:>6} – {high:<6}{len(among):>6}{prevalence:>32.3f}{accuracy:>20.3f}")


def report_census() -> None:
    sketch = Sketch.from_table(np.reshape(CENSUS, (2, 2, 2)), jurors="ijk", labels="AB")
    print("\ncensus")
    curve = correlation_curve(sketch, [0, 0.0001, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02])
    shown = (curve["statistic"] == "prevalence") & (curve["label"] == "A")
    for epsilon, low, high, outcome in zip(*(curve[c][shown] for c in ("correlation", "low", "high", "outcome"))):  # noqa: B905
        print(f"  ε {epsilon:<7g} prevalence of A {low:.3f} to {high:.3f}  {outcome}")


def main() -> None:
    report_speed()
    report_coverage(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
    report_census()


if __name__ == "__main__":
    main()
