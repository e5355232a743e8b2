"""The search behind tight bounds: which sides it looks at, and boxes that never lose an evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jurors import Sketch, Votes
from jurors.uncertainty import bounds_robust as robust_panel
from jurors.uncertainty.bounds_robust import correlation_curve, robust_bounds
from jurors.uncertainty.bounds_search import Hull, Separated
from jurors.uncertainty.bounds_trio import Bounds, ExactTrio, FlippedTrio, closed_box

CENSUS = [568, 553, 649, 1068, 1813, 3607, 3534, 8208]
UNSETTLED = [4935, 8365, 7365, 5335, 8915, 4785, 15785, 4515]
"""Two jurors are as good as the third is bad, so either solution may be the truth."""


def sketch_of(counts: list[int]) -> Sketch:
    return Sketch.from_table(np.reshape(counts, (2, 2, 2)), jurors="ijk", labels="AB")


def searches(monkeypatch: pytest.MonkeyPatch, sketch: Sketch, epsilon: float) -> tuple[Bounds, list[list[int]]]:
    """The bounds, and the signs of each search; the searches find nothing new."""
    signs: list[list[int]] = []

    def look(problem: Separated, _: Any, **__: Any) -> Hull:
        signs.append(problem.signs.tolist())
        return Hull((np.zeros(7), np.ones(7)), 7, True)

    monkeypatch.setattr(robust_panel, "search_hull", look)
    return robust_bounds(sketch, epsilon, tight=True), signs


def test_three_jurors_are_searched_on_each_side_that_is_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    bounds, signs = searches(monkeypatch, sketch_of(CENSUS), 0.001)
    assert signs == [[1, 1, 1]]
    assert bounds.rows() == robust_bounds(sketch_of(CENSUS), 0.001).rows()
    bounds, signs = searches(monkeypatch, sketch_of(UNSETTLED), 0.003)
    assert signs == [[1, 1, -1], [-1, -1, 1]]
    assert bounds.details["mirror_kept"]


def test_of_more_jurors_each_trio_is_searched_once_for_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, rng = np.random.default_rng(3).integers(2, size=4_000), np.random.default_rng(4)
    votes = np.where(rng.random((4_000, 4)) < 0.8, truth[:, None], 1 - truth[:, None])
    sketch = Sketch.from_votes(Votes.from_matrix(np.array(["A", "B"])[votes]))
    assert searches(monkeypatch, sketch, 0.01)[1] == [[0, 0, 0]] * 4


def point_boxes(counts: list[int], epsilon: float, side: int) -> tuple[Separated, Any, Any]:
    """The problem, points of its start that are evaluations, and their statistics."""
    case = FlippedTrio.from_exact(ExactTrio.from_counts(counts), epsilon)
    box = closed_box(case)
    assert box is not None
    problem = Separated(case, box, side)
    low, high = problem.start
    points = low + (high - low) * np.random.default_rng(1).random((20_000, 4))
    ok, values = problem.statistics(points)
    assert ok.sum() > 50
    return problem, points[ok], values[ok]


@pytest.mark.parametrize("epsilon", [0.0005, 0.002])
@pytest.mark.parametrize("side", [0, 1])
def test_narrowing_loses_no_evaluation(epsilon: float, side: int) -> None:
    problem, points, values = point_boxes(CENSUS, epsilon, side)
    low, high = problem.start
    for share in (1.0, 0.3, 0.03, 0.0):  # of the start, around each point
        around = np.maximum(points - share * (high - low), low), np.minimum(points + share * (high - low), high)
        box = problem.narrow(*around)
        assert box.alive.all()
        assert (box.low <= points * (1 + 1e-9)).all()
        assert (box.high >= points * (1 - 1e-9)).all()
        assert (box.least <= values + 1e-9).all()
        assert (box.most >= values - 1e-9).all()


@pytest.mark.parametrize("epsilon", [0.0005, 0.002])
def test_a_box_that_is_a_point_has_its_statistics(epsilon: float) -> None:
    problem, points, values = point_boxes(CENSUS, epsilon, 1)
    box = problem.narrow(points, points)
    np.testing.assert_allclose(box.least, values, atol=1e-6)
    np.testing.assert_allclose(box.most, values, atol=1e-6)


def test_a_box_that_holds_no_evaluation_is_cut_off() -> None:
    problem, _, _ = point_boxes(CENSUS, 0.0005, 1)
    low, high = problem.start
    points = low + (high - low) * np.random.default_rng(2).random((5_000, 4))
    points[:, 0] = np.where(np.arange(5_000) % 2, low[0] * 0.8, high[0] * 1.25)  # far fewer and far more of one label
    assert not problem.statistics(points)[0].any()
    assert not problem.narrow(points, points).alive.any()


def test_the_curve_as_data_is_its_columns() -> None:
    curve = correlation_curve(sketch_of(CENSUS), [0.0, 0.001])
    known = curve.to_dict()
    assert list(known)[1:] == list(curve)
    assert known["correlation"] == [0.0] * 8 + [0.001] * 8
    assert known["statistic"][:2] == ["prevalence", "prevalence"]
