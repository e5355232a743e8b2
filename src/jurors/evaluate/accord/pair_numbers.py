"""Each pair's agreement in numbers: correlation, and kappa with quadratic weights, which is Lin's concordance.

Of the items that both gave a number: κ = 1 - E(x - y)² / (V_x + V_y + (m_x - m_y)²), from sums of x, y, x², y² and xy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jurors.evaluate.accord.coefficient import Coefficient, standard_error
from jurors.evaluate.accord.pair_kappas import PairKappa, mean_kappa
from jurors.numbers.arrays import Floats, Integers
from jurors.sketch import Sketch


@dataclass(frozen=True)
class NumberPairs:
    """Correlation and quadratic kappa of every pair that shares an item."""

    correlation: Floats
    kappa: PairKappa


def number_pairs(sketch: Sketch, values: Floats, first: Integers, second: Integers, level: float) -> NumberPairs:
    """Of these pairs (positions of jurors, sorted by the first)."""
    codes = sketch.tuples.codes
    x, gave = np.where(codes >= 0, (values - values.mean())[codes], 0.0), codes >= 0
    kappa, error, correlation = np.full((3, len(first)), np.nan)
    influence = np.zeros(len(codes))
    for juror in np.unique(first):
        pairs = slice(*np.searchsorted(first, (juror, juror + 1)))
        one = _Beside(
            x[:, juror, None], x[:, second[pairs]], gave[:, juror, None] & gave[:, second[pairs]], sketch.counts
        )
        kappa[pairs], correlation[pairs], moved = one.kappa(), one.correlation(), one.moved()
        error[pairs] = one.error(moved)
        influence += np.nan_to_num(moved / one.items).sum(axis=1)
    mean: Coefficient = mean_kappa("quadratic", kappa, influence, sketch, level)
    return NumberPairs(correlation, PairKappa("quadratic", kappa, error, mean))


class _Beside:
    """One juror's numbers beside those of others, around the means of the items that both gave a number."""

    def __init__(self, one: Floats, others: Floats, both: NDArray[np.bool_], counts: Integers) -> None:
        self.weight = np.where(both, counts[:, None], 0).astype(np.float64)
        self.items = self.weight.sum(axis=0)
        mean_one, mean_others = ((self.weight * side).sum(axis=0) / self.items for side in (one, others))
        self.one, self.others = np.where(both, one - mean_one, 0.0), np.where(both, others - mean_others, 0.0)
        self.gap = mean_one - mean_others
        self.both = both

    def kappa(self) -> Floats:
        """1 - observed / by chance; NaN where both gave one number alone."""
        return np.asarray(1 - self._observed / self._chance)

    def correlation(self) -> Floats:
        """Pearson's; NaN where one of them gave one number alone."""
        spread = np.sqrt(self._mean(self.one**2) * self._mean(self.others**2))
        return np.asarray(self._mean(self.one * self.others) / np.where(spread > 0, spread, np.nan))

    def moved(self) -> Floats:
        """How far each item moves each kappa."""
        apart, chance = self.one - self.others + self.gap, self._chance
        by_chance = self.one**2 + self.others**2 + self.gap**2 + 2 * self.gap * (self.one - self.others) - chance
        moves = -(apart**2 - self._observed) / chance + self._observed / chance**2 * by_chance
        return np.where(self.both, moves, 0.0)

    def error(self, moved: Floats) -> Floats:
        """The kappas' standard errors."""
        return standard_error((self.weight * moved**2).sum(axis=0), self.items)

    @property
    def _observed(self) -> Floats:
        return np.asarray(self._mean((self.one - self.others) ** 2) + self.gap**2)

    @property
    def _chance(self) -> Floats:
        chance = self._mean(self.one**2) + self._mean(self.others**2) + self.gap**2
        return np.where(chance > 0, chance, np.nan)

    def _mean(self, values: Floats) -> Floats:
        return np.asarray((self.weight * values).sum(axis=0) / self.items)
