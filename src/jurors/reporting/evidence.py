"""The evidence of a report: each chart with its title, how to read it, and what it shows here in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from jurors.errors import SketchError
from jurors.evaluate.card import percent, percent_range
from jurors.evaluate.dependence import dependence_with_key
from jurors.reporting import charts
from jurors.reporting.charts.partition import is_joined
from jurors.reporting.content import ranking
from jurors.reporting.tables import ReportFindings
from jurors.uncertainty.gold import intervals_held


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
        ("together", "Errors together", (_dependence, _actual_dependence, _agreement)),
        ("decisions", "Decisions", (_partition, _items)),
        ("doubt", "How far to trust it", (_solutions, _bounds, _information)),
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


def _exhibit(id_: str, reading: str, finding: str, chart: Any) -> ChartSection:
    """Turn the chart's title into a heading of the page, which wraps, and which screen readers can jump to."""
    spec = chart.to_dict(validate=False)
    title = spec.pop("title")
    spec["description"] = finding
    return ChartSection(id_, title["text"], tuple(title.get("subtitle", ())), reading, finding, spec)


def _needs(value: Any, what: str) -> Any:
    if value is None:
        raise SketchError(f"there is no {what}")
    return value


def _accuracy(findings: ReportFindings) -> ChartSection:
    e = findings.evaluation
    chart = charts.accuracy(e, findings.keyed)
    rows = sorted((row for row in ranking(e) if row.score is not None), key=lambda row: -(row.score or 0))
    finding = (
        f"Scores go from {percent(rows[-1].score)} ({rows[-1].juror}) to {percent(rows[0].score)} ({rows[0].juror})."
        if rows
        else "No juror has a score."
    )
    if e.exam:
        reading = "Each dot is a juror's estimated score, each bar its interval."
    elif len(e.labels) == 2:
        reading = (
            "Each point is a juror: how often it is right about items of each label. The upper right corner is "
            "perfect; on the dashed line a juror knows no more than a coin. Points outside the square are no "
            "possible shares: they prove that errors were not independent."
        )
    else:
        reading = "For each juror, how often it is right about the items of each label."
    return _exhibit("accuracy", reading, finding, chart)


def _confusion(findings: ReportFindings) -> ChartSection:
    e = findings.evaluation
    if len(e.labels) < 3:
        raise SketchError("two labels are said by the accuracies alone")
    chart, confusion = charts.confusion(e), e.independent.confusion
    worst = [
        (confusion[j][a][b], j, a, b)
        for j in e.jurors
        for a in e.labels
        for b in e.labels
        if a != b and confusion[j][a][b] is not None and confusion[j][a][b] == confusion[j][a][b]
    ]
    finding = "No juror is ever wrong."
    if worst:
        share, j, a, b = max(worst, key=lambda entry: entry[0])
        finding = f"The commonest confusion: {j} says “{b}” to {percent(share)} of the items that are “{a}”."
    reading = "Rows are true labels, columns what the juror says. A strong diagonal is a good juror."
    return _exhibit("confusion", reading, finding, chart)


def _against_key(findings: ReportFindings) -> ChartSection:
    e, keyed = findings.evaluation, _needs(findings.keyed, "answer key")
    chart = charts.against_key(e, keyed)
    covered, known = intervals_held(e, keyed)
    finding = (
        f"{covered} of {known} score intervals hold the actual score." if known else "There are no intervals to test."
    )
    reading = "Estimated without the key against actual with it. On the diagonal the estimate is right."
    return _exhibit("against-key", reading, finding, chart)


def _prevalence(findings: ReportFindings) -> ChartSection:
    e = findings.evaluation
    if not e.has_grades:
        raise SketchError("no grades")
    chart = charts.prevalence(findings.comparison or e, findings.keyed)
    parts = [f"{a} {percent(e.prevalence[a])}" for a in e.labels[:4]]
    more = f" and {len(e.labels) - 4} more labels" if len(e.labels) > 4 else ""
    finding = f"Estimated: {', '.join(parts)}{more}."
    if e.majority is not None:
        says = e.majority.to_float().prevalence
        gaps = [(abs(says[a] - e.prevalence[a]), a) for a in e.labels if None not in (says.get(a), e.prevalence[a])]
        if gaps:
            gap, a = max(gaps, key=lambda entry: entry[0])
            finding += (
                f" Majority vote is furthest off on {a}: it says {percent(says[a])}, a gap of {gap * 100:.1f} points."
            )
    reading = "How common each label is by each method. A large gap means that counting majority votes misleads."
    return _exhibit("prevalence", reading, finding, chart)


def _dependence(findings: ReportFindings) -> ChartSection:
    e = findings.evaluation
    dependence = _needs(e.independent.dependence, "dependence")
    chart = charts.dependence(e)
    finding = (
        f"As far as errors go together, {len(e.jurors)} jurors are worth at most {dependence.effective_jurors:.1f} "
        f"independent ones; the mean error correlation is {dependence.mean_correlation:+z.3f}."
    )
    if dependence.groups:
        listed = "; ".join(", ".join(group[:6]) + (" …" if len(group) > 6 else "") for group in dependence.groups[:4])
        finding += f" Move together: {listed}."
    reading = (
        "How much two jurors' errors go together beyond what the truth explains. Strong colours are pairs whose errors "
        "go together (or avoid each other)."
    )
    return replace(_exhibit("dependence", reading, finding, chart), about=())  # the finding is better


