"""Preferences."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn, Unpack

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Floats
from jurors.errors import VotesError, match_name
from jurors.options import Duplicates, PairOptions, PairReading, Reading
from jurors.votes import Votes
from jurors.votes.codes import NO_VOTE_WORDS, factorize
from jurors.votes.frame import collect, column, is_frame, open_frame
from jurors.votes.io.duckdb_table import SourceTable, open_table
from jurors.votes.io.local_files import row_fault
from jurors.votes.layout import quoted_names
from jurors.votes.pair_columns import (
    DOWN,
    FIRST,
    HALF,
    SECOND,
    TIE,
    UP,
    PairColumns,
    are_flags,
    certain_pair_columns,
    flag_side,
    is_tie,
    may_name_pairs,
    pair_columns,
    sides_of,
)
from jurors.votes.read import Column, clean_cells, factorized, in_natural_order

# `Preferences`: who preferred which of two objects, as arrays; and the distinct answers among them, counted.


Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Preferences:
    """One answer per position: a juror was shown a left (first) and a right object, and preferred one, or neither.

    Examples
    --------
    >>> Preferences(objects=("x", "y"), jurors=("ann",), juror=np.zeros(2, int), left=np.array([0, 1]),
    ...             right=np.array([1, 0]), outcome=np.array([1, 0]))
    Preferences(2 objects, 1 jurors, 2 answers, 1 ties)
    """

    objects: tuple[str, ...]
    jurors: tuple[str, ...]
    juror: Ints
    left: Ints
    right: Ints
    outcome: Ints  #: `FIRST`, `SECOND` or `TIE`
    item: Ints | None = None  #: what the two were asked about (a question), where a column names it
    items: tuple[str, ...] = ()  #: its names
    is_placed: bool = True  #: whether left was shown first; a table of winners and losers does not say
    remarks: tuple[str, ...] = ()  #: what was taken for what while reading

    def __len__(self) -> int:
        return len(self.outcome)

    def __repr__(self) -> str:
        ties = int((self.outcome == TIE).sum())
        sizes = f"{len(self.objects)} objects, {len(self.jurors)} jurors, {len(self)} answers, {ties} ties"
        return f"Preferences({sizes})"

    @property
    def has_ties(self) -> bool:
        """Whether anybody ever called two objects equal."""
        return bool((self.outcome == TIE).any())

    @property
    def has_repeats(self) -> bool:
        """Whether a juror was asked the same more than once: two objects in one order, about one item."""
        side = self.left < self.right if self.is_placed else np.zeros(len(self), dtype=np.bool_)
        asked = (self.contests() * 2 + side) * len(self.jurors) + self.juror
        return len(np.unique(asked)) < len(asked)

    def contests(self) -> Ints:
        """A number for each two objects (about one item, where items are named), whatever their order."""
        low, high = np.minimum(self.left, self.right), np.maximum(self.left, self.right)
        item = 0 if self.item is None else self.item
        return np.unique((item * len(self.objects) + low) * len(self.objects) + high, return_inverse=True)[1]

    def to_votes(self, *, duplicates: Duplicates = "error") -> Votes:
        """The same as votes on items: each two objects, in the order shown, with the labels first, second and tie.

        So the theorem can grade the jurors, too (`jurors.grade`). Where nobody knows the order, the names decide it.
        """
        turn = np.zeros(len(self), dtype=np.bool_) if self.is_placed else self.left > self.right
        left, right = np.where(turn, self.right, self.left), np.where(turn, self.left, self.right)
        names = np.array(self.objects, dtype=object)
        item = names[left] + " | " + names[right]
        if self.item is not None:
            item = np.array(self.items, dtype=object)[self.item] + ": " + item
        label = np.array(["tie", "first", "second"], dtype=object)[np.where(turn, -self.outcome, self.outcome)]
        jurors = np.array(self.jurors, dtype=object)[self.juror]
        labels = ("first", "second", "tie") if self.has_ties else ("first", "second")
        votes = Votes.from_columns(item, jurors, label, labels=labels, duplicates=duplicates)
        return replace(votes, labels_told=True)  # a tie is an answer

    def counted(self) -> CountedPairs:
        """The distinct answers, and how often each was given."""
        rows = np.column_stack([self.juror, self.left, self.right, self.outcome])
        size = len(self.objects)
        key = ((self.juror * size + self.left) * size + self.right) * 3 + self.outcome
        _, first, weight = np.unique(key, return_index=True, return_counts=True)
        juror, left, right, outcome = rows[first].T
        return CountedPairs(
            juror, left, right, outcome, weight.astype(float), (len(self.jurors), size), self.is_placed, self.has_ties
        )


@dataclass(frozen=True)
class CountedPairs:
    """Distinct answers and how often each was given: what the model is fitted to."""

    juror: Ints
    left: Ints
    right: Ints
    outcome: Ints
    weight: Floats
    shape: tuple[int, int]  #: jurors, objects
    is_placed: bool
    has_ties: bool

    def take(self, rows: Ints) -> CountedPairs:
        """Some of the answers; jurors and objects stay as they are."""
        juror, left, right, outcome = (column[rows] for column in (self.juror, self.left, self.right, self.outcome))
        return replace(self, juror=juror, left=left, right=right, outcome=outcome, weight=self.weight[rows])

    def by_juror(self, values: Any) -> Floats:
        """Sums of a value per answer, for each juror."""
        return np.bincount(self.juror, self.weight * values, self.shape[0]).astype(np.float64)


# What each row of a table of preferences says: the first, the second, or neither.


_NOTHING = frozenset({"", "none"})


@dataclass(frozen=True)
class PairQuestion:
    """What a column of answers says, row by row."""

    outcome: Ints
    answered: NDArray[np.bool_]
    swapped: bool = False  #: whether the right object was shown first


def answers_of(
    columns: PairColumns,
    names: Sequence[str],
    cells: dict[int, Column],
    sides: Sequence[tuple[list[Any], NDArray[Any]]],
    told: PairReading,
) -> list[PairQuestion]:
    """What each column of answers says: one as a rule, one per juror, or one per order of the two objects."""
    _check_named(columns, names, cells, told)
    if columns.several == "flags":
        return [_flagged(columns, names, cells)]
    if columns.several == "flag" and not told.names:
        return [_one_flag(columns, names, cells)]
    if columns.several in (None, "flag"):
        return [PairQuestion(*_outcomes(columns, names, cells, sides, told))]
    each = [_outcomes(replace(columns, winner=k), names, cells, sides, told) for k in columns.answers]
    if columns.several == "jurors":
        return [PairQuestion(*one) for one in each]
    (as_shown, said), (turned, said_again) = each
    return [PairQuestion(as_shown, said), PairQuestion(-turned, said_again, swapped=True)]


def _flagged(columns: PairColumns, names: Sequence[str], cells: dict[int, Column]) -> PairQuestion:
    """A flag each for first, second and tie, of which one is up; none is no answer."""
    up = []
    for k in columns.answers:
        values, code = cells[k]
        words = [str(value).strip().casefold() for value in values]
        if unknown := next((w for w in words if w not in UP | DOWN | _NOTHING), None):
            raise VotesError(f"column {names[k]!r} holds {unknown!r}, where 1 says that this side won and 0 that not")
        up.append(np.array([word in UP for word in words], dtype=np.bool_)[code])
    many = np.sum(up, axis=0)
    if (many > 1).any():
        raise row_fault(
            int(np.argmax(many > 1)) + 1, f"columns {quoted_names([names[k] for k in columns.answers])}: both won"
        )
    return PairQuestion(np.where(up[0], FIRST, np.where(up[1], SECOND, TIE)).astype(np.int64), many == 1)


def _one_flag(columns: PairColumns, names: Sequence[str], cells: dict[int, Column]) -> PairQuestion:
    """A flag that is up where the side in its name won, down where the other did; perhaps one for ties beside it."""
    flag, *tie = columns.answers
    side = flag_side(names[flag], (names[columns.left], names[columns.right])) or FIRST
    said = [str(value).strip().casefold() for value in clean_cells(cells[flag][0], column=names[flag])]
    worth = dict.fromkeys(UP, side) | dict.fromkeys(DOWN, -side) | dict.fromkeys(HALF, TIE)
    read = np.array([worth.get(w, TIE if is_tie(w) else np.nan) for w in said], dtype=np.float64)[cells[flag][1]]
    absent = np.array([word in _NOTHING | NO_VOTE_WORDS for word in said], dtype=np.bool_)[cells[flag][1]]
    if (unknown := np.isnan(read) & ~absent).any():
        row = int(np.argmax(unknown))
        what = f"column {names[flag]!r}: {said[cells[flag][1][row]]!r}, where 1 says that this side won and 0 that not"
        raise row_fault(row + 1, what)
    for k in tie:
        is_up = np.array([str(value).strip().casefold() in UP for value in cells[k][0]], dtype=np.bool_)[cells[k][1]]
        read, absent = np.where(is_up, TIE, read), absent & ~is_up
    return PairQuestion(np.where(absent, 0, read).astype(np.int64), ~absent)


def _check_named(columns: PairColumns, names: Sequence[str], cells: dict[int, Column], told: PairReading) -> None:
    """VotesError where an answer that is to be called otherwise is never given, or nothing can be called so."""
    if not told.names:
        return
    if columns.winner is None or columns.several == "flags":
        what = "winners and losers" if columns.winner is None else "a flag for each side"
        raise VotesError(f"--map renames answers, and these columns are {what}; leave it out", code="does_not_apply")
    answers = columns.answers or (columns.winner,)
    said = dict.fromkeys(str(v) for k in answers for v in clean_cells(cells[k][0], column=names[k]) if v is not None)
    for name in told.names:
        if name not in said:
            match_name(name, list(said), "answer to rename (--map)")


def _outcomes(
    columns: PairColumns,
    names: Sequence[str],
    cells: dict[int, Column],
    sides: Sequence[tuple[list[Any], NDArray[Any]]],
    told: PairReading,
) -> tuple[Ints, NDArray[np.bool_]]:
    """What each row says, and whether it says anything; VotesError names the first row that cannot be understood."""
    if columns.winner is None:
        rows = len(sides[0][1])
        return np.full(rows, FIRST, dtype=np.int64), np.ones(rows, dtype=np.bool_)
    name = names[columns.winner]
    values = [None if v is None else str(v) for v in clean_cells(cells[columns.winner][0], told.missing, column=name)]
    values = [None if v is None else str(told.names.get(v, v)) for v in values]
    code = cells[columns.winner][1]
    absent = np.array([v is None or v.casefold() in NO_VOTE_WORDS for v in values], dtype=np.bool_)[code]
    by_side = _sided(values, (names[columns.left], names[columns.right]))[code]
    by_name = _by_name(values, code, sides, by_side)
    read = _agreed(by_side, by_name, absent, name, [values[k] for k in code])
    if (unknown := np.isnan(read) & ~absent).any():
        _refuse(int(np.argmax(unknown)), name, values, code)
    return np.where(absent, 0, read).astype(np.int64), ~absent


def _refuse(row: int, name: str, values: Sequence[str | None], code: NDArray[Any]) -> NoReturn:
    """VotesError that says what would make this answer, or 0 and 1 that may mean either, understood."""
    said = [value for value in values if value is not None and value.casefold() not in NO_VOTE_WORDS]
    if are_flags(said):
        up, down = next((v for v in said if v.casefold() in UP), "1"), next(v for v in said if v.casefold() in DOWN)
        raise VotesError(
            f"column {name!r} says {down} and {up}, which may stand for the first and the second object, or the other "
            f"way round; say which: map= (--map {down}=first,{up}=second or --map {up}=first,{down}=second)",
            code="two_readings",
            column=name,
        )
    odd = values[code[row]]
    raise row_fault(
        row + 1,
        f"column {name!r}: {odd!r} is neither a side (left, model_a, A>B), nor one of the two objects, nor a tie; mend "
        f"it, say what it means with map= (--map {odd}=first, second or tie), or leave such answers out with missing= "
        "(--missing VALUE)",
    )


def _agreed(
    by_side: NDArray[np.float64], by_name: NDArray[np.float64], absent: NDArray[np.bool_], column: str, cells: list[Any]
) -> NDArray[np.float64]:
    """Sides or names, whichever explains every answer; both, row by row, where neither does. They may not differ."""
    whole = [not (np.isnan(read) & ~absent).any() for read in (by_side, by_name)]
    if whole[0] != whole[1]:
        return by_side if whole[0] else by_name
    differ = ~np.isnan(by_side) & ~np.isnan(by_name) & (by_side != by_name) & ~absent
    if differ.any():
        row = int(np.argmax(differ))
        what = f"{cells[row]!r} names one side and the object on the other; call the objects otherwise"
        raise row_fault(row + 1, f"column {column!r}: {what}")
    return np.where(np.isnan(by_name), by_side, by_name)


def _sided(values: Sequence[str | None], columns: Sequence[str]) -> NDArray[np.float64]:
    """The side that each distinct answer names; NaN where it names none."""
    return np.array([np.nan if side is None else side for side in sides_of(values, columns)], dtype=np.float64)


def _by_name(
    values: Sequence[str | None],
    code: NDArray[Any],
    sides: Sequence[tuple[list[Any], NDArray[Any]]],
    by_side: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The same, the answer being the name of one of the two objects, or a word for a tie."""
    known = {name: k for k, name in enumerate(dict.fromkeys([*sides[0][0], *sides[1][0]]))}
    said = np.array([known.get(value, -1) for value in values])[code]
    left, right = (np.array([known[name] for name in names])[codes] for names, codes in sides)
    return np.select([said == left, said == right, by_side == TIE], [float(FIRST), float(SECOND), float(TIE)], np.nan)


# Preferences from files and dataframes: rows of juror, left, right and winner, through the reading of votes.


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
        rows = collect(frame.table)
        cells = [column(rows[:, k], frame.names[k]) for k in columns.used]
        return _preferences(columns, frame.names, cells, told)
    with open_table(source, told.files()) as table:
        return preferences_of(table, told)


def preferences_of(table: SourceTable, told: PairReading) -> Preferences:
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
            return certain_pair_columns(table.names, table.facts) is not None
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
            f"no columns of two objects and a winner among {quoted_names(names)}; name them with "
            "left=, right= and winner= "
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
    values = [None if value is None else str(value) for value in clean_cells(cells[0], column=name)]
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
    answers = quoted_names([names[k] for k in columns.answers or (columns.winner,) if k is not None])
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
