"""`plan`: how many items until the grades are known well enough, and how much correlation they would stand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors.doubt.intervals import Target, interval_around, trio_interval_ends
from jurors.doubt.robust import robust_bounds
from jurors.errors import SketchError
from jurors.evaluate import Solution, encode
from jurors.evaluate.trios import evaluate_trios
from jurors.lab.information import ItemErrors, item_errors
from jurors.lab.jury_model import JuryModel, jury_model, share
from jurors.sketch import Sketch
from jurors.tables import Table
from jurors.votes import Label

Floats: TypeAlias = NDArray[np.float64]

_MOST_ITEMS = 10**12
FEWEST_ITEMS = 200  # smaller tests were not checked by simulation (benchmarks/plan_widths.py), so none is promised
_EXPECTED = 10**7  # items of the expected sketch from which bounds are read: rounding to whole items must not matter
_BOUNDED_JURORS = 10  # bounds of larger panels take long and are not narrower
_LEAST_CORRELATION = 1e-6


@dataclass(frozen=True)
class PlanRow:
    """What one size of jury needs."""

    jurors: int
    items: int | None  #: until every accuracy is known to ± width; None where no test is large enough
    items_for_prevalence: int | None  #: until every prevalence is
    weakest: tuple[str, Label]  #: the juror and label that need most items
    correlation: float | None  #: up to here error correlations cannot move an accuracy by more than ± width
    breaking_point: float | None  #: from here on the bounds say nothing about who is right


@dataclass(frozen=True)
class Plan:
    """One row a number of jurors, and how the widths shrink with the items."""

    width: float
    level: float
    target: Target
    labels: tuple[Label, ...]
    rows: tuple[PlanRow, ...]
    curves: tuple[tuple[int, tuple[int, ...], tuple[float, ...]], ...]  #: jurors, items, ± of the weakest accuracy

    def table(self) -> Table:
        """The plan as a table."""
        columns = ("jurors", "items for accuracies", "items for prevalence", "needs most", "safe below", "useless from")
        cells = tuple(
            (
                row.jurors, _count(row.items), _count(row.items_for_prevalence),
                "–" if row.items is None else f"{row.weakest[0]} on {row.weakest[1]}",
                _correlation(row.correlation), _correlation(row.breaking_point),
            )
            for row in self.rows
        )  # fmt: skip
        title = (
            f"items until every accuracy is known to ±{self.width:g} ({self.level:.0%} intervals, target {self.target})"
        )
        return Table(columns, cells, title=title, right=(0, 1, 2, 4, 5))

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        rows = [
            {
                "jurors": row.jurors, "items": row.items, "items_for_prevalence": row.items_for_prevalence,
                "weakest": {"juror": row.weakest[0], "label": row.weakest[1]}, "correlation": row.correlation,
                "breaking_point": row.breaking_point,
            }
            for row in self.rows
        ]  # fmt: skip
        curves = [{"jurors": n, "items": list(q), "width": list(w)} for n, q, w in self.curves]
        head = {"width": self.width, "level": self.level, "target": self.target, "labels": list(self.labels)}
        return {**head, "rows": rows, "curves": curves}

    def to_frame(self) -> Any:
        """The rows as a dataframe."""
        from jurors.votes import data_frame

        names = ("jurors", "items", "items_for_prevalence", "correlation", "breaking_point")
        return data_frame({name: [getattr(row, name) for row in self.rows] for name in names})

    def __str__(self) -> str:
        return "\n".join([self.table().to_text(), "", *_NOTES])

    def _repr_html_(self) -> str:
        return self.table().to_html()


_NOTES = (
    f"Items: at least {FEWEST_ITEMS}, and for errors that are independent; correlated errors add a bias that stays.",
    "Safe below: while no error correlation (a covariance) exceeds this, the bias stays within the width as well.",
    "Useless from: correlations as large as this could explain all the agreement there is; nothing is bounded then.",
)


def plan(
    *,
    width: float = 0.05,
    jurors: int | Sequence[int] = (3, 5, 7),
    labels: Sequence[Label] = ("A", "B"),
    prevalence: Any = None,
    accuracy: Any = "0.8",
    missing: Any = 0,
    level: float = 0.95,
    target: Target = "test",
    seed: int = 0,
) -> Plan:
    """How many items until every accuracy is known to ± `width`, for juries of these sizes.

    Parameters
    ----------
    jurors
        One size or several; a list of accuracies is repeated until there are enough jurors.
    labels, prevalence, accuracy
        The jury you expect, as in `simulate`.
    missing
        The chance that a vote is missing.
    level, target
        The intervals meant, as in `grade`.

    Examples
    --------
    >>> row = plan(width=0.05, jurors=3, accuracy=["0.9", "0.8", "0.7"], prevalence="0.3").rows[0]
    >>> row.items, row.weakest
    (6275, ('1', 'A'))
    """
    sizes = [jurors] if isinstance(jurors, int) else list(jurors)
    if not 0 < width < 0.5:
        raise SketchError(f"width must lie between 0 and 0.5, got {width}")
    if not 0 < level < 1:
        raise SketchError(f"level must lie between 0 and 1, got {level}")
    if not sizes or min(sizes) < 3:
        raise SketchError(f"grading without an answer key needs at least 3 jurors, got {min(sizes, default=0)}")
    hidden = float(share(missing, "missing"))
    rows, curves = [], []
    for size in sizes:
        model = jury_model(jurors=size, labels=labels, prevalence=prevalence, accuracy=_repeated(accuracy, size))
        expected = ExpectedWidths(model, hidden, level, target, seed)
        rows.append(_row(model, expected, width))
        curves.append((size, *_curve(expected, rows[-1].items, width)))
    return Plan(width, level, target, tuple(labels), tuple(rows), tuple(curves))


@dataclass(frozen=True)
class ExpectedWidths:
    """How wide the intervals of a jury will be on a test of so many items: from its closed-form standard errors."""

    model: JuryModel
    missing: float
    level: float
    target: Target
    seed: int

    @cached_property
    def prevalence(self) -> Floats:
        """(R,)"""
        return np.array([float(p) for p in self.model.prevalence])

    @cached_property
    def confusion(self) -> Floats:
        """(N, R, R): juror, true label, label said."""
        return np.array([[[float(x) for x in row] for row in table] for table in self.model.confusion])

    @cached_property
    def errors(self) -> ItemErrors:
        """The standard errors of one item."""
        if not (self.prevalence > 0).all():
            raise SketchError("a label that never occurs cannot be learnt; give every label a prevalence above 0")
        return item_errors(self.prevalence, self.confusion, missing=self.missing, seed=self.seed)

    def at(self, items: int) -> tuple[Floats, Floats]:
        """± of the prevalences (R,) and of the accuracies (N, R)."""
        if self.confusion.shape[:2] == (3, 2) and not self.missing:
            return self._of_trio(items)
        accuracy = np.einsum("ill->il", self.confusion)
        about = np.broadcast_to(items * self.prevalence * (1 - self.missing), accuracy.shape)
        return (
            self._half(
                self.prevalence, self.errors.prevalence / math.sqrt(items), np.full(len(self.prevalence), items)
            ),
            self._half(accuracy, self.errors.accuracy / math.sqrt(items), about),
        )

    def _half(self, estimate: Floats, error: Floats, items: Floats) -> Floats:
        if self.target == "test":
            own = estimate * (1 - estimate) / items
            error = np.sqrt(np.maximum(error**2 - own, 0.0))
        low, high = interval_around(estimate, error, np.asarray(items, dtype=float), self.level)
        return np.where(np.isfinite(error), (high - low) / 2, np.inf)

    def _of_trio(self, items: int) -> tuple[Floats, Floats]:
        """The very intervals that `grade` gives, on the counts that are to be expected."""
        table = np.einsum("l,la,lb,lc->abc", self.prevalence, *self.confusion) * items
        decoded = evaluate_trios(table)
        ends, _ = trio_interval_ends(table, decoded, target=self.target, level=self.level)
        (p_low, p_high), (low, high) = ends["prevalence"], ends["accuracy"]
        halves = np.nan_to_num((high - low) / 2, nan=np.inf)
        return np.full(2, np.nan_to_num((p_high - p_low) / 2, nan=np.inf)), halves


def _repeated(accuracy: Any, size: int) -> Any:
    if isinstance(accuracy, (str, int, float)) or not hasattr(accuracy, "__len__") or isinstance(accuracy, dict):
        return accuracy
    return [accuracy[k % len(accuracy)] for k in range(size)]


def _row(model: JuryModel, expected: ExpectedWidths, width: float) -> PlanRow:
    items = _least_items(lambda q: float(expected.at(q)[1].max()), width)
    halves = expected.at(items or 10**6)[1]
    juror, label = np.unravel_index(int(np.argmax(halves)), halves.shape)
    safe, useless = _correlations(model, width)
    return PlanRow(
        jurors=len(model.jurors),
        items=items,
        items_for_prevalence=_least_items(lambda q: float(expected.at(q)[0].max()), width),
        weakest=(model.jurors[juror], model.labels[label]),
        correlation=safe,
        breaking_point=useless,
    )


def _least_items(half_width: Any, width: float) -> int | None:
    """The smallest test with half widths of at most `width`; None where none is large enough."""
    high = FEWEST_ITEMS
    if half_width(high) <= width:
        return high
    while half_width(high) > width:
        high *= 2
        if high > _MOST_ITEMS:
            return None
    low = high // 2
    while high - low > max(1, high // 1000):
        middle = (low + high) // 2
        low, high = (low, middle) if half_width(middle) <= width else (middle, high)
    return high


def _curve(expected: ExpectedWidths, items: int | None, width: float) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """How the weakest accuracy's ± shrinks, from a thirtieth of the items needed to thirty times as many."""
    middle = math.log10(items or 10_000)
    tests = sorted({max(FEWEST_ITEMS, round(10**x)) for x in np.linspace(middle - 1.5, middle + 1.5, 31)})
    halves = [float(expected.at(q)[1].max()) for q in tests]
    kept = [(q, w) for q, w in zip(tests, halves, strict=True) if math.isfinite(w)]
    return tuple(q for q, _ in kept), tuple(w for _, w in kept)


