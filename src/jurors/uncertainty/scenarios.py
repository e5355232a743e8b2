"""Scenarios of shared error and label bias: draws from the reference juries, or from what gold items leave of them.

`JuryVotes` (votes by decision tuple with a method's posterior) and a prior come in; `Scenarios` and posteriors tempered
by them go out. The model is that of `calibrate`: q_i(rho, b)[l] ∝ exp(tau_i log q_i[l] + b_l), with the shared error
rho and the label bias b.

Without gold the draws are spread evenly over the prior. With gold, at each of many values of log rho the bias that
maximises the likelihood of the gold labels is computed by Newton's method (the problem is concave), and Laplace's
approximation gives the covariance of the bias and the evidence for that rho, and for that method's posterior:

    log p(gold | rho, method) ≈ log p(gold | rho, b*) - |b*|² / 2 s² - ½ log det(1 + s² H)

Letters in shapes: T decision tuples, R labels, N jurors, K scenarios, G tuples with gold items.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Floats, Integers, stable_argsort
from jurors.uncertainty.reference import PanelTraits

DRAWS = 64  #: draws of (rho, bias), for intervals
MODES = 16  #: values of rho with the most likely bias at each, for the estimates themselves
NODES = 41  #: values of log rho at which the evidence of gold is computed
_REACH = 4.0  # standard deviations that they span on either side
NONE = -9.0  #: log rho where no error is shared
MANY = 500_000  #: posteriors, or equally likely values, from which single precision is enough
_IN_CACHE = 1 << 17  # posteriors computed at a time
_EQUALLY_SURE = 1e-9  # a smaller difference of probabilities is rounding
_STEPS, _CONVERGED, _LONGEST = 25, 1e-6, 2.0  # of Newton's method


@dataclass(frozen=True)
class Scenarios:
    """DRAWS draws followed by MODES modes; each has a method, a shared error and a label bias."""

    method: Integers  #: (DRAWS + MODES,) whose posterior
    log_rho: Floats  #: (DRAWS + MODES,)
    bias: Floats  #: (DRAWS + MODES, R)
    weights: Floats  #: (methods,) their probabilities, given gold


@dataclass(frozen=True)
class GoldTuples:
    """Gold items by tuple, as one method sees them."""

    odds: Floats  #: (G, R) log-odds relative to the likeliest label
    distinct: Floats  #: (G,) how many distinct jurors voted
    counts: Floats  #: (G, R) items by true label


def prior_scenarios(center: float, sd: float, bias: float, labels: int, independent: float = 0.0) -> Scenarios:
    """Draw scenarios from the reference juries alone.

    Parameters
    ----------
    center, sd
        Mean and standard deviation of log rho; `sd` 0 fixes the shared error.
    bias
        Standard deviation of a label's bias.
    independent
        The share of juries that share no error at all: so many of the draws, the lowest ones, have rho = 0.

    Returns
    -------
    Scenarios
    """
    unit, z, method, ones = _unit_prior(labels)
    log_rho = center + sd * unit
    if sd > 0 and independent > 0:
        log_rho[unit < NormalDist().inv_cdf(independent)] = NONE
    return Scenarios(method, log_rho, bias * z, ones)


@lru_cache(maxsize=64)
def _unit_prior(labels: int) -> tuple[Floats, Floats, Integers, Floats]:
    """Standardised log rho (K,) and bias (K, R), whose tails are Student's; and the fields without a choice."""
    share, normal = _lattice(labels)
    below = np.array([NormalDist().cdf(float(x)) for x in normal.ravel()]).reshape(normal.shape)
    z = np.concatenate([student_quantile(below) @ contrasts(labels), np.zeros((MODES, labels))])
    shares = np.concatenate([share, (np.arange(MODES) + 0.5) / MODES])
    return normal_quantile(shares), z, np.zeros(DRAWS + MODES, dtype=np.int64), np.ones(1)


@lru_cache(maxsize=64)
def _lattice(labels: int) -> tuple[Floats, Floats]:
    """Evenly spread draws: (K,) shares for log rho, and (K, R - 1) standard normals, mirrored so that they cancel."""
    half, root = DRAWS // 2, 2.0
    for _ in range(60):  # the generalised golden ratio: root^(d + 1) = root + 1
        root = (1.0 + root) ** (1.0 / (labels + 1))
    points = (0.5 + np.arange(1, half + 1)[:, None] * root ** -np.arange(1.0, labels + 1)) % 1.0
    normal = normal_quantile(points[:, 1:])
    normal /= np.sqrt((normal**2).mean(axis=0))
    order = np.argsort(np.repeat(points[:, 0], 2), kind="stable")
    share = np.empty(DRAWS)
    share[order] = (np.arange(DRAWS) + 0.5) / DRAWS
    return np.concatenate([share[::2], share[1::2]]), np.concatenate([normal, -normal])


