"""One number per juror from one number per pair: the b with b_i b_j nearest to the given value of every pair i, j.

Under independent errors many pair statistics factor that way (a covariance, twice an agreement less one); the values
on the diagonal do not, and are left out. Three jurors have a closed form, b_i² = x_ij x_ik / x_jk, which is not real
where the product of the three values is negative. More have weighted least squares,
    b = argmin Σ_{i<j} w_ij (x_ij - b_i b_j)²,
from the leading eigenvector, moving each b_i half-way to Σ_j w_ij x_ij b_j / Σ_j w_ij b_j² (where all pairs weigh
the same, it ends where "eigenvector, put b_i² on the diagonal, eigenvector again …" does).

The signs of b are free: a whole group of jurors linked by pairs may be turned over. Each group is turned so that its
sum is greatest. A group whose pairs form no cycle of odd length fixes no b at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jurors.numbers.arrays import Flags, Floats, Integers
from jurors.sketch.links import linked
from jurors.sketch.pairs import Pairs

_LIMIT, _FREE_LIMIT = 20_000, 2_000
_RUNAWAY = 10.0  # so many times the bound, a free fit is on its way to infinity
_POWER_STEPS = 300


@dataclass(frozen=True, eq=False)
class RankOne:
    """The factor of every juror, and how it was found."""

    vector: Floats  #: b_i; NaN where the pairs do not fix it, or where it is not real
    is_real: bool  #: False: three jurors whose values contradict each other in sign
    iterations: int
    converged: bool
    held: Flags  #: jurors kept at their bound, without which least squares runs off to infinity

    @property
    def is_fixed(self) -> Flags:
        """Which jurors have a number."""
        return np.isfinite(self.vector)


def fit_rank_one(pairs: Pairs, values: Floats, weights: Floats, bound: Floats) -> RankOne:
    """The numbers b_i whose products are nearest to `values`, pair by pair.

    `bound` is the greatest size that each b_i can have if the model is true. It is not imposed, unless there is no
    finite answer without it (a juror with few votes whose values contradict each other in sign).

    Examples
    --------
    >>> from jurors.sketch import Sketch
    >>> pairs = Pairs(Sketch.from_counts({"AAB": 3, "ABB": 2}, jurors=("ann", "bob", "cy")))
    >>> fit_rank_one(pairs, np.array([0.2, -0.4, -0.8]), np.ones(3), np.ones(3)).vector.round(3).tolist()
    [-0.316, -0.632, 1.265]
    """
    width = len(pairs.sketch.jurors)
    if width == 3 and len(values) == 3 and (values != 0).all():
        return _closed_form(values)
    group, fixed = _groups(pairs, width)
    both = (np.concatenate([pairs.first, pairs.second]), np.concatenate([pairs.second, pairs.first]))
    from scipy.sparse import csr_array

    weight = csr_array((np.tile(weights, 2), both), shape=(width, width))
    value = csr_array((np.tile(weights * values, 2), both), shape=(width, width))
    start = np.where(fixed, _leading(value, weight, group), 0.0)
    bound = np.where(fixed, np.nan_to_num(bound), 0.0)
    vector, steps, converged = _least_squares(value, weight, start, _RUNAWAY * bound.max(initial=0.0), _FREE_LIMIT)
    held = np.zeros(width, dtype=bool)
    if not converged:
        start = np.clip(start, -bound, bound)
        vector, steps, converged = _least_squares(value, weight, start, bound, _LIMIT)
        held = fixed & (np.abs(vector) >= bound) & (bound > 0)
    vector = np.where(fixed, vector, np.nan)
    return RankOne(_turned(vector, group), True, steps, converged, held)


def _closed_form(values: Floats) -> RankOne:
    """Three jurors; values of the pairs (0, 1), (0, 2), (1, 2)."""
    product = float(values.prod())
    if product < 0:
        return RankOne(np.full(3, np.nan), False, 0, True, np.zeros(3, dtype=bool))
    size = np.sqrt(product) / np.abs(values[::-1])
    vector = size * np.array([1.0, np.sign(values[0]), np.sign(values[1])])
    return RankOne(_turned(vector, np.zeros(3, dtype=np.int64)), True, 0, True, np.zeros(3, dtype=bool))


def _groups(pairs: Pairs, width: int) -> tuple[Integers, Flags]:
    """The linked group of each juror, and whether it has a cycle of odd length.

    Two copies of the jurors, each pair linking a copy of one to the other copy of the other: an odd cycle joins the
    two copies of a juror, and nothing else does.
    """
    first, second = pairs.first, pairs.second
    ends = (np.concatenate([first, first + width]), np.concatenate([second + width, second]))
    copy = linked(*ends, 2 * width)
    return linked(first, second, width), np.asarray(copy[:width] == copy[width:])


def _leading(value: Any, weight: Any, group: Integers) -> Floats:
    """The leading eigenvector of the weighted values, rows scaled to one; each group at the scale that fits best."""
    rows = np.asarray(abs(value).sum(axis=1)).ravel()
    scale = np.divide(1.0, rows, out=np.zeros_like(rows), where=rows > 0)
    vector = 1.0 + 1e-3 * np.cos(np.arange(len(rows)))  # most jurors are better than coins; the rest breaks ties
    for _ in range(_POWER_STEPS):
        new = vector + scale * (value @ vector)
        new /= _group_max(np.abs(new), group)
        if np.abs(new - vector).max() < 1e-9:
            break
        vector = new
    fits = np.bincount(group, weights=vector * (value @ vector))
    size = np.bincount(group, weights=vector**2 * (weight @ vector**2))
    ratio = np.divide(fits, size, out=np.zeros_like(fits), where=fits > 0)  # which have a size
    return vector * np.sqrt(ratio)[group]


def _group_max(values: Floats, group: Integers) -> Floats:
    most = np.zeros(int(group.max()) + 1)
    np.maximum.at(most, group, values)
    return np.where(most > 0, most, 1.0)[group]


def _least_squares(
    value: Any, weight: Any, vector: Floats, bound: Floats | float, limit: int
) -> tuple[Floats, int, bool]:
    """Iterate to the fixed point within the bound; a common bound is a fence: reaching it is not to converge."""
    for step in range(1, limit + 1):
        below = weight @ vector**2
        target = np.divide(value @ vector, below, out=np.zeros_like(below), where=below > 0)
        new = np.clip(0.5 * (vector + target), -bound, bound)
        if isinstance(bound, float) and (np.abs(new) >= bound).any():
            return new, step, False
        if np.abs(new - vector).max() <= 1e-13 * max(np.abs(new).max(), 1e-3):
            return new, step, True
        vector = new
    return vector, limit, False


def _turned(vector: Floats, group: Integers) -> Floats:
    total = np.bincount(group, weights=np.nan_to_num(vector))
    return vector * np.where(total < 0, -1.0, 1.0)[group]
