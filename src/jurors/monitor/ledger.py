"""Votes as they come in, and the ledger of open items, so that repeated and corrected votes count once.

`as_batch` reads rows, dataframes in the long layout and `Votes`; names and labels come out as in one read of a file.
`Ledger` counts batches into `Panes`. Of each open item it stores its pane, the time of its first vote, its key as it is
counted now, and when each vote was cast. An item is closed when enough newer ones have come; then only its counts are
left, and a fingerprint of its name, by which a late vote is recognized. `supersedes` decides which of two votes stands.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import compress, islice
from typing import Any, TypeAlias

import numpy as np

from jurors._numeric import Flags, Floats, Integers
from jurors.errors import VotesError
from jurors.monitor.windows import ClosedItems, Panes, Window, codes_of, from_text, keys_of, to_text
from jurors.options import Label, Reading, item_name, text_columns
from jurors.votes.codes import factorize, is_missing, python_value
from jurors.votes.frame import Frame, collect, grid_of, is_frame, joined_cells, open_frame
from jurors.votes.layout import (
    ANY_JUROR_WORDS,
    COUNT_WORDS,
    ITEM_WORDS,
    LABEL_WORDS,
    SYSTEM_WORDS,
    ColumnHead,
    ColumnProfile,
    Layout,
    bare_word,
    column_flag,
    find_column,
    guess_column,
    head_rows,
    item_parts,
    layout_by_words,
    profile_columns,
    quoted_names,
)
from jurors.votes.layout_detection import FEW_ROWS, find_layout, joint_item
from jurors.votes.read import clean_cells
from jurors.votes.table import Votes

TIME_WORDS = ("time", "timestamp", "date", "datetime", "created", "createdat")
LAST_TIME = 253_402_300_800.0  #: the end of the year 9999, in seconds
UNTIMED = -math.inf  #: the time of a vote that has none: any other is later


# -- what the columns of a stream are ---------------------------------------------------------------------------------

Roles: TypeAlias = dict[str, Any]  #: what the columns are, as options of reading


def find_roles(names: Sequence[str], rows: Iterable[Sequence[Any]], options: Reading) -> Roles:
    """Find what the columns of a stream are by its first rows, as for a file that is read whole.

    Parameters
    ----------
    names
        The columns.
    rows
        The cells of the first rows, taken where names and options leave the layout open.
    options
        How votes are read.

    Returns
    -------
    dict
        The options that name the columns of every later row: layout, item, juror, label, ignore.

    Examples
    --------
    >>> find_roles(["question_id", "model", "judge_1", "judge_2"], [], Reading())["item"]
    ('question_id', 'model')
    """
    cells = list[list[Any]]()

    def look() -> list[list[Any]]:
        if not cells:
            first = list(islice(rows, head_rows(len(names))))
            cells.extend([row[k] for row in first] for k in range(len(names)))
        return cells

    def profile() -> ColumnProfile:
        """Of the columns, and of the one that several make together to name the item."""
        joined = [joined_cells([look()[find_column(names, part)] for part in item], item)] if len(item) > 1 else []
        return profile_columns(every, [*look(), *joined])

    item, every = item_parts(names, options.item), names
    item = item or joint_item(names, options, profile)
    every, options = _with_joined(names, options.but(item=item or None))
    layout = find_layout(every, options, profile)
    own = item if len(item) > 1 else () if layout.item is None else (every[layout.item],)
    if layout.kind == "long":
        roles = (("juror", layout.juror), ("label", layout.label))
        return {"layout": "long", "item": own} | {role: every[k] for role, k in roles if k is not None}
    ignored = text_columns(options.ignore)
    left = [name for k, name in enumerate(names) if k not in layout.used and name not in own]
    systems = [name for name in left if bare_word(name) in SYSTEM_WORDS and name not in ignored]
    if len(own) == 1 == len(systems) and not item and bare_word(own[0]) in ITEM_WORDS:
        own = (*own, *systems)  # the first rows may be of one system, and those of others follow
    jurors, many, kind = [profile().columns[k] for k in layout.votes], profile().rows, layout.kind
    if options.layout == "auto" and not many and any(each.word in COUNT_WORDS for each in jurors):
        kind = "counts"  # no row shows that it is a juror of this name
    elif options.layout == "auto" and own and many < FEW_ROWS:
        _refuse_few_rows(own[0], jurors)
    return {"layout": kind, "item": own or None, "ignore": [name for name in left if name not in own]}


def _refuse_few_rows(item: str, jurors: Sequence[ColumnHead]) -> None:
    """Refuse columns as jurors that more rows might show to be none: what they are cannot change any more."""
    odd = [each for each in jurors if each.is_aside or each.word in (*ANY_JUROR_WORDS, *LABEL_WORDS)]
    if odd:
        systems = [each.name for each in odd if each.word in SYSTEM_WORDS]
        flags = [column_flag("item", item, *systems)] if systems else []
        left = [each.name for each in odd if each.name not in systems]
        flags += [column_flag("ignore", *left)] if left else []
        raise VotesError(
            f"the rows are too few to show whether votes are in {quoted_names([each.name for each in odd])}: use "
            f"{' '.join(flags)} if not, or layout='wide' if they are",
            code="two_readings",
        )


def _with_joined(names: Sequence[str], options: Reading) -> tuple[Sequence[str], Reading]:
    """The columns with the one that several make together to name the item, which are no jurors; and the options."""
    parts = item_parts(names, options.item)
    whole = item_name(parts) if parts else None
    if len(parts) < 2 or whole is None:
        return names, options.but(item=whole)
    return [*names, whole], options.but(item=whole).without(*(names[find_column(names, part)] for part in parts))


def without_time(names: Sequence[str], options: Reading, time: str | None = None) -> tuple[Reading, int | None]:
    """Leave the column of times out: the one that the caller names, or one that is called so.

    Returns
    -------
    tuple
        The options, and the column; None where there is none.
    """
    own = (*item_parts(names, options.item), options.juror, options.label)
    taken = [k for k, name in enumerate(names) if name in own]
    place = guess_column(names, TIME_WORDS, taken) if time is None else find_column(names, time)
    return options if place is None else options.without(names[place]), place


def layout_of_roles(
    names: Sequence[str], roles: Roles, options: Reading, time: str | None = None
) -> tuple[Layout, int | None, Sequence[int]]:
    """Lay out a row by what the columns are; by names alone where it lacks some of them.

    Returns
    -------
    tuple
        The layout, the column of times, and the columns that name the item.
    """
    if not names:
        raise VotesError("the record is empty")
    options, place = without_time(names, options, time)
    named = (*(roles.get("item") or ()), *(roles[role] for role in ("juror", "label") if role in roles))
    if roles and set(named) <= set(names):
        ignored = (*text_columns(options.ignore), *roles.get("ignore", ()))
        options = options.but(**{**roles, "ignore": [name for name in ignored if name in names]})
    every, options = _with_joined(names, options)
    layout = layout_by_words(every, options, lambda _: True)
    if layout.kind == "counts":
        raise VotesError("these are counts, which have no items; a stream needs one vote or one item per line")
    if layout.item is None:
        raise VotesError(
            f"no column of {quoted_names(names)} names the item, which a stream needs to recognize "
            "repeated votes; name it with --item COLUMN"
        )
    return layout, place, [find_column(names, part) for part in item_parts(names, every[layout.item])]


# -- batches ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class VoteBatch:
    """Some votes, as positions among distinct names; items in order of first appearance."""

    items: list[str]
    jurors: list[str]
    labels: Sequence[Label | None]  #: None where a value means no vote; no row has it
    item: Integers
    juror: Integers
    label: Integers
    time: Floats | None  #: seconds since 1970; `UNTIMED` where a vote has none, None where none has any

    def __len__(self) -> int:
        return len(self.item)

    def select(self, items: Flags) -> VoteBatch:
        """The votes on some of the items."""
        votes = items[self.item]
        return VoteBatch(
            list(compress(self.items, items.tolist())), self.jurors, self.labels,
            (np.cumsum(items) - 1)[self.item[votes]], self.juror[votes], self.label[votes],
            None if self.time is None else self.time[votes],
        )  # fmt: skip


def as_batch(source: Any, known: dict[tuple[str, ...], Roles] | None = None, **names: Any) -> VoteBatch:
    """Read a batch of votes.

    Parameters
    ----------
    source
        A dataframe or dict of columns, `Votes`, or rows: (item, juror, label[, time]) or mappings with these keys.
    known
        What the columns of earlier dataframes are, which does not change from batch to batch; this one's are added.
    names
        The names of a dataframe's columns `item`, `juror`, `label` and `time`, where they are not recognized.

    Returns
    -------
    VoteBatch
        Every vote in its order; values that mean no vote are left out.
    """
    if isinstance(source, Votes):
        if source.counts is not None:
            raise VotesError(
                "a monitor needs the item of every vote, but these votes are counts; merge sketches with `+` instead"
            )
        row, col, code = source.triples()
        return batch_of((source.item_names()[row], (list(source.jurors), col), (list(source.labels), code)))
    if isinstance(source, Mapping) or is_frame(source):
        return _from_frame(open_frame(source), {} if known is None else known, names)
    votes = []
    for number, row in enumerate(source, 1):
        if isinstance(row, Mapping):
            votes.append([row.get(name) for name in ("item", "juror", "label", "time")])
        elif isinstance(row, (tuple, list)) and len(row) in (3, 4):
            votes.append([*row, None][:4])
        else:
            forms = "(item, juror, label) or (item, juror, label, time), or a mapping"
            raise VotesError(f"row {number} is not a vote: give {forms}", code="bad_row", row=number)
    *columns, times = ([vote[k] for vote in votes] for k in range(4))
    return batch_of(columns, None if all(map(is_missing, times)) else times)


def _from_frame(frame: Frame, known: dict[tuple[str, ...], Roles], columns: Mapping[str, Any]) -> VoteBatch:
    if frame.is_eager and not len(frame.table):
        return batch_of([[], [], []])
    names, given = frame.names, {role: name for role, name in columns.items() if name is not None}
    given |= {"item": frame.item} if frame.item and "item" not in given else {}
    named_time = given.pop("time", None)
    options, time = without_time(names, Reading(**given), named_time)
    key = (*names, str(sorted(given.items())))
    if key not in known:
        known[key] = find_roles(names, frame.first_rows(), options)
    options = options.but(**known[key]).but(ignore=(*options.ignore, *known[key].get("ignore", ())))
    frame = frame.reaching(options)
    layout = frame.layout(options)
    if layout.kind == "counts" or (layout.item is None and frame.index is None):
        problem = f"no column of {quoted_names(names)} names the item; name it with item="
        raise VotesError(problem, code="no_label_column", columns=names)
    # Only the columns of a layout are collected; that of the times takes the place of counts.
    table = collect(frame.keep(replace(layout, count=time)))
    times = None
    if time is not None:
        series = table[f"c{time}"]
        is_number = series.dtype.is_numeric() and not series.is_null().any()
        times = series.to_numpy().astype(np.float64) if is_number else series.to_list()
    if layout.kind == "long":
        parts = (layout.item, layout.juror, layout.label)
        return batch_of([_factorized_by_arrow(table[f"c{place}"]) for place in parts], times)
    item = list(frame.index or ()) if layout.item is None else table[f"c{layout.item}"].to_list()
    grid, labels = grid_of([factorize(table[f"c{place}"].to_list()) for place in layout.votes])
    items, row = factorize(item)
    many = len(layout.votes)
    votes = (
        (items, np.tile(row, many)),
        ([names[place] for place in layout.votes], np.repeat(np.arange(many), len(row))),
        (list(labels), grid.T.ravel()),
    )
    return batch_of(votes, None if times is None else np.tile(np.asarray(times), many))


def _factorized_by_arrow(series: Any) -> Any:
    """Distinct values by first appearance and the position of each row's, by Arrow where it can: it is far quicker."""
    if series.dtype.is_integer() and not series.is_null().any():
        return series.to_numpy()
    with suppress(ImportError):
        import pyarrow

        with suppress(pyarrow.ArrowException, TypeError):  # a column of several types
            array = series.to_arrow()
            array = array.combine_chunks() if isinstance(array, pyarrow.ChunkedArray) else array
            if not pyarrow.types.is_dictionary(array.type):  # which may hold values that no row has
                encoded = array.dictionary_encode(null_encoding="encode")
                return encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False)
    return series.to_list()


