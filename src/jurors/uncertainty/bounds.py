"""Bounds of every prevalence and accuracy: over all answer keys, and if errors correlate by at most ε.

Logical bounds (`logical_bounds`) are what follows from the counts alone, without any assumption about the jurors'
errors. Any answer key is possible, so hardly anything follows. A prevalence may be anything from 0 to 1. So may the
accuracy of a juror who gives the label and others, too: the label may be true only where the juror gave it, or only
where it gave another. A juror who never gives the label is never right on it, and one who gives no other label is
always right on it. A juror who never voted has no accuracy.

Robust bounds (`robust_bounds`) are those of binary jurors if errors correlate by at most ε, guaranteed whatever the
correlations are: for three jurors by the closed form below, for more by intersecting the bounds of their trios. The
counts determine an evaluation up to its mirror (the labels swapped), so an orientation is assumed: the jurors are not
worse than coins in sum, Σ d_i >= 0. Where that does not decide between the two, both are included.

Panels. Every separated trio determines which of its jurors err alike and which the other way round, up to its mirror.
Trios that share a juror must agree, so a group of connected trios has two sides: one evaluation and its mirror. A side
remains if no interval becomes empty and the group can be no worse than coins in sum, Σ d_i >= 0, which is Σ b_i >= 0.

Closed outer bound (`SeparatedTrio`) of all evaluations that explain a trio if error covariances are at most
ε. With r = √(P_A/P_B) and b_i = √(P_A P_B) d_i, a pair has c_jk = b_j b_k within ε of its covariance: in [L_jk, U_jk].
Where every |C| exceeds ε the signs are known; jurors are flipped until every C is positive, and then
    b_i = √(c_ij c_ik / c_jk),  b_i/m_i <= r <= (1 - m_i)/b_i,  P_iB = m_i + r b_i,  P_iA = 1 - m_i + b_i/r,
    |T - τ| <= ε (1 + 2 Σ b_i r/(1 + r²)) = η,  τ = (r - 1/r) b_1 b_2 b_3.
Each line narrows the interval of one letter from those of the others; four rounds are enough.

Guaranteed in floating point: m, L, U and T are ratios of whole numbers, divided once and widened by one step of the
float grid. All else is sums, products, quotients and roots of positive numbers, a dozen roundings of 2⁻⁵³ at most in a
line, and every line is widened by 2⁻⁴⁹, which is sixteen of them; the one difference, T ± η, by a step of the grid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb, fsum, inf, nan, nextafter, prod, sqrt
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Codes, Floats, Integers
from jurors.errors import OptionError, SketchError
from jurors.evaluate.alarms import Alarm
from jurors.evaluate.card import alarm_lines, percent
from jurors.evaluate.solution import NamedMapping
from jurors.options import Label
from jurors.results import Block, Columns, Notes, Result, Table, columns_of
from jurors.sketch.moments import WholeMoments
from jurors.sketch.sketch import Sketch
from jurors.uncertainty.trio_alarms import smallest_correlation

Interval: TypeAlias = tuple[float, float]


@dataclass(frozen=True, eq=False, kw_only=True)
class Bounds(Result):
    """Guaranteed intervals, simultaneously; None where the assumption contradicts the counts."""

    items: int
    jurors: tuple[str, ...]
    labels: tuple[Label, ...]
    assumption: str  #: in words: "nothing but the counts", "no error covariance exceeds 0.02", …
    prevalence: NamedMapping | None  #: label -> (low, high)
    accuracy: NamedMapping | None  #: juror -> label -> (low, high)
    alarms: tuple[Alarm, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def is_possible(self) -> bool:
        """Whether any answer key agrees with the assumption."""
        return self.prevalence is not None

    def rows(self) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """The bounds as a long table.

        Returns
        -------
        names : tuple of str
            statistic, juror, label, low, high.
        rows : list of tuple
        """
        rows: list[tuple[Any, ...]] = []
        if self.prevalence is not None and self.accuracy is not None:
            rows += [("prevalence", None, a, low, high) for a, (low, high) in self.prevalence.items()]
            rows += [
                ("accuracy", j, a, low, high) for j, row in self.accuracy.items() for a, (low, high) in row.items()
            ]
        return ("statistic", "juror", "label", "low", "high"), rows

    def table(self) -> Table:
        """The rows in percent, to read."""
        _, rows = self.rows()
        shown = tuple(
            (f"prevalence of {a}" if j is None else f"accuracy of {j} on {a}", percent(low), percent(high))
            for _, j, a, low, high in rows
        )
        return Table(("statistic", "at least", "at most"), shown, right=(1, 2))

    def _document(self) -> dict[str, Any]:
        return {
            **self._attributes("items", "jurors", "labels", "assumption"),
            "possible": self.is_possible,
            **self._attributes("prevalence", "accuracy", "alarms", "details"),
        }

    def _columns(self) -> Columns:
        return columns_of(*self.rows())

    def _blocks(self) -> list[Block]:
        head = f"{len(self.jurors)} jurors, {self.items:,} items; assuming {self.assumption}"
        body = self.table() if self.is_possible else "No answer key agrees with that."
        return [head, body, *([Notes(alarm_lines(self.alarms))] if self.alarms else [])]


def logical_bounds(sketch: Sketch) -> Bounds:
    """Bound every prevalence and accuracy, whatever the jurors' errors have in common: over all answer keys.

    Parameters
    ----------
    sketch
        Any number of jurors and labels; votes may be missing.

    Returns
    -------
    Bounds
        NaN for the accuracy of a juror who never voted.

    Raises
    ------
    SketchError
        No items, or fewer than two labels.

    Examples
    --------
    >>> sketch = Sketch.from_counts({"AA": 40, "BA": 60}, jurors=("ann", "bob"))
    >>> logical_bounds(sketch).accuracy["ann"], logical_bounds(sketch).accuracy["bob"]
    ({'A': (0.0, 1.0), 'B': (0.0, 1.0)}, {'A': (1.0, 1.0), 'B': (0.0, 0.0)})
    """
    if len(sketch.labels) < 2 or not sketch.items:
        raise SketchError(
            f"bounds need items and at least 2 labels, got {sketch.items} items and {len(sketch.labels)} labels; "
            "name unused labels with labels="
        )
    row, juror, label = sketch.tuples.triples()
    has_items = sketch.counts[row] > 0
    gives = np.zeros((len(sketch.jurors), len(sketch.labels)), dtype=bool)
    gives[juror[has_items], label[has_items]] = True
    accuracy = NamedMapping()
    for name, used in zip(sketch.jurors, gives.tolist(), strict=True):
        ends = [(nan, nan)] * len(used)
        if any(used):
            ends = [(float(sum(used) == is_used), float(is_used)) for is_used in used]
        accuracy[name] = NamedMapping(zip(sketch.labels, ends, strict=True))
    return Bounds(
        items=sketch.items, jurors=sketch.jurors, labels=sketch.labels, assumption="nothing but the counts",
        prevalence=NamedMapping(dict.fromkeys(sketch.labels, (0.0, 1.0))), accuracy=accuracy,
        details={"method": "closed form"},
    )  # fmt: skip


# -- closed bounds of a trio -------------------------------------------------------------------------------------------

Outcome: TypeAlias = Literal["separated", "single_label_explains", "epsilon_too_large", "sign_contradiction"]

LESS, MORE = 1 - 2.0**-49, 1 + 2.0**-49
_OTHERS = ((1, 2), (0, 2), (0, 1))


class Branch(NamedTuple):
    """Intervals of the evaluations in which juror i errs less than a coin where its sign is +1; the mirror is implied.

    As if every juror with sign -1 had been turned around.
    """

    signs: tuple[int, int, int]
    prevalence: tuple[Interval, Interval]  #: of the first and the second label
    accuracy: tuple[tuple[Interval, Interval], ...]  #: by juror: on the first and the second label
    spread: tuple[Interval, ...]  #: b_i

    def oriented(self, side: int) -> tuple[Interval, list[tuple[Interval, Interval]]]:
        """The prevalence of the first label and the accuracies as they are (+1), or in the mirror (-1)."""
        accuracies = []
        for sign, (on_a, on_b) in zip(self.signs, self.accuracy, strict=True):
            if side < 0:
                on_a, on_b = on_b, on_a
            accuracies.append((on_a, on_b) if sign * side > 0 else (complement(on_a), complement(on_b)))
        return self.prevalence[0 if side > 0 else 1], accuracies


def complement(interval: Interval) -> Interval:
    """1 - interval, rounded outwards.

    Returns
    -------
    low, high : float
    """
    low, high = interval
    return max(0.0, nextafter(1 - high, -inf)), min(1.0, nextafter(1 - low, inf))


class ExactTrio(WholeMoments):
    """The moments of a trio as whole numbers, and which case they are for a given ε."""

    __slots__ = ()

    @property
    def covariances(self) -> tuple[Fraction, ...]:
        """C_jk by the juror left out."""
        return tuple(Fraction(pair, self.items**2) for pair in self.pair)

    def outcome(self, epsilon: float) -> Outcome:
        """The case of this trio for ε, decided exactly.

        Returns
        -------
        str
        """
        top, bottom = Fraction(epsilon).as_integer_ratio()
        square = top * self.items**2
        sizes = [abs(pair) * bottom for pair in self.pair]
        if min(sizes) > square:
            product = self.pair[0] * self.pair[1] * self.pair[2]
            return "separated" if product > 0 else "sign_contradiction"
        if max(sizes) <= square and abs(self.trio) * bottom <= square * self.items:
            return "single_label_explains"
        return "epsilon_too_large"


def ratio(top: int, bottom: int) -> Interval:
    """The floats around a quotient of whole numbers.

    Returns
    -------
    low, high : float
    """
    value = top / bottom
    return nextafter(value, -inf), nextafter(value, inf)


class SeparatedTrio:
    """A separated trio with every covariance made positive: outer float bounds of all that the inequalities need.

    Examples
    --------
    Table 1 of the paper at ε = 0.0001, prevalence of the first label:

    >>> trio = ExactTrio.from_counts([568, 553, 649, 1068, 1813, 3607, 3534, 8208])
    >>> [round(x, 3) for x in SeparatedTrio(trio, 0.0001).branch().prevalence[0]]
    [0.083, 0.095]
    """

    def __init__(self, trio: ExactTrio, epsilon: float) -> None:
        q, square = trio.items, trio.items**2
        self.epsilon = epsilon
        self.signs = (1, 1 if trio.pair[2] > 0 else -1, 1 if trio.pair[1] > 0 else -1)
        votes = [n if sign > 0 else q - n for n, sign in zip(trio.votes, self.signs, strict=True)]
        self.share_b, self.share_a = [ratio(n, q) for n in votes], [ratio(q - n, q) for n in votes]  # m_i and 1 - m_i
        top, bottom = Fraction(epsilon).as_integer_ratio()
        # L = C - ε and U = C + ε, by the juror left out
        self.low = [ratio(abs(pair) * bottom - top * square, square * bottom)[0] for pair in trio.pair]
        self.high = [ratio(abs(pair) * bottom + top * square, square * bottom)[1] for pair in trio.pair]
        self.third = ratio(trio.trio * self.signs[1] * self.signs[2], q**3)  # T
        low, high = self.low, self.high
        self.r: Interval = (0.0, inf)
        self.b_low = [sqrt(low[j] * low[k] / high[i]) * LESS for i, (j, k) in enumerate(_OTHERS)]
        self.b_high = [
            min(sqrt(high[j] * high[k] / low[i]), sqrt(self.share_b[i][1] * self.share_a[i][1])) * MORE
            for i, (j, k) in enumerate(_OTHERS)
        ]

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left: a proof that no evaluation explains the counts."""
        return self.r[0] > self.r[1] or any(x > y for x, y in zip(self.b_low, self.b_high, strict=True))

    def branch(self) -> Branch | None:
        """The guaranteed intervals: the statistics of all evaluations that are left after narrowing r and b.

        Returns
        -------
        Branch or None
            None where nothing is left: no evaluation explains the counts.
        """
        for narrow in (self._narrow_b, self._narrow_r) * 4 + (self._narrow_b,):
            narrow()
            if self.is_empty:
                return None
        from_, to = self.r
        more, less = from_ * from_, to * to
        prevalence = (
            (more / (1 + more) * LESS, min(1.0, less / (1 + less) * MORE)),
            (1 / (1 + less) * LESS, min(1.0, 1 / (1 + more) * MORE)),
        )
        # With x = r b_i, c_jk x² - τ x = c_ij c_ik, and with x = b_i/r the same of -τ.
        low, high = self.low, self.high
        bottom, top = self._tau()
        accuracy = []
        for i, (j, k) in enumerate(_OTHERS):
            least, most = low[j] * low[k] * LESS, high[j] * high[k] * MORE
            right = _root(high[i], bottom, least) * LESS, _root(low[i], top, most) * MORE
            wrong = _root(high[i], -top, least) * LESS, _root(low[i], -bottom, most) * MORE
            b_low, b_high = self.b_low[i], self.b_high[i]
            on_a = _outer_sum(self.share_a[i], _common((b_low / to, b_high / from_), wrong))
            on_b = _outer_sum(self.share_b[i], _common((from_ * b_low, to * b_high), right))
            accuracy.append((on_a, on_b))
        return Branch(self.signs, prevalence, tuple(accuracy), tuple(zip(self.b_low, self.b_high, strict=True)))

    def _narrow_b(self) -> None:
        """b_i b_j = c_ij: each from the two others, then r from b_i/m_i <= r <= (1 - m_i)/b_i."""
        low, high = self.low, self.high
        for i, (j, k) in enumerate(_OTHERS):
            least = max(low[k] / self.b_high[j], low[j] / self.b_high[k]) * LESS
            self.b_low[i] = max(self.b_low[i], least)
        for i, (j, k) in enumerate(_OTHERS):
            most = min(high[k] / self.b_low[j], high[j] / self.b_low[k]) * MORE
            self.b_high[i] = min(self.b_high[i], most)
        from_ = max(b / m[1] for b, m in zip(self.b_low, self.share_b, strict=True)) * LESS
        to = min(n[1] / b for b, n in zip(self.b_low, self.share_a, strict=True)) * MORE
        self.r = _common(self.r, (from_, to))

    def _narrow_r(self) -> None:
        """(r - 1/r) b_1 b_2 b_3 = τ, then b from b_i/m_i <= r <= (1 - m_i)/b_i."""
        least = max(sqrt(prod(self.low)), prod(self.b_low)) * LESS
        most = min(sqrt(prod(self.high)), prod(self.b_high)) * MORE
        bottom, top = self._tau()
        bottom = bottom / most * LESS if bottom > 0 else bottom / least * MORE
        top = top / least * MORE if top > 0 else top / most * LESS
        self.r = _common(self.r, (_ratio_of(bottom) * LESS, _ratio_of(top) * MORE))
        if self.r[0] <= self.r[1]:
            for i in range(3):
                most = min(self.share_a[i][1] / self.r[0], self.share_b[i][1] * self.r[1]) * MORE
                self.b_high[i] = min(self.b_high[i], most)

    def _tau(self) -> Interval:
        """τ = T but for the η that correlations can add."""
        middle = min(max(1.0, self.r[0]), self.r[1])  # r/(1+r²) is greatest as near to 1 as r can be
        reach = self.epsilon * (1 + 2 * sum(self.b_high) * middle / (1 + middle * middle)) * MORE
        return nextafter(self.third[0] - reach, -inf), nextafter(self.third[1] + reach, inf)


