"""Gold forecasts, active learning, paired change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from jurors._numeric import Floats, Integers
from jurors.evaluate import Alarm, Evaluation, KeyedEvaluation
from jurors.evaluate.evaluation import Calibrated
from jurors.evaluate.partition import majority_shares
from jurors.evaluate.solution import is_number
from jurors.uncertainty.alarms import actual_scores, binomial_error, votes_of
from jurors.uncertainty.calibrate import LEAST_RHO, FitNoise, calibrate, drawn_scenarios, quantile, spread_shares
from jurors.uncertainty.reference import Population
from jurors.uncertainty.scenarios import (
    DRAWS,
    JuryVotes,
    Scenarios,
    add_label_juror,
    answer_spread,
    prior_scenarios,
    temper_posteriors,
)

# Gold forecasts, active learning, paired change.


# How far gold items would narrow the scores, before anybody has labelled one.
#
# Gold items as they are to be expected (of every tuple its share, by true label as the jury's calibrated posterior has
# it) are given to the very calibration that real ones would be given to. On six real juries the mean half width that 20
# or 100 gold items left, drawn at random, was off by 1 to 5 points, to either side (benchmarks/gold_widths.py).


_MOST_CELLS = 400  # posteriors that are enough to foretell a width


@dataclass(frozen=True)
class GoldForecast:
    """All that `calibrate` was given, and the posterior it gave: what widths are foretold from."""

    jury: JuryVotes
    population: Population
    rho: float | None
    gold: Floats | None
    posterior: Floats  #: (T, R) calibrated
    noise: FitNoise
    level: float

    def half_widths(self, gold_items: int) -> Floats:
        """(N,) the ± of every score, were so many more items gold; NaN where that cannot be told."""
        jury, posterior = self.jury, self.posterior
        if posterior.size > _MOST_CELLS:
            if self.gold is not None:  # a sample of tuples would lose the few items that are known
                return np.full(jury.jurors, np.nan)
            jury, at = _sampled(jury)
            posterior = posterior[at]
        free = jury.weights if self.gold is None else jury.weights - self.gold.sum(axis=1)
        share = min(gold_items / max(float(free.sum()), 1.0), 1.0)
        gold = share * free[:, None] * posterior
        if self.gold is not None:
            gold += self.gold
        spread = answer_spread(self.jury)
        shares = calibrate(jury, self.population, rho=self.rho, gold=gold, noise=self.noise, spread=spread)
        ends = shares.interval(self.level)["score"]
        return np.asarray((ends[:, 1] - ends[:, 0]) / 2)


def _sampled(jury: JuryVotes) -> tuple[JuryVotes, Integers]:
    """Every so many-th item stands for those before it: fewer tuples, as many items; and which tuples these are."""
    total, count = float(jury.weights.sum()), max(_MOST_CELLS // jury.labels, 2)
    points = (np.arange(count) + 0.5) * (total / count)
    at, times = np.unique(np.searchsorted(np.cumsum(jury.weights), points), return_counts=True)
    is_kept = np.zeros(len(jury.weights), dtype=np.bool_)
    is_kept[at] = True
    kept = np.flatnonzero(is_kept[jury.row])
    weights: Floats = times.astype(np.float64) * (total / count)
    part = replace(
        jury, posterior=jury.posterior[at], weights=weights, voices=jury.voices[at],
        row=np.searchsorted(at, jury.row[kept]), juror=jury.juror[kept], label=jury.label[kept],
    )  # fmt: skip
    return part, at


# How often labellings are wrong, as real juries go: each is graded as one more juror whose votes prove nothing.


@dataclass(frozen=True, eq=False)
class Labellings:
    """All that calibrated the jurors, to judge labels of the same tuples by it."""

    jury: JuryVotes
    population: Population
    rho: float | None
    gold: Floats | None
    rivals: Sequence[Floats]
    noise: FitNoise
    level: float

    def wrong(self, chosen: Sequence[Integers]) -> list[tuple[float, tuple[float, float]]]:
        """The share of wrong labels of each labelling (a label for each tuple), with its interval.

        Gold items keep the label of the labelling: it is judged by them, not mended.
        """
        jury = self.jury
        for labels in chosen:
            jury = add_label_juror(jury, labels)
        shares = calibrate(
            jury, self.population, rho=self.rho, gold=self.gold, rivals=self.rivals,
            noise=_with_silence(self.noise, len(chosen)), spread=answer_spread(self.jury),
        )  # fmt: skip
        first = self.jury.jurors
        ends = shares.interval(self.level)["score"][first:].tolist()
        scores = shares.score[first:].tolist()
        return [(1 - score, (1 - high, 1 - low)) for score, (low, high) in zip(scores, ends, strict=True)]


def _with_silence(noise: FitNoise, labellings: int) -> FitNoise:
    """The noise of the fit, of which a labelling has none of its own."""
    accuracy, score = (_and_zeros(part, labellings) for part in (noise.accuracy, noise.score))
    return FitNoise(noise.prevalence, accuracy, score)


def _and_zeros(part: Floats | float, more: int) -> Floats | float:
    return part if isinstance(part, float) else np.concatenate([part, np.zeros((more, *part.shape[1:]))])


# What a person's label of one more item would teach: how many labels fewer are wrong, its own and those of others.
#
# The label settles its own item. And it tells scenarios of shared error and slant apart: those that expected it weigh
# more,
#
#     w_k ∝ q_tk[y],      Q_u(y) = Σ_k w_k q_uk,
#
# and where that changes the best label of other items, fewer of them are wrong: mostly many items with the same votes.


_MOST_STEPS = 1e9  # multiplications; where tuples are many, fewer of them are asked what they teach of others
_FEWEST_ASKED, _MOST_ASKED = 20, 400
_BLOCK = 2_000  # tuples at a time,
_STRIP = 128  # of which so many are asked about by all others at a time: tables that stay in the processor's cache


@dataclass(frozen=True, eq=False)
class LabelInformation:
    """By tuple, what the label of one of its items teaches."""

    own: Floats  #: how probably the item's own label is wrong
    others: Floats  #: how many labels fewer of all other items are expected to be wrong
    items: Integers  #: how many items have the tuple


def label_information(
    jury: JuryVotes, population: Population, *, rho: float | None = None, gold: Floats | None = None,
    rivals: list[Floats] | None = None,
) -> LabelInformation:  # fmt: skip
    """What labels teach, by tuple; arguments as in `calibrate`."""
    odds, drawn = drawn_scenarios(jury, population, rho=rho, gold=gold, rivals=rivals or [])
    known = 0.0 if gold is None else gold.sum(axis=1)
    left = np.maximum(jury.weights - known, 0.0)
    mean = np.concatenate([q.mean(axis=2) for q in _in_blocks(jury, odds, drawn)])
    own = 1.0 - mean.max(axis=1)
    asked = _asked(own, left, jury.labels)
    others = np.zeros(len(own))
    others[asked] = _of_others(jury, odds, drawn, asked, mean, left)
    return LabelInformation(own, others, np.rint(left).astype(np.int64))


def _asked(own: Floats, left: Floats, labels: int) -> Integers:
    """The tuples whose items may teach most: half of them doubtful ones, half those of many doubtful items."""
    room = _MOST_STEPS / (labels**2 * len(own) * DRAWS)
    most = int(np.clip(room, _FEWEST_ASKED, _MOST_ASKED))
    open_ = np.where(left > 0, own, -1.0)
    return np.union1d(np.argsort(-open_)[: most // 2], np.argsort(-open_ * left)[: most // 2])


def _of_others(
    jury: JuryVotes, odds: list[Floats], drawn: Scenarios, asked: Integers, mean: Floats, left: Floats
) -> Floats:
    """Σ_u items_u (Σ_y max_l mean_k q_tk[y] q_uk[l] - max_l mean_k q_uk[l]), the item itself left out."""
    by = _posteriors(jury, odds, drawn, asked).reshape(len(asked) * jury.labels, DRAWS) / DRAWS
    total, start = np.zeros(len(asked)), 0
    for block in _in_blocks(jury, odds, drawn):
        for q in (block[k : k + _STRIP] for k in range(0, len(block), _STRIP)):
            end = start + len(q)
            gain = _gain(by, q, mean[start:end])
            total += gain @ left[start:end]
            own = np.flatnonzero((asked >= start) & (asked < end))
            total[own] -= gain[own, asked[own] - start] * np.minimum(left[asked[own]], 1.0)
            start = end
    return total


def _gain(by: Floats, q: Floats, mean: Floats) -> Floats:
    """(asked, tuples): by how much an item of each tuple is labelled better after a label of each asked one."""
    labels = q.shape[1]
    likeliest = by @ q[:, 0].T
    last = by.sum(axis=1)[:, None] - likeliest  # the labels' chances add up to one
    for label in range(1, labels - 1):  # a maximum over a short last axis takes four times as long
        each = by @ q[:, label].T
        last -= each
        np.maximum(likeliest, each, out=likeliest)
    np.maximum(likeliest, last, out=likeliest)
    gain = likeliest.reshape(-1, labels, len(q)).sum(axis=1)
    gain -= mean.max(axis=1)
    return np.asarray(np.maximum(gain, 0.0, out=gain))


def _in_blocks(jury: JuryVotes, odds: list[Floats], drawn: Scenarios) -> Iterator[Floats]:
    tuples = np.arange(len(jury.weights))
    return (_posteriors(jury, odds, drawn, tuples[k : k + _BLOCK]) for k in range(0, len(tuples), _BLOCK))


def _posteriors(jury: JuryVotes, odds: list[Floats], drawn: Scenarios, at: Integers) -> Floats:
    """(tuples, R, DRAWS): the posterior of these tuples in every scenario."""
    q = np.empty((len(at), jury.labels, DRAWS))
    method = drawn.method[:DRAWS]
    for k in np.unique(method):
        which = np.flatnonzero(method == k)
        q[:, :, which] = temper_posteriors(odds[k][at], jury.voices[at], drawn.log_rho[which], drawn.slant[which])
    return q


# How far a juror became better or worse between two runs on the same items, as real juries go.
#
# Where a juror says the same twice, nothing changed, whatever the truth is: only the items on which it changed its vote
# count, and what is uncertain is who was right on those,
#
#     change = Σ (q_i[now] - q_i[before]) / items,
#
# with q_i calibrated from both runs alike (the mean of their log-odds), so that trading the runs turns the sign. Its
# scenarios are those of `calibrate`: shared error, slant, labels still unknown, and the juror's own deviation and the
# noise of the fit, whose parts on a share c of the items have 1 / c times their variance. It never leaves [-c, c].
#
# Measured by replacing a juror by another, 90 times in 26 real juries: 90% intervals held 80% of the changes.


_PAIRED_BLOCK = 20_000  # posteriors whose scenarios are held at once


@dataclass(frozen=True)
class PairedRuns:
    """Items that both runs have, by the votes of both; -1 is no vote."""

    odds: Floats  #: (U, R) mean of both runs' log-odds
    voices: Floats  #: (U,)
    weights: Floats  #: (U,) how many items
    now: Integers  #: (U, N) what each juror says
    before: Integers  #: (U, N)
    noise: Floats  #: (N,) variance of both runs' scores from the sampling of items


@dataclass(frozen=True)
class PairedChange:
    """How much better (or worse) a juror became."""

    value: float
    interval: tuple[float, float]
    items: int  #: voted on in both runs
    changed: int  #: on which the vote is another


def scenarios_of(
    population: Population, labels: int, *, rho: float | None, spread: float, known: tuple[float, float] | None
) -> Scenarios:
    """The scenarios of both runs; `known` are the mean and standard deviation of log rho where gold told of it."""
    if rho is not None:
        return prior_scenarios(float(np.log(max(rho, LEAST_RHO))), 0.0, population.slant, labels)
    center, sd = population.shared_error(spread) if known is None else known
    return prior_scenarios(center, sd, population.slant, labels, population.independent if known is None else 0.0)


def paired_change(
    runs: PairedRuns, juror: int, drawn: Scenarios, deviation: float, level: float
) -> PairedChange | None:
    """The change of one juror; None where no item has its vote in both runs."""
    now, before = runs.now[:, juror], runs.before[:, juror]
    items = float(runs.weights[(now >= 0) & (before >= 0)].sum())
    at = np.flatnonzero((now >= 0) & (before >= 0) & (now != before))
    changed = float(runs.weights[at].sum())
    if not items or not changed:
        return PairedChange(0.0, (0.0, 0.0), int(items), 0) if items else None
    gain, doubt = _gains(runs, at, now[at], before[at], drawn)
    share = (gain / changed + 1.0) / 2.0  # of the changed items, on the way from all lost to all won
    mean = float(share[:DRAWS].mean())
    part = changed / items
    own = (4.0 * mean * (1.0 - mean) * deviation**2 + float(runs.noise[juror]) / 4.0) / part
    values = spread_shares(share[None, :DRAWS], np.array([doubt / (4.0 * changed**2) + own]))[0]
    ends = [float(quantile(values, tail)) for tail in (0.5 - level / 2, 0.5 + level / 2)]
    low, high, value = ((2.0 * x - 1.0) * changed / items for x in (*ends, float(share[DRAWS:].mean())))
    return PairedChange(value, (low, high), round(items), round(changed))


def _gains(runs: PairedRuns, at: Integers, now: Integers, before: Integers, drawn: Scenarios) -> tuple[Floats, float]:
    """By scenario, how many items were won less those lost; and the variance that unknown labels leave."""
    gain, doubt = np.zeros(len(drawn.log_rho)), 0.0
    for start in range(0, len(at), _PAIRED_BLOCK):
        part = slice(start, start + _PAIRED_BLOCK)
        rows, weights = np.arange(len(at[part])), runs.weights[at[part]]
        q = temper_posteriors(runs.odds[at[part]], runs.voices[at[part]], drawn.log_rho, drawn.slant)
        won, lost = q[rows, now[part]], q[rows, before[part]]
        gain += weights @ (won - lost)
        doubt += float((weights @ (won + lost - (won - lost) ** 2))[:DRAWS].mean())
    return gain, doubt


# What an answer key says about the grades beside it: do they hold, and whose labels make fewer errors.


_SIGNIFICANT = 0.001  # the intervals of one panel miss together, so the test must be stricter than usual
_SMALL = 0.01  # a miss by less is no reason for a headline
_LARGE = 0.05  # a score off by more is no grade
_RATIO = 1.5  # of actual to expected errors
_CLEARLY = 2.0  # standard errors between two rules' errors


@dataclass(frozen=True)
class Labels:
    """Errors of the best labels and of majority vote, on the items that have a true label."""

    items: int
    wrong: int
    expected: float  #: NaN where the method does not say
    majority: float
    z: float  #: how much better the best labels are than majority vote's, in standard errors
    unsure: float = 0.0  #: how many more errors the grades' own intervals allow for

    @property
    def are_far_off(self) -> bool:
        """Whether clearly more are wrong than expected, by Poisson's test, and enough more to matter."""
        from scipy.special import pdtrc

        if not self.expected >= 0 or self.wrong - self.expected < _SMALL * self.items:
            return False
        is_more = self.wrong > _RATIO * self.expected
        return bool(is_more and pdtrc(self.wrong - 1, self.expected + self.unsure) < _SIGNIFICANT)

    @property
    def better(self) -> str | None:
        """Whose labels to use: `majority`, `best`, or None where they err alike."""
        if abs(self.z) < _CLEARLY:
            return None
        return "best" if self.z > 0 else "majority"


