"""Fields of frozen dataclasses that are computed when they are first read, and modules that are imported then.

Naming every number of a large jury, or testing its errors for correlation, takes as long as grading it, and few callers
read everything. Such a field may be given as a function without arguments instead of a value. A `cached_property` does
not do here: the value comes from outside, through the constructor, and the field has its place in the signature, in
`dataclasses.replace` and in copies, like any other.

A module is imported late where that takes as long as everything else that a small jury needs, as for SciPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any, TypeVar

_Class = TypeVar("_Class", bound=type)
_Result = TypeVar("_Result")


class LazyModule:
    """A module that is imported when something of it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = vars(self)[name] = getattr(import_module(self._name), name)
        return value


class LazyField:
    """A descriptor that holds a value, or a function that returns it and is called at the first reading.

    What was given, and later the value, lies under the field's own name in the instance's `__dict__`, so that pickling
    and copying need nothing special; a result pickled before the first reading needs a picklable function.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, result: Any, owner: type | None = None) -> Any:
        if result is None:  # read from the class itself
            return self
        value = vars(result)[self.name]
        if callable(value):
            value = vars(result)[self.name] = value()
        return value

    def __set__(self, result: Any, value: Any) -> None:
        vars(result)[self.name] = value


def lazy_fields(*names: str) -> Callable[[_Class], _Class]:
    """Make these fields of a dataclass lazy; the decorator stands above `@dataclass`.

    Returns
    -------
    callable
        A class decorator, which returns the same class.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @lazy_fields("score")
    ... @dataclass(frozen=True)
    ... class Card:
    ...     score: float
    >>> card = Card(lambda: print("computed") or 0.5)
    >>> card.score, card.score
    computed
    (0.5, 0.5)
    """

    def decorate(cls: _Class) -> _Class:
        for name in names:
            setattr(cls, name, LazyField(name))
        return cls

    return decorate


def replace_unread(result: _Result, **changes: Any) -> _Result:
    """`dataclasses.replace` without reading lazy fields: what was not computed yet stays so.

    Returns
    -------
    object
        A copy with these fields changed.
    """
    lazy = [name for name, value in vars(type(result)).items() if isinstance(value, LazyField)]
    return replace(result, **{**{name: vars(result)[name] for name in lazy}, **changes})  # type: ignore[type-var]


def is_computed(result: Any, name: str) -> bool:
    """Whether a `cached_property` of this object has been computed already."""
    return name in vars(result)
