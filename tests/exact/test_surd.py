from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jurors.exact.surd import Surd

small = st.fractions(min_value=-50, max_value=50, max_denominator=60)


def surds(d: int) -> st.SearchStrategy[Surd]:
    return st.builds(lambda x, y: Surd(x, y, d), small, small)


@given(surds(7), surds(7), surds(7))
def test_the_field_laws_hold(a: Surd, b: Surd, c: Surd) -> None:
    assert a + b == b + a
    assert a * (b + c) == a * b + a * c
    assert (a + b) + c == a + (b + c)
    assert a - a == 0
    if b:
        assert a / b * b == a
        assert 1 / b * b == 1


@given(surds(7), surds(7))
def test_order_agrees_with_a_hundred_digits(a: Surd, b: Surd) -> None:
    difference = Fraction(a.decimal(100)) - Fraction(b.decimal(100))
    if a == b:
        assert difference == 0
    else:
        assert (a < b) == (difference < 0)
        assert (a > b) == (difference > 0)


@given(small, small, st.integers(2, 400))
def test_square_factors_make_no_difference(x: Fraction, y: Fraction, d: int) -> None:
    a, b = Surd(x, y * 3, d), Surd(x, y, 9 * d)
    assert a == b
    assert hash(a) == hash(b)
    assert (a - b).sign == 0


@given(small, small, st.integers(2, 10**12))
def test_float_is_the_nearest_double(x: Fraction, y: Fraction, d: int) -> None:
    number = Surd(x, y, d)
    exact = Fraction(number.decimal(80))
    assert math.isclose(float(number), float(exact), rel_tol=1e-15, abs_tol=1e-60)


def test_a_float_survives_catastrophic_cancellation() -> None:
    # √(10^40 + 1) - 10^20 is about 5e-21; doubles would say 0.
    tiny = Surd(-(10**20), 1, 10**40 + 1)
    assert float(tiny) == pytest.approx(5e-21, rel=1e-12)
    assert tiny > 0


@given(small)
def test_fractions_go_in_and_come_out(x: Fraction) -> None:
    number = Surd(x)
    assert number.is_rational
    assert number.to_fraction() == x
    assert number == x
    assert hash(number) == hash(x)
    assert str(number) == str(x)


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


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Surd(Fraction(3, 10)), "3/10"),
        (Surd(Fraction(1, 2), Fraction(-3, 4), 5), "1/2 - 3/4*√5"),
        (Surd.sqrt(12), "2*√3"),
        (-Surd.sqrt(2), "-√2"),
        (Surd(1, 1, -3), "1 + √(-3)"),
        (Surd(2, 3, 16), "14"),
    ],
)
def test_numbers_read_well(number: Surd, text: str) -> None:
    assert str(number) == text


def test_decimals_of_rationals_round_as_round_does() -> None:
    assert Surd(Fraction(1, 8)).decimal(2) == "0.12"
    assert Surd(Fraction(-7, 2)).decimal(0) == "-4"
    assert Surd(0).decimal(3) == "0.000"


def test_a_negative_radicand_is_complex_and_says_so() -> None:
    number = (1 + Surd.sqrt(-3)) / 2
    assert not number.is_real
    assert complex(number) == pytest.approx(0.5 + 0.8660254037844386j)
    assert number**3 == -1
    assert number.conjugate() * number == 1
    for refuse in (float, lambda x: x < 1, lambda x: x.decimal(3)):
        with pytest.raises(ValueError, match="not real"):
            refuse(number)


def test_different_fields_do_not_mix() -> None:
    with pytest.raises(ValueError, match="different fields"):
        Surd.sqrt(2) + Surd.sqrt(3)
    assert Surd.sqrt(2) * Surd.sqrt(8) == 4


def test_floats_are_refused() -> None:
    with pytest.raises(TypeError, match="exact numbers only"):
        Surd(0.5)  # type: ignore[arg-type]
    assert Surd(1) != 0.5


def test_division_by_zero_is_an_error() -> None:
    with pytest.raises(ZeroDivisionError):
        Surd.sqrt(2) / Surd(0)
