"""How common each label is: by method, with intervals, and the truth as a rule where there is a key."""

from __future__ import annotations

from typing import Any

from jurors.errors import SketchError
from jurors.evaluate import Evaluation, KeyedEvaluation
from jurors.evaluate.card import percent
from jurors.jury import Comparison
from jurors.report.charts.numbers import ends_row, number
from jurors.report.charts.theme import (
    BLUE,
    ORANGE,
    PALETTE,
    PERCENT,
    Chart,
    Row,
    altair,
    counted,
    data,
    finish,
    grown,
    ordered,
    shortened,
    wanted,
)


def prevalence(
    result: Comparison | Evaluation, truth: KeyedEvaluation | None = None, *, width: float = 420,
    height: float | None = None,
) -> Chart:  # fmt: skip
    """How common each label is by each method, beside majority vote; with a key, the truth is a rule across."""
    wanted(result, (Comparison, Evaluation), "prevalences")
    if isinstance(result, Comparison):
        evaluations, truth = result.evaluations, truth or result.truth
    else:
        evaluations = (result,)
    rows = _rows(evaluations)
    if not rows:
        raise SketchError("no method found a real evaluation of these counts, so there is no prevalence to draw")
    first = evaluations[0]
    if first.exam:
        raise SketchError("the choices of an exam mean nothing across questions, so their prevalences do neither")
    actual = _truth_rows(truth)
    about = [f"{counted(len(first.jurors), 'juror')}, {counted(first.items, 'item')}" + _sure(evaluations)]
    if len(first.labels) == 2:
        a, b = (shortened(label) for label in first.labels)
        chart = _two_labels(rows, actual, str(first.labels[0]), (width, height))
        return finish(chart, f"How common {a} is (all other items are {b})", about)
    names = [str(label) for label in first.labels]
    about += ["Upright lines: the truth, by the answer key"] * bool(actual)
    return finish(_many_labels(rows, actual, names, (width, height)), "How common each label is", about)


def _sure(evaluations: tuple[Evaluation, ...]) -> str:
    known = [e for e in evaluations if e.interval is not None]
    if not known:
        return "; no intervals"
    more = f" of {known[0].method}" if len(evaluations) > 1 else ""
    return f"; bar{'s are' if len(known[0].labels) > 2 else ' is'} the {known[0].level * 100:g}% interval{more}"


def _rows(evaluations: tuple[Evaluation, ...]) -> list[Row]:
    rows: list[Row] = []
    for e in evaluations:
        if e.solution is None:
            continue
        for label, share in e.solution.to_float().prevalence.items():
            row = {"method": e.method, "label": str(label), "share": number(share)}
            rows.append(row | ends_row("share", e.interval_of("prevalence", label)))
    majority = next((e.majority for e in evaluations if e.majority is not None), None)
    if majority is not None and all(e.method != "majority" for e in evaluations):
        shares = majority.to_float().prevalence
        rows += [
            {"method": "majority", "label": str(a), "share": number(p)} | ends_row("share", (float("nan"),) * 2)
            for a, p in shares.items()
        ]
    return rows


def _truth_rows(truth: KeyedEvaluation | None) -> list[Row]:
    if truth is None:
        return []
    shares = truth.solution.to_float().prevalence
    return [{"label": str(a), "share": number(p), "text": f"truth {percent(p)}"} for a, p in shares.items()]


def _scale(rows: list[Row], *, zero_to_one: bool) -> Any:
    alt = altair()
    values = [row[name] for row in rows for name in ("share", "share_low", "share_high") if row.get(name) is not None]
    if zero_to_one or min(values) < 0 or max(values) > 1:
        return alt.Scale(domain=grown(*values), nice=False)
    return alt.Scale(zero=False, nice=True)


def _tooltip() -> list[Any]:
    alt = altair()
    return [
        alt.Tooltip("method:N", title="method"),
        alt.Tooltip("label:N", title="label"),
        alt.Tooltip("share:Q", title="prevalence", format=PERCENT),
        alt.Tooltip("share_interval:N", title="interval"),
    ]


