"""Expectation-maximisation for latent classes, on counts of decision tuples and in logarithms, a stack of fits at once.

In: an `EMProblem` (votes as a one-hot matrix, model, pseudo-votes, known labels) and `Parameters` to start from. Out:
the `Parameters` of greatest posterior density, how many steps it took, and whether it converged. The models themselves
are defined in `latent.models`.

    E:  q_tk ∝ p_k Π_j K_j[k][v_tj]                   one product  X · log K
    M:  K_j[k][r] ∝ Σ_t w_t q_tk [v_tj = r] + prior   one product  (w q) · X

where X is the one-hot matrix of the tuples and w_t counts the items with tuple t. Two EM steps give the direction and
the length of a longer step in log-parameters (SQUAREM); it is taken only if the likelihood agrees.

Panels of few parameters. On a small panel an EM step takes as long as its numpy calls, so `FewParameters` and
`FewStrata` do the same step (`AnyParameters`, up to rounding) in a handful of calls. A class's logarithms θ lie in one
row: a number for every cell (juror, vote), and last the log-prevalence of the class; every tuple has a one behind its
votes, which picks up that last number. Then a step is three matrix products:

    E:  log q = θ X, but for what all classes of a tuple share      counts = (w q) Xᵀ + pseudo-counts
    M:  θ = log(counts / counts G)

where G sums the entries whose probabilities add up to 1; and for one accuracy per juror, counts S before that, which
adds up all right votes of a juror and spreads out all wrong ones. Models without strata differ in nothing else, so that
several are fitted in one sweep. With strata, the classes of hard items are mixtures, and their votes are split.

Canonical order. `canonical_ranks` numbers jurors and tuples by what was voted alone: no order and no name takes part.
Colour refinement: jurors start with the same colour, and labels; a tuple's colour is made of the colours of the jurors
who give the same label on it and of that label, and a juror's and a label's of the tuples they occur in and of who
votes with them there. Sums of hashed whole numbers, modulo 2⁶⁴, are exact, and the same in any order of jurors, labels
and tuples. Jurors who still have the same colour after three rounds have (but for rare symmetric panels) the same
votes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jurors._numeric import Flags, Floats, Integers, squarem_step
from jurors.sketch.pairs import Incidence, tile_per_juror

_State = TypeVar("_State")
_MOST = 128  # parameters: products of all pairs of them take no longer than a few calls
_SHORT = 4  # jurors whose probabilities multiply to a number above zero, even where a long step has made each e^-122
_LONG_GAIN = 10.0  # times the tolerance: what a long step may gain at the end
_ROUNDING = {4: 3e-8, 8: 4e-15}  # of the objective, by the size of a number: a smaller gain may be rounding
_FAR = 60.0  # logarithms that a long step may reach
_LONGEST = 100.0  # a longer step in log-parameters hardly ever gains
ROUGH_TOLERANCE = 100.0  #: times the tolerance: how roughly strata are fitted before the gain by a freer model is tried
_FARTHEST = -80.0  # below, exponentials in single precision leave the numbers that processors are quick with
_QUIET = np.errstate(invalid="ignore")  # OpenBLAS has flagged products of numbers without fault (numpy issue 24067)
_TRIAL = 8  # EM steps after which the gain by a freer model is judged
STRENGTH = 2.0  #: pseudo-votes per juror on the right label, and as many spread over all

# -- panels of few parameters ---------------------------------------------------------------------------------------


def are_few(data: Incidence) -> bool:
    """Whether a panel has so few parameters, by any model, that `FewParameters` and `FewStrata` are quicker.

    Returns
    -------
    bool
    """
    return data.is_dense and 2 * data.labels + (data.labels + 1) * data.jurors * data.labels <= _MOST


class _Expectation:
    """The E-step of a stack of dense panels, with the log of an answer key (classes, T) where one is known."""

    def __init__(self, data: Incidence, classes: int, known: Floats | None) -> None:
        self.data, self.known = data, known
        self.hot = data.turned_with_ones  # X
        self.turned = np.ascontiguousarray(self.hot.swapaxes(-1, -2))
        # Panels that share their votes are the rows of one product, and `dot` takes half as long as `matmul`.
        self.product: Any = np.dot if data.is_shared else np.matmul
        outer = (data.stack * classes,) if data.is_shared else (data.stack, classes)
        self.of_theta, self.of_mass = (*outer, -1), (*outer, data.rows)
        self.by_panel = (data.stack, classes, data.rows)

    def counts(self, theta: Floats) -> tuple[Floats, Floats]:
        """Expected votes and items by class, like θ one class behind the other (stack, ...), and log-likelihoods."""
        weights = self.data.weights
        mass = self.product(theta.reshape(self.of_theta), self.hot).reshape(self.by_panel)
        if self.known is not None:
            mass += self.known
        top = None
        if self.data.jurors > _SHORT:
            top = np.maximum.reduce(mass, 1)
            mass -= top[:, None]
        np.exp(mass, out=mass)
        total = np.add.reduce(mass, 1)
        mass *= (weights / total)[:, None]
        np.log(total, out=total)
        if top is not None:
            total += top
        return self.tally(mass), np.vecdot(weights, total)

    def tally(self, mass: Floats) -> Floats:
        """The same of items by class and tuple (stack, classes, T)."""
        return np.asarray(self.product(mass.reshape(self.of_mass), self.turned).reshape(len(mass), -1))


class _OnFlat:
    """Steps on `Parameters.flat` itself."""

    def enter(self, flat: Floats) -> Floats:
        """`Parameters.flat` itself."""
        return flat

    leave = enter


@dataclass(frozen=True)
class FewParameters:
    """EM steps of models with one class per label, several models in one stack; θ is (stack, parameters)."""

    data: Incidence  #: the votes, once for every model
    expectation: _Expectation
    pseudo: Floats  #: (stack or 1, parameters) pseudo-counts
    models: tuple[str, ...]  #: of equal parts of the stack, one after the other

    @cached_property
    def _maps(self) -> tuple[Floats, Floats]:
        return _plain_maps(self.data.jurors, self.data.labels)

    @cached_property
    def _even(self) -> tuple[slice, ...]:
        """The panels with one accuracy per juror."""
        size = self.data.stack // len(self.models)
        return tuple(slice(k * size, (k + 1) * size) for k, model in enumerate(self.models) if model == "one_coin")

    def improve(self, at: Floats) -> tuple[Floats, Floats]:
        """One EM step, and the objective before it: log-likelihood plus log prior, panel by panel."""
        counts, height = self.expectation.counts(at)
        height += np.vecdot(at, self.pseudo)
        return self._maximise(counts), height

    def _maximise(self, counts: Floats) -> Floats:
        """θ that makes the counts and the pseudo-counts most likely; overwrites `counts`."""
        counts += self.pseudo
        groups, spread = self._maps
        for part in self._even:
            counts[part] = counts[part].dot(spread)
        counts /= counts.dot(groups)
        return np.log(counts, out=counts)

    def first(self, mass: Floats) -> Floats:
        """The first θ of every model, from items by class and tuple (stack of all models, classes, T)."""
        return self._maximise(self.expectation.tally(mass))

    def normalise(self, at: Floats) -> Floats:
        """Bring extrapolated logarithms back to probabilities that add up to one, in place."""
        at -= np.log(np.exp(at).dot(self._maps[0]))
        return at

    def enter(self, flat: Floats) -> Floats:
        """θ from `Parameters.flat`, which holds the prevalences of the classes, then the cells, class by class."""
        stack, classes = len(flat), self.data.labels
        parts = flat[:, classes:].reshape(stack, classes, -1), flat[:, :classes, None]
        return np.concatenate(parts, axis=2).reshape(stack, -1)

    def leave(self, at: Floats) -> Floats:
        """`Parameters.flat` from θ."""
        stack, by_class = len(at), at.reshape(len(at), self.data.labels, -1)
        return np.concatenate([by_class[:, :, -1], by_class[:, :, :-1].reshape(stack, -1)], axis=1)


@cache
def _plain_maps(jurors: int, labels: int) -> tuple[Floats, Floats]:
    """G, and S of one accuracy per juror."""
    cells = jurors * labels
    klass, cell = np.divmod(np.arange(labels * (cells + 1)), cells + 1)
    juror, vote = np.divmod(cell, labels)
    is_vote, is_wrong = cell < cells, vote != klass
    pooled = np.where(is_vote, 2 * juror + is_wrong, -1 - klass)
    wrong_labels = np.where(is_vote & is_wrong, max(labels - 1, 1), 1)
    return _group_sums(np.where(is_vote, klass * jurors + juror, -1)), _group_sums(pooled) / wrong_labels


def _group_sums(group: Integers) -> Floats:
    """A matrix whose product puts the sum of each group in the place of each of its members."""
    return np.equal.outer(group, group).astype(np.float64)


@dataclass(frozen=True)
class FewStrata(_OnFlat):
    """EM steps with strata, on `Parameters.flat`: prior, K, g, and the logits of h.

    On hard items a vote is by habit with probability h g / (h g + (1 - h) K), and by looking at the item otherwise.
    """

    data: Incidence
    expectation: _Expectation
    pseudo: Floats  #: (stack, parameters) pseudo-counts, and ones for h ~ Beta(2, 2)
    tied: bool  #: whether a label is as frequent among hard items as among easy ones

    @cached_property
    def _maps(self) -> tuple[Floats, Floats, Floats, Floats]:
        return _strata_maps(self.data.jurors, self.data.labels)

    @cached_property
    def _parts(self) -> tuple[slice, slice, slice]:
        """Where K, g and the logits of h lie in the flat vector, after the prior."""
        classes, cells = 2 * self.data.labels, self.data.jurors * self.data.labels
        first, second = classes + self.data.labels * cells, classes + (self.data.labels + 1) * cells
        return slice(classes, first), slice(first, second), slice(second, None)

    def improve(self, at: Floats) -> tuple[Floats, Floats]:
        """One EM step, and the objective before it: log-likelihood plus log prior, panel by panel."""
        (looks, habits, logits), labels, to_cells = self._parts, self.data.labels, self._maps[3]
        rows = (len(at), labels, -1)
        chance = np.exp(at)
        odds = chance[:, logits]
        wide = odds + 1.0
        away = (odds / wide).dot(to_cells)[:, None]
        habit = away * chance[:, None, habits]
        hard = (1.0 - away) * chance[:, looks].reshape(rows)
        hard += habit
        theta = np.empty((len(at), 2 * labels, to_cells.shape[1] + 1))
        theta[:, :labels, :-1] = at[:, looks].reshape(rows)
        np.log(hard, out=theta[:, labels:, :-1])
        theta[:, :, -1] = at[:, : 2 * labels]
        counts, height = self.expectation.counts(theta)
        height += np.vecdot(at, self.pseudo)
        np.log(wide, out=wide)
        height -= 2.0 * np.add.reduce(wide, 1)  # log h + log(1 - h) = logit h - 2 log(1 + odds of h)
        habit = habit / hard
        return self._maximise(counts.reshape(theta.shape), habit), height

    def _maximise(self, counts: Floats, habit: Floats) -> Floats:
        """The parameters that make counts and pseudo-counts most likely, given the share of habit in hard votes."""
        (looks, habits, logits), labels = self._parts, self.data.labels
        groups, by_stratum, by_label, to_cells = self._maps
        end = np.empty((len(counts), self.pseudo.shape[1]))
        hard = counts[:, labels:, :-1]
        habit *= hard
        by_looking = hard - habit
        idle, awake = np.add.reduce(habit, 1), np.add.reduce(by_looking, 1)
        by_looking += counts[:, :labels, :-1]
        end[:, looks] = by_looking.reshape(len(end), -1)
        end[:, habits] = idle
        prior = end[:, : 2 * labels]
        prior[:] = counts[:, :, -1]
        end[:, logits] = 0.0
        end += self.pseudo
        if self.tied:
            prior[:] = prior.dot(by_stratum) * prior.dot(by_label)
        chances = end[:, : logits.start]
        chances /= chances.dot(groups)
        to_jurors = to_cells.T
        np.divide(idle.dot(to_jurors) + 1.0, awake.dot(to_jurors) + 1.0, out=end[:, logits])
        return np.log(end, out=end)

    def normalise(self, at: Floats) -> Floats:
        """Bring extrapolated logarithms back to probabilities that add up to one, in place."""
        chances = at[:, : self._parts[2].start]
        chances -= np.log(np.exp(chances).dot(self._maps[0]))
        return at


@cache
def _strata_maps(jurors: int, labels: int) -> tuple[Floats, Floats, Floats, Floats]:
    """G (sums of what adds up to 1), sums by stratum, sums by label, and (jurors, cells): 1 for a cell of the juror."""
    klass, table = np.arange(2 * labels), np.arange((labels + 1) * jurors * labels)
    groups = _group_sums(np.concatenate([np.full(2 * labels, -1), table // labels]))
    to_cells = np.repeat(np.eye(jurors), labels, axis=1)
    return groups, _group_sums(klass // labels), _group_sums(klass % labels), to_cells


# -- any panel ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parameters:
    """Log-probabilities of a stack of fits, as one vector per fit; what a later fit can start from.

    They are as precise as the matrix of votes: single precision for sparse panels, where tables of many jurors take as
    long as the votes. The parts are views, made at once in `__post_init__` through `vars`: small panels take hundreds
    of steps, each of which takes as long as its calls.
    """

    flat: Floats  #: (stack, all parameters): prior, table, away, one after the other
    jurors: int
    labels: int
    has_strata: bool = field(init=False, repr=False)  #: whether items are easy or hard
    prior: Floats = field(init=False, repr=False)  #: log p_k, (stack, classes), k = stratum*labels + label
    #: log K_j[l][r], (stack, labels, jurors*labels); with strata also g_j[r]
    table: Floats = field(init=False, repr=False)
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
        """With strata: K_j[l][r], g_j[r], and h_j (the probability to look away) for every cell of a row."""
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

    def at(self, flat: Floats) -> Parameters:
        """Parameters of the same shape with other values."""
        return Parameters(flat, self.jurors, self.labels)


@dataclass(frozen=True)
class EMProblem:
    """What all EM steps share: the data, the model, the pseudo-votes and the known labels."""

    data: Incidence
    model: str
    pseudo: Floats  # pseudo-votes in the cells of Parameters.table, (stack or 1, labels or labels + 1, jurors*labels)
    known: Floats | None  # (classes, T) log of the answer key, 0 where unknown
    blocks: tuple[tuple[Incidence, slice], ...]  # the data again, in pieces with the rows they hold
    tied: bool = False  # whether a label is as frequent among hard items as among easy ones
    items: float = 1.0  # pseudo-items per class
    fixed_counts: tuple[Floats, Floats] | None = None  # items and votes by class to add, (stack, classes[, cells])

    @property
    def steps(self) -> Steps:
        """How to take EM steps: the quick way where parameters are few. Not cached, as they refer to the problem."""
        if not self._is_few:
            return AnyParameters(self)
        if self.model == "strata":
            expectation = _Expectation(self.data, 2 * self.data.labels, self.known)
            return FewStrata(self.data, expectation, self.weight_of_prior, self.tied)
        return self.few((self.model,))

    @property
    def is_side_by_side(self) -> bool:
        """Whether it can be fitted in one sweep with other models of the same votes."""
        return self.model != "strata" and self._is_few and self.data.is_shared

    @property
    def _is_few(self) -> bool:
        return self.fixed_counts is None and are_few(self.data)

    def few(self, models: tuple[str, ...]) -> FewParameters:
        """The steps of these models of few parameters, in one stack."""
        data, last = self.data, np.full((*self.pseudo.shape[:2], 1), self.items)
        before = np.concatenate([self.pseudo, last], axis=2).reshape(len(self.pseudo), -1)
        stacked = data if len(models) == 1 else replace(data, weights=np.concatenate([data.weights] * len(models)))
        return FewParameters(stacked, _Expectation(stacked, data.labels, self.known), before, models)

    @cached_property
    def weight_of_prior(self) -> Floats:
        """Pseudo-items and pseudo-votes in the order of Parameters.flat; with strata, ones for h ~ Beta(2, 2)."""
        stack, strata = len(self.pseudo), self.model == "strata"
        items = np.full((stack, self.data.labels * (1 + strata)), self.items)
        habits = np.ones((stack, self.data.jurors * strata))
        return np.concatenate([items, self.pseudo.reshape(stack, -1), habits], axis=1)


def em_problem(data: Incidence, model: str, gold: ArrayLike | None = None) -> EMProblem:
    """The EM problem of a model, with pseudo-votes as prior.

    Every juror has the same pseudo-votes in each row: 2/R on each label, 2 more on the right one. The
    habit row has as many, but spread as the juror's own votes are: by habit a juror votes as it always does.

    Parameters
    ----------
    gold
        (T, R) known probabilities of the true label; a row of NaN or -1 is unknown.

    Returns
    -------
    EMProblem
    """
    labels = data.labels
    pseudo = tile_per_juror(STRENGTH / labels + STRENGTH * np.eye(labels), data.jurors)
    if model == "strata":
        cast = data.counts(data.weights[:, None, :]).reshape(data.stack, 1, data.jurors, labels) + 2.0 / labels
        habit = (2.0 * STRENGTH * cast / cast.sum(axis=3, keepdims=True)).reshape(data.stack, 1, -1)
        pseudo = np.concatenate([np.broadcast_to(pseudo, (data.stack, *pseudo.shape[1:])), habit], axis=1)
    pseudo = pseudo.astype(data.matrix.dtype, copy=False)
    known = None
    if gold is not None:  # the logarithm of the key by class; zero (no constraint) where nothing is known
        key = np.asarray(gold, dtype=np.float64).T
        safe = np.where((key >= 0.0).all(axis=0), np.maximum(key, 1e-200), 1.0)
        known = np.tile(np.log(safe), (2 if model == "strata" else 1, 1))
    return EMProblem(data, model, pseudo, known, data.blocks(), model == "strata")


def class_table(at: Parameters) -> Floats:
    """Log K_j[k][r] of every class: the rows themselves, and for hard items their mixtures with the habit.

    Returns
    -------
    (stack, classes, jurors * labels) array
    """
    if not at.has_strata:
        return at.table
    easy, habit, away = at.chances
    hard = (1.0 - away) * easy + away * habit  # easy + away * (habit - easy) rounds to zero where away is nearly one
    return np.concatenate([at.table[:, :-1], np.log(hard, out=hard)], axis=1)


@_QUIET
def e_step(problem: EMProblem, at: Parameters) -> tuple[Floats, Floats]:
    """E-step.

    Returns
    -------
    posterior : (stack, classes, T) array
        As precise as the matrix of votes.
    log_likelihood : (stack, T) array
        Of each tuple.
    """
    prior = np.exp(at.prior)
    chance, top, total = class_likelihoods(problem.data, class_table(at), prior, problem.known)
    return chance * (prior[:, :, None] / total[:, None]), np.asarray(top + np.log(total), dtype=np.float64)


def class_likelihoods(
    data: Incidence, table: Floats, prior: Floats, known: Floats | None
) -> tuple[Floats, Floats, Floats]:
    """The likelihood of each tuple's votes given each class, relative to the likeliest class.

    A sparse panel has little else to do per tuple, so all this is in single precision if its matrix is, three times as
    fast: a posterior is off by 1e-6. Its product leaves the classes of a tuple side by side in memory; to transpose
    that takes less time than to work across it.

    Returns
    -------
    likelihood : (stack, classes, T) array
        Relative to the likeliest class.
    top : (stack, T) array
        The log-likelihood given the likeliest class.
    total : (stack, T) array
        The sum over classes of `likelihood`, weighted by `prior`.
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


