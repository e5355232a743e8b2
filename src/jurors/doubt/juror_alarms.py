"""Jurors to look at twice: who answers regardless of the truth, who is mostly wrong, who says one thing only.

To say that somebody answers as if by chance is an accusation: the burden of proof lies with the accuser, for all jurors
together. A juror's *lift* is how far it is from chance (a juror with the same habits and no idea: 0) to always right
(1). Not being surely better than chance proves nothing of a juror with twenty votes. It is accused where its votes rule
out that it is worth listening to: that its lift is at least three quarters of the middle juror's. One-sided p-values,
and Benjamini and Hochberg's (1995) step-up for the number of jurors: of those accused, at most a twentieth are expected
to be worth listening to. And it must look like chance: a lift near 0 that is not surely above (or below) it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jurors.evaluate.alarm import Alarm
from jurors.evaluate.majority import joint_counts
from jurors.evaluate.solution import Solution
from jurors.names import and_more
from jurors.numbers.arrays import Flags, Floats
from jurors.sketch import Sketch
from jurors.sketch.pairs import parts_of, votes_by_juror

_MOST_NAMED = 8
_LEAST = 1e-12
_IN_CACHE = 1 << 16  # votes x labels worked out at a time
_FALSE_ACCUSATIONS = 0.05  # as a share of all accusations, at most, in expectation
# A juror worth listening to has at least this share of the middle juror's lift. Of 766 jurors who are 60 to 95% right,
# .5 accused nobody, .67 and .75 one (60% right), 1 accused 24; of 30 coins among 150 they found 12, 23, 23 and 30.
_WORTH = 0.75
_ENOUGH_VOTES = 20  # below, nobody is judged: the normal law needs about ten right and ten wrong ones
_NEAR_CHANCE, _NOT_SURE = 0.15, 2.5  # "as if by chance": a lift no larger, and fewer standard errors from 0


def juror_alarms(sketch: Sketch, posterior: Floats, solution: Solution) -> list[Alarm]:
    """Name the jurors of pure noise, the liars and the constant ones, from how their votes go with the labels."""
    weight = np.nan_to_num(posterior) * sketch.counts[:, None]
    joint = np.asarray(joint_counts(sketch, weight), dtype=float)  # juror, true label, label said
    votes = joint.sum(axis=(1, 2))
    enough = votes >= _ENOUGH_VOTES
    constant = enough & _is_constant(joint)
    noise = uninformative(heard_by_others(sketch, posterior, np.array(solution.confusions, dtype=float)))
    liar = enough & ~constant & (_beyond_chance(joint) < -4)
    return [
        *_named(sketch, constant, "constant_juror", "says one label only, so nothing is known of its judgement"),
        *_named(
            sketch, noise, "uninformative_juror", "answers as if by chance: its votes tell nothing about the truth"
        ),
        *_named(
            sketch, liar, "inverted_juror", "is wrong more often than chance: its votes are read the other way round"
        ),
    ]


def _beyond_chance(joint: Floats) -> Floats:
    """How much more often right than a juror with the same habits and no idea, in standard errors."""
    votes = np.maximum(joint.sum(axis=(1, 2)), 1.0)
    by_chance = _chance_rate(joint)
    error = np.sqrt(np.maximum(by_chance * (1 - by_chance), 1e-12) / votes)
    return np.asarray((np.einsum("jll->j", joint) / votes - by_chance) / error)


def _named(sketch: Sketch, which: Flags, kind: str, what: str) -> list[Alarm]:
    names = [sketch.jurors[k] for k in np.flatnonzero(which)]
    if not names:
        return []
    shown = and_more(map(repr, names), _MOST_NAMED)
    verb = what if len(names) == 1 else "each: " + what
    return [Alarm(kind, "warning", f"{shown} {verb}", float(len(names)), tuple(names))]


# -- as if by chance ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Heard:
    """How each juror's votes go with what the *others* say of the labels: its own vote proves nothing about itself."""

    joint: Floats  #: (N, R, R) items by juror, label by the others' votes, label said
    squares: Floats  #: (N,) Σ q², q how probable the label said is by the others' votes


def heard_by_others(sketch: Sketch, posterior: Floats, confusion: Floats) -> Heard:
    """Take each juror's own vote out of the posterior (T, R) of its tuples: q_-j[l] ∝ q[l] / P(j says this | l).

    `confusion` is (N, R, R). With items easy and hard, whose confusions it averages, this is approximate.
    """
    parts = [_heard(part, posterior[rows], confusion) for part, rows in parts_of(sketch)]
    return Heard(np.sum([part.joint for part in parts], axis=0), np.sum([part.squares for part in parts], axis=0))


