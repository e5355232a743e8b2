"""Watched series, segments."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from jurors._numeric import Flags, Integers
from jurors.monitor.windows import keys_of

# What is watched: categories into which a decision tuple falls, for every series that may change.
#
#     prevalence  the majority's label
#     juror       whether a juror agrees with the majority of the others (`agrees`), and what it says of items on which
#                 that majority says so and so (`says`: each of the majority's labels is a stratum of its own, so that a
#                 change of prevalence alone changes nothing there)
#     pair        of items on which one of two jurors at least differs from the majority of the rest: whether both say
#                 the same (`together`); a copy does so always, and a juror who gets worse does so less
#     silence     whether a juror voted (`voted`)
#     panel       how many jurors do not say what most say (`apart`: 0, 1, 2 or more), each juror in turn left out: it
#                 rings when every one of these series does, so when no single juror explains it
#
# A majority is the label said most often; where two are, an item is left out of the series. That depends on the item
# alone, so the items that are left are as independent as all of them. Jurors *aside* (under an alarm of their own, or
# newly come) take no part in majorities: what is said of the others is not said because of them.


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


# The stream as the alarms remember it: stretches between borders, of each the counts of its decision tuples.
#
# A border is where a change may have begun. They lie 50 items apart, later a 32nd of the stream, and old ones are
# thinned out, so that a stream of any length keeps a few dozen.


FIRST = 100  #: items before the first border
MOST_TUPLES = 50_000  #: distinct ones that are kept; of the oldest beyond, counts by cell
_STRETCHES_APART, _RATIO = 50, 32
_KNOWN = 4096  # tuples whose cells are remembered
_BEFORE = -(1 << 62)  # the pane of what came before the stream
_THIN = 4  # a border goes when its neighbours lie closer than a quarter of what has come since


@dataclass(frozen=True)
class Counted:
    """Counts by cell of so many jurors and labels, the jurors aside as they were then."""

    jurors: int
    labels: int
    cells: list[int]


@dataclass
class Stretch:
    """Items between two borders."""

    number: int = 0  #: of the border at its end, from 1; 0: still open
    end: int = 0  #: items up to there, from the start of the stream
    time: float | None = None  #: of the last vote there
    panes: tuple[int, int] = (0, 0)  #: the first and last pane whose items it holds
    tuples: Counter[bytes] = field(default_factory=Counter)
    counted: Counted | None = None  #: what is left of tuples that were too many to keep

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types."""
        said = sorted(self.tuples.items())
        keys, counts = [key.hex() for key, _ in said], [count for _, count in said]
        place = {"number": self.number, "end": self.end, "time": self.time, "panes": list(self.panes)}
        return {**place, "keys": keys, "counts": counts, "counted": self.counted and asdict(self.counted)}

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Stretch:
        """The inverse of `to_dict`."""
        tuples = Counter(dict(zip(map(bytes.fromhex, document["keys"]), document["counts"], strict=True)))
        first, last = document["panes"]
        counted = Counted(**document["counted"]) if document["counted"] else None
        return cls(document["number"], document["end"], document["time"], (first, last), tuples, counted)


