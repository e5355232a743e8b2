"""Bradley-Terry-Davidson fit."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg import lapack, solve

from jurors._numeric import Floats
from jurors.pairwise.data import CountedPairs, Ints
from jurors.votes.pair_columns import FIRST, SECOND, TIE

# How a juror answers, given the strengths of two objects: Bradley-Terry with ties (Davidson 1970).
#
#     η = a (s_left - s_right) + b,      P(first) : P(second) : P(tie) = exp(η/2) : exp(-η/2) : exp(t)
#
# with the juror's discrimination a (1 is the usual juror, 0 does not look, below 0 answers contrary), lean b to the
# first position, and readiness t to call two objects equal. Log-linear in η and t, so that scores and information
# follow from the three shares alone: with y = 1, -1, 0 for first, second and tie,
#
#     ∂/∂η = (y - E y)/2,   ∂/∂t = [tie] - P(tie),   information: var(y)/4, P(tie)(1 - P(tie)), -E(y) P(tie)/2.


@dataclass(frozen=True)
class Answering:
    """The shares of the three answers, and what follows from them."""

    first: Floats
    second: Floats
    tie: Floats

    @classmethod
    def of(cls, eta: Floats, tie: Floats | None) -> Answering:
        """From η and t; without t, nobody may call two objects equal."""
        half = eta / 2
        top = np.abs(half) if tie is None else np.maximum(np.abs(half), tie)
        one, two = np.exp(half - top), np.exp(-half - top)
        three = np.zeros_like(one) if tie is None else np.exp(tie - top)
        total = one + two + three
        return cls(one / total, two / total, three / total)

    @property
    def mean(self) -> Floats:
        """E y."""
        return self.first - self.second

    @property
    def variance(self) -> Floats:
        """The variance of y."""
        return self.first + self.second - self.mean**2

    def log_chance(self, outcome: Ints) -> Floats:
        """How likely these answers were."""
        chance = np.select([outcome == FIRST, outcome == SECOND, outcome == TIE], [self.first, self.second, self.tie])
        return np.asarray(np.log(np.maximum(chance, np.finfo(float).tiny)))


# Gradient and curvature of the log posterior, by blocks: objects x objects, a small block per juror, and between them.
#
# The jurors' blocks are eliminated first, so that a step costs one Cholesky factor of objects x objects, however many
# jurors there are. Only the habits that the table can show are there: no lean where nobody knows what stood first.


#: discrimination, lean, readiness to tie: where the priors are, and how wide
PRIOR_MEAN = np.array([1.0, 0.0, 0.0])
PRIOR_SPREAD = np.array([1.0, 2.0, 2.0])


@dataclass(frozen=True)
class State:
    """Strengths, habits (jurors x 3), how much objects differ, and how much jurors do in telling them apart."""

    strength: Floats
    habits: Floats
    sigma: float
    tau: float = 1.0

    @property
    def prior_spread(self) -> Floats:
        """How wide the priors of the habits are."""
        return np.asarray(PRIOR_SPREAD * np.array([self.tau, 1.0, 1.0]))

    def differences(self, data: CountedPairs) -> Floats:
        """By how much the left object is the stronger."""
        return self.strength[data.left] - self.strength[data.right]

    def answering(self, data: CountedPairs) -> Answering:
        """How the jurors answer, row by row."""
        discrimination, lean, tie = self.habits[data.juror].T
        eta = discrimination * self.differences(data) + (lean if data.is_placed else 0.0)
        return Answering.of(eta, tie if data.has_ties else None)

    def misfit(self, data: CountedPairs) -> float:
        """Minus the log of likelihood and prior."""
        fit = data.weight @ self.answering(data).log_chance(data.outcome)
        prior = (self.strength @ self.strength) / self.sigma**2
        prior += (((self.habits - PRIOR_MEAN) / self.prior_spread) ** 2).sum()
        return float(prior / 2 - fit)


@dataclass(frozen=True)
class Curvature:
    """The gradient and the curvature at a state."""

    gradient: Floats  #: of the strengths
    habit_gradient: Floats  #: jurors x habits
    strengths: Floats  #: objects x objects
    habits_inverse: Floats  #: jurors x habits x habits, as if the strengths were known
    between: sparse.csr_array  #: jurors * habits x objects

    @classmethod
    def at(cls, data: CountedPairs, state: State, *, expected: bool) -> Curvature:
        """Expected curvature is never indefinite, wherever the search stands; the observed one makes it end quickly."""
        gradient, strengths = strength_curvature(data, state)
        answers, difference = state.answering(data), state.differences(data)
        a = state.habits[data.juror, 0]
        pull, tied = (data.outcome - answers.mean) / 2, (data.outcome == TIE) - answers.tie
        own, cross, tie = answers.variance / 4, -answers.mean * answers.tie / 2, answers.tie * (1 - answers.tie)
        residual = np.zeros_like(pull) if expected else pull
        used = np.array([True, data.is_placed, data.has_ties])
        slopes = [pull * difference, pull, tied]
        curved = [[own * difference**2, own * difference, cross * difference], [own, cross], [tie]]
        shared = [own * a * difference - residual, own * a, cross * a]
        prior = (state.habits - PRIOR_MEAN) / state.prior_spread**2
        block = _symmetric([[data.by_juror(v) for v in row] for row in curved]) + np.diag(state.prior_spread**-2.0)
        return cls(
            gradient,
            (np.column_stack([data.by_juror(v) for v in slopes]) - prior)[:, used],
            strengths,
            np.asarray(np.linalg.inv(block[:, used][:, :, used]), dtype=np.float64),
            _between(data, [v for v, is_used in zip(shared, used, strict=True) if is_used]),
        )

    def solved(self) -> Solved | None:
        """The step and the covariances; None where the curvature is indefinite."""
        told = self.between.T @ (self._eliminated() @ self.between)
        factor, failed = lapack.dpotrf(self.strengths - told.toarray(), lower=True, overwrite_a=True)
        if failed:
            return None
        lower = np.tril(lapack.dpotri(factor, lower=True, overwrite_c=True)[0])
        covariance = lower + np.tril(lower, -1).T
        strength, habits = self._step(covariance, self.gradient, self.habit_gradient)
        level = np.zeros_like(habits)
        level[:, 0] = 1
        raised, raised_habits = self._step(covariance, np.zeros_like(strength), level)
        return Solved(covariance, strength, habits, raised, raised_habits)

    def with_strengths_held(self, solved: Solved, state: State) -> Discriminations:
        """Of the discriminations, while not their average but the size of the strengths stays."""
        still = np.zeros_like(self.habit_gradient)
        moved, moved_habits = self._step(solved.free, state.strength, still)
        size, own = float(state.strength @ moved), moved_habits[:, 0]
        share = own / size if size > 0 else np.zeros_like(own)
        variance = self.habit_covariance(solved.free)[:, 0, 0] - own * share
        raised = solved.raised_habits[:, 0]
        value = state.habits[:, 0]
        return Discriminations(
            value, variance, raised - own.sum() * share, float(raised.sum() - own.sum() * share.sum())
        )

    def _step(self, covariance: Floats, gradient: Floats, habit_gradient: Floats) -> tuple[Floats, Floats]:
        alone = np.einsum("jab,jb->ja", self.habits_inverse, habit_gradient)
        strength = covariance @ (gradient - self.between.T @ alone.ravel())
        back = (self.between @ strength).reshape(alone.shape)
        return strength, alone - np.einsum("jab,jb->ja", self.habits_inverse, back)

    def habit_covariance(self, covariance: Floats) -> Floats:
        """Of each juror's habits, the strengths being unknown too."""
        through = (self._eliminated() @ self.between).tocsr()
        jurors, habits = self.habit_gradient.shape
        spread = np.asarray(through @ covariance).reshape(jurors, habits, -1)
        dense = through.toarray().reshape(spread.shape)
        return np.asarray(self.habits_inverse + np.einsum("jao,jbo->jab", spread, dense))

    def _eliminated(self) -> sparse.bsr_array:
        jurors, habits = self.habit_gradient.shape
        blocks = (self.habits_inverse, np.arange(jurors), np.arange(jurors + 1))
        return sparse.bsr_array(blocks, shape=(jurors * habits, jurors * habits))


