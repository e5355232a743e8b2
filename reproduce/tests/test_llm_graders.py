"""Three LLMs grade 281 chains of thought: the majority is mostly wrong, the algebra mostly right, and unsure.

The example comes with the package. Its prevalence has a standard error near one half and its weakest pair agrees no
more than chance would: being right here is no proof of anything, and the interval and the warnings say so.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

import jurors
from jurors.evaluate.evaluation import KeyedEvaluation
from jurors.jury.compare import score_labels


@pytest.fixture(scope="module")
def graded() -> jurors.Evaluation:
    return jurors.grade(jurors.load_example("llm_graders")[0])


@pytest.fixture(scope="module")
def truth() -> KeyedEvaluation:
    return score_labels(*jurors.load_example("llm_graders"))


def test_of_281_traces_237_are_wrong_algebra_labels_231_right_and_majority_83(
    graded: jurors.Evaluation, truth: KeyedEvaluation
) -> None:
    assert truth.items == 281
    assert truth.prevalence["wrong"] == Fraction(237, 281)
    assert graded.independent.partition is not None
    assert truth.items - truth.errors_of(graded.independent.partition.chosen) == 231
    assert truth.items - truth.majority_errors == 83


def test_one_accuracy_lies_outside_which_chance_explains(graded: jurors.Evaluation) -> None:
    assert graded.independent.accuracy["Mistral"]["right"] == pytest.approx(1.036, abs=5e-4)
    assert "alarm" not in {alarm.level for alarm in graded.alarms}
    outside = graded.alarms[0]
    assert (outside.reason, outside.level, outside.chance) == ("out_of_range", "warning", 1.0)
    assert "the votes contradict independent errors" in outside.message
    assert outside.value == pytest.approx(0.0358, abs=5e-5)
    assert graded.exact is not None
    assert graded.exact.accuracy["Mistral"]["right"] > 1  # not clamped in the exact numbers either


def test_the_standard_error_of_the_prevalence_is_near_one_half(graded: jurors.Evaluation) -> None:
    assert graded.independent.standard_error is not None
    assert graded.independent.standard_error["prevalence"]["wrong"] == pytest.approx(0.52, abs=0.005)
    low, high = graded.independent.interval_of("prevalence", "wrong")
    assert low < 0.1
    assert high > 0.99


def test_the_weakest_pair_agrees_no_more_than_chance(graded: jurors.Evaluation) -> None:
    weak = [alarm for alarm in graded.alarms if alarm.reason == "weak_pair"]
    assert len(weak) == 1
    assert weak[0].value is not None
    assert abs(weak[0].value) == pytest.approx(0.45, abs=0.005)
