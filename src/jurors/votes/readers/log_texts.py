"""What a log shows of each item: the question that was asked, the answer that was judged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


class LogTexts:
    """Texts by item and column. A column that one item has twice, differently, is about jurors, and is left out.

    Examples
    --------
    >>> texts = LogTexts()
    >>> texts.add("q1", question="2 + 2?", answer="4")
    >>> texts.add("q1", question="2 + 2?", answer="5")
    >>> texts.by_item
    {'q1': {'question': '2 + 2?'}}
    """

    def __init__(self) -> None:
        self._texts: dict[Any, dict[str, str]] = {}
        self._contested: set[str] = set()

    def add(self, item: Any, columns: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        """What is to be shown of an item; nothing where a value is empty."""
        own = self._texts.setdefault(item, {})
        for name, value in {**(columns or {}), **more}.items():
            text = as_text(value)
            if text and own.setdefault(name, text) != text:
                self._contested.add(name)

    @property
    def by_item(self) -> dict[Any, dict[str, str]]:
        """Item -> column -> text."""
        return {
            item: {name: text for name, text in own.items() if name not in self._contested}
            for item, own in self._texts.items()
        }


def as_text(value: Any) -> str:
    r"""A value of JSON as a person reads it: messages one below the other, other records as indented JSON.

    Examples
    --------
    >>> print(as_text([{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": [{"text": "4"}]}]))
    user: 2 + 2?
    <BLANKLINE>
    assistant: 4
    >>> as_text(["a", "b"]), as_text(None), as_text(7)
    ('a\n\nb', '', '7')
    """
    if value is None or isinstance(value, str):
        return (value or "").strip()
    if isinstance(value, list):
        return "\n\n".join(filter(None, map(as_text, value)))
    if isinstance(value, Mapping):
        said = value.get("content", value.get("text"))
        if said is None:
            return json.dumps(value, ensure_ascii=False, indent=1, default=str)
        return f"{value['role']}: {as_text(said)}" if "role" in value else as_text(said)
    return str(value)
