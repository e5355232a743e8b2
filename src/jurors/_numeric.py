"""Numerical tools: array aliases, counting equal rows, sorting, BLAS threads, the jackknife, SQUAREM."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jurors._lazy import LazyModule

Floats: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]
Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
Codes: TypeAlias = NDArray[np.signedinteger[Any]]  #: positions of labels, in as few bytes as hold them; -1: no vote

sparse: Any = LazyModule("scipy.sparse")
special: Any = LazyModule("scipy.special")


# ---------------------------------------------------------------------------------------------------------------------
# Equal rows of small whole numbers: the distinct rows, their counts, and the index of each row among them
# ---------------------------------------------------------------------------------------------------------------------

_KEY_BITS = 62
_EXACT = 1 << 24  # whole numbers below are exact in single precision
_BLOCK = 1 << 15  # rows that stay in the processor's cache, as numbers
_BIT_BLOCK = 1 << 18  # and as bits
_MOST_BITS = 25  # that four bytes hold, wherever in their first byte they begin


def unique_rows(codes: Codes, kinds: int) -> tuple[Codes, Integers, Integers]:
    """The distinct rows of a table of whole numbers from -1 to `kinds` - 1.

    Returns
    -------
    tuple
        The distinct rows in lexicographic order, for every row its index among them, and the count of each.

    Examples
    --------
    >>> distinct, place, sizes = unique_rows(np.array([[1, 0], [-1, 1], [1, 0]], dtype=np.int8), 2)
    >>> distinct.tolist(), place.tolist(), sizes.tolist()
    ([[-1, 1], [1, 0]], [1, 0, 1], [1, 2])
    """
    rows, width = codes.shape
    low = min(int(codes.min(initial=0)), 0)  # -1 is a digit too, where it occurs
    base = max(kinds - low, 1)
    if width * math.log2(base) < _KEY_BITS:
        keys = row_keys(codes, base, low)
        if base**width <= max(4 * rows, 1 << 12):  # a table with a cell for every row there could be
            sizes = np.bincount(keys, minlength=base**width)
            present = np.flatnonzero(sizes)
            distinct = (present[:, None] // _places(base, width) % base + low).astype(codes.dtype)
            if len(present) == len(sizes):
                return distinct, keys, sizes
            rank = np.zeros(len(sizes), dtype=np.int64)
            rank[present] = np.arange(len(present))
            return distinct, rank.take(keys), sizes[present]
        _, first, place, sizes = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        return codes[first], place, sizes
    shifted = np.ascontiguousarray(codes + 1).astype(">u4" if codes.dtype.itemsize > 1 else np.uint8)
    packed = shifted.view(np.dtype((np.void, shifted.dtype.itemsize * width))).ravel()
    _, first, place, sizes = np.unique(packed, return_index=True, return_inverse=True, return_counts=True)
    return codes[first], place, sizes


def _places(base: int, width: int) -> Integers:
    """The value of a digit in each place, the first place the largest."""
    return np.array([base**k for k in range(width - 1, -1, -1)], dtype=np.int64)


def row_keys(codes: Codes, base: int, low: int = 0) -> Integers:
    """Each row as a number in this base, its digits counted from `low`: one number per row."""
    rows, width = codes.shape
    keys = np.empty(rows, dtype=np.int64)
    if (base, low) == (2, 0) and 0 < width <= _MOST_BITS:  # packed as bits first: a quarter of the time
        for start in range(0, rows, _BIT_BLOCK):
            bits = codes[start : start + _BIT_BLOCK]
            keys[start : start + len(bits)] = _unpacked(np.packbits(bits.reshape(-1)), len(bits), width)
        return keys
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


@cache
def _rows_of_bytes(width: int) -> NDArray[np.unsignedinteger[Any]]:
    """For each byte of whole rows of so many bits: its rows as bytes, one behind the other in one number."""
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


_TWO_BYTES = 1 << 16


def are_connected(first: ArrayLike, second: ArrayLike, size: int) -> Integers:
    """The connected components of `size` things that these pairs link.

    Returns
    -------
    ndarray
        The group of each, numbered from 0 in their order.

    Examples
    --------
    >>> are_connected([0, 3], [2, 1], 5).tolist()
    [0, 1, 0, 1, 2]
    """
    one, two = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    group, before = np.arange(size), np.full(size, -1)  # of each, the first that it is known to be linked with
    while (group != before).any():
        before = group.copy()
        np.minimum.at(group, group[one], group[two])
        np.minimum.at(group, group[two], group[one])
        group = group[group]
    return np.unique(group, return_inverse=True)[1]


def stable_argsort(values: NDArray[Any]) -> Integers:
    """`np.argsort(values, kind="stable")`, in a tenth of the time for whole numbers within a range of two bytes.

    Examples
    --------
    >>> stable_argsort(np.array([70_000, 3, 5, 3])).tolist(), stable_argsort(np.array([2.0, -1.0, 2.0])).tolist()
    ([1, 3, 2, 0], [1, 0, 2])
    """
    low, high = (values.min().item(), values.max().item()) if len(values) else (0, 0)
    if high - low < _TWO_BYTES:
        wide = np.int64 if values.dtype.kind in "iu" else np.float64
        above = np.subtract(values, low, dtype=wide)
        steps = above.astype(np.uint16)
        if wide is np.int64 or (steps == above).all():
            return np.argsort(steps, kind="stable")
    return np.argsort(values, kind="stable")


# ---------------------------------------------------------------------------------------------------------------------
# Threads and memory
# ---------------------------------------------------------------------------------------------------------------------

_LOCK = Lock()
_before: list[tuple[Any, int]] = []  # the libraries that had more threads when the first block began, and how many
_blocks = 0  # active ones, in this thread or another: libraries have one number of threads for the process


@cache
def _libraries() -> list[Any]:
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


@contextmanager
def single_threaded() -> Iterator[None]:
    """Limit the linear algebra library to one thread inside the block; the last block restores the number.

    In small matrix products a second thread mostly waits for the first, and on a busy machine for long.
    """
    global _blocks
    with _LOCK:
        if not _blocks:
            _before[:] = [(lib, threads) for lib in _libraries() if (threads := lib.get_num_threads()) != 1]
            for library, _ in _before:
                library.set_num_threads(1)
        _blocks += 1
    try:
        yield
    finally:
        with _LOCK:
            _blocks -= 1
            if not _blocks:
                for library, threads in _before:
                    library.set_num_threads(threads)


def retain_freed_memory() -> None:
    """Let the process retain up to 64 MB of freed memory for the next arrays, instead of fetching it page by page.

    The C library adapts how much it retains to the largest block that was freed (below 32 MB). This one is never
    touched, so it costs nothing, and with other allocators it does nothing. A sparse panel fetched 13,000 pages in
    every run, a tenth of its time.
    """
    np.empty(31 << 20, dtype=np.uint8)


def jackknife_ends(
    value: float,
    without_one: Floats,
    level: float,
    to: Callable[[Any], Any] = np.asarray,
    back: Callable[[Any], Any] = np.asarray,
) -> Floats:
    """An interval by the jackknife: nothing is assumed of how numbers are distributed.

    Parameters
    ----------
    value
        The estimate from all items.
    without_one
        The estimates without each item.
    level
        Confidence of the interval.
    to, back
        A transformation that makes it nearly symmetric, and its inverse.

    Returns
    -------
    ndarray
        Two ends; NaN for fewer than three items; the value itself where it has no error at all, or is at the scale's
        end.

    Examples
    --------
    >>> numbers = np.array([1.0, 2.0, 4.0, 5.0])
    >>> jackknife_ends(3.0, (numbers.sum() - numbers) / 3, 0.95).round(2).tolist()  # Student's interval of a mean
    [0.09, 5.91]
    """
    items = len(without_one)
    if items < 3:
        return np.full(2, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        centre, estimates = to(np.float64(value)), to(without_one)
        if not np.isfinite(centre):
            return np.full(2, value)
        error = np.sqrt((items - 1) / items * ((estimates - estimates.mean()) ** 2).sum())
        t = float(special.stdtrit(items - 1, (1 + level) / 2))
        return np.asarray(back(np.array([centre - t * error, centre + t * error])))


def squarem_step(start: Floats, once: Floats, twice: Floats, longest: float = math.inf) -> Floats:
    """SQUAREM's long step for expectation-maximisation (Varadhan and Roland, Scand. J. Statist. 35 (2008) 335-353).

    It follows the parabola through three iterates x, y, z: x + 2a (y-x) + a² (z-2y+x), a = |y-x| / |z-2y+x| from 1 on.
    Points lie along the last axis. At a = 1 the step ends in z itself. It may overshoot: the caller must check that the
    objective improves.

    Examples
    --------
    Halving the distance to 3 again and again, it is there at once:

    >>> squarem_step(np.array([1.0]), np.array([2.0]), np.array([2.5])).tolist()
    [3.0]
    """
    step = once - start
    result = twice - once
    result -= step  # the second difference
    first, second = np.vecdot(step, step), np.vecdot(result, result)
    size = np.sqrt(first / np.where(second > 0, second, np.inf))
    a = np.minimum(np.maximum(size, 1.0), longest)[..., None]
    result *= a
    step *= 2.0
    result += step
    result *= a
    result += start
    return np.asarray(result)


# ---------------------------------------------------------------------------------------------------------------------
# Tails of distributions: to import SciPy for one p-value takes as long as everything else that a small jury needs
# ---------------------------------------------------------------------------------------------------------------------

_TINY = 1e-16
_MOST_DEGREES = 1000.0  # of freedom, for which these converge to all digits


def chi_square_tail(degrees: float, value: float) -> float:
    """The probability that chi-square with so many degrees of freedom exceeds a value (Abramowitz and Stegun, 26.4).

    Returns
    -------
    float
        NaN without degrees of freedom.

    Examples
    --------
    >>> round(chi_square_tail(2, 5.991), 4), round(chi_square_tail(7.5, 3.0), 4)
    (0.05, 0.9126)
    """
    if not (0 < degrees <= _MOST_DEGREES and 0 < value < math.inf):
        return float(special.chdtrc(degrees, value))
    a, x = degrees / 2, value / 2
    scale = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:  # the series of the lower tail
        term = total = 1 / a
        step = a
        while term > total * _TINY:
            step += 1
            term *= x / step
            total += term
        return 1 - scale * total
    b = x + 1 - a  # the continued fraction of the upper one, by Lentz's method
    c, d = math.inf, 1 / b
    fraction = d
    for k in range(1, 10_000):
        b += 2
        numerator = k * (a - k)
        d = 1 / (numerator * d + b)
        c = b + numerator / c
        fraction *= c * d
        if abs(c * d - 1) < _TINY:
            break
    return scale * fraction
