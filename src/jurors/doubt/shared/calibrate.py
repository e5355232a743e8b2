"""Shared error: what grades and labels are worth when jurors err together, as all real juries do.

Every method that takes errors for independent believes itself too much: a mistake that jurors share looks like truth,
and counts again with every juror who shares it (MATHS §11). Three things tell a real jury from what its votes
promise. They cannot be seen in the votes; their spread over juries with known keys (`reference`) can be measured,
and a few gold items identify them.

    q_i(rho, b)[l] ∝ exp(tau_i log q_i[l] + b_l),      tau_i = 1 / (1 + rho (n_i - 1))

rho     the *shared error*: n_i voices whose errors have intraclass correlation rho are worth n_i tau_i independent
        ones (the design effect of survey sampling).
b       the *slant*: which labels the jury as a whole says too often or too seldom, in log-odds. It moves
        prevalences, accuracies and scores together, so that a juror who always says the same gets the interval of
        that label's prevalence.
delta   a juror's own *deviation* from what q says of it, of constant size on the scale asin(sqrt(share)).

A scenario (`scenarios`) is one draw of (rho, b). The statistics of every scenario, spread by what stays unknown in it
(each item's label, the juror's deviation, the noise of the fit), make the distribution that intervals are quantiles
of. That spread is added on the scale asin(sqrt(share)), where shares of n items have constant variance and whose way
back, sin², never leaves [0, 1]. A share of n items is a multiple of 1/n, so ends are rounded to the nearest one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jurors.doubt.shared.expected import Sums, expect, mean_posterior
from jurors.doubt.shared.jury_votes import Jury, answer_spread, log_odds
from jurors.doubt.shared.reference import Population
from jurors.doubt.shared.scenarios import (
    DRAWS,
    MANY,
    GoldTuples,
    Scenarios,
    gold_scenarios,
    heavy_quantile,
    prior_scenarios,
)
from jurors.numbers.arrays import Flags, Floats, Integers

FIRST_METHOD = 0.5  #: the weight of the method asked for, before gold; its rivals share the rest
_WIDEST = 0.6  # radians; the uniform distribution has about half of that
_NOISE = 7  # points of noise that every scenario is spread by
LEAST_RHO = 1e-4  # a shared error that makes no difference


def _noise_points() -> Floats:
    """(DRAWS, _NOISE) equally likely points of heavy-tailed noise of variance 1; no two scenarios have the same."""
    start = (np.arange(DRAWS)[:, None] * (np.sqrt(5.0) - 1.0) / 2.0) % 1.0
    start = (np.argsort(np.argsort(start, axis=0), axis=0) + 0.5) / DRAWS
    points = heavy_quantile((np.arange(_NOISE) + start) / _NOISE)
    return np.asarray(points / np.sqrt((points**2).mean()))


_POINTS = _noise_points()


@dataclass(frozen=True)
class FitNoise:
    """Variances of the estimates from the sampling of items alone (bootstrap or delta method), where known."""

    prevalence: Floats | float = 0.0
    accuracy: Floats | float = 0.0
    score: Floats | float = 0.0


@dataclass(frozen=True)
class CalibratedShares:
    """Grades as real juries go."""

    prevalence: Floats  #: (R,)
    accuracy: Floats  #: (N, R); NaN where a juror met no item of the label
    score: Floats  #: (N,)
    wrong_labels: float  #: expected share of items whose label is wrong; gold items are right
    posterior: Floats  #: (T, R) probability of each label of an item that is not gold
    labels: Integers  #: (T,) the best label
    log_rho: Floats  #: sorted draws of the shared error's logarithm
    method_weights: Floats  #: how far gold trusts each method's posterior
    values: Floats  #: (statistics, values) equally likely ones, sorted: prevalence, accuracy, score, wrong labels
    items: Floats  #: (statistics,) how many items each is a share of
    score_draws: Floats  #: (N, DRAWS) the scores of every scenario: what moves all jurors together
    score_doubt: Floats  #: (N,) the variance of what stays unknown of a juror in each of them

    @property
    def shared_error(self) -> float:
        """The median of rho."""
        return float(np.exp(quantile(self.log_rho, 0.5)))

    def interval(self, level: float = 0.95) -> dict[str, Floats]:
        """(low, high) of `prevalence`, `accuracy`, `score`, `wrong_labels` and `shared_error`, last axis."""
        tails = 0.5 - level / 2, 0.5 + level / 2
        ends = np.empty((len(self.values), 2))
        for k, tail in enumerate(tails):
            ends[:, k] = quantile(self.values, tail)
        size = np.maximum(np.rint(self.items), 1.0)[:, None]
        ends = np.rint(ends * size) / size
        shared = np.exp([quantile(self.log_rho, tail) for tail in tails])
        return {**_by_name(ends, *self.accuracy.shape), "shared_error": shared}


def quantile(values: Floats, share: float) -> Any:
    """The quantile along the last axis of sorted values."""
    place = share * (values.shape[-1] - 1)
    k = min(int(place), values.shape[-1] - 2)
    return values[..., k] + (place - k) * (values[..., k + 1] - values[..., k])


def _by_name(values: Floats, jurors: int, labels: int) -> dict[str, Floats]:
    """Values of all statistics, first axis, apart."""
    scores = labels + jurors * labels
    return {
        "prevalence": values[:labels],
        "accuracy": values[labels:scores].reshape(jurors, labels, *values.shape[1:]),
        "score": values[scores:-1],
        "wrong_labels": values[-1],
    }


def calibrate(
    jury: Jury,
    population: Population,
    *,
    rho: float | None = None,
    gold: Floats | None = None,
    rivals: Sequence[Floats] = (),
    noise: FitNoise | None = None,
    spread: float | None = None,
) -> CalibratedShares:
    """Grade a jury as real juries go.

    Parameters
    ----------
    jury
        The votes and one method's posterior.
    population
        The reference juries' (`fit_population`).
    rho
        The shared error, where you know it; by default it is drawn from the population.
    gold
        (T, R): how many items of each tuple are known to have each true label. They may be chosen at random or by
        anything that depends on votes alone: given an item's votes, whether it was chosen says nothing of its label.
    rivals
        Other methods' posteriors; gold decides how far each is heard. Without gold they are not.
    noise
        How far the estimates move when items are drawn again; matters for few items and few jurors only.
    spread
        `answer_spread` of all votes, where `jury` is about some of the items only.
    """
    odds, drawn = drawn_scenarios(jury, population, rho=rho, gold=gold, rivals=rivals, spread=spread)
    sums = expect(jury, odds, drawn, gold)
    return _graded(jury, population, drawn, sums, noise or FitNoise())


def drawn_scenarios(
    jury: Jury, population: Population, *, rho: float | None, gold: Floats | None, rivals: Sequence[Floats],
    spread: float | None = None,
) -> tuple[list[Floats], Scenarios]:  # fmt: skip
    """Each method's log-odds, and the scenarios that the reference juries and gold leave; as in `calibrate`."""
    center, sd = _believed(jury, population, rho, spread)
    odds = [log_odds(jury.posterior, jury.voices)]
    if gold is None:
        drawn = prior_scenarios(center, sd, population.slant, jury.labels, population.independent)
    else:
        odds += [log_odds(posterior, jury.voices) for posterior in rivals]
        at = gold.sum(axis=1) > 0
        seen = [GoldTuples(part[at], jury.voices[at], gold[at]) for part in odds]
        trust = np.full(len(odds), (1.0 - FIRST_METHOD) / max(len(odds) - 1, 1))
        trust[0] = FIRST_METHOD if rivals else 1.0
        drawn = gold_scenarios(seen, trust, center, sd, population.slant)
    return odds, drawn


