"""A monitor at its edges: late votes, old panes, windows that end, limits, damaged files, alarms."""

from __future__ import annotations

import gzip
import importlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import jurors
from jurors import JurorsError, Monitor, OptionError, SketchError, VotesError
from jurors.monitor import Panes
from jurors.monitor.drift import Drift
from jurors.monitor.monitor import History, WindowGrades, text_of
from jurors.monitor.windows import Span


def rows(items: range, labels: str = "yyn", start: float | None = None) -> list[tuple[Any, ...]]:
    """Three votes per item."""
    time = () if start is None else (start,)
    return [(f"q{item}", juror, label, *time) for item in items for juror, label in zip("abc", labels, strict=True)]


@pytest.fixture(scope="module")
def graded() -> Monitor:
    """Five jurors on 1,500 items, in windows of 500."""
    monitor = Monitor(500)
    monitor.learn_many(jurors.simulate(1_500, jurors=5, prevalence="0.3", seed=3).votes)
    return monitor


# -- grades ----------------------------------------------------------------------------------------------------------


def test_the_last_window_is_the_last_that_is_whole() -> None:
    monitor = Monitor(10)
    assert (monitor.items, monitor.windows()) == (0, [])
    for window in ("last", None):
        with pytest.raises(SketchError, match="there is no item to grade"):
            monitor.grade(window)
    monitor.learn_many(rows(range(25)))
    assert [(span.items, span.complete) for span in monitor.windows()] == [(10, True), (10, True), (5, False)]
    assert (monitor.sketch("last").items, monitor.sketch("now").items, monitor.sketch(0).items) == (10, 5, 10)
    with pytest.raises(OptionError, match=r"no window 7; there are 'last', 'now', or a number from 0 to 2"):
        monitor.sketch(7)


def test_the_gates_of_check_pass_fail_or_are_not_known(graded: Monitor) -> None:
    verdict = graded.check("last", min_score=["1:0.2", "2:0.75", "3:0.99"])
    assert [gate.outcome for gate in verdict.gates] == ["pass", "not known", "fail"]


@pytest.mark.slow
def test_the_history_has_every_window_with_its_scores(graded: Monitor) -> None:
    history = graded.history()
    assert [(window.span.items, window.refused) for window in history.windows] == [(500, None)] * 3
    last, calibrated = history.windows[-1], graded.grade(2).calibrated
    assert calibrated is not None
    assert last.score == dict(calibrated.score)
    assert last.interval["score"]["1"] == calibrated.interval_of("score", "1")
    assert len(history.to_csv().splitlines()) == 1 + 3 * 5
    assert "1,500" in history.to_text()


# -- late, repeated, corrected ---------------------------------------------------------------------------------------


def test_votes_for_closed_items_are_late_and_not_counted() -> None:
    monitor = Monitor(10, remember=20)
    monitor.learn_many(rows(range(30)))
    before = monitor.panes.to_dict()
    monitor.learn_one("q3", "a", "n")
    monitor.learn_many([("q4", "d", "n"), ("q29", "a", "y")])
    assert (monitor.late, monitor.items, monitor.panes.to_dict()["panes"]) == (2, 30, before["panes"])
    again = Monitor.from_dict(monitor.to_dict())
    again.learn_one("q5", "a", "n")
    assert (again.late, again.items) == (3, 30)
    assert "3 votes for closed items are not counted (remember=20)" in again.grade(method="majority").notes[-1]


def test_of_votes_in_the_wrong_order_the_latest_stands_and_the_first_says_where_the_item_is() -> None:
    monitor = Monitor("1m")
    monitor.learn_one("q1", "ann", "no", 65)
    assert [span.number for span in monitor.windows()] == [1]
    monitor.learn_many([("q1", "ann", "yes", 61), ("q1", "bob", "no", 55)])
    assert monitor.sketch().to_counts() == {("no", "no"): 1}
    assert [(span.number, span.items) for span in monitor.windows()] == [(0, 1), (1, 0)]


def test_a_copy_goes_its_own_way_and_shares_what_cannot_change() -> None:
    monitor = Monitor(10)
    monitor.learn_many(rows(range(30)))
    before, copied = monitor.to_dict(), monitor.copy()
    assert all(copied._ledger.entries[item] is entry for item, entry in monitor._ledger.entries.items())
    copied.learn_many([("q1", "a", "n"), *rows(range(30, 40))])
    assert (monitor.to_dict(), copied.items) == (before, 40)


