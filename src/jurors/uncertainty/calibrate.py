"""Calibration: what grades and labels are worth when jurors share errors, as all real juries do.

`JuryVotes` (votes with one method's posterior) and a `Population` of reference juries come in; `CalibratedShares`
(posterior, labels, prevalences, accuracies and scores with their intervals) go out.

Every method that takes errors for independent is overconfident: a mistake that jurors share looks like truth, and
counts again with every juror who shares it (docs/calibration.md). Three things distinguish a real jury from what its
votes imply. They cannot be seen in the votes; their distribution over juries with known keys (`reference`) can be
measured, and a few gold items identify them.

    q_i(rho, b)[l] ∝ exp(tau_i log q_i[l] + b_l),      tau_i = 1 / (1 + rho (n_i - 1))

rho     the *shared error*: n_i jurors whose errors have intraclass correlation rho are worth n_i tau_i independent ones
        (the design effect of survey sampling).
b       the *label bias*: which labels the jury as a whole gives too often or too rarely, in log-odds. It moves
        prevalences, accuracies and scores alike, so that a juror who always gives the same answer has nearly the
        interval of that label's prevalence; without gold, prevalences and wrong labels deviate by PANEL_DEVIATION more.
delta   a juror's own *deviation* from what q implies, of constant size on the scale asin(sqrt(share)).

A scenario (`scenarios`) is one draw of (rho, b). The statistics of every scenario (`expected_sums`), spread by what
stays unknown in it (each item's label, the juror's deviation, the noise of the fit), make up the distribution whose
quantiles are the intervals (`CalibratedShares`). The spread is added on the scale asin(sqrt(share)), where shares of n
items have constant variance and whose inverse, sin², never leaves [0, 1]. A share of n items is a multiple of 1/n, so
ends are rounded to the nearest one.

Selected gold. Labels of the items that the panel doubts most say little about the others: taken for a random draw, 100
of them leave 70% of three jurors' scores inside 90% intervals. So gold that is visibly selected counts for less.

What gold items would tell. `forecast_half_widths` says how far gold items would narrow the scores, before any
is labelled: gold items as they are to be expected (of every tuple its share, by true label as in the jury's calibrated
posterior) are given to the calibration that real ones would be given to. On six real juries the mean half width that 20
or 100 gold items left, drawn at random, was off by 1 to 5 points, to either side (benchmarks/gold_widths.py).
`labelling_errors` grades a labelling as one more juror whose votes prove nothing.

Paired changes (`paired_change`): how far a juror improved between two runs on the same items. Where a juror votes alike
twice, nothing changed, whatever the truth is: only the items on which it changed its vote count, and what is uncertain
is which vote was right on those,
    change = Σ (q_i[now] - q_i[before]) / items,
with q_i calibrated from both runs alike (the mean of their log-odds), so that exchanging the runs changes the sign. Its
scenarios are those of `calibrate`: shared error, bias, labels still unknown, and the juror's own deviation and the
noise of the fit, whose parts on a share c of the items have 1 / c times their variance. It never leaves [-c, c].
Measured by replacing a juror by another, 90 times in 26 real juries: 90% intervals held 80% of the changes.

Letters in shapes: T decision tuples, R labels, N jurors, K scenarios, U distinct pairs of decision tuples in two runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from jurors._numeric import Flags, Floats, Integers
from jurors.uncertainty.reference import CORE, PanelTraits, Population
from jurors.uncertainty.scenarios import (
    DRAWS,
    MANY,
    GoldTuples,
    JuryVotes,
    Scenarios,
    add_label_juror,
    gold_scenarios,
    log_odds,
    mean_tempered_posterior,
    panel_traits,
    prior_scenarios,
    student_quantile,
    temper_posteriors,
    weigh_gold,
)

# -- sums over items of each scenario's posterior, and of what stays unknown -------------------------------------------

_DENSE_CELLS = 200_000  # cells of the one-hot matrix up to which an ordinary array is faster
_BLOCK_CELLS = 6_000_000  # tuples x labels x scenarios in memory at once


@dataclass(frozen=True)
class ExpectedSums:
    """Sums over items, by scenario (last axis) or averaged over them; the last juror gives the best labels."""

    right: Floats  # (N, R, K) items of true label l on which the juror voted l
    met: Floats  # (N, R, K) items of true label l on which the juror voted
    votes: Floats  # (N,)
    prevalence: Floats  # (R, K) items by label
    items: float
    caught: float  # gold items whose best label would have been wrong
    posterior: Floats  # (T, R) probability of each label of an item that is not gold
    best: Integers  # (T,) the best label
    doubt_right: Floats  # (N, R) variance of `right` left by unknown labels
    doubt_met: Floats  # (N, R) of `met`
    doubt: Floats  # (R,) of `prevalence`
    gold: GoldSums | None


@dataclass(frozen=True)
class GoldSums:
    """How votes on gold items differ from what the scenarios expect of them."""

    votes: Floats  # (N,) gold votes
    right: Floats  # (N, R, K) observed - expected
    met: Floats  # (N, R, K)
    expected: Floats  # (N, R) gold items of the label, expected
    doubt_right: Floats  # (N, R) variance of the difference, more where gold counts for less
    doubt_met: Floats


class OneHot:
    """The one-hot matrix of votes, dense or sparse: (jurors x labels voted) by tuples."""

    def __init__(self, jury: JuryVotes, rows: Integers | None = None, best: Integers | None = None) -> None:
        size, width = jury.labels, len(jury.weights)
        cell = jury.juror * size + jury.label
        votes = [(jury.row[run], cell[run]) for run in _runs(jury.row)]
        if best is not None:  # a run of its own: a hundred million votes need not be copied
            votes.append((np.arange(width), jury.jurors * size + best))
        self.shape = jury.jurors + (best is not None), size
        if rows is not None:
            place = np.full(width, -1)
            place[rows] = np.arange(len(rows))
            votes = [(place[row[is_in]], cells[is_in]) for row, cells in votes for is_in in [place[row] >= 0]]
            width = len(rows)
        height = self.shape[0] * size
        self.matrices: list[tuple[int, Any]]  # (first cell, matrix from that cell on): the whole is their sum
        if height * width <= _DENSE_CELLS:
            dense = np.zeros((height, width))
            for row, cells in votes:
                dense[cells, row] = 1.0
            self.matrices = [(0, dense)]
        else:
            self.matrices = [_sparse(row, cells, width) for row, cells in votes if len(row)]

    def sums(self, mass: Floats) -> tuple[Floats, Floats]:
        """Sum masses by true label (T, R, K) over votes.

        Returns
        -------
        right, met : ndarray, (N, R, K)
            Over the votes for the true label, and over all votes.
        """
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
    """Runs of votes sorted by tuple: those of the jurors, then those of each labelling."""
    ends = (np.flatnonzero(row[1:] < row[:-1]) + 1).tolist()
    return [slice(start, end) for start, end in zip([0, *ends], [*ends, len(row)], strict=True)]


def _sparse(row: Integers, cell: Integers, rows: int) -> tuple[int, Any]:
    """The first cell with a vote, and the matrix cells x tuples from it on, of votes sorted by tuple.

    Ones are exact in single precision, which takes half the memory.
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


