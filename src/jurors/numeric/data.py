"""Numbers, reading, outliers, repeatability."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Flags, Floats, Integers, jackknife_ends
from jurors.errors import OptionError, VotesError
from jurors.evaluate.alarms import Alarm
from jurors.evaluate.consistency import MAJORITY_SIZES
from jurors.options import ReadingOptions, SourceOptions, TableOptions, check_applies, column_names
from jurors.results import Table
from jurors.votes import Votes, read_votes, votes_from_frame
from jurors.votes.findings import repeated_rows, scale_finding, similar_names
from jurors.votes.frame import is_frame
from jurors.votes.io.sources import are_files
from jurors.votes.recode import numerals
from jurors.votes.table import Repeats

# How steady a juror's numbers are where it was asked several times about one item, and what asking more often brings.
#
# An answer is the juror's settled number on the item, to which ever more answers would come on average, plus an error
# of the moment. One-way analysis of variance tells the two apart: with W the mean square within items and B that
# between them, each item having n answers, the settled numbers have variance (B - W) / n. Reliability is their share
# in what varies in a single answer, or in the mean of k (Spearman and Brown): how far another round would give the
# same. Whether the settled number is right it does not say.
#
# Intervals are by the jackknife over items, of what is within on the scale of logarithms, of reliability on Fisher's.


@dataclass(frozen=True, eq=False)
class Again:
    """Every item that a juror gave several numbers, with all of them."""

    row: Integers
    juror: Integers
    said: Floats  #: cases x times; NaN where there were fewer

    def without(self, cells: Flags) -> Again:
        """The same without some cells of items x jurors."""
        kept = ~cells[self.row, self.juror]
        return Again(self.row[kept], self.juror[kept], self.said[kept])


@dataclass(frozen=True, eq=False, kw_only=True)
class Repeatability:
    """Of each juror who was asked again: how its numbers on one item differ. NaN where it cannot be said."""

    jurors: tuple[str, ...]
    items: Integers  #: on how many items it was asked again
    times: Floats  #: how often on such an item, on average
    within: Floats  #: the standard deviation of its numbers on one item
    within_ends: Floats
    reliability: Floats  #: of a single answer: the share of the settled number in what varies; never clamped
    reliability_ends: Floats

    def of_means(self, answers: int) -> Floats:
        """The reliability of the mean of so many answers."""
        return _of_mean(self.reliability, answers)

    def to_dict(self) -> dict[str, Any]:
        """By juror, as JSON has it."""
        means = {k: self.of_means(k) for k in MAJORITY_SIZES}
        return {
            juror: {
                "items": int(self.items[place]),
                "times": float(self.times[place]),
                "within": float(self.within[place]),
                "within_interval": self.within_ends[place].tolist(),
                "reliability": {str(k): float(means[k][place]) for k in MAJORITY_SIZES},
                "reliability_interval": self.reliability_ends[place].tolist(),
            }
            for place, juror in enumerate(self.jurors)
        }

    def columns(self, jurors: Sequence[str]) -> dict[str, Floats]:
        """For a table of all jurors: NaN for those who were not asked again."""
        place = [jurors.index(name) for name in self.jurors]
        named = {"within": self.within, "repeat_reliability": self.reliability}
        columns = {}
        for (name, value), ends in zip(named.items(), (self.within_ends, self.reliability_ends), strict=True):
            for end, part in (("", value), ("_low", ends[:, 0]), ("_high", ends[:, 1])):
                columns[f"{name}{end}"] = np.full(len(jurors), np.nan)
                columns[f"{name}{end}"][place] = part
        return columns

    def table(self, level: float, shown: Callable[[float], str]) -> Table:
        """To read."""
        sure, more = f"{level * 100:g}%", MAJORITY_SIZES[1:]
        named = ("asked again", "items", "times each", "within an item", sure, "one answer's reliability", sure)
        heads = (*named, *(f"mean of {k}" for k in more))
        rows = [
            (
                juror,
                f"{self.items[place]:,}",
                f"{self.times[place]:.1f}".removesuffix(".0"),
                *_with_ends(self.within[place], self.within_ends[place], shown),
                *_with_ends(self.reliability[place], self.reliability_ends[place], shown),
                *(shown(float(self.of_means(k)[place])) for k in more),
            )
            for place, juror in enumerate(self.jurors)
        ]
        return Table(heads, tuple(rows), right=tuple(range(1, len(heads))))


def repeatability(jurors: Sequence[str], again: Again | None, level: float) -> Repeatability | None:
    """Of everybody who was asked again; None where nobody was.

    >>> said = np.array([[1.0, 2], [4, 5], [9, 8], [6, 7]])
    >>> steady = repeatability(("ann", "bob"), Again(np.arange(4), np.ones(4, dtype=int), said), 0.95)
    >>> steady.jurors, steady.within.round(3).tolist(), steady.reliability.round(3).tolist()
    (('bob',), [0.707], [0.945])
    >>> steady.of_means(3).round(3).tolist()
    [0.981]
    """
    if again is None or not len(again.row):
        return None
    who = np.unique(again.juror)
    parts = [_one(again.said[again.juror == k], level) for k in who]
    names = ("items", "times", "within", "within_ends", "reliability", "reliability_ends")
    columns = {name: np.array([part[name] for part in parts]) for name in names}
    return Repeatability(jurors=tuple(jurors[k] for k in who), **columns)


def _one(said: Floats, level: float) -> dict[str, Any]:
    """One juror: items x times."""
    given = ~np.isnan(said)
    times = given.sum(axis=1)
    middle = float(np.nanmean(said))
    total = np.nansum(said - middle, axis=1)  # around the middle, so that no digits are lost in squares
    squares = np.nansum((said - middle - (total / times)[:, None]) ** 2, axis=1)
    each = np.array([np.ones(len(times)), times, times**2, total, total**2 / times, squares])
    within, share = _variances(each.sum(axis=1))
    apart = _variances(each.sum(axis=1)[:, None] - each)
    return {
        "items": len(times),
        "times": float(times.mean()),
        "within": float(np.sqrt(within)),
        "within_ends": np.sqrt(jackknife_ends(within, apart[0], level, np.log, np.exp)),
        "reliability": float(share),
        "reliability_ends": jackknife_ends(share, apart[1], level, np.arctanh, np.tanh),
    }


def _variances(sums: Floats) -> tuple[Any, Any]:
    """The variance within items, and the settled numbers' share in that of a single answer."""
    items, answers, squared, total, between, within = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        inside = within / (answers - items)
        often = (answers - squared / answers) / (items - 1)
        settled = ((between - total**2 / answers) / (items - 1) - inside) / often
        return inside, settled / (settled + inside)