@dataclass(frozen=True)
class KeyCheck:
    """The grades beside the key."""

    items: int
    held: int
    known: int
    level: float
    worst: tuple[str, float, float]  #: the juror whose score is furthest off: estimated, actual
    is_contradicted: bool  #: clearly fewer intervals hold than promised
    labels: Labels | None
    independent: tuple[int, int] | None = None  #: held and known, if errors were independent; None: that is `held`

    @property
    def is_alarming(self) -> bool:
        """Whether the key speaks against acting on the grades."""
        far = self.labels is not None and self.labels.are_far_off
        return far or (self.is_contradicted and abs(self.worst[1] - self.worst[2]) >= _LARGE)

    @property
    def speaks_against(self) -> bool:
        """Whether the key contradicts anything that the grades promise."""
        return self.is_alarming or self.is_contradicted


def check_with_key(e: Evaluation, keyed: KeyedEvaluation | None) -> KeyCheck | None:
    """None where there is no key, or nobody has both scores."""
    if keyed is None or (e.solution is None and e.as_real is None):
        return None
    actual, score = actual_scores(keyed), e.leading.score
    pairs = [(j, score[j], actual[j]) for j in e.jurors if is_number(score[j]) and is_number(actual.get(j))]
    if not pairs:
        return None
    held, known = intervals_held(e.leading, keyed)
    worst = max(pairs, key=lambda pair: abs(pair[1] - pair[2]))
    return KeyCheck(
        keyed.items, held, known, e.level, worst, _is_contradicted(e, keyed), labels_beside_truth(e, keyed),
        None if e.as_real is None or e.interval is None else intervals_held(e, keyed),
    )  # fmt: skip


