"""The command that writes votes and counts: convert."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jurors._files import is_stream
from jurors.cli.main import print_data
from jurors.cli.options import Source, sides_options, votes_options
from jurors.cli.output import Output, target_options
from jurors.errors import OutputError
from jurors.jury.kinds import PREFERENCES
from jurors.results import without_secrets

if TYPE_CHECKING:
    from jurors.sketch.sketch import Sketch


@click.command()
@votes_options
@click.option("--to", type=click.Choice(["long", "wide", "counts", "sketch"]),
              help="The layout of OUT; by default sketch for .sketch.json, counts for counts, else long.")  # fmt: skip
@click.option("--union-labels", is_flag=True, help="Where sketch files have different labels, take them all.")
@sides_options
@target_options
def convert(source: Source, to: Any, union_labels: bool, sides: dict[str, Any], target: Output) -> None:
    """Write the votes of FILE... in another layout or format.

    A sketch holds counts and names no item; several sketch files of the same jurors become one. Preferences become
    votes on pairs: first, second or tie.

    The name of OUT selects the format: .csv, .tsv, .json, .jsonl, .parquet (text also .gz) or .sketch.json.
    """
    from jurors.votes.io.sources import is_sketch_name
    from jurors.votes.write import layout_losses, select_layout, votes_text, write_votes

    is_sketch = to == "sketch" or (to is None and target.path is not None and is_sketch_name(target.path))
    if is_sketch and target.path is not None and not is_sketch_name(target.path) and not is_stream(Path(target.path)):
        named = Path(target.path).name.split(".")[0]
        raise OutputError(f"-o {target.path}: a sketch is JSON; call it {named}.sketch.json")
    if is_sketch and source.options["scale"] != "pairs":
        with target.working("counting"):
            counted = _count(source, union_labels, target)
            target.warn_of(counted)
            if target.path is not None:
                counted.to_file(target.path)
                return
        print_data((counted.to_json(),))
        return
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


def _count(source: Source, union_labels: bool, target: Output) -> Sketch:
    """Count the votes of FILE...; several sketch files of the same jurors and labels are merged."""
    from jurors.jury.inputs import check_labels
    from jurors.sketch.sketch import Sketch
    from jurors.votes.io.sources import is_sketch_name

    files = [str(file) for name in source.files if name != "-" for file in _single_files(name)]
    if len(files) > 1 and all(map(is_sketch_name, files)):
        sketches = [replace(source, files=(file,)).count() for file in files]
        names = list(map(without_secrets, files))
        checksums = [counted.to_dict()["checksum"] for counted in sketches]
        target.print_messages(
            [
                f"{names[i]} and {names[j]} hold exactly the same counts; one may be a copy of the other"
                for i, j in combinations(range(len(files)), 2)
                if checksums[i] == checksums[j]
            ]
        )
        return Sketch.merge(sketches, names=names, union_labels=union_labels)
    counted: Sketch = source.count()
    if not counted.tuples.scale_told:  # numbers are hardly ever the same twice
        check_labels(counted.tuples)
    return counted


def _single_files(name: str) -> list[str]:
    """The files that a name, a pattern or a folder stands for."""
    from jurors._files import temporary_folder
    from jurors.votes.io.sources import TABLE_SEPARATOR, is_served, locate

    if Path(name).is_file() or TABLE_SEPARATOR in name or is_served(name):
        return [name]
    tables = locate(name, temporary_folder()).tables
    return [table.name if Path(table.name).exists() else str(table.path) for table in tables] or [name]