def _of_mean(share: Floats, answers: int) -> Floats:
    """Spearman and Brown's formula; answers that differ less between items than within have no settled number."""
    return np.asarray(np.where((share < 0) & (answers > 1), np.nan, answers * share / (1 + (answers - 1) * share)))


def _with_ends(value: float, ends: Floats, shown: Callable[[float], str]) -> tuple[str, str]:
    return shown(value), "" if np.isnan(ends).any() else f"{shown(ends[0])} – {shown(ends[1])}"


# `Numbers`: which number each juror gave each item; exact where the cells are decimals that floats would round.


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


# Numbers that a juror gave one item several times: their mean is its number.


_DIGITS = 15  # a mean of decimals is one of few digits again, or has no end


def with_means(
    texts: Sequence[str], codes: Integers, repeats: Repeats, *, is_counted: bool = False
) -> tuple[list[str], Integers, Again]:
    """The distinct numbers and the items x jurors positions among them, each repeated one as its mean; and all of them.

    >>> said = np.array([[0, 0, 1]], dtype=np.int8)
    >>> own = Repeats(np.array([0]), np.array([0], dtype=np.int32), said, np.array([1]))
    >>> texts, codes, again = with_means(["1", "4"], np.array([[0, 1]]), own)
    >>> texts, codes.tolist(), again.said.tolist()
    (['1', '4', '2.0'], [[2, 1]], [[1.0, 1.0, 4.0]])
    """
    if is_counted:
        raise VotesError("numbers that were given several times and are counted already have no mean; read the votes")
    values = np.array([*map(float, texts), np.nan])  # abstaining is the last code, and -1
    said = values[np.minimum(repeats.said, len(texts))]
    given = ~np.isnan(said)
    spoke = given.any(axis=1)
    means = np.divide(np.nansum(said, axis=1), given.sum(axis=1), out=np.full(len(said), np.nan), where=spoke)
    known = {float(text): place for place, text in reversed(list(enumerate(texts)))}
    shown = list(texts)
    for mean in dict.fromkeys(float(f"{mean:.{_DIGITS}g}") for mean in means[spoke].tolist()):
        if mean not in known:
            known[mean] = len(shown)
            shown.append(repr(mean))
    codes = codes.copy()
    codes[repeats.row, repeats.juror] = [
        -1 if mean != mean else known[float(f"{mean:.{_DIGITS}g}")] for mean in means.tolist()
    ]
    several = given.sum(axis=1) > 1
    return shown, codes, Again(repeats.row[several], repeats.juror[several].astype(np.int64), said[several])


