"""How every chart looks: colours that all eyes tell apart, text that reads on white and on near-black, one finish.

User text (names, labels) travels in data values and titles only, never in field names, which Vega reads as paths. Vega
makes expressions of titles, for tooltips and screen readers: `shortened` leaves nothing in them that could end a text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, Literal, TypeAlias, get_args

from jurors.errors import JurorsError, SketchError
from jurors.quoting import visible
from jurors.votes import Label

Chart: TypeAlias = Any  # an altair chart of any kind: single, layered, faceted or joined
Row: TypeAlias = dict[str, Any]
Theme: TypeAlias = Literal["both", "light", "dark"]

THEMES: tuple[Theme, ...] = get_args(Theme)
PERCENT = ".1%"

# Okabe and Ito's colours; the light ones are darkened until they keep a contrast of 3 on white and on #121212.
BLUE, ORANGE, GREEN, PINK, GOLD, SKY, BROWN = (
    "#0072B2", "#D55E00", "#009E73", "#C46A9B", "#B58300", "#3F97CB", "#98694B",
)  # fmt: skip
GREY = "#858585"
# The first seven are safe for all eyes; more labels than that are told apart by their place and tooltip as well.
PALETTE = (BLUE, ORANGE, GREEN, PINK, GOLD, SKY, BROWN, "#7B61C9", "#5F8A1F", "#C23B54", "#1F9C9C", "#8F7FA8")
DIVERGING = [BLUE, "#F4F4F2", ORANGE]  # below zero, zero, above
SEQUENTIAL = "viridis"

_NO_END = str.maketrans('\\"', "⧵″")

_INK = {"both": "#7B7B7B", "light": "#333333", "dark": "#D6D6D6"}
_PAGE = {"both": "transparent", "light": "#FFFFFF", "dark": "#121212"}
_FONT = "system-ui, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif"


def altair() -> Any:
    """The drawing library, or one line about how to get it."""
    try:
        return import_module("altair")
    except ImportError as error:
        if error.name in ("altair", None):
            raise JurorsError("charts need altair: pip install 'jurors[plot]'") from None
        raise JurorsError(f"charts need altair, which does not load: {error}") from error


def config(theme: Theme = "both") -> dict[str, Any]:
    """Vega-Lite's `config` of a theme; "both" has no background, and greys that read on white and on near-black."""
    if theme not in THEMES:
        raise JurorsError(f"there is no theme {theme!r}; there are: {', '.join(THEMES)}")
    ink = _INK[theme]
    text = {"labelColor": ink, "titleColor": ink, "titleFontWeight": "normal"}
    guide = {**text, "labelFontSize": 11, "titleFontSize": 12, "labelLimit": 170}
    symbols = {"symbolBaseFillColor": ink, "symbolBaseStrokeColor": ink}
    lines = {"domainColor": ink, "tickColor": ink, "gridColor": GREY, "gridOpacity": 0.22, "domainOpacity": 0.5}
    return {
        "background": _PAGE[theme],
        "font": _FONT,
        "padding": 8,
        "view": {"stroke": None},
        "axis": {**guide, **lines, "titleLimit": 420, "titlePadding": 8},
        "legend": {**guide, "titleLimit": 220, "symbolOpacity": 1, "columnPadding": 24, **symbols},
        "header": {**guide, "labelFontSize": 12},
        "title": {
            "color": ink, "subtitleColor": ink, "anchor": "start", "fontSize": 15, "subtitleFontSize": 12,
            "fontWeight": 600, "offset": 14, "subtitlePadding": 5, "frame": "group",
        },
        "text": {"color": ink, "fontSize": 11},
        "style": {"ink": {"color": ink}, "outline": {"stroke": ink}},
    }  # fmt: skip


def finish(chart: Chart, title: str, subtitle: Sequence[str] = ()) -> Chart:
    """The chart with its subject on top, dressed for both kinds of page."""
    alt = altair()
    lines = [visible(line) for line in subtitle if line]
    heading = alt.TitleParams(visible(title), subtitle=lines) if lines else alt.TitleParams(visible(title))
    return chart.properties(title=heading).configure(**config())


def small_title(text: str) -> Any:
    """What one panel of several shows."""
    return altair().TitleParams(text, fontSize=12, fontWeight="normal", offset=6)


def themed(chart: Chart, theme: Theme) -> Chart:
    """The same chart for a white or a near-black page; "both" is what every chart function returns."""
    return chart.configure(**config(theme))


def data(rows: Sequence[Row]) -> dict[str, Any]:
    """Rows as inline data, names made visible.

    Given as a plain mapping, altair does not look at each of them; in a tuple, it does not copy them with every layer.
    """
    return {"values": tuple({k: visible(v) if isinstance(v, str) else v for k, v in row.items()} for row in rows)}


def in_order(names: Iterable[object]) -> list[str]:
    """Names as the data have them, for a scale that keeps their order."""
    return [visible(str(name)) for name in names]


def ordered(names: Iterable[object], **more: Any) -> Any:
    """The scale of an axis with these names in this order: Vega makes an expression of the names in a `sort`."""
    return altair().Scale(domain=in_order(names), **more)


def placed(rows: Sequence[Row], field: str, names: Sequence[object]) -> list[Row]:
    """The rows with the `place` of a name among these, by which `by_place` sorts the panels of a facet."""
    place = {str(name): k for k, name in enumerate(names)}
    return [row | {"place": place[row[field]]} for row in rows]


def by_place() -> Any:
    """How a facet is sorted whose rows are `placed`."""
    return altair().EncodingSortField("place", op="min")


def label_scale(labels: Sequence[Label]) -> tuple[list[str], list[str]]:
    """The labels as text, and a colour each; those that the palette has no colour for are grey."""
    names = in_order(labels)
    return names, [PALETTE[k] if k < len(PALETTE) else GREY for k in range(len(names))]


def grown(*values: float | None) -> list[float]:
    """[0, 1], grown to hold all values: an estimate outside is an alarm, and must be seen."""
    known = [float(x) for x in values if x is not None and x == x]
    low, high = min([0.0, *known]), max([1.0, *known])
    room = 0.03 * (high - low)
    return [low - room, high + room]


def shortened(text: object, most: int = 40) -> str:
    r"""Text for a title: one line, not too long, without what could end a text in an expression.

    >>> print(shortened('yes\\"+now()'))
    yes⧵″+now()
    """
    line = visible(" ".join(str(text).split())).translate(_NO_END)
    return line if len(line) <= most else f"{line[: most - 1]}…"


def counted(number: int, thing: str) -> str:
    """A number and its noun: "1 juror", "1,204 items"."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def wanted(result: Any, kinds: tuple[type, ...], what: str) -> None:
    """SketchError unless the chart is asked of a result that has what it shows."""
    if not isinstance(result, kinds):
        names = " or ".join(kind.__name__ for kind in kinds)
        raise SketchError(f"the chart of {what} is made from {names}, got {type(result).__name__}")
