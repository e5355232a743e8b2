"""The numbers of a jury as somebody wrote them: shares, prevalences and confusion matrices, exactly those decimals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from numbers import Number
from typing import Any, TypeGuard

from jurors.errors import SketchError
from jurors.votes import Label

Row = tuple[Fraction, ...]


def fraction(value: Any, what: str) -> Fraction:
    """A number as it is written: 0.1 is 1/10, "1/3" is 1/3.

    >>> fraction(0.1, "x"), fraction("1/3", "x")
    (Fraction(1, 10), Fraction(1, 3))
    """
    try:
        text = str(value).strip()
        if len(text.lower().partition("e")[2]) > 4:  # a million zeros take for ever to write out
            raise ValueError
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise SketchError(f"{what} must be a number such as 0.8, got {value!r}") from None


def share(value: Any, what: str) -> Fraction:
    """A number from 0 to 1."""
    number = fraction(value, what)
    if not 0 <= number <= 1:
        raise SketchError(f"{what} must lie between 0 and 1, got {value}")
    return number


def _is_number(value: Any) -> TypeGuard[Any]:
    """A number, of Python or numpy, or the text of one; not several."""
    return isinstance(value, (str, Number))


def prevalences(given: Any, labels: Sequence[Label]) -> Row:
    """The share of each label; the last may be left out, and all of them: then they are equal."""
    if given is None:
        return (Fraction(1, len(labels)),) * len(labels)
    if isinstance(given, Mapping):
        if unknown := [label for label in given if label not in labels]:
            raise SketchError(f"prevalence names the label {unknown[0]!r}; there are: {', '.join(map(str, labels))}")
        given = [given.get(label, 0) for label in labels]
    listed = [given] if _is_number(given) else list(given)
    shares = [share(value, "a prevalence") for value in listed]
    if len(shares) == len(labels) - 1:
        shares.append(1 - sum(shares, Fraction(0)))
    if len(shares) != len(labels) or sum(shares) != 1 or min(shares) < 0:
        shown = ", ".join(map(str, listed))
        raise SketchError(f"the prevalences of {len(labels)} labels must add up to 1, got {shown}")
    return tuple(shares)


def confusion_tables(given: Any, jurors: Sequence[str], labels: Sequence[Label]) -> tuple[tuple[Row, ...], ...]:
    """A confusion matrix per juror, from one number for all, or an entry for each."""
    if isinstance(given, Mapping):
        if unknown := [name for name in given if name not in jurors]:
            raise SketchError(f"accuracy names the juror {unknown[0]!r}; there are: {', '.join(jurors)}")
        if absent := [name for name in jurors if name not in given]:
            raise SketchError(f"accuracy says nothing of juror {absent[0]!r}")
        given = [given[name] for name in jurors]
    if _is_number(given):
        given = [given] * len(jurors)
    if len(given) != len(jurors):
        raise SketchError(f"{len(jurors)} jurors need {len(jurors)} accuracies, got {len(given)}")
    return tuple(_table(entry, labels, name) for entry, name in zip(given, jurors, strict=True))


def _table(given: Any, labels: Sequence[Label], juror: str) -> tuple[Row, ...]:
    """A confusion matrix from a number, one per label, or itself."""
    size, what = len(labels), f"the accuracy of juror {juror!r}"
    if isinstance(given, Mapping) and set(given) != set(labels):
        raise SketchError(f"{what} needs an entry for each of {', '.join(map(str, labels))}, and for no other label")
    entry: Any = [given[label] for label in labels] if isinstance(given, Mapping) else given
    rows: list[Any] = [entry] * size if _is_number(entry) else list(entry)
    if len(rows) != size:
        raise SketchError(f"{what} needs one number, or {size} (one per label), got {len(rows)}")
    if all(map(_is_number, rows)):
        right = [share(value, what) for value in rows]
        return tuple(tuple(r if k == a else (1 - r) / (size - 1) for k in range(size)) for a, r in enumerate(right))
    table = tuple(tuple(share(value, what) for value in ([row] if _is_number(row) else row)) for row in rows)
    if any(len(row) != size or sum(row) != 1 for row in table):
        raise SketchError(
            f"each row of the confusion matrix of juror {juror!r} must have {size} shares that add up to 1"
        )
    return table
