"""Decision tuples split by estimated true label, and items by the probability that their label is wrong.

Where hardly any decision tuple occurs twice, tuples are joined by how the votes went.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Floats
from jurors.errors import SketchError
from jurors.evaluate.evaluation import Evaluation
from jurors.evaluate.solution import Partition, majority_partition, majority_shares, vote_counts
from jurors.jury.label import Labelling
from jurors.reporting.charts.base import (
    BLUE,
    GREY,
    MOST_JURORS,
    ORANGE,
    PALETTE,
    PERCENT,
    Chart,
    Row,
    alt,
    check_result,
    data,
    finish,
    in_order,
    label_scale,
    ordered,
    shorten_name,
    small_title,
    tip,
)
from jurors.results import count_noun

# -- tuples joined by how the votes went --

_BINS = 20


def by_vote_share(parts: Partition, size: tuple[float, float]) -> Chart:
    """Draw items of two labels by the share of votes for the first, split by estimated true label and by majority."""
    votes = vote_counts(parts.sketch).astype(float)
    cast = votes.sum(axis=1)
    known = cast > 0
    place = np.minimum(votes[known, 0] / cast[known] * _BINS, _BINS - 1).astype(int)
    majority = majority_shares(parts.sketch) * parts.sketch.counts[:, None]
    names, colours = label_scale(parts.sketch.labels)
    tips = [tip("low:Q", "votes for it, from", ".0%"), tip("high:Q", "to", ".0%"), tip("label:N", "true label"),
            tip("items:Q", "items", ",.1f")]  # fmt: skip
    what = f"share of the votes for {shorten_name(names[0])}"
    charts = []
    for title, split in (("as estimated", parts.by_true_label), ("by majority vote", majority)):
        rows = [
            {"low": k / _BINS, "high": (k + 1) / _BINS, "label": str(label), "at": m, "items": float(total)}
            for m, label in enumerate(parts.sketch.labels)
            for k, total in enumerate(np.bincount(place, weights=np.nan_to_num(split[known, m]), minlength=_BINS))
            if total
        ]
        bars = alt.Chart(data(rows)).mark_bar(binSpacing=1).encode(
            x=alt.X("low:Q", bin="binned", title=what, scale=alt.Scale(domain=[0, 1])).axis(format="%", tickCount=5),
            x2=alt.X2("high:Q"),
            y=alt.Y("items:Q", title="items", stack="zero").axis(format=",d", tickCount=4, tickMinStep=1),
            color=alt.Color("label:N", scale=alt.Scale(domain=names, range=colours), title="true label"),
            order=alt.Order("at:Q"), tooltip=tips,
        )  # fmt: skip
        charts.append(bars.properties(width=size[0], height=size[1] / 2, title=small_title(title)))
    return alt.vconcat(*charts, spacing=12).resolve_scale(x="shared", y="shared")


def by_majority_label(
    parts: Partition, names: list[str], colours: list[str], merged: Floats, size: tuple[float, float]
) -> Chart:
    """Draw what majority vote says of many labels, split by estimated true label; `merged` has a column per colour."""
    labels = [str(a) for a in parts.sketch.labels]
    joined = majority_shares(parts.sketch).T @ np.nan_to_num(merged)
    rows = [
        {"majority": labels[k], "label": names[m], "at": m, "items": x, "share": x / total}
        for k, row in enumerate(joined.tolist())
        if (total := sum(row))
        for m, x in enumerate(row)
        if x
    ]
    shown = list(dict.fromkeys(row["majority"] for row in rows))
    tips = [tip("majority:N", "label by majority vote"), tip("label:N", "true label")]
    tips += [tip("items:Q", "items", ",.1f"), tip("share:Q", "share", PERCENT)]
    base = (
        alt.Chart(data(rows))
        .mark_bar()
        .encode(
            y=alt.Y("majority:N", scale=ordered(shown), title="label by majority vote").axis(ticks=False, domain=False),
            color=alt.Color("label:N", scale=alt.Scale(domain=names, range=colours), title="true label"),
            order=alt.Order("at:Q"), tooltip=tips,
        )
        .properties(width=size[0] / 2, height=size[1])
    )  # fmt: skip
    items = base.encode(
        x=alt.X("items:Q", title="items, by estimated true label", stack="zero").axis(format=",d", tickCount=4)
    )
    share = alt.X("share:Q", title="share, by estimated true label", stack="zero", scale=alt.Scale(nice=False))
    shares = base.encode(
        x=share.axis(format="%"),
        y=alt.Y("majority:N", scale=ordered(shown), axis=None),
    )  # fmt: skip
    return alt.hconcat(items, shares, spacing=14)


# -- decision tuples --

_OTHERS = "other labels"
_COVERED = 0.4  # where the shown tuples hold less than this share of the items, tuples are joined instead


def partition(evaluation: Evaluation, *, most: int = 24, width: float = 520, height: float | None = None) -> Chart:
    """Each decision tuple's items split by estimated true label, beside what majority vote makes of them.

    One row per tuple, the most frequent first, up to `most`; the title says how many are left out. Where those are
    hardly any of the items, because no tuple occurs often, tuples are joined by the share of votes for each label.

    Returns
    -------
    altair chart
    """
    check_result(evaluation, (Evaluation,), "the partition")
    if evaluation.exam:
        raise SketchError("the choices of an exam mean nothing across questions, so there is no partition by label")
    if evaluation.partition is None:
        raise SketchError(f"the method {evaluation.method!r} labels no items, so it has no partition to draw")
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
    return finish(chart, "The estimated true labels of each decision tuple", _about(parts, order))


def is_joined(parts: Partition, most: int = 24) -> bool:
    """Whether the chart joins tuples: of many jurors, or where the `most` frequent are few of the items.

    Returns
    -------
    bool
    """
    counts = parts.sketch.counts
    is_wide = len(parts.sketch.jurors) > MOST_JURORS  # cells of so many jurors cannot be told apart
    return is_wide or bool(counts[_most_frequent(parts, most)].sum() < _COVERED * counts.sum())


def _most_frequent(parts: Partition, most: int) -> NDArray[np.int64]:
    counts = parts.sketch.counts
    order = np.argsort(-counts, kind="stable")[:most]
    return np.asarray(order[counts[order] > 0])


def _grouped(parts: Partition, size: tuple[float, float | None]) -> Chart:
    """Draw tuples joined by how the votes went, since hardly any occurs twice."""
    seen, total = int((parts.sketch.counts > 0).sum()), int(parts.sketch.counts.sum())
    about = [f"{count_noun(seen, 'decision tuple')}, {count_noun(total, 'item')}, grouped by how the votes are split"]
    about += _expected(parts)
    if len(parts.sketch.labels) == 2:
        chart = by_vote_share(parts, (size[0], 320 if size[1] is None else size[1]))
    else:
        names, colours, column_of = _legend(parts)
        merged = _merged(parts.by_true_label, column_of, len(names))
        tall = 22.0 * len(parts.sketch.labels) if size[1] is None else size[1]
        chart = by_majority_label(parts, names, colours, merged, (size[0], tall))
    return finish(chart, "The estimated true labels, by how the votes are split", about)


def _expected(parts: Partition) -> list[str]:
    wrong = parts.wrong_labels
    return [] if wrong is None else [f"About {wrong:.1%} of the labels are wrong"]


def _about(parts: Partition, order: Any) -> list[str]:
    counts = parts.sketch.counts
    seen = int((counts > 0).sum())
    start = f"{count_noun(seen, 'decision tuple')}, {count_noun(int(counts.sum()), 'item')}"
    lines = [start]
    if seen > len(order):
        share = counts[order].sum() / counts.sum()
        lines = [f"The {len(order)} most frequent of {count_noun(seen, 'decision tuple')}: {share:.0%} of the items"]
    return lines + _expected(parts)


def _legend(parts: Partition) -> tuple[list[str], list[str], dict[int, int]]:
    """Name and colour the labels, the estimated most common ones first if the palette is too small for all."""
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
    """Draw the votes, a cell each, on the left. Codes travel as lists, names once."""
    sketch = parts.sketch
    size = len(sketch.jurors)
    rows = [{"tuple": t, "code": row} for t, row in enumerate(sketch.tuples.codes[order].tolist())]
    jurors = data([{"at": k + 1, "name": j} for k, j in enumerate(sketch.jurors)])
    labels = data(
        [{"code": k, "label": str(a), "said": scale.domain[column_of[k]]} for k, a in enumerate(sketch.labels)]
    )
    step = 16.0 if size <= 12 else max(1.5, 200 / size)
    short = max(map(len, sketch.jurors)) * 7 <= step
    axis = alt.Axis(
        labelAngle=0 if short else -60, labelLimit=110, ticks=False, domain=False, orient="top", labels=step >= 10
    )
    padded = ordered(sketch.jurors, paddingInner=0.12 if step >= 5 else 0)
    title = None if step >= 10 else count_noun(size, "juror")
    return (
        alt.Chart(data(rows))
        .transform_flatten(["code"])
        .transform_window(at="row_number()", groupby=["tuple"])
        .transform_filter("datum.code >= 0")
        .transform_lookup("at", alt.LookupData(jurors, "at", ["name"]), as_=["juror"])
        .transform_lookup("code", alt.LookupData(labels, "code", ["label", "said"]))
        .mark_rect()
        .encode(
            x=alt.X("juror:N", title=title, axis=axis, scale=padded),
            y=alt.Y("tuple:O", axis=None, scale=alt.Scale(paddingInner=0.18)),
            color=alt.Color("said:N", scale=scale, title="label"),
            tooltip=[tip("juror:N", "juror"), tip("label:N", "vote")],
        )
        .properties(width=step * size, height=tall)
    )


def _split(parts: Partition, order: Any, column_of: dict[int, int], names: list[str]) -> list[Row]:
    """Make one row per tuple and true label with items in it."""
    counts = parts.sketch.counts[order].tolist()
    split = _merged(parts.by_true_label[order], column_of, len(names)).tolist()
    return [
        {"tuple": t, "label": names[m], "at": m, "items": x, "count": counts[t], "share": x / counts[t]}
        for t, row in enumerate(split)
        for m, x in enumerate(row)
        if x == x and x != 0
    ]


def _bars(rows: list[Row], field: str, scale: Any, title: str, size: tuple[float, float]) -> Chart:
    tips = [tip("count:Q", "items of the tuple", ","), tip("label:N", "true label")]
    tips += [tip("items:Q", "items", ",.1f"), tip("share:Q", "share", PERCENT)]
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
    """Add up the labels without a colour of their own."""
    merged = np.zeros((len(split), size))
    for label, column in column_of.items():
        merged[:, column] += split[:, label]
    return merged


# -- items by the probability that their label is wrong --

_MAX_STEPS = 400


def items(labelling: Labelling, *, review: int | None = None, width: float = 480, height: float | None = None) -> Chart:
    """All items, the least sure first: the area under the curve is the number of labels expected to be wrong.

    A line marks the `review` first ones; without it, those among which half of the expected errors are.

    Returns
    -------
    altair chart
    """
    check_result(labelling, (Labelling,), "items by expected error")
    if review is not None and review < 1:
        raise SketchError(f"review= is one item or more, got {review}")
    # Each distinct probability to be wrong, largest first, how many items have it, and how many have none.
    counts = np.ones(len(labelling)) if labelling.counts is None else labelling.counts.astype(float)
    known = np.isfinite(labelling.probability)
    values, place = np.unique(1 - labelling.probability[known], return_inverse=True)
    sizes = np.bincount(place, weights=counts[known], minlength=len(values)).astype(float)
    wrong, weight, unknown = values[sizes > 0][::-1], sizes[sizes > 0][::-1], int(counts[~known].sum())
    if not len(wrong):
        raise SketchError(
            f"the labels of the method {labelling.method!r} have no probabilities, so there is nothing to draw"
        )
    total, errors = float(weight.sum()), float((wrong * weight).sum())
    cut, caught = _cut(wrong, weight, review)
    tips = [tip("from:Q", "items from", ","), tip("to:Q", "to", ",")]
    tips += [tip("wrong:Q", "probability to be wrong", ".2%")]
    rows = _steps(wrong, weight)
    base = alt.Chart(data(rows)).encode(
        x=alt.X("from:Q", title="items, the least certain first", scale=alt.Scale(domain=[0, total], nice=False)).axis(
            grid=False, format=",d", tickCount=6
        ),
        x2=alt.X2("to:Q"), y2=alt.Y2Datum(0),
        y=alt.Y("wrong:Q", title="probability that the label is wrong").axis(format="%", tickCount=5).scale(
            domainMin=0.0, domainMax=max(0.05, float(wrong.max()) * 1.08)
        ),
        tooltip=tips,
    )  # fmt: skip
    area = base.mark_rect(color=BLUE, stroke=BLUE, strokeWidth=0.4)
    layers = [area]
    about = [
        f"About {errors:,.0f} of {count_noun(int(total), 'label')} are wrong ({errors / total:.1%}): the blue area"
    ]
    if errors > 0:
        word = "half of the errors" if review is None else f"review {int(cut):,}"
        mark = alt.Chart(data([{"cut": cut, "text": word}])).encode(x=alt.X("cut:Q"))
        side = {"align": "right", "dx": -6} if cut > 0.6 * total else {"align": "left", "dx": 6}
        text = mark.mark_text(color=ORANGE, dy=8, fontWeight="bold", **side)
        layers += [mark.mark_rule(color=ORANGE, strokeWidth=2, strokeDash=[6, 3])]
        layers += [text.encode(y=alt.value(0), text=alt.Text("text:N"))]
        share = caught / errors
        about.append(f"The {int(cut):,} least certain labels contain about {caught:,.0f} of these errors ({share:.0%})")
    if unknown:
        about.append(f"{count_noun(unknown, 'item')} without a probability left out")
    chart = alt.layer(*layers).properties(width=width, height=240 if height is None else height)
    return finish(chart, "How likely each label is to be wrong", about)


def _cut(wrong: Floats, weight: Floats, review: int | None) -> tuple[float, float]:
    """Compute how many items to look at, and how many errors are expected among them."""
    ends = np.cumsum(weight)
    errors = np.cumsum(wrong * weight)
    if review is None:
        at = int(np.argmax(errors >= errors[-1] / 2))  # not a search: with grades outside [0, 1] it is no rising curve
        before = float(errors[at - 1]) if at else 0.0
        more = np.ceil((errors[-1] / 2 - before) / wrong[at]) if wrong[at] > 0 else 0.0
        cut = float((ends[at - 1] if at else 0.0) + more)
    else:
        cut = float(min(review, ends[-1]))
    return cut, float(np.interp(cut, np.concatenate([[0.0], ends]), np.concatenate([[0.0], errors])))


def _steps(wrong: Floats, weight: Floats) -> list[Row]:
    """Make the steps of the curve; beyond some hundreds, neighbours are joined at their mean."""
    ends = np.cumsum(weight)
    group = np.arange(len(wrong))
    if len(wrong) > _MAX_STEPS:
        by_items = np.minimum((ends - weight / 2) / ends[-1] * _MAX_STEPS / 2, _MAX_STEPS / 2 - 1).astype(int)
        by_value = np.minimum((wrong[0] - wrong) / (wrong[0] - wrong[-1]) * _MAX_STEPS / 2, _MAX_STEPS / 2 - 1)
        _, group = np.unique(by_items + by_value.astype(int), return_inverse=True)
    sizes = np.bincount(group, weights=weight)
    means = np.bincount(group, weights=wrong * weight) / sizes
    to = np.cumsum(sizes)
    return [
        {"from": float(b - n), "to": float(b), "wrong": float(w)}
        for b, n, w in zip(to.tolist(), sizes.tolist(), means.tolist(), strict=True)
    ]