def _is_contradicted(e: Evaluation, keyed: KeyedEvaluation) -> bool:
    """A binomial test of the intervals. A key of some items only knows the actual scores up to its own chance."""
    from scipy.special import bdtr

    actual, votes = actual_scores(keyed), votes_of(keyed)
    left_out = 1 - keyed.items / max(e.items, 1)
    reach = NormalDist().inv_cdf(0.5 + e.level / 2)
    gaps = []
    for j in e.jurors:
        low, high = e.leading.interval_of("score", j)
        true: Any = actual.get(j)
        if low == low and is_number(true) and votes.get(j):
            chance = reach * float(binomial_error(true, votes[j])) * max(left_out, 0) ** 0.5
            gaps.append(max(low - true - chance, true - high - chance, 0.0))
    held = sum(gap == 0 for gap in gaps)
    score = e.leading.score
    if not gaps or max(abs(score[j] - actual[j]) for j in e.jurors if _both(e, actual, j)) < _SMALL:
        return False
    return bool(bdtr(held, len(gaps), e.level) < _SIGNIFICANT)


def _both(e: Evaluation, actual: dict[str, Any], juror: str) -> bool:
    return is_number(e.leading.score[juror]) and is_number(actual.get(juror))


def labels_beside_truth(e: Evaluation, keyed: KeyedEvaluation) -> Labels | None:
    """None where partition and key do not speak of the same decision tuples."""
    partition = e.labelling_partition
    if partition is None or e.exam or keyed.labels != e.labels or keyed.jurors != e.jurors:
        return None
    sketch, chosen = partition.sketch, partition.chosen
    if not np.array_equal(sketch.tuples.codes, keyed.sketch.tuples.codes):
        return None
    rows = np.arange(len(chosen))
    true, shares = keyed.by_true_label, majority_shares(keyed.sketch)
    keyed_items = true.sum(axis=1)
    expected = float(((1 - partition.probability) * keyed_items)[keyed_items > 0].sum())
    best_only = float((true[rows, chosen] * (1 - shares[rows, chosen])).sum())
    majority_only = float((true * shares).sum() - (true[rows, chosen] * shares[rows, chosen]).sum())
    apart = best_only + majority_only
    z = (best_only - majority_only) / apart**0.5 if apart else 0.0  # McNemar's test
    unsure = keyed.items * _half_width(e)  # what is expected is known no better than the scores it comes from
    return Labels(keyed.items, keyed.errors_of(chosen), expected, keyed.majority_errors, z, unsure)


