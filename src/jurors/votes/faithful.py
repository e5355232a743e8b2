"""Whether votes, once written, would read back as they are: what a reader would take for something else is refused."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from jurors.errors import VotesError
from jurors.options import Reading
from jurors.votes.cells import spelled_labels, tidy
from jurors.votes.columns.by_evidence import find_layout
from jurors.votes.columns.facts import Facts, facts_of_columns, head_rows
from jurors.votes.table import Votes

_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f]")  # a reader drops carriage returns and takes control characters for binary


def check_faithful(votes: Votes, layout: str, format: str) -> None:
    """VotesError names a label, juror or item that would not read back as it is."""
    if not votes.n_votes:
        raise VotesError("there is no vote to write")
    items = [] if layout == "counts" or votes.items is None else votes.items.tolist()
    for what, values in (("label", list(votes.labels)), ("juror", list(votes.jurors)), ("item", items)):
        _check_values(values, what, format)
    if layout != "long":
        _check_header(votes, layout, format)


def cell_value(value: Any, format: str) -> Any:
    """What a format holds of a value: of CSV, its text."""
    return str(value) if format in ("csv", "tsv") else value


def _check_values(values: list[Any], what: str, format: str) -> None:
    if values and all(type(value) is int for value in values):
        if len(set(values)) < len(values):
            raise VotesError(f"a {what} is there twice; give each {what} a name of its own")
        return
    written = [cell_value(value, format) for value in values]
    back = spelled_labels(written, Reading(), what).labels if what == "label" else tidy(written, column=what)
    for value, read in zip(written, back, strict=True):
        if read is None:
            meaning = "no vote" if what == "label" else "an empty name"
            raise VotesError(f"{what} {value!r} would read back as {meaning}; rename it first")
        if read != value and str(read) != str(value):
            raise VotesError(f"{what} {value!r} would read back as {read!r}; rename it first")
    if len(set(map(str, back))) < len(back):
        twice = next(value for value in back if list(map(str, back)).count(str(value)) > 1)
        raise VotesError(f"two {what}s would both read back as {twice!r}; give each a name of its own")
    text = "\n".join(map(str, values))
    if format in ("csv", "tsv") and (unsafe := _UNSAFE.search(text)):
        raise VotesError(f"a {what} holds {unsafe[0]!r}, which {format.upper()} cannot; write .jsonl or .parquet")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise VotesError(f"a {what} holds {text[error.start]!a}, which is no valid character") from None


def _check_header(votes: Votes, layout: str, format: str) -> None:
    """One column per juror: a juror called "item", "count" or "truth" would be read as something else."""
    names, jurors = header(votes, layout), len(votes.jurors)
    way_out = "write the long layout or a sketch instead (--to long, --to sketch)"
    try:
        read = find_layout([name.strip() for name in names], Reading(), lambda: _facts(votes, names))
    except VotesError as error:
        raise VotesError(f"the {layout} layout would not read back: {error}; {way_out}") from None
    first = 1 if layout == "wide" else 0
    if read.kind != layout or read.votes != tuple(range(first, first + jurors)):
        strange = next((j for j in votes.jurors if names.index(j) not in read.votes), votes.jurors[0])
        raise VotesError(f"in the {layout} layout juror {strange!r} would be taken for something else; {way_out}")
    if any(name != name.strip() for name in names):
        raise VotesError(f"a juror's name begins or ends with a blank, which a column's name cannot; {way_out}")
    if format in ("json", "jsonl", "parquet") and len({name.lower() for name in names}) < len(names):
        raise VotesError(f"two jurors' names differ only by case, which {format} columns cannot; {way_out}")
    if format == "csv" and _delimiter(names) != ",":
        raise VotesError(f"the jurors' names hold so many {_delimiter(names)!r} that they look like columns; {way_out}")


def _facts(votes: Votes, names: Sequence[str]) -> Facts:
    """What a reader would see in the first rows."""
    most = head_rows(len(names))
    labels = np.array([*votes.labels, None], dtype=object)
    columns = [labels[column].tolist() for column in votes.codes[:most].T]
    if votes.counts is None:
        columns.insert(0, votes.item_names()[:most].tolist())
    else:
        columns.append(votes.counts[:most].tolist())
    return facts_of_columns([name.strip() for name in names], columns, votes.rows if votes.rows <= most else None)


def header(votes: Votes, layout: str) -> list[str]:
    """The names of the columns."""
    if layout == "long":
        return ["item", "juror", "label"]
    return ["item", *votes.jurors] if layout == "wide" else [*votes.jurors, "count"]


def _delimiter(names: Sequence[str]) -> str:
    """What a reader would take for the delimiter."""
    line = io.StringIO()
    csv.writer(line).writerow(names)
    choices = [",", "\t", ";", "|"]
    return max(choices, key=lambda d: len(next(csv.reader(io.StringIO(line.getvalue(), newline=""), delimiter=d))))
