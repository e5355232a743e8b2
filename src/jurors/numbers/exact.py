"""Exact numbers from polynomials and sums across fields, each in its simplest form: a Surd where one root will do."""

from __future__ import annotations

from collections.abc import Iterable

from flint import fmpq, fmpq_poly

from jurors.numbers.algebraic import Algebraic
from jurors.numbers.by_sign import Exact
from jurors.numbers.roots import RootSet, surd_at
from jurors.numbers.surd import Surd

_ZERO = Surd(0)


def exact_sum(values: Iterable[Exact | Surd | Algebraic]) -> Surd | Algebraic:
    """The sum of exact numbers of any fields; a Surd where the roots cancel or one square root is left.

    Examples
    --------
    >>> print(exact_sum([Surd.sqrt(2), Surd.sqrt(3), 1 - Surd.sqrt(2)]))
    1 + √3
    >>> from jurors.numbers.roots import root_set
    >>> cubic = root_set((1, -3, 0, 1))  # z³ - 3z + 1: the squares of its three roots add up to 6
    >>> print(exact_sum(Algebraic(cubic, k, [0, 0, 1]) for k in range(3)))
    6
    """
    terms = list(values)
    if not any(isinstance(term, Algebraic) for term in terms):
        try:  # nearly always all terms lie in one field
            total: Surd | Algebraic = _ZERO
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
