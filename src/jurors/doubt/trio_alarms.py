"""What the counts of a trio say about the trio: every named outcome, in plain words, with its level.

An irrational answer proves that the errors were correlated on this test, but on any real test it is irrational, so by
itself it is a note. Numbers outside [0, 1], complex roots and contradictory signs are alarms.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from jurors.doubt.trio_chance import UNEXPLAINED, chance_in_words, chance_of_contradiction
from jurors.doubt.voice_alarms import voice_alarms
from jurors.errors import DegenerateSketchError
from jurors.evaluate.alarm import Alarm, AlarmPair, ranked
from jurors.evaluate.catalogue import Level
from jurors.evaluate.solution import Solution
from jurors.evaluate.trio.encode import tuple_shares
from jurors.numbers.arrays import Floats
from jurors.sketch import Sketch
from jurors.sketch.moments import TrioMoments, table_moments

#: Outcomes without a solution that speak about the jurors (an alarm), not about the input (an error).
CONTRADICTIONS = frozenset({"purely_triple", "contradictory_pairs", "contradictory_trio", "zero_radicand"})
WEAK_PAIR = 3.0  #: standard errors from none below which a pair's covariance hardly fixes the grades
_NEAR_END = 1e-9


def contradiction_alarm(error: DegenerateSketchError, sketch: Sketch) -> Alarm | None:
    """The alarm of counts that no independent trio gives exactly; None where the counts merely fix no answer."""
    if error.outcome not in CONTRADICTIONS:
        return None
    return _contradiction(error.outcome, str(error), sketch, jurors=error.jurors)


def _contradiction(
    kind: str, what: str, sketch: Sketch, *, value: float | None = None, jurors: tuple[str, ...] = ()
) -> Alarm:
    """An alarm, or a warning where sampling error explains as much."""
    chance = float(chance_of_contradiction(sketch.table()))
    level: Level = "alarm" if chance <= UNEXPLAINED else "warning"
    return Alarm(kind, level, f"{what}: {chance_in_words(chance)}", value, jurors, chance=chance)


def trio_alarms(
    sketch: Sketch, solution: Solution, *, moments: TrioMoments | None = None, tied: bool = False
) -> tuple[Alarm, ...]:
    """Everything to know about the exact solution of a complete binary trio, loudest first."""
    z = (table_moments(sketch.table()) if moments is None else moments).pair_z
    empty = 8 - np.count_nonzero(sketch.table())
    few = voice_alarms(sketch) if empty else []  # where every tuple occurred, nobody is another's copy
    alarms = [*_number_alarms(sketch, solution), *few, *_weak_pair(sketch.jurors, z)]
    if tied:
        message = "both solutions satisfy the rule equally well; neither is preferred"
        alarms.append(Alarm("tie_between_solutions", "warning", message))
    if empty:
        message = f"{empty} of the 8 decision tuples never occurred: small or extreme tests do that"
        alarms.append(Alarm("zero_cell", "warning", message, float(empty)))
    return ranked(alarms)


def _number_alarms(sketch: Sketch, solution: Solution) -> list[Alarm]:
    if not solution.is_real:
        what = "the equations have only complex roots, so no real evaluation explains the counts"
        return [_contradiction("complex", what, sketch)]
    alarms = []
    outside = _outside(solution)
    if outside:
        distance, what = max(outside)
        what += " lies outside [0, 1]" + (f", and so do {len(outside) - 1} more" if len(outside) > 1 else "")
        alarms.append(_contradiction("out_of_range", what, sketch, value=distance))
    if not solution.is_rational:
        message = "the exact answer is irrational, which proves some error correlation, however small"
        alarms.append(Alarm("irrational", "note", message))
    elif not outside:
        alarms.append(_rational_note(sketch, solution))
    return alarms


def _outside(solution: Solution) -> list[tuple[float, str]]:
    """(how far outside [0, 1], which number), for prevalences and accuracies; decided exactly."""
    floats = solution.to_float()
    result = []
    for a, x, value in zip(solution.labels, solution.prevalences, floats.prevalences, strict=True):
        if _is_outside(x, value):
            result.append(_distance(f"the prevalence of {a}", value))
    for j, exact, rounded in zip(solution.jurors, solution.confusions, floats.confusions, strict=True):
        for k, a in enumerate(solution.labels):
            if _is_outside(exact[k][k], rounded[k][k]):
                result.append(_distance(f"the accuracy of {j} on {a}", rounded[k][k]))
    return result


def _is_outside(exact: Any, rounded: Any) -> bool:
    """Whether a number lies outside [0, 1]: its float says so, but for one so near an end that rounding may hide it."""
    if min(abs(rounded), abs(rounded - 1)) > _NEAR_END:
        return bool(rounded < 0 or rounded > 1)
    return bool(exact < 0 or exact > 1)


def _distance(name: str, value: Any) -> tuple[float, str]:
    return max(-value, value - 1), f"{name} ({value:.3f})"


def _rational_note(sketch: Sketch, solution: Solution) -> Alarm:
    """Rational: is it a whole number of items in every cell too, as on an exactly independent test?"""
    by_label = []
    for label in range(len(solution.labels)):
        only = Solution(
            solution.jurors,
            solution.labels,
            tuple(p if k == label else 0 for k, p in enumerate(solution.prevalences)),
            solution.confusions,
        )
        by_label += [sketch.items * Fraction(share) for share in tuple_shares(only)]
    if all(count.denominator == 1 and count >= 0 for count in by_label):
        return Alarm(
            "exactly_independent",
            "note",
            "the counts are exactly those of an independent trio: a rational answer, as expected, which proves nothing",
        )
    return Alarm(
        "rational_non_integral",
        "note",
        "the exact answer is rational, but splits items into fractions: the errors were not exactly independent",
    )


def _weak_pair(jurors: tuple[str, ...], z: Floats) -> list[Alarm]:
    """The decode divides by every pair's covariance: one that chance could explain leaves the grades open."""
    weakest = int(np.argmin(np.abs(z)))
    if abs(z[weakest]) >= WEAK_PAIR:
        return []
    pair = tuple(name for c, name in enumerate(jurors) if c != weakest)
    message = (
        f"{pair[0]!r} and {pair[1]!r} agree hardly more than chance (z = {z[weakest]:.2f}): the evidence is thin, "
        "read the intervals before the grades"
    )
    value = float(z[weakest])
    return [Alarm("weak_pair", "warning", message, value, pair, pairs=(AlarmPair(pair[0], pair[1], value),))]
