"""Short names that still tell things apart."""

from __future__ import annotations

from collections.abc import Sequence


def told_apart(*details: Sequence[str]) -> list[str]:
    """One name each from the first details in which they differ, as many as it takes; the first where none does.

    >>> told_apart(["gpt", "gpt", "llama"], ["quiz", "quiz", "quiz"], ["run1", "run2", "run3"])
    ['gpt:run1', 'gpt:run2', 'llama:run3']
    >>> told_apart(["gpt", "gpt"], ["quiz", "test"])
    ['quiz', 'test']
    >>> told_apart(["gpt"], ["quiz"])
    ['gpt']
    """
    names: list[str] = [""] * len(details[0])
    for detail in details:
        if len(set(names)) == len(names) > 1:
            break
        if len(set(detail)) > 1:
            names = [":".join(filter(None, (name, more))) for name, more in zip(names, detail, strict=True)]
    return names if any(names) else list(details[0])
