"""Surds and algebraic numbers: field laws, order, certified digits, and what they refuse."""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest
from flint import fmpq_poly
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import examples

from jurors.exact import Algebraic, Surd, exact_sum, number_at, root_set, root_sets

CUBIC = (1, -3, 0, 1)  # z³ - 3z + 1: three real roots
MIXED = (-2, 0, 0, 1)  # z³ - 2: one real root, two complex ones
QUARTIC = (1, 0, -10, 0, 1)  # ±√2 ± √3: every root's square lies in a quadratic field
small = st.fractions(min_value=-50, max_value=50, max_denominator=60)
polynomials = st.lists(st.fractions(min_value=-20, max_value=20, max_denominator=30), min_size=1, max_size=3)
surds = st.builds(lambda x, y: Surd(x, y, 7), small, small)


def roots_of(coefficients: Sequence[int]) -> list[Surd | Algebraic]:
    """Every root of an integer polynomial (constant first), as often as it is one; real roots first, ascending."""
    roots: list[Surd | Algebraic] = []
    for factor, power in root_sets(fmpq_poly(list(coefficients))):
        for k in range(factor.degree):
            roots += [number_at(factor, k, fmpq_poly([0, 1]))] * power
    return [*sorted(x for x in roots if x.is_real), *(x for x in roots if not x.is_real)]


def at(coefficients: tuple[int, ...], index: int, polynomial: list[Any]) -> Algebraic:
    return Algebraic(root_set(coefficients), index, polynomial)


@st.composite
def of_one_field(draw: st.DrawFn) -> list[Any]:
    """Three numbers with a common root."""
    if draw(st.booleans()):
        return [draw(surds) for _ in range(3)]
    coefficients, index = draw(st.sampled_from([CUBIC, MIXED])), draw(st.integers(0, 2))
    return [at(coefficients, index, draw(polynomials)) for _ in range(3)]


real = st.one_of(surds, st.builds(lambda k, p: at(CUBIC, k, p), st.integers(0, 2), polynomials))


@given(of_one_field())
def test_the_field_laws_hold(numbers: list[Any]) -> None:
    a, b, c = numbers
    assert a + b == b + a
    assert a * (b + c) == a * b + a * c
    assert (a + b) + c == a + (b + c)
    assert (a * b) * c == a * (b * c)
    assert a - a == 0
    assert a**2 == a * a
    if b:
        assert a / b * b == a
        assert 1 / b * b == 1
        assert b**-1 * b == b**0 == 1


@given(real, real, small)
def test_order_agrees_with_a_hundred_digits_also_across_fields(a: Any, b: Any, x: Fraction) -> None:
    difference = Fraction(a.decimal(100)) - Fraction(b.decimal(100))
    if a == b:
        assert difference == 0
    else:
        assert (a < b) == (difference < 0)
        assert (a > b) == (difference > 0)
        assert (a - b if isinstance(a, type(b)) else Algebraic.of(a) - b).sign == (1 if difference > 0 else -1)
    near = Fraction(a.decimal(60))
    assert (a > near) == (Fraction(a.decimal(120)) > near)
    assert (a > x) == (not a <= x)


@given(st.one_of(small.map(Surd), small.map(lambda x: at(CUBIC, 1, [x]))))
def test_a_rational_one_looks_and_hashes_like_the_fraction(number: Any) -> None:
    x = number.to_fraction()
    assert number.is_rational
    assert number == x
    assert {number: 1}[x] == 1
    assert str(number) == str(x)
    assert float(number) == float(x)


@given(small, small, st.integers(2, 10**12))
def test_square_factors_make_no_difference_and_float_is_the_nearest_double(x: Fraction, y: Fraction, d: int) -> None:
    a, b = Surd(x, y * 3, d), Surd(x, y, 9 * d)
    assert a == b
    assert hash(a) == hash(b)
    assert (a - b).sign == 0
    assert math.isclose(float(a), float(Fraction(a.decimal(80))), rel_tol=1e-15, abs_tol=1e-60)


def test_a_float_survives_catastrophic_cancellation() -> None:
    # √(10^40 + 1) - 10^20 is about 5e-21; doubles would say 0.
    tiny = Surd(-(10**20), 1, 10**40 + 1)
    assert float(tiny) == pytest.approx(5e-21, rel=1e-12)
    assert tiny > 0


