"""`Watcher`: polls a source of votes, counts and grades them, raises alarms, and shows each poll.

Its snapshot holds the counts and how far each file was read in one file that is written atomically: whenever the
watcher is killed, it continues from a consistent state, and reads what came after it again.

What is shown is a card that is redrawn on a terminal, a line per poll elsewhere, or a JSON document per poll.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep
from typing import Any, TypeAlias

import click

from jurors._files import atomic_write
from jurors.errors import JurorsError, OptionError, VotesError
from jurors.evaluate.evaluation import Evaluation
from jurors.jury.check import Verdict, check
from jurors.monitor import Monitor
from jurors.monitor.monitor import read_snapshot, text_of
from jurors.monitor.notify import AlarmState, Event, NotificationQueue
from jurors.progress import report_progress
from jurors.results import escape_text, json_ready
from jurors.watch.sources import Vote, VoteSource

_AT_ONCE = 500  # votes that are counted before drift is tested: what is counted together has no order


@dataclass
class PollResult:
    """The state of the stream after one poll."""

    monitor: Monitor
    new: int  #: votes
    evaluation: Evaluation | None  #: of the last window; None where nothing can be graded yet
    verdict: Verdict | None
    reason: str  #: why there are no grades
    events: Sequence[Event]  #: alarms raised and cleared by this poll
    active: Sequence[Event]  #: the active alarms, without notes
    problems: Sequence[str]  #: the first few of this poll
    newly_refused: int  #: lines and files that could not be read
    refused: int  #: the same since the beginning
    notices: Sequence[str]


@dataclass
class Watcher:
    """A stream, its counts, its alarms, and their notifications."""

    source: VoteSource
    name: str  #: of the source, for people
    monitor: Monitor
    notifications: NotificationQueue
    limits: dict[str, Any] = field(default_factory=dict)
    grading: dict[str, Any] = field(default_factory=dict)
    state: Path | None = None
    refused: int = 0

    def __post_init__(self) -> None:
        self.alarms = AlarmState(self.name)
        self._graded: tuple[int, int] | None = None  # items and votes
        self._grades: tuple[Evaluation | None, Verdict | None, str] = (None, None, "no votes yet")
        self._next_save = 0.0  # by the monotonic clock
        self._changed = True  # since the last snapshot
        self._consistent = True  # counts and positions: not between reading a line and counting it

    def poll(self, *, ended: bool = False) -> PollResult:
        """Read the new votes, grade them, send notifications, and save a snapshot where something changed.

        Returns
        -------
        PollResult
            The grades of the last window, what changed, and what went wrong.
        """
        new, self._consistent = 0, False
        for batch in self.source.batches(ended=ended):
            for start in range(0, len(batch), _AT_ONCE):
                new += self._count(batch[start : start + _AT_ONCE])
                report_progress(f"{new:,} votes")
                self.monitor.alarms()
            self._changed, self._consistent = self._changed or bool(batch), True
            self.save()
            self._consistent = False
        self._consistent = True
        record = self.source.record
        problems, notices, lines, refused = record.problems[:], record.notices[:], record.lines, record.refused
        record.problems.clear()
        record.notices.clear()
        record.lines = record.refused = 0
        self.refused += refused
        self._changed |= bool(new or refused or notices)
        counted = self.monitor.items, self.monitor.votes
        if counted != self._graded and counted[1]:  # grade the last window again only where votes came
            self._graded = counted
            try:
                evaluation = self.monitor.grade("last", **self.grading)
                self._grades = evaluation, check(evaluation, **self.limits), ""
            except JurorsError as error:
                self._grades = None, None, " ".join(str(error).split())
        events = self.alarms.check_source(lines, refused)
        events += self.alarms.update([alarm.to_dict() for alarm in self.monitor.alarms()], self._grades[1])
        if events:
            self.notifications.add([event for event in events if event["level"] != "note"])
            self.save(at_once=True)  # an alarm that was raised is notified even if the power fails now
        self.save(at_once=self.notifications.deliver())  # no notification is sent twice
        notices += self.notifications.notices
        self.notifications.notices.clear()
        active = self.alarms.above_notes
        return PollResult(self.monitor, new, *self._grades, events, active, problems, refused, self.refused, notices)

    def _count(self, batch: list[Vote]) -> int:
        """Count the votes; where one of them is invalid, all others, one by one."""
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
                self.source.record.refuse(f"{self.name}, item {vote['item']!r:.40}", error.fault)
        if not counted and not self.monitor.votes:  # nothing of it is a vote: the command line does not fit
            raise last.in_file(self.name)
        return counted

    def save(self, *, at_once: bool = False) -> None:
        """Write the snapshot where something changed; a large one takes at most a fifth of the time."""
        is_due = at_once or (self._changed and monotonic() >= self._next_save)
        if self.state is None or not self._consistent or not is_due:
            return
        began = monotonic()
        watch = {
            "source": self.name,
            "place": self.source.to_dict(),
            "active": self.alarms.active,
            "raised": self.alarms.raised,
            "recent": self.alarms.recent,
            "pending": self.notifications.to_list(),
            "refused": self.refused,
        }
        atomic_write(self.state, text_of({**self.monitor.to_dict(), "watch": watch}))
        self._changed = False
        self._next_save = monotonic() + 4 * (monotonic() - began)

    def resume(self) -> None:
        """Continue from the snapshot, if there is one; OptionError where it is of another source or window."""
        if self.state is None or not self.state.exists():
            return
        read_snapshot(self.state, self._restore)
        self._changed = False

    def _restore(self, document: dict[str, Any]) -> None:
        watch = document["watch"]
        if watch["source"] != self.name:
            raise OptionError(
                f"this state file belongs to {watch['source']}, not to {self.name}; use one --state for each source"
            )
        options = self.monitor.to_dict()
        for name in ("window", "alpha", "settle", "block", "expect"):
            value = options[name]
            if (stored := document[name]) != value:
                problem = f"this state file was written with --{name} {stored!r}, not {value!r}"
                raise OptionError(f"{problem}; use the same value, or another --state", name=name, value=value)
        self.monitor = Monitor.from_dict(document)
        self.source.restore(watch["place"])
        self.alarms.active, self.alarms.raised = watch["active"], watch["raised"]
        self.alarms.recent = tuple(watch["recent"])
        self.notifications.restore(watch["pending"])
        self.refused = watch["refused"]


Show: TypeAlias = Callable[[PollResult], None]
Progress: TypeAlias = Callable[[], AbstractContextManager[object]]


def watch_source(
    watcher: Watcher, show: Show, *, every: float, once: bool = False, progress: Progress = nullcontext
) -> bool:
    """Poll every so many seconds until the source is done or the user ends it, or once; the snapshot is saved.

    Returns
    -------
    bool
        Whether the source is done: False after Ctrl-C or SIGTERM, which is how following a file ends.
    """
    try:
        while True:
            began = monotonic()
            with progress():
                result = watcher.poll(ended=once)
            show(result)
            if once or watcher.source.is_done:
                break
            sleep(max(0.0, every - (monotonic() - began)))
    except KeyboardInterrupt:
        if once:
            raise
        return False
    finally:
        watcher.source.close()
        watcher.save(at_once=True)
    return True


# -- what is shown --------------------------------------------------------------------------------------------

_MOST_JURORS = 12  # in a line


def _status_line(result: PollResult) -> str:
    """One poll in a line: how much has come, the jurors' scores, the number of alarms."""
    monitor, evaluation, alarms = result.monitor, result.evaluation, len(result.active)
    if evaluation is None:
        grades = escape_text(result.reason)
    else:
        known = [(juror, value) for juror, value in evaluation.score.items() if value is not None]
        scores = [escape_text(f"{juror} {value:.2f}") for juror, value in known]
        grades = ", ".join(scores[:_MOST_JURORS]) + (" …" if len(scores) > _MOST_JURORS else "")
    parts = [
        f"{_clock()}  {monitor.items:,} items, {monitor.votes:,} votes (+{result.new:,})",
        grades,
        f"{alarms} alarm{'s' * (alarms > 1)}" if alarms else "",
        f"{monitor.late:,} late votes not counted" if monitor.late else "",
        f"{result.refused:,} skipped" if result.refused else "",
    ]
    return "; ".join(filter(None, parts))


