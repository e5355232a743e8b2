"""Grade check label score rank compare agreement bounds inspect."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from jurors.cli.main import print_error
from jurors.cli.options import (
    KeySource,
    Source,
    by_option,
    confidence_options,
    exam_option,
    grading_options,
    key_options,
    level_option,
    limit_options,
    pairs_options,
    sides_options,
    texts_options,
    votes_options,
)
from jurors.cli.output import INPUT_PATH, OUTPUT_PATH, Output, output_options
from jurors.errors import JurorsError, OptionError
from jurors.options import Grading, GradingOptions, spell_option
from jurors.results import Result

# `jurors grade FILE`.


@click.command()
@votes_options
@grading_options
@exam_option
@by_option
@sides_options
@output_options("text", "json", "csv", "md")
def grade(
    source: Source,
    grading: dict[str, Any],
    exam: bool,
    by: str | None,
    sides: dict[str, Any],
    output: Output,
) -> None:
    """Grade the jurors of FILE without an answer key."""
    import jurors

    source, pairs = source.as_pairs(sides)
    with output.working("grading") as bar:
        if pairs is not None:
            level = only_level("pairs", grading, exam=exam, by=by)
            graded: Any = jurors.grade_pairs(pairs.files, level=level, progress=bar, **pairs.options)
        elif by is not None:
            votes, groups = source.read_with_groups(by, bar)
            if votes.scale == "interval":
                only_level("numbers", grading, exam=exam)
            graded = jurors.grade_by(votes, groups, column=by, exam=exam, **grading)
        elif (numbers := source.numbers(bar)) is not None:
            graded = jurors.grade_numbers(numbers, level=only_level("numbers", grading, exam=exam))
        else:
            graded = _graded(source, grading, exam, bar)
    output.show(graded)


def _graded(source: Source, grading: dict[str, Any], exam: bool, bar: Any) -> Any:
    """Labels, levels or numbers, by what FILE turns out to hold."""
    import jurors

    first, again = source.twice()
    votes = first.read(bar) if grading["gold"] else first.count(bar)
    if (numbers := again.numbers(bar, votes)) is not None:
        return jurors.grade_numbers(numbers, level=only_level("numbers", grading, exam=exam))
    return jurors.grade(votes, exam=exam, **grading)


def only_level(kind: str, grading: dict[str, Any], **others: Any) -> float:
    """How sure the intervals are; OptionError where something is asked that is not for this kind of answers."""
    usual = {one.name: one.default for one in spell_option(GradingOptions, Grading)}
    odd = [name for name, value in grading.items() if name != "level" and value != usual[name]]
    if odd := [*odd, *(name for name, value in others.items() if value)]:
        instead = "make labels of them (--threshold NUMBER, --bins 5)" if kind == "numbers" else "say --scale nominal"
        message = f"--{odd[0]} does not apply to {kind}, which this table holds: leave it out, or {instead}"
        raise OptionError(message, code="does_not_apply", name=odd[0])
    return float(grading["level"])


# `jurors check FILE`: the gate for CI pipelines.


@click.command()
@votes_options
@grading_options
@limit_options
@click.option("--junit", metavar="FILE", type=OUTPUT_PATH, help="Also write the verdict as a JUnit report.")
@click.option("--json", "document", metavar="FILE", type=OUTPUT_PATH, help="Also write the verdict as JSON.")
@click.option("--card", is_flag=True, help="Also show the report card, as `grade` does (text and Markdown).")
@output_options("text", "json", "md", fail_on="alarm")
def check(
    source: Source,
    grading: dict[str, Any],
    junit: str | None,
    document: str | None,
    card: bool,
    output: Output,
    **limits: Any,
) -> None:
    """Gates and alarms: are these grades what you ask for, and can they be trusted? Exit status 3 if not."""
    import jurors

    limits["fail_on"] = output.fail_on
    with output.working("checking") as bar:
        first, again = source.twice()
        earlier = _earlier_votes(source, limits["baseline"])
        votes, numbers = None, first.numbers(bar)
        if numbers is None:
            votes = first.read(bar) if grading["gold"] or earlier is not None else first.count(bar)
            numbers = again.numbers(bar, votes)
        if numbers is not None:
            evaluation: Any = jurors.grade_numbers(numbers, level=only_level("numbers", grading))
        else:
            evaluation = jurors.grade(votes, **grading)
            if earlier is not None:
                limits |= {"baseline": earlier, "votes": votes}
        verdict = replace(jurors.check(evaluation, **limits), shows_card=card)
    beside = {junit: verdict.to_junit()} if junit else {}
    beside |= {document: verdict.to_json() + "\n"} if document else {}
    output.show(verdict, in_log=True, beside=beside)


def _earlier_votes(source: Source, baseline: str | None) -> Any:
    """The votes of the baseline, read as FILE is; None where it is a JSON document of an earlier run."""
    from jurors.jury.gates import read_document

    if baseline is None or read_document(baseline) is not None:
        return None
    return Source((baseline,), source.options).read()


# `jurors label FILE`.


@click.command()
@votes_options
@grading_options
@click.option("--review", type=click.IntRange(min=1), metavar="N",
              help="Only the N items where a person's label would teach most, and why.")  # fmt: skip
@by_option
@texts_options
@output_options("text", "json", "csv", "md")
def label(
    source: Source, grading: dict[str, Any], review: int | None, by: str | None, items: str | None,
    text: tuple[str, ...], output: Output,
) -> None:  # fmt: skip
    """One label per item of FILE, with the probability that it is right.

    Where votes are numbers (--scale interval), one value per item, with its interval.
    """
    import jurors

    if review is None and (items or text):
        raise OptionError("--items and --text show the items of a review: say how many with --review N")
    with output.working("labelling") as bar:
        if (numbers := source.numbers(bar)) is not None:
            level = only_level("numbers", grading, review=review, by=by)
            output.show(jurors.value_items(numbers, level=level))
            return
        source, texts = source.showing(items, text)
        if by is None:
            votes = source.read(bar)
            if (numbers := source.numbers(bar, votes)) is not None:
                output.show(jurors.value_items(numbers, level=only_level("numbers", grading, review=review)))
                return
            labelling = jurors.label(votes, **grading)
        else:
            votes, named = source.read_with_groups(by, bar)
            if votes.scale == "interval":
                only_level("numbers", grading, review=review, by=by)
            labelling, groups, _ = jurors.label_by(votes, named, column=by, **grading)
            labelling = replace(labelling, groups=groups)
        shown = labelling if review is None else labelling.for_review(review, votes, texts)
    output.show(shown)


# `jurors score FILE --key TRUTH`.


@click.command()
@votes_options
@key_options(required=True)
@by_option
@output_options("text", "json", "csv", "md", alarms=False)
def score(source: Source, key: KeySource, by: str | None, output: Output) -> None:
    """Grade the jurors of FILE against an answer key, with their error correlations.

    Where votes are numbers (--scale interval), against true values, beside what is estimated without them.
    """
    import jurors

    with output.working("scoring") as bar:
        if by is not None:
            is_column = not Path(str(key.path)).exists()
            one, other = source.twice()
            votes, truth = one.without(by).read_with_key(key, bar)
            _, groups = (other.without(str(key.path)) if is_column else other).read_with_groups(by, bar)
            scored: Any = jurors.score_by(votes, truth, groups, column=by)
        else:
            scored = jurors.score(*source.read_with_key(key, bar))
    if by is None and output.format in ("text", "md"):  # the card of groups has its alarms
        output.warn(getattr(scored, "alarms", ()))
    output.show(scored)


# `jurors compare FILE [--key TRUTH | --answers SHEET]`.


@click.command()
@votes_options
@key_options(required=False)
@click.option("--methods", metavar="A,B", help="Only these methods, in this order.")
@click.option("--answers", multiple=True, metavar="SHEET", type=INPUT_PATH,
              help="A sheet of `jurors audit plan` with its labels: compare jurors by it; repeatable.")  # fmt: skip
@click.option("--between", metavar="A,B", help="With --answers: only these jurors.")
@click.option("--by", metavar="COLUMN",
              help="With --answers: the systems under test, which this column of FILE names.")  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="For methods that draw random numbers."
)
@output_options("text", "json", "csv", "md")
def compare(
    source: Source, key: KeySource, methods: str | None, answers: tuple[str, ...], between: str | None, by: str | None,
    seed: int, output: Output,
) -> None:  # fmt: skip
    """All methods side by side, beside the truth where there is a key; or jurors (or systems) by an audit's answers."""
    import jurors

    compared: Result
    _check(answers, key, methods, between, by)
    with output.working("comparing") as bar:
        if by is not None:
            votes, named = source.read_with_groups(by, bar)
            compared = jurors.audit.systems(votes, named.by_row(votes).tolist(), answers)
        elif answers:
            compared = jurors.audit.compare(source.read(bar), answers, between=_names(between))
        else:
            votes, truth = source.read_with_key(key, bar)
            compared = jurors.compare(votes, truth, methods=_names(methods), seed=seed)
    output.show(compared)


