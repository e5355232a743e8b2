"""Self-agreement, abstention rates, levels."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Codes, Floats, Integers
from jurors.evaluate.partition import Partition, joint_counts
from jurors.evaluate.solution import NamedMapping
from jurors.sketch import Sketch
from jurors.votes import Label, Votes
from jurors.votes.recode import numerals
from jurors.votes.table import aggregate_rows

# How often each juror abstains on items of each true label.
#
# The rate of juror j on label l is Σ n q_l [j abstained] / Σ n q_l [j was asked], q the chance of the label on each
# item. What is unknown of it on these items is which label each has; the variance is
#     Σ n q_l (1 - q_l) ([abstained] - rate)² / (Σ n q_l)²,
# and intervals are normal, as far as a share can be. (Wilson's never hold 0, which is the rate of many.) Of the 123
# raters of DICES-350 the 95% intervals hold 96% of the rates by the experts' key (benchmarks/abstentions.py).


Places: TypeAlias = tuple[Integers, NDArray[np.int32]]


@dataclass(frozen=True)
class AbstentionRates:
    """Juror -> true label -> how often the juror abstains there, with intervals; and how often at all."""

    abstained: NamedMapping  #: juror -> on how many items it abstained
    asked: NamedMapping  #: juror -> on how many items it voted or abstained
    rate: NamedMapping  #: juror -> label -> the share; None where the juror met no item of the label
    interval: NamedMapping  #: juror -> label -> (low, high)

    def to_dict(self) -> dict[str, Any]:
        """By juror, as the JSON has it."""
        return {
            juror: {
                "abstained": self.abstained[juror],
                "asked": self.asked[juror],
                "rate": self.rate[juror],
                "interval": self.interval[juror],
            }
            for juror in self.rate
        }


def abstention_rates(partition: Partition | None, target: str, level: float) -> AbstentionRates | None:
    """The rates by a partition's labels; None where nobody abstained, or where the labels are the majority's claim.

    Examples
    --------
    >>> from jurors.evaluate import evaluate_majority
    >>> from jurors.evaluate.partition import partition_by_label
    >>> from jurors.sketch import Sketch
    >>> from jurors.votes import Votes
    >>> from jurors.votes.table import with_abstentions
    >>> rows = [["a", "a", "a"], ["b", "b", "?"], ["b", "b", "b"], ["a", "a", "a"]]
    >>> sketch = Sketch.from_votes(with_abstentions(Votes.from_matrix(rows, jurors=("ann", "bob", "cy")), "?"))
    >>> rates = abstention_rates(partition_by_label(sketch, evaluate_majority(sketch)), "test", 0.95)
    >>> rates.abstained["cy"], rates.rate["cy"]
    (1, {'a': 0.0, 'b': 0.5})
    """
    away = None if partition is None else partition.sketch.tuples.abstained
    if partition is None or away is None or partition.is_sure_of_itself:
        return None
    sketch = partition.sketch
    spoke = sketch.tuples.triples()[:2]
    rate, low, high = _rates(partition, away, spoke, target == "population", level)
    width, counts = len(sketch.jurors), sketch.counts
    times = [np.bincount(col, counts[row], width).astype(np.int64) for row, col in (away, spoke)]
    return AbstentionRates(
        abstained=NamedMapping(zip(sketch.jurors, times[0].tolist(), strict=True)),
        asked=NamedMapping(zip(sketch.jurors, (times[0] + times[1]).tolist(), strict=True)),
        rate=_named(sketch, rate),
        interval=_named(sketch, np.stack([low, high], axis=-1)),
    )


def _rates(
    partition: Partition, away: Places, spoke: Places, drawn: bool, level: float
) -> tuple[Floats, Floats, Floats]:
    """Rates (N, R) with their ends; `drawn`: the items stand for others."""
    width, counts = len(partition.sketch.jurors), partition.sketch.counts[:, None]
    mass = np.nan_to_num(partition.by_true_label)
    doubt = mass * (1 - np.divide(mass, counts, where=counts > 0, out=np.zeros_like(mass)))
    (gone, said), (gone_open, said_open) = (
        (_by_juror(share, away, width), _by_juror(share, spoke, width)) for share in (mass, doubt)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = gone / (gone + said)
        variance = np.maximum(gone_open * (1 - rate) ** 2 + said_open * rate**2, 0.0) / (gone + said) ** 2
        if drawn:
            variance = variance + rate * (1 - rate) / (gone + said)
    reach = NormalDist().inv_cdf(0.5 + level / 2) * np.sqrt(variance)
    # A share cannot lie outside [0, 1]; an estimate can, and then the interval reaches out to it.
    return rate, np.maximum(rate - reach, np.minimum(rate, 0.0)), np.minimum(rate + reach, np.maximum(rate, 1.0))


def _by_juror(mass: Floats, places: Places, width: int) -> Floats:
    """(N, R): the mass of each label on these (row, juror) places of each juror."""
    row, col = places
    return np.stack([np.bincount(col, label[row], width) for label in mass.T], axis=1)


def _named(sketch: Sketch, values: Floats) -> NamedMapping:
    return NamedMapping((j, _row(sketch.labels, row)) for j, row in zip(sketch.jurors, values.tolist(), strict=True))


def _row(labels: tuple[Label, ...], values: list[Any]) -> NamedMapping:
    known = [None if np.isnan(x).any() else tuple(x) if isinstance(x, list) else x for x in values]
    return NamedMapping(zip(labels, known, strict=True))


# What more answers of one juror would come to: on each item it has a settled answer, and gives it more or less often.
#
# An item is of a kind (c, s): c is the answer that the juror gives there with chance s, more often than any other; the
# others share the rest as they are common. How common each kind is, is fitted to all items that were asked again,
# without a shape assumed (a mixture on a grid of s, by expectation maximisation from even shares, with two more items
# of even shares to keep every kind alive). Two answers an item fix little more than how often they agree; five tell
# whether some items are wholly open or all of them a little. Where a key is known, what is right is fitted to the
# items of each true label by themselves: a juror who is mostly right settles on the truth more often than its answers
# alone would show.


MAJORITY_SIZES = (1, 3, 5, 11)  #: how many answers a majority is taken of
_STEPS, _FEW_STEPS, _MANY = 40, 10, 12  # of s, the fewer where a juror gives many different answers
_ROUNDS, _STILL = 400, 1e-7
_EVEN = 2.0  # items of even shares beside the true ones
_NEVER = 1e-300
_DRAWS, _CELLS = 1_000, 1_000_000  # of a kind with three answers or more, at most; of two, majorities are worked out


@dataclass(frozen=True)
class Settled:
    """Of each pattern of answers, what majorities of more of them would be."""

    settled: Floats  #: patterns x TIMES: the chance that the majority is the settled answer
    right: Floats  #: patterns x TIMES: the chance that it is the true one
    limit: Floats  #: patterns: the chance that the settled answer is the true one


def settle(counts: Integers, items: Integers, truth: Integers | None = None) -> Settled:
    """Majorities to come, of patterns x answers counts; `truth` has the true answer of each, negative where none is.

    Examples
    --------
    A juror who gives its settled answer 9 times in 10 on all items, five answers each:

    >>> from math import comb
    >>> counts = np.array([[k, 5 - k] for k in range(6)])
    >>> items = np.array([comb(5, k) * (0.9**k * 0.1 ** (5 - k) + 0.1**k * 0.9 ** (5 - k)) * 1e6 for k in range(6)])
    >>> likely = settle(counts, items)
    >>> (likely.settled.T @ items / items.sum()).round(2).tolist()
    [0.9, 0.97, 0.99, 1.0]
    """
    answer, chances = _kinds((items @ counts).astype(np.float64))
    belief = _fitted(counts, items, chances)
    majority = np.stack([_majorities(chances, times) for times in MAJORITY_SIZES], axis=1)  # kinds x TIMES x answers
    settled = majority[np.arange(len(answer)), :, answer]
    right, limit = np.zeros((len(counts), len(MAJORITY_SIZES))), np.zeros(len(counts))
    for label in () if truth is None else np.unique(truth[truth >= 0]).tolist():
        mine = truth == label  # fitted by themselves: which answer a juror settles on depends on what is true
        told = _fitted(counts[mine], items[mine], chances)
        right[mine], limit[mine] = told @ majority[:, :, label], told @ (answer == label)
    return Settled(belief @ settled, right, limit)


def _kinds(votes: Floats) -> tuple[Integers, Floats]:
    """The settled answer of every kind, and the chances of all answers."""
    share, size = votes / votes.sum(), len(votes)
    if size == 1:
        return np.zeros(1, dtype=np.int64), np.ones((1, 1))
    steps = _STEPS if size <= _MANY else _FEW_STEPS
    answer = np.repeat(np.arange(size), steps)
    steady = np.tile(np.arange(1, steps + 1) / steps, size)
    chances = (1 - steady)[:, None] * share / (1 - share[answer])[:, None]
    chances[np.arange(len(answer)), answer] = 0.0
    is_settled = steady > chances.max(axis=1)
    chances[np.arange(len(answer)), answer] = steady
    return answer[is_settled], chances[is_settled]


def _fitted(counts: Integers, items: Integers, chances: Floats) -> Floats:
    """Patterns x kinds: how probably an item with these answers is of each kind."""
    fit = counts @ np.log(np.maximum(chances, _NEVER)).T
    fit = np.exp(fit - fit.max(axis=1, keepdims=True))
    even = np.full(len(chances), 1 / len(chances))
    share = even
    for _ in range(_ROUNDS):
        joint = fit * share
        belief = joint / joint.sum(axis=1, keepdims=True)
        before, share = share, (items @ belief + _EVEN * even) / (items.sum() + _EVEN)
        if np.abs(share - before).max() < _STILL:
            break
    return np.asarray(belief)


def _majorities(chances: Floats, times: int) -> Floats:
    """Kinds x answers: how often each is the commonest of so many; where several are, each has its part."""
    if chances.shape[1] <= 2:
        return _of_two(chances, times)
    draws = min(_DRAWS, _CELLS // chances.size + 1)
    drawn = np.random.default_rng(0).multinomial(times, chances, size=(draws, len(chances)))
    commonest = drawn == drawn.max(axis=2, keepdims=True)
    return np.asarray((commonest / commonest.sum(axis=2, keepdims=True)).mean(axis=0))


def _of_two(chances: Floats, times: int) -> Floats:
    """The chance of more than half of an odd number of times."""
    if chances.shape[1] == 1:
        return chances
    from math import comb

    first = chances[:, 0]
    more = sum(comb(times, k) * first**k * (1 - first) ** (times - k) for k in range(times // 2 + 1, times + 1))
    return np.stack([more, 1 - more], axis=1)


# How steady a juror is who was asked several times about one item, and what asking more often would bring.
#
# Of an item with m_c answers c among n, the share of pairs of answers that agree is Σ m_c (m_c - 1) / (n (n - 1)). The
# juror's agreement with itself is the mean over items; its variance is that of the items (answers on one item hang
# together), and the interval is Wilson's for as many free trials as give this variance: fresh items of the same kind.
#
# What more answers would bring takes a model (`settling`). The settled answer on an item is the one to which ever more
# answers would come. It may be wrong: how often, votes of one juror do not tell, and no repetition mends it.


_ROUNDING = 1e-24  # a variance that is as small is none: the items are alike


@dataclass(frozen=True)
class SelfAgreement:
    """Juror -> how steady it is, of those who were asked several times about an item."""

    items: NamedMapping  #: juror -> on how many items it was asked again
    times: NamedMapping  #: juror -> how often on such an item, on average
    ties: NamedMapping  #: juror -> on how many items its answers came to no vote
    agreement: NamedMapping  #: juror -> how often two of its answers on an item agree
    interval: NamedMapping  #: juror -> (low, high)
    alpha: NamedMapping  #: juror -> the same beyond chance (Krippendorff's); None where it gives one answer only
    settled: NamedMapping  #: juror -> k -> how often the majority of k answers is the one that ever more would come to
    level: float  #: how sure the intervals are
    right: NamedMapping = field(
        default_factory=NamedMapping
    )  #: by a key: juror -> k -> how often the majority of k is right
    ceiling: NamedMapping = field(
        default_factory=NamedMapping
    )  #: by a key: juror -> how often its settled answer is right

    def to_dict(self) -> dict[str, Any]:
        """By juror, as the JSON has it."""
        keyed = {"right": self.right, "ceiling": self.ceiling} if self.ceiling else {}
        names = ("items", "times", "ties", "agreement", "interval", "alpha", "settled")
        return {
            juror: {name: part[juror] for name, part in [*((n, getattr(self, n)) for n in names), *keyed.items()]}
            for juror in self.agreement
        }


@dataclass(frozen=True)
class _Asked:
    """What one juror said: distinct answers by item, as counts of each, and how many items have them."""

    counts: Integers  #: patterns x answers
    items: Integers
    truth: Integers | None = None  #: of each pattern the place of the true label; -1: not known, or never said

    @classmethod
    def of(cls, said: Codes, items: Integers, truth: Integers | None = None) -> _Asked:
        """The commonest answer first, so that names of labels do not matter."""
        labels = np.full(len(said), -1) if truth is None else truth
        rows, total = aggregate_rows(np.column_stack([labels, said]), items)
        known = np.unique(said[said >= 0])
        counts = (rows[:, 1:, None] == known[None, None, :]).sum(axis=1)
        order = np.argsort(-(total @ counts), kind="stable")
        right = np.where(rows[:, 0] < 0, -2, -1)  # -1: the juror never said so
        for place, label in enumerate(known[order].tolist()):
            right[rows[:, 0] == label] = place
        return cls(counts[:, order], total, None if truth is None else right)


def self_agreement(votes: Votes, level: float, truth: Integers | None = None) -> SelfAgreement | None:
    """The steadiness of every juror who was asked again; with each row's true label also what repeating is worth.

    Examples
    --------
    >>> from jurors.votes.repeats import merge_numbered_jurors
    >>> rows = [["a", "a", "a"], ["b", "b", "b"], ["a", "b", "b"], ["a", "a", "a"]]
    >>> votes = merge_numbered_jurors(Votes.from_matrix(rows, jurors=("judge_1", "judge_2", "ann")), ["judge"])
    >>> steady = self_agreement(votes, 0.95)
    >>> steady.items["judge"], steady.ties["judge"], steady.agreement["judge"], round(steady.alpha["judge"], 2)
    (4, 1, 0.75, 0.53)
    """
    own = votes.repeats
    if own is None:
        return None
    levels = len(votes.labels) if votes.scale == "ordinal" else None
    tied = own.one_vote(levels) < 0
    table: dict[str, dict[str, Any]] = {}
    for k in np.unique(own.juror).tolist():
        here = own.juror == k
        asked = _Asked.of(own.said[here], own.items[here], None if truth is None else truth[own.row[here]])
        ties = int(own.items[here & tied].sum())
        table[votes.jurors[k]] = {"ties": ties, **_figures(asked, level)}
    names = table[next(iter(table))]
    parts: dict[str, Any] = {name: NamedMapping((juror, row[name]) for juror, row in table.items()) for name in names}
    return SelfAgreement(level=level, **parts)


def _figures(asked: _Asked, level: float) -> dict[str, Any]:
    counts, items = asked.counts, asked.items
    total = int(items.sum())
    agreement, interval = agreement_with_itself(counts, items, level)
    likely = settle(counts, items, asked.truth)
    figures = {
        "items": total,
        "times": float(items @ counts.sum(axis=1)) / total,
        "agreement": agreement,
        "interval": interval,
        "alpha": _alpha(counts, items),
        "settled": dict(zip(MAJORITY_SIZES, (likely.settled.T @ items / total).tolist(), strict=True)),
    }
    if asked.truth is not None:
        figures["right"] = {k: _share(x, asked) for k, x in zip(MAJORITY_SIZES, likely.right.T, strict=True)}
        figures["ceiling"] = _share(likely.limit, asked)
    return figures


def _share(right: Floats, asked: _Asked) -> float | None:
    """How often right on the items whose true label is known; None where there is none."""
    known = asked.items * (asked.truth > -2)  # type: ignore[operator]
    return float(known @ right) / float(known.sum()) if known.any() else None


def agreement_with_itself(counts: Integers, items: Integers, level: float) -> tuple[float, tuple[float, float]]:
    """How often two answers on an item agree, of patterns x answers counts, and Wilson's interval.

    It is for as many trials as give the mean its variance by items.

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


