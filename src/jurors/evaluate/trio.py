"""Three binary jurors: Theorem 1 (encode) and Theorem 2 (decode) of the paper, exactly; many trios in floats.

In: a `Sketch` of decision tuples (or prevalences and accuracies, for `encode`). Out: the two `Solution`s that explain a
trio's counts, in exact numbers; or arrays of floats for many trios at once. More than two labels: `trio_multiclass`.

Theorem 2, decode (`evaluate_trio`). For juror c, let M_A and M_B be the 2x2 counts of the other two jurors on the items
that c labelled A and B, and
    mix = M_A[0,0] M_B[1,1] + M_A[1,1] M_B[0,0] - M_A[0,1] M_B[1,0] - M_A[1,0] M_B[0,1],
    D_c = det M_A + det M_B + mix  (the pair moment of the other two, times Q²),
    H   = mix² - 4 det M_A det M_B (Cayley's hyperdeterminant of the counts: the same integer for all three).
With s = ±√H and t the trio moment times Q³,
    P_A  = 1/2 + t / (2 Q s),
    P_cA = (2 det M_A + mix + s) / (2 D_c),   P_cB = (2 det M_B + mix + s) / (2 D_c).
Nothing is divided by t, so a prevalence of 1/2 is no special case (the paper's linear equations fail there).

Theorem 2 in floats (`decode_trios`). With m_i the share of second-label answers, C the pair and T the trio moments
(indices of the *other* two jurors):
    s = ±√(T² + 4 C_12 C_13 C_23),  P_A = (1 + T/s)/2,
    P_iA = 1 - m_i + (s - T)/(2 C_jk),  P_iB = m_i + (s + T)/(2 C_jk).

Theorem 1, encode (`encode`): the counts that independent jurors would give,
    f(l_1, …, l_N) = Σ_l P_l Π_i P_i(l_i | l),
for any number of jurors and labels. Exact numbers give exact counts; the two conjugate halves of an irrational solution
add up to rational ones.

Four jurors (`independence_invariants`). With C, T and M the pair, trio and fourth central moments and
P = C_12 C_13 C_23, independence gives C_ij = b_i b_j, T_ijk = tau·b_i b_j b_k and M_1234 = (1 + tau²) b_1 b_2 b_3 b_4,
hence
    C_12 C_34 = C_13 C_24 = C_14 C_23,
    T_123 C_14 = T_124 C_13,  T_123 C_14 = T_134 C_12,  T_123 C_24 = T_234 C_12,
    M_1234 P = C_12 C_34 (P + T_123²).
Fifteen free counts less nine parameters: six equations. Where C_12, C_13 and C_23 are not zero, all six holding means
that some independent evaluation (perhaps complex or out of range) explains the counts.

The theory with its proofs: docs/theory.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jurors._numeric import Floats
from jurors.errors import DegenerateSketchError, SketchError
from jurors.evaluate.solution import Number, Solution
from jurors.sketch.moments import TrioMoments, WholeMoments, moments, table_moments
from jurors.sketch.sketch import Sketch

if TYPE_CHECKING:
    from jurors.exact import Surd  # imported where a trio is exact: flint takes 20 ms

MOST_LABELS = 50  #: of a trio whose R³ counts are worked through; the time grows as R⁴
_MOST_CELLS = 1 << 20  # decision tuples that `encode` lists

# -- Theorem 2: decode, exactly -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TrioInvariants:
    """The integers that decide everything about a binary trio."""

    items: int  #: Q
    det_a: tuple[int, int, int]  #: det M_A by slicing juror
    det_b: tuple[int, int, int]  #: det M_B by slicing juror
    mix: tuple[int, int, int]
    pair: tuple[int, int, int]  #: D_c, the pair moment of the *other* two jurors times Q²
    trio: int  #: t, the trio moment times Q³
    hyperdeterminant: int  #: H; its sign says real or complex, a perfect square says rational


def check_three_jurors(sketch: Sketch) -> None:
    """Raise SketchError unless the sketch has three jurors."""
    if len(sketch.jurors) != 3:
        raise SketchError(
            f"an exact trio needs 3 jurors, got {len(sketch.jurors)}: {', '.join(sketch.jurors[:8])}. "
            "Keep three with sketch.take(['ann', 'bob', 'cy'])."
        )


def trio_invariants(sketch: Sketch) -> TrioInvariants:
    """The integer invariants of three binary jurors who all voted on every item.

    Returns
    -------
    TrioInvariants
        Exact integers; the module's docstring defines them.
    """
    check_three_jurors(sketch)
    if len(sketch.labels) != 2:
        shown = ", ".join(map(str, sketch.labels[:8]))
        raise SketchError(f"evaluate_trio needs 2 labels, got {len(sketch.labels)}: {shown}.")
    counts = sketch.table().ravel().tolist()
    aaa, aab, aba, abb, baa, bab, bba, bbb = counts
    det_a = (aaa * abb - aab * aba, aaa * bab - aab * baa, aaa * bba - aba * baa)
    det_b = (baa * bbb - bab * bba, aba * bbb - abb * bba, aab * bbb - abb * bab)
    ends = aaa * bbb
    i, j, k = abb * baa, aba * bab, aab * bba
    mix = (ends + i - j - k, ends + j - i - k, ends + k - i - j)
    m = WholeMoments.from_counts(counts)
    return TrioInvariants(m.items, det_a, det_b, mix, m.pair, m.trio, mix[0] ** 2 - 4 * det_a[0] * det_b[0])


def evaluate_trio(sketch: Sketch) -> tuple[Solution, Solution]:
    """Grade three binary jurors exactly, without an answer key.

    If the jurors' errors were independent on this test, one of the two results is the truth. The first has the
    greater total label accuracy (the paper's choice); the second is its mirror. Both are complex where the
    hyperdeterminant is negative: then no real evaluation explains the counts.

    Returns
    -------
    tuple of two Solutions
        Prevalences and confusion matrices as exact numbers (`Surd`).

    Raises
    ------
    DegenerateSketchError
        The counts fix no answer, or contradict independence so that none exists; `outcome` says which.

    Examples
    --------
    The 20,000 census records of the paper's Table 1. An irrational answer proves that errors were correlated:

    >>> sketch = Sketch.from_counts({"AAA": 568, "AAB": 553, "ABA": 649, "BAA": 1813,
    ...                              "BBA": 3534, "BAB": 3607, "ABB": 1068, "BBB": 8208}, jurors="ijk")
    >>> likely, mirror = evaluate_trio(sketch)
    >>> print(likely.prevalence["A"])
    1/2 - 141256653/613478451992500*√3190087950361
    >>> likely.prevalence["A"].decimal(10), likely.is_rational
    ('0.0887452501', False)
    """
    from flint import fmpq

    m = trio_invariants(sketch)
    if not all(m.pair) or not m.hyperdeterminant:
        outcome, message, jurors = _degenerate_outcome(sketch, m)
        raise DegenerateSketchError(message, outcome=outcome, jurors=jurors)
    # Total accuracy is 3 + s Σ 1/D_c, so the sign of s that makes it larger is the sign of Σ 1/D_c.
    inverse_sum = sum((fmpq(1, d) for d in m.pair), fmpq(0))
    sign = -1 if inverse_sum < 0 else 1
    whole = math.isqrt(max(m.hyperdeterminant, 0))
    root = whole if whole * whole == m.hyperdeterminant else None
    return _solve(sketch, m, sign, root), _solve(sketch, m, -sign, root)


def _solve(sketch: Sketch, m: TrioInvariants, sign: int, root: int | None) -> Solution:
    """The solution for s = sign·√H; `root` is √H where that is a whole number."""
    from flint import fmpq

    from jurors.exact import Surd

    def number(rational: int, coefficient: int, denominator: int) -> Surd:
        """(rational + coefficient·s) / denominator"""
        if root is not None:
            return Surd.in_field(fmpq(rational + coefficient * sign * root, denominator), fmpq(0), 1)
        return Surd.in_field(fmpq(rational, denominator), fmpq(coefficient * sign, denominator), m.hyperdeterminant)

    # t / (2 Q s) = t s / (2 Q H)
    scale = 2 * m.items * m.hyperdeterminant
    half = m.items * m.hyperdeterminant
    prevalences: tuple[Number, ...] = (number(half, m.trio, scale), number(half, -m.trio, scale))
    confusions = []
    for det_a, det_b, mix, d in zip(m.det_a, m.det_b, m.mix, m.pair, strict=True):
        right_a, right_b = number(2 * det_a + mix, 1, 2 * d), number(2 * det_b + mix, 1, 2 * d)
        # 1 - P_cA = (2 D - 2 det M_A - mix - s) / 2 D = (2 det M_B + mix - s) / 2 D, and likewise for B
        wrong_a, wrong_b = number(2 * det_b + mix, -1, 2 * d), number(2 * det_a + mix, -1, 2 * d)
        confusions.append(((right_a, wrong_a), (wrong_b, right_b)))
    return Solution(sketch.jurors, sketch.labels, prevalences, tuple(confusions))


def _degenerate_outcome(sketch: Sketch, m: TrioInvariants) -> tuple[str, str, tuple[str, ...]]:
    """Why the counts fix no answer, or no independent trio can give them: outcome, message, jurors."""
    names, zero = sketch.jurors, [c for c in range(3) if not m.pair[c]]
    contradiction = "no three independent jurors give these counts"
    if not m.items:
        return "no_items", "no item was answered by all three jurors, so there is nothing to grade", ()
    if len(zero) == 3 and not m.trio:
        message = (
            f"no two of {', '.join(names)} agree more often than by chance{_constant_jurors(sketch)}, so these votes "
            "determine no grades. Add jurors whose answers depend on the items"
        )
        return "no_signal", message, names
    if len(zero) == 3:
        return "purely_triple", f"no pair of jurors is correlated, but all three are: {contradiction}", ()
    if len(zero) == 2 and m.trio:
        message = f"two pairs of jurors are uncorrelated, but all three are correlated: {contradiction}"
        return "contradictory_trio", message, ()
    if len(zero) == 2:
        idle = next(name for c, name in enumerate(names) if c not in zero)
        message = (
            f"juror {idle!r} is uninformative: its votes are uncorrelated with the other two"
            f"{_constant_jurors(sketch)}, so these three determine no grades. Replace it with another juror"
        )
        return "uninformative_juror", message, (idle,)
    if len(zero) == 1:
        first, second = (name for c, name in enumerate(names) if c != zero[0])
        message = (
            f"jurors {first!r} and {second!r} are uncorrelated, but both are correlated with {names[zero[0]]!r}: "
            f"{contradiction}"
        )
        return "contradictory_pairs", message, (first, second)
    return "zero_radicand", f"the hyperdeterminant is 0, but every pair is correlated: {contradiction}", ()


def _constant_jurors(sketch: Sketch) -> str:
    """The jurors who give the same label to every item, as a clause for an error message."""
    codes = sketch.tuples.codes[sketch.counts > 0]
    always = [
        f"{juror!r} always says {sketch.labels[int(codes[0, c])]!r}"
        for c, juror in enumerate(sketch.jurors)
        if (codes[:, c] == codes[0, c]).all()
    ]
    return f" ({', '.join(always)})" if always else ""


# -- Theorem 2 for many trios at once, in floats --------------------------------------------------------------------


#: What became of a trio, by code.
OUTCOMES = ("real", "out_of_range", "complex", "degenerate", "no_items")


@dataclass(frozen=True)
class DecodedTrios:
    """The chosen solution of each trio; NaN where there is none. The mirror is 1 - everything, labels swapped."""

    moments: TrioMoments
    root: Floats  #: s, signed so that total accuracy is greatest; NaN where complex
    prevalence: Floats  #: (…) of the first label
    accuracy: Floats  #: (…, 3, 2) by juror and label
    outcome: NDArray[np.int8]  #: position in OUTCOMES


def decode_trios(moments: TrioMoments) -> DecodedTrios:
    """Decode many trios from their moments.

    Returns
    -------
    DecodedTrios
        For each trio (…) the solution of greatest total label accuracy, and what became of it.
    """
    pair, trio, single = moments.pair, moments.trio, moments.single
    # A pair moment is a multiple of 1/Q², so anything below half of that is an exact zero in rounding noise.
    quantum = 0.5 / np.maximum(moments.items, 1.0) ** 2
    degenerate = np.abs(pair).min(axis=-1) < np.maximum(quantum, 1e-15)
    # The radicand is a multiple of 1/Q⁴: the same holds.
    square, product = trio**2, 4 * pair.prod(axis=-1)
    radicand = square + product
    is_real = radicand > np.maximum(2 * quantum**2, 1e-15 * (square + np.abs(product)))
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.where(is_real & ~degenerate, radicand, np.nan))
        root = np.where((1 / pair).sum(axis=-1) < 0, -root, root)
        prevalence = (1 + trio / root) / 2
        twice, up, down = 2 * pair, (root + trio)[..., None], (root - trio)[..., None]
        accuracy = np.empty((*pair.shape, 2))
        accuracy[..., 0] = 1 - single + down / twice
        accuracy[..., 1] = single + up / twice
    outside = ((accuracy < 0) | (accuracy > 1)).any(axis=(-1, -2)) | (prevalence < 0) | (prevalence > 1)
    outcome = np.where(is_real, np.where(outside, 1, 0), 2)
    outcome = np.where(moments.items == 0, 4, np.where(degenerate, 3, outcome)).astype(np.int8)
    return DecodedTrios(moments, root, prevalence, accuracy, outcome)


def evaluate_trios(tables: ArrayLike) -> DecodedTrios:
    """Decode many 2x2x2 tables of counts (…, 2, 2, 2) at once.

    Returns
    -------
    DecodedTrios
        Arrays of the leading shape (…) of `tables`.

    Examples
    --------
    The paper's Table 1, twice:

    >>> table = [568, 553, 649, 1068, 1813, 3607, 3534, 8208]
    >>> decoded = evaluate_trios(np.array([table, table]).reshape(2, 2, 2, 2))
    >>> decoded.prevalence.round(4).tolist(), [OUTCOMES[k] for k in decoded.outcome]
    ([0.0887, 0.0887], ['real', 'real'])
    """
    return decode_trios(table_moments(tables))


# -- Theorem 1: encode ----------------------------------------------------------------------------------------------


def encode(evaluation: Any, items: int | None = None) -> Sketch:
    """The sketch that error-independent jurors with this evaluation give on a test of `items` items.

    Parameters
    ----------
    evaluation
        A `Solution`, an `Evaluation` (its exact numbers where it has them), or a mapping with `prevalence` and
        `accuracy` or `confusion`.
    items
        The size of the test. By default the smallest on which every count is whole (exact numbers only).

    Returns
    -------
    Sketch
        Counts of all decision tuples, which add up to `items`.

    Raises
    ------
    SketchError
        Exact numbers that give no whole counts on so many items. Floats are approximations already, so their
        counts are rounded to whole items (largest remainders first, the total unchanged).

    Examples
    --------
    >>> jury = {"prevalence": {"A": Fraction(1, 2), "B": Fraction(1, 2)},
    ...         "accuracy": {j: {"A": Fraction(3, 4), "B": Fraction(3, 4)} for j in ("ann", "bob")}}
    >>> encode(jury, items=16).to_counts()
    {('A', 'A'): 5, ('A', 'B'): 3, ('B', 'A'): 3, ('B', 'B'): 5}
    """
    if isinstance(evaluation, dict):
        evaluation = Solution.from_dict(evaluation)
    solution = evaluation
    if not isinstance(evaluation, Solution):
        exact = getattr(evaluation, "exact", None)
        solution = exact if exact is not None else getattr(evaluation, "solution", None)
    if not isinstance(solution, Solution):
        raise SketchError(f"encode needs an evaluation with numbers in it, got {type(evaluation).__name__}")
    shares = tuple_shares(solution)
    is_exact = not any(isinstance(share, float) for share in shares)
    if items is None and not is_exact:
        raise SketchError("an evaluation in floats needs the number of items: encode(evaluation, items=20_000)")
    if min(shares) < 0:
        raise SketchError("this evaluation gives a decision tuple a negative share, which no test can have")
    least = math.lcm(*(cast(Fraction, share).denominator for share in shares)) if is_exact else 1
    total = least if items is None else items
    if is_exact:
        if total % least:
            raise SketchError(f"whole counts need a multiple of {least} items, got {total}")
        counts = np.array([int(share * total) for share in shares], dtype=np.int64)
    else:  # largest remainders: the whole counts nearest to the shares that add up to the number of items
        floats = [float(share) for share in shares]
        unrounded = np.array(floats) / math.fsum(floats) * total
        counts = np.floor(unrounded).astype(np.int64)
        short = total - int(counts.sum())
        counts[np.argsort(counts - unrounded, kind="stable")[:short]] += 1
    table = counts.reshape((len(solution.labels),) * len(solution.jurors))
    return Sketch.from_table(table, jurors=solution.jurors, labels=solution.labels)


def tuple_shares(solution: Solution) -> list[Fraction | float]:
    """The share of every decision tuple, in lexicographic order of labels.

    Returns
    -------
    list
        labels ** jurors shares: fractions where the solution is exact, else floats.
    """
    size, width = len(solution.labels), len(solution.jurors)
    if size**width > _MOST_CELLS:
        raise SketchError(f"{size} labels and {width} jurors have {size}^{width} decision tuples; encode fewer jurors")
    if any(x is None for x in itertools.chain(solution.prevalences, *itertools.chain(*solution.confusions))):
        raise SketchError("this evaluation cannot be encoded: some numbers are missing, because a label never occurred")
    from jurors.exact import exact_sum

    by_label: list[list[Any]] = []
    for label, prevalence in enumerate(solution.prevalences):
        products: list[Any] = [prevalence]
        for table in solution.confusions:
            products = [p * q for p in products for q in cast(Sequence[Any], table[label])]
        by_label.append(products)
    shares: list[Fraction | float] = []
    for terms in zip(*by_label, strict=True):
        if any(isinstance(term, float) for term in terms):
            shares.append(math.fsum(terms))
            continue
        total = exact_sum(terms)  # conjugate halves of irrational numbers add up to a rational one
        if not total.is_rational:
            raise SketchError(
                f"this evaluation gives a decision tuple the irrational share {total}, which no test can have"
            )
        shares.append(total.to_fraction())
    return shares


def has_whole_counts(prevalence: Any, rows: Iterable[Any], items: int) -> bool:
    """Whether a label of this prevalence has a whole number of so many items in every cell; all numbers are rational.

    With rows of shares n/k, k their least common denominator, the n of a row add up to k and have no common divisor.
    Neither have the products of three rows (Gauss), so all Q p n n' n'' / k k' k'' are whole iff Q p / k k' k'' is.

    Returns
    -------
    bool
    """
    from jurors.exact import Surd

    scale = math.prod(math.lcm(*(Surd(x).to_fraction().denominator for x in row)) for row in rows)
    return (Surd(prevalence).to_fraction() * items / scale).denominator == 1


# -- four jurors ----------------------------------------------------------------------------------------------------


def independence_invariants(sketch: Sketch) -> dict[str, Fraction]:
    """The six invariants of four complete binary jurors: all zero if their errors were independent.

    Returns
    -------
    dict
        The formula of each invariant -> its exact value.

    Examples
    --------
    >>> counts = {"AAAA": 3, "AABB": 2, "ABAB": 4, "BBBB": 5}
    >>> invariants = independence_invariants(Sketch.from_counts(counts, jurors="ijkl"))
    >>> invariants["C12 C34 - C13 C24"]
    Fraction(-15, 1372)
    """
    if len(sketch.jurors) != 4:
        raise SketchError(f"the invariants need 4 jurors, got {len(sketch.jurors)}; keep four with sketch.take([…])")
    m = moments(sketch)
    i, j, k, n = sketch.jurors
    c12, c13, c14 = m.pair[i, j], m.pair[i, k], m.pair[i, n]
    c23, c24, c34 = m.pair[j, k], m.pair[j, n], m.pair[k, n]
    t123, t124, t134, t234 = m.trio[i, j, k], m.trio[i, j, n], m.trio[i, k, n], m.trio[j, k, n]
    p = c12 * c13 * c23
    fourth = Fraction(0)  # M_1234: the mean of Π (x_i - f_i)
    for codes, count in zip(sketch.tuples.codes.tolist(), sketch.counts.tolist(), strict=True):
        deviations = (code - share for code, share in zip(codes, m.single.values(), strict=True))
        fourth += math.prod(deviations, start=Fraction(count, sketch.items))
    return {
        "C12 C34 - C13 C24": c12 * c34 - c13 * c24,
        "C12 C34 - C14 C23": c12 * c34 - c14 * c23,
        "T123 C14 - T124 C13": t123 * c14 - t124 * c13,
        "T123 C14 - T134 C12": t123 * c14 - t134 * c12,
        "T123 C24 - T234 C12": t123 * c24 - t234 * c12,
        "M1234 P - C12 C34 (P + T123²)": fourth * p - c12 * c34 * (p + t123**2),
    }
