"""`LazyField`: a field of a result that may be given as a function, and is worked out when somebody first reads it."""

from __future__ import annotations

from typing import Any


class LazyField:
    """A field that may be given as a function: it is called when somebody first reads the field.

    Set on the class after it was made a dataclass, so that everything else (its signature, `replace`, copies) is as of
    any other field. Where a result is to be pickled before anybody looked, the function must be picklable.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Card:
    ...     score: float
    >>> Card.score = LazyField("score")
    >>> card = Card(lambda: print("worked out") or 0.5)
    >>> card.score, card.score
    worked out
    (0.5, 0.5)
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, result: Any, owner: type | None = None) -> Any:
        if result is None:  # of the class itself
            return self
        value = vars(result)[self.name]
        if callable(value):
            value = vars(result)[self.name] = value()
        return value

    def __set__(self, result: Any, value: Any) -> None:
        vars(result)[self.name] = value
