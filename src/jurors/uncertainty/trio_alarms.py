"""Alarms about three jurors, and about panels with fewer than three distinct ones.

Contradictions of a binary trio (`trio_alarms`, `chance_of_contradiction`). Two labels and three jurors leave no degree
of freedom: inside the range [0, 1] independent jurors fit any counts. So where the decode is complex, degenerate or out
of range, the independent trio of greatest likelihood lies on the border of the range, where some juror never gives some
answer on one true label: that answer is *pure*. The borders are few (Allman, Rhodes, Sturmfels and Zwiernik 2015,
"Tensors of nonnegative rank two"), and each is fitted without iteration:
    one pure answer     the two others are independent where juror i gave it (1 equation, 6 borders);
    two, of one juror   i is always right: the two others are independent given its vote (2 equations, 3 borders);
    two, of j and k     i is independent of their votes, where either gave its pure answer (2 equations, 12 borders);
    three               all are independent, where any juror gave a pure answer: the hidden count x of the eighth tuple
                        solves x N² = Π m_i, which is a quadratic (3 equations, 8 borders).
G² = 2 Σ n log(n / n̂) at the best border in range measures how far the counts are from every independent trio. How
often does chance alone give as much? On a border G² follows a mixture of χ² laws, from none up to as many degrees of
freedom as equations bind (Chernoff 1954; Self and Liang 1987); which bind is not known. χ² with two degrees of freedom
stands for all of them, with some `_CAUTION`: its tail is exp(-G²/2), the likelihood of the best independent trio
relative to the best likelihood there is. An irrational solution proves that errors were correlated on this test, but on
any real test it is irrational, so by itself it is a note.

Least correlation ε* (`smallest_correlation`): how correlated the errors of a trio must be for its counts to be possible
at all. With error correlations Γ (pairs and trio, on each label) no larger than ε, exact identities relate the moments:
    C_jk = P_A P_B d_j d_k + e_jk,  e_jk = P_A Γ^A_jk + P_B Γ^B_jk,
    T    = P_A P_B (P_A - P_B) d_1 d_2 d_3 + P_A P_B Σ d_i (Γ^B_jk - Γ^A_jk) + P_B Γ^B_123 - P_A Γ^A_123.
At a point (P_A, d) the least ε is where |T - P_A P_B (P_A - P_B) d_1 d_2 d_3| can just be made up by correlations that
also give every e_jk. ε* is the least over all points whose accuracies lie in [0, 1]: 0 where the independent solution
does, and never more than max(|C|, |T|).

Too few distinct jurors (`too_few_juror_alarms`). Two jurors who never disagree are copies, or nearly always right; one
who gives one label only has no opinion, or met no item of the other. The counts do not show which, but the number of
items does: jurors as accurate as real ones get disagree now and then, and meet a rare label now and then. It is an
alarm where even those would give such counts in fewer than one test of twenty; else a warning, and the grades are still
no evidence.

Three jurors with three labels or more (`goodness_of_fit`): R³ - 1 free counts, R - 1 + 3R(R - 1) unknowns, so from R =
3 on some counts are left over for a test. At the fit of greatest likelihood, n̂ = Q Σ_l p_l u_l v_l w_l,
    G² = 2 Σ n log(n / n̂)  ~  χ² with R³ - 1 - (R - 1) - 3R(R - 1) degrees of freedom, if the errors are independent.
Unlike the exact algebra, which every sampled test fails ("inconsistent" is a note), this test fails one independent
trio in twenty at 5%, and the size of the misfit per item says how much it matters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from jurors._numeric import Floats, squarem_step
from jurors.errors import DegenerateSketchError, SketchError, format_first_names, format_names
from jurors.evaluate.alarms import KINDS, Alarm, AlarmPair, Level, sort_by_severity
from jurors.evaluate.dependence import LARGE_MISFIT, NOTABLE_MISFIT, SIGNIFICANT
from jurors.evaluate.latent.models import possible_repeats
from jurors.evaluate.solution import Solution
from jurors.evaluate.trio import DecodedTrios, evaluate_trio, evaluate_trios, has_whole_counts
from jurors.results import Columns, Result, Table
from jurors.sketch.connectivity import MIN_JURORS, too_few_jurors
from jurors.sketch.moments import TrioMoments, product_of_others, table_moments
from jurors.sketch.sketch import Sketch
from jurors.votes.scale import common_stem

if TYPE_CHECKING:
    from jurors.evaluate.trio_multiclass import MultilabelDecode

# -- contradictions of a binary trio -----------------------------------------------------------------------------------

UNEXPLAINED = 0.05  #: p-value up to which sampling error does not explain a contradiction: the rate of false alarms
# The p-value is exp(-G²/2) times this. Of 2,100 random juries on and near the borders, 30 to 100,000 items, searched
# for the worst, all but one had at most 5% false alarms with a factor of 1 and one 5.3% (a juror nearly constant beside
# two nearly perfect ones, 10,000 items); a quarter more gives 5% there too and costs little power
# (benchmarks/false_alarms.py).
_CAUTION = 1.25
_ROUNDING = 1e-9  # a fitted count below zero by this share of the items is rounding: it counts as in range
# For each pattern of two jurors' votes (0 to 3): the three others, and among these the position of the one that differs
# in both votes, and of the two that differ in one.
_REST = np.array([[p for p in range(4) if p != left_out] for left_out in range(4)])
_BOTH = np.array([list(rest).index(3 - left_out) for left_out, rest in enumerate(_REST.tolist())])
_ONE = np.array([[k for k in range(3) if k != both] for both in _BOTH.tolist()])


def chance_of_contradiction(tables: ArrayLike) -> Floats:
    """The p-value of counts (…, 2, 2, 2) whose decode is not in range.

    In range, independent jurors fit the counts exactly (1).

    Returns
    -------
    ndarray, (…)
        How often, at most, independent jurors give counts as far from every independent trio.

    Examples
    --------
    The 281 items that three language models graded: one accuracy decodes to 1.036, which is nothing to chance. Three
    jurors where two pairs agree and the third pair does not are another matter:

    >>> graders = np.array([2, 0, 19, 6, 24, 1, 189, 40]).reshape(2, 2, 2)
    >>> odd = np.array([30, 10, 10, 0, 0, 10, 10, 30]).reshape(2, 2, 2)
    >>> chance_of_contradiction([graders, odd]).round(4).tolist()
    [1.0, 0.008]
    """
    return np.asarray(np.minimum(_CAUTION * np.exp(-misfit(tables) / 2), 1.0))


def chance_in_words(chance: float) -> str:
    """Explain a p-value of `chance_of_contradiction`.

    Returns
    -------
    str
    """
    if chance > UNEXPLAINED:
        often = f" in up to {chance:.0%} of tests" if chance < 0.995 else ""
        return f"chance can explain this: it happens{often} with independent jurors"
    rate = "less than 0.1%" if chance < 0.001 else f"at most {chance:.1%}"
    return f"errors are correlated: this happens in {rate} of tests with independent jurors"


def misfit(tables: ArrayLike) -> Floats:
    """G² of counts (…, 2, 2, 2) against the best trio on the border of the range.

    Returns
    -------
    ndarray, (…)
    """
    counts = np.asarray(tables, dtype=float)
    by_juror = np.stack([np.moveaxis(counts, juror - 3, -3) for juror in range(3)])
    with np.errstate(divide="ignore", invalid="ignore"):
        always_right = _independent(by_juror)[1].sum(axis=-1).min(axis=0)
        borders = (always_right, _one_pure(by_juror), _two_pure(by_juror), _three_pure(counts))
    return np.asarray(np.minimum.reduce(borders))


def _one_pure(by_juror: Floats) -> Floats:
    """G² where one juror's one answer is pure; in range if the other answer's table splits into the two labels'."""
    fitted, g2 = _independent(by_juror)
    shares = fitted / np.maximum(by_juror.sum(axis=(-1, -2), keepdims=True), 1e-300)
    other = by_juror[..., ::-1, :, :]
    # other - c shares, of rank one, are the items of the second label: neither these counts nor c may be below zero.
    c = _mixed(other, other) / (2 * _mixed(shares, other))
    left = other - c[..., None, None] * shares
    least = np.minimum(c, left.min(axis=(-1, -2)))
    return np.asarray(np.where(least >= -_slack(by_juror)[..., None], g2, np.inf).min(axis=(0, -1)))


