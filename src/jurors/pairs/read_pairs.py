"""Preferences from files and dataframes: rows of juror, left, right and winner, through the reading of votes."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from jurors.errors import VotesError
from jurors.options import PairOptions, PairReading, Reading
from jurors.pairs.preferences import Ints, Preferences
from jurors.pairs.row_answers import answers_of
from jurors.votes.cells import Column, in_natural_order, tidy
from jurors.votes.columns.pair_columns import PairColumns, may_name_pairs, pair_columns, pairs_for_sure
from jurors.votes.files.faults import row_fault
from jurors.votes.files.source import Table, open_table
from jurors.votes.frame import collected, column, is_frame, open_frame
from jurors.votes.label_codes import factorize
from jurors.votes.layout import shown
from jurors.votes.read import factorized

_HEAD = 20_000
EVERYONE = "everyone"  # the juror of a table that names none


def read_pairs(source: Any, **reading: Unpack[PairOptions]) -> Preferences:
    r"""Read who preferred which of two objects.

    Parameters
    ----------
    source
        A path, a pattern, "-", a file object, a list of these (see `read_votes`), or a dataframe. A row holds two
        objects (`left,right`, `model_a,model_b`, `object1,object2` …) and who won: a side (`left`, `model_a`, `A`,
        `[[A]]`, `A>B`), the object's own name, or a tie (`tie`, `tie (bothbad)`, `A=B`). Or a winner and a loser: then
        nobody knows which was shown first. A column may name the juror, and one what the two were asked about.
    left, right, winner, juror, item
        The names of these columns, where they are not the usual ones.
    map
        What answers mean that are called otherwise: `{"1": "first", "0": "second"}`.
    missing
        Answers that mean none, besides empty cells and words that can mean nothing else.

    Raises
    ------
    VotesError
        In one line: what was found, in which file, row and column, and what to do.

    Examples
    --------
    >>> import io
    >>> read_pairs(io.StringIO("judge,model_a,model_b,winner\ngpt,x,y,model_a\ngpt,y,x,tie\n"))
    Preferences(2 objects, 1 jurors, 2 answers, 1 ties)
    """
    told = PairReading.of(reading)
    if isinstance(source, Preferences):
        return source
    if not isinstance(source, (str, Path, list, tuple)) and is_frame(source):
        frame = open_frame(source)
        columns = _checked(pair_columns(frame.names, frame.facts, told), frame.names)
        rows = collected(frame.table)
        cells = [column(rows[:, k], frame.names[k]) for k in columns.used]
        return _preferences(columns, frame.names, cells, told)
    with open_table(source, told.files()) as table:
        return preferences_of(table, told)


def preferences_of(table: Table, told: PairReading) -> Preferences:
    """The preferences in a table."""
    columns = _checked(pair_columns(table.names, table.facts, told), table.names)
    kept = table.keep(columns.used)
    return _preferences(columns, table.names, factorized(kept, columns.used), told)


def holds_pairs(source: Any, options: Reading) -> bool:
    """Whether a file is a table whose columns and cells show that objects were compared, and not items labelled."""
    if not _may_hold(source):
        return False
    try:
        with open_table(source, options) as table:
            return pairs_for_sure(table.names, table.facts) is not None
    except VotesError:  # what is wrong with it is told by whoever reads it
        return False


def _may_hold(source: Any) -> bool:
    """Whether the first bytes of a plain file leave it open: opening a large one only to look would cost time."""
    paths = [
        Path(one) for one in ([source] if isinstance(source, (str, Path)) else source) if isinstance(one, (str, Path))
    ]
    if len(paths) != 1 or not paths[0].is_file():
        return True
    try:
        with paths[0].open("rb") as stream:
            head = stream.read(_HEAD)
        head = zlib.decompressobj(wbits=31).decompress(head, _HEAD) if head[:2] == b"\x1f\x8b" else head
    except (OSError, zlib.error):
        return True
    if b"\0" in head[:100]:  # Parquet, UTF-16
        return True
    words = re.findall(r"\w[\w .-]*", head.decode("utf-8", "replace"))
    return may_name_pairs([word.strip() for word in words])


def _checked(columns: PairColumns | None, names: Sequence[str]) -> PairColumns:
    if columns is None:
        raise VotesError(
            f"no columns of two objects and a winner among {shown(names)}; name them with left=, right= and winner= "
            "(--left, --right, --winner COLUMN)",
            code="no_votes_table",
            columns=tuple(names),
        )
    return columns


def _preferences(columns: PairColumns, names: Sequence[str], cells: Sequence[Column], told: PairReading) -> Preferences:
    """From the used columns, each as distinct values and the code of each row."""
    by_place = dict(zip(columns.used, cells, strict=True))
    left, right = (_named(by_place[k], names[k], "object") for k in (columns.left, columns.right))
    objects, codes = factorize([*left[0], *right[0]])
    one, two = codes[left[1]], codes[len(left[0]) + right[1]]
    asked = answers_of(columns, names, by_place, (left, right), told)
    outcome, answered = (np.concatenate([getattr(one, part) for one in asked]) for part in ("outcome", "answered"))
    sides = [(two, one) if ask.swapped else (one, two) for ask in asked]
    first, second = (np.concatenate([pair[k] for pair in sides]) for k in (0, 1))
    jurors, juror = _jurors(columns, names, by_place, len(one))
    items, item = ([], None) if columns.item is None else _named(by_place[columns.item], names[columns.item], "item")
    given = answered & (first != second)
    if not given.any():
        raise VotesError("no row holds two objects and an answer", code="empty")
    ordered, places = in_natural_order(objects, np.arange(len(objects)))
    return Preferences(
        objects=tuple(map(str, ordered)),
        jurors=jurors,
        juror=juror[given],
        left=places[first][given],
        right=places[second][given],
        outcome=outcome[given],
        item=None if item is None else np.tile(item, len(asked))[given],
        items=tuple(items),
        is_placed=columns.winner is not None,
        remarks=_remarks(columns, names, told, int((~answered).sum()), int((first == second).sum())),
    )


def _named(cells: Column, name: str, what: str) -> tuple[list[Any], NDArray[Any]]:
    """Names as text and the code of each row; none may be missing."""
    values = [None if value is None else str(value) for value in tidy(cells[0], column=name)]
    if None in values:
        gaps = np.array([value is None for value in values])[cells[1]]
        if gaps.any():
            row = int(np.argmax(gaps)) + 1
            raise row_fault(row, f"column {name!r}: the {what} is empty; give it a name, or take the row out")
    distinct, codes = factorize(values)
    return distinct, codes[cells[1]]


def _jurors(
    columns: PairColumns, names: Sequence[str], cells: dict[int, Column], rows: int
) -> tuple[tuple[str, ...], Ints]:
    if columns.several == "jurors":
        return tuple(names[k] for k in columns.answers), np.repeat(np.arange(len(columns.answers)), rows)
    again = 2 if columns.several == "orders" else 1
    if columns.juror is None:
        return (EVERYONE,), np.zeros(rows * again, dtype=np.int64)
    values, code = cells[columns.juror]
    told = [", ".join(map(str, value)) if isinstance(value, list) else value for value in values]  # model and prompt
    known, code = _named((told, code), names[columns.juror], "juror")
    ordered, code = in_natural_order(known, code)
    return tuple(map(str, ordered)), np.tile(code, again)


def _remarks(columns: PairColumns, names: Sequence[str], told: PairReading, absent: int, same: int) -> tuple[str, ...]:
    """What was taken for what, and what was left out."""
    left, right = names[columns.left], names[columns.right]
    who = f"the juror is {names[columns.juror]!r}" if columns.juror is not None else "no column names a juror"
    answers = shown([names[k] for k in columns.answers or (columns.winner,) if k is not None])
    answer = f", the answer is {answers}" if columns.winner is not None else ""
    if columns.several is not None:
        answer = f", the answers are {answers}" + (" in the other order" if columns.several == "orders" else "")
    if columns.several == "flag":
        answer = f", the answer is {answers}" + ("" if told.names else " (0: the other side won)")
    who = "each a juror's" if columns.several == "jurors" else who
    what = "winners and losers" if columns.winner is None else "the two objects"
    remarks = [f"columns {left!r} and {right!r} are {what}{answer}, {who}"]
    if columns.item is not None:
        remarks.append(f"column {names[columns.item]!r} says what they were compared on")
    if told.names:
        remarks.append("as you say, " + ", ".join(f"{old!r} is {new}" for old, new in told.names.items()))
    if columns.winner is None:
        remarks.append("nobody knows which stood first: no lean")
    if absent:
        remarks.append(f"{absent:,} rows without an answer are left out")
    if same:
        remarks.append(f"{same:,} rows that compare an object with itself are left out")
    return tuple(remarks)
