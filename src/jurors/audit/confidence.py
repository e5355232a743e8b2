"""Confidence sequences by betting: a draw of labelled items comes in, guaranteed intervals of statistics go out.

**Betting** (Waudby-Smith and Ramdas 2024). Whoever bets on every draw at fair odds, were theta the truth, seldom
becomes rich by luck: the wealth of a bettor who starts with 1 is an e-process, whose chance of ever reaching 1/alpha is
at most alpha (Ville's inequality). So every theta against which a bettor's wealth has reached 2/alpha, on either side,
is refuted; the rest is a confidence set that holds at every draw at once, and one may look and stop at any.

**The payoff.** A bet lambda on draw t multiplies wealth by 1 + lambda (y - mu), where y estimates without bias the mean
of the event over the items that remain and mu is that mean under theta. With each item's chance known,

    y = weight * (event - control) + mean of the control over the items that remain,  weight = 1 / (items * chance),

an inverse-probability weight and a control variate: what votes and earlier labels predict of the next item. The control
need not be right, it only takes out what it explains; nothing of a step looks ahead. A statistic of some items only
(those on which a juror voted) regards only draws of such items; given that, chances are in proportion.

**The bet** is free; only the width of the intervals depends on it. Most of the wealth bets for the end of the batch:
the fraction of Browne's problem (reach a goal by a deadline), as large as its Gaussian limit would have it but measured
in Kullback-Leibler distance on the two-point law with the step's own variance that is as skew as its range, so that it
pays near 0 and 1. The rest bets for later ends, for those who go on. At the planned end this costs little more than an
exact interval for that end alone.

**Ends that no label contradicts.** Controls and weights vary with the draw, so luck alone can refute that all items are
right while every label says so. A share that every label agrees with is never left out; sets only grow by this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from jurors._numeric import Flags, Floats, Integers
from jurors.audit.sheet import Design, SequentialDraw

# ---------------------------------------------------------------------------------------------------------------------
# Statistics: the share of some items in which an event happens, by decision tuple and true label
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Statistic:
    """One share, by decision tuple: which items belong to it, and for which true labels the event happens.

    An accuracy is a ratio of two such shares: its items are those with the label, which only labels show; `numerator`
    flags where the juror voted it. The other arrays have an entry per tuple of `tuples`: of thousands of jurors, each
    votes on few.
    """

    name: tuple[Any, ...]  #: ("score", juror), ("accuracy", juror, label) …
    tuples: Integers  #: the tuples whose items count, ascending
    target: Integers  #: the true label for which the event happens
    against: Integers | None = None  #: the true label that counts against it: the share is of halves then
    negated: bool = False  #: whether the event is that the true label is another
    numerator: Flags | None = None  #: of accuracies, whether the juror voted the label

    def values(self, labels: int) -> Floats:
        """Its tuples x labels: the event, from 0 to 1."""
        every = np.arange(labels)
        happens = (self.target[:, None] == every).astype(np.float64)
        if self.against is not None:
            return np.asarray((1 + happens - (self.against[:, None] == every)) / 2)
        return np.asarray(1 - happens if self.negated else happens)


@dataclass(frozen=True, eq=False)
class JurorVotes:
    """A juror's votes by decision tuple."""

    tuples: Integers  #: on whose items it voted, ascending
    codes: Integers  #: its label there


def score_statistic(juror: str, votes: JurorVotes) -> Statistic:
    """How often a juror is right, over the items it voted on."""
    return Statistic(("score", juror), votes.tuples, votes.codes)


def accuracy_statistic(juror: str, label: Any, code: int, votes: JurorVotes) -> Statistic:
    """How often a juror votes a label where it is the true one."""
    target = np.broadcast_to(code, len(votes.codes))
    return Statistic(("accuracy", juror, label), votes.tuples, target, numerator=votes.codes == code)


def prevalence_statistic(label: Any, code: int, tuples: int) -> Statistic:
    """How often a label is the true one."""
    return Statistic(("prevalence", label), np.arange(tuples), np.full(tuples, code))


def error_statistic(method: str, labels: Integers) -> Statistic:
    """How often a labelling is wrong; `labels` are its codes by tuple."""
    return Statistic(("wrong_labels", method), np.arange(len(labels)), labels, negated=True)


