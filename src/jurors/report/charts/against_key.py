"""Estimated against actual, where there is an answer key."""

from __future__ import annotations

import numpy as np

from jurors.errors import SketchError
from jurors.evaluate import Evaluation, KeyedEvaluation
from jurors.report.charts.numbers import ends_row, grades_of, leading_grades, number
from jurors.report.charts.theme import (
    PALETTE,
    PERCENT,
    Chart,
    Row,
    altair,
    counted,
    data,
    finish,
    grown,
    label_scale,
    wanted,
)

_SHAPES = {"accuracy": "circle", "prevalence": "diamond", "score": "square"}


def against_key(
    evaluation: Evaluation, keyed: KeyedEvaluation, *, width: float = 420, height: float | None = None
) -> Chart:
    """Every prevalence and accuracy (of an exam: every score) as estimated without the key, over what the key says."""
    wanted(evaluation, (Evaluation,), "estimates against a key")
    wanted(keyed, (KeyedEvaluation,), "actual numbers")
    alt = altair()
    rows = [row for row in _rows(evaluation, keyed) if row["value"] is not None and row["actual"] is not None]
    if not rows:
        raise SketchError("no juror or label of the evaluation is among those of the key")
    names = ("value", "value_low", "value_high", "actual")
    domain = grown(*(row[name] for row in rows for name in names))
    scale = alt.Scale(domain=domain, nice=False, zero=False)
    labels, colours = label_scale(evaluation.labels)
    many = len(labels) > len(PALETTE)
    colour = alt.Color("label:N", scale=alt.Scale(domain=labels, range=colours)).legend(title="label", symbolLimit=20)
    if evaluation.exam or many:
        colour = alt.value(PALETTE[0])
    statistics = [s for s in _SHAPES if any(row["statistic"] == s for row in rows)]
    shape = alt.Shape("statistic:N", scale=alt.Scale(domain=statistics, range=[_SHAPES[s] for s in statistics]))
    tips = [alt.Tooltip("statistic:N"), alt.Tooltip("juror:N", title="juror"), alt.Tooltip("label:N", title="label")]
    tips += [alt.Tooltip("value:Q", title="estimated", format=PERCENT)]
    tips += [alt.Tooltip("value_interval:N", title="interval"), alt.Tooltip("actual:Q", title="actual", format=PERCENT)]
    base = alt.Chart(data(rows)).encode(
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
    bars = base.mark_rule(strokeWidth=1.5, opacity=faint).encode(
        y=alt.Y("value_low:Q", title=None), y2=alt.Y2("value_high:Q")
    )
    points = base.mark_point(filled=True, opacity=0.9, size=60 if len(rows) <= 120 else 30)
    points = points.encode(shape=shape.legend(title=None) if len(statistics) > 1 else shape.legend(None))
    chart = alt.layer(square, line.encode(x=alt.X("actual:Q"), y=alt.Y("value:Q")), bars, points)
    chart = chart.properties(width=width, height=width if height is None else height)
    return finish(chart, "Estimated without the key, over what the key says", _about(rows, keyed))


def _rows(evaluation: Evaluation, keyed: KeyedEvaluation) -> list[Row]:
    grades, truth = leading_grades(evaluation), grades_of(keyed)
    shared = [j for j in grades.jurors if j in set(truth.jurors)]
    place, key = ({j: k for k, j in enumerate(g.jurors)} for g in (grades, truth))
    rows: list[Row] = []
    if evaluation.exam:
        for j in shared:
            row = {"statistic": "score", "juror": j, "label": "all", "value": number(grades.score[place[j]]),
                   "actual": number(truth.score[key[j]])}  # fmt: skip
            rows.append(row | ends_row("value", grades.ends("score", j)))
        return rows
    for m, label in enumerate(grades.labels):
        if label not in truth.labels:
            continue
        at = truth.labels.index(label)
        row = {"statistic": "prevalence", "juror": "–", "label": str(label), "value": number(grades.prevalence[m]),
               "actual": number(truth.prevalence[at])}  # fmt: skip
        rows.append(row | ends_row("value", grades.ends("prevalence", label)))
        for j in shared:
            value, actual = number(grades.accuracy[place[j], m]), number(truth.accuracy[key[j], at])
            row = {"statistic": "accuracy", "juror": j, "label": str(label), "value": value, "actual": actual}
            rows.append(row | ends_row("value", grades.ends("accuracy", j, label)))
    return rows


def _about(rows: list[Row], keyed: KeyedEvaluation) -> list[str]:
    errors = np.array([row["value"] - row["actual"] for row in rows])
    lines = [f"{counted(keyed.items, 'item')} with a true label; typical error (RMS) {np.sqrt((errors**2).mean()):.1%}"]
    known = [row for row in rows if row["value_low"] is not None]
    if known:
        held = sum(row["value_low"] <= row["actual"] <= row["value_high"] for row in known)
        lines.append(f"{held:,} of {len(known):,} intervals hold the actual number")
    return lines
