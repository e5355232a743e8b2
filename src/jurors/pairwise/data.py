"""Preferences as data: tables of who preferred which of two objects come in, `Preferences` go out.

`read_pairs` finds the columns (`votes.pair_columns`), `answers_of` interprets the cells of answers: a side, the name of
an object, a tie, or flags that are 1 where a side won.
"""

from __future__ import annotations

import os
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
from jurors.votes import pair_columns
from jurors.votes.codes import NO_VOTE_WORDS, factorize
from jurors.votes.frame import collect, column, is_frame, open_frame
from jurors.votes.io.csv import possible_names
from jurors.votes.io.duckdb_table import SourceTable, open_table
from jurors.votes.io.local_files import BOM, row_fault
from jurors.votes.layout import find_column, quoted_names
from jurors.votes.pair_columns import DOWN, FIRST, HALF, SECOND, TIE, UP, PairColumns
from jurors.votes.read import Column, clean_cells, factorized, in_natural_order
from jurors.votes.table import Votes

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
    item: Ints | None = None  #: what the two were compared on (a question), where a column names it
    items: tuple[str, ...] = ()  #: the names of these
    is_placed: bool = True  #: whether left was shown first; unknown from a table of winners and losers
    remarks: tuple[str, ...] = ()  #: how columns and cells were interpreted

    scale = "pairs"

    def __len__(self) -> int:
        return len(self.outcome)

    def __repr__(self) -> str:
        ties = int((self.outcome == TIE).sum())
        sizes = f"{len(self.objects)} objects, {len(self.jurors)} jurors, {len(self)} answers, {ties} ties"
        return f"Preferences({sizes})"

    @property
    def has_ties(self) -> bool:
        """Whether there is any tie among the answers."""
        return bool((self.outcome == TIE).any())

    @property
    def has_repeats(self) -> bool:
        """Whether a juror compared the same two objects more than once, in one order and on one item."""
        side = self.left < self.right if self.is_placed else np.zeros(len(self), dtype=np.bool_)
        questions = (self.contests() * 2 + side) * len(self.jurors) + self.juror
        return len(np.unique(questions)) < len(questions)

    def contests(self) -> Ints:
        """For each answer a number for its two objects (and its item, where items are named), whatever their order."""
        low, high = np.minimum(self.left, self.right), np.maximum(self.left, self.right)
        item = 0 if self.item is None else self.item
        return np.unique((item * len(self.objects) + low) * len(self.objects) + high, return_inverse=True)[1]

    def take(self, which: Ints) -> Preferences:
        """The answers at these positions, of the objects and jurors that occur among them.

        Returns
        -------
        Preferences
        """
        sides = np.concatenate([self.left[which], self.right[which]])
        objects, side = np.unique(sides, return_inverse=True)
        jurors, juror = np.unique(self.juror[which], return_inverse=True)
        return replace(
            self, objects=tuple(self.objects[k] for k in objects), jurors=tuple(self.jurors[k] for k in jurors),
            juror=juror, left=side[: len(which)], right=side[len(which) :], outcome=self.outcome[which],
            item=None if self.item is None else self.item[which],
        )  # fmt: skip

    def to_votes(self, *, duplicates: Duplicates = "error") -> Votes:
        """The same as votes on items: each two objects, in the order shown, with the labels first, second and tie.

        So `jurors.grade` can grade the jurors, too. Where the order of display is unknown, the names decide it.

        Returns
        -------
        Votes
            An item for each two objects, called "x | y" or "question: x | y".
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
        """The distinct answers, and how often each was given: what the model is fitted to."""
        size = len(self.objects)
        key = ((self.juror * size + self.left) * size + self.right) * 3 + self.outcome
        _, first, weight = np.unique(key, return_index=True, return_counts=True)
        juror, left, right, outcome = (each[first] for each in (self.juror, self.left, self.right, self.outcome))
        about = (len(self.jurors), size), self.is_placed, self.has_ties
        return CountedPairs(juror, left, right, outcome, weight.astype(float), *about)


@dataclass(frozen=True)
class CountedPairs:
    """Distinct answers, one per position, and how often each was given."""

    juror: Ints
    left: Ints
    right: Ints
    outcome: Ints
    weight: Floats
    shape: tuple[int, int]  #: jurors, objects
    is_placed: bool
    has_ties: bool

    def by_juror(self, values: Any) -> Floats:
        """Weighted sums of a value per answer, for each juror."""
        return np.bincount(self.juror, self.weight * values, self.shape[0]).astype(np.float64)


# ---------------------------------------------------------------------------------------------------------------------
# The answers of a table, row by row
# ---------------------------------------------------------------------------------------------------------------------

_NOTHING = frozenset({"", "none"})


@dataclass(frozen=True)
class PairQuestion:
    """The answers in one column."""

    outcome: Ints  #: per row
    answered: NDArray[np.bool_]  #: per row
    swapped: bool = False  #: whether the right object was shown first


def answers_of(
    columns: PairColumns, names: Sequence[str], cells: dict[int, Column], sides: Sequence[Column], options: PairReading
) -> list[PairQuestion]:
    """Interpret the columns of answers.

    Parameters
    ----------
    columns
        Which columns hold what.
    names
        The names of all columns.
    cells
        Column -> its distinct values and the code of each row.
    sides
        The same of the left and the right objects, as text.
    options
        Renamed answers (`map`) and answers that mean none (`missing`).

    Returns
    -------
    list of PairQuestion
        One as a rule, one per juror, or one per order of the two objects.

    Raises
    ------
    VotesError
        Names the first row that cannot be interpreted, or an answer to rename that is never given.
    """
    if options.names:
        if columns.winner is None or columns.several == "flags":
            what = "winners and losers" if columns.winner is None else "a flag for each side"
            raise VotesError(f"map= renames answers, but these columns are {what}; leave it out", code="does_not_apply")
        distinct = [v for k in columns.answers for v in clean_cells(cells[k][0], column=names[k])]
        given = dict.fromkeys(str(value) for value in distinct if value is not None)
        for name in options.names:
            if name not in given:
                match_name(name, list(given), "answer to rename")
    if columns.several == "flags":
        return [_flagged(columns, names, cells)]
    if columns.several == "flag" and not options.names:
        return [_one_flag(columns, names, cells)]
    if columns.several in (None, "flag"):
        return [_outcomes(columns, names, cells, sides, options)]
    every = [replace(columns, answers=(k,)) for k in columns.answers]
    each = [_outcomes(one, names, cells, sides, options) for one in every]
    if columns.several == "jurors":
        return each
    as_shown, turned = each
    return [as_shown, PairQuestion(-turned.outcome, turned.answered, swapped=True)]


def _flagged(columns: PairColumns, names: Sequence[str], cells: dict[int, Column]) -> PairQuestion:
    """A flag each for first, second and tie, of which one is 1; no answer where none is."""
    flags = []
    for k in columns.answers:
        values, code = cells[k]
        words = [str(value).strip().casefold() for value in values]
        if unknown := next((w for w in words if w not in UP | DOWN | _NOTHING), None):
            raise VotesError(f"column {names[k]!r} contains {unknown!r}; expected 1 (this side won) or 0")
        flags.append(np.array([word in UP for word in words], dtype=np.bool_)[code])
    count = np.sum(flags, axis=0)
    if (count > 1).any():
        raise row_fault(
            int(np.argmax(count > 1)) + 1, f"columns {quoted_names([names[k] for k in columns.answers])}: both won"
        )
    return PairQuestion(np.where(flags[0], FIRST, np.where(flags[1], SECOND, TIE)).astype(np.int64), count == 1)


def _one_flag(columns: PairColumns, names: Sequence[str], cells: dict[int, Column]) -> PairQuestion:
    """A flag that is 1 where the side in its name won, 0 where the other did; perhaps another flag for ties."""
    flag, *tie = columns.answers
    side = pair_columns.flag_side(names[flag], (names[columns.left], names[columns.right])) or FIRST
    words, code = [str(v).strip().casefold() for v in clean_cells(cells[flag][0], column=names[flag])], cells[flag][1]
    outcomes = dict.fromkeys(UP, side) | dict.fromkeys(DOWN, -side) | dict.fromkeys(HALF, TIE)
    read = np.array([outcomes.get(w, TIE if pair_columns.is_tie(w) else np.nan) for w in words], dtype=np.float64)[code]
    absent = np.array([word in _NOTHING | NO_VOTE_WORDS for word in words], dtype=np.bool_)[code]
    if (unknown := np.isnan(read) & ~absent).any():
        row = int(np.argmax(unknown))
        what = f"column {names[flag]!r}: {words[code[row]]!r}; expected 1 (this side won) or 0"
        raise row_fault(row + 1, what)
    for k in tie:
        is_up = np.array([str(value).strip().casefold() in UP for value in cells[k][0]], dtype=np.bool_)[cells[k][1]]
        read, absent = np.where(is_up, TIE, read), absent & ~is_up
    return PairQuestion(np.where(absent, 0, read).astype(np.int64), ~absent)


def _outcomes(
    columns: PairColumns, names: Sequence[str], cells: dict[int, Column], sides: Sequence[Column], options: PairReading
) -> PairQuestion:
    """A column of sides, of objects' names, or of both.

    Sides or names, whichever explains every answer; both, row by row, where neither does. They may not differ.
    """
    if columns.winner is None:  # winners and losers
        rows = len(sides[0][1])
        return PairQuestion(np.full(rows, FIRST, dtype=np.int64), np.ones(rows, dtype=np.bool_))
    name, (cell_values, code) = names[columns.winner], cells[columns.winner]
    values = [None if v is None else str(v) for v in clean_cells(cell_values, options.missing, column=name)]
    values = [None if v is None else str(options.names.get(v, v)) for v in values]
    absent = np.array([v is None or v.casefold() in NO_VOTE_WORDS for v in values], dtype=np.bool_)[code]

    named_sides = pair_columns.sides_of(values, (names[columns.left], names[columns.right]))
    by_side = np.array([np.nan if side is None else side for side in named_sides], dtype=np.float64)[code]
    place = {name: k for k, name in enumerate(dict.fromkeys([*sides[0][0], *sides[1][0]]))}
    answer = np.array([place.get(value, -1) for value in values])[code]
    left, right = (np.array([place[name] for name in objects])[codes] for objects, codes in sides)
    outcomes = [float(FIRST), float(SECOND), float(TIE)]
    by_name = np.select([answer == left, answer == right, by_side == TIE], outcomes, np.nan)

    explains_all = [not (np.isnan(read) & ~absent).any() for read in (by_side, by_name)]
    if explains_all[0] != explains_all[1]:
        read = by_side if explains_all[0] else by_name
    else:
        differ = ~np.isnan(by_side) & ~np.isnan(by_name) & (by_side != by_name) & ~absent
        if differ.any():
            row = int(np.argmax(differ))
            what = f"{values[code[row]]!r} names one side and the object on the other side; rename the objects"
            raise row_fault(row + 1, f"column {name!r}: {what}")
        read = np.where(np.isnan(by_name), by_side, by_name)
    if (unknown := np.isnan(read) & ~absent).any():
        _refuse(int(np.argmax(unknown)), name, values, code)
    return PairQuestion(np.where(absent, 0, read).astype(np.int64), ~absent)


def _refuse(row: int, name: str, values: Sequence[str | None], code: NDArray[Any]) -> NoReturn:
    """Raise with what would make this answer, or 0 and 1 that may mean either, understood."""
    given = [value for value in values if value is not None and value.casefold() not in NO_VOTE_WORDS]
    if pair_columns.are_flags(given):
        up, down = next((v for v in given if v.casefold() in UP), "1"), next(v for v in given if v.casefold() in DOWN)
        raise VotesError(
            f"column {name!r} contains {down} and {up}, which may mean the first and the second object or the reverse; "
            f"choose with map='{down}=first,{up}=second' or map='{up}=first,{down}=second'",
            code="two_readings",
            column=name,
        )
    odd = values[code[row]]
    raise row_fault(
        row + 1,
        f"column {name!r}: {odd!r} is neither a side (left, model_a, A>B), nor one of the two objects, nor a tie; "
        f"correct it, define it with map='{odd}=first' (or second, or tie), or leave such answers out with missing=",
    )


# ---------------------------------------------------------------------------------------------------------------------
# Reading files and dataframes
# ---------------------------------------------------------------------------------------------------------------------

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
        it is unknown which was shown first. A column may name the juror, and one what the two were compared on.
    left, right, winner, juror, item
        The names of these columns, where they are not the usual ones.
    map
        The meaning of other answers: `{"1": "first", "0": "second"}`.
    missing
        Further answers that mean no answer; empty cells and unmistakable words always do.

    Returns
    -------
    Preferences
        One answer per position; rows without an answer, or of an object with itself, are left out.

    Raises
    ------
    VotesError
        A cell or column cannot be read: the message names the file, row and column.

    Examples
    --------
    >>> import io
    >>> read_pairs(io.StringIO("judge,model_a,model_b,winner\ngpt,x,y,model_a\ngpt,y,x,tie\n"))
    Preferences(2 objects, 1 jurors, 2 answers, 1 ties)
    """
    return source if isinstance(source, Preferences) else read_pairs_with(source, None, **reading)[0]


