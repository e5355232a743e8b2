"""Commands that write a file of votes or counts: where it goes, and what to say beside it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from jurors.cli.output import Output
from jurors.cli.paths import WRITES
from jurors.cli.streams import say

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class Target(Output):
    """OUT, or standard output where none is named."""

    def say(self, messages: Sequence[str]) -> None:
        """Say something on stderr, unless it shall be quiet."""
        for message in messages if not self.quiet else ():
            say(f"jurors: {message}")


def target_options(command: Command) -> Command:
    """Where the file goes; the command gets `target: Target`."""

    @click.option(
        "-o", "--output", "path", metavar="OUT", type=WRITES, help="The file to write; without it, standard output."
    )
    @click.option("--quiet", is_flag=True, help="Nothing on stderr: no progress, no warnings.")
    @functools.wraps(command)
    def wrapped(path: str | None, quiet: bool, **rest: Any) -> Any:
        return command(target=Target(path=path, quiet=quiet), **rest)

    return wrapped  # type: ignore[return-value]
