"""How accurate the jurors are: estimated, over time, against a key; reliabilities; how good systems are; leanings.

Two labels make a plane with one axis per label, the unit square, and the line on which guessing lies (accuracies that
add up to 1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jurors.errors import SketchError, short_names
from jurors.evaluate.card import percent, percent_range
from jurors.evaluate.evaluation import Evaluation, KeyedEvaluation
from jurors.jury.systems import SystemComparison, rank_text
from jurors.monitor.monitor import History
from jurors.numeric.grade import NumberGrades
from jurors.numeric.score import NumberScores
from jurors.reporting.charts import base
from jurors.reporting.charts.base import PERCENT, Chart, Row, alt, check_result, data, finish, number, tip
from jurors.results import count_noun

# -- accuracies: the plane of two labels, dots and intervals for a few, a heat map for many --

_MAX_PANELS, _MAX_ROWS = 6, 45  # dots and intervals up to here, a heat map beyond
_MAX_HEIGHT = 900
_MAX_NAMED = 3  # jurors in the lines above a chart


def accuracy(
    evaluation: Evaluation | KeyedEvaluation,
    truth: KeyedEvaluation | None = None,
    *,
    jurors: Sequence[str] | None = None,
    width: float = 420,
    height: float | None = None,
) -> Chart:
    """How accurate each juror is on each label, with intervals, and with a key, the actual accuracy.

    Two labels make a plane, one axis per label; on the dashed line a juror is no better than chance. More labels make a
    dot and an interval for each juror and label, or a heat map where those are many. Of more than 20 jurors the ten
    best and the ten worst with enough votes are shown, unless you name `jurors`. The axes grow past [0, 1] when an
    estimate lies outside: that is an alarm, and it must be visible.

    Returns
    -------
    altair chart
    """
    check_result(evaluation, (Evaluation, KeyedEvaluation), "accuracies")
    base.check_graded(evaluation)
    shown, labels = base.shown_jurors(evaluation, jurors), evaluation.labels
    # in short lines, since a browser may write them wider than they were measured
    about = [f"{count_noun(len(evaluation.jurors), 'juror')}, {count_noun(evaluation.items, 'item')}"]
    if isinstance(evaluation, KeyedEvaluation):
        about[0] += "; against the answer key"
    else:
        has_intervals = evaluation.interval is not None
        about.append(f"Bars are {evaluation.level * 100:g}% intervals" if has_intervals else "No intervals")
    about += base.shown_of(shown, evaluation.jurors, "The best and worst" if jurors is None else "Shown")
    crosses = ["Crosses: actual, by the answer key"] * (truth is not None)
    title = "How accurate each juror is on each label"
    if isinstance(evaluation, Evaluation) and evaluation.exam:
        rows = _rows(evaluation, truth, [(juror, "all items", ("score", juror)) for juror in shown])
        chart = _dots(rows, _by_rank(evaluation, shown), ["all items"], "score", (width, height))
        return finish(chart, "How accurate each juror is", about + crosses)
    if len(labels) == 2:
        rows = _plane_rows(evaluation, shown, truth)
        if left := len(shown) - len(rows):
            about.append(f"{count_noun(left, 'juror')} without an accuracy on both labels left out")
        if worse := [row["juror"] for row in rows if row["kind"] != BETTER]:
            who = f" ({', '.join(map(base.shorten_name, worse))})" if len(worse) <= _MAX_NAMED else ""
            about.append(f"{count_noun(len(worse), 'juror')} worse than chance or outside 0 – 100%{who}")
        size = (width, width if height is None else height)
        return finish(_plane(rows, labels, size, has_key=truth is not None), title, about)
    cells = [(juror, str(label), ("accuracy", juror, label)) for juror in shown for label in labels]
    rows, order, names = _rows(evaluation, truth, cells), _by_rank(evaluation, shown), [str(a) for a in labels]
    shorter, longer = sorted((len(labels), len(shown)))
    if shorter > _MAX_PANELS or longer > _MAX_ROWS:
        return finish(_heat(rows, order, names, (width, height)), title, about)
    return finish(_dots(rows, order, names, "accuracy", (width, height)), title, about + crosses)


# -- the plane of two labels --

BETTER, WORSE, OUTSIDE, ACTUAL = "better than chance", "worse than chance", "outside 0 – 100%", "actual (answer key)"
_LOOKS = {
    BETTER: (base.BLUE, "circle"), WORSE: (base.ORANGE, "triangle-down"), OUTSIDE: (base.PINK, "diamond"),
    ACTUAL: (base.GREY, "cross"),
}  # fmt: skip


def _plane_rows(evaluation: Any, jurors: Sequence[str], truth: KeyedEvaluation | None) -> list[Row]:
    """Make one row per juror whose accuracies on both labels exist, with where the juror lies.

    Outside the square is an alarm, below the line of guessing is worse than chance.
    """
    rows: list[Row] = []
    first, second = evaluation.labels
    names = short_names(evaluation.jurors)
    for juror in jurors:
        row = base.share_cells("x", evaluation, "accuracy", juror, first)
        row |= base.share_cells("y", evaluation, "accuracy", juror, second)
        x, y = row["x"], row["y"]
        if x is None or y is None:
            continue
        kind = OUTSIDE if not (0 <= x <= 1 and 0 <= y <= 1) else BETTER if x + y >= 1 else WORSE
        row |= {"juror": names[juror], "score": base.share_of(evaluation, "score", juror), "kind": kind}
        if truth is not None and juror in truth.jurors:
            row["actual_x"] = base.share_of(truth, "accuracy", juror, first)
            row["actual_y"] = base.share_of(truth, "accuracy", juror, second)
        rows.append(row)
    return rows


def _plane(rows: list[Row], labels: Sequence[Any], size: tuple[float, float], *, has_key: bool) -> Chart:
    """Draw each juror at (accuracy on the first label, accuracy on the second), with intervals, beside the actual."""
    fields = ("x", "y", "x_low", "x_high", "y_low", "y_high", "actual_x", "actual_y")
    values = [row.get(field) for row in rows for field in fields]
    domain = base.grow_domain(*values)
    # Closer up where no juror is near the lower corner; the line of guessing always stays in sight.
    least = min((value for value in values if value is not None), default=0.0)
    if start := max((edge for edge in (0.0, 0.1, 0.2, 0.3, 0.4) if least > edge + 0.03), default=None):
        domain = [start, domain[1]]
    x, y = (
        channel(f"{field}:Q", title=f"accuracy on {base.shorten_name(label)}")
        .scale(domain=domain, nice=False, zero=False)
        .axis(format="%", tickCount=6)
        for channel, field, label in zip((alt.X, alt.Y), "xy", labels, strict=True)
    )
    intervals = any(row["x_low"] is not None for row in rows)
    tips = [tip("juror:N", "juror")]
    for field, label in zip("xy", (base.shorten_name(label, 30) for label in labels), strict=True):
        tips += [tip(f"{field}:Q", f"accuracy on {label}", PERCENT)]
        tips += [tip(f"{field}_interval:N", f"interval on {label}")] * intervals
        tips += [tip(f"actual_{field}:Q", f"actual on {label}", PERCENT)] * has_key
    tips += [tip("score:Q", "score", PERCENT), tip("kind:N", "is")]
    kinds = {ACTUAL, *(row["kind"] for row in rows)} if has_key else {row["kind"] for row in rows}
    seen = [kind for kind in _LOOKS if kind in kinds]
    legend = alt.Legend(title=None, orient="top", offset=4, columns=2) if seen != [BETTER] else None
    colours, shapes = ([_LOOKS[kind][k] for kind in seen] for k in (0, 1))
    looks = {
        "color": alt.Color("kind:N", scale=alt.Scale(domain=seen, range=colours), legend=legend),
        "shape": alt.Shape("kind:N", scale=alt.Scale(domain=seen, range=shapes), legend=legend),
    }
    encoded = alt.Chart(data(rows)).encode(x=x, y=y, tooltip=tips)
    layers = [_background(domain)]
    faint = 0.7 if len(rows) <= 12 else 0.3 if len(rows) <= 60 else 0.12
    if intervals:
        cross = encoded.mark_rule(strokeWidth=1.5, opacity=faint)
        layers += [cross.encode(x=alt.X("x_low:Q"), x2=alt.X2("x_high:Q"), color=looks["color"])]
        layers += [cross.encode(y=alt.Y("y_low:Q"), y2=alt.Y2("y_high:Q"), color=looks["color"])]
    if has_key:
        layers += [
            encoded.mark_rule(color=base.GREY, strokeWidth=1).encode(x2=alt.X2("actual_x:Q"), y2=alt.Y2("actual_y:Q"))
        ]
        key = encoded.transform_calculate(kind=f"'{ACTUAL}'").mark_point(filled=True, size=60, opacity=0.9)
        layers += [key.encode(x=alt.X("actual_x:Q"), y=alt.Y("actual_y:Q"), **looks)]
    layers += [encoded.mark_point(filled=True, size=70 if len(rows) <= 60 else 34, opacity=0.95).encode(**looks)]
    layers += _names(rows, domain, size)
    return alt.layer(*layers).properties(width=size[0], height=size[1])


def _background(domain: list[float]) -> Chart:
    """Draw the unit square and the line of guessing."""
    low, high = domain
    corners = data([{"x": 0, "y": 0, "x2": 1, "y2": 1}])
    square = alt.Chart(corners).mark_rect(fillOpacity=0, style="outline", strokeOpacity=0.6, strokeWidth=1, clip=True)
    inner = max(low, 1 - high), min(high, 1 - low)
    line = alt.Chart(data([{"x": x, "y": 1 - x} for x in inner]))
    word = alt.Chart(data([{"x": inner[0] + 0.04, "y": 0.96 - inner[0], "text": "chance"}]))
    word = word.mark_text(align="left", baseline="top", angle=45, dx=2, dy=4, fontStyle="italic", fontSize=10)
    at = {"x": alt.X("x:Q"), "y": alt.Y("y:Q")}
    return (
        square.encode(x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"), **at)
        + line.mark_line(style="ink", strokeDash=[5, 4], strokeWidth=1.2).encode(**at)
        + word.encode(text=alt.Text("text:N"), **at)
    )


def _names(rows: Sequence[Row], domain: list[float], size: tuple[float, float]) -> list[Chart]:
    """Draw the names of the jurors, with a line to those that stand far away.

    The worst, which a reader looks for, are placed first.
    """
    low, high = domain
    span = high - low

    def pixels(row: Row, x: str, y: str) -> tuple[float, float]:
        return (row[x] - low) / span * size[0], (high - row[y]) / span * size[1]

    points = [pixels(row, "x", "y") for row in rows]
    known = [row for row in rows if row.get("actual_x") is not None and row.get("actual_y") is not None]
    others = [pixels(row, "actual_x", "actual_y") for row in known]
    order = sorted(range(len(rows)), key=lambda k: (rows[k]["kind"] == BETTER, rows[k]["x"] + rows[k]["y"]))
    placed = base.place_names([row["juror"] for row in rows], points, size, others=others, order=order)
    to_names: list[Row] = []
    texts: dict[str, list[Row]] = {"left": [], "right": [], "center": []}
    for name in placed:
        row = rows[name.index]
        x, y = low + name.at[0] / size[0] * span, high - name.at[1] / size[1] * span
        texts[name.align].append({"juror": row["juror"], "name": base.cut_middle(row["juror"]), "x": x, "y": y})
        if name.is_far:
            to_names.append({"x": row["x"], "y": row["y"], "x2": x, "y2": y})
    at = {"x": alt.X("x:Q"), "y": alt.Y("y:Q")}
    layers = []
    if to_names:
        line = alt.Chart(data(to_names)).mark_rule(color=base.GREY, strokeWidth=0.7)
        layers.append(line.encode(x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"), **at))
    for align, names in texts.items():
        if names:
            text = alt.Chart(data(names)).mark_text(align=align, limit=base.NAME_WIDTH)
            layers.append(text.encode(text=alt.Text("name:N"), tooltip=tip("juror:N", "juror"), **at))
    return layers


# -- dots, or a heat map --


def _rows(evaluation: Any, truth: KeyedEvaluation | None, cells: Sequence[tuple[str, str, Any]]) -> list[Row]:
    """Make one row per cell: a juror, a label as text, and the name of the share."""
    rows: list[Row] = []
    names = short_names(evaluation.jurors)
    for juror, label, name in cells:
        row = {"juror": names[juror], "label": label, "score": base.share_of(evaluation, "score", juror)}
        row |= base.share_cells("value", evaluation, *name)
        rows.append(row if truth is None else row | {"actual": base.share_of(truth, *name)})
    return rows


def _by_rank(evaluation: Any, jurors: Sequence[str]) -> list[str]:
    """The jurors' short names, in the order of the card."""
    names = short_names(evaluation.jurors)
    return [names[juror] for juror in base.in_rank_order(evaluation, jurors)]


