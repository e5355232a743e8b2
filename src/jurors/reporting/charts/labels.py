"""Labels and items: how common each label is, guaranteed bounds, decision tuples by true label, and probable errors.

Where hardly any decision tuple occurs twice, tuples are joined by how the votes went.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Floats
from jurors.errors import SketchError, short_names
from jurors.evaluate.card import percent
from jurors.evaluate.evaluation import Evaluation, KeyedEvaluation
from jurors.evaluate.solution import Partition, majority_partition, majority_shares, vote_counts
from jurors.jury.compare import Comparison
from jurors.jury.label import Labelling
from jurors.reporting.charts import base
from jurors.reporting.charts.base import PERCENT, Chart, Row, alt, check_result, data, finish, number, tip
from jurors.results import count_noun
from jurors.uncertainty.bounds import correlation_curve


def prevalence(
    result: Comparison | Evaluation, truth: KeyedEvaluation | None = None, *, width: float = 420,
    height: float | None = None,
) -> Chart:  # fmt: skip
    """How common each label is, by each method and by majority vote; with a key, a line shows the truth.

    Returns
    -------
    altair chart
    """
    check_result(result, (Comparison, Evaluation), "prevalences")
    if isinstance(result, Comparison):
        evaluations, truth = result.evaluations, truth or result.truth
    else:
        evaluations = (result,)
    majority = next((e.majority for e in evaluations if e.majority is not None), None)
    rows: list[Row] = [
        {"method": e.method, "label": str(a)} | base.share_cells("share", e, "prevalence", a)
        for e in evaluations
        if e.has_grades and (e is evaluations[0] or e.method != "majority" or majority is None)
        for a in e.prevalence
    ]
    if majority is not None:  # counted, and so not what the calibrated method of that name estimates
        shares = [(a, base.share_cells("share", majority, "prevalence", a)) for a in majority.prevalence]
        rows += [{"method": "counted majority votes", "label": str(a), **cells} for a, cells in shares]
    if not rows:
        raise SketchError("no method finds a real solution for these votes, so there is no prevalence to draw")
    first = evaluations[0]
    if first.exam:
        raise SketchError("the choices of an exam mean nothing across questions, so their prevalences do neither")
    known_shares = {} if truth is None else truth.solution.to_float().prevalence
    actual = [{"label": str(a), "share": number(p), "text": f"actual {percent(p)}"} for a, p in known_shares.items()]
    interval = "no intervals"
    if known := [e for e in evaluations if e.interval is not None]:
        interval = f"bars are {known[0].level * 100:g}% intervals"
    about = [f"{count_noun(len(first.jurors), 'juror')}, {count_noun(first.items, 'item')}; {interval}"]
    if len(first.labels) == 2:
        a, b = (base.shorten_name(label) for label in first.labels)
        chart = _two_labels(rows, actual, str(first.labels[0]), (width, height))
        return finish(chart, f"How common {a} is (all other items are {b})", about)
    names = [str(label) for label in first.labels]
    about += ["Vertical lines: actual, by the answer key"] * bool(actual)
    return finish(_many_labels(rows, actual, names, (width, height)), "How common each label is", about)


_DRAWN = ("share", "share_low", "share_high")
_TIPS = (
    ("method:N", "method"),
    ("label:N", "label"),
    ("share:Q", "prevalence", PERCENT),
    ("share_interval:N", "interval"),
)


def _two_labels(rows: list[Row], actual: list[Row], label: str, size: tuple[float, float | None]) -> Chart:
    rows = [row for row in rows if row["label"] == label]
    actual = [row for row in actual if row["label"] == label]
    methods = [row["method"] for row in rows]
    scale = alt.Scale(domain=base.grow_domain(*(row[field] for row in rows for field in _DRAWN)), nice=False)
    axis = alt.X("share:Q", title=f"share of items that are {base.shorten_name(label)}", scale=scale)
    axis = axis.axis(format="%", tickCount=6)
    encoded = alt.Chart(data(rows)).encode(
        x=axis, y=alt.Y("method:N", sort=methods, title=None).axis(grid=True, ticks=False, domain=False),
        tooltip=[tip(*line) for line in _TIPS],
    )  # fmt: skip
    edges = alt.Chart(data([{"edge": 0}, {"edge": 1}])).mark_rule(style="ink", strokeOpacity=0.5)
    layers = [edges.encode(x=alt.X("edge:Q"))]
    bar = encoded.mark_rule(strokeWidth=2.5, opacity=0.65, color=base.BLUE)
    layers += [bar.encode(x=alt.X("share_low:Q"), x2=alt.X2("share_high:Q"))]
    layers += [encoded.mark_point(filled=True, size=80, color=base.BLUE, opacity=1)]
    text = alt.Text("share:Q", format=PERCENT)
    layers += [encoded.mark_text(align="left", dx=6).encode(x=alt.value(size[0]), text=text)]
    if actual:
        tips = [tip("text:N", "answer key")]
        rule = (
            alt.Chart(data(actual)).mark_rule(color=base.ORANGE, strokeWidth=2).encode(x=alt.X("share:Q"), tooltip=tips)
        )
        word = alt.Chart(data(actual)).mark_text(color=base.ORANGE, dy=-7, baseline="bottom", fontWeight="bold")
        layers += [rule, word.encode(x=alt.X("share:Q"), y=alt.value(0), text=alt.Text("text:N"), tooltip=tips)]
    tall = size[1] if size[1] is not None else 26 * len(methods) + 10
    return alt.layer(*layers).properties(width=size[0], height=tall)


def _many_labels(rows: list[Row], actual: list[Row], labels: list[str], size: tuple[float, float | None]) -> Chart:
    methods = list(dict.fromkeys(row["method"] for row in rows))
    colours = [base.PALETTE[k % len(base.PALETTE)] for k in range(len(methods))]
    shapes = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "stroke"]
    shapes = [shapes[k % len(shapes)] for k in range(len(methods))]
    step = max(9.0 * len(methods), 18.0)
    tall = size[1] if size[1] is not None else step * len(labels)
    values = [row[field] for row in rows + actual for field in _DRAWN if row.get(field) is not None]
    is_outside = min(values) < 0 or max(values) > 1
    scale = alt.Scale(domain=base.grow_domain(*values), nice=False) if is_outside else alt.Scale(zero=False, nice=True)
    encoded = alt.Chart(data(rows)).encode(
        x=alt.X("share:Q", title="share of items", scale=scale).axis(format="%"),
        y=alt.Y("label:N", scale=base.ordered(labels), title=None).axis(grid=True, ticks=False, domain=False),
        yOffset=alt.YOffset("method:N", sort=methods),
        color=alt.Color("method:N", scale=alt.Scale(domain=methods, range=colours)).legend(title="method"),
        tooltip=[tip(*line) for line in _TIPS],
    )
    shape = alt.Shape("method:N", scale=alt.Scale(domain=methods, range=shapes)).legend(title="method")
    layers = [encoded.mark_rule(strokeWidth=2, opacity=0.65).encode(x=alt.X("share_low:Q"), x2=alt.X2("share_high:Q"))]
    layers += [encoded.mark_point(filled=True, size=45, opacity=1).encode(shape=shape)]
    if actual:
        tips = [tip("label:N", "label"), tip("text:N", "answer key")]
        tick = alt.Chart(data(actual)).mark_tick(style="ink", thickness=2.5, size=tall / len(labels) * 0.85)
        layers += [tick.encode(x=alt.X("share:Q"), y=alt.Y("label:N", scale=base.ordered(labels)), tooltip=tips)]
    return alt.layer(*layers).properties(width=size[0], height=tall)


# -- guaranteed bounds: how they widen with the error covariance --

_PREVALENCE = "prevalence"
_CURVE = ("correlation", "outcome", "statistic", "juror", "label", "low", "high")
_MAX_CURVED = 6  # jurors


def bounds(
    result: Mapping[str, Any] | Evaluation, *, jurors: Sequence[str] | None = None, width: float = 480,
    height: float | None = None,
) -> Chart:  # fmt: skip
    """Bounds on every prevalence and accuracy that hold for any answer key.

    Against the error covariance ε that is feared, for the prevalence and for these jurors, or the first six: of a
    curve (`theory.correlation_curve`), or of an Evaluation, whose curve is computed.

    Returns
    -------
    altair chart
    """
    if isinstance(result, Evaluation):
        if result.sketch is None:
            raise SketchError("this evaluation was not made from a sketch, so its bounds are not known")
        result = correlation_curve(result.sketch)
    check_result(result, (Mapping, Evaluation), "bounds")
    if not set(_CURVE) <= set(result):
        raise SketchError("a curve of bounds has the columns of theory.correlation_curve, this mapping has others")
    columns = {name: result[name].tolist() for name in _CURVE}
    everyone = list(dict.fromkeys(j for j in columns["juror"] if j is not None))
    shown = [everyone[k] for k in base.selected(everyone, jurors, _MAX_CURVED)]
    labels, short = list(dict.fromkeys(map(str, columns["label"]))), short_names(tuple(everyone))
    rows: list[Row] = []
    for correlation, outcome, statistic, juror, label, low, high in zip(*columns.values(), strict=True):
        if juror in shown if statistic == "accuracy" else str(label) == labels[0]:
            panel = _PREVALENCE if juror is None else short[juror]
            row = {"correlation": correlation, "outcome": str(outcome).replace("_", " "), "panel": panel}
            rows.append(row | {"label": str(label), "low": number(low), "high": number(high)})
    panels = [_PREVALENCE, *(short[juror] for juror in shown)]
    across = min(len(panels), 4)
    tips = [tip("panel:N", "of"), tip("label:N", "label")]
    tips += [tip("correlation:Q", "if no covariance exceeds", ".4f")]
    tips += [tip("low:Q", "at least", ".1%"), tip("high:Q", "at most", ".1%")]
    tips += [tip("outcome:N", "outcome")]
    colour = alt.Color("label:N", scale=base.ordered(labels, range=[base.BLUE, base.ORANGE]), title=None)
    encoded = alt.Chart().encode(
        x=alt.X("correlation:Q", title="error covariance ε").axis(tickCount=2, grid=False, format="~g"),
        y=alt.Y("low:Q", title=None, scale=alt.Scale(domain=[0, 1])).axis(format="%", tickCount=4),
        color=colour.legend(orient="top"), tooltip=tips,
    )  # fmt: skip
    # Bounds widen with ε, so up to the next ε the next bounds hold: steps, not slopes, are what is guaranteed.
    area = encoded.mark_area(opacity=0.25, interpolate="step-before").encode(y2=alt.Y2("high:Q"))
    line = encoded.mark_line(strokeWidth=1.4, interpolate="step-before", point={"size": 12, "filled": True})
    edges = [line.encode(y=alt.Y(f"{end}:Q", title=None)) for end in ("low", "high")]
    chart = alt.layer(area, *edges, data=data(base.placed(rows, "panel", panels)))
    chart = chart.properties(width=max(90.0, width / min(across, 3) - 20), height=130 if height is None else height)
    chart = chart.facet(facet=alt.Facet("panel:N", sort=base.by_place(), title=None), columns=across)
    chart = chart.resolve_axis(x="independent")  # else a row that is not full has axes below no panel
    about = ["The truth lies inside each band if no error covariance of two or three jurors exceeds ε"]
    if len(shown) < len(everyone):
        about.append(f"{len(shown)} of {count_noun(len(everyone), 'juror')} shown")
    return finish(chart, "Guaranteed bounds, if error covariances are at most ε", about)


# -- decision tuples --

_OTHERS = "other labels"
_COVERED = 0.4  # where the shown tuples hold less than this share of the items, tuples are joined instead
_MOST_TUPLES = 24
_BINS = 20


def partition(evaluation: Evaluation, *, width: float = 520, height: float | None = None) -> Chart:
    """The items of each decision tuple by estimated true label, and their majority label.

    One row per tuple, the 24 most frequent first; the title says how many are left out. Where those are hardly any of
    the items, because no tuple occurs often, tuples are joined by the share of votes for each label.

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
    counts, wrong = parts.sketch.counts, evaluation.wrong_labels
    tuples = count_noun(int((counts > 0).sum()), "decision tuple")
    expected = [] if wrong is None else [f"About {wrong:.1%} of the labels are wrong"]
    about = [f"{tuples}, {count_noun(int(counts.sum()), 'item')}", *expected]
    if is_joined(parts):
        about[0] += ", grouped by how the votes are split"
        draw = _by_vote_share if len(parts.sketch.labels) == 2 else _by_majority_label
        return finish(draw(parts, width, height), "The estimated true labels, by how the votes are split", about)
    order = _most_frequent(parts)
    if (counts > 0).sum() > len(order):
        share = counts[order].sum() / counts.sum()
        about[0] = f"The {len(order)} most frequent of {tuples}: {share:.0%} of the items"
    names, colours, column_of = _legend(parts)
    scale = alt.Scale(domain=names, range=colours)
    tall = height if height is not None else max(16.0, min(26.0, 480 / len(order))) * len(order)
    ours, theirs = (_split(by, order, column_of, names) for by in (parts, majority_partition(parts.sketch)))
    panels = [
        _votes(parts, order, scale, column_of, tall),
        _bars(ours, "items", scale, "items, as estimated", (0.42 * width, tall)),
        _bars(ours, "share", scale, "share, as estimated", (0.32 * width, tall)),
        _bars(theirs, "share", scale, "majority vote", (0.2 * width, tall)),
    ]
    chart = alt.hconcat(*panels, spacing=14).resolve_scale(color="shared")
    return finish(chart, "The estimated true labels of each decision tuple", about)


