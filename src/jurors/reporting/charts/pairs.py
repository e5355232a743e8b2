"""Heat maps of pairs (agreement, error correlations), and each juror's confusion matrix.

The numbers of a triangle travel once, a list per juror, and are drawn on both sides of the diagonal: 150 jurors are
11,175 numbers, not 22,500 rows with names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jurors._numeric import Floats
from jurors.errors import SketchError
from jurors.evaluate.agreement import AgreementStatistics, agreement_statistics
from jurors.evaluate.dependence import Dependence, dependence_of, dependence_with_key
from jurors.evaluate.evaluation import Evaluation, KeyedEvaluation
from jurors.reporting.charts.base import (
    DIVERGING,
    PERCENT,
    SEQUENTIAL,
    Chart,
    Row,
    alt,
    by_place,
    check_result,
    data,
    finish,
    number,
    ordered,
    placed,
    selected,
    tip,
)
from jurors.results import count_noun

_FEW = 12  # up to so many jurors keep their order
_MAX_JURORS = 320
_ALL_DIGITS = 40  # beyond so many jurors, numbers travel with three decimals


def agreement(
    result: AgreementStatistics | Evaluation, *, width: float | None = None, height: float | None = None
) -> Chart:
    """How often each pair of jurors gave the same answer; jurors who answer alike stand together. It is not accuracy.

    Returns
    -------
    altair chart
    """
    check_result(result, (AgreementStatistics, Evaluation), "agreement")
    statistics = result if isinstance(result, AgreementStatistics) else agreement_statistics(_sketch(result))
    size = len(statistics.jurors)
    _check_size(size)
    matrix, items = np.full((size, size), np.nan), np.zeros((size, size))
    for target, values in ((matrix, statistics.pair_agreement), (items, statistics.pair_items)):
        target[statistics.first, statistics.second] = target[statistics.second, statistics.first] = values
    order = _seriated(matrix)
    alpha = statistics.krippendorff_alpha
    share = "" if statistics.agreement is None else f"two votes agree {float(statistics.agreement):.1%} of the time"
    chance = "" if alpha is None else f", Krippendorff's alpha {float(alpha):.2f}"
    about = [f"{count_noun(size, 'juror')}, {count_noun(statistics.items, 'item')}; {share}{chance}"]
    values = statistics.pair_agreement
    scale = alt.Scale(scheme=SEQUENTIAL, domain=[min(0.5, float(values.min(initial=0.5))), 1.0])
    legend = {"title": "said the same", "format": "%"}
    chart = _heat(statistics.jurors, order, matrix, items, [], scale, legend, ".1%", (width, height))
    return finish(chart, "How often each pair of jurors said the same", about)


def dependence(
    result: Evaluation | Dependence | KeyedEvaluation, *, width: float | None = None, height: float | None = None
) -> Chart:
    """How much the errors of each pair of jurors go together beyond what the truth explains; groups stand together.

    Returns
    -------
    altair chart
    """
    check_result(result, (Evaluation, Dependence, KeyedEvaluation), "error correlations")
    measured = _dependence(result)
    size = len(measured.jurors)
    _check_size(size)
    place = {j: k for k, j in enumerate(measured.jurors)}
    groups = [[place[j] for j in group] for group in measured.groups]
    if not measured.known.any():
        raise SketchError("no two of these jurors share enough items, so their errors cannot be compared")
    correlation = np.where(measured.known, measured.correlation, np.nan)
    reach = max(0.05, float(np.nanmax(np.abs(correlation))))
    scale = alt.Scale(domain=[-reach, 0, reach], range=DIVERGING, interpolate="rgb", clamp=True)
    about = [
        f"{count_noun(size, 'juror')} are worth {measured.effective_jurors:.1f} independent "
        "ones; mean error correlation "
        f"{measured.mean_correlation:+z.3f}"
    ]
    if groups:
        about.append(f"{count_noun(len(groups), 'group')} framed: jurors who move together beyond what all share")
    order = _grouped(correlation, groups)
    legend = {"title": "error correlation", "format": "+.2f", "values": [-reach, 0, reach]}
    chart = _heat(measured.jurors, order, correlation, measured.items, groups, scale, legend, "+.3f", (width, height))
    return finish(chart, "How much the jurors' errors go together", about)


def _dependence(result: Evaluation | Dependence | KeyedEvaluation) -> Dependence:
    if isinstance(result, Dependence):
        return result
    if isinstance(result, KeyedEvaluation):
        return dependence_with_key(result)
    if result.independent.dependence is not None:
        return result.independent.dependence
    if len(result.jurors) == 3 and len(result.labels) == 2:
        raise SketchError(
            "three jurors leave no residual: their grades explain every pair exactly. Error correlations need four "
            "jurors or a key"
        )
    if result.independent.solution is None:
        raise SketchError("no real evaluation explains these counts, so nothing shows how errors are correlated")
    return dependence_of(_sketch(result), result.independent.solution)


def _sketch(evaluation: Evaluation) -> Any:
    if evaluation.sketch is None:
        raise SketchError("this evaluation was not made from a sketch, so its pairs of jurors are not known")
    return evaluation.sketch


def _check_size(size: int) -> None:
    if size < 2:
        raise SketchError("pairs need two jurors, got one")
    if size > _MAX_JURORS:
        raise SketchError(
            f"a heat map of pairs holds up to {_MAX_JURORS} jurors, got {size:,}; take some with Votes.take"
        )


def _seriated(matrix: Floats) -> list[int]:
    """Order jurors so that those with similar columns are neighbours."""
    size = len(matrix)
    if size <= _FEW:
        return list(range(size))
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import pdist

    known = matrix[np.isfinite(matrix)]
    filled = np.where(np.isfinite(matrix), matrix, known.mean() if len(known) else 0.0)
    # by distances: linkage warns of a matrix that itself looks like distances
    tree = linkage(pdist(filled), method="average", optimal_ordering=size <= 80)
    return [int(k) for k in leaves_list(tree)]


def _grouped(matrix: Floats, groups: list[list[int]]) -> list[int]:
    """Order jurors by group, the largest first; then the others."""
    ranked = sorted(groups, key=len, reverse=True)
    inside = [group[k] for group in ranked for k in _seriated(matrix[np.ix_(group, group)])]
    outside = [k for k in range(len(matrix)) if k not in set(inside)]
    return inside + [outside[k] for k in _seriated(matrix[np.ix_(outside, outside)])]


def _heat(
    jurors: tuple[str, ...], order: list[int], matrix: Floats, items: Floats, groups: list[list[int]],
    scale: Any, legend: dict[str, Any], number_format: str, size: tuple[float | None, float | None],
) -> Chart:  # fmt: skip
    count = len(order)
    names = [jurors[k] for k in order]
    wide = size[0] or max(130.0, max(2, min(34, 600 // count)) * count)
    tall = wide if size[1] is None else size[1]
    named = data([{"at": k, "name": name} for k, name in enumerate(names)])
    # One row per juror: its numbers with every later juror; null where a pair shares no item.
    values, shared = matrix[np.ix_(order, order)], items[np.ix_(order, order)]
    if count > _ALL_DIGITS:
        values = values.round(3)
    upper = shared[np.triu_indices(count, 1)]
    rows: list[Row] = []
    for at in range(count - 1):
        row: Row = {"at": at, "value": [number(x) for x in values[at, at + 1 :].tolist()]}
        if not (upper == upper[0]).all():  # else the number is written once, by the chart
            row["items"] = [int(n) for n in shared[at, at + 1 :]]
        rows.append(row)
    base = _cells(alt.Chart(data(rows)), named, ["value", "items"] if "items" in rows[0] else ["value"])
    if "items" not in rows[0]:
        base = base.transform_calculate(items=f"{int(items[order[0], order[1]])}")
    # Small cells overlap a little: else the page's colour shines through the seams.
    base = base.mark_rect(**({} if wide / count > 8 else {"width": {"band": 1.2}, "height": {"band": 1.2}})).encode(
        color=alt.Color("value:Q", scale=scale, legend=alt.Legend(**legend)),
        tooltip=[
            tip("juror:N", "juror"), tip("other:N", "and"),
            tip("value:Q", legend["title"], number_format),
            tip("items:Q", "items both judged", ","),
        ],
    )  # fmt: skip
    axis = {"ticks": False, "domain": False, "labelLimit": 120, "grid": False}
    cell_wide, cell_tall = wide / count, tall / count
    axis_scale = ordered(names, paddingInner=0.04 if min(cell_wide, cell_tall) > 8 else 0)
    is_short = max(map(len, names)) * 7 <= cell_wide
    x_axis = alt.Axis(labelAngle=0 if is_short else -50, labels=cell_wide >= 9, **axis)
    x_title = None if cell_wide >= 9 else count_noun(count, "juror") + "; hover to read their names"
    x = {"title": x_title, "axis": x_axis, "scale": axis_scale}
    y = {"title": None, "axis": alt.Axis(labels=cell_tall >= 9, **axis), "scale": axis_scale}

    def both_sides(chart: Chart) -> list[Chart]:
        sides = (("juror", "other"), ("other", "juror"))
        return [chart.encode(x=alt.X(f"{a}:N", **x), y=alt.Y(f"{b}:N", **y)) for a, b in sides]

    layers = both_sides(base)
    if count <= _FEW:  # the numbers stand in the cells
        is_share = number_format.endswith("%")
        on_dark = "datum.value < 0.72" if is_share else "false"
        ink = alt.condition(on_dark, alt.value("#F5F5F5"), alt.value("#111111"))
        text = alt.Text("value:Q", format=".0%" if is_share else "+.2f")
        layers += both_sides(base.mark_text(fontSize=9).encode(text=text, color=ink))
    if groups:
        places = [[order.index(k) for k in group] for group in groups]
        ends = [{"first": names[min(group)], "last": names[max(group)]} for group in places]
        frame = alt.Chart(data(ends)).mark_rect(fillOpacity=0, style="outline", strokeWidth=1.5)
        layers.append(
            frame.encode(
                x=alt.X("first:N", bandPosition=0, **x), x2=alt.X2("last:N", bandPosition=1),
                y=alt.Y("first:N", bandPosition=0, **y), y2=alt.Y2("last:N", bandPosition=1),
            )
        )  # fmt: skip
    return alt.layer(*layers).properties(width=wide, height=tall)


def _cells(chart: Chart, named: dict[str, Any], lists: list[str]) -> Chart:
    """Flatten lists of numbers to one row per pair, with both names."""
    return (
        chart.transform_flatten(lists)
        .transform_window(step="row_number()", groupby=["at"])
        .transform_calculate(to="datum.at + datum.step")
        .transform_filter("isValid(datum.value)")
        .transform_lookup("at", alt.LookupData(named, "at", ["name"]), as_=["juror"])
        .transform_lookup("to", alt.LookupData(named, "at", ["name"]), as_=["other"])
    )


# -- each juror's confusion matrix --

_PRINTED = 6  # up to so many labels, the numbers stand in the cells


def confusion(
    evaluation: Evaluation | KeyedEvaluation,
    *,
    jurors: Sequence[str] | None = None,
    most: int = 12,
    width: float | None = None,
    height: float | None = None,
) -> Chart:
    """How often each juror says each label to items of each true label: these jurors, or the first `most`.

    Returns
    -------
    altair chart
    """
    check_result(evaluation, (Evaluation, KeyedEvaluation), "confusion matrices")
    if isinstance(evaluation, Evaluation) and evaluation.exam:
        raise SketchError("the choices of an exam mean nothing across questions, so there is no confusion between them")
    shown = [evaluation.jurors[k] for k in selected(evaluation.jurors, jurors, most)]
    labels = [str(a) for a in evaluation.labels]
    solution: Any = evaluation.solution if isinstance(evaluation, KeyedEvaluation) else evaluation.independent.solution
    if solution is None:
        raise SketchError("no real evaluation explains these counts, so there are no confusion matrices")
    tables = solution.to_float().confusion
    rows: list[Row] = [
        {"juror": j, "true": str(a), "said": str(b), "share": number(tables[j][a][b])}
        for j in shown
        for a in evaluation.labels
        for b in evaluation.labels
    ]
    cell = 44.0 if len(labels) <= 3 else 34.0 if len(labels) <= _PRINTED else max(11.0, 150 / len(labels))
    wide = cell * len(labels) if width is None else width
    tall = cell * len(labels) if height is None else height
    values = [row["share"] for row in rows if row["share"] is not None]
    domain = [min([0.0, *values]), max([1.0, *values])]
    tips = [tip("juror:N", "juror"), tip("true:N", "true label")]
    tips += [tip("said:N", "says"), tip("share:Q", "how often", PERCENT)]
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
    chart = alt.layer(*layers, data=data(placed(rows, "juror", shown))).properties(width=wide, height=tall)
    columns = max(1, min(len(shown), int(760 / (wide + 30))))
    chart = chart.facet(facet=alt.Facet("juror:N", sort=by_place(), title=None), columns=columns)
    method = f"method {evaluation.method}" if isinstance(evaluation, Evaluation) else "against the answer key"
    about = [f"{count_noun(evaluation.items, 'item')}; {method}"]
    if len(shown) < len(evaluation.jurors):
        about.append(f"{len(shown)} of {count_noun(len(evaluation.jurors), 'juror')} shown")
    return finish(chart, "What each juror says to items of each true label", about)
