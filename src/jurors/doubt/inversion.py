"""Intervals that stay honest when the jurors are weak: the values that the counts do not contradict (Fieller, 1954).

The decode divides by pair moments and by s. Where those are small, a symmetric interval around the quotient is far too
sure of itself. But each statistic is also the root of an equation without any division,
    prevalence of A   (2y - 1) s = T,
    score of i        (2y - 1) s = T (1 - 2 m_i) + 4 C_ij C_ik,
    accuracy of i     C_jk E² ∓ T E = C_ij C_ik   with E = y - (1 - m_i) on A (lower sign: +), y - m_i on B (upper: -),
so a value y is kept unless the two sides differ by more than z standard errors. The ends are where they differ by just
that: roots of a quadratic or a quartic. With much evidence this is the usual interval; with little it is wide, up to
all of [0, 1].
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors.evaluate.trios import TUPLE_VALUES, DecodedTrios

Floats: TypeAlias = NDArray[np.float64]
_NEAR, _FAR = [1, 0, 0], [2, 2, 1]  # the two other jurors


def inverted_ends(
    shares: Floats, decoded: DecodedTrios, own: tuple[Floats, Floats, Floats], z: float
) -> dict[str, tuple[Floats, Floats]]:
    """(low, high) of `prevalence` (…), `accuracy` (…, 3, 2) and `score` (…, 3).

    Parameters
    ----------
    shares
        (…, 8) the share of each decision tuple.
    decoded
        The solution in question.
    own
        The sampling variance of each statistic itself, in those shapes: zero where the population is the target.
    z
        How many standard errors.
    """
    m, s = decoded.moments, decoded.root
    pulls = _Pulls(decoded)
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = shares / m.items[..., None] * z**2  # Σ weight · pull² is z² times a variance
    p, accuracy = decoded.prevalence, decoded.accuracy
    score = p[..., None] * accuracy[..., 0] + (1 - p)[..., None] * accuracy[..., 1]
    found = {"prevalence": _linear_ends(p, s, m.trio, pulls.root, pulls.trio, weight, z**2 * own[0])}
    turned = 1 - 2 * m.single
    goal = m.trio[..., None] * turned + 4 * pulls.others
    d_goal = pulls.trio[..., None, :] * turned[..., None] - 2 * m.trio[..., None, None] * pulls.z + 4 * pulls.d_others
    found["score"] = _linear_ends(
        score, s[..., None], goal, pulls.root[..., None, :], d_goal, weight[..., None, :], z**2 * own[2]
    )
    found["accuracy"] = _accuracy_ends(decoded, pulls, weight[..., None, :], z**2 * own[1])
    return found


class _Pulls:
    """How each decision tuple pulls at the moments: influence functions, tuples last."""

    def __init__(self, decoded: DecodedTrios) -> None:
        m = decoded.moments
        self.z = np.moveaxis(TUPLE_VALUES - m.single[..., None, :], -1, -2)  # (…, 3, 8)
        pair = m.pair[..., None]
        self.pair = self.z[..., _NEAR, :] * self.z[..., _FAR, :] - pair
        self.trio = self.z.prod(axis=-2) - m.trio[..., None] - (self.z * pair).sum(axis=-2)
        self.others = m.pair[..., _NEAR] * m.pair[..., _FAR]  # C_ij C_ik
        self.d_others = self.pair[..., _NEAR, :] * pair[..., _FAR, :] + pair[..., _NEAR, :] * self.pair[..., _FAR, :]
        d_product = (self.pair * self.others[..., None]).sum(axis=-2)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.root = (m.trio[..., None] * self.trio + 2 * d_product) / decoded.root[..., None]


def _linear_ends(
    estimate: Floats, s: Floats, goal: Floats, d_s: Floats, d_goal: Floats, weight: Floats, own: Floats
) -> tuple[Floats, Floats]:
    """Where ((2y - 1) s - goal)² meets z² times its variance: a quadratic a u² - 2 b u + c in u = 2y - 1."""
    spread, shared, rest = ((weight * x * y).sum(axis=-1) for x, y in ((d_s, d_s), (d_s, d_goal), (d_goal, d_goal)))
    a, b, c = s**2 - spread, s * goal - shared, goal**2 - rest + 4 * s**2 * own
    with np.errstate(divide="ignore", invalid="ignore"):
        # No real root: the equation never contradicts any value (a > 0 would need one, for it holds at the estimate).
        big = b + np.copysign(np.sqrt(np.maximum(b**2 - a * c, 0.0)), b)
        roots = np.stack(np.broadcast_arrays(big / a, c / big), axis=-1)
        roots = np.where((b**2 > a * c)[..., None], roots, np.nan)
    low, high = _nearest(2 * estimate - 1, roots)
    return (low + 1) / 2, (high + 1) / 2


def _accuracy_ends(decoded: DecodedTrios, pulls: _Pulls, weight: Floats, own: Floats) -> tuple[Floats, Floats]:
    """Where (C E² - σ T E - C_ij C_ik)² meets z² times its variance; σ is -1 on the first label, 1 on the second.

    E on the first label with σ T is -E on the second with -σ T, so one set of variances serves both: in e = σ E,
    both are (C e² - T e - C_ij C_ik)².
    """
    m = decoded.moments
    c, t, n = m.pair, np.broadcast_to(m.trio[..., None], m.pair.shape), pulls.others
    pull = (
        pulls.pair,
        -(pulls.trio[..., None, :] + 2 * c[..., None] * pulls.z),
        t[..., None] * pulls.z - pulls.d_others,
    )  # of e², e and 1
    v = {(i, j): (weight * pull[i] * pull[j]).sum(axis=-1) for i in range(3) for j in range(i, 3)}
    fixed = (
        c**2 - v[0, 0],
        -2 * (c * t + v[0, 1]),
        t**2 - 2 * c * n - v[1, 1] - 2 * v[0, 2],
        2 * (t * n - v[1, 2]),
        n**2 - v[2, 2],
    )
    slope = (0 * c, 0 * c, 4 * c**2, -4 * c * t, t**2)  # (2 C e - T)², what the statistic's own variance weighs
    coefficients = np.stack(fixed, axis=-1)[..., None, :] + own[..., None] * np.stack(slope, axis=-1)[..., None, :]
    base = np.stack([1 - m.single, m.single], axis=-1)
    e = (decoded.accuracy - base) * _SIGMA
    low, high = _nearest(e, _real_roots(coefficients))
    ends = low * _SIGMA + base, high * _SIGMA + base
    return np.minimum(*ends), np.maximum(*ends)


_SIGMA = np.array([-1.0, 1.0])


def _real_roots(coefficients: Floats) -> Floats:
    """The real roots of polynomials (highest power first), NaN for each that is complex or not to be found."""
    degree = coefficients.shape[-1] - 1
    usable = np.isfinite(coefficients).all(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        monic = -coefficients[..., 1:] / coefficients[..., :1]
    usable &= np.isfinite(monic).all(axis=-1, keepdims=True)
    companion = np.zeros((*coefficients.shape[:-1], degree, degree))
    companion[..., 0, :] = np.where(usable, monic, 0.0)
    companion[..., range(1, degree), range(degree - 1)] = 1.0
    roots = np.linalg.eigvals(companion)
    real = usable & (np.abs(np.imag(roots)) <= 1e-8 * np.maximum(np.abs(roots), 1e-3))
    return np.where(real, np.real(roots), np.nan)


def _nearest(estimate: Floats, roots: Floats) -> tuple[Floats, Floats]:
    """The nearest roots below and above the estimate; ∓∞ where there are none, NaN where there is no estimate."""
    at = estimate[..., None]
    low = np.where(roots <= at, roots, -np.inf).max(axis=-1)
    high = np.where(roots >= at, roots, np.inf).min(axis=-1)
    nothing = np.where(np.isfinite(estimate), 0.0, np.nan)
    return low + nothing, high + nothing
