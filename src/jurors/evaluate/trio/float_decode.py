"""The decode of three jurors in floats, where no exact one exists: a start value for estimation, not an estimate.

Counts of a real test hardly ever commute. Each slicing juror and each of a few mixtures gives a decode all the same;
the one under which the counts are likeliest is returned.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from jurors.evaluate.trio.assignment import best_assignment
from jurors.numbers.arrays import Floats

_MIXES = 4
_LEAST = 1e-3  # shares of a start value stay away from 0, where expectation-maximisation could not leave again


def decode_floats(table: ArrayLike) -> tuple[Floats, Floats]:
    """Start values from an R x R x R table of counts: prevalences (R,) and confusions (3, R, R), [juror][true][said].

    Labels are named so that total accuracy is greatest, whatever the jurors call them. Every share is positive and
    every row adds up to 1. Where no slicing has a real decode, the share of votes each label got is used.

    Examples
    --------
    >>> confusion = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]])
    >>> counts = 1e6 * np.einsum("l,la,lb,lc->abc", [0.5, 0.3, 0.2], confusion, confusion, confusion)
    >>> prevalence, confusions = decode_floats(counts)
    >>> prevalence.round(3).tolist(), confusions[1].round(3).tolist()
    ([0.5, 0.3, 0.2], [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]])
    """
    counts = np.asarray(table, dtype=float)
    best, height = vote_start(counts), -np.inf
    for candidate in _candidates(counts / counts.sum()):
        prevalence, confusions = _as_shares(candidate)
        fit = np.einsum("l,la,lb,lc->abc", prevalence, *confusions)
        likelihood = float((counts * np.log(fit)).sum())
        if likelihood > height:
            best, height = (prevalence, confusions), likelihood
    return _named(*best)


def _candidates(shares: Floats) -> Iterator[tuple[Floats, list[Floats]]]:
    """The real decodes: for every slicing juror and mixture, prevalences and the three confusion matrices."""
    size = len(shares)
    rng = np.random.default_rng(0)
    mixes = [np.arange(size) ** 1.5, *rng.random((_MIXES - 1, size))]
    for slicer, mix in product((2, 1, 0), mixes):
        slices = np.moveaxis(shares, slicer, 0)
        total = slices.sum(axis=0)
        if np.linalg.cond(total) > 1e10:
            continue
        matrices = slices @ np.linalg.inv(total)
        values, left = np.linalg.eig(np.tensordot(mix, matrices, axes=1))
        if np.iscomplexobj(values) or np.linalg.cond(left) > 1e10:
            continue
        right = np.linalg.inv(left)
        first, second = left.T, right @ total  # label l: the pair table first[l] second[l]ᵀ
        sums = first.sum(axis=1), second.sum(axis=1)
        if min(np.abs(sums[0]).min(), np.abs(sums[1]).min()) < 1e-12:
            continue
        sliced = np.einsum("lk,ckm,ml->lc", right, matrices, left)
        confusions = [first / sums[0][:, None], second / sums[1][:, None]]
        confusions.insert(slicer, sliced)
        yield sums[0] * sums[1], confusions


def _as_shares(decode: tuple[Floats, list[Floats]]) -> tuple[Floats, Floats]:
    """Positive, and adding up to 1."""
    prevalence = np.maximum(decode[0], _LEAST)
    confusions = np.maximum(np.array(decode[1]), _LEAST)
    return prevalence / prevalence.sum(), confusions / confusions.sum(axis=2, keepdims=True)


def vote_start(counts: Floats) -> tuple[Floats, Floats]:
    """One step of expectation-maximisation from the share of votes that each label got."""
    ab, ac, bc = counts.sum(axis=2), counts.sum(axis=1), counts.sum(axis=0)
    alone = [ab.sum(axis=1), ab.sum(axis=0), ac.sum(axis=0)]  # how often each juror says each label
    mass = [np.diag(alone[0]) + ab.T + ac.T, ab + np.diag(alone[1]) + bc.T, ac + bc + np.diag(alone[2])]  # thrice it
    safe = [np.maximum(rows / 3, _LEAST * counts.sum() / len(counts)) for rows in mass]
    share = sum(alone) / 3 / counts.sum()
    return _as_shares((share, [rows / rows.sum(axis=1, keepdims=True) for rows in safe]))


def _named(prevalence: Floats, confusions: Floats) -> tuple[Floats, Floats]:
    gains = (confusions.sum(axis=0) * 2**40).astype(np.int64).tolist()
    order = np.argsort(best_assignment(gains))
    return prevalence[order], confusions[:, order]
