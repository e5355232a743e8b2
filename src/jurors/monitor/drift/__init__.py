"""Drift detection on a stream of votes: e-processes that control the false-alarm rate for independent items."""
