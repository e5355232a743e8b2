"""`jurors merge FILE...`."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import click

from jurors.cli.options import Source, votes_options
from jurors.cli.streams import put_data
from jurors.cli.writing import Target, target_options
from jurors.quoting import without_secrets


@click.command()
@votes_options
@click.option("--union-labels", is_flag=True, help="Where files have different labels, take them all.")
@target_options
def merge(source: Source, union_labels: bool, target: Target) -> None:
    """Merge sketch files (or files of votes, counted first) of the same jurors and labels into one."""
    from jurors.sketch import Sketch

    files = _each(source.files)
    with target.working("merging"):
        counted = [Source((file,), source.options).count() for file in files]
        merged = Sketch.merge(counted, names=list(map(without_secrets, files)), union_labels=union_labels)
        target.say(_same(files, counted))
        target.warn_of(merged)
        if target.path is not None:
            merged.to_file(target.path)
            return
    put_data((merged.to_json(),))


def _each(names: tuple[str, ...]) -> list[str]:
    """Every file by itself, also where a pattern or a folder names several."""
    from pathlib import Path

    from jurors.scratch import temporary_folder
    from jurors.votes.files.inside import BETWEEN, is_served
    from jurors.votes.files.locate import locate

    files: list[str] = []
    for name in names:
        one = name == "-" or Path(name).is_file() or BETWEEN in name or is_served(name)
        tables = () if one else locate(name, temporary_folder()).tables
        # some names cannot be shown as they are
        files += [table.name if Path(table.name).exists() else str(table.path) for table in tables] or [name]
    return files


def _same(files: list[str], counted: list[Any]) -> list[str]:
    """A warning for each pair of inputs that hold the very same counts."""
    checksums = [one.to_dict()["checksum"] for one in counted]
    return [
        f"{without_secrets(files[i])} and {without_secrets(files[j])} hold exactly the same counts; was one of them "
        "merged twice?"
        for i, j in combinations(range(len(files)), 2)
        if checksums[i] == checksums[j]
    ]
