from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from panels import simulate
from scipy.linalg import block_diag
from strategies import examples

from jurors.evaluate.latent import selection as hidden_votes
from jurors.evaluate.latent import selection as model_choice
from jurors.evaluate.latent.em import class_table, e_step, em_problem, first_parameters
from jurors.evaluate.latent.models import MODELS
from jurors.evaluate.latent.selection import choose_latent
from jurors.sketch.pairs import Incidence


def panel(seed: int, *, density: float = 0.8, jurors: int = 6, items: int = 120) -> Incidence:
    codes = simulate(items, jurors, seed=seed, density=density).votes
    weights = np.random.default_rng(seed).integers(0, 7, len(codes)).astype(float)
    return Incidence.from_codes(codes, weights, labels=2)


def as_sparse(data: Incidence) -> Incidence:
    from scipy.sparse import csr_array

    return Incidence(csr_array(data.matrix[0]), data.weights, data.jurors, data.labels)


@examples(25, deadline=None)
@given(seed=st.integers(0, 10**6), sparse=st.booleans())
def test_the_folds_hide_every_vote_of_every_item_exactly_once(seed: int, sparse: bool) -> None:
    dense = panel(seed)
    data = as_sparse(dense) if sparse else dense
    visible, hidden, rows = hidden_votes.hold_out(data)
    votes = np.zeros((dense.rows, dense.jurors * dense.labels))
    np.add.at(votes, (rows[hidden.row], hidden.cell), hidden.items)
    assert votes == pytest.approx(dense.matrix[0] * dense.weights[0][:, None])
    assert visible.weights[0].sum() == dense.weights[0].sum()
    # What a fold hides it does not see; everything else it does.
    cells = np.zeros((4, len(rows), dense.jurors * dense.labels))
    cells[hidden.panel, hidden.row, hidden.cell] = 1
    table = visible.matrix if not sparse else np.stack([_block(visible, k) for k in range(4)])
    assert (table + cells == dense.matrix[0][rows]).all()


def _block(visible: Incidence, k: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    rows, cells = visible.rows, visible.jurors * visible.labels
    return np.asarray(visible.matrix[k * rows : (k + 1) * rows, k * cells : (k + 1) * cells].toarray())


@given(st.lists(st.integers(0, 50), min_size=1, max_size=30))
def test_items_are_dealt_out_evenly_and_none_is_lost(counts: list[int]) -> None:
    weights = np.array(counts, dtype=float)
    group, row, items = hidden_votes._deal(weights, np.arange(len(weights)))
    assert np.bincount(row, items, len(weights)) == pytest.approx(weights)
    hands = np.zeros((4, len(weights)))
    hands[group, row] = items
    assert (hands.max(axis=0) - hands.min(axis=0) <= 1).all()
    assert (items > 0).all()


@examples(25)
@given(st.integers(1, 4), st.integers(1, 20), st.integers(0, 10**6))
def test_the_weights_of_the_models_add_up_to_one_and_gain(models: int, tuples: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    foretold, items = -rng.random((models, tuples)) * 5, rng.integers(1, 9, tuples).astype(float)
    weights = model_choice._stack_weights(foretold, items)
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()
    even = np.full(models, 1 / models)
    assert items @ np.log(weights @ np.exp(foretold)) >= items @ np.log(even @ np.exp(foretold)) - 1e-9


def test_a_model_that_foretells_everything_better_takes_all_the_weight() -> None:
    weights = model_choice._stack_weights(np.array([[-2.0, -3.0], [-1.0, -1.0]]), np.ones(2))
    assert weights == pytest.approx([0, 1], abs=1e-6)


def test_models_with_more_unknowns_than_cells_are_left_out() -> None:
    assert model_choice._identifiable(MODELS, jurors=3, labels=2) == ["one_coin", "confusion"]
    assert model_choice._identifiable(MODELS, jurors=2, labels=2) == ["one_coin"]
    assert model_choice._identifiable(MODELS, jurors=5, labels=2) == list(MODELS)
    assert model_choice._identifiable(MODELS[1:], jurors=2, labels=2) == ["confusion"]  # at least the first


def test_the_answer_is_the_models_average_by_their_weights() -> None:
    choice = choose_latent(panel(1, density=1.0, items=400))
    assert sum(choice.weights.values()) == pytest.approx(1)
    assert choice.chosen in choice.fits
    mixed = sum(choice.weights[model] * fit.posterior for model, fit in choice.fits.items())
    assert choice.fit.posterior == pytest.approx(mixed)
    assert choice.fit.posterior.sum(axis=1) == pytest.approx(1)
    assert choice.difference[choice.chosen] >= -max(choice.standard_error[choice.chosen], 1.0)


def test_equal_coins_mostly_choose_the_simplest_model() -> None:
    chosen = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 2, 1000)
        codes = np.where(rng.random((1000, 5)) < 0.8, truth[:, None], 1 - truth[:, None])
        chosen.append(
            choose_latent(Incidence.from_codes(*np.unique(codes, axis=0, return_counts=True), labels=2)).chosen
        )
    assert chosen.count("one_coin") >= 6  # one standard error is passed by chance now and then


def test_jurors_who_lean_choose_confusion_matrices() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 2000)
    right = rng.random((2000, 5)) < np.where(truth == 0, 0.95, 0.65)[:, None]
    choice = choose_latent(Incidence.from_codes(np.where(right, truth[:, None], 1 - truth[:, None]), labels=2))
    assert choice.chosen == "confusion"
    assert choice.difference["one_coin"] < -choice.standard_error["one_coin"]


