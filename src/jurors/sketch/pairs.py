"""Sums over the votes of a sketch: its one-hot matrix (`Incidence`), and the counts of all pairs of jurors (`Pairs`).

Sums over votes become matrix products, dense or sparse alike. Pairs are lists, not N x N tables, so that a sparse panel
of many jurors costs memory by the pairs that share an item.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jurors._numeric import Floats, Integers, sparse
from jurors.sketch.sketch import Sketch

_DENSE_CELLS = 4_000_000  # above this many cells of X, compressed sparse rows are smaller and faster ...
_BLOCK = 1 << 17  # rows of a sparse panel taken at a time: memory stays flat
_SMALL_CELLS = 100_000  # ... below this many never, and in between when fewer than one cell in eight is a vote
_FEW_COLUMNS = 16  # summed over votes up to which votes by cell are quicker than votes by tuple

_BLOCK_CELLS = 1 << 22  # cells of a dense block of tuples
_FEW_TERMS = 1 << 18  # that are added up without a sparse matrix
_PART_VOTES = 1 << 21  # votes of a long sparse sketch taken at a time: memory stays flat
_EXACT_SINGLES = 1 << 24  # items up to which sums in single precision are exact
_SPARSE_COST = 20  # one multiplication in a sparse product costs about as much as so many in a dense one
_MOST_LISTED, _MOST_PLACES = 1 << 22, 1 << 22  # pairs of votes, and of jurors, up to which they are listed and counted
_MOST_EMPTY = 8  # times more votes on a tuple than there are on average: each vote is compared with so many


@dataclass(frozen=True)
class Incidence:
    """The votes of each decision tuple as a one-hot matrix, with a weight for every tuple.

    Several panels over the same jurors and the same number of tuples can be stacked (``stack`` of them: the
    folds of a cross-validation); all are then fitted in the same sweep.
    """

    matrix: Any  #: ndarray (stack, T, jurors*labels), or one CSR (stack*T, stack*jurors*labels), block-diagonal
    weights: Floats  #: (stack, T), how many items have the tuple
    jurors: int
    labels: int

    @classmethod
    def from_codes(cls, codes: ArrayLike, weights: ArrayLike | None = None, *, labels: int) -> Incidence:
        """Build from a tuple table, one row per decision tuple and one column per juror; -1 means no vote.

        Examples
        --------
        >>> Incidence.from_codes([[0, 1, -1], [1, 1, 1]], [3, 2], labels=2).votes
        12.0

        """
        table = np.asarray(codes)
        rows, jurors = table.shape
        mass = np.ones(rows) if weights is None else np.asarray(weights, dtype=np.float64)
        row, juror = np.nonzero(table >= 0)
        return cls.from_triples(row, juror, table[row, juror], mass, jurors=jurors, labels=labels)

    @classmethod
    def from_triples(
        cls, row: ArrayLike, juror: ArrayLike, label: ArrayLike, weights: ArrayLike, *, jurors: int, labels: int
    ) -> Incidence:
        """Build from one (tuple, juror, label) triple a vote, sorted by tuple; absent triples are missing votes."""
        mass = np.asarray(weights, dtype=np.float64)
        row, juror, label = np.asarray(row), np.asarray(juror), np.asarray(label)
        if is_best_dense(len(mass) * jurors * labels, len(row)):
            hot = np.zeros((1, len(mass), jurors * labels))
            hot[0, row, juror.astype(np.int64) * labels + label] = 1.0
            return cls(hot, mass[None], jurors, labels)
        column = juror.astype(np.int32)  # small integers: ten million votes are many
        column *= labels
        column += label.astype(np.int32)
        matrix = votes_by_juror(row, column, (len(mass), jurors * labels), np.float32)
        return cls(matrix, mass[None], jurors, labels)

    @property
    def stack(self) -> int:
        """How many panels are stacked."""
        return int(self.weights.shape[0])

    @property
    def rows(self) -> int:
        """How many tuples each panel has."""
        return int(self.weights.shape[1])

    @property
    def is_dense(self) -> bool:
        """Whether the one-hot matrix is an ordinary array."""
        return isinstance(self.matrix, np.ndarray)

    @property
    def votes(self) -> float:
        """How many votes were cast, over all items."""
        per_row = self.matrix.sum(axis=-1) if self.is_dense else np.diff(self.matrix.indptr)
        return float((np.reshape(per_row, self.weights.shape) * self.weights).sum())

    def take(self, rows: NDArray[Any]) -> Incidence:
        """Some of the tuples of a panel that is not stacked."""
        matrix = self.matrix[:, rows] if self.is_dense else self.matrix[rows]
        return replace(self, matrix=matrix, weights=self.weights[:, rows])

    def blocks(self) -> tuple[tuple[Incidence, slice], ...]:
        """A long sparse panel in pieces of consecutive rows, with these rows, without copying votes."""
        return tuple(self._pieces()) if self._is_long else ((self, slice(None)),)

    @cached_property
    def as_sparse(self) -> Incidence:
        """A panel that is not stacked, with its votes as a sparse matrix."""
        if not self.is_dense:
            return self
        row, column = np.nonzero(self.matrix[0])
        return replace(self, matrix=votes_by_juror(row, column, self.matrix.shape[1:], np.float32))

    @property
    def _is_long(self) -> bool:
        return not (self.rows <= _BLOCK or self.is_dense or self.stack > 1)

    def _pieces(self) -> Iterator[tuple[Incidence, slice]]:
        """One after the other: each transposes its votes, which takes as much memory again while it is used."""
        for first in range(0, self.rows, _BLOCK):
            rows = slice(first, min(first + _BLOCK, self.rows))
            pointer = self.matrix.indptr[rows.start : rows.stop + 1]
            votes = slice(pointer[0], pointer[-1])
            part = self.matrix.data[votes], self.matrix.indices[votes], pointer - pointer[0]
            matrix = type(self.matrix)(part, shape=(len(pointer) - 1, self.matrix.shape[1]))
            yield replace(self, matrix=matrix, weights=self.weights[:, rows]), rows

    @property
    def held(self) -> int:
        """How many votes one panel of the stack has in memory: each tuple's once, whatever its weight."""
        return int(np.count_nonzero(self.matrix)) if self.is_dense else int(self.matrix.nnz)

    @property
    def is_shared(self) -> bool:
        """Whether all panels of the stack have the same votes, and differ in weights only (as resampled ones do)."""
        return bool(self.matrix.shape[0] == (1 if self.is_dense else self.rows))

    @cached_property
    def vote_shares(self) -> Floats:
        """Of each tuple's votes the share of each label (stack, R, T), with one vote spread over all."""
        cell = tile_per_juror(np.eye(self.labels, dtype=self.matrix.dtype), self.jurors)
        if self.stack > 1:
            cell = np.broadcast_to(cell, (self.stack, *cell.shape[1:]))
        votes = np.ascontiguousarray(self.scores(cell))  # exact
        shares = votes + np.array(1.0 / self.labels, dtype=votes.dtype)
        shares /= np.matmul(np.ones(self.labels, dtype=shares.dtype), shares)[:, None]
        return shares

    @cached_property
    def _transposed(self) -> Any:
        """The votes by cell, once: a sparse matrix takes some time to transpose."""
        return self.matrix.T

    @cached_property
    def turned_with_ones(self) -> Floats:
        """The transposed votes of a dense panel, and a last row of ones; a stack where panels differ in votes."""
        votes = self.matrix[0] if self.is_shared else self.matrix
        transposed = np.ones((*votes.shape[:-2], votes.shape[-1] + 1, self.rows), dtype=votes.dtype)
        transposed[..., :-1, :] = votes.swapaxes(-1, -2)
        return transposed

    @cached_property
    def _by_cell(self) -> Any:
        """The votes in columns: then no sum waits for the one before it, which is of another tuple."""
        return self.matrix.tocsc()

    def over_votes(self, by_cell: NDArray[Any]) -> NDArray[Any]:
        """Sum (jurors*labels, any number) over the votes of each tuple: (T, as many), of one sparse panel."""
        return np.asarray((self._by_cell if by_cell.shape[1] <= _FEW_COLUMNS else self.matrix) @ by_cell)

    def into_cells(self, by_tuple: NDArray[Any]) -> NDArray[Any]:
        """Sum (T, any number) into the votes they fall on: (jurors*labels, as many), of one sparse panel."""
        return np.asarray(self._transposed @ by_tuple)

    def scores(self, table: Floats) -> Floats:
        """Sum a (stack, classes, jurors*labels) table over the votes of each tuple: (stack, classes, T).

        It is as precise as the table. Sparse votes give it as a view, the classes of a tuple adjacent in memory: so
        the product leaves them, and so `counts` takes them.
        """
        stack, classes, cells = table.shape
        if self.is_dense and self.is_shared:  # one product for all panels is four times as fast as one for each
            return np.asarray(table.reshape(-1, cells) @ self.turned_with_ones[:-1]).reshape(stack, classes, -1)
        if self.is_dense:
            return np.asarray(np.matmul(table, self.matrix.transpose(0, 2, 1)))
        if self._is_long:
            sums = np.empty((1, classes, self.rows), dtype=np.result_type(table, self.matrix.dtype))
            for block, rows in self._pieces():
                sums[:, :, rows] = block.scores(table)
            return sums
        if self.is_shared:
            return self.over_votes(np.ascontiguousarray(table.reshape(-1, cells).T)).T.reshape(stack, classes, -1)
        flat = self.matrix @ np.ascontiguousarray(table.transpose(0, 2, 1)).reshape(-1, classes)
        return np.asarray(flat.reshape(stack, -1, classes).transpose(0, 2, 1))

    def counts(self, mass: Floats) -> Floats:
        """Sum (stack, classes, T) masses into the votes they fall on: (stack, classes, jurors*labels)."""
        stack, classes, rows = mass.shape
        if self._is_long:
            return np.asarray(sum(block.counts(mass[:, :, part]) for block, part in self._pieces()))
        if self.is_dense and self.is_shared:
            return np.asarray(mass.reshape(-1, rows) @ self.matrix[0]).reshape(stack, classes, -1)
        if self.is_dense:
            return np.asarray(np.matmul(mass, self.matrix))
        if self.is_shared:
            shared = self.into_cells(np.ascontiguousarray(mass.reshape(-1, rows).T))
            return np.ascontiguousarray(shared.T).reshape(stack, classes, -1)
        flat = self._transposed @ np.ascontiguousarray(mass.transpose(0, 2, 1)).reshape(-1, classes)
        return np.ascontiguousarray(flat.reshape(stack, -1, classes).transpose(0, 2, 1))

    def sums(self, mass: Floats) -> tuple[Floats, Floats]:
        """Sum (stack, classes, T) masses over tuples, (stack, classes), and into the votes, as `counts` does."""
        stack, classes, rows = mass.shape
        if self.is_dense and self.is_shared:  # one product for both
            both = (mass.reshape(-1, rows) @ self.turned_with_ones.T).reshape(stack, classes, -1)
            return both[:, :, -1], both[:, :, :-1]
        return np.matmul(mass, np.ones((rows, 1), dtype=mass.dtype))[:, :, 0], self.counts(mass)


