"""How far to believe it: an evaluation comes in, alarms and intervals go out."""

from jurors.doubt.alarms import contradiction_alarm, trio_alarms
from jurors.doubt.intervals import interval_around, trio_intervals

__all__ = ["contradiction_alarm", "interval_around", "trio_alarms", "trio_intervals"]
