"""Numbers and true values come in; how far off jurors and items' values are goes out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Floats, Integers, jackknife_ends, single_threaded
from jurors.errors import SketchError, VotesError
from jurors.evaluate.alarms import Alarm, sort_by_severity
from jurors.numeric.data import Numbers, Repeatability, read_numbers, repeatability
from jurors.numeric.factor import FALSE_ALARMS, squared_ends
from jurors.numeric.grade import (
    CalibratedNumbers,
    ItemValues,
    NumberGrades,
    calibrate_numbers,
    number_grades_by,
    shown,
    values_by,
)
from jurors.options import Confidence, SourceOptions
from jurors.results import Block, Columns, Drawable, Notes, Table, row_documents
from jurors.votes import Votes, as_key
from jurors.votes.recode import midpoint, numerals

# Numbers beside their true values: correlation, error and line of each column, with intervals.
#
# number = offset + slope x truth + error, by least squares. Intervals are by the jackknife, so that nothing is assumed
# of how errors are distributed, nor that they are as large everywhere: of correlations on the scale of Fisher's z, of
# what is positive on that of logarithms, where they are all but symmetric.


@dataclass(frozen=True, eq=False, kw_only=True)
class AgainstTruth:
    """What the key says of each column; ends of intervals are two columns. NaN where it does not say."""

    numbers: Integers  #: how many have a true value
    correlation: Floats
    correlation_ends: Floats
    reliability: Floats  #: the squared correlation
    reliability_ends: Floats
    rmse: Floats  #: the root of the mean squared error
    rmse_ends: Floats
    bias: Floats  #: the mean error
    bias_ends: Floats
    slope: Floats  #: by how much the number grows where the truth grows by 1
    slope_ends: Floats
    offset: Floats  #: the number where the truth is 0, error apart
    offset_ends: Floats
    noise: Floats  #: the standard deviation of what the line leaves over, by degrees of freedom
    noise_ends: Floats


def against_truth(values: Floats, truth: Floats, level: float) -> AgainstTruth:
    """Each column of items x columns, over the items that have both a number and a true value.

    >>> told = against_truth(np.array([[3.0], [5.0], [7.0], [9.5]]), np.array([1.0, 2.0, 3.0, 4.0]), 0.95)
    >>> told.slope.round(2).tolist(), told.bias.round(3).tolist(), told.rmse.round(3).tolist()
    ([2.15], [3.625], [3.849])
    """
    known = ~np.isnan(values) & ~np.isnan(truth)[:, None]
    columns = [_column(column[both], truth[both], level) for column, both in zip(values.T, known.T, strict=True)]
    counted = known.sum(axis=0)
    return AgainstTruth(numbers=counted, **{name: np.array([one[name] for one in columns]) for name in _NAMES})


_MEASURES = ("correlation", "reliability", "rmse", "bias", "slope", "offset", "noise")
_NAMES = (*_MEASURES, *(f"{name}_ends" for name in _MEASURES))


def _column(number: Floats, truth: Floats, level: float) -> dict[str, Floats | float]:
    told: dict[str, Floats | float] = {
        name: np.full(2, np.nan) if name.endswith("_ends") else float("nan") for name in _NAMES
    }
    items = len(number)
    if not items:
        return told
    centre = truth.mean(), number.mean()  # so that no digits are lost in squares
    each = _powers(truth - centre[0], number - centre[1])
    whole = _measures(each.sum(axis=1), items, *centre)
    apart = _measures(each.sum(axis=1)[:, None] - each, items - 1, *centre)
    for name, value in whole.items():
        told[name] = float(value)
        told[f"{name}_ends"] = jackknife_ends(float(value), apart[name], level, *_SCALES.get(name, ()))
    if np.ptp(number) == 0:  # rounding may leave a little
        told |= {"correlation": float("nan"), "correlation_ends": np.full(2, np.nan)}
    told["reliability"] = float(told["correlation"]) ** 2
    told["reliability_ends"] = squared_ends(np.array([told["correlation_ends"]]))[0]
    return told


def _powers(x: Floats, y: Floats) -> Floats:
    return np.array([x, y, x * x, x * y, y * y])


def _measures(sums: Floats, items: int, x0: float, y0: float) -> dict[str, Floats]:
    """All from sums of powers around x0 and y0, of one sample or of several."""
    with np.errstate(invalid="ignore", divide="ignore"):
        x, y, xx, xy, yy = sums / items
        across, both, along = xx - x * x, xy - x * y, yy - y * y
        slope = np.where(across > _LITTLE * xx, both / across, np.nan)
        left = np.maximum(along - slope * both, 0.0)  # squares of what the line leaves over: below 0 by rounding alone
        away = y0 - x0
        return {
            "bias": y - x + away,
            "rmse": np.sqrt(np.maximum(xx - 2 * xy + yy + 2 * away * (y - x) + away**2, 0.0)),
            "slope": slope,
            "offset": y + y0 - slope * (x + x0),
            "noise": np.sqrt(left * items / (items - 2)) if items > 2 else np.full_like(x, np.nan),
            "correlation": slope * np.sqrt(across / along),
        }


_LITTLE = 1e-12  # of a sum of squares, left by rounding


_SCALES = {"correlation": (np.arctanh, np.tanh), "rmse": (np.log, np.exp), "noise": (np.log, np.exp)}


# True values: an answer key whose labels are numbers, item by item.


@dataclass(frozen=True)
class TrueValues:
    """The true value of each item, NaN where it is unknown."""

    values: Floats
    remarks: tuple[str, ...] = ()


def true_values(key: Any, source: Any, numbers: Numbers) -> TrueValues:
    """What a key says of the items of numbers that were read from a source; VotesError where it is none of numbers.

    >>> numbers = Numbers.from_matrix([[1, 2], [3, 4]], items=("a", "b"))
    >>> true_values({"b": "2,5"}, None, numbers)
    TrueValues(values=array([nan, 2.5]), remarks=('key: commas are decimal commas',))
    """
    truths = as_key(key)
    if isinstance(source, Votes):  # rows may be counted, and labels rewritten
        told = truths.read_as(source).by_row(source)
        told = told if source.counts is None else np.repeat(told, source.counts)
    else:
        told = truths.by_name(numbers.items)
    known = np.array([truth is not None for truth in told], dtype=np.bool_)
    if not known.any():
        raise VotesError("no item has a true value")
    values = np.full(len(told), np.nan)
    values[known], remarks = _as_numbers(told[known], numbers.items[known], numbers)
    return TrueValues(values, remarks)


def _as_numbers(told: NDArray[Any], items: NDArray[Any], numbers: Numbers) -> tuple[Floats, tuple[str, ...]]:
    read = numerals(told)
    if read.doubtful is not None:
        raise VotesError(f"the answer key: {read.doubt}", code="two_readings")
    sizes = read.sizes
    if None in sizes:
        item, truth = items[sizes.index(None)], told[sizes.index(None)]
        middles = f"--threshold {midpoint(numbers.distinct)}" if numbers.distinct else "--threshold NUMBER"
        raise VotesError(
            f"the answer key says {str(truth)!r:.40} of item {item}, which is no number, as the votes are: give true "
            f"values, make labels of the numbers ({middles}, or --bins 5), or say --scale nominal",
            code="bad_row",
            item=str(item),
            labels=(truth,),
        )
    return np.array(sizes, dtype=np.float64), tuple(f"key: {remark}" for remark in read.remarks)


# Values of items beside the true ones: those that graded jurors give, and plain means and medians.


_CALLED = {"grades": "by grades (label)", "mean": "mean of the numbers", "median": "median of the numbers"}


@dataclass(frozen=True)
class ValuesScored:
    """How near one way of valuing items comes to the true values."""

    by: str  #: "grades" (as `value_items` does), "mean" or "median"
    items: int  #: that have a value and a true one
    rmse: float
    bias: float
    correlation: float
    rank_correlation: float
    inside: float = float("nan")  #: the share of true values inside their intervals, as real juries go
    independent_inside: float = float("nan")  #: the same if errors were independent

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it: null where there is no such number."""
        return {name: None if value != value else value for name, value in asdict(self).items()}

    def cells(self) -> tuple[str, ...]:
        """A row to read."""
        inside = "" if self.inside != self.inside else f"{self.inside:.1%}"
        measures = (self.rmse, self.bias, self.correlation, self.rank_correlation)
        return _CALLED[self.by], f"{self.items:,}", *map(shown, measures), inside