def batch_of(columns: Sequence[Any], times: Any = None) -> VoteBatch:
    """A batch from the items, jurors and labels of votes, each a column or (distinct values, positions).

    Returns
    -------
    VoteBatch
        The votes, without values that mean no vote.
    """
    if len({len(column[1] if isinstance(column, tuple) else column) for column in columns}) > 1:
        raise VotesError("item, juror and label must have the same length")
    factorized: list[tuple[list[Any], Integers]] = []
    for column, what in zip(columns, ("item", "juror", "label"), strict=True):
        try:
            factorized.append(column if isinstance(column, tuple) else factorize(column))
        except TypeError:  # values that cannot even be compared
            clean_cells(column, column=what)
            raise VotesError(f"a {what} must be text or a number") from None
    (items, item), (jurors, juror), (labels, label) = factorized
    item, juror, label = np.asarray(item), np.asarray(juror), np.asarray(label)
    # Each label by itself, whatever other labels there are: batches must not differ.
    cells = [
        None if (cell := clean_cells([value], column="label")[0]) is None else python_value(cell) for value in labels
    ]
    time = None
    if isinstance(times, np.ndarray) and (np.abs(times) < LAST_TIME).all():
        time = times
    elif times is not None:
        distinct, place = factorize(times)
        time = np.array([seconds(each) for each in distinct], dtype=np.float64)[place]
    if is_part := None in cells:
        is_vote = np.array([cell is not None for cell in cells])[label]
        item, juror, label = item[is_vote], juror[is_vote], label[is_vote]
        time = None if time is None else time[is_vote]
    items, item = _names_in_rows(items, item, "item", is_part=is_part)
    jurors, juror = _names_in_rows(jurors, juror, "juror", is_part=is_part)
    return VoteBatch(items, jurors, cells, item, juror, label, time)


