"""Majority vote as an evaluation: take the majority's label for the truth and read off everyone's grades.

The paper's formulas, for any number of jurors and labels; an item where m labels tie counts 1/m for each.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.errors import SketchError
from jurors.evaluate.solution import ZERO, Solution
from jurors.numbers.arrays import Flags, Floats, Integers
from jurors.sketch import Sketch
from jurors.sketch.pairs import parts_of, votes_by_juror

_FEW_CELLS = 1 << 20  # of a table of votes, up to which they are listed: one count instead of one per label


def evaluate_majority(sketch: Sketch) -> Solution:
    """The exact grades that majority vote gives; None where it never chose a label.

    Examples
    --------
    >>> mv = evaluate_majority(Sketch.from_counts({"AAB": 1, "BBB": 3}, jurors="ijk"))
    >>> mv.prevalence["A"], mv.accuracy["k"]
    (Fraction(1, 4), {'A': Fraction(0, 1), 'B': Fraction(1, 1)})
    """
    weight = _whole_shares(sketch) * sketch.counts[:, None]
    by_label = weight.sum(axis=0).tolist()
    total = sum(by_label)  # without the items nobody voted on: they belong to no label
    if not total:
        raise SketchError("there is no vote to count")
    return solution_from_joint(sketch, [Fraction(n, total) for n in by_label], joint_counts(sketch, weight))


def solution_from_joint(sketch: Sketch, prevalences: list[Fraction], joint: NDArray[np.generic]) -> Solution:
    """Exact confusion matrices and scores from counts by juror, true label and label said."""
    tables = joint.tolist()
    confusions = tuple(tuple(_fractions(row, sum(row)) for row in table) for table in tables)
    right = [sum(row[k] for k, row in enumerate(table)) for table in tables]
    scores = tuple(_fractions([n], sum(map(sum, table)))[0] for n, table in zip(right, tables, strict=True))
    return Solution(sketch.jurors, sketch.labels, tuple(prevalences), confusions, scores)


def _fractions(counts: list[int], total: int) -> tuple[Fraction | None, ...]:
    """Of many labels most counts are 0: all of these are one object."""
    if not total:
        return (None,) * len(counts)
    return tuple(Fraction(n, total) if n else ZERO for n in counts)


def majority_shares(sketch: Sketch) -> Floats:
    """For each decision tuple the share of each label: 1 for the majority's, 1/m where m labels tie."""
    top = _tops(sketch)
    return np.asarray(top / np.maximum(top.sum(axis=1, keepdims=True), 1), dtype=np.float64)


def vote_counts(sketch: Sketch) -> Integers:
    """For each decision tuple how many jurors said each label."""
    size = len(sketch.labels)
    if sketch.tuples.is_dense and sketch.tuples.codes.size > _FEW_CELLS:
        votes = np.empty((sketch.tuples.rows, size), dtype=np.int64)
        for label in range(size):
            (sketch.tuples.codes == label).sum(axis=1, out=votes[:, label])
        return votes
    votes = np.empty((sketch.tuples.rows, size), dtype=np.int64)
    for part, rows in parts_of(sketch):
        row, _, code = part.tuples.triples()
        votes[rows] = np.bincount(row * size + code, minlength=part.tuples.rows * size).reshape(-1, size)
    return votes


def joint_counts(sketch: Sketch, weight: NDArray[np.generic]) -> NDArray[np.generic]:
    """Sum `weight` (tuples x true labels) by juror, true label and label said."""
    size, width = len(sketch.labels), len(sketch.jurors)
    joint = np.zeros((width * size, size), dtype=weight.dtype)  # juror and label said, true label
    for part, rows in parts_of(sketch):
        row, col, code = part.tuples.triples()
        place = col.astype(np.int64) * size + code
        if weight.dtype == object:
            np.add.at(joint, place, weight[rows][row])
        else:
            votes = votes_by_juror(row, place, (part.tuples.rows, width * size), weight.dtype)
            joint += votes.T @ np.ascontiguousarray(weight[rows])
    return np.ascontiguousarray(joint.reshape(width, size, size).transpose(0, 2, 1))


def _tops(sketch: Sketch) -> Flags:
    """Which labels have the most votes, tuple by tuple; none where nobody voted."""
    votes = vote_counts(sketch)
    best = votes.max(axis=1, keepdims=True)
    return np.asarray((votes == best) & (best > 0))


def _whole_shares(sketch: Sketch) -> NDArray[Any]:
    """Majority shares times a common unit, in integers wide enough for that many items to stay exact."""
    top = _tops(sketch)
    ties = top.sum(axis=1)
    unit = math.lcm(*(m for m, rows in enumerate(np.bincount(ties).tolist()) if m and rows))
    shares = top * (unit // np.maximum(ties, 1))[:, None]
    wide = unit * max(int(sketch.counts.sum()), 1) > 1 << 62
    return np.asarray(shares.astype(object) if wide else shares)
