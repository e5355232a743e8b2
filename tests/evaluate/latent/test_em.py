"""EM: the quick steps of panels with few parameters are steps as any others."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from panels import simulate
from scipy.sparse import csr_array

from jurors.evaluate.latent import em
from jurors.evaluate.latent.models import MODELS
from jurors.sketch.pairs import Incidence

# -- EM steps: what holds at the edges of single precision -----------------------------------------


def test_votes_by_habit_alone_keep_a_chance_in_single_precision() -> None:
    """A long step may say that a juror always looks away; a rare word of its habit is then rare, not impossible."""
    looks: Any = np.array([[[0.9, 0.1], [0.2, 0.8], [1e-9, 1.0]]], dtype=np.float32)
    odds = np.exp([[20.0]])
    at = em.Parameters.join(np.full((1, 4), 0.25), looks, odds, jurors=1, labels=2)
    hard = np.exp(em.class_table(at)[0, 2:])
    np.testing.assert_allclose(hard, [[1e-9, 1.0], [1e-9, 1.0]], rtol=1e-5)


def test_em_ends_where_single_precision_tells_no_more() -> None:
    """In the last digits of a height of billions, known to some hundreds, it would go round."""
    for seed in range(4):
        dense = Incidence.from_codes(simulate(400, 9, seed=seed, density=0.7).votes, labels=2)
        ends = []
        for kind in (np.float32, np.float64):
            votes = csr_array(dense.matrix[0].astype(kind))
            problem = em.em_problem(replace(dense, matrix=votes, weights=dense.weights * 1e6), "confusion")
            at, _, converged = em.run_em(problem, em.first_parameters(problem), 1e-6, 400)
            ends.append(np.exp(at.table))
            assert converged
        assert ends[0] == pytest.approx(ends[1], abs=1e-3)


# -- The quick steps of panels with few parameters: the same as any others, one model at a time or several in a sweep


PLAIN = ("one_coin", "confusion")


def panel(seed: int, *, labels: int = 2, jurors: int = 4, stack: int = 1, shared: bool = True) -> Incidence:
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, labels, (9, jurors))
    one = Incidence.from_codes(codes, rng.integers(0, 40, 9), labels=labels)
    if stack == 1:
        return one
    matrix = one.matrix if shared else rng.permuted(np.repeat(one.matrix, stack, axis=0), axis=1)
    return replace(one, matrix=matrix, weights=rng.integers(1, 40, (stack, 9)).astype(np.float64))


def points(seed: int, problem: em.EMProblem) -> em.Parameters:
    """Anywhere where chances add up to one."""
    start = em.first_parameters(problem)
    noise = np.random.default_rng(seed).normal(0.0, 2.0, start.flat.shape)
    return start.at(em.AnyParameters(problem).normalise(start.flat + noise))


@given(
    st.integers(0, 10**6), st.sampled_from(MODELS), st.integers(2, 4), st.integers(3, 12), st.sampled_from([1, 3]),
    st.booleans(), st.booleans(), st.booleans(),
)  # fmt: skip
def test_a_quick_step_is_a_step(
    seed: int, model: str, labels: int, jurors: int, stack: int, shared: bool, gold: bool, tied: bool
) -> None:
    """With ten jurors or more, with votes of their own in every panel, with gold: what any other step gives."""
    data = panel(seed, labels=labels, jurors=jurors, stack=stack, shared=shared)
    key = np.full((9, labels), np.nan)
    key[:3] = np.eye(labels)[[0, 1, 0]]
    problem = em.em_problem(data, model, key if gold else None)
    problem = replace(problem, tied=problem.tied and tied)
    at = points(seed, problem)
    with patch.object(em, "are_few", lambda _: True):
        quick = problem.steps
    assert not isinstance(quick, em.AnyParameters)
    here = quick.enter(at.flat)
    assert quick.leave(here) == pytest.approx(at.flat)
    once, height = quick.improve(here)
    other, other_height = em.improve(problem, at)
    assert quick.leave(once) == pytest.approx(other.flat, rel=1e-9, abs=1e-9)
    assert height == pytest.approx(other_height, rel=1e-9)
    apart = em.AnyParameters(problem).normalise(at.flat + 0.5)
    assert quick.leave(quick.normalise(quick.enter(at.flat + 0.5))) == pytest.approx(apart, abs=1e-9)


@pytest.mark.parametrize("away", [-60.0, 40.0])
def test_jurors_who_always_or_never_look_away_are_no_trouble(away: float) -> None:
    problem = em.em_problem(panel(5), "strata")
    flat = points(5, problem).flat
    flat[:, -4:] = away
    at = em.first_parameters(problem).at(flat)
    once, height = problem.steps.improve(flat)
    other, other_height = em.improve(problem, at)
    assert once == pytest.approx(other.flat, rel=1e-9, abs=1e-9)
    assert height == pytest.approx(other_height)


@pytest.mark.parametrize("start", ["shares of votes", "a point"])
def test_models_go_up_together_as_they_go_up_alone(start: str) -> None:
    """A model that has arrived waits for the others, and is nearer to the top then."""
    data = Incidence.from_codes(simulate(800, 5, seed=2).votes, labels=2)
    problems = [em.em_problem(data, model) for model in (*PLAIN, "strata")]
    begin = None if start == "shares of votes" else [points(1, problem) for problem in problems]
    together = em.run_em_models(problems, begin, 1e-6, 400)
    assert together[0][1] == together[1][1]
    for k, (problem, (end, _, converged)) in enumerate(zip(problems, together, strict=True)):
        at = em.first_parameters(problem) if begin is None else begin[k]
        alone, _, _ = em.run_em(problem, at, 1e-6 * at.flat.shape[1], 400)
        assert converged
        assert em.improve(problem, end)[1][0] >= em.improve(problem, alone)[1][0] - 1e-4
        assert np.exp(end.flat) == pytest.approx(np.exp(alone.flat), abs=2e-3)


@pytest.mark.parametrize("labels", [2, 4])
def test_votes_are_let_go_with_the_last_who_needs_them(labels: int) -> None:
    """Nothing waits for the garbage collector: of a hundred million votes that would be gigabytes."""
    problem = em.em_problem(panel(1, labels=labels, jurors=9), "strata")
    assert isinstance(problem.steps, em.FewStrata if labels == 2 else em.AnyParameters)
    em.run_em(problem, em.first_parameters(problem), 1e-3, 20)
    held = weakref.ref(problem)
    gc.disable()
    try:
        del problem
        assert held() is None
    finally:
        gc.enable()
