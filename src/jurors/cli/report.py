"""The commands that draw: report and plot."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import jurors
from jurors._files import atomic_write
from jurors.cli.main import print_output
from jurors.cli.options import (
    KeySource,
    Source,
    applicable,
    grading_option,
    grading_options,
    key_options,
    sides_options,
    texts_options,
    votes_options,
)
from jurors.cli.output import INPUT_PATH, Output, ProgressBar, chart_format, fail_on_option, path_option, quiet_option
from jurors.errors import OptionError
from jurors.jury.kinds import LABELS, NUMBERS, PREFERENCES, kind_of
from jurors.results import escape_text, without_secrets

if TYPE_CHECKING:
    from jurors.report.charts.base import Theme


class _RecordingCommand(click.Command):
    """A command that stores its arguments as they were typed: the page shows them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["jurors.arguments"] = tuple(args)
        return super().parse_args(ctx, args)


@click.command(cls=_RecordingCommand)
@votes_options
@key_options(required=False)
@grading_options
@grading_option("exam")
@texts_options
@sides_options
@click.option("--answers", multiple=True, metavar="SHEET", type=INPUT_PATH,
              help="A sheet of `jurors audit plan` with its labels: what it guarantees; repeatable.")  # fmt: skip
@click.option("--title", metavar="TEXT", help="The page's title; else the name of FILE.")
@path_option("PAGE", "The HTML file to write.", required=True)
@quiet_option
@fail_on_option()
@click.pass_context
def report(
    ctx: click.Context, source: Source, key: KeySource, grading: dict[str, Any], exam: bool, items: str | None,
    text: tuple[str, ...], sides: dict[str, Any], answers: tuple[str, ...], title: str | None,
    path: str, quiet: bool, fail_on: str | None,
) -> None:  # fmt: skip
    """Grade the jurors of FILE and write one self-contained HTML page: verdict, evidence, numbers, provenance.

    Numbers and preferences (see `jurors grade`) have a page, too.
    """
    from jurors.report.page import check_drawable, make_page
    from jurors.votes.io.sources import is_there

    check_drawable()
    from jurors.report.tables import is_large_panel

    output = Output("html", path, quiet, fail_on)
    key_file = key.path if key.path is not None and is_there(key.path) else None
    inputs = [("votes", source.files), ("answer key", key_file), ("gold items", grading["gold"]), ("items", items),
              *(("answers", sheet) for sheet in answers)]  # fmt: skip
    shown_options = {**source.options, "key": key.path, "key item": key.item, "key label": key.label}
    command = shlex.join(["jurors", "report", *map(without_secrets, ctx.meta["jurors.arguments"])])
    is_counted = key.path is None and not (grading["gold"] or answers) and is_large_panel(source.files)
    label_only = {"exam": exam, "key": key.path, "items": items, "text": text, "answers": answers}
    with output.working("reporting") as bar:
        source = source.split_pairs(sides)
        texts, of_pairs = None, source.kind is PREFERENCES
        if of_pairs:
            applicable(PREFERENCES, grading, **label_only)
        else:
            source, texts = source.split_texts(items, text)

        def read() -> tuple[Any, Any]:
            if of_pairs:
                return source.read_pairs(), None
            votes, truth = (source.count(bar).tuples, None) if is_counted else source.read_with_key(key, bar)
            applicable(kind_of(votes), grading, **label_only)
            return votes, truth

        page = make_page(
            read, inputs=inputs, title=title, command=command, grading={**grading, "exam": exam}, texts=texts,
            shown_options=source.options if of_pairs else shown_options, answers=answers or None,
            kind=PREFERENCES if of_pairs else LABELS,
        )  # fmt: skip
    output.write(page.html)
    print_output(f"{escape_text(path)}\n")
    output.warn(page.alarms)
    output.exit(page.alarms)


#: Options that only some kinds of chart have a use for.
_ONLY_FOR = {"review": ("items",), "jurors": ("bounds", "confusion"), "correlation": ("bounds",)}


@click.command()
@click.argument("kind", metavar="KIND")
@votes_options
@key_options(required=False)
@grading_options
@path_option("FILE", "The file to write; its name ends in .png, .svg, .html or .json (Vega-Lite).", required=True)
@click.option("--width", type=click.FloatRange(min=50, max=5000), help="Of the chart's axes, in points.")
@click.option("--height", type=click.FloatRange(min=30, max=5000), help="Of the chart's axes, in points.")
@click.option("--zoom", type=click.FloatRange(min=0.1, max=20), default=2.0, show_default=True,
              help="Pixels a point, of a PNG.")  # fmt: skip
