"""Surds: numbers x + y√d with rational x, y and an integer d, the field in which every trio's grades are.

Sign, exactly: x and y√d agree in sign, or the larger of x² and y²d decides.
Digits, certified: ball arithmetic at growing precision until only one answer is left. An irrational number is never 0
and never half-way between two decimals, so at some precision its ball decides.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Self, TypeAlias

import flint
from flint import fmpq, fmpz

Exact: TypeAlias = "int | Fraction | fmpz | fmpq"
BITS = 128  #: precision that balls begin with
_TRIAL_LIMIT = 10_000  # primes below this are taken out of the root when printing: about 0.1 ms


class SignedExact:
    """Comparison and certified digits, which `Surd` and `Algebraic` share.

    Subclasses have `sign`, `_real_ball`, `is_rational` and `is_real`.
    """

    __slots__ = ()

    def __lt__(self: Any, other: Exact | SignedExact) -> bool:
        return bool((self - other).sign < 0)

    def __le__(self: Any, other: Exact | SignedExact) -> bool:
        return bool((self - other).sign <= 0)

    def __gt__(self: Any, other: Exact | SignedExact) -> bool:
        return bool((self - other).sign > 0)

    def __ge__(self: Any, other: Exact | SignedExact) -> bool:
        return bool((self - other).sign >= 0)

    def __pow__(self, exponent: int) -> Self:
        number: Any = self
        power: Self = math.prod([number] * exponent, start=0 * number + 1) if exponent >= 0 else 1 / number**-exponent
        return power

    def __float__(self: Any) -> float:
        if self.is_rational:
            return float(self.to_fraction())
        if not self.is_real:
            raise ValueError(f"{self} is not real; use complex()")
        bits = BITS
        while (ball := self._real_ball(bits)).rel_accuracy_bits() <= 64:
            bits *= 2
        return float(ball)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def decimal(self: Any, digits: int = 20) -> str:
        """The number rounded to `digits` places after the point, every digit certified.

        A rational number exactly between two neighbours goes to the even one, as `round` does.
        """
        if digits < 0:
            raise ValueError(f"digits must not be negative, got {digits}")
        if not self.is_real:
            raise ValueError(f"{self} is not real; take the decimals of its parts")
        if self.is_rational:
            scaled = round(self.to_fraction() * 10**digits)
        else:
            bits, nearest = 64 + 4 * digits, None
            while nearest is None:
                ball = self._real_ball(bits)
                with flint.ctx.workprec(bits):
                    nearest = (ball * flint.arb(10) ** digits + flint.arb(0.5)).floor().unique_fmpz()
                bits *= 2
            scaled = int(nearest)
        text = f"{abs(scaled):0{digits + 1}d}"
        text = f"{text[:-digits]}.{text[-digits:]}" if digits else text
        return f"-{text}" if scaled < 0 else text


def to_rational(value: Exact) -> fmpq:
    """A whole number or fraction as flint has it; TypeError for anything inexact."""
    if isinstance(value, fmpq):
        return value
    if isinstance(value, Fraction):
        return fmpq(value.numerator, value.denominator)
    if isinstance(value, (int, fmpz)):
        return fmpq(value)
    raise TypeError(f"exact numbers only (int, Fraction, Surd), got {type(value).__name__} {value!r}")


def from_rational(value: fmpq) -> Fraction:
    """A rational number of flint's as a Fraction."""
    return Fraction(int(value.p), int(value.q))


