"""The one-factor model of jurors' numbers: covariances come in, loadings and their sampling error go out.

Juror i answers item t with x_it = offset_i + slope_i T_t + error_it. Where errors are independent of the truth T and of
each other, jurors' covariances have one factor:

    c_ij = loading_i loading_j  (i ≠ j),   loading_i = slope_i sd(T),
    communality_i = loading_i²,  error variance_i = c_ii - loading_i²,  reliability_i = loading_i² / c_ii.

The module reads in this order: moments of a table with gaps (`Covariances`); three jurors in closed form
(`solve_trio`); more jurors by weighted least squares (`fit_factor`); sampling error by influence functions
(`Influence`) and intervals from it; and pairs of jurors whose errors are correlated (`fit_shared_errors`), whose
covariance becomes a free parameter. docs/guides/numbers.md is the user's page.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from jurors._numeric import Floats, Integers, are_connected, special
from jurors.errors import DegenerateSketchError

Pair: TypeAlias = tuple[int, int]
FactorOutcome: TypeAlias = Literal["possible", "above_variance", "negative", "no_covariance"]

FEWEST_SHARED = 5  # items that two jurors share, for their covariance to be used
FEWEST_PARTNERS = 2  # other jurors, each with so many shared items, that a graded juror needs
_SWEEPS, _TOLERANCE = 2_000, 1e-11  # of the least-squares fit

# ---------------------------------------------------------------------------------------------------------------------
# Moments, each over the items that both jurors answered
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Covariances:
    """Means and covariances of a table with gaps; sums are divided by their number of terms, as for a population.

    Influence functions (what each item adds to an estimate, to first order) are scaled so that their mean square over
    the n items, divided by n, is the variance of the estimate.
    """

    mean: Floats  #: per juror
    covariance: Floats  #: jurors x jurors, each over the items that both share; NaN where they share none
    shared: Floats  #: jurors x jurors: over how many items
    centred: Floats  #: items x jurors: numbers less the juror's mean, 0 in gaps
    given: Floats  #: items x jurors: 1 where there is a number
    shared_mean: Floats  #: i, j: mean of juror i's centred numbers over the items that j answered, too

    @classmethod
    def of(cls, values: Floats) -> Covariances:
        """The moments of a table of items x jurors, NaN in gaps.

        Returns
        -------
        Covariances
            In the units of the numbers; the covariance of a juror whose numbers do not vary is exactly 0.
        """
        given = (~np.isnan(values)).astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.nansum(values, axis=0) / given.sum(axis=0)
            centred = np.where(given > 0, values - mean, 0.0)
            shared = given.T @ given
            shared_mean = centred.T @ given / shared
            covariance = centred.T @ centred / shared - shared_mean * shared_mean.T
        # rounding leaves about eps x variance where nothing varies
        is_constant = np.nanmax(values, axis=0, initial=-np.inf) == np.nanmin(values, axis=0, initial=np.inf)
        covariance[is_constant, :] = covariance[:, is_constant] = 0.0
        return cls(mean, covariance, shared, centred, given, shared_mean)

    @property
    def variance(self) -> Floats:
        """Per juror."""
        return np.diag(self.covariance).copy()

    @cached_property
    def _inverse_coverage(self) -> Floats:
        """i, j: all items over those that both share; 0 where they share none."""
        items = np.full_like(self.shared, len(self.given))
        return np.divide(items, self.shared, where=self.shared > 0, out=np.zeros_like(items))

    @cached_property
    def variance_influence(self) -> Floats:
        """Items x jurors: the influence of each item on the variances."""
        return self.row_sum_influence(np.eye(len(self.mean)))

    # An item that both i and j answered has on c_ij the influence
    #     d_ij = n / n_ij ((x_i - m_ij)(x_j - m_ji) - c_ij),   m = shared_mean.
    # Sums of it are multiplied out below: a few products of matrices instead of items x pairs.

    def row_sum_influence(self, weight: Floats) -> Floats:
        """Items x jurors: Σ_j weight_ij d_ij, the influence of each item on Σ_j weight_ij c_ij."""
        size = weight * self._inverse_coverage
        mean, covariance = np.nan_to_num(self.shared_mean), np.nan_to_num(self.covariance)
        linear = self.centred @ size.T - self.given @ (size * mean.T).T
        constant = self.given @ (size * (mean * mean.T - covariance)).T - self.centred @ (size * mean).T
        return np.asarray(self.centred * linear + self.given * constant)

    @cached_property
    def squared_influence(self) -> Floats:
        """i, j: Σ d_ij² over items."""
        mean, covariance = np.nan_to_num(self.shared_mean), np.nan_to_num(self.covariance)
        across = mean.T
        constant = mean * across - covariance
        squares = self.centred**2
        second, third = squares.T @ self.given, squares.T @ self.centred
        half = across**2 * second - 2 * across * third  # the other half is the same with i and j exchanged
        both = squares.T @ squares + self.shared * (constant**2 - 4 * constant * mean * across)
        both += 2 * self.shared * (covariance + mean * across) * (constant + mean * across)
        return np.asarray(self._inverse_coverage**2 * (half + half.T + both))

    def influence_products(self, influence: Floats) -> Floats:
        """i, j: Σ d_ij influence_i over items, for another influence function of items x jurors."""
        mean, covariance = np.nan_to_num(self.shared_mean), np.nan_to_num(self.covariance)
        centred, given = influence * self.centred, influence * self.given
        products = centred.T @ self.centred - mean.T * (centred.T @ self.given) - mean * (given.T @ self.centred)
        return np.asarray(self._inverse_coverage * (products + (mean * mean.T - covariance) * (given.T @ self.given)))


# ---------------------------------------------------------------------------------------------------------------------
# Three jurors in closed form: for numbers what the theorem of the trio is for labels
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scale:
    """Slopes and offsets on the panel's scale.

    The truth's own scale cannot be seen in the numbers. So it is the panel's: the means of the jurors' slopes and of
    their offsets, weighted by reliability, are 1 and 0. Jurors with a negative loading have no weight.
    """

    slope: tuple[float, ...]
    offset: tuple[float, ...]
    mean: float  #: of the truth
    variance: float  #: of the truth


def on_panel_scale(mean: Sequence[float], loading: Sequence[float], reliability: Sequence[float], unit: float) -> Scale:
    """The panel's scale from loadings that are right up to a common factor; `unit` is that factor, squared.

    Returns
    -------
    Scale
        One slope and offset per juror.

    Examples
    --------
    >>> on_panel_scale([1.0, 3.0], [2.0, 4.0], [0.5, 0.5], 1.0)
    Scale(slope=(0.6666666666666666, 1.3333333333333333), offset=(-0.33333333333333326, 0.3333333333333335), mean=2.0, \
variance=9.0)
    """
    weight = [r if b > 0 else 0.0 for r, b in zip(reliability, loading, strict=True)]
    size = sum(w * b for w, b in zip(weight, loading, strict=True)) / sum(weight)
    centre = sum(w * m for w, m in zip(weight, mean, strict=True)) / sum(weight)
    slope = tuple(b / size for b in loading)
    offset = tuple(m - b * centre for m, b in zip(mean, slope, strict=True))
    return Scale(slope, offset, centre, unit * size * size)


def solve_trio(mean: Floats, covariance: Floats) -> tuple[FactorOutcome, Floats, Floats]:
    """Three jurors' loadings from their covariances: loading_i² = c_ij c_ik / c_jk (Spearman 1904).

    What no jurors with independent errors can give is reported and not mended: a negative loading², or one above the
    variance (a "Heywood case").

    Returns
    -------
    outcome : str
    communality : ndarray
        loading², perhaps negative, above the variance or, where two jurors have no covariance, infinite.
    loading : ndarray
        NaN where loadings are no real numbers.

    Examples
    --------
    >>> covariance = np.array([[4.0, 2, 1], [2, 5, 2], [1, 2, 3]])
    >>> outcome, communality, loading = solve_trio(np.zeros(3), covariance)
    >>> (communality / np.diag(covariance)).round(3).tolist(), loading.round(3).tolist(), outcome
    ([0.25, 0.8, 0.333], [1.0, 2.0, 1.0], 'possible')
    """
    ab, ac, bc = covariance[0, 1], covariance[0, 2], covariance[1, 2]
    with np.errstate(invalid="ignore", divide="ignore"):
        communality = np.array([ab * ac / bc, ab * bc / ac, ac * bc / ab])
    if ab == 0 or ac == 0 or bc == 0:
        return "no_covariance", communality, np.full(3, np.nan)
    if communality[0] < 0:
        return "negative", communality, np.full(3, np.nan)
    reliability, relative = communality / np.diag(covariance), np.array([1.0, bc / ac, bc / ab])
    if np.where(relative > 0, reliability, -reliability).sum() < 0:  # the sign of most of the reliability is right
        relative = -relative
    scale = on_panel_scale(mean.tolist(), relative.tolist(), reliability.tolist(), float(communality[0]))
    outcome: FactorOutcome = "above_variance" if (communality > np.diag(covariance)).any() else "possible"
    return outcome, communality, np.array(scale.slope) * np.sqrt(scale.variance)


# ---------------------------------------------------------------------------------------------------------------------
# More jurors by weighted least squares
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Factor:
    """Loadings in the jurors' own units, the truth having standard deviation 1; NaN for jurors who cannot be graded."""

    moments: Covariances
    weight: Floats  #: jurors x jurors, of the squared residual covariances
    loading: Floats
    communality: Floats  #: loading²: of three jurors perhaps negative, and then there are no loadings
    outcome: FactorOutcome
    free: tuple[Pair, ...] = ()  #: pairs whose errors may be correlated: their covariance is not fitted
    has_converged: bool = True

    @property
    def graded(self) -> Integers:
        """The positions of the jurors who can be graded: of three, also where the three fix no grades."""
        return np.flatnonzero(self.weight.any(axis=1))

    @property
    def reliability(self) -> Floats:
        """The squared correlation with the truth."""
        return np.asarray(self.communality / self.moments.variance)

    @property
    def error_variance(self) -> Floats:
        """The variance of the errors; negative where the communality is above the variance."""
        return np.asarray(self.moments.variance - self.communality)

    @property
    def correlation(self) -> Floats:
        """The correlation with the truth of the jurors who can be graded."""
        return np.asarray(self.loading[self.graded] / np.sqrt(self.moments.variance[self.graded]))

    def scale(self) -> Scale | None:
        """Slopes and offsets on the panel's scale, of the graded jurors; None where loadings are not real."""
        if np.isnan(self.loading).all():
            return None
        graded = self.graded
        vectors = (self.moments.mean[graded], self.loading[graded], self.reliability[graded])
        mean, loading, reliability = (vector.tolist() for vector in vectors)
        return on_panel_scale(mean, loading, reliability, 1.0)


