"""`systems`: which of several systems is better, by a panel of judges whose errors are shared.

Votes on items of several systems (models, prompts, releases) come in; each system's rate of the good label, the
differences of all pairs and a ranking in tiers go out.

**Without gold.** A system's rate is the mean share of votes for the good label. Its error is a shift b that all systems
share and a shift d of its own, which more items do not narrow. Both are predicted from what the votes show,

    sd(b) = .410 (spread + .02)^.70,      sd(d) = .294 (interaction + .02)^.58,

where `spread` is the standard deviation of the judges' rates of the good label and `interaction` that of what a judge
gives one system beyond both their means, without the noise of sampling. v is what stays unknown about the labels of the
items. A rate has the variance sd(b)² + sd(d)² + v, a difference 2 sd(d)² + v + v': the common shift cancels.

**With gold.** Each gold item of system s shows b + d_s and noise. The posterior of b and all d is normal.

**An order** is settled where the difference is beyond chance over all pairs at once, the judges are informative and no
alarm is raised; leaning where only its own interval excludes 0. Systems are in different tiers where every order
between the tiers is settled (docs/guides/systems.md; `benchmarks/systems.py` measures all of this).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from statistics import NormalDist
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Floats
from jurors.errors import OptionError, match_name
from jurors.evaluate.alarms import Alarm
from jurors.evaluate.card import WIDTH, percent, percent_range, short_alarm_lines
from jurors.evaluate.consistency import level_values
from jurors.evaluate.evaluation import Evaluation
from jurors.evaluate.partition import majority_shares
from jurors.jury.grade import grade_rows
from jurors.jury.groups import votes_and_groups
from jurors.jury.inputs import CountedVotes
from jurors.options import Grading, Label, SourceOptions
from jurors.results import Block, Columns, Notes, Result, Table, columns_of
from jurors.votes.codes import ordered_labels
from jurors.votes.key import as_key
from jurors.votes.table import Votes

Order: TypeAlias = Literal["settled", "leaning", "not settled"]

_COMMON, _COMMON_POWER = 0.410, 0.70  # sd of the shift that all systems share, by the spread of judges' rates
_OWN, _OWN_POWER = 0.294, 0.58  # sd of a system's own shift, by the interaction of judges and systems
_FLOOR = 0.02
_MOST_ALARM_LINES = 4
_FEWEST_ITEMS = 10  # with fewer, a system is shown but not ranked
_LEAST_NOISE = 0.02  # variance of one gold item's error
_GOOD_WORDS = ("pass", "passed", "yes", "true", "correct", "right", "good", "satisfied", "safe", "win", "1")
_INFORMATIVE = 0.5  # share of the judges that must be better than a constant answer before an order is settled


@dataclass(frozen=True, slots=True)
class SystemRate:
    """How often a system is good; of ordered levels, its mean level."""

    rate: float
    low: float
    high: float
    items: int
    raw: float  #: by majority vote; of levels, the mean of the votes
    gold: int = 0  #: items with a known label


@dataclass(frozen=True, slots=True)
class SystemDifference:
    """By how much one system is better than another."""

    a: str
    b: str
    difference: float
    low: float
    high: float
    paired: bool  #: whether they answered the same questions
    order: Order
    chance: float  #: that a is better than b


@dataclass(frozen=True, eq=False, kw_only=True)
class SystemComparison(Result):
    """Each system's rate, the differences of all pairs, and the ranking in tiers."""

    good: Label | None  #: the label that is counted; None of ordered levels
    systems: Mapping[str, SystemRate]
    differences: tuple[SystemDifference, ...]
    ranking: tuple[tuple[str, ...], ...]  #: tiers, the best first
    level: float
    judges: int
    common_sd: float  #: of the shift that all systems share
    own_sd: float  #: of a system's own shift
    alarms: tuple[Alarm, ...] = ()
    reasons: tuple[str, ...] = field(default=())  #: why no order is settled, where the panel is the reason

    _kind = "systems"
    _version = 1

    def _document(self) -> dict[str, Any]:
        return {
            "good": self.good,
            "level": self.level,
            "judges": self.judges,
            "systems": {name: asdict(rate) for name, rate in self.systems.items()},
            "differences": [asdict(difference) for difference in self.differences],
            "ranking": self.ranking,
            "common_sd": self.common_sd,
            "own_sd": self.own_sd,
            "alarms": self.alarms,
        }

    def _columns(self) -> Columns:
        tier = {name: k for k, names in enumerate(self.ranking, 1) for name in names}
        names = ("system", "rate", "low", "high", "items", "raw", "gold", "tier")
        rows = [
            (name, x.rate, x.low, x.high, x.items, x.raw, x.gold, tier.get(name)) for name, x in self.systems.items()
        ]
        return columns_of(names, rows)

    def _blocks(self, *, full: bool = False, **_: Any) -> list[Block]:
        shown = percent if self.good is not None else _level_text
        ends = percent_range if self.good is not None else _level_range
        tier = {name: k for k, names in enumerate(self.ranking, 1) for name in names}
        what = f"rate of {self.good}" if self.good is not None else "mean level"
        heads = ("tier", "system", what, f"{self.level * 100:g}%", "raw", "items")
        rows = tuple(
            (str(tier.get(name, "–")), name[:36], shown(x.rate), ends((x.low, x.high)), shown(x.raw), f"{x.items:,}")
            for name, x in self.systems.items()
        )
        head = f"{len(self.systems)} systems, {self.judges} judges"
        alarms = short_alarm_lines(self.alarms, _MOST_ALARM_LINES, {})
        folded = [Notes(lines, width=WIDTH, hanging="  ") for lines in (alarms, self.sentences()) if lines]
        blocks: list[Block] = [head, *folded]
        blocks.append(Table(heads, rows, right=(2, 3, 4, 5)))
        if full or len(self.systems) <= 4:
            pairs = tuple(
                (f"{d.a} - {d.b}"[:44], _points(d.difference, self.good), _points_range(d, self.good), d.order)
                for d in self.differences
            )
            blocks.append(Table(("difference", "", f"{self.level * 100:g}%", "order"), pairs, right=(1, 2)))
        return blocks

    def sentences(self) -> list[str]:
        """The answer, and why it is no more certain.

        Returns
        -------
        list of str
        """
        settled = sum(d.order == "settled" for d in self.differences)
        if len(self.ranking) > 1 and len(self.ranking[0]) == 1:
            lines = [f"{self.ranking[0][0]} is the best."]
        elif len(self.ranking) > 1:
            lines = [f"{_names(self.ranking[0])} are better than the others."]
        else:
            lines = ["No system is settled as the best."]
        lines[0] += f" {settled} of {len(self.differences)} orders are settled."
        if self.reasons:
            lines.append(f"Nothing is settled because {' and '.join(self.reasons)}.")
        gold = sum(rate.gold for rate in self.systems.values())
        if settled < len(self.differences) and gold < 50:
            lines.append(
                "Most of the uncertainty is bias that the judges share: more items do not narrow it, gold does."
            )
        return lines


