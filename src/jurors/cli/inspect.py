"""`jurors inspect FILE...`."""

from __future__ import annotations

import click

from jurors.cli.options import Output, Source, json_text, output_options, votes_options


@click.command()
@votes_options
@output_options("text", "json", "md", alarms=False)
def inspect(source: Source, output: Output) -> None:
    """Say what FILE... holds, what looks odd, and which commands would work next; nobody is graded."""
    import jurors

    with output.working("looking"):
        found = jurors.inspect(source.files, **source.options)
    match output.format:
        case "json":
            output.write(json_text(found.to_dict()))
        case "md":
            output.write(found.to_markdown())
        case _:
            output.write(str(found))