def values_scored(numbers: Floats, truth: Floats, valued: ItemValues | None) -> tuple[ValuesScored, ...]:
    """Of items x jurors; without grades, means and medians alone.

    >>> numbers, truth = np.array([[1.0, 2], [2, 4], [5, np.nan]]), np.array([1.0, 3, 5])
    >>> [(one.by, round(one.rmse, 3), round(one.rank_correlation, 3)) for one in values_scored(numbers, truth, None)]
    [('mean', 0.289, 1.0), ('median', 0.289, 1.0)]
    """
    some = ~np.isnan(numbers).all(axis=1)
    mean, median = np.full((2, len(numbers)), np.nan)
    mean[some], median[some] = np.nanmean(numbers[some], axis=1), np.nanmedian(numbers[some], axis=1)
    graded = () if valued is None else (_values_scored_scored("grades", valued.value, truth, valued),)
    return (*graded, _values_scored_scored("mean", mean, truth), _values_scored_scored("median", median, truth))


def _values_scored_scored(by: str, value: Floats, truth: Floats, ends: ItemValues | None = None) -> ValuesScored:
    from scipy.stats import rankdata

    known = ~np.isnan(value) & ~np.isnan(truth)
    value, true = value[known], truth[known]
    plain, ranks = (
        against_truth(one[:, None], two, 0.95) for one, two in ((value, true), (rankdata(value), rankdata(true)))
    )
    inside = [] if ends is None else [_inside(low[known], true, high[known]) for low, high in _intervals(ends)]
    measures = (plain.rmse, plain.bias, plain.correlation, ranks.correlation)
    return ValuesScored(by, len(value), *(float(one[0]) for one in measures), *inside)


