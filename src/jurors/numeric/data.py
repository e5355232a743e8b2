"""Jurors' numbers as data: any source of votes comes in, `Numbers` (items x jurors) go out.

`read_numbers` takes each distinct label for a number or raises with its place. A juror who gave an item several numbers
is taken at their mean.
`find_outliers` flags numbers far off a juror's own scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Flags, Floats
from jurors.errors import OptionError, VotesError
from jurors.evaluate.alarms import Alarm
from jurors.options import ReadingOptions, SourceOptions, TableOptions, check_applies, column_names
from jurors.votes.codes import numerals
from jurors.votes.findings import repeated_rows, scale_finding, similar_jurors
from jurors.votes.frame import is_frame, votes_from_frame
from jurors.votes.io.sources import are_files
from jurors.votes.read import read_votes
from jurors.votes.table import Votes

_MOST_ITEMS = 10_000_000
_MEAN_DIGITS = 15  # a mean of decimals is again a short decimal, or has no end
_LARGEST = 1e60  # products of two variances are still far from the largest float


@dataclass(frozen=True, eq=False, kw_only=True)
class Numbers:
    """Items x jurors.

    Examples
    --------
    >>> numbers = Numbers.from_matrix([[1, 2.5], [3, None]], jurors=("ann", "bob"))
    >>> numbers, numbers.values.tolist()
    (Numbers(2 items, 2 jurors, 3 numbers from 1 to 3), [[1.0, 2.5], [3.0, nan]])
    """

    items: NDArray[Any]  #: their names, or their numbers from 0
    jurors: tuple[str, ...]
    values: Floats  #: items x jurors; NaN where no number was given
    remarks: tuple[str, ...] = ()  #: how cells were interpreted while reading
    scale_why: str = "scale='interval' was given"  #: why they are read as numbers
    notes: tuple[Alarm, ...] = ()  #: about the votes as read, before jurors are graded

    scale = "interval"

    def __post_init__(self) -> None:
        if (large := self.values[np.abs(self.values) > _LARGEST]).size:
            raise VotesError(f"{large[0]:g} is too large: give numbers up to {_LARGEST:g}")

    @classmethod
    def from_matrix(
        cls,
        matrix: NDArray[Any] | Sequence[Sequence[Any]],
        *,
        items: Sequence[Any] | None = None,
        jurors: Sequence[Any] | None = None,
    ) -> Numbers:
        """From items in rows and jurors in columns; NaN and None are gaps. -1 is a number like any other.

        Returns
        -------
        Numbers
            Jurors are named 1, 2 … and items numbered from 0 where no names are given.
        """
        try:
            cells = np.array(matrix, dtype=np.float64)
        except (TypeError, ValueError):
            raise VotesError("a matrix of numbers needs rows of equal length with numbers, None or NaN") from None
        if cells.ndim != 2 or np.isinf(cells).any():
            requirement = "finite numbers" if cells.ndim == 2 else f"2 dimensions (items x jurors), got {cells.ndim}"
            raise VotesError(f"a matrix of numbers needs {requirement}")
        rows, width = cells.shape
        names = tuple(str(k + 1) for k in range(width)) if jurors is None else tuple(map(str, jurors))
        labels = np.arange(rows) if items is None else np.array(list(items), dtype=object)
        if len(names) != width or len(set(names)) != width or len(labels) != rows:
            raise VotesError(f"{rows} x {width} numbers need {rows} item names and {width} juror names, all different")
        return cls(items=labels, jurors=names, values=cells)

    @cached_property
    def given(self) -> Flags:
        """Items x jurors: whether there is a number."""
        return np.asarray(~np.isnan(self.values))

    def without(self, cells: Flags) -> Numbers:
        """The same with some cells (items x jurors) empty."""
        return replace(self, values=np.where(cells, np.nan, self.values))

    def __repr__(self) -> str:
        ends = f" from {np.nanmin(self.values):g} to {np.nanmax(self.values):g}" if self.given.any() else ""
        size = f"{len(self.items):,} items, {len(self.jurors)} jurors, {int(self.given.sum()):,} numbers"
        return f"Numbers({size}{ends})"


def read_numbers(source: Any, **reading: Unpack[SourceOptions]) -> Numbers:
    r"""Read jurors' numbers: ratings, scores, probabilities, measurements.

    Parameters
    ----------
    source
        Whatever `read_votes` takes (a path, several, a file object), long or wide; a dataframe; a matrix of items x
        jurors, NaN where none was given; `Votes`; or `Numbers`. Options are those of `read_votes`; of a matrix `items`
        and `jurors`. Decimal commas are understood, where they can be nothing else, and per cent where all have it.

    Returns
    -------
    Numbers
        Items x jurors.

    Raises
    ------
    VotesError
        A cell is not a number.

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
    given["scale"] = "nominal"  # what is no number is reported by `numbers_of`, with its place
    if not is_files and not isinstance(source, (str, Path)) and is_frame(source):
        check_applies(reading, column_names(TableOptions), "a dataframe")
        return numbers_of(votes_from_frame(source, **cast(TableOptions, given)))
    check_applies(reading, column_names(ReadingOptions), "files")
    return numbers_of(read_votes(source, **cast(ReadingOptions, given)))


