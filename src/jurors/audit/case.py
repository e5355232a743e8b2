"""`Case`: votes with a person's answers beside them, and what the draw proves of any figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from jurors.audit.answers import answer_codes, replay
from jurors.audit.design import Design, Walk
from jurors.audit.proof.figures import Figure
from jurors.audit.proof.foretell import Foretellers, foretellers, votes_given
from jurors.audit.proof.guarantee import estimates, intervals
from jurors.audit.proof.trace import Cells, Drawn, Sums, trace
from jurors.audit.sheet import Sheet, check_same_votes
from jurors.errors import SketchError
from jurors.evaluate import Evaluation
from jurors.jury.calibration import basis_of, jury_of
from jurors.jury.compare import compare_counted, usual_methods
from jurors.jury.counted import Counted, count_gradable
from jurors.jury.grade import grade_counted
from jurors.numbers.arrays import Floats, Integers
from jurors.numbers.threads import one_thread
from jurors.options import Grading, Label
from jurors.votes import Votes


@dataclass(frozen=True)
class Share:
    """A share of items as the draw alone proves it."""

    estimate: float | None  #: None where nothing drawn concerns it
    interval: tuple[float, float]

    def to_dict(self) -> dict[str, Any]:
        """The JSON keys."""
        return {"estimate": self.estimate, "interval": self.interval}


@dataclass(frozen=True, eq=False)
class Case:
    """Votes, the sheet that was drawn from them, and the true labels that a person gave."""

    votes: Votes
    sheet: Sheet
    design: Design
    rows: Integers  #: the row of each draw, in order
    codes: Integers  #: the label of each draw as a position in the votes' labels, -1 where there is none

    @classmethod
    def of(cls, votes: Votes, sheet: Sheet) -> Case:
        """Lay the answers beside the votes; VotesError where they are not answers to a draw from these votes."""
        check_same_votes(sheet, votes)
        design = Design.of(votes)
        rows = replay(sheet, votes, Walk(design))
        return cls(votes, sheet, design, rows, answer_codes(sheet, votes))

    @property
    def labelled(self) -> int:
        """How many items have a label."""
        return int((self.codes >= 0).sum())

    @property
    def used(self) -> int:
        """The last draw with a label: what comes after has not happened yet."""
        return int(np.flatnonzero(self.codes >= 0)[-1]) + 1

    @property
    def gaps(self) -> int:
        """Draws before it that have no label: they are taken at their worst."""
        return self.used - self.labelled

    @cached_property
    def blind(self) -> tuple[Counted, Evaluation] | None:
        """The votes graded without the answers; None where they cannot be."""
        try:
            counted = count_gradable(self.votes)
            with one_thread():
                return counted, grade_counted(counted, None, Grading(), intervals=False)
        except SketchError:
            return None

    @cached_property
    def labellings(self) -> dict[str, Integers]:
        """Method -> the label it gives each counted tuple, blind to the answers; the default method's come first."""
        if self.blind is None:
            return {}
        counted, own = self.blind
        others = [name for name in usual_methods(counted.sketch) if name != own.method]
        graded = [own, *compare_counted(counted, others).evaluations]
        parts = {one.method: one.labelling_partition for one in graded}
        return {name: part.chosen for name, part in parts.items() if part is not None}

    @property
    def gold(self) -> dict[Any, Label]:
        """The answers as gold items."""
        names, labels = self.votes.item_names().tolist(), self.votes.labels
        given = zip(self.rows.tolist(), self.codes.tolist(), strict=True)
        return {names[row]: labels[code] for row, code in given if code >= 0}

    def graded(self, level: float) -> Evaluation | None:
        """The votes graded with the answers as gold; None where they cannot be."""
        if self.blind is None:
            return None
        counted, known = self.blind[0].align_gold(self.gold)
        with one_thread():
            return grade_counted(counted, known, Grading(level=level))

    @cached_property
    def first_rows(self) -> Integers:
        """Tuples: the row of an item with it."""
        first = np.empty(len(self.design.sizes), dtype=np.int64)
        first[self.design.tuple_of_row] = np.arange(self.votes.rows)
        return first

    @cached_property
    def said(self) -> Integers:
        """Jurors x tuples: the vote, -1 where there is none."""
        place = np.full(self.votes.rows, -1)
        place[self.first_rows] = np.arange(len(self.first_rows))
        row, juror, code = self.votes.triples()
        kept = place[row] >= 0
        said = np.full((len(self.votes.jurors), len(self.first_rows)), -1, dtype=np.int64)
        said[juror[kept], place[row[kept]]] = code[kept]
        return said

    @cached_property
    def foretold(self) -> Foretellers:
        """What the votes alone make of every tuple's true label."""
        labels, sizes = len(self.votes.labels), self.design.sizes.astype(np.float64)
        given = np.stack([(self.said == k).sum(axis=0) for k in range(labels)], axis=1).astype(np.float64)
        by_votes, voices = votes_given(given), given.sum(axis=1)
        if self.blind is None:
            return foretellers(by_votes, by_votes, voices, sizes)
        counted, evaluation = self.blind
        with one_thread():
            _, posterior, _ = basis_of(evaluation, evaluation, counted.sketch)
            jury = jury_of(counted.sketch, posterior, evaluation.voices)
        at = counted.tuple_of_row[self.first_rows]
        return foretellers(posterior[at], by_votes, jury.voices[at].astype(np.float64), sizes)

    def prove(self, figures: Sequence[Figure], level: float, cells: Integers | None = None) -> list[Share]:
        """What the draw proves of some figures of decision tuples; or of cells, with the cell of each row."""
        if not figures:
            return []
        laid, cell_of_row = self._laid(cells)
        sums = Sums.of(figures, laid, self.design.focus)
        at = slice(0, self.used)
        drawn = Drawn.of(sums, cell_of_row[self.rows[at]], self.codes[at], np.array(self.sheet.of)[at])
        return shares_of(sums, Walk(self.design), drawn, level)

    def _laid(self, cells: Integers | None) -> tuple[Cells, Integers]:
        tuple_of_row = self.design.tuple_of_row
        if cells is None:
            return Cells.of_tuples(self.design.sizes, self.foretold), tuple_of_row
        tuple_of = np.zeros(int(cells.max()) + 1, dtype=np.int64)
        tuple_of[cells] = tuple_of_row
        foretold = Foretellers(self.foretold.posteriors[:, tuple_of], self.foretold.weights)
        return Cells(np.bincount(cells), tuple_of, foretold), cells


def shares_of(sums: Sums, walk: Walk, drawn: Drawn, level: float) -> list[Share]:
    """What a draw proves; an estimate that leaves its interval is the end of the interval that it is nearest to."""
    steps = trace(sums, walk, drawn)
    low, high = intervals(steps, level)
    seen: Floats = (steps.counts & ~np.isnan(steps.event)).sum(axis=0)
    middle = np.minimum(np.maximum(estimates(steps), low), high)
    return [
        Share(None if not n or m != m else float(m), (float(a), float(b)))
        for n, m, a, b in zip(seen, middle, low, high, strict=True)
    ]
