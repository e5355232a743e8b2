"""`jurors keys create`, `list` and `revoke`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from jurors.cli.output import Output, output_options
from jurors.cli.serving import store_option, with_store
from jurors.cli.streams import put, say
from jurors.errors import OptionError

if TYPE_CHECKING:
    from jurors.serve.kept.kept_keys import KeptKeys

_SCOPES = ("read", "write", "admin")


@contextmanager
def _opened(store: str) -> Iterator[KeptKeys]:
    with with_store(store) as opened:
        from jurors.serve.kept.kept_keys import KeptKeys

        yield KeptKeys(opened)


@click.group()
def keys() -> None:
    """API keys of a server: who may read, write or administer which project."""


@keys.command()
@store_option
@click.option("--scope", type=click.Choice(_SCOPES), default="write", show_default=True,
              help="What it is good for; each may all that those before it may.")  # fmt: skip
@click.option("--project", metavar="NAME", help="Only for this project; without it, for all.")
@click.option("--note", default="", metavar="TEXT", help="What you will know it by.")
def create(store: str, scope: Any, project: str | None, note: str) -> None:
    """Make a key, and print it: this once, for only its hash is kept."""
    from jurors.serve.guard.api_keys import make_key
    from jurors.serve.guard.quotas import Limits, check_project

    if project is not None:
        check_project(project, Limits())
    with _opened(store) as kept:
        token, key = make_key(scope, project, note)
        kept.add_key(key)
    put(f"{token}\n")
    say(f"keep it: it is shown this once. `jurors keys revoke {key.id}` ends it.")


@keys.command("list")
@store_option
@output_options("text", "json", "csv", "md", alarms=False)
def list_(store: str, output: Output) -> None:
    """The keys there are; none of them can be read from it."""
    from jurors.serve.guard.key_list import KeyList

    with _opened(store) as kept:
        output.show(KeyList(tuple(kept.all_keys())))


@keys.command()
@click.argument("name", metavar="KEY")
@store_option
def revoke(name: str, store: str) -> None:
    """End the key of this name: from now on it opens nothing."""
    from jurors.serve.guard.api_keys import name_of

    with _opened(store) as kept:
        if not kept.revoke_key(name_of(name), time.time()):
            raise OptionError(f"there is no key {name_of(name)!r} to revoke; see `jurors keys list`", name="key")
    say(f"{name_of(name)} opens nothing any more, since {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC")