def lead_statistic(first: str, second: str, votes: JurorVotes, other_votes: JurorVotes) -> Statistic:
    """(1 + the lead of one juror over another) / 2, over the items on which both voted and not the same.

    Where they vote the same neither is ahead, whatever the truth is: no label of such an item could change that.
    """
    tuples, at, other_at = np.intersect1d(votes.tuples, other_votes.tuples, assume_unique=True, return_indices=True)
    codes, other_codes = votes.codes[at], other_votes.codes[other_at]
    differ = codes != other_codes
    return Statistic(("lead", first, second), tuples[differ], codes[differ], against=other_codes[differ])


# ---------------------------------------------------------------------------------------------------------------------
# Predictors: posteriors of every item's true label by the votes alone, a mixture whose weights labels will update
#
# How far jurors share their errors cannot be seen in votes (docs/calibration.md), so the posterior is there several
# times, tempered by q^(1 / (1 + rho (n - 1))) for several shared errors rho and n distinct jurors; beside it the votes
# themselves, and the shares of labels overall. None may rule a label out: a surprise must stay possible.
# ---------------------------------------------------------------------------------------------------------------------

_SHARED = (0.0, 0.1, 0.3, 1.0, 3.0)  #: shared errors: from none to more than any reference jury's
_SHARED_VOTES = (0.3, 1.0)
_PRIOR = (0.1, 0.15, 0.3, 0.15, 0.1, 0.1, 0.05, 0.05)
_LEAST_CHANCE = 1e-3  #: no label is less likely than this, divided among the labels


@dataclass(frozen=True, eq=False)
class Predictors:
    """Posteriors of the tuples, with the prior weight of each."""

    posteriors: Floats  #: predictors x tuples x labels
    weights: Floats  #: predictors


def predictors(posterior: Floats, votes: Floats, distinct: Floats, sizes: Floats) -> Predictors:
    """The mixture of tempered posteriors.

    Parameters
    ----------
    posterior, votes
        Tuples x labels: by a model, and by the votes given (`vote_posterior`).
    distinct
        Tuples: how many distinct jurors voted.
    sizes
        Tuples: how many items.

    Returns
    -------
    Predictors
        Eight of them.
    """

    def tempered(q: Floats, rho: float) -> Floats:
        return _normalised(np.log(np.maximum(q, 1e-12)) / (1 + rho * np.maximum(distinct - 1, 0))[:, None])

    rows = [tempered(posterior, rho) for rho in _SHARED]
    rows += [tempered(votes, rho) for rho in _SHARED_VOTES]
    rows.append(np.broadcast_to(sizes @ rows[2] / sizes.sum(), posterior.shape))
    bounded = (1 - _LEAST_CHANCE) * np.array(rows) + _LEAST_CHANCE / posterior.shape[1]
    return Predictors(bounded, np.array(_PRIOR))


def vote_posterior(counts: Floats) -> Floats:
    """Tuples x labels: the posterior if every vote were right with odds 2 to 1, from how often each label was voted."""
    return _normalised(counts * np.log(2.0))


def _normalised(log: Floats) -> Floats:
    q = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(q / q.sum(axis=1, keepdims=True))


# ---------------------------------------------------------------------------------------------------------------------
# Tracing a draw: what bets need to know of every step, from what was known before its label
# ---------------------------------------------------------------------------------------------------------------------

_PRIOR_LABELS = 8.0  # how many labels the expected residual variance and share count as
_UNSURE = 0.5  # squares by which the control is taken for useless, until labels show otherwise
_UNSURE_OF_DIFFERENCES = 0.02  # the same of leads where three labels can be true
_TRUST = 4.0  # how many labels the prior counts as that the control has the slope 1


@dataclass(frozen=True, eq=False)
class Cells:
    """Items that are alike for every statistic: strata by decision tuple."""

    sizes: Integers
    predictors: Predictors  #: posteriors of the cells


