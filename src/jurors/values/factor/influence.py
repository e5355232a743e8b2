"""How sure the grades are: what each item moves, to first order, and intervals from the spread of that.

Nothing is assumed of the numbers' distribution (this is the jackknife, without leaving anything out). Intervals of a
reliability are made on the scale of Fisher's z, of a noise on that of variances, where they are all but symmetric.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from jurors.numbers.arrays import Floats
from jurors.values.factor.one_factor import Factor

_REACH = 1.0  # of what is left to 1
_CANCELLED = 1e-8  # of a sum of squares: with less than this left, its digits are gone


@dataclass(frozen=True)
class Influence:
    """Items x jurors: how much an item moves each; of the jurors who are graded."""

    factor: Factor
    mean: Floats
    loading: Floats
    variance: Floats

    @classmethod
    def of(cls, factor: Factor) -> Influence:
        """By the implicit function: the loadings are where Σ_j w_ij (c_ij - loading_i loading_j) loading_j is 0."""
        some, moments = factor.graded, factor.moments
        loading = np.nan_to_num(factor.loading)
        weight = factor.weight
        residual = np.nan_to_num(moments.covariance) - np.outer(loading, loading)
        turned = weight * (residual - np.outer(loading, loading))
        np.fill_diagonal(turned, -(weight @ loading**2))
        pull = moments.pulled(weight * loading)[:, some]
        moved = -pull @ np.linalg.pinv(turned[np.ix_(some, some)]).T
        return cls(factor, moments.pull_on_means()[:, some], moved, moments.pull_on_variances[:, some])

    def correlation(self) -> Floats:
        """Of the correlations with the truth."""
        some = self.factor.graded
        loading, variance = self.factor.loading[some], self.factor.moments.variance[some]
        return np.asarray(self.loading / np.sqrt(variance) - loading * self.variance / (2 * variance**1.5))

    def noise(self) -> Floats:
        """Of the errors' variances."""
        return np.asarray(self.variance - 2 * self.factor.loading[self.factor.graded] * self.loading)

    def lines(self) -> tuple[Floats, Floats]:
        """Of the slopes and of the offsets, the panel's scale moving too."""
        some = self.factor.graded
        loading, mean = self.factor.loading[some], self.factor.moments.mean[some]
        variance = self.factor.moments.variance[some]
        upright = loading > 0
        weight = np.where(upright, loading**2 / variance, 0.0)
        total = weight.sum()
        size, centre = float(weight @ loading / total), float(weight @ mean / total)  # as in `on_panel_scale`
        weighed = 2 * loading * self.loading / variance - (loading / variance) ** 2 * self.variance
        weighed = np.where(upright, weighed, 0.0)
        size_moved = ((weighed * (loading - size) + weight * self.loading).sum(axis=1) / total)[:, None]
        centre_moved = ((weighed * (mean - centre) + weight * self.mean).sum(axis=1) / total)[:, None]
        slope = self.loading / size - loading * size_moved / size**2
        offset = self.mean - slope * centre - loading / size * centre_moved
        return slope, offset

    def residual_errors(self) -> Floats:
        """Standard errors of what is left of covariances: jurors x jurors, of those who are graded.

        An item moves it by pull_ij - moved_i loading_j - loading_i moved_j: the square, multiplied out, is summed.
        """
        some, moments = self.factor.graded, self.factor.moments
        loading, rows = self.factor.loading[some], len(moments.given)
        everybody = np.zeros_like(moments.given)
        everybody[:, some] = self.loading
        mixed = -2 * loading * moments.pulls_times(everybody)[np.ix_(some, some)]
        pulls, moved = moments.squared_pulls[np.ix_(some, some)], self.loading.T @ self.loading
        alone = np.outer(np.diag(moved), loading**2)
        squares = pulls + alone + alone.T + 2 * np.outer(loading, loading) * moved + mixed + mixed.T
        error = np.sqrt(np.maximum(squares, 0.0) / max(rows * (rows - 1), 1))
        lost = squares < _CANCELLED * (pulls + alone + alone.T)
        np.fill_diagonal(lost, False)  # nothing is left of a juror with itself
        for juror in np.flatnonzero(lost.any(axis=1)):
            error[juror] = standard_error(self.residual(int(juror)))
        return np.asarray(error)

    def residual(self, juror: int) -> Floats:
        """Of what is left of a juror's covariances: items x jurors. All are places among the graded."""
        some, moments = self.factor.graded, self.factor.moments
        k, loading = some[juror], self.factor.loading[some]
        share = len(moments.given) / np.maximum(moments.shared[k, some], 1)
        mine = moments.centred[:, [k]] - moments.among[k, some]
        theirs = moments.centred[:, some] - moments.among[some, k]
        both = moments.given[:, [k]] * moments.given[:, some]
        pull = share * both * (mine * theirs - moments.covariance[k, some])
        return np.asarray(pull - self.loading[:, [juror]] * loading - loading[juror] * self.loading)


def standard_error(moved: Floats) -> Floats:
    """Of what items move: each an equal part of it, so that it is their spread over the root of how many there are."""
    rows = len(moved)
    return np.asarray(np.sqrt((moved**2).sum(axis=0) / max(rows * (rows - 1), 1)))


def plain_ends(value: Floats, error: Floats, level: float, items: int) -> Floats:
    """Two columns: value less and plus what the level asks for."""
    z = float(stdtrit(max(items - 1, 1), (1 + level) / 2))
    return np.column_stack([value - z * error, value + z * error])


def reliability_ends(correlation: Floats, error: Floats, level: float, items: int) -> Floats:
    """Ends of the squared correlation; 0 is the lower where the sign is open."""
    return squared_ends(correlation_ends(correlation, error, level, items))


def correlation_ends(correlation: Floats, error: Floats, level: float, items: int) -> Floats:
    """Ends of a correlation.

    Fisher's z is of no use where an error reaches past 1, which is at an infinite z.
    """
    slack = 1 - correlation**2
    curved = (slack > 0) & (error < _REACH * slack)
    centre = np.where(curved, np.arctanh(np.where(curved, correlation, 0.0)), correlation)
    ends = plain_ends(centre, error / np.where(curved, slack, 1.0), level, items)
    return np.where(curved[:, None], np.tanh(ends), ends)


def squared_ends(ends: Floats) -> Floats:
    """Between which a square lies whose root lies between these ends."""
    squares = np.sort(ends**2, axis=1)
    squares[(ends[:, 0] < 0) & (ends[:, 1] > 0), 0] = 0.0
    return squares


def noise_ends(variance: Floats, error: Floats, level: float, items: int) -> Floats:
    """Ends of the errors' standard deviation; 0 is the lower where no error at all is possible."""
    squares = plain_ends(variance, error, level, items)
    squares[squares[:, 0] < 0, 0] = 0.0
    with np.errstate(invalid="ignore"):
        return np.asarray(np.sqrt(squares))
