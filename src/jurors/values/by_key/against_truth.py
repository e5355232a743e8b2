"""Numbers beside their true values: correlation, error and line of each column, with intervals.

number = offset + slope x truth + error, by least squares. Intervals are by the jackknife, so that nothing is assumed of
how errors are distributed, nor that they are as large everywhere: of correlations on the scale of Fisher's z, of what
is positive on that of logarithms, where they are all but symmetric.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jurors.numbers.arrays import Floats, Integers
from jurors.numbers.jackknife import jackknife_ends
from jurors.values.factor.influence import squared_ends


@dataclass(frozen=True, eq=False, kw_only=True)
class AgainstTruth:
    """What the key says of each column; ends of intervals are two columns. NaN where it does not say."""

    numbers: Integers  #: how many have a true value
    correlation: Floats
    correlation_ends: Floats
    reliability: Floats  #: the squared correlation
    reliability_ends: Floats
    rmse: Floats  #: the root of the mean squared error
    rmse_ends: Floats
    bias: Floats  #: the mean error
    bias_ends: Floats
    slope: Floats  #: by how much the number grows where the truth grows by 1
    slope_ends: Floats
    offset: Floats  #: the number where the truth is 0, error apart
    offset_ends: Floats
    noise: Floats  #: the standard deviation of what the line leaves over, by degrees of freedom
    noise_ends: Floats


def against_truth(values: Floats, truth: Floats, level: float) -> AgainstTruth:
    """Each column of items x columns, over the items that have both a number and a true value.

    >>> told = against_truth(np.array([[3.0], [5.0], [7.0], [9.5]]), np.array([1.0, 2.0, 3.0, 4.0]), 0.95)
    >>> told.slope.round(2).tolist(), told.bias.round(3).tolist(), told.rmse.round(3).tolist()
    ([2.15], [3.625], [3.849])
    """
    known = ~np.isnan(values) & ~np.isnan(truth)[:, None]
    columns = [_column(column[both], truth[both], level) for column, both in zip(values.T, known.T, strict=True)]
    counted = known.sum(axis=0)
    return AgainstTruth(numbers=counted, **{name: np.array([one[name] for one in columns]) for name in _NAMES})


_MEASURES = ("correlation", "reliability", "rmse", "bias", "slope", "offset", "noise")
_NAMES = (*_MEASURES, *(f"{name}_ends" for name in _MEASURES))


def _column(number: Floats, truth: Floats, level: float) -> dict[str, Floats | float]:
    told: dict[str, Floats | float] = {
        name: np.full(2, np.nan) if name.endswith("_ends") else float("nan") for name in _NAMES
    }
    items = len(number)
    if not items:
        return told
    centre = truth.mean(), number.mean()  # so that no digits are lost in squares
    each = _powers(truth - centre[0], number - centre[1])
    whole = _measures(each.sum(axis=1), items, *centre)
    apart = _measures(each.sum(axis=1)[:, None] - each, items - 1, *centre)
    for name, value in whole.items():
        told[name] = float(value)
        told[f"{name}_ends"] = jackknife_ends(float(value), apart[name], level, *_SCALES.get(name, ()))
    if np.ptp(number) == 0:  # rounding may leave a little
        told |= {"correlation": float("nan"), "correlation_ends": np.full(2, np.nan)}
    told["reliability"] = float(told["correlation"]) ** 2
    told["reliability_ends"] = squared_ends(np.array([told["correlation_ends"]]))[0]
    return told


def _powers(x: Floats, y: Floats) -> Floats:
    return np.array([x, y, x * x, x * y, y * y])


def _measures(sums: Floats, items: int, x0: float, y0: float) -> dict[str, Floats]:
    """All from sums of powers around x0 and y0, of one sample or of several."""
    with np.errstate(invalid="ignore", divide="ignore"):
        x, y, xx, xy, yy = sums / items
        across, both, along = xx - x * x, xy - x * y, yy - y * y
        slope = np.where(across > _LITTLE * xx, both / across, np.nan)
        left = np.maximum(along - slope * both, 0.0)  # squares of what the line leaves over: below 0 by rounding alone
        away = y0 - x0
        return {
            "bias": y - x + away,
            "rmse": np.sqrt(np.maximum(xx - 2 * xy + yy + 2 * away * (y - x) + away**2, 0.0)),
            "slope": slope,
            "offset": y + y0 - slope * (x + x0),
            "noise": np.sqrt(left * items / (items - 2)) if items > 2 else np.full_like(x, np.nan),
            "correlation": slope * np.sqrt(across / along),
        }


_LITTLE = 1e-12  # of a sum of squares, left by rounding


_SCALES = {"correlation": (np.arctanh, np.tanh), "rmse": (np.log, np.exp), "noise": (np.log, np.exp)}
