"""One-coin, confusion, strata, joint groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from jurors._numeric import Flags, Floats
from jurors.evaluate.latent.em import Parameters, Problem, ascend, class_table, climb, expect, first_parameters, pose
from jurors.sketch.incidence import Incidence
from jurors.votes import Votes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


# Latent classes: grade a whole panel at once, from any pattern of votes, with no answer key.
#
# Every item belongs to a hidden class k = (true label l, stratum s), and given the class the jurors err
# independently: P(votes, k) = p_k Π_j K_j[k][vote_j].  One stratum is the paper's error independence (Dawid and
# Skene's model).  Two strata, easy and hard items, let errors be correlated through the items' difficulty: on a
# hard item juror j looks away with chance h_j and then votes by a habit g_j that knows nothing of the truth,
#     K_j[l, hard] = (1 - h_j) K_j[l, easy] + h_j g_j,
# so that a hard stratum says less about its label, and never comes to stand for another one.  Difficulty is taken
# to be independent of the label, p_k = p_l p_s, unless a likelihood-ratio test at 0.1% says otherwise: where hard
# items say little, nothing else would tell how many of them have each label.


MODELS = ("one_coin", "confusion", "strata")  #: from the simplest to the richest


@dataclass(frozen=True, kw_only=True)
class LatentFit:
    """A panel graded by one latent-class model."""

    model: str
    prevalence: Floats  #: (R,) share of items with each true label
    confusion: Floats  #: (N, R, R) [juror][true label][said label], over all strata
    posterior: Floats  #: (T, R) probability of each true label, tuple by tuple
    log_likelihood: float
    iterations: int  #: how many times the posteriors were computed
    converged: bool
    parameters: Parameters = field(repr=False)  #: to start a later fit from
    data: Incidence = field(repr=False)  #: the votes that it grades

    @cached_property
    def score(self) -> Floats:
        """(N,) expected share of right votes among the juror's own; NaN for a juror without votes."""
        return juror_scores(self.data, self.posterior)


def fit_latent(
    data: Incidence,
    model: str = "confusion",
    *,
    gold: ArrayLike | None = None,
    start: Parameters | None = None,
    settled: bool = False,
    strength: float = 2.0,
    tolerance: float = 1e-5,
    max_iterations: int = 1000,
) -> LatentFit:
    """Fit one latent-class model to one panel.

    Parameters
    ----------
    data
        The decision tuples and their weights.
    model
        ``"one_coin"``: one accuracy per juror; ``"confusion"``: a confusion matrix per juror; ``"strata"``: a
        confusion matrix per juror, blurred on hard items.
    gold
        (T, R) known probabilities of the true label; a row of NaN or -1 is unknown.
    start
        Parameters of an earlier fit of the same model.
    settled
        Whether strata keep the label mix of `start`, a common one or one of their own.
    strength
        How many pseudo-votes every juror is given on the right label, and how many spread over all labels.
    tolerance, max_iterations
        EM has converged when a plain step gains less than this much log-likelihood per parameter (by chance alone, a
        parameter is worth 1/2).

    Examples
    --------
    >>> votes = Incidence.from_codes([[0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 1, 0]], [40, 40, 10, 10], labels=2)
    >>> fit_latent(votes, "one_coin").score.round(1)
    array([1. , 1. , 0.8])

    """
    problem = pose(data, model, strength, gold)
    at = first_parameters(problem) if start is None else start
    problem = replace(problem, tied=at.is_tied)
    fit = ascend if settled else climb
    at, steps, converged = fit(problem, at, tolerance * at.flat.shape[1], max_iterations)
    return describe(problem, at, steps, converged, expect(problem, at))


def classes_of(fit: LatentFit) -> tuple[Floats, Floats]:
    """How common each class is (K), and what every juror says of it (K, jurors, labels)."""
    return classes_at(fit.parameters)


def classes_at(at: Parameters) -> tuple[Floats, Floats]:
    """The same at a point on the way."""
    prior = np.exp(at.prior[0])
    return prior, np.exp(class_table(at)[0]).reshape(len(prior), at.jurors, at.labels)


def juror_scores(data: Incidence, posterior: Floats) -> Floats:
    """Expected share of right votes among each juror's own, given a (T, R) posterior of the true labels."""
    mass = posterior.T[None] * data.weights[:, None, :]
    return right_shares(data.counts(mass).reshape(data.labels, data.jurors, data.labels))