def _two_pure(by_juror: Floats) -> Floats:
    """G² where the two jurors of the last axes have a pure answer each; elsewhere both labels may occur."""
    flat = by_juror.reshape((*by_juror.shape[:-2], 4))
    fitted, g2 = _independent(np.moveaxis(flat[..., _REST], -2, 0))
    patterns = np.moveaxis(fitted.sum(axis=-2), 0, -2)
    single = np.take_along_axis(patterns, _ONE.reshape((1,) * (patterns.ndim - 2) + (4, 2)), -1)
    both = np.take_along_axis(patterns, _BOTH.reshape((1,) * (patterns.ndim - 2) + (4, 1)), -1)
    hidden = np.moveaxis((single.prod(axis=-1, keepdims=True) / both)[..., 0], -1, 0)
    share = fitted.sum(axis=-1) / fitted.sum(axis=(-1, -2))[..., None]
    room = np.moveaxis(flat, -1, 0) - hidden[..., None] * share
    return np.asarray(np.where(room.min(axis=-1) >= -_slack(by_juror), g2, np.inf).min(axis=(0, 1)))


def _three_pure(counts: Floats) -> Floats:
    """G² of complete independence of all tuples but one, which must contain the hidden count x.

    x (N + x)² = Π (m_i + x), for N items of the other tuples, of which juror i gave m_i its pure answer.
    """
    turned = np.stack([counts[..., :: 1 - 2 * a, :: 1 - 2 * b, :: 1 - 2 * c] for a, b, c in np.ndindex(2, 2, 2)])
    last = turned[..., 0, 0, 0]
    seen = turned.sum(axis=(-1, -2, -3)) - last
    pure = np.stack([turned[..., 0, :, :], turned[..., :, 0, :], turned[..., :, :, 0]]).sum(axis=(-1, -2)) - last
    product = pure.prod(axis=0)
    pairs = pure[0] * pure[1] + pure[0] * pure[2] + pure[1] * pure[2]
    squared, linear = 2 * seen - pure.sum(axis=0), seen**2 - pairs
    hidden = np.asarray(2 * product / (linear + np.sqrt(linear**2 + 4 * squared * product)))
    share = np.stack([pure + hidden, seen - pure], axis=-1) / (seen + hidden)[..., None]
    first, second, third = share[0], share[1], share[2]
    fitted = first[..., :, None, None] * second[..., None, :, None] * third[..., None, None, :]
    g2 = _deviance(turned, fitted * (seen + hidden)[..., None, None, None])
    g2[..., 0, 0, 0] = 0.0
    fits = hidden <= last + _slack(turned)
    return np.asarray(np.where(fits, g2.sum(axis=(-1, -2, -3)), np.inf).min(axis=0))


