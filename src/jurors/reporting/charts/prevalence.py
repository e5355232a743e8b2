"""How common each label is by each method, and how well that is known.

Guaranteed bounds of prevalences and accuracies, and the plan of a jury.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jurors.errors import SketchError
from jurors.evaluate.card import percent
from jurors.evaluate.evaluation import Evaluation, KeyedEvaluation
from jurors.jury.compare import Comparison
from jurors.reporting.charts.base import (
    BLUE,
    GREY,
    ORANGE,
    PALETTE,
    PERCENT,
    Chart,
    Row,
    alt,
    by_place,
    check_result,
    data,
    finish,
    grow_domain,
    number,
    ordered,
    placed,
    selected,
    share_cells,
    shorten_name,
    tip,
)
from jurors.results import count_noun
from jurors.uncertainty.bounds_robust import correlation_curve


def prevalence(
    result: Comparison | Evaluation, truth: KeyedEvaluation | None = None, *, width: float = 420,
    height: float | None = None,
) -> Chart:  # fmt: skip
    """How common each label is by each method, beside majority vote; with a key, the truth is a rule across.

    Returns
    -------
    altair chart
    """
    check_result(result, (Comparison, Evaluation), "prevalences")
    if isinstance(result, Comparison):
        evaluations, truth = result.evaluations, truth or result.truth
    else:
        evaluations = (result,)
    rows = _rows(evaluations)
    if not rows:
        raise SketchError("no method finds a real solution for these votes, so there is no prevalence to draw")
    first = evaluations[0]
    if first.exam:
        raise SketchError("the choices of an exam mean nothing across questions, so their prevalences do neither")
    shares = {} if truth is None else truth.solution.to_float().prevalence
    actual = [{"label": str(a), "share": number(p), "text": f"actual {percent(p)}"} for a, p in shares.items()]
    interval = "no intervals"
    if known := [e for e in evaluations if e.interval is not None]:
        bars, more = "s are" if len(known[0].labels) > 2 else " is", f" of {known[0].method}" * (len(evaluations) > 1)
        interval = f"bar{bars} the {known[0].level * 100:g}% interval{more}"
    about = [f"{count_noun(len(first.jurors), 'juror')}, {count_noun(first.items, 'item')}; {interval}"]
    if len(first.labels) == 2:
        a, b = (shorten_name(label) for label in first.labels)
        chart = _two_labels(rows, actual, str(first.labels[0]), (width, height))
        return finish(chart, f"How common {a} is (all other items are {b})", about)
    names = [str(label) for label in first.labels]
    about += ["Vertical lines: actual, by the answer key"] * bool(actual)
    return finish(_many_labels(rows, actual, names, (width, height)), "How common each label is", about)


def _rows(evaluations: tuple[Evaluation, ...]) -> list[Row]:
    rows: list[Row] = []
    for e in evaluations:
        if not e.has_grades:
            continue
        for label in e.prevalence:
            row = {"method": e.method, "label": str(label)}
            rows.append(row | share_cells("share", e, "prevalence", label))
    majority = next((e.majority for e in evaluations if e.majority is not None), None)
    if majority is not None and all(e.method != "majority" for e in evaluations):
        rows += [
            {"method": "majority", "label": str(a)} | share_cells("share", majority, "prevalence", a)
            for a in majority.prevalence
        ]
    return rows


def _scale(rows: list[Row], *, zero_to_one: bool) -> Any:
    values = [row[name] for row in rows for name in ("share", "share_low", "share_high") if row.get(name) is not None]
    if zero_to_one or min(values) < 0 or max(values) > 1:
        return alt.Scale(domain=grow_domain(*values), nice=False)
    return alt.Scale(zero=False, nice=True)


def _tooltip() -> list[Any]:
    return [
        tip("method:N", "method"),
        tip("label:N", "label"),
        tip("share:Q", "prevalence", PERCENT),
        tip("share_interval:N", "interval"),
    ]


def _two_labels(rows: list[Row], actual: list[Row], label: str, size: tuple[float, float | None]) -> Chart:
    rows = [row for row in rows if row["label"] == label]
    actual = [row for row in actual if row["label"] == label]
    methods = [row["method"] for row in rows]
    axis = alt.X(
        "share:Q", title=f"share of items that are {shorten_name(label)}", scale=_scale(rows, zero_to_one=True)
    )
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
        tips = [tip("text:N", "answer key")]
        rule = alt.Chart(data(actual)).mark_rule(color=ORANGE, strokeWidth=2).encode(x=alt.X("share:Q"), tooltip=tips)
        word = alt.Chart(data(actual)).mark_text(color=ORANGE, dy=-7, baseline="bottom", fontWeight="bold")
        layers += [rule, word.encode(x=alt.X("share:Q"), y=alt.value(0), text=alt.Text("text:N"), tooltip=tips)]
    tall = size[1] if size[1] is not None else 26 * len(methods) + 10
    return alt.layer(*layers).properties(width=size[0], height=tall)


def _many_labels(rows: list[Row], actual: list[Row], labels: list[str], size: tuple[float, float | None]) -> Chart:
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
        tips = [tip("label:N", "label"), tip("text:N", "answer key")]
        tick = alt.Chart(data(actual)).mark_tick(style="ink", thickness=2.5, size=tall / len(labels) * 0.85)
        layers += [tick.encode(x=alt.X("share:Q"), y=alt.Y("label:N", scale=ordered(labels)), tooltip=tips)]
    return alt.layer(*layers).properties(width=size[0], height=tall)


# -- guaranteed bounds: how they widen with the error correlation --

_PREVALENCE = "prevalence"
_CURVE = ("correlation", "outcome", "statistic", "juror", "label", "low", "high")
_MAX_CURVED = 6  # jurors


def bounds(
    result: Mapping[str, Any] | Evaluation, *, jurors: Sequence[str] | None = None, width: float = 480,
    height: float | None = None,
) -> Chart:  # fmt: skip
    """Between which numbers every prevalence and accuracy must lie, whatever the answer key is.

    Against the error correlation ε that is feared, for the prevalence and for these jurors, or the first six: of a
    curve (`theory.correlation_curve`), or of an Evaluation, whose curve is computed.

    Returns
    -------
    altair chart
    """
    if isinstance(result, Evaluation):
        if result.sketch is None:
            raise SketchError("this evaluation was not made from a sketch, so its bounds are not known")
        result = correlation_curve(result.sketch)
    check_result(result, (Mapping, Evaluation), "bounds")
    if not set(_CURVE) <= set(result):
        raise SketchError("a curve of bounds has the columns of theory.correlation_curve, this mapping has others")
    columns = {name: result[name].tolist() for name in _CURVE}
    everyone = list(dict.fromkeys(j for j in columns["juror"] if j is not None))
    shown = [everyone[k] for k in selected(everyone, jurors, _MAX_CURVED)]
    labels = list(dict.fromkeys(map(str, columns["label"])))
    rows: list[Row] = []
    for correlation, outcome, statistic, juror, label, low, high in zip(*columns.values(), strict=True):
        if juror in shown if statistic == "accuracy" else str(label) == labels[0]:
            panel = _PREVALENCE if juror is None else juror
            row = {"correlation": correlation, "outcome": str(outcome).replace("_", " "), "panel": panel}
            rows.append(row | {"label": str(label), "low": number(low), "high": number(high)})
    panels = [_PREVALENCE, *shown]
    across = min(len(panels), 4)
    tips = [tip("panel:N", "of"), tip("label:N", "label")]
    tips += [tip("correlation:Q", "if no correlation exceeds", ".4f")]
    tips += [tip("low:Q", "at least", ".1%"), tip("high:Q", "at most", ".1%")]
    tips += [tip("outcome:N", "outcome")]
    colour = alt.Color("label:N", scale=ordered(labels, range=[BLUE, ORANGE]), title=None)
    base = alt.Chart().encode(
        x=alt.X("correlation:Q", title="error correlation ε").axis(tickCount=2, grid=False, format="~g"),
        y=alt.Y("low:Q", title=None, scale=alt.Scale(domain=[0, 1])).axis(format="%", tickCount=4),
        color=colour.legend(orient="top"), tooltip=tips,
    )  # fmt: skip
    # Bounds widen with ε, so up to the next ε the next bounds hold: steps, not slopes, are what is guaranteed.
    area = base.mark_area(opacity=0.25, interpolate="step-before").encode(y2=alt.Y2("high:Q"))
    line = base.mark_line(strokeWidth=1.4, interpolate="step-before", point={"size": 12, "filled": True})
    edges = [line.encode(y=alt.Y(f"{end}:Q", title=None)) for end in ("low", "high")]
    chart = alt.layer(area, *edges, data=data(placed(rows, "panel", panels)))
    chart = chart.properties(width=max(90.0, width / min(across, 3) - 20), height=130 if height is None else height)
    chart = chart.facet(facet=alt.Facet("panel:N", sort=by_place(), title=None), columns=across)
    about = ["The truth lies inside each band if no error correlation of two or three jurors exceeds ε"]
    if len(shown) < len(everyone):
        about.append(f"{len(shown)} of {count_noun(len(everyone), 'juror')} shown")
    return finish(chart, "Guaranteed bounds, if error correlations are at most ε", about)


# -- the plan of a jury: half widths over items, one line per size of jury --

_TICKS = [step * 10**k for k in range(2, 13) for step in (1, 2, 5)]
_WIDTHS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]


def plan(planned: Any) -> Chart:
    """The ± of the weakest accuracy over the items of the test, one line per number of jurors (a `Plan`).

    Returns
    -------
    altair chart
    """
    sizes = [jurors for jurors, _, _ in planned.curves]
    values = [
        {"jurors": str(jurors), "items": q, "width": w}
        for jurors, items, widths in planned.curves
        for q, w in zip(items, widths, strict=True)
    ]
    colours = alt.Scale(domain=[str(n) for n in sizes], range=[PALETTE[k % len(PALETTE)] for k in range(len(sizes))])
    lines = (
        alt.Chart(alt.Data(values=values))
        .mark_line(point={"size": 22, "opacity": 0}, strokeWidth=2)
        .encode(
            x=alt.X("items:Q", scale=alt.Scale(type="log", nice=False), title="items",
                    axis=alt.Axis(format="~s", values=_TICKS)),
            y=alt.Y("width:Q", scale=alt.Scale(type="log", nice=False), title="weakest accuracy known to ±",
                    axis=alt.Axis(format="~%", values=_WIDTHS)),
            color=alt.Color("jurors:N", scale=colours, sort=[str(n) for n in sizes], title="jurors"),
            tooltip=[
                tip("jurors:N", "jurors"),
                tip("items:Q", "items", ","),
                tip("width:Q", "known to ±", ".2%"),
            ],
        )
    )  # fmt: skip
    target = (
        alt.Chart(alt.Data(values=[{"width": planned.width}]))
        .mark_rule(color=GREY, strokeWidth=1.5, strokeDash=[6, 4])
        .encode(y=alt.Y("width:Q"), tooltip=[tip("width:Q", "asked for: ±", ".2%")])
    )
    needed = ", ".join(
        f"{row.jurors} jurors: {'never' if row.items is None else f'{row.items:,}'}" for row in planned.rows
    )
    subtitle = [
        f"items for ±{planned.width:g} (dashed) – {needed}",
        "for independent errors; more items do not remove the bias of correlated errors",
    ]
    return finish((lines + target).properties(width=460, height=300), "How many items a jury needs", subtitle)
