"""Connected components, distinct voices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from jurors._numeric import Integers
from jurors.sketch.pairs import parts_of
from jurors.sketch.sketch import Sketch
from jurors.votes.table import select_abstentions, select_repeats

if TYPE_CHECKING:
    from jurors._numeric import Integers


# Who is linked with whom, directly or through others.


def are_connected(first: ArrayLike, second: ArrayLike, size: int) -> Integers:
    """The group of each of `size` jurors whom these pairs link, numbered from 0 in the jurors' order.

    Examples
    --------
    >>> are_connected([0, 3], [2, 1], 5).tolist()
    [0, 1, 0, 1, 2]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    pairs = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    graph = coo_array((np.ones(len(pairs[0])), pairs), shape=(size, size))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def connected_groups(pairs: Iterable[Sequence[int]], size: int) -> list[tuple[int, ...]]:
    """The members of each group of two or more.

    Examples
    --------
    >>> connected_groups([(0, 2), (3, 1)], 5)
    [(0, 2), (1, 3)]
    """
    first, second = np.array([*pairs], dtype=np.int64).reshape(-1, 2).T
    group = are_connected(first, second, size)
    return [tuple(np.flatnonzero(group == k).tolist()) for k in np.flatnonzero(np.bincount(group) > 1)]


# Who can be compared, and who says anything of their own.
#
# Jurors who share no item, not even through others, cannot be compared: they form groups of their own. Jurors who never
# disagree, or always do, are one voice.


MIN_JURORS = 3  #: two agree as often whoever of them is right
_ENOUGH_SHARED = 12  # items, or all there are
_FEW_STEPS = 3  # from juror to juror by common tuples


@dataclass(frozen=True)
class DistinctJurors:
    """Who says the same as whom, where the distinct voices are too few to grade anybody."""

    same: tuple[tuple[int, int], ...]  #: (juror, an earlier one it never disagrees with)
    opposite: tuple[tuple[int, int], ...]  #: (juror, an earlier one it never agrees with)
    constant: tuple[int, ...]  #: who said one label only, and so nothing
    count: int  #: the distinct voices
    met: tuple[int, ...]  #: on how many items each of `same`, then `opposite`, met its voice
    votes: tuple[int, ...]  #: how many votes each of `constant` cast


def too_few_jurors(sketch: Sketch) -> DistinctJurors | None:
    """Who says the same as whom if fewer than three distinct voices are left; None where there are enough.

    Examples
    --------
    >>> too_few_jurors(Sketch.from_counts({"AABA": 9, "BBAB": 8, "AAAA": 5}, jurors=("ann", "bob", "cy", "di")))
    DistinctJurors(same=((1, 0), (3, 0)), opposite=(), constant=(), count=2, met=(22, 22), votes=())
    """
    if _differ(sketch):
        return None
    row, col, code = sketch.tuples.triples()
    met = sketch.counts[row] > 0
    row, col, code = row[met], col[met], code[met]
    enough = min(_ENOUGH_SHARED, sketch.items)
    voices: list[tuple[int, Integers]] = []
    same: dict[tuple[int, int], int] = {}
    opposite: dict[tuple[int, int], int] = {}
    constant: dict[int, int] = {}
    for juror in range(len(sketch.jurors)):
        at, said = row[col == juror], code[col == juror].astype(np.int64)
        if not len(said) or (said == said[0]).all():
            constant[juror] = int(sketch.counts[at].sum())
            continue
        for first, heard in voices:
            both = heard[at] >= 0
            agree = (heard[at] == said)[both]
            met_on = int(sketch.counts[at][both].sum())
            if met_on >= enough and agree.all():
                same[juror, first] = met_on
            elif met_on >= enough and len(sketch.labels) == 2 and not agree.any():
                opposite[juror, first] = met_on
                said = 1 - said
            else:
                continue
            heard[at] = said  # where the first was silent, this one speaks for the voice
            break
        else:
            voices.append((juror, np.full(sketch.tuples.rows, -1, dtype=np.int64)))
            voices[-1][1][at] = said
        if len(voices) == MIN_JURORS:
            return None
    on = (*same.values(), *opposite.values())
    return DistinctJurors(tuple(same), tuple(opposite), tuple(constant), len(voices), on, tuple(constant.values()))


def _differ(sketch: Sketch) -> bool:
    """Whether a glance at the first three jurors shows that they are voices of their own, as is nearly always so."""
    if not sketch.tuples.is_dense or len(sketch.jurors) < MIN_JURORS:
        return False
    codes = sketch.tuples.codes[sketch.counts > 0, :MIN_JURORS]
    if not len(codes) or codes.min() < 0:
        return False
    same = codes == codes[:, [1, 2, 0]]
    return bool((same.any(axis=0) & ~same.all(axis=0) & (codes != codes[0]).any(axis=0)).all())


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
    if _all_reached(sketch):
        return np.zeros(width, dtype=np.int64)
    links = [_links(part) for part, _ in parts_of(sketch)]
    return are_connected(
        np.concatenate([group[0] for group in links]), np.concatenate([group[1] for group in links]), width
    )


def _all_reached(sketch: Sketch) -> bool:
    """Whether everybody is a few common tuples away from the first juror, as nearly always: a quick look shows it."""
    row, col, _ = sketch.tuples.triples()
    jurors, tuples = np.zeros(len(sketch.jurors), dtype=bool), np.zeros(sketch.tuples.rows, dtype=bool)
    jurors[col[:1]] = True
    for _ in range(_FEW_STEPS):
        tuples[row[np.flatnonzero(jurors[col])]] = True
        tuples &= sketch.counts > 0
        jurors[col[np.flatnonzero(tuples[row])]] = True
        if jurors.all():
            return True
    return False


def _links(sketch: Sketch) -> tuple[Integers, Integers]:
    """Every juror with the first of those whom common tuples link it with: votes on a tuple stand side by side."""
    row, col, _ = sketch.tuples.triples()
    common = (row[1:] == row[:-1]) & (sketch.counts[row[1:]] > 0)
    group = are_connected(col[:-1][common], col[1:][common], len(sketch.jurors))
    return np.unique(group, return_index=True)[1][group], np.arange(len(group))


def restrict_to_jurors(sketch: Sketch, group: Integers, number: int) -> tuple[Sketch, Integers]:
    """The jurors of one group with the tuples they gave, and where those tuples stand in the whole sketch."""
    members = np.flatnonzero(group == number)
    row, col, _ = sketch.tuples.triples()
    rows = np.unique(row[group[col] == number])
    taken = sketch.tuples.take([sketch.jurors[k] for k in members])
    counts = sketch.counts[rows]
    taken = replace(taken, abstained=select_abstentions(taken, rows), repeats=select_repeats(taken, rows))
    if taken.is_dense:
        return Sketch(replace(taken, rows=len(rows), counts=counts, _dense=taken.codes[rows])), rows
    place, who, code = taken.triples()
    triples = (np.searchsorted(rows, place), who, code)
    return Sketch(replace(taken, rows=len(rows), counts=counts, _sparse=triples)), rows