def read_pairs_with(
    source: Any, beside: str | None, **reading: Unpack[PairOptions]
) -> tuple[Preferences, NDArray[Any]]:
    """Read who preferred which of two objects, and the value of a column `beside` them.

    Returns
    -------
    preferences : Preferences
    values : ndarray of object
        One for each answer, None where the cell is empty; empty without such a column.
    """
    options = PairReading.of(reading)
    if not isinstance(source, (str, Path, list, tuple)) and is_frame(source):
        frame = open_frame(source)
        columns = _find_columns(frame.names, frame.facts, options)
        rows, also = collect(frame.table), [] if beside is None else [find_column(frame.names, beside)]
        cells = [column(rows[:, k], frame.names[k]) for k in (*columns.used, *also)]
        return _preferences(columns, frame.names, cells, options)
    with open_table(source, options.files()) as table:
        return preferences_of(table, options, beside)


def preferences_of(
    table: SourceTable, options: PairReading, beside: str | None = None
) -> tuple[Preferences, NDArray[Any]]:
    """The preferences in an open table, and the values of a column; VotesError as in `read_pairs`."""
    columns = _find_columns(table.names, table.facts, options)
    used = (*columns.used, *([] if beside is None else [find_column(table.names, beside)]))
    return _preferences(columns, table.names, factorized(table.keep(tuple(dict.fromkeys(used))), used), options)


