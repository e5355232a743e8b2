"""Keys: decision tuples as bytes, one per juror; and counts of them, weighed."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

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


def to_text(keys: Sequence[bytes]) -> dict[str, Any]:
    r"""Keys for JSON: of one length, one after the other, packed; of thousands of jurors few vote on an item.

    >>> from_text(to_text([b"\x01", b"\x02\x00\x01"]), 2)
    [b'\x01', b'\x02\x00\x01']
    """
    width = max(map(len, keys), default=0)
    packed = zlib.compress(b"".join(key.ljust(width, b"\0") for key in keys), 1)
    return {"width": width, "packed": base64.b64encode(packed).decode()}


def from_text(document: Mapping[str, Any], number: int) -> list[bytes]:
    """The inverse of `to_text`; ValueError unless there are so many keys."""
    width = int(document["width"])
    unpacking = zlib.decompressobj()
    raw = unpacking.decompress(base64.b64decode(document["packed"]), width * number + 1)
    if len(raw) != width * number:
        raise ValueError(f"{number} keys of {width} bytes were expected")
    return keys_of(np.frombuffer(raw, dtype=np.uint8).reshape(number, width))
