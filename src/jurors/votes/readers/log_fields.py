"""What a log tells of each item beside the votes: the target, the metadata, the model under test; by dotted names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

_DEEPEST = 4
_LONGEST = 1000  # characters of a value that can be a label or a group

Fields: TypeAlias = Mapping[str, list[tuple[Any, Any]]]  #: by name, items and what is told of them, in their order


class LogFields:
    """Values by name, each beside its item; what is a text of pages, or a list, can be no label and no group.

    Examples
    --------
    >>> fields = LogFields()
    >>> fields.add("q1", {"target": ["B"], "metadata": {"topic": "law", "source": {"year": 1999}}, "notes": None})
    >>> fields.by_name
    {'target': [('q1', 'B')], 'metadata.topic': [('q1', 'law')], 'metadata.source.year': [('q1', 1999)]}
    """

    def __init__(self) -> None:
        self.by_name: dict[str, list[tuple[Any, Any]]] = {}

    def add(self, item: Any, told: Mapping[str, Any]) -> None:
        """What is told of an item, records inside by dotted names."""
        for name, value in _flat(told, "", _DEEPEST):
            self.by_name.setdefault(name, []).append((item, value))


def _flat(told: Mapping[Any, Any], before: str, deep: int) -> Iterator[tuple[str, Any]]:
    for key, value in told.items():
        if isinstance(value, list) and len(value) == 1:
            (value,) = value
        if isinstance(value, Mapping) and deep:
            yield from _flat(value, f"{before}{key}.", deep - 1)
        elif isinstance(value, (bool, int, float)) or (isinstance(value, str) and len(value) <= _LONGEST):
            yield f"{before}{key}", value
