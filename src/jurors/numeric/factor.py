"""One-factor model."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtri, stdtrit

from jurors._numeric import Floats, Integers
from jurors.errors import DegenerateSketchError
from jurors.numeric.data import Numbers

# How jurors' numbers move together, each two over the items that both gave a number.


@dataclass(frozen=True)
class Covariances:
    """Moments of numbers with gaps; sums are divided by how many there are, as for a population."""

    mean: Floats  #: per juror
    covariance: Floats  #: jurors x jurors, each over the items that both share; NaN where they share none
    shared: Floats  #: jurors x jurors: over how many items
    centred: Floats  #: items x jurors: numbers less the juror's mean, 0 in gaps
    given: Floats  #: items x jurors: 1 where there is a number
    among: Floats  #: i, j: mean of juror i's centred numbers over the items that j has, too

    @classmethod
    def of(cls, values: Floats) -> Covariances:
        """From items x jurors, NaN in gaps."""
        given = (~np.isnan(values)).astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.nansum(values, axis=0) / given.sum(axis=0)
            centred = np.where(given > 0, values - mean, 0.0)
            shared = given.T @ given
            among = centred.T @ given / shared
            covariance = centred.T @ centred / shared - among * among.T
        # rounding leaves about eps x variance where nothing varies
        still = np.nanmax(values, axis=0, initial=-np.inf) == np.nanmin(values, axis=0, initial=np.inf)
        covariance[still, :] = covariance[:, still] = 0.0
        return cls(mean, covariance, shared, centred, given, among)

    @property
    def variance(self) -> Floats:
        """Per juror."""
        return np.diag(self.covariance).copy()

    def pulled(self, weight: Floats) -> Floats:
        """Items x jurors: how much each item moves Σ_j weight_ij c_ij, to first order."""
        size = weight * self._share
        among, covariance = np.nan_to_num(self.among), np.nan_to_num(self.covariance)
        own = self.centred @ size.T - self.given @ (size * among.T).T
        rest = self.given @ (size * (among * among.T - covariance)).T - self.centred @ (size * among).T
        return np.asarray(self.centred * own + self.given * rest)

    @cached_property
    def pull_on_variances(self) -> Floats:
        """Items x jurors: how much each item moves the variances."""
        return self.pulled(np.eye(len(self.mean)))

    @cached_property
    def squared_pulls(self) -> Floats:
        """i, j: Σ pull_ij² over items, where an item that both judged pulls c_ij by

            pull_ij = share_ij ((x_i - among_ij)(x_j - among_ji) - c_ij).

        Multiplied out, it is a few products of matrices instead of items x pairs.
        """
        among, covariance = np.nan_to_num(self.among), np.nan_to_num(self.covariance)
        across = among.T
        constant = among * across - covariance
        squares = self.centred**2
        own, skew = squares.T @ self.given, squares.T @ self.centred
        half = across**2 * own - 2 * across * skew  # the same with i and j turned round comes to it
        both = squares.T @ squares + self.shared * (constant**2 - 4 * constant * among * across)
        both += 2 * self.shared * (covariance + among * across) * (constant + among * across)
        return np.asarray(self._share**2 * (half + half.T + both))

    def pulls_times(self, moved: Floats) -> Floats:
        """i, j: Σ pull_ij moved_i over items, of what items move in each juror."""
        among, covariance = np.nan_to_num(self.among), np.nan_to_num(self.covariance)
        theirs, there = moved * self.centred, moved * self.given
        left = theirs.T @ self.centred - among.T * (theirs.T @ self.given) - among * (there.T @ self.centred)
        return np.asarray(self._share * (left + (among * among.T - covariance) * (there.T @ self.given)))

    @cached_property
    def _share(self) -> Floats:
        """i, j: all items over those that both share; 0 where they share none."""
        items = np.full_like(self.shared, len(self.given))
        return np.divide(items, self.shared, where=self.shared > 0, out=np.zeros_like(items))

    def pull_on_means(self) -> Floats:
        """Items x jurors: how much each item moves the means."""
        return np.asarray(self.centred * (len(self.given) / np.maximum(self.given.sum(axis=0), 1)))


# Three jurors in closed form: the twin, for numbers, of the theorem about three jurors' labels.
#
# Where errors are independent of the truth T and of each other, x_i = offset_i + slope_i T + error_i gives
# c_ij = loading_i loading_j for i ≠ j, loading_i being slope_i times T's standard deviation. So (Spearman 1904)
#     loading_i² = c_ij c_ik / c_jk,  reliability_i = loading_i² / c_ii,  noise_i² = c_ii - loading_i².
# All of it is rational in the numbers, as are the slopes on the panel's scale. Answers that no such jurors can give are
# not mended: a negative loading², or one above the variance (a "Heywood case").


Number = TypeVar("Number", float, Fraction)
FactorOutcome: TypeAlias = Literal["possible", "above_variance", "negative", "no_covariance"]


@dataclass(frozen=True)
class Scale(Generic[Number]):
    """Slopes and offsets on the panel's scale.

    The truth's own scale shows nowhere in the numbers. So it is the jurors': the means of their slopes and of their
    offsets, each counted by its reliability, are 1 and 0. Who goes against the others, or tells nothing, has no say.
    """

    slope: tuple[Number, ...]
    offset: tuple[Number, ...]
    mean: Number  #: of the truth
    variance: Number  #: of the truth


def on_panel_scale(
    mean: Sequence[Number], loading: Sequence[Number], reliability: Sequence[Number], unit: Number
) -> Scale[Number]:
    """The panel's scale from loadings that are right up to a common factor; `unit` is that factor, squared.

    >>> on_panel_scale([1.0, 3.0], [2.0, 4.0], [0.5, 0.5], 1.0)
    Scale(slope=(0.6666666666666666, 1.3333333333333333), offset=(-0.33333333333333326, 0.3333333333333335), mean=2.0, \
variance=9.0)
    """
    weight = [r if b > 0 else 0 * r for r, b in zip(reliability, loading, strict=True)]
    total = sum(weight[1:], weight[0])
    pairs = [w * b for w, b in zip(weight, loading, strict=True)]
    size = sum(pairs[1:], pairs[0]) / total
    level = [w * m for w, m in zip(weight, mean, strict=True)]
    centre = sum(level[1:], level[0]) / total
    slope = tuple(b / size for b in loading)
    offset = tuple(m - b * centre for m, b in zip(mean, slope, strict=True))
    return Scale(slope, offset, centre, unit * size * size)


@dataclass(frozen=True)
class TrioAnswer(Generic[Number]):
    """What three jurors' covariances say, in the numbers' own arithmetic."""

    outcome: FactorOutcome
    squared: tuple[Number, ...]  #: loading², perhaps negative or above the variance; empty where it has no value
    reliability: tuple[Number, ...]  #: loading² over the variance
    noise: tuple[Number, ...]  #: the error's variance
    scale: Scale[Number] | None  #: None where loadings are no real numbers


def solve_trio(mean: Sequence[Number], covariance: Sequence[Sequence[Number]]) -> TrioAnswer[Number]:
    """The closed form. Fractions in, Fractions out.

    >>> third = Fraction(1, 3)
    >>> answer = solve_trio([third] * 3, [[Fraction(c) for c in row] for row in ((4, 2, 1), (2, 5, 2), (1, 2, 3))])
    >>> [str(r) for r in answer.reliability], answer.outcome
    (['1/4', '4/5', '1/3'], 'possible')
    """
    (a, ab, ac), (_, b, bc), (_, _, c) = covariance
    if ab == 0 or ac == 0 or bc == 0:
        return TrioAnswer("no_covariance", (), (), (), None)
    squared = (ab * ac / bc, ab * bc / ac, ac * bc / ab)
    variance = (a, b, c)
    reliability = tuple(s / v for s, v in zip(squared, variance, strict=True))
    noise = tuple(v - s for s, v in zip(squared, variance, strict=True))
    if squared[0] < 0:
        return TrioAnswer("negative", squared, reliability, noise, None)
    ratio = _upright((ab / ab, bc / ac, bc / ab), reliability)
    scale = on_panel_scale(mean, ratio, reliability, squared[0])
    outcome: FactorOutcome = "above_variance" if any(n < 0 for n in noise) else "possible"
    return TrioAnswer(outcome, squared, reliability, noise, scale)


def _upright(loading: tuple[Number, ...], reliability: Sequence[Number]) -> tuple[Number, ...]:
    """The sign that most of the reliability has is the right way up."""
    signed = [r if b > 0 else -r for r, b in zip(reliability, loading, strict=True)]
    return loading if sum(signed[1:], signed[0]) >= 0 else tuple(-b for b in loading)


def exact_trio(numbers: Numbers) -> TrioAnswer[Fraction] | None:
    """The closed form of three jurors who all gave every item an exact number; None where it is not so."""
    whole = len(numbers.jurors) == 3 and numbers.is_exact and bool(numbers.given.all()) and len(numbers.items) > 1
    if not whole:
        return None
    known = numbers.fractions()
    unit = lcm(*(value.denominator for value in known))
    table: Any = np.array([int(value * unit) for value in known], dtype=object)[numbers.codes]
    n, sums, products = len(table), table.sum(axis=0), table.T.dot(table)
    mean = [Fraction(int(total), n * unit) for total in sums]
    covariance = [
        [Fraction(int(n * products[i][j] - sums[i] * sums[j]), (n * unit) ** 2) for j in range(3)] for i in range(3)
    ]
    return solve_trio(mean, covariance)


# One factor, fitted to pairwise covariances: c_ij = loading_i loading_j for every two jurors.
#
# Three jurors are solved in closed form (`exact_trio.py`). Of more, Σ n_ij (r_ij - loading_i loading_j)² is least, over
# correlations r_ij on the n_ij items that both judged. Weights by noise, as maximum likelihood has them, were tried: no
# better (benchmarks/ratings.py), and a copy of a juror runs away with them.


Pair: TypeAlias = tuple[int, int]

FEWEST_SHARED = 5  # items, for a covariance to count
FEWEST_PARTNERS = 2  # jurors with whom one must share items, to be graded
_SWEEPS, _CLOSE = 2_000, 1e-11


@dataclass(frozen=True)
class Factor:
    """Loadings in the jurors' own units, the truth having standard deviation 1; NaN for who cannot be graded."""

    moments: Covariances
    weight: Floats  #: jurors x jurors, of the squared residual covariances
    loading: Floats
    squared: Floats  #: loading²: of three jurors perhaps negative, and then there are no loadings
    outcome: FactorOutcome
    free: tuple[Pair, ...] = ()  #: pairs whose errors may go together: their covariance is not fitted
    has_settled: bool = True

    @property
    def graded(self) -> Integers:
        """The positions of the jurors who can be graded: of three, also where the three fix no grades."""
        return np.flatnonzero(self.weight.any(axis=1))

    @property
    def reliability(self) -> Floats:
        """The squared correlation with the truth."""
        return np.asarray(self.squared / self.moments.variance)

    @property
    def noise(self) -> Floats:
        """The variance of the errors; negative where the loading is above the variance."""
        return np.asarray(self.moments.variance - self.squared)

    @property
    def misfit(self) -> float:
        """The weighted squares that are left over."""
        left = self.moments.covariance - np.outer(self.loading, self.loading)
        return float(np.nansum(self.weight * np.where(self.weight > 0, left, 0.0) ** 2))

    def scale(self) -> Scale[float] | None:
        """Slopes and offsets on the panel's scale, of those who are graded; None where loadings are not real."""
        if np.isnan(self.loading).all():
            return None
        some = self.graded
        vectors = (self.moments.mean[some], self.loading[some], self.reliability[some])
        mean, loading, reliability = (vector.tolist() for vector in vectors)
        return on_panel_scale(mean, loading, reliability, 1.0)


