"""`jurors check FILE`: the gate for CI pipelines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from jurors.cli.grade import only_level
from jurors.cli.limits import limit_options
from jurors.cli.options import Source, grading_options, votes_options
from jurors.cli.output import Output, output_options
from jurors.cli.paths import WRITES


@click.command()
@votes_options
@grading_options
@limit_options
@click.option("--junit", metavar="FILE", type=WRITES, help="Also write the verdict as a JUnit report.")
@click.option("--json", "document", metavar="FILE", type=WRITES, help="Also write the verdict as JSON.")
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
    from jurors.jury.gates.regression import read_document

    if baseline is None or read_document(baseline) is not None:
        return None
    return Source((baseline,), source.options).read()