class Stretches:
    """All stretches, the last of them open, and their counts by cell."""

    def __init__(self, watched: Watched) -> None:
        self.watched = watched
        self.closed: list[Stretch] = []
        self.open = Stretch()
        self.borders = 0  #: made so far, those thinned out among them
        self.rebuild(watched)

    @property
    def items(self) -> int:
        """Counted so far."""
        return self.open.end

    @property
    def room(self) -> int:
        """Items until the next border is due."""
        last = self.closed[-1].end if self.closed else 0
        return last + (max(_STRETCHES_APART, last // _RATIO) if last >= FIRST else FIRST - last) - self.items

    @property
    def numbers(self) -> Integers:
        """Of the borders that are left."""
        return np.array([stretch.number for stretch in self.closed], dtype=np.int64)

    # -- counts by cell -------------------------------------------------------------------------------------------

    def rebuild(self, watched: Watched) -> None:
        """Count all stretches by the cells of `watched`."""
        self.watched = watched
        self._known: dict[bytes, Integers] = {}
        each = [self._cells(stretch) for stretch in self.closed]
        cells = np.array(each, dtype=np.int64).reshape(len(each), watched.size)
        self.upto: Integers = cells.cumsum(axis=0)  #: borders x cells: counts from the start up to each border
        self.now: Integers = cells.sum(axis=0) + self._count(self.open.tuples)  #: counts of the whole stream

    def cells_of(self, keys: list[bytes]) -> Integers:
        """Rows x cells of decision tuples."""
        if len(self._known) > _KNOWN:
            self._known.clear()
        new = [key for key in dict.fromkeys(keys) if key not in self._known]
        if new:
            self._known.update(zip(new, self.watched.cells(codes_of(new, self.watched.jurors)), strict=True))
        return np.array([self._known[key] for key in keys], dtype=np.int64).reshape(len(keys), self.watched.size)

    def _cells(self, stretch: Stretch) -> Integers:
        counted, cells = stretch.counted, self._count(stretch.tuples)
        return cells if counted is None else cells + self.watched.carried(counted.jurors, counted.labels, counted.cells)

    def _count(self, tuples: Counter[bytes]) -> Integers:
        keys, times = list(tuples), np.array(list(tuples.values()), dtype=np.int64)
        counts = np.zeros(self.watched.size, dtype=np.int64)
        for start in range(0, len(keys), _KNOWN):
            counts += times[start : start + _KNOWN] @ self.cells_of(keys[start : start + _KNOWN])
        return counts

    # -- items come in, and are taken back ------------------------------------------------------------------------

    def add(self, tuples: Counter[bytes], pane: int = 0, time: float | None = None) -> None:
        """Count these at the end of the stream."""
        first = self.open.panes[0] if self.open.tuples else pane
        self.open.panes = (min(first, pane), max(first, pane, self.open.panes[1]))
        self.open.tuples.update(tuples)
        self.open.end += tuples.total()
        self.open.time = time if time is not None else self.open.time
        self.now = self.now + self._count(tuples)

    def begin(self, tuples: Counter[bytes]) -> None:
        """Count these before the first item, in a stretch that nothing is moved into."""
        self.add(tuples, _BEFORE)
        self.open.panes = (_BEFORE, _BEFORE)
        self.close()
        self.closed[-1].end = self.open.end = 0

    def move(self, tuples: Counter[bytes], pane: int) -> bool:
        """Count these in an older pane, or (negative) take them back; False where they are no longer known."""
        at = self._stretch_of(tuples, pane)
        if at is None:
            return False
        stretches = [*self.closed, self.open]
        stretches[at].tuples.update(tuples)
        stretches[at].tuples = +stretches[at].tuples
        for later in stretches[at:]:
            later.end += sum(tuples.values())
        more = self._count(tuples)
        self.upto[at:] += more
        self.now = self.now + more
        return True

    def _stretch_of(self, tuples: Counter[bytes], pane: int) -> int | None:
        """The newest stretch of a pane that holds what is to be taken back."""
        for at, stretch in reversed(list(enumerate([*self.closed, self.open]))):
            within = stretch.panes[0] <= pane <= stretch.panes[1] and stretch.tuples
            if within and all(stretch.tuples[key] + times >= 0 for key, times in tuples.items()):
                return at
        return None

    # -- borders ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Make a border here, if something came since the last."""
        if not self.open.tuples:
            return
        self.borders += 1
        self.open.number = self.borders
        self.closed.append(self.open)
        self.open = Stretch(end=self.open.end, time=self.open.time, panes=(self.open.panes[1],) * 2)
        self.upto = np.vstack([self.upto, self.now])

    def thin(self, needed: set[int]) -> None:
        """Leave out old borders that lie close to their neighbours, except those needed."""
        at = 1
        while at < len(self.closed) - 1:
            before, here, after = self.closed[at - 1 : at + 2]
            if after.end - before.end > (self.items - after.end) / _THIN or here.number in needed:
                at += 1
                continue
            if here.counted or after.counted:
                both = self._cells(here) + self._cells(after)
                after.counted = Counted(self.watched.jurors, self.watched.labels, both.tolist())
                after.tuples.clear()
            else:
                after.tuples.update(here.tuples)
            after.panes = (min(here.panes[0], after.panes[0]), max(here.panes[1], after.panes[1]))
            del self.closed[at]
            self.upto = np.delete(self.upto, at, axis=0)

    def forget(self) -> None:
        """Keep counts by cell alone of the oldest stretches, where there are too many tuples to keep."""
        distinct = sum(len(stretch.tuples) for stretch in self.closed)
        for stretch in self.closed:
            if distinct <= MOST_TUPLES:
                return
            distinct -= len(stretch.tuples)
            stretch.counted = Counted(self.watched.jurors, self.watched.labels, self._cells(stretch).tolist())
            stretch.tuples.clear()

    def halves(self, since: int) -> tuple[Counter[bytes], Counter[bytes]]:
        """The tuples of the stretches that ended before an item, and of the others."""
        before, after = Counter[bytes](), Counter[bytes]()
        for stretch in [*self.closed, self.open]:
            (after if stretch.end >= since else before).update(stretch.tuples)
        return before, after

    # -- JSON ---------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types."""
        return {"borders": self.borders, "stretches": [each.to_dict() for each in [*self.closed, self.open]]}

    def restore(self, document: dict[str, Any]) -> None:
        """Take the place of stretches written by `to_dict`."""
        self.borders = document["borders"]
        *self.closed, self.open = map(Stretch.from_dict, document["stretches"])
        self.rebuild(self.watched)


def codes_of(keys: list[bytes], jurors: int) -> Integers:
    """Keys as rows x jurors; labels from 1, 0 for no vote."""
    width = max(jurors, 1)
    return np.array(keys, dtype=f"S{width}").view(np.uint8).reshape(len(keys), width)[:, :jurors].astype(np.int64)


def keys_from(codes: Integers) -> list[bytes]:
    """The inverse of `codes_of`."""
    return keys_of(codes.astype(np.uint8))
