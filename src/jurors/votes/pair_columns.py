"""Columns of a table that says which of two objects is better: the objects, the answer, the juror, the item.

Three parts, used by `jurors.pairwise` and by layout detection (which refuses such tables as votes): the words that
arenas, judges and forms use in cells for first, second and neither; columns of 0 and 1 whose names say which side won;
and the roles of columns, given by the caller or found by names and cells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from jurors.errors import VotesError, format_names
from jurors.options import PairReading, is_number
from jurors.votes.codes import NO_VOTE_WORDS
from jurors.votes.layout import ANY_ITEM_WORDS, ANY_JUROR_WORDS, ColumnProfile, bare_word, find_column, guess_column

# -- what a cell says about two objects -------------------------------------------------------------------------------

FIRST, TIE, SECOND = 1, 0, -1  #: what an answer says of the two objects

SIDES = (("a", "b"), ("1", "2"), ("left", "right"), ("first", "second"), ("one", "two"))
_FIRSTS, _SECONDS = (frozenset(words) for words in zip(*SIDES, strict=True))
_TIE_ANSWERS = frozenset(
    {
        *("tie", "tied", "ties", "draw", "equal", "same", "both", "neither", "tie (bothbad)", "tie (both bad)"),
        *("=", "==", "bothbad", "both bad", "both good", "both equal", "equally good", "equally bad", "a=b", "b=a"),
        *("[[c]]", "a~=b", "b~=a", "similar", "indifferent", "no preference", "no difference", "about the same"),
        *("1/2-1/2", "½-½", "0.5-0.5"),
    }
)
_POINTS = {"1-0": 1, "0-1": -1}  # as chess has them
THINGS = (
    *("model", "response", "answer", "option", "assistant", "output", "candidate", "text", "object", "item"),
    *("completion", "system", "player", "image", "choice"),
)
_SIDE = re.compile(rf"(?:the )?(?:(?:{'|'.join(THINGS)})[ _-]?)?(\w+?)(?: one)?(?:[ _-](?:wins|won|better|is better))?")
_SIGN = re.compile(r"([ab12])\s*([<>]{1,3})\s*([ab12])")


def side_of(cell: str, columns: Sequence[str] = ("", "")) -> int | None:
    """The side that a cell names, by a word or by the name of a column.

    Returns
    -------
    int or None
        `FIRST`, `SECOND` or `TIE`; None where it names none.

    Examples
    --------
    >>> [side_of(cell) for cell in ("model_a", "[[B]]", "A>>B", "tie (bothbad)", "Response 2", "gpt-4")]
    [1, -1, 1, 0, -1, None]
    >>> side_of("Claude", ("GPT", "Claude"))
    -1
    """
    word = cell.casefold().strip()
    if cell in columns:
        return FIRST if cell == columns[0] else SECOND
    if {word, word.replace(" ", ""), word.replace("_", " ")} & _TIE_ANSWERS:
        return TIE
    if word in _POINTS:
        return _POINTS[word]
    word = word.strip("[]()\"' ")
    if signed := _SIGN.fullmatch(word):  # A>>B
        left, sign, right = signed.groups()
        if left == right or "<>" in sign or "><" in sign:
            return None
        return FIRST if (left if sign[0] == ">" else right) in _FIRSTS else SECOND
    named = _SIDE.fullmatch(word)
    if named is None:
        return None
    return FIRST if named[1] in _FIRSTS else SECOND if named[1] in _SECONDS else None


def sides_of(cells: Iterable[str | None], columns: Sequence[str] = ("", "")) -> list[int | None]:
    """The side that each distinct cell of a column names; where one is a half, cells are the points of the first side.

    Returns
    -------
    list
        Of `FIRST`, `SECOND`, `TIE` or None, one per cell.

    Examples
    --------
    >>> sides_of(["1", "0", "0.5"]), sides_of(["1", "2"])
    ([1, -1, 0], [1, -1])
    """
    answers = list(cells)
    points = {1.0: FIRST, 0.5: TIE, 0.0: SECOND}
    worth = [float(cell) if is_number(cell) else None for cell in answers if cell is not None]
    if 0.5 in worth and all(value in points for value in worth):
        return [None if cell is None else points[float(cell)] for cell in answers]
    return [None if cell is None else side_of(cell, columns) for cell in answers]


def is_tie(cell: str) -> bool:
    """Whether a cell says that neither is better."""
    return side_of(cell) == TIE


def twin_of(name: str) -> tuple[str, str] | None:
    """The name of the second column of a pair, from that of the first.

    The name says "first" at its end or its beginning, separated by a mark, a case or a digit.

    Returns
    -------
    tuple or None
        The second column's name, and what the two are of; None where the name says no side.

    Examples
    --------
    >>> [twin_of(name) for name in ("model_a", "Left", "object1", "answerA", "data", "first_text")]
    [('model_b', 'model'), ('Right', ''), ('object2', 'object'), ('answerB', 'answer'), None, ('second_text', 'text')]
    """
    for first, second in SIDES:
        word = first if first.isdigit() else f"{first}|{first.capitalize()}|{first.upper()}"
        separated = r"(?:^|[\W_]|(?<=[A-Za-z])(?=\d)|(?<=[a-z])(?=[A-Z]))"
        match = re.search(rf"{separated}({word})$", name) or re.search(rf"^({word})(?=[\W_])", name)
        if match is not None:
            before, after, side = name[: match.start(1)], name[match.end(1) :], match[1]
            other = second.upper() if side.isupper() else second.capitalize() if side[:1].isupper() else second
            return before + other + after, re.sub(r"[\W_]+", "", before + after).lower()
    return None


# -- columns of 0 and 1 about two objects -----------------------------------------------------------------------------

UP, DOWN = frozenset({"1", "1.0", "true", "yes", "x"}), frozenset({"0", "0.0", "false", "no"})
HALF = frozenset({"0.5", ".5"})
_WON = frozenset(
    {"win", "wins", "won", "winner", "better", "best", "preferred", "prefers", "prefer", "pref", "chosen", "chose"}
)
_BEATS = frozenset({"beats", "beat", "over"})
_FILLING = frozenset({"is", "was", "the", "human", "judge", "label", "flag", "by", "y", *THINGS})
_TIES = frozenset({"tie", "istie", "tied", "istied", "draw", "isdraw", "winnertie"})


def are_flags(cells: Iterable[str]) -> bool:
    """Whether these distinct cells are 0 and 1 (or no and yes), and nothing else; all ones may be sides.

    >>> are_flags(["0", "1"]), are_flags(["1", "2"]), are_flags(["1"])
    (True, False, False)
    """
    values = {cell.strip().casefold() for cell in cells}
    return bool(values & DOWN) and values <= UP | DOWN


def flag_side(name: str, objects: Sequence[str]) -> int | None:
    """The side that won where a column of this name is 1, the two objects being in the columns `objects`.

    The name must call the sides as the objects' names do: the left one need not be `model_a`.

    Returns
    -------
    int or None
        `FIRST` or `SECOND`; None where the name says neither.

    Examples
    --------
    >>> both = ("model_a", "model_b")
    >>> [flag_side(name, both) for name in ("a_wins", "is_b_better", "model_a_won", "A beats B", "prefersA")]
    [1, -1, 1, 1, 1]
    >>> [flag_side(name, both) for name in ("left_wins", "winner", "a_or_b_wins", "best_model", "a")]
    [None, None, None, None, None]
    """
    words = [word for word in _words(name) if word not in _FILLING]
    left, right = (set(_words(column)) for column in objects)
    pairs = [(first, second) for first, second in SIDES if first in left and second in right]
    if not pairs and not any(word in left | right for pair in SIDES for word in pair):
        pairs = [("left", "right"), ("first", "second")]  # the objects' names say no side: every way from left to right
    for first, second in pairs:
        sides = [word for word in words if word in (first, second)]
        rest = [word for word in words if word not in (first, second)]
        is_one = len(sides) == 1 and len(rest) == 1 and rest[0] in _WON
        is_both = len(set(sides)) == len(sides) == 2 and len(words) == 3 and words[1] in _BEATS
        is_than = len(set(sides)) == len(sides) == 2 and words[-2:-1] == ["than"] and set(rest) <= _WON | {"than"}
        if is_one or is_both or is_than:
            return FIRST if sides[0] == first else SECOND
    return None


def _words(name: str) -> list[str]:
    separated = re.sub(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])(?=[A-Za-z])", " ", name)
    return [word.casefold() for word in re.split(r"[\W_]+", separated) if word]


# -- the roles of columns ---------------------------------------------------------------------------------------------

_WINNERS = (
    *("winner", "preferred", "preference", "better", "verdict", "judgment", "judgement", "decision", "choice", "vote"),
    *("label", "answer", "outcome", "result", "annotation", "humanlabel"),
)
_SURE = _WINNERS[:4]  # mean nothing else, whatever their cells are
_LOSERS = (("winner", "loser"), ("chosen", "rejected"), ("better", "worse"), ("preferred", "rejected"))
_STEMS = (
    *("", "model", "object", "system", "player", "item", "option", "method", "team", "candidate", "assistant", "id"),
    *("name", "image", "text", "output", "completion", "answer", "response"),
)
_MOST_ALIKE = 0.02  # of rows may compare an object with itself
_JURORS = tuple(word for word in ANY_JUROR_WORDS if word not in ("model", "system"))
_ITEMS = tuple(word for word in ANY_ITEM_WORDS if word not in ("text", "image"))
_QUESTIONS = ("question", "prompt", "instruction", "query", "conversation")
_ORDERS = ("g1winner", "g2winner")  # FastChat: who wins as shown, and with the two the other way round

#: what several columns of answers are: jurors, the two orders of one pair, one flag each for first, second and tie; or
#: one flag for one side alone, perhaps with one for ties
Several: TypeAlias = Literal["jurors", "orders", "flags", "flag"]


@dataclass(frozen=True)
class PairColumns:
    """Positions of the columns."""

    left: int
    right: int
    answers: tuple[int, ...] = ()  #: the columns that answer; none: the left column holds winners, the right one losers
    several: Several | None = None  #: what these are, where there are several
    juror: int | None = None
    item: int | None = None

    @property
    def winner(self) -> int | None:
        """The first column that answers."""
        return self.answers[0] if self.answers else None

    @property
    def used(self) -> tuple[int, ...]:
        """Every column that is read."""
        return tuple(k for k in (*self.compared, self.juror, self.item) if k is not None)

    @property
    def compared(self) -> tuple[int, ...]:
        """The columns of objects and answers."""
        return (self.left, self.right, *self.answers)


def pair_columns(names: Sequence[str], facts: Callable[[], ColumnProfile], options: PairReading) -> PairColumns | None:
    """Find what each column is.

    Parameters
    ----------
    names
        The columns' names.
    facts
        Profiles the first rows.
    options
        The caller's options.

    Returns
    -------
    PairColumns or None
        None where these are no pairs of objects with an answer.
    """
    left, right, winner = (
        None if name is None else find_column(names, name) for name in (options.left, options.right, options.winner)
    )
    if left is None or right is None:
        if left is right is winner is None and (lost := _with_losers(names)) is not None:
            return _with_juror_and_item(names, facts(), options, PairColumns(*lost))
        if (sides := _sides(names)) is None:
            return None
        left, right = sides
    if winner is None:
        if (answers := _answer_columns(names, facts(), (left, right), options)) is None:
            return None
        columns = PairColumns(left, right, *answers)
    elif flag_side(names[winner], (names[left], names[right])) is not None:
        columns = PairColumns(left, right, (winner, *_tie_flags(names, facts())), "flag")
    else:
        columns = PairColumns(left, right, (winner,))
    return _with_juror_and_item(names, facts(), options, columns)


def certain_pair_columns(
    names: Sequence[str], facts: Callable[[], ColumnProfile], ignored: Sequence[str] = ()
) -> PairColumns | None:
    """Find the columns of a table that says which of two objects is better.

    Returns
    -------
    PairColumns or None
        None where names and cells leave a doubt, or where the caller ignores one of the columns.
    """
    try:
        columns = pair_columns(names, facts, PairReading())
    except VotesError:  # several columns may be the answer, or none: the reader of pairs explains it
        return None
    if columns is None or any(names[k] in ignored for k in columns.compared):
        return None
    return columns if are_surely_pairs(names, facts(), columns) else None


def may_name_pairs(words: Sequence[str]) -> bool:
    """Whether these words have the names of two such columns among them."""
    return _sides(words) is not None or _with_losers(words) is not None


def are_surely_pairs(names: Sequence[str], facts: ColumnProfile, columns: PairColumns) -> bool:
    """Whether there is no doubt: jurors in columns `model_1,model_2` often vote alike, and may be three."""
    if columns.winner is None or columns.several in ("orders", "flags", "flag"):
        return True
    left = names[columns.left].lower()
    thirds = {left[:-1] + third for first, third in (("a", "c"), ("1", "3")) if left.endswith(first)}
    same = (facts.columns[columns.left].cells == facts.columns[columns.right].cells).mean()
    is_named = columns.several is not None or guess_column([names[columns.winner]], _WINNERS) is not None
    if guess_column([names[columns.winner]], _SURE) is None and are_flags(facts.columns[columns.winner].values):
        has_item = guess_column(names, _ITEMS, columns.compared) is not None
        is_named = _share_names(facts, (columns.left, columns.right)) and not has_item
    return is_named and same <= _MOST_ALIKE and not {name.lower() for name in names} & thirds


def _with_losers(names: Sequence[str]) -> tuple[int, int] | None:
    """The columns of winners and of losers."""
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


def _answer_columns(
    names: Sequence[str], facts: ColumnProfile, sides: tuple[int, int], options: PairReading
) -> tuple[tuple[int, ...], Several | None] | None:
    """The columns that say which is better, and what they are where there are several."""
    words = [bare_word(name) for name in names]
    flags = [f"winner{words[side]}" for side in sides]
    if set(flags) <= set(words):
        flags += ["winnertie"] if "winnertie" in words else []
        return tuple(words.index(word) for word in flags), "flags"
    if set(_ORDERS) <= set(words):
        return (words.index(_ORDERS[0]), words.index(_ORDERS[1])), "orders"
    if (flagged := _flagged(names, facts, sides)) is not None:
        return flagged
    if (sure := guess_column(names, _SURE, sides)) is not None:
        return (sure,), None  # whatever is wrong with its cells is reported when they are read
    # the juror and the item may well be called 1 and 2, or a and b
    others = {guess_column(names, words, sides) for words in (_JURORS, _ITEMS)}
    free = [k for k in range(len(names)) if k not in {*sides, *others}]
    able = [k for k in free if _names_sides(facts, k, sides)]
    if not able:
        # columns of 0 and 1 may be the answer, but not which: by their name, or where both sides share objects
        shared = _share_names(facts, sides)
        able = [k for k in free if are_flags(facts.columns[k].values)]
        able = [k for k in able if shared or guess_column([names[k]], _WINNERS) is not None]
    if (named := guess_column(names, _WINNERS, set(range(len(names))) - set(able))) is not None:
        return (named,), None
    if len(able) > 1:  # a column of 1 and 2 may also be a turn, or a number of the form
        able = [k for k in able if not all(value.isdigit() for value in facts.columns[k].values)] or able
    if len(able) > 1 and (options.juror is not None or guess_column(names, _JURORS, (*sides, *able)) is not None):
        rivals = tuple(names[k] for k in able)
        message = f"columns {format_names(map(repr, rivals), 4)} all say which of two is better"
        raise VotesError(f"{message}; name one with winner=", code="two_readings", columns=rivals)
    return (tuple(able), "jurors" if len(able) > 1 else None) if able else None


def _flagged(
    names: Sequence[str], facts: ColumnProfile, sides: tuple[int, int]
) -> tuple[tuple[int, ...], Several | None] | None:
    """Columns of 0 and 1 whose names say which side won: one of either side, or of one alone."""
    objects = [names[side] for side in sides]
    flags: dict[int, int] = {}
    for k in range(len(names)):
        side = None if k in sides else flag_side(names[k], objects)
        if side is None or side in flags:
            continue
        values = {value.strip().casefold() for value in facts.columns[k].values}
        if values & (UP | DOWN) and all(v in UP | DOWN | HALF | NO_VOTE_WORDS or is_tie(v) for v in values):
            flags[side] = k
    if not flags:
        return None
    both = (*(flags[side] for side in (FIRST, SECOND) if side in flags), *_tie_flags(names, facts))
    return both, "flags" if len(flags) == 2 else "flag"


def _tie_flags(names: Sequence[str], facts: ColumnProfile) -> tuple[int, ...]:
    named = (k for k, name in enumerate(names) if "".join(_words(name)) in _TIES)
    return tuple(k for k in named if are_flags(facts.columns[k].values))[:1]


def _share_names(facts: ColumnProfile, sides: tuple[int, int]) -> bool:
    """Whether most objects of one column are there in the other, too, as of players who meet."""
    left, right = (set(facts.columns[side].values) for side in sides)
    return len(left | right) > 2 and 2 * len(left & right) >= len(left | right)


def _names_sides(facts: ColumnProfile, k: int, sides: tuple[int, int]) -> bool:
    """Whether nearly all cells of a column name a side, one of the two objects, or a tie."""
    column, objects = facts.columns[k], [facts.columns[side] for side in sides]
    if not column.filled or column.kind == "nested":
        return False
    named = sides_of(column.values, tuple(side.name for side in objects))
    empty = [value.casefold() in NO_VOTE_WORDS for value in column.values]
    sided = np.array([*(a is not None or b for a, b in zip(named, empty, strict=True)), True])[column.codes]
    ties = np.array([*(is_tie(value) for value in column.values), True])[column.codes]
    is_object = (column.cells == objects[0].cells) | (column.cells == objects[1].cells)
    return bool(max(sided.mean(), (is_object | ties).mean()) >= 0.9)


def _with_juror_and_item(
    names: Sequence[str], facts: ColumnProfile, options: PairReading, columns: PairColumns
) -> PairColumns:
    """With the juror's and the item's column; an item that never comes again only numbers the rows.

    Unless it is called a question: two objects in the other order about another question are no second answer.
    """
    juror = guess_column(names, _JURORS, columns.used) if options.juror is None else find_column(names, options.juror)
    item = None if options.item is None else find_column(names, options.item)
    if item is None:
        item = guess_column(names, _ITEMS, (*columns.used, juror))
        numbers_rows = item is not None and facts.is_unique(item) and facts.columns[item].word not in _QUESTIONS
        item = None if item is None or numbers_rows or facts.columns[item].kind == "nested" else item
    return replace(columns, juror=juror, item=item)
