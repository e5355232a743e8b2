"""The figures of an experiment: how far AE and majority vote are from the truth, and the correlations that explain it.

Each is a function from the experiment's document (`Experiment.to_dict`) to one chart. Axes grow past [0, 1] where
estimates do: that is an alarm, and it must be seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jurors._files import atomic_path
from jurors.errors import VotesError

_COLOURS = {"AE": "#0072b2", "MV": "#d55e00", "best possible": "#009e73", "truth": "#666666"}
_METHODS = {"algebraic": "AE", "majority": "MV"}


def prevalence_figure(document: Mapping[str, Any]) -> Any:
    """The prevalence by method: the median and the middle 90% of the tests, beside the truth."""
    import altair as alt

    rows = [
        {"true share of a": r["prevalence"], "trio": _trio(r), "method": name, "truth": r["prevalence_of_a"]["truth"]}
        | _spread(r["prevalence_of_a"][method])
        for r in document["results"]
        for method, name in _METHODS.items()
    ]
    base = alt.Chart().encode(y=alt.Y("trio:N", title="trio"), yOffset="method:N")
    x = alt.X("low:Q", title="estimate: median, middle 90% of tests; line: truth")
    bars = base.mark_bar(height=5, opacity=0.45).encode(x=x, x2=alt.X2("high:Q"), color=_colour(), tooltip=_tips())
    ticks = base.mark_tick(thickness=3, height=9, opacity=1).encode(
        x=alt.X("median:Q"), color=_colour(), tooltip=_tips()
    )
    truth = alt.Chart().mark_rule(color=_COLOURS["truth"], strokeDash=[4, 3]).encode(x=alt.X("truth:Q"))
    facet = alt.Facet("true share of a:N", title="true share of a", sort=_order(document))
    layered = alt.layer(truth, bars, ticks, data=alt.Data(values=rows)).properties(width=330, height=150)
    return _titled(layered.facet(facet=facet, columns=2), document, "How common label a is, by AE and by majority vote")


def accuracy_figure(document: Mapping[str, Any]) -> Any:
    """Each estimated accuracy against the true one: on the line is right."""
    import altair as alt

    rows = [
        {
            "true share of a": r["prevalence"], "trio": _trio(r), "method": name, "juror": e["juror"],
            "label": e["label"], "truth": e["truth"],
        }
        | _spread(e[method])
        for r in document["results"]
        for e in r["accuracy"]
        for method, name in _METHODS.items()
    ]  # fmt: skip
    x = alt.X("truth:Q", title="true accuracy", scale=alt.Scale(domain=[0, 1]))
    # Estimates may be far outside [0, 1]; a scale that is linear near it keeps both in sight.
    scale = alt.Scale(type="symlog", constant=1)
    y = alt.Y("median:Q", title="estimate: median, middle 90% of tests", scale=scale)
    tips = [*_tips(), "juror:N", "label:N"]
    base = alt.Chart().encode(x=x, color=_colour())
    points = base.mark_point(filled=True, size=45, opacity=1).encode(y=y, shape=alt.Shape("label:N"), tooltip=tips)
    spread = base.mark_rule(opacity=0.4).encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), tooltip=tips)
    # From truth to truth: on such a scale a straight line between two corners would pass beside it.
    line = (
        alt.Chart().mark_line(color=_COLOURS["truth"], strokeDash=[4, 3]).encode(x=x, y=alt.Y("truth:Q", scale=scale))
    )
    facet = alt.Facet("true share of a:N", title="true share of a", sort=_order(document))
    layered = alt.layer(line, spread, points, data=alt.Data(values=rows)).properties(width=330, height=260)
    return _titled(layered.facet(facet=facet, columns=2), document, "Accuracies, estimated and true")


def label_figure(document: Mapping[str, Any]) -> Any:
    """Wrong labels of AE and majority vote beside the fewest that these decisions allow."""
    import altair as alt

    names = {"algebraic": "AE", "majority": "MV", "best_possible": "best possible"}
    rows = [
        {"true share of a": r["prevalence"], "trio": _trio(r), "method": name, "wrong": r["labelling_errors"][key]}
        for r in document["results"]
        for key, name in names.items()
    ]
    chart = alt.Chart(alt.Data(values=rows)).mark_point(filled=True, size=90, opacity=1)
    items = document["settings"]["items"]
    chart = chart.encode(
        x=alt.X("wrong:Q", title=f"wrong labels among {items:,} (mean of the tests)"),
        y=alt.Y("trio:N", title="trio"),
        color=_colour("AE", "MV", "best possible"),
        shape=alt.Shape("method:N", scale=alt.Scale(domain=list(names.values()))),
        tooltip=["trio:N", "method:N", alt.Tooltip("wrong:Q", format=",.0f")],
    ).properties(width=330, height=110)
    facet = alt.Facet("true share of a:N", title="true share of a", sort=_order(document))
    return _titled(chart.facet(facet=facet, columns=2), document, "Labelling errors")


def correlation_figure(document: Mapping[str, Any]) -> Any:
    """What error correlations add to each pair's covariance, beside what the truth puts there."""
    import altair as alt

    seen = {}
    for r in document["results"]:
        for pair in r["correlation"]["pairs"]:
            name = " ".join(map(str, pair["jurors"]))
            for what, key in (("truth", "signal"), ("error correlation", "added")):
                seen[r["prevalence"], name, what] = pair[key]
    rows = [
        {"true share of a": p, "pair": pair, "from": what, "covariance": value}
        for (p, pair, what), value in seen.items()
    ]
    colour = alt.Color("from:N", scale=alt.Scale(domain=["truth", "error correlation"], range=["#009e73", "#cc79a7"]))
    chart = alt.Chart(alt.Data(values=rows)).mark_bar().encode(
        x=alt.X("covariance:Q", title="covariance of a pair's answers (mean of the tests)"),
        y=alt.Y("pair:N", title="pair"),
        yOffset=alt.YOffset("from:N", sort=["truth", "error correlation"]),
        color=colour,
        tooltip=["pair:N", "from:N", alt.Tooltip("covariance:Q", format=".4f")],
    )  # fmt: skip
    facet = alt.Facet("true share of a:N", title="true share of a", sort=_order(document))
    return _titled(
        chart.properties(width=330, height=150).facet(facet=facet, columns=2), document, "Skill, or a shared error?"
    )


