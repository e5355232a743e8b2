"""How steady a juror's numbers are where it was asked several times about one item, and what asking more often brings.

An answer is the juror's settled number on the item, to which ever more answers would come on average, plus an error of
the moment. One-way analysis of variance tells the two apart: with W the mean square within items and B that between
them, each item having n answers, the settled numbers have variance (B - W) / n. Reliability is their share in what
varies in a single answer, or in the mean of k (Spearman and Brown): how far another round would give the same. Whether
the settled number is right it does not say.

Intervals are by the jackknife over items, of what is within on the scale of logarithms, of reliability on Fisher's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jurors.evaluate.voices.settling import TIMES
from jurors.numbers.arrays import Flags, Floats, Integers
from jurors.numbers.jackknife import jackknife_ends
from jurors.tables import Table


@dataclass(frozen=True, eq=False)
class Again:
    """Every item that a juror gave several numbers, with all of them."""

    row: Integers
    juror: Integers
    said: Floats  #: cases x times; NaN where there were fewer

    def without(self, cells: Flags) -> Again:
        """The same without some cells of items x jurors."""
        kept = ~cells[self.row, self.juror]
        return Again(self.row[kept], self.juror[kept], self.said[kept])


@dataclass(frozen=True, eq=False, kw_only=True)
class Repeatability:
    """Of each juror who was asked again: how its numbers on one item differ. NaN where it cannot be said."""

    jurors: tuple[str, ...]
    items: Integers  #: on how many items it was asked again
    times: Floats  #: how often on such an item, on average
    within: Floats  #: the standard deviation of its numbers on one item
    within_ends: Floats
    reliability: Floats  #: of a single answer: the share of the settled number in what varies; never clamped
    reliability_ends: Floats

    def of_means(self, answers: int) -> Floats:
        """The reliability of the mean of so many answers."""
        return _of_mean(self.reliability, answers)

    def to_dict(self) -> dict[str, Any]:
        """By juror, as JSON has it."""
        means = {k: self.of_means(k) for k in TIMES}
        return {
            juror: {
                "items": int(self.items[place]),
                "times": float(self.times[place]),
                "within": float(self.within[place]),
                "within_interval": self.within_ends[place].tolist(),
                "reliability": {str(k): float(means[k][place]) for k in TIMES},
                "reliability_interval": self.reliability_ends[place].tolist(),
            }
            for place, juror in enumerate(self.jurors)
        }

    def columns(self, jurors: Sequence[str]) -> dict[str, Floats]:
        """For a table of all jurors: NaN for those who were not asked again."""
        place = [jurors.index(name) for name in self.jurors]
        named = {"within": self.within, "repeat_reliability": self.reliability}
        columns = {}
        for (name, value), ends in zip(named.items(), (self.within_ends, self.reliability_ends), strict=True):
            for end, part in (("", value), ("_low", ends[:, 0]), ("_high", ends[:, 1])):
                columns[f"{name}{end}"] = np.full(len(jurors), np.nan)
                columns[f"{name}{end}"][place] = part
        return columns

    def table(self, level: float, shown: Callable[[float], str]) -> Table:
        """To read."""
        sure, more = f"{level * 100:g}%", TIMES[1:]
        named = ("asked again", "items", "times each", "within an item", sure, "one answer's reliability", sure)
        heads = (*named, *(f"mean of {k}" for k in more))
        rows = [
            (
                juror,
                f"{self.items[place]:,}",
                f"{self.times[place]:.1f}".removesuffix(".0"),
                *_with_ends(self.within[place], self.within_ends[place], shown),
                *_with_ends(self.reliability[place], self.reliability_ends[place], shown),
                *(shown(float(self.of_means(k)[place])) for k in more),
            )
            for place, juror in enumerate(self.jurors)
        ]
        return Table(heads, tuple(rows), right=tuple(range(1, len(heads))))


def repeatability(jurors: Sequence[str], again: Again | None, level: float) -> Repeatability | None:
    """Of everybody who was asked again; None where nobody was.

    >>> said = np.array([[1.0, 2], [4, 5], [9, 8], [6, 7]])
    >>> steady = repeatability(("ann", "bob"), Again(np.arange(4), np.ones(4, dtype=int), said), 0.95)
    >>> steady.jurors, steady.within.round(3).tolist(), steady.reliability.round(3).tolist()
    (('bob',), [0.707], [0.945])
    >>> steady.of_means(3).round(3).tolist()
    [0.981]
    """
    if again is None or not len(again.row):
        return None
    who = np.unique(again.juror)
    parts = [_one(again.said[again.juror == k], level) for k in who]
    names = ("items", "times", "within", "within_ends", "reliability", "reliability_ends")
    columns = {name: np.array([part[name] for part in parts]) for name in names}
    return Repeatability(jurors=tuple(jurors[k] for k in who), **columns)


def _one(said: Floats, level: float) -> dict[str, Any]:
    """One juror: items x times."""
    given = ~np.isnan(said)
    times = given.sum(axis=1)
    middle = float(np.nanmean(said))
    total = np.nansum(said - middle, axis=1)  # around the middle, so that no digits are lost in squares
    squares = np.nansum((said - middle - (total / times)[:, None]) ** 2, axis=1)
    each = np.array([np.ones(len(times)), times, times**2, total, total**2 / times, squares])
    within, share = _variances(each.sum(axis=1))
    apart = _variances(each.sum(axis=1)[:, None] - each)
    return {
        "items": len(times),
        "times": float(times.mean()),
        "within": float(np.sqrt(within)),
        "within_ends": np.sqrt(jackknife_ends(within, apart[0], level, np.log, np.exp)),
        "reliability": float(share),
        "reliability_ends": jackknife_ends(share, apart[1], level, np.arctanh, np.tanh),
    }


def _variances(sums: Floats) -> tuple[Any, Any]:
    """The variance within items, and the settled numbers' share in that of a single answer."""
    items, answers, squared, total, between, within = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        inside = within / (answers - items)
        often = (answers - squared / answers) / (items - 1)
        settled = ((between - total**2 / answers) / (items - 1) - inside) / often
        return inside, settled / (settled + inside)


def _of_mean(share: Floats, answers: int) -> Floats:
    """Spearman and Brown's formula; answers that differ less between items than within have no settled number."""
    return np.asarray(np.where((share < 0) & (answers > 1), np.nan, answers * share / (1 + (answers - 1) * share)))


def _with_ends(value: float, ends: Floats, shown: Callable[[float], str]) -> tuple[str, str]:
    return shown(value), "" if np.isnan(ends).any() else f"{shown(ends[0])} – {shown(ends[1])}"