def test_gold_pins_the_posterior_of_the_average_too() -> None:
    data = panel(4, items=60)
    gold = np.full((60, 2), np.nan)
    gold[:10] = [0.0, 1.0]
    assert choose_latent(data, gold=gold).fit.posterior[:10] == pytest.approx(gold[:10], abs=1e-9)


@examples(10, deadline=None)
@given(seed=st.integers(0, 10**6), order=st.randoms(use_true_random=False), density=st.sampled_from([1.0, 0.7]))
def test_reordering_jurors_labels_and_tuples_changes_nothing_beyond_rounding(
    seed: int, order: Random, density: float
) -> None:
    codes = simulate(60, 5, seed=seed, density=density).votes
    codes, counts = np.unique(codes, axis=0, return_counts=True)
    who, names, rows = (order.sample(range(size), size) for size in (5, 2, len(codes)))
    moved = np.append(np.argsort(names), -1)[codes[rows][:, who]]
    plain = choose_latent(Incidence.from_codes(codes, counts, labels=2))
    other = choose_latent(Incidence.from_codes(moved, counts[rows], labels=2))
    assert other.chosen == plain.chosen
    assert other.hidden_log_likelihood == pytest.approx(plain.hidden_log_likelihood, abs=1e-6)
    assert other.fit.score == pytest.approx(plain.fit.score[who], abs=1e-6)
    assert other.fit.posterior == pytest.approx(plain.fit.posterior[rows][:, names], abs=1e-6)


# -- against plain loops -------------------------------------------------------------------------------------


@pytest.mark.parametrize("folds", [1, 4])
def test_dense_and_sparse_votes_are_hidden_alike(folds: int) -> None:
    dense = panel(5, items=30)
    (seen, hidden, rows), (other, sparse, same) = (
        hidden_votes.hold_out(data, folds) for data in (dense, as_sparse(dense))
    )
    assert (rows == same).all()
    order = np.lexsort((sparse.cell, sparse.row, sparse.panel))
    for name in ("panel", "row", "seen", "cell", "items"):
        assert (getattr(hidden, name) == getattr(sparse, name)[order]).all()
    assert (other.matrix.toarray() == block_diag(*seen.matrix)).all()
    assert other.weights.shape == seen.weights.shape == (folds, len(rows))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_the_chance_of_a_hidden_vote_is_what_the_posterior_of_its_item_makes_it(model: str, sparse: bool) -> None:
    data = panel(6, items=25)
    visible, hidden, _ = hidden_votes.hold_out(as_sparse(data) if sparse else data)
    problem = em_problem(visible, model, 2.0)
    at = first_parameters(problem)
    posterior, table = e_step(problem, at)[0], np.exp(class_table(at))
    plain = [
        np.log(sum(posterior[f, k, t] * table[f, k, c] for k in range(posterior.shape[1])))
        for f, t, c in zip(hidden.panel, hidden.seen, hidden.cell, strict=True)
    ]
    assert hidden.chances(problem, at) == pytest.approx(plain, abs=1e-5)