# Numbers from whatever votes are read from: each distinct label is taken for a number, or named as none.


_MOST_ITEMS = 10_000_000


def read_numbers(source: Any, **reading: Unpack[SourceOptions]) -> Numbers:
    r"""Read jurors' numbers: ratings, scores, probabilities, measurements.

    Parameters
    ----------
    source
        Whatever `read_votes` takes (a path, several, a file object), long or wide; a dataframe; a matrix of items x
        jurors, NaN where none was given; `Votes`; or `Numbers`. Options are those of `read_votes`; of a matrix `items`
        and `jurors`. Decimal commas are understood, where they can be nothing else, and per cent where all have it.

    Raises
    ------
    VotesError
        In one line: which cell is no number, and what to do.

    Examples
    --------
    >>> import io
    >>> read_numbers(io.StringIO("item;ann;bob;cy\n1;0,5;0,25;1\n2;1,5;;0,75\n"))
    Numbers(2 items, 3 jurors, 5 numbers from 0.25 to 1.5)
    """
    if isinstance(source, (Numbers, Votes)):
        check_applies(reading, (), "numbers that are read already")
        return source if isinstance(source, Numbers) else numbers_of(source)
    is_files = are_files(source)
    if not is_files and isinstance(source, (np.ndarray, list, tuple)):
        check_applies(reading, ("items", "jurors"), "a matrix of numbers")
        return Numbers.from_matrix(source, items=reading.get("items"), jurors=reading.get("jurors"))
    given: dict[str, Any] = {name: value for name, value in reading.items() if value is not None}
    if given.get("scale", "interval") not in ("auto", "interval"):
        raise OptionError("only votes on the scale 'interval' are numbers", code="does_not_apply", name="scale")
    given["scale"] = "nominal"  # what is no number is told here, with its place
    if not is_files and not isinstance(source, (str, Path)) and is_frame(source):
        check_applies(reading, column_names(TableOptions), "a dataframe")
        return numbers_of(votes_from_frame(source, **cast(TableOptions, given)))
    check_applies(reading, column_names(ReadingOptions), "files")
    return numbers_of(read_votes(source, **cast(ReadingOptions, given)))


def numbers_of(votes: Votes) -> Numbers:
    """The numbers in votes whose labels are numbers."""
    texts, remarks = _texts(votes)
    codes, items = votes.codes.astype(np.int64), votes.item_names()
    again = None
    if votes.repeats is not None:
        texts, codes, again = with_means(texts, codes, votes.repeats, is_counted=votes.counts is not None)
        remarks = (*remarks, "of numbers that a juror gave an item several times the mean is taken")
    if votes.counts is not None:
        if votes.total > _MOST_ITEMS:
            message = f"{votes.total:,} items are too many to be told apart; give a part of them"
            raise VotesError(message, code="too_large", given=votes.total, needed=_MOST_ITEMS)
        codes, items = np.repeat(codes, votes.counts, axis=0), np.arange(votes.total)
    recognised = {"scale_why": votes.scale_why} if votes.scale == "interval" and votes.scale_why else {}
    return Numbers(
        items=items,
        jurors=votes.jurors,
        distinct=tuple(texts),
        codes=codes,
        remarks=remarks,
        again=again,
        notes=tuple(_notes(votes)),
        **recognised,
    )