def tile_per_juror(table: Floats, jurors: int) -> Floats:
    """(1, R, jurors*labels): a table of true label and vote, once per juror; np.tile takes twice as long."""
    size = len(table)
    cells = np.empty((1, size, jurors, size), dtype=table.dtype)
    cells[:] = table[:, None]
    return cells.reshape(1, size, -1)


def is_best_dense(cells: int, votes: int) -> bool:
    """Whether an ordinary array of so many cells is faster than a sparse one of the votes in it."""
    return cells <= _SMALL_CELLS or (cells <= _DENSE_CELLS and cells <= 8 * votes)


def incidence_of(sketch: Sketch) -> Incidence:
    """The one-hot matrix of a sketch's tuples; a tuple without a vote weighs nothing.

    Examples
    --------
    >>> incidence_of(Sketch.from_counts({("A", "B"): 3, ("A", None): 2}, jurors=("ann", "bob"))).votes
    8.0
    """
    weights = np.where(sketch.cast > 0, sketch.counts, 0)
    votes = sketch.tuples.triples()
    return Incidence.from_triples(*votes, weights, jurors=len(sketch.jurors), labels=len(sketch.labels))


def votes_by_juror(row: Integers, juror: NDArray[Any], shape: tuple[int, int], kind: Any = np.float64) -> Any:
    """Rows x jurors, one where a juror voted, as a sparse array; votes are sorted by row."""
    pointer = np.zeros(shape[0] + 1, dtype=np.int32 if len(row) < 2**31 else np.int64)
    np.cumsum(np.bincount(row, minlength=shape[0]), out=pointer[1:])
    ones, column = np.ones(len(row), dtype=kind), juror.astype(pointer.dtype, copy=False)
    return sparse.csr_array((ones, column, pointer), shape=shape)


