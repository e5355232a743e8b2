"""What the caller may call a column that is none yet: a field inside another (`sample.id`), or several joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

JOINT = "|"  #: between the parts of an item's name: few names have one, and those that do are escaped


def item_parts(names: Sequence[str], item: str | Sequence[str] | None) -> tuple[str, ...]:
    """The columns that name an item together: those of a list, or of a text with commas that is no column's name.

    >>> item_parts(["question_id", "model"], "question_id,model"), item_parts(["a,b", "c"], "a,b")
    (('question_id', 'model'), ('a,b',))
    """
    if item is None:
        return ()
    if isinstance(item, str):
        return (item,) if item in names or "," not in item else tuple(part.strip() for part in item.split(","))
    return tuple(map(str, item))


def escaped(part: Any) -> str:
    r"""A part of an item's name as it stands among others, so that no two items get one name.

    >>> "|".join(map(escaped, ["a|b", "c"])), "|".join(map(escaped, ["a", "b|c"])), escaped(7)
    ('a\\|b|c', 'a|b\\|c', '7')
    """
    return str(part).replace("\\", "\\\\").replace(JOINT, f"\\{JOINT}")


def home_of(names: Sequence[str], path: str) -> tuple[int, list[str]] | None:
    """The column that a dotted path begins with, and the steps inside it; None where it begins with none.

    >>> home_of(["id", "sample", "sample.meta"], "sample.meta.kind"), home_of(["id"], "sample.id")
    ((2, ['kind']), None)
    """
    steps = path.split(".")
    for many in range(len(steps) - 1, 0, -1):
        if (name := ".".join(steps[:many])) in names:
            return list(names).index(name), steps[many:]
    return None
