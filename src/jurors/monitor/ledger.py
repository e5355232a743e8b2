"""Open items."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from jurors._numeric import Flags, Floats, Integers
from jurors.errors import VotesError
from jurors.monitor.windows import (
    ClosedWindows,
    CodedVotes,
    PaneRecoding,
    Panes,
    Window,
    from_text,
    keys_of,
    to_text,
    votes_in,
)
from jurors.votes import Label, Votes
from jurors.votes.codes import factorize, is_missing, python_value
from jurors.votes.frame import Frame, collect, is_frame, open_frame
from jurors.votes.layout import Layout, find_column, guess_column, named_long, quoted_names
from jurors.votes.read import clean_cells

# Votes as they come in: rows, dataframes in the long layout, `Votes`. Names and labels as in one read of a file.


TIME_WORDS = ("time", "timestamp", "date", "datetime", "created", "createdat")
LAST_TIME = 253_402_300_800.0  #: the end of the year 9999, in seconds
UNTIMED = -math.inf  #: the time of a vote that has none: any other is later


@dataclass(frozen=True)
class VoteBatch:
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


def as_batch(source: Any, **columns: str | None) -> VoteBatch:
    """A batch from a dataframe (long), `Votes`, or rows: (item, juror, label[, time]) or mappings with these keys."""
    if isinstance(source, Votes):
        return _from_votes(source)
    if is_frame(source):
        return _from_frame(open_frame(source), columns)
    return _from_rows(source)


def _from_votes(votes: Votes) -> VoteBatch:
    if votes.counts is not None:
        raise VotesError("these votes are counts without items; add sketches with `+`, a monitor needs who said what")
    row, col, code = votes.triples()
    return batch_of((votes.item_names()[row], (list(votes.jurors), col), (list(votes.labels), code)))


def _from_rows(rows: Iterable[Any]) -> VoteBatch:
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


def _from_frame(frame: Frame, columns: Mapping[str, str | None]) -> VoteBatch:
    """By the columns' names alone: what a column is must not change from batch to batch."""
    names = frame.names
    given = {role: find_column(names, name) for role, name in columns.items() if name is not None}
    time = given.pop("time", None)
    time = guess_column(names, TIME_WORDS, given.values()) if time is None else time
    places = named_long(names, given, set() if time is None else {time})
    for role, place in places.items():
        if place is None:
            message = (
                "one vote per row needs the columns item, juror and label, but none of "
                f"{quoted_names(names)} is the {role}"
            )
            raise VotesError(f"{message}; name it with {role}=", code="no_label_column", columns=names)
    # The columns of a layout alone are brought back; that of the times takes the place of counts.
    layout = Layout(kind="long", item=places["item"], juror=places["juror"], label=places["label"], count=time)
    table = collect(frame.keep(layout))
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


def batch_of(columns: Sequence[Any], times: Any = None) -> VoteBatch:
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
    return VoteBatch(items, jurors, cells, item, juror, label, time)


def _factorized(column: Any, what: str) -> tuple[list[Any], Integers]:
    try:
        return factorize(column)
    except TypeError:  # not even to be compared
        clean_cells(column, column=what)
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
        listed
        if listed and type(listed[0]) is int and set(map(type, listed)) == {int}
        else clean_cells(listed, column=what)
    )


def _label(value: Any) -> Label | None:
    """One label, as `clean_cells` has it, whatever came beside it: batches must not differ."""
    return None if (cell := clean_cells([value], column="label")[0]) is None else python_value(cell)


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
    value = python_value(time)
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


def supersedes(time: Any, standing: Any, standing_time: Any) -> Any:
    """Whether a vote takes the place of the one that stands for the same item and juror.

    A juror has one vote on an item, so the same vote again changes nothing and another label corrects. Of two votes
    the one with the later own time stands; with equal times, or none, the one that arrived later. A vote without a time
    (`UNTIMED`) is earlier than any with one.

    Parameters
    ----------
    time
        The own time of the vote that arrives, a number or an array of them in order of arrival.
    standing
        The code of the vote that stands, 0 for none.
    standing_time
        Its own time.

    Returns
    -------
    bool or array of bool
        For each vote, whether it is stored.

    Examples
    --------
    >>> supersedes(5.0, standing=0, standing_time=UNTIMED), supersedes(5.0, standing=2, standing_time=7.0)
    (True, False)
    >>> supersedes(np.array([7.0, UNTIMED]), np.array([2, 1]), np.array([7.0, UNTIMED])).tolist()
    [True, True]
    """
    return (standing == 0) | (time >= standing_time)


