"""How accurate the jurors are: in the plane of two labels, as dots and intervals for a few, as a heat map for many."""

from __future__ import annotations

from typing import Any

import numpy as np

from jurors.evaluate import Evaluation, KeyedEvaluation
from jurors.evaluate.card import REAL
from jurors.report.charts.dots import dot_layers
from jurors.report.charts.numbers import Grades, ends_row, grades_of, leading_grades, matched, number
from jurors.report.charts.plane import BETTER, accuracy_plane, juror_rows
from jurors.report.charts.theme import (
    PERCENT,
    SEQUENTIAL,
    Chart,
    Row,
    altair,
    by_place,
    counted,
    data,
    finish,
    ordered,
    placed,
    wanted,
)

_MOST_PANELS, _MOST_ROWS = 6, 45  # dots and intervals up to here, a heat map beyond
_TALLEST = 900


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
    an estimate lies outside: that is an alarm, and it must be seen.
    """
    wanted(evaluation, (Evaluation, KeyedEvaluation), "accuracies")
    grades = leading_grades(evaluation)
    actual = None if truth is None else matched(grades_of(truth), grades)
    about = _about(evaluation)
    shorter, longer = sorted((len(grades.labels), len(grades.jurors)))
    is_heat = len(grades.labels) > 2 and not (shorter <= _MOST_PANELS and longer <= _MOST_ROWS)
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
            about.append(f"{counted(left, 'juror')} without an accuracy on both labels left out")
        if worse := [row["juror"] for row in rows if row["kind"] != BETTER]:
            about.append(f"{counted(len(worse), 'juror')} worse than a coin or outside 0 – 100%")
        chart = accuracy_plane(grades, actual, (width, width if height is None else height))
        return finish(chart, "How accurate each juror is on each label", about)
    if not is_heat:
        chart = _dots(grades, actual, (width, height), scores_only=False)
        return finish(chart, "How accurate each juror is on each label", about + crosses)
    return finish(_heat(grades, actual, width, height), "How accurate each juror is on each label", about)


def _about(result: Evaluation | KeyedEvaluation) -> list[str]:
    """Whom and what it shows; in short lines, since a browser may write them wider than they were measured."""
    start = f"{counted(len(result.jurors), 'juror')}, {counted(result.items, 'item')}"
    if isinstance(result, KeyedEvaluation):
        return [f"{start}; against the answer key"]
    sure = f"Bars are {result.level * 100:g}% intervals" if result.leading.interval is not None else "No intervals"
    return [f"{start}; method {result.method}", sure + (f", {REAL}" if result.as_real is not None else "")]


def _rows(grades: Grades, truth: Grades | None, *, scores_only: bool = False) -> list[Row]:
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


def _plain_row(plain: Grades | None, statistic: str, juror: str, label: Any = None) -> Row:
    """What independence would make of it."""
    if plain is None:
        return {}
    k = plain.jurors.index(juror)
    value = plain.score[k] if label is None else plain.accuracy[k, plain.labels.index(label)]
    names = (juror,) if label is None else (juror, label)
    return {"plain": number(value)} | ends_row("plain", plain.ends(statistic, *names))


def _by_score(grades: Grades) -> list[str]:
    order = np.argsort(-np.nan_to_num(grades.score, nan=-np.inf), kind="stable")
    return [grades.jurors[k] for k in order]


def _tooltip(what: str, *, intervals: bool, actual: bool) -> list[Any]:
    alt = altair()
    shown = [alt.Tooltip("juror:N", title="juror"), alt.Tooltip("label:N", title="label")]
    shown += [alt.Tooltip("value:Q", title=what, format=PERCENT)]
    shown += [alt.Tooltip("value_interval:N", title="interval")] * intervals
    shown += [alt.Tooltip("actual:Q", title="actual", format=PERCENT)] * actual
    return [*shown, alt.Tooltip("score:Q", title="score", format=PERCENT)]


def _dots(grades: Grades, truth: Grades | None, size: tuple[float, float | None], *, scores_only: bool) -> Chart:
    """A panel per label and a row per juror, or the other way round where the labels are more."""
    alt = altair()
    rows = _rows(grades, truth, scores_only=scores_only)
    jurors, labels = _by_score(grades), ["all items"] if scores_only else [str(a) for a in grades.labels]
    panels, lines = (("juror", jurors), ("label", labels)) if len(labels) > _MOST_PANELS else (
        ("label", labels), ("juror", jurors))  # fmt: skip
    step = max(5.0, min(20.0, _TALLEST / len(lines[1])))
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


def _heat(grades: Grades, truth: Grades | None, width: float, height: float | None) -> Chart:
    alt = altair()
    rows = _rows(grades, truth)
    intervals = any(row["value_low"] is not None for row in rows)
    values = [row["value"] for row in rows if row["value"] is not None]
    domain = [min([0.5, *values]), max([1.0, *values])]
    tall = height if height is not None else min(_TALLEST, max(14.0 * len(grades.jurors), 60))
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