def fit_factor(moments: Covariances, free: Collection[Pair] = ()) -> Factor:
    """The loadings: three jurors in closed form, more where Σ n_ij (r_ij - loading_i loading_j)² is least.

    r_ij are correlations over the n_ij items that both answered. Weights by error variance, as maximum likelihood has
    them, were tried: no better (benchmarks/ratings.py), and a copy of a juror runs away with them.

    Parameters
    ----------
    moments
        Of all jurors.
    free
        Pairs of jurors whose covariance is not fitted.

    Returns
    -------
    Factor
        Of all jurors, NaN for those who cannot be graded.

    Raises
    ------
    DegenerateSketchError
        Fewer than three jurors share enough items.
    """
    graded = gradable(moments, free)
    if len(graded) < 3:
        message = (
            f"grading needs three jurors whose numbers vary and that share {FEWEST_SHARED} items with two others; "
            "there are fewer than three jurors like that. Add items or jurors"
        )
        raise DegenerateSketchError(message, code="degenerate", outcome="not_identified")
    size, variance, among_graded = len(moments.mean), moments.variance, np.ix_(graded, graded)
    weight = np.zeros((size, size))
    weight[among_graded] = 1 - np.eye(len(graded))
    weight *= _fitted_counts(moments, free)
    with np.errstate(invalid="ignore", divide="ignore"):
        weight = np.where(weight > 0, weight / np.outer(variance, variance), 0.0)
    loading, communality = np.full((2, size), np.nan)

    if len(graded) == 3:
        trio = solve_trio(moments.mean[graded], moments.covariance[among_graded])
        outcome, communality[graded], loading[graded] = trio
        return Factor(moments, weight, loading, communality, outcome)

    correlation, weights = _standardised(moments, weight, graded)
    values, vectors = np.linalg.eigh(correlation)
    start = vectors[:, -1] * np.sqrt(max(values[-1] - 1.0, 0.1))
    (fitted,), has_converged = least_squares(correlation, weights[None], start[None])
    if float((fitted * np.abs(fitted)).sum()) < 0:  # the sign that most of the reliability has is the right way up
        fitted = -fitted
    loading[graded] = fitted * np.sqrt(variance[graded])
    is_above = bool((loading[graded] ** 2 > variance[graded]).any())
    outcome = "above_variance" if is_above else "possible"
    return Factor(moments, weight, loading, loading**2, outcome, tuple(sorted(free)), has_converged)


