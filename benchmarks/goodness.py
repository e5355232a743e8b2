"""G² for three jurors and three labels: how often it fires under independence and under error correlation.

Correlation, on every true label: "right" gives the events that juror 1 and juror 2 are right the covariance Γ;
"same" gives every label the covariance Γ of both saying it, so that the two also share their errors.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from jurors._numeric import Floats
from jurors.sketch.sketch import Sketch
from jurors.uncertainty.trio_alarms import goodness_of_fit

PREVALENCE = np.array([0.5, 0.3, 0.2])
CONFUSIONS = np.array(
    [
        [[0.75, 0.15, 0.10], [0.20, 0.65, 0.15], [0.10, 0.20, 0.70]],
        [[0.80, 0.10, 0.10], [0.15, 0.70, 0.15], [0.20, 0.15, 0.65]],
        [[0.70, 0.15, 0.15], [0.10, 0.75, 0.15], [0.15, 0.25, 0.60]],
    ]
)
SETTINGS = (("right", 0.0), ("right", 0.01), ("right", 0.02), ("same", 0.01), ("same", 0.02))


def correlated(kind: str, covariance: float) -> Floats:
    """Shares of the 27 tuples where the first two jurors agree more often than by chance."""
    shares = np.zeros((3, 3, 3))
    for label, prevalence in enumerate(PREVALENCE):
        first, second, third = CONFUSIONS[:, label]
        right = np.eye(3)[label]
        wrong = [row * (1 - right) / (1 - row[label]) for row in (first, second)]
        pattern = np.outer(right - wrong[0], right - wrong[1]) if kind == "right" else 1.5 * np.eye(3) - 0.5
        pair = np.outer(first, second) + covariance * pattern
        shares += prevalence * pair[:, :, None] * third
    return shares


def main(samples: int) -> None:
    rng = np.random.default_rng(0)
    print(f"{'Q':>7} {'kind':>6} {'Γ':>5} {'mean G²':>8} {'p<.05':>6} {'p<.001':>7} {'converged':>10} {'ms':>6}")
    for items in (500, 5000, 20000):
        for kind, covariance in SETTINGS:
            tables = rng.multinomial(items, correlated(kind, covariance).ravel(), size=samples).reshape(-1, 3, 3, 3)
            sketches = [Sketch.from_table(table, labels="ABC") for table in tables]
            start = time.perf_counter()
            found = [goodness_of_fit(sketch) for sketch in sketches]
            spent = (time.perf_counter() - start) / samples
            p = np.array([f.p_value for f in found])
            mean = np.mean([f.statistic for f in found])
            done = np.mean([f.converged for f in found])
            fired = f"{np.mean(p < 0.05):>6.1%} {np.mean(p < 0.001):>7.1%}"
            print(f"{items:>7} {kind:>6} {covariance:>5} {mean:>8.2f} {fired} {done:>10.1%} {1000 * spent:>6.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