def expected_sums(
    jury: JuryVotes, odds: list[Floats], drawn: Scenarios, gold: Floats | None, gold_weight: float = 1.0
) -> ExpectedSums:
    """Sum every scenario's posterior over items, for every juror and for one more who gives the best labels.

    Parameters
    ----------
    jury, gold
        As in `calibrate`.
    odds, drawn
        As `drawn_scenarios` returns them.
    gold_weight
        How far gold items show how the jurors do on the others (`weigh_gold`).

    Returns
    -------
    ExpectedSums
    """
    tuples, size = jury.posterior.shape
    best = odds[0].argmax(axis=1)
    if gold is not None:  # the likeliest by the posterior that is returned: biases that gold shows move it
        expected = _mean_posterior(jury, odds, drawn)
        best = np.asarray(expected.argmax(axis=1))
    count, methods = len(drawn.log_rho), _by_method(drawn)
    free = jury.weights - (0.0 if gold is None else gold.sum(axis=1))
    right, met = np.zeros((jury.jurors + 1, size, count)), np.zeros((jury.jurors + 1, size, count))
    open_right, open_met = np.zeros((jury.jurors + 1, size)), np.zeros((jury.jurors + 1, size))
    prevalence, doubt = np.zeros((size, count)), np.zeros(size)
    posterior = np.empty((tuples, size))
    for rows, part in _parts(jury, size * count):
        votes, shares = OneHot(part, best=best[rows]), np.zeros((2, *part.posterior.shape))  # Σ q and Σ q² over draws
        for k, at in methods:
            q = temper_posteriors(odds[k][rows], part.distinct, drawn.log_rho[at], drawn.bias[at])
            draws = q[:, :, : int((np.arange(count)[at] < DRAWS).sum())]  # they come first
            shares[0] += draws @ np.ones(draws.shape[2], dtype=q.dtype)
            shares[1] += np.einsum("trk,trk->tr", draws, draws)
            if gold is not None or (free[rows] != 1.0).any():
                q *= free[rows, None, None].astype(q.dtype)
            if gold is not None:
                q += gold[rows, :, None].astype(q.dtype)
            of_right, of_met = votes.sums(q)
            right[:, :, at] += of_right
            met[:, :, at] += of_met
            prevalence[:, at] += q.sum(axis=0)
        posterior[rows] = shares[0] / DRAWS if gold is None else expected[rows]
        unknown = (shares[0] - shares[1]) * (free[rows] / DRAWS)[:, None]
        of_right, of_met = votes.sums(unknown[:, :, None].astype(q.dtype))  # as precise as the scenarios
        open_right += of_right[:, :, 0]
        open_met += of_met[:, :, 0]
        doubt += unknown.sum(axis=0)
    caught = 0.0 if gold is None else float(gold.sum() - gold[np.arange(tuples), best].sum())
    return ExpectedSums(
        right, met, met[:, :, 0].sum(axis=1), prevalence, float(jury.weights.sum()), caught, posterior, best,
        open_right, open_met, doubt, None if gold is None else _gold_sums(jury, odds, drawn, gold, best, gold_weight),
    )  # fmt: skip


