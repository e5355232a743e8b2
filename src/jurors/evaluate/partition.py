"""The partition of Table 1: each decision tuple's items split by true label, and the label that loses the fewest.

For a trio's own solution the denominator is the observed share of the tuple itself, so the result is the paper's
partition even where a statistic lies outside [0, 1]: nothing is clamped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from jurors.evaluate.majority import majority_shares, vote_counts
from jurors.evaluate.solution import Solution
from jurors.numbers.arrays import Flags, Floats, Integers
from jurors.sketch import Sketch
from jurors.tables import Columns, Result, Table, columns_of

_ROUNDING = 1e-9


_FEW_JURORS = 64  # products of so many shares stay far from underflow


@dataclass(frozen=True, eq=False)
class Partition(Result):
    """Every decision tuple's items split by their estimated true label, and the label that costs the fewest errors."""

    sketch: Sketch
    by_true_label: Floats  #: tuples x labels, estimated items; adds up to the tuple's count
    chosen: Integers  #: the label (position) of each tuple
    by_majority: Flags | None = None  #: tuples labelled by majority vote, which earned no probability

    @property
    def is_sure_of_itself(self) -> bool:
        """Whether majority vote labelled every tuple: it takes itself for the truth and promises nothing."""
        return self.by_majority is not None and bool(self.by_majority.all())

    @property
    def probability(self) -> Floats:
        """The probability that each tuple's label is right; NaN where it is not known.

        Majority vote earned none. An evaluation with numbers outside [0, 1] can give a tuple a share outside [0, 1]:
        `by_true_label` shows it, as evidence, but it is no probability.
        """
        counts = self.sketch.counts
        with np.errstate(divide="ignore", invalid="ignore"):
            share = self.by_true_label[np.arange(len(counts)), self.chosen] / counts
        known = (counts > 0) & (np.abs(share - 0.5) <= 0.5 + _ROUNDING)
        if self.by_majority is not None:
            known &= ~self.by_majority
        return np.where(known, share, np.nan)

    @property
    def expected_errors(self) -> float:
        """The evaluation's own estimate of how many items this labelling has wrong; NaN where a tuple has none."""
        counts = self.sketch.counts
        if np.isnan(self.probability[counts > 0]).any():
            return float("nan")
        return float(np.nansum(counts - self.by_true_label[np.arange(len(counts)), self.chosen]))

    def _document(self) -> list[dict[str, Any]]:
        """One entry per decision tuple that occurred."""
        labels = self.sketch.labels
        rows = zip(
            self.sketch.decisions(),
            self.sketch.counts.tolist(),
            self.by_true_label.tolist(),
            self.chosen.tolist(),
            strict=True,
        )
        return [
            {
                "decisions": decisions,
                "count": count,
                "by_true_label": dict(zip(labels, split, strict=True)),
                "label": labels[chosen],
            }
            for decisions, count, split, chosen in rows
            if count
        ]

    def _columns(self) -> Columns:
        """One column per juror, `count`, one column `true …` per label, `label`."""
        sketch = self.sketch
        columns: dict[str, Any] = columns_of(sketch.jurors, sketch.decisions())
        columns["count"] = sketch.counts
        for k, label in enumerate(sketch.labels):
            columns[f"true {label}"] = self.by_true_label[:, k]
        columns["label"] = [sketch.labels[k] for k in self.chosen]
        return columns

    def _blocks(self) -> tuple[Table]:
        sketch, commonest = self.sketch, np.argsort(-self.sketch.counts, kind="stable")[:20]
        title = f"the commonest of {len(self.chosen):,} decision tuples"
        said = replace(sketch.tuples, counts=sketch.counts).head(commonest, title)
        rows = tuple(
            (*row, *(round(float(x), 1) for x in self.by_true_label[k]), str(sketch.labels[self.chosen[k]]))
            for k, row in zip(commonest.tolist(), said.rows, strict=True)
        )
        heads = (*said.columns, *(f"true {a}" for a in sketch.labels), "label")
        return (Table(heads, rows, title=title),)


def partition_by_label(sketch: Sketch, solution: Solution, posterior: Floats | None = None) -> Partition:
    """Split every tuple's items by estimated true label.

    A method that has its own posterior (an EM with strata, say) hands it over; otherwise it follows from the solution.

    Examples
    --------
    >>> from jurors.evaluate import evaluate_trio
    >>> sketch = Sketch.from_counts({"AAA": 568, "AAB": 553, "ABA": 649, "BAA": 1813,
    ...                              "BBA": 3534, "BAB": 3607, "ABB": 1068, "BBB": 8208}, jurors="ijk")
    >>> partition = partition_by_label(sketch, evaluate_trio(sketch)[0])
    >>> partition.by_true_label[0].round().tolist(), round(partition.expected_errors, 1)
    ([399.0, 169.0], 1545.4)
    """
    likely = tuple_posterior(sketch, solution) if posterior is None else posterior
    counts = sketch.counts[:, None]
    by_true_label = np.multiply(likely, counts, where=counts > 0, out=np.zeros_like(likely))  # a tuple nobody gave: 0
    return Partition(sketch, by_true_label, decide(likely, sketch))


def majority_partition(sketch: Sketch) -> Partition:
    """The same table as majority vote fills it: every item of a tuple goes to the majority's label."""
    shares = majority_shares(sketch)
    by_majority = np.ones(len(shares), dtype=bool)
    return Partition(sketch, shares * sketch.counts[:, None], np.asarray(shares.argmax(axis=1)), by_majority)


# -- how likely each label is behind a tuple: P_l Π_i P_i(l_i | l), normalised -------------------------------------


def tuple_posterior(sketch: Sketch, solution: Solution) -> Floats:
    """Tuples x labels: the probability of each true label; NaN where the evaluation rules the tuple out."""
    floats = solution.to_float()
    prevalence = np.array(floats.prevalences, dtype=float)
    confusion = np.array(floats.confusions, dtype=float)  # None becomes NaN
    if not prevalence.all():  # a label that never occurs has no accuracies and needs none
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


def decide(posterior: Floats, sketch: Sketch) -> Integers:
    """The label of each tuple that costs the fewest expected errors; ties go to the label with more votes.

    Where the evaluation rules a tuple out (NaN), the majority decides.
    """
    scores = np.ascontiguousarray(posterior.T)  # a maximum over a short last axis takes four times as long
    known = np.isfinite(scores).all(axis=0)
    if not known.all():
        scores = np.where(known, scores, 0.0)
    top = scores.max(axis=0)
    best = top - scores <= 1e-12 * np.abs(top)
    if np.count_nonzero(best) == len(posterior):  # without a tie nobody asks for votes
        return np.asarray(scores.argmax(axis=0))
    return np.asarray(np.where(best.T, vote_counts(sketch), -1).argmax(axis=1))
