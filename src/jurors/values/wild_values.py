"""Wild values: a few numbers far off a juror's own scale (a slip of the decimal point, 9999) on items like any other.

A number within the scale that is far from the truth is an error, which the grades are about, and stays. Winsorised and
rank covariances were tried beside this (benchmarks/ratings.py): where nothing is wild they bend the grades, this does
not; where something is, this says what.
"""

from __future__ import annotations

import numpy as np

from jurors.numbers.arrays import Flags, Floats

_FEW = 0.05  # of a juror's numbers, at each end
_APART = 5.0  # standard deviations of all but the few
_TRIMMED = 1.27  # a normal's standard deviation over that of its middle nine tenths
_USUAL = 3.0  # the others find the item within so many
_FEWEST_CORE, _FEWEST_LEVELS = 5, 3


def wild_cells(values: Floats) -> Flags:
    """Items x jurors: which numbers stand apart from all others of their juror, though the others see nothing unusual.

    >>> table = np.add.outer(np.arange(12.0), [0, 5, 9])
    >>> table[4, 1] = 9999
    >>> np.argwhere(wild_cells(table)).tolist()
    [[4, 1]]
    """
    standing = [_standing(column) for column in values.T]
    apart = np.column_stack([far for far, _ in standing])
    unusual = np.column_stack([away for _, away in standing])
    wild = np.zeros_like(apart)
    for row, juror in np.argwhere(apart):
        others = np.delete(unusual[row], juror)
        known = others[~np.isnan(others)]
        wild[row, juror] = 2 * int((known < _USUAL).sum()) >= len(known)  # else it is the item that is unusual
    return wild


def _standing(column: Floats) -> tuple[Flags, Floats]:
    """Of one juror's numbers: which stand apart, and how many standard deviations each is from the middle."""
    apart, unusual = np.zeros(len(column), dtype=np.bool_), np.full(len(column), np.nan)
    order = np.argsort(column)[: int((~np.isnan(column)).sum())]
    sorted_values, few = column[order], max(1, int(_FEW * len(order)))
    core = sorted_values[few:-few]
    if len(core) < _FEWEST_CORE or 1 + np.count_nonzero(np.diff(core)) < _FEWEST_LEVELS:
        return apart, unusual
    spread = float(core.std()) * _TRIMMED
    if not spread > 0:  # of numbers so small that their squares are 0
        return apart, unusual
    steps = np.diff(sorted_values) > _APART * spread
    if steps[-few:].any():
        apart[order[len(order) - few + int(np.argmax(steps[-few:])) :]] = True
    if steps[:few].any():
        apart[order[: few - int(np.argmax(steps[:few][::-1]))]] = True
    unusual[order] = np.abs(sorted_values - np.median(core)) / spread
    return apart, unusual
