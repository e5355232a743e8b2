"""What a person's label of one more item would teach: how many labels fewer are wrong, its own and those of others.

The label settles its own item. And it tells scenarios of shared error and slant apart: those that expected it weigh
more,

    w_k ∝ q_tk[y],      Q_u(y) = Σ_k w_k q_uk,

and where that changes the best label of other items, fewer of them are wrong: mostly many items with the same votes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from jurors.doubt.shared.calibrate import drawn_scenarios
from jurors.doubt.shared.jury_votes import Jury
from jurors.doubt.shared.reference import Population
from jurors.doubt.shared.scenarios import DRAWS, Scenarios, temper
from jurors.numbers.arrays import Floats, Integers

_MOST_STEPS = 1e9  # multiplications; where tuples are many, fewer of them are asked what they teach of others
_FEWEST_ASKED, _MOST_ASKED = 20, 400
_BLOCK = 2_000  # tuples at a time,
_STRIP = 128  # of which so many are asked about by all others at a time: tables that stay in the processor's cache


@dataclass(frozen=True, eq=False)
class Lessons:
    """By tuple, what the label of one of its items teaches."""

    own: Floats  #: how probably the item's own label is wrong
    others: Floats  #: how many labels fewer of all other items are expected to be wrong
    items: Integers  #: how many items have the tuple


def lessons(
    jury: Jury, population: Population, *, rho: float | None = None, gold: Floats | None = None,
    rivals: list[Floats] | None = None,
) -> Lessons:  # fmt: skip
    """What labels teach, by tuple; arguments as in `calibrate`."""
    odds, drawn = drawn_scenarios(jury, population, rho=rho, gold=gold, rivals=rivals or [])
    known = 0.0 if gold is None else gold.sum(axis=1)
    left = np.maximum(jury.weights - known, 0.0)
    mean = np.concatenate([q.mean(axis=2) for q in _in_blocks(jury, odds, drawn)])
    own = 1.0 - mean.max(axis=1)
    asked = _asked(own, left, jury.labels)
    others = np.zeros(len(own))
    others[asked] = _of_others(jury, odds, drawn, asked, mean, left)
    return Lessons(own, others, np.rint(left).astype(np.int64))


def _asked(own: Floats, left: Floats, labels: int) -> Integers:
    """The tuples whose items may teach most: half of them doubtful ones, half those of many doubtful items."""
    room = _MOST_STEPS / (labels**2 * len(own) * DRAWS)
    most = int(np.clip(room, _FEWEST_ASKED, _MOST_ASKED))
    open_ = np.where(left > 0, own, -1.0)
    return np.union1d(np.argsort(-open_)[: most // 2], np.argsort(-open_ * left)[: most // 2])


def _of_others(jury: Jury, odds: list[Floats], drawn: Scenarios, asked: Integers, mean: Floats, left: Floats) -> Floats:
    """Σ_u items_u (Σ_y max_l mean_k q_tk[y] q_uk[l] - max_l mean_k q_uk[l]), the item itself left out."""
    by = _posteriors(jury, odds, drawn, asked).reshape(len(asked) * jury.labels, DRAWS) / DRAWS
    total, start = np.zeros(len(asked)), 0
    for block in _in_blocks(jury, odds, drawn):
        for q in (block[k : k + _STRIP] for k in range(0, len(block), _STRIP)):
            end = start + len(q)
            gain = _gain(by, q, mean[start:end])
            total += gain @ left[start:end]
            own = np.flatnonzero((asked >= start) & (asked < end))
            total[own] -= gain[own, asked[own] - start] * np.minimum(left[asked[own]], 1.0)
            start = end
    return total


def _gain(by: Floats, q: Floats, mean: Floats) -> Floats:
    """(asked, tuples): by how much an item of each tuple is labelled better after a label of each asked one."""
    labels = q.shape[1]
    likeliest = by @ q[:, 0].T
    last = by.sum(axis=1)[:, None] - likeliest  # the labels' chances add up to one
    for label in range(1, labels - 1):  # a maximum over a short last axis takes four times as long
        each = by @ q[:, label].T
        last -= each
        np.maximum(likeliest, each, out=likeliest)
    np.maximum(likeliest, last, out=likeliest)
    gain = likeliest.reshape(-1, labels, len(q)).sum(axis=1)
    gain -= mean.max(axis=1)
    return np.asarray(np.maximum(gain, 0.0, out=gain))


def _in_blocks(jury: Jury, odds: list[Floats], drawn: Scenarios) -> Iterator[Floats]:
    tuples = np.arange(len(jury.weights))
    return (_posteriors(jury, odds, drawn, tuples[k : k + _BLOCK]) for k in range(0, len(tuples), _BLOCK))


def _posteriors(jury: Jury, odds: list[Floats], drawn: Scenarios, at: Integers) -> Floats:
    """(tuples, R, DRAWS): the posterior of these tuples in every scenario."""
    q = np.empty((len(at), jury.labels, DRAWS))
    method = drawn.method[:DRAWS]
    for k in np.unique(method):
        which = np.flatnonzero(method == k)
        q[:, :, which] = temper(odds[k][at], jury.voices[at], drawn.log_rho[which], drawn.slant[which])
    return q
