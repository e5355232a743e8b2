"""Names that people type: where they stand among the known ones, and which known one was meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

from jurors.errors import Code, JurorsError, OptionError, VotesError


def positions(known: Sequence[Any], wanted: Sequence[Any], what: str) -> list[int]:
    """Where each wanted name stands among the known ones; VotesError suggests the nearest otherwise."""
    if repeated := [name for name in dict.fromkeys(wanted) if list(wanted).count(name) > 1]:
        raise VotesError(f"{what} {repeated[0]!r} is named twice", name=repeated[0], what=what)
    place = {name: k for k, name in enumerate(known)}
    return [place[name] if name in place else place[nearest(name, known, what)] for name in wanted]


def nearest(
    name: Any,
    known: Sequence[Any],
    what: str,
    *,
    error: type[JurorsError] = VotesError,
    code: Code = "unknown_name",
) -> Any:
    """The known name written like `name` (1 for "1"); an error with a suggestion if there is none.

    >>> nearest("1", [1, 2], "label")
    1
    >>> nearest("an", ["ann", "bob"], "juror")
    Traceback (most recent call last):
        ...
    jurors.errors.VotesError: there is no juror 'an'. Did you mean 'ann'? There are: ann, bob
    """
    by_text = {str(k): k for k in known}
    if str(name) in by_text:
        return by_text[str(name)]
    close = like(str(name), by_text)
    hint = "" if close is None else f" Did you mean {close!r}?"
    message = f"there is no {what} {str(name)!r}.{hint} There are: {some(by_text, 12)}"
    raise error(message, code=code, name=name, what=what, known=tuple(known))


def like(name: str, known: Iterable[str], *, cutoff: float = 0.4) -> str | None:
    """The known name most like this one, whatever its case; None where none is.

    >>> like("Lable", ["item", "label"]), like("xyz", ["item", "label"])
    ('label', None)
    """
    names = list(known)
    if same := [one for one in names if one.lower() == name.lower()]:
        return same[0]
    return next(iter(difflib.get_close_matches(name, names, n=1, cutoff=cutoff)), None)


def choice(value: Any, known: Sequence[Any], what: str) -> Any:
    """The value of an option, which must be one of the known; OptionError suggests the nearest."""
    return nearest(value, known, what, error=OptionError)


def some(names: Iterable[Any], most: int, between: str = ", ") -> str:
    """The first names, and dots for the others.

    >>> some(["ann", "bob", "cy"], 2), some(["ann"], 2)
    ('ann, bob …', 'ann')
    """
    shown = list(map(str, names))
    return between.join(shown[:most]) + (" …" if len(shown) > most else "")


def and_more(names: Iterable[Any], most: int) -> str:
    """The first names, and how many more there are.

    >>> and_more(["ann", "bob", "cy"], 2), and_more(["ann"], 2)
    ('ann, bob and 1 more', 'ann')
    """
    shown = list(map(str, names))
    return ", ".join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "")