def _independent(table: Floats) -> tuple[Floats, Floats]:
    """Counts fitted by independence of the last two axes, and the G² of that."""
    rows, columns = table.sum(axis=-1, keepdims=True), table.sum(axis=-2, keepdims=True)
    fitted = rows * columns / np.maximum(rows.sum(axis=-2, keepdims=True), 1e-300)
    return fitted, np.asarray(_deviance(table, fitted).sum(axis=(-1, -2)))


def _deviance(counts: Floats, fitted: Floats) -> Floats:
    return np.where(counts > 0, 2 * counts * np.log(counts / fitted), 0.0)


def _mixed(a: Floats, b: Floats) -> Floats:
    """det(a + b) - det a - det b; twice the determinant where both are the same."""
    return np.asarray(
        a[..., 0, 0] * b[..., 1, 1]
        + a[..., 1, 1] * b[..., 0, 0]
        - a[..., 0, 1] * b[..., 1, 0]
        - a[..., 1, 0] * b[..., 0, 1]
    )


def _slack(counts: Floats) -> Floats:
    return np.asarray(_ROUNDING * counts.sum(axis=(-1, -2, -3)))


# -- least correlation -------------------------------------------------------------------------------------------------

_POINTS = 1_200
_ROUNDS = 36
_EITHER = np.array([[*up, *(1 - x for x in up)] for up in product((0.0, 1.0), repeat=3)])  # of each juror, one of two