def _tips(rows: list[Row], what: str) -> list[Any]:
    shown = [tip("juror:N", "juror"), tip("label:N", "label"), tip("value:Q", what, PERCENT)]
    shown += [tip("value_interval:N", "interval")] * any(row["value_low"] is not None for row in rows)
    shown += [tip("actual:Q", "actual", PERCENT)] * ("actual" in rows[0])
    return [*shown, tip("score:Q", "score", PERCENT)]


def _name_axis(field: str, names: Sequence[str], step: float) -> Any:
    """Make a vertical axis with a line per name, so many pixels apart."""
    y = alt.Y(f"{field}:N", scale=base.ordered(names), title=None)
    return y.axis(grid=True, labels=step >= 9, ticks=False, domain=False, labelExpr=base.CUT_LABEL)


def _dots(rows: list[Row], jurors: list[str], labels: list[str], what: str, size: tuple[float, float | None]) -> Chart:
    """Draw a panel per label and a row per juror, or the other way round if the labels are many."""
    panels, lines = (("juror", jurors), ("label", labels)) if len(labels) > _MAX_PANELS else (
        ("label", labels), ("juror", jurors))  # fmt: skip
    step = max(5.0, min(20.0, _MAX_HEIGHT / len(lines[1])))
    tall = size[1] if size[1] is not None else step * len(lines[1])
    wide = size[0] if len(panels[1]) == 1 else max(70.0, (size[0] + 200) / len(panels[1]) - 12)
    y = _name_axis(*lines, step)
    layers = base.dot_layers(rows, y, what, _tips(rows, what), form="%", ticks=6 if len(panels[1]) == 1 else 3)
    layered = alt.layer(*layers, data=data(base.placed(rows, *panels))).properties(width=wide, height=tall)
    if len(panels[1]) == 1:
        return layered
    return layered.facet(column=alt.Column(f"{panels[0]}:N", sort=base.by_place(), title=None)).properties(spacing=24)


