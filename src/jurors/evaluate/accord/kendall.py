"""Kendall's W: how far jurors put the items in one order, whatever numbers they give them; corrected for ties.

With R_jt the mid-rank of item t among juror j's numbers, over the items on which all m jurors voted:
    W = Σ_t (Σ_j R_jt - mean)² / (m Σ_j Σ_t (R_jt - mean)²)
which is Kendall's formula with his correction for ties. m (n - 1) W is Friedman's statistic. Jurors who order at random
have W = 1 / m on average, not 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.evaluate.accord.alpha import lifted
from jurors.evaluate.accord.coefficient import Coefficient
from jurors.numbers.arrays import Floats, Integers


def kendall_w(codes: NDArray[Any], size: int, counts: Integers, level: float) -> Coefficient:
    """W with its interval over items; codes (tuples x jurors) are positions in `size` values in order.

    Examples
    --------
    >>> kendall_w(np.array([[0, 0], [1, 2], [2, 1]]), 3, np.ones(3, dtype=np.int64), 0.95).value
    0.75
    """
    width, items = codes.shape[1], int(counts.sum())
    if items < 2 or width < 2:
        return Coefficient("kendall_w", None, None, items)
    votes, weight = _votes(codes, size, counts), counts.astype(np.float64)
    ranks = np.cumsum(votes, axis=1) - votes / 2 - items / 2  # around 0: the mean rank of everybody
    jurors = np.arange(width)
    told = ranks[jurors, codes]
    total = told.sum(axis=1)
    own = float((votes * ranks**2).sum())
    together = float(weight @ total**2)
    if not own:
        return Coefficient("kendall_w", None, None, items)
    value = together / (width * own)
    pulled = _by_value(codes, 2 * (weight * total)[:, None], votes.shape)
    with_together, with_own = (lifted(slope) for slope in (pulled, 2 * votes * ranks))
    moved = (total**2 + with_together[jurors, codes].sum(axis=1)) / together if together else total
    moved = moved - ((told**2) + with_own[jurors, codes]).sum(axis=1) / own
    return Coefficient("kendall_w", None, value, items).over_items(value * moved * items, counts, level)


def _votes(codes: NDArray[Any], size: int, counts: Integers) -> Floats:
    """Jurors x values: how many items each juror gave each value."""
    return _by_value(codes, counts.astype(np.float64)[:, None], (codes.shape[1], size))


def _by_value(codes: NDArray[Any], values: Floats, shape: tuple[int, ...]) -> Floats:
    places = codes + np.arange(shape[0]) * shape[1]
    weights = np.broadcast_to(values, codes.shape).ravel()
    sums = np.bincount(places.ravel(), weights=weights, minlength=shape[0] * shape[1])
    return np.asarray(sums.reshape(shape), dtype=np.float64)
