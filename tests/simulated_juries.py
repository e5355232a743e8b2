"""Simulated juries with independent errors, and the same sketch or solution written in other ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from jurors._numeric import Floats, Integers
from jurors.evaluate.solution import Solution
from jurors.sketch.sketch import Sketch
from jurors.votes.table import Votes


def simulate(
    prevalence: Sequence[float], confusion: Floats, items: int, *, missing: float = 0.0, seed: int = 0
) -> tuple[Sketch, Integers, Integers]:
    """Votes of independent jurors: their sketch, the votes themselves (items x jurors) and the true labels."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(len(prevalence), size=items, p=prevalence)
    chance = np.cumsum(confusion, axis=2)[:, truth, :-1]  # jurors, items, labels; the last label takes what is left
    codes = (rng.random((len(confusion), items))[:, :, None] > chance).sum(axis=2).T
    codes[rng.random(codes.shape) < missing] = -1
    labels = "ABCDEFG"[: len(prevalence)]
    jurors = [f"juror {k}" for k in range(len(confusion))]
    return Sketch.from_votes(Votes.from_matrix(codes, jurors=jurors, labels=tuple(labels))), codes, truth


def two_label_tables(accuracy: Sequence[tuple[float, float]]) -> Floats:
    """Confusion matrices of jurors with these accuracies on A and B."""
    return np.array([[[a, 1 - a], [1 - b, b]] for a, b in accuracy])


def exact_jury(prevalence: str, accuracy: Sequence[tuple[str, str]]) -> Solution:
    """A jury in exact fractions, written as decimals."""
    rates = [(Fraction(a), Fraction(b)) for a, b in accuracy]
    return Solution.of_two_labels([f"juror {k}" for k in range(len(rates))], "AB", Fraction(prevalence), rates)


def as_sparse(sketch: Sketch) -> Sketch:
    """The same tuples, kept as triples."""
    return Sketch(replace(sketch.tuples, _dense=None, _sparse=sketch.tuples.triples()))


def numbers(solution: Solution) -> Floats:
    """Prevalences, confusion matrices and scores in one row, NaN for what does not exist."""
    entries = [x for table in solution.confusions for row in table for x in row]
    scores = list(solution.score.values())
    return np.array([*solution.prevalences, *entries, *scores], dtype=float)
