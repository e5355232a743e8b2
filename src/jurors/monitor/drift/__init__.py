"""Alarms that may be watched all the time: panes come in, changes come out, with a stated total rate of false ones."""

from jurors.monitor.drift.detector import Drift
from jurors.monitor.drift.stream_alarm import StreamAlarm

__all__ = ["Drift", "StreamAlarm"]
