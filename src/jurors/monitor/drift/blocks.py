"""Streams whose items depend on each other: evidence from totals of blocks, and how large a block must be.

**Evidence.** Topics come in runs, batches go to some of the jurors, items are near-copies. Let blocks of B items (or
fewer) be such that, whatever came before, the expected share of each category in a block is p; nothing is assumed about
the items within a block. With y = its counts / B, any θ and Σ y ≤ 1,

    E[∏ (θ_c/p_c)^(y_c)] ≤ E[Σ y_c θ_c/p_c + 1 - Σ y_c] = 1   (weighted means),

so with real numbers n/B and m/B in place of counts, M(p) = DM(n/B; ½) DM(m/B; ½) / ∏ p_c^((n_c + m_c)/B) is a mean over
θ of such products, and inf_p M(p), which is at p = (n + m)/|n + m|, is an e-process. For B = 1 this is Krichevsky and
Trofimov's; strata multiply as before. It costs what it says: B items count as one.

**Size.** `BlockHistory` stores the counts of consecutive blocks. `dispersion` compares their spread with that of blocks
of independent items, on each side of a border by itself, so that a change there is no dependence: if the variance is D
times as large, D items count as one. That holds to second order in the size of a change, and is measured, not proved.
"""

from __future__ import annotations

import base64
import zlib
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import chdtrc, chdtri, gammaln, xlogy

from jurors._numeric import Floats, Integers

if TYPE_CHECKING:
    from jurors.monitor.drift.evidence import SeriesPart

BASE = 50  #: items of the shortest block; so many items without a vote count as one at least
_MOST = 256  # blocks that are stored: then neighbours are merged
_SURE = 0.01  # chance that independent items look dependent
_CAREFUL = 0.9  # chance that the size of a block is not taken too small
_FEW, _ENOUGH = 4, 20  # degrees of freedom: to see strong dependence, and to know that there is little
_LEARN = 500  # items, to measure dependence at all


def log_block_evidence(before: Integers, after: Integers, size: float) -> Floats:
    """ln E of a change at a border, of totals of blocks.

    Parameters
    ----------
    before, after
        Counts before and after the border, … x categories.
    size
        Items of a block.

    Returns
    -------
    array of float, of the leading axes
        The logarithm of the evidence.

    Examples
    --------
    >>> before, after = np.array([400, 100]), np.array([50, 50])
    >>> [round(float(log_block_evidence(before, after, size)), 1) for size in (1, 10)]
    [12.0, -1.8]
    """
    n, m = before / size, after / size
    both = n + m
    best = xlogy(both, both).sum(axis=-1) - xlogy(both.sum(axis=-1), both.sum(axis=-1))
    return np.asarray(_log_urn(n) + _log_urn(m) - best)


def _log_urn(counts: Floats) -> Floats:
    """ln DM(counts; ½)."""
    half = counts.shape[-1] / 2
    drawn = (gammaln(counts + 0.5) - gammaln(0.5)).sum(axis=-1)
    return np.asarray(drawn + gammaln(half) - gammaln(counts.sum(axis=-1) + half))


