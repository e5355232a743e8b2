"""Votes hidden from a fit, to see whether it foretells them.

In fold f a quarter of the votes is hidden: juror j's vote on an item of group s when (j + s) mod 4 = f, with jurors
numbered by what they voted (`colours`), not by their order.  Items with the same decision tuple are dealt out to the
four groups, so tuples stay counts.  `model_choice` says what comes of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from jurors.evaluate.panel.colours import colour_ranks
from jurors.evaluate.panel.expectation import Parameters, Problem, class_table, expect
from jurors.numbers.arrays import Floats, Integers
from jurors.sketch.incidence import Incidence

FOLDS = 4
LARGE = 400_000  # (tuple, juror) votes from which only a sample of the tuples has votes hidden
_CROWDED = 3.0  # items per dealt tuple from which equal visible votes are folded together


@dataclass(frozen=True, slots=True)
class Hidden:
    """The hidden votes, one entry each."""

    panel: Integers  # which fold hides it
    row: Integers  # its tuple
    seen: Integers  # the row of the fitted panel that holds the item's visible votes
    cell: Integers  # juror * labels + label
    items: Floats  # how many items the tuple has

    def chances(self, problem: Problem, at: Parameters) -> Floats:
        """Log-chance of each hidden vote given its item's visible votes."""
        posterior, _ = expect(problem, at)
        table = np.exp(class_table(at))
        if problem.data.is_dense:  # so few cells that every vote is foretold, cast or not
            return np.asarray(np.log(np.matmul(posterior.transpose(0, 2, 1), table)[self.panel, self.seen, self.cell]))
        by_row, by_cell = (np.ascontiguousarray(part.transpose(0, 2, 1)) for part in (posterior, table))
        rows, cells = by_row.shape[1], by_cell.shape[1]
        seen = by_row.reshape(-1, by_row.shape[2])[self.panel * rows + self.seen]
        seen *= by_cell.reshape(-1, by_cell.shape[2])[self.panel * cells + self.cell]
        return np.asarray(np.log(seen @ np.ones(seen.shape[1], dtype=seen.dtype)), dtype=np.float64)


def fold_equal(visible: Incidence, hidden: Hidden) -> tuple[Incidence, Hidden] | None:
    """Rows whose visible votes are equal made one row, with a weight in each fold; None where that saves nothing.

    Few jurors with one of them hidden leave far fewer patterns than there are tuples.
    """
    if not visible.is_dense or visible.weights[0].mean() < _CROWDED:
        return None
    bits = np.packbits(visible.matrix.reshape(visible.stack * visible.rows, -1).astype(bool), axis=1)
    packed = np.ascontiguousarray(bits).view(np.dtype((np.void, bits.shape[1]))).ravel()
    _, first, inverse = np.unique(packed, return_index=True, return_inverse=True)
    if len(first) >= visible.rows:
        return None
    place = inverse.reshape(visible.stack, visible.rows)
    weights = np.stack([np.bincount(row, visible.weights[0], len(first)).astype(np.float64) for row in place])
    matrix = visible.matrix.reshape(visible.stack * visible.rows, -1)[first][None]
    return replace(visible, matrix=matrix, weights=weights), replace(hidden, seen=place[hidden.panel, hidden.row])


def _deal(weights: Floats, rank: Integers) -> tuple[Integers, Integers, Floats]:
    """Deal each tuple's items out to the groups as evenly as possible: (group, tuple, items) of the filled hands."""
    each = np.floor(weights / FOLDS)
    turn = (np.arange(FOLDS)[:, None] - rank) % FOLDS  # leftovers start at another group each time
    hands = each + np.clip(weights - FOLDS * each - turn, 0.0, 1.0)
    group, row = np.nonzero(hands)
    return group, row, hands[group, row]


def hide(data: Incidence, folds: int = FOLDS, share: float = 1.0) -> tuple[Incidence, Hidden, Integers]:
    """Stack the (first) folds: their visible votes, their hidden votes, and the tuple each row came from.

    With a `share` below 1 only so many of the tuples are there, any of them.
    """
    jurors, tuples = colour_ranks(data)
    some = np.flatnonzero(tuples < share * data.rows)
    group, row, items = _deal(data.weights[0, some], tuples[some])
    row = some[row]
    build = _mask_dense if data.is_dense else _mask_sparse
    matrix, (panel, place, cell) = build(data, jurors, group, row, folds)
    visible = replace(data, matrix=matrix, weights=np.broadcast_to(items, (folds, len(items))))
    return visible, Hidden(panel, place, place, cell, items[place]), row


def _mask_dense(
    data: Incidence, rank: Integers, group: Integers, row: Integers, folds: int
) -> tuple[Floats, tuple[Integers, ...]]:
    hot = data.matrix[0][row]
    turn = (np.repeat(rank, data.labels) + group[:, None]) % FOLDS
    unseen = (turn == np.arange(folds)[:, None, None]) & (hot > 0)
    return hot - unseen, np.unravel_index(np.flatnonzero(unseen), unseen.shape)


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
    away = turn < folds
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
    hidden = Hidden(np.zeros_like(place), place, place, cell, data.weights[0, place])
    return replace(data, matrix=csr_array(part, shape=matrix.shape)), hidden
