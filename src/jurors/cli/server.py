"""The commands of services: serve, store, watch and mcp."""

from __future__ import annotations

import os
import time as clock
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jurors.cli.main import print_data, print_error, print_output
from jurors.cli.options import Source, grading_options, stream_limit_options, votes_options
from jurors.cli.output import (
    ALARM_STATUS,
    INPUT_PATH,
    OUTPUT_PATH,
    Output,
    combined,
    output_options,
    show_progress,
    target_options,
)
from jurors.errors import OptionError, optional_import, speaking_flags

if TYPE_CHECKING:
    from jurors.serve.store import SqlStore


store_option = click.option("--store", default="votes.db", show_default=True, metavar="PATH|URL", type=INPUT_PATH,
                            help="An SQLite file, or postgresql://… for several servers.")  # fmt: skip

webhook_options = combined(
    click.option("--webhook", metavar="[KINDS=]URL", multiple=True,
                 help="Post alarms (of these kinds and levels) as JSON to this https address, or http on this "
                 "machine; repeatable."),
    click.option("--webhook-private", is_flag=True, help="Allow a webhook in a private network."),
    click.option("--digest", metavar="15m", help="Send the alarms of this time span, such as 15m, as one message."),
)  # fmt: skip


@contextmanager
def with_store(place: str, *, must_be_there: bool = False) -> Iterator[SqlStore]:
    """Open a server's store for as long as the block runs."""
    with optional_import("a store needs {}: pip install 'jurors[serve]'"):
        from jurors.serve.store import check_store_exists, open_store
    if must_be_there:
        check_store_exists(place)
    with closing(open_store(place)) as store:
        yield store


@click.command()
@store_option
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65_535),
              help="The port; 0 selects a free one. The address is printed.")  # fmt: skip
@click.option(
    "--workers", default=1, show_default=True, type=click.IntRange(1, 64), help="The number of worker processes."
)
@click.option("--keep", metavar="90d", help="How long to keep votes. Their counts are kept without limit.")
@webhook_options
def serve(
    store: str, host: str, port: int, workers: int, keep: str | None, webhook: tuple[str, ...], webhook_private: bool,
    digest: str | None,
) -> None:  # fmt: skip
    """Accept votes over HTTP, store them, and grade the jurors continuously (needs jurors[serve])."""
    with optional_import("the server needs {}: pip install 'jurors[serve]'"):
        from jurors.serve.app import Settings, run
    from jurors.monitor.windows import duration

    settings = Settings(
        store=store, host=host, port=port, workers=workers, keep=None if keep is None else duration(keep),
        webhooks=webhook, webhook_private=webhook_private, digest=0.0 if digest is None else duration(digest),
    )  # fmt: skip
    with speaking_flags(False):  # a client has no command line
        run(settings)


@click.group()
def store() -> None:
    """Manage a server's store: API keys, backups, and votes in quarantine."""


@store.group()
def keys() -> None:
    """Create, list and revoke API keys."""


@keys.command()
@store_option
@click.option("--scope", type=click.Choice(("read", "write", "admin")), default="write", show_default=True,
              help="What the key allows; each scope includes those before it.")  # fmt: skip
@click.option("--project", metavar="NAME", help="Limit the key to this project.")
@click.option("--note", default="", metavar="TEXT", help="A note that `list` shows.")
def create(store: str, scope: Any, project: str | None, note: str) -> None:
    """Create an API key and print it. It is printed once: only its hash is stored."""
    from jurors.serve.auth import ServerLimits, check_project, make_key

    if project is not None:
        check_project(project, ServerLimits())
    with with_store(store) as stored:
        token, key = make_key(scope, project, note)
        stored.add_key(key)
    print_output(f"{token}\n")
    print_error(f"Save this key: it is not shown again. To revoke it, run `jurors store keys revoke {key.id}`.")


@keys.command("list")
@store_option
@output_options("text", "json", "csv", "md", alarms=False)
def list_(store: str, output: Output) -> None:
    """List the API keys, without their secrets."""
    from jurors.serve.auth import KeyList

    with with_store(store) as stored:
        output.show(KeyList(tuple(stored.all_keys())))


@keys.command()
@click.argument("name", metavar="KEY")
@store_option
def revoke(name: str, store: str) -> None:
    """Revoke an API key."""
    from jurors.serve.auth import key_name

    with with_store(store) as stored:
        if not stored.revoke_key(key_name(name), clock.time()):
            raise OptionError(f"no active key is named {key_name(name)!r}; see `jurors store keys list`", name="key")
    print_error(f"revoked {key_name(name)} at {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC")


@store.command()
@store_option
@click.option("--project", metavar="NAME", help="Only this project; by default, all, and the hashes of API keys.")
@target_options
def export(store: str, project: str | None, target: Output) -> None:
    """Back up a store, or one project, as lines of JSON. The server can keep running."""
    with with_store(store, must_be_there=True) as opened, target.working("writing"):
        from jurors._files import atomic_write
        from jurors.serve.backup import export_lines

        lines = export_lines(opened, project)
        if target.path is not None:
            before = os.umask(0o077)  # for its owner alone: votes, and the hashes of keys
            try:
                atomic_write(Path(target.path), lines)
            finally:
                os.umask(before)
            return
        print_data(lines)


@store.command("import")
@click.argument("file", metavar="FILE", type=INPUT_PATH)
@store_option
@click.option("--project", metavar="NAME", help="Restore only this project.")
@click.option("--unpack", metavar="SIZE", help="Maximum size of a compressed backup, once unpacked, such as 10GB.")
@click.option("--quiet", is_flag=True, help="Print nothing on stderr.")
def import_(file: str, store: str, project: str | None, unpack: str | None, quiet: bool) -> None:
    """Restore a backup from `jurors store export`. If a project already exists, nothing is restored."""
    with with_store(store) as opened:
        from jurors.serve.backup import import_backup

        names = import_backup(opened, Path(file), project, unpack)
    if not quiet:
        print_error(f"jurors: restored {', '.join(names) or 'no project'}")