def _two_labels(rows: list[Row], actual: list[Row], label: str, size: tuple[float, float | None]) -> Chart:
    alt = altair()
    rows = [row for row in rows if row["label"] == label]
    actual = [row for row in actual if row["label"] == label]
    methods = [row["method"] for row in rows]
    axis = alt.X("share:Q", title=f"share of items that are {shortened(label)}", scale=_scale(rows, zero_to_one=True))
    axis = axis.axis(format="%", tickCount=6)
    base = alt.Chart(data(rows)).encode(
        x=axis, y=alt.Y("method:N", sort=methods, title=None).axis(grid=True, ticks=False, domain=False),
        tooltip=_tooltip(),
    )  # fmt: skip
    edges = alt.Chart(data([{"edge": 0}, {"edge": 1}])).mark_rule(style="ink", strokeOpacity=0.5)
    layers = [edges.encode(x=alt.X("edge:Q"))]
    layers += [
        base.mark_rule(strokeWidth=2.5, opacity=0.65, color=BLUE).encode(
            x=alt.X("share_low:Q"), x2=alt.X2("share_high:Q")
        )
    ]
    layers += [base.mark_point(filled=True, size=80, color=BLUE, opacity=1)]
    layers += [
        base.mark_text(align="left", dx=6).encode(x=alt.value(size[0]), text=alt.Text("share:Q", format=PERCENT))
    ]
    if actual:
        tip = [alt.Tooltip("text:N", title="answer key")]
        rule = alt.Chart(data(actual)).mark_rule(color=ORANGE, strokeWidth=2).encode(x=alt.X("share:Q"), tooltip=tip)
        word = alt.Chart(data(actual)).mark_text(color=ORANGE, dy=-7, baseline="bottom", fontWeight="bold")
        layers += [rule, word.encode(x=alt.X("share:Q"), y=alt.value(0), text=alt.Text("text:N"), tooltip=tip)]
    tall = size[1] if size[1] is not None else 26 * len(methods) + 10
    return alt.layer(*layers).properties(width=size[0], height=tall)


def _many_labels(rows: list[Row], actual: list[Row], labels: list[str], size: tuple[float, float | None]) -> Chart:
    alt = altair()
    methods = list(dict.fromkeys(row["method"] for row in rows))
    colours = [PALETTE[k % len(PALETTE)] for k in range(len(methods))]
    shapes = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "stroke"]
    shapes = [shapes[k % len(shapes)] for k in range(len(methods))]
    step = max(9.0 * len(methods), 18.0)
    tall = size[1] if size[1] is not None else step * len(labels)
    base = alt.Chart(data(rows)).encode(
        x=alt.X("share:Q", title="share of items", scale=_scale(rows + actual, zero_to_one=False)).axis(format="%"),
        y=alt.Y("label:N", scale=ordered(labels), title=None).axis(grid=True, ticks=False, domain=False),
        yOffset=alt.YOffset("method:N", sort=methods),
        color=alt.Color("method:N", scale=alt.Scale(domain=methods, range=colours)).legend(title="method"),
        tooltip=_tooltip(),
    )
    shape = alt.Shape("method:N", scale=alt.Scale(domain=methods, range=shapes)).legend(title="method")
    layers = [base.mark_rule(strokeWidth=2, opacity=0.65).encode(x=alt.X("share_low:Q"), x2=alt.X2("share_high:Q"))]
    layers += [base.mark_point(filled=True, size=45, opacity=1).encode(shape=shape)]
    if actual:
        tips = [alt.Tooltip("label:N", title="label"), alt.Tooltip("text:N", title="answer key")]
        tick = alt.Chart(data(actual)).mark_tick(style="ink", thickness=2.5, size=tall / len(labels) * 0.85)
        layers += [tick.encode(x=alt.X("share:Q"), y=alt.Y("label:N", scale=ordered(labels)), tooltip=tips)]
    return alt.layer(*layers).properties(width=size[0], height=tall)
