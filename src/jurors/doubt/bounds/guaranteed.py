"""`Bounds`: between which numbers every prevalence and accuracy must lie, given what is assumed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from jurors.evaluate import Alarm, Named
from jurors.evaluate.card import alarm_lines, percent
from jurors.tables import Block, Columns, Drawable, Notes, Table, columns_of
from jurors.votes import Label


@dataclass(frozen=True, eq=False, kw_only=True)
class Bounds(Drawable):
    """Guaranteed intervals, all of them at once; None where the assumption contradicts the counts."""

    items: int
    jurors: tuple[str, ...]
    labels: tuple[Label, ...]
    assumption: str  #: in words: "nothing but the counts", "no error correlation exceeds 0.02", …
    prevalence: Named | None  #: label -> (low, high)
    accuracy: Named | None  #: juror -> label -> (low, high)
    alarms: tuple[Alarm, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def is_possible(self) -> bool:
        """Whether any answer key agrees with the assumption."""
        return self.prevalence is not None

    def rows(self) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """statistic, juror, label, low, high."""
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
            (
                f"prevalence of {a}" if j is None else f"accuracy of {j} on {a}",
                percent(low),
                percent(high),
            )
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
