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

What more answers would give takes a model (`majority_forecast`). On each item the juror has a settled answer, the one
to which ever more answers would converge. It may be wrong: how often, the votes of one juror do not show, and no
repetition helps. An item is of a kind (c, s): c is the answer that the juror gives there with probability s, more
often than any other; the others share the rest in proportion to how common they are. The share of each kind is fitted
to all items with repeated answers, without a shape assumed (a mixture on a grid of s, by expectation maximisation from
even shares, with two more items of even shares to keep every kind alive). Two answers an item fix little more than how
often they agree; five show whether some items are wholly open or all of them a little. Where a key is known, what is
right is fitted to the items of each true label by themselves: a juror who is mostly right settles on the truth more
often than its answers alone would show.

Ordered levels: the median level of each item, the expected one and the levels it may be of (`item_levels`); and how
many levels each juror is off, to which side, and how far it follows the truth (`juror_levels`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from math import comb
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Codes, Floats, Integers
from jurors.evaluate.partition import Partition, joint_counts
from jurors.evaluate.solution import NamedMapping
from jurors.options import Label
from jurors.sketch.sketch import Sketch
from jurors.votes.codes import numerals
from jurors.votes.table import Votes, group_rows

Places: TypeAlias = tuple[Integers, NDArray[np.int32]]
MAJORITY_SIZES = (1, 3, 5, 11)  #: how many answers a majority is taken of
ORDINAL_MODELS = ("graded", "flexible")  #: the ordered models, the simpler first
_STEPS, _FEW_STEPS, _MANY = 40, 10, 12  # of s, the fewer where a juror gives many different answers
_ROUNDS, _STILL = 400, 1e-7
_EVEN = 2.0  # items of even shares in addition to the true ones
_NEVER = 1e-300
_DRAWS, _CELLS = 1_000, 1_000_000  # of a kind with three answers or more, at most; of two, majorities are exact
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
    >>> from jurors.evaluate.partition import evaluate_majority
    >>> from jurors.evaluate.partition import partition_by_label
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


# -- majorities of more answers -------------------------------------------------------------------------------------


def majority_forecast(
    counts: Integers, items: Integers, truth: Integers | None = None
) -> tuple[Floats, Floats, Floats]:
    """Majorities of more answers, from counts (patterns, answers) and how many items have each pattern.

    `truth` has the true answer of each pattern, negative where it is unknown.

    Returns
    -------
    settled : (patterns, MAJORITY_SIZES) array
        The probability that the majority is the settled answer.
    right : (patterns, MAJORITY_SIZES) array
        The probability that it is the true one.
    limit : (patterns,) array
        The probability that the settled answer is the true one.

    Examples
    --------
    A juror who gives its settled answer 9 times in 10 on all items, five answers each:

    >>> from math import comb
    >>> counts = np.array([[k, 5 - k] for k in range(6)])
    >>> items = np.array([comb(5, k) * (0.9**k * 0.1 ** (5 - k) + 0.1**k * 0.9 ** (5 - k)) * 1e6 for k in range(6)])
    >>> settled, _, _ = majority_forecast(counts, items)
    >>> (settled.T @ items / items.sum()).round(2).tolist()
    [0.9, 0.97, 0.99, 1.0]
    """
    answer, chances = _kinds((items @ counts).astype(np.float64))
    belief = _fitted(counts, items, chances)
    majority = np.stack([_majorities(chances, times) for times in MAJORITY_SIZES], axis=1)  # kinds x sizes x answers
    settled = majority[np.arange(len(answer)), :, answer]
    right, limit = np.zeros((len(counts), len(MAJORITY_SIZES))), np.zeros(len(counts))
    for label in () if truth is None else np.unique(truth[truth >= 0]).tolist():
        has_label = truth == label  # fitted by themselves: which answer is settled depends on what is true
        by_kind = _fitted(counts[has_label], items[has_label], chances)
        right[has_label], limit[has_label] = by_kind @ majority[:, :, label], by_kind @ (answer == label)
    return belief @ settled, right, limit


def _kinds(votes: Floats) -> tuple[Integers, Floats]:
    """The settled answer of every kind, and the probabilities of all answers."""
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
    """Patterns x kinds: the probability that an item with these answers is of each kind."""
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
    if chances.shape[1] == 1:
        return chances
    if chances.shape[1] == 2:  # more than half of an odd number of times
        first = chances[:, 0]
        more = sum(comb(times, k) * first**k * (1 - first) ** (times - k) for k in range(times // 2 + 1, times + 1))
        return np.stack([more, 1 - more], axis=1)
    draws = min(_DRAWS, _CELLS // chances.size + 1)
    drawn = np.random.default_rng(0).multinomial(times, chances, size=(draws, len(chances)))
    commonest = drawn == drawn.max(axis=2, keepdims=True)
    return np.asarray((commonest / commonest.sum(axis=2, keepdims=True)).mean(axis=0))


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
    settled: NamedMapping  #: juror -> k -> how often the majority of k answers is the settled one
    level: float  #: how sure the intervals are
    #: by a key: juror -> k -> how often the majority of k is right
    right: NamedMapping = field(default_factory=NamedMapping)
    #: by a key: juror -> how often its settled answer is right
    ceiling: NamedMapping = field(default_factory=NamedMapping)

    def to_dict(self) -> dict[str, Any]:
        """By juror, as the JSON has it."""
        names = [part.name for part in fields(self) if part.name != "level"]
        names = names if self.ceiling else names[:-2]  # what is right takes a key
        return {juror: {name: getattr(self, name)[juror] for name in names} for juror in self.agreement}


def self_agreement(votes: Votes, level: float, truth: Integers | None = None) -> SelfAgreement | None:
    """How consistent every juror is that answered items several times.

    Parameters
    ----------
    truth
        The true label of each row, -1 where unknown; with it also how often majorities of answers are right.

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
    levels = len(votes.labels) if votes.scale == "ordinal" else None
    tied = repeats.one_vote(levels) < 0
    table: dict[str, dict[str, Any]] = {}
    for k in np.unique(repeats.juror).tolist():
        here = repeats.juror == k
        known = None if truth is None else truth[repeats.row[here]]
        ties = int(repeats.items[here & tied].sum())
        table[votes.jurors[k]] = {"ties": ties, **_figures(repeats.answers[here], repeats.items[here], known, level)}
    names = table[next(iter(table))]
    parts: dict[str, Any] = {name: NamedMapping((juror, row[name]) for juror, row in table.items()) for name in names}
    return SelfAgreement(level=level, **parts)


def _figures(answers: Codes, items: Integers, truth: Integers | None, level: float) -> dict[str, Any]:
    """The statistics of one juror, from its answers (rows, repeats), items and true labels of rows."""
    labels = np.full(len(answers), -1) if truth is None else truth
    rows, items = group_rows(np.column_stack([labels, answers]), items)  # distinct patterns of answers
    given = np.unique(answers[answers >= 0])
    counts = (rows[:, 1:, None] == given[None, None, :]).sum(axis=1)
    order = np.argsort(-(items @ counts), kind="stable")  # the commonest first, so that names of labels do not matter
    counts = counts[:, order]
    true_answer = np.where(rows[:, 0] < 0, -2, -1)  # -2: not known; -1: an answer that the juror never gave
    for place, label in enumerate(given[order].tolist()):
        true_answer[rows[:, 0] == label] = place
    total = int(items.sum())
    agreement, interval = agreement_with_itself(counts, items, level)
    settled, right, limit = majority_forecast(counts, items, None if truth is None else true_answer)
    figures = {
        "items": total,
        "times": float(items @ counts.sum(axis=1)) / total,
        "agreement": agreement,
        "interval": interval,
        "alpha": _alpha(counts, items),
        "settled": dict(zip(MAJORITY_SIZES, (settled.T @ items / total).tolist(), strict=True)),
    }
    if truth is not None:  # how often right on the items whose true label is known; None where there is none
        known = items * (true_answer > -2)
        shares = [float(known @ x) / float(known.sum()) if known.any() else None for x in (*right.T, limit)]
        figures["right"] = dict(zip(MAJORITY_SIZES, shares[:-1], strict=True))
        figures["ceiling"] = shares[-1]
    return figures


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


def _alpha(counts: Integers, items: Integers) -> float | None:
    """Krippendorff's alpha of a juror with itself."""
    times = counts.sum(axis=1)
    votes = (items[:, None] * counts).sum(axis=0).astype(float)
    total = float(votes.sum())
    by_chance = total**2 - float(votes @ votes)
    if not by_chance:
        return None
    disagreed = float(items @ ((times**2 - (counts**2).sum(axis=1)) / (times - 1)))
    return 1 - disagreed * (total - 1) / by_chance


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

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `ordered`."""
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def row(self, juror: str) -> tuple[Any, Any, Any]:
        """One juror's numbers: mean error, bias, weighted agreement."""
        return self.mean_error[juror], self.bias[juror], self.weighted_agreement[juror]


def juror_levels(partition: Partition) -> JurorLevels:
    """How far off every juror is, by the partition of its items by level.

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
    return levels_beside(partition.sketch, np.nan_to_num(partition.by_true_label))


def levels_beside(sketch: Sketch, by_true_label: Floats | Integers) -> JurorLevels:
    """The same from items (tuples, levels) of each decision tuple by level, believed or known.

    Returns
    -------
    JurorLevels
    """
    joint = np.asarray(joint_counts(sketch, by_true_label), dtype=float)
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
