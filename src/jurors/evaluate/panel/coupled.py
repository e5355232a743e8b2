"""Groups of jurors who err together, each heard as one voice: given the label, a group has a joint table of its own.

    P(votes, l) = p_l Π_{single j} K_j[l][v_j] Π_{groups g} J_g[l][v_g]
Nothing is assumed about what goes on inside a group, so jurors who look over each other's shoulder no longer count
as many. EM as in `latent`, with the group's correction log J - Σ log K added where all of it voted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from jurors.evaluate.panel.latent import LatentFit
from jurors.numbers.arrays import Floats
from jurors.sketch.incidence import Incidence
from jurors.votes import Votes

_PSEUDO = 4.0  # pseudo-votes of a group's table, spread as independence would spread them


@dataclass(frozen=True)
class Voice:
    """One group and its joint votes: a single "juror" whose "labels" are the group's decision tuples."""

    members: tuple[int, ...]
    joint: Incidence


@dataclass(frozen=True)
class Coupling:
    """All the groups that are heard as one voice each."""

    voices: tuple[Voice, ...]

    @property
    def groups(self) -> list[tuple[int, ...]]:
        """The members of each group."""
        return [voice.members for voice in self.voices]

    def weighing(self, weights: Floats) -> Coupling:
        """The same groups on items with other weights, (stack, T)."""
        return Coupling(tuple(replace(v, joint=replace(v.joint, weights=weights)) for v in self.voices))


def couple(votes: Votes, groups: Sequence[tuple[int, ...]]) -> Coupling:
    """Join the votes of some groups; where one member is silent, the group is."""
    size = len(votes.labels)
    weights = np.ones(votes.rows) if votes.counts is None else votes.counts
    voices = []
    for members in groups:
        said = votes.codes[:, list(members)].astype(np.int64)
        place = size ** np.arange(len(members))[::-1]
        codes = np.where((said >= 0).all(axis=1), said @ place, -1)
        voices.append(Voice(tuple(members), Incidence.from_codes(codes[:, None], weights, labels=size ** len(members))))
    return Coupling(tuple(voices))


def fit_coupled(
    data: Incidence, coupling: Coupling, start: LatentFit, *, strength: float, gold: Floats | None = None
) -> LatentFit:
    """Fit confusion matrices and the groups' tables together, beginning from a fit that hears everybody alone."""
    end = climb_coupled(data, coupling, start.posterior.T[None], strength=strength, gold=gold)
    return replace(
        start,
        model="confusion",
        prevalence=end.prior[0],
        confusion=end.confusion[0].transpose(1, 0, 2),
        posterior=end.posterior[0].T,
        log_likelihood=float(end.height.sum()),
        iterations=start.iterations + end.steps,
        converged=end.converged,
    )


@dataclass(frozen=True)
class CoupledEnd:
    """Where EM ended, for each panel of a stack."""

    posterior: Floats  #: (stack, R, T)
    prior: Floats  #: (stack, R)
    confusion: Floats  #: (stack, R, N, R)
    steps: int
    converged: bool
    height: Floats  #: (stack,) log-likelihood


def climb_coupled(
    data: Incidence,
    coupling: Coupling,
    posterior: Floats,
    *,
    strength: float,
    gold: Floats | None = None,
    tolerance: float = 1e-4,
    limit: int = 1000,
) -> CoupledEnd:
    """EM from posteriors (stack, R, T)."""
    known = 0.0 if gold is None else np.where(np.isnan(gold), 0.0, np.log(np.maximum(gold, 1e-200))).T[None]
    before = np.full(data.stack, -np.inf)
    steps, converged = 0, False
    while steps < limit and not converged:
        prior, confusion, score = _scores(data, coupling, posterior * data.weights[:, None, :], strength)
        score = score + known
        top = score.max(axis=1, keepdims=True)
        chance = np.exp(score - top)
        total = chance.sum(axis=1, keepdims=True)
        posterior = chance / total
        height = ((top + np.log(total))[:, 0] * data.weights).sum(axis=1)
        converged = bool((np.abs(height - before) < tolerance).all())
        steps, before = steps + 1, height
    return CoupledEnd(posterior, prior, confusion, steps, converged, before)


def _scores(data: Incidence, coupling: Coupling, mass: Floats, strength: float) -> tuple[Floats, Floats, Floats]:
    """M-step from the mass of each label on each tuple, then log P(votes, l): prevalences, confusions, scores."""
    size, stack = data.labels, len(mass)
    share = mass.sum(axis=2) + 1.0
    prior = share / share.sum(axis=1, keepdims=True)
    counts = data.counts(mass).reshape(stack, size, data.jurors, size)
    counts = counts + strength / size + strength * np.eye(size)[None, :, None, :]
    confusion = counts / counts.sum(axis=3, keepdims=True)
    score = data.scores(np.log(confusion).reshape(stack, size, -1)) + np.log(prior)[:, :, None]
    for voice in coupling.voices:
        apart = np.ones((stack, size, 1))
        for member in voice.members:
            apart = (apart[:, :, :, None] * confusion[:, :, member, None, :]).reshape(stack, size, -1)
        joint = voice.joint.counts(mass) + _PSEUDO * apart
        score = score + voice.joint.scores(np.log(joint / joint.sum(axis=2, keepdims=True)) - np.log(apart))
    return prior, confusion, score
