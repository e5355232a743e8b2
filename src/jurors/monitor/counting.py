"""Votes in, sketches out: what a monitor keeps of a stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jurors.errors import OptionError, SketchError, VotesError
from jurors.monitor.incoming import UNTIMED, Batch, as_batch, seconds
from jurors.monitor.ledger import Ledger
from jurors.monitor.panes import Panes
from jurors.monitor.spans import Span, spans
from jurors.monitor.window import Window
from jurors.sketch import Sketch
from jurors.votes import Label

REMEMBER = 100_000  #: items that stay open for repeated and corrected votes
KEEP = 400  #: panes that are kept apart
MOST_TUPLES = 100_000  #: distinct tuples of what is older
_WAITING = 4096  #: votes that came one by one and are counted together


class Counting:
    """A stream of votes as counts by window; `Monitor` grades them."""

    def __init__(self, window: int | str | Window, labels: Sequence[Label] | None, remember: int, keep: int) -> None:
        self.window = Window.of(window)
        for name, value, least in (("remember", remember, 1), ("keep", keep, self._fewest())):
            if value < least:
                message = f"{name} must be at least {least}, got {value!r}"
                raise OptionError(message, code="out_of_range", name=name, value=value)
        self.keep = keep
        self._ledger = Ledger(Panes(labels=labels or (), told=labels is not None), self.window, remember)
        self._waiting: list[tuple[Any, Any, Any, float]] = []

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
        self._ledger.panes.trim(self.keep, MOST_TUPLES, self._fewest())

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
