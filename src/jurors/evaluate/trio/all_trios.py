"""Every trio of a binary panel at once: moments by bit counts or weighted products, then the float decode.

A tuple seen once costs a bit: answers are packed 64 to a word, and one AND and one bit count serve 64 items. Tuples
that stand for many items are few, and weighted matrix products serve them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.errors import SketchError
from jurors.evaluate.trio.trios import OUTCOMES, DecodedTrios, TrioMoments, decode_trios, table_moments
from jurors.numbers.arrays import Flags, Floats, Integers
from jurors.sketch import Sketch

MOST_JURORS = 320  #: more would have over five million trios
_WORDS = 1_000  # words of a block: jurors x words stay in cache, and 64 x 1,000 bits fit 16-bit sums


def _percent(value: float) -> str:
    return f"{value:.1%}" if value == value else "–"


@dataclass(frozen=True, eq=False)
class PanelTrios:
    """What each trio of a panel says by itself; where trios disagree about a juror, errors are correlated."""

    sketch: Sketch
    trios: Integers  #: (M, 3) positions of the jurors
    decoded: DecodedTrios

    def medians(self) -> tuple[float, Floats]:
        """The median over real trios of the prevalence of the first label, and of each juror's accuracies (N, 2)."""
        real = self.decoded.outcome <= 1
        accuracy = np.full((len(self.sketch.jurors), 2), np.nan)
        for juror, values in enumerate(self._by_juror()):
            if len(values):
                accuracy[juror] = np.median(values, axis=0)
        prevalence = float(np.median(self.decoded.prevalence[real])) if real.any() else np.nan
        return prevalence, accuracy

    def _by_juror(self) -> list[Floats]:
        """For each juror its accuracies (…, 2) in the real trios it sits in."""
        real = self.decoded.outcome <= 1
        members, accuracies = self.trios[real].ravel(), self.decoded.accuracy[real].reshape(-1, 2)
        order = np.argsort(members, kind="stable")
        ends = np.searchsorted(members[order], np.arange(len(self.sketch.jurors) + 1))
        return [accuracies[order[a:b]] for a, b in pairwise(ends)]

    def by_juror(self) -> Any:
        """A dataframe, one row a juror: its trios, how many are real, and how far apart they put its accuracies."""
        from jurors.votes.frame import data_frame

        labels = self.sketch.labels
        total = np.bincount(self.trios.ravel(), minlength=len(self.sketch.jurors))
        columns: dict[str, list[Any]] = {"juror": list(self.sketch.jurors), "trios": total.tolist(), "real": []}
        for name in (f"{what} on {label}" for label in labels for what in ("median", "quarter", "three quarters")):
            columns[name] = []
        for values in self._by_juror():
            columns["real"].append(len(values))
            for side, label in enumerate(labels):
                ends = np.quantile(values[:, side], (0.5, 0.25, 0.75)) if len(values) else np.full(3, np.nan)
                for what, end in zip(("median", "quarter", "three quarters"), ends, strict=True):
                    columns[f"{what} on {label}"].append(float(end))
        return data_frame(columns)

    def _repr_html_(self) -> str:
        from jurors.tables import Table

        first, second = self.sketch.labels
        prevalence, accuracy = self.medians()
        rows = tuple((j, *map(_percent, row)) for j, row in zip(self.sketch.jurors, accuracy.tolist(), strict=True))
        title = f"medians over {len(self.trios):,} trios; prevalence of {first}: {_percent(prevalence)}"
        return Table(("juror", f"accuracy on {first}", f"accuracy on {second}"), rows, title=title).to_html()

    def to_frame(self) -> Any:
        """A dataframe, one row a trio: its jurors, items, outcome, prevalence and accuracies."""
        from jurors.votes.frame import data_frame

        names = np.array(self.sketch.jurors, dtype=object)
        first, second = self.sketch.labels
        columns: dict[str, Any] = {f"juror {k + 1}": names[self.trios[:, k]] for k in range(3)}
        columns["items"] = self.decoded.moments.items.astype(np.int64)
        columns["outcome"] = np.array(OUTCOMES, dtype=object)[self.decoded.outcome]
        columns[f"prevalence of {first}"] = self.decoded.prevalence
        for k in range(3):
            columns[f"accuracy {k + 1} on {first}"] = self.decoded.accuracy[:, k, 0]
            columns[f"accuracy {k + 1} on {second}"] = self.decoded.accuracy[:, k, 1]
        return data_frame(columns)


def evaluate_all_trios(sketch: Sketch) -> PanelTrios:
    """Decode every trio of a binary panel, each on the items all three answered.

    Examples
    --------
    >>> counts = {"AAAA": 30, "AAAB": 9, "AABA": 8, "ABAA": 7, "BAAA": 6, "BBBA": 9, "BBAB": 8, "BABB": 7, "BBBB": 40}
    >>> found = evaluate_all_trios(Sketch.from_counts(counts, jurors="ijkl"))
    >>> found.trios.tolist(), found.decoded.prevalence.round(2).tolist()
    ([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]], [0.51, 0.51, 0.52, 0.49])
    """
    trios, moments = trio_moments(sketch)
    return PanelTrios(sketch, trios, decode_trios(moments))


def trio_moments(sketch: Sketch) -> tuple[Integers, TrioMoments]:
    """Every trio's jurors, as positions (M, 3), and its moments on the items all three answered."""
    width = len(sketch.jurors)
    if len(sketch.labels) != 2:
        raise SketchError(f"all trios at once are not available for {len(sketch.labels)} labels, only for two")
    if width > MOST_JURORS:
        count = width * (width - 1) * (width - 2) // 6
        raise SketchError(f"{width:,} jurors have {count:,} trios; take at most {MOST_JURORS} jurors")
    trios = _all_trios(width)
    codes, counts = sketch.tuples.codes, sketch.counts
    if (counts != 1).any():
        return trios, table_moments(_weighted_tables(codes, counts.astype(float), width, trios))
    if (codes < 0).any():
        return trios, table_moments(_popcount_tables(codes, width))
    return trios, _complete_moments(codes, trios)


def _all_trios(width: int) -> Integers:
    """All i < j < k in lexicographic order, (M, 3)."""
    first, second = np.triu_indices(width, 1)
    sizes = width - 1 - second  # how many k follow each pair
    i, j = np.repeat(first, sizes), np.repeat(second, sizes)
    k = np.arange(len(j)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + j + 1
    return np.stack([i, j, k], axis=1)


def _complete_moments(codes: NDArray[Any], trios: Integers) -> TrioMoments:
    """No vote missing, each tuple once: one count a juror, a pair and a trio says it all; no table is needed."""
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
