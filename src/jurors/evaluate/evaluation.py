"""The results of grading: `Evaluation` (the report card), `Calibrated`, and `KeyedEvaluation` with an answer key.

`Evaluation` holds the selected solution, the others that explain the counts, intervals, alarms and the details of its
method. `Calibrated` holds the grades that hold on real juries, whose errors are shared, next to what the votes would
give if errors were independent. Both compute what is expensive when it is first read.

`KeyedEvaluation` holds the true statistics of a test with an answer key, and its error correlations exactly as the
paper defines them,
    Γ_S^(l) = (1/Q_l) Σ over items of true label l of Π_{i in S} (1[juror i votes l] - P_il),
for a pair, a trio or any larger set S of jurors. Zero for all S and l is what "error independent" means. With missing
votes, a set is measured on the items that all of it answered.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from jurors._lazy import is_computed, lazy_fields
from jurors._numeric import Floats, Integers, sparse
from jurors.errors import SketchError, match_name, name_positions
from jurors.evaluate import consistency
from jurors.evaluate.agreement import PairDependence, PanelDependence, chance_corrected, panel_dependence
from jurors.evaluate.alarms import Alarm
from jurors.evaluate.card import CardOptions, card_blocks, card_columns, keyed_columns, score_tables
from jurors.evaluate.consistency import SelfAgreement
from jurors.evaluate.family import DeclaredFamilies
from jurors.evaluate.ranking import JurorRanking, LeaderWithout, leaders_without, rank_jurors
from jurors.evaluate.rules import RuleGrades
from jurors.evaluate.solution import (
    DEFAULT_RULE,
    GoldTest,
    Intervals,
    Island,
    NamedMapping,
    Partition,
    Solution,
    evaluate_majority,
    joint_counts,
    majority_shares,
    solution_from_joint,
)
from jurors.options import Label
from jurors.results import Block, Columns, Drawable
from jurors.sketch.sketch import Sketch

#: labels of the tuples, several times -> the share of each that is wrong, with its interval
JudgesLabels: TypeAlias = Callable[[Sequence[Integers]], list[tuple[float, tuple[float, float]]]]

TOO_WIDE = 0.6  #: an interval that says nothing of a score; without gold, .4 is usual
_MOST_TUPLES = 10_000  # above, to_dict leaves the partition out
_BY_LABEL = ("accuracy", "confusion", "prevalence")
_FEW = 12  # up to so many jurors, panels without one are graded, and to_dict of a keyed evaluation lists trios
_CROWD = 200  # jurors from which pairs that share no item are not listed


@dataclass(frozen=True, kw_only=True)
class SharedError:
    """How far the jurors are believed to err together: rho, the intraclass correlation of their errors."""

    median: float
    interval: tuple[float, float]
    juries: int  #: how many reference juries it was learned from
    gold_items: int  #: how many items with a known label narrowed it
    source: str  #: where it comes from: the reference juries, a file, or the user


@lazy_fields("prevalence", "accuracy", "score", "interval")  # naming every number of a large jury takes time
@dataclass(frozen=True, eq=False, kw_only=True)
class Calibrated:
    """Grades that hold on real juries, whose errors are shared; `Evaluation` has what independence would give."""

    prevalence: NamedMapping  #: label -> share
    accuracy: NamedMapping  #: juror -> label -> share; None where the juror met no item of the label
    score: NamedMapping  #: juror -> share
    interval: NamedMapping  #: "prevalence", "accuracy", "score" -> … -> (low, high), and "wrong_labels" -> (low, high)
    wrong_labels: float | None  #: the share of items whose best label is expected to be wrong
    shared_error: SharedError
    basis: str  #: whose posteriors were calibrated: "algebraic", "latent", "dawid_skene" …
    level: float  #: the confidence level of the intervals
    partition: Partition = field(repr=False)  #: every tuple's items by true label, and its best label
    score_draws: Any = field(default=None, repr=False)  #: (jurors, scenarios): what all scores share
    score_doubt: Any = field(default=None, repr=False)  #: (jurors,) the variance that jurors do not share
    #: widths with gold; see `with_gold`
    forecast: Callable[[int], NamedMapping] | None = field(default=None, repr=False)
    wrong_labels_of: JudgesLabels | None = field(default=None, repr=False)  #: of other labels of the same tuples
    rules: RuleGrades | None = field(default=None, repr=False)  #: of jurors that know one label each

    @property
    def is_independent(self) -> bool:
        """Whether the user chose to take errors for independent: nothing is calibrated then."""
        return self.shared_error.source == "independent"

    @property
    def has_scenarios(self) -> bool:
        """Whether scores are known in common scenarios, so that their distances are known better than they are."""
        return self.score_draws is not None and self.rules is None

    def gap_errors(self, k: int, others: Any = slice(None)) -> Floats:
        """Standard errors of the distances of these scores to that of juror k; only where there are scenarios."""
        gap = self.score_draws[others] - self.score_draws[k]
        return np.asarray(np.sqrt(gap.var(axis=1) + self.score_doubt[others] + self.score_doubt[k]))

    def with_gold(self, items: int) -> NamedMapping | None:
        """Juror -> the ± that its score would be known to, were so many more items gold; NaN where it is unknown.

        None where gold would say nothing about shared error, because none is estimated.
        """
        return None if self.forecast is None else self.forecast(items)

    def interval_of(self, statistic: str, *names: Any) -> tuple[float, float]:
        """The interval of one statistic; (NaN, NaN) if there is none."""
        return _ends(self.interval, statistic, *names)


class Calibrates(Protocol):
    """A calibration: it grades an evaluation as reference juries with known keys went."""

    def __call__(self, evaluation: Evaluation, /) -> Calibrated | None:
        """The calibrated grades; None where there is nothing to calibrate."""

    def partition(self, evaluation: Evaluation, /) -> Partition | None:
        """What items are labelled by; it grades no juror, so it is quick."""

    def new_posterior(self, evaluation: Evaluation, sketch: Sketch, posterior: Floats, /) -> Floats:
        """The calibrated posterior (T, R) of decision tuples that were not graded."""


class _Solved:
    """What a `solution` says, by name; empty where there is none."""

    solution: Solution | None

    @property
    def _named(self) -> Solution:
        return self.solution or Solution((), (), (), ())

    @property
    def prevalence(self) -> NamedMapping:
        """Label -> share of items with that true label."""
        return self._named.prevalence

    @property
    def accuracy(self) -> NamedMapping:
        """Juror -> label -> how often the juror is right about items of that label; None where there are none."""
        return self._named.accuracy

    @property
    def confusion(self) -> NamedMapping:
        """Juror -> true label -> vote -> how often."""
        return self._named.confusion

    @property
    def score(self) -> NamedMapping:
        """Juror -> the share of items the juror has right; by a key, of its own votes."""
        return self._named.score


@dataclass(frozen=True, eq=False, kw_only=True)
class IndependentGrades(_Solved):
    """What the independent-errors model says about the same votes: the theorem, or the fit of another method.

    `solution` is None where no real evaluation explains the counts; `solutions` then holds the complex ones (or
    nothing, where the counts contradict independence outright).
    """

    solution: Solution | None = None  #: the selected numbers, as floats
    solutions: tuple[Solution, ...] = ()  #: every evaluation that explains the counts, the selected one first
    rule: str = DEFAULT_RULE  #: why the selected one was selected
    interval: Intervals | None = None
    standard_error: NamedMapping | None = None  #: "prevalence", "accuracy", "score" -> … -> standard error
    partition: Partition | None = None  #: every tuple's items by true label, and its best label

    @property
    def wrong_labels(self) -> float | None:
        """The expected share of items whose best label is wrong; None if unknown."""
        return None if self.partition is None or self.solution is None else self.partition.wrong_labels

    def interval_of(self, statistic: str, *names: Any) -> tuple[float, float]:
        """The interval of one statistic; (NaN, NaN) if there is none."""
        return _ends(None if self.interval is None else vars(self.interval), statistic, *names)

    def _document(self, exact: Solution | None, is_exam: bool = False) -> dict[str, Any]:
        """The JSON keys of `independent`; of an exam only the scores, as labels mean nothing across items."""
        numbers = self.solution._document() if self.solution else {}
        document: dict[str, Any] = {name: numbers.get(name) for name in ("score", *_BY_LABEL)}
        if is_exam:
            interval = None if self.interval is None else {"score": self.interval.score}
            return {"score": document["score"], "interval": interval}
        algebraic = exact and {
            "rational": exact.is_rational,
            "prevalence": {a: str(x) for a, x in exact.prevalence.items()},
            "accuracy": {j: {a: str(x) for a, x in row.items()} for j, row in exact.accuracy.items()},
        }
        partition = self.partition
        has_partition = partition is not None and partition.sketch.tuples.rows <= _MOST_TUPLES
        return document | {
            "wrong_labels": self.wrong_labels,
            "interval": None if self.interval is None else vars(self.interval),
            "exact": algebraic,
            "rule": self.rule,
            "solutions": [
                {**s._document(), "chosen": self.solution is not None and k == 0} for k, s in enumerate(self.solutions)
            ],
            "partition": partition if has_partition else None,
        }


@lazy_fields("alarms", "notes")  # they take as long as the grades of a small panel
@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluation(Drawable):
    """How common each label is, how accurate each juror is on each label, and how far to trust it.

    `score`, `accuracy`, `prevalence`, `wrong_labels` and `interval` are calibrated: they allow for errors that jurors
    share, as measured on reference juries with known answers. `independent` has what the same votes say if errors are
    independent. If nothing can be calibrated, or you chose `errors="independent"`, the two are the same.
    """

    items: int  #: the number of items that were graded
    jurors: tuple[str, ...]
    labels: tuple[Label, ...]
    method: str  #: how the numbers were computed: "algebraic", "majority", …
    independent: IndependentGrades = field(default_factory=IndependentGrades)
    exact: Solution | None = None  #: the exact numbers of `independent`, if there are any
    target: str = "test"  #: what intervals describe: "test" (these items) or "population"
    level: float = 0.95  #: the confidence level of the intervals
    alarms: tuple[Alarm, ...] = ()
    notes: tuple[str, ...] = ()  #: sentences to print next to the grades
    representatives: tuple[int, ...] = ()  #: for each juror, the position of the juror that it repeats, or its own
    gold: GoldTest | None = None  #: the test of the grades by the gold items
    smallest_correlation: float | None = None  #: the smallest found that explains a trio's counts, not a bound
    islands: tuple[Island, ...] = ()  #: groups of jurors that share no item, graded separately
    model: str | None = None  #: the panel model that was selected
    iterations: int | None = None
    converged: bool | None = None  #: None if the method does not iterate
    measured: Mapping[str, Any] = field(default_factory=dict)  # numbers that only this method reports
    sketch: Sketch | None = None  #: the counts that were graded
    calibration: Calibrates | None = field(default=None, repr=False)
    exam: bool = False  #: whether only scores are reported, because labels differ in meaning between items
    #: how jurors' own confidence is graded, where the votes have it
    grade_confidence: Callable[[Evaluation], NamedMapping] | None = field(default=None, repr=False)
    family: DeclaredFamilies | None = field(default=None, repr=False)  #: the families that the user declared
    without_family: Evaluation | None = field(default=None, repr=False)  #: the grades without that assumption
    #: grades the panel without some jurors; None where too few are left, or they cannot be graded
    regrade: Callable[[tuple[str, ...]], Evaluation | None] | None = field(default=None, repr=False)

    _kind = "grade"

    def __post_init__(self) -> None:
        if not self.representatives:  # every juror is its own representative
            object.__setattr__(self, "representatives", tuple(range(len(self.jurors))))

    # -- the numbers --------------------------------------------------------------------------------------

    @cached_property
    def calibrated(self) -> Calibrated | None:
        """How the grades were calibrated; None if they cannot be."""
        return None if self.calibration is None else self.calibration(self)

    @property
    def is_calibrated(self) -> bool:
        """Whether the grades allow for shared errors; not with `errors="independent"`."""
        return self.calibrated is not None and not self.calibrated.is_independent

    @property
    def has_grades(self) -> bool:
        """Whether there are any grades."""
        return self.is_calibrated or self.independent.solution is not None

    @property
    def _grades(self) -> Calibrated | IndependentGrades:
        return self.independent if self.calibrated is None else self.calibrated

    @property
    def score(self) -> NamedMapping:
        """Juror -> share of items that the juror gets right; empty without grades."""
        return self._grades.score

    @property
    def accuracy(self) -> NamedMapping:
        """Juror -> label -> how often the juror is right on items of that label."""
        return self._grades.accuracy

    @property
    def prevalence(self) -> NamedMapping:
        """Label -> share of items with that true label."""
        return self._grades.prevalence

    @property
    def interval(self) -> Intervals | None:
        """(low, high) of each `score`, `accuracy` and `prevalence`, and of `wrong_labels`; None if there are none."""
        return None if self._intervals is None else Intervals(**self._intervals)

    @property
    def _intervals(self) -> Mapping[str, Any] | None:
        ends: Any = self._grades.interval
        return vars(ends) if isinstance(ends, Intervals) else ends

    @property
    def wrong_labels(self) -> float | None:
        """The expected share of items whose best label is wrong; None if unknown."""
        return self._grades.wrong_labels

    def interval_of(self, statistic: str, *names: Any) -> tuple[float, float]:
        """The interval of one statistic; (NaN, NaN) if there is none."""
        if statistic == "effective_jurors":
            return (np.nan, np.nan) if self._panel is None else self._panel.interval
        return _ends(self._intervals, statistic, *names)

    @property
    def partition(self) -> Partition | None:
        """The items of each decision tuple by true label, and its best label."""
        if self.calibration is not None and not is_computed(self, "calibrated"):
            return self.calibration.partition(self)  # the same partition, sooner
        return self._grades.partition

    @property
    def rules(self) -> RuleGrades | None:
        """Precision and coverage, if the jurors are rules that know one label each; `score` is the precision."""
        return None if self.calibrated is None else self.calibrated.rules

    @cached_property
    def votes(self) -> NamedMapping:
        """Juror -> number of items that it voted on; empty without a sketch."""
        return NamedMapping() if self.sketch is None else count_votes_by_juror(self.sketch, self.sketch.counts)

    @cached_property
    def ranking(self) -> JurorRanking:
        """The jurors in order, without constant ones and those with few votes, and the leaders."""
        return rank_jurors(self)

    @property
    def best(self) -> str | None:
        """The juror that is clearly better than all others; None, as in most panels, if several may be the best."""
        return self.ranking.best

    @property
    def leaders(self) -> tuple[str, ...]:
        """The jurors that may be the best."""
        return self.ranking.leaders

    @cached_property
    def leaders_without(self) -> tuple[LeaderWithout, ...]:
        """The leaders without one juror, a declared family or the most dependent pair; for up to 12 jurors."""
        return leaders_without(self)

    @cached_property
    def _panel(self) -> PanelDependence | None:
        if self.sketch is None or self.exam or not self.is_calibrated or self.rules is not None:
            return None
        calibration, gold = cast("Any", self.calibration), None
        if self.dependence_has_gold:
            from jurors.evaluate.dependence import dependence_with_key

            shown = dependence_with_key(evaluate_with_key(self.sketch, calibration.gold))
            gold = shown.correlation, shown.items
        return panel_dependence(self.sketch, self.level, gold)

    @property
    def dependence_has_gold(self) -> bool:
        """Whether gold items take part in `dependence`, as in all but crowds."""
        gold = getattr(self.calibration, "gold", None)
        return gold is not None and bool(gold.any()) and len(self.jurors) <= _CROWD

    @property
    def dependence(self) -> tuple[PairDependence, ...]:
        """Pairs of jurors, most dependent first: kappa, and the error correlation that it and gold suggest."""
        return () if self._panel is None else self._panel.pairs

    @property
    def mean_correlation(self) -> float | None:
        """The mean error correlation of two jurors, estimated from their agreement; None if unknown."""
        return None if self._panel is None else self._panel.mean_correlation

    @property
    def effective_jurors(self) -> float | None:
        """How many independent jurors this panel is worth; None if unknown."""
        return None if self._panel is None else self._panel.effective_jurors

    @cached_property
    def abstentions(self) -> consistency.AbstentionRates | None:
        """How often each juror abstains on items of each true label; None if no juror does, or if it is unknown."""
        if self.exam or self.sketch is None or self.sketch.tuples.abstained is None:
            return None
        return consistency.abstention_rates(self.partition, self.target, self.level)

    @cached_property
    def confidence(self) -> NamedMapping | None:
        """Juror -> `JurorConfidence`: how well it knows when it is right; None if votes have no confidence."""
        return None if self.grade_confidence is None else self.grade_confidence(self)

    @cached_property
    def repeats(self) -> SelfAgreement | None:
        """How consistent jurors are who answered an item several times; None if no juror did."""
        return None if self.sketch is None else consistency.self_agreement(self.sketch.tuples, self.level)

    @cached_property
    def majority(self) -> Solution | None:
        """The exact grades by majority vote; None without a sketch."""
        return None if self.sketch is None else evaluate_majority(self.sketch)

    @cached_property
    def ordered(self) -> consistency.JurorLevels | None:
        """Ordered levels: by how many levels each juror is off, and in which direction."""
        if self.sketch is None or self.sketch.tuples.scale != "ordinal" or self.exam:
            return None
        partition = self.partition
        return None if partition is None else consistency.juror_levels(partition.sketch, partition.by_true_label)

    @property
    def is_on_a_line(self) -> bool:
        """Whether ordered levels were graded on one scale; of groups graded separately, the largest."""
        largest = max(self.islands, key=lambda island: island.items, default=None)
        return (self.model if largest is None else largest.model) in consistency.ORDINAL_MODELS

    @property
    def details(self) -> dict[str, Any]:
        """Further results by their JSON keys, without those that the method does not know."""
        known: dict[str, Any] = {
            "model": self.model,
            "notes": list(self.notes) or None,
            "gold": self.gold and asdict(self.gold),
            "smallest_correlation": self.smallest_correlation,
            "groups": [asdict(island) | {"jurors": list(island.jurors)} for island in self.islands] or None,
        }
        ended = {} if self.converged is None else {"iterations": self.iterations, "converged": self.converged}
        return {**self.measured, **{name: value for name, value in known.items() if value is not None}, **ended}

    # -- out ----------------------------------------------------------------------------------------------

    def _document(self) -> dict[str, Any]:
        """The report card as JSON."""
        interval: Any = None if self._intervals is None else {"level": self.level, **self._intervals}
        if interval is not None and self._panel is not None:
            interval["effective_jurors"] = self._panel.interval
        by_label: dict[str, Any] = {"accuracy": self.accuracy or None, "prevalence": self.prevalence or None}
        majority = None if self.majority is None else self.majority._document()
        if self.exam:  # labels mean nothing across items
            by_label = dict.fromkeys(by_label)
            for name in ("accuracy", "prevalence") if interval else ():
                interval.pop(name, None)
            majority = None if majority is None else {"score": majority["score"]}
        family = {}
        if self.without_family is not None:
            names = ("score", "prevalence", "wrong_labels", "best", "leaders", "interval")
            other = self.without_family._document()
            family = {"family": self.family, "without_family": {name: other[name] for name in names}}
        document: dict[str, Any] = {
            **self._attributes("items", "jurors", "labels"),
            **({} if self.sketch is None else self.sketch.tuples.scale_document()),
            "method": self.method,
            "errors": "independent" if not self.is_calibrated else "real",
            "votes": self.votes,
            "score": self.score or None,
            **by_label,
            **self._attributes("wrong_labels", "best", "leaders", "effective_jurors", "dependence"),
            "interval": interval,
            **family,
            "target": self.target,
            "shared_error": None if self.calibrated is None else self.calibrated.shared_error,
            "basis": None if self.calibrated is None else self.calibrated.basis,
            **({} if self.ordered is None else {"ordered": self.ordered}),
            "independent": self.independent._document(self.exact, self.exam),
            "majority": majority,
            **self._attributes("alarms", "details"),
        }
        if self.rules is not None:
            keys = ("label", "precision", "low", "high", "coverage")
            rows = (dict(zip(keys, self.rules.row(k), strict=True)) for k in range(len(self.jurors)))
            document["rules"] = dict(zip(self.jurors, rows, strict=True))
        own = {"abstentions": self.abstentions, "repeats": self.repeats, "confidence": self.confidence}
        document |= {name: value for name, value in own.items() if value is not None}
        if is_computed(self, "leaders_without"):  # takes as long as grading for each juror: --full
            document["leaders_without"] = self.leaders_without
        return document

    def _columns(self) -> Columns:
        """One row per juror: score with its interval, votes, accuracy by label."""
        return card_columns(self)

    def _blocks(self, **show: Any) -> list[Block]:
        return card_blocks(self, CardOptions(**show))

    def __repr__(self) -> str:
        loud = [a.kind for a in self.alarms if a.level == "alarm"]
        tail = f", alarms: {', '.join(loud)}" if loud else ""
        return f"Evaluation({self.items:,} items, {len(self.jurors)} jurors, method {self.method!r}{tail})"


def count_votes_by_juror(sketch: Sketch, counts: NDArray[Any]) -> NamedMapping:
    """Count the votes of each juror, where each decision tuple stands for so many items.

    Returns
    -------
    NamedMapping
        Juror -> votes.
    """
    if sketch.tuples.is_dense:
        votes: NDArray[Any] = counts.astype(np.float64) @ (sketch.tuples.codes >= 0)  # integers multiply slowly
    else:
        row, juror, _ = sketch.tuples.triples()
        votes = np.bincount(juror, weights=counts[row], minlength=len(sketch.jurors))
    return NamedMapping(zip(sketch.jurors, votes.astype(np.int64).tolist(), strict=True))


def wilson_interval(share: float | None, votes: float) -> tuple[float, float] | None:
    """Wilson's 95% interval of a share of so many votes, for other items of the kind.

    Returns
    -------
    (low, high)
        None without a share.

    Examples
    --------
    >>> low, high = wilson_interval(1.0, 1)
    >>> round(low, 2), high
    (0.21, 1.0)
    """
    if share is None:
        return None
    z = 1.959964
    centre, scale = share + z * z / (2 * votes), 1 + z * z / votes
    half = z * math.sqrt(share * (1 - share) / votes + z * z / (4 * votes * votes))
    return max((centre - half) / scale, 0.0), min((centre + half) / scale, 1.0)


def _ends(interval: Mapping[str, Any] | None, *names: Any) -> tuple[float, float]:
    """The interval under these names, (NaN, NaN) where there is none."""
    inner: Any = interval
    for name in names:
        if not inner or (inner is interval and name not in (interval or ())):
            return (np.nan, np.nan)
        inner = inner[name]
    return (np.nan, np.nan) if inner is None or None in inner else inner


@dataclass(frozen=True, eq=False)
class KeyedEvaluation(_Solved, Drawable):
    """What an answer key says about the jurors. All numbers are exact; `to_dict` rounds them."""

    sketch: Sketch
    by_true_label: Integers  #: tuples x labels: how many items of that tuple have that true label
    solution: Solution
    alarms: tuple[Alarm, ...] = ()  #: outliers, by the key
    repeats: SelfAgreement | None = None  #: how consistent jurors are who answered an item again, and its worth
    confidence: NamedMapping | None = None  #: juror -> `JurorConfidence`, where votes have a confidence

    _kind = "score"

    @property
    def jurors(self) -> tuple[str, ...]:
        """The jurors' names."""
        return self.sketch.jurors

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels."""
        return self.sketch.labels

    @cached_property
    def items(self) -> int:
        """How many items have a true label."""
        return int(self.by_true_label.sum())

    @cached_property
    def votes(self) -> NamedMapping:
        """Juror -> how many of its votes are on items with a true label."""
        return count_votes_by_juror(self.sketch, self.by_true_label.sum(axis=1))

    @cached_property
    def kappa(self) -> NamedMapping:
        """Juror -> Cohen's kappa with the key; None without votes, or where juror and key only ever give one label."""
        rows = zip(self.jurors, self.solution.to_float().score.values(), self._chance, strict=True)
        return NamedMapping((j, chance_corrected(x, by_chance)) for j, x, by_chance in rows)

    @cached_property
    def interval(self) -> Intervals:
        """(low, high) of each `score`, `accuracy`, `prevalence` and `kappa`, for other items of the kind, at level .95.

        They are Wilson's interval; kappa has that of the score, with the agreement by chance as it is.
        """
        floats, by_label = self.solution.to_float(), self._joint.sum(axis=2).tolist()
        score = NamedMapping((j, wilson_interval(x, self.votes[j])) for j, x in floats.score.items())
        accuracy = NamedMapping(
            (j, NamedMapping((a, wilson_interval(x, n)) for (a, x), n in zip(of_juror.items(), items, strict=True)))
            for (j, of_juror), items in zip(floats.accuracy.items(), by_label, strict=True)
        )
        kappa = NamedMapping(
            (j, None if self.kappa[j] is None else tuple(chance_corrected(x, by_chance) for x in score[j]))
            for j, by_chance in zip(self.jurors, self._chance, strict=True)
        )
        prevalence = NamedMapping((a, wilson_interval(x, self.items)) for a, x in floats.prevalence.items())
        return Intervals(score=score, accuracy=accuracy, prevalence=prevalence, kappa=kappa)

    def interval_of(self, statistic: str, *names: Any) -> tuple[float, float]:
        """The interval of one statistic, (NaN, NaN) where there is none."""
        return _ends(vars(self.interval), statistic, *names)

    @cached_property
    def _joint(self) -> Floats:
        """(jurors, true labels, votes): how many items."""
        return np.asarray(joint_counts(self.sketch, self.by_true_label.astype(np.float64)))

    @cached_property
    def _chance(self) -> list[float]:
        """How often each juror would agree with the key by chance, by the labels that both give."""
        items = np.maximum(self._joint.sum(axis=(1, 2)), 1.0)
        return list(((self._joint.sum(axis=1) * self._joint.sum(axis=2)).sum(axis=1) / items**2).tolist())

    @cached_property
    def effective_jurors(self) -> float | None:
        """How many jurors with independent errors the panel is worth, by the error correlations that the key shows.

        None where some juror shares no item with another, where fewer than two jurors err, and of over 200 jurors.
        """
        from jurors.evaluate.dependence import dependence_with_key

        if len(self.jurors) > _CROWD:
            return None
        found = dependence_with_key(self)
        err = sum(score is not None and score < 1 for score in self.solution.score.values())
        is_known = err > 1 and np.isfinite(found.correlation).any(axis=1).all()
        return found.effective_jurors if is_known else None

    @cached_property
    def ordered(self) -> consistency.JurorLevels | None:
        """Of ordered levels: how many levels each juror is off, and to which side; None for labels without order."""
        is_ordered = self.sketch.tuples.scale == "ordinal"
        return consistency.juror_levels(self.sketch, self.by_true_label) if is_ordered else None

    def correlation(self, label: Label, jurors: Sequence[str]) -> Fraction | None:
        """The error correlation of two or more jurors on items of this true label; None where there is no item."""
        code = self.labels.index(match_name(label, self.labels, "label"))
        columns = name_positions(self.jurors, jurors)
        if len(columns) < 2:
            raise SketchError("an error correlation needs two jurors or more")
        rows = self._rows_of_labels[code]
        codes, counts = self.sketch.tuples.codes[rows][:, columns], self.by_true_label[rows, code]
        complete = (codes >= 0).all(axis=1)
        right, counts = (codes[complete] == code), counts[complete]
        total = int(counts.sum())
        if not total:
            return None
        means = [Fraction(int(counts[column].sum()), total) for column in right.T]
        patterns, inverse = np.unique(right, axis=0, return_inverse=True)
        sizes = np.zeros(len(patterns), dtype=np.int64)
        np.add.at(sizes, inverse.ravel(), counts)
        result = Fraction(0)
        for pattern, size in zip(patterns.tolist(), sizes.tolist(), strict=True):
            deviations = (is_right - mean for is_right, mean in zip(pattern, means, strict=True))
            result += math.prod(deviations, start=Fraction(size, total))
        return result

    def correlations(self, size: int = 2) -> dict[Label, dict[tuple[str, ...], Fraction | None]]:
        """Sets of `size` jurors: label -> jurors -> error correlation; of over 200 jurors, pairs that share items."""
        if size == 2:
            return {label: self._pair_correlations(k) for k, label in enumerate(self.labels)}
        sets = list(combinations(self.jurors, size))
        return {label: {group: self.correlation(label, group) for group in sets} for label in self.labels}

    def _pair_correlations(self, code: int) -> dict[tuple[str, ...], Fraction | None]:
        """Of all pairs on one label at once: (n n_both - n_i n_j) / n², n_i of n common items right by the first.

        Whole numbers throughout, from products of whole-number matrices.
        """
        items, own, both = self._sparse_pair_counts(code)
        first, second = np.triu_indices(len(self.jurors), 1)
        if len(self.jurors) > _CROWD:  # of so many jurors, most pairs share no item
            first, second = (np.asarray(x) for x in self._shared_pairs)
        if not len(first):  # of one juror; a sparse table gives one entry for none
            return {}
        counts = items[first, second], own[first, second], own[second, first], both[first, second]
        listed = (np.asarray(x).ravel().tolist() for x in counts)
        pairs = ((self.jurors[i], self.jurors[j]) for i, j in zip(first.tolist(), second.tolist(), strict=True))
        return {
            pair: Fraction(n * n_both - n_i * n_j, n * n) if n else None
            for pair, n, n_i, n_j, n_both in zip(pairs, *listed, strict=True)
        }

    def pair_counts(self, code: int) -> tuple[Integers, Integers, Integers]:
        """The items of one true label that two jurors share.

        Returns
        -------
        items, own, both : ndarray of int, (jurors, jurors)
            How many there are, how many of them the row's juror has right, and how many both have right.
        """
        items, own, both = (np.asarray(x.todense()) for x in self._sparse_pair_counts(code))
        return items, own, both

    def _sparse_pair_counts(self, code: int) -> tuple[Any, Any, Any]:
        rows = self._rows_of_labels[code]
        voted, was_right, weighted = (self._votes[rows] for _ in range(3))
        was_right.data = (voted.data == code + 1).astype(np.int64)
        weighted.data = np.repeat(self.by_true_label[rows, code], np.diff(voted.indptr))
        voted.data = np.ones_like(voted.data)
        common, right = weighted.T @ voted, weighted.multiply(was_right).T
        return common.tocsr(), (right @ voted).tocsr(), (right @ was_right).tocsr()

    @cached_property
    def _shared_pairs(self) -> tuple[Integers, Integers]:
        """The pairs of jurors that share an item with a true label, by position."""
        voted = self._votes[self.by_true_label.sum(axis=1) > 0]
        voted.data = np.ones_like(voted.data)
        first, second = sparse.triu(voted.T @ voted, 1).nonzero()
        order = np.lexsort((second, first))
        return first[order], second[order]

    @cached_property
    def _rows_of_labels(self) -> list[Integers]:
        """For each label the tuples in which it is true, so that no label looks at all tuples."""
        label, row = np.nonzero(self.by_true_label.T)
        return np.split(row, np.searchsorted(label, np.arange(1, len(self.labels))))

    @cached_property
    def _votes(self) -> Any:
        """Tuples x jurors, sparse: 1 + the position of the vote's label; nothing where there is no vote."""
        row, juror, code = self.sketch.tuples.triples()
        shape = (self.sketch.tuples.rows, len(self.jurors))
        return sparse.csr_array((code.astype(np.int64) + 1, (row, juror)), shape=shape)

    @property
    def best_errors(self) -> int:
        """The fewest labelling errors any rule can make that sees nothing but the decision tuple."""
        return int((self.by_true_label.sum(axis=1) - self.by_true_label.max(axis=1)).sum())

    @property
    def has_shared_votes(self) -> bool:
        """Whether most items have the same votes as another; where they don't, `best_errors` only repeats the key."""
        return 2 * int((self.by_true_label.sum(axis=1) == 1).sum()) < self.items

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
        own = {"ordered": self.ordered, "repeats": self.repeats, "confidence": self.confidence}
        return {
            **self._attributes("items", "jurors", "labels"),
            "method": "answer_key",
            "votes": self.votes,
            **self.solution._document(),
            **self._attributes("kappa", "effective_jurors"),
            "interval": {"level": 0.95, **vars(self.interval)},
            "correlation": correlation,
            "errors": {"majority": self.majority_errors, "best_possible": self.best_errors},
            "alarms": self.alarms,
            **{name: value for name, value in own.items() if value is not None},
        }

    def _columns(self) -> Columns:
        return keyed_columns(self)

    def _blocks(self, **show: Any) -> list[Block]:
        return score_tables(self, CardOptions(**show))

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

    Returns
    -------
    KeyedEvaluation
        Exact numbers (fractions).

    Raises
    ------
    SketchError
        No item has a true label.
    """
    total = int(by_true_label.sum())
    if not total:
        raise SketchError("no item has a true label")
    wide = total > 1 << 52
    joint = joint_counts(sketch, by_true_label.astype(object) if wide else by_true_label)
    prevalences = [Fraction(int(n), total) for n in by_true_label.sum(axis=0)]
    return KeyedEvaluation(sketch, by_true_label, solution_from_joint(sketch, prevalences, joint))
