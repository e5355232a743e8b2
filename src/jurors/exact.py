"""Exact numbers: surds and algebraic numbers.

Surds: numbers x + y√d with rational x, y and an integer d, the field in which every trio's grades are.

Sign, exactly: x and y√d agree in sign, or the larger of x² and y²d decides.
Digits, certified: ball arithmetic at growing precision until only one answer is left. An irrational number is never 0
and never half-way between two decimals, so at some precision its ball decides.

Algebraic numbers c + Σ r(λ), with rational polynomials r at isolated roots λ of integer polynomials.

The grades of three jurors with R labels are such numbers.

`RootSet` holds the roots of one irreducible polynomial, separated by balls that shrink on demand: real roots ascending,
then complex ones in conjugate pairs; a root keeps its place at every precision.

One root is the usual case, r(λ) in the field Q(λ) of an irreducible polynomial: it is 0 only if r is. Sums over several
roots are stored as they are, and the sum of all conjugates of one r collapses to its rational trace.
Sign: balls at growing precision. A sum over several roots may be 0; D·α is an algebraic integer for some D, and the
product of its at most N conjugates is at least 1 in size, so |α| < 1/(D (D B)^(N-1)) proves α = 0.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache, total_ordering
from typing import Any, Self, TypeAlias

import flint
from flint import acb, arb, fmpq, fmpq_poly, fmpz, fmpz_poly

# -- surds -------------------------------------------------------------------------------------------------------------

Exact: TypeAlias = "int | Fraction | fmpz | fmpq"
BITS = 128  #: precision that balls begin with
_TRIAL_LIMIT = 10_000  # primes below this are taken out of the root when printing: about 0.1 ms


@total_ordering
class SignedExact:
    """Differences, comparison and certified digits, which `Surd` and `Algebraic` share.

    Subclasses have sums, `sign`, `conjugate`, `_real_ball`, `is_rational`, `is_real` and `to_fraction`.
    """

    __slots__ = ()

    def __pos__(self: Any) -> Any:
        return self

    def __sub__(self: Any, other: Any) -> Any:
        return self + -other

    def __rsub__(self: Any, other: Any) -> Any:
        return -self + other

    def __hash__(self: Any) -> int:
        if self.is_rational:  # as an equal int or Fraction
            return hash(self.to_fraction())
        return hash((self if self.is_real else self + self.conjugate()).decimal())

    def __lt__(self: Any, other: Exact | SignedExact) -> bool:
        return bool((self - other).sign < 0)

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
                    nearest = (ball * arb(10) ** digits + arb(0.5)).floor().unique_fmpz()
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

    __slots__ = ("__dict__", "_x", "_y", "radicand")
    _x: fmpq
    _y: fmpq
    radicand: int  #: d of x + y√d; 1 for a rational number

    def __init__(self, x: Exact | Surd, y: Exact = 0, d: Exact = 1) -> None:
        if isinstance(x, Surd):
            self._x, self._y, self.radicand = x._x, x._y, x.radicand
        else:
            self._x, self._y, self.radicand = _normal(to_rational(x), to_rational(y), to_rational(d))

    @classmethod
    def sqrt(cls, value: Exact) -> Surd:
        """The square root of a rational, imaginary when it is negative."""
        q = to_rational(value)
        return cls(0, fmpq(1, q.q), int(q.p * q.q))  # √(p/q) = √(pq)/q

    @classmethod
    def in_field(cls, x: fmpq, y: fmpq, d: int) -> Surd:
        """Build x + y√d where d is already known not to be a square (or y is 0): no checks, for inner loops."""
        new = cls.__new__(cls)
        new._x, new._y, new.radicand = x, y, d if y else 1
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
    def is_rational(self) -> bool:
        """Whether there is no root left."""
        return not self._y

    @property
    def is_real(self) -> bool:
        """Whether the number has no imaginary part."""
        return self.radicand > 0 or not self._y

    @cached_property
    def sign(self) -> int:
        """-1, 0 or 1, decided exactly."""
        if not self.is_real:
            raise ValueError(f"{self} is not real, it has no sign")
        return _sign(self._x * abs(self._x) + self._y * abs(self._y) * self.radicand)

    def conjugate(self) -> Surd:
        """x - y√d: the other root of its quadratic."""
        return Surd.in_field(self._x, -self._y, self.radicand)

    # -- arithmetic -------------------------------------------------------------------------------

    def __add__(self, other: Exact | Surd) -> Surd:
        pair = self._aligned(other)
        if pair is None:
            return NotImplemented
        x, y, d = pair
        return Surd.in_field(self._x + x, self._y + y, d)

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
        return Surd.in_field(-self._x, -self._y, self.radicand)

    def __abs__(self) -> Surd:
        return -self if self.sign < 0 else self

    # -- comparison -------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (int, Fraction, fmpz, fmpq)):
            return not self._y and bool(self._x == to_rational(other))
        if not isinstance(other, Surd):
            return NotImplemented
        return self._key() == other._key()

    __hash__ = SignedExact.__hash__

    def __bool__(self) -> bool:
        return bool(self._x) or bool(self._y)

    # -- the edge: where numbers are rounded or printed ---------------------------------------------

    def __complex__(self) -> complex:
        if self.is_real:
            return complex(float(self))
        return complex(float(from_rational(self._x)), float(Surd(0, self._y, -self.radicand)))

    def to_fraction(self) -> Fraction:
        """The number as a Fraction; ValueError if it is irrational."""
        if self._y:
            raise ValueError(f"{self} is not rational")
        return from_rational(self._x)

    def _real_ball(self, bits: int) -> arb:
        before, flint.ctx.prec = flint.ctx.prec, bits  # `workprec` takes longer than all the rest
        try:
            return arb(self._x) + arb(self._y) * _root(self.radicand, bits)
        finally:
            flint.ctx.prec = before

    def __str__(self) -> str:
        square, free = _split_square(self.radicand)
        return polynomial_text((self._x, self._y * square), f"√{free}" if free > 0 else f"√({free})")

    # -- inner ------------------------------------------------------------------------------------

    def _aligned(self, other: object) -> tuple[fmpq, fmpq, int] | None:
        """`other` as (x, y, d) with a radicand both sides share; None if it is no exact number."""
        if isinstance(other, Surd):
            if not self._y or self.radicand == other.radicand:
                return other._x, other._y, other.radicand
            if not other._y:
                return other._x, other._y, self.radicand
            root = math.isqrt(max(self.radicand * other.radicand, 0))
            if root * root != self.radicand * other.radicand:
                raise ValueError(f"{self} and {other} lie in different fields: √{self.radicand} and √{other.radicand}")
            return other._x, other._y * fmpq(root, self.radicand) * _sign(self.radicand), self.radicand
        if isinstance(other, (int, Fraction, fmpz, fmpq)):
            return to_rational(other), fmpq(0), self.radicand
        return None

    def _key(self) -> tuple[Fraction, Fraction]:
        """The same for equal numbers however their square factors are split: x and ±y²d."""
        return from_rational(self._x), from_rational(self._y * self._y * self.radicand * _sign(self._y))


@lru_cache(maxsize=256)
def _root(d: int, bits: int) -> arb:
    """√d as a ball; the grades of one jury share it."""
    with flint.ctx.workprec(bits):
        return arb(d).sqrt()


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


# -- algebraic numbers -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RootSet:
    """All roots of a primitive irreducible polynomial, given by its coefficients from the constant upwards.

    Examples
    --------
    >>> cubic = root_set((1, -3, 0, 1))
    >>> [round(float(cubic.ball(k, 64).real), 6) for k in range(3)]
    [-1.879385, 0.347296, 1.532089]
    """

    coefficients: tuple[int, ...]
    _balls: dict[int, tuple[acb, ...]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def degree(self) -> int:
        """How many roots there are."""
        return len(self.coefficients) - 1

    @cached_property
    def polynomial(self) -> fmpq_poly:
        """The polynomial over the rationals."""
        return fmpq_poly(list(self.coefficients))

    def ball(self, index: int, bits: int) -> acb:
        """An enclosure of one root; it holds no other root, and its imaginary part is exactly 0 for a real root."""
        bits = BITS if bits <= BITS else 1 << (bits - 1).bit_length()
        balls = self._balls.get(bits)
        if balls is None:
            with flint.ctx.workprec(bits):
                pairs: list[Any] = list(fmpz_poly(list(self.coefficients)).complex_roots())
                isolated = [acb(root) for root, _ in pairs]
            if bits == BITS:  # the real roots first
                balls = tuple(sorted(isolated, key=lambda z: not z.imag.is_zero()))
            else:  # in the order of the first enclosures
                first = [self.ball(k, BITS) for k in range(self.degree)]
                balls = tuple(next(z for z in isolated if z.overlaps(old)) for old in first)
            self._balls[bits] = balls
        return balls[index]

    @cached_property
    def real(self) -> int:
        """How many roots are real; they come first."""
        if self.degree == 2:
            c, b, a = self.coefficients
            return 2 if b * b > 4 * a * c else 0
        return sum(bool(self.ball(k, BITS).imag.is_zero()) for k in range(self.degree))

    def conjugate(self, index: int) -> int:
        """The place of the complex conjugate of a root."""
        if index < self.real:
            return index
        mirrored = self.ball(index, BITS).conjugate()
        return next(k for k in range(self.degree) if self.ball(k, BITS).overlaps(mirrored))

    @cached_property
    def power_sums(self) -> tuple[fmpq, ...]:
        """Σ λ^k over all roots, for k below the degree: Newton's identities."""
        lead = self.coefficients[-1]
        monic = [fmpq(c, lead) for c in reversed(self.coefficients)]
        sums = [fmpq(self.degree)]
        for k in range(1, self.degree):
            inner = sum((monic[j] * sums[k - j] for j in range(1, k)), fmpq(0))
            sums.append(-inner - k * monic[k])
        return tuple(sums)

    @cached_property
    def bound(self) -> fmpq:
        """No root is larger in size than this (Cauchy's bound)."""
        return 1 + fmpq(max(abs(c) for c in self.coefficients[:-1]), abs(self.coefficients[-1]))


