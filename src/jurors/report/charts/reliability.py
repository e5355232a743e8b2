"""How far each juror's numbers can be relied on."""

from __future__ import annotations

from typing import Any

import numpy as np

from jurors.errors import SketchError
from jurors.evaluate.card import REAL
from jurors.numbers.arrays import Floats
from jurors.report.charts.dots import dot_layers
from jurors.report.charts.numbers import number
from jurors.report.charts.theme import Chart, Row, altair, counted, data, finish, ordered, wanted
from jurors.values import NumberGrades, NumberScores

_TALLEST = 900
_FORM = ".2f"


def reliability(result: NumberGrades | NumberScores, *, width: float = 420, height: float | None = None) -> Chart:
    """The reliability of each juror who answers in numbers, the best first, with intervals, and by the key of a score.

    Reliability is the squared correlation with the truth: 0 tells nothing, 1 all. The axis grows past [0, 1] when an
    estimate lies outside: that is an alarm, and it must be seen.
    """
    wanted(result, (NumberGrades, NumberScores), "reliabilities")
    grades = result if isinstance(result, NumberGrades) else result.grades
    if grades is None:
        raise SketchError("nothing is estimated without the key, so there are no reliabilities to draw")
    alt = altair()
    rows = _rows(grades, result.by_key.reliability if isinstance(result, NumberScores) else None)
    best = np.argsort(-np.nan_to_num(grades.calibrated_reliability, nan=-np.inf), kind="stable")
    step = max(5.0, min(20.0, _TALLEST / len(rows)))
    y = alt.Y("juror:N", scale=ordered(grades.jurors[k] for k in best), title=None)
    y = y.axis(grid=True, labels=step >= 9, ticks=False, domain=False)
    layers = dot_layers(rows, y, "reliability", _tooltip(rows), form=_FORM, ticks=6)
    tall = step * len(rows) if height is None else height
    chart = alt.layer(*layers, data=data(rows)).properties(width=width, height=tall)
    return finish(chart, "How far each juror's numbers can be relied on", _about(grades, result))


def _rows(grades: NumberGrades, actual: Floats | None) -> list[Row]:
    rows = []
    for k, juror in enumerate(grades.jurors):
        row: Row = {"juror": juror} if actual is None else {"juror": juror, "actual": number(actual[k])}
        for name, of in (("value", "calibrated_reliability"), ("plain", "reliability")):
            low, high = (number(end) for end in getattr(grades, f"{of}_ends")[k])
            shown = "none" if low is None or high is None else f"{low:.2f} – {high:.2f}"
            row |= {name: number(getattr(grades, of)[k]), f"{name}_low": low, f"{name}_high": high}
            row[f"{name}_interval"] = shown
        rows.append(row)
    return rows


def _tooltip(rows: list[Row]) -> list[Any]:
    alt = altair()
    shown = [alt.Tooltip("juror:N", title="juror"), alt.Tooltip("value:Q", title=REAL, format=_FORM)]
    shown += [alt.Tooltip("value_interval:N", title="interval")]
    shown += [alt.Tooltip("plain:Q", title="if independent", format=_FORM)]
    shown += [alt.Tooltip("plain_interval:N", title="interval, if independent")]
    return shown + [alt.Tooltip("actual:Q", title="by the key", format=_FORM)] * ("actual" in rows[0])


def _about(grades: NumberGrades, result: NumberGrades | NumberScores) -> list[str]:
    """Whom and what it shows; in short lines, since a browser may write them wider than they were measured."""
    lines = [
        f"{counted(len(grades.jurors), 'juror')}, {counted(grades.items, 'item')}; {grades.level * 100:g}% intervals",
        f"Filled points, thick bars: {REAL}",
        "Hollow points, thin lines: if errors were independent",
    ]
    if unknown := int(np.isnan(grades.calibrated_reliability).sum()):
        lines.append(f"{counted(unknown, 'juror')} without a grade")
    return lines + ["Crosses are the actual, by the answer key"] * isinstance(result, NumberScores)
