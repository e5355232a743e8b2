"""What panes hold more than at the last look: items that are new, and items whose decision tuple changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jurors.monitor.panes import Pane, Panes

_CORRECTABLE = 16  # panes in which a change of the past is still taken up


@dataclass(frozen=True)
class News:
    """What one pane holds more."""

    pane: int
    new: Counter[bytes]
    changed: Counter[bytes]  #: tuples taken back (negative), and those in their place
    is_newest: bool
    time: float | None


class Intake:
    """The newest panes as they were seen last."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[int, Counter[bytes]]] = {}  # pane -> its revision and counts

    def news(self, panes: Panes) -> Iterator[News]:
        """Pane by pane, the oldest first; what was seen is seen from then on."""
        for number in sorted(panes.panes):
            pane = panes.panes[number]
            revision, seen = self._seen.get(number, (-1, Counter()))
            too_old = len(self._seen) >= _CORRECTABLE and number < min(self._seen)
            joined = panes.since is not None and number <= panes.since and bool(self._seen)  # to older ones seen before
            if too_old or joined or (pane.revision == revision and pane.items == seen.total()):
                continue
            yield self._news(pane, seen)
        for old in sorted(self._seen)[:-_CORRECTABLE]:
            del self._seen[old]

    def _news(self, pane: Pane, seen: Counter[bytes]) -> News:
        is_newest = pane.number >= max(self._seen, default=pane.number)
        more = Counter(pane.tuples)
        more.subtract(seen)
        self._seen[pane.number] = pane.revision, Counter(pane.tuples)
        return News(pane.number, *changed_apart(more), is_newest, pane.last_time)

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types: pane -> key -> count."""
        return {str(pane): {key.hex(): n for key, n in sorted(seen.items())} for pane, (_, seen) in self._seen.items()}

    def restore(self, document: dict[str, Any]) -> None:
        """Take the place of an intake written by `to_dict`."""
        for pane, seen in document.items():
            self._seen[int(pane)] = -1, Counter({bytes.fromhex(key): count for key, count in seen.items()})


def changed_apart(more: Counter[bytes]) -> tuple[Counter[bytes], Counter[bytes]]:
    r"""What came new, and what changed: for each tuple taken back, one that takes its place.

    >>> changed_apart(Counter({b"\1": -1, b"\1\2": 2}))
    (Counter({b'\x01\x02': 1}), Counter({b'\x01\x02': 1, b'\x01': -1}))
    """
    new, gone = +more, -more
    changed = Counter[bytes]()
    for key in gone.elements():
        changed[key] -= 1
        place = next((other for other in new if _goes_on(key, other)), next(iter(new), None))
        if place is not None:
            changed[place] += 1
            new = new - Counter([place])
    return new, changed


def _goes_on(key: bytes, other: bytes) -> bool:
    """Whether a tuple says all that another said, and more."""
    return len(other) >= len(key) and all(said in (0, also) for said, also in zip(key, other, strict=False))
