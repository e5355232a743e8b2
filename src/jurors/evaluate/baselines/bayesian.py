"""Raykar et al. (2010), without features: Dawid and Skene's model with priors, by variational Bayes.

    prevalences   p ~ Dirichlet(1, …, 1)
    each row      K_j[l] ~ Dirichlet(1, …, 1 + 1 on the true label, …, 1);  for two labels Beta(2, 1)
so that a juror without votes is expected to be right twice as often as to give any one wrong label, and a few votes
do not make anyone perfect. The joint posterior is approximated by independent parts, q(labels) q(p) Π q(K_j[l]):
    q_tl ∝ exp(E log p_l + Σ_j E log K_j[l][v_tj]),   E log x_r = ψ(a_r) - ψ(Σ a),
    a = prior + expected counts.
Each round raises a lower bound on the log-evidence. The numbers reported are posterior means, inside (0, 1) by nature.
Raykar et al. report the posterior mode instead; means exist for every prior, and are less sure where votes are few.

V. C. Raykar et al., Learning from crowds, JMLR 11 (2010) 1297-1322.
"""

from __future__ import annotations

import numpy as np

from jurors._numeric import Floats
from jurors.errors import SketchError
from jurors.evaluate.baselines.dawid_skene import (
    check_panel,
    expected_counts,
    few_jurors_alarm,
    has_converged,
    iteration_limit,
    vote_shares,
)
from jurors.evaluate.latent.em import class_likelihoods, iterate_em
from jurors.evaluate.latent.models import juror_scores
from jurors.evaluate.solution import Fit, convergence_alarm, float_solution
from jurors.sketch.pairs import Incidence, incidence_of
from jurors.sketch.sketch import Sketch

_PRECISE, _ENOUGH = 1e-10, 1e-6  # of the lower bound; of a sparse panel, whose jurors with few votes take long


def evaluate_bayesian(
    sketch: Sketch,
    *,
    right: float = 2.0,
    wrong: float = 1.0,
    prevalence: float = 1.0,
    max_iterations: int | None = None,
    tolerance: float | None = None,
) -> Fit:
    """Grade a panel with priors on everything; any number of labels, at least two jurors, any pattern of votes.

    Parameters
    ----------
    sketch
        The counts.
    right, wrong
        Pseudo-votes of every juror, for every true label: on that label, and on each other one.
    prevalence
        Pseudo-items of every label.
    max_iterations
        When to give up; by default 10,000, and fewer (never below 200) on large panels.
    tolerance
        Converged: a round changes the lower bound by less than this share of itself; by default 1e-10, and 1e-6 on
        sparse panels.

    Returns
    -------
    Fit
        Posterior means.

    Examples
    --------
    A juror with a single vote is not declared perfect:

    >>> votes = {("A", "A", None): 50, ("B", "B", None): 50, ("A", "A", "A"): 1}
    >>> fit = evaluate_bayesian(Sketch.from_counts(votes, jurors=("ann", "bob", "cy")))
    >>> round(fit.solution.accuracy["ann"]["A"], 2), round(fit.solution.accuracy["cy"]["A"], 2)
    (0.98, 0.75)
    """
    check_panel(sketch, "the Bayesian panel")
    if min(right, wrong, prevalence) <= 0:
        raise SketchError(f"pseudo-votes must be positive, got {right=}, {wrong=}, {prevalence=}")
    size = len(sketch.labels)
    data = incidence_of(sketch)
    items = np.full(size, prevalence)
    rows = wrong + (right - wrong) * np.eye(size)
    limit = iteration_limit(data, sketch) if max_iterations is None else max_iterations

    def step(posterior: Floats) -> tuple[Floats, float]:
        by_label, joint = expected_counts(data, posterior)
        posterior, evidence = _expect(data, items + by_label, rows + joint)
        return posterior, evidence - _divergence(items + by_label, items) - _divergence(rows + joint, rows)

    def is_done(gain: float, bound: float) -> bool:
        if data.is_dense or tolerance is not None:
            return has_converged(gain, bound, _PRECISE if tolerance is None else tolerance)
        return gain <= _ENOUGH * abs(bound)

    posterior, bound, steps, converged = iterate_em(step, vote_shares(sketch), limit, is_done)
    by_label, joint = expected_counts(data, posterior)
    alarms = [] if converged else [convergence_alarm("variational Bayes", steps)]
    means = _mean(items + by_label), _mean(rows + joint)
    solution = float_solution(sketch, *means, juror_scores(data, posterior.T))
    prior = {"right": right, "wrong": wrong, "prevalence": prevalence}
    return Fit(
        solution=solution,
        posterior=posterior.T,
        iterations=steps,
        converged=converged,
        details={"lower_bound": bound, "prior": prior},
        alarms=(*alarms, *few_jurors_alarm(sketch, "variational Bayes")),
    )


def _mean(alpha: Floats) -> Floats:
    return np.asarray(alpha / alpha.sum(axis=-1, keepdims=True))


def _expected_log(alpha: Floats) -> Floats:
    from scipy.special import digamma

    return np.asarray(digamma(alpha) - digamma(alpha.sum(axis=-1, keepdims=True)))


def _expect(data: Incidence, items: Floats, rows: Floats) -> tuple[Floats, float]:
    """Labels x tuples: the probability of each label; and Σ_t w_t log of its normalising constant."""
    table = _expected_log(rows).transpose(1, 0, 2).reshape(1, data.labels, -1)
    prior = np.exp(_expected_log(items))
    chance, top, total = class_likelihoods(data, table, prior[None], None)
    posterior = chance[0] * (prior[:, None] / total[0])
    return posterior, float((data.weights[0] * (top[0] + np.log(total[0]))).sum())


def _divergence(alpha: Floats, prior: Floats) -> float:
    """Kullback-Leibler divergence of Dirichlet(alpha) from Dirichlet(prior), summed over the rows."""
    from scipy.special import gammaln

    prior = np.broadcast_to(prior, alpha.shape)
    norm = gammaln(alpha.sum(axis=-1)) - gammaln(prior.sum(axis=-1))
    norm = norm - (gammaln(alpha) - gammaln(prior)).sum(axis=-1)
    return float(norm.sum() + ((alpha - prior) * _expected_log(alpha)).sum())