def improve(problem: EMProblem, at: Parameters) -> tuple[Parameters, Floats]:
    """One EM step.

    Returns
    -------
    end : Parameters
        After the step.
    objective : (stack,) array
        Log-likelihood plus log prior before the step.
    """
    table, prior = class_table(at), np.exp(at.prior)
    parts = []
    for block, rows in problem.blocks:  # items and votes by class, relative to the class's prevalence; log-likelihood
        known = None if problem.known is None else problem.known[:, rows]
        mass, top, total = class_likelihoods(block, table, prior, known)
        mass *= (block.weights / total).astype(mass.dtype, copy=False)[:, None]
        parts.append((*block.sums(mass), np.einsum("bt,bt->b", block.weights, top + np.log(total))))
    # A block's sums are as precise as its likelihoods, those of many blocks are double.
    share, counts, height = (
        parts[0] if len(parts) == 1 else (np.sum(part, axis=0, dtype=np.float64) for part in zip(*parts, strict=True))
    )
    counts *= prior[:, :, None]
    share = share.astype(np.float64, copy=False) * prior + problem.items
    # log density of the pseudo-votes, of the pseudo-items per class, and of h ~ Beta(2, 2)
    log_prior = np.einsum("bp,bp->b", at.flat, problem.weight_of_prior, dtype=np.float64)
    if at.has_strata:  # log h + log(1 - h) = logit h - 2 log(1 + odds of h)
        log_prior -= 2.0 * np.add.reduce(np.logaddexp(0.0, at.away), axis=1, dtype=np.float64)
    height += log_prior
    if problem.fixed_counts is not None:
        share += problem.fixed_counts[0]
        counts += problem.fixed_counts[1]
        height += np.einsum("bk,bk->b", at.prior, problem.fixed_counts[0], dtype=np.float64)
        height += np.einsum("bkc,bkc->b", table, problem.fixed_counts[1], dtype=np.float64)
    return _maximise(problem, share, counts, at), height


