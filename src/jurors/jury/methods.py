"""Every way to grade, behind one interface: a sketch and a request come in, an `Evaluation` goes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.decide import majority_partition, partition_by_label
from jurors.doubt import contradiction_alarm, trio_alarms, trio_intervals
from jurors.doubt.intervals import Target
from jurors.errors import DegenerateSketchError, SketchError
from jurors.evaluate import Alarm, Choice, Evaluation, Named, choose_solution, evaluate_majority, evaluate_trio
from jurors.sketch import Sketch


@dataclass(frozen=True)
class Request:
    """What the user asked for beyond the method."""

    choice: Choice = field(default_factory=Choice)
    target: Target = "test"
    level: float = 0.95
    seed: int = 0
    gold: NDArray[np.int64] | None = None  #: tuples x labels, how many gold items


def grade_algebraic(sketch: Sketch, request: Request) -> Evaluation:
    """Three jurors, two labels: the theorem, exactly, on the items that all three answered."""
    whole = sketch.complete()
    found: list[Alarm] = []
    if whole.items < sketch.items:
        left_out = sketch.items - whole.items
        message = f"{left_out:,} of {sketch.items:,} items lack a vote; the grades come from the {whole.items:,} others"
        found.append(Alarm("missing_votes", "note", message, float(left_out)))
    majority = evaluate_majority(sketch)
    empty = Evaluation(
        items=whole.items, jurors=sketch.jurors, labels=sketch.labels, method="algebraic", solution=None,
        majority=majority, target=request.target, level=request.level,
    )  # fmt: skip
    try:
        solutions = evaluate_trio(whole)
    except DegenerateSketchError as error:
        alarm = contradiction_alarm(error)
        if alarm is None:
            raise
        return replace(empty, alarms=(alarm, *found), rule="none: there is no solution")
    chosen, rule, tied = choose_solution(sketch, solutions, request.choice)
    exact = solutions[chosen]
    found += trio_alarms(whole, exact, tied=tied)
    ordered = (exact, solutions[1 - chosen])
    result = replace(empty, solutions=ordered, exact=exact, rule=rule, alarms=tuple(found))
    if not exact.is_real:
        return result
    ends = trio_intervals(whole.table(), mirrored=chosen == 1, target=request.target, level=request.level)
    return replace(
        result,
        solution=exact.to_float(),
        interval=named_statistics(sketch, ends),
        standard_error=named_statistics(sketch, ends["errors"]),
        partition=partition_by_label(sketch, exact),
    )


def grade_majority(sketch: Sketch, request: Request) -> Evaluation:
    """Majority vote as an evaluation; exact, but it cannot doubt itself."""
    exact = evaluate_majority(sketch)
    return Evaluation(
        items=sketch.items, jurors=sketch.jurors, labels=sketch.labels, method="majority",
        solution=exact.to_float(), exact=exact, solutions=(exact,), rule="the majority is right",
        majority=exact, partition=majority_partition(sketch), target=request.target, level=request.level,
    )  # fmt: skip


def named_statistics(sketch: Sketch, arrays: dict[str, Any]) -> Named:
    """Arrays `prevalence` (R), `accuracy` (N, R) and `score` (N), perhaps with (low, high) last, by name."""

    def plain(value: Any) -> Any:
        return tuple(value.tolist()) if np.ndim(value) else float(value)

    labels, jurors = sketch.labels, sketch.jurors
    return Named(
        prevalence=Named((a, plain(x)) for a, x in zip(labels, arrays["prevalence"], strict=True)),
        accuracy=Named(
            (j, Named((a, plain(x)) for a, x in zip(labels, row, strict=True)))
            for j, row in zip(jurors, arrays["accuracy"], strict=True)
        ),
        score=Named((j, plain(x)) for j, x in zip(jurors, arrays["score"], strict=True)),
    )


#: Every method by name.
METHODS: dict[str, Callable[[Sketch, Request], Evaluation]] = {
    "algebraic": grade_algebraic,
    "majority": grade_majority,
}


def default_method(sketch: Sketch) -> str:
    """The theorem where it applies."""
    if len(sketch.labels) > 2:
        shown = ", ".join(map(str, sketch.labels[:8])) + (" …" if len(sketch.labels) > 8 else "")
        raise SketchError(
            f"found {len(sketch.labels)} labels ({shown}), but only two can be graded so far; "
            "if some cells are not votes, name them with --missing"
        )
    return "algebraic"
