"""`jurors check FILE`: the gate for CI pipelines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, SubElement, tostring

import click

from jurors.cli.options import Source, grading_options, votes_options
from jurors.cli.output import Output, output_options
from jurors.tables import Columns, Notes, Result
from jurors.whole import write_whole

if TYPE_CHECKING:
    from jurors import Alarm


@dataclass(frozen=True)
class Verdict(Result):
    """Whether the grades can be trusted, and every alarm."""

    trusted: bool
    verdict: str
    alarms: tuple[Alarm, ...]

    def _document(self) -> dict[str, Any]:
        return {"trusted": self.trusted, "verdict": self.verdict, "alarms": self.alarms}

    def _columns(self) -> Columns:
        names = ("level", "kind", "message", "value")
        return {name: [getattr(alarm, name) for alarm in self.alarms] for name in names}

    def _blocks(self) -> tuple[Notes]:
        from jurors.evaluate.card import alarm_lines

        return (Notes(alarm_lines(self.alarms), self.verdict),)


@click.command()
@votes_options
@grading_options
@click.option(
    "--max-correlation",
    type=click.FloatRange(-1, 1),
    metavar="R",
    help="Ring if the mean correlation of errors (from -1 to 1) is larger.",
)
@click.option(
    "--min-effective",
    type=click.FloatRange(min=1),
    metavar="N",
    help="Ring if the jurors are worth fewer independent ones.",
)
@click.option(
    "--spec", metavar="SPEC", help='Ring if no answer key allows this: "0.6", "A>=0.6,B>=0.7", "gpt-4:A>=0.9".'
)
@click.option("--junit", metavar="FILE", help="Also write the verdict as a JUnit report.")
@output_options("text", "json", "md", fail_on="alarm")
def check(source: Source, grading: dict[str, Any], junit: str | None, output: Output, **limits: Any) -> None:
    """Only the alarms: can these grades be trusted? Exit status 3 when an alarm rings."""
    import jurors

    with output.working("checking") as bar:
        evaluation = jurors.grade(source.read(bar) if grading["gold"] else source.count(bar), **grading)
        alarms = (*jurors.gate(evaluation, **limits), *evaluation.alarms)
    loud = output.ringing(alarms)
    about = f"{len(evaluation.jurors)} jurors, {evaluation.items:,} items"
    what = "alarm" if output.fail_on == "alarm" else "warning or alarm"
    verdict = (
        f"ALARM: do not trust these grades ({len(loud)} rang; {about})" if loud else f"OK: no {what} rang ({about})"
    )
    if junit:  # before the verdict: where it cannot be written, nothing is printed
        write_whole(Path(junit), _junit(verdict, alarms, loud))
    output.show(Verdict(not loud, verdict, alarms))


def _junit(verdict: str, alarms: tuple[Any, ...], loud: list[Any]) -> str:
    """One test case an alarm; those that fail the check are failures."""
    suite = Element("testsuite", name="jurors check", tests=str(max(len(alarms), 1)), failures=str(len(loud)))
    if not alarms:
        SubElement(suite, "testcase", classname="jurors", name=verdict)
    for alarm in alarms:
        case = SubElement(suite, "testcase", classname="jurors", name=alarm.kind)
        if alarm in loud:
            SubElement(case, "failure", message=alarm.message, type=alarm.level)
        else:
            SubElement(case, "system-out").text = f"{alarm.level}: {alarm.message}"
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(suite, encoding="unicode") + "\n"
