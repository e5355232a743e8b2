"""`score_numbers`: jurors who answer in numbers against true values, beside what is estimated without them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from jurors.errors import SketchError
from jurors.evaluate.alarm import Alarm, ranked
from jurors.numbers.arrays import Floats
from jurors.numbers.threads import one_thread
from jurors.options import SourceOptions, Sureness
from jurors.tables import Block, Columns, Drawable, Notes, Table, row_documents
from jurors.values.by_key.against_truth import AgainstTruth, against_truth
from jurors.values.by_key.true_values import TrueValues, true_values
from jurors.values.by_key.values_scored import ValuesScored, values_scored
from jurors.values.factor.shared_errors import FALSE_ALARMS
from jurors.values.item_values import values_by
from jurors.values.number_grades import Measured, NumberGrades, grades_by, measured, shown
from jurors.values.numbers_table import Numbers
from jurors.values.read_numbers import read_numbers
from jurors.values.repeatability import Repeatability, repeatability

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
    sure = Sureness(level=level)
    numbers = read_numbers(source, **reading)
    truth = true_values(key, source, numbers)
    with one_thread():
        return _scored(numbers, truth, sure.level)


def _scored(numbers: Numbers, truth: TrueValues, level: float) -> NumberScores:
    by_key = against_truth(numbers.values, truth.values, level)
    known = truth.values[~np.isnan(truth.values)]
    graded, why = _graded(numbers)
    tame = numbers if graded is None else graded.numbers
    grades = None if graded is None else grades_by(graded, level)
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
        alarms=ranked((*alarms, *_reversed(numbers, truth.values, alarms))),
    )


def _graded(numbers: Numbers) -> tuple[Measured | None, tuple[str, ...]]:
    """What the numbers alone say; where they say nothing, why."""
    try:
        graded = measured(numbers)
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