def _mean_posterior(jury: JuryVotes, odds: list[Floats], drawn: Scenarios) -> Floats:
    """(T, R) the mean over draws, whose methods gold has weighted."""
    mean = np.zeros(jury.posterior.shape)
    for k in range(len(odds)):
        at = np.flatnonzero(drawn.method[:DRAWS] == k)
        if len(at):
            part = mean_tempered_posterior(odds[k], jury.distinct, drawn.log_rho[at], drawn.bias[at])
            mean += part * (len(at) / DRAWS)
    return mean


def _parts(jury: JuryVotes, cells: int) -> Iterator[tuple[slice, JuryVotes]]:
    """Blocks of tuples with their votes, as many as fit into memory if each has so many cells."""
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
                jury, posterior=jury.posterior[rows], weights=jury.weights[rows], distinct=jury.distinct[rows],
                row=row - rows.start, juror=juror, label=label,
            ),
        )  # fmt: skip


def _by_method(drawn: Scenarios, cells: int = 1) -> list[tuple[int, slice | Integers]]:
    """(method, its scenarios), as many scenarios at a time as fit into memory if each has so many cells."""
    step, count = max(_BLOCK_CELLS // max(cells, 1), 1), len(drawn.method)
    if len(drawn.weights) == 1:
        return [(0, slice(start, min(start + step, count))) for start in range(0, count, step)]
    parts: list[tuple[int, slice | Integers]] = []
    for k in range(len(drawn.weights)):
        at = np.flatnonzero(drawn.method == k)
        parts += [(k, at[start : start + step]) for start in range(0, len(at), step)]
    return parts


def _gold_sums(
    jury: JuryVotes, odds: list[Floats], drawn: Scenarios, gold: Floats, best: Integers, gold_weight: float
) -> GoldSums:
    rows = np.flatnonzero(gold.sum(axis=1) > 0)
    votes, counts = OneHot(jury, rows, best), gold[rows]
    known, count = counts.sum(axis=1), len(drawn.log_rho)
    right, met = (np.empty((*votes.shape, count)) for _ in range(2))
    expected, doubt = np.zeros(counts.shape), np.zeros(counts.shape)
    for k, at in _by_method(drawn, counts.size):
        q = temper_posteriors(odds[k][rows], jury.distinct[rows], drawn.log_rho[at], drawn.bias[at])
        expected += q.sum(axis=2) * (known / count)[:, None]
        doubt += np.einsum("trk,trk->tr", q, 1 - q) * (known / (gold_weight * count))[:, None]
        right[:, :, at], met[:, :, at] = votes.sums(counts[:, :, None] - q * known[:, None, None])
    right_doubt, met_doubt = votes.sums(doubt[:, :, None])
    all_expected = votes.sums(expected[:, :, None])[1][:, :, 0]
    return GoldSums(all_expected.sum(axis=1), right, met, all_expected, right_doubt[:, :, 0], met_doubt[:, :, 0])


# -- distributions and intervals ---------------------------------------------------------------------------------------

PANEL_DEVIATION = 0.1  #: radians by which prevalences and wrong labels deviate beyond that: later panels showed more
_WIDEST = 0.6  # radians; the uniform distribution has about half of that
_NOISE = 7  # values that every scenario is spread to


def _noise_points() -> Floats:
    """(DRAWS, _NOISE) equally likely values of heavy-tailed noise of variance 1; no two scenarios have the same."""
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
    """Calibrated grades. Each is computed on first access: often only the scores are needed."""

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
        """(N,) the share of its votes that a juror has right."""
        return _of_modes(self._score_parts[0][:-1])

    @property
    def wrong_labels(self) -> float:
        """The expected share of items whose label is wrong, over all draws; gold items are right."""
        return float(self._score_parts[0][-1, :DRAWS].mean())

    @cached_property
    def log_rho(self) -> Floats:
        """Sorted draws of the shared error's logarithm."""
        return np.sort(self.drawn.log_rho[:DRAWS])

    @property
    def score_draws(self) -> Floats:
        """(N, DRAWS) the scores of every scenario: what is common to all jurors."""
        return self._score_parts[0][:-1, :DRAWS]

    @property
    def score_doubt(self) -> Floats:
        """(N,) the variance of what stays unknown about a juror within a scenario."""
        return self._score_parts[1][:-1]

    @cached_property
    def values(self) -> Floats:
        """(statistics, values) equally likely values, sorted, of prevalence, accuracy, score and wrong labels."""
        (accuracy, accuracy_doubt), (score, score_doubt) = self._accuracy_parts, self._score_parts
        cells = accuracy[:-1, :, :DRAWS].reshape(-1, DRAWS)
        share = np.concatenate([self._prevalences[:, :DRAWS], cells, score[:, :DRAWS]])
        with np.errstate(divide="ignore", invalid="ignore"):
            doubt = self.sums.doubt / self.sums.items**2 + self.noise.prevalence
            doubt = doubt + self._panel_deviation(share[: len(doubt)])
            return spread_shares(share, np.concatenate([doubt, accuracy_doubt[:-1].ravel(), score_doubt]))

    @property
    def wrong_label_values(self) -> Floats:
        """Equally likely values, sorted, of the share of wrong labels."""
        score, doubt = self._score_parts
        return np.asarray(spread_shares(score[-1:, :DRAWS], doubt[-1:])[0], dtype=np.float64)

    @property
    def shared_error(self) -> float:
        """The median of rho."""
        return float(np.exp(quantile(self.log_rho, 0.5)))

    def shared_error_interval(self, level: float = 0.95) -> Floats:
        """The interval of rho.

        Returns
        -------
        ndarray, (2,)
        """
        return np.exp([quantile(self.log_rho, tail) for tail in _tails(level)])

    def interval(self, level: float = 0.95) -> dict[str, Floats]:
        """Intervals of all statistics.

        Returns
        -------
        dict of ndarray
            `prevalence` (R, 2), `accuracy` (N, R, 2), `score` (N, 2), `wrong_labels` (2,) and `shared_error` (2,), with
            (low, high) on the last axis.
        """
        ends = np.stack([quantile(self.values, tail) for tail in _tails(level)], axis=1, dtype=np.float64)
        sums = self.sums
        if len(sums.prevalence) == 2:  # one label's share is the other's complement, and so is its interval
            ends[:2] = (ends[:2] + 1.0 - ends[1::-1, ::-1]) / 2.0
        met = sums.met[:-1].sum(axis=2).ravel() / sums.met.shape[2]
        items = np.concatenate([np.full(len(sums.prevalence), sums.items), met, sums.votes])
        size = np.maximum(np.rint(items), 1.0)[:, None]
        ends = np.rint(ends * size) / size
        jurors, labels = sums.right.shape[0] - 1, sums.right.shape[1]
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
        """Scores (N + 1, K), the last the share of wrong labels, and the variance (N + 1,) within a scenario."""
        sums, gold, by_gold = self.sums, self.sums.gold, None
        with np.errstate(divide="ignore", invalid="ignore"):
            doubt = sums.doubt_right.sum(axis=1) / sums.votes**2 + _and_labels(self.noise.score)
            if gold is not None:
                size = np.maximum(gold.votes, 1e-9)
                gaps, variance = gold.right.sum(axis=1) / size[:, None], gold.doubt_right.sum(axis=1) / size**2
                by_gold = gaps, variance, gold.votes > 0, 1.0 - gold.votes / sums.votes
            share = sums.right.sum(axis=1) / sums.votes[:, None]
            score, doubt = self._with_deviations(share, doubt, self.population.deviation, by_gold)
            score[-1] = np.maximum(1.0 - score[-1] - sums.caught / sums.items, 0.0)
            doubt[-1] += self._panel_deviation(score[-1:, :DRAWS])[0]
        return score, doubt

    @cached_property
    def _accuracy_parts(self) -> tuple[Floats, Floats]:
        """Accuracies (N + 1, R, K), the last of the best labels, and the variance (N + 1, R) within a scenario.

        An item moves the accuracy a by (voted l - a)(is l - q) / items of the label: gold items are compared on that.
        """
        sums, gold, by_gold = self.sums, self.sums.gold, None
        with np.errstate(divide="ignore", invalid="ignore"):
            accuracy = sums.right / sums.met
            mean, met = accuracy.sum(axis=2) / accuracy.shape[2], sums.met.sum(axis=2) / accuracy.shape[2]
            doubt = ratio_variance(sums.doubt_right, sums.doubt_met, mean) / met**2 + _and_labels(self.noise.accuracy)
            if gold is not None:
                size = np.maximum(gold.expected, 1e-9)
                gaps = (gold.right - accuracy * gold.met) / size[:, :, None]
                variance = ratio_variance(gold.doubt_right, gold.doubt_met, mean) / size**2
                by_gold = gaps, variance, gold.expected > 1e-6, np.clip(1.0 - gold.expected / met, 0.0, 1.0)
            return self._with_deviations(accuracy, doubt, self.population.label_deviation, by_gold)

    def _panel_deviation(self, share: Floats) -> Floats:
        """The variance of shares (statistics, draws) of the whole panel beyond the scenarios; gold leaves none."""
        mean, sd = share.mean(axis=1), min(PANEL_DEVIATION, self.population.label_bias)
        return np.zeros(len(mean)) if self.sums.gold is not None else 4.0 * sd**2 * mean * (1.0 - mean)

    def _with_deviations(
        self, share: Floats, doubt: Floats, usual: float, by_gold: tuple[Floats, Floats, Flags, Floats] | None
    ) -> tuple[Floats, Floats]:
        """Move shares by the jurors' own deviations, as far as gold shows them; and add what stays unknown of these.

        `by_gold` has gaps between gold and expectation with their variance, where any were seen, and the share of votes
        that are not gold.
        """
        mean = share.sum(axis=-1) / share.shape[-1]
        unit = 4.0 * mean * (1.0 - mean)  # the variance whose deviation has variance 1 on the scale asin(sqrt(share))
        if by_gold is None:
            return share, doubt + usual**2 * unit
        gaps, variance, is_seen, left = by_gold
        shift, rest = _own_deviation(gaps, variance, unit, is_seen, usual, self.population.unevenness)
        shift = shift * left[..., None]
        room = np.where(shift > 0, 1.0 - share, share)  # at most nine tenths of the way to the border of [0, 1]
        moved = np.asarray(share + np.sign(shift) * np.minimum(np.abs(shift), 0.9 * room))
        return moved, doubt + rest * left**2


def _of_modes(values: Floats) -> Floats:
    """The estimate: the mean over the modes, which follow the draws."""
    modes = values[..., DRAWS:]
    return np.asarray(modes.sum(axis=-1) / modes.shape[-1])


def _tails(level: float) -> tuple[float, float]:
    return 0.5 - level / 2, 0.5 + level / 2


def quantile(values: Floats, share: float) -> Any:
    """A quantile of sorted values along the last axis, interpolated linearly.

    Returns
    -------
    float or ndarray
        Without the last axis.
    """
    place = share * (values.shape[-1] - 1)
    k = min(int(place), values.shape[-1] - 2)
    return values[..., k] + (place - k) * (values[..., k + 1] - values[..., k])


def spread_shares(share: Floats, variance: Floats) -> Floats:
    """Spread each scenario's share by its noise, on the scale asin(sqrt(share)).

    Parameters
    ----------
    share
        (statistics, DRAWS)
    variance
        (statistics,) of the noise.

    Returns
    -------
    ndarray, (statistics, DRAWS x points)
        Equally likely values of every statistic, sorted.
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


def _own_deviation(
    gaps: Floats, variance: Floats, unit: Floats, seen: Flags, usual: float, unevenness: float
) -> tuple[Floats, Floats]:
    """Each juror's deviation given gold: the shrunken estimate, and the variance that remains.

    First the variance of deviations in this jury is estimated from all jurors (not less than in other juries: they saw
    the same gold items, so that their agreement proves little); then each deviation is shrunk as usual,
    weight = prior variance / (prior variance + variance of the observed gap).
    """
    seen = seen & np.isfinite(variance) & (unit > 0)
    square, variance = np.where(seen, gaps.mean(axis=-1) ** 2, 0.0), np.where(seen, variance, 1.0)
    unit = np.where(seen, unit, np.nan_to_num(unit))
    prior = unevenness * usual**2
    precision = np.where(seen, unit / (prior * unit + variance) ** 2, 0.0) / 2.0
    gained, before = float((precision * unit).sum()), 1.0 / max(prior, 1e-12) ** 2
    estimate = (float((precision * (square - variance)).sum()) + before * prior) / (gained + before)
    deviation = max(estimate, prior) * unit
    weight = np.where(seen, deviation / (deviation + variance), 0.0)
    return weight[..., None] * gaps, deviation * (1.0 - weight)


def _and_labels(noise: Floats | float, labellings: int = 1) -> Floats | float:
    """The noise of every juror, and of those who give the best labels or others: none, as it is the jurors' own."""
    return noise if isinstance(noise, float) else np.concatenate([noise, np.zeros((labellings, *noise.shape[1:]))])


def ratio_variance(right: Floats, met: Floats, ratio: Floats) -> Floats:
    """The variance of right - ratio met, where `right` and the rest of `met` have these variances.

    Returns
    -------
    ndarray
        Shaped as the arguments.
    """
    return np.asarray(right * (1.0 - ratio) ** 2 + (met - right) * ratio**2)


# -- calibration -------------------------------------------------------------------------------------------------------

FIRST_METHOD = 0.5  #: prior probability of the requested method; with gold, its rivals share the rest
LEAST_RHO = 1e-4  # a shared error that makes no difference


def calibrate(
    jury: JuryVotes,
    population: Population,
    *,
    rho: float | None = None,
    gold: Floats | None = None,
    rivals: Sequence[Floats] = (),
    noise: FitNoise | None = None,
    traits: PanelTraits | None = None,
) -> CalibratedShares:
    """Grade a jury, allowing for shared errors as reference juries have them.

    Parameters
    ----------
    jury
        The votes and one method's posterior.
    population
        The reference juries' (`fit_population`).
    rho
        The shared error, where you know it; by default it is drawn from the population.
    gold
        (T, R): how many items of each tuple are known to have each true label. They may be selected at random or by
        anything that depends on votes alone: given an item's votes, its selection must say nothing about its label.
        Where they are visibly selected, they count for less (`weigh_gold`).
    rivals
        Other methods' posteriors, weighted by how well they predict gold; unused without gold.
    noise
        How far the estimates move when items are drawn again; matters for few items and few jurors only.
    traits
        `panel_traits` of all votes, where `jury` is about some of the items only.

    Returns
    -------
    CalibratedShares
    """
    traits, weight = traits or panel_traits(jury), 1.0 if gold is None else weigh_gold(jury, gold)
    believed = None if gold is None else weight * gold
    odds, drawn = drawn_scenarios(jury, population, rho=rho, gold=believed, rivals=rivals, traits=traits)
    population = population if gold is None else population.with_gold(traits)
    return CalibratedShares(expected_sums(jury, odds, drawn, gold, weight), population, drawn, noise or FitNoise())


def drawn_scenarios(
    jury: JuryVotes, population: Population, *, rho: float | None, gold: Floats | None, rivals: Sequence[Floats],
    traits: PanelTraits | None = None,
) -> tuple[list[Floats], Scenarios]:  # fmt: skip
    """Draw scenarios given the reference juries and gold; arguments as in `calibrate`.

    Returns
    -------
    odds : list of ndarray, (T, R)
        Each method's log-odds.
    drawn : Scenarios
    """
    center, sd = _log_rho(rho) if rho is not None else population.shared_error(traits or panel_traits(jury))
    odds = [log_odds(jury.posterior, jury.distinct)]
    if gold is None:
        drawn = prior_scenarios(center, sd, population.label_bias, jury.labels, population.independent)
    else:
        odds += [log_odds(posterior, jury.distinct) for posterior in rivals]
        at = gold.sum(axis=1) > 0
        seen = [GoldTuples(part[at], jury.distinct[at], gold[at]) for part in odds]
        prior = np.full(len(odds), (1.0 - FIRST_METHOD) / max(len(odds) - 1, 1))
        prior[0] = FIRST_METHOD if rivals else 1.0
        drawn = gold_scenarios(seen, prior, center, sd / CORE, population.label_bias)  # gold finds the outer tails
    return odds, drawn


def _log_rho(rho: float) -> tuple[float, float]:
    """Mean and standard deviation of the logarithm of a shared error that is given."""
    return float(np.log(max(rho, LEAST_RHO))), 0.0


def expected_labels(jury: JuryVotes, population: Population, *, rho: float | None = None) -> tuple[Floats, Integers]:
    """The posterior and best labels of `calibrate` without gold: all that labelling needs.

    Returns
    -------
    posterior : ndarray, (T, R)
    labels : ndarray of int, (T,)
    """
    (odds,), drawn = drawn_scenarios(jury, population, rho=rho, gold=None, rivals=())
    mean = mean_tempered_posterior(odds, jury.distinct, drawn.log_rho[:DRAWS], drawn.bias[:DRAWS])
    return mean, np.asarray(odds.argmax(axis=1))


def temper_new_tuples(
    jury: JuryVotes, population: Population, posterior: Floats, distinct: Floats, *, rho: float | None = None
) -> Floats:
    """Calibrate the posterior of tuples that the jury did not vote on, by the jury's own shared error.

    Parameters
    ----------
    jury, population, rho
        As in `calibrate`.
    posterior
        (t, R) of the other tuples, as if errors were independent.
    distinct
        (t,) how many distinct jurors voted on each.

    Returns
    -------
    ndarray, (t, R)
    """
    _, drawn = drawn_scenarios(jury, population, rho=rho, gold=None, rivals=())
    return mean_tempered_posterior(log_odds(posterior, distinct), distinct, drawn.log_rho[:DRAWS], drawn.bias[:DRAWS])


# -- what gold items would leave, and how often labellings are wrong ---------------------------------------------------

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
        Confidence level of the intervals.
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
    own = FitNoise(noise.prevalence, _and_labels(noise.accuracy, more), _and_labels(noise.score, more))
    shares = calibrate(
        graded, population, rho=rho, gold=gold, rivals=rivals, noise=own, traits=panel_traits(jury)
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
    center, sd = _log_rho(rho) if rho is not None else known or population.shared_error(traits)
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
    ends = [float(quantile(values, tail)) for tail in _tails(level)]
    low, high, value = ((2.0 * x - 1.0) * changed / items for x in (*ends, float(share[DRAWS:].mean())))
    return PairedChange(value, (low, high), round(items), round(changed))
