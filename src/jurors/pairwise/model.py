"""The Bradley-Terry-Davidson model: counted answers come in; strengths, jurors' parameters and covariances go out.

Juror j compares a left with a right object of strengths s (Bradley and Terry 1952, with ties by Davidson 1970):

    η = a_j (s_left - s_right) + b_j,      P(first) : P(second) : P(tie) = exp(η/2) : exp(-η/2) : exp(t_j)

with the juror's discrimination a (1 is the average juror, 0 is chance, below 0 prefers the weaker object), position
bias b, and tendency t to tie. Log-linear in η and t, so that scores and information follow from
the three probabilities alone: with y = 1, -1, 0 for first, second and tie,

    ∂/∂η = (y - E y)/2,   ∂/∂t = [tie] - P(tie),   information: var(y)/4, P(tie)(1 - P(tie)), -E(y) P(tie)/2.

Priors (docs/guides/preferences.md gives the reasons): strengths N(0, σ²), with σ estimated from the table;
discrimination N(1, τ²), with τ = 1 for the strengths, whose intervals hold best so, and for the jurors' own grades at
least 1, as large as the table shows; lean and readiness to tie N(0, 2²). So an object that never won has a finite
strength, a juror with few answers is close to the average one, and a discrimination may be negative.

The mode is sought by Newton's method, σ and τ by MacKay's evidence approximation (1992); covariances are those of the
Laplace approximation at the mode.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from jurors._numeric import Floats
from jurors.pairwise.data import CountedPairs, Ints
from jurors.votes.pair_columns import FIRST, SECOND, TIE

#: discrimination, lean, readiness to tie: where the priors are, and how wide
PRIOR_MEAN = np.array([1.0, 0.0, 0.0])
PRIOR_SPREAD = np.array([1.0, 2.0, 2.0])

_PRIOR_OBJECTS = 2.0  # σ² is worth so many objects of spread 1 before any is seen,
_PRIOR_LIMIT = 2.0  # and σ is half-normal with this scale: where winners never lose, nothing else would bound it
_PRIOR_JURORS = 2.0  # τ² is worth so many jurors of spread 1, and lies between that and
_LARGEST_TAU = 20.0  # where the average discrimination is about 0, and nothing else would bound it
_TAU_STEPS, _TAU_TOLERANCE = 40, 0.02
_STEPS, _TOLERANCE = 200, 1e-4
_NEARLY_CONVERGED = 0.3  # the largest change of a step, from which on σ is estimated, too


@dataclass(frozen=True)
class Answering:
    """The probabilities of the three answers, and the moments of y that follow from them."""

    first: Floats
    second: Floats
    tie: Floats

    @classmethod
    def of(cls, eta: Floats, tie: Floats | None) -> Answering:
        """From η and t; None for t where ties are no answer."""
        half = eta / 2
        top = np.abs(half) if tie is None else np.maximum(np.abs(half), tie)
        first, second = np.exp(half - top), np.exp(-half - top)
        tied = np.zeros_like(first) if tie is None else np.exp(tie - top)
        total = first + second + tied
        return cls(first / total, second / total, tied / total)

    @property
    def mean(self) -> Floats:
        """E y."""
        return self.first - self.second

    @property
    def variance(self) -> Floats:
        """The variance of y."""
        return self.first + self.second - self.mean**2

    def log_chance(self, outcome: Ints) -> Floats:
        """The log likelihood of each answer."""
        chance = np.select([outcome == FIRST, outcome == SECOND, outcome == TIE], [self.first, self.second, self.tie])
        return np.asarray(np.log(np.maximum(chance, np.finfo(float).tiny)))


@dataclass(frozen=True)
class State:
    """A point in the space of parameters."""

    strength: Floats  #: per object, on the scale of log odds
    habits: Floats  #: jurors x 3: discrimination, lean, readiness to tie
    sigma: float  #: the prior standard deviation of strengths
    tau: float = 1.0  #: the prior standard deviation of discriminations

    @property
    def prior_spread(self) -> Floats:
        """The prior standard deviations of the three habits."""
        return np.asarray(PRIOR_SPREAD * np.array([self.tau, 1.0, 1.0]))

    def differences(self, data: CountedPairs) -> Floats:
        """s_left - s_right, row by row."""
        return self.strength[data.left] - self.strength[data.right]

    def answering(self, data: CountedPairs) -> Answering:
        """The probabilities of the answers, row by row."""
        discrimination, lean, tie = self.habits[data.juror].T
        eta = discrimination * self.differences(data) + (lean if data.is_placed else 0.0)
        return Answering.of(eta, tie if data.has_ties else None)

    def misfit(self, data: CountedPairs) -> float:
        """Minus the log posterior, up to a constant."""
        log_likelihood = data.weight @ self.answering(data).log_chance(data.outcome)
        penalty = (self.strength @ self.strength) / self.sigma**2
        penalty += (((self.habits - PRIOR_MEAN) / self.prior_spread) ** 2).sum()
        return float(penalty / 2 - log_likelihood)


# ---------------------------------------------------------------------------------------------------------------------
# Gradient and curvature of the log posterior, by blocks: objects x objects, a small block per juror, and between them
#
# The jurors' blocks are eliminated first, so that a step costs one Cholesky factor of objects x objects, however many
# jurors there are. Only habits that the table identifies are there: no lean where the order of display is unknown.
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Curvature:
    """The gradient and the curvature (minus the Hessian) at a state."""

    gradient: Floats  #: of the strengths
    habit_gradient: Floats  #: jurors x habits
    strengths: Floats  #: objects x objects
    habits_inverse: Floats  #: jurors x habits x habits, as if the strengths were known
    between: sparse.csr_array  #: jurors * habits x objects

    @classmethod
    def at(cls, data: CountedPairs, state: State, *, expected: bool) -> Curvature:
        """Expected curvature is never indefinite, wherever the search stands; the observed one converges faster."""
        gradient, strengths = strength_curvature(data, state)
        answers, difference = state.answering(data), state.differences(data)
        a = state.habits[data.juror, 0]
        score, tie_score = (data.outcome - answers.mean) / 2, (data.outcome == TIE) - answers.tie
        information, cross, tie = answers.variance / 4, -answers.mean * answers.tie / 2, answers.tie * (1 - answers.tie)
        residual = np.zeros_like(score) if expected else score
        used = np.flatnonzero([True, data.is_placed, data.has_ties])

        scores = np.column_stack([data.by_juror(value) for value in (score * difference, score, tie_score)])
        habit_gradient = scores - (state.habits - PRIOR_MEAN) / state.prior_spread**2
        block = np.empty((data.shape[0], 3, 3))
        upper = [
            [information * difference**2, information * difference, cross * difference],
            [information, cross],
            [tie],
        ]
        for row, values in enumerate(upper):
            for column, value in enumerate(values, row):
                block[:, row, column] = block[:, column, row] = data.by_juror(value)
        block += np.diag(state.prior_spread**-2.0)

        mixed = [information * a * difference - residual, information * a, cross * a]
        rows = np.concatenate([len(used) * data.juror + k for k in range(len(used))])
        value = np.concatenate([data.weight * mixed[k] for k in used])
        columns = np.concatenate([np.tile(data.left, len(used)), np.tile(data.right, len(used))])
        entries = (np.concatenate([value, -value]), (np.tile(rows, 2), columns))
        between = sparse.coo_array(entries, shape=(len(used) * data.shape[0], data.shape[1])).tocsr()
        inverse = np.asarray(np.linalg.inv(block[:, used][:, :, used]), dtype=np.float64)
        return cls(gradient, habit_gradient[:, used], strengths, inverse, between)

    def solved(self) -> Solved | None:
        """Newton's step and the covariances; None where the curvature is indefinite."""
        explained = self.between.T @ (self._block_inverse() @ self.between)
        factor, failed = lapack.dpotrf(self.strengths - explained.toarray(), lower=True, overwrite_a=True)
        if failed:
            return None
        lower = np.tril(lapack.dpotri(factor, lower=True, overwrite_c=True)[0])
        covariance = lower + np.tril(lower, -1).T
        strength, habits = self._step(covariance, self.gradient, self.habit_gradient)
        ones = np.zeros_like(habits)
        ones[:, 0] = 1
        raised, raised_habits = self._step(covariance, np.zeros_like(strength), ones)
        return Solved(covariance, strength, habits, raised, raised_habits)

    def with_strengths_held(self, solved: Solved, state: State) -> Discriminations:
        """The discriminations where not their average but the size of the strengths is fixed."""
        moved, moved_habits = self._step(solved.free, state.strength, np.zeros_like(self.habit_gradient))
        size, change = float(state.strength @ moved), moved_habits[:, 0]
        share = change / size if size > 0 else np.zeros_like(change)
        raised = solved.raised_habits[:, 0]
        return Discriminations(
            value=state.habits[:, 0],
            variance=self.habit_covariance(solved.free)[:, 0, 0] - change * share,
            with_sum=raised - change.sum() * share,
            of_sum=float(raised.sum() - change.sum() * share.sum()),
        )

    def _step(self, covariance: Floats, gradient: Floats, habit_gradient: Floats) -> tuple[Floats, Floats]:
        """The inverse of the whole curvature times a vector, by blocks: strengths and habits."""
        alone = np.einsum("jab,jb->ja", self.habits_inverse, habit_gradient)
        strength = covariance @ (gradient - self.between.T @ alone.ravel())
        back = (self.between @ strength).reshape(alone.shape)
        return strength, alone - np.einsum("jab,jb->ja", self.habits_inverse, back)

    def habit_covariance(self, covariance: Floats) -> Floats:
        """Of each juror's habits (jurors x habits x habits), the strengths being unknown too."""
        through = (self._block_inverse() @ self.between).tocsr()
        jurors, habits = self.habit_gradient.shape
        spread = np.asarray(through @ covariance).reshape(jurors, habits, -1)
        dense = through.toarray().reshape(spread.shape)
        return np.asarray(self.habits_inverse + np.einsum("jao,jbo->jab", spread, dense))

    def _block_inverse(self) -> sparse.bsr_array:
        """The jurors' inverse blocks as one block-diagonal matrix."""
        jurors, habits = self.habit_gradient.shape
        blocks = (self.habits_inverse, np.arange(jurors), np.arange(jurors + 1))
        return sparse.bsr_array(blocks, shape=(jurors * habits, jurors * habits))


