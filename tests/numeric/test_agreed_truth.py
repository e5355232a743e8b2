"""How much of what jurors agree on is the truth: mixtures over reference juries, and the shipped table."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

import jurors
from jurors import value_items
from jurors.numeric.grade import VALUES_HELD, Validities, about_values, reference_validities

_ROWS = [[1, 2, 10], [4, 5, 14], [3, 4, 22], [2, 9, 18], [6, 7, 27], [5, 12, 25]]


def test_one_jury_of_full_validity_leaves_the_normal_interval() -> None:
    alone = Validities.of(["x"], [1.0], [0.0])
    middle, ends = alone.reliability(np.array([0.6, -0.1]), np.array([0.1, 0.2]), 0.9)
    reach = norm.ppf(0.95) * np.array([0.1, 0.2])
    assert middle == pytest.approx([0.36, 0.01])
    assert ends[0] == pytest.approx([(0.6 - reach[0]) ** 2, (0.6 + reach[0]) ** 2])
    assert ends[1] == pytest.approx([0.0, (-0.1 - reach[1]) ** 2])  # the sign is open
    assert alone.reach(np.array([0.5]), 0.9) == pytest.approx(norm.ppf(0.95) * 0.5)


def test_an_impossible_correlation_is_shown_inside_its_interval() -> None:
    middle, ends = Validities.of(["x"], [1.0], [0.0]).reliability(np.array([0.99, 1.5, -1.5]), np.full(3, 0.01), 0.9)
    assert middle[1:] == pytest.approx([2.25, 2.25])
    assert ends[0, 1] == 1.0  # what is possible ends where the possible does
    assert ((ends[:, 0] <= middle) & (middle <= ends[:, 1])).all()


def test_a_mixture_has_the_asked_share_below_its_quantile() -> None:
    juries = Validities.of(["a", "a", "b"], [0.4, 0.6, 0.9], [0.01, 0.03, 0.04])
    assert juries.weight.tolist() == [0.25, 0.25, 0.5]  # families count alike
    assert juries.deviation == pytest.approx(np.sqrt(0.03))
    _, ends = juries.reliability(np.array([0.8]), np.array([0.05]), 0.8)
    spread = np.hypot(juries.validity * 0.05, juries.deviation)
    for end, share in zip(np.sqrt(ends[0]), (0.1, 0.9), strict=True):
        assert juries.weight @ norm.cdf((end - juries.validity * 0.8) / spread) == pytest.approx(share)
    assert (juries.reach(np.array([0.1, 0.3]), 0.95) > norm.ppf(0.975) * np.array([0.1, 0.3])).all()


def test_real_intervals_hold_those_of_independent_errors_below_them() -> None:
    rng = np.random.default_rng(3)
    numbers = rng.normal(size=(400, 1)) + rng.normal(size=(400, 5)) * (0.3, 0.6, 0.9, 1.2, 2.0)
    grades = jurors.grade_numbers(numbers)
    assert (grades.calibrated_reliability < grades.reliability).all()
    assert (grades.calibrated_reliability_ends[:, 0] < grades.reliability_ends[:, 0]).all()
    assert np.argsort(grades.calibrated_reliability).tolist() == np.argsort(grades.reliability).tolist()


@pytest.mark.slow
def test_the_shipped_table_is_what_the_sets_show(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    from reference_numbers import TABLE, measure

    rows = {row["name"]: row for row in csv.DictReader(Path(TABLE).read_text(encoding="utf-8").splitlines())}
    assert len(rows) == len(reference_validities().validity)
    for name in ("bluebirds", "ntqr_bbm_arithmetic"):
        jury = measure(shared_data / name)
        assert jury is not None
        assert jury.validity == pytest.approx(float(rows[name]["validity"]), abs=1e-3)
        assert jury.deviation == pytest.approx(float(rows[name]["deviation"]), abs=1e-4)


def test_what_is_said_of_values_is_what_the_guide_shows_was_measured() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "numbers.md").read_text(encoding="utf-8")
    table = guide.partition("| set | 80% |")[2].partition("\n\n")[0].splitlines()[2:]
    held = [float(line.split("|")[4].strip(" %")) / 100 for line in table]
    assert (len(held), min(held), max(held)) == pytest.approx(VALUES_HELD)
    assert "held 85% to 96% of the true values" in about_values()


def test_values_without_intervals_say_nothing_of_them() -> None:
    apart = [[one + two, one, two] for one, two in zip((1, 2, 3, 4, 5, 6), (5, 3, 6, 2, 4, 1), strict=True)]
    values, plain = (value_items([[*map(float, row)] for row in rows]) for rows in (_ROWS, apart))
    assert (values.to_dict()["basis"], plain.to_dict()["basis"]) == (about_values(), None)
    assert about_values() in values.to_text()
    assert about_values() not in plain.to_text()
