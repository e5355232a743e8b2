"""Grading jurors who answer in numbers, without a key: numbers come in; grades, alarms and items' values go out.

`calibrate_numbers` leaves outliers out and fits the one-factor model (`factor`). From the fit, `grade_numbers` computes
reliabilities, slopes, offsets and error sizes, and `value_items` the items' values.

**Calibration.** Numbers show only what jurors agree on: an error that all jurors share looks like the truth. A juror's
correlation with the truth is therefore a fraction of its correlation with the common factor,

    correlation with the truth = validity x correlation with the common factor + a deviation of the juror's own,

with one validity for the whole jury. It cannot be estimated from the numbers. Juries with known keys show how large it
usually is (`benchmarks/reference_numbers.py` measures it, and the coverage of the intervals). Intervals are quantiles
of the mixture, over these reference juries, of the normal distributions that each implies. Reliabilities and the
intervals of items' values are calibrated in this way; `independent` has what the model says if errors are independent.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import combinations
from statistics import NormalDist
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Flags, Floats, Integers, single_threaded, special
from jurors.errors import SketchError, format_first_names, format_names, short_names
from jurors.evaluate import card
from jurors.evaluate.alarms import Alarm, AlarmPair, sort_by_severity
from jurors.evaluate.card import CardColumn, CardOptions, RankedJurors
from jurors.numeric import data, factor
from jurors.numeric.data import Numbers, shown, shown_range
from jurors.numeric.factor import FALSE_ALARMS, Factor, Pair
from jurors.options import Grading, SourceOptions
from jurors.results import Block, Columns, Drawable, Notes, Result, Table, count_noun, row_documents, shorten
from jurors.sketch.connectivity import MIN_JURORS, connected_groups

# ---------------------------------------------------------------------------------------------------------------------
# Validity: how much of what jurors agree on is the truth
# ---------------------------------------------------------------------------------------------------------------------

#: How many sets have a key in the jurors' own units, and the least and the most of their true values that lie inside
#: the 95% intervals of items' values (`benchmarks/reference_numbers.py`).
VALUES_HELD = (4, 0.850, 0.956)
_BISECTIONS = 50  # of an interval that holds a quantile


#: What the intervals of items' values allow for, and their measured coverage.
ABOUT_VALUES = (
    "Intervals are calibrated: they allow for errors that jurors share, but not for a panel that is too lenient or too "
    "harsh as a whole. On {} real data sets, 95% intervals contained {:.0%} to {:.0%} of the true values."
).format(*VALUES_HELD)


@dataclass(frozen=True)
class Validities:
    """The validities of reference juries, as a prior for the next jury's."""

    validity: Floats  #: per jury
    weight: Floats  #: per jury: each family of juries has the same total
    deviation: float  #: standard deviation of a juror's own

    @classmethod
    def of(cls, families: list[str], validity: list[float], deviation: list[float]) -> Validities:
        """From one row per jury: its family, its validity, and the variance of its jurors' own deviations."""
        sizes = {family: families.count(family) for family in families}
        weight = np.array([1 / (sizes[family] * len(sizes)) for family in families])
        return cls(np.array(validity), weight, float(np.sqrt(max(weight @ np.array(deviation), 0.0))))

    def reliability(self, correlation: Floats, error: Floats, level: float) -> tuple[Floats, Floats]:
        """Squared correlations with the truth from those with the common factor, and intervals.

        Returns
        -------
        tuple
            The medians, one per juror, and the intervals, jurors x 2. The lower end is 0 where the sign is uncertain.
        """
        mean = self.validity[:, None] * correlation
        spread = np.hypot(self.validity[:, None] * error, self.deviation)
        low, middle, high = (self._quantile(mean, spread, share) for share in ((1 - level) / 2, 0.5, (1 + level) / 2))
        most = np.maximum(np.abs(middle), 1.0)[:, None]  # a correlation is at most 1, unless the estimate is beyond
        return middle**2, factor.squared_ends(np.clip(np.column_stack([low, high]), -most, most))

    def reach(self, error: Floats, level: float) -> Floats:
        """Half widths of the intervals around items' values, in standard deviations of the common factor.

        `error` is the standard error of each value as an estimate of the common factor; one half width per item.
        """
        distinct, which = np.unique(error, return_inverse=True)
        spread = np.sqrt(1 - self.validity[:, None] ** 2 + distinct**2)
        return self._quantile(np.zeros_like(spread), spread, (1 + level) / 2)[which.ravel()]

    def _quantile(self, mean: Floats, spread: Floats, share: float) -> Floats:
        """The quantile of the mixture over juries (rows) of normal distributions, for every column."""
        low, high = (mean - 10 * spread).min(axis=0), (mean + 10 * spread).max(axis=0)
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            is_below = self.weight @ special.ndtr((middle - mean) / spread) < share
            low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
        return np.asarray(np.where(np.isnan(mean + spread).any(axis=0), np.nan, (low + high) / 2))


