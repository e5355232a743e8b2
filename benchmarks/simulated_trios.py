"""Three simulated jurors with two labels: independent ones of every kind, and ones whose errors go together."""

from __future__ import annotations

from itertools import product

import numpy as np

from jurors._numeric import Floats, Integers

Accuracies = list[tuple[float, float]]

#: Prevalence of the first label, and each juror's accuracy on it and on the second.
INDEPENDENT: dict[str, tuple[float, Accuracies]] = {
    ".9/.8/.7, p=.15": (0.15, [(0.9, 0.9), (0.8, 0.8), (0.7, 0.7)]),
    "strong .9, p=.5": (0.5, [(0.9, 0.9)] * 3),
    "strong .9, p=.05": (0.05, [(0.9, 0.9)] * 3),
    "medium .75, p=.5": (0.5, [(0.75, 0.75)] * 3),
    "medium .75, p=.15": (0.15, [(0.75, 0.75)] * 3),
    "medium .75, p=.05": (0.05, [(0.75, 0.75)] * 3),
    "weak .6, p=.5": (0.5, [(0.6, 0.6)] * 3),
    "weak .6, p=.15": (0.15, [(0.6, 0.6)] * 3),
    "coins .5": (0.5, [(0.5, 0.5)] * 3),
    "coins .51/.52/.5, p=.15": (0.15, [(0.51, 0.51), (0.52, 0.52), (0.5, 0.5)]),
    "mixed .95/.7/.55, p=.15": (0.15, [(0.95, 0.95), (0.7, 0.7), (0.55, 0.55)]),
    "two good, one coin": (0.5, [(0.85, 0.85), (0.85, 0.85), (0.5, 0.5)]),
    "near perfect .99, p=.5": (0.5, [(0.99, 0.99)] * 3),
    "near perfect .99, p=.05": (0.05, [(0.99, 0.99)] * 3),
    "perfect on one label": (0.5, [(1.0, 0.8), (1.0, 0.7), (1.0, 0.6)]),
    "perfect, mixed sides": (0.3, [(1.0, 0.7), (0.8, 1.0), (1.0, 0.6)]),
    "one perfect juror": (0.15, [(1.0, 1.0), (0.7, 0.7), (0.7, 0.7)]),
    "inverted one": (0.3, [(0.9, 0.9), (0.8, 0.8), (0.3, 0.2)]),
    "answer yes mostly": (0.5, [(0.95, 0.2), (0.9, 0.3), (0.97, 0.1)]),
    "worst of 2,100 searched": (0.3, [(1.0, 0.98), (0.98, 0.02), (1.0, 0.98)]),
    "single label": (1.0, [(0.9, 0.9), (0.8, 0.8), (0.7, 0.7)]),
}
#: The same with the error covariance of a pair, on both labels.
TOGETHER: dict[str, tuple[float, Accuracies, dict[tuple[int, int], float]]] = {
    "medium .75, apart -.06, p=.3": (0.3, [(0.75, 0.75)] * 3, {(0, 1): -0.06}),
    "medium .7, apart -.08, p=.5": (0.5, [(0.7, 0.7)] * 3, {(0, 1): -0.08}),
    "weak .65, apart -.06, p=.5": (0.5, [(0.65, 0.65)] * 3, {(0, 1): -0.06}),
    "strong .85, apart -.02, p=.5": (0.5, [(0.85, 0.85)] * 3, {(0, 1): -0.02}),
    "medium .75, together +.06, p=.3": (0.3, [(0.75, 0.75)] * 3, {(0, 1): 0.06}),
    "strong .85, together +.1, p=.15": (0.15, [(0.85, 0.85)] * 3, {(0, 1): 0.1}),
}


def trio_shares(
    prevalence: float, accuracy: Accuracies, covariances: dict[tuple[int, int], float] | None = None
) -> Floats:
    """The share of each decision tuple."""
    shares = np.zeros((2, 2, 2))
    for label, weight in enumerate((prevalence, 1 - prevalence)):
        right = np.array([a[label] for a in accuracy])
        for said in product((0, 1), repeat=3):
            is_right = np.array([s == label for s in said])
            mass = np.where(is_right, right, 1 - right)
            cell = mass.prod()
            for (i, j), covariance in (covariances or {}).items():
                cell += covariance * (1 if is_right[i] == is_right[j] else -1) * mass[3 - i - j]
            shares[said] += weight * cell
    return np.asarray(np.maximum(shares, 0) / shares.sum())


def draw_tables(shares: Floats, items: int, tests: int, seed: int) -> Integers:
    """Counts of many tests, (tests, 2, 2, 2)."""
    drawn = np.random.default_rng(seed).multinomial(items, shares.ravel(), size=tests)
    return np.asarray(drawn.reshape(tests, 2, 2, 2), dtype=np.int64)
