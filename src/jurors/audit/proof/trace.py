"""What a draw showed of every figure, step by step, as bets need it: nothing of a step looks ahead.

The control is what votes and earlier labels make of the next item: a mixture of posteriors (`foretell.py`), weighed by
how well each foretold the labels so far. It need not be right: it only takes out what it explains. With the chance of
each item known, the mean of what is left is estimated without bias by

    weight * (event - control) + mean of the control over the items left,   weight = 1 / (items left * chance).

A figure of some items only (those on which a juror voted) looks only at draws of such items; given that, chances are in
proportion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jurors.audit.design import Walk
from jurors.audit.proof.betting import Steps
from jurors.audit.proof.figures import Figure
from jurors.audit.proof.foretell import Foretellers
from jurors.numbers.arrays import Flags, Floats, Integers

_PRIOR = 8.0  # how many labels the expected noise and share count as
_UNSURE = 0.5  # squares by which the control is taken for useless, until labels say otherwise
_UNSURE_OF_LEADS = 0.02  # the same of leads, most of whose control is which of two groups an item is of
_TRUST = 4.0  # how many labels the promise counts as that the control has the slope 1


@dataclass(frozen=True, eq=False)
class Cells:
    """Items that are alike for every figure: those of a decision tuple, or of a tuple and a group."""

    sizes: Integers
    tuple_of: Integers  #: the decision tuple of each cell
    foretold: Foretellers  #: posteriors of the cells

    @classmethod
    def of_tuples(cls, sizes: Integers, foretold: Foretellers) -> Cells:
        """A cell per decision tuple."""
        return cls(sizes, np.arange(len(sizes)), foretold)


@dataclass(frozen=True, eq=False)
class Sums:
    """What is known of figures before anything is drawn: figures, or foretellers x figures."""

    figures: tuple[Figure, ...]
    cells: Cells
    items: Floats  #: figures: their items
    items_right: Floats  #: figures: those where right is 1
    focus: Floats  #: figures: the focus of their items, summed
    control_right: Floats  #: foretellers x figures: right * control, summed over the items
    control_all: Floats
    extremes: Floats  #: 4 x foretellers x figures: how far events can lie below and above the control, right and not
    reach: Floats  #: 4 x figures: how far they can lie below and above 0
    noise: Floats  #: 2 x figures: expected squares of event - control, where right and where not
    promise: Floats  #: figures: the variance of the control

    @classmethod
    def of(cls, figures: Sequence[Figure], cells: Cells, focus: Floats) -> Sums:
        """The sums of some figures over all items; `focus` is that of the decision tuples."""
        rows = [_figure_sums(one, cells, focus[cells.tuple_of]) for one in figures]
        items, sure, drawn, right, every, extremes, reach, noise, promise = (
            np.array(part) for part in zip(*rows, strict=True)
        )
        return cls(
            tuple(figures), cells, items, sure, drawn, right.T, every.T, extremes.transpose(1, 2, 0), reach.T,
            noise.T, promise,
        )  # fmt: skip

    @property
    def leads(self) -> Flags:
        """Figures: whether there is more than all or nothing to an event: a lead where three labels can be true."""
        labels = self.cells.foretold.posteriors.shape[2]
        return np.array([f.against is not None and (labels > 2 or f.scale is not None) for f in self.figures])


def _figure_sums(figure: Figure, cells: Cells, focus: Floats) -> tuple[object, ...]:
    posteriors, mix = cells.foretold.posteriors, cells.foretold.weights
    values = figure.values(posteriors.shape[2])
    weights = np.where(figure.member, cells.sizes, 0).astype(np.float64)
    control = np.einsum("kgl,gl->kg", posteriors, values)
    right = np.ones(len(weights), dtype=bool) if figure.right is None else figure.right
    mixed = mix @ control
    spread = np.einsum("k,kgl,gl->g", mix, posteriors, values**2) - mixed**2
    total = max(weights.sum(), 1.0)
    noise = [(weights * spread)[right].sum() / total, (weights * spread)[~right].sum() / total]
    promise = weights @ (mixed - weights @ mixed / total) ** 2 / total
    sides = [figure.member & side for side in (right, ~right)]
    ends = [end for among in sides for end in _ends(control, values, among)]
    reach = [end[0] for among in sides for end in _ends(np.zeros((1, len(right))), values, among)]
    known = weights.sum(), (weights * right).sum(), weights @ focus
    return *known, control @ (weights * right), control @ weights, ends, reach, noise, promise


def _ends(control: Floats, values: Floats, among: Flags) -> tuple[Floats, Floats]:
    """Foretellers: how far an event can lie below the control, and above; where there is no item, it cannot."""
    if not among.any():
        return np.zeros(len(control)), np.zeros(len(control))
    below = control[:, among] - values[among].min(axis=1)
    above = values[among].max(axis=1) - control[:, among]
    return below.max(axis=1), above.max(axis=1)


@dataclass(frozen=True, eq=False)
class Drawn:
    """What the figures have to do with the items drawn: draws x figures."""

    cells: Integers
    labels: Integers  #: -1: none
    ends: Integers  #: the last draw of the batch, from 1
    member: Floats
    right: Floats
    event: Floats  #: NaN where there is no label
    controls: Floats  #: draws x foretellers x figures

    @classmethod
    def of(cls, sums: Sums, cells: Integers, labels: Integers, ends: Integers) -> Drawn:
        """Look up the cells of the draw in every figure."""
        posteriors = sums.cells.foretold.posteriors
        here = [one.at(cells) for one in sums.figures]
        values = np.array([one.values(posteriors.shape[2]) for one in here])
        event = np.where(labels >= 0, values[:, np.arange(len(cells)), labels], np.nan).T
        right = np.array([np.ones(len(cells)) if one.right is None else one.right for one in here], dtype=float).T
        controls = np.einsum("ktl,ftl->tkf", posteriors[:, cells], values)
        return cls(cells, labels, ends, np.array([one.member for one in here], dtype=float).T, right, event, controls)


def trace(sums: Sums, walk: Walk, drawn: Drawn) -> Steps:
    """The steps of a draw."""
    state, rows = _State(sums, walk), []
    for t in range(len(drawn.cells)):
        rows.append(state.before(drawn, t))
        state.take(drawn, t, rows[-1])
    out = {name: np.array([row[name] for row in rows]) for name in rows[0] if name != "slope"}
    by_line = {name: out.pop(name).transpose(1, 0, 2) for name in ("extremes", "noise")}
    fresh = np.repeat((np.diff(drawn.ends, prepend=-1) != 0)[:, None], len(sums.figures), axis=1)
    return Steps(
        **out, **by_line, counts=drawn.member > 0, event=drawn.event, right=drawn.right, fresh=fresh,
        ratio=np.array([one.is_ratio for one in sums.figures]),
        lead=sums.leads, size=sums.items,
        size_right=sums.items_right,
    )  # fmt: skip


class _State:
    """Running sums over the items left, and what the labels so far say of the control."""

    def __init__(self, sums: Sums, walk: Walk) -> None:
        self.sums, self.walk, self.weights = sums, walk, sums.cells.foretold.weights.copy()
        self.left, self.focus = sums.items.copy(), sums.focus.copy()
        self.control_right, self.control_all = sums.control_right.copy(), sums.control_all.copy()
        self.noise, self.seen = sums.noise * _PRIOR, np.full(len(self.left), _PRIOR)
        self.middle = _PRIOR * (self.weights @ self.control_all) / np.maximum(self.left, 1)
        self.spread = self.middle * (1 - self.middle / _PRIOR)
        self.residual = _PRIOR * sums.noise.sum(axis=0)
        self.leads = sums.leads
        self.unsure = np.where(self.leads, _UNSURE_OF_LEADS, _UNSURE)
        self.along, self.across = _TRUST * sums.promise, _TRUST * sums.promise

    def before(self, drawn: Drawn, t: int) -> dict[str, Floats]:
        """What is known before the label."""
        left = np.maximum(self.left, 1.0)
        share, weight, heaviest = self._chances(int(drawn.cells[t]), left)
        unexplained = (self.residual + _UNSURE) / (self.spread + _UNSURE)
        slope = np.clip(self.along / (self.across + self.unsure), 0.0, 1.0)  # how far to follow the control
        mix = self.weights[:, None] * slope
        return {
            "horizon": 1 + (drawn.ends[t] - t - 1) * share, "left": self.left, "weight": weight, "heaviest": heaviest,
            "control": (mix * drawn.controls[t]).sum(axis=0),
            "control_right": (mix * self.control_right).sum(axis=0) / left,
            "control_all": (mix * self.control_all).sum(axis=0) / left,
            "extremes": (mix * self.sums.extremes).sum(axis=1) + (1 - slope) * self.sums.reach,
            "noise": self.noise / self.seen,
            "unexplained": np.where(self.leads, self.residual / self.seen, unexplained), "slope": slope,
            "control_noise": slope**2 * self.sums.promise,
        }  # fmt: skip

    def _chances(self, cell: int, left: Floats) -> tuple[Floats, Floats, Floats]:
        """Figures: the chance that the draw concerns it; then the item's weight, and the largest there could be."""
        walk, cells = self.walk, self.sums.cells
        floor, focus = walk.rule()
        attention = self.focus
        if focus is not walk.design.focus:  # some tuples are overdue: nobody has drawn from them
            here = np.where(focus[cells.tuple_of] > 0, cells.sizes, 0)
            attention = np.array([here[one.member].sum() for one in self.sums.figures], dtype=np.float64)
        share = floor * self.left / walk.left.sum() + (1 - floor) * attention / (walk.left * focus).sum()
        chance = walk.chances()
        least = chance[walk.left > 0].min()
        return share, share / (left * chance[cells.tuple_of[cell]]), share / (left * least)

    def take(self, drawn: Drawn, t: int, row: dict[str, Floats]) -> None:
        """The item is drawn, and labelled."""
        cell, label, member = int(drawn.cells[t]), drawn.labels[t], drawn.member[t]
        if label >= 0:
            self._learn(drawn, t, row)
            self.weights = self.weights * self.sums.cells.foretold.posteriors[:, cell, label]
            self.weights = self.weights / self.weights.sum()
        which = int(self.sums.cells.tuple_of[cell])
        self.left = self.left - member
        self.focus = self.focus - member * self.walk.design.focus[which]
        self.control_all = self.control_all - member * drawn.controls[t]
        self.control_right = self.control_right - member * drawn.right[t] * drawn.controls[t]
        self.walk.take(which)

    def _learn(self, drawn: Drawn, t: int, row: dict[str, Floats]) -> None:
        """How far the control was off, and in what proportion it should be followed."""
        member, right = drawn.member[t], drawn.right[t]
        off = drawn.event[t] - self.middle / self.seen
        aside = self.weights @ (drawn.controls[t] - self.control_all / np.maximum(self.left, 1.0))
        surprise = row["weight"] * (drawn.event[t] - row["control"])
        self.along, self.across = self.along + member * off * aside, self.across + member * aside**2
        self.noise = self.noise + member * surprise**2 * np.array([right, 1 - right])
        self.residual = self.residual + member * (row["weight"] * (off - row["slope"] * aside)) ** 2
        self.spread = self.spread + member * off**2
        self.middle, self.seen = self.middle + member * drawn.event[t], self.seen + member
