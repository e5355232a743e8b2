from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from strategies import juries

from jurors import Sketch, Solution, encode, evaluate_trio, grade
from jurors.uncertainty import trio_alarms
from jurors.uncertainty.trio_alarms import _is_outside, _outside, _weak_pair


def kinds(sketch: Sketch) -> dict[str, str]:
    return {alarm.kind: alarm.level for alarm in grade(sketch).alarms}


@given(juries())
def test_an_exactly_independent_trio_never_rings_an_alarm(truth: Solution) -> None:
    sketch = encode(truth)
    found = trio_alarms(sketch, evaluate_trio(sketch)[0])
    loud = {alarm.kind for alarm in found if alarm.level == "alarm"}
    assert loud <= {"too_few_voices"}  # perfect jurors look like copies
    assert {"exactly_independent", "rational_non_integral"} & {alarm.kind for alarm in found}


def test_whole_counts_in_every_cell_are_told_from_accidental_rationals() -> None:
    half = Fraction(1, 2)
    truth = Solution.of_two_labels("ijk", "AB", half, [(Fraction(3, 4), Fraction(3, 4))] * 3)
    assert "exactly_independent" in kinds(encode(truth, items=128))


def test_labels_whose_shares_leave_the_range_of_probabilities_promise_nothing() -> None:
    counts = {"AAA": 1, "AAB": 5, "ABA": 10, "ABB": 20, "BAA": 5, "BAB": 20, "BBA": 10, "BBB": 5}
    result = grade(Sketch.from_counts(counts, jurors="ijk"))
    assert result.partition is not None
    assert result.alarms[0].kind == "out_of_range"
    assert (result.partition.by_true_label < 0).any()  # shown as evidence, never clamped
    assert "if independent" not in next(line for line in str(result).splitlines() if "expected to be wrong" in line)
    assert result.to_dict()["expected_errors"] is None
    probability = result.partition.probability
    assert ((probability >= 0) & (probability <= 1) | np.isnan(probability)).all()


def test_negative_correlation_gives_complex_roots_and_an_alarm() -> None:
    counts = {"AAA": 2, "AAB": 30, "ABA": 30, "BAA": 30, "ABB": 30, "BAB": 30, "BBA": 30, "BBB": 2}
    result = grade(Sketch.from_counts(counts, jurors="ijk"))
    assert result.solution is None
    assert len(result.solutions) == 2
    assert not result.solutions[0].is_real
    assert result.alarms[0].kind == "complex"
    assert result.alarms[0].value == result.details["smallest_correlation"] > 0.05
    assert result.alarms[0].level == "alarm"
    document = result.to_dict()
    assert document["prevalence"] is None
    assert document["solutions"][0]["accuracy"]["i"]["A"]["imaginary"] != 0
    assert "√(-" in document["exact"]["accuracy"]["i"]["A"]


def test_an_estimate_outside_the_unit_interval_is_shown_as_it_is() -> None:
    counts = {"aaa": 2, "aba": 19, "abb": 6, "baa": 24, "bab": 1, "bba": 189, "bbb": 40}
    result = grade(Sketch.from_counts(counts, jurors=("Gemini", "Mistral", "GPT-4")))
    assert result.accuracy["Mistral"]["b"] > 1
    assert (result.alarms[0].kind, result.alarms[0].level) == ("out_of_range", "warning")
    assert result.alarms[0].value == pytest.approx(result.accuracy["Mistral"]["b"] - 1)
    hundredfold = grade(Sketch.from_counts({votes: 100 * n for votes, n in counts.items()}, jurors="ijk"))
    loud = [alarm for alarm in hundredfold.alarms if alarm.level == "alarm"]
    assert [alarm.kind for alarm in loud] == ["out_of_range"]
    assert loud[0].chance is not None
    assert 0 < loud[0].chance < 0.001


def test_a_copy_of_a_juror_is_noticed() -> None:
    counts = {"AAA": 140, "AAB": 10, "BBA": 12, "BBB": 138}
    result = grade(Sketch.from_counts(counts, jurors=("ann", "ann's copy", "bob")))
    few = next(alarm for alarm in result.alarms if alarm.kind == "too_few_voices")
    assert (few.level, few.value) == ("alarm", 2)
    assert few.jurors == ("ann", "ann's copy")
    assert "never disagrees with 'ann'" in few.message
    assert result.interval is None
    assert "expected to be wrong" not in str(result)


def test_a_juror_who_always_says_the_opposite_is_noticed() -> None:
    counts = {"ABA": 140, "ABB": 10, "BAA": 12, "BAB": 138}
    assert kinds(Sketch.from_counts(counts, jurors=("ann", "not ann", "bob")))["too_few_voices"] == "alarm"


