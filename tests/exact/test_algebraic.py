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

from jurors.exact.algebraic import Algebraic, exact_sum, number_at, root_set, root_sets
from jurors.exact.surd import Surd

CUBIC = (1, -3, 0, 1)  # z³ - 3z + 1: three real roots
MIXED = (-2, 0, 0, 1)  # z³ - 2: one real root, two complex ones
QUARTIC = (1, 0, -10, 0, 1)  # ±√2 ± √3: every root's square lies in a quadratic field
small = st.fractions(min_value=-20, max_value=20, max_denominator=30)
polynomials = st.lists(small, min_size=1, max_size=3)


def roots_of(coefficients: Sequence[int]) -> list[Surd | Algebraic]:
    """Every root of an integer polynomial (constant first), as often as it is one; real roots first, ascending."""
    roots: list[Surd | Algebraic] = []
    for factor, power in root_sets(fmpq_poly(list(coefficients))):
        for k in range(factor.degree):
            roots += [number_at(factor, k, fmpq_poly([0, 1]))] * power
    return [*sorted(x for x in roots if x.is_real), *(x for x in roots if not x.is_real)]


def at(coefficients: tuple[int, ...], index: int, polynomial: list[Any]) -> Algebraic:
    return Algebraic(root_set(coefficients), index, polynomial)


@given(polynomials, polynomials, polynomials, st.integers(0, 2), st.sampled_from([CUBIC, MIXED]))
def test_the_field_laws_hold(
    p: list[Fraction], q: list[Fraction], r: list[Fraction], k: int, f: tuple[int, ...]
) -> None:
    a, b, c = (at(f, k, x) for x in (p, q, r))
    assert a + b == b + a
    assert a * (b + c) == a * b + a * c
    assert (a * b) * c == a * (b * c)
    assert a - a == 0
    if b:
        assert a / b * b == a
        assert 1 / b * b == 1


@given(polynomials, polynomials, st.integers(0, 2), st.integers(0, 2))
def test_order_across_roots_agrees_with_a_hundred_digits(p: list[Fraction], q: list[Fraction], k: int, m: int) -> None:
    a, b = at(CUBIC, k, p), at(CUBIC, m, q)
    difference = Fraction(a.decimal(100)) - Fraction(b.decimal(100))
    if a == b:
        assert difference == 0
    else:
        assert (a < b) == (difference < 0)
        assert (a > b) == (difference > 0)
        assert (a - b).sign == (difference > 0) - (difference < 0)


@given(polynomials, st.integers(0, 2), small)
def test_comparison_with_a_rational_is_exact_even_where_they_are_close(p: list[Fraction], k: int, x: Fraction) -> None:
    number = at(CUBIC, k, p)
    near = Fraction(number.decimal(60))
    assert (number > near) == (Fraction(number.decimal(120)) > near)
    assert (number > x) == (not number <= x)


@given(polynomials, st.sampled_from([CUBIC, MIXED, QUARTIC]))
def test_all_conjugates_add_up_to_the_rational_trace(p: list[Fraction], f: tuple[int, ...]) -> None:
    conjugates = [at(f, k, p) for k in range(len(f) - 1)]
    for order in permutations(conjugates):
        total = exact_sum(order)
        assert isinstance(total, Surd)
        assert total.is_rational
        assert float(total) == pytest.approx(sum(map(complex, conjugates)).real, abs=1e-6)
        assert conjugates[0].is_rational or total == conjugates[0].trace()


@given(polynomials, st.integers(0, 2))
def test_float_and_decimals_are_those_of_the_polynomial_at_the_root(p: list[Fraction], k: int) -> None:
    number = at(CUBIC, k, p)
    root = Fraction(at(CUBIC, k, [0, 1]).decimal(80))
    value = sum(c * root**j for j, c in enumerate(p))
    assert float(number) == pytest.approx(float(value), rel=1e-14, abs=1e-70)
    assert abs(Fraction(number.decimal(30)) - value) <= Fraction(1, 2 * 10**30) + Fraction(1, 10**70)


def test_complex_roots_are_conjugate_and_their_product_is_real() -> None:
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
    assert z**4 == -1
    assert (z**4).is_rational


def test_a_square_root_in_disguise_equals_the_surd_and_hashes_like_it() -> None:
    for k in range(4):
        number = at(QUARTIC, k, [0, 1])
        square = number * number  # 5 ± 2√6
        assert square in (Surd(5, 2, 6), Surd(5, -2, 6))
        assert hash(square) == hash(next(x for x in (Surd(5, 2, 6), Surd(5, -2, 6)) if x == square))
        assert square.minimal_polynomial == (1, -10, 1)
        assert number.minimal_polynomial == QUARTIC


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


@given(small)
def test_a_rational_one_looks_and_hashes_like_the_fraction(x: Fraction) -> None:
    number = at(CUBIC, 1, [x])
    assert number.is_rational
    assert number == x
    assert hash(number) == hash(x)
    assert str(number) == str(x)
    assert number.to_fraction() == x
    assert float(number) == float(x)
    assert {number: 1}[x] == 1  # type: ignore[index]


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


def test_the_text_names_the_polynomial_the_root_and_the_expression() -> None:
    number = at(CUBIC, 0, [Fraction(1, 3), Fraction(-2, 5)])
    assert str(number) == "1/3 - 2/5*z where z ≈ -1.87939 solves 1 - 3*z + z^3 = 0"
    total = number + at(CUBIC, 1, [0, 1])
    assert str(total).startswith("1/3 + (-2/5*z1) + (z2) where z1 ≈ -1.87939 solves")
    assert "0.629961i" not in str(number)
    assert "- 1.09112i solves" in str(at(MIXED, 2, [0, 1])) or "- 1.09112i solves" in str(at(MIXED, 1, [0, 1]))


def test_products_across_roots_are_refused_and_sums_have_no_hash() -> None:
    a, b = at(CUBIC, 0, [0, 1]), at(CUBIC, 1, [0, 1])
    with pytest.raises(ValueError, match="products need one common root"):
        _ = a * b
    with pytest.raises(TypeError, match="no hash"):
        hash(a + b)
    with pytest.raises(ZeroDivisionError):
        _ = a / (b - b)
    with pytest.raises(ValueError, match="not rational"):
        a.to_fraction()
    with pytest.raises(TypeError):
        _ = a + 0.5  # type: ignore[operator]
    assert a != 0.5