def _names_in_rows(values: Any, code: Integers, what: str, *, is_part: bool) -> tuple[list[str], Integers]:
    """The names that occur in some row, by first appearance."""
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if not listed or type(listed[0]) is not int or set(map(type, listed)) != {int}:
        listed = clean_cells(listed, column=what)
    names = [None if name is None else str(name) for name in listed]
    if is_part or len(set(names)) < len(names):
        distinct, again = factorize(names)
        present, code = factorize(again[code])
        names = [distinct[k] for k in present]
    if None in names:
        row = int(np.argmax(code == names.index(None))) + 1
        raise VotesError(f"row {row}: the {what} is empty; give it a name", code="bad_row", row=row)
    return [name for name in names if name is not None], code


def seconds(time: Any) -> float:
    """A time as seconds since 1970: a number, a datetime (UTC unless it has a zone) or ISO 8601 text.

    Returns
    -------
    float
        Seconds, or `UNTIMED` for a missing value.

    Examples
    --------
    >>> seconds("1970-01-01T00:01:00Z"), seconds("1970-01-01 01:00:00+01:00"), seconds(None)
    (60.0, 0.0, -inf)
    """
    if is_missing(time):
        return UNTIMED
    value = python_value(time)
    if isinstance(value, str):
        text, value = value.strip(), None
        for reader in (float, datetime.fromisoformat):
            with suppress(ValueError):
                value = reader(text)
                break
    if isinstance(value, datetime):
        value = (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise VotesError(
            f"time {str(time)[:40]!r} is not a time: give seconds since 1970, a datetime, or ISO 8601 text"
        )
    if abs(value) >= LAST_TIME:
        raise VotesError(f"time {str(time)[:40]!r} is after the year 9999: give seconds since 1970, not milliseconds")
    return float(value)


# -- the ledger -------------------------------------------------------------------------------------------------------


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


_CELLS = 1 << 22  # items x jurors that are processed at a time

#: of an open item: its pane, the time of its first vote, its key, its votes' times (8 bytes each; none if untimed)
Entry: TypeAlias = tuple[int, float, bytes, bytes]
_NEW: Entry = (0, np.inf, b"", b"")


class Ledger:
    """The votes on open items, counted into panes."""

    def __init__(self, panes: Panes, window: Window, remember: int) -> None:
        self.panes, self.window, self.remember = panes, window, remember
        self.entries: dict[str, Entry] = {}  #: item -> entry, in the order in which items came
        self.closed = ClosedItems(10 * remember)
        self.begun = 0  #: how many items came
        self.late = 0  #: how many votes came for closed items
        self.latest = UNTIMED  #: the latest time of any vote

    def add(self, batch: VoteBatch) -> None:
        """Count a batch of votes, whose labels the panes have checked."""
        # Jurors and labels as the panes code them.
        juror = np.array([self.panes.juror(name) for name in batch.jurors], dtype=np.int64)[batch.juror]
        codes = [0 if label is None else self.panes.label(label) for label in batch.labels]
        coded = replace(batch, juror=juror, label=np.array(codes, dtype=np.int64)[batch.label])
        step = max(1, _CELLS // max(len(self.panes.jurors), 1))  # items for a table of items x jurors
        place = np.arange(len(coded.items)) // step
        for part in range(place[-1] + 1 if len(place) else 0):
            self._add(coded.select(place == part) if place[-1] else coded)
        over = len(self.entries) - self.remember
        if over > 0:  # close the oldest items
            names = list(islice(self.entries, over))
            self.closed.add(names)
            for name in names:
                del self.entries[name]

    def _add(self, batch: VoteBatch) -> None:
        old = [self.entries.get(name, _NEW) for name in batch.items]
        is_new = np.array([entry is _NEW for entry in old])
        if self.closed and is_new.any():
            late = np.zeros(len(old), dtype=bool)
            late[is_new] = self.closed.holds(list(compress(batch.items, is_new.tolist())))
            if late.any():
                timely = batch.select(~late)
                self.late += len(batch.item) - len(timely.item)
                if timely.items:
                    self._add(timely)
                return
        keys, times, begin = self._updated(old, batch)
        # The pane of each item: of its first vote by its own time, or of its place in the order of items.
        if self.window.by_time:
            numbers = np.floor(begin / self.window.step).astype(np.int64)
        else:
            numbers = np.array([entry[0] for entry in old])
            places = self.begun + np.arange(int(is_new.sum()))
            numbers[is_new] = np.floor(places / self.window.step)
            self.begun += len(places)
        panes: list[int] = numbers.tolist()

        # Every item whose tuple or pane has changed is taken back where it was counted, and counted anew.
        changes: Counter[tuple[int, bytes]] = Counter(zip(panes, keys, strict=True))
        changes.subtract((entry[0], entry[2]) for entry in old if entry is not _NEW)
        for (number, key), count in sorted(changes.items(), key=lambda change: -change[1]):
            if count:
                self.panes.add(number, key, count)
        if batch.time is not None:
            last = np.full(len(panes), UNTIMED)
            np.maximum.at(last, batch.item, batch.time)
            self.latest = max(self.latest, float(last.max(initial=UNTIMED)))
            for number in np.unique(numbers[last > UNTIMED]).tolist():
                here = (numbers == number) & (last > UNTIMED)
                starts = begin[here & (begin > UNTIMED)]
                start = float(starts.min()) if len(starts) else None
                self.panes.pane(number).note_times(start, float(last[here].max()))
        self.entries.update(zip(batch.items, zip(panes, begin.tolist(), keys, times, strict=True), strict=True))

    def _updated(self, old: Sequence[Entry], batch: VoteBatch) -> tuple[list[bytes], list[bytes], Floats]:
        """The items' keys and votes' times with these votes, and when each item began."""
        old_keys, old_times = [entry[2] for entry in old], [entry[3] for entry in old]
        table, begin = codes_of(old_keys, len(self.panes.jurors)).copy(), np.array([entry[1] for entry in old])
        if batch.time is None and not any(old_times):
            table[batch.item, batch.juror] = batch.label  # without times every vote supersedes: the last one stands
            begin[np.isinf(begin)] = UNTIMED
            return keys_of(table), [b""] * len(old), begin
        # Items x jurors: when each vote was cast, from the packed times of each item.
        stamps = np.full(table.shape, UNTIMED)
        is_timed = np.array([bool(each) for each in old_times], dtype=bool)
        stamps[(table > 0) & is_timed[:, None]] = np.frombuffer(b"".join(old_times), dtype=np.float64)
        time = np.full(len(batch.item), UNTIMED) if batch.time is None else batch.time
        np.minimum.at(begin, batch.item, time)
        order = np.argsort(time, kind="stable")
        item, juror, code, time = batch.item[order], batch.juror[order], batch.label[order], time[order]
        stands = supersedes(time, table[item, juror], stamps[item, juror])
        table[item[stands], juror[stands]] = code[stands]  # in order of time: of several the last one stands
        stamps[item[stands], juror[stands]] = time[stands]
        # The times of each item's votes, in the order of jurors; empty where none has a time.
        voted = table > 0
        raw, ends = stamps[voted].tobytes(), np.cumsum(8 * voted.sum(axis=1)).tolist()
        has_time = np.asarray((voted & (stamps > UNTIMED)).any(axis=1)).tolist()
        packed = [raw[a:b] if has else b"" for a, b, has in zip([0, *ends], ends, has_time, strict=False)]
        return keys_of(table), packed, begin

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types."""
        entries = self.entries.values()
        return {
            "items": list(self.entries),
            "panes": [pane for pane, _, _, _ in entries],
            "first": [None if np.isinf(first) else first for _, first, _, _ in entries],
            "keys": to_text([key for _, _, key, _ in entries]),
            "times": [times.hex() for _, _, _, times in entries],
            "closed": self.closed.to_dict(),
            "begun": self.begun,
            "late": self.late,
            "latest": None if np.isinf(self.latest) else self.latest,
        }

    def restore(self, document: Any) -> None:
        """The inverse of `to_dict`."""
        first = [UNTIMED if time is None else float(time) for time in document["first"]]
        keys = from_text(document["keys"], len(document["items"]))
        entries = zip(document["panes"], first, keys, map(bytes.fromhex, document["times"]), strict=True)
        self.entries = dict(zip(document["items"], entries, strict=True))
        self.closed = ClosedItems.from_dict(document["closed"], 10 * self.remember)
        self.begun, self.late = int(document["begun"]), int(document["late"])
        self.latest = UNTIMED if document["latest"] is None else float(document["latest"])
