"""Do the jurors of a panel err together? What one factor leaves of each pair's covariance says so, without a key."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from jurors.evaluate.alarm import Alarm
from jurors.evaluate.factor import MOST_JURORS, FactorFit, fit_factor
from jurors.sketch import Sketch

FEWEST_JURORS = 4  #: three leave no degree of freedom: any three pairs fit one factor
_SIGNIFICANT = 1e-4  # on simulated independent panels this fired once in 1,620 runs; 5% would be liberal for few jurors
_LARGE = 0.5  # share of the common covariance from which the grades should not be trusted
_NAMED = 3.5


@dataclass(frozen=True)
class ResidualTest:
    """Σ (residual / standard error)² over pairs, against chi² with (pairs - jurors) degrees of freedom."""

    statistic: float
    degrees: int
    p_value: float
    share: float  #: residual covariance beyond chance, as a share of the covariance that the truth explains
    factor: FactorFit

    def correlated_pairs(self) -> list[tuple[int, int, float]]:
        """(i, j, z) of the pairs that stick out, most striking first; the bar rises with the number of pairs."""
        z = np.triu(self.factor.z, 1)
        count = max(int((np.triu(self.factor.pairs.items, 1) > 0).sum()), 1)
        bar = max(_NAMED, NormalDist().inv_cdf(1 - 0.005 / count))
        found = [(int(i), int(j), float(z[i, j])) for i, j in zip(*np.nonzero(np.abs(z) > bar), strict=True)]
        return sorted(found, key=lambda pair: -abs(pair[2]))


def residual_test(sketch: Sketch) -> ResidualTest | None:
    """The test for a binary panel; None where there are too few shared items or jurors to leave anything over."""
    if len(sketch.labels) != 2 or not FEWEST_JURORS <= len(sketch.jurors) <= MOST_JURORS:
        return None
    factor = fit_factor(sketch)
    shared = np.triu(factor.error, 1) > 0
    degrees = int(shared.sum()) - len(sketch.jurors)
    if degrees < 1:
        return None
    from scipy.special import chdtrc

    z = factor.z[shared]
    statistic = float((z**2).sum())
    return ResidualTest(statistic, degrees, float(chdtrc(degrees, statistic)), _share(factor, shared), factor)


def _share(factor: FactorFit, shared: NDArray[np.bool_]) -> float:
    beyond = (factor.residual[shared] ** 2 - factor.error[shared] ** 2).sum()
    common = (np.outer(factor.loading, factor.loading)[shared] ** 2).sum()
    return float(np.sqrt(max(beyond, 0.0) / common)) if common > 0 else float("inf")


def residual_alarms(sketch: Sketch) -> list[Alarm]:
    """The alarm of errors that go together: its level by how much, once it is more than chance."""
    test = residual_test(sketch)
    if test is None or test.p_value >= _SIGNIFICANT:
        return []
    named = test.correlated_pairs()[:5]
    names = sketch.jurors
    who = "; most of all " + ", ".join(f"{names[i]} + {names[j]} ({z:+.1f} se)" for i, j, z in named) if named else ""
    message = (
        f"errors go together beyond chance: what the truth does not explain is {test.share:.0%} of what it does{who}"
    )
    level = "alarm" if test.share > _LARGE else "warning"
    jurors = tuple(dict.fromkeys(names[k] for i, j, _ in named for k in (i, j)))
    return [Alarm("correlated_errors", level, message, test.share, jurors)]