@cache
def _ones(size: int, kind: Any) -> Floats:
    """A column of ones: sums over few are quicker as products."""
    return np.ones((size, 1), dtype=kind)


def _maximise(problem: EMProblem, share: Floats, counts: Floats, at: Parameters | None) -> Parameters:
    """M-step: the parameters that make the counts by class and the pseudo-votes most likely."""
    data, odds = problem.data, None
    if problem.model == "strata":
        counts, odds = _split_by_habit(counts, at, data.jurors, data.labels)
    counts = (counts + problem.pseudo).reshape(data.stack, -1, data.jurors, data.labels)
    if problem.model == "one_coin":  # one accuracy per juror, with the errors spread evenly
        right = np.einsum("bljl->bj", counts)
        votes = np.matmul(counts.sum(axis=1), np.ones(data.labels, dtype=counts.dtype))
        wrong = (votes - right) / max(data.labels - 1, 1)
        counts = np.empty_like(counts)
        counts[:] = wrong[:, None, :, None]
        np.einsum("bljl->blj", counts)[:] = right[:, None]  # a view of the diagonals
    counts /= np.matmul(counts, _ones(data.labels, counts.dtype))
    share = share / np.add.reduce(share, axis=1, keepdims=True)
    if problem.tied:
        mix = share.reshape(data.stack, 2, data.labels)
        by_stratum, by_label = (np.add.reduce(mix, axis=axis, keepdims=True) for axis in (2, 1))
        share = (by_stratum * by_label).reshape(data.stack, -1)
    return Parameters.join(share, counts.astype(data.matrix.dtype, copy=False), odds, data.jurors, data.labels)