def _actual_dependence(findings: ReportFindings) -> ChartSection:
    """Error correlations by the key: what the estimates aim at."""
    keyed = _needs(findings.keyed, "answer key")
    actual = dependence_with_key(keyed)
    pairs = actual.pairs()
    finding = (
        f"By the answer key, {len(actual.jurors)} jurors are worth {actual.effective_jurors:.1f} independent ones; the "
        f"mean error correlation is {actual.mean_correlation:+z.3f}."
    )
    if pairs:
        finding += " Most of all: " + ", ".join(f"{a} + {b} ({x:+z.2f})" for a, b, x, _ in pairs[:3]) + "."
    reading = "The actual error correlations. Where they differ from the estimates, believe these."
    made = _exhibit("dependence-key", reading, finding, charts.dependence(keyed))
    return replace(made, about=(), title="How much errors go together, by the answer key")


def _agreement(findings: ReportFindings) -> ChartSection:
    e = findings.evaluation
    chart = charts.agreement(e)
    reading = "Plain agreement, errors and truth mixed: high agreement alone does not make jurors right."
    exhibit = _exhibit("agreement", reading, "", chart)
    finding = ". ".join(line.rstrip(".") for line in exhibit.about) + "."
    return replace(exhibit, about=(), finding=finding, spec={**exhibit.spec, "description": finding})


def _partition(findings: ReportFindings) -> ChartSection:
    e = findings.evaluation
    partition = _needs(e.partition, "partition")
    chart = charts.partition(e)
    wrong = partition.wrong_labels
    finding = (
        f"With the best label for each decision tuple, about {wrong:.1%} are wrong."
        if wrong is not None
        else "This method does not say how many labels are wrong."
    )
    reading = "Each bar is a decision tuple (who said what), split by estimated true label."
    if is_joined(partition):
        reading = (
            "Hardly any decision tuple occurs twice, so each bar joins those whose votes went alike, split by "
            "estimated true label; below, by majority vote."
        )
    exhibit = _exhibit("partition", reading, finding, chart)
    return replace(exhibit, about=exhibit.about[:1])  # the rest is in the finding


def _items(findings: ReportFindings) -> ChartSection:
    labelling = _needs(findings.labelling, "item")
    chart = charts.items(labelling)
    wrong = labelling.wrong_labels
    finding = (
        f"About {wrong:.1%} of {len(labelling):,} labels are wrong."
        if wrong is not None
        else "These labels are majority votes, without an estimate of their errors."
    )
    reading = "Items by how likely their best label is wrong. The uncertain ones are where a person's look helps most."
    exhibit = _exhibit("items", reading, finding, chart)
    return replace(exhibit, about=exhibit.about[1:])  # the first line is the finding


def _solutions(findings: ReportFindings) -> ChartSection:
    e = findings.evaluation
    chart = charts.solutions(e)
    finding = f"{len(e.independent.solutions)} solutions explain the counts; selected: {e.independent.rule}."
    reading = "The counts cannot tell a solution from its mirror image, in which the labels trade places."
    return _exhibit("solutions", reading, finding, chart)


def _bounds(findings: ReportFindings) -> ChartSection:
    curve = _needs(findings.curve, "curve")
    chart = charts.bounds(curve)
    is_prevalence = curve["statistic"] == "prevalence"
    label = curve["label"][is_prevalence][0]
    is_shown = is_prevalence & (curve["label"] == label) & (curve["low"] == curve["low"])
    columns = (curve[name][is_shown].astype(float).tolist() for name in ("correlation", "low", "high"))
    rows = list(zip(*columns, strict=True))
    open_at = next((x for x, low, high in rows if high - low > 0.5), None)
    if open_at is not None:
        finding = (
            f"From an error correlation of {open_at:.4f} on, more than half of all shares are possible for {label}."
        )
    elif not rows:
        finding = "No correlation on the axis explains the counts."
    else:
        x, low, high = rows[-1]
        finding = (
            f"With error correlations up to {x:.4f}, {label} is {percent_range((low, high))} percent of the items."
        )
    reading = (
        "If no error correlation (a covariance here) exceeds the value on the horizontal axis, the truth is guaranteed "
        "to lie in the band. Where a band fills everything, nothing is known any more."
    )
    return _exhibit("bounds", reading, finding, chart)


def _information(findings: ReportFindings) -> ChartSection:
    e = findings.evaluation
    chart = charts.information(e)
    reach = [(high - low, j, (low, high)) for j in e.jurors for low, high in [e.interval_of("score", j)] if low == low]
    finding = "This method has no intervals."
    if reach:
        _, juror, ends = max(reach)
        finding = f"Known least surely: the score of {juror}, between {percent_range(ends)} percent."
    reading = "Where the estimate loses its information: the less of it there is, the wider the intervals."
    return _exhibit("information", reading, finding, chart)
