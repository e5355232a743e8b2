"""Which column holds the two objects, the answer, the juror and the item: told, or by names and cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from jurors.errors import VotesError
from jurors.names import some
from jurors.options import PairReading
from jurors.pairs.answer_words import is_tie, side_of, twin_of
from jurors.votes.columns.column_words import MORE_ITEM_WORDS, MORE_JUROR_WORDS
from jurors.votes.columns.facts import Facts
from jurors.votes.findings.spelling import NO_VOTE_WORDS
from jurors.votes.layout import ITEM_WORDS, JUROR_WORDS, bare_word, find_column, guess_column

_WINNERS = (
    *("winner", "preferred", "preference", "better", "verdict", "judgment", "judgement", "decision", "choice", "vote"),
    *("label", "answer", "outcome", "result", "annotation", "humanlabel"),
)
_LOSERS = (("winner", "loser"), ("chosen", "rejected"), ("better", "worse"), ("preferred", "rejected"))
_STEMS = (
    *("", "model", "object", "system", "player", "item", "option", "method", "team", "candidate", "assistant", "id"),
    *("name", "image", "text", "output", "completion", "answer", "response"),
)
_MOST_ALIKE = 0.02  # of rows may compare an object with itself
_JURORS = tuple(word for word in (*JUROR_WORDS, *MORE_JUROR_WORDS) if word not in ("model", "system"))
_ITEMS = tuple(word for word in (*ITEM_WORDS, *MORE_ITEM_WORDS) if word not in ("text", "image"))


@dataclass(frozen=True)
class PairColumns:
    """Positions of the columns."""

    left: int
    right: int
    winner: int | None  #: None: the left column holds winners, the right one losers
    juror: int | None
    item: int | None

    @property
    def used(self) -> tuple[int, ...]:
        """Every column that is read."""
        places = (self.left, self.right, self.winner, self.juror, self.item)
        return tuple(k for k in places if k is not None)


def pair_columns(names: Sequence[str], facts: Callable[[], Facts], told: PairReading) -> PairColumns | None:
    """What each column is; None where these are no pairs of objects with an answer."""
    left, right = _told(names, told.left), _told(names, told.right)
    winner = _told(names, told.winner)
    if left is None or right is None:
        lost = _with_losers(names, told)
        sides = _sides(names)
        if lost is None and sides is None:
            return None
        left, right = lost or sides or (0, 0)
        if lost is not None:
            return _beside(names, facts(), told, PairColumns(left, right, None, None, None))
    if winner is None:
        winner = _winner(names, facts(), (left, right))
    return None if winner is None else _beside(names, facts(), told, PairColumns(left, right, winner, None, None))


def may_name_pairs(words: Sequence[str]) -> bool:
    """Whether these words have the names of two such columns among them."""
    return _sides(words) is not None or _with_losers(words, PairReading()) is not None


def are_surely_pairs(names: Sequence[str], facts: Facts, columns: PairColumns) -> bool:
    """Whether nobody need say so: jurors in columns `model_1,model_2` say the same often, and may be three."""
    if columns.winner is None:
        return True
    third = {"a": "c", "1": "3", "first": "third", "one": "three"}
    left = names[columns.left]
    thirds = {left[:-1] + third[left[-1:].lower()]} if left[-1:].lower() in third else set()
    one, two = (facts.columns[k] for k in (columns.left, columns.right))
    cells = [np.array([*side.values, ""], dtype=object)[side.codes] for side in (one, two)]
    same = float((cells[0] == cells[1]).mean())
    is_named = guess_column([names[columns.winner]], _WINNERS) is not None
    return is_named and same <= _MOST_ALIKE and not {name.lower() for name in names} & {name.lower() for name in thirds}


def _told(names: Sequence[str], name: str | None) -> int | None:
    return None if name is None else find_column(names, name)


def _with_losers(names: Sequence[str], told: PairReading) -> tuple[int, int] | None:
    """The columns of winners and of losers, where there are such and no other column names a winner."""
    if told.winner is not None or told.left is not None or told.right is not None:
        return None
    words = [bare_word(name) for name in names]
    return next(((words.index(one), words.index(two)) for one, two in _LOSERS if {one, two} <= set(words)), None)


def _sides(names: Sequence[str]) -> tuple[int, int] | None:
    """The two columns whose names differ by their side alone; those that name objects before those of texts."""
    twins = []
    for k, name in enumerate(names):
        other, stem = twin_of(name) or ("", "")
        if other in names and bare_word(stem) in _STEMS:
            twins.append((_STEMS.index(bare_word(stem)), k, list(names).index(other)))
    return min(twins)[1:] if twins else None


def _winner(names: Sequence[str], facts: Facts, sides: tuple[int, int]) -> int | None:
    """The column that says which is better: by a name that means nothing else, else by its cells."""
    if (sure := guess_column(names, _WINNERS[:4], sides)) is not None:
        return sure  # whatever is wrong with its cells is to be told
    beside = {
        guess_column(names, words, sides) for words in (_JURORS, _ITEMS)
    }  # may well be called 1 and 2, or a and b
    speaks = [k for k in range(len(names)) if k not in {*sides, *beside} and _speaks(facts, k, sides)]
    if (named := guess_column(names, _WINNERS, set(range(len(names))) - set(speaks))) is not None:
        return named
    if len(speaks) > 1:
        _refuse_two([names[k] for k in speaks])
    return speaks[0] if speaks else None


def _refuse_two(names: Sequence[str]) -> NoReturn:
    raise VotesError(
        f"columns {some(map(repr, names), 4)} all say which of two is better; name one with winner= (--winner COLUMN)",
        code="two_readings",
        columns=tuple(names),
    )


def _speaks(facts: Facts, k: int, sides: tuple[int, int]) -> bool:
    """Whether nearly all cells of a column name a side, one of the two objects, or a tie."""
    column, objects = facts.columns[k], [facts.columns[side] for side in sides]
    if not column.filled or column.kind == "nested":
        return False
    names = tuple(side.name for side in objects)
    sided = np.array([*(_is_spoken(value, names) for value in column.values), True])[column.codes]
    ties = np.array([*(is_tie(value) for value in column.values), True])[column.codes]
    cells = np.array([*column.values, ""], dtype=object)[column.codes]
    own = [np.array([*side.values, ""], dtype=object)[side.codes] for side in objects]
    named = (cells == own[0]) | (cells == own[1]) | ties
    return bool(max(sided.mean(), named.mean()) >= 0.9)


def _is_spoken(value: str, columns: Sequence[str]) -> bool:
    return side_of(value, columns) is not None or value.casefold() in NO_VOTE_WORDS


def _beside(names: Sequence[str], facts: Facts, told: PairReading, columns: PairColumns) -> PairColumns:
    """With the juror's and the item's column; an item that never comes again only numbers the rows."""
    taken = set(columns.used)
    juror = _told(names, told.juror)
    juror = guess_column(names, _JURORS, taken) if juror is None else juror
    taken |= set() if juror is None else {juror}
    item = _told(names, told.item)
    if item is None:
        item = guess_column(names, _ITEMS, taken)
        item = None if item is None or facts.is_unique(item) or facts.columns[item].kind == "nested" else item
    return PairColumns(columns.left, columns.right, columns.winner, juror, item)
