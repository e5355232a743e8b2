"""Jurors to look at twice: who answers regardless of the truth, who is mostly wrong, who says one thing only."""

from __future__ import annotations

import numpy as np

from jurors.evaluate.alarm import Alarm
from jurors.evaluate.majority import joint_counts
from jurors.numbers.arrays import Flags, Floats
from jurors.sketch import Sketch

_ENOUGH_VOTES = 20
_MOST_NAMED = 8


def juror_alarms(sketch: Sketch, posterior: Floats) -> list[Alarm]:
    """Name the jurors of pure noise, the liars and the constant ones, from how their votes go with the labels."""
    weight = np.nan_to_num(posterior) * sketch.counts[:, None]
    joint = np.asarray(joint_counts(sketch, weight), dtype=float)  # juror, true label, label said
    votes = joint.sum(axis=(1, 2))
    enough = votes >= _ENOUGH_VOTES
    constant = enough & ((joint.sum(axis=1) > 0).sum(axis=1) == 1)
    lift, z = _lift(joint)
    noise = enough & ~constant & (np.abs(z) < 2.5) & (np.abs(lift) < 0.15)
    liar = enough & ~constant & (z < -4)
    return [
        *_named(sketch, constant, "constant_juror", "says one label only, so nothing is known of its judgement"),
        *_named(
            sketch, noise, "uninformative_juror", "answers as if by chance: its votes tell nothing about the truth"
        ),
        *_named(
            sketch, liar, "inverted_juror", "is wrong more often than chance: its votes are read the other way round"
        ),
    ]


def _lift(joint: Floats) -> tuple[Floats, Floats]:
    """How much more often right than a juror with the same habits and no idea (as a share of the way), and its z."""
    votes = np.maximum(joint.sum(axis=(1, 2)), 1.0)
    right = np.einsum("jll->j", joint) / votes
    by_chance = (joint.sum(axis=1) * joint.sum(axis=2)).sum(axis=1) / votes**2
    error = np.sqrt(np.maximum(by_chance * (1 - by_chance), 1e-12) / votes)
    return (right - by_chance) / np.maximum(1 - by_chance, 1e-12), (right - by_chance) / error


def _named(sketch: Sketch, which: Flags, kind: str, what: str) -> list[Alarm]:
    names = [sketch.jurors[k] for k in np.flatnonzero(which)]
    if not names:
        return []
    shown = ", ".join(repr(name) for name in names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    verb = what if len(names) == 1 else "each: " + what
    return [Alarm(kind, "warning", f"{shown}{more} {verb}", float(len(names)), tuple(names))]