class Surd(SignedExact):
    """An exact number x + y√d.

    Two surds combine when they lie in one field: one is rational, or the product of their radicands is a square.

    Examples
    --------
    >>> golden = (1 + Surd.sqrt(5)) / 2
    >>> golden * golden == golden + 1
    True
    >>> print(golden), print(golden.decimal(30))
    1/2 + 1/2*√5
    1.618033988749894848204586834366
    (None, None)
    >>> str(Surd(Fraction(3, 10)))
    '3/10'
    """

    __slots__ = ("__dict__", "_d", "_x", "_y")
    _x: fmpq
    _y: fmpq
    _d: int

    def __init__(self, x: Exact | Surd, y: Exact = 0, d: Exact = 1) -> None:
        if isinstance(x, Surd):
            self._x, self._y, self._d = x._x, x._y, x._d
        else:
            self._x, self._y, self._d = _normal(to_rational(x), to_rational(y), to_rational(d))

    @classmethod
    def sqrt(cls, value: Exact) -> Surd:
        """The square root of a rational, imaginary when it is negative."""
        q = to_rational(value)
        return cls(0, fmpq(1, q.q), int(q.p * q.q))  # √(p/q) = √(pq)/q

    @classmethod
    def in_field(cls, x: fmpq, y: fmpq, d: int) -> Surd:
        """Build x + y√d where d is already known not to be a square (or y is 0): no checks, for inner loops."""
        new = cls.__new__(cls)
        new._x, new._y, new._d = x, y, d if y else 1
        return new

    # -- what it is -------------------------------------------------------------------------------

    @property
    def rational_part(self) -> Fraction:
        """x of x + y√d."""
        return from_rational(self._x)

    @property
    def root_part(self) -> Fraction:
        """y of x + y√d."""
        return from_rational(self._y)

    @property
    def radicand(self) -> int:
        """d of x + y√d; 1 for a rational number."""
        return self._d

    @property
    def is_rational(self) -> bool:
        """Whether there is no root left."""
        return not self._y

    @property
    def is_real(self) -> bool:
        """Whether the number has no imaginary part."""
        return self._d > 0 or not self._y

    @cached_property
    def sign(self) -> int:
        """-1, 0 or 1, decided exactly."""
        if not self.is_real:
            raise ValueError(f"{self} is not real, it has no sign")
        sx, sy = _sign(self._x), _sign(self._y)
        if sx == sy or not sy:
            return sx
        if not sx:
            return sy
        return sx * _sign(self._x * self._x - self._y * self._y * self._d)

    def conjugate(self) -> Surd:
        """x - y√d: the other root of its quadratic."""
        return Surd.in_field(self._x, -self._y, self._d)

    # -- arithmetic -------------------------------------------------------------------------------

    def __add__(self, other: Exact | Surd) -> Surd:
        pair = self._aligned(other)
        if pair is None:
            return NotImplemented
        x, y, d = pair
        return Surd.in_field(self._x + x, self._y + y, d)

    def __sub__(self, other: Exact | Surd) -> Surd:
        pair = self._aligned(other)
        if pair is None:
            return NotImplemented
        x, y, d = pair
        return Surd.in_field(self._x - x, self._y - y, d)

    def __rsub__(self, other: Exact) -> Surd:
        return -self + other

    def __mul__(self, other: Exact | Surd) -> Surd:
        pair = self._aligned(other)
        if pair is None:
            return NotImplemented
        x, y, d = pair
        return Surd.in_field(self._x * x + self._y * y * d, self._x * y + self._y * x, d)

    __radd__ = __add__
    __rmul__ = __mul__

    def __truediv__(self, other: Exact | Surd) -> Surd:
        pair = self._aligned(other)
        if pair is None:
            return NotImplemented
        x, y, d = pair
        norm = x * x - y * y * d
        if not norm:
            raise ZeroDivisionError(f"{self} divided by zero")
        return self * Surd.in_field(x / norm, -y / norm, d)

    def __rtruediv__(self, other: Exact) -> Surd:
        return Surd(other) / self

    def __neg__(self) -> Surd:
        return Surd.in_field(-self._x, -self._y, self._d)

    def __pos__(self) -> Surd:
        return self

    def __abs__(self) -> Surd:
        return -self if self.sign < 0 else self

    # -- comparison -------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (int, Fraction, fmpz, fmpq)):
            return not self._y and bool(self._x == to_rational(other))
        if not isinstance(other, Surd):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        # Equal to the hash of an equal int or Fraction.
        return hash(from_rational(self._x)) if not self._y else hash(self._key())

    def __bool__(self) -> bool:
        return bool(self._x) or bool(self._y)

    # -- the edge: where numbers are rounded or printed ---------------------------------------------

    def __complex__(self) -> complex:
        if self.is_real:
            return complex(float(self))
        return complex(float(from_rational(self._x)), float(Surd(0, self._y, -self._d)))

    def to_fraction(self) -> Fraction:
        """The number as a Fraction; ValueError if it is irrational."""
        if self._y:
            raise ValueError(f"{self} is not rational")
        return from_rational(self._x)

    def _real_ball(self, bits: int) -> flint.arb:
        before, flint.ctx.prec = flint.ctx.prec, bits  # `workprec` takes longer than all the rest
        try:
            return flint.arb(self._x) + flint.arb(self._y) * _root(self._d, bits)
        finally:
            flint.ctx.prec = before

    def __str__(self) -> str:
        if not self._y:
            return str(self._x)
        square, free = _split_square(self._d)
        y = self._y * square
        head = f"{self._x} " if self._x else ""
        sign = "-" if y < 0 else "+"
        size = "" if abs(y) == 1 else f"{abs(y)}*"
        root = f"√{free}" if free > 0 else f"√({free})"
        return f"{head}{sign} {size}{root}" if head else f"{'-' if sign == '-' else ''}{size}{root}"

    # -- inner ------------------------------------------------------------------------------------

    def _aligned(self, other: object) -> tuple[fmpq, fmpq, int] | None:
        """`other` as (x, y, d) with a radicand both sides share; None if it is no exact number."""
        if isinstance(other, Surd):
            if not self._y or self._d == other._d:
                return other._x, other._y, other._d
            if not other._y:
                return other._x, other._y, self._d
            root = math.isqrt(max(self._d * other._d, 0))
            if root * root != self._d * other._d:
                raise ValueError(f"{self} and {other} lie in different fields: √{self._d} and √{other._d}")
            return other._x, other._y * fmpq(root, self._d) * _sign(self._d), self._d
        if isinstance(other, (int, Fraction, fmpz, fmpq)):
            return to_rational(other), fmpq(0), self._d
        return None

    def _key(self) -> tuple[Fraction, Fraction]:
        """The same for equal numbers however their square factors are split: x and ±y²d."""
        return from_rational(self._x), from_rational(self._y * self._y * self._d * _sign(self._y))


@lru_cache(maxsize=256)
def _root(d: int, bits: int) -> flint.arb:
    """√d as a ball; the grades of one jury share it."""
    with flint.ctx.workprec(bits):
        return flint.arb(d).sqrt()


def _normal(x: fmpq, y: fmpq, d: fmpq) -> tuple[fmpq, fmpq, int]:
    """Fold a square radicand into x; make the radicand an integer."""
    y, radicand = y / d.q, int(d.p * d.q)
    if not y or not radicand:
        return x, fmpq(0), 1
    root = math.isqrt(max(radicand, 0))
    if root * root == radicand:
        return x + y * root, fmpq(0), 1
    return x, y, radicand


def _sign(value: fmpq | int) -> int:
    return (value > 0) - (value < 0)


def _split_square(d: int) -> tuple[int, int]:
    """(m, n) with d = m²n; only primes below the limit are tried, so n may keep a large square."""
    factors = fmpz(abs(d)).factor(trial_limit=_TRIAL_LIMIT)
    square, free = 1, 1
    for prime, power in factors:
        square *= int(prime) ** (power // 2)
        free *= int(prime) ** (power % 2)
    return square, free if d > 0 else -free
