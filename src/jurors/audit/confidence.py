"""Betting confidence sequences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from jurors._numeric import Flags, Floats, Integers
from jurors.audit.sheet import SequentialDraw

# Betting against a value: how sure a draw makes us that a share is not theta, however often one looks.
#
# Whoever bets on every draw at fair odds, were theta the truth, seldom becomes rich by luck: with capital 1, the chance
# of ever holding 1/alpha is at most alpha (Ville's inequality). So every theta against which a bettor has won 2/alpha,
# on either side, is refuted; the rest is a confidence set that holds at every draw at once (Waudby-Smith and Ramdas,
# 2024).
#
# A step pays 1 + lam (y - mu), where y estimates without bias the mean of what is left and mu is that mean under theta.
# How much to stake is free; only the width depends on it. Most of the capital plays for the end of the batch: the
# fraction of Browne's problem (reach a goal by a deadline), as large as its Gaussian limit would have it but measured
# in Kullback-Leibler distance on the two-point law with the step's own variance that is as skew as its range, so that
# it pays near 0 and 1. The rest plays for later ends, for those who go on. At the planned end this costs little more
# than an exact interval for that end alone.


#: for which end, in batches, and with what share of the capital
HORIZONS = ((1.0, 0.8), (1.5, 0.2))
_TINY = 1e-9
_STEPS = 4  # Newton's, more than a stake needs
_ROOT_TWO_PI = 2.5066282746310002


@dataclass(frozen=True, eq=False)
class Steps:
    """What the draws showed of some figures: arrays of draws x figures; see `trace.py`."""

    counts: Flags  #: whether the draw concerns the figure
    horizon: Floats  #: draws that concern it until the end of the batch, about, this one among them
    fresh: Flags  #: whether a batch begins
    left: Floats  #: items of the figure before the draw
    weight: Floats  #: even chance over the item's own
    heaviest: Floats  #: the largest there can be
    event: Floats  #: whether it happened, from 0 to 1; NaN where the item has no label
    right: Floats  #: of accuracies: whether the juror said the label; else 1
    control: Floats  #: the chance of the event, by votes and earlier labels
    control_right: Floats  #: mean of right * control over the items left
    control_all: Floats  #: mean of control over the items left
    extremes: Floats  #: 4 x draws x figures: how far an event can lie below and above its control, right and not
    noise: Floats  #: 2 x draws x figures: expected squares of weight * (event - control), right and not
    unexplained: Floats  #: the part of the variance that the control leaves, about; of leads, the variance itself
    control_noise: Floats  #: the variance of the control itself: what is left where theta is 0 or 1
    ratio: Flags  #: figures: whether it is an accuracy
    lead: Flags  #: figures: whether there is more than all or nothing to an event: a lead
    size: Floats  #: figures: items
    size_right: Floats  #: figures: items where right is 1

    def repeated(self, times: int) -> Steps:
        """The figures again and again, to try several shares of each at once."""
        return Steps(**{name: np.concatenate([part] * times, axis=-1) for name, part in vars(self).items()})


def refuted(steps: Steps, theta: Floats, side: int, alpha: float) -> Flags:
    """Figures: whether a bettor that the share is above (side 1) or below (-1) theta ever held 2 / alpha."""
    goal = 2.0 / alpha
    shares = np.array([share for _, share in HORIZONS])[:, None]
    capital = np.repeat(shares, len(theta), axis=1)
    later = np.zeros_like(capital)  # how long after the batch each part of the capital may take
    won = np.zeros(len(theta), dtype=bool)
    worst = 1 - steps.right if side > 0 else steps.right  # what an item without a label may have been
    past = _Past.start(replace(steps, event=np.where(np.isnan(steps.event), worst, steps.event)), theta)
    for t in range(len(steps.event)):
        if steps.fresh[t].any():
            capital, later = _new_batch(steps, t, capital, later, shares)
        mean = past.mean(t)
        gain, loss, most, variance = past.payoff(t, mean, side)
        stake = _stake(capital / goal, loss, most, variance, later + steps.horizon[t])
        stake = np.where(steps.counts[t] & ~won, stake, 0.0)
        # a theta that labels have ruled out can lose more than `loss`; no true one is ever cut here
        capital = np.clip(capital * (1 + stake * gain), 0.0, goal)
        won |= capital.sum(axis=0) >= goal * (1 - _TINY)
        past.take(t)
    return won


def _new_batch(steps: Steps, t: int, capital: Floats, later: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """At the start of a batch the capital is laid out anew over its ends."""
    ends = np.array([end - 1 for end, _ in HORIZONS])[:, None] * steps.horizon[t]
    fresh = steps.fresh[t]
    return np.where(fresh, shares * capital.sum(axis=0), capital), np.where(fresh, ends, later)


@dataclass(eq=False)
class _Past:
    """What earlier draws leave of the total that theta implies."""

    steps: Steps
    theta: Floats
    events: Floats
    events_right: Floats

    @classmethod
    def start(cls, steps: Steps, theta: Floats) -> _Past:
        return cls(steps, theta, np.zeros(len(theta)), np.zeros(len(theta)))

    def mean(self, t: int) -> Floats:
        """The mean of what is left, were theta the truth."""
        s, theta = self.steps, self.theta
        total = np.where(s.ratio, theta * self.events - self.events_right, theta * s.size - self.events)
        return np.asarray(total / np.maximum(s.left[t], 1))

    def payoff(self, t: int, mean: Floats, side: int) -> tuple[Floats, Floats, Floats, Floats]:
        """How far the step's estimate is on our side, the largest loss and gain there could have been, the variance."""
        s, theta = self.steps, np.where(self.steps.ratio, self.theta, 0.0)
        centre = s.control_right[t] - theta * s.control_all[t]
        gain = s.weight[t] * (s.right[t] - theta) * (s.event[t] - s.control[t]) + centre - mean
        fall1, rise1, fall0, rise0 = s.extremes[:, t]
        yes, no = 1 - theta, theta  # how much an event weighs where the juror said the label, and where not
        below = np.maximum(s.heaviest[t] * np.maximum(yes * fall1, no * rise0) - centre + mean, _TINY)
        above = np.maximum(s.heaviest[t] * np.maximum(yes * rise1, no * fall0) + centre - mean, _TINY)
        loss, most = (below, above) if side > 0 else (above, below)
        return side * gain, loss, most, self._variance(t, mean, yes, no)

    def _variance(self, t: int, mean: Floats, yes: Floats, no: Floats) -> Floats:
        """About how far the estimates of the step lie apart, were theta the truth; where it is 0 or 1, too."""
        s = self.steps
        noise = yes**2 * s.noise[0, t] + no**2 * s.noise[1, t]
        least = s.control_noise[t] + ((s.heaviest[t] - 1) * mean) ** 2  # by controls and weights alone
        share = np.maximum(s.unexplained[t] * mean * (1 - mean), least)
        variance = np.where(s.ratio, noise, np.where(s.lead, s.unexplained[t], share))
        return np.asarray(np.maximum(variance, 1e-6))

    def take(self, t: int) -> None:
        counted = np.where(self.steps.counts[t], self.steps.event[t], 0.0)
        self.events = self.events + counted
        self.events_right = self.events_right + counted * self.steps.right[t]


