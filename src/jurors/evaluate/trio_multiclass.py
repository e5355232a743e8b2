"""Three jurors, R labels: the R-label jury evaluation theorem, exactly; Theorem 2 of the paper is its case R = 2.

In: a `Sketch` of three jurors. Out: `MultilabelDecode`, one of the R! evaluations that explain the counts, or the
reason why there is none.

Counts of independent jurors are a sum of R products, one for each true label. `decompose` computes the summands as
joint eigenvectors over the rationals: a `Decomposition`, one `Component` (a prevalence and three rows of confusion
matrices, exact numbers) per label that the counts show. The counts are cut into slices by one juror, as commuting
matrices. With M_c = n[:, :, c] the counts where the slicing juror votes c, M = Σ_c M_c of rank r, with pivot rows I and
columns J:
    A_c = M_c[I,J] M[I,J]⁻¹,   Σ_c A_c = 1,   M_c = L A_c M[I,:],   L = M[:,J] M[I,J]⁻¹.
Independent jurors give A_c = U diag(w_l[c]) U⁻¹: all A_c commute, and their joint eigenvalues are the slicer's rows.
For A = Σ x_c A_c with minimal polynomial s, squarefree and of degree d, the projector of an eigenvalue λ is
    E(λ) = B(λ) / s'(λ),   B(z) = Σ z^j B_j,   B_{d-1} = 1,   B_{j-1} = A B_j + s_j.
The pair table of that label is L E M[I,:] = Q p u vᵀ, and w[c] = tr(A_c E) / tr(E).
For R > 2 there are more counts than unknowns, so most tables have no solution at all: then the matrices do not commute.

The counts fix the summands only up to R! relabelings, so a rule must name them: by default the relabeling of greatest
total label accuracy, which is an assignment problem. It is solved on whole numbers of any size, without rounding, by
the Hungarian method with potentials (Kuhn; Munkres); the runner-up, the best assignment that lacks some edge of the
best, says how clear the choice is.

`decode_floats` is the same decode in floats, for counts that have no exact one: a start value for estimation, not an
estimate. Slices of a real test's counts hardly ever commute. Each slicing juror and each of a few mixtures gives a
decode all the same; the one under which the counts are likeliest is returned.

The theory with its proofs: docs/theory.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, product
from typing import cast

import numpy as np
from flint import fmpq, fmpq_mat, fmpq_poly, fmpz_mat
from numpy.typing import ArrayLike

from jurors._numeric import Floats, Integers
from jurors.errors import DegenerateSketchError, SketchError, match_name
from jurors.evaluate.solution import DEFAULT_RULE, Choice, Number, Solution, tuple_posterior
from jurors.evaluate.trio import MOST_LABELS, check_three_jurors, has_whole_counts
from jurors.exact import Algebraic, RootSet, Surd, exact_sum, inverse, number_at, root_sets
from jurors.options import Label
from jurors.sketch.sketch import Sketch

_Numeric = Surd | Algebraic
ExactVector = tuple[_Numeric, ...]
_BITS = 64
_MIXES = 4
_LEAST = 1e-3  # shares of a start value stay away from 0, where expectation-maximisation could not leave again
_SPREAD = (0, 1, 3, 7, 12, 20, 30, 44, 65, 80)  # all differences differ: few rows of shares collide under it

# -- the summands -------------------------------------------------------------------------------------------------


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
        everything = range(len(cut.slices))
        rows, columns = _pivots(cut.total.transpose()), _pivots(cut.total)
        back = _part(cut.total, rows, columns).inv()
        left = _part(cut.total, everything, columns) * back
        right = _part(cut.total, rows, everything)
        matrices = tuple(_part(m, rows, columns) * back for m in cut.slices)
        pairs = zip(matrices, cut.slices, strict=True)
        faithful = cut.rank == len(everything) or all(left * a * right == fmpq_mat(m) for a, m in pairs)
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
    prevalence: _Numeric  #: of each of its labels
    rows: tuple[ExactVector, ...]  #: by juror, what it says on its items: u and v, and w of the slicing juror


@dataclass(frozen=True)
class Decomposition:
    """All components, by irreducible factor of the minimal polynomial."""

    components: tuple[Component, ...]
    is_rational: bool
    is_real: bool


def decompose(algebra: Algebra, items: int, slicer: int) -> Decomposition | None:
    """The components of a commuting algebra, from the projectors of one separating matrix.

    Returns
    -------
    Decomposition or None
        None where there are no components (not diagonalisable, or a share at infinity).
    """
    # A = Σ x_c A_c with as many different eigenvalues as any x gives, and its eigenvalues by irreducible factor. Where
    # they are fewer than r, that is proved: A separates all that any A_c does just when each A_c is a polynomial of A.
    # A_c that are not diagonalisable have no components, whatever x is.
    most, mixed, factors = 0, fmpq_mat(0, 0), list[tuple[RootSet, int]]()
    labels = len(algebra.matrices)
    # weights x, enough of them that one separates any r different rows: two rows agree on at most R-1 powers t^c
    mixes = [_SPREAD[:labels]] if labels <= len(_SPREAD) else []
    exponents = range(2, 3 + math.comb(algebra.dimension, 2) * (labels - 1))
    for x in chain(mixes, (tuple(t**c for c in range(labels)) for t in exponents)):
        candidate = sum((k * a for k, a in zip(x[1:], algebra.matrices[1:], strict=True)), x[0] * algebra.matrices[0])
        found = root_sets(candidate.charpoly())
        distinct = sum(roots.degree for roots, _ in found)
        if distinct > most:
            most, mixed, factors = distinct, candidate, found
            if (
                distinct == algebra.dimension
                or not algebra.is_semisimple
                or algebra.is_generated_by(candidate, distinct)
            ):
                break
    minimal = math.prod((roots.polynomial for roots, _ in factors), start=fmpq_poly([1]))
    minimal = minimal / minimal.leading_coefficient()
    # B_{d-1} … B_0, then 0 just when the polynomial annihilates the matrix, that is, when A is diagonalisable
    powers = [_scalar(algebra.dimension, fmpq(1))]
    for j in range(minimal.degree() - 1, -1, -1):
        powers.append(mixed * powers[-1] + _scalar(algebra.dimension, minimal[j]))
    is_annihilated = powers.pop() == fmpq_mat(algebra.dimension, algebra.dimension)
    if not is_annihilated or (minimal.degree() < algebra.dimension and not algebra.is_semisimple):
        return None
    resolvent = powers[::-1]
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
            shares = [tuple(number_at(roots, k, p) for p in ps) for ps in vectors]
            shares.insert(slicer, shares.pop())
            share = number_at(roots, k, prevalence)
            every.append(Component(multiplicity, share if multiplicity == 1 else share / multiplicity, tuple(shares)))
    real = all(roots.real == roots.degree for roots, _ in factors if roots.degree > 1)
    return Decomposition(tuple(every), all(roots.degree == 1 for roots, _ in factors), real)


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


# -- the best assignment and the runner-up --------------------------------------------------------------------------


def best_assignment(gains: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Assign rows to columns, no column twice, with the greatest total gain; there are as many columns or more.

    The Hungarian method: one augmenting path a row; column `columns` is where a path starts.

    Returns
    -------
    tuple of int
        The column of each row.

    Examples
    --------
    >>> best_assignment([[9, 8, 1], [9, 5, 1], [3, 3, 3]])
    (1, 0, 2)
    """
    rows, columns = len(gains), len(gains[0])
    of_row, of_column = [0] * rows, [0] * (columns + 1)  # potentials
    owner = [-1] * (columns + 1)
    for row in range(rows):
        owner[columns], at = row, columns
        slack: list[int | None] = [None] * columns
        came, seen = [columns] * columns, [False] * (columns + 1)
        while owner[at] >= 0:
            seen[at] = True
            line, base = gains[owner[at]], of_row[owner[at]]
            step, nearest = None, -1
            for j in range(columns):
                if seen[j]:
                    continue
                reduced, known = -line[j] - base - of_column[j], slack[j]
                if known is None or reduced < known:
                    slack[j], came[j], known = reduced, at, reduced
                if step is None or known < step:
                    step, nearest = known, j
            step = step or 0
            for j, inside in enumerate(seen):  # move the potentials of the tree, so that one more edge becomes free
                if inside:
                    of_row[owner[j]] += step
                    of_column[j] -= step
                elif j < columns and (known := slack[j]) is not None:
                    slack[j] = known - step
            at = nearest
        while at != columns:
            owner[at], at = owner[came[at]], came[at]
        owner[columns] = -1
    place = {owner[j]: j for j in range(columns)}
    return tuple(place[row] for row in range(rows))


