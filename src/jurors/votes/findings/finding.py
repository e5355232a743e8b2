"""`Finding`: one thing to know about some votes, the same for every command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from jurors.options import Label

Level: TypeAlias = Literal["note", "warning", "alarm"]
_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know: a name for programs, a sentence for people, whom or what it concerns, and how grave it is.

    Of a note nothing follows, a warning needs a look, an alarm stops `check`.
    """

    kind: str
    message: str
    about: tuple[Label, ...] = ()
    level: Level = "note"
    value: float | None = None


def listed(names: Sequence[Any]) -> str:
    """The first names, for a sentence.

    >>> listed(["ann", "bob", "cy"])
    "'ann', 'bob' and 'cy'"
    """
    shown = list(map(repr, names[:_SHOWN]))
    if len(names) > _SHOWN:
        return f"{', '.join(shown)} and {len(names) - _SHOWN} more"
    return ", ".join(shown) if len(shown) < 2 else f"{', '.join(shown[:-1])} and {shown[-1]}"