def _ratio_of(difference: float) -> float:
    """The r with r - 1/r = difference, without cancellation."""
    size = abs(difference)
    larger = (size + sqrt(size * size + 4)) / 2
    return larger if difference > 0 else 1 / larger


def _common(first: Interval, second: Interval) -> Interval:
    """The intersection; the low end is above the high one where it is empty."""
    return max(first[0], second[0]), min(first[1], second[1])


def _outer_sum(base: Interval, more: Interval) -> Interval:
    """The sum of two intervals, rounded outwards; a share is at most 1."""
    return (base[0] + more[0]) * LESS, min(1.0, (base[1] + more[1]) * MORE)


def _root(c: float, tau: float, product: float) -> float:
    """The positive root of c x² - τ x = product: it grows with τ and the product, and falls with c."""
    size = abs(tau) + sqrt(tau * tau + 4 * c * product)
    return size / (2 * c) if tau > 0 else 2 * product / size


# -- panels ------------------------------------------------------------------------------------------------------------

Place: TypeAlias = tuple[int, ...]
Accuracies: TypeAlias = dict[int, tuple[Interval, Interval]]
Group: TypeAlias = list[tuple[Place, Branch]]  # trios that share jurors, directly or through others

MOST_TRIOS = 2_000  #: of a panel with more, so many are drawn
SEED = 0
ALL: Interval = (0.0, 1.0)


