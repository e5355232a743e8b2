"""One function per chart: a result comes in, an altair chart goes out; nothing is shown, nothing is hidden."""

from jurors.report.charts.accuracy import accuracy
from jurors.report.charts.against_key import against_key
from jurors.report.charts.bounds import bounds
from jurors.report.charts.confusion import confusion
from jurors.report.charts.history import history
from jurors.report.charts.information import information
from jurors.report.charts.items import items
from jurors.report.charts.pairs import agreement, dependence
from jurors.report.charts.partition import partition
from jurors.report.charts.plan import plan
from jurors.report.charts.prevalence import prevalence
from jurors.report.charts.reliability import reliability
from jurors.report.charts.render import FORMATS, render
from jurors.report.charts.solutions import solutions
from jurors.report.charts.theme import THEMES, themed

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
    "information",
    "items",
    "partition",
    "plan",
    "prevalence",
    "reliability",
    "render",
    "solutions",
    "themed",
]
