"""`jurors bounds FILE`."""

from __future__ import annotations

from typing import Any

import click

from jurors.cli.options import Source, votes_options
from jurors.cli.output import Output, json_text, output_options
from jurors.errors import SketchError


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
    from jurors.tables import csv_text

    if curve and any(value for value in asked.values()):
        raise SketchError("--curve tries every correlation by itself; leave the other bounds options out")
    if curve:
        output.write(_curve(source, output))
        return
    with output.working("bounding") as bar:
        found = jurors.bounds(source.count(bar), progress=bar, **asked)
    match output.format:
        case "json":
            output.write(json_text(found.to_dict()))
        case "csv":
            output.write(csv_text(*found.rows()))
            output.warn(found.alarms)
        case "md":
            output.write(found.table().to_markdown())
            output.warn(found.alarms)
        case _:
            output.write(str(found))
    output.exit(found.alarms)


def _curve(source: Source, output: Output) -> str:
    """The bounds over a range of correlations: CSV, JSON columns, or prevalence widths to read."""
    from jurors.doubt.bounds.robust import correlation_curve
    from jurors.tables import Table, csv_text

    with output.working("bounding") as bar:
        columns = {name: values.tolist() for name, values in correlation_curve(source.count(bar)).items()}
    rows = list(zip(*columns.values(), strict=True))
    if output.format == "json":
        return json_text({name: [None if x != x else x for x in values] for name, values in columns.items()})
    if output.format == "csv":
        return csv_text(tuple(columns), rows)
    first = rows[0][4]
    shown = tuple(
        (f"{row[0]:.5f}", row[1], *("–" if end != end else f"{end:.1%}" for end in row[5:8]))
        for row in rows
        if row[2] == "prevalence" and row[4] == first
    )
    table = Table(("correlation", "outcome", f"least {first}", f"most {first}", "width"), shown, right=(0, 2, 3, 4))
    return table.to_markdown() if output.format == "md" else table.to_text()
