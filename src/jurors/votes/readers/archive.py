"""A zip archive of JSON files whose members may be packed with zstd, which Python's zipfile learns in 3.14."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

from jurors.errors import VotesError
from jurors.votes.files.sizes import PIECES, WHOLE, Room
from jurors.votes.readers.log_files import parsed
from jurors.votes.readers.node import Node

_ZSTD = 93
_LOCAL_HEADER = 30


class Archive:
    """An archive; faults become one line that begins with `where`. Its members may hold so much, if it is `allowed`."""

    def __init__(self, path: Path, where: str = "", allowed: int | None = None) -> None:
        self._path, self._where, self._allowed = path, where, allowed
        try:
            with zipfile.ZipFile(path) as archive:
                self._members = {info.filename: info for info in archive.infolist()}  # of two alike, the later counts
        except (
            zipfile.BadZipFile,
            NotImplementedError,
            OSError,
            ValueError,
        ) as error:
            message = f"{where}the archive is cut short or damaged ({error}); fetch the file again"
            raise VotesError(message, code="damaged") from None
        self._size = path.stat().st_size
        self._check(PIECES, sum(member.file_size for member in self._members.values()), self._size)

    @property
    def names(self) -> tuple[str, ...]:
        """The members' names."""
        return tuple(self._members)

    def document(self, name: str) -> Node:
        """A member as JSON; bare NaN and Infinity are floats."""
        where = f"{self._where}{name} in the archive: "
        return Node(parsed(self._content(self._members[name]), where), where)

    def _content(self, member: zipfile.ZipInfo) -> bytes:
        self._check(WHOLE, member.file_size, member.compress_size)
        try:
            content = _unpacked(self._packed(member), member.compress_type, member.file_size + 1)
        except (OSError, zlib.error) as error:
            raise self._damaged(member, str(error)[:80]) from None
        except ImportError:
            message = f"{self._where}the archive is packed with zstd; to read it: pip install 'jurors[zstd]'"
            raise VotesError(message) from None
        if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
            raise self._damaged(member, "its checksum does not fit")
        return content

    def _packed(self, member: zipfile.ZipInfo) -> bytes:
        with self._path.open("rb") as file:
            file.seek(member.header_offset)
            header = file.read(_LOCAL_HEADER)  # ends with the lengths of the name and of the extra field
            file.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
            return file.read(min(member.compress_size, self._size))

    def _check(self, room: Room, unpacked: int, packed: int) -> None:
        try:
            room.check(unpacked, packed, self._allowed)
        except VotesError as error:
            raise error.after(self._where) from None

    def _damaged(self, member: zipfile.ZipInfo, why: str) -> VotesError:
        message = f"{self._where}{member.filename} in the archive is damaged ({why}); fetch the file again"
        return VotesError(message, code="damaged")


def _unpacked(packed: bytes, method: int, most: int) -> bytes:
    """What was packed, of which no more than so many bytes are asked for: the archive says how many there are."""
    if method == zipfile.ZIP_STORED:
        return packed
    if method == zipfile.ZIP_DEFLATED:
        return zlib.decompressobj(wbits=-15).decompress(packed, most)
    if method != _ZSTD:
        raise OSError(f"packed by method {method}; known are 0, 8 and 93")
    from zstandard import ZstdDecompressor, ZstdError

    try:
        content: bytes = ZstdDecompressor().stream_reader(packed, read_across_frames=True).read(most)
    except ZstdError as error:
        raise OSError(str(error)) from None
    return content
