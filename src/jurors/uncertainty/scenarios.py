"""Draws of shared error and slant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Floats, Integers, stable_argsort

# Scenarios: draws of shared error and slant, from the reference juries or from what gold items leave of them.
#
# Without gold the draws are evenly spread over the prior. With gold, at each of many values of log rho the slant that
# makes the gold labels likeliest is found by Newton's method (the problem is concave), and Laplace's approximation
# gives the slant's covariance and the evidence for that rho, and for that method's posterior:
#
#     log p(gold | rho, method) ≈ log p(gold | rho, b*) - |b*|² / 2 s² - ½ log det(1 + s² H)


DRAWS = 64  #: draws of (rho, slant), for intervals
MODES = 16  #: values of rho at which the slant is the likeliest one, for the estimates themselves
NODES = 41  #: values of log rho that gold weighs
_REACH = 4.0  # standard deviations that they span on either side
NONE = -9.0  #: log rho where no error is shared
MANY = 500_000  #: posteriors, or equally likely values, from which single precision is enough
_IN_CACHE = 1 << 17  # posteriors worked out at a time
_STEPS, _SETTLED, _LONGEST = 25, 1e-6, 2.0  # Newton's


@dataclass(frozen=True)
class Scenarios:
    """DRAWS draws followed by MODES modes; each has a method, a shared error and a slant."""

    method: Integers
    log_rho: Floats
    slant: Floats  #: (DRAWS + MODES, R)
    weights: Floats  #: of the methods, after gold


@dataclass(frozen=True)
class GoldTuples:
    """Gold items by tuple, as one method sees them."""

    odds: Floats  #: (G, R)
    voices: Floats  #: (G,)
    counts: Floats  #: (G, R) items by true label


def prior_scenarios(center: float, sd: float, slant: float, labels: int, independent: float = 0.0) -> Scenarios:
    """Draws from the reference juries alone; `sd` 0 fixes the shared error.

    A few juries share no error at all; their share of the draws, the lowest ones, has none either.
    """
    unit, z, method, ones = _prior(labels)
    log_rho = center + sd * unit
    if sd > 0 and independent > 0:
        log_rho[unit < NormalDist().inv_cdf(independent)] = NONE
    return Scenarios(method, log_rho, slant * z, ones)


@lru_cache(maxsize=64)
def _prior(labels: int) -> tuple[Floats, Floats, Integers, Floats]:
    share, normal = _lattice(labels)
    z = np.concatenate([_heavier(normal) @ contrasts(labels), np.zeros((MODES, labels))])
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
    """Below which value such shares of a standard normal lie."""
    normal = NormalDist()
    return np.array([normal.inv_cdf(float(x)) for x in shares.ravel()]).reshape(shares.shape)


def student_quantile(shares: Floats) -> Floats:
    """The same of Student's t with four degrees of freedom, scaled to variance 1 (a closed form exists).

    Juries differ in how slanted they are and how far their jurors deviate, so both have heavier tails than a normal.

    Examples
    --------
    >>> student_quantile(np.array([0.5, 0.95])).round(3).tolist()
    [0.0, 1.507]
    """
    root = np.sqrt(4.0 * shares * (1.0 - shares))
    square = 2.0 * np.maximum(np.cos(np.arccos(root) / 3.0) / root - 1.0, 0.0)
    return np.asarray(np.sign(shares - 0.5) * np.sqrt(square))


def _heavier(normal: Floats) -> Floats:
    shape = NormalDist()
    return student_quantile(np.array([shape.cdf(float(x)) for x in normal.ravel()]).reshape(normal.shape))


@lru_cache(maxsize=64)
def contrasts(labels: int) -> Floats:
    """(R - 1, R) orthonormal rows that add up to 0 each: the directions in which a slant matters (Helmert's)."""
    table = np.tril(np.ones((labels - 1, labels)))
    k = np.arange(1, labels)
    table[k - 1, k] = -k
    return np.asarray(table / np.sqrt(k * (k + 1.0))[:, None])


def temper_posteriors(odds: Floats, voices: Floats, log_rho: Floats, slant: Floats) -> Floats:
    """(T, R, K) posteriors of K scenarios: q^tau exp(slant), tau = 1 / (1 + rho (voices - 1)), from odds (T, R).

    Odds are relative to the likeliest label, so that no exponential overflows. Many posteriors are computed in single
    precision: they are weighed by what is known to two digits.
    """
    tempered = np.empty((*odds.shape, len(log_rho)), dtype=_precision(odds, log_rho))
    order = stable_argsort(voices)
    for part, z, share in _exponentials(odds[order], voices[order], log_rho, slant):
        z *= share
        tempered[order[part]] = z.transpose(1, 0, 2)
    return tempered


def mean_tempered_posterior(odds: Floats, voices: Floats, log_rho: Floats, slant: Floats) -> Floats:
    """(T, R) what `temper_posteriors` gives on the average of the scenarios; nothing is kept of a single one."""
    sums, mean = np.empty(odds.shape[::-1], dtype=_precision(odds, log_rho)), np.empty(odds.shape)
    order = stable_argsort(voices)
    for part, z, share in _exponentials(odds[order], voices[order], log_rho, slant):
        np.vecdot(z, share, out=sums[:, part])
    mean[order] = sums.T
    mean /= len(log_rho)
    return mean


def _precision(odds: Floats, log_rho: Floats) -> Any:
    return np.float64 if odds.size * len(log_rho) < MANY else np.float32


def _exponentials(
    odds: Floats, voices: Floats, log_rho: Floats, slant: Floats
) -> Iterator[tuple[slice, Floats, Floats]]:
    """Some rows at a time, q^tau exp(slant) by label, row and scenario (R, t, K), and one over their sum (t, K).

    Rows are sorted by voices: those of as many have the same tau, so that the exponents of a label are a product of
    two thin matrices, [odds 1] [tau; slant]. Each part is in the place of the one before.
    """
    kind, (rows, labels), count = _precision(odds, log_rho), odds.shape, len(log_rho)
    step = max(_IN_CACHE // max(labels * count, 1), 1)
    held = np.empty((labels, min(step, rows), count), dtype=kind)
    totals = np.empty(held.shape[1:], dtype=kind)
    left, right = np.ones((labels, rows, 2), dtype=kind), np.empty((labels, 2, count), dtype=kind)
    left[:, :, 0], right[:, 1] = odds.T, slant.T
    for run, tau in _runs(voices, np.exp(log_rho)):
        right[:, 0] = tau
        for start in range(run.start, run.stop, step):
            part = slice(start, min(start + step, run.stop))
            z, total = held[:, : part.stop - start], totals[: part.stop - start]
            for k in range(labels):
                np.dot(left[k, part], right[k], out=z[k])
            np.exp(z, out=z)
            z.sum(axis=0, out=total)
            yield part, z, np.divide(1.0, total, out=total)


def _runs(voices: Floats, rho: Floats) -> Iterator[tuple[slice, Floats]]:
    """Where sorted numbers of voices are the same, and what each scenario makes of so many."""
    ends = [*(np.flatnonzero(voices[1:] > voices[:-1]) + 1).tolist(), len(voices)]
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        if end > start:
            yield slice(start, end), 1.0 / (1.0 + max(float(voices[start]) - 1.0, 0.0) * rho)


# -- gold -----------------------------------------------------------------------------------------------


def gold_scenarios(gold: list[GoldTuples], prior_weights: Floats, center: float, sd: float, slant: float) -> Scenarios:
    """Draws from what the gold items leave of the reference juries; `gold` as each method's posterior sees it."""
    labels = gold[0].odds.shape[1]
    unit = np.linspace(-_REACH, _REACH, NODES) if sd > 0 else np.zeros(1)
    nodes = center + sd * unit
    evidence = np.stack([laplace(part, nodes, slant)[2] for part in gold])
    height = evidence - 0.5 * unit**2 + np.log(prior_weights)[:, None]
    mass = np.exp(height - height.max())
    mass /= mass.sum()
    share, normal = _lattice(labels)
    shares = np.concatenate([share, (np.arange(MODES) + 0.5) / MODES])
    method, log_rho = _invert(mass, nodes, shares)
    drawn = np.zeros((DRAWS + MODES, labels))
    for k in np.unique(method):
        at = np.flatnonzero(method == k)
        mode, precision, _ = laplace(gold[k], log_rho[at], slant)
        drawn[at] = mode
        some = at < DRAWS
        root = np.linalg.cholesky(np.linalg.inv(precision[some]))
        drawn[at[some]] += np.einsum("kab,kb->ka", root, normal[at[some]]) @ contrasts(labels)
    return Scenarios(method, log_rho, drawn, mass.sum(axis=1))


def _invert(mass: Floats, nodes: Floats, shares: Floats) -> tuple[Integers, Floats]:
    """The (method, log rho) below which such shares of the mass lie, method after method."""
    flat = mass.ravel()
    total = np.cumsum(flat)
    cell = np.minimum(np.searchsorted(total, shares * total[-1]), len(flat) - 1)
    within = (shares * total[-1] - (total - flat)[cell]) / np.maximum(flat[cell], 1e-300)
    step = nodes[1] - nodes[0] if len(nodes) > 1 else 0.0
    return cell // len(nodes), nodes[cell % len(nodes)] + step * (np.clip(within, 0.0, 1.0) - 0.5)


def laplace(gold: GoldTuples, log_rho: Floats, slant: float) -> tuple[Floats, Floats, Floats]:
    """At each log rho: the likeliest slant (K, R), its precision in contrasts (K, R-1, R-1), and the log evidence."""
    basis = contrasts(gold.odds.shape[1])
    prior = np.eye(len(basis)) / slant**2
    beta = np.zeros((len(log_rho), len(basis)))
    items = gold.counts.sum(axis=1)
    for _ in range(_STEPS):
        q = temper_posteriors(gold.odds, gold.voices, log_rho, beta @ basis).transpose(2, 0, 1)  # (K, G, R)
        precision = basis @ _curvature(q, items) @ basis.T + prior
        slope = (gold.counts.sum(axis=0) - items @ q) @ basis.T - beta / slant**2
        step = np.linalg.solve(precision, slope[:, :, None])[:, :, 0]
        length = np.abs(step).max(axis=1, keepdims=True)
        beta += step * np.minimum(1.0, _LONGEST / np.maximum(length, 1e-300))
        if length.max() < _SETTLED:
            break
    q = temper_posteriors(gold.odds, gold.voices, log_rho, beta @ basis)
    likely = np.einsum("gr,grk->k", gold.counts, np.log(np.maximum(q, 1e-300)))
    _, size = np.linalg.slogdet(precision * slant**2)
    return beta @ basis, precision, likely - 0.5 * (beta**2).sum(axis=1) / slant**2 - 0.5 * size


def _curvature(q: Floats, items: Floats) -> Floats:
    """Σ items (diag q - q qᵀ), (K, R, R)."""
    weighted = q * items[:, None]
    table = -np.matmul(weighted.transpose(0, 2, 1), q)
    diagonal = np.arange(q.shape[2])
    table[:, diagonal, diagonal] += weighted.sum(axis=1)
    return np.asarray(table)


# `JuryVotes`: votes by decision tuple with a method's posterior, and what can be seen of shared error without a key.


_MOST_AT_ONCE = 1 << 22  # votes: a hundred million need not be held by cell as well
MOST_PER_VOICE = 3.0  #: log-odds one voice may add (20 to 1): a fit that claims more is not believed


@dataclass(frozen=True)
class JuryVotes:
    """Votes by decision tuple, and what a method makes of them as if errors were independent."""

    posterior: Floats  #: (T, R) probability of each label
    weights: Floats  #: (T,) how many items have the tuple
    row: Integers  #: the tuple of each vote
    juror: NDArray[np.signedinteger[Any]]  #: who cast it
    label: NDArray[np.signedinteger[Any]]  #: what was said
    jurors: int
    voices: Floats  #: (T,) how many voices answered: one judge asked five times is one voice

    @property
    def labels(self) -> int:
        """How many labels there are."""
        return int(self.posterior.shape[1])


def count_independent_jurors(
    row: Integers, juror: NDArray[np.signedinteger[Any]], tuples: int, voice: Integers
) -> Floats:
    """(T,) how many voices answered each tuple."""
    if len(voice) == 0 or int(voice.max()) + 1 == len(voice):
        return np.bincount(row, minlength=tuples).astype(np.float64)
    width = int(voice.max()) + 1
    heard = np.unique(row * width + voice[juror])
    return np.bincount(heard // width, minlength=tuples).astype(np.float64)


def add_label_juror(jury: JuryVotes, chosen: Integers) -> JuryVotes:
    """One more juror, who says these labels of the tuples: they are graded as everybody's answers are."""
    last = np.full(len(chosen), jury.jurors, dtype=jury.juror.dtype)
    return replace(
        jury,
        row=np.concatenate([jury.row, np.arange(len(chosen))]),
        juror=np.concatenate([jury.juror, last]),
        label=np.concatenate([jury.label, chosen.astype(jury.label.dtype)]),
        jurors=jury.jurors + 1,
    )


def log_odds(posterior: Floats, voices: Floats) -> Floats:
    """Log-probabilities relative to the likeliest label; none lower than so many voices can honestly make it.

    A degenerate fit, certain of thousands of items, is not believed that far.
    """
    with np.errstate(divide="ignore"):
        likely = np.log(posterior.T, order="C")  # a maximum over a short last axis takes four times as long
    if np.isnan(likely[0]).any():
        likely = np.where(np.isnan(likely), 0.0, likely)
    likely -= likely.max(axis=0)
    np.maximum(likely, -MOST_PER_VOICE * np.maximum(voices, 1.0), out=likely)
    return np.ascontiguousarray(likely.T)


def answer_spread(jury: JuryVotes) -> float:
    """How far the jurors' own answer rates lie apart: root of the vote-weighted variance, mean over labels.

    The one visible trace of shared error: jurors with a default answer err together where the truth is another.
    """
    sums = np.zeros(jury.jurors * jury.labels)
    for start in range(0, len(jury.row), _MOST_AT_ONCE):
        votes = slice(start, start + _MOST_AT_ONCE)
        cell = jury.juror[votes] * jury.labels + jury.label[votes]
        sums += np.bincount(cell, weights=jury.weights[jury.row[votes]], minlength=len(sums))
    said = sums.reshape(jury.jurors, jury.labels)
    cast, rates = np.add.reduce(said, axis=1), np.add.reduce(said, axis=0)
    total = np.add.reduce(rates)
    apart = said / np.maximum(cast, 1e-12)[:, None] - rates / total
    return float(np.sqrt(cast.dot(apart * apart) / total).mean())


def majority_posterior(jury: JuryVotes) -> Floats:
    """What the votes say if all jurors are equally good and errors independent: the votes' logarithm is their count.

    Their accuracy a follows from how often two agree, a² + (1 - a)² / (R - 1).
    """
    size = jury.labels
    cell = jury.row * size + jury.label
    said = np.bincount(cell, minlength=len(jury.weights) * size).reshape(-1, size).astype(float)
    cast = said.sum(axis=1)
    pairs = float(jury.weights @ (cast * (cast - 1)))
    agreed = float(jury.weights @ ((said**2).sum(axis=1) - cast)) / pairs if pairs else 1.0
    # a solves a² R/(R-1) - 2a/(R-1) + 1/(R-1) - agreed = 0
    inner = max(1.0 - size * (1.0 - agreed * (size - 1)), 0.0)
    accuracy = min(max((1.0 + np.sqrt(inner)) / size, 1.0 / size + 0.02), 0.995)
    z = said * np.log(accuracy * (size - 1) / (1.0 - accuracy))
    z = np.exp(z - z.max(axis=1, keepdims=True))
    return np.asarray(z / z.sum(axis=1, keepdims=True))