class BlockHistory:
    """Counts by cell of consecutive blocks, the newest of them open; bounded, because neighbours are merged."""

    def __init__(self) -> None:
        self.size = BASE  #: items of a block, at least
        self.open: Counter[bytes] = Counter()
        self.counts: list[Integers] = []
        self.ends: list[int] = []  #: items of the stream up to the end of each
        self.closed = 0  #: blocks since the beginning

    def clear(self) -> None:
        """Forget the blocks, whose cells now mean something else."""
        self.size, self.counts, self.ends = BASE, [], []

    @property
    def room(self) -> int:
        """Items until the open block is full."""
        return max(1, self.size - self.open.total())

    @property
    def is_full(self) -> bool:
        """Whether the open block has its items."""
        return self.open.total() >= self.size

    def move(self, tuples: Counter[bytes]) -> None:
        """Correct items of the open block; those of older ones stay as they were."""
        if all(self.open[key] + times >= 0 for key, times in tuples.items()):
            self.open.update(tuples)
            self.open = +self.open

    def close(self, cells: Integers, end: int) -> None:
        """Close the open block, whose counts by cell are these."""
        self.counts.append(cells)
        self.ends.append(end)
        self.closed += 1
        self.open = Counter()
        if len(self.counts) >= _MOST:
            self.counts = [one + two for one, two in zip(self.counts[::2], self.counts[1::2], strict=True)]
            self.ends = self.ends[1::2]
            self.size *= 2

    def dispersion(self, part: SeriesPart, series: int, border: int) -> float | None:
        """How many items count as one, in a series that may have changed at a border (after so many items).

        Parameters
        ----------
        part, series
            What may have changed.
        border
            After how many items.

        Returns
        -------
        float or None
            An upper confidence limit of the variance of blocks, as a multiple of that of independent items, for the
            length of blocks that gives most: of this series, where it is certain that it exceeds 1, and of all series
            of its part together. None where there are too few blocks.
        """
        counts = np.array([part.of(cells) for cells in self.counts])  # blocks x series x strata x categories
        if not len(counts) or self.ends[-1] < _LEARN:
            return None
        before = int(np.searchsorted(self.ends, border, side="right"))
        halves, largest, factor, is_known = (counts[:before], counts[before:]), 1.0, 1, False
        while True:
            each = np.sum([_chi_square(_merged(half, factor)) for half in halves], axis=0)  # 2 x series
            every = each.sum(axis=1)
            if every[1] < _FEW:
                return largest if is_known or not every[1] else None
            for (statistic, freedom), enough in ((every, _ENOUGH), (each[:, series], np.inf)):
                is_known |= freedom >= enough
                if freedom >= enough or (freedom >= _FEW and chdtrc(freedom, statistic) < _SURE):
                    largest = max(largest, float(statistic / chdtri(freedom, _CAREFUL)))
            factor *= 2

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types."""
        packed = zlib.compress(np.array(self.counts, dtype=np.int64).tobytes(), 1)
        tuples = {key.hex(): times for key, times in sorted(self.open.items())}
        return {"size": self.size, "open": tuples, "ends": self.ends, "counts": base64.b64encode(packed).decode()}

    def restore(self, document: dict[str, Any], cells: int) -> None:
        """The inverse of `to_dict`, for so many cells."""
        self.size, self.ends = document["size"], list(document["ends"])
        self.open = Counter({bytes.fromhex(key): times for key, times in document["open"].items()})
        counts = np.frombuffer(zlib.decompress(base64.b64decode(document["counts"])), dtype=np.int64)
        self.counts = list(counts.reshape(len(self.ends), cells))


def _merged(counts: Integers, factor: int) -> Integers:
    """Neighbours merged, from the newest on."""
    whole = len(counts) // factor * factor
    return np.asarray(counts[len(counts) - whole :].reshape(-1, factor, *counts.shape[1:]).sum(axis=1))


def _chi_square(counts: Integers) -> tuple[Floats, Floats]:
    """By series, Pearson's statistic of blocks with equal shares, and its degrees of freedom."""
    if len(counts) < 2:
        return np.zeros(counts.shape[1]), np.zeros(counts.shape[1])
    total = counts.sum(axis=-1, keepdims=True)
    share = counts.sum(axis=0) / np.maximum(total.sum(axis=0), 1)
    expected = total * share
    statistic = np.where(expected > 0, (counts - expected) ** 2 / np.maximum(expected, 1e-9), 0.0)
    freedom = ((total[..., 0] > 0).sum(axis=0) - 1).clip(0) * ((share > 0).sum(axis=-1) - 1).clip(0)
    return statistic.sum(axis=(0, 2, 3)), freedom.sum(axis=-1).astype(float)
