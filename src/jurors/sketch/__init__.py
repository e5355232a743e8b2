"""Counts of decision tuples: `Votes` come in, a `Sketch` goes out, and nothing downstream reads a raw vote again."""

from jurors.sketch.count import read_sketch
from jurors.sketch.moments import Moments, moments
from jurors.sketch.sketch import Sketch, count_votes

__all__ = ["Moments", "Sketch", "count_votes", "moments", "read_sketch"]
