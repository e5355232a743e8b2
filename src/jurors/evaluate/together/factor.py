"""The moment fit of a binary panel: one factor explains how all pairs move together.

Independent jurors have C_ij = b_i b_j with b_i = √(P_A P_B) (P_iA + P_iB - 1), and trio moments tau·b_i b_j b_k with
tau = (P_A - P_B)/√(P_A P_B). Fitted by weighted least squares on correlations, with pairs that stick out weighed down,
this asks nothing of single items, and what is left over of each pair is the estimate of its error correlation.
`rivals/rank_one` solves the same problem for other pair statistics, sparse and to the last digit, within bounds of its
own; here weights change with the residuals, so a few sweeps each are enough, and the two would end in other digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jurors.numbers.arrays import Flags, Floats, Integers
from jurors.numbers.squarem import long_step
from jurors.sketch import Sketch
from jurors.sketch.pairs import Pairs, parts_of
from jurors.sketch.panel_moments import PairMoments, pair_moments

_ROUNDS = 6  # reweightings
_CUT = 2.5  # standard errors at which a pair that shares many items has half its weight
_FEW = 10.0  # shared items at which twice as many are asked for: so few lie far from their mean by chance
_NEARLY_ONE = 0.999
_SWEEPS, _SETTLED, _LONGEST = 100, 5e-8, 16.0
_MANY = 60  # jurors from which single eigenvectors, and sparse tables, are worth a method of their own
_FULL = 0.1  # of the pairs: a product with a sparse table of more takes longer


@dataclass(frozen=True)
class FactorFit:
    """Grades from moments alone, and what they leave unexplained."""

    prevalence: float  #: of the first label
    accuracy: Floats  #: (N, 2)
    loading: Floats  #: b, (N,)
    pairs: PairMoments
    residual: Floats  #: (N, N) covariance beyond the factor: an estimate of P_A Γ_A + P_B Γ_B
    error: Floats  #: (N, N) its standard error under independence

    @property
    def z(self) -> Floats:
        """Residuals in standard errors; 0 where a pair shares no two items."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(self.error > 0, self.residual / self.error, 0.0))


def fit_factor(pairs: Pairs, left_out: Flags | None = None) -> FactorFit:
    """Fit one factor to the pair moments, then the prevalence to the third moment.

    Pairs that are `left_out` (N, N) do not take part in the fit, but get their residual too.
    """
    moments, sketch = pair_moments(pairs), pairs.sketch
    share = moments.share
    spread = np.maximum(share * (1 - share), 1e-12)
    beta = _fit_loadings(moments, spread, np.zeros(moments.items.shape, dtype=bool) if left_out is None else left_out)
    loading = beta * np.sqrt(spread)
    tau = _third_moment(sketch, share, loading, 1 / (spread * (1 - beta**2)))
    prevalence = (1 + tau / np.sqrt(4 + tau**2)) / 2
    if loading.sum() < 0:
        loading, prevalence = -loading, 1 - prevalence
    ratio = np.sqrt(prevalence / (1 - prevalence))
    accuracy = np.stack([1 - share + loading / ratio, share + ratio * loading], axis=1)
    residual = np.where(moments.items > 1, moments.covariance - np.outer(loading, loading), 0.0)
    errors = residual_errors(moments, sketch.items, float(prevalence), accuracy)
    return FactorFit(float(prevalence), accuracy, loading, moments, residual, errors)


def _fit_loadings(pairs: PairMoments, spread: Floats, left_out: Flags) -> Floats:
    scale = np.sqrt(spread)
    r = pairs.covariance / np.outer(scale, scale)
    shared = np.where(left_out, 0.0, np.maximum(pairs.items - 1, 0.0))
    cut = _CUT * (1 + _FEW / np.maximum(pairs.items, 1.0))
    beta = _leading(np.where(left_out, 0.0, r))
    weights = shared
    for _ in range(_ROUNDS):
        beta = _descend(r, weights, beta)
        common = np.outer(beta * scale, beta * scale)
        left = pairs.covariance - common
        weights = shared / (1 + (left / cut) ** 2 / pairs.variances(common))
    return _descend(r, weights, beta)


def _leading(table: Floats) -> Floats:
    """The leading eigenvector of a symmetric table, as long as the root of its eigenvalue."""
    values, vectors = np.linalg.eigh(table) if len(table) < _MANY else _one_of_many(table)
    return np.asarray(vectors[:, -1] * np.sqrt(max(float(values[-1]), 1e-6)))


