"""`jurors watch FILE`: grade the jurors while their votes come in, and ring."""

from __future__ import annotations

from typing import Any

import click

from jurors.cli.limits import limit_options
from jurors.cli.options import Source, grading_options, votes_options
from jurors.cli.output import ALARM_STATUS
from jurors.cli.paths import WRITES
from jurors.errors import OptionError


@click.command()
@votes_options
@click.option("--time", metavar="COLUMN", help="The column that holds the time of a vote.")
@click.option("--window", default="1000", show_default=True, metavar="SIZE[/STEP]",
              help="What is graded: so many items, or so much time; 1h/5m slides, 'half-life 1d' forgets.")  # fmt: skip
@click.option("--every", type=click.FloatRange(0.05), default=5.0, show_default=True, metavar="SECONDS",
              help="How often to look.")  # fmt: skip
@click.option("--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, show_default=True,
              metavar="X", help="The chance that drift ever rings on a stream that never changes.")  # fmt: skip
@click.option("--settle", type=click.IntRange(min=0), default=0, show_default=True, metavar="N",
              help="Leave the newest N items out when drift is looked for: some jurors take their time.")  # fmt: skip
@click.option("--state", metavar="FILE", type=WRITES, help="Keep a snapshot here, and go on from it.")
@click.option("--once", is_flag=True, help="Read what is there and end: for cron.")
@grading_options
@limit_options
@click.option("--exec", "program", metavar="COMMAND",
              help="Run this on every alarm: JSON on its standard input, no shell.")  # fmt: skip
@click.option("--webhook", metavar="URL", help="Post every alarm here as JSON: https, or http on this machine.")
@click.option("--webhook-private", is_flag=True, help="URL may lead into a private network.")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True,
              help="A card (lines where the output is no terminal), or a JSON document per look.")  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="Tell alarms only.")
def watch(source: Source, grading: dict[str, Any], **given: Any) -> None:
    """Grade the jurors of FILE while it grows: a file of votes, a folder of logs, or - for standard input.

    Ends when standard input does, or with --once; exit status 3 if an alarm rings then.
    """
    from pathlib import Path

    from jurors.monitor import Monitor
    from jurors.options import Reading
    from jurors.votes.scales.rewriting import Rewriting
    from jurors.watch.delivery import Address, Post, Program
    from jurors.watch.screen import showing
    from jurors.watch.sources import source_of
    from jurors.watch.watcher import Watcher, watching

    if grading["gold"] is not None:
        raise OptionError("--gold needs to know which item is which; a monitor keeps counts: grade the file itself")
    receivers: dict[str, Any] = {}
    if (command := given.pop("program")) is not None:
        receivers["exec"] = Program.of(command)
    private = given.pop("webhook_private")
    if (url := given.pop("webhook")) is not None:
        receivers["webhook"] = Address.of(url, private=private)
    names = ("format_", "quiet", "every", "once", "state", "window", "time", "alpha", "settle")
    shown = {name: given.pop(name) for name in names}
    reading = Reading.of(source.options)
    if reading.scale not in ("auto", "nominal"):
        message = (
            f"--scale {reading.scale} does not apply to watch, which takes votes for labels: `jurors grade` the file"
        )
        raise OptionError(message, code="does_not_apply", name="scale")
    Rewriting.of(reading).check_streams()
    watcher = Watcher(
        source_of(source.files, reading, shown["time"]),
        "standard input" if source.files[0] == "-" else source.files[0],
        Monitor(shown["window"], labels=reading.labels, alpha=shown["alpha"], settle=shown["settle"]),
        Post(receivers),
        limits=given,
        grading=grading,
        state=None if shown["state"] is None else Path(shown["state"]),
    )
    watcher.resume()
    with showing(shown["format_"], watcher.name, quiet=shown["quiet"]) as show:
        watching(watcher, show, every=shown["every"], once=shown["once"])
    if watcher.bell.loud:
        raise click.exceptions.Exit(ALARM_STATUS)