def fit_factor(moments: Covariances, free: Collection[Pair] = ()) -> Factor:
    """The loadings; DegenerateSketchError where fewer than three jurors share enough."""
    used = gradable(moments, free)
    if len(used) < 3:
        message = (
            f"fewer than three jurors whose numbers vary share {FEWEST_SHARED} items with two others; add items or "
            "jurors"
        )
        raise DegenerateSketchError(message, code="degenerate", outcome="not_identified")
    size = len(moments.mean)
    variance = moments.variance
    inside = np.zeros((size, size))
    inside[np.ix_(used, used)] = 1 - np.eye(len(used))
    weight = inside * _counted(moments, free)
    with np.errstate(invalid="ignore", divide="ignore"):
        weight = np.where(weight > 0, weight / np.outer(variance, variance), 0.0)
    if len(used) == 3:
        return _closed(moments, weight, used)
    part, has_settled = least_squares(*_standardised(moments, weight, used))
    loading = np.full(size, np.nan)
    loading[used] = _one_factor_upright(part) * np.sqrt(variance[used])
    is_above = bool((loading[used] ** 2 > variance[used]).any())
    outcome: FactorOutcome = "above_variance" if is_above else "possible"
    return Factor(moments, weight, loading, loading**2, outcome, tuple(sorted(free)), has_settled)


