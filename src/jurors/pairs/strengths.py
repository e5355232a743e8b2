"""Strengths of the objects and habits of the jurors, fitted together.

Priors (docs/guides/preferences.md says why): strengths N(0, σ²), with σ learnt from the table; discrimination N(1, τ²),
with τ = 1 for the strengths, whose intervals hold best so, and for the jurors' own grades at least 1, as large as the
table shows; lean and readiness to tie N(0, 2²). So an object that never won has a finite strength, a juror of few
answers is taken for a usual one, and a juror may turn out contrary.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve

from jurors.numbers.arrays import Floats
from jurors.pairs.curvature import (
    PRIOR_MEAN,
    PRIOR_SPREAD,
    Curvature,
    Discriminations,
    Solved,
    State,
    strength_curvature,
)
from jurors.pairs.preferences import Counted

_PRIOR_OBJECTS = 2.0  # σ² is worth so many objects of spread 1 before any is seen,
_PRIOR_LIMIT = 2.0  # and σ is half-normal with this scale: where winners never lose, nothing else would hold it
_PRIOR_JURORS = 2.0  # τ² is worth so many jurors of spread 1, and lies between that and
_MOST_DIFFERING = 20.0  # where the average juror hardly tells apart, and nothing else would hold it
_WIDENINGS, _SETTLED = 40, 0.02
_STEPS, _SETTLING, _CLOSE = 200, 0.3, 1e-4


@dataclass(frozen=True)
class Strengths:
    """The mode, and the covariances around it."""

    state: State
    covariance: Floats  #: objects x objects, the jurors' habits being unknown too
    habit_covariance: Floats  #: jurors x 3 x 3; as the prior has it where the table shows nothing of a habit
    sharpness: Discriminations  #: where jurors may differ as much as the answers show, the average not being held


def fit_strengths(data: Counted) -> Strengths:
    """The most likely strengths and habits, given the answers and the priors."""
    n_jurors, n_objects = data.shape
    fit = wider = _fitted(data, State(np.zeros(n_objects), np.tile(PRIOR_MEAN, (n_jurors, 1)), 1.0))
    for _ in range(_WIDENINGS if n_jurors > 1 else 0):
        tau = _differing(wider)
        if abs(np.log(tau / wider.state.tau)) < _SETTLED:
            break
        wider = _fitted(data, replace(wider.state, tau=tau))
    return replace(fit, sharpness=wider.sharpness)


def _differing(fit: Strengths) -> float:
    """How much jurors differ in telling apart: by as many, but one, as the answers determine (MacKay); at least 1."""
    size, doubt = len(fit.state.habits), float(fit.habit_covariance[:, 0, 0].sum())
    shown, known = float(((fit.state.habits[:, 0] - 1) ** 2).sum()), size - 1 - doubt / fit.state.tau**2
    if known <= 0:  # a flat hill; a step of EM has the same fixed point, and always exists
        shown, known = shown + doubt, size - 1.0
    return float(np.clip(np.sqrt((shown + _PRIOR_JURORS) / (known + _PRIOR_JURORS)), 1.0, _MOST_DIFFERING))


def _fitted(data: Counted, state: State) -> Strengths:
    """The same where it is known how much jurors differ."""
    spread = _Spread()
    for _ in range(_STEPS):
        _, solved = _curved(data, state, expected=not spread.is_settling)
        strength, habits = solved.step()
        moved = _moved(data, state, strength, _every_habit(data, habits))
        change = max(np.abs(moved.strength - state.strength).max(), np.abs(moved.habits - state.habits).max())
        state = replace(moved, sigma=spread.following(moved, solved.covariance, change))
        if max(change, spread.off) < _CLOSE:
            break
    curvature, solved = _curved(data, state, expected=False)
    habits = solved.held(curvature.habit_covariance(solved.free))
    sharpness = curvature.with_strengths_held(solved, state)
    return Strengths(state, solved.covariance, _every_covariance(data, habits), sharpness)


def strengths_alone(data: Counted, state: State) -> State:
    """The most likely strengths where the habits are known: a single hill."""
    for _ in range(_STEPS):
        gradient, curvature = strength_curvature(data, state)
        moved = _moved(data, state, np.asarray(solve(curvature, gradient, assume_a="pos")), np.zeros_like(state.habits))
        change = np.abs(moved.strength - state.strength).max()
        state = moved
        if change < _CLOSE:
            break
    return state


def _curved(data: Counted, state: State, *, expected: bool) -> tuple[Curvature, Solved]:
    """The curvature and what follows from it; the expected one where the observed one is indefinite."""
    curvature = Curvature.at(data, state, expected=expected)
    solved = curvature.solved()
    return _curved(data, state, expected=True) if solved is None else (curvature, solved)


def _moved(data: Counted, state: State, strength: Floats, habits: Floats) -> State:
    """As much of a step as makes the fit better."""
    before = state.misfit(data)
    for share in 0.5 ** np.arange(12):
        there = replace(state, strength=state.strength + share * strength, habits=state.habits + share * habits)
        if there.misfit(data) <= before:
            return there
    return state


class _Spread:
    """How much the strengths show that objects differ: a fixed point, sought by secants once the strengths settle."""

    def __init__(self) -> None:
        self.is_settling = False
        self.off = float("inf")  #: how far it was from a fixed point, in logs
        self._last: tuple[float, float] | None = None

    def following(self, state: State, covariance: Floats, change: float) -> float:
        """The next σ: by as many objects as the answers determine (MacKay 1992)."""
        if not self.is_settling:
            self.is_settling = change < _SETTLING
            return state.sigma
        size, shown = len(state.strength), state.strength @ state.strength
        known = size - np.trace(covariance) / state.sigma**2
        if known <= 0:  # a flat hill; a step of EM has the same fixed point, and always exists
            shown, known = shown + np.trace(covariance), size
        weight, limit = known + _PRIOR_OBJECTS, _PRIOR_LIMIT**2
        spread = np.sqrt(limit / 2 * (np.sqrt(weight**2 + 4 * (shown + _PRIOR_OBJECTS) / limit) - weight))
        at, off, slope = float(np.log(state.sigma)), float(np.log(spread / state.sigma)), -1.0
        if self._last is not None and at != self._last[0]:
            slope = float(np.clip((off - self._last[1]) / (at - self._last[0]), -2.0, -0.3))
        self._last, self.off = (at, off), abs(off)
        return float(np.exp(at - off / slope))


def _every_habit(data: Counted, habits: Floats) -> Floats:
    whole = np.zeros((len(habits), 3))
    whole[:, [True, data.is_placed, data.has_ties]] = habits
    return whole


def _every_covariance(data: Counted, covariance: Floats) -> Floats:
    used = np.flatnonzero([True, data.is_placed, data.has_ties])
    whole = np.tile(np.diag(PRIOR_SPREAD**2), (len(covariance), 1, 1))
    whole[:, used[:, None], used] = covariance
    return whole
