"""Whatever the user has (a path, a frame, a matrix, votes, a sketch) becomes a `Votes` table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from jurors.errors import SketchError, VotesError
from jurors.sketch import Sketch
from jurors.votes import Votes, read_votes

FEWEST_JURORS = 3


def as_votes(source: Any, **reading: Any) -> Votes:
    """Votes from a Votes, Sketch, path, file object, array or dataframe; `reading` are `read_votes`' options."""
    if isinstance(source, Sketch):
        return source.tuples
    if isinstance(source, Votes):
        return source
    if isinstance(source, (str, Path)) or hasattr(source, "read"):
        return read_votes(source, **reading)
    if isinstance(source, (np.ndarray, list, tuple)):
        return Votes.from_matrix(source, **reading)
    if hasattr(source, "columns") or hasattr(source, "schema") or hasattr(source, "__arrow_c_stream__"):
        return Votes.from_frame(source, **reading)
    raise VotesError(
        f"cannot read votes from {type(source).__name__}; give a path, a dataframe, a matrix, Votes or a Sketch"
    )


def check_gradable(votes: Votes, *, fewest: int = FEWEST_JURORS) -> None:
    """SketchError unless there are enough jurors and labels to grade anybody."""
    if not votes.total:
        raise SketchError("there is no item to grade")
    if len(votes.jurors) < fewest:
        raise SketchError(
            f"grading without an answer key needs at least {fewest} jurors, got {len(votes.jurors)}: "
            f"{', '.join(votes.jurors)}. With a key, `jurors score` grades any number."
        )
    if len(votes.labels) < 2:
        shown = f"only {votes.labels[0]!r} was ever said" if votes.labels else "nobody voted"
        raise SketchError(f"grading needs at least two labels, {shown}; add the items where somebody disagrees")
