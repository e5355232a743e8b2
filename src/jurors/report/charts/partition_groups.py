"""The partition where hardly any decision tuple occurs twice: tuples joined by how the votes went."""

from __future__ import annotations

import numpy as np

from jurors.evaluate import Partition
from jurors.evaluate.majority import majority_shares, vote_counts
from jurors.numbers.arrays import Floats
from jurors.report.charts.theme import PERCENT, Chart, Row, altair, data, label_scale, ordered, shortened, small_title

_BINS = 20


def by_vote_share(parts: Partition, size: tuple[float, float]) -> Chart:
    """Two labels: items by the share of votes for the first, split by estimated true label, over majority vote's."""
    alt = altair()
    votes = vote_counts(parts.sketch).astype(float)
    cast = votes.sum(axis=1)
    known = cast > 0
    place = np.minimum(votes[known, 0] / cast[known] * _BINS, _BINS - 1).astype(int)
    majority = majority_shares(parts.sketch) * parts.sketch.counts[:, None]
    charts = []
    for title, split in (("as estimated", parts.by_true_label), ("as majority vote has it", majority)):
        rows = _bin_rows(parts, split[known], place)
        charts.append(_histogram(rows, parts, title, (size[0], size[1] / 2)))
    return alt.vconcat(*charts, spacing=12).resolve_scale(x="shared", y="shared")


def _bin_rows(parts: Partition, split: Floats, place: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[Row]:
    return [
        {"low": k / _BINS, "high": (k + 1) / _BINS, "label": str(label), "at": m, "items": float(total)}
        for m, label in enumerate(parts.sketch.labels)
        for k, total in enumerate(np.bincount(place, weights=np.nan_to_num(split[:, m]), minlength=_BINS))
        if total
    ]


def _histogram(rows: list[Row], parts: Partition, title: str, size: tuple[float, float]) -> Chart:
    alt = altair()
    names, colours = label_scale(parts.sketch.labels)
    what = f"share of the votes for {shortened(names[0])}"
    tips = [
        alt.Tooltip("low:Q", title="votes for it, from", format=".0%"),
        alt.Tooltip("high:Q", title="to", format=".0%"),
    ]
    tips += [alt.Tooltip("label:N", title="true label"), alt.Tooltip("items:Q", title="items", format=",.1f")]
    return (
        alt.Chart(data(rows))
        .mark_bar(binSpacing=1)
        .encode(
            x=alt.X("low:Q", bin="binned", title=what, scale=alt.Scale(domain=[0, 1])).axis(format="%", tickCount=5),
            x2=alt.X2("high:Q"),
            y=alt.Y("items:Q", title="items", stack="zero").axis(format=",d", tickCount=4, tickMinStep=1),
            color=alt.Color("label:N", scale=alt.Scale(domain=names, range=colours), title="true label"),
            order=alt.Order("at:Q"),
            tooltip=tips,
        )
        .properties(width=size[0], height=size[1], title=small_title(title))
    )


def by_majority_label(
    parts: Partition, names: list[str], colours: list[str], merged: Floats, size: tuple[float, float]
) -> Chart:
    """Many labels: what majority vote says, split by estimated true label; `merged` has a column per colour."""
    alt = altair()
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
    tips = [alt.Tooltip("majority:N", title="majority vote says"), alt.Tooltip("label:N", title="true label")]
    tips += [
        alt.Tooltip("items:Q", title="items", format=",.1f"),
        alt.Tooltip("share:Q", title="share", format=PERCENT),
    ]
    base = (
        alt.Chart(data(rows))
        .mark_bar()
        .encode(
            y=alt.Y("majority:N", scale=ordered(shown), title="majority vote says").axis(ticks=False, domain=False),
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
