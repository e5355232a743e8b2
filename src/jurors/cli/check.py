"""`jurors check FILE`: the gate for CI pipelines."""

from __future__ import annotations

from typing import Any

import click

from jurors.cli.options import Output, Source, grading_options, json_text, output_options, votes_options


@click.command()
@votes_options
@grading_options
@output_options("text", "json", "md", fail_on="alarm")
def check(source: Source, grading: dict[str, Any], output: Output) -> None:
    """Only the alarms: can these grades be trusted? Exit status 3 when an alarm rings."""
    import jurors
    from jurors.evaluate.card import alarm_lines

    with output.working("checking"):
        evaluation = jurors.grade(source.read(), **grading)
    loud = output.ringing(evaluation.alarms)
    about = f"{len(evaluation.jurors)} jurors, {evaluation.items:,} items"
    what = "alarm" if output.fail_on == "alarm" else "warning or alarm"
    verdict = (
        f"ALARM: do not trust these grades ({len(loud)} rang; {about})" if loud else f"OK: no {what} rang ({about})"
    )
    lines = alarm_lines(evaluation.alarms)
    match output.format:
        case "json":
            alarms = [alarm.to_dict() for alarm in evaluation.alarms]
            output.write(json_text({"trusted": not loud, "verdict": verdict, "alarms": alarms}))
        case "md":
            output.write("\n".join([f"**{verdict}**", "", *(f"- {line}" for line in lines)]))
        case _:
            output.write("\n".join([verdict, *lines]))
    output.exit(evaluation.alarms)