def systems(
    source: Any,
    *,
    by: Any,
    good: Label | None = None,
    gold: Any = None,
    level: float = Grading.level,
    **reading: Unpack[SourceOptions],
) -> SystemComparison:
    """Compare systems by the judges' votes on their answers.

    Parameters
    ----------
    source
        Votes as in `grade`: each item is one system's answer.
    by
        The system of each item: the column that names it, one system per row, or a mapping from item to system.
    good
        The label to count, such as "pass". By default a label that means so; ordered levels need none.
    gold
        A few items with their true labels, as in `grade`.
    level
        Confidence of the intervals.

    Returns
    -------
    SystemComparison

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([True, False, True, False], [160, 40, 90, 110])
    >>> votes = np.where((rng.random((400, 3)) < 0.9) == truth[:, None], "pass", "fail")
    >>> result = systems(votes, by=["new"] * 200 + ["old"] * 200)
    >>> list(result.systems), result.differences[0].difference > 0.2
    (['new', 'old'], True)
    """
    Grading(level=level)  # a level of 95 is refused at once
    votes, groups, _ = votes_and_groups(source, by, "system", reading)
    names = ordered_labels(group for group in groups.tolist() if group is not None)
    if len(names) < 2:
        found = f"only {names[0]!r}" if len(names) else "none"
        raise OptionError(f"by= must name at least two systems; the votes have {found}", name="by")
    _label_values(votes, good)  # raises before the work
    evaluation, counted, known = grade_rows(votes, level=level, gold=None if gold is None else as_key(gold, votes))
    values, good = _label_values(counted.votes, good)
    return _compare(evaluation, counted, known, groups, [str(name) for name in names], values, good, level)


def _label_values(votes: Votes, good: Label | None) -> tuple[Floats, Label | None]:
    """What each label counts: 1 for the good one and 0 for others, or the value of an ordered level."""
    if votes.scale == "ordinal" and good is None:
        return level_values(votes.labels), None
    if good is None:
        words = {str(label).casefold(): label for label in votes.labels}
        good = next((words[word] for word in _GOOD_WORDS if word in words), None)
        if good is None:
            raise OptionError(f"good= must name the label that counts, one of {', '.join(map(str, votes.labels))}")
    good = match_name(good, votes.labels, "label")
    return np.array([float(label == good) for label in votes.labels]), good


