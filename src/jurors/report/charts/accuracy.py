"""How accurate the jurors are: the plane of two labels, dots with intervals or a heat map for more, both solutions.

Two labels make a plane with one axis per label, the unit square, and the line on which guessing lies (accuracies that
add up to 1). The two solutions of a trio are each other's reflection at that line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jurors.errors import SketchError
from jurors.evaluate.card import CALIBRATED, percent
from jurors.evaluate.evaluation import Evaluation, KeyedEvaluation
from jurors.report.charts.base import (
    BLUE,
    GREY,
    ORANGE,
    PERCENT,
    PINK,
    SEQUENTIAL,
    Chart,
    ChartGrades,
    Row,
    alt,
    by_place,
    check_result,
    data,
    dot_layers,
    ends_row,
    finish,
    grades_of,
    grow_domain,
    leading_grades,
    matched,
    name_layers,
    number,
    ordered,
    place_names,
    placed,
    shorten_name,
    tip,
)
from jurors.results import count_noun

# -- the accuracy plane of two labels --

BETTER, WORSE, OUTSIDE, ACTUAL = "better than a coin", "worse than a coin", "outside 0 – 100%", "actual (answer key)"
_MAX_BOTH = 12  # jurors whose two kinds of intervals fit one plane
_LOOKS = {
    BETTER: (BLUE, "circle"), WORSE: (ORANGE, "triangle-down"), OUTSIDE: (PINK, "diamond"), ACTUAL: (GREY, "cross"),
}  # fmt: skip


def juror_rows(grades: ChartGrades, truth: ChartGrades | None) -> list[Row]:
    """Make one row per juror whose accuracies on both labels exist.

    Returns
    -------
    list of dict
    """
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
            plain = grades.plain
            plain_x, plain_y = (number(value) for value in plain.accuracy[plain.jurors.index(juror)])
            row |= {"plain_x": plain_x, "plain_y": plain_y}
            row |= ends_row("plain_x", plain.ends("accuracy", juror, plain.labels[0]))
            row |= ends_row("plain_y", plain.ends("accuracy", juror, plain.labels[1]))
            if plain_x is not None and plain_y is not None and kind_of(plain_x, plain_y) == OUTSIDE:
                row["kind"] = OUTSIDE  # an alarm, which must be visible
        if truth is not None and juror in truth.jurors:
            at = truth.jurors.index(juror)
            row |= {"actual_x": number(truth.accuracy[at, 0]), "actual_y": number(truth.accuracy[at, 1])}
        rows.append(row)
    return rows


def kind_of(x: float, y: float) -> str:
    """Classify where a juror lies: outside the square is an alarm, below the line of guessing is worse than a coin.

    Returns
    -------
    str
        `BETTER`, `WORSE` or `OUTSIDE`.
    """
    if not (0 <= x <= 1 and 0 <= y <= 1):
        return OUTSIDE
    return BETTER if x + y >= 1 else WORSE


def background(domain: list[float]) -> Chart:
    """Draw the unit square and the line of guessing."""
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
    """Make the axes: accuracy on the first label to the right, on the second upwards."""

    def axis(channel: Any, field: str, label: Any) -> Any:
        title = f"accuracy on {shorten_name(label)}"
        return channel(f"{field}:Q", title=title, scale=alt.Scale(domain=domain, nice=False, zero=False)).axis(
            format="%", tickCount=6
        )

    return axis(alt.X, "x", labels[0]), axis(alt.Y, "y", labels[1])


def kind_encodings(kinds: Sequence[str]) -> dict[str, Any]:
    """Encode where a juror lies by colour and shape, with a legend for the kinds that occur."""
    shown = [kind for kind in _LOOKS if kind in kinds]
    legend = alt.Legend(title=None, orient="top", offset=4, columns=2) if shown != [BETTER] else None
    colours, shapes = [_LOOKS[k][0] for k in shown], [_LOOKS[k][1] for k in shown]
    return {
        "color": alt.Color("kind:N", scale=alt.Scale(domain=shown, range=colours), legend=legend),
        "shape": alt.Shape("kind:N", scale=alt.Scale(domain=shown, range=shapes), legend=legend),
    }


def plane_tooltip(labels: Sequence[Any], *, intervals: bool, actual: bool) -> list[Any]:
    """List the names and numbers of a juror."""
    a, b = (shorten_name(label, 30) for label in labels)
    shown = [tip("juror:N", "juror"), tip("x:Q", f"accuracy on {a}", PERCENT)]
    shown += [tip("x_interval:N", f"interval on {a}")] * intervals
    shown += [tip("actual_x:Q", f"actual on {a}", PERCENT)] * actual
    shown += [tip("y:Q", f"accuracy on {b}", PERCENT)]
    shown += [tip("y_interval:N", f"interval on {b}")] * intervals
    shown += [tip("actual_y:Q", f"actual on {b}", PERCENT)] * actual
    return [*shown, tip("score:Q", "score", PERCENT), tip("kind:N", "is")]


def accuracy_plane(grades: ChartGrades, truth: ChartGrades | None, size: tuple[float, float]) -> Chart:
    """Draw each juror at (accuracy on the first label, accuracy on the second), with intervals, beside the actual."""
    rows = juror_rows(grades, truth)
    names = ("x", "y", "x_low", "x_high", "y_low", "y_high", "actual_x", "actual_y", "plain_x", "plain_y")
    values = [row.get(name) for row in rows for name in names]
    domain = grow_domain(*values)
    # Closer up where no juror is near the lower corner; the line of guessing always stays in sight.
    least = min((value for value in values if value is not None), default=0.0)
    if start := max((edge for edge in (0.0, 0.1, 0.2, 0.3, 0.4) if least > edge + 0.03), default=None):
        domain = [start, domain[1]]
    x, y = axes(grades.labels, domain)
    intervals = any(row["x_low"] is not None for row in rows)
    faint = 0.7 if len(rows) <= 12 else 0.3 if len(rows) <= 60 else 0.12
    looks = kind_encodings([row["kind"] for row in rows] + [ACTUAL] * (truth is not None))
    base = alt.Chart(data(rows)).encode(
        x=x, y=y, tooltip=plane_tooltip(grades.labels, intervals=intervals, actual=truth is not None)
    )
    layers = [background(domain)]
    if intervals:
        softer = 1.0 if grades.plain is None else 0.4  # thick bars are fainter, so that thin ones are visible on them
        cross = base.mark_rule(strokeWidth=1.5 if grades.plain is None else 4, opacity=faint * softer)
        layers += [cross.encode(x=alt.X("x_low:Q"), x2=alt.X2("x_high:Q"), color=looks["color"])]
        layers += [cross.encode(y=alt.Y("y_low:Q"), y2=alt.Y2("y_high:Q"), color=looks["color"])]
    if grades.plain is not None:
        colour = looks["color"]
        if len(rows) <= _MAX_BOTH:
            thin = base.mark_rule(strokeWidth=1, opacity=0.9, clip=True)
            layers += [
                thin.encode(x=alt.X("plain_x_low:Q"), x2=alt.X2("plain_x_high:Q"), y=alt.Y("plain_y:Q"), color=colour)
            ]
            layers += [
                thin.encode(x=alt.X("plain_x:Q"), y=alt.Y("plain_y_low:Q"), y2=alt.Y2("plain_y_high:Q"), color=colour)
            ]
        hollow = base.mark_point(filled=False, size=45, opacity=0.9)
        layers += [hollow.encode(x=alt.X("plain_x:Q"), y=alt.Y("plain_y:Q"), color=colour)]
    if truth is not None:
        layers += [base.mark_rule(color=GREY, strokeWidth=1).encode(x2=alt.X2("actual_x:Q"), y2=alt.Y2("actual_y:Q"))]
        key = base.transform_calculate(kind=f"'{ACTUAL}'").mark_point(filled=True, size=60, opacity=0.9)
        layers += [key.encode(x=alt.X("actual_x:Q"), y=alt.Y("actual_y:Q"), **looks)]
    layers += [base.mark_point(filled=True, size=70 if len(rows) <= 60 else 34, opacity=0.95).encode(**looks)]
    layers += named_points(rows, domain, size)
    return alt.layer(*layers).properties(width=size[0], height=size[1])


def named_points(rows: Sequence[Row], domain: list[float], size: tuple[float, float]) -> list[Chart]:
    """Draw the names of the jurors; the worst, which a reader looks for, are placed first."""
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


# -- accuracies: the plane of two labels, dots and intervals for a few, a heat map for many --

_MAX_PANELS, _MAX_ROWS = 6, 45  # dots and intervals up to here, a heat map beyond
_MAX_HEIGHT = 900


def accuracy(
    evaluation: Evaluation | KeyedEvaluation,
    truth: KeyedEvaluation | None = None,
    *,
    width: float = 420,
    height: float | None = None,
) -> Chart:
    """How accurate each juror is on each label, with intervals, beside the actual where a key is given.

    Two labels make a plane, one axis per label; on the dashed line a juror knows no more than a coin. More labels make
    a dot and an interval for each juror and label, or a heat map where those are many. The axes grow past [0, 1] when
    an estimate lies outside: that is an alarm, and it must be visible.

    Returns
    -------
    altair chart
    """
    check_result(evaluation, (Evaluation, KeyedEvaluation), "accuracies")
    grades = leading_grades(evaluation)
    actual = None if truth is None else matched(grades_of(truth), grades)
    about = _about(evaluation)
    shorter, longer = sorted((len(grades.labels), len(grades.jurors)))
    is_heat = len(grades.labels) > 2 and not (shorter <= _MAX_PANELS and longer <= _MAX_ROWS)
    if grades.plain is not None and not is_heat:
        about += [
            "Filled points, thick bars: as real juries go",
            "Hollow points, thin lines: if errors were independent",
        ]
    crosses = ["Crosses are the actual, by the answer key"] * (truth is not None)
    if isinstance(evaluation, Evaluation) and evaluation.exam:
        chart = _dots(grades, actual, (width, height), scores_only=True)
        return finish(chart, "How often each juror is right", about + crosses)
    if len(grades.labels) == 2:
        rows = juror_rows(grades, actual)
        if left := len(grades.jurors) - len(rows):
            about.append(f"{count_noun(left, 'juror')} without an accuracy on both labels left out")
        if worse := [row["juror"] for row in rows if row["kind"] != BETTER]:
            about.append(f"{count_noun(len(worse), 'juror')} worse than a coin or outside 0 – 100%")
        chart = accuracy_plane(grades, actual, (width, width if height is None else height))
        return finish(chart, "How accurate each juror is on each label", about)
    title = "How accurate each juror is on each label"
    if is_heat:
        return finish(_heat(grades, actual, width, height), title, about)
    return finish(_dots(grades, actual, (width, height), scores_only=False), title, about + crosses)


def _about(result: Evaluation | KeyedEvaluation) -> list[str]:
    """Describe what is shown, in short lines, since a browser may write them wider than they were measured."""
    start = f"{count_noun(len(result.jurors), 'juror')}, {count_noun(result.items, 'item')}"
    if isinstance(result, KeyedEvaluation):
        return [f"{start}; against the answer key"]
    sure = f"Bars are {result.level * 100:g}% intervals" if result.leading.interval is not None else "No intervals"
    return [f"{start}; method {result.method}", sure + (f", {CALIBRATED}" if result.as_real is not None else "")]


def _rows(grades: ChartGrades, truth: ChartGrades | None, *, scores_only: bool = False) -> list[Row]:
    rows = []
    for k, juror in enumerate(grades.jurors):
        at = truth.jurors.index(juror) if truth is not None and juror in truth.jurors else None
        score = number(grades.score[k])
        if scores_only:
            actual = None if at is None or truth is None else number(truth.score[at])
            row = {"juror": juror, "label": "all items", "value": score, "actual": actual, "score": score}
            row |= _plain_row(grades.plain, "score", juror)
            rows.append(row | ends_row("value", grades.ends("score", juror)))
            continue
        for m, label in enumerate(grades.labels):
            row = {"juror": juror, "label": str(label), "value": number(grades.accuracy[k, m]), "score": score}
            if at is not None and truth is not None:
                row["actual"] = number(truth.accuracy[at, m])
            row |= _plain_row(grades.plain, "accuracy", juror, label)
            rows.append(row | ends_row("value", grades.ends("accuracy", juror, label)))
    return rows


def _plain_row(plain: ChartGrades | None, statistic: str, juror: str, label: Any = None) -> Row:
    """Make the cells of the same number if errors were independent."""
    if plain is None:
        return {}
    k = plain.jurors.index(juror)
    value = plain.score[k] if label is None else plain.accuracy[k, plain.labels.index(label)]
    names = (juror,) if label is None else (juror, label)
    return {"plain": number(value)} | ends_row("plain", plain.ends(statistic, *names))


def _by_score(grades: ChartGrades) -> list[str]:
    order = np.argsort(-np.nan_to_num(grades.score, nan=-np.inf), kind="stable")
    return [grades.jurors[k] for k in order]


def _tooltip(what: str, *, intervals: bool, actual: bool) -> list[Any]:
    shown = [tip("juror:N", "juror"), tip("label:N", "label")]
    shown += [tip("value:Q", what, PERCENT)]
    shown += [tip("value_interval:N", "interval")] * intervals
    shown += [tip("actual:Q", "actual", PERCENT)] * actual
    return [*shown, tip("score:Q", "score", PERCENT)]


def _dots(
    grades: ChartGrades, truth: ChartGrades | None, size: tuple[float, float | None], *, scores_only: bool
) -> Chart:
    """Draw a panel per label and a row per juror, or the other way round if the labels are many."""
    rows = _rows(grades, truth, scores_only=scores_only)
    jurors, labels = _by_score(grades), ["all items"] if scores_only else [str(a) for a in grades.labels]
    panels, lines = (("juror", jurors), ("label", labels)) if len(labels) > _MAX_PANELS else (
        ("label", labels), ("juror", jurors))  # fmt: skip
    step = max(5.0, min(20.0, _MAX_HEIGHT / len(lines[1])))
    tall = size[1] if size[1] is not None else step * len(lines[1])
    wide = size[0] if len(panels[1]) == 1 else max(70.0, (size[0] + 200) / len(panels[1]) - 12)
    y = alt.Y(f"{lines[0]}:N", scale=ordered(lines[1]), title=None)
    y = y.axis(grid=True, labels=step >= 9, ticks=False, domain=False)
    what = "score" if scores_only else "accuracy"
    intervals = any(row["value_low"] is not None for row in rows)
    tooltip = _tooltip(what, intervals=intervals, actual=truth is not None)
    layers = dot_layers(rows, y, what, tooltip, form="%", ticks=6 if len(panels[1]) == 1 else 3)
    layered = alt.layer(*layers, data=data(placed(rows, *panels))).properties(width=wide, height=tall)
    if len(panels[1]) == 1:
        return layered
    return layered.facet(column=alt.Column(f"{panels[0]}:N", sort=by_place(), title=None)).properties(spacing=24)


def _heat(grades: ChartGrades, truth: ChartGrades | None, width: float, height: float | None) -> Chart:
    rows = _rows(grades, truth)
    intervals = any(row["value_low"] is not None for row in rows)
    values = [row["value"] for row in rows if row["value"] is not None]
    domain = [min([0.5, *values]), max([1.0, *values])]
    tall = height if height is not None else min(_MAX_HEIGHT, max(14.0 * len(grades.jurors), 60))
    step = tall / len(grades.jurors)
    wide = max(width, 24.0 * len(grades.labels))
    title = None if step >= 9 else "jurors, the highest score on top"
    return (
        alt.Chart(data(rows))
        .mark_rect()
        .encode(
            x=alt.X("label:N", scale=ordered(grades.labels), title="true label").axis(
                labelAngle=-40, labelLimit=110
            ),
            y=alt.Y("juror:N", scale=ordered(_by_score(grades)), title=title).axis(labels=step >= 9, ticks=False),
            color=alt.Color("value:Q", title="accuracy", scale=alt.Scale(scheme=SEQUENTIAL, domain=domain)).legend(
                format="%"
            ),
            tooltip=_tooltip("accuracy", intervals=intervals, actual=truth is not None),
        )
        .properties(width=wide, height=tall)
    )  # fmt: skip


# -- the two solutions of a trio: each the other's reflection at the line of guessing --

_CHOSEN, _MIRROR = "chosen", "mirror"


def solutions(evaluation: Evaluation, *, width: float = 420, height: float | None = None) -> Chart:
    """Both evaluations that explain three jurors' counts: what one calls the first label, the other calls the second.

    An accuracy pair (a, b) becomes (1 - b, 1 - a), its reflection at the line of guessing; a prevalence p becomes
    1 - p.

    Returns
    -------
    altair chart
    """
    check_result(evaluation, (Evaluation,), "both solutions")
    jurors, labels = len(evaluation.jurors), len(evaluation.labels)
    if (jurors, labels) != (3, 2):
        raise SketchError(
            "the two solutions are those of three jurors and two labels; this panel has "
            f"{count_noun(jurors, 'juror')} "
            f"and {count_noun(labels, 'label')}"
        )
    if len(evaluation.solutions) != 2:
        there = "there is one" if len(evaluation.solutions) == 1 else f"there are {len(evaluation.solutions)}"
        raise SketchError(f"two solutions are found by the method 'algebraic'; by {evaluation.method!r} {there}")
    if not all(s.is_real for s in evaluation.solutions):
        raise SketchError(
            "both solutions of these counts are complex, so they have no place in the accuracy plane; "
            "`jurors grade --format json` has their numbers"
        )
    first, second = evaluation.labels
    by_name = dict(zip((_CHOSEN, _MIRROR), (solution.to_float() for solution in evaluation.solutions), strict=True))
    rows = [
        {"juror": j, "solution": name, "kind": name, "x": row[first], "y": row[second], "prevalence": s.prevalences[0]}
        for name, s in by_name.items()
        for j, row in s.accuracy.items()
    ]
    by_juror = [
        {"juror": a["juror"], "x": a["x"], "y": a["y"], "x2": b["x"], "y2": b["y"]}
        for a, b in zip(rows[:3], rows[3:], strict=True)
    ]
    domain = grow_domain(*(row[name] for row in rows for name in ("x", "y")))
    x, y = axes(evaluation.labels, domain)
    a, b = (shorten_name(label, 30) for label in evaluation.labels)
    legend = alt.Legend(title=None, orient="top", offset=4)
    kinds = [_CHOSEN, _MIRROR]
    colour = alt.Color("solution:N", scale=alt.Scale(domain=kinds, range=[BLUE, ORANGE]), legend=legend)
    shape = alt.Shape("solution:N", scale=alt.Scale(domain=kinds, range=["circle", "square"]), legend=legend)
    tips = [tip("juror:N", "juror"), tip("solution:N", "solution")]
    tips += [tip("x:Q", f"accuracy on {a}", PERCENT)]
    tips += [tip("y:Q", f"accuracy on {b}", PERCENT)]
    tips += [tip("prevalence:Q", f"prevalence of {a}", PERCENT)]
    links = (
        alt.Chart(data(by_juror))
        .mark_rule(color=GREY, strokeDash=[2, 3])
        .encode(x=x, y=y, x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"))
    )
    points = alt.Chart(data(rows)).mark_point(filled=True, size=80, opacity=1)
    points = points.encode(x=x, y=y, color=colour, shape=shape, tooltip=tips)
    size = (width, width if height is None else height)
    plane = alt.layer(background(domain), links, points, *named_points(rows, domain, size)).properties(
        width=size[0], height=size[1]
    )
    shares: list[Row] = [{"solution": name, "share": float(s.prevalence[first])} for name, s in by_name.items()]
    scale = alt.Scale(domain=grow_domain(*(row["share"] for row in shares)), nice=False)
    prevalence = alt.Chart(data(shares)).mark_point(filled=True, size=80, opacity=1).encode(
        x=alt.X("share:Q", title=f"prevalence of {a}", scale=scale).axis(format="%", tickCount=6),
        color=colour, shape=shape, tooltip=[alt.Tooltip("solution:N"), tip("share:Q", "prevalence", PERCENT)],
    )  # fmt: skip
    centre = alt.Chart(data([{"share": 0.5}])).mark_rule(style="ink", strokeDash=[5, 4]).encode(x=alt.X("share:Q"))
    strip = alt.layer(centre, prevalence).properties(width=width, height=34)
    about = [
        f"Chosen by: {evaluation.rule}.",
        f"Prevalence of {a}: {percent(shares[0]['share'])}, or {percent(shares[1]['share'])} in the mirror.",
    ]
    return finish(alt.vconcat(plane, strip, spacing=14), "The two solutions that explain the counts", about)
