"""Closed form, all trios."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import Any, NoReturn, cast

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike, NDArray

from jurors._numeric import Floats, Integers
from jurors.errors import DegenerateSketchError, SketchError
from jurors.evaluate.card import percent
from jurors.evaluate.solution import Number, Solution
from jurors.exact.algebraic import exact_sum
from jurors.exact.surd import Surd
from jurors.results import Columns, Result, Table, data_frame
from jurors.sketch import Sketch, moments
from jurors.sketch.moments import TrioMoments, WholeMoments, table_moments, trio_moments

# Theorem 2 (decode): the two evaluations that explain three binary jurors' joint decisions, exactly.
#
# For juror c, let M_A and M_B be the 2x2 counts of the other two where c said A and B, and
#     mix = M_A[0,0] M_B[1,1] + M_A[1,1] M_B[0,0] - M_A[0,1] M_B[1,0] - M_A[1,0] M_B[0,1],
#     D_c = det M_A + det M_B + mix  (the pair moment of the other two, times Q²),
#     H   = mix² - 4 det M_A det M_B (Cayley's hyperdeterminant of the counts: the same integer for all three).
# With s = ±√H and t the trio moment times Q³,
#     P_A  = 1/2 + t / (2 Q s),
#     P_cA = (2 det M_A + mix + s) / (2 D_c),   P_cB = (2 det M_B + mix + s) / (2 D_c).
# Nothing is divided by t, so a prevalence of 1/2 is no special case (the paper's linear equations fail there).


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

    @property
    def product(self) -> int:
        """D_1 D_2 D_3; positive wherever a prevalence inside (0, 1) exists."""
        return math.prod(self.pair)


def check_trio(sketch: Sketch) -> None:
    """SketchError unless the sketch has three jurors and two labels."""
    if len(sketch.jurors) != 3:
        raise SketchError(
            f"an exact trio needs 3 jurors, got {len(sketch.jurors)}: {', '.join(sketch.jurors[:8])}. "
            "Keep three with sketch.take(['ann', 'bob', 'cy'])."
        )
    if len(sketch.labels) != 2:
        shown = ", ".join(map(str, sketch.labels[:8]))
        raise SketchError(f"evaluate_trio needs 2 labels, got {len(sketch.labels)}: {shown}.")


def trio_invariants(sketch: Sketch) -> TrioInvariants:
    """The integer invariants of three binary jurors who all voted on every item."""
    check_trio(sketch)
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
    m = trio_invariants(sketch)
    _refuse_degenerate(sketch, m)
    # Total accuracy is 3 + s Σ 1/D_c, so the sign of s that makes it larger is the sign of Σ 1/D_c.
    inverse_sum = sum((fmpq(1, d) for d in m.pair), fmpq(0))
    sign = -1 if inverse_sum < 0 else 1
    root = math.isqrt(max(m.hyperdeterminant, 0))
    rational = root * root == m.hyperdeterminant
    return _solve(sketch, m, sign, root if rational else None), _solve(sketch, m, -sign, root if rational else None)


def _solve(sketch: Sketch, m: TrioInvariants, sign: int, root: int | None) -> Solution:
    """The solution for s = sign·√H; `root` is √H where that is a whole number."""

    def number(rational: int, coefficient: int, denominator: int) -> Surd:
        """(rational + coefficient·s) / denominator"""
        if root is not None:
            return Surd.in_field(fmpq(rational + coefficient * sign * root, denominator), _ZERO, 1)
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


_ZERO = fmpq(0)


def _refuse_degenerate(sketch: Sketch, m: TrioInvariants) -> None:
    if m.product and m.hyperdeterminant:
        return
    if not m.items:
        _refuse("no_items", "no item was answered by all three jurors, so there is nothing to grade")
    zero = [c for c in range(3) if not m.pair[c]]
    names = sketch.jurors
    if len(zero) == 3 and not m.trio:
        _refuse(
            "no_signal",
            f"no two of {', '.join(names)} agree more than chance would have it, so the counts fix no answer; "
            f"at most one of them looks at the items{_constant_jurors(sketch)}",
            names,
        )
    if len(zero) == 3:
        _refuse("purely_triple", "no pair moves together but all three do: no independent trio can give these counts")
    if len(zero) == 2 and m.trio:
        _refuse(
            "contradictory_trio",
            "two pairs do not move together, which makes one juror idle, yet all three move together: no independent "
            "trio can give these counts",
        )
    if len(zero) == 2:
        idle = next(c for c in range(3) if c not in zero)
        _refuse(
            "uninformative_juror",
            f"juror {names[idle]!r} is uninformative: its answers have nothing to do with the other two "
            f"(an exact zero covariance with both), so the trio fixes no answer{_constant_jurors(sketch)}; "
            "grade it with another juror in that place",
            (names[idle],),
        )
    if len(zero) == 1:
        pair = tuple(name for c, name in enumerate(names) if c != zero[0])
        _refuse(
            "contradictory_pairs",
            f"jurors {pair[0]!r} and {pair[1]!r} do not move together, yet both move with {names[zero[0]]!r}: "
            "no independent trio can give these counts",
            pair,
        )
    _refuse("zero_radicand", "the hyperdeterminant is 0 while every pair moves together: no independent trio does that")


def _refuse(outcome: str, message: str, jurors: tuple[str, ...] = ()) -> NoReturn:
    raise DegenerateSketchError(message, outcome=outcome, jurors=jurors)


def _constant_jurors(sketch: Sketch) -> str:
    codes = sketch.tuples.codes[sketch.counts > 0]
    always = [
        f"{juror!r} always says {sketch.labels[int(codes[0, c])]!r}"
        for c, juror in enumerate(sketch.jurors)
        if (codes[:, c] == codes[0, c]).all()
    ]
    return f" ({', '.join(always)})" if always else ""


# Theorem 2 for many trios at once, in floats: thousands of sketches, or every trio of a panel, in one pass.
#
# With m_i the share of second-label answers, C the pair and T the trio moments (indices of the *other* two jurors):
#     s = ±√(T² + 4 C_12 C_13 C_23),  P_A = (1 + T/s)/2,
#     P_iA = 1 - m_i + (s - T)/(2 C_jk),  P_iB = m_i + (s + T)/(2 C_jk).


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
    """The solution of greatest total label accuracy of every trio, and what became of it."""
    pair, trio, single = moments.pair, moments.trio, moments.single
    # A pair moment is a multiple of 1/Q², so anything below half of that is an exact zero in rounding noise.
    noise = np.maximum(0.5 / np.maximum(moments.items, 1.0) ** 2, 1e-15)
    degenerate = np.abs(pair).min(axis=-1) < noise
    radicand = trio**2 + 4 * pair.prod(axis=-1)
    is_real = radicand > 0
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
    """Decode many 2x2x2 tables of counts at once.

    Examples
    --------
    The paper's Table 1, twice:

    >>> table = [568, 553, 649, 1068, 1813, 3607, 3534, 8208]
    >>> decoded = evaluate_trios(np.array([table, table]).reshape(2, 2, 2, 2))
    >>> decoded.prevalence.round(4).tolist(), [OUTCOMES[k] for k in decoded.outcome]
    ([0.0887, 0.0887], ['real', 'real'])
    """
    return decode_trios(table_moments(tables))


# The best one-to-one assignment of rows to columns and the runner-up, on whole numbers of any size: no rounding.
#
# The Hungarian method with potentials (Kuhn; Munkres); the runner-up is the best one that lacks some edge of the best.


_NEVER: int | None = None


def best_assignment(gains: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The column of each row (no column twice) with the greatest total gain.

    Examples
    --------
    >>> best_assignment([[9, 8, 1], [9, 5, 1], [3, 3, 3]])
    (1, 0, 2)
    """
    highest = max(max(row) for row in gains)
    return _hungarian([[highest - gain for gain in row] for row in gains], len(gains), len(gains[0]))