Root: TypeAlias = tuple[RootSet, int]


@lru_cache(maxsize=512)
def root_set(coefficients: tuple[int, ...]) -> RootSet:
    """The roots of an irreducible primitive polynomial; one shared object each, so that balls are computed once."""
    return RootSet(coefficients)


def root_sets(polynomial: Any) -> list[tuple[RootSet, int]]:
    """The irreducible factors of a polynomial over the rationals with their multiplicities, linear ones included."""
    _, factors = fmpz_poly(polynomial.numer()).factor()
    return [(root_set(tuple(int(c) for c in factor.coeffs())), power) for factor, power in factors]


def polynomial_text(coefficients: Sequence[Any], variable: str) -> str:
    """`1/3 - 2*z + z^3`, from the constant upwards."""
    text = ""
    for k, c in enumerate(coefficients):
        if not c:
            continue
        power = "" if k == 0 else variable if k == 1 else f"{variable}^{k}"
        size = str(abs(c)) if not power else power if abs(c) == 1 else f"{abs(c)}*{power}"
        sign = ("-" if c < 0 else "") if not text else (" - " if c < 0 else " + ")
        text += sign + size
    return text or "0"


def surd_at(roots: RootSet, index: int, polynomial: fmpq_poly) -> Surd:
    """r(λ) for a root λ = (-b ± √(b² - 4ac)) / 2a of a quadratic; the smaller real root comes first."""
    if polynomial.degree() > 1:
        polynomial = polynomial % roots.polynomial
    c, b, a = roots.coefficients
    radicand = b * b - 4 * a * c
    upper = index == 1 if radicand > 0 else bool(roots.ball(index, BITS).imag > 0)
    slope = polynomial[1] / (2 * a)
    return Surd.in_field(polynomial[0] - slope * b, slope if upper else -slope, radicand)