def second_assignment(
    gains: Sequence[Sequence[int]], best: Sequence[int], groups: Sequence[int]
) -> tuple[int, ...] | None:
    """The best assignment other than `best`.

    Rows of one group are copies: exchanging them makes no other assignment.

    Returns
    -------
    tuple of int or None
        The column of each row; None where there is no other assignment.

    Examples
    --------
    >>> second_assignment([[9, 8, 1], [9, 5, 1], [3, 3, 3]], (1, 0, 2), groups=(0, 1, 2))
    (0, 1, 2)
    """
    sizes = [abs(gain) for row in gains for gain in row]
    banned = 2 * (len(gains) + 1) * (max(sizes) + 1)  # costs more than any assignment without it gains
    others = []
    for row, column in enumerate(best):  # the best assignment that does not put this row (or a copy of it) there
        copies = [r for r, group in enumerate(groups) if group == groups[row]]
        without = [list(line) for line in gains]
        for r in copies:
            without[r][column] = -banned
        places = best_assignment(without)
        if all(places[r] != column for r in copies):
            others.append(places)
    return max(others, key=lambda places: total_gain(gains, places), default=None)


def total_gain(gains: Sequence[Sequence[int]], columns: Sequence[int]) -> int:
    """The sum of the gains along an assignment.

    Returns
    -------
    int
    """
    return sum(row[column] for row, column in zip(gains, columns, strict=True))


