"""`plan`: how many items until the grades are known well enough, and how much correlation they would stand."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from jurors.doubt.intervals.trio_intervals import interval_around, trio_interval_ends
from jurors.errors import OptionError, SketchError
from jurors.evaluate.trio.trios import evaluate_trios
from jurors.lab.gold_needed import DRAWN, gold_table, gold_to_halve
from jurors.lab.information import ItemErrors, item_errors
from jurors.lab.jury_model import JuryModel, jury_model
from jurors.lab.jury_numbers import share
from jurors.lab.simulate import simulate
from jurors.lab.tolerated import LEAST_CORRELATION, MOST_JURORS, tolerated_correlations
from jurors.numbers.arrays import Floats
from jurors.options import Target
from jurors.tables import Columns, Notes, Result, Table
from jurors.votes import Label

_MOST_ITEMS = 10**12
FEWEST_ITEMS = 200  # smaller tests were not checked by simulation (benchmarks/plan_widths.py), so none is promised


@dataclass(frozen=True)
class PlanRow:
    """What one size of jury needs."""

    jurors: int
    items: int | None  #: until every accuracy is known to ± width; None where no test is large enough
    items_for_prevalence: int | None  #: until every prevalence is
    weakest: tuple[str, Label]  #: the juror and label that need most items
    correlation: float | None  #: up to here error correlations cannot move an accuracy by more than ± width
    breaking_point: float | None  #: from here on the bounds say nothing about some juror; both None where not computed
    real_width: float | None = None  #: ± of a typical score as real juries go, without gold and however many items
    gold_to_halve: int | None = None  #: gold items that would halve it; None where nobody can tell


@dataclass(frozen=True)
class Plan(Result):
    """One row per number of jurors, and how the widths shrink with the items."""

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
            f"items until every accuracy is known to ±{self.width:g} ({self.level * 100:.10g}% intervals, "
            f"target {self.target})"
        )
        return Table(columns, cells, title=title, right=(0, 1, 2, 4, 5))

    def gold_table(self) -> Table:
        """How far scores would be known as real juries go, and what gold would buy."""
        return gold_table([(row.jurors, row.real_width, row.gold_to_halve) for row in self.rows], self.level)

    def _document(self) -> dict[str, Any]:
        rows = [
            {**asdict(row), "weakest": dict(zip(("juror", "label"), row.weakest, strict=True))} for row in self.rows
        ]
        curves = [{"jurors": n, "items": items, "width": widths} for n, items, widths in self.curves]
        head = {"width": self.width, "level": self.level, "target": self.target, "labels": self.labels}
        return {**head, "rows": rows, "curves": curves}

    def _columns(self) -> Columns:
        names = (
            "jurors", "items", "items_for_prevalence", "correlation", "breaking_point", "real_width", "gold_to_halve",
        )  # fmt: skip
        return {name: [getattr(row, name) for row in self.rows] for name in names}

    def _blocks(self) -> tuple[Table, Table, Notes]:
        return self.gold_table(), self.table(), Notes(self.notes())

    def notes(self) -> list[str]:
        """What the columns mean, as far as it is needed."""
        never = any(None in (row.items, row.items_for_prevalence) for row in self.rows)
        unknown = any(row.correlation is None for row in self.rows)
        return [_REAL_NOTE, *_NOTES, *[_NEVER] * never, *[_UNKNOWN] * unknown]


_NOTES = (
    f"Items: at least {FEWEST_ITEMS}, and for errors that are independent; correlated errors add a bias that stays.",
    "Safe below: while no error correlation (a covariance) exceeds this, the bias stays within the width as well.",
    "Useless from: as much could explain all that some juror has in common with the others; nothing bounds it then.",
)
_REAL_NOTE = "Gold: items with a known true label, drawn at random; what they leave is foretold to 1 to 5 points."
_NEVER = f"Never: no test of up to {_MOST_ITEMS:.0e} items is large enough.".replace("1e+", "10^")
_UNKNOWN = f"–: bounds are computed for two labels and up to {MOST_JURORS} jurors."


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
    sizes = _sizes(jurors)
    if not 0 < width < 0.5:
        raise OptionError(f"width must lie between 0 and 0.5, got {width}")
    if not 0 < level < 1:
        raise OptionError(f"level must lie between 0 and 1, got {level}")
    if target not in ("test", "population"):
        raise OptionError(f"target must be 'test' or 'population', got {target!r}")
    hidden = float(share(missing, "missing"))
    if hidden == 1:
        raise SketchError("nobody votes where every vote is missing; give missing below 1")
    rows, curves = [], []
    for size in sizes:
        model = jury_model(jurors=size, labels=labels, prevalence=prevalence, accuracy=_repeated(accuracy, size))
        _check_learnable(model)
        expected = ExpectedWidths(model, hidden, level, target, seed)
        row = _row(model, expected, width)
        votes = simulate(
            DRAWN, jurors=size, labels=labels, prevalence=prevalence, accuracy=_repeated(accuracy, size),
            missing=missing, seed=seed,
        ).votes  # fmt: skip
        real, gold = gold_to_halve(votes, level)
        rows.append(replace(row, real_width=real, gold_to_halve=gold))
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


def _sizes(jurors: int | Sequence[int]) -> list[int]:
    sizes = [jurors] if isinstance(jurors, int) else list(dict.fromkeys(jurors))
    if not all(isinstance(size, (int, np.integer)) for size in sizes):
        raise OptionError(f"jurors must be one number of jurors or several, got {jurors!r}")
    if not sizes or min(sizes) < 3:
        raise SketchError(f"grading without an answer key needs at least 3 jurors, got {min(sizes, default=0)}")
    return sizes


def _check_learnable(model: JuryModel) -> None:
    """SketchError for juries that no test can grade as they are."""
    if not min(model.prevalence) > 0:
        raise SketchError("a label that never occurs cannot be learnt; give every label a prevalence above 0")
    if len(model.labels) == 2 and sum(table[0][0] + table[1][1] - 1 for table in model.confusion) < 0:
        raise SketchError(
            f"{len(model.jurors)} jurors who are wrong more often than right look like their mirror image, and would "
            "be graded as that; plan for accuracies above 1/2 in the mean"
        )


def _repeated(accuracy: Any, size: int) -> Any:
    if isinstance(accuracy, (str, int, float)) or not hasattr(accuracy, "__len__") or isinstance(accuracy, dict):
        return accuracy
    return [accuracy[k % len(accuracy)] for k in range(size)]


def _row(model: JuryModel, expected: ExpectedWidths, width: float) -> PlanRow:
    items = _least_items(lambda q: float(expected.at(q)[1].max()), width)
    halves = expected.at(items or 10**6)[1]
    most = halves >= halves.max() * 0.999  # of equals, the first
    juror, label = np.unravel_index(int(np.argmax(most)), halves.shape)
    safe, useless = tolerated_correlations(model, width)
    return PlanRow(
        jurors=len(model.jurors),
        items=items,
        items_for_prevalence=_least_items(lambda q: float(expected.at(q)[0].max()), width),
        weakest=(model.jurors[juror], model.labels[label]),
        correlation=safe,
        breaking_point=useless,
    )


def _least_items(half_width: Callable[[int], float], width: float) -> int | None:
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


def _count(items: int | None) -> str:
    return "never" if items is None else f"{items:,}"


def _correlation(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}" if value else f"<{LEAST_CORRELATION:g}"
