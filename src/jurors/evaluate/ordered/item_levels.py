"""Where an item stands among ordered levels: the median level, the expected one, and the levels it may be of."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from jurors.evaluate.partition import Partition
from jurors.numbers.arrays import Floats, Integers
from jurors.votes import Label
from jurors.votes.scales.numerals import numerals


@dataclass(frozen=True)
class ItemLevels:
    """One entry per item. Levels are positions in the labels, the lowest first; -1 where nothing is known of it."""

    median: Integers  #: the level that is as likely too high as too low
    expected: Floats  #: in the labels' own numbers where they are numbers, else counted from 1; NaN where not known
    low: Integers  #: the interval: with half of what is missing to the level below it …
    high: Integers  #: … and half above

    def take(self, which: Any) -> ItemLevels:
        """Those of these items."""
        return ItemLevels(*(getattr(self, part.name)[which] for part in fields(self)))

    def settled(self, known: Integers, labels: tuple[Label, ...]) -> ItemLevels:
        """The same with the levels that are known (0 or more)."""
        given = known >= 0
        parts = (np.where(given, known, part) for part in (self.median, self.low, self.high))
        median, low, high = parts
        return ItemLevels(median, np.where(given, level_values(labels)[known], self.expected), low, high)


def item_levels(partition: Partition, level: float = 0.95) -> ItemLevels:
    """The levels of each tuple's items, by the partition of the items by level.

    An interval holds at least `level` of the chance: it runs from the lowest level below which no more than half of the
    rest lies to the highest above which no more than that lies. A label without a probability has no levels, either.
    """
    unknown = np.isnan(partition.probability)
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = partition.by_true_label / partition.by_true_label.sum(axis=1, keepdims=True)
    below = np.cumsum(np.nan_to_num(chance), axis=1)
    tail, last = (1 - level) / 2, chance.shape[1] - 1

    def reached(share: float) -> Integers:
        return np.where(unknown, -1, np.minimum((below < share - 1e-12).sum(axis=1), last))

    expected = np.where(unknown, np.nan, chance @ level_values(partition.sketch.labels))
    return ItemLevels(reached(0.5), expected, reached(tail), reached(1 - tail))


def level_values(labels: tuple[Label, ...]) -> Floats:
    """The number of each level: the label's own where all are numbers, else 1, 2, 3 …

    >>> level_values((0, 5, 10)).tolist(), level_values(("poor", "fair", "good")).tolist()
    ([0.0, 5.0, 10.0], [1.0, 2.0, 3.0])
    """
    own = numerals(labels).sizes
    return np.array([k + 1 if None in own else x for k, x in enumerate(own)], dtype=np.float64)
