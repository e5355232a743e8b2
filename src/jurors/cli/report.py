"""Report plot."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jurors._files import atomic_write
from jurors.cli.grade import only_level
from jurors.cli.main import print_output
from jurors.cli.options import (
    KeySource,
    Source,
    exam_option,
    grading_options,
    key_options,
    sides_options,
    texts_options,
    votes_options,
)
from jurors.cli.output import INPUT_PATH, OUTPUT_PATH, Output, ProgressBar, chart_format
from jurors.errors import OptionError
from jurors.results import escape_text, without_secrets

if TYPE_CHECKING:
    from jurors import Evaluation, KeyedEvaluation
    from jurors.report.charts.base import Theme


# `jurors report FILE -o report.html`.


_ARGUMENTS = "jurors.arguments"


class _Remembering(click.Command):
    """Keeps the arguments as they were typed: the page shows them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_ARGUMENTS] = tuple(args)
        return super().parse_args(ctx, args)


@click.command(cls=_Remembering)
@votes_options
@key_options(required=False)
@grading_options
@exam_option
@texts_options
@sides_options
@click.option("--answers", multiple=True, metavar="SHEET", type=INPUT_PATH,
              help="A sheet of `jurors audit plan` with its labels: what it guarantees; repeatable.")  # fmt: skip
@click.option("--title", metavar="TEXT", help="The page's title; else the name of FILE.")
@click.option("-o", "--output", "path", metavar="PAGE", required=True, type=OUTPUT_PATH, help="The HTML file to write.")
@click.option("--quiet", is_flag=True, help="Nothing on stderr: no progress, no warnings.")
@click.option(
    "--fail-on", type=click.Choice(["warning", "alarm"]), help="Exit with status 3 if something this loud rang."
)
@click.pass_context
def report(
    ctx: click.Context, source: Source, key: KeySource, grading: dict[str, Any], exam: bool, items: str | None,
    text: tuple[str, ...], sides: dict[str, Any], answers: tuple[str, ...], title: str | None,
    path: str, quiet: bool, fail_on: str | None,
) -> None:  # fmt: skip
    """Grade the jurors of FILE and write one self-contained HTML page: verdict, evidence, numbers, provenance.

    Numbers and preferences (see `jurors grade`) have a page, too.
    """
    from jurors.pairwise import read_pairs
    from jurors.report.page import make_page, make_pairs_page
    from jurors.report.tables import is_large_panel
    from jurors.votes.io.sources import is_there

    output = Output("html", path, quiet, fail_on)
    keyed = key.path is not None and is_there(key.path)
    inputs = [("votes", source.files), ("answer key", key.path if keyed else None), ("gold items", grading["gold"]),
              ("items", items), *(("answers", sheet) for sheet in answers)]  # fmt: skip
    asked = {**source.options, "key": key.path, "key item": key.item, "key label": key.label}
    command = shlex.join(["jurors", "report", *map(without_secrets, ctx.meta[_ARGUMENTS])])
    counted = key.path is None and not (grading["gold"] or answers) and is_large_panel(source.files)
    with output.working("reporting") as bar:
        source, pairs = source.as_pairs(sides)
        if pairs is not None:
            level = only_level("pairs", grading, exam=exam, key=key.path, items=items, text=text, answers=answers)
            page = make_pairs_page(
                lambda: read_pairs(pairs.files, **pairs.options), inputs=inputs[:1], title=title, command=command,
                level=level, asked=pairs.options,
            )  # fmt: skip
        else:
            shown, texts = source.showing(items, text)

            def read() -> tuple[Any, Any]:
                votes, truth = (shown.count(bar).tuples, None) if counted else shown.read_with_key(key, bar)
                if votes.scale == "interval":
                    only_level("numbers", grading, exam=exam, key=key.path, items=items, text=text, answers=answers)
                return votes, truth

            page = make_page(
                read, inputs=inputs, title=title, command=command, grading={**grading, "exam": exam}, asked=asked,
                texts=texts, answers=answers or None,
            )  # fmt: skip
    output.write(page.html)
    print_output(f"{escape_text(path)}\n")
    output.warn(page.alarms)
    output.exit(page.alarms)


