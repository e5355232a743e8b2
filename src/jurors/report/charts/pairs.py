"""Agreement, dependence, confusion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jurors._numeric import Floats
from jurors.errors import SketchError
from jurors.evaluate import Dependence, Evaluation, KeyedEvaluation, dependence_with_key
from jurors.evaluate.agreement import AgreementStatistics, agreement_statistics
from jurors.evaluate.dependence import dependence_of
from jurors.report.charts.base import (
    DIVERGING,
    PERCENT,
    SEQUENTIAL,
    Chart,
    Row,
    altair,
    by_place,
    check_result,
    data,
    finish,
    format_count,
    grades_of,
    number,
    ordered,
    placed,
    selected,
)

# Heat maps of pairs: how much jurors agree, and how much their errors go together.
#
# The numbers of a triangle travel once, a list per juror, and are drawn on both sides of the diagonal: 150 jurors are
# 11,175 numbers, not 22,500 rows with names.


_FEW = 12  # up to so many jurors keep the order they came in
_MOST = 320
_ALL_DIGITS = 40  # beyond so many jurors, numbers travel with three decimals


def agreement(
    result: AgreementStatistics | Evaluation, *, width: float | None = None, height: float | None = None
) -> Chart:
    """How often each pair of jurors said the same; jurors who answer alike stand together. It is not accuracy."""
    check_result(result, (AgreementStatistics, Evaluation), "agreement")
    statistics = result if isinstance(result, AgreementStatistics) else agreement_statistics(_sketch(result))
    size = len(statistics.jurors)
    _check_size(size)
    matrix, items = np.full((size, size), np.nan), np.zeros((size, size))
    for target, values in ((matrix, statistics.pair_agreement), (items, statistics.pair_items)):
        target[statistics.first, statistics.second] = target[statistics.second, statistics.first] = values
    order = _seriated(matrix)
    about = [f"{format_count(size, 'juror')}, {format_count(statistics.items, 'item')}; {_overall(statistics)}"]
    values = statistics.pair_agreement
    scale = altair().Scale(scheme=SEQUENTIAL, domain=[min(0.5, float(values.min(initial=0.5))), 1.0])
    legend = {"title": "said the same", "format": "%"}
    chart = _heat(statistics.jurors, order, matrix, items, [], scale, legend, ".1%", (width, height))
    return finish(chart, "How often each pair of jurors said the same", about)


def _overall(statistics: AgreementStatistics) -> str:
    alpha = statistics.krippendorff_alpha
    share = "" if statistics.agreement is None else f"two votes agree {float(statistics.agreement):.1%} of the time"
    return share + ("" if alpha is None else f", Krippendorff's alpha {float(alpha):.2f}")


def dependence(
    result: Evaluation | Dependence | KeyedEvaluation, *, width: float | None = None, height: float | None = None
) -> Chart:
    """How much the errors of each pair of jurors go together beyond what the truth explains; groups stand together."""
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
    scale = altair().Scale(domain=[-reach, 0, reach], range=DIVERGING, interpolate="rgb", clamp=True)
    about = [
        f"{format_count(size, 'juror')} are worth {measured.effective_jurors:.1f} independent "
        "ones; mean error correlation "
        f"{measured.mean_correlation:+z.3f}"
    ]
    if groups:
        about.append(f"{format_count(len(groups), 'group')} framed: jurors who move together beyond what all share")
    order = _grouped(correlation, groups)
    legend = {"title": "error correlation", "format": "+.2f", "values": [-reach, 0, reach]}
    chart = _heat(measured.jurors, order, correlation, measured.items, groups, scale, legend, "+.3f", (width, height))
    return finish(chart, "How much the jurors' errors go together", about)


def _dependence(result: Evaluation | Dependence | KeyedEvaluation) -> Dependence:
    if isinstance(result, Dependence):
        return result
    if isinstance(result, KeyedEvaluation):
        return dependence_with_key(result)
    if result.dependence is not None:
        return result.dependence
    if len(result.jurors) == 3 and len(result.labels) == 2:
        raise SketchError(
            "three jurors leave no residual: their grades explain every pair exactly. Error correlations need four "
            "jurors or a key"
        )
    if result.solution is None:
        raise SketchError("no real evaluation explains these counts, so nothing says how errors go together")
    return dependence_of(_sketch(result), result.solution)


def _sketch(evaluation: Evaluation) -> Any:
    if evaluation.sketch is None:
        raise SketchError("this evaluation was not made from a sketch, so its pairs of jurors are not known")
    return evaluation.sketch


def _check_size(size: int) -> None:
    if size < 2:
        raise SketchError("pairs need two jurors, got one")
    if size > _MOST:
        raise SketchError(f"a heat map of pairs holds up to {_MOST} jurors, got {size:,}; take some with Votes.take")


def _seriated(matrix: Floats) -> list[int]:
    """Jurors with like columns beside each other."""
    size = len(matrix)
    if size <= _FEW:
        return list(range(size))
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import pdist

    known = matrix[np.isfinite(matrix)]
    filled = np.where(np.isfinite(matrix), matrix, known.mean() if len(known) else 0.0)
    # by distances: linkage warns of columns that look like some themselves
    tree = linkage(pdist(filled), method="average", optimal_ordering=size <= 80)
    return [int(k) for k in leaves_list(tree)]


def _grouped(matrix: Floats, groups: list[list[int]]) -> list[int]:
    """Groups first, the largest first; then the others."""
    ranked = sorted(groups, key=len, reverse=True)
    inside = [group[k] for group in ranked for k in _seriated(matrix[np.ix_(group, group)])]
    outside = [k for k in range(len(matrix)) if k not in set(inside)]
    return inside + [outside[k] for k in _seriated(matrix[np.ix_(outside, outside)])]


def _heat(
    jurors: tuple[str, ...], order: list[int], matrix: Floats, items: Floats, groups: list[list[int]],
    scale: Any, legend: dict[str, Any], number_format: str, size: tuple[float | None, float | None],
) -> Chart:  # fmt: skip
    alt = altair()
    count = len(order)
    names = [jurors[k] for k in order]
    wide = size[0] or max(130.0, max(2, min(34, 600 // count)) * count)
    tall = wide if size[1] is None else size[1]
    named = data([{"at": k, "name": name} for k, name in enumerate(names)])
    rows = _triangle(matrix, items, order)
    base = _cells(alt.Chart(data(rows)), named, ["value", "items"] if "items" in rows[0] else ["value"])
    if "items" not in rows[0]:
        base = base.transform_calculate(items=f"{int(items[order[0], order[1]])}")
    # Small cells overlap a little: else the page's colour shines through the seams.
    base = base.mark_rect(**({} if wide / count > 8 else {"width": {"band": 1.2}, "height": {"band": 1.2}})).encode(
        color=alt.Color("value:Q", scale=scale, legend=alt.Legend(**legend)),
        tooltip=[
            alt.Tooltip("juror:N", title="juror"), alt.Tooltip("other:N", title="and"),
            alt.Tooltip("value:Q", title=legend["title"], format=number_format),
            alt.Tooltip("items:Q", title="items both judged", format=","),
        ],
    )  # fmt: skip
    x, y = _names_axes(names, wide / count, tall / count)
    layers = [
        base.encode(x=alt.X(f"{a}:N", **x), y=alt.Y(f"{b}:N", **y)) for a, b in (("juror", "other"), ("other", "juror"))
    ]
    if count <= _FEW:
        layers += _printed(base, x, y, number_format)
    if groups:
        layers.append(_frames(names, [[order.index(k) for k in group] for group in groups], x, y))
    return alt.layer(*layers).properties(width=wide, height=tall)


def _printed(base: Chart, x: dict[str, Any], y: dict[str, Any], number_format: str) -> list[Chart]:
    """The numbers in the cells of a small jury."""
    alt = altair()
    is_share = number_format.endswith("%")
    on_dark = "datum.value < 0.72" if is_share else "false"
    paint = alt.condition(on_dark, alt.value("#F5F5F5"), alt.value("#111111"))
    text = base.mark_text(fontSize=9).encode(
        text=alt.Text("value:Q", format=".0%" if is_share else "+.2f"), color=paint
    )
    return [
        text.encode(x=alt.X(f"{a}:N", **x), y=alt.Y(f"{b}:N", **y)) for a, b in (("juror", "other"), ("other", "juror"))
    ]


def _cells(chart: Chart, named: dict[str, Any], lists: list[str]) -> Chart:
    """Lists of numbers back to one row per pair, with both names."""
    alt = altair()
    return (
        chart.transform_flatten(lists)
        .transform_window(step="row_number()", groupby=["at"])
        .transform_calculate(to="datum.at + datum.step")
        .transform_filter("isValid(datum.value)")
        .transform_lookup("at", alt.LookupData(named, "at", ["name"]), as_=["juror"])
        .transform_lookup("to", alt.LookupData(named, "at", ["name"]), as_=["other"])
    )


def _names_axes(names: list[str], wide: float, tall: float) -> tuple[dict[str, Any], dict[str, Any]]:
    alt = altair()
    axis = {"ticks": False, "domain": False, "labelLimit": 120, "grid": False}
    scale = ordered(names, paddingInner=0.04 if min(wide, tall) > 8 else 0)
    hidden = format_count(len(names), "juror") + "; hover to read their names"
    short = max(map(len, names)) * 7 <= wide
    x_axis = alt.Axis(labelAngle=0 if short else -50, labels=wide >= 9, **axis)
    x = {"title": None if wide >= 9 else hidden, "axis": x_axis, "scale": scale}
    return x, {"title": None, "axis": alt.Axis(labels=tall >= 9, **axis), "scale": scale}


def _frames(names: list[str], groups: list[list[int]], x: dict[str, Any], y: dict[str, Any]) -> Chart:
    alt = altair()
    ends = [{"first": names[min(group)], "last": names[max(group)]} for group in groups]
    frame = alt.Chart(data(ends)).mark_rect(fillOpacity=0, style="outline", strokeWidth=1.5)
    return frame.encode(
        x=alt.X("first:N", bandPosition=0, **x), x2=alt.X2("last:N", bandPosition=1),
        y=alt.Y("first:N", bandPosition=0, **y), y2=alt.Y2("last:N", bandPosition=1),
    )  # fmt: skip


def _triangle(matrix: Floats, items: Floats, order: list[int]) -> list[Row]:
    """One row per juror: its numbers with every later juror; null where a pair shares no item."""
    values, shared = matrix[np.ix_(order, order)], items[np.ix_(order, order)]
    if len(order) > _ALL_DIGITS:
        values = values.round(3)
    upper = shared[np.triu_indices(len(order), 1)]
    alike = bool((upper == upper[0]).all())  # nobody left an item out: the number is said once, by the chart
    rows = []
    for at in range(len(order) - 1):
        numbers = [None if x != x else x for x in values[at, at + 1 :].tolist()]
        row: Row = {"at": at, "value": numbers}
        rows.append(row if alike else row | {"items": [int(n) for n in shared[at, at + 1 :]]})
    return rows


# Who takes what for what: each juror's confusion matrix.


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
    check_result(evaluation, (Evaluation, KeyedEvaluation), "confusion matrices")
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
    about = [f"{format_count(evaluation.items, 'item')}; {_method(evaluation)}"]
    if len(chosen) < len(evaluation.jurors):
        about.append(f"{len(chosen)} of {format_count(len(evaluation.jurors), 'juror')} shown")
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
