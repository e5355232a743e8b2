"""What all charts share: themes, files, placement of names, the numbers of a result as rows, dots with intervals.

Colours are distinct for any colour vision, text reads on white and on near-black. User text (names, labels)
travels in data values and titles only, never in field names, which Vega reads as paths. Vega makes expressions of
titles, for tooltips and screen readers: `shorten_name` leaves nothing in them that could end a string.
"""

from __future__ import annotations

import io
import json
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from jurors.errors import JurorsError, SketchError, name_positions, optional_import
from jurors.evaluate.card import MOST_ROWS, SHORT, CardOptions, percent_range, scored_jurors
from jurors.evaluate.card import shown_jurors as card_jurors
from jurors.evaluate.evaluation import Evaluation, KeyedEvaluation
from jurors.options import Label
from jurors.results import escape_text

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
# The first seven are safe for any colour vision; more labels are distinguished by place and tooltip as well.
PALETTE = (BLUE, ORANGE, GREEN, PINK, GOLD, SKY, BROWN, "#7B61C9", "#5F8A1F", "#C23B54", "#1F9C9C", "#8F7FA8")
DIVERGING = [BLUE, "#F4F4F2", ORANGE]  # below zero, zero, above
SEQUENTIAL = "viridis"

_NO_END = str.maketrans('\\"', "⧵″")

_INK = {"both": "#7B7B7B", "light": "#333333", "dark": "#D6D6D6"}
_PAGE = {"both": "transparent", "light": "#FFFFFF", "dark": "#121212"}
_FONT = "system-ui, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif"


class _LazyAltair:
    """The drawing library, imported when something is drawn; JurorsError says how to install it."""

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(import_module("altair"), name)
        except ImportError as error:
            if error.name in ("altair", None):
                raise JurorsError("charts need altair: pip install 'jurors[plot]'") from None
            raise JurorsError(f"charts need altair, which does not load: {error}") from error


alt: Any = _LazyAltair()


def config(theme: Theme = "both") -> dict[str, Any]:
    """Make Vega-Lite's `config` of a theme; "both" has no background, and greys that read on white and near-black.

    Returns
    -------
    dict
    """
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
    """Add the title and its second lines, in the theme for both kinds of page.

    Returns
    -------
    altair chart
    """
    lines = [escape_text(line) for line in subtitle if line]
    heading = alt.TitleParams(escape_text(title), **({"subtitle": lines} if lines else {}))
    return chart.properties(title=heading).configure(**config())


def small_title(text: str) -> Any:
    """Title one panel of several.

    Returns
    -------
    altair.TitleParams
    """
    return alt.TitleParams(text, fontSize=12, fontWeight="normal", offset=6)


def themed(chart: Chart, theme: Theme) -> Chart:
    """Give a chart the colours of a light or a dark page; chart functions return "both".

    Returns
    -------
    altair chart
    """
    return chart.configure(**config(theme))


def data(rows: Sequence[Row]) -> dict[str, Any]:
    """Make inline data of rows, names escaped.

    Altair does not validate each row of a plain mapping, and does not copy a tuple with every layer.

    Returns
    -------
    dict
        Vega-Lite's `data`.
    """
    return {"values": tuple({k: escape_text(v) if isinstance(v, str) else v for k, v in row.items()} for row in rows)}


def in_order(names: Iterable[object]) -> list[str]:
    """Escape names as `data` does, for a scale that keeps their order.

    Returns
    -------
    list of str
    """
    return [escape_text(str(name)) for name in names]


def ordered(names: Iterable[object], **more: Any) -> Any:
    """Make the scale of an axis with these names in this order; a `sort` would make an expression of the names.

    Returns
    -------
    altair.Scale
    """
    return alt.Scale(domain=in_order(names), **more)


def placed(rows: Sequence[Row], field: str, names: Sequence[object]) -> list[Row]:
    """Add to each row the `place` of its name among these, by which `by_place` sorts the panels of a facet.

    Returns
    -------
    list of dict
    """
    place = {str(name): k for k, name in enumerate(names)}
    return [row | {"place": place[row[field]]} for row in rows]


