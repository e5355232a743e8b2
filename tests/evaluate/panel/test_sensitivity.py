from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from panels import simulate
from scipy.sparse import csr_array

from jurors.evaluate.panel import sensitivity
from jurors.evaluate.panel.expectation import (
    Parameters,
    Problem,
    _improve,
    ascend,
    expect,
    first_parameters,
    pose,
)
from jurors.evaluate.panel.latent import MODELS, fit_latent
from jurors.evaluate.panel.sensitivity import Linearised, _Step, posterior_moves
from jurors.numbers.arrays import Floats
from jurors.sketch.incidence import Incidence


def sparse_panel() -> Incidence:
    codes, counts = np.unique(simulate(400, 9, seed=3, density=0.6).votes, axis=0, return_counts=True)
    dense = Incidence.from_codes(codes, counts, labels=2)
    return replace(dense, matrix=csr_array(dense.matrix[0]))


@pytest.mark.parametrize("model", MODELS)
def test_the_first_order_move_is_that_of_a_fit_to_weights_a_little_different(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sensitivity, "_MOST_ROUNDS", 10)  # to the end; standard errors stop before its plateaus
    monkeypatch.setattr(sensitivity, "_FLATTEST", 0.002)
    data = sparse_panel()
    end = fit_latent(data, model, tolerance=1e-9, max_iterations=4000).parameters
    problem = replace(pose(data, model, 2.0), tied=end.is_tied)
    drawn = np.sqrt(data.weights[0])[:, None] * np.random.default_rng(0).choice([-1.0, 1.0], (data.rows, 2))
    moved = posterior_moves(problem, end, drawn.astype(np.float32))
    for k in range(2):
        ends = []
        for step in (0.01, -0.01):
            other = replace(data, weights=data.weights + step * drawn[:, k])
            there = replace(problem, data=other, blocks=other.blocks())
            classes = expect(there, ascend(there, end, 1e-9, 4000)[0])[0][0]
            ends.append(classes.reshape(-1, 2, data.rows).sum(axis=0).T)
        refitted = (ends[0] - ends[1]) / 0.02
        off = 0.3 if model == "strata" else 0.1  # strata have nearly flat directions
        assert np.linalg.norm(moved[:, :, k] - refitted) < off * np.linalg.norm(refitted)


# -- the derivative of one step, against differences ------------------------------------------------------


def posed(model: str, labels: int) -> tuple[Problem, Parameters]:
    """Four jurors with gaps, in double precision, somewhere on the way up."""
    rng = np.random.default_rng(labels)
    codes = rng.integers(-1, labels, (40, 4))
    dense = Incidence.from_codes(codes, rng.integers(1, 6, 40), labels=labels)
    data = replace(dense, matrix=csr_array(dense.matrix[0]))
    problem = pose(data, model.removesuffix("_untied"), 2.0)
    at = first_parameters(problem)
    problem = replace(problem, tied=model == "strata")
    for _ in range(3):
        at, _ = _improve(problem, at)
    return problem, at


KINDS = [(model, labels) for model in (*MODELS, "strata_untied") for labels in (2, 3)]


def step_of(at: Parameters, seed: int) -> _Step:
    rng, has = np.random.default_rng(seed), at.has_strata
    prior, table = rng.normal(size=(at.prior.shape[1], 1)), rng.normal(size=at.table.shape[1:])
    away = rng.normal(size=(at.jurors, 1)).astype(np.float32) if has else None
    return _Step(prior.astype(np.float32), table.T[:, :, None].astype(np.float32), away)


def flat_of(step: _Step) -> Floats:
    parts = [step.prior[:, 0], step.table[:, :, 0].T.ravel(), *([] if step.away is None else [step.away[:, 0]])]
    return np.concatenate(parts).astype(float)


@pytest.mark.parametrize(("model", "labels"), KINDS)
def test_one_step_is_the_derivative_of_one_em_step(model: str, labels: int) -> None:
    problem, at = posed(model, labels)
    step, ends = step_of(at, 1), []
    for size in (1e-5, -1e-5):
        moved = replace(at, flat=at.flat + size * flat_of(step))
        ends.append(_improve(problem, moved)[0].flat[0])
    assert flat_of(Linearised(problem, at).step(step)) == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=2e-3, abs=2e-4)


