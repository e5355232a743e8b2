"""Moments of binary jurors: how often each votes the second label, and the co-moments of pairs and trios.

With x_i = 1 where juror i voted the second label (the paper's B): f_i = mean x_i, Δ_ij = cov(x_i, x_j),
Δ_ijk = mean of (x_i - f_i)(x_j - f_j)(x_k - f_k). `moments` has those of a sketch, exactly; `WholeMoments` those of
one trio as whole numbers; `table_moments` those of many trios in floats; `pair_moments` and `trio_moments` those of all
pairs and trios of a panel, each on the items that the two or three answered.

Trios by bit counts or weighted products: a tuple seen once costs a bit (answers are packed 64 to a word, and one AND
and one bit count serve 64 items); tuples that stand for many items are few, and weighted matrix products serve them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jurors._numeric import Flags, Floats, Integers
from jurors.errors import SketchError
from jurors.sketch.pairs import Pairs, parts_of
from jurors.sketch.sketch import Sketch

#: The eight decision tuples in the order of a flattened table; 1 is the second label.
TUPLE_VALUES = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], dtype=float)
_VALUES = np.ascontiguousarray(TUPLE_VALUES.T)  # by juror, tuples last
_NEAR, _FAR = np.array([1, 0, 0]), np.array([2, 2, 1])  # the two other jurors
_TINY = 1e-300  # a variance of nothing
MOST_FOR_PAIRS = 2_000  #: pairs of more jurors would not fit a matrix comfortably
MOST_FOR_TRIOS = 250  #: more would have over 2.6 million trios, and need a gigabyte
_PART = 50_000  # trios whose moments are computed at once: intermediate arrays take five times the result
_WORDS = 1_000  # words of a block: jurors x words stay in cache, and 64 x 1,000 bits fit 16-bit sums


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


def pair_sums(x: Floats, voted: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """The sums that covariances of all pairs are made of.

    Parameters
    ----------
    x, voted
        Tuples x jurors (T, N): 1 where a juror voted the second label, 1 where it voted at all.
    weights
        Items of the tuples, (…, T).

    Returns
    -------
    tuple
        On the items that both answered, (…, N, N) each: how many there are, on how many the row's juror voted the
        second label, and on how many both did.
    """
    weighted = x.T * weights[..., None, :]
    joint = weighted @ x
    if voted.all():  # on every item both answered, and two products of three are sums
        both, first = weights.sum(axis=-1)[..., None, None], weighted.sum(axis=-1)[..., None]
        return np.broadcast_to(both, joint.shape), np.broadcast_to(first, joint.shape), joint
    return (voted.T * weights[..., None, :]) @ voted, weighted @ voted, joint


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


def trio_moments(sketch: Sketch) -> tuple[Integers, TrioMoments]:
    """Moments of all trios, each on the items that all three answered.

    Returns
    -------
    tuple
        The jurors of each trio as positions (M, 3), i < j < k in lexicographic order; and the moments, of shape (M,).

    Raises
    ------
    SketchError
        There are other than two labels, or too many jurors.
    """
    width = len(sketch.jurors)
    if len(sketch.labels) != 2:
        raise SketchError(f"the moments of all trios need 2 labels, got {len(sketch.labels)}")
    if width > MOST_FOR_TRIOS:
        count = width * (width - 1) * (width - 2) // 6
        raise SketchError(f"{width:,} jurors have {count:,} trios; select at most {MOST_FOR_TRIOS} jurors")
    first, second = np.triu_indices(width, 1)
    sizes = width - 1 - second  # how many third jurors follow each pair
    i, j = np.repeat(first, sizes), np.repeat(second, sizes)
    k = np.arange(len(j)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + j + 1
    trios = np.stack([i, j, k], axis=1)
    codes, counts = sketch.tuples.codes, sketch.counts
    if (counts == 1).all() and (codes >= 0).all():
        return trios, _complete_moments(codes, trios)
    tables = np.empty((len(trios), 2, 2, 2))
    if (counts != 1).any():
        weights = counts.astype(float)
        voted = np.stack([codes == 0, codes == 1], axis=2).astype(float).reshape(len(codes), 2 * width)
        for juror in range(width - 2):
            rows = trios[:, 0] == juror
            _, j, k = trios[rows].T
            for label in (0, 1):
                weighted = voted * (voted[:, 2 * juror + label] * weights)[:, None]
                joint = (weighted.T @ voted).reshape(width, 2, width, 2)
                tables[rows, label] = joint[j, :, k, :]
    else:  # votes are missing: counts of all eight cells
        sides = (_pack(codes == 0), _pack(codes == 1))
        for a, b, c in product((0, 1), repeat=3):
            tables[:, a, b, c] = _triple_counts(sides[a], sides[b], sides[c])
    parts = [table_moments(tables[start : start + _PART]) for start in range(0, max(len(tables), 1), _PART)]
    columns = zip(*(vars(part).values() for part in parts), strict=True)
    return trios, TrioMoments(*map(np.concatenate, columns))


def _complete_moments(codes: NDArray[Any], trios: Integers) -> TrioMoments:
    """No vote missing, each tuple once: one count per juror, pair and trio is enough; no table is needed."""
    items = len(codes)
    x = _pack(codes == 1)
    mean = np.bitwise_count(x).sum(axis=1, dtype=np.int64) / items
    both = np.stack([np.bitwise_count(x & row).sum(axis=1, dtype=np.int64) for row in x]) / items
    covariance = both - np.outer(mean, mean)
    i, j, k = trios.T
    f = mean[trios]
    pair = np.stack([covariance[j, k], covariance[i, k], covariance[i, j]], axis=1)
    triple = _triple_counts(x, x, x) / items
    third = triple - f.prod(axis=1) - (f * pair).sum(axis=1)
    return TrioMoments(np.full(len(trios), float(items)), f, pair, third)


def _pack(bits: Flags) -> NDArray[np.uint64]:
    """(items x jurors) bits as (jurors x words)."""
    packed = np.packbits(bits.T, axis=1)
    short = -packed.shape[1] % 8
    return np.ascontiguousarray(np.pad(packed, ((0, 0), (0, short)))).view(np.uint64)


def _triple_counts(a: NDArray[np.uint64], b: NDArray[np.uint64], c: NDArray[np.uint64]) -> Integers:
    """Items where juror i is in a, j in b and k in c, for i < j < k in lexicographic order."""
    width = len(a)
    total = np.zeros(width * (width - 1) * (width - 2) // 6, dtype=np.int64)
    for start in range(0, a.shape[1], _WORDS):
        block = slice(start, start + _WORDS)
        x, y, z = a[:, block], b[:, block], np.ascontiguousarray(c[:, block])
        common, bits = np.empty_like(z), np.empty(z.shape, dtype=np.uint8)
        at = 0
        for i in range(width - 2):
            both = x[i] & y
            for j in range(i + 1, width - 1):
                size = width - j - 1
                np.bitwise_and(z[j + 1 :], both[j], out=common[:size])
                np.bitwise_count(common[:size], out=bits[:size])
                total[at : at + size] += bits[:size].sum(axis=1, dtype=np.uint16)
                at += size
    return total