def by_place() -> Any:
    """Sort the panels of a facet whose rows are `placed`.

    Returns
    -------
    altair.EncodingSortField
    """
    return alt.EncodingSortField("place", op="min")


def tip(field: str, title: str, form: str | None = None) -> Any:
    """Make one line of a tooltip: a field with its type (`share:Q`), its title, and how its number is written.

    Returns
    -------
    altair.Tooltip
    """
    return alt.Tooltip(field, title=title, **({} if form is None else {"format": form}))


def label_scale(labels: Sequence[Label]) -> tuple[list[str], list[str]]:
    """Give each label a colour; those beyond the palette are grey.

    Returns
    -------
    (list of str, list of str)
        The labels as text, and their colours.
    """
    names = in_order(labels)
    return names, [PALETTE[k] if k < len(PALETTE) else GREY for k in range(len(names))]


def grow_domain(*values: float | None) -> list[float]:
    """Extend [0, 1] to hold all values: an estimate outside is an alarm, and must be visible.

    Returns
    -------
    list of float
        The ends of the axis, with 3% of room.
    """
    known = [float(x) for x in values if x is not None and x == x]
    low, high = min([0.0, *known]), max([1.0, *known])
    room = 0.03 * (high - low)
    return [low - room, high + room]


def shorten_name(text: object, most: int = 40) -> str:
    r"""Shorten text for a title: one line, without characters that could end a string in an expression.

    Returns
    -------
    str

    Examples
    --------
    >>> print(shorten_name('yes\\"+now()'))
    yes⧵″+now()
    """
    line = escape_text(" ".join(str(text).split())).translate(_NO_END)
    return line if len(line) <= most else f"{line[: most - 1]}…"


def check_result(result: Any, kinds: tuple[type, ...], what: str) -> None:
    """Raise SketchError unless the result is of a class that the chart can show."""
    if not isinstance(result, kinds):
        names = " or ".join(kind.__name__ for kind in kinds)
        raise SketchError(f"the chart of {what} is made from {names}, got {type(result).__name__}")


# -- a chart as a file: PNG and SVG without a browser, or Vega-Lite --

Format: TypeAlias = Literal["png", "svg", "json"]
FORMATS: tuple[Format, ...] = get_args(Format)


