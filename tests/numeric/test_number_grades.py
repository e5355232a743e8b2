"""Jurors who answer in numbers: laws, simulated panels, and what rings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from jurors import DegenerateSketchError, SketchError, VotesError
from jurors._numeric import Floats
from jurors.numeric import NumberGrades, Numbers, grade_numbers, value_items
from jurors.numeric.data import find_outliers

RELIABILITY = np.array([0.9, 0.75, 0.6, 0.5, 0.4])
seeds = st.integers(0, 1000)


def panel(jurors: int = 5, items: int = 400, seed: int = 0) -> Floats:
    """Items x jurors, each juror with its own slope and offset."""
    rng = np.random.default_rng(seed)
    share, truth = RELIABILITY[:jurors], rng.normal(size=(items, 1))
    noise = rng.normal(size=(items, jurors))
    return np.asarray(50 + rng.uniform(-9, 9, jurors) + 10 * (np.sqrt(share) * truth + np.sqrt(1 - share) * noise))


def kinds(grades: NumberGrades) -> set[str]:
    return {alarm.kind for alarm in grades.alarms}


@pytest.mark.parametrize("jurors", [3, 5], ids=["three", "five"])
def test_reliabilities_are_recovered(jurors: int) -> None:
    grades = grade_numbers(panel(jurors, 4000))
    assert grades.reliability == pytest.approx(RELIABILITY[:jurors], abs=0.06)
    assert (grades.reliability_ends[:, 0] < grades.reliability).all()
    assert (grades.reliability < grades.reliability_ends[:, 1]).all()
    assert kinds(grades) == set()


@examples(10)
@given(seeds, st.sampled_from([3, 5]), st.floats(0.1, 50), st.floats(-500, 500))
def test_another_unit_and_origin_of_one_juror_change_its_line_alone(
    seed: int, jurors: int, unit: float, origin: float
) -> None:
    numbers = panel(jurors, 60, seed)
    changed = numbers.copy()
    changed[:, 0] = origin + unit * changed[:, 0]
    before, after = grade_numbers(numbers), grade_numbers(changed)
    np.testing.assert_allclose(after.reliability, before.reliability, rtol=1e-6)
    np.testing.assert_allclose(after.reliability_ends, before.reliability_ends, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(after.noise[1:], before.noise[1:], rtol=1e-6)
    np.testing.assert_allclose(after.noise[0], unit * before.noise[0], rtol=1e-6)
    ratio = (after.slope / before.slope)[1:]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)
    one, two = value_items(numbers).value, value_items(changed).value
    np.testing.assert_allclose((two - two.mean()) / two.std(), (one - one.mean()) / one.std(), atol=1e-6)


@examples(10)
@given(seeds, st.sampled_from([3, 5]), st.floats(0.1, 50), st.floats(-500, 500))
def test_another_unit_and_origin_of_all_move_values_with_them(
    seed: int, jurors: int, unit: float, origin: float
) -> None:
    numbers = panel(jurors, 60, seed)
    before, after = grade_numbers(numbers), grade_numbers(origin + unit * numbers)
    np.testing.assert_allclose(after.slope, before.slope, rtol=1e-6)
    np.testing.assert_allclose(after.slope_ends, before.slope_ends, rtol=1e-6)
    np.testing.assert_allclose(after.truth_spread, unit * before.truth_spread, rtol=1e-6)
    one, two = value_items(numbers), value_items(origin + unit * numbers)
    np.testing.assert_allclose(two.value, origin + unit * one.value, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(two.high - two.low, unit * (one.high - one.low), rtol=1e-6)


@examples(10)
@given(seeds, st.permutations(range(5)))
def test_renaming_commutes_with_grading(seed: int, order: list[int]) -> None:
    numbers = panel(5, 60, seed)
    before, after = grade_numbers(numbers), grade_numbers(numbers[:, order])
    np.testing.assert_allclose(after.reliability, before.reliability[order], rtol=1e-6)
    np.testing.assert_allclose(after.offset_ends, before.offset_ends[order], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(value_items(numbers[:, order]).value, value_items(numbers).value, rtol=1e-6)


@pytest.mark.parametrize("jurors", [3, 4, 5], ids=["third", "fourth", "fifth"])
def test_a_copy_of_a_juror_rings(jurors: int) -> None:
    numbers = panel(jurors)
    numbers[:, -1] = 3 + 2 * numbers[:, 0]
    grades = grade_numbers(numbers)
    assert "copied_numbers" in kinds(grades)
    if jurors > 3:  # then the others tell how reliable the two are
        assert grades.reliability[0] == pytest.approx(RELIABILITY[0], abs=0.12)


def test_errors_that_go_together_ring_and_are_told_apart_from_the_truth() -> None:
    numbers = panel(5, 2000)
    numbers[:, 3] = 0.5 * numbers[:, 3] + 0.5 * numbers[:, 4]
    alarm = next(alarm for alarm in grade_numbers(numbers).alarms if alarm.kind == "errors_together")
    assert alarm.jurors == ("4", "5")
    assert "it would make reliabilities 4 " in alarm.message


@pytest.mark.parametrize("jurors", [3, 5], ids=["three", "five"])
def test_gaps_leave_the_grades_near(jurors: int) -> None:
    numbers = panel(jurors, 4000)
    numbers[np.random.default_rng(1).random(numbers.shape) < 0.3] = np.nan
    assert grade_numbers(numbers).reliability == pytest.approx(RELIABILITY[:jurors], abs=0.08)
    values = value_items(numbers)
    assert np.isnan(values.value).sum() == int(np.isnan(numbers).all(axis=1).sum())
    few, many = values.numbers == 1, values.numbers == jurors
    assert (values.high - values.low)[few].mean() > (values.high - values.low)[many].mean()


def test_wild_values_are_named_and_left_out() -> None:
    numbers = panel()
    clean = grade_numbers(numbers)
    numbers[7, 2], numbers[9, 0] = 9999, -4000
    grades = grade_numbers(numbers)
    assert [(item, juror) for item, juror, _ in grades.wild] == [(7, "3"), (9, "1")]
    assert grades.reliability == pytest.approx(clean.reliability, abs=0.01)
    assert "wild_values" in kinds(grades)


def test_what_all_find_unusual_is_not_wild() -> None:
    numbers = panel()
    numbers[7] = 500
    assert not find_outliers(numbers).any()


def test_impossible_threes_ring() -> None:
    rng = np.random.default_rng(4)
    one, two, three = rng.normal(size=(3, 300))
    apart = np.column_stack([one + two, one + three, three - two])  # pairs: together, apart, together
    graded = grade_numbers(apart)
    assert [alarm.level for alarm in graded.alarms if alarm.kind == "negative_loading"] == ["alarm"]
    assert (graded.reliability < 0).all()
    assert np.isnan(graded.slope).all()
    valued = value_items(apart)
    assert "mean_fallback" in {alarm.kind for alarm in valued.alarms}
    assert valued.value == pytest.approx(apart.mean(axis=1))
    above = np.column_stack([one + two, one + 0.1 * three, two + 0.5 * rng.normal(size=300)])
    assert "loading_above_variance" in kinds(grade_numbers(above))


def test_who_tells_nothing_or_the_contrary_or_the_same_rings() -> None:
    numbers = panel()
    numbers[:, 4] = 100 - numbers[:, 4]
    numbers[:, 3] = np.random.default_rng(3).normal(size=400)
    numbers[:, 2] = 7
    alarms = {alarm.kind: alarm.jurors for alarm in grade_numbers(numbers).alarms}
    assert alarms == {"reversed_scale": ("5",), "uninformative_juror": ("4",), "constant_juror": ("3",)}


def test_few_jurors_and_no_shared_items_are_refused() -> None:
    with pytest.raises(SketchError, match="at least 3 jurors, got 2"):
        grade_numbers([[1, 2], [2, 1]])
    apart = np.full((9, 3), np.nan)
    for juror in range(3):
        apart[3 * juror : 3 * juror + 3, juror] = (1, 2, 3)
    with pytest.raises(DegenerateSketchError, match="fewer than three jurors"):
        grade_numbers(apart)


def test_values_lie_in_their_intervals_as_often_as_said() -> None:
    rng = np.random.default_rng(5)
    truth = rng.normal(50, 10, size=3000)
    numbers = truth[:, None] + rng.normal(size=(3000, 4)) * (3, 6, 9, 12)
    values = value_items(numbers)
    inside = (values.independent_low < truth) & (truth < values.independent_high)
    assert 0.93 < inside.mean() < 0.97
    assert (values.low < values.independent_low).all()
    assert (values.high > values.independent_high).all()


def test_numbers_say_what_they_are() -> None:
    assert repr(Numbers.from_matrix([[1, None, 2.5]])) == "Numbers(1 items, 3 jurors, 2 numbers from 1 to 2.5)"


def test_jurors_who_do_not_move_together_at_all_are_told_so_and_nothing_else() -> None:
    every = [[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 2
    grades = grade_numbers(every)
    assert [(alarm.kind, alarm.jurors) for alarm in grades.alarms] == [("no_covariance", ("1", "2", "3"))]
    assert np.isnan(grades.reliability).all()


@pytest.mark.parametrize("seed", range(6))
def test_what_rounding_leaves_over_is_no_error_that_goes_together(seed: int) -> None:
    """With the pair of copies left open, four jurors are fitted exactly."""
    numbers = panel(4, 40, seed)
    numbers[:, 3] = numbers[:, 0]
    assert kinds(grade_numbers(numbers)) - {"loading_above_variance"} == {"copied_numbers"}


def test_tiny_numbers_are_no_warning_and_huge_ones_are_refused() -> None:
    with pytest.raises(DegenerateSketchError, match="whose numbers vary"):
        grade_numbers(panel(3, 40) * 1e-200)
    with pytest.raises(VotesError, match=r"is too large to be computed with: give numbers up to 1e\+60"):
        grade_numbers(panel(3, 40) * 1e200)
