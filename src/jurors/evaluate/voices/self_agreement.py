"""How steady a juror is who was asked several times about one item, and what asking more often would bring.

Of an item with m_c answers c among n, the share of pairs of answers that agree is Σ m_c (m_c - 1) / (n (n - 1)). The
juror's agreement with itself is the mean over items; its variance is that of the items (answers on one item hang
together), and the interval is Wilson's for as many free trials as give this variance: fresh items of the same kind.

What more answers would bring takes a model (`settling`). The settled answer on an item is the one to which ever more
answers would come. It may be wrong: how often, votes of one juror do not tell, and no repetition mends it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np

from jurors.evaluate.solution import Named
from jurors.evaluate.voices.settling import TIMES, settle
from jurors.numbers.arrays import Codes, Floats, Integers
from jurors.votes import Votes
from jurors.votes.repeated.own_answers import added_up

_ROUNDING = 1e-24  # a variance that is as small is none: the items are alike


@dataclass(frozen=True)
class SelfAgreement:
    """Juror -> how steady it is, of those who were asked several times about an item."""

    items: Named  #: juror -> on how many items it was asked again
    times: Named  #: juror -> how often on such an item, on average
    ties: Named  #: juror -> on how many items its answers came to no vote
    agreement: Named  #: juror -> how often two of its answers on an item agree
    interval: Named  #: juror -> (low, high)
    alpha: Named  #: juror -> the same beyond chance (Krippendorff's); None where it gives one answer only
    settled: Named  #: juror -> k -> how often the majority of k answers is the one that ever more would come to
    level: float  #: how sure the intervals are
    right: Named = field(default_factory=Named)  #: by a key: juror -> k -> how often the majority of k is right
    ceiling: Named = field(default_factory=Named)  #: by a key: juror -> how often its settled answer is right

    def to_dict(self) -> dict[str, Any]:
        """By juror, as the JSON has it."""
        keyed = {"right": self.right, "ceiling": self.ceiling} if self.ceiling else {}
        names = ("items", "times", "ties", "agreement", "interval", "alpha", "settled")
        return {
            juror: {name: part[juror] for name, part in [*((n, getattr(self, n)) for n in names), *keyed.items()]}
            for juror in self.agreement
        }


@dataclass(frozen=True)
class _Asked:
    """What one juror said: distinct answers by item, as counts of each, and how many items have them."""

    counts: Integers  #: patterns x answers
    items: Integers
    truth: Integers | None = None  #: of each pattern the place of the true label; -1: not known, or never said

    @classmethod
    def of(cls, said: Codes, items: Integers, truth: Integers | None = None) -> _Asked:
        """The commonest answer first, so that names of labels do not matter."""
        labels = np.full(len(said), -1) if truth is None else truth
        rows, total = added_up(np.column_stack([labels, said]), items)
        known = np.unique(said[said >= 0])
        counts = (rows[:, 1:, None] == known[None, None, :]).sum(axis=1)
        order = np.argsort(-(total @ counts), kind="stable")
        right = np.where(rows[:, 0] < 0, -2, -1)  # -1: the juror never said so
        for place, label in enumerate(known[order].tolist()):
            right[rows[:, 0] == label] = place
        return cls(counts[:, order], total, None if truth is None else right)


def self_agreement(votes: Votes, level: float, truth: Integers | None = None) -> SelfAgreement | None:
    """The steadiness of every juror who was asked again; with each row's true label also what repeating is worth.

    Examples
    --------
    >>> from jurors.votes.repeated.one_voice import join_named
    >>> rows = [["a", "a", "a"], ["b", "b", "b"], ["a", "b", "b"], ["a", "a", "a"]]
    >>> votes = join_named(Votes.from_matrix(rows, jurors=("judge_1", "judge_2", "ann")), ["judge"])
    >>> steady = self_agreement(votes, 0.95)
    >>> steady.items["judge"], steady.ties["judge"], steady.agreement["judge"], round(steady.alpha["judge"], 2)
    (4, 1, 0.75, 0.53)
    """
    own = votes.repeats
    if own is None:
        return None
    levels = len(votes.labels) if votes.scale == "ordinal" else None
    tied = own.one_vote(levels) < 0
    table: dict[str, dict[str, Any]] = {}
    for k in np.unique(own.juror).tolist():
        here = own.juror == k
        asked = _Asked.of(own.said[here], own.items[here], None if truth is None else truth[own.row[here]])
        ties = int(own.items[here & tied].sum())
        table[votes.jurors[k]] = {"ties": ties, **_figures(asked, level)}
    names = table[next(iter(table))]
    parts: dict[str, Any] = {name: Named((juror, row[name]) for juror, row in table.items()) for name in names}
    return SelfAgreement(level=level, **parts)


def _figures(asked: _Asked, level: float) -> dict[str, Any]:
    counts, items = asked.counts, asked.items
    total = int(items.sum())
    agreement, interval = agreement_with_itself(counts, items, level)
    likely = settle(counts, items, asked.truth)
    figures = {
        "items": total,
        "times": float(items @ counts.sum(axis=1)) / total,
        "agreement": agreement,
        "interval": interval,
        "alpha": _alpha(counts, items),
        "settled": dict(zip(TIMES, (likely.settled.T @ items / total).tolist(), strict=True)),
    }
    if asked.truth is not None:
        figures["right"] = {k: _share(x, asked) for k, x in zip(TIMES, likely.right.T, strict=True)}
        figures["ceiling"] = _share(likely.limit, asked)
    return figures


def _share(right: Floats, asked: _Asked) -> float | None:
    """How often right on the items whose true label is known; None where there is none."""
    known = asked.items * (asked.truth > -2)  # type: ignore[operator]
    return float(known @ right) / float(known.sum()) if known.any() else None


def agreement_with_itself(counts: Integers, items: Integers, level: float) -> tuple[float, tuple[float, float]]:
    """How often two answers on an item agree, of patterns x answers counts, and Wilson's interval.

    It is for as many trials as give the mean its variance by items.

    >>> agreement, (low, high) = agreement_with_itself(np.array([[5, 0], [4, 1]]), np.array([60, 40]), 0.95)
    >>> round(agreement, 2), round(low, 3), round(high, 3)
    (0.84, 0.798, 0.875)
    """
    times, total = counts.sum(axis=1), float(items.sum())
    alike = (counts * (counts - 1)).sum(axis=1) / (times * (times - 1))
    agreement, pairs = float(items @ alike) / total, float(items @ (times * (times - 1))) / 2
    spread = float(items @ (alike - agreement) ** 2) / (total * max(total - 1, 1.0))
    trials = min(agreement * (1 - agreement) / spread, pairs) if spread > _ROUNDING else total
    z = NormalDist().inv_cdf(0.5 + level / 2)
    middle = (agreement + z * z / (2 * trials)) / (1 + z * z / trials)
    reach = z / (1 + z * z / trials) * (agreement * (1 - agreement) / trials + z * z / (4 * trials**2)) ** 0.5
    return agreement, (middle - reach, middle + reach)


def _alpha(counts: Integers, items: Integers) -> float | None:
    """Krippendorff's alpha of a juror with itself."""
    times = counts.sum(axis=1)
    votes = (items[:, None] * counts).sum(axis=0).astype(float)
    total = float(votes.sum())
    by_chance = total**2 - float(votes @ votes)
    if not by_chance:
        return None
    apart = float(items @ ((times**2 - (counts**2).sum(axis=1)) / (times - 1)))
    return 1 - apart * (total - 1) / by_chance