def least_squares(correlation: Floats, weights: Floats, loading: Floats) -> tuple[Floats, bool]:
    """Minimise Σ w_ij (r_ij - b_i b_j)² by coordinate descent: each juror's best loading given the others',

        b_k = Σ_j w_kj r_kj b_j / Σ_j w_kj b_j².

    Many fits at once, which differ in weights and starting points; a fit that has converged is not touched again.

    Parameters
    ----------
    correlation
        Jurors x jurors.
    weights
        Fits x jurors x jurors, with a zero diagonal.
    loading
        Fits x jurors: where to start.

    Returns
    -------
    tuple
        The loadings, fits x jurors, and whether all fits have converged.
    """
    loading, targets, active = loading.copy(), weights * correlation, np.arange(len(loading))
    for _ in range(_SWEEPS):
        part, weight, target = loading[active], weights[active], targets[active]
        for k in range(part.shape[1]):
            top, bottom = np.vecdot(target[:, k], part), np.vecdot(weight[:, k], part**2)
            part[:, k] = np.divide(top, bottom, where=bottom > 0, out=np.zeros_like(top))
        change = np.abs(part - loading[active]).max(axis=1)
        loading[active] = part
        active = active[change >= _TOLERANCE]
        if not len(active):
            return loading, True
    return loading, False


