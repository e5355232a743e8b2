"""The long step that makes expectation-maximisation quick (SQUAREM).

R. Varadhan and C. Roland, Simple and globally convergent methods for accelerating the convergence of any EM algorithm,
Scandinavian Journal of Statistics 35 (2008) 335-353.
"""

from __future__ import annotations

import math

import numpy as np

from jurors.numbers.arrays import Floats


def long_step(start: Floats, once: Floats, twice: Floats, longest: float = math.inf) -> Floats:
    """Follow the parabola through three iterates x, y, z: x + 2a (y-x) + a² (z-2y+x), a = |y-x| / |z-2y+x| from 1 on.

    Points lie along the last axis. At a = 1 the step ends in z itself. It may overshoot: whoever takes it must see that
    it gains.

    Examples
    --------
    Halving the distance to 3 again and again, it is there at once:

    >>> long_step(np.array([1.0]), np.array([2.0]), np.array([2.5])).tolist()
    [3.0]
    """
    step = once - start
    ahead = twice - once
    ahead -= step  # how the way bends
    moved, bent = np.vecdot(step, step), np.vecdot(ahead, ahead)
    size = np.sqrt(moved / np.where(bent > 0, bent, np.inf))
    a = np.minimum(np.maximum(size, 1.0), longest)[..., None]
    ahead *= a
    step *= 2.0
    ahead += step
    ahead *= a
    ahead += start
    return np.asarray(ahead)
