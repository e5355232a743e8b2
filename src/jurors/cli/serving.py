"""What the commands about a server's store share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from jurors.cli.paths import STORE
from jurors.errors import JurorsError

if TYPE_CHECKING:
    from jurors.serve.stores import Store

Command = TypeVar("Command", bound=Callable[..., Any])


def store_option(command: Command) -> Command:
    """`--store`."""
    return click.option("--store", default="votes.db", show_default=True, metavar="PATH|URL", type=STORE,
                        help="A file (SQLite), or postgresql://… when one machine is not enough.")(command)  # fmt: skip


@contextmanager
def with_store(place: str, *, must_be_there: bool = False) -> Iterator[Store]:
    """The store, open while the block runs."""
    try:
        from jurors.serve.stores import check_there, open_store
    except ModuleNotFoundError as error:
        raise JurorsError(f"a store needs {error.name}: pip install 'jurors[serve]'") from None
    if must_be_there:
        check_there(place)
    store = open_store(place)
    try:
        yield store
    finally:
        store.close()
