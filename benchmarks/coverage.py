"""Do 95% intervals hold the truth 95% of the time? Simulated independent trios, both targets.

Run `make bench`, or `python benchmarks/coverage.py [tests a setting]`. For each jury, prevalence and number of items,
many tests are drawn; a test has its own prevalence, accuracies and scores (target "test"), the jury has those it was
drawn with (target "population"). `none`: tests without a real evaluation, left out of the rates; `out`: tests where a
number lies outside [0, 1] (an alarm), kept in. The rates are those of `jurors.grade`; in brackets those of intervals
symmetric on the logit scale, for comparison.
"""

from __future__ import annotations

import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")

from itertools import product
from typing import Any

import numpy as np

from jurors.evaluate.trio import evaluate_trios
from jurors.options import Target
from jurors.uncertainty.intervals import interval_around, trio_interval_ends

JURIES = {
    "strong": ((0.9, 0.85), (0.85, 0.9), (0.8, 0.95)),
    "medium": ((0.75, 0.7), (0.7, 0.8), (0.8, 0.75)),
    "weak": ((0.6, 0.65), (0.65, 0.6), (0.7, 0.6)),
}
TUPLES = np.array(list(product((0, 1), repeat=3)))
TARGETS: tuple[Target, ...] = ("test", "population")
STATISTICS = ("prevalence", "accuracy A", "accuracy B", "score")


def draw(rng: np.random.Generator, jury: Any, prevalence: float, items: int, tests: int) -> np.ndarray[Any, Any]:
    """Counts by test, true label and decision tuple."""
    right = np.array(jury)
    from_a = prevalence * np.where(TUPLES == 0, right[:, 0], 1 - right[:, 0]).prod(axis=1)
    from_b = (1 - prevalence) * np.where(TUPLES == 1, right[:, 1], 1 - right[:, 1]).prod(axis=1)
    return rng.multinomial(items, np.concatenate([from_a, from_b]), size=tests).reshape(tests, 2, 8)


def truths(counts: np.ndarray[Any, Any], jury: Any, prevalence: float, target: Target) -> dict[str, Any]:
    """What the intervals should hold."""
    if target == "population":
        right = np.array(jury)
        share = prevalence
        return {"prevalence": share, "accuracy": right, "score": share * right[:, 0] + (1 - share) * right[:, 1]}
    hits = np.stack([counts[:, 0] @ (TUPLES == 0), counts[:, 1] @ (TUPLES == 1)], axis=-1)  # tests, jurors, labels
    totals = counts.sum(axis=-1)
    share = totals[:, 0] / totals.sum(axis=1)
    return {
        "prevalence": share,
        "accuracy": hits / np.maximum(totals, 1)[:, None, :],
        "score": hits.sum(axis=-1) / totals.sum(axis=1)[:, None],
    }


def held(ends: tuple[Any, Any], goal: Any, among: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The share of tests whose interval holds the goal; the last axis (label) is kept where there is one."""
    inside = ((ends[0] <= goal) & (goal <= ends[1]))[among]
    return np.atleast_1d(inside.mean(axis=(0, 1) if inside.ndim == 3 else None))


def coverage(
    counts: np.ndarray[Any, Any], jury: Any, prevalence: float, target: Target
) -> tuple[list[float], list[float]]:
    """By STATISTICS: how often our intervals hold the truth, and how often symmetric ones do."""
    tables = counts.sum(axis=1).reshape(-1, 2, 2, 2)
    decoded = evaluate_trios(tables)
    found, errors = trio_interval_ends(tables, decoded, target=target)
    goals = truths(counts, jury, prevalence, target)
    share = decoded.prevalence
    estimates = {
        "prevalence": (share, errors["prevalence"]),
        "accuracy": (decoded.accuracy, errors["accuracy"]),
        "score": (
            share[:, None] * decoded.accuracy[..., 0] + (1 - share)[:, None] * decoded.accuracy[..., 1],
            errors["score"],
        ),
    }
    real = decoded.outcome <= 1
    ours: list[float] = []
    symmetric: list[float] = []
    for name, goal in goals.items():
        estimate, error = estimates[name]
        around = interval_around(estimate, error, np.full(estimate.shape, float(counts[0].sum())))
        ours += held(found[name], goal, real).tolist()
        symmetric += held(around, goal, real).tolist()
    return ours, symmetric


def main() -> None:
    tests = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000
    rng = np.random.default_rng(0)
    print(f"{tests:,} tests a setting; coverage of 95% intervals in %, in brackets symmetric intervals\n")
    print(f"{'jury':<8}{'p(A)':>5}{'items':>8}{'none':>7}{'out':>7}  {'target':<12}", end="")
    print("".join(f"{name:>15}" for name in STATISTICS))
    outside = 0
    rates = []
    for (name, jury), prevalence, items in product(JURIES.items(), (0.1, 0.3, 0.5), (500, 2_000, 5_000, 20_000)):
        counts = draw(rng, jury, prevalence, items, tests)
        outcome = evaluate_trios(counts.sum(axis=1).reshape(-1, 2, 2, 2)).outcome
        for target in TARGETS:
            ours, symmetric = coverage(counts, jury, prevalence, target)
            head = f"{name:<8}{prevalence:>5}{items:>8,}{np.mean(outcome > 1):>7.1%}{np.mean(outcome == 1):>7.1%}"
            cells = "".join(f"{100 * a:>7.1f} ({100 * b:>5.1f})" for a, b in zip(ours, symmetric, strict=True))
            print(f"{head if target == 'test' else '':<35}  {target:<12}{cells}", flush=True)
            corner = name == "weak" and prevalence == 0.1
            if not corner:
                rates += ours
                outside += sum(not 0.92 <= rate <= 0.98 for rate in ours)
    print(f"\nwithout weak jurors at p(A) = 0.1: {min(rates):.1%} to {max(rates):.1%}, ", end="")
    print(f"{outside} of {len(rates)} rates outside 92% to 98%")


if __name__ == "__main__":
    main()
