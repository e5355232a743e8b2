"""Who voted on the same items as whom: pairs, trios, loners and groups that never meet."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.sketch.links import linked
from jurors.votes.table import Votes
from jurors.votes.write import grouped

_MOST_PAIR_JURORS = 5_000
_MOST_TRIO_WORK = 4e9  # patterns x jurors^3: some seconds


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """How the items of the jurors who voted at all overlap; None where counting would take too long."""

    pairs: int  #: how many pairs there are
    pairs_sharing: int | None = None  #: how many of them voted on an item in common
    fewest: int | None = None  #: items that the pair with the fewest shares
    median: int | None = None  #: items that the middle pair shares
    trios: int = 0
    trios_sharing: int | None = None
    loners: tuple[str, ...] = ()  #: jurors who share no item with anybody
    groups: tuple[tuple[str, ...], ...] = ()  #: jurors linked by shared items; more than one: they cannot be compared


def find_overlap(votes: Votes) -> Overlap:
    """The overlaps of some votes.

    >>> votes = Votes.from_matrix([["a", "b", None, None], ["a", None, None, None], [None, None, "a", "a"]],
    ...                           jurors=("ann", "bob", "cy", "dee"))
    >>> found = find_overlap(votes)
    >>> found.pairs_sharing, found.pairs, found.groups
    (2, 6, (('ann', 'bob'), ('cy', 'dee')))
    """
    heard = np.unique(votes.triples()[1])
    size = len(heard)
    names = [votes.jurors[k] for k in heard.tolist()]
    bare = Overlap(pairs=comb(size, 2), trios=comb(size, 3))
    if size < 2 or size > _MOST_PAIR_JURORS:
        return bare
    shared = _shared_items(votes, heard)
    upper = shared[np.triu_indices(size, 1)]
    first, second = np.nonzero(shared)
    group = linked(first, second, size)
    groups = [tuple(names[k] for k in np.flatnonzero(group == g)) for g in range(int(group.max()) + 1)]
    return Overlap(
        pairs=bare.pairs,
        pairs_sharing=int((upper > 0).sum()),
        fewest=int(upper.min()),
        median=int(np.sort(upper)[len(upper) // 2]),
        trios=bare.trios,
        trios_sharing=_trios_sharing(votes, heard),
        loners=tuple(group[0] for group in groups if len(group) == 1),
        groups=tuple(sorted(groups, key=len, reverse=True)),
    )


def _shared_items(votes: Votes, heard: NDArray[Any]) -> NDArray[np.int64]:
    """For each pair of jurors, the number of items that both voted on."""
    from scipy import sparse

    row, col, _ = votes.triples()
    shape = votes.rows, len(votes.jurors)
    voted = sparse.csr_matrix((np.ones(len(row), dtype=np.int64), (row, col)), shape=shape)[:, heard]
    weighted = sparse.csr_matrix((votes.weights[row], (row, col)), shape=shape)[:, heard]
    shared: NDArray[np.int64] = (weighted.T @ voted).toarray()
    return shared


def _trios_sharing(votes: Votes, heard: NDArray[Any]) -> int | None:
    """How many trios have an item that all three voted on, by the distinct patterns of who voted."""
    size = len(heard)
    if votes.rows * len(votes.jurors) > 1 << 28:
        return None
    voted = (votes.codes[:, heard] >= 0)[votes.weights > 0]
    patterns = grouped(voted, np.ones(len(voted), dtype=np.int64))[0].astype(np.float32)
    if len(patterns) * size**3 / 6 > _MOST_TRIO_WORK:
        return None
    total = 0
    for k in range(size - 2):
        mine = patterns[patterns[:, k] > 0][:, k + 1 :]
        together = mine.T @ mine > 0
        total += int(np.triu(together, 1).sum())
    return total
