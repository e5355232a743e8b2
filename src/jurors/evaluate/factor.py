"""The moment fit of a binary panel: one factor explains how all pairs move together.

Independent jurors have C_ij = b_i b_j with b_i = √(P_A P_B) (P_iA + P_iB - 1), and trio moments tau·b_i b_j b_k with
tau = (P_A - P_B)/√(P_A P_B). Fitted by weighted least squares on correlations, with pairs that stick out weighed down,
this asks nothing of single items, and what is left over of each pair is the estimate of its error correlation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors.errors import SketchError
from jurors.evaluate.pairs import Pairs
from jurors.sketch import Sketch

Floats: TypeAlias = NDArray[np.float64]

MOST_JURORS = 2_000  #: pairs of more jurors would not fit a matrix comfortably
_ROUNDS = 6  # reweightings
_CUT = 2.5  # standard errors at which a pair has half its weight
_NEARLY_ONE = 0.999


@dataclass(frozen=True)
class PairMoments:
    """Covariances of binary jurors, each pair on the items both answered. x = 1 where a juror said the second label."""

    items: Floats  #: (N, N) items both answered
    mean: Floats  #: (N, N) [i, j]: mean of x_i on the items that i and j answered
    covariance: Floats  #: (N, N), 0 where no item is shared

    def standard_errors(self) -> Floats:
        """n se² = v_i v_j + (1-2m_i)(1-2m_j) C - C²; infinite where no item is shared."""
        m, other, c = self.mean, self.mean.T, self.covariance
        variance = m * (1 - m) * other * (1 - other) + (1 - 2 * m) * (1 - 2 * other) * c - c**2
        with np.errstate(divide="ignore"):
            return np.asarray(np.sqrt(np.maximum(variance, 1e-12) / self.items))


def pair_moments(sketch: Sketch) -> tuple[PairMoments, Floats]:
    """Covariances of all pairs of binary jurors, and each juror's own share of second-label answers."""
    width = len(sketch.jurors)
    if len(sketch.labels) != 2:
        raise SketchError(f"pair moments are not available for {len(sketch.labels)} labels, only for two")
    if width > MOST_JURORS:
        raise SketchError(f"pairs of {width:,} jurors are too many; take at most {MOST_JURORS:,}")
    pairs = Pairs(sketch)
    at, back = (pairs.first, pairs.second), (pairs.second, pairs.first)
    items, mean, covariance = (np.zeros((width, width)) for _ in range(3))
    items[at] = items[back] = pairs.items
    mean[at], mean[back] = pairs.count(1, None) / pairs.items, pairs.count(None, 1) / pairs.items
    covariance[at] = covariance[back] = pairs.count(1, 1) / pairs.items - mean[at] * mean[back]
    row, col, code = sketch.tuples.triples()
    weights = sketch.counts[row].astype(float)
    cast = np.bincount(col, weights=weights, minlength=width)
    share = np.bincount(col, weights=weights * (code == 1), minlength=width) / np.maximum(cast, 1)
    return PairMoments(items, mean, covariance), share


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
        """Residuals in standard errors; 0 where a pair shares no item."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(self.error > 0, self.residual / self.error, 0.0))


def fit_factor(sketch: Sketch, left_out: NDArray[np.bool_] | None = None) -> FactorFit:
    """Fit one factor to the pair moments, then the prevalence to the third moment.

    Pairs that are `left_out` (N, N) do not take part in the fit, but get their residual too.
    """
    pairs, share = pair_moments(sketch)
    spread = np.maximum(share * (1 - share), 1e-12)
    beta = _fit_loadings(pairs, spread, np.zeros(pairs.items.shape, dtype=bool) if left_out is None else left_out)
    loading = beta * np.sqrt(spread)
    tau = _third_moment(sketch, share, loading, 1 / (spread * (1 - beta**2)))
    prevalence = (1 + tau / np.sqrt(4 + tau**2)) / 2
    if loading.sum() < 0:
        loading, prevalence = -loading, 1 - prevalence
    ratio = np.sqrt(prevalence / (1 - prevalence))
    accuracy = np.stack([1 - share + loading / ratio, share + ratio * loading], axis=1)
    residual = np.where(pairs.items > 0, pairs.covariance - np.outer(loading, loading), 0.0)
    return FactorFit(
        float(prevalence),
        accuracy,
        loading,
        pairs,
        residual,
        residual_errors(pairs, sketch.items, float(prevalence), accuracy),
    )


def _fit_loadings(pairs: PairMoments, spread: Floats, left_out: NDArray[np.bool_]) -> Floats:
    scale = np.sqrt(spread)
    r = pairs.covariance / np.outer(scale, scale)
    shared, error = np.where(left_out, 0.0, pairs.items), pairs.standard_errors()
    values, vectors = np.linalg.eigh(np.where(left_out, 0.0, r))
    beta = vectors[:, -1] * np.sqrt(max(float(values[-1]), 1e-6))
    weights = shared
    for _ in range(_ROUNDS):
        beta = _descend(r, weights, beta)
        left = pairs.covariance - np.outer(beta * scale, beta * scale)
        weights = shared / (1 + (left / error / _CUT) ** 2)
    return _descend(r, weights, beta)


def _descend(r: Floats, weights: Floats, beta: Floats, sweeps: int = 40) -> Floats:
    """Coordinate descent on Σ w_ij (r_ij - β_i β_j)²."""
    beta = beta.copy()
    weighted = weights * r
    for _ in range(sweeps):
        before = beta.copy()
        for i in range(len(beta)):
            below = weights[i] @ beta**2
            if below > 0:
                beta[i] = min(max(weighted[i] @ beta / below, -_NEARLY_ONE), _NEARLY_ONE)
        if np.abs(beta - before).max() < 1e-7:
            break
    return beta


def _third_moment(sketch: Sketch, share: Floats, loading: Floats, precision: Floats) -> float:
    """tau from Σ e_3(y) over tuples, y_i = (x_i - m_i) b_i g_i: the best weights for the trios, all at once."""
    row, col, code = sketch.tuples.triples()
    y = ((code == 1) - share[col]) * (loading * precision)[col]
    expected = (loading**2 * precision)[col]
    rows, weights = sketch.tuples.rows, sketch.counts
    below = float(weights @ _elementary(row, expected, rows))
    return float(weights @ _elementary(row, y, rows)) / below if abs(below) > 1e-12 else 0.0


def _elementary(row: NDArray[np.int64], values: Floats, rows: int) -> Floats:
    """The third elementary symmetric polynomial of each row's values, from power sums."""
    p1, p2, p3 = (np.bincount(row, weights=values**k, minlength=rows) for k in (1, 2, 3))
    return np.asarray((p1**3 - 3 * p1 * p2 + 2 * p3) / 6)


def residual_errors(pairs: PairMoments, items: int, prevalence: float, accuracy: Floats) -> Floats:
    """The standard error of each residual under independence; 0 where a pair shares no item.

    On items that everybody answered only the errors are random, n se² = P_A vA_i vA_j + P_B vB_i vB_j with
    v = accuracy (1 - accuracy). A pair that shares a part of the items is also off because that part is not the whole:
    of what else a covariance varies by, the share of the items it lacks counts.
    """
    inside = np.clip(accuracy, 0.005, 0.995)  # a variance cannot be negative; the grades themselves are not touched
    v = inside * (1 - inside)
    total = prevalence * np.outer(v[:, 0], v[:, 0]) + (1 - prevalence) * np.outer(v[:, 1], v[:, 1])
    met = pairs.items > 0
    n = np.where(met, pairs.items, 1.0)
    of_errors = total / n
    rest = np.maximum(np.where(met, pairs.standard_errors(), 0.0) ** 2 - of_errors, 0.0)
    return np.asarray(np.where(met, np.sqrt(of_errors + (1 - n / max(items, 1)) * rest), 0.0))