def right_shares(counts: Floats) -> Floats:
    """The share of right votes among each juror's own, of votes by true label, juror and label said (R, N, R)."""
    cast = counts.sum(axis=(0, 2))
    return np.asarray(np.where(cast > 0, np.einsum("ljl->j", counts) / np.where(cast > 0, cast, 1.0), np.nan))


def observed(data: Incidence, fit: LatentFit) -> LatentFit:
    """The same fit, stated about the items that were answered: expected shares by the posterior, without pseudo-counts.

    A pseudo-count keeps a fit from running away; in a grade it is a bias, which in a large panel exceeds everything
    that is unknown. NaN where no item of a label is expected.
    """
    mass = fit.posterior.T[None] * data.weights[:, None, :]
    counts = data.counts(mass).reshape(data.labels, data.jurors, data.labels).transpose(1, 0, 2)
    share = mass[0].sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        confusion = counts / counts.sum(axis=2, keepdims=True)
    told = replace(fit, prevalence=share / share.sum(), confusion=confusion, data=data)
    vars(told)["score"] = right_shares(counts.transpose(1, 0, 2))  # of the same counts
    return told


def describe(
    problem: Problem, at: Parameters, steps: int, converged: bool, expected: tuple[Floats, Floats]
) -> LatentFit:
    """What the end of a fit, and what is expected there, say of prevalences, jurors and items."""
    data, labels = problem.data, problem.data.labels
    classes, likelihood = expected
    posterior = classes.reshape(-1, labels, data.rows).sum(axis=0, dtype=np.float64).T
    prior = np.exp(at.prior, dtype=np.float64).reshape(-1, labels)
    table = np.exp(class_table(at), dtype=np.float64).reshape(-1, labels, data.jurors, labels)
    return LatentFit(
        model=problem.model,
        prevalence=prior.sum(axis=0),
        confusion=np.einsum("sl,sljr->jlr", prior / prior.sum(axis=0), table),
        posterior=posterior,
        log_likelihood=float((data.weights * likelihood).sum()),
        iterations=steps,
        converged=converged,
        parameters=at,
        data=data,
    )


# Abstaining as one more answer of the panel models, which is nobody's true label.
#
#     P(answers, l) = p_l Π_j K_j[l][answer_j],   answer_j a label, or "I abstain"
# So who abstains on what is evidence like any vote: on hard items (`strata`) by habit, else at a rate per true label.
# What is reported is about those who spoke: K_j[l][r] / (1 - K_j[l][abstains]).


def never_true(key: Floats | None, rows: int, answers: int) -> Floats:
    """The key of rows whose true label is none of the last answer; gold items keep theirs.

    Examples
    --------
    >>> never_true(None, 2, 3).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0]]
    """
    open_rows = np.ones((rows, answers))
    open_rows[:, -1] = 0.0
    return open_rows if key is None else np.where(np.isnan(key), open_rows, key)


def is_gold(key: Floats) -> Flags:
    """Which rows of a key have one known label."""
    return np.asarray((key > 0).sum(axis=1) == 1)


def spoken_only(data: Incidence) -> Incidence:
    """The same tuples without the last answer.

    Examples
    --------
    >>> spoken_only(Incidence.from_codes([[0, 2], [1, 1]], labels=3)).matrix[0].tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0]]
    """
    labels = data.labels - 1
    kept = np.arange(data.jurors * data.labels) % data.labels != labels
    matrix = data.matrix[:, :, kept] if data.is_dense else data.matrix[:, kept]
    return replace(data, matrix=matrix, labels=labels)


def spoken_fit(spoken: Incidence, fit: LatentFit) -> LatentFit:
    """A fit of answers as one of labels, given that a juror spoke; the very same where nobody abstained."""
    labels = spoken.labels
    if len(fit.prevalence) == labels:
        return fit
    posterior, confusion = fit.posterior[:, :labels], fit.confusion[:, :labels, :labels]
    return replace(
        fit,
        prevalence=fit.prevalence[:labels] / fit.prevalence[:labels].sum(),
        confusion=confusion / confusion.sum(axis=2, keepdims=True),
        posterior=posterior,
        data=spoken,
    )


# Groups of jurors who err together, each heard as one voice: given the label, a group has a joint table of its own.
#
#     P(votes, l) = p_l Π_{single j} K_j[l][v_j] Π_{groups g} J_g[l][v_g]
# Nothing is assumed about what goes on inside a group, so jurors who look over each other's shoulder no longer count
# as many. EM as in `latent`, with the group's correction log J - Σ log K added where all of it voted.


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
