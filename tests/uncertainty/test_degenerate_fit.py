from __future__ import annotations

import numpy as np
import pytest

from jurors import Sketch
from jurors.evaluate.partition import Partition, majority_partition
from jurors.uncertainty.alarms import contested, degenerate_alarms

SKETCH = Sketch.from_counts({"AAABB": 30, "AAAAA": 70}, jurors="ijklm", labels="AB")


def partition(sure: float) -> Partition:
    share = np.where(np.array(list(SKETCH.to_counts().values())) == 30, sure, 1.0)
    by_label = SKETCH.counts[:, None] * np.stack([share, 1 - share], axis=1)
    return Partition(SKETCH, by_label, np.zeros(2, dtype=np.int64))


def test_a_fit_that_doubts_nothing_is_noticed() -> None:
    (alarm,) = degenerate_alarms(partition(1.0))
    assert (alarm.kind, alarm.level, alarm.value) == ("degenerate_fit", "warning", 0.0)
    assert contested(partition(0.9)) == pytest.approx((30, 3))


def test_one_that_doubts_or_promises_nothing_is_not() -> None:
    assert degenerate_alarms(partition(0.95)) == []
    assert degenerate_alarms(majority_partition(SKETCH)) == []


def test_votes_that_scatter_over_many_labels_contest_nothing() -> None:
    sketch = Sketch.from_counts({"AAABC": 300}, jurors="ijklm", labels="ABC")
    assert contested(Partition(sketch, np.array([[300.0, 0, 0]]), np.zeros(1, dtype=np.int64))) == (0, 0)
