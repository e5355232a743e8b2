"""Drift detection on a stream of votes: e-processes with a controlled rate of false alarms."""
