"""`Monitor`: grade jurors as the votes come in."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from jurors.errors import SketchError
from jurors.evaluate import Evaluation
from jurors.jury import Verdict, check, grade
from jurors.jury.accept import as_sketch
from jurors.monitor.counting import KEEP, MOST_TUPLES, REMEMBER, Counting
from jurors.monitor.history import History, WindowGrades, graded_window
from jurors.monitor.panes import Panes
from jurors.monitor.spans import Span
from jurors.monitor.window import Window
from jurors.options import GradingOptions, LimitOptions
from jurors.sketch import Sketch
from jurors.votes import Label

if TYPE_CHECKING:
    from jurors.monitor.drift import Drift, StreamAlarm


class Monitor(Counting):
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
    alpha
        The chance that any alarm is ever raised on a stream that does not change, however often one looks.
    settle
        How many of the newest items alarms leave out, because some jurors take their time.

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
        alpha: float = 0.05,
        settle: int = 0,
    ) -> None:
        super().__init__(window, labels, remember, keep)
        self.alpha, self.settle = alpha, settle
        self.reference: Sketch | None = None if reference is None else as_sketch(reference)
        if self.reference is not None:
            self._ledger.panes.counts_of(self.reference)  # its jurors and labels are known from now on
        self._graded: dict[int, tuple[Any, WindowGrades]] = {}  # by window, with the state that was graded
        self._drift: Drift | None = None

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

    def alarms(self) -> list[StreamAlarm]:
        """Every alarm since the start, also those that are over (`active` tells): look as often as you like.

        On a stream that does not change, the chance that any is ever raised is at most `alpha`.
        """
        if self._drift is None:
            self._drift = self._new_drift()
        self._drift.update(self._settled())
        return list(self._drift.alarms)

    def _new_drift(self) -> Drift:
        from jurors.monitor.drift import Drift

        if self.reference is None:
            return Drift(self.alpha)
        panes = self.panes
        drift = Drift(self.alpha, jurors=panes.jurors, labels=panes.labels)
        drift.hold_against(panes.counts_of(self.reference))
        return drift

    def _settled(self) -> Panes:
        """The panes without the newest items."""
        panes = self.panes
        if not self.settle:
            return panes
        left = Counter(
            (number, key) for number, _, key, _ in islice(reversed(self._ledger.entries.values()), self.settle)
        )
        return panes.without(left)

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
        self._ledger.panes.trim(self.keep, MOST_TUPLES, self._fewest())
        return self

    def copy(self) -> Monitor:
        """A monitor of its own, in the same state."""
        self._flush()
        again = Monitor(
            self.window, reference=self.reference, remember=self._ledger.remember, keep=self.keep, alpha=self.alpha,
            settle=self.settle,
        )  # fmt: skip
        again._ledger = self._ledger.copy()
        again._drift = None if self._drift is None else type(self._drift).from_dict(self._drift.to_dict())
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
            "alpha": self.alpha,
            "settle": self.settle,
            "reference": None if self.reference is None else self.reference.to_dict(),
            "panes": panes.to_dict(),
            "ledger": self._ledger.to_dict(),
            "drift": None if self._drift is None else self._drift.to_dict(),
        }

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Monitor:
        """The inverse of `to_dict`."""
        from jurors.monitor.drift import Drift

        reference = None if document["reference"] is None else Sketch.from_dict(document["reference"])
        options = {name: document[name] for name in ("window", "remember", "keep", "alpha", "settle")}
        monitor = cls(reference=reference, **options)
        monitor._ledger.panes = Panes.from_dict(document["panes"])
        monitor._ledger.restore(document["ledger"])
        monitor._drift = None if document["drift"] is None else Drift.from_dict(document["drift"])
        return monitor

    def __repr__(self) -> str:
        return f"Monitor({self.items:,} items, {self.votes:,} votes, {len(self.jurors)} jurors, window {self.window})"