def misfits_without(factor: Factor, pairs: Sequence[Pair]) -> Floats:
    """The misfit with each of these pairs free as well, from the present loadings on.

    Returns
    -------
    ndarray
        One misfit per pair: the weighted sum of squared residual covariances.
    """
    graded, fits = factor.graded, np.arange(len(pairs))
    correlation, weight = _standardised(factor.moments, factor.weight, graded)
    first, second = np.searchsorted(graded, np.array(pairs).T)
    weights = np.repeat(weight[None], len(pairs), axis=0)
    weights[fits, first, second] = weights[fits, second, first] = 0.0
    loading, _ = least_squares(correlation, weights, np.repeat(factor.correlation[None], len(pairs), axis=0))
    residual = correlation - loading[:, :, None] * loading[:, None, :]
    return np.asarray((weights * residual**2).sum(axis=(1, 2)))


def _standardised(moments: Covariances, weight: Floats, graded: Integers) -> tuple[Floats, Floats]:
    """Correlations of these jurors, and their weights."""
    deviation = np.sqrt(moments.variance[graded])
    scale, among_graded = np.outer(deviation, deviation), np.ix_(graded, graded)
    return np.nan_to_num(moments.covariance[among_graded] / scale), weight[among_graded] * scale**2


def gradable(moments: Covariances, free: Collection[Pair] = ()) -> Integers:
    """The jurors who vary and share enough items with two others, in the largest connected group of such jurors.

    Returns
    -------
    ndarray
        Their positions, ascending; empty where there are none.
    """
    linked = (_fitted_counts(moments, free) > 0) & np.outer(moments.variance > 0, moments.variance > 0)
    enough = np.ones(len(linked), dtype=np.bool_)
    while (few := enough & (linked[:, enough].sum(axis=1) < FEWEST_PARTNERS)).any():
        enough &= ~few
    positions = np.flatnonzero(enough)
    if not len(positions):
        return positions
    first, second = np.nonzero(np.triu(linked[np.ix_(positions, positions)]))
    group = are_connected(first, second, len(positions))
    return np.asarray(positions[group == np.argmax(np.bincount(group))])


