"""Krippendorff's alpha: 1 - D_o / D_e, for labels, levels, numbers and ratios, with missing votes.

With n_v votes for value v among the N votes of items with two or more, and r_t votes on item t:
    D_o = A / N,  A = Σ_t Σ_{two votes of t} δ² / (r_t - 1);   D_e = Q / (N (N - 1)),  Q = Σ_vw n_v n_w δ²_vw.
Numbers: δ² = (v - w)², and both sums follow from Σ x and Σ x². Levels: Krippendorff's sum of n_g between v and w is the
distance of their mid-ranks, so that ordinal alpha is interval alpha of the ranks: no table of values by values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.evaluate.accord.coefficient import Coefficient, Weights
from jurors.numbers.arrays import Floats, Integers

_MOST_WORK = 2_000_000_000  # votes x values of ratios, which have no shortcut
_BLOCK_CELLS = 1 << 22


@dataclass(frozen=True)
class Said:
    """The votes on items that have two or more: which tuple, which value; what values there are."""

    row: Integers
    code: Integers
    values: Floats
    counts: Integers  #: of items, tuple by tuple; 0 where there is no pair of votes

    @classmethod
    def of(cls, row: NDArray[Any], code: NDArray[Any], values: Floats, counts: NDArray[Any]) -> Said:
        """Votes as (tuple, position in `values`)."""
        cast = np.bincount(row, minlength=len(counts))
        kept = cast[row] > 1
        return cls(row[kept].astype(np.int64), code[kept].astype(np.int64), values, np.where(cast > 1, counts, 0))

    @property
    def weight(self) -> Floats:
        """How many items each vote stands for."""
        return np.asarray(self.counts[self.row], dtype=np.float64)

    @property
    def votes(self) -> Floats:
        """How many votes each value has."""
        return _sums(self.code, self.weight, len(self.values))

    def by_row(self, values: Floats) -> Floats:
        """The sum over each tuple's votes."""
        return _sums(self.row, values, len(self.counts))

    @property
    def cast(self) -> Floats:
        """How many votes each tuple has."""
        return self.by_row(np.ones(len(self.row)))


@dataclass(frozen=True)
class _Apart:
    """Disagreement: of each tuple, of all by chance, and how a vote more for each value moves both sums."""

    observed: Floats
    chance: float
    observed_slope: Floats
    chance_slope: Floats


def krippendorff_alpha(said: Said, weights: Weights, level: float) -> Coefficient:
    """Alpha with its interval over items; None where all say the same.

    Examples
    --------
    >>> row, code = np.repeat(np.arange(4), 2), np.array([0, 0, 1, 1, 2, 1, 2, 2])
    >>> said = Said.of(row, code, np.array([1.0, 2.0, 3.0]), np.ones(4, dtype=np.int64))
    >>> [round(krippendorff_alpha(said, weights, 0.95).value, 4) for weights in ("nominal", "ordinal", "interval")]
    [0.6667, 0.79, 0.8205]
    """
    name, items = "krippendorff_alpha", int(said.counts.sum())
    total = float(said.votes.sum())
    apart = _APART[weights](said) if items else None
    if apart is None or apart.chance <= 1e-12 * total**2:
        return Coefficient(name, weights, None, items)
    observed = float(said.counts @ apart.observed)
    value = 1 - observed * (total - 1) / apart.chance
    through = said.by_row((apart.observed_slope / observed if observed else apart.observed_slope)[said.code])
    moved = apart.observed / (observed or 1.0) + through + said.cast / total
    moved -= said.by_row(apart.chance_slope[said.code]) / apart.chance
    influence = -observed * total / apart.chance * moved * items
    return Coefficient(name, weights, value, items).over_items(influence, said.counts, level)