def _stake(progress: Floats, loss: Floats, most: Floats, variance: Floats, time: Floats) -> Floats:
    """How much to stake with this part of the goal in hand and so much time left; at most what can be lost."""
    from scipy.special import ndtri

    reached = np.clip(progress, 1e-12, 1 - 1e-9)
    pull = np.exp(-(ndtri(reached) ** 2) / 2) / (reached * _ROOT_TWO_PI)
    fall = np.minimum(np.sqrt(variance * loss / most), loss)  # of the two-point law as skew as the step's range
    gain = variance / fall
    chance = fall / (fall + gain)
    tilted = _tilt(chance, pull**2 / (2 * np.maximum(time, 1.0)))
    stake = (tilted - chance) / (chance * (1 - chance) * (fall + gain))
    return np.where(progress >= 1, 0.0, np.minimum(stake, 1 / loss))


def _tilt(chance: Floats, distance: Floats) -> Floats:
    """The higher chance at this Kullback-Leibler distance; 1 where there is none."""
    chance = np.clip(chance, _TINY, 1 - _TINY)
    one = np.minimum(chance + np.sqrt(2 * distance * chance * (1 - chance)), (1 + chance) / 2)
    for _ in range(_STEPS):
        one = np.clip(one, chance + 1e-12, 1 - 1e-12)
        slope = np.log(one / chance) - np.log((1 - one) / (1 - chance))
        apart = one * np.log(one / chance) + (1 - one) * np.log((1 - one) / (1 - chance))
        one = one - (apart - distance) / np.maximum(slope, _TINY)
    return np.where(distance >= -np.log(chance), 1.0, np.clip(one, chance, 1.0))


