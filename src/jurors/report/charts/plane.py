"""The accuracy plane of two labels: one axis per label, the unit square, and the line on which coins lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jurors.report.charts.names import name_layers, place_names
from jurors.report.charts.numbers import Grades, ends_row, number
from jurors.report.charts.theme import BLUE, GREY, ORANGE, PERCENT, PINK, Chart, Row, altair, data, grown, shortened

BETTER, WORSE, OUTSIDE, ACTUAL = "better than a coin", "worse than a coin", "outside 0 – 100%", "actual (answer key)"
_MOST_BOTH = 12  # jurors whose two kinds of intervals fit one plane
_LOOKS = {
    BETTER: (BLUE, "circle"), WORSE: (ORANGE, "triangle-down"), OUTSIDE: (PINK, "diamond"), ACTUAL: (GREY, "cross"),
}  # fmt: skip


def juror_rows(grades: Grades, truth: Grades | None) -> list[Row]:
    """One row per juror whose accuracies on both labels exist."""
    rows = []
    first, second = grades.labels
    for k, juror in enumerate(grades.jurors):
        x, y = (number(value) for value in grades.accuracy[k])
        if x is None or y is None:
            continue
        row = {"juror": juror, "x": x, "y": y, "score": number(grades.score[k]), "kind": kind_of(x, y)}
        row |= ends_row("x", grades.ends("accuracy", juror, first))
        row |= ends_row("y", grades.ends("accuracy", juror, second))
        if grades.plain is not None:
            row |= _plain_row(grades.plain, juror)
        if truth is not None and juror in truth.jurors:
            at = truth.jurors.index(juror)
            row |= {"actual_x": number(truth.accuracy[at, 0]), "actual_y": number(truth.accuracy[at, 1])}
        rows.append(row)
    return rows


def _plain_row(plain: Grades, juror: str) -> Row:
    """The same juror if errors were independent; outside the square, that is an alarm and must be seen."""
    x, y = (number(value) for value in plain.accuracy[plain.jurors.index(juror)])
    row: Row = {"plain_x": x, "plain_y": y} | ends_row("plain_x", plain.ends("accuracy", juror, plain.labels[0]))
    row |= ends_row("plain_y", plain.ends("accuracy", juror, plain.labels[1]))
    if x is not None and y is not None and kind_of(x, y) == OUTSIDE:
        row["kind"] = OUTSIDE
    return row


def kind_of(x: float, y: float) -> str:
    """Where a juror lies: outside the square is an alarm, below the coins' line errs more than a coin."""
    if not (0 <= x <= 1 and 0 <= y <= 1):
        return OUTSIDE
    return BETTER if x + y >= 1 else WORSE