def test_names_and_labels_are_those_of_one_read_from_rows_frames_and_one_by_one() -> None:
    one, many, frame = Monitor(), Monitor(), Monitor()
    votes = [(1, " ann", "yes "), (2, "bob", "no"), (1, "bob", "yes")]
    for vote in votes:
        one.learn_one(*vote)
    many.learn_many([{"item": str(item), "juror": juror.strip(), "label": label} for item, juror, label in votes])
    frame.learn_many(pl.DataFrame(votes, schema=["task", "judge", "verdict"], orient="row"))
    assert one.panes.to_dict() == many.panes.to_dict() == frame.panes.to_dict()
    monitor = Monitor()
    monitor.learn_many([(1, "ann", 1), (7, "ann", None), (8, "ann", float("nan")), (9, "ann", " ")])
    monitor.learn_many([(2, "ann", "1"), (3, "ann", "yes")])
    assert monitor.sketch().to_counts() == {("1",): 2, ("yes",): 1}  # numbers and text are one kind of label


# -- the past --------------------------------------------------------------------------------------------------------


def test_old_panes_are_added_up_and_corrected_there() -> None:
    monitor = Monitor(10, keep=4)
    monitor.learn_many(rows(range(100)))
    assert [span.start for span in monitor.windows()] == [70, 80, 90]
    assert monitor.sketch().to_counts() == {("y", "y", "n"): 100}
    monitor.learn_one("q5", "a", "n")
    assert monitor.sketch().to_counts() == {("y", "y", "n"): 99, ("n", "y", "n"): 1}


def test_too_many_tuples_of_long_ago_are_dropped_and_their_items_numbered() -> None:
    panes = Panes(["a", "b"], range(10))
    for number in range(6):
        for k in range(10):
            panes.add(number, bytes([1 + number, 1 + k]))
    panes.trim(3, 25)
    assert (panes.forgotten, panes.since, panes.gone, sum(p.items for p in panes.panes.values())) == (40, 3, 3, 20)
    panes.add(2, bytes([2]), -1)
    assert panes.forgotten == 39
    assert Panes.from_dict(panes.to_dict()).to_dict() == panes.to_dict()


# -- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("window", ["0", "1h/7m", "100/1h", "soon", "half-life 10", -5, 2.5], ids=str)
def test_a_window_that_cannot_be_is_refused(window: Any) -> None:
    with pytest.raises(OptionError, match="window must be items"):
        Monitor(window)


def test_a_frame_is_read_as_it_is_graded_and_later_ones_alike() -> None:
    names = ["question_id", "model", "judge_1", "judge_2", "judge_3", "time"]
    rows = [(f"q{k % 20}", f"m{k // 20}", "yn"[k % 2], "ny"[k % 3 > 0], "yn"[k % 2], 60.0 * k) for k in range(60)]
    frame, monitor = pd.DataFrame(rows, columns=names), Monitor(window="20m")
    frame.loc[7, "judge_2"] = None
    for start in (0, 20, 57):
        monitor.learn_many(frame[start : start + 37])
    assert monitor.sketch() == jurors.Sketch.from_votes(jurors.Votes.from_frame(frame.drop(columns="time")))
    assert [window.items for window in monitor.windows()] == [20, 20, 20]


@pytest.mark.parametrize(
    ("options", "votes", "message"),
    [
        ({}, [("q1", "ann")], "row 1 is not a vote"),
        ({}, [("q1", "", "yes")], "row 1: the juror is empty"),
        ({}, [(None, "ann", "yes")], "row 1: the item is empty"),
        ({}, [("q1", "ann", "yes", "noon")], "time 'noon' is not a time"),
        ({}, [("q1", "ann", "yes", 1_767_225_600_000)], "after the year 9999: give seconds since 1970, not milli"),
        ({}, pl.DataFrame({"item": [1], "juror": ["a"], "label": ["y"], "time": [1e300]}), "after the year 9999"),
        ({}, [("q1", "ann", ["yes"])], "not a single value"),
        ({}, pd.DataFrame({"a": [1], "b": [2]}), "names the item; name it with item="),
        ({}, jurors.load_example("census")[0], "these votes are counts"),
        ({}, [(k, "ann", f"score {k}") for k in range(251)], "at most 250 labels"),
        ({"labels": ["yes", "no"]}, [("q1", "ann", "yes"), ("q1", "bob", "maybe")], "label 'maybe' is not among"),
        ({"window": "1h"}, [("q1", "ann", "yes", 5), ("q1", "bob", "yes")], "needs the time of every vote"),
        ({"window": "1h"}, [("q1", "ann", "yes")], "needs the time of every vote"),
    ],
    ids=["short", "juror", "item", "time", "milliseconds", "far", "nested", "columns", "counts", "many", "label",
         "untimed", "untimed alone"],
)  # fmt: skip
def test_what_is_no_vote_is_refused_in_a_line_and_nothing_is_counted(options: Any, votes: Any, message: str) -> None:
    monitor = Monitor(**options)
    with pytest.raises(VotesError, match=message) as caught:
        monitor.learn_many(votes)
    assert "\n" not in str(caught.value)
    if isinstance(votes, list) and len(votes) == 1 and len(votes[0]) > 2:
        with pytest.raises(VotesError):
            monitor.learn_one(*votes[0])
    assert (monitor.items, monitor.jurors) == (0, ())


