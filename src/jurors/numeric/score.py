"""Scoring jurors' numbers against a key: numbers and true values come in; errors of jurors go out.

Each column of numbers is regressed on the truth, number = offset + slope x truth + error, by least squares. Intervals
use the jackknife, which assumes no distribution of the errors: for correlations on the scale of Fisher's z, for
positive quantities on a log scale, where they are nearly symmetric.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from jurors._numeric import Floats, Integers, jackknife_ends, single_threaded
from jurors.errors import SketchError, VotesError, short_names
from jurors.evaluate import card
from jurors.evaluate.alarms import Alarm, sort_by_severity
from jurors.evaluate.card import CardColumn, CardOptions
from jurors.numeric import data, grade
from jurors.numeric.data import Numbers, shown, shown_range
from jurors.numeric.factor import FALSE_ALARMS, squared_ends
from jurors.numeric.grade import NumberGrades
from jurors.options import Grading, SourceOptions
from jurors.results import Block, Columns, Drawable, Table, count_noun, row_documents, shorten
from jurors.votes.codes import midpoint, numerals
from jurors.votes.key import as_key
from jurors.votes.table import Votes

# ---------------------------------------------------------------------------------------------------------------------
# Columns of numbers against the truth
# ---------------------------------------------------------------------------------------------------------------------

_MEASURES = ("correlation", "reliability", "rmse", "bias", "slope", "offset", "noise")
_SCALES = {"correlation": (np.arctanh, np.tanh), "rmse": (np.log, np.exp), "noise": (np.log, np.exp)}
_ROUNDING = 1e-12  # of a sum of squares, left by rounding


@dataclass(frozen=True, eq=False, kw_only=True)
class AgainstTruth:
    """Estimates by the key for each column; ends of intervals are two columns. NaN where there is no estimate."""

    numbers: Integers  #: how many have a true value
    correlation: Floats
    correlation_ends: Floats
    reliability: Floats  #: the squared correlation
    reliability_ends: Floats
    rmse: Floats  #: the root of the mean squared error
    rmse_ends: Floats
    bias: Floats  #: the mean error
    bias_ends: Floats
    slope: Floats  #: the change of the number when the truth grows by 1
    slope_ends: Floats
    offset: Floats  #: the expected number when the truth is 0
    offset_ends: Floats
    noise: Floats  #: the residual standard deviation, by degrees of freedom
    noise_ends: Floats


def against_truth(values: Floats, truth: Floats, level: float) -> AgainstTruth:
    """Compare each column with the truth, over the items that have both.

    Parameters
    ----------
    values
        Items x columns, NaN in gaps.
    truth
        Per item, NaN where unknown.
    level
        Confidence level of the intervals.

    Returns
    -------
    AgainstTruth
        An entry per column.

    Examples
    --------
    >>> by_key = against_truth(np.array([[3.0], [5.0], [7.0], [9.5]]), np.array([1.0, 2.0, 3.0, 4.0]), 0.95)
    >>> by_key.slope.round(2).tolist(), by_key.bias.round(3).tolist(), by_key.rmse.round(3).tolist()
    ([2.15], [3.625], [3.849])
    """
    known = ~np.isnan(values) & ~np.isnan(truth)[:, None]
    columns = [
        _compare_column(column[both], truth[both], level) for column, both in zip(values.T, known.T, strict=True)
    ]
    names = (*_MEASURES, *(f"{name}_ends" for name in _MEASURES))
    return AgainstTruth(
        numbers=known.sum(axis=0), **{name: np.array([column[name] for column in columns]) for name in names}
    )


def _compare_column(number: Floats, truth: Floats, level: float) -> dict[str, Any]:
    nothing = np.full(2, np.nan)
    estimates: dict[str, Any] = {name: float("nan") for name in _MEASURES}
    estimates |= {f"{name}_ends": nothing for name in _MEASURES}
    items = len(number)
    if not items:
        return estimates
    x0, y0 = truth.mean(), number.mean()  # so that no digits are lost in squares
    x, y = truth - x0, number - y0
    powers = np.array([x, y, x * x, x * y, y * y])
    whole = _measures(powers.sum(axis=1), items, x0, y0)
    without_one = _measures(powers.sum(axis=1)[:, None] - powers, items - 1, x0, y0)
    for name, value in whole.items():
        estimates[name] = float(value)
        estimates[f"{name}_ends"] = jackknife_ends(float(value), without_one[name], level, *_SCALES.get(name, ()))
    if np.ptp(number) == 0:  # rounding may leave a little
        estimates |= {"correlation": float("nan"), "correlation_ends": nothing}
    estimates["reliability"] = estimates["correlation"] ** 2
    estimates["reliability_ends"] = squared_ends(np.array([estimates["correlation_ends"]]))[0]
    return estimates


def _measures(sums: Floats, items: int, x0: float, y0: float) -> dict[str, Floats]:
    """All from sums of powers around x0 and y0, of one sample or of several."""
    with np.errstate(invalid="ignore", divide="ignore"):
        x, y, xx, xy, yy = sums / items
        var_x, covariance, var_y = xx - x * x, xy - x * y, yy - y * y
        slope = np.where(var_x > _ROUNDING * xx, covariance / var_x, np.nan)
        residual = np.maximum(var_y - slope * covariance, 0.0)  # below 0 by rounding alone
        shift = y0 - x0
        return {
            "bias": y - x + shift,
            "rmse": np.sqrt(np.maximum(xx - 2 * xy + yy + 2 * shift * (y - x) + shift**2, 0.0)),
            "slope": slope,
            "offset": y + y0 - slope * (x + x0),
            "noise": np.sqrt(residual * items / (items - 2)) if items > 2 else np.full_like(x, np.nan),
            "correlation": slope * np.sqrt(var_x / var_y),
        }


def true_values(key: Any, source: Any, numbers: Numbers) -> tuple[Floats, tuple[str, ...]]:
    """The true values in a key, in the order of the items of numbers that were read from a source.

    Returns
    -------
    tuple
        One true value per item, NaN where it is unknown, and remarks about how the key was read.

    Raises
    ------
    VotesError
        The key has no value for any item, or a value that is not a number.

    Examples
    --------
    >>> numbers = Numbers.from_matrix([[1, 2], [3, 4]], items=("a", "b"))
    >>> true_values({"b": "2,5"}, None, numbers)
    (array([nan, 2.5]), ('key: commas are decimal commas',))
    """
    answers = as_key(key, source if isinstance(source, Votes) else None)
    if isinstance(source, Votes):  # rows may be counted, and labels rewritten
        truths = answers.read_as(source).by_row(source)
        truths = truths if source.counts is None else np.repeat(truths, source.counts)
    else:
        truths = answers.by_name(numbers.items)
    known = np.array([truth is not None for truth in truths], dtype=np.bool_)
    if not known.any():
        raise VotesError("no item has a true value; check that the key names the same items")
    read = numerals(truths[known])
    if read.doubtful is not None:
        raise VotesError(f"the answer key: {read.doubt}", code="two_readings")
    if None in read.sizes:
        place = np.flatnonzero(known)[read.sizes.index(None)]
        item, truth = numbers.items[place], truths[place]
        cut = midpoint(np.unique(numbers.values[numbers.given])) if numbers.given.any() else ""
        raise VotesError(
            f"the answer key has {str(truth)!r:.40} for item {item}, which is not a number, but the votes are numbers. "
            f"Give true values as numbers, turn the votes into labels with threshold={cut} or bins=5, or read "
            "them as labels with scale='nominal'",
            code="bad_row",
            item=str(item),
            labels=(truth,),
        )
    values = np.full(len(truths), np.nan)
    values[known] = np.array(read.sizes, dtype=np.float64)
    return values, tuple(f"key: {remark}" for remark in read.remarks)


# ---------------------------------------------------------------------------------------------------------------------
# `score_numbers`
# ---------------------------------------------------------------------------------------------------------------------

_ESTIMATES = ("reliability", "slope", "offset", "noise")
_OTHER_UNIT = 5.0  # a ratio of ranges from which on the key is in another unit


@dataclass(frozen=True, eq=False, kw_only=True)
class NumberScores(Drawable):
    """How each juror compares with the true values, beside the grades without them."""

    jurors: tuple[str, ...]
    items: int  #: with a true value
    by_key: AgainstTruth  #: per juror: correlation, reliability, RMSE, bias, slope, offset, noise, with ends
    grades: NumberGrades | None  #: of all items, without the key; None where the numbers do not determine any
    truth_mean: float
    truth_spread: float  #: the standard deviation of the true values
    level: float
    scale_why: str = ""  #: why the votes are read as numbers
    is_other_unit: bool = False  #: whether the key seems to be in another unit, which makes RMSE and bias meaningless
    remarks: tuple[str, ...] = ()
    alarms: tuple[Alarm, ...] = ()

    _kind, scale = "score", "interval"

    def _score_columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"juror": self.jurors, "numbers": self.by_key.numbers}
        for name in _MEASURES:
            columns |= data.interval_columns(self.by_key, name)
        for name in _ESTIMATES:
            columns |= data.interval_columns(self.grades, name, f"estimated_{name}", len(self.jurors))
        return columns

    def _columns(self) -> Columns:
        model = None if self.grades is None else self.grades.independent
        independent = data.interval_columns(model, "reliability", "independent_reliability", len(self.jurors))
        return self._score_columns() | independent

    def _document(self) -> dict[str, Any]:
        return {
            **grade.about_numbers(self),
            "jurors": row_documents(self._score_columns()),
            "independent": None if self.grades is None else self.grades.independent.document(self.jurors, self.level),
            **self._attributes("remarks", "alarms"),
        }

    def _blocks(self, **show: Any) -> Iterable[Block]:
        options, numbers = CardOptions(**show), self.by_key.numbers
        # ranked by RMSE, or by correlation where the key is in another unit; ends such that more is better
        name = "correlation" if self.is_other_unit else "rmse"
        value, ends = getattr(self.by_key, name), getattr(self.by_key, f"{name}_ends")
        rising = ends if self.is_other_unit else -ends[:, ::-1]
        known = ~np.isnan(ends).any(axis=1) & (numbers >= card.enough_votes(numbers.tolist()))
        ranked = sorted(np.flatnonzero(known).tolist(), key=lambda k: -rising[k, 0])
        leaders = [k for k in ranked if rising[k, 1] >= rising[ranked[0], 0]]
        head, short = "correlation" if self.is_other_unit else "RMSE", list(short_names(self.jurors).values())
        answer = card.name_leaders(
            leaders, len(ranked), lambda k: f"{shorten(short[k])} ({head} {shown(value[k])}, {shown_range(ends[k])})"
        )
        everyone = list(dict.fromkeys((*ranked, *range(len(self.jurors)))))
        goodness = value if self.is_other_unit else -value
        order = card.sort_rows(everyone, numbers.__getitem__, options, goodness.__getitem__, self.jurors.__getitem__)
        shown_jurors = card.select_rows(order, options, ranked)
        title = f"{count_noun(self.items, 'item')} with a true value, {count_noun(len(self.jurors), 'juror')}"
        table, left = self._juror_table(shown_jurors), len(self.jurors) - len(shown_jurors)
        sentences = [answer, *self._sentences()]
        return card.result_card(title, self, sentences, table, left, self._full_blocks(order), options)

    def _sentences(self) -> Iterator[str]:
        """How good the estimates without the key are, and what the true values are."""
        if self.grades is not None:
            low, high = self.grades.reliability_ends.T
            true = self.by_key.reliability
            known = ~np.isnan(low) & ~np.isnan(high) & ~np.isnan(true)
            inside = int(((low <= true) & (true <= high))[known].sum())
            if known.any():
                of = f"Of {int(known.sum()):,} reliabilities by the key, {inside:,} lie"
                yield f"{of} inside the interval estimated without it."
        yield f"True values: {shown(self.truth_mean)} ± {shown(self.truth_spread)}."

    def _full_blocks(self, order: Sequence[int]) -> Iterator[Block]:
        """Every interval, and reliabilities beside those without the key."""
        for names in (("rmse", "bias", "correlation"), ("slope", "offset", "noise")):
            yield grade.interval_table("by the key", self.jurors, self.by_key, names, self.level, order)
        sure = f"{self.level * 100:g}%"
        headings = ("juror", "by the key", sure, "estimated", sure, "if independent", sure)
        estimates = (self.by_key, self.grades, None if self.grades is None else self.grades.independent)
        rows = tuple(
            (self.jurors[k], *(cell for each in estimates for cell in data.with_interval(each, "reliability", k)))
            for k in order
        )
        yield Table(headings, rows, title="reliability: by the key and without it", right=tuple(range(1, 7)))
        yield card.wrapped("By the key, RMSE and bias are of the number minus the true value.", grade.ABOUT_LINES)

    def by_juror(self) -> Table:
        """A row per juror by the key, with the columns that every card has."""
        return self._juror_table(range(len(self.jurors)), width=0)

    def _juror_table(self, jurors: Sequence[int], width: int = card.WIDTH) -> Table:
        """RMSE with its interval, bias, reliability by the key and as estimated without it."""

        def column(name: str, head: str = "", *, is_optional: bool = False) -> CardColumn:
            return CardColumn(head or name, [shown(getattr(self.by_key, name)[k]) for k in jurors], is_optional)

        estimated = ["–" if self.grades is None else shown(self.grades.reliability[k]) for k in jurors]
        return card.fitted_table(
            [
                CardColumn("juror", [short_names(self.jurors)[self.jurors[k]] for k in jurors]),
                column("rmse", "RMSE"),
                CardColumn(f"{self.level * 100:g}%", [shown_range(self.by_key.rmse_ends[k]) or "–" for k in jurors]),
                *(column("bias"), column("reliability")),
                CardColumn("without key", estimated, is_optional=True),
                column("correlation", is_optional=True),
                CardColumn("numbers", [f"{self.by_key.numbers[k]:,}" for k in jurors]),
            ],
            width,
        )


def score_numbers(source: Any, key: Any, *, level: float = 0.95, **reading: Unpack[SourceOptions]) -> NumberScores:
    r"""Grade jurors who answer in numbers against true values, beside what is estimated without them.

    Parameters
    ----------
    source
        Whatever `read_votes` takes, a dataframe, or a matrix of items x jurors; options as in `read_numbers`.
    key
        True values: a mapping from item to number, one number per row, a frame with `item` and `label`, or a file.
    level
        Confidence level of the intervals.

    Returns
    -------
    NumberScores
        An entry per juror, in the units of key and numbers.

    Raises
    ------
    VotesError
        The source or the key cannot be read as numbers, or the key has none of the items.

    Examples
    --------
    >>> import io
    >>> rows = "item,ann,bob,cy\n1,1,2,10\n2,4,5,14\n3,3,4,22\n4,2,9,18\n5,6,7,27\n6,5,12,25\n"
    >>> scored = score_numbers(io.StringIO(rows), {1: 1, 2: 3, 3: 4, 4: 3, 5: 6, 6: 5})
    >>> scored.by_key.correlation.round(2).tolist(), scored.grades.reliability.round(2).tolist()
    ([0.92, 0.6, 0.97], [0.3, 0.18, 0.46])
    """
    confidence = Grading(level=level)
    numbers = data.read_numbers(source, **reading)
    truth, about_key = true_values(key, source, numbers)
    with single_threaded():
        return _score(numbers, truth, about_key, confidence.level)


def _score(numbers: Numbers, truth: Floats, about_key: tuple[str, ...], level: float) -> NumberScores:
    known = truth[~np.isnan(truth)]
    calibrated, grades, remarks = None, None, list[str]()
    try:
        calibrated = grade.calibrate_numbers(numbers)
    except SketchError as error:
        remarks.append(f"no estimates without the key: {error}")
    else:
        grades = grade.number_grades_by(calibrated, level)
        if calibrated.outliers:
            remarks.append("outliers are left out of the estimates without the key, and included in the scores by it")
    without_outliers = numbers if calibrated is None else calibrated.numbers
    alarms = numbers.notes if grades is None else grades.alarms

    # by the key: whose scale is reversed, unless there is such an alarm already
    strict = against_truth(numbers.values, truth, 1 - FALSE_ALARMS / len(numbers.jurors))
    known_reversed = {name for alarm in alarms if alarm.reason == "reversed_scale" for name in alarm.jurors}
    is_reversed = []
    for k, juror in enumerate(numbers.jurors):
        if strict.correlation_ends[k, 1] < 0 and juror not in known_reversed:
            message = f"{juror} gives lower numbers to items whose true value is higher"
            is_reversed.append(Alarm("reversed_scale", "alarm", message, float(strict.correlation[k]), (juror,)))

    # key and numbers that cannot be in the same unit
    is_other_unit = False
    low, high, given = float(known.min()), float(known.max()), without_outliers.values
    given = given[~np.isnan(given)]
    if len(given) and high > low and np.ptp(given) > 0:
        ratio = float(np.ptp(given)) / (high - low)
        if not 1 / _OTHER_UNIT < ratio < _OTHER_UNIT or given.min() > high or given.max() < low:
            is_other_unit = True
            remarks.append(
                f"the key ranges from {low:g} to {high:g} and the numbers from {given.min():g} to {given.max():g}: if "
                "the units differ, use correlation and reliability, not RMSE and bias"
            )
    return NumberScores(
        jurors=numbers.jurors,
        items=len(known),
        by_key=against_truth(numbers.values, truth, level),
        grades=grades,
        truth_mean=float(known.mean()),
        truth_spread=float(known.std()),
        level=level,
        scale_why=numbers.scale_why,
        is_other_unit=is_other_unit,
        remarks=(
            *numbers.remarks,
            *(note.message for note in numbers.notes if note.level == "note" and note.reason != "scale"),
            *about_key,
            *remarks,
        ),
        alarms=sort_by_severity((*alarms, *is_reversed)),
    )
