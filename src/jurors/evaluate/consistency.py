"""How a juror answers beyond single labels: abstentions, repeated answers, and ordered levels.

Abstention rates (`abstention_rates`). The rate of juror j on label l is Σ n q_l [j abstained] / Σ n q_l [j voted or
abstained], q the probability of the label on each item. What is unknown of it on these items is which label each has;
the variance is
    Σ n q_l (1 - q_l) ([abstained] - rate)² / (Σ n q_l)²,
and intervals are normal, as far as a share can be. (Wilson's never hold 0, which is the rate of many.) Of the 123
raters of DICES-350 the 95% intervals hold 96% of the rates by the experts' key (benchmarks/abstentions.py).

Self-agreement (`self_agreement`): how consistent a juror is that answered an item several times. Of an item with m_c
answers c among n, the share of pairs of answers that agree is Σ m_c (m_c - 1) / (n (n - 1)). The juror's agreement with
itself is the mean over items; its variance is that of the items (answers on one item are dependent), and the interval
is Wilson's for as many free trials as give this variance: fresh items of the same kind.

Ordered levels: the median level of each item, the expected one and the levels it may be of (`item_levels`); and how
many levels each juror is off, to which side, and how far it follows the truth (`juror_levels`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Floats, Integers
from jurors.evaluate.solution import NamedMapping, Partition, joint_counts
from jurors.options import Label
from jurors.sketch.sketch import Sketch
from jurors.votes.codes import numerals
from jurors.votes.table import Votes, group_rows

Places: TypeAlias = tuple[Integers, NDArray[np.int32]]
ORDINAL_MODELS = ("graded", "flexible")  #: the ordered models, the simpler first
_ROUNDING = 1e-24  # a variance that is as small is none: the items are alike
_UNBIASED = 0.05  # levels: a bias that is smaller is called none

# -- abstentions ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AbstentionRates:
    """Juror -> true label -> how often the juror abstains there, with intervals; and how often at all."""

    abstained: NamedMapping  #: juror -> on how many items it abstained
    asked: NamedMapping  #: juror -> on how many items it voted or abstained
    rate: NamedMapping  #: juror -> label -> the share; None where the juror saw no item of the label
    interval: NamedMapping  #: juror -> label -> (low, high)

    def to_dict(self) -> dict[str, Any]:
        """By juror, as the JSON has it."""
        return {j: {part.name: getattr(self, part.name)[j] for part in fields(self)} for j in self.rate}


def abstention_rates(partition: Partition | None, target: str, level: float) -> AbstentionRates | None:
    """How often each juror abstains on items of each label of a partition.

    Returns
    -------
    AbstentionRates or None
        None where no juror abstained, or where the labels are the majority's and have no probability.

    Examples
    --------
    >>> from jurors.evaluate.solution import evaluate_majority
    >>> from jurors.evaluate.solution import partition_by_label
    >>> from jurors.sketch.sketch import Sketch
    >>> from jurors.votes.table import Votes
    >>> from jurors.votes.table import with_abstentions
    >>> rows = [["a", "a", "a"], ["b", "b", "?"], ["b", "b", "b"], ["a", "a", "a"]]
    >>> sketch = Sketch.from_votes(with_abstentions(Votes.from_matrix(rows, jurors=("ann", "bob", "cy")), "?"))
    >>> rates = abstention_rates(partition_by_label(sketch, evaluate_majority(sketch)), "test", 0.95)
    >>> rates.abstained["cy"], rates.rate["cy"]
    (1, {'a': 0.0, 'b': 0.5})
    """
    abstained = None if partition is None else partition.sketch.tuples.abstained
    if partition is None or abstained is None or partition.is_sure_of_itself:
        return None
    sketch = partition.sketch
    width, counts, voted = len(sketch.jurors), sketch.counts, sketch.tuples.triples()[:2]
    mass = np.nan_to_num(partition.by_true_label)
    whole = counts[:, None]
    doubt = mass * (1 - np.divide(mass, whole, where=whole > 0, out=np.zeros_like(mass)))
    (without, given), (open_without, open_given) = (
        (_by_juror(share, abstained, width), _by_juror(share, voted, width)) for share in (mass, doubt)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = without / (without + given)
        variance = np.maximum(open_without * (1 - rate) ** 2 + open_given * rate**2, 0.0) / (without + given) ** 2
        if target == "population":  # the items stand for others
            variance = variance + rate * (1 - rate) / (without + given)
    reach = NormalDist().inv_cdf(0.5 + level / 2) * np.sqrt(variance)
    # A share cannot lie outside [0, 1]; an estimate can, and then the interval reaches out to it.
    low, high = np.maximum(rate - reach, np.minimum(rate, 0.0)), np.minimum(rate + reach, np.maximum(rate, 1.0))
    times = [np.bincount(col, counts[row], width).astype(np.int64) for row, col in (abstained, voted)]
    return AbstentionRates(
        abstained=NamedMapping(zip(sketch.jurors, times[0].tolist(), strict=True)),
        asked=NamedMapping(zip(sketch.jurors, (times[0] + times[1]).tolist(), strict=True)),
        rate=_named(sketch, rate),
        interval=_named(sketch, np.stack([low, high], axis=-1)),
    )


def _by_juror(mass: Floats, places: Places, width: int) -> Floats:
    """(N, R): the mass of each label on these (row, juror) places of each juror."""
    row, col = places
    return np.stack([np.bincount(col, label[row], width) for label in mass.T], axis=1)


def _named(sketch: Sketch, values: Floats) -> NamedMapping:
    """Juror -> label -> value of an array (N, R) or (N, R, 2); None in place of NaN."""
    named = NamedMapping()
    for juror, row in zip(sketch.jurors, values.tolist(), strict=True):
        known = [None if np.isnan(x).any() else tuple(x) if isinstance(x, list) else x for x in row]
        named[juror] = NamedMapping(zip(sketch.labels, known, strict=True))
    return named


# -- self-agreement -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SelfAgreement:
    """Juror -> how consistent it is, of those who answered an item several times."""

    items: NamedMapping  #: juror -> on how many items it answered several times
    times: NamedMapping  #: juror -> how often on such an item, on average
    ties: NamedMapping  #: juror -> on how many items its answers came to no vote
    agreement: NamedMapping  #: juror -> how often two of its answers on an item agree
    interval: NamedMapping  #: juror -> (low, high)
    alpha: NamedMapping  #: juror -> the same beyond chance (Krippendorff's); None where it gives one answer only
    level: float  #: how sure the intervals are

    def to_dict(self) -> dict[str, Any]:
        """By juror, as the JSON has it."""
        names = [part.name for part in fields(self) if part.name != "level"]
        return {juror: {name: getattr(self, name)[juror] for name in names} for juror in self.agreement}


def self_agreement(votes: Votes, level: float) -> SelfAgreement | None:
    """How consistent every juror is that answered items several times.

    Returns
    -------
    SelfAgreement or None
        None where no juror did.

    Examples
    --------
    >>> from jurors.votes.scale import merge_numbered_jurors
    >>> rows = [["a", "a", "a"], ["b", "b", "b"], ["a", "b", "b"], ["a", "a", "a"]]
    >>> votes = merge_numbered_jurors(Votes.from_matrix(rows, jurors=("judge_1", "judge_2", "ann")), ["judge"])
    >>> steady = self_agreement(votes, 0.95)
    >>> steady.items["judge"], steady.ties["judge"], steady.agreement["judge"], round(steady.alpha["judge"], 2)
    (4, 1, 0.75, 0.53)
    """
    repeats = votes.repeats
    if repeats is None:
        return None
    tied = repeats.one_vote(len(votes.labels) if votes.scale == "ordinal" else None) < 0
    parts: dict[str, NamedMapping] = {part.name: NamedMapping() for part in fields(SelfAgreement)[:-1]}
    for k in np.unique(repeats.juror).tolist():
        here, juror = repeats.juror == k, votes.jurors[k]
        answers, items = group_rows(repeats.answers[here], repeats.items[here])  # distinct patterns of answers
        given = np.unique(answers[answers >= 0])
        counts = (answers[:, :, None] == given).sum(axis=1)
        total, times = int(items.sum()), counts.sum(axis=1)
        cast = (items @ counts).astype(float)
        by_chance = float(cast.sum()) ** 2 - float(cast @ cast)
        disagreed = float(items @ ((times**2 - (counts**2).sum(axis=1)) / (times - 1)))
        parts["items"][juror] = total
        parts["times"][juror] = float(items @ times) / total
        parts["ties"][juror] = int(repeats.items[here & tied].sum())
        parts["agreement"][juror], parts["interval"][juror] = agreement_with_itself(counts, items, level)
        parts["alpha"][juror] = 1 - disagreed * (float(cast.sum()) - 1) / by_chance if by_chance else None
    return SelfAgreement(level=level, **parts)


def agreement_with_itself(counts: Integers, items: Integers, level: float) -> tuple[float, tuple[float, float]]:
    """How often two answers on an item agree, from counts (patterns, answers), with Wilson's interval.

    Returns
    -------
    agreement : float
    interval : tuple of two floats
        For as many trials as give the mean its variance by items.

    Examples
    --------
    >>> agreement, (low, high) = agreement_with_itself(np.array([[5, 0], [4, 1]]), np.array([60, 40]), 0.95)
    >>> round(agreement, 2), round(low, 3), round(high, 3)
    (0.84, 0.798, 0.875)
    """
    times, total = counts.sum(axis=1), float(items.sum())
    alike = (counts * (counts - 1)).sum(axis=1) / (times * (times - 1))
    agreement, pairs = float(items @ alike) / total, float(items @ (times * (times - 1))) / 2
    spread = float(items @ (alike - agreement) ** 2) / (total * max(total - 1, 1.0))
    trials = min(agreement * (1 - agreement) / spread, pairs) if spread > _ROUNDING else total
    z = NormalDist().inv_cdf(0.5 + level / 2)
    middle = (agreement + z * z / (2 * trials)) / (1 + z * z / trials)
    reach = z / (1 + z * z / trials) * (agreement * (1 - agreement) / trials + z * z / (4 * trials**2)) ** 0.5
    return agreement, (middle - reach, middle + reach)


# -- ordered levels -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ItemLevels:
    """One entry per item. Levels are positions in the labels, the lowest first; -1 where nothing is known of it."""

    median: Integers  #: the level that is as likely too high as too low
    expected: Floats  #: in the labels' own numbers where they are numbers, else counted from 1; NaN where not known
    low: Integers  #: the interval: with half of what is missing to the level below it …
    high: Integers  #: … and half above

    def take(self, which: Any) -> ItemLevels:
        """The levels of these items."""
        return ItemLevels(*(getattr(self, part.name)[which] for part in fields(self)))

    def settled(self, known: Integers, labels: tuple[Label, ...]) -> ItemLevels:
        """The same with the levels that are known (0 or more)."""
        given = known >= 0
        median, low, high = (np.where(given, known, part) for part in (self.median, self.low, self.high))
        return ItemLevels(median, np.where(given, level_values(labels)[known], self.expected), low, high)


def item_levels(partition: Partition, level: float = 0.95) -> ItemLevels:
    """The levels of each tuple's items, by the partition of the items by level.

    An interval holds at least `level` of the probability: it runs from the lowest level below which no more than half
    of the rest lies to the highest above which no more than that lies. A label without a probability has no levels,
    either.

    Returns
    -------
    ItemLevels
        One entry per decision tuple.
    """
    unknown = np.isnan(partition.probability)
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = partition.by_true_label / partition.by_true_label.sum(axis=1, keepdims=True)
    below = np.cumsum(np.nan_to_num(chance), axis=1)
    tail, last = (1 - level) / 2, chance.shape[1] - 1

    def reached(share: float) -> Integers:
        return np.where(unknown, -1, np.minimum((below < share - 1e-12).sum(axis=1), last))

    expected = np.where(unknown, np.nan, chance @ level_values(partition.sketch.labels))
    return ItemLevels(reached(0.5), expected, reached(tail), reached(1 - tail))


def level_values(labels: tuple[Label, ...]) -> Floats:
    """The number of each level: the label's own where all are numbers, else 1, 2, 3 …

    Returns
    -------
    (levels,) array

    Examples
    --------
    >>> level_values((0, 5, 10)).tolist(), level_values(("poor", "fair", "good")).tolist()
    ([0.0, 5.0, 10.0], [1.0, 2.0, 3.0])
    """
    own = numerals(labels).sizes
    return np.array([k + 1 if None in own else x for k, x in enumerate(own)], dtype=np.float64)


@dataclass(frozen=True)
class JurorLevels:
    """Each juror's votes compared with the levels that items are believed to have; None for a juror without votes."""

    mean_error: NamedMapping  #: juror -> how many levels its votes are off, on average
    bias: NamedMapping  #: juror -> how many levels its votes lie above the truth, on average; below it: negative
    weighted_agreement: NamedMapping  #: juror -> Cohen's kappa with the truth, errors weighted by their square

    def row(self, juror: str) -> tuple[Any, Any, Any]:
        """One juror's numbers: mean error, bias, weighted agreement."""
        return self.mean_error[juror], self.bias[juror], self.weighted_agreement[juror]


