"""One factor, fitted to pairwise covariances: c_ij = loading_i loading_j for every two jurors.

Three jurors are solved in closed form (`exact_trio.py`). Of more, Σ n_ij (r_ij - loading_i loading_j)² is least, over
correlations r_ij on the n_ij items that both judged. Weights by noise, as maximum likelihood has them, were tried: no
better (benchmarks/ratings.py), and a copy of a juror runs away with them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from jurors.errors import DegenerateSketchError
from jurors.numbers.arrays import Floats, Integers
from jurors.values.factor.covariances import Covariances
from jurors.values.factor.exact_trio import Outcome, Scale, on_panel_scale, solve_trio

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
    outcome: Outcome
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
    loading[used] = _upright(part) * np.sqrt(variance[used])
    is_above = bool((loading[used] ** 2 > variance[used]).any())
    outcome: Outcome = "above_variance" if is_above else "possible"
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


def _upright(part: Floats) -> Floats:
    """The sign that most of the reliability has is the right way up."""
    return part if float((part * np.abs(part)).sum()) >= 0 else -part
