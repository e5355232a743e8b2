"""The two solutions of a trio: each the other's reflection at the line on which coins lie."""

from __future__ import annotations

from jurors.errors import SketchError
from jurors.evaluate import Evaluation, Solution
from jurors.evaluate.card import percent
from jurors.report.charts.plane import axes, background, named_points
from jurors.report.charts.theme import (
    BLUE,
    GREY,
    ORANGE,
    PERCENT,
    Chart,
    Row,
    altair,
    counted,
    data,
    finish,
    grown,
    shortened,
    wanted,
)

_CHOSEN, _MIRROR = "chosen", "mirror"


def solutions(evaluation: Evaluation, *, width: float = 420, height: float | None = None) -> Chart:
    """Both evaluations that explain three jurors' counts: what one calls the first label, the other calls the second.

    An accuracy pair (a, b) becomes (1 - b, 1 - a), its reflection at the coins' line; a prevalence p becomes 1 - p.
    """
    alt = altair()
    wanted(evaluation, (Evaluation,), "both solutions")
    chosen, mirror = _two(evaluation)
    rows = [row for k, s in enumerate((chosen, mirror)) for row in _rows(s, (_CHOSEN, _MIRROR)[k])]
    by_juror = [
        {"juror": a["juror"], "x": a["x"], "y": a["y"], "x2": b["x"], "y2": b["y"]}
        for a, b in zip(rows[:3], rows[3:], strict=True)
    ]
    domain = grown(*(row[name] for row in rows for name in ("x", "y")))
    x, y = axes(evaluation.labels, domain)
    a, b = (shortened(label, 30) for label in evaluation.labels)
    legend = alt.Legend(title=None, orient="top", offset=4)
    kinds = [_CHOSEN, _MIRROR]
    colour = alt.Color("solution:N", scale=alt.Scale(domain=kinds, range=[BLUE, ORANGE]), legend=legend)
    shape = alt.Shape("solution:N", scale=alt.Scale(domain=kinds, range=["circle", "square"]), legend=legend)
    tips = [alt.Tooltip("juror:N", title="juror"), alt.Tooltip("solution:N", title="solution")]
    tips += [alt.Tooltip("x:Q", title=f"accuracy on {a}", format=PERCENT)]
    tips += [alt.Tooltip("y:Q", title=f"accuracy on {b}", format=PERCENT)]
    tips += [alt.Tooltip("prevalence:Q", title=f"prevalence of {a}", format=PERCENT)]
    links = (
        alt.Chart(data(by_juror))
        .mark_rule(color=GREY, strokeDash=[2, 3])
        .encode(x=x, y=y, x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"))
    )
    points = alt.Chart(data(rows)).mark_point(filled=True, size=80, opacity=1)
    points = points.encode(x=x, y=y, color=colour, shape=shape, tooltip=tips)
    size = (width, width if height is None else height)
    plane = alt.layer(background(domain), links, points, *named_points(rows, domain, size)).properties(
        width=size[0], height=size[1]
    )
    shares = [(k, float(s.prevalence[evaluation.labels[0]])) for k, s in ((_CHOSEN, chosen), (_MIRROR, mirror))]
    strip = _prevalence_strip(shares, a, colour, shape, width)
    about = [
        f"Chosen by: {evaluation.rule}.",
        f"Prevalence of {a}: {percent(shares[0][1])}, or {percent(shares[1][1])} in the mirror.",
    ]
    return finish(alt.vconcat(plane, strip, spacing=14), "The two solutions that explain the counts", about)


def _two(evaluation: Evaluation) -> tuple[Solution, Solution]:
    jurors, labels = len(evaluation.jurors), len(evaluation.labels)
    if (jurors, labels) != (3, 2):
        raise SketchError(
            f"the two solutions are those of three jurors and two labels; this panel has {counted(jurors, 'juror')} "
            f"and {counted(labels, 'label')}"
        )
    if len(evaluation.solutions) != 2:
        there = "there is one" if len(evaluation.solutions) == 1 else f"there are {len(evaluation.solutions)}"
        raise SketchError(f"two solutions are found by the method 'algebraic'; by {evaluation.method!r} {there}")
    if not all(s.is_real for s in evaluation.solutions):
        raise SketchError(
            "both solutions of these counts are complex, so they have no place in the accuracy plane; "
            "`jurors grade --format json` has their numbers"
        )
    chosen, mirror = (s.to_float() for s in evaluation.solutions)
    return chosen, mirror


def _rows(solution: Solution, name: str) -> list[Row]:
    a, b = solution.labels
    return [
        {"juror": j, "solution": name, "kind": name, "x": row[a], "y": row[b], "prevalence": solution.prevalences[0]}
        for j, row in solution.accuracy.items()
    ]


def _prevalence_strip(
    shares: list[tuple[str, float]], label: str, colour: object, shape: object, width: float
) -> Chart:
    alt = altair()
    rows = [{"solution": k, "share": p} for k, p in shares]
    scale = alt.Scale(domain=grown(*(p for _, p in shares)), nice=False)
    points = (
        alt.Chart(data(rows))
        .mark_point(filled=True, size=80, opacity=1)
        .encode(
            x=alt.X("share:Q", title=f"prevalence of {label}", scale=scale).axis(format="%", tickCount=6),
            color=colour, shape=shape,
            tooltip=[alt.Tooltip("solution:N"), alt.Tooltip("share:Q", title="prevalence", format=PERCENT)],
        )
    )  # fmt: skip
    centre = alt.Chart(data([{"share": 0.5}])).mark_rule(style="ink", strokeDash=[5, 4]).encode(x=alt.X("share:Q"))
    return alt.layer(centre, points).properties(width=width, height=34)