def misfits_without(factor: Factor, pairs: Sequence[Pair]) -> Floats:
    """The misfit with each of these pairs left open as well: all fits at once, from the present loadings on."""
    some = factor.graded
    correlation, weight = _standardised(factor.moments, factor.weight, some)
    first, second = np.searchsorted(some, np.array(pairs).T)
    weights, fit = np.repeat(weight[None], len(pairs), axis=0), np.arange(len(pairs))
    weights[fit, first, second] = weights[fit, second, first] = 0.0
    start = factor.loading[some] / np.sqrt(factor.moments.variance[some])
    loading = _swept(correlation, weights, np.repeat(start[None], len(pairs), axis=0))
    left = correlation - loading[:, :, None] * loading[:, None, :]
    return np.asarray((weights * left**2).sum(axis=(1, 2)))


def _standardised(moments: Covariances, weight: Floats, used: Integers) -> tuple[Floats, Floats]:
    """Correlations of these jurors, and their weights."""
    deviation = np.sqrt(moments.variance[used])
    scale, at = np.outer(deviation, deviation), np.ix_(used, used)
    return np.nan_to_num(moments.covariance[at] / scale), weight[at] * scale**2


def gradable(moments: Covariances, free: Collection[Pair] = ()) -> Integers:
    """Who varies and shares enough items with two others, in the largest group that is connected so."""
    linked = (_counted(moments, free) > 0) & np.outer(moments.variance > 0, moments.variance > 0)
    kept = np.ones(len(linked), dtype=np.bool_)
    while (few := kept & (linked[:, kept].sum(axis=1) < FEWEST_PARTNERS)).any():
        kept &= ~few
    some = np.flatnonzero(kept)
    if not len(some):
        return some
    group = connected_components(csr_array(linked[np.ix_(some, some)]))[1]
    return np.asarray(some[group == np.argmax(np.bincount(group))])


