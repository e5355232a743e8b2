"""`value_items`: the value of every item, from the numbers of jurors graded without a key."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from jurors._numeric import Flags, Floats, Integers, one_thread
from jurors.evaluate.alarms import Alarm, ranked
from jurors.numeric.data import read_numbers
from jurors.numeric.factor import Factor
from jurors.numeric.grade import Measured, about_values, measured, reference_validities, shown
from jurors.options import SourceOptions, Sureness
from jurors.results import Block, Columns, Notes, Result, Table

_CELLS = 4_000_000  # of stacked matrices at once


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemValues(Result):
    """A value for each item, on the panel's scale (see `NumberGrades`); NaN where nobody graded gave it a number."""

    items: NDArray[Any]
    value: Floats
    low: Floats  #: ends of the values' intervals as real juries go; NaN where the numbers fix no grades
    high: Floats
    independent_low: Floats  #: the same if errors were independent
    independent_high: Floats
    numbers: Integers  #: how many jurors' numbers it rests on
    level: float
    scale_why: str = ""  #: by what the votes are known to be numbers
    alarms: tuple[Alarm, ...] = ()

    _is_bare = True

    def _columns(self) -> Columns:
        names = ("value", "low", "high", "independent_low", "independent_high", "numbers")
        return {"item": self.items, **{name: getattr(self, name) for name in names}}

    def _document(self) -> dict[str, Any]:
        alarms = [alarm.to_dict() for alarm in self.alarms]
        about = {"scale": "interval", "scale_why": self.scale_why, "level": self.level}
        basis = about_values() if self._has_intervals else None
        return {**about, "basis": basis, "items": super()._document(), "alarms": alarms}

    def _blocks(self) -> Iterable[Block]:
        cells = zip(self.items.tolist(), self.value, self.low, self.high, self.numbers, strict=True)
        rows = [(str(name), *map(shown, ends), f"{n:,}") for name, *ends, n in cells]
        table = Table(("item", "value", "low", "high", "numbers"), tuple(rows), right=(1, 2, 3, 4))
        return [table, *([Notes((about_values(),))] if self._has_intervals else [])]

    @property
    def _has_intervals(self) -> bool:
        return not np.isnan(self.low).all()


def value_items(source: Any, *, level: float = 0.95, **reading: Unpack[SourceOptions]) -> ItemValues:
    r"""Value items by jurors' numbers: the best linear guess at the truth, each juror weighed by its grade.

    The truth is guessed from how it goes with each juror's number (see `grade_numbers`), drawn towards the mean item by
    as much as the numbers leave open; errors that go together are counted once.

    Parameters
    ----------
    source
        Whatever `read_votes` takes, a dataframe, or a matrix of items x jurors; options as in `read_numbers`.
    level
        How sure the intervals are.

    Examples
    --------
    >>> import io
    >>> rows = "item,ann,bob,cy\n1,1,2,10\n2,4,5,14\n3,3,4,22\n4,2,9,18\n5,6,7,27\n6,5,12,25\n"
    >>> print(value_items(io.StringIO(rows)))
      item  value    low   high  numbers
      1      5.91   0.48  11.34        3
      2      8.64   3.21  14.07        3
      3     13.08   7.65  18.51        3
      4     10.81   5.38  16.24        3
      5     16.38  10.95  21.81        3
      6     15.26   9.83  20.69        3
    <BLANKLINE>
    intervals as real juries go: they allow for errors that jurors share, ...
    """
    sure = Sureness(level=level)
    numbers = read_numbers(source, **reading)
    with one_thread():
        return values_by(measured(numbers), sure.level)


def values_by(shown_by: Measured, level: float) -> ItemValues:
    """The items' values by a fit; means where it fixes no grades, and an alarm."""
    numbers, fit = shown_by.numbers, shown_by.factor
    scale, alarms = fit.scale(), shown_by.alarms
    if scale is None:
        value = _means(numbers.values)
        reach = independent = np.full(len(numbers.items), np.nan)
        message = "the numbers fix no grades: values are plain means of the numbers, without intervals"
        alarms = ranked((*alarms, Alarm("mean_fallback", "warning", message)))
    else:
        guess, left = best_guess(fit)
        spread = np.sqrt(scale.variance)
        value = scale.mean + spread * guess
        reach = spread * reference_validities().reach(left, level)
        independent = spread * float(ndtri((1 + level) / 2)) * left
    rests = numbers.given[:, fit.graded].sum(axis=1) if scale is not None else numbers.given.sum(axis=1)
    value = np.where(rests > 0, value, np.nan)
    return ItemValues(
        items=numbers.items,
        value=value,
        low=value - reach,
        high=value + reach,
        independent_low=value - independent,
        independent_high=value + independent,
        numbers=rests,
        level=level,
        scale_why=numbers.scale_why,
        alarms=alarms,
    )


def _means(values: Floats) -> Floats:
    given = ~np.isnan(values)
    return np.asarray(np.nansum(values, axis=1) / np.maximum(given.sum(axis=1), 1))


def best_guess(fit: Factor) -> tuple[Floats, Floats]:
    """Of each item: the truth in standard deviations from the mean, and the error's standard deviation.

    Regression of the truth on the numbers that are there, once for every pattern of gaps.
    """
    some = fit.graded
    patterns, which = np.unique(fit.moments.given[:, some] > 0, axis=0, return_inverse=True)
    which, loading = which.ravel(), fit.loading[some]
    weight = _one_by_one(fit, patterns) if fit.outcome == "above_variance" else _all_at_once(fit, patterns)
    with np.errstate(invalid="ignore"):
        left = np.sqrt(1 - (weight * loading).sum(axis=1))
    guess = (weight[which] * fit.moments.centred[:, some]).sum(axis=1)
    return guess, np.asarray(left[which])


def _all_at_once(fit: Factor, patterns: Flags) -> Floats:
    """The weights of regression on all numbers, by the covariances that the model has; open pairs as they are."""
    some = fit.graded
    loading, seen = fit.loading[some], np.nan_to_num(fit.moments.covariance[np.ix_(some, some)])
    covariance = np.outer(loading, loading)
    np.fill_diagonal(covariance, np.diag(seen))
    place = {int(k): at for at, k in enumerate(some)}
    for pair in fit.free:
        i, j = (place[k] for k in pair)
        covariance[i, j] = covariance[j, i] = seen[i, j]
    weight = np.zeros(patterns.shape)
    step = max(1, _CELLS // len(some) ** 2)
    for start in range(0, len(patterns), step):
        part = patterns[start : start + step]
        stacked = np.where(part[:, :, None] & part[:, None, :], covariance, np.eye(len(some)))
        weight[start : start + step] = np.einsum("pij,pj->pi", np.linalg.pinv(stacked), part * loading)
    return weight


def _one_by_one(fit: Factor, patterns: Flags) -> Floats:
    """The weights where errors of negative variance make no sense of the model: each number as if it were alone."""
    some = fit.graded
    loading, seen = fit.loading[some], np.nan_to_num(fit.moments.covariance[np.ix_(some, some)])
    weight = patterns * (loading / np.diag(seen))
    spread = np.einsum("pi,ij,pj->p", weight, seen, weight)
    known = (weight * loading).sum(axis=1)
    return np.asarray(weight * np.divide(known, spread, where=spread > 0, out=np.zeros_like(known))[:, None])