def _split_by_habit(counts: Floats, at: Parameters | None, jurors: int, labels: int) -> tuple[Floats, Floats]:
    """Split the votes on hard items between looking (K) and habit (g); the new odds of h, Beta(2, 2) a priori."""
    stack, _, cells = counts.shape
    easy, hard = counts[:, :labels], counts[:, labels:]
    share: Floats | float = 0.5  # of habit in the votes on hard items
    if at is not None:
        look, habit, away = at.chances
        by_habit = away * habit
        share = by_habit / (by_habit + (1.0 - away) * look)
    ways = np.empty((stack, 2, labels, cells), dtype=counts.dtype)  # by habit, by looking
    np.multiply(hard, share, out=ways[:, 0])
    np.subtract(hard, ways[:, 0], out=ways[:, 1])
    votes = np.add.reduce(ways, axis=2)
    rows = np.empty((stack, labels + 1, cells), dtype=counts.dtype)
    np.add(easy, ways[:, 1], out=rows[:, :-1])
    rows[:, -1] = votes[:, 0]
    odds = votes.reshape(stack, 2, jurors, labels) @ _ones(labels, votes.dtype) + 1.0
    return rows, (odds[:, 0] / odds[:, 1])[:, :, 0]


@dataclass(frozen=True)
class AnyParameters(_OnFlat):
    """EM steps of any problem, on Parameters.flat."""

    problem: EMProblem

    def improve(self, flat: Floats) -> tuple[Floats, Floats]:
        """One EM step, and the objective before it: log-likelihood plus log prior, panel by panel."""
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

    def _at(self, flat: Floats) -> Parameters:
        return Parameters(flat, self.problem.data.jurors, self.problem.data.labels)


