"""Equal rows of small whole numbers: which rows there are, how often each comes, and which of them every row is."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.numbers.arrays import Codes, Integers

_KEY_BITS = 62
_EXACT = 1 << 24  # whole numbers below are exact in single precision
_BLOCK = 1 << 15  # rows that stay in the processor's cache, as numbers
_BIT_BLOCK = 1 << 18  # and as bits
_MOST_BITS = 25  # that four bytes hold, wherever in their first byte they begin


def equal_rows(codes: Codes, kinds: int) -> tuple[Codes, Integers, Integers]:
    """The distinct rows in lexicographic order, for every row its place among them, and how often each comes.

    Cells are numbers from -1 to `kinds` - 1.

    Examples
    --------
    >>> distinct, place, sizes = equal_rows(np.array([[1, 0], [-1, 1], [1, 0]], dtype=np.int8), 2)
    >>> distinct.tolist(), place.tolist(), sizes.tolist()
    ([[-1, 1], [1, 0]], [1, 0, 1], [1, 2])
    """
    rows, width = codes.shape
    low = min(int(codes.min(initial=0)), 0)  # -1 is a digit too, where it occurs
    base = max(kinds - low, 1)
    if width * math.log2(base) < _KEY_BITS:
        keys = row_numbers(codes, base, low)
        if base**width <= max(4 * rows, 1 << 12):
            return _tallied(keys, codes, base, low)
        _, first, place, sizes = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        return codes[first], place, sizes
    shifted = np.ascontiguousarray(codes + 1).astype(">u4" if codes.dtype.itemsize > 1 else np.uint8)
    packed = shifted.view(np.dtype((np.void, shifted.dtype.itemsize * width))).ravel()
    _, first, place, sizes = np.unique(packed, return_index=True, return_inverse=True, return_counts=True)
    return codes[first], place, sizes


def _tallied(keys: Integers, codes: Codes, base: int, low: int) -> tuple[Codes, Integers, Integers]:
    """By a table with a cell for every row there could be; the rows are read from their numbers."""
    width = codes.shape[1]
    sizes = np.bincount(keys, minlength=base**width)
    present = np.flatnonzero(sizes)
    distinct = (present[:, None] // _places(base, width) % base + low).astype(codes.dtype)
    if len(present) == len(sizes):  # every row there could be is there
        return distinct, keys, sizes
    rank = np.zeros(len(sizes), dtype=np.int64)
    rank[present] = np.arange(len(present))
    return distinct, rank.take(keys), sizes[present]


def _places(base: int, width: int) -> Integers:
    """What a digit is worth in each place, the first place the most."""
    return np.array([base**k for k in range(width - 1, -1, -1)], dtype=np.int64)


def row_numbers(codes: Codes, base: int, low: int = 0) -> Integers:
    """Each row read as a number in this base, its digits counted from `low`."""
    rows, width = codes.shape
    if (base, low) == (2, 0) and 0 < width <= _MOST_BITS:
        return _binary(codes)
    keys = np.empty(rows, dtype=np.int64)
    if base**width < _EXACT:  # a product is three times as fast
        places = _places(base, width).astype(np.float32)
        with np.errstate(invalid="ignore"):  # OpenBLAS may flag lanes that hold no number of ours (numpy issue 24067)
            for start in range(0, rows, _BLOCK):
                part = slice(start, start + _BLOCK)
                keys[part] = codes[part].astype(np.float32) @ places
    else:
        keys[:] = codes[:, 0]
        for column in range(1, width):
            keys *= base
            keys += codes[:, column]
    keys -= low * sum(base**k for k in range(width))
    return keys


def _binary(codes: Codes) -> Integers:
    """The same of zeros and ones, packed as bits first: a quarter of the time."""
    keys = np.empty(len(codes), dtype=np.int64)
    for start in range(0, len(codes), _BIT_BLOCK):
        part = codes[start : start + _BIT_BLOCK]
        keys[start : start + len(part)] = _unpacked(np.packbits(part.reshape(-1)), len(part), codes.shape[1])
    return keys


@cache
def _rows_of_bytes(width: int) -> NDArray[np.unsignedinteger[Any]]:
    """What a byte holds, where it holds whole rows of so many bits: a byte each, one behind the other as one number."""
    first = np.arange(8 - width, -1, -width)
    numbers = (np.arange(256)[:, None] >> first & ((1 << width) - 1)).astype(np.uint8)
    return numbers.view(f"u{len(first)}").ravel()


def _unpacked(packed: NDArray[np.uint8], rows: int, width: int) -> NDArray[np.unsignedinteger[Any]]:
    """The numbers of rows of so many bits. Of every eight rows the k-th begins at the same bit of as many bytes."""
    if 8 % width == 0:
        return _rows_of_bytes(width).take(packed).view(np.uint8)[:rows]
    eights = -(-rows // 8)
    filled = np.zeros(eights * width + 4, dtype=np.uint8)
    filled[: len(packed)] = packed
    numbers = np.empty((eights, 8), dtype=np.uint16 if width <= 16 else np.uint32)
    word = np.empty(eights, dtype=np.uint32)
    for k in range(8):
        byte, bit = divmod(k * width, 8)
        word[:] = np.ndarray((eights,), ">u4", filled.data, byte, (width,))
        word >>= np.uint32(32 - bit - width)
        np.bitwise_and(word, np.uint32((1 << width) - 1), out=numbers[:, k], casting="unsafe")
    return numbers.reshape(-1)[:rows]
