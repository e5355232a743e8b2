"""Fieller, delta method."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jurors._numeric import Floats
from jurors.evaluate.trio import DecodedTrios, evaluate_trios
from jurors.options import Target
from jurors.sketch.moments import moment_influences, product_of_others

# Intervals that stay honest when the jurors are weak: the values that the counts do not contradict (Fieller, 1954).
#
# The decode divides by pair moments and by s. Where those are small, a symmetric interval around the quotient is far
# too sure of itself. But each statistic is also the root of an equation without any division,
#     prevalence of A   (2y - 1) s = T,
#     score of i        (2y - 1) s = T (1 - 2 m_i) + 4 C_ij C_ik,
#     accuracy of i     C_jk E² ∓ T E = C_ij C_ik   with E = y - (1 - m_i) on A (lower sign: +), y - m_i on B (upper:
#     -),
# so a value y is kept unless the two sides differ by more than z standard errors. The ends are where they differ by
# just that: roots of a quadratic or a quartic. With much evidence this is the usual interval; with little it is wide,
# up to all of [0, 1].
#
# Differentiated at the estimate, the same equations give its influence function, and so its standard error.


_SIGMA = np.array([-1.0, 1.0])
#: C (9) -> (3, 3): the moment C of the third juror wherever two different ones meet.
_THIRD = np.array([[float({i, j, k} == {0, 1, 2}) for i in range(3) for j in range(3)] for k in range(3)])
#: (3, 3) -> the 5 coefficients of a product of two quadratics: the sums of its antidiagonals.
_ANTIDIAGONALS = np.array([[float(i + j == k) for k in range(5)] for i in range(3) for j in range(3)])


class TrioEquations:
    """The equations of the ten statistics: prevalence, three scores, and the accuracies by juror and label.

    Wherever a last axis has ten places, this is their order. A pull is an influence function: how each of the eight
    decision tuples moves a number, tuples last. To be used where numpy's warnings about NaN are off.
    """

    def __init__(self, shares: Floats, decoded: DecodedTrios) -> None:
        m = decoded.moments
        self.weight = (shares / m.items[..., None])[..., None]  # Σ weight · pull² is a variance
        t, self.root = m.trio[..., None], decoded.root[..., None]
        others = product_of_others(m.pair)  # C_ij C_ik
        z, d_pair, d_trio = moment_influences(m)
        d_others = (m.pair @ _THIRD).reshape((*m.pair.shape, 3)) @ d_pair
        t_z = t[..., None] * z
        # (2y - 1) s = goal, for prevalence and scores
        turned = 1 - 2 * m.single
        self.goal = np.concatenate([t, t * turned + 4 * others], axis=-1)
        d_scores = turned[..., None] * d_trio - 2 * t_z + 4 * d_others
        self.d_goal = np.concatenate([d_trio, d_scores], axis=-2)
        self.d_root = (t[..., None] * d_trio + 2 * (others[..., None, :] @ d_pair)) / self.root[..., None]
        # In e = -E on A and e = E on B, both labels have C e² - T e - C_ij C_ik = 0: coefficients (…, 3, 3).
        self.quadratic = np.empty((*m.pair.shape, 3))
        self.quadratic[..., 0], self.quadratic[..., 1], self.quadratic[..., 2] = m.pair, -t, -others
        self.d_quadratic = np.empty((*m.pair.shape, 3, 8))
        self.d_quadratic[..., 0, :] = d_pair
        self.d_quadratic[..., 1, :] = -(d_trio + 2 * m.pair[..., None] * z)
        self.d_quadratic[..., 2, :] = t_z - d_others
        self.base = np.empty((*m.pair.shape, 2))  # E is y - base
        self.base[..., 0], self.base[..., 1] = 1 - m.single, m.single

    def variances(self, estimate: Floats) -> Floats:
        """The delta-method variances of the ten estimates: each equation's pull by its slope, 2s or ±s."""
        pulls = np.empty((*estimate.shape, 8))
        u = 2 * estimate[..., :4, None] - 1
        pulls[..., :4, :] = (self.d_goal - u * self.d_root) / 2
        e = self._deviations(estimate)
        powers = np.ones((*e.shape, 3))
        powers[..., 0], powers[..., 1] = e * e, e
        pulls[..., 4:, :] = (powers @ self.d_quadratic).reshape((*estimate.shape[:-1], 6, 8))
        return np.asarray((pulls * pulls @ self.weight)[..., 0] / self.root**2)

    def ends(self, estimate: Floats, own: Floats, z: float) -> tuple[Floats, Floats]:
        """(low, high) of the values that the counts do not contradict by more than z standard errors.

        `own` is the sampling variance of each statistic itself: zero where the population is the target.
        """
        roots = np.full((*estimate.shape, 4), np.nan)
        roots[..., :4, :2] = self._linear_roots(own[..., :4], z)
        accuracies = own[..., 4:].reshape(self.base.shape)
        roots[..., 4:, :] = self._accuracy_roots(accuracies, z).reshape((*estimate.shape[:-1], 6, 4))
        at = estimate[..., None]
        low = np.where(roots <= at, roots, -np.inf).max(axis=-1)
        high = np.where(roots >= at, roots, np.inf).min(axis=-1)
        nothing = 0.0 * estimate  # NaN where there is no estimate
        return low + nothing, high + nothing

    def _deviations(self, estimate: Floats) -> Floats:
        """The e of each accuracy."""
        return np.asarray((estimate[..., 4:].reshape(self.base.shape) - self.base) * _SIGMA)

    def _linear_roots(self, own: Floats, z: float) -> Floats:
        """Where ((2y - 1) s - goal)² meets z² times its variance: a quadratic a u² - 2 b u + c in u = 2y - 1."""
        s, goal, weight = self.root, self.goal, z**2 * self.weight
        spread = (self.d_root * self.d_root @ weight)[..., 0]
        shared = (self.d_root * self.d_goal @ weight)[..., 0]
        rest = (self.d_goal * self.d_goal @ weight)[..., 0]
        a, b, c = s**2 - spread, s * goal - shared, goal**2 - rest + (4 * z**2) * s**2 * own
        # No real root: the equation never contradicts any value (a > 0 would need one, for it holds at the estimate).
        inner = b**2 - a * c
        big = b + np.copysign(np.sqrt(np.where(inner > 0, inner, np.nan)), b)
        roots = np.empty((*goal.shape, 2))
        roots[..., 0], roots[..., 1] = big / a, c / big
        return (roots + 1) / 2

    def _accuracy_roots(self, own: Floats, z: float) -> Floats:
        """Where (C e² - T e - C_ij C_ik)² meets z² times its variance; `own` is weighed by (2 C e - T)²."""
        q = self.quadratic
        slope = np.zeros_like(q)
        slope[..., 1], slope[..., 2] = 2 * q[..., 0], q[..., 1]
        shared = (self.d_quadratic * self.weight[..., None, None, :, 0]) @ self.d_quadratic.swapaxes(-1, -2)
        fixed = (q[..., None] * q[..., None, :] - z**2 * shared).reshape((*q.shape[:-1], 9)) @ _ANTIDIAGONALS
        steep = (slope[..., None] * slope[..., None, :]).reshape((*q.shape[:-1], 9)) @ _ANTIDIAGONALS
        roots = real_roots(fixed[..., None, :] + (z**2 * own)[..., None] * steep[..., None, :])
        return np.asarray(roots * _SIGMA[:, None] + self.base[..., None])