def _best_without(gains: Sequence[Sequence[int]], forbidden: Collection[tuple[int, int]]) -> tuple[int, ...] | None:
    """The best assignment that uses no forbidden edge; None where there is none."""
    rows, columns = len(gains), len(gains[0])
    highest = max(max(row) for row in gains)
    spread = highest - min(min(row) for row in gains)
    banned = (rows + 1) * (spread + 1)  # dearer than any assignment without it
    costs = [[highest - gain for gain in row] for row in gains]
    for row, column in forbidden:
        costs[row][column] = banned
    chosen = _hungarian(costs, rows, columns)
    return None if any(chosen[row] == column for row, column in forbidden) else chosen


def second_assignment(
    gains: Sequence[Sequence[int]], best: Sequence[int], groups: Sequence[int] | None = None
) -> tuple[int, ...] | None:
    """The best assignment other than `best`; None where there is no other.

    Rows of one group are copies: exchanging them makes no other assignment.

    Examples
    --------
    >>> second_assignment([[9, 8, 1], [9, 5, 1], [3, 3, 3]], (1, 0, 2))
    (0, 1, 2)
    """
    group = range(len(best)) if groups is None else groups
    bans = [[(r, column) for r in range(len(best)) if group[r] == group[row]] for row, column in enumerate(best)]
    others = [_best_without(gains, ban) for ban in bans]
    return max((o for o in others if o is not None), key=lambda o: total_gain(gains, o), default=None)


