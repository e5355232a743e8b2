"""Where a watcher's votes come from: a growing file, a folder in which files grow and appear, standard input.

`Tail` yields the complete lines of a growing file once each, `Rows` makes votes of lines, and the sources
(`source_of` selects one) hand on batches of votes. Each of them has a state that a snapshot stores, so that after a
restart every line is still read exactly once.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import hashlib
import io
import json
import lzma
import os
import queue
import re
import sys
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import Any, BinaryIO, TypeAlias

from jurors.errors import OptionError, VotesError
from jurors.monitor.ledger import Roles, find_roles, layout_of_roles, without_time
from jurors.options import Reading, text_columns
from jurors.votes.frame import joined_cells
from jurors.votes.io.sources import is_served, named_format, split_inside
from jurors.votes.layout import Layout
from jurors.votes.readers import Records, find_reader, openinference, read_records
from jurors.votes.readers.base import Files, Node, parse_json
from jurors.votes.scale import Recoding
from jurors.votes.table import Votes

# -- the lines of a growing file ------------------------------------------------------------------------------

_HEAD = 4096  # bytes that distinguish one file from another
_LONGEST = 1 << 26  # bytes of a line
_PLACE = ("offset", "head", "inode", "modified", "idle")  # of a position, as a snapshot has it
_PATIENCE = 2  # polls of a rotated file without a new line, after which its writer is done with it
_PACKED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_DAMAGED = (EOFError, OSError, zlib.error, lzma.LZMAError)  # what a compressed file raises that is not complete


@dataclass
class Position:
    """How much of a file was read, and by what it is recognized when it is renamed, copied or compressed."""

    offset: int = 0  #: bytes, uncompressed
    head: str = ""  #: SHA-256 of the first bytes that were read, at most 4096
    inode: int = 0
    modified: int = 0  #: when the file was last changed, in nanoseconds
    idle: int = 0  #: polls without a new line since the file was rotated
    rows: Rows | None = None  #: what reads its lines
    file: BinaryIO | None = field(default=None, repr=False, compare=False)  #: open, where it is

    def matches(self, file: BinaryIO) -> bool:
        """Whether this is the file, or a copy of it, that was read so far."""
        if _is_packed(file):
            file.seek(0)
            return _digest(file.read(min(self.offset, _HEAD))) == self.head and file.seek(self.offset) == self.offset
        return os.fstat(file.fileno()).st_size >= self.offset and self._fingerprint(file) == self.head

    def advance(self, file: BinaryIO, size: int) -> None:
        """Take so many bytes more as read."""
        is_head = self.offset < _HEAD
        self.offset += size
        if is_head and _is_packed(file):
            place = file.tell()
            file.seek(0)
            self.head = _digest(file.read(min(self.offset, _HEAD)))
            file.seek(place)
        elif is_head:
            self.head = self._fingerprint(file)

    def _fingerprint(self, file: BinaryIO) -> str:
        return _digest(os.pread(file.fileno(), min(self.offset, _HEAD), 0))

    def close(self) -> None:
        """Close the file."""
        if self.file is not None:
            self.file.close()
            self.file = None

    def to_dict(self) -> dict[str, Any]:
        """JSON-serialisable state."""
        place = {name: getattr(self, name) for name in _PLACE}
        return {**place, **({} if self.rows is None else self.rows.to_dict())}


def _digest(head: bytes) -> str:
    return hashlib.sha256(head).hexdigest() if head else ""


def _is_packed(file: BinaryIO) -> bool:
    return not isinstance(file, io.BufferedReader)


@dataclass
class Tail:
    r"""The lines of a growing file, once each, whatever happens to the file; `positions` are stored in snapshots.

    A rotated file (`votes.jsonl.1`, `votes-20260101.jsonl`, each also compressed) is recognized by its first bytes,
    also after a restart. Its rest is read first, then the files rotated after it, then the new one. A rotated file is
    followed for a while, because its writer may not have noticed yet. A file that was truncated is read from its
    beginning. An incomplete last line is left until it is complete, unless it is a whole JSON record; in a rotated
    file, to which nothing is written any more, it is taken as it is.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "votes.jsonl"
    >>> _ = path.write_bytes(b"one\ntwo\nthr")
    >>> tail = Tail(path)
    >>> [line for _, line in tail.lines()], list(tail.lines())
    ([b'one\n', b'two\n'], [])
    >>> with path.open("ab") as file:
    ...     _ = file.write(b"ee\n")
    >>> [(position.offset, line) for position, line in tail.lines()]
    [(14, b'three\n')]
    >>> tail.close()
    """

    path: Path
    positions: list[Position] = field(default_factory=list)  #: of the file, after those of rotated ones
    notices: list[str] = field(default_factory=list)  #: what happened to the file, for people
    has_rest: bool = False  #: the last line was incomplete at the last poll
    waiting: dict[str, int] = field(default_factory=dict)  #: compressed files that are not complete yet -> their sizes

    def lines(self) -> Iterator[tuple[Position, bytes]]:
        """The new complete lines, and the position after each."""
        self.has_rest = False
        self._find()
        for position in self.positions:
            yield from self._new_lines(position)
        for position in self.positions[:-1]:
            if position.idle > _PATIENCE:
                position.close()
                self.positions.remove(position)

    def close(self) -> None:
        """Close the files."""
        for position in self.positions:
            position.close()

    def _new_lines(self, position: Position) -> Iterator[tuple[Position, bytes]]:
        file = position.file
        if file is None:
            return
        status = os.fstat(file.fileno())
        is_rotated, is_packed, before = not self._is_current(status), _is_packed(file), position.offset
        is_final = is_rotated and (position.idle >= _PATIENCE or is_packed)
        try:
            file.seek(position.offset)
            while line := file.readline(_LONGEST):
                if not line.endswith(b"\n"):
                    if len(line) >= _LONGEST:
                        message = f"a line is longer than {_LONGEST:,} bytes; check that this is a file of votes"
                        raise VotesError(f"{self.path}: {message}")
                    if not is_final and not _is_record(line):
                        self.has_rest = True
                        break
                position.advance(file, len(line))
                yield position, line
        except _DAMAGED as error:
            if not is_packed:
                raise
            if position.idle == _PATIENCE:
                self.notices.append(f"{self.path}: a compressed file is damaged ({error}); the rest of it is not read")
        position.idle = position.idle + 1 if is_rotated and position.offset == before else 0
        position.inode, position.modified = status.st_ino, status.st_mtime_ns
        if not position.offset:  # what comes later than all that was read may be this file, rotated
            position.modified = max(each.modified for each in self.positions)

    # -- which files ------------------------------------------------------------------------------------------------

    def _find(self) -> None:
        """Open the files of the positions, and add positions for those that come after them."""
        for position in self.positions:
            if position.file is not None and not position.matches(position.file):  # truncated: a copy may have the rest
                position.close()
        newest = self.positions[-1] if self.positions else None  # perhaps of a file that was empty in the last run
        self.positions = [position for position in self.positions if position.offset or position.file]
        if len(self.positions) == 1 and newest and newest.file and self._is_current(os.fstat(newest.file.fileno())):
            return
        files, damaged = self._files(), dict[str, int]()
        for position in self.positions:
            if position.file is None:
                position.file = self._search(position, files, damaged)
        if newest is not None and newest.offset and newest.file is None and damaged and damaged != self.waiting:
            self.waiting = damaged  # the file that was read so far may be the one that is being compressed
            return
        self.waiting = {}
        for path in self._following(newest, files):
            with suppress(FileNotFoundError):
                self.positions.append(Position(file=self._opened(path)))
        self.positions = [position for position in self.positions if position.file]

    def _opened(self, path: Path) -> BinaryIO:
        try:
            file: BinaryIO = _PACKED.get(path.suffix, open)(path, "rb")
            return file
        except FileNotFoundError:
            raise
        except OSError as error:
            raise VotesError(f"{path}: cannot be read: {error.strerror or error}", code="no_file") from None

    def _search(self, position: Position, files: list[Path], damaged: dict[str, int]) -> BinaryIO | None:
        """The file that a position is about: by its inode, or else the newest with its first bytes."""
        others = list[Path]()
        for path in files[::-1]:
            with suppress(FileNotFoundError):  # rotated this very moment
                others.insert(0 if path.stat().st_ino == position.inode else len(others), path)
        for path in others:
            with suppress(FileNotFoundError):
                file = self._opened(path)
                try:
                    if position.matches(file):
                        return file
                except _DAMAGED:
                    damaged[path.name] = os.fstat(file.fileno()).st_size
                file.close()
        return None

    def _following(self, newest: Position | None, files: list[Path]) -> list[Path]:
        """The files written after the newest that was read, the oldest first; at the start, the file itself."""
        if newest is None:
            return files[-1:] if self.path in files else []
        if newest.file is not None:
            status = os.fstat(newest.file.fileno())
            places = [k for k, path in enumerate(files) if os.path.samestat(path.stat(), status)]
            if not places and (copy := self._search(newest, files, {})) is not None:  # compressed meanwhile
                copied = os.fstat(copy.fileno())
                places = [k for k, path in enumerate(files) if os.path.samestat(path.stat(), copied)]
                copy.close()
            if places:
                return files[places[0] + 1 :]
        elif self.path in files and newest.offset:
            self.notices.append(
                f"{self.path}: the file was truncated, replaced or moved away; its successor is read from the beginning"
            )
        known = [os.fstat(position.file.fileno()) for position in self.positions if position.file]
        later = [path for path in files if path == self.path or path.stat().st_mtime_ns > newest.modified]
        return [path for path in later if not any(os.path.samestat(path.stat(), status) for status in known)]

    def _is_current(self, status: os.stat_result) -> bool:
        """Whether this is the file at the path, not a rotated one."""
        try:
            return os.path.samestat(status, self.path.stat())
        except FileNotFoundError:
            return False

    def _files(self) -> list[Path]:
        """The rotated files, the oldest first, and the file itself, where it exists."""
        stem, ending = re.escape(self.path.stem), re.escape(self.path.suffix)
        dates = rf"{ending}[.-](\d[\dT_:.-]*?)|[.-](\d{{4}}[\dT_:.-]{{4,}}?){ending}"  # after the ending or before it
        name = re.compile(rf"{stem}(?:{dates})(\.gz|\.bz2|\.xz)?")
        rotated: dict[str, Path] = {}  # by the name without compression; a plain file is complete
        for path in self.path.parent.iterdir():
            match = name.fullmatch(path.name)
            when = match[1] or match[2] if match else ""
            if match and path.is_file() and (when not in rotated or not match[3]):
                rotated[when] = path
        # Small numbers grow with age (`.1`, `.2`), dates and times do not.
        order = sorted(rotated, key=lambda text: (-int(text), "") if text.isdigit() and len(text) < 5 else (0, text))
        return [*(rotated[text] for text in order), *([self.path] if self.path.is_file() else [])]


def _is_record(line: bytes) -> bool:
    """Whether a line without an end is complete all the same: a JSON record closes its own bracket."""
    try:
        return line[:1] == b"{" and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):  # nested too deeply to be a vote
        return False


# -- lines as votes -------------------------------------------------------------------------------------------

Vote: TypeAlias = dict[str, Any]

_SPANS = (("resourceSpans",), ("resourceLogs",), ("annotator_kind", "result"), ("context", "attributes"))
_AHEAD = 1 << 24  # bytes of the rows that decide what the columns are


@dataclass
class Rows:
    r"""Votes from the lines of one file: JSON lines, rows of a table, OpenInference spans; one line at a time.

    What a column is follows from the first rows, as in a file that is read whole, and does not change from line to
    line. A row is one vote (item, juror, label) or one item (a juror per column), with its time where a column has one.

    Examples
    --------
    >>> rows = Rows(Reading())
    >>> rows.votes(b"item,ann,bob\n", is_first=True), rows.votes(b"q1,yes,no\n")
    ([], [{'item': 'q1', 'juror': 'ann', 'label': 'yes'}, {'item': 'q1', 'juror': 'bob', 'label': 'no'}])
    >>> Rows(Reading()).votes(b'{"task": "q1", "worker": "ann", "label": "yes", "time": 7}', is_first=True)
    [{'item': 'q1', 'juror': 'ann', 'label': 'yes', 'time': 7}]
    """

    options: Reading
    time: str | None = None  #: the column of times, where the user names it
    header: list[str] | None = None  #: of a table; None for JSON lines, and while it is open which of the two it is
    is_json: bool = False  #: whether a line was a JSON record of votes
    separator: str = ","
    pending: str = ""  #: the beginning of a row whose cells have line ends in them
    roles: Roles | None = None  #: of the columns, once the first rows were read
    #: the same of other files, by columns
    known: dict[tuple[str, ...], Roles] = field(default_factory=dict, repr=False)
    ahead: Callable[[], Sequence[bytes]] = field(default=list, repr=False)  #: the lines that follow and are there
    _layouts: dict[tuple[str, ...], tuple[Layout, int | None, Sequence[int]]] = field(default_factory=dict, repr=False)

    @property
    def is_known(self) -> bool:
        """Whether any line was accepted, so that JSON and tables are told apart."""
        return self.is_json or self.header is not None

    def votes(self, line: bytes, *, is_first: bool = False) -> list[Vote]:
        """The votes of the next line; VotesError where it holds something else, which changes nothing."""
        line = line.removeprefix(b"\xef\xbb\xbf") if is_first else line
        if not line.strip():
            return []
        if is_first:
            self.pending = ""
        if self.is_json or (line.lstrip()[:1] in (b"{", b"[") and (self.header is None or is_first)):
            votes = select_votes(self._from_json(line), self.options)
            self.is_json, self.header = True, None
            return votes
        try:
            text = line.decode()
        except UnicodeDecodeError:
            raise VotesError(f"not valid UTF-8: {line[:40]!r}; save the file as UTF-8") from None
        return select_votes(self._from_row(text, is_first=is_first), self.options)

    def to_dict(self) -> dict[str, Any]:
        """JSON-serialisable state."""
        return {name: getattr(self, name) for name in ("header", "separator", "pending", "is_json", "roles")}

    def restore(self, state: Mapping[str, Any]) -> Rows:
        """Restore what `to_dict` returned."""
        for name in ("header", "separator", "pending", "is_json"):
            setattr(self, name, state[name])
        self.roles = state.get("roles")
        return self

    def _from_json(self, line: bytes) -> list[Vote]:
        record = Node(parse_json(line, again="check the program that writes it"))
        if not record.is_record:
            raise record.wrong("a JSON record")
        if any(all(key in record for key in keys) for keys in _SPANS):
            _, _, question = (self.options.tool or "").partition(":")
            return votes_of(openinference.records_from([record], question or None))
        names = [name for name, _ in record.entries()]
        if not self.is_known:
            records = [record.value, *self._records_ahead()]
            every = list(dict.fromkeys(name for each in records for name in each))
            self._decide(every, (list(map(each.get, every)) for each in records))
        return self._from_cells(names, lambda k: record[names[k]].single())

    def _records_ahead(self) -> Iterator[dict[str, Any]]:
        for line in self.ahead():
            with suppress(VotesError):
                if isinstance(record := parse_json(line), dict):
                    yield record

    def _from_row(self, text: str, *, is_first: bool) -> list[Vote]:
        text = self.pending + text
        self.pending = ""
        if text.count('"') % 2:
            if len(text) > 1 << 20:  # characters of a row whose cells have line ends in them
                raise VotesError(f"a quotation mark is not closed: {text[:40]!r} …")
            self.pending = text
            return []
        if (is_first or self.header is None) and self._is_header(text):
            return []
        cells = self._split(text, self.separator)
        if self.header is None or len(cells) != len(self.header):
            many = len(self.header or ())
            raise VotesError(f"the row has {len(cells)} cells, but the header has {many}: {text.strip()[:60]!r}")
        return self._from_cells(self.header, cells.__getitem__)

    def _is_header(self, text: str) -> bool:
        """Take the header of a table, if it is one; a later file of the same table need not have it."""
        separator = max(",\t;|", key=text.count)
        names = [name.strip() for name in self._split(text, separator)]
        if names == self.header:
            return True
        try:
            if self.header is not None:  # a row of votes may look like a header to what looks at cells
                layout_of_roles(names, {}, self.options, self.time)
            self._decide(names, self._rows_ahead(separator, len(names)))
            self._layout(names)
        except VotesError:
            if self.header is None or len(names) != len(self.header):
                raise
            return False
        self.header, self.separator = names, separator
        return True

    def _rows_ahead(self, separator: str, width: int) -> Iterator[list[str]]:
        text = b"".join(self.ahead()).decode(errors="replace")
        with suppress(csv.Error):
            yield from (row for row in csv.reader(io.StringIO(text), delimiter=separator) if len(row) == width)

    def _split(self, text: str, separator: str) -> list[str]:
        try:
            return next(csv.reader(io.StringIO(text), delimiter=separator, strict=True))
        except csv.Error as error:
            raise VotesError(f"not a valid row of CSV ({error}): {text.strip()[:60]!r}") from None

    def _decide(self, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Decide what the columns are, unless they are known."""
        key = tuple(names)
        if key not in self.known and names:
            self.known[key] = find_roles(names, rows, without_time(names, self.options, self.time)[0])
        self.roles = self.known.get(key)

    def _layout(self, names: Sequence[str]) -> tuple[Layout, int | None, Sequence[int]]:
        """The role of each column, the column of times, and those of the item."""
        key = tuple(names)
        if key not in self._layouts:
            if len(self._layouts) > 1000:  # records that are never alike
                self._layouts.clear()
            roles = self.roles or {}
            self._layouts[key] = layout_of_roles(names, roles, self.options, self.time)
        return self._layouts[key]

    def _from_cells(self, names: Sequence[str], cell: Callable[[int], Any]) -> list[Vote]:
        layout, time, places = self._layout(names)
        read = (*layout.used, *places, *(() if time is None else (time,)))
        cells = {k: cell(k) for k in read if k < len(names)}  # the columns that are read
        when = {} if time is None else {"time": cells[time]}
        item = cells[places[0]]
        if len(places) > 1:
            (item,) = joined_cells([[cells[k]] for k in places], [names[k] for k in places])
        if layout.kind == "long":
            return [{"item": item, "juror": cells[layout.juror], "label": self._label(cells[layout.label]), **when}]
        labels = [(names[k], self._label(cells[k])) for k in layout.votes]
        return [{"item": item, "juror": juror, "label": label, **when} for juror, label in labels if label is not None]

    def _label(self, value: Any) -> Any:
        """The label, or None for a cell that means no vote by the options; the monitor knows the empty ones."""
        absent = (*text_columns(self.options.missing), *text_columns(self.options.abstain))
        return None if value is None or value == "" or str(value).strip() in absent else value


