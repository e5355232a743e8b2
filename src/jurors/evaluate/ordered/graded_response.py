"""How a juror's vote on ordered levels depends on where the item lies: the graded response (Samejima 1969).

    P(vote of j is level r or lower | place x) = σ(t_jr - a_j x),      t_j1 < t_j2 < …

a_j says how closely the juror follows the items' order (its spread is 1/a_j; negative: it turns the scale round), and
t_jr where it goes from one level to the next: all of them higher for a harsh juror, who says low levels too often.
The logarithm of every chance is concave in (t_j, a_j) (Burridge 1981), so scoring with Fisher's information climbs to
the one maximum. Jurors with few votes are drawn to the panel: (t_j, a_j) ~ N(mean, variance), both learned from all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jurors.numbers.arrays import Flags, Floats, Integers

_LEAST = 1e-12  # a chance, so that its logarithm exists
_HALVINGS = 8
_ROUNDING = 1e-9
_NARROWEST = 1e-3  # variance between jurors: less cannot be told from none


@dataclass(frozen=True, slots=True)
class Responses:
    """The jurors' parameters, a stack of panels, and what they are drawn to."""

    thresholds: Floats  #: (stack, jurors, levels - 1) t_jr, rising
    slopes: Floats  #: (stack, jurors) a_j
    mean: Floats  #: (stack, levels) of (t_j, a_j) over jurors
    variance: Floats  #: (stack, levels)

    @classmethod
    def first(cls, votes: Floats) -> Responses:
        """Everybody alike, as common as each level is: `votes` by panel, juror and level."""
        cast = votes.sum(axis=1) + 1.0
        below = np.cumsum(cast, axis=1)[:, :-1] / cast.sum(axis=1, keepdims=True)
        middle = np.concatenate([1.3 * np.log(below / (1.0 - below)), np.full((len(votes), 1), 1.5)], axis=1)
        alike = np.repeat(middle[:, None], votes.shape[1], axis=1)
        return cls(alike[..., :-1], alike[..., -1], middle, np.ones_like(middle))

    @property
    def all(self) -> Floats:
        """(stack, jurors, levels): thresholds, then the slope."""
        return np.concatenate([self.thresholds, self.slopes[..., None]], axis=2)

    def at(self, parameters: Floats) -> Responses:
        """Others of the same panels."""
        return replace(self, thresholds=parameters[..., :-1], slopes=parameters[..., -1])

    def of(self, which: tuple[Integers, ...]) -> Responses:
        """Some jurors, (panel, juror), each as a panel of one."""
        stack, some = which[0], self.all[which][:, None]
        return Responses(some[..., :-1], some[..., -1], self.mean[stack], self.variance[stack])

    def below(self, places: Floats) -> Floats:
        """σ(t_jr - a_j x): (stack, jurors, places, levels - 1)."""
        return np.asarray(
            1.0 / (1.0 + np.exp(self.slopes[..., None, None] * places[:, None] - self.thresholds[..., None, :]))
        )

    def chances(self, places: Floats) -> Floats:
        """The chance of each level at each place: (stack, jurors, places, levels)."""
        return _between(self.below(places))

    @property
    def is_ordered(self) -> Flags:
        """Whether the thresholds rise: (stack, jurors)."""
        return np.asarray((np.diff(self.thresholds, axis=2) > 0).all(axis=2))


def _between(below: Floats) -> Floats:
    ends = np.zeros((*below.shape[:-1], 1))
    return np.maximum(np.diff(np.concatenate([ends, below, ends + 1.0], axis=-1), axis=-1), _LEAST)


def climb_responses(at: Responses, places: Floats, votes: Floats, steps: int = 1) -> tuple[Responses, Floats]:
    """Fisher scoring for expected `votes` (stack, jurors, places, levels), each step halved until it gains.

    And the information (stack, jurors, levels, levels) that the last step went by.
    """
    height = _height(at, places, votes)
    for _ in range(steps):
        gradient, information = _slope_and_curve(at, places, votes)
        step = np.asarray(np.linalg.solve(information, gradient[..., None])[..., 0], dtype=np.float64)
        at, height = _stepped(at, step, height, places, votes)
    return at, information