def _fitted_counts(moments: Covariances, free: Collection[Pair]) -> Floats:
    """How many items each two share, where that is enough and their covariance is fitted; else 0."""
    counts = np.where(moments.shared >= FEWEST_SHARED, moments.shared, 0.0)
    np.fill_diagonal(counts, 0.0)
    for i, j in free:
        counts[i, j] = counts[j, i] = 0.0
    return counts


# ---------------------------------------------------------------------------------------------------------------------
# Sampling error: influence functions of the items, and intervals from their spread
#
# Nothing is assumed of the numbers' distribution (this is the infinitesimal jackknife). Intervals of a reliability are
# made on the scale of Fisher's z, of an error's size on that of variances, where they are nearly symmetric.
# ---------------------------------------------------------------------------------------------------------------------

_MOST_OF_SLACK = 1.0  # a standard error above this part of 1 - r² reaches past r = 1
_CANCELLED = 1e-8  # of a sum of squares: with less than this left, its digits are gone


@dataclass(frozen=True)
class Influence:
    """Items x graded jurors: the influence of each item on means, loadings and variances."""

    factor: Factor
    mean: Floats
    loading: Floats
    variance: Floats

    @classmethod
    def of(cls, factor: Factor) -> Influence:
        """By the implicit function: the loadings are where Σ_j w_ij (c_ij - loading_i loading_j) loading_j is 0."""
        graded, moments, weight = factor.graded, factor.moments, factor.weight
        loading = np.nan_to_num(factor.loading)
        residual = np.nan_to_num(moments.covariance) - np.outer(loading, loading)
        derivative = weight * (residual - np.outer(loading, loading))
        np.fill_diagonal(derivative, -(weight @ loading**2))
        on_equations = moments.row_sum_influence(weight * loading)[:, graded]
        on_loadings = -on_equations @ np.linalg.pinv(derivative[np.ix_(graded, graded)]).T
        on_means = moments.centred * (len(moments.given) / np.maximum(moments.given.sum(axis=0), 1))
        return cls(factor, on_means[:, graded], on_loadings, moments.variance_influence[:, graded])

    def correlation(self) -> Floats:
        """On the correlations with the truth."""
        graded = self.factor.graded
        loading, variance = self.factor.loading[graded], self.factor.moments.variance[graded]
        return np.asarray(self.loading / np.sqrt(variance) - loading * self.variance / (2 * variance**1.5))

    def error_variance(self) -> Floats:
        """On the errors' variances."""
        return np.asarray(self.variance - 2 * self.factor.loading[self.factor.graded] * self.loading)

    def lines(self) -> tuple[Floats, Floats]:
        """On the slopes and on the offsets, through the panel's scale too (`on_panel_scale`)."""
        graded = self.factor.graded
        loading, mean = self.factor.loading[graded], self.factor.moments.mean[graded]
        variance = self.factor.moments.variance[graded]
        is_positive = loading > 0
        weight = np.where(is_positive, loading**2 / variance, 0.0)
        total = weight.sum()
        size, centre = float(weight @ loading / total), float(weight @ mean / total)
        on_weight = 2 * loading * self.loading / variance - (loading / variance) ** 2 * self.variance
        on_weight = np.where(is_positive, on_weight, 0.0)
        on_size = ((on_weight * (loading - size) + weight * self.loading).sum(axis=1) / total)[:, None]
        on_centre = ((on_weight * (mean - centre) + weight * self.mean).sum(axis=1) / total)[:, None]
        slope = self.loading / size - loading * on_size / size**2
        offset = self.mean - slope * centre - loading / size * on_centre
        return slope, offset

    def residual_errors(self) -> Floats:
        """Standard errors of residual covariances c_ij - loading_i loading_j: graded x graded jurors.

        The influence on a residual is d_ij - e_i loading_j - loading_i e_j, with d that on the covariance and e that on
        the loadings: its square is multiplied out and summed.
        """
        graded, moments = self.factor.graded, self.factor.moments
        among_graded, loading, items = np.ix_(graded, graded), self.factor.loading[graded], len(moments.given)
        on_loadings = np.zeros_like(moments.given)
        on_loadings[:, graded] = self.loading
        mixed = -2 * loading * moments.influence_products(on_loadings)[among_graded]
        squared, products = moments.squared_influence[among_graded], self.loading.T @ self.loading
        alone = np.outer(np.diag(products), loading**2)
        squares = squared + alone + alone.T + 2 * np.outer(loading, loading) * products + mixed + mixed.T
        error = np.sqrt(np.maximum(squares, 0.0) / max(items * (items - 1), 1))
        is_lost = squares < _CANCELLED * (squared + alone + alone.T)
        np.fill_diagonal(is_lost, False)  # nothing is left of a juror with itself
        for juror in np.flatnonzero(is_lost.any(axis=1)):
            error[juror] = standard_error(self.residual(int(juror)))
        return np.asarray(error)

    def residual(self, juror: int) -> Floats:
        """On one juror's residual covariances: items x graded jurors. `juror` is a position among the graded."""
        graded, moments = self.factor.graded, self.factor.moments
        k, loading = graded[juror], self.factor.loading[graded]
        inverse_coverage = len(moments.given) / np.maximum(moments.shared[k, graded], 1)
        first = moments.centred[:, [k]] - moments.shared_mean[k, graded]
        second = moments.centred[:, graded] - moments.shared_mean[graded, k]
        both = moments.given[:, [k]] * moments.given[:, graded]
        on_covariance = inverse_coverage * both * (first * second - moments.covariance[k, graded])
        return np.asarray(on_covariance - self.loading[:, [juror]] * loading - loading[juror] * self.loading)


