"""Charts of an answer key, of scores over time, of lost information, of a plan, and of the reliability of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jurors._numeric import Floats
from jurors.errors import SketchError
from jurors.evaluate.card import CALIBRATED
from jurors.evaluate.evaluation import Evaluation, KeyedEvaluation
from jurors.evaluate.trio import evaluate_trios
from jurors.monitor.monitor import History
from jurors.numeric.grade import NumberGrades
from jurors.numeric.score import NumberScores
from jurors.report.charts.base import (
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
    dot_layers,
    ends_row,
    finish,
    grades_of,
    grow_domain,
    label_scale,
    leading_grades,
    number,
    ordered,
    placed,
    shorten_name,
    tip,
)
from jurors.results import count_noun
from jurors.uncertainty.intervals import trio_standard_errors

# -- estimated against actual --

_SHAPES = {"accuracy": "circle", "prevalence": "diamond", "score": "square"}


def against_key(
    evaluation: Evaluation, keyed: KeyedEvaluation, *, width: float = 420, height: float | None = None
) -> Chart:
    """Every prevalence and accuracy (of an exam: every score) as estimated without the key, over what the key says.

    Returns
    -------
    altair chart
    """
    check_result(evaluation, (Evaluation,), "estimates against a key")
    check_result(keyed, (KeyedEvaluation,), "actual numbers")
    rows = [row for row in _rows(evaluation, keyed) if row["value"] is not None and row["actual"] is not None]
    if not rows:
        raise SketchError("no juror or label of the evaluation is among those of the key")
    names = ("value", "value_low", "value_high", "actual")
    domain = grow_domain(*(row[name] for row in rows for name in names))
    scale = alt.Scale(domain=domain, nice=False, zero=False)
    labels, colours = label_scale(evaluation.labels)
    many = len(labels) > len(PALETTE)
    colour = alt.Color("label:N", scale=alt.Scale(domain=labels, range=colours)).legend(title="label", symbolLimit=20)
    if evaluation.exam or many:
        colour = alt.value(PALETTE[0])
    statistics = [s for s in _SHAPES if any(row["statistic"] == s for row in rows)]
    shape = alt.Shape("statistic:N", scale=alt.Scale(domain=statistics, range=[_SHAPES[s] for s in statistics]))
    tips = [alt.Tooltip("statistic:N"), tip("juror:N", "juror"), tip("label:N", "label")]
    tips += [tip("value:Q", "estimated", PERCENT)]
    tips += [tip("value_interval:N", "interval"), tip("actual:Q", "actual", PERCENT)]
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
    errors = np.array([row["value"] - row["actual"] for row in rows])
    about = [
        f"{count_noun(keyed.items, 'item')} with a true label; typical error (RMS) {np.sqrt((errors**2).mean()):.1%}"
    ]
    if known := [row for row in rows if row["value_low"] is not None]:
        covered = sum(row["value_low"] <= row["actual"] <= row["value_high"] for row in known)
        about.append(f"{covered:,} of {len(known):,} intervals hold the actual number")
    return finish(chart, "Estimated without the key, over what the key says", about)


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
    shown = jurors[:_MAX_JURORS]
    scale = 1000 if result.by_time else 1  # Vega counts time in milliseconds
    rows: list[Row] = []
    for window in result.windows:
        for juror in shown:
            low, high = window.interval.get("score", {}).get(juror) or (None, None)
            row = {"juror": juror, "at": window.span.end * scale, "items": window.span.items}
            ends = {"low": number(low), "high": number(high)}
            rows.append(row | ends | {"score": number(window.score.get(juror)), "kind": "score", "message": None})
    since = "since_time" if result.by_time else "since"
    nothing = {"items": None, "low": None, "high": None, "score": None}
    marks: list[Row] = [
        {"juror": juror, "at": alarm[since] * scale, "kind": "alarm", "message": alarm["message"], **nothing}
        for alarm in alarms
        if alarm.get(since) is not None
        for juror in alarm["jurors"]
        if juror in shown
    ]
    columns = max(1, int(width // (_MIN_WIDTH + _ROOM)))
    length = f"{result.window} items" if result.window.isdigit() else result.window
    about = [f"{count_noun(len(result.windows), 'window')} of {length}; bands are intervals"]
    about += ["Upright lines: where an alarm's change began"] * bool(marks)
    about += [f"{count_noun(len(jurors) - _MAX_JURORS, 'more juror')} left out"] * (len(jurors) > _MAX_JURORS)
    domain = grow_domain(*(row[name] for row in rows for name in ("score", "low", "high")))
    x = alt.X("at:Q", title="items", axis=alt.Axis(tickCount=4, format="~s"))
    until = tip("at:Q", "until", ",")
    if result.by_time:
        x, until = alt.X("at:T", title=None), tip("at:T", "until", "")
    y = alt.Y("score:Q", title=None, scale=alt.Scale(domain=domain, nice=False), axis=alt.Axis(format="%", tickCount=4))
    tips = [tip("juror:N", "juror"), until, tip("items:Q", "items", ","), tip("score:Q", "right", PERCENT)]
    tips += [tip("low:Q", "at least", PERCENT), tip("high:Q", "at most", PERCENT)]
    base = alt.Chart().transform_filter("datum.kind == 'score'")
    band = base.mark_area(color=BLUE, opacity=0.22).encode(x=x, y=alt.Y("low:Q", title=None), y2=alt.Y2("high:Q"))
    line = base.mark_line(color=BLUE, point=alt.OverlayMarkDef(size=22, color=BLUE)).encode(x=x, y=y, tooltip=tips)
    rule = alt.Chart().transform_filter("datum.kind == 'alarm'").mark_rule(color=ORANGE, strokeWidth=2)
    rule = rule.encode(x=x, tooltip=[tip("message:N", "alarm")])
    layered = alt.layer(band, line, rule, data=data(placed(rows, "juror", shown) + placed(marks, "juror", shown)))
    layered = layered.properties(width=width / columns - _ROOM, height=height)
    panels = layered.facet(alt.Facet("juror:N", title=None, sort=by_place()), columns=columns).properties(spacing=14)
    return finish(panels, "How often each juror is right", about)


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
    grades = grades_of(evaluation)
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
    if evaluation.standard_error is not None:
        error = number(evaluation.standard_error["prevalence"][grades.labels[0]])
    reach = [min(0.0, prevalence - 0.03), max(1.0, prevalence + 0.03)]
    x = alt.X("x:Q", title=f"prevalence of {label}", scale=alt.Scale(domain=reach, nice=False))
    y = alt.Y("y:Q", title="strength of the jurors (0: coins, 1: perfect)",
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
    about = [f"{count_noun(evaluation.items, 'item')}; jurors as here, made weaker or stronger, at every prevalence"]
    if error is not None:
        about.append(f"This test: prevalence of {label} {prevalence:.1%}, standard error {error:.3f}")
    if strength > most:
        about.append("Its grades lie outside 0 – 100%: the picture ends at what a test can be")
    return finish(chart, "Where the estimate of the prevalence loses its information", about)


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
    errors = trio_standard_errors(tables, evaluate_trios(tables)).prevalence
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
    errors = evaluation.standard_error
    if errors is None:
        raise SketchError(
            f"the method {evaluation.method!r} has no standard errors here, so nothing shows where they grow; "
            "`jurors grade` with --method auto has them"
        )
    above = np.nanmean(grades.accuracy, axis=1) - 1 / len(grades.labels) if not evaluation.exam else grades.score
    votes = _votes(evaluation)
    rows: list[Row] = [
        {"juror": j, "above": number(above[k]), "error": number(errors["score"][j]), "votes": votes[k],
         "score": number(grades.score[k])}
        for k, j in enumerate(grades.jurors)
    ]  # fmt: skip
    rows = [row for row in rows if row["error"]]
    if not rows:
        raise SketchError("no juror of this panel has a standard error, so nothing shows where it grows")
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
    about = [f"{count_noun(len(rows), 'juror')}, {count_noun(evaluation.items, 'item')}"]
    return finish(chart, "How surely each juror's score is known", about)


def _votes(evaluation: Evaluation) -> list[int]:
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
    """The ± of the weakest accuracy over the items of the test, one line per number of jurors (a `jurors.Plan`).

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
        "for independent errors; correlated ones add a bias that stays",
    ]
    return finish((lines + target).properties(width=460, height=300), "How many items a jury needs", subtitle)


