from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from panels import simulate
from strategies import examples

from jurors._numeric import Floats, Integers
from jurors.evaluate.latent.em import Parameters, em_problem, first_parameters, fit_strata
from jurors.evaluate.latent.models import MODELS, fit_latent, juror_scores, restrict_to_answered
from jurors.sketch.pairs import Incidence

models = pytest.mark.parametrize("model", MODELS)


def panel(seed: int, labels: int = 2, density: float = 0.9) -> tuple[Integers, Floats]:
    """Tuples of five jurors with weights."""
    share = np.arange(labels, 0, -1) / (labels * (labels + 1) / 2)
    codes = simulate(80, 5, seed=seed, prevalence=share, density=density).votes
    return codes, np.random.default_rng(seed).integers(1, 6, len(codes)).astype(float)


def height(data: Incidence, model: str, at: Parameters) -> float:
    """The objective at a point, by the definition: log-likelihood plus the log of the pseudo-counts' density."""
    problem = em_problem(data, model, 2.0)
    fit = fit_latent(data, model, start=at, max_iterations=0)
    prior = at.prior.sum() + (at.table * problem.pseudo).sum()
    away = (at.away - 2 * np.logaddexp(0, at.away)).sum() if at.has_strata else 0.0
    return float(fit.log_likelihood + prior + away)


@models
@examples(10, deadline=None)
@given(seed=st.integers(0, 10**6), labels=st.integers(2, 3))
def test_the_objective_never_falls_from_one_length_of_the_climb_to_the_next(model: str, seed: int, labels: int) -> None:
    codes, weights = panel(seed, labels)
    data = Incidence.from_codes(codes, weights, labels=labels)
    problem = em_problem(data, model, 2.0)
    at = first_parameters(problem)
    ends = [fit_strata(problem, at, 0.0, limit)[0] for limit in (2, 4, 8, 16, 32)]
    heights = [height(data, model, end) for end in (at, *ends)]
    # The first M-step with strata shares hard votes out half and half, which is no step of EM.
    assert (np.diff(heights[1:] if model == "strata" else heights) > -1e-7).all()


@models
@examples(10, deadline=None)
@given(seed=st.integers(0, 10**6), labels=st.integers(2, 3), order=st.randoms(use_true_random=False))
def test_permuting_jurors_labels_and_tuples_commutes_with_the_fit(
    model: str, seed: int, labels: int, order: Random
) -> None:
    codes, weights = panel(seed, labels)
    who, names, rows = (order.sample(range(size), size) for size in (5, labels, len(codes)))
    renamed = np.append(np.argsort(names), -1)  # label names[k] is called k now
    plain = fit_latent(Incidence.from_codes(codes, weights, labels=labels), model)
    moved = renamed[codes[np.ix_(rows, who)]]
    other = fit_latent(Incidence.from_codes(moved, weights[rows], labels=labels), model)
    assert other.prevalence == pytest.approx(plain.prevalence[names], abs=1e-6)
    assert other.confusion == pytest.approx(plain.confusion[np.ix_(who, names, names)], abs=1e-6)
    assert other.posterior == pytest.approx(plain.posterior[np.ix_(rows, names)], abs=1e-6)
    assert other.score == pytest.approx(plain.score[who], abs=1e-6)