def _alpha(counts: Integers, items: Integers) -> float | None:
    """Krippendorff's alpha of a juror with itself."""
    times = counts.sum(axis=1)
    votes = (items[:, None] * counts).sum(axis=0).astype(float)
    total = float(votes.sum())
    by_chance = total**2 - float(votes @ votes)
    if not by_chance:
        return None
    apart = float(items @ ((times**2 - (counts**2).sum(axis=1)) / (times - 1)))
    return 1 - apart * (total - 1) / by_chance


# Where an item stands among ordered levels: the median level, the expected one, and the levels it may be of.


@dataclass(frozen=True)
class ItemLevels:
    """One entry per item. Levels are positions in the labels, the lowest first; -1 where nothing is known of it."""

    median: Integers  #: the level that is as likely too high as too low
    expected: Floats  #: in the labels' own numbers where they are numbers, else counted from 1; NaN where not known
    low: Integers  #: the interval: with half of what is missing to the level below it …
    high: Integers  #: … and half above

    def take(self, which: Any) -> ItemLevels:
        """Those of these items."""
        return ItemLevels(*(getattr(self, part.name)[which] for part in fields(self)))

    def settled(self, known: Integers, labels: tuple[Label, ...]) -> ItemLevels:
        """The same with the levels that are known (0 or more)."""
        given = known >= 0
        parts = (np.where(given, known, part) for part in (self.median, self.low, self.high))
        median, low, high = parts
        return ItemLevels(median, np.where(given, level_values(labels)[known], self.expected), low, high)


