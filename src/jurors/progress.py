"""What a long call is doing right now, for whoever shows it: a function that is told, set around the call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_LISTENER: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


def report_progress(what: str) -> None:
    """Tell whoever listens; nobody does as a rule, and nothing is said then."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(what)


@contextmanager
def on_progress(listener: Callable[[str], None]) -> Iterator[None]:
    """Be told what is being done inside the block.

    Examples
    --------
    >>> with on_progress(print):
    ...     report_progress("choosing the model")
    choosing the model
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)
