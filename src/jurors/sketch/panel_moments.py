"""Moments of all pairs and of all trios of a binary panel, each on the items that the two or three answered.

Trios by bit counts or weighted products: a tuple seen once costs a bit (answers are packed 64 to a word, and one AND
and one bit count serve 64 items); tuples that stand for many items are few, and weighted matrix products serve them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jurors.errors import SketchError
from jurors.sketch.moments import TrioMoments, table_moments
from jurors.sketch.pairs import Pairs, parts_of
from jurors.sketch.sketch import Sketch

if TYPE_CHECKING:
    from jurors.numbers.arrays import Flags, Floats, Integers

MOST_FOR_PAIRS = 2_000  #: pairs of more jurors would not fit a matrix comfortably
MOST_FOR_TRIOS = 250  #: more would have over 2.6 million trios, and need a gigabyte
_PART = 50_000  # trios whose moments are worked out together: what is needed on the way is five times the result
_WORDS = 1_000  # words of a block: jurors x words stay in cache, and 64 x 1,000 bits fit 16-bit sums


@dataclass(frozen=True)
class PairMoments:
    """Covariances of binary jurors, each pair on the items both answered. x = 1 where a juror said the second label."""

    items: Floats  #: (N, N) items both answered; 0 where they are fewer than two, which have no covariance
    covariance: Floats  #: (N, N) without bias; 0 where no two items are shared
    share: Floats  #: (N,) how often each juror says the second label, on all items it answered

    def variances(self, common: Floats) -> Floats:
        """Of the covariances (N, N), if a pair's true covariance is `common`; infinite where no two items are shared.

        With n items, Var = (μ22 - C²)/n + (v_i v_j + C²)/(n (n-1)) and μ22 = v_i v_j + (1-2m_i)(1-2m_j) C for binary
        votes. The means are those of all votes: a pair that shares five items does not know its own.
        """
        spread, lean, fewer, known = self._fixed
        square = common * common
        large = lean * common
        large += spread
        large -= square
        np.maximum(large, 1e-12, out=large)
        square += spread
        square *= fewer  # items are 0 where no two are shared
        large += square
        return np.divide(large, self.items, out=np.full_like(large, np.inf), where=known)

    @cached_property
    def _fixed(self) -> tuple[Floats, Floats, Floats, Flags]:
        """What variances have in common, whatever the true covariances are."""
        v, lean, known = self.share * (1 - self.share), 1 - 2 * self.share, self.items > 1
        return np.outer(v, v), np.outer(lean, lean), 1 / np.where(known, self.items - 1, 1.0), known

    def excess_kurtosis(self, explained: Floats | float = 0.0) -> Floats:
        """How much heavier than normal the tails of each covariance are, about κ_i κ_j / n with κ = (1 - 3v)/v.

        What seldom happens seldom happens to both, and then it is far from its mean: votes for a rare label, or (with
        the variance that the truth explains taken from v) rare errors.
        """
        v = np.maximum(self.share * (1 - self.share) - explained, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            kappa = (1 - 3 * v) / v
            return np.asarray(np.where(self.items > 1, np.outer(kappa, kappa) / self.items, np.inf))


def pair_moments(pairs: Pairs) -> PairMoments:
    """Covariances of all pairs of binary jurors."""
    sketch = pairs.sketch
    width = len(sketch.jurors)
    if len(sketch.labels) != 2:
        raise SketchError(f"pair moments are not available for {len(sketch.labels)} labels, only for two")
    if width > MOST_FOR_PAIRS:
        raise SketchError(f"pairs of {width:,} jurors are too many; take at most {MOST_FOR_PAIRS:,}")
    known = pairs.items > 1
    at, back = (pairs.first[known], pairs.second[known]), (pairs.second[known], pairs.first[known])
    n, one, other, both = (x[known] for x in (pairs.items, *pairs.said(1), pairs.count(1, 1)))
    items, covariance = np.zeros((width, width)), np.zeros((width, width))
    items[at] = items[back] = n
    covariance[at] = covariance[back] = (both - one * other / n) / (n - 1)
    return PairMoments(items, covariance, _second_label(sketch))


def _second_label(sketch: Sketch) -> Floats:
    """(N,) how often each juror says the second label, on all items it answered."""
    width = len(sketch.jurors)
    cast, said = np.zeros(width), np.zeros(width)
    for part, _ in parts_of(sketch):
        row, col, code = part.tuples.triples()
        weights = part.counts[row].astype(float)
        cast += np.bincount(col, weights=weights, minlength=width)
        said += np.bincount(col, weights=weights * (code == 1), minlength=width)
    return np.asarray(said / np.maximum(cast, 1))


def trio_moments(sketch: Sketch) -> tuple[Integers, TrioMoments]:
    """Every trio's jurors, as positions (M, 3), and its moments on the items all three answered."""
    width = len(sketch.jurors)
    if len(sketch.labels) != 2:
        raise SketchError(f"all trios at once are not available for {len(sketch.labels)} labels, only for two")
    if width > MOST_FOR_TRIOS:
        count = width * (width - 1) * (width - 2) // 6
        raise SketchError(f"{width:,} jurors have {count:,} trios; take at most {MOST_FOR_TRIOS} jurors")
    trios = _all_trios(width)
    codes, counts = sketch.tuples.codes, sketch.counts
    if (counts != 1).any():
        return trios, _moments_in_parts(_weighted_tables(codes, counts.astype(float), width, trios))
    if (codes < 0).any():
        return trios, _moments_in_parts(_popcount_tables(codes, width))
    return trios, _complete_moments(codes, trios)