def total_gain(gains: Sequence[Sequence[int]], columns: Sequence[int]) -> int:
    """The sum of the gains along an assignment."""
    return sum(row[column] for row, column in zip(gains, columns, strict=True))


def _hungarian(costs: Sequence[Sequence[int]], rows: int, columns: int) -> tuple[int, ...]:
    """Least total cost, rows ≤ columns: one augmenting path a row; column `columns` is where a path starts."""
    of_row, of_column = [0] * rows, [0] * (columns + 1)  # potentials
    owner = [-1] * (columns + 1)
    for row in range(rows):
        owner[columns], at = row, columns
        slack: list[int | None] = [_NEVER] * columns
        came, seen = [columns] * columns, [False] * (columns + 1)
        while owner[at] >= 0:
            seen[at] = True
            line, base = costs[owner[at]], of_row[owner[at]]
            step, nearest = _NEVER, -1
            for j in range(columns):
                if seen[j]:
                    continue
                reduced, known = line[j] - base - of_column[j], slack[j]
                if known is None or reduced < known:
                    slack[j], came[j], known = reduced, at, reduced
                if step is None or known < step:
                    step, nearest = known, j
            _shift(step or 0, seen, owner, of_row, of_column, slack)
            at = nearest
        while at != columns:
            owner[at], at = owner[came[at]], came[at]
        owner[columns] = -1
    place = {owner[j]: j for j in range(columns)}
    return tuple(place[row] for row in range(rows))


def _shift(
    step: int,
    seen: Sequence[bool],
    owner: Sequence[int],
    of_row: list[int],
    of_column: list[int],
    slack: list[int | None],
) -> None:
    """Move the potentials of the tree by a step, so that one more edge becomes free."""
    for j, inside in enumerate(seen):
        if inside:
            of_row[owner[j]] += step
            of_column[j] -= step
        elif j < len(slack) and (known := slack[j]) is not None:
            slack[j] = known - step


# The decode of three jurors in floats, where no exact one exists: a start value for estimation, not an estimate.
#
# Counts of a real test hardly ever commute. Each slicing juror and each of a few mixtures gives a decode all the same;
# the one under which the counts are likeliest is returned.


_MIXES = 4
_LEAST = 1e-3  # shares of a start value stay away from 0, where expectation-maximisation could not leave again


def decode_floats(table: ArrayLike) -> tuple[Floats, Floats]:
    """Start values from an R x R x R table of counts: prevalences (R,) and confusions (3, R, R), [juror][true][said].

    Labels are named so that total accuracy is greatest, whatever the jurors call them. Every share is positive and
    every row adds up to 1. Where no slicing has a real decode, the share of votes each label got is used.

    Examples
    --------
    >>> confusion = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]])
    >>> counts = 1e6 * np.einsum("l,la,lb,lc->abc", [0.5, 0.3, 0.2], confusion, confusion, confusion)
    >>> prevalence, confusions = decode_floats(counts)
    >>> prevalence.round(3).tolist(), confusions[1].round(3).tolist()
    ([0.5, 0.3, 0.2], [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]])
    """
    counts = np.asarray(table, dtype=float)
    best, height = start_from_votes(counts), -np.inf
    for candidate in _candidates(counts / counts.sum()):
        prevalence, confusions = _as_shares(candidate)
        fit = np.einsum("l,la,lb,lc->abc", prevalence, *confusions)
        likelihood = float((counts * np.log(fit)).sum())
        if likelihood > height:
            best, height = (prevalence, confusions), likelihood
    return _named(*best)


