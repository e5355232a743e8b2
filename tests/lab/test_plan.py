"""`plan` promises widths that simulated tests keep."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jurors import grade
from jurors.doubt.intervals import trio_standard_errors
from jurors.errors import SketchError
from jurors.evaluate.trios import evaluate_trios
from jurors.lab.information import item_errors
from jurors.lab.jury_model import jury_model
from jurors.lab.plan import FEWEST_ITEMS, ExpectedWidths, plan
from jurors.lab.simulate import simulate

accuracies = st.floats(0.6, 0.95)


@settings(max_examples=30)
@given(st.lists(st.tuples(accuracies, accuracies), min_size=3, max_size=3), st.floats(0.2, 0.8))
def test_the_information_of_a_trio_is_the_delta_method_of_the_theorem(
    jury: list[tuple[float, float]], prevalence: float
) -> None:
    """Three jurors have as many equations as unknowns, so both must give the same standard errors."""
    confusion = np.array([[[a, 1 - a], [1 - b, b]] for a, b in jury])
    shares = np.array([prevalence, 1 - prevalence])
    table = np.einsum("l,la,lb,lc->abc", shares, *confusion) * 10_000
    by_theorem = trio_standard_errors(table, evaluate_trios(table), target="population")
    errors = item_errors(shares, confusion)
    assert errors.accuracy / 100 == pytest.approx(by_theorem.accuracy, rel=1e-6)
    assert errors.prevalence[0] / 100 == pytest.approx(float(by_theorem.prevalence), rel=1e-6)


def test_drawn_tuples_tell_nearly_the_same_as_all_of_them() -> None:
    confusion = np.array([[[0.9, 0.1], [0.3, 0.7]]] * 5)
    shares = np.array([0.4, 0.6])
    listed, drawn = item_errors(shares, confusion), item_errors(shares, confusion, missing=1e-12)
    assert drawn.accuracy == pytest.approx(listed.accuracy, rel=0.05)


def test_jurors_who_say_anything_teach_nothing() -> None:
    coins = np.full((3, 2, 2), 0.5)
    assert np.isinf(item_errors(np.array([0.5, 0.5]), coins).accuracy).all()
    assert plan(jurors=3, accuracy="0.5").rows[0].items is None
    assert "never" in str(plan(jurors=3, accuracy="0.5"))


GRID: list[tuple[int, list[Any], str | None, str, int]] = [
    (3, ["0.9", "0.8", "0.7"], "0.3", "AB", 5_000),
    (3, ["0.75", "0.8", "0.85"], "0.5", "AB", 2_000),
    (5, [("0.9", "0.7"), ("0.65", "0.85"), ("0.8", "0.9")], "0.4", "AB", 2_000),
    (3, ["0.8"], None, "ABC", 2_000),
]


@pytest.mark.parametrize(("jurors", "accuracy", "prevalence", "labels", "items"), GRID)
def test_predicted_widths_are_within_15_percent_of_simulated_ones(
    jurors: int, accuracy: list[Any], prevalence: str | None, labels: str, items: int
) -> None:
    jury: dict[str, Any] = {
        "jurors": jurors,
        "accuracy": [accuracy[k % len(accuracy)] for k in range(jurors)],
        "prevalence": prevalence,
        "labels": tuple(labels),
    }
    predicted = ExpectedWidths(jury_model(**jury), 0.0, 0.95, "test", 0).at(items)[1]
    widths = []
    for seed in range(6):
        interval = grade(simulate(items, seed=seed, **jury).sketch).interval
        assert interval is not None
        widths.append([[(high - low) / 2 for low, high in row.values()] for row in interval["accuracy"].values()])
    assert predicted.max() == pytest.approx(float(np.median(widths, axis=0).ravel()[predicted.argmax()]), rel=0.15)


def test_more_jurors_and_wider_margins_need_fewer_items() -> None:
    rows = plan(jurors=(3, 4, 5), accuracy=["0.7", "0.8", "0.75"]).rows
    assert [row.jurors for row in rows] == [3, 4, 5]
    needed = [row.items or 0 for row in rows]
    assert needed == sorted(needed, reverse=True)
    assert needed[0] > needed[-1] >= FEWEST_ITEMS
    wide = plan(jurors=3, accuracy=["0.7", "0.8", "0.75"], width=0.1).rows[0].items
    assert wide is not None
    assert wide < needed[0]


def test_the_items_found_are_the_fewest_that_reach_the_width() -> None:
    row = plan(jurors=3, accuracy=["0.8", "0.75", "0.9"], width=0.04).rows[0]
    expected = ExpectedWidths(jury_model(accuracy=["0.8", "0.75", "0.9"]), 0.0, 0.95, "test", 0)
    assert row.items is not None
    assert expected.at(row.items)[1].max() <= 0.04 < expected.at(int(row.items * 0.99))[1].max()


def test_missing_votes_need_more_items() -> None:
    full, half = (plan(jurors=5, accuracy="0.75", missing=missing).rows[0].items for missing in (0, "0.5"))
    assert full is not None
    assert half is not None
    assert half > 1.5 * full


def test_a_safe_correlation_is_below_the_useless_one_and_wider_margins_stand_more() -> None:
    narrow, wide = (plan(jurors=3, accuracy=["0.9", "0.8", "0.7"], width=w).rows[0] for w in (0.05, 0.1))
    assert narrow.correlation is not None
    assert wide.correlation is not None
    assert narrow.breaking_point is not None
    assert narrow.correlation < wide.correlation < narrow.breaking_point
    assert narrow.breaking_point == wide.breaking_point


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"width": 0.7}, r"width must lie between 0 and 0\.5, got 0\.7"),
        ({"level": 1.0}, r"level must lie between 0 and 1"),
        ({"jurors": 2}, r"at least 3 jurors, got 2"),
        ({"prevalence": "0"}, r"a label that never occurs cannot be learnt"),
        ({"missing": "x"}, r"missing must be a number"),
    ],
)
def test_what_cannot_be_planned_is_said_in_one_line(asked: dict[str, object], message: str) -> None:
    with pytest.raises(SketchError, match=message):
        plan(**asked)  # type: ignore[arg-type]
