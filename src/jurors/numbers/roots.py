"""The roots of one irreducible integer polynomial, told apart by balls that shrink on demand.

Order: real roots ascending, then complex ones in conjugate pairs. A root keeps its place at every precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import flint
from flint import acb, fmpq, fmpq_poly, fmpz_poly

from jurors.numbers.surd import Surd

_FIRST_BITS = 128


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
        bits = _FIRST_BITS if bits <= _FIRST_BITS else 1 << (bits - 1).bit_length()
        balls = self._balls.get(bits)
        if balls is None:
            balls = self._balls[bits] = self._isolated(bits)
        return balls[index]

    def _isolated(self, bits: int) -> tuple[acb, ...]:
        with flint.ctx.workprec(bits):
            pairs: list[Any] = list(fmpz_poly(list(self.coefficients)).complex_roots())
            balls = [acb(root) for root, _ in pairs]
        if bits == _FIRST_BITS:
            return tuple(sorted(balls, key=lambda z: not z.imag.is_zero()))
        first = [self.ball(k, _FIRST_BITS) for k in range(self.degree)]
        return tuple(next(z for z in balls if z.overlaps(old)) for old in first)

    def is_real(self, index: int) -> bool:
        """Whether this root is real: proved, not measured."""
        return index < self.real

    @cached_property
    def real(self) -> int:
        """How many roots are real; they come first."""
        if self.degree == 2:
            c, b, a = self.coefficients
            return 2 if b * b > 4 * a * c else 0
        return sum(bool(self.ball(k, _FIRST_BITS).imag.is_zero()) for k in range(self.degree))

    def conjugate(self, index: int) -> int:
        """The place of the complex conjugate of a root."""
        if self.is_real(index):
            return index
        mirrored = self.ball(index, _FIRST_BITS).conjugate()
        return next(k for k in range(self.degree) if self.ball(k, _FIRST_BITS).overlaps(mirrored))

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


@lru_cache(maxsize=512)
def root_set(coefficients: tuple[int, ...]) -> RootSet:
    """The roots of an irreducible primitive polynomial; one shared object per polynomial, so balls are found once."""
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
    upper = index == 1 if radicand > 0 else bool(roots.ball(index, _FIRST_BITS).imag > 0)
    slope = polynomial[1] / (2 * a)
    return Surd.in_field(polynomial[0] - slope * b, slope if upper else -slope, radicand)


def inverse(polynomial: fmpq_poly, modulus: fmpq_poly) -> fmpq_poly:
    """1/r modulo an irreducible polynomial that does not divide r."""
    _, result, _ = polynomial.xgcd(modulus)
    return result


def trace_of(roots: RootSet, polynomial: fmpq_poly) -> fmpq:
    """Σ r(λ) over all roots λ."""
    return sum((c * s for c, s in zip(polynomial.coeffs(), roots.power_sums, strict=False)), fmpq(0))


def root_text(roots: RootSet, index: int, name: str) -> str:
    """`z ≈ 0.347296 solves 1 - 3*z + z^3 = 0`."""
    ball = roots.ball(index, _FIRST_BITS)
    near = f"{float(ball.real.mid()):.6g}"
    if not roots.is_real(index):
        near += f" {'+' if ball.imag > 0 else '-'} {abs(float(ball.imag.mid())):.6g}i"
    return f"{name} ≈ {near} solves {polynomial_text(roots.coefficients, name)} = 0"
