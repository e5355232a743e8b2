"""What two jurors did together, for every pair that shares an item: the counts that pairwise methods start from.

Pairs are lists, not N x N tables, so that a sparse panel of many jurors costs memory by the pairs that met.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from jurors._numeric import order_of_small
from jurors.sketch.incidence import Incidence, is_best_dense
from jurors.sketch.sketch import Sketch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from jurors._numeric import Floats, Integers


_BLOCK_CELLS = 1 << 22  # cells of a dense block of tuples
_PART_VOTES = 1 << 21  # votes of a long sparse sketch taken at a time: memory stays flat
_EXACT_SINGLES = 1 << 24  # items up to which sums in single precision are exact
_SPARSE_COST = 20  # one multiplication in a sparse product costs about as much as so many in a dense one
_MOST_LISTED, _MOST_PLACES = 1 << 22, 1 << 22  # pairs of votes, and of jurors, up to which they are listed and tallied
_GLANCE = 512  # tuples looked at at a time for two jurors who never disagree
_MOST_EMPTY = 8  # places per vote in a table of each tuple's votes side by side


def incidence_of(sketch: Sketch) -> Incidence:
    """The one-hot matrix of a sketch's tuples; a tuple without a vote weighs nothing.

    Examples
    --------
    >>> incidence_of(Sketch.from_counts({("A", "B"): 3, ("A", None): 2}, jurors=("ann", "bob"))).votes
    8.0
    """
    size, width = len(sketch.labels), len(sketch.jurors)
    weights = np.where(votes_cast(sketch) > 0, sketch.counts, 0).astype(np.float64)
    row, col, code = sketch.tuples.triples()
    if sketch.tuples.is_dense and is_best_dense(sketch.tuples.codes.size * size, len(row)):
        return Incidence.from_codes(sketch.tuples.codes, weights, labels=size)
    return Incidence.from_triples(row, col, code, weights, jurors=width, labels=size)


def votes_cast(sketch: Sketch) -> Integers:
    """How many jurors voted, tuple by tuple."""
    return sketch.cast


def votes_by_juror(row: Integers, juror: NDArray[Any], shape: tuple[int, int], kind: Any = np.float64) -> Any:
    """Rows x jurors, one where a juror voted, as a sparse array; votes are sorted by row."""
    from scipy.sparse import csr_array

    pointer = np.zeros(shape[0] + 1, dtype=np.int32 if len(row) < 2**31 else np.int64)
    np.cumsum(np.bincount(row, minlength=shape[0]), out=pointer[1:])
    return csr_array((np.ones(len(row), dtype=kind), juror.astype(pointer.dtype, copy=False), pointer), shape=shape)


def parts_of(sketch: Sketch) -> Iterator[tuple[Sketch, slice]]:
    """The tuples in consecutive parts, with where they stand: a sum over a hundred million votes has no room for more.

    Examples
    --------
    >>> [(part.items, rows) for part, rows in parts_of(Sketch.from_counts({"AB": 3, "BB": 2}, jurors=("ann", "bob")))]
    [(5, slice(0, 2, None))]
    """
    votes = sketch.tuples
    if votes.is_dense or votes.n_votes <= _PART_VOTES:
        yield sketch, slice(0, votes.rows)
        return
    row, col, code = votes.triples()
    cuts = np.unique([0, *row[_PART_VOTES::_PART_VOTES].tolist(), votes.rows])
    places = np.searchsorted(row, cuts)
    for first, last, start, stop in zip(cuts[:-1], cuts[1:], places[:-1], places[1:], strict=True):
        triples = (row[start:stop] - first, col[start:stop], code[start:stop])
        counts = sketch.counts[first:last]
        part = replace(
            votes, rows=int(last - first), items=None, counts=counts, abstained=None, repeats=None, _sparse=triples
        )
        yield Sketch(part), slice(int(first), int(last))


@dataclass(frozen=True, eq=False)
class Pairs:
    """Every pair of jurors that voted on a common item, in the jurors' order.

    Examples
    --------
    >>> pairs = Pairs(Sketch.from_counts({"AAB": 3, "ABB": 2}, jurors=("ann", "bob", "cy")))
    >>> pairs.first.tolist(), pairs.second.tolist(), pairs.items.tolist()
    ([0, 0, 1], [1, 2, 2], [5.0, 5.0, 5.0])
    >>> pairs.agreed.tolist(), pairs.count(0, 1).tolist()
    ([3.0, 0.0, 2.0], [2.0, 5.0, 3.0])
    """

    sketch: Sketch = field(repr=False)

    @cached_property
    def _met(self) -> tuple[Integers, Integers, Floats]:
        if self._listed is not None:
            tally = self._listed.tally(slice(None))
            place = np.flatnonzero(tally > 0)
            return *np.divmod(place, len(self.sketch.jurors)), tally[place].astype(np.float64)
        table = self._product(None, None)
        if isinstance(table, np.ndarray):
            first, second = np.nonzero(np.triu(table, k=1))
            return first, second, table[first, second]
        table.sort_indices()
        row = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
        kept = (row < table.indices) & (table.data > 0)
        return row[kept], table.indices[kept].astype(np.int64), table.data[kept]

    @property
    def first(self) -> Integers:
        """The position of each pair's first juror."""
        return self._met[0]

    @property
    def second(self) -> Integers:
        """The position of each pair's second juror."""
        return self._met[1]

    @property
    def items(self) -> Floats:
        """On how many items each pair voted together."""
        return self._met[2]

    @cached_property
    def agreed(self) -> Floats:
        """On how many of them the two said the same."""
        size = len(self.sketch.labels)
        if self._listed is not None:
            return self._of_list(self._listed.one == self._listed.other)
        if not self._is_sparse and size <= _SPARSE_COST:  # each label is another dense product
            same = [self.count(label, label) for label in range(size)]
            return np.asarray(np.sum(same, axis=0), dtype=np.float64)
        total: Any = 0
        for part, _ in parts_of(self.sketch):
            row, juror, said = part.tuples.triples()  # who says the same of a tuple stands on one side of it
            weighted, plain = _table(part, row, juror, row * size + said, part.tuples.rows * size)
            total = total + weighted.T @ plain
        return self._of_pairs(total.tocsr())

    def never_apart(self, least: float) -> tuple[Integers, Integers, Floats]:
        """The pairs that never disagreed on at least so many common items: first, second, items."""
        if self._listed is not None:
            return self._listed.never_apart(least)
        if self.sketch.tuples.is_dense:
            return self._never_apart(least)
        same = np.flatnonzero(self.items >= least)
        same = same[self.items[same] - self.agreed[same] < 0.5]
        return self.first[same], self.second[same], self.items[same]

    def _never_apart(self, least: float) -> tuple[Integers, Integers, Floats]:
        """The same of dense votes: after a few tuples hardly a pair is left, of which to count the common items."""
        codes = self.sketch.tuples.codes[self.sketch.counts > 0]
        first, second = np.nonzero(np.tri(len(self.sketch.jurors), k=-1, dtype=bool).T)
        seen = min(_GLANCE, _BLOCK_CELLS // max(len(first), 1) + 1)
        left = _never_disagree(codes[:seen], first, second)
        first, second = first[left], second[left]
        if not len(first):
            return first, second, np.zeros(0)
        width = len(self.sketch.jurors)
        items = np.zeros(width * width)
        items[self.first * width + self.second] = self.items
        met = items[first * width + second]
        left = np.flatnonzero(met >= max(least, 1.0))
        while seen < len(codes) and len(left):
            part = codes[seen : seen + min(_GLANCE, _BLOCK_CELLS // len(left) + 1)]
            left = left[_never_disagree(part, first[left], second[left])]
            seen += len(part)
        return first[left], second[left], met[left]

    def count(self, first: int | None, second: int | None) -> Floats:
        """On how many items each pair's first juror said one label and the second another; None is any label."""
        if self._listed is not None:
            return self._of_list(self._listed.where(first, second))
        return self._of_pairs(self._product(first, second))

    def said(self, label: int) -> tuple[Floats, Floats]:
        """On how many of a pair's items its first juror said a label, and on how many its second did."""
        if self._listed is not None:
            return self.count(label, None), self.count(None, label)
        table = self._product(label, None)
        return self._of_pairs(table), self._of_pairs(table.T)

    @cached_property
    def _listed(self) -> _Listed | None:
        return _Listed.of(self.sketch) if self._is_sparse else None

    def _of_list(self, which: Any) -> Floats:
        tally = self._listed.tally(which)  # type: ignore[union-attr]
        return np.asarray(tally[self.first * len(self.sketch.jurors) + self.second], dtype=np.float64)

    def _of_pairs(self, table: Any) -> Floats:
        if not len(self.first):  # of which scipy would make a sparse array
            return np.zeros(0)
        return np.asarray(table[self.first, self.second], dtype=np.float64).ravel()

    def _product(self, left: int | None, right: int | None) -> Any:
        """Jurors x jurors: items on which one said `left` and the other `right`; an array or a sparse one."""
        if not self._is_sparse:
            return self._dense_product(left, right)
        total: Any = 0
        for part, _ in parts_of(self.sketch):
            total = total + self._column(left, part)[0].T @ self._column(right, part)[1]
        return total.tocsr()

    def _dense_product(self, left: int | None, right: int | None) -> Floats:
        codes, counts = self.sketch.tuples.codes, self.sketch.counts
        width = len(self.sketch.jurors)
        total = np.zeros((width, width))
        step = max(_BLOCK_CELLS // width, 1)
        kind = np.dtype(np.float32 if self.sketch.items < _EXACT_SINGLES else np.float64)
        for start in range(0, len(codes), step):
            block = codes[start : start + step]
            other = (block >= 0 if right is None else block == right).astype(kind)
            one = other if left == right else (block >= 0 if left is None else block == left).astype(kind)
            total += (one * counts[start : start + step, None].astype(kind)).T @ other
        return total

    @cached_property
    def _is_sparse(self) -> bool:
        cast = votes_cast(self.sketch).astype(np.float64)
        tuples, width = self.sketch.tuples, len(self.sketch.jurors)
        return not tuples.is_dense or bool(tuples.rows * width**2 > _SPARSE_COST * (cast**2).sum() + _BLOCK_CELLS)

    @cached_property
    def _columns(self) -> dict[int | None, tuple[Any, Any]]:
        """Those of `_column` that were asked for."""
        return {}

    def _column(self, label: int | None, part: Sketch) -> tuple[Any, Any]:
        """Tuples x jurors who said a label, or any: with the tuples' counts, and with ones."""
        if label in self._columns:
            return self._columns[label]
        row, juror, said = part.tuples.triples()
        if label is not None:
            row, juror = row[said == label], juror[said == label]
        column = _table(part, row, juror, row, part.tuples.rows)
        if part is self.sketch:  # of many parts none is kept
            self._columns[label] = column
        return column


def _never_disagree(codes: NDArray[Any], first: Integers, second: Integers) -> Integers:
    """Which of these pairs of jurors never disagree in some tuples."""
    one, other = codes[:, first], codes[:, second]
    return np.flatnonzero(~((one != other) & (one >= 0) & (other >= 0)).any(axis=0))


@dataclass(frozen=True, slots=True)
class _Listed:
    """Every two votes on one tuple, the earlier juror's first: a third of the time of sparse products."""

    place: NDArray[np.int32]  # the first juror's position * jurors + the second's
    one: NDArray[Any]  # what the first said
    other: NDArray[Any]
    items: Floats | None  # how many items the tuple has; None: one each
    jurors: int

    @classmethod
    def of(cls, sketch: Sketch) -> _Listed | None:
        """None where so many votes stand on some tuples that products are quicker."""
        row, juror, said = sketch.tuples.triples()
        rows, width = sketch.tuples.rows, len(sketch.jurors)
        cast = votes_cast(sketch)
        most = int(cast.max(initial=0))
        pairs = int((cast * (cast - 1) // 2).sum())
        if width**2 > _MOST_PLACES or pairs > _MOST_LISTED or most * rows > _MOST_EMPTY * len(row):
            return None
        # Votes side by side, a column per tuple, those with the most votes first: then all that have a k-th vote stand
        # at the beginning, and that vote pairs with the k before.
        order = order_of_small(-cast)
        column = np.empty_like(order)
        column[order] = np.arange(rows)
        at = (np.arange(len(row)) - (np.cumsum(cast) - cast)[row]) * rows + column[row]
        who, what = np.zeros((most, rows), dtype=np.int32), np.zeros((most, rows), dtype=said.dtype)
        who.ravel()[at], what.ravel()[at] = juror, said
        counts = None if (sketch.counts == 1).all() else sketch.counts[order].astype(np.float64)
        longer = rows - np.searchsorted(cast[order[::-1]], np.arange(1, most + 1))
        blocks = [(k, slice(0, int(longer[k]))) for k in range(1, most)]
        return cls(
            _joined([who[:k, some] * np.int32(width) + who[k, some] for k, some in blocks], np.int32),
            _joined([what[:k, some] for k, some in blocks], said.dtype),
            _joined([np.broadcast_to(what[k, some], (k, some.stop)) for k, some in blocks], said.dtype),
            None if counts is None else _joined([np.broadcast_to(counts[some], (k, some.stop)) for k, some in blocks]),
            width,
        )

    def where(self, first: int | None, second: int | None) -> Any:
        """Which of them said these labels; None is any."""
        if first is None:
            return slice(None) if second is None else self.other == second
        return self.one == first if second is None else (self.one == first) & (self.other == second)

    def tally(self, which: Any) -> NDArray[Any]:
        """Items by pair of jurors, (jurors * jurors,)."""
        if not isinstance(which, slice):
            which = np.flatnonzero(which)  # flags at random are taken in a fifth of the time by their places
        items = None if self.items is None else self.items[which]
        return np.bincount(self.place[which], items, self.jurors**2)

    def never_apart(self, least: float) -> tuple[Integers, Integers, Floats]:
        """The pairs that never disagreed on at least so many common items: first, second, items."""
        tally = self.tally(slice(None))
        tally[self.place[np.flatnonzero(self.one != self.other)]] = 0
        place = np.flatnonzero(tally >= least)
        return *np.divmod(place, self.jurors), tally[place].astype(np.float64)


def _joined(parts: list[NDArray[Any]], kind: Any = np.float64) -> NDArray[Any]:
    return np.concatenate([part.ravel() for part in parts]) if parts else np.zeros(0, dtype=kind)


def _table(part: Sketch, row: Integers, juror: NDArray[Any], side: Integers, sides: int) -> tuple[Any, Any]:
    """Sides x jurors, of votes on rows: with the tuples' counts, and with ones."""
    from scipy.sparse import csr_array

    shape = (sides, len(part.jurors))
    weighted = csr_array((part.counts.astype(np.float64)[row], (side, juror)), shape=shape)
    return weighted, csr_array((np.ones(len(row)), weighted.indices, weighted.indptr), shape=shape)
