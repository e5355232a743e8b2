"""The stream as the alarms remember it: stretches between borders, of each the counts of its decision tuples.

A border is where a change may have begun. They lie 50 items apart, later a 32nd of the stream, and old ones are thinned
out, so that a stream of any length keeps a few dozen.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from jurors.monitor.drift.watched import Watched
from jurors.monitor.keys import keys_of
from jurors.numbers.arrays import Integers

FIRST = 100  #: items before the first border
MOST_TUPLES = 50_000  #: distinct ones that are kept; of the oldest beyond, counts by cell
_APART, _RATIO = 50, 32
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
        return last + (max(_APART, last // _RATIO) if last >= FIRST else FIRST - last) - self.items

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