def smallest_correlation(sketch: Sketch, *, decoded: DecodedTrios | None = None, seed: int = 0) -> float:
    """The smallest error correlation found that explains a complete binary trio: an upper bound of ε*.

    It is exactly 0 where the independent solution is in range. Elsewhere a seeded search contracts around the best
    point. A real point attains the result, so it is never below ε*; in 8 of 1,344 tables it was visibly above, once
    0.00031 for 0.00016.

    Returns
    -------
    float

    Examples
    --------
    >>> counts = {"aaa": 2, "aba": 19, "abb": 6, "baa": 24, "bab": 1, "bba": 189, "bbb": 40}
    >>> round(smallest_correlation(Sketch.from_counts(counts, jurors="ijk")), 5)
    0.00021
    """
    decoded = evaluate_trios(sketch.table()) if decoded is None else decoded
    if decoded.outcome == 0:
        return 0.0
    with suppress(DegenerateSketchError):  # floats put an accuracy of exactly 0 or 1 on either side of the border
        if evaluate_trio(sketch)[0].is_in_range:
            return 0.0
    m = decoded.moments
    rng = np.random.default_rng(seed)
    points = rng.random((_POINTS, 4))
    width, best, least = 0.3, points[0], np.inf
    for _ in range(_ROUNDS):
        correlations = _least_correlation(m, points)
        at = int(np.argmin(correlations))
        if correlations[at] < least:
            best, least = points[at], float(correlations[at])
        points = np.clip(best + width * rng.standard_normal((_POINTS, 4)) * rng.random((_POINTS, 1)), 0.0, 1.0)
        width *= 0.8
    return least


def _least_correlation(m: TrioMoments, points: Floats) -> Floats:
    """The least ε at each point: P_A and, for each juror, the position of d in the range it may have."""
    places = np.ascontiguousarray(points.T)
    p = 1e-6 + (1 - 2e-6) * places[0]
    q, share = 1 - p, m.single[:, None]
    low = np.maximum(-share / p, (share - 1) / q)
    high = np.minimum((1 - share) / p, share / q)
    d = low + (high - low) * places[1:]
    e = m.pair[:, None] - p * q * product_of_others(d, axis=0)
    left = m.trio - p * q * (p - q) * d.prod(axis=0)
    signed = np.sign(d * left) * e  # with the sign of each juror's contribution
    d, left = np.abs(d), np.abs(left)
    # ε makes up ε + Σ d min(p (ε + signed), q (ε - signed)) of what is left: the least of eight lines in ε
    slopes = np.concatenate([d * p, d * q])
    reached = (left - _EITHER @ (slopes * np.concatenate([signed, -signed]))) / (1 + _EITHER @ slopes)
    return np.asarray(np.maximum(np.abs(e).max(axis=0), reached.max(axis=0)))


# -- too few distinct jurors -------------------------------------------------------------------------------------------

_CEILING = 0.99  # the accuracy of the best honest jurors: a choice; pairs more accurate than this may be reported
_RAREST = 0.05  # the share of the rarest label that a test is assumed to have
_MOST_NAMED = 8


def too_few_juror_alarms(sketch: Sketch) -> list[Alarm]:
    """Report a panel with fewer than three distinct jurors.

    Returns
    -------
    list of Alarm
        One `too_few_distinct`, or none.
    """
    few = too_few_jurors(sketch)
    if few is None:
        return []
    names = sketch.jurors
    why = [
        *(f"{names[k]!r} never disagrees with {names[first]!r}" for k, first in few.same),
        *(f"{names[k]!r} never agrees with {names[first]!r}" for k, first in few.opposite),
    ]
    if few.constant:
        constant = format_first_names((repr(names[k]) for k in few.constant), _MOST_NAMED)
        why.append(f"{constant} {'gives' if len(few.constant) == 1 else 'give'} one label only")
    shown = format_first_names(why, _MOST_NAMED)
    left = ("no distinct juror is", "only 1 distinct juror is", "only 2 distinct jurors are")[few.count]
    chance = None  # how often, at most, the best honest jurors give such counts; None: there simply are too few jurors
    if few.met or few.votes:
        groups: dict[int, list[int]] = {}
        for (_, first), met in zip((*few.same, *few.opposite), few.met, strict=True):
            groups.setdefault(first, []).append(met)
        copies = [chance_of_copies(met, len(names)) for met in groups.values()]
        chance = max([*copies, chance_of_constant(few.votes, len(names))])
    level: Level = "warning" if chance is not None and chance > UNEXPLAINED else "alarm"
    message = (
        f"{shown + ': ' if shown else ''}{left} left, and grading needs 3. Copies and "
        "jurors that are always right look the same, so the scores have no intervals"
    )
    if level == "warning":
        message += (
            f". Chance can explain this: it happens in up to {chance:.0%} of tests with jurors that are 99% right"
        )
    concerned = sorted({k for pair in (*few.same, *few.opposite) for k in pair} | set(few.constant))
    who = tuple(names[k] for k in concerned)
    return [Alarm("too_few_distinct", level, message, float(few.count), who, chance=chance)]


