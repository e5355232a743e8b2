"""Jurors of known habits who compare objects of known strengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from jurors._numeric import Floats
from jurors.pairwise.data import Preferences
from jurors.pairwise.model import Answering


@dataclass(frozen=True)
class SimulatedPairs:
    """Preferences, and what they were drawn from: scaled so that the average discrimination is 1, centred."""

    data: Preferences
    strength: Floats
    habits: Floats


def preferences(
    objects: Sequence[str],
    pairs: ArrayLike,
    outcome: ArrayLike,
    *,
    jurors: Sequence[str] = ("ann",),
    placed: bool = True,
) -> Preferences:
    """Answers to (left, right) pairs, the same number by each juror in turn."""
    left, right = np.asarray(pairs, dtype=np.int64).T
    juror = np.repeat(np.arange(len(jurors)), len(left) // len(jurors))
    outcome = np.broadcast_to(np.asarray(outcome, dtype=np.int64), len(left))
    return Preferences(
        objects=tuple(objects), jurors=tuple(jurors), juror=juror, left=left, right=right, outcome=outcome,
        is_placed=placed,
    )  # fmt: skip


def simulated_pairs(
    objects: int, habits: Floats, answers: int, *, seed: int, spread: float = 1.0, with_ties: bool = True
) -> SimulatedPairs:
    """So many answers of each juror, whose habits are discrimination, lean, readiness to tie."""
    rng = np.random.default_rng(seed)
    strength = spread * rng.standard_normal(objects)
    juror = np.repeat(np.arange(len(habits)), answers)
    left = rng.integers(0, objects, len(juror))
    right = (left + rng.integers(1, objects, len(juror))) % objects
    a, b, t = habits[juror].T
    chances = Answering.of(a * (strength[left] - strength[right]) + b, t if with_ties else None)
    drawn = rng.random(len(juror))
    outcome = np.where(drawn < chances.first, 1, np.where(drawn < chances.first + chances.second, -1, 0))
    names = tuple(f"o{k}" for k in range(objects)), tuple(f"j{k}" for k in range(len(habits)))
    data = Preferences(objects=names[0], jurors=names[1], juror=juror, left=left, right=right, outcome=outcome)
    level = habits[:, 0].mean()
    scaled = np.column_stack([habits[:, 0] / level, habits[:, 1:]])
    return SimulatedPairs(data, (strength - strength.mean()) * level, scaled)