def is_joined(parts: Partition) -> bool:
    """Whether the chart joins tuples: of many jurors, or where the most frequent are few of the items.

    Returns
    -------
    bool
    """
    counts = parts.sketch.counts
    is_wide = len(parts.sketch.jurors) > base.MOST_JURORS  # cells of so many jurors cannot be told apart
    return is_wide or bool(counts[_most_frequent(parts)].sum() < _COVERED * counts.sum())


def _most_frequent(parts: Partition) -> NDArray[np.int64]:
    counts = parts.sketch.counts
    order = np.argsort(-counts, kind="stable")[:_MOST_TUPLES]
    return np.asarray(order[counts[order] > 0])


def _by_vote_share(parts: Partition, width: float, height: float | None) -> Chart:
    """Draw items of two labels by the share of votes for the first, split by estimated true label and by majority."""
    votes = vote_counts(parts.sketch).astype(float)
    cast = votes.sum(axis=1)
    known = cast > 0
    place = np.minimum(votes[known, 0] / cast[known] * _BINS, _BINS - 1).astype(int)
    majority = majority_shares(parts.sketch) * parts.sketch.counts[:, None]
    names, colours = base.label_scale(parts.sketch.labels)
    tips = [tip("low:Q", "votes for it, from", ".0%"), tip("high:Q", "to", ".0%"), tip("label:N", "true label"),
            tip("items:Q", "items", ",.1f")]  # fmt: skip
    what = f"share of the votes for {base.shorten_name(names[0])}"
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
        charts.append(bars.properties(width=width, height=(height or 320) / 2, title=base.small_title(title)))
    return alt.vconcat(*charts, spacing=12).resolve_scale(x="shared", y="shared")


