"""The commands that show and write what FILE holds: report (a page or one chart) and convert; and the demo."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import jurors
from jurors._files import atomic_write, is_stream
from jurors.cli.main import print_data, print_error, print_output
from jurors.cli.options import (
    KeySource,
    Source,
    applicable,
    by_option,
    covariate_option,
    grading_option,
    grading_options,
    key_options,
    sides_options,
    system_option,
    texts_options,
    votes_options,
)
from jurors.cli.output import INPUT_PATH, Output, fail_on_option, path_option, quiet_option, target_options
from jurors.errors import OptionError, OutputError, check_choice
from jurors.jury.kinds import NUMBERS, PREFERENCES, kind_of
from jurors.progress import ProgressBar
from jurors.results import escape_text, without_secrets


class _RecordingCommand(click.Command):
    """A command that stores its arguments as they were typed: the page shows them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["jurors.arguments"] = tuple(args)
        return super().parse_args(ctx, args)


@click.command(cls=_RecordingCommand)
@votes_options
@key_options
@grading_options
@grading_option("exam")
@texts_options
@sides_options
@click.option("--answers", multiple=True, metavar="SHEET", type=INPUT_PATH,
              help="A labelled sheet of `jurors audit plan`, to show what it guarantees; repeatable.")  # fmt: skip
@by_option
@system_option
@covariate_option
@click.option("--title", metavar="TEXT", help="The title of the page; by default, the name of FILE.")
@click.option("--chart", metavar="KIND", help="Write one chart instead: accuracy, prevalence, agreement, …")
@path_option("FILE", "The HTML page to write; with --chart .png, .svg or .json.", required=True)
@quiet_option
@fail_on_option()
@click.pass_context
def report(
    ctx: click.Context, source: Source, key: KeySource, grading: dict[str, Any], exam: bool, items: str | None,
    text: tuple[str, ...], sides: dict[str, Any], answers: tuple[str, ...], by: str | None, system: str | None,
    good: str | None, covariate: tuple[str, ...], title: str | None, chart: str | None, path: str, quiet: bool,
    fail_on: str | None,
) -> None:  # fmt: skip
    """Grade the jurors of FILE and write one self-contained HTML page: verdict, evidence, numbers, provenance.

    Numbers and preferences have a page, too. With --chart, write one chart: accuracy, prevalence, partition, agreement,
    dependence, bounds, against_key, confusion, items, systems or leanings (--covariate); of numbers and confidences,
    reliability.
    """
    if good is not None and system is None:
        raise OptionError("--good is for systems; name their column with --system", code="does_not_apply")
    if (chart == "leanings") != bool(covariate):
        raise OptionError("--covariate and --chart leanings need each other", code="does_not_apply")
    if chart is not None:
        if by is not None:
            raise OptionError("--chart shows all items; leave out --by, or keep the items of one group in FILE")
        _write_chart(source, key, grading, chart, Output("chart", path, quiet), system, good, covariate)
        return
    from jurors.reporting.page import check_drawable, make_page
    from jurors.votes.io.sources import is_there

    if Path(path).suffix.lower() in (".pdf", ".png", ".svg"):
        raise OutputError(f"-o {path}: a report is an HTML page; name it .html, or write one chart with --chart")
    check_drawable()
    from jurors.reporting.tables import is_large_panel

    output = Output("html", path, quiet, fail_on)
    key_file = key.path if key.path is not None and is_there(key.path) else None
    inputs = [("votes", source.files), ("answer key", key_file), ("gold items", grading["gold"]), ("items", items),
              *(("answers", sheet) for sheet in answers)]  # fmt: skip
    shown_options = {**source.options, "key": key.path, "key item": key.item, "key label": key.label,
                     "by": by, "system": system, "good": good}  # fmt: skip
    command = shlex.join(["jurors", "report", *map(without_secrets, ctx.meta["jurors.arguments"])])
    is_counted = key.path is None and not (grading["gold"] or answers) and is_large_panel(source.files)
    if (system or by) is not None and key.path is not None and key_file is None:
        raise OptionError(f"--key {key.path}: with --system or --by, the key is a file", code="does_not_apply")
    if by is not None and system is not None:
        raise OptionError("--system compares the groups of --by; give one of them", code="does_not_apply")
    label_only = {
        "exam": exam,
        "by": by,
        "system": system,
        "key": key.path,
        "items": items,
        "text": text,
        "answers": answers,
    }
    with output.working("reporting") as bar:
        source = source.split_pairs(sides)
        texts, of_pairs = None, source.kind is PREFERENCES
        if of_pairs:
            applicable(PREFERENCES, grading, **label_only)
        else:
            source, texts = source.split_texts(items, text)

        compared = groups = None
        if system is not None or (by is not None and not of_pairs):
            from jurors.votes.key import read_key

            together, groups = source.read_with_groups(system or by, bar, what="group" if system is None else "system")
            compared, groups = (None, groups) if system is None else ((groups.by_row(together), good), None)

        def read() -> tuple[Any, Any]:
            if of_pairs:
                return source.read_pairs(), None
            if compared is not None or groups is not None:
                return together, None if key_file is None else read_key(key_file, item=key.item, label=key.label)
            votes, truth = (source.count(bar).tuples, None) if is_counted else source.read_with_key(key, bar)
            applicable(kind_of(votes), grading, **label_only)
            return votes, truth

        page = make_page(
            read, inputs=inputs, title=title, command=command, grading={**grading, "exam": exam}, texts=texts,
            shown_options=source.options if of_pairs else shown_options, answers=answers or None,
            systems=compared, groups=groups,
            reading=source.options if key.path is None or key_file else source.without(key.path).options,
        )  # fmt: skip
    output.write(page.html)
    print_output(f"{escape_text(path)}\n")
    output.warn(page.alarms)
    output.exit(page.alarms)