# `jurors plot KIND FILE -o chart.png`.


#: Options that only some kinds of chart have a use for.
_ONLY_FOR = {
    "review": ("items",),
    "jurors": ("bounds", "confusion"),
    "correlation": ("bounds",),
}


@click.command()
@click.argument("kind", metavar="KIND")
@votes_options
@key_options(required=False)
@grading_options
@click.option("-o", "--output", "path", metavar="FILE", required=True, type=OUTPUT_PATH,
              help="The file to write; its name ends in .png, .svg, .html or .json (Vega-Lite).")  # fmt: skip
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
@click.option("--quiet", is_flag=True, help="Nothing on stderr: no progress, no warnings.")
def plot(
    kind: str, source: Source, key: KeySource, grading: dict[str, Any], path: str, zoom: float, theme: Theme,
    quiet: bool,
    **asked: Any,
) -> None:  # fmt: skip
    """Draw one chart of the votes in FILE.

    KIND is one of accuracy, prevalence, partition, agreement, dependence, solutions, bounds, information, against_key,
    confusion and items; of numbers, reliability.
    """
    import jurors

    kind = kind.replace("-", "_")
    jurors.plot.check_kind(kind)
    ending = chart_format(path, "-o")
    options = _options(kind, asked)
    output = Output(ending, path, quiet, None)
    with output.working("drawing") as bar:
        material = _Material(source, key, grading, bar)
        chart = _CHARTS[kind](material, options)
        drawn = jurors.plot.render(chart, ending, theme=theme, scale=zoom)
    atomic_write(Path(path), drawn)
    print_output(f"{escape_text(path)}\n")
    output.warn(material.alarms)


def _options(kind: str, asked: dict[str, Any]) -> dict[str, Any]:
    """What was asked for, without what was not; one line where the chart has no use for it."""
    given = {name: value for name, value in asked.items() if value is not None}
    for name in given:
        kinds = _ONLY_FOR.get(name, (kind,))
        if kind not in kinds:
            raise OptionError(f"--{name} is for the chart of {' or '.join(kinds)}, not of {kind}")
    if "jurors" in given:
        given["jurors"] = [name.strip() for name in given["jurors"].split(",")]
    return given


@dataclass
class _Material:
    """What charts are made from, read and graded when one asks for it."""

    source: Source
    key: KeySource
    grading: dict[str, Any]
    bar: ProgressBar | None
    alarms: tuple[Any, ...] = ()

    def counts(self) -> Any:
        """The sketch; where a key is a column of FILE, without that column."""
        if self.key.path is not None or self.grading["gold"]:
            return self.votes()[0]
        return self.source.count(self.bar)

    def votes(self) -> tuple[Any, Any]:
        """The votes and the true labels, None without a key."""
        return self.source.read_with_key(self.key, self.bar)

    def numbers(self) -> Any:
        """The numbers of FILE; OptionError where it holds labels."""
        votes = self.source.read(self.bar)
        self.check_numbers(votes)
        return self.source.numbers(self.bar, votes)

    def check_numbers(self, votes: Any) -> None:
        """OptionError where votes are labels."""
        if votes.scale != "interval":
            message = f"the chart of reliability is of numbers, and these are labels ({votes.scale_why}): draw accuracy"
            raise OptionError(f"{message}, or say --scale interval", code="does_not_apply", name="reliability")

    def graded(self, votes: Any) -> Evaluation:
        """The evaluation of some votes; the warnings on stderr are about this one."""
        import jurors

        evaluation: Evaluation = jurors.grade(votes, **self.grading)
        self.alarms = evaluation.alarms
        return evaluation

    def both(self) -> tuple[Evaluation, KeyedEvaluation | None]:
        """The evaluation, and what the key says."""
        from jurors.jury.compare import score_labels

        if self.key.path is None:
            return self.graded(self.counts()), None
        votes, truth = self.votes()
        return self.graded(votes), score_labels(votes, truth)


