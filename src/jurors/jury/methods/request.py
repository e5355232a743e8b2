"""What the user asks for, and how a fit becomes an evaluation: shared by every way to grade."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.errors import SketchError
from jurors.evaluate import Choice, Evaluation, Fit, Named, Solution, choose_solution
from jurors.evaluate.alarm import ranked
from jurors.evaluate.partition import partition_by_label
from jurors.options import Target
from jurors.sketch import Sketch


@dataclass(frozen=True)
class Request:
    """What the user asked for beyond the method."""

    choice: Choice = field(default_factory=Choice)
    target: Target = "test"
    level: float = 0.95
    seed: int = 0
    gold: NDArray[np.int64] | None = None  #: tuples x labels, how many gold items
    intervals: bool = True  #: whether anybody will look at them


def oriented(name: str, sketch: Sketch, fit: Fit, request: Request, **about: Any) -> Evaluation:
    """The fit as an evaluation; where the user knows something that contradicts it, its mirror image.

    More that is to know `about` it are fields of an Evaluation.
    """
    rule = FIT_RULE
    solutions: tuple[Solution, ...] = (fit.solution,)
    knows = request.choice.trust is not None or request.choice.common is not None
    if knows and len(sketch.labels) == 2:
        mirror = _mirror(fit)
        chosen, rule, _ = choose_solution(sketch, (fit.solution, mirror.solution), request.choice)
        solutions = (fit.solution, mirror.solution) if chosen == 0 else (mirror.solution, fit.solution)
        fit = (fit, mirror)[chosen]
        rule = rule if chosen else FIT_RULE
    elif knows:
        raise SketchError("a trusted juror or a common label settles panels of two labels only; give gold items")
    return Evaluation(
        items=sketch.items, jurors=sketch.jurors, labels=sketch.labels, method=name, solution=fit.solution,
        solutions=solutions, rule=rule,
        partition=None if fit.posterior is None else partition_by_label(sketch, fit.solution, fit.posterior),
        alarms=ranked(fit.alarms), target=request.target, level=request.level,
        iterations=fit.iterations, converged=fit.converged, model=fit.model, measured=fit.details,
        **{"notes": fit.notes, **about},
    )  # fmt: skip


def _mirror(fit: Fit) -> Fit:
    """Two labels trade places: what was A is B for everybody."""
    s = fit.solution
    scores = None if s.scores is None else tuple(None if x is None else 1 - x for x in s.scores)
    mirrored = Solution(s.jurors, s.labels, s.prevalences[::-1], tuple(t[::-1] for t in s.confusions), scores)
    return replace(fit, solution=mirrored, posterior=None if fit.posterior is None else fit.posterior[:, ::-1])


FIT_RULE = "the fit started from the jurors' votes"


STATISTICS = ("prevalence", "accuracy", "score")


def named_statistics(sketch: Sketch, arrays: Mapping[str, Any]) -> Named:
    """Arrays `prevalence` (R), `accuracy` (N, R) and `score` (N), perhaps with (low, high) last, by name."""
    has_ends = np.ndim(arrays["score"]) == 2
    return Named((name, named_statistic(sketch, name, arrays[name], has_ends)) for name in STATISTICS)


def named_statistic(sketch: Sketch, name: str, values: Any, has_ends: bool = False) -> Named:
    """One of them."""
    rows: Any = np.asarray(values).tolist()
    if name != "accuracy":
        names = sketch.labels if name == "prevalence" else sketch.jurors
        return Named(zip(names, map(tuple, rows) if has_ends else rows, strict=True))
    if has_ends:
        rows = (map(tuple, row) for row in rows)
    labels = sketch.labels
    return Named((j, Named(zip(labels, row, strict=True))) for j, row in zip(sketch.jurors, rows, strict=True))
