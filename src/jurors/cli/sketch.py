"""`jurors sketch FILE...`."""

from __future__ import annotations

import click

from jurors.cli.options import Source, votes_options
from jurors.cli.streams import put_data
from jurors.cli.writing import Target, target_options


@click.command()
@votes_options
@target_options
def sketch(source: Source, target: Target) -> None:
    """Count the votes of FILE... into a small sketch file, which names no item.

    Shards that are to be merged need the same labels: name them all with --labels, in case a rare one is missing here.
    """
    from jurors.jury.accept import check_labels

    with target.working("counting") as bar:
        counted = source.count(bar)
        if not counted.tuples.scale_told:  # numbers are hardly ever the same twice
            check_labels(counted.tuples)
        target.warn_of(counted)
        if target.path is not None:
            counted.to_file(target.path)
            return
    put_data((counted.to_json(),))
