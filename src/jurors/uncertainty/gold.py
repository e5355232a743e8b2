"""What labels of a few items would tell and do tell: gold forecasts, information gain, paired changes, key checks.

- `forecast_half_widths`: how far gold items would narrow the scores, before any is labelled. Gold items as they are to
  be expected (of every tuple its share, by true label as in the jury's calibrated posterior) are given to the
  calibration that real ones would be given to. On six real juries the mean half width that 20 or 100 gold items left,
  drawn at random, was off by 1 to 5 points, to either side (benchmarks/gold_widths.py).
- `labelling_errors`: how often a labelling is wrong: it is graded as one more juror whose votes prove nothing.
- `label_information`: the information gain of one more label, in wrong labels fewer. A label decides its own item, and
  it discriminates between scenarios of shared error and bias: those that expected it gain weight,
      w_k ∝ q_tk[y],      Q_u(y) = Σ_k w_k q_uk,
  and where that changes the best label of other items, fewer of them are wrong: mostly items with the same votes.
- `paired_change`: how far a juror improved between two runs on the same items. Where a juror votes alike twice, nothing
  changed, whatever the truth is: only the items on which it changed its vote count, and what is uncertain is which vote
  was right on those,
      change = Σ (q_i[now] - q_i[before]) / items,
  with q_i calibrated from both runs alike (the mean of their log-odds), so that exchanging the runs changes the sign.
  Its scenarios are those of `calibrate`: shared error, bias, labels still unknown, and the juror's own deviation and
  the noise of the fit, whose parts on a share c of the items have 1 / c times their variance. It never leaves [-c, c].
  Measured by replacing a juror by another, 90 times in 26 real juries: 90% intervals held 80% of the changes.
- `check_with_key`: whether the grades hold against an answer key, and whose labels make fewer errors.

Letters in shapes as in `calibrate`; U distinct pairs of decision tuples in two runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from jurors._numeric import Floats, Integers
from jurors.evaluate.alarms import Alarm
from jurors.evaluate.evaluation import Evaluation, KeyedEvaluation
from jurors.evaluate.solution import is_number, majority_shares
from jurors.uncertainty.alarms import actual_scores, binomial_error
from jurors.uncertainty.calibrate import LEAST_RHO, FitNoise, calibrate, quantile, spread_shares
from jurors.uncertainty.reference import PanelTraits, Population
from jurors.uncertainty.scenarios import (
    DRAWS,
    JuryVotes,
    Scenarios,
    add_label_juror,
    panel_traits,
    prior_scenarios,
    temper_posteriors,
)

_MOST_CELLS = 400  # posteriors that suffice to forecast a width


def forecast_half_widths(
    jury: JuryVotes, population: Population, rho: float | None, gold: Floats | None, posterior: Floats,
    noise: FitNoise, level: float, gold_items: int,
) -> Floats:  # fmt: skip
    """Forecast the half widths of the score intervals, were so many more items gold.

    Parameters
    ----------
    jury, population, rho, gold, noise
        As they were given to `calibrate`.
    posterior
        (T, R) calibrated.
    level
        Of the intervals.
    gold_items
        How many more gold items there would be, drawn at random.

    Returns
    -------
    ndarray, (N,)
        NaN where that cannot be forecast.
    """
    traits = panel_traits(jury)
    if posterior.size > _MOST_CELLS:
        if gold is not None:  # a sample of tuples would lose the few items that are known
            return np.full(jury.jurors, np.nan)
        # A systematic sample: every so many-th item represents those before it, so tuples are fewer, items as many.
        total, count = float(jury.weights.sum()), max(_MOST_CELLS // jury.labels, 2)
        points = (np.arange(count) + 0.5) * (total / count)
        at, times = np.unique(np.searchsorted(np.cumsum(jury.weights), points), return_counts=True)
        is_sampled = np.zeros(len(jury.weights), dtype=np.bool_)
        is_sampled[at] = True
        votes = np.flatnonzero(is_sampled[jury.row])
        weights: Floats = times.astype(np.float64) * (total / count)
        posterior, jury = posterior[at], replace(
            jury, posterior=jury.posterior[at], weights=weights, distinct=jury.distinct[at],
            row=np.searchsorted(at, jury.row[votes]), juror=jury.juror[votes], label=jury.label[votes],
        )  # fmt: skip
    free = jury.weights if gold is None else jury.weights - gold.sum(axis=1)
    share = min(gold_items / max(float(free.sum()), 1.0), 1.0)
    expected = share * free[:, None] * posterior
    if gold is not None:
        expected += gold
    shares = calibrate(jury, population, rho=rho, gold=expected, noise=noise, traits=traits)
    ends = shares.interval(level)["score"]
    return np.asarray((ends[:, 1] - ends[:, 0]) / 2)


def labelling_errors(
    jury: JuryVotes, population: Population, rho: float | None, gold: Floats | None, rivals: Sequence[Floats],
    noise: FitNoise, level: float, labellings: Sequence[Integers],
) -> list[tuple[float, tuple[float, float]]]:  # fmt: skip
    """Estimate how often labellings are wrong.

    Gold items keep the label of the labelling: it is tested on them, not corrected by them.

    Parameters
    ----------
    jury, population, rho, gold, rivals, noise
        As they were given to `calibrate`.
    labellings
        Each (T,): a label for each tuple.

    Returns
    -------
    list of (share, (low, high))
        The share of wrong labels of each labelling, with its interval.
    """
    more, graded = len(labellings), jury
    for labels in labellings:
        graded = add_label_juror(graded, labels)
    accuracy, score = (  # the fit's noise is the jurors' own
        part if isinstance(part, float) else np.concatenate([part, np.zeros((more, *part.shape[1:]))])
        for part in (noise.accuracy, noise.score)
    )
    shares = calibrate(
        graded, population, rho=rho, gold=gold, rivals=rivals, noise=FitNoise(noise.prevalence, accuracy, score),
        traits=panel_traits(jury),
    )  # fmt: skip
    ends = shares.interval(level)["score"][jury.jurors :].tolist()
    scores = shares.score[jury.jurors :].tolist()
    return [(1 - score, (1 - high, 1 - low)) for score, (low, high) in zip(scores, ends, strict=True)]


# -- paired changes ----------------------------------------------------------------------------------------------------

_PAIRED_BLOCK = 20_000  # posteriors whose scenarios are in memory at once


@dataclass(frozen=True)
class PairedRuns:
    """Items that both runs have, by the votes of both; -1 is no vote."""

    odds: Floats  #: (U, R) mean of both runs' log-odds
    distinct: Floats  #: (U,) how many distinct jurors voted, mean of both runs
    weights: Floats  #: (U,) how many items
    now: Integers  #: (U, N) each juror's vote
    before: Integers  #: (U, N) each juror's vote in the earlier run
    noise: Floats  #: (N,) variance of both runs' scores from the sampling of items


@dataclass(frozen=True)
class PairedChange:
    """How much better (or worse) a juror became."""

    value: float
    interval: tuple[float, float]
    items: int  #: with a vote in both runs
    changed: int  #: with a different vote


def scenarios_of(
    population: Population, labels: int, *, rho: float | None, traits: PanelTraits, known: tuple[float, float] | None
) -> Scenarios:
    """Draw the scenarios of both runs.

    Parameters
    ----------
    rho
        The shared error, where it is given.
    traits
        `panel_traits` of the votes.
    known
        Mean and standard deviation of log rho, where gold has identified them.

    Returns
    -------
    Scenarios
    """
    center, sd = known or population.shared_error(traits)
    if rho is not None:
        center, sd = float(np.log(max(rho, LEAST_RHO))), 0.0
    return prior_scenarios(center, sd, population.label_bias, labels, population.independent if known is None else 0.0)


def paired_change(
    runs: PairedRuns, juror: int, drawn: Scenarios, deviation: float, level: float
) -> PairedChange | None:
    """Estimate how far one juror improved between two runs.

    Parameters
    ----------
    deviation
        Standard deviation of a juror's own deviation in score (`Population.deviation`).
    level
        Of the interval.

    Returns
    -------
    PairedChange or None
        None where no item has the juror's vote in both runs.
    """
    now, before = runs.now[:, juror], runs.before[:, juror]
    items = float(runs.weights[(now >= 0) & (before >= 0)].sum())
    at = np.flatnonzero((now >= 0) & (before >= 0) & (now != before))
    changed = float(runs.weights[at].sum())
    if not items or not changed:
        return PairedChange(0.0, (0.0, 0.0), int(items), 0) if items else None
    gain, doubt = np.zeros(len(drawn.log_rho)), 0.0  # by scenario, items won less those lost; left by unknown labels
    for start in range(0, len(at), _PAIRED_BLOCK):
        part = at[start : start + _PAIRED_BLOCK]
        q = temper_posteriors(runs.odds[part], runs.distinct[part], drawn.log_rho, drawn.bias)
        rows, weights = np.arange(len(part)), runs.weights[part]
        won, lost = q[rows, now[part]], q[rows, before[part]]
        gain += weights @ (won - lost)
        doubt += float((weights @ (won + lost - (won - lost) ** 2))[:DRAWS].mean())
    share = (gain / changed + 1.0) / 2.0  # of the changed items, from 0 (all lost) to 1 (all won)
    mean = float(share[:DRAWS].mean())
    of_juror = (4.0 * mean * (1.0 - mean) * deviation**2 + float(runs.noise[juror]) / 4.0) / (changed / items)
    values = spread_shares(share[None, :DRAWS], np.array([doubt / (4.0 * changed**2) + of_juror]))[0]
    ends = [float(quantile(values, tail)) for tail in (0.5 - level / 2, 0.5 + level / 2)]
    low, high, value = ((2.0 * x - 1.0) * changed / items for x in (*ends, float(share[DRAWS:].mean())))
    return PairedChange(value, (low, high), round(items), round(changed))


# -- grades against an answer key --------------------------------------------------------------------------------------

_SIGNIFICANT = 0.001  # the intervals of one panel miss jointly, so the test must be stricter than usual
_SMALL = 0.01  # a smaller difference is not worth a warning
_LARGE = 0.05  # a score off by more is useless
_RATIO = 1.5  # of actual to expected errors
_CLEARLY = 2.0  # standard errors between two rules' errors


@dataclass(frozen=True)
class Labels:
    """Errors of the best labels and of majority vote, on the items that have a true label."""

    items: int
    wrong: int
    expected: float  #: NaN where the method has no probabilities
    majority: float
    z: float  #: how much better the best labels are than majority vote's, in standard errors
    unsure: float = 0.0  #: how many more errors the intervals of the grades allow for

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
    """The grades against the key."""

    items: int  #: in the key
    held: int  #: score intervals that hold the actual score
    known: int  #: of so many
    level: float
    worst: tuple[str, float, float]  #: the juror whose score is furthest off: estimated, actual
    is_contradicted: bool  #: clearly fewer intervals hold than promised
    labels: Labels | None

    @property
    def is_alarming(self) -> bool:
        """Whether the grades should not be acted on, by the key."""
        far = self.labels is not None and self.labels.are_far_off
        return far or (self.is_contradicted and abs(self.worst[1] - self.worst[2]) >= _LARGE)

    @property
    def speaks_against(self) -> bool:
        """Whether the key contradicts anything that the grades claim."""
        return self.is_alarming or self.is_contradicted


def check_with_key(e: Evaluation, keyed: KeyedEvaluation | None) -> KeyCheck | None:
    """Compare grades with an answer key.

    Returns
    -------
    KeyCheck or None
        None where there is no key, or no juror has both an estimated and an actual score.
    """
    if keyed is None or not e.has_grades:
        return None
    actual, score = actual_scores(keyed), e.score
    pairs = [(j, score[j], actual[j]) for j in e.jurors if is_number(score[j]) and is_number(actual.get(j))]
    if not pairs:
        return None
    worst = max(pairs, key=lambda pair: abs(pair[1] - pair[2]))
    # A binomial test of the intervals. A key of some items only determines the actual scores up to sampling error.
    votes, left_out = keyed.votes, 1 - keyed.items / max(e.items, 1)
    reach = NormalDist().inv_cdf(0.5 + e.level / 2)
    is_inside = []
    for j in e.jurors:
        low, high = e.interval_of("score", j)
        true: Any = actual.get(j)
        if low == low and is_number(true) and votes.get(j):
            chance = reach * float(binomial_error(true, votes[j])) * max(left_out, 0) ** 0.5
            is_inside.append(max(low - true - chance, true - high - chance, 0.0) == 0)
    is_contradicted = False
    if is_inside and abs(worst[1] - worst[2]) >= _SMALL:
        from scipy.special import bdtr

        is_contradicted = bool(bdtr(sum(is_inside), len(is_inside), e.level) < _SIGNIFICANT)
    return KeyCheck(
        keyed.items, *intervals_held(e, keyed), e.level, worst, is_contradicted, labels_beside_truth(e, keyed),
    )  # fmt: skip


def labels_beside_truth(e: Evaluation, keyed: KeyedEvaluation) -> Labels | None:
    """Count the errors of the best labels and of majority vote.

    Returns
    -------
    Labels or None
        None where partition and key are not about the same decision tuples.
    """
    partition = e.partition
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
    discordant = best_only + majority_only
    z = (best_only - majority_only) / discordant**0.5 if discordant else 0.0  # McNemar's test
    # The expected number is known no better than the scores it comes from: by half the width of the typical interval.
    ends = [e.interval_of("score", j) for j in e.jurors]
    widths = [high - low for low, high in ends if low == low]
    unsure = keyed.items * (float(np.median(widths)) / 2 if widths else 0.0)
    return Labels(keyed.items, keyed.errors_of(chosen), expected, keyed.majority_errors, z, unsure)


def intervals_held(e: Evaluation, keyed: KeyedEvaluation) -> tuple[int, int]:
    """Count the score intervals that hold the actual score.

    Returns
    -------
    held, known : int
        Of `known` intervals with an actual score, `held` hold it.
    """
    actual = actual_scores(keyed)
    is_inside = [
        low <= actual[j] <= high
        for j in e.score
        for low, high in [e.interval_of("score", j)]
        if low == low and is_number(actual.get(j))
    ]
    return sum(is_inside), len(is_inside)


def key_alarms(e: Evaluation, keyed: KeyedEvaluation | None) -> list[Alarm]:
    """Warn of grades that an answer key contradicts.

    Returns
    -------
    list of Alarm
        One `key_contradicts_grades`, or none.
    """
    check = check_with_key(e, keyed)
    if check is None or not check.speaks_against:
        return []
    who, estimate, true = check.worst
    message = f"the answer key ({check.items:,} items) contradicts the grades: {who!r} is furthest off, "
    message += f"{estimate:.1%} estimated, {true:.1%} actual"
    if check.labels is not None and check.labels.are_far_off:
        message += f"; {check.labels.wrong:,} labels are wrong where {check.labels.expected:,.0f} were expected to be"
    return [Alarm("key_contradicts_grades", "warning", message, abs(estimate - true), (who,))]
