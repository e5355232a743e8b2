"""Whether votes that disagree lie near each other: what shows that whole numbers are levels, and not names of classes.

For each pair of levels: how often two jurors say them of one item, and how often they would by chance, each juror by
their own frequencies. Names of classes may be near by accident (two breeds of terriers are 0 and 1), so that being
near is not enough: no order in which one level stands elsewhere, or some are turned round, may bring disagreeing votes
nearer, and neighbours must be taken for each other at all. Measured in docs/guides/kinds-of-answers.md
(benchmarks/kinds_of_answers.py).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from jurors.numbers.arrays import Floats
from jurors.numbers.threads import one_thread
from jurors.votes.table import Votes

_MOST_ROWS = 1 << 16  # evenly spaced; that many show what there is to see
_SURE = 3.0  # standard errors
_NEAR, _NEAR_OF_THREE = 0.97, 0.9  # of chance's distance; three classes are in an order by accident one time in three
_BETTER, _DOUBT = 0.01, 0.5  # by which (and by how many standard errors) a nearer order speaks against this one
_BRIDGE = 0.4  # of chance: levels less often taken for their neighbours are two islands
_FEWEST_MET = 5.0
_PRIOR = 5.0  # votes by everybody's frequencies that a juror's own begin with

#: far: no nearer than by chance; gap: neighbours hardly meet; rival: another order is nearer; thin: nobody can tell
Verdict = Literal["ordered", "far", "gap", "rival", "thin"]


@dataclass(frozen=True)
class Closeness:
    """How disagreeing votes lie, for each pair of levels a < b."""

    levels: int
    observed: Floats
    expected: Floats
    spread: Floats  #: of pairs with pairs: the sum over items of what they add to `observed`, times itself

    @property
    def nearness(self) -> float:
        """How far apart disagreeing votes lie, as a share of how far chance would put them."""
        return self._nearness(_distances(np.arange(self.levels)))

    @property
    def error(self) -> float:
        """The standard error of `nearness`."""
        distance = _distances(np.arange(self.levels))
        return self._error(distance / self._by_chance(distance) - 1.0)

    @property
    def verdict(self) -> Verdict:
        """Whether levels are in an order, or what speaks against it."""
        if not self.observed.sum() or not self.expected.sum():
            return "thin"
        most = _NEAR_OF_THREE if self.levels == 3 else _NEAR
        if self.nearness > min(most, 1 - _SURE * self.error):
            return "thin" if self.nearness - 2 * self.error <= _NEAR_OF_THREE else "far"
        return "gap" if self._has_gap() else "rival" if self._has_rival() else "ordered"

    def _by_chance(self, distance: Floats) -> float:
        return float(self.expected @ distance / self.expected.sum())

    def _nearness(self, distance: Floats) -> float:
        return float(self.observed @ distance / self.observed.sum()) / self._by_chance(distance)

    def _error(self, weights: Floats) -> float:
        return math.sqrt(max(float(weights @ self.spread @ weights), 0.0)) / float(self.observed.sum())

    def _has_gap(self) -> bool:
        """Whether two neighbours are far less often taken for each other than chance would have it."""
        next_to = _distances(np.arange(self.levels)) == 1
        usual = self.expected[next_to] * self.observed.sum() / self.expected.sum()
        return bool(np.any((usual >= _FEWEST_MET) & (self.observed[next_to] < _BRIDGE * usual)))

    def _has_rival(self) -> bool:
        """Whether another order brings disagreeing votes nearer."""
        own = _distances(np.arange(self.levels))
        for places in _moves(self.levels):
            other = _distances(places)
            gain = self.nearness - self._nearness(other)
            error = self._error(own / self._by_chance(own) - other / self._by_chance(other))
            if gain > max(_BETTER, _DOUBT * error):
                return True
        return False


def _distances(places: NDArray[Any]) -> Floats:
    """How far apart the levels of each pair a < b stand."""
    a, b = np.triu_indices(len(places), 1)
    return np.asarray(np.abs(places[a] - places[b]), dtype=float)


def _moves(levels: int) -> Iterator[NDArray[np.int64]]:
    """The place of each level, for every order with one level moved, or some levels in a row turned round."""
    for first, last in itertools.permutations(range(levels), 2):
        rest = [level for level in range(levels) if level != first]
        yield np.argsort([*rest[:last], first, *rest[last:]])
        if 1 < last - first < levels - 1:
            yield np.array([*range(first), *range(last, first - 1, -1), *range(last + 1, levels)])


def closeness(votes: Votes, level_of: NDArray[np.int64]) -> Closeness:
    """How disagreeing votes lie, `level_of` being the level of each label.

    >>> near = closeness(Votes.from_matrix([[1, 2, 2], [3, 2, 3], [4, 4, 3], [1, 1, 2]] * 9), np.arange(4))
    >>> round(near.nearness, 2), near.verdict
    (0.67, 'ordered')
    """
    levels = int(level_of.max()) + 1
    row, juror, code, weight = _sampled(votes)
    level = level_of[code]
    heard = np.bincount(row, minlength=len(weight))
    shared = np.where(heard > 1, weight / np.maximum(heard - 1, 1), 0.0)
    said = np.bincount(juror * levels + level, weight[row], len(votes.jurors) * levels).reshape(-1, levels)
    usual = said.sum(axis=0) / max(said.sum(), 1)
    share = (said + _PRIOR * usual) / (said.sum(axis=1, keepdims=True) + _PRIOR)
    times = np.bincount(row * levels + level, minlength=len(weight) * levels).reshape(-1, levels).astype(float)
    met = np.column_stack([np.bincount(row, share[juror, k], len(weight)) for k in range(levels)])
    alone = np.bincount(juror, shared[row], len(votes.jurors))
    chance = (met * shared[:, None]).T @ met - (share * alone[:, None]).T @ share
    a, b = np.triu_indices(levels, 1)
    both = times[:, a] * times[:, b] / np.maximum(heard - 1, 1)[:, None]
    with one_thread():
        spread = (both * weight[:, None]).T @ both
    return Closeness(levels, weight @ both, chance[a, b], spread)


def same_share(votes: Votes) -> float:
    """Of two jurors who answer about one item, how many say exactly the same.

    >>> same_share(Votes.from_matrix([[1, 2, 2], [3, 3, 3], [4, 2, 1]]))
    0.4444444444444444
    """
    row, _, code, weight = _sampled(votes)
    heard = np.bincount(row, minlength=len(weight)).astype(float)
    _, which, times = np.unique(row * len(votes.labels) + code, return_index=True, return_counts=True)
    alike = np.bincount(row[which], times * (times - 1.0), len(weight))
    return float(weight @ alike / max(float(weight @ (heard * (heard - 1))), 1.0))


def _sampled(votes: Votes) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], Floats]:
    """Row, juror and label of the votes on at most so many rows, and how many items each row stands for."""
    step = -(-votes.rows // _MOST_ROWS)
    which = np.arange(0, votes.rows, max(step, 1))
    weight = np.ones(len(which)) if votes.counts is None else votes.counts[which].astype(float)
    if votes.is_dense:
        codes = votes.codes[which]
        at, who = np.nonzero(codes >= 0)
        return at, who, codes[at, who], weight
    row, juror, code = votes.triples()
    kept = row % max(step, 1) == 0
    return row[kept] // max(step, 1), juror[kept].astype(np.int64), code[kept], weight
