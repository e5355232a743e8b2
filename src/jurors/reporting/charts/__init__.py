"""One function per chart: a result comes in, an altair chart goes out; nothing is shown, nothing is hidden."""

from jurors.reporting.charts.accuracy import accuracy, against_key, history, reliability
from jurors.reporting.charts.base import FORMATS, THEMES, render, themed
from jurors.reporting.charts.pairs import agreement, confusion, dependence
from jurors.reporting.charts.partition import items, partition
from jurors.reporting.charts.prevalence import bounds, plan, prevalence
from jurors.reporting.charts.systems import systems

__all__ = [
    "FORMATS",
    "THEMES",
    "accuracy",
    "against_key",
    "agreement",
    "bounds",
    "confusion",
    "dependence",
    "history",
    "items",
    "partition",
    "plan",
    "prevalence",
    "reliability",
    "render",
    "systems",
    "themed",
]