def inverse(polynomial: fmpq_poly, modulus: fmpq_poly) -> fmpq_poly:
    """1/r modulo an irreducible polynomial that does not divide r."""
    _, result, _ = polynomial.xgcd(modulus)
    return result


def root_text(roots: RootSet, index: int, name: str) -> str:
    """`z ≈ 0.347296 solves 1 - 3*z + z^3 = 0`."""
    ball = roots.ball(index, BITS)
    near = f"{float(ball.real.mid()):.6g}"
    if index >= roots.real:
        near += f" {'+' if ball.imag > 0 else '-'} {abs(float(ball.imag.mid())):.6g}i"
    return f"{name} ≈ {near} solves {polynomial_text(roots.coefficients, name)} = 0"


class Algebraic(SignedExact):
    """An exact algebraic number r(λ), λ one isolated root of an integer polynomial; or a sum of such.

    Products and quotients need one common root; sums, comparison and equality work across roots.

    Examples
    --------
    >>> low, middle, high = (Algebraic(root_set((1, -3, 0, 1)), k, [0, 1]) for k in range(3))  # z³ - 3z + 1 = 0
    >>> middle.decimal(12), middle**3 == 3 * middle - 1, low < Fraction(-3, 2) < high
    ('0.347296355334', True, True)
    >>> print(middle / 2 + Fraction(1, 3))
    1/3 + 1/2*z where z ≈ 0.347296 solves 1 - 3*z + z^3 = 0
    >>> low + middle + high == 0
    True
    """

    __slots__ = ("__dict__", "_constant", "_terms")
    _constant: fmpq
    _terms: dict[Root, fmpq_poly]  # polynomials without constant term, none of them zero

    def __init__(self, roots: RootSet, index: int, polynomial: fmpq_poly | Sequence[Exact]) -> None:
        if not isinstance(polynomial, fmpq_poly):
            polynomial = fmpq_poly([to_rational(c) for c in polynomial])
        if polynomial.degree() >= roots.degree:
            polynomial = polynomial % roots.polynomial
        self._constant = polynomial[0]
        rest = polynomial - self._constant
        self._terms = {(roots, index): rest} if rest else {}

    @classmethod
    def of(cls, value: Exact | Surd | Algebraic) -> Algebraic:
        """Any exact number as an Algebraic."""
        if isinstance(value, Algebraic):
            return value
        if isinstance(value, Surd) and not value.is_rational:
            # √d is the greater real root, or the one with positive imaginary part
            roots = root_set((-value.radicand, 0, 1))
            index = 1 if value.radicand > 0 else next(k for k in (0, 1) if roots.ball(k, BITS).imag > 0)
            return cls(roots, index, [value.rational_part, value.root_part])
        return _build(to_rational(value.to_fraction() if isinstance(value, Surd) else value), {})

    # -- what it is -------------------------------------------------------------------------------

    @cached_property
    def is_rational(self) -> bool:
        """Whether it is a ratio of whole numbers: decided exactly."""
        if len(self._terms) < 2:
            return not self._terms
        return self._nearest_rational() == self

    @property
    def is_real(self) -> bool:
        """Whether it has no imaginary part: decided exactly."""
        return all([k < roots.real for roots, k in self._terms]) or not self - self.conjugate()  # noqa: C419

    @property
    def sign(self) -> int:
        """-1, 0 or 1, decided exactly."""
        if not self.is_real:
            raise ValueError(f"{self} is not real, it has no sign")
        if not self._terms:
            return (self._constant > 0) - (self._constant < 0)
        bits = BITS
        while True:
            ball = self.ball(bits).real
            if ball > 0:
                return 1
            if ball < 0:
                return -1
            if not self:
                return 0
            bits *= 2

    def __bool__(self) -> bool:
        """Whether it differs from 0: decided exactly."""
        if len(self._terms) < 2:  # a polynomial of lower degree than the irreducible one never vanishes at its root
            return bool(self._terms) or bool(self._constant)
        bits, enough = BITS, self._separation
        while True:
            ball = self.ball(bits)
            if not ball.contains(0):
                return True
            with flint.ctx.workprec(bits):
                if ball.abs_upper() < arb(2) ** -enough:
                    return False
            bits *= 2

    def conjugate(self) -> Algebraic:
        """The complex conjugate."""
        return _build(self._constant, {(s, s.conjugate(k)): p for (s, k), p in self._terms.items()})

    def to_fraction(self) -> Fraction:
        """The number as a Fraction; ValueError if it is irrational."""
        if not self.is_rational:
            raise ValueError(f"{self} is not rational")
        return from_rational(self._constant if not self._terms else self._nearest_rational()._constant)

    def simplified(self) -> Surd | Algebraic:
        """A Surd where one square root or none is enough to write it down."""
        if not self._terms:
            return Surd(self._constant)
        ((roots, index), *more) = self._terms
        if more or roots.degree != 2:
            return self
        return surd_at(roots, index, self._polynomial())

    # -- arithmetic -------------------------------------------------------------------------------

    def __add__(self, other: Exact | Surd | Algebraic) -> Algebraic:
        if not isinstance(other, _EXACT):
            return NotImplemented
        right = Algebraic.of(other)
        terms = dict(self._terms)
        for root, p in right._terms.items():
            terms[root] = terms[root] + p if root in terms else p
        terms = {root: p for root, p in terms.items() if p}
        constant = self._constant + right._constant
        # Where every conjugate has a term, take the last one's polynomial off all of them: its trace is rational.
        for roots in {roots for roots, _ in terms} if len(terms) > 1 else ():
            places = [(roots, k) for k in range(roots.degree)]
            if all(place in terms for place in places):
                common = terms[places[-1]]
                constant += sum((c * s for c, s in zip(common.coeffs(), roots.power_sums, strict=False)), fmpq(0))
                terms = {r: q for r, p in terms.items() if (q := p - common if r in places else p)}
        return _build(constant, terms)

    def __neg__(self) -> Algebraic:
        return _build(-self._constant, {root: -p for root, p in self._terms.items()})

    def __mul__(self, other: Exact | Surd | Algebraic) -> Algebraic:
        if not isinstance(other, _EXACT):
            return NotImplemented
        right = Algebraic.of(other)
        if not right._terms or not self._terms:
            number, factor = (self, right._constant) if not right._terms else (right, self._constant)
            scaled = {root: p * factor for root, p in number._terms.items()} if factor else {}
            return _build(number._constant * factor, scaled)
        field = self._field()
        if right._field() != field:
            raise ValueError(f"{self} times {right}: products need one common root")
        return Algebraic(*field, self._polynomial() * right._polynomial())

    __radd__ = __add__
    __rmul__ = __mul__

    def __truediv__(self, other: Exact | Surd | Algebraic) -> Algebraic:
        if not isinstance(other, _EXACT):
            return NotImplemented
        right = Algebraic.of(other)
        if not right:
            raise ZeroDivisionError(f"{self} divided by zero")
        if not right._terms:
            return self * (1 / right._constant)
        field = right._field()
        return self * Algebraic(*field, inverse(right._polynomial(), field[0].polynomial))

    def __rtruediv__(self, other: Exact | Surd) -> Algebraic:
        return Algebraic.of(other) / self

    # -- comparison -------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        return not self - other if isinstance(other, _EXACT) else NotImplemented

    __hash__ = SignedExact.__hash__

    # -- the edge: where numbers are rounded or printed ---------------------------------------------

    def ball(self, bits: int = BITS) -> acb:
        """A rigorous enclosure computed with so many bits."""
        with flint.ctx.workprec(bits):
            total: acb | arb = arb(self._constant)
            for (roots, index), p in self._terms.items():
                at = roots.ball(index, bits)
                total += p.numer()(at.real if index < roots.real else at) / p.denom()
            return acb(total)

    def _real_ball(self, bits: int) -> arb:
        return self.ball(bits).real

    def __complex__(self) -> complex:
        if self.is_real:
            return complex(float(self))
        bits = BITS
        while (ball := self.ball(bits)).imag.rel_accuracy_bits() <= 64:  # never 0, as in float()
            bits *= 2
        return complex(float((self + self.conjugate()) / 2), float(ball.imag))

    def __str__(self) -> str:
        if not self._terms:
            return str(self._constant)
        if len(self._terms) == 1:
            ((roots, index),) = self._terms
            return f"{polynomial_text(self._polynomial().coeffs(), 'z')} where {root_text(roots, index, 'z')}"
        parts = [str(self._constant)] if self._constant else []
        names = [f"z{k}" for k in range(1, len(self._terms) + 1)]
        parts += [f"({polynomial_text(p.coeffs(), z)})" for z, p in zip(names, self._terms.values(), strict=True)]
        roots_text = ", ".join(root_text(*root, z) for z, root in zip(names, self._terms, strict=True))
        return f"{' + '.join(parts)} where {roots_text}"

    # -- inner ------------------------------------------------------------------------------------

    def _field(self) -> Root:
        if len(self._terms) > 1:
            raise ValueError(f"{self} is a sum over several roots; it has no single field")
        return next(iter(self._terms), (root_set((0, 1)), 0))

    def _polynomial(self) -> fmpq_poly:
        """R of r(λ), for at most one root."""
        return next(iter(self._terms.values()), fmpq_poly()) + self._constant

    @cached_property
    def _size(self) -> tuple[int, fmpq]:
        """D and B: D times this number is an algebraic integer, and no conjugate is larger in size than B."""
        scale, size = int(self._constant.q), abs(self._constant)
        for (roots, _), p in self._terms.items():
            scale = math.lcm(scale, int(p.denom()) * roots.coefficients[-1] ** p.degree())
            size += sum((abs(c) * roots.bound**k for k, c in enumerate(p.coeffs())), fmpq(0))
        return scale, size

    @cached_property
    def _separation(self) -> int:
        """Only 0 is smaller than 2^-this."""
        scale, size = self._size
        used = Counter(roots for roots, _ in self._terms)
        conjugates = math.prod(math.perm(roots.degree, k) for roots, k in used.items())
        return scale.bit_length() + (conjugates - 1) * int((scale * size).ceil()).bit_length() + 1

    def _nearest_rational(self) -> Algebraic:
        """The one rational number this can be, if it is rational."""
        scale, bits = self._size[0], BITS
        while True:
            ball = self.ball(bits).real
            with flint.ctx.workprec(bits):
                scaled = ball * scale + arb(0.5)
                near = scaled.mid().floor().unique_fmpz()
                if scaled.rad() < 0.25 and near is not None:
                    return Algebraic.of(fmpq(near, scale))
            bits *= 2