def real_roots(coefficients: Floats) -> Floats:
    """The real roots of polynomials (highest power first), NaN for each that is complex or not to be found."""
    degree = coefficients.shape[-1] - 1
    monic = -coefficients[..., 1:] / coefficients[..., :1]
    usable = np.isfinite(monic).all(axis=-1, keepdims=True)
    companion = np.zeros((*coefficients.shape[:-1], degree, degree))
    companion[..., 0, :] = np.where(usable, monic, 0.0)
    companion[..., 1:, :-1] = np.eye(degree - 1)
    roots = np.linalg.eigvals(companion)
    real = usable & (np.abs(roots.imag) <= 1e-8 * np.maximum(np.abs(roots), 1e-3))
    return np.where(real, roots.real, np.nan)


# Standard errors and intervals of a trio's grades, for two questions that are often mixed up.
#
# *population*: if another test were drawn, how far would the grades move?
# *test*: how far may the grades be from the truth on the very items that were answered? The second is smaller: with
# IF the influence function of the estimate, Var(estimate - statistic) = Var(IF) - Var(statistic), because the part of
# IF that the true label and the juror's own vote explain is the statistic's own influence.
#
# A trio's intervals hold every value that the counts do not contradict (`inversion.py`): the usual ones with much
# evidence, all of [0, 1] with hardly any. They always hold the estimate, even where it lies outside [0, 1]: it must be
# seen to. Methods without such equations take `interval_around`: symmetric on the logit scale inside (0, 1), plain and
# unclipped outside. Coverage of both: benchmarks/coverage.py.