def _candidates(shares: Floats) -> Iterator[tuple[Floats, list[Floats]]]:
    """The real decodes: for every slicing juror and mixture, prevalences and the three confusion matrices."""
    size = len(shares)
    rng = np.random.default_rng(0)
    mixes = [np.arange(size) ** 1.5, *rng.random((_MIXES - 1, size))]
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
        sliced = np.einsum("lk,ckm,ml->lc", right, matrices, left)
        confusions = [first / sums[0][:, None], second / sums[1][:, None]]
        confusions.insert(slicer, sliced)
        yield sums[0] * sums[1], confusions


def _as_shares(decode: tuple[Floats, list[Floats]]) -> tuple[Floats, Floats]:
    """Positive, and adding up to 1."""
    prevalence = np.maximum(decode[0], _LEAST)
    confusions = np.maximum(np.array(decode[1]), _LEAST)
    return prevalence / prevalence.sum(), confusions / confusions.sum(axis=2, keepdims=True)


def start_from_votes(counts: Floats) -> tuple[Floats, Floats]:
    """One step of expectation-maximisation from the share of votes that each label got."""
    ab, ac, bc = counts.sum(axis=2), counts.sum(axis=1), counts.sum(axis=0)
    alone = [ab.sum(axis=1), ab.sum(axis=0), ac.sum(axis=0)]  # how often each juror says each label
    mass = [np.diag(alone[0]) + ab.T + ac.T, ab + np.diag(alone[1]) + bc.T, ac + bc + np.diag(alone[2])]  # thrice it
    safe = [np.maximum(rows / 3, _LEAST * counts.sum() / len(counts)) for rows in mass]
    share = sum(alone) / 3 / counts.sum()
    return _as_shares((share, [rows / rows.sum(axis=1, keepdims=True) for rows in safe]))


def _named(prevalence: Floats, confusions: Floats) -> tuple[Floats, Floats]:
    gains = (confusions.sum(axis=0) * 2**40).astype(np.int64).tolist()
    order = np.argsort(best_assignment(gains))
    return prevalence[order], confusions[:, order]


# Every trio of a binary panel at once, decoded in floats: what each says by itself.


@dataclass(frozen=True, eq=False)
class PanelTrios(Result):
    """What each trio of a panel says by itself; where trios disagree about a juror, errors are correlated."""

    sketch: Sketch
    trios: Integers  #: (M, 3) positions of the jurors
    decoded: DecodedTrios

    def medians(self) -> tuple[float, Floats]:
        """The median over real trios of the prevalence of the first label, and of each juror's accuracies (N, 2)."""
        real = self.decoded.outcome <= 1
        accuracy = np.full((len(self.sketch.jurors), 2), np.nan)
        for juror, values in enumerate(self._by_juror()):
            if len(values):
                accuracy[juror] = np.median(values, axis=0)
        prevalence = float(np.median(self.decoded.prevalence[real])) if real.any() else np.nan
        return prevalence, accuracy

    def _by_juror(self) -> list[Floats]:
        """For each juror its accuracies (…, 2) in the real trios it sits in."""
        real = self.decoded.outcome <= 1
        members, accuracies = self.trios[real].ravel(), self.decoded.accuracy[real].reshape(-1, 2)
        order = np.argsort(members, kind="stable")
        ends = np.searchsorted(members[order], np.arange(len(self.sketch.jurors) + 1))
        return [accuracies[order[a:b]] for a, b in pairwise(ends)]

    def by_juror(self) -> Any:
        """A dataframe, one row per juror: its trios, how many are real, and how far apart they put its accuracies."""
        labels = self.sketch.labels
        total = np.bincount(self.trios.ravel(), minlength=len(self.sketch.jurors))
        columns: dict[str, list[Any]] = {"juror": list(self.sketch.jurors), "trios": total.tolist(), "real": []}
        for name in (f"{what} on {label}" for label in labels for what in ("median", "quarter", "three quarters")):
            columns[name] = []
        for values in self._by_juror():
            columns["real"].append(len(values))
            for side, label in enumerate(labels):
                ends = np.quantile(values[:, side], (0.5, 0.25, 0.75)) if len(values) else np.full(3, np.nan)
                for what, end in zip(("median", "quarter", "three quarters"), ends, strict=True):
                    columns[f"{what} on {label}"].append(float(end))
        return data_frame(columns)

    def _blocks(self) -> tuple[Table]:
        first, second = self.sketch.labels
        prevalence, accuracy = self.medians()
        rows = tuple((j, *map(percent, row)) for j, row in zip(self.sketch.jurors, accuracy.tolist(), strict=True))
        title = f"medians over {len(self.trios):,} trios; prevalence of {first}: {percent(prevalence)}"
        return (Table(("juror", f"accuracy on {first}", f"accuracy on {second}"), rows, title=title),)

    def _columns(self) -> Columns:
        """One row per trio: its jurors, items, outcome, prevalence and accuracies."""
        names = np.array(self.sketch.jurors, dtype=object)
        first, second = self.sketch.labels
        columns: dict[str, Any] = {f"juror {k + 1}": names[self.trios[:, k]] for k in range(3)}
        columns["items"] = self.decoded.moments.items.astype(np.int64)
        columns["outcome"] = np.array(OUTCOMES, dtype=object)[self.decoded.outcome]
        columns[f"prevalence of {first}"] = self.decoded.prevalence
        for k in range(3):
            columns[f"accuracy {k + 1} on {first}"] = self.decoded.accuracy[:, k, 0]
            columns[f"accuracy {k + 1} on {second}"] = self.decoded.accuracy[:, k, 1]
        return columns