def _sums(statistic: Statistic, cells: Cells, focus: Floats) -> dict[str, Any]:
    """One statistic's totals over all items, by name; `focus` is that of the cells.

    Returns
    -------
    dict
        `items`, `items_numerator`: how many, and how many of the numerator. `focus`: theirs, summed. `control`,
        `control_numerator` (predictors): the control, and numerator * control, summed over the items. `extremes` (4 x
        predictors), `reach` (4): how far events can be below and above the control, or 0, in the numerator and
        outside. `noise` (2): expected squares of event - control, in the numerator and outside. `control_variance`.
    """
    posteriors, mix, at = cells.predictors.posteriors, cells.predictors.weights, statistic.tuples
    posteriors, focus, sizes = posteriors[:, at], focus[at], cells.sizes[at].astype(np.float64)
    values = statistic.values(posteriors.shape[2])
    control = np.einsum("kgl,gl->kg", posteriors, values)
    numerator = np.ones(len(sizes), dtype=bool) if statistic.numerator is None else statistic.numerator
    mixed = mix @ control
    variance = np.einsum("k,kgl,gl->g", mix, posteriors, values**2) - mixed**2
    total = max(sizes.sum(), 1.0)
    halves = (numerator, ~numerator)

    def extremes(control: Floats) -> list[Floats]:
        """Predictors: how far an event can be below the control and above, in the numerator and outside."""
        ends = []
        for half in halves:
            if half.any():
                ends.append((control[:, half] - values[half].min(axis=1)).max(axis=1))
                ends.append((values[half].max(axis=1) - control[:, half]).max(axis=1))
            else:
                ends += [np.zeros(len(control))] * 2
        return ends

    return {
        "items": sizes.sum(),
        "items_numerator": (sizes * numerator).sum(),
        "focus": sizes @ focus,
        "control_numerator": control @ (sizes * numerator),
        "control": control @ sizes,
        "extremes": extremes(control),
        "reach": [end[0] for end in extremes(np.zeros((1, len(sizes))))],
        "noise": [(sizes * variance)[half].sum() / total for half in halves],
        "control_variance": sizes @ (mixed - sizes @ mixed / total) ** 2 / total,
    }


@dataclass(frozen=True, eq=False)
class Steps:
    """What the draws showed of some statistics: arrays of draws x statistics, unless stated otherwise."""

    counts: Flags  #: whether the draw concerns the statistic
    horizon: Floats  #: draws that concern it until the end of the batch, about, this one among them
    is_first: Flags  #: whether a batch begins
    left: Floats  #: items of the statistic before the draw
    weight: Floats  #: inverse-probability weight: even chance over the item's own
    max_weight: Floats  #: the largest there can be
    event: Floats  #: whether it happened, from 0 to 1; NaN where the item has no label
    numerator: Floats  #: of accuracies: whether the juror voted the label; else 1
    control: Floats  #: the expected event, by votes and earlier labels
    control_numerator: Floats  #: mean of numerator * control over the items left
    control_mean: Floats  #: mean of control over the items left
    extremes: Floats  #: 4 x draws x statistics: how far an event can be below and above its control, in and out
    noise: Floats  #: 2 x draws x statistics: expected squares of weight * (event - control), in and out
    unexplained: Floats  #: the part of the variance that the control leaves, about; of differences, the variance
    control_variance: Floats  #: the variance of the control itself: what is left where theta is 0 or 1
    is_ratio: Flags  #: statistics: whether it is an accuracy
    is_difference: Flags  #: statistics: whether an event has values between all and nothing
    size: Floats  #: statistics: items
    size_numerator: Floats  #: statistics: items of the numerator

    def at(self, t: int, statistics: Integers) -> Steps:
        """One draw, and some of the statistics: arrays without the axis of draws."""
        parts = vars(self).items()
        return Steps(**{name: (part if part.ndim == 1 else part[..., t, :])[..., statistics] for name, part in parts})


def trace(
    statistics: Sequence[Statistic], strata: Cells, design: Design, cells: Integers, labels: Integers, ends: Integers
) -> Steps:
    """Follow a draw step by step.

    Parameters
    ----------
    statistics, strata
        Of these cells.
    design
        That the items were drawn by.
    cells, labels, ends
        Draws: the item's cell, its label (-1: none), and the last draw of the batch, from 1.

    Returns
    -------
    Steps
        What is known before each label, and the label.
    """
    state, rows = _RunningTotals(statistics, strata, design, cells, labels), []
    size, size_numerator = state.left, state.sums["items_numerator"]
    for t, end in enumerate(ends):
        rows.append(state.before(t, end))
        state.take(t, rows[-1])
    by_draw = {name: np.array([row[name] for row in rows]) for name in rows[0] if name != "slope"}
    by_half = {name: by_draw.pop(name).transpose(1, 0, 2) for name in ("extremes", "noise")}
    is_first = np.repeat((np.diff(ends, prepend=-1) != 0)[:, None], len(statistics), axis=1)
    return Steps(
        **by_draw,
        **by_half,
        counts=state.member > 0,
        event=state.event,
        numerator=state.numerator,
        is_first=is_first,
        is_ratio=np.array([statistic.numerator is not None for statistic in statistics]),
        is_difference=state.is_difference,
        size=size,
        size_numerator=size_numerator,
    )


