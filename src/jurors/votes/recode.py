"""Labels recoded as the caller wants (`--map`, `--ignore-case`, `--threshold`, `--bins`), and labels as numbers.

Labels come in, labels go out: renamed, in one case, numbers as pass and fail, or numbers as levels (`Recoding`).
`numerals` reads labels as numbers, exactly: with decimal points, decimal commas where they can be nothing else, and per
cent where all have it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from jurors.errors import OptionError, VotesError, format_names, match_name
from jurors.options import Label, Reading, is_number

_WITH_COMMA = re.compile(r"[+-]?\d*,\d+")


@dataclass(frozen=True)
class Numerals:
    """Labels as numbers, each still as text, so that nothing is rounded."""

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
        """The message about a label that may be two numbers; "" where there is none."""
        many = "may be a thousand or a decimal; write numbers with a decimal point"
        return "" if self.doubtful is None else f"{self.doubtful!r} {many}"


def numerals(labels: Iterable[Any]) -> Numerals:
    """Read labels as numbers.

    Returns
    -------
    Numerals
        The numbers as text, one per label, and how they were understood.

    Examples
    --------
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


def midpoint(labels: Iterable[Any]) -> str:
    """The number halfway between the smallest label and the largest: a cut that leaves some on either side.

    Returns
    -------
    str

    Examples
    --------
    >>> midpoint((10, "20", 70))
    '40'
    """
    sizes = [float(text) for text in numerals(labels).texts if text is not None]
    return f"{(min(sizes) + max(sizes)) / 2:g}"


# -- recoding ---------------------------------------------------------------------------------------------------------

PASS, FAIL = "pass", "fail"
_BETWEEN = " to "  #: in the name of a level that numbers are put into: "3 to 7"
_DIGITS = (6, 12, 17, 0)  # of the ends between levels: the fewest that hardly change them (0: all there are)
_ROUNDING = Fraction(1, 1000)  # of a level's width, by which rounding may change an end