def repeated_juror_alarms(
    jurors: tuple[str, ...], groups: Sequence[tuple[int, ...]], representatives: Sequence[int]
) -> list[Alarm]:
    """Report jurors that are one judge, queried several times.

    Parameters
    ----------
    jurors, groups
        The names, and the groups of jurors that are one judge each.
    representatives
        (N,) the juror that each one repeats; fewer than three distinct ones make it an alarm.

    Returns
    -------
    list of Alarm
        A `same_judge` for each group.
    """
    few = len(set(representatives)) < MIN_JURORS
    level: Level = "alarm" if few else "warning"
    alarms = []
    for group in groups:
        who = tuple(jurors[k] for k in group)
        shown = format_names(map(repr, who), _MOST_NAMED)
        message = (
            f"{shown} are one judge that answered {len(who)} times, by their names and votes, and count as one juror"
        )
        if few:
            message += ". Fewer than 3 distinct jurors are left: repeated answers show consistency, not accuracy"
        if name := common_stem(who):
            message += f". To combine the votes, use join={name!r}"
        alarms.append(Alarm("same_judge", level, message, float(len(who)), who))
    return alarms


def possible_repeat_alarms(sketch: Sketch) -> list[Alarm]:
    """Report jurors that may be one judge, queried several times: by names that differ by a number, and by their votes.

    Returns
    -------
    list of Alarm
        A `possible_repeats` for each group.

    Examples
    --------
    >>> counts = {"AAA": 40, "BBB": 40, "AAB": 30, "BBA": 30, "ABA": 1, "ABB": 1}
    >>> possible_repeat_alarms(Sketch.from_counts(counts, jurors=("judge_1", "judge_2", "ann")))[0].message
    "'judge_1', 'judge_2' agree far more with each other than with the others. If they are one judge that answered \
2 times, use join='judge'; otherwise it counts 2 times"
    """
    alarms = []
    for name, group in possible_repeats(sketch).items():
        who = tuple(sketch.jurors[k] for k in group)
        message = (
            f"{format_names(map(repr, who), _MOST_NAMED)} agree far more with each other than with the others. If they "
            f"are one judge that answered {len(who)} times, use join={name!r}; otherwise it counts "
            f"{len(who)} times"
        )
        alarms.append(Alarm("possible_repeats", "warning", message, float(len(who)), who))
    return alarms


def chance_of_copies(met: Sequence[int], jurors: int) -> float:
    """An upper bound of the probability that so many of the best honest jurors never disagree with another one.

    Two who are right with probability c agree on c² + (1 - c)² of the items, and where they do, a third agrees with
    probability c at most.

    Parameters
    ----------
    met
        On how many items each of them voted with that one.
    jurors
        How many jurors there are to select such a group from.

    Returns
    -------
    float

    Examples
    --------
    >>> round(chance_of_copies([30], jurors=3), 2), round(chance_of_copies([300], jurors=3), 4)
    (1.0, 0.0074)
    """
    most, *others = sorted(met, reverse=True)
    ways = math.comb(jurors, len(met) + 1)
    return float(min(1.0, ways * (1 - 2 * _CEILING * (1 - _CEILING)) ** most * _CEILING ** sum(others)))


def chance_of_constant(votes: Sequence[int], jurors: int) -> float:
    """An upper bound of the probability that one of the best honest jurors gives one label only in so many votes.

    Returns
    -------
    float

    Examples
    --------
    >>> round(chance_of_constant([30], jurors=4), 2), round(chance_of_constant([120], jurors=4), 4)
    (0.65, 0.0027)
    """
    other = _RAREST * _CEILING + (1 - _RAREST) * (1 - _CEILING)
    return min(1.0, jurors * max(((1 - other) ** count for count in votes), default=0.0))


# -- what the counts of a binary trio show -----------------------------------------------------------------------------

#: Outcomes without a solution that are about the jurors (an alarm), not about the input (an error).
CONTRADICTIONS = frozenset({"purely_triple", "contradictory_pairs", "contradictory_trio", "zero_radicand"})
WEAK_PAIR = 3.0  #: standard errors from none below which a pair's covariance hardly fixes the grades
_NEAR_END = 1e-9


