"""Guaranteed bounds: how they widen with the error correlation that is feared, or one set of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jurors.doubt import Bounds, correlation_curve
from jurors.errors import SketchError
from jurors.evaluate import Evaluation
from jurors.report.charts.numbers import number, selected
from jurors.report.charts.theme import (
    BLUE,
    Chart,
    Row,
    altair,
    by_place,
    counted,
    data,
    finish,
    label_scale,
    ordered,
    placed,
    shortened,
    wanted,
)

_PREVALENCE = "prevalence"
_MOST_BARS = 60


def bounds(
    result: Mapping[str, Any] | Bounds | Evaluation,
    *,
    jurors: Sequence[str] | None = None,
    most: int = 6,
    width: float = 480,
    height: float | None = None,
) -> Chart:
    """Between which numbers every prevalence and accuracy must lie, whatever the answer key is.

    Of a curve (`jurors.correlation_curve`, or an Evaluation, whose curve is computed): against the error correlation ε
    that is feared, for the prevalence and for these jurors, or the first `most`. Of `Bounds`: an interval each.
    """
    if isinstance(result, Bounds):
        return _one(result, selected(result.jurors, jurors, _MOST_BARS), (width, height))
    if isinstance(result, Evaluation):
        if result.sketch is None:
            raise SketchError("this evaluation was not made from a sketch, so its bounds are not known")
        result = correlation_curve(result.sketch)
    if not isinstance(result, Mapping):
        wanted(result, (Bounds, Evaluation), "bounds")
    if not {"correlation", "outcome", "statistic", "juror", "label", "low", "high"} <= set(result):
        raise SketchError("a curve of bounds has the columns of jurors.correlation_curve, this mapping has others")
    return _curve(result, jurors, most, (width, height))


def _curve(
    curve: Mapping[str, Any], jurors: Sequence[str] | None, most: int, size: tuple[float, float | None]
) -> Chart:
    alt = altair()
    everyone = list(dict.fromkeys(j for j in curve["juror"].tolist() if j is not None))
    shown = [everyone[k] for k in selected(everyone, jurors, most)]
    labels = list(dict.fromkeys(str(a) for a in curve["label"].tolist()))
    rows = _curve_rows(curve, set(shown), labels[0])
    panels = [_PREVALENCE, *shown]
    columns = min(len(panels), 4)
    wide = max(90.0, size[0] / min(columns, 3) - 20)
    tall = size[1] if size[1] is not None else 130
    scale = ordered(labels, range=[BLUE, "#D55E00"])
    tips = [alt.Tooltip("panel:N", title="of"), alt.Tooltip("label:N", title="label")]
    tips += [alt.Tooltip("correlation:Q", title="if no correlation exceeds", format=".4f")]
    tips += [alt.Tooltip("low:Q", title="at least", format=".1%"), alt.Tooltip("high:Q", title="at most", format=".1%")]
    tips += [alt.Tooltip("outcome:N", title="outcome")]
    base = alt.Chart().encode(
        x=alt.X("correlation:Q", title="error correlation ε").axis(tickCount=2, grid=False, format="~g"),
        y=alt.Y("low:Q", title=None, scale=alt.Scale(domain=[0, 1])).axis(format="%", tickCount=4),
        color=alt.Color("label:N", scale=scale, title=None).legend(orient="top"), tooltip=tips,
    )  # fmt: skip
    # Bounds widen with ε, so up to the next ε the next bounds hold: steps, not slopes, are what is guaranteed.
    area = base.mark_area(opacity=0.25, interpolate="step-before").encode(y2=alt.Y2("high:Q"))
    edges = [
        base.mark_line(strokeWidth=1.4, interpolate="step-before", point={"size": 12, "filled": True}).encode(
            y=alt.Y(f"{end}:Q", title=None)
        )
        for end in ("low", "high")
    ]
    chart = alt.layer(area, *edges, data=data(placed(rows, "panel", panels))).properties(width=wide, height=tall)
    chart = chart.facet(facet=alt.Facet("panel:N", sort=by_place(), title=None), columns=columns)
    about = ["Each pair of curves holds the truth if no error correlation of two or three jurors exceeds ε"]
    if len(shown) < len(everyone):
        about.append(f"{len(shown)} of {counted(len(everyone), 'juror')} shown")
    return finish(chart, "What is certain, if errors correlate by at most ε", about)


def _curve_rows(curve: Mapping[str, Any], shown: set[Any], first: str) -> list[Row]:
    rows = []
    columns = ("correlation", "outcome", "statistic", "juror", "label", "low", "high")
    for values in zip(*(curve[name].tolist() for name in columns), strict=True):
        correlation, outcome, statistic, juror, label, low, high = values
        if statistic == "accuracy" and juror not in shown:
            continue
        if statistic == "prevalence" and str(label) != first:
            continue
        panel = _PREVALENCE if juror is None else juror
        rows.append({"correlation": correlation, "outcome": str(outcome).replace("_", " "), "panel": panel,
                     "label": str(label), "low": number(low), "high": number(high)})  # fmt: skip
    return rows


def _one(bounds: Bounds, chosen: list[int], size: tuple[float, float | None]) -> Chart:
    alt = altair()
    if bounds.prevalence is None or bounds.accuracy is None:
        raise SketchError(f"no answer key agrees with what is assumed ({shortened(bounds.assumption, 120)})")
    names = [bounds.jurors[k] for k in chosen]
    ends = [(_PREVALENCE, a, e) for a, e in bounds.prevalence.items()]
    ends += [(j, a, e) for j in names for a, e in bounds.accuracy[j].items()]
    rows = [{"of": j, "label": str(a), "low": float(low), "high": float(high)} for j, a, (low, high) in ends]
    labels = [str(a) for a in bounds.labels]
    domain, colours = label_scale(labels)
    tips = [alt.Tooltip("of:N", title="of"), alt.Tooltip("label:N", title="label")]
    tips += [alt.Tooltip("low:Q", title="at least", format=".1%"), alt.Tooltip("high:Q", title="at most", format=".1%")]
    order = [_PREVALENCE, *names]
    tall = size[1] if size[1] is not None else max(18.0, 13.0 * len(labels)) * len(order)
    chart = (
        alt.Chart(data(placed(rows, "label", labels)))
        .mark_bar(height={"band": 0.7}, minBandSize=2, opacity=0.85)
        .encode(
            x=alt.X("low:Q", title="lies between", scale=alt.Scale(domain=[0, 1])).axis(format="%"),
            x2=alt.X2("high:Q"),
            y=alt.Y("of:N", scale=ordered(order), title=None).axis(ticks=False, domain=False),
            yOffset=alt.YOffset("label:N", scale=ordered(labels)),
            color=alt.Color("label:N", scale=alt.Scale(domain=domain, range=colours)).legend(title="label"),
            order=alt.Order("place:Q"),
            tooltip=tips,
        )
        .properties(width=size[0], height=tall)
    )  # fmt: skip
    about = [f"Assuming {line}" if k == 0 else line for k, line in enumerate(_wrapped(bounds.assumption))]
    if len(names) < len(bounds.jurors):
        about.append(f"{len(names)} of {counted(len(bounds.jurors), 'juror')} shown")
    return finish(chart, "What is certain, whatever the answer key is", about)


def _wrapped(text: str, width: int = 90) -> list[str]:
    import textwrap

    return textwrap.wrap(text, width)