class _RunningTotals:
    """Sums over the items left, and the regression of events on the control by the labels so far."""

    def __init__(
        self, statistics: Sequence[Statistic], strata: Cells, design: Design, cells: Integers, labels: Integers
    ) -> None:
        posteriors, self.weights = strata.predictors.posteriors, strata.predictors.weights
        # what each drawn item contributes to the statistics: draws x statistics; NaN: an event without a label
        shape = (len(statistics), len(cells))
        values, member, numerator = np.zeros((*shape, posteriors.shape[2])), np.zeros(shape), np.ones(shape)
        for k, statistic in enumerate(statistics):
            place = np.searchsorted(statistic.tuples, cells)
            draws = np.flatnonzero(np.append(statistic.tuples, -1)[place] == cells)
            member[k, draws] = 1
            values[k, draws] = statistic.values(posteriors.shape[2])[place[draws]]
            if statistic.numerator is not None:
                numerator[k, draws] = statistic.numerator[place[draws]]
        self.member, self.numerator = member.T, numerator.T
        self.event = np.where(labels >= 0, values[:, np.arange(len(cells)), labels], np.nan).T
        self.controls = np.einsum("ktl,ftl->tkf", posteriors[:, cells], values)  # draws x predictors x statistics
        by_statistic = [_sums(statistic, strata, design.focus) for statistic in statistics]
        sums = {name: np.moveaxis(np.array([row[name] for row in by_statistic]), 0, -1) for name in by_statistic[0]}
        self.statistics, self.strata, self.cells, self.labels = statistics, strata, cells, labels
        self.sums, self.draw, is_many = sums, SequentialDraw(design), posteriors.shape[2] > 2
        # whether an event has values between all and nothing: leads where three labels can be true
        differs = [s.against is not None and is_many for s in statistics]
        self.is_difference = np.array(differs)
        self.left, self.focus = sums["items"], sums["focus"]
        # copied, for the order in which they are added up
        self.control_numerator, self.control = sums["control_numerator"].copy(), sums["control"].copy()
        self.noise, self.labelled = sums["noise"] * _PRIOR_LABELS, np.full(len(self.left), _PRIOR_LABELS)
        self.events = _PRIOR_LABELS * (self.weights @ self.control) / np.maximum(self.left, 1)
        self.event_squares = self.events * (1 - self.events / _PRIOR_LABELS)
        self.residual_squares = _PRIOR_LABELS * sums["noise"].sum(axis=0)
        self.unsure = np.where(self.is_difference, _UNSURE_OF_DIFFERENCES, _UNSURE)
        self.products = self.control_squares = _TRUST * sums["control_variance"]

    def before(self, t: int, end: int) -> dict[str, Floats]:
        """What is known before the label: fields of `Steps`, and the slope of the regression on the control."""
        left = np.maximum(self.left, 1.0)
        share, weight, max_weight = self._weights(int(self.cells[t]), left)
        unexplained = (self.residual_squares + _UNSURE) / (self.event_squares + _UNSURE)
        slope = np.clip(self.products / (self.control_squares + self.unsure), 0.0, 1.0)
        mix = self.weights[:, None] * slope
        return {
            "horizon": 1 + (end - t - 1) * share,
            "left": self.left,
            "weight": weight,
            "max_weight": max_weight,
            "control": (mix * self.controls[t]).sum(axis=0),
            "control_numerator": (mix * self.control_numerator).sum(axis=0) / left,
            "control_mean": (mix * self.control).sum(axis=0) / left,
            "extremes": (mix * self.sums["extremes"]).sum(axis=1) + (1 - slope) * self.sums["reach"],
            "noise": self.noise / self.labelled,
            "unexplained": np.where(self.is_difference, self.residual_squares / self.labelled, unexplained),
            "slope": slope,
            "control_variance": slope**2 * self.sums["control_variance"],
        }

    def _weights(self, cell: int, left: Floats) -> tuple[Floats, Floats, Floats]:
        """Statistics: the chance that the draw concerns it; the item's weight, and the largest there could be."""
        draw, cells = self.draw, self.strata
        floor, focus = draw.rule()
        total_focus = self.focus
        if focus is not draw.design.focus:  # some tuples are overdue: no item of them has been drawn
            sizes = np.where(focus > 0, cells.sizes, 0)
            total_focus = np.array([sizes[s.tuples].sum() for s in self.statistics], dtype=np.float64)
        share = floor * self.left / draw.left.sum() + (1 - floor) * total_focus / (draw.left * focus).sum()
        chance = draw.chances()
        least = chance[draw.left > 0].min()
        return share, share / (left * chance[cell]), share / (left * least)

    def take(self, t: int, row: dict[str, Floats]) -> None:
        """Advance by one item and its label."""
        cell, label, member, numerator = int(self.cells[t]), self.labels[t], self.member[t], self.numerator[t]
        if label >= 0:
            event, controls = self.event[t], self.controls[t]
            deviation = event - self.events / self.labelled
            control_deviation = self.weights @ (controls - self.control / np.maximum(self.left, 1.0))
            residual = row["weight"] * (event - row["control"])
            self.products = self.products + member * deviation * control_deviation
            self.control_squares = self.control_squares + member * control_deviation**2
            self.noise = self.noise + member * residual**2 * np.array([numerator, 1 - numerator])
            unexplained = row["weight"] * (deviation - row["slope"] * control_deviation)
            self.residual_squares = self.residual_squares + member * unexplained**2
            self.event_squares = self.event_squares + member * deviation**2
            self.events, self.labelled = self.events + member * event, self.labelled + member
            self.weights = self.weights * self.strata.predictors.posteriors[:, cell, label]
            self.weights = self.weights / self.weights.sum()
        self.left = self.left - member
        self.focus = self.focus - member * self.draw.design.focus[cell]
        self.control = self.control - member * self.controls[t]
        self.control_numerator = self.control_numerator - member * numerator * self.controls[t]
        self.draw.take(cell)


