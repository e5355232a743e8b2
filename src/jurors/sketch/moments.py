"""Moments of a binary sketch: how often each juror says the second label, and how pairs and trios move together.

With x_i = 1 where juror i said the second label (the paper's B): f_i = mean x_i, Δ_ij = cov(x_i, x_j),
Δ_ijk = mean of (x_i - f_i)(x_j - f_j)(x_k - f_k). All exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from jurors.errors import SketchError
from jurors.sketch.sketch import Sketch


@dataclass(frozen=True)
class Moments:
    """Exact moments; pairs and trios are keyed by the jurors' names in the sketch's order."""

    single: dict[str, Fraction]  #: f_i, the share of items on which juror i said the second label
    pair: dict[tuple[str, str], Fraction]  #: Δ_ij
    trio: dict[tuple[str, str, str], Fraction]  #: Δ_ijk


def moments(sketch: Sketch) -> Moments:
    """All first, second and third central moments of a complete sketch with two labels.

    Examples
    --------
    >>> m = moments(Sketch.from_counts({"AAA": 1, "BBB": 1}, jurors="ijk"))
    >>> m.single["i"], m.pair["i", "j"], m.trio["i", "j", "k"]
    (Fraction(1, 2), Fraction(1, 4), Fraction(0, 1))
    """
    if len(sketch.labels) != 2:
        raise SketchError(f"moments need 2 labels, got {len(sketch.labels)}: {', '.join(map(str, sketch.labels))}")
    if not sketch.is_complete:
        raise SketchError("some votes are missing; count the complete items only with sketch.complete()")
    if not sketch.items:
        raise SketchError("moments need at least one item")
    said = sketch.tuples.codes.astype(bool)
    counts, total = sketch.counts, sketch.items
    share = {j: _mean(said[:, k], counts, total) for k, j in enumerate(sketch.jurors)}
    place = {j: k for k, j in enumerate(sketch.jurors)}
    pair = {
        (i, j): _mean(said[:, place[i]] & said[:, place[j]], counts, total) - share[i] * share[j]
        for i, j in combinations(sketch.jurors, 2)
    }
    trio = {}
    for i, j, k in combinations(sketch.jurors, 3):
        together = _mean(said[:, place[i]] & said[:, place[j]] & said[:, place[k]], counts, total)
        mixed = share[i] * pair[j, k] + share[j] * pair[i, k] + share[k] * pair[i, j]
        trio[i, j, k] = together - share[i] * share[j] * share[k] - mixed
    return Moments(single=share, pair=pair, trio=trio)


def _mean(
    where: np.ndarray[tuple[int], np.dtype[np.bool_]], counts: np.ndarray[tuple[int], np.dtype[np.int64]], total: int
) -> Fraction:
    return Fraction(int(counts[where].sum()), total)