def juror_levels(sketch: Sketch, by_true_label: Floats | Integers) -> JurorLevels:
    """How far off every juror is, by items (tuples, levels) of each decision tuple by level, believed or known.

    Returns
    -------
    JurorLevels

    Examples
    --------
    >>> from jurors import Votes, grade
    >>> votes = [[1, 1, 2], [2, 2, 3], [3, 3, 3], [2, 2, 2], [1, 1, 1]] * 40
    >>> result = grade(Votes.from_matrix(votes, jurors=["ann", "bob", "cy"], scale="ordinal"), errors="independent")
    >>> result.ordered.bias["cy"] > result.ordered.bias["ann"]
    True
    """
    joint = np.asarray(joint_counts(sketch, np.nan_to_num(by_true_label)), dtype=float)
    off = np.arange(joint.shape[1]) - np.arange(joint.shape[1])[:, None]  # level of the vote less the true one
    cast = joint.sum(axis=(1, 2))
    by_habit = np.einsum("jl,jr,lr->j", joint.sum(axis=2), joint.sum(axis=1), off**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistics = (
            np.einsum("jlr,lr->j", joint, abs(off)) / cast,
            np.einsum("jlr,lr->j", joint, off) / cast,
            1 - np.einsum("jlr,lr->j", joint, off**2) * cast / by_habit,
        )
    known = ([x if np.isfinite(x) else None for x in values.tolist()] for values in statistics)
    return JurorLevels(*(NamedMapping(zip(sketch.jurors, values, strict=True)) for values in known))


def describe_bias(bias: float | None) -> str:
    """A bias in words.

    Returns
    -------
    str

    Examples
    --------
    >>> describe_bias(0.31), describe_bias(-1.2), describe_bias(0.01)
    ('+0.31 lenient', '-1.20 harsh', '+0.01')
    """
    if bias is None:
        return "–"
    word = "" if abs(bias) < _UNBIASED else " lenient" if bias > 0 else " harsh"
    return f"{bias:+.2f}{word}"
