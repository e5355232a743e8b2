"""A juror's second vote on an item: refused, or dropped by the rule that the caller chose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.errors import VotesError
from jurors.options import Duplicates
from jurors.votes.label_codes import fits_dense


def without_duplicates(
    row: NDArray[Any],
    col: NDArray[Any],
    repetition: NDArray[Any] | None,
    *,
    items: Sequence[Any] | NDArray[Any],
    jurors: tuple[str, ...],
    rule: Duplicates,
) -> NDArray[np.bool_] | slice:
    """Which votes are kept: one for each juror and item (and repetition); two are an error unless a rule chooses."""
    key = row.astype(np.int64) * max(len(jurors), 1) + col
    cells = len(items) * len(jurors)
    if repetition is not None:
        times = int(repetition.max(initial=0)) + 1
        key, cells = key * times + repetition, cells * times
    if fits_dense(cells, len(key)):
        seen = np.zeros(cells, dtype=bool)
        seen[key] = True
        if np.count_nonzero(seen) == len(key):  # the common case, without sorting
            return slice(None)
    order = np.argsort(key, kind="stable")
    ranked = key[order]
    again = np.flatnonzero(ranked[1:] == ranked[:-1]) + 1
    if not len(again):
        return slice(None)
    if rule == "error":
        at = order[again[np.argmin(order[again])]]
        raise votes_twice(
            jurors[int(col[at])], str(items[int(row[at])]), len(again), in_one_repetition=repetition is not None
        )
    kept = np.ones(len(row), dtype=bool)
    kept[order[again] if rule == "first" else order[again - 1]] = False
    return kept


def votes_twice(
    juror: str, item: str, repeated: int, *, in_one_repetition: bool = False, ordered: bool = True
) -> VotesError:
    """What to say of a juror with two votes on an item, and what to do; where rows have no `order`, none is first."""
    where = " in one repetition" if in_one_repetition else ""
    many = f"{repeated:,} repeated {'vote' if repeated == 1 else 'votes'} in all"
    ways = [
        *([] if in_one_repetition else ["name the column that numbers its repetitions (--repeat COLUMN)"]),
        "name the item by two columns where one does not tell it apart (--item ONE,TWO)",
        "join its votes to one (--duplicates join)",
        *(["keep the first or the last (--duplicates first)"] if ordered else []),
    ]
    return VotesError(
        f"juror {juror!r} votes more than once on item {item!r}{where} ({many}); {', or '.join(ways)}",
        code="repeated_votes",
        jurors=(juror,),
        item=item,
        repeated=repeated,
    )
