"""Where an estimate loses its information: how the standard errors grow as jurors come close to coins.

A trio's grades divide by the pairs' covariances, P_A P_B d_i d_j, and by s = P_A P_B d_i d_j d_k: where labels are rare
or a juror's d = accuracy on A + accuracy on B - 1 is small, both vanish and the standard errors grow without bound.
"""

from __future__ import annotations

import numpy as np

from jurors.doubt.intervals.trio_intervals import trio_standard_errors
from jurors.errors import SketchError
from jurors.evaluate import Evaluation
from jurors.evaluate.trio.trios import evaluate_trios
from jurors.numbers.arrays import Floats
from jurors.report.charts.numbers import Grades, grades_of, number
from jurors.report.charts.theme import (
    BLUE,
    ORANGE,
    SEQUENTIAL,
    Chart,
    Row,
    altair,
    counted,
    data,
    finish,
    shortened,
    wanted,
)

_STEPS = 36
_SEAM = 0.001  # cells overlap a little: else the page's colour shines through
_VALUES = [0.002, 0.01, 0.05, 0.2, 0.5]  # colours stop here, and the legend says so; the numbers do not
_LOST = "#440154"  # where there is no answer at all: the dark end of viridis
_LABELS = "datum.value >= 0.5 ? '0.5 or more' : datum.value <= 0.002 ? '0.002 or less' : datum.label"


def information(evaluation: Evaluation, *, width: float = 420, height: float | None = None) -> Chart:
    """Where this test's estimates lose their information.

    Three jurors, two labels: the standard error of the prevalence over all prevalences and strengths of the jurors, for
    as many items, with this test marked. Otherwise: each juror's standard error against how far it is above chance.
    """
    wanted(evaluation, (Evaluation,), "lost information")
    grades = grades_of(evaluation)
    size = (width, height if height is not None else width * 0.8)
    if len(grades.jurors) == 3 and len(grades.labels) == 2 and not evaluation.exam:
        return _trio(evaluation, grades, size)
    return _panel(evaluation, grades, size)


def _trio(evaluation: Evaluation, grades: Grades, size: tuple[float, float]) -> Chart:
    alt = altair()
    prevalence = float(grades.prevalence[0])
    strength = float((grades.accuracy.sum(axis=1) - 1).mean())
    rows, most = _grid(evaluation.items, grades)
    label = shortened(grades.labels[0])
    error = None
    if evaluation.standard_error is not None:
        error = number(evaluation.standard_error["prevalence"][grades.labels[0]])
    x = alt.X("x:Q", title=f"prevalence of {label}", scale=alt.Scale(domain=_reach(prevalence), nice=False))
    y = alt.Y("y:Q", title="strength of the jurors (0: coins, 1: perfect)",
              scale=alt.Scale(domain=[min(0.0, strength), max(most, strength * 1.12)], nice=False))  # fmt: skip
    tips = [
        alt.Tooltip("x:Q", title="prevalence", format=".0%"), alt.Tooltip("y:Q", title="strength", format=".2f"),
        alt.Tooltip("error:Q", title="standard error of the prevalence", format=".3f"),
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
    whole = alt.Chart(data([{"x": 0, "y": 0, "x2": 1, "y2": most}])).mark_rect(color=_LOST)
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
    about = [f"{counted(evaluation.items, 'item')}; jurors as here, made weaker or stronger, at every prevalence"]
    if error is not None:
        about.append(f"This test: prevalence of {label} {prevalence:.1%}, standard error {error:.3f}")
    if strength > most:
        about.append("Its grades lie outside 0 – 100%: the picture ends at what a test can be")
    return finish(chart, "Where the estimate of the prevalence loses its information", about)


def _reach(prevalence: float) -> list[float]:
    return [min(0.0, prevalence - 0.03), max(1.0, prevalence + 0.03)]


def _grid(items: int, grades: Grades) -> tuple[list[Row], float]:
    """Standard errors of tests like this one at other prevalences, with jurors between coins and perfect ones."""
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
    """(T, P, 2, 2, 2) shares of the decision tuples of independent jurors; 1 is the second label."""
    says = np.stack([np.stack([accuracy[..., 0], 1 - accuracy[..., 0]], -1),
                     np.stack([1 - accuracy[..., 1], accuracy[..., 1]], -1)], axis=1)  # fmt: skip
    joint = np.einsum("tla,tlb,tlc->tlabc", says[:, :, 0], says[:, :, 1], says[:, :, 2])
    weights = np.stack([prevalence, 1 - prevalence], axis=-1)
    return np.asarray(np.einsum("pl,tlabc->tpabc", weights, joint))


def _panel(evaluation: Evaluation, grades: Grades, size: tuple[float, float]) -> Chart:
    alt = altair()
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
    tips = [alt.Tooltip("juror:N", title="juror"), alt.Tooltip("votes:Q", title="votes", format=",")]
    tips += [alt.Tooltip("score:Q", title="score", format=".1%")]
    tips += [alt.Tooltip("error:Q", title="standard error of the score", format=".4f")]
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
    about = [f"{counted(len(rows), 'juror')}, {counted(evaluation.items, 'item')}"]
    return finish(chart, "How surely each juror's score is known", about)


def _votes(evaluation: Evaluation) -> list[int]:
    if evaluation.sketch is None:
        return [evaluation.items] * len(evaluation.jurors)
    tuples = evaluation.sketch.tuples
    row, juror, _ = tuples.triples()
    counted_votes = np.bincount(juror, weights=evaluation.sketch.counts[row], minlength=len(evaluation.sketch.jurors))
    by_name = dict(zip(evaluation.sketch.jurors, counted_votes.astype(int).tolist(), strict=True))
    return [by_name.get(j, 0) for j in evaluation.jurors]
