"""`CalibratedShares`: grades from the sums of all scenarios, and how far what stays unknown in them spreads each.

The spread is added on the scale asin(sqrt(share)), where shares of n items have constant variance and whose way back,
sin², never leaves [0, 1]. A share of n items is a multiple of 1/n, so ends are rounded to the nearest one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from jurors.doubt.shared.expected import Sums
from jurors.doubt.shared.reference import Population
from jurors.doubt.shared.scenarios import DRAWS, MANY, Scenarios, heavy_quantile
from jurors.numbers.arrays import Flags, Floats, Integers

_WIDEST = 0.6  # radians; the uniform distribution has about half of that
_NOISE = 7  # points of noise that every scenario is spread by


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


@dataclass(frozen=True, eq=False)
class CalibratedShares:
    """Grades as real juries go; each is worked out when first asked for: often only the scores are."""

    sums: Sums
    population: Population
    drawn: Scenarios
    noise: FitNoise

    @property
    def prevalence(self) -> Floats:
        """(R,) how common each label is."""
        return _of_modes(self._prevalences)

    @property
    def accuracy(self) -> Floats:
        """(N, R); NaN where a juror met no item of the label."""
        return _of_modes(self._accuracy_parts[0][:-1])

    @property
    def score(self) -> Floats:
        """(N,) the share of its items that a juror has right."""
        return _of_modes(self._score_parts[0][:-1])

    @property
    def wrong_labels(self) -> float:
        """The expected share of items whose label is wrong; gold items are right."""
        return float(_of_modes(self._score_parts[0][-1]))

    @property
    def posterior(self) -> Floats:
        """(T, R) probability of each label of an item that is not gold."""
        return self.sums.posterior

    @property
    def labels(self) -> Integers:
        """(T,) the best label."""
        return self.sums.best

    @cached_property
    def log_rho(self) -> Floats:
        """Sorted draws of the shared error's logarithm."""
        return np.sort(self.drawn.log_rho[:DRAWS])

    @property
    def method_weights(self) -> Floats:
        """How far gold trusts each method's posterior."""
        return self.drawn.weights

    @property
    def score_draws(self) -> Floats:
        """(N, DRAWS) the scores of every scenario: what moves all jurors together."""
        return self._score_parts[0][:-1, :DRAWS]

    @property
    def score_doubt(self) -> Floats:
        """(N,) the variance of what stays unknown of a juror in each of them."""
        return self._score_parts[1][:-1]

    @cached_property
    def values(self) -> Floats:
        """(statistics, values) equally likely ones, sorted: prevalence, accuracy, score, wrong labels."""
        (accuracy, accuracy_doubt), (score, score_doubt) = self._accuracy_parts, self._score_parts
        cells = accuracy[:-1, :, :DRAWS].reshape(-1, DRAWS)
        share = np.concatenate([self._prevalences[:, :DRAWS], cells, score[:, :DRAWS]])
        with np.errstate(divide="ignore", invalid="ignore"):
            doubt = self.sums.doubt / self.sums.items**2 + self.noise.prevalence
            return spread_shares(share, np.concatenate([doubt, accuracy_doubt[:-1].ravel(), score_doubt]))

    @property
    def items(self) -> Floats:
        """(statistics,) how many items each is a share of."""
        sums = self.sums
        met = sums.met[:-1].sum(axis=2).ravel() / sums.met.shape[2]
        return np.concatenate([np.full(len(sums.prevalence), sums.items), met, sums.votes])

    @property
    def shared_error(self) -> float:
        """The median of rho."""
        return float(np.exp(quantile(self.log_rho, 0.5)))

    def shared_error_interval(self, level: float = 0.95) -> Floats:
        """(low, high) of rho."""
        return np.exp([quantile(self.log_rho, tail) for tail in _tails(level)])

    def interval(self, level: float = 0.95) -> dict[str, Floats]:
        """(low, high) of `prevalence`, `accuracy`, `score`, `wrong_labels` and `shared_error`, last axis."""
        ends = np.stack([quantile(self.values, tail) for tail in _tails(level)], axis=1, dtype=np.float64)
        size = np.maximum(np.rint(self.items), 1.0)[:, None]
        ends = np.rint(ends * size) / size
        jurors, labels = self.sums.right.shape[0] - 1, self.sums.right.shape[1]
        scores = labels + jurors * labels
        return {
            "prevalence": ends[:labels],
            "accuracy": ends[labels:scores].reshape(jurors, labels, 2),
            "score": ends[scores:-1],
            "wrong_labels": ends[-1],
            "shared_error": self.shared_error_interval(level),
        }

    @property
    def _prevalences(self) -> Floats:
        """(R, K) of every scenario."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.sums.prevalence / self.sums.items

    @cached_property
    def _score_parts(self) -> tuple[Floats, Floats]:
        """Of every juror, and last the share of wrong labels; each by scenario, and the variance left in it."""
        with np.errstate(divide="ignore", invalid="ignore"):
            score, doubt = _scores(self.sums, self.population, self.noise)
            score[-1] = np.maximum(1.0 - score[-1] - self.sums.caught / self.sums.items, 0.0)
        return score, doubt

    @cached_property
    def _accuracy_parts(self) -> tuple[Floats, Floats]:
        """The same of the accuracies of every juror, and of one who says the best labels."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return _accuracies(self.sums, self.population, self.noise)


def _of_modes(values: Floats) -> Floats:
    """The estimate: the mean over the modes, which stand behind the draws."""
    modes = values[..., DRAWS:]
    return np.asarray(modes.sum(axis=-1) / modes.shape[-1])


def _tails(level: float) -> tuple[float, float]:
    return 0.5 - level / 2, 0.5 + level / 2


def quantile(values: Floats, share: float) -> Any:
    """The quantile along the last axis of sorted values."""
    place = share * (values.shape[-1] - 1)
    k = min(int(place), values.shape[-1] - 2)
    return values[..., k] + (place - k) * (values[..., k + 1] - values[..., k])


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