def votes_of(records: Records, prefix: str = "") -> list[Vote]:
    """Turn a reader's records into votes of a stream; repetitions are joined into one vote.

    Parameters
    ----------
    records
        What the reader returned.
    prefix
        Put before the items' names where the log stands for itself.

    Returns
    -------
    list of dict
        With the keys item, juror, label and time; rows without a label are left out.
    """
    if len(records.repetition):
        votes = Votes.from_columns(records.item, records.juror, records.label, duplicates="join")
        items, rows = votes.item_names(), zip(*votes.triples(), strict=True)
        records = Records.from_rows((items[i], votes.jurors[j], votes.labels[k]) for i, j, k in rows)
    times = records.time or [None] * len(records.item)
    return [
        {"item": f"{prefix}{item}" if prefix else item, "juror": juror, "label": label, "time": time}
        for item, juror, label, time in zip(records.item, records.juror, records.label, times, strict=True)
        if label is not None
    ]


def select_votes(votes: Sequence[Vote], options: Reading) -> list[Vote]:
    """Select the votes of the jurors that the options name, and recode their labels.

    In a stream, jurors and labels may still appear that have not been seen, so no name is unknown.

    Returns
    -------
    list of dict
        The votes that remain, in order.

    Examples
    --------
    >>> votes = [{"juror": "ann", "label": 0.7}, {"juror": "bob", "label": 0.2}]
    >>> select_votes(votes, Reading(drop=["bob"], threshold=0.5))
    [{'juror': 'ann', 'label': 'pass'}]
    """
    only, drop = text_columns(options.only), text_columns(options.drop)
    selected = [vote for vote in votes if (not only or str(vote["juror"]) in only) and str(vote["juror"]) not in drop]
    recoding = Recoding.of(options)
    return [{**vote, "label": recoding.one(vote["label"])} for vote in selected] if recoding else selected


