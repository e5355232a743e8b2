"""Who is linked with whom, directly or through others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from jurors.numbers.arrays import Integers


def linked(first: ArrayLike, second: ArrayLike, size: int) -> Integers:
    """The group of each of `size` jurors whom these pairs link, numbered from 0 in the jurors' order.

    Examples
    --------
    >>> linked([0, 3], [2, 1], 5).tolist()
    [0, 1, 0, 1, 2]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    pairs = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    graph = coo_array((np.ones(len(pairs[0])), pairs), shape=(size, size))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def linked_groups(pairs: Iterable[Sequence[int]], size: int) -> list[tuple[int, ...]]:
    """The members of each group of two or more.

    Examples
    --------
    >>> linked_groups([(0, 2), (3, 1)], 5)
    [(0, 2), (1, 3)]
    """
    first, second = np.array([*pairs], dtype=np.int64).reshape(-1, 2).T
    group = linked(first, second, size)
    return [tuple(np.flatnonzero(group == k).tolist()) for k in np.flatnonzero(np.bincount(group) > 1)]
