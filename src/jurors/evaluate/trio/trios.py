"""Theorem 2 for many trios at once, in floats: thousands of sketches, or every trio of a panel, in one pass.

With m_i the share of second-label answers, C the pair and T the trio moments (indices of the *other* two jurors):
    s = ±√(T² + 4 C_12 C_13 C_23),  P_A = (1 + T/s)/2,
    P_iA = 1 - m_i + (s - T)/(2 C_jk),  P_iB = m_i + (s + T)/(2 C_jk).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jurors.errors import SketchError
from jurors.numbers.arrays import Floats

#: What became of a trio, by code.
OUTCOMES = ("real", "out_of_range", "complex", "degenerate", "no_items")
#: The eight decision tuples in the order of a flattened table; 1 is the second label.
TUPLE_VALUES = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], dtype=float)
_VALUES = np.ascontiguousarray(TUPLE_VALUES.T)  # by juror, tuples last
_NEAR, _FAR = np.array([1, 0, 0]), np.array([2, 2, 1])  # the two other jurors


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
    centred = _VALUES - single[..., None]  # (…, 3, 8)
    products = shares[..., None, :] * centred.take(_NEAR, -2) * centred.take(_FAR, -2)
    return TrioMoments(items, single, products.sum(axis=-1), (products[..., 2, :] * centred[..., 2, :]).sum(axis=-1))


def product_of_others(values: Floats, axis: int = -1) -> Floats:
    """For each of three jurors, along `axis`, what the two others have, multiplied."""
    return values.take(_NEAR, axis) * values.take(_FAR, axis)


def decode_trios(moments: TrioMoments) -> DecodedTrios:
    """The solution of greatest total label accuracy of every trio, and what became of it."""
    pair, trio, single = moments.pair, moments.trio, moments.single
    # A pair moment is a multiple of 1/Q², so anything below half of that is an exact zero in rounding noise.
    noise = np.maximum(0.5 / np.maximum(moments.items, 1.0) ** 2, 1e-15)
    degenerate = np.abs(pair).min(axis=-1) < noise
    radicand = trio**2 + 4 * pair.prod(axis=-1)
    is_real = radicand > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.where(is_real & ~degenerate, radicand, np.nan))
        root = np.where((1 / pair).sum(axis=-1) < 0, -root, root)
        prevalence = (1 + trio / root) / 2
        twice, up, down = 2 * pair, (root + trio)[..., None], (root - trio)[..., None]
        accuracy = np.empty((*pair.shape, 2))
        accuracy[..., 0] = 1 - single + down / twice
        accuracy[..., 1] = single + up / twice
    outside = ((accuracy < 0) | (accuracy > 1)).any(axis=(-1, -2)) | (prevalence < 0) | (prevalence > 1)
    outcome = np.where(is_real, np.where(outside, 1, 0), 2)
    outcome = np.where(moments.items == 0, 4, np.where(degenerate, 3, outcome)).astype(np.int8)
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


def moment_influences(m: TrioMoments) -> tuple[Floats, Floats, Floats]:
    """How each decision tuple pulls at each moment: influence functions, (…, 3, 8) tuples last, the trio's (…, 1, 8).

    From z = x - m: IF(m_i) = z_i, IF(C_jk) = z_j z_k - C_jk, IF(T) = z_1 z_2 z_3 - T - Σ z_i C_jk.
    """
    z = _VALUES - m.single[..., None]
    products = product_of_others(z, axis=-2)
    d_trio = z[..., :1, :] * products[..., :1, :] - m.trio[..., None, None] - m.pair[..., None, :] @ z
    return z, products - m.pair[..., None], d_trio