# -- sources --------------------------------------------------------------------------------------------------

_LINES = (".jsonl", ".ndjson", ".csv", ".tsv")
_LOGS = (".json", ".eval")
_UNFINISHED = (".tmp", ".part", ".partial", ".swp", "~")
_FATAL = ("several_questions", "two_readings")  # errors that no later line can repair
_BATCH = 20_000  # votes handed on at a time
_MOST_PROBLEMS = 3  # described of a poll; all are counted
_SECONDS = 1.0  # for the first rows of standard input


@dataclass
class ReadingRecord:
    """What was read of a source, and what could not be."""

    lines: int = 0  #: and files that are read whole
    refused: int = 0
    problems: list[str] = field(default_factory=list)  #: where and why, the first few of this poll
    notices: list[str] = field(default_factory=list)  #: what happened to files, for people

    def refuse(self, where: str, why: str) -> None:
        """Count something that could not be read."""
        self.refused += 1
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(f"{where}: {' '.join(why.split())}")


@dataclass(kw_only=True)
class VoteSource:
    """What a watcher reads; `to_dict` is stored in snapshots."""

    options: Reading
    time: str | None = None  #: the column of times, where the user names it
    record: ReadingRecord = field(default_factory=ReadingRecord)
    known: dict[tuple[str, ...], Roles] = field(default_factory=dict, repr=False)  #: what columns of these names are
    is_done: bool = False  #: whether nothing more can come
    _doubts: float = 0.0  # lines that were refused before any was accepted
    _first_error: VotesError | None = None  # why the first of them was

    def batches(self, *, ended: bool = False) -> Iterator[list[Vote]]:
        """The new votes, in batches; the state is that after the batch. `ended`: all that will ever come."""
        batch: list[Vote] = []
        for votes in self._new_votes(ended=ended):
            batch += votes
            if len(batch) >= _BATCH:
                yield batch
                batch = []
        yield batch

    def _new_votes(self, *, ended: bool) -> Iterator[list[Vote]]:
        """The votes of each line or file that is new."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the files, where any are open between polls."""

    def to_dict(self) -> dict[str, Any]:
        """JSON-serialisable state."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore what `to_dict` returned."""

    def _votes(self, rows: Rows, line: bytes, source: str, place: str, *, is_first: bool) -> list[Vote]:
        """The votes of a line; none, and a problem, where it cannot be read.

        Logs have stray lines, so one line that is no vote is passed over. Where no line is accepted, the columns are
        none of votes: after two lines of several cells, or twenty of any kind, the first error is raised.
        """
        self.record.lines += 1
        try:
            return rows.votes(line, is_first=is_first)
        except VotesError as error:
            if error.code in _FATAL:
                raise error.in_file(source) from None
            self.record.refuse(f"{source}, {place}", str(error))
            if not rows.is_known:
                self._first_error = self._first_error or error.in_file(source)
                self._doubts += 0.5 if re.search(rb"^[^{\[].*[,;|\t]", line.strip()) else 0.05
                if self._doubts > 0.99:
                    raise self._first_error from None
            return []

    def _check_end(self, rows: Rows) -> None:
        """Raise the first error where the source ended and no line of it was accepted."""
        if self._first_error is not None and not rows.is_known:
            raise self._first_error


