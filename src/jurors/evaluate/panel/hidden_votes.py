"""Votes hidden from a fit, to see whether it foretells them.

In fold f a quarter of the votes is hidden: juror j's vote on an item of group s when (j + s) mod 4 = f, with jurors
numbered by what they voted (`colours`), not by their order.  Items with the same decision tuple are dealt out to the
four groups, so tuples stay counts.  `model_choice` says what comes of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.evaluate.panel.colours import Ranks, colour_ranks
from jurors.evaluate.panel.expectation import Parameters, Problem, class_table, expect
from jurors.numbers.arrays import Flags, Floats, Integers
from jurors.sketch.incidence import Incidence

FOLDS = 4
LARGE = 400_000  # (tuple, juror) votes from which only a sample of the tuples has votes hidden
_CROWDED = 3.0  # items per dealt tuple from which equal visible votes are folded together
_WORD = 64  # cells that one number has bits for


@dataclass(frozen=True)
class Hidden:
    """The hidden votes, one entry each."""

    panel: Integers  # which fold hides it
    row: Integers  # its tuple
    seen: Integers  # the row of the fitted panel that holds the item's visible votes
    cell: Integers  # juror * labels + label
    dealt: Floats  # how many items each tuple has

    @cached_property
    def items(self) -> Floats:
        """How many items the tuple of each vote has."""
        return self.dealt[self.row]

    def chances(self, problem: Problem, at: Parameters) -> Floats:
        """Log-chance of each hidden vote given its item's visible votes."""
        posterior, _ = expect(problem, at)
        table = np.exp(class_table(at))
        if problem.data.is_dense:  # so few cells that every vote is foretold, cast or not
            foretold = np.matmul(posterior.transpose(0, 2, 1), table)
            place = (self.panel * foretold.shape[1] + self.seen) * foretold.shape[2] + self.cell
            return np.asarray(np.log(foretold.ravel().take(place)))
        by_row, by_cell = (np.ascontiguousarray(part.transpose(0, 2, 1)) for part in (posterior, table))
        rows, cells = by_row.shape[1], by_cell.shape[1]
        seen = by_row.reshape(-1, by_row.shape[2])[self.panel * rows + self.seen]
        seen *= by_cell.reshape(-1, by_cell.shape[2])[self.panel * cells + self.cell]
        return np.asarray(np.log(seen @ np.ones(seen.shape[1], dtype=seen.dtype)), dtype=np.float64)


def _deal(weights: Floats, rank: Integers) -> tuple[Integers, Integers, Floats]:
    """Deal each tuple's items out to the groups as evenly as possible: (group, tuple, items) of the filled hands."""
    each = np.floor(weights / FOLDS)
    turn = (np.arange(FOLDS)[:, None] - rank) % FOLDS  # leftovers start at another group each time
    hands = each + np.minimum(np.maximum(weights - FOLDS * each - turn, 0.0), 1.0)
    group, row = np.nonzero(hands)
    return group, row, hands[group, row]


def hide(
    data: Incidence, folds: int = FOLDS, share: float = 1.0, *, fold_equal: bool = False, ranks: Ranks | None = None
) -> tuple[Incidence, Hidden, Integers]:
    """Stack the (first) folds: their visible votes, their hidden votes, and the tuple each row came from.

    With a `share` below 1 only so many of the tuples are there, any of them. With `fold_equal`, rows whose visible
    votes are equal may be one row, with a weight in each fold: few jurors with one of them hidden leave far fewer
    patterns than there are tuples.
    """
    jurors, tuples = ranks or colour_ranks(data)
    some = np.flatnonzero(tuples < share * data.rows)
    group, row, items = _deal(data.weights[0, some], tuples[some])
    row = some[row]
    if data.is_dense:
        masks = _Masks(data, jurors, (np.arange(folds)[:, None] - group) % FOLDS, row)
        panel, place, cell = masks.hidden()
        if fold_equal and items.mean() >= _CROWDED and (folded := masks.folded(items)) is not None:
            matrix, weights, seen = folded
            return (
                replace(data, matrix=matrix, weights=weights),
                Hidden(panel, place, seen[panel, place], cell, items),
                row,
            )
        visible = replace(data, matrix=masks.visible(), weights=np.broadcast_to(items, (folds, len(items))))
        return visible, Hidden(panel, place, place, cell, items), row
    matrix, (panel, place, cell) = _mask_sparse(data, jurors, group, row, folds)
    visible = replace(data, matrix=matrix, weights=np.broadcast_to(items, (folds, len(items))))
    return visible, Hidden(panel, place, place, cell, items), row


