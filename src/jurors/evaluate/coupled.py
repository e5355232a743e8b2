"""Pairs of jurors who err together, heard as one: given the label, a pair has a joint table of its own.

    P(votes, l) = p_l Π_{single j} K_j[l][v_j] Π_{pairs ij} J_ij[l][v_i, v_j]
Nothing is assumed about what goes on inside a pair, so two jurors who look over each other's shoulder no longer
count twice. EM as in `latent`, with the pair's correction log J - log K_i - log K_j added where both voted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors.evaluate.incidence import Incidence
from jurors.evaluate.latent import LatentFit, juror_scores
from jurors.votes import Votes

Floats: TypeAlias = NDArray[np.float64]

_PSEUDO = 4.0  # pseudo-votes of a pair's table, spread as independence would spread them


@dataclass(frozen=True)
class Coupling:
    """Which jurors are heard together, and their joint votes: a "juror" a pair, a "label" a pair of labels."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    joint: Incidence

    def weighing(self, weights: Floats) -> Coupling:
        """The same pairs on items with other weights, (stack, T)."""
        return replace(self, joint=replace(self.joint, weights=weights))


def couple(votes: Votes, pairs: list[tuple[int, int]]) -> Coupling:
    """Join the votes of some pairs; where one of the two is silent, the pair is."""
    size = len(votes.labels)
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    one, other = votes.codes[:, first].astype(np.int64), votes.codes[:, second]
    codes = np.where((one >= 0) & (other >= 0), one * size + other, -1)
    weights = np.ones(votes.rows) if votes.counts is None else votes.counts
    return Coupling(first, second, Incidence.from_codes(codes, weights, labels=size * size))


def fit_coupled(
    data: Incidence, coupling: Coupling, start: LatentFit, *, strength: float, gold: Floats | None = None
) -> LatentFit:
    """Fit confusion matrices and the pairs' tables together, beginning from a fit that hears everybody alone."""
    posterior, prior, confusion, steps, converged, height = climb_coupled(
        data, coupling, start.posterior.T[None], strength=strength, gold=gold
    )
    return replace(
        start,
        model="confusion",
        prevalence=prior[0],
        confusion=confusion[0].transpose(1, 0, 2),
        posterior=posterior[0].T,
        score=juror_scores(data, posterior[0].T),
        log_likelihood=float(height.sum()),
        iterations=start.iterations + steps,
        converged=converged,
    )


def climb_coupled(
    data: Incidence,
    coupling: Coupling,
    posterior: Floats,
    *,
    strength: float,
    gold: Floats | None = None,
    tolerance: float = 1e-4,
    limit: int = 1000,
) -> tuple[Floats, Floats, Floats, int, bool, Floats]:
    """EM from posteriors (stack, R, T): those, prevalences, confusions (stack, R, N, R), steps, converged, height."""
    known = _known_rows(gold)
    before = np.full(data.stack, -np.inf)
    for step in range(1, limit + 1):
        mass = posterior * data.weights[:, None, :]
        prior, table, confusion = _tables(data, coupling, mass, strength)
        score = data.scores(table[0]) + coupling.joint.scores(table[1]) + np.log(prior)[:, :, None]
        if known is not None:
            score = score + known
        top = score.max(axis=1, keepdims=True)
        chance = np.exp(score - top)
        total = chance.sum(axis=1, keepdims=True)
        posterior = chance / total
        height = ((top + np.log(total))[:, 0] * data.weights).sum(axis=1)
        if (np.abs(height - before) < tolerance).all():
            return posterior, prior, confusion, step, True, height
        before = height
    return posterior, prior, confusion, limit, False, height


def _tables(
    data: Incidence, coupling: Coupling, mass: Floats, strength: float
) -> tuple[Floats, tuple[Floats, Floats], Floats]:
    """Prevalences, (log K, log J - log K_i - log K_j) as the incidences want them, and K itself."""
    size, stack = data.labels, len(mass)
    share = mass.sum(axis=2) + 1.0
    prior = share / share.sum(axis=1, keepdims=True)
    counts = data.counts(mass).reshape(stack, size, data.jurors, size)
    counts = counts + strength / size + strength * np.eye(size)[None, :, None, :]
    confusion = counts / counts.sum(axis=3, keepdims=True)
    apart = confusion[:, :, coupling.first, :, None] * confusion[:, :, coupling.second, None, :]
    apart = apart.reshape(stack, size, len(coupling.first), size * size)
    joint = coupling.joint.counts(mass).reshape(apart.shape) + _PSEUDO * apart
    lift = np.log(joint / joint.sum(axis=3, keepdims=True)) - np.log(apart)
    return prior, (np.log(confusion).reshape(stack, size, -1), lift.reshape(stack, size, -1)), confusion


def _known_rows(gold: Floats | None) -> Floats | None:
    if gold is None:
        return None
    return np.where(np.isnan(gold), 0.0, np.log(np.maximum(gold, 1e-200))).T[None]
