"""Votes as they come in: counts by stretch of the stream, windows, alarms one may watch all the time."""
