"""Theorem 2 for many trios at once, in floats: thousands of sketches, or every trio of a panel, in one pass.

With m_i the share of second-label answers, C the pair and T the trio moments (indices of the *other* two jurors):
    s = ±√(T² + 4 C_12 C_13 C_23),  P_A = (1 + T/s)/2,
    P_iA = 1 - m_i + (s - T)/(2 C_jk),  P_iB = m_i + (s + T)/(2 C_jk).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jurors.errors import SketchError

Floats = NDArray[np.float64]

#: What became of a trio, by code.
OUTCOMES = ("real", "out_of_range", "complex", "degenerate", "no_items")
#: The eight decision tuples in the order of a flattened table; 1 is the second label.
TUPLE_VALUES = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], dtype=float)


@dataclass(frozen=True)
class TrioMoments:
    """Moments of many trios; the last axis of `pair` is the juror left out."""

    items: Floats
    single: Floats  #: (…, 3) m_i
    pair: Floats  #: (…, 3) C of the two other jurors
    trio: Floats  #: (…) T


@dataclass(frozen=True)
class DecodedTrios:
    """The chosen solution of each trio; NaN where there is none. The mirror is 1 - everything, labels swapped."""

    moments: TrioMoments
    root: Floats  #: s, signed so that total accuracy is greatest; NaN where complex
    prevalence: Floats  #: (…) of the first label
    accuracy: Floats  #: (…, 3, 2) by juror and label
    outcome: NDArray[np.int8]  #: position in OUTCOMES


def table_moments(tables: ArrayLike) -> TrioMoments:
    """Moments of counts shaped (…, 2, 2, 2)."""
    counts = np.asarray(tables, dtype=float)
    if counts.shape[-3:] != (2, 2, 2):
        raise SketchError(f"trio counts need the shape (…, 2, 2, 2), got {counts.shape}")
    flat = counts.reshape((*counts.shape[:-3], 8))
    items = flat.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = flat / items[..., None]
    single = shares @ TUPLE_VALUES
    centred = TUPLE_VALUES - single[..., None, :]  # (…, 8, 3)
    a, b, c = centred[..., 0], centred[..., 1], centred[..., 2]
    pair = np.stack([(shares * x * y).sum(axis=-1) for x, y in ((b, c), (a, c), (a, b))], axis=-1)
    return TrioMoments(items, single, pair, (shares * a * b * c).sum(axis=-1))


def decode_trios(moments: TrioMoments) -> DecodedTrios:
    """The solution of greatest total label accuracy of every trio, and what became of it."""
    pair, trio, single = moments.pair, moments.trio, moments.single
    radicand = trio**2 + 4 * pair.prod(axis=-1)
    # A pair moment is a multiple of 1/Q², so anything below half of that is an exact zero in rounding noise.
    noise = np.maximum(0.5 / np.maximum(moments.items, 1.0) ** 2, 1e-15)
    degenerate = (np.abs(pair) < noise[..., None]).any(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        sign = np.where((1 / pair).sum(axis=-1) < 0, -1.0, 1.0)
        root = sign * np.sqrt(np.where(radicand > 0, radicand, np.nan))
        root = np.where(degenerate, np.nan, root)
        prevalence = (1 + trio / root) / 2
        first = 1 - single + (root - trio)[..., None] / (2 * pair)
        second = single + (root + trio)[..., None] / (2 * pair)
    accuracy = np.stack([first, second], axis=-1)
    outside = ((accuracy < 0) | (accuracy > 1)).any(axis=(-1, -2)) | (prevalence < 0) | (prevalence > 1)
    outcome = np.select([moments.items == 0, degenerate, ~(radicand > 0), outside], [4, 3, 2, 1], default=0).astype(
        np.int8
    )
    return DecodedTrios(moments, root, prevalence, accuracy, outcome)


def evaluate_trios(tables: ArrayLike) -> DecodedTrios:
    """Decode many 2x2x2 tables of counts at once.

    Examples
    --------
    The paper's Table 1, twice:

    >>> table = [568, 553, 649, 1068, 1813, 3607, 3534, 8208]
    >>> decoded = evaluate_trios(np.array([table, table]).reshape(2, 2, 2, 2))
    >>> decoded.prevalence.round(4).tolist(), [OUTCOMES[k] for k in decoded.outcome]
    ([0.0887, 0.0887], ['real', 'real'])
    """
    return decode_trios(table_moments(tables))


def trio_influences(tables: ArrayLike, decoded: DecodedTrios) -> dict[str, Any]:
    """How each decision tuple pulls at each statistic: influence functions of the decode, (…, 8) tuples last.

    Keys: `prevalence` (…, 8), `accuracy` (…, 3, 2, 8). From z = x - m: IF(C_jk) = z_j z_k - C_jk,
    IF(T) = z_1 z_2 z_3 - T - Σ z_i C_jk, IF(m_i) = z_i, pushed through the differentials of the formulas above.
    """
    m, s = decoded.moments, decoded.root[..., None]
    z = np.moveaxis(TUPLE_VALUES - m.single[..., None, :], -1, -2)  # (…, 3, 8)
    pair, trio = m.pair[..., None], m.trio[..., None]
    others = z[..., [1, 0, 0], :] * z[..., [2, 2, 1], :]
    d_pair = others - pair
    d_trio = z.prod(axis=-2) - trio - (z * pair).sum(axis=-2)
    product = m.pair.prod(axis=-1)[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        d_product = product * (d_pair / pair).sum(axis=-2)
        d_root = (trio * d_trio + 2 * d_product) / s
        d_prevalence = (2 * product * d_trio - trio * d_product) / s**3
        s3, t3, dt3, ds3 = s[..., None, :], trio[..., None, :], d_trio[..., None, :], d_root[..., None, :]
        d_first = -z + (ds3 - dt3) / (2 * pair) - (s3 - t3) * d_pair / (2 * pair**2)
        d_second = z + (ds3 + dt3) / (2 * pair) - (s3 + t3) * d_pair / (2 * pair**2)
    return {"prevalence": d_prevalence, "accuracy": np.stack([d_first, d_second], axis=-2)}
