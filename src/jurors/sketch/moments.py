"""Moments of binary jurors: how often each votes the second label, and the co-moments of pairs and trios.

With x_i = 1 where juror i voted the second label (the paper's B): f_i = mean x_i, Δ_ij = cov(x_i, x_j),
Δ_ijk = mean of (x_i - f_i)(x_j - f_j)(x_k - f_k). `moments` has those of a sketch, exactly; `WholeMoments` those of
one trio as whole numbers; `table_moments` those of many trios in floats; `pair_moments` those of all
pairs of a panel, each on the items that the two answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from jurors._numeric import Flags, Floats
from jurors.errors import SketchError
from jurors.sketch.pairs import Pairs, parts_of
from jurors.sketch.sketch import Sketch

#: The eight decision tuples in the order of a flattened table; 1 is the second label.
TUPLE_VALUES = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], dtype=float)
_VALUES = np.ascontiguousarray(TUPLE_VALUES.T)  # by juror, tuples last
_NEAR, _FAR = np.array([1, 0, 0]), np.array([2, 2, 1])  # the two other jurors
_TINY = 1e-300  # a variance of nothing
MOST_FOR_PAIRS = 2_000  #: pairs of more jurors would not fit a matrix comfortably


@dataclass(frozen=True)
class Moments:
    """Exact moments; pairs and trios are keyed by the jurors' names in the sketch's order."""

    single: dict[str, Fraction]  #: f_i, the share of items on which juror i voted the second label
    pair: dict[tuple[str, str], Fraction]  #: Δ_ij
    trio: dict[tuple[str, str, str], Fraction]  #: Δ_ijk


def moments(sketch: Sketch) -> Moments:
    """All first, second and third central moments of a complete sketch with two labels.

    Returns
    -------
    Moments
        Exact fractions.

    Raises
    ------
    SketchError
        There are other than two labels, missing votes, or no items.

    Examples
    --------
    >>> m = moments(Sketch.from_counts({"AAA": 1, "BBB": 1}, jurors="ijk"))
    >>> m.single["i"], m.pair["i", "j"], m.trio["i", "j", "k"]
    (Fraction(1, 2), Fraction(1, 4), Fraction(0, 1))
    """
    if len(sketch.labels) != 2:
        raise SketchError(f"moments need 2 labels, got {len(sketch.labels)}: {', '.join(map(str, sketch.labels))}")
    if not sketch.is_complete:
        raise SketchError("some votes are missing; keep the complete items only with sketch.complete()")
    if not sketch.items:
        raise SketchError("moments need at least one item")
    x = dict(zip(sketch.jurors, sketch.tuples.codes.T.astype(bool), strict=True))

    def mean(where: Flags) -> Fraction:
        return Fraction(int(sketch.counts[where].sum()), sketch.items)

    f = {juror: mean(votes) for juror, votes in x.items()}
    pair = {(i, j): mean(x[i] & x[j]) - f[i] * f[j] for i, j in combinations(sketch.jurors, 2)}
    trio = {}
    for i, j, k in combinations(sketch.jurors, 3):
        mixed = f[i] * pair[j, k] + f[j] * pair[i, k] + f[k] * pair[i, j]
        trio[i, j, k] = mean(x[i] & x[j] & x[k]) - f[i] * f[j] * f[k] - mixed
    return Moments(single=f, pair=pair, trio=trio)


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
    """Moments of counts shaped (…, 2, 2, 2): a `TrioMoments` of shape (…)."""
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
    """For each of three jurors, along `axis`, the product of the two others' values."""
    return values.take(_NEAR, axis) * values.take(_FAR, axis)


