"""Errors that go together: covariances that one factor leaves over, and the grades with those pairs left open.

What two jurors have in common beyond the truth looks like reliability. Where a pair clearly stands out, its covariance
is no longer fitted. Three jurors have nothing left over, and four leave open which of two pairs it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from jurors.numbers.arrays import Floats
from jurors.values.factor.covariances import Covariances
from jurors.values.factor.influence import Influence
from jurors.values.factor.one_factor import Factor, Pair, fit_factor, misfits_without

FALSE_ALARMS = 0.01  #: so many tables may ring although all is well, by each of the alarms
_SAME, _FEWEST_SAME = 0.999, 10  # correlation and items of a copy
FEWEST_TO_TELL = 5  #: jurors, for a pair to be told from the others
_MOST_OPEN = 25  # pairs; with more of them than jurors, one factor is no picture of the panel
_MOST_TRIED = 30  # pairs, of those that stand out most
_ROUNDING = 1e-9  # of a correlation: where a fit is exact, nothing else is left over, and no error to measure it by


@dataclass(frozen=True)
class Together:
    """A fit that leaves pairs open, and the one that does not."""

    factor: Factor
    closed: Factor  #: with every pair fitted
    copies: tuple[Pair, ...]  #: pairs that give the same numbers, up to unit and origin
    standing: dict[Pair, float]  #: pairs whose errors go together: by how many standard errors

    @cached_property
    def influence(self) -> Influence:
        """What each item moves in the fit that leaves pairs open."""
        return Influence.of(self.factor)

    def error_correlation(self, pair: Pair) -> float:
        """The correlation of two jurors' errors, scales the right way up; NaN where their variance is not positive."""
        noise = self.factor.noise[list(pair)]
        return float(self._left_over(pair) / np.sqrt(noise.prod())) if (noise > 0).all() else float("nan")

    def errs_alike(self, pair: Pair) -> bool:
        """Whether the two err to the same side, scales the right way up; else they avoid each other's errors."""
        return self._left_over(pair) >= 0

    def _left_over(self, pair: Pair) -> float:
        """What the truth does not explain of a covariance; turned round where one juror has the scale upside down."""
        explained = float(self.factor.loading[list(pair)].prod())
        left = float(self.factor.moments.covariance[pair]) - explained
        return -left if explained < 0 else left


def fit_together(moments: Covariances) -> Together:
    """The factor; pairs that stand out are left open one after the other, the clearest first."""
    closed = fit_factor(moments)
    copies = _copies(moments, closed)
    factor, free, standing = closed, set[Pair](), dict[Pair, float]()
    for pair in copies:
        if (opened := _opened(moments, {*free, pair}, closed)) is not None:
            factor, free = opened, {*free, pair}
    while not np.isnan(factor.loading).all() and (clear := _clear(factor)):
        best = None if len(free) >= min(len(factor.graded), _MOST_OPEN) else _best_opened(moments, free, factor, clear)
        if best is None:
            standing |= clear
            break
        opened, pair = best
        standing[pair] = clear.get(pair, max(clear.values(), key=abs))
        factor, free = opened, {*free, pair}
    return Together(factor, closed, copies, standing)


def _best_opened(
    moments: Covariances, free: set[Pair], factor: Factor, clear: dict[Pair, float]
) -> tuple[Factor, Pair] | None:
    """The one more pair that, left open, explains the others best: a strong one has bent the fit towards itself."""
    some = factor.graded.tolist()
    if len(some) < FEWEST_TO_TELL:
        return None
    tried = [(i, j) for i in some for j in some if i < j and factor.weight[i, j] > 0]
    if len(tried) > _MOST_TRIED:
        tried = sorted(clear, key=lambda pair: -abs(clear[pair]))[:_MOST_TRIED]
    for place in np.argsort(misfits_without(factor, tried), kind="stable"):
        if (fit := _opened(moments, {*free, tried[place]}, factor)) is not None:
            return fit, tried[place]
    return None


def _opened(moments: Covariances, free: set[Pair], closed: Factor) -> Factor | None:
    """The fit with these pairs left open; None where too little would be left to grade everybody."""
    linked = closed.weight > 0
    for one, two in free:
        linked[one, two] = linked[two, one] = False
    some, whole = closed.graded, linked.astype(np.float64)
    in_threes = np.diag(whole @ whole @ whole)[some] > 0
    pairs_left = linked[np.ix_(some, some)].sum() / 2
    if len(some) < 4 or not in_threes.all() or pairs_left < len(some):
        return None
    return fit_factor(moments, free)


def _copies(moments: Covariances, factor: Factor) -> tuple[Pair, ...]:
    deviation = np.sqrt(moments.variance)
    with np.errstate(invalid="ignore", divide="ignore"):
        same = np.abs(moments.covariance) >= _SAME * np.outer(deviation, deviation)
    same &= (moments.shared >= _FEWEST_SAME) & np.outer(deviation > 0, deviation > 0)
    return tuple((int(i), int(j)) for i, j in np.argwhere(np.triu(same, 1)) if {i, j} <= set(factor.graded.tolist()))


def _clear(factor: Factor) -> dict[Pair, float]:
    """The pairs that stand out: by how many standard errors their covariance is off."""
    some = factor.graded
    if len(some) < 4:  # three jurors have nothing left over
        return {}
    influence = Influence.of(factor)
    pairs = len(some) * (len(some) - 1) // 2
    limit = float(ndtri(1 - FALSE_ALARMS / (2 * max(pairs, 1))))
    deviation = np.sqrt(factor.moments.variance)
    left = factor.moments.covariance - np.outer(factor.loading, factor.loading)
    left = np.where(np.abs(left) > _ROUNDING * np.outer(deviation, deviation), left, 0.0)
    away = _over(left[np.ix_(some, some)], influence.residual_errors())
    stand_out = (np.abs(away) > limit) & (factor.weight[np.ix_(some, some)] > 0)
    return {(int(some[i]), int(some[j])): float(away[i, j]) for i, j in np.argwhere(np.triu(stand_out, 1))}


def _over(left: Floats, error: Floats) -> Floats:
    return np.divide(left, error, where=error > 0, out=np.zeros_like(left))
