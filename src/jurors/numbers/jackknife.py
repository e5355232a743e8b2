"""Intervals from what each item moves when it is left out: nothing is assumed of how numbers are distributed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import stdtrit

from jurors.numbers.arrays import Floats

_FEWEST = 3  # items, for an interval


def jackknife_ends(
    value: float,
    apart: Floats,
    level: float,
    to: Callable[[Any], Any] = np.asarray,
    back: Callable[[Any], Any] = np.asarray,
) -> Floats:
    """Ends of what takes the values `apart` where each item is left out, on a scale that makes it all but symmetric.

    NaN where items are too few to tell; the value itself where it has no error at all, or is at the scale's end.

    Examples
    --------
    >>> said = np.array([1.0, 2.0, 4.0, 5.0])
    >>> jackknife_ends(3.0, (said.sum() - said) / 3, 0.95).round(2).tolist()  # Student's interval of a mean
    [0.09, 5.91]
    """
    items = len(apart)
    if items < _FEWEST:
        return np.full(2, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        centre, moved = to(np.float64(value)), to(apart)
        if not np.isfinite(centre):
            return np.full(2, value)
        error = np.sqrt((items - 1) / items * ((moved - moved.mean()) ** 2).sum())
        z = float(stdtrit(items - 1, (1 + level) / 2))
        return np.asarray(back(np.array([centre - z * error, centre + z * error])))