Steps: TypeAlias = FewParameters | FewStrata | AnyParameters


def posteriors(score: Floats) -> tuple[Floats, Floats]:
    """The posterior of each class, from log P(votes, class) of each tuple, (stack, classes, T).

    Returns
    -------
    posterior : (stack, classes, T) array
    log_likelihood : (stack, T) array
        Of each tuple.
    """
    top = score.max(axis=1, keepdims=True)
    likelihood = np.exp(score - top)
    total = likelihood.sum(axis=1, keepdims=True)
    return likelihood / total, (top + np.log(total))[:, 0]


def iterate_em(
    step: Callable[[_State], tuple[_State, Any]], state: _State, limit: int, is_done: Callable[[Any, Any], Any]
) -> tuple[_State, Any, int, bool]:
    """EM rounds as published, without acceleration, for models that step on posteriors instead of `Parameters`.

    Parameters
    ----------
    step
        One round: the next state, and the objective (a float, or one for each panel of a stack).
    is_done
        Of the gain by a round and the objective: whether the iteration has converged.

    Returns
    -------
    state
        After the last round.
    objective
        Of the last round.
    rounds : int
    converged : bool
    """
    objective, rounds, converged = -np.inf, 0, False
    while rounds < limit and not converged:
        state, reached = step(state)
        rounds += 1
        converged = bool(is_done(reached - objective, reached))
        objective = reached
    return state, objective, rounds, converged


