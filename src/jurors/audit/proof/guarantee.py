"""Guaranteed intervals: every share that no bettor has refuted."""

from __future__ import annotations

import numpy as np

from jurors.audit.proof.betting import Steps, refuted
from jurors.numbers.arrays import Floats

_GRID = 8  # shares to begin with
_HALVINGS = 7


def intervals(steps: Steps, level: float) -> tuple[Floats, Floats]:
    """Figures: the ends of the shares that are not refuted, each end found by halving."""
    least, most = possible(steps)
    return np.maximum(_end(steps, level, 1), least), np.minimum(_end(steps, level, -1), most)


def possible(steps: Steps) -> tuple[Floats, Floats]:
    """Figures: the least and the greatest share that the labels leave possible, whatever the other items are."""
    known = steps.counts & ~np.isnan(steps.event)
    event = np.where(known, steps.event, 0.0)
    events, right = event.sum(axis=0), (event * steps.right).sum(axis=0)
    open_right = steps.size_right - (known * steps.right).sum(axis=0)
    open_wrong = steps.size - steps.size_right - (known * (1 - steps.right)).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.where(steps.ratio, right / (events + open_wrong), events / steps.size)
        most = np.where(steps.ratio, (right + open_right) / (events + open_right), (events + open_right) / steps.size)
    return np.nan_to_num(least, nan=0.0), np.nan_to_num(most, nan=1.0)


def _end(steps: Steps, level: float, side: int) -> Floats:
    """How far shares are refuted on this side without a gap: 0 (or 1) where none is."""
    grid = np.linspace(0, 1, _GRID + 1)[:-1] if side > 0 else np.linspace(1, 0, _GRID + 1)[:-1]
    size = len(steps.size)
    gone = refuted(steps.repeated(_GRID), np.repeat(grid, size), side, 1 - level).reshape(_GRID, size)
    reach = np.where(gone.all(axis=0), _GRID, (~gone).argmax(axis=0))  # the first that stands
    refused = np.where(reach > 0, grid[reach - 1], grid[0])
    open_ = np.where(reach == 0, grid[0], refused + side / _GRID)
    for _ in range(_HALVINGS):
        middle = (refused + open_) / 2
        lost = refuted(steps, middle, side, 1 - level)
        refused, open_ = np.where(lost, middle, refused), np.where(lost, open_, middle)
    return np.asarray(refused)


def estimates(steps: Steps) -> Floats:
    """Figures: the share at which the draws' estimates and the means that it implies balance out."""
    used = steps.counts & ~np.isnan(steps.event)
    event = np.where(used, steps.event, 0.0)
    before = np.cumsum(event, axis=0) - event
    before_right = np.cumsum(event * steps.right, axis=0) - event * steps.right
    left = np.maximum(steps.left, 1)
    surprise = steps.weight * (event - steps.control)
    top = np.where(used, surprise * steps.right + steps.control_right + before_right / left, 0.0).sum(axis=0)
    below = np.where(steps.ratio, surprise + steps.control_all + before / left, steps.size / left)
    bottom = np.where(used, below, 0.0).sum(axis=0)
    return np.asarray(np.divide(top, bottom, out=np.full(len(bottom), np.nan), where=bottom > 0))
