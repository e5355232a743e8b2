"""What one factor leaves over of each pair's covariance: do errors go together, how much, and whose?

On truly independent panels a p-value below 1e-4 came up once in 1,620 simulated ones; for four or five jurors p-values
of a few percent come up too often to be quoted.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from jurors.evaluate.factor import MOST_JURORS, FactorFit, fit_factor
from jurors.sketch import Sketch

FEWEST_JURORS = 4  #: three leave no degree of freedom: any three pairs fit one factor
SIGNIFICANT = 1e-4
_NAMED = 3.5  # standard errors from which a pair is named, if there are few pairs


@dataclass(frozen=True)
class ResidualTest:
    """Σ (residual / standard error)² over pairs, against chi² with (pairs - jurors) degrees of freedom."""

    factor: FactorFit
    counted: NDArray[np.bool_]  #: (N, N) upper triangle: the pairs that count
    statistic: float
    degrees: int
    p_value: float

    @property
    def is_significant(self) -> bool:
        """Whether chance does not explain what is left over."""
        return self.p_value < SIGNIFICANT

    @property
    def share(self) -> float:
        """Residual covariance beyond chance, as a share of what the truth explains (root mean squares)."""
        factor, counted = self.factor, self.counted
        beyond = (factor.residual[counted] ** 2 - factor.error[counted] ** 2).sum()
        common = (np.outer(factor.loading, factor.loading)[counted] ** 2).sum()
        return float(np.sqrt(max(beyond, 0.0) / common)) if common > 0 else float("inf")

    def striking_pairs(self) -> list[tuple[int, int, float]]:
        """(i, j, z) of the pairs that stick out, most striking first; the bar rises with the number of pairs."""
        z = np.where(self.counted, self.factor.z, 0.0)
        bar = max(_NAMED, NormalDist().inv_cdf(1 - 0.005 / max(int(self.counted.sum()), 1)))
        found = [(int(i), int(j), float(z[i, j])) for i, j in zip(*np.nonzero(np.abs(z) > bar), strict=True)]
        return sorted(found, key=lambda pair: -abs(pair[2]))

    def couples(self) -> list[tuple[int, int]]:
        """Jurors who err together, two by two: the most striking pair first, everybody in one couple at most."""
        taken: set[int] = set()
        couples = []
        for i, j, z in self.striking_pairs():
            if z > 0 and not {i, j} & taken:
                couples.append((i, j))
                taken |= {i, j}
        return couples

    def without(self, pairs: list[tuple[int, int]]) -> ResidualTest | None:
        """The same test with some pairs left out; None where nothing is left over to test."""
        counted = self.counted.copy()
        for i, j in pairs:
            counted[min(i, j), max(i, j)] = False
        return _test(self.factor, counted)


def residual_test(sketch: Sketch) -> ResidualTest | None:
    """The test for a binary panel; None where jurors or shared items are too few to leave anything over."""
    if len(sketch.labels) != 2 or not FEWEST_JURORS <= len(sketch.jurors) <= MOST_JURORS:
        return None
    factor = fit_factor(sketch)
    return _test(factor, np.triu(factor.error, 1) > 0)


def _test(factor: FactorFit, counted: NDArray[np.bool_]) -> ResidualTest | None:
    degrees = int(counted.sum()) - len(factor.loading)
    if degrees < 1:
        return None
    from scipy.special import chdtrc

    statistic = float((factor.z[counted] ** 2).sum())
    return ResidualTest(factor, counted, statistic, degrees, float(chdtrc(degrees, statistic)))