@given(st.integers(0, 10**9), st.integers(1, 10**6))
def test_the_root_of_a_square_is_rational(p: int, q: int) -> None:
    assert Surd.sqrt(Fraction(p, q) ** 2) == Fraction(p, q)


@given(st.integers(2, 10**9), st.integers(1, 60))
def test_every_decimal_is_certified(d: int, digits: int) -> None:
    assume(math.isqrt(d) ** 2 != d)
    # isqrt gives floor(√d · 10^(digits+5)) exactly; rounding that is rounding the number.
    floor = math.isqrt(d * 10 ** (2 * (digits + 5)))
    expected = (floor + 5 * 10**4) // 10**5
    assert Surd.sqrt(d).decimal(digits).replace(".", "") == str(expected)


@given(polynomials, st.integers(0, 2))
def test_float_and_decimals_are_those_of_the_polynomial_at_the_root(p: list[Fraction], k: int) -> None:
    number = at(CUBIC, k, p)
    root = Fraction(at(CUBIC, k, [0, 1]).decimal(80))
    value = sum(c * root**j for j, c in enumerate(p))
    assert float(number) == pytest.approx(float(value), rel=1e-14, abs=1e-70)
    assert abs(Fraction(number.decimal(30)) - value) <= Fraction(1, 2 * 10**30) + Fraction(1, 10**70)


def test_decimals_of_rationals_round_as_round_does() -> None:
    assert Surd(Fraction(1, 8)).decimal(2) == "0.12"
    assert Surd(Fraction(-7, 2)).decimal(0) == "-4"
    assert Surd(0).decimal(3) == "0.000"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Surd(Fraction(3, 10)), "3/10"),
        (Surd(Fraction(1, 2), Fraction(-3, 4), 5), "1/2 - 3/4*√5"),
        (Surd.sqrt(12), "2*√3"),
        (-Surd.sqrt(2), "-√2"),
        (Surd(1, 1, -3), "1 + √(-3)"),
        (Surd(2, 3, 16), "14"),
        (at(CUBIC, 0, [Fraction(1, 3), Fraction(-2, 5)]), "1/3 - 2/5*z where z ≈ -1.87939 solves 1 - 3*z + z^3 = 0"),
    ],
)
def test_numbers_read_well(number: Surd | Algebraic, text: str) -> None:
    assert str(number) == text


def test_the_text_of_a_sum_and_of_a_complex_root() -> None:
    total = at(CUBIC, 0, [Fraction(1, 3), Fraction(-2, 5)]) + at(CUBIC, 1, [0, 1])
    assert str(total).startswith("1/3 + (-2/5*z1) + (z2) where z1 ≈ -1.87939 solves")
    assert any("- 1.09112i solves" in str(at(MIXED, k, [0, 1])) for k in (1, 2))


def test_a_negative_radicand_is_complex_and_says_so() -> None:
    number = (1 + Surd.sqrt(-3)) / 2
    assert not number.is_real
    assert complex(number) == pytest.approx(0.5 + 0.8660254037844386j)
    assert number**3 == -1
    assert number.conjugate() * number == 1
    for refuse in (float, lambda x: x < 1, lambda x: x.decimal(3)):
        with pytest.raises(ValueError, match="not real"):
            refuse(number)


def test_complex_roots_are_conjugate_and_their_sum_is_real() -> None:
    real, one, other = roots_of(MIXED)
    assert real.is_real
    assert not one.is_real
    assert one.conjugate() == other
    assert complex(one) == pytest.approx(2 ** (1 / 3) * cmath.exp(2j * math.pi / 3))
    assert (one + other).is_real  # = -∛2, although both terms are complex
    assert one + other == -real
    assert float(one + other) == pytest.approx(-(2 ** (1 / 3)), rel=1e-15)
    with pytest.raises(ValueError, match="not real, it has no sign"):
        _ = one < 1
    with pytest.raises(ValueError, match="not real; use complex"):
        float(one)


def test_a_complex_root_can_give_a_real_number() -> None:
    # i = z² at a primitive eighth root of unity z; z + 1/z = √2
    z = next(x for x in roots_of((1, 0, 0, 0, 1)) if complex(x).real > 0 and complex(x).imag > 0)
    assert isinstance(z, Algebraic)
    assert not (z * z).is_real
    assert (z + 1 / z).is_real
    assert z + 1 / z == Surd.sqrt(2)
    assert (z**4).to_fraction() == -1


