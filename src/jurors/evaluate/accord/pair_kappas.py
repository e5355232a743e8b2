"""Each pair's kappa with its standard error, and the mean of all pairs: from one table of labels by labels per pair.

With p_ab the share of a pair's common items called a by the first and b by the second, and weights w (1 for the same):
    κ = (Σ w p - Σ w p_a. p_.b) / (1 - Σ w p_a. p_.b);  an item called a and b moves it by
    φ_ab = [w_ab - Σ w p - (1 - κ) (w̄_a. + w̄_.b - 2 Σ w p_a. p_.b)] / (1 - Σ w p_a. p_.b)
which is Fleiss, Cohen and Everitt's (1969) variance. All tables come from one sparse product of the votes, some jurors
at a time; an item's move of the mean is the sum over its pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from jurors.evaluate.accord.beyond_chance import label_weights
from jurors.evaluate.accord.coefficient import Coefficient, Weights, standard_error
from jurors.numbers.arrays import Floats, Integers
from jurors.sketch import Sketch

_TABLE_CELLS = 1 << 23  # cells of the pairs' tables at a time
_BLOCK_CELLS = 1 << 22
_MOST_WORK = 4_000_000_000  # multiplications for an item's move of the mean


@dataclass(frozen=True)
class PairKappa:
    """A kappa of every pair that shares an item, its standard error, and the mean."""

    weights: Weights
    kappa: Floats  #: NaN where it does not exist
    error: Floats  #: NaN where it has none
    mean: Coefficient


def pair_kappas(
    sketch: Sketch, first: Integers, second: Integers, weights: Sequence[Weights], level: float
) -> list[PairKappa]:
    """These kappas of these pairs (positions of jurors, sorted)."""
    size, width = len(sketch.labels), len(sketch.jurors)
    row, juror, said = sketch.tuples.triples()
    shape = (sketch.tuples.rows, width * size)
    one_hot = sparse.csr_array((np.ones(len(row)), (row, juror.astype(np.int64) * size + said)), shape=shape)
    counts = sketch.counts.astype(np.float64)
    similar = [label_weights(one, size) for one in weights]
    kappa, error = np.full((2, len(weights), len(first)), np.nan)
    is_mean = len(row) * width * size <= _MOST_WORK
    influence = np.zeros((len(weights), len(counts)))
    for jurors, pairs in _blocks(first, width, size):
        tables = _tables(one_hot, counts, jurors, (first[pairs], second[pairs]), size)
        for k, close in enumerate(similar):
            kappa[k, pairs], moved = _kappas(tables, close)
            items = tables.sum(axis=(1, 2))
            error[k, pairs] = _errors(tables, moved, items)
            if is_mean:
                spread = _spread(moved / items[:, None, None], jurors, (first[pairs], second[pairs]), width, size)
                influence[k] += _moves(one_hot, jurors, spread, size)
    return [
        PairKappa(one, kappa[k], error[k], mean_kappa(one, kappa[k], influence[k] if is_mean else None, sketch, level))
        for k, one in enumerate(weights)
    ]


def _blocks(first: Integers, width: int, size: int) -> Iterator[tuple[range, slice]]:
    """Jurors in consecutive ranges, and where the pairs stand whose first juror is among them."""
    step = max(_TABLE_CELLS // (width * size**2), 1)
    for start in range(0, width, step):
        ends = np.searchsorted(first, (start, start + step))
        if ends[0] < ends[1]:
            yield range(start, min(start + step, width)), slice(int(ends[0]), int(ends[1]))


def _tables(one_hot: Any, counts: Floats, jurors: range, pairs: tuple[Integers, Integers], size: int) -> Floats:
    """Pairs x labels x labels: items by what the two said."""
    some = one_hot[:, jurors.start * size : jurors.stop * size]
    product = (sparse.diags_array(counts) @ some).T @ one_hot
    whole = product.toarray().reshape(len(jurors), size, -1, size)
    return np.asarray(whole[pairs[0] - jurors.start, :, pairs[1], :])


def _kappas(tables: Floats, close: Floats) -> tuple[Floats, Floats]:
    """Each pair's kappa, and how far an item moves it by what the two said of it."""
    shares = tables / tables.sum(axis=(1, 2), keepdims=True)
    left, right = shares.sum(axis=2), shares.sum(axis=1)
    near_right, near_left = right @ close.T, left @ close
    observed, chance = (shares * close).sum(axis=(1, 2)), (left * near_right).sum(axis=1)
    room = np.where(1 - chance > 1e-12, 1 - chance, np.nan)
    kappa = (observed - chance) / room
    expected = near_right[:, :, None] + near_left[:, None, :] - 2 * chance[:, None, None]
    moved = close - observed[:, None, None] - (1 - kappa)[:, None, None] * expected
    return kappa, moved / room[:, None, None]


def _errors(tables: Floats, moved: Floats, items: Floats) -> Floats:
    squares = (tables * moved**2).sum(axis=(1, 2))
    return standard_error(squares, items)


def _spread(moved: Floats, jurors: range, pairs: tuple[Integers, Integers], width: int, size: int) -> Floats:
    """The same by (juror, label) of the first, of the second."""
    spread = np.zeros((len(jurors), size, width, size))
    spread[pairs[0] - jurors.start, :, pairs[1], :] = np.nan_to_num(moved)
    return spread.reshape(len(jurors) * size, width * size)


def _moves(one_hot: Any, jurors: range, spread: Floats, size: int) -> Floats:
    """Each tuple's sum over its pairs."""
    moves = np.empty(one_hot.shape[0])
    step = max(_BLOCK_CELLS // one_hot.shape[1], 1)
    for start in range(0, len(moves), step):
        rows = one_hot[start : start + step]
        through = rows[:, jurors.start * size : jurors.stop * size] @ spread
        moves[start : start + step] = rows.multiply(through).sum(axis=1)
    return moves


def mean_kappa(weights: Weights, kappa: Floats, influence: Floats | None, sketch: Sketch, level: float) -> Coefficient:
    """The mean of the pairs' kappas, with its interval over items from how far each tuple moves the sum."""
    known = kappa[~np.isnan(kappa)]
    name = "mean_kappa"
    if not len(known):
        return Coefficient(name, weights, None, sketch.items)
    mean = Coefficient(name, weights, float(known.mean()), sketch.items)
    if influence is None:
        return mean
    return mean.over_items(influence * sketch.items / len(known), sketch.counts, level)
