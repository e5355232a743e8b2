"""What each row of a table of preferences says: the first, the second, or neither."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from jurors.errors import VotesError
from jurors.names import nearest
from jurors.options import PairReading
from jurors.pairs.preferences import Ints
from jurors.votes.cells import Column, tidy
from jurors.votes.columns.answer_words import FIRST, SECOND, TIE, is_tie, sides_of
from jurors.votes.columns.pair_columns import PairColumns
from jurors.votes.columns.side_flags import DOWN, HALF, UP, are_flags, flag_side
from jurors.votes.files.faults import row_fault
from jurors.votes.findings.spelling import NO_VOTE_WORDS
from jurors.votes.layout import shown

_NOTHING = frozenset({"", "none"})


@dataclass(frozen=True)
class Asked:
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
) -> list[Asked]:
    """What each column of answers says: one as a rule, one per juror, or one per order of the two objects."""
    _check_named(columns, names, cells, told)
    if columns.several == "flags":
        return [_flagged(columns, names, cells)]
    if columns.several == "flag" and not told.names:
        return [_one_flag(columns, names, cells)]
    if columns.several in (None, "flag"):
        return [Asked(*_outcomes(columns, names, cells, sides, told))]
    each = [_outcomes(replace(columns, winner=k), names, cells, sides, told) for k in columns.answers]
    if columns.several == "jurors":
        return [Asked(*one) for one in each]
    (as_shown, said), (turned, said_again) = each
    return [Asked(as_shown, said), Asked(-turned, said_again, swapped=True)]


def _flagged(columns: PairColumns, names: Sequence[str], cells: dict[int, Column]) -> Asked:
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
        raise row_fault(int(np.argmax(many > 1)) + 1, f"columns {shown([names[k] for k in columns.answers])}: both won")
    return Asked(np.where(up[0], FIRST, np.where(up[1], SECOND, TIE)).astype(np.int64), many == 1)


def _one_flag(columns: PairColumns, names: Sequence[str], cells: dict[int, Column]) -> Asked:
    """A flag that is up where the side in its name won, down where the other did; perhaps one for ties beside it."""
    flag, *tie = columns.answers
    side = flag_side(names[flag], (names[columns.left], names[columns.right])) or FIRST
    said = [str(value).strip().casefold() for value in tidy(cells[flag][0], column=names[flag])]
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
    return Asked(np.where(absent, 0, read).astype(np.int64), ~absent)


def _check_named(columns: PairColumns, names: Sequence[str], cells: dict[int, Column], told: PairReading) -> None:
    """VotesError where an answer that is to be called otherwise is never given, or nothing can be called so."""
    if not told.names:
        return
    if columns.winner is None or columns.several == "flags":
        what = "winners and losers" if columns.winner is None else "a flag for each side"
        raise VotesError(f"--map renames answers, and these columns are {what}; leave it out", code="does_not_apply")
    answers = columns.answers or (columns.winner,)
    said = dict.fromkeys(str(v) for k in answers for v in tidy(cells[k][0], column=names[k]) if v is not None)
    for name in told.names:
        if name not in said:
            nearest(name, list(said), "answer to rename (--map)")


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
    values = [None if v is None else str(v) for v in tidy(cells[columns.winner][0], told.missing, column=name)]
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