FIGURES: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "prevalence": prevalence_figure,
    "accuracy": accuracy_figure,
    "labels": label_figure,
    "correlation": correlation_figure,
}


def write_figures(document: Mapping[str, Any], folder: Path) -> list[str]:
    """Every figure as PNG, SVG and a page of its own that needs no network; the names of the files."""
    try:
        import altair  # noqa: F401
        import vl_convert  # noqa: F401
    except ImportError:
        raise VotesError("figures need altair and vl-convert: pip install 'jurors[plot]'") from None
    written = []
    for name, figure in FIGURES.items():
        chart = figure(document)
        for ending in ("png", "svg", "html"):
            options: dict[str, Any] = {"inline": True} if ending == "html" else {}
            options |= {"scale_factor": 2} if ending == "png" else {}
            with atomic_path(folder / f"{name}.{ending}") as draft:
                chart.save(str(draft), format=ending, **options)
            written.append(f"{name}.{ending}")
    return written


def _spread(errors: Mapping[str, Any]) -> dict[str, Any]:
    ends = errors["quantiles"]
    return {"median": errors["median"], "low": ends and ends["0.05"], "high": ends and ends["0.95"]}


def _colour(*methods: str) -> Any:
    import altair as alt

    shown = methods or ("AE", "MV")
    # The bars are pale so that medians stand out; the legend must not be.
    legend = alt.Legend(symbolOpacity=1)
    return alt.Color("method:N", legend=legend, scale=alt.Scale(domain=list(shown), range=[_COLOURS[m] for m in shown]))


def _tips() -> list[Any]:
    import altair as alt

    numbers = [alt.Tooltip(f"{name}:Q", format=".3f") for name in ("truth", "median", "low", "high")]
    return ["trio:N", "method:N", *numbers]


def _order(document: Mapping[str, Any]) -> list[str]:
    return list(document["settings"]["prevalences"])


def _trio(result: Mapping[str, Any]) -> str:
    return " ".join(map(str, result["trio"]))


def _titled(chart: Any, document: Mapping[str, Any], title: str) -> Any:
    """The title says which draw it is: the one must not be taken for the other."""
    drawn = {"shared": "the same records for all jurors", "separate": "separate records: independent by construction"}
    where = f"{document['source']}, {drawn[document['draw']]}"
    return chart.properties(title={"text": title, "subtitle": where, "anchor": "start"})