class JointBounds(NamedTuple):
    """Bounds by all trios: of the prevalence of the first label, and of the accuracies that are bounded at all."""

    prevalence: Interval
    accuracy: Accuracies
    mirror_kept: bool  #: whether a group of trios keeps both of its sides


def chosen_trios(width: int) -> tuple[list[Place], int]:
    """Select all trios, or neighbours and a seeded draw, MOST_TRIOS in all.

    Returns
    -------
    trios : list of (int, int, int)
    total : int
        How many trios there are.

    Examples
    --------
    >>> chosen_trios(3), len(chosen_trios(40)[0])
    (([(0, 1, 2)], 1), 2000)
    """
    total = comb(width, 3)
    if total <= MOST_TRIOS:
        return list(combinations(range(width), 3)), total
    rng = np.random.default_rng(SEED)
    drawn: set[Place] = {tuple(sorted((k, (k + 1) % width, (k + 2) % width))) for k in range(min(width, MOST_TRIOS))}
    while len(drawn) < MOST_TRIOS:
        drawn.add(tuple(sorted(rng.choice(width, 3, replace=False).tolist())))
    return sorted(drawn), total


def trio_counts(codes: Codes, counts: Integers, place: Sequence[int]) -> list[int]:
    """Count the eight decision tuples of three jurors, on the items that all three answered.

    Parameters
    ----------
    codes, counts
        (T, N) decision tuples, -1 for no vote, and how many items have each.

    Returns
    -------
    list of int
        From AAA to BBB.
    """
    votes = codes[:, list(place)].astype(np.int64)
    is_complete = (votes >= 0).all(axis=1)
    by_tuple = np.zeros(8, dtype=np.int64)
    np.add.at(by_tuple, votes[is_complete] @ np.array([4, 2, 1]), counts[is_complete])
    return by_tuple.tolist()


