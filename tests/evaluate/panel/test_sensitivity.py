from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from panels import simulate
from scipy.sparse import csr_array

from jurors.evaluate.panel.expectation import ascend, expect, pose
from jurors.evaluate.panel.latent import MODELS, fit_latent
from jurors.evaluate.panel.sensitivity import posterior_moves
from jurors.sketch.incidence import Incidence


def sparse_panel() -> Incidence:
    codes, counts = np.unique(simulate(400, 9, seed=3, density=0.6).votes, axis=0, return_counts=True)
    dense = Incidence.from_codes(codes, counts, labels=2)
    return replace(dense, matrix=csr_array(dense.matrix[0]))


@pytest.mark.parametrize("model", MODELS)
def test_the_first_order_move_is_that_of_a_fit_to_weights_a_little_different(model: str) -> None:
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