def _stepped(at: Responses, step: Floats, height: Floats, places: Floats, votes: Floats) -> tuple[Responses, Floats]:
    """Everybody's step, and how high it leads; who has not gained is tried again alone, with half of it."""
    reached, height = at.all, height.copy()
    which: tuple[Integers, ...] = np.nonzero(np.ones(height.shape, dtype=np.bool_))
    for k in range(_HALVINGS):
        some = at.of(which)
        trial = some.at(some.all + 0.5**k * step[which][:, None])
        there = _height(trial, places, votes[which][:, None])[:, 0]
        gains = there >= height[which] - _ROUNDING
        won = tuple(axis[gains] for axis in which)
        reached[won], height[won] = trial.all[gains, 0], np.maximum(there[gains], height[won])
        which = tuple(axis[~gains] for axis in which)
        if gains.all():
            break
    return at.at(reached), height


def drawn_to_panel(at: Responses, information: Floats) -> Responses:
    """The mean and variance of the jurors' parameters (empirical Bayes): their own spread, and what is unknown."""
    unknown = np.diagonal(np.linalg.inv(information), axis1=-2, axis2=-1)
    mean = at.all.mean(axis=1)
    variance = ((at.all - mean[:, None]) ** 2 + unknown).mean(axis=1)
    return replace(at, mean=mean, variance=np.maximum(variance, _NARROWEST))


def _height(at: Responses, places: Floats, votes: Floats) -> Floats:
    """Each juror's expected log-likelihood and log prior; minus infinity where its thresholds do not rise."""
    fit = np.einsum("sjcr,sjcr->sj", votes, np.log(at.chances(places)))
    far = ((at.all - at.mean[:, None]) ** 2 / at.variance[:, None]).sum(axis=2)
    return np.where(at.is_ordered, fit - 0.5 * far, -np.inf)


def _slope_and_curve(at: Responses, places: Floats, votes: Floats) -> tuple[Floats, Floats]:
    """Gradient (stack, jurors, levels) and Fisher information (…, levels, levels), both with the prior.

    A threshold moves the chances of the two levels beside it by its density f_r; the slope moves all, by the place.
    """
    below = at.below(places)
    chance, density = _between(below), below * (1.0 - below)
    ends = np.zeros((*density.shape[:-1], 1))
    change = np.diff(np.concatenate([ends, density, ends], axis=-1), axis=-1)  # f_r - f_(r-1)
    cast = votes.sum(axis=3)
    pull = votes / chance
    rise = (density * (pull[..., :-1] - pull[..., 1:])).sum(axis=2)
    tilt = -np.einsum("c,sjcr,sjcr->sj", places, pull, change)
    prior = 1.0 / at.variance
    gradient = np.concatenate([rise, tilt[..., None]], axis=2) - prior[:, None] * (at.all - at.mean[:, None])
    levels = chance.shape[-1]
    curve = np.zeros((*rise.shape[:2], levels, levels))
    rows = np.arange(levels - 1)
    weigh = cast[..., None] / chance
    curve[..., rows, rows] = (density**2 * (weigh[..., :-1] + weigh[..., 1:])).sum(axis=2)
    beside = -(density[..., :-1] * density[..., 1:] * weigh[..., 1:-1]).sum(axis=2)
    curve[..., rows[:-1], rows[1:]] = curve[..., rows[1:], rows[:-1]] = beside
    moved = -places[:, None] * weigh * change
    curve[..., rows, -1] = curve[..., -1, rows] = (density * (moved[..., :-1] - moved[..., 1:])).sum(axis=2)
    curve[..., -1, -1] = np.einsum("c,sjcr,sjcr->sj", places**2, weigh, change**2)
    return gradient, curve + prior[:, None, :, None] * np.eye(levels)