def background(domain: list[float]) -> Chart:
    """The unit square and the coins' line."""
    alt = altair()
    low, high = domain
    square = (
        alt.Chart(data([{"x": 0, "y": 0, "x2": 1, "y2": 1}]))
        .mark_rect(fillOpacity=0, style="outline", strokeOpacity=0.6, strokeWidth=1, clip=True)
        .encode(x=alt.X("x:Q"), y=alt.Y("y:Q"), x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"))
    )
    inner = max(low, 1 - high), min(high, 1 - low)
    ends = [{"x": x, "y": 1 - x} for x in inner]
    line = (
        alt.Chart(data(ends))
        .mark_line(style="ink", strokeDash=[5, 4], strokeWidth=1.2)
        .encode(x=alt.X("x:Q"), y=alt.Y("y:Q"))
    )
    word = (
        alt.Chart(data([{"x": inner[0] + 0.04, "y": 0.96 - inner[0], "text": "a coin"}]))
        .mark_text(align="left", baseline="top", angle=45, dx=2, dy=4, fontStyle="italic", fontSize=10)
        .encode(x=alt.X("x:Q"), y=alt.Y("y:Q"), text=alt.Text("text:N"))
    )
    return square + line + word


def axes(labels: Sequence[Any], domain: list[float]) -> tuple[Any, Any]:
    """Accuracy on the first label to the right, on the second upwards."""
    alt = altair()

    def axis(channel: Any, field: str, label: Any) -> Any:
        title = f"accuracy on {shortened(label)}"
        return channel(f"{field}:Q", title=title, scale=alt.Scale(domain=domain, nice=False, zero=False)).axis(
            format="%", tickCount=6
        )

    return axis(alt.X, "x", labels[0]), axis(alt.Y, "y", labels[1])


def kind_encodings(kinds: Sequence[str]) -> dict[str, Any]:
    """Colour and shape by where a juror lies, with a legend for the kinds that occur."""
    alt = altair()
    shown = [kind for kind in _LOOKS if kind in kinds]
    legend = alt.Legend(title=None, orient="top", offset=4, columns=2) if shown != [BETTER] else None
    colours, shapes = [_LOOKS[k][0] for k in shown], [_LOOKS[k][1] for k in shown]
    return {
        "color": alt.Color("kind:N", scale=alt.Scale(domain=shown, range=colours), legend=legend),
        "shape": alt.Shape("kind:N", scale=alt.Scale(domain=shown, range=shapes), legend=legend),
    }


def plane_tooltip(labels: Sequence[Any], *, intervals: bool, actual: bool) -> list[Any]:
    """Names and numbers of a juror."""
    alt = altair()
    a, b = (shortened(label, 30) for label in labels)
    shown = [alt.Tooltip("juror:N", title="juror"), alt.Tooltip("x:Q", title=f"accuracy on {a}", format=PERCENT)]
    shown += [alt.Tooltip("x_interval:N", title=f"interval on {a}")] * intervals
    shown += [alt.Tooltip("actual_x:Q", title=f"actual on {a}", format=PERCENT)] * actual
    shown += [alt.Tooltip("y:Q", title=f"accuracy on {b}", format=PERCENT)]
    shown += [alt.Tooltip("y_interval:N", title=f"interval on {b}")] * intervals
    shown += [alt.Tooltip("actual_y:Q", title=f"actual on {b}", format=PERCENT)] * actual
    return [*shown, alt.Tooltip("score:Q", title="score", format=PERCENT), alt.Tooltip("kind:N", title="is")]


def accuracy_plane(grades: Grades, truth: Grades | None, size: tuple[float, float]) -> Chart:
    """Each juror at (accuracy on the first label, accuracy on the second), with intervals, beside the actual."""
    alt = altair()
    rows = juror_rows(grades, truth)
    names = ("x", "y", "x_low", "x_high", "y_low", "y_high", "actual_x", "actual_y", "plain_x", "plain_y")
    values = [row.get(name) for row in rows for name in names]
    domain = _nearer(grown(*values), values)
    x, y = axes(grades.labels, domain)
    intervals = any(row["x_low"] is not None for row in rows)
    faint = 0.7 if len(rows) <= 12 else 0.3 if len(rows) <= 60 else 0.12
    looks = kind_encodings([row["kind"] for row in rows] + [ACTUAL] * (truth is not None))
    base = alt.Chart(data(rows)).encode(
        x=x, y=y, tooltip=plane_tooltip(grades.labels, intervals=intervals, actual=truth is not None)
    )
    layers = [background(domain)]
    if intervals:
        cross = base.mark_rule(strokeWidth=1.5 if grades.plain is None else 4, opacity=faint * _softer(grades))
        layers += [cross.encode(x=alt.X("x_low:Q"), x2=alt.X2("x_high:Q"), color=looks["color"])]
        layers += [cross.encode(y=alt.Y("y_low:Q"), y2=alt.Y2("y_high:Q"), color=looks["color"])]
    if grades.plain is not None:
        layers += _plain_layers(base, looks["color"], with_ends=len(rows) <= _MOST_BOTH)
    if truth is not None:
        layers += [base.mark_rule(color=GREY, strokeWidth=1).encode(x2=alt.X2("actual_x:Q"), y2=alt.Y2("actual_y:Q"))]
        key = base.transform_calculate(kind=f"'{ACTUAL}'").mark_point(filled=True, size=60, opacity=0.9)
        layers += [key.encode(x=alt.X("actual_x:Q"), y=alt.Y("actual_y:Q"), **looks)]
    layers += [base.mark_point(filled=True, size=70 if len(rows) <= 60 else 34, opacity=0.95).encode(**looks)]
    layers += named_points(rows, domain, size)
    return alt.layer(*layers).properties(width=size[0], height=size[1])


def _softer(grades: Grades) -> float:
    """Thick bars are fainter, so that thin ones are seen upon them."""
    return 1.0 if grades.plain is None else 0.4


def _plain_layers(base: Chart, colour: Any, *, with_ends: bool) -> list[Chart]:
    """If errors were independent: hollow points, and thin intervals while there is room for them."""
    alt = altair()
    thin = base.mark_rule(strokeWidth=1, opacity=0.9, clip=True)
    ends = [
        thin.encode(x=alt.X("plain_x_low:Q"), x2=alt.X2("plain_x_high:Q"), y=alt.Y("plain_y:Q"), color=colour),
        thin.encode(x=alt.X("plain_x:Q"), y=alt.Y("plain_y_low:Q"), y2=alt.Y2("plain_y_high:Q"), color=colour),
    ]
    points = base.mark_point(filled=False, size=45, opacity=0.9).encode(
        x=alt.X("plain_x:Q"), y=alt.Y("plain_y:Q"), color=colour
    )
    return [*(ends if with_ends else []), points]


def _nearer(domain: list[float], values: Sequence[float | None]) -> list[float]:
    """Closer up where nobody is near the lower corner; the coins' line always stays in sight."""
    least = min((x for x in values if x is not None), default=0.0)
    start = max((edge for edge in (0.0, 0.1, 0.2, 0.3, 0.4) if least > edge + 0.03), default=None)
    return domain if not start else [start, domain[1]]


def named_points(rows: Sequence[Row], domain: list[float], size: tuple[float, float]) -> list[Chart]:
    """The names of the jurors; those whom a reader looks for, the worst, choose their place first."""
    low, high = domain
    span = high - low

    def pixels(row: Row, x: str, y: str) -> tuple[float, float]:
        return (row[x] - low) / span * size[0], (high - row[y]) / span * size[1]

    points = [pixels(row, "x", "y") for row in rows]
    known = [row for row in rows if row.get("actual_x") is not None and row.get("actual_y") is not None]
    others = [pixels(row, "actual_x", "actual_y") for row in known]
    order = sorted(range(len(rows)), key=lambda k: (rows[k]["kind"] == BETTER, rows[k]["x"] + rows[k]["y"]))
    names = [row["juror"] for row in rows]
    placed = place_names(names, points, size, others=others, order=order)
    return name_layers(names, points, placed, lambda at: (low + at[0] / size[0] * span, high - at[1] / size[1] * span))
