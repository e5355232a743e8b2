"""Agreement of unordered labels in exact fractions, from counts of decision tuples.

With n_tl votes for label l among the n_t votes of tuple t, over the items with at least two votes:
    agreement              P_o = mean of Σ_l n_tl (n_tl - 1) / (n_t (n_t - 1))
    Fleiss' kappa          (P_o - P_e) / (1 - P_e),  P_e = Σ π_l²,  π_l = mean of n_tl / n_t over items with a vote
    Gwet's AC1             the same with P_e = Σ π_l (1 - π_l) / (R - 1)
    Krippendorff's alpha   1 - D_o / D_e, nominal, from coincidences of the items with at least two votes
(Gwet's forms for missing votes; with none missing, Fleiss' own.)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.evaluate.majority import vote_counts
from jurors.sketch import Sketch


@dataclass(frozen=True)
class ExactAgreement:
    """Four coefficients of the whole jury; None where one does not exist."""

    agreement: Fraction | None = None
    fleiss_kappa: Fraction | None = None
    krippendorff_alpha: Fraction | None = None
    gwet_ac1: Fraction | None = None

    @classmethod
    def of(cls, sketch: Sketch) -> ExactAgreement:
        """Of all the items of a sketch."""
        agreement, shares = _agreement(sketch), _label_shares(sketch)
        fleiss, size = sum((share**2 for share in shares), Fraction(0)), len(sketch.labels)
        gwet = (1 - fleiss) / (size - 1) if size > 1 else Fraction(1)
        return cls(agreement, _beyond_chance(agreement, fleiss), _alpha(sketch), _beyond_chance(agreement, gwet))


def _beyond_chance(observed: Fraction | None, chance: Fraction) -> Fraction | None:
    return None if observed is None or chance == 1 else (observed - chance) / (1 - chance)


def _by_votes(sketch: Sketch, values: NDArray[Any]) -> dict[int, list[int]]:
    """Σ_t w_t values_t (tuples x columns) exactly, apart for each number of votes n_t."""
    cast = vote_counts(sketch).sum(axis=1)
    largest = int(values.max(initial=0)) * max(int(sketch.counts.sum(dtype=object)), 1)
    kind = object if largest > 1 << 62 else np.int64
    sizes, place = np.unique(cast, return_inverse=True)
    sums = np.zeros((len(sizes), values.shape[1]), dtype=kind)
    np.add.at(sums, place, values.astype(kind) * sketch.counts.astype(kind)[:, None])
    return {int(n): [int(x) for x in row] for n, row in zip(sizes, sums, strict=True)}


def _items_by_votes(sketch: Sketch) -> dict[int, int]:
    ones = np.ones((sketch.tuples.rows, 1), dtype=np.int64)
    return {n: row[0] for n, row in _by_votes(sketch, ones).items()}


def _agreement(sketch: Sketch) -> Fraction | None:
    votes = vote_counts(sketch)
    alike = _by_votes(sketch, (votes * (votes - 1)).sum(axis=1, keepdims=True))
    items = sum(count for n, count in _items_by_votes(sketch).items() if n > 1)
    total = sum((Fraction(row[0], n * (n - 1)) for n, row in alike.items() if n > 1), Fraction(0))
    return total / items if items else None


def _label_shares(sketch: Sketch) -> list[Fraction]:
    """π_l: every item with a vote counts once, however many votes it has."""
    votes = _by_votes(sketch, vote_counts(sketch))
    items = sum(count for n, count in _items_by_votes(sketch).items() if n)
    by_label = zip(*([Fraction(x, n) for x in row] for n, row in votes.items() if n), strict=True)
    return [sum(column, Fraction(0)) / max(items, 1) for column in by_label]


def _alpha(sketch: Sketch) -> Fraction | None:
    votes = vote_counts(sketch)
    alike = _by_votes(sketch, (votes * (votes - 1)).sum(axis=1, keepdims=True))
    by_label = [row for n, row in _by_votes(sketch, votes).items() if n > 1]
    cast = [sum(column) for column in zip(*by_label, strict=True)]
    total = int(sum(cast))
    same = sum((Fraction(row[0], n - 1) for n, row in alike.items() if n > 1), Fraction(0))
    by_chance = sum(n * (n - 1) for n in cast)
    if total < 2 or by_chance == total * (total - 1):
        return None
    expected = Fraction(by_chance, total * (total - 1))
    return 1 - (1 - same / total) / (1 - expected)
