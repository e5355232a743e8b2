"""Progress of long calls: stages go to the function that a caller has registered, and from there to a terminal."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from time import monotonic
from typing import TextIO, TypeAlias

Stages: TypeAlias = Callable[[str, float | None], None]

_CALLBACK: ContextVar[Stages | None] = ContextVar("callback", default=None)
PATIENCE = 1.0  #: seconds without a line: most calls end before
_PERIOD = 0.2  # seconds


def report_progress(stage: str, share: float | None = None) -> None:
    """Call the registered function with a stage, and with how much of it is done where that is known.

    Without a registered function, as is usual, nothing happens.
    """
    callback = _CALLBACK.get()
    if callback is not None:
        callback(stage, share)


@contextmanager
def on_progress(callback: Stages) -> Iterator[None]:
    """Call a function with each stage that begins inside the block, and with the share of it that is done.

    Examples
    --------
    >>> with on_progress(print):
    ...     report_progress("choosing the model")
    ...     report_progress("grading smaller panels", 0.5)
    choosing the model None
    grading smaller panels 0.5
    """
    token = _CALLBACK.set(callback)
    try:
        yield
    finally:
        _CALLBACK.reset(token)


class ProgressBar:
    """A line on a terminal while the block runs: what is being done, for how long, how much of it, and what is left."""

    def __init__(self, what: str, terminal: TextIO) -> None:
        self.what = what
        self._terminal = terminal
        self._stage, self._share, self._began = what, None, monotonic()
        self._started, self._done = monotonic(), threading.Event()
        self._thread = threading.Thread(target=self._draw, daemon=True)

    _share: float | None

    def __enter__(self) -> ProgressBar:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def __call__(self, share: float) -> None:
        """Show this share of the stage, from 0 to 1."""
        self._share = share

    def at(self, stage: str, share: float | None = None) -> None:
        """Name what is being done now, and how much of it is done."""
        if stage != self._stage:
            self._stage, self._began = stage, monotonic()
        self._share = share

    def doing(self, stage: str, share: float | None = None) -> None:
        """Name a stage of the work."""
        self.at(f"{self.what}: {stage}", share)

    @contextmanager
    def on(self, what: str) -> Iterator[ProgressBar]:
        """Name something else for as long as the block takes."""
        self.at(what)
        try:
            yield self
        finally:
            self.at(self.what)

    def _draw(self) -> None:
        if self._done.wait(PATIENCE):
            return
        with suppress(OSError, ValueError):  # the terminal was closed
            columns = 0  # not known
            with suppress(OSError):
                columns = os.get_terminal_size(self._terminal.fileno()).columns
            columns = columns or 80
            while not self._done.is_set():
                room = columns - 1 if self.line.isascii() else columns // 2  # some letters take two columns
                self._terminal.write(f"\r{self.line[:room]}\x1b[K")
                self._terminal.flush()
                self._done.wait(_PERIOD)
            self._terminal.write("\r\x1b[K")
            self._terminal.flush()

    @property
    def line(self) -> str:
        """What the terminal shows now."""
        now, share = monotonic(), self._share
        parts = ["".join(letter if letter.isprintable() else "?" for letter in self._stage)]
        if share:
            parts += [f"{share:.0%}", f"about {_clock((now - self._began) * (1 - share) / share)} left"]
        return ", ".join([*parts, f"{_clock(now - self._started)} so far"])


def _clock(seconds: float) -> str:
    """Minutes and seconds.

    >>> _clock(127.6)
    '2:08'
    """
    return "{}:{:02}".format(*divmod(round(seconds), 60))
