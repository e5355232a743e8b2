"""The commands that write votes and counts: convert, sketch and merge."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import click

from jurors.cli.main import print_data
from jurors.cli.options import Source, sides_options, votes_options
from jurors.cli.output import OutputTarget, target_options
from jurors.jury.kinds import PREFERENCES
from jurors.results import without_secrets


@click.command()
@votes_options
@click.option("--to", type=click.Choice(["long", "wide", "counts", "sketch"]),
              help="The layout of OUT; by default sketch for .sketch.json, counts for counts, else long.")  # fmt: skip
@sides_options
@target_options
def convert(source: Source, to: Any, sides: dict[str, Any], target: OutputTarget) -> None:
    """Write the votes of FILE... in another layout or format.

    Which of two objects is better (--scale pairs) becomes votes on pairs: first, second or tie.

    OUT's name says the format: .csv, .tsv, .json, .jsonl, .parquet (text also .gz), .sketch.json; CSV without it.
    """
    from jurors.votes.write import layout_losses, select_layout, votes_text, write_votes

    with target.working("converting") as bar:
        duplicates, source = source.options["duplicates"], source.split_pairs(sides)
        is_pairs = source.kind is PREFERENCES
        votes = source.read_pairs().to_votes(duplicates=duplicates) if is_pairs else source.read(bar)
        target.warn_of(votes)
        path = None if target.path is None else Path(target.path)
        layout = select_layout(votes, path, to)
        if path is not None:
            write_votes(votes, path, layout=layout)
    if path is None:
        print_data(votes_text(votes, layout))
    target.print_messages(layout_losses(votes, layout))


@click.command()
@votes_options
@target_options
def sketch(source: Source, target: OutputTarget) -> None:
    """Count the votes of FILE... into a small sketch file, which names no item.

    Shards that are to be merged need the same labels: name them all with --labels, in case a rare one is missing here.
    """
    from jurors.jury.inputs import check_labels

    with target.working("counting") as bar:
        counted = source.count(bar)
        if not counted.tuples.scale_told:  # numbers are hardly ever the same twice
            check_labels(counted.tuples)
        target.warn_of(counted)
        if target.path is not None:
            counted.to_file(target.path)
            return
    print_data((counted.to_json(),))


@click.command()
@votes_options
@click.option("--union-labels", is_flag=True, help="Where files have different labels, take them all.")
@target_options
def merge(source: Source, union_labels: bool, target: OutputTarget) -> None:
    """Merge sketch files (or files of votes, counted first) of the same jurors and labels into one."""
    from jurors._files import temporary_folder
    from jurors.sketch.sketch import Sketch
    from jurors.votes.io.sources import TABLE_SEPARATOR, is_served, locate

    files: list[str] = []
    for name in source.files:  # every file by itself, also where a pattern or a folder names several
        is_single = name == "-" or Path(name).is_file() or TABLE_SEPARATOR in name or is_served(name)
        tables = () if is_single else locate(name, temporary_folder()).tables
        # some names cannot be shown as they are
        files += [table.name if Path(table.name).exists() else str(table.path) for table in tables] or [name]
    with target.working("merging"):
        sketches = [replace(source, files=(file,)).count() for file in files]
        names = list(map(without_secrets, files))
        merged = Sketch.merge(sketches, names=names, union_labels=union_labels)
        checksums = [counted.to_dict()["checksum"] for counted in sketches]
        target.print_messages(
            [
                f"{names[i]} and {names[j]} hold exactly the same counts; was one of them merged twice?"
                for i, j in combinations(range(len(files)), 2)
                if checksums[i] == checksums[j]
            ]
        )
        target.warn_of(merged)
        if target.path is not None:
            merged.to_file(target.path)
            return
    print_data((merged.to_json(),))