@dataclass
class GrowingFile(VoteSource):
    """One file of lines."""

    path: Path

    def __post_init__(self) -> None:
        self._tail = Tail(self.path, notices=self.record.notices)
        self._rows = self._new_rows()  # of the newest file

    def _new_rows(self, position: Position | None = None) -> Rows:
        """What reads a file, which looks ahead for what the columns are."""

        def ahead() -> list[bytes]:
            file = position and position.file
            if not file:
                return []
            place = file.tell()
            with suppress(*_DAMAGED):
                lines = file.readlines(_AHEAD)
            file.seek(place)
            return lines

        return Rows(self.options, self.time, known=self.known, ahead=ahead)

    def _new_votes(self, *, ended: bool) -> Iterator[list[Vote]]:
        if ended and not self.path.exists() and not self._tail.positions:
            raise VotesError("the file does not exist", code="no_file").in_file(str(self.path))
        for position, line in self._tail.lines():
            is_first = position.offset == len(line)
            if position.rows is None:
                state = self._rows.to_dict()  # what the last file was; perhaps the header is not repeated
                position.rows = self._rows = self._new_rows(position).restore({**state, "pending": ""})
            place = f"bytes {position.offset - len(line) + 1:,} to {position.offset:,}"
            yield self._votes(position.rows, line, str(self.path), place, is_first=is_first)
        if ended and self._tail.has_rest:
            self.record.notices.append(f"{self.path}: the last line is incomplete and not read yet")
        if ended:
            self._check_end(self._rows)

    def close(self) -> None:
        """Close the file."""
        self._tail.close()

    def to_dict(self) -> dict[str, Any]:
        """JSON-serialisable state."""
        files = [position.to_dict() for position in self._tail.positions if position.offset or position.inode]
        return {"files": files, "waiting": self._tail.waiting, "rows": self._rows.to_dict()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore what `to_dict` returned."""
        self._tail.waiting = dict(state["waiting"])
        self._rows.restore(state["rows"])
        self._tail.positions = []
        for each in state["files"]:
            position = Position(**{name: each[name] for name in _PLACE})
            position.rows = self._new_rows(position).restore(each) if each["offset"] else None
            self._tail.positions.append(position)
        if self._tail.positions:
            self._rows = self._tail.positions[-1].rows or self._rows


@dataclass
class StandardInput(VoteSource):
    """Lines from a pipe; they come once and cannot be read again, so a snapshot stores only the counts."""

    def __post_init__(self) -> None:
        self._lines: queue.Queue[bytes] = queue.Queue(maxsize=100_000)
        self._rows = Rows(self.options, self.time, known=self.known, ahead=lambda: list(self._lines.queue))
        self._number = 0
        self._reader: threading.Thread | None = None

    def _new_votes(self, *, ended: bool) -> Iterator[list[Vote]]:
        if self._reader is None:
            self._reader = threading.Thread(target=self._read, daemon=True)
            self._reader.start()
        if not self._number:
            self._wait_for_first_rows(ended=ended)
        while not self.is_done:
            try:
                line = self._lines.get(block=ended)
            except queue.Empty:
                break
            self.is_done = not line
            if line:
                self._number += 1
                is_first, place = self._number == 1, f"line {self._number:,}"
                yield self._votes(self._rows, line, "standard input", place, is_first=is_first)
        if self.is_done:
            self._check_end(self._rows)

    def _wait_for_first_rows(self, *, ended: bool) -> None:
        """Wait until those that decide what the columns are have come: once one has, for a second."""
        until = monotonic() + _SECONDS
        while self._reader is not None and self._reader.is_alive() and not self._lines.full():
            if not ended and (self._lines.empty() or monotonic() > until):
                break
            sleep(0.01)

    def _read(self) -> None:
        """Take lines without Python's buffer, whose lock a thread would hold while the process ends."""
        try:
            descriptor, rest = sys.stdin.buffer.fileno(), b""
        except OSError:  # no file behind it
            for line in sys.stdin.buffer:
                self._lines.put(line)
        else:
            while piece := os.read(descriptor, 1 << 16):
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    self._lines.put(line + b"\n")
            if rest:
                self._lines.put(rest)
        self._lines.put(b"")


@dataclass
class Folder(VoteSource):
    """A folder of logs: files of lines are followed as they grow, others are read once they no longer change.

    A log that is read whole stands for itself: its items get its name in front, so that two runs of one test are two
    sets of items. One that is written anew corrects itself.
    """

    path: Path

    def __post_init__(self) -> None:
        self._growing: dict[str, GrowingFile] = {}
        self._read: dict[str, list[int]] = {}  # log -> size and time of change when it was read
        self._seen: dict[str, list[int]] = {}  # the same at the last poll

    def batches(self, *, ended: bool = False) -> Iterator[list[Vote]]:
        """The votes in files that grew, and in logs that are new or were written anew."""
        for name, path in self._files():
            if self._is_log(name, path):
                yield self._log_votes(name, path, ended=ended)
            elif path.suffix.lower() in _LINES:
                file = self._follow(name, path)
                yield from file.batches(ended=ended)
                file.close()  # a folder may hold more files than may be open

    def _files(self) -> list[tuple[str, Path]]:
        if not self.path.is_dir():
            raise VotesError(f"{self.path}: the folder does not exist any more", code="no_file")
        files = []
        for folder, inner, names in os.walk(self.path):
            inner[:] = sorted(name for name in inner if not name.startswith("."))
            files += [Path(folder) / name for name in sorted(names) if not name.startswith(".")]
        return [
            (path.relative_to(self.path).as_posix(), path)
            for path in files
            if path.suffix.lower() in (*_LINES, *_LOGS) and path.is_file() and not path.name.endswith(_UNFINISHED)
        ]

    def _is_log(self, name: str, path: Path) -> bool:
        """Whether a reader takes the file whole; spans, line by line, are followed."""
        if name in self._growing:
            return False
        if name in self._read or path.suffix.lower() in _LOGS:
            return True
        if path.suffix.lower() in (".csv", ".tsv") or not path.stat().st_size:
            return False
        reader = find_reader(Files((path,), self.path), self.options.tool)
        return reader is not None and reader[0] != "openinference"

    def _follow(self, name: str, path: Path) -> GrowingFile:
        if name not in self._growing:
            given: dict[str, Any] = {"options": self.options, "time": self.time, "known": self.known}
            self._growing[name] = GrowingFile(path, record=self.record, **given)
        return self._growing[name]

    def _log_votes(self, name: str, path: Path, *, ended: bool) -> list[Vote]:
        """The votes of a whole log, once it did not change between two polls."""
        status = path.stat()
        stamp = [status.st_size, status.st_mtime_ns]
        is_stable = ended or self._seen.get(name) == stamp
        self._seen[name] = stamp
        if not is_stable or self._read.get(name) == stamp:
            return []
        self._read[name] = stamp
        self.record.lines += 1
        try:
            files = Files((path,), self.path)
            reader = find_reader(files, self.options.tool)
            if reader is None:
                raise VotesError("no reader recognizes this file; name its tool with --from, or remove the file")
            if reader[0] == "openinference":
                _, _, question = (self.options.tool or "").partition(":")
                records, prefix = openinference.read(files, question or None, is_stream=True), ""
            else:
                whole = read_records(files, reader[1])
                if not isinstance(whole, Records):
                    raise VotesError("the file has counts instead of items, which cannot be watched; remove the file")
                records, prefix = whole, f"{Path(name).with_suffix('').as_posix()}/"
            votes = select_votes(votes_of(records, prefix), self.options)
        except VotesError as error:
            if error.code in _FATAL:
                raise error.in_file(str(path)) from None
            self.record.refuse(str(path), error.fault)
            return []
        findings = [finding for finding in records.findings if finding.level != "note"]
        self.record.notices += [f"{path}: {finding.level}: {finding.message}" for finding in findings]
        return votes

    def to_dict(self) -> dict[str, Any]:
        """JSON-serialisable state."""
        return {"growing": {name: file.to_dict() for name, file in self._growing.items()}, "read": self._read}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore what `to_dict` returned."""
        self._read = dict(state["read"])
        for name, file_state in state["growing"].items():
            self._follow(name, self.path / name).restore(file_state)


def source_of(files: Sequence[str], options: Reading, time: str | None = None) -> VoteSource:
    """Select the source that the command line names.

    Parameters
    ----------
    files
        One name: "-", a folder, or a file that may not exist yet.
    options
        How votes are read.
    time
        The column of times.

    Returns
    -------
    VoteSource
        A StandardInput, a Folder or a GrowingFile.
    """
    if options.repeat is not None or text_columns(options.join) or options.duplicates == "join":
        name = "repeat" if options.repeat is not None else "join" if text_columns(options.join) else "duplicates"
        reason = "where a later vote replaces the earlier one; use `jurors grade`"
        raise OptionError(f"--{name} does not apply to a stream, {reason}", code="does_not_apply", name=name)
    if len(files) != 1:
        raise VotesError("watch takes one file, one folder or -; to watch several files, put them into one folder")
    if options.transpose:
        raise OptionError("--transpose does not apply to a stream; omit it", code="does_not_apply")
    if is_served(files[0]) or split_inside(files[0])[1] or named_format(files[0]) == "xlsx":
        raise VotesError("workbooks and databases cannot be watched; use `jurors grade`")
    if files[0] == "-":
        return StandardInput(options=options, time=time)
    path = Path(files[0])
    return (Folder if path.is_dir() else GrowingFile)(path, options=options, time=time)
