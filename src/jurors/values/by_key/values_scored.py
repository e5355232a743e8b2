"""Values of items beside the true ones: those that graded jurors give, and plain means and medians."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from jurors.numbers.arrays import Floats
from jurors.values.by_key.against_truth import against_truth
from jurors.values.item_values import ItemValues
from jurors.values.number_grades import shown

_CALLED = {"grades": "by grades (label)", "mean": "mean of the numbers", "median": "median of the numbers"}


@dataclass(frozen=True)
class ValuesScored:
    """How near one way of valuing items comes to the true values."""

    by: str  #: "grades" (as `value_items` does), "mean" or "median"
    items: int  #: that have a value and a true one
    rmse: float
    bias: float
    correlation: float
    rank_correlation: float
    inside: float = float("nan")  #: the share of true values inside their intervals, as real juries go
    independent_inside: float = float("nan")  #: the same if errors were independent

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it: null where there is no such number."""
        return {name: None if value != value else value for name, value in asdict(self).items()}

    def cells(self) -> tuple[str, ...]:
        """A row to read."""
        inside = "" if self.inside != self.inside else f"{self.inside:.1%}"
        measures = (self.rmse, self.bias, self.correlation, self.rank_correlation)
        return _CALLED[self.by], f"{self.items:,}", *map(shown, measures), inside


def values_scored(numbers: Floats, truth: Floats, valued: ItemValues | None) -> tuple[ValuesScored, ...]:
    """Of items x jurors; without grades, means and medians alone.

    >>> numbers, truth = np.array([[1.0, 2], [2, 4], [5, np.nan]]), np.array([1.0, 3, 5])
    >>> [(one.by, round(one.rmse, 3), round(one.rank_correlation, 3)) for one in values_scored(numbers, truth, None)]
    [('mean', 0.289, 1.0), ('median', 0.289, 1.0)]
    """
    some = ~np.isnan(numbers).all(axis=1)
    mean, median = np.full((2, len(numbers)), np.nan)
    mean[some], median[some] = np.nanmean(numbers[some], axis=1), np.nanmedian(numbers[some], axis=1)
    graded = () if valued is None else (_scored("grades", valued.value, truth, valued),)
    return (*graded, _scored("mean", mean, truth), _scored("median", median, truth))


def _scored(by: str, value: Floats, truth: Floats, ends: ItemValues | None = None) -> ValuesScored:
    from scipy.stats import rankdata

    known = ~np.isnan(value) & ~np.isnan(truth)
    value, true = value[known], truth[known]
    plain, ranks = (
        against_truth(one[:, None], two, 0.95) for one, two in ((value, true), (rankdata(value), rankdata(true)))
    )
    inside = [] if ends is None else [_inside(low[known], true, high[known]) for low, high in _intervals(ends)]
    measures = (plain.rmse, plain.bias, plain.correlation, ranks.correlation)
    return ValuesScored(by, len(value), *(float(one[0]) for one in measures), *inside)


def _intervals(ends: ItemValues) -> tuple[tuple[Floats, Floats], ...]:
    return (ends.low, ends.high), (ends.independent_low, ends.independent_high)


def _inside(low: Floats, true: Floats, high: Floats) -> float:
    there = ~np.isnan(low)
    return float(((low <= true) & (true <= high))[there].mean()) if there.any() else float("nan")
