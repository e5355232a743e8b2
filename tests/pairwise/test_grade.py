"""Jurors who compare: what is counted, what is fitted, and which alarms are raised."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from simulated_pairs import preferences, simulated_pairs

from jurors import OptionError, SketchError, rank
from jurors.pairwise.data import Preferences
from jurors.pairwise.grade import MOST_OBJECTS, grade_pairs
from jurors.pairwise.model import fit_strengths

FAIR = np.array([[1.0, 0.1, -0.5], [1.1, -0.2, 0.0], [0.9, 0.2, -1.0], [1.0, 0.0, -0.3]])


def _kinds(data: Preferences) -> dict[str, tuple[str, ...]]:
    return {alarm.reason: alarm.jurors for alarm in grade_pairs(data).alarms}


def test_a_juror_who_compares_in_both_orders_is_held_to_it() -> None:
    rows = ["item,juror,left,right,winner"]
    rows += ["1,ann,x,y,x", "1,ann,y,x,x", "2,ann,x,y,x", "2,ann,y,x,tie", "3,ann,x,y,y"]  # one of two, and one alone
    rows += ["1,bob,x,y,x", "2,bob,y,x,y"]  # not the same item
    grades = grade_pairs(io.StringIO("\n".join(rows)))
    assert grades.swapped.tolist() == [2, 0]
    assert grades.contradicts[0] == 0.5
    assert np.isnan(grades.contradicts[1])
    assert grades.contradicts_ends[0, 0] < 0.5 < grades.contradicts_ends[0, 1]


def test_habits_are_found_again() -> None:
    test = simulated_pairs(15, FAIR, 2_000, seed=3)
    grades = grade_pairs(test.data)
    np.testing.assert_allclose(grades.discrimination, test.habits[:, 0], atol=0.15)
    np.testing.assert_allclose(grades.first, 1 / (1 + np.exp(-test.habits[:, 1])), atol=0.06)


@pytest.mark.parametrize(
    "habits, expected",
    [
        ((0.05, 3.0, -2.0), {"answers_by_position": ("j4",)}),
        ((0.0, 0.0, -0.5), {"answers_by_chance": ("j4",)}),
        ((-1.0, 0.0, -0.5), {"answers_contrary": ("j4",)}),
        ((1.0, 0.0, 0.0), {}),
    ],
    ids=["position", "chance", "contrary", "fair"],
)
def test_a_juror_who_does_not_look_is_named(habits: tuple[float, float, float], expected: dict[str, Any]) -> None:
    for seed in (1, 2, 3):
        assert _kinds(simulated_pairs(12, np.vstack([FAIR, habits]), 300, seed=seed, spread=1.5).data) == expected


def test_a_copy_is_named_with_its_original() -> None:
    data = simulated_pairs(12, np.vstack([FAIR, (1.0, 0.0, 0.0)]), 300, seed=1, spread=1.5).data
    again = np.concatenate([np.arange(len(data)), np.flatnonzero(data.juror == 0)])
    left, right, outcome = (column[again] for column in (data.left, data.right, data.outcome))
    juror = np.where(np.arange(len(again)) < len(data), data.juror[again], 5)
    both = replace(data, jurors=(*data.jurors, "j5"), juror=juror, left=left, right=right, outcome=outcome)
    assert _kinds(both) == {"copied_answers": ("j0", "j5")}


def test_objects_that_nothing_connects_are_an_alarm() -> None:
    (alarm,) = rank(io.StringIO("left,right,winner\na1,a2,a1\na2,a1,a1\nb1,b2,b1\nb2,b3,b2\n")).alarms
    assert (alarm.reason, alarm.value) == ("objects_apart", 2)
    assert "a1, a2" in alarm.message


def test_one_juror_has_no_discrimination_to_compare() -> None:
    grades = grade_pairs(io.StringIO("left,right,winner\nx,y,x\ny,z,y\n"))
    assert np.isnan(grades.discrimination).all()
    assert np.isfinite(grades.first).all()


def test_what_cannot_be_is_refused() -> None:
    many = range(MOST_OBJECTS + 2)
    with pytest.raises(SketchError, match="too many to rank at once"):
        rank(preferences(list(map(str, many)), list(pairwise(many)), 1))
    with pytest.raises(OptionError, match="level must lie between 0 and 1"):
        rank(io.StringIO("left,right,winner\nx,y,x\n"), level=95)


@pytest.mark.slow
def test_intervals_of_discrimination_hold_where_three_judges_differ_strongly() -> None:
    held = []
    for seed in range(30):
        normal = np.random.default_rng(1000 + seed).standard_normal((3, 3))
        drawn = simulated_pairs(10, np.array([1.0, 0.0, -0.5]) + normal * np.array([1.0, 0.7, 0.7]), 50, seed=seed)
        ends = grade_pairs(drawn.data).discrimination_ends
        held.append((ends[:, 0] <= drawn.habits[:, 0]) & (drawn.habits[:, 0] <= ends[:, 1]))
    assert np.mean(held) > 0.91


def test_where_judges_contradict_each_other_intervals_are_open_and_reported() -> None:
    habits = np.array([[1.2, 0.0, -0.5], [-1.0, 0.0, -0.5], [0.1, 0.0, -0.5]])
    grades = grade_pairs(simulated_pairs(8, habits, 30, seed=2).data)
    assert np.isinf(grades.discrimination_ends).all()
    assert "The average juror may be no better than chance" in grades.to_text()
    assert grades.to_dict()["jurors"][0]["discrimination_low"] is None


def test_strengths_do_not_move_where_jurors_are_taken_to_differ_more() -> None:
    data = simulated_pairs(8, np.array([[3.0, 0, -0.5], [0.2, 0, -0.5], [-0.4, 0, -0.5]]), 200, seed=3).data.counted()
    fit = fit_strengths(data)
    assert fit.state.tau == 1
    assert np.abs(fit.sharpness.value - 1).sum() > np.abs(fit.state.habits[:, 0] - 1).sum()
    assert fit.sharpness.value.mean() == pytest.approx(1)


def test_cards_fit_80_columns_with_alarms_first_and_say_what_intervals_assume() -> None:
    habits = np.vstack([np.tile(FAIR, (8, 1)), (0.05, 3.0, -2.0)])
    data = simulated_pairs(40, habits, 120, seed=1, spread=1.5).data
    grades, ranking = grade_pairs(data), rank(data)
    for result, kind in ((grades, "grade"), (ranking, "rank")):
        lines = result.to_text().splitlines()
        assert max(map(len, lines)) <= 80
        assert len(lines) <= 60
        assert "Intervals hold if jurors err independently" in result.to_text()
        assert result.to_dict()["schema"] == f"jurors.{kind}/2"
        assert result.to_dict()["leaders"] == list(result.leaders)
        assert result.to_dict()["errors"] == "independent"
    assert grades.to_text().splitlines()[2].startswith("!! j32 prefers the first")
    assert sum(line.startswith("  j") for line in grades.to_text(top=4).splitlines()) == 1 + 8
    assert "both orders" in grades.to_text(full=True)
    assert sum(line.startswith("  o") for line in ranking.to_text().splitlines()) == 1 + 20
    assert sum(line.startswith("  o") for line in ranking.to_text(full=True).splitlines()) == 1 + 40
    assert ranking.objects[0] in ranking.leaders
