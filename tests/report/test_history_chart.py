"""The chart of scores over time: the windows' own numbers, alarms where they began, names as data."""

from __future__ import annotations

import random
from typing import Any

import pytest

import jurors
from jurors.monitor.monitor import History

pytestmark = pytest.mark.slow
JURORS = ("ann", 'b\\o"b', "cy", "dee\x1b[31m")


@pytest.fixture(scope="module")
def history() -> History:
    dice = random.Random(5)
    monitor = jurors.Monitor(window=150)
    for item in range(450):
        truth = dice.choice("yn")
        for juror in JURORS:
            monitor.learn_one(item, juror, truth if dice.random() < 0.8 else dice.choice("yn"))
    return monitor.history()


def rows_of(chart: Any, kind: str) -> list[dict[str, Any]]:
    (rows,) = chart.to_dict()["datasets"].values()
    return [row for row in rows if row["kind"] == kind]


def test_every_window_and_juror_is_a_point_with_its_interval(history: History) -> None:
    rows = rows_of(jurors.plot.history(history), "score")
    assert len(rows) == len(history.windows) * len(JURORS)
    first = history.windows[0]
    assert rows[0]["score"] == first.score["ann"]
    assert (rows[0]["low"], rows[0]["high"]) == first.interval["score"]["ann"]


def test_an_alarm_is_a_line_in_the_panels_of_those_it_names(history: History) -> None:
    alarm = {"since": 150, "since_time": None, "jurors": ["cy", "gone"], "message": "cy agrees less"}
    marks = rows_of(jurors.plot.history(history, [alarm]), "alarm")
    assert [(mark["juror"], mark["at"], mark["message"]) for mark in marks] == [("cy", 150, "cy agrees less")]


def test_it_is_drawn_whatever_the_names_are(history: History) -> None:
    assert jurors.plot.render(jurors.plot.history(history), "svg").startswith(b"<svg")


def test_without_grades_there_is_nothing_to_draw() -> None:
    empty = History("1000", by_time=False, windows=())
    with pytest.raises(jurors.SketchError, match="no window has grades yet"):
        jurors.plot.history(empty)
