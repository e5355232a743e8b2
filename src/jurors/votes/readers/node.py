"""Another tool's JSON, read step by step: each step says what it expects; anything else there is one clear line.

A `Node` is a value and the way to it. Its parts are nodes again; what is absent is null, all the way down.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jurors.errors import VotesError
from jurors.options import Label
from jurors.votes.label_codes import plain

_BRIEF = reprlib.Repr()
_BRIEF.maxlevel = 2
_BRIEF.maxdict = _BRIEF.maxlist = 3
_BRIEF.maxstring = _BRIEF.maxlong = _BRIEF.maxother = 40


def shown(value: Any) -> str:
    """A value in a few words, however long or deep it is.

    >>> shown([[[["x"]]]] * 9), shown("x" * 50)
    ('[[[...]], [[...]], [[...]], ...]', "'xxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxx'")
    """
    return _BRIEF.repr(value)


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a JSON document: where it stands, and what it may be.

    Examples
    --------
    >>> task = Node({"id": 7, "result": [{"value": "yes"}, {"value": ["no"]}]}, "task 7: ")
    >>> [part["value"].value for part in task["result"].parts()], task["lead"]["time"].value
    (['yes', ['no']], None)
    >>> task["result"].parts()[1]["value"].single()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    jurors.errors.VotesError: task 7: 'result[1].value' is ['no']; expected a single value; mend it or write ...
    """

    value: Any
    where: str = ""  #: what a message begins with: the file and the record
    path: str = ""  #: from there to this value

    def __getitem__(self, key: str) -> Node:
        """The part called so; null where there is none."""
        return self._at(key, self._record().get(key))

    def __contains__(self, key: str) -> bool:
        return key in self._record()

    @property
    def is_null(self) -> bool:
        """Whether nothing is said here."""
        return self.value is None

    @property
    def is_record(self) -> bool:
        """Whether it has parts under names."""
        return isinstance(self.value, dict)

    @property
    def is_list(self) -> bool:
        """Whether it has parts in order."""
        return isinstance(self.value, list)

    def entries(self) -> list[tuple[str, Node]]:
        """The parts of a record, under their names."""
        return [(self._whole_text(key), self._at(key, value)) for key, value in self._record().items()]

    def parts(self) -> list[Node]:
        """The parts of a list."""
        if self.value is not None and not self.is_list:
            raise self.wrong("a list")
        return [Node(value, self.where, f"{self.path}[{k}]") for k, value in enumerate(self.value or ())]

    def record_or_nothing(self) -> dict[str, Any]:
        """The record, where it is one: of what is only shown, nothing is refused."""
        return self.value if self.is_record else {}

    def numbered(self) -> Iterator[tuple[int, Node]]:
        """The records of a list, from 1."""
        return enumerate(self.records(), 1)

    def records(self) -> Iterator[Node]:
        """The parts of a list, each of them a record."""
        for part in self.parts():
            if not part.is_record:
                raise part.wrong("a record")
            yield part

    def single(self) -> Label | None:
        """A vote, or an item's name: text, a number, true or false; None where nothing is said (null, NaN)."""
        value = plain(self.value)  # a frame may hold numpy's
        if isinstance(value, str):
            return self._whole_text(value)
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return None
        if not isinstance(value, (int, float)):
            raise self.wrong("a single value")
        return value

    def needed(self, expected: str) -> Label:
        """A single value without which there is no vote, such as the item's name; VotesError where nothing is said."""
        value = self.single()
        if value is None:
            raise self.wrong(expected)
        return value

    def text(self, default: str = "") -> str:
        """A name; the default where none is given."""
        value = self.single()
        return default if value is None or value == "" else str(value)

    def whole(self, default: int) -> int:
        """A whole number; the default where none is given."""
        if self.value is not None and type(self.value) is not int:
            raise self.wrong("a whole number")
        return default if self.value is None else self.value

    def truth(self) -> bool | None:
        """True, false, or nothing."""
        if self.value is not None and not isinstance(self.value, bool):
            raise self.wrong("true, false or null")
        return self.value

    def wrong(self, expected: str, todo: str = "mend it or write the file again") -> VotesError:
        """What to say where something else was expected here."""
        if self.is_null:
            return VotesError(f"{self.where}there is no {self.path!r}; expected {expected}; {todo}")
        place = repr(self.path) if self.path else "the record"
        return VotesError(f"{self.where}{place} is {shown(self.value)}; expected {expected}; {todo}")

    def _record(self) -> dict[str, Any]:
        if self.value is not None and not self.is_record:
            raise self.wrong("a record")
        return self.value or {}

    def _at(self, key: str, value: Any) -> Node:
        return Node(value, self.where, f"{self.path}.{key}" if self.path else key)

    def _whole_text(self, text: str) -> str:
        """The text; half a character, which JSON can hold and nothing can write, is refused."""
        try:
            text.encode()
        except UnicodeEncodeError:
            raise self.wrong("whole characters (a surrogate stands alone)") from None
        return text
