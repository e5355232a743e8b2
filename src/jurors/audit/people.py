"""Two people labelled the same items: how far they agree, and what is left if either of them may be right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from jurors.audit.case import Case, Share, shares_of
from jurors.audit.design import Walk
from jurors.audit.proof.figures import prevalence_of
from jurors.audit.proof.foretell import Foretellers
from jurors.audit.proof.trace import Cells, Drawn, Sums
from jurors.errors import VotesError
from jurors.evaluate.card import percent


@dataclass(frozen=True, eq=False)
class People:
    """Two people's labels of the same draw."""

    both: int  #: items that both labelled
    agreement: Share  #: the share of all items on which they would agree
    either: Mapping[tuple[Any, ...], Share]  #: figure -> an interval that holds by the labels of both

    @property
    def line(self) -> str:
        """What their disagreement means."""
        low, high = self.agreement.interval
        return (
            f"Two people labelled {self.both:,} of these items and agree on {percent(self.agreement.estimate)} of all "
            f"(between {percent(low)} and {percent(high)}). What is guaranteed is about the first one's labels; by the "
            f"other's, scores, prevalences and wrong labels can differ by up to {percent(1 - low)} (JSON: `either`)."
        )


def two_people(case: Case, other: Case, mine: Mapping[tuple[Any, ...], Share], theirs: Mapping[tuple[Any, ...], Share],
               level: float) -> People:  # fmt: skip
    """The agreement of two people on one draw, by bets like any other share; and the hull of what each proves."""
    if not np.array_equal(case.rows[: other.used], other.rows[: other.used]) and not np.array_equal(
        case.rows, other.rows
    ):
        raise VotesError("the two people labelled different draws; give both the same sheet")
    size = min(len(case.codes), len(other.codes))
    one, two = case.codes[:size], other.codes[:size]
    both = (one >= 0) & (two >= 0)
    if not both.any():
        raise VotesError("the two people have no labelled item in common", code="empty")
    agree = np.where(both, (one == two).astype(np.int64), -1)[: int(np.flatnonzero(both)[-1]) + 1]
    tuples = len(case.design.sizes)
    foretold = Foretellers(np.broadcast_to([[[0.1, 0.9]]], (1, tuples, 2)), np.ones(1))
    sums = Sums.of([prevalence_of(True, 1, tuples)], Cells.of_tuples(case.design.sizes, foretold), case.design.focus)
    cells = case.design.tuple_of_row[case.rows[: len(agree)]]
    drawn = Drawn.of(sums, cells, agree, np.array(case.sheet.of)[: len(agree)])
    (agreement,) = shares_of(sums, Walk(case.design), drawn, level)
    either = {name: Share(share.estimate, _hull(share, theirs[name])) for name, share in mine.items()}
    return People(int(both.sum()), agreement, either)


def _hull(one: Share, other: Share) -> tuple[float, float]:
    return min(one.interval[0], other.interval[0]), max(one.interval[1], other.interval[1])