def strength_curvature(data: CountedPairs, state: State) -> tuple[Floats, Floats]:
    """Gradient and curvature of the strengths alone."""
    answers, a = state.answering(data), state.habits[data.juror, 0]
    gradient = _per_object(data, a * (data.outcome - answers.mean) / 2) - state.strength / state.sigma**2
    return gradient, _laplacian(data, a * a * answers.variance / 4, 1 / state.sigma**2)


@dataclass(frozen=True)
class Solved:
    """Newton's step and the covariances, before and after the discriminations are held at 1 on average.

    Strengths and discriminations are known only up to a common factor. What moves when all discriminations are raised
    together (the curvature's inverse, times a one for each of them) is taken out of step and covariances: they are
    then those on the plane where the average stays.
    """

    free: Floats  #: objects x objects, no discrimination being held
    strength: Floats
    habits: Floats
    raised: Floats
    raised_habits: Floats

    @property
    def covariance(self) -> Floats:
        """Of the strengths."""
        return np.asarray(self.free - np.outer(self.raised, self.raised) / self.raised_habits[:, 0].sum())

    def held(self, habit_covariance: Floats) -> Floats:
        """The covariance of each juror's habits."""
        moved = np.einsum("ja,jb->jab", self.raised_habits, self.raised_habits)
        return np.asarray(habit_covariance - moved / self.raised_habits[:, 0].sum())

    def step(self) -> tuple[Floats, Floats]:
        """Of strengths and habits."""
        share = self.habits[:, 0].sum() / self.raised_habits[:, 0].sum()
        return self.strength - share * self.raised, self.habits - share * self.raised_habits


