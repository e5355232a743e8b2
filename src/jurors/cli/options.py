"""Options that commands share, each written once: how to read votes, how to grade, where the result goes."""

from __future__ import annotations

import functools
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from jurors.errors import VotesError

Command = TypeVar("Command", bound=Callable[..., Any])

ALARM_STATUS = 3


@dataclass(frozen=True)
class Source:
    """FILE and the options that say how to read it."""

    path: str
    options: dict[str, Any]

    def read(self) -> Any:
        """The votes of FILE."""
        from jurors.votes import read_votes

        return read_votes(self.path, **self.options)

    def count(self) -> Any:
        """The sketch of FILE, for commands that need not know which item is which."""
        from jurors.sketch import read_sketch

        return read_sketch(self.path, **self.options)

    def read_with_key(self, key: Key) -> tuple[Any, Any]:
        """The votes of FILE and its key: another file, or a column of FILE itself."""
        from jurors.votes import read_key, read_votes_with_key

        if key.path is None:
            return self.read(), None
        if Path(key.path).exists():
            return self.read(), read_key(key.path, item=key.item, label=key.label)
        try:
            return read_votes_with_key(self.path, key.path, **self.options)
        except VotesError as error:
            if "there is no column" not in str(error):
                raise
            raise VotesError(f"--key {key.path}: no such file, and {error}") from None


@dataclass(frozen=True)
class Key:
    """TRUTH and the options that say how to read it."""

    path: str | None
    item: str | None
    label: str | None


@dataclass(frozen=True)
class Output:
    """Where the result goes, in which format, and what the exit status means."""

    format: str
    path: str | None
    quiet: bool
    fail_on: str | None

    def write(self, text: str) -> None:
        """Print the result, or write it whole: to a temporary name first, then renamed."""
        text = text if text.endswith("\n") else text + "\n"
        if self.path is None:
            click.echo(text, nl=False)
        else:
            write_whole(Path(self.path), text)

    def working(self, what: str) -> AbstractContextManager[Any]:
        """A moving bar with the time spent, on stderr, on a terminal only, for as long as the block takes."""
        if self.quiet or not sys.stderr.isatty():
            return nullcontext()
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        progress = Progress(*columns, console=Console(stderr=True), transient=True)
        progress.add_task(what, total=None)
        return progress

    def warn(self, alarms: Sequence[Any]) -> None:
        """Alarms on stderr, for formats whose stdout is data."""
        from jurors.evaluate.card import alarm_lines

        if not self.quiet:
            for line in alarm_lines(tuple(a for a in alarms if a.level != "note")):
                click.echo(line, err=True)

    def ringing(self, alarms: Sequence[Any]) -> list[Any]:
        """The alarms loud enough to fail: the printed verdict and the exit status both come from here."""
        from jurors.evaluate.alarm import LEVELS

        return [a for a in alarms if self.fail_on and LEVELS.index(a.level) >= LEVELS.index(self.fail_on)]

    def exit(self, alarms: Sequence[Any]) -> None:
        """Exit with status 3 if an alarm of the asked level rang."""
        if self.ringing(alarms):
            sys.exit(ALARM_STATUS)