def render(chart: Chart, format: Format, *, theme: Theme = "light", scale: float = 2) -> bytes:
    """Write a chart as the bytes of a file.

    Parameters
    ----------
    chart
        What a chart function returned.
    format
        "png", "svg" or "json" (Vega-Lite).
    theme
        "light" and "dark" paint the background; "both" leaves it out.
    scale
        PNG: pixels per point.

    Returns
    -------
    bytes
    """
    if format not in FORMATS:
        raise JurorsError(f"charts are written as {', '.join(FORMATS)}, not as {format!r}")
    dressed = themed(chart, theme)
    if format == "json":
        return json.dumps(dressed.to_dict(), ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    with optional_import("pictures of charts need vl-convert: pip install 'jurors[plot]'"):
        import_module("vl_convert")
    out: Any = io.BytesIO() if format == "png" else io.StringIO()
    dressed.save(out, format=format, **({"scale_factor": scale} if format == "png" else {}))
    drawn = out.getvalue()
    return drawn if isinstance(drawn, bytes) else drawn.encode()


# -- names beside their points, without overlap: greedy, in pixels; a name without room is only in the tooltip --

Point: TypeAlias = tuple[float, float]

_LETTER, _LINE, _DOT = 6.4, 13.0, 5.0  # pixels: width of a letter, height of a line, radius of a point
NAME_WIDTH = 120.0  # a longer name is cut with an ellipsis
_NEAR, _FAR = 9.0, 24.0
_FEW = 16  # up to so many points, names may stand farther away, with a line to them
_CROWD = 60  # beyond so many points, ten names are enough
_SIDE = 1 / 1.5
# Where a name may stand (right and down, in reaches): off the interval's cross first, then on it.
_SPOTS = (
    (_SIDE, -1.0, "left"), (-_SIDE, -1.0, "right"), (_SIDE, 1.0, "left"), (-_SIDE, 1.0, "right"),
    (0.0, -1.0, "center"), (0.0, 1.0, "center"), (1.0, 0.0, "left"), (-1.0, 0.0, "right"),
)  # fmt: skip


@dataclass(frozen=True)
class Placed:
    """Where a name stands, in pixels from the top left."""

    index: int
    at: Point
    align: str
    is_far: bool


def place_names(
    names: Sequence[str], points: Sequence[Point], size: Point, *, others: Sequence[Point] = (),
    order: Sequence[int] | None = None,
) -> list[Placed]:  # fmt: skip
    """Place the names of points beside them, as far as there is room; those early in `order` come first.

    Returns
    -------
    list of Placed
        At most 24; at most 10 in a crowd.

    Examples
    --------
    >>> [placed.index for placed in place_names(["ann", "bob", "cy"], [(50, 50), (52, 51), (300, 40)], (400, 400))]
    [0, 1, 2]
    """
    taken = [(x - _DOT, y - _DOT, x + _DOT, y + _DOT) for x, y in (*points, *others)]
    placed: list[Placed] = []
    reaches = (_NEAR, _FAR) if len(points) <= _FEW else (_NEAR,)
    for k in range(len(points)) if order is None else order:
        letters = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in names[k])
        width = min(_LETTER * letters, NAME_WIDTH)
        for reach, (right, down, align) in product(reaches, _SPOTS):
            x, y = points[k][0] + right * reach, points[k][1] + down * (reach + (4 if align == "center" else 0))
            left = x if align == "left" else x - width if align == "right" else x - width / 2
            box = (left, y - _LINE / 2, left + width, y + _LINE / 2)
            inside = box[0] >= 0 and box[1] >= 0 and box[2] <= size[0] + 40 and box[3] <= size[1]
            overlaps = (
                box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
                for j, other in enumerate(taken)
                if j != k
            )
            if inside and not any(overlaps):
                taken.append(box)
                placed.append(Placed(k, (x, y), align, reach == _FAR))
                break
        if len(placed) == (24 if len(points) <= _CROWD else 10):
            break
    return placed


def cut_middle(name: str, most: int = 18) -> str:
    """Shorten a name in its middle, since names of models differ at their end.

    Returns
    -------
    str

    Examples
    --------
    >>> cut_middle("Skywork_Skywork-Reward-Gemma-2-27B")
    'Skywork_S…mma-2-27B'
    """
    return name if len(name) <= most + 1 else f"{name[: most // 2]}…{name[-(most // 2) :]}"


#: how an axis writes a long name: without its middle
CUT_LABEL = "length(datum.label) > 19 ? slice(datum.label, 0, 9) + '…' + slice(datum.label, -9) : datum.label"


# -- the numbers of a result as rows: floats, None where there is none, nothing rounded, nothing clamped --


def check_graded(result: Evaluation | KeyedEvaluation) -> None:
    """Raise SketchError if an evaluation has no grades to draw."""
    if isinstance(result, Evaluation) and not result.has_grades:
        loud = next((f" ({alarm.kind})" for alarm in result.alarms if alarm.level == "alarm"), "")
        raise SketchError(f"no real solution explains these votes, so there are no grades to draw{loud}")


def number(value: Any) -> float | None:
    """Convert to a float for JSON; None if there is none.

    Returns
    -------
    float or None
    """
    return None if value is None or value != value else float(value)


def share_of(result: Any, statistic: str, *names: Any) -> float | None:
    """Look up a share of a result with prevalence, accuracy and score by name.

    Returns
    -------
    float or None
        None where there is none, or no such name.
    """
    value = getattr(result, statistic)
    for name in names:
        value = None if value is None else value.get(name)
    return number(value)