@given(polynomials, st.sampled_from([CUBIC, MIXED, QUARTIC]))
def test_all_conjugates_add_up_to_the_rational_trace(p: list[Fraction], f: tuple[int, ...]) -> None:
    conjugates = [at(f, k, p) for k in range(len(f) - 1)]
    for order in permutations(conjugates):
        total = exact_sum(order)
        assert isinstance(total, Surd)
        assert total.is_rational
        assert float(total) == pytest.approx(sum(map(complex, conjugates)).real, abs=1e-6)


def test_a_square_root_in_disguise_equals_the_surd_and_hashes_like_it() -> None:
    for k in range(4):
        number = at(QUARTIC, k, [0, 1])
        square = number * number  # 5 ± 2√6
        assert square in (Surd(5, 2, 6), Surd(5, -2, 6))
        assert hash(square) == hash(next(x for x in (Surd(5, 2, 6), Surd(5, -2, 6)) if x == square))


def test_a_sum_over_two_roots_that_happens_to_be_rational_is_found_out() -> None:
    roots = [at(QUARTIC, k, [0, 1]) for k in range(4)]
    opposite = [(a, b) for a in roots for b in roots if float(a) == -float(b)]
    assert len(opposite) == 4
    for a, b in opposite:
        assert a + b == 0
        assert (a + b + Fraction(1, 7)).is_rational
        assert (a + b + Fraction(1, 7)).to_fraction() == Fraction(1, 7)
        assert (a + b).sign == 0
    assert roots[0] + roots[1] != 0
    assert not (roots[0] + roots[1]).is_rational


@pytest.mark.parametrize("digits", [10, 40, 90])
def test_a_sum_over_two_roots_differs_from_its_best_rational_approximations(digits: int) -> None:
    total = at(CUBIC, 0, [0, 1]) + at(CUBIC, 1, [0, 1])
    near = Fraction(total.decimal(3 * digits)).limit_denominator(10**digits)
    assert abs(Fraction(total.decimal(3 * digits)) - near) < Fraction(1, near.denominator**2)
    assert total != near
    assert not total.is_rational
    assert (total - near).sign == (1 if Fraction(total.decimal(3 * digits)) > near else -1)


@given(small, small, st.integers(2, 60), polynomials, st.integers(0, 2))
def test_surds_and_algebraic_numbers_mix(x: Fraction, y: Fraction, d: int, p: list[Fraction], k: int) -> None:
    surd, number = Surd(x, y, d), at(CUBIC, k, p)
    assert Algebraic.of(surd) == surd
    assert Algebraic.of(surd).simplified() == surd
    total = surd + number
    assert total - number == surd
    assert float(total) == pytest.approx(float(surd) + float(number), rel=1e-9, abs=1e-9)
    assert (surd < number) == (float(number) - float(surd) > 0) or abs(float(number) - float(surd)) < 1e-9


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=6))
@examples(60)
def test_every_root_is_found_as_often_as_it_is_one(coefficients: list[int]) -> None:
    while coefficients and not coefficients[-1]:
        coefficients.pop()
    assume(len(coefficients) > 1)
    roots = roots_of(coefficients)
    assert len(roots) == len(coefficients) - 1
    for root in roots:
        value: Any = 0
        for c in reversed(coefficients):
            value = value * root + c
        assert value == 0
    # Vieta, with all the different fields in one sum
    assert exact_sum(roots) == Fraction(-coefficients[-2], coefficients[-1])


def test_what_has_no_exact_answer_is_refused() -> None:
    a, b = at(CUBIC, 0, [0, 1]), at(CUBIC, 1, [0, 1])
    with pytest.raises(ValueError, match="products need one common root"):
        _ = a * b
    with pytest.raises(ValueError, match="different fields"):
        Surd.sqrt(2) + Surd.sqrt(3)
    assert Surd.sqrt(2) * Surd.sqrt(8) == 4
    assert hash(a + b) == hash(b + a)
    for zero in (lambda: a / (b - b), lambda: Surd.sqrt(2) / Surd(0)):
        with pytest.raises(ZeroDivisionError):
            zero()
    with pytest.raises(ValueError, match="not rational"):
        a.to_fraction()
    with pytest.raises(TypeError, match="exact numbers only"):
        Surd(0.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _ = a + 0.5  # type: ignore[operator]
    assert a != 0.5
    assert Surd(1) != 0.5
