"""The figures of an audit: each the share of some items in which something is true, told by votes and true label.

A figure knows, for each decision tuple, whether its items belong to it, and for each true label whether (or how far,
from 0 to 1) the event happened. An accuracy is a ratio of two such shares: its items are those with the label, which
only labels tell; `right` says where the juror gave it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from jurors.numbers.arrays import Flags, Floats, Integers


@dataclass(frozen=True, eq=False)
class Figure:
    """One share, by decision tuple."""

    name: tuple[Any, ...]  #: ("score", juror), ("accuracy", juror, label) …
    member: Flags  #: tuples: whether their items count
    target: Integers  #: tuples: the true label for which the event happens
    against: Integers | None = None  #: tuples: the true label that counts against it: the share is of halves then
    scale: Floats | None = None  #: tuples: of halves, how much of a half each counts
    negated: bool = False  #: whether the event is that the true label is another
    right: Flags | None = None  #: tuples: of accuracies, whether the juror said the label

    @property
    def is_ratio(self) -> bool:
        """Whether it is an accuracy."""
        return self.right is not None

    def values(self, labels: int) -> Floats:
        """Tuples x labels: the event, from 0 to 1."""
        every = np.arange(labels)
        happens = (self.target[:, None] == every).astype(np.float64)
        if self.against is not None:
            scale = 1.0 if self.scale is None else self.scale[:, None]
            return np.asarray((1 + scale * (happens - (self.against[:, None] == every))) / 2)
        return np.asarray(1 - happens if self.negated else happens)

    def at(self, tuples: Integers) -> Figure:
        """The same of some tuples only, in this order."""
        against = None if self.against is None else self.against[tuples]
        scale = None if self.scale is None else self.scale[tuples]
        right = None if self.right is None else self.right[tuples]
        return replace(
            self, member=self.member[tuples], target=self.target[tuples], against=against, scale=scale, right=right
        )


def score_of(juror: str, said: Integers) -> Figure:
    """How often a juror is right, over the items it voted on."""
    return Figure(("score", juror), said >= 0, said)


def accuracy_of(juror: str, label: Any, code: int, said: Integers) -> Figure:
    """How often a juror says a label where it is the true one."""
    return Figure(("accuracy", juror, label), said >= 0, np.full(len(said), code), right=said == code)


def prevalence_of(label: Any, code: int, tuples: int) -> Figure:
    """How often a label is the true one."""
    return Figure(("prevalence", label), np.ones(tuples, dtype=bool), np.full(tuples, code))


def wrong_of(method: str, chosen: Integers) -> Figure:
    """How often a labelling is wrong."""
    return Figure(("wrong_labels", method), np.ones(len(chosen), dtype=bool), chosen, negated=True)


def lead_of(one: str, other: str, said: Integers, beside: Integers) -> Figure:
    """(1 + the lead of one juror over another) / 2, over the items on which both voted and not the same.

    Where they say the same neither is ahead, whatever the truth is: no label of such an item could tell more.
    """
    return Figure(("lead", one, other), (said >= 0) & (beside >= 0) & (said != beside), said, against=beside)


def apart_of(name: tuple[Any, ...], code: int, one: Flags, other: Flags, sizes: Integers) -> Figure:
    """How far a label's prevalence is apart in two groups, each a flag per tuple: (1 + apart * unit) / 2.

    An item counts for its group or against it, in proportion to what it is of the group; see `unit_apart`.
    """
    here, there = (int(sizes[group].sum()) for group in (one, other))
    scale = np.where(one, min(here, there) / max(here, 1), min(here, there) / max(there, 1))
    return Figure(name, one | other, np.where(one, code, -1), np.where(other, code, -1), scale)


def unit_apart(one: Flags, other: Flags, sizes: Integers) -> float:
    """What `apart_of` counts a whole point as: the smaller group's part of both."""
    here, there = (float(sizes[group].sum()) for group in (one, other))
    return min(here, there) / (here + there)
