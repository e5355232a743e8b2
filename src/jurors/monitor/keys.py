"""Keys: decision tuples as bytes, one per juror; and counts of them, weighed."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors.numbers.arrays import Floats, Integers

Coded: TypeAlias = NDArray[np.uint8]  #: rows x jurors: the bytes of keys


def votes_in(key: bytes) -> int:
    r"""How many jurors voted.

    >>> votes_in(b"\x01\x00\x02")
    2
    """
    return len(key) - key.count(0)


def keys_of(table: Coded) -> list[bytes]:
    r"""The keys of rows x jurors codes.

    >>> keys_of(np.array([[1, 0, 2], [1, 0, 0]], dtype=np.uint8))
    [b'\x01\x00\x02', b'\x01']
    """
    rows, width = table.shape
    if not width:
        return [b""] * rows
    packed = np.ascontiguousarray(table, dtype=np.uint8).view(f"S{width}")
    return list(packed.ravel().tolist())  # numpy leaves the zeros at the end out


def weighed(counts: Integers, weights: Floats) -> Integers:
    """Counts (panes x tuples) added up with a weight per pane, as whole items: as many as the weighed ones are worth.

    Items that count w each tell as much as (Σw)²/Σw² equal ones (Kish), so the weights are scaled to that sum; more
    would make every interval too narrow. Along the tuples in a fixed order the running sums are rounded, so that every
    stretch of tuples is right to within an item and rare tuples are not all rounded away.

    >>> weighed(np.array([[40, 0], [10, 30]]), np.array([0.5, 1.0])).tolist()
    [36, 36]
    """
    each = counts.sum(axis=1)
    square = float(weights**2 @ each)
    if not square:
        return np.zeros(counts.shape[1], dtype=np.int64)
    scale = float(weights @ each) / square
    running = np.concatenate([[0.0], np.cumsum(weights @ counts * scale)])
    whole = np.floor(running + 0.5).astype(np.int64)
    return whole[1:] - whole[:-1]
