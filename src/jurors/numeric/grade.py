"""How much of what jurors agree on is the truth, as real juries go."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib.resources import files
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from jurors._numeric import Flags, Floats, Integers, single_threaded
from jurors.errors import SketchError, format_first_names, format_names
from jurors.evaluate.alarms import Alarm, AlarmPair, Level, sort_by_severity
from jurors.evaluate.card import alarm_lines
from jurors.numeric.data import Numbers, Repeatability, find_outliers, read_numbers, repeatability
from jurors.numeric.factor import (
    FALSE_ALARMS,
    MIN_JURORS_TO_TEST,
    Covariances,
    Factor,
    Pair,
    SharedErrorTest,
    TrioAnswer,
    exact_trio,
    fit_shared_errors,
    noise_ends,
    plain_ends,
    reliability_ends,
    standard_error,
)
from jurors.options import Confidence, SourceOptions
from jurors.results import Block, Columns, Drawable, Notes, Result, Table
from jurors.sketch.connectivity import MIN_JURORS, connected_groups

# How much of what jurors agree on is the truth, as real juries go.


# How much of what jurors agree on is the truth, as real juries go.
#
# Jurors' numbers show what they agree on, and nothing else; what all get wrong together looks like the truth. So a
# juror's correlation with the truth is a fraction of its correlation with what they agree on:
#     correlation with the truth = validity x correlation with what is agreed on + a deviation of the juror's own,
# one validity for the whole jury. It cannot be seen in the numbers; juries with known keys tell how large it usually is
# (`benchmarks/reference_numbers.py` measures it, and how often the intervals below hold).


_HALVINGS = 50  # of an interval that holds a quantile

#: How many sets have a key in the jurors' own units, and the least and the most of their true values that lie inside
#: the 95% intervals of items' values (`benchmarks/reference_numbers.py`).
VALUES_HELD = (4, 0.850, 0.956)


def about_values() -> str:
    """What the intervals of items' values allow for, and what came of it."""
    sets, least, most = VALUES_HELD
    return (
        "intervals as real juries go: they allow for errors that jurors share, not for a jury that is too lenient or "
        f"too harsh as a whole; on {sets} real sets, 95% intervals held {least:.0%} to {most:.0%} of the true values"
    )


@dataclass(frozen=True)
class Validities:
    """What reference juries tell of the next one."""

    validity: Floats  #: per jury
    weight: Floats  #: per jury: families of juries count alike
    deviation: float  #: standard deviation of a juror's own

    @classmethod
    def of(cls, families: list[str], validity: list[float], deviation: list[float]) -> Validities:
        """From one row per jury: its family, its validity, and the variance of its jurors' own deviations."""
        sizes = {family: families.count(family) for family in families}
        weight = np.array([1 / (sizes[family] * len(sizes)) for family in families])
        return cls(np.array(validity), weight, float(np.sqrt(max(weight @ np.array(deviation), 0.0))))

    def reliability(self, correlation: Floats, error: Floats, level: float) -> tuple[Floats, Floats]:
        """The squared correlation with the truth, and its ends in two columns; 0 the lower where the sign is open."""
        mean = self.validity[:, None] * correlation
        spread = np.hypot(self.validity[:, None] * error, self.deviation)
        low, middle, high = (self._quantile(mean, spread, share) for share in ((1 - level) / 2, 0.5, (1 + level) / 2))
        most = np.maximum(np.abs(middle), 1.0)[:, None]  # no number has a correlation beyond 1; who seems to, shows it
        ends = np.clip(np.column_stack([low, high]), -most, most)
        squares = np.sort(ends**2, axis=1)
        squares[(ends[:, 0] < 0) & (ends[:, 1] > 0), 0] = 0.0
        return middle**2, squares

    def reach(self, left: Floats, level: float) -> Floats:
        """How far the truth lies from an item's value, so surely, in standard deviations of what is agreed on.

        `left` is how far what is agreed on lies from it.
        """
        known, which = np.unique(left, return_inverse=True)
        spread = np.sqrt(1 - self.validity[:, None] ** 2 + known**2)
        return self._quantile(np.zeros_like(spread), spread, (1 + level) / 2)[which.ravel()]

    def _quantile(self, mean: Floats, spread: Floats, share: float) -> Floats:
        """Of the mixture over juries of normal laws, for every column."""
        low, high = (mean - 10 * spread).min(axis=0), (mean + 10 * spread).max(axis=0)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            is_below = self.weight @ ndtr((middle - mean) / spread) < share
            low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
        return np.asarray(np.where(np.isnan(mean + spread).any(axis=0), np.nan, (low + high) / 2))


