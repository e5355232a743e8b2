"""Replicates of a panel: what is drawn, and how far statistics vary over them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from panels import simulate
from scipy.sparse import csr_array

from jurors._numeric import Floats
from jurors.evaluate import evaluate_panel
from jurors.evaluate.latent.models import drop_abstentions
from jurors.evaluate.latent.panel import PanelFit
from jurors.evaluate.latent.sensitivity import NEGLIGIBLE
from jurors.options import Target
from jurors.sketch import Sketch
from jurors.sketch.pairs import Incidence
from jurors.uncertainty import intervals as panel_intervals
from jurors.uncertainty.intervals import _draw, _replicates, _variance, expected_statistics
from jurors.votes import Votes


def test_items_are_drawn_and_gold_stays() -> None:
    weights = np.array([5.0, 0.0, 7.0, 1.0])
    rng = np.random.default_rng
    drawn = _draw(rng(1), weights, None, 50)
    assert drawn.shape == (50, 4)
    assert (drawn.sum(axis=1) == 13).all()
    assert (drawn[:, 1] == 0).all()
    assert np.array_equal(drawn[:, [0, 2, 3]], rng(1).multinomial(13, weights[[0, 2, 3]] / 13, size=50))
    gold = np.array([[np.nan, np.nan], [1.0, 0.0], [1.0, 0.0], [np.nan, np.nan]])
    drawn = _draw(rng(1), weights, gold, 50)
    assert (drawn[:, 2] == 7).all()
    assert np.array_equal(drawn[:, [0, 3]], rng(1).multinomial(6, [5 / 6, 1 / 6], size=50))
    assert (_draw(rng(1), weights, np.tile([1.0, 0.0], (4, 1)), 3) == weights).all()


@pytest.mark.parametrize(("cells", "sizes"), [(24, [2, 2, 2, 1]), (1, [1] * 7), (10_000, [7])])
def test_as_many_replicates_at_a_time_as_fit(cells: int, sizes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panel_intervals, "_MOST_CELLS", cells)  # 2 classes x 2 labels x 3 tuples are 12

    def refitted(_: Any, model: str, drawn: Floats) -> Floats:
        return np.full((len(drawn), 2, 3), {"heavy": 0.75, "light": 0.25}[model])

    monkeypatch.setattr(panel_intervals, "_refit", refitted)
    fits = {"heavy": None, "light": None, "too light": None}
    choice = SimpleNamespace(weights={"heavy": 0.6, "light": 0.2, "too light": 0.04, "unknown": 0.16}, fits=fits)
    data = SimpleNamespace(labels=2, rows=3, weights=np.array([[5.0, 7.0, 9.0]]))
    panel: Any = SimpleNamespace(data=data, spoken=data, coupling=None, choice=choice, gold=None)
    parts = list(_replicates(panel, 7, seed=3))
    assert [len(drawn) for drawn, _ in parts] == sizes
    for drawn, posterior in parts:
        assert posterior.shape == (len(drawn), 2, 3)
        assert posterior == pytest.approx(0.75 * 0.75 + 0.25 * 0.25)


def test_the_variance_skips_replicates_without_the_statistic() -> None:
    values = np.array([[1.0, 4.0, np.nan, np.nan], [2.0, np.nan, 3.0, np.nan], [6.0, 8.0, np.nan, np.inf]])
    assert _variance(values) == pytest.approx([7.0, 8.0, np.nan, np.nan], nan_ok=True)


@pytest.mark.parametrize("most", [10**9, 1], ids=["at once", "one by one"])
def test_directions_weigh_items_by_the_root_of_their_count_and_leave_gold_alone(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Floats] = []
    monkeypatch.setattr(panel_intervals, "_MOST_MOVED", most)
    monkeypatch.setattr(panel_intervals, "_linearised", lambda _, __: [(None, 1.0)])

    def moved_votes(_: Any, moved: Floats) -> Floats:
        drawn.append(moved)
        return moved

    monkeypatch.setattr(panel_intervals, "_moved_votes", moved_votes)
    statistics = dict.fromkeys(("prevalence", "accuracy", "score"), np.array([2.0, 3.0]))
    monkeypatch.setattr(panel_intervals, "_moved_statistics", lambda *_: statistics)
    gold = np.array([[np.nan, np.nan], [1.0, 0.0], [np.nan, np.nan]])
    data = SimpleNamespace(rows=3, labels=2, weights=np.array([[4.0, 9.0, 16.0]]))
    panel: Any = SimpleNamespace(data=data, gold=gold)
    total = panel_intervals._first_order(panel, "test", 1)
    moved = np.concatenate(drawn, axis=1)
    assert moved.shape == (3, panel_intervals.DIRECTIONS)
    assert np.abs(moved).tolist() == [[size] * panel_intervals.DIRECTIONS for size in (2.0, 0.0, 4.0)]
    assert len(set(map(tuple, np.sign(moved).T.tolist()))) == 4
    assert total["score"] == pytest.approx([2.0, 3.0])
    panel.gold = None
    drawn.clear()
    panel_intervals._first_order(panel, "test", 1)
    assert np.abs(drawn[0][:, 0]).tolist() == [2.0, 3.0, 4.0]


# -- first order, on sparse panels ------------------------------------------------------------------------------


@cache
def sparse_panel() -> PanelFit:
    """80 jurors of three labels, most votes missing, and half of all classes of items next to impossible."""
    votes = simulate(1500, 80, seed=4, prevalence=(0.5, 0.3, 0.2), low=0.6, high=0.95, density=0.08).votes
    panel = evaluate_panel(Sketch.from_votes(Votes.from_matrix(votes, labels=["a", "b", "c"])))
    assert not panel.data.is_dense
    return panel


def errors(panel: PanelFit, target: Target) -> dict[str, Floats]:
    found = panel_intervals.panel_intervals(panel, target=target)
    assert found is not None
    return {name: np.asarray(values) for name, values in found["errors"].items()}


def test_classes_that_are_next_to_impossible_do_not_matter_to_standard_errors_on_the_items_themselves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    panel, found, kept = sparse_panel(), [], []
    for negligible in (0.0, NEGLIGIBLE, 1.0):
        monkeypatch.setattr(panel_intervals, "NEGLIGIBLE", negligible)
        found.append(errors(panel, "test"))
        (linear, _), *_ = panel_intervals._linearised(panel, "test")
        kept.append(np.mean(linear.chance > 0))
    few, many = (max(np.nanmax(np.abs(other[name] / found[0][name] - 1)) for name in found[0]) for other in found[1:])
    assert kept[0] > 0.99
    assert kept[1] < 0.7
    assert few < 0.001
    assert many > 0.01  # what matters is felt


def test_in_the_population_next_to_impossible_classes_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    panel, found = sparse_panel(), []
    for negligible in (0.0, panel_intervals._HARDLY_MET, 0.3):
        monkeypatch.setattr(panel_intervals, "_HARDLY_MET", negligible)
        found.append(errors(panel, "population")["accuracy"])
    assert found[1] == pytest.approx(found[0], rel=1e-4)
    assert found[2] != pytest.approx(found[0], rel=1e-2)


@pytest.mark.parametrize("target", ["test", "population"])
def test_the_first_order_is_about_what_refits_vary_by(target: Target) -> None:
    panel = sparse_panel()
    direct, refitted = (
        panel_intervals._first_order(panel, target, 1),
        panel_intervals._resampled(panel, target, 1, None),
    )
    for name in ("accuracy", "score"):
        assert np.nanmedian(np.sqrt(direct[name] / refitted[name])) == pytest.approx(1.0, abs=0.15)


def test_votes_move_with_easy_and_hard_items_and_models_by_their_weights() -> None:
    by_class = np.arange(48, dtype=np.float32).reshape(4, 6, 2)
    linear: Any = SimpleNamespace(solve=lambda _: by_class.copy(), at=SimpleNamespace(prior=np.zeros((1, 4)), labels=2))
    drawn = np.zeros((9, 2), dtype=np.float32)
    assert np.array_equal(panel_intervals._moved_votes(linear, drawn), by_class[:2] + by_class[2:])
    linear.at.labels = 4
    assert np.array_equal(panel_intervals._moved_votes(linear, drawn), by_class)
    panel = sparse_panel()
    fits = dict.fromkeys(("one_coin", "confusion"), next(iter(panel.choice.fits.values())))
    several = replace(panel.choice, weights={"one_coin": 0.6, "confusion": 0.2, "strata": 0.2}, fits=fits)
    shares = [share for _, share in panel_intervals._linearised(replace(panel, choice=several), "test")]
    assert shares == pytest.approx([0.75, 0.25])


def abstaining_panel() -> Any:
    """Two labels and abstaining: what panels hold that `_moved_statistics` and `_drawn_votes` read."""
    rng = np.random.default_rng(6)
    dense = Incidence.from_codes(rng.integers(-1, 3, (60, 5)), rng.integers(1, 4, 60), labels=3)
    data = replace(dense, matrix=csr_array(dense.matrix[0]))
    posterior = rng.dirichlet((1.0, 1.0), 60)
    choice = SimpleNamespace(fit=SimpleNamespace(posterior=posterior))
    return SimpleNamespace(data=data, spoken=drop_abstentions(data), choice=choice)


def test_statistics_move_as_differences_say_and_abstaining_is_no_vote() -> None:
    panel, rng, size = abstaining_panel(), np.random.default_rng(7), 1e-6
    data, posterior = panel.data, panel.choice.fit.posterior
    change = rng.normal(size=posterior.shape)
    mass = np.pad(change * data.weights[0][:, None], ((0, 0), (0, 1)))
    moved = np.concatenate([data.into_cells(mass), mass.sum(axis=0)[None]]).T[:, :, None]
    found = panel_intervals._moved_statistics(panel, np.concatenate([moved, 3 * moved], axis=2))
    ends = [expected_statistics(panel.spoken, (posterior + step * change).T[None], data.weights) for step in (size, 0)]
    for name, square in found.items():
        assert square == pytest.approx(5 * ((ends[0][name][0] - ends[1][name][0]) / size) ** 2, rel=1e-3)


def test_what_is_drawn_moves_the_votes_of_drawn_items() -> None:
    panel = abstaining_panel()
    drawn = np.random.default_rng(8).normal(size=(60, 2)).astype(np.float32)
    found = panel_intervals._drawn_votes(panel, drawn)
    assert found.shape == (3, 16, 2)
    for k in range(2):
        mass = (panel.choice.fit.posterior * drawn[:, [k]]).T
        assert found[:2, :-1, k] == pytest.approx(panel.data.counts(mass[None])[0], abs=1e-4)
        assert found[:2, -1, k] == pytest.approx(mass.sum(axis=1), abs=1e-4)
    assert (found[2] == 0).all()
