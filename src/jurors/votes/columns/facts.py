"""What the first rows of a table show of its columns: the same facts for files and dataframes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors.votes.columns.column_words import CLOCK, OTHER_WORDS, REMARKS
from jurors.votes.label_codes import is_missing
from jurors.votes.layout import bare_word
from jurors.votes.scales.numerals import numerals

_HEAD_ROWS, _HEAD_CELLS = 10_000, 2_000_000
_NO_WORDS = frozenset(
    {"", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "nil", "-", "--", "?", ".", "skip", "abstain"}
)
_WHOLE = re.compile(r"[-+]?\d+\.0*")
Kind: TypeAlias = Literal["text", "number", "nested"]


@dataclass(frozen=True)
class Column:
    """What the first rows show of one column."""

    name: str
    values: tuple[str, ...]  #: distinct cells as text: trimmed, NFC, whole numbers without a point
    codes: NDArray[np.int32]  #: of each row, a position in `values`; -1: empty
    kind: Kind = "text"
    everywhere: int | None = None  #: distinct values in all rows, where they were counted

    @cached_property
    def word(self) -> str:
        """The name as a bare word: "Answer.category" is "category", "ASSIGNMENT:worker_id" is "worker"."""
        name = re.sub(r"^answer\..+(?=\.label$)", "", self.name, flags=re.IGNORECASE)  # of a form of MTurk
        return bare_word(re.sub(r"^(answer|input|output|assignment)[.:]", "", name, flags=re.IGNORECASE))

    @cached_property
    def is_aside(self) -> bool:
        """Whether its name says that it is about the item or the vote: "ann comment", "Time Spent (Secs)"."""
        tokens = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", self.name).lower())
        ends = {tokens[0], tokens[-1]} if tokens else set()
        return self.word in OTHER_WORDS or (tokens[-1:] != [] and (tokens[-1] in REMARKS or bool(ends & CLOCK)))

    @cached_property
    def filled(self) -> int:
        """How many rows hold something."""
        return int((self.codes >= 0).sum())

    @property
    def distinct(self) -> int:
        """How many values there are."""
        return len(self.values)

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """The values as words, without those for no answer."""
        return frozenset(value.casefold() for value in self.values) - _NO_WORDS

    @property
    def repeats(self) -> bool:
        """Whether values come again often enough to be labels or jurors."""
        return 0 < self.distinct <= max(2, self.filled // 3) and self.kind != "nested"

    def covered_by(self, other: Column) -> float:
        """The share of cells that are words of the other column."""
        known = np.array([value.casefold() in other.vocabulary for value in self.values] + [False])
        spoken = np.array([value.casefold() in self.vocabulary for value in self.values] + [False])[self.codes].sum()
        return float(known[self.codes].sum() / max(spoken, 1))


@dataclass(frozen=True)
class Facts:
    """What the first rows of a table show."""

    columns: tuple[Column, ...]
    rows: int
    total: int | None = None  #: rows of the whole table; None: there are more, nobody knows how many

    def is_unique(self, k: int) -> bool:
        """Whether column k has another value in every row, as far as is known."""
        column = self.columns[k]
        if column.filled < self.rows or column.distinct < self.rows:
            return False
        return self.total in (None, self.rows) or column.everywhere is None or column.everywhere >= 0.95 * self.total

    def identify(self, *columns: int) -> float:
        """The share of rows that these columns tell apart."""
        return self._together(*columns) / max(self.rows, 1)

    def _together(self, *columns: int) -> int:
        """How many different cells these columns have side by side."""
        key = np.zeros(self.rows, dtype=np.int64)
        for k in columns:
            key = np.unique(key, return_inverse=True)[1] * (self.columns[k].distinct + 1) + self.columns[k].codes + 1
        return len(np.unique(key))

    def follows(self, k: int, item: int) -> bool:
        """Whether column k says the same wherever the item is the same, for items that come again."""
        return self._together(item, k) <= 1.02 * self.columns[item].distinct

    def is_number(self, k: int) -> bool:
        """Whether column k holds numbers."""
        return self.columns[k].kind == "number"

    def is_grouped(self, k: int) -> bool:
        """Whether equal values of column k stand together, as jurors do where one comes after the other."""
        codes = self.columns[k].codes
        changes = int((codes[1:] != codes[:-1]).sum())
        return self.columns[k].filled == self.rows and changes < self.columns[k].distinct < self.rows

    def counted(self, total: int, distinct: Mapping[int, int]) -> Facts:
        """With the number of rows in all, and of distinct values of some columns in all of them."""
        columns = [replace(c, everywhere=distinct.get(k)) for k, c in enumerate(self.columns)]
        return Facts(tuple(columns), self.rows, total)

    def has_number(self, k: int) -> bool:
        """Whether column k holds a number anywhere."""
        return any(text is not None for text in numerals(self.columns[k].values).texts)


def head_rows(columns: int) -> int:
    """How many rows are looked at: enough to tell, and no more cells than are read at once."""
    return max(100, min(_HEAD_ROWS, _HEAD_CELLS // max(columns, 1)))


def facts_of_columns(names: Sequence[str], columns: Sequence[Iterable[Any]], total: int | None = None) -> Facts:
    """Facts from the first cells of each column: text, numbers or None.

    >>> facts = facts_of_columns(["id", "ann"], [[1, 2, 3], ["yes ", "no", None]])
    >>> facts.columns[1].values, facts.is_unique(0), facts.is_number(0)
    (('yes', 'no'), True, True)
    """
    seen = [_column(name, list(cells)) for name, cells in zip(names, columns, strict=True)]
    return Facts(tuple(seen), len(seen[0].codes) if seen else 0, total)


def _column(name: str, cells: list[Any]) -> Column:
    kinds = set(map(type, cells))
    if not kinds <= {str, int, type(None)}:
        cells = list(map(_hashable, cells))
    raw = list(dict.fromkeys(cells))
    place: dict[str, int] = {}
    if kinds == {str} and _are_tidy(raw):
        place = code = dict(zip(raw, range(len(raw)), strict=True))
    else:
        code = {v: -1 if (t := _text(v)) is None else place.setdefault(t, len(place)) for v in raw}
    codes = np.fromiter(map(code.__getitem__, cells), dtype=np.int32, count=len(cells))
    return Column(name, tuple(place), codes, "nested" if kinds & {list, dict, tuple, np.ndarray} else _kind(place))


def _kind(values: Iterable[str]) -> Kind:
    some = list(values)
    some = some[:: max(1, len(some) // 500)]
    numbers = sum(text is not None for text in numerals(some).texts)
    return "number" if some and numbers >= 0.9 * len(some) else "text"


def _are_tidy(texts: list[str]) -> bool:
    """Whether `_text` would leave every one as it is: told of all at once, as thousands of items' names want it."""
    together = "|".join(texts)
    return all(texts) and together.isascii() and "." not in together and together.split() == [together]


def _hashable(cell: Any) -> Any:
    return str(cell) if isinstance(cell, (list, dict, tuple, np.ndarray, bool)) else cell


def _text(cell: Any) -> str | None:
    """A cell as `tidy` would have it."""
    if is_missing(cell):
        return None
    text = str(cell).strip()
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    if text[-1:] in ("0", ".") and _WHOLE.fullmatch(text):
        text = text.split(".")[0]
    return text or None
