"""The infinitesimal jackknife: how a fit changes when items weigh a little more or less, without fitting again.

In: the end of an EM fit (`Linearised`). Out: how the expected votes of each class move for given changes of the items'
weights, from which `uncertainty.intervals` computes standard errors.

At the end of EM the parameters θ are a fixed point, θ = M(θ, w). Items whose weights change by ε move them by x with
    x = M' x + b,    b = ∂M/∂w · ε,
one linear equation for every direction ε. A parameter is a logarithm (of looking away, a logit) times the root of the
information on it if every item's class, and every vote by habit, were known (`Movable`): directions then have the plain
inner product. Logarithms of probabilities p that add up to 1 move at right angles to the roots √p; any component along
those is projected out. In these units both are products of few sparse matrices, and that projection:
    M' = Lᵀ Zᵀ (1 - Pᵀ P) Z L + Sᵀ S,    b = Lᵀ Zᵀ Pᵀ ε / √w.
L leads from parameters to the log-probabilities of every class, Z sums them over the votes of an item's class, times
the root of its mass w q, and P has a row √q for every item: 1 - Pᵀ P is the posteriors' change dq = q (s - Σ q s). S
is what habit takes from looking. So 1 - M' is symmetric and positive (Dempster, Laird and Rubin 1977), and conjugate
gradients solve for all directions at once, in single precision: a standard error has two digits.

Z has rows for the classes that are likely on an item only, half of all where there are many. Without the others P keeps
rows of length 1, and M' its form: standard errors change by what was left out, not by what it does to a solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from jurors._numeric import Flags, Floats, Integers, Singles, sparse
from jurors.evaluate.latent.em import EMProblem, Parameters, e_step

_Term: TypeAlias = tuple[Integers, Integers, Floats]  # rows, columns and values of a matrix
# Of the mean doubt q (1 - q) about a class of an item: less probable classes are left out. It is .0005 of all doubt,
# and changes standard errors of five real panels by .005 at most in the middle, by .024 at worst; three times as much
# changes them by .015 and .06.
NEGLIGIBLE = 0.01


class Precision(NamedTuple):
    """How far conjugate gradients go."""

    rounds: int
    flattest: float  #: share of the complete data's information below which nothing is known of a direction
    settled: float  #: share of the square of the right-hand side below which a residual is zero


# Farther, or where it is flatter, lie the plateaus of a fit, where no refit goes: 10 rounds and a share .002 made
# standard errors of adult_content2, relevance4 and mmlu_pro up to 2.5 times those of 60 converged refits.
ROUGH = Precision(6, 0.06, 1e-3)
# Of few jurors with many votes each, more is known: this is within 2% of 1,000 converged refits where errors are
# independent (the other 5% below). Where items differ in difficulty, errors are 2.0 standard errors, and by refits 2.2.
CLOSE = Precision(20, 0.02, 1e-6)
_TINY = np.finfo(np.float32).tiny  # where items of no weight would divide by zero
_WIDE = 16  # parameters taken side by side: a row of directions alone is too short to be quick


@dataclass(frozen=True)
class Movable:
    """Matrices with a column for every parameter."""

    chances: Any  #: L, to the log-probabilities of votes given the class, and of classes
    splits: Any  #: S, to what habit takes from looking where votes on hard items could be either; None without strata
    wholes: Any  #: a row √p for all probabilities p that add up to 1
    unit: Floats  #: (parameters,) root of the information

    @cached_property
    def _transposed(self) -> tuple[Any, Any, Any]:
        return self.chances.T, None if self.splits is None else self.splits.T, self.wholes.T

    def gather(self, votes: Singles, direction: Singles | None = None) -> Singles:
        """The change of the M-step when votes change, and habit with the parameters themselves."""
        chances, splits, wholes = self._transposed
        answer: Singles = chances @ votes
        if splits is not None and direction is not None:
            answer += splits @ (self.splits @ direction)
        answer -= wholes @ (self.wholes @ answer)
        return answer


def movable(problem: EMProblem, at: Parameters, places: Integers, counts: Floats) -> Movable:
    """The parameters around a fit with so many votes in some places, which are the rows of `chances`.

    A place is class * (cells + 1) + cell; the last cell of every class counts its items.

    Returns
    -------
    Movable
    """
    columns, cells = _Columns(problem, at), at.table.shape[2]
    klass, cell = np.divmod(places, cells + 1)
    is_vote, is_hard = cell < cells, klass >= at.labels
    items, plain, hard = (np.flatnonzero(which) for which in (~is_vote, is_vote & ~is_hard, is_vote & is_hard))
    terms = [(items, column, np.ones(len(items))) for column in columns.mix(klass[items])]
    terms.append((plain, columns.look(klass[plain], cell[plain]), np.ones(len(plain))))
    if not at.has_strata:
        known = columns.known(terms, counts)
        unit = np.sqrt(known)
        return Movable(_matrix(terms, len(places), unit), None, columns.wholes(known), unit)
    # Votes on hard items are by looking or by habit, and `by_habit` is the share of each: the derivatives of the
    # log-probabilities of mixtures by the table's rows, and by the logits of looking away.
    label, hard_cell, count = klass[hard] - at.labels, cell[hard], counts[hard]
    juror = hard_cell // at.labels
    away = np.asarray(1.0 / (1.0 + np.exp(-at.away[0].astype(np.float64))))[juror]
    look, habit = (np.exp(at.table[0][row, hard_cell], dtype=np.float64) for row in (label, -1))
    by_habit = np.asarray(away * habit / (away * habit + (1.0 - away) * look))
    to_look, to_habit = columns.look(label, hard_cell), columns.look(np.full_like(label, at.labels), hard_cell)
    to_away = len(columns.pseudo) + juror
    terms += [(hard, to_look, 1.0 - by_habit), (hard, to_habit, by_habit)]
    known = columns.known(terms, counts)
    # The information on looking away, from votes by habit and by looking, one pseudo-vote each.
    idle, awake = (np.bincount(juror, count * share, at.jurors) + 1.0 for share in (by_habit, 1.0 - by_habit))
    unit = np.sqrt(np.concatenate([known, idle * awake / (idle + awake)]))
    chances = _matrix([*terms, (hard, to_away, by_habit - away)], len(places), unit)
    # S: how many votes go over from looking to habit where habit becomes more probable.
    row, open_ = np.arange(len(hard)), np.sqrt(count * by_habit * (1.0 - by_habit))
    splits = _matrix([(row, to_look, -open_), (row, to_habit, open_), (row, to_away, open_)], len(row), unit)
    return Movable(chances, splits, columns.wholes(known), unit)


@dataclass(frozen=True)
class _Columns:
    """The column of each parameter: the label mix, the table's rows, and after all those, looking away."""

    problem: EMProblem
    at: Parameters

    @cached_property
    def _is_even(self) -> bool:
        """Whether a juror has one accuracy: a probability of right votes, and one of wrong ones."""
        return self.problem.model == "one_coin"

    @cached_property
    def _mixes(self) -> tuple[int, ...]:
        """How many probabilities make up the label mix: those of classes, or of labels and of strata."""
        return (self.at.labels, 2) if self.at.is_tied else (self.at.prior.shape[1],)

    @cached_property
    def _first(self) -> int:
        return sum(self._mixes)

    def mix(self, klass: Integers) -> list[Integers]:
        """The columns of the prevalences of classes."""
        size = self.at.labels
        return [klass % size, size + klass // size] if self.at.is_tied else [klass]

    def look(self, label: Integers, cell: Integers) -> Integers:
        """The columns of votes by looking on items of a label; the habit is the row of one label more."""
        juror, vote = np.divmod(cell, self.at.labels)
        place = 2 * juror + (vote != label) if self._is_even else label * self.at.table.shape[2] + cell
        return np.asarray(self._first + place)

    @cached_property
    def pseudo(self) -> Floats:
        """The pseudo-counts of each parameter."""
        mix = [np.full(count, self.problem.items * self.at.prior.shape[1] / count) for count in self._mixes]
        votes = np.broadcast_to(self.problem.pseudo, self.at.table.shape)[0].astype(np.float64)
        if self._is_even:
            votes = np.bincount(self.look(*np.indices(votes.shape)).ravel() - self._first, votes.ravel())
        return np.concatenate([*mix, votes.ravel()])

    def known(self, terms: list[_Term], counts: Floats) -> Floats:
        """The information on all parameters but looking away, of so many votes and items."""
        row, column, value = (np.concatenate(part) for part in zip(*terms, strict=True))
        return self.pseudo + np.bincount(column, value * counts[row], len(self.pseudo))

    def wholes(self, known: Floats) -> Any:
        """Roots of the probabilities, a row for all that add up to 1."""
        width, count = 2 if self._is_even else self.at.labels, len(self._mixes)
        table = count + np.arange(len(known) - self._first) // width
        group = np.concatenate([np.repeat(np.arange(count), self._mixes), table]).astype(np.int32)
        value = np.sqrt(known / np.bincount(group, known)[group]).astype(np.float32)
        columns = len(known) + self.at.away.shape[1]
        pointer = np.minimum(np.arange(columns + 1), len(known)).astype(np.int32)
        return sparse.csc_array((value, group, pointer), shape=(group[-1] + 1, columns))


def _matrix(terms: list[_Term], rows: int, unit: Floats) -> Any:
    """A sparse matrix by rows, with parameters in their units."""
    row, column, value = (np.concatenate(part) for part in zip(*terms, strict=True))
    scaled, places = (value / unit[column]).astype(np.float32), (row.astype(np.int32), column.astype(np.int32))
    return sparse.coo_array((scaled, places), shape=(rows, len(unit))).tocsr()


@dataclass(frozen=True)
class Linearised:
    """One EM step around the end of a fit, as a linear map of directions (last axis)."""

    problem: EMProblem
    at: Parameters
    negligible: float = NEGLIGIBLE
    precision: Precision = ROUGH

    def solve(self, drawn: Singles) -> Singles:
        """Solve x = M' x + b for changes (T, B) of the items' weights, by conjugate gradients.

        A direction in which the fit lies on a plateau, or has not converged, has no end to move to: it is left there.

        Returns
        -------
        (K, cells + 1, B) array
            How the expected votes of each class, and last its items, change.
        """
        residual = self.right_hand_side(drawn)
        search = residual.copy()
        end = np.zeros((len(self._places), residual.shape[1]), dtype=np.float32)
        # squared norms of the first residual, of this one, and of the search direction
        first = square = search_square = _inner(residual, residual)
        active: Flags = np.ones(residual.shape[1], dtype=bool)
        for _ in range(self.precision.rounds):
            active &= square > self.precision.settled * first
            if not active.any():
                break
            image, moved = self.step(search)
            image = np.subtract(search, image, out=image)  # (1 - M') search
            curvature = _inner(search, image)
            active &= curvature > self.precision.flattest * search_square
            length = _ratio(square, curvature, active)
            _scale(moved, length)
            end += moved
            _scale(image, length)
            residual -= image
            before, square = square, _inner(residual, residual)
            ratio = _ratio(square, before, active)
            _scale(search, ratio)
            search += residual
            search_square = square + ratio**2 * search_square  # the residual is orthogonal to earlier directions
        return self.scatter(end)

    def scatter(self, in_places: Singles) -> Singles:
        """(K, cells + 1, B) of changes in places, zero elsewhere."""
        moved = np.zeros((self._counts.size, in_places.shape[1]), dtype=np.float32)
        moved[self._places] = in_places
        return moved.reshape(*self._counts.shape, -1)

    def right_hand_side(self, drawn: Singles) -> Singles:
        """b where the weights of items change by (T, B)."""
        return self.parameters.gather(self._votes.T @ (self._roots @ (drawn / self._root_weights[:, None])))

    def step(self, direction: Singles) -> tuple[Singles, Singles]:
        """M' applied to a direction, and how votes and items change in places."""
        votes, votes_transposed, roots, roots_transposed = self._in_doubt
        score = votes @ (self.parameters.chances @ direction)
        score -= roots_transposed @ (roots @ score)
        moved = votes_transposed @ score
        return self.parameters.gather(moved, direction), moved

    @cached_property
    def parameters(self) -> Movable:
        """The parameters, in units of the complete data's information."""
        counts = self._counts.ravel()[self._places].astype(np.float64)
        return movable(self.problem, self.at, self._places, counts)

    @cached_property
    def chance(self) -> Singles:
        """(T, K) posteriors of what is likely."""
        chance: Singles = e_step(self.problem, self.at)[0][0].T.astype(np.float32, order="C")
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
        """Where there are any counts: class * (cells + 1) + cell."""
        return np.flatnonzero(self._counts)

    @cached_property
    def _likely(self) -> tuple[Integers, Integers, int]:
        """Class and item of all that is likely, class after class: then a product reads little memory at a time.

        Items of one likely class come last, after so many others: they have weight, and are never in doubt.
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
        return sparse.csr_array((root, item.astype(np.int32), pointer), shape=(len(item), self.problem.data.rows))

    @cached_property
    def _votes(self) -> Any:
        """Z, and below it items of one class."""
        klass, item, _ = self._likely
        matrix = self.problem.data.matrix  # and in a last cell that there is the item: (T, cells + 1)
        height, cells = matrix.shape
        index = np.insert(matrix.indices, matrix.indptr[1:], cells)
        pointer = matrix.indptr + np.arange(height + 1, dtype=matrix.indptr.dtype)
        ones = np.ones(len(index), dtype=np.int8)
        rows = sparse.csr_array((ones, index, pointer), shape=(height, cells + 1))[item]
        length = np.diff(rows.indptr)
        place = rows.indices + np.repeat((klass * rows.shape[1]).astype(rows.indices.dtype), length)
        column = np.zeros(self._counts.size, dtype=place.dtype)
        column[self._places] = np.arange(len(self._places))
        mass = np.repeat(self._roots.data * self._root_weights[item], length)
        return sparse.csr_array((mass, column[place], rows.indptr), shape=(len(item), len(self._places)))

    @cached_property
    def _in_doubt(self) -> tuple[Any, Any, Any, Any]:
        """Z, its transpose, P and its transpose."""
        votes, roots = (_first_rows(matrix, self._likely[2]) for matrix in (self._votes, self._roots))
        return votes, votes.T, roots.T, roots


def _first_rows(matrix: Any, rows: int) -> Any:
    """The first rows of a sparse matrix, without a copy."""
    end = matrix.indptr[rows]
    part = matrix.data[:end], matrix.indices[:end], matrix.indptr[: rows + 1]
    return sparse.csr_array(part, shape=(rows, matrix.shape[1]))


def _ratio(numerator: Singles, denominator: Singles, active: Flags) -> Singles:
    """Zero for directions that are left where they are."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=active)


def _scale(directions: Singles, by: Singles) -> None:
    """Scale each direction (last axis) by its length, in place."""
    whole = len(directions) - len(directions) % _WIDE
    side_by_side = directions[:whole].reshape(-1, _WIDE * len(by))  # a view
    side_by_side *= np.tile(by, _WIDE)
    directions[whole:] *= by


def _inner(left: Singles, right: Singles) -> Singles:
    """(B,) inner products, one for each direction."""
    whole = len(left) - len(left) % _WIDE
    sums = np.einsum("pw,pw->w", *(x[:whole].reshape(-1, _WIDE * x.shape[1]) for x in (left, right)))
    rest = np.einsum("pb,pb->b", left[whole:], right[whole:])
    return np.asarray(sums.reshape(_WIDE, -1).sum(axis=0) + rest)