def test_a_tie_between_the_solutions_is_a_warning() -> None:
    # d = (x, x, -x/2): Σ 1/D = 0 exactly, so both solutions have a total label accuracy of 3.
    truth = Solution.of_two_labels(
        "ijk", "AB", Fraction(1, 2), [(Fraction(3, 4), Fraction(3, 4))] * 2 + [(Fraction(0), Fraction(0))]
    )
    assert sum(x for row in truth.accuracy.values() for x in row.values()) == 3
    assert kinds(encode(truth))["tie_between_solutions"] == "warning"


def test_an_empty_cell_is_a_warning() -> None:
    counts = {"AAA": 30, "AAB": 5, "ABA": 6, "BAA": 7, "ABB": 5, "BAB": 6, "BBB": 40}
    assert kinds(Sketch.from_counts(counts, jurors="ijk"))["zero_cell"] == "warning"


def test_contradictory_pairs_are_a_warning_where_chance_explains_them_and_leave_no_numbers() -> None:
    counts = {"AAA": 3, "AAB": 1, "ABA": 2, "ABB": 2, "BAA": 2, "BAB": 2, "BBA": 1, "BBB": 3}
    result = grade(Sketch.from_counts(counts, jurors=("ann", "bob", "cy")))
    assert result.solution is None
    assert result.solutions == ()
    assert [(a.kind, a.level) for a in result.alarms] == [("contradictory_pairs", "warning")]
    assert result.alarms[0].value == result.smallest_correlation
    assert "No real evaluation" in str(result)


@pytest.mark.parametrize(
    ("exact", "rounded", "outside"),
    [
        (Fraction(-1, 10**12), 0.0, True),  # the float is too near an end to tell
        (Fraction(1, 10**12), 0.0, False),
        (1 + Fraction(1, 10**12), 1.0, True),
        (1 - Fraction(1, 10**12), 1.0, False),
        (Fraction(1, 2), 0.5, False),
        (Fraction(3, 2), 1.5, True),
        (Fraction(-1, 2), -0.5, True),
        (None, 1.5, True),  # then nobody asks the exact number, which may be slow
        (None, -0.5, True),
        (None, 0.5, False),
    ],
)
def test_outside_is_decided_exactly_near_the_ends(exact: Fraction | None, rounded: float, outside: bool) -> None:
    assert _is_outside(exact, rounded) is outside


def test_every_number_outside_is_told_with_its_distance() -> None:
    accuracies = [(Fraction(5, 4), Fraction(1, 2)), (Fraction(1), Fraction(-1, 8)), (Fraction(0), Fraction(3, 4))]
    solution = Solution.of_two_labels("ijk", "AB", Fraction(3, 2), accuracies)
    assert _outside(solution) == [
        (0.5, "the prevalence of A (1.500)"),
        (0.5, "the prevalence of B (-0.500)"),
        (0.25, "the accuracy of i on A (1.250)"),
        (0.125, "the accuracy of j on B (-0.125)"),
    ]


def test_the_weakest_pair_is_the_two_beside_the_juror_of_its_place() -> None:
    (alarm,) = _weak_pair(("ann", "bob", "cy"), np.array([4.0, -2.5, 9.0]))
    assert (alarm.jurors, alarm.value, alarm.level) == (("ann", "cy"), -2.5, "warning")
    assert [(pair.first, pair.second, pair.value) for pair in alarm.pairs] == [("ann", "cy", -2.5)]
    assert "'ann' and 'cy' agree hardly more than chance (z = -2.50)" in alarm.message
    assert _weak_pair(("ann", "bob", "cy"), np.array([4.0, -3.0, 9.0])) == []


def test_all_that_is_known_of_a_trio_is_told_loudest_first() -> None:
    third = Fraction(2, 3)
    truth = Solution.of_two_labels("ijk", "AB", Fraction(1, 2), [(third, third)] * 3)
    sketch = encode(truth, items=54)  # 54 / 2 / 27 = 1: whole items in every cell
    plain = trio_alarms(sketch, truth)
    assert [a.kind for a in plain] == ["weak_pair", "exactly_independent"]
    assert [a.kind for a in trio_alarms(sketch, truth, tied=True)][:2] == ["weak_pair", "tie_between_solutions"]
    outside = Solution.of_two_labels("ijk", "AB", Fraction(1, 2), [(Fraction(5, 4), third)] * 2 + [(third, third)])
    assert "the accuracy of j on A (1.250) lies outside [0, 1], and so do 1 more: " in next(
        a.message for a in trio_alarms(sketch, outside) if a.kind == "out_of_range"
    )
    empty = Sketch.from_counts({"AAA": 300, "BBB": 200, "AAB": 30, "ABA": 20, "BAB": 9, "BAA": 25}, jurors="ijk")
    (zero,) = (a for a in trio_alarms(empty, truth) if a.kind == "zero_cell")
    assert (zero.value, zero.message[:40]) == (2, "2 of the 8 decision tuples never occurre")
    assert "rational_non_integral" in [a.kind for a in trio_alarms(empty, truth)]