# The figures of an audit: each the share of some items in which something is true, told by votes and true label.
#
# A figure knows, for each decision tuple, whether its items belong to it, and for each true label whether (or how far,
# from 0 to 1) the event happened. An accuracy is a ratio of two such shares: its items are those with the label, which
# only labels tell; `right` says where the juror gave it.


@dataclass(frozen=True, eq=False)
class Statistic:
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

    def at(self, tuples: Integers) -> Statistic:
        """The same of some tuples only, in this order."""
        against = None if self.against is None else self.against[tuples]
        scale = None if self.scale is None else self.scale[tuples]
        right = None if self.right is None else self.right[tuples]
        return replace(
            self, member=self.member[tuples], target=self.target[tuples], against=against, scale=scale, right=right
        )


def score_statistic(juror: str, said: Integers) -> Statistic:
    """How often a juror is right, over the items it voted on."""
    return Statistic(("score", juror), said >= 0, said)


def accuracy_statistic(juror: str, label: Any, code: int, said: Integers) -> Statistic:
    """How often a juror says a label where it is the true one."""
    return Statistic(("accuracy", juror, label), said >= 0, np.full(len(said), code), right=said == code)


def prevalence_statistic(label: Any, code: int, tuples: int) -> Statistic:
    """How often a label is the true one."""
    return Statistic(("prevalence", label), np.ones(tuples, dtype=bool), np.full(tuples, code))


def error_statistic(method: str, chosen: Integers) -> Statistic:
    """How often a labelling is wrong."""
    return Statistic(("wrong_labels", method), np.ones(len(chosen), dtype=bool), chosen, negated=True)


def lead_statistic(one: str, other: str, said: Integers, beside: Integers) -> Statistic:
    """(1 + the lead of one juror over another) / 2, over the items on which both voted and not the same.

    Where they say the same neither is ahead, whatever the truth is: no label of such an item could tell more.
    """
    return Statistic(("lead", one, other), (said >= 0) & (beside >= 0) & (said != beside), said, against=beside)


def difference_statistic(name: tuple[Any, ...], code: int, one: Flags, other: Flags, sizes: Integers) -> Statistic:
    """How far a label's prevalence is apart in two groups, each a flag per tuple: (1 + apart * unit) / 2.

    An item counts for its group or against it, in proportion to what it is of the group; see `difference_unit`.
    """
    here, there = (int(sizes[group].sum()) for group in (one, other))
    scale = np.where(one, min(here, there) / max(here, 1), min(here, there) / max(there, 1))
    return Statistic(name, one | other, np.where(one, code, -1), np.where(other, code, -1), scale)


def difference_unit(one: Flags, other: Flags, sizes: Integers) -> float:
    """What `difference_statistic` counts a whole point as: the smaller group's part of both."""
    here, there = (float(sizes[group].sum()) for group in (one, other))
    return min(here, there) / (here + there)


# What votes alone make of every item's true label: several posteriors, of which labels will tell the best.
#
# How far jurors share their errors cannot be seen in votes (docs/calibration.md), so the posterior stands here several
# times, tempered by q^(1 / (1 + rho (n - 1))) for several shared errors rho and n voices; beside it the votes
# themselves, and what is the same for all items. None may rule a label out: a surprise must stay possible.


_SHARED = (0.0, 0.1, 0.3, 1.0, 3.0)  #: shared errors: from none to more than any reference jury's
_SHARED_VOTES = (0.3, 1.0)
_PRIOR = (0.1, 0.15, 0.3, 0.15, 0.1, 0.1, 0.05, 0.05)
_POSSIBLE = 1e-3  #: no label is less likely than this, shared among the labels


@dataclass(frozen=True, eq=False)
class Predictors:
    """Posteriors of the tuples, with how far each is trusted before the first label."""

    posteriors: Floats  #: foretellers x tuples x labels
    weights: Floats