def expected_labels(jury: Jury, population: Population, *, rho: float | None = None) -> tuple[Floats, Integers]:
    """Posterior (T, R) and best label (T,) as `calibrate` has them without gold: all that labelling needs."""
    center, sd = _believed(jury, population, rho, None)
    odds = log_odds(jury.posterior, jury.voices)
    drawn = prior_scenarios(center, sd, population.slant, jury.labels, population.independent)
    return mean_posterior(jury, odds, drawn), np.asarray(odds.argmax(axis=1))


def _believed(jury: Jury, population: Population, rho: float | None, spread: float | None) -> tuple[float, float]:
    """The middle of log rho and its standard deviation."""
    if rho is not None:
        return float(np.log(max(rho, LEAST_RHO))), 0.0
    return population.shared_error(answer_spread(jury) if spread is None else spread)


def _graded(jury: Jury, population: Population, drawn: Scenarios, sums: Sums, noise: FitNoise) -> CalibratedShares:
    with np.errstate(divide="ignore", invalid="ignore"):
        score, score_doubt = _scores(sums, population, noise)
        accuracy, accuracy_doubt = _accuracies(sums, population, noise)
        score[-1] = np.maximum(1.0 - score[-1] - sums.caught / sums.items, 0.0)  # wrong labels
        cells, count = jury.jurors * jury.labels, score.shape[1]
        share = np.concatenate([sums.prevalence / sums.items, accuracy[:-1].reshape(cells, count), score])
        doubt = sums.doubt / sums.items**2 + noise.prevalence
        values = spread_shares(share[:, :DRAWS], np.concatenate([doubt, accuracy_doubt[:-1].ravel(), score_doubt]))
    estimates = _by_name(share[:, DRAWS:].sum(axis=1) / (count - DRAWS), jury.jurors, jury.labels)
    items = [np.full(jury.labels, sums.items), sums.met[:-1].sum(axis=2).ravel() / count, sums.votes]
    return CalibratedShares(
        prevalence=estimates["prevalence"],
        accuracy=estimates["accuracy"],
        score=estimates["score"],
        wrong_labels=float(estimates["wrong_labels"]),
        posterior=sums.posterior,
        labels=sums.best,
        log_rho=np.sort(drawn.log_rho[:DRAWS]),
        method_weights=drawn.weights,
        values=values,
        items=np.concatenate(items),
        score_draws=score[:-1, :DRAWS],
        score_doubt=score_doubt[:-1],
    )


