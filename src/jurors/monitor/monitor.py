"""`Monitor`: grade jurors as the votes come in."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from jurors.errors import OptionError, SketchError, VotesError
from jurors.evaluate import Evaluation
from jurors.jury import Verdict, check, grade
from jurors.jury.accept import as_sketch
from jurors.monitor.history import History, WindowGrades, graded_window
from jurors.monitor.incoming import UNTIMED, Batch, as_batch, seconds
from jurors.monitor.ledger import Ledger
from jurors.monitor.panes import Panes
from jurors.monitor.spans import Span, spans
from jurors.monitor.window import Window
from jurors.options import GradingOptions, LimitOptions
from jurors.sketch import Sketch
from jurors.votes import Label

REMEMBER = 100_000  #: items that stay open for repeated and corrected votes
KEEP = 400  #: panes that are kept apart
MOST_TUPLES = 100_000  #: distinct tuples of what is older
_WAITING = 4096  #: votes that came one by one and are counted together


class Monitor:
    """Votes as they come in, kept as counts by window, to be graded at any time.

    Parameters
    ----------
    window
        So many items (1000), or so much of the votes' own time ("1h"); "1h/5m" slides by 5 minutes, and "half-life 1d"
        forgets by half-life.
    labels
        The labels, where no other may come.
    reference
        Votes of a good time (a sketch, a frame, a file) that drift is held against; without, the stream's own past.
    remember
        How many items stay open: their votes may be repeated and corrected. Votes for older ones are late: they are
        told (`late`), not counted.
    keep
        How many panes (a window, or its step) are kept apart. Older ones are added up, and forgotten where they hold
        more than 100,000 distinct tuples (`forgotten` says how many items).

    Examples
    --------
    >>> monitor = Monitor(window=1000)
    >>> for item, labels in enumerate(["yyn", "nnn", "yyy", "nyn", "yny"]):
    ...     for juror, label in zip(("ann", "bob", "cy"), labels):
    ...         monitor.learn_one(item, juror, label)
    >>> monitor.learn_one(0, "cy", "y")  # a correction
    >>> monitor.items, monitor.votes, monitor.sketch()["y", "y", "y"]
    (5, 15, 2)
    """

    def __init__(
        self,
        window: int | str | Window = 1000,
        *,
        labels: Sequence[Label] | None = None,
        reference: Any = None,
        remember: int = REMEMBER,
        keep: int = KEEP,
    ) -> None:
        self.window = Window.of(window)
        for name, value, least in (("remember", remember, 1), ("keep", keep, self._fewest())):
            if value < least:
                message = f"{name} must be at least {least}, got {value!r}"
                raise OptionError(message, code="out_of_range", name=name, value=value)
        self.keep = keep
        self.reference: Sketch | None = None if reference is None else as_sketch(reference)
        self._ledger = Ledger(Panes(labels=labels or (), told=labels is not None), self.window, remember)
        self._waiting: list[tuple[Any, Any, Any, float]] = []
        self._graded: dict[int, tuple[Any, WindowGrades]] = {}  # by window, with the state that was graded

    def _fewest(self) -> int:
        """Panes that must be kept, so that the last two windows are whole."""
        return 2 * len(self.window.panes(0))

    # -- in -------------------------------------------------------------------------------------------------------

    def learn_one(self, item: Any, juror: Any, label: Any, time: Any = None) -> None:
        """One vote. The same again changes nothing; another label corrects, if its own time is no earlier."""
        stamp = seconds(time)
        if not self._is_plain(item, juror, label) or (self.window.by_time and stamp == UNTIMED):
            self._check(as_batch([(item, juror, label)]), timed=stamp > UNTIMED)
        self._waiting.append((item, juror, label, stamp))
        if len(self._waiting) >= _WAITING:
            self._flush()

    def learn_many(
        self,
        votes: Any,
        *,
        item: str | None = None,
        juror: str | None = None,
        label: str | None = None,
        time: str | None = None,
    ) -> None:
        """Many votes: a dataframe with one vote per row, `Votes`, or rows (item, juror, label[, time]) or mappings.

        The options name a frame's columns where their names do not say it. All are counted, or none.
        """
        batch = as_batch(votes, item=item, juror=juror, label=label, time=time)
        self._flush()
        self._learn(batch)

    def _is_plain(self, item: Any, juror: Any, label: Any) -> bool:
        """Whether nothing can be wrong with a vote, which nearly always is so."""
        named = (type(name) is int or (type(name) is str and not name.isspace() and name) for name in (item, juror))
        return type(label) is str and self._ledger.panes.knows(label) and all(named)

    def _flush(self) -> None:
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            self._learn(as_batch([(*vote, None if time == UNTIMED else time) for *vote, time in waiting]))

    def _learn(self, batch: Batch) -> None:
        self._check(batch, timed=batch.time is not None and bool((batch.time > UNTIMED).all()))
        self._ledger.learn(batch)
        self._ledger.panes.trim(self.keep, MOST_TUPLES)

    def _check(self, batch: Batch, *, timed: bool) -> None:
        self._ledger.panes.check_labels([one for one in batch.labels if one is not None])
        if self.window.by_time and not timed and len(batch):
            raise VotesError(
                f"a window by time ({self.window}) needs the time of every vote; give time=, or a window of items"
            )

    # -- what is there --------------------------------------------------------------------------------------------

    @property
    def panes(self) -> Panes:
        """The counts."""
        self._flush()
        return self._ledger.panes

    @property
    def jurors(self) -> tuple[str, ...]:
        """Who voted, in the order in which they came."""
        return tuple(self.panes.jurors)

    @property
    def labels(self) -> tuple[Label, ...]:
        """What was said (or may be said, where labels were told), in the order in which it came."""
        return tuple(self.panes.labels)

    @property
    def items(self) -> int:
        """How many items are counted."""
        return sum(pane.items for pane in self.panes.panes.values())

    @property
    def votes(self) -> int:
        """How many votes are counted."""
        return sum(pane.votes for pane in self.panes.panes.values())

    @property
    def late(self) -> int:
        """How many votes came for items that were closed, and are counted nowhere."""
        self._flush()
        return self._ledger.late

    @property
    def forgotten(self) -> int:
        """How many items were so long ago, and their tuples so many, that their counts are given up."""
        return self.panes.forgotten

    def windows(self) -> list[Span]:
        """The windows there are, the oldest first; the last may still be filling."""
        panes = self.panes
        now = self._ledger.begun - 1 if not self.window.by_time else self._ledger.latest
        return spans(panes, self.window, now)

    def sketch(self, window: int | str | None = None) -> Sketch:
        """The counts of a window: None for everything, "last" (whole), "now" (still filling), or a window's number."""
        if window is None:
            return self.panes.to_sketch()
        span = self._span(window)
        weights = self.window.weights(span.number, self.panes.panes)
        return self.panes.to_sketch(self.window.panes(span.number), weights)

    def _span(self, window: int | str) -> Span:
        every = self.windows()
        if not every:
            raise SketchError("there is no item to grade", code="no_items")
        if window == "now":
            return every[-1]
        if window == "last":
            return next((span for span in reversed(every) if span.complete), every[-1])
        for span in every:
            if span.number == window:
                return span
        known = f"'last', 'now', or a number from {every[0].number} to {every[-1].number}"
        raise OptionError(f"there is no window {window!r}; there are {known}", code="unknown_name", name=window)

    # -- grades ---------------------------------------------------------------------------------------------------

    def grade(self, window: int | str | None = None, **grading: Unpack[GradingOptions]) -> Evaluation:
        """The grades of a window (see `sketch`), as `jurors.grade` gives them for the same votes."""
        result = grade(self.sketch(window), **grading)
        return replace(result, notes=(*result.notes, *self._notes()))

    def check(self, window: int | str | None = None, **limits: Unpack[LimitOptions]) -> Verdict:
        """The verdict on a window: every limit passes, fails, or is not known (see `jurors.check`)."""
        return check(self.grade(window), **limits)

    def history(self, last: int = 50, **grading: Unpack[GradingOptions]) -> History:
        """The grades of the last windows, one by one; a window is graded again only if it has changed since."""
        graded = [self._graded_window(span, grading) for span in self.windows()[-last:]]
        self._graded = {one.span.number: self._graded[one.span.number] for one in graded}
        return History(str(self.window), self.window.by_time, graded)

    def _graded_window(self, span: Span, grading: GradingOptions) -> WindowGrades:
        panes = self.panes.panes
        here = panes if self.window.fades else [one for one in self.window.panes(span.number) if one in panes]
        state = (span, repr(grading), tuple((one, panes[one].revision) for one in here))
        if span.number not in self._graded or self._graded[span.number][0] != state:
            self._graded[span.number] = state, graded_window(span, self.sketch(span.number), grading)
        return self._graded[span.number][1]

    def _notes(self) -> list[str]:
        notes = []
        if self.late:
            limit = f"remember={self._ledger.remember:,}"
            votes = "1 vote" if self.late == 1 else f"{self.late:,} votes"
            notes.append(f"{votes} for items that were closed already: not counted ({limit})")
        if self.forgotten:
            notes.append(f"{self.forgotten:,} items of long ago are not counted any more (keep={self.keep:,})")
        return notes

    # -- added up -------------------------------------------------------------------------------------------------

    def __add__(self, other: Monitor) -> Monitor:
        if not isinstance(other, Monitor):
            return NotImplemented
        again = self.copy()
        again += other
        return again

    def __iadd__(self, other: Monitor) -> Monitor:
        if not isinstance(other, Monitor):
            return NotImplemented
        if self.window != other.window:
            raise SketchError(f"cannot merge monitors of different windows: {self.window} and {other.window}")
        self._flush()
        theirs = other.copy()._ledger
        self._ledger.panes.check_labels(theirs.panes.labels)
        self._ledger.absorb(theirs)
        self._ledger.panes.trim(self.keep, MOST_TUPLES)
        return self

    def copy(self) -> Monitor:
        """A monitor of its own, in the same state."""
        self._flush()
        again = Monitor(self.window, reference=self.reference, remember=self._ledger.remember, keep=self.keep)
        again._ledger = self._ledger.copy()
        return again

    # -- files ----------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file, whole or not at all; gzipped where its name ends in .gz."""
        from jurors.monitor.snapshot import text_of
        from jurors.whole import write_whole

        write_whole(Path(path), text_of(self.to_dict()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Monitor:
        """The inverse of `save`; a damaged file is refused."""
        from jurors.monitor.snapshot import read_snapshot

        return read_snapshot(Path(path), cls.from_dict)

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types."""
        panes = self.panes
        return {
            "window": str(self.window),
            "remember": self._ledger.remember,
            "keep": self.keep,
            "reference": None if self.reference is None else self.reference.to_dict(),
            "panes": panes.to_dict(),
            "ledger": self._ledger.to_dict(),
        }

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Monitor:
        """The inverse of `to_dict`."""
        reference = None if document["reference"] is None else Sketch.from_dict(document["reference"])
        monitor = cls(document["window"], reference=reference, remember=document["remember"], keep=document["keep"])
        monitor._ledger.panes = Panes.from_dict(document["panes"])
        monitor._ledger.restore(document["ledger"])
        return monitor

    def __repr__(self) -> str:
        return f"Monitor({self.items:,} items, {self.votes:,} votes, {len(self.jurors)} jurors, window {self.window})"