@lru_cache(maxsize=1)
def reference_validities() -> Validities:
    """The validities in the shipped table.

    >>> bool(0.5 < np.median(reference_validities().validity) < 0.9)
    True
    """
    text = (files("jurors") / "data" / "reference_numbers.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    validity, deviation = ([float(row[name]) for row in rows] for name in ("validity", "deviation"))
    return Validities.of([row["family"] for row in rows], validity, deviation)


# ---------------------------------------------------------------------------------------------------------------------
# Alarms: impossible estimates, correlated errors, and jurors whose numbers carry no information or are reversed
#
# An impossible estimate is an alarm where sampling error cannot explain it, and a warning where it can.
# ---------------------------------------------------------------------------------------------------------------------

_SIGNIFICANT = NormalDist().inv_cdf(1 - FALSE_ALARMS / 2)
_LITTLE = 0.2  # a reliability
_LARGE = 0.3  # a correlation of errors
_MOST_LISTED = 50  # items in text that is not full
_MOST_NAMED = 8  # jurors of a group; the alarm's fields have them all


@dataclass(frozen=True, slots=True)
class ErrorPair:
    """Two jurors whose errors are correlated."""

    jurors: tuple[str, str]
    correlation: float  #: of their errors, each scale turned upright; NaN where it is unknown
    z_score: float  #: of the covariance that the truth does not explain
    is_fitted: bool  #: whether the model still ignores the correlation, which may bias the grades


def number_alarms(numbers: Numbers, shared: factor.SharedErrorTest, outliers: int) -> Iterator[Alarm]:
    """All alarms about these grades, in no particular order.

    Parameters
    ----------
    numbers
        Without the outliers.
    shared
        The fit.
    outliers
        How many were left out.
    """
    fit, jurors, apart = shared.factor, numbers.jurors, list[str]()
    for k in sorted(set(range(len(jurors))) - set(fit.graded.tolist())):
        name = jurors[k]
        if not numbers.given[:, k].any():
            yield Alarm("no_votes", "warning", f"{name} gave no number", None, (name,))
        elif not fit.moments.variance[k] > 0:
            number = float(fit.moments.mean[k])
            yield Alarm("constant_juror", "warning", f"{name} always answers {number:g}", None, (name,))
        else:
            apart.append(name)
    if apart:
        who = f"{apart[0]} shares" if len(apart) == 1 else f"{format_first_names(apart, _MOST_NAMED)} share"
        message = f"{who} too few items with two other jurors to be graded"
        yield Alarm("not_identified", "warning", message, None, tuple(apart))
    yield from _impossible(jurors, shared)

    for _, pairs in _linked(shared.copies, len(jurors)):
        names = tuple(jurors[k] for k in sorted({k for pair in pairs for k in pair}))
        who = " and ".join(names) if len(names) == 2 else format_first_names(names, _MOST_NAMED)
        message = f"{who} give the same numbers, apart from unit and origin"
        message += "; the model allows for it" if set(pairs) & set(fit.free) else ""
        same = tuple(AlarmPair(jurors[i], jurors[j], float("inf")) for i, j in pairs)
        yield Alarm("copied_numbers", "alarm", message, None, names, pairs=same)
    for sign in ("positively", "negatively"):
        alike = [pair for pair in shared.z_scores if (shared.error_covariance(pair) >= 0) == (sign == "positively")]
        yield from (_error_alarm(jurors, shared, group, pairs, sign) for group, pairs in _linked(alike, len(jurors)))

    if fit.outcome in ("possible", "above_variance"):
        # jurors whose numbers carry no information, and those whose numbers go down where the truth goes up
        correlation, error = fit.correlation, factor.standard_error(shared.influence.correlation())
        level = 1 - FALSE_ALARMS / len(fit.graded)
        ends = factor.reliability_ends(correlation, error, level, len(fit.moments.given))
        for place, k in enumerate(fit.graded):
            low, high = map(float, ends[place])
            if low == 0 and high < _LITTLE:
                message = f"{jurors[k]} is no better than chance"
                yield Alarm("uninformative_juror", "warning", message, high, (jurors[k],))
            elif low > 0 and correlation[place] < 0:
                message = f"{jurors[k]} gives lower numbers to items whose true value is higher"
                yield Alarm("reversed_scale", "alarm", message, float(correlation[place]), (jurors[k],))
    if not fit.has_converged:
        yield Alarm("not_converged", "warning", "the fit did not converge")
    if outliers:
        are = "outlier is" if outliers == 1 else "outliers are"
        message = f"{outliers:,} {are} left out: numbers far from the juror's own scale"
        yield Alarm("outlier_values", "note", message, float(outliers))


def _impossible(jurors: Sequence[str], shared: factor.SharedErrorTest) -> Iterator[Alarm]:
    """No juror's loading can be imaginary, nor its square more than the variance of its numbers."""
    fit = shared.factor
    names = tuple(jurors[k] for k in fit.graded)

    def alarm(z: float, kind: str, message: str, about: tuple[str, ...]) -> Alarm:
        if z > _SIGNIFICANT:
            return Alarm(kind, "alarm", message, z, about)
        return Alarm(kind, "warning", f"{message}, which sampling error can explain", z, about)

    if fit.outcome == "no_covariance":
        message = f"two of {format_names(names, 3)} are not correlated at all, so the three cannot be graded"
        yield Alarm("no_covariance", "warning", message, None, names)
    elif fit.outcome == "negative":
        z_scores = []
        for i, j in combinations(fit.graded.tolist(), 2):
            weight = np.zeros_like(fit.moments.covariance)
            weight[i, j] = 1.0
            error = factor.standard_error(fit.moments.row_sum_influence(weight))[i]
            z_scores.append(_z_score(abs(fit.moments.covariance[i, j]), error))
        message = f"the correlations of {format_names(names, 3)} contradict each other: some reliabilities are negative"
        yield alarm(min(z_scores), "negative_loading", message, names)
    elif fit.outcome == "above_variance":
        errors = factor.standard_error(shared.influence.error_variance())
        for k, error in zip(fit.graded, errors, strict=True):
            if fit.error_variance[k] < 0:
                message = (
                    f"if errors are independent, the reliability of {jurors[k]} is {fit.reliability[k]:.3f}, above 1"
                )
                z = _z_score(-fit.error_variance[k], error)
                yield alarm(z, "loading_above_variance", message, (jurors[k],))


def _z_score(estimate: float, error: float) -> float:
    return float(estimate / error) if error > 0 else float("inf")


def _linked(pairs: Sequence[Pair], size: int) -> Iterator[tuple[tuple[int, ...], list[Pair]]]:
    """Each group of jurors that pairs link, and its pairs."""
    for group in connected_groups(pairs, size):
        yield group, [pair for pair in pairs if pair[0] in group]


def _error_alarm(
    jurors: Sequence[str], shared: factor.SharedErrorTest, group: tuple[int, ...], pairs: Sequence[Pair], sign: str
) -> Alarm:
    """One alarm for a group that correlated errors link; as severe as its most severe pair."""
    names, z_scores = tuple(jurors[k] for k in group), shared.z_scores
    by_significance = sorted(pairs, key=lambda pair: -abs(z_scores[pair]))
    first = by_significance[0]
    pair = f"{jurors[first[0]]} and {jurors[first[1]]}"
    message = f"errors of {pair} are {sign} correlated"
    if len(group) > 2:
        who = format_first_names(names, _MOST_NAMED)
        message = f"errors of {len(group)} jurors ({who}) are {sign} correlated in {len(pairs)} pairs, most for {pair}"
    correlation = shared.error_correlation(first)
    message += "" if np.isnan(correlation) else f" ({correlation:.2f})"
    message += "; the model allows for it" if first in shared.factor.free else ""
    fitted = len(set(pairs) - set(shared.factor.free))
    if fitted and len(shared.factor.graded) < factor.MIN_JURORS_TO_TEST:
        message += f"; with fewer than {factor.MIN_JURORS_TO_TEST} jurors, it may be another pair"
    elif fitted:
        which = "it" if len(pairs) == 1 else "all of it" if fitted == len(pairs) else f"{fitted} of the pairs"
        message += f"; the model ignores {which}, which may bias the grades"
    is_large = any(not abs(shared.error_correlation(each)) < _LARGE for each in pairs)
    named = tuple(AlarmPair(jurors[i], jurors[j], z_scores[i, j]) for i, j in by_significance)
    return Alarm("correlated_errors", "alarm" if is_large else "warning", message, z_scores[first], names, pairs=named)


# ---------------------------------------------------------------------------------------------------------------------
# Grades of the jurors
# ---------------------------------------------------------------------------------------------------------------------

_LINE = ("slope", "offset", "noise")
_GRADES = ("reliability", *_LINE)
_MOST_ON_CARD = 20  # pairs and outliers of a full card; JSON has them all
_SCALE = (
    "RMSE and bias hold if jurors err independently, relative to the panel: votes cannot show a bias that all share."
)
ABOUT_LINES = (
    "A juror's number is modelled as offset + slope × truth + error; noise is the standard deviation of the error. "
    "Slope, offset, noise, RMSE and bias assume independent errors."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class IndependentReliability:
    """What the model says if errors are independent: an entry per juror, NaN where the numbers do not determine it."""

    reliability: Floats  #: the squared correlation with the truth; never clamped
    reliability_ends: Floats

    def document(self, jurors: Sequence[str], level: float) -> dict[str, Any]:
        """By juror, as JSON has it."""
        values, ends = (dict(zip(jurors, x.tolist(), strict=True)) for x in (self.reliability, self.reliability_ends))
        return {"reliability": values, "interval": {"level": level, "reliability": ends}}


@dataclass(frozen=True, eq=False, kw_only=True)
class NumberGrades(RankedJurors, Drawable):
    """How each juror measures: number = offset + slope x truth + error. NaN where the numbers do not determine it.

    The truth is on the panel's scale: the jurors' slopes and offsets, weighted by reliability, have the means 1 and 0.
    Ends of intervals are two columns. `reliability` is calibrated. Slope, offset, noise, RMSE and bias assume
    independent errors.
    """

    jurors: tuple[str, ...]
    items: int
    numbers: Integers  #: how many each juror gave
    reliability: Floats  #: the squared correlation with the truth, calibrated (see the module)
    reliability_ends: Floats
    rmse: Floats  #: the root mean squared error on the panel's scale
    bias: Floats  #: the mean error on the panel's scale
    slope: Floats  #: the change of its number when the truth grows by 1
    slope_ends: Floats
    offset: Floats  #: its expected number when the truth is 0
    offset_ends: Floats
    noise: Floats  #: the standard deviation of its errors, in its own units
    noise_ends: Floats
    independent: IndependentReliability  #: what the model says if errors are independent
    truth_mean: float
    truth_spread: float  #: the truth's standard deviation
    level: float
    scale_why: str = ""  #: why the votes are read as numbers
    outliers: tuple[tuple[Any, str, float], ...] = ()  #: item, juror and number of each outlier that was left out
    dependence: tuple[ErrorPair, ...] = ()  #: the pairs with correlated errors, the most significant first
    remarks: tuple[str, ...] = ()
    alarms: tuple[Alarm, ...] = ()

    _kind, scale = "grade", "interval"
    _ranked_by, _votes_in = "reliability", "numbers"
    _unranked = ("uninformative_juror", "reversed_scale", "loading_above_variance")

    def _grade_columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"juror": self.jurors, "numbers": self.numbers}
        columns |= data.interval_columns(self, "reliability") | {"rmse": self.rmse, "bias": self.bias}
        for name in _LINE:
            columns |= data.interval_columns(self, name)
        return columns

    def _columns(self) -> Columns:
        independent = data.interval_columns(self.independent, "reliability", "independent_reliability")
        return self._grade_columns() | independent

    def _document(self) -> dict[str, Any]:
        return {
            **about_numbers(self),
            **self._attributes("best", "leaders"),
            "jurors": row_documents(self._grade_columns()),
            "if_errors_independent": ("rmse", "bias", *_LINE),
            "independent": self.independent.document(self.jurors, self.level),
            "outliers": [dict(zip(("item", "juror", "number"), each, strict=True)) for each in self.outliers],
            **self._attributes("dependence", "remarks", "alarms"),
        }

    def _blocks(self, **show: Any) -> Iterable[Block]:
        options = CardOptions(**show)
        ranked, order = self._ranked(), self._ordered(options)
        answer = ["No juror can be ranked."]
        if ranked:
            described = {
                name: f"{shorten(short)} {shown(self.reliability[k])} ({shown_range(self.reliability_ends[k])})"
                for k, (name, short) in enumerate(short_names(self.jurors).items())
            }
            leaders = card.name_leaders(self.leaders, len(ranked), described.__getitem__)
            truth = f"True values: {shown(self.truth_mean)} ± {shown(self.truth_spread)} on the panel's scale."
            answer = [leaders, "Reliability is the squared correlation with the truth, calibrated.", _SCALE, truth]
        title = f"{count_noun(len(self.jurors), 'juror')}, {count_noun(self.items, 'item')}, numbers"
        shown_jurors = card.select_rows(order, options, ranked)
        table, left = self._juror_table(shown_jurors), len(self.jurors) - len(shown_jurors)
        return card.result_card(title, self, answer, table, left, self._full_blocks(order), options)

    def _full_blocks(self, order: Sequence[int]) -> Iterator[Block]:
        """Every interval, the independent-errors model, correlated pairs and outliers."""
        yield interval_table(
            "number by true value, if jurors err independently", self.jurors, self, _LINE, self.level, order
        )
        model = self.independent
        yield interval_table("if errors were independent", self.jurors, model, ("reliability",), self.level, order)
        if self.dependence:
            pairs = tuple(
                (
                    *pair.jurors,
                    shown(pair.correlation),
                    f"{pair.z_score:.1f}",
                    ("allowed for", "ignored")[pair.is_fitted],
                )
                for pair in self.dependence[:_MOST_ON_CARD]
            )
            heads = ("first", "second", "correlation", "z score", "in the model")
            yield Table(heads, pairs, title="pairs with correlated errors", right=(2, 3))
        outliers = self.outliers[:_MOST_ON_CARD]
        yield Notes([f"{juror} answers {number:g} on {item}: left out" for item, juror, number in outliers])
        yield card.wrapped(ABOUT_LINES)

    def by_juror(self) -> Table:
        """A row per juror, with the columns that every card has."""
        return self._juror_table(range(len(self.jurors)), width=0)

    def _juror_table(self, jurors: Sequence[int], width: int = card.WIDTH) -> Table:
        """RMSE and bias, then reliability with its interval, and what else fits."""

        def column(name: str, head: str = "", *, is_optional: bool = False) -> CardColumn:
            return CardColumn(head or name, [shown(getattr(self, name)[k]) for k in jurors], is_optional)

        ends = [shown_range(self.reliability_ends[k]) or "–" for k in jurors]
        return card.fitted_table(
            [
                CardColumn("juror", [short_names(self.jurors)[self.jurors[k]] for k in jurors]),
                *(column("rmse", "RMSE"), column("bias"), column("reliability")),
                CardColumn(f"{self.level * 100:g}%", ends),
                *(column(name, is_optional=True) for name in _LINE),
                CardColumn("numbers", [f"{self.numbers[k]:,}" for k in jurors]),
            ],
            width,
        )


def about_numbers(result: Any) -> dict[str, Any]:
    """What the documents of grades and of scores begin with."""
    return {
        "scale": "interval",
        **result._attributes("scale_why", "level", "items"),
        "truth": {"mean": result.truth_mean, "spread": result.truth_spread},
    }


def interval_table(
    title: str, jurors: Sequence[str], estimates: Any, names: Sequence[str], level: float, order: Sequence[int]
) -> Table:
    """A row per juror: some estimates, each with its interval."""
    headings = ("juror", *(head for name in names for head in (name.replace("rmse", "RMSE"), f"{level * 100:g}%")))
    rows = tuple(
        (jurors[k], *(cell for name in names for cell in data.with_interval(estimates, name, k))) for k in order
    )
    return Table(headings, rows, title=title, right=tuple(range(1, len(headings))))


@dataclass(frozen=True)
class CalibratedNumbers:
    """Numbers without the outliers, and the factor fitted to them."""

    numbers: Numbers
    outliers: tuple[tuple[Any, str, float], ...]
    shared_errors: factor.SharedErrorTest
    alarms: tuple[Alarm, ...]


def grade_numbers(source: Any, *, level: float = 0.95, **reading: Unpack[SourceOptions]) -> NumberGrades:
    r"""Grade jurors who answer in numbers (ratings, scores, measurements), without a key.

    The model is number = offset + slope x truth + error for each juror. If errors are independent of the truth and of
    each other, the covariances between jurors determine the share of the truth in each (docs/guides/numbers.md). Three
    jurors have a closed-form solution; more are fitted by least squares.
    Reliabilities are then calibrated on reference juries, because real errors are not independent.

    Parameters
    ----------
    source
        Whatever `read_votes` takes, a dataframe, or a matrix of items x jurors; options as in `read_numbers`.
    level
        Confidence level of the intervals.

    Returns
    -------
    NumberGrades
        An entry per juror; reliabilities are shares, slopes unitless, offsets and noise in the juror's units.

    Raises
    ------
    VotesError
        The source cannot be read as numbers.
    SketchError
        There are fewer than three jurors, or (as DegenerateSketchError) fewer than three who share enough items.

    Examples
    --------
    >>> import io
    >>> rows = "item,ann,bob,cy\n1,1,2,10\n2,4,5,14\n3,3,4,22\n4,2,9,18\n5,6,7,27\n6,5,12,25\n"
    >>> grades = grade_numbers(io.StringIO(rows))
    >>> grades.reliability.round(2).tolist(), grades.independent.reliability.round(2).tolist()
    ([0.3, 0.18, 0.46], [0.65, 0.41, 0.98])
    """
    confidence = Grading(level=level)
    numbers = data.read_numbers(source, **reading)
    with single_threaded():
        return number_grades_by(calibrate_numbers(numbers), confidence.level)


def calibrate_numbers(given: Numbers) -> CalibratedNumbers:
    """Leave outliers out and fit the factor.

    Returns
    -------
    CalibratedNumbers
        What `number_grades_by` and `values_by` start from, with all alarms.

    Raises
    ------
    SketchError
        There are fewer than three jurors, or fewer than three who share enough items.
    """
    if len(given.jurors) < MIN_JURORS:
        raise SketchError(
            f"grading without a key needs at least {MIN_JURORS} jurors, got {len(given.jurors)}: "
            f"{', '.join(given.jurors)}",
            code="few_jurors",
            jurors=given.jurors,
            needed=MIN_JURORS,
            given=len(given.jurors),
        )
    cells = data.find_outliers(given.values)
    outliers = tuple((given.items[i], given.jurors[j], float(given.values[i, j])) for i, j in np.argwhere(cells))
    numbers = given.without(cells) if outliers else given
    shared = factor.fit_shared_errors(factor.Covariances.of(numbers.values))
    alarms = sort_by_severity((*given.notes, *number_alarms(numbers, shared, len(outliers))))
    return CalibratedNumbers(numbers, outliers, shared, alarms)


def number_grades_by(calibrated: CalibratedNumbers, level: float) -> NumberGrades:
    """The grades of a fit, with intervals: a `NumberGrades`."""
    numbers, shared = calibrated.numbers, calibrated.shared_errors
    fit = shared.factor
    graded, size, items = fit.graded, len(numbers.jurors), len(numbers.items)
    values = {name: np.full(size, np.nan) for name in (*_GRADES, "rmse", "bias")}
    ends = {name: np.full((size, 2), np.nan) for name in _GRADES}
    independent_ends = np.full((size, 2), np.nan)
    with np.errstate(invalid="ignore"):
        values["noise"] = np.sqrt(np.where(fit.error_variance >= 0, fit.error_variance, np.nan))
    if (scale := fit.scale()) is not None:
        values["slope"][graded], values["offset"][graded] = scale.slope, scale.offset
        influence = shared.influence
        error = factor.standard_error(influence.correlation())
        independent_ends[graded] = factor.reliability_ends(fit.correlation, error, level, items)
        values["reliability"][graded], ends["reliability"][graded] = reference_validities().reliability(
            fit.correlation, error, level
        )
        variance_error = factor.standard_error(influence.error_variance())
        ends["noise"][graded] = factor.noise_ends(fit.error_variance[graded], variance_error, level, items)
        for name, on_line in zip(("slope", "offset"), influence.lines(), strict=True):
            ends[name][graded] = factor.plain_ends(values[name][graded], factor.standard_error(on_line), level, items)
        values["bias"] = values["offset"] + (values["slope"] - 1) * scale.mean
        squares = values["bias"] ** 2 + (values["slope"] - 1) ** 2 * scale.variance + values["noise"] ** 2
        values["rmse"] = np.sqrt(squares)
    pairs = (
        ErrorPair((numbers.jurors[i], numbers.jurors[j]), shared.error_correlation((i, j)), z, (i, j) not in fit.free)
        for (i, j), z in shared.z_scores.items()
    )
    return NumberGrades(
        jurors=numbers.jurors,
        items=items,
        numbers=numbers.given.sum(axis=0),
        **values,
        **{f"{name}_ends": both for name, both in ends.items()},
        independent=IndependentReliability(reliability=fit.reliability, reliability_ends=independent_ends),
        truth_mean=float("nan") if scale is None else scale.mean,
        truth_spread=float("nan") if scale is None else float(np.sqrt(scale.variance)),
        level=level,
        scale_why=numbers.scale_why,
        outliers=calibrated.outliers,
        dependence=tuple(sorted(pairs, key=lambda pair: -abs(pair.z_score))),
        remarks=numbers.remarks,
        alarms=calibrated.alarms,
    )


# ---------------------------------------------------------------------------------------------------------------------
# Values of the items
# ---------------------------------------------------------------------------------------------------------------------

_CELLS = 4_000_000  # of stacked matrices at once


@dataclass(frozen=True, eq=False)
class IndependentEnds:
    """Ends of the intervals of items' values if errors are independent."""

    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemValues(Result):
    """A value for each item, on the panel's scale (see `NumberGrades`); NaN where no graded juror gave it a number."""

    items: NDArray[Any]
    value: Floats
    low: Floats  #: ends of the calibrated intervals; NaN where the numbers do not determine grades
    high: Floats
    independent: IndependentEnds
    numbers: Integers  #: how many jurors' numbers it is based on
    level: float
    scale_why: str = ""  #: why the votes are read as numbers
    alarms: tuple[Alarm, ...] = ()
    parts: Mapping[str, NDArray[Any]] | None = None  #: column -> its part of each item's name, if several name it

    _is_bare, _kind = True, "label"

    def _columns(self) -> Columns:
        model = {"independent_low": self.independent.low, "independent_high": self.independent.high}
        ends = {"value": self.value, "low": self.low, "high": self.high}
        return {"item": self.items, **(self.parts or {}), **ends, **model, "numbers": self.numbers}

    def _document(self) -> dict[str, Any]:
        about = {"scale": "interval", **self._attributes("scale_why", "level")}
        about["basis"] = ABOUT_VALUES if self._has_intervals else None
        return {**about, "items": super()._document(), "alarms": self.alarms}

    def _blocks(self, *, full: bool = True) -> Iterable[Block]:
        most = None if full else _MOST_LISTED
        columns = self.items[:most].tolist(), *(ends[:most] for ends in (self.value, self.low, self.high, self.numbers))
        rows = [(str(name), *map(shown, ends), f"{n:,}") for name, *ends, n in zip(*columns, strict=True)]
        heads = ("item", "value", "low", "high", "numbers")
        table = Table(heads, tuple(rows), right=(1, 2, 3, 4), width=None if full else card.WIDTH)
        left = len(self.items) - len(rows)
        more = f"{left:,} more items: -o labels.csv writes all, full=True prints all."
        return [table, *([more] if left else []), *([card.wrapped(ABOUT_VALUES)] if self._has_intervals else [])]

    @property
    def _has_intervals(self) -> bool:
        return not np.isnan(self.low).all()


def value_items(source: Any, *, level: float = 0.95, **reading: Unpack[SourceOptions]) -> ItemValues:
    r"""Estimate items' true values from jurors' numbers: the best linear prediction, each juror weighted by its grade.

    Values are shrunk towards the mean, the more the less the numbers determine them (see `grade_numbers`). Correlated
    errors count once.

    Parameters
    ----------
    source
        Whatever `read_votes` takes, a dataframe, or a matrix of items x jurors; options as in `read_numbers`.
    level
        Confidence level of the intervals.

    Returns
    -------
    ItemValues
        An entry per item, on the panel's scale.

    Raises
    ------
    VotesError
        The source cannot be read as numbers.
    SketchError
        There are fewer than three jurors, or (as DegenerateSketchError) fewer than three who share enough items.

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
    Intervals are calibrated: they allow for errors that jurors share, ...
    """
    confidence = Grading(level=level)
    numbers = data.read_numbers(source, **reading)
    with single_threaded():
        return values_by(calibrate_numbers(numbers), confidence.level)


def values_by(calibrated: CalibratedNumbers, level: float) -> ItemValues:
    """The items' values by a fit, an `ItemValues`; plain means and a warning where there are no grades."""
    numbers, fit = calibrated.numbers, calibrated.shared_errors.factor
    scale, alarms = fit.scale(), calibrated.alarms
    if scale is None:
        count = numbers.given.sum(axis=1)
        value = np.nansum(numbers.values, axis=1) / np.maximum(count, 1)
        reach = independent = np.full(len(numbers.items), np.nan)
        message = "the numbers do not determine grades, so values are plain means without intervals"
        alarms = sort_by_severity((*alarms, Alarm("mean_fallback", "warning", message)))
    else:
        count = numbers.given[:, fit.graded].sum(axis=1)
        guess, error = best_guess(fit)
        spread = np.sqrt(scale.variance)
        value = scale.mean + spread * guess
        reach = spread * reference_validities().reach(error, level)
        independent = spread * NormalDist().inv_cdf((1 + level) / 2) * error
    value = np.where(count > 0, value, np.nan)
    return ItemValues(
        items=numbers.items,
        value=value,
        low=value - reach,
        high=value + reach,
        independent=IndependentEnds(value - independent, value + independent),
        numbers=count,
        level=level,
        scale_why=numbers.scale_why,
        alarms=alarms,
    )


def best_guess(fit: Factor) -> tuple[Floats, Floats]:
    """The best linear prediction of the truth from the numbers of each item, once for every pattern of gaps.

    Regression on all numbers by the model's covariances (free pairs as observed). Where error variances are negative
    these make no sense: then each number is weighted as if it were alone, and the sum scaled by its own regression.

    Returns
    -------
    tuple
        Per item: the truth in standard deviations from its mean, and the standard error of that.
    """
    graded = fit.graded
    patterns, which = np.unique(fit.moments.given[:, graded] > 0, axis=0, return_inverse=True)
    loading, observed = fit.loading[graded], np.nan_to_num(fit.moments.covariance[np.ix_(graded, graded)])
    if fit.outcome == "above_variance":
        weight = patterns * (loading / np.diag(observed))
        variance = np.einsum("pi,ij,pj->p", weight, observed, weight)
        explained = (weight * loading).sum(axis=1)
        weight *= np.divide(explained, variance, where=variance > 0, out=np.zeros_like(explained))[:, None]
    else:
        covariance = np.outer(loading, loading)
        np.fill_diagonal(covariance, np.diag(observed))
        for pair in fit.free:
            i, j = np.searchsorted(graded, pair)
            covariance[i, j] = covariance[j, i] = observed[i, j]
        weight = np.zeros(patterns.shape)
        step = max(1, _CELLS // len(graded) ** 2)
        for start in range(0, len(patterns), step):
            part: Flags = patterns[start : start + step]
            stacked = np.where(part[:, :, None] & part[:, None, :], covariance, np.eye(len(graded)))
            weight[start : start + step] = np.einsum("pij,pj->pi", np.linalg.pinv(stacked), part * loading)
    with np.errstate(invalid="ignore"):
        error = np.sqrt(1 - (weight * loading).sum(axis=1))
    guess = (weight[which.ravel()] * fit.moments.centred[:, graded]).sum(axis=1)
    return guess, np.asarray(error[which.ravel()])
