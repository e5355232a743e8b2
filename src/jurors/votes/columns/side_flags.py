"""Columns of 0 and 1 about two objects: where the name says which side won where it is 1, and where nothing does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from jurors.votes.columns.answer_words import FIRST, SECOND, SIDES, THINGS

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
    said = {cell.strip().casefold() for cell in cells}
    return bool(said & DOWN) and said <= UP | DOWN


def flag_side(name: str, objects: Sequence[str]) -> int | None:
    """The side that won where a column of this name is 1, the two objects standing in these columns.

    The name must speak of sides as the objects' do: what stands left need not be `model_a`.

    >>> both = ("model_a", "model_b")
    >>> [flag_side(name, both) for name in ("a_wins", "is_b_better", "model_a_won", "A beats B", "prefersA")]
    [1, -1, 1, 1, 1]
    >>> [flag_side(name, both) for name in ("left_wins", "winner", "a_or_b_wins", "best_model", "a")]
    [None, None, None, None, None]
    """
    words = [word for word in _words(name) if word not in _FILLING]
    for first, second in _sides_of_names(objects):
        sides = [word for word in words if word in (first, second)]
        rest = [word for word in words if word not in (first, second)]
        is_one = len(sides) == 1 and len(rest) == 1 and rest[0] in _WON
        is_both = len(set(sides)) == len(sides) == 2 and len(words) == 3 and words[1] in _BEATS
        is_than = len(set(sides)) == len(sides) == 2 and words[-2:-1] == ["than"] and set(rest) <= _WON | {"than"}
        if is_one or is_both or is_than:
            return FIRST if sides[0] == first else SECOND
    return None


def is_tie_flag(name: str) -> bool:
    """Whether a column of 0 and 1 says that neither won."""
    return "".join(_words(name)) in _TIES


def _words(name: str) -> list[str]:
    apart = re.sub(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])(?=[A-Za-z])", " ", name)
    return [word.casefold() for word in re.split(r"[\W_]+", apart) if word]


def _sides_of_names(objects: Sequence[str]) -> list[tuple[str, str]]:
    """How the names of the two columns call the sides; where they do not, every way that is left to right."""
    one, two = (set(_words(name)) for name in objects)
    named = [(first, second) for first, second in SIDES if first in one and second in two]
    spoken = any(word in one | two for pair in SIDES for word in pair)
    return named if named or spoken else [("left", "right"), ("first", "second")]
