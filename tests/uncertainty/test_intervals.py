"""Intervals: coverage, Fieller's equations, replicates of a panel and the first order."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from panels import simulate

from jurors import Sketch, grade
from jurors.evaluate.latent.panel import PanelFit, evaluate_panel
from jurors.options import Target
from jurors.theory import Solution, encode, evaluate_trios
from jurors.uncertainty import intervals as panel_intervals
from jurors.uncertainty.intervals import interval_around, trio_interval_ends, trio_intervals
from jurors.votes.table import Votes

TABLE1 = np.array([568, 553, 649, 1068, 1813, 3607, 3534, 8208]).reshape(2, 2, 2)


def simulate_trios(items: int, tests: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
    tables, own_prevalence, own_accuracy = simulate_trios(2000, 600, seed=3)
    decoded = evaluate_trios(tables)
    errors = trio_interval_ends(tables, decoded, target=target)[1]  # type: ignore[arg-type]
    n = decoded.moments.items
    low, high = interval_around(decoded.prevalence, errors["prevalence"], n)
    goal = own_prevalence if target == "test" else 0.4
    assert 0.92 <= np.mean((low <= goal) & (goal <= high)) <= 0.98
    low, high = interval_around(decoded.accuracy[:, 0, 0], errors["accuracy"][:, 0, 0], n)
    goal = own_accuracy if target == "test" else 0.8
    assert 0.92 <= np.mean((low <= goal) & (goal <= high)) <= 0.98


def test_this_test_is_known_better_than_its_population() -> None:
    own, population = (
        trio_intervals(TABLE1, evaluate_trios(TABLE1), target=t)["errors"] for t in ("test", "population")
    )
    for name in ("prevalence", "accuracy", "score"):
        assert (own[name] < population[name]).all()


def test_the_mirror_has_mirrored_intervals() -> None:
    plain, mirror = (
        trio_intervals(TABLE1, evaluate_trios(TABLE1)),
        trio_intervals(TABLE1, evaluate_trios(TABLE1), mirrored=True),
    )
    assert mirror["prevalence"] == pytest.approx(plain["prevalence"][::-1])
    assert mirror["accuracy"][:, ::-1, ::-1] == pytest.approx(1 - plain["accuracy"])


def test_an_estimate_outside_the_unit_interval_keeps_an_interval_outside() -> None:
    low, high = interval_around(np.array([1.2]), np.array([0.05]), np.array([100.0]))
    assert 1 < low[0] < 1.2 < high[0]


def test_a_perfect_juror_gets_what_its_items_can_promise() -> None:
    sketch = Sketch.from_counts({"AAA": 40, "AAB": 10, "BBA": 12, "BBB": 38}, jurors="ijk")
    low, high = trio_intervals(sketch.table(), evaluate_trios(sketch.table()))["accuracy"][0, 0]
    assert grade(sketch).interval is None  # two voices: perfection is not told from copying
    assert low == pytest.approx(0.05 ** (1 / 50))
    assert high == 1


# -- first order, on panels of many votes ------------------------------------------------------------------------------


@cache
def sparse_panel() -> PanelFit:
    """80 jurors of three labels, most votes missing, and half of all classes of items next to impossible."""
    votes = simulate(1500, 80, seed=4, prevalence=(0.5, 0.3, 0.2), low=0.6, high=0.95, density=0.08).votes
    panel = evaluate_panel(Sketch.from_votes(Votes.from_matrix(votes, labels=["a", "b", "c"])))
    assert not panel.data.is_dense
    return panel


@pytest.mark.parametrize("target", ["test", "population"])
def test_the_first_order_is_about_what_refits_vary_by(target: Target) -> None:
    panel = sparse_panel()
    direct, refitted = (panel_intervals._first_order(panel, target, 1), panel_intervals._resampled(panel, target, 1))
    for name in ("accuracy", "score"):
        assert np.nanmedian(np.sqrt(direct[name] / refitted[name])) == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize("target", ["test", "population"])
def test_a_panel_of_many_votes_is_not_refitted(target: Target) -> None:
    votes = simulate(8000, 20, seed=2, low=0.6, high=0.9).votes
    panel = evaluate_panel(Sketch.from_votes(Votes.from_matrix(votes, labels=["a", "b"])))
    assert panel.data.is_dense
    direct, refitted = (panel_intervals._first_order(panel, target, 1), panel_intervals._resampled(panel, target, 1))
    for name in ("prevalence", "accuracy", "score"):
        ratios = np.sqrt(direct[name] / refitted[name])
        assert np.median(ratios) == pytest.approx(1.0, abs=0.25)
    intervals = panel_intervals.panel_intervals(panel, target="population", seed=1)
    if target == "population":
        assert intervals is not None
        assert intervals["errors"]["score"].tolist() == np.sqrt(direct["score"]).tolist()


@pytest.mark.parametrize("target", ["test", "population"])
def test_gold_items_are_known_and_not_drawn(target: Target) -> None:
    panel = sparse_panel()
    known = replace(panel, gold=np.tile([1.0, 0.0, 0.0], (panel.data.rows, 1)))
    for variance_of in (panel_intervals._first_order, panel_intervals._resampled):
        assert all(np.nanmax(values) < 1e-20 for values in variance_of(known, target, 1).values())
        assert np.nanmin(variance_of(panel, target, 1)["score"]) > 0


Z = 1.959963984540054
WEAK = [
    (Fraction(12, 20), Fraction(13, 20)),
    (Fraction(13, 20), Fraction(12, 20)),
    (Fraction(14, 20), Fraction(12, 20)),
]


def equation(table: np.ndarray, juror: int, label: int, value: float) -> float:
    """C E² ∓ T E - C_ij C_ik for a table and a hypothesised accuracy, straight from the definition."""
    shares = table.ravel() / table.sum()
    x = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], dtype=float)
    centred = x - shares @ x
    i, (j, k) = juror, [o for o in range(3) if o != juror]
    pair = {(a, b): shares @ (centred[:, a] * centred[:, b]) for a in range(3) for b in range(3)}
    trio = shares @ centred.prod(axis=1)
    mean = shares @ x[:, i]
    e = value - (mean if label else 1 - mean)
    return float(pair[j, k] * e**2 - (1 if label else -1) * trio * e - pair[i, j] * pair[i, k])


@pytest.mark.parametrize("juror", range(3))
@pytest.mark.parametrize("label", range(2))
def test_an_end_is_where_the_equation_is_off_by_just_so_many_standard_errors(juror: int, label: int) -> None:
    """The standard error of the equation comes from differences here, one cell at a time, not from our formulas."""
    table = TABLE1.astype(float)
    ends = trio_intervals(table, evaluate_trios(table), target="population")["accuracy"][juror, label]
    items, step = table.sum(), 1e-4
    for end in ends:
        at = equation(table, juror, label, end)
        pulls = []
        for cell in range(8):
            moved = table / items * (1 - step)
            moved.ravel()[cell] += step
            pulls.append((equation(moved, juror, label, end) - at) / step)
        error = np.sqrt((table.ravel() / items) @ np.square(pulls) / items)
        assert abs(at) / error == pytest.approx(Z, rel=2e-3)


def test_with_much_evidence_it_is_the_usual_interval() -> None:
    table = TABLE1 * 1000
    decoded = evaluate_trios(table)
    ends, errors = trio_interval_ends(table, decoded)
    for name, estimate, error in (
        ("prevalence", decoded.prevalence, errors["prevalence"]),
        ("accuracy", decoded.accuracy, errors["accuracy"]),
    ):
        low, high = ends[name]
        assert low == pytest.approx(estimate - Z * error, abs=0.02 * error.max())
        assert high == pytest.approx(estimate + Z * error, abs=0.02 * error.max())


@pytest.mark.parametrize("scale", [10**4, 10**8, 10**13])
def test_ever_more_items_give_ever_narrower_intervals(scale: int) -> None:
    one = trio_intervals(TABLE1 * scale, evaluate_trios(TABLE1 * scale))["prevalence"][0]
    more = trio_intervals(TABLE1 * scale * 4, evaluate_trios(TABLE1 * scale * 4))["prevalence"][0]
    assert np.diff(more) == pytest.approx(np.diff(one) / 2, rel=0.02)


def test_with_hardly_any_evidence_nothing_is_ruled_out() -> None:
    """Three jurors little better than coins on 500 items: the prevalence may be anything, and the interval says so."""
    jury = Solution.of_two_labels("ijk", "AB", Fraction(3, 10), WEAK)
    small = (encode(jury).table() * 500 / encode(jury).items).round().astype(int)
    result = grade(Sketch.from_table(small, labels=("A", "B")))
    assert result.independent.interval_of("prevalence", "A") == (0, 1)


def test_an_interval_always_holds_its_estimate_even_outside() -> None:
    rng = np.random.default_rng(5)
    tables = rng.integers(0, 40, (3000, 2, 2, 2))
    decoded = evaluate_trios(tables)
    ends, _ = trio_interval_ends(tables, decoded)
    real = decoded.outcome <= 1
    low, high = (end[real] for end in ends["accuracy"])
    estimate = decoded.accuracy[real]
    assert (low <= estimate + 1e-9).all()
    assert (estimate <= high + 1e-9).all()
    assert np.isnan(ends["prevalence"][0][decoded.outcome == 2]).all()


def test_weak_jurors_are_covered_too() -> None:
    """Where a symmetric interval covers 86%: 2,000 items, three jurors with accuracies around 0.63."""
    rng = np.random.default_rng(2)
    table = encode(Solution.of_two_labels("ijk", "AB", Fraction(3, 10), WEAK)).table()
    draws = rng.multinomial(2000, table.ravel() / table.sum(), 1000).reshape(-1, 2, 2, 2)
    decoded = evaluate_trios(draws)
    low, high = trio_interval_ends(draws, decoded, target="population")[0]["accuracy"]
    goal = np.array(WEAK, dtype=float)
    real = decoded.outcome <= 1
    assert 0.92 <= ((low <= goal) & (goal <= high))[real].mean() <= 0.98
