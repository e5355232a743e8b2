"""Heat maps of pairs (agreement, dependence, error correlations), and each juror's confusion matrix.

The numbers of a triangle travel once, and are drawn on both sides of the diagonal. Of a large panel at most 20 jurors
are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from jurors._numeric import Floats
from jurors.errors import SketchError, name_positions, short_names
from jurors.evaluate.agreement import FEW_COMMON, AgreementStatistics, agreement_statistics, pair_kappas
from jurors.evaluate.dependence import Dependence, dependence_with_key
from jurors.evaluate.evaluation import Evaluation, KeyedEvaluation
from jurors.reporting.charts import base
from jurors.reporting.charts.base import PERCENT, Chart, Row, alt, check_result, data, finish, number, tip
from jurors.results import count_noun
from jurors.sketch.pairs import Pairs

_FEW = 12  # up to so many jurors keep their order


def agreement(
    result: AgreementStatistics | Evaluation, *, jurors: Sequence[str] | None = None, width: float | None = None,
    height: float | None = None,
) -> Chart:  # fmt: skip
    """How often each pair of jurors gave the same answer. This is not accuracy.

    Of more than 20 jurors, the best and the worst of an Evaluation are shown, else those that share the most items.

    Returns
    -------
    altair chart
    """
    check_result(result, (AgreementStatistics, Evaluation), "agreement")
    statistics = result if isinstance(result, AgreementStatistics) else agreement_statistics(_sketch(result))
    size = len(statistics.jurors)
    _check_size(size)
    pairs, common = np.array([statistics.first, statistics.second]), np.asarray(statistics.pair_items)
    what = "The best and worst" if jurors is None else "Shown"
    if isinstance(result, Evaluation) or jurors is not None:
        names = base.shown_jurors(result, jurors) if isinstance(result, Evaluation) else list(jurors or ())
        shown = name_positions(statistics.jurors, names)
    else:
        what = "Those that share the most items"
        shared = np.bincount(pairs.ravel(), weights=np.tile(common, 2), minlength=size)
        shown = sorted(np.argsort(-shared, kind="stable")[: base.MOST_JURORS].tolist())
    place = np.full(size, -1)
    place[shown] = np.arange(len(shown))
    among = (place[pairs] >= 0).all(axis=0)  # of the pairs of a large crowd, those that are shown
    both = tuple(place[pairs[:, among]])
    matrix = _symmetric(len(shown), both, np.asarray(statistics.pair_agreement)[among], np.nan)
    items = _symmetric(len(shown), both, common[among], 0.0)
    names = [short_names(statistics.jurors)[statistics.jurors[k]] for k in shown]
    alpha = statistics.krippendorff_alpha
    share = "" if statistics.agreement is None else f"two votes agree {float(statistics.agreement):.1%} of the time"
    chance = "" if alpha is None else f", Krippendorff's alpha {float(alpha):.2f}"
    about = [f"{count_noun(size, 'juror')}, {count_noun(statistics.items, 'item')}; {share}{chance}"]
    about += base.shown_of(names, statistics.jurors, what)
    chart = _heat("agreement", names, matrix, items, (width, height))
    return finish(chart, "How often each pair of jurors agrees", about)


def dependence(
    result: Evaluation | Dependence | KeyedEvaluation, *, width: float | None = None, height: float | None = None
) -> Chart:
    """Which jurors depend on each other; with more than 20 jurors, only the most dependent.

    Of an Evaluation: how far each pair agrees beyond chance (Cohen's kappa), which in real panels goes with correlated
    errors. With a key (a KeyedEvaluation, or its `Dependence`): the actual error correlations.

    Returns
    -------
    altair chart
    """
    check_result(result, (Evaluation, Dependence, KeyedEvaluation), "dependence")
    if isinstance(result, Evaluation):
        if result.dependence:
            return _kappas(result, (width, height))
        raise SketchError(
            "how far errors are correlated is not known: jurors share too few items, or errors are taken for "
            "independent. Give an answer key, or leave out errors='independent'"
        )
    measured = dependence_with_key(result) if isinstance(result, KeyedEvaluation) else result
    size = len(measured.jurors)
    _check_size(size)
    if not np.isfinite(measured.correlation).any():
        raise SketchError("no two of these jurors share enough items, so their errors cannot be compared")
    shown = _most_dependent([(a, b) for a, b, _, _ in measured.pairs()], measured.jurors)
    at = [measured.jurors.index(j) for j in shown]
    correlation = measured.correlation[np.ix_(at, at)]
    about = [
        f"{count_noun(size, 'juror')} are worth {measured.effective_jurors:.1f} independent "
        "ones; mean error correlation "
        f"{measured.mean_correlation:+z.3f}",
        *base.shown_of(shown, measured.jurors, "The most dependent"),
    ]
    items = measured.items[np.ix_(at, at)]
    names = [short_names(measured.jurors)[j] for j in shown]
    chart = _heat("error correlation", names, correlation, items, (width, height))
    return finish(chart, "How far errors are correlated", about)


def _kappas(e: Evaluation, size: tuple[float | None, float | None]) -> Chart:
    """Draw how far each pair agrees beyond chance."""
    shown = _most_dependent([pair.jurors for pair in e.dependence], e.jurors)
    sketch = _sketch(e).take(shown)
    pairs = Pairs(sketch)
    both = (pairs.first, pairs.second)
    kappa = _symmetric(len(shown), both, pair_kappas(sketch, *both, ("nominal",), None)[0].kappa, np.nan)
    items = _symmetric(len(shown), both, pairs.items, 0.0)
    kappa[items < FEW_COMMON] = np.nan
    about = [f"{count_noun(len(e.jurors), 'juror')} are worth about {e.effective_jurors:.1f} independent ones"]
    about += base.shown_of(shown, e.jurors, "The most dependent")
    chart = _heat("kappa", [short_names(e.jurors)[j] for j in shown], kappa, items, size)
    return finish(chart, "How far each pair of jurors agrees beyond chance", about)


def _most_dependent(pairs: Sequence[Sequence[str]], jurors: Sequence[str]) -> list[str]:
    """Select at most 20 jurors: those of the first pairs; all of a small panel, in its order."""
    if len(jurors) <= base.MOST_JURORS:
        return list(jurors)
    first = list(dict.fromkeys(j for pair in pairs for j in pair))[: base.MOST_JURORS]
    return [j for j in jurors if j in set(first)]


def _sketch(evaluation: Evaluation) -> Any:
    if evaluation.sketch is None:
        raise SketchError("this evaluation was not made from a sketch, so its pairs of jurors are not known")
    return evaluation.sketch


def _symmetric(size: int, pairs: tuple[Any, ...], values: Any, empty: float) -> Floats:
    """Make a matrix of the pairs' values, on both sides of the diagonal."""
    matrix = np.full((size, size), empty)
    matrix[pairs] = matrix[pairs[::-1]] = values
    return matrix


def _check_size(size: int) -> None:
    if size < 2:
        raise SketchError("pairs need two jurors, got one")


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


# How numbers are written, and how far colours reach on both sides of 0 at least; agreement has no negative side.
_FORMATS = {"agreement": (".1%", None), "kappa": ("+.2f", 0.2), "error correlation": ("+.3f", 0.05)}


def _heat(
    what: str, jurors: Sequence[str], matrix: Floats, items: Floats, size: tuple[float | None, float | None]
) -> Chart:
    """Draw a matrix of these numbers; a pair that shares no item has none."""
    number_format, least = _FORMATS[what]
    known = matrix[np.isfinite(matrix)]
    if least is None:
        scale = alt.Scale(scheme=base.SEQUENTIAL, domain=[min(0.5, float(known.min(initial=0.5))), 1.0])
        legend = alt.Legend(title=what, format="%")
    else:
        reach = float(np.abs(known).max(initial=least))
        scale = alt.Scale(domain=[-reach, 0, reach], range=base.DIVERGING, interpolate="rgb", clamp=True)
        legend = alt.Legend(title=what, format="+.2f", values=[-reach, 0, reach])
    order, count = _seriated(matrix), len(jurors)
    names = [jurors[k] for k in order]
    wide = size[0] or max(130.0, max(2, min(34, 600 // count)) * count)
    tall = wide if size[1] is None else size[1]
    rows: list[Row] = [
        {"juror": jurors[a], "other": jurors[b], "value": float(matrix[a, b]), "items": int(items[a, b])}
        for a, b in combinations(order, 2)
        if np.isfinite(matrix[a, b])
    ]
    # Small cells overlap a little: else the page's colour shines through the seams.
    overlap = {} if wide / count > 8 else {"width": {"band": 1.2}, "height": {"band": 1.2}}
    encoded = alt.Chart(data(rows)).mark_rect(**overlap).encode(
        color=alt.Color("value:Q", scale=scale, legend=legend),
        tooltip=[
            tip("juror:N", "juror"), tip("other:N", "and"),
            tip("value:Q", what, number_format),
            tip("items:Q", "items both judged", ","),
        ],
    )  # fmt: skip
    axis = {"ticks": False, "domain": False, "labelLimit": 140, "grid": False, "labelExpr": base.CUT_LABEL}
    cell_wide, cell_tall = wide / count, tall / count
    axis_scale = base.ordered(names, paddingInner=0.04 if min(cell_wide, cell_tall) > 8 else 0)
    is_short = max(map(len, names)) * 7 <= cell_wide
    x_axis = alt.Axis(labelAngle=0 if is_short else -50, labels=cell_wide >= 9, **axis)
    x_title = None if cell_wide >= 9 else count_noun(count, "juror") + "; hover to read their names"
    x = {"title": x_title, "axis": x_axis, "scale": axis_scale}
    y = {"title": None, "axis": alt.Axis(labels=cell_tall >= 9, **axis), "scale": axis_scale}

    def both_sides(chart: Chart) -> list[Chart]:
        sides = (("juror", "other"), ("other", "juror"))
        return [chart.encode(x=alt.X(f"{a}:N", **x), y=alt.Y(f"{b}:N", **y)) for a, b in sides]

    layers = both_sides(encoded)
    if count <= _FEW:  # the numbers stand in the cells
        on_dark = "datum.value < 0.72" if least is None else "false"
        ink = alt.condition(on_dark, alt.value("#F5F5F5"), alt.value("#111111"))
        text = alt.Text("value:Q", format=".0%" if least is None else "+.2f")
        layers += both_sides(encoded.mark_text(fontSize=9).encode(text=text, color=ink))
    return alt.layer(*layers).properties(width=wide, height=tall)


# -- each juror's confusion matrix --

_PRINTED = 6  # up to so many labels, the numbers stand in the cells
_MOST_MATRICES = 12


def busiest_jurors(evaluation: Evaluation | KeyedEvaluation) -> list[str]:
    """Select the jurors whose confusion matrices are drawn: those with most votes, in their order."""
    busiest = sorted(evaluation.jurors, key=lambda j: -evaluation.votes.get(j, 0))[:_MOST_MATRICES]
    return [j for j in evaluation.jurors if j in set(busiest)]


def confusion(
    evaluation: Evaluation | KeyedEvaluation, *, jurors: Sequence[str] | None = None, width: float | None = None,
    height: float | None = None,
) -> Chart:  # fmt: skip
    """How often each juror gives each label to items of each true label: these jurors, or the 12 with most votes.

    Of an Evaluation, confusions are those of the independent-errors model.

    Returns
    -------
    altair chart
    """
    check_result(evaluation, (Evaluation, KeyedEvaluation), "confusion matrices")
    if isinstance(evaluation, Evaluation) and evaluation.exam:
        raise SketchError("the choices of an exam mean nothing across questions, so there is no confusion between them")
    shown = base.shown_jurors(evaluation, busiest_jurors(evaluation) if jurors is None else jurors)
    labels = [str(a) for a in evaluation.labels]
    solution: Any = evaluation.solution if isinstance(evaluation, KeyedEvaluation) else evaluation.independent.solution
    if solution is None:
        raise SketchError("no real solution explains these votes, so there are no confusion matrices")
    tables, short = solution.to_float().confusion, short_names(evaluation.jurors)
    rows: list[Row] = [
        {"juror": short[j], "true": str(a), "said": str(b), "share": number(tables[j][a][b])}
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
    tips += [tip("said:N", "vote"), tip("share:Q", "how often", PERCENT)]
    encoded = alt.Chart().encode(
        x=alt.X("said:N", scale=base.ordered(labels), title="vote").axis(
            labelAngle=-40 if cell >= 20 else -90, labelLimit=70, ticks=False, domain=False
        ),
        y=alt.Y("true:N", scale=base.ordered(labels), title="true label").axis(
            labelLimit=70, ticks=False, domain=False
        ),
        tooltip=tips,
    )
    scale = alt.Scale(scheme=base.SEQUENTIAL, domain=domain)
    layers = [encoded.mark_rect().encode(color=alt.Color("share:Q", title="how often", scale=scale).legend(format="%"))]
    if len(labels) <= _PRINTED:
        middle = (domain[0] + domain[1]) / 2
        ink = alt.condition(f"datum.share > {middle}", alt.value("#111111"), alt.value("#F5F5F5"))
        layers.append(encoded.mark_text(fontSize=10).encode(text=alt.Text("share:Q", format=".0%"), color=ink))
    chart = alt.layer(*layers, data=data(base.placed(rows, "juror", [short[j] for j in shown]))).properties(
        width=wide, height=tall
    )
    columns = max(1, min(len(shown), int(760 / (wide + 30))))
    chart = chart.facet(facet=alt.Facet("juror:N", sort=base.by_place(), title=None), columns=columns)
    how = "if errors were independent" if isinstance(evaluation, Evaluation) else "by the answer key"
    about = [f"{count_noun(evaluation.items, 'item')}; {how}"]
    about += base.shown_of(shown, evaluation.jurors, "Those with the most votes" if jurors is None else "Shown")
    return finish(chart, "Which labels each juror confuses", about)