# -- start values in floats -----------------------------------------------------------------------------------------


def decode_floats(table: ArrayLike) -> tuple[Floats, Floats]:
    """Start values from an R x R x R table of counts.

    Labels are named so that total accuracy is greatest, whatever the jurors call them. Where no slicing has a real
    decode, the share of votes each label got is used.

    Returns
    -------
    prevalence : (R,) array
    confusions : (3, R, R) array
        [juror][true label][vote]. Every share is positive and every row adds up to 1.

    Examples
    --------
    >>> confusion = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]])
    >>> counts = 1e6 * np.einsum("l,la,lb,lc->abc", [0.5, 0.3, 0.2], confusion, confusion, confusion)
    >>> prevalence, confusions = decode_floats(counts)
    >>> prevalence.round(3).tolist(), confusions[1].round(3).tolist()
    ([0.5, 0.3, 0.2], [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]])
    """
    counts = np.asarray(table, dtype=float)
    best, height, size, shares = start_from_votes(counts), -np.inf, len(counts), counts / counts.sum()
    mixes = [np.arange(size) ** 1.5, *np.random.default_rng(0).random((_MIXES - 1, size))]
    for slicer, mix in product((2, 1, 0), mixes):
        slices = np.moveaxis(shares, slicer, 0)
        total = slices.sum(axis=0)
        if np.linalg.cond(total) > 1e10:
            continue
        matrices = slices @ np.linalg.inv(total)
        values, left = np.linalg.eig(np.tensordot(mix, matrices, axes=1))
        if np.iscomplexobj(values) or np.linalg.cond(left) > 1e10:
            continue
        right = np.linalg.inv(left)
        first, second = left.T, right @ total  # label l: the pair table first[l] second[l]ᵀ
        sums = first.sum(axis=1), second.sum(axis=1)
        if min(np.abs(sums[0]).min(), np.abs(sums[1]).min()) < 1e-12:
            continue
        rows = [first / sums[0][:, None], second / sums[1][:, None]]
        rows.insert(slicer, np.einsum("lk,ckm,ml->lc", right, matrices, left))
        prevalence, confusions = _as_shares(sums[0] * sums[1], rows)
        fit = np.einsum("l,la,lb,lc->abc", prevalence, *confusions)
        likelihood = float((counts * np.log(fit)).sum())
        if likelihood > height:
            best, height = (prevalence, confusions), likelihood
    prevalence, confusions = best
    gains = (confusions.sum(axis=0) * 2**40).astype(np.int64).tolist()
    order = np.argsort(best_assignment(gains))
    return prevalence[order], confusions[:, order]