def _names(given: str | None) -> list[str] | None:
    return [name.strip() for name in given.split(",")] if given else None


def _check(answers: tuple[str, ...], key: KeySource, methods: str | None, between: str | None, by: str | None) -> None:
    """Answers compare jurors or systems, a key compares methods: not both at once."""
    if not answers and (between or by):
        name = "--between" if between else "--by"
        raise OptionError(f"{name} goes with --answers: a sheet of `jurors audit plan`", code="does_not_apply")
    if answers and (key.path or methods):
        raise OptionError("--answers compares jurors; --key and --methods compare methods", code="does_not_apply")
    if between and by:
        raise OptionError("--between compares jurors, --by systems; give one of them", code="does_not_apply")


# `jurors agreement FILE`.


@click.command()
@votes_options
@level_option
@output_options("text", "json", "csv", "md", alarms=False)
def agreement(source: Source, level: float, output: Output) -> None:
    """How much the jurors of FILE agree: Krippendorff's alpha, kappas, Gwet's AC1 and AC2, ICC, Kendall's W."""
    import jurors

    with output.working("counting") as bar:
        votes = source.read(bar)
        agreed = jurors.agreement(votes, level=level)
    output.warn_of(votes)
    if agreed.left_out and output.format == "csv" and not output.quiet:
        print_error(agreed.about_left_out)
    output.show(agreed)


