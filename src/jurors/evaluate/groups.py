"""Jurors who share no item, not even through others, cannot be compared: they form groups of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors.sketch import Sketch

Integers: TypeAlias = NDArray[np.int64]


def juror_groups(sketch: Sketch) -> Integers:
    """The group of each juror, numbered from 0 in the jurors' order.

    Examples
    --------
    >>> counts = {("A", "B", None, None): 5, (None, None, "A", "A"): 4}
    >>> juror_groups(Sketch.from_counts(counts, jurors=("ann", "bob", "cy", "di"))).tolist()
    [0, 0, 1, 1]
    """
    width = len(sketch.jurors)
    if sketch.tuples.is_dense and (sketch.tuples.codes >= 0).all(axis=1).any():
        return np.zeros(width, dtype=np.int64)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    row, col, _ = sketch.tuples.triples()
    seen = sketch.counts[row] > 0
    nodes = width + sketch.tuples.rows
    graph = coo_array((np.ones(int(seen.sum())), (col[seen], width + row[seen])), shape=(nodes, nodes))
    _, component = connected_components(graph, directed=False)
    _, first, group = np.unique(component[:width], return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[group], dtype=np.int64)


def part_of(sketch: Sketch, group: Integers, number: int) -> tuple[Sketch, Integers]:
    """The jurors of one group with the tuples they gave, and where those tuples stand in the whole sketch."""
    members = np.flatnonzero(group == number)
    row, col, _ = sketch.tuples.triples()
    rows = np.unique(row[group[col] == number])
    taken = sketch.tuples.take([sketch.jurors[k] for k in members])
    counts = sketch.counts[rows]
    if taken.is_dense:
        return Sketch(replace(taken, rows=len(rows), counts=counts, _dense=taken.codes[rows])), rows
    place, who, code = taken.triples()
    triples = (np.searchsorted(rows, place), who, code)
    return Sketch(replace(taken, rows=len(rows), counts=counts, _sparse=triples)), rows
