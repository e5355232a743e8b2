"""Jurors to look at twice: who answers regardless of the truth, who is mostly wrong, who says one thing only."""

from __future__ import annotations

import numpy as np

from jurors.evaluate.alarm import Alarm
from jurors.evaluate.majority import joint_counts
from jurors.evaluate.panel.islands import too_few_voices
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


def voice_alarms(sketch: Sketch) -> list[Alarm]:
    """The alarm of a panel in which fewer than three jurors say anything of their own."""
    found = too_few_voices(sketch)
    if found is None:
        return []
    names = sketch.jurors
    why = [
        *(f"{names[k]!r} never disagrees with {names[first]!r}" for k, first in found.same),
        *(f"{names[k]!r} never agrees with {names[first]!r}" for k, first in found.opposite),
        *(f"{names[k]!r} says one label only" for k in found.constant),
    ]
    shown = ", ".join(why[:_MOST_NAMED]) + (f" and {len(why) - _MOST_NAMED} more" if len(why) > _MOST_NAMED else "")
    left = "one voice is" if found.count == 1 else "no voice is" if not found.count else "two voices are"
    message = (
        f"{shown + ': ' if shown else ''}only {left} left, and grading needs three. Copies and jurors who are always "
        "right look the same in the counts, so these grades are not evidence: there are no intervals and no expected "
        "errors; add jurors who worked apart, or score against a key"
    )
    concerned = sorted({k for pair in (*found.same, *found.opposite) for k in pair} | set(found.constant))
    return [Alarm("too_few_voices", "alarm", message, float(found.count), tuple(names[k] for k in concerned))]


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
