"""How much error correlation a planned jury would stand, from the guaranteed bounds on the counts to be expected."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from jurors.doubt.bounds.robust import robust_bounds
from jurors.evaluate import Solution, encode
from jurors.lab.jury_model import JuryModel
from jurors.sketch import Sketch
from jurors.votes import Label

_EXPECTED = 10**12  # items of the expected sketch from which bounds are read: rounding to whole items must not matter
MOST_JURORS = 10  # bounds of larger panels take long and are not narrower
LEAST_CORRELATION = 1e-6


def tolerated_correlations(model: JuryModel, width: float) -> tuple[float | None, float | None]:
    """Up to which error correlation the bounds are as narrow as asked, and from which they say nothing."""
    if len(model.labels) != 2 or len(model.jurors) > MOST_JURORS:
        return None, None
    solution = Solution(model.jurors, model.labels, model.prevalence, model.confusion)
    sketch = encode(Solution.from_dict(_in_floats(solution)), items=_EXPECTED)
    truth = {j: {a: float(x) for a, x in row.items()} for j, row in solution.accuracy.items()}
    safe = _largest(lambda e: _farthest(sketch, e, truth) <= width)
    return safe, _largest(lambda e: _farthest(sketch, e, truth) < math.inf)


def _in_floats(solution: Solution) -> dict[str, Any]:
    return {
        "prevalence": {a: float(p) for a, p in solution.prevalence.items()},
        "accuracy": {j: {a: float(x) for a, x in row.items()} for j, row in solution.accuracy.items()},
    }


def _farthest(sketch: Sketch, correlation: float, accuracy: dict[str, dict[Label, float]]) -> float:
    """How far the truth may be from the accuracy that is read off; infinite where somebody is not bounded at all."""
    bounds = robust_bounds(sketch, correlation)
    if bounds.alarms or bounds.accuracy is None:  # all alarms of bounds say that nothing, or not everybody, is bounded
        return math.inf
    ends = [(accuracy[j][a], end) for j, row in bounds.accuracy.items() for a in row for end in row[a]]
    return max(abs(float(end) - x) for x, end in ends)


def _largest(holds: Callable[[float], bool]) -> float:
    """The largest correlation for which this holds (it does for all smaller ones); 0 where hardly for any."""
    if not holds(LEAST_CORRELATION):
        return 0.0
    low, high = LEAST_CORRELATION, 0.25
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
