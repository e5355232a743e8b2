"""`Drift`: which alarms are raised, since when; item by item or at once; saved and loaded; corrected."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from jurors._numeric import Integers
from jurors.errors import OptionError, VotesError
from jurors.monitor import Monitor
from jurors.monitor.drift import Drift, StreamAlarm
from jurors.monitor.evidence import SUBJECTS, WatchedSeries, log_border_shares, shares
from jurors.monitor.windows import Panes, keys_of

NAMES, LABELS = ["ann", "bob", "cy", "dee", "eve"], ["yes", "no"]
BEFORE = 1000


def _stream(items: int = 2000, *, wrong: float = 0.1, yes: float = 0.5, seed: int = 0) -> tuple[Integers, Integers]:
    """Items x jurors of a quiet stream, and the truth."""
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random(items) < yes, 1, 2)
    errs = rng.random((items, len(NAMES))) < wrong
    return np.where(errs, 3 - truth[:, None], truth[:, None]), truth


def _worse(codes: Integers, truth: Integers, juror: int, wrong: float, stop: int | None = None) -> None:
    rng = np.random.default_rng(juror + 1)
    part = slice(BEFORE, stop)
    errs = rng.random(len(truth[part])) < wrong
    codes[part, juror] = np.where(errs, 3 - truth[part], truth[part])


def _follow(drift: Drift, codes: Integers, step: int = 10) -> list[StreamAlarm]:
    """The alarms of items that come some at a time."""
    known = len(drift.alarms)
    for start in range(0, len(codes), step):
        panes, number = Panes(NAMES, LABELS), drift.items + 1
        for key in keys_of(codes[start : start + step]):
            panes.add(number, key)
        drift.update(panes)
    return drift.alarms[known:]


def _drift(codes: Integers) -> Drift:
    drift = Drift()
    _follow(drift, codes)
    return drift


def _kinds(alarms: list[StreamAlarm]) -> list[tuple[str, tuple[str, ...]]]:
    return [(alarm.reason, alarm.jurors) for alarm in alarms]


# -- which alarms are raised ------------------------------------------------------------------------------------------


def _changed(change: str) -> Integers:
    """A stream that changes after 1,000 items."""
    wrong = 0.2 if change in ("a copy", "no longer a copy") else 0.1
    items = {"no longer a copy": 1600, "silent": 1500, "constant": 1500, "harder": 1600}.get(change, 3000)
    codes, truth = _stream(items, wrong=wrong)
    if change == "two worse":
        _worse(codes, truth, 1, 0.45)
        _worse(codes, truth, 3, 0.45)
    elif change == "a copy":
        codes[BEFORE:, 4] = codes[BEFORE:, 0]
    elif change == "no longer a copy":
        codes[:BEFORE, 4] = codes[:BEFORE, 0]
    elif change in ("prevalence", "harder"):
        options = {"yes": 0.8} if change == "prevalence" else {"wrong": 0.25}
        codes[BEFORE:] = _stream(len(codes) - BEFORE, seed=1, **options)[0]
    elif change == "silent":
        codes[BEFORE:, 1] = 0
    elif change == "constant":
        codes[BEFORE:, 3] = 1
    return codes


@pytest.mark.parametrize(
    ("change", "first"),
    [
        ("nothing", []),
        ("a copy", [("pair_drift", ("ann", "eve"))]),
        ("prevalence", [("prevalence_drift", ())]),
        ("silent", [("juror_silent", ("bob",))]),
        pytest.param("two worse", [("juror_drift", ("bob",)), ("juror_drift", ("dee",))], marks=pytest.mark.slow),
    ],
)
def test_a_change_raises_its_own_alarms_and_no_other(change: str, first: list[Any]) -> None:
    alarms = _drift(_changed(change)).alarms
    assert sorted(_kinds(alarms)) == first
    if change == "silent":  # a few blocks
        assert alarms[0].raised <= BEFORE + 400


@pytest.mark.slow
def test_two_who_stop_agreeing_are_no_pair_and_harder_items_are_a_change_of_the_panel() -> None:
    assert "pair_drift" not in [alarm.reason for alarm in _drift(_changed("no longer a copy")).alarms]
    assert _kinds(_drift(_changed("harder")).alarms)[0] == ("score_drift", ())


def test_a_juror_who_gives_one_label_only_is_constant() -> None:
    alarm = _drift(_changed("constant")).alarms[0]
    assert (alarm.reason, alarm.jurors, alarm.alarm.labels) == ("juror_constant", ("dee",), ("yes",))


def test_a_juror_who_gets_worse_is_named_alone_with_since_when_and_how_much() -> None:
    codes, truth = _stream(3000)
    _worse(codes, truth, 2, 0.4)
    drift = _drift(codes)
    (alarm,) = drift.alarms
    assert (alarm.reason, alarm.jurors, alarm.alarm.level) == ("juror_drift", ("cy",), "alarm")
    assert abs(alarm.since - BEFORE) <= 100
    assert alarm.raised < BEFORE + 400
    assert (alarm.before or 0) > 0.8 > (alarm.after or 1)
    assert (alarm.alarm.chance or 1) <= 0.05
    assert "cy" in alarm.advice
    assert alarm.active
    assert abs(drift.sketch_since(alarm).items - (3000 - BEFORE)) <= 100


def test_a_juror_who_comes_later_is_noted_and_raises_no_alarm() -> None:
    codes, _ = _stream(2000)
    codes[:BEFORE, 4] = 0
    panes, drift = Panes(NAMES[:4], ["yes", "no"]), Drift()
    alarms = []
    for start in range(0, len(codes), 50):
        if start == BEFORE:
            panes.juror("eve")
        for key in keys_of(codes[start : start + 50]):
            panes.add(0, key)
        alarms += drift.update(panes)
    assert _kinds(alarms) == [("new_juror", ("eve",))]
    assert not alarms[0].active


# -- items that depend on each other ----------------------------------------------------------------------------------


def _copies(items: int = 3000) -> Integers:
    """Every item comes about ten times in a row."""
    rng = np.random.default_rng(1)
    return _stream(items)[0][np.cumsum(rng.random(items) < 0.1)]


@pytest.mark.slow
def test_near_copies_of_items_raise_no_alarm_if_the_block_is_stated_or_measured() -> None:
    alarms = {}
    for block in (1, 50, "auto"):
        drift = Drift(jurors=NAMES, labels=LABELS, block=block)
        alarms[block] = _follow(drift, _copies())
    assert len(alarms[1]) > 5
    assert not alarms[50]
    assert not alarms["auto"]
    assert max(drift.sizes.values()) > 5


def test_an_accepted_change_is_no_dependence_and_hides_no_later_one() -> None:
    codes, truth = _stream(4000)
    _worse(codes, truth, 2, 0.5, stop=2000)
    drift = Drift(jurors=NAMES, labels=LABELS)
    (alarm,) = _follow(drift, codes[:2000], step=200)
    drift.accept(alarm.id)
    assert _follow(drift, codes[2000:3000], step=200) == []
    codes[3000:, 4] = np.where(np.arange(1000) % 2, codes[3000:, 4], 3 - truth[3000:])
    assert ("juror_drift", ("eve",)) in _kinds(_follow(drift, codes[3000:], step=200))
    assert drift.dependence.get("juror:eve", 1) < 5


def test_shifts_count_as_dependence_while_there_are_still_few_of_them() -> None:
    codes, _ = _stream(1100)
    shifts = ["01111", "01111", "11111", "11111", "10111", "11111"]  # of 200 items: who votes
    codes *= np.array([[int(here) for here in shift] for shift in shifts]).repeat(200, axis=0)[:1100]
    drift = Drift(jurors=NAMES, labels=LABELS)
    assert _follow(drift, codes) == []
    assert drift.dependence["silence:ann"] > 50


def test_a_juror_who_falls_silent_is_noticed_although_jurors_pause_now_and_then() -> None:
    codes, rng = _stream(5000)[0][:, :3], np.random.default_rng(3)
    for juror, start in zip(*np.nonzero(rng.random((3, 5000)) < 1 / 1500), strict=True):
        codes[start : start + rng.integers(20, 80), juror] = 0
    codes[3000:, 0] = 0
    assert _kinds(_follow(Drift(), codes, step=50)) == [("juror_silent", ("ann",))]


@pytest.mark.slow
def test_what_is_expected_raises_no_alarm_and_hides_nothing() -> None:
    codes = _changed("prevalence")
    codes[BEFORE:, 3] = np.where(np.arange(2000) % 2, codes[BEFORE:, 3], 1 + (np.arange(2000) // 2) % 2)
    drift = Drift(jurors=NAMES, labels=LABELS, expect=["prevalence"])
    _follow(drift, codes)
    assert _kinds(drift.alarms) == [("juror_drift", ("dee",))]
    quiet = Drift(jurors=NAMES, labels=LABELS, expect=["silence"])
    assert not _follow(quiet, _changed("silent"))
    with pytest.raises(OptionError, match="expect= takes prevalence and silence"):
        Drift(expect=["drift"])
    with pytest.raises(OptionError, match="block must be"):
        Drift(block="1h/5m")
    for alpha in (0, 1, -0.1):
        with pytest.raises(OptionError, match="between 0 and 1"):
            Drift(alpha)


def test_a_block_of_time_is_looked_at_when_it_is_over() -> None:
    codes, truth = _stream(4000)
    _worse(codes, truth, 2, 0.9)
    panes, drift = Panes(NAMES, LABELS), Drift(block="1h")
    for number, key in enumerate(keys_of(codes)):
        panes.add(number // 20, key)
        panes.pane(number // 20).note_times(None, number * 180.0)  # twenty items an hour
        if number % 20 == 19:
            drift.update(panes)
    (alarm,) = drift.alarms
    assert (alarm.jurors, alarm.block, alarm.raised % 20) == (("cy",), 20, 0)
    assert Drift.from_dict(json.loads(json.dumps(drift.to_dict()))).to_dict() == drift.to_dict()


# -- what people do ---------------------------------------------------------------------------------------------------


def _votes(codes: Integers, prefix: str) -> list[tuple[str, str, str]]:
    cells = [(f"{prefix}{k}", name, row[j]) for k, row in enumerate(codes) for j, name in enumerate(NAMES)]
    return [(item, name, LABELS[code - 1]) for item, name, code in cells if code]


def test_of_old_alarms_the_newest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jurors.monitor.drift._MOST_ALARMS", 3)
    monitor = Monitor(10)
    for k in range(12):  # each new juror is a note
        monitor.learn_many([(f"{k}-{j}", f"juror {m}", "ab"[j % 2]) for j in range(30) for m in range(3 + k)])
        monitor.alarms()
    kept = monitor.alarms()
    assert len(kept) == 3
    assert [alarm.id for alarm in kept] == sorted(alarm.id for alarm in kept)
    assert kept[-1].id > 3
    again = Monitor.from_dict(monitor.to_dict())
    assert [alarm.id for alarm in again.alarms()] == [alarm.id for alarm in kept]


@pytest.mark.slow
def test_alarms_are_acknowledged_snoozed_and_accepted_and_jurors_retired() -> None:
    codes, truth = _stream(2000)
    _worse(codes, truth, 2, 0.5)
    monitor = Monitor(100, block=1)
    monitor.learn_many(_votes(codes, "a"))
    (alarm,) = monitor.pending_alarms()
    monitor.snooze(alarm.id, 10, by="me")
    assert monitor.pending_alarms() == []
    monitor.learn_many(_votes(codes[-10:], "b"))
    assert monitor.pending_alarms() == [alarm]
    assert monitor.grade_since(alarm.id).items == pytest.approx(1010, abs=100)
    monitor.acknowledge(alarm.id, note="new prompt")
    assert monitor.pending_alarms() == []
    monitor = Monitor.from_dict(json.loads(json.dumps(monitor.to_dict())))
    assert not monitor.accept(alarm.id).active
    assert [entry["event"] for entry in monitor.alarms()[0].history] == ["snoozed", "acknowledged", "accepted"]
    monitor.learn_many(_votes(codes[1000:], "c"))
    assert not any(alarm.active for alarm in monitor.alarms())  # the new normal
    monitor.retire("bob")
    codes[:, 1] = 0
    monitor.learn_many(_votes(codes[1000:], "d"))
    assert not any(alarm.active for alarm in monitor.alarms())  # not even that it is silent
    with pytest.raises(OptionError, match="there is no alarm 9"):
        monitor.acknowledge(9)
    with pytest.raises(OptionError, match="there is no juror 'zoe'"):
        monitor.retire("zoe")
    monitor.announce("bob")  # who is watched again, from here on
    codes, _ = _stream(1000)
    monitor.learn_many(_votes(codes, "e"))
    assert _kinds(monitor.alarms()) == [("juror_drift", ("cy",))]
    codes[:, 1] = 0
    monitor.learn_many(_votes(codes, "f"))
    assert _kinds(monitor.alarms())[1:] == [("juror_silent", ("bob",))]


def test_an_alarm_is_put_aside_for_a_time_and_a_juror_who_takes_the_place_of_another_is_no_surprise() -> None:
    drift = _drift(_changed("constant"))
    (alarm,) = drift.active
    drift.snooze(alarm.id, "2h", now=100.0)
    assert [drift.pending(now) for now in (100.0, 7_299.0, 7_300.0)] == [[], [], [alarm]]
    with pytest.raises(VotesError, match="cannot be snoozed by time"):
        drift.snooze(alarm.id, "2h", now=None)
    for until in ("soon", "auto", "1h/5m", 0):
        with pytest.raises(OptionError, match="until must be a number of items"):
            drift.snooze(alarm.id, until, now=100.0)
    drift.retire("bob", replaced_by="bob")
    assert drift.retired == {"bob"}
    codes, _ = _stream(300)
    for heir, kinds in (("zoe", []), (None, [("new_juror", ("zoe",))])):
        monitor = Monitor(100)
        monitor.learn_many(_votes(codes, "a"))
        assert monitor.alarms() == []
        monitor.retire("bob", replaced_by=heir)
        monitor = Monitor.from_dict(monitor.to_dict())
        votes = _votes(codes, "b")
        monitor.learn_many([(item, "zoe" if juror == "bob" else juror, label) for item, juror, label in votes])
        assert _kinds(monitor.alarms()) == kinds


# -- when it is over --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_alarm_is_cleared_when_the_stream_is_back_and_raised_again_for_the_next_change() -> None:
    codes, truth = _stream(6000)
    _worse(codes, truth, 2, 0.45, stop=2000)
    drift = _drift(codes)
    (alarm,) = drift.alarms
    assert not alarm.active
    assert alarm.cleared is not None
    assert 2000 < alarm.cleared < 2200
    more, truth = _stream(3000, seed=5)
    _worse(more, truth, 2, 0.45)
    assert _kinds(_follow(drift, more)) == [("juror_drift", ("cy",))]


@pytest.mark.slow
def test_a_further_change_takes_the_place_of_the_alarm() -> None:
    codes, truth = _stream(5000, wrong=0.05)
    _worse(codes, truth, 2, 0.3)
    rng = np.random.default_rng(9)
    codes[3000:, 2] = np.where(rng.random(2000) < 0.9, 3 - truth[3000:], truth[3000:])
    first, second = _drift(codes).alarms
    assert first.cleared_by == second.id
    assert second.active


# -- ways to the same alarms ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_saved_and_loaded_it_is_the_same() -> None:
    codes, truth = _stream(1350, wrong=0.15)
    _worse(codes, truth, 2, 0.6, stop=1150)
    one, other = _drift(codes), Drift()
    assert one.alarms
    for start in range(0, len(codes), 130):
        _follow(other, codes[start : start + 130])
        other = Drift.from_dict(json.loads(json.dumps(other.to_dict())))
    assert other.to_dict() == one.to_dict()


@pytest.mark.slow
def test_a_vote_that_comes_later_changes_the_item_where_it_was_counted() -> None:
    codes, _ = _stream(240)
    whole, pieces = Drift(), Drift()
    panes, parts = Panes(NAMES, LABELS), Panes(NAMES, LABELS)
    before = b""
    for number, key in enumerate(keys_of(codes)):
        panes.add(number // 80, key)
        parts.add(number // 80, key[:3])
        if before:  # the item before this one gets its last two votes
            parts.add((number - 1) // 80, before[:3], -1)
            parts.add((number - 1) // 80, before)
        before = key
        pieces.update(parts)
    parts.add(2, before[:3], -1)
    parts.add(2, before)
    pieces.update(parts)
    whole.update(panes)
    assert pieces.items == whole.items == 240
    assert pieces.late == 0
    assert pieces._segments.now.tolist() == whole._segments.now.tolist()


@pytest.mark.slow
def test_tuples_that_are_too_many_to_keep_leave_their_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, truth = _stream(1500)
    _worse(codes, truth, 2, 0.5)
    whole = _drift(codes)
    monkeypatch.setattr("jurors.monitor.evidence.MOST_TUPLES", 40)
    forgetful = Drift.from_dict(json.loads(json.dumps(_drift(codes[:900]).to_dict())))
    _follow(forgetful, codes[900:])
    assert any(segment.counted for segment in forgetful._segments.closed)
    assert [alarm.to_dict() for alarm in forgetful.alarms] == [alarm.to_dict() for alarm in whole.alarms]
    assert forgetful._segments.items == 1500


# -- the division of alpha -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [1, 3, 10])
def test_all_shares_together_are_at_most_one_however_many_come(first: int) -> None:
    assert sum(SUBJECTS.values()) == pytest.approx(1)
    assert 0.9 < shares(100_000, first).sum() <= 1 + 1e-9
    assert 0.8 < np.exp(log_border_shares(np.arange(1.0, 1e6))).sum() <= 1


def test_a_juror_aside_takes_no_part_in_majorities() -> None:
    codes = np.array([[1, 1, 2, 2, 2]])
    whole, aside = WatchedSeries(5, 2), WatchedSeries(5, 2, frozenset({4}))
    assert whole.parts["prevalence"].of(whole.cells(codes)).ravel().tolist() == [0, 1]
    assert aside.parts["prevalence"].of(aside.cells(codes)).ravel().tolist() == [0, 0]  # two against two
    assert aside.parts["agrees"].of(aside.cells(codes))[0, 2, 0].tolist() == [1, 0]  # two against one
