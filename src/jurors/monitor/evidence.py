"""What drift detection watches, and the evidence of a change that is valid however often one looks.

**Series.** A decision tuple falls into categories (cells), for every series that may change:

    prevalence  the majority's label
    juror       whether a juror agrees with the majority of the others (`agrees`), and its label on items by the label
                of that majority (`says`: each of the majority's labels is a stratum of its own, so that a change of
                prevalence alone changes nothing there)
    pair        of items on which at least one of two jurors differs from the majority of the rest: whether both give
                the same label (`together`); a copy always does, and a juror who gets worse does so less
    silence     whether a juror voted (`voted`)
    panel       how many jurors differ from the majority (`apart`: 0, 1, 2 or more), each juror in turn left out: it is
                detected when every one of these series is, so when no single juror explains it

A majority is the label given most often; an item with a tie is left out of the series. That depends on the item alone,
so the remaining items are as independent as all of them. Jurors *aside* (under an alarm of their own, or newly come)
take no part in majorities: a change of theirs is no change of the others.

**Segments.** The stream is stored as segments between borders, of each the counts of its decision tuples. A border is
where a change may have begun. They lie 50 items apart, later a 32nd of the stream, and old ones are thinned out, so
that a stream of any length has a few dozen.

**Evidence** that categories changed their shares at a border. The null hypothesis: x₁, x₂, … are independent with one
unknown vector of shares p. For a border with counts n before it and m after it, and any fixed p, the Pólya urns that
start from a·p (before) and from b·p (after) are bets against p:

    M(p) = DM(n; a·p) DM(m; b·p) / ∏ p_c^(n_c + m_c),   DM(n; α) = Γ(|α|)/Γ(|α|+|n|) ∏ Γ(α_c+n_c)/Γ(α_c),

For the true p the numerator is a probability of sequences, so M(p) is a ratio of two likelihoods: a martingale that
starts at 1. By optional stopping it has mean 1 at every stopping time, and E = inf_p M(p) has mean at most 1 whichever
p is true: an e-process. So are its mean over several b, its weighted sum over borders, with weights of sum at most 1,
and its product over independent strata. By Ville's inequality, P(E ≥ 1/α at any time) ≤ α.

An urn around p itself pays ½ ln(1 + n/a) for learning what was before; Krichevsky and Trofimov's over the greatest
likelihood (universal inference) pays ½ ln n, two to four nats more on streams of thousands.

In each p_c, ln M is convex and falls (each draw adds ln(a·p + i) - ln p), so from any point p its tangents bound the
least value from below: ln E ≥ Σ (g_c - p_c g'_c) + min g'_c. That bound is what is returned: it needs no solver to be
valid, and a few steps of p_c ∝ -p_c g'_c make it sharp.

**Blocks.** Topics come in runs, batches go to some of the jurors, items are near-copies. Let blocks of B items (or
fewer) be such that, whatever came before, the expected share of each category in a block is p; nothing is assumed about
the items within a block. With y = its counts / B, any θ and Σ y ≤ 1,

    E[∏ (θ_c/p_c)^(y_c)] ≤ E[Σ y_c θ_c/p_c + 1 - Σ y_c] = 1   (weighted means),

so with real numbers n/B and m/B in place of counts, M(p) = DM(n/B; ½) DM(m/B; ½) / ∏ p_c^((n_c + m_c)/B) is a mean over
θ of such products, and inf_p M(p), which is at p = (n + m)/|n + m|, is an e-process. For B = 1 this is Krichevsky and
Trofimov's; strata multiply as before. It costs what it says: B items count as one.

How large a block must be: `BlockHistory` stores the counts of consecutive blocks. `dispersion` compares their spread
with that of blocks of independent items, on each side of a border by itself, so that a change there is no dependence:
if the variance is D times as large, D items count as one. That holds to second order in the size of a change, and is
measured, not proved.

**Alpha** is divided over what is watched, over jurors who may still come, and over borders. All shares add up to 1 at
most, whoever comes and however long the stream lasts, so the chance that an alarm is ever raised on a stream of
independent items that does not change is at most alpha (Ville's inequality for each series and border, added up).
"""

from __future__ import annotations

import base64
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from scipy.special import chdtrc, chdtri, digamma, gammaln, logsumexp, xlogy, zeta

from jurors._numeric import Flags, Floats, Integers
from jurors.monitor.windows import codes_of

# -- what is watched ---------------------------------------------------------------------------------------------------

MOST_PAIRED = 20  #: jurors among whom pairs are watched, those who came first
MOST_STRATA = 8  #: labels up to which `says` is watched
_APART = 4  # categories of `apart`