_EXACT = 1e-6  # a standard error below this on the border is none
_SMALL = 1e-5  # below this the plain interval is the same, and the roots would be lost in rounding


@dataclass(frozen=True)
class TrioErrors:
    """Standard errors, shaped as the estimates they belong to: (…), (…, 3, 2) and (…, 3)."""

    prevalence: Floats
    accuracy: Floats
    score: Floats


def trio_standard_errors(tables: ArrayLike, decoded: DecodedTrios, target: Target = "test") -> TrioErrors:
    """Delta-method standard errors of many trios at once; NaN where there is no real evaluation."""
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate, items = _estimates(decoded)
        whole = _equations(tables, decoded).variances(estimate)
        return TrioErrors(*_by_statistic(np.sqrt(_spread(whole, estimate, items, target))))


def _equations(tables: ArrayLike, decoded: DecodedTrios) -> TrioEquations:
    counts = np.asarray(tables, dtype=float)
    return TrioEquations(counts.reshape((*counts.shape[:-3], 8)) / decoded.moments.items[..., None], decoded)


def _estimates(decoded: DecodedTrios) -> tuple[Floats, Floats]:
    """(…, 10) prevalence, scores and accuracies, and how many items each is about."""
    p, accuracy, items = decoded.prevalence, decoded.accuracy, decoded.moments.items
    q = 1 - p
    estimate, about = np.empty((*p.shape, 10)), np.empty((*p.shape, 10))
    estimate[..., 0] = p
    estimate[..., 1:4] = p[..., None] * accuracy[..., 0] + q[..., None] * accuracy[..., 1]
    estimate[..., 4:] = accuracy.reshape((*p.shape, 6))
    about[..., :4] = items[..., None]
    about[..., 4::2], about[..., 5::2] = (items * p)[..., None], (items * q)[..., None]
    return estimate, about