def predictors(posterior: Floats, votes: Floats, voices: Floats, sizes: Floats) -> Predictors:
    """The posteriors of tuples by a model and by the votes given, tempered; and the shares of labels overall."""
    rows = [_tempered(posterior, rho, voices) for rho in _SHARED]
    rows += [_tempered(votes, rho, voices) for rho in _SHARED_VOTES]
    rows.append(np.broadcast_to(sizes @ rows[2] / sizes.sum(), posterior.shape))
    possible = (1 - _POSSIBLE) * np.array(rows) + _POSSIBLE / posterior.shape[1]
    return Predictors(possible, np.array(_PRIOR))


def _tempered(posterior: Floats, rho: float, voices: Floats) -> Floats:
    log = np.log(np.maximum(posterior, 1e-12)) / (1 + rho * np.maximum(voices - 1, 0))[:, None]
    q = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(q / q.sum(axis=1, keepdims=True))


def vote_posterior(counts: Floats) -> Floats:
    """Tuples x labels: the posterior if every vote were right with odds 2 to 1, from how often each label was voted."""
    log = counts * np.log(2.0)
    q = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(q / q.sum(axis=1, keepdims=True))


# Guaranteed intervals: every share that no bettor has refuted.


_GRID = 8  # shares to begin with
_HALVINGS = 7
_ROUNDED = 1e-6  # of a multiple


def intervals(steps: Steps, level: float) -> tuple[Floats, Floats]:
    """Figures: the ends of the shares that are not refuted, each end found by halving."""
    least, most = possible(steps)
    low, high = _end(steps, level, least, most), _end(steps, level, most, least)
    size = np.maximum(steps.size, 1)  # a share of so many items is a multiple of one
    inside = np.ceil(low * size - _ROUNDED) / size, np.floor(high * size + _ROUNDED) / size
    is_free = (
        steps.ratio | steps.lead | (inside[0] > inside[1])
    )  # the last where the draw was one of those that mislead
    return np.where(is_free, low, inside[0]), np.where(is_free, high, inside[1])


def possible(steps: Steps) -> tuple[Floats, Floats]:
    """Figures: the least and the greatest share that the labels leave possible, whatever the other items are."""
    known = steps.counts & ~np.isnan(steps.event)
    event = np.where(known, steps.event, 0.0)
    events, right = event.sum(axis=0), (event * steps.right).sum(axis=0)
    open_right = steps.size_right - (known * steps.right).sum(axis=0)
    open_wrong = steps.size - steps.size_right - (known * (1 - steps.right)).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.where(steps.ratio, right / (events + open_wrong), events / steps.size)
        most = np.where(steps.ratio, (right + open_right) / (events + open_right), (events + open_right) / steps.size)
    return np.nan_to_num(least, nan=0.0), np.nan_to_num(most, nan=1.0)


def _end(steps: Steps, level: float, outer: Floats, inner: Floats) -> Floats:
    """How far shares are refuted from the outer end of what is possible, without a gap; that end where none is."""
    side = 1 if (outer <= inner).all() else -1
    size, step = len(steps.size), (inner - outer) / _GRID
    grid = outer + step * np.arange(_GRID)[:, None]
    gone = refuted(steps.repeated(_GRID), grid.ravel(), side, 1 - level).reshape(_GRID, size)
    reach = np.where(gone.all(axis=0), _GRID, (~gone).argmax(axis=0))  # the first that stands
    refused = outer + step * np.maximum(reach - 1, 0)
    open_ = np.where(reach == 0, outer, refused + step)
    for _ in range(_HALVINGS):
        middle = (refused + open_) / 2
        lost = refuted(steps, middle, side, 1 - level)
        refused, open_ = np.where(lost, middle, refused), np.where(lost, open_, middle)
    return np.asarray(refused)


def estimates(steps: Steps) -> Floats:
    """Figures: the share at which the draws' estimates and the means that it implies balance out."""
    used = steps.counts & ~np.isnan(steps.event)
    event = np.where(used, steps.event, 0.0)
    before = np.cumsum(event, axis=0) - event
    before_right = np.cumsum(event * steps.right, axis=0) - event * steps.right
    left = np.maximum(steps.left, 1)
    surprise = steps.weight * (event - steps.control)
    top = np.where(used, surprise * steps.right + steps.control_right + before_right / left, 0.0).sum(axis=0)
    below = np.where(steps.ratio, surprise + steps.control_all + before / left, steps.size / left)
    bottom = np.where(used, below, 0.0).sum(axis=0)
    return np.asarray(np.divide(top, bottom, out=np.full(len(bottom), np.nan), where=bottom > 0))