def contradiction_alarm(error: DegenerateSketchError, sketch: Sketch) -> Alarm | None:
    """Report counts that no independent trio gives exactly.

    Returns
    -------
    Alarm or None
        None where the counts merely determine no solution.
    """
    if error.outcome not in CONTRADICTIONS:
        return None
    return _contradiction(error.outcome, str(error), sketch, jurors=error.jurors)


def _contradiction(
    kind: str, what: str, sketch: Sketch, *, value: float | None = None, jurors: tuple[str, ...] = ()
) -> Alarm:
    """An alarm, or a warning where sampling error explains the contradiction."""
    chance = float(chance_of_contradiction(sketch.table()))
    level: Level = "alarm" if chance <= UNEXPLAINED else "warning"
    if level == "warning":  # how far outside a number lies says nothing then
        what = "the votes contradict independent errors"
    return Alarm(kind, level, f"{what}; {chance_in_words(chance)}", value, jurors, chance=chance)


def trio_alarms(
    sketch: Sketch, solution: Solution, *, moments: TrioMoments | None = None, tied: bool = False
) -> tuple[Alarm, ...]:
    """All alarms about the exact solution of a complete binary trio.

    Parameters
    ----------
    moments
        Of the counts, where they are computed already.
    tied
        Whether the rule prefers neither of the two solutions.

    Returns
    -------
    tuple of Alarm
        The most severe first.
    """
    z = (table_moments(sketch.table()) if moments is None else moments).pair_z
    empty = 8 - np.count_nonzero(sketch.table())
    alarms: list[Alarm] = []
    if not solution.is_real:
        what = "the equations of independent jurors have no real solution"
        alarms.append(_contradiction("complex", what, sketch))
    else:
        outside = _outside(solution)
        if outside:
            distance, what = max(outside)
            others = len(outside) - 1
            more = f", and {others} more {'number' if others == 1 else 'numbers'} too" if others else ""
            what = f"if errors were independent, {what} would lie outside 0 to 1{more}"
            alarms.append(_contradiction("out_of_range", what, sketch, value=distance))
        if not solution.is_rational:
            message = "the exact solution is irrational, which proves that errors are correlated, if only slightly"
            alarms.append(Alarm("irrational", "note", message))
        elif not outside:
            # Is it a whole number of items in every cell too, as on an exactly independent test?
            by_label = zip(solution.prevalences, *solution.confusions, strict=True)  # and each juror's row
            if all(has_whole_counts(share, rows, sketch.items) for share, *rows in by_label):
                message = (
                    "the counts fit three independent jurors exactly, which does not prove that errors are independent"
                )
                alarms.append(Alarm("exactly_independent", "note", message))
            else:
                message = "the exact solution is rational but splits items, so errors are not exactly independent"
                alarms.append(Alarm("rational_non_integral", "note", message))
    if empty:  # where every tuple occurred, no juror is a copy of another
        alarms += too_few_juror_alarms(sketch)
    weakest = int(np.argmin(np.abs(z)))
    if not abs(z[weakest]) >= WEAK_PAIR:  # the decode divides by every pair's covariance
        first, second = (name for c, name in enumerate(sketch.jurors) if c != weakest)
        message = f"{first!r} and {second!r} agree hardly more than by chance, so these votes say little about accuracy"
        pair = AlarmPair(first, second, float(z[weakest]))
        alarms.append(Alarm("weak_pair", "warning", message, pair.value, (first, second), pairs=(pair,)))
    if tied:
        message = "two solutions explain the votes equally well, and the votes do not show which one is right"
        alarms.append(Alarm("tie_between_solutions", "warning", message))
    if empty:
        message = f"{empty} of the 8 possible combinations of votes never {'occurs' if empty == 1 else 'occur'}"
        alarms.append(Alarm("zero_cell", "warning", message, float(empty)))
    return sort_by_severity(alarms)


def _outside(solution: Solution) -> list[tuple[float, str]]:
    """(how far outside [0, 1], which number), for prevalences and accuracies; decided exactly."""
    floats = solution.to_float()
    numbers: list[tuple[str, Any, Any]] = [
        (f"the prevalence of {a}", exact, rounded)
        for a, exact, rounded in zip(solution.labels, solution.prevalences, floats.prevalences, strict=True)
    ]
    for j, exact, rounded in zip(solution.jurors, solution.confusions, floats.confusions, strict=True):
        numbers += [(f"the accuracy of {j} on {a}", exact[k][k], rounded[k][k]) for k, a in enumerate(solution.labels)]
    outside = []
    for name, exact, value in numbers:
        number = value if min(abs(value), abs(value - 1)) > _NEAR_END else exact  # near an end rounding matters
        if number < 0 or number > 1:
            outside.append((max(-value, value - 1), f"{name} ({value:.3f})"))
    return outside