def share_cells(field: str, result: Any, statistic: str, *names: Any) -> Row:
    """Make the cells of a share: its value, the ends of its interval where an Evaluation has one, and their text.

    Returns
    -------
    dict
        `field`, `field_low`, `field_high` and `field_interval`.
    """
    ends = result.interval_of(statistic, *names) if isinstance(result, Evaluation) else (np.nan, np.nan)
    return {
        field: share_of(result, statistic, *names),
        f"{field}_low": number(ends[0]),
        f"{field}_high": number(ends[1]),
        f"{field}_interval": f"{percent_range(ends)}%" if ends[0] == ends[0] else "none",
    }


MOST_JURORS = MOST_ROWS  #: of a chart that names them: of a larger panel, the best and the worst, or the most dependent


def shown_jurors(result: Evaluation | KeyedEvaluation, jurors: Sequence[str] | None = None) -> list[str]:
    """Select the jurors of a chart: these, or all; of a large panel, the ten best and the ten worst with enough votes.

    Returns
    -------
    list of str
        In the panel's order where all are shown, else the best first.
    """
    if jurors is not None:
        return [result.jurors[k] for k in selected(result.jurors, jurors, len(jurors))]
    if len(result.jurors) <= MOST_JURORS:
        return list(result.jurors)
    if isinstance(result, Evaluation):
        return card_jurors(result, SHORT)[0]
    return scored_jurors(result, SHORT)


def in_rank_order(result: Evaluation | KeyedEvaluation, jurors: Sequence[str]) -> list[str]:
    """These jurors in the order of the result's card; those that it does not rank come last.

    Returns
    -------
    list of str
    """
    every = CardOptions(full=True)
    ranked = card_jurors(result, every)[0] if isinstance(result, Evaluation) else scored_jurors(result, every)
    place = {juror: k for k, juror in enumerate(ranked)}
    return sorted(jurors, key=lambda juror: place.get(juror, len(place)))


def shown_of(shown: Sequence[str], everyone: Sequence[str], what: str = "The best and worst") -> list[str]:
    """Say which jurors a chart shows, if not all.

    Returns
    -------
    list of str
        One line, or none.
    """
    return [f"{what}: {len(shown)} of {len(everyone):,} jurors"] if len(shown) < len(everyone) else []


def selected(all_jurors: Sequence[str], jurors: Sequence[str] | None, most: int) -> list[int]:
    """Find the positions of these jurors, or of the first ones.

    Returns
    -------
    list of int
    """
    if jurors is None:
        return list(range(min(len(all_jurors), most)))
    return [int(k) for k in name_positions(tuple(all_jurors), list(jurors))]


# -- dots and intervals in rows, and crosses by a key --

_DRAWN = ("value", "value_low", "value_high", "actual")


def dot_layers(rows: list[Row], y: Any, what: str, tooltip: list[Any], *, form: str, ticks: int) -> list[Chart]:
    """Draw a dot and an interval per row; the axis grows to hold every number.

    Parameters
    ----------
    rows
        With `value`, its ends, and `actual` where a key is given.
    y, what, tooltip
        The vertical axis, the title of the horizontal one, the lines of the tooltip.
    form, ticks
        How the axis writes numbers, and how many.

    Returns
    -------
    list of altair charts
        To be layered.
    """
    domain = grow_domain(*(row.get(name) for row in rows for name in _DRAWN))
    x = alt.X("value:Q", title=what, scale=alt.Scale(domain=domain, nice=False, zero=False))
    base = alt.Chart().encode(x=x.axis(format=form, tickCount=ticks), y=y, tooltip=tooltip)
    edges = alt.Chart(data([{"edge": 0}, {"edge": 1}])).mark_rule(style="ink", strokeOpacity=0.5)
    layers = [edges.encode(x=alt.X("edge:Q"))]
    bar = base.mark_rule(strokeWidth=2, opacity=0.65, color=BLUE)
    layers += [bar.encode(x=alt.X("value_low:Q"), x2=alt.X2("value_high:Q"))]
    if any("actual" in row for row in rows):
        layers += [
            base.mark_point(shape="cross", filled=True, size=55, color=GREY, opacity=1).encode(x=alt.X("actual:Q"))
        ]
    return [*layers, base.mark_point(filled=True, size=50, color=BLUE, opacity=1)]
