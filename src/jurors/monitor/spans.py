"""The windows that a stream has had so far."""

from __future__ import annotations

from dataclasses import dataclass

from jurors.monitor.panes import Panes
from jurors.monitor.window import Window


@dataclass(frozen=True)
class Span:
    """One window: where it lies, and what was counted in it."""

    number: int  #: of its last pane
    start: float  #: the number of its first item, or seconds since 1970
    end: float
    items: int
    votes: int
    complete: bool  #: whether no new item can come into it but late


def spans(panes: Panes, window: Window, now: float) -> list[Span]:
    """Every window that is kept whole, the oldest first; `now` is the last item's number, or the latest time.

    The last one always is there, though it may lack its beginning.
    """
    if not panes.panes:
        return []
    last = max(max(panes.panes), window.number(now))
    wide = 1 if window.fades else len(window.panes(0))
    first = min(panes.panes) + wide - 1 if panes.since is None else panes.since + wide
    near = {number + k for number in panes.panes for k in range(len(window.panes(0)))} | {last}  # years may lie between
    kept = [_span(panes, window, number, now) for number in sorted(near) if min(first, last) <= number <= last]
    return [span for span in kept if span.items or span.number == last]


def _span(panes: Panes, window: Window, number: int, now: float) -> Span:
    start, end = window.span(number)
    held = [panes.panes[one] for one in window.panes(number) if one in panes.panes]
    items, votes = sum(pane.items for pane in held), sum(pane.votes for pane in held)
    # Items are numbered from 0: the last of a window is the one before its end.
    return Span(number, start, end, items, votes, now + (not window.by_time) >= end)
