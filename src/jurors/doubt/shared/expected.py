"""What every scenario expects of the jurors: sums over items of a tempered posterior, and of what stays unknown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from jurors.doubt.shared.jury_votes import Jury
from jurors.doubt.shared.scenarios import DRAWS, Scenarios, temper, temper_mean
from jurors.numbers.arrays import Floats, Integers

_DENSE_CELLS = 200_000  # cells of the one-hot matrix up to which an ordinary array is faster
_BLOCK_CELLS = 6_000_000  # tuples x labels x scenarios held at once


@dataclass(frozen=True)
class Sums:
    """Sums over items, by scenario (last axis) or on the average of them; the last juror says the best labels."""

    right: Floats  # (N, R, K) items of true label l on which the juror said l
    met: Floats  # (N, R, K) items of true label l on which the juror voted
    votes: Floats  # (N,)
    prevalence: Floats  # (R, K) items by label
    items: float
    caught: float  # gold items whose best label would have been wrong
    posterior: Floats  # (T, R)
    best: Integers  # (T,)
    doubt_right: Floats  # (N, R) variance of `right` left by unknown labels
    doubt_met: Floats  # (N, R) the same of `met`
    doubt: Floats  # (R,) of prevalence
    gold: GoldSums | None


@dataclass(frozen=True)
class GoldSums:
    """How gold votes differ from what was expected of them."""

    votes: Floats  # (N,) gold votes
    right: Floats  # (N, R, K) observed - expected
    met: Floats  # (N, R, K)
    expected: Floats  # (N, R) gold items of the label, expected
    doubt_right: Floats  # (N, R) variance of the difference
    doubt_met: Floats


class OneHot:
    """The one-hot matrix of votes, dense or sparse: jurors x labels said, by tuples."""

    def __init__(self, jury: Jury, rows: Integers | None = None, best: Integers | None = None) -> None:
        size, width = jury.labels, len(jury.weights)
        cell = jury.juror * size + jury.label
        votes = [(jury.row[run], cell[run]) for run in _runs(jury.row)]
        if best is not None:  # beside the votes, of which a hundred million need not be copied
            votes.append((np.arange(width), jury.jurors * size + best))
        self.shape = jury.jurors + (best is not None), size
        if rows is not None:
            place = np.full(width, -1)
            place[rows] = np.arange(len(rows))
            votes = [(place[row[kept]], said[kept]) for row, said in votes for kept in [place[row] >= 0]]
            width = len(rows)
        cells = self.shape[0] * size
        self.matrices: list[tuple[int, Any]]  # they add up, each from its first cell on
        if cells * width <= _DENSE_CELLS:
            dense = np.zeros((cells, width))
            for row, said in votes:
                dense[said, row] = 1.0
            self.matrices = [(0, dense)]
        else:
            self.matrices = [_sparse(row, said, width) for row, said in votes if len(row)]

    def sums(self, mass: Floats) -> tuple[Floats, Floats]:
        """(T, R, K) masses by true label, summed over votes that said it and over all votes: (N, R, K) each."""
        jurors, labels = self.shape
        matrices = self.matrices if mass.dtype == np.float64 else self._single
        flat = mass.reshape(len(mass), -1)
        if len(matrices) == 1 and matrices[0][1].shape[0] == jurors * labels:
            joint = matrices[0][1] @ flat
        else:
            joint = np.zeros((jurors * labels, flat.shape[1]), dtype=mass.dtype)
            for first, matrix in matrices:
                joint[first : first + matrix.shape[0]] += matrix @ flat
        joint = joint.reshape(jurors, labels, labels, -1)
        return np.einsum("jllk->jlk", joint), joint.sum(axis=1)

    @cached_property
    def _single(self) -> list[tuple[int, Any]]:
        return [(first, matrix.astype(np.float32, copy=False)) for first, matrix in self.matrices]


def _runs(row: Integers) -> list[slice]:
    """The votes in runs that are sorted by tuple: those of the jurors, then those of each labelling."""
    ends = (np.flatnonzero(row[1:] < row[:-1]) + 1).tolist()
    return [slice(start, end) for start, end in zip([0, *ends], [*ends, len(row)], strict=True)]


def _sparse(row: Integers, cell: Integers, rows: int) -> tuple[int, Any]:
    """Cells x tuples, of votes that are sorted by tuple, and the first cell that has some.

    Ones are as exact in single precision, which is half of it.
    """
    from scipy.sparse import csr_array

    first = int(cell.min())
    cells = int(cell.max()) + 1 - first
    index = np.dtype(np.int32 if max(len(row), cells) < 2**31 else np.int64)
    pointer = np.zeros(rows + 1, dtype=index)
    np.cumsum(np.bincount(row, minlength=rows), out=pointer[1:])
    ones = np.ones(len(row), dtype=np.float32)
    from_first = cell.astype(index, copy=False) if first == 0 else (cell - first).astype(index)
    return first, csr_array((ones, from_first, pointer), shape=(rows, cells)).T


def expect(jury: Jury, odds: list[Floats], drawn: Scenarios, gold: Floats | None) -> Sums:
    """The sums of all scenarios, for every juror and for one more who says the best labels."""
    tuples, size = jury.posterior.shape
    best = odds[0].argmax(axis=1) if gold is None else _best_labels(jury, odds, drawn)
    count, methods = len(drawn.log_rho), _by_method(drawn)
    free = jury.weights - (0.0 if gold is None else gold.sum(axis=1))
    right, met = np.zeros((jury.jurors + 1, size, count)), np.zeros((jury.jurors + 1, size, count))
    open_right, open_met = np.zeros((jury.jurors + 1, size)), np.zeros((jury.jurors + 1, size))
    prevalence, doubt = np.zeros((size, count)), np.zeros(size)
    posterior = np.empty((tuples, size))
    for rows, part in _parts(jury, size * count):
        votes, shares = OneHot(part, best=best[rows]), np.zeros((2, *part.posterior.shape))  # Σ q and Σ q² over draws
        for k, at in methods:
            q = temper(odds[k][rows], part.voices, drawn.log_rho[at], drawn.slant[at])
            draws = q[:, :, : int((np.arange(count)[at] < DRAWS).sum())]  # they come first
            shares[0] += draws @ np.ones(draws.shape[2], dtype=q.dtype)
            shares[1] += np.einsum("trk,trk->tr", draws, draws)
            if gold is not None or (free[rows] != 1.0).any():
                q *= free[rows, None, None].astype(q.dtype)
            if gold is not None:
                q += gold[rows, :, None].astype(q.dtype)
            said_right, all_said = votes.sums(q)
            right[:, :, at] += said_right
            met[:, :, at] += all_said
            prevalence[:, at] += q.sum(axis=0)
        posterior[rows] = shares[0] / DRAWS
        unknown = (shares[0] - shares[1]) * (free[rows] / DRAWS)[:, None]
        said_right, all_said = votes.sums(unknown[:, :, None].astype(q.dtype))  # as precise as the scenarios
        open_right += said_right[:, :, 0]
        open_met += all_said[:, :, 0]
        doubt += unknown.sum(axis=0)
    caught = 0.0 if gold is None else float(gold.sum() - gold[np.arange(tuples), best].sum())
    return Sums(
        right, met, met[:, :, 0].sum(axis=1), prevalence, float(jury.weights.sum()), caught, posterior, best,
        open_right, open_met, doubt, None if gold is None else _gold_sums(jury, odds, drawn, gold, best),
    )  # fmt: skip


def _parts(jury: Jury, cells: int) -> Iterator[tuple[slice, Jury]]:
    """Some tuples at a time with their votes, as many as fit where each has so many cells."""
    tuples, step = len(jury.weights), max(_BLOCK_CELLS // max(cells, 1), 1)
    if tuples <= step:
        yield slice(0, tuples), jury
        return
    runs = _runs(jury.row)
    for start in range(0, tuples, step):
        rows = slice(start, min(start + step, tuples))
        places = [run.start + np.searchsorted(jury.row[run], (rows.start, rows.stop)) for run in runs]
        row, juror, label = (
            np.concatenate([column[first:last] for first, last in places])
            for column in (jury.row, jury.juror, jury.label)
        )
        yield (
            rows,
            replace(
                jury, posterior=jury.posterior[rows], weights=jury.weights[rows], voices=jury.voices[rows],
                row=row - rows.start, juror=juror, label=label,
            ),
        )  # fmt: skip


def mean_posterior(jury: Jury, odds: Floats, drawn: Scenarios) -> Floats:
    """(T, R) the posterior of every tuple on the average of the draws, as `expect` has it, and nothing else."""
    return temper_mean(odds, jury.voices, drawn.log_rho[:DRAWS], drawn.slant[:DRAWS])


def _best_labels(jury: Jury, odds: list[Floats], drawn: Scenarios) -> Integers:
    """The likeliest label of each tuple on the average of the modes, once gold has had its say."""
    total = np.zeros(jury.posterior.shape)
    for k in range(len(odds)):
        at = DRAWS + np.flatnonzero(drawn.method[DRAWS:] == k)
        if len(at):
            total += temper(odds[k], jury.voices, drawn.log_rho[at], drawn.slant[at]).sum(axis=2)
    return np.asarray(total.argmax(axis=1))


def _by_method(drawn: Scenarios, cells: int = 1) -> list[tuple[int, slice | Integers]]:
    """Every method with its scenarios in their order, as many at a time as fit where each has so many cells."""
    step, count = max(_BLOCK_CELLS // max(cells, 1), 1), len(drawn.method)
    if len(drawn.weights) == 1:
        return [(0, slice(start, min(start + step, count))) for start in range(0, count, step)]
    parts: list[tuple[int, slice | Integers]] = []
    for k in range(len(drawn.weights)):
        at = np.flatnonzero(drawn.method == k)
        parts += [(k, at[start : start + step]) for start in range(0, len(at), step)]
    return parts


def _gold_sums(jury: Jury, odds: list[Floats], drawn: Scenarios, gold: Floats, best: Integers) -> GoldSums:
    rows = np.flatnonzero(gold.sum(axis=1) > 0)
    votes, counts = OneHot(jury, rows, best), gold[rows]
    known, count = counts.sum(axis=1), len(drawn.log_rho)
    right, met = (np.empty((*votes.shape, count)) for _ in range(2))
    expected, doubt = np.zeros(counts.shape), np.zeros(counts.shape)
    for k, at in _by_method(drawn, counts.size):
        q = temper(odds[k][rows], jury.voices[rows], drawn.log_rho[at], drawn.slant[at])
        expected += q.sum(axis=2) * (known / count)[:, None]
        doubt += np.einsum("trk,trk->tr", q, 1 - q) * (known / count)[:, None]
        right[:, :, at], met[:, :, at] = votes.sums(counts[:, :, None] - q * known[:, None, None])
    right_doubt, met_doubt = votes.sums(doubt[:, :, None])
    all_expected = votes.sums(expected[:, :, None])[1][:, :, 0]
    return GoldSums(all_expected.sum(axis=1), right, met, all_expected, right_doubt[:, :, 0], met_doubt[:, :, 0])
