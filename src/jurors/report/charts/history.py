"""How each juror's score went, window after window of a stream, with intervals and the alarms that rang."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jurors.errors import SketchError
from jurors.monitor.history import History
from jurors.report.charts.numbers import number
from jurors.report.charts.theme import (
    BLUE,
    ORANGE,
    PERCENT,
    Chart,
    Row,
    altair,
    by_place,
    counted,
    data,
    finish,
    grown,
    placed,
    wanted,
)

_MOST = 40  # jurors; more would be a page of their own
_ROOM = 60  # of axis and gap beside each panel
_NARROW = 250  # what a panel needs at least


def history(
    result: History, alarms: Sequence[Mapping[str, Any]] = (), *, width: float = 900, height: float = 110
) -> Chart:
    """A panel for each juror: its score in every window, the interval as a band, and a line where an alarm began.

    `alarms` are those of the stream, as its monitor tells them (`StreamAlarm.to_dict`).
    """
    wanted(result, (History,), "scores over time")
    jurors = list(dict.fromkeys(juror for one in result.windows for juror in one.score))
    if not jurors:
        raise SketchError("no window has grades yet, so there is nothing to draw over time")
    shown = jurors[:_MOST]
    rows = placed(_rows(result, shown), "juror", shown)
    marks = placed(_marks(result, alarms, shown), "juror", shown)
    columns = max(1, int(width // (_NARROW + _ROOM)))
    length = f"{result.window} items" if result.window.isdigit() else result.window
    about = [f"{counted(len(result.windows), 'window')} of {length}; bands are intervals"]
    about += ["Upright lines: where an alarm's change began"] * bool(marks)
    about += [f"{counted(len(jurors) - _MOST, 'more juror')} left out"] * (len(jurors) > _MOST)
    size = (width / columns - _ROOM, height)
    return finish(_panels(rows, marks, columns, size, by_time=result.by_time), "How often each juror is right", about)


def _rows(result: History, jurors: Sequence[str]) -> list[Row]:
    rows = []
    for one in result.windows:
        for juror in jurors:
            low, high = one.interval.get("score", {}).get(juror) or (None, None)
            row = {"juror": juror, "at": _place(one.span.end, result), "items": one.span.items}
            ends = {"low": number(low), "high": number(high)}
            rows.append(row | ends | {"score": number(one.score.get(juror)), "kind": "score", "message": None})
    return rows


def _marks(result: History, alarms: Sequence[Mapping[str, Any]], jurors: Sequence[str]) -> list[Row]:
    since = "since_time" if result.by_time else "since"
    nothing = {"items": None, "low": None, "high": None, "score": None}
    return [
        {"juror": juror, "at": _place(alarm[since], result), "kind": "alarm", "message": alarm["message"], **nothing}
        for alarm in alarms
        if alarm.get(since) is not None
        for juror in alarm["jurors"]
        if juror in jurors
    ]


def _place(at: float, result: History) -> float:
    """Vega counts time in milliseconds."""
    return at * 1000 if result.by_time else at


def _panels(rows: list[Row], marks: list[Row], columns: int, size: tuple[float, float], *, by_time: bool) -> Chart:
    alt = altair()
    width, height = size
    domain = grown(*(row[name] for row in rows for name in ("score", "low", "high")))
    at = alt.X("at:T", title=None) if by_time else alt.X("at:Q", title="items", axis=alt.Axis(tickCount=4, format="~s"))
    y = alt.Y("score:Q", title=None, scale=alt.Scale(domain=domain, nice=False), axis=alt.Axis(format="%", tickCount=4))
    x_told = alt.Tooltip("at:T" if by_time else "at:Q", title="until", format="" if by_time else ",")
    shares = [("score:Q", "right"), ("low:Q", "at least"), ("high:Q", "at most")]
    told = [alt.Tooltip("juror:N", title="juror"), x_told, alt.Tooltip("items:Q", title="items", format=",")]
    told += [alt.Tooltip(share, title=title, format=PERCENT) for share, title in shares]
    base = alt.Chart().transform_filter("datum.kind == 'score'")
    band = base.mark_area(color=BLUE, opacity=0.22).encode(x=at, y=alt.Y("low:Q", title=None), y2="high:Q")
    line = base.mark_line(color=BLUE, point=alt.OverlayMarkDef(size=22, color=BLUE)).encode(x=at, y=y, tooltip=told)
    since = alt.Chart().transform_filter("datum.kind == 'alarm'").mark_rule(color=ORANGE, strokeWidth=2)
    since = since.encode(x=at, tooltip=[alt.Tooltip("message:N", title="alarm")])
    layered = alt.layer(band, line, since, data=data(rows + marks)).properties(width=width, height=height)
    panel = alt.Facet("juror:N", title=None, sort=by_place())
    return layered.facet(panel, columns=columns).properties(spacing=14)
