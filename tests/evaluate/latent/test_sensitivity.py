"""Standard errors by linearising one EM step: against refits and derivatives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from panels import simulate
from scipy.sparse import csr_array

from jurors._numeric import Floats, Singles
from jurors.evaluate.latent.em import EMProblem, Parameters, e_step, em_problem, first_parameters, improve, run_em
from jurors.evaluate.latent.models import MODELS, fit_latent
from jurors.evaluate.latent.sensitivity import Linearised, Precision, _Columns, _inner
from jurors.sketch.pairs import Incidence


def sparse_panel() -> Incidence:
    codes, counts = np.unique(simulate(400, 9, seed=3, density=0.6).votes, axis=0, return_counts=True)
    dense = Incidence.from_codes(codes, counts, labels=2)
    return replace(dense, matrix=csr_array(dense.matrix[0]))


def votes_of(data: Incidence, classes: Floats) -> Floats:
    """Votes by class and cell, and items, of posteriors (classes, T)."""
    mass = classes.T * data.weights[0][:, None]
    return np.concatenate([data.into_cells(mass), mass.sum(axis=0)[None]]).T


@pytest.mark.parametrize("model", MODELS)
def test_the_first_order_move_is_that_of_a_fit_to_weights_a_little_different(model: str) -> None:
    to_the_end = Precision(30, 1e-6, 1e-6)  # standard errors stop before the plateaus of a fit
    data = sparse_panel()
    end = fit_latent(data, model, tolerance=1e-9, max_iterations=4000).parameters
    problem = replace(em_problem(data, model), tied=end.is_tied)
    drawn = np.sqrt(data.weights[0])[:, None] * np.random.default_rng(0).choice([-1.0, 1.0], (data.rows, 2))
    moved = Linearised(problem, end, precision=to_the_end).solve(drawn.astype(np.float32))
    by_label = moved.reshape(-1, 2, *moved.shape[1:]).sum(axis=0)
    for k in range(2):
        ends = []
        for step in (0.01, -0.01):
            other = replace(data, weights=data.weights + step * drawn[:, k])
            there = replace(problem, data=other, blocks=other.blocks())
            classes = e_step(there, run_em(there, end, 1e-9, 4000)[0])[0][0]
            ends.append(votes_of(data, classes.reshape(-1, 2, data.rows).sum(axis=0)))
        refitted = (ends[0] - ends[1]) / 0.02
        assert np.linalg.norm(by_label[:, :, k] - refitted) < 0.1 * np.linalg.norm(refitted)


# -- the derivative of one step, against differences ------------------------------------------------------


def posed(model: str, labels: int, steps: int = 100) -> tuple[EMProblem, Parameters]:
    """Four jurors with gaps, in double precision, after some steps."""
    rng = np.random.default_rng(labels)
    codes = rng.integers(-1, labels, (40, 4))
    dense = Incidence.from_codes(codes, rng.integers(1, 6, 40), labels=labels)
    data = replace(dense, matrix=csr_array(dense.matrix[0]))
    problem = em_problem(data, model.removesuffix("_untied"))
    at = first_parameters(problem)
    problem = replace(problem, tied=model == "strata")
    for _ in range(steps):
        at, _ = improve(problem, at)
    return problem, at


def arrived(model: str, labels: int) -> tuple[EMProblem, Parameters]:
    """On the way up, or, where habit shares in votes, at its end: only there is the derivative symmetric."""
    problem, at = posed(model, labels, 3)
    return (problem, run_em(problem, at, 1e-13, 20_000)[0]) if at.has_strata else (problem, at)


KINDS = [(model, labels) for model in (*MODELS, "strata_untied") for labels in (2, 3)]


def direction_of(linear: Linearised, seed: int) -> Singles:
    known = linear.parameters
    free: Singles = np.random.default_rng(seed).normal(size=(len(known.unit), 1)).astype(np.float32)
    return np.asarray(free - known.wholes.T @ (known.wholes @ free))  # chances go on making up 1


def flat_of(linear: Linearised, direction: Singles) -> Floats:
    """A direction as a change of Parameters.flat."""
    at, columns = linear.at, _Columns(linear.problem, linear.at)
    by = direction[:, 0] / linear.parameters.unit
    prior = sum(by[column] for column in columns.mix(np.arange(at.prior.shape[1])))
    table = by[columns.look(*np.indices(at.table.shape[1:]))]
    return np.concatenate([prior, table.ravel(), by[len(columns.pseudo) :]])


@pytest.mark.parametrize(("model", "labels"), KINDS)
def test_one_step_is_the_derivative_of_one_em_step_by_parameters_and_by_weights(model: str, labels: int) -> None:
    problem, at = arrived(model, labels)
    linear, direction = Linearised(problem, at, 0.0), direction_of(Linearised(problem, at, 0.0), 1)
    drawn = np.random.default_rng(2).normal(size=(problem.data.rows, 1)).astype(np.float32)
    ends: list[tuple[Floats, ...]] = []
    for size in (1e-5, -1e-5):
        moved = at.at(at.flat + size * flat_of(linear, direction))
        data = replace(problem.data, weights=problem.data.weights + size * drawn[:, 0])
        heavier = replace(problem, data=data, blocks=data.blocks())
        votes = votes_of(problem.data, e_step(problem, moved)[0][0])
        ends.append((improve(problem, moved)[0].flat[0], votes, improve(heavier, at)[0].flat[0]))
    step, in_places = linear.step(direction)
    answers = flat_of(linear, step), linear.scatter(in_places)[:, :, 0], flat_of(linear, linear.right_hand_side(drawn))
    for answer, above, below in zip(answers, *ends, strict=True):
        assert answer == pytest.approx((above - below) / 2e-5, rel=2e-3, abs=2e-4)


@pytest.mark.parametrize("negligible", [0.0, 0.5], ids=["all", "likely"])
@pytest.mark.parametrize(("model", "labels"), KINDS)
def test_one_less_the_step_is_symmetric_and_positive_whatever_is_left_out(
    model: str, labels: int, negligible: float
) -> None:
    linear = Linearised(*posed(model, labels), negligible)
    assert (linear.chance == 0).any() == (negligible > 0)
    one, other = (direction_of(linear, seed) for seed in (3, 4))
    there, back = _inner(one, linear.step(other)[0]), _inner(linear.step(one)[0], other)
    assert there == pytest.approx(back, rel=1e-3, abs=1e-3)
    for seed in range(5, 10):
        drawn = np.random.default_rng(seed).normal(size=(linear.problem.data.rows, 1)).astype(np.float32)
        ahead = linear.right_hand_side(drawn)
        for _ in range(4):  # towards the flattest direction
            assert 0 <= _inner(ahead, linear.step(ahead)[0]) < _inner(ahead, ahead)
            ahead = linear.step(ahead)[0]


def test_what_is_left_of_an_item_adds_up_to_one_and_the_surest_class_always_stays() -> None:
    problem, at = posed("strata", 3)
    every, likely = (Linearised(problem, at, share).chance for share in (0.0, 0.5))
    assert likely.sum(axis=1) == pytest.approx(1.0, abs=1e-6)
    assert ((likely > 0).sum(axis=1) < (every > 0).sum(axis=1)).any()
    kept = likely > 0
    mass = every * problem.data.weights[0][:, None]
    assert mass[~kept].max() < mass[kept].min()
    assert mass[~kept].sum() <= 0.5 * (mass * (1 - every)).sum()


def test_items_of_no_weight_change_nothing() -> None:
    problem, at = posed("confusion", 2)
    drawn = np.random.default_rng(5).normal(size=(problem.data.rows, 3)).astype(np.float32)
    drawn[:7] = 0.0
    weights = problem.data.weights.copy()
    weights[0, :7] = 0.0
    there = replace(problem, data=replace(problem.data, weights=weights))
    rest = replace(problem, data=problem.data.take(np.arange(7, problem.data.rows)))
    assert Linearised(there, at).solve(drawn) == pytest.approx(Linearised(rest, at).solve(drawn[7:]), abs=1e-4)


@pytest.mark.parametrize(("model", "labels"), [("one_coin", 2), ("confusion", 3)])
def test_the_solution_solves_the_equation(model: str, labels: int) -> None:
    linear = Linearised(*posed(model, labels))
    drawn = np.random.default_rng(5).normal(size=(linear.problem.data.rows, 3)).astype(np.float32)
    moved = linear.solve(drawn)
    in_places = moved.reshape(-1, 3)[linear._places]
    end = linear.right_hand_side(drawn) + linear.parameters.gather(in_places)
    off = linear.step(end)[1] - in_places
    assert (_inner(off, off) <= 2e-3 * _inner(in_places, in_places)).all()
    both = linear.solve(np.concatenate([drawn, 0 * drawn[:, :1]], axis=1))  # a direction of nothing stays nothing
    assert both[:, :, :3] == pytest.approx(moved, abs=1e-4)
    assert (both[:, :, 3] == 0).all()
