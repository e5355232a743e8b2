"""Theorem 2 for many trios at once, in floats: thousands of sketches, or every trio of a panel, in one pass.

With m_i the share of second-label answers, C the pair and T the trio moments (indices of the *other* two jurors):
    s = ±√(T² + 4 C_12 C_13 C_23),  P_A = (1 + T/s)/2,
    P_iA = 1 - m_i + (s - T)/(2 C_jk),  P_iB = m_i + (s + T)/(2 C_jk).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jurors.numbers.arrays import Floats
from jurors.sketch.moments import TrioMoments, table_moments

#: What became of a trio, by code.
OUTCOMES = ("real", "out_of_range", "complex", "degenerate", "no_items")


@dataclass(frozen=True)
class DecodedTrios:
    """The chosen solution of each trio; NaN where there is none. The mirror is 1 - everything, labels swapped."""

    moments: TrioMoments
    root: Floats  #: s, signed so that total accuracy is greatest; NaN where complex
    prevalence: Floats  #: (…) of the first label
    accuracy: Floats  #: (…, 3, 2) by juror and label
    outcome: NDArray[np.int8]  #: position in OUTCOMES


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
