"""What every exact number can do that knows its sign and fits into balls: be compared, and have its digits certified.

An irrational number is never 0 and never half-way between two decimals, so at some precision its ball decides.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias

import flint
from flint import fmpq, fmpz

Exact: TypeAlias = "int | Fraction | fmpz | fmpq"
BITS = 128  #: precision that balls begin with


class BySign:
    """What `Surd` and `Algebraic` share; it asks them for their sign, a ball, and whether they are rational or real."""

    __slots__ = ()

    def __lt__(self: Any, other: Exact | BySign) -> bool:
        return bool((self - other).sign < 0)

    def __le__(self: Any, other: Exact | BySign) -> bool:
        return bool((self - other).sign <= 0)

    def __gt__(self: Any, other: Exact | BySign) -> bool:
        return bool((self - other).sign > 0)

    def __ge__(self: Any, other: Exact | BySign) -> bool:
        return bool((self - other).sign >= 0)

    def __float__(self: Any) -> float:
        if self.is_rational:
            return float(self.to_fraction())
        if not self.is_real:
            raise ValueError(f"{self} is not real; use complex()")
        bits = BITS
        while (ball := self._real_ball(bits)).rel_accuracy_bits() <= 64:
            bits *= 2
        return float(ball)

    def decimal(self: Any, digits: int = 20) -> str:
        """The number rounded to `digits` places after the point, every digit certified.

        A rational number exactly between two neighbours goes to the even one, as `round` does.
        """
        if digits < 0:
            raise ValueError(f"digits must not be negative, got {digits}")
        if not self.is_real:
            raise ValueError(f"{self} is not real; take the decimals of its parts")
        scaled = round(self.to_fraction() * 10**digits) if self.is_rational else _nearest_integer(self, digits)
        text = f"{abs(scaled):0{digits + 1}d}"
        text = f"{text[:-digits]}.{text[-digits:]}" if digits else text
        return f"-{text}" if scaled < 0 else text


def _nearest_integer(number: Any, digits: int) -> int:
    """round(number * 10**digits) of an irrational number."""
    bits = 64 + 4 * digits
    while True:
        ball = number._real_ball(bits)
        with flint.ctx.workprec(bits):
            nearest = (ball * flint.arb(10) ** digits + flint.arb(0.5)).floor().unique_fmpz()
        if nearest is not None:
            return int(nearest)
        bits *= 2


def to_rational(value: Exact) -> fmpq:
    """A whole number or fraction as flint has it."""
    if isinstance(value, fmpq):
        return value
    if isinstance(value, Fraction):
        return fmpq(value.numerator, value.denominator)
    if isinstance(value, (int, fmpz)):
        return fmpq(value)
    raise TypeError(f"exact numbers only (int, Fraction, Surd), got {type(value).__name__} {value!r}")


def from_rational(value: fmpq) -> Fraction:
    """A number of flint's as a Fraction."""
    return Fraction(int(value.p), int(value.q))
