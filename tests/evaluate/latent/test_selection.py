"""Held-out votes, and the selection of a model by them."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from panels import coins, simulate
from scipy.sparse import csr_array
from scipy.stats import norm
from scipy.stats import t as student
from strategies import examples

from jurors.evaluate.latent import selection
from jurors.evaluate.latent.em import class_table, e_step, em_problem, first_parameters
from jurors.evaluate.latent.models import MODELS, fit_latent
from jurors.sketch.pairs import Incidence


def panel(seed: int, *, density: float = 0.8, jurors: int = 6, items: int = 120) -> Incidence:
    codes = simulate(items, jurors, seed=seed, density=density).votes
    weights = np.random.default_rng(seed).integers(0, 7, len(codes)).astype(float)
    return Incidence.from_codes(codes, weights, labels=2)


def as_sparse(data: Incidence, kind: Any = np.float64) -> Incidence:
    return replace(data, matrix=csr_array(data.matrix[0].astype(kind)))


@examples(25, deadline=None)
@given(seed=st.integers(0, 10**6), sparse=st.booleans())
def test_the_folds_hide_every_vote_of_every_item_exactly_once(seed: int, sparse: bool) -> None:
    dense = panel(seed)
    data = as_sparse(dense) if sparse else dense
    visible, hidden, rows = selection.hold_out(data)
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


@examples(25)
@given(st.integers(1, 4), st.integers(1, 20), st.integers(0, 10**6))
def test_the_weights_of_the_models_add_up_to_one_and_gain(models: int, tuples: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    predicted, items = -rng.random((models, tuples)) * 5, rng.integers(1, 9, tuples).astype(float)
    weights = selection._stack_weights(predicted, items)
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()
    even = np.full(models, 1 / models)
    assert items @ np.log(weights @ np.exp(predicted)) >= items @ np.log(even @ np.exp(predicted)) - 1e-9


def test_the_answer_is_the_models_average_by_their_weights() -> None:
    choice = selection.choose_latent(panel(1, density=1.0, items=400))
    assert sum(choice.weights.values()) == pytest.approx(1)
    assert choice.chosen in choice.fits
    mixed = sum(choice.weights[model] * fit.posterior for model, fit in choice.fits.items())
    assert choice.fit.posterior == pytest.approx(mixed)
    assert choice.fit.posterior.sum(axis=1) == pytest.approx(1)
    assert choice.difference[choice.chosen] >= -max(choice.standard_error[choice.chosen], 1.0)


def test_equal_coins_mostly_choose_the_simplest_model() -> None:
    chosen = []
    for seed in range(8):
        tuples = np.unique(coins(1000, [0.8] * 5, seed=seed)[0], axis=0, return_counts=True)
        chosen.append(selection.choose_latent(Incidence.from_codes(*tuples, labels=2)).chosen)
    assert chosen.count("one_coin") >= 6  # one standard error is passed by chance now and then


def test_jurors_who_lean_choose_confusion_matrices() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 2000)
    right = rng.random((2000, 5)) < np.where(truth == 0, 0.95, 0.65)[:, None]
    choice = selection.choose_latent(
        Incidence.from_codes(np.where(right, truth[:, None], 1 - truth[:, None]), labels=2)
    )
    assert choice.chosen == "confusion"
    assert choice.difference["one_coin"] < -choice.standard_error["one_coin"]


def test_gold_pins_the_posterior_of_the_average_too() -> None:
    data = panel(4, items=60)
    gold = np.full((60, 2), np.nan)
    gold[:10] = [0.0, 1.0]
    assert selection.choose_latent(data, gold=gold).fit.posterior[:10] == pytest.approx(gold[:10], abs=1e-9)


@examples(10, deadline=None)
@given(seed=st.integers(0, 10**6), order=st.randoms(use_true_random=False), density=st.sampled_from([1.0, 0.7]))
def test_reordering_jurors_labels_and_tuples_changes_nothing_beyond_rounding(
    seed: int, order: Random, density: float
) -> None:
    codes = simulate(60, 5, seed=seed, density=density).votes
    codes, counts = np.unique(codes, axis=0, return_counts=True)
    who, names, rows = (order.sample(range(size), size) for size in (5, 2, len(codes)))
    moved = np.append(np.argsort(names), -1)[codes[rows][:, who]]
    plain = selection.choose_latent(Incidence.from_codes(codes, counts, labels=2))
    other = selection.choose_latent(Incidence.from_codes(moved, counts[rows], labels=2))
    assert other.chosen == plain.chosen
    assert other.held_out_log_likelihood == pytest.approx(plain.held_out_log_likelihood, abs=1e-6)
    assert other.fit.score == pytest.approx(plain.fit.score[who], abs=1e-6)
    assert other.fit.posterior == pytest.approx(plain.fit.posterior[rows][:, names], abs=1e-6)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_the_chance_of_a_hidden_vote_is_what_the_posterior_of_its_item_makes_it(model: str, sparse: bool) -> None:
    data = panel(6, items=25)
    visible, hidden, _ = selection.hold_out(as_sparse(data) if sparse else data)
    problem = em_problem(visible, model)
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
    (visible, hidden, _), (fewer, noted, _) = (selection.hold_out(data, fold_equal=fold) for fold in (False, True))
    assert len({tuple(row) for row in fewer.matrix[0].tolist()}) == fewer.rows < visible.rows
    problems = [em_problem(votes, "confusion") for votes in (visible, fewer)]
    ends = [first_parameters(problem) for problem in problems]
    assert ends[0].flat == pytest.approx(ends[1].flat)
    assert hidden.chances(problems[0], ends[0]) == pytest.approx(noted.chances(problems[1], ends[0]))
    few = Incidence.from_codes(codes, np.full(12, 2), labels=2)
    for alone in (few, as_sparse(data)):  # nothing is crowded; sparse votes stay as they are
        visible, hidden, rows = selection.hold_out(alone, fold_equal=True)
        assert visible.rows == len(rows)
        assert (hidden.seen == hidden.row).all()


# -- The contest of models by figures worked out apart, and the choice on panels of every size -----


def simulated_panel(seed: int, *, items: int = 80, jurors: int = 5, sparse: bool = False) -> Incidence:
    codes, counts = np.unique(simulate(items, jurors, seed=seed, density=0.9).votes, axis=0, return_counts=True)
    data = Incidence.from_codes(codes, counts, labels=2)
    return as_sparse(data, np.float32) if sparse else data


DATA = simulated_panel(1)
FITS = {model: fit_latent(DATA, model) for model in MODELS}


def settled(
    by_tuple: list[list[float]], by_juror: list[list[float]], items: list[float], worth: float = 1.0
) -> selection.ModelChoice:
    contest = selection._Contest(list(MODELS)[: len(by_tuple)], np.array(by_tuple), np.array(by_juror), np.array(items))
    return contest.select(lambda *_: dict(list(FITS.items())[: len(by_tuple)]), worth)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_gain_over_jurors_is_students_t_as_a_normal_deviate(sign: float) -> None:
    plain, poor = np.array([-9.0, -8.0, -7.0, -9.5, -6.0, -8.0]), np.full(6, -12.0)
    gain = sign * np.array([1.0, 2.0, 0.5, 1.5, 0.2, 1.1])
    contest = selection._Contest(list(MODELS), np.zeros((3, 1)), np.array([poor, plain, plain + gain]), np.ones(1))
    t = gain.mean() / (gain.std(ddof=1) / np.sqrt(6))
    exact = np.copysign(norm.isf(student.sf(abs(t), 5)), t)
    assert contest.breadth() == pytest.approx(exact, rel=0.005)


def test_the_simplest_model_within_one_standard_error_is_chosen() -> None:
    by_tuple, items = [[-1.0, -2.0, -1.0], [-0.5, -2.25, -1.0]], [4.0, 2.0, 6.0]
    choice = settled(by_tuple, [[0.0, 0.0]] * 2, items)
    # totals -14 and -12.5; the gap of the first is (-.5, .25, 0), its mean -1.5 / 12
    error = np.sqrt(4 * 0.375**2 + 2 * 0.375**2 + 6 * 0.125**2)
    assert choice.held_out_log_likelihood == pytest.approx({"one_coin": -14, "confusion": -12.5})
    assert choice.difference == pytest.approx({"one_coin": -1.5, "confusion": 0})
    assert choice.standard_error == pytest.approx({"one_coin": error, "confusion": 0})
    assert (choice.chosen, choice.weights) == ("confusion", {"one_coin": 0, "confusion": 1})
    near = settled(by_tuple, [[0.0, 0.0]] * 2, items, worth=1.5)
    assert near.chosen == "one_coin"
    assert 0 < near.weights["one_coin"] < 1


def test_strata_that_do_not_gain_broadly_are_not_chosen_however_much_they_gain() -> None:
    by_tuple = [[-3.0, -3.0], [-2.9, -2.9], [-1.0, -1.0]]
    narrow = settled(by_tuple, [[-9.0, -9.0, -9.0], [-8.0, -9.0, -9.0], [8.0, -8.9, -9.0]], [20.0, 30.0])
    assert narrow.chosen == "confusion"
    assert narrow.weights["strata"] == 0
    assert narrow.difference["strata"] == pytest.approx(95)
    steady = [[-9.0] * 9, [-8.0] * 9, [-7.0 + k / 9 for k in range(9)]]
    broad = settled(by_tuple, steady, [20.0, 30.0])
    assert broad.chosen == "strata"
    assert sum(broad.weights.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("jurors", "labels", "votes", "kept"),
    [
        (3, 2, np.inf, 2),  # 7 cells: 4, 7 and 15 unknowns
        (4, 2, np.inf, 2),  # 15: 5, 9, 19
        (5, 2, np.inf, 3),  # 31: 6, 11, 23
        (2, 3, np.inf, 1),  # 8: 4, 14, 23
        (3, 3, np.inf, 2),  # 26: 5, 20, 32
        (3, 100, 1, 3),  # many labels, few votes: up to 100 labels votes are not counted
        (3, 101, 3040, 2),  # 30,400 parameters: 103, 30,400, 30,804
        (3, 101, 3039, 1),
        (3, 101, 3081, 3),
    ],
    ids=["three", "four", "five", "two_of_three", "three_of_three", "hundred", "just", "short", "plenty"],
)
def test_no_model_has_more_unknowns_than_the_votes_can_tell(jurors: int, labels: int, votes: float, kept: int) -> None:
    assert selection._identifiable(jurors, labels, votes) == list(MODELS[:kept])


def test_sparse_panels_choose_and_grade_as_dense_ones_do() -> None:
    dense, sparse = (selection.choose_latent(simulated_panel(3, items=120, sparse=kind)) for kind in (False, True))
    assert sparse.chosen == dense.chosen
    assert sparse.held_out_log_likelihood == pytest.approx(dense.held_out_log_likelihood, rel=2e-3)
    assert sparse.fit.score == pytest.approx(dense.fit.score, abs=5e-3)


def test_large_panels_are_compared_on_a_sample_and_graded_by_the_chosen_model(monkeypatch: pytest.MonkeyPatch) -> None:
    data = simulated_panel(4, items=150, jurors=7, sparse=True)
    for name in ("LARGE", "_ENOUGH"):
        monkeypatch.setattr(selection, name, 50)
    choice = selection.choose_latent(data, seed=2)
    assert list(choice.fits) == [choice.chosen]
    assert choice.weights == {model: float(model == choice.chosen) for model in choice.weights}
    assert choice.fit.score == pytest.approx(fit_latent(data, choice.chosen).score, abs=5e-3)
    again = selection.choose_latent(data, seed=2)
    assert again.held_out_log_likelihood == choice.held_out_log_likelihood


def test_a_panel_of_many_votes_has_votes_of_some_tuples_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    data = simulated_panel(6, items=900, jurors=7, sparse=True)
    fitter = selection._Fitter(None, 1e-5, 1000)
    starts = fitter.all(data, MODELS)
    contests = []
    for name, value in (("_PLENTY", 0), ("_SHOWN", data.held // 3), ("_GLIMPSE", data.held // 5)):
        monkeypatch.setattr(selection, name, value)
        contests.append(selection._compare(data, starts, fitter))
    whole, part, _ = (np.count_nonzero(contest.items) for contest in contests)
    assert 0.1 < part / whole < 0.5
    means = [contest.by_tuple @ contest.items / contest.items.sum() for contest in contests]
    assert means[1] == pytest.approx(means[0], abs=0.2)


def test_without_a_vote_the_simplest_model_is_taken() -> None:
    nothing = Incidence.from_codes(np.full((2, 6), -1), labels=2)
    choice = selection.choose_latent(nothing)
    assert choice.chosen == "one_coin"
    assert list(choice.fits) == list(choice.weights) == ["one_coin"]