@store.command()
@store_option
def compact(store: str) -> None:
    """Shrink the file of a store. Writing waits meanwhile."""
    with with_store(store, must_be_there=True) as opened:
        opened.database.compact()


@store.command()
@store_option
@click.option("--project", metavar="NAME", help="Only the batches of this project.")
@click.option("--replay", is_flag=True, help="Count the batches again, as if they arrived now.")
@click.option("--drop", is_flag=True, help="Delete the batches.")
@output_options("text", "json", "csv", "md", alarms=False)
def quarantine(store: str, project: str | None, replay: bool, drop: bool, output: Output) -> None:
    """List the batches of votes that a server could not count, and why; replay or drop them."""
    if replay and drop:
        raise OptionError("--replay and --drop contradict each other; choose one", name="drop")
    with with_store(store, must_be_there=True) as opened:
        from jurors.serve.auth import Quarantine

        batches = tuple(opened.quarantine(project))
        if replay or drop:
            opened.empty_quarantine([batch[0] for batch in batches], replay=replay)
        output.show(Quarantine(batches))


@click.command()
@votes_options
@click.option("--time", metavar="COLUMN", help="The column with the time of each vote.")
@click.option("--window", default="1000", show_default=True, metavar="SIZE[/STEP]",
              help="The window to grade: items (1000) or time (1h); 1h/5m slides.")  # fmt: skip
@click.option("--every", type=click.FloatRange(0.05), default=5.0, show_default=True, metavar="SECONDS",
              help="Seconds between two polls.")  # fmt: skip
@click.option("--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, show_default=True,
              metavar="X", help="False-alarm rate of drift over the whole stream, for independent blocks.")  # fmt: skip
@click.option("--block", default="auto", show_default=True, metavar="SIZE",
              help="Items (50) or time (1d) of a block that is independent of the next; 1 if items are.")  # fmt: skip
@click.option("--expect", multiple=True, type=click.Choice(("prevalence", "silence")),
              help="A change that is expected and raises no alarm; repeatable.")  # fmt: skip
@click.option("--settle", type=click.IntRange(min=0), default=0, show_default=True, metavar="N",
              help="Leave the newest N items out of drift detection, for jurors that vote late.")  # fmt: skip
@click.option("--state", metavar="FILE", type=OUTPUT_PATH, help="Save the state here, and resume from it.")
@click.option("--once", is_flag=True, help="Read what is available, then exit; for cron.")
@grading_options
@stream_limit_options
@click.option("--exec", "program", metavar="[KINDS=]COMMAND", multiple=True,
              help="Run this command on alarms, with JSON on stdin and without a shell; repeatable.")  # fmt: skip
@webhook_options
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True,
              help="A card (lines if the output is not a terminal), or a JSON document per poll.")  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="Print alarms only.")
def watch(
    source: Source, grading: dict[str, Any], limits: dict[str, Any], time: str | None, window: str, every: float,
    alpha: float, block: str, expect: tuple[str, ...], settle: int, state: str | None, once: bool,
    program: tuple[str, ...], webhook: tuple[str, ...], webhook_private: bool, digest: str | None, format_: str,
    quiet: bool,
) -> None:  # fmt: skip
    """Grade the jurors of a growing FILE: a file of votes, a folder of logs, or - for standard input.

    Ends at the end of standard input, or with --once; the exit status is then 3 if an alarm is active. Ctrl-C and
    SIGTERM end it with status 0.
    """
    from jurors.monitor import Monitor
    from jurors.monitor.notify import NotificationQueue, receivers_of
    from jurors.monitor.windows import duration
    from jurors.options import Reading
    from jurors.votes.scale import Recoding
    from jurors.watch.sources import source_of
    from jurors.watch.watcher import Watcher, make_display, watch_source

    if grading["gold"] is not None:
        raise OptionError("--gold does not apply to watch, which stores counts instead of items; use `jurors grade`")
    if grading["family"]:
        raise OptionError("--family does not apply to watch; use `jurors grade`", code="does_not_apply", name="family")
    receivers = receivers_of(program, webhook, private=webhook_private)
    reading = Reading.of(source.options)
    if reading.scale not in ("auto", "nominal"):
        message = f"--scale {reading.scale} does not apply to watch, which reads votes as labels; use `jurors grade`"
        raise OptionError(message, code="does_not_apply", name="scale")
    Recoding.of(reading).check_streams()
    watcher = Watcher(
        source_of(source.files, reading, time),
        "standard input" if source.files[0] == "-" else source.files[0],
        Monitor(window, labels=reading.labels, alpha=alpha, block=block, expect=expect, settle=settle),
        NotificationQueue(receivers, 0.0 if digest is None else duration(digest)),
        limits=limits,
        grading=grading,
        state=None if state is None else Path(state),
    )
    watcher.resume()
    with make_display(format_, watcher.name, quiet=quiet) as show:
        is_done = watch_source(watcher, show, every=every, once=once, progress=lambda: show_progress("counting"))
    if is_done and watcher.alarms.above_notes:
        raise click.exceptions.Exit(ALARM_STATUS)


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=INPUT_PATH)
def mcp(files: tuple[str, ...]) -> None:
    """Serve inspect, grade, check, label and audit as MCP tools over standard input and output (needs jurors[mcp]).

    The tools read only FILE... (files or folders) and write nothing.
    """
    from jurors.integrations.mcp import server

    with speaking_flags(False):
        server(files).run("stdio")
