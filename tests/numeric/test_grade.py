"""Jurors who answer in numbers: laws, simulated panels, alarms, and how much of what they agree on is the truth."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from strategies import examples

from jurors import SketchError, VotesError
from jurors._numeric import Floats
from jurors.errors import DegenerateSketchError
from jurors.numeric.data import find_outliers
from jurors.numeric.grade import (
    ABOUT_VALUES,
    VALUES_HELD,
    NumberGrades,
    Validities,
    grade_numbers,
    reference_validities,
    value_items,
)

RELIABILITY = np.array([0.9, 0.75, 0.6, 0.5, 0.4])


def panel(jurors: int = 5, items: int = 400, seed: int = 0) -> Floats:
    """Items x jurors, each juror with its own slope and offset."""
    rng = np.random.default_rng(seed)
    share, truth = RELIABILITY[:jurors], rng.normal(size=(items, 1))
    noise = rng.normal(size=(items, jurors))
    return np.asarray(50 + rng.uniform(-9, 9, jurors) + 10 * (np.sqrt(share) * truth + np.sqrt(1 - share) * noise))


def kinds(grades: NumberGrades) -> set[str]:
    return {alarm.reason for alarm in grades.alarms}


@pytest.mark.parametrize("jurors", [3, 5], ids=["three", "five"])
def test_reliabilities_are_recovered(jurors: int) -> None:
    grades = grade_numbers(panel(jurors, 4000))
    model = grades.independent
    assert model.reliability == pytest.approx(RELIABILITY[:jurors], abs=0.06)
    for each in (grades, model):
        assert (each.reliability_ends[:, 0] < each.reliability).all()
        assert (each.reliability < each.reliability_ends[:, 1]).all()
    assert (grades.reliability < model.reliability).all()
    assert (grades.reliability_ends[:, 0] < model.reliability_ends[:, 0]).all()
    assert kinds(grades) == set()


@examples(10)
@given(st.integers(0, 1000), st.sampled_from([3, 5]), st.floats(0.1, 50), st.floats(-500, 500))
def test_another_unit_and_origin_change_a_jurors_line_alone_and_of_all_move_values_with_them(
    seed: int, jurors: int, unit: float, origin: float
) -> None:
    numbers = panel(jurors, 60, seed)
    changed = numbers.copy()
    changed[:, 0] = origin + unit * changed[:, 0]
    before, after, moved = (grade_numbers(each) for each in (numbers, changed, origin + unit * numbers))
    for one, two in ((before, after), (before.independent, after.independent)):
        np.testing.assert_allclose(two.reliability, one.reliability, rtol=1e-6)
        np.testing.assert_allclose(two.reliability_ends, one.reliability_ends, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(after.noise[1:], before.noise[1:], rtol=1e-6)
    np.testing.assert_allclose(after.noise[0], unit * before.noise[0], rtol=1e-6)
    ratio = (after.slope / before.slope)[1:]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)
    np.testing.assert_allclose(moved.slope_ends, before.slope_ends, rtol=1e-6)
    np.testing.assert_allclose(moved.truth_spread, unit * before.truth_spread, rtol=1e-6)
    first, second, third = (value_items(each) for each in (numbers, changed, origin + unit * numbers))
    alike = [(values.value - values.value.mean()) / values.value.std() for values in (first, second)]
    np.testing.assert_allclose(alike[0], alike[1], atol=1e-6)
    np.testing.assert_allclose(third.value, origin + unit * first.value, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(third.high - third.low, unit * (first.high - first.low), rtol=1e-6)
    np.testing.assert_allclose(value_items(numbers[:, ::-1]).value, first.value, rtol=1e-6)  # in any order of jurors


@pytest.mark.parametrize("jurors", [3, 4, 5], ids=["third", "fourth", "fifth"])
def test_a_copy_of_a_juror_raises_an_alarm(jurors: int) -> None:
    numbers = panel(jurors)
    numbers[:, -1] = 3 + 2 * numbers[:, 0]
    grades = grade_numbers(numbers)
    assert "copied_numbers" in kinds(grades)
    if jurors > 3:  # then the others tell how reliable the two are
        assert grades.independent.reliability[0] == pytest.approx(RELIABILITY[0], abs=0.12)


@pytest.mark.parametrize("jurors", [3, 5], ids=["three", "five"])
def test_gaps_leave_the_grades_near(jurors: int) -> None:
    numbers = panel(jurors, 4000)
    numbers[np.random.default_rng(1).random(numbers.shape) < 0.3] = np.nan
    assert grade_numbers(numbers).independent.reliability == pytest.approx(RELIABILITY[:jurors], abs=0.08)
    values = value_items(numbers)
    assert np.isnan(values.value).sum() == int(np.isnan(numbers).all(axis=1).sum())
    reach = values.high - values.low
    assert reach[values.numbers == 1].mean() > reach[values.numbers == jurors].mean()


def test_outliers_are_named_and_left_out_unless_all_find_an_item_unusual() -> None:
    numbers = panel()
    clean = grade_numbers(numbers)
    numbers[7, 2], numbers[9, 0] = 9999, -4000
    grades = grade_numbers(numbers)
    assert [(item, juror) for item, juror, _ in grades.outliers] == [(7, "3"), (9, "1")]
    assert grades.reliability == pytest.approx(clean.reliability, abs=0.01)
    assert "outlier_values" in kinds(grades)
    numbers = panel()
    numbers[7] = 500  # which all find unusual
    assert not find_outliers(numbers).any()


def test_impossible_trios_raise_alarms() -> None:
    rng = np.random.default_rng(4)
    one, two, three = rng.normal(size=(3, 300))
    apart = np.column_stack([one + two, one + three, three - two])  # pairs: together, apart, together
    graded = grade_numbers(apart)
    assert [alarm.level for alarm in graded.alarms if alarm.reason == "negative_loading"] == ["alarm"]
    assert (graded.independent.reliability < 0).all()
    assert np.isnan(graded.reliability).all()
    assert np.isnan(graded.slope).all()
    valued = value_items(apart)
    assert "mean_fallback" in {alarm.reason for alarm in valued.alarms}
    assert valued.value == pytest.approx(apart.mean(axis=1))
    above = np.column_stack([one + two, one + 0.1 * three, two + 0.5 * rng.normal(size=300)])
    assert "loading_above_variance" in kinds(grade_numbers(above))


def test_uninformative_reversed_and_constant_jurors_raise_alarms() -> None:
    numbers = panel()
    numbers[:, 4] = 100 - numbers[:, 4]
    numbers[:, 3] = np.random.default_rng(3).normal(size=400)
    numbers[:, 2] = 7
    alone = np.where(np.arange(400)[:, None] < (3, 4), np.arange(400)[:, None], np.nan)
    alarms = {alarm.reason: alarm.jurors for alarm in grade_numbers(np.hstack([numbers, alone])).alarms}
    own = {"reversed_scale": ("5",), "uninformative_juror": ("4",), "constant_juror": ("3",)}
    assert alarms == {**own, "not_identified": ("6", "7")}


def test_few_jurors_and_no_shared_items_are_refused() -> None:
    with pytest.raises(SketchError, match="at least 3 jurors, got 2"):
        grade_numbers([[1, 2], [2, 1]])
    apart = np.full((9, 3), np.nan)
    for juror in range(3):
        apart[3 * juror : 3 * juror + 3, juror] = (1, 2, 3)
    with pytest.raises(DegenerateSketchError, match="fewer than three jurors"):
        grade_numbers(apart)


def test_values_lie_in_their_intervals_at_their_level() -> None:
    rng = np.random.default_rng(5)
    truth = rng.normal(50, 10, size=3000)
    numbers = truth[:, None] + rng.normal(size=(3000, 4)) * (3, 6, 9, 12)
    values = value_items(numbers)
    inside = (values.independent.low < truth) & (truth < values.independent.high)
    assert 0.93 < inside.mean() < 0.97
    assert (values.low < values.independent.low).all()
    assert (values.high > values.independent.high).all()


def test_jurors_who_do_not_move_together_at_all_raise_one_alarm() -> None:
    every = [[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 2
    grades = grade_numbers(every)
    assert [(alarm.reason, alarm.jurors) for alarm in grades.alarms] == [("no_covariance", ("1", "2", "3"))]
    assert np.isnan(grades.reliability).all()


@pytest.mark.parametrize("seed", range(6))
def test_rounding_is_no_correlated_error(seed: int) -> None:
    """With the pair of copies left open, four jurors are fitted exactly."""
    numbers = panel(4, 40, seed)
    numbers[:, 3] = numbers[:, 0]
    assert kinds(grade_numbers(numbers)) - {"loading_above_variance"} == {"copied_numbers"}


def test_tiny_numbers_are_no_warning_and_huge_ones_are_refused() -> None:
    with pytest.raises(DegenerateSketchError, match="whose numbers vary"):
        grade_numbers(panel(3, 40) * 1e-200)
    with pytest.raises(VotesError, match=r"is too large: give numbers up to 1e\+60"):
        grade_numbers(panel(3, 40) * 1e200)


def test_one_jury_of_full_validity_leaves_the_normal_interval_as_far_as_it_is_possible() -> None:
    alone = Validities.of(["x"], [1.0], [0.0])
    middle, ends = alone.reliability(np.array([0.6, -0.1, 0.999, 1.5, -1.5]), np.full(5, 0.1), 0.9)
    reach = norm.ppf(0.95) * 0.1
    assert middle == pytest.approx([0.36, 0.01, 0.999**2, 2.25, 2.25])
    assert ends[0] == pytest.approx([(0.6 - reach) ** 2, (0.6 + reach) ** 2])
    assert ends[1] == pytest.approx([0.0, (-0.1 - reach) ** 2])  # the sign is open
    assert ends[2, 1] == 1.0  # what is possible ends where the possible does
    assert ((ends[:, 0] <= middle) & (middle <= ends[:, 1])).all()
    assert alone.reach(np.array([0.5]), 0.9) == pytest.approx(norm.ppf(0.95) * 0.5)


def test_a_mixture_has_its_share_below_its_quantile() -> None:
    juries = Validities.of(["a", "a", "b"], [0.4, 0.6, 0.9], [0.01, 0.03, 0.04])
    assert juries.weight.tolist() == [0.25, 0.25, 0.5]  # families count alike
    assert juries.deviation == pytest.approx(np.sqrt(0.03))
    _, ends = juries.reliability(np.array([0.8]), np.array([0.05]), 0.8)
    spread = np.hypot(juries.validity * 0.05, juries.deviation)
    for end, share in zip(np.sqrt(ends[0]), (0.1, 0.9), strict=True):
        assert juries.weight @ norm.cdf((end - juries.validity * 0.8) / spread) == pytest.approx(share)
    assert (juries.reach(np.array([0.1, 0.3]), 0.95) > norm.ppf(0.975) * np.array([0.1, 0.3])).all()


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


def test_the_stated_coverage_of_values_is_that_of_the_guide() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "numbers.md").read_text(encoding="utf-8")
    table = guide.partition("| set | 80% |")[2].partition("\n\n")[0].splitlines()[2:]
    held = [float(line.split("|")[4].strip(" %")) / 100 for line in table]
    assert (len(held), min(held), max(held)) == pytest.approx(VALUES_HELD)
    assert "contained 85% to 96% of the true values" in ABOUT_VALUES


def test_each_name_has_one_number_and_the_independent_model_its_own_place() -> None:
    grades = grade_numbers(panel(3))
    document, frame = grades.to_dict(), grades.to_frame()
    assert document["schema"] == "jurors.grade/2"
    assert [row["reliability"] for row in document["jurors"]] == grades.reliability.tolist()
    assert list(document["independent"]["reliability"].values()) == grades.independent.reliability.tolist()
    assert document["if_errors_independent"] == ["rmse", "bias", "slope", "offset", "noise"]
    assert "number by true value, if jurors err independently" in grades.to_text(full=True)
    assert frame["reliability"].tolist() == grades.reliability.tolist()
    assert frame["independent_reliability"].tolist() == grades.independent.reliability.tolist()
    first = next(line for line in grades.to_text().splitlines() if line.startswith("  1 "))
    assert f"{grades.reliability[0]:.2f}" in first
    assert f"{grades.independent.reliability[0]:.2f}" not in first
    assert value_items(panel(3)).to_dict()["schema"] == "jurors.label/2"


def test_rmse_and_bias_are_those_of_the_panels_scale() -> None:
    numbers = panel(5, 4000)
    grades = grade_numbers(numbers)
    np.testing.assert_allclose(grades.bias, numbers.mean(axis=0) - grades.truth_mean, rtol=1e-6)
    spread = (grades.slope - 1) * grades.truth_spread
    np.testing.assert_allclose(grades.rmse, np.sqrt(grades.bias**2 + spread**2 + grades.noise**2), rtol=1e-9)


def test_the_card_is_short_however_many_jurors_there_are() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(50, 10, 300)
    numbers = truth[:, None] + rng.normal(size=(300, 60)) * np.linspace(2, 30, 60)
    numbers[5:, 0] = np.nan  # a handful of numbers is neither best nor worst
    names = [f"{k} is a judge with a name that is far too long" for k in range(60)]
    numbers[:, 7] = -numbers[:, 7]
    grades = grade_numbers(numbers, jurors=names)
    lines = grades.to_text().splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 60
    assert lines[2].startswith("!! ")
    assert names[0] not in grades.leaders
    assert names[7] not in grades.leaders
    assert sum(line.startswith("  ") and "too long" in line for line in lines) == 20
    assert sum("too long" in line for line in grades.to_text(top=3).splitlines()) >= 6
    assert "if errors were independent" in grades.to_text(full=True)
    assert next(line.split()[1:3] for line in lines if line.startswith("  juror")) == ["RMSE", "bias"]


def test_an_interval_with_one_end_is_no_interval() -> None:
    rng = np.random.default_rng(4)
    one, two, three = rng.normal(size=(3, 2000))
    grades = grade_numbers(np.column_stack([one, one + two, one - 0.3 * two + 0.5 * three]))
    low, high = grades.noise_ends.T
    assert (np.isnan(low) == np.isnan(high)).all()
    assert np.isnan(low).any()
    assert "– –" not in grades.to_text(full=True)
    assert "1" not in grades.leaders  # its reliability is impossible
