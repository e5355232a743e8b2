"""Replicates of a panel: what is drawn, and how far statistics vary over them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from jurors.doubt.intervals import panel_intervals
from jurors.doubt.intervals.panel_intervals import _draw, _replicates, _variance
from jurors.numbers.arrays import Floats


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
    monkeypatch.setattr(panel_intervals, "_moved_mass", lambda _, __, moved: drawn.append(moved))
    statistics = dict.fromkeys(("prevalence", "accuracy", "score"), np.array([2.0, 3.0]))
    monkeypatch.setattr(panel_intervals, "_moved_statistics", lambda *_: statistics)
    gold = np.array([[np.nan, np.nan], [1.0, 0.0], [np.nan, np.nan]])
    data = SimpleNamespace(rows=3, labels=2, weights=np.array([[4.0, 9.0, 16.0]]))
    choice = SimpleNamespace(fit=SimpleNamespace(posterior=None))
    panel: Any = SimpleNamespace(data=data, spoken=data, gold=gold, choice=choice)
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