def strength_curvature(data: CountedPairs, state: State) -> tuple[Floats, Floats]:
    """Gradient (objects) and curvature (objects x objects, a Laplacian plus the prior) of the strengths alone."""
    answers, a, n = state.answering(data), state.habits[data.juror, 0], data.shape[1]
    score = data.weight * (a * (data.outcome - answers.mean) / 2)
    per_object = np.asarray(np.bincount(data.left, score, n) - np.bincount(data.right, score, n), dtype=np.float64)
    joint = np.bincount(data.left * n + data.right, data.weight * (a * a * answers.variance / 4), n * n).reshape(n, n)
    joint += joint.T
    curvature = np.asarray(np.diag(joint.sum(axis=1) + 1 / state.sigma**2) - joint, dtype=np.float64)
    return per_object - state.strength / state.sigma**2, curvature


@dataclass(frozen=True)
class Solved:
    """Newton's step and the covariances, before and after the discriminations are held at 1 on average.

    Strengths and discriminations are known only up to a common factor. What moves when all discriminations are raised
    at once (the curvature's inverse, times a one for each of them) is taken out of step and covariances: they are
    then those on the plane where the average stays.
    """

    free: Floats  #: objects x objects, no discrimination being held
    strength: Floats
    habits: Floats
    raised: Floats
    raised_habits: Floats

    @property
    def covariance(self) -> Floats:
        """Of the strengths: objects x objects."""
        return np.asarray(self.free - np.outer(self.raised, self.raised) / self.raised_habits[:, 0].sum())

    def held(self, habit_covariance: Floats) -> Floats:
        """The covariance of each juror's habits: jurors x habits x habits."""
        moved = np.einsum("ja,jb->jab", self.raised_habits, self.raised_habits)
        return np.asarray(habit_covariance - moved / self.raised_habits[:, 0].sum())

    def step(self) -> tuple[Floats, Floats]:
        """Of strengths and habits."""
        share = self.habits[:, 0].sum() / self.raised_habits[:, 0].sum()
        return self.strength - share * self.raised, self.habits - share * self.raised_habits