def _heard(sketch: Sketch, posterior: Floats, confusion: Floats) -> Heard:
    row, juror, said = sketch.tuples.triples()
    width, labels = len(sketch.jurors), len(sketch.labels)
    known = np.nan_to_num(posterior)
    table = 1.0 / np.maximum(np.nan_to_num(confusion), _LEAST).transpose(0, 2, 1).reshape(-1, labels)
    votes = votes_by_juror(row, juror * np.int64(labels) + said, (len(known), width * labels))
    squares, ones = np.zeros(width), np.ones(labels)
    step = max(_IN_CACHE // labels, 1)  # votes x labels would be the largest table
    for start in range(0, len(row), step):
        at, who, word, place = (part[start : start + step] for part in (row, juror, said, votes.indices))
        q = known.take(at, axis=0)
        q *= table.take(place, axis=0)
        total, weight = q @ ones + _LEAST, sketch.counts[at].astype(float)
        own = q[np.arange(len(at)), word] / total
        squares += np.bincount(who, weight * own**2, width)
        votes.data[start : start + step] = weight / total
    joint = table * (votes.T @ known)
    return Heard(np.ascontiguousarray(joint.reshape(width, labels, labels).transpose(0, 2, 1)), squares)


def uninformative(heard: Heard) -> Flags:
    """Which jurors answer as if by chance.

    Examples
    --------
    Two hundred votes of a coin among good jurors are enough, thirty are not:

    >>> good, coin, short = [[75.0, 25], [25, 75]], [[50.0, 50], [50, 50]], [[8.0, 7], [7, 8]]
    >>> joint = np.array([good, good, good, coin, short])
    >>> uninformative(Heard(joint, np.einsum("jll->j", joint))).tolist()
    [False, False, False, True, False]
    """
    judged = (heard.joint.sum(axis=(1, 2)) >= _ENOUGH_VOTES) & ~_is_constant(heard.joint)
    gain, z = _lift(heard)
    accused = np.zeros(len(gain), dtype=bool)
    if judged.any():
        least = _WORTH * max(float(np.median(gain[judged])), 0.0)
        accused[judged] = step_up(_worthless(heard, least)[judged], _FALSE_ACCUSATIONS)
    return np.asarray(accused & (np.abs(gain) < _NEAR_CHANCE) & (np.abs(z) < _NOT_SURE))


def _worthless(heard: Heard, least: float) -> Floats:
    """One-sided p-values (Student's t) of "the lift is at least `least`": small where a juror's votes rule it out."""
    from scipy.special import stdtr

    gain, _ = _lift(heard)
    votes = np.maximum(heard.joint.sum(axis=(1, 2)), 2.0)
    error = _error(heard) / np.maximum(1 - _chance_rate(heard.joint), _LEAST)
    return np.asarray(stdtr(votes - 1, (gain - least) / error))


def step_up(p_values: Floats, rate: float) -> Flags:
    """Benjamini and Hochberg's step-up: which hypotheses fall if a share `rate` of the fallen may be true ones.

    Examples
    --------
    >>> step_up(np.array([0.001, 0.03, 0.02, 0.8]), 0.05).tolist()
    [True, True, True, False]
    """
    order = np.argsort(p_values, kind="stable")
    passes = p_values[order] <= rate * np.arange(1, len(p_values) + 1) / len(p_values)
    count = int(np.flatnonzero(passes).max(initial=-1)) + 1
    fallen = np.zeros(len(p_values), dtype=bool)
    fallen[order[:count]] = True
    return fallen


def _lift(heard: Heard) -> tuple[Floats, Floats]:
    """How far from chance (0) to always right (1) each juror is, and in standard errors."""
    votes = np.maximum(heard.joint.sum(axis=(1, 2)), 1.0)
    by_chance = _chance_rate(heard.joint)
    above = np.einsum("jll->j", heard.joint) / votes - by_chance
    return above / np.maximum(1 - by_chance, _LEAST), above / _error(heard)


def _error(heard: Heard) -> Floats:
    """The standard error of the mean probability that a juror's vote is right; never less than one vote's in all."""
    votes = np.maximum(heard.joint.sum(axis=(1, 2)), 1.0)
    mean = np.einsum("jll->j", heard.joint) / votes
    return np.asarray(np.sqrt(np.maximum(heard.squares / votes - mean**2, 1 / votes**2) / votes))


def _chance_rate(joint: Floats) -> Floats:
    """How often a juror would be right who says each label as often, whatever the item."""
    votes = np.maximum(joint.sum(axis=(1, 2)), 1.0)
    return np.asarray((joint.sum(axis=1) * joint.sum(axis=2)).sum(axis=1) / votes**2)


def _is_constant(joint: Floats) -> Flags:
    """Who said one label only."""
    return np.asarray((joint.sum(axis=1) > 0).sum(axis=1) == 1)