def holds_pairs(source: Any, options: Reading) -> bool:
    """Whether a file is a table whose columns and cells show that objects were compared, and not items labelled."""
    if not _may_hold(source):
        return False
    try:
        with open_table(source, options) as table:
            return pair_columns.certain_pair_columns(table.names, table.facts) is not None
    except VotesError:  # the reader will report what is wrong with it
        return False


def _may_hold(source: Any) -> bool:
    """Whether the names of a plain file's columns leave it possible: to open it just for this would cost time."""
    sources = [source] if isinstance(source, (str, os.PathLike)) else source
    paths = [Path(path) for path in sources if isinstance(path, (str, os.PathLike))]
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
    text = head.removeprefix(BOM).decode("utf-8", "replace").lstrip()
    if text.startswith(("{", "[")):
        return pair_columns.may_name_pairs(list(dict.fromkeys(re.findall(r'"([^"\n]+)"\s*:', text))))
    return pair_columns.may_name_pairs([name.strip() for name in possible_names(text)])


def _find_columns(names: Sequence[str], facts: Any, options: PairReading) -> PairColumns:
    columns = pair_columns.pair_columns(names, facts, options)
    if columns is None:
        raise VotesError(
            f"no columns of two objects and a winner among {quoted_names(names)}; name them with "
            "left=, right= and winner=",
            code="no_votes_table",
            columns=tuple(names),
        )
    return columns


