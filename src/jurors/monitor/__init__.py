"""Votes as they come in: counts by part of the stream, windows, alarms one may watch all the time."""

from jurors.monitor.monitor import Monitor
from jurors.monitor.windows import Pane, Panes, Window

__all__ = ["Monitor", "Pane", "Panes", "Window"]
