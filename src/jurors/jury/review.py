"""What each juror says of the items that a person is to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jurors.options import Label

if TYPE_CHECKING:
    from jurors.votes import Votes

VOTE_OF = "vote of "
_MOST_NAMED = 8  # jurors: above, labels are counted


def votes_on(votes: Votes, rows: Sequence[int]) -> dict[str, tuple[Label | None, ...]]:
    """Juror -> the votes on these rows, None where there is none."""
    place = {row: k for k, row in enumerate(rows)}
    said: dict[str, list[Label | None]] = {juror: [None] * len(rows) for juror in votes.jurors}
    at, juror, code = votes.triples()
    wanted = np.isin(at, list(rows))
    for row, who, label in zip(at[wanted].tolist(), juror[wanted].tolist(), code[wanted].tolist(), strict=True):
        said[votes.jurors[who]][place[row]] = votes.labels[label]
    return {name: tuple(values) for name, values in said.items()}


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
