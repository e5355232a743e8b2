"""Latent classes, joint groups of jurors, and repeats of one judge by name."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from panels import simulate
from scipy.sparse import csr_array
from strategies import examples

import jurors
from jurors import Votes
from jurors._numeric import Floats, Integers
from jurors.evaluate.latent.em import Parameters, em_problem, first_parameters, fit_strata
from jurors.evaluate.latent.models import (
    MODELS,
    climb_coupled,
    couple_groups,
    find_repeated_jurors,
    fit_coupled,
    fit_latent,
    juror_scores,
    named_alike,
    possible_repeats,
    repeated_name,
    restrict_to_answered,
)
from jurors.sketch.pairs import Incidence
from jurors.sketch.sketch import Sketch

models = pytest.mark.parametrize("model", MODELS)


def panel(seed: int, labels: int = 2, density: float = 0.9) -> tuple[Integers, Floats]:
    """Tuples of five jurors with weights."""
    share = np.arange(labels, 0, -1) / (labels * (labels + 1) / 2)
    codes = simulate(80, 5, seed=seed, prevalence=share, density=density).votes
    return codes, np.random.default_rng(seed).integers(1, 6, len(codes)).astype(float)


def height(data: Incidence, model: str, at: Parameters) -> float:
    """The objective at a point, by the definition: log-likelihood plus the log of the pseudo-counts' density."""
    problem = em_problem(data, model)
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
    problem = em_problem(data, model)
    at = first_parameters(problem)
    ends = [fit_strata(problem, at, 0.0, limit)[0] for limit in (2, 4, 8, 16, 32)]
    heights = [height(data, model, end) for end in (at, *ends)]
    # The first M-step with strata shares hard votes out half and half, which is no step of EM.
    assert (np.diff(heights[1:] if model == "strata" else heights) > -1e-7).all()


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
    dense = Incidence.from_codes(*panel(3, density=0.6), labels=2)
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
        problem = em_problem(stack, model)
        ends = fit_strata(problem, first_parameters(problem), 1e-6, 2000)[0]
        for k, data in enumerate(alone):
            single = em_problem(data, model)
            end = fit_strata(single, first_parameters(single), 1e-6, 2000)[0]
            assert np.exp(ends.at(ends.flat[k][None]).table) == pytest.approx(np.exp(end.table), abs=1e-3)


def test_strata_have_a_label_mix_of_their_own_where_the_votes_insist() -> None:
    rng = np.random.default_rng(1)
    truth = (rng.random(3000) < 0.5).astype(int)
    hard = rng.random(3000) < np.where(truth == 0, 0.1, 0.5)  # the second label is the harder one
    right = rng.random((3000, 7)) < np.where(hard, 0.55, 0.92)[:, None]
    codes = np.where(right, truth[:, None], 1 - truth[:, None])
    data = Incidence.from_codes(*np.unique(codes, axis=0, return_counts=True), labels=2)
    free = fit_latent(data, "strata")
    assert not free.parameters.is_tied
    problem = em_problem(data, "strata")
    tied = fit_latent(data, "strata", start=first_parameters(problem), fixed_mix=True)
    assert tied.parameters.is_tied
    assert free.log_likelihood > tied.log_likelihood
    mix = np.exp(free.parameters.prior).reshape(2, 2)
    assert mix[1] / mix.sum(axis=0) == pytest.approx([0.1, 0.5], abs=0.1)


# -- coupled ---------------------------------------------------------------------------------------


def votes_of(seed: int, *, density: float = 0.9) -> Votes:
    """Six jurors; the last two copy each other's errors now and then."""
    codes = simulate(200, 6, seed=seed, density=density).votes
    copied = (np.random.default_rng(seed).random(200) < 0.7) & (codes[:, 5] >= 0)
    codes[:, 5] = np.where(copied, codes[:, 4], codes[:, 5])
    return Votes.from_matrix(np.where(codes < 0, -1, codes), labels=(0, 1))


def data_of(votes: Votes) -> Incidence:
    return Incidence.from_codes(votes.codes, labels=2)


