"""How likely each label is behind a decision tuple, given an evaluation: P_l Π_i P_i(l_i | l), normalised.

For a trio's own solution the denominator is the observed share of the tuple itself, so the result is the paper's
partition even where a statistic lies outside [0, 1]: nothing is clamped.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from jurors.evaluate.solution import Solution
from jurors.numbers.arrays import Floats, Integers
from jurors.sketch import Sketch

_FEW_JURORS = 64  # products of so many shares stay far from underflow


def tuple_posterior(sketch: Sketch, solution: Solution) -> Floats:
    """Tuples x labels: the probability of each true label; NaN where the evaluation rules the tuple out."""
    floats = solution.to_float()
    prevalence = np.array(floats.prevalences, dtype=float)
    confusion = np.array(floats.confusions, dtype=float)  # None becomes NaN
    # A label that never occurs has no accuracies and needs none.
    confusion[:, prevalence == 0, :] = 0.0
    if len(sketch.jurors) <= _FEW_JURORS and sketch.tuples.is_dense:
        factors = np.ones((len(confusion), len(sketch.labels) + 1, len(prevalence)))  # the last, -1: no vote
        factors[:, :-1] = confusion.swapaxes(1, 2)
        weight = np.repeat(prevalence[None, :], sketch.tuples.rows, axis=0)
        for factor, said in zip(factors, sketch.tuples.codes.T, strict=True):
            weight *= factor[said]
        return _normalise(weight)
    row, col, code = sketch.tuples.triples()
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(confusion)
        total = np.repeat(np.log(prevalence)[None, :], sketch.tuples.rows, axis=0)
    for label in range(len(sketch.labels)):
        total[:, label] += np.bincount(row, weights=logs[col, label, code], minlength=sketch.tuples.rows)
    return _normalise(np.exp(total - total.max(axis=1, keepdims=True)))


def _normalise(weight: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return cast("Floats", weight / weight.sum(axis=1, keepdims=True))


def decide(posterior: Floats, votes: NDArray[Any]) -> Integers:
    """The label of each tuple that costs the fewest expected errors; ties go to the label with more votes.

    Where the evaluation rules a tuple out (NaN), the majority decides.
    """
    known = np.isfinite(posterior).all(axis=1, keepdims=True)
    scores = np.where(known, posterior, 0.0)
    top = scores.max(axis=1, keepdims=True)
    return np.asarray(np.where(top - scores <= 1e-12 * np.abs(top), votes, -1).argmax(axis=1))