def run_em(
    problem: EMProblem, at: Parameters, tolerance: float, limit: int, *, relative: bool = False
) -> tuple[Parameters, int, bool]:
    """Run accelerated EM until neither a plain EM step nor the last long one gains much in any panel.

    On a plateau plain steps gain next to nothing for long; long ones show that it goes on. A `relative` tolerance is a
    share of the objective at the start, of the panel where that is lowest.

    Returns
    -------
    end : Parameters
        At the end.
    steps : int
        How many EM steps were computed.
    converged : bool
    """
    steps = problem.steps
    end, taken, converged, _ = _accelerate(steps, steps.enter(at.flat), tolerance, limit, relative=relative)
    return at.at(steps.leave(end)), taken, bool(converged.all())


def run_em_models(
    problems: Sequence[EMProblem], starts: Sequence[Parameters] | None, tolerance: float, limit: int,
    *, each_ends: bool = False,
) -> list[tuple[Parameters, int, bool]]:  # fmt: skip
    """Run EM for several models of the same votes, from the votes' shares if no start is given.

    The tolerance is per parameter. Where a step takes as long as its calls, models are fitted in one sweep, until all
    have converged; with `each_ends`, each is left where it converged itself.

    Returns
    -------
    list
        Of each problem what `run_em` returns.
    """
    few = [k for k, problem in enumerate(problems) if problem.is_side_by_side]
    ends: dict[int, tuple[Parameters, int, bool]] = {}
    if few:
        first, data = problems[few[0]], problems[few[0]].data
        steps = first.few(tuple(problems[k].model for k in few))
        if starts is None:
            here = steps.first(np.concatenate([_first_mass(first)] * len(few)))
        else:
            here = steps.enter(np.concatenate([starts[k].flat for k in few]))
        there, taken, converged, _ = _accelerate(steps, here, tolerance * here.shape[1], limit, each_ends=each_ends)
        flats = steps.leave(there).reshape(len(few), -1, here.shape[1])
        for k, flat, have in zip(few, flats, converged.reshape(len(few), -1), strict=True):
            ends[k] = Parameters(flat, data.jurors, data.labels), taken, bool(have.all())
    for k, problem in enumerate(problems):
        if k not in ends:
            at = first_parameters(problem) if starts is None else starts[k]
            ends[k] = run_em(problem, at, tolerance * at.flat.shape[1], limit)
    return [ends[k] for k in range(len(problems))]