def _by_statistic(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Ten statistics apart: prevalence (…), accuracy (…, 3, 2) and score (…, 3)."""
    return values[..., 0], values[..., 4:].reshape((*values.shape[:-1], 3, 2)), values[..., 1:4]


def _spread(whole: Floats, estimate: Floats, items: Floats, target: Target) -> Floats:
    """The variance of what the target leaves open, from that of the estimates."""
    return whole if target == "population" else _difference(whole, estimate * (1 - estimate) / items)


def _difference(whole: Floats, own: Floats) -> Floats:
    """Var(estimate - statistic); where the plug-in difference is not positive, the larger population variance."""
    # An own variance below zero belongs to an estimate outside [0, 1]; it must not make the interval wider.
    left = whole - np.maximum(own, 0.0)
    return np.where(left > 1e-9 * whole, left, whole)


def interval_around(estimate: Floats, error: Floats, items: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """The interval of each estimate: on the logit scale inside (0, 1), plain outside.

    An estimate exactly on the border with no error of its own gets what so many items can promise: if all of n were
    right, a share as low as (1 - level)^(1/n) would still have done that once in 1/(1 - level) times.
    """
    z = _z(level)
    inside = (estimate > 0) & (estimate < 1)
    safe = np.where(inside, estimate, 0.5)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        logit = np.log(safe / (1 - safe))
        reach = z * error / (safe * (1 - safe))
        low = np.where(inside, _expit(logit - reach), estimate - z * error)
        high = np.where(inside, _expit(logit + reach), estimate + z * error)
    return _promised(estimate, error, items, level, low, high)


def _promised(
    estimate: Floats, error: Floats, items: Floats, level: float, low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """(low, high), but what so many items can promise where an estimate on the border has no error of its own."""
    on_border = (np.minimum(np.abs(estimate), np.abs(1 - estimate)) < 1e-12) & (error < _EXACT)
    if not on_border.any():
        return low, high
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        promised = (1 - level) ** (1 / np.maximum(items, 1e-9))
    top, bottom = on_border & (estimate > 0.5), on_border & (estimate < 0.5)
    low = np.where(top, promised, np.where(bottom, 0.0, low))
    high = np.where(bottom, 1 - promised, np.where(top, 1.0, high))
    return low, high


def _z(level: float) -> float:
    return NormalDist().inv_cdf(0.5 + level / 2)


def _expit(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-x))


def trio_interval_ends(
    tables: ArrayLike, decoded: DecodedTrios, *, target: Target = "test", level: float = 0.95
) -> tuple[dict[str, tuple[Floats, Floats]], TrioErrors]:
    """The intervals of many trios at once, and their standard errors.

    Returns (low, high) of `prevalence` (…), `accuracy` (…, 3, 2) and `score` (…, 3); NaN where nothing is real.
    """
    z = _z(level)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        estimate, items = _estimates(decoded)
        equations = _equations(tables, decoded)
        whole = equations.variances(estimate)
        spread = _spread(whole, estimate, items, target)
        error = np.sqrt(spread)
        low, high = equations.ends(estimate, whole - spread, z)
        small, reach = error < _SMALL, z * error
        low, high = np.where(small, estimate - reach, low), np.where(small, estimate + reach, high)
        # A share cannot lie outside [0, 1]; an estimate can, and then the interval reaches out to it.
        low, high = np.maximum(low, np.minimum(estimate, 0.0)), np.minimum(high, np.maximum(estimate, 1.0))
        low, high = _promised(estimate, error, items, level, low, high)
    ends = zip(_by_statistic(low), _by_statistic(high), strict=True)
    return dict(zip(("prevalence", "accuracy", "score"), ends, strict=True)), TrioErrors(*_by_statistic(error))


def trio_intervals(
    table: ArrayLike,
    decoded: DecodedTrios | None = None,
    *,
    mirrored: bool = False,
    target: Target = "test",
    level: float = 0.95,
) -> dict[str, Any]:
    """Standard errors and intervals of one trio's chosen solution.

    Returns arrays: `prevalence` (2,), `accuracy` (3, 2), `score` (3,), each with a last axis (low, high); and
    `errors`, the standard errors in the same shapes.
    """
    decoded = evaluate_trios(table) if decoded is None else decoded
    if mirrored:
        decoded = _mirror(decoded)
    ends, errors = trio_interval_ends(table, decoded, target=target, level=level)
    low, high = ends["prevalence"]
    return {
        "prevalence": np.array([[low, high], [1 - high, 1 - low]]),
        "accuracy": np.stack(ends["accuracy"], axis=-1),
        "score": np.stack(ends["score"], axis=-1),
        "errors": {"prevalence": np.repeat(errors.prevalence, 2), "accuracy": errors.accuracy, "score": errors.score},
    }


def _mirror(decoded: DecodedTrios) -> DecodedTrios:
    """The other solution: s changes its sign, labels trade places."""
    return DecodedTrios(
        decoded.moments,
        -decoded.root,
        1 - decoded.prevalence,
        1 - decoded.accuracy[..., ::-1],
        decoded.outcome,
    )