@dataclass(frozen=True)
class _Masks:
    """Which votes of a dense panel are hidden: in mask m those of the jurors of rank m mod 4."""

    data: Incidence
    rank: Integers
    mask: Integers  # (folds, rows) of each row in each fold
    row: Integers  # its tuple

    @cached_property
    def _cast(self) -> Flags:
        return np.asarray(self.data.matrix[0] > 0)

    @cached_property
    def _away(self) -> Flags:
        """(FOLDS, cells): the cells that each mask hides."""
        return np.asarray(np.repeat(self.rank, self.data.labels) % FOLDS == np.arange(FOLDS)[:, None])

    def visible(self) -> Floats:
        """(folds, rows, cells): what is left of the votes."""
        return np.asarray(self.data.matrix[0][self.row] * ~self._away[self.mask])

    def hidden(self) -> tuple[Integers, Integers, Integers]:
        """The fold, row and cell of every hidden vote."""
        unseen = self._away[self.mask]
        unseen &= self._cast[self.row]
        place, cell = np.divmod(np.flatnonzero(unseen), unseen.shape[2])
        return *np.divmod(place, unseen.shape[1]), cell

    def folded(self, items: Floats) -> tuple[Floats, Floats, Integers] | None:
        """The distinct rows of visible votes, their weights in each fold, and which of them each row is in each fold.

        None where there are as many. Tuples under a mask are looked through, not rows: items of one tuple in the same
        group are hidden alike.
        """
        under = self.mask * self.data.rows + self.row
        used = np.zeros(FOLDS * self.data.rows, dtype=np.bool_)
        used[under] = True
        votes = (self._cast & ~self._away[:, None]).reshape(len(used), -1)[used]
        first, inverse = _distinct(votes)
        if len(first) >= len(self.row):
            return None
        place = inverse[np.cumsum(used)[under] - 1]
        cell = place + np.arange(len(place))[:, None] * len(first)
        weights = np.bincount(cell.ravel(), np.tile(items, len(place)), len(place) * len(first)).astype(np.float64)
        return votes[first][None].astype(self.data.matrix.dtype), weights.reshape(len(place), -1), place


def _distinct(votes: Flags) -> tuple[Integers, Integers]:
    """The first of each of some rows of flags, and which of these every row is."""
    bits = np.packbits(votes, axis=1)
    packed: NDArray[Any]
    if votes.shape[1] <= _WORD:  # numbers are sorted in a third of the time
        filled = np.zeros((len(bits), _WORD // 8), dtype=np.uint8)
        filled[:, : bits.shape[1]] = bits
        packed = filled.view(">u8").ravel().astype(np.uint64)
    else:
        packed = bits.view(np.dtype((np.void, bits.shape[1]))).ravel()
    _, first, inverse = np.unique(packed, return_index=True, return_inverse=True)
    return first, inverse


def _mask_sparse(
    data: Incidence, rank: Integers, group: Integers, row: Integers, folds: int
) -> tuple[Any, tuple[Integers, ...]]:
    """Block-diagonal, one block per fold, so that one product serves all folds."""
    from scipy.sparse import csr_array

    hot = data.matrix[row]
    cells, votes = data.jurors * data.labels, np.diff(hot.indptr)
    down, across = np.repeat(np.arange(len(row)), votes), hot.indices
    turn = (rank[across // data.labels] + group[down]) % FOLDS
    seen = turn != np.arange(folds)[:, None]
    before = np.concatenate([[0], np.cumsum(seen)])
    starts = (np.arange(folds)[:, None] * len(across) + hot.indptr[:-1]).ravel()
    pointer = before[np.append(starts, folds * len(across))]
    place = (np.arange(folds)[:, None] * cells + across)[seen]
    matrix = csr_array((np.ones(len(place), dtype=np.float32), place, pointer), shape=(folds * len(row), folds * cells))
    away = np.flatnonzero(turn < folds)
    return matrix, (turn[away].astype(np.int64), down[away], across[away].astype(np.int64))


def sample(rows: int, share: float, seed: int) -> Integers:
    """Draw a share of the rows, in order."""
    size = min(rows, max(1, round(rows * share)))
    return np.sort(np.random.default_rng(seed).choice(rows, size, replace=False))


def hide_some(data: Incidence, seed: int) -> tuple[Incidence, Hidden]:
    """Hide the votes with (j + tuple) mod 4 = 0 of a seeded sample of tuples, which has about LARGE / 2 votes."""
    from scipy.sparse import csr_array

    matrix = data.matrix
    picked = np.zeros(data.rows, dtype=np.bool_)
    picked[sample(data.rows, LARGE / (2 * matrix.nnz), seed)] = True
    row = np.repeat(np.arange(data.rows), np.diff(matrix.indptr))
    away = picked[row] & ((matrix.indices // data.labels + row) % FOLDS == 0)
    before = np.concatenate([[0], np.cumsum(~away, dtype=matrix.indptr.dtype)])
    part = matrix.data[~away], matrix.indices[~away], before[matrix.indptr]
    place, cell = row[away], matrix.indices[away].astype(np.int64)
    hidden = Hidden(np.zeros_like(place), place, place, cell, data.weights[0])
    return replace(data, matrix=csr_array(part, shape=matrix.shape)), hidden