@_QUIET
def _accelerate(
    steps: Steps,
    here: Floats,
    tolerance: float,
    limit: int,
    *,
    relative: bool = False,
    enough: float = np.inf,
    each_ends: bool = False,
) -> tuple[Floats, int, Flags, Floats]:
    """SQUAREM: where it ends, after how many steps, which panels have converged, and what each has gained at least.

    A gain that is `enough` in all panels ends it, too. With `each_ends`, every panel ends where it converged.
    """
    ends, ended = here, np.zeros(len(here), dtype=np.bool_)
    size, is_single = len(here), here.dtype == np.float32
    twice, floor = here, np.full(size, -np.inf)
    before, first, taken, converged = floor, np.zeros(size), 0, np.zeros(size, dtype=np.bool_)
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
        converged = (floor - start <= tolerance) & (by_long_step <= _LONG_GAIN * tolerance)
        if each_ends:
            ends = np.where(ended[:, None], ends, twice)
            converged = ended = converged | ended
        if np.count_nonzero(converged) == size or (
            enough < np.inf and np.count_nonzero(floor - first > enough) == size
        ):
            break
        before = start
        ahead = squarem_step(here, once, twice, _LONGEST)
        here = steps.normalise(np.minimum(np.maximum(ahead, -_FAR, out=ahead), _FAR, out=ahead))
    return ends if each_ends else twice, taken, converged, floor - first


def fit_strata(
    problem: EMProblem, at: Parameters, tolerance: float, limit: int, rough: float = ROUGH_TOLERANCE
) -> tuple[Parameters, int, bool]:
    """Fit, with strata first tied and roughly, then with a label mix per stratum in the panels that gain by it.

    A panel gains where twice the gain exceeds about the 99.9% point of chi-square, by Wilson and Hilferty's cube: 11.2
    for one degree of freedom, exactly 10.8. The exact point (scipy's chdtri) lets a few more replicates of an interval
    have a label mix per stratum.

    Returns
    -------
    end : Parameters
        At the end.
    steps : int
    converged : bool
    """
    if not problem.tied:
        return run_em(problem, at, tolerance, limit)
    at, steps, _ = run_em(problem, at, rough * tolerance, limit)
    if steps >= limit:
        return at, steps, False
    freedom = problem.data.labels - 1
    spread = 2.0 / (9.0 * freedom)
    worth = 0.5 * float(freedom * (1.0 - spread + 3.09 * spread**0.5) ** 3)
    loose = replace(problem, tied=False)
    trial, more, _, gain = _accelerate(loose.steps, at.flat, 0.0, _TRIAL, enough=worth)
    steps += more
    is_loose = gain > worth
    ends, all_converged = at.flat, True
    for which, start, kind in ((~is_loose, at, problem), (is_loose, at.at(trial), loose)):
        if which.any():
            end, more, converged = run_em(kind, start, tolerance, max(limit - steps, 2))
            ends = np.where(which[:, None], end.flat, ends)
            steps, all_converged = steps + more, all_converged and converged
    return at.at(ends), steps, all_converged