# ---------------------------------------------------------------------------------------------------------------------
# Bets
# ---------------------------------------------------------------------------------------------------------------------

#: for which end, in batches, and with what share of the wealth
HORIZONS = ((1.0, 0.8), (1.5, 0.2))
_TINY = 1e-9
_NEWTON_STEPS = 4  # more than a bet needs
_ROOT_TWO_PI = 2.5066282746310002


def refuted(steps: Steps, theta: Floats, side: int, alpha: float) -> Flags:
    """Whether the wealth of a bettor that the share is above (side 1) or below (-1) theta ever reached 2 / alpha.

    Parameters
    ----------
    theta
        A share per statistic, or several: those of all statistics, and again of all.

    Returns
    -------
    ndarray
        A flag per theta.
    """
    goal, size = 2.0 / alpha, len(steps.size)
    times = len(theta) // max(size, 1)
    shares = np.array([share for _, share in HORIZONS])[:, None]
    wealth = np.repeat(shares, len(theta), axis=1)  # horizons x statistics
    extra_time = np.zeros_like(wealth)  # how long after the batch each part of the wealth may take
    won = np.zeros(len(theta), dtype=bool)
    worst = 1 - steps.numerator if side > 0 else steps.numerator  # what an item without a label may have been
    steps = replace(steps, event=np.where(np.isnan(steps.event), worst, steps.event))
    events, events_numerator = np.zeros(len(theta)), np.zeros(len(theta))
    for t in range(len(steps.event)):
        if (is_first := np.tile(steps.is_first[t], times)).any():  # wealth is divided anew over the ends of the batch
            ends = np.array([end - 1 for end, _ in HORIZONS])[:, None] * np.tile(steps.horizon[t], times)
            wealth = np.where(is_first, shares * wealth.sum(axis=0), wealth)
            extra_time = np.where(is_first, ends, extra_time)
        at = np.flatnonzero(np.tile(steps.counts[t], times) & ~won)  # of hundreds of jurors, few voted on the item
        step = steps.at(t, at % size)
        gain, max_loss, max_gain, variance = payoff(step, theta[at], events[at], events_numerator[at], side)
        bet = _bet(wealth[:, at] / goal, max_loss, max_gain, variance, extra_time[:, at] + step.horizon)
        # a theta that labels have ruled out can lose more than `max_loss`; no true one is ever cut here
        wealth[:, at] = np.clip(wealth[:, at] * (1 + bet * gain), 0.0, goal)
        won[at] = wealth[:, at].sum(axis=0) >= goal * (1 - _TINY)
        events[at] += step.event
        events_numerator[at] += step.event * step.numerator
    return won