_EXACT = (int, Fraction, fmpz, fmpq, Surd, Algebraic)


def _build(constant: fmpq, terms: Mapping[Root, fmpq_poly]) -> Algebraic:
    new = Algebraic.__new__(Algebraic)
    new._constant, new._terms = constant, dict(terms)
    return new


def exact_sum(values: Iterable[Exact | Surd | Algebraic]) -> Surd | Algebraic:
    """The sum of exact numbers of any fields; a Surd where the roots cancel or one square root is left.

    Examples
    --------
    >>> print(exact_sum([Surd.sqrt(2), Surd.sqrt(3), 1 - Surd.sqrt(2)]))
    1 + √3
    >>> cubic = root_set((1, -3, 0, 1))  # z³ - 3z + 1: the squares of its three roots add up to 6
    >>> print(exact_sum(Algebraic(cubic, k, [0, 0, 1]) for k in range(3)))
    6
    """
    terms = list(values)
    if not any(isinstance(term, Algebraic) for term in terms):
        try:  # nearly always all terms lie in one field
            total: Surd | Algebraic = Surd(0)
            for term in terms:
                total = total + term
            return total
        except ValueError:
            pass
    mixed = Algebraic.of(0)
    for value in terms:
        mixed = mixed + value
    return mixed.simplified()


def number_at(roots: RootSet, index: int, polynomial: fmpq_poly) -> Surd | Algebraic:
    """r(λ) in its simplest form: a rational Surd, a Surd, or an Algebraic, by the degree of λ."""
    if roots.degree == 1:
        return Surd.in_field(polynomial(fmpq(-roots.coefficients[0], roots.coefficients[1])), fmpq(0), 1)
    if roots.degree == 2:
        return surd_at(roots, index, polynomial)
    return Algebraic(roots, index, polynomial)
