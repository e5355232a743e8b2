"""The command that draws: report, a page or one chart."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

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
    from jurors import Evaluation
    from jurors.evaluate.evaluation import KeyedEvaluation


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
@click.option("--chart", metavar="KIND", help="Write one chart instead: accuracy, prevalence, agreement, …")
@path_option("FILE", "The HTML page to write; with --chart .png, .svg, .html or .json.", required=True)
@quiet_option
@fail_on_option()
@click.pass_context
def report(
    ctx: click.Context, source: Source, key: KeySource, grading: dict[str, Any], exam: bool, items: str | None,
    text: tuple[str, ...], sides: dict[str, Any], answers: tuple[str, ...], title: str | None, chart: str | None,
    path: str, quiet: bool, fail_on: str | None,
) -> None:  # fmt: skip
    """Grade the jurors of FILE and write one self-contained HTML page: verdict, evidence, numbers, provenance.

    Numbers and preferences have a page, too. With --chart, write one chart: accuracy, prevalence, partition, agreement,
    dependence, solutions, bounds, information, against_key, confusion or items; of numbers, reliability.
    """
    if chart is not None:
        _draw(source, key, grading, chart, Output("chart", path, quiet, None))
        return
    from jurors.reporting.page import check_drawable, make_page
    from jurors.votes.io.sources import is_there

    check_drawable()
    from jurors.reporting.tables import is_large_panel

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


def _draw(source: Source, key: KeySource, grading: dict[str, Any], kind: str, output: Output) -> None:
    """Write one chart of the votes."""
    import jurors

    kind, path = kind.replace("-", "_"), str(output.path)
    jurors.plot.check_kind(kind)
    ending = chart_format(path, "-o")
    with output.working("drawing") as bar:
        material = _Material(source, key, grading, bar)
        chart = _CHARTS[kind](material, {}) if kind in _CHARTS else material.draw(kind, {})
        drawn = jurors.plot.render(chart, ending)
    atomic_write(Path(path), drawn)
    print_output(f"{escape_text(path)}\n")
    output.warn(material.alarms)


@dataclass
class _Material:
    """What charts are drawn from, read and graded on demand."""

    source: Source
    key: KeySource
    grading: dict[str, Any]
    bar: ProgressBar | None
    alarms: tuple[Any, ...] = ()  #: of what was drawn last: they are printed on stderr

    def counts(self) -> Any:
        """Read the sketch; if the key is a column of FILE, the votes without that column."""
        if self.key.path is not None or self.grading["gold"]:
            return self.votes()[0]
        return self.source.count(self.bar)

    def votes(self) -> tuple[Any, Any]:
        """Read the votes and the true labels, None without a key."""
        return self.source.read_with_key(self.key, self.bar)

    def grade(self, votes: Any) -> Evaluation:
        """Grade these votes."""
        import jurors

        evaluation: Evaluation = jurors.grade(votes, **self.grading)
        self.alarms = evaluation.alarms
        return evaluation

    def grade_and_score(self) -> tuple[Evaluation, KeyedEvaluation | None]:
        """Grade without the key, and score by the key if there is one."""
        from jurors.jury.compare import score_labels

        if self.key.path is None:
            return self.grade(self.counts()), None
        votes, truth = self.votes()
        return self.grade(votes), score_labels(votes, truth)

    def draw(self, kind: str, options: dict[str, Any]) -> Any:
        """Draw a chart of an evaluation; of dependence and confusion by the key, if there is one."""
        import jurors
        from jurors.jury.compare import score_labels

        if kind in ("dependence", "confusion") and self.key.path is not None:
            return jurors.plot.draw(score_labels(*self.votes()), kind, **options)
        return jurors.plot.draw(self.grade(self.counts()), kind, **options)


def _accuracy(material: _Material, options: dict[str, Any]) -> Any:
    import jurors

    return jurors.plot.accuracy(*material.grade_and_score(), **options)


def _prevalence(material: _Material, options: dict[str, Any]) -> Any:
    """Every method; the selected one comes first, with its intervals."""
    import jurors

    votes, truth = material.votes()
    graded = material.grade(votes)
    compared = jurors.compare(votes, truth, seed=material.grading["seed"])
    others = tuple(e for e in compared.evaluations if e.method != graded.method)
    return jurors.plot.prevalence(replace(compared, evaluations=(graded, *others)), **options)


def _agreement(material: _Material, options: dict[str, Any]) -> Any:
    import jurors

    return jurors.plot.agreement(jurors.agreement(material.counts()), **options)


def _bounds(material: _Material, options: dict[str, Any]) -> Any:
    import jurors

    sketch = jurors.Sketch.from_votes(material.votes()[0]) if material.key.path is not None else material.counts()
    correlation = options.pop("correlation", None)
    if correlation is None:
        return jurors.plot.bounds(jurors.theory.correlation_curve(sketch), **options)
    bounded = jurors.bounds(sketch, correlation=correlation)
    material.alarms = bounded.alarms
    return jurors.plot.bounds(bounded, **options)


def _against_key(material: _Material, options: dict[str, Any]) -> Any:
    import jurors

    evaluation, keyed = material.grade_and_score()
    if keyed is None:
        raise OptionError("the chart against_key needs the true labels: add --key TRUTH")
    return jurors.plot.against_key(evaluation, keyed, **options)


def _reliability(material: _Material, options: dict[str, Any]) -> Any:
    """Of numbers; with a key, beside the reliability by the key."""
    import jurors

    votes, truth = material.votes()
    if kind_of(votes) is not NUMBERS:
        message = f"the chart of reliability is of numbers, and these are labels ({votes.scale_why}): draw accuracy"
        raise OptionError(f"{message}, or say --scale interval", code="does_not_apply", name="reliability")
    options_of_grading = applicable(NUMBERS, material.grading)
    if truth is None:
        scored = NUMBERS.grade(votes, **options_of_grading)
    else:
        scored = NUMBERS.score(votes, truth, **options_of_grading)
    material.alarms = scored.alarms
    return jurors.plot.reliability(scored, **options)


def _items(material: _Material, options: dict[str, Any]) -> Any:
    import jurors

    labelling = jurors.label(material.votes()[0], **material.grading)
    material.alarms = labelling.alarms
    return jurors.plot.items(labelling, **options)


#: charts that need more than an evaluation
_CHARTS: dict[str, Callable[[_Material, dict[str, Any]], Any]] = {
    "accuracy": _accuracy,
    "prevalence": _prevalence,
    "agreement": _agreement,
    "bounds": _bounds,
    "against_key": _against_key,
    "items": _items,
    "reliability": _reliability,
}
