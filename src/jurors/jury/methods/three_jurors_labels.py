"""Three jurors, three labels or more: the exact theorem where the counts obey it, what it says where they do not."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from jurors.doubt import goodness_alarms, interval_around, outcome_alarms, panel_intervals
from jurors.doubt.multilabel_alarms import tested
from jurors.errors import SketchError
from jurors.evaluate import Alarm, Choice, Solution, evaluate_panel
from jurors.evaluate.trio.multilabel import MOST_LABELS, MultilabelDecode, evaluate_trio_labels
from jurors.options import Target
from jurors.sketch import Sketch

_MOST_LISTED = 24  # relabelings shown as solutions: all of them up to four labels


@dataclass(frozen=True)
class ExactTrio:
    """An exact evaluation of three jurors with any number of labels, and every relabeling of it."""

    solution: Solution
    solutions: tuple[Solution, ...]
    decode: MultilabelDecode
    alarms: tuple[Alarm, ...]


def is_exact(sketch: Sketch) -> bool:
    """Whether three jurors' counts obey the theorem for three labels or more: almost only made-up counts do."""
    if not _has_theorem(sketch):
        return False
    solution = evaluate_trio_labels(sketch.complete()).solution
    return solution is not None and solution.is_real


def _has_theorem(sketch: Sketch) -> bool:
    """Whether the theorem for three labels or more can be tried at all."""
    return len(sketch.jurors) == 3 and 3 <= len(sketch.labels) <= MOST_LABELS and bool(sketch.complete().items)


def untried(sketch: Sketch) -> tuple[str, ...]:
    """That a trio has too many labels for the theorem, as a note: silence about them would say that all is well."""
    if len(sketch.jurors) != 3 or len(sketch.labels) <= MOST_LABELS:
        return ()
    how_many = f"{len(sketch.labels):,} labels, where at most {MOST_LABELS} can be tested"
    return (f"Whether independent jurors would give these counts was not tested: {how_many}.",)


def exact_trio(sketch: Sketch, choice: Choice) -> ExactTrio:
    """The exact evaluation; SketchError says why there is none."""
    decode = evaluate_trio_labels(sketch.complete(), choice, among=sketch)
    if decode.solution is None or not decode.solution.is_real:
        raise SketchError(f"{decode.outcomes[0].message}; the default method estimates the grades all the same")
    orders = list(permutations(range(len(sketch.labels)))) if decode.relabelings <= _MOST_LISTED else [()]
    others = tuple(decode.relabelled(order) for order in orders[1:])
    return ExactTrio(decode.solution, (decode.solution, *others), decode, tuple(outcome_alarms(decode)))


def estimate_alarms(sketch: Sketch) -> list[Alarm]:
    """What the exact theorem and the goodness of fit say of three jurors who were graded by estimation."""
    if not _has_theorem(sketch):
        return []
    whole = sketch.complete()
    fit = tested(whole)
    return [*outcome_alarms(evaluate_trio_labels(whole), fit), *goodness_alarms(whole, fit)]


def exact_intervals(
    sketch: Sketch, solution: Solution, target: Target, level: float, seed: int
) -> dict[str, Any] | None:
    """Intervals around the exact numbers, as wide as resampling the panel model makes them."""
    of_panel = panel_intervals(evaluate_panel(sketch, seed=seed), target=target, level=level, seed=seed)
    if of_panel is None:
        return None
    floats, errors = solution.to_float(), of_panel["errors"]
    prevalence = np.array(floats.prevalences, dtype=float)
    accuracy = np.array([[table[k][k] for k in range(len(table))] for table in floats.confusions], dtype=float)
    score = np.array(list(floats.score.values()), dtype=float)
    items = np.full(len(score), float(sketch.items))
    ends = {
        "prevalence": interval_around(prevalence, errors["prevalence"], np.full(len(prevalence), items[0]), level),
        "accuracy": interval_around(accuracy, errors["accuracy"], items[0] * prevalence, level),
        "score": interval_around(score, errors["score"], items, level),
    }
    return {**{name: np.stack(pair, axis=-1) for name, pair in ends.items()}, "errors": errors}