def _preferences(
    columns: PairColumns, names: Sequence[str], cells: Sequence[Column], options: PairReading
) -> tuple[Preferences, NDArray[Any]]:
    """From the used columns, each as distinct values and the code of each row; with the values of one more column."""
    by_place = dict(zip(columns.used, cells, strict=False))
    left, right = (_read_names(by_place[k], names[k], "object") for k in (columns.left, columns.right))
    objects, codes = factorize([*left[0], *right[0]])
    left_codes, right_codes = codes[left[1]], codes[len(left[0]) + right[1]]
    questions = answers_of(columns, names, by_place, (left, right), options)
    outcome, answered = (np.concatenate([getattr(q, part) for q in questions]) for part in ("outcome", "answered"))
    sides = [(right_codes, left_codes) if question.swapped else (left_codes, right_codes) for question in questions]
    first, second = (np.concatenate([pair[k] for pair in sides]) for k in (0, 1))
    jurors, juror = _read_jurors(columns, names, by_place, len(left_codes))
    items, item = (
        ([], None) if columns.item is None else _read_names(by_place[columns.item], names[columns.item], "item")
    )
    given = answered & (first != second)
    if not given.any():
        raise VotesError("no row has two objects and an answer", code="empty")
    values = np.empty(0, dtype=object)
    if len(cells) > len(columns.used):
        distinct, of_row = cells[-1]
        values = np.tile(np.array([*clean_cells(distinct), None], dtype=object)[:-1][of_row], len(questions))[given]
    ordered, places = in_natural_order(objects, np.arange(len(objects)))
    preferences = Preferences(
        objects=tuple(map(str, ordered)),
        jurors=jurors,
        juror=juror[given],
        left=places[first][given],
        right=places[second][given],
        outcome=outcome[given],
        item=None if item is None else np.tile(item, len(questions))[given],
        items=tuple(items),
        is_placed=columns.winner is not None,
        remarks=_remarks(columns, names, options, int((~answered).sum()), int((first == second).sum())),
    )
    return preferences, values


