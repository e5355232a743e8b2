"""Which items a person is to look at, why, and what each juror says of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jurors.options import Label

if TYPE_CHECKING:
    from jurors.votes import Votes

_LITTLE = 0.05  # wrong labels fewer among others: less is not worth a word
VOTE_OF = "vote of "
_MOST_NAMED = 8  # jurors: above, labels are counted


@dataclass(frozen=True, eq=False)
class Teaching:
    """What the label of each item would teach, in wrong labels fewer."""

    own: NDArray[np.float64]  #: items: how probably the own label is wrong
    others: NDArray[np.float64]  #: items: how many labels fewer of others are expected to be wrong
    alike: NDArray[np.int64]  #: items: how many other items have the same votes
    kind: NDArray[np.int64]  #: items: which tuple

    def first(self, count: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The items that teach most, and how much each does after those before it.

        What a tuple's items teach of others, the first of them has told in good part: the k-th counts with 1/k of it.
        """
        alone = self.own + self.others
        able = self._able(alone, count)
        order = able[np.argsort(-alone[able], kind="stable")]
        which = np.unique(self.kind[order], return_inverse=True)[1]
        again = np.argsort(np.argsort(which, kind="stable"), kind="stable")
        before = again - np.concatenate([[0], np.cumsum(np.bincount(which))[:-1]])[which]
        taught = self.own[order] + self.others[order] / (1 + before)
        best = np.argsort(-taught, kind="stable")[: max(count, 0)]
        return order[best], taught[best]

    def _able(self, alone: NDArray[np.float64], count: int) -> NDArray[np.int64]:
        """The items that may be among the first: the first of its tuple counts in full, and tuples are many."""
        most = np.full(int(self.kind.max(initial=-1)) + 1, -np.inf)
        if not 0 < count < len(most):
            return np.arange(len(alone))
        np.fmax.at(most, self.kind, alone)
        return np.flatnonzero(~(alone < np.partition(most, -count)[-count]))

    def why(self, at: NDArray[np.int64]) -> tuple[str, ...]:
        """The reason for each of these items, in words."""
        return tuple(map(_why, self.own[at].tolist(), self.others[at].tolist(), self.alike[at].tolist()))


def _why(own: float, others: float, alike: int) -> str:
    """Why a person's label of an item helps.

    >>> _why(0.48, 0.83, 119)
    '48% likely to be wrong; 0.8 fewer wrong among other items, 119 of them with the same votes'
    >>> _why(0.48, 0.01, 0)
    '48% likely to be wrong'
    """
    reason = f"{own:.0%} likely to be wrong"
    if others < _LITTLE:
        return reason
    same = "" if not alike else f", {alike:,} of them with the same votes"
    return f"{reason}; {others:.1f} fewer wrong among other items{same}"


def votes_on(votes: Votes, rows: Sequence[int]) -> dict[str, tuple[Label | None, ...]]:
    """Juror -> the votes on these rows, None where there is none."""
    codes = np.full((len(rows), len(votes.jurors)), -1, dtype=np.int64)
    if votes.is_dense:
        codes[:] = votes.codes[list(rows)]
    else:
        at, juror, code = votes.triples()
        ends = np.searchsorted(at, rows), np.searchsorted(at, rows, side="right")
        for k, (start, end) in enumerate(zip(*ends, strict=True)):
            codes[k, juror[start:end]] = code[start:end]
    said = zip(votes.jurors, codes.T.tolist(), strict=True)
    return {name: tuple(None if k < 0 else votes.labels[k] for k in column) for name, column in said}


def in_short(said: Mapping[str, Sequence[Any]]) -> list[str]:
    """The votes on each item in a line: by name, or counted where the jurors are many.

    >>> in_short({"ann": ["yes", "no"], "bob": ["no", None]})
    ['ann yes, bob no', 'ann no']
    >>> in_short({f"juror {k}": ["yes" if k % 3 else "no"] for k in range(9)})
    ['6 yes, 3 no']
    """
    rows = [[(juror, vote) for juror, vote in zip(said, row, strict=True) if vote is not None]
            for row in zip(*said.values(), strict=True)]  # fmt: skip
    if len(said) <= _MOST_NAMED:
        return [", ".join(f"{juror} {vote}" for juror, vote in row) for row in rows]
    counts = [Counter(vote for _, vote in row) for row in rows]
    return [", ".join(f"{times} {vote}" for vote, times in count.most_common()) for count in counts]
