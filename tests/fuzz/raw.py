"""What can happen to a file's bytes: bits that flip, cuts, repeats, control characters, other encodings."""

from __future__ import annotations

import gzip
import random

_PIECES = (
    b"\x00", b"\x1b[31m", b"\x1b]0;x\x07", b"\r", b"\n", b"\r\n", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf",
    b"\xed\xa0\x80", b"\xc3\x28", b"\x1a", b"\x0b", b"\x85", b'"', b"'", b",", b";", b"\t", b"\\", b"{", b"}", b"[",
    b"]", b"\\ud800", b"NaN", b"-", b"1e999", b"\xe2\x80\xae", b"\xe2\x80\xa8", b"=", b"#",
)  # fmt: skip
_ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "cp037", "utf-7", "shift_jis", "utf-8-sig")
_LINE_ENDS = (b"\r", b"\r\n", b"\n\n", b"\n\r", b"\x0b", b"\xe2\x80\xa8")
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff", b"\x1f\x8b", b"PK\x03\x04")
_MISHAPS = ["flip", "flip", "cut", "drop", "repeat", "insert", "insert", "line-ends", "encode", "mark", "pack", "noise"]


def mutated(rng: random.Random, data: bytes) -> bytes:
    """The bytes after one mishap."""
    if not data:
        return rng.randbytes(rng.choice((0, 1, 10)))
    at = rng.randrange(len(data))
    before, after = data[:at], data[at:]
    match rng.choice(_MISHAPS):
        case "flip":
            return before + bytes([after[0] ^ 1 << rng.randrange(8)]) + after[1:]
        case "cut":
            return before
        case "drop":
            return before + after[rng.choice((1, 3, 20, 200)) :]
        case "repeat":
            return before + after[: rng.choice((1, 5, 50, 500))] * rng.choice((2, 3, 50)) + after
        case "insert":
            return before + rng.choice(_PIECES) * rng.choice((1, 1, 1, 3, 1000)) + after
        case "line-ends":
            return data.replace(b"\n", rng.choice(_LINE_ENDS))
        case "encode":
            return data.decode("utf-8", "replace").encode(rng.choice(_ENCODINGS), "replace")
        case "mark":
            return rng.choice(_MARKS) + data
        case "pack":
            packed = gzip.compress(data, compresslevel=1, mtime=0)
            return packed if rng.random() < 0.6 else packed[: rng.randrange(len(packed))]
    return before + rng.randbytes(rng.choice((1, 4, 64))) + after[4:]
