"""Loop, screen."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep
from typing import Any, TypeAlias

from jurors._files import atomic_write
from jurors.errors import JurorsError, OptionError, VotesError
from jurors.evaluate import Evaluation
from jurors.jury import Verdict, check
from jurors.monitor import Monitor
from jurors.monitor.monitor import read_snapshot, text_of
from jurors.results import escape_text, json_ready
from jurors.watch.notify import AlarmState, Event, NotificationQueue
from jurors.watch.sources import SourceProblem, Vote, VoteSource

# `Watcher`: reads what is new, counts it, grades it, rings, and keeps a snapshot from which it goes on.
#
# The snapshot holds counts and how far each file was read in one file that is written whole: whatever moment the
# watcher is killed at, it goes on from one that fits together, and reads what came after it again.


@dataclass
class Look:
    """What one look at the stream showed."""

    monitor: Monitor
    new: int  #: votes
    evaluation: Evaluation | None  #: of the last window; None where nothing can be graded yet
    verdict: Verdict | None
    reason: str  #: why there are no grades
    events: Sequence[Event]
    ringing: Sequence[Event]
    problems: Sequence[SourceProblem]
    refused: int  #: lines and files since the beginning that could not be read
    news: Sequence[str]


@dataclass
class Watcher:
    """A stream, its counts, and who is told."""

    source: VoteSource
    name: str  #: of the source, for people
    monitor: Monitor
    post: NotificationQueue
    limits: dict[str, Any] = field(default_factory=dict)
    grading: dict[str, Any] = field(default_factory=dict)
    state: Path | None = None
    refused: int = 0

    def __post_init__(self) -> None:
        self.bell = AlarmState(self.name)
        self.resumed = False
        self._graded: tuple[int, int] | None = None  # items and votes
        self._grades: tuple[Evaluation | None, Verdict | None, str] = (None, None, "no vote has come yet")
        self._next = 0.0  # when a snapshot may be written again
        self._dirty = True
        self._fits = True  # counts and places: not between reading a line and counting it

    # -- one look -------------------------------------------------------------------------------------------------

    def look(self, *, ended: bool = False) -> Look:
        """Read what is new, grade it, tell who is to be told, keep a snapshot where something changed."""
        new, self._fits = 0, False
        for batch in self.source.batches(ended=ended):
            new += self._learn(batch)
            self._dirty, self._fits = self._dirty or bool(batch), True
            self.keep()
            self._fits = False
        self._fits = True
        problems, news = self.source.problems[:], self.source.news[:]
        self.source.problems.clear()
        self.source.news.clear()
        self.refused += len(problems)
        self._dirty |= bool(new or problems or news)
        evaluation, verdict, reason = self._grade()
        events = self.bell.rung([alarm.to_dict() for alarm in self.monitor.alarms()], verdict)
        if events:
            self.post.add([event for event in events if event["level"] != "note"])
            self.keep(at_once=True)  # an alarm that was raised is told, even if the power fails now
        self.keep(at_once=self.post.deliver())  # who was told is not told again
        news += self.post.news
        self.post.news.clear()
        loud = self.bell.loud
        return Look(self.monitor, new, evaluation, verdict, reason, events, loud, problems, self.refused, news)

    def _learn(self, batch: list[Vote]) -> int:
        """Count the votes; where one is none, all others, one by one."""
        if not batch:
            return 0
        try:
            self.monitor.learn_many(batch)
            return len(batch)
        except VotesError as error:
            if not self.monitor.votes and len(batch) == 1:
                raise error.in_file(self.name) from None
        counted = 0
        for vote in batch:
            try:
                self.monitor.learn_many([vote])
                counted += 1
            except VotesError as error:
                last = error
                self.source.problems.append(SourceProblem(f"{self.name}, item {vote['item']!r:.40}", error.fault))
        if not counted and not self.monitor.votes:  # nothing of it is a vote: the command line does not fit
            raise last.in_file(self.name)
        return counted

    def _grade(self) -> tuple[Evaluation | None, Verdict | None, str]:
        """The grades of the last window, worked out again only where something came."""
        counted = self.monitor.items, self.monitor.votes
        if counted != self._graded and counted[1]:
            self._graded = counted
            try:
                evaluation = self.monitor.grade("last", **self.grading)
                self._grades = evaluation, check(evaluation, **self.limits), ""
            except JurorsError as error:
                self._grades = None, None, " ".join(str(error).split())
        return self._grades

    # -- the snapshot ---------------------------------------------------------------------------------------------

    def keep(self, *, at_once: bool = False) -> None:
        """Write the snapshot where something changed; a large one takes at most a fifth of the time."""
        if self.state is None or not self._fits or not (at_once or (self._dirty and monotonic() >= self._next)):
            return
        began = monotonic()
        atomic_write(self.state, text_of(self._document()))
        self._dirty = False
        self._next = monotonic() + 4 * (monotonic() - began)

    def _document(self) -> dict[str, Any]:
        watch = {
            "source": self.name,
            "place": self.source.to_dict(),
            "ringing": self.bell.ringing,
            "told": self.bell.told,
            "waiting": self.post.to_list(),
            "refused": self.refused,
        }
        return {**self.monitor.to_dict(), "watch": watch}

    def resume(self) -> None:
        """Go on from the snapshot, if there is one; OptionError where it is of another source or window."""
        if self.state is None or not self.state.exists():
            return
        read_snapshot(self.state, self._restore)
        self.resumed, self._dirty = True, False

    def _restore(self, document: dict[str, Any]) -> None:
        watch = document["watch"]
        if watch["source"] != self.name:
            raise OptionError(f"it is of {watch['source']}, not of {self.name}; give each source a --state of its own")
        now = self.monitor
        for name, asked in (("window", str(now.window)), ("alpha", now.alpha), ("settle", now.settle)):
            if (was := document[name]) != asked:
                told = f"it was kept with --{name} {was!r}, not {asked!r}"
                raise OptionError(f"{told}; say the same, or take another --state", name=name, value=asked)
        self.monitor = Monitor.from_dict(document)
        self.source.restore(watch["place"])
        self.bell.ringing, self.bell.told = watch["ringing"], watch["told"]
        self.post.restore(watch["waiting"])
        self.refused = watch["refused"]


def watch_source(watcher: Watcher, show: Callable[[Look], None], *, every: float, once: bool = False) -> None:
    """Look again and again until the source is done, or once; the snapshot is kept whatever ends it."""
    try:
        while True:
            began = monotonic()
            show(watcher.look(ended=once))
            if once or watcher.source.is_done:
                break
            sleep(max(0.0, every - (monotonic() - began)))
    finally:
        watcher.source.close()
        watcher.keep(at_once=True)


# What is shown: a card that is redrawn on a terminal, a line per look elsewhere, or a JSON document per look.


Show: TypeAlias = Callable[[Look], None]
_MOST = 12  # jurors in a line


def line_of(look: Look) -> str:
    """One look in a line: how much has come, how good everybody is, what rings."""
    monitor = look.monitor
    parts = [f"{_clock()}  {monitor.items:,} items, {monitor.votes:,} votes (+{look.new:,})", _scores(look)]
    if look.ringing:
        parts.append(f"{len(look.ringing)} alarm{'s' * (len(look.ringing) > 1)}")
    if monitor.late:
        parts.append(f"{monitor.late:,} too late to count")
    if look.refused:
        parts.append(f"{look.refused:,} not read")
    return "; ".join(part for part in parts if part)


def _clock() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _scores(look: Look) -> str:
    if look.evaluation is None:
        return escape_text(look.reason)
    calibrated = look.evaluation.calibrated
    score = look.evaluation.score if calibrated is None else calibrated.score
    told = [escape_text(f"{juror} {value:.2f}") for juror, value in score.items() if value is not None]
    return ", ".join(told[:_MOST]) + (" …" if len(told) > _MOST else "")


def event_line(event: dict[str, Any]) -> str:
    """An alarm that begins or ends, with what to do about it."""
    if event["event"] == "cleared":
        return escape_text(f"cleared: {event['message']}")
    return escape_text(f"{event['level'].upper()}: {event['message']}. {event.get('advice', '')}".rstrip())


def told_lines(look: Look) -> list[str]:
    """What a person has to know of this look beside the grades: alarms, lines that could not be read, news of files."""
    problems = [escape_text(f"not read: {one.where}: {one.why}") for one in look.problems[:3]]
    if len(look.problems) > 3:
        problems.append(f"not read: {len(look.problems) - 3:,} more")
    return [*map(escape_text, look.news), *problems, *map(event_line, look.events)]


def scale_line(look: Look) -> str:
    """What the votes are taken for, where they might be something else; nothing where that is plain."""
    alarms = () if look.evaluation is None else look.evaluation.alarms
    return next((escape_text(f"note: {alarm.message}") for alarm in alarms if alarm.kind == "scale"), "")


def document_of(look: Look) -> dict[str, Any]:
    """One look as JSON."""
    return {
        "time": _clock(),
        "items": look.monitor.items,
        "votes": look.monitor.votes,
        "new": look.new,
        "late": look.monitor.late,
        "refused": look.refused,
        "grades": None if look.evaluation is None else look.evaluation.to_dict(),
        "reason": look.reason or None,
        "gates": [] if look.verdict is None else json_ready(list(look.verdict.gates)),
        "events": list(look.events),
        "alarms": list(look.ringing),
    }


@contextmanager
def make_display(format: str, name: str, *, quiet: bool) -> Iterator[Show]:
    """How looks are shown: by the format that was asked for, and by where standard output goes."""
    if format == "json":
        yield lambda look: _put(json.dumps(json_ready(document_of(look))))
    elif quiet or not sys.stdout.isatty():
        yield _Lines(quiet=quiet)
    else:
        with _card(name) as show:
            yield show


def _put(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class _Lines:
    """A line where something came, and whatever has to be told."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet, self.told, self.scale = quiet, False, ""

    def __call__(self, look: Look) -> None:
        for line in told_lines(look):
            _put(line)
        if not self.quiet and (scale := scale_line(look)) not in ("", self.scale):
            _put(scale)
            self.scale = scale
        if not self.quiet and (look.new or not self.told):
            _put(line_of(look))
            self.told = True


@contextmanager
def _card(name: str) -> Iterator[Show]:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    history: list[str] = []
    with Live(console=Console(), auto_refresh=False, vertical_overflow="crop") as live:

        def show(look: Look) -> None:
            history.extend(f"{_clock()}  {line}" for line in told_lines(look))
            del history[:-8]
            live.update(Text(card_of(look, name, history)), refresh=True)

        yield show


def card_of(look: Look, name: str, history: list[str]) -> str:
    """The card: what is watched, the report card of the last window, what rings, and what happened lately."""
    lines = [f"{escape_text(name)}   {line_of(look)}", ""]
    if look.evaluation is not None:
        lines += [look.evaluation.to_text().rstrip(), ""]
    lines += [event_line(event) for event in look.ringing] or ["no alarm rings"]
    return "\n".join([*lines, "", *history])
