"""Three jurors: the theorem, with everything to know beside it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from jurors.doubt import contradiction_alarm, trio_alarms, trio_intervals
from jurors.doubt.bounds.severity import smallest_correlation
from jurors.doubt.trio_alarms import CONTRADICTIONS, WEAK_PAIR
from jurors.doubt.voice_alarms import voice_alarms
from jurors.errors import DegenerateSketchError
from jurors.evaluate import Alarm, Evaluation, choose_solution, evaluate_trio
from jurors.evaluate.alarm import ranked
from jurors.evaluate.beside import WeakestPair
from jurors.evaluate.partition import majority_partition, partition_by_label
from jurors.evaluate.trio.trios import DecodedTrios, evaluate_trios
from jurors.jury.methods.request import Request, named_statistics
from jurors.jury.methods.three_jurors_labels import exact_intervals, exact_trio
from jurors.sketch import Sketch


def grade_trio(sketch: Sketch, request: Request) -> Evaluation:
    """The theorem on the items that all three answered."""
    whole = sketch.complete()
    alarms: list[Alarm] = []
    if whole.items < sketch.items:
        left_out = sketch.items - whole.items
        message = f"{left_out:,} of {sketch.items:,} items lack a vote; the grades come from the {whole.items:,} others"
        many = 4 * left_out > sketch.items
        message += "; the method 'latent' uses all of them" if many else ""
        alarms.append(Alarm("missing_votes", "warning" if many else "note", message, float(left_out)))
    result = partial(
        Evaluation, items=whole.items, jurors=sketch.jurors, labels=sketch.labels, method="algebraic",
        target=request.target, level=request.level,
    )  # fmt: skip
    try:
        solutions = evaluate_trio(whole)
    except DegenerateSketchError as error:
        alarm = contradiction_alarm(error, whole)
        if alarm is None:
            raise
        beside = _beside(whole, evaluate_trios(whole.table()))
        severe = _with_severity([alarm, *alarms], beside["smallest_correlation"])
        return result(solution=None, alarms=severe, rule="none: there is no solution", **beside)
    chosen, rule, tied = choose_solution(sketch, solutions, request.choice)
    exact = solutions[chosen]
    table = whole.table()
    decoded = evaluate_trios(table)
    alarms += trio_alarms(whole, exact, moments=decoded.moments, tied=tied)
    beside = _beside(whole, decoded)
    result = partial(
        result, solutions=(exact, solutions[1 - chosen]), exact=exact, rule=rule,
        alarms=_with_severity(alarms, beside["smallest_correlation"]), **beside,
    )  # fmt: skip
    if not exact.is_real:
        return result(solution=None)
    floats = exact.to_float()
    if any(alarm.kind == "too_few_voices" for alarm in alarms):
        return result(solution=floats, partition=majority_partition(sketch))
    ends = trio_intervals(table, decoded, mirrored=chosen == 1, target=request.target, level=request.level)
    return result(
        solution=floats,
        interval=named_statistics(sketch, ends),
        standard_error=named_statistics(sketch, ends["errors"]),
        partition=partition_by_label(sketch, floats),
    )


def grade_trio_labels(sketch: Sketch, request: Request) -> Evaluation:
    """The theorem for more than two labels, on the items that all three answered."""
    trio = exact_trio(sketch, request.choice)
    floats = trio.solution.to_float()
    few = voice_alarms(sketch.complete())
    ends = (
        exact_intervals(sketch, trio.solution, request.target, request.level, request.seed)
        if request.intervals and not few
        else None
    )
    return Evaluation(
        items=sketch.complete().items, jurors=sketch.jurors, labels=sketch.labels, method="algebraic",
        solution=floats, exact=trio.solution, solutions=trio.solutions, rule=trio.decode.rule or "",
        partition=majority_partition(sketch) if few else partition_by_label(sketch, floats),
        alarms=ranked([*few, *trio.alarms]), target=request.target, level=request.level,
        interval=None if ends is None else named_statistics(sketch, ends),
        standard_error=None if ends is None else named_statistics(sketch, ends["errors"]),
        measured={"relabelings": trio.decode.relabelings, "gap": trio.decode.gap},
    )  # fmt: skip


def _with_severity(alarms: list[Alarm], least: float) -> tuple[Alarm, ...]:
    """Contradictions without a number of their own get ε*: how correlated the errors must be, at the least."""
    kinds = {"complex", *CONTRADICTIONS}
    return tuple(replace(a, value=least) if a.kind in kinds and a.value is None else a for a in alarms)


def _beside(sketch: Sketch, decoded: DecodedTrios) -> dict[str, Any]:
    """The two numbers to read beside a trio's grades: its weakest pair, and the least correlation that explains it."""
    z = decoded.moments.pair_z
    weakest = int(np.argmin(np.abs(z)))
    first, second = (name for c, name in enumerate(sketch.jurors) if c != weakest)
    least = smallest_correlation(sketch, decoded=decoded)
    notes = (
        f"Weakest pair: {first} and {second}, z = {z[weakest]:.2f} "
        f"(below {WEAK_PAIR:g} the counts hardly fix the grades).",
        f"Smallest error correlation that explains the counts: {least:.2g}.",
    )
    pair = WeakestPair((first, second), float(z[weakest]))
    return {"weakest_pair": pair, "smallest_correlation": least, "notes": notes}
