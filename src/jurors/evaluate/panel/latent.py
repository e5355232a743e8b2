"""Latent classes: grade a whole panel at once, from any pattern of votes, with no answer key.

Every item belongs to a hidden class k = (true label l, stratum s), and given the class the jurors err
independently: P(votes, k) = p_k Π_j K_j[k][vote_j].  One stratum is the paper's error independence (Dawid and
Skene's model).  Two strata, easy and hard items, let errors be correlated through the items' difficulty: on a
hard item juror j looks away with chance h_j and then votes by a habit g_j that knows nothing of the truth,
    K_j[l, hard] = (1 - h_j) K_j[l, easy] + h_j g_j,
so that a hard stratum says less about its label, and never comes to stand for another one.  Difficulty is taken
to be independent of the label, p_k = p_l p_s, unless a likelihood-ratio test at 0.1% says otherwise: where hard
items say little, nothing else would tell how many of them have each label.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from jurors.evaluate.panel.expectation import (
    Parameters,
    Problem,
    ascend,
    class_table,
    climb,
    expect,
    first_parameters,
    pose,
)
from jurors.numbers.arrays import Floats
from jurors.sketch.incidence import Incidence

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

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
