"""Simulated panels of ordered levels: items on a line, jurors who see their place with noise and cut it into levels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jurors._numeric import Integers
from jurors.votes.table import Votes

LEVELS = 5


def ordered_panel(
    items: int, slopes: Sequence[float], shifts: Sequence[float], *, seed: int = 0, levels: int = LEVELS
) -> tuple[Integers, Integers]:
    """The true levels, and the votes (items x jurors). A juror of slope a sees the place plus shift plus logistic/a."""
    rng = np.random.default_rng(seed)
    edges = np.linspace(-1.2, 1.2, levels - 1)
    place = rng.normal(size=items)
    seen = place[:, None] + np.array(shifts) + rng.logistic(size=(items, len(slopes))) / np.array(slopes)
    return (place[:, None] > edges).sum(axis=1), (seen[:, :, None] > edges).sum(axis=2)


def as_votes(votes: Integers, levels: int = LEVELS) -> Votes:
    """The votes of jurors A, B, C … on levels 0, 1, 2 …"""
    names = [chr(ord("A") + k) for k in range(votes.shape[1])]
    return Votes.from_matrix(votes, jurors=names, labels=range(levels), scale="ordinal")