def _read_names(cells: Column, name: str, what: str) -> tuple[list[Any], NDArray[Any]]:
    """Names as text and the code of each row; none may be missing."""
    values = [None if value is None else str(value) for value in clean_cells(cells[0], column=name)]
    gaps = np.array([value is None for value in values], dtype=np.bool_)[cells[1]]
    if gaps.any():
        row = int(np.argmax(gaps)) + 1
        raise row_fault(row, f"column {name!r}: the {what} is empty; fill it in, or remove the row")
    distinct, codes = factorize(values)
    return distinct, codes[cells[1]]


def _read_jurors(
    columns: PairColumns, names: Sequence[str], cells: dict[int, Column], rows: int
) -> tuple[tuple[str, ...], Ints]:
    if columns.several == "jurors":
        return tuple(names[k] for k in columns.answers), np.repeat(np.arange(len(columns.answers)), rows)
    orders = 2 if columns.several == "orders" else 1
    if columns.juror is None:
        return (EVERYONE,), np.zeros(rows * orders, dtype=np.int64)
    values, code = cells[columns.juror]
    texts = [", ".join(map(str, value)) if isinstance(value, list) else value for value in values]  # model and prompt
    distinct, code = _read_names((texts, code), names[columns.juror], "juror")
    ordered, code = in_natural_order(distinct, code)
    return tuple(map(str, ordered)), np.tile(code, orders)


def _remarks(
    columns: PairColumns, names: Sequence[str], options: PairReading, absent: int, same: int
) -> tuple[str, ...]:
    """How columns were interpreted, and what was left out."""
    left, right = names[columns.left], names[columns.right]
    who = f"the juror is {names[columns.juror]!r}" if columns.juror is not None else "no column names a juror"
    answers = quoted_names([names[k] for k in columns.answers])
    answer = f", the answer is {answers}" if columns.winner is not None else ""
    if columns.several is not None:
        answer = f", the answers are {answers}" + (" in the other order" if columns.several == "orders" else "")
    if columns.several == "flag":
        answer = f", the answer is {answers}" + ("" if options.names else " (0: the other side won)")
    who = "each a juror's" if columns.several == "jurors" else who
    what = "winners and losers" if columns.winner is None else "the two objects"
    remarks = [f"columns {left!r} and {right!r} are {what}{answer}, {who}"]
    if columns.item is not None:
        remarks.append(f"column {names[columns.item]!r} names the item of each comparison")
    if options.names:
        remarks.append(
            "answers as you defined them: " + ", ".join(f"{old!r} is {new}" for old, new in options.names.items())
        )
    if columns.winner is None:
        remarks.append("the order of display is unknown, so position bias is not estimated")
    if absent:
        remarks.append(f"{absent:,} rows without an answer are left out")
    if same:
        remarks.append(f"{same:,} rows that compare an object with itself are left out")
    return tuple(remarks)
