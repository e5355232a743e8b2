"""Who voted how, how often, and what is probably true: the decision tuples split by estimated true label."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.errors import SketchError
from jurors.evaluate import Evaluation, Partition
from jurors.evaluate.partition import majority_partition
from jurors.numbers.arrays import Floats
from jurors.report.charts.partition_groups import by_majority_label, by_vote_share
from jurors.report.charts.theme import (
    GREY,
    PALETTE,
    PERCENT,
    Chart,
    Row,
    altair,
    counted,
    data,
    finish,
    in_order,
    label_scale,
    ordered,
    small_title,
    wanted,
)

_OTHERS = "other labels"
_COVERED = 0.4  # where the shown tuples hold less than this share of the items, tuples are joined instead


def partition(evaluation: Evaluation, *, most: int = 24, width: float = 520, height: float | None = None) -> Chart:
    """Each decision tuple's items split by estimated true label, beside what majority vote makes of them.

    One row per tuple, the most frequent first, up to `most`; the title says how many are left out. Where those are
    hardly any of the items, because no tuple occurs often, tuples are joined by the share of votes for each label.
    """
    wanted(evaluation, (Evaluation,), "the partition")
    if evaluation.exam:
        raise SketchError("the choices of an exam mean nothing across questions, so there is no partition by label")
    if evaluation.partition is None:
        raise SketchError(f"the method {evaluation.method!r} labels no items, so it has no partition to draw")
    alt = altair()
    parts = evaluation.partition
    sketch = parts.sketch
    if is_joined(parts, most):
        return _grouped(parts, (width, height))
    order = _most_frequent(parts, most)
    names, colours, column_of = _legend(parts)
    scale = alt.Scale(domain=names, range=colours)
    tall = height if height is not None else max(16.0, min(26.0, 480 / len(order))) * len(order)
    votes = _votes(parts, order, scale, column_of, tall)
    ours, theirs = _split(parts, order, column_of, names), _split(majority_partition(sketch), order, column_of, names)
    panels = [
        _bars(ours, "items", scale, "items, as estimated", (0.42 * width, tall)),
        _bars(ours, "share", scale, "share, as estimated", (0.32 * width, tall)),
        _bars(theirs, "share", scale, "majority vote", (0.2 * width, tall)),
    ]
    chart = alt.hconcat(votes, *panels, spacing=14).resolve_scale(color="shared")
    return finish(chart, "What the decision tuples say about the truth", _about(parts, order))


def is_joined(parts: Partition, most: int = 24) -> bool:
    """Whether the `most` frequent tuples are hardly any of the items, so that the chart joins tuples."""
    counts = parts.sketch.counts
    return bool(counts[_most_frequent(parts, most)].sum() < _COVERED * counts.sum())


def _most_frequent(parts: Partition, most: int) -> NDArray[np.int64]:
    counts = parts.sketch.counts
    order = np.argsort(-counts, kind="stable")[:most]
    return np.asarray(order[counts[order] > 0])


def _grouped(parts: Partition, size: tuple[float, float | None]) -> Chart:
    """Hardly any tuple occurs twice: join them by how the votes went."""
    seen, total = int((parts.sketch.counts > 0).sum()), int(parts.sketch.counts.sum())
    about = [f"{counted(seen, 'decision tuple')}, {counted(total, 'item')}: joined by how the votes went"]
    about += _expected(parts)
    if len(parts.sketch.labels) == 2:
        chart = by_vote_share(parts, (size[0], 320 if size[1] is None else size[1]))
    else:
        names, colours, column_of = _legend(parts)
        merged = _merged(parts.by_true_label, column_of, len(names))
        tall = 22.0 * len(parts.sketch.labels) if size[1] is None else size[1]
        chart = by_majority_label(parts, names, colours, merged, (size[0], tall))
    return finish(chart, "What the votes say about the truth", about)


def _expected(parts: Partition) -> list[str]:
    errors, total = parts.expected_errors, int(parts.sketch.counts.sum())
    return (
        [f"{errors:,.0f} of {total:,} labels expected to be wrong ({errors / total:.1%})"] if errors == errors else []
    )


def _about(parts: Partition, order: Any) -> list[str]:
    counts = parts.sketch.counts
    seen = int((counts > 0).sum())
    start = f"{counted(seen, 'decision tuple')}, {counted(int(counts.sum()), 'item')}"
    lines = [start]
    if seen > len(order):
        share = counts[order].sum() / counts.sum()
        lines = [f"The {len(order)} most frequent of {counted(seen, 'decision tuple')}: {share:.0%} of the items"]
    return lines + _expected(parts)


def _legend(parts: Partition) -> tuple[list[str], list[str], dict[int, int]]:
    """Names and colours of the labels, the estimated most common ones first where the palette is too small for all."""
    labels = parts.sketch.labels
    if len(labels) <= len(PALETTE):
        names, colours = label_scale(labels)
        return names, colours, {k: k for k in range(len(labels))}
    keep = len(PALETTE) - 1
    common = np.argsort(-np.nansum(parts.by_true_label, axis=0), kind="stable")[:keep]
    names = [*in_order(labels[k] for k in common), _OTHERS]
    place = {int(k): m for m, k in enumerate(common)}
    return names, [*PALETTE[:keep], GREY], {k: place.get(k, keep) for k in range(len(labels))}


def _votes(parts: Partition, order: Any, scale: Any, column_of: dict[int, int], tall: float) -> Chart:
    """Left: who said what, a cell per vote; no cell, no vote. Codes travel as lists, names once."""
    alt = altair()
    sketch = parts.sketch
    size = len(sketch.jurors)
    rows = [{"tuple": t, "code": row} for t, row in enumerate(sketch.tuples.codes[order].tolist())]
    jurors = data([{"at": k + 1, "name": j} for k, j in enumerate(sketch.jurors)])
    said = data([{"code": k, "label": str(a), "said": scale.domain[column_of[k]]} for k, a in enumerate(sketch.labels)])
    step = 16.0 if size <= 12 else max(1.5, 200 / size)
    short = max(map(len, sketch.jurors)) * 7 <= step
    axis = alt.Axis(
        labelAngle=0 if short else -60, labelLimit=110, ticks=False, domain=False, orient="top", labels=step >= 10
    )
    padded = ordered(sketch.jurors, paddingInner=0.12 if step >= 5 else 0)
    title = None if step >= 10 else counted(size, "juror")
    return (
        alt.Chart(data(rows))
        .transform_flatten(["code"])
        .transform_window(at="row_number()", groupby=["tuple"])
        .transform_filter("datum.code >= 0")
        .transform_lookup("at", alt.LookupData(jurors, "at", ["name"]), as_=["juror"])
        .transform_lookup("code", alt.LookupData(said, "code", ["label", "said"]))
        .mark_rect()
        .encode(
            x=alt.X("juror:N", title=title, axis=axis, scale=padded),
            y=alt.Y("tuple:O", axis=None, scale=alt.Scale(paddingInner=0.18)),
            color=alt.Color("said:N", scale=scale, title="label"),
            tooltip=[alt.Tooltip("juror:N", title="juror"), alt.Tooltip("label:N", title="said")],
        )
        .properties(width=step * size, height=tall)
    )


def _split(parts: Partition, order: Any, column_of: dict[int, int], names: list[str]) -> list[Row]:
    """One row per tuple and true label with items in it."""
    counts = parts.sketch.counts[order].tolist()
    split = _merged(parts.by_true_label[order], column_of, len(names)).tolist()
    return [
        {"tuple": t, "label": names[m], "at": m, "items": x, "count": counts[t], "share": x / counts[t]}
        for t, row in enumerate(split)
        for m, x in enumerate(row)
        if x == x and x != 0
    ]


def _bars(rows: list[Row], field: str, scale: Any, title: str, size: tuple[float, float]) -> Chart:
    alt = altair()
    tips = [alt.Tooltip("count:Q", title="items of the tuple", format=","), alt.Tooltip("label:N", title="true label")]
    tips += [
        alt.Tooltip("items:Q", title="items", format=",.1f"),
        alt.Tooltip("share:Q", title="share", format=PERCENT),
    ]
    axis = alt.Axis(
        format="%" if field == "share" else ",d",
        tickCount=2 if size[0] < 150 else 4,
        tickMinStep=0 if field == "share" else 1,
    )
    return (
        alt.Chart(data(rows))
        .mark_bar()
        .encode(
            x=alt.X(f"{field}:Q", title=None, stack="zero", axis=axis, scale=alt.Scale(nice=field != "share")),
            y=alt.Y("tuple:O", axis=None, scale=alt.Scale(paddingInner=0.18)),
            color=alt.Color("label:N", scale=scale, title="label"),
            order=alt.Order("at:Q"),
            tooltip=tips,
        )
        .properties(width=size[0], height=size[1], title=small_title(title))
    )


def _merged(split: Floats, column_of: dict[int, int], size: int) -> Floats:
    """Labels without a colour of their own added up."""
    merged = np.zeros((len(split), size))
    for label, column in column_of.items():
        merged[:, column] += split[:, label]
    return merged
