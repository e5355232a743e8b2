"""`compare`: every method side by side on the same votes, with an answer key or without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any, TypeAlias, Unpack

import numpy as np

from jurors.errors import SketchError, choice
from jurors.evaluate import Alarm, Evaluation, KeyedEvaluation, evaluate_with_key
from jurors.evaluate.alarms import ranked
from jurors.evaluate.card import REAL, percent
from jurors.jury.grade import METHODS, default_method, grade_counted
from jurors.jury.inputs import Counted, accept, count_gradable
from jurors.options import Grading, SourceOptions
from jurors.results import Block, Columns, Drawable, Table, columns_of
from jurors.sketch import Sketch
from jurors.uncertainty.key_check import key_alarms


@dataclass(frozen=True, eq=False)
class Comparison(Drawable):
    """Evaluations of one sketch by several methods; `refused` says why a method could not be used."""

    evaluations: tuple[Evaluation, ...]
    refused: dict[str, str]
    truth: KeyedEvaluation | None = None

    _is_bare = True

    def errors(self, evaluation: Evaluation) -> float | None:
        """The labelling errors of an evaluation, with a key; None where it labels nothing or there is no key."""
        if self.truth is None or evaluation.partition is None:
            return None
        if evaluation.method == "majority":
            return self.truth.majority_errors
        return self.truth.errors_of(evaluation.partition.chosen)

    def score_rmse(self, evaluation: Evaluation, *, calibrated: bool = False) -> float | None:
        """The root mean squared error of the jurors' scores, with a key: if independent, or as real juries go."""
        grades = evaluation.calibrated if calibrated else evaluation
        if self.truth is None or grades is None:
            return None
        pairs = [
            (float(grades.score[j]), float(true))
            for j, true in self.truth.score.items()
            if true is not None and grades.score.get(j) is not None
        ]
        return float(np.sqrt(np.mean([(a - b) ** 2 for a, b in pairs]))) if pairs else None

    def score_coverage(self, evaluation: Evaluation, *, calibrated: bool = False) -> float | None:
        """The share of true scores inside their intervals, with a key; None where there are none."""
        grades = evaluation.calibrated if calibrated else evaluation
        if self.truth is None or grades is None or grades.interval is None:
            return None
        ends = {j: (*grades.interval_of("score", j), true) for j, true in self.truth.score.items() if true is not None}
        known = [low <= float(true) <= high for low, high, true in ends.values() if low == low]
        return sum(known) / len(known) if known else None

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """The alarms of the first method."""
        return self.evaluations[0].alarms

    def _document(self) -> dict[str, Any]:
        """One entry per method, and the truth where there is a key."""
        methods = []
        for e in self.evaluations:
            own = {name: value for name, value in e._document().items() if name != "partition"}
            beside = {"labelling_errors": self.errors(e), "score_rmse": self.score_rmse(e)}
            real = {
                "calibrated_score_rmse": self.score_rmse(e, calibrated=True),
                "score_coverage": self.score_coverage(e),
                "calibrated_score_coverage": self.score_coverage(e, calibrated=True),
            }
            methods.append({**own, **beside, **real})
        return {"methods": methods, "refused": self.refused, "truth": self.truth}

    def _columns(self) -> Columns:
        return columns_of(*self.rows())

    def rows(self) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """One row per statistic, one column per method (and the truth): as real juries go, then if independent."""
        shown = [e for e in self.evaluations if e.solution is not None or e.calibrated is not None]
        heads = ("statistic", *(e.method for e in shown), *(["truth"] if self.truth else []))
        first = self.evaluations[0]
        statistics: list[_Statistic] = [("score", (j,), f"score of {j}{_REAL}") for j in first.jurors]
        statistics += [("prevalence", (a,), f"prevalence of {a}{_REAL}") for a in first.labels]
        rows = [self._row(name, keys, head, [e.calibrated for e in shown]) for name, keys, head in statistics]
        return heads, [*rows, *self._independent_rows(shown), *self._key_rows(shown)]

    def _independent_rows(self, shown: Sequence[Evaluation]) -> list[tuple[Any, ...]]:
        labels, jurors = self.evaluations[0].labels, self.evaluations[0].jurors
        statistics: list[_Statistic] = [("prevalence", (a,), f"prevalence of {a}") for a in labels]
        statistics += [("accuracy", (j, a), f"accuracy of {j} on {a}") for j in jurors for a in labels]
        statistics += [("score", (j,), f"score of {j}") for j in jurors]
        return [self._row(name, keys, head, shown) for name, keys, head in statistics]

    def _row(self, statistic: str, names: tuple[Any, ...], head: str, grades: Sequence[Any]) -> tuple[Any, ...]:
        """A statistic by every method, and its true value where there is a key."""
        truth = [self.truth.solution.to_float()] if self.truth else []
        return head, *(_value(by, statistic, names) for by in (*grades, *truth))

    def _key_rows(self, shown: Sequence[Evaluation]) -> list[tuple[Any, ...]]:
        if self.truth is None:
            return []
        wrong = [_share(self.errors(e), self.truth.items) for e in shown]
        expected = [None if e.calibrated is None else e.calibrated.wrong_labels for e in shown]
        held = f"scores inside their {shown[0].level * 100:g}% intervals"
        return [
            (f"labels expected to be wrong{_REAL}", *expected, None),
            ("labels wrong", *wrong, self.truth.best_errors / self.truth.items),
            (f"error of scores{_REAL}", *(self.score_rmse(e, calibrated=True) for e in shown), None),
            ("error of scores", *map(self.score_rmse, shown), None),
            (f"{held}{_REAL}", *(self.score_coverage(e, calibrated=True) for e in shown), None),
            (held, *map(self.score_coverage, shown), None),
        ]

    def table(self) -> Table:
        """The rows in percent, to read."""
        return self._table(*self.rows())

    def _table(self, heads: tuple[str, ...], rows: list[tuple[Any, ...]], title: str = "") -> Table:
        shown = tuple((name, *map(percent, values)) for name, *values in rows)
        return Table(heads, shown, title=title, right=tuple(range(1, len(heads))))

    def _blocks(self) -> list[Block]:
        """Two tables, so that each row's name stays short."""
        heads, rows = self.rows()
        real = [(name.removesuffix(_REAL), *values) for name, *values in rows if name.endswith(_REAL)]
        plain = [row for row in rows if not row[0].endswith(_REAL)]
        about = '"labels wrong" in the truth column: the fewest that any rule on these tuples can have.'
        refused = [f"{name}: not available, {why}" for name, why in self.refused.items()]
        tables = [self._table(heads, real, REAL), self._table(heads, plain, "if errors were independent")]
        return [*tables, *([about] if self.truth else []), *refused]