def payoff(
    step: Steps, theta: Floats, events: Floats, events_numerator: Floats, side: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """How a bet of 1 pays at one draw (`Steps.at`), on one side of the mean over the items left, were theta the truth.

    Parameters
    ----------
    theta
        A share per statistic.
    events, events_numerator
        What the draws so far showed: of the total that theta implies, the items left hold the rest.
    side
        1: that the mean is higher; -1: that it is lower.

    Returns
    -------
    tuple
        Per statistic: how far the step's estimate is on our side; the largest loss and the largest gain there could
        have been; and about the variance of the step's estimates under theta, positive where theta is 0 or 1, too.
    """
    s = step
    rest = np.where(s.is_ratio, theta * events - events_numerator, theta * s.size - events)
    mean = rest / np.maximum(s.left, 1)
    ratio = np.where(s.is_ratio, theta, 0.0)
    centre = s.control_numerator - ratio * s.control_mean
    gain = s.weight * (s.numerator - ratio) * (s.event - s.control) + centre - mean
    fall_in, rise_in, fall_out, rise_out = s.extremes
    inside, outside = 1 - ratio, ratio  # how much an event weighs in the numerator, and outside
    lowest = s.max_weight * np.maximum(inside * fall_in, outside * rise_out)
    highest = s.max_weight * np.maximum(inside * rise_in, outside * fall_out)
    below, above = np.maximum(lowest - centre + mean, _TINY), np.maximum(highest + centre - mean, _TINY)
    max_loss, max_gain = (below, above) if side > 0 else (above, below)

    noise = inside**2 * s.noise[0] + outside**2 * s.noise[1]
    least = s.control_variance + ((s.max_weight - 1) * mean) ** 2  # by controls and weights alone
    of_share = np.maximum(s.unexplained * mean * (1 - mean), least)
    variance = np.where(s.is_ratio, noise, np.where(s.is_difference, s.unexplained, of_share))
    return side * gain, max_loss, max_gain, np.asarray(np.maximum(variance, 1e-6))


def _bet(progress: Floats, max_loss: Floats, max_gain: Floats, variance: Floats, time: Floats) -> Floats:
    """The fraction to bet with this part of the goal in hand and so much time left; wealth stays positive.

    Browne's fraction as a tilt of the two-point law (fall, gain) with the step's variance and its range's skewness.
    """
    from scipy.special import ndtri

    reached = np.clip(progress, 1e-12, 1 - 1e-9)
    drift = np.exp(-(ndtri(reached) ** 2) / 2) / (reached * _ROOT_TWO_PI)
    fall = np.minimum(np.sqrt(variance * max_loss / max_gain), max_loss)
    gain = variance / fall
    chance = fall / (fall + gain)
    tilted = _tilt(chance, drift**2 / (2 * np.maximum(time, 1.0)))
    bet = (tilted - chance) / (chance * (1 - chance) * (fall + gain))
    return np.where(progress >= 1, 0.0, np.minimum(bet, 1 / max_loss))


def _tilt(chance: Floats, distance: Floats) -> Floats:
    """The higher chance at this Kullback-Leibler distance, by Newton's method; 1 where there is none."""
    chance = np.clip(chance, _TINY, 1 - _TINY)
    tilted = np.minimum(chance + np.sqrt(2 * distance * chance * (1 - chance)), (1 + chance) / 2)
    for _ in range(_NEWTON_STEPS):
        tilted = np.clip(tilted, chance + 1e-12, 1 - 1e-12)
        slope = np.log(tilted / chance) - np.log((1 - tilted) / (1 - chance))
        divergence = tilted * np.log(tilted / chance) + (1 - tilted) * np.log((1 - tilted) / (1 - chance))
        tilted = tilted - (divergence - distance) / np.maximum(slope, _TINY)
    return np.where(distance >= -np.log(chance), 1.0, np.clip(tilted, chance, 1.0))


# ---------------------------------------------------------------------------------------------------------------------
# Intervals and estimates
# ---------------------------------------------------------------------------------------------------------------------

_GRID = 8  # shares to begin with
_BISECTIONS = 7
_ROUNDED = 1e-6  # of a multiple


def intervals(steps: Steps, level: float) -> tuple[Floats, Floats]:
    """The ends of the shares that are not refuted, each by bisection.

    Returns
    -------
    tuple
        Lower and upper ends, one per statistic; those of plain shares are multiples of one item.
    """
    least, most = possible(steps)
    low, high = search_end(steps, level, least, most), search_end(steps, level, most, least)
    known = steps.counts & ~np.isnan(steps.event) & ~steps.is_difference
    hits = np.where(steps.is_ratio, steps.numerator, steps.event)  # of an accuracy, items with the label count
    met = known & (steps.event > 0) | known & ~steps.is_ratio
    low = np.where(met.any(axis=0) & ~(met & (hits > 0)).any(axis=0), least, low)
    high = np.where(met.any(axis=0) & ~(met & (hits < 1)).any(axis=0), most, high)
    size = np.maximum(steps.size, 1)  # a share of so many items is a multiple of one
    low_multiple, high_multiple = np.ceil(low * size - _ROUNDED) / size, np.floor(high * size + _ROUNDED) / size
    is_empty = low_multiple > high_multiple  # where the draw was one of those that mislead
    is_free = steps.is_ratio | steps.is_difference | is_empty
    return np.where(is_free, low, low_multiple), np.where(is_free, high, high_multiple)


def possible(steps: Steps) -> tuple[Floats, Floats]:
    """The least and the greatest share, per statistic, that the labels leave possible, whatever the other items are."""
    known = steps.counts & ~np.isnan(steps.event)
    event = np.where(known, steps.event, 0.0)
    events, numerator = event.sum(axis=0), (event * steps.numerator).sum(axis=0)
    open_in = steps.size_numerator - (known * steps.numerator).sum(axis=0)
    open_out = steps.size - steps.size_numerator - (known * (1 - steps.numerator)).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.where(steps.is_ratio, numerator / (events + open_out), events / steps.size)
        most = np.where(steps.is_ratio, (numerator + open_in) / (events + open_in), (events + open_in) / steps.size)
    return np.nan_to_num(least, nan=0.0), np.nan_to_num(most, nan=1.0)


def search_end(steps: Steps, level: float, outer: Floats, inner: Floats) -> Floats:
    """How far shares are refuted from the outer end of what is possible, without a gap; that end where none is.

    Returns
    -------
    ndarray
        One end per statistic.
    """
    side = 1 if (outer <= inner).all() else -1
    size, step = len(steps.size), (inner - outer) / _GRID
    grid = outer + step * np.arange(_GRID)[:, None]
    is_refuted = refuted(steps, grid.ravel(), side, 1 - level).reshape(_GRID, size)
    first_open = np.where(is_refuted.all(axis=0), _GRID, (~is_refuted).argmax(axis=0))
    closed = outer + step * np.maximum(first_open - 1, 0)
    open_ = np.where(first_open == 0, outer, closed + step)
    for _ in range(_BISECTIONS):
        middle = (closed + open_) / 2
        is_closed = refuted(steps, middle, side, 1 - level)
        closed, open_ = np.where(is_closed, middle, closed), np.where(is_closed, open_, middle)
    return np.asarray(closed)


def estimates(steps: Steps) -> Floats:
    """The share, per statistic, at which the draws' estimates and the means that it implies balance out."""
    used = steps.counts & ~np.isnan(steps.event)
    event = np.where(used, steps.event, 0.0)
    before = np.cumsum(event, axis=0) - event
    before_numerator = np.cumsum(event * steps.numerator, axis=0) - event * steps.numerator
    left = np.maximum(steps.left, 1)
    residual = steps.weight * (event - steps.control)
    top = residual * steps.numerator + steps.control_numerator + before_numerator / left
    bottom = np.where(steps.is_ratio, residual + steps.control_mean + before / left, steps.size / left)
    top, bottom = (np.where(used, part, 0.0).sum(axis=0) for part in (top, bottom))
    return np.asarray(np.divide(top, bottom, out=np.full(len(bottom), np.nan), where=bottom > 0))
