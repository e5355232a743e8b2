"""`jurors audit plan` and `jurors audit result`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jurors.cli.options import Source, texts_options, votes_options
from jurors.cli.output import ALARM_STATUS, Output, output_options
from jurors.cli.paths import READS, also_writes
from jurors.errors import OptionError
from jurors.tables import FORMS
from jurors.whole import is_stream, together, write_whole

if TYPE_CHECKING:
    from jurors.audit import Sheet


@click.group()
def audit() -> None:
    """A person labels a few items drawn at random, and the grades become guaranteed."""


@audit.command()
@votes_options
@click.option("-n", type=click.IntRange(min=1), default=30, show_default=True,
              help="How many items to draw: as many as you may label at most.")  # fmt: skip
@click.option("--after", multiple=True, metavar="SHEET", type=READS, help="Go on where this sheet ended; repeatable.")
@click.option("--blind/--open", default=True, show_default=True,
              help="Hide the votes from whoever labels; they go into a second file, SHEET.votes.csv.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the draw.")
@texts_options
@click.option("--title", metavar="TEXT", help="What the person is asked: the heading of the page (html).")
@output_options("csv", "html", "label-studio", "text", "json", alarms=False)
def plan(
    source: Source, n: int, after: tuple[str, ...], blind: bool, seed: int, items: str | None, text: tuple[str, ...],
    title: str | None, output: Output,
) -> None:  # fmt: skip
    """Draw items of FILE for a person to label, each with a known chance."""
    import jurors

    if title is not None and output.format != "html":
        raise OptionError("--title is the heading of the page: it goes with --format html", code="does_not_apply")
    beside = _beside(output, blind=blind)
    with output.working("drawing") as bar:
        votes, texts = source.read_with_texts(items, text, bar)
        sheet = jurors.audit.plan(votes, n, after=after or None, texts=texts, blind=blind, seed=seed)
    with together():
        for ending, path in beside.items():
            write_whole(path, _shaped(sheet, ending, output, title))
        output.write(_shaped(sheet, output.format, output, title))


@audit.command()
@votes_options
@click.option("--answers", multiple=True, required=True, metavar="SHEET", type=READS,
              help="The sheet with its labels filled in; repeatable, one per round.")  # fmt: skip
@click.option("--second", multiple=True, metavar="SHEET", type=READS,
              help="The same sheet as a second person labelled it; repeatable, one per round.")  # fmt: skip
@click.option("--until", multiple=True, metavar="GOAL",
              help='Whether this is reached: "score:JUROR ± 0.05", "wrong <= 0.1"; repeatable.')  # fmt: skip
@click.option("--level", type=float, default=0.95, show_default=True, help="How sure the intervals are.")
@output_options("text", "json", "csv", "md", alarms=False)
def result(
    source: Source, answers: tuple[str, ...], second: tuple[str, ...], until: tuple[str, ...], level: float,
    output: Output,
) -> None:  # fmt: skip
    """What the labels of a person prove of the jurors of FILE.

    With --until, exit status 3 unless every goal is reached.
    """
    import jurors

    with output.working("auditing") as bar:
        audited = jurors.audit.result(source.read(bar), answers, second=second or None, level=level, until=until)
    output.show(audited)
    if not audited.passed:
        sys.exit(ALARM_STATUS)


def _beside(output: Output, *, blind: bool) -> dict[str, Path]:
    """Where the votes go that the sheet hides, and the interface that its tasks need; nowhere without a file."""
    if output.path is None or is_stream(Path(output.path)):
        return {}
    endings = ["votes.csv"] * blind + ["interface.xml"] * (output.format == "label-studio")
    paths = {ending: Path(output.path).with_name(f"{Path(output.path).stem}.{ending}") for ending in endings}
    for ending, path in paths.items():
        also_writes(f"SHEET.{ending}", path)
    return paths


def _shaped(sheet: Sheet, shape: str, output: Output, title: str | None) -> str:
    """The sheet in a format, or what goes into a file beside it."""
    from jurors.audit.desk.label_page import label_page
    from jurors.audit.desk.label_studio_tasks import label_studio_interface, label_studio_tasks

    stem = "" if output.path is None or is_stream(Path(output.path)) else f"{Path(output.path).stem}."
    shapes: dict[str, Callable[[], str]] = {
        "html": lambda: label_page(sheet, title=title, file=f"{stem}answers.csv"),
        "label-studio": lambda: label_studio_tasks(sheet),
        "votes.csv": lambda: sheet.open().to_csv(),
        "interface.xml": lambda: label_studio_interface(sheet),
    }
    return shapes[shape]() if shape in shapes else str(getattr(sheet, FORMS[shape])())
