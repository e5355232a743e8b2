"""Numbers that tell jurors and tuples apart by what was voted alone: no order and no name takes part.

Colour refinement: jurors start alike, and labels; a tuple's colour is made of the colours of those who say the same on
it and of what they say, and a juror's and a label's of the tuples they stand on and of who is beside them there. Sums
of hashed whole numbers, modulo 2⁶⁴, are exact, and the same in any order of jurors, labels and tuples. Who is left with
the same colour after three rounds has (but for rare symmetric panels) the same votes.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors.numbers.arrays import Integers
from jurors.sketch.incidence import Incidence

Words: TypeAlias = NDArray[np.uint64]
Ranks: TypeAlias = tuple[Integers, Integers]  #: of jurors, and of tuples
_ROUNDS = 3
_GOLDEN, _FIRST = np.uint64(0x9E3779B97F4A7C15), np.uint64(30)  # the constants of splitmix64
_TURNS = tuple((np.uint64(s), np.uint64(f)) for s, f in ((27, 0xBF58476D1CE4E5B9), (31, 0x94D049BB133111EB)))


def colour_ranks(data: Incidence) -> Ranks:
    """The rank of each juror and of each tuple by colour, of the first panel of a stack.

    Examples
    --------
    >>> table = np.array([[0, 0, 1], [0, 1, 1], [1, 1, 1]])
    >>> jurors, tuples = colour_ranks(Incidence.from_codes(table, [5, 2, 3], labels=2))
    >>> turned = colour_ranks(Incidence.from_codes(1 - table[:, ::-1], [5, 2, 3], labels=2))
    >>> (turned[0] == jurors[::-1]).all(), (turned[1] == tuples).all()
    (np.True_, np.True_)
    """
    row, cell = np.nonzero(data.matrix[0]) if data.is_dense else _entries(data)
    juror = cell // data.labels
    # Sides lie label by label, so that sums over labels and words for tuples run along memory.
    side = np.multiply(juror, -data.labels)
    side += cell
    side *= data.rows
    side += row
    items = data.weights[0].astype(np.uint64)
    heads = np.bincount(side, minlength=data.rows * data.labels).astype(np.uint64).reshape(data.labels, -1)
    sides = heads * _ALIKE  # at first all jurors are alike, and all labels: a sum over those on a side is their number
    for last in range(_ROUNDS - 1, -1, -1):
        tuples = _mixed(np.add.reduce(_mixed(sides), axis=0) + items)
        words = items * _mixed(sides + tuples)
        jurors = _sums(juror, words.ravel()[side], data.jurors)
        if last:
            mixed = _mixed(np.concatenate([jurors, np.add.reduce(heads * words, axis=1)]))
            sides = _sums(side, mixed[juror], heads.size).reshape(heads.shape) + mixed[data.jurors :, None]
    return _ranks(jurors), _ranks(tuples)


def _entries(data: Incidence) -> tuple[Integers, Integers]:
    """The row and the cell of every vote of a sparse panel."""
    first = data.matrix.indptr[: data.rows + 1]
    return np.repeat(np.arange(data.rows), np.diff(first)), data.matrix.indices[: first[-1]].astype(np.int64)


def _mixed(words: Words) -> Words:
    """Spread every bit over all of them (splitmix64)."""
    words = words + _GOLDEN
    high = words >> _FIRST  # in place from here on: new memory takes longer than what is done in it
    for shift, factor in _TURNS:
        words ^= high
        words *= factor
        np.right_shift(words, shift, out=high)
    words ^= high
    return words


def _sums(place: Integers, words: Words, size: int) -> Words:
    total = np.zeros(size, dtype=np.uint64)
    np.add.at(total, place, words)
    return total


_ALIKE = _mixed(np.zeros(1, dtype=np.uint64))


def _ranks(words: Words) -> Integers:
    ranks = np.empty(len(words), dtype=np.int64)
    ranks[np.argsort(words, kind="stable")] = np.arange(len(words))
    return ranks
