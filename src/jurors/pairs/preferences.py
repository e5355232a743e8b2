"""`Preferences`: who preferred which of two objects, as arrays; and the distinct answers among them, counted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.numbers.arrays import Floats
from jurors.options import Duplicates
from jurors.votes import Votes
from jurors.votes.columns.answer_words import TIE

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Preferences:
    """One answer per position: a juror was shown a left (first) and a right object, and preferred one, or neither.

    Examples
    --------
    >>> Preferences(objects=("x", "y"), jurors=("ann",), juror=np.zeros(2, int), left=np.array([0, 1]),
    ...             right=np.array([1, 0]), outcome=np.array([1, 0]))
    Preferences(2 objects, 1 jurors, 2 answers, 1 ties)
    """

    objects: tuple[str, ...]
    jurors: tuple[str, ...]
    juror: Ints
    left: Ints
    right: Ints
    outcome: Ints  #: `FIRST`, `SECOND` or `TIE`
    item: Ints | None = None  #: what the two were asked about (a question), where a column names it
    items: tuple[str, ...] = ()  #: its names
    is_placed: bool = True  #: whether left was shown first; a table of winners and losers does not say
    remarks: tuple[str, ...] = ()  #: what was taken for what while reading

    def __len__(self) -> int:
        return len(self.outcome)

    def __repr__(self) -> str:
        ties = int((self.outcome == TIE).sum())
        sizes = f"{len(self.objects)} objects, {len(self.jurors)} jurors, {len(self)} answers, {ties} ties"
        return f"Preferences({sizes})"

    @property
    def has_ties(self) -> bool:
        """Whether anybody ever called two objects equal."""
        return bool((self.outcome == TIE).any())

    @property
    def has_repeats(self) -> bool:
        """Whether a juror was asked the same more than once: two objects in one order, about one item."""
        side = self.left < self.right if self.is_placed else np.zeros(len(self), dtype=np.bool_)
        asked = (self.contests() * 2 + side) * len(self.jurors) + self.juror
        return len(np.unique(asked)) < len(asked)

    def contests(self) -> Ints:
        """A number for each two objects (about one item, where items are named), whatever their order."""
        low, high = np.minimum(self.left, self.right), np.maximum(self.left, self.right)
        item = 0 if self.item is None else self.item
        return np.unique((item * len(self.objects) + low) * len(self.objects) + high, return_inverse=True)[1]

    def to_votes(self, *, duplicates: Duplicates = "error") -> Votes:
        """The same as votes on items: each two objects, in the order shown, with the labels first, second and tie.

        So the theorem can grade the jurors, too (`jurors.grade`). Where nobody knows the order, the names decide it.
        """
        turn = np.zeros(len(self), dtype=np.bool_) if self.is_placed else self.left > self.right
        left, right = np.where(turn, self.right, self.left), np.where(turn, self.left, self.right)
        names = np.array(self.objects, dtype=object)
        item = names[left] + " | " + names[right]
        if self.item is not None:
            item = np.array(self.items, dtype=object)[self.item] + ": " + item
        label = np.array(["tie", "first", "second"], dtype=object)[np.where(turn, -self.outcome, self.outcome)]
        jurors = np.array(self.jurors, dtype=object)[self.juror]
        labels = ("first", "second", "tie") if self.has_ties else ("first", "second")
        votes = Votes.from_columns(item, jurors, label, labels=labels, duplicates=duplicates)
        return replace(votes, labels_told=True)  # a tie is an answer

    def counted(self) -> Counted:
        """The distinct answers, and how often each was given."""
        rows = np.column_stack([self.juror, self.left, self.right, self.outcome])
        size = len(self.objects)
        key = ((self.juror * size + self.left) * size + self.right) * 3 + self.outcome
        _, first, weight = np.unique(key, return_index=True, return_counts=True)
        juror, left, right, outcome = rows[first].T
        return Counted(
            juror, left, right, outcome, weight.astype(float), (len(self.jurors), size), self.is_placed, self.has_ties
        )


@dataclass(frozen=True)
class Counted:
    """Distinct answers and how often each was given: what the model is fitted to."""

    juror: Ints
    left: Ints
    right: Ints
    outcome: Ints
    weight: Floats
    shape: tuple[int, int]  #: jurors, objects
    is_placed: bool
    has_ties: bool

    def take(self, rows: Ints) -> Counted:
        """Some of the answers; jurors and objects stay as they are."""
        juror, left, right, outcome = (column[rows] for column in (self.juror, self.left, self.right, self.outcome))
        return replace(self, juror=juror, left=left, right=right, outcome=outcome, weight=self.weight[rows])

    def by_juror(self, values: Any) -> Floats:
        """Sums of a value per answer, for each juror."""
        return np.bincount(self.juror, self.weight * values, self.shape[0]).astype(np.float64)
