"""A monitor's alarms: raised once, kept in its file, held against a reference."""

from __future__ import annotations

import numpy as np
import pytest

from jurors import Monitor, Sketch

NAMES = ("ann", "bob", "cy", "dee", "eve")


def stream(items: int, *, bad: float, seed: int = 1, start: int = 0) -> list[tuple[str, str, str]]:
    """Five jurors who err on a tenth of the items; dee on the share `bad`."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, items)
    wrong = rng.random((items, 5)) < np.array([0.1, 0.1, 0.1, bad, 0.1])
    said = np.where(wrong, 1 - truth[:, None], truth[:, None])
    words = ("no", "yes")
    return [(f"q{start + k}", name, words[said[k, j]]) for k in range(items) for j, name in enumerate(NAMES)]


def test_a_juror_who_gets_worse_rings_once_and_is_still_known_after_a_restart() -> None:
    monitor = Monitor(200)
    monitor.learn_many(stream(1_000, bad=0.1))
    assert monitor.alarms() == []
    monitor.learn_many(stream(1_000, bad=0.45, seed=2, start=1_000))
    raised = monitor.alarms()
    assert [(alarm.kind, alarm.jurors, alarm.active) for alarm in raised] == [("juror_drift", ("dee",), True)]
    assert 950 <= raised[0].since <= 1_050
    again = Monitor.from_dict(monitor.to_dict())
    for other in (monitor, again, monitor.copy()):
        assert [alarm.to_dict() for alarm in other.alarms()] == [alarm.to_dict() for alarm in raised]


def test_a_stream_is_held_against_its_reference() -> None:
    good = Monitor(200)
    good.learn_many(stream(1_000, bad=0.1))
    bad = stream(600, bad=0.45, seed=2)
    alone, held = Monitor(200), Monitor(200, reference=good.sketch())
    for monitor in (alone, held):
        monitor.learn_many(bad)
    assert alone.alarms() == []
    assert [(alarm.jurors, alarm.since) for alarm in held.alarms()] == [(("dee",), 1)]
    assert held.sketch() == alone.sketch()
    again = Monitor.from_dict(held.to_dict())
    assert [alarm.to_dict() for alarm in again.alarms()] == [alarm.to_dict() for alarm in held.alarms()]


@pytest.mark.slow
@pytest.mark.parametrize("settle", [0, 200])
def test_jurors_who_take_their_time_are_not_silent(settle: int) -> None:
    rows = stream(1_000, bad=0.1)
    slow = [row for row in rows if row[1] == "eve"]
    quick = [row for row in rows if row[1] != "eve"]
    monitor = Monitor(100, settle=settle)
    rang = set()
    for start in range(0, 1_000, 50):  # eve is 150 items behind
        monitor.learn_many(quick[4 * start : 4 * (start + 50)])
        monitor.learn_many(slow[max(start - 150, 0) : max(start - 100, 0)])
        rang |= {(alarm.kind, alarm.jurors) for alarm in monitor.alarms()}
    assert bool(rang) == (settle == 0)


def test_panes_that_were_joined_are_not_new_items() -> None:
    monitor = Monitor(100, keep=4)
    rows = stream(2_000, bad=0.1)
    for start in range(0, len(rows), 500):
        monitor.learn_many(rows[start : start + 500])
        assert monitor.alarms() == []
    assert monitor._drift is not None
    assert monitor._drift.items == 2_000


def test_the_reference_of_a_monitor_may_be_anything_that_holds_votes() -> None:
    monitor = Monitor(reference=[["yes", "no", "yes"], ["no", "no", "yes"]])
    assert isinstance(monitor.reference, Sketch)
    assert monitor.jurors == ("1", "2", "3")
