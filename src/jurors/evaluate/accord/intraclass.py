"""Intraclass correlations: the share of the variance of numbers that is between items, in McGraw and Wong's six forms.

ICC(1): jurors differ from item to item (votes may be missing); ICC(A,1): one juror's number, jurors' levels count as
disagreement; ICC(C,1): they do not. ICC(1,k), ICC(A,k), ICC(C,k): the same of the mean of all k jurors. Intervals are
their F intervals (McGraw and Wong 1996, table 7), for errors that are normal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from jurors.evaluate.accord.coefficient import Coefficient
from jurors.numbers.arrays import Floats, Integers


def one_way(row: NDArray[np.integer], value: Floats, counts: Integers, level: float) -> Iterator[Coefficient]:
    """ICC(1) and ICC(1,k); with missing votes, k is the average of votes per item that Donner and Koval (1980) take."""
    cast = np.bincount(row, minlength=len(counts)).astype(np.float64)
    weight = np.where(cast > 0, counts, 0).astype(np.float64)
    items, total = float(weight.sum()), float(weight @ cast)
    names, number = ("icc_1", "icc_1k"), int(items)
    if items < 2 or total <= items:
        yield from (Coefficient(name, None, None, number) for name in names)
        return
    mean = np.bincount(row, weights=value, minlength=len(counts)) / np.maximum(cast, 1)
    grand = float((weight * cast) @ mean) / total
    between = float((weight * cast) @ (mean - grand) ** 2) / (items - 1)
    within = float(weight[row] @ (value - mean[row]) ** 2) / (total - items)
    each = (total - float(weight @ cast**2) / total) / (items - 1)
    yield from _ratios(names, number, _Squares(between, within, items - 1, total - items, each), level)


def two_way(codes: NDArray[np.integer], values: Floats, counts: Integers, level: float) -> Iterator[Coefficient]:
    """ICC(A,1), ICC(C,1), ICC(A,k), ICC(C,k), of items on which every juror voted."""
    table, weight = values[codes], counts.astype(np.float64)
    items, width = float(weight.sum()), codes.shape[1]
    names, number = ("icc_a1", "icc_ak", "icc_c1", "icc_ck"), int(items)
    if items < 2 or width < 2:
        yield from (Coefficient(name, None, None, number) for name in names)
        return
    by_item, by_juror = table.mean(axis=1), weight @ table / items
    grand = float(by_juror.mean())
    of_items = width * float(weight @ (by_item - grand) ** 2) / (items - 1)
    of_jurors = items * float(((by_juror - grand) ** 2).sum()) / (width - 1)
    rest = table - by_item[:, None] - by_juror + grand
    error = float(weight @ (rest**2).sum(axis=1)) / ((items - 1) * (width - 1))
    squares = _Squares(of_items, error, items - 1, (items - 1) * (width - 1), float(width))
    yield from _absolute(names[:2], number, squares, of_jurors, level)
    yield from _ratios(names[2:], number, squares, level)


@dataclass(frozen=True)
class _Squares:
    """Mean squares between items and of the rest, their degrees of freedom, votes per item."""

    between: float
    rest: float
    free_between: float
    free_rest: float
    votes: float

    @property
    def are_alike(self) -> bool:
        return self.between + self.rest <= 1e-300


def _ratios(names: tuple[str, str], items: int, squares: _Squares, level: float) -> Iterator[Coefficient]:
    """The forms that follow from the ratio of two mean squares: (F - 1) / (F + k - 1) and 1 - 1 / F."""
    if squares.are_alike:
        yield from (Coefficient(name, None, None, items) for name in names)
        return
    b, e, k = squares.between, squares.rest, squares.votes
    single, average = (b - e) / (b + (k - 1) * e), (b - e) / b if b else None
    if not e or not b:
        yield from (Coefficient(name, None, x, items) for name, x in zip(names, (single, average), strict=True))
        return
    tail = (1 + level) / 2
    least = b / e / special.fdtri(squares.free_between, squares.free_rest, tail)
    most = b / e * special.fdtri(squares.free_rest, squares.free_between, tail)
    low, high = (float((f - 1) / (f + k - 1)) for f in (least, most))
    yield Coefficient(names[0], None, single, items, low, high, interval="F")
    low, high = (float(1 - 1 / f) for f in (least, most))
    yield Coefficient(names[1], None, average, items, low, high, interval="F")


def _absolute(
    names: tuple[str, str], items: int, squares: _Squares, of_jurors: float, level: float
) -> Iterator[Coefficient]:
    """The forms in which jurors' levels count; their degrees of freedom are Satterthwaite's."""
    b, e, k, n = squares.between, squares.rest, squares.votes, squares.free_between + 1
    below = b + (k - 1) * e + k * (of_jurors - e) / n
    if squares.are_alike and not of_jurors:
        yield from (Coefficient(name, None, None, items) for name in names)
        return
    single = (b - e) / below if below else None
    average = (b - e) / (b + (of_jurors - e) / n) if b + (of_jurors - e) / n else None
    if single is None or not e or not b:
        yield from (Coefficient(name, None, x, items) for name, x in zip(names, (single, average), strict=True))
        return
    low, high = _satterthwaite(single, squares, of_jurors, level)
    yield Coefficient(names[0], None, single, items, low, high, interval="F")
    low, high = (k * x / (1 + (k - 1) * x) for x in (low, high))
    yield Coefficient(names[1], None, average, items, low, high, interval="F")


def _satterthwaite(single: float, squares: _Squares, of_jurors: float, level: float) -> tuple[float, float]:
    b, e, k, n = squares.between, squares.rest, squares.votes, squares.free_between + 1
    a, c = k * single / (n * (1 - single)), 1 + k * single * (n - 1) / (n * (1 - single))
    free = (a * of_jurors + c * e) ** 2 / ((a * of_jurors) ** 2 / (k - 1) + (c * e) ** 2 / squares.free_rest)
    tail = (1 + level) / 2
    up, down = special.fdtri(n - 1, free, tail), special.fdtri(free, n - 1, tail)
    rest = k * of_jurors + (k * n - k - n) * e
    low = n * (b - up * e) / (up * rest + n * b)
    high = n * (down * b - e) / (rest + n * down * b)
    return float(low), float(high)