# -- goodness of fit with three labels or more -------------------------------------------------------------------------

_SMALLEST = 1e-300


@dataclass(frozen=True, slots=True)
class GoodnessOfFit(Result):
    """How well independent jurors explain the counts."""

    statistic: float  #: G²
    dof: int
    p_value: float  #: how often independent jurors fit as badly
    converged: bool  #: whether the fit is so close to the best one that G² can fall by no more than about 0.01

    def _document(self) -> dict[str, Any]:
        return asdict(self)

    def _columns(self) -> Columns:
        return {name: [value] for name, value in asdict(self).items()}

    def _blocks(self) -> tuple[Table]:
        row = (f"{self.statistic:,.2f}", f"{self.dof:,}", f"{self.p_value:.4g}", "yes" if self.converged else "no")
        return (Table(("G²", "degrees of freedom", "p value", "converged"), (row,), right=(0, 1, 2)),)


def goodness_of_fit(sketch: Sketch, *, max_iterations: int = 3000) -> GoodnessOfFit:
    """Test three jurors with three labels or more for independent errors.

    The χ² law holds for large tests (measured at 5%: 2 to 7% from 500 items on, with three labels and accuracies of
    0.55 to 0.8). Small tests deviate, to 11% at 100 items and four labels; and where accuracies are near 1, so that
    many cells stay empty, it is off either way (0% up to 500 items, 10% at 5,000). Labels that no juror uses are left
    out.

    Returns
    -------
    GoodnessOfFit

    Raises
    ------
    SketchError
        Not three jurors, no items, missing votes, more than 50 labels, or fewer than three in use (two leave nothing to
        test).

    Examples
    --------
    >>> confusion = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]])
    >>> shares = np.einsum("l,la,lb,lc->abc", [0.5, 0.3, 0.2], confusion, confusion, confusion)
    >>> counts = np.round(10_000 * shares).astype(int)
    >>> fit = goodness_of_fit(Sketch.from_table(counts, labels="ABC"))
    >>> fit.dof, fit.p_value > 0.99, fit.converged
    (6, True, True)
    """
    from scipy.special import chdtrc

    from jurors.evaluate.trio_multiclass import check_few_labels, decode_floats, start_from_votes

    if len(sketch.jurors) != 3:
        raise SketchError(
            f"the goodness of fit needs 3 jurors, got {len(sketch.jurors)}: {', '.join(sketch.jurors[:8])}. "
            "Keep three with sketch.take(['ann', 'bob', 'cy'])."
        )
    if not sketch.items:
        raise SketchError("no item was answered by all three jurors, so independence cannot be tested")
    check_few_labels(sketch)
    table = sketch.table()
    used = np.flatnonzero([table[k].sum() + table[:, k].sum() + table[:, :, k].sum() for k in range(len(table))])
    size = len(used)
    if size < 3:
        raise SketchError(f"three jurors with {size} labels fit any counts; three labels are needed to test")
    counts = table[np.ix_(used, used, used)].astype(float)
    shares = counts / counts.sum()
    tolerance = 0.005 / (2 * counts.sum())  # of the log-likelihood per item
    starts = [_Fit.at(shares, *start) for start in (decode_floats(counts), start_from_votes(counts))]
    fit = max((start.maximise(shares, 10, tolerance)[0] for start in starts), key=lambda f: f.height)
    fit, converged = fit.maximise(shares, max_iterations, tolerance)
    seen = shares > 0
    statistic = max(0.0, 2 * float(counts.sum() * (shares[seen] @ np.log(shares[seen]) - fit.height)))
    dof = size**3 - 1 - (size - 1) - 3 * size * (size - 1)
    return GoodnessOfFit(statistic, dof, float(chdtrc(dof, statistic)), converged)


