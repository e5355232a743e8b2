"""What more answers of one juror would come to: on each item it has a settled answer, and gives it more or less often.

An item is of a kind (c, s): c is the answer that the juror gives there with chance s, more often than any other; the
others share the rest as they are common. How common each kind is, is fitted to all items that were asked again, without
a shape assumed (a mixture on a grid of s, by expectation maximisation from even shares, with two more items of even
shares to keep every kind alive). Two answers an item fix little more than how often they agree; five tell whether some
items are wholly open or all of them a little. Where a key is known, what is right is fitted to the items of each true
label by themselves: a juror who is mostly right settles on the truth more often than its answers alone would show.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jurors.numbers.arrays import Floats, Integers

TIMES = (1, 3, 5, 11)  #: how many answers a majority is taken of
_STEPS, _FEW_STEPS, _MANY = 40, 10, 12  # of s, the fewer where a juror gives many different answers
_ROUNDS, _STILL = 400, 1e-7
_EVEN = 2.0  # items of even shares beside the true ones
_NEVER = 1e-300
_DRAWS, _CELLS = 1_000, 1_000_000  # of a kind with three answers or more, at most; of two, majorities are worked out


@dataclass(frozen=True)
class Settled:
    """Of each pattern of answers, what majorities of more of them would be."""

    settled: Floats  #: patterns x TIMES: the chance that the majority is the settled answer
    right: Floats  #: patterns x TIMES: the chance that it is the true one
    limit: Floats  #: patterns: the chance that the settled answer is the true one


def settle(counts: Integers, items: Integers, truth: Integers | None = None) -> Settled:
    """Majorities to come, of patterns x answers counts; `truth` has the true answer of each, negative where none is.

    Examples
    --------
    A juror who gives its settled answer 9 times in 10 on all items, five answers each:

    >>> from math import comb
    >>> counts = np.array([[k, 5 - k] for k in range(6)])
    >>> items = np.array([comb(5, k) * (0.9**k * 0.1 ** (5 - k) + 0.1**k * 0.9 ** (5 - k)) * 1e6 for k in range(6)])
    >>> likely = settle(counts, items)
    >>> (likely.settled.T @ items / items.sum()).round(2).tolist()
    [0.9, 0.97, 0.99, 1.0]
    """
    answer, chances = _kinds((items @ counts).astype(np.float64))
    belief = _fitted(counts, items, chances)
    majority = np.stack([_majorities(chances, times) for times in TIMES], axis=1)  # kinds x TIMES x answers
    settled = majority[np.arange(len(answer)), :, answer]
    right, limit = np.zeros((len(counts), len(TIMES))), np.zeros(len(counts))
    for label in () if truth is None else np.unique(truth[truth >= 0]).tolist():
        mine = truth == label  # fitted by themselves: which answer a juror settles on depends on what is true
        told = _fitted(counts[mine], items[mine], chances)
        right[mine], limit[mine] = told @ majority[:, :, label], told @ (answer == label)
    return Settled(belief @ settled, right, limit)


def _kinds(votes: Floats) -> tuple[Integers, Floats]:
    """The settled answer of every kind, and the chances of all answers."""
    share, size = votes / votes.sum(), len(votes)
    if size == 1:
        return np.zeros(1, dtype=np.int64), np.ones((1, 1))
    steps = _STEPS if size <= _MANY else _FEW_STEPS
    answer = np.repeat(np.arange(size), steps)
    steady = np.tile(np.arange(1, steps + 1) / steps, size)
    chances = (1 - steady)[:, None] * share / (1 - share[answer])[:, None]
    chances[np.arange(len(answer)), answer] = 0.0
    is_settled = steady > chances.max(axis=1)
    chances[np.arange(len(answer)), answer] = steady
    return answer[is_settled], chances[is_settled]


def _fitted(counts: Integers, items: Integers, chances: Floats) -> Floats:
    """Patterns x kinds: how probably an item with these answers is of each kind."""
    fit = counts @ np.log(np.maximum(chances, _NEVER)).T
    fit = np.exp(fit - fit.max(axis=1, keepdims=True))
    even = np.full(len(chances), 1 / len(chances))
    share = even
    for _ in range(_ROUNDS):
        joint = fit * share
        belief = joint / joint.sum(axis=1, keepdims=True)
        before, share = share, (items @ belief + _EVEN * even) / (items.sum() + _EVEN)
        if np.abs(share - before).max() < _STILL:
            break
    return np.asarray(belief)


def _majorities(chances: Floats, times: int) -> Floats:
    """Kinds x answers: how often each is the commonest of so many; where several are, each has its part."""
    if chances.shape[1] <= 2:
        return _of_two(chances, times)
    draws = min(_DRAWS, _CELLS // chances.size + 1)
    drawn = np.random.default_rng(0).multinomial(times, chances, size=(draws, len(chances)))
    commonest = drawn == drawn.max(axis=2, keepdims=True)
    return np.asarray((commonest / commonest.sum(axis=2, keepdims=True)).mean(axis=0))


def _of_two(chances: Floats, times: int) -> Floats:
    """The chance of more than half of an odd number of times."""
    if chances.shape[1] == 1:
        return chances
    from math import comb

    first = chances[:, 0]
    more = sum(comb(times, k) * first**k * (1 - first) ** (times - k) for k in range(times // 2 + 1, times + 1))
    return np.stack([more, 1 - more], axis=1)
