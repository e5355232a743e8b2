"""`Pane`: one stretch of a stream, as counts of its decision tuples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from jurors.monitor.keys import from_text, to_text, votes_in


@dataclass
class Pane:
    """One stretch of the stream."""

    number: int
    tuples: dict[bytes, int] = field(default_factory=dict)  #: key -> on how many items it was said
    items: int = 0
    votes: int = 0
    first_time: float | None = None  #: of its votes' own times, where they have some
    last_time: float | None = None
    revision: int = field(default=0, compare=False)  #: grows with every change

    def see(self, first: float | None, last: float | None) -> None:
        """Note the times of some of its votes, where they have any."""
        if first is not None:
            self.first_time = first if self.first_time is None else min(self.first_time, first)
        if last is not None:
            self.last_time = last if self.last_time is None else max(self.last_time, last)

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types; keys in a fixed order, so that equal panes give equal documents."""
        said = sorted(self.tuples.items())
        return {
            "number": self.number,
            "keys": to_text([key for key, _ in said]),
            "counts": [count for _, count in said],
            "times": [self.first_time, self.last_time],
        }

    def copy(self) -> Pane:
        """A pane of its own, with the same counts."""
        return replace(self, tuples=dict(self.tuples))

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Pane:
        """The inverse of `to_dict`."""
        pane = cls(int(document["number"]))
        for key, count in zip(from_text(document["keys"], len(document["counts"])), document["counts"], strict=True):
            pane.add(key, int(count))
        pane.first_time, pane.last_time = document["times"]
        return pane

    def add(self, key: bytes, times: int = 1) -> None:
        """Count a decision tuple so many times more, or (negative) fewer."""
        count = self.tuples.get(key, 0) + times
        if count < 0:
            raise ValueError(f"pane {self.number} holds no such tuple to take back")
        if count:
            self.tuples[key] = count
        else:
            self.tuples.pop(key, None)
        self.items += times
        self.votes += times * votes_in(key)
        self.revision += 1