def _compare(
    evaluation: Evaluation, counted: CountedVotes, known: Any, groups: NDArray[Any], names: list[str], values: Floats,
    good: Label | None, level: float,
) -> SystemComparison:  # fmt: skip
    votes, unit = counted.votes, float(np.ptp(values)) or 1.0
    lowest, scaled = float(values.min()), (values - values.min()) / unit  # rates from 0 to 1
    group_names = np.array([None if g is None else str(g) for g in groups.tolist()], dtype=object)
    place, size = {name: k for k, name in enumerate(names)}, len(names)
    system = np.array([place.get(g, -1) for g in group_names.tolist()])
    row, juror, code = votes.triples()
    cast = np.bincount(row, minlength=votes.rows)
    share = np.bincount(row, weights=scaled[code], minlength=votes.rows) / np.maximum(cast, 1)
    weight: Floats = votes.weights.astype(float) * (cast > 0) * (system >= 0)

    def total(values: Floats | float, at: Any = None) -> Floats:
        """Sum over the items of each system, or over those of them that `at` selects."""
        chosen = system >= 0 if at is None else at
        return np.asarray(np.bincount(system[chosen], (weight * values)[chosen], size), dtype=np.float64)

    # what stays unknown about each item's own label
    partition, doubt = evaluation.partition, share * (1 - share)
    if partition is not None:
        with np.errstate(divide="ignore", invalid="ignore"):
            posterior = (partition.by_true_label / partition.sketch.counts[:, None])[counted.tuple_of_row]
        mean = posterior @ scaled
        of_label = posterior @ scaled**2 - mean**2
        doubt = np.where(np.isfinite(of_label), np.maximum(of_label, 0.0), doubt)
    is_gold = np.zeros(votes.rows, dtype=bool) if known is None else np.asarray(known) >= 0
    doubt = np.where(is_gold, 0.0, doubt)
    items = total(1.0)
    safe = np.maximum(items, 1.0)
    rate, unknown = total(share) / safe, total(doubt) / safe**2
    by_majority = majority_shares(counted.sketch)[counted.tuple_of_row] @ scaled  # a tie counts half
    raw = rate if good is None else total(by_majority) / safe
    spread, interaction = _judge_spread(row, juror, scaled[code], system, votes.weights, len(votes.jurors), size)
    common, own = _COMMON * (spread + _FLOOR) ** _COMMON_POWER, _OWN * (interaction + _FLOOR) ** _OWN_POWER
    bias, covariance = np.zeros(size), np.full((size, size), common**2) + own**2 * np.eye(size)
    golden = np.zeros(size, dtype=int)
    if is_gold.any():
        truth = scaled[np.where(is_gold, np.asarray(known), 0)]
        at = is_gold & (system >= 0) & (cast > 0)
        golden = np.bincount(system[at], minlength=size)
        bias, covariance = _bias_given_gold((share - truth)[at], system[at], covariance)
        left = 1 - total(1.0, at) / safe  # the share of items whose label is not known
        rate, covariance = rate + total(truth - share, at) / safe - bias * left, covariance * np.outer(left, left)
    order = np.argsort(-rate, kind="stable")
    z = NormalDist().inv_cdf(0.5 + level / 2)
    half = z * np.sqrt(np.diag(covariance) + unknown)
    low, high = np.maximum(rate - half, 0.0), np.minimum(rate + half, 1.0)
    rates = {
        names[k]: SystemRate(
            rate=lowest + unit * float(rate[k]), low=lowest + unit * float(low[k]), high=lowest + unit * float(high[k]),
            items=int(items[k]), raw=lowest + unit * float(raw[k]), gold=int(golden[k]),
        )
        for k in order
    }  # fmt: skip
    reasons = _why_nothing_is_settled(evaluation)
    ranked = [k for k in order.tolist() if items[k] >= _FEWEST_ITEMS]
    questions = _questions(votes, group_names, names)
    pairs = list(combinations(order.tolist(), 2))
    strict = NormalDist().inv_cdf(1 - (1 - level) / 2 / max(len(list(combinations(ranked, 2))), 1))
    differences = []
    for a, b in pairs:
        gap = float(rate[a] - rate[b])
        error = float(np.sqrt(covariance[a, a] + covariance[b, b] - 2 * covariance[a, b] + unknown[a] + unknown[b]))
        is_ranked = a in ranked and b in ranked
        settled: Order = "not settled"
        if abs(gap) > strict * error and is_ranked and not reasons:
            settled = "settled"
        elif abs(gap) > z * error and is_ranked:
            settled = "leaning"
        of_a, of_b = questions.get(names[a], set()), questions.get(names[b], set())
        paired = bool(of_a & of_b) and 2 * len(of_a & of_b) >= min(len(of_a), len(of_b))
        differences.append(
            SystemDifference(
                names[a],
                names[b],
                unit * gap,
                unit * (gap - z * error),
                unit * (gap + z * error),
                paired,
                settled,
                NormalDist().cdf(gap / error) if error > 0 else float(gap > 0),
            )
        )
    return SystemComparison(
        good=good, systems=rates, differences=tuple(differences),
        ranking=_tiers([names[k] for k in ranked], differences), level=level, judges=len(votes.jurors),
        common_sd=unit * common, own_sd=unit * own,
        alarms=tuple(alarm for alarm in evaluation.alarms if alarm.level != "note"), reasons=reasons,
    )  # fmt: skip


