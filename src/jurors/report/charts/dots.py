"""Dots and intervals in rows: as real juries go, beside them if errors were independent, and the actual by a key."""

from __future__ import annotations

from typing import Any

from jurors.report.charts.theme import BLUE, GREY, ORANGE, Chart, Row, altair, data, grown

_DRAWN = ("value", "value_low", "value_high", "actual", "plain", "plain_low", "plain_high")


def dot_layers(rows: list[Row], y: Any, what: str, tooltip: list[Any], *, form: str, ticks: int) -> list[Chart]:
    """The layers of such a chart of shares, `form` being how the axis writes them; it grows to hold every number."""
    alt = altair()
    domain = grown(*(row.get(name) for row in rows for name in _DRAWN))
    x = alt.X("value:Q", title=what, scale=alt.Scale(domain=domain, nice=False, zero=False))
    base = alt.Chart().encode(x=x.axis(format=form, tickCount=ticks), y=y, tooltip=tooltip)
    edges = alt.Chart(data([{"edge": 0}, {"edge": 1}])).mark_rule(style="ink", strokeOpacity=0.5)
    layers = [edges.encode(x=alt.X("edge:Q"))]
    both = any(row.get("plain") is not None for row in rows)
    bar = base.mark_rule(strokeWidth=5 if both else 2, opacity=0.4 if both else 0.65, color=BLUE)
    layers += [bar.encode(x=alt.X("value_low:Q"), x2=alt.X2("value_high:Q"))]
    if both:
        thin = base.mark_rule(strokeWidth=1, opacity=0.9, color=ORANGE)
        layers += [thin.encode(x=alt.X("plain_low:Q"), x2=alt.X2("plain_high:Q"))]
        layers += [base.mark_point(filled=False, size=40, color=ORANGE, opacity=1).encode(x=alt.X("plain:Q"))]
    if any("actual" in row for row in rows):
        layers += [
            base.mark_point(shape="cross", filled=True, size=55, color=GREY, opacity=1).encode(x=alt.X("actual:Q"))
        ]
    return [*layers, base.mark_point(filled=True, size=50, color=BLUE, opacity=1)]
