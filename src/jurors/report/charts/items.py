"""The items by the probability that their label is wrong: where a person's look helps most."""

from __future__ import annotations

import numpy as np

from jurors.errors import SketchError
from jurors.jury.labelling import Labelling
from jurors.numbers.arrays import Floats
from jurors.report.charts.theme import BLUE, ORANGE, Chart, Row, altair, counted, data, finish, wanted

_MOST_STEPS = 400


def items(labelling: Labelling, *, review: int | None = None, width: float = 480, height: float | None = None) -> Chart:
    """All items, the least sure first: the area under the curve is the number of labels expected to be wrong.

    A line marks the `review` first ones; without it, those among which half of the expected errors are.
    """
    wanted(labelling, (Labelling,), "items by expected error")
    if review is not None and review < 1:
        raise SketchError(f"a review is of one item or more, got {review}")
    wrong, weight, unknown = _sorted(labelling)
    if not len(wrong):
        raise SketchError(
            f"the labels of the method {labelling.method!r} earned no probability to be wrong: there is nothing to draw"
        )
    alt = altair()
    total, errors = float(weight.sum()), float((wrong * weight).sum())
    cut, caught = _cut(wrong, weight, review)
    tips = [alt.Tooltip("from:Q", title="items from", format=","), alt.Tooltip("to:Q", title="to", format=",")]
    tips += [alt.Tooltip("wrong:Q", title="probability to be wrong", format=".2%")]
    rows = _steps(wrong, weight)
    base = alt.Chart(data(rows)).encode(
        x=alt.X("from:Q", title="items, the least sure first", scale=alt.Scale(domain=[0, total], nice=False)).axis(
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
        f"{errors:,.1f} of {counted(int(total), 'label')} expected to be wrong ({errors / total:.1%}): the blue area"
    ]
    if errors > 0:
        layers += _review_mark(cut, total, "half of the expected errors" if review is None else f"review {int(cut):,}")
        share = caught / errors
        about.append(f"The {int(cut):,} least sure items hold {caught:,.1f} of the expected errors ({share:.0%})")
    if unknown:
        about.append(f"{counted(unknown, 'item')} without a probability left out")
    chart = alt.layer(*layers).properties(width=width, height=240 if height is None else height)
    return finish(chart, "Which items are probably labelled wrong", about)


def _review_mark(cut: float, total: float, text: str) -> list[Chart]:
    alt = altair()
    at_end = cut > 0.6 * total
    row = data([{"cut": cut, "text": text}])
    rule = alt.Chart(row).mark_rule(color=ORANGE, strokeWidth=2, strokeDash=[6, 3]).encode(x=alt.X("cut:Q"))
    word = alt.Chart(row).mark_text(
        color=ORANGE, align="right" if at_end else "left", dx=-6 if at_end else 6, dy=8, fontWeight="bold"
    )
    return [rule, word.encode(x=alt.X("cut:Q"), y=alt.value(0), text=alt.Text("text:N"))]


def _sorted(labelling: Labelling) -> tuple[Floats, Floats, int]:
    """Each distinct probability to be wrong, largest first, how many items have it, and how many have none."""
    weight = np.ones(len(labelling)) if labelling.counts is None else labelling.counts.astype(float)
    known = np.isfinite(labelling.probability)
    values, place = np.unique(1 - labelling.probability[known], return_inverse=True)
    sizes = np.bincount(place, weights=weight[known], minlength=len(values)).astype(float)
    kept = sizes > 0
    return values[kept][::-1], sizes[kept][::-1], int(weight[~known].sum())


def _cut(wrong: Floats, weight: Floats, review: int | None) -> tuple[float, float]:
    """How many items to look at, and how many errors are expected among them."""
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
    """The curve as steps; beyond some hundreds, neighbours are drawn as one at their mean."""
    ends = np.cumsum(weight)
    group = np.arange(len(wrong))
    if len(wrong) > _MOST_STEPS:
        by_items = np.minimum((ends - weight / 2) / ends[-1] * _MOST_STEPS / 2, _MOST_STEPS / 2 - 1).astype(int)
        by_value = np.minimum((wrong[0] - wrong) / (wrong[0] - wrong[-1]) * _MOST_STEPS / 2, _MOST_STEPS / 2 - 1)
        _, group = np.unique(by_items + by_value.astype(int), return_inverse=True)
    sizes = np.bincount(group, weights=weight)
    means = np.bincount(group, weights=wrong * weight) / sizes
    to = np.cumsum(sizes)
    return [
        {"from": float(b - n), "to": float(b), "wrong": float(w)}
        for b, n, w in zip(to.tolist(), sizes.tolist(), means.tolist(), strict=True)
    ]