@dataclass(frozen=True)
class Discriminations:
    """Discriminations and their sampling error in units of their own, and not of their average, which may be near 0."""

    value: Floats
    variance: Floats
    with_sum: Floats  #: the covariance of each with the sum of all
    of_sum: float  #: the variance of the sum

    def ends(self, z: float) -> Floats:
        """Fieller's intervals (1954) of each over the average, jurors x 2; infinite where the average may be 0."""
        size = len(self.value)
        average, variance, covariance = float(self.value.mean()), self.of_sum / size**2, self.with_sum / size
        g = z * z * variance / average**2
        if not g < 1:
            return np.tile([-np.inf, np.inf], (size, 1))
        ratio = self.value / average
        residual = self.variance - covariance**2 / variance if variance > 0 else self.variance
        spread = self.variance - 2 * ratio * covariance + ratio**2 * variance - g * residual
        reach = z / abs(average) * np.sqrt(np.maximum(spread, 0.0))
        centre = ratio - z * z * covariance / average**2
        return np.column_stack([centre - reach, centre + reach]) / (1 - g)


# ---------------------------------------------------------------------------------------------------------------------
# The fit
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Strengths:
    """The posterior mode, and the covariances around it."""

    state: State
    covariance: Floats  #: objects x objects, the jurors' habits being unknown too
    habit_covariance: Floats  #: jurors x 3 x 3; the prior's where the table does not identify a habit
    sharpness: Discriminations  #: where jurors may differ as much as the answers show, the average not being held