def _judge_spread(
    row: NDArray[Any], juror: NDArray[Any], value: Floats, system: NDArray[Any], weights: NDArray[Any], jurors: int,
    size: int,
) -> tuple[float, float]:  # fmt: skip
    """The standard deviations of the judges' rates, and of judge by system without sampling noise."""
    at = system[row] >= 0
    cell, weight = juror[at].astype(np.int64) * size + system[row][at], weights[row][at].astype(float)
    shape = (jurors, size)
    votes = np.bincount(cell, weights=weight, minlength=jurors * size).reshape(shape)
    total = np.bincount(cell, weights=weight * value[at], minlength=jurors * size).reshape(shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        judge_rate = total.sum(axis=1) / votes.sum(axis=1)
        rate = total / votes
        noise = rate * (1 - rate) / votes
    spread = float(np.nanstd(judge_rate, ddof=1)) if np.isfinite(judge_rate).sum() > 1 else 0.0
    complete = np.isfinite(rate).all(axis=1)
    rate, noise = rate[complete], noise[complete]
    judges = len(rate)
    if judges < 2 or size < 2:
        return spread, 0.0
    left = rate - rate.mean(axis=1, keepdims=True) - rate.mean(axis=0, keepdims=True) + rate.mean()
    variance = (left**2).sum() / ((judges - 1) * (size - 1)) - noise.mean()
    return spread, float(np.sqrt(max(variance, 0.0)))


def _bias_given_gold(errors: Floats, system: NDArray[Any], prior: Floats) -> tuple[Floats, Floats]:
    """The posterior mean (S,) and covariance (S, S) of each system's shift, from vote shares minus true values."""
    size = len(prior)
    counts = np.bincount(system, minlength=size).astype(float)
    sums = np.bincount(system, weights=errors, minlength=size)
    centred = errors - (sums / np.maximum(counts, 1.0))[system]
    freedom = max(len(errors) - int((counts > 0).sum()), 1)
    noise = max(float((centred**2).sum()) / freedom if len(errors) > 2 else 0.0, _LEAST_NOISE)
    precision = np.linalg.inv(prior) + np.diag(counts) / noise
    covariance = np.linalg.inv(precision)
    return np.asarray(covariance @ (sums / noise)), np.asarray(covariance)


def _why_nothing_is_settled(evaluation: Evaluation) -> tuple[str, ...]:
    """Why the panel itself keeps an order from being settled; empty where it does not."""
    reasons = []
    if any(alarm.level == "alarm" for alarm in evaluation.alarms):
        reasons.append("an alarm is raised about the judges")
    informative = len(evaluation.jurors) - len(evaluation.ranking.uninformative)
    if not evaluation.exam and informative < _INFORMATIVE * len(evaluation.jurors):
        reasons.append("too few judges are known to do better than a constant answer")
    return tuple(reasons)


def _questions(votes: Votes, groups: NDArray[Any], names: Sequence[str]) -> dict[str, set[str]]:
    """The questions that each system answered: an item's name without the system's; empty where items have no names."""
    if votes.items is None:
        return {}
    found: dict[str, set[str]] = {name: set() for name in names}
    for item, group in zip(votes.item_names().tolist(), groups.tolist(), strict=True):
        if group is not None:
            found[group].add(str(item).replace(group, "", 1))
    return found


def _tiers(ranked: Sequence[str], differences: Sequence[SystemDifference]) -> tuple[tuple[str, ...], ...]:
    """Cut the ranking wherever every system above is settled against every system below."""
    settled = {frozenset((d.a, d.b)) for d in differences if d.order == "settled"}
    tiers: list[list[str]] = [[]]
    for k, name in enumerate(ranked):
        above, below = ranked[:k], ranked[k:]
        if k and all(frozenset((a, b)) in settled for a in above for b in below):
            tiers.append([])
        tiers[-1].append(name)
    return tuple(tuple(tier) for tier in tiers if tier)


def _level_text(value: float) -> str:
    return f"{value:.2f}"


def _level_range(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.2f} – {ends[1]:.2f}"


def _points(value: float, good: Label | None) -> str:
    return f"{value:+.2f}" if good is None else f"{value * 100:+.0f} points"


def _points_range(difference: SystemDifference, good: Label | None) -> str:
    if good is None:
        return f"{difference.low:+.2f} – {difference.high:+.2f}"
    return f"{difference.low * 100:+.0f} – {difference.high * 100:+.0f}"


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else names[0]
