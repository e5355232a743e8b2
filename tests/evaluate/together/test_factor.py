from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from panels import simulate
from strategies import examples

from jurors import Sketch, Votes
from jurors._numeric import Floats
from jurors.evaluate.dependence import _descend, _leading, fit_factor, residual_errors
from jurors.sketch.moments import pair_moments
from jurors.sketch.pairs import Pairs

ITEMS = 10**9


def sketch_of(seed: int, *, jurors: int = 6, density: float = 1.0) -> Sketch:
    return Sketch.from_votes(Votes.from_matrix(simulate(600, jurors, seed=seed, density=density).votes, labels=(0, 1)))


def expected_sketch(prevalence: float, accuracy: Floats) -> Sketch:
    """The counts that independent jurors give, up to rounding a share of one in a thousand million."""
    codes = np.array(list(product((0, 1), repeat=len(accuracy))))
    on_a = np.where(codes == 0, accuracy[:, 0], 1 - accuracy[:, 0]).prod(axis=1)
    on_b = np.where(codes == 1, accuracy[:, 1], 1 - accuracy[:, 1]).prod(axis=1)
    counts = np.rint(ITEMS * (prevalence * on_a + (1 - prevalence) * on_b)).astype(np.int64)
    return Sketch.from_votes(Votes.from_matrix(codes, labels=(0, 1), counts=counts))


@examples(20, deadline=None)
@given(st.floats(0.2, 0.8), st.lists(st.tuples(st.floats(0.6, 0.95), st.floats(0.6, 0.95)), min_size=4, max_size=6))
def test_exact_expected_counts_give_the_jury_back(prevalence: float, accuracies: list[tuple[float, float]]) -> None:
    fit = fit_factor(Pairs(expected_sketch(prevalence, np.array(accuracies))))
    assert fit.prevalence == pytest.approx(prevalence, abs=1e-4)
    assert fit.accuracy == pytest.approx(np.array(accuracies), abs=1e-4)
    assert np.abs(fit.residual[~np.eye(len(accuracies), dtype=bool)]).max() < 1e-6


@examples(15, deadline=None)
@given(seed=st.integers(0, 10**6), order=st.permutations(range(6)), density=st.sampled_from([1.0, 0.7]))
def test_permuting_jurors_and_swapping_labels_commutes_with_the_fit(
    seed: int, order: list[int], density: float
) -> None:
    sketch = sketch_of(seed, density=density)
    fit = fit_factor(Pairs(sketch))
    moved = fit_factor(Pairs(sketch.take([sketch.jurors[k] for k in order])))
    assert moved.prevalence == pytest.approx(fit.prevalence, abs=1e-5)
    assert moved.accuracy == pytest.approx(fit.accuracy[order], abs=1e-5)
    assert moved.residual == pytest.approx(fit.residual[np.ix_(order, order)], abs=1e-5)
    codes = sketch.tuples.codes
    turned = Votes.from_matrix(np.where(codes < 0, -1, 1 - codes), labels=(0, 1), counts=sketch.counts)
    mirrored = fit_factor(Pairs(Sketch.from_votes(turned)))
    assert mirrored.prevalence == pytest.approx(1 - fit.prevalence, abs=1e-6)
    assert mirrored.accuracy == pytest.approx(fit.accuracy[:, ::-1], abs=1e-6)
    assert mirrored.residual == pytest.approx(fit.residual, abs=1e-6)


def test_pairs_left_out_do_not_touch_the_fit_but_get_their_residual() -> None:
    panel = simulate(4000, 6, seed=5)
    votes = panel.votes.copy()
    copied = np.random.default_rng(5).random(4000) < 0.6
    votes[:, 1] = np.where(copied, votes[:, 0], votes[:, 1])
    sketch = Sketch.from_votes(Votes.from_matrix(votes, labels=(0, 1)))
    within = np.zeros((6, 6), dtype=bool)
    within[:2, :2] = True
    fit = fit_factor(Pairs(sketch), within)
    assert fit.z[0, 1] > 10
    others = np.triu(~within, 1)
    assert np.abs(fit.z[others]).max() < 4


def test_residuals_in_standard_errors_are_standard_on_independent_panels() -> None:
    upper = np.triu_indices(8, 1)
    z = np.concatenate([fit_factor(Pairs(sketch_of(seed, jurors=8))).z[upper] for seed in range(20)])
    assert abs(z.mean()) < 0.15
    assert 0.7 < z.std() < 1.1  # eight loadings are fitted to 28 pairs: a little less than 1


@pytest.mark.parametrize("jurors", [4, 9, 70])
def test_loadings_are_where_no_one_juror_would_rather_be_elsewhere(jurors: int) -> None:
    rng = np.random.default_rng(jurors)
    table = np.outer(beta := rng.uniform(-0.2, 0.9, jurors), beta) + rng.normal(0, 0.05, (jurors, jurors))
    table, weights = (table + table.T) / 2, rng.integers(0, 50, (jurors, jurors)).astype(float)
    weights = np.triu(weights, 1) + np.triu(weights, 1).T
    found = _descend(table, weights, _leading(table))
    best = (weights * table) @ found / (weights @ found**2)
    assert found == pytest.approx(np.clip(best, -0.999, 0.999), abs=1e-6)
    values, vectors = np.linalg.eigh(table)
    assert np.abs(_leading(table)) == pytest.approx(np.abs(vectors[:, -1]) * values[-1] ** 0.5, abs=1e-5)


@pytest.mark.parametrize("groups", [70, 35, 1])
def test_many_jurors_who_do_not_meet_have_no_leading_direction_and_no_fault(groups: int) -> None:
    table: Floats = np.kron(np.eye(groups), np.ones((70 // groups, 70 // groups))).astype(np.float64)
    table -= np.eye(70)
    found = _leading(table)
    assert np.isfinite(found).all()
    values = np.linalg.eigvalsh(table)
    assert found @ found == pytest.approx(max(values[-1], 1e-6))
    assert table @ found == pytest.approx(values[-1] * found, abs=1e-4)


def test_a_pair_that_shares_no_two_items_has_neither_residual_nor_error() -> None:
    codes = simulate(300, 5, seed=2).votes
    codes[:150, 0] = codes[150:, 1] = -1
    sketch = Sketch.from_votes(Votes.from_matrix(codes, labels=(0, 1)))
    fit = fit_factor(Pairs(sketch))
    assert fit.pairs.items[0, 1] == 0
    assert fit.residual[0, 1] == fit.error[0, 1] == fit.z[0, 1] == 0
    error = residual_errors(pair_moments(Pairs(sketch)), sketch.items, fit.prevalence, fit.accuracy)
    assert error == pytest.approx(fit.error)
