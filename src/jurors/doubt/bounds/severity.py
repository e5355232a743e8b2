"""How correlated the errors of a trio must be, at the least, for its counts to be possible at all: ε*.

With error correlations Γ (pairs and trio, on each label) no larger than ε, exact identities tie the moments together:
    C_jk = P_A P_B d_j d_k + e_jk,  e_jk = P_A Γ^A_jk + P_B Γ^B_jk,
    T    = P_A P_B (P_A - P_B) d_1 d_2 d_3 + P_A P_B Σ d_i (Γ^B_jk - Γ^A_jk) + P_B Γ^B_123 - P_A Γ^A_123.
At a point (P_A, d) the least ε is where |T - P_A P_B (P_A - P_B) d_1 d_2 d_3| can just be made up by correlations that
also give every e_jk. ε* is the least over all points whose accuracies lie in [0, 1]: 0 where the independent solution
does, and never more than max(|C|, |T|).
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from jurors.errors import DegenerateSketchError
from jurors.evaluate.trio.trio import evaluate_trio
from jurors.evaluate.trio.trios import DecodedTrios, evaluate_trios
from jurors.numbers.arrays import Flags, Floats
from jurors.sketch import Sketch
from jurors.sketch.moments import TrioMoments, product_of_others

_POINTS = 1_200
_ROUNDS = 36


def smallest_correlation(sketch: Sketch, *, decoded: DecodedTrios | None = None, seed: int = 0) -> float:
    """ε* of a complete binary trio: exactly 0 where the independent solution is in range.

    Elsewhere found by a seeded search that closes in on the best point; what it returns is reached by a real point,
    so it is never below ε*, and settles a little above it at most.

    Examples
    --------
    >>> counts = {"aaa": 2, "aba": 19, "abb": 6, "baa": 24, "bab": 1, "bba": 189, "bbb": 40}
    >>> round(smallest_correlation(Sketch.from_counts(counts, jurors="ijk")), 5)
    0.00021
    """
    decoded = evaluate_trios(sketch.table()) if decoded is None else decoded
    if decoded.outcome == 0 or _is_exactly_in_range(sketch):
        return 0.0
    m = decoded.moments
    rng = np.random.default_rng(seed)
    points = rng.random((_POINTS, 4))
    width, best, least = 0.3, points[0], np.inf
    for _ in range(_ROUNDS):
        correlations = _least_correlation(m, points, least)
        at = int(np.argmin(correlations))
        if correlations[at] < least:
            best, least = points[at], float(correlations[at])
        points = np.clip(best + width * rng.standard_normal((_POINTS, 4)) * rng.random((_POINTS, 1)), 0.0, 1.0)
        width *= 0.8
    return least


def _is_exactly_in_range(sketch: Sketch) -> bool:
    """Floats put an accuracy of exactly 0 or 1 on either side of the border; the exact solution does not."""
    try:
        return evaluate_trio(sketch)[0].is_in_range
    except DegenerateSketchError:
        return False


def _least_correlation(m: TrioMoments, points: Floats, known: float = np.inf) -> Floats:
    """The least ε at each point; a point is P_A and, for each juror, where d lies between the ends its range allows.

    Infinite where it is above one that is known already: then nobody asks how far.
    """
    p = 1e-6 + (1 - 2e-6) * points[:, :1]
    q = 1 - p
    share = m.single[None]
    low = np.maximum(-share / p, (share - 1) / q)
    high = np.minimum((1 - share) / p, share / q)
    d = low + (high - low) * points[:, 1:]
    e = m.pair - p * q * product_of_others(d)
    floor = np.abs(e).max(axis=1)
    least = np.full(len(points), np.inf)
    kept = np.flatnonzero(floor <= known)
    explained = _Explained.of(m, *(array[kept] for array in (p, q, d, e)))
    if np.isfinite(known):
        enough = explained.by(np.full(len(kept), known))
        kept, explained = kept[enough], _Explained(*(array[enough] for array in explained))
    if len(kept):
        least[kept] = _bisected(explained, floor[kept])
    return least


class _Explained(NamedTuple):
    """What the correlations of a point must make up, and how far each juror's can."""

    p: Floats
    q: Floats
    d: Floats  #: |d|
    lean: Floats
    left: Floats  #: |what is left of T|

    @classmethod
    def of(cls, m: TrioMoments, p: Floats, q: Floats, d: Floats, e: Floats) -> Self:
        """At points where the pairs leave e unexplained."""
        left = m.trio - (p * q * (p - q))[:, 0] * d.prod(axis=1)
        return cls(p, q, np.abs(d), np.sign(d * left[:, None]) * e, np.abs(left))

    def by(self, correlation: Floats) -> Flags:
        """Whether correlations up to this suffice, point by point; more of it never suffices less."""
        each = correlation[:, None]
        reach = np.minimum(self.p * (each + self.lean), self.q * (each - self.lean))
        return np.asarray(correlation + (self.d * reach).sum(axis=1) >= self.left)


def _bisected(explained: _Explained, floor: Floats) -> Floats:
    """The least correlation, from `floor` on, that suffices."""
    ceiling = np.maximum(floor, explained.left)
    for _ in range(40):
        middle = (floor + ceiling) / 2
        enough = explained.by(middle)
        ceiling, floor = np.where(enough, middle, ceiling), np.where(enough, floor, middle)
    return np.asarray(ceiling)
