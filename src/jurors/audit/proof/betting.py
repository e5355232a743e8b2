"""Betting against a value: how sure a draw makes us that a share is not theta, however often one looks.

Whoever bets on every draw at fair odds, were theta the truth, seldom becomes rich by luck: with capital 1, the chance
of ever holding 1/alpha is at most alpha (Ville's inequality). So every theta against which a bettor has won 2/alpha, on
either side, is refuted; the rest is a confidence set that holds at every draw at once (Waudby-Smith and Ramdas, 2024).

A step pays 1 + lam (y - mu), where y estimates without bias the mean of what is left and mu is that mean under theta.
How much to stake is free; only the width depends on it. Most of the capital plays for the end of the batch: the
fraction of Browne's problem (reach a goal by a deadline), as large as its Gaussian limit would have it but measured in
Kullback-Leibler distance on the two-point law with the step's own variance that is as skew as its range, so that it
pays near 0 and 1. The rest plays for later ends, for those who go on. At the planned end this costs little more than an
exact interval for that end alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jurors.numbers.arrays import Flags, Floats

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