@dataclass(frozen=True)
class Discriminations:
    """How sure they are in units of their own, and not of their average, which may be near 0."""

    value: Floats
    variance: Floats
    with_sum: Floats  #: the covariance of each with the sum of all
    of_sum: float  #: the variance of the sum

    def ends(self, z: float) -> Floats:
        """Two columns: of each over the average (Fieller 1954); infinite where the average may be 0."""
        size = len(self.value)
        average, variance, along = float(self.value.mean()), self.of_sum / size**2, self.with_sum / size
        doubt = z * z * variance / average**2
        if not doubt < 1:
            return np.tile([-np.inf, np.inf], (size, 1))
        ratio = self.value / average
        left = self.variance - along**2 / variance if variance > 0 else self.variance
        spread = self.variance - 2 * ratio * along + ratio**2 * variance - doubt * left
        reach = z / abs(average) * np.sqrt(np.maximum(spread, 0.0))
        centre = ratio - z * z * along / average**2
        return np.column_stack([centre - reach, centre + reach]) / (1 - doubt)


def _per_object(data: CountedPairs, values: Floats) -> Floats:
    """What pulls the left object up and the right one down, summed for each object."""
    n, value = data.shape[1], data.weight * values
    return np.asarray(np.bincount(data.left, value, n) - np.bincount(data.right, value, n), dtype=np.float64)


def _laplacian(data: CountedPairs, values: Floats, ridge: float) -> Floats:
    n = data.shape[1]
    joint = np.bincount(data.left * n + data.right, data.weight * values, n * n).reshape(n, n)
    joint += joint.T
    return np.asarray(np.diag(joint.sum(axis=1) + ridge) - joint)


def _between(data: CountedPairs, values: list[Floats]) -> sparse.csr_array:
    habits = len(values)
    rows = np.concatenate([habits * data.juror + k for k in range(habits)])
    value = np.concatenate([data.weight * v for v in values])
    column = np.concatenate([np.tile(data.left, habits), np.tile(data.right, habits)])
    both = (np.concatenate([value, -value]), (np.tile(rows, 2), column))
    return sparse.coo_array(both, shape=(habits * data.shape[0], data.shape[1])).tocsr()


def _symmetric(upper: list[list[Floats]]) -> Floats:
    """Jurors x 3 x 3 matrices from their upper halves."""
    matrix = np.empty((len(upper[0][0]), 3, 3))
    for row, values in enumerate(upper):
        for column, value in enumerate(values, row):
            matrix[:, row, column] = matrix[:, column, row] = value
    return matrix


# Strengths of the objects and habits of the jurors, fitted together.
#
# Priors (docs/guides/preferences.md says why): strengths N(0, σ²), with σ learnt from the table; discrimination N(1,
# τ²), with τ = 1 for the strengths, whose intervals hold best so, and for the jurors' own grades at least 1, as large
# as the table shows; lean and readiness to tie N(0, 2²). So an object that never won has a finite strength, a juror of
# few answers is taken for a usual one, and a juror may turn out contrary.


_PRIOR_OBJECTS = 2.0  # σ² is worth so many objects of spread 1 before any is seen,
_PRIOR_LIMIT = 2.0  # and σ is half-normal with this scale: where winners never lose, nothing else would hold it
_PRIOR_JURORS = 2.0  # τ² is worth so many jurors of spread 1, and lies between that and
_MOST_DIFFERING = 20.0  # where the average juror hardly tells apart, and nothing else would hold it
_WIDENINGS, _SETTLED = 40, 0.02
_STEPS, _SETTLING, _CLOSE = 200, 0.3, 1e-4


@dataclass(frozen=True)
class Strengths:
    """The mode, and the covariances around it."""

    state: State
    covariance: Floats  #: objects x objects, the jurors' habits being unknown too
    habit_covariance: Floats  #: jurors x 3 x 3; as the prior has it where the table shows nothing of a habit
    sharpness: Discriminations  #: where jurors may differ as much as the answers show, the average not being held


def fit_strengths(data: CountedPairs) -> Strengths:
    """The most likely strengths and habits, given the answers and the priors."""
    n_jurors, n_objects = data.shape
    fit = wider = _fitted(data, State(np.zeros(n_objects), np.tile(PRIOR_MEAN, (n_jurors, 1)), 1.0))
    for _ in range(_WIDENINGS if n_jurors > 1 else 0):
        tau = _differing(wider)
        if abs(np.log(tau / wider.state.tau)) < _SETTLED:
            break
        wider = _fitted(data, replace(wider.state, tau=tau))
    return replace(fit, sharpness=wider.sharpness)