@dataclass(frozen=True)
class SeriesPart:
    """Cells of one kind: series x strata x categories, within a row of all cells."""

    name: str
    start: int
    shape: tuple[int, int, int]

    @property
    def end(self) -> int:
        """One past its last cell."""
        return self.start + int(np.prod(self.shape))

    def of(self, cells: Integers) -> Integers:
        """Its cells (… x series x strata x categories), a view of counts whose last axis holds all cells."""
        return cells[..., self.start : self.end].reshape(*cells.shape[:-1], *self.shape)


@dataclass(frozen=True)
class WatchedSeries:
    """The series of so many jurors and labels, and how decision tuples fall into their cells."""

    jurors: int
    labels: int
    aside: frozenset[int] = frozenset()
    by_label: bool = False  #: each label of the majority is a stratum of every series: prevalence may change

    @cached_property
    def parts(self) -> dict[str, SeriesPart]:
        """Where the cells of each kind are."""
        strata = self.labels if self.labels <= MOST_STRATA else 0
        shapes = {
            "prevalence": (1, 1, self.labels),
            "agrees": (self.jurors, 1, 2),
            "says": (self.jurors, strata, strata),
            "together": (len(self.pairs), self._strata, 2),
            "voted": (self.jurors, 1, 2),
            "apart": (self.jurors, self._strata, _APART),
        }
        parts, start = {}, 0
        for name, shape in shapes.items():
            parts[name] = SeriesPart(name, start, shape)
            start = parts[name].end
        return parts

    @property
    def _strata(self) -> int:
        return max(self.labels, 1) if self.by_label and self.labels <= MOST_STRATA else 1

    @cached_property
    def size(self) -> int:
        """How many cells there are."""
        return max(part.end for part in self.parts.values())

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs watched; those of new jurors come last."""
        pairs = combinations(range(min(self.jurors, MOST_PAIRED)), 2)
        return sorted(pairs, key=lambda pair: (pair[1], pair[0]))

    @cached_property
    def parts_of(self) -> dict[str, tuple[SeriesPart, ...]]:
        """The kinds of cells of each subject."""
        juror = ["says"] if self.by_label and self.labels <= MOST_STRATA else ["agrees", "says"]
        every = {"prevalence": ["prevalence"], "juror": juror, "pair": ["together"]}
        every |= {"silence": ["voted"], "panel": ["apart"]}
        return {
            subject: tuple(self.parts[name] for name in names if self.parts[name].shape[1])
            for subject, names in every.items()
        }

    def series(self, subject: str) -> range:
        """The numbers of a subject's series."""
        return range(self.parts_of[subject][0].shape[0])

    def detected_with(self, subject: str, series: int) -> list[tuple[str, int]]:
        """The series that are detected together with one: all of the panel, else itself alone."""
        return [(subject, each) for each in (self.series(subject) if subject == "panel" else [series])]

    def who(self, subject: str, series: int) -> tuple[int, ...]:
        """The jurors of a series."""
        if subject == "pair":
            return self.pairs[series]
        return (series,) if subject in ("juror", "silence") else ()

    def carried(self, jurors: int, labels: int, cells: list[int]) -> Integers:
        """Counts by cell of fewer jurors and labels, in the cells of those of now."""
        before = WatchedSeries(jurors, labels, by_label=self.by_label)
        carried = np.zeros(self.size, dtype=np.int64)
        for name, part in self.parts.items():
            counts = before.parts[name].of(np.array(cells, dtype=np.int64))
            series, strata, categories = counts.shape
            if strata <= part.shape[1]:
                part.of(carried)[:series, :strata, :categories] = counts
        return carried

    def cells(self, codes: Integers) -> Integers:
        """The cells of decision tuples.

        Parameters
        ----------
        codes
            Rows x jurors: labels from 1, 0 for no vote.

        Returns
        -------
        array of int, rows x cells
            1 where a tuple falls.
        """
        rows = np.zeros((len(codes), self.size), dtype=np.int64)
        takes_part = np.array([juror not in self.aside for juror in range(self.jurors)], dtype=bool)
        votes = (codes[:, :, None] == np.arange(1, self.labels + 1)) & takes_part[:, None]  # rows x jurors x labels
        tally = votes.sum(axis=1)

        top = _majority(tally)
        item = np.flatnonzero(top)
        self.parts["prevalence"].of(rows)[item, 0, 0, top[item] - 1] = 1

        others = tally[:, None] - votes
        row, juror = np.indices(codes.shape)
        self.parts["voted"].of(rows)[row, juror, 0, (codes > 0).astype(int)] = 1
        top = _majority(others)
        apart = np.minimum(others.sum(axis=-1) - others.max(axis=-1, initial=0), _APART - 1)
        placed = np.nonzero(top) if self._strata > 1 else np.nonzero(top >= 0)
        self.parts["apart"].of(rows)[(*placed, self._stratum(top[placed]), apart[placed])] = 1
        compared = np.nonzero((top > 0) & (codes > 0))
        of, label = top[compared], codes[compared]
        self.parts["agrees"].of(rows)[(*compared, 0, (of == label).astype(int))] = 1
        if self.parts["says"].shape[1]:
            self.parts["says"].of(rows)[(*compared, of - 1, label - 1)] = 1

        if self.pairs:
            first, second = np.array(self.pairs).T
            top = _majority(tally[:, None] - votes[:, first] - votes[:, second])
            a, b = codes[:, first], codes[:, second]
            item, pair = np.nonzero((top > 0) & (a > 0) & (b > 0) & ((a != top) | (b != top)))
            same = a[item, pair] == b[item, pair]
            self.parts["together"].of(rows)[item, pair, self._stratum(top[item, pair]), same.astype(int)] = 1
        return rows

    def _stratum(self, majority: Integers) -> Integers:
        """The stratum of each label of a majority."""
        return majority - 1 if self._strata > 1 else np.zeros_like(majority)


