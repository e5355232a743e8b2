"""Calibrated posterior and intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from jurors._numeric import Flags, Floats, Integers
from jurors.uncertainty.reference import Population
from jurors.uncertainty.scenarios import (
    DRAWS,
    MANY,
    GoldTuples,
    JuryVotes,
    Scenarios,
    answer_spread,
    gold_scenarios,
    log_odds,
    mean_tempered_posterior,
    prior_scenarios,
    student_quantile,
    temper_posteriors,
)

# What every scenario expects of the jurors: sums over items of a tempered posterior, and of what stays unknown.


_DENSE_CELLS = 200_000  # cells of the one-hot matrix up to which an ordinary array is faster
_BLOCK_CELLS = 6_000_000  # tuples x labels x scenarios held at once


@dataclass(frozen=True)
class ExpectedSums:
    """Sums over items, by scenario (last axis) or on the average of them; the last juror says the best labels."""

    right: Floats  # (N, R, K) items of true label l on which the juror said l
    met: Floats  # (N, R, K) items of true label l on which the juror voted
    votes: Floats  # (N,)
    prevalence: Floats  # (R, K) items by label
    items: float
    caught: float  # gold items whose best label would have been wrong
    posterior: Floats  # (T, R)
    best: Integers  # (T,)
    doubt_right: Floats  # (N, R) variance of `right` left by unknown labels
    doubt_met: Floats  # (N, R) the same of `met`
    doubt: Floats  # (R,) of prevalence
    gold: GoldSums | None


@dataclass(frozen=True)
class GoldSums:
    """How gold votes differ from what was expected of them."""

    votes: Floats  # (N,) gold votes
    right: Floats  # (N, R, K) observed - expected
    met: Floats  # (N, R, K)
    expected: Floats  # (N, R) gold items of the label, expected
    doubt_right: Floats  # (N, R) variance of the difference
    doubt_met: Floats


class OneHot:
    """The one-hot matrix of votes, dense or sparse: jurors x labels said, by tuples."""

    def __init__(self, jury: JuryVotes, rows: Integers | None = None, best: Integers | None = None) -> None:
        size, width = jury.labels, len(jury.weights)
        cell = jury.juror * size + jury.label
        votes = [(jury.row[run], cell[run]) for run in _runs(jury.row)]
        if best is not None:  # beside the votes, of which a hundred million need not be copied
            votes.append((np.arange(width), jury.jurors * size + best))
        self.shape = jury.jurors + (best is not None), size
        if rows is not None:
            place = np.full(width, -1)
            place[rows] = np.arange(len(rows))
            votes = [(place[row[kept]], said[kept]) for row, said in votes for kept in [place[row] >= 0]]
            width = len(rows)
        cells = self.shape[0] * size
        self.matrices: list[tuple[int, Any]]  # they add up, each from its first cell on
        if cells * width <= _DENSE_CELLS:
            dense = np.zeros((cells, width))
            for row, said in votes:
                dense[said, row] = 1.0
            self.matrices = [(0, dense)]
        else:
            self.matrices = [_sparse(row, said, width) for row, said in votes if len(row)]

    def sums(self, mass: Floats) -> tuple[Floats, Floats]:
        """(T, R, K) masses by true label, summed over votes that said it and over all votes: (N, R, K) each."""
        jurors, labels = self.shape
        matrices = self.matrices if mass.dtype == np.float64 else self._single
        flat = mass.reshape(len(mass), -1)
        if len(matrices) == 1 and matrices[0][1].shape[0] == jurors * labels:
            joint = matrices[0][1] @ flat
        else:
            joint = np.zeros((jurors * labels, flat.shape[1]), dtype=mass.dtype)
            for first, matrix in matrices:
                joint[first : first + matrix.shape[0]] += matrix @ flat
        joint = joint.reshape(jurors, labels, labels, -1)
        return np.einsum("jllk->jlk", joint), joint.sum(axis=1)

    @cached_property
    def _single(self) -> list[tuple[int, Any]]:
        return [(first, matrix.astype(np.float32, copy=False)) for first, matrix in self.matrices]


def _runs(row: Integers) -> list[slice]:
    """The votes in runs that are sorted by tuple: those of the jurors, then those of each labelling."""
    ends = (np.flatnonzero(row[1:] < row[:-1]) + 1).tolist()
    return [slice(start, end) for start, end in zip([0, *ends], [*ends, len(row)], strict=True)]


def _sparse(row: Integers, cell: Integers, rows: int) -> tuple[int, Any]:
    """Cells x tuples, of votes that are sorted by tuple, and the first cell that has some.

    Ones are as exact in single precision, which is half of it.
    """
    from scipy.sparse import csr_array

    first = int(cell.min())
    cells = int(cell.max()) + 1 - first
    index = np.dtype(np.int32 if max(len(row), cells) < 2**31 else np.int64)
    pointer = np.zeros(rows + 1, dtype=index)
    np.cumsum(np.bincount(row, minlength=rows), out=pointer[1:])
    ones = np.ones(len(row), dtype=np.float32)
    from_first = cell.astype(index, copy=False) if first == 0 else (cell - first).astype(index)
    return first, csr_array((ones, from_first, pointer), shape=(rows, cells)).T


def expected_sums(jury: JuryVotes, odds: list[Floats], drawn: Scenarios, gold: Floats | None) -> ExpectedSums:
    """The sums of all scenarios, for every juror and for one more who says the best labels."""
    tuples, size = jury.posterior.shape
    best = odds[0].argmax(axis=1) if gold is None else _best_labels(jury, odds, drawn)
    count, methods = len(drawn.log_rho), _by_method(drawn)
    free = jury.weights - (0.0 if gold is None else gold.sum(axis=1))
    right, met = np.zeros((jury.jurors + 1, size, count)), np.zeros((jury.jurors + 1, size, count))
    open_right, open_met = np.zeros((jury.jurors + 1, size)), np.zeros((jury.jurors + 1, size))
    prevalence, doubt = np.zeros((size, count)), np.zeros(size)
    posterior = np.empty((tuples, size))
    for rows, part in _parts(jury, size * count):
        votes, shares = OneHot(part, best=best[rows]), np.zeros((2, *part.posterior.shape))  # Σ q and Σ q² over draws
        for k, at in methods:
            q = temper_posteriors(odds[k][rows], part.voices, drawn.log_rho[at], drawn.slant[at])
            draws = q[:, :, : int((np.arange(count)[at] < DRAWS).sum())]  # they come first
            shares[0] += draws @ np.ones(draws.shape[2], dtype=q.dtype)
            shares[1] += np.einsum("trk,trk->tr", draws, draws)
            if gold is not None or (free[rows] != 1.0).any():
                q *= free[rows, None, None].astype(q.dtype)
            if gold is not None:
                q += gold[rows, :, None].astype(q.dtype)
            said_right, all_said = votes.sums(q)
            right[:, :, at] += said_right
            met[:, :, at] += all_said
            prevalence[:, at] += q.sum(axis=0)
        posterior[rows] = shares[0] / DRAWS
        unknown = (shares[0] - shares[1]) * (free[rows] / DRAWS)[:, None]
        said_right, all_said = votes.sums(unknown[:, :, None].astype(q.dtype))  # as precise as the scenarios
        open_right += said_right[:, :, 0]
        open_met += all_said[:, :, 0]
        doubt += unknown.sum(axis=0)
    caught = 0.0 if gold is None else float(gold.sum() - gold[np.arange(tuples), best].sum())
    return ExpectedSums(
        right, met, met[:, :, 0].sum(axis=1), prevalence, float(jury.weights.sum()), caught, posterior, best,
        open_right, open_met, doubt, None if gold is None else _gold_sums(jury, odds, drawn, gold, best),
    )  # fmt: skip


def _parts(jury: JuryVotes, cells: int) -> Iterator[tuple[slice, JuryVotes]]:
    """Some tuples at a time with their votes, as many as fit where each has so many cells."""
    tuples, step = len(jury.weights), max(_BLOCK_CELLS // max(cells, 1), 1)
    if tuples <= step:
        yield slice(0, tuples), jury
        return
    runs = _runs(jury.row)
    for start in range(0, tuples, step):
        rows = slice(start, min(start + step, tuples))
        places = [run.start + np.searchsorted(jury.row[run], (rows.start, rows.stop)) for run in runs]
        row, juror, label = (
            np.concatenate([column[first:last] for first, last in places])
            for column in (jury.row, jury.juror, jury.label)
        )
        yield (
            rows,
            replace(
                jury, posterior=jury.posterior[rows], weights=jury.weights[rows], voices=jury.voices[rows],
                row=row - rows.start, juror=juror, label=label,
            ),
        )  # fmt: skip


def mean_posterior(jury: JuryVotes, odds: Floats, drawn: Scenarios) -> Floats:
    """(T, R) the posterior of every tuple on the average of the draws, as `expected_sums` has it, and nothing else."""
    return mean_tempered_posterior(odds, jury.voices, drawn.log_rho[:DRAWS], drawn.slant[:DRAWS])


def _best_labels(jury: JuryVotes, odds: list[Floats], drawn: Scenarios) -> Integers:
    """The likeliest label of each tuple on the average of the modes, once gold has had its say."""
    total = np.zeros(jury.posterior.shape)
    for k in range(len(odds)):
        at = DRAWS + np.flatnonzero(drawn.method[DRAWS:] == k)
        if len(at):
            total += temper_posteriors(odds[k], jury.voices, drawn.log_rho[at], drawn.slant[at]).sum(axis=2)
    return np.asarray(total.argmax(axis=1))


def _by_method(drawn: Scenarios, cells: int = 1) -> list[tuple[int, slice | Integers]]:
    """Every method with its scenarios in their order, as many at a time as fit where each has so many cells."""
    step, count = max(_BLOCK_CELLS // max(cells, 1), 1), len(drawn.method)
    if len(drawn.weights) == 1:
        return [(0, slice(start, min(start + step, count))) for start in range(0, count, step)]
    parts: list[tuple[int, slice | Integers]] = []
    for k in range(len(drawn.weights)):
        at = np.flatnonzero(drawn.method == k)
        parts += [(k, at[start : start + step]) for start in range(0, len(at), step)]
    return parts


def _gold_sums(jury: JuryVotes, odds: list[Floats], drawn: Scenarios, gold: Floats, best: Integers) -> GoldSums:
    rows = np.flatnonzero(gold.sum(axis=1) > 0)
    votes, counts = OneHot(jury, rows, best), gold[rows]
    known, count = counts.sum(axis=1), len(drawn.log_rho)
    right, met = (np.empty((*votes.shape, count)) for _ in range(2))
    expected, doubt = np.zeros(counts.shape), np.zeros(counts.shape)
    for k, at in _by_method(drawn, counts.size):
        q = temper_posteriors(odds[k][rows], jury.voices[rows], drawn.log_rho[at], drawn.slant[at])
        expected += q.sum(axis=2) * (known / count)[:, None]
        doubt += np.einsum("trk,trk->tr", q, 1 - q) * (known / count)[:, None]
        right[:, :, at], met[:, :, at] = votes.sums(counts[:, :, None] - q * known[:, None, None])
    right_doubt, met_doubt = votes.sums(doubt[:, :, None])
    all_expected = votes.sums(expected[:, :, None])[1][:, :, 0]
    return GoldSums(all_expected.sum(axis=1), right, met, all_expected, right_doubt[:, :, 0], met_doubt[:, :, 0])


# `CalibratedShares`: grades from the sums of all scenarios, and how far what stays unknown in them spreads each.
#
# The spread is added on the scale asin(sqrt(share)), where shares of n items have constant variance and whose way back,
# sin², never leaves [0, 1]. A share of n items is a multiple of 1/n, so ends are rounded to the nearest one.


_WIDEST = 0.6  # radians; the uniform distribution has about half of that
_NOISE = 7  # points of noise that every scenario is spread by


def _noise_points() -> Floats:
    """(DRAWS, _NOISE) equally likely points of heavy-tailed noise of variance 1; no two scenarios have the same."""
    start = (np.arange(DRAWS)[:, None] * (np.sqrt(5.0) - 1.0) / 2.0) % 1.0
    start = (np.argsort(np.argsort(start, axis=0), axis=0) + 0.5) / DRAWS
    points = student_quantile((np.arange(_NOISE) + start) / _NOISE)
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

    sums: ExpectedSums
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


def _scores(sums: ExpectedSums, population: Population, noise: FitNoise) -> tuple[Floats, Floats]:
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


def _accuracies(sums: ExpectedSums, population: Population, noise: FitNoise) -> tuple[Floats, Floats]:
    """(N, R, K) accuracies by label, and the variance (N, R) of what stays unknown in each scenario.

    An item moves the accuracy a by (says it - a)(is it - q) / items of the label: what gold items are compared by.
    """
    accuracy = sums.right / sums.met
    count = accuracy.shape[2]
    mean, met = accuracy.sum(axis=2) / count, sums.met.sum(axis=2) / count
    unit = _unit_variance(mean)
    doubt = ratio_variance(sums.doubt_right, sums.doubt_met, mean) / met**2 + _and_labels(noise.accuracy)
    if sums.gold is None:
        return accuracy, doubt + population.label_deviation**2 * unit
    gold = sums.gold
    size = np.maximum(gold.expected, 1e-9)
    gaps = (gold.right - accuracy * gold.met) / size[:, :, None]
    left = np.clip(1.0 - gold.expected / met, 0.0, 1.0)
    variance = ratio_variance(gold.doubt_right, gold.doubt_met, mean) / size**2
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


def ratio_variance(right: Floats, met: Floats, ratio: Floats) -> Floats:
    """The variance of right - ratio met, where `right` and the rest of `met` have these variances."""
    return np.asarray(right * (1.0 - ratio) ** 2 + (met - right) * ratio**2)


def _unit_variance(share: Floats) -> Floats:
    """The variance of a share whose deviation has variance 1 on the scale asin(sqrt(share))."""
    return 4.0 * share * (1.0 - share)


def _shifted(share: Floats, shift: Floats) -> Floats:
    """Move a share; no step leads out of [0, 1]: it goes at most nine tenths of the way to the border."""
    room = np.where(shift > 0, 1.0 - share, share)
    return np.asarray(share + np.sign(shift) * np.minimum(np.abs(shift), 0.9 * room))


# Shared error: what grades and labels are worth when jurors err together, as all real juries do.
#
# Every method that takes errors for independent believes itself too much: a mistake that jurors share looks like truth,
# and counts again with every juror who shares it (MATHS §11). Three things tell a real jury from what its votes
# promise. They cannot be seen in the votes; their spread over juries with known keys (`reference`) can be measured,
# and a few gold items identify them.
#
#     q_i(rho, b)[l] ∝ exp(tau_i log q_i[l] + b_l),      tau_i = 1 / (1 + rho (n_i - 1))
#
# rho     the *shared error*: n_i voices whose errors have intraclass correlation rho are worth n_i tau_i independent
#         ones (the design effect of survey sampling).
# b       the *slant*: which labels the jury as a whole says too often or too seldom, in log-odds. It moves
#         prevalences, accuracies and scores together, so that a juror who always says the same gets the interval of
#         that label's prevalence.
# delta   a juror's own *deviation* from what q says of it, of constant size on the scale asin(sqrt(share)).
#
# A scenario (`scenarios`) is one draw of (rho, b). The statistics of every scenario (`expected`), spread by what stays
# unknown in it (each item's label, the juror's deviation, the noise of the fit), make the distribution that intervals
# are quantiles of (`shares`).


FIRST_METHOD = 0.5  #: the weight of the method asked for, before gold; its rivals share the rest
LEAST_RHO = 1e-4  # a shared error that makes no difference


def calibrate(
    jury: JuryVotes,
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
    return CalibratedShares(expected_sums(jury, odds, drawn, gold), population, drawn, noise or FitNoise())


def drawn_scenarios(
    jury: JuryVotes, population: Population, *, rho: float | None, gold: Floats | None, rivals: Sequence[Floats],
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


def expected_labels(jury: JuryVotes, population: Population, *, rho: float | None = None) -> tuple[Floats, Integers]:
    """Posterior (T, R) and best label (T,) as `calibrate` has them without gold: all that labelling needs."""
    center, sd = _believed(jury, population, rho, None)
    odds = log_odds(jury.posterior, jury.voices)
    drawn = prior_scenarios(center, sd, population.slant, jury.labels, population.independent)
    return mean_posterior(jury, odds, drawn), np.asarray(odds.argmax(axis=1))


def _believed(jury: JuryVotes, population: Population, rho: float | None, spread: float | None) -> tuple[float, float]:
    """The middle of log rho and its standard deviation."""
    if rho is not None:
        return float(np.log(max(rho, LEAST_RHO))), 0.0
    return population.shared_error(answer_spread(jury) if spread is None else spread)
