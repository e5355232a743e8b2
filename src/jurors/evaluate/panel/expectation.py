"""Expectation-maximisation for latent classes, on counts of decision tuples and in logarithms, a stack of fits at once.

    E:  q_tk ∝ p_k Π_j K_j[k][v_tj]                 one product  X · log K
    M:  K_j[k][r] ∝ Σ_t w_t q_tk [v_tj = r] + prior   one product  (w q) · X
where X is the one-hot matrix of the tuples and w_t says how many items have tuple t.  Two EM steps give the
direction and the length of a longer step in log-parameters (SQUAREM); it is kept only if the likelihood agrees.
The model is told in `latent`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from jurors.evaluate.panel.few_parameters import FewParameters, FewStrata, are_few
from jurors.numbers.arrays import Flags, Floats
from jurors.numbers.squarem import long_step
from jurors.sketch.incidence import Incidence, once_per_juror

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

_LONG_GAIN = 10.0  # times the tolerance: what a long step may gain at the end
_ROUNDING = {4: 3e-8, 8: 4e-15}  # of the height, by the size of a number: what is gained below may be rounding
_FAR = 60.0  # logarithms that a long step may reach
_LONGEST = 100.0  # a longer step in log-parameters hardly ever gains
ROUGH = 100.0  #: times the tolerance: how roughly strata are fitted before the gain by a freer model is tried
_FARTHEST = -80.0  # below, exponentials in single precision leave the numbers that processors are quick with
_QUIET = np.errstate(invalid="ignore")  # OpenBLAS has flagged products of numbers without fault (numpy issue 24067)
_TRIAL = 8  # EM steps after which the gain by a freer model is judged


@dataclass(frozen=True)
class Parameters:
    """Log-probabilities of a stack of fits, as one vector per fit; what a later fit can start from.

    They are as precise as the matrix of votes: single precision for sparse panels, whose tables of many jurors took as
    long as the votes.

    Its parts are views, made at once: small panels take hundreds of steps, each of which takes as long as its calls.
    """

    flat: Floats  #: (stack, all parameters): prior, table, away, one after the other
    jurors: int
    labels: int
    has_strata: bool = field(init=False, repr=False)  #: whether items are easy or hard
    prior: Floats = field(init=False, repr=False)  #: log p_k, (stack, classes), k = stratum*labels + label
    table: Floats = field(
        init=False, repr=False
    )  #: log K_j[l][r], (stack, labels, jurors*labels); with strata and g_j[r]
    away: Floats = field(init=False, repr=False)  #: logit h_j, (stack, jurors); only with strata

    def __post_init__(self) -> None:
        flat, cells = self.flat, self.jurors * self.labels
        strata = flat.shape[1] != self.labels * (1 + cells)
        first, rows = self.labels * (1 + strata), self.labels + strata
        last = first + rows * cells
        table = flat[:, first:last].reshape(-1, rows, cells)
        vars(self).update(has_strata=strata, prior=flat[:, :first], table=table, away=flat[:, last:])

    @classmethod
    def join(cls, prior: Floats, table: Floats, odds: Floats | None, jurors: int, labels: int) -> Parameters:
        """Put probabilities, and the odds of h_j, into one vector of logarithms per fit, as precise as the table."""
        parts = [np.log(part) for part in (prior, table.reshape(len(table), -1), odds) if part is not None]
        return cls(np.concatenate(parts, axis=1, dtype=table.dtype, casting="same_kind"), jurors, labels)

    @cached_property
    def chances(self) -> tuple[Floats, Floats, Floats]:
        """With strata: K_j[l][r], g_j[r], and the chance h_j to look away once for every cell of a row."""
        looks = np.exp(self.table)
        away = (1.0 / (1.0 + np.exp(-self.away))).repeat(self.labels, axis=1)[:, None]
        return looks[:, :-1], looks[:, -1:], away

    @property
    def is_tied(self) -> bool:
        """Whether a label is as frequent among hard items as among easy ones, in every fit."""
        if not self.has_strata:
            return False
        mix = self.prior.reshape(len(self.flat), 2, -1)
        return bool(np.ptp(mix[:, 1] - mix[:, 0], axis=1).max() < (1e-9 if mix.dtype == np.float64 else 1e-5))

    def panel(self, index: int) -> Parameters:
        """Pick one fit of the stack."""
        return self.at(self.flat[index][None])

    def at(self, flat: Floats) -> Parameters:
        """The same of other values."""
        return Parameters(flat, self.jurors, self.labels)


@dataclass(frozen=True)
class Problem:
    """What all EM steps share: the data, the model, the pseudo-votes and the known labels."""

    data: Incidence
    model: str
    pseudo: Floats  # pseudo-votes in the cells of Parameters.table, (stack or 1, labels or labels + 1, jurors*labels)
    known: Floats | None  # (classes, T) log of the answer key, 0 where unknown
    blocks: tuple[tuple[Incidence, slice], ...]  # the data again, in pieces with the rows they hold
    tied: bool = False  # whether a label is as frequent among hard items as among easy ones
    items: float = 1.0  # pseudo-items per class
    beside: tuple[Floats, Floats] | None = None  # items and votes by class, (stack, classes[, cells]), that stay as is

    @property
    def steps(self) -> Steps:
        """How to take EM steps: quickly, where parameters are few. Not kept, as they hold the problem."""
        if not self._is_few:
            return AnyParameters(self)
        if self.model == "strata":
            return FewStrata(self.data, self.weight_of_prior, self.known, self.tied)
        return self.few((self.model,))

    @property
    def is_side_by_side(self) -> bool:
        """Whether it can go up in one sweep with other models of the same votes."""
        return self.model != "strata" and self._is_few and self.data.is_shared

    @property
    def _is_few(self) -> bool:
        return self.beside is None and are_few(self.data)

    def few(self, models: tuple[str, ...]) -> FewParameters:
        """The steps of these models of few parameters, side by side."""
        return FewParameters.of(self.data, models, self.pseudo, self.items, self.known)

    @cached_property
    def weight_of_prior(self) -> Floats:
        """Pseudo-items and pseudo-votes in the order of Parameters.flat; with strata, ones for h ~ Beta(2, 2)."""
        stack, strata = len(self.pseudo), self.model == "strata"
        items = np.full((stack, self.data.labels * (1 + strata)), self.items)
        return np.concatenate(
            [items, self.pseudo.reshape(stack, -1), np.ones((stack, self.data.jurors * strata))], axis=1
        )


def pose(data: Incidence, model: str, strength: float, gold: ArrayLike | None = None) -> Problem:
    """Give every juror the same pseudo-votes in each row: strength/R on each label, strength more on the right one.

    The habit row has as many, but spread as the juror's own votes are: by habit everyone votes as always.
    """
    labels = data.labels
    pseudo = once_per_juror(strength / labels + strength * np.eye(labels), data.jurors)
    if model == "strata":
        cast = data.counts(data.weights[:, None, :]).reshape(data.stack, 1, data.jurors, labels) + 2.0 / labels
        habit = 2.0 * strength * cast / cast.sum(axis=3, keepdims=True)
        habit = habit.reshape(data.stack, 1, -1)
        pseudo = np.concatenate([np.broadcast_to(pseudo, (data.stack, *pseudo.shape[1:])), habit], axis=1)
    pseudo = pseudo.astype(data.matrix.dtype, copy=False)
    return Problem(data, model, pseudo, _log_key(gold, model), data.blocks(), model == "strata")


def _log_key(gold: ArrayLike | None, model: str) -> Floats | None:
    """Logarithm of the known label probabilities, by class; zero (no constraint) where nothing is known."""
    if gold is None:
        return None
    key = np.asarray(gold, dtype=np.float64).T
    known = (key >= 0.0).all(axis=0)
    safe = np.where(known, np.maximum(key, 1e-200), 1.0)
    return np.tile(np.log(safe), (2 if model == "strata" else 1, 1))


def class_table(at: Parameters) -> Floats:
    """Log K_j[k][r] of every class: the rows themselves, and for hard items their mixtures with the habit."""
    if not at.has_strata:
        return at.table
    easy, habit, away = at.chances
    hard = (1.0 - away) * easy + away * habit  # easy + away * (habit - easy) rounds to zero where away is nearly one
    return np.concatenate([at.table[:, :-1], np.log(hard, out=hard)], axis=1)


@_QUIET
def expect(problem: Problem, at: Parameters) -> tuple[Floats, Floats]:
    """E-step: the posterior of each class (stack, classes, T), and the log-likelihood of each tuple (stack, T).

    Posteriors are as precise as the matrix of votes.
    """
    prior = np.exp(at.prior)
    chance, top, total = chances(problem.data, class_table(at), prior, problem.known)
    return chance * (prior[:, :, None] / total[:, None]), np.asarray(top + np.log(total), dtype=np.float64)


def chances(data: Incidence, table: Floats, prior: Floats, known: Floats | None) -> tuple[Floats, Floats, Floats]:
    """What each class makes of each tuple's votes, relative to the likeliest one; its logarithm; and all together.

    (stack, classes, T), (stack, T), (stack, T); the last with the classes as common as they are. A sparse
    panel has little else to do per tuple, so all this is in single precision if its matrix is, three times as fast: a
    posterior is off by 1e-6. Its product leaves the classes of a tuple side by side in memory; to turn that takes less
    time than to work across it.
    """
    score = np.ascontiguousarray(data.scores(table.astype(data.matrix.dtype, copy=False)))
    if known is not None:
        score += known
    top = np.maximum.reduce(score, axis=1)
    score -= top[:, None]
    if score.dtype == np.float32 and score.min(initial=0.0) < _FARTHEST:
        np.maximum(score, _FARTHEST, out=score)
    np.exp(score, out=score)
    return score, top, np.matmul(prior[:, None].astype(score.dtype, copy=False), score)[:, 0]


def improve(problem: Problem, at: Parameters) -> tuple[Parameters, Floats]:
    """One EM step from a point, and the objective at the point: log-likelihood plus log prior, panel by panel."""
    table, prior = class_table(at), np.exp(at.prior)
    parts = [_tally(problem, block, rows, table, prior) for block, rows in problem.blocks]
    # A block's sums are as precise as its chances, those of many blocks are double.
    share, counts, height = (
        parts[0] if len(parts) == 1 else (np.sum(part, axis=0, dtype=np.float64) for part in zip(*parts, strict=True))
    )
    counts *= prior[:, :, None]
    share = share.astype(np.float64, copy=False) * prior + problem.items
    height += _log_prior(problem, at)
    if problem.beside is not None:
        share += problem.beside[0]
        counts += problem.beside[1]
        height += np.einsum("bk,bk->b", at.prior, problem.beside[0], dtype=np.float64)
        height += np.einsum("bkc,bkc->b", table, problem.beside[1], dtype=np.float64)
    return _maximise(problem, share, counts, at), height


def _tally(
    problem: Problem, block: Incidence, rows: slice, table: Floats, prior: Floats
) -> tuple[Floats, Floats, Floats]:
    """Items and votes by class in a block, both relative to how common the class is; and the log-likelihood."""
    known = None if problem.known is None else problem.known[:, rows]
    mass, top, total = chances(block, table, prior, known)
    mass *= (block.weights / total).astype(mass.dtype, copy=False)[:, None]
    return *block.sums(mass), np.einsum("bt,bt->b", block.weights, top + np.log(total))


def _log_prior(problem: Problem, at: Parameters) -> Floats:
    """Log density of the pseudo-votes, of one pseudo-item per class, and of h ~ Beta(2, 2)."""
    value = np.einsum("bp,bp->b", at.flat, problem.weight_of_prior, dtype=np.float64)
    if at.has_strata:  # log h + log(1 - h) = logit h - 2 log(1 + odds of h)
        value -= 2.0 * np.add.reduce(np.logaddexp(0.0, at.away), axis=1, dtype=np.float64)
    return np.asarray(value)


@cache
def _ones(size: int, kind: Any) -> Floats:
    """A column of ones: sums over few are quicker as products."""
    return np.ones((size, 1), dtype=kind)


def _maximise(problem: Problem, share: Floats, counts: Floats, at: Parameters | None) -> Parameters:
    """M-step: the parameters that make the counts by class and the pseudo-votes most likely."""
    data, odds = problem.data, None
    if problem.model == "strata":
        counts, odds = _split_by_habit(counts, at, data.jurors, data.labels)
    counts = (counts + problem.pseudo).reshape(data.stack, -1, data.jurors, data.labels)
    if problem.model == "one_coin":
        counts = _spread_evenly(counts, data.labels)
    counts /= np.matmul(counts, _ones(data.labels, counts.dtype))
    share = share / np.add.reduce(share, axis=1, keepdims=True)
    if problem.tied:
        mix = share.reshape(data.stack, 2, data.labels)
        by_stratum, by_label = (np.add.reduce(mix, axis=axis, keepdims=True) for axis in (2, 1))
        share = (by_stratum * by_label).reshape(data.stack, -1)
    return Parameters.join(share, counts.astype(data.matrix.dtype, copy=False), odds, data.jurors, data.labels)


def _split_by_habit(counts: Floats, at: Parameters | None, jurors: int, labels: int) -> tuple[Floats, Floats]:
    """Share the votes on hard items out between looking (K) and habit (g); the new odds of h, Beta(2, 2) a priori."""
    stack, _, cells = counts.shape
    easy, hard = counts[:, :labels], counts[:, labels:]
    ways = np.empty((stack, 2, labels, cells), dtype=counts.dtype)  # by habit, by looking
    np.multiply(hard, 0.5 if at is None else _lazy_share(*at.chances), out=ways[:, 0])
    np.subtract(hard, ways[:, 0], out=ways[:, 1])
    votes = np.add.reduce(ways, axis=2)
    rows = np.empty((stack, labels + 1, cells), dtype=counts.dtype)
    np.add(easy, ways[:, 1], out=rows[:, :-1])
    rows[:, -1] = votes[:, 0]
    odds = votes.reshape(stack, 2, jurors, labels) @ _ones(labels, votes.dtype) + 1.0
    return rows, (odds[:, 0] / odds[:, 1])[:, :, 0]


def _lazy_share(look: Floats, habit: Floats, away: Floats) -> Floats:
    """The share of habit in what is said of hard items."""
    by_habit = away * habit
    return np.asarray(by_habit / (by_habit + (1.0 - away) * look))


def _spread_evenly(counts: Floats, labels: int) -> Floats:
    """Replace confusion counts by one accuracy per juror, with the errors shared out evenly."""
    right = np.einsum("bljl->bj", counts)
    votes = np.matmul(counts.sum(axis=1), np.ones(labels, dtype=counts.dtype))
    wrong = (votes - right) / max(labels - 1, 1)
    even = np.empty_like(counts)
    even[:] = wrong[:, None, :, None]
    np.einsum("bljl->blj", even)[:] = right[:, None]  # a view of the diagonals
    return even


@dataclass(frozen=True)
class AnyParameters:
    """EM steps of any problem, on Parameters.flat."""

    problem: Problem

    @property
    def data(self) -> Incidence:
        """The votes."""
        return self.problem.data

    def improve(self, flat: Floats) -> tuple[Floats, Floats]:
        """One step, and the objective before it."""
        once, height = improve(self.problem, self._at(flat))
        return once.flat, height

    def normalise(self, flat: Floats) -> Floats:
        """Bring extrapolated logarithms back to probabilities that add up to one, in place."""
        out = self._at(flat)
        table = out.table.reshape(len(flat), -1, out.jurors, out.labels)  # views: the subtractions change ``out``
        table -= np.log(np.matmul(np.exp(table), _ones(out.labels, table.dtype)))
        prior = out.prior
        prior -= np.log(np.add.reduce(np.exp(prior), axis=1, keepdims=True))
        return flat

    def enter(self, flat: Floats) -> Floats:
        """Parameters as they are stepped on: the same."""
        return flat

    leave = enter

    def _at(self, flat: Floats) -> Parameters:
        return Parameters(flat, self.data.jurors, self.data.labels)


Steps: TypeAlias = FewParameters | FewStrata | AnyParameters


def ascend(
    problem: Problem, at: Parameters, tolerance: float, limit: int, *, relative: bool = False
) -> tuple[Parameters, int, bool]:
    """Run accelerated EM until neither a plain EM step nor the last long one gains much in any panel.

    On a plateau plain steps gain next to nothing for long; long ones show that it goes on. A `relative` tolerance is a
    share of the height at the start, of the panel that is lowest there.
    """
    steps = problem.steps
    there, taken, settled, _ = _ascend(steps, steps.enter(at.flat), tolerance, limit, relative=relative)
    return at.at(steps.leave(there)), taken, bool(settled.all())


def ascend_all(
    problems: Sequence[Problem], starts: Sequence[Parameters] | None, tolerance: float, limit: int
) -> list[tuple[Parameters, int, bool]]:
    """The same of several models of the same votes, from the votes' shares if no start is given.

    The tolerance is per parameter. Where a step takes as long as its calls, models go up in one sweep.
    """
    few = [k for k, problem in enumerate(problems) if problem.is_side_by_side]
    begin = None if starts is None else [starts[k] for k in few]
    together = _ascend_together([problems[k] for k in few], begin, tolerance, limit) if few else ()
    ends = dict(zip(few, together, strict=True))
    for k, problem in enumerate(problems):
        if k not in ends:
            at = first_parameters(problem) if starts is None else starts[k]
            ends[k] = ascend(problem, at, tolerance * at.flat.shape[1], limit)
    return [ends[k] for k in range(len(problems))]


def _ascend_together(
    problems: Sequence[Problem], starts: Sequence[Parameters] | None, tolerance: float, limit: int
) -> list[tuple[Parameters, int, bool]]:
    first, data = problems[0], problems[0].data
    steps = first.few(tuple(problem.model for problem in problems))
    if starts is None:
        here = steps.first(np.concatenate([_first_mass(first)] * len(problems)))
    else:
        here = steps.enter(np.concatenate([at.flat for at in starts]))
    there, taken, settled, _ = _ascend(steps, here, tolerance * here.shape[1], limit)
    flats = steps.leave(there).reshape(len(problems), -1, here.shape[1])
    return [
        (Parameters(flat, data.jurors, data.labels), taken, bool(have.all()))
        for flat, have in zip(flats, settled.reshape(len(problems), -1), strict=True)
    ]


@_QUIET
def _ascend(
    steps: Steps,
    here: Floats,
    tolerance: float,
    limit: int,
    *,
    relative: bool = False,
    enough: float = np.inf,
) -> tuple[Floats, int, Flags, Floats]:
    """Where it ends, after how many steps, which panels have settled, and what each has gained at least.

    A gain that is `enough` in all of them ends it, too.
    """
    size, is_single = steps.data.stack, here.dtype == np.float32
    twice, floor = here, np.full(size, -np.inf)
    before, first, taken, settled = floor, np.zeros(size), 0, np.zeros(size, dtype=np.bool_)
    while taken < limit:
        once, start = steps.improve(here)
        if not taken:
            first = start
            height = float(np.abs(start).max())
            tolerance = max(tolerance * (height if relative else 1.0), _ROUNDING[here.dtype.itemsize] * height)
        taken += 2
        fallen = start < floor
        if np.count_nonzero(fallen):  # the long step overshot: go back to the plain one there
            here = np.where(fallen[:, None], twice, here)
            once, start = steps.improve(here)
            taken += 1
        # With the plain steps before it; in single precision, of large sparse panels, what the long one gained itself.
        by_long_step = start - (floor if is_single else before)
        twice, floor = steps.improve(once)
        settled = (floor - start <= tolerance) & (by_long_step <= _LONG_GAIN * tolerance)
        if np.count_nonzero(settled) == size or (enough < np.inf and np.count_nonzero(floor - first > enough) == size):
            break
        before = start
        ahead = long_step(here, once, twice, _LONGEST)
        here = steps.normalise(np.minimum(np.maximum(ahead, -_FAR, out=ahead), _FAR, out=ahead))
    return twice, taken, settled, floor - first


def climb(
    problem: Problem, at: Parameters, tolerance: float, limit: int, rough: float = ROUGH
) -> tuple[Parameters, int, bool]:
    """Fit: with strata first tied and roughly, then with a label mix of their own in the panels that insist on it."""
    if not problem.tied:
        return ascend(problem, at, tolerance, limit)
    at, steps, _ = ascend(problem, at, rough * tolerance, limit)
    if steps >= limit:
        return at, steps, False
    loose, worth = replace(problem, tied=False), 0.5 * _chi_square(problem.data.labels - 1)
    trial, more, _, gain = _ascend(loose.steps, at.flat, 0.0, _TRIAL, enough=worth)
    steps += more
    insist = gain > worth
    ends, converged = at.flat, True
    for which, start, kind in ((~insist, at, problem), (insist, at.at(trial), loose)):
        if which.any():
            end, more, settled = ascend(kind, start, tolerance, max(limit - steps, 2))
            ends = np.where(which[:, None], end.flat, ends)
            steps, converged = steps + more, converged and settled
    return at.at(ends), steps, converged


def _chi_square(freedom: int) -> float:
    """About the 99.9% point of chi-square, by Wilson and Hilferty's cube: 11.2 for one degree of freedom, exactly 10.8.

    The exact point (scipy's chdtri) lets a few more replicates of an interval have a label mix of their own.
    """
    spread = 2.0 / (9.0 * freedom)
    return float(freedom * (1.0 - spread + 3.09 * spread**0.5) ** 3)


def first_parameters(problem: Problem, labels: Floats | None = None) -> Parameters:
    """Begin from smoothed vote shares, or from the chances of labels that an earlier fit gave (stack, R, T).

    With strata, the items without a clear majority are the harder ones.
    """
    mass = _first_mass(problem, labels)
    return _maximise(problem, mass.sum(axis=2, dtype=np.float64) + problem.items, problem.data.counts(mass), None)


def _first_mass(problem: Problem, labels: Floats | None = None) -> Floats:
    """Items by class and tuple (stack, classes, T), to begin with."""
    data = problem.data
    shares = (data.vote_shares if labels is None else labels).astype(data.matrix.dtype, copy=False)
    if problem.model == "strata":
        top = data.vote_shares.max(axis=1, keepdims=True)
        middle = (top * data.weights[:, None]).sum(axis=2, keepdims=True) / data.weights.sum(axis=1)[:, None, None]
        easy = 1.0 / (1.0 + np.exp(-np.clip(8.0 * (top - middle.astype(top.dtype)), -3.0, 3.0)))
        shares = np.concatenate([shares * easy, shares * (1.0 - easy)], axis=1)
    if problem.known is not None:
        shares = shares * np.exp(problem.known)
        shares = shares / shares.sum(axis=1, keepdims=True)
    return np.asarray(shares * data.weights[:, None, :].astype(shares.dtype, copy=False))