# The ledger: what was said of the items that are still open, so that repeated and corrected votes count once.
#
# Per item its pane, the time of its first vote, its key as it is counted now, and when each vote was cast. An item is
# closed when so many newer ones have come; then only its counts are left, and a fingerprint of its name, by which a
# late vote is known.


_CELLS = 1 << 22  # items x jurors that are worked on at a time

#: of an open item: its pane, the time of its first vote, its key, its votes' times (8 bytes each; none if untimed)
Entry: TypeAlias = tuple[int, float, bytes, bytes]
_NEW: Entry = (0, np.inf, b"", b"")


@dataclass(frozen=True)
class _Part:
    """Votes on some items, as the panes write them."""

    items: list[str]
    item: Integers  #: of each vote its position among them
    juror: Integers
    code: CodedVotes
    time: Floats | None
    first: Floats | None  #: of each item, the time of its first vote elsewhere
    number: Integers | None  #: and its pane there

    def of_items(self, kept: Flags) -> _Part:
        """The votes on these items."""
        votes = kept[self.item]
        return _Part(
            [name for name, is_kept in zip(self.items, kept.tolist(), strict=True) if is_kept],
            (np.cumsum(kept) - 1)[self.item[votes]], self.juror[votes], self.code[votes],
            None if self.time is None else self.time[votes],
            None if self.first is None else self.first[kept],
            None if self.number is None else self.number[kept],
        )  # fmt: skip