def spread_shares(share: Floats, variance: Floats) -> Floats:
    """Equally likely values of every statistic, sorted: each scenario's share, spread by its noise.

    The noise is added on the scale asin(sqrt(share)).
    """
    mean = share.sum(axis=1) / share.shape[1]
    sd = np.minimum(np.sqrt(variance / np.maximum(4.0 * mean * (1.0 - mean), 1e-12)), _WIDEST)
    kind: Any = np.float64 if share.size * len(_POINTS) < MANY else np.float32
    angle = np.arcsin(np.sqrt(np.minimum(np.maximum(share, 0.0), 1.0).astype(kind, copy=False)))
    values = angle[:, :, None] + (sd[:, None, None] * _POINTS).astype(kind, copy=False)
    values = np.sin(values, out=values).reshape(len(share), -1)
    values *= values
    values.sort(axis=1)
    return np.asarray(values)


def _scores(sums: Sums, population: Population, noise: FitNoise) -> tuple[Floats, Floats]:
    """(N, K) scores, and the variance (N,) of what stays unknown in each scenario."""
    score = sums.right.sum(axis=1) / sums.votes[:, None]
    unit = _unit_variance(score.sum(axis=1) / score.shape[1])
    doubt = sums.doubt_right.sum(axis=1) / sums.votes**2 + _and_labels(noise.score)
    if sums.gold is None:
        return score, doubt + population.deviation**2 * unit
    gold = sums.gold
    size = np.maximum(gold.votes, 1e-9)
    gaps = gold.right.sum(axis=1) / size[:, None]
    left = 1.0 - gold.votes / sums.votes
    shift, own = _own_deviation(
        gaps,
        gold.doubt_right.sum(axis=1) / size**2,
        unit,
        gold.votes > 0,
        population.deviation,
        population.unevenness,
    )
    return _shifted(score, shift * left[:, None]), doubt + own * left**2


