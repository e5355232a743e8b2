"""`plan`: draws the items that a person should label, one after the other, each with a known chance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from jurors._numeric import Integers
from jurors.audit.sheet import Design, Sheet, Walk, as_sheet, check_same_votes, checksum, replay
from jurors.errors import OptionError, SketchError, VotesError
from jurors.jury.inputs import as_votes, check_labels
from jurors.options import SourceOptions
from jurors.votes import Votes
from jurors.votes.item_texts import ItemTexts


def plan(
    source: Any,
    n: int = 30,
    *,
    after: Any = None,
    texts: ItemTexts | Mapping[Any, Any] | None = None,
    blind: bool = True,
    seed: int = 0,
    **reading: Unpack[SourceOptions],
) -> Sheet:
    """Draw the next `n` items for a person to label.

    Parameters
    ----------
    source
        Votes, a dataframe, an items x jurors matrix, or the path of a file (options as in `read_votes`).
    n
        How many items. Plan as many as you may label at most: one may look, and stop, after every label.
    after
        The sheet of earlier rounds, as `plan` gave it or as a file: the draw goes on where it ended.
    texts
        What to show of the items: as `read_item_texts` reads it, or a text by item.
    blind
        Whether the sheet hides the votes from whoever labels.
    seed
        The draw is the same for the same votes and seed, whatever the order of rows.

    Examples
    --------
    >>> votes = [["yes", "yes", "no"]] * 30 + [["no", "no", "no"]] * 50 + [["yes", "no", "yes"]] * 10
    >>> sheet = plan(votes, 5)
    >>> len(sheet), len(plan(votes, 5, after=sheet)), plan(votes, 10).items[:5] == sheet.items
    (5, 5, True)
    """
    votes = auditable(as_votes(source, **reading))
    if n < 1:
        raise OptionError(f"n must be at least 1, got {n}", code="out_of_range", name="n", value=n)
    if seed < 0:
        raise OptionError(f"seed must not be negative, got {seed}", code="out_of_range", name="seed", value=seed)
    walk, drawn = Walk(Design.of(votes)), np.zeros(0, dtype=np.int64)
    if after is not None:
        earlier = as_sheet(after)
        check_same_votes(earlier, votes)
        drawn = replay(earlier, votes, walk)
    rows, chances = _draw(walk, drawn, n, seed)
    sheet = Sheet.of_votes(votes, rows, chances, first=len(drawn) + 1, checksum=checksum(votes), blind=blind)
    if texts is None:
        return sheet
    return sheet.showing(texts if isinstance(texts, ItemTexts) else ItemTexts.from_mapping(texts))


def auditable(votes: Votes) -> Votes:
    """The votes, if a person can be shown their items."""
    if votes.counts is not None:
        raise VotesError("an audit shows items to a person, but these are counts of decision tuples; give the votes")
    check_labels(votes)
    if not votes.rows:
        raise SketchError("there is no item to draw", code="no_items")
    return votes


def _draw(walk: Walk, drawn: Integers, n: int, seed: int) -> tuple[list[int], list[float]]:
    """The rows of the next items and their chances; all that are left where they are fewer than `n`."""
    design = walk.design
    members = _members(design, drawn)
    left = len(design.rank) - len(drawn)
    if left == 0:
        raise SketchError(f"all {len(drawn):,} items have been drawn: there is nothing left to draw", code="no_items")
    rows, chances = [], []
    for _ in range(min(n, left)):
        one, other = np.random.default_rng((seed, walk.drawn)).random(2)
        chance = walk.chances()
        shares = np.cumsum(chance * walk.left)
        which = int(np.searchsorted(shares, one * shares[-1], side="right"))
        here = members[which]
        rows.append(here.pop(int(other * len(here))))
        chances.append(float(chance[which]))
        walk.take(which)
    return rows, chances


def _members(design: Design, drawn: Integers) -> list[list[int]]:
    """Tuples: the rows of their items that are left, in the order of names."""
    gone = set(drawn.tolist())
    members: list[list[int]] = [[] for _ in design.sizes]
    for row in design.rank.tolist():
        if row not in gone:
            members[design.tuple_of_row[row]].append(row)
    return members
