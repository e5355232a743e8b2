"""The numbers of a result as rows for a chart: floats, None where there is none, nothing rounded, nothing clamped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from jurors.errors import SketchError
from jurors.evaluate import Evaluation, KeyedEvaluation, Solution
from jurors.evaluate.calibrated import Calibrated
from jurors.evaluate.card import percent_range
from jurors.names import positions
from jurors.numbers.arrays import Floats
from jurors.votes import Label

Ends: TypeAlias = tuple[float, float]

_NO_ENDS: Ends = (float("nan"), float("nan"))


@dataclass(frozen=True)
class Grades:
    """What an evaluation, with or without a key, says about each juror: plain floats, NaN where there is nothing."""

    jurors: tuple[str, ...]
    labels: tuple[Label, ...]
    prevalence: Floats  #: (R,)
    accuracy: Floats  #: (N, R)
    score: Floats  #: (N,)
    evaluation: Evaluation | Calibrated | None  #: where intervals come from
    plain: Grades | None = None  #: the same if errors were independent, where these are as real juries go

    def ends(self, statistic: str, *names: Any) -> Ends:
        """An interval, (NaN, NaN) where there is none."""
        return _NO_ENDS if self.evaluation is None else self.evaluation.interval_of(statistic, *names)


def grades_of(result: Evaluation | KeyedEvaluation) -> Grades:
    """The chosen solution in floats; SketchError where no real one exists."""
    if isinstance(result, Evaluation) and result.solution is None:
        raise SketchError(f"no real evaluation explains these counts, so there are no grades to draw{_why(result)}")
    solution: Any = result.solution
    evaluation = result if isinstance(result, Evaluation) else None
    return _grades(solution, evaluation)


def leading_grades(result: Evaluation | KeyedEvaluation) -> Grades:
    """The grades as real juries go, with those of independence beside them; these alone where that is all there is."""
    real = result.as_real if isinstance(result, Evaluation) else None
    if real is None or not isinstance(result, Evaluation):
        return grades_of(result)
    return Grades(
        result.jurors,
        result.labels,
        as_floats([real.prevalence[a] for a in result.labels]),
        as_floats([[real.accuracy[j][a] for a in result.labels] for j in result.jurors]),
        as_floats([real.score[j] for j in result.jurors]),
        real,
        None if result.solution is None else grades_of(result),
    )


def _grades(solution: Solution, evaluation: Evaluation | None) -> Grades:
    floats = solution.to_float()
    tables = [[table[k][k] for k in range(len(solution.labels))] for table in floats.confusions]
    scores = [floats.score[j] for j in solution.jurors]
    return Grades(
        solution.jurors,
        solution.labels,
        as_floats(floats.prevalences),
        as_floats(tables).reshape(len(solution.jurors), len(solution.labels)),
        as_floats(scores),
        evaluation,
    )


def matched(truth: Grades, grades: Grades) -> Grades:
    """The truth with the labels of the grades, in their order; a key may know more labels, or fewer."""
    place = [truth.labels.index(a) if a in truth.labels else -1 for a in grades.labels]
    padded = np.concatenate([truth.accuracy, np.full((len(truth.jurors), 1), np.nan)], axis=1)
    prevalence = np.append(truth.prevalence, 0.0)  # a label the key does not know never occurs in it
    return Grades(truth.jurors, grades.labels, prevalence[place], padded[:, place], truth.score, None)


def as_floats(values: Any) -> Floats:
    """None becomes NaN."""
    return np.array(values, dtype=float)


def _why(result: Evaluation) -> str:
    loud = next((a for a in result.alarms if a.level == "alarm"), None)
    return f" ({loud.kind})" if loud else ""


def number(value: Any) -> float | None:
    """A float for JSON; None where there is none."""
    return None if value is None or value != value else float(value)


def ends_row(name: str, ends: Ends) -> dict[str, Any]:
    """An interval's ends and its text."""
    return {f"{name}_low": number(ends[0]), f"{name}_high": number(ends[1]), f"{name}_interval": range_text(ends)}


def range_text(ends: Ends) -> str:
    """An interval as the report card prints it."""
    return f"{percent_range(ends)}%" if ends[0] == ends[0] else "none"


def selected(all_jurors: Sequence[str], jurors: Sequence[str] | None, most: int) -> list[int]:
    """Positions of the jurors asked for, or of the first ones."""
    if jurors is None:
        return list(range(min(len(all_jurors), most)))
    return [int(k) for k in positions(tuple(all_jurors), list(jurors), "juror")]
