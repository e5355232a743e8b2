"""One function per chart, from a result to an Altair chart (`pip install 'jurors[plot]'`).

Examples
--------
>>> import jurors
>>> votes, key = jurors.load_example("census")
>>> result = jurors.grade(votes)
>>> chart = jurors.plot.accuracy(result, jurors.score(votes, key))  # or result.plot("accuracy", …)
>>> chart.to_dict()["title"]["text"]
'How accurate each juror is on each label'
>>> jurors.plot.render(chart, "png")[1:4]
b'PNG'
"""

from __future__ import annotations

from typing import Any

from jurors.errors import check_choice
from jurors.reporting.charts.accuracy import accuracy, against_key, history, leanings, reliability, systems
from jurors.reporting.charts.base import FORMATS, THEMES, render, themed
from jurors.reporting.charts.labels import bounds, items, partition, prevalence
from jurors.reporting.charts.pairs import agreement, confusion, dependence

__all__ = [
    "FORMATS",
    "KINDS",
    "THEMES",
    "accuracy",
    "against_key",
    "agreement",
    "bounds",
    "confusion",
    "dependence",
    "draw",
    "history",
    "items",
    "leanings",
    "partition",
    "prevalence",
    "reliability",
    "render",
    "systems",
    "themed",
]

#: Every kind of chart, by name.
KINDS = {
    chart.__name__: chart
    for chart in (
        accuracy, prevalence, partition, agreement, dependence, bounds, against_key, confusion,
        items, reliability, systems, leanings,
    )
}  # fmt: skip

_DEFAULT_KINDS = {"Labelling": "items", "Comparison": "prevalence", "Dependence": "dependence",
          "AgreementStatistics": "agreement", "NumberGrades": "reliability", "NumberScores": "reliability",
          "SystemComparison": "systems"}  # fmt: skip


def draw(result: Any, kind: str | None = None, *arguments: Any, **options: Any) -> Any:
    """Draw the chart of this kind of a result; without a kind, the one that shows the result best.

    Returns
    -------
    altair chart
    """
    name = _DEFAULT_KINDS.get(type(result).__name__, "accuracy") if kind is None else kind
    return KINDS[check_choice(name, tuple(KINDS), "chart")](result, *arguments, **options)