# -- reliability of numbers --

_MAX_HEIGHT = 900
_FORM = ".2f"


def reliability(result: NumberGrades | NumberScores, *, width: float = 420, height: float | None = None) -> Chart:
    """The reliability of each juror who answers in numbers, the best first, with intervals, and by the key of a score.

    Reliability is the squared correlation with the truth: 0 tells nothing, 1 all. The axis grows past [0, 1] when an
    estimate lies outside: that is an alarm, and it must be visible.

    Returns
    -------
    altair chart
    """
    check_result(result, (NumberGrades, NumberScores), "reliabilities")
    grades = result if isinstance(result, NumberGrades) else result.grades
    if grades is None:
        raise SketchError("nothing is estimated without the key, so there are no reliabilities to draw")
    actual = result.by_key.reliability if isinstance(result, NumberScores) else None
    rows: list[Row] = []
    for k, juror in enumerate(grades.jurors):
        row: Row = {"juror": juror} if actual is None else {"juror": juror, "actual": number(actual[k])}
        for name, of in (("value", "calibrated_reliability"), ("plain", "reliability")):
            low, high = (number(end) for end in getattr(grades, f"{of}_ends")[k])
            text = "none" if low is None or high is None else f"{low:.2f} – {high:.2f}"
            row |= {name: number(getattr(grades, of)[k]), f"{name}_low": low, f"{name}_high": high}
            row[f"{name}_interval"] = text
        rows.append(row)
    best = np.argsort(-np.nan_to_num(grades.calibrated_reliability, nan=-np.inf), kind="stable")
    step = max(5.0, min(20.0, _MAX_HEIGHT / len(rows)))
    y = alt.Y("juror:N", scale=ordered(grades.jurors[k] for k in best), title=None)
    y = y.axis(grid=True, labels=step >= 9, ticks=False, domain=False)
    tips = [tip("juror:N", "juror"), tip("value:Q", CALIBRATED, _FORM), tip("value_interval:N", "interval")]
    tips += [tip("plain:Q", "if independent", _FORM), tip("plain_interval:N", "interval, if independent")]
    tips += [tip("actual:Q", "by the key", _FORM)] * (actual is not None)
    layers = dot_layers(rows, y, "reliability", tips, form=_FORM, ticks=6)
    tall = step * len(rows) if height is None else height
    chart = alt.layer(*layers, data=data(rows)).properties(width=width, height=tall)
    # in short lines, since a browser may write them wider than they were measured
    about = [
        f"{count_noun(len(grades.jurors), 'juror')}, {count_noun(grades.items, 'item')}; "
        f"{grades.level * 100:g}% intervals",
        f"Filled points, thick bars: {CALIBRATED}",
        "Hollow points, thin lines: if errors were independent",
    ]
    if unknown := int(np.isnan(grades.calibrated_reliability).sum()):
        about.append(f"{count_noun(unknown, 'juror')} without a grade")
    about += ["Crosses are the actual, by the answer key"] * (actual is not None)
    return finish(chart, "How far each juror's numbers can be relied on", about)
