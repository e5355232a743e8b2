from __future__ import annotations

import numpy as np
import pytest

from jurors import Sketch, evaluate_trios, grade
from jurors.uncertainty.intervals import interval_around, trio_intervals, trio_standard_errors

TABLE1 = np.array([568, 553, 649, 1068, 1813, 3607, 3534, 8208]).reshape(2, 2, 2)


def simulate(items: int, tests: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tables of independent jurors, with each test's own prevalence of A and accuracy of the first juror on A."""
    rng = np.random.default_rng(seed)
    accuracy = np.array([[0.8, 0.75], [0.7, 0.85], [0.75, 0.7]])
    truth = (rng.random((tests, items)) < 0.6).astype(int)  # 1: label B
    right = rng.random((tests, items, 3)) < accuracy[:, :].T[truth]
    said = np.where(right, truth[..., None], 1 - truth[..., None])
    key = said @ np.array([4, 2, 1])
    tables = np.stack([np.bincount(row, minlength=8) for row in key]).reshape(-1, 2, 2, 2)
    own = np.array([1 - truth.mean(axis=1), [r[t == 0, 0].mean() for r, t in zip(right, truth, strict=True)]])
    return tables, own[0], own[1]


@pytest.mark.parametrize("target", ["test", "population"])
def test_ninety_five_percent_intervals_cover_about_ninety_five_percent(target: str) -> None:
    tables, own_prevalence, own_accuracy = simulate(2000, 600, seed=3)
    decoded = evaluate_trios(tables)
    errors = trio_standard_errors(tables, decoded, target)  # type: ignore[arg-type]
    n = decoded.moments.items
    low, high = interval_around(decoded.prevalence, errors.prevalence, n)
    goal = own_prevalence if target == "test" else 0.4
    assert 0.92 <= np.mean((low <= goal) & (goal <= high)) <= 0.98
    low, high = interval_around(decoded.accuracy[:, 0, 0], errors.accuracy[:, 0, 0], n)
    goal = own_accuracy if target == "test" else 0.8
    assert 0.92 <= np.mean((low <= goal) & (goal <= high)) <= 0.98


def test_this_test_is_known_better_than_its_population() -> None:
    own, population = (trio_intervals(TABLE1, target=t)["errors"] for t in ("test", "population"))
    for name in ("prevalence", "accuracy", "score"):
        assert (own[name] < population[name]).all()


def test_the_mirror_has_mirrored_intervals() -> None:
    plain, mirror = trio_intervals(TABLE1), trio_intervals(TABLE1, mirrored=True)
    assert mirror["prevalence"] == pytest.approx(plain["prevalence"][::-1])
    assert mirror["accuracy"][:, ::-1, ::-1] == pytest.approx(1 - plain["accuracy"])


def test_the_delta_method_agrees_with_resampling() -> None:
    rng = np.random.default_rng(1)
    draws = rng.multinomial(20_000, TABLE1.ravel() / 20_000, 4000).reshape(-1, 2, 2, 2)
    decoded = evaluate_trios(draws)
    errors = trio_intervals(TABLE1, target="population")["errors"]
    assert errors["prevalence"][0] == pytest.approx(decoded.prevalence.std(), rel=0.1)
    assert errors["accuracy"] == pytest.approx(decoded.accuracy.std(axis=0), rel=0.1)


def test_an_estimate_outside_the_unit_interval_keeps_an_interval_outside() -> None:
    low, high = interval_around(np.array([1.2]), np.array([0.05]), np.array([100.0]))
    assert 1 < low[0] < 1.2 < high[0]


def test_a_perfect_juror_gets_what_its_items_can_promise() -> None:
    sketch = Sketch.from_counts({"AAA": 40, "AAB": 10, "BBA": 12, "BBB": 38}, jurors="ijk")
    low, high = trio_intervals(sketch.table())["accuracy"][0, 0]
    assert grade(sketch).interval is None  # two voices: perfection is not told from copying
    assert low == pytest.approx(0.05 ** (1 / 50))
    assert high == 1
