"""The parameters of a fit as they may move: what they are to the chances of votes, and what complete data know of them.

A parameter is a logarithm (of looking away, a logit) times the root of the information on it if every item's class, and
every vote by habit, were known: directions then have the plain inner product. Logarithms of chances p that make up 1
move at right angles to the roots √p; what leads away from there is taken off.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from jurors.evaluate.panel.expectation import Parameters, Problem
from jurors.numbers.arrays import Floats, Integers, Singles

_Term: TypeAlias = tuple[Integers, Integers, Floats]  # rows, columns and values of a matrix


@dataclass(frozen=True)
class Movable:
    """Matrices with a column for every parameter."""

    chances: Any  #: L, to the logarithms of what a class makes of a vote, and of how common a class is
    splits: Any  #: S, to what habit takes from looking where votes on hard items could be either; None without strata
    wholes: Any  #: a row √p for all chances p that make up 1
    unit: Floats  #: (parameters,) root of the information

    @cached_property
    def _turned(self) -> tuple[Any, Any, Any]:
        return self.chances.T, None if self.splits is None else self.splits.T, self.wholes.T

    def gather(self, votes: Singles, direction: Singles | None = None) -> Singles:
        """How the M-step answers votes that move, and habit that moves with the parameters themselves."""
        chances, splits, wholes = self._turned
        answer: Singles = chances @ votes
        if splits is not None and direction is not None:
            answer += splits @ (self.splits @ direction)
        answer -= wholes @ (self.wholes @ answer)
        return answer


def movable(problem: Problem, at: Parameters, places: Integers, counts: Floats) -> Movable:
    """The parameters around a fit with so many votes in some places, which are the rows of `chances`.

    A place is class * (cells + 1) + cell; the last cell of every class counts its items.
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
    votes = _HardVotes(columns, hard, klass[hard] - at.labels, cell[hard], counts[hard])
    terms += votes.looks_and_habits
    known = columns.known(terms, counts)
    unit = np.sqrt(np.concatenate([known, votes.known_of_turning_away]))
    chances = _matrix([*terms, votes.turning_away], len(places), unit)
    return Movable(chances, votes.splits(unit), columns.wholes(known), unit)


@dataclass(frozen=True)
class _Columns:
    """Where each parameter stands: the label mix, the table's rows, and beyond all that make up 1, looking away."""

    problem: Problem
    at: Parameters

    @cached_property
    def _is_even(self) -> bool:
        """Whether a juror has one accuracy: a chance of right votes, and one of wrong ones."""
        return self.problem.model == "one_coin"

    @cached_property
    def _mixes(self) -> tuple[int, ...]:
        """How many chances make up the label mix: those of classes, or of labels and of strata."""
        return (self.at.labels, 2) if self.at.is_tied else (self.at.prior.shape[1],)

    @cached_property
    def _first(self) -> int:
        return sum(self._mixes)

    def mix(self, klass: Integers) -> list[Integers]:
        """How common classes are."""
        size = self.at.labels
        return [klass % size, size + klass // size] if self.at.is_tied else [klass]

    def look(self, label: Integers, cell: Integers) -> Integers:
        """The chance of a vote on items of a label, by who looks; the habit is the row of one label more."""
        juror, said = np.divmod(cell, self.at.labels)
        place = 2 * juror + (said != label) if self._is_even else label * self.at.table.shape[2] + cell
        return np.asarray(self._first + place)

    @cached_property
    def pseudo(self) -> Floats:
        """What is known beforehand."""
        mix = [np.full(count, self.problem.items * self.at.prior.shape[1] / count) for count in self._mixes]
        votes = np.broadcast_to(self.problem.pseudo, self.at.table.shape)[0].astype(np.float64)
        if self._is_even:
            votes = np.bincount(self.look(*np.indices(votes.shape)).ravel() - self._first, votes.ravel())
        return np.concatenate([*mix, votes.ravel()])

    def known(self, terms: list[_Term], counts: Floats) -> Floats:
        """The information on all that make up 1, of so many votes and items."""
        row, column, value = (np.concatenate(part) for part in zip(*terms, strict=True))
        return self.pseudo + np.bincount(column, value * counts[row], len(self.pseudo))

    def wholes(self, known: Floats) -> Any:
        """Roots of the chances, in a row for all that make up 1 together."""
        from scipy.sparse import csc_array

        width, count = 2 if self._is_even else self.at.labels, len(self._mixes)
        table = count + np.arange(len(known) - self._first) // width
        group = np.concatenate([np.repeat(np.arange(count), self._mixes), table]).astype(np.int32)
        value = np.sqrt(known / np.bincount(group, known)[group]).astype(np.float32)
        columns = len(known) + self.at.away.shape[1]
        pointer = np.minimum(np.arange(columns + 1), len(known)).astype(np.int32)
        return csc_array((value, group, pointer), shape=(group[-1] + 1, columns))


@dataclass(frozen=True)
class _HardVotes:
    """Votes on hard items, which are by looking or by habit, place by place."""

    columns: _Columns
    row: Integers
    label: Integers
    cell: Integers
    count: Floats

    @cached_property
    def _juror(self) -> Integers:
        return self.cell // self.columns.at.labels

    @cached_property
    def _away(self) -> Floats:
        return np.asarray(1.0 / (1.0 + np.exp(-self.columns.at.away[0].astype(np.float64))))[self._juror]

    @cached_property
    def _lazy(self) -> Floats:
        """The share that is habit."""
        table = self.columns.at.table[0]
        look, habit = (np.exp(table[row, self.cell], dtype=np.float64) for row in (self.label, -1))
        return np.asarray(self._away * habit / (self._away * habit + (1.0 - self._away) * look))

    @cached_property
    def _look_column(self) -> Integers:
        return self.columns.look(self.label, self.cell)

    @cached_property
    def _habit_column(self) -> Integers:
        return self.columns.look(np.full_like(self.label, self.columns.at.labels), self.cell)

    @cached_property
    def _away_column(self) -> Integers:
        return len(self.columns.pseudo) + self._juror

    @property
    def looks_and_habits(self) -> list[_Term]:
        """What the table's rows are to the logarithms of mixtures."""
        return [(self.row, self._look_column, 1.0 - self._lazy), (self.row, self._habit_column, self._lazy)]

    @property
    def turning_away(self) -> _Term:
        """What looking away more often is to them."""
        return self.row, self._away_column, self._lazy - self._away

    @property
    def known_of_turning_away(self) -> Floats:
        """(N,) from votes by habit and by looking, one pseudo-vote each."""
        jurors = self.columns.at.jurors
        habit = np.bincount(self._juror, self.count * self._lazy, jurors) + 1.0
        look = np.bincount(self._juror, self.count * (1.0 - self._lazy), jurors) + 1.0
        return habit * look / (habit + look)

    def splits(self, unit: Floats) -> Any:
        """How far votes go over to habit where habit becomes likelier than looking."""
        row, open_ = np.arange(len(self.row)), np.sqrt(self.count * self._lazy * (1.0 - self._lazy))
        parts = (self._look_column, -open_), (self._habit_column, open_), (self._away_column, open_)
        return _matrix([(row, column, value) for column, value in parts], len(row), unit)


def _matrix(terms: list[_Term], rows: int, unit: Floats) -> Any:
    """By rows, with parameters in their units."""
    from scipy.sparse import coo_array

    row, column, value = (np.concatenate(part) for part in zip(*terms, strict=True))
    scaled = (value / unit[column]).astype(np.float32)
    return coo_array((scaled, (row.astype(np.int32), column.astype(np.int32))), shape=(rows, len(unit))).tocsr()
