"""`jurors score FILE --key TRUTH`."""

from __future__ import annotations

from pathlib import Path

import click

from jurors.cli.options import Key, Source, by_option, key_options, votes_options
from jurors.cli.output import Output, json_text, output_options


@click.command()
@votes_options
@key_options(required=True)
@by_option
@output_options("text", "json", "csv", "md", alarms=False)
def score(source: Source, key: Key, by: str | None, output: Output) -> None:
    """Grade the jurors of FILE against an answer key, with their error correlations."""
    import jurors
    from jurors.cli.grade import write_groups
    from jurors.evaluate.key_card import score_rows, score_tables
    from jurors.tables import csv_text

    if by is not None:
        with output.working("scoring") as bar:
            is_column = not Path(str(key.path)).exists()
            one, other = source.twice()
            votes, truth = one.without(by).read_with_key(key, bar)
            _, groups = (other.without(str(key.path)) if is_column else other).read_with_groups(by, bar)
            found = jurors.score_by(votes, truth, groups, column=by)
        write_groups(found, output)
        return
    with output.working("scoring") as bar:
        votes, truth = source.read_with_key(key, bar)
        keyed = jurors.score(votes, truth)
    match output.format:
        case "json":
            output.write(json_text(keyed.to_dict()))
        case "csv":
            output.write(csv_text(*score_rows(keyed)))
        case "md":
            output.write("\n\n".join(table.to_markdown() for table in score_tables(keyed)))
        case _:
            output.write(str(keyed))
