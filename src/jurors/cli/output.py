"""Where a result goes: the format, the file, the bar while it is made, the alarms beside it, the exit status."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import click

from jurors.cli.paths import WRITES
from jurors.cli.streams import put, put_data, say
from jurors.errors import OutputError
from jurors.stages import listening
from jurors.tables import FORMS, Result
from jurors.whole import together, write_whole

Command = TypeVar("Command", bound=Callable[..., Any])

ALARM_STATUS = 3
_ALWAYS_TOLD = ("scale", "scored_again")  # notes on what votes were taken for, and on logs that are one
_NOTHING: Mapping[str, str | bytes] = MappingProxyType({})


@dataclass(frozen=True)
class Working:
    """The bar on a terminal: what is being done, and how much of it."""

    bar: Any  #: rich's Progress with one task
    what: str

    def __call__(self, share: float) -> None:
        """Move the bar to this share, from 0 to 1."""
        self.bar.update(self.bar.task_ids[0], total=1.0, completed=share)

    def at(self, what: str, share: float) -> None:
        """The same, and what is being done now."""
        self.bar.update(self.bar.task_ids[0], description=what, total=1.0, completed=share)

    def doing(self, what: str) -> None:
        """Name what is being done now, nobody knows how long."""
        self.bar.update(self.bar.task_ids[0], description=f"{self.what}: {what}", total=None, completed=0)

    @contextmanager
    def on(self, what: str) -> Iterator[Working]:
        """Name something else for as long as the block takes."""
        self.bar.update(self.bar.task_ids[0], description=what, total=None, completed=0)
        try:
            yield self
        finally:
            self.bar.update(self.bar.task_ids[0], description=self.what, total=None, completed=0)


@dataclass(frozen=True)
class Output:
    """Where the result goes, in which format, and what the exit status means."""

    format: str = "text"
    path: str | None = None
    quiet: bool = False
    fail_on: str | None = None

    def show(self, result: Result, *, in_log: bool = False, beside: Mapping[str, str | bytes] = _NOTHING) -> None:
        """Write the result in the format asked for, tell its alarms, and exit by the very same alarms.

        `in_log`: also to standard error where it goes into a file, since a log should not need that file to be read.
        `beside`: other files and what they hold, written together with the result or not at all.
        """
        with together():
            for path, content in beside.items():
                write_whole(Path(path), content)
            self.write(getattr(result, FORMS[self.format])())
        if in_log and self.path is not None and not self.quiet:
            click.echo(result.to_text(), nl=False, err=True)
        alarms: Sequence[Any] = getattr(result, "alarms", ())
        if self.format == "csv" or (result._is_bare and self.format != "json"):
            self.warn(alarms)
        self.exit(alarms)

    def write(self, text: str) -> None:
        """Print the result, or write it whole: to a temporary name first, then renamed."""
        text = text if text.endswith("\n") else text + "\n"
        if self.path is not None:
            write_whole(Path(self.path), text)
        elif self.format in ("text", "md"):
            put(text)
        else:
            put_data((text,))

    @contextmanager
    def working(self, what: str) -> Iterator[Working | None]:
        """A moving bar with the time spent, on stderr, on a terminal only, for as long as the block takes.

        Calling what it gives with a share from 0 to 1 shows how much is done; stages of long calls name themselves.
        """
        if self.quiet or not sys.stderr.isatty():
            yield None
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            bar.add_task(what, total=None)
            working = Working(bar, what)
            with listening(working.doing):
                yield working

    def warn(self, alarms: Sequence[Any]) -> None:
        """Alarms on stderr, for formats whose stdout is data."""
        from jurors.evaluate.card import alarm_lines
        from jurors.jury.groups.by_group_card import shown_alarms

        if not self.quiet:
            told = [a for a in alarms if a.level != "note" or a.kind in _ALWAYS_TOLD]
            for line in alarm_lines(shown_alarms(told)):
                say(line)

    def warn_of(self, votes: Any) -> None:
        """What the votes (or a sketch of them) show, on stderr, for results that carry no alarms about votes."""
        from jurors.jury.accept import vote_alarms
        from jurors.sketch import Sketch

        is_sketch = isinstance(votes, Sketch)
        self.warn(vote_alarms(votes.tuples if is_sketch else votes, weighted=is_sketch or votes.counts is not None))

    def ringing(self, alarms: Sequence[Any]) -> list[Any]:
        """The alarms loud enough to fail: the printed verdict and the exit status both come from here."""
        from jurors.evaluate.catalogue import LEVELS

        return [a for a in alarms if self.fail_on and LEVELS.index(a.level) >= LEVELS.index(self.fail_on)]

    def exit(self, alarms: Sequence[Any]) -> None:
        """Exit with status 3 if an alarm of the asked level rang."""
        if self.ringing(alarms):
            sys.exit(ALARM_STATUS)


def output_options(*formats: str, fail_on: str | None = None, alarms: bool = True) -> Callable[[Command], Command]:
    """Where the result goes; the command gets `output: Output`. Without alarms there is no option about them."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def wrapped(format_: str, path: str | None, quiet: bool, fail_on: str | None = None, **rest: Any) -> Any:
            return command(output=Output(format_, path, quiet, fail_on), **rest)

        options = [
            click.option("--format", "format_", type=click.Choice(formats), default=formats[0], show_default=True),
            click.option("-o", "--output", "path", metavar="FILE", type=WRITES, help="Write here instead of printing."),
            click.option("--quiet", is_flag=True, help="Nothing on stderr: no progress, no warnings."),
        ]
        if alarms:
            help_text = "Exit with status 3 if something this loud rang."
            levels = click.Choice(["warning", "alarm"])
            options.append(
                click.option(
                    "--fail-on", type=levels, default=fail_on, show_default=fail_on is not None, help=help_text
                )
            )
        for option in reversed(options):
            wrapped = option(wrapped)
        return wrapped  # type: ignore[return-value]

    return decorate


def chart_format(path: str, option: str) -> Any:
    """The format that a chart's name asks for; what cannot be written is told before the work."""
    from jurors.plot import FORMATS

    ending = Path(path).suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        endings = ", ".join(f".{name}" for name in FORMATS)
        raise OutputError(f"{option} {path}: the name of a chart's file ends in one of {endings}")
    return ending
