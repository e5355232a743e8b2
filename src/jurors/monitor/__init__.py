"""Votes as they come in: counts by stretch of the stream, windows, alarms one may watch all the time."""

from jurors.monitor.monitor import Monitor
from jurors.monitor.panes import Pane, Panes
from jurors.monitor.window import Window

__all__ = ["Monitor", "Pane", "Panes", "Window"]
