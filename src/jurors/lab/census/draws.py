"""Tests drawn from a pool of labelled items, as counts by true label, in the two ways a reader must tell apart.

`shared`: all jurors answer the same items. Counts of decision tuples drawn without replacement from those of the pool
are multivariate hypergeometric, so no item needs to be touched.
`separate`: each juror answers items of its own, drawn separately within a true label, and answers are put side by side
in random order. How often a juror is right is hypergeometric, and where its answers fall beside those of the others is
hypergeometric again. Errors are independent by construction, whatever the jurors have in common.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from jurors._numeric import Flags, Integers
from jurors.errors import SketchError

Draw: TypeAlias = Literal["shared", "separate"]
DRAWS: tuple[Draw, ...] = ("shared", "separate")


def count_by_true_label(votes: Flags, truth: Flags) -> Integers:
    """Counts by true label and decision tuple, (2, 2^N), from votes (items x jurors) and true labels, all binary.

    The first juror is the most significant bit of a tuple's position.

    Examples
    --------
    >>> count_by_true_label(np.array([[True, False], [True, True]]), np.array([False, True])).tolist()
    [[0, 0, 1, 0], [0, 0, 0, 1]]
    """
    width = votes.shape[1]
    tuples = votes @ (1 << np.arange(width)[::-1])
    return np.bincount(truth * (1 << width) + tuples, minlength=2 << width).reshape(2, 1 << width)


def draw_tests(pool: Integers, sizes: tuple[int, int], tests: int, rng: np.random.Generator, *, draw: Draw) -> Integers:
    """Draw tests of `sizes[l]` items of true label l each from a pool (2, 2^N): counts (tests, 2, 2^N).

    Examples
    --------
    >>> pool = np.array([[50, 10, 10, 30], [20, 20, 20, 40]])
    >>> tests = draw_tests(pool, (10, 90), 3, np.random.default_rng(0), draw="shared")
    >>> tests.shape, tests.sum(axis=-1).tolist()
    ((3, 2, 4), [[10, 90], [10, 90], [10, 90]])
    """
    for held, size in zip(pool.sum(axis=1).tolist(), sizes, strict=True):
        if size > held:
            raise SketchError(f"a test needs {size:,} items of a label of which the pool has {held:,}")
    one = _draw_shared if draw == "shared" else _draw_separate
    return np.stack([one(row, size, tests, rng) for row, size in zip(pool, sizes, strict=True)], axis=1)


def _draw_shared(pool: Integers, size: int, tests: int, rng: np.random.Generator) -> Integers:
    return rng.multivariate_hypergeometric(pool, size, size=tests)


def _draw_separate(pool: Integers, size: int, tests: int, rng: np.random.Generator) -> Integers:
    said = second_label_votes(pool)
    total = int(pool.sum())
    return join_at_random(rng.hypergeometric(said, total - said, size, size=(tests, len(said))), size, rng)


def second_label_votes(counts: Integers) -> Integers:
    """How many items each juror gave the second label, (…, N), from counts (…, 2^N)."""
    width = counts.shape[-1].bit_length() - 1
    bits = (np.arange(counts.shape[-1])[:, None] >> np.arange(width)[::-1]) & 1
    return counts @ bits


def join_at_random(said: Integers, size: int, rng: np.random.Generator) -> Integers:
    """Jurors who gave `said` (tests, N) of `size` items the second label, side by side in random order: (tests, 2^N).

    Examples
    --------
    >>> joined = join_at_random(np.array([[3, 7]]), 10, np.random.default_rng(0))
    >>> int(joined.sum()), second_label_votes(joined).tolist()
    (10, [[3, 7]])
    """
    cells = np.full((len(said), 1), size, dtype=np.int64)
    for marks in said.T:
        cells = _spread(cells, marks, rng)
    return cells


def _spread(cells: Integers, marks: Integers, rng: np.random.Generator) -> Integers:
    """Split every cell into its unmarked and marked items, `marks` of them falling anywhere."""
    marked = np.empty_like(cells)
    left, items = marks.copy(), cells.sum(axis=1)
    for k in range(cells.shape[1]):
        marked[:, k] = rng.hypergeometric(left, items - left, cells[:, k])
        left, items = left - marked[:, k], items - cells[:, k]
    return np.stack([cells - marked, marked], axis=2).reshape(len(cells), -1)