def _by_majority_label(parts: Partition, width: float, height: float | None) -> Chart:
    """Draw what majority vote says of many labels, split by estimated true label."""
    labels = [str(a) for a in parts.sketch.labels]
    names, colours, column_of = _legend(parts)
    joined = majority_shares(parts.sketch).T @ np.nan_to_num(_merged(parts.by_true_label, column_of, len(names)))
    rows = [
        {"majority": labels[k], "label": names[m], "at": m, "items": x, "share": x / total}
        for k, row in enumerate(joined.tolist())
        if (total := sum(row))
        for m, x in enumerate(row)
        if x
    ]
    shown = base.ordered(dict.fromkeys(row["majority"] for row in rows))
    tips = [tip("majority:N", "label by majority vote"), tip("label:N", "true label")]
    tips += [tip("items:Q", "items", ",.1f"), tip("share:Q", "share", PERCENT)]
    encoded = alt.Chart(data(rows)).mark_bar().encode(
        y=alt.Y("majority:N", scale=shown, title="label by majority vote").axis(ticks=False, domain=False),
        color=alt.Color("label:N", scale=alt.Scale(domain=names, range=colours), title="true label"),
        order=alt.Order("at:Q"), tooltip=tips,
    )  # fmt: skip
    encoded = encoded.properties(width=width / 2, height=22.0 * len(labels) if height is None else height)
    items = alt.X("items:Q", title="items, by estimated true label", stack="zero").axis(format=",d", tickCount=4)
    share = alt.X("share:Q", title="share, by estimated true label", stack="zero", scale=alt.Scale(nice=False))
    shares = encoded.encode(x=share.axis(format="%"), y=alt.Y("majority:N", scale=shown, axis=None))
    return alt.hconcat(encoded.encode(x=items), shares, spacing=14)


