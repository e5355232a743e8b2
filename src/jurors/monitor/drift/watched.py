"""What is watched: categories into which a decision tuple falls, for every series that may change.

    prevalence  the majority's label
    juror       whether a juror agrees with the majority of the others (`agrees`), and what it says of items on which
                that majority says so and so (`says`: each of the majority's labels is a stratum of its own, so that a
                change of prevalence alone changes nothing there)
    pair        of items on which one of two jurors at least differs from the majority of the rest: whether both say
                the same (`together`); a copy does so always, and a juror who gets worse does so less
    silence     whether a juror voted (`voted`)
    panel       how many jurors do not say what most say (`apart`: 0, 1, 2 or more), each juror in turn left out: it
                rings when every one of these series does, so when no single juror explains it

A majority is the label said most often; where two are, an item is left out of the series. That depends on the item
alone, so the items that are left are as independent as all of them. Jurors *aside* (under an alarm of their own, or
newly come) take no part in majorities: what is said of the others is not said because of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from jurors.numbers.arrays import Flags, Integers

MOST_PAIRED = 20  #: pairs are watched among so many jurors, those who came first
MOST_STRATA = 8  #: labels up to which `says` is watched
_APART = 4


@dataclass(frozen=True)
class Part:
    """Cells of one kind: series x strata x categories, in a row of all cells."""

    name: str
    start: int
    shape: tuple[int, int, int]

    @property
    def end(self) -> int:
        """One past its last cell."""
        return self.start + int(np.prod(self.shape))

    def of(self, cells: Integers) -> Integers:
        """Its cells, of counts whose last axis holds all cells."""
        return cells[..., self.start : self.end].reshape(*cells.shape[:-1], *self.shape)


@dataclass(frozen=True)
class Watched:
    """The series of so many jurors and labels, and how decision tuples fall into their cells."""

    jurors: int
    labels: int
    aside: frozenset[int] = frozenset()

    @cached_property
    def parts(self) -> dict[str, Part]:
        """Where the cells of each kind are."""
        strata = self.labels if self.labels <= MOST_STRATA else 0
        shapes = {
            "prevalence": (1, 1, self.labels),
            "agrees": (self.jurors, 1, 2),
            "says": (self.jurors, strata, strata),
            "together": (len(self.pairs), 1, 2),
            "voted": (self.jurors, 1, 2),
            "apart": (self.jurors, 1, _APART),
        }
        parts, start = {}, 0
        for name, shape in shapes.items():
            parts[name] = Part(name, start, shape)
            start = parts[name].end
        return parts

    @cached_property
    def size(self) -> int:
        """How many cells there are."""
        return max(part.end for part in self.parts.values())

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Those watched, the earliest jurors' first: new jurors' pairs come last."""
        together = combinations(range(min(self.jurors, MOST_PAIRED)), 2)
        return sorted(together, key=lambda pair: (pair[1], pair[0]))

    @cached_property
    def parts_of(self) -> dict[str, tuple[Part, ...]]:
        """The kinds of cells that tell of each subject."""
        of = {"prevalence": ["prevalence"], "juror": ["agrees", "says"], "pair": ["together"]}
        of |= {"silence": ["voted"], "panel": ["apart"]}
        return {
            subject: tuple(self.parts[name] for name in names if self.parts[name].shape[1])
            for subject, names in of.items()
        }

    def series(self, subject: str) -> range:
        """The numbers of a subject's series."""
        return range(self.parts_of[subject][0].shape[0])

    def who(self, subject: str, series: int) -> tuple[int, ...]:
        """The jurors whom a series is about."""
        if subject == "pair":
            return self.pairs[series]
        return (series,) if subject in ("juror", "silence") else ()

    def carried(self, jurors: int, labels: int, cells: list[int]) -> Integers:
        """Counts by cell of fewer jurors and labels, in the cells of all there are now."""
        before, carried = Watched(jurors, labels), np.zeros(self.size, dtype=np.int64)
        for name, part in self.parts.items():
            was = before.parts[name].of(np.array(cells, dtype=np.int64))
            series, strata, categories = was.shape
            if strata <= part.shape[1]:
                part.of(carried)[:series, :strata, :categories] = was
        return carried

    # -- cells ------------------------------------------------------------------------------------------------------

    def cells(self, codes: Integers) -> Integers:
        """Rows x cells: 1 where a decision tuple falls (rows x jurors; labels from 1, 0 for no vote)."""
        rows = np.zeros((len(codes), self.size), dtype=np.int64)
        said = codes[:, :, None] == np.arange(1, self.labels + 1)
        heard = [juror for juror in range(self.jurors) if juror not in self.aside]
        tally = said[:, heard].sum(axis=1)
        takes_part = np.array([juror not in self.aside for juror in range(self.jurors)], dtype=bool)
        own = said & takes_part[:, None]
        self._whole(rows, tally)
        self._each(rows, codes, tally[:, None] - own)
        self._pairs(rows, codes, tally, own)
        return rows

    def _whole(self, rows: Integers, tally: Integers) -> None:
        top = _majority(tally)
        item = np.flatnonzero(top)
        self.parts["prevalence"].of(rows)[item, 0, 0, top[item] - 1] = 1

    def _each(self, rows: Integers, codes: Integers, others: Integers) -> None:
        item, juror = np.indices(codes.shape)
        self.parts["voted"].of(rows)[item, juror, 0, (codes > 0).astype(int)] = 1
        apart = others.sum(axis=-1) - others.max(axis=-1, initial=0)
        self.parts["apart"].of(rows)[item, juror, 0, np.minimum(apart, _APART - 1)] = 1
        top = _majority(others)
        compared = np.nonzero((top > 0) & (codes > 0))
        of, says = top[compared], codes[compared]
        self.parts["agrees"].of(rows)[(*compared, 0, (of == says).astype(int))] = 1
        if self.parts["says"].shape[1]:
            self.parts["says"].of(rows)[(*compared, of - 1, says - 1)] = 1

    def _pairs(self, rows: Integers, codes: Integers, tally: Integers, own: Flags) -> None:
        if not self.pairs:
            return
        first, second = np.array(self.pairs).T
        top = _majority(tally[:, None] - own[:, first] - own[:, second])
        one, other = codes[:, first], codes[:, second]
        item, pair = np.nonzero((top > 0) & (one > 0) & (other > 0) & ((one != top) | (other != top)))
        same = one[item, pair] == other[item, pair]
        self.parts["together"].of(rows)[item, pair, 0, same.astype(int)] = 1


def _majority(tally: Integers) -> Integers:
    """The label (last axis) said most often, from 1; 0 where nobody voted or two were said equally often."""
    if not tally.shape[-1]:
        return np.zeros(tally.shape[:-1], dtype=np.int64)
    most = tally.max(axis=-1, keepdims=True)
    clear = (most[..., 0] > 0) & ((tally == most).sum(axis=-1) == 1)
    return np.where(clear, tally.argmax(axis=-1) + 1, 0)


def share(counts: Integers, category: int) -> float:
    """The share of one category; NaN where nothing was counted."""
    total = counts.sum()
    return float(counts[category] / total) if total else float("nan")
