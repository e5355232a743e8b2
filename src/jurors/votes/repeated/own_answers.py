"""What jurors who were asked several times about an item said each time, and the one vote that it comes to.

The vote is the label that the juror gave most often; of ordered levels, the middle one. Where two are equally good (two
labels given equally often, two levels in the middle) the juror contradicts itself, and has no vote there: any rule that
broke the tie would favour a label, or the order in which somebody wrote the answers down.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.numbers.arrays import Codes

_LARGEST_KEY = 1 << 62


@dataclass(frozen=True, eq=False)
class Repeats:
    """Of every item that a juror was asked about twice or more: each answer, in no order.

    An answer is the position of a label; abstaining is the one past the last. Cases of one row, one juror and the same
    answers may be one, which stands for several items.
    """

    row: NDArray[np.int64]  #: of the votes
    juror: NDArray[np.int32]
    said: Codes  #: cases x times: the answers, sorted; -1 (in front) where the juror was asked less often
    items: NDArray[np.int64]  #: how many items each case stands for

    def one_vote(self, levels: int | None = None) -> Codes:
        """The answer of each case: the commonest, or the middle one of so many ordered levels; -1 where there are two.

        >>> said = np.array([[0, 0, 1], [-1, 0, 1], [0, 1, 3]], dtype=np.int8)
        >>> own = Repeats(np.arange(3), np.zeros(3, dtype=np.int32), said, np.ones(3, dtype=np.int64))
        >>> own.one_vote().tolist(), own.one_vote(levels=4).tolist()
        ([0, -1, -1], [0, -1, 1])
        """
        return _commonest(self.said) if levels is None else _middle(self.said, levels)

    def times(self) -> NDArray[np.int64]:
        """How often the juror answered, case by case."""
        return np.asarray((self.said >= 0).sum(axis=1))

    def of_jurors(self, place: NDArray[np.int64]) -> Repeats | None:
        """Of the jurors who have a place (not -1), by their places."""
        return self._kept(place[self.juror] >= 0, juror=place[self.juror].astype(np.int32))

    def of_rows(self, place: NDArray[np.int64]) -> Repeats | None:
        """Of the rows that have a place, by their places."""
        return self._kept(place[self.row] >= 0, row=place[self.row])

    def counted(self, tuple_of_row: NDArray[np.int64]) -> Repeats:
        """By the tuples that the rows became; cases that are alike then are one."""
        keys = np.column_stack([tuple_of_row[self.row], self.juror, self.said])
        distinct, items = added_up(keys, self.items)
        said = distinct[:, 2:].astype(self.said.dtype)
        return Repeats(distinct[:, 0], distinct[:, 1].astype(np.int32), said, items)

    def recoded(self, place: NDArray[Any]) -> Repeats | None:
        """With other codes: `place` has one for every label, then that of abstaining; -1 is no vote any more."""
        said = np.sort(np.append(place, -1)[self.said], axis=1)  # code -1 is the last
        return replace(self, said=said)._kept((said >= 0).sum(axis=1) > 1)

    def _kept(self, kept: NDArray[np.bool_], **changed: Any) -> Repeats | None:
        if not kept.any():
            return None
        changed = {"row": self.row, "juror": self.juror, **changed}
        parts = {name: part[kept] for name, part in changed.items()}
        return Repeats(**parts, said=self.said[kept], items=self.items[kept])


def added_up(rows: NDArray[Any], items: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The distinct rows, sorted, and how many items each stands for.

    >>> rows, items = added_up(np.array([[1, 0], [0, 2], [1, 0]]), np.array([3, 4, 5]))
    >>> rows.tolist(), items.tolist()
    ([[0, 2], [1, 0]], [4, 8])
    """
    low = rows.min(axis=0)
    spans = (rows.max(axis=0) - low + 1).tolist()
    if math.prod(spans) >= _LARGEST_KEY:
        distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
    else:  # each row as one number, which sorts far faster
        keys = np.zeros(len(rows), dtype=np.int64)
        for column, span, least in zip(rows.T, spans, low.tolist(), strict=True):
            keys = keys * span + (column - least)
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        distinct = rows[first]
    total = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(total, inverse.ravel(), items)
    return distinct, total


