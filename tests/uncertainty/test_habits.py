from __future__ import annotations

import numpy as np
import pytest

import jurors
from jurors import Sketch
from jurors.uncertainty.alarms import default_alarms, default_answers


def sketch(said: np.ndarray) -> Sketch:
    return Sketch.from_votes(jurors.Votes.from_matrix(said, labels=("no", "yes")))


def test_a_panel_of_one_answer_is_a_shared_default() -> None:
    said = (np.random.default_rng(0).random((5000, 10)) < 0.05).astype(int)
    habits = default_answers(sketch(said))
    assert abs(habits.kappa) < 0.02
    assert habits.default_share == 1
    (alarm,) = default_alarms(sketch(said))
    assert (alarm.kind, alarm.level, len(alarm.jurors)) == ("shared_default", "alarm", 10)
    assert "'no'" in alarm.message
    assert "shared_default" in {a.kind for a in jurors.grade(sketch(said)).alarms}


def test_finders_of_a_rare_label_are_no_default() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random((1000, 1)) < 0.05
    said = np.where(rng.random((1000, 6)) < np.where(truth, 0.7, 0.98), truth, ~truth).astype(int)
    habits = default_answers(sketch(said))
    assert habits.near_constant.all()
    assert not habits.defaults.any()
    assert default_alarms(sketch(said)) == []


@pytest.mark.parametrize("items", [30, 300])
def test_independent_jurors_share_no_default(items: int) -> None:
    rng = np.random.default_rng(items)
    for prevalence, accuracy in ((0.5, 0.9), (0.5, 0.6), (0.1, 0.99), (0.05, 0.9)):
        truth = rng.random((items, 1)) < prevalence
        said = np.where(rng.random((items, 5)) < accuracy, truth, ~truth).astype(int)
        assert default_alarms(sketch(said)) == []


def test_kappa_is_congers() -> None:
    expected = 0.6 * 0.4 + 0.4 * 0.6
    habits = default_answers(sketch(np.array([[0, 0], [0, 1], [1, 1], [1, 1], [0, 0]])))
    assert habits.kappa == pytest.approx((0.8 - expected) / (1 - expected))
