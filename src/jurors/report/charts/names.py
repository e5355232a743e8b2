"""Names beside their points, none over another: greedy, in pixels. No room, no name; the tooltip always has it."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from jurors.report.charts.theme import GREY, Chart, altair, data

Point: TypeAlias = tuple[float, float]
Box: TypeAlias = tuple[float, float, float, float]

_LETTER, _LINE, _DOT = 6.4, 13.0, 5.0  # pixels: a letter's width, a line's height, half a point
_LIMIT = 120.0  # a longer name is cut with an ellipsis
_NEAR, _FAR = 9.0, 24.0
_FEW = 16  # so many points may send their names farther away, with a line to them
_CROWD = 60


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
    """A place for the name of each point that finds one; those early in `order` choose first.

    Examples
    --------
    >>> [placed.index for placed in place_names(["ann", "bob", "cy"], [(50, 50), (52, 51), (300, 40)], (400, 400))]
    [0, 1, 2]
    """
    taken = [(x - _DOT, y - _DOT, x + _DOT, y + _DOT) for x, y in (*points, *others)]
    placed: list[Placed] = []
    for k in range(len(points)) if order is None else order:
        wide = min(text_width(names[k]), _LIMIT)
        for at, align, box, is_far in _choices(points[k], wide, far=len(points) <= _FEW):
            inside = box[0] >= 0 and box[1] >= 0 and box[2] <= size[0] + 40 and box[3] <= size[1]
            if inside and not any(_overlap(box, other) for j, other in enumerate(taken) if j != k):
                taken.append(box)
                placed.append(Placed(k, at, align, is_far))
                break
        if len(placed) == (24 if len(points) <= _CROWD else 10):
            break
    return placed


def text_width(text: str) -> float:
    """About how wide a line of text is."""
    return _LETTER * sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _choices(point: Point, wide: float, *, far: bool) -> Iterator[tuple[Point, str, Box, bool]]:
    """Off the interval's cross first, then on it, then farther away."""
    x, y = point
    for reach in (_NEAR, _FAR) if far else (_NEAR,):
        side = reach / 1.5
        spots = [(x + side, y - reach, "left"), (x - side, y - reach, "right"), (x + side, y + reach, "left"),
                 (x - side, y + reach, "right"), (x, y - reach - 4, "center"), (x, y + reach + 4, "center"),
                 (x + reach, y, "left"), (x - reach, y, "right")]  # fmt: skip
        for to_x, to_y, align in spots:
            left = to_x if align == "left" else to_x - wide if align == "right" else to_x - wide / 2
            yield (to_x, to_y), align, (left, to_y - _LINE / 2, left + wide, to_y + _LINE / 2), reach == _FAR


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def name_layers(
    names: Sequence[str], points: Sequence[Point], placed: Sequence[Placed], to_data: Callable[[Point], Point]
) -> list[Chart]:
    """Text for what was placed, and a line to what stands far away; `to_data` turns pixels into the axes' numbers."""
    alt = altair()
    layers = []
    if far := [p for p in placed if p.is_far]:
        ends = [(*to_data(points[p.index]), *to_data(p.at)) for p in far]
        rows = data([dict(zip(("x", "y", "x2", "y2"), row, strict=True)) for row in ends])
        layers.append(
            alt.Chart(rows)
            .mark_rule(color=GREY, strokeWidth=0.7)
            .encode(x=alt.X("x:Q"), y=alt.Y("y:Q"), x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"))
        )
    for align in ("left", "right", "center"):
        texts = [(names[p.index], *to_data(p.at)) for p in placed if p.align == align]
        if texts:
            rows = data([{"juror": name, "x": x, "y": y} for name, x, y in texts])
            text = alt.Chart(rows).mark_text(align=align, limit=_LIMIT)
            layers.append(
                text.encode(
                    x=alt.X("x:Q"),
                    y=alt.Y("y:Q"),
                    text=alt.Text("juror:N"),
                    tooltip=alt.Tooltip("juror:N", title="juror"),
                )
            )
    return layers
