"""How often who says what, and which tuples come how often: what findings are made from."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors.votes.table import Votes

Said: TypeAlias = NDArray[np.int64]  #: jurors x labels: how often each says which
_MOST_ROWS = 50_000
_PART = 1 << 21  # votes counted at a time: memory stays flat
_FEW_COLUMNS = 64  # of many jurors most say nothing of an item


def counts_said(votes: Votes) -> Said:
    """How often each juror says each label."""
    width, depth = len(votes.jurors), len(votes.labels)
    weights = votes.counts
    if votes.total > 1 << 53:  # bincount would round
        row, col, code = votes.triples()
        said = np.zeros((width, depth), dtype=np.int64)
        np.add.at(said, (col, code), votes.weights[row])
        return said
    if votes.is_dense and width <= _FEW_COLUMNS:
        rows = [np.bincount(column.astype(np.int64) + 1, weights, depth + 1)[1:] for column in votes.codes.T]
        return np.array(rows).reshape(width, depth).round().astype(np.int64)
    row, col, code = votes.triples()
    flat = np.zeros(width * depth)
    for start in range(0, len(row), _PART):
        part = slice(start, start + _PART)
        cell = col[part].astype(np.int64) * depth + code[part]
        flat += np.bincount(cell, None if weights is None else weights[row[part]], width * depth)
    return flat.reshape(width, depth).round().astype(np.int64)


def sampled(votes: Votes, most: int = _MOST_ROWS) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """At most so many rows of codes, evenly spread, and how many items each is."""
    rows = np.arange(votes.rows) if votes.rows <= most else np.linspace(0, votes.rows - 1, most).astype(np.int64)
    return votes.codes[rows], votes.weights[rows]


def tuple_counts(votes: Votes) -> NDArray[np.int64]:
    """How many items each distinct tuple has."""
    mix = np.random.default_rng(0).integers(1, 1 << 62, len(votes.jurors), dtype=np.int64) | 1
    with np.errstate(over="ignore"):
        keys = votes.codes.astype(np.int64) @ mix
    if votes.counts is None:
        return np.unique(keys, return_counts=True)[1]
    distinct, place = np.unique(keys, return_inverse=True)
    return np.bincount(place, votes.counts, len(distinct)).round().astype(np.int64)


def components(near: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """The connected groups of a symmetric relation."""
    left, groups = np.ones(len(near), dtype=bool), []
    while left.any():
        reached = np.zeros(len(near), dtype=bool)
        reached[np.argmax(left)] = True
        while (grown := near[reached].any(axis=0) | reached).sum() > reached.sum():
            reached = grown
        groups.append(np.flatnonzero(reached))
        left &= ~reached
    return groups
