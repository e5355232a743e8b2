"""The evidence of a report: each chart with its title, how to read it, and what it shows here in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from jurors.errors import SketchError
from jurors.evaluate.card import percent, percent_range
from jurors.evaluate.dependence import dependence_with_key
from jurors.jury.systems import SystemComparison
from jurors.reporting.charts import accuracy, labels, pairs
from jurors.reporting.charts.base import MOST_JURORS, shown_jurors
from jurors.reporting.tables import ReportFindings, with_short_names
from jurors.uncertainty.alarms import intervals_held


@dataclass(frozen=True)
class ChartSection:
    """One chart."""

    id: str
    title: str
    about: tuple[str, ...]  #: the chart's own second lines
    reading: str  #: how to read it
    finding: str  #: what it shows here; a screen reader reads this instead of the chart
    spec: dict[str, Any]


@dataclass(frozen=True)
class Tab:
    """Charts that answer one question."""

    id: str
    title: str
    exhibits: tuple[ChartSection, ...]


def tabs(findings: ReportFindings) -> list[Tab]:
    """Draw every chart that these findings allow, by the question it answers.

    Returns
    -------
    list of Tab
    """
    makers: list[tuple[str, str, Sequence[Callable[[ReportFindings], ChartSection]]]] = [
        ("jurors", "Jurors", (_accuracy, _confusion)),
        ("key", "Against the key", (_against_key,)),
        ("labels", "Labels", (_prevalence,)),
        ("together", "Shared errors", (_dependence, _actual_dependence, _agreement)),
        ("decisions", "Items", (_partition, _items)),
        ("doubt", "Uncertainty", (_bounds,)),
    ]
    if findings.evaluation.exam:
        makers = [("jurors", "Jurors", (_accuracy,))]
    drawn = []
    for id_, title, functions in makers:
        exhibits = []
        for make in functions:
            with suppress(SketchError):  # the numbers do not allow it, such as two solutions of a panel
                exhibits.append(make(findings))
        if exhibits:
            drawn.append(Tab(id_, title, tuple(exhibits)))
    return drawn


def systems_chart(compared: SystemComparison) -> ChartSection:
    """Draw the systems.

    Returns
    -------
    ChartSection
    """
    reading = "Each dot is a system's estimated rate, each bar its interval. On the right: the ranks that it may have."
    return _exhibit("systems", reading, " ".join(compared.sentences()), accuracy.systems(compared))


def _exhibit(id_: str, reading: str, finding: str, chart: Any, *, about: slice = slice(None)) -> ChartSection:
    """Turn the chart's title into a heading of the page, which wraps, and which screen readers can jump to.

    `about` selects the chart's second lines that the finding does not repeat.
    """
    finding, spec = with_short_names(finding), chart.to_dict(validate=False)
    title = spec.pop("title")
    spec["description"] = finding
    return ChartSection(id_, title["text"], tuple(title.get("subtitle", ()))[about], reading, finding, spec)


def _needs(value: Any, what: str) -> Any:
    if value is None:
        raise SketchError(f"there is no {what}")
    return value


def _accuracy(findings: ReportFindings) -> ChartSection:
    e = findings.evaluation
    chart, drawn = accuracy.accuracy(e, findings.keyed), shown_jurors(e)
    finding = "No juror has an accuracy."
    known = set(drawn)
    if ranked := [j for j in (e.ranking.ranked or e.ranking.order) if j in known]:
        ends = sorted(ranked, key=lambda j: _needs(e.score[j], "score"))
        low, high = (f"{percent(e.score[j])} ({j})" for j in (ends[0], ends[-1]))
        of = "" if len(ranked) == len(e.jurors) else " of the ranked jurors shown"
        finding = f"Over all items, the estimated accuracy{of} goes from {low} to {high}."
    if e.exam:
        reading = "Each dot is a juror's estimated accuracy, each bar its interval."
    elif len(e.labels) == 2:
        reading = (
            "Each point is a juror: its accuracy on items of each label. The upper right corner is perfect. On the "
            "dashed line, a juror is no better than chance."
        )
        if any(x is not None and not 0 <= x <= 1 for j in drawn for x in e.accuracy[j].values()):
            reading += " A point outside the square is not a possible share: it proves that errors are not independent."
    else:
        reading = "For each juror, its accuracy on the items of each label."
    return _exhibit("accuracy", reading, finding, chart)


def _confusion(findings: ReportFindings) -> ChartSection:
    e = findings.evaluation
    if len(e.labels) < 3:
        raise SketchError("of two labels, the accuracies are the whole confusion matrix")
    chart, confusion = pairs.confusion(e), e.independent.confusion
    apart = [*e.ranking.unranked.get("one label only", ()), *e.ranking.unranked.get("too few votes", ())]
    worst = [
        (confusion[j][a][b], j, a, b)
        for j in e.jurors
        if j not in apart
        for a in e.labels
        for b in e.labels
        if a != b and confusion[j][a][b] is not None and confusion[j][a][b] == confusion[j][a][b]
    ]
    finding = "No juror is ever wrong."
    if worst:
        share, j, a, b = max(worst, key=lambda entry: entry[0])
        finding = f"The most frequent confusion: {j} gives “{b}” to {percent(share)} of the items that are “{a}”."
        if apart:
            finding = finding.replace("confusion:", "confusion, apart from jurors with one label or few votes:")
    reading = "Rows are true labels, columns are votes. An accurate juror has a strong diagonal."
    return _exhibit("confusion", reading, finding, chart)


def _against_key(findings: ReportFindings) -> ChartSection:
    e, keyed = findings.evaluation, _needs(findings.keyed, "answer key")
    chart = accuracy.against_key(e, keyed)
    covered, known = intervals_held(e, keyed)
    finding = "There are no intervals to test."
    if known:
        finding = f"{covered} of {known} score intervals contain the actual score."
    reading = "Each point compares an estimate made without the key with the actual number; on the diagonal they agree."
    return _exhibit("against-key", reading, finding, chart)


def _prevalence(findings: ReportFindings) -> ChartSection:
    e = findings.evaluation
    if not e.has_grades:
        raise SketchError("no grades")
    chart = labels.prevalence(findings.comparison or e, findings.keyed)
    parts = [f"{a} {percent(e.prevalence[a])}" for a in e.labels[:4]]
    more = f" and {len(e.labels) - 4} more labels" if len(e.labels) > 4 else ""
    finding = f"Estimated: {', '.join(parts)}{more}."
    if e.majority is not None:
        says = e.majority.to_float().prevalence
        gaps = [(abs(says[a] - e.prevalence[a]), a) for a in e.labels if None not in (says.get(a), e.prevalence[a])]
        if gaps:
            gap, a = max(gaps, key=lambda entry: entry[0])
            finding += f" Counted majority votes differ most on {a}: {percent(says[a])}, {gap * 100:.1f} points apart."
    reading = (
        "How common each label is by each method. Where majority votes differ much, do not count them to estimate a "
        "prevalence."
    )
    return _exhibit("prevalence", reading, finding, chart)


def _dependence(findings: ReportFindings) -> ChartSection:
    e = findings.evaluation
    mean = _needs(e.mean_correlation, "dependence")
    chart = pairs.dependence(e)
    first, gold = e.dependence[0], " with gold" if e.dependence_has_gold else ""
    finding = (
        f"{len(e.jurors):,} jurors are worth about {e.effective_jurors:.1f} independent ones; the mean error "
        f"correlation is about {mean:.2f}."
    )
    if len(e.jurors) <= MOST_JURORS:  # of a crowd, the highest kappa is that of a pair with few common items
        finding += (
            f" {' and '.join(first.jurors)} agree most beyond chance: kappa {first.kappa:.2f}, which{gold} suggests an "
            f"error correlation of about {first.correlation:.2f}."
        )
    reading = (
        "Cohen's kappa of each pair: 1 is perfect agreement, 0 is chance. Jurors that agree far more than the others "
        "tend to share errors. Two accurate jurors agree too, so only an answer key proves it."
    )
    return _exhibit("dependence", reading, finding, chart, about=slice(1, None))


def _actual_dependence(findings: ReportFindings) -> ChartSection:
    """Error correlations by the key: what the estimates aim at."""
    keyed = _needs(findings.keyed, "answer key")
    actual = dependence_with_key(keyed)
    measured = actual.pairs()
    finding = (
        f"By the answer key, {len(actual.jurors)} jurors are worth {actual.effective_jurors:.1f} independent ones; the "
        f"mean error correlation is {actual.mean_correlation:+z.3f}."
    )
    if measured:
        finding += " Most correlated: " + ", ".join(f"{a} + {b} ({x:+z.2f})" for a, b, x, _ in measured[:3]) + "."
    reading = "The actual error correlations. Where they differ from the estimates, use these."
    made = _exhibit("dependence-key", reading, finding, pairs.dependence(keyed), about=slice(1, None))
    return replace(made, title="How far errors are correlated, by the answer key")


def _agreement(findings: ReportFindings) -> ChartSection:
    chart = pairs.agreement(findings.evaluation)
    reading = "The share of common items on which two jurors agree. Jurors that agree can be wrong together."
    finding = f"{chart.title.subtitle[0].rstrip('.')}."
    return _exhibit("agreement", reading, finding, chart, about=slice(1, None))


def _partition(findings: ReportFindings) -> ChartSection:
    e = findings.evaluation
    partition = _needs(e.partition, "partition")
    chart = labels.partition(e)
    finding = "This method does not estimate how many labels are wrong."
    if e.wrong_labels is not None:
        best = "gold, or else the best label," if e.gold is not None else "the best label of each item,"
        finding = f"Taking {best} about {e.wrong_labels:.1%} are wrong."
    reading = "Each row is a decision tuple (one vote per juror), its items split by estimated true label."
    if labels.is_joined(partition) and len(e.labels) == 2:
        reading = (
            "Each bar groups the items with a similar share of votes for one label: above, split by estimated true "
            "label, below, by majority vote."
        )
    elif labels.is_joined(partition):
        reading = "Each bar groups the items with the same label by majority vote, split by estimated true label."
    return _exhibit("partition", reading, finding, chart, about=slice(1))


def _items(findings: ReportFindings) -> ChartSection:
    labelling = _needs(findings.labelling, "item")
    chart = labels.items(labelling)
    finding = "These labels are majority votes, without an estimate of their errors."
    if labelling.wrong_labels is not None:
        finding = f"About {labelling.wrong_labels:.1%} of {len(labelling):,} labels are wrong."
    reading = "All items by the probability that their best label is wrong. Review those on the left first."
    return _exhibit("items", reading, finding, chart, about=slice(1, None))


def _bounds(findings: ReportFindings) -> ChartSection:
    curve = _needs(findings.curve, "curve")
    chart = labels.bounds(curve)
    is_prevalence = curve["statistic"] == "prevalence"
    label = curve["label"][is_prevalence][0]
    is_shown = is_prevalence & (curve["label"] == label) & (curve["low"] == curve["low"])
    columns = (curve[name][is_shown].astype(float).tolist() for name in ("correlation", "low", "high"))
    rows = list(zip(*columns, strict=True))
    open_at = next((x for x, low, high in rows if high - low > 0.5), None)
    if open_at is not None:
        finding = f"At an error covariance of {open_at:.4f}, the bounds of {label} are more than 50 points apart."
    elif not rows:
        finding = "No covariance on the axis explains the votes."
    else:
        x, low, high = rows[-1]
        finding = (
            f"With error covariances up to {x:.4f}, between {percent_range((low, high))}% of the items are {label}."
        )
    reading = (
        "If no error covariance exceeds the value on the horizontal axis, the truth is guaranteed "
        "to lie in the band. Where a band covers everything, the votes prove nothing."
    )
    return _exhibit("bounds", reading, finding, chart)
