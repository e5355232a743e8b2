"""Standard errors and intervals of a trio's grades, for two questions that are often mixed up.

*population*: if another test were drawn, how far would the grades move?
*test*: how far may the grades be from the truth on the very items that were answered? The second is smaller: with
IF the influence function of the estimate, Var(estimate - statistic) = Var(IF) - Var(statistic), because the part of IF
that the true label and the juror's own vote explain is the statistic's own influence.

A trio's intervals hold every value that the counts do not contradict (`doubt/inversion.py`): the usual ones with much
evidence, all of [0, 1] with hardly any. They always hold the estimate, even where it lies outside [0, 1]: it must be
seen to. Methods without such equations take `interval_around`: symmetric on the logit scale inside (0, 1), plain and
unclipped outside. Coverage of both: benchmarks/coverage.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jurors.doubt.inversion import inverted_ends
from jurors.evaluate.trios import DecodedTrios, evaluate_trios, trio_influences

Floats: TypeAlias = NDArray[np.float64]
Variances: TypeAlias = tuple[Floats, Floats, Floats]
Target: TypeAlias = Literal["test", "population"]
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
    whole, own = _variances(tables, decoded)
    errors = [np.sqrt(w if target == "population" else _difference(w, o)) for w, o in zip(whole, own, strict=True)]
    return TrioErrors(*errors)


def _variances(tables: ArrayLike, decoded: DecodedTrios) -> tuple[Variances, Variances]:
    """Of the estimates, and of the statistics they estimate: prevalence, accuracy and score each."""
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
    return whole, own


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
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        promised = (1 - level) ** (1 / np.maximum(items, 1e-9))
        on_border = (np.minimum(np.abs(estimate), np.abs(1 - estimate)) < 1e-12) & (error < _EXACT)
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
    counts = np.asarray(tables, dtype=float)
    items, p = decoded.moments.items, decoded.prevalence
    whole, own = _variances(tables, decoded)
    spread = [w if target == "population" else _difference(w, o) for w, o in zip(whole, own, strict=True)]
    errors = TrioErrors(*(np.sqrt(v) for v in spread))
    removed = tuple(w - v for w, v in zip(whole, spread, strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = counts.reshape((*counts.shape[:-3], 8)) / items[..., None]
    found = inverted_ends(shares, decoded, (removed[0], removed[1], removed[2]), _z(level))
    by_label = items[..., None] * np.stack([p, 1 - p], axis=-1)
    score = p[..., None] * decoded.accuracy[..., 0] + (1 - p)[..., None] * decoded.accuracy[..., 1]
    about = {
        "prevalence": (p, errors.prevalence, items),
        "accuracy": (decoded.accuracy, errors.accuracy, by_label[..., None, :]),
        "score": (score, errors.score, items[..., None]),
    }
    for name, (estimate, error, n) in about.items():
        low, high = found[name]
        reach = _z(level) * error
        low, high = np.where(error < _SMALL, estimate - reach, low), np.where(error < _SMALL, estimate + reach, high)
        # A share cannot lie outside [0, 1]; an estimate can, and then the interval reaches out to it.
        low, high = np.maximum(low, np.minimum(estimate, 0.0)), np.minimum(high, np.maximum(estimate, 1.0))
        found[name] = _promised(estimate, error, n, level, low, high)
    return found, errors


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
    found, errors = trio_interval_ends(table, decoded, target=target, level=level)
    low, high = found["prevalence"]
    return {
        "prevalence": np.array([[low, high], [1 - high, 1 - low]]),
        "accuracy": np.stack(found["accuracy"], axis=-1),
        "score": np.stack(found["score"], axis=-1),
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
