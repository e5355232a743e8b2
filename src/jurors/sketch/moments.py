"""Moments of binary jurors, their only home: how often each says the second label, how pairs and trios go together.

With x_i = 1 where juror i said the second label (the paper's B): f_i = mean x_i, Δ_ij = cov(x_i, x_j),
Δ_ijk = mean of (x_i - f_i)(x_j - f_j)(x_k - f_k). `moments` has those of a sketch, exactly; `WholeMoments` those of one
trio as whole numbers; `table_moments` those of many trios in floats. All pairs and trios of a panel: `panel_moments`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from jurors.errors import SketchError
from jurors.sketch.sketch import Sketch

if TYPE_CHECKING:
    from jurors.numbers.arrays import Flags, Floats, Integers

#: The eight decision tuples in the order of a flattened table; 1 is the second label.
TUPLE_VALUES = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], dtype=float)
_VALUES = np.ascontiguousarray(TUPLE_VALUES.T)  # by juror, tuples last
_NEAR, _FAR = np.array([1, 0, 0]), np.array([2, 2, 1])  # the two other jurors
_TINY = 1e-300  # a variance of nothing


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


def _mean(where: Flags, counts: Integers, total: int) -> Fraction:
    return Fraction(int(counts[where].sum()), total)


class WholeMoments(NamedTuple):
    """Moments of one trio as whole numbers; `pair` by the juror left out."""

    items: int  #: Q
    votes: tuple[int, int, int]  #: n_i, votes for the second label
    pair: tuple[int, int, int]  #: Δ of the two *other* jurors times Q²
    trio: int  #: Δ_ijk times Q³

    @classmethod
    def from_counts(cls, counts: Sequence[int]) -> Self:
        """From the counts of the eight decision tuples, the last juror's decision changing fastest."""
        aaa, aab, aba, abb, baa, bab, bba, bbb = counts
        ij, ik, jk = bba + bbb, bab + bbb, abb + bbb
        i, j, k = baa + bab + ij, aba + abb + ij, aab + abb + ik
        q = aaa + aab + aba + abb + i
        trio = q * q * bbb - q * (i * jk + j * ik + k * ij) + 2 * i * j * k
        return cls(q, (i, j, k), (q * jk - j * k, q * ik - i * k, q * ij - i * j), trio)


@dataclass(frozen=True)
class TrioMoments:
    """Moments of many trios; the last axis of `pair` is the juror left out."""

    items: Floats
    single: Floats  #: (…, 3) m_i
    pair: Floats  #: (…, 3) C of the two other jurors
    trio: Floats  #: (…) T

    @cached_property
    def pair_z(self) -> Floats:
        """(…, 3) each pair's covariance in standard errors: Q se² = v_i v_j + (1-2m_i)(1-2m_j)C - C²."""
        spread, lean = self.single * (1 - self.single), 1 - 2 * self.single
        variance = product_of_others(spread) + product_of_others(lean) * self.pair - self.pair**2
        return self.pair / np.sqrt(np.maximum(variance, _TINY) / self.items[..., None])


def table_moments(tables: ArrayLike) -> TrioMoments:
    """Moments of counts shaped (…, 2, 2, 2)."""
    counts = np.asarray(tables, dtype=float)
    if counts.shape[-3:] != (2, 2, 2):
        raise SketchError(f"trio counts need the shape (…, 2, 2, 2), got {counts.shape}")
    flat = counts.reshape((*counts.shape[:-3], 8))
    items = flat.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = flat / items[..., None]
    single = shares @ TUPLE_VALUES
    centred = _VALUES - single[..., None]  # (…, 3, 8)
    products = shares[..., None, :] * centred.take(_NEAR, -2) * centred.take(_FAR, -2)
    return TrioMoments(items, single, products.sum(axis=-1), (products[..., 2, :] * centred[..., 2, :]).sum(axis=-1))


def product_of_others(values: Floats, axis: int = -1) -> Floats:
    """For each of three jurors, along `axis`, what the two others have, multiplied."""
    return values.take(_NEAR, axis) * values.take(_FAR, axis)


def moment_influences(m: TrioMoments) -> tuple[Floats, Floats, Floats]:
    """How each decision tuple pulls at each moment: influence functions, (…, 3, 8) tuples last, the trio's (…, 1, 8).

    From z = x - m: IF(m_i) = z_i, IF(C_jk) = z_j z_k - C_jk, IF(T) = z_1 z_2 z_3 - T - Σ z_i C_jk.
    """
    z = _VALUES - m.single[..., None]
    products = product_of_others(z, axis=-2)
    d_trio = z[..., :1, :] * products[..., :1, :] - m.trio[..., None, None] - m.pair[..., None, :] @ z
    return z, products - m.pair[..., None], d_trio


def pair_sums(said: Floats, voted: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """What covariances of all pairs need, from tuples (T, N) weighed by (…, T), each sum (…, N, N).

    On the items that both answered: how many there are, on how many the row's juror said it, and on how many both did.
    `said` is 0 where a juror did not vote.
    """
    spoken = said.T * weights[..., None, :]
    together = spoken @ said
    if voted.all():  # on every item both answered, and two products of three are sums
        both, first = weights.sum(axis=-1)[..., None, None], spoken.sum(axis=-1)[..., None]
        return np.broadcast_to(both, together.shape), np.broadcast_to(first, together.shape), together
    return (voted.T * weights[..., None, :]) @ voted, spoken @ voted, together


def covariances(both: Floats, first: Floats, together: Floats) -> Floats:
    """Covariances from `pair_sums`; NaN where two jurors share no item."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = first / both
        return np.asarray(together / both - mean * np.swapaxes(mean, -1, -2))
