"""Small matrix products on one thread: a second one mostly waits for the first, and on a busy machine for long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep the linear algebra library to one thread inside the block; what it had before comes back after it."""
    with _controller().limit(limits=1, user_api="blas"):
        yield
