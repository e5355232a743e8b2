"""Three jurors, R labels: the counts cut into slices by one juror, as commuting matrices over the rationals.

In: an R x R x R table of counts. Out: a `Decomposition`, one `Component` (a prevalence and three rows of confusion
matrices, exact numbers) per label that the counts show. `trio_multiclass` names the components and reports outcomes.

M_c = n[:, :, c] the counts where the slicing juror votes c, M = Σ_c M_c of rank r, with pivot rows I and columns J:
    A_c = M_c[I,J] M[I,J]⁻¹,   Σ_c A_c = 1,   M_c = L A_c M[I,:],   L = M[:,J] M[I,J]⁻¹.
Independent jurors give A_c = U diag(w_l[c]) U⁻¹: all A_c commute, and their joint eigenvalues are the slicer's rows.
For A = Σ x_c A_c with minimal polynomial s, squarefree and of degree d, the projector of an eigenvalue λ is
    E(λ) = B(λ) / s'(λ),   B(z) = Σ z^j B_j,   B_{d-1} = 1,   B_{j-1} = A B_j + s_j.
The pair table of that label is L E M[I,:] = Q p u vᵀ, and w[c] = tr(A_c E) / tr(E).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpq_poly, fmpz_mat

from jurors._numeric import Integers
from jurors.exact import Algebraic, RootSet, Surd, inverse, number_at, root_sets

ExactVector = tuple["Surd | Algebraic", ...]
_ZERO = fmpq(0)
_SPREAD = (0, 1, 3, 7, 12, 20, 30, 44, 65, 80)  # all differences differ: few rows of shares collide under it


@dataclass(frozen=True)
class Slicing:
    """The counts as seen by one slicing juror."""

    slicer: int
    rank: int
    slices: tuple[fmpz_mat, ...]  #: M_c
    total: fmpz_mat  #: M

    @classmethod
    def of(cls, table: Integers, slicer: int) -> Slicing:
        """Cut an R x R x R table of counts; the other two jurors keep their order."""
        size = len(table)
        moved = np.moveaxis(table, slicer, 0).reshape(size, -1).tolist()
        slices = tuple(fmpz_mat(size, size, cells) for cells in moved)
        total = fmpz_mat(size, size, np.sum(table, axis=slicer).ravel().tolist())
        return cls(slicer, total.rank(), slices, total)

    @classmethod
    def best(cls, table: Integers) -> Slicing:
        """By the juror whose two colleagues show the most labels; the last such.

        A solution has as many labels as the best pair shows, or more; one that shows them all decides everything.
        """
        best = cls.of(table, 2)
        for slicer in (1, 0):
            if best.rank < len(table):
                best = max(best, cls.of(table, slicer), key=lambda cut: cut.rank)
        return best


@dataclass(frozen=True)
class Algebra:
    """The matrices A_c of a slicing, and what turns their projectors back into counts."""

    matrices: tuple[fmpq_mat, ...]  #: A_c, r x r
    left: fmpq_mat  #: L, R x r
    right: fmpq_mat  #: M[I,:], r x R
    is_faithful: bool  #: whether every slice is L A_c M[I,:], so that nothing lies outside the r dimensions

    @classmethod
    def of(cls, cut: Slicing) -> Algebra:
        """The algebra of the slices, in r dimensions."""
        size = len(cut.slices)
        if cut.rank == size:
            whole = fmpq_mat(cut.total)
            back = whole.inv()
            return cls(tuple(fmpq_mat(m) * back for m in cut.slices), _scalar(size, fmpq(1)), whole, True)
        rows, columns = _pivots(cut.total.transpose()), _pivots(cut.total)
        everything = range(size)
        back = _part(cut.total, rows, columns).inv()
        left = _part(cut.total, everything, columns) * back
        right = _part(cut.total, rows, everything)
        matrices = tuple(_part(m, rows, columns) * back for m in cut.slices)
        faithful = all(left * a * right == fmpq_mat(m) for a, m in zip(matrices, cut.slices, strict=True))
        return cls(matrices, left, right, faithful)

    @property
    def dimension(self) -> int:
        """r."""
        return int(self.right.nrows())

    def commutes(self) -> bool:
        """Whether all A_c commute: the last is 1 minus the others, so it need not be tried."""
        free = self.matrices[:-1]
        return all(x * y == y * x for k, x in enumerate(free) for y in free[:k])

    def is_scalar(self) -> bool:
        """Whether the slicing juror answers alike on every visible label."""
        return all(a == _scalar(self.dimension, a[0, 0]) for a in self.matrices)

    @cached_property
    def is_semisimple(self) -> bool:
        """Whether every A_c is diagonalisable; then, since they commute, all of them are at once."""
        minimal = [a.minpoly() for a in self.matrices]
        return all(m.gcd(m.derivative()).degree() == 0 for m in minimal)

    def is_generated_by(self, mixed: fmpq_mat, degree: int) -> bool:
        """Whether every A_c is a polynomial of `mixed`, of less than this degree.

        `degree` is the number of its eigenvalues, all A_c being diagonalisable. The coefficients follow from what the
        powers do to one vector that is orthogonal to no eigenspace.
        """
        size = self.dimension
        powers = [_scalar(size, fmpq(1))]
        for _ in range(degree - 1):
            powers.append(mixed * powers[-1])
        for t in range(2, 3 + degree * (size - 1)):  # an eigenspace is orthogonal to at most r-1 of these
            vector = fmpq_mat(size, 1, [t**k for k in range(size)])
            krylov = _side_by_side([power * vector for power in powers])
            if krylov.rank() == degree:
                break
        transposed = krylov.transpose()
        images = transposed * _side_by_side([a * vector for a in self.matrices])
        coefficients = (transposed * krylov).solve(images).transpose().tolist()
        return all(
            sum((x * power for x, power in zip(row, powers, strict=True)), fmpq_mat(size, size)) == a
            for row, a in zip(coefficients, self.matrices, strict=True)
        )

    def commutator_size(self) -> float:
        """How far from commuting: 0 for commuting matrices, 1 for the worst there are.

        |XY - YX| ≤ √2 |X| |Y| (Böttcher and Wenzel), so the greatest ratio over the pairs lies between 0 and 1.
        Traces are taken off first, since they commute with everything.
        """
        n = self.dimension
        dense = [np.array([float(x.p) / float(x.q) for x in a.entries()]).reshape(n, n) for a in self.matrices]
        free = [x - np.trace(x) / n * np.eye(n) for x in dense]
        worst = 0.0
        for k, x in enumerate(free):
            for y in free[:k]:
                scale = math.sqrt(2) * np.linalg.norm(x) * np.linalg.norm(y)
                worst = max(worst, float(np.linalg.norm(x @ y - y @ x) / scale) if scale else 0.0)
        return worst


@dataclass(frozen=True)
class Component:
    """What the counts say about one hidden label, or about several that the slicing juror cannot tell apart."""

    multiplicity: int
    prevalence: Surd | Algebraic  #: of all its labels
    first: ExactVector  #: u, what the first of the other two jurors says
    second: ExactVector  #: v, what the second of them says
    sliced: ExactVector  #: w, what the slicing juror says


@dataclass(frozen=True)
class Decomposition:
    """All components, by irreducible factor of the minimal polynomial."""

    components: tuple[Component, ...]
    is_rational: bool
    is_real: bool


def decompose(algebra: Algebra, items: int) -> Decomposition | None:
    """The components of a commuting algebra, from the projectors of one separating matrix.

    Returns
    -------
    Decomposition or None
        None where there are no components (not diagonalisable, or a share at infinity).
    """
    mixed, factors = _separating_mix(algebra)
    minimal = math.prod((roots.polynomial for roots, _ in factors), start=fmpq_poly([1]))
    minimal = minimal / minimal.leading_coefficient()
    resolvent = _resolvent(mixed, minimal)
    if resolvent is None or (minimal.degree() < algebra.dimension and not algebra.is_semisimple):
        return None
    # every statistic of a component as a polynomial in its eigenvalue: Q p u vᵀ s' by rows and columns, tr(A_c E) s'
    size, rank, slope = algebra.left.nrows(), algebra.dimension, minimal.derivative()
    row_sums, column_sums = algebra.right * fmpq_mat(size, 1, [1] * size), fmpq_mat(1, size, [1] * size) * algebra.left
    rows = _by_entry([(algebra.left * (b * row_sums)).entries() for b in resolvent])
    columns = _by_entry([((column_sums * b) * algebra.right).entries() for b in resolvent])
    # tr(A B) = Σ A[i,k] B[k,i]: all A_c as rows times all B_j as columns
    stacked = fmpq_mat(size, rank * rank, [x for a in algebra.matrices for x in a.entries()])
    flat = fmpq_mat(len(resolvent), rank * rank, [x for b in resolvent for x in b.transpose().entries()])
    traces = [fmpq_poly(t) for t in (stacked * flat.transpose()).tolist()]
    every: list[Component] = []
    for roots, multiplicity in factors:  # all roots of one irreducible factor have the same polynomials
        modulus = roots.polynomial
        first, second, sliced = ([p % modulus for p in ps] for ps in (rows, columns, traces))
        total = sum(first, fmpq_poly())
        if not total:
            return None
        per_total, per_slope = inverse(total, modulus), inverse(slope % modulus, modulus)
        prevalence = total * per_slope % modulus / items
        vectors = [[p * per_total % modulus for p in ps] for ps in (first, second)]
        vectors.append([p * per_slope % modulus / multiplicity for p in sliced])
        for k in range(roots.degree):
            shares = (tuple(number_at(roots, k, p) for p in ps) for ps in vectors)
            every.append(Component(multiplicity, number_at(roots, k, prevalence), *shares))
    real = all(roots.real == roots.degree for roots, _ in factors if roots.degree > 1)
    return Decomposition(tuple(every), all(roots.degree == 1 for roots, _ in factors), real)


def _separating_mix(algebra: Algebra) -> tuple[fmpq_mat, list[tuple[RootSet, int]]]:
    """A = Σ x_c A_c with as many different eigenvalues as any x gives, and its eigenvalues by irreducible factor.

    Where they are fewer than r, that is proved: A separates all that any A_c does just when each A_c is a polynomial
    of A. A_c that are not diagonalisable have no components, whatever x is.
    """
    best: tuple[int, Any, Any] = (0, None, None)
    labels = len(algebra.matrices)
    # weights x, enough of them that one separates any r different rows: two rows agree on at most R-1 powers t^c
    mixes = [_SPREAD[:labels]] if labels <= len(_SPREAD) else []
    powers = range(2, 3 + math.comb(algebra.dimension, 2) * (labels - 1))
    for x in itertools.chain(mixes, (tuple(t**c for c in range(labels)) for t in powers)):
        mixed = sum((k * a for k, a in zip(x[1:], algebra.matrices[1:], strict=True)), x[0] * algebra.matrices[0])
        factors = root_sets(mixed.charpoly())
        distinct = sum(roots.degree for roots, _ in factors)
        if distinct > best[0]:
            best = (distinct, mixed, factors)
            if distinct == algebra.dimension or not algebra.is_semisimple or algebra.is_generated_by(mixed, distinct):
                break
    return best[1], best[2]


def _resolvent(mixed: fmpq_mat, minimal: fmpq_poly) -> list[fmpq_mat] | None:
    """B_0 … B_{d-1}; None unless the polynomial annihilates the matrix, that is, unless A is diagonalisable."""
    size, degree = mixed.nrows(), minimal.degree()
    powers = [_scalar(size, fmpq(1))]
    for j in range(degree - 1, -1, -1):
        powers.append(mixed * powers[-1] + _scalar(size, minimal[j]))
    return powers[-2::-1] if powers[-1] == fmpq_mat(size, size) else None


def _by_entry(vectors: Sequence[Sequence[fmpq]]) -> list[fmpq_poly]:
    return [fmpq_poly(list(entry)) for entry in zip(*vectors, strict=True)]


def _scalar(size: int, value: fmpq) -> fmpq_mat:
    return fmpq_mat(size, size, [value if k % (size + 1) == 0 else 0 for k in range(size * size)])


def _side_by_side(columns: Sequence[fmpq_mat]) -> fmpq_mat:
    return fmpq_mat(len(columns), columns[0].nrows(), [x for column in columns for x in column.entries()]).transpose()


def _pivots(matrix: fmpz_mat) -> list[int]:
    reduced = matrix.rref()[0].tolist()
    return [next(c for c, x in enumerate(row) if x) for row in reduced if any(row)]


def _part(matrix: fmpz_mat, rows: Sequence[int], columns: Sequence[int]) -> fmpq_mat:
    return fmpq_mat(len(rows), len(columns), [matrix[i, j] for i in rows for j in columns])