def _as_shares(prevalence: Floats, rows: list[Floats]) -> tuple[Floats, Floats]:
    """Positive, and adding up to 1."""
    prevalence = np.maximum(prevalence, _LEAST)
    confusions = np.maximum(np.array(rows), _LEAST)
    return prevalence / prevalence.sum(), confusions / confusions.sum(axis=2, keepdims=True)


def start_from_votes(counts: Floats) -> tuple[Floats, Floats]:
    """One step of expectation-maximisation from the share of votes that each label got.

    Returns
    -------
    prevalence : (R,) array
    confusions : (3, R, R) array
        [juror][true label][vote].
    """
    ab, ac, bc = counts.sum(axis=2), counts.sum(axis=1), counts.sum(axis=0)
    alone = [ab.sum(axis=1), ab.sum(axis=0), ac.sum(axis=0)]  # how often each juror says each label
    mass = [np.diag(alone[0]) + ab.T + ac.T, ab + np.diag(alone[1]) + bc.T, ac + bc + np.diag(alone[2])]  # thrice it
    safe = [np.maximum(rows / 3, _LEAST * counts.sum() / len(counts)) for rows in mass]
    share = sum(alone) / 3 / counts.sum()
    return _as_shares(share, [rows / rows.sum(axis=1, keepdims=True) for rows in safe])


# -- which component is which label ---------------------------------------------------------------------------------


def _rule(sketch: Sketch, candidates: Sequence[Component], choice: Choice) -> tuple[list[list[_Numeric]] | None, str]:
    """The gain of giving each candidate each label; None for total label accuracy itself."""
    labels = range(len(sketch.labels))
    if choice.trust is not None:
        juror = match_name(choice.trust, sketch.jurors, "juror")
        place = sketch.jurors.index(juror)
        rule = f"juror {juror!r} is trusted: greatest total label accuracy of that juror"
        return [list(c.rows[place]) for c in candidates], rule
    if choice.common is not None:
        label = match_name(choice.common, sketch.labels, "label")
        place = sketch.labels.index(label)
        gains = [[c.prevalence if k == place else Surd(0) for k in labels] for c in candidates]
        return gains, f"label {label} is known to be the most common one; the others by total label accuracy"
    if choice.gold is not None:
        # the candidates in the order they came, under the first labels there are
        absent = len(sketch.labels) - len(candidates)
        nothing = ((None,) * len(sketch.labels),) * absent
        confusions = tuple((*(c.rows[j] for c in candidates), *nothing) for j in range(len(sketch.jurors)))
        prevalences = (*(c.prevalence for c in candidates), *(0,) * absent)
        provisional = Solution(sketch.jurors, sketch.labels, prevalences, confusions)
        best_labels = tuple_posterior(sketch, provisional).argmax(axis=1)
        counted = np.zeros((len(sketch.labels),) * 2, dtype=np.int64)
        np.add.at(counted, best_labels, choice.gold)
        gains = [[Surd(int(n)) for n in row] for row in counted[: len(candidates)]]
        return gains, f"most of the {int(choice.gold.sum())} gold items labelled right; ties by total label accuracy"
    return None, DEFAULT_RULE


def _assign_labels(
    primary: list[list[_Numeric]] | None, candidates: Sequence[Component], groups: Sequence[int], *, exact: bool
) -> tuple[tuple[int, ...], float | None, bool]:
    """The label of each candidate, how far the runner-up is behind in the rule's own units, and whether it is a tie.

    On whole numbers, with more bits while the two best are too close, or proved equal. A rule that leaves a tie passes
    it on to total label accuracy. Candidates of one group are one component, several times.
    """
    totals: list[list[_Numeric]] = [[x + y + z for x, y, z in zip(*c.rows, strict=True)] for c in candidates]
    bits = _BITS
    while True:
        gains, unit, error = _whole(totals, bits)
        ruling = gains
        if primary is not None:  # the rule's gains decide, total accuracy breaks their ties
            weight = 4 * len(gains) * (1 + max(abs(x) for row in gains for x in row))
            ruling, unit, error = _whole(primary, bits)
            rows = zip(ruling, gains, strict=True)
            gains = [[weight * x + y for x, y in zip(*row, strict=True)] for row in rows]
        best = best_assignment(gains)
        second = second_assignment(gains, best, groups)
        if second is None:
            return best, None, False
        gap = total_gain(ruling, best) - total_gain(ruling, second)
        if gap > 4 * len(gains) * error or not exact:
            return best, gap / unit, False
        if _is_tie(totals if primary is None else primary, best, second):
            return best, 0.0, primary is None or _is_tie(totals, best, second)
        bits *= 4


