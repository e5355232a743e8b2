"""How far to believe it: an evaluation comes in, alarms and intervals go out."""

from jurors.doubt.alarms import contradiction_alarm, trio_alarms
from jurors.doubt.bounds import Bounds
from jurors.doubt.gold import check_gold
from jurors.doubt.goodness import goodness_of_fit
from jurors.doubt.intervals import interval_around, trio_intervals
from jurors.doubt.jurors import juror_alarms
from jurors.doubt.logical import highest_floor
from jurors.doubt.multilabel_alarms import goodness_alarms, outcome_alarms
from jurors.doubt.panel_intervals import panel_intervals
from jurors.doubt.residual import agreement_alarms, residual_alarms
from jurors.doubt.robust import correlation_curve, sensitivities

__all__ = [
    "Bounds",
    "agreement_alarms",
    "check_gold",
    "contradiction_alarm",
    "correlation_curve",
    "goodness_alarms",
    "goodness_of_fit",
    "highest_floor",
    "interval_around",
    "juror_alarms",
    "outcome_alarms",
    "panel_intervals",
    "residual_alarms",
    "sensitivities",
    "trio_alarms",
    "trio_intervals",
]
