"""Votes as they come in: rows, dataframes in the long layout, `Votes`. Names and labels as in one read of a file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from jurors.errors import VotesError
from jurors.numbers.arrays import Floats, Integers
from jurors.votes import Label, Votes
from jurors.votes.cells import tidy
from jurors.votes.frame import Frame, collected, is_frame, open_frame
from jurors.votes.label_codes import factorize, is_missing, plain
from jurors.votes.layout import Layout, find_column, guess_column, named_long, shown

TIME_WORDS = ("time", "timestamp", "date", "datetime", "created", "createdat")
LAST_TIME = 253_402_300_800.0  #: the end of the year 9999, in seconds
UNTIMED = -math.inf  #: the time of a vote that has none: any other is later


@dataclass(frozen=True)
class Batch:
    """Some votes, as positions among distinct names; items by first appearance."""

    items: list[str]
    jurors: list[str]
    labels: Sequence[Label | None]  #: None where a value means no vote; no row has it
    item: Integers
    juror: Integers
    label: Integers
    time: Floats | None  #: seconds since 1970; `UNTIMED` where a vote has none, None where none has any

    def __len__(self) -> int:
        return len(self.item)


def as_batch(source: Any, **columns: str | None) -> Batch:
    """A batch from a dataframe (long), `Votes`, or rows: (item, juror, label[, time]) or mappings with these keys."""
    if isinstance(source, Votes):
        return _from_votes(source)
    if is_frame(source):
        return _from_frame(open_frame(source), columns)
    return _from_rows(source)


def _from_votes(votes: Votes) -> Batch:
    if votes.counts is not None:
        raise VotesError("these votes are counts without items; add sketches with `+`, a monitor needs who said what")
    row, col, code = votes.triples()
    return batch_of((votes.item_names()[row], (list(votes.jurors), col), (list(votes.labels), code)))


def _from_rows(rows: Iterable[Any]) -> Batch:
    columns: tuple[list[Any], ...] = ([], [], [], [])
    for number, row in enumerate(rows, 1):
        for column, cell in zip(columns, _cells(row, number), strict=True):
            column.append(cell)
    times = None if all(map(is_missing, columns[3])) else columns[3]
    return batch_of(columns[:3], times)


def _cells(row: Any, number: int) -> Sequence[Any]:
    if isinstance(row, Mapping):
        cells = [row.get(name) for name in ("item", "juror", "label", "time")]
    elif isinstance(row, (tuple, list)) and len(row) in (3, 4):
        cells = [*row, None][:4]
    else:
        message = f"row {number} is no vote: give (item, juror, label) or (item, juror, label, time), or a mapping"
        raise VotesError(message, code="bad_row", row=number)
    return cells


def _from_frame(frame: Frame, columns: Mapping[str, str | None]) -> Batch:
    """By the columns' names alone: what a column is must not change from batch to batch."""
    names = frame.names
    given = {role: find_column(names, name) for role, name in columns.items() if name is not None}
    time = given.pop("time", None)
    time = guess_column(names, TIME_WORDS, given.values()) if time is None else time
    places = named_long(names, given, set() if time is None else {time})
    for role, place in places.items():
        if place is None:
            message = (
                f"one vote per row needs the columns item, juror and label, but none of {shown(names)} is the {role}"
            )
            raise VotesError(f"{message}; name it with {role}=", code="no_label_column", columns=names)
    # The columns of a layout alone are brought back; that of the times takes the place of counts.
    layout = Layout(kind="long", item=places["item"], juror=places["juror"], label=places["label"], count=time)
    table = collected(frame.keep(layout))
    said = [_column(table[f"c{place}"]) for place in (layout.item, layout.juror, layout.label)]
    return batch_of(said, None if time is None else _times(table[f"c{time}"]))


def _column(series: Any) -> Any:
    """Distinct values by first appearance and the position of each row's, by Arrow where it can: it is far quicker."""
    if series.dtype.is_integer() and not series.is_null().any():
        return series.to_numpy()
    try:
        import pyarrow
    except ImportError:
        return series.to_list()
    try:
        array = series.to_arrow()
        array = array.combine_chunks() if isinstance(array, pyarrow.ChunkedArray) else array
        if pyarrow.types.is_dictionary(array.type):  # which may hold values that no row has
            return series.to_list()
        encoded = array.dictionary_encode(null_encoding="encode")
        return encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False)
    except (pyarrow.ArrowException, TypeError):  # a column of several types
        return series.to_list()