def evaluate_all_trios(sketch: Sketch) -> PanelTrios:
    """Decode every trio of a binary panel, each on the items all three answered.

    Examples
    --------
    >>> counts = {"AAAA": 30, "AAAB": 9, "AABA": 8, "ABAA": 7, "BAAA": 6, "BBBA": 9, "BBAB": 8, "BABB": 7, "BBBB": 40}
    >>> every = evaluate_all_trios(Sketch.from_counts(counts, jurors="ijkl"))
    >>> every.trios.tolist(), every.decoded.prevalence.round(2).tolist()
    ([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]], [0.51, 0.51, 0.52, 0.49])
    """
    trios, moments = trio_moments(sketch)
    return PanelTrios(sketch, trios, decode_trios(moments))


# Theorem 1 (encode): from prevalences and confusion matrices to the counts that independent jurors would give.
#
# f(l_1, …, l_N) = Σ_l P_l Π_i P_i(l_i | l), for any number of jurors and labels. Exact numbers give exact counts;
# the two conjugate halves of an irrational solution add up to rational ones.


_MOST_CELLS = 1 << 20


def encode(evaluation: Any, items: int | None = None) -> Sketch:
    """The sketch that error-independent jurors with this evaluation give on a test of `items` items.

    Parameters
    ----------
    evaluation
        A `Solution`, an `Evaluation` (its exact numbers where it has them), or a mapping with `prevalence` and
        `accuracy` or `confusion`.
    items
        The size of the test. By default the smallest on which every count is whole (exact numbers only).

    Raises
    ------
    SketchError
        Exact numbers that give no whole counts on so many items. Floats are approximations already, so their
        counts are rounded to whole items (largest remainders first, the total kept).

    Examples
    --------
    >>> jury = {"prevalence": {"A": Fraction(1, 2), "B": Fraction(1, 2)},
    ...         "accuracy": {j: {"A": Fraction(3, 4), "B": Fraction(3, 4)} for j in ("ann", "bob")}}
    >>> encode(jury, items=16).to_counts()
    {('A', 'A'): 5, ('A', 'B'): 3, ('B', 'A'): 3, ('B', 'B'): 5}
    """
    solution = _as_solution(evaluation)
    shares = tuple_shares(solution)
    if any(isinstance(share, float) for share in shares):
        counts = _rounded([float(share) for share in shares], items)
    else:
        counts = _whole([cast(Fraction, share) for share in shares], items)
    table = np.array(counts, dtype=np.int64).reshape((len(solution.labels),) * len(solution.jurors))
    return Sketch.from_table(table, jurors=solution.jurors, labels=solution.labels)


