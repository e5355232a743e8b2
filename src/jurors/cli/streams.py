"""The standard streams: a result goes out as it is, lines to read are made visible; signals end a command in order."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

import click

from jurors.quoting import visible
from jurors.scratch import ENDING
from jurors.whole import encoded


class Stopped(KeyboardInterrupt):
    """Another signal than Ctrl-C asked us to end."""


def say(line: str) -> None:
    """One line to standard error."""
    click.echo(visible(line), err=True)


def put(text: str) -> None:
    """Lines to read to standard output; what they are made of was made visible before."""
    click.echo(text, nl=False, color=True)


def put_data(pieces: Iterable[str]) -> None:
    """Data to standard output, in the very bytes that a file would hold; on a terminal, so that all can be seen."""
    shown = sys.stdout.isatty()
    for piece in pieces:
        if shown:
            put("".join(map(_visible_line, piece.splitlines(keepends=True))))
        else:
            click.echo(encoded(piece, "to standard output"), nl=False)
    sys.stdout.flush()


def _visible_line(line: str) -> str:
    return visible(line.removesuffix("\n")) + "\n" * line.endswith("\n")


@contextmanager
def standard_streams() -> Iterator[None]:
    """Streams that were closed fail when they are used, and no file takes their place; no character fails to encode."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open())  # noqa: SIM115 - for reading, so that writing fails
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    yield


def forget_output() -> None:
    """What could not be written is not tried again when Python ends, which would be a second, longer message."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def heeding_signals() -> Iterator[None]:
    """A signal that asks to end is raised like Ctrl-C: what is half done is cleared away on the way out."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heeded = [number for number in ENDING if signal.getsignal(number) is signal.SIG_DFL]  # `nohup` ignores one
    global _stopped_by
    _stopped_by = signal.SIGINT
    hook, sys.unraisablehook = sys.unraisablehook, _stop_again
    for number in heeded:
        signal.signal(number, _stop)
    try:
        yield
    finally:
        for number in heeded:
            signal.signal(number, signal.SIG_DFL)
        sys.unraisablehook = hook


def _stop(number: int, frame: Any) -> NoReturn:
    global _stopped_by
    _stopped_by = number
    raise Stopped


def _stop_again(fault: Any) -> None:
    """A signal that came while Python tidied up, where nothing can be raised, comes again a moment later."""
    if isinstance(fault.exc_value, Stopped):
        threading.Timer(0.05, os.kill, (os.getpid(), _stopped_by)).start()
    else:
        sys.__unraisablehook__(fault)


_stopped_by: int = signal.SIGINT


def was_stopped() -> bool:
    """Whether another signal than Ctrl-C has come."""
    return _stopped_by != signal.SIGINT


def stopped_status() -> int:
    """The exit status that shells expect of a process that a signal ended; libraries hide which one it was."""
    return 128 + _stopped_by
