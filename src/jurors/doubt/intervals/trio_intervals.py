"""Standard errors and intervals of a trio's grades, for two questions that are often mixed up.

*population*: if another test were drawn, how far would the grades move?
*test*: how far may the grades be from the truth on the very items that were answered? The second is smaller: with
IF the influence function of the estimate, Var(estimate - statistic) = Var(IF) - Var(statistic), because the part of IF
that the true label and the juror's own vote explain is the statistic's own influence.

A trio's intervals hold every value that the counts do not contradict (`inversion.py`): the usual ones with much
evidence, all of [0, 1] with hardly any. They always hold the estimate, even where it lies outside [0, 1]: it must be
seen to. Methods without such equations take `interval_around`: symmetric on the logit scale inside (0, 1), plain and
unclipped outside. Coverage of both: benchmarks/coverage.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jurors.doubt.intervals.inversion import TrioEquations
from jurors.evaluate.trio.trios import DecodedTrios, evaluate_trios
from jurors.numbers.arrays import Floats
from jurors.options import Target

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