def _groups(trios: Group) -> Iterator[tuple[Group, dict[int, int] | None]]:
    """Connected trios, and which jurors err alike (up to the mirror); None where trios contradict each other."""
    waiting = trios
    while waiting:
        group: Group = []
        first, branch = waiting[0]
        signs, is_consistent, size = dict(zip(first, branch.signs, strict=True)), True, -1
        while len(group) > size:
            size, later = len(group), []
            for place, branch in waiting:
                known = [k for k, juror in enumerate(place) if juror in signs]
                if not known:
                    later.append((place, branch))
                    continue
                group.append((place, branch))
                turn = signs[place[known[0]]] * branch.signs[known[0]]
                for juror, sign in zip(place, branch.signs, strict=True):
                    is_consistent &= signs.setdefault(juror, turn * sign) == turn * sign
            waiting = later
        yield group, signs if is_consistent else None


def _on_side(group: Group, signs: dict[int, int], side: int) -> tuple[Interval, Accuracies] | None:
    """The intersection of a group's trios on one side; None where it is empty or worse than coins."""
    prevalence = ALL
    accuracy: Accuracies = dict.fromkeys(signs, (ALL, ALL))
    spread: dict[int, Interval] = dict.fromkeys(signs, ALL)
    for place, branch in group:
        share, rights = branch.oriented(side * signs[place[0]] * branch.signs[0])
        prevalence = _common(prevalence, share)
        for juror, (on_a, on_b), b in zip(place, rights, branch.spread, strict=True):
            accuracy[juror] = _common(accuracy[juror][0], on_a), _common(accuracy[juror][1], on_b)
            spread[juror] = _common(spread[juror], b)
    every = [prevalence, *(ends for pair in accuracy.values() for ends in pair), *spread.values()]
    if any(low > high for low, high in every):
        return None
    greatest = fsum(spread[k][1] if side * sign > 0 else -spread[k][0] for k, sign in signs.items())  # of Σ ± b_i
    return (prevalence, accuracy) if nextafter(greatest, inf) >= 0 else None


