"""What a cell says of two objects: the words that arenas, judges and forms have for first, second and neither."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

FIRST, TIE, SECOND = 1, 0, -1  #: what an answer says of the two objects

SIDES = (("a", "b"), ("1", "2"), ("left", "right"), ("first", "second"), ("one", "two"))
_FIRSTS, _SECONDS = (frozenset(words) for words in zip(*SIDES, strict=True))
_TIES = frozenset(
    {
        *(
            "tie",
            "tied",
            "ties",
            "draw",
            "equal",
            "same",
            "both",
            "neither",
            "tie (bothbad)",
            "tie (both bad)",
            "=",
            "==",
        ),
        *(
            "bothbad",
            "both bad",
            "both good",
            "both equal",
            "equally good",
            "equally bad",
            "no preference",
            "a=b",
            "b=a",
        ),
        *("[[c]]", "a~=b", "b~=a", "similar", "indifferent", "no difference", "about the same"),
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
    """The side that a cell names, by a word or by the name of a column; None where it names none.

    >>> [side_of(cell) for cell in ("model_a", "[[B]]", "A>>B", "tie (bothbad)", "Response 2", "gpt-4")]
    [1, -1, 1, 0, -1, None]
    >>> side_of("Claude", ("GPT", "Claude"))
    -1
    """
    word = cell.casefold().strip()
    if cell in columns:
        return FIRST if cell == columns[0] else SECOND
    if word in _TIES or word.replace(" ", "") in _TIES or word.replace("_", " ") in _TIES:
        return TIE
    if word in _POINTS:
        return _POINTS[word]
    word = word.strip("[]()\"' ")
    if signed := _SIGN.fullmatch(word):
        return _greater(*signed.groups())
    named = _SIDE.fullmatch(word)
    if named is None:
        return None
    return FIRST if named[1] in _FIRSTS else SECOND if named[1] in _SECONDS else None


def sides_of(cells: Iterable[str | None], columns: Sequence[str] = ("", "")) -> list[int | None]:
    """The side that each distinct cell of a column names. Where one is a half, they are the points of the first.

    >>> sides_of(["1", "0", "0.5"]), sides_of(["1", "2"])
    ([1, -1, 0], [1, -1])
    """
    said = list(cells)
    points = {1.0: FIRST, 0.5: TIE, 0.0: SECOND}
    worth = [_number(cell) for cell in said if cell is not None]
    if 0.5 in worth and all(value in points for value in worth):
        return [None if cell is None else points[float(cell)] for cell in said]
    return [None if cell is None else side_of(cell, columns) for cell in said]


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _greater(one: str, sign: str, other: str) -> int | None:
    if one == other or "<>" in sign or "><" in sign:
        return None
    better = one if sign[0] == ">" else other
    return FIRST if better in _FIRSTS else SECOND


def is_tie(cell: str) -> bool:
    """Whether a cell says that neither is better."""
    return side_of(cell) == TIE


def twin_of(name: str) -> tuple[str, str] | None:
    """Of a column that speaks of a first: the name of the one beside it, and what the two are of.

    >>> [twin_of(name) for name in ("model_a", "Left", "object1", "answerA", "data", "first_text")]
    [('model_b', 'model'), ('Right', ''), ('object2', 'object'), ('answerB', 'answer'), None, ('second_text', 'text')]
    """
    for first, second in SIDES:
        for pattern in _places(first):
            if (match := pattern.search(name)) is not None:
                before, after = name[: match.start(1)], name[match.end(1) :]
                return before + _in_case(second, match[1]) + after, re.sub(r"[\W_]+", "", before + after).lower()
    return None


def _places(first: str) -> tuple[re.Pattern[str], ...]:
    """Where a name may say "first": at its end or its beginning, apart by a mark, a case or a digit."""
    word = first if first.isdigit() else f"{first}|{first.capitalize()}|{first.upper()}"
    apart = r"(?:^|[\W_]|(?<=[A-Za-z])(?=\d)|(?<=[a-z])(?=[A-Z]))"
    return re.compile(rf"{apart}({word})$"), re.compile(rf"^({word})(?=[\W_])")


def _in_case(word: str, like: str) -> str:
    return word.upper() if like.isupper() else word.capitalize() if like[:1].isupper() else word