# -- times and columns -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pandas", "polars", "text"])
def test_times_of_frames_are_read_and_columns_may_be_named(kind: str) -> None:
    times = [datetime(2026, 1, 1, 0, 30, tzinfo=UTC), datetime(2026, 1, 1, 1, 30, tzinfo=UTC)]
    columns: dict[str, Any] = {"item": ["q1", "q2"], "juror": ["ann", "ann"], "label": ["yes", "no"]}
    stamps = [str(time) for time in times] if kind == "text" else times
    frame = (pl.DataFrame if kind == "polars" else pd.DataFrame)({**columns, "timestamp": stamps})
    monitor = Monitor("1h")
    monitor.learn_many(frame)
    start = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    assert [(span.start, span.items) for span in monitor.windows()] == [(start, 1), (start + 3600, 1)]
    item = pd.Categorical(["x", "y"], categories=["w", "x", "y", "z"])  # some of which no row has
    named, monitor = {"what": item, "who": ["ann", "bob"], "said": ["yes", "no"], "at": [5.0, 7.0]}, Monitor("5s")
    monitor.learn_many(pd.DataFrame(named), item="what", juror="who", label="said", time="at")
    assert (monitor.items, monitor.votes, len(monitor.windows())) == (2, 2, 1)


def test_years_between_two_votes_are_no_windows() -> None:
    monitor = Monitor("20s/5s")
    monitor.learn_many([("q1", "ann", "yes", 0), ("q2", "ann", "no", 250_000_000_000)])
    assert [(span.start, span.items) for span in monitor.windows()][-1] == (249_999_999_985, 1)
    assert len(monitor.windows()) == 2
    assert "9892" in monitor.history().to_text()


# -- files -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    monitor = Monitor("1h", labels=["y", "n"], remember=20, reference=[["y", "n", "y"], ["n", "n", "y"]])
    monitor.learn_many(rows(range(30), start=100))
    monitor.save(tmp_path / "monitor.json")
    return tmp_path / "monitor.json"


def test_a_snapshot_holds_everything(snapshot: Path, tmp_path: Path) -> None:
    monitor = Monitor.load(snapshot)
    monitor.save(tmp_path / "again.json.gz")
    assert gzip.decompress((tmp_path / "again.json.gz").read_bytes()) == snapshot.read_bytes()
    assert Monitor.load(tmp_path / "again.json.gz").to_dict() == monitor.to_dict()