def normal_quantile(shares: Floats) -> Floats:
    """Quantiles of the standard normal distribution.

    Returns
    -------
    ndarray
        Shaped as `shares`.
    """
    normal = NormalDist()
    return np.array([normal.inv_cdf(float(x)) for x in shares.ravel()]).reshape(shares.shape)


def student_quantile(shares: Floats) -> Floats:
    """Quantiles of Student's t with four degrees of freedom, scaled to variance 1 (a closed form exists).

    Juries differ in how biased they are and how far their jurors deviate, so both have heavier tails than a normal.

    Returns
    -------
    ndarray
        Shaped as `shares`.

    Examples
    --------
    >>> student_quantile(np.array([0.5, 0.95])).round(3).tolist()
    [0.0, 1.507]
    """
    root = np.sqrt(4.0 * shares * (1.0 - shares))
    square = 2.0 * np.maximum(np.cos(np.arccos(root) / 3.0) / root - 1.0, 0.0)
    return np.asarray(np.sign(shares - 0.5) * np.sqrt(square))


@lru_cache(maxsize=64)
def contrasts(labels: int) -> Floats:
    """Helmert's contrasts: the directions in which a label bias matters.

    Returns
    -------
    ndarray, (R - 1, R)
        Orthonormal rows, each with sum 0.
    """
    table = np.tril(np.ones((labels - 1, labels)))
    k = np.arange(1, labels)
    table[k - 1, k] = -k
    return np.asarray(table / np.sqrt(k * (k + 1.0))[:, None])


def temper_posteriors(odds: Floats, distinct: Floats, log_rho: Floats, bias: Floats) -> Floats:
    """Posteriors of K scenarios: q^tau exp(bias), normalised, with tau = 1 / (1 + rho (distinct - 1)).

    Parameters
    ----------
    odds
        (T, R) log-odds relative to the likeliest label, so that no exponential overflows.
    distinct
        (T,) how many distinct jurors voted.
    log_rho, bias
        (K,) and (K, R).

    Returns
    -------
    ndarray, (T, R, K)
        In single precision where they are many: their weights are known to two digits.
    """
    tempered = np.empty((*odds.shape, len(log_rho)), dtype=_precision(odds, log_rho))
    order = stable_argsort(distinct)
    for part, z, share in _exponentials(odds[order], distinct[order], log_rho, bias):
        z *= share
        tempered[order[part]] = z.transpose(1, 0, 2)
    return tempered


def mean_tempered_posterior(odds: Floats, distinct: Floats, log_rho: Floats, bias: Floats) -> Floats:
    """The mean over scenarios of `temper_posteriors`, without storing any single one.

    Returns
    -------
    ndarray, (T, R)
    """
    sums, mean = np.empty(odds.shape[::-1], dtype=_precision(odds, log_rho)), np.empty(odds.shape)
    order = stable_argsort(distinct)
    for part, z, share in _exponentials(odds[order], distinct[order], log_rho, bias):
        np.vecdot(z, share, out=sums[:, part])
    mean[order] = sums.T
    mean /= len(log_rho)
    return mean


def _precision(odds: Floats, log_rho: Floats) -> Any:
    return np.float64 if odds.size * len(log_rho) < MANY else np.float32


