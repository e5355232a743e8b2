"""Formats, paths, exit status."""

from __future__ import annotations

import functools
import glob
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import click

from jurors._files import atomic_group, atomic_write, check_writable
from jurors.cli.main import print_data, print_error, print_output
from jurors.errors import JurorsError, OutputError
from jurors.progress import on_progress
from jurors.results import FORMATS_OF_RESULTS, Result

# What a command reads and what it writes: an output never takes the place of an input, nor of another output.
#
# Every option that names a file has one of these types. The types look at each other's values while the command line is
# parsed, so that a command cannot forget to.


if TYPE_CHECKING:
    _ParamType = click.ParamType[str]
else:
    _ParamType = click.ParamType

_NAMED = "jurors.paths"


@dataclass(frozen=True)
class _Named:
    """A path on the command line."""

    option: str
    path: str
    is_written: bool


class PathType(_ParamType):
    """The name of a file that is read, of one that is written, or of a folder that is written into."""

    name = "path"

    def __init__(self, *, is_written: bool, is_folder: bool = False) -> None:
        self.is_written, self.is_folder = is_written, is_folder

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The path; OutputError where it cannot be written, or should not be."""
        path = "/dev/stdout" if self.is_written and value == "-" else str(value)
        _note(_Named(param.opts[0] if param is not None else "", path, self.is_written), ctx)
        if self.is_written and not self.is_folder:
            check_writable(Path(path))
        return path


class StoreType(PathType):
    """A server's store: a file, which no output may go over, or the address of a database."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The place as it was given."""
        return str(value) if "://" in str(value) else super().convert(value, param, ctx)


STORE_PATH = StoreType(is_written=False)
INPUT_PATH = PathType(is_written=False)
OUTPUT_PATH = PathType(is_written=True)
OUTPUT_FOLDER = PathType(is_written=True, is_folder=True)


def register_output(option: str, path: Path) -> None:
    """A file that is written beside the one that an option names: it goes over nothing, either."""
    _note(_Named(option, str(path), is_written=True), click.get_current_context(silent=True))
    check_writable(path)


def _note(named: _Named, ctx: click.Context | None) -> None:
    """Compare a path with all others of this command line."""
    others = [] if ctx is None else ctx.meta.setdefault(_NAMED, [])
    for other in others:
        _refuse_same(named, other)
    others.append(named)


def _refuse_same(one: _Named, other: _Named) -> None:
    if one.is_written and other.is_written:
        _refuse_both(one, other)
    if one.is_written == other.is_written:
        return
    written, read = (one, other) if one.is_written else (other, one)
    for file in _files(read.path):
        if _is_same_file(file, written.path):
            shown = "standard input" if file == "-" else file
            raise OutputError(
                f"{written.option} {written.path} would write over {shown}, which is read; "
                f"give {written.option} another name"
            )


def _refuse_both(one: _Named, other: _Named) -> None:
    """Two outputs in one file, be it there already or not."""
    real = {os.path.realpath(named.path) for named in (one, other)}
    if _is_same_file(one.path, other.path) or (len(real) == 1 and not os.path.exists(*real)):
        raise OutputError(f"{one.option} and {other.option} would both write {one.path}; give one of them another name")


def _files(path: str) -> list[str]:
    """The files that a path names when it is read: one, or those of a folder or a pattern."""
    from jurors.votes.io.sources import split_inside

    path, _ = split_inside(path)
    if not os.path.isdir(path) and (os.path.exists(path) or not glob.has_magic(path)):
        return [path]
    from jurors.votes.io.sources import locate

    try:
        return [str(file) for file in locate(path, Path()).paths]
    except (JurorsError, OSError):  # told when it is read
        return []


def _is_same_file(read: str, written: str) -> bool:
    """Whether these are one file, whatever links and spellings lead to it; a device may well be both."""
    try:
        one, other = os.fstat(0) if read == "-" else os.stat(read), os.stat(written)
    except OSError:
        return False
    return stat.S_ISREG(one.st_mode) and os.path.samestat(one, other)


# Where a result goes: the format, the file, the bar while it is made, the alarms beside it, the exit status.


Command = TypeVar("Command", bound=Callable[..., Any])

ALARM_STATUS = 3
_ALWAYS_TOLD = ("scale", "scored_again")  # notes on what votes were taken for, and on logs that are one
_NOTHING: Mapping[str, str | bytes] = MappingProxyType({})


@dataclass(frozen=True)
class ProgressBar:
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
    def on(self, what: str) -> Iterator[ProgressBar]:
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
        with atomic_group():
            for path, content in beside.items():
                atomic_write(Path(path), content)
            self.write(getattr(result, FORMATS_OF_RESULTS[self.format])())
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
            atomic_write(Path(self.path), text)
        elif self.format in ("text", "md"):
            print_output(text)
        else:
            print_data((text,))

    @contextmanager
    def working(self, what: str) -> Iterator[ProgressBar | None]:
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
            working = ProgressBar(bar, what)
            with on_progress(working.doing):
                yield working

    def warn(self, alarms: Sequence[Any]) -> None:
        """Alarms on stderr, for formats whose stdout is data."""
        from jurors.evaluate.card import alarm_lines
        from jurors.jury.groups import group_alarms

        if not self.quiet:
            told = [a for a in alarms if a.level != "note" or a.kind in _ALWAYS_TOLD]
            for line in alarm_lines(group_alarms(told)):
                print_error(line)

    def warn_of(self, votes: Any) -> None:
        """What the votes (or a sketch of them) show, on stderr, for results that carry no alarms about votes."""
        from jurors.jury.inputs import input_alarms
        from jurors.sketch import Sketch

        is_sketch = isinstance(votes, Sketch)
        self.warn(input_alarms(votes.tuples if is_sketch else votes, weighted=is_sketch or votes.counts is not None))

    def ringing(self, alarms: Sequence[Any]) -> list[Any]:
        """The alarms loud enough to fail: the printed verdict and the exit status both come from here."""
        from jurors.evaluate.alarms import LEVELS

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
            click.option(
                "-o", "--output", "path", metavar="FILE", type=OUTPUT_PATH, help="Write here instead of printing."
            ),
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
    from jurors.report.charts.base import FORMATS

    ending = Path(path).suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        endings = ", ".join(f".{name}" for name in FORMATS)
        raise OutputError(f"{option} {path}: the name of a chart's file ends in one of {endings}")
    return ending


# Commands that write a file of votes or counts: where it goes, and what to say beside it.


@dataclass(frozen=True)
class OutputTarget(Output):
    """OUT, or standard output where none is named."""

    def say(self, messages: Sequence[str]) -> None:
        """Say something on stderr, unless it shall be quiet."""
        for message in messages if not self.quiet else ():
            print_error(f"jurors: {message}")


def target_options(command: Command) -> Command:
    """Where the file goes; the command gets `target: Target`."""

    @click.option(
        "-o",
        "--output",
        "path",
        metavar="OUT",
        type=OUTPUT_PATH,
        help="The file to write; without it, standard output.",
    )
    @click.option("--quiet", is_flag=True, help="Nothing on stderr: no progress, no warnings.")
    @functools.wraps(command)
    def wrapped(path: str | None, quiet: bool, **rest: Any) -> Any:
        return command(target=OutputTarget(path=path, quiet=quiet), **rest)

    return wrapped  # type: ignore[return-value]