def _intervals(ends: ItemValues) -> tuple[tuple[Floats, Floats], ...]:
    return (ends.low, ends.high), (ends.independent_low, ends.independent_high)


def _inside(low: Floats, true: Floats, high: Floats) -> float:
    there = ~np.isnan(low)
    return float(((low <= true) & (true <= high))[there].mean()) if there.any() else float("nan")


# `score_numbers`: jurors who answer in numbers against true values, beside what is estimated without them.


_BY_KEY = ("correlation", "reliability", "rmse", "bias", "slope", "offset", "noise")
_GRADES = ("calibrated_reliability", "reliability", "slope", "offset", "noise")
_BASIS = (
    "by the key: a juror says offset + slope x truth + error; RMSE and bias are of number less truth",
    "without the key: reliability as real juries go, and if errors were independent; the line is on the panel's own "
    "scale",
)
_OTHER_UNIT = 5.0  # so many times wider, and the key is in another unit


@dataclass(frozen=True, eq=False, kw_only=True)
class NumberScores(Drawable):
    """How each juror measures by the true values, and what its numbers alone say of it."""

    jurors: tuple[str, ...]
    items: int  #: with a true value
    by_key: AgainstTruth  #: per juror: correlation, reliability, RMSE, bias, slope, offset, noise, with ends
    grades: NumberGrades | None  #: of all items, without the key; None where the numbers fix none
    values: tuple[ValuesScored, ...]  #: the items' values: by grades, and plain means and medians
    truth_mean: float
    truth_spread: float  #: the standard deviation of the true values
    level: float
    scale_why: str = ""  #: by what the votes are known to be numbers
    repeats: Repeatability | None = None  #: how steady jurors are who were asked several times about an item
    remarks: tuple[str, ...] = ()
    alarms: tuple[Alarm, ...] = ()

    def _columns(self) -> Columns:
        columns: dict[str, Any] = {"juror": self.jurors, "numbers": self.by_key.numbers}
        for name in _BY_KEY:
            columns |= _with_ends(name, name, self.by_key)
        for name in _GRADES:
            called = name if name.startswith("calibrated") else f"estimated_{name}"
            columns |= _with_ends(called, name, self.grades, len(self.jurors))
        return columns | ({} if self.repeats is None else self.repeats.columns(self.jurors))

    def _document(self) -> dict[str, Any]:
        return {
            "scale": "interval",
            "scale_why": self.scale_why,
            "level": self.level,
            "items": self.items,
            "truth": {"mean": self.truth_mean, "spread": self.truth_spread},
            "jurors": row_documents(self._columns()),
            "values": self.values,
            **({} if self.repeats is None else {"repeats": self.repeats}),
            "remarks": self.remarks,
            "alarms": [alarm.to_dict() for alarm in self.alarms],
        }

    def _blocks(self) -> Iterable[Block]:
        title = f"{self.items:,} items with a true value: {shown(self.truth_mean)} ± {shown(self.truth_spread)}"
        steady = [] if self.repeats is None else [self.repeats.table(self.level, shown)]
        tables = [self.by_juror(), self._beside_table(), *self._about_items(), *steady]
        return [title, *tables, Notes((*_BASIS, *self.remarks))]

    def by_juror(self) -> Table:
        """A row per juror by the key, to read."""
        sure = f"{self.level * 100:g}%"
        names = tuple(name for name in _BY_KEY if name != "reliability")
        heads = ("juror", "numbers", *(head for name in names for head in (name.replace("rmse", "RMSE"), sure)))
        rows = [
            (juror, f"{self.by_key.numbers[k]:,}", *(cell for name in names for cell in _cells(self.by_key, name, k)))
            for k, juror in enumerate(self.jurors)
        ]
        return Table(heads, tuple(rows), title="by the key", right=tuple(range(1, len(heads))))

    def _beside_table(self) -> Table:
        sure = f"{self.level * 100:g}%"
        heads = ("juror", "by the key", sure, "as real juries go", sure, "if independent", sure, "slope", "offset")
        rows = [
            (
                juror,
                *_cells(self.by_key, "reliability", k),
                *_cells(self.grades, "calibrated_reliability", k),
                *_cells(self.grades, "reliability", k),
                *(_cells(self.grades, name, k)[0] for name in ("slope", "offset")),
            )
            for k, juror in enumerate(self.jurors)
        ]
        title = "reliability (squared correlation with the truth), beside what the numbers alone say"
        return Table(heads, tuple(rows), title=title, right=tuple(range(1, len(heads))))

    def _about_items(self) -> Iterator[Block]:
        """The items' values, and how many reliabilities the intervals without a key hold."""
        heads = ("values of items", "items", "RMSE", "bias", "correlation", "of ranks", "inside the interval")
        yield Table(heads, tuple(one.cells() for one in self.values), right=tuple(range(1, len(heads))))
        if self.grades is not None:
            ends, true = self.grades.calibrated_reliability_ends, self.by_key.reliability
            known = ~np.isnan(ends[:, 0]) & ~np.isnan(true)
            held = int(((ends[:, 0] <= true) & (true <= ends[:, 1]))[known].sum())
            all_known = f"{int(known.sum()):,} reliabilities by the key"
            yield f"{held:,} of {all_known} lie inside their intervals as real juries go"