_MOST_TRIOED = 40  # jurors: above, the algebra of all their trios takes many seconds, then minutes
_Statistic: TypeAlias = tuple[str, tuple[Any, ...], str]  #: what, whose, and what it is called
_REAL = f", {REAL}"  #: how the name of a calibrated statistic ends


def compare(
    source: Any,
    key: Any = None,
    *,
    methods: Sequence[str] | None = None,
    seed: int = 0,
    **reading: Unpack[SourceOptions],
) -> Comparison:
    """Grade the same jurors by every method, or by these; with a key, beside the truth.

    Examples
    --------
    >>> from jurors import Sketch
    >>> sketch = Sketch.from_counts({"AAA": 568, "AAB": 553, "ABA": 649, "BAA": 1813,
    ...                              "BBA": 3534, "BAB": 3607, "ABB": 1068, "BBB": 8208}, jurors="ijk")
    >>> [e.method for e in compare(sketch, methods=["algebraic", "majority"]).evaluations]
    ['algebraic', 'majority']
    """
    counted, truth = count_gradable(accept(source, by_item=key is not None, **reading)), None
    if key is not None:
        counted, codes = counted.align(key)
        truth = evaluate_with_key(counted.sketch, counted.by_tuple(codes))
    comparison = compare_counted(counted, methods, seed=seed, intervals=key is not None)
    checked = [replace(e, alarms=ranked([*e.alarms, *key_alarms(e, truth)])) for e in comparison.evaluations]
    return replace(comparison, evaluations=tuple(checked), truth=truth)


def compare_counted(
    counted: Counted, methods: Sequence[str] | None = None, *, seed: int = 0, intervals: bool = False
) -> Comparison:
    """The same for votes that are counted already, without a key."""
    for name in methods or ():
        choice(name, list(METHODS), "method")
    evaluations: list[Evaluation] = []
    refused = left_out(counted.sketch) if methods is None else {}
    for name in usual_methods(counted.sketch) if methods is None else methods:
        try:
            asked = Grading.of({"method": name, "seed": seed})
            evaluations.append(grade_counted(counted, None, asked, intervals=intervals))
        except SketchError as error:
            refused[name] = str(error)
    if not evaluations:
        raise SketchError(next(iter(refused.values())))
    return Comparison(tuple(evaluations), refused)


def usual_methods(sketch: Sketch) -> list[str]:
    """Every method that is run unasked, the default one first."""
    first = default_method(sketch)
    return [first, *(name for name in METHODS if name != first and name not in left_out(sketch))]


def left_out(sketch: Sketch) -> dict[str, str]:
    """Methods that would take minutes, and why: they are run where they are named."""
    many = len(sketch.jurors)
    if many <= _MOST_TRIOED or len(sketch.labels) != 2:
        return {}
    return {"algebraic": f"it would solve all {comb(many, 3):,} trios of {many} jurors: ask for it by its name"}


def _value(grades: Any, statistic: str, names: tuple[Any, ...]) -> Any:
    """One number of an evaluation, of calibrated grades or of a solution; None where there is none."""
    value = getattr(grades, statistic, None)
    for name in names:
        value = value[name] if value else None
    return value


def _share(errors: float | None, items: int) -> float | None:
    return None if errors is None else errors / items
