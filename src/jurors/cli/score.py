"""`jurors score FILE --key TRUTH`."""

from __future__ import annotations

import click

from jurors.cli.options import Key, Output, Source, json_text, key_options, output_options, votes_options


@click.command()
@votes_options
@key_options(required=True)
@output_options("text", "json", "csv", "md", alarms=False)
def score(source: Source, key: Key, output: Output) -> None:
    """Grade the jurors of FILE against an answer key, with their error correlations."""
    import jurors
    from jurors.evaluate.key_card import score_rows, score_tables
    from jurors.tables import csv_text

    with output.working("scoring"):
        votes, truth = source.read_with_key(key)
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
