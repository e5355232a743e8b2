"""`plan` promises widths that simulated tests keep."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from jurors import grade
from jurors.errors import JurorsError
from jurors.evaluate.trio import evaluate_trios
from jurors.lab.plan import ExpectedWidths, item_errors, plan
from jurors.lab.simulate import jury_model, simulate
from jurors.uncertainty.intervals import trio_interval_ends

REFUSED = Path(__file__).with_name("refused.json")  # what cannot be asked, and what is said
accuracies = st.floats(0.6, 0.95)


@examples(30)
@given(st.lists(st.tuples(accuracies, accuracies), min_size=3, max_size=3), st.floats(0.2, 0.8))
def test_the_information_of_a_trio_is_the_delta_method_of_the_theorem(
    jury: list[tuple[float, float]], prevalence: float
) -> None:
    """Three jurors have as many equations as unknowns, so both must give the same standard errors."""
    confusion = np.array([[[a, 1 - a], [1 - b, b]] for a, b in jury])
    shares = np.array([prevalence, 1 - prevalence])
    table = np.einsum("l,la,lb,lc->abc", shares, *confusion) * 10_000
    by_theorem = trio_interval_ends(table, evaluate_trios(table), target="population")[1]
    errors = item_errors(shares, confusion)
    assert errors[1] / 100 == pytest.approx(by_theorem["accuracy"], rel=1e-6)
    assert errors[0][0] / 100 == pytest.approx(float(by_theorem["prevalence"]), rel=1e-6)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_drawn_tuples_tell_nearly_the_same_as_all_of_them(missing: float, monkeypatch: pytest.MonkeyPatch) -> None:
    confusion = np.array([[[0.9, 0.1], [0.3, 0.7]]] * 5)
    shares = np.array([0.4, 0.6])
    listed = item_errors(shares, confusion, missing=missing)
    monkeypatch.setattr(import_module("jurors.lab.plan"), "_MAX_TUPLES", 1)
    drawn = item_errors(shares, confusion, missing=missing)
    assert drawn[1] == pytest.approx(listed[1], rel=0.05)
    assert (drawn[1] != listed[1]).any()


@pytest.mark.parametrize(("jurors", "labels"), [(3, 2), (4, 2), (3, 3)])
def test_the_information_is_that_of_numerical_derivatives(jurors: int, labels: int) -> None:
    """Move each free rate a little, see how the chances of all decision tuples change."""
    rng = np.random.default_rng(4)
    shares = rng.dirichlet(np.full(labels, 5.0))
    confusion = 0.65 * np.eye(labels) + 0.35 * rng.dirichlet(np.full(labels, 3.0), (jurors, labels))

    def chances(free: Any) -> Any:
        prevalence = np.append(free[: labels - 1], 1 - free[: labels - 1].sum())
        tables = np.zeros((jurors, labels, labels))
        tables[:, ~np.eye(labels, dtype=bool)] = free[labels - 1 :].reshape(jurors, -1)
        tables[:, np.arange(labels), np.arange(labels)] = 1 - tables.sum(axis=2)
        joint = prevalence.reshape(labels, *[1] * jurors)
        for i in range(jurors):
            joint = joint * tables[i].reshape(labels, *[labels if k == i else 1 for k in range(jurors)])
        return joint.sum(axis=0).ravel()

    free = np.append(shares[:-1], confusion[:, ~np.eye(labels, dtype=bool)].ravel())
    slopes = np.array([(chances(free + h) - chances(free - h)) / 2e-6 for h in np.eye(len(free)) * 1e-6]).T
    covariance = np.linalg.inv(slopes.T @ (slopes / chances(free)[:, None]))
    rates = covariance[labels - 1 :, labels - 1 :].reshape(jurors, labels, labels - 1, jurors, labels, labels - 1)
    spreads = [[rates[i, a, :, i, a].sum() ** 0.5 for a in range(labels)] for i in range(jurors)]
    assert item_errors(shares, confusion)[1] == pytest.approx(np.array(spreads), rel=1e-6)


def test_a_rare_label_takes_many_items_and_not_for_ever() -> None:
    rare = item_errors(np.array([1e-7, 1 - 1e-7]), np.array([[[0.9, 0.1], [0.1, 0.9]]] * 5))
    common = item_errors(np.array([1e-5, 1 - 1e-5]), np.array([[[0.9, 0.1], [0.1, 0.9]]] * 5))
    assert np.isfinite(rare[1]).all()
    assert rare[1][0, 0] > 50 * common[1][0, 0]


def test_many_missing_votes_take_more_items_and_not_for_ever() -> None:
    few, many = (plan(jurors=3, missing=missing).rows[0].items for missing in ("0.9", "0.99"))
    assert few is not None
    assert many is not None
    assert many > 100 * few


@pytest.mark.slow
def test_jurors_who_say_anything_teach_nothing() -> None:
    coins = np.full((3, 2, 2), 0.5)
    assert np.isinf(item_errors(np.array([0.5, 0.5]), coins)[1]).all()
    assert plan(jurors=3, accuracy="0.5").rows[0].items is None
    assert "never" in str(plan(jurors=3, accuracy="0.5"))


GRID: list[tuple[int, list[Any], str | None, str, int]] = [
    (3, ["0.9", "0.8", "0.7"], "0.3", "AB", 5_000),
    (3, ["0.75", "0.8", "0.85"], "0.5", "AB", 2_000),
    (5, [("0.9", "0.7"), ("0.65", "0.85"), ("0.8", "0.9")], "0.4", "AB", 2_000),
    (3, ["0.8"], None, "ABC", 2_000),
]


@pytest.mark.slow
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
        interval = grade(simulate(items, seed=seed, **jury).sketch).independent.interval
        assert interval is not None
        widths.append([[(high - low) / 2 for low, high in row.values()] for row in interval.accuracy.values()])
    assert predicted.max() == pytest.approx(float(np.median(widths, axis=0).ravel()[predicted.argmax()]), rel=0.15)


def test_the_items_found_are_the_fewest_that_reach_the_width() -> None:
    row = plan(jurors=3, accuracy=["0.8", "0.75", "0.9"], width=0.04).rows[0]
    expected = ExpectedWidths(jury_model(accuracy=["0.8", "0.75", "0.9"]), 0.0, 0.95, "test", 0)
    assert row.items is not None
    assert expected.at(row.items)[1].max() <= 0.04 < expected.at(int(row.items * 0.99))[1].max()


@pytest.mark.parametrize(("asked", "message"), json.loads(REFUSED.read_text(encoding="utf-8"))["plan"])
def test_what_cannot_be_planned_is_said_in_one_line(asked: dict[str, object], message: str) -> None:
    with pytest.raises(JurorsError, match=message):
        plan(**asked)  # type: ignore[arg-type]
