"""`jurors check FILE`: the gate for CI pipelines."""

from __future__ import annotations

from typing import Any

import click

from jurors.cli.options import Command, Source, grading_options, votes_options
from jurors.cli.output import Output, output_options
from jurors.cli.paths import READS, WRITES


def _share(flag: str, metavar: str, help_text: str) -> Any:
    """A limit on a calibrated share; repeatable."""
    return click.option(flag, multiple=True, metavar=metavar, help=help_text)


_LIMITS = (
    _share("--min-score", "[JUROR:]X", "Every juror, or this one, is right on at least this share; repeatable."),
    _share("--min-accuracy", "[JUROR:]LABEL:X", "The same on items of this label; repeatable."),
    _share("--min-prevalence", "LABEL:X", "At least this share of items has this label; repeatable."),
    _share("--max-prevalence", "LABEL:X", "At most this share of items has this label; repeatable."),
    _share("--max-wrong", "X", "At most this share of the best labels is wrong."),
    click.option(
        "--baseline",
        metavar="FILE",
        type=READS,
        help="No juror is worse than in this earlier run: JSON of `grade` or `check`, or its votes.",
    ),
    click.option(
        "--max-drop",
        type=click.FloatRange(0, 1),
        default=0.0,
        metavar="X",
        show_default=True,
        help="By how much a score may drop below the baseline's.",
    ),
    click.option("--allow-unknown", is_flag=True, help="Do not fail where a limit may be kept or not."),
    click.option(
        "--max-correlation",
        type=click.FloatRange(-1, 1),
        metavar="R",
        help="Ring if the mean correlation of errors (from -1 to 1) is larger.",
    ),
    click.option(
        "--min-effective",
        type=click.FloatRange(min=1),
        metavar="N",
        help="Ring if the jurors are worth fewer independent ones.",
    ),
    click.option(
        "--spec", metavar="SPEC", help='Ring if no answer key allows this: "0.6", "A>=0.6,B>=0.7", "gpt-4:A>=0.9".'
    ),
)


def _limits(command: Command) -> Command:
    for option in reversed(_LIMITS):
        command = option(command)
    return command


@click.command()
@votes_options
@grading_options
@_limits
@click.option("--junit", metavar="FILE", type=WRITES, help="Also write the verdict as a JUnit report.")
@output_options("text", "json", "md", fail_on="alarm")
def check(source: Source, grading: dict[str, Any], junit: str | None, output: Output, **limits: Any) -> None:
    """Gates and alarms: are these grades what you ask for, and can they be trusted? Exit status 3 if not."""
    import jurors

    limits["fail_on"] = output.fail_on
    with output.working("checking") as bar:
        earlier = _earlier_votes(source, limits["baseline"])
        votes = source.read(bar) if grading["gold"] or earlier is not None else source.count(bar)
        evaluation = jurors.grade(votes, **grading)
        if earlier is not None:
            limits |= {"baseline": earlier, "votes": votes}
        verdict = jurors.check(evaluation, **limits)
    output.show(verdict, in_log=True, beside={junit: verdict.to_junit()} if junit else {})


def _earlier_votes(source: Source, baseline: str | None) -> Any:
    """The votes of the baseline, read as FILE is; None where it is a JSON document of an earlier run."""
    from jurors.jury.gates.regression import read_document

    if baseline is None or read_document(baseline) is not None:
        return None
    return Source((baseline,), source.options).read()