class Ledger:
    """Who said what of the open items, counted into panes."""

    def __init__(self, panes: Panes, window: Window, remember: int) -> None:
        self.panes, self.window, self.remember = panes, window, remember
        self.entries: dict[str, Entry] = {}  #: item -> entry, in the order in which items came
        self.closed = ClosedWindows(10 * remember)
        self.begun = 0  #: how many items came
        self.late = 0  #: how many votes came for closed items
        self.latest = UNTIMED  #: the latest time of any vote

    def learn(self, batch: VoteBatch, first: Floats | None = None, number: Integers | None = None) -> None:
        """Count a batch of votes; nothing is changed where a label is refused.

        `first` and `number` are what another ledger knows of the items: the time of their first vote, and their pane.
        """
        self.panes.check_labels([label for label in batch.labels if label is not None])
        juror = np.array([self.panes.juror(name) for name in batch.jurors], dtype=np.int64)[batch.juror]
        codes = [0 if label is None else self.panes.label(label) for label in batch.labels]
        code = np.array(codes, dtype=np.uint8)[batch.label]
        for part in _parts(
            _Part(batch.items, batch.item, juror, code, batch.time, first, number), len(self.panes.jurors)
        ):
            self._learn(part)
        self.forget()

    def _learn(self, part: _Part) -> None:
        old = [self.entries.get(name, _NEW) for name in part.items]
        new = np.array([entry is _NEW for entry in old])
        if self.closed and new.any() and (late := self._late(part.items, new)).any():
            timely = part.of_items(~late)
            self.late += len(part.item) - len(timely.item)
            if timely.items:
                self._learn(timely)
            return
        keys, times, begin = self._votes(old, part)
        begin = begin if part.first is None else np.minimum(begin, part.first)
        numbers = self._numbers(old, new, begin, part.number)
        self._count(old, numbers, keys)
        self._see(numbers, begin, part)
        self.entries.update(zip(part.items, zip(numbers, begin.tolist(), keys, times, strict=True), strict=True))

    def _late(self, items: Sequence[str], new: Flags) -> Flags:
        late = np.zeros(len(items), dtype=bool)
        late[new] = self.closed.holds([name for name, is_new in zip(items, new.tolist(), strict=True) if is_new])
        return late

    def _votes(self, old: Sequence[Entry], part: _Part) -> tuple[list[bytes], list[bytes], Floats]:
        """The items' keys and times with these votes, and when each item began. The later vote of two counts."""
        table = self.panes.codes([entry[2] for entry in old]).copy()
        begin = np.array([entry[1] for entry in old])
        if part.time is None and not any(entry[3] for entry in old):
            table[part.item, part.juror] = part.code  # of two votes the last is kept
            begin[np.isinf(begin)] = UNTIMED
            return keys_of(table), [b""] * len(old), begin
        stamps = _stamps(old, table)
        time = np.full(len(part.item), UNTIMED) if part.time is None else part.time
        np.minimum.at(begin, part.item, time)
        order = np.argsort(time, kind="stable")
        item, juror, code, time = part.item[order], part.juror[order], part.code[order], time[order]
        wins = supersedes(time, table[item, juror], stamps[item, juror])
        table[item[wins], juror[wins]] = code[wins]
        stamps[item[wins], juror[wins]] = time[wins]
        return keys_of(table), _packed(stamps, table), begin

    def _numbers(self, old: Sequence[Entry], new: Flags, begin: Floats, told: Integers | None) -> list[int]:
        """The pane of each item: of its first vote by its own time, or of its place in the order of items."""
        if self.window.by_time:
            return list(np.floor(begin / self.window.step).astype(np.int64).tolist())
        numbers = np.array([entry[0] for entry in old])
        places = self.begun + np.arange(int(new.sum()))
        numbers[new] = np.floor(places / self.window.step)
        self.begun += len(places)
        return list((numbers if told is None else np.minimum(numbers, told)).tolist())

    def _count(self, old: Sequence[Entry], numbers: Sequence[int], keys: Sequence[bytes]) -> None:
        """Every item whose tuple or pane has changed is taken back where it was counted, and counted anew."""
        changes: Counter[tuple[int, bytes]] = Counter(zip(numbers, keys, strict=True))
        changes.subtract((entry[0], entry[2]) for entry in old if entry is not _NEW)
        for (number, key), times in sorted(changes.items(), key=lambda change: -change[1]):
            if times:
                self.panes.add(number, key, times)

    def _see(self, numbers: Sequence[int], begin: Floats, part: _Part) -> None:
        if part.time is None:
            return
        last = np.full(len(numbers), UNTIMED)
        np.maximum.at(last, part.item, part.time)
        self.latest = max(self.latest, float(last.max(initial=UNTIMED)))
        where = np.array(numbers)
        for number in np.unique(where[last > UNTIMED]).tolist():
            here = (where == number) & (last > UNTIMED)
            starts = begin[here & (begin > UNTIMED)]
            self.panes.pane(number).see(float(starts.min()) if len(starts) else None, float(last[here].max()))

    # -- closing --------------------------------------------------------------------------------------------------

    def forget(self) -> None:
        """Close the oldest items where more are open than are to be remembered."""
        over = len(self.entries) - self.remember
        if over > 0:
            names = list(islice(self.entries, over))
            self.closed.add(names)
            for name in names:
                del self.entries[name]

    def take_back(self, items: Iterable[str]) -> dict[str, Entry]:
        """These items' entries, no longer counted."""
        taken = {name: self.entries.pop(name) for name in items}
        for number, _, key, _ in taken.values():
            self.panes.add(number, key, -1)
        return taken

    # -- two ledgers ----------------------------------------------------------------------------------------------

    def absorb(self, other: Ledger) -> None:
        """Count what another counted, which is used up; an item that is open in both is one item.

        What is closed in one and open in the other was counted already: the open votes are late. Of items counted by
        their order, the k-th stretch of one joins the k-th of the other.
        """
        for one, two in ((self, other), (other, self)):
            if one.closed and (names := [name for name in two.entries if name not in one.entries]):
                late = one.closed.holds(names).tolist()
                taken = two.take_back(name for name, is_late in zip(names, late, strict=True) if is_late)
                self.late += sum(votes_in(entry[2]) for entry in taken.values())
        shared = other.take_back([name for name in other.entries if name in self.entries])
        recoding = self.panes.absorb(other.panes)
        self.entries.update(_recoded(other.entries, recoding))
        if shared:
            self.learn(*entries_batch(shared, other.panes))
        self.entries = dict(sorted(self.entries.items(), key=lambda pair: pair[1][0]))
        self.closed.absorb(other.closed)
        self.begun, self.late = max(self.begun, other.begun), self.late + other.late
        self.latest = max(self.latest, other.latest)
        self.forget()

    def copy(self) -> Ledger:
        """A ledger of its own, with panes of its own."""
        again = Ledger(self.panes.copy(), self.window, self.remember)
        again.entries = dict(self.entries)
        again.closed.absorb(self.closed)
        again.begun, again.late, again.latest = self.begun, self.late, self.latest
        return again

    # -- JSON -----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types."""
        columns = list(zip(*self.entries.values(), strict=True)) or [(), (), (), ()]
        return {
            "items": list(self.entries),
            "panes": columns[0],
            "first": [None if np.isinf(one) else one for one in columns[1]],
            "keys": to_text(columns[2]),
            "times": [times.hex() for times in columns[3]],
            "closed": self.closed.to_dict(),
            "begun": self.begun,
            "late": self.late,
            "latest": None if np.isinf(self.latest) else self.latest,
        }

    def restore(self, document: Any) -> None:
        """The inverse of `to_dict`."""
        first = [UNTIMED if one is None else float(one) for one in document["first"]]
        columns = (
            document["panes"],
            first,
            from_text(document["keys"], len(document["items"])),
            map(bytes.fromhex, document["times"]),
        )
        self.entries = dict(zip(document["items"], zip(*columns, strict=True), strict=True))
        self.closed = ClosedWindows.from_dict(document["closed"], 10 * self.remember)
        self.begun, self.late = int(document["begun"]), int(document["late"])
        self.latest = UNTIMED if document["latest"] is None else float(document["latest"])


