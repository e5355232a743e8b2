"""Jurors against themselves and against the others: the same two objects in both orders, and what the others show."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve

from jurors.numbers.arrays import Floats, Integers
from jurors.pairs.preferences import Counted, Preferences
from jurors.pairs.strengths import Strengths, strengths_alone

_FEW = 50  # a juror who gave fewer than one answer in so many moves the strengths little


@dataclass(frozen=True)
class Swapped:
    """How often each juror was asked in both orders, and answered otherwise."""

    asked: Integers
    otherwise: Integers


def swapped(data: Preferences) -> Swapped:
    """The first answer in one order beside the first in the other, the second beside the second, and so on.

    A tie in one order and a winner in the other is another answer, too. Where items are named, both orders of one item.
    """
    size = len(data.jurors)
    if not data.is_placed:
        return Swapped(np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64))
    contest, is_forward = data.contests(), data.left < data.right
    key = data.juror * (int(contest.max()) + 1) + contest
    answer = np.where(is_forward, data.outcome, -data.outcome)
    (one, one_answer), (two, two_answer) = (
        _numbered(key[way], answer[way], len(key)) for way in (is_forward, ~is_forward)
    )
    _, first, second = np.intersect1d(one, two, assume_unique=True, return_indices=True)
    juror = data.juror[is_forward][np.argsort(key[is_forward], kind="stable")][first]
    differs = one_answer[first] != two_answer[second]
    return Swapped(np.bincount(juror, minlength=size), np.bincount(juror[differs], minlength=size))


def _numbered(key: Integers, answer: Integers, most: int) -> tuple[Integers, Integers]:
    """Keys in order, each made unique by how often it came before; and their answers."""
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    start = np.concatenate([[True], ordered[1:] != ordered[:-1]]) if len(ordered) else np.zeros(0, dtype=np.bool_)
    begin = np.maximum.accumulate(np.where(start, np.arange(len(ordered)), 0)) if len(ordered) else ordered
    return ordered * most + np.arange(len(ordered)) - begin, answer[order]


def with_others(data: Counted, fit: Strengths) -> Floats:
    """How each juror's answers go with the strengths that all the others show, from -1 to 1.

    Around 0, not around means: whatever stands left could stand right. Without a juror of few answers, the strengths
    are one Newton step away; without one of many, they are sought again.
    """
    correlation = np.full(data.shape[0], np.nan)
    ends = np.cumsum(np.bincount(data.juror, minlength=data.shape[0]))
    for juror, rows in enumerate(np.split(np.argsort(data.juror, kind="stable"), ends[:-1])):
        if len(rows) < len(data.juror):
            differences = _one_step if len(rows) < min(data.shape[1], len(data.juror) / _FEW) else _again
            expected = np.tanh(differences(data, rows, fit) / 2)
            correlation[juror] = _cosine(data.outcome[rows], expected, data.weight[rows])
    return correlation


def _one_step(data: Counted, rows: Integers, fit: Strengths) -> Floats:
    """The differences in strength in these rows, as they would be without them."""
    some, covariance = data.take(rows), fit.covariance
    answers, a = fit.state.answering(some), fit.state.habits[some.juror, 0]
    pull, weight = some.weight * a * (some.outcome - answers.mean) / 2, some.weight * a * a * answers.variance / 4
    columns = covariance[some.left] - covariance[some.right]
    between = columns[:, some.left] - columns[:, some.right]
    moved = solve(np.eye(len(rows)) - between * weight, between @ pull)
    return np.asarray(fit.state.differences(some) - moved)


def _again(data: Counted, rows: Integers, fit: Strengths) -> Floats:
    others = data.take(np.setdiff1d(np.arange(len(data.juror)), rows))
    start = replace(fit.state, strength=np.zeros(data.shape[1]))
    return strengths_alone(others, start).differences(data.take(rows))


def _cosine(one: Integers, two: Floats, weight: Floats) -> float:
    size = float(np.sqrt((weight @ one**2) * (weight @ two**2)))
    return float(weight @ (one * two)) / size if size > 1e-9 else float("nan")