def _clock() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _event_line(event: Event) -> str:
    """An alarm that was raised or cleared, with what to do about it."""
    if event["event"] == "cleared":
        return escape_text(f"cleared: {event['message']}")
    advice = f" {event['advice']}." if event.get("advice") else ""
    return escape_text(f"{event['level'].upper()}: {event['message'].removesuffix('.')}.{advice}")


def _message_lines(result: PollResult) -> list[str]:
    """What a person should know of a poll beside the grades: alarms, lines that could not be read, notices."""
    problems = [escape_text(f"skipped: {problem}") for problem in result.problems]
    if (more := result.newly_refused - len(problems)) > 0:
        problems.append(f"skipped: {more:,} more")
    return [*map(escape_text, result.notices), *problems, *map(_event_line, result.events)]


@contextmanager
def make_display(format: str, name: str, *, quiet: bool) -> Iterator[Show]:
    """Make what shows each poll: a JSON document, lines, or, on a terminal, a card.

    Returns
    -------
    context manager
        That yields a function of a PollResult.
    """
    if format == "json":

        def show_json(result: PollResult) -> None:
            document = {
                "time": _clock(),
                "items": result.monitor.items,
                "votes": result.monitor.votes,
                "new": result.new,
                "late": result.monitor.late,
                "refused": result.refused,
                "grades": None if result.evaluation is None else result.evaluation.to_dict(),
                "reason": result.reason or None,
                "gates": [] if result.verdict is None else json_ready(list(result.verdict.gates)),
                "events": list(result.events),
                "alarms": list(result.active),
            }
            click.echo(json.dumps(json_ready(document)))

        yield show_json
    elif quiet or not sys.stdout.isatty():
        scale, is_started = "", False

        def show_lines(result: PollResult) -> None:
            """A status line where votes came (and at first), and every message."""
            nonlocal scale, is_started
            for line in _message_lines(result):
                click.echo(line)
            if quiet:
                return
            # what the votes are taken for, where they might be something else
            alarms = () if result.evaluation is None else result.evaluation.alarms
            now = next((escape_text(f"note: {alarm.message}") for alarm in alarms if alarm.reason == "scale"), "")
            if now not in ("", scale):
                click.echo(now)
                scale = now
            if result.new or not is_started:
                click.echo(_status_line(result))
                is_started = True

        yield show_lines
    else:  # the report card of the last window, the active alarms, and what happened lately
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        history: list[str] = []
        with Live(console=Console(), auto_refresh=False, vertical_overflow="crop") as live:

            def show_card(result: PollResult) -> None:
                history.extend(f"{_clock()}  {line}" for line in _message_lines(result))
                del history[:-8]
                lines = [f"{escape_text(name)}   {_status_line(result)}", ""]
                if result.evaluation is not None:
                    lines += [result.evaluation.to_text().rstrip(), ""]
                lines += [_event_line(event) for event in result.active] or ["no active alarms"]
                live.update(Text("\n".join([*lines, "", *history])), refresh=True)

            yield show_card