def _hull(intervals: Sequence[Interval]) -> Interval:
    return min(low for low, _ in intervals), max(high for _, high in intervals)


@dataclass
class TrioWork:
    """The trios of a panel, added one by one, and the bounds by each."""

    sketch: Sketch
    epsilon: float
    separated: Group = field(default_factory=list)
    open: list[tuple[Outcome, Place, ExactTrio]] = field(default_factory=list)  #: trios that bound nothing
    impossible: tuple[str, Place] | None = None  #: the name of the contradiction, and its jurors
    items: int = 0

    @cached_property
    def codes(self) -> Codes:
        """The decision tuples, made into a matrix once."""
        return self.sketch.tuples.codes

    @property
    def is_trio(self) -> bool:
        """Three jurors, so that the orientation is this trio's own."""
        return len(self.sketch.jurors) == 3

    def add(self, place: Place) -> None:
        """Add one trio."""
        counts = trio_counts(self.codes, self.sketch.counts, place)
        self.items = sum(counts)
        if not self.items:
            if self.is_trio:
                raise SketchError("robust bounds need an item that all three jurors answered; there is none")
            return
        trio = ExactTrio.from_counts(counts)
        outcome = trio.outcome(self.epsilon)
        if outcome == "sign_contradiction":
            self.impossible = outcome, place
        elif outcome != "separated":
            self.open.append((outcome, place, trio))
        else:
            branch = SeparatedTrio(trio, self.epsilon).branch()
            if branch is None:
                self.impossible = "not_explainable", place
            else:
                self.separated.append((place, branch))

    def intersect(self) -> JointBounds | None:
        """Intersect the bounds of all trios.

        Returns
        -------
        JointBounds or None
            None where they contradict each other.
        """
        if self.impossible:
            return None
        prevalence, mirror_kept = ALL, False
        accuracy: Accuracies = {}
        for group, signs in _groups(self.separated):
            both = [] if signs is None else [_on_side(group, signs, side) for side in (1, -1)]
            sides = [side for side in both if side is not None]
            mirror_kept |= len(sides) > 1
            members = tuple(sorted({k for place, _ in group for k in place}))
            prevalence = _common(prevalence, _hull([side[0] for side in sides])) if sides else (1.0, 0.0)
            if prevalence[0] > prevalence[1]:
                self.impossible = "not_explainable", members
                return None
            for k in members:
                accuracy[k] = _hull([side[1][k][0] for side in sides]), _hull([side[1][k][1] for side in sides])
        return JointBounds(prevalence, accuracy, mirror_kept)