def _differing(fit: Strengths) -> float:
    """How much jurors differ in telling apart: by as many, but one, as the answers determine (MacKay); at least 1."""
    size, doubt = len(fit.state.habits), float(fit.habit_covariance[:, 0, 0].sum())
    shown, known = float(((fit.state.habits[:, 0] - 1) ** 2).sum()), size - 1 - doubt / fit.state.tau**2
    if known <= 0:  # a flat hill; a step of EM has the same fixed point, and always exists
        shown, known = shown + doubt, size - 1.0
    return float(np.clip(np.sqrt((shown + _PRIOR_JURORS) / (known + _PRIOR_JURORS)), 1.0, _MOST_DIFFERING))


def _fitted(data: CountedPairs, state: State) -> Strengths:
    """The same where it is known how much jurors differ."""
    spread = _Spread()
    for _ in range(_STEPS):
        _, solved = _curved(data, state, expected=not spread.is_settling)
        strength, habits = solved.step()
        moved = _moved(data, state, strength, _every_habit(data, habits))
        change = max(np.abs(moved.strength - state.strength).max(), np.abs(moved.habits - state.habits).max())
        state = replace(moved, sigma=spread.following(moved, solved.covariance, change))
        if max(change, spread.off) < _CLOSE:
            break
    curvature, solved = _curved(data, state, expected=False)
    habits = solved.held(curvature.habit_covariance(solved.free))
    sharpness = curvature.with_strengths_held(solved, state)
    return Strengths(state, solved.covariance, _every_covariance(data, habits), sharpness)


def strengths_alone(data: CountedPairs, state: State) -> State:
    """The most likely strengths where the habits are known: a single hill."""
    for _ in range(_STEPS):
        gradient, curvature = strength_curvature(data, state)
        moved = _moved(data, state, np.asarray(solve(curvature, gradient, assume_a="pos")), np.zeros_like(state.habits))
        change = np.abs(moved.strength - state.strength).max()
        state = moved
        if change < _CLOSE:
            break
    return state


def _curved(data: CountedPairs, state: State, *, expected: bool) -> tuple[Curvature, Solved]:
    """The curvature and what follows from it; the expected one where the observed one is indefinite."""
    curvature = Curvature.at(data, state, expected=expected)
    solved = curvature.solved()
    return _curved(data, state, expected=True) if solved is None else (curvature, solved)


def _moved(data: CountedPairs, state: State, strength: Floats, habits: Floats) -> State:
    """As much of a step as makes the fit better."""
    before = state.misfit(data)
    for share in 0.5 ** np.arange(12):
        there = replace(state, strength=state.strength + share * strength, habits=state.habits + share * habits)
        if there.misfit(data) <= before:
            return there
    return state


class _Spread:
    """How much the strengths show that objects differ: a fixed point, sought by secants once the strengths settle."""

    def __init__(self) -> None:
        self.is_settling = False
        self.off = float("inf")  #: how far it was from a fixed point, in logs
        self._last: tuple[float, float] | None = None

    def following(self, state: State, covariance: Floats, change: float) -> float:
        """The next σ: by as many objects as the answers determine (MacKay 1992)."""
        if not self.is_settling:
            self.is_settling = change < _SETTLING
            return state.sigma
        size, shown = len(state.strength), state.strength @ state.strength
        known = size - np.trace(covariance) / state.sigma**2
        if known <= 0:  # a flat hill; a step of EM has the same fixed point, and always exists
            shown, known = shown + np.trace(covariance), size
        weight, limit = known + _PRIOR_OBJECTS, _PRIOR_LIMIT**2
        spread = np.sqrt(limit / 2 * (np.sqrt(weight**2 + 4 * (shown + _PRIOR_OBJECTS) / limit) - weight))
        at, off, slope = float(np.log(state.sigma)), float(np.log(spread / state.sigma)), -1.0
        if self._last is not None and at != self._last[0]:
            slope = float(np.clip((off - self._last[1]) / (at - self._last[0]), -2.0, -0.3))
        self._last, self.off = (at, off), abs(off)
        return float(np.exp(at - off / slope))


def _every_habit(data: CountedPairs, habits: Floats) -> Floats:
    whole = np.zeros((len(habits), 3))
    whole[:, [True, data.is_placed, data.has_ties]] = habits
    return whole


def _every_covariance(data: CountedPairs, covariance: Floats) -> Floats:
    used = np.flatnonzero([True, data.is_placed, data.has_ties])
    whole = np.tile(np.diag(PRIOR_SPREAD**2), (len(covariance), 1, 1))
    whole[:, used[:, None], used] = covariance
    return whole