def test_a_damaged_snapshot_is_refused_in_a_line(snapshot: Path) -> None:
    whole = snapshot.read_bytes()
    packed = gzip.compress(whole)
    rng = np.random.default_rng(1)
    places = [int(at) for at in rng.integers(len(whole), size=20)]
    flipped = [whole[:at] + bytes([whole[at] ^ 1 << int(rng.integers(7))]) + whole[at + 1 :] for at in places]
    for content in (b"", whole[:-9], whole[: len(whole) // 2], packed[:-4], packed[: len(packed) // 2], *flipped):
        snapshot.write_bytes(content)
        with pytest.raises(JurorsError) as caught:
            Monitor.load(snapshot)
        assert str(caught.value).startswith(f"{snapshot}: ")
        assert "\n" not in str(caught.value)


def test_a_snapshot_that_is_none_or_does_not_fit_or_is_newer_is_refused(snapshot: Path, tmp_path: Path) -> None:
    document = json.loads(snapshot.read_text())
    document["monitor"]["panes"]["jurors"].pop()
    wrong = {
        text_of(document["monitor"]): "is inconsistent",
        json.dumps({**document, "version": 99}): "written by a newer jurors",
        json.dumps({**document, "version": 1}): "written by an older jurors",
        "{}": "not a snapshot of a monitor",
    }
    for text, message in wrong.items():
        snapshot.write_text(text)
        with pytest.raises(VotesError, match=message):
            Monitor.load(snapshot)
    with pytest.raises(VotesError, match="there is no such file"):
        Monitor.load(tmp_path / "none.json")


# -- alarms ----------------------------------------------------------------------------------------------------------


NAMES = ("ann", "bob", "cy", "dee", "eve")


def stream(items: int, *, bad: float, seed: int = 1, start: int = 0) -> list[tuple[str, str, str]]:
    """Five jurors who err on a tenth of the items; dee on the share `bad`."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, items)
    wrong = rng.random((items, 5)) < np.array([0.1, 0.1, 0.1, bad, 0.1])
    labels = np.where(wrong, 1 - truth[:, None], truth[:, None])
    return [(f"q{start + k}", name, ("no", "yes")[labels[k, j]]) for k in range(items) for j, name in enumerate(NAMES)]


def test_a_juror_who_gets_worse_raises_one_alarm_which_survives_a_restart() -> None:
    monitor = Monitor(200)
    monitor.learn_many(stream(1_000, bad=0.1))
    assert monitor.alarms() == []
    monitor.learn_many(stream(1_000, bad=0.45, seed=2, start=1_000))
    raised = monitor.alarms()
    assert [(alarm.reason, alarm.jurors, alarm.active) for alarm in raised] == [("juror_drift", ("dee",), True)]
    assert 950 <= raised[0].since <= 1_050
    again = Monitor.from_dict(monitor.to_dict())
    for other in (monitor, again, monitor.copy()):
        assert [alarm.to_dict() for alarm in other.alarms()] == [alarm.to_dict() for alarm in raised]


def test_drift_is_detected_against_the_reference() -> None:
    good = Monitor(200)
    good.learn_many(stream(1_000, bad=0.1))
    bad = stream(600, bad=0.45, seed=2)
    assert Monitor(reference=[["yes", "no", "yes"], ["no", "no", "yes"]]).jurors == ("1", "2", "3")
    alone, referred = Monitor(200), Monitor(200, reference=good.sketch(), block=1)
    for monitor in (alone, referred):
        monitor.learn_many(bad)
    assert alone.alarms() == []
    assert [(alarm.jurors, alarm.since) for alarm in referred.alarms()] == [(("dee",), 1)]
    assert referred.sketch() == alone.sketch()
    again = Monitor.from_dict(referred.to_dict())
    assert [alarm.to_dict() for alarm in again.alarms()] == [alarm.to_dict() for alarm in referred.alarms()]


@pytest.mark.slow
@pytest.mark.parametrize("settle", [0, 200])
def test_jurors_who_vote_late_are_not_silent(settle: int) -> None:
    rows = stream(1_000, bad=0.1)
    slow = [row for row in rows if row[1] == "eve"]
    quick = [row for row in rows if row[1] != "eve"]
    monitor = Monitor(100, settle=settle)
    raised = set()
    for start in range(0, 1_000, 50):  # eve is 150 items behind
        monitor.learn_many(quick[4 * start : 4 * (start + 50)])
        monitor.learn_many(slow[max(start - 150, 0) : max(start - 100, 0)])
        raised |= {(alarm.reason, alarm.jurors) for alarm in monitor.alarms()}
    assert bool(raised) == (settle == 0)


def test_panes_that_were_joined_are_not_new_items() -> None:
    monitor = Monitor(100, keep=4)
    rows = stream(2_000, bad=0.1)
    for start in range(0, len(rows), 500):
        monitor.learn_many(rows[start : start + 500])
        assert monitor.alarms() == []
    assert monitor._drift is not None
    assert monitor._drift.items == 2_000


def test_a_long_history_of_many_jurors_fits_80_columns() -> None:
    span, names = Span(0, 0.0, 100.0, 100, 900, complete=True), [f"judge-{k}" for k in range(9)]
    scores = dict.fromkeys(names, 0.8)
    graded = WindowGrades(span, score=scores, interval={"score": dict.fromkeys(names, (0.7, 0.9))})
    history = History("100", by_time=False, windows=[graded] * 40 + [WindowGrades(span, refused="too few jurors " * 9)])
    lines = history.to_text().splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 60
    assert lines[-1] == "21 older windows and 6 more jurors: to_text(full=True) shows all."
    assert lines[3].split()[:4] == ["100", "100", "80%", "80%"]
    assert "80% (70 – 90)" in history.to_text(full=True)
    assert all(name in history.to_text(full=True) for name in names)
    assert history.to_dict()["schema"] == "jurors.history/2"


def test_the_false_alarm_rate_is_stated_with_its_assumption() -> None:
    for stated in (Monitor.__doc__, Monitor.alarms.__doc__, Drift.__doc__):
        assert "independent" in str(stated)
    watch: Any = importlib.import_module("jurors.cli.server").watch
    assert "independent" in next(option.help for option in watch.params if option.name == "alpha")