@dataclass(frozen=True, slots=True)
class _Fit:
    """A point of the model: parameters, their log-likelihood per item, and the point one EM step further."""

    prevalence: Floats  # (R,)
    confusions: Floats  # (3, R, R)
    height: float
    following: tuple[Floats, Floats]

    @classmethod
    def at(cls, shares: Floats, prevalence: Floats, confusions: Floats) -> _Fit:
        """The log-likelihood, and one EM step, at these parameters; `shares` (R, R, R) of the tuples."""
        size = len(shares)
        flat = shares.reshape(size, -1)
        first = prevalence[:, None] * confusions[0]
        others = (confusions[1][:, :, None] * confusions[2][:, None, :]).reshape(size, -1)
        fit = np.maximum(first.T @ others, _SMALLEST)
        ratio = flat / fit
        by_first = first * (others @ ratio.T)
        by_others = ((first @ ratio) * others).reshape(size, size, size)
        mass = np.stack([by_first, by_others.sum(axis=2), by_others.sum(axis=1)])
        total = np.maximum(by_first.sum(axis=1), _SMALLEST)
        seen = flat > 0
        height = float(flat[seen] @ np.log(fit[seen]))
        return cls(prevalence, confusions, height, (total / total.sum(), mass / total[:, None]))

    def maximise(self, shares: Floats, limit: int, tolerance: float) -> tuple[_Fit, bool]:
        """EM until the expected further gain is small, with extrapolated steps where these gain more (SQUAREM)."""
        at = self
        for _ in range(limit):
            one = _Fit.at(shares, *at.following)
            two = _Fit.at(shares, *one.following)
            gain, before = two.height - one.height, one.height - at.height
            ratio = min(max(gain / before, 0.0), 0.9999) if before > 0 else 0.0
            # The SQUAREM step along the last two, moved back inside the simplex where it leaves it.
            old, middle, new = (np.concatenate([f.prevalence, f.confusions.ravel()]) for f in (at, one, two))
            point = squarem_step(old, middle, new)
            point = np.where(point > 0, point, new / 10)
            size = len(shares)
            prevalence, confusions = point[:size], point[size:].reshape(3, size, size)
            sums = np.maximum(confusions.sum(axis=2, keepdims=True), _SMALLEST)
            long = _Fit.at(shares, prevalence / prevalence.sum(), confusions / sums)
            at = long if long.height > two.height else two
            if gain / (1 - ratio) < tolerance and at.height - two.height < tolerance:
                return at, True
        return at, False


_BY_CHANCE = frozenset({"complex", "out_of_range"})  # what sampling error alone can cause


def goodness_or_none(sketch: Sketch) -> GoodnessOfFit | None:
    """The goodness of fit, where it can be tested.

    Returns
    -------
    GoodnessOfFit or None
        None where fewer than three labels are in use.
    """
    try:
        return goodness_of_fit(sketch)
    except SketchError:
        return None


def outcome_alarms(decode: MultilabelDecode, fit: GoodnessOfFit | None = None) -> list[Alarm]:
    """The outcomes of an exact decode as alarms.

    Parameters
    ----------
    fit
        The goodness of fit, where it is computed already. Impossible numbers are only a warning where chance explains
        as bad a fit.

    Returns
    -------
    list of Alarm
        One for each outcome, at the most severe level that its kind has otherwise.
    """
    if fit is None and any(outcome.name in _BY_CHANCE for outcome in decode.outcomes):
        fit = goodness_or_none(decode.sketch)
    alarms = []
    for outcome in decode.outcomes:
        message, levels, chance = outcome.message.rstrip("."), KINDS[outcome.name].levels, None
        if outcome.name in _BY_CHANCE:
            chance = 1.0 if fit is None else fit.p_value
            message = f"{message}; {chance_in_words(chance)}"
        level = levels[0] if chance is None or chance <= UNEXPLAINED else levels[-1]
        alarms.append(Alarm(outcome.name, level, message, outcome.value, outcome.jurors, outcome.labels, chance=chance))
    return alarms


def goodness_alarms(sketch: Sketch, fit: GoodnessOfFit | None) -> list[Alarm]:
    """Report three jurors with three labels or more whose errors are correlated; the level by the size of the misfit.

    Returns
    -------
    list of Alarm
        One `correlated_errors`, or none.
    """
    if fit is None or fit.p_value >= SIGNIFICANT:
        return []
    size = math.sqrt(max(fit.statistic - fit.dof, 0.0) / sketch.items)
    level: Level = "alarm" if size > LARGE_MISFIT else "warning" if size > NOTABLE_MISFIT else "note"
    slightly = "slightly " if level == "note" else ""
    message = f"errors are {slightly}correlated: independent jurors do not explain these votes (effect size {size:.2f})"
    return [Alarm("correlated_errors", level, message, size)]
