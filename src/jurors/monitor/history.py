"""`History`: the grades of window after window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from jurors.errors import JurorsError
from jurors.evaluate import Evaluation
from jurors.jury import grade
from jurors.monitor.spans import Span
from jurors.sketch import Sketch
from jurors.tables import Block, Columns, Result, Table, columns_of
from jurors.votes import Label

Interval = tuple[float, float] | None


@dataclass(frozen=True)
class WindowGrades:
    """What the votes of one window say; empty, with the reason, where nobody can be graded by them."""

    span: Span
    prevalence: Mapping[Label, float] = field(default_factory=dict)
    score: Mapping[str, float] = field(default_factory=dict)
    interval: Mapping[str, Mapping[Any, Interval]] = field(
        default_factory=dict
    )  #: "prevalence", "score" -> … -> (low, high)
    alarms: tuple[str, ...] = ()  #: kinds of the window's own alarms and warnings
    refused: str | None = None  #: why there are no grades

    def to_dict(self) -> dict[str, Any]:
        """The JSON of one window."""
        span = self.span
        place = {name: getattr(span, name) for name in ("number", "start", "end", "items", "votes", "complete")}
        grades = {name: getattr(self, name) for name in ("prevalence", "score", "interval", "alarms", "refused")}
        return {**place, **grades}


@dataclass(frozen=True)
class History(Result):
    """The windows of a stream, the oldest first: items, votes, prevalence and every juror's score with its interval."""

    window: str
    by_time: bool
    windows: Sequence[WindowGrades]

    def _document(self) -> dict[str, Any]:
        return {"window": self.window, "by_time": self.by_time, "windows": [one.to_dict() for one in self.windows]}

    def _columns(self) -> Columns:
        """A row per window and juror; a window without grades has one row."""
        rows = []
        for one in self.windows:
            place = (one.span.number, one.span.start, one.span.end, one.span.items, one.span.votes)
            for juror, score in one.score.items() or [(None, None)]:
                low, high = (one.interval.get("score", {}).get(juror) or (None, None)) if juror else (None, None)
                rows.append((*place, juror, score, low, high, one.refused))
        names = ("window", "start", "end", "items", "votes", "juror", "score", "low", "high", "refused")
        return columns_of(names, rows)

    def _blocks(self) -> list[Block]:
        jurors = list(dict.fromkeys(juror for one in self.windows for juror in one.score))
        rows = [self._row(one, jurors) for one in self.windows]
        return [Table(("until", "items", *jurors, ""), tuple(rows), f"{self.window}, window by window", right=(1,))]

    def _row(self, one: WindowGrades, jurors: Sequence[str]) -> tuple[Any, ...]:
        end = f"{datetime.fromtimestamp(one.span.end, UTC):%Y-%m-%d %H:%M}" if self.by_time else f"{one.span.end:,.0f}"
        scores = [_share(one.score.get(juror), one.interval.get("score", {}).get(juror)) for juror in jurors]
        return (end, f"{one.span.items:,}", *scores, one.refused or ", ".join(one.alarms))


def _share(score: float | None, interval: Interval) -> str | None:
    if score is None:
        return None
    return f"{score:.2f}" + (f" [{interval[0]:.2f}, {interval[1]:.2f}]" if interval else "")


def graded_window(span: Span, sketch: Sketch, grading: Any) -> WindowGrades:
    """The grades of a window, as real juries go where that is known."""
    try:
        result = grade(sketch, **grading)
        alarms = tuple(dict.fromkeys(alarm.kind for alarm in result.alarms if alarm.level != "note"))
        return WindowGrades(span, dict(result.leading.prevalence), _scores(result), _intervals(result), alarms)
    except JurorsError as error:
        return WindowGrades(span, refused=" ".join(str(error).split()))


def _scores(result: Evaluation) -> dict[str, float]:
    return {juror: float(score) for juror, score in result.leading.score.items() if score is not None}


def _intervals(result: Evaluation) -> dict[str, Mapping[Any, Interval]]:
    given: Any = result.leading.interval or {}
    return {name: {key: _ends(ends) for key, ends in given.get(name, {}).items()} for name in ("prevalence", "score")}


def _ends(ends: Any) -> Interval:
    return None if ends is None or None in ends else (float(ends[0]), float(ends[1]))
