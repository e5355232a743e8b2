"""Logical bounds that need no program: no specification at all, and a pair that bounds everybody's floor."""

from __future__ import annotations

import math

import numpy as np

from jurors.doubt.bounds.answer_keys import AnswerKeys, distinct
from jurors.sketch import Sketch

Interval = tuple[float, float]


def free_accuracies(keys: AnswerKeys) -> list[list[Interval]]:
    """Any key is possible: 0 to 1 for a juror who says the label and others too."""
    rows = []
    for i in range(keys.codes.shape[1]):
        said = [bool((keys.codes[:, i] == a).any()) for a in range(keys.labels)]
        rows.append([(float(sum(said) == yes), float(yes)) if any(said) else (math.nan,) * 2 for yes in said])
    return rows


def pair_bound(sketch: Sketch) -> float:
    """No floor for everybody is higher: a disagreement is an error, d_ij <= (1 - x)(votes of i + votes of j)."""
    codes, counts = distinct(sketch.tuples.codes, sketch.counts)
    voted = (codes >= 0).astype(np.int64)
    votes = counts @ voted
    both = voted.T @ (counts[:, None] * voted)
    said = [(codes == a).astype(np.int64) for a in range(len(sketch.labels))]
    apart = both - sum(s.T @ (counts[:, None] * s) for s in said)
    return float(1 - (apart / np.maximum(1, votes[:, None] + votes[None, :])).max(initial=0.0))