# `jurors bounds FILE`.


@click.command()
@votes_options
@click.option("--correlation", type=click.FloatRange(min=0), metavar="E",
              help="If no error correlation (a covariance, at most 0.25) exceeds E; else logic alone.")  # fmt: skip
@click.option("--tight", is_flag=True, help="With --correlation: search for the narrowest intervals.")
@click.option("--curve", is_flag=True, help="How the bounds widen with the correlation, as rows (two labels).")
@click.option("--spec", metavar="SPEC", help='What is asked of the jurors: "0.6", "A>=0.6,B>=0.7", "gpt-4:A>=0.9".')
@click.option("--exact", is_flag=True, help="With --spec: whole items instead of shares of items.")
@output_options("text", "json", "csv", "md")
def bounds(source: Source, output: Output, curve: bool, **asked: Any) -> None:
    """Guaranteed bounds for every prevalence and accuracy, whatever the answer key is."""
    import jurors

    if curve and any(value for value in asked.values()):
        raise OptionError("--curve tries every correlation by itself; leave the other bounds options out")
    with output.working("bounding") as bar:
        sketch = source.count(bar)
        bounded = jurors.correlation_curve(sketch) if curve else jurors.bounds(sketch, progress=bar, **asked)
    output.warn_of(sketch)
    output.show(bounded)


# `jurors rank FILE`.


@click.command()
@pairs_options
@confidence_options
@output_options("text", "json", "csv", "md")
def rank(source: Source, sureness: dict[str, Any], output: Output) -> None:
    """Rank the objects of FILE by who preferred which of two.

    FILE has a row per answer: two objects (left,right or model_a,model_b …) and the winner, or a tie; a column may name
    the juror. Or a winner and a loser.
    """
    import jurors

    with output.working("ranking") as bar:
        ranking = jurors.rank(source.files, **sureness, progress=bar, **source.options)
    output.show(ranking)


# `jurors inspect FILE...`.


@click.command()
@votes_options
@output_options("text", "json", "md", alarms=False)
def inspect(source: Source, output: Output) -> None:
    """Say what FILE... holds, what looks odd, and which commands would work next; nobody is graded."""
    import jurors

    with output.working("looking") as bar:
        inspection = jurors.inspect(source.files, progress=bar, **source.options)
    output.show(inspection)
    if inspection.fault is not None:
        named = any(file in inspection.fault for file in inspection.files)
        raise JurorsError(inspection.fault if named else f"{inspection.files[0]}: {inspection.fault}")