def _legend(parts: Partition) -> tuple[list[str], list[str], dict[int, int]]:
    """Name and colour the labels, the estimated most common ones first if the palette is too small for all."""
    labels = parts.sketch.labels
    if len(labels) <= len(base.PALETTE):
        names, colours = base.label_scale(labels)
        return names, colours, {k: k for k in range(len(labels))}
    keep = len(base.PALETTE) - 1
    common = np.argsort(-np.nansum(parts.by_true_label, axis=0), kind="stable")[:keep]
    names = [*base.in_order(labels[k] for k in common), _OTHERS]
    place = {int(k): m for m, k in enumerate(common)}
    return names, [*base.PALETTE[:keep], base.GREY], {k: place.get(k, keep) for k in range(len(labels))}


def _votes(parts: Partition, order: Any, scale: Any, column_of: dict[int, int], tall: float) -> Chart:
    """Draw the votes, a cell each, on the left."""
    sketch = parts.sketch
    size, names = len(sketch.jurors), list(short_names(sketch.jurors).values())
    rows = [
        {"tuple": t, "juror": juror, "label": str(sketch.labels[code]), "said": scale.domain[column_of[code]]}
        for t, codes in enumerate(sketch.tuples.codes[order].tolist())
        for juror, code in zip(names, codes, strict=True)
        if code >= 0
    ]
    step = 16.0 if size <= 12 else max(1.5, 200 / size)
    short = max(map(len, names)) * 7 <= step
    angle = 0 if short else -60
    axis = alt.Axis(labelAngle=angle, labelLimit=110, ticks=False, domain=False, orient="top", labels=step >= 10)
    padded = base.ordered(names, paddingInner=0.12 if step >= 5 else 0)
    title = None if step >= 10 else count_noun(size, "juror")
    return (
        alt.Chart(data(rows))
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
    bars = alt.Chart(data(rows)).mark_bar().encode(
        x=alt.X(f"{field}:Q", title=None, stack="zero", axis=axis, scale=alt.Scale(nice=field != "share")),
        y=alt.Y("tuple:O", axis=None, scale=alt.Scale(paddingInner=0.18)),
        color=alt.Color("label:N", scale=scale, title="label"), order=alt.Order("at:Q"), tooltip=tips,
    )  # fmt: skip
    return bars.properties(width=size[0], height=size[1], title=base.small_title(title))


def _merged(split: Floats, column_of: dict[int, int], size: int) -> Floats:
    """Add up the labels without a colour of their own."""
    merged = np.zeros((len(split), size))
    for label, column in column_of.items():
        merged[:, column] += split[:, label]
    return merged


# -- items by the probability that their label is wrong --

_MAX_STEPS = 400


def items(labelling: Labelling, *, width: float = 480, height: float | None = None) -> Chart:
    """All items, least certain first; the area under the curve is the expected number of wrong labels.

    A line marks the first ones, among which half of the expected errors are. With gold items, which show how often such
    labels are wrong, the curve shows where the errors are, not how many.

    Returns
    -------
    altair chart
    """
    check_result(labelling, (Labelling,), "items by expected error")
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
    cut, caught = _cut(wrong, weight)
    tips = [tip("from:Q", "items from", ","), tip("to:Q", "to", ",")]
    tips += [tip("wrong:Q", "probability to be wrong", ".2%")]
    x = alt.X("from:Q", title="items, the least certain first", scale=alt.Scale(domain=[0, total], nice=False))
    scale = alt.Scale(domainMin=0.0, domainMax=max(0.05, float(wrong.max()) * 1.08))
    y = alt.Y("wrong:Q", title="probability that the label is wrong", scale=scale).axis(format="%", tickCount=5)
    area = alt.Chart(data(_steps(wrong, weight))).mark_rect(color=base.BLUE, stroke=base.BLUE, strokeWidth=0.4).encode(
        x=x.axis(grid=False, format=",d", tickCount=6), x2=alt.X2("to:Q"), y=y, y2=alt.Y2Datum(0), tooltip=tips,
    )  # fmt: skip
    layers = [area]
    labels, share = count_noun(int(total), "label"), errors / total
    where = ": the blue area"
    if labelling.expected is not None:
        share, where = labelling.expected, ", going by the gold items"
    about = [f"About {share * total:,.0f} of {labels} are wrong ({share:.1%}){where}"]
    if errors > 0:
        mark = alt.Chart(data([{"cut": cut, "text": "half of the errors"}])).encode(x=alt.X("cut:Q"))
        side = {"align": "right", "dx": -6} if cut > 0.6 * total else {"align": "left", "dx": 6}
        text = mark.mark_text(color=base.ORANGE, dy=8, fontWeight="bold", **side)
        layers += [mark.mark_rule(color=base.ORANGE, strokeWidth=2, strokeDash=[6, 3])]
        layers += [text.encode(y=alt.value(0), text=alt.Text("text:N"))]
        found = f"{caught / errors * share * total:,.0f} of these errors ({caught / errors:.0%})"
        about.append(f"The {int(cut):,} least certain labels contain about {found}")
    if unknown:
        about.append(f"{count_noun(unknown, 'item')} without a probability left out")
    chart = alt.layer(*layers).properties(width=width, height=240 if height is None else height)
    return finish(chart, "How likely each label is to be wrong", about)


def _cut(wrong: Floats, weight: Floats) -> tuple[float, float]:
    """Compute how many items to look at to find half of the errors, and how many are expected among them."""
    ends = np.cumsum(weight)
    errors = np.cumsum(wrong * weight)
    at = int(np.argmax(errors >= errors[-1] / 2))  # not a search: with grades outside [0, 1] it is no rising curve
    before = float(errors[at - 1]) if at else 0.0
    more = np.ceil((errors[-1] / 2 - before) / wrong[at]) if wrong[at] > 0 else 0.0
    cut = float((ends[at - 1] if at else 0.0) + more)
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
    steps = zip(np.cumsum(sizes).tolist(), sizes.tolist(), means.tolist(), strict=True)
    return [{"from": end - size, "to": end, "wrong": mean} for end, size, mean in steps]