# What a draw showed of every figure, step by step, as bets need it: nothing of a step looks ahead.
#
# The control is what votes and earlier labels make of the next item: a mixture of posteriors (`foretell.py`), weighed
# by how well each foretold the labels so far. It need not be right: it only takes out what it explains. With the
# chance of each item known, the mean of what is left is estimated without bias by
#
#     weight * (event - control) + mean of the control over the items left,   weight = 1 / (items left * chance).
#
# A figure of some items only (those on which a juror voted) looks only at draws of such items; given that, chances are
# in proportion.


_TRACE_PRIOR = 8.0  # how many labels the expected noise and share count as
_UNSURE = 0.5  # squares by which the control is taken for useless, until labels say otherwise
_UNSURE_OF_LEADS = 0.02  # the same of leads, most of whose control is which of two groups an item is of
_TRUST = 4.0  # how many labels the promise counts as that the control has the slope 1


@dataclass(frozen=True, eq=False)
class Cells:
    """Items that are alike for every figure: those of a decision tuple, or of a tuple and a group."""

    sizes: Integers
    tuple_of: Integers  #: the decision tuple of each cell
    foretold: Predictors  #: posteriors of the cells

    @classmethod
    def of_tuples(cls, sizes: Integers, foretold: Predictors) -> Cells:
        """A cell per decision tuple."""
        return cls(sizes, np.arange(len(sizes)), foretold)


@dataclass(frozen=True, eq=False)
class StatisticTotals:
    """What is known of figures before anything is drawn: figures, or foretellers x figures."""

    figures: tuple[Statistic, ...]
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
    def of(cls, figures: Sequence[Statistic], cells: Cells, focus: Floats) -> StatisticTotals:
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


def _figure_sums(figure: Statistic, cells: Cells, focus: Floats) -> tuple[object, ...]:
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
class DrawnContributions:
    """What the figures have to do with the items drawn: draws x figures."""

    cells: Integers
    labels: Integers  #: -1: none
    ends: Integers  #: the last draw of the batch, from 1
    member: Floats
    right: Floats
    event: Floats  #: NaN where there is no label
    controls: Floats  #: draws x foretellers x figures

    @classmethod
    def of(cls, sums: StatisticTotals, cells: Integers, labels: Integers, ends: Integers) -> DrawnContributions:
        """Look up the cells of the draw in every figure."""
        posteriors = sums.cells.foretold.posteriors
        here = [one.at(cells) for one in sums.figures]
        values = np.array([one.values(posteriors.shape[2]) for one in here])
        event = np.where(labels >= 0, values[:, np.arange(len(cells)), labels], np.nan).T
        right = np.array([np.ones(len(cells)) if one.right is None else one.right for one in here], dtype=float).T
        controls = np.einsum("ktl,ftl->tkf", posteriors[:, cells], values)
        return cls(cells, labels, ends, np.array([one.member for one in here], dtype=float).T, right, event, controls)


def trace(sums: StatisticTotals, walk: SequentialDraw, drawn: DrawnContributions) -> Steps:
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

    def __init__(self, sums: StatisticTotals, walk: SequentialDraw) -> None:
        self.sums, self.walk, self.weights = sums, walk, sums.cells.foretold.weights.copy()
        self.left, self.focus = sums.items.copy(), sums.focus.copy()
        self.control_right, self.control_all = sums.control_right.copy(), sums.control_all.copy()
        self.noise, self.seen = sums.noise * _TRACE_PRIOR, np.full(len(self.left), _TRACE_PRIOR)
        self.middle = _TRACE_PRIOR * (self.weights @ self.control_all) / np.maximum(self.left, 1)
        self.spread = self.middle * (1 - self.middle / _TRACE_PRIOR)
        self.residual = _TRACE_PRIOR * sums.noise.sum(axis=0)
        self.leads = sums.leads
        self.unsure = np.where(self.leads, _UNSURE_OF_LEADS, _UNSURE)
        self.along, self.across = _TRUST * sums.promise, _TRUST * sums.promise

    def before(self, drawn: DrawnContributions, t: int) -> dict[str, Floats]:
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

    def take(self, drawn: DrawnContributions, t: int, row: dict[str, Floats]) -> None:
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

    def _learn(self, drawn: DrawnContributions, t: int, row: dict[str, Floats]) -> None:
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