@models
@examples(10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_tuple_may_be_split_into_two_that_share_its_items(model: str, seed: int) -> None:
    codes, weights = panel(seed)
    part = np.random.default_rng(seed).random(len(weights)) * weights
    whole = fit_latent(Incidence.from_codes(codes, weights, labels=2), model)
    twice = np.concatenate([codes, codes]), np.concatenate([part, weights - part])
    split = fit_latent(Incidence.from_codes(*twice, labels=2), model)
    assert split.confusion == pytest.approx(whole.confusion, abs=1e-6)
    assert split.log_likelihood == pytest.approx(whole.log_likelihood, abs=1e-6)


def test_dense_and_sparse_votes_give_the_same_fit() -> None:
    codes, weights = panel(3, density=0.6)
    dense = Incidence.from_codes(codes, weights, labels=2)
    from scipy.sparse import csr_array

    sparse = Incidence(csr_array(dense.matrix[0]), dense.weights, 5, 2)
    for model in MODELS:
        assert fit_latent(sparse, model).confusion == pytest.approx(fit_latent(dense, model).confusion, abs=1e-9)


@pytest.mark.parametrize("labels", [2, 3])
def test_exact_expected_counts_give_the_jury_back(labels: int) -> None:
    rng = np.random.default_rng(labels)
    prevalence = np.arange(1, labels + 1) / (labels * (labels + 1) / 2)
    confusion = 0.35 * rng.dirichlet(np.ones(labels), (4, labels)) + 0.65 * np.eye(labels)
    codes = np.array(list(product(range(labels), repeat=4)))
    shares = prevalence * np.prod([confusion[j][:, codes[:, j]].T for j in range(4)], axis=0)
    data = Incidence.from_codes(codes, 1e9 * shares.sum(axis=1), labels=labels)
    fit = restrict_to_answered(data, fit_latent(data, "confusion", tolerance=1e-12, max_iterations=20_000))
    assert fit.prevalence == pytest.approx(prevalence, abs=1e-4)
    assert fit.confusion == pytest.approx(confusion, abs=1e-4)
    assert fit.posterior == pytest.approx(shares / shares.sum(axis=1, keepdims=True), abs=1e-3)


@models
def test_gold_pins_the_posteriors_and_moves_the_rest(model: str) -> None:
    codes, weights = panel(8)
    data = Incidence.from_codes(codes, weights, labels=2)
    plain = fit_latent(data, model)
    gold = np.full((len(codes), 2), np.nan)
    gold[:20] = np.eye(2)[1 - plain.posterior[:20].argmax(axis=1)]  # the contrary of what the votes say
    pinned = fit_latent(data, model, gold=gold)
    assert pinned.posterior[:20] == pytest.approx(gold[:20], abs=1e-9)
    assert np.abs(pinned.posterior[20:] - plain.posterior[20:]).max() > 1e-3


def test_the_score_is_the_expected_share_of_right_votes_and_nan_without_votes() -> None:
    data = Incidence.from_codes([[0, 1, -1], [1, 1, -1]], [3, 1], labels=2)
    posterior = np.array([[0.75, 0.25], [0.0, 1.0]])
    score = juror_scores(data, posterior)
    assert score[:2] == pytest.approx([(3 * 0.75 + 1) / 4, (3 * 0.25 + 1) / 4])
    assert np.isnan(score[2])


def test_stacked_panels_are_fitted_as_each_alone() -> None:
    codes, weights = panel(5, density=1.0)
    alone = [Incidence.from_codes(codes, w, labels=2) for w in (weights, weights[::-1].copy())]
    stack = Incidence(alone[0].matrix, np.concatenate([data.weights for data in alone]), 5, 2)
    for model in MODELS:
        problem = em_problem(stack, model, 2.0)
        ends = fit_strata(problem, first_parameters(problem), 1e-6, 2000)[0]
        for k, data in enumerate(alone):
            single = em_problem(data, model, 2.0)
            end = fit_strata(single, first_parameters(single), 1e-6, 2000)[0]
            assert np.exp(ends.panel(k).table) == pytest.approx(np.exp(end.table), abs=1e-3)


def test_strata_have_a_label_mix_of_their_own_where_the_votes_insist() -> None:
    rng = np.random.default_rng(1)
    truth = (rng.random(3000) < 0.5).astype(int)
    hard = rng.random(3000) < np.where(truth == 0, 0.1, 0.5)  # the second label is the harder one
    right = rng.random((3000, 7)) < np.where(hard, 0.55, 0.92)[:, None]
    codes = np.where(right, truth[:, None], 1 - truth[:, None])
    data = Incidence.from_codes(*np.unique(codes, axis=0, return_counts=True), labels=2)
    free = fit_latent(data, "strata")
    assert not free.parameters.is_tied
    problem = em_problem(data, "strata", 2.0)
    tied = fit_latent(data, "strata", start=first_parameters(problem), settled=True)
    assert tied.parameters.is_tied
    assert free.log_likelihood > tied.log_likelihood
    mix = np.exp(free.parameters.prior).reshape(2, 2)
    assert mix[1] / mix.sum(axis=0) == pytest.approx([0.1, 0.5], abs=0.1)


@pytest.mark.parametrize("given", ["nothing", "gold", "labels"])
def test_the_first_parameters_are_shares_of_votes_unless_more_is_known(given: str) -> None:
    codes, weights = np.array([[0, 0, 1], [1, -1, 1], [0, 1, -1], [1, 1, 0]]), np.array([3.0, 2.0, 4.0, 1.0])
    chances = np.array([[0.7, 0.3], [0.2, 0.8], [0.5, 0.5], [0.4, 0.6]])
    gold = np.array([[1.0, 0.0], [np.nan, np.nan], [0.0, 1.0], [0.25, 0.75]])
    shares = np.array([[2.5, 1.5], [0.5, 2.5], [1.5, 1.5], [1.5, 2.5]])
    shares /= shares.sum(axis=1, keepdims=True)
    if given == "gold":
        shares = np.where(np.isnan(gold), shares, shares * gold)
        shares /= shares.sum(axis=1, keepdims=True)
    data = Incidence.from_codes(codes, weights, labels=2)
    problem = em_problem(data, "confusion", 2.0, gold if given == "gold" else None)
    at = first_parameters(problem, chances.T[None] if given == "labels" else None)
    mass = (chances if given == "labels" else shares) * weights[:, None]
    assert np.exp(at.prior[0]) == pytest.approx((mass.sum(axis=0) + 1) / 12)
    for true in range(2):
        for j in range(3):
            votes = np.array([mass[codes[:, j] == said, true].sum() + 1 + 2 * (said == true) for said in range(2)])
            assert np.exp(at.table[0, true, 2 * j : 2 * j + 2]) == pytest.approx(votes / votes.sum())
