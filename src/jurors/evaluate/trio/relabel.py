"""Which hidden label is which: the counts fix the components only up to R! relabelings, so a rule must name them.

By default the relabeling of greatest total label accuracy. The runner-up says how clear the choice is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jurors.evaluate.choose import DEFAULT_RULE, Choice
from jurors.evaluate.partition import tuple_posterior
from jurors.evaluate.solution import Solution
from jurors.evaluate.trio.assignment import best_assignment, second_assignment, total_gain
from jurors.names import nearest
from jurors.numbers import Algebraic, Surd, exact_sum
from jurors.sketch import Sketch

Number = Surd | Algebraic
_BITS = 64


@dataclass(frozen=True)
class Candidate:
    """One component to be given a label; copies of one component share a group."""

    group: int
    prevalence: Number
    rows: tuple[tuple[Any, ...], ...]  #: by juror, exact numbers of one field: what it says on this component's items


@dataclass(frozen=True)
class Relabeling:
    """The label of each candidate, the rule in words, and how far the runner-up is behind in the rule's own units."""

    places: tuple[int, ...]
    rule: str
    gap: float | None  #: None where there is no runner-up, or no order (complex numbers)
    is_tied: bool


def choose_relabeling(sketch: Sketch, candidates: Sequence[Candidate], choice: Choice, *, real: bool) -> Relabeling:
    """The relabeling that the rule prefers; a rule that leaves a tie passes it on to total label accuracy."""
    totals = [[x + y + z for x, y, z in zip(*c.rows, strict=True)] for c in candidates]  # of one field
    groups = [c.group for c in candidates]
    if not real:
        best, _, _ = _settled(None, totals, groups, exact=False)
        return Relabeling(best, "none: the solutions are complex", None, False)
    primary, rule = _rule(sketch, candidates, choice)
    best, gap, tied = _settled(primary, totals, groups, exact=True)
    return Relabeling(best, rule, gap, tied)


def _rule(sketch: Sketch, candidates: Sequence[Candidate], choice: Choice) -> tuple[list[list[Number]] | None, str]:
    """The gain of giving each candidate each label; None for total label accuracy itself."""
    labels = range(len(sketch.labels))
    if choice.trust is not None:
        juror = nearest(choice.trust, sketch.jurors, "juror")
        place = sketch.jurors.index(juror)
        rule = f"juror {juror!r} is trusted: greatest total label accuracy of that juror"
        return [list(c.rows[place]) for c in candidates], rule
    if choice.common is not None:
        label = nearest(choice.common, sketch.labels, "label")
        place = sketch.labels.index(label)
        gains = [[c.prevalence if k == place else Surd(0) for k in labels] for c in candidates]
        return gains, f"label {label} is known to be the most common one; the others by total label accuracy"
    if choice.gold is not None:
        chosen = tuple_posterior(sketch, _provisional(sketch, candidates)).argmax(axis=1)
        counted = np.zeros((len(sketch.labels),) * 2, dtype=np.int64)
        np.add.at(counted, chosen, choice.gold)
        gains = [[Surd(int(n)) for n in row] for row in counted[: len(candidates)]]
        return gains, f"most of the {int(choice.gold.sum())} gold items labelled right; ties by total label accuracy"
    return None, DEFAULT_RULE


def _provisional(sketch: Sketch, candidates: Sequence[Candidate]) -> Solution:
    """The candidates in the order they came, named by the first labels there are."""
    absent = len(sketch.labels) - len(candidates)
    nothing = ((None,) * len(sketch.labels),) * absent
    confusions = tuple((*(c.rows[j] for c in candidates), *nothing) for j in range(len(sketch.jurors)))
    prevalences = (*(c.prevalence for c in candidates), *(0,) * absent)
    return Solution(sketch.jurors, sketch.labels, prevalences, confusions)


def _settled(
    primary: list[list[Number]] | None, totals: list[list[Number]], groups: Sequence[int], *, exact: bool
) -> tuple[tuple[int, ...], float | None, bool]:
    """(labels, gap, tied): on whole numbers, with more bits while the two best are too close, or proved equal."""
    bits = _BITS
    while True:
        fine = _whole(totals, bits)
        ruling = fine if primary is None else _whole(primary, bits)
        gains = fine.gains if primary is None else _lexicographic(ruling.gains, fine.gains)
        best = best_assignment(gains)
        second = second_assignment(gains, best, groups)
        if second is None:
            return best, None, False
        gap = total_gain(ruling.gains, best) - total_gain(ruling.gains, second)
        if gap > 4 * len(gains) * ruling.error or not exact:
            return best, gap / ruling.unit, False
        if _is_tie(totals if primary is None else primary, best, second):
            return best, 0.0, primary is None or _is_tie(totals, best, second)
        bits *= 4


def _lexicographic(coarse: list[list[int]], fine: list[list[int]]) -> list[list[int]]:
    """The first gains decide, the second break their ties."""
    weight = 4 * len(fine) * (1 + max(abs(x) for row in fine for x in row))
    return [[weight * x + y for x, y in zip(*pair, strict=True)] for pair in zip(coarse, fine, strict=True)]


def _is_tie(gains: list[list[Number]], best: Sequence[int], second: Sequence[int]) -> bool:
    left, right = (exact_sum(row[k] for row, k in zip(gains, places, strict=True)) for places in (best, second))
    return left == right


@dataclass(frozen=True)
class _Whole:
    """Gains times a unit, as whole numbers."""

    gains: list[list[int]]
    unit: int
    error: int  # of each gain: 0 where all numbers are rational


def _whole(numbers: list[list[Number]], bits: int) -> _Whole:
    """The numbers (or their real parts) on a common scale."""
    if all(isinstance(x, Surd) and x.is_rational for row in numbers for x in row):
        fractions = [[x.to_fraction() for x in row] for row in numbers]
        unit = math.lcm(*(x.denominator for row in fractions for x in row))
        return _Whole([[x.numerator * (unit // x.denominator) for x in row] for row in fractions], unit, 0)
    return _Whole([[_floor(x, bits) for x in row] for row in numbers], 1 << bits, 2)


def _floor(number: Number, bits: int) -> int:
    """The real part times 2^bits, within 2 of the truth."""
    if isinstance(number, Surd):
        square = number.root_part**2 * max(number.radicand, 0) * (1 << 2 * bits)
        root = math.isqrt(square.numerator // square.denominator)
        return math.floor(number.rational_part * (1 << bits)) + (root if number.root_part > 0 else -root)
    work = bits + 64
    while (ball := number.ball(work).real).rad() > 2.0**-bits:
        work *= 2
    mantissa, exponent = ball.mid().man_exp()
    shift = int(exponent) + bits
    return int(mantissa) << shift if shift >= 0 else int(mantissa) >> -shift