def write_whole(path: Path, text: str) -> None:
    """Write a file completely or not at all."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise VotesError(f"cannot write {path}: {error.strerror or error}") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def votes_options(command: Command) -> Command:
    """FILE and how to read it; the command gets `source: Source`."""

    @click.argument("file", metavar="FILE")
    @click.option("--layout", type=click.Choice(["auto", "long", "wide", "counts"]), default="auto", show_default=True,
                  help="How FILE is laid out.")  # fmt: skip
    @click.option("--item", metavar="COLUMN", help="The column that names the item.")
    @click.option("--juror", metavar="COLUMN", help="The column that names the juror (long layout).")
    @click.option("--label", "label_column", metavar="COLUMN", help="The column that holds the vote (long layout).")
    @click.option("--count", metavar="COLUMN", help="The column that counts items (counts layout).")
    @click.option("--ignore", metavar="COLUMN", multiple=True, help="A column that is no juror; repeatable.")
    @click.option("--missing", metavar="VALUE", multiple=True, help="A value that means no vote; repeatable.")
    @click.option("--labels", metavar="A,B", help="The labels, in the order to show them.")
    @click.option("--duplicates", type=click.Choice(["error", "first", "last"]), default="error", show_default=True,
                  help="What to do when a juror votes twice on an item.")  # fmt: skip
    @functools.wraps(command)
    def wrapped(
        file: str, layout: str, item: str | None, juror: str | None, label_column: str | None, count: str | None,
        ignore: tuple[str, ...], missing: tuple[str, ...], labels: str | None, duplicates: str, **rest: Any,
    ) -> Any:  # fmt: skip
        options = {
            "layout": layout, "item": item, "juror": juror, "label": label_column, "count": count, "ignore": ignore,
            "missing": missing, "labels": labels.split(",") if labels else None, "duplicates": duplicates,
        }  # fmt: skip
        return command(source=Source(file, options), **rest)

    return wrapped  # type: ignore[return-value]


def key_options(*, required: bool) -> Callable[[Command], Command]:
    """The answer key; the command gets `key: Key`."""

    def decorate(command: Command) -> Command:
        @click.option("--key", "key_path", required=required, metavar="TRUTH",
                      help="A file of true labels (item,label), or a column of FILE.")  # fmt: skip
        @click.option("--key-item", metavar="COLUMN", help="The column of TRUTH that names the item.")
        @click.option("--key-label", metavar="COLUMN", help="The column of TRUTH that holds the true label.")
        @functools.wraps(command)
        def wrapped(key_path: str | None, key_item: str | None, key_label: str | None, **rest: Any) -> Any:
            return command(key=Key(key_path, key_item, key_label), **rest)

        return wrapped  # type: ignore[return-value]

    return decorate


def grading_options(command: Command) -> Command:
    """How to grade; the command gets `grading: dict` for `jurors.grade` and `jurors.label`."""

    @click.option("--method", default="auto", show_default=True, help="How to grade; `jurors compare` shows them all.")
    @click.option("--trust", metavar="JUROR", help="A juror known to be right more often than wrong.")
    @click.option("--common", metavar="LABEL", help="The label known to be the more common one.")
    @click.option("--gold", metavar="FILE", help="A few items with their true labels (item,label).")
    @click.option("--target", type=click.Choice(["test", "population"]), default="test", show_default=True,
                  help="What intervals are about: these items, or where they came from.")  # fmt: skip
    @click.option("--level", type=float, default=0.95, show_default=True, help="How sure the intervals are.")
    @click.option(
        "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="For methods that draw random numbers."
    )
    @functools.wraps(command)
    def wrapped(
        method: str, trust: str | None, common: str | None, gold: str | None, target: str, level: float, seed: int,
        **rest: Any,
    ) -> Any:  # fmt: skip
        grading = {
            "method": method, "trust": trust, "common": common, "gold": gold, "target": target, "level": level,
            "seed": seed,
        }  # fmt: skip
        return command(grading=grading, **rest)

    return wrapped  # type: ignore[return-value]


def output_options(*formats: str, fail_on: str | None = None, alarms: bool = True) -> Callable[[Command], Command]:
    """Where the result goes; the command gets `output: Output`. Without alarms there is no option about them."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def wrapped(format_: str, path: str | None, quiet: bool, fail_on: str | None = None, **rest: Any) -> Any:
            return command(output=Output(format_, path, quiet, fail_on), **rest)

        options = [
            click.option("--format", "format_", type=click.Choice(formats), default=formats[0], show_default=True),
            click.option("-o", "--output", "path", metavar="FILE", help="Write here instead of printing."),
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


def json_text(document: Any) -> str:
    """Strict JSON: no NaN, no surprises."""
    import json

    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)
