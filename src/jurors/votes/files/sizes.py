"""Limits: sizes that the user names, how much a packed file may hold, what DuckDB may do.

A few megabytes can unpack to more than the machine has. What becomes Python's objects all at once (a JSON document)
takes up to twenty times its text; what is read piece by piece (a table, the members of an archive) takes its text.
"""

from __future__ import annotations

import gzip
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jurors.errors import OptionError, VotesError

_UNITS = {"": 0, "K": 3, "M": 6, "G": 9, "T": 12}
_LARGEST = (1 << 63) - 1
_MEGABYTE = 10**6
# DuckDB fetches nothing from the network, whatever a file asks for.
OFFLINE: dict[str, str | bool | int | float | list[str]] = {"autoinstall_known_extensions": "false"}


def in_bytes(size: str | int | None, option: str) -> int | None:
    """A size in bytes; OptionError if it is none, as a text without a unit: "2" could be anything.

    >>> in_bytes("2 gb", "memory"), in_bytes("1.5GiB", "memory"), in_bytes(512, "memory"), in_bytes(None, "memory")
    (2000000000, 1610612736, 512, None)
    """
    if size is None:
        return None
    text = f"{size}B" if isinstance(size, int) else str(size)
    match = re.fullmatch(r"\s*(\d{1,20}(?:\.\d{1,20})?)\s*(?:([KMGT])(i?)B?|B)\s*", text, re.IGNORECASE)
    power = _UNITS[(match[2] or "").upper()] if match else 0
    whole = int(float(match[1]) * (1024 ** (power // 3) if match[3] else 10**power)) if match else 0
    if not 0 < whole <= _LARGEST:
        message = f"{option} must be a size such as 2GB or 500MB, at most 9,000,000TB, not {str(size)!r:.60}"
        raise OptionError(message, code="out_of_range", name=option, value=size)
    return whole


@dataclass(frozen=True)
class Room:
    """How much may come out of a packed file: so many times its own size, at least so much, or what the user allows."""

    times: int
    least: int

    def of(self, packed: int, allowed: int | None) -> int:
        """The bytes that may come out of so many.

        >>> PIECES.of(10_000_000, None), WHOLE.of(10_000_000, None), WHOLE.of(10, 5_000_000_000)
        (1000000000, 300000000, 5000000000)
        """
        return max(self.times * packed, self.least) if allowed is None else allowed

    def check(self, unpacked: int, packed: int, allowed: int | None) -> None:
        """VotesError where more comes out, or is said to."""
        if unpacked > (most := self.of(packed, allowed)):
            raise _too_much(packed, most)


PIECES = Room(100, 256 * _MEGABYTE)  #: tables, matrices, all members of an archive
WHOLE = Room(30, 32 * _MEGABYTE)  #: a JSON document, which is held as a whole
REPEATED = Room(
    100, 32 * _MEGABYTE
)  #: the cells of a Parquet file, which can say one value a billion times in a few bytes


def _too_much(packed: int, most: int) -> VotesError:
    return VotesError(
        f"it is packed in {_shown(packed)} and holds more than {_shown(most)} unpacked, as a file made to fill the "
        f"memory would; if you trust it, allow more with unpack= (--unpack {_shown(10 * most)})",
        code="too_large",
        given=most,
    )


def _shown(size: int) -> str:
    """A size in few digits.

    >>> _shown(10_485_760), _shown(300), _shown(3_000_000_000)
    ('10MB', '300B', '3GB')
    """
    power = min((len(str(size)) - 1) // 3, 4)
    return f"{size // 1000**power}{' KMGT'[power].strip()}B"


def unpacked(path: Path, room: Room, allowed: int | None = None) -> Any:
    """What a gzipped file holds, as a stream that ends in a VotesError once it is too much for what was read of it."""
    return io.BufferedReader(_Measured(path, room, allowed), 1 << 16)


class _Measured(io.RawIOBase):
    """A gzipped file that may hold so much."""

    def __init__(self, path: Path, room: Room, allowed: int | None) -> None:
        self._packed = path.open("rb")
        self._file = gzip.GzipFile(fileobj=self._packed)
        self._room, self._allowed, self._read = room, allowed, 0

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """The next bytes."""
        size = self._file.readinto(buffer)
        self._read += size
        self._room.check(self._read, self._packed.tell(), self._allowed)
        return size

    def close(self) -> None:
        """Close the file, too."""
        self._file.close()
        self._packed.close()
        super().close()
