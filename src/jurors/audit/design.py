"""The design of an audit: with what chance each item is drawn next, by the votes alone.

Nine tenths of every draw are uniform over the items left, one tenth goes where jurors disagree; a large decision tuple
that is overdue gets four tenths to itself. (More focus would pay where jurors err alone; where they err together, on
items on which all agree, it makes every guarantee wider.) No label enters, and neither does the size of the batch: so
the chances of a finished sheet can be worked out again from the votes, one draw after the other, and two batches are
one long draw.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jurors.numbers.arrays import Flags, Floats, Integers
from jurors.sketch import count_votes
from jurors.votes import Votes

FLOOR = 0.9  #: the uniform share of every draw: no item's chance is less than this part of an even one
OVERDUE = 3.0  #: a tuple is overdue when so many of its items were to be expected, and none was drawn
FLOOR_OVERDUE = 0.6  #: the uniform share while one is
AGREED = 0.05  #: what full agreement weighs beside full disagreement


@dataclass(frozen=True, eq=False)
class Design:
    """Items by decision tuple, in an order that neither rows nor names of jurors change."""

    rank: Integers  #: the rows of the votes, by the items' names
    tuple_of_row: Integers
    sizes: Integers  #: tuples: how many items each has
    focus: Floats  #: tuples: how much an item draws attention

    @classmethod
    def of(cls, votes: Votes) -> Design:
        """The design for some votes."""
        _, at = count_votes(votes)
        rank = np.array(sorted(range(votes.rows), key=[str(name) for name in votes.item_names().tolist()].__getitem__))
        _, first, again = np.unique(at[rank], return_index=True, return_inverse=True)
        place = np.argsort(np.argsort(first))  # tuples in the order of their first items
        tuple_of_row = np.empty(votes.rows, dtype=np.int64)
        tuple_of_row[rank] = place[again]
        open_rows = openness(votes)
        focus = np.zeros(len(first))
        focus[tuple_of_row] = AGREED + (1 - AGREED) * open_rows
        return cls(rank, tuple_of_row, np.bincount(tuple_of_row, minlength=len(first)), focus)


def openness(votes: Votes) -> Floats:
    """How far the jurors disagree on each item: 0 where all say the same, 1 where every label has as many votes."""
    row, _, code = votes.triples()
    given = np.zeros((votes.rows, max(len(votes.labels), 1)))
    np.add.at(given, (row, code.astype(np.int64)), 1.0)
    total = given.sum(axis=1)
    labels = max(len(votes.labels), 2)
    top = np.divide(given.max(axis=1), total, out=np.full(votes.rows, 1.0 / labels), where=total > 0)
    return np.asarray((1 - top) * labels / (labels - 1))


class Walk:
    """A draw without replacement, one item after the other, with the chance of each."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self.left = design.sizes.astype(np.float64)  #: tuples: items not drawn yet
        self.drawn = 0

    def chances(self) -> Floats:
        """Tuples: the chance of one of its items left to be drawn next."""
        floor, focus = self.rule()
        return np.asarray(floor / self.left.sum() + (1 - floor) * focus / (self.left * focus).sum())

    def rule(self) -> tuple[float, Floats]:
        """The uniform share of the next draw, and tuples: by what the rest goes."""
        overdue = self.overdue()
        return (FLOOR_OVERDUE, overdue.astype(np.float64)) if overdue.any() else (FLOOR, self.design.focus)

    def overdue(self) -> Flags:
        """Tuples of which an item was long to be expected."""
        sizes = self.design.sizes
        return np.asarray((self.left == sizes) & (sizes * self.drawn >= OVERDUE * sizes.sum()))

    def take(self, which: int) -> None:
        """An item of this tuple was drawn."""
        self.left[which] -= 1
        self.drawn += 1
