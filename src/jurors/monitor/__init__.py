"""Streams of votes: counts by window, grades at any time, and drift alarms that you can check continuously."""

from jurors.monitor.monitor import Monitor
from jurors.monitor.windows import Pane, Panes, Window

__all__ = ["Monitor", "Pane", "Panes", "Window"]
