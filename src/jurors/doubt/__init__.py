"""How far to believe it: an evaluation comes in, alarms and intervals go out."""

from jurors.doubt.alarms import contradiction_alarm, trio_alarms
from jurors.doubt.intervals import interval_around, trio_intervals
from jurors.doubt.jurors import juror_alarms
from jurors.doubt.panel_intervals import panel_intervals
from jurors.doubt.residual import residual_alarms, residual_test

__all__ = [
    "contradiction_alarm",
    "interval_around",
    "juror_alarms",
    "panel_intervals",
    "residual_alarms",
    "residual_test",
    "trio_alarms",
    "trio_intervals",
]
