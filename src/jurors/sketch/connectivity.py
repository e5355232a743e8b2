"""Which jurors can be compared: connected groups, and how many of them are distinct.

Jurors who share no item, not even through others, cannot be compared: they form groups of their own. Jurors who never
disagree, or always do, count as one: a representative stands for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jurors._numeric import Integers, are_connected
from jurors.sketch.pairs import parts_of
from jurors.sketch.sketch import Sketch
from jurors.votes.table import renumbered

MIN_JURORS = 3  #: two agree as often whichever of them is right
_ENOUGH_SHARED = 12  # items, or all there are


def connected_groups(pairs: Iterable[Sequence[int]], size: int) -> list[tuple[int, ...]]:
    """The members of each connected group of two or more, as positions.

    Examples
    --------
    >>> connected_groups([(0, 2), (3, 1)], 5)
    [(0, 2), (1, 3)]
    """
    first, second = np.array([*pairs], dtype=np.int64).reshape(-1, 2).T
    group = are_connected(first, second, size)
    return [tuple(np.flatnonzero(group == k).tolist()) for k in np.flatnonzero(np.bincount(group) > 1)]


@dataclass(frozen=True)
class DistinctJurors:
    """Which jurors vote alike, where too few distinct ones are left to grade."""

    same: tuple[tuple[int, int], ...]  #: (juror, an earlier one it never disagrees with)
    opposite: tuple[tuple[int, int], ...]  #: (juror, an earlier one it never agrees with)
    constant: tuple[int, ...]  #: jurors who voted one label only, which carries no information
    count: int  #: the distinct jurors
    met: tuple[int, ...]  #: on how many items each of `same`, then `opposite`, was compared with its representative
    votes: tuple[int, ...]  #: how many votes each of `constant` cast


def too_few_jurors(sketch: Sketch) -> DistinctJurors | None:
    """Which jurors vote alike, if fewer than three distinct ones are left.

    Returns
    -------
    DistinctJurors or None
        None where there are enough.

    Examples
    --------
    >>> too_few_jurors(Sketch.from_counts({"AABA": 9, "BBAB": 8, "AAAA": 5}, jurors=("ann", "bob", "cy", "di")))
    DistinctJurors(same=((1, 0), (3, 0)), opposite=(), constant=(), count=2, met=(22, 22), votes=())
    """
    tuples, is_seen = sketch.tuples, sketch.counts > 0
    enough = min(_ENOUGH_SHARED, sketch.items)
    representatives: list[tuple[int, Integers]] = []  # the first juror of each kind, and the votes of all of the kind
    same: dict[tuple[int, int], int] = {}
    opposite: dict[tuple[int, int], int] = {}
    constant: dict[int, int] = {}
    for juror in range(len(sketch.jurors)):
        if (
            tuples.is_dense
        ):  # listing all votes takes longer than the columns of three jurors, mostly all there is to see
            at = np.flatnonzero((tuples.codes[:, juror] >= 0) & is_seen)
            votes = tuples.codes[at, juror].astype(np.int64)
        else:
            row, col, code = tuples.triples()
            is_own = (col == juror) & is_seen[row]
            at, votes = row[is_own], code[is_own].astype(np.int64)
        if not len(votes) or (votes == votes[0]).all():
            constant[juror] = int(sketch.counts[at].sum())
            continue
        for first, known in representatives:
            both = known[at] >= 0
            agree = (known[at] == votes)[both]
            shared = int(sketch.counts[at][both].sum())
            if shared >= enough and agree.all():
                same[juror, first] = shared
            elif shared >= enough and len(sketch.labels) == 2 and not agree.any():
                opposite[juror, first] = shared
                votes = 1 - votes
            else:
                continue
            known[at] = votes  # where the first did not vote, this one does
            break
        else:
            representatives.append((juror, np.full(sketch.tuples.rows, -1, dtype=np.int64)))
            representatives[-1][1][at] = votes
        if len(representatives) == MIN_JURORS:
            return None
    return DistinctJurors(
        same=tuple(same),
        opposite=tuple(opposite),
        constant=tuple(constant),
        count=len(representatives),
        met=(*same.values(), *opposite.values()),
        votes=tuple(constant.values()),
    )


def juror_groups(sketch: Sketch) -> Integers:
    """The groups of jurors that common items connect.

    Returns
    -------
    ndarray
        The group of each juror, numbered from 0 in the jurors' order.

    Examples
    --------
    >>> counts = {("A", "B", None, None): 5, (None, None, "A", "A"): 4}
    >>> juror_groups(Sketch.from_counts(counts, jurors=("ann", "bob", "cy", "di"))).tolist()
    [0, 0, 1, 1]
    """
    width = len(sketch.jurors)
    if sketch.tuples.is_dense and (sketch.tuples.codes >= 0).all(axis=1).any():
        return np.zeros(width, dtype=np.int64)
    first, second = [], []
    for part, _ in parts_of(sketch):  # votes on a tuple follow each other
        row, col, _ = part.tuples.triples()
        common = (row[1:] == row[:-1]) & (part.counts[row[1:]] > 0)
        group = are_connected(col[:-1][common], col[1:][common], width)
        first.append(np.unique(group, return_index=True)[1][group])
        second.append(np.arange(width))
    return are_connected(np.concatenate(first), np.concatenate(second), width)


def restrict_to_jurors(sketch: Sketch, group: Integers, number: int) -> tuple[Sketch, Integers]:
    """The sketch of one group's jurors, with the tuples in which any of them voted.

    Returns
    -------
    tuple
        The sketch, and the rows of its tuples in the whole sketch.
    """
    members = np.flatnonzero(group == number)
    row, col, _ = sketch.tuples.triples()
    rows = np.unique(row[group[col] == number])
    taken = sketch.tuples.take([sketch.jurors[k] for k in members])
    counts = sketch.counts[rows]
    taken = renumbered(taken, rows=rows)
    if taken.is_dense:
        return Sketch(replace(taken, rows=len(rows), counts=counts, _dense=taken.codes[rows])), rows
    place, juror, code = taken.triples()
    triples = (np.searchsorted(rows, place), juror, code)
    return Sketch(replace(taken, rows=len(rows), counts=counts, _sparse=triples)), rows
