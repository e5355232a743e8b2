"""With an answer key: the true statistics of a test, and its error correlations exactly as the paper defines them.

Γ_S^(l) = (1/Q_l) Σ over items of true label l of Π_{i in S} (1[juror i says l] - P_il)
for a pair, a trio or any larger set S of jurors. Zero for all S and l is what "error independent" means.
With missing votes, a set is measured on the items that all of it answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Integers
from jurors.errors import SketchError, nearest, positions
from jurors.evaluate.alarms import Alarm
from jurors.evaluate.card import score_tables
from jurors.evaluate.consistency import JurorLevels, SelfAgreement, levels_beside
from jurors.evaluate.partition import joint_counts, majority_shares, solution_from_joint
from jurors.evaluate.solution import Named, Solution
from jurors.results import Columns, Drawable, Table
from jurors.sketch import Sketch
from jurors.votes import Label

_FEW = 12  # up to so many jurors, to_dict lists the trios too


@dataclass(frozen=True, eq=False)
class KeyedEvaluation(Drawable):
    """What an answer key says about the jurors. All numbers are exact; `to_dict` rounds them."""

    sketch: Sketch
    by_true_label: Integers  #: tuples x labels: how many items of that tuple have that true label
    solution: Solution
    alarms: tuple[Alarm, ...] = ()  #: who stands apart, by the key
    repeats: SelfAgreement | None = None  #: how steady jurors are who were asked again, and what that is worth

    @property
    def jurors(self) -> tuple[str, ...]:
        """The jurors' names."""
        return self.sketch.jurors

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels."""
        return self.sketch.labels

    @property
    def items(self) -> int:
        """How many items have a true label."""
        return int(self.by_true_label.sum())

    @property
    def prevalence(self) -> Named:
        """Label -> its share among the true labels."""
        return self.solution.prevalence

    @property
    def accuracy(self) -> Named:
        """Juror -> true label -> how often the juror was right; None for a label that never occurs."""
        return self.solution.accuracy

    @property
    def confusion(self) -> Named:
        """Juror -> true label -> label said -> how often."""
        return self.solution.confusion

    @property
    def score(self) -> Named:
        """Juror -> the share of its own votes that were right."""
        return self.solution.score

    @cached_property
    def ordered(self) -> JurorLevels | None:
        """Of ordered levels: how many levels each juror is off, and to which side; None for labels without order."""
        is_ordered = self.sketch.tuples.scale == "ordinal"
        return levels_beside(self.sketch, self.by_true_label) if is_ordered else None

    def correlation(self, label: Label, jurors: Sequence[str]) -> Fraction | None:
        """The error correlation of two or more jurors on items of this true label; None where there is no item."""
        code = self.labels.index(nearest(label, self.labels, "label"))
        columns = positions(self.jurors, jurors, "juror")
        if len(columns) < 2:
            raise SketchError("an error correlation needs two jurors or more")
        rows = self._rows_of_labels[code]
        codes, counts = self.sketch.tuples.codes[rows][:, columns], self.by_true_label[rows, code]
        kept = (codes >= 0).all(axis=1)
        right, counts = (codes[kept] == code), counts[kept]
        total = int(counts.sum())
        if not total:
            return None
        means = [Fraction(int(counts[column].sum()), total) for column in right.T]
        patterns, inverse = np.unique(right, axis=0, return_inverse=True)
        sizes = np.zeros(len(patterns), dtype=np.int64)
        np.add.at(sizes, inverse.ravel(), counts)
        result = Fraction(0)
        for pattern, size in zip(patterns.tolist(), sizes.tolist(), strict=True):
            term = Fraction(size, total)
            for is_right, mean in zip(pattern, means, strict=True):
                term *= is_right - mean
            result += term
        return result

    def correlations(self, size: int = 2) -> dict[Label, dict[tuple[str, ...], Fraction | None]]:
        """Every set of `size` jurors: label -> jurors -> error correlation."""
        if size == 2:
            return {label: self._pair_correlations(k) for k, label in enumerate(self.labels)}
        sets = list(combinations(self.jurors, size))
        return {label: {group: self.correlation(label, group) for group in sets} for label in self.labels}

    def _pair_correlations(self, code: int) -> dict[tuple[str, ...], Fraction | None]:
        """Of all pairs on one label at once: (n n_both - n_i n_j) / n², n_i of n common items right by the first.

        Whole numbers throughout, from products of whole-number matrices.
        """
        rows = self._rows_of_labels[code]
        voted, was_right, weighted = (self._said[rows] for _ in range(3))
        was_right.data = (voted.data == code + 1).astype(np.int64)
        weighted.data = np.repeat(self.by_true_label[rows, code], np.diff(voted.indptr))
        voted.data = np.ones_like(voted.data)
        met, right = weighted.T @ voted, weighted.multiply(was_right).T
        items, own, both = (np.asarray(x.todense()) for x in (met, right @ voted, right @ was_right))
        first, second = np.triu_indices(len(self.jurors), 1)
        listed = (
            x.tolist() for x in (items[first, second], own[first, second], own[second, first], both[first, second])
        )
        return {
            pair: Fraction(n * n_both - n_i * n_j, n * n) if n else None
            for pair, n, n_i, n_j, n_both in zip(combinations(self.jurors, 2), *listed, strict=True)
        }

    @cached_property
    def _rows_of_labels(self) -> list[Integers]:
        """Of each label the tuples in which it is true: all labels together look at each tuple's own labels only."""
        label, row = np.nonzero(self.by_true_label.T)
        return np.split(row, np.searchsorted(label, np.arange(1, len(self.labels))))

    @cached_property
    def _said(self) -> Any:
        """Tuples x jurors: 1 + the label said; nothing where there is no vote."""
        from scipy.sparse import csr_array

        row, juror, said = self.sketch.tuples.triples()
        shape = (self.sketch.tuples.rows, len(self.jurors))
        return csr_array((said.astype(np.int64) + 1, (row, juror)), shape=shape)

    @property
    def best_errors(self) -> int:
        """The fewest labelling errors any rule can make that sees nothing but the decision tuple."""
        return int((self.by_true_label.sum(axis=1) - self.by_true_label.max(axis=1)).sum())

    @property
    def majority_errors(self) -> float:
        """The labelling errors of majority vote; a tie counts by chance."""
        shares = majority_shares(self.sketch)
        voted = shares.sum(axis=1) > 0
        right = float((shares * self.by_true_label).sum())
        return float(self.by_true_label[voted].sum()) - right

    def errors_of(self, chosen: NDArray[np.integer[Any]]) -> int:
        """The labelling errors of a label for each decision tuple."""
        return self.items - int(self.by_true_label[np.arange(len(chosen)), chosen].sum())

    def _document(self) -> dict[str, Any]:
        """The keys of a graded evaluation, and `correlation` and `errors`."""
        sizes = (2, 3) if len(self.jurors) <= _FEW else (2,)
        by_size = [self.correlations(size) for size in sizes]
        correlation = {
            label: [{"jurors": group, "value": value} for by in by_size for group, value in by[label].items()]
            for label in self.labels
        }
        return {
            "items": self.items,
            "jurors": self.jurors,
            "labels": self.labels,
            "method": "answer_key",
            **self.solution._document(),
            "correlation": correlation,
            "errors": {"majority": self.majority_errors, "best_possible": self.best_errors},
            "alarms": self.alarms,
            **({} if self.ordered is None else {"ordered": self.ordered.to_dict()}),
            **({} if self.repeats is None else {"repeats": self.repeats.to_dict()}),
        }

    def _columns(self) -> Columns:
        """One row per juror and true label."""
        return self.solution._columns()

    def _blocks(self) -> list[Table]:
        return score_tables(self)

    def __repr__(self) -> str:
        return f"KeyedEvaluation({self.items:,} items, {len(self.jurors)} jurors)"


def evaluate_with_key(sketch: Sketch, by_true_label: Integers) -> KeyedEvaluation:
    """The exact statistics of a test whose true labels are known.

    Parameters
    ----------
    sketch
        The decision tuples.
    by_true_label
        Tuples x labels: how many items of each tuple have each true label. Items without a key are left out.
    """
    total = int(by_true_label.sum())
    if not total:
        raise SketchError("no item has a true label")
    wide = total > 1 << 52
    joint = joint_counts(sketch, by_true_label.astype(object) if wide else by_true_label)
    prevalences = [Fraction(int(n), total) for n in by_true_label.sum(axis=0)]
    return KeyedEvaluation(sketch, by_true_label, solution_from_joint(sketch, prevalences, joint))