def sum_by_cell(
    row: Integers, cell: NDArray[Any], cells: int, table: NDArray[Any], weight: Floats | None = None
) -> NDArray[Any]:
    """Sum a table's rows over votes, cell by cell (a juror, or a juror and a label).

    Parameters
    ----------
    row, cell
        Of each vote, its row of the table, and the cell to which it counts; sorted by row.
    weight
        Of each vote; one where it is left out.

    Returns
    -------
    (cells, columns) array of the table's dtype

    Examples
    --------
    >>> sum_by_cell(np.array([0, 0, 1]), np.array([0, 1, 0]), 2, np.array([[0.5, 2.0], [1.0, 4.0]])).tolist()
    [[1.5, 6.0], [0.5, 2.0]]
    """
    if len(row) * table.shape[1] <= _FEW_TERMS and table.dtype == np.float64:
        ones = np.ones(len(row)) if weight is None else weight
        columns = [np.bincount(cell, ones * column[row], cells) for column in table.T]
        return np.stack(columns, axis=1)
    votes = votes_by_juror(row, cell, (len(table), cells), table.dtype)
    if weight is not None:
        votes.data[:] = weight
    return np.asarray(votes.T @ np.ascontiguousarray(table))


def parts_of(sketch: Sketch) -> Iterator[tuple[Sketch, slice]]:
    """The tuples in consecutive parts, with their rows: memory stays flat in sums over a hundred million votes.

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
    def _sharing(self) -> tuple[Integers, Integers, Floats]:
        """First juror, second juror and common items of each pair."""
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
        is_pair = (row < table.indices) & (table.data > 0)
        return row[is_pair], table.indices[is_pair].astype(np.int64), table.data[is_pair]

    @property
    def first(self) -> Integers:
        """The position of each pair's first juror."""
        return self._sharing[0]

    @property
    def second(self) -> Integers:
        """The position of each pair's second juror."""
        return self._sharing[1]

    @property
    def items(self) -> Floats:
        """On how many items both jurors of each pair voted."""
        return self._sharing[2]

    @cached_property
    def agreed(self) -> Floats:
        """On how many of them the two voted the same."""
        size = len(self.sketch.labels)
        if self._listed is not None:
            return self._of_list(self._listed.first == self._listed.second)
        if not self._is_sparse and size <= _SPARSE_COST:  # each label is another dense product
            same = [self.count(label, label) for label in range(size)]
            return np.asarray(np.sum(same, axis=0), dtype=np.float64)
        total: Any = 0
        for part, _ in parts_of(self.sketch):
            row, juror, code = part.tuples.triples()  # a row of the product for each tuple and label
            weighted, plain = _table(part, row, juror, row * size + code, part.tuples.rows * size)
            total = total + weighted.T @ plain
        return self._of_pairs(total.tocsr())

    def never_apart(self, least: float) -> tuple[Integers, Integers, Floats]:
        """The pairs that never disagreed on at least so many common items: first, second, items."""
        same = np.flatnonzero(self.items >= least)
        same = same[self.items[same] - self.agreed[same] < 0.5]
        return self.first[same], self.second[same], self.items[same]

    def count(self, first: int | None, second: int | None) -> Floats:
        """On how many items each pair's first juror voted one label and the second another; None is any label."""
        if self._listed is not None:
            return self._of_list(self._listed.where(first, second))
        return self._of_pairs(self._product(first, second))

    def label_counts(self, label: int) -> tuple[Floats, Floats]:
        """On how many of a pair's items its first juror voted a label, and on how many its second did."""
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
        """Jurors x jurors: items on which one voted `left` and the other `right`; an array or a sparse one."""
        total: Any = 0
        if self._is_sparse:
            for part, _ in parts_of(self.sketch):
                total = total + self._column(left, part)[0].T @ self._column(right, part)[1]
            return total.tocsr()
        codes, counts = self.sketch.tuples.codes, self.sketch.counts
        width = len(self.sketch.jurors)
        total = np.zeros((width, width))
        step = max(_BLOCK_CELLS // width, 1)
        kind = np.dtype(np.float32 if self.sketch.items < _EXACT_SINGLES else np.float64)
        for start in range(0, len(codes), step):
            block = codes[start : start + step]
            columns = (block >= 0 if right is None else block == right).astype(kind)
            rows = columns if left == right else (block >= 0 if left is None else block == left).astype(kind)
            total += (rows * counts[start : start + step, None].astype(kind)).T @ columns
        return total

    @cached_property
    def _is_sparse(self) -> bool:
        cast = self.sketch.cast.astype(np.float64)
        tuples, width = self.sketch.tuples, len(self.sketch.jurors)
        return not tuples.is_dense or bool(tuples.rows * width**2 > _SPARSE_COST * (cast**2).sum() + _BLOCK_CELLS)

    def _column(self, label: int | None, part: Sketch) -> tuple[Any, Any]:
        """Tuples x jurors who voted a label, or any: with the tuples' counts, and with ones."""
        row, juror, code = part.tuples.triples()
        if label is not None:
            row, juror = row[code == label], juror[code == label]
        return _table(part, row, juror, row, part.tuples.rows)


@dataclass(frozen=True, slots=True)
class _Listed:
    """Every two votes on one tuple, the earlier juror's first: a third of the time of sparse products."""

    place: NDArray[np.int32]  # the first juror's position * jurors + the second's
    first: NDArray[Any]  # the label that the first juror voted
    second: NDArray[Any]
    items: Floats | None  # how many items the tuple has; None: one each
    jurors: int

    @classmethod
    def of(cls, sketch: Sketch) -> _Listed | None:
        """None where some tuples have so many votes that products are faster."""
        row, juror, code = sketch.tuples.triples()
        width, cast = len(sketch.jurors), sketch.cast
        most = int(cast.max(initial=1))
        pairs = int((cast * (cast - 1) // 2).sum())
        if width**2 > _MOST_PLACES or pairs > _MOST_LISTED or most * sketch.tuples.rows > _MOST_EMPTY * len(row):
            return None
        apart = [np.flatnonzero(row[k:] == row[:-k]) for k in range(1, most)]  # votes whose k-th next is on their tuple
        first = np.concatenate([np.zeros(0, dtype=np.int64), *apart])
        second = first + np.repeat(np.arange(1, most), [len(some) for some in apart])
        place = juror.astype(np.int32)[first] * np.int32(width) + juror[second].astype(np.int32)
        items = None if (sketch.counts == 1).all() else sketch.counts[row[first]].astype(np.float64)
        return cls(place, code[first], code[second], items, width)

    def where(self, first: int | None, second: int | None) -> Any:
        """Which of them are votes for these labels; None is any."""
        if first is None:
            return slice(None) if second is None else self.second == second
        return self.first == first if second is None else (self.first == first) & (self.second == second)

    def tally(self, which: Any) -> NDArray[Any]:
        """Items by pair of jurors, (jurors * jurors,)."""
        if not isinstance(which, slice):
            which = np.flatnonzero(which)  # flags at random are taken in a fifth of the time by their places
        items = None if self.items is None else self.items[which]
        return np.bincount(self.place[which], items, self.jurors**2)


def _table(part: Sketch, row: Integers, juror: NDArray[Any], side: Integers, sides: int) -> tuple[Any, Any]:
    """Sides x jurors, of votes on rows: with the tuples' counts, and with ones."""
    shape = (sides, len(part.jurors))
    weighted = sparse.csr_array((part.counts.astype(np.float64)[row], (side, juror)), shape=shape)
    return weighted, sparse.csr_array((np.ones(len(row)), weighted.indices, weighted.indptr), shape=shape)