def _times(series: Any) -> Any:
    kind = series.dtype
    if kind.is_numeric() and not series.is_null().any():
        return series.to_numpy().astype(np.float64)
    return series.to_list()


def batch_of(columns: Sequence[Any], times: Any = None) -> Batch:
    """A batch from the items, jurors and labels of votes, each a column or (distinct values, positions)."""
    if len({len(column[1] if isinstance(column, tuple) else column) for column in columns}) > 1:
        raise VotesError("item, juror and label differ in length")
    (items, item), (jurors, juror), (labels, label) = (
        column if isinstance(column, tuple) else _factorized(column, what)
        for column, what in zip(columns, ("item", "juror", "label"), strict=True)
    )
    item, juror, label = np.asarray(item), np.asarray(juror), np.asarray(label)
    cells = [_label(one) for one in labels]
    time = None if times is None else seconds_of(times)
    if is_part := None in cells:
        kept = np.array([cell is not None for cell in cells])[label]
        item, juror, label = item[kept], juror[kept], label[kept]
        time = None if time is None else time[kept]
    items, item = _heard(items, item, "item", is_part=is_part)
    jurors, juror = _heard(jurors, juror, "juror", is_part=is_part)
    return Batch(items, jurors, cells, item, juror, label, time)


def _factorized(column: Any, what: str) -> tuple[list[Any], Integers]:
    try:
        return factorize(column)
    except TypeError:  # not even to be compared
        tidy(column, column=what)
        raise VotesError(f"a {what} must be text or a number") from None


def _heard(values: Any, code: Integers, what: str, *, is_part: bool) -> tuple[list[str], Integers]:
    """The names that are in some row, by first appearance."""
    names = [None if name is None else str(name) for name in _tidy_names(values, what)]
    if is_part or len(set(names)) < len(names):
        distinct, again = factorize(names)
        present, code = factorize(again[code])
        names = [distinct[k] for k in present]
    if None in names:
        row = int(np.argmax(code == names.index(None))) + 1
        raise VotesError(f"row {row}: the {what} is empty; give it a name", code="bad_row", row=row)
    return [name for name in names if name is not None], code


def _tidy_names(values: Any, what: str) -> list[Any]:
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    return (
        listed if listed and type(listed[0]) is int and set(map(type, listed)) == {int} else tidy(listed, column=what)
    )


def _label(value: Any) -> Label | None:
    """One label, as `tidy` has it, whatever came beside it: batches must not differ."""
    return None if (cell := tidy([value], column="label")[0]) is None else plain(cell)


# -- times ------------------------------------------------------------------------------------------------------------


def seconds_of(times: Any) -> Floats:
    """A column of times as seconds since 1970."""
    if isinstance(times, np.ndarray) and times.dtype.kind == "f" and (np.abs(times) < LAST_TIME).all():
        return np.asarray(times, dtype=np.float64)
    distinct, code = factorize(times)
    return np.array([seconds(one) for one in distinct], dtype=np.float64)[code]


def seconds(time: Any) -> float:
    """A time as seconds since 1970: a number, a datetime (UTC unless it says otherwise) or ISO 8601 text.

    >>> seconds("1970-01-01T00:01:00Z"), seconds("1970-01-01 01:00:00+01:00"), seconds(None)
    (60.0, 0.0, -inf)
    """
    if is_missing(time):
        return UNTIMED
    value = plain(time)
    if isinstance(value, str):
        value = _parsed(value)
    if isinstance(value, datetime):
        value = (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise VotesError(f"time {str(time)[:40]!r} is none: give seconds since 1970, a datetime, or ISO 8601 text")
    if abs(value) >= LAST_TIME:
        raise VotesError(f"time {str(time)[:40]!r} lies past the year 9999: give seconds since 1970, not milliseconds")
    return float(value)


def _parsed(text: str) -> Any:
    for reader in (float, datetime.fromisoformat):
        try:
            return reader(text.strip())
        except ValueError:
            continue
    return None