def _counted(moments: Covariances, free: Collection[Pair]) -> Floats:
    """How many items each two share, where that is enough and their covariance is fitted."""
    counted = np.where(moments.shared >= FEWEST_SHARED, moments.shared, 0.0)
    np.fill_diagonal(counted, 0.0)
    for one, two in free:
        counted[one, two] = counted[two, one] = 0.0
    return counted


def _closed(moments: Covariances, weight: Floats, used: Integers) -> Factor:
    """Three jurors."""
    answer = solve_trio(moments.mean[used].tolist(), moments.covariance[np.ix_(used, used)].tolist())
    loading, squared = np.full((2, len(moments.mean)), np.nan)
    if answer.outcome == "no_covariance":
        squared[used] = _no_covariance(moments.covariance[np.ix_(used, used)])
    else:
        squared[used] = answer.squared
    if answer.scale is not None:
        loading[used] = np.array(answer.scale.slope) * np.sqrt(answer.scale.variance)
    return Factor(moments, weight, loading, squared, answer.outcome)


def _no_covariance(covariance: Floats) -> Floats:
    """Of three jurors of whom some do not move together: infinite where something is divided by nothing."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.array([covariance[i, j] * covariance[i, k] / covariance[j, k] for i, j, k in _TURNS])


_TURNS: Sequence[tuple[int, int, int]] = ((0, 1, 2), (1, 0, 2), (2, 0, 1))


def least_squares(correlation: Floats, weight: Floats) -> tuple[Floats, bool]:
    """The loadings in sweeps, each juror's best given the others', and whether they settled."""
    values, vectors = np.linalg.eigh(correlation)
    loading = vectors[:, -1] * np.sqrt(max(values[-1] - 1.0, 0.1))
    pull = weight * correlation
    for _ in range(_SWEEPS):
        before = loading.copy()
        for k in range(len(loading)):
            against = float(weight[k] @ loading**2)
            loading[k] = float(pull[k] @ loading) / against if against > 0 else 0.0
        if np.abs(loading - before).max() < _CLOSE:
            return loading, True
    return loading, False


def _swept(correlation: Floats, weights: Floats, loading: Floats) -> Floats:
    """`least_squares` of many fits at once that differ in weights (fits x jurors x jurors), from given loadings on."""
    pull, moving = weights * correlation, np.arange(len(loading))
    for _ in range(_SWEEPS):
        part, weight, toward = loading[moving], weights[moving], pull[moving]
        for k in range(part.shape[1]):
            against = np.einsum("fj,fj->f", weight[:, k], part**2)
            above = np.einsum("fj,fj->f", toward[:, k], part)
            part[:, k] = np.divide(above, against, where=against > 0, out=np.zeros_like(above))
        moved = np.abs(part - loading[moving]).max(axis=1)
        loading[moving] = part
        moving = moving[moved >= _CLOSE]
        if not len(moving):
            break
    return loading


def _one_factor_upright(part: Floats) -> Floats:
    """The sign that most of the reliability has is the right way up."""
    return part if float((part * np.abs(part)).sum()) >= 0 else -part


# How sure the grades are: what each item moves, to first order, and intervals from the spread of that.
#
# Nothing is assumed of the numbers' distribution (this is the jackknife, without leaving anything out). Intervals of a
# reliability are made on the scale of Fisher's z, of a noise on that of variances, where they are all but symmetric.


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


# Errors that go together: covariances that one factor leaves over, and the grades with those pairs left open.
#
# What two jurors have in common beyond the truth looks like reliability. Where a pair clearly stands out, its
# covariance is no longer fitted. Three jurors have nothing left over, and four leave open which of two pairs it is.


FALSE_ALARMS = 0.01  #: so many tables may ring although all is well, by each of the alarms
_SAME, _FEWEST_SAME = 0.999, 10  # correlation and items of a copy
MIN_JURORS_TO_TEST = 5  #: jurors, for a pair to be told from the others
_MOST_OPEN = 25  # pairs; with more of them than jurors, one factor is no picture of the panel
_MOST_TRIED = 30  # pairs, of those that stand out most
_ROUNDING = 1e-9  # of a correlation: where a fit is exact, nothing else is left over, and no error to measure it by


@dataclass(frozen=True)
class SharedErrorTest:
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


def fit_shared_errors(moments: Covariances) -> SharedErrorTest:
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
    return SharedErrorTest(factor, closed, copies, standing)


def _best_opened(
    moments: Covariances, free: set[Pair], factor: Factor, clear: dict[Pair, float]
) -> tuple[Factor, Pair] | None:
    """The one more pair that, left open, explains the others best: a strong one has bent the fit towards itself."""
    some = factor.graded.tolist()
    if len(some) < MIN_JURORS_TO_TEST:
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