def _accuracy(material: _Material, options: dict[str, Any]) -> Any:
    import jurors

    return jurors.plot.accuracy(*material.both(), **options)


def _prevalence(material: _Material, options: dict[str, Any]) -> Any:
    """Every method; the one asked for comes first, with its intervals."""
    import jurors

    votes, truth = material.votes()
    graded = material.graded(votes)
    compared = jurors.compare(votes, truth, seed=material.grading["seed"])
    others = tuple(e for e in compared.evaluations if e.method != graded.method)
    return jurors.plot.prevalence(replace(compared, evaluations=(graded, *others)), **options)


def _agreement(material: _Material, options: dict[str, Any]) -> Any:
    import jurors

    return jurors.plot.agreement(jurors.agreement(material.counts()), **options)


def _by_key(kind: str) -> Callable[[_Material, dict[str, Any]], Any]:
    """Charts of what the key says where there is one, of the estimate otherwise."""

    def draw(material: _Material, options: dict[str, Any]) -> Any:
        import jurors
        from jurors.jury.compare import score_labels

        if material.key.path is None:
            return jurors.plot.draw(material.graded(material.counts()), kind, **options)
        return jurors.plot.draw(score_labels(*material.votes()), kind, **options)

    return draw


def _of_evaluation(kind: str) -> Callable[[_Material, dict[str, Any]], Any]:
    def draw(material: _Material, options: dict[str, Any]) -> Any:
        import jurors

        return jurors.plot.draw(material.graded(material.counts()), kind, **options)

    return draw


def _bounds(material: _Material, options: dict[str, Any]) -> Any:
    import jurors

    sketch = jurors.Sketch.from_votes(material.votes()[0]) if material.key.path is not None else material.counts()
    correlation = options.pop("correlation", None)
    if correlation is None:
        return jurors.plot.bounds(jurors.correlation_curve(sketch), **options)
    allowed = jurors.bounds(sketch, correlation=correlation)
    material.alarms = allowed.alarms
    return jurors.plot.bounds(allowed, **options)


def _against_key(material: _Material, options: dict[str, Any]) -> Any:
    import jurors

    evaluation, keyed = material.both()
    if keyed is None:
        raise OptionError("the chart against_key needs the true labels: add --key TRUTH")
    return jurors.plot.against_key(evaluation, keyed, **options)


def _reliability(material: _Material, options: dict[str, Any]) -> Any:
    """Of numbers; where there is a key, beside what it says."""
    import jurors

    scored: Any
    if material.key.path is None:
        scored = jurors.grade_numbers(material.numbers(), level=only_level("numbers", material.grading))
    else:
        votes, truth = material.votes()
        material.check_numbers(votes)
        scored = jurors.score_numbers(votes, truth, level=only_level("numbers", material.grading))
    material.alarms = scored.alarms
    return jurors.plot.reliability(scored, **options)


def _items(material: _Material, options: dict[str, Any]) -> Any:
    import jurors

    labelling = jurors.label(material.votes()[0], **material.grading)
    material.alarms = labelling.alarms
    return jurors.plot.items(labelling, **options)


_CHARTS: dict[str, Callable[[_Material, dict[str, Any]], Any]] = {
    "accuracy": _accuracy,
    "prevalence": _prevalence,
    "partition": _of_evaluation("partition"),
    "agreement": _agreement,
    "dependence": _by_key("dependence"),
    "solutions": _of_evaluation("solutions"),
    "bounds": _bounds,
    "information": _of_evaluation("information"),
    "against_key": _against_key,
    "confusion": _by_key("confusion"),
    "items": _items,
    "reliability": _reliability,
}
