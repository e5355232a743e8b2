"""Progress of long calls: stages reported inside a call go to the function that a caller has registered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_CALLBACK: ContextVar[Callable[[str], None] | None] = ContextVar("callback", default=None)


def report_progress(stage: str) -> None:
    """Call the registered function with the name of a stage; do nothing where there is none, as is usual."""
    callback = _CALLBACK.get()
    if callback is not None:
        callback(stage)


@contextmanager
def on_progress(callback: Callable[[str], None]) -> Iterator[None]:
    """Call a function with the name of each stage that begins inside the block.

    Examples
    --------
    >>> with on_progress(print):
    ...     report_progress("choosing the model")
    choosing the model
    """
    token = _CALLBACK.set(callback)
    try:
        yield
    finally:
        _CALLBACK.reset(token)
