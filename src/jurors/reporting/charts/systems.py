"""The systems under test: each system's rate with its interval, by tier."""

from __future__ import annotations

from jurors.evaluate.card import percent, percent_range
from jurors.jury.systems import SystemComparison, rank_text
from jurors.reporting.charts.base import (
    BLUE,
    CUT_LABEL,
    GREY,
    ORANGE,
    Chart,
    Row,
    alt,
    check_result,
    data,
    finish,
    grow_domain,
    ordered,
    tip,
)
from jurors.results import count_noun

_MAX_HEIGHT = 900.0
_COLOURS = {"may be the best": BLUE, "settled as worse": ORANGE, "too few items": GREY}


def systems(result: SystemComparison, *, width: float = 420, height: float | None = None) -> Chart:
    """Each system's rate with its interval and the ranks that it may have, the best first; a cross is the raw rate.

    Lines separate the tiers.

    Returns
    -------
    altair chart
    """
    check_result(result, (SystemComparison,), "systems")
    is_rate = result.good is not None
    rows: list[Row] = []
    for name, x in result.systems.items():
        place = "too few items" if x.best_rank is None else "may be the best"
        row: Row = {"system": name, "value": x.rate, "low": x.low, "high": x.high, "raw": x.raw, "items": x.items}
        row |= {"place": place if x.best_rank in (None, 1) else "settled as worse", "rank": rank_text(x)}
        row["shown"], row["raw_shown"] = (percent(v) if is_rate else f"{v:.2f}" for v in (x.rate, x.raw))
        row["interval"] = percent_range((x.low, x.high)) if is_rate else f"{x.low:.2f} – {x.high:.2f}"
        rows.append(row)
    ends = [row[name] for row in rows for name in ("low", "high", "value", "raw")]
    domain = grow_domain(*ends) if is_rate else [min(ends), max(ends)]
    title = f"rate of {result.good}" if is_rate else "mean level"
    axis = alt.X("value:Q", title=title, scale=alt.Scale(domain=domain, nice=False, zero=False))
    axis = axis.axis(format="%" if is_rate else ".1f", tickCount=6)
    step = max(5.0, min(22.0, _MAX_HEIGHT / len(rows)))
    y = alt.Y("system:N", scale=ordered(result.systems), title=None)
    y = y.axis(grid=True, labels=step >= 9, ticks=False, domain=False, labelExpr=CUT_LABEL)
    places = [place for place in _COLOURS if any(row["place"] == place for row in rows)]
    scale = alt.Scale(domain=places, range=[_COLOURS[place] for place in places])
    legend = alt.Legend(title=None, orient="bottom") if len(places) > 1 else None
    tips = [
        tip("system:N", "system"), tip("shown:N", title), tip("interval:N", f"{result.level * 100:g}%"),
        tip("raw_shown:N", "raw"), tip("items:Q", "items", ","), tip("rank:N", "rank"),
    ]  # fmt: skip
    base = alt.Chart().encode(y=y, x=axis, tooltip=tips, color=alt.Color("place:N", scale=scale, legend=legend))
    layers = [
        base.mark_rule(strokeWidth=3, opacity=0.6).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")),
        base.mark_point(shape="cross", filled=True, size=45).encode(x=alt.X("raw:Q"), color=alt.value(GREY)),
        base.mark_point(filled=True, size=60, opacity=1),
    ]
    if step >= 9:
        text = alt.Chart().mark_text(align="left", baseline="middle", dx=6)
        layers.append(text.encode(y=y, text=alt.Text("rank:N"), x=alt.value(width)))
    last_of_tiers = [tier[-1] for tier in result.ranking[:-1]]
    if last_of_tiers:
        rule = alt.Chart(data([{"system": name} for name in last_of_tiers])).mark_rule(style="ink", strokeOpacity=0.5)
        layers.append(rule.encode(y=alt.Y("system:N", bandPosition=1)))
    tall = step * len(rows) if height is None else height
    chart = alt.layer(*layers, data=data(rows)).properties(width=width, height=tall)
    about = [
        f"{count_noun(result.judges, 'judge')}; {result.level * 100:g}% intervals; on the right, possible ranks",
        "Crosses: raw rates by majority" if is_rate else "Crosses: means of the votes",
    ]
    return finish(chart, "How good each system is", about)