def put_together(parts: Sequence[tuple[int, Repeats | None]]) -> Repeats | None:
    """The repeats of several tables as those of one, in which the rows of each begin so far down."""
    own = [replace(repeats, row=repeats.row + start) for start, repeats in parts if repeats is not None]
    if not own:
        return None
    width = max(repeats.said.shape[1] for repeats in own)
    said = [np.pad(repeats.said, ((0, 0), (width - repeats.said.shape[1], 0)), constant_values=-1) for repeats in own]
    row, juror, items = (np.concatenate([getattr(one, name) for one in own]) for name in ("row", "juror", "items"))
    return Repeats(row, juror, np.concatenate(said), items)


def gathered(
    row: NDArray[Any],
    juror: NDArray[Any],
    code: Codes,
    width: int,
    counts: NDArray[np.int64] | None = None,
    levels: int | None = None,
) -> tuple[tuple[NDArray[Any], NDArray[Any], Codes], Repeats | None]:
    """Votes of which some are a juror's second on an item: one vote each (a tie is none), and what was said.

    >>> votes, own = gathered(np.array([0, 1, 0, 0]), np.array([0, 0, 1, 1]), np.array([1, 0, 1, 1]), 2)
    >>> [part.tolist() for part in votes], own.said.tolist()
    ([[0, 0, 1], [0, 1, 0], [1, 1, 0]], [[1, 1]])
    """
    key = row.astype(np.int64) * max(width, 1) + juror
    order = np.lexsort((code, key))
    ranked = key[order]
    first = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]]) if len(ranked) else np.zeros(0, dtype=np.int64)
    times = np.diff(np.append(first, len(ranked)))
    at = order[first]
    row, juror, vote = row[at], juror[at], code[at]
    again = np.flatnonzero(times > 1)
    if not len(again):
        return (row, juror, vote), None
    said = np.full((len(again), int(times.max())), -1, dtype=code.dtype)
    for back in range(said.shape[1]):  # the last answers stand last
        has = times[again] > back
        said[has, -1 - back] = code[order[first[again[has]] + times[again[has]] - 1 - back]]
    items = np.ones(len(again), dtype=np.int64) if counts is None else counts[row[again]]
    own = Repeats(row[again].astype(np.int64), juror[again].astype(np.int32), said, items)
    vote[again] = own.one_vote(levels)
    spoken = vote >= 0
    return (row[spoken], juror[spoken], vote[spoken]), own


def _commonest(said: Codes) -> Codes:
    """Of sorted rows the value of the longest run; -1 where two runs are the longest."""
    best, tied = said[:, -1].copy(), np.zeros(len(said), dtype=bool)
    run, longest = np.zeros(len(said), dtype=np.int64), np.zeros(len(said), dtype=np.int64)
    for k in range(said.shape[1]):
        here = said[:, k]
        same = (said[:, k - 1] == here) if k else np.zeros(len(said), dtype=bool)
        run = np.where(here >= 0, np.where(same, run + 1, 1), 0)
        longer = run > longest
        tied = np.where(longer, False, tied | ((run == longest) & (run > 0)))
        best, longest = np.where(longer, here, best), np.maximum(run, longest)
    return np.where(tied, -1, best).astype(said.dtype)


def _middle(said: Codes, levels: int) -> Codes:
    """Of sorted rows the level in the middle, or abstaining where that is most of it; -1 where there are two."""
    away = (said >= levels).sum(axis=1)
    spoken = np.sort(np.where(said >= levels, -1, said), axis=1)
    width, cases = said.shape[1], np.arange(len(said))
    times = (spoken >= 0).sum(axis=1)
    low, high = (
        spoken[cases, np.minimum(width - times + place, width - 1)] for place in ((times - 1) // 2, times // 2)
    )
    middle = np.where((low == high) & (away != times), low, -1)
    return np.where(away > times, levels, middle).astype(said.dtype)
