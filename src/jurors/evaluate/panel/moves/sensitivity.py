"""How a fit moves when items weigh a little more or less: standard errors without fitting again.

At the end of EM the parameters θ stand still, θ = M(θ, w). Items whose weights change by ε move them by x with
    x = M' x + b,    b = ∂M/∂w · ε,
one linear equation for every direction ε (the infinitesimal jackknife). In units of what complete data know of each
parameter (`movable`), both are products of few sparse matrices, and a projection that keeps chances adding up to 1:
    M' = Lᵀ Zᵀ (1 - Pᵀ P) Z L + Sᵀ S,    b = Lᵀ Zᵀ Pᵀ ε / √w.
L leads from parameters to the logarithms of every class's chances, Z sums them over the votes of an item's class, times
the root of its mass w q, and P has a row √q for every item: 1 - Pᵀ P is the posteriors' change dq = q (s - Σ q s). S is
what habit takes from looking. So 1 - M' is symmetric and positive (Dempster, Laird and Rubin 1977), and conjugate
gradients solve for all directions at once, in single precision: a standard error has two digits.

Z has rows for the classes that are likely on an item only, half of all where there are many. Without the others P keeps
rows of length 1, and M' its form: standard errors change by what was left out, not by what it does to a solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.evaluate.panel.expectation import Parameters, Problem, expect
from jurors.evaluate.panel.moves.movable import Movable, movable
from jurors.numbers.arrays import Flags, Integers, Singles

# Of the mean doubt q (1 - q) about a class of an item: classes with a chance of less are left out. It is .0005 of all
# doubt, and changes standard errors of five real panels by .005 at most in the middle, by .024 at worst; three times
# as much changes them by .015 and .06.
NEGLIGIBLE = 0.01
# Rounds of conjugate gradients, and the share of the complete data's information below which nothing is known of a
# direction. Farther, or where it is flatter, lie the plateaus of a fit, where no refit goes: 10 rounds and a share .002
# made standard errors of adult_content2, relevance4 and mmlu_pro up to 2.5 times those of 60 converged refits.
_MOST_ROUNDS, _FLATTEST = 6, 0.06
_SETTLED = 1e-3  # of the square of what there was to solve
_TINY = np.finfo(np.float32).tiny  # where items of no weight would divide by zero
_WIDE = 16  # parameters taken side by side: a row of directions alone is too short to be quick


@dataclass(frozen=True)
class Linearised:
    """One EM step around the end of a fit, as a linear map of directions (last axis)."""

    problem: Problem
    at: Parameters
    negligible: float = NEGLIGIBLE

    def solve(self, drawn: Singles) -> Singles:
        """(K, cells + 1, B): how votes of each class, and last its items, move when items' weights change by (T, B).

        A direction in which the fit stands on a plateau, or has not arrived, has no end to move to: it is left there.
        """
        rest = self.asked(drawn)
        ahead = rest.copy()
        end = np.zeros((len(self._places), rest.shape[1]), dtype=np.float32)
        first = square = whole = _inner(rest, rest)  # squares of what was, and is, left, and of what is ahead
        going: Flags = np.ones(rest.shape[1], dtype=bool)
        for _ in range(_MOST_ROUNDS):
            going &= square > _SETTLED * first
            if not going.any():
                break
            answer, moved = self.step(ahead)
            bent = np.subtract(ahead, answer, out=answer)
            curved = _inner(ahead, bent)
            going &= curved > _FLATTEST * whole
            length = _ratio(square, curved, going)
            _scale(moved, length)
            end += moved
            _scale(bent, length)
            rest -= bent
            before, square = square, _inner(rest, rest)
            longer = _ratio(square, before, going)
            _scale(ahead, longer)
            ahead += rest
            whole = square + longer**2 * whole  # what is left is square to what was tried
        return self._everywhere(end)

    def asked(self, drawn: Singles) -> Singles:
        """b where the weights of items change by (T, B)."""
        return self.parameters.gather(self._votes.T @ (self._roots @ (drawn / self._root_weights[:, None])))

    def step(self, direction: Singles) -> tuple[Singles, Singles]:
        """M' applied to a direction, and the votes and items that move in places."""
        votes, turned_votes, roots, turned_roots = self._in_doubt
        score = votes @ (self.parameters.chances @ direction)
        score -= turned_roots @ (roots @ score)
        moved = turned_votes @ score
        return self.parameters.gather(moved, direction), moved

    @cached_property
    def parameters(self) -> Movable:
        """What may move."""
        counts = self._counts.ravel()[self._places].astype(np.float64)
        return movable(self.problem, self.at, self._places, counts)

    @cached_property
    def chance(self) -> Singles:
        """(T, K) posteriors of what is likely."""
        chance: Singles = expect(self.problem, self.at)[0][0].T.astype(np.float32, order="C")
        mass = self._weights[:, None] * chance
        chance *= mass > self.negligible * (mass * (1.0 - chance)).mean()
        chance /= np.maximum(np.matmul(chance, np.ones((chance.shape[1], 1), dtype=np.float32)), _TINY)
        return chance

    @cached_property
    def _weights(self) -> Singles:
        return np.asarray(self.problem.data.weights[0], dtype=np.float32)

    @cached_property
    def _root_weights(self) -> Singles:
        return np.sqrt(np.maximum(self._weights, _TINY))

    @cached_property
    def _counts(self) -> Singles:
        """(K, cells + 1) expected votes of each class in each cell, and last its items."""
        mass = self.chance * self._weights[:, None]
        items = np.matmul(np.ones((1, len(mass)), dtype=np.float32), mass)
        return np.concatenate([self.problem.data.into_cells(mass), items]).T

    @cached_property
    def _places(self) -> Integers:
        """Where there are any: class * (cells + 1) + cell."""
        return np.flatnonzero(self._counts)

    def _everywhere(self, in_places: Singles) -> Singles:
        moved = np.zeros((self._counts.size, in_places.shape[1]), dtype=np.float32)
        moved[self._places] = in_places
        return moved.reshape(*self._counts.shape, -1)

    @cached_property
    def _likely(self) -> tuple[Integers, Integers, int]:
        """Class and item of all that is likely, class after class: then a product reads little memory at a time.

        Items that have but one class stand at the end, behind so many others: they weigh, and are never in doubt.
        """
        klass, item = np.nonzero(self.chance.T)
        in_doubt = np.bincount(item)[item] > 1
        order = np.concatenate([np.flatnonzero(in_doubt), np.flatnonzero(~in_doubt)])
        return klass[order], item[order], int(np.count_nonzero(in_doubt))

    @cached_property
    def _roots(self) -> Any:
        """The transpose of P, and below it items of one class."""
        klass, item, _ = self._likely
        pointer, root = np.arange(len(item) + 1, dtype=np.int32), np.sqrt(self.chance[item, klass])
        return _rows((root, item.astype(np.int32), pointer), (len(item), self.problem.data.rows))

    @cached_property
    def _votes(self) -> Any:
        """Z, and below it items of one class."""
        klass, item, _ = self._likely
        rows = self._with_items()[item]
        length = np.diff(rows.indptr)
        place = rows.indices + np.repeat((klass * rows.shape[1]).astype(rows.indices.dtype), length)
        column = np.zeros(self._counts.size, dtype=place.dtype)
        column[self._places] = np.arange(len(self._places))
        mass = np.repeat(self._roots.data * self._root_weights[item], length)
        return _rows((mass, column[place], rows.indptr), (len(item), len(self._places)))

    def _with_items(self) -> Any:
        """(T, cells + 1): who said what, and in a last cell that there is the item."""
        matrix = self.problem.data.matrix
        rows, cells = matrix.shape
        index = np.insert(matrix.indices, matrix.indptr[1:], cells)
        pointer = matrix.indptr + np.arange(rows + 1, dtype=matrix.indptr.dtype)
        return _rows((np.ones(len(index), dtype=np.int8), index, pointer), (rows, cells + 1))

    @cached_property
    def _in_doubt(self) -> tuple[Any, Any, Any, Any]:
        """Z, its transpose, P and its transpose."""
        votes, roots = (_first_rows(matrix, self._likely[2]) for matrix in (self._votes, self._roots))
        return votes, votes.T, roots.T, roots


