"""`grade_numbers`: jurors who answer in numbers, graded without a key."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Unpack

import numpy as np

from jurors.errors import SketchError
from jurors.evaluate.alarm import Alarm, ranked
from jurors.evaluate.card import alarm_lines
from jurors.evaluate.panel.islands import FEWEST_VOICES
from jurors.numbers.arrays import Floats, Integers
from jurors.numbers.threads import one_thread
from jurors.options import SourceOptions, Sureness
from jurors.tables import Block, Columns, Drawable, Notes, Table
from jurors.values.agreed_truth import reference_validities
from jurors.values.factor.covariances import Covariances
from jurors.values.factor.exact_trio import TrioAnswer, exact_trio
from jurors.values.factor.influence import noise_ends, plain_ends, reliability_ends, standard_error
from jurors.values.factor.one_factor import Factor
from jurors.values.factor.shared_errors import Together, fit_together
from jurors.values.number_alarms import ErrorPair, error_pairs, number_alarms
from jurors.values.numbers_table import Numbers
from jurors.values.read_numbers import read_numbers
from jurors.values.repeatability import Repeatability, repeatability
from jurors.values.wild_values import wild_cells

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
class Measured:
    """Numbers without the wild ones, and the factor they show."""

    numbers: Numbers
    wild: tuple[tuple[Any, str, float], ...]
    together: Together
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
    sure = Sureness(level=level)
    numbers = read_numbers(source, **reading)
    with one_thread():
        return grades_by(measured(numbers), sure.level)


def measured(given: Numbers) -> Measured:
    """The factor that numbers show, wild ones left out."""
    if len(given.jurors) < FEWEST_VOICES:
        raise SketchError(
            f"grading without a key needs at least {FEWEST_VOICES} jurors, got {len(given.jurors)}: "
            f"{', '.join(given.jurors)}",
            code="few_jurors",
            jurors=given.jurors,
            needed=FEWEST_VOICES,
            given=len(given.jurors),
        )
    cells = wild_cells(given.values)
    wild = tuple((given.items[i], given.jurors[j], float(given.values[i, j])) for i, j in np.argwhere(cells))
    numbers = given.without(cells) if wild else given
    together = fit_together(Covariances.of(numbers.values))
    alarms = ranked((*given.notes, *number_alarms(numbers, together, len(wild))))
    return Measured(numbers, wild, together, alarms)


def grades_by(shown_by: Measured, level: float) -> NumberGrades:
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