def fit_strengths(data: CountedPairs) -> Strengths:
    """Fit strengths and habits; then once more, τ being estimated, for the discriminations.

    Returns
    -------
    Strengths
        Strengths on the scale of log odds, discriminations 1 on average.
    """
    n_jurors, n_objects = data.shape
    fit = wider = _fit_at_tau(data, State(np.zeros(n_objects), np.tile(PRIOR_MEAN, (n_jurors, 1)), 1.0))
    for _ in range(_TAU_STEPS if n_jurors > 1 else 0):
        # MacKay: the sum of squares over the number of well determined parameters (one is spent on the average)
        uncertainty = float(wider.habit_covariance[:, 0, 0].sum())
        squares = float(((wider.state.habits[:, 0] - 1) ** 2).sum())
        determined = n_jurors - 1 - uncertainty / wider.state.tau**2
        if determined <= 0:  # a flat maximum; a step of EM has the same fixed point, and always exists
            squares, determined = squares + uncertainty, n_jurors - 1.0
        tau = float(np.clip(np.sqrt((squares + _PRIOR_JURORS) / (determined + _PRIOR_JURORS)), 1.0, _LARGEST_TAU))
        if abs(np.log(tau / wider.state.tau)) < _TAU_TOLERANCE:
            break
        wider = _fit_at_tau(data, replace(wider.state, tau=tau))
    return replace(fit, sharpness=wider.sharpness)


def _fit_at_tau(data: CountedPairs, state: State) -> Strengths:
    """Newton's method, alternating with the fixed point of σ once the strengths have nearly converged."""
    used, sigma = np.flatnonzero([True, data.is_placed, data.has_ties]), _SigmaEstimate()
    for _ in range(_STEPS):
        _, solved = _solve_curvature(data, state, expected=not sigma.is_active)
        strength, used_habits = solved.step()
        habits = np.zeros_like(state.habits)
        habits[:, used] = used_habits
        before, moved = state.misfit(data), state
        for share in 0.5 ** np.arange(12):  # the step, halved until the fit is no worse
            there = replace(state, strength=state.strength + share * strength, habits=state.habits + share * habits)
            if there.misfit(data) <= before:
                moved = there
                break
        change = max(np.abs(moved.strength - state.strength).max(), np.abs(moved.habits - state.habits).max())
        state = replace(moved, sigma=sigma.following(moved, solved.covariance, change))
        if max(change, sigma.off) < _TOLERANCE:
            break
    curvature, solved = _solve_curvature(data, state, expected=False)
    habit_covariance = np.tile(np.diag(PRIOR_SPREAD**2), (data.shape[0], 1, 1))
    habit_covariance[:, used[:, None], used] = solved.held(curvature.habit_covariance(solved.free))
    return Strengths(state, solved.covariance, habit_covariance, curvature.with_strengths_held(solved, state))


def _solve_curvature(data: CountedPairs, state: State, *, expected: bool) -> tuple[Curvature, Solved]:
    """The curvature and its solution; the expected one where the observed one is indefinite."""
    curvature = Curvature.at(data, state, expected=expected)
    solved = curvature.solved()
    return _solve_curvature(data, state, expected=True) if solved is None else (curvature, solved)


class _SigmaEstimate:
    """σ as a fixed point, sought by secants on the log scale once the strengths have nearly converged."""

    def __init__(self) -> None:
        self.is_active = False
        self.off = float("inf")  #: how far it was from a fixed point, in logs
        self._last: tuple[float, float] | None = None

    def following(self, state: State, covariance: Floats, change: float) -> float:
        """The next σ: the spread of as many objects as the answers determine (MacKay 1992)."""
        if not self.is_active:
            self.is_active = change < _NEARLY_CONVERGED
            return state.sigma
        size, squares = len(state.strength), state.strength @ state.strength
        determined = size - np.trace(covariance) / state.sigma**2
        if determined <= 0:  # a flat maximum; a step of EM has the same fixed point, and always exists
            squares, determined = squares + np.trace(covariance), size
        weight, limit = determined + _PRIOR_OBJECTS, _PRIOR_LIMIT**2
        target = np.sqrt(limit / 2 * (np.sqrt(weight**2 + 4 * (squares + _PRIOR_OBJECTS) / limit) - weight))
        at, off, slope = float(np.log(state.sigma)), float(np.log(target / state.sigma)), -1.0
        if self._last is not None and at != self._last[0]:
            slope = float(np.clip((off - self._last[1]) / (at - self._last[0]), -2.0, -0.3))
        self._last, self.off = (at, off), abs(off)
        return float(np.exp(at - off / slope))