def _write_chart(
    source: Source, key: KeySource, grading: dict[str, Any], kind: str, output: Output, system: Any, good: Any,
    covariate: tuple[str, ...],
) -> None:  # fmt: skip
    """Write one chart of the votes."""
    kind, path = kind.replace("-", "_"), str(output.path)
    check_choice(kind, tuple(jurors.plot.KINDS), "chart")
    ending: Any = Path(path).suffix.lower().removeprefix(".")
    if ending not in jurors.plot.FORMATS:
        endings = ", ".join(f".{name}" for name in jurors.plot.FORMATS)
        raise OutputError(f"-o {path}: the name of a chart's file ends in one of {endings}")
    with output.working("drawing") as bar:
        if kind in ("systems", "leanings"):
            chart, alarms = _draw_systems(kind, source, grading, system, good, covariate, bar)
        else:
            chart, alarms = _draw(kind, source, key, grading, bar)
        drawn = jurors.plot.render(chart, ending)
    atomic_write(Path(path), drawn)
    print_output(f"{escape_text(path)}\n")
    output.warn(alarms)


def _draw_systems(
    kind: str, source: Source, grading: dict[str, Any], system: Any, good: Any, covariate: tuple[str, ...],
    bar: ProgressBar | None,
) -> tuple[Any, tuple[Any, ...]]:  # fmt: skip
    """Compare the systems, and draw them or the leanings of judges."""
    if system is None:
        raise OptionError(f"the chart {kind} needs the column of systems: add --system COLUMN")
    votes, groups = source.read_with_groups(system, bar, what="system", beside=covariate)
    options: dict[str, Any] = {name: grading[name] for name in ("gold", "level")}
    compared = jurors.systems(votes, by=groups, good=good, covariate=covariate, **options)
    return jurors.plot.draw(compared, kind), compared.alarms


