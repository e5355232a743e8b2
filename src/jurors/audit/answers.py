"""Answers laid beside the votes: which row each draw was, and that the draw was the one these votes give."""

from __future__ import annotations

import numpy as np

from jurors.audit.design import Walk
from jurors.audit.sheet import Sheet
from jurors.errors import VotesError
from jurors.numbers.arrays import Integers
from jurors.votes import Votes

_ROUNDED = 1e-3  # spreadsheets save what they show


def rows_of(sheet: Sheet, votes: Votes) -> Integers:
    """The row of each item of the sheet; VotesError names the first that nobody voted on."""
    place = {str(name): row for row, name in enumerate(votes.item_names().tolist())}
    strange = next((item for item in sheet.items if str(item) not in place), None)
    if strange is not None:
        raise VotesError(f"item {strange!r} of the sheet is not among the {votes.rows:,} items voted on")
    return np.array([place[str(item)] for item in sheet.items], dtype=np.int64)


def replay(sheet: Sheet, votes: Votes, walk: Walk) -> Integers:
    """Take every draw of the sheet again, in order; VotesError where the design would have given another chance."""
    rows = rows_of(sheet, votes)
    for draw, item, row, chance in zip(sheet.draw, sheet.items, rows.tolist(), sheet.chance, strict=True):
        which = int(walk.design.tuple_of_row[row])
        expected = float(walk.chances()[which])
        if abs(chance - expected) > _ROUNDED * expected:
            raise VotesError(
                f"draw {draw}: item {item!r} was never drawn with the chance {chance:g}, which these votes make "
                f"{expected:.6g}; only items that `jurors audit plan` drew, in its order, can be answered"
            )
        walk.take(which)
    return rows


def answer_codes(sheet: Sheet, votes: Votes) -> Integers:
    """Each label of the sheet as a position in the votes' labels, -1 where there is none yet."""
    place = {str(label): code for code, label in enumerate(votes.labels)}
    for item, label in zip(sheet.items, sheet.labels, strict=True):
        if label is not None and str(label) not in place:
            known = ",".join(map(str, votes.labels))
            raise VotesError(
                f"item {item!r} is labelled {str(label)!r}, which nobody voted; if it can be true, name every label: "
                f"--labels {known},{label}",
                code="unknown_name", name=label, what="label", known=votes.labels,
            )  # fmt: skip
    codes = np.array([-1 if label is None else place[str(label)] for label in sheet.labels], dtype=np.int64)
    if (codes < 0).all():
        raise VotesError("the sheet has no label yet: fill in its column 'label'", code="empty")
    return codes
