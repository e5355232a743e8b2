"""`jurors plan`."""

from __future__ import annotations

from typing import Any

import click

from jurors.cli.output import Output, chart_format, output_options
from jurors.cli.paths import WRITES
from jurors.cli.simulate import jury_options, whole_numbers


@click.command()
@click.option("--width", type=float, default=0.05, show_default=True, help="Accuracies are to be known to ± this.")
@click.option("--jurors", default="3,5,7", show_default=True, metavar="N,M", help="Sizes of the jury to compare.")
@jury_options
@click.option("--missing", default="0", show_default=True, metavar="SHARE", help="The chance that a vote is missing.")
@click.option("--target", type=click.Choice(["test", "population"]), default="test", show_default=True,
              help="What intervals are about: the test's items, or where they come from.")  # fmt: skip
@click.option("--level", type=float, default=0.95, show_default=True, help="How sure the intervals are.")
@click.option(
    "--chart", metavar="FILE", type=WRITES, help="Also draw how the widths shrink: .png, .svg, .html or .json."
)
@output_options("text", "json", "csv", "md", alarms=False)
def plan(jurors: str, jury: dict[str, Any], chart: str | None, output: Output, **asked: Any) -> None:
    """How many items and jurors until every accuracy is known to ± width.

    From closed-form standard errors of the jury you expect; checked by simulation (benchmarks/plan_widths.py).
    """
    from jurors.lab.plan import plan as make_plan

    ending: Any = None if chart is None else chart_format(chart, "--chart")
    with output.working("planning"):
        planned = make_plan(jurors=whole_numbers(jurors, "--jurors"), **jury, **asked)
    if chart is None:
        output.show(planned)
        return
    from jurors.plot import plan as draw
    from jurors.plot import render

    output.show(planned, beside={chart: render(draw(planned), ending)})