def _notes(votes: Votes) -> Iterator[Alarm]:
    """What the reader saw, what the votes were taken for, and names and rows that come twice."""
    again = () if votes.counts is not None else repeated_rows(votes)
    for finding in (*votes.findings, *scale_finding(votes), *similar_names("juror", votes.jurors), *again):
        if finding.kind != "repeats":  # which are told with how steady each juror is
            who = tuple(name for name in votes.jurors if name in finding.about)
            yield Alarm(finding.kind, finding.level, finding.message, finding.value, who)


def _texts(votes: Votes) -> tuple[list[str], tuple[str, ...]]:
    """The labels as Python writes numbers, and what was done to them; VotesError names the first that is none."""
    read = numerals(votes.labels)
    if read.doubtful is not None:
        raise VotesError(f"{_where(read.doubtful, votes)}: {read.doubt}", code="two_readings")
    texts = [text for text in read.texts if text is not None]
    if (sizes := read.sizes) and None in sizes:  # no number, or none that a float can hold
        label = votes.labels[sizes.index(None)]
        advice = f"mend it, or leave it out (--missing {label}); labels are graded with --scale nominal"
        raise VotesError(f"{_where(label, votes)}: {str(label)!r:.40} is no number; {advice}", code="bad_row")
    return texts, read.remarks


def _where(label: Any, votes: Votes) -> str:
    """The first cell that holds a label."""
    row, juror, code = votes.triples()
    places = np.flatnonzero(code == list(map(str, votes.labels)).index(str(label)))
    if not len(places):
        return "the labels"
    item = votes.item_names()[row[places[0]]]
    return f"juror {votes.jurors[juror[places[0]]]}, item {item}"


# Wild values: a few numbers far off a juror's own scale (a slip of the decimal point, 9999) on items like any other.
#
# A number within the scale that is far from the truth is an error, which the grades are about, and stays. Winsorised
# and rank covariances were tried beside this (benchmarks/ratings.py): where nothing is wild they bend the grades, this
# does not; where something is, this says what.


_FEW = 0.05  # of a juror's numbers, at each end
_APART = 5.0  # standard deviations of all but the few
_TRIMMED = 1.27  # a normal's standard deviation over that of its middle nine tenths
_USUAL = 3.0  # the others find the item within so many
_FEWEST_CORE, _FEWEST_LEVELS = 5, 3


def find_outliers(values: Floats) -> Flags:
    """Items x jurors: which numbers stand apart from all others of their juror, though the others see nothing unusual.

    >>> table = np.add.outer(np.arange(12.0), [0, 5, 9])
    >>> table[4, 1] = 9999
    >>> np.argwhere(find_outliers(table)).tolist()
    [[4, 1]]
    """
    standing = [_standing(column) for column in values.T]
    apart = np.column_stack([far for far, _ in standing])
    unusual = np.column_stack([away for _, away in standing])
    wild = np.zeros_like(apart)
    for row, juror in np.argwhere(apart):
        others = np.delete(unusual[row], juror)
        known = others[~np.isnan(others)]
        wild[row, juror] = 2 * int((known < _USUAL).sum()) >= len(known)  # else it is the item that is unusual
    return wild


def _standing(column: Floats) -> tuple[Flags, Floats]:
    """Of one juror's numbers: which stand apart, and how many standard deviations each is from the middle."""
    apart, unusual = np.zeros(len(column), dtype=np.bool_), np.full(len(column), np.nan)
    order = np.argsort(column)[: int((~np.isnan(column)).sum())]
    sorted_values, few = column[order], max(1, int(_FEW * len(order)))
    core = sorted_values[few:-few]
    if len(core) < _FEWEST_CORE or 1 + np.count_nonzero(np.diff(core)) < _FEWEST_LEVELS:
        return apart, unusual
    spread = float(core.std()) * _TRIMMED
    if not spread > 0:  # of numbers so small that their squares are 0
        return apart, unusual
    steps = np.diff(sorted_values) > _APART * spread
    if steps[-few:].any():
        apart[order[len(order) - few + int(np.argmax(steps[-few:])) :]] = True
    if steps[:few].any():
        apart[order[: few - int(np.argmax(steps[:few][::-1]))]] = True
    unusual[order] = np.abs(sorted_values - np.median(core)) / spread
    return apart, unusual
