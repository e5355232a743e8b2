"""How far to believe it: an evaluation comes in, alarms and intervals go out."""

from jurors.uncertainty.alarms import agreement_alarms, check_gold, juror_alarms, residual_alarms
from jurors.uncertainty.bounds_logical import highest_floor
from jurors.uncertainty.bounds_robust import correlation_curve, sensitivities
from jurors.uncertainty.bounds_trio import Bounds
from jurors.uncertainty.intervals import interval_around, panel_intervals, trio_intervals
from jurors.uncertainty.reference import ReferenceJuries, reference_juries
from jurors.uncertainty.trio_alarms import (
    contradiction_alarm,
    goodness_alarms,
    goodness_of_fit,
    outcome_alarms,
    trio_alarms,
)

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