# -- bounds ------------------------------------------------------------------------------------------------------------

Column: TypeAlias = "Floats | NDArray[np.object_]"


def robust_bounds(
    sketch: Sketch, correlation: float, *, progress: Callable[[float], None] | None = None, advise: bool = True
) -> Bounds:
    """Guaranteed intervals if no error covariance of two or three jurors exceeds `correlation`, on either label.

    Parameters
    ----------
    sketch
        Two labels, three jurors or more; each trio is evaluated on the items that all three answered.
    correlation
        ε: the largest |Γ| to allow for.
    progress
        Called with the share of the work that is done.
    advise
        Where nothing explains the counts, whether to search for the least correlation that would (0.1 s).

    Returns
    -------
    Bounds

    Examples
    --------
    The census of Table 1, if no error covariance exceeds a thousandth:

    >>> table = np.reshape([568, 553, 649, 1068, 1813, 3607, 3534, 8208], (2, 2, 2))
    >>> sketch = Sketch.from_table(table, jurors="ijk", labels="AB")
    >>> [round(x, 3) for x in robust_bounds(sketch, 0.001).prevalence["A"]]
    [0.044, 0.181]
    >>> [alarm.reason for alarm in robust_bounds(sketch, 0.01).alarms]
    ['epsilon_too_large']
    """
    _check(sketch, correlation)
    places, total = chosen_trios(len(sketch.jurors))
    epsilon = float(correlation)
    if epsilon < correlation:  # a fraction
        epsilon = nextafter(epsilon, inf)
    work = TrioWork(sketch, epsilon)
    for done, place in enumerate(places):
        work.add(place)
        if progress is not None:
            progress((done + 1) / len(places))
        if work.impossible is not None:
            break
    result = work.intersect()
    details = {"correlation": work.epsilon, "trios": len(places), "all_trios": total}
    details |= {"separated_trios": len(work.separated), "open_trios": len(work.open)}
    details |= {"mirror_kept": result.mirror_kept} if result else {}
    details |= {"seed": SEED} if len(places) < total else {}
    assumption = (
        f"no error covariance of two or three jurors exceeds {work.epsilon:g}, and the jurors' accuracies average at "
        "least 1/2"
    )
    if not work.is_trio:
        assumption += ", in every group of jurors that trios connect"
        if not sketch.is_complete:
            assumption += "; the items that three jurors answered are representative of the others"
    a, b = sketch.labels
    prevalence = accuracy = None
    if result is not None:
        prevalence = NamedMapping({a: result.prevalence, b: complement(result.prevalence)})
        rights = [result.accuracy.get(k, (ALL, ALL)) for k in range(len(sketch.jurors))]
        accuracy = NamedMapping(
            (j, NamedMapping({a: x, b: y})) for j, (x, y) in zip(sketch.jurors, rights, strict=True)
        )
    return Bounds(
        items=work.items if work.is_trio else sketch.items, jurors=sketch.jurors, labels=sketch.labels,
        assumption=assumption, prevalence=prevalence, accuracy=accuracy,
        alarms=_alarms(work, result, advise=advise), details=details,
    )  # fmt: skip


