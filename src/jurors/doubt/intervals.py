"""Standard errors and intervals of a trio's grades, for two questions that are often mixed up.

*population*: if another test were drawn, how far would the grades move?
*test*: how far may the grades be from the truth on the very items that were answered? The second is smaller: with
IF the influence function of the estimate, Var(estimate - statistic) = Var(IF) - Var(statistic), because the part of IF
that the true label and the juror's own vote explain is the statistic's own influence.

Intervals are symmetric on the logit scale; an estimate on or outside the border has none there, so it gets the plain
one, unclipped: it must be seen to lie outside.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jurors.evaluate.trios import DecodedTrios, evaluate_trios, trio_influences

Floats: TypeAlias = NDArray[np.float64]
Target: TypeAlias = Literal["test", "population"]


@dataclass(frozen=True)
class TrioErrors:
    """Standard errors, shaped as the estimates they belong to: (…), (…, 3, 2) and (…, 3)."""

    prevalence: Floats
    accuracy: Floats
    score: Floats


def trio_standard_errors(tables: ArrayLike, decoded: DecodedTrios, target: Target = "test") -> TrioErrors:
    """Delta-method standard errors of many trios at once; NaN where there is no real evaluation."""
    counts = np.asarray(tables, dtype=float)
    flat = counts.reshape((*counts.shape[:-3], 8))
    items = decoded.moments.items
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = flat / items[..., None]
    pull = trio_influences(tables, decoded)
    p, q = decoded.prevalence, 1 - decoded.prevalence
    accuracy = decoded.accuracy
    score = p[..., None] * accuracy[..., 0] + q[..., None] * accuracy[..., 1]
    pull_score = (
        pull["prevalence"][..., None, :] * (accuracy[..., 0] - accuracy[..., 1])[..., None]
        + p[..., None, None] * pull["accuracy"][..., 0, :]
        + q[..., None, None] * pull["accuracy"][..., 1, :]
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        own = (
            p * q / items,
            accuracy * (1 - accuracy) / (items[..., None] * np.stack([p, q], axis=-1))[..., None, :],
            score * (1 - score) / items[..., None],
        )
        whole = (
            (shares * pull["prevalence"] ** 2).sum(axis=-1) / items,
            (shares[..., None, None, :] * pull["accuracy"] ** 2).sum(axis=-1) / items[..., None, None],
            (shares[..., None, :] * pull_score**2).sum(axis=-1) / items[..., None],
        )
    errors = [np.sqrt(w if target == "population" else _difference(w, o)) for w, o in zip(whole, own, strict=True)]
    return TrioErrors(*errors)


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
    z = NormalDist().inv_cdf(0.5 + level / 2)
    inside = (estimate > 0) & (estimate < 1)
    safe = np.where(inside, estimate, 0.5)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        logit = np.log(safe / (1 - safe))
        reach = z * error / (safe * (1 - safe))
        low = np.where(inside, _expit(logit - reach), estimate - z * error)
        high = np.where(inside, _expit(logit + reach), estimate + z * error)
        promised = (1 - level) ** (1 / np.maximum(items, 1e-9))
    on_border = (np.minimum(np.abs(estimate), np.abs(1 - estimate)) < 1e-12) & (error < 1e-6)
    low = np.where(on_border & (estimate > 0.5), promised, low)
    high = np.where(on_border & (estimate < 0.5), 1 - promised, high)
    return low, high


def _expit(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-x))


def trio_intervals(
    table: ArrayLike, *, mirrored: bool = False, target: Target = "test", level: float = 0.95
) -> dict[str, Any]:
    """Standard errors and intervals of one trio's chosen solution.

    Returns arrays: `prevalence` (2,), `accuracy` (3, 2), `score` (3,), each with a last axis (low, high); and
    `errors`, the standard errors in the same shapes.
    """
    decoded = evaluate_trios(table)
    if mirrored:
        decoded = _mirror(decoded)
    errors = trio_standard_errors(table, decoded, target)
    p = np.array([decoded.prevalence, 1 - decoded.prevalence])
    score = decoded.accuracy @ p
    items = decoded.moments.items
    found = {
        "prevalence": interval_around(p, np.repeat(errors.prevalence, 2), items, level),
        "accuracy": interval_around(decoded.accuracy, errors.accuracy, items * p[None, :], level),
        "score": interval_around(score, errors.score, items, level),
    }
    return {
        **{name: np.stack(ends, axis=-1) for name, ends in found.items()},
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
