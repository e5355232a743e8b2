"""Votes into a file that reads back the same: long, wide, counts or a sketch; CSV, TSV, JSON, JSON lines or Parquet.

Before anything is written, labels, names and headers that a reader would take for something else are refused. Files
are written whole or not at all.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from jurors._files import atomic_path, atomic_write, is_stream
from jurors.errors import OutputError, VotesError, check_choice
from jurors.options import Reading
from jurors.results import without_formula
from jurors.votes.codes import NO_VOTE, python_value
from jurors.votes.io.local_files import first_line
from jurors.votes.io.sources import CELLS, ENDINGS, PACKED, SKETCH_ENDING, WRITTEN, is_sketch_name, named_format
from jurors.votes.layout import ColumnProfile, head_rows, profile_columns
from jurors.votes.layout_detection import find_layout
from jurors.votes.read import clean_cells, spelled_labels
from jurors.votes.readers import load_reader
from jurors.votes.table import Votes, abstentions_as_word, group_rows

_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f]")  # a reader drops carriage returns and takes control characters for binary


def _check_values(values: list[Any], what: str, format: str) -> None:
    """Refuse values that would not read back as they are; `what` they are, for messages."""
    if all(type(value) is int for value in values) and len(set(values)) == len(values):
        return
    written = [str(value) if format in CELLS else value for value in values]
    back = spelled_labels(written, Reading(), what).labels if what == "label" else clean_cells(written, column=what)
    for value, read in zip(written, back, strict=True):
        if read is None:
            meaning = "no vote" if what == "label" else "an empty name"
            raise VotesError(f"{what} {value!r} would read back as {meaning}; rename it first")
        if read != value and str(read) != str(value):
            raise VotesError(f"{what} {value!r} would read back as {read!r}; rename it first")
    if len(set(map(str, back))) < len(back):
        twice = next(value for value in back if list(map(str, back)).count(str(value)) > 1)
        raise VotesError(f"two {what}s would both read back as {twice!r}; give each a different name")
    text = "\n".join(map(str, values))
    if format in ("csv", "tsv") and (unsafe := _UNSAFE.search(text)):
        raise VotesError(f"a {what} holds {unsafe[0]!r}, which {format.upper()} cannot; write .jsonl or .parquet")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise VotesError(f"a {what} holds {text[error.start]!a}, which is not a valid character") from None


def _check_header(votes: Votes, layout: str, format: str) -> None:
    """One column per juror: a juror called "item", "count" or "truth" would be read as something else."""
    names, jurors = header(votes, layout), len(votes.jurors)
    stripped = [name.strip() for name in names]
    way_out = "write the long layout or a sketch instead (--to long, --to sketch)"

    def first_rows() -> ColumnProfile:
        """What a reader would see in the first rows."""
        most = head_rows(len(names))
        labels = np.array([*votes.labels, None], dtype=object)
        columns = [labels[column].tolist() for column in votes.codes[:most].T]
        if votes.counts is None:
            columns.insert(0, votes.item_names()[:most].tolist())
        else:
            columns.append(votes.counts[:most].tolist())
        return profile_columns(stripped, columns, votes.rows if votes.rows <= most else None)

    try:
        read = find_layout(stripped, Reading(), first_rows)
    except VotesError as error:
        raise VotesError(f"the {layout} layout would not read back: {error}; {way_out}") from None
    first = 1 if layout == "wide" else 0
    if read.kind != layout or read.votes != tuple(range(first, first + jurors)):
        strange = next((j for j in votes.jurors if names.index(j) not in read.votes), votes.jurors[0])
        raise VotesError(f"in the {layout} layout juror {strange!r} would be taken for something else; {way_out}")
    if names != stripped:
        raise VotesError(f"a juror's name begins or ends with a blank, which a column's name cannot; {way_out}")
    if format in ("json", "jsonl", "parquet") and len({name.lower() for name in names}) < len(names):
        raise VotesError(f"two jurors' names differ only by case, which {format} columns cannot; {way_out}")
    marks = [mark for mark in "\t;|" if "".join(names).count(mark) >= len(names)]
    if format == "csv" and marks:
        raise VotesError(f"the jurors' names hold so many {marks[0]!r} that they look like columns; {way_out}")


def header(votes: Votes, layout: str) -> list[str]:
    """The names of the columns."""
    if layout == "long":
        return ["item", "juror", "label"]
    return ["item", *votes.jurors] if layout == "wide" else [*votes.jurors, "count"]


# -- writing ----------------------------------------------------------------------------------------------------------

WriteLayout: TypeAlias = Literal["long", "wide", "counts", "sketch"]
LAYOUTS: tuple[WriteLayout, ...] = ("long", "wide", "counts", "sketch")
_CHUNK = 100_000
_MOST_ITEMS = 1 << 31


def write_votes(votes: Votes, path: str | os.PathLike[str], *, layout: WriteLayout | None = None) -> None:
    """Write votes so that `read_votes` gives them back; the file is written whole or not at all.

    Parameters
    ----------
    path
        Its ending says the format: .csv, .tsv, .json, .jsonl, .parquet (text also with .gz), or .sketch.json.
    layout
        "long", "wide", "counts" or "sketch"; by default a sketch where the name says so, counts where the votes are
        counts, and long for all else.

    Raises
    ------
    OutputError
        Where the file cannot be written.
    VotesError
        Where something would not read back as it is: a label such as "" or "NaN", which means no vote; a juror called
        "count" as the name of a column.

    Examples
    --------
    >>> import tempfile
    >>> from jurors.votes.read import read_votes
    >>> votes = Votes.from_matrix([["yes", "no"], ["no", None]], items=["q", "r"], jurors=("ann", "bob"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_votes(votes, f"{folder}/votes.csv", layout="wide")
    ...     print(Path(f"{folder}/votes.csv").read_text(), read_votes(f"{folder}/votes.csv"))
    item,ann,bob
    q,yes,no
    r,no,
     Votes(2 items, 2 jurors, 3 votes, labels no, yes)

    """
    target = Path(path)
    selected = select_layout(votes, target, layout)
    if (kind := _format_of(target, selected)) == "parquet":
        _write_parquet(_written(votes, selected, kind), selected, target)
    else:
        atomic_write(target, votes_text(votes, selected, kind))


def votes_text(votes: Votes, layout: WriteLayout, format: str = "csv") -> Iterator[str]:
    """The votes as text.

    Returns
    -------
    iterator of str
        Pieces of 100,000 lines.

    Examples
    --------
    >>> print(*votes_text(Votes.from_matrix([["yes", "a,b"]], jurors=("ann", "bob")), "long"), end="")
    item,juror,label
    0,ann,yes
    0,bob,"a,b"
    """
    if layout == "sketch":
        return iter((load_reader("sketch").text_of(votes),))
    votes = _written(votes, layout, format)
    lines = _csv_lines(votes, layout, format) if format in CELLS else _json_lines(votes, layout, format)
    return iter(lambda: "".join(islice(lines, _CHUNK)), "")


def select_layout(votes: Votes, path: Path | None, layout: WriteLayout | None = None) -> WriteLayout:
    """The layout that the caller names, or the one that the name and the votes suggest."""
    if layout is not None:
        return cast(WriteLayout, check_choice(layout, LAYOUTS, "layout"))
    if path is not None and is_sketch_name(path.name):
        return "sketch"
    return "long" if votes.counts is None else "counts"


def layout_losses(votes: Votes, layout: WriteLayout) -> list[str]:
    """What this layout does not store of these votes.

    Returns
    -------
    list of str
        One sentence for each loss.
    """
    losses = []
    if votes.repeats is not None:
        losses.append("the vote is kept that a juror's repeats came to, not each of them")
    if layout in ("counts", "sketch") and votes.counts is None:
        losses.append(f"the {layout} layout counts decision tuples: which item is which is not kept")
    if layout in ("long", "wide") and votes.counts is not None:
        losses.append("counts of decision tuples name no items: they are numbered from 0")
    return losses


def _format_of(path: Path, layout: WriteLayout) -> str:
    kind = named_format(path.name)
    if kind is None and is_stream(path):  # whose name says nothing: as on standard output
        return "json" if layout == "sketch" else "csv"
    if kind not in WRITTEN:
        endings = ", ".join(ending for ending, written in ENDINGS.items() if written in WRITTEN)
        raise OutputError(f"{path}: the name must end in {endings} (text also .gz)")
    if layout == "sketch" and kind != "json":
        raise OutputError(f"{path}: a sketch file is JSON; call it {path.name.split('.')[0]}{SKETCH_ENDING}")
    if kind == "parquet" and path.suffix.lower() == PACKED:
        raise OutputError(f"{path}: Parquet is packed already; leave .gz out")
    return kind


# -- rows and columns -----------------------------------------------------------------------------------------


def _written(votes: Votes, layout: WriteLayout, format: str) -> Votes:
    """The votes as their rows are written, with a word for abstaining; refused where they would not read back."""
    arranged = _arranged(votes, layout)
    if not arranged.n_votes:
        raise VotesError("there is no vote to write")
    items = [] if arranged.items is None else arranged.items.tolist()
    for what, values in (("label", list(votes.labels)), ("juror", list(votes.jurors)), ("item", items)):
        _check_values(values, what, format)
    if layout != "long":
        _check_header(arranged, layout, format)
    if votes.abstained is not None and len(votes.labels) < 2:
        raise VotesError("with fewer than two labels abstentions would read back as an answer; write a sketch instead")
    return arranged if votes.abstained is None else _arranged(abstentions_as_word(votes), layout)


def _arranged(votes: Votes, layout: WriteLayout) -> Votes:
    """One row per item for long and wide, one row per distinct tuple for counts."""
    counts: NDArray[np.int64] | None = None
    if layout == "counts":
        weights = votes.weights
        rows, counts = group_rows(votes.codes[weights > 0], weights[weights > 0])
    elif votes.counts is None:
        return votes
    elif votes.total > _MOST_ITEMS:
        raise VotesError(f"{votes.total:,} items are too many rows; write counts or a sketch (--to counts)")
    else:
        rows = np.repeat(votes.codes, votes.counts, axis=0)
    return replace(
        votes, rows=len(rows), items=None, counts=counts, abstained=None, repeats=None, _dense=rows, _sparse=None
    )


def _long_codes(votes: Votes) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The votes as triples, and an empty one (-1) for each item and each juror without any, so that none is lost."""
    row, col, code = votes.triples()
    without_jurors = np.setdiff1d(np.arange(votes.rows), row)
    without_votes = np.setdiff1d(np.arange(len(votes.jurors)), col)
    row = np.concatenate([row, without_jurors, np.zeros_like(without_votes)])
    col = np.concatenate([col, np.zeros_like(without_jurors), without_votes])
    code = np.concatenate([code, np.full(len(without_jurors) + len(without_votes), NO_VOTE)])
    order = np.argsort(row, kind="stable")
    return row[order], col[order], code[order]


def _coded_columns(votes: Votes, layout: WriteLayout) -> list[tuple[str, NDArray[Any]]]:
    """For each column what it holds (items, jurors, labels or counts) and the position of each cell among these."""
    if layout == "long":
        return list(zip(("items", "jurors", "labels"), _long_codes(votes), strict=True))
    cells = [("labels", column) for column in np.ascontiguousarray(votes.codes.T)]
    return [("items", np.arange(votes.rows)), *cells] if votes.counts is None else [*cells, ("counts", votes.counts)]


def _columns(votes: Votes, layout: WriteLayout, show: Callable[[Any], str], missing: str) -> list[list[str]]:
    """Every column as cells, each distinct value shown once."""
    items = _shown([] if layout == "counts" else votes.item_names().tolist(), show)
    shown = {"items": items, "jurors": _shown(votes.jurors, show), "labels": _shown(votes.labels, show, missing)}
    return [
        shown[what][codes].tolist() if what in shown else list(map(str, codes.tolist()))
        for what, codes in _coded_columns(votes, layout)
    ]


def _shown(values: Sequence[Any], show: Callable[[Any], str], *last: str) -> NDArray[Any]:
    array = np.empty(len(values) + len(last), dtype=object)
    array[:] = [*map(show, map(python_value, values)), *last]
    return array


# -- formats --------------------------------------------------------------------------------------------------


def _csv_lines(votes: Votes, layout: WriteLayout, format: str) -> Iterator[str]:
    delimiter = "," if format == "csv" else "\t"

    def quoted(value: Any) -> str:
        text = without_formula(str(value))
        plain_text = not any(mark in text for mark in (delimiter, '"', "\n")) and text == text.strip()
        return text if plain_text and text else '"' + text.replace('"', '""') + '"'

    yield delimiter.join(map(quoted, header(votes, layout))) + "\n"
    for cells in zip(*_columns(votes, layout, quoted, ""), strict=True):
        yield delimiter.join(cells) + "\n"


def _json_lines(votes: Votes, layout: WriteLayout, format: str) -> Iterator[str]:
    def written(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)

    names = [written(name) for name in header(votes, layout)]
    record = "{" + ", ".join(name.replace("%", "%%") + ": %s" for name in names) + "}"
    rows = zip(*_columns(votes, layout, written, "null"), strict=True)
    if format == "jsonl":
        yield from (f"{record % cells}\n" for cells in rows)
        return
    yield "[\n" + record % next(rows)
    yield from (f",\n{record % cells}" for cells in rows)
    yield "\n]\n"


def _write_parquet(votes: Votes, layout: WriteLayout, path: Path) -> None:
    import duckdb

    labels = [python_value(label) for label in votes.labels]
    if len({type(label) for label in labels}) > 1:
        labels = [str(label) for label in labels]
    items = votes.item_names()
    whole = items.dtype.kind in "iu"
    named = items if whole else np.array([str(item) for item in items.tolist()], dtype=object)
    values = {"items": named, "jurors": np.array(votes.jurors, dtype=object)}
    columns = _coded_columns(votes, layout)
    arrays = {f"c{k}": values[what][codes] if what in values else codes for k, (what, codes) in enumerate(columns)}
    cells = [f"($labels)[c{k}::INTEGER + 1]" if what == "labels" else f"c{k}" for k, (what, _) in enumerate(columns)]
    names = ['"' + name.replace('"', '""') + '"' for name in header(votes, layout)]
    select = ", ".join(f"{cell} AS {name}" for cell, name in zip(cells, names, strict=True))
    try:
        with atomic_path(path) as draft, duckdb.connect() as con:
            str(draft).encode()  # DuckDB takes no file name with bytes that are not text
            con.register("votes", arrays)
            con.sql(f"SELECT {select} FROM votes", params={"labels": labels}).write_parquet(str(draft))
    except (duckdb.Error, UnicodeError) as error:
        raise OutputError(f"cannot write {path}: {first_line(error)}") from None
