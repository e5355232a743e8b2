"""The files a reader looks at: their first bytes to recognise them, their JSON to read them, faults as one line."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.votes.files.fetch import damaged_gzip
from jurors.votes.files.formats import named_format

HEAD = 1 << 16  # enough to see the first keys of a log, however long its first record is
_GZIP = b"\x1f\x8b"
_LOG_STARTS = (b"{", b"[", b"PK\x03\x04", b"\x93NUMPY", b"PAR1")


@dataclass(frozen=True)
class Files:
    """Some files and the folder the user named (or that holds the file the user named)."""

    paths: tuple[Path, ...]
    root: Path
    named: frozenset[Path] = frozenset()  #: those the user named one by one: read or refused, never passed over
    _heads: dict[Path, bytes] = field(default_factory=dict, repr=False, compare=False)
    _documents: dict[Path, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def may_be_a_log(self) -> bool:
        """Whether it is worth asking the readers: a table of text is none of theirs."""
        return any(self.head(path).lstrip().startswith(_LOG_STARTS) for path in self.paths[:100])

    def head(self, path: Path | None = None) -> bytes:
        """The first bytes of a file (default: of the first), unpacked and without a byte order mark."""
        path = self.paths[0] if path is None else path
        if path not in self._heads:
            try:
                with _opened(path) as file:
                    self._heads[path] = file.read(HEAD).removeprefix(b"\xef\xbb\xbf")
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise damaged_gzip(error).after(self.name(path)) from None
            except OSError as error:
                raise VotesError(f"{self.name(path)}cannot be read: {error.strerror or error}") from None
        return self._heads[path]

    @property
    def telling(self) -> list[Path]:
        """The files that tell which tool wrote them: the first, and the first of those that were named one by one."""
        named = [path for path in self.paths if path in self.named]
        return list(dict.fromkeys((*self.paths[:1], *named[:20])))

    def own(
        self, is_ours: Callable[[Path], bool], title: str, *, tables: bool = True, otherwise: str = "read it apart"
    ) -> list[Path]:
        """The files of one tool, in order; none where no file is.

        In a folder others may lie beside them (unless not even `tables` may), but one that the user named, or that is
        empty where a file of the tool should be, is an error: a juror must not get lost without a word.
        """
        ours = [path for path in self.paths if is_ours(path)]
        suffixes = {path.suffix for path in ours}
        for path in [path for path in self.paths if path not in set(ours)] if ours else ():
            if path.suffix in suffixes and not self.head(path).strip():
                raise VotesError(
                    f"{self.name(path)}the file is empty; fetch or write it again, or take it away", code="empty"
                )
            if path in self.named or not (tables or named_format(path.name) is None):
                raise VotesError(f"{self.name(path)}this is no {title}, but others are; {otherwise}")
        return ours

    def document(self, path: Path | None = None) -> Any:
        """A whole file as JSON, parsed once; bare NaN and Infinity, which logs hold, are floats."""
        path = self.paths[0] if path is None else path
        if path not in self._documents:
            try:
                with _opened(path) as file:
                    text = file.read().removeprefix(b"\xef\xbb\xbf")
                self._documents[path] = json.loads(text)
            except json.JSONDecodeError as error:
                raise VotesError(
                    f"{self.name(path)}the JSON is broken or cut short in line {error.lineno} ({error.msg}); "
                    "write or fetch the file again",
                    code="damaged",
                ) from None
            except UnicodeDecodeError:
                raise VotesError(f"{self.name(path)}the text is not valid UTF-8; save the file as UTF-8") from None
            except (OSError, EOFError, zlib.error) as error:
                raise VotesError(f"{self.name(path)}cannot be read: {error}") from None
            except RecursionError:
                raise VotesError(f"{self.name(path)}the JSON is nested too deeply to be a log") from None
        return self._documents[path]

    def lines(self, path: Path | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
        """Each line of a JSON lines file as its number and its record."""
        path = self.paths[0] if path is None else path
        try:
            with _opened(path) as file:
                for number, line in enumerate(file, 1):
                    if line.strip():
                        yield number, self._record(path, number, line)
        except (OSError, EOFError, zlib.error) as error:
            raise VotesError(f"{self.name(path)}cannot be read: {error}") from None

    def _record(self, path: Path, number: int, line: bytes) -> dict[str, Any]:
        try:
            record = json.loads(line.removeprefix(b"\xef\xbb\xbf"))
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "msg", "not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error))
            raise VotesError(
                f"{self.name(path)}line {number} is broken or cut short ({reason}); write or fetch the file again",
                code="damaged",
            ) from None
        if not isinstance(record, dict):
            raise VotesError(f"{self.name(path)}line {number} is {str(record)[:30]!r}, not a JSON record")
        return record

    def name(self, path: Path) -> str:
        """What to put before a message: the file's name, where there are several."""
        if len(self.paths) == 1:
            return ""
        if path in self.named and path.is_relative_to(here := Path.cwd()):  # as the user is likely to have named it
            return f"{path.relative_to(here)}: "
        return f"{path.relative_to(self.root) if path.is_relative_to(self.root) else path.name}: "


def _opened(path: Path) -> Any:
    with path.open("rb") as file:
        packed = file.read(2) == _GZIP
    return gzip.open(path) if packed else path.open("rb")
