"""Branch and bound: the narrowest guaranteed intervals of a trio whose error correlations are at most ε.

Boxes that provably hold no evaluation are dropped; boxes whose statistics lie within what real points already attain
(the incumbent hull, and a tolerance) are done; the others are halved. The answer is the hull of all boxes that were
never dropped, so it is guaranteed however good the incumbent is, and also where the search stops early.

Separated trios are searched over (r, c_23, c_13, c_12), all others over (P_A, d_1, d_2, d_3): letters as in
`bounds_trio`. Rounding: positive chains are widened by 2⁻⁴⁹ as there; over (P_A, d) no number exceeds 2 before it is
compared, so 1e-13 covers the few dozen roundings of 2⁻⁵³.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Flags, Floats
from jurors.options import Progress
from jurors.sketch.moments import product_of_others
from jurors.uncertainty.bounds_trio import LESS, MORE, ClosedBox, ExactTrio, FlippedTrio, Interval, ratio

Ends: TypeAlias = tuple[Floats, Floats]

_MOST_BOXES = 250_000  # after so many boxes of one trio the search stops; its answer stays guaranteed
_TOLERANCE = 0.01  # of the width the search starts from
_MARGIN = 1e-13
_NEAR, _FAR = np.array([1, 0, 0]), np.array([2, 2, 1])


class Narrowed(NamedTuple):
    """Boxes after narrowing: which still may hold an evaluation, and between what its seven statistics lie."""

    low: Floats
    high: Floats
    alive: Flags
    least: Floats  #: (…, 7): prevalence of the first label, accuracies on it, accuracies on the second
    most: Floats


class Hull(NamedTuple):
    """The result of a search; `ends` None means that no evaluation explains the counts."""

    ends: Ends | None
    boxes: int
    finished: bool


def search_hull(problem: Separated | Unseparated, widths: Floats, *, progress: Progress | None = None) -> Hull:
    """Bound the seven statistics over a region.

    Parameters
    ----------
    problem
        The region, from `start` on: its `narrow` cuts off what certainly holds no evaluation, `statistics` says which
        points are evaluations (up to rounding), and `halve` in which dimension to cut each box, and where.
    widths
        (7,) of what is known already: the search is precise to a hundredth of them if it finishes.
    progress
        Called with the share of the work done.

    Returns
    -------
    Hull
    """
    tolerance = _TOLERANCE * widths + 1e-12
    reached = _sample(problem)
    hull = (np.full(7, np.inf), np.full(7, -np.inf))
    low, high = (end[None] for end in problem.start)
    weight, seen, done = np.ones(1), 0, 0.0
    while len(low):
        box = problem.narrow(low, high)
        seen += len(low)
        ok, values = problem.statistics((box.low + box.high)[box.alive] / 2)
        reached = _extend(reached, values[ok], values[ok])
        outside = (box.least < reached[0] - tolerance) | (box.most > reached[1] + tolerance)
        open_ = box.alive & (outside & (box.most - box.least > tolerance)).any(axis=1)
        if seen + 2 * int(open_.sum()) > _MOST_BOXES:
            return Hull(_extend(hull, box.least[box.alive], box.most[box.alive]), seen, False)
        done_with = box.alive & ~open_
        hull = _extend(hull, box.least[done_with], box.most[done_with])
        done += float(weight[~open_].sum())
        if progress is not None:
            progress(min(1.0, done))
        low, high = box.low[open_], box.high[open_]
        rows, (axis, at) = np.arange(len(low)), problem.halve(low, high)
        left, right = high.copy(), low.copy()
        left[rows, axis] = right[rows, axis] = at
        low, high = np.concatenate([low, right]), np.concatenate([left, high])
        weight = np.tile(weight[open_] / 2, 2)
    return Hull(hull if np.isfinite(hull[0]).all() else None, seen, True)


def _extend(hull: Ends, least: Floats, most: Floats) -> Ends:
    if not len(least):
        return hull
    return np.minimum(hull[0], least.min(axis=0)), np.maximum(hull[1], most.max(axis=0))


def _sample(problem: Separated | Unseparated) -> Ends:
    """A first incumbent: random points, then points near those that attained the extremes."""
    rng = np.random.default_rng(0)
    low, high = problem.start
    hull = (np.full(7, np.inf), np.full(7, -np.inf))
    points = low + (high - low) * rng.random((2_000, 4))
    best, records = np.empty((14, 4)), np.full(14, -np.inf)
    width = 0.25
    for _ in range(16):
        ok, values = problem.statistics(points)
        if ok.any():
            reach = np.concatenate([-values[ok], values[ok]], axis=1)
            at = reach.argmax(axis=0)
            better = reach.max(axis=0) > records
            best[better], records[better] = points[ok][at[better]], reach.max(axis=0)[better]
            hull = _extend(hull, values[ok], values[ok])
            near = np.repeat(best, 40, axis=0)
            step = rng.standard_normal(near.shape) * (high - low) * width * (rng.random(near.shape) < 0.6)
            points = np.clip(near + step, low, high)
            width *= 0.75
        else:
            points = low + (high - low) * rng.random((2_000, 4))
    return hull


class Separated:
    """A separated trio, flipped, over (r, c_23, c_13, c_12).

    `side` keeps the evaluations that the orientation allows: side · Σ σ_i b_i >= 0; 0 keeps all.
    """

    def __init__(self, case: FlippedTrio, closed: ClosedBox, side: int = 0) -> None:
        self.epsilon, self.third = case.epsilon, case.third
        self.m, self.n = _ends(case.share_b), _ends(case.share_a)
        self.below, self.above = np.array(case.low), np.array(case.high)
        self.b = np.array(closed.low), np.array(closed.high)
        self.signs = side * np.array(case.signs)
        self.start = np.array([closed.r[0], *self.below]), np.array([closed.r[1], *self.above])

    def narrow(self, low: Floats, high: Floats) -> Narrowed:
        """The lines of the closed form, on all boxes at once."""
        r, c = (low[:, :1], high[:, :1]), (low[:, 1:], high[:, 1:])
        b_low = np.maximum(self.b[0], np.sqrt(product_of_others(c[0]) / c[1]) * LESS)
        b_high = np.minimum(self.b[1], np.sqrt(product_of_others(c[1]) / c[0]) * MORE)
        b_high = np.minimum(b_high, np.minimum(r[1] * self.m[1], self.n[1] / r[0]) * MORE)
        c = (np.maximum(c[0], product_of_others(b_low) * LESS), np.minimum(c[1], product_of_others(b_high) * MORE))
        r_low = np.maximum(r[0], (b_low / self.m[1]).max(axis=1, keepdims=True) * LESS)
        r_high = np.minimum(r[1], (self.n[1] / b_low).min(axis=1, keepdims=True) * MORE)
        tau = self._tau((r_low, r_high), c, (b_low, b_high))
        # r - 1/r = τ/√(c_12 c_13 c_23)
        few, many = (np.sqrt(end.prod(axis=1, keepdims=True)) * by for end, by in zip(c, (LESS, MORE), strict=True))
        bottom = np.where(tau[0] > 0, tau[0] / many * LESS, tau[0] / few * MORE)
        top = np.where(tau[1] > 0, tau[1] / few * MORE, tau[1] / many * LESS)
        r_low = np.maximum(r_low, _ratio_of(bottom) * LESS)
        r_high = np.minimum(r_high, _ratio_of(top) * MORE)
        alive = (r_low <= r_high)[:, 0] & (b_low <= b_high).all(axis=1) & (c[0] <= c[1]).all(axis=1)
        alive &= np.where(self.signs > 0, b_high, -b_low) @ np.abs(self.signs) >= -_MARGIN * b_high.sum(axis=1)
        from_, to = r_low * r_low, r_high * r_high
        few, many = product_of_others(c[0]) * LESS, product_of_others(c[1]) * MORE
        right = (
            np.maximum(r_low * b_low, _root(c[1], tau[0], few)),
            np.minimum(r_high * b_high, _root(c[0], tau[1], many)),
        )
        wrong = (
            np.maximum(b_low / r_high, _root(c[1], -tau[1], few)),
            np.minimum(b_high / r_low, _root(c[0], -tau[0], many)),
        )
        least = [from_ / (1 + from_), self.n[0] + wrong[0] * LESS, self.m[0] + right[0] * LESS]
        most = [to / (1 + to), self.n[1] + wrong[1] * MORE, self.m[1] + right[1] * MORE]
        return Narrowed(
            np.concatenate([r_low, c[0]], axis=1),
            np.concatenate([r_high, c[1]], axis=1),
            alive,
            np.concatenate(least, axis=1) * LESS,
            np.minimum(1.0, np.concatenate(most, axis=1) * MORE),
        )

    def _tau(self, r: Ends, c: Ends, b: Ends) -> Ends:
        """The interval of (r - 1/r) b_1 b_2 b_3: T up to what correlations can add."""
        middle = np.minimum(np.maximum(1.0, r[0]), r[1])
        cap = 2 * self.epsilon * middle / (1 + middle * middle)
        room_up, room_down = np.maximum(self.above - c[0], 0.0), np.maximum(c[1] - self.below, 0.0)
        adds = np.minimum(np.minimum(r[1] * room_up, room_down / r[0]), cap)
        takes = np.minimum(np.minimum(r[1] * room_down, room_up / r[0]), cap)
        adds = ((adds * b[1]).sum(axis=1, keepdims=True) + self.epsilon) * MORE
        takes = ((takes * b[1]).sum(axis=1, keepdims=True) + self.epsilon) * MORE
        return np.nextafter(self.third[0] - adds, -np.inf), np.nextafter(self.third[1] + takes, np.inf)

    def statistics(self, points: Floats) -> tuple[Flags, Floats]:
        """The inequalities at points, in plain floats."""
        r, c = points[:, :1], points[:, 1:]
        b = np.sqrt(product_of_others(c) / c)
        room_up, room_down = self.above - c, c - self.below
        model = (r - 1 / r) * np.sqrt(c.prod(axis=1, keepdims=True))
        adds = (np.minimum(r * room_up, room_down / r) * b).sum(axis=1, keepdims=True) + self.epsilon
        takes = (np.minimum(r * room_down, room_up / r) * b).sum(axis=1, keepdims=True) + self.epsilon
        values = np.concatenate([r * r / (1 + r * r), self.n[0] + b / r, self.m[0] + r * b], axis=1)
        ok = ((self.third[0] <= model + adds) & (self.third[1] >= model - takes))[:, 0]
        return ok & (values <= 1).all(axis=1) & (b @ self.signs >= 0), values

    def halve(self, low: Floats, high: Floats) -> tuple[NDArray[np.intp], Floats]:
        """The longest side on a logarithmic scale; a covariance counts half, as b is its root."""
        axis = (np.log(high / low) * [1.0, 0.5, 0.5, 0.5]).argmax(axis=1)
        rows = np.arange(len(low))
        return axis, np.sqrt(low[rows, axis] * high[rows, axis])


class Unseparated:
    """Any trio at all, over (P_A, d_1, d_2, d_3) with Σ d_i >= 0."""

    def __init__(self, trio: ExactTrio, epsilon: float) -> None:
        q = trio.items
        self.epsilon = epsilon
        self.m, self.n = _ends([ratio(k, q) for k in trio.votes]), _ends([ratio(q - k, q) for k in trio.votes])
        self.pairs, self.third = _ends([ratio(k, q**2) for k in trio.pair]), ratio(trio.trio, q**3)
        self.start = np.array([0.0, -1.0, -1.0, -1.0]), np.ones(4)

    def narrow(self, low: Floats, high: Floats) -> Narrowed:
        """What shares, pair moments and the trio moment demand, in interval arithmetic."""
        p = low[:, :1], high[:, :1]
        q = 1 - p[1], 1 - p[0]
        with np.errstate(divide="ignore"):
            top = np.minimum(self.m[1] / q[0], self.n[1] / p[0]) + _MARGIN
            bottom = -np.minimum(self.n[1] / q[0], self.m[1] / p[0]) - _MARGIN
        d = np.maximum(low[:, 1:], bottom), np.minimum(high[:, 1:], top)
        both = p[0] * q[1], p[1] * q[0]
        pq = np.minimum(*both), np.where((p[0] < 0.5) & (p[1] > 0.5), 0.25, np.maximum(*both))
        pairs = _times(pq, _times(*((d[0][:, k], d[1][:, k]) for k in (_NEAR, _FAR))))
        e = self.pairs[0] - pairs[1], self.pairs[1] - pairs[0]
        alive = (d[0] <= d[1]).all(axis=1) & (d[1].sum(axis=1) >= -_MARGIN)
        alive &= ((e[0] <= self.epsilon + _MARGIN) & (e[1] >= -self.epsilon - _MARGIN)).all(axis=1)
        alive &= self._third_agrees(p, q, pq, d, e)
        on_a, on_b = _times(q, d), _times(p, d)
        least = np.concatenate([p[0], self.n[0] + on_a[0], self.m[0] + on_b[0]], axis=1) - _MARGIN
        most = np.concatenate([p[1], self.n[1] + on_a[1], self.m[1] + on_b[1]], axis=1) + _MARGIN
        ends = np.concatenate([p[0], d[0]], axis=1), np.concatenate([p[1], d[1]], axis=1)
        return Narrowed(*ends, alive, np.maximum(least, 0.0), np.minimum(most, 1.0))

    def _third_agrees(self, p: Ends, q: Ends, pq: Ends, d: Ends, e: Ends) -> Flags:
        """(3): T less P_A P_B (P_A - P_B) d_1 d_2 d_3 is no more than correlations can add."""
        first, second, last = ((d[0][:, k : k + 1], d[1][:, k : k + 1]) for k in range(3))
        model = _times(_times(pq, (p[0] - q[1], p[1] - q[0])), _times(_times(first, second), last))
        up, down = np.maximum(self.epsilon + e[1], 0.0), np.maximum(self.epsilon - e[0], 0.0)
        cap = 2 * self.epsilon * pq[1]
        most = np.minimum(np.minimum(p[1] * up, q[1] * down), cap)
        least = -np.minimum(np.minimum(p[1] * down, q[1] * up), cap)
        added = _times(d, (least, most))
        low = model[0][:, 0] + added[0].sum(axis=1) - self.epsilon
        high = model[1][:, 0] + added[1].sum(axis=1) + self.epsilon
        return np.asarray((low <= self.third[1] + _MARGIN) & (high >= self.third[0] - _MARGIN))

    def statistics(self, points: Floats) -> tuple[Flags, Floats]:
        """The conditions at points, in plain floats."""
        p, d = points[:, :1], points[:, 1:]
        box = self.narrow(points, points)
        values = np.concatenate([p, self.n[0] + (1 - p) * d, self.m[0] + p * d], axis=1)
        return box.alive & (values >= 0).all(axis=1) & (values <= 1).all(axis=1), values

    def halve(self, low: Floats, high: Floats) -> tuple[NDArray[np.intp], Floats]:
        """The longest side; the prevalence counts double, as it moves every statistic."""
        axis = ((high - low) * [2.0, 1.0, 1.0, 1.0]).argmax(axis=1)
        rows = np.arange(len(low))
        return axis, (low[rows, axis] + high[rows, axis]) / 2


def _ends(intervals: Sequence[Interval]) -> Ends:
    low, high = np.array(intervals).T
    return low, high


def _times(x: Ends, y: Ends) -> Ends:
    products = x[0] * y[0], x[0] * y[1], x[1] * y[0], x[1] * y[1]
    low = np.minimum(np.minimum(products[0], products[1]), np.minimum(products[2], products[3]))
    return low, np.maximum(np.maximum(products[0], products[1]), np.maximum(products[2], products[3]))


def _root(c: Floats, tau: Floats, product: Floats) -> Floats:
    """The positive root of c x² - τ x = product."""
    size = np.abs(tau) + np.sqrt(tau * tau + 4 * c * product)
    return np.asarray(np.where(tau > 0, size / (2 * c), 2 * product / size))


def _ratio_of(difference: Floats) -> Floats:
    """The r with r - 1/r = difference, without cancellation."""
    size = np.abs(difference)
    larger = (size + np.sqrt(size * size + 4)) / 2
    return np.asarray(np.where(difference > 0, larger, 1 / larger))
