"""How common each label is by each method, and how well that is known.

Guaranteed bounds of prevalences and accuracies, where an estimate loses its information, and the plan of a jury.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jurors._numeric import Floats
from jurors.errors import SketchError
from jurors.evaluate.card import percent
from jurors.evaluate.evaluation import Evaluation, KeyedEvaluation
from jurors.evaluate.trio import evaluate_trios
from jurors.jury.compare import Comparison
from jurors.reporting.charts.base import (
    BLUE,
    GREY,
    ORANGE,
    PALETTE,
    PERCENT,
    SEQUENTIAL,
    Chart,
    ChartGrades,
    Row,
    alt,
    by_place,
    check_result,
    data,
    ends_row,
    finish,
    grades_of,
    grow_domain,
    label_scale,
    number,
    ordered,
    placed,
    selected,
    shorten_name,
    tip,
)
from jurors.results import count_noun
from jurors.uncertainty.bounds_logical import Bounds
from jurors.uncertainty.bounds_robust import correlation_curve
from jurors.uncertainty.intervals import trio_standard_errors


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
        for label, share in e.prevalence.items():
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


# -- guaranteed bounds: how they widen with the error correlation, or one set of them --

_PREVALENCE = "prevalence"
_MAX_BARS = 60


def bounds(
    result: Mapping[str, Any] | Bounds | Evaluation,
    *,
    jurors: Sequence[str] | None = None,
    most: int = 6,
    width: float = 480,
    height: float | None = None,
) -> Chart:
    """Between which numbers every prevalence and accuracy must lie, whatever the answer key is.

    Of a curve (`theory.correlation_curve`, or an Evaluation, whose curve is computed): against the error correlation ε
    that is feared, for the prevalence and for these jurors, or the first `most`. Of `Bounds`: an interval each.

    Returns
    -------
    altair chart
    """
    if isinstance(result, Bounds):
        return _intervals(result, selected(result.jurors, jurors, _MAX_BARS), (width, height))
    if isinstance(result, Evaluation):
        if result.sketch is None:
            raise SketchError("this evaluation was not made from a sketch, so its bounds are not known")
        result = correlation_curve(result.sketch)
    if not isinstance(result, Mapping):
        check_result(result, (Bounds, Evaluation), "bounds")
    if not {"correlation", "outcome", "statistic", "juror", "label", "low", "high"} <= set(result):
        raise SketchError("a curve of bounds has the columns of theory.correlation_curve, this mapping has others")
    return _curve(result, jurors, most, (width, height))


def _curve(
    curve: Mapping[str, Any], jurors: Sequence[str] | None, most: int, size: tuple[float, float | None]
) -> Chart:
    everyone = list(dict.fromkeys(j for j in curve["juror"].tolist() if j is not None))
    shown = [everyone[k] for k in selected(everyone, jurors, most)]
    labels = list(dict.fromkeys(str(a) for a in curve["label"].tolist()))
    rows = []
    names = ("correlation", "outcome", "statistic", "juror", "label", "low", "high")
    for values in zip(*(curve[name].tolist() for name in names), strict=True):
        correlation, outcome, statistic, juror, label, low, high = values
        if juror in shown if statistic == "accuracy" else str(label) == labels[0]:
            panel = _PREVALENCE if juror is None else juror
            row = {"correlation": correlation, "outcome": str(outcome).replace("_", " "), "panel": panel}
            rows.append(row | {"label": str(label), "low": number(low), "high": number(high)})
    panels = [_PREVALENCE, *shown]
    columns = min(len(panels), 4)
    wide = max(90.0, size[0] / min(columns, 3) - 20)
    tall = size[1] if size[1] is not None else 130
    scale = ordered(labels, range=[BLUE, "#D55E00"])
    tips = [tip("panel:N", "of"), tip("label:N", "label")]
    tips += [tip("correlation:Q", "if no correlation exceeds", ".4f")]
    tips += [tip("low:Q", "at least", ".1%"), tip("high:Q", "at most", ".1%")]
    tips += [tip("outcome:N", "outcome")]
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
    about = ["The truth lies inside each band if no error correlation of two or three jurors exceeds ε"]
    if len(shown) < len(everyone):
        about.append(f"{len(shown)} of {count_noun(len(everyone), 'juror')} shown")
    return finish(chart, "Guaranteed bounds, if error correlations are at most ε", about)


def _intervals(bounds: Bounds, selection: list[int], size: tuple[float, float | None]) -> Chart:
    if bounds.prevalence is None or bounds.accuracy is None:
        raise SketchError(f"no answer key fits the assumption ({shorten_name(bounds.assumption, 120)})")
    names = [bounds.jurors[k] for k in selection]
    ends = [(_PREVALENCE, a, e) for a, e in bounds.prevalence.items()]
    ends += [(j, a, e) for j in names for a, e in bounds.accuracy[j].items()]
    rows = [{"of": j, "label": str(a), "low": float(low), "high": float(high)} for j, a, (low, high) in ends]
    labels = [str(a) for a in bounds.labels]
    domain, colours = label_scale(labels)
    tips = [tip("of:N", "of"), tip("label:N", "label")]
    tips += [tip("low:Q", "at least", ".1%"), tip("high:Q", "at most", ".1%")]
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
    about = [f"Assuming {line}" if k == 0 else line for k, line in enumerate(textwrap.wrap(bounds.assumption, 90))]
    if len(names) < len(bounds.jurors):
        about.append(f"{len(names)} of {count_noun(len(bounds.jurors), 'juror')} shown")
    return finish(chart, "Guaranteed bounds, whatever the answer key is", about)


# -- where an estimate loses its information --
#
# How the standard errors grow as jurors come close to coins. A trio's grades divide by the pairs' covariances,
# P_A P_B d_i d_j, and by s = P_A P_B d_i d_j d_k: where labels are rare, or a juror's d = accuracy on A + accuracy on B
# - 1 is small, both vanish and the standard errors grow without bound.

_STEPS = 36
_SEAM = 0.001  # cells overlap a little: else the page's colour shines through
_VALUES = [0.002, 0.01, 0.05, 0.2, 0.5]  # colours stop here, and the legend says so; the numbers do not
_NO_ANSWER = "#440154"  # where there is no answer at all: the dark end of viridis
_LABELS = "datum.value >= 0.5 ? '0.5 or more' : datum.value <= 0.002 ? '0.002 or less' : datum.label"


def information(evaluation: Evaluation, *, width: float = 420, height: float | None = None) -> Chart:
    """Where this test's estimates lose their information.

    Three jurors, two labels: the standard error of the prevalence over all prevalences and strengths of the jurors, for
    as many items, with this test marked. Otherwise: each juror's standard error against how far it is above chance.

    Returns
    -------
    altair chart
    """
    check_result(evaluation, (Evaluation,), "lost information")
    grades = grades_of(evaluation, independent=True)  # as the standard errors are
    size = (width, height if height is not None else width * 0.8)
    if len(grades.jurors) == 3 and len(grades.labels) == 2 and not evaluation.exam:
        return _trio(evaluation, grades, size)
    return _panel(evaluation, grades, size)


def _trio(evaluation: Evaluation, grades: ChartGrades, size: tuple[float, float]) -> Chart:
    prevalence = float(grades.prevalence[0])
    strength = float((grades.accuracy.sum(axis=1) - 1).mean())
    rows, most = _grid(evaluation.items, grades)
    label = shorten_name(grades.labels[0])
    error = None
    if evaluation.independent.standard_error is not None:
        error = number(evaluation.independent.standard_error["prevalence"][grades.labels[0]])
    reach = [min(0.0, prevalence - 0.03), max(1.0, prevalence + 0.03)]
    x = alt.X("x:Q", title=f"prevalence of {label}", scale=alt.Scale(domain=reach, nice=False))
    y = alt.Y("y:Q", title="strength of the jurors (0: chance, 1: perfect)",
              scale=alt.Scale(domain=[min(0.0, strength), max(most, strength * 1.12)], nice=False))  # fmt: skip
    tips = [
        tip("x:Q", "prevalence", ".0%"), tip("y:Q", "strength", ".2f"),
        tip("error:Q", "standard error of the prevalence", ".3f"),
    ]  # fmt: skip
    colour = alt.Color("error:Q", title=["standard error", "of the prevalence"]).scale(
        type="log", scheme=SEQUENTIAL, reverse=True, domain=[_VALUES[0], _VALUES[-1]], clamp=True
    )
    legend = colour.legend(format="~g", values=_VALUES, labelExpr=_LABELS)
    cells = (
        alt.Chart(data(rows))
        .transform_flatten(["error"])
        .transform_window(step="row_number()", groupby=["y"])
        .transform_calculate(x=f"(datum.step - 1) / {_STEPS}", x2=f"datum.step / {_STEPS} + {_SEAM}")
        .transform_filter("isValid(datum.error)")
        .mark_rect()
        .encode(
            x=x.axis(format="%"),
            x2=alt.X2("x2:Q"),
            y=y.axis(tickCount=5),
            y2=alt.Y2("y2:Q"),
            color=legend,
            tooltip=tips,
        )
    )
    whole = alt.Chart(data([{"x": 0, "y": 0, "x2": 1, "y2": most}])).mark_rect(color=_NO_ANSWER)
    whole = whole.encode(x=x, y=y, x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"))
    here = [{"x": prevalence, "y": strength, "error": error, "text": "this test"}]
    spot = alt.Chart(data(here)).encode(x=x, y=y, tooltip=tips)
    halo = spot.mark_point(shape="circle", size=190, stroke="white", strokeWidth=5, opacity=1)
    mark = spot.mark_point(shape="circle", size=190, stroke=ORANGE, strokeWidth=2.5, opacity=1)
    word = spot.mark_text(dy=-16, fontWeight="bold", color="black", stroke="white", strokeWidth=3).encode(
        text=alt.Text("text:N")
    )
    ink = spot.mark_text(dy=-16, fontWeight="bold", color="black").encode(text=alt.Text("text:N"))
    chart = alt.layer(whole, cells, halo, mark, word, ink).properties(width=size[0], height=size[1])
    about = [
        f"{count_noun(evaluation.items, 'item')}, if errors were independent; jurors like these, weaker or stronger"
    ]
    if error is not None:
        about.append(f"This test: prevalence of {label} {prevalence:.1%}, standard error {error:.3f}")
    if strength > most:
        about.append("The grades of this test lie outside 0 – 100%, beyond the edge of the map")
    return finish(chart, "How well a test like this determines the prevalence", about)


def _grid(items: int, grades: ChartGrades) -> tuple[list[Row], float]:
    """Compute standard errors of tests like this one at other prevalences, with jurors between coins and perfect."""
    p, accuracy = grades.prevalence, grades.accuracy
    d = accuracy.sum(axis=1) - 1
    coin = np.stack([p[0] * accuracy[:, 0] + p[1] * (1 - accuracy[:, 1]),
                     p[1] * accuracy[:, 1] + p[0] * (1 - accuracy[:, 0])], axis=1)  # fmt: skip
    toward = accuracy - coin
    with np.errstate(divide="ignore", invalid="ignore"):
        limits = np.where(toward > 0, (1 - coin) / toward, np.where(toward < 0, -coin / toward, np.inf))
    largest = float(limits.min()) if ((coin >= 0) & (coin <= 1)).all() else 0.0
    if not (largest > 0 and d.mean() > 0):
        raise SketchError("these grades lie so far outside [0, 1] that there is no test like this one to compare with")
    edges_x, edges_t = np.linspace(0, 1, _STEPS + 1), np.linspace(0, largest, _STEPS + 1)
    x, t = (edges_x[1:] + edges_x[:-1]) / 2, (edges_t[1:] + edges_t[:-1]) / 2
    shares = coin + t[:, None, None] * toward
    tables = _expected(x, shares) * items
    errors = trio_standard_errors(tables, evaluate_trios(tables))["prevalence"]
    mean = float(d.mean())
    rows: list[Row] = [
        {
            "y": low * mean,
            "y2": (high + _SEAM * largest) * mean,
            "error": [float(f"{x:.4g}") if x == x else None for x in line],
        }
        for low, high, line in zip(edges_t[:-1].tolist(), edges_t[1:].tolist(), errors.tolist(), strict=True)
    ]
    return rows, largest * mean


def _expected(prevalence: Floats, accuracy: Floats) -> Floats:
    """Compute (T, P, 2, 2, 2) shares of the decision tuples of independent jurors; 1 is the second label."""
    says = np.stack([np.stack([accuracy[..., 0], 1 - accuracy[..., 0]], -1),
                     np.stack([1 - accuracy[..., 1], accuracy[..., 1]], -1)], axis=1)  # fmt: skip
    joint = np.einsum("tla,tlb,tlc->tlabc", says[:, :, 0], says[:, :, 1], says[:, :, 2])
    weights = np.stack([prevalence, 1 - prevalence], axis=-1)
    return np.asarray(np.einsum("pl,tlabc->tpabc", weights, joint))


def _panel(evaluation: Evaluation, grades: ChartGrades, size: tuple[float, float]) -> Chart:
    errors = evaluation.independent.standard_error
    if errors is None:
        raise SketchError(
            f"the method {evaluation.method!r} has no standard errors here, so there is nothing to draw; "
            "method='auto' has them"
        )
    above = np.nanmean(grades.accuracy, axis=1) - 1 / len(grades.labels) if not evaluation.exam else grades.score
    votes = _votes_by_juror(evaluation)
    rows: list[Row] = [
        {"juror": j, "above": number(above[k]), "error": number(errors["score"][j]), "votes": votes[k],
         "score": number(grades.score[k])}
        for k, j in enumerate(grades.jurors)
    ]  # fmt: skip
    rows = [row for row in rows if row["error"]]
    if not rows:
        raise SketchError("no juror of this panel has a standard error, so there is nothing to draw")
    what = "score" if evaluation.exam else "mean accuracy over the labels, above chance"
    tips = [tip("juror:N", "juror"), tip("votes:Q", "votes", ",")]
    tips += [tip("score:Q", "score", ".1%")]
    tips += [tip("error:Q", "standard error of the score", ".4f")]
    uneven = len(set(votes)) > 1
    domain = [min(row["error"] for row in rows) * 0.8, max(row["error"] for row in rows) * 1.25]
    points = alt.Chart(data(rows)).mark_point(filled=True, opacity=0.75, size=70, color=BLUE)
    points = points.encode(
        x=alt.X("above:Q", title=what).axis(format="%").scale(zero=True),
        y=alt.Y("error:Q", title="standard error of the score")
        .scale(type="log", domain=domain, nice=False)
        .axis(tickCount=5, format="~g"),
        tooltip=tips,
    )
    if uneven:
        points = points.encode(
            size=alt.Size("votes:Q", title="votes").scale(range=[25, 260], zero=False).legend(format=",d")
        )
    coin = alt.Chart(data([{"above": 0}])).mark_rule(style="ink", strokeDash=[5, 4]).encode(x=alt.X("above:Q"))
    chart = alt.layer(*([] if evaluation.exam else [coin]), points).properties(width=size[0], height=size[1])
    about = [f"{count_noun(len(rows), 'juror')}, {count_noun(evaluation.items, 'item')}; if errors were independent"]
    return finish(chart, "How precise each juror's score is", about)


def _votes_by_juror(evaluation: Evaluation) -> list[int]:
    if evaluation.sketch is None:
        return [evaluation.items] * len(evaluation.jurors)
    tuples = evaluation.sketch.tuples
    row, juror, _ = tuples.triples()
    counted_votes = np.bincount(juror, weights=evaluation.sketch.counts[row], minlength=len(evaluation.sketch.jurors))
    by_name = dict(zip(evaluation.sketch.jurors, counted_votes.astype(int).tolist(), strict=True))
    return [by_name.get(j, 0) for j in evaluation.jurors]


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
