"""A zip archive of JSON files whose members may be packed with zstd, which Python's zipfile learns in 3.14."""

from __future__ import annotations

import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

from jurors.errors import VotesError

_ZSTD = 93
_LOCAL_HEADER = 30


class Archive:
    """An archive; faults become one line that begins with `where`."""

    def __init__(self, path: Path, where: str = "") -> None:
        self._path, self._where = path, where
        try:
            with zipfile.ZipFile(path) as archive:
                self._members = {info.filename: info for info in archive.infolist()}  # of two alike, the later counts
        except (zipfile.BadZipFile, OSError, ValueError) as error:
            message = f"{where}the archive is cut short or damaged ({error}); fetch the file again"
            raise VotesError(message, code="damaged") from None

    @property
    def names(self) -> tuple[str, ...]:
        """The members' names."""
        return tuple(self._members)

    def document(self, name: str) -> Any:
        """A member as JSON; bare NaN and Infinity are floats."""
        try:
            return json.loads(self._content(self._members[name]))
        except (ValueError, RecursionError) as error:
            raise VotesError(f"{self._where}{name} in the archive is broken JSON ({str(error)[:80]})") from None

    def _content(self, member: zipfile.ZipInfo) -> bytes:
        from zstandard import ZstdError

        try:
            content = _unpacked(self._packed(member), member.compress_type)
        except (OSError, zlib.error, ZstdError) as error:
            raise self._damaged(member, str(error)[:80]) from None
        if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
            raise self._damaged(member, "its checksum does not fit")
        return content

    def _packed(self, member: zipfile.ZipInfo) -> bytes:
        with self._path.open("rb") as file:
            file.seek(member.header_offset)
            header = file.read(_LOCAL_HEADER)  # ends with the lengths of the name and of the extra field
            file.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
            return file.read(member.compress_size)

    def _damaged(self, member: zipfile.ZipInfo, why: str) -> VotesError:
        message = f"{self._where}{member.filename} in the archive is damaged ({why}); fetch the file again"
        return VotesError(message, code="damaged")


def _unpacked(packed: bytes, method: int) -> bytes:
    if method == zipfile.ZIP_STORED:
        return packed
    if method == zipfile.ZIP_DEFLATED:
        return zlib.decompress(packed, wbits=-15)
    if method != _ZSTD:
        raise OSError(f"packed by method {method}; known are 0, 8 and 93")
    from zstandard import ZstdDecompressor

    content: bytes = ZstdDecompressor().stream_reader(packed, read_across_frames=True).read()
    return content