def _rows(parts: tuple[NDArray[Any], NDArray[Any], NDArray[Any]], shape: tuple[int, int]) -> Any:
    """A sparse matrix of values, columns, and where rows begin and end."""
    from scipy.sparse import csr_array

    return csr_array(parts, shape=shape)


def _first_rows(matrix: Any, rows: int) -> Any:
    """Without a copy."""
    end = matrix.indptr[rows]
    return _rows((matrix.data[:end], matrix.indices[:end], matrix.indptr[: rows + 1]), (rows, matrix.shape[1]))


def _ratio(one: Singles, other: Singles, going: Flags) -> Singles:
    """Zero for directions that are left where they are."""
    return np.divide(one, other, out=np.zeros_like(one), where=going)


def _scale(one: Singles, by: Singles) -> None:
    """Each direction by its own length, in place."""
    whole = len(one) - len(one) % _WIDE
    side_by_side = one[:whole].reshape(-1, _WIDE * len(by))  # a view
    side_by_side *= np.tile(by, _WIDE)
    one[whole:] *= by


def _inner(one: Singles, other: Singles) -> Singles:
    """(B,)"""
    whole = len(one) - len(one) % _WIDE
    sums = np.einsum("pw,pw->w", *(x[:whole].reshape(-1, _WIDE * x.shape[1]) for x in (one, other)))
    rest = np.einsum("pb,pb->b", one[whole:], other[whole:])
    return np.asarray(sums.reshape(_WIDE, -1).sum(axis=0) + rest)