def numbers_of(votes: Votes) -> Numbers:
    """The numbers in votes whose labels are numbers.

    Returns
    -------
    Numbers
        Counted rows are written out, a row per item.

    Raises
    ------
    VotesError
        A label is not a number or is ambiguous, or there are too many items.
    """
    read = numerals(votes.labels)
    if read.doubtful is not None:
        raise VotesError(f"{_first_cell(read.doubtful, votes)}: {read.doubt}", code="two_readings")
    if (sizes := read.sizes) and None in sizes:  # no number, or none that a float can hold
        label = votes.labels[sizes.index(None)]
        shown = f"{str(label)!r:.40}"
        advice = f"correct it, leave it out with missing={shown}, or read the votes as labels with scale='nominal'"
        raise VotesError(f"{_first_cell(label, votes)}: {shown} is not a number; {advice}", code="bad_row")
    known, remarks = np.array([*sizes, np.nan], dtype=np.float64), read.remarks
    values, items = known[votes.codes], votes.item_names()
    if votes.repeats is not None:
        if votes.counts is not None:
            raise VotesError("repeated numbers that are already counted have no mean; read the votes themselves")
        answers = known[np.minimum(votes.repeats.answers, len(known) - 1)]  # abstaining is the last code, and -1
        count = (~np.isnan(answers)).sum(axis=1)
        means = np.divide(np.nansum(answers, axis=1), count, out=np.full(len(answers), np.nan), where=count > 0)
        rounded = [float(f"{mean:.{_MEAN_DIGITS}g}") for mean in means.tolist()]
        values[votes.repeats.row, votes.repeats.juror] = rounded
        remarks = (*remarks, "where a juror answered an item several times, the mean counts")
    if votes.counts is not None:
        if votes.total > _MOST_ITEMS:
            message = f"{votes.total:,} items are too many (at most {_MOST_ITEMS:,}); use a sample"
            raise VotesError(message, code="too_large", given=votes.total, needed=_MOST_ITEMS)
        values, items = np.repeat(values, votes.counts, axis=0), np.arange(votes.total)
    repeated = () if votes.counts is not None else repeated_rows(votes)
    findings = (*votes.findings, *scale_finding(votes), *similar_jurors(votes.jurors), *repeated)
    recognised = {"scale_why": votes.scale_why} if votes.scale == "interval" and votes.scale_why else {}
    return Numbers(
        items=items,
        jurors=votes.jurors,
        values=values,
        remarks=remarks,
        notes=tuple(
            Alarm(each.kind, each.level, each.message, each.value, tuple(n for n in votes.jurors if n in each.about))
            for each in findings
            if each.kind != "repeats"  # a remark says what is made of these
        ),
        **recognised,
    )


def _first_cell(label: Any, votes: Votes) -> str:
    """Where the first cell is that holds a label."""
    row, juror, code = votes.triples()
    cells = np.flatnonzero(code == list(map(str, votes.labels)).index(str(label)))
    if not len(cells):
        return "the labels"
    return f"juror {votes.jurors[juror[cells[0]]]}, item {votes.item_names()[row[cells[0]]]}"


