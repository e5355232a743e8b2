"""The grades of window after window: each is graded once, and again only if its counts changed."""

from __future__ import annotations

import time
from collections import OrderedDict
from threading import Lock
from typing import Any

from jurors.monitor.history import History, WindowGrades, graded_window
from jurors.monitor.spans import Span
from jurors.serve.grading.grades import window_sketch, windows_of
from jurors.serve.kept.counted_votes import CountedVotes, Reading

_SECONDS = 5.0  #: for grading in one request: those that are left say so, and the next request goes on
_MOST_KEPT = 5_000  #: windows in memory
_LATER = "not graded yet; ask again"


class OverTime:
    """The windows of a store's projects."""

    def __init__(self, reading: Reading) -> None:
        self._reading, self._lock = reading, Lock()
        self._kept: OrderedDict[tuple[int, int], tuple[int, WindowGrades]] = OrderedDict()

    def history(self, name: str, limit: int) -> History:
        """The newest windows, the oldest of them first."""
        return self._history(self._reading.latest(name), limit)

    def document(self, name: str, limit: int) -> dict[str, Any]:
        """The same as JSON, with the times of each window's votes."""
        counted = self._reading.latest(name)
        history = self._history(counted, limit)
        windows = [{**one.to_dict(), **_times(counted, one.span)} for one in history.windows]
        return {"window": history.window, "by_time": history.by_time, "windows": windows}

    def _history(self, counted: CountedVotes, limit: int) -> History:
        until = time.monotonic() + _SECONDS
        newest = [self._graded(counted, span, until) for span in reversed(windows_of(counted)[-limit:])]
        return History(str(counted.window), counted.window.by_time, newest[::-1])

    def _graded(self, counted: CountedVotes, span: Span, until: float) -> WindowGrades:
        held = [counted.panes.panes[one] for one in counted.window.panes(span.number) if one in counted.panes.panes]
        state = hash((span, tuple(frozenset(pane.tuples.items()) for pane in held)))
        place = (counted.project.id, span.number)
        with self._lock:  # one at a time: others find it done
            if place in self._kept and self._kept[place][0] == state:
                return self._kept[place][1]
            if time.monotonic() > until:
                return WindowGrades(span, refused=_LATER)
            grades = graded_window(span, window_sketch(counted, span.number), {})
            self._kept[place] = state, grades
            if len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
            return grades


def _times(counted: CountedVotes, span: Span) -> dict[str, float | None]:
    """When the votes of a window were cast, or came in where they do not say."""
    held = [counted.panes.panes[one] for one in counted.window.panes(span.number) if one in counted.panes.panes]
    first = [pane.first_time for pane in held if pane.first_time is not None]
    last = [pane.last_time for pane in held if pane.last_time is not None]
    return {"first_time": min(first, default=None), "last_time": max(last, default=None)}
