"""A file that grows: its whole lines, once each, whatever happens to the file.

A position is how many bytes were taken, and a fingerprint of the first of them. It says after a restart whether the
file is still the same: what was cut short begins again, and of what was moved away (`votes.jsonl.1`) the rest is read
first.
A line that is not ended yet is left until it is, unless it is a whole JSON record; in a file that was moved away, where
nobody writes any more, it is taken as it is.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from jurors.errors import VotesError

_HEAD = 4096  # bytes that tell one file from another
_AT_ONCE = 1 << 24  # read in one go
_LONGEST = 1 << 26  # bytes of a line
_PATIENCE = 2  # looks at a file that was moved away, in which its writer may still write


@dataclass
class Position:
    """How far a file was read, and how to know it again."""

    offset: int = 0
    head: str = ""  #: of the first bytes that were taken, at most 4096

    def holds_for(self, file: BinaryIO) -> bool:
        """Whether this is the file, or a copy of it, that was read so far."""
        size = os.fstat(file.fileno()).st_size
        return size >= self.offset and _head(file, self.offset) == self.head

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types."""
        return {"offset": self.offset, "head": self.head}


def _head(file: BinaryIO, taken: int) -> str:
    return hashlib.sha256(os.pread(file.fileno(), min(taken, _HEAD), 0)).hexdigest() if taken else ""


@dataclass
class Tail:
    r"""The lines of a growing file; `position` is what a snapshot keeps.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "votes.jsonl"
    >>> _ = path.write_bytes(b"one\ntwo\nthr")
    >>> tail = Tail(path)
    >>> list(tail.lines()), list(tail.lines())
    ([(True, b'one\n'), (False, b'two\n')], [])
    >>> with path.open("ab") as file:
    ...     _ = file.write(b"ee\n")
    >>> list(tail.lines()), tail.position.offset
    ([(False, b'three\n')], 14)
    >>> tail.close()
    """

    path: Path
    position: Position = field(default_factory=Position)
    news: list[str] = field(default_factory=list)  #: what happened to the file, for people
    has_rest: bool = False  #: the last line was not ended when it was last looked at
    _file: BinaryIO | None = field(default=None, repr=False)
    _quiet: int = 0  # looks at a file that was moved away without a new line

    def lines(self) -> Iterator[tuple[bool, bytes]]:
        """The lines that are whole and new, up to the end of one file, and whether each is its file's first."""
        self.has_rest = False
        if self._file is not None and not self.position.holds_for(self._file):  # cut short: a copy may have the rest
            self.close()
        file = self._file or self._open()
        if file is None:
            return
        moved = self._is_moved(file)
        wrote = False
        for start, line in self._whole_lines(file, ended=moved and self._quiet >= _PATIENCE):
            wrote = True
            yield start == 0, line
        self._quiet = 0 if wrote or not moved else self._quiet + 1
        if moved and not wrote and self._quiet > _PATIENCE:
            self._next_file(file)

    def close(self) -> None:
        """Let the file go."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _whole_lines(self, file: BinaryIO, *, ended: bool) -> Iterator[tuple[int, bytes]]:
        """Each line, and where it begins."""
        file.seek(self.position.offset)
        left = _AT_ONCE
        while left > 0 and (line := file.readline(_LONGEST)):
            if not line.endswith(b"\n"):
                if len(line) >= _LONGEST:
                    raise VotesError(f"{self.path}: a line is longer than {_LONGEST:,} bytes; is this a file of votes?")
                if not ended and not _is_record(line):
                    self.has_rest = True
                    return
            left -= len(line)
            start = self.position.offset
            self._take(file, len(line))
            yield start, line

    def _take(self, file: BinaryIO, size: int) -> None:
        before = self.position.offset
        self.position.offset += size
        if before < _HEAD:
            self.position.head = _head(file, self.position.offset)

    # -- which file it is -----------------------------------------------------------------------------------------

    def _open(self) -> BinaryIO | None:
        """The file that the position is about: this one, or one that was moved away; None where none is there."""
        for path in (self.path, *self._siblings()) if self.position.offset else (self.path,):
            try:
                file = path.open("rb")
            except FileNotFoundError:
                continue
            except OSError as error:
                raise VotesError(f"{self.path}: cannot be read: {error.strerror or error}", code="no_file") from None
            if self.position.holds_for(file):
                self._file = file
                return file
            file.close()
        if not self.path.is_file():
            return None
        self.news.append(f"{self.path}: what was read so far is not there any more; it is read from its beginning")
        return self._begin(self.path.open("rb"))

    def _begin(self, file: BinaryIO) -> BinaryIO:
        self._file, self._quiet = file, 0
        self.position.offset, self.position.head = 0, ""
        return file

    def _is_moved(self, file: BinaryIO) -> bool:
        """Whether the name leads to another file by now (or to none)."""
        try:
            return not os.path.samestat(os.fstat(file.fileno()), self.path.stat())
        except FileNotFoundError:
            return True

    def _next_file(self, file: BinaryIO) -> None:
        """The file that followed the one that was moved away: the eldest of those written after it."""
        done = os.fstat(file.fileno())
        later = [path for path in (*reversed(self._siblings()), self.path) if path.exists()]
        ours = [k for k, path in enumerate(later) if os.path.samestat(path.stat(), done)]
        following = later[ours[0] + 1 :] if ours else later[-1:]
        if following:
            file.close()
            self._begin(following[0].open("rb"))

    def _siblings(self) -> list[Path]:
        """What rotation made of earlier files, the newest first: `votes.jsonl.1`, `votes.jsonl-20260101`."""
        names = self.path.parent.glob(f"{_plain(self.path.name)}[.-]*")
        kept = [path for path in names if path.is_file() and path.suffix not in (".gz", ".xz", ".zst", ".bz2")]
        return sorted(kept, key=lambda path: (-path.stat().st_mtime_ns, path.name))


def _is_record(line: bytes) -> bool:
    """Whether a line without an end is all there is to it: a record of JSON closes its own bracket."""
    try:
        return line[:1] == b"{" and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):  # nested too deeply to be a vote
        return False


def _plain(name: str) -> str:
    """A name in which no mark means a pattern."""
    return "".join(f"[{mark}]" if mark in "*?[" else mark for mark in name)