@click.option("--theme", type=click.Choice(["light", "dark", "both"]), default="light", show_default=True,
              help="The page it is for; both: no background, greys that read on either.")  # fmt: skip
@click.option("--jurors", metavar="A,B", help="Only these jurors (bounds, confusion).")
@click.option("--review", type=click.IntRange(min=1), metavar="N", help="Mark the N items to review first (items).")
@click.option("--correlation", type=click.FloatRange(min=0), metavar="E",
              help="Bounds if no error correlation exceeds E, instead of their curve (bounds).")  # fmt: skip
@quiet_option
def plot(
    kind: str, source: Source, key: KeySource, grading: dict[str, Any], path: str, zoom: float, theme: Theme,
    quiet: bool, **options: Any,
) -> None:  # fmt: skip
    """Draw one chart of the votes in FILE.

    KIND is one of accuracy, prevalence, partition, agreement, dependence, solutions, bounds, information, against_key,
    confusion and items; of numbers, reliability.
    """
    kind = kind.replace("-", "_")
    jurors.plot.check_kind(kind)
    ending = chart_format(path, "-o")
    options = {name: value for name, value in options.items() if value is not None}
    for name in options:
        if kind not in (kinds := _ONLY_FOR.get(name, (kind,))):
            raise OptionError(f"--{name} is for the chart of {' or '.join(kinds)}, not of {kind}")
    if "jurors" in options:
        options["jurors"] = [name.strip() for name in options["jurors"].split(",")]
    output = Output(ending, path, quiet, None)
    with output.working("drawing") as bar:
        chart, alarms = _draw(kind, source, key, grading, bar, options)
        drawn = jurors.plot.render(chart, ending, theme=theme, scale=zoom)
    atomic_write(Path(path), drawn)
    print_output(f"{escape_text(path)}\n")
    output.warn(alarms)


def _draw(
    kind: str, source: Source, key: KeySource, grading: dict[str, Any], bar: ProgressBar | None, options: dict[str, Any]
) -> tuple[Any, tuple[Any, ...]]:
    """Read, grade and draw; give the chart, and the alarms of what it shows."""
    from jurors.jury.compare import score_labels

    votes: Any
    truth, has_key = None, key.path is not None
    if has_key or grading["gold"] or kind in ("items", "prevalence", "reliability"):
        votes, truth = source.read_with_key(key, bar)  # if the key is a column of FILE, without that column
    else:
        votes = source.count(bar)
    result: Any
    if kind == "agreement":
        return jurors.plot.agreement(jurors.agreement(votes), **options), ()
    if kind in ("dependence", "confusion") and has_key:
        return jurors.plot.draw(score_labels(votes, truth), kind, **options), ()
    if kind == "bounds":
        sketch = jurors.Sketch.from_votes(votes) if has_key else votes
        if (correlation := options.pop("correlation", None)) is None:
            return jurors.plot.bounds(jurors.correlation_curve(sketch), **options), ()
        result = jurors.bounds(sketch, correlation=correlation)
    elif kind == "items":
        result = jurors.label(votes, **grading)
    elif kind == "reliability":  # of numbers; with a key, beside the reliability by the key
        if kind_of(votes) is not NUMBERS:
            message = f"the chart of reliability is of numbers, and these are labels ({votes.scale_why}): draw accuracy"
            raise OptionError(f"{message}, or say --scale interval", code="does_not_apply", name="reliability")
        level = applicable(NUMBERS, grading)
        result = NUMBERS.grade(votes, **level) if truth is None else NUMBERS.score(votes, truth, **level)
    else:
        result = jurors.grade(votes, **grading)
    if kind == "prevalence":  # by every method; the selected one comes first, with its intervals
        compared = jurors.compare(votes, truth, seed=grading["seed"])
        others = tuple(e for e in compared.evaluations if e.method != result.method)
        return jurors.plot.prevalence(replace(compared, evaluations=(result, *others)), **options), result.alarms
    if kind in ("accuracy", "against_key"):
        keyed = score_labels(votes, truth) if has_key else None
        if kind == "against_key" and keyed is None:
            raise OptionError("the chart against_key needs the true labels: add --key TRUTH")
        return getattr(jurors.plot, kind)(result, keyed, **options), result.alarms
    return jurors.plot.draw(result, kind, **options), result.alarms