def _nominal(said: Said) -> _Apart:
    size, votes = len(said.values), said.votes
    cells, times = np.unique(said.row * size + said.code, return_counts=True)
    cast = said.cast
    same = _sums(cells // size, times.astype(np.float64) ** 2, len(said.counts))
    total = float(votes.sum())
    none = np.zeros(size)
    return _Apart(_per_vote(cast**2 - same, cast), float(total**2 - votes @ votes), none, 2 * (total - votes))


def _interval(said: Said) -> _Apart:
    votes = said.votes
    x = said.values - float(votes @ said.values) / float(votes.sum())  # what is common to all would cost digits
    return _squared(said, x)


def _squared(said: Said, x: Floats) -> _Apart:
    votes, cast, told = said.votes, said.cast, x[said.code]
    total, first, second = float(votes.sum()), float(votes @ x), float(votes @ x**2)
    observed = 2 * (cast * said.by_row(told**2) - said.by_row(told) ** 2)
    slope = 2 * (second + total * x**2 - 2 * x * first)
    return _Apart(_per_vote(observed, cast), 2 * (total * second - first**2), np.zeros(len(x)), slope)


def _ordinal(said: Said) -> _Apart:
    """Ranks move with the votes, too: a vote more for a value lifts all values above it."""
    votes, cast = said.votes, said.cast
    x = np.cumsum(votes) - votes / 2 - float(votes.sum()) / 2
    flat = _squared(said, x)
    told = x[said.code]
    pull = said.weight * _per_vote(4 * (cast[said.row] * told - said.by_row(told)[said.row]), cast[said.row])
    by_value = _sums(said.code, pull, len(x))
    by_chance = 4 * votes * (float(votes.sum()) * x - float(votes @ x))
    return _Apart(flat.observed, flat.chance, lifted(by_value), flat.chance_slope + lifted(by_chance))


def lifted(slope: Floats) -> Floats:
    """How a vote more for each value moves what moves so with the mid-ranks (last axis: the values in order)."""
    above = np.flip(np.cumsum(np.flip(slope, -1), -1), -1)
    return np.asarray(above - slope / 2)


def _ratio(said: Said) -> _Apart | None:
    """((v - w) / (v + w))²: for numbers that are never negative."""
    size = len(said.values)
    if float(said.values.min(initial=0)) < 0 or len(said.row) * size > _MOST_WORK or size**2 > _MOST_WORK // 10:
        return None
    sums = np.add.outer(said.values, said.values)
    away = np.divide(np.subtract.outer(said.values, said.values), sums, out=np.zeros_like(sums), where=sums > 0) ** 2
    within = np.empty(len(said.row))
    for start in range(0, len(said.row), step := max(_BLOCK_CELLS // max(size, 1), 1)):
        within[start : start + step] = _met(said, away, start, start + step)
    slope = 2 * away @ said.votes
    return _Apart(
        _per_vote(said.by_row(within), said.cast), float(said.votes @ slope / 2), np.zeros(size), np.asarray(slope)
    )


def _met(said: Said, away: Floats, start: int, stop: int) -> Floats:
    """For some votes, the distances to all votes of the same tuple, added up."""
    from scipy.sparse import csr_array

    rows, place = np.unique(said.row[start:stop], return_inverse=True)
    first, last = np.searchsorted(said.row, rows), np.searchsorted(said.row, rows, side="right")
    ends = np.concatenate([[0], np.cumsum(last - first)])
    picked = np.arange(ends[-1]) + np.repeat(first - ends[:-1], last - first)
    table = csr_array((np.ones(len(picked)), said.code[picked], ends), shape=(len(rows), len(away)))
    return np.asarray((table @ away)[place, said.code[start:stop]])


def _sums(places: NDArray[Any], values: Floats, size: int) -> Floats:
    return np.asarray(np.bincount(places, weights=values, minlength=size), dtype=np.float64)


def _per_vote(sums: Floats, cast: Floats) -> Floats:
    return np.divide(sums, cast - 1, out=np.zeros_like(sums), where=cast > 1)


_APART = {"nominal": _nominal, "ordinal": _ordinal, "interval": _interval, "ratio": _ratio}
