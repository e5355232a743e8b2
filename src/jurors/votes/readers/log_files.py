"""The files a reader looks at: their first bytes to recognise them, their JSON to read them, faults as one line."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.votes.files.faults import damaged_parquet
from jurors.votes.files.fetch import damaged_gzip, plainly_named
from jurors.votes.files.formats import named_format
from jurors.votes.files.sizes import OFFLINE, PIECES, WHOLE, Room, unpacked
from jurors.votes.findings.finding import Finding
from jurors.votes.readers.node import Node, shown

_ROWS = 1000  # of Parquet, fetched together
HEAD = 1 << 16  # enough to see the first keys of a log, however long its first record is
_GZIP, _BOM = b"\x1f\x8b", b"\xef\xbb\xbf"
ASKED = 20  #: so many files are asked which tool wrote them,
_LOOKED_AT = 100  # of so many that lie there
_LINES = re.compile(rb"\s*\{[^\n]*\}[^\S\n]*\n\s*\{")
_LOG_STARTS = (b"{", b"[", b"PK\x03\x04", b"\x93NUMPY", b"PAR1")


@dataclass(frozen=True)
class Files:
    """Some files and the folder the user named (or that holds the file the user named)."""

    paths: tuple[Path, ...]
    root: Path
    named: frozenset[Path] = frozenset()  #: those the user named one by one: read or refused, never passed over
    allowed: int | None = None  #: how much a packed file may hold, where the user says
    findings: list[Finding] = field(default_factory=list, repr=False, compare=False)  #: what their reader has to say
    _heads: dict[Path, bytes] = field(default_factory=dict, repr=False, compare=False)
    _documents: dict[Path, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def may_be_a_log(self) -> bool:
        """Whether it is worth asking the readers: a table of text is none of theirs."""
        return bool(self.first)

    def head(self, path: Path | None = None) -> bytes:
        """The first bytes of a file (default: of the first), unpacked and without a byte order mark."""
        path = self.paths[0] if path is None else path
        if path not in self._heads:
            with self.reading(path) as file:
                self._heads[path] = file.read(HEAD).removeprefix(_BOM)
        return self._heads[path]

    def holds_lines(self, path: Path | None = None) -> bool:
        """Whether a file is a record per line, at least two of them, and not one document."""
        return _LINES.match(self.head(path)) is not None

    @property
    def first(self) -> tuple[Path, ...]:
        """The first files that may be logs, by which a tool is recognised: of a folder of thousands, not all."""
        return tuple(islice(filter(self._may_be_one, self.paths[:_LOOKED_AT]), ASKED))

    def _may_be_one(self, path: Path) -> bool:
        return "qrel" in path.name.lower() or self.head(path).lstrip().startswith(_LOG_STARTS)

    @property
    def telling(self) -> list[Path]:
        """The files that tell which tool wrote them: the first, and the first of those that were named one by one."""
        named = [path for path in self.paths if path in self.named]
        return list(dict.fromkeys((*self.paths[:1], *named[:ASKED])))

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

    def newer(self, path: Path, title: str, version: Any, known: int) -> None:
        """Say that a file is of a newer version than is known: it is read as if it were not, and may be refused."""
        message = f"{self.name(path)}this {title} is of version {shown(version)}, read as the newest known, {known}"
        self.findings.append(Finding("newer_format", message, level="warning"))

    def document(self, path: Path | None = None) -> Node:
        """A whole file as JSON, parsed once; bare NaN and Infinity, which logs hold, are floats."""
        path = self.paths[0] if path is None else path
        if path not in self._documents:
            with self.reading(path) as file:
                self._documents[path] = parsed(file.read(), self.name(path))
        return Node(self._documents[path], self.name(path))

    def lines(self, path: Path | None = None) -> Iterator[Node]:
        """Each record of a JSON lines file."""
        path = self.paths[0] if path is None else path
        size = path.stat().st_size
        longest = WHOLE.of(size, self.allowed)
        with self.reading(path, PIECES) as file:
            for number, line in enumerate(iter(lambda: file.readline(longest + 1), b""), 1):
                WHOLE.check(len(line), size, self.allowed)
                if line.strip():
                    record = Node(parsed(line, self.name(path), number), f"{self.name(path)}line {number}: ")
                    if not record.is_record:
                        raise record.wrong("a JSON record")
                    yield record

    def parquet(self, path: Path, columns: Sequence[str] = ()) -> Iterator[Node]:
        """Each row of a Parquet file, of all columns or of those that are there of some."""
        import duckdb

        chosen = f"COLUMNS('^({'|'.join(columns)})$')" if columns else "*"
        try:
            with plainly_named(path) as plain, duckdb.connect(config=OFFLINE) as con:
                (rows,) = con.execute("SELECT num_rows FROM parquet_file_metadata(?)", [str(plain)]).fetchall()[0]
                WHOLE.check(rows, path.stat().st_size, self.allowed)
                cursor = con.execute(f"SELECT {chosen} FROM read_parquet(?)", [str(plain)])
                names = [column[0] for column in cursor.description]
                first = 1
                while block := cursor.fetchmany(_ROWS):
                    for number, row in enumerate(block, first):
                        yield Node(dict(zip(names, row, strict=True)), f"{self.name(path)}row {number}: ")
                    first += len(block)
        except duckdb.Error as error:
            raise damaged_parquet(error).after(self.name(path)) from None

    @contextmanager
    def reading(self, path: Path, room: Room = WHOLE) -> Iterator[Any]:
        """A file's content, unpacked if it is gzipped; faults are one line."""
        try:
            with self._opened(path, room) as file:
                yield file
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise damaged_gzip(error).after(self.name(path)) from None
        except OSError as error:
            raise VotesError(f"{self.name(path)}cannot be read: {error.strerror or error}") from None
        except VotesError as error:
            raise error.after(self.name(path)) if error.code == "too_large" else error from None

    def _opened(self, path: Path, room: Room) -> Any:
        with path.open("rb") as file:
            packed = file.read(2) == _GZIP
        return unpacked(path, room, self.allowed) if packed else path.open("rb")

    def name(self, path: Path) -> str:
        """What to put before a message: the file's name, where there are several."""
        if len(self.paths) == 1:
            return ""
        if path in self.named and path.is_relative_to(here := Path.cwd()):  # as the user is likely to have named it
            return f"{path.relative_to(here)}: "
        return f"{path.relative_to(self.root) if path.is_relative_to(self.root) else path.name}: "


def parsed(text: bytes, where: str = "", line: int | None = None) -> Any:
    """A text, or one line of it, as JSON; a VotesError says what is wrong with it.

    >>> parsed(b'{"a": [1, 2', "x.jsonl: ", 3)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    jurors.errors.VotesError: x.jsonl: line 3 is broken or cut short (Expecting ',' delimiter); write or fetch ...
    """
    what, at = "the JSON" if line is None else f"line {line}", ""
    try:
        return json.loads(text.removeprefix(_BOM))
    except json.JSONDecodeError as error:
        reason, at = error.msg, f" in line {error.lineno}" if line is None else ""
    except UnicodeDecodeError:
        raise VotesError(f"{where}{what} is not valid UTF-8; save the file as UTF-8") from None
    except RecursionError:
        raise VotesError(f"{where}{what} is nested too deeply to be a log") from None
    except ValueError:  # Python reads no number of thousands of digits
        reason = "a number has too many digits"
    message = f"{where}{what} is broken or cut short{at} ({reason}); write or fetch the file again"
    raise VotesError(message, code="damaged")