def _correlations(model: JuryModel, width: float) -> tuple[float | None, float | None]:
    """Up to which error correlation the bounds are as narrow as asked, and from which they say nothing."""
    if len(model.labels) != 2 or len(model.jurors) > _BOUNDED_JURORS:
        return None, None
    solution = Solution(model.jurors, model.labels, model.prevalence, model.confusion)
    sketch = encode(Solution.from_dict(_in_floats(solution)), items=_EXPECTED)
    return _largest(lambda e: _half_width(sketch, e) <= width), _largest(lambda e: _half_width(sketch, e) < math.inf)


def _in_floats(solution: Solution) -> dict[str, Any]:
    return {
        "prevalence": {a: float(p) for a, p in solution.prevalence.items()},
        "accuracy": {j: {a: float(x) for a, x in row.items()} for j, row in solution.accuracy.items()},
    }


def _half_width(sketch: Sketch, correlation: float) -> float:
    """Half of the widest bounds of an accuracy; infinite where somebody is not bounded at all."""
    found = robust_bounds(sketch, correlation)
    if found.alarms or found.accuracy is None:  # all alarms of bounds say that nothing, or not everybody, is bounded
        return math.inf
    return max(float(high - low) / 2 for row in found.accuracy.values() for low, high in row.values())


def _largest(holds: Any) -> float | None:
    """The largest correlation for which this holds (it does for all smaller ones); None where for none."""
    if not holds(_LEAST_CORRELATION):
        return None
    low, high = _LEAST_CORRELATION, 0.25
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _count(items: int | None) -> str:
    return "never" if items is None else f"{items:,}"


def _correlation(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}"
