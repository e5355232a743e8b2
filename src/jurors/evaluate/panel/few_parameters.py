"""EM steps for panels of few parameters, where a step takes as long as its calls.

A class's logarithms θ stand side by side, one for every cell and last how common the class is, and every tuple has a
one behind its votes. Then a step is three products:
    E:  log q = θ X, but for what all classes of a tuple share      counts = (w q) Xᵀ + pseudo-counts
    M:  θ = log(counts / counts G)
where G sums those whose chances make up 1; and for one accuracy per juror, counts S before that, which adds up all its
right votes and shares out all its wrong ones. Models without strata differ in nothing else, so that several are fitted
in one sweep. With strata, the classes of hard items are mixtures, and their votes are shared out (`latent`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from jurors.numbers.arrays import Floats, Integers
from jurors.sketch.incidence import Incidence

_MOST = 128  # parameters: products of all pairs of them take no longer than a few calls
_SHORT = 4  # jurors whose chances all together are numbers above zero, even where a long step has made each e^-122


def are_few(data: Incidence) -> bool:
    """Whether a panel has so few parameters by any model."""
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


@dataclass(frozen=True)
class FewParameters:
    """The steps of models with one class per label, side by side; θ is (stack, parameters)."""

    expectation: _Expectation
    pseudo: Floats  #: (stack or 1, parameters) pseudo-counts
    models: tuple[str, ...]  #: of equal parts of the stack, one after the other

    @classmethod
    def of(
        cls, data: Incidence, models: tuple[str, ...], pseudo: Floats, items: float, known: Floats | None
    ) -> FewParameters:
        """Models of the same votes, with pseudo-votes (stack or 1, labels, cells) and pseudo-items per class."""
        last = np.full((*pseudo.shape[:2], 1), items)
        before = np.concatenate([pseudo, last], axis=2).reshape(len(pseudo), -1)
        stacked = data if len(models) == 1 else replace(data, weights=np.concatenate([data.weights] * len(models)))
        return cls(_Expectation(stacked, data.labels, known), before, models)

    @property
    def data(self) -> Incidence:
        """The votes, once for every model."""
        return self.expectation.data

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
        """θ that makes the counts and the pseudo-counts most likely, in their place."""
        counts += self.pseudo
        groups, spread = self._maps
        for part in self._even:
            counts[part] = counts[part].dot(spread)
        counts /= counts.dot(groups)
        return np.log(counts, out=counts)

    def first(self, mass: Floats) -> Floats:
        """θ to begin with, of every model, from items by class and tuple (stack of all models, classes, T)."""
        return self._maximise(self.expectation.tally(mass))

    def normalise(self, at: Floats) -> Floats:
        """Bring extrapolated logarithms back to probabilities that add up to one, in their place."""
        at -= np.log(np.exp(at).dot(self._maps[0]))
        return at

    def enter(self, flat: Floats) -> Floats:
        """θ of parameters in another order: how common the classes are, then the cells, class by class."""
        stack, classes = len(flat), self.data.labels
        parts = flat[:, classes:].reshape(stack, classes, -1), flat[:, :classes, None]
        return np.concatenate(parts, axis=2).reshape(stack, -1)

    def leave(self, at: Floats) -> Floats:
        """The way back."""
        stack, by_class = len(at), at.reshape(len(at), self.data.labels, -1)
        return np.concatenate([by_class[:, :, -1], by_class[:, :, :-1].reshape(stack, -1)], axis=1)


@cache
def _plain_maps(jurors: int, labels: int) -> tuple[Floats, Floats]:
    """G, and S of one accuracy per juror."""
    cells = jurors * labels
    klass, cell = np.divmod(np.arange(labels * (cells + 1)), cells + 1)
    juror, said = np.divmod(cell, labels)
    is_vote, is_wrong = cell < cells, said != klass
    voice = np.where(is_vote, 2 * juror + is_wrong, -1 - klass)
    wrong_labels = np.where(is_vote & is_wrong, max(labels - 1, 1), 1)
    return _same(np.where(is_vote, klass * jurors + juror, -1)), _same(voice) / wrong_labels


def _same(group: Integers) -> Floats:
    """A matrix that sums those of the same group, and puts the sum in the place of each."""
    return np.equal.outer(group, group).astype(np.float64)


@dataclass(frozen=True)
class FewStrata:
    """The steps of strata, on parameters as all others have them: prior, K, g, and the logits of h.

    On hard items a vote is habit with chance h g / (h g + (1 - h) K), and looking else.
    """

    data: Incidence
    pseudo: Floats  #: (stack, parameters) pseudo-counts, and ones for h ~ Beta(2, 2)
    known: Floats | None  #: (classes, T) log of the answer key
    tied: bool  #: whether a label is as frequent among hard items as among easy ones

    @cached_property
    def _expectation(self) -> _Expectation:
        return _Expectation(self.data, 2 * self.data.labels, self.known)

    @cached_property
    def _maps(self) -> _StrataMaps:
        return _strata_maps(self.data.jurors, self.data.labels)

    @cached_property
    def _parts(self) -> tuple[slice, slice, slice]:
        """Where K, g and the logits stand, behind the prior."""
        classes, cells = 2 * self.data.labels, self.data.jurors * self.data.labels
        first, second = classes + self.data.labels * cells, classes + (self.data.labels + 1) * cells
        return slice(classes, first), slice(first, second), slice(second, None)

    def improve(self, at: Floats) -> tuple[Floats, Floats]:
        """One EM step, and the objective before it: log-likelihood plus log prior, panel by panel."""
        (looks, habits, logits), labels, maps = self._parts, self.data.labels, self._maps
        rows = (len(at), labels, -1)
        chance = np.exp(at)
        odds = chance[:, logits]
        wide = odds + 1.0
        away = (odds / wide).dot(maps.to_cells)[:, None]
        habit = away * chance[:, None, habits]
        hard = (1.0 - away) * chance[:, looks].reshape(rows)
        hard += habit
        theta = np.empty((len(at), 2 * labels, maps.cells + 1))
        theta[:, :labels, :-1] = at[:, looks].reshape(rows)
        np.log(hard, out=theta[:, labels:, :-1])
        theta[:, :, -1] = at[:, : 2 * labels]
        counts, height = self._expectation.counts(theta)
        height += np.vecdot(at, self.pseudo)
        np.log(wide, out=wide)
        height -= 2.0 * np.add.reduce(wide, 1)  # log h + log(1 - h) = logit h - 2 log(1 + odds of h)
        habit = habit / hard
        return self._maximise(counts.reshape(theta.shape), habit), height

    def _maximise(self, counts: Floats, habit: Floats) -> Floats:
        """The parameters that make counts and pseudo-counts most likely, with such a share of habit in hard votes."""
        (looks, habits, logits), labels, maps = self._parts, self.data.labels, self._maps
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
            prior[:] = prior.dot(maps.by_stratum) * prior.dot(maps.by_label)
        chances = end[:, : logits.start]
        chances /= chances.dot(maps.groups)
        to_jurors = maps.to_cells.T
        np.divide(idle.dot(to_jurors) + 1.0, awake.dot(to_jurors) + 1.0, out=end[:, logits])
        return np.log(end, out=end)

    def normalise(self, at: Floats) -> Floats:
        """Bring extrapolated logarithms back to probabilities that add up to one, in their place."""
        chances = at[:, : self._parts[2].start]
        chances -= np.log(np.exp(chances).dot(self._maps.groups))
        return at

    def enter(self, flat: Floats) -> Floats:
        """Parameters as they are stepped on: the same."""
        return flat

    leave = enter


@dataclass(frozen=True)
class _StrataMaps:
    groups: Floats  #: sums those whose chances make up 1
    by_stratum: Floats
    by_label: Floats
    to_cells: Floats  #: (jurors, cells): each juror's own
    cells: int


@cache
def _strata_maps(jurors: int, labels: int) -> _StrataMaps:
    cells, klass = jurors * labels, np.arange(2 * labels)
    row = np.concatenate([np.full(2 * labels, -1), np.arange((labels + 1) * cells) // labels])
    to_cells = np.repeat(np.eye(jurors), labels, axis=1)
    return _StrataMaps(_same(row), _same(klass // labels), _same(klass % labels), to_cells, cells)
