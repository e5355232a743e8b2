"""What is shown: a card that is redrawn on a terminal, a line per look elsewhere, or a JSON document per look."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, TypeAlias

from jurors.quoting import visible
from jurors.tables import json_ready
from jurors.watch.watcher import Look

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
        return visible(look.reason)
    calibrated = look.evaluation.calibrated
    score = look.evaluation.score if calibrated is None else calibrated.score
    told = [visible(f"{juror} {value:.2f}") for juror, value in score.items() if value is not None]
    return ", ".join(told[:_MOST]) + (" …" if len(told) > _MOST else "")


def event_line(event: dict[str, Any]) -> str:
    """An alarm that begins or ends, with what to do about it."""
    if event["event"] == "cleared":
        return visible(f"cleared: {event['message']}")
    return visible(f"{event['level'].upper()}: {event['message']}. {event.get('advice', '')}".rstrip())


def told_lines(look: Look) -> list[str]:
    """What a person has to know of this look beside the grades: alarms, lines that could not be read, news of files."""
    problems = [visible(f"not read: {one.where}: {one.why}") for one in look.problems[:3]]
    if len(look.problems) > 3:
        problems.append(f"not read: {len(look.problems) - 3:,} more")
    return [*map(visible, look.news), *problems, *map(event_line, look.events)]


def scale_line(look: Look) -> str:
    """What the votes are taken for, where they might be something else; nothing where that is plain."""
    alarms = () if look.evaluation is None else look.evaluation.alarms
    return next((visible(f"note: {alarm.message}") for alarm in alarms if alarm.kind == "scale"), "")


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
def showing(format: str, name: str, *, quiet: bool) -> Iterator[Show]:
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
    lines = [f"{visible(name)}   {line_of(look)}", ""]
    if look.evaluation is not None:
        lines += [look.evaluation.to_text().rstrip(), ""]
    lines += [event_line(event) for event in look.ringing] or ["no alarm rings"]
    return "\n".join([*lines, "", *history])