def test_rows_of_equal_visible_votes_foretell_as_one_what_they_foretell_each() -> None:
    codes = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (-1, 0, 1)])
    data = Incidence.from_codes(codes, np.arange(20, 32), labels=2)
    visible, hidden, _ = hidden_votes.hold_out(data)
    fewer, noted, _ = hidden_votes.hold_out(data, fold_equal=True)
    assert len({tuple(row) for row in fewer.matrix[0].tolist()}) == fewer.rows < visible.rows
    for fold in range(4):
        whole, part = (votes.counts(votes.weights[:, None]) for votes in (visible, fewer))
        assert whole[fold] == pytest.approx(part[fold])
        at_fold = noted.panel == fold
        assert (fewer.matrix[0][noted.seen[at_fold]] == visible.matrix[fold][hidden.row[at_fold]]).all()
    ends = [first_parameters(em_problem(votes, "confusion", 2.0)) for votes in (visible, fewer)]
    assert ends[0].flat == pytest.approx(ends[1].flat)
    one, other = (h.chances(em_problem(v, "confusion", 2.0), ends[0]) for v, h in ((visible, hidden), (fewer, noted)))
    assert one == pytest.approx(other)
    few = Incidence.from_codes(codes, np.full(12, 2), labels=2)
    for alone in (few, as_sparse(data)):  # nothing is crowded; sparse votes stay as they are
        visible, hidden, rows = hidden_votes.hold_out(alone, fold_equal=True)
        assert visible.rows == len(rows)
        assert (hidden.seen == hidden.row).all()


def test_items_left_over_start_at_another_group_each_time() -> None:
    group, row, items = hidden_votes._deal(np.array([5.0, 1.0, 2.0, 0.0, 8.0]), np.array([2, 3, 0, 1, 1]))
    hands = np.zeros((4, 5))
    hands[group, row] = items
    assert hands.T.tolist() == [[1, 1, 2, 1], [0, 0, 0, 1], [1, 1, 0, 0], [0, 0, 0, 0], [2, 2, 2, 2]]


def test_a_share_of_the_rows_is_drawn_in_order_without_repeats() -> None:
    rows = hidden_votes.sample_rows(40, 0.25, 3)
    assert len(set(rows.tolist())) == 10
    assert (np.diff(rows) > 0).all()
    assert hidden_votes.sample_rows(5, 7.0, 0).tolist() == [0, 1, 2, 3, 4]
    assert len(hidden_votes.sample_rows(5, 0.0, 0)) == 1


def test_of_a_large_panel_a_quarter_of_the_votes_of_some_tuples_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    data = as_sparse(panel(8, items=60))
    monkeypatch.setattr(hidden_votes, "LARGE", data.matrix.nnz)  # so half of the tuples
    visible, hidden = hidden_votes.hide_some(data, 1)
    picked = hidden_votes.sample_rows(60, 0.5, 1).tolist()
    before, after = data.matrix.toarray(), visible.matrix.toarray()
    away = [(t, c) for t in picked for c in np.flatnonzero(before[t]).tolist() if (c // 2 + t) % 4 == 0]
    assert list(zip(hidden.row.tolist(), hidden.cell.tolist(), strict=True)) == away
    assert list(zip(*np.nonzero(before - after), strict=True)) == away
    assert (after.sum(), before.max()) == (before.sum() - len(away), 1)
    assert (hidden.seen == hidden.row).all()
    assert not hidden.panel.any()
    assert (hidden.items == data.weights[0][hidden.row]).all()
