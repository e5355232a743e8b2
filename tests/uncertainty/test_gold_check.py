"""Gold items against what the labels promise."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from jurors.uncertainty.alarms import check_gold


def labelled(chosen: list[int], probability: list[float]) -> Any:
    return SimpleNamespace(chosen=np.array(chosen), probability=np.array(probability))


@pytest.mark.parametrize("right", [79, 80])
def test_three_standard_errors_below_the_promise_ring(right: int) -> None:
    # 60 items promised to 95%, 40 to 80%: 89 right, spread sqrt(60 * .0475 + 40 * .16) = 3.04; 89 - 3 * 3.04 = 79.9
    gold = np.array([[52, 8], [92 - right, right - 52], [0, 0]])
    test, alarms = check_gold(labelled([0, 1, 0], [0.95, 0.8, np.nan]), gold)
    assert (test.items, test.right) == (100, right)
    assert test.expected == pytest.approx(89)
    assert len(alarms) == (right == 79)
    for alarm in alarms:
        assert (alarm.kind, alarm.level) == ("gold_contradicts", "alarm")
        assert alarm.value == pytest.approx(-10)
        assert alarm.message.startswith("only 79 of 100 gold items are labelled right where the grades promise 89:")


def test_one_wrong_gold_item_of_a_sure_labelling_does_not_ring_two_do() -> None:
    sure = labelled([0], [1.0])  # the spread is taken to be half an item at least
    assert check_gold(sure, np.array([[8, 1]]))[1] == []
    assert len(check_gold(sure, np.array([[8, 2]]))[1]) == 1


def test_labels_without_a_probability_promise_nothing() -> None:
    test, alarms = check_gold(labelled([0, 1], [0.9, np.nan]), np.array([[3, 1], [0, 5]]))
    assert (test.items, test.right, test.expected) == (9, 8, None)
    assert alarms == []
