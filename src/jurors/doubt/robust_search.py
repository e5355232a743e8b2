"""Branch and bound: the narrowest guaranteed intervals of a trio whose error correlations are at most ε.

Boxes that provably hold no evaluation are dropped; boxes whose statistics lie within what real points already reach
(the incumbent hull, and a tolerance) need no further look; the others are halved. The answer is the hull of all boxes
that were never dropped, so it is guaranteed whatever the incumbent is worth, and also where the search stops early.

Separated trios are searched over (r, c_23, c_13, c_12), all others over (P_A, d_1, d_2, d_3): letters as in
`robust_trio`. Rounding: positive chains are widened by 2⁻⁴⁹ as there; over (P_A, d) no number exceeds 2 before it is
compared, so 1e-13 covers the few dozen roundings of 2⁻⁵³.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors.doubt.robust_trio import LESS, MORE, Branch, ClosedBox, ExactTrio, FlippedTrio, Interval, ratio
from jurors.evaluate.trios import product_of_others

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Progress: TypeAlias = Callable[[float], None]

MOST_BOXES = 60_000  #: after so many boxes of one trio the search stops; its answer stays guaranteed
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
    """What a search found: None for the ends means that no evaluation explains the counts."""

    ends: tuple[Floats, Floats] | None
    boxes: int
    finished: bool


class Problem(Protocol):
    """A region in four dimensions that a search can halve."""

    start: tuple[Floats, Floats]

    def narrow(self, low: Floats, high: Floats) -> Narrowed:
        """Cut off what certainly holds no evaluation."""

    def statistics(self, points: Floats) -> tuple[Flags, Floats]:
        """Which points are evaluations (up to rounding), and their seven statistics."""

    def halve(self, low: Floats, high: Floats) -> tuple[NDArray[np.intp], Floats]:
        """In which dimension to cut each box, and where."""


def search(
    problem: Problem, widths: Floats, *, most_boxes: int = MOST_BOXES, progress: Progress | None = None
) -> Hull:
    """The hull of the seven statistics over a region, to a hundredth of the given widths where it finishes."""
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
        closed = box.alive & ~open_
        stop = seen + 2 * int(open_.sum()) > most_boxes
        hull = _extend(hull, box.least[box.alive if stop else closed], box.most[box.alive if stop else closed])
        done += float(weight[~open_].sum())
        if progress is not None:
            progress(min(1.0, 1.0 if stop else done))
        if stop and open_.any():
            return Hull(hull, seen, False)
        low, high = _cut(problem, box.low[open_], box.high[open_])
        weight = np.tile(weight[open_] / 2, 2)
    return Hull(hull if np.isfinite(hull[0]).all() else None, seen, True)


def _extend(hull: tuple[Floats, Floats], least: Floats, most: Floats) -> tuple[Floats, Floats]:
    if not len(least):
        return hull
    return np.minimum(hull[0], least.min(axis=0)), np.maximum(hull[1], most.max(axis=0))


def _cut(problem: Problem, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    rows = np.arange(len(low))
    axis, at = problem.halve(low, high)
    left, right = high.copy(), low.copy()
    left[rows, axis] = at
    right[rows, axis] = at
    return np.concatenate([low, right]), np.concatenate([left, high])


def _sample(problem: Problem) -> tuple[Floats, Floats]:
    """A first incumbent: random points, then points near whichever reached farthest."""
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


@dataclass(frozen=True)
class Separated:
    """A separated trio, flipped, over (r, c_23, c_13, c_12); `side` keeps evaluations with side Σ σ_i d_i >= 0."""

    case: FlippedTrio
    closed: ClosedBox
    side: int

    def __post_init__(self) -> None:
        set_ = object.__setattr__  # arrays made once, of a frozen case
        set_(self, "_m", np.array([x[1] for x in self.case.said_b]))
        set_(self, "_n", np.array([x[1] for x in self.case.said_a]))
        set_(self, "_m_low", np.array([x[0] for x in self.case.said_b]))
        set_(self, "_n_low", np.array([x[0] for x in self.case.said_a]))
