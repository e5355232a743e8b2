"""Theorem 2 (decode): the two evaluations that explain three binary jurors' joint decisions, exactly.

For juror c, let M_A and M_B be the 2x2 counts of the other two where c said A and B, and
    mix = M_A[0,0] M_B[1,1] + M_A[1,1] M_B[0,0] - M_A[0,1] M_B[1,0] - M_A[1,0] M_B[0,1],
    D_c = det M_A + det M_B + mix  (the pair moment of the other two, times Q²),
    H   = mix² - 4 det M_A det M_B (Cayley's hyperdeterminant of the counts: the same integer for all three).
With s = ±√H and t the trio moment times Q³,
    P_A  = 1/2 + t / (2 Q s),
    P_cA = (2 det M_A + mix + s) / (2 D_c),   P_cB = (2 det M_B + mix + s) / (2 D_c).
Nothing is divided by t, so a prevalence of 1/2 is no special case (the paper's linear equations fail there).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NoReturn

from flint import fmpq

from jurors.errors import DegenerateSketchError, SketchError
from jurors.evaluate.solution import Number, Solution
from jurors.numbers import Surd
from jurors.sketch import Sketch
from jurors.sketch.moments import WholeMoments


@dataclass(frozen=True, slots=True)
class TrioInvariants:
    """The integers that decide everything about a binary trio."""

    items: int  #: Q
    det_a: tuple[int, int, int]  #: det M_A by slicing juror
    det_b: tuple[int, int, int]  #: det M_B by slicing juror
    mix: tuple[int, int, int]
    pair: tuple[int, int, int]  #: D_c, the pair moment of the *other* two jurors times Q²
    trio: int  #: t, the trio moment times Q³
    hyperdeterminant: int  #: H; its sign says real or complex, a perfect square says rational

    @property
    def product(self) -> int:
        """D_1 D_2 D_3; positive wherever a prevalence inside (0, 1) exists."""
        return math.prod(self.pair)


def check_trio(sketch: Sketch) -> None:
    """SketchError unless the sketch has three jurors and two labels."""
    if len(sketch.jurors) != 3:
        raise SketchError(
            f"an exact trio needs 3 jurors, got {len(sketch.jurors)}: {', '.join(sketch.jurors[:8])}. "
            "Keep three with sketch.take(['ann', 'bob', 'cy'])."
        )
    if len(sketch.labels) != 2:
        shown = ", ".join(map(str, sketch.labels[:8]))
        raise SketchError(f"evaluate_trio needs 2 labels, got {len(sketch.labels)}: {shown}.")


def trio_invariants(sketch: Sketch) -> TrioInvariants:
    """The integer invariants of three binary jurors who all voted on every item."""
    check_trio(sketch)
    counts = sketch.table().ravel().tolist()
    aaa, aab, aba, abb, baa, bab, bba, bbb = counts
    det_a = (aaa * abb - aab * aba, aaa * bab - aab * baa, aaa * bba - aba * baa)
    det_b = (baa * bbb - bab * bba, aba * bbb - abb * bba, aab * bbb - abb * bab)
    ends = aaa * bbb
    i, j, k = abb * baa, aba * bab, aab * bba
    mix = (ends + i - j - k, ends + j - i - k, ends + k - i - j)
    m = WholeMoments.from_counts(counts)
    return TrioInvariants(m.items, det_a, det_b, mix, m.pair, m.trio, mix[0] ** 2 - 4 * det_a[0] * det_b[0])


def evaluate_trio(sketch: Sketch) -> tuple[Solution, Solution]:
    """Grade three binary jurors exactly, without an answer key.

    If the jurors' errors were independent on this test, one of the two results is the truth. The first has the
    greater total label accuracy (the paper's choice); the second is its mirror. Both are complex where the
    hyperdeterminant is negative: then no real evaluation explains the counts.

    Raises
    ------
    DegenerateSketchError
        The counts fix no answer, or contradict independence so that none exists; `outcome` says which.

    Examples
    --------
    The 20,000 census records of the paper's Table 1. An irrational answer proves that errors were correlated:

    >>> sketch = Sketch.from_counts({"AAA": 568, "AAB": 553, "ABA": 649, "BAA": 1813,
    ...                              "BBA": 3534, "BAB": 3607, "ABB": 1068, "BBB": 8208}, jurors="ijk")
    >>> likely, mirror = evaluate_trio(sketch)
    >>> print(likely.prevalence["A"])
    1/2 - 141256653/613478451992500*√3190087950361
    >>> likely.prevalence["A"].decimal(10), likely.is_rational
    ('0.0887452501', False)
    """
    m = trio_invariants(sketch)
    _refuse_degenerate(sketch, m)
    # Total accuracy is 3 + s Σ 1/D_c, so the sign of s that makes it larger is the sign of Σ 1/D_c.
    inverse_sum = sum((fmpq(1, d) for d in m.pair), fmpq(0))
    sign = -1 if inverse_sum < 0 else 1
    root = math.isqrt(max(m.hyperdeterminant, 0))
    rational = root * root == m.hyperdeterminant
    return _solve(sketch, m, sign, root if rational else None), _solve(sketch, m, -sign, root if rational else None)


def _solve(sketch: Sketch, m: TrioInvariants, sign: int, root: int | None) -> Solution:
    """The solution for s = sign·√H; `root` is √H where that is a whole number."""

    def number(rational: int, coefficient: int, denominator: int) -> Surd:
        """(rational + coefficient·s) / denominator"""
        if root is not None:
            return Surd.in_field(fmpq(rational + coefficient * sign * root, denominator), _ZERO, 1)
        return Surd.in_field(fmpq(rational, denominator), fmpq(coefficient * sign, denominator), m.hyperdeterminant)

    # t / (2 Q s) = t s / (2 Q H)
    scale = 2 * m.items * m.hyperdeterminant
    half = m.items * m.hyperdeterminant
    prevalences: tuple[Number, ...] = (number(half, m.trio, scale), number(half, -m.trio, scale))
    confusions = []
    for det_a, det_b, mix, d in zip(m.det_a, m.det_b, m.mix, m.pair, strict=True):
        right_a, right_b = number(2 * det_a + mix, 1, 2 * d), number(2 * det_b + mix, 1, 2 * d)
        # 1 - P_cA = (2 D - 2 det M_A - mix - s) / 2 D = (2 det M_B + mix - s) / 2 D, and likewise for B
        wrong_a, wrong_b = number(2 * det_b + mix, -1, 2 * d), number(2 * det_a + mix, -1, 2 * d)
        confusions.append(((right_a, wrong_a), (wrong_b, right_b)))
    return Solution(sketch.jurors, sketch.labels, prevalences, tuple(confusions))


_ZERO = fmpq(0)


def _refuse_degenerate(sketch: Sketch, m: TrioInvariants) -> None:
    if m.product and m.hyperdeterminant:
        return
    if not m.items:
        _refuse("no_items", "no item was answered by all three jurors, so there is nothing to grade")
    zero = [c for c in range(3) if not m.pair[c]]
    names = sketch.jurors
    if len(zero) == 3 and not m.trio:
        _refuse(
            "no_signal",
            f"no two of {', '.join(names)} agree more than chance would have it, so the counts fix no answer; "
            f"at most one of them looks at the items{_constant_jurors(sketch)}",
            names,
        )
    if len(zero) == 3:
        _refuse("purely_triple", "no pair moves together but all three do: no independent trio can give these counts")
    if len(zero) == 2 and m.trio:
        _refuse(
            "contradictory_trio",
            "two pairs do not move together, which makes one juror idle, yet all three move together: no independent "
            "trio can give these counts",
        )
    if len(zero) == 2:
        idle = next(c for c in range(3) if c not in zero)
        _refuse(
            "uninformative_juror",
            f"juror {names[idle]!r} is uninformative: its answers have nothing to do with the other two "
            f"(an exact zero covariance with both), so the trio fixes no answer{_constant_jurors(sketch)}; "
            "grade it with another juror in that place",
            (names[idle],),
        )
    if len(zero) == 1:
        pair = tuple(name for c, name in enumerate(names) if c != zero[0])
        _refuse(
            "contradictory_pairs",
            f"jurors {pair[0]!r} and {pair[1]!r} do not move together, yet both move with {names[zero[0]]!r}: "
            "no independent trio can give these counts",
            pair,
        )
    _refuse("zero_radicand", "the hyperdeterminant is 0 while every pair moves together: no independent trio does that")


def _refuse(outcome: str, message: str, jurors: tuple[str, ...] = ()) -> NoReturn:
    raise DegenerateSketchError(message, outcome=outcome, jurors=jurors)


def _constant_jurors(sketch: Sketch) -> str:
    codes = sketch.tuples.codes[sketch.counts > 0]
    always = [
        f"{juror!r} always says {sketch.labels[int(codes[0, c])]!r}"
        for c, juror in enumerate(sketch.jurors)
        if (codes[:, c] == codes[0, c]).all()
    ]
    return f" ({', '.join(always)})" if always else ""
