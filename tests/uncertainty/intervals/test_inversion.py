from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from jurors import Sketch, Solution, encode, evaluate_trios, grade
from jurors.uncertainty.intervals import trio_interval_ends, trio_intervals

TABLE1 = np.array([568, 553, 649, 1068, 1813, 3607, 3534, 8208]).reshape(2, 2, 2)
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
    ends = trio_intervals(table, target="population")["accuracy"][juror, label]
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
        ("prevalence", decoded.prevalence, errors.prevalence),
        ("accuracy", decoded.accuracy, errors.accuracy),
    ):
        low, high = ends[name]
        assert low == pytest.approx(estimate - Z * error, abs=0.02 * error.max())
        assert high == pytest.approx(estimate + Z * error, abs=0.02 * error.max())


@pytest.mark.parametrize("scale", [10**4, 10**8, 10**13])
def test_ever_more_items_give_ever_narrower_intervals(scale: int) -> None:
    one = trio_intervals(TABLE1 * scale)["prevalence"][0]
    more = trio_intervals(TABLE1 * scale * 4)["prevalence"][0]
    assert np.diff(more) == pytest.approx(np.diff(one) / 2, rel=0.02)


def test_with_hardly_any_evidence_nothing_is_ruled_out() -> None:
    """Three jurors little better than coins on 500 items: the prevalence may be anything, and the interval says so."""
    jury = Solution.of_two_labels("ijk", "AB", Fraction(3, 10), WEAK)
    small = (encode(jury).table() * 500 / encode(jury).items).round().astype(int)
    result = grade(Sketch.from_table(small, labels=("A", "B")))
    assert result.interval_of("prevalence", "A") == (0, 1)


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