@lru_cache(maxsize=1)
def reference_validities() -> Validities:
    """Those of the shipped table.

    >>> bool(0.5 < np.median(reference_validities().validity) < 0.9)
    True
    """
    text = files("jurors.data").joinpath("reference_numbers.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    validity, deviation = ([float(row[name]) for row in rows] for name in ("validity", "deviation"))
    return Validities.of([row["family"] for row in rows], validity, deviation)


# Alarms about jurors who answer in numbers: impossible grades, errors that go together, and who tells nothing.
#
# An impossible answer is an alarm where sampling error cannot explain it, and a warning where it can.


_CLEAR = float(ndtri(1 - FALSE_ALARMS / 2))
_LITTLE = 0.2  # a reliability
_LARGE = 0.3  # a correlation of errors
_MOST_NAMED = 8  # jurors of a group; the alarm's fields have them all


@dataclass(frozen=True, slots=True)
class ErrorPair:
    """Two jurors whose errors go together, or avoid each other."""

    first: str
    second: str
    correlation: float  #: of their errors, scales the right way up; NaN where it is not known
    value: float  #: by how many standard errors they stood out
    is_fitted: bool  #: whether the pair is still fitted, so that the grades may be bent

    def to_dict(self) -> dict[str, Any]:
        """The pair as JSON."""
        rest = {"correlation": self.correlation, "value": self.value, "is_fitted": self.is_fitted}
        return {"jurors": [self.first, self.second], **rest}


def error_pairs(jurors: Sequence[str], together: SharedErrorTest) -> tuple[ErrorPair, ...]:
    """Every pair that `errors_together` is about, the clearest first."""
    pairs = [
        ErrorPair(jurors[i], jurors[j], together.error_correlation((i, j)), away, (i, j) not in together.factor.free)
        for (i, j), away in together.standing.items()
    ]
    return tuple(sorted(pairs, key=lambda pair: -abs(pair.value)))


def number_alarms(numbers: Numbers, together: SharedErrorTest, wild: int) -> Iterator[Alarm]:
    """Everything that these grades ring."""
    fit = together.factor
    yield from _ungraded(numbers, fit)
    yield from _impossible(numbers.jurors, together)
    yield from _pairs(numbers.jurors, together)
    if fit.outcome in ("possible", "above_variance"):
        yield from _habits(numbers.jurors, together)
    if not fit.has_settled:
        yield Alarm("not_converged", "warning", "the loadings were still moving when the search ended")
    if wild:
        message = f"{wild:,} wild values, far off their juror's scale, were left out"
        yield Alarm("wild_values", "note", message, float(wild))


def _ungraded(numbers: Numbers, fit: Factor) -> Iterator[Alarm]:
    left_out = sorted(set(range(len(numbers.jurors))) - set(fit.graded.tolist()))
    for k in left_out:
        name = numbers.jurors[k]
        if not numbers.given[:, k].any():
            yield Alarm("no_votes", "warning", f"{name} gave no number", None, (name,))
        elif not fit.moments.variance[k] > 0:
            number = float(fit.moments.mean[k])
            yield Alarm("constant_juror", "warning", f"{name} always says {number:g}", None, (name,))
        else:
            message = f"{name} shares too few items with two others to be graded"
            yield Alarm("not_identified", "warning", message, None, (name,))


def _impossible(jurors: Sequence[str], together: SharedErrorTest) -> Iterator[Alarm]:
    """No juror's loading can be imaginary, nor its square more than the variance of what it says."""
    fit = together.factor
    names = tuple(jurors[k] for k in fit.graded)
    covariance = fit.moments.covariance
    if fit.outcome == "no_covariance":
        message = f"two of {format_names(names, 3)} do not move together at all, so that the three fix no grades"
        yield Alarm("no_covariance", "warning", message, None, names)
    elif fit.outcome == "negative":
        surest = min(_sure(abs(covariance[i, j]), _covariance_error(fit, i, j)) for i, j in _three(fit))
        message = f"one pair of {format_names(names, 3)} moves apart, or all three: every squared loading is negative"
        yield Alarm("negative_loading", _level(surest), message + _by_chance(surest), surest, names)
    elif fit.outcome == "above_variance":
        error = standard_error(together.influence.noise())
        for place, k in enumerate(fit.graded):
            if fit.noise[k] < 0:
                surest = _sure(-fit.noise[k], error[place])
                message = (
                    f"{jurors[k]} would have reliability {fit.reliability[k]:.3f}, more than all that it says varies"
                )
                who = (jurors[k],)
                yield Alarm("loading_above_variance", _level(surest), message + _by_chance(surest), surest, who)


def _sure(away: float, error: float) -> float:
    """By how many standard errors something is away from 0."""
    return float(away / error) if error > 0 else float("inf")


def _level(surest: float) -> Level:
    return "alarm" if surest > _CLEAR else "warning"


def _by_chance(surest: float) -> str:
    return "" if surest > _CLEAR else "; sampling error can explain it"


def _three(fit: Factor) -> list[Pair]:
    a, b, c = (int(k) for k in fit.graded)
    return [(a, b), (a, c), (b, c)]


def _covariance_error(fit: Factor, one: int, two: int) -> float:
    weight: Floats = np.zeros_like(fit.moments.covariance)
    weight[one, two] = 1.0
    return float(standard_error(fit.moments.pulled(weight))[one])


def _pairs(jurors: Sequence[str], together: SharedErrorTest) -> Iterator[Alarm]:
    """Copies, and errors that go together or avoid each other: one alarm per group that such pairs link."""
    for _, pairs in _linked(together.copies, len(jurors)):
        yield _copied(jurors, together, pairs)
    alike = [pair for pair in together.standing if together.errs_alike(pair)]
    for group, pairs in _linked(alike, len(jurors)):
        yield _errors(jurors, together, group, pairs, "go together")
    apart = [pair for pair in together.standing if not together.errs_alike(pair)]
    for group, pairs in _linked(apart, len(jurors)):
        yield _errors(jurors, together, group, pairs, "avoid each other")


def _linked(pairs: Sequence[Pair], size: int) -> Iterator[tuple[tuple[int, ...], list[Pair]]]:
    """Each group that pairs link, and its pairs."""
    for group in connected_groups(pairs, size):
        yield group, [pair for pair in pairs if pair[0] in group]


def _copied(jurors: Sequence[str], together: SharedErrorTest, pairs: Sequence[Pair]) -> Alarm:
    names = tuple(jurors[k] for k in sorted({k for pair in pairs for k in pair}))
    who = " and ".join(names) if len(names) == 2 else format_first_names(names, _MOST_NAMED)
    told = next((bent for pair in pairs if (bent := _bent(jurors, together, pair))), "")
    message = f"{who} give the same numbers, up to unit and origin{told}"
    same = tuple(AlarmPair(jurors[i], jurors[j], float("inf")) for i, j in pairs)
    return Alarm("copied_numbers", "alarm", message, None, names, pairs=same)


def _errors(
    jurors: Sequence[str], together: SharedErrorTest, group: tuple[int, ...], pairs: Sequence[Pair], how: str
) -> Alarm:
    """What a group shares; as loud as its loudest pair."""
    names, standing = tuple(jurors[k] for k in group), together.standing
    clearest = sorted(pairs, key=lambda pair: -abs(standing[pair]))
    first = clearest[0]
    correlation = together.error_correlation(first)
    size = "" if np.isnan(correlation) else f" (correlation {correlation:.2f})"
    pair = f"{jurors[first[0]]} and {jurors[first[1]]}"
    message = f"errors of {pair} {how}"
    if len(group) > 2:
        who = format_first_names(names, _MOST_NAMED)
        message = f"errors of {len(group)} jurors {how} in {len(pairs)} pairs: {who}; most of all {pair}"
    message += size + _bent(jurors, together, first) + _still_fitted(together, pairs)
    is_large = any(not abs(together.error_correlation(each)) < _LARGE for each in pairs)
    named = tuple(AlarmPair(jurors[i], jurors[j], standing[i, j]) for i, j in clearest)
    return Alarm("errors_together", "alarm" if is_large else "warning", message, standing[first], names, pairs=named)


def _still_fitted(together: SharedErrorTest, pairs: Sequence[Pair]) -> str:
    """Whether something of it is still in the grades."""
    fitted = len(set(pairs) - set(together.factor.free))
    if not fitted:
        return ""
    if len(together.factor.graded) < MIN_JURORS_TO_TEST:
        return "; of so few jurors nobody can tell which pair it is"
    part = "all of the" if fitted == len(pairs) else f"{fitted} of the"
    which = "the pair is" if len(pairs) == 1 else f"{part} pairs are"
    return f"; {which} still fitted, so that the grades may be bent"


def _bent(jurors: Sequence[str], together: SharedErrorTest, pair: Pair) -> str:
    """What the pair would make of the two reliabilities."""
    if pair not in together.factor.free:
        return ""
    says = [f"{jurors[k]} {together.closed.reliability[k]:.2f}, not {together.factor.reliability[k]:.2f}" for k in pair]
    return f": counted as agreement on the truth, it would make reliabilities {says[0]} and {says[1]}"


def _habits(jurors: Sequence[str], together: SharedErrorTest) -> Iterator[Alarm]:
    """Who tells nothing, and whose numbers go down where the truth goes up."""
    fit = together.factor
    some_jurors, rows = fit.graded, len(fit.moments.given)
    correlation = fit.loading[some_jurors] / np.sqrt(fit.moments.variance[some_jurors])
    level = 1 - FALSE_ALARMS / len(some_jurors)
    ends = reliability_ends(correlation, standard_error(together.influence.correlation()), level, rows)
    for place, k in enumerate(some_jurors):
        low, high = map(float, ends[place])
        if low == 0 and high < _LITTLE:
            message = f"{jurors[k]}'s numbers tell nothing of the truth (reliability at most {high:.2f})"
            yield Alarm("uninformative_juror", "warning", message, high, (jurors[k],))
        elif low > 0 and correlation[place] < 0:
            message = f"{jurors[k]} gives lower numbers where the truth is higher"
            yield Alarm("reversed_scale", "alarm", message, float(correlation[place]), (jurors[k],))


# `grade_numbers`: jurors who answer in numbers, graded without a key.


_MOST_WILD = 5  # named in text; JSON has them all
_GRADES = ("reliability", "slope", "offset", "noise")
_CALIBRATED = "calibrated_reliability"
_BASIS = "as real juries go: of what jurors agree on, only a part is the truth; all else: if errors were independent"


@dataclass(frozen=True, eq=False, kw_only=True)
class NumberGrades(Drawable):
    """How each juror measures: number = offset + slope x truth + error. NaN where the numbers do not say.

    The truth is on the panel's scale: the jurors' slopes and offsets, each counted by its reliability, have the means 1
    and 0. Ends of intervals are two columns. All is as if errors were independent, but for `calibrated_reliability`.
    """

    jurors: tuple[str, ...]
    items: int
    numbers: Integers  #: how many each juror gave
    calibrated_reliability: Floats  #: the squared correlation with the truth as real juries go (`agreed_truth.py`)
    calibrated_reliability_ends: Floats
    reliability: Floats  #: the squared correlation with the truth: 0 tells nothing, 1 all; never clamped
    reliability_ends: Floats
    slope: Floats  #: by how much its number grows where the truth grows by 1
    slope_ends: Floats
    offset: Floats  #: its number where the truth is 0, noise apart
    offset_ends: Floats
    noise: Floats  #: the standard deviation of its errors, in its own units
    noise_ends: Floats
    truth_mean: float
    truth_spread: float  #: the truth's standard deviation
    level: float
    scale_why: str = ""  #: by what the votes are known to be numbers
    exact: TrioAnswer[Fraction] | None = None  #: of three jurors and exact numbers: the same without rounding
    repeats: Repeatability | None = None  #: how steady jurors are who were asked several times about an item
    wild: tuple[tuple[Any, str, float], ...] = ()  #: item, juror and number of what was left out as wild
    errors_together: tuple[ErrorPair, ...] = ()  #: every pair that an alarm of this kind is about, the clearest first
    remarks: tuple[str, ...] = ()
    alarms: tuple[Alarm, ...] = ()

    def _columns(self) -> Columns:
        columns: dict[str, Any] = {"juror": self.jurors, "numbers": self.numbers}
        for name in (_CALIBRATED, *_GRADES):
            low, high = getattr(self, f"{name}_ends").T
            columns |= {name: getattr(self, name), f"{name}_low": low, f"{name}_high": high}
        return columns | ({} if self.repeats is None else self.repeats.columns(self.jurors))

    def _document(self) -> dict[str, Any]:
        return {
            "scale": "interval",
            "scale_why": self.scale_why,
            "level": self.level,
            "items": self.items,
            "truth": {"mean": self.truth_mean, "spread": self.truth_spread},
            "jurors": super()._document(),
            "exact": self._exact(),
            **({} if self.repeats is None else {"repeats": self.repeats}),
            "wild": [dict(zip(("item", "juror", "number"), each, strict=True)) for each in self.wild],
            "errors_together": [pair.to_dict() for pair in self.errors_together],
            "remarks": self.remarks,
            "alarms": [alarm.to_dict() for alarm in self.alarms],
        }

    def _exact(self) -> dict[str, Any] | None:
        if self.exact is None:
            return None
        named = {"reliability": self.exact.reliability, "noise_variance": self.exact.noise}
        if self.exact.scale is not None:
            named |= {"slope": self.exact.scale.slope, "offset": self.exact.scale.offset}
        exact = {name: dict(zip(self.jurors, map(str, row), strict=True)) for name, row in named.items() if row}
        return {"outcome": self.exact.outcome, **exact}

    def _blocks(self) -> Iterable[Block]:
        title = f"{len(self.jurors):,} jurors, {self.items:,} items; truth {shown(self.truth_mean)}"
        title += f" ± {shown(self.truth_spread)} on the panel's scale"
        wild = [f"wild: {juror} says {number:g} of {item}" for item, juror, number in self.wild[:_MOST_WILD]]
        notes = [Notes(lines) for lines in ((*self.remarks, *wild), alarm_lines(self.alarms)) if lines]
        return [
            title,
            self.by_juror(),
            Notes((f"reliability {_BASIS}",)),
            *([] if self.repeats is None else [self.repeats.table(self.level, shown)]),
            *notes,
        ]

    def by_juror(self) -> Table:
        """A row per juror, to read."""
        sure = f"{self.level * 100:g}%"
        heads = ("juror", "numbers", "as real juries go", sure, *(head for name in _GRADES for head in (name, sure)))
        rows = [(name, f"{self.numbers[k]:,}", *self._cells(k)) for k, name in enumerate(self.jurors)]
        return Table(heads, tuple(rows), right=tuple(range(1, len(heads))))

    def _cells(self, k: int) -> list[str]:
        cells = []
        for name in (_CALIBRATED, *_GRADES):
            low, high = getattr(self, f"{name}_ends")[k]
            ends = "" if low != low else f"{shown(low)} – {shown(high)}"
            cells += [shown(getattr(self, name)[k]), ends]
        return cells


def shown(value: float) -> str:
    """A number in a table; more decimals where it is small.

    >>> [shown(x) for x in (0.123, -7.45, 1234.5, float("nan"))]
    ['0.12', '-7.45', '1,234', '–']
    """
    return "–" if value != value else f"{value:z,.2f}" if abs(value) < 100 else f"{value:z,.0f}"


@dataclass(frozen=True)
class CalibratedNumbers:
    """Numbers without the wild ones, and the factor they show."""

    numbers: Numbers
    wild: tuple[tuple[Any, str, float], ...]
    together: SharedErrorTest
    alarms: tuple[Alarm, ...]

    @property
    def factor(self) -> Factor:
        """With the pairs left open whose errors go together."""
        return self.together.factor


def grade_numbers(source: Any, *, level: float = 0.95, **reading: Unpack[SourceOptions]) -> NumberGrades:
    r"""Grade jurors who answer in numbers (ratings, scores, measurements), without a key.

    Each juror is taken to say offset + slope x truth + error, with errors that are independent of the truth and of each
    other; then covariances between jurors show the truth's share in each (docs/guides/numbers.md). Three jurors are
    solved in closed form, exactly where the numbers are exact; more by least squares.

    Parameters
    ----------
    source
        Whatever `read_votes` takes, a dataframe, or a matrix of items x jurors; options as in `read_numbers`.
    level
        How sure the intervals are.

    Examples
    --------
    >>> import io
    >>> rows = "item,ann,bob,cy\n1,1,2,10\n2,4,5,14\n3,3,4,22\n4,2,9,18\n5,6,7,27\n6,5,12,25\n"
    >>> grades = grade_numbers(io.StringIO(rows))
    >>> grades.reliability.round(2).tolist()
    [0.65, 0.41, 0.98]
    >>> print(grades.exact.reliability[1])
    375/917
    """
    sure = Confidence(level=level)
    numbers = read_numbers(source, **reading)
    with single_threaded():
        return number_grades_by(calibrate_numbers(numbers), sure.level)


def calibrate_numbers(given: Numbers) -> CalibratedNumbers:
    """The factor that numbers show, wild ones left out."""
    if len(given.jurors) < MIN_JURORS:
        raise SketchError(
            f"grading without a key needs at least {MIN_JURORS} jurors, got {len(given.jurors)}: "
            f"{', '.join(given.jurors)}",
            code="few_jurors",
            jurors=given.jurors,
            needed=MIN_JURORS,
            given=len(given.jurors),
        )
    cells = find_outliers(given.values)
    wild = tuple((given.items[i], given.jurors[j], float(given.values[i, j])) for i, j in np.argwhere(cells))
    numbers = given.without(cells) if wild else given
    together = fit_shared_errors(Covariances.of(numbers.values))
    alarms = sort_by_severity((*given.notes, *number_alarms(numbers, together, len(wild))))
    return CalibratedNumbers(numbers, wild, together, alarms)


def number_grades_by(shown_by: CalibratedNumbers, level: float) -> NumberGrades:
    """The grades of a fit, with intervals."""
    fit, numbers = shown_by.factor, shown_by.numbers
    some, size, rows = fit.graded, len(numbers.jurors), len(numbers.items)
    values = {name: np.full(size, np.nan) for name in (_CALIBRATED, *_GRADES)}
    ends = {name: np.full((size, 2), np.nan) for name in (_CALIBRATED, *_GRADES)}
    values["reliability"] = fit.reliability
    with np.errstate(invalid="ignore"):
        values["noise"] = np.sqrt(np.where(fit.noise >= 0, fit.noise, np.nan))
    if (scale := fit.scale()) is not None:
        values["slope"][some], values["offset"][some] = scale.slope, scale.offset
        moved = shown_by.together.influence
        slope, offset = moved.lines()
        correlation = fit.loading[some] / np.sqrt(fit.moments.variance[some])
        error = standard_error(moved.correlation())
        ends["reliability"][some] = reliability_ends(correlation, error, level, rows)
        values[_CALIBRATED][some], ends[_CALIBRATED][some] = reference_validities().reliability(
            correlation, error, level
        )
        ends["noise"][some] = noise_ends(fit.noise[some], standard_error(moved.noise()), level, rows)
        ends["slope"][some] = plain_ends(values["slope"][some], standard_error(slope), level, rows)
        ends["offset"][some] = plain_ends(values["offset"][some], standard_error(offset), level, rows)
    return NumberGrades(
        jurors=numbers.jurors,
        items=rows,
        numbers=numbers.given.sum(axis=0),
        **values,
        **{f"{name}_ends": both for name, both in ends.items()},
        truth_mean=float("nan") if scale is None else scale.mean,
        truth_spread=float("nan") if scale is None else float(np.sqrt(scale.variance)),
        level=level,
        scale_why=numbers.scale_why,
        exact=exact_trio(numbers),
        repeats=repeatability(numbers.jurors, numbers.again, level),
        wild=shown_by.wild,
        errors_together=error_pairs(numbers.jurors, shown_by.together),
        remarks=numbers.remarks,
        alarms=shown_by.alarms,
    )


# `value_items`: the value of every item, from the numbers of jurors graded without a key.


_CELLS = 4_000_000  # of stacked matrices at once


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemValues(Result):
    """A value for each item, on the panel's scale (see `NumberGrades`); NaN where nobody graded gave it a number."""

    items: NDArray[Any]
    value: Floats
    low: Floats  #: ends of the values' intervals as real juries go; NaN where the numbers fix no grades
    high: Floats
    independent_low: Floats  #: the same if errors were independent
    independent_high: Floats
    numbers: Integers  #: how many jurors' numbers it rests on
    level: float
    scale_why: str = ""  #: by what the votes are known to be numbers
    alarms: tuple[Alarm, ...] = ()

    _is_bare = True

    def _columns(self) -> Columns:
        names = ("value", "low", "high", "independent_low", "independent_high", "numbers")
        return {"item": self.items, **{name: getattr(self, name) for name in names}}

    def _document(self) -> dict[str, Any]:
        alarms = [alarm.to_dict() for alarm in self.alarms]
        about = {"scale": "interval", "scale_why": self.scale_why, "level": self.level}
        basis = about_values() if self._has_intervals else None
        return {**about, "basis": basis, "items": super()._document(), "alarms": alarms}

    def _blocks(self) -> Iterable[Block]:
        cells = zip(self.items.tolist(), self.value, self.low, self.high, self.numbers, strict=True)
        rows = [(str(name), *map(shown, ends), f"{n:,}") for name, *ends, n in cells]
        table = Table(("item", "value", "low", "high", "numbers"), tuple(rows), right=(1, 2, 3, 4))
        return [table, *([Notes((about_values(),))] if self._has_intervals else [])]

    @property
    def _has_intervals(self) -> bool:
        return not np.isnan(self.low).all()


def value_items(source: Any, *, level: float = 0.95, **reading: Unpack[SourceOptions]) -> ItemValues:
    r"""Value items by jurors' numbers: the best linear guess at the truth, each juror weighed by its grade.

    The truth is guessed from how it goes with each juror's number (see `grade_numbers`), drawn towards the mean item by
    as much as the numbers leave open; errors that go together are counted once.

    Parameters
    ----------
    source
        Whatever `read_votes` takes, a dataframe, or a matrix of items x jurors; options as in `read_numbers`.
    level
        How sure the intervals are.

    Examples
    --------
    >>> import io
    >>> rows = "item,ann,bob,cy\n1,1,2,10\n2,4,5,14\n3,3,4,22\n4,2,9,18\n5,6,7,27\n6,5,12,25\n"
    >>> print(value_items(io.StringIO(rows)))
      item  value    low   high  numbers
      1      5.91   0.48  11.34        3
      2      8.64   3.21  14.07        3
      3     13.08   7.65  18.51        3
      4     10.81   5.38  16.24        3
      5     16.38  10.95  21.81        3
      6     15.26   9.83  20.69        3
    <BLANKLINE>
    intervals as real juries go: they allow for errors that jurors share, ...
    """
    sure = Confidence(level=level)
    numbers = read_numbers(source, **reading)
    with single_threaded():
        return values_by(calibrate_numbers(numbers), sure.level)


def values_by(shown_by: CalibratedNumbers, level: float) -> ItemValues:
    """The items' values by a fit; means where it fixes no grades, and an alarm."""
    numbers, fit = shown_by.numbers, shown_by.factor
    scale, alarms = fit.scale(), shown_by.alarms
    if scale is None:
        value = _means(numbers.values)
        reach = independent = np.full(len(numbers.items), np.nan)
        message = "the numbers fix no grades: values are plain means of the numbers, without intervals"
        alarms = sort_by_severity((*alarms, Alarm("mean_fallback", "warning", message)))
    else:
        guess, left = best_guess(fit)
        spread = np.sqrt(scale.variance)
        value = scale.mean + spread * guess
        reach = spread * reference_validities().reach(left, level)
        independent = spread * float(ndtri((1 + level) / 2)) * left
    rests = numbers.given[:, fit.graded].sum(axis=1) if scale is not None else numbers.given.sum(axis=1)
    value = np.where(rests > 0, value, np.nan)
    return ItemValues(
        items=numbers.items,
        value=value,
        low=value - reach,
        high=value + reach,
        independent_low=value - independent,
        independent_high=value + independent,
        numbers=rests,
        level=level,
        scale_why=numbers.scale_why,
        alarms=alarms,
    )


def _means(values: Floats) -> Floats:
    given = ~np.isnan(values)
    return np.asarray(np.nansum(values, axis=1) / np.maximum(given.sum(axis=1), 1))


def best_guess(fit: Factor) -> tuple[Floats, Floats]:
    """Of each item: the truth in standard deviations from the mean, and the error's standard deviation.

    Regression of the truth on the numbers that are there, once for every pattern of gaps.
    """
    some = fit.graded
    patterns, which = np.unique(fit.moments.given[:, some] > 0, axis=0, return_inverse=True)
    which, loading = which.ravel(), fit.loading[some]
    weight = _one_by_one(fit, patterns) if fit.outcome == "above_variance" else _all_at_once(fit, patterns)
    with np.errstate(invalid="ignore"):
        left = np.sqrt(1 - (weight * loading).sum(axis=1))
    guess = (weight[which] * fit.moments.centred[:, some]).sum(axis=1)
    return guess, np.asarray(left[which])


def _all_at_once(fit: Factor, patterns: Flags) -> Floats:
    """The weights of regression on all numbers, by the covariances that the model has; open pairs as they are."""
    some = fit.graded
    loading, seen = fit.loading[some], np.nan_to_num(fit.moments.covariance[np.ix_(some, some)])
    covariance = np.outer(loading, loading)
    np.fill_diagonal(covariance, np.diag(seen))
    place = {int(k): at for at, k in enumerate(some)}
    for pair in fit.free:
        i, j = (place[k] for k in pair)
        covariance[i, j] = covariance[j, i] = seen[i, j]
    weight = np.zeros(patterns.shape)
    step = max(1, _CELLS // len(some) ** 2)
    for start in range(0, len(patterns), step):
        part = patterns[start : start + step]
        stacked = np.where(part[:, :, None] & part[:, None, :], covariance, np.eye(len(some)))
        weight[start : start + step] = np.einsum("pij,pj->pi", np.linalg.pinv(stacked), part * loading)
    return weight


def _one_by_one(fit: Factor, patterns: Flags) -> Floats:
    """The weights where errors of negative variance make no sense of the model: each number as if it were alone."""
    some = fit.graded
    loading, seen = fit.loading[some], np.nan_to_num(fit.moments.covariance[np.ix_(some, some)])
    weight = patterns * (loading / np.diag(seen))
    spread = np.einsum("pi,ij,pj->p", weight, seen, weight)
    known = (weight * loading).sum(axis=1)
    return np.asarray(weight * np.divide(known, spread, where=spread > 0, out=np.zeros_like(known))[:, None])
