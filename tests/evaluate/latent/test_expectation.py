"""EM steps: what holds at the edges of single precision."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from panels import simulate
from scipy.sparse import csr_array

from jurors.evaluate.latent import em as expectation
from jurors.evaluate.latent.em import EMProblem, Parameters, class_table, em_problem, first_parameters, run_em
from jurors.sketch.pairs import Incidence


def test_votes_by_habit_alone_keep_a_chance_in_single_precision() -> None:
    """A long step may say that a juror always looks away; a rare word of its habit is then rare, not impossible."""
    looks: Any = np.array([[[0.9, 0.1], [0.2, 0.8], [1e-9, 1.0]]], dtype=np.float32)
    odds = np.exp([[20.0]])
    at = Parameters.join(np.full((1, 4), 0.25), looks, odds, jurors=1, labels=2)
    hard = np.exp(class_table(at)[0, 2:])
    np.testing.assert_allclose(hard, [[1e-9, 1.0], [1e-9, 1.0]], rtol=1e-5)


def test_em_ends_where_single_precision_tells_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the last digits it goes round, now for a few steps and now for all that it may take."""
    problems = [_many_votes(seed) for seed in range(8)]
    ends = [run_em(problem, first_parameters(problem), 1e-6, 400) for problem in problems]
    assert all(converged for _, _, converged in ends)
    for problem, (at, _, _) in zip(problems[:3], ends, strict=False):
        finer = em_problem(replace(problem.data, matrix=problem.data.matrix.astype(np.float64)), "confusion", 2.0)
        exact, _, _ = run_em(finer, first_parameters(finer), 1e-6, 400)
        assert np.exp(at.table) == pytest.approx(np.exp(exact.table), abs=1e-3)
    monkeypatch.setattr(expectation, "_ROUNDING", {4: 0.0, 8: 0.0})
    longer = [run_em(problem, first_parameters(problem), 1e-6, 400)[1] for problem in problems]
    assert sum(longer) > 4 * sum(steps for _, steps, _ in ends)


def _many_votes(seed: int) -> EMProblem:
    """A height of billions, known to some hundreds."""
    dense = Incidence.from_codes(simulate(400, 9, seed=seed, density=0.7).votes, labels=2)
    votes = csr_array(dense.matrix[0].astype(np.float32))
    return em_problem(replace(dense, matrix=votes, weights=dense.weights * 1e6), "confusion", 2.0)