def _accuracies(sums: Sums, population: Population, noise: FitNoise) -> tuple[Floats, Floats]:
    """(N, R, K) accuracies by label, and the variance (N, R) of what stays unknown in each scenario.

    An item moves the accuracy a by (says it - a)(is it - q) / items of the label: what gold items are compared by.
    """
    accuracy = sums.right / sums.met
    count = accuracy.shape[2]
    mean, met = accuracy.sum(axis=2) / count, sums.met.sum(axis=2) / count
    unit = _unit_variance(mean)
    doubt = ratio_doubt(sums.doubt_right, sums.doubt_met, mean) / met**2 + _and_labels(noise.accuracy)
    if sums.gold is None:
        return accuracy, doubt + population.label_deviation**2 * unit
    gold = sums.gold
    size = np.maximum(gold.expected, 1e-9)
    gaps = (gold.right - accuracy * gold.met) / size[:, :, None]
    left = np.clip(1.0 - gold.expected / met, 0.0, 1.0)
    variance = ratio_doubt(gold.doubt_right, gold.doubt_met, mean) / size**2
    shift, own = _own_deviation(
        gaps, variance, unit, gold.expected > 1e-6, population.label_deviation, population.unevenness
    )
    return _shifted(accuracy, shift * left[..., None]), doubt + own * left**2


def _own_deviation(
    gaps: Floats, variance: Floats, unit: Floats, seen: Flags, usual: float, unevenness: float
) -> tuple[Floats, Floats]:
    """What gold tells of each juror's deviation: the part of what was found that is believed, and the variance left.

    First all jurors together tell how far the jurors of this jury deviate (not less than in other juries: they saw the
    same gold items, so that their agreement proves little), then each tells of itself by the usual shrinkage,
    weight = own variance / (own variance + variance of what was found).
    """
    seen = seen & np.isfinite(variance) & (unit > 0)
    square, variance = np.where(seen, gaps.mean(axis=-1) ** 2, 0.0), np.where(seen, variance, 1.0)
    unit = np.where(seen, unit, np.nan_to_num(unit))
    prior = unevenness * usual**2
    sure = np.where(seen, unit / (prior * unit + variance) ** 2, 0.0) / 2.0
    gained, before = float((sure * unit).sum()), 1.0 / max(prior, 1e-12) ** 2
    learned = (float((sure * (square - variance)).sum()) + before * prior) / (gained + before)
    own = max(learned, prior) * unit
    weight = np.where(seen, own / (own + variance), 0.0)
    return weight[..., None] * gaps, own * (1.0 - weight)


def _and_labels(noise: Floats | float) -> Floats | float:
    """The noise of every juror, and of one who says the best labels: none."""
    return noise if isinstance(noise, float) else np.concatenate([noise, np.zeros_like(noise[:1])])


def ratio_doubt(right: Floats, met: Floats, ratio: Floats) -> Floats:
    """The variance of right - ratio met, where `right` and the rest of `met` have these variances."""
    return np.asarray(right * (1.0 - ratio) ** 2 + (met - right) * ratio**2)


def _unit_variance(share: Floats) -> Floats:
    """The variance of a share whose deviation has variance 1 on the scale asin(sqrt(share))."""
    return 4.0 * share * (1.0 - share)


def _shifted(share: Floats, shift: Floats) -> Floats:
    """Move a share; no step leads out of [0, 1]: it goes at most nine tenths of the way to the border."""
    room = np.where(shift > 0, 1.0 - share, share)
    return np.asarray(share + np.sign(shift) * np.minimum(np.abs(shift), 0.9 * room))