def _moments_in_parts(tables: Floats) -> TrioMoments:
    parts = [table_moments(tables[start : start + _PART]) for start in range(0, max(len(tables), 1), _PART)]
    return TrioMoments(
        *(np.concatenate(column) for column in zip(*(vars(part).values() for part in parts), strict=True))
    )


def _all_trios(width: int) -> Integers:
    """All i < j < k in lexicographic order, (M, 3)."""
    first, second = np.triu_indices(width, 1)
    sizes = width - 1 - second  # how many k follow each pair
    i, j = np.repeat(first, sizes), np.repeat(second, sizes)
    k = np.arange(len(j)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + j + 1
    return np.stack([i, j, k], axis=1)


def _complete_moments(codes: NDArray[Any], trios: Integers) -> TrioMoments:
    """No vote missing, each tuple once: one count per juror, pair and trio says it all; no table is needed."""
    items = len(codes)
    said = _pack(codes == 1)
    mean = np.bitwise_count(said).sum(axis=1, dtype=np.int64) / items
    both = np.stack([np.bitwise_count(said & row).sum(axis=1, dtype=np.int64) for row in said]) / items
    covariance = both - np.outer(mean, mean)
    i, j, k = trios.T
    f = mean[trios]
    pair = np.stack([covariance[j, k], covariance[i, k], covariance[i, j]], axis=1)
    triple = _triple_counts(said, said, said) / items
    third = triple - f.prod(axis=1) - (f * pair).sum(axis=1)
    return TrioMoments(np.full(len(trios), float(items)), f, pair, third)


def _popcount_tables(codes: NDArray[Any], width: int) -> Floats:
    """With votes missing: counts of all eight cells."""
    sides = (_pack(codes == 0), _pack(codes == 1))
    tables = np.empty((width * (width - 1) * (width - 2) // 6, 2, 2, 2))
    for a in (0, 1):
        for b in (0, 1):
            for c in (0, 1):
                tables[:, a, b, c] = _triple_counts(sides[a], sides[b], sides[c])
    return tables


def _weighted_tables(codes: NDArray[Any], weights: Floats, width: int, trios: Integers) -> Floats:
    sides = np.stack([codes == 0, codes == 1], axis=2).astype(float).reshape(len(codes), 2 * width)
    tables = np.empty((len(trios), 2, 2, 2))
    for first in range(width - 2):
        rows = trios[:, 0] == first
        _, j, k = trios[rows].T
        for said in (0, 1):
            weighted = sides * (sides[:, 2 * first + said] * weights)[:, None]
            joint = (weighted.T @ sides).reshape(width, 2, width, 2)
            tables[rows, said] = joint[j, :, k, :]
    return tables


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