def standard_error(influence: Floats) -> Floats:
    """The standard error of estimates from the influence of each item: items x estimates in, one error each out."""
    items = len(influence)
    return np.asarray(np.sqrt((influence**2).sum(axis=0) / max(items * (items - 1), 1)))


def plain_ends(value: Floats, error: Floats, level: float, items: int) -> Floats:
    """Symmetric intervals by Student's t with items - 1 degrees of freedom: values x 2."""
    t = float(special.stdtrit(max(items - 1, 1), (1 + level) / 2))
    return np.column_stack([value - t * error, value + t * error])


def reliability_ends(correlation: Floats, error: Floats, level: float, items: int) -> Floats:
    """Intervals of squared correlations, values x 2; the lower end is 0 where the sign is open.

    They are made on the scale of Fisher's z, unless the error reaches past a correlation of 1, which is at an infinite
    z.
    """
    slack = 1 - correlation**2
    by_fisher = (slack > 0) & (error < _MOST_OF_SLACK * slack)
    centre = np.where(by_fisher, np.arctanh(np.where(by_fisher, correlation, 0.0)), correlation)
    ends = plain_ends(centre, error / np.where(by_fisher, slack, 1.0), level, items)
    return squared_ends(np.where(by_fisher[:, None], np.tanh(ends), ends))