def _majority(tally: Integers) -> Integers:
    """The label (last axis) given most often, from 1; 0 where there is no vote or a tie."""
    if not tally.shape[-1]:
        return np.zeros(tally.shape[:-1], dtype=np.int64)
    most = tally.max(axis=-1, keepdims=True)
    clear = (most[..., 0] > 0) & ((tally == most).sum(axis=-1) == 1)
    return np.where(clear, tally.argmax(axis=-1) + 1, 0)


def binary_share(counts: Integers, category: int) -> float:
    """The share of one category; NaN where nothing was counted.

    Returns
    -------
    float
        In [0, 1], or NaN.
    """
    total = counts.sum()
    return float(counts[category] / total) if total else float("nan")


# -- blocks of items that depend on each other -------------------------------------------------------------------------

BASE = 50  #: items of the shortest block; so many items without a vote count as one at least
_MOST_BLOCKS = 256  # blocks that are stored: then neighbours are merged
_SURE = 0.01  # chance that independent items look dependent
_CAREFUL = 0.9  # chance that the size of a block is not taken too small
_FEW, _ENOUGH = 4, 20  # degrees of freedom: to see strong dependence, and to know that there is little
_FEWEST_ITEMS = 500  # items, to measure dependence at all


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
        if len(self.counts) >= _MOST_BLOCKS:
            self.counts = [one + two for one, two in zip(self.counts[::2], self.counts[1::2], strict=True)]
            self.ends = self.ends[1::2]
            self.size *= 2

    def dispersion(
        self, part: SeriesPart, series: int, since: int, until: int, changes: Iterable[int]
    ) -> tuple[float, bool]:
        """How many items count as one, in a series that may have changed between two borders.

        Parameters
        ----------
        part, series
            What may have changed.
        since, until
            After how many items, at the earliest and at the latest: short blocks between are left out.
        changes
            After how many items the stream changed, this change and earlier ones: no difference there is dependence.

        Returns
        -------
        float
            An upper confidence limit of the variance of blocks, as a multiple of that of independent items, for the
            length of blocks that gives most: of this series, where it is certain that it exceeds 1, and of all series
            of its part together.
        bool
            Whether there are enough blocks to know that it is not larger.
        """
        counts = np.array([part.of(cells) for cells in self.counts])  # blocks x series x strata x categories
        if not len(counts) or self.ends[-1] < _FEWEST_ITEMS:
            return 1.0, False
        starts, ends = np.array([0, *self.ends[:-1]]), np.array(self.ends)
        is_short = ends - starts < max(2 * BASE, (until - since) / 2)
        kept = ~(is_short & (ends > since) & (starts < until))
        places = [0, *sorted(changes), np.inf]
        steady = [counts[kept & (starts >= begin) & (ends <= end)] for begin, end in pairwise(places)]
        largest, factor, few, is_known = 1.0, 1, _FEW, False
        while True:
            each = np.sum([_chi_square(blocks, factor) for blocks in steady], axis=0)  # 2 x series
            every = each.sum(axis=1)
            if every[1] < few:
                return largest, is_known or not every[1]
            for (statistic, freedom), enough in ((every, _ENOUGH), (each[:, series], np.inf)):
                is_known |= freedom >= enough
                if freedom >= enough or (freedom >= few and chdtrc(freedom, statistic) < _SURE):
                    largest = max(largest, float(statistic / chdtri(freedom, _CAREFUL)))
            factor, few = 2 * factor, 2 * _FEW  # of longer blocks, the limit of few would be far too high

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types."""
        packed = zlib.compress(np.array(self.counts, dtype=np.int64).tobytes(), 1)
        tuples = {key.hex(): times for key, times in sorted(self.open.items())}
        counts = base64.b64encode(packed).decode()
        return {"size": self.size, "open": tuples, "ends": self.ends, "counts": counts, "closed": self.closed}

    def restore(self, document: dict[str, Any], cells: int) -> None:
        """The inverse of `to_dict`, for so many cells."""
        self.size, self.ends, self.closed = document["size"], list(document["ends"]), document["closed"]
        self.open = Counter({bytes.fromhex(key): times for key, times in document["open"].items()})
        counts = np.frombuffer(zlib.decompress(base64.b64decode(document["counts"])), dtype=np.int64)
        self.counts = list(counts.reshape(len(self.ends), cells))


def _chi_square(counts: Integers, factor: int) -> tuple[Floats, Floats]:
    """By series, Pearson's statistic of blocks with equal shares, and its degrees of freedom.

    `factor` neighbours are one block, from the newest on.
    """
    counts = counts[len(counts) % factor :].reshape(-1, factor, *counts.shape[1:]).sum(axis=1)
    if len(counts) < 2:
        return np.zeros(counts.shape[1]), np.zeros(counts.shape[1])
    total = counts.sum(axis=-1, keepdims=True)
    share = counts.sum(axis=0) / np.maximum(total.sum(axis=0), 1)
    expected = total * share
    statistic = np.where(expected > 0, (counts - expected) ** 2 / np.maximum(expected, 1e-9), 0.0)
    freedom = ((total[..., 0] > 0).sum(axis=0) - 1).clip(0) * ((share > 0).sum(axis=-1) - 1).clip(0)
    return statistic.sum(axis=(0, 2, 3)), freedom.sum(axis=-1).astype(float)


# -- segments of the stream --------------------------------------------------------------------------------------------

FIRST = 100  #: items before the first border
MOST_TUPLES = 50_000  #: distinct ones that are stored; of the oldest beyond, counts by cell
_SPACING, _RATIO = 50, 32  # between borders: items, and a share of the stream
_KNOWN = 4096  # tuples whose cells are remembered
_BEFORE = -(1 << 62)  # the pane of what came before the stream
_THIN = 4  # a border goes when its neighbours lie closer than a quarter of what has come since


@dataclass
class Segment:
    """A segment: items between two borders."""

    number: int = 0  #: of the border at its end, from 1; 0: still open
    end: int = 0  #: items up to there, from the start of the stream
    time: float | None = None  #: of the last vote there
    panes: tuple[int, int] = (0, 0)  #: the first and last pane whose items it holds
    tuples: Counter[bytes] = field(default_factory=Counter)
    counted: dict[str, Any] | None = None  #: counts by cell, left of too many tuples: arguments of `carried`

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types."""
        tuples = sorted(self.tuples.items())
        keys, counts = [key.hex() for key, _ in tuples], [count for _, count in tuples]
        place = {"number": self.number, "end": self.end, "time": self.time, "panes": list(self.panes)}
        return {**place, "keys": keys, "counts": counts, "counted": self.counted}

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Segment:
        """The inverse of `to_dict`."""
        tuples = Counter(dict(zip(map(bytes.fromhex, document["keys"]), document["counts"], strict=True)))
        first, last = document["panes"]
        return cls(document["number"], document["end"], document["time"], (first, last), tuples, document["counted"])


