"""Who said what, tuple by tuple, as a one-hot matrix: sums over votes become matrix products, dense or sparse alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from jurors._numeric import Floats


_DENSE_CELLS = 4_000_000  # above this many cells of X, compressed sparse rows are smaller and faster ...
_BLOCK = 1 << 17  # rows of a sparse panel taken at a time: memory stays flat
_SMALL_CELLS = 100_000  # ... below this many never, and in between when fewer than one cell in eight is a vote
_FULL = 0.6  # share of all votes, cast or not, from which two jurors' votes are summed as one
_FEW_ANSWERS = 0.1  # joint answers of two jurors per vote, at most, for that
_FEW_COLUMNS = 16  # summed over votes up to which votes by cell are quicker than votes by tuple


@dataclass(frozen=True)
class Incidence:
    """Who said what, tuple by tuple, as a one-hot matrix with a weight for every tuple.

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
        if not is_best_dense(rows * jurors * labels, int(np.count_nonzero(table >= 0))):
            row, juror = np.nonzero(table >= 0)
            return cls.from_triples(row, juror, table[row, juror], mass, jurors=jurors, labels=labels)
        hot = table[:, :, None] == np.arange(labels)
        return cls(hot.reshape(1, rows, jurors * labels).astype(np.float64), mass[None], jurors, labels)

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
        from scipy.sparse import csr_array

        pointer = np.zeros(len(mass) + 1, dtype=np.int64)
        np.cumsum(np.bincount(row, minlength=len(mass)), out=pointer[1:])
        index = np.dtype(np.int32 if max(len(row), jurors * labels) < 2**31 else np.int64)
        column: NDArray[Any] = juror.astype(index)  # small integers: ten million votes are many
        column *= labels
        column += label.astype(index)
        shape = (len(mass), jurors * labels)
        matrix = csr_array((np.ones(len(row), dtype=np.float32), column, pointer.astype(index)), shape=shape)
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
        """Cut a long sparse panel into pieces of consecutive rows, without copying votes."""
        return tuple(self._pieces()) if self._is_long else ((self, slice(None)),)

    @property
    def _is_long(self) -> bool:
        return not (self.rows <= _BLOCK or self.is_dense or self.stack > 1)

    def _pieces(self) -> Iterator[tuple[Incidence, slice]]:
        """One after the other: each turns its votes by cell, which is as much memory again while it is held."""
        for first in range(0, self.rows, _BLOCK):
            rows = slice(first, min(first + _BLOCK, self.rows))
            pointer = self.matrix.indptr[rows.start : rows.stop + 1]
            votes = slice(pointer[0], pointer[-1])
            part = self.matrix.data[votes], self.matrix.indices[votes], pointer - pointer[0]
            matrix = type(self.matrix)(part, shape=(len(pointer) - 1, self.matrix.shape[1]))
            yield replace(self, matrix=matrix, weights=self.weights[:, rows]), rows

    @property
    def held(self) -> int:
        """How many votes one panel of the stack holds in memory: each tuple's once, whatever its weight."""
        return int(np.count_nonzero(self.matrix)) if self.is_dense else int(self.matrix.nnz)

    @property
    def is_shared(self) -> bool:
        """Whether all panels of the stack have the same votes, and differ in weights only (as resampled ones do)."""
        return bool(self.matrix.shape[0] == (1 if self.is_dense else self.rows))

    @cached_property
    def vote_shares(self) -> Floats:
        """Of each tuple's votes the share of each label (stack, R, T), with one vote spread over all."""
        cell = once_per_juror(np.eye(self.labels, dtype=self.matrix.dtype), self.jurors)
        if self.stack > 1:
            cell = np.broadcast_to(cell, (self.stack, *cell.shape[1:]))
        votes = np.ascontiguousarray(self.scores(cell))  # exact
        shares = votes + np.array(1.0 / self.labels, dtype=votes.dtype)
        shares /= np.matmul(np.ones(self.labels, dtype=shares.dtype), shares)[:, None]
        return shares

    @cached_property
    def _turned(self) -> Any:
        """The votes by cell, once: to turn a matrix takes as long as a product with a small one."""
        return self.matrix.T

    @cached_property
    def turned_with_ones(self) -> Floats:
        """The votes of a dense panel by cell, and a last row of ones; a stack of them where panels differ in votes."""
        votes = self.matrix[0] if self.is_shared else self.matrix
        turned = np.ones((*votes.shape[:-2], votes.shape[-1] + 1, self.rows), dtype=votes.dtype)
        turned[..., :-1, :] = votes.swapaxes(-1, -2)
        return turned

    @cached_property
    def _by_cell(self) -> Any:
        """The votes again, cell after cell: then no sum waits for the one before it, which is of another tuple."""
        return self.matrix.tocsc()

    @cached_property
    def _by_two(self) -> tuple[Any, Any, Any, Any] | None:
        """What two jurors answer together, as one entry, where nearly everybody votes on everything: half the sums.

        Rows x joint answers (R + 1 by R + 1 for every two jurors), and joint answers x cells; then both turned.
        """
        pairs, size = (self.jurors + 1) // 2, (self.labels + 1) ** 2
        votes = self.matrix.nnz
        if self.stack > 1 or votes < _FULL * self.rows * self.jurors or pairs * size > _FEW_ANSWERS * votes:
            return None
        from scipy.sparse import csr_array

        matrix = self.matrix
        codes = np.zeros((self.rows, 2 * pairs), dtype=np.int32)  # 0 is no vote
        row = np.repeat(np.arange(self.rows), np.diff(matrix.indptr))
        juror = matrix.indices // self.labels
        codes[row, juror] = matrix.indices - (juror * self.labels - 1)
        joint = codes[:, 0::2] * (self.labels + 1) + codes[:, 1::2]
        cast = joint > 0
        pointer = np.zeros(self.rows + 1, dtype=np.int32)
        np.cumsum(cast.sum(axis=1), out=pointer[1:])
        place = (joint + np.arange(pairs, dtype=np.int32) * np.int32(size))[cast]
        answers = csr_array((np.ones(len(place), dtype=matrix.dtype), place, pointer), shape=(self.rows, pairs * size))
        cells = self._cells_of_answers(pairs, size)
        return answers, cells, answers.T, cells.T

    def _cells_of_answers(self, pairs: int, size: int) -> Any:
        """Joint answers x cells: the one or two votes that a joint answer is made of."""
        from scipy.sparse import csr_array

        said = np.stack(np.divmod(np.arange(size), self.labels + 1), axis=1)
        answer, side = np.nonzero(said)
        offset = np.arange(pairs)[:, None]
        row = (offset * size + answer).ravel()
        cell = ((2 * offset + side) * self.labels + said[answer, side] - 1).ravel()
        own = cell < self.jurors * self.labels  # of an odd number of jurors the last is alone
        ones = np.ones(int(own.sum()), dtype=self.matrix.dtype)
        return csr_array((ones, (row[own], cell[own])), shape=(pairs * size, self.jurors * self.labels))

    def over_votes(self, by_cell: NDArray[Any]) -> NDArray[Any]:
        """Sum (jurors*labels, any number) over the votes of each tuple: (T, as many), of one sparse panel."""
        two = self._by_two
        if two is not None:
            return np.asarray(two[0] @ (two[1] @ by_cell))
        return np.asarray((self._by_cell if by_cell.shape[1] <= _FEW_COLUMNS else self.matrix) @ by_cell)

    def into_cells(self, by_tuple: NDArray[Any]) -> NDArray[Any]:
        """Sum (T, any number) into the votes they fall on: (jurors*labels, as many), of one sparse panel."""
        two = self._by_two
        return np.asarray(self._turned @ by_tuple if two is None else two[3] @ (two[2] @ by_tuple))

    def scores(self, table: Floats) -> Floats:
        """Sum a (stack, classes, jurors*labels) table over the votes of each tuple: (stack, classes, T).

        It is as precise as the table. Sparse votes give it as a view, the classes of a tuple side by side in memory:
        so the product leaves them, and so `counts` takes them.
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
        flat = self._turned @ np.ascontiguousarray(mass.transpose(0, 2, 1)).reshape(-1, classes)
        return np.ascontiguousarray(flat.reshape(stack, -1, classes).transpose(0, 2, 1))

    def sums(self, mass: Floats) -> tuple[Floats, Floats]:
        """Sum (stack, classes, T) masses over tuples, (stack, classes), and into the votes, as `counts` does."""
        stack, classes, rows = mass.shape
        if self.is_dense and self.is_shared:  # one product for both
            both = (mass.reshape(-1, rows) @ self.turned_with_ones.T).reshape(stack, classes, -1)
            return both[:, :, -1], both[:, :, :-1]
        return np.matmul(mass, np.ones((rows, 1), dtype=mass.dtype))[:, :, 0], self.counts(mass)


def once_per_juror(table: Floats, jurors: int) -> Floats:
    """(1, R, jurors*labels): a table of true label and label said, once per juror; np.tile takes twice as long."""
    size = len(table)
    cells = np.empty((1, size, jurors, size), dtype=table.dtype)
    cells[:] = table[:, None]
    return cells.reshape(1, size, -1)


def is_best_dense(cells: int, votes: int) -> bool:
    """Whether an ordinary array of so many cells is quicker than the votes in it alone."""
    return cells <= _SMALL_CELLS or (cells <= _DENSE_CELLS and cells <= 8 * votes)
