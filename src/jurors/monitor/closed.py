"""Closed items: fingerprints of their names, so that a late vote does not begin an item anew."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors.numbers.arrays import Flags

Marks: TypeAlias = NDArray[np.uint64]

_WAITING = 1024


class Closed:
    """Fingerprints (64 bits) of at least the last `most` names, at most twice as many: 8 bytes each.

    That a new name has the fingerprint of a closed one happens once in 10^12 names where a million are closed.

    Examples
    --------
    >>> closed = Closed(1000)
    >>> closed.add(["q1", "q2"])
    >>> closed.holds(["q2", "q3"]).tolist()
    [True, False]
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._waiting: list[int] = []  # not yet sorted in
        self._new = np.zeros(0, dtype=np.uint64)
        self._old = np.zeros(0, dtype=np.uint64)

    def __bool__(self) -> bool:
        return bool(self._waiting) or bool(len(self._new)) or bool(len(self._old))

    def add(self, names: Sequence[str]) -> None:
        """Close some names."""
        self._waiting.extend(fingerprints(names).tolist())
        if len(self._waiting) >= _WAITING:
            self._sort_in()

    def holds(self, names: Sequence[str]) -> Flags:
        """Which of these names are closed."""
        marks = fingerprints(names)
        waiting = np.array(sorted(self._waiting), dtype=np.uint64)
        return _in(marks, self._new) | _in(marks, self._old) | _in(marks, waiting)

    def absorb(self, other: Closed) -> None:
        """Close what another has closed."""
        for marks in (other._old, other._new, np.array(other._waiting, dtype=np.uint64)):
            self._waiting.extend(marks.tolist())
        self._sort_in()

    def _sort_in(self) -> None:
        self._new = np.union1d(self._new, np.array(self._waiting, dtype=np.uint64))
        self._waiting = []
        if len(self._new) > self.most:
            self._old, self._new = self._new, np.zeros(0, dtype=np.uint64)

    def to_dict(self) -> dict[str, str]:
        """JSON's own types."""
        self._sort_in()
        return {
            name: base64.b64encode(part.tobytes()).decode() for name, part in (("new", self._new), ("old", self._old))
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], most: int) -> Closed:
        """The inverse of `to_dict`."""
        closed = cls(most)
        closed._new, closed._old = (
            np.frombuffer(base64.b64decode(document[name]), dtype=np.uint64) for name in ("new", "old")
        )
        return closed


def _in(marks: Marks, known: Marks) -> Flags:
    if not len(known):
        return np.zeros(len(marks), dtype=bool)
    return np.asarray(known[np.minimum(np.searchsorted(known, marks), len(known) - 1)] == marks)


def fingerprints(names: Sequence[str]) -> Marks:
    """The same on every machine and in every run, unlike `hash`."""
    raw = b"".join(hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest() for name in names)
    return np.frombuffer(raw, dtype="<u8")
