"""How many items and jurors a test needs: `plan`, and the information theory behind it.

Fisher information of one item, in closed form for the independent model. A decision tuple t has the chance
f_t = Σ_l P_l Π_i P_i(t_i | l). With s_t the derivatives of log f_t by the free prevalences and confusions, one item has
the information I = Σ_t f_t s_t s_tᵀ, and no estimate from Q items can have a smaller variance than I⁻¹/Q. Three jurors
and two labels have as many equations as unknowns: there the exact theorem reaches it. A missing vote is one more answer
that a juror may give, whatever the truth. The sum runs over all tuples if there are few, over drawn ones otherwise.

Gold. More items do not help against errors that jurors share; more gold items do. The jury is drawn and graded, and the
widths that gold would leave are predicted as for a real jury (`Calibrated.with_gold`, off by 1 to 5 points).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from jurors._numeric import Floats
from jurors.errors import OptionError, SketchError
from jurors.evaluate.card import WIDTH
from jurors.evaluate.trio import evaluate_trios
from jurors.jury.grade import grade
from jurors.lab.simulate import JuryModel, jury_model, parse_probability, simulate
from jurors.options import Grading, Label, Target, verb
from jurors.results import Columns, Notes, Result, Table, field_values
from jurors.uncertainty.intervals import interval_around, trio_interval_ends
from jurors.votes.table import Votes

# -- the information of one item --

_MAX_TUPLES = 1 << 15
_DRAWN = 40_000
_MAX_UNKNOWNS = 2_000  # more would need more tuples than are drawn
_EACH = 10  # drawn tuples with three votes, which alone carry information about jurors, for each unknown


def item_errors(prevalence: Floats, confusion: Floats, *, missing: float = 0.0, seed: int = 0) -> tuple[Floats, Floats]:
    """Compute the least standard errors that any estimate of this jury can have, for one item.

    Parameters
    ----------
    prevalence, confusion
        (R,) and (N, R, R): juror, true label, label given.
    missing
        The chance that a vote is missing.
    seed
        For drawn tuples.

    Returns
    -------
    prevalence, accuracy : ndarray, (R,) and (N, R)
        Standard deviations times √Q: divide by √Q for a test of Q items. Infinite where nothing can be estimated.

    Examples
    --------
    >>> table = np.array([[0.8, 0.2], [0.2, 0.8]])
    >>> (item_errors(np.array([0.5, 0.5]), np.array([table] * 3))[1][0] / np.sqrt(10_000)).round(4)
    array([0.0093, 0.0093])
    """
    jurors, labels = confusion.shape[:2]
    unknowns = labels - 1 + jurors * labels * (labels - 1)
    if unknowns > _MAX_UNKNOWNS:
        raise SketchError(
            f"{jurors} jurors with {labels} labels have {unknowns:,} unknown rates, too many to plan for (at most "
            f"{_MAX_UNKNOWNS:,}); plan fewer jurors or labels"
        )
    # all decision tuples if they are few, else drawn ones
    are_few = (labels + bool(missing)) ** jurors <= _MAX_TUPLES
    if are_few:
        states = (labels + bool(missing),) * jurors
        codes = np.stack(np.unravel_index(np.arange(np.prod(states)), states), axis=1)
        codes[codes == labels] = -1
    else:
        rng = np.random.default_rng(seed)
        truth = rng.choice(labels, size=_DRAWN, p=prevalence)
        ends = np.cumsum(confusion, axis=2)[:, truth, :-1]
        codes = np.asarray((rng.random((jurors, _DRAWN, 1)) >= ends).sum(axis=2)).T
        codes[rng.random(codes.shape) < missing] = -1
        if missing and ((codes >= 0).sum(axis=1) > 2).sum() < _EACH * unknowns:
            what = f"too few votes per item to plan for {jurors} jurors where {missing:.4g} of them are missing"
            raise SketchError(what)
    joint = np.tile(prevalence, (len(codes), 1))
    for i in range(jurors):  # how likely each true label makes a juror's votes; 1 where it did not vote
        joint *= np.where((codes[:, i] >= 0)[:, None], confusion[i][:, codes[:, i]].T, 1.0)
    weights = np.full(len(codes), 1 / _DRAWN)
    if are_few:
        weights = joint.sum(axis=1) * np.where(codes < 0, missing, 1 - missing).prod(axis=1)
        codes, joint, weights = (part[weights > 0] for part in (codes, joint, weights))
    posterior = joint / joint.sum(axis=1, keepdims=True)
    # the derivatives of log f_t, one column per free parameter, and which of them are a juror's on a label
    ratio = posterior / prevalence
    columns = [ratio[:, a] - ratio[:, -1] for a in range(labels - 1)]
    places: dict[tuple[int, int], list[int]] = {(i, a): [] for i in range(jurors) for a in range(labels)}
    for i, a in places:
        row, votes = confusion[i, a], codes[:, i]
        right = (votes == a) / row[a] if row[a] else 0.0
        for r in np.flatnonzero(row):  # an error that never happens is not estimated
            if r != a:
                places[i, a].append(len(columns))
                columns.append(posterior[:, a] * ((votes == r) / row[r] - right))
    scores = np.stack(columns, axis=1)
    information = scores.T @ (scores * weights[:, None])
    scale = np.sqrt(np.diag(information))
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = information / np.outer(scale, scale)  # rare labels must not pass for rates that cannot be estimated
    if not (scale > 0).all() or np.linalg.matrix_rank(scaled, hermitian=True) < len(scaled):
        return np.full(labels, np.inf), np.full((jurors, labels), np.inf)
    covariance = np.asarray(np.linalg.inv(scaled) / np.outer(scale, scale), dtype=np.float64)
    # a sum of parameters: of a juror's errors on a label, of all prevalences but the last
    accuracy = np.sqrt([covariance[np.ix_(which, which)].sum() for which in places.values()]).reshape(jurors, labels)
    shares = [covariance[k, k] for k in range(labels - 1)]
    return np.sqrt([*shares, covariance[: labels - 1, : labels - 1].sum()]), accuracy


# -- what gold items would leave --

_TRIED = (5, 10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 300, 500)
DRAWN = 1_000  #: items of the simulated test: more change little


def gold_to_halve(votes: Votes, level: float) -> tuple[float | None, int | None]:
    """Predict the typical ± of a score without gold, and the fewest gold items of those tried that halve it.

    Returns
    -------
    (float or None, int or None)
        None where it is not known.

    Examples
    --------
    >>> from jurors.lab.simulate import simulate
    >>> width, gold = gold_to_halve(simulate(400, jurors=5, seed=1).votes, 0.95)
    >>> 0.1 < width < 0.3, gold is not None
    (True, True)
    """
    try:
        real = grade(votes, level=level).calibrated
    except SketchError:  # as drawn, these votes cannot be graded
        real = None
    if real is None:
        return None, None
    now = float(np.median([(high - low) / 2 for low, high in real.interval["score"].values()]))
    for items in _TRIED:
        widths = real.with_gold(items) if items * 2 <= votes.total else None
        if widths is not None and float(np.nanmedian(list(widths.values()))) <= now / 2:
            return now, items
    return now, None


# -- the plan --

_MAX_ITEMS = 10**12
FEWEST_ITEMS = 200  # smaller tests were not checked by simulation (benchmarks/plan_widths.py), so none is promised


@dataclass(frozen=True)
class PlanRow:
    """What one size of jury needs."""

    jurors: int
    items: int | None  #: until every accuracy is known to ± width; None if no test is large enough
    items_for_prevalence: int | None  #: until every prevalence is
    weakest: tuple[str, Label]  #: the juror and label that need most items
    calibrated_width: float | None  #: ± of a typical calibrated score, without gold and however many items
    gold_to_halve: int | None  #: gold items that would halve it; None if unknown


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
        """Tabulate the items needed.

        Returns
        -------
        Table
        """
        columns = ("jurors", "items: accuracy", "items: prevalence", "needs most")
        cells = tuple(
            (
                row.jurors, _count(row.items), _count(row.items_for_prevalence),
                "–" if row.items is None else f"{row.weakest[0]} on {row.weakest[1]}",
            )
            for row in self.rows
        )  # fmt: skip
        title = (
            f"items for {self.level * 100:.10g}% intervals of ± {self.width:g} with independent errors "
            f"(target {self.target})"
        )
        return Table(columns, cells, title=title, right=(0, 1, 2))

    def gold_table(self) -> Table:
        """Tabulate the width of calibrated scores, and how many gold items halve it."""
        rows = [(row.jurors, row.calibrated_width, row.gold_to_halve) for row in self.rows]
        cells = tuple(
            (jurors, "–" if width is None else f"± {width:.2f}", "–" if gold is None else f"about {gold}")
            for jurors, width, gold in rows
        )
        columns = ("jurors", "calibrated score", "gold items to halve it")
        title = f"half widths of {self.level * 100:.10g}% intervals with correlated errors, for any number of items"
        return Table(columns, cells, title=title, right=(0, 1, 2))

    def _document(self) -> dict[str, Any]:
        rows = [
            {**field_values(row), "weakest": dict(zip(("juror", "label"), row.weakest, strict=True))}
            for row in self.rows
        ]
        curves = [{"jurors": n, "items": items, "width": widths} for n, items, widths in self.curves]
        return {**field_values(self), "rows": rows, "curves": curves}

    def _columns(self) -> Columns:
        names = [part.name for part in fields(PlanRow) if part.name != "weakest"]
        return {name: [getattr(row, name) for row in self.rows] for name in names}

    def _blocks(self) -> tuple[Table, Table, Notes]:
        return self.gold_table(), self.table(), Notes(self.notes(), width=WIDTH)

    def notes(self) -> list[str]:
        """Explain the columns, as far as needed."""
        never = any(None in (row.items, row.items_for_prevalence) for row in self.rows)
        return [_REAL_NOTE, _ITEMS_NOTE, *[_NEVER] * never]


_ITEMS_NOTE = f"Items: at least {FEWEST_ITEMS}. More items do not remove the bias that correlated errors cause."
_REAL_NOTE = "Gold items: known labels of randomly drawn items. The predicted numbers are off by 1 to 5 points."
_NEVER = f"Never: no test of up to {_MAX_ITEMS:.0e} items is large enough.".replace("1e+", "10^")


@verb()
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
    """Compute how many items you need to know every accuracy to ± `width`, for panels of these sizes.

    Parameters
    ----------
    width
        Half the width of the intervals.
    jurors
        One size or several. A list of accuracies is repeated until there are enough jurors.
    labels, prevalence, accuracy
        The panel that you expect, as in `simulate`.
    missing
        The chance that a vote is missing.
    level, target
        As in `grade`.
    seed
        Seed of the random draws.

    Returns
    -------
    Plan

    Examples
    --------
    >>> row = plan(width=0.05, jurors=3, accuracy=["0.9", "0.8", "0.7"], prevalence="0.3").rows[0]
    >>> row.items, row.weakest
    (6275, ('1', 'A'))
    """
    sizes = [jurors] if isinstance(jurors, int) else list(dict.fromkeys(jurors))
    if not all(isinstance(size, (int, np.integer)) for size in sizes):
        raise OptionError(f"jurors must be one number of jurors or several, got {jurors!r}")
    if not sizes or min(sizes) < 3:
        raise SketchError(f"grading without an answer key needs at least 3 jurors, got {min(sizes, default=0)}")
    if not 0 < width < 0.5:
        raise OptionError(f"width must lie between 0 and 0.5, got {width}")
    Grading(level=level, target=target, seed=seed)  # which refuses what these cannot be
    missing_rate = float(parse_probability(missing, "missing"))
    if missing_rate == 1:
        raise SketchError("missing must be below 1: with every vote missing, there is nothing to grade")
    rows, curves = [], []
    for size in sizes:
        is_list = not isinstance(accuracy, (str, dict)) and hasattr(accuracy, "__len__")
        repeated = [accuracy[k % len(accuracy)] for k in range(size)] if is_list else accuracy
        jury = {"jurors": size, "labels": labels, "prevalence": prevalence, "accuracy": repeated}
        model = jury_model(**jury)
        if not min(model.prevalence) > 0:
            raise SketchError("every label needs a prevalence above 0")
        if len(model.labels) == 2 and sum(table[0][0] + table[1][1] - 1 for table in model.confusion) < 0:
            raise SketchError(
                f"{len(model.jurors)} jurors who are wrong more often than right look like their mirror image, and "
                "would be graded as that; plan for accuracies above 1/2 in the mean"
            )
        expected = ExpectedWidths(model, missing_rate, level, target, seed)
        items = _least_items(expected, 1, width)
        halves = expected.at(items or 10**6)[1]
        most = halves >= halves.max() * 0.999  # of equals, the first
        juror, label = np.unravel_index(int(np.argmax(most)), halves.shape)
        for_prevalence = _least_items(expected, 0, width)
        real, gold = gold_to_halve(simulate(DRAWN, **jury, missing=missing, seed=seed).votes, level)
        weakest = model.jurors[juror], model.labels[label]
        rows.append(PlanRow(len(model.jurors), items, for_prevalence, weakest, real, gold))
        curves.append((size, *_curve(expected, items)))
    return Plan(width, level, target, tuple(labels), tuple(rows), tuple(curves))


@dataclass(frozen=True)
class ExpectedWidths:
    """How wide the intervals of a jury will be on a test of so many items, from closed-form standard errors."""

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
        """(N, R, R): juror, true label, label given."""
        return np.array([[[float(x) for x in row] for row in table] for table in self.model.confusion])

    @cached_property
    def errors(self) -> tuple[Floats, Floats]:
        """The standard errors of one item, of prevalences and accuracies."""
        return item_errors(self.prevalence, self.confusion, missing=self.missing, seed=self.seed)

    def at(self, items: int) -> tuple[Floats, Floats]:
        """Compute the ± of the prevalences (R,) and of the accuracies (N, R).

        Returns
        -------
        (array, array)
        """
        if self.confusion.shape[:2] == (3, 2) and not self.missing:
            # The very intervals that `grade` gives, on the expected counts.
            table = np.einsum("l,la,lb,lc->abc", self.prevalence, *self.confusion) * items
            ends, _ = trio_interval_ends(table, evaluate_trios(table), target=self.target, level=self.level)
            (p_low, p_high), (low, high) = ends["prevalence"], ends["accuracy"]
            halves = np.nan_to_num((high - low) / 2, nan=np.inf)
            return np.full(2, np.nan_to_num((p_high - p_low) / 2, nan=np.inf)), halves
        accuracy = np.einsum("ill->il", self.confusion)
        about = np.broadcast_to(items * self.prevalence * (1 - self.missing), accuracy.shape)
        widths = []
        for estimate, error, size in (
            (self.prevalence, self.errors[0], np.full(len(self.prevalence), float(items))),
            (accuracy, self.errors[1], about),
        ):
            error = error / math.sqrt(items)
            if self.target == "test":
                error = np.sqrt(np.maximum(error**2 - estimate * (1 - estimate) / size, 0.0))
            low, high = interval_around(estimate, error, size, self.level)
            widths.append(np.where(np.isfinite(error), (high - low) / 2, np.inf))
        return widths[0], widths[1]


def _least_items(expected: ExpectedWidths, which: int, width: float) -> int | None:
    """Find the smallest test with half widths (0: of prevalences, 1: of accuracies) of at most `width`, if any."""

    def half_width(items: int) -> float:
        return float(expected.at(items)[which].max())

    high = FEWEST_ITEMS
    if half_width(high) <= width:
        return high
    while half_width(high) > width:
        high *= 2
        if high > _MAX_ITEMS:
            return None
    low = high // 2
    while high - low > max(1, high // 1000):
        middle = (low + high) // 2
        low, high = (low, middle) if half_width(middle) <= width else (middle, high)
    return high


def _curve(expected: ExpectedWidths, items: int | None) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Compute how the weakest accuracy's ± shrinks, from a thirtieth of the items needed to thirty times as many."""
    middle = math.log10(items or 10_000)
    tests = sorted({max(FEWEST_ITEMS, round(10**x)) for x in np.linspace(middle - 1.5, middle + 1.5, 31)})
    halves = [float(expected.at(q)[1].max()) for q in tests]
    finite = [(q, w) for q, w in zip(tests, halves, strict=True) if math.isfinite(w)]
    return tuple(q for q, _ in finite), tuple(w for _, w in finite)


def _count(items: int | None) -> str:
    return "never" if items is None else f"{items:,}"