def item_levels(partition: Partition, level: float = 0.95) -> ItemLevels:
    """The levels of each tuple's items, by the partition of the items by level.

    An interval holds at least `level` of the chance: it runs from the lowest level below which no more than half of the
    rest lies to the highest above which no more than that lies. A label without a probability has no levels, either.
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

    >>> level_values((0, 5, 10)).tolist(), level_values(("poor", "fair", "good")).tolist()
    ([0.0, 5.0, 10.0], [1.0, 2.0, 3.0])
    """
    own = numerals(labels).sizes
    return np.array([k + 1 if None in own else x for k, x in enumerate(own)], dtype=np.float64)


# What order adds to a juror's grades: how many levels it is off, to which side, and how far it follows the truth.


ORDINAL_MODELS = ("graded", "eased")  #: the ordered models, the simpler first
_JUROR_LEVELS_EVEN = 0.05  # levels: a bias that is smaller is called none


@dataclass(frozen=True)
class JurorLevels:
    """Each juror's votes beside the levels that items are believed to have; None for a juror without votes."""

    mean_error: NamedMapping  #: juror -> how many levels its votes are off, on average
    bias: NamedMapping  #: juror -> how many levels its votes lie above the truth, on average; below it: negative
    weighted_agreement: NamedMapping  #: juror -> Cohen's kappa with the truth, errors weighed by their square

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
            _juror_levels_named(jurors, np.einsum("jlr,lr->j", joint, abs(off)) / cast),
            _juror_levels_named(jurors, np.einsum("jlr,lr->j", joint, off) / cast),
            _juror_levels_named(jurors, 1 - np.einsum("jlr,lr->j", joint, off**2) * cast / by_habit),
        )


def _juror_levels_named(jurors: tuple[str, ...], values: Floats) -> NamedMapping:
    return NamedMapping((j, x if np.isfinite(x) else None) for j, x in zip(jurors, values.tolist(), strict=True))


def describe_bias(bias: float | None) -> str:
    """A bias in words.

    >>> describe_bias(0.31), describe_bias(-1.2), describe_bias(0.01)
    ('+0.31 lenient', '-1.20 harsh', '+0.01')
    """
    if bias is None:
        return "–"
    word = "" if abs(bias) < _JUROR_LEVELS_EVEN else " lenient" if bias > 0 else " harsh"
    return f"{bias:+.2f}{word}"
