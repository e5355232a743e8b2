"""The grades of projects, computed once for each state of the votes: whoever asks again gets the same document.

The key is the project's version, which grows with every fold that took something and with gold. So an answer reflects
every vote that was acknowledged before the question, unless the caller allows an older one (`max_age`), which costs
nothing.
"""

from __future__ import annotations

import copy
import json
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Any, Generic, TypeVar

from jurors.errors import JurorsError, OptionError
from jurors.evaluate import Evaluation
from jurors.jury import grade
from jurors.monitor.spans import Span, spans
from jurors.serve.grading.labels import Labelled
from jurors.serve.kept.counted_votes import CountedVotes, Reading
from jurors.sketch import Sketch

T = TypeVar("T")
_MOST_KEPT = 64  #: results in memory


@dataclass
class Graded:
    """What is known of a project in one state of its votes; each part is worked out when it is first asked for."""

    counted: CountedVotes
    window: str | None = None

    @property
    def version(self) -> int:
        """Of the project, when it was read."""
        return self.counted.project.version

    @cached_property
    def evaluation(self) -> Evaluation:
        """As `jurors.grade` gives it for the same votes."""
        result = self._grade()
        return replace(result, notes=(*result.notes, *self.counted.notes())) if self.counted.notes() else result

    def _grade(self) -> Evaluation:
        if self.window is not None:
            return grade(window_sketch(self.counted, chosen_span(self.counted, self.window).number))
        if self.counted.gold:
            return grade(self.labelled.votes, gold=self.labelled.gold)
        return grade(self.counted.panes.to_sketch())

    @cached_property
    def json(self) -> bytes:
        """The document of `jurors grade --format json`."""
        return f"{self.evaluation.to_json()}\n".encode()

    @cached_property
    def brief(self) -> bytes:
        """The same without the partition, which names every decision tuple."""
        document = {name: part for name, part in self.evaluation.to_dict().items() if name != "partition"}
        return json.dumps(document, ensure_ascii=False, allow_nan=False).encode()

    @cached_property
    def labelled(self) -> Labelled:
        """A label for each decision tuple."""
        return Labelled(self.counted, lambda: self.evaluation)


def windows_of(counted: CountedVotes) -> list[Span]:
    """The windows of a project, the oldest first."""
    window, panes = counted.window, counted.panes
    times = [pane.last_time for pane in panes.panes.values() if pane.last_time is not None]
    now = max(times, default=0.0) if window.by_time else counted.project.numbered - 1
    return spans(panes, window, now)


def window_sketch(counted: CountedVotes, number: int) -> Sketch:
    """The counts of a window."""
    weights = counted.window.weights(number, counted.panes.panes)
    return counted.panes.to_sketch(counted.window.panes(number), weights)


def chosen_span(counted: CountedVotes, window: str) -> Span:
    """The window that is meant: "now" (still filling), "last" (whole, if one is), or its number."""
    every = windows_of(counted)
    whole = [span for span in every if span.complete]
    by_name = {"now": every[-1:], "last": (whole or every)[-1:]}
    meant = by_name.get(window, [span for span in every if str(span.number) == window])
    if not meant:
        raise OptionError(f"there is no window {window!r:.40}; there are 'last', 'now' and numbers of /history")
    return meant[0]


class Latest(Generic[T]):
    """Results by name, each computed once per version, by one thread while others wait for it; the newest are kept."""

    def __init__(self, most: int = _MOST_KEPT) -> None:
        self._kept: OrderedDict[Any, tuple[int, float, T]] = OrderedDict()
        self._locks: dict[Any, Lock] = {}
        self._lock, self._most = Lock(), most

    def not_older(self, name: Any, seconds: float) -> T | None:
        """What was known to be the latest at most so many seconds ago."""
        kept = self._kept.get(name)
        return kept[2] if kept is not None and time.monotonic() - kept[1] <= seconds else None

    def of(self, name: Any, version: int, compute: Callable[[], T]) -> T:
        """The result for this version."""
        with self._lock:
            lock = self._locks.setdefault(name, Lock())
        with lock:
            kept = self._kept.get(name)
            result = kept[2] if kept is not None and kept[0] == version else compute()
            with self._lock:
                self._kept[name] = (version, time.monotonic(), result)
                self._kept.move_to_end(name)
                while len(self._kept) > self._most:
                    self._locks.pop(self._kept.popitem(last=False)[0], None)
        return result


class Grades:
    """The grades of a store's projects."""

    def __init__(self, reading: Reading) -> None:
        self._reading, self._store = reading, reading.store
        self._latest: Latest[Graded | JurorsError] = Latest()
        self._pages: Latest[bytes] = Latest(8)

    def of(self, name: str, window: str | None = None, max_age: float = 0.0) -> Graded:
        """What is known of a project; its errors are kept, too: who cannot be graded is not tried at every look."""
        if max_age > 0 and isinstance(recent := self._latest.not_older((name, window), max_age), Graded):
            return recent
        project = self._store.project(name)
        self._store.fold_all(project.id)
        project = self._store.project(name)
        answer = self._latest.of(
            (name, window), hash((project.id, project.version)), lambda: self._graded(name, window)
        )
        if isinstance(answer, JurorsError):
            raise copy.copy(answer)
        return answer

    def page(self, name: str) -> bytes:
        """The page of `jurors report`."""
        graded = self.of(name)
        return self._pages.of(name, hash((graded.counted.project.id, graded.version)), lambda: _page(graded))

    def _graded(self, name: str, window: str | None) -> Graded | JurorsError:
        graded = Graded(self._reading.latest(name), window)
        try:
            _ = graded.json
        except JurorsError as error:
            return error
        return graded


def _page(graded: Graded) -> bytes:
    from jurors.report.page import report_html

    title = graded.counted.project.name
    if graded.counted.gold:
        return report_html(graded.labelled.votes, gold=graded.labelled.gold, title=title).encode()
    return report_html(graded.counted.panes.to_sketch(), title=title).encode()
