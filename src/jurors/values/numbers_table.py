"""`Numbers`: which number each juror gave each item; exact where the cells are decimals that floats would round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.errors import VotesError
from jurors.evaluate.alarm import Alarm
from jurors.numbers.arrays import Flags, Floats, Integers
from jurors.values.repeatability import Again

_LARGEST = 1e60  # products of two variances are still far from the largest float
_EXACT_DIGITS = 15  # a decimal of so many digits is the only one of them that is read as this float


@dataclass(frozen=True, eq=False, kw_only=True)
class Numbers:
    """Items x jurors; kept as the distinct numbers and the position of each cell among them.

    Examples
    --------
    >>> numbers = Numbers.from_matrix([[1, 2.5], [3, None]], jurors=("ann", "bob"))
    >>> numbers, numbers.values.tolist(), numbers.is_exact
    (Numbers(2 items, 2 jurors, 3 numbers from 1 to 3), [[1.0, 2.5], [3.0, nan]], True)
    """

    items: NDArray[Any]  #: their names, or their numbers from 0
    jurors: tuple[str, ...]
    distinct: tuple[str, ...]  #: every number that was given, once, as it is written
    codes: Integers  #: items x jurors, positions in `distinct`; -1 where no number was given
    remarks: tuple[str, ...] = ()  #: what was taken for what while reading
    again: Again | None = None  #: what was said each time, where a cell is the mean of several
    scale_why: str = "as you say (--scale interval)"  #: by what they are known to be numbers
    notes: tuple[Alarm, ...] = ()  #: what the votes show before anybody is graded

    def __post_init__(self) -> None:
        if (large := np.flatnonzero(np.abs(self._floats) > _LARGEST)).size:
            text = self.distinct[large[0]]
            raise VotesError(f"{text:.40} is too large to be computed with: give numbers up to {_LARGEST:g}")

    @classmethod
    def from_matrix(
        cls,
        matrix: NDArray[Any] | Sequence[Sequence[Any]],
        *,
        items: Sequence[Any] | None = None,
        jurors: Sequence[Any] | None = None,
    ) -> Numbers:
        """Items in rows, jurors in columns; NaN and None are no numbers given. -1 is a number like any other."""
        try:
            cells = np.array(matrix, dtype=np.float64)
        except (TypeError, ValueError):
            raise VotesError("a matrix of numbers needs rows of one length that hold numbers, None or NaN") from None
        if cells.ndim != 2 or np.isinf(cells).any():
            what = "finite numbers" if cells.ndim == 2 else f"2 dimensions (items x jurors), got {cells.ndim}"
            raise VotesError(f"a matrix of numbers needs {what}")
        rows, width = cells.shape
        names = tuple(str(k + 1) for k in range(width)) if jurors is None else tuple(map(str, jurors))
        labels = np.arange(rows) if items is None else np.array(list(items), dtype=object)
        if len(names) != width or len(set(names)) != width or len(labels) != rows:
            raise VotesError(f"{rows} x {width} numbers need {rows} items and {width} jurors, each with its own name")
        known, code = np.unique(cells, return_inverse=True)
        texts = [repr(value) for value in known[~np.isnan(known)].tolist()]
        return cls(
            items=labels,
            jurors=names,
            distinct=tuple(texts),
            codes=np.where(np.isnan(cells), -1, code.reshape(cells.shape)),
        )

    @cached_property
    def values(self) -> Floats:
        """Items x jurors; NaN where no number was given."""
        return np.append(self._floats, np.nan)[self.codes]

    @cached_property
    def _floats(self) -> Floats:
        return np.fromiter(map(float, self.distinct), np.float64, len(self.distinct))

    @cached_property
    def given(self) -> Flags:
        """Items x jurors: whether there is a number."""
        return np.asarray(self.codes >= 0)

    @property
    def is_exact(self) -> bool:
        """Whether all are whole or short decimals, so that what is written is what was meant."""
        return are_exact(self.distinct)

    def fractions(self) -> list[Fraction]:
        """The distinct numbers, exactly as they are written."""
        return list(map(Fraction, self.distinct))

    def without(self, cells: Flags) -> Numbers:
        """The same with some numbers taken for none."""
        again = None if self.again is None else self.again.without(cells)
        return replace(self, codes=np.where(cells, -1, self.codes), again=again)

    def __repr__(self) -> str:
        known = list(map(float, self.distinct))
        ends = f" from {min(known):g} to {max(known):g}" if known else ""
        size = f"{len(self.items):,} items, {len(self.jurors)} jurors, {int(self.given.sum()):,} numbers"
        return f"Numbers({size}{ends})"


def are_exact(texts: Sequence[str]) -> bool:
    """Whether these numbers are so short that they are meant as they are written, and no rounded results.

    >>> are_exact(["7", "0.1", "-2.50"]), are_exact(["0.1", "31.555555555555557"])
    (True, False)
    """
    digits = (text.lower().partition("e")[0].lstrip("+-").replace(".", "").lstrip("0") for text in texts)
    return all(len(each) <= _EXACT_DIGITS for each in digits)
