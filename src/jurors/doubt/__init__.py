"""How far to believe it: an evaluation comes in, alarms and intervals go out."""

from jurors.doubt.bounds.guaranteed import Bounds
from jurors.doubt.bounds.logical import highest_floor
from jurors.doubt.bounds.robust import correlation_curve, sensitivities
from jurors.doubt.gold_check import check_gold
from jurors.doubt.goodness import goodness_of_fit
from jurors.doubt.intervals.panel_intervals import panel_intervals
from jurors.doubt.intervals.trio_intervals import interval_around, trio_intervals
from jurors.doubt.juror_alarms import juror_alarms
from jurors.doubt.multilabel_alarms import goodness_alarms, outcome_alarms
from jurors.doubt.residual_alarms import agreement_alarms, residual_alarms
from jurors.doubt.shared.reference_table import ReferenceJuries, reference_juries
from jurors.doubt.trio_alarms import contradiction_alarm, trio_alarms

__all__ = [
    "Bounds",
    "ReferenceJuries",
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
    "reference_juries",
    "residual_alarms",
    "sensitivities",
    "trio_alarms",
    "trio_intervals",
]