def test_without_groups_it_is_the_latent_class_fit() -> None:
    votes = votes_of(0)
    data = data_of(votes)
    alone = fit_latent(data, "confusion", tolerance=1e-9)
    end = fit_coupled(data, couple_groups(votes, []), alone)
    assert end.confusion == pytest.approx(alone.confusion, abs=1e-3)
    assert end.log_likelihood == pytest.approx(alone.log_likelihood, abs=0.01)


def test_a_group_speaks_only_where_all_of_it_votes() -> None:
    votes = Votes.from_matrix([[0, 1, 1], [1, -1, 0], [1, 1, 1]], labels=(0, 1))
    (joint,) = couple_groups(votes, [(0, 1)]).joint
    assert joint.matrix[0].tolist() == [[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]]  # AB, nothing, BB


@examples(8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_perfect_copy_in_a_group_adds_next_to_nothing(seed: int) -> None:
    codes = votes_of(seed, density=1.0).codes
    twin = Votes.from_matrix(np.column_stack([codes[:, :5], codes[:, 4], codes[:, 4]]), labels=(0, 1))
    once = Votes.from_matrix(codes[:, :5], labels=(0, 1))
    alone = fit_latent(data_of(once), "confusion", tolerance=1e-9)
    end = fit_coupled(data_of(twin), couple_groups(twin, [(4, 5, 6)]), fit_latent(data_of(twin), "confusion"))
    counted_thrice = fit_latent(data_of(twin), "confusion", tolerance=1e-9)
    assert np.abs(end.posterior - alone.posterior).mean() < np.abs(counted_thrice.posterior - alone.posterior).mean()


def test_gold_pins_the_posteriors() -> None:
    votes = votes_of(2)
    data = data_of(votes)
    gold = np.full((votes.rows, 2), np.nan)
    gold[:15] = [1.0, 0.0]
    start = fit_latent(data, "confusion", gold=gold)
    end = fit_coupled(data, couple_groups(votes, [(4, 5)]), start, gold=gold)
    assert end.posterior[:15] == pytest.approx(gold[:15], abs=1e-9)


def test_other_weights_are_fitted_as_so_many_items() -> None:
    votes = votes_of(3, density=1.0)
    data = data_of(votes)
    weights = np.random.default_rng(3).integers(1, 4, votes.rows).astype(float)
    posterior = fit_latent(data, "confusion").posterior
    coupling = couple_groups(votes, [(4, 5)])
    heavy = Incidence(data.matrix, weights[None], 6, 2)
    end, *_ = climb_coupled(heavy, coupling.weighing(weights[None]), posterior.T[None])
    each = np.repeat(np.arange(votes.rows), weights.astype(int))
    long = Votes.from_matrix(votes.codes[each], labels=(0, 1))
    same, *_ = climb_coupled(data_of(long), couple_groups(long, [(4, 5)]), posterior[each].T[None])
    assert end[2] == pytest.approx(same[2], abs=1e-9)


# -- one judge, several answers ------------------------------------------------------------------------------------


NAMES = ("gpt#1", "gpt#2", "gpt#3", "ann", "bob", "cy", "di")


NAMED = json.loads((Path(__file__).parent / "names_of_repeats.json").read_text())


@pytest.mark.parametrize(("name", "judge"), NAMED["once more"].items())
def test_names_that_say_once_more(name: str, judge: str) -> None:
    repeat = repeated_name(name)
    assert repeat is not None
    assert repeat[0] == judge


@pytest.mark.parametrize("name", NAMED["another one"])
def test_names_that_do_not(name: str) -> None:
    assert repeated_name(name) is None


def one_judge(base: str, others: tuple[str, ...], seed: int = 0, blind: float = 0.25) -> Sketch:
    """Three answers of a judge with a blind spot, and other jurors."""
    rng = np.random.default_rng(seed)
    truth, wrong = rng.random(300) < 0.5, rng.random(300) < blind
    right = [wrong ^ (rng.random(300) < 0.95) for _ in range(3)] + [rng.random(300) < 0.8 for _ in others]
    names = (*(f"{base}{k + 1}" for k in range(3)), *others)
    return Sketch.from_votes(jurors.Votes.from_matrix(np.column_stack(right) == truth[:, None], jurors=names))


@pytest.mark.parametrize("base", ["judge_", "judge", "judge ", "llm-", "gpt-4_", "sample", "answer "])
def test_a_number_may_count_how_often_one_was_asked(base: str) -> None:
    sketch = one_judge(base, ("ann", "bob"))
    (group,) = possible_repeats(sketch).values()
    assert group == (0, 1, 2)
    (alarm,) = [alarm for alarm in jurors.grade(sketch).alarms if alarm.reason == "possible_repeats"]
    assert alarm.level == "warning"
    assert f"use join={next(iter(possible_repeats(sketch)))!r}" in alarm.message
    assert jurors.grade(sketch, join=list(possible_repeats(sketch))).jurors[1:] == ("ann", "bob")


@pytest.mark.parametrize("base", ["annotator", "juror ", "r", "w", "expert_", "text-davinci-00", "v0.", "phi-", "gpt"])
def test_people_and_versions_are_not_taken_for_repeats(base: str) -> None:
    assert possible_repeats(one_judge(base, ("ann", "bob"))) == {}


def test_judges_who_err_apart_are_not_taken_for_one() -> None:
    rng = np.random.default_rng(1)
    truth = rng.random(400) < 0.5
    right = rng.random((400, 6)) < 0.85
    names = ("judge_1", "judge_2", "judge_3", "ann", "bob", "cy")
    assert possible_repeats(Sketch.from_votes(jurors.Votes.from_matrix(right == truth[:, None], jurors=names))) == {}


def test_judges_that_are_merely_numbered_are_not_taken_for_one() -> None:
    assert possible_repeats(one_judge("judge_", ())) == {}
    assert "possible_repeats" not in {alarm.reason for alarm in jurors.grade(one_judge("judge_", ())).alarms}


def test_the_plain_name_is_the_first_time_and_a_spelling_twice_is_none() -> None:
    assert named_alike(["gpt", "ann", "GPT (2)"]) == [(0, 2)]
    assert named_alike(["gpt #1", "GPT #1", "ann"]) == []
    assert named_alike(["gpt #1", "ann"]) == []


def repeats(items: int, again: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Votes of seven jurors, the truth; the first three are one judge who thinks again about some items."""
    panel = simulate(items, 7, seed=seed)
    rng = np.random.default_rng(seed)
    for k in (1, 2):
        panel.votes[:, k] = np.where(rng.random(items) < again, panel.votes[:, k], panel.votes[:, 0])
    return panel.votes, panel.truth


def test_votes_must_confirm_the_names() -> None:
    panels = [jurors.Votes.from_matrix(simulate(200, 7, seed=seed).votes, jurors=NAMES) for seed in range(60)]
    assert sum(bool(find_repeated_jurors(Sketch.from_votes(votes))) for votes in panels) <= 3  # independent jurors


def test_one_judge_asked_three_times_counts_once() -> None:
    votes, _ = repeats(1000, 0.1, seed=3)
    result = jurors.grade(votes, jurors=NAMES)
    assert result.representatives == (0, 0, 0, 3, 4, 5, 6)
    alarm = next(a for a in result.alarms if a.reason == "same_judge")
    assert (alarm.level, alarm.value, alarm.jurors) == ("warning", 3, NAMES[:3])
    assert result.details["joint_groups"] == [list(NAMES[:3])]
    assert "correlated_errors" not in {a.reason for a in result.alarms}  # that is how repeats are


def test_two_judges_are_too_few_however_often_they_answer() -> None:
    votes, _ = repeats(500, 0.1, seed=4)
    result = jurors.grade(votes[:, [0, 1, 3]], jurors=("gpt#1", "gpt#2", "ann"))
    assert (result.alarms[0].reason, result.alarms[0].level) == ("same_judge", "alarm")
    assert result.representatives == (0, 0, 2)


def test_a_judge_does_not_win_by_being_asked_often() -> None:
    votes, truth = repeats(600, 0.1, seed=0)
    own = (votes == truth[:, None]).mean(axis=0)
    named, nameless = (jurors.grade(votes, jurors=names).independent for names in (NAMES, "abcdefg"))
    assert list(named.score.values()) == pytest.approx(own, abs=0.04)
    assert list(nameless.score.values()) != pytest.approx(own, abs=0.1)  # what three against four did
