"""EM steps for panels of few parameters, where a step takes as long as its calls.

A class's logarithms stand side by side, one for every cell and last how common the class is, and every tuple has a one
behind its votes. Then a step is three products:
    E:  log q = θ X, but for what all classes of a tuple share      counts = (w q) Xᵀ + pseudo-counts
    M:  θ = log(counts / counts G)
where G sums those whose chances make up 1; and for one accuracy per juror, counts S before that, which adds up all its
right votes and shares out all its wrong ones. Models differ in nothing else, so that several are fitted in one sweep.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from jurors.numbers.arrays import Floats
from jurors.sketch.incidence import Incidence

MOST = 128  #: parameters: products of all pairs of them take no longer than a few calls
_SHORT = 10  # jurors whose chances all together are numbers above zero, even where each is e^-60


@dataclass(frozen=True)
class FewParameters:
    """The steps of a stack of dense panels, of one class per label; θ is (stack, parameters)."""

    data: Incidence
    pseudo: Floats  #: (stack or 1, parameters) pseudo-counts
    known: Floats | None  #: (classes, T) log of the answer key
    models: tuple[str, ...]  #: of equal parts of the stack, one after the other

    @classmethod
    def of(
        cls, data: Incidence, models: tuple[str, ...], pseudo: Floats, items: float, known: Floats | None
    ) -> FewParameters:
        """Models of the same votes side by side, with pseudo-votes (stack or 1, labels, cells), and items per class."""
        last = np.full((*pseudo.shape[:2], 1), items)
        before = np.concatenate([pseudo, last], axis=2).reshape(len(pseudo), -1)
        stacked = data if len(models) == 1 else replace(data, weights=np.concatenate([data.weights] * len(models)))
        return cls(stacked, before, known, models)

    @cached_property
    def _votes(self) -> tuple[Floats, Floats]:
        """X and its transpose."""
        hot = self.data.turned_with_ones
        return hot, np.ascontiguousarray(hot.swapaxes(-1, -2))

    @cached_property
    def _shapes(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Of θ and of masses in products, and of masses by panel; panels that share their votes are rows of one."""
        stack, classes, rows = self.data.stack, self.data.labels, self.data.rows
        outer = (stack * classes,) if self.data.is_shared else (stack, classes)
        return (*outer, -1), (*outer, rows), (stack, classes, rows)

    @cached_property
    def _maps(self) -> tuple[Floats, Floats]:
        return _maps(self.data.jurors, self.data.labels)

    @cached_property
    def _even(self) -> tuple[slice, ...]:
        """The panels with one accuracy per juror."""
        size = self.data.stack // len(self.models)
        return tuple(slice(k * size, (k + 1) * size) for k, model in enumerate(self.models) if model == "one_coin")

    def improve(self, at: Floats) -> tuple[Floats, Floats]:
        """One EM step, and the objective before it: log-likelihood plus log prior, panel by panel."""
        (hot, turned), (of_rows, of_mass, by_panel), weights = self._votes, self._shapes, self.data.weights
        product: Any = np.dot if len(of_rows) == 2 else np.matmul  # the former takes half as long
        mass = product(at.reshape(of_rows), hot).reshape(by_panel)
        if self.known is not None:
            mass += self.known
        top = None
        if self.data.jurors > _SHORT:
            top = np.maximum.reduce(mass, 1)
            mass -= top[:, None]
        np.exp(mass, out=mass)
        total = np.add.reduce(mass, 1)
        mass *= (weights / total)[:, None]
        once = self._maximise(product(mass.reshape(of_mass), turned).reshape(at.shape))
        np.log(total, out=total)
        if top is not None:
            total += top
        height = np.vecdot(weights, total)
        height += np.vecdot(at, self.pseudo)
        return once, height

    def _maximise(self, counts: Floats) -> Floats:
        """θ that makes the counts and the pseudo-counts most likely, in their place."""
        counts += self.pseudo
        groups, spread = self._maps
        for part in self._even:
            counts[part] = counts[part].dot(spread)
        counts /= counts.dot(groups)
        return np.log(counts, out=counts)

    def first(self, mass: Floats) -> Floats:
        """θ to begin with, of every model, from items by class and tuple (stack of one model, classes, T)."""
        counts = np.matmul(mass, self._votes[1]).reshape(len(mass), -1)
        return self._maximise(np.concatenate([counts] * len(self.models)))

    def normalise(self, at: Floats) -> Floats:
        """Bring extrapolated logarithms back to probabilities that add up to one."""
        whole = np.exp(at).dot(self._maps[0])
        np.log(whole, out=whole)
        return np.asarray(np.subtract(at, whole, out=whole))

    def enter(self, flat: Floats) -> Floats:
        """θ of parameters in another order: how common the classes are, then the cells, class by class."""
        stack, classes = len(flat), self.data.labels
        parts = flat[:, classes:].reshape(stack, classes, -1), flat[:, :classes, None]
        return np.concatenate(parts, axis=2).reshape(stack, -1)

    def leave(self, at: Floats) -> Floats:
        """The way back."""
        stack, by_class = len(at), at.reshape(len(at), self.data.labels, -1)
        return np.concatenate([by_class[:, :, -1], by_class[:, :, :-1].reshape(stack, -1)], axis=1)


def are_few(data: Incidence) -> bool:
    """Whether a panel has so few parameters, of one class per label."""
    return data.is_dense and data.labels * (data.jurors * data.labels + 1) <= MOST


@cache
def _maps(jurors: int, labels: int) -> tuple[Floats, Floats]:
    """G, and S of one accuracy per juror."""
    cells = jurors * labels
    klass, cell = np.divmod(np.arange(labels * (cells + 1)), cells + 1)
    juror, said = np.divmod(cell, labels)
    is_vote, is_wrong = cell < cells, said != klass
    row = np.where(is_vote, klass * jurors + juror, -1)
    voice = np.where(is_vote, 2 * juror + is_wrong, -1 - klass)
    wrong_labels = np.where(is_vote & is_wrong, max(labels - 1, 1), 1)
    return np.equal.outer(row, row).astype(np.float64), np.equal.outer(voice, voice) / wrong_labels