def _check(sketch: Sketch, correlation: float) -> None:
    if len(sketch.labels) != 2:
        raise SketchError(f"robust bounds are not available for {len(sketch.labels)} labels, only for two")
    if len(sketch.jurors) < 3:
        raise SketchError(f"robust bounds need three jurors or more, got {len(sketch.jurors)}")
    if not 0 <= correlation <= 1:
        raise OptionError(f"an error covariance lies between 0 and 1, got {correlation!r}; try 0.01")


def _alarms(work: TrioWork, result: JointBounds | None, *, advise: bool) -> tuple[Alarm, ...]:
    """The outcomes as alarms."""
    jurors = work.sketch.jurors
    if work.impossible is not None:
        kind, place = work.impossible
        names = tuple(jurors[k] for k in place)
        start = f"with error covariances of at most {work.epsilon:g} no evaluation explains the counts"
        advice = "Assume more correlation, or leave out a juror who copies another"
        if len(place) == 3 and advise:
            table = np.reshape(trio_counts(work.codes, work.sketch.counts, place), (2, 2, 2))
            least = smallest_correlation(Sketch.from_table(table, labels=work.sketch.labels))
            more = f"up to {least:.2g}, which explains them" if least > work.epsilon else "more"
            advice = f"Assume {more}, or evaluate other jurors"
        end = f": some errors are more correlated than that. {advice}"
        if kind == "sign_contradiction":
            signs = ", because an odd number of the three pairs disagree more often than chance explains"
            return (Alarm("sign_contradiction", "alarm", start + signs + end, work.epsilon, names),)
        return (Alarm("not_explainable", "alarm", start + end, work.epsilon, names),)
    if work.open and not work.separated:
        if all(outcome == "single_label_explains" for outcome, _, _ in work.open):
            message = (
                f"error covariances of {work.epsilon:g} explain the counts even if every item has the same true "
                "label: so no bounds follow. Assume less correlation, or add more accurate jurors"
            )
            return (Alarm("single_label_explains", "warning", message, work.epsilon, jurors),)
        # No trio is separated: name the pair that comes closest to being, in the trio that does.
        weakest = [(min(abs(c) for c in trio.covariances), place, trio) for _, place, trio in work.open]
        size, place, trio = max(weakest, key=lambda entry: entry[0])
        out = [abs(c) for c in trio.covariances].index(size)
        i, j = (jurors[k] for at, k in enumerate(place) if at != out)
        message = (
            f"an error covariance of {work.epsilon:g} could explain all that {i!r} and {j!r} have in common "
            f"({float(size):.2g}), so it stays open who errs: hardly anything is bounded. Assume less than "
            f"{float(size):.2g}, or add more accurate jurors"
        )
        return (Alarm("epsilon_too_large", "warning", message, float(size), (i, j)),)
    left = tuple(j for k, j in enumerate(jurors) if result is not None and k not in result.accuracy)
    if left:
        message = (
            f"if errors may correlate by {work.epsilon:g}, no trio with {', '.join(map(repr, left))} says anything: "
            "what they have in common with others may be nothing but that. Assume less correlation"
        )
        return (Alarm("epsilon_too_large", "warning", message, work.epsilon, left),)
    return ()


