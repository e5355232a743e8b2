"""Guaranteed intervals: every share that no bettor has refuted."""

from __future__ import annotations

import numpy as np

from jurors.audit.proof.betting import Steps, refuted
from jurors.numbers.arrays import Floats

_GRID = 8  # shares to begin with
_HALVINGS = 7
_ROUNDED = 1e-6  # of a multiple


def intervals(steps: Steps, level: float) -> tuple[Floats, Floats]:
    """Figures: the ends of the shares that are not refuted, each end found by halving."""
    least, most = possible(steps)
    low, high = _end(steps, level, least, most), _end(steps, level, most, least)
    size = np.maximum(steps.size, 1)  # a share of so many items is a multiple of one
    inside = np.ceil(low * size - _ROUNDED) / size, np.floor(high * size + _ROUNDED) / size
    is_free = (
        steps.ratio | steps.lead | (inside[0] > inside[1])
    )  # the last where the draw was one of those that mislead
    return np.where(is_free, low, inside[0]), np.where(is_free, high, inside[1])


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


def _end(steps: Steps, level: float, outer: Floats, inner: Floats) -> Floats:
    """How far shares are refuted from the outer end of what is possible, without a gap; that end where none is."""
    side = 1 if (outer <= inner).all() else -1
    size, step = len(steps.size), (inner - outer) / _GRID
    grid = outer + step * np.arange(_GRID)[:, None]
    gone = refuted(steps.repeated(_GRID), grid.ravel(), side, 1 - level).reshape(_GRID, size)
    reach = np.where(gone.all(axis=0), _GRID, (~gone).argmax(axis=0))  # the first that stands
    refused = outer + step * np.maximum(reach - 1, 0)
    open_ = np.where(reach == 0, outer, refused + step)
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
