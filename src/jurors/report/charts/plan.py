"""How fast the grades of a planned jury become known: half widths over items, one line per size of jury."""

from __future__ import annotations

from typing import Any

from jurors.report.charts.theme import GREY, PALETTE, Chart, altair, finish

_TICKS = [step * 10**k for k in range(2, 13) for step in (1, 2, 5)]
_WIDTHS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]


def plan(planned: Any) -> Chart:
    """The ± of the weakest accuracy over the items of the test, one line per number of jurors (a `jurors.Plan`)."""
    alt = altair()
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
                alt.Tooltip("jurors:N", title="jurors"),
                alt.Tooltip("items:Q", title="items", format=","),
                alt.Tooltip("width:Q", title="known to ±", format=".2%"),
            ],
        )
    )  # fmt: skip
    asked = (
        alt.Chart(alt.Data(values=[{"width": planned.width}]))
        .mark_rule(color=GREY, strokeWidth=1.5, strokeDash=[6, 4])
        .encode(y=alt.Y("width:Q"), tooltip=[alt.Tooltip("width:Q", title="asked for: ±", format=".2%")])
    )
    needed = ", ".join(f"{row.jurors} jurors: {_count(row.items)}" for row in planned.rows)
    subtitle = [
        f"items for ±{planned.width:g} (dashed) – {needed}",
        "for independent errors; correlated ones add a bias that stays",
    ]
    return finish((lines + asked).properties(width=460, height=300), "How many items a jury needs", subtitle)


def _count(items: int | None) -> str:
    return "never" if items is None else f"{items:,}"
