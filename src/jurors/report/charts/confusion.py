"""Who takes what for what: each juror's confusion matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jurors.errors import SketchError
from jurors.evaluate import Evaluation, KeyedEvaluation
from jurors.report.charts.numbers import grades_of, number, selected
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

_PRINTED = 6  # up to so many labels, the numbers stand in the cells


def confusion(
    evaluation: Evaluation | KeyedEvaluation,
    *,
    jurors: Sequence[str] | None = None,
    most: int = 12,
    width: float | None = None,
    height: float | None = None,
) -> Chart:
    """How often each juror says each label to items of each true label: these jurors, or the first `most`."""
    wanted(evaluation, (Evaluation, KeyedEvaluation), "confusion matrices")
    if isinstance(evaluation, Evaluation) and evaluation.exam:
        raise SketchError("the choices of an exam mean nothing across questions, so there is no confusion between them")
    alt = altair()
    grades_of(evaluation)  # says so where there is no real solution
    chosen = [evaluation.jurors[k] for k in selected(evaluation.jurors, jurors, most)]
    labels = [str(a) for a in evaluation.labels]
    rows = _rows(evaluation, chosen)
    cell = 44.0 if len(labels) <= 3 else 34.0 if len(labels) <= _PRINTED else max(11.0, 150 / len(labels))
    wide = cell * len(labels) if width is None else width
    tall = cell * len(labels) if height is None else height
    values = [row["share"] for row in rows if row["share"] is not None]
    domain = [min([0.0, *values]), max([1.0, *values])]
    tips = [alt.Tooltip("juror:N", title="juror"), alt.Tooltip("true:N", title="true label")]
    tips += [alt.Tooltip("said:N", title="says"), alt.Tooltip("share:Q", title="how often", format=PERCENT)]
    base = alt.Chart().encode(
        x=alt.X("said:N", scale=ordered(labels), title="says").axis(
            labelAngle=-40 if cell >= 20 else -90, labelLimit=70, ticks=False, domain=False
        ),
        y=alt.Y("true:N", scale=ordered(labels), title="true label").axis(labelLimit=70, ticks=False, domain=False),
        tooltip=tips,
    )
    scale = alt.Scale(scheme=SEQUENTIAL, domain=domain)
    layers = [base.mark_rect().encode(color=alt.Color("share:Q", title="how often", scale=scale).legend(format="%"))]
    if len(labels) <= _PRINTED:
        middle = (domain[0] + domain[1]) / 2
        ink = alt.condition(f"datum.share > {middle}", alt.value("#111111"), alt.value("#F5F5F5"))
        layers.append(base.mark_text(fontSize=10).encode(text=alt.Text("share:Q", format=".0%"), color=ink))
    chart = alt.layer(*layers, data=data(placed(rows, "juror", chosen))).properties(width=wide, height=tall)
    columns = max(1, min(len(chosen), int(760 / (wide + 30))))
    chart = chart.facet(facet=alt.Facet("juror:N", sort=by_place(), title=None), columns=columns)
    about = [f"{counted(evaluation.items, 'item')}; {_method(evaluation)}"]
    if len(chosen) < len(evaluation.jurors):
        about.append(f"{len(chosen)} of {counted(len(evaluation.jurors), 'juror')} shown")
    return finish(chart, "What each juror says to items of each true label", about)


def _method(result: Evaluation | KeyedEvaluation) -> str:
    return f"method {result.method}" if isinstance(result, Evaluation) else "against the answer key"


def _rows(result: Evaluation | KeyedEvaluation, chosen: Sequence[str]) -> list[Row]:
    solution: Any = result.solution
    tables = solution.to_float().confusion
    return [
        {"juror": j, "true": str(a), "said": str(b), "share": number(tables[j][a][b])}
        for j in chosen
        for a in result.labels
        for b in result.labels
    ]