def shown(value: float) -> str:
    """A number in a table; more decimals where it is small.

    >>> [shown(x) for x in (0.123, -7.45, 1234.5, float("nan"))]
    ['0.12', '-7.45', '1,234', '–']
    """
    return "–" if value != value else f"{value:z,.2f}" if abs(value) < 100 else f"{value:z,.0f}"


def interval_columns(estimates: Any, name: str, column: str = "", size: int = 0) -> dict[str, Any]:
    """Three columns of a frame: a field and the ends of its interval (`name_ends`); `size` NaNs of no estimates."""
    values: Any = np.full((3, size), np.nan)
    if estimates is not None:
        values = (getattr(estimates, name), *getattr(estimates, f"{name}_ends").T)
    return {f"{column or name}{end}": each for end, each in zip(("", "_low", "_high"), values, strict=True)}


def with_interval(estimates: Any, name: str, k: int) -> tuple[str, str]:
    """Two cells of a table: entry k of a field and its interval (`name_ends`), empty where there is none."""
    if estimates is None:
        return shown(np.nan), ""
    return shown(getattr(estimates, name)[k]), shown_range(getattr(estimates, f"{name}_ends")[k])


def shown_range(ends: Sequence[float] | Floats) -> str:
    """An interval in a table; empty where there is none.

    >>> shown_range((0.1, 2)), shown_range((0.0, float("nan")))
    ('0.10 – 2.00', '')
    """
    low, high = ends
    return "" if low != low or high != high else f"{shown(low)} – {shown(high)}"


# ---------------------------------------------------------------------------------------------------------------------
# Outliers: a few numbers far off a juror's own scale (a slip of the decimal point, 9999) on items like any other
#
# A number within the scale that is far from the truth is an error, which the grades are about, and stays. Winsorised
# and rank covariances were tried as well (benchmarks/ratings.py): where there are no outliers they bend the grades,
# this does not; where there are, this names them.
# ---------------------------------------------------------------------------------------------------------------------

_FEW = 0.05  # of a juror's numbers, at each end
_GAP = 5.0  # standard deviations of all but the few
_TRIMMED = 1.27  # a normal's standard deviation over that of its middle nine tenths
_USUAL = 3.0  # the others find the item within so many
_FEWEST_CORE, _FEWEST_LEVELS = 5, 3


def find_outliers(values: Floats) -> Flags:
    """Numbers beyond a wide gap in their juror's distribution, on items that the other jurors find unremarkable.

    Returns
    -------
    ndarray
        Items x jurors, True for outliers.

    Examples
    --------
    >>> table = np.add.outer(np.arange(12.0), [0, 5, 9])
    >>> table[4, 1] = 9999
    >>> np.argwhere(find_outliers(table)).tolist()
    [[4, 1]]
    """
    columns = [_beyond_gap(column) for column in values.T]
    is_far = np.column_stack([is_far for is_far, _ in columns])
    distance = np.column_stack([distance for _, distance in columns])
    outliers = np.zeros_like(is_far)
    for row, juror in np.argwhere(is_far):
        others = np.delete(distance[row], juror)
        others = others[~np.isnan(others)]
        outliers[row, juror] = 2 * int((others < _USUAL).sum()) >= len(others)  # else it is the item that is unusual
    return outliers


def _beyond_gap(column: Floats) -> tuple[Flags, Floats]:
    """One juror's numbers: which lie beyond a gap, and how many standard deviations each is from the median."""
    is_far, distance = np.zeros(len(column), dtype=np.bool_), np.full(len(column), np.nan)
    order = np.argsort(column)[: int((~np.isnan(column)).sum())]
    sorted_values, few = column[order], max(1, int(_FEW * len(order)))
    core = sorted_values[few:-few]
    if len(core) < _FEWEST_CORE or 1 + np.count_nonzero(np.diff(core)) < _FEWEST_LEVELS:
        return is_far, distance
    spread = float(core.std()) * _TRIMMED
    if not spread > 0:  # of numbers so small that their squares are 0
        return is_far, distance
    gaps = np.diff(sorted_values) > _GAP * spread
    if gaps[-few:].any():
        is_far[order[len(order) - few + int(np.argmax(gaps[-few:])) :]] = True
    if gaps[:few].any():
        is_far[order[: few - int(np.argmax(gaps[:few][::-1]))]] = True
    distance[order] = np.abs(sorted_values - np.median(core)) / spread
    return is_far, distance