@dataclass(frozen=True)
class Recoding:
    """How labels are recoded; a key of the same votes is recoded alike.

    Examples
    --------
    >>> Recoding.of(Reading(map={"Y": "yes"}, ignore_case=True)).cells(["Yes", "y", "yes", None], lambda: [1, 4, 9, 0])
    ['yes', 'yes', 'yes', None]
    >>> Recoding.of(Reading(map={"n": "no"}, ignore_case=True)).cells(["No", "N", "NO"], lambda: [9, 1, 1])
    ['no', 'no', 'no']
    >>> Recoding.of(Reading(threshold=0.5)).cells(["0.5", "0.49"])
    ['pass', 'fail']
    >>> Recoding.of(Reading(bins=[0, 3, 10])).cells([0, 3, 10])
    ['0 to 3', '3 to 10', '3 to 10']
    """

    names: Mapping[str, Label] = field(default_factory=dict)  #: what each label is called instead
    ignore_case: bool = False
    threshold: str | None = None
    bins: tuple[str, ...] = ()  #: the ends; a single one: how many

    @classmethod
    def of(cls, options: Reading) -> Recoding:
        """The recoding that the options name."""
        return cls(options.names, options.ignore_case, options.cut, options.ends)

    def __bool__(self) -> bool:
        return bool(self.names or self.ignore_case or self.threshold or self.bins)

    def cells(self, cells: Sequence[Any], times: Callable[[], Sequence[int]] | None = None) -> list[Any]:
        """Recode clean cells.

        Parameters
        ----------
        cells
            Distinct cells, None for no vote.
        times
            Counts the votes of each cell, where that decides between spellings.

        Returns
        -------
        list
            The label of each cell.

        Raises
        ------
        VotesError
            Where a label to rename does not occur, or where a cell is no number and must be one.
        """
        left = self._in_one_case(cells, times) if self.ignore_case else list(cells)
        if self.names:
            known = list(dict.fromkeys(cell for cell in left if cell is not None))
            present = {self._folded(cell) for cell in known}
            for name in self.names:
                if self._folded(name) not in present:
                    match_name(name, known, "label to rename (--map)")
            left = [self._renamed(cell) for cell in left]
            if self.ignore_case:  # every spelling of a name that was given is that name
                given = {self._folded(label): label for label in self.names.values()}
                left = [None if cell is None else given.get(self._folded(cell), cell) for cell in left]
            if len({isinstance(cell, str) for cell in left if cell is not None}) > 1:
                left = [None if cell is None else str(cell) for cell in left]
        return left if not self._takes_numbers else self._of_numbers(_numbers(left, self._flag))

    def check_streams(self) -> None:
        """OptionError where this can be done only once all votes are there."""
        if self.ignore_case or len(self.bins) == 1:
            what = "--ignore-case" if self.ignore_case else f"--bins {self.bins[0]}"
            instead = "--map YES=yes" if self.ignore_case else "--bins with the ends (0,3,7,10)"
            message = f"{what} takes all votes at once, and those of a stream come one by one: say {instead}"
            raise OptionError(message, code="does_not_apply")

    def one(self, label: Any) -> Any:
        """Recode a single vote of a stream, whose other labels are not known yet."""
        renamed = self._renamed(label)
        if renamed is None or not self._takes_numbers:
            return renamed
        return self._of_numbers(_numbers([renamed], self._flag), self.bins)[0]

    def key(self, truths: Sequence[Any], labels: Sequence[Label]) -> list[Any]:
        """Recode the labels of an answer key of votes with these labels; numbers as the votes' numbers were."""
        by_case = {str(label).casefold(): label for label in labels} if self.ignore_case else {}
        left = [None if truth is None else by_case.get(str(truth).casefold(), truth) for truth in truths]
        left = [self._renamed(truth) for truth in left]
        if not self._takes_numbers or {str(truth) for truth in left if truth is not None} <= set(map(str, labels)):
            return left
        ends = self.bins
        if len(ends) == 1:  # so many between the ends of the votes, which the names of the levels hold
            ends = tuple(dict.fromkeys(end for label in bin_order(labels) for end in str(label).split(_BETWEEN)))
        return self._of_numbers(_numbers(left, self._flag), ends)

    @property
    def _takes_numbers(self) -> bool:
        return self.threshold is not None or bool(self.bins)

    @property
    def _flag(self) -> str:
        return "--threshold" if self.threshold else "--bins"

    def _in_one_case(self, cells: Sequence[Any], times: Callable[[], Sequence[int]] | None) -> list[Any]:
        """Each word in its most frequent spelling, of two the one that comes first in the alphabet."""
        words = [cell for cell in cells if isinstance(cell, str)]
        if len({word.casefold() for word in words}) == len(set(words)):
            return list(cells)
        often: Counter[str] = Counter()
        for cell, count in zip(cells, [1] * len(cells) if times is None else times(), strict=True):
            if isinstance(cell, str):
                often[cell] += int(count)
        usual: dict[str, str] = {}
        for word in sorted(often, key=lambda word: (-often[word], word)):
            usual.setdefault(word.casefold(), word)
        return [usual[cell.casefold()] if isinstance(cell, str) else cell for cell in cells]

    def _renamed(self, cell: Any) -> Any:
        if cell is None:
            return None
        if not self.ignore_case:
            return self.names.get(str(cell), cell)
        return {self._folded(name): label for name, label in self.names.items()}.get(self._folded(cell), cell)

    def _folded(self, name: Any) -> str:
        return str(name).casefold() if self.ignore_case else str(name)

    def _ends(self, numbers: Sequence[Fraction | None]) -> tuple[str, ...]:
        """The ends of the levels, as text; of levels of equal width where only their number is given."""
        given = [number for number in numbers if number is not None]
        if len(self.bins) != 1 or not given:
            return self.bins if len(self.bins) != 1 else ()
        low, high, many = min(given), max(given), int(float(self.bins[0]))
        if low == high:
            raise VotesError(f"all numbers are {_shown(low)}, of which no {many} levels can be made (--bins)")
        width = (high - low) / many
        edges = [low + width * k for k in range(1, many)]
        inner: list[str] = []
        for digits in _DIGITS:
            inner = [f"{float(edge):.{digits}g}" if digits else str(edge) for edge in edges]
            if all(abs(Fraction(text) - edge) <= _ROUNDING * width for text, edge in zip(inner, edges, strict=True)):
                break
        return (_shown(low), *inner, _shown(high))

    def _of_numbers(self, numbers: Sequence[Fraction | None], ends: Sequence[str] | None = None) -> list[str | None]:
        """Numbers as pass and fail, or as levels with these ends (by default those of `bins`)."""
        names = self._ends(numbers) if ends is None else ends
        edges = [Fraction(end) for end in names]

        def label(number: Fraction) -> str:
            if self.threshold is not None:
                return PASS if number >= Fraction(self.threshold) else FAIL
            if not edges[0] <= number <= edges[-1]:
                raise VotesError(f"{_shown(number)} lies outside the levels from {names[0]} to {names[-1]} (--bins)")
            place = max(k for k, edge in enumerate(edges[:-1]) if number >= edge)
            return f"{names[place]}{_BETWEEN}{names[place + 1]}"

        return [None if number is None else label(number) for number in numbers]


def bin_order(labels: Sequence[Label]) -> tuple[Label, ...]:
    """Sort the names of levels that numbers were put into.

    Returns
    -------
    tuple
        The lowest first.

    Examples
    --------
    >>> bin_order(["10 to 20", "3 to 10"])
    ('3 to 10', '10 to 20')
    """
    return tuple(sorted(labels, key=lambda label: Fraction(str(label).split(_BETWEEN)[0])))


def _shown(number: Fraction) -> str:
    decimal = str(number.numerator) if number.denominator == 1 else repr(float(number))
    return decimal if Fraction(decimal) == number else str(number)


def _numbers(cells: Sequence[Any], flag: str) -> list[Fraction | None]:
    """The cells as numbers, exactly; VotesError names what is none."""
    filled = [cell for cell in cells if cell is not None]
    read = numerals(filled)
    if read.doubt:
        raise VotesError(read.doubt, code="two_readings")
    if odd := [cell for cell, text in zip(filled, read.texts, strict=True) if text is None]:
        shown = format_names(map(repr, dict.fromkeys(odd)), 4)
        raise VotesError(f"{flag} takes numbers, found {shown}; leave out what is no vote (--missing VALUE)")
    texts = iter(read.texts)
    return [None if cell is None else Fraction(next(texts) or "0") for cell in cells]