class Segments:
    """All segments, the last of them open, and their counts by cell."""

    def __init__(self, watched: WatchedSeries) -> None:
        self.watched = watched
        self.closed: list[Segment] = []
        self.open = Segment()
        self.borders = 0  #: made so far, those thinned out among them
        self.history = BlockHistory()
        self.rebuild(watched)

    @property
    def items(self) -> int:
        """Counted so far."""
        return self.open.end

    @property
    def room(self) -> int:
        """Items until the next border is due."""
        last = self.closed[-1].end if self.closed else 0
        return last + (max(_SPACING, last // _RATIO) if last >= FIRST else FIRST - last) - self.items

    @property
    def numbers(self) -> Integers:
        """The numbers of the borders that are left."""
        return np.array([segment.number for segment in self.closed], dtype=np.int64)

    # -- counts by cell -------------------------------------------------------------------------------------------

    def rebuild(self, watched: WatchedSeries) -> None:
        """Count all segments by the cells of `watched`."""
        if watched != self.watched:
            self.history.clear()
        self.watched = watched
        self._known: dict[bytes, Integers] = {}
        each = [self._cells(segment) for segment in self.closed]
        cells = np.array(each, dtype=np.int64).reshape(len(each), watched.size)
        self.upto: Integers = cells.cumsum(axis=0)  #: borders x cells: counts from the start up to each border
        self.now: Integers = cells.sum(axis=0) + self._count(self.open.tuples)  #: counts of the whole stream

    def rest(self) -> None:
        """Forget the cells of decision tuples, which are large."""
        self._known.clear()

    def cells_of(self, keys: list[bytes]) -> Integers:
        """Rows x cells of decision tuples."""
        if len(self._known) > _KNOWN:
            self._known.clear()
        new = [key for key in dict.fromkeys(keys) if key not in self._known]
        if new:
            codes = codes_of(new, self.watched.jurors).astype(np.int64)
            self._known.update(zip(new, self.watched.cells(codes), strict=True))
        return np.array([self._known[key] for key in keys], dtype=np.int64).reshape(len(keys), self.watched.size)

    def _cells(self, segment: Segment) -> Integers:
        cells = self._count(segment.tuples)
        return cells if segment.counted is None else cells + self.watched.carried(**segment.counted)

    def _condense(self, segment: Segment, cells: Integers) -> None:
        """Leave nothing but these counts by cell, the jurors aside as they are now."""
        segment.counted = {"jurors": self.watched.jurors, "labels": self.watched.labels, "cells": cells.tolist()}
        segment.tuples.clear()

    def _count(self, tuples: Counter[bytes]) -> Integers:
        keys, times = list(tuples), np.array(list(tuples.values()), dtype=np.int64)
        counts = np.zeros(self.watched.size, dtype=np.int64)
        for start in range(0, len(keys), _KNOWN):
            counts += times[start : start + _KNOWN] @ self.cells_of(keys[start : start + _KNOWN])
        return counts

    # -- items come in, and are taken back ------------------------------------------------------------------------

    def add(self, tuples: Counter[bytes], pane: int = 0, time: float | None = None) -> None:
        """Count these at the end of the stream."""
        if self.history.open.total() >= self.history.size:
            self.history.close(self._count(self.history.open), self.items)
        self.history.open.update(tuples)
        first = self.open.panes[0] if self.open.tuples else pane
        self.open.panes = (min(first, pane), max(first, pane, self.open.panes[1]))
        self.open.tuples.update(tuples)
        self.open.end += tuples.total()
        self.open.time = time if time is not None else self.open.time
        self.now = self.now + self._count(tuples)

    def begin(self, tuples: Counter[bytes]) -> None:
        """Count these before the first item, in a segment that nothing is moved into."""
        self.add(tuples, _BEFORE)
        self.open.panes = (_BEFORE, _BEFORE)
        self.history.open.clear()
        self.close()
        self.closed[-1].end = self.open.end = 0

    def move(self, tuples: Counter[bytes], pane: int) -> bool:
        """Count these in an older pane, or (negative) take them back; False where they are no longer known."""
        segments = [*self.closed, self.open]
        for at in reversed(range(len(segments))):  # the newest segment of the pane that holds what is to be taken back
            segment = segments[at]
            is_of_pane = segment.tuples and segment.panes[0] <= pane <= segment.panes[1]
            if is_of_pane and all(segment.tuples[key] + times >= 0 for key, times in tuples.items()):
                break
        else:
            return False
        segment.tuples.update(tuples)
        segment.tuples = +segment.tuples
        for later in segments[at:]:
            later.end += sum(tuples.values())
        self.history.move(tuples)
        more = self._count(tuples)
        self.upto[at:] += more
        self.now = self.now + more
        return True

    # -- borders ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Add a border here, if an item came since the last."""
        if not self.open.tuples:
            return
        self.borders += 1
        self.open.number = self.borders
        self.closed.append(self.open)
        self.open = Segment(end=self.open.end, time=self.open.time, panes=(self.open.panes[1],) * 2)
        self.upto = np.vstack([self.upto, self.now])

    def thin(self, needed: set[int]) -> None:
        """Drop old borders that lie close to their neighbours, except those needed."""
        at = 1
        while at < len(self.closed) - 1:
            before, here, after = self.closed[at - 1 : at + 2]
            if after.end - before.end > (self.items - after.end) / _THIN or here.number in needed:
                at += 1
                continue
            if here.counted or after.counted:
                self._condense(after, self._cells(here) + self._cells(after))
            else:
                after.tuples.update(here.tuples)
            after.panes = (min(here.panes[0], after.panes[0]), max(here.panes[1], after.panes[1]))
            del self.closed[at]
            self.upto = np.delete(self.upto, at, axis=0)

    def forget(self) -> None:
        """Reduce the oldest segments to counts by cell, where there are too many distinct tuples to store."""
        distinct = sum(len(segment.tuples) for segment in self.closed)
        for segment in self.closed:
            if distinct <= MOST_TUPLES:
                return
            distinct -= len(segment.tuples)
            self._condense(segment, self._cells(segment))

    # -- JSON ---------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types."""
        stretches = [each.to_dict() for each in [*self.closed, self.open]]
        return {"borders": self.borders, "stretches": stretches, "history": self.history.to_dict()}

    def restore(self, document: dict[str, Any], watched: WatchedSeries) -> None:
        """The inverse of `to_dict`, with what was watched then."""
        self.borders = document["borders"]
        *self.closed, self.open = map(Segment.from_dict, document["stretches"])
        self.rebuild(watched)
        self.history.restore(document["history"], watched.size)


# -- evidence of a change ----------------------------------------------------------------------------------------------

LEARNED = 8.0  #: the urn before a border starts with an eighth of the items there: 8/9 of their information is used
CHANGES = (4.0, 40.0)  #: urns after a border: large changes and small ones, mixed half and half
_STEPS = 4
_ROUNDING = 1e-9
_TINY = 1e-300


def log_evidence(before: Integers, after: Integers) -> Floats:
    """ln E of a change at a border.

    Parameters
    ----------
    before, after
        Counts before and after the border, … x categories.

    Returns
    -------
    array of float, of the leading axes
        The logarithm of the evidence, mixed over `CHANGES`.

    Examples
    --------
    >>> log_evidence(np.array([80, 20]), np.array([160, 40])) < 0 < log_evidence(np.array([80, 20]), np.array([40, 40]))
    np.True_
    """
    start = 1 + before.sum(axis=-1, keepdims=True) / LEARNED
    each = [least_log_bet(before, after, start, urn) for urn in CHANGES]
    return np.asarray(logsumexp(each, axis=0) - np.log(len(CHANGES)))


def least_log_bet(before: Integers, after: Integers, start: Floats | float, urn: float) -> Floats:
    """A bound from below of inf over p of ln M(p), with a = `start` and b = `urn`."""
    n, m = before.sum(axis=-1, keepdims=True), after.sum(axis=-1, keepdims=True)
    paid = gammaln(start) - gammaln(start + n) + gammaln(urn) - gammaln(urn + m)
    # From both sides' shares, weighted by how much of their information the urns use.
    p = _normalized(before * (n / (n + start)) + after * (m / (m + urn)), 1 / before.shape[-1])
    # g(p) is the part of ln M that a category adds; its first draw from an urn never depends on p.
    again = np.maximum(before - 1, 0) + np.maximum(after - 1, 0)
    slope = _urn_slope(p, before, start) + _urn_slope(p, after, urn) - again / p
    for _ in range(_STEPS):
        p = _normalized(-p * slope, p)
        slope = _urn_slope(p, before, start) + _urn_slope(p, after, urn) - again / p
    height = _urn_height(p, before, start) + _urn_height(p, after, urn) - again * np.log(p)
    tangents = (height - p * slope).sum(axis=-1) + slope.min(axis=-1)
    return np.asarray(paid[..., 0] + tangents - _ROUNDING)


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
    urn = np.zeros_like(n)
    return np.asarray(log_urn_chance(n, urn) + log_urn_chance(m, urn) - best)


def log_urn_chance(came: Floats, urn: Floats) -> Floats:
    """ln of the chance of what came (… x categories), drawn from an urn with half an item more of each category.

    Returns
    -------
    array of float, of the leading axes
        ln DM(came; urn + ½).
    """
    start, total = urn + 0.5, urn.sum(axis=-1) + urn.shape[-1] / 2
    drawn = (gammaln(start + came) - gammaln(start)).sum(axis=-1)
    return np.asarray(drawn + gammaln(total) - gammaln(total + came.sum(axis=-1)))


def log_ceiling(before: Integers, after: Integers) -> Floats:
    """The logarithm of the likelihood ratio of two vectors of shares against one, which no bet exceeds.

    It is cheap, so that the evidence itself is computed only where it can matter.

    Returns
    -------
    array of float
        In nats, over the leading axes of the counts.
    """
    return best_log_chance(before) + best_log_chance(after) - best_log_chance(before + after)


def best_log_chance(counts: Integers) -> Floats:
    """The greatest log-likelihood of counts (… x categories), Σ n_c ln(n_c / n)."""
    each = np.moveaxis(counts, -1, 0)  # numpy adds up few categories slowly, along the last axis
    total = sum(each[1:], start=each[0])
    logs = _log_table(max(int(total.max(initial=0)).bit_length(), 10))
    return np.asarray(sum((logs[category] for category in each), start=-logs[total]))


@cache
def _log_table(bits: int) -> Floats:
    """n ln n of 0, 1 … 2^bits - 1: a lookup takes a fifth of the time of computing it."""
    counts = np.arange(1 << bits)
    return np.asarray(xlogy(counts, counts))


def _normalized(weights: Floats, otherwise: Floats | float) -> Floats:
    """Weights as shares above 0 that add up to 1; other ones where all weights are 0."""
    whole = weights.sum(axis=-1, keepdims=True)
    return np.maximum(np.where(whole > 0, weights / np.where(whole > 0, whole, 1), otherwise), _TINY)


def _urn_height(p: Floats, n: Integers, start: Floats | float) -> Floats:
    return np.where(n > 0, np.log(start) + gammaln(n + start * p) - gammaln(1 + start * p), 0.0)


def _urn_slope(p: Floats, n: Integers, start: Floats | float) -> Floats:
    first = start * p
    return np.where(n > 0, start * (digamma(np.maximum(n, 1) + first) - digamma(1 + first)), 0.0)


# -- how alpha is divided ----------------------------------------------------------------------------------------------

#: The share of each subject.
SUBJECTS = {"prevalence": 0.2, "juror": 0.35, "pair": 0.2, "silence": 0.15, "panel": 0.1}
_FOR_THE_FIRST = 0.75  # of a subject's share: the rest is for jurors who come later
_FALL = 1.2  # border j is worth j^-1.2/ζ(1.2): the sum over all borders that will ever be is 1


def shares(members: int, first: int) -> Floats:
    """The share of each member: the `first` split three quarters, each doubling of their number half of the rest.

    >>> shares(4, 2).tolist()
    [0.375, 0.375, 0.0625, 0.0625]
    """
    first = max(first, 1)
    place = np.arange(members)
    doubling = np.where(place < first, 0, np.floor(np.log2(np.maximum(place, first) / first)) + 1)
    late = (1 - _FOR_THE_FIRST) * 0.5**doubling / (first * 2.0 ** (doubling - 1))
    return np.where(doubling == 0, _FOR_THE_FIRST / first, late)


def log_border_shares(numbers: Floats) -> Floats:
    """ln of the share of the first border, of the second …

    Returns
    -------
    array of float
        In nats, one per border.
    """
    return np.asarray(-_FALL * np.log(numbers) - np.log(zeta(_FALL)))


# -- the test of all series --------------------------------------------------------------------------------------------

_NEGLIGIBLE = 7.0  # borders whose ceiling lies so far below what is needed are left out of the sum: that lowers it

_LESS = 1.0  # evidence that must be added before a pair that agrees less is tested again


@dataclass(frozen=True)
class Detection:
    """A series whose evidence has reached what is needed."""

    subject: str
    series: int
    evidence: float  #: ln of the evidence, all borders mixed
    excess: float  #: how far the evidence is above what is needed, ln(1 / (alpha x the share of this series))
    part: SeriesPart  #: the cells with most evidence
    border: int  #: position of the border at which the change most likely began
    size: float  #: items that count as one


@dataclass(frozen=True)
class ChangeTest:
    """Borders, origins and thresholds, prepared once for all tests until one of them changes."""

    segments: Segments  #: the counts
    alpha: float  #: the total false-alarm rate, for independent blocks
    first: int  #: how many jurors there were at the first border
    origins: dict[tuple[str, int], int]  #: series -> the border at which its watch began; else the stream's start
    resting: set[tuple[str, int]]  #: series (subject, number) that are not watched for now
    expected: frozenset[str] = frozenset()  #: subjects that may change
    block: float = 1.0  #: items of a block
    sizes: dict[tuple[str, int], float] = field(default_factory=dict)  #: of series whose blocks are larger

    @cached_property
    def _subjects(self) -> list[_Subject]:
        watched = [subject for subject in SUBJECTS if subject not in self.expected]
        return [_Subject(self, subject) for subject in watched if self.segments.watched.series(subject)]

    def detections(self, now: Integers) -> Iterator[tuple[int, list[Detection]]]:
        """The rows of `now` (looks x cells: counts of the whole stream) at which a change is detected, and which."""
        if not self.segments.closed:
            return
        passed = [(subject, subject.may_change(now)) for subject in self._subjects]
        for row in np.flatnonzero(sum(flags.sum(axis=1) for _, flags in passed)):
            detections = [
                detection
                for subject, flags in passed
                for series in np.flatnonzero(flags[row])
                if (detection := subject.detect(int(series), now[row], int(row))) is not None
            ]
            if detections:
                yield int(row), detections


class _Subject:
    """The series of one subject."""

    def __init__(self, test: ChangeTest, subject: str) -> None:
        self.subject, segments = subject, test.segments
        self.parts = segments.watched.parts_of[subject]
        series = len(segments.watched.series(subject))
        members = {"juror": test.first, "silence": test.first, "pair": test.first * (test.first - 1) // 2}
        share = shares(series, members[subject]) if subject in members else np.ones(series)
        whole = sum(part for name, part in SUBJECTS.items() if name not in test.expected)
        self.needed: Floats = -np.log(test.alpha * SUBJECTS[subject] / whole * share)
        # How many items count as one, by series.
        least = max(test.block, BASE) if subject == "silence" else test.block
        self._size = np.array([max(least, test.sizes.get((subject, each), 1.0)) for each in range(series)])
        begin = np.array([test.origins.get((subject, each), 0) for each in range(series)])
        self._counts = segments.numbers[:, None] > begin  # borders x series
        self._log_share = log_border_shares(segments.numbers.astype(float))
        self.watched = np.array([(subject, each) not in test.resting for each in range(series)])
        # By part: the counts at each series' origin, up to each border, and the log-likelihood of those between.
        self._start, self._upto, self._chance = [], [], []
        for part in self.parts:
            upto = part.of(segments.upto)
            start = np.zeros(upto.shape[1:], dtype=np.int64)
            for each in np.flatnonzero(begin):
                start[each] = upto[int(np.searchsorted(segments.numbers, begin[each])), each]
            upto = np.where(self._counts[:, :, None, None], upto, start)
            self._start.append(start)
            self._upto.append(upto)
            self._chance.append(best_log_chance(upto - start).sum(axis=-1))
        self._lacking: dict[int, tuple[float, Floats]] = {}  # series -> what its evidence lacked, its ceilings then
        self._ceilings: list[Floats] = []

    def may_change(self, now: Integers) -> Flags:
        """Looks x series: whether the likelihood ratio, which no bet exceeds, would suffice."""
        self._ceilings = []  # by part, looks x borders x series: what no bet exceeds
        for k, part in enumerate(self.parts):
            counts = part.of(now)
            whole = best_log_chance(counts - self._start[k]).sum(axis=-1)
            after = np.moveaxis(best_log_chance(counts[:, None] - self._upto[k]), -1, 0)
            self._ceilings.append(sum(after, start=self._chance[k] - whole[:, None]) / self._size)
        many = np.log(len(self._log_share))  # a sum over borders is at most so many times its largest
        best = np.max([(each + self._log_share[:, None]).max(axis=1) for each in self._ceilings], axis=0)
        enough: Flags = (best + many >= self.needed) & self.watched
        if self.subject == "panel":  # detected when all its series are: reported once, as the first of them
            enough = np.all(enough, axis=1)[:, None]
        return enough

    def detect(self, series: int, now: Integers, row: int) -> Detection | None:
        """The series, if its evidence suffices; of the panel, the series with the least evidence, if all suffice."""
        if self.subject != "panel":
            return self._detect(series, now, row)
        detections = []
        for each in range(len(self.needed)):
            if (detection := self._detect(each, now, row)) is None:
                return None
            detections.append(detection)
        return min(detections, key=lambda detection: detection.evidence)

    def _detect(self, series: int, now: Integers, row: int) -> Detection | None:
        needed, size = float(self.needed[series]), float(self._size[series])
        ceilings = np.array([each[row, :, series] for each in self._ceilings])
        lacking, then = self._lacking.get(series, (0.0, ceilings))
        if (ceilings - then).max() < lacking:  # evidence grows by less than its ceiling does
            return None
        # By part and border: ln of its share times its evidence, where that can matter.
        each = np.full((len(self.parts), len(self._log_share)), -np.inf)
        for k, counts in enumerate(self.parts):
            is_close = ceilings[k] + self._log_share >= self.needed[series] - _NEGLIGIBLE
            at = np.flatnonzero(is_close & self._counts[:, series])
            upto = self._upto[k][at, series]
            before, after = upto - self._start[k][series], counts.of(now)[series] - upto
            found = log_evidence(before, after) if size == 1 else log_block_evidence(before, after, size)
            each[k, at] = found.sum(axis=-1) + self._log_share[at]
        evidence = float(logsumexp(each) - np.log(len(each)))
        if evidence < needed:
            self._lacking[series] = needed - evidence, ceilings
            return None
        part, border = np.unravel_index(np.argmax(each), each.shape)
        if self.subject == "pair":  # two jurors who agree less often need no alarm
            upto = self._upto[0][border, series]
            before, after = upto - self._start[0][series], self.parts[0].of(now)[series] - upto
            if binary_share(after.sum(axis=0), 1) <= binary_share(before.sum(axis=0), 1):
                self._lacking[series] = _LESS, ceilings
                return None
        return Detection(self.subject, series, evidence, evidence - needed, self.parts[part], int(border), size)