def _one_of_many(table: Floats) -> tuple[Floats, Floats]:
    """The leading eigenvalue and its vector alone, in a tenth of the time; all of them where none leads."""
    from scipy.sparse.linalg import ArpackError, eigsh

    try:
        values, vectors = eigsh(_quick(table), k=1, which="LA", v0=table.sum(axis=0) + 1.0, tol=1e-6)
    except ArpackError:  # nobody meets anybody, or many groups lead alike
        values, vectors = np.linalg.eigh(table)
    return values, vectors


def _descend(r: Floats, weights: Floats, beta: Floats) -> Floats:
    """Minimise Σ w_ij (r_ij - β_i β_j)²: every β_i half way to where it were best for the others, then a long step.

    All of them at once; one after the other takes half as many sweeps, each a hundred times as long for many jurors.
    """
    weighted, weights, safe, floor = _quick(weights * r), _quick(weights), beta, np.inf
    for _ in range(_SWEEPS):
        height, once = _half_way(weighted, weights, beta)
        if height > floor:  # the long step overshot
            beta = safe
            height, once = _half_way(weighted, weights, beta)
        floor, safe = _half_way(weighted, weights, once)
        if np.abs(safe - once).max() < _SETTLED:
            break
        beta = np.clip(long_step(beta, once, safe, _LONGEST), -_NEARLY_ONE, _NEARLY_ONE)
    return safe


def _quick(table: Floats) -> Any:
    """The same table, sparse where most pairs of many jurors share no items."""
    if len(table) < _MANY or np.count_nonzero(table) > _FULL * table.size:
        return table
    from scipy.sparse import csr_array

    return csr_array(table)


def _half_way(weighted: Any, weights: Any, beta: Floats) -> tuple[float, Floats]:
    """The sum of squares, but for a constant, and the next point."""
    squares = beta * beta
    above, below = weighted @ beta, weights @ squares
    best = np.divide(above, below, out=beta.copy(), where=below > 0)
    return float(squares @ below - 2 * (beta @ above)), (beta + np.clip(best, -_NEARLY_ONE, _NEARLY_ONE)) / 2


def _third_moment(sketch: Sketch, share: Floats, loading: Floats, precision: Floats) -> float:
    """tau from Σ e_3(y) over tuples, y_i = (x_i - m_i) b_i g_i: the best weights for the trios, all at once."""
    above = below = 0.0
    for part, _ in parts_of(sketch):
        row, col, code = part.tuples.triples()
        y = ((code == 1) - share[col]) * (loading * precision)[col]
        expected = (loading**2 * precision)[col]
        below += float(part.counts @ _elementary(row, expected, part.tuples.rows))
        above += float(part.counts @ _elementary(row, y, part.tuples.rows))
    return above / below if abs(below) > 1e-12 else 0.0


def _elementary(row: Integers, values: Floats, rows: int) -> Floats:
    """The third elementary symmetric polynomial of each row's values, from power sums."""
    squares = values * values
    powers = (values, squares, squares * values)  # numpy's own cube is a logarithm and an exponential
    p1, p2, p3 = (np.bincount(row, weights=power, minlength=rows) for power in powers)
    return np.asarray((p1**3 - 3 * p1 * p2 + 2 * p3) / 6)


def residual_errors(pairs: PairMoments, items: int, prevalence: float, accuracy: Floats) -> Floats:
    """The standard error of each residual under independence; 0 where a pair shares no two items.

    On items that everybody answered only the errors are random, n se² = P_A vA_i vA_j + P_B vB_i vB_j with
    v = accuracy (1 - accuracy). A pair that shares a part of the items is also off because that part is not the whole:
    of what else a covariance varies by, the share of the items it lacks counts.
    """
    inside = np.clip(accuracy, 0.005, 0.995)  # a variance cannot be negative; the grades themselves are not touched
    v = inside * (1 - inside)
    total = prevalence * np.outer(v[:, 0], v[:, 0]) + (1 - prevalence) * np.outer(v[:, 1], v[:, 1])
    loading = np.sqrt(prevalence * (1 - prevalence)) * (accuracy.sum(axis=1) - 1)
    met = pairs.items > 1
    n = np.where(met, pairs.items, 2.0)
    of_errors = total / (n - 1)
    rest = np.maximum(np.where(met, pairs.variances(np.outer(loading, loading)), 0.0) - of_errors, 0.0)
    return np.asarray(np.where(met, np.sqrt(of_errors + (1 - n / max(items, 1)) * rest), 0.0))