def _heat(rows: list[Row], jurors: list[str], labels: list[str], size: tuple[float, float | None]) -> Chart:
    values = [row["value"] for row in rows if row["value"] is not None]
    domain = [min([0.5, *values]), max([1.0, *values])]
    tall = size[1] if size[1] is not None else min(_MAX_HEIGHT, max(14.0 * len(jurors), 60))
    step = tall / len(jurors)
    title = None if step >= 9 else "jurors, the best known first"
    colour = alt.Color("value:Q", title="accuracy", scale=alt.Scale(scheme=base.SEQUENTIAL, domain=domain))
    chart = alt.Chart(data(rows)).mark_rect().encode(
        x=alt.X("label:N", scale=base.ordered(labels), title="true label").axis(labelAngle=-40, labelLimit=110),
        y=alt.Y("juror:N", scale=base.ordered(jurors), title=title).axis(labels=step >= 9, ticks=False),
        color=colour.legend(format="%"), tooltip=_tips(rows, "accuracy"),
    )  # fmt: skip
    return chart.properties(width=max(size[0], 24.0 * len(labels)), height=tall)


# -- estimated against actual --

_SHAPES = {"accuracy": "circle", "prevalence": "diamond", "score": "square"}


def against_key(
    evaluation: Evaluation, keyed: KeyedEvaluation, *, width: float = 420, height: float | None = None
) -> Chart:
    """Every prevalence and accuracy (of an exam: every score) as estimated without the key, against the actual one.

    Returns
    -------
    altair chart
    """
    check_result(evaluation, (Evaluation,), "estimates against a key")
    check_result(keyed, (KeyedEvaluation,), "actual numbers")
    base.check_graded(evaluation)
    by_key, short = set(keyed.jurors), short_names(evaluation.jurors)
    jurors = [juror for juror in evaluation.jurors if juror in by_key]
    compared: list[tuple[Any, ...]] = [("score", juror) for juror in jurors]
    if not evaluation.exam:
        labels_of_both = [label for label in evaluation.labels if label in keyed.labels]
        compared = [(*of, a) for a in labels_of_both for of in (("prevalence",), *(("accuracy", j) for j in jurors))]
    rows: list[Row] = []
    for statistic, *of in compared:
        row = {"statistic": statistic, "juror": "–" if statistic == "prevalence" else short[of[0]]}
        row |= {"label": "all" if statistic == "score" else str(of[-1]), "actual": base.share_of(keyed, statistic, *of)}
        row |= base.share_cells("value", evaluation, statistic, *of)
        if row["value"] is not None and row["actual"] is not None:
            rows.append(row)
    if not rows:
        raise SketchError("no juror or label of the evaluation is among those of the key")
    names = ("value", "value_low", "value_high", "actual")
    domain = base.grow_domain(*(row[name] for row in rows for name in names))
    scale = alt.Scale(domain=domain, nice=False, zero=False)
    labels, colours = base.label_scale(evaluation.labels)
    many = len(labels) > len(base.PALETTE)
    colour = alt.Color("label:N", scale=alt.Scale(domain=labels, range=colours)).legend(title="label", symbolLimit=20)
    if evaluation.exam or many:
        colour = alt.value(base.PALETTE[0])
    statistics = [s for s in _SHAPES if any(row["statistic"] == s for row in rows)]
    shape = alt.Shape("statistic:N", scale=alt.Scale(domain=statistics, range=[_SHAPES[s] for s in statistics]))
    tips = [alt.Tooltip("statistic:N"), tip("juror:N", "juror"), tip("label:N", "label")]
    tips += [tip("value:Q", "estimated", PERCENT)]
    tips += [tip("value_interval:N", "interval"), tip("actual:Q", "actual", PERCENT)]
    encoded = alt.Chart(data(rows)).encode(
        x=alt.X("actual:Q", title="actual, by the answer key", scale=scale).axis(format="%", tickCount=6),
        y=alt.Y("value:Q", title="estimated without it", scale=scale).axis(format="%", tickCount=6),
        color=colour, tooltip=tips,
    )  # fmt: skip
    ends = [{"actual": x, "value": x} for x in domain]
    line = alt.Chart(data(ends)).mark_line(style="ink", strokeDash=[5, 4], strokeWidth=1.2)
    square = alt.Chart(data([{"x": 0, "x2": 1}])).mark_rect(fillOpacity=0, style="outline", strokeOpacity=0.6)
    square = square.encode(
        x=alt.X("x:Q", scale=scale), x2=alt.X2("x2:Q"), y=alt.Y("x:Q", scale=scale), y2=alt.Y2("x2:Q")
    )
    faint = 0.5 if len(rows) <= 60 else 0.15
    bars = encoded.mark_rule(strokeWidth=1.5, opacity=faint)
    bars = bars.encode(y=alt.Y("value_low:Q", title=None), y2=alt.Y2("value_high:Q"))
    points = encoded.mark_point(filled=True, opacity=0.9, size=60 if len(rows) <= 120 else 30)
    points = points.encode(shape=shape.legend(title=None) if len(statistics) > 1 else shape.legend(None))
    chart = alt.layer(square, line.encode(x=alt.X("actual:Q"), y=alt.Y("value:Q")), bars, points)
    chart = chart.properties(width=width, height=width if height is None else height)
    typical = np.sqrt(np.mean([(row["value"] - row["actual"]) ** 2 for row in rows]))
    about = [f"{count_noun(keyed.items, 'item')} with a true label; typical error (RMS) {typical:.1%}"]
    if known := [row for row in rows if row["value_low"] is not None]:
        covered = sum(row["value_low"] <= row["actual"] <= row["value_high"] for row in known)
        about.append(f"{covered:,} of {len(known):,} intervals contain the actual number")
    return finish(chart, "Estimates without the key against the actual numbers", about)