def squared_ends(ends: Floats) -> Floats:
    """Intervals of squares from those of their roots, values x 2; the lower end is 0 where the root's sign is open."""
    squares = np.sort(ends**2, axis=1)
    squares[(ends[:, 0] < 0) & (ends[:, 1] > 0), 0] = 0.0
    return squares


def noise_ends(variance: Floats, error: Floats, level: float, items: int) -> Floats:
    """Intervals of the errors' standard deviation, values x 2; the lower end is 0 where no error at all is possible.

    There is no interval where the whole interval of the variance is negative.
    """
    squares = plain_ends(variance, error, level, items)
    squares[squares[:, 0] < 0, 0] = 0.0
    squares[~(squares[:, 1] >= 0)] = np.nan
    return np.asarray(np.sqrt(squares))


# ---------------------------------------------------------------------------------------------------------------------
# Correlated errors
#
# What two jurors have in common beyond the truth looks like reliability. Where the residual covariance of a pair is
# significant, it becomes a free parameter. Three jurors have no residuals, and four leave open which of two
# pairs it is.
# ---------------------------------------------------------------------------------------------------------------------

FALSE_ALARMS = 0.01  #: the share of tables of sound jurors on which each kind of alarm may be raised
MIN_JURORS_TO_TEST = 5  #: jurors, for a pair to be distinguished from the others
_COPY_CORRELATION, _COPY_ITEMS = 0.999, 10
_MOST_FREE = 25  # pairs; with more of them than jurors, one factor is no picture of the panel
_MOST_TRIED = 30  # pairs, of those that stand out most
_ROUNDING = 1e-9  # of a correlation: where a fit is exact, nothing else is left over, and no error to measure it by


@dataclass(frozen=True)
class SharedErrorTest:
    """The fit in which pairs with correlated errors are free."""

    factor: Factor
    copies: tuple[Pair, ...]  #: pairs that give the same numbers, up to unit and origin
    z_scores: dict[Pair, float]  #: pairs with correlated errors: residual covariance in standard errors

    @cached_property
    def influence(self) -> Influence:
        """Of the fit with free pairs."""
        return Influence.of(self.factor)

    def error_correlation(self, pair: Pair) -> float:
        """The correlation of two jurors' errors, scales the right way up; NaN where their variance is not positive."""
        variance = self.factor.error_variance[list(pair)]
        return float(self.error_covariance(pair) / np.sqrt(variance.prod())) if (variance > 0).all() else float("nan")

    def error_covariance(self, pair: Pair) -> float:
        """The residual covariance, scales the right way up; below 0 where two avoid each other's errors."""
        explained = float(self.factor.loading[list(pair)].prod())
        residual = float(self.factor.moments.covariance[pair]) - explained
        return -residual if explained < 0 else residual