def score_numbers(source: Any, key: Any, *, level: float = 0.95, **reading: Unpack[SourceOptions]) -> NumberScores:
    r"""Grade jurors who answer in numbers against true values, beside what is estimated without them.

    Parameters
    ----------
    source
        Whatever `read_votes` takes, a dataframe, or a matrix of items x jurors; options as in `read_numbers`.
    key
        True values: a mapping from item to number, one number per row, a frame with `item` and `label`, or a file.
    level
        How sure the intervals are.

    Examples
    --------
    >>> import io
    >>> rows = "item,ann,bob,cy\n1,1,2,10\n2,4,5,14\n3,3,4,22\n4,2,9,18\n5,6,7,27\n6,5,12,25\n"
    >>> scored = score_numbers(io.StringIO(rows), {1: 1, 2: 3, 3: 4, 4: 3, 5: 6, 6: 5})
    >>> scored.by_key.correlation.round(2).tolist(), scored.grades.reliability.round(2).tolist()
    ([0.92, 0.6, 0.97], [0.65, 0.41, 0.98])
    """
    sure = Confidence(level=level)
    numbers = read_numbers(source, **reading)
    truth = true_values(key, source, numbers)
    with single_threaded():
        return _scored(numbers, truth, sure.level)


def _scored(numbers: Numbers, truth: TrueValues, level: float) -> NumberScores:
    by_key = against_truth(numbers.values, truth.values, level)
    known = truth.values[~np.isnan(truth.values)]
    graded, why = _graded(numbers)
    tame = numbers if graded is None else graded.numbers
    grades = None if graded is None else number_grades_by(graded, level)
    alarms = numbers.notes if grades is None else grades.alarms
    return NumberScores(
        jurors=numbers.jurors,
        items=len(known),
        by_key=by_key,
        grades=grades,
        values=values_scored(numbers.values, truth.values, None if graded is None else values_by(graded, level)),
        truth_mean=float(known.mean()),
        truth_spread=float(known.std()),
        level=level,
        scale_why=numbers.scale_why,
        repeats=repeatability(numbers.jurors, tame.again, level),
        remarks=(
            *numbers.remarks,
            *(note.message for note in numbers.notes if note.level == "note" and note.kind != "scale"),
            *truth.remarks,
            *why,
            *_units(tame.values, known),
        ),
        alarms=sort_by_severity((*alarms, *_reversed(numbers, truth.values, alarms))),
    )