def tuple_shares(solution: Solution) -> list[Fraction | float]:
    """The share of every decision tuple, in lexicographic order of labels."""
    size, width = len(solution.labels), len(solution.jurors)
    if size**width > _MOST_CELLS:
        raise SketchError(f"{size} labels and {width} jurors have {size}^{width} decision tuples; encode fewer jurors")
    if any(x is None for x in itertools.chain(solution.prevalences, *itertools.chain(*solution.confusions))):
        raise SketchError("this evaluation lacks numbers (a label that never occurred); it cannot be encoded")
    by_label: list[list[Any]] = []
    for label, prevalence in enumerate(solution.prevalences):
        products: list[Any] = [prevalence]
        for table in solution.confusions:
            products = [p * q for p in products for q in cast(Sequence[Any], table[label])]
        by_label.append(products)
    return [_as_share(terms) for terms in zip(*by_label, strict=True)]


def _as_share(terms: Sequence[Any]) -> Fraction | float:
    """The sum over the true labels; conjugate halves of irrational numbers add up to a rational one."""
    if any(isinstance(term, float) for term in terms):
        return math.fsum(terms)
    total = exact_sum(terms)
    if not total.is_rational:
        raise SketchError(f"this evaluation gives a decision tuple the irrational share {total}; no test has that")
    return total.to_fraction()


def _whole(shares: list[Fraction], items: int | None) -> list[int]:
    """Exact counts; SketchError where they are not whole or negative."""
    if any(share < 0 for share in shares):
        raise SketchError("this evaluation gives some decision tuple a negative share; no test has that")
    least = math.lcm(*(share.denominator for share in shares))
    if items is None:
        items = least
    if items % least:
        raise SketchError(f"whole counts need a multiple of {least} items, got {items}")
    return [int(share * items) for share in shares]


def _rounded(shares: list[float], items: int | None) -> list[int]:
    """Largest remainders: whole counts nearest to the shares that add up to the number of items."""
    if items is None:
        raise SketchError("an evaluation in floats needs the number of items: encode(evaluation, items=20_000)")
    if min(shares) < 0:
        raise SketchError("this evaluation gives some decision tuple a negative share; no test has that")
    exact = np.array(shares) / math.fsum(shares) * items
    counts = np.floor(exact).astype(np.int64)
    short = items - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:short]] += 1
    return [int(n) for n in counts]


def _as_solution(evaluation: Any) -> Solution:
    if isinstance(evaluation, Solution):
        return evaluation
    if isinstance(evaluation, dict):
        return Solution.from_dict(evaluation)
    exact = getattr(evaluation, "exact", None)
    solution = exact if exact is not None else getattr(evaluation, "solution", None)
    if not isinstance(solution, Solution):
        raise SketchError(f"encode needs an evaluation with numbers in it, got {type(evaluation).__name__}")
    return solution


# Four binary jurors: six exact numbers that are all zero if their errors were independent.
#
# With C, T and M the pair, trio and fourth central moments and P = C_12 C_13 C_23, independence gives C_ij = b_i b_j,
# T_ijk = tau·b_i b_j b_k and M_1234 = (1 + tau²) b_1 b_2 b_3 b_4, hence
#     C_12 C_34 = C_13 C_24 = C_14 C_23,
#     T_123 C_14 = T_124 C_13,  T_123 C_14 = T_134 C_12,  T_123 C_24 = T_234 C_12,
#     M_1234 P = C_12 C_34 (P + T_123²).
# Fifteen free counts less nine parameters: six equations. Where C_12, C_13 and C_23 are not zero, all six holding means
# that some independent evaluation (perhaps complex or out of range) explains the counts.


def independence_invariants(sketch: Sketch) -> dict[str, Fraction]:
    """The six invariants of four complete binary jurors, exactly.

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
    return {
        "C12 C34 - C13 C24": c12 * c34 - c13 * c24,
        "C12 C34 - C14 C23": c12 * c34 - c14 * c23,
        "T123 C14 - T124 C13": t123 * c14 - t124 * c13,
        "T123 C14 - T134 C12": t123 * c14 - t134 * c12,
        "T123 C24 - T234 C12": t123 * c24 - t234 * c12,
        "M1234 P - C12 C34 (P + T123²)": _fourth_moment(sketch) * p - c12 * c34 * (p + t123**2),
    }


def _fourth_moment(sketch: Sketch) -> Fraction:
    """Mean of Π (x_i - f_i), exactly."""
    shares = list(moments(sketch).single.values())
    total = Fraction(0)
    for row, count in zip(sketch.tuples.codes.tolist(), sketch.counts.tolist(), strict=True):
        term = Fraction(count, sketch.items)
        for said, share in zip(row, shares, strict=True):
            term *= said - share
        total += term
    return total
