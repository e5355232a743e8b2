"""Numbers c + Σ r(λ) with rational polynomials r at isolated roots λ of integer polynomials: grades of R labels.

One root is the usual case, r(λ) in the field Q(λ) of an irreducible polynomial: it is 0 only if r is. Sums over
several roots are kept as they are, and all conjugates of one r together collapse to its rational trace.
Sign: balls at growing precision. A sum over several roots may be 0; D·α is an algebraic integer for some D, and the
product of its at most N conjugates is at least 1 in size, so |α| < 1/(D (D B)^(N-1)) proves α = 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import flint
from flint import acb, arb, fmpq, fmpq_mat, fmpq_poly, fmpz, fmpz_poly

from jurors.numbers.by_sign import BITS, BySign, Exact, from_rational, to_rational
from jurors.numbers.roots import RootSet, inverse, polynomial_text, root_set, root_text, surd_at, trace_of
from jurors.numbers.surd import Surd

Root: TypeAlias = tuple[RootSet, int]


class Algebraic(BySign):
    """An exact algebraic number r(λ), λ one isolated root of an integer polynomial; or a sum of such.

    Products and quotients need one common root; sums, comparison and equality work across roots.

    Examples
    --------
    >>> low, middle, high = (Algebraic(root_set((1, -3, 0, 1)), k, [0, 1]) for k in range(3))  # z³ - 3z + 1 = 0
    >>> middle.decimal(12), middle**3 == 3 * middle - 1, low < Fraction(-3, 2) < high
    ('0.347296355334', True, True)
    >>> print(middle / 2 + Fraction(1, 3))
    1/3 + 1/2*z where z ≈ 0.347296 solves 1 - 3*z + z^3 = 0
    >>> low + middle + high == 0, middle.trace(), (middle * middle).trace()
    (True, Fraction(0, 1), Fraction(6, 1))
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
        return self._nearest_ratio() == self

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

    def trace(self) -> Fraction:
        """Σ r over all roots of the polynomial that λ solves: rational. A rational number is its own trace."""
        roots, _ = self._field()
        return from_rational(self._constant * roots.degree + trace_of(roots, self._polynomial() - self._constant))

    @cached_property
    def minimal_polynomial(self) -> tuple[int, ...]:
        """The coefficients, from the constant upwards, of the integer polynomial of least degree with this root."""
        roots, _ = self._field()
        own, n = self._polynomial(), roots.degree
        rows = [(own * fmpq_poly([0] * k + [1])) % roots.polynomial for k in range(n)]
        monic = fmpq_mat(n, n, [row[c] for row in rows for c in range(n)]).minpoly()
        return tuple(int(c) for c in fmpz_poly(monic.numer()).coeffs())

    def to_fraction(self) -> Fraction:
        """The number as a Fraction; ValueError if it is irrational."""
        if not self.is_rational:
            raise ValueError(f"{self} is not rational")
        return from_rational(self._constant if not self._terms else self._nearest_ratio()._constant)

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
        return _build(constant, terms) if len(terms) < 2 else _build(*_collapsed(constant, terms))

    def __neg__(self) -> Algebraic:
        return _build(-self._constant, {root: -p for root, p in self._terms.items()})

    def __sub__(self, other: Exact | Surd | Algebraic) -> Algebraic:
        return self + -other if isinstance(other, _EXACT) else NotImplemented

    def __rsub__(self, other: Exact | Surd) -> Algebraic:
        return -self + other

    def __mul__(self, other: Exact | Surd | Algebraic) -> Algebraic:
        if not isinstance(other, _EXACT):
            return NotImplemented
        right = Algebraic.of(other)
        if not right._terms or not self._terms:
            many, factor = (self, right._constant) if not right._terms else (right, self._constant)
            scaled = {root: p * factor for root, p in many._terms.items()} if factor else {}
            return _build(many._constant * factor, scaled)
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

    def __pow__(self, exponent: int) -> Algebraic:
        return math.prod([self] * exponent, start=Algebraic.of(1)) if exponent >= 0 else 1 / self**-exponent

    # -- comparison -------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        return not self - other if isinstance(other, _EXACT) else NotImplemented

    def __hash__(self) -> int:
        if not self._terms:
            return hash(from_rational(self._constant))
        if len(self._terms) > 1:
            raise TypeError("a sum over several roots has no hash; hash its terms")
        minimal = self.minimal_polynomial
        if len(minimal) == 3:  # a square root in disguise must hash as the Surd it equals
            roots = root_set(minimal)
            pair = (surd_at(roots, k, fmpq_poly([0, 1])) for k in (0, 1))
            return hash(next(x for x in pair if self == x))
        return hash(minimal)

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

    def __repr__(self) -> str:
        return f"Algebraic({self})"

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
        taken: dict[RootSet, int] = {}
        for roots, _ in self._terms:
            taken[roots] = taken.get(roots, 0) + 1
        conjugates = math.prod(math.perm(roots.degree, k) for roots, k in taken.items())
        return scale.bit_length() + (conjugates - 1) * int((scale * size).ceil()).bit_length() + 1

    def _nearest_ratio(self) -> Algebraic:
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


def _collapsed(constant: fmpq, terms: dict[Root, fmpq_poly]) -> tuple[fmpq, dict[Root, fmpq_poly]]:
    """Where every conjugate has a term, take the last one's polynomial off all of them: its trace is rational."""
    for roots in {roots for roots, _ in terms}:
        places = [(roots, k) for k in range(roots.degree)]
        if all(place in terms for place in places):
            common = terms[places[-1]]
            constant += trace_of(roots, common)
            terms = {r: q for r, p in terms.items() if (q := p - common if r in places else p)}
    return constant, terms