def _graded(numbers: Numbers) -> tuple[CalibratedNumbers | None, tuple[str, ...]]:
    """What the numbers alone say; where they say nothing, why."""
    try:
        graded = calibrate_numbers(numbers)
    except SketchError as error:
        return None, (f"nothing is estimated without the key: {error}",)
    wild = "wild values are left out of what is estimated without the key; by the key, they count"
    return graded, (wild,) if graded.wild else ()


def _units(values: Floats, known: Floats) -> Iterator[str]:
    """What to say where key and numbers cannot be in one unit."""
    low, high, given = float(known.min()), float(known.max()), values[~np.isnan(values)]
    if not len(given) or not (high > low and np.ptp(given) > 0):
        return
    ratio = float(np.ptp(given)) / (high - low)
    if not 1 / _OTHER_UNIT < ratio < _OTHER_UNIT or given.min() > high or given.max() < low:
        yield (
            f"the key runs from {low:g} to {high:g}, the numbers from {given.min():g} to {given.max():g}: if these are "
            "two units, RMSE, bias and what lies inside intervals mean nothing; correlation and reliability do"
        )


def _reversed(numbers: Numbers, truth: Floats, rung: Iterable[Alarm]) -> Iterator[Alarm]:
    """Who has the scale upside down by the key, unless that has rung."""
    told = {name for alarm in rung if alarm.kind == "reversed_scale" for name in alarm.jurors}
    strict = against_truth(numbers.values, truth, 1 - FALSE_ALARMS / len(numbers.jurors))
    for k, juror in enumerate(numbers.jurors):
        if strict.correlation_ends[k, 1] < 0 and juror not in told:
            message = f"{juror} gives lower numbers where the key's are higher"
            yield Alarm("reversed_scale", "alarm", message, float(strict.correlation[k]), (juror,))


def _with_ends(called: str, name: str, held: AgainstTruth | NumberGrades | None, size: int = 0) -> dict[str, Any]:
    if held is None:
        return {f"{called}{end}": np.full(size, np.nan) for end in ("", "_low", "_high")}
    low, high = getattr(held, f"{name}_ends").T
    return {called: getattr(held, name), f"{called}_low": low, f"{called}_high": high}


def _cells(held: AgainstTruth | NumberGrades | None, name: str, k: int) -> tuple[str, str]:
    """A number and its interval."""
    if held is None:
        return "–", ""
    low, high = getattr(held, f"{name}_ends")[k]
    return shown(getattr(held, name)[k]), "" if low != low else f"{shown(low)} – {shown(high)}"
