"""The commands about votes: grade, check, label, score, rank, compare, agreement, bounds and inspect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import jurors
from jurors.cli.main import print_error
from jurors.cli.options import (
    KeySource,
    Source,
    applicable,
    by_option,
    covariate_option,
    grading_option,
    grading_options,
    key_options,
    limit_options,
    pairs_options,
    sides_options,
    system_option,
    texts_options,
    votes_options,
)
from jurors.cli.output import INPUT_PATH, OUTPUT_PATH, Output, output_options
from jurors.errors import JurorsError, OptionError
from jurors.jury.kinds import LABELS, NUMBERS, PREFERENCES, kind_of
from jurors.results import Result, without_secrets


@click.command()
@votes_options
@grading_options
@grading_option("exam")
@by_option
@sides_options
@output_options("text", "json", "csv", "md", card=True)
def grade(
    source: Source, grading: dict[str, Any], exam: bool, by: str | None, sides: dict[str, Any], output: Output
) -> None:
    """Grade the jurors of FILE without an answer key."""
    grading = {**grading, "exam": exam}
    with output.working("grading") as bar:
        source = source.split_pairs(sides)
        if by is None:
            kind, data, options = source.load(grading, bar, by_item=bool(grading["gold"]))
            graded = kind.grade(data, **options)
        elif source.kind is PREFERENCES:
            graded = jurors.grade(
                source.files, by=by, scale="pairs", **applicable(PREFERENCES, grading), **source.options
            )
        else:
            votes, groups = source.read_by(by, bar)
            graded = jurors.grade(votes, by=groups, **applicable(kind_of(votes), grading))
        if output.options.get("full"):
            _ = getattr(graded, "leaders_without", None)  # JSON has it where it is computed
    source.named_on(output).show(graded)


@click.command()
@votes_options
@grading_options
@limit_options
@by_option
@system_option
@click.option("--junit", metavar="FILE", type=OUTPUT_PATH, help="Also write the verdict as a JUnit report.")
@click.option("--json", "document", metavar="FILE", type=OUTPUT_PATH, help="Also write the verdict as JSON.")
@click.option("--card", is_flag=True, help="Also show the report card, as `grade` does (text and Markdown).")
@output_options("text", "json", "md", fail_on="alarm", full=True)
def check(
    source: Source, grading: dict[str, Any], limits: dict[str, Any], by: str | None, system: str | None,
    good: str | None, junit: str | None, document: str | None, card: bool, output: Output,
) -> None:  # fmt: skip
    """Check limits and alarms in CI.

    The exit status is 3 if an alarm is raised, or if a limit is not met or cannot be decided.
    """
    from jurors.jury.baseline import read_document

    limits["fail_on"] = output.fail_on
    with output.working("checking") as bar:
        baseline, earlier = limits["baseline"], None
        if (
            baseline is not None and by is None and read_document(baseline) is None
        ):  # no JSON of an earlier run, hence its votes
            of_baseline = replace(source, files=(baseline,))
            earlier = of_baseline.read() if system is None else of_baseline.read_with_groups(system, what="system")
        if by is not None:
            votes, groups = source.read_by(by, bar)
            options = applicable(kind_of(votes), grading)
            limits |= {"system": system, "good": good, "ignore_alarms": output.ignored}
            verdict = jurors.check(votes, by=groups, **options, **limits)
        elif system is not None:
            votes, systems_of = source.read_with_groups(system, bar, what="system")
            options = applicable(kind_of(votes), grading)
            limits |= {"baseline": baseline if earlier is None else earlier, "system": systems_of, "good": good}
            if earlier is not None and limits["max_regression"] is None:
                limits |= {"baseline": earlier[0], "votes": votes}
            verdict = jurors.check(votes, ignore_alarms=output.ignored, **options, **limits)
        else:
            kind, data, options = source.load(grading, bar, by_item=bool(grading["gold"]) or earlier is not None)
            evaluation = kind.grade(data, **options)
            if earlier is not None and kind is LABELS:
                limits |= {"baseline": earlier, "votes": data}
            verdict = jurors.check(evaluation, good=good, ignore_alarms=output.ignored, **limits)
        verdict = replace(verdict, shows_card=card)
    beside = {junit: verdict.to_junit()} if junit else {}
    beside |= {document: verdict.to_json() + "\n"} if document else {}
    source.named_on(output).show(verdict, in_log=True, beside=beside)


@click.command()
@votes_options
@grading_options
@click.option("--review", type=click.IntRange(min=1), metavar="N",
              help="List only the N items whose label is least likely to be right.")  # fmt: skip
@by_option
@texts_options
@output_options("text", "json", "csv", "md", full=True)
def label(
    source: Source, grading: dict[str, Any], review: int | None, by: str | None, items: str | None,
    text: tuple[str, ...], output: Output,
) -> None:  # fmt: skip
    """Label every item of FILE, with the probability that the label is right.

    Where votes are numbers (--scale interval), print one value per item, with its interval.
    """
    if review is None and (items or text):
        raise OptionError("--items and --text show the items of a review; add --review N")
    texts = None
    with output.working("labelling") as bar:
        if source.kind is LABELS:
            source, texts = source.split_texts(items, text)
            if output.format == "parquet" and by is None and review is None and not grading["gold"]:
                from jurors.jury.label import label_on_disk

                source = source.rereadable()
                options = applicable(LABELS, grading)
                if (written := source._read(label_on_disk, bar, Path(str(output.path)), options)) is not None:
                    output.conclude(written)
                    return
        if by is None or source.kind is NUMBERS:
            kind, data, options = source.load(grading, bar, by_item=True, review=review, by=by)
            shown = kind.label(data, **options)
        else:
            data, groups = source.read_by(by, bar)
            options = applicable(kind_of(data), grading, review=review, by=by)
            shown = jurors.label(data, by=groups, **options)
        if review is not None:
            shown = shown.for_review(review, data, texts)
    output.show(shown)


@click.command()
@votes_options
@system_option
@covariate_option
@click.option("--adjust", metavar="COLUMN", help="Compare systems at an equal value of this column, such as length.")
@click.option("--family", multiple=True, metavar="NAME=NAMES",
              help="Judges, or judges and systems, of one family: openai=gpt-4o-judge,gpt-4o; repeatable.")  # fmt: skip
@click.option("--not-own-family", is_flag=True, help="Leave out judges' votes on systems of their own family.")
@grading_option("gold")
@grading_option("level")
@output_options("text", "json", "csv", "md", card=True)
def systems(
    source: Source, system: str | None, good: str | None, covariate: tuple[str, ...], adjust: str | None,
    family: tuple[str, ...], not_own_family: bool, gold: str | None, level: float, output: Output,
) -> None:  # fmt: skip
    """Compare systems by the judges' votes: each system's rate, differences of pairs, and a ranking in tiers."""
    with output.working("comparing") as bar:
        beside = tuple(dict.fromkeys((*covariate, *([] if adjust is None else [adjust]))))
        votes, groups = source.read_with_groups(system, bar, what="system", beside=beside)
        names: dict[str, Any] = {"good": good, "covariate": covariate, "adjust": adjust, "family": family}
        names["not_own_family"] = not_own_family
        compared = jurors.systems(votes, by=groups, gold=gold, level=level, **names)
    output.show(compared)


@click.command()
@votes_options
@key_options
@by_option
@click.option("--alt-test", metavar="JUROR,JUROR",
              help="Instead of a key: test whether these jurors may take the place of the others.")  # fmt: skip
@click.option("--epsilon", type=click.FloatRange(0, 1, max_open=True), default=0.2, show_default=True,
              help="With --alt-test, how far they may fall behind: 0.2 for experts, 0.1 for crowds.")  # fmt: skip
@click.option("--reference", metavar="TABLE", type=OUTPUT_PATH,
              help="Measure how far errors are shared, and add a row to TABLE, for `grade --reference`.")  # fmt: skip
@output_options("text", "json", "csv", "md", alarms=False, card=True)
def score(
    source: Source, key: KeySource, by: str | None, alt_test: str | None, epsilon: float, reference: str | None,
    output: Output,
) -> None:  # fmt: skip
    """Grade the jurors of FILE against an answer key, with their error correlations.

    Numbers are compared with true values. With --alt-test, the other jurors take the place of the key.
    """
    if alt_test is not None:
        for name, value in (("key", key.path), ("by", by), ("reference", reference)):
            if value is not None:
                raise OptionError(f"--{name} does not apply with --alt-test; leave one out", code="does_not_apply")
        with output.working("testing") as bar:
            tested = jurors.score(source.read(bar), alt_test=alt_test.split(","), epsilon=epsilon)
        output.show(tested)
        return
    if key.path is None:
        raise click.MissingParameter(param_hint="'--key'", param_type="option")
    name = Path(without_secrets(str(source.files[0]))).name.split(".")[0]
    if reference is not None:
        source = source.rereadable()
        from jurors.jury.reference import fit_reference
        from jurors.uncertainty.reference import ReferenceJuries, reference_juries

        table = Path(reference)
        before = reference_juries(table) if table.exists() else ReferenceJuries(())  # raises before the work
        with output.working("measuring") as bar:
            votes, truth = source.read_with_key(key, bar)
            before.with_jury(fit_reference(votes, truth, name=name)).write(table)
    with output.working("scoring") as bar:
        votes, truth, groups = source.read_with_key_by(key, by, bar)
        scored = jurors.score(votes, truth, by=groups)
    if by is None and output.format in ("text", "md"):  # the card of groups has its alarms
        output.warn(getattr(scored, "alarms", ()))
    output.show(scored)


@click.command()
@votes_options
@key_options
@click.option("--methods", metavar="A,B", help="Compare only these methods, in this order.")
@click.option("--answers", multiple=True, metavar="SHEET", type=INPUT_PATH,
              help="Compare jurors by this labelled sheet of `jurors audit plan`; repeatable.")  # fmt: skip
@click.option("--between", metavar="A,B", help="With --answers, compare only these jurors.")
@by_option
@click.option("--panels", is_flag=True, help="Compare the panel with the panels without one juror.")
@click.option("--price", multiple=True, metavar="JUROR=PRICE",
              help="With --panels, what a vote of this juror costs, to find the cheapest panel.")  # fmt: skip
@click.option("--most-changed", type=click.FloatRange(0, 1), default=0.03, show_default=True, metavar="SHARE",
              help="With --price, the share of items that a cheaper panel may label differently.")  # fmt: skip
@grading_option("seed")
@output_options("text", "json", "csv", "md", card=True)
def compare(
    source: Source, key: KeySource, methods: str | None, answers: tuple[str, ...], between: str | None,
    by: str | None, panels: bool, price: tuple[str, ...], most_changed: float, seed: int, output: Output,
) -> None:  # fmt: skip
    """Compare methods side by side, and with the truth if you give a key.

    With --panels, compare the panel with the panels without one juror: what each juror is worth. With --answers,
    compare jurors by the labels of an audit.
    """
    if price and not panels:
        raise OptionError("--price needs --panels", code="does_not_apply")
    if panels and (answers or key.path or methods):
        raise OptionError("--panels takes no --key, --methods or --answers", code="does_not_apply")
    if between and not answers:
        raise OptionError("--between needs --answers, a labelled sheet of `jurors audit plan`", code="does_not_apply")
    if answers and (key.path or methods):
        raise OptionError("--answers compares jurors; --key and --methods compare methods", code="does_not_apply")
    if answers and by:
        instead = "`jurors audit result --system` compares systems"
        raise OptionError(f"--answers compares jurors on all items; leave out --by ({instead})", code="does_not_apply")
    compared: Result
    with output.working("comparing") as bar:
        if answers:
            compared = jurors.audit.compare(source.read(bar), answers, between=_names(between))
        elif panels:
            prices = _prices(price) if price else None
            votes, groups = source.read_by(by, bar)
            compared = jurors.panels(votes, by=groups, price=prices, most_changed=most_changed)
        else:
            votes, truth, groups = source.read_with_key_by(key, by, bar)
            compared = jurors.compare(votes, truth, by=groups, methods=_names(methods), seed=seed)
    output.show(compared)


def _prices(given: Sequence[str]) -> dict[str, float]:
    """JUROR=PRICE, several times."""
    prices = {}
    for text in given:
        name, _, number = text.rpartition("=")
        try:
            prices[name] = float(number)
        except ValueError:
            raise OptionError(f"--price {text} must be JUROR=PRICE, such as gpt-4o=0.002") from None
    return prices


def _names(text: str | None) -> list[str] | None:
    return [name.strip() for name in text.split(",")] if text else None


@click.command()
@votes_options
@grading_option("level")
@by_option
@output_options("text", "json", "csv", "md", alarms=False, sort=("agreement", "items", "name"))
def agreement(source: Source, level: float, by: str | None, output: Output) -> None:
    """Measure how much the jurors of FILE agree.

    Krippendorff's alpha, kappas, Gwet's AC1 and ICC, with intervals.
    """
    with output.working("counting") as bar:
        votes, groups = source.read_by(by, bar)
        agreed = jurors.agreement(votes, level=level, by=groups)
    output.warn_of(votes)
    if by is None and agreed.left_out and output.format == "csv" and not output.quiet:
        print_error(agreed.about_left_out)
    output.show(agreed)


@click.command()
@votes_options
@click.option("--correlation", type=click.FloatRange(min=0), metavar="E",
              help="Assume that no error covariance (at most 0.25) exceeds E.")  # fmt: skip
@click.option("--curve", is_flag=True, help="Show how the bounds widen with the correlation (two labels).")
@by_option
@output_options("text", "json", "csv", "md")
def bounds(source: Source, output: Output, curve: bool, correlation: float | None, by: str | None) -> None:
    """Compute bounds on every prevalence and accuracy that hold for any answer key."""
    from jurors.uncertainty.bounds import correlation_curve

    if curve and correlation is not None:
        raise OptionError("--curve tries every correlation; leave out --correlation")
    if curve and by is not None:
        raise OptionError("--curve is of all items; leave out --by, or keep the items of one group in FILE")
    with output.working("bounding") as bar:
        votes, groups = (source.count(bar), None) if by is None else source.read_by(by, bar)
        if curve:
            bounded: Any = correlation_curve(votes)
        else:
            bounded = jurors.bounds(votes, by=groups, progress=bar if by is None else None, correlation=correlation)
    output.warn_of(votes)
    output.show(bounded)


@click.command()
@pairs_options
@grading_option("level")
@grading_option("seed")
@by_option
@output_options("text", "json", "csv", "md", card=True)
def rank(source: Source, level: float, seed: int, by: str | None, output: Output) -> None:
    """Rank the objects of FILE by pairwise preferences.

    Each row of FILE holds two objects (left,right or model_a,model_b) and the winner or a tie, or a winner and a loser.
    A column may name the juror.
    """
    with output.working("ranking") as bar:
        files = source.files if by is None else source.rereadable().files
        ranking = jurors.rank(files, by=by, level=level, seed=seed, progress=bar, **source.options)
    output.show(ranking)


@click.command()
@votes_options
@by_option
@output_options("text", "json", "md", alarms=False)
def inspect(source: Source, by: str | None, output: Output) -> None:
    """Show what FILE holds, what looks unusual, and which commands to run next."""
    with output.working("looking") as bar:
        if by is None:
            inspection = jurors.inspect(source.files, progress=bar, **source.options)
        else:
            votes, groups = source.read_by(by, bar)
            inspection = jurors.inspect(votes, by=groups)
    fault = inspection.fault if by is None else None
    is_printed = fault is not None and output.format == "text" and output.path is None
    output.show(replace(inspection, fault=None) if is_printed else inspection)
    if fault is not None:
        named = any(file in fault for file in inspection.files)
        raise JurorsError(fault if named else f"{inspection.files[0]}: {fault}")