@pytest.mark.parametrize(("model", "labels"), KINDS)
def test_what_weights_do_is_the_derivative_of_one_em_step(model: str, labels: int) -> None:
    problem, at = posed(model, labels)
    linear, ends = Linearised(problem, at), []
    drawn = np.random.default_rng(2).normal(size=(problem.data.rows, 1)).astype(np.float32)
    for size in (1e-5, -1e-5):
        data = replace(problem.data, weights=problem.data.weights + size * drawn[:, 0])
        ends.append(_improve(replace(problem, data=data, blocks=data.blocks()), at)[0].flat[0])
    answer = linear.counted(linear.posterior[:, :, None] * drawn[:, None])
    assert flat_of(answer) == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=2e-3, abs=2e-4)


@pytest.mark.parametrize(("model", "labels"), [kind for kind in KINDS if kind[0] != "strata"])
def test_the_step_is_symmetric_in_the_complete_datas_information(model: str, labels: int) -> None:
    problem, at = posed(model, labels)
    for _ in range(100):
        at, _ = _improve(problem, at)
    linear = Linearised(problem, at)
    one, other = (linear.step(step_of(at, seed)) for seed in (3, 4))
    assert linear._inner(one, linear.step(other)) == pytest.approx(linear._inner(linear.step(one), other), rel=1e-2)


@pytest.mark.parametrize(("model", "labels"), [("one_coin", 2), ("confusion", 3)])
def test_the_solution_solves_the_equation(model: str, labels: int) -> None:
    problem, at = posed(model, labels)
    for _ in range(100):
        at, _ = _improve(problem, at)
    linear = Linearised(problem, at)
    drawn = np.random.default_rng(5).normal(size=(problem.data.rows, 3)).astype(np.float32)
    end, asked = linear.solve(drawn), linear.counted(linear.posterior[:, :, None] * drawn[:, None])
    off = end - linear.step(end) - asked
    assert (linear._inner(off, off) <= 2e-3 * linear._inner(asked, asked)).all()
    both = linear.solve(np.concatenate([drawn, 0 * drawn[:, :1]], axis=1))  # a direction of nothing stays nothing
    assert both.table[:, :, :3] == pytest.approx(end.table, abs=1e-4)
    assert (both.table[:, :, 3] == 0).all()


def test_steps_with_and_without_looking_away_are_not_mixed() -> None:
    _, at = posed("strata", 2)
    step = step_of(at, 6)
    bare = replace(step, away=None)
    assert (step + bare).away is None
    assert (bare + step).away is None
    both, twice = (step + step).away, (step * 2.0).away
    assert both is not None
    assert twice is not None
    assert both == pytest.approx(twice)
    assert (step - step).prior == pytest.approx(0)


def test_a_direction_on_a_plateau_is_left_there(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, at = posed("confusion", 2)
    for _ in range(100):
        at, _ = _improve(problem, at)
    linear = Linearised(problem, at)
    drawn = np.random.default_rng(7).normal(size=(problem.data.rows, 2)).astype(np.float32)
    asked = linear.counted(linear.posterior[:, :, None] * drawn[:, None])
    steep = linear._inner(asked, asked - linear.step(asked)) / linear._inner(asked, asked)
    monkeypatch.setattr(sensitivity, "_FLATTEST", float(steep.mean()))
    monkeypatch.setattr(sensitivity, "_MOST_ROUNDS", 1)
    end, flat = linear.solve(drawn), int(steep.argmin())
    assert (end.table[:, :, flat] == 0).all()
    assert (end.prior[:, flat] == 0).all()
    length = 1 / steep[1 - flat]  # the first step of steepest descent
    assert end.table[:, :, 1 - flat] == pytest.approx(length * asked.table[:, :, 1 - flat], rel=1e-3, abs=1e-6)


@pytest.mark.parametrize(("model", "labels"), [("confusion", 3), ("strata", 2)])
def test_directions_are_solved_together_as_they_are_alone(model: str, labels: int) -> None:
    problem, at = posed(model, labels)
    for _ in range(100):
        at, _ = _improve(problem, at)
    linear = Linearised(problem, at)
    drawn = np.random.default_rng(8).normal(size=(problem.data.rows, 5)).astype(np.float32)
    drawn[:, 1] = 0.0  # settled before all others
    together = linear.solve(drawn)
    for k in range(5):
        alone = linear.solve(drawn[:, [k]])
        assert together.table[:, :, [k]] == pytest.approx(alone.table, rel=1e-2, abs=1e-3)
        assert together.prior[:, [k]] == pytest.approx(alone.prior, rel=1e-2, abs=1e-3)
        if alone.away is not None and together.away is not None:
            assert together.away[:, [k]] == pytest.approx(alone.away, rel=1e-2, abs=1e-3)