def entries_batch(entries: dict[str, Entry], panes: Panes) -> tuple[VoteBatch, Floats, Integers]:
    """The votes of some entries as a batch, when each item began, and its pane."""
    kept = list(entries.values())
    table = panes.codes([entry[2] for entry in kept])
    item, juror = np.nonzero(table)
    time = _stamps(kept, table)[item, juror]
    label = table[item, juror].astype(np.int64) - 1
    batch = VoteBatch(list(entries), panes.jurors, panes.labels, item, juror, label, time)
    return batch, np.array([entry[1] for entry in kept]), np.array([entry[0] for entry in kept])


def _recoded(entries: dict[str, Entry], recoding: PaneRecoding) -> dict[str, Entry]:
    """Entries as the other panes write them: keys and times in another order of jurors."""
    kept = list(entries.values())
    table = recoding.source.codes([entry[2] for entry in kept])
    stamps = np.full((len(kept), recoding.width), UNTIMED)
    stamps[:, recoding.place] = _stamps(kept, table)
    again = recoding.table(table)
    changed = zip(keys_of(again), _packed(stamps, again), strict=True)
    return {
        name: (entry[0], entry[1], key, times)
        for (name, entry), (key, times) in zip(entries.items(), changed, strict=True)
    }


def _stamps(entries: Sequence[Entry], table: CodedVotes) -> Floats:
    """Items x jurors: when each vote was cast."""
    stamps = np.full(table.shape, UNTIMED)
    timed = np.array([bool(entry[3]) for entry in entries], dtype=bool)
    where = (table > 0) & timed[:, None]
    stamps[where] = np.frombuffer(b"".join(entry[3] for entry in entries), dtype=np.float64)
    return stamps


def _packed(stamps: Floats, table: CodedVotes) -> list[bytes]:
    """The times of each item's votes, in the order of jurors."""
    voted = table > 0
    raw = stamps[voted].tobytes()
    ends = np.cumsum(8 * voted.sum(axis=1)).tolist()
    timed = np.asarray((voted & (stamps > UNTIMED)).any(axis=1))
    return [raw[a:b] if has else b"" for a, b, has in zip([0, *ends], ends, timed.tolist(), strict=False)]


def _parts(votes: _Part, width: int) -> Iterator[_Part]:
    """Stretches of items with their votes, few enough for a table of items x jurors."""
    step = max(1, _CELLS // max(width, 1))
    if len(votes.items) <= step:
        if votes.items:
            yield votes
        return
    for start in range(0, len(votes.items), step):
        places = np.arange(len(votes.items))
        yield votes.of_items((places >= start) & (places < start + step))
