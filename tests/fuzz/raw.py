"""What can happen to a file's bytes: bits that flip, cuts, repeats, control characters, other encodings."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable

_PIECES = (
    b"\x00", b"\x1b[31m", b"\x1b]0;x\x07", b"\r", b"\n", b"\r\n", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf",
    b"\xed\xa0\x80", b"\xc3\x28", b"\x1a", b"\x0b", b"\x85", b'"', b"'", b",", b";", b"\t", b"\\", b"{", b"}", b"[",
    b"]", b"\\ud800", b"NaN", b"-", b"1e999", b"\xe2\x80\xae", b"\xe2\x80\xa8", b"=", b"#",
)  # fmt: skip
_ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "cp037", "utf-7", "shift_jis", "utf-8-sig")


def _flip(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        at = rng.randrange(len(changed))
        changed[at] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data))]


def _drop(rng: random.Random, data: bytes) -> bytes:
    start = rng.randrange(len(data))
    return data[:start] + data[start + rng.choice((1, 3, 20, 200)) :]


def _repeat(rng: random.Random, data: bytes) -> bytes:
    start = rng.randrange(len(data))
    part = data[start : start + rng.choice((1, 5, 50, 500))]
    return data[:start] + part * rng.choice((2, 3, 50)) + data[start:]


def _insert(rng: random.Random, data: bytes) -> bytes:
    start = rng.randrange(len(data) + 1)
    return data[:start] + rng.choice(_PIECES) * rng.choice((1, 1, 1, 3, 1000)) + data[start:]


def _swap_line_ends(rng: random.Random, data: bytes) -> bytes:
    return data.replace(b"\n", rng.choice((b"\r", b"\r\n", b"\n\n", b"\n\r", b"\x0b", b"\xe2\x80\xa8")))


def _encode(rng: random.Random, data: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode(rng.choice(_ENCODINGS), "replace")


def _mark(rng: random.Random, data: bytes) -> bytes:
    return (
        rng.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff", b"\x1f\x8b", b"PK\x03\x04")) + data
    )


def _pack(rng: random.Random, data: bytes) -> bytes:
    packed = gzip.compress(data, compresslevel=1, mtime=0)
    return packed if rng.random() < 0.6 else _cut(rng, packed)


def _noise(rng: random.Random, data: bytes) -> bytes:
    start = rng.randrange(len(data))
    return data[:start] + rng.randbytes(rng.choice((1, 4, 64))) + data[start + 4 :]


_ALL: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    _flip, _flip, _cut, _drop, _repeat, _insert, _insert, _swap_line_ends, _encode, _mark, _pack, _noise,
)  # fmt: skip


def mutated(rng: random.Random, data: bytes) -> bytes:
    """The bytes after one mishap."""
    return rng.choice(_ALL)(rng, data) if data else rng.randbytes(rng.choice((0, 1, 10)))