# -- scores over time --

_MAX_JURORS = 40  # more would be a page of their own
_ROOM = 60  # pixels of axis and gap beside each panel
_MIN_WIDTH = 250  # of a panel


def history(
    result: History, alarms: Sequence[Mapping[str, Any]] = (), *, width: float = 900, height: float = 110
) -> Chart:
    """A panel for each juror: its score in every window, the interval as a band, and a line where an alarm began.

    `alarms` are those of the stream, as its monitor gives them (`StreamAlarm.to_dict`).

    Returns
    -------
    altair chart
    """
    check_result(result, (History,), "scores over time")
    jurors = list(dict.fromkeys(juror for window in result.windows for juror in window.score))
    if not jurors:
        raise SketchError("no window has grades yet, so there is nothing to draw over time")
    shown, short = jurors[:_MAX_JURORS], short_names(tuple(jurors))
    scale = 1000 if result.by_time else 1  # Vega counts time in milliseconds
    rows: list[Row] = []
    for window in result.windows:
        for juror in shown:
            low, high = window.interval.get("score", {}).get(juror) or (None, None)
            row = {"juror": short[juror], "at": window.span.end * scale, "items": window.span.items}
            ends = {"low": number(low), "high": number(high)}
            rows.append(row | ends | {"score": number(window.score.get(juror)), "kind": "score", "message": None})
    since = "since_time" if result.by_time else "since"
    nothing = {"items": None, "low": None, "high": None, "score": None}
    marks: list[Row] = [
        {"juror": short[juror], "at": alarm[since] * scale, "kind": "alarm", "message": alarm["message"], **nothing}
        for alarm in alarms
        if alarm.get(since) is not None
        for juror in alarm["jurors"]
        if juror in shown
    ]
    columns = max(1, int(width // (_MIN_WIDTH + _ROOM)))
    length = f"{result.window} items" if result.window.isdigit() else result.window
    about = [f"{count_noun(len(result.windows), 'window')} of {length}; bands are intervals"]
    about += ["Vertical lines: where a change began that raised an alarm"] * bool(marks)
    about += [f"{count_noun(len(jurors) - _MAX_JURORS, 'more juror')} left out"] * (len(jurors) > _MAX_JURORS)
    domain = base.grow_domain(*(row[name] for row in rows for name in ("score", "low", "high")))
    x = alt.X("at:Q", title="items", axis=alt.Axis(tickCount=4, format="~s"))
    until = tip("at:Q", "until", ",")
    if result.by_time:
        x, until = alt.X("at:T", title=None), tip("at:T", "until", "")
    y = alt.Y("score:Q", title=None, scale=alt.Scale(domain=domain, nice=False), axis=alt.Axis(format="%", tickCount=4))
    tips = [tip("juror:N", "juror"), until, tip("items:Q", "items", ","), tip("score:Q", "right", PERCENT)]
    tips += [tip("low:Q", "at least", PERCENT), tip("high:Q", "at most", PERCENT)]
    encoded = alt.Chart().transform_filter("datum.kind == 'score'")
    band = encoded.mark_area(color=base.BLUE, opacity=0.22).encode(
        x=x, y=alt.Y("low:Q", title=None), y2=alt.Y2("high:Q")
    )
    line = encoded.mark_line(color=base.BLUE, point=alt.OverlayMarkDef(size=22, color=base.BLUE)).encode(
        x=x, y=y, tooltip=tips
    )
    rule = alt.Chart().transform_filter("datum.kind == 'alarm'").mark_rule(color=base.ORANGE, strokeWidth=2)
    rule = rule.encode(x=x, tooltip=[tip("message:N", "alarm")])
    names = [short[juror] for juror in shown]
    layered = alt.layer(
        band, line, rule, data=data(base.placed(rows, "juror", names) + base.placed(marks, "juror", names))
    )
    layered = layered.properties(width=width / columns - _ROOM, height=height)
    panels = layered.facet(alt.Facet("juror:N", title=None, sort=base.by_place()), columns=columns).properties(
        spacing=14
    )
    return finish(panels, "How accurate each juror is over time", about)


# -- reliability of numbers --

_FORM = ".2f"


def reliability(
    result: NumberGrades | NumberScores | Evaluation | KeyedEvaluation, *, width: float = 420,
    height: float | None = None,
) -> Chart:  # fmt: skip
    """The reliability of each juror who answers in numbers; of labels, how often votes of each confidence are right.

    Of numbers, it is the squared correlation with the truth, from 0 to 1, with intervals, the best first, and by the
    key of a score. The axis grows past [0, 1] when an estimate lies outside: that is an alarm, and it must be visible.
    Of labels with a confidence, it is the reliability diagram: a juror below the line is surer than it may be.

    Returns
    -------
    altair chart
    """
    check_result(result, (NumberGrades, NumberScores, Evaluation, KeyedEvaluation), "reliabilities")
    if isinstance(result, Evaluation | KeyedEvaluation):
        return _reliability_diagram(result, width, height)
    grades = result if isinstance(result, NumberGrades) else result.grades
    if grades is None:
        raise SketchError("nothing is estimated without the key, so there are no reliabilities to draw")
    actual = result.by_key.reliability if isinstance(result, NumberScores) else None
    rows: list[Row] = []
    names = list(short_names(grades.jurors).values())
    for k, juror in enumerate(names):
        row: Row = {"juror": juror} if actual is None else {"juror": juror, "actual": number(actual[k])}
        low, high = (number(end) for end in grades.reliability_ends[k])
        text = "none" if low is None or high is None else f"{low:.2f} – {high:.2f}"
        row |= {"value": number(grades.reliability[k]), "value_low": low, "value_high": high}
        rows.append(row | {"value_interval": text})
    best = np.argsort(-np.nan_to_num(grades.reliability, nan=-np.inf), kind="stable")
    step = max(5.0, min(20.0, _MAX_HEIGHT / len(rows)))
    y = _name_axis("juror", [names[k] for k in best], step)
    tips = [tip("juror:N", "juror"), tip("value:Q", "reliability", _FORM), tip("value_interval:N", "interval")]
    tips += [tip("actual:Q", "by the key", _FORM)] * (actual is not None)
    layers = base.dot_layers(rows, y, "reliability", tips, form=_FORM, ticks=6)
    tall = step * len(rows) if height is None else height
    chart = alt.layer(*layers, data=data(rows)).properties(width=width, height=tall)
    # in short lines, since a browser may write them wider than they were measured
    about = [f"{count_noun(len(grades.jurors), 'juror')}, {count_noun(grades.items, 'item')}"]
    about[0] += f"; {grades.level * 100:g}% intervals"
    if unknown := int(np.isnan(grades.reliability).sum()):
        about.append(f"{count_noun(unknown, 'juror')} without a grade")
    about += ["Crosses: actual, by the answer key"] * (actual is not None)
    return finish(chart, "How reliable each juror is", about)


def _reliability_diagram(result: Evaluation | KeyedEvaluation, width: float, height: float | None) -> Chart:
    """Draw how often each juror's votes of each confidence are right; of many jurors, those with the most votes."""
    graded = sorted((result.confidence or {}).items(), key=lambda pair: -pair[1].votes)
    shown = [name for name, _ in graded[: len(base.PALETTE)]]
    if not shown:
        raise SketchError("no juror has 30 votes with a confidence, so there is no reliability diagram to draw")
    rows: list[Row] = [
        {"juror": name, "confidence": b.confidence, "right": b.right, "votes": b.votes}
        for name, of_juror in graded[: len(base.PALETTE)]
        for b in of_juror.bins
    ]
    domain = [min([0.5, *(min(row["confidence"], row["right"]) for row in rows)]) - 0.02, 1.02]
    scale = alt.Scale(domain=domain, nice=False, zero=False)
    colour = alt.Color("juror:N", scale=alt.Scale(domain=shown, range=list(base.PALETTE[: len(shown)]))).legend(
        title=None
    )
    tips = [tip("juror:N", "juror"), tip("confidence:Q", "confidence", PERCENT), tip("right:Q", "right", PERCENT)]
    encoded = alt.Chart(data(rows)).encode(
        x=alt.X("confidence:Q", title="confidence", scale=scale).axis(format="%", tickCount=6),
        y=alt.Y("right:Q", title="right", scale=scale).axis(format="%", tickCount=6),
        color=colour, tooltip=[*tips, tip("votes:Q", "votes")],
    )  # fmt: skip
    ends = alt.Chart(data([{"confidence": x, "right": x} for x in (max(domain[0], 0.0), 1.0)]))
    line = ends.mark_line(style="ink", strokeDash=[5, 4], strokeWidth=1.2)
    points = encoded.mark_point(filled=True, opacity=0.9).encode(size=alt.Size("votes:Q", legend=None))
    chart = alt.layer(line.encode(x="confidence:Q", y="right:Q"), encoded.mark_line(strokeWidth=1.5), points)
    by = {"panel": "right by the other jurors", "gold": "right by the others and gold items", "key": "right by the key"}
    about = [by[graded[0][1].by]]
    if len(graded) > len(shown):
        about.append(f"The {len(shown)} of {len(graded):,} jurors with the most votes")
    chart = chart.properties(width=width, height=width if height is None else height)
    return finish(chart, "How often votes are right, by the juror's confidence", about)


# -- the systems under test, by tier --

_COLOURS = {"may be the best": base.BLUE, "settled as worse": base.ORANGE, "too few items": base.GREY}


def systems(result: SystemComparison, *, width: float = 420, height: float | None = None) -> Chart:
    """Each system's rate with its interval and its possible ranks, best first; a cross is the raw rate.

    Lines separate the tiers.

    Returns
    -------
    altair chart
    """
    check_result(result, (SystemComparison,), "systems")
    is_rate = result.good is not None
    rows: list[Row] = []
    for name, x in result.systems.items():
        place = "too few items" if x.best_rank is None else "may be the best"
        row: Row = {"system": name, "value": x.rate, "low": x.low, "high": x.high, "raw": x.raw, "items": x.items}
        row |= {"place": place if x.best_rank in (None, 1) else "settled as worse", "rank": rank_text(x)}
        row["shown"], row["raw_shown"] = (percent(v) if is_rate else f"{v:.2f}" for v in (x.rate, x.raw))
        row["interval"] = percent_range((x.low, x.high)) if is_rate else f"{x.low:.2f} – {x.high:.2f}"
        rows.append(row)
    ends = [row[name] for row in rows for name in ("low", "high", "value", "raw")]
    domain = base.grow_domain(*ends) if is_rate else [min(ends), max(ends)]
    title = f"rate of {result.good}" if is_rate else "mean level"
    axis = alt.X("value:Q", title=title, scale=alt.Scale(domain=domain, nice=False, zero=False))
    axis = axis.axis(format="%" if is_rate else ".1f", tickCount=6)
    step = max(5.0, min(22.0, _MAX_HEIGHT / len(rows)))
    y = _name_axis("system", list(result.systems), step)
    places = [place for place in _COLOURS if any(row["place"] == place for row in rows)]
    scale = alt.Scale(domain=places, range=[_COLOURS[place] for place in places])
    legend = alt.Legend(title=None, orient="bottom") if len(places) > 1 else None
    tips = [
        tip("system:N", "system"), tip("shown:N", title), tip("interval:N", f"{result.level * 100:g}%"),
        tip("raw_shown:N", "raw"), tip("items:Q", "items", ","), tip("rank:N", "rank"),
    ]  # fmt: skip
    encoded = alt.Chart().encode(y=y, x=axis, tooltip=tips, color=alt.Color("place:N", scale=scale, legend=legend))
    layers = [
        encoded.mark_rule(strokeWidth=3, opacity=0.6).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")),
        encoded.mark_point(shape="cross", filled=True, size=45).encode(x=alt.X("raw:Q"), color=alt.value(base.GREY)),
        encoded.mark_point(filled=True, size=60, opacity=1),
    ]
    if step >= 9:
        text = alt.Chart().mark_text(align="left", baseline="middle", dx=6)
        layers.append(text.encode(y=y, text=alt.Text("rank:N"), x=alt.value(width)))
    last_of_tiers = [tier[-1] for tier in result.ranking[:-1]]
    if last_of_tiers:
        rule = alt.Chart(data([{"system": name} for name in last_of_tiers])).mark_rule(style="ink", strokeOpacity=0.5)
        layers.append(rule.encode(y=alt.Y("system:N", bandPosition=1)))
    tall = step * len(rows) if height is None else height
    chart = alt.layer(*layers, data=data(rows)).properties(width=width, height=tall)
    about = [
        f"{count_noun(result.judges, 'judge')}; {result.level * 100:g}% intervals; on the right, possible ranks",
        "Crosses: raw rates by majority" if is_rate else "Crosses: means of the votes",
    ]
    return finish(chart, "How good each system is", about)


def leanings(result: SystemComparison, *, width: float = 420, height: float | None = None) -> Chart:
    """By how much each judge's rate of the good label changes with each covariate, at equal truth, with its interval.

    Returns
    -------
    altair chart
    """
    check_result(result, (SystemComparison,), "leanings")
    if not result.leanings:
        raise SketchError("no covariate was tested, so there are no leanings to draw; name one with covariate=")
    rows: list[Row] = [
        {"judge": x.judge or "all", "covariate": f"{x.covariate} {x.contrast}", "value": x.slope, "low": x.low,
         "high": x.high, "p": x.p, "found": "beyond chance" if x.found else "may be chance"}
        for x in result.leanings
    ]  # fmt: skip
    judges, covariates = (list(dict.fromkeys(row[name] for row in rows)) for name in ("judge", "covariate"))
    step = max(5.0, min(22.0, _MAX_HEIGHT / len(rows)))
    found = alt.Scale(domain=["beyond chance", "may be chance"], range=[base.ORANGE, base.BLUE])
    ends = [tip(f"{name}:Q", name, "+.1%") for name in ("low", "high")]
    encoded = alt.Chart().encode(
        x=alt.X("value:Q", title="change of the rate of the good label").axis(format="+%", tickCount=6),
        y=_name_axis("judge", judges, step), color=alt.Color("found:N", scale=found).legend(title=None),
        tooltip=[tip("judge:N", "judge"), tip("value:Q", "change", "+.1%"), *ends, tip("p:Q", "p", ".3f")],
    )  # fmt: skip
    zero = alt.Chart(data([{"zero": 0}])).mark_rule(style="ink", strokeOpacity=0.5).encode(x=alt.X("zero:Q"))
    bars = encoded.mark_rule(strokeWidth=3, opacity=0.6).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"))
    layers = zero, bars, encoded.mark_point(filled=True, size=60, opacity=1)
    placed = data(base.placed(rows, "covariate", covariates))
    tall = step * len(judges) if height is None else height
    chart = alt.layer(*layers, data=placed).properties(width=width, height=tall)
    chart = chart.facet(row=alt.Row("covariate:N", sort=base.by_place(), title=None))
    beside = "the truth of gold items" if result.leanings[0].by == "gold" else "the other judges"
    about = [f"{result.level * 100:g}% intervals, beside {beside}; the test allows for their number"]
    return finish(chart, "Which way judges lean, at equal truth", about)
