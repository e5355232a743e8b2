"""Three jurors in closed form: planted rational loadings come back exactly, and impossible answers are told."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from jurors.numeric import Numbers, grade_numbers
from jurors.numeric.factor import exact_trio, solve_trio


def quarters(low: int, high: int) -> st.SearchStrategy[tuple[Fraction, ...]]:
    """Three numbers that floats hold exactly."""
    return st.tuples(*[st.integers(4 * low, 4 * high).map(lambda n: Fraction(n + 1, 4))] * 3)


def planted(slope: tuple[Fraction, ...], offset: tuple[Fraction, ...], noise: tuple[Fraction, ...]) -> Numbers:
    """Truths 0, 1, 3 with errors of every combination of signs: independent of the truth and of each other, exactly."""
    rows = [
        [a + b * truth + e * sign for a, b, e, sign in zip(offset, slope, noise, signs, strict=True)]
        for truth in (0, 1, 3)
        for signs in product((-1, 1), repeat=3)
    ]
    return Numbers.from_matrix([[float(cell) for cell in row] for row in rows], jurors=("ann", "bob", "cy"))


@examples(30)
@given(quarters(0, 5), quarters(-9, 9), quarters(0, 5))
def test_planted_jurors_come_back_exactly(
    slope: tuple[Fraction, ...], offset: tuple[Fraction, ...], noise: tuple[Fraction, ...]
) -> None:
    answer = exact_trio(planted(slope, offset, noise))
    spread = Fraction(14, 9)  # of 0, 1 and 3
    assert answer is not None
    assert answer.squared == tuple(b * b * spread for b in slope)
    assert answer.noise == tuple(e * e for e in noise)
    reliability = [b * b * spread / (b * b * spread + e * e) for b, e in zip(slope, noise, strict=True)]
    assert list(answer.reliability) == reliability
    assert answer.scale is not None
    assert answer.scale.slope[1] / answer.scale.slope[0] == slope[1] / slope[0]
    assert sum(r * b for r, b in zip(reliability, answer.scale.slope, strict=True)) == sum(reliability)
    assert sum(r * a for r, a in zip(reliability, answer.scale.offset, strict=True)) == 0


def test_floats_agree_with_the_exact_answer() -> None:
    numbers = planted((Fraction(1), Fraction(2), Fraction(1, 2)), (Fraction(3),) * 3, (Fraction(1),) * 3)
    grades = grade_numbers(numbers)
    assert grades.exact is not None
    assert grades.exact.scale is not None
    assert grades.reliability == pytest.approx([float(r) for r in grades.exact.reliability], rel=1e-12)
    assert grades.slope == pytest.approx([float(b) for b in grades.exact.scale.slope], rel=1e-12)
    assert grades.offset == pytest.approx([float(a) for a in grades.exact.scale.offset], abs=1e-12)
    assert grades.to_dict()["exact"]["reliability"]["ann"] == str(grades.exact.reliability[0])


def _covariance(*upper: int) -> list[list[Fraction]]:
    a, b, c, d, e, f = map(Fraction, upper)
    return [[a, b, c], [b, d, e], [c, e, f]]


@pytest.mark.parametrize(
    "upper, outcome",
    [
        pytest.param((4, 1, 1, 4, -1, 4), "negative", id="negative"),
        pytest.param((4, 4, 4, 9, 1, 9), "above_variance", id="above"),
        pytest.param((4, 0, 1, 4, 1, 4), "no_covariance", id="zero"),
    ],
)
def test_impossible_answers_are_named_and_not_mended(upper: tuple[int, ...], outcome: str) -> None:
    answer = solve_trio([Fraction(0)] * 3, _covariance(*upper))
    assert answer.outcome == outcome
    if outcome == "negative":
        assert answer.scale is None
        assert max(answer.squared) < 0
    if outcome == "above_variance":
        assert answer.squared[0] == 16
        assert answer.noise[0] == -12


def test_long_decimals_are_not_exact() -> None:
    assert Numbers.from_matrix(np.full((4, 3), 1 / 3)).is_exact is False