def _half_width(e: Evaluation) -> float:
    """Of the typical score interval; 0 where there are none."""
    ends = [e.leading.interval_of("score", j) for j in e.jurors]
    widths = [high - low for low, high in ends if low == low]
    return float(np.median(widths)) / 2 if widths else 0.0


def intervals_held(e: Evaluation | Calibrated, keyed: KeyedEvaluation) -> tuple[int, int]:
    """How many score intervals hold the actual score, of how many."""
    actual = actual_scores(keyed)
    held = [
        low <= actual[j] <= high
        for j in e.score
        for low, high in [e.interval_of("score", j)]
        if low == low and is_number(actual.get(j))
    ]
    return sum(held), len(held)


def key_alarms(e: Evaluation, keyed: KeyedEvaluation | None) -> list[Alarm]:
    """The warning of grades that an answer key contradicts."""
    check = check_with_key(e, keyed)
    if check is None or not check.speaks_against:
        return []
    who, estimate, true = check.worst
    message = f"the answer key ({check.items:,} items) contradicts the grades: {who!r} is furthest off, "
    message += f"{estimate:.1%} estimated, {true:.1%} actual"
    if check.labels is not None and check.labels.are_far_off:
        message += f"; {check.labels.wrong:,} labels are wrong where {check.labels.expected:,.0f} were expected to be"
    return [Alarm("key_contradicts_grades", "warning", message, abs(estimate - true), (who,))]