def _is_tie(gains: list[list[_Numeric]], best: Sequence[int], second: Sequence[int]) -> bool:
    left, right = (exact_sum(row[k] for row, k in zip(gains, places, strict=True)) for places in (best, second))
    return left == right


def _whole(numbers: list[list[_Numeric]], bits: int) -> tuple[list[list[int]], int, int]:
    """The numbers (or their real parts) times a unit, as whole numbers; the unit; the error of each, 0 if rational."""
    if all(isinstance(x, Surd) and x.is_rational for row in numbers for x in row):
        fractions = [[x.to_fraction() for x in row] for row in numbers]
        unit = math.lcm(*(x.denominator for row in fractions for x in row))
        return [[x.numerator * (unit // x.denominator) for x in row] for row in fractions], unit, 0
    return [[_floor(x, bits) for x in row] for row in numbers], 1 << bits, 2


def _floor(number: _Numeric, bits: int) -> int:
    """The real part times 2^bits, within 2 of the truth."""
    if isinstance(number, Surd):
        square = number.root_part**2 * max(number.radicand, 0) * (1 << 2 * bits)
        root = math.isqrt(square.numerator // square.denominator)
        return math.floor(number.rational_part * (1 << bits)) + (root if number.root_part > 0 else -root)
    work = bits + 64
    while (ball := number.ball(work).real).rad() > 2.0**-bits:
        work *= 2
    mantissa, exponent = ball.mid().man_exp()
    shift = int(exponent) + bits
    return int(mantissa) << shift if shift >= 0 else int(mantissa) >> -shift


# -- the theorem ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DecodeOutcome:
    """One thing that the algebra says about the counts."""

    name: str
    message: str
    value: float | None = None  #: how much, where there is a number to it
    jurors: tuple[str, ...] = ()
    labels: tuple[Label, ...] = ()


@dataclass(frozen=True)
class MultilabelDecode:
    """What three jurors' counts say exactly: every outcome by name, and the selected solution where there is one."""

    outcomes: tuple[DecodeOutcome, ...]  #: the most decisive first
    solution: Solution | None  #: None entries are not fixed by the counts, or about a label that never occurred
    rule: str | None  #: why the labels are named as they are
    gap: float | None  #: how far the runner-up of the R! relabelings is behind, in units of the rule; 0 is proved
    sketch: Sketch = field(repr=False, compare=False)

    @property
    def outcome(self) -> str:
        """The name of the most decisive outcome."""
        return self.outcomes[0].name

    @property
    def relabelings(self) -> int:
        """How many solutions there are: each relabeling is one."""
        return math.factorial(len(self.sketch.labels)) if self.solution else 0

    def relabelled(self, permutation: Sequence[int]) -> Solution:
        """Another of the R! solutions: label k takes the numbers that label `permutation[k]` has in `solution`."""
        size = len(self.sketch.labels)
        if self.solution is None:
            raise SketchError(f"there is no solution to relabel: {self.outcomes[0].message}")
        if sorted(permutation) != list(range(size)):
            raise SketchError(f"a relabeling of {size} labels is a permutation of 0 to {size - 1}, got {permutation!r}")
        before = self.solution
        return replace(
            before,
            prevalences=tuple(before.prevalences[k] for k in permutation),
            confusions=tuple(tuple(table[k] for k in permutation) for table in before.confusions),
        )


def evaluate_trio_labels(sketch: Sketch, choice: Choice = Choice(), among: Sketch | None = None) -> MultilabelDecode:
    """Grade three jurors with any number of labels exactly, without an answer key.

    Nothing about the jurors is raised: what the counts say is in `outcomes`. `among` is the sketch by whose tuples the
    gold items of the `choice` are counted, where it also has items that lack a vote.

    Returns
    -------
    MultilabelDecode
        The solution in exact numbers where the counts fix one, and the outcomes by name.

    Raises
    ------
    SketchError
        Not three jurors, fewer than two labels or more than 50, missing votes (`sketch.complete()` leaves those items
        out), no items.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from jurors.evaluate.trio import encode
    >>> shares = [[Fraction(x, 10) for x in row] for row in ((8, 1, 1), (2, 7, 1), (1, 3, 6))]
    >>> confusion = dict(zip("ABC", (dict(zip("ABC", row)) for row in shares)))
    >>> truth = {"prevalence": {"A": Fraction(1, 2), "B": Fraction(3, 10), "C": Fraction(1, 5)},
    ...          "confusion": {"ann": confusion, "bob": confusion, "cy": confusion}}
    >>> decode = evaluate_trio_labels(encode(truth, items=10_000))
    >>> decode.outcome, print(decode.solution.prevalence["A"], decode.solution.accuracy["bob"]["C"])
    1/2 3/5
    ('rational', None)
    >>> decode.solution.confusion == truth["confusion"], decode.relabelings, round(decode.gap, 1)
    (True, 6, 2.7)
    """
    check_three_jurors(sketch)
    if len(sketch.labels) < 2:
        raise SketchError(f"a panel needs at least 2 labels, got {len(sketch.labels)}. Name all of them (labels=[…])")
    check_few_labels(sketch)
    if not sketch.items:
        message = "no item was answered by all three jurors, so there is nothing to grade"
        raise DegenerateSketchError(message, outcome="no_items")
    cut = Slicing.best(sketch.table())
    algebra = Algebra.of(cut)
    refusal = _refusal(sketch, cut, algebra)
    decomposition = None if refusal else decompose(algebra, sketch.items, cut.slicer)
    if decomposition is None:
        outcomes = refusal or (_no_solution(sketch, cut, algebra, "the matrices of the slices cannot be diagonalised"),)
        return MultilabelDecode(outcomes, None, None, None, sketch)
    groups = [k for k, component in enumerate(decomposition.components) for _ in range(component.multiplicity)]
    candidates = [decomposition.components[k] for k in groups]
    primary, rule = None, "none: the solutions are complex"  # which have no order, so that no rule applies to them
    if decomposition.is_real:
        primary, rule = _rule(among or sketch, candidates, choice)
    places, gap, tied = _assign_labels(primary, candidates, groups, exact=decomposition.is_real)
    # The components under their labels; None for what a blind juror leaves open and for labels that do not show.
    nothing: tuple[Number, ...] = (None,) * len(sketch.labels)
    prevalences: list[Number] = [Surd(0)] * len(sketch.labels)
    tables: list[list[tuple[Number, ...]]] = [[nothing] * len(sketch.labels) for _ in sketch.jurors]
    for candidate, label in zip(candidates, places, strict=True):
        fixed = candidate.multiplicity == 1
        prevalences[label] = cast(Number, candidate.prevalence) if fixed else None
        for juror, row in enumerate(candidate.rows):
            if fixed or juror == cut.slicer:
                tables[juror][label] = cast("tuple[Number, ...]", row)
    solution = Solution(sketch.jurors, sketch.labels, tuple(prevalences), tuple(map(tuple, tables)))
    outcomes = _outcomes(sketch, decomposition, places, cut, is_tied=tied)
    return MultilabelDecode(outcomes, solution, rule, gap if decomposition.is_real else None, sketch)


def check_few_labels(sketch: Sketch) -> None:
    """Raise SketchError where the table of all decision tuples of three jurors is too large to work through."""
    given = len(sketch.labels)
    if given > MOST_LABELS:
        message = (
            f"three jurors with {given:,} labels have {given**3:,} decision tuples, too many for the exact theorem (at "
            f"most {MOST_LABELS} labels). Use the default method"
        )
        raise SketchError(message, code="many_labels", needed=MOST_LABELS, given=given)


def _refusal(sketch: Sketch, cut: Slicing, algebra: Algebra) -> tuple[DecodeOutcome, ...]:
    """Why the counts have no solution, or none that they fix; empty where the decode can go on."""
    if not algebra.is_faithful:
        return (_no_solution(sketch, cut, algebra, f"{cut.rank} labels do not explain how the jurors answer together"),)
    if cut.rank == 1:
        message = "no two jurors agree more often than by chance, so these votes determine no grades"
        return (DecodeOutcome("no_signal", message, None, sketch.jurors),)
    if not algebra.commutes():
        return (_no_solution(sketch, cut, algebra, "the matrices of the slices do not commute"),)
    if algebra.is_scalar():
        name = sketch.jurors[cut.slicer]
        message = (
            f"juror {name!r} is uninformative: its votes are uncorrelated with the other two, so these three determine "
            "no grades. Replace it with another juror"
        )
        return (DecodeOutcome("uninformative_juror", message, None, (name,)), *_visible(sketch, cut))
    return ()


def _no_solution(sketch: Sketch, cut: Slicing, algebra: Algebra, why: str) -> DecodeOutcome:
    size, labels = algebra.commutator_size(), len(sketch.labels)
    if cut.rank == labels:
        message = f"no independent jurors give exactly these counts: {why} (by {size:.2g} on a scale from 0 to 1)"
        return DecodeOutcome("inconsistent", message, size)
    message = (
        f"every two jurors show at most {cut.rank} of {labels} labels, and {why}: "
        f"{cut.rank} labels do not explain the counts, and {labels} are not determined by them"
    )
    return DecodeOutcome("unidentifiable", message, size)


def _outcomes(
    sketch: Sketch, decomposition: Decomposition, places: tuple[int, ...], cut: Slicing, *, is_tied: bool
) -> tuple[DecodeOutcome, ...]:
    """What the solution says of the counts: numbers out of range, blind jurors, hidden labels, ties, irrationality."""
    result: list[DecodeOutcome] = []
    if not decomposition.is_real:
        message = "the equations have complex roots: no real evaluation explains the counts"
        result.append(DecodeOutcome("complex", message))
    # prevalences and rows add up to 1, so one of them is above 1 only where another is below 0
    numbers = [x for c in decomposition.components for x in (c.prevalence * c.multiplicity, *chain(*c.rows))]
    below = [-float(x) for x in numbers if x.sign < 0] if decomposition.is_real else []
    if below:
        message = f"a share lies outside [0, 1], by {max(below):.3g}: errors are not independent on this test"
        result.append(DecodeOutcome("out_of_range", message, max(below)))
    at = 0
    for component in decomposition.components:
        own = sorted(places[at : at + component.multiplicity])
        at += component.multiplicity
        if component.multiplicity > 1:
            labels, name = tuple(sketch.labels[k] for k in own), sketch.jurors[cut.slicer]
            shown = ", ".join(map(str, labels))
            message = f"juror {name!r} votes the same way on {shown}, so these votes do not distinguish the labels"
            result.append(DecodeOutcome("blind_juror", message, None, (name,), labels))
    result += _visible(sketch, cut)
    if is_tied:
        message = "two ways to name the labels satisfy the rule equally well"
        result.append(DecodeOutcome("ambiguous_relabeling", message, 0.0))
    if not decomposition.is_real:
        return tuple(result)
    if not decomposition.is_rational:
        message = "the exact answer is irrational, which proves that errors are correlated, if only slightly"
        return (*result, DecodeOutcome("irrational", message))
    distinct = [c for c in decomposition.components if c.multiplicity == 1]
    if below or all(has_whole_counts(c.prevalence, c.rows, sketch.items) for c in distinct):
        return (*result, DecodeOutcome("rational", "the exact answer is rational, as on an exactly independent test"))
    message = "the exact answer is rational, but splits items into fractions: errors are not exactly independent"
    return (*result, DecodeOutcome("rational_non_integral", message))


def _visible(sketch: Sketch, cut: Slicing) -> list[DecodeOutcome]:
    """The outcome `visible_labels`, where the counts show fewer labels than there are."""
    if cut.rank == len(sketch.labels):
        return []
    message = f"the counts show {cut.rank} of {len(sketch.labels)} labels: no juror distinguishes the others"
    return [DecodeOutcome("visible_labels", message, float(cut.rank))]
