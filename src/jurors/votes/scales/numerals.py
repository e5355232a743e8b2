"""Labels as numbers: decimal points, decimal commas where they can be nothing else, per cent where all have it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from jurors.options import is_number

_WITH_COMMA = re.compile(r"[+-]?\d*,\d+")


@dataclass(frozen=True)
class Numerals:
    """What labels come to as numbers, each still as text, so that nothing is rounded."""

    texts: tuple[str | None, ...]  #: as Python writes numbers; None where a label is no number
    remarks: tuple[str, ...] = ()  #: how they were understood
    doubtful: str | None = None  #: a label that may be two numbers: 1,234

    @property
    def sizes(self) -> tuple[float | None, ...]:
        """The numbers as floats; None where a label is none, or none that a float can hold.

        >>> numerals(["0,5", "12"]).sizes, numerals(["high", 3, "1e999"]).sizes
        ((0.5, 12.0), (None, 3.0, None))
        """
        sizes = [None if text is None else float(text) for text in self.texts]
        return tuple(size if size is not None and math.isfinite(size) else None for size in sizes)

    @property
    def doubt(self) -> str:
        """What to say of the label that may be two numbers; "" where there is none."""
        many = "may be a thousand or a decimal; write numbers with a decimal point"
        return "" if self.doubtful is None else f"{self.doubtful!r} {many}"


def numerals(labels: Iterable[Any]) -> Numerals:
    """The numbers that labels are, or are the text of.

    >>> numerals(["0,5", "12", "-1,25"])
    Numerals(texts=('0.5', '12', '-1.25'), remarks=('commas are decimal commas',), doubtful=None)
    >>> numerals([3, 2.5, True, "high", "inf"]).texts, numerals(["1,234", "5"]).doubtful
    (('3', '2.5', None, None, None), '1,234')
    """
    texts = ["" if isinstance(label, bool) else str(label).strip() for label in labels]
    remarks: list[str] = []
    if texts and all(text.endswith("%") for text in texts):
        texts = [text.removesuffix("%").strip() for text in texts]
        remarks.append("per cent signs are left out")
    commas = [text for text in texts if _WITH_COMMA.fullmatch(text)]
    doubtful = None
    if commas and not any("." in text for text in texts):
        doubtful = commas[0] if all(len(text.partition(",")[2]) == 3 for text in commas) else None
        texts = [text.replace(",", ".") if _WITH_COMMA.fullmatch(text) else text for text in texts]
        remarks.append("commas are decimal commas")
    read = tuple(text if is_number(text) else None for text in texts)
    return Numerals(read, tuple(remarks), doubtful)


def middle(labels: Iterable[Any]) -> str:
    """The number halfway between the smallest label and the largest, as text: a cut that leaves some on either side.

    >>> middle((10, "20", 70))
    '40'
    """
    sizes = [float(text) for text in numerals(labels).texts if text is not None]
    return f"{(min(sizes) + max(sizes)) / 2:g}"
