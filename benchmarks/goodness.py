"""G² for three jurors and three labels: how often it fires under independence and under error correlation.

Correlation: on every true label the events "juror 1 is right" and "juror 2 is right" have covariance Γ.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from numpy.typing import NDArray

from jurors.doubt.goodness import goodness_of_fit
from jurors.sketch import Sketch

Floats = NDArray[np.float64]
PREVALENCE = np.array([0.5, 0.3, 0.2])
CONFUSIONS = np.array(
    [
        [[0.75, 0.15, 0.10], [0.20, 0.65, 0.15], [0.10, 0.20, 0.70]],
        [[0.80, 0.10, 0.10], [0.15, 0.70, 0.15], [0.20, 0.15, 0.65]],
        [[0.70, 0.15, 0.15], [0.10, 0.75, 0.15], [0.15, 0.25, 0.60]],
    ]
)


def correlated(covariance: float) -> Floats:
    """Shares of the 27 tuples where the first two jurors are right together more often than by chance."""
    shares = np.zeros((3, 3, 3))
    for label, prevalence in enumerate(PREVALENCE):
        first, second, third = CONFUSIONS[:, label]
        right = np.eye(3)[label]
        wrong = [row * (1 - right) / (1 - row[label]) for row in (first, second)]
        pair = np.outer(first, second) + covariance * np.outer(right - wrong[0], right - wrong[1])
        shares += prevalence * pair[:, :, None] * third
    return shares


def main(samples: int) -> None:
    rng = np.random.default_rng(0)
    print(f"{'Q':>7} {'Γ':>5} {'mean G²':>8} {'p<.05':>6} {'p<.001':>7} {'converged':>10} {'ms':>6}")
    for items in (500, 5000, 20000):
        for covariance in (0.0, 0.01, 0.02):
            tables = rng.multinomial(items, correlated(covariance).ravel(), size=samples).reshape(-1, 3, 3, 3)
            sketches = [Sketch.from_table(table, labels="ABC") for table in tables]
            start = time.perf_counter()
            found = [goodness_of_fit(sketch) for sketch in sketches]
            spent = (time.perf_counter() - start) / samples
            p = np.array([f.p_value for f in found])
            mean = np.mean([f.statistic for f in found])
            done = np.mean([f.converged for f in found])
            print(
                f"{items:>7} {covariance:>5} {mean:>8.2f} {np.mean(p < 0.05):>6.1%} {np.mean(p < 0.001):>7.1%} "
                f"{done:>10.1%} {1000 * spent:>6.1f}"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
