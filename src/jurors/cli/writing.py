"""Commands that write a file of votes or counts: where it goes, and what to say beside it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from jurors.cli.output import Output
from jurors.errors import OutputError

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class Target(Output):
    """OUT, or standard output where none is named."""

    def say(self, messages: Sequence[str]) -> None:
        """Say something on stderr, unless it shall be quiet."""
        for message in messages if not self.quiet else ():
            click.echo(f"jurors: {message}", err=True)

    def spare(self, files: Sequence[str]) -> None:
        """VotesError where OUT is one of the files that are read: the votes would be lost."""
        if self.path is None or not Path(self.path).is_file():
            return
        for file in files:
            if file != "-" and Path(file).is_file() and Path(file).samefile(self.path):
                raise OutputError(f"{self.path} is read and would be written over; give OUT another name")

    def print(self, pieces: Iterator[str]) -> None:
        """Text to standard output, piece by piece."""
        for piece in pieces:
            click.echo(piece, nl=False)
        sys.stdout.flush()


def target_options(command: Command) -> Command:
    """Where the file goes; the command gets `target: Target`."""

    @click.option("-o", "--output", "path", metavar="OUT", help="The file to write; without it, standard output.")
    @click.option("--quiet", is_flag=True, help="Nothing on stderr: no progress, no warnings.")
    @functools.wraps(command)
    def wrapped(path: str | None, quiet: bool, **rest: Any) -> Any:
        return command(target=Target(path=path, quiet=quiet), **rest)

    return wrapped  # type: ignore[return-value]