class CorrelationCurve(Result, dict[str, Column]):
    """The columns of `correlation_curve`; to read, how the bounds of the first label's prevalence widen."""

    def _document(self) -> Columns:
        return self

    def _columns(self) -> Columns:
        return self

    def _blocks(self) -> tuple[Table]:
        first = self["label"][0]
        shown = (self["statistic"] == "prevalence") & (self["label"] == first)
        names = ("correlation", "outcome", "low", "high", "width")
        rows = tuple(
            (f"{epsilon:.5f}", outcome, *map(percent, ends))
            for epsilon, outcome, *ends in zip(*(self[name][shown].tolist() for name in names), strict=True)
        )
        return (
            Table(("correlation", "outcome", f"least {first}", f"most {first}", "width"), rows, right=(0, 2, 3, 4)),
        )


def correlation_curve(sketch: Sketch, epsilons: Sequence[float] | None = None) -> CorrelationCurve:
    """The closed-form bounds over ε, as columns of a long table.

    One row for each correlation and statistic: correlation, outcome ("bounded" or the kind of the alarm), statistic,
    juror, label, low, high, width. The ends are NaN where nothing explains the counts. Without `epsilons`: 0, and 24
    steps up to the correlation at which hardly anything is bounded any more: the weakest pair of the trio whose weakest
    pair is strongest.

    Returns
    -------
    CorrelationCurve
        A dict of columns.

    Examples
    --------
    >>> table = np.reshape([568, 553, 649, 1068, 1813, 3607, 3534, 8208], (2, 2, 2))
    >>> curve = correlation_curve(Sketch.from_table(table, jurors="ijk", labels="AB"), [0, 0.001, 0.004, 0.01])
    >>> shown = (curve["statistic"] == "prevalence") & (curve["label"] == "A")
    >>> curve["width"][shown].round(2).tolist(), curve["outcome"][shown][-1]
    ([0.0, 0.14, 0.83, 1.0], 'epsilon_too_large')
    """
    if epsilons is None:
        _check(sketch, 0.0)
        work = TrioWork(sketch, 1.0)  # at ε = 1 no trio is separated, so all are listed as open
        for place in chosen_trios(len(sketch.jurors))[0]:
            work.add(place)
        largest = max((float(min(abs(c) for c in trio.covariances)) for _, _, trio in work.open), default=0.0)
        epsilons = [0.0]
        if largest:
            epsilons += np.geomspace(largest / 1_000, nextafter(largest, inf), 24).tolist()
    rows: list[tuple[Any, ...]] = []
    for epsilon in epsilons:
        bounds = robust_bounds(sketch, epsilon, advise=False)
        outcome = bounds.alarms[0].reason if bounds.alarms else "bounded"
        statistics: list[tuple[Any, ...]] = bounds.rows()[1] or [
            *(("prevalence", None, a, np.nan, np.nan) for a in sketch.labels),
            *(("accuracy", j, a, np.nan, np.nan) for j in sketch.jurors for a in sketch.labels),
        ]
        rows += [(float(epsilon), outcome, *row, row[-1] - row[-2]) for row in statistics]
    names = ("correlation", "outcome", "statistic", "juror", "label", "low", "high", "width")
    numbers = {"correlation", "low", "high", "width"}
    return CorrelationCurve(
        (name, np.array([row[k] for row in rows], dtype=float if name in numbers else object))
        for k, name in enumerate(names)
    )
