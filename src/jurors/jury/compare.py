"""`compare`: every method side by side on the same votes, with an answer key or without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from jurors.doubt.key_check import key_alarms
from jurors.errors import SketchError
from jurors.evaluate import Alarm, Evaluation, KeyedEvaluation, evaluate_with_key
from jurors.evaluate.alarm import ranked
from jurors.evaluate.card import percent
from jurors.jury.accept import accept
from jurors.jury.counted import Counted, count_gradable
from jurors.jury.grade import grade_counted
from jurors.jury.methods.methods import METHODS, default_method
from jurors.names import choice
from jurors.options import Grading, SourceOptions
from jurors.tables import Block, Columns, Drawable, Table, columns_of


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

    def score_rmse(self, evaluation: Evaluation) -> float | None:
        """The root mean squared error of the jurors' scores, with a key."""
        if self.truth is None or evaluation.solution is None:
            return None
        pairs = [
            (float(evaluation.score[j]), float(true))
            for j, true in self.truth.score.items()
            if true is not None and evaluation.score[j] is not None
        ]
        return float(np.sqrt(np.mean([(a - b) ** 2 for a, b in pairs]))) if pairs else None

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """The alarms of the first method."""
        return self.evaluations[0].alarms

    def _document(self) -> dict[str, Any]:
        """One entry per method, and the truth where there is a key."""
        methods = []
        for e in self.evaluations:
            own = {name: value for name, value in e._document().items() if name != "partition"}
            methods.append({**own, "labelling_errors": self.errors(e), "score_rmse": self.score_rmse(e)})
        return {"methods": methods, "refused": self.refused, "truth": self.truth}

    def _columns(self) -> Columns:
        return columns_of(*self.rows())

    def rows(self) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """One row a statistic, one column a method (and the truth)."""
        shown = [e for e in self.evaluations if e.solution is not None]
        heads = ("statistic", *(e.method for e in shown), *(["truth"] if self.truth else []))
        rows: list[tuple[Any, ...]] = []
        first = self.evaluations[0]
        truth = self.truth.solution.to_float() if self.truth else None

        def add(name: str, values: list[Any], true: Any = None) -> None:
            rows.append((name, *values, *([true] if self.truth else [])))

        for a in first.labels:
            add(f"prevalence of {a}", [e.prevalence[a] for e in shown], truth and truth.prevalence[a])
        for j in first.jurors:
            for a in first.labels:
                add(f"accuracy of {j} on {a}", [e.accuracy[j][a] for e in shown], truth and truth.accuracy[j][a])
        for j in first.jurors:
            add(f"score of {j}", [e.score[j] for e in shown], truth and truth.score[j])
        if self.truth:
            add("labels wrong", [_share(self.errors(e), self.truth.items) for e in shown],
                self.truth.best_errors / self.truth.items)  # fmt: skip
            add("error of scores", [self.score_rmse(e) for e in shown])
        return heads, rows

    def table(self) -> Table:
        """The rows in percent, to read."""
        heads, rows = self.rows()
        shown = tuple((name, *map(percent, values)) for name, *values in rows)
        return Table(heads, shown, right=tuple(range(1, len(heads))))

    def _blocks(self) -> list[Block]:
        about = '"labels wrong" in the truth column: the fewest that any rule on these tuples can have.'
        refused = [f"{name}: not available, {why}" for name, why in self.refused.items()]
        return [self.table(), *([about] if self.truth else []), *refused]


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
    found = compare_counted(counted, methods, seed=seed)
    checked = [replace(e, alarms=ranked([*e.alarms, *key_alarms(e, truth)])) for e in found.evaluations]
    return replace(found, evaluations=tuple(checked), truth=truth)


def compare_counted(counted: Counted, methods: Sequence[str] | None = None, *, seed: int = 0) -> Comparison:
    """The same for votes that are counted already, without a key."""
    for name in methods or ():
        choice(name, list(METHODS), "method")
    first = default_method(counted.sketch)
    evaluations, refused = [], {}
    for name in [first, *(m for m in METHODS if m != first)] if methods is None else methods:
        try:
            asked = Grading.of({"method": name, "seed": seed})
            evaluations.append(grade_counted(counted, None, asked, intervals=False))
        except SketchError as error:
            refused[name] = str(error)
    if not evaluations:
        raise SketchError(next(iter(refused.values())))
    return Comparison(tuple(evaluations), refused)


def _share(errors: float | None, items: int) -> float | None:
    return None if errors is None else errors / items
