"""Small matrix products on one thread: a second one mostly waits for the first, and on a busy machine for long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

_LOCK = Lock()
_before: list[tuple[Any, int]] = []  # the libraries that had more threads when the first block began, and how many
_blocks = 0  # that are under way, in this thread or another: libraries have one number of threads for the process


@cache
def _libraries() -> list[Any]:
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep the linear algebra library to one thread inside the block; what it had before comes back after the last."""
    global _blocks
    with _LOCK:
        if not _blocks:
            _before[:] = [(one, threads) for one in _libraries() if (threads := one.get_num_threads()) != 1]
            for library, _ in _before:
                library.set_num_threads(1)
        _blocks += 1
    try:
        yield
    finally:
        with _LOCK:
            _blocks -= 1
            if not _blocks:
                for library, threads in _before:
                    library.set_num_threads(threads)