def fit_shared_errors(moments: Covariances) -> SharedErrorTest:
    """The factor, with pairs whose errors are correlated freed one after the other.

    First copies, then at each step the one pair that, freed, explains the other residuals best: a strong pair has bent
    the fit towards itself, so it need not be the one with the largest residual.

    Returns
    -------
    SharedErrorTest
        The last fit, and every pair that was or remained significant.
    """
    unadjusted = factor = fit_factor(moments)
    deviation, graded = np.sqrt(moments.variance), set(factor.graded.tolist())
    with np.errstate(invalid="ignore", divide="ignore"):
        is_copy = np.abs(moments.covariance) >= _COPY_CORRELATION * np.outer(deviation, deviation)
    is_copy &= (moments.shared >= _COPY_ITEMS) & np.outer(deviation > 0, deviation > 0)
    copies = tuple((int(i), int(j)) for i, j in np.argwhere(np.triu(is_copy, 1)) if {i, j} <= graded)
    free, z_scores = set[Pair](), dict[Pair, float]()
    for pair in sorted(copies, key=lambda pair: _likeness(moments, pair)):
        if (freed := _fit_with_free(moments, {*free, pair}, unadjusted)) is not None:
            factor, free = freed, {*free, pair}

    while not np.isnan(factor.loading).all() and (significant := _significant_residuals(factor)):
        jurors, candidates = factor.graded.tolist(), list[Pair]()
        if len(free) < min(len(jurors), _MOST_FREE) and len(jurors) >= MIN_JURORS_TO_TEST:
            candidates = [(i, j) for i in jurors for j in jurors if i < j and factor.weight[i, j] > 0]
            if len(candidates) > _MOST_TRIED:
                candidates = sorted(significant, key=lambda pair: -abs(significant[pair]))[:_MOST_TRIED]
        order = np.argsort(misfits_without(factor, candidates), kind="stable") if candidates else ()
        for pair in (candidates[k] for k in order):
            if (freed := _fit_with_free(moments, {*free, pair}, factor)) is not None:
                z_scores[pair] = significant.get(pair, max(significant.values(), key=abs))
                factor, free = freed, {*free, pair}
                break
        else:
            z_scores |= significant
            break
    return SharedErrorTest(factor, copies, z_scores)


def _likeness(moments: Covariances, pair: Pair) -> tuple[Any, ...]:
    """By which copies are ordered, the most alike first: by what the jurors answered, not by their places."""
    i, j = pair
    correlation = moments.covariance[i, j] / np.sqrt(moments.variance[i] * moments.variance[j])
    scales = sorted((float(moments.mean[k]), float(moments.variance[k])) for k in pair)
    return -round(abs(float(correlation)), 9), *scales


def _fit_with_free(moments: Covariances, free: set[Pair], factor: Factor) -> Factor | None:
    """The fit with these pairs free; None where the rest no longer identifies every graded juror's loading.

    That takes a triangle of fitted pairs through each juror, and no fewer pairs than jurors.
    """
    is_fitted = factor.weight > 0
    for i, j in free:
        is_fitted[i, j] = is_fitted[j, i] = False
    graded, adjacency = factor.graded, is_fitted.astype(np.float64)
    triangles = np.diag(adjacency @ adjacency @ adjacency)[graded]
    pairs = is_fitted[np.ix_(graded, graded)].sum() / 2
    if len(graded) < 4 or not (triangles > 0).all() or pairs < len(graded):
        return None
    return fit_factor(moments, free)


def _significant_residuals(factor: Factor) -> dict[Pair, float]:
    """The fitted pairs whose residual covariance is significant (Bonferroni over pairs), in standard errors."""
    graded = factor.graded
    if len(graded) < 4:  # three jurors have no residuals
        return {}
    among_graded, pairs = np.ix_(graded, graded), len(graded) * (len(graded) - 1) // 2
    limit = float(special.ndtri(1 - FALSE_ALARMS / (2 * max(pairs, 1))))
    deviation = np.sqrt(factor.moments.variance)
    residual = factor.moments.covariance - np.outer(factor.loading, factor.loading)
    residual = np.where(np.abs(residual) > _ROUNDING * np.outer(deviation, deviation), residual, 0.0)[among_graded]
    error = Influence.of(factor).residual_errors()
    z = np.divide(residual, error, where=error > 0, out=np.zeros_like(residual))
    is_significant = (np.abs(z) > limit) & (factor.weight[among_graded] > 0)
    return {(int(graded[i]), int(graded[j])): float(z[i, j]) for i, j in np.argwhere(np.triu(is_significant, 1))}
