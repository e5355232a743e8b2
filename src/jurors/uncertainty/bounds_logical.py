"""Bounds, and the logical ones: what follows from the counts alone, without any assumption about the jurors' errors.

A sketch comes in; `Bounds` go out, over all answer keys. Any answer key is possible, so hardly anything follows. A
prevalence may be anything from 0 to 1. So may the accuracy of a juror who gives the label and others, too: the label
may be true only where the juror gave it, or only where it gave another. A juror who never gives the label is never
right on it, and one who gives no other label is always right on it. A juror who never voted has no accuracy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from jurors.errors import SketchError
from jurors.evaluate.alarms import Alarm
from jurors.evaluate.card import alarm_lines, percent
from jurors.evaluate.solution import NamedMapping
from jurors.options import Label
from jurors.results import Block, Columns, Notes, Result, Table, columns_of
from jurors.sketch.sketch import Sketch

Interval: TypeAlias = tuple[float, float]


@dataclass(frozen=True, eq=False, kw_only=True)
class Bounds(Result):
    """Guaranteed intervals, simultaneously; None where the assumption contradicts the counts."""

    items: int
    jurors: tuple[str, ...]
    labels: tuple[Label, ...]
    assumption: str  #: in words: "nothing but the counts", "no error correlation exceeds 0.02", …
    prevalence: NamedMapping | None  #: label -> (low, high)
    accuracy: NamedMapping | None  #: juror -> label -> (low, high)
    alarms: tuple[Alarm, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def is_possible(self) -> bool:
        """Whether any answer key agrees with the assumption."""
        return self.prevalence is not None

    def rows(self) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """The bounds as a long table.

        Returns
        -------
        names : tuple of str
            statistic, juror, label, low, high.
        rows : list of tuple
        """
        rows: list[tuple[Any, ...]] = []
        if self.prevalence is not None and self.accuracy is not None:
            rows += [("prevalence", None, a, low, high) for a, (low, high) in self.prevalence.items()]
            rows += [
                ("accuracy", j, a, low, high) for j, row in self.accuracy.items() for a, (low, high) in row.items()
            ]
        return ("statistic", "juror", "label", "low", "high"), rows

    def table(self) -> Table:
        """The rows in percent, to read."""
        _, rows = self.rows()
        shown = tuple(
            (f"prevalence of {a}" if j is None else f"accuracy of {j} on {a}", percent(low), percent(high))
            for _, j, a, low, high in rows
        )
        return Table(("statistic", "at least", "at most"), shown, right=(1, 2))

    def _document(self) -> dict[str, Any]:
        return {
            "items": self.items,
            "jurors": self.jurors,
            "labels": self.labels,
            "assumption": self.assumption,
            "possible": self.is_possible,
            "prevalence": self.prevalence,
            "accuracy": self.accuracy,
            "alarms": self.alarms,
            "details": self.details,
        }

    def _columns(self) -> Columns:
        return columns_of(*self.rows())

    def _blocks(self) -> list[Block]:
        head = f"{len(self.jurors)} jurors, {self.items:,} items; assuming {self.assumption}"
        body = self.table() if self.is_possible else "No answer key agrees with that."
        return [head, body, *([Notes(alarm_lines(self.alarms))] if self.alarms else [])]


def logical_bounds(sketch: Sketch) -> Bounds:
    """Bound every prevalence and accuracy, whatever the jurors' errors have in common: over all answer keys.

    Parameters
    ----------
    sketch
        Any number of jurors and labels; votes may be missing.

    Returns
    -------
    Bounds
        NaN for the accuracy of a juror who never voted.

    Raises
    ------
    SketchError
        No items, or fewer than two labels.

    Examples
    --------
    >>> sketch = Sketch.from_counts({"AA": 40, "BA": 60}, jurors=("ann", "bob"))
    >>> logical_bounds(sketch).accuracy["ann"], logical_bounds(sketch).accuracy["bob"]
    ({'A': (0.0, 1.0), 'B': (0.0, 1.0)}, {'A': (1.0, 1.0), 'B': (0.0, 0.0)})
    """
    if len(sketch.labels) < 2 or not sketch.items:
        raise SketchError(
            f"bounds need items and at least 2 labels, got {sketch.items} items and {len(sketch.labels)} labels; "
            "name unused labels with labels="
        )
    row, juror, label = sketch.tuples.triples()
    has_items = sketch.counts[row] > 0
    gives = np.zeros((len(sketch.jurors), len(sketch.labels)), dtype=bool)
    gives[juror[has_items], label[has_items]] = True
    accuracy = NamedMapping()
    for name, used in zip(sketch.jurors, gives.tolist(), strict=True):
        ends = [(math.nan, math.nan)] * len(used)
        if any(used):
            ends = [(float(sum(used) == is_used), float(is_used)) for is_used in used]
        accuracy[name] = NamedMapping(zip(sketch.labels, ends, strict=True))
    return Bounds(
        items=sketch.items, jurors=sketch.jurors, labels=sketch.labels, assumption="nothing but the counts",
        prevalence=NamedMapping(dict.fromkeys(sketch.labels, (0.0, 1.0))), accuracy=accuracy,
        details={"method": "closed form"},
    )  # fmt: skip
