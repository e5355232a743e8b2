"""What order adds to a juror's grades: how many levels it is off, to which side, and how far it follows the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jurors.evaluate.majority import joint_counts
from jurors.evaluate.partition import Partition
from jurors.evaluate.solution import Named
from jurors.numbers.arrays import Floats, Integers
from jurors.sketch import Sketch

ORDERED = ("graded", "eased")  #: the ordered models, the simpler first
_EVEN = 0.05  # levels: a bias that is smaller is called none


@dataclass(frozen=True)
class JurorLevels:
    """Each juror's votes beside the levels that items are believed to have; None for a juror without votes."""

    mean_error: Named  #: juror -> how many levels its votes are off, on average
    bias: Named  #: juror -> how many levels its votes lie above the truth, on average; below it: negative
    weighted_agreement: Named  #: juror -> Cohen's kappa with the truth, errors weighed by their square

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `ordered`."""
        return {"mean_error": self.mean_error, "bias": self.bias, "weighted_agreement": self.weighted_agreement}

    def row(self, juror: str) -> tuple[Any, Any, Any]:
        """One juror's numbers: mean error, bias, weighted agreement."""
        return self.mean_error[juror], self.bias[juror], self.weighted_agreement[juror]


def juror_levels(partition: Partition) -> JurorLevels:
    """The figures of every juror, by the partition of its items by level.

    Examples
    --------
    >>> from jurors import Votes, grade
    >>> votes = [[1, 1, 2], [2, 2, 3], [3, 3, 3], [2, 2, 2], [1, 1, 1]] * 40
    >>> result = grade(Votes.from_matrix(votes, jurors=["ann", "bob", "cy"], scale="ordinal"), errors="independent")
    >>> result.ordered.bias["cy"] > result.ordered.bias["ann"]
    True
    """
    return levels_beside(partition.sketch, np.nan_to_num(partition.by_true_label))


def levels_beside(sketch: Sketch, by_true_label: Floats | Integers) -> JurorLevels:
    """The same where the items of each decision tuple are split by level, believed or known."""
    jurors = sketch.jurors
    joint = np.asarray(joint_counts(sketch, by_true_label), dtype=float)
    off = np.arange(joint.shape[1]) - np.arange(joint.shape[1])[:, None]  # level said less the true one
    cast = joint.sum(axis=(1, 2))
    by_habit = np.einsum("jl,jr,lr->j", joint.sum(axis=2), joint.sum(axis=1), off**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return JurorLevels(
            _named(jurors, np.einsum("jlr,lr->j", joint, abs(off)) / cast),
            _named(jurors, np.einsum("jlr,lr->j", joint, off) / cast),
            _named(jurors, 1 - np.einsum("jlr,lr->j", joint, off**2) * cast / by_habit),
        )


def _named(jurors: tuple[str, ...], values: Floats) -> Named:
    return Named((j, x if np.isfinite(x) else None) for j, x in zip(jurors, values.tolist(), strict=True))


def leaning(bias: float | None) -> str:
    """A bias in words.

    >>> leaning(0.31), leaning(-1.2), leaning(0.01)
    ('+0.31 lenient', '-1.20 harsh', '+0.01')
    """
    if bias is None:
        return "–"
    word = "" if abs(bias) < _EVEN else " lenient" if bias > 0 else " harsh"
    return f"{bias:+.2f}{word}"
