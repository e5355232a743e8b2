"""A sketch from a file of votes, counted where the file lies."""

from __future__ import annotations

from typing import Any

from jurors.sketch.sketch import Sketch
from jurors.votes import read_votes


def read_sketch(source: Any, **options: Any) -> Sketch:
    """Count the votes in a file (or in several); options as in `read_votes`."""
    return Sketch.from_votes(read_votes(source, **options))
