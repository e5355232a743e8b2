"""`Calibrated`: the grades as real juries go, beside what the votes would say if errors were independent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from jurors.evaluate.partition import Partition
from jurors.evaluate.solution import Named
from jurors.numbers.arrays import Integers
from jurors.when_asked import WhenAsked

#: labels of the tuples, several times -> the share of each that is wrong, with its interval
JudgesLabels: TypeAlias = Callable[[Sequence[Integers]], list[tuple[float, tuple[float, float]]]]

TOO_WIDE = 0.6  #: an interval that says nothing of a score; without gold, .4 is usual


@dataclass(frozen=True, kw_only=True)
class SharedError:
    """How far the jurors are believed to err together: rho, the intraclass correlation of their errors."""

    median: float
    interval: tuple[float, float]
    juries: int  #: how many reference juries it was learned from
    gold_items: int  #: how many items with a known label narrowed it
    source: str  #: where it comes from: the reference juries, a file, or the user

    def to_dict(self) -> dict[str, Any]:
        """The JSON keys of `shared_error`."""
        return {
            "median": self.median,
            "interval": self.interval,
            "juries": self.juries,
            "gold_items": self.gold_items,
            "source": self.source,
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class Calibrated:
    """Grades that hold on real juries, whose errors are shared; `Evaluation` has what independence would give."""

    prevalence: Named  #: label -> share
    accuracy: Named  #: juror -> label -> share; None where the juror met no item of the label
    score: Named  #: juror -> share
    interval: Named  #: "prevalence", "accuracy", "score" -> … -> (low, high), and "wrong_labels" -> (low, high)
    wrong_labels: float  #: the share of items whose best label is expected to be wrong
    shared_error: SharedError
    basis: str  #: whose posteriors were calibrated: "algebraic", "latent", "dawid_skene" …
    level: float  #: how sure the intervals are
    partition: Partition = field(repr=False)  #: every tuple's items by true label, and its best label
    score_draws: Any = field(default=None, repr=False)  #: (jurors, scenarios): what moves all scores together
    score_doubt: Any = field(default=None, repr=False)  #: (jurors,) the variance that is each juror's own
    foretold: Callable[[int], Named] | None = field(default=None, repr=False)  #: widths with gold; see `with_gold`
    wrong_labels_of: JudgesLabels | None = field(default=None, repr=False)  #: of other labels of the same tuples

    @property
    def is_independent(self) -> bool:
        """Whether errors were taken for independent, as the user asked: nothing is calibrated then."""
        return self.shared_error.source == "independent"

    @property
    def best(self) -> str | None:
        """The juror with the highest score of whom something is known; None where that is nobody."""
        wide = {j: high - low for j, (low, high) in ((j, self.interval_of("score", j)) for j in self.score)}
        known = [j for j, score in self.score.items() if score is not None and wide[j] <= TOO_WIDE]
        return max(known, key=lambda j: self.score[j], default=None)

    def with_gold(self, items: int) -> Named | None:
        """Juror -> the ± that its score would be known to, were so many more items gold; NaN where nobody can tell.

        None where gold would teach nothing about shared error, because it was not asked about.
        """
        return None if self.foretold is None else self.foretold(items)

    def interval_of(self, statistic: str, *names: Any) -> tuple[float, float]:
        """The interval of one statistic, (NaN, NaN) where there is none."""
        ends: Any = self.interval[statistic]
        for name in names:
            ends = ends[name]
        return (float("nan"), float("nan")) if ends is None or None in ends else ends

    def to_dict(self) -> dict[str, Any]:
        """The JSON keys of `calibrated`."""
        return {
            "prevalence": self.prevalence,
            "accuracy": self.accuracy,
            "score": self.score,
            "interval": self.interval,
            "wrong_labels": self.wrong_labels,
            "shared_error": self.shared_error.to_dict(),
            "basis": self.basis,
            "level": self.level,
        }


for _name in ("prevalence", "accuracy", "score", "interval"):
    setattr(Calibrated, _name, WhenAsked(_name))  # naming every number of a large jury takes time