def moment_influences(m: TrioMoments) -> tuple[Floats, Floats, Floats]:
    """Influence functions of m and C at each decision tuple, (…, 3, 8) with the tuples last, and of T, (…, 1, 8).

    From z = x - m: IF(m_i) = z_i, IF(C_jk) = z_j z_k - C_jk, IF(T) = z_1 z_2 z_3 - T - Σ z_i C_jk.
    """
    z = _VALUES - m.single[..., None]
    products = product_of_others(z, axis=-2)
    d_trio = z[..., :1, :] * products[..., :1, :] - m.trio[..., None, None] - m.pair[..., None, :] @ z
    return z, products - m.pair[..., None], d_trio


@dataclass(frozen=True)
class PairMoments:
    """Covariances of binary jurors, each pair on the items both answered."""

    items: Floats  #: (N, N) items both answered; 0 where they are fewer than two, which have no covariance
    covariance: Floats  #: (N, N) without bias; 0 where no two items are shared
    share: Floats  #: (N,) how often each juror votes the second label, on all items it answered

    def variances(self, common: Floats) -> Floats:
        """Of the covariances (N, N), if a pair's true covariance is `common`; infinite where no two items are shared.

        With n items, Var = (μ22 - C²)/n + (v_i v_j + C²)/(n (n-1)) and μ22 = v_i v_j + (1-2m_i)(1-2m_j) C for binary
        votes. The means are those of all votes: five shared items are too few to estimate them.
        """
        spread, skew, inverse_fewer, known = self._fixed
        square = common * common
        variance = skew * common
        variance += spread
        variance -= square
        np.maximum(variance, 1e-12, out=variance)
        square += spread
        square *= inverse_fewer  # items are 0 where no two are shared
        variance += square
        return np.divide(variance, self.items, out=np.full_like(variance, np.inf), where=known)

    @cached_property
    def _fixed(self) -> tuple[Floats, Floats, Floats, Flags]:
        """The terms of `variances` that do not depend on the true covariances."""
        v, skew, known = self.share * (1 - self.share), 1 - 2 * self.share, self.items > 1
        return np.outer(v, v), np.outer(skew, skew), 1 / np.where(known, self.items - 1, 1.0), known

    def excess_kurtosis(self, explained: Floats | float = 0.0) -> Floats:
        """The excess kurtosis of each covariance (N, N), about κ_i κ_j / n with κ = (1 - 3v)/v.

        A rare event is rarer still for both jurors at once, and then it is far from its mean: votes for a rare label,
        or (with the variance that the truth explains taken from v) rare errors.
        """
        v = np.maximum(self.share * (1 - self.share) - explained, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            kappa = (1 - 3 * v) / v
            return np.asarray(np.where(self.items > 1, np.outer(kappa, kappa) / self.items, np.inf))


def pair_moments(pairs: Pairs) -> PairMoments:
    """Covariances of all pairs of binary jurors; SketchError for other than two labels, or too many jurors."""
    sketch = pairs.sketch
    width = len(sketch.jurors)
    if len(sketch.labels) != 2:
        raise SketchError(f"pair moments need 2 labels, got {len(sketch.labels)}")
    if width > MOST_FOR_PAIRS:
        raise SketchError(f"{width:,} jurors have too many pairs; select at most {MOST_FOR_PAIRS:,}")
    known = pairs.items > 1
    at, back = (pairs.first[known], pairs.second[known]), (pairs.second[known], pairs.first[known])
    n, first, second, both = (x[known] for x in (pairs.items, *pairs.label_counts(1), pairs.count(1, 1)))
    items, covariance = np.zeros((width, width)), np.zeros((width, width))
    items[at] = items[back] = n
    covariance[at] = covariance[back] = (both - first * second / n) / (n - 1)
    cast, for_second = np.zeros(width), np.zeros(width)
    for part, _ in parts_of(sketch):
        row, col, code = part.tuples.triples()
        weights = part.counts[row].astype(float)
        cast += np.bincount(col, weights=weights, minlength=width)
        for_second += np.bincount(col, weights=weights * (code == 1), minlength=width)
    return PairMoments(items, covariance, np.asarray(for_second / np.maximum(cast, 1)))