def _draw(
    kind: str, source: Source, key: KeySource, grading: dict[str, Any], bar: ProgressBar | None
) -> tuple[Any, tuple[Any, ...]]:
    """Read, grade and draw; give the chart, and the alarms of what it shows."""
    from jurors.jury.compare import score_labels
    from jurors.uncertainty.bounds import correlation_curve

    truth, has_key = None, key.path is not None
    if has_key or grading["gold"] or kind in ("items", "prevalence", "reliability"):
        votes, truth = source.read_with_key(key, bar)  # if the key is a column of FILE, without that column
    else:
        votes = source.count(bar)
    if kind != "reliability" and kind != "agreement" and kind_of(votes) is NUMBERS:
        message = f"the chart {kind} is of labels, and these votes are numbers: use --chart reliability"
        raise OptionError(message, code="does_not_apply", name=kind)
    result: Any
    if kind == "agreement":
        return jurors.plot.agreement(jurors.agreement(votes)), ()
    if kind in ("dependence", "confusion") and has_key:
        return jurors.plot.draw(score_labels(votes, truth), kind), ()
    if kind == "bounds":
        sketch = jurors.Sketch.from_votes(votes) if has_key else votes
        return jurors.plot.bounds(correlation_curve(sketch)), ()
    if kind == "items":
        result = jurors.label(votes, **grading)
    elif kind == "reliability":  # of numbers, or of confidences; with a key, by the key
        if kind_of(votes) is not NUMBERS:
            if votes.confidence is None:
                message = f"the chart reliability is of numbers, and these votes are labels ({votes.scale_why})"
                instead = "use --chart accuracy, --scale interval, or votes with a confidence"
                raise OptionError(f"{message}: {instead}", code="does_not_apply", name="reliability")
            result = jurors.grade(votes, **grading) if truth is None else score_labels(votes, truth)
        else:
            level = applicable(NUMBERS, grading)
            result = NUMBERS.grade(votes, **level) if truth is None else NUMBERS.score(votes, truth, **level)
    else:
        result = jurors.grade(votes, **grading)
    if kind == "prevalence":  # by every method; the selected one comes first, with its intervals
        compared = jurors.compare(votes, truth, seed=grading["seed"])
        others = tuple(e for e in compared.evaluations if e.method != result.method)
        return jurors.plot.prevalence(replace(compared, evaluations=(result, *others))), result.alarms
    if kind in ("accuracy", "against_key"):
        keyed = score_labels(votes, truth) if has_key else None
        if kind == "against_key" and keyed is None:
            raise OptionError("the chart against_key needs the true labels: add --key TRUTH")
        return getattr(jurors.plot, kind)(result, keyed), result.alarms
    return jurors.plot.draw(result, kind), result.alarms


@click.command()
@votes_options
@click.option("--to", type=click.Choice(["long", "wide", "counts", "sketch"]),
              help="The layout of OUT; by default sketch for .sketch.json, counts for counts, else long.")  # fmt: skip
@sides_options
@target_options
def convert(source: Source, to: Any, sides: dict[str, Any], target: Output) -> None:
    """Write the votes of FILE... in another layout or format.

    A sketch holds counts and names no item; several sketch files of the same jurors become one. Preferences become
    votes on pairs: first, second or tie.

    The name of OUT selects the format: .csv, .tsv, .json, .jsonl, .parquet (text also .gz) or .sketch.json.
    """
    from jurors.jury.inputs import check_labels
    from jurors.votes.io.sources import is_sketch_name
    from jurors.votes.write import layout_losses, select_layout, votes_text, write_votes

    is_sketch = to == "sketch" or (to is None and target.path is not None and is_sketch_name(target.path))
    if is_sketch and target.path is not None and not is_sketch_name(target.path) and not is_stream(Path(target.path)):
        named = Path(target.path).name.split(".")[0]
        raise OutputError(f"-o {target.path}: a sketch is JSON; call it {named}.sketch.json")
    if is_sketch and source.options["scale"] != "pairs":
        with target.working("counting"):
            counted = source.count()
            if not counted.tuples.scale_told:  # numbers are hardly ever the same twice
                check_labels(counted.tuples)
            target.warn_of(counted)
            if target.path is not None:
                counted.to_file(target.path)
                return
        print_data((counted.to_json(),))
        return
    with target.working("converting") as bar:
        duplicates, source = source.options["duplicates"], source.split_pairs(sides)
        is_pairs = source.kind is PREFERENCES
        votes = source.read_pairs().to_votes(duplicates=duplicates) if is_pairs else source.read(bar)
        target.warn_of(votes)
        path = None if target.path is None else Path(target.path)
        layout = select_layout(votes, path, to)
        if path is not None:
            write_votes(votes, path, layout=layout)
    if path is None:
        print_data(votes_text(votes, layout))
    for message in () if target.quiet else layout_losses(votes, layout):
        print_error(f"jurors: {message}")


@click.command()
def demo() -> None:
    """Grade three LLM judges without an answer key, and compare the grades with the truth."""
    votes, key = jurors.load_example("llm_graders")
    click.secho("Three LLM judges grade 281 arithmetic solutions. No answer key is used.\n", bold=True)
    click.echo(str(jurors.grade(votes)))
    truth = jurors.score(votes, key)
    right = {j: f"{float(x):.0%}" for j, x in truth.score.items()}
    click.echo("The truth, for comparison: " + ", ".join(f"{j} {x}" for j, x in right.items()) + ".")
    wrong, majority = truth.errors_of(jurors.label(votes).partition.chosen), truth.majority_errors
    click.echo(f"Wrong labels: {wrong / truth.items:.0%}, by majority vote {majority / truth.items:.0%}.")
    click.echo("\nYour own file: jurors grade votes.csv. The tutorial: docs/tutorial.md.")
