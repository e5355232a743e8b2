"""The moment fit of a binary panel: one factor explains how all pairs move together.

Independent jurors have C_ij = b_i b_j with b_i = √(P_A P_B) (P_iA + P_iB - 1), and trio moments tau·b_i b_j b_k with
tau = (P_A - P_B)/√(P_A P_B). Fitted by weighted least squares on correlations, with pairs that stick out weighed down,
this asks nothing of single items, and what is left over of each pair is the estimate of its error correlation.
`rivals/rank_one` solves the same problem for other pair statistics, sparse and to the last digit, within bounds of its
own; here weights change with the residuals, so a few sweeps each are enough, and the two would end in other digits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jurors.numbers.arrays import Flags, Floats, Integers
from jurors.sketch import Sketch
from jurors.sketch.pairs import parts_of
from jurors.sketch.panel_moments import PairMoments, pair_moments

_ROUNDS = 6  # reweightings
_CUT = 2.5  # standard errors at which a pair that shares many items has half its weight
_FEW = 10.0  # shared items at which twice as many are asked for: so few lie far from their mean by chance
_NEARLY_ONE = 0.999


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


def fit_factor(sketch: Sketch, left_out: Flags | None = None) -> FactorFit:
    """Fit one factor to the pair moments, then the prevalence to the third moment.

    Pairs that are `left_out` (N, N) do not take part in the fit, but get their residual too.
    """
    pairs = pair_moments(sketch)
    share = pairs.share
    spread = np.maximum(share * (1 - share), 1e-12)
    beta = _fit_loadings(pairs, spread, np.zeros(pairs.items.shape, dtype=bool) if left_out is None else left_out)
    loading = beta * np.sqrt(spread)
    tau = _third_moment(sketch, share, loading, 1 / (spread * (1 - beta**2)))
    prevalence = (1 + tau / np.sqrt(4 + tau**2)) / 2
    if loading.sum() < 0:
        loading, prevalence = -loading, 1 - prevalence
    ratio = np.sqrt(prevalence / (1 - prevalence))
    accuracy = np.stack([1 - share + loading / ratio, share + ratio * loading], axis=1)
    residual = np.where(pairs.items > 1, pairs.covariance - np.outer(loading, loading), 0.0)
    return FactorFit(
        float(prevalence),
        accuracy,
        loading,
        pairs,
        residual,
        residual_errors(pairs, sketch.items, float(prevalence), accuracy),
    )


def _fit_loadings(pairs: PairMoments, spread: Floats, left_out: Flags) -> Floats:
    scale = np.sqrt(spread)
    r = pairs.covariance / np.outer(scale, scale)
    shared = np.where(left_out, 0.0, np.maximum(pairs.items - 1, 0.0))
    cut = _CUT * (1 + _FEW / np.maximum(pairs.items, 1.0))
    values, vectors = np.linalg.eigh(np.where(left_out, 0.0, r))
    beta = vectors[:, -1] * np.sqrt(max(float(values[-1]), 1e-6))
    weights = shared
    for _ in range(_ROUNDS):
        beta = _descend(r, weights, beta)
        common = np.outer(beta * scale, beta * scale)
        left = pairs.covariance - common
        weights = shared / (1 + (left / cut) ** 2 / pairs.variances(common))
    return _descend(r, weights, beta)


def _descend(r: Floats, weights: Floats, beta: Floats, sweeps: int = 40) -> Floats:
    """Coordinate descent on Σ w_ij (r_ij - β_i β_j)²."""
    beta = beta.copy()
    weighted, squares = weights * r, beta**2
    for _ in range(sweeps):
        before = beta.copy()
        for i in range(len(beta)):
            below = weights[i] @ squares
            if below > 0:
                beta[i] = min(max(weighted[i] @ beta / below, -_NEARLY_ONE), _NEARLY_ONE)
                squares[i] = beta[i] ** 2
        if np.abs(beta - before).max() < 1e-7:
            break
    return beta


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
    p1, p2, p3 = (np.bincount(row, weights=values**k, minlength=rows) for k in (1, 2, 3))
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
