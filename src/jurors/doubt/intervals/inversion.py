"""Intervals that stay honest when the jurors are weak: the values that the counts do not contradict (Fieller, 1954).

The decode divides by pair moments and by s. Where those are small, a symmetric interval around the quotient is far too
sure of itself. But each statistic is also the root of an equation without any division,
    prevalence of A   (2y - 1) s = T,
    score of i        (2y - 1) s = T (1 - 2 m_i) + 4 C_ij C_ik,
    accuracy of i     C_jk E² ∓ T E = C_ij C_ik   with E = y - (1 - m_i) on A (lower sign: +), y - m_i on B (upper: -),
so a value y is kept unless the two sides differ by more than z standard errors. The ends are where they differ by just
that: roots of a quadratic or a quartic. With much evidence this is the usual interval; with little it is wide, up to
all of [0, 1].

Differentiated at the estimate, the same equations give its influence function, and so its standard error.
"""

from __future__ import annotations

import numpy as np

from jurors.evaluate.trio.trios import DecodedTrios
from jurors.numbers.arrays import Floats
from jurors.sketch.moments import moment_influences, product_of_others

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