def _exponentials(
    odds: Floats, distinct: Floats, log_rho: Floats, bias: Floats
) -> Iterator[tuple[slice, Floats, Floats]]:
    """Some rows at a time, q^tau exp(bias) by label, row and scenario (R, t, K), and one over their sum (t, K).

    Rows are sorted by `distinct`: equal ones have the same tau, so that the exponents of a label are a product of two
    thin matrices, [odds 1] [tau; bias]. Each part overwrites the previous one.
    """
    kind, (rows, labels), count = _precision(odds, log_rho), odds.shape, len(log_rho)
    step = max(_IN_CACHE // max(labels * count, 1), 1)
    held = np.empty((labels, min(step, rows), count), dtype=kind)
    totals = np.empty(held.shape[1:], dtype=kind)
    left, right = np.ones((labels, rows, 2), dtype=kind), np.empty((labels, 2, count), dtype=kind)
    left[:, :, 0], right[:, 1] = odds.T, bias.T
    rho = np.exp(log_rho)
    ends = [*(np.flatnonzero(distinct[1:] > distinct[:-1]) + 1).tolist(), rows]
    for first, end in zip([0, *ends[:-1]], ends, strict=True):
        for start in range(first, end, step):
            if start == first:
                right[:, 0] = 1.0 / (1.0 + max(float(distinct[first]) - 1.0, 0.0) * rho)
            part = slice(start, min(start + step, end))
            z, total = held[:, : part.stop - start], totals[: part.stop - start]
            for k in range(labels):
                np.dot(left[k, part], right[k], out=z[k])
            np.exp(z, out=z)
            z.sum(axis=0, out=total)
            yield part, z, np.divide(1.0, total, out=total)


def gold_scenarios(gold: list[GoldTuples], prior_weights: Floats, center: float, sd: float, bias: float) -> Scenarios:
    """Draw scenarios from the posterior given gold items.

    Parameters
    ----------
    gold
        The gold items with the log-odds of each method's posterior.
    prior_weights
        (methods,) how probable each method is before gold.
    center, sd, bias
        As in `prior_scenarios`.

    Returns
    -------
    Scenarios
    """
    labels = gold[0].odds.shape[1]
    unit = np.linspace(-_REACH, _REACH, NODES) if sd > 0 else np.zeros(1)
    nodes = center + sd * unit
    evidence = np.stack([laplace(part, nodes, bias)[2] for part in gold])
    height = evidence - 0.5 * unit**2 + np.log(prior_weights)[:, None]
    mass = np.exp(height - height.max())
    mass /= mass.sum()
    share, normal = _lattice(labels)
    shares = np.concatenate([share, (np.arange(MODES) + 0.5) / MODES])
    # quantiles of (method, log rho), method after method
    flat = mass.ravel()
    total = np.cumsum(flat)
    cell = np.minimum(np.searchsorted(total, shares * total[-1]), len(flat) - 1)
    within = (shares * total[-1] - (total - flat)[cell]) / np.maximum(flat[cell], 1e-300)
    width = nodes[1] - nodes[0] if len(nodes) > 1 else 0.0
    method, log_rho = cell // len(nodes), nodes[cell % len(nodes)] + width * (np.clip(within, 0.0, 1.0) - 0.5)
    drawn = np.zeros((DRAWS + MODES, labels))
    for k in sorted(set(method.tolist())):  # `np.unique` imports `np.ma`, which takes 10 ms
        at = np.flatnonzero(method == k)
        mode, precision, _ = laplace(gold[k], log_rho[at], bias)
        drawn[at] = mode
        some = at < DRAWS
        root = np.linalg.cholesky(np.linalg.inv(precision[some]))
        drawn[at[some]] += np.einsum("kab,kb->ka", root, normal[at[some]]) @ contrasts(labels)
    return Scenarios(method, log_rho, drawn, mass.sum(axis=1))


def laplace(gold: GoldTuples, log_rho: Floats, bias: float) -> tuple[Floats, Floats, Floats]:
    """Laplace's approximation of the label bias given gold items, at each log rho.

    Parameters
    ----------
    gold
        The gold items.
    log_rho
        (K,)
    bias
        Standard deviation of the prior of a label's bias.

    Returns
    -------
    mode : ndarray, (K, R)
        The most likely bias.
    precision : ndarray, (K, R - 1, R - 1)
        Of the bias in contrasts.
    evidence : ndarray, (K,)
        log p(gold | rho).
    """
    basis = contrasts(gold.odds.shape[1])
    prior = np.eye(len(basis)) / bias**2
    beta = np.zeros((len(log_rho), len(basis)))
    items, diagonal = gold.counts.sum(axis=1), np.arange(gold.odds.shape[1])
    for _ in range(_STEPS):
        q = temper_posteriors(gold.odds, gold.distinct, log_rho, beta @ basis).transpose(2, 0, 1)  # (K, G, R)
        weighted = q * items[:, None]
        curvature = -np.matmul(weighted.transpose(0, 2, 1), q)  # Σ items (diag q - q qᵀ), (K, R, R)
        curvature[:, diagonal, diagonal] += weighted.sum(axis=1)
        precision = basis @ curvature @ basis.T + prior
        slope = (gold.counts.sum(axis=0) - items @ q) @ basis.T - beta / bias**2
        step = np.linalg.solve(precision, slope[:, :, None])[:, :, 0]
        length = np.abs(step).max(axis=1, keepdims=True)
        beta += step * np.minimum(1.0, _LONGEST / np.maximum(length, 1e-300))
        if length.max() < _CONVERGED:
            break
    q = temper_posteriors(gold.odds, gold.distinct, log_rho, beta @ basis)
    likely = np.einsum("gr,grk->k", gold.counts, np.log(np.maximum(q, 1e-300)))
    _, size = np.linalg.slogdet(precision * bias**2)
    return beta @ basis, precision, likely - 0.5 * (beta**2).sum(axis=1) / bias**2 - 0.5 * size


def weigh_gold(jury: JuryVotes, gold: Floats) -> float:
    """How far gold items show how the jurors do on all the others: 1 where they may be a random draw.

    Let a be how often the posterior is surer of a gold item than of another one, which is 1/2 for a random draw. The
    weight is 1 up to two standard errors from that, and falls to that error where all gold items are the most doubtful
    ones, or the surest (the Mann-Whitney statistic; items of which it is equally sure share their ranks).

    Returns
    -------
    float
        How many random gold items each of these counts as.

    Examples
    --------
    >>> posterior = np.array([[0.9, 0.1], [0.6, 0.4]])
    >>> row, juror, label = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([0, 0, 0, 1])
    >>> jury = JuryVotes(posterior, np.array([80.0, 20.0]), row, juror, label, 2, np.array([2.0, 2.0]))
    >>> [round(weigh_gold(jury, np.array(gold)), 2) for gold in ([[16, 0], [2, 2]], [[0, 0], [10, 10]])]
    [1.0, 0.2]
    """
    sure, known = jury.posterior.max(axis=1), gold.sum(axis=1)
    order = stable_argsort(sure)
    place = np.concatenate([[0], np.cumsum(np.diff(sure[order]) > _EQUALLY_SURE)])
    size = np.bincount(place, weights=jury.weights[order])
    total, golden = float(size.sum()), float(known.sum())
    rank = np.cumsum(size) - size / 2.0 - total / 2.0
    spread, pairs = float(size @ rank**2) / total, golden * (total - golden)
    if spread <= 0.0 or pairs <= 0.0:
        return 1.0
    distance = abs(float(np.bincount(place, weights=known[order]) @ rank)) / pairs
    return min(1.0 - 2.0 * (distance - 2.0 * math.sqrt(spread / (pairs * max(total - 1.0, 1.0)))), 1.0)


# -- votes -------------------------------------------------------------------------------------------------------------

_MOST_AT_ONCE = 1 << 22  # votes: a hundred million need not be stored by cell as well
MOST_PER_JUROR = 3.0  #: log-odds one juror may add (20 to 1): a fit that claims more is not believed
MOST_JURORS = 9.0  #: how many may add that much, however many voted


@dataclass(frozen=True)
class JuryVotes:
    """Votes by decision tuple, and a method's posterior of them as if errors were independent."""

    posterior: Floats  #: (T, R) probability of each label
    weights: Floats  #: (T,) how many items have the tuple
    row: Integers  #: the tuple of each vote
    juror: NDArray[np.signedinteger[Any]]  #: who cast it
    label: NDArray[np.signedinteger[Any]]  #: what was voted
    jurors: int
    distinct: Floats  #: (T,) how many distinct jurors voted: one judge with five answers counts once

    @property
    def labels(self) -> int:
        """How many labels there are."""
        return int(self.posterior.shape[1])


def count_independent_jurors(
    row: Integers, juror: NDArray[np.signedinteger[Any]], tuples: int, representative: Integers
) -> Floats:
    """Count the distinct jurors who voted on each tuple.

    Parameters
    ----------
    row, juror
        The tuple and the juror of each vote.
    representative
        (N,) the juror that each one repeats; itself where it repeats none.

    Returns
    -------
    ndarray of float, (tuples,)
    """
    width = len(representative)
    if (representative == np.arange(width)).all():
        return np.bincount(row, minlength=tuples).astype(np.float64)
    pairs = np.unique(row * width + representative[juror])
    return np.bincount(pairs // width, minlength=tuples).astype(np.float64)


def add_label_juror(jury: JuryVotes, chosen: Integers) -> JuryVotes:
    """Add a labelling as one more juror, who gives these labels to the tuples: it is graded as any juror is.

    Returns
    -------
    JuryVotes
    """
    last = np.full(len(chosen), jury.jurors, dtype=jury.juror.dtype)
    return replace(
        jury,
        row=np.concatenate([jury.row, np.arange(len(chosen))]),
        juror=np.concatenate([jury.juror, last]),
        label=np.concatenate([jury.label, chosen.astype(jury.label.dtype)]),
        jurors=jury.jurors + 1,
    )


def log_odds(posterior: Floats, distinct: Floats) -> Floats:
    """Log-probabilities relative to the likeliest label, none lower than so many distinct jurors can justify.

    A degenerate fit, certain of thousands of items, is not believed that far.

    Returns
    -------
    ndarray, (T, R)
        Between -MOST_PER_JUROR times `distinct`, of whom at most MOST_JURORS count, and 0.
    """
    with np.errstate(divide="ignore"):
        likely = np.log(posterior.T, order="C")  # a maximum over a short last axis takes four times as long
    if np.isnan(likely[0]).any():
        likely = np.where(np.isnan(likely), 0.0, likely)
    likely -= likely.max(axis=0)
    np.maximum(likely, -MOST_PER_JUROR * np.clip(distinct, 1.0, MOST_JURORS), out=likely)
    return np.ascontiguousarray(likely.T)


def answer_spread(jury: JuryVotes) -> float:
    """The spread of the jurors' answer rates: root of their vote-weighted variance, mean over labels.

    The one visible trace of shared error: jurors with a default answer err alike where the truth is another.

    Returns
    -------
    float
        0 where all jurors have the same rates.
    """
    sums = np.zeros(jury.jurors * jury.labels)
    for start in range(0, len(jury.row), _MOST_AT_ONCE):
        part = slice(start, start + _MOST_AT_ONCE)
        cell = jury.juror[part] * jury.labels + jury.label[part]
        sums += np.bincount(cell, weights=jury.weights[jury.row[part]], minlength=len(sums))
    votes = sums.reshape(jury.jurors, jury.labels)
    cast, rates = np.add.reduce(votes, axis=1), np.add.reduce(votes, axis=0)
    total = np.add.reduce(rates)
    deviation = votes / np.maximum(cast, 1e-12)[:, None] - rates / total
    return float(np.sqrt(cast.dot(deviation * deviation) / total).mean())


def panel_traits(jury: JuryVotes) -> PanelTraits:
    """What the votes show that goes with shared error: the spread of answer rates, the number of jurors, agreement.

    Returns
    -------
    PanelTraits
    """
    kappa = fleiss_kappa(jury) if jury.labels > 2 and jury.jurors < 12 else 0.0
    weighed = jury.weights[jury.row] > 0  # not jurors whose items are all left out
    jurors = jury.jurors if weighed.all() else int(np.count_nonzero(np.bincount(jury.juror[weighed])))
    return PanelTraits(answer_spread(jury), jurors, kappa)


def fleiss_kappa(jury: JuryVotes) -> float:
    """Fleiss' kappa of the votes: how far two jurors agree on an item beyond chance.

    Returns
    -------
    float
        0 where no item has two votes, or all votes are for one label.
    """
    votes, agreed = _agreement(jury)
    rates = jury.weights @ votes
    chance = float(((rates / max(rates.sum(), 1.0)) ** 2).sum())
    if agreed is None or chance >= 1:
        return 0.0
    return (agreed - chance) / (1 - chance)


def _agreement(jury: JuryVotes) -> tuple[Floats, float | None]:
    """(T, R) votes for each label, and how often two votes on an item agree: None where no item has two."""
    size = jury.labels
    cell = jury.row * size + jury.label
    votes = np.bincount(cell, minlength=len(jury.weights) * size).reshape(-1, size).astype(float)
    cast = votes.sum(axis=1)
    pairs = float(jury.weights @ (cast * (cast - 1)))
    return votes, float(jury.weights @ ((votes**2).sum(axis=1) - cast)) / pairs if pairs else None


def majority_posterior(jury: JuryVotes) -> Floats:
    """The posterior if all jurors are equally accurate and errors independent: log-odds proportional to vote counts.

    Their accuracy a follows from how often two agree, a² + (1 - a)² / (R - 1).

    Returns
    -------
    ndarray, (T, R)
    """
    size, (votes, pair_rate) = jury.labels, _agreement(jury)
    agreed = 1.0 if pair_rate is None else pair_rate
    # a solves a² R/(R-1) - 2a/(R-1) + 1/(R-1) - agreed = 0
    inner = max(1.0 - size * (1.0 - agreed * (size - 1)), 0.0)
    accuracy = min(max((1.0 + np.sqrt(inner)) / size, 1.0 / size + 0.02), 0.995)
    z = votes * np.log(accuracy * (size - 1) / (1.0 - accuracy))
    z = np.exp(z - z.max(axis=1, keepdims=True))
    return np.asarray(z / z.sum(axis=1, keepdims=True))