def first_parameters(problem: EMProblem, labels: Floats | None = None) -> Parameters:
    """Start from smoothed vote shares, or from the label posterior (stack, R, T) of an earlier fit.

    With strata, the items without a clear majority are the harder ones.

    Returns
    -------
    start : Parameters
    """
    mass = _first_mass(problem, labels)
    return _maximise(problem, mass.sum(axis=2, dtype=np.float64) + problem.items, problem.data.counts(mass), None)


def _first_mass(problem: EMProblem, labels: Floats | None = None) -> Floats:
    """Items by class and tuple (stack, classes, T) before the first step."""
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


# -- canonical order ------------------------------------------------------------------------------------------------

Words: TypeAlias = NDArray[np.uint64]
CanonicalRanks: TypeAlias = tuple[Integers, Integers]  #: of jurors, and of tuples
_ROUNDS = 3
_GOLDEN, _FIRST = np.uint64(0x9E3779B97F4A7C15), np.uint64(30)  # the constants of splitmix64
_TURNS = tuple((np.uint64(s), np.uint64(f)) for s, f in ((27, 0xBF58476D1CE4E5B9), (31, 0x94D049BB133111EB)))


def canonical_ranks(data: Incidence) -> CanonicalRanks:
    """The rank of each juror and of each tuple by colour, for the first panel of a stack.

    Returns
    -------
    jurors : (N,) array of int
    tuples : (T,) array of int

    Examples
    --------
    >>> table = np.array([[0, 0, 1], [0, 1, 1], [1, 1, 1]])
    >>> jurors, tuples = canonical_ranks(Incidence.from_codes(table, [5, 2, 3], labels=2))
    >>> turned = canonical_ranks(Incidence.from_codes(1 - table[:, ::-1], [5, 2, 3], labels=2))
    >>> (turned[0] == jurors[::-1]).all(), (turned[1] == tuples).all()
    (np.True_, np.True_)
    """
    if data.is_dense:
        row, cell = np.nonzero(data.matrix[0])
    else:
        ends = data.matrix.indptr[: data.rows + 1]
        row, cell = np.repeat(np.arange(data.rows), np.diff(ends)), data.matrix.indices[: ends[-1]].astype(np.int64)
    juror = cell // data.labels
    # A side is the votes for one label on one tuple. Sides lie label by label, so that sums run along memory.
    side = np.multiply(juror, -data.labels)
    side += cell
    side *= data.rows
    side += row
    items = data.weights[0].astype(np.uint64)
    sizes = np.bincount(side, minlength=data.rows * data.labels).astype(np.uint64).reshape(data.labels, -1)
    sides = sizes * _ALIKE  # at first all jurors are alike, and all labels: a sum over a side is its size
    for last in range(_ROUNDS - 1, -1, -1):
        tuples = _mixed(np.add.reduce(_mixed(sides), axis=0) + items)
        words = items * _mixed(sides + tuples)
        jurors = _sums(juror, words.ravel()[side], data.jurors)
        if last:
            mixed = _mixed(np.concatenate([jurors, np.add.reduce(sizes * words, axis=1)]))
            sides = _sums(side, mixed[juror], sizes.size).reshape(sizes.shape) + mixed[data.jurors :, None]
    ranks, order = _ranks(jurors), np.argsort(tuples, kind="stable")
    if data.is_dense and (tuples[order[1:]] == tuples[order[:-1]]).any():  # mirror images: by votes, in that order
        votes = data.matrix[0].reshape(data.rows, data.jurors, data.labels)[:, np.argsort(ranks)]
        order = np.lexsort((*votes[:, :, np.argsort(mixed[data.jurors :])].reshape(data.rows, -1).T, tuples))
    return ranks, _inverse(order)


def _mixed(words: Words) -> Words:
    """Spread every bit over all of them (splitmix64)."""
    words = words + _GOLDEN
    high = words >> _FIRST  # in place from here on: new memory takes longer than what is done in it
    for shift, factor in _TURNS:
        words ^= high
        words *= factor
        np.right_shift(words, shift, out=high)
    words ^= high
    return words


def _sums(place: Integers, words: Words, size: int) -> Words:
    total = np.zeros(size, dtype=np.uint64)
    np.add.at(total, place, words)
    return total


_ALIKE = _mixed(np.zeros(1, dtype=np.uint64))


def _ranks(words: Words) -> Integers:
    return _inverse(np.argsort(words, kind="stable"))


def _inverse(order: Integers) -> Integers:
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return ranks
