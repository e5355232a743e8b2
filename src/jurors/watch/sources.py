"""Tail, folders, stdin."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import queue
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeAlias

from jurors.errors import OptionError, VotesError
from jurors.monitor.ledger import TIME_WORDS
from jurors.options import Reading, text_columns
from jurors.votes.io.sources import is_served, named_format, split_inside
from jurors.votes.layout import Layout, bare_word, find_column, layout_by_words, quoted_names
from jurors.votes.readers import Records, find_reader, openinference, read_records
from jurors.votes.readers.base import Files, Node, parse_json
from jurors.votes.recode import Recoding
from jurors.votes.table import Votes

# A file that grows: its whole lines, once each, whatever happens to the file.
#
# A position is how many bytes were taken, and a fingerprint of the first of them. It says after a restart whether the
# file is still the same: what was cut short begins again, and of what was moved away (`votes.jsonl.1`) the rest is read
# first.
# A line that is not ended yet is left until it is, unless it is a whole JSON record; in a file that was moved away,
# where nobody writes any more, it is taken as it is.


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


# Lines as votes: records of JSON lines, rows of a table, spans of OpenInference, one by one as they come.
#
# What a column is, its name says (or the options), never the cells: it must not change from line to line. A row is one
# vote (item, juror, label) or one item (a juror per column); a time is taken along where a column has one.


Vote: TypeAlias = dict[str, Any]

_SEPARATORS = ",\t;|"
_ROWS_LONGEST = 1 << 20  # characters of a row whose cells have line ends in them
_SPANS = (("resourceSpans",), ("resourceLogs",), ("annotator_kind", "result"), ("context", "attributes"))


@dataclass
class Rows:
    r"""What the lines of one file say; `to_dict` is what a snapshot keeps of it.

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
    header: list[str] | None = None  #: of a table; None for JSON lines
    separator: str = ","
    pending: str = ""  #: the beginning of a row whose cells have line ends in them
    _layouts: dict[tuple[str, ...], tuple[Layout, int | None]] = field(default_factory=dict, repr=False)

    def votes(self, line: bytes, *, is_first: bool = False) -> list[Vote]:
        """The votes of one more line; VotesError where it holds something else."""
        line = line.removeprefix(b"\xef\xbb\xbf") if is_first else line
        if not line.strip():
            return []
        if is_first:
            self.pending, self.header = "", None
        is_json = line.lstrip()[:1] in (b"{", b"[") and (self.header is None or is_first)
        return heard(self._json(line) if is_json else self._row(_text(line), is_first=is_first), self.options)

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types."""
        return {"header": self.header, "separator": self.separator, "pending": self.pending}

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `to_dict`."""
        self.header, self.separator, self.pending = state["header"], state["separator"], state["pending"]

    # -- JSON lines -----------------------------------------------------------------------------------------------

    def _json(self, line: bytes) -> list[Vote]:
        record = Node(parse_json(line))
        if not record.is_record:
            raise record.wrong("a JSON record")
        if any(all(key in record for key in keys) for keys in _SPANS):
            _, _, question = (self.options.tool or "").partition(":")
            return votes_of(openinference.records_from([record], question or None))
        names = [name for name, _ in record.entries()]
        return self._laid_out(names, [record[name].single() for name in self._used(names)])

    # -- tables ---------------------------------------------------------------------------------------------------

    def _row(self, text: str, *, is_first: bool) -> list[Vote]:
        text = self.pending + text
        self.pending = ""
        if text.count('"') % 2:
            if len(text) > _ROWS_LONGEST:
                raise VotesError(f"a quotation mark is never closed: {text[:40]!r} …; write the row again")
            self.pending = text
            return []
        if is_first or self.header is None:
            self.separator = max(_SEPARATORS, key=text.count)
            self.header = [name.strip() for name in self._cells(text)]
            self._layout(self.header)
            return []
        cells = self._cells(text)
        if len(cells) != len(self.header):
            raise VotesError(f"{len(cells)} cells where the first line has {len(self.header)}: {text.strip()[:60]!r}")
        return self._laid_out(self.header, [cells[k] for k in self._places(self.header)])

    def _cells(self, text: str) -> list[str]:
        try:
            return next(csv.reader(io.StringIO(text), delimiter=self.separator, strict=True))
        except csv.Error as error:
            raise VotesError(f"no row of a table ({error}): {text.strip()[:60]!r}") from None

    # -- what is what ---------------------------------------------------------------------------------------------

    def _layout(self, names: Sequence[str]) -> tuple[Layout, int | None]:
        key = tuple(names)
        if key not in self._layouts:
            if len(self._layouts) > 1000:  # records that are never alike
                self._layouts.clear()
            self._layouts[key] = _layout(names, self.options, self.time)
        return self._layouts[key]

    def _places(self, names: Sequence[str]) -> list[int]:
        layout, time = self._layout(names)
        return [*layout.used, *(() if time is None else (time,))]

    def _used(self, names: Sequence[str]) -> list[str]:
        return [names[k] for k in self._places(names)]

    def _laid_out(self, names: Sequence[str], cells: Sequence[Any]) -> list[Vote]:
        layout, time = self._layout(names)
        at = dict(zip(self._places(names), cells, strict=True))
        when = {} if time is None else {"time": at[time]}
        item = at[layout.item] if layout.item is not None else None
        if layout.kind == "long":
            return [{"item": item, "juror": at[layout.juror], "label": self._label(at[layout.label]), **when}]  # type: ignore[index]
        said = [(names[k], self._label(at[k])) for k in layout.votes]
        return [{"item": item, "juror": juror, "label": label, **when} for juror, label in said if label is not None]

    def _label(self, value: Any) -> Any:
        """A cell that means no vote, by the options, is none; empty ones the monitor knows."""
        absent = (*text_columns(self.options.missing), *text_columns(self.options.abstain))
        return None if value is None or value == "" or str(value).strip() in absent else value


def _layout(names: Sequence[str], options: Reading, time: str | None) -> tuple[Layout, int | None]:
    place = None if time is None else find_column(names, time)
    if place is None:
        place = next((k for k, name in enumerate(names) if bare_word(name) in TIME_WORDS), None)
    at = options if place is None else options.without(names[place])
    layout = layout_by_words(names, at, lambda _: True)
    if layout.kind == "counts":
        raise VotesError("counts have no items; a stream needs one vote or one item per line, with the item's name")
    if layout.item is None:
        raise VotesError(
            f"none of {quoted_names(names)} names the item; a stream needs it, so that a vote that "
            "comes again is known: name "
            "it with --item COLUMN"
        )
    return layout, place


def votes_of(records: Records, prefix: str = "") -> list[Vote]:
    """What a reader found, one vote each; items of a log that stands alone get its name in front."""
    if len(records.repetition):
        records = _once(records)
    times = records.time or [None] * len(records.item)
    return [
        {"item": f"{prefix}{item}" if prefix else item, "juror": juror, "label": label, "time": time}
        for item, juror, label, time in zip(records.item, records.juror, records.label, times, strict=True)
        if label is not None
    ]


def _once(records: Records) -> Records:
    """The records with one vote of a juror on an item, where the log has it several times."""
    votes = Votes.from_columns(records.item, records.juror, records.label, duplicates="join")
    row, juror, code = votes.triples()
    names, labels = votes.item_names(), votes.labels
    said = [(names[i], votes.jurors[j], labels[k]) for i, j, k in zip(row, juror, code, strict=True)]
    item, who, label = zip(*said, strict=True) if said else ((), (), ())
    return Records(item, who, label)


def heard(votes: Sequence[Vote], options: Reading) -> list[Vote]:
    """The votes of the chosen jurors, with labels as the caller would have them.

    In a stream nobody knows yet who will come and what they will say, so that no name is unknown.

    >>> heard([{"juror": "ann", "label": 0.7}, {"juror": "bob", "label": 0.2}], Reading(drop=["bob"], threshold=0.5))
    [{'juror': 'ann', 'label': 'pass'}]
    """
    only, drop = text_columns(options.only), text_columns(options.drop)
    kept = [vote for vote in votes if (not only or str(vote["juror"]) in only) and str(vote["juror"]) not in drop]
    rewriting = Recoding.of(options)
    return [{**vote, "label": rewriting.one(vote["label"])} for vote in kept] if rewriting else kept


def _text(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise VotesError(f"not valid UTF-8: {line[:40]!r}; save the file as UTF-8") from None


# Where votes come from: a growing file, a folder in which files grow and appear, standard input.


_LINES = (".jsonl", ".ndjson", ".csv", ".tsv")
_LOGS = (".json", ".eval")
_UNFINISHED = (".tmp", ".part", ".partial", ".swp", "~")
_FATAL = ("several_questions",)  # what no later line can mend
_BATCH = 20_000  # votes handed on together


@dataclass(frozen=True)
class SourceProblem:
    """A line or a file that could not be read: where, and why."""

    where: str
    why: str


class VoteSource(Protocol):
    """What a watcher reads; `state` is what a snapshot keeps of it."""

    problems: list[SourceProblem]
    news: list[str]  #: what happened to files, for people
    is_done: bool  #: whether nothing more can come

    def batches(self, *, ended: bool = False) -> Iterator[list[Vote]]:
        """The votes that are new, some at a time; the state is that after the batch."""

    def close(self) -> None:
        """Let files go."""

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `to_dict`."""


@dataclass
class GrowingFile:
    """One file of lines."""

    path: Path
    options: Reading
    time: str | None = None
    problems: list[SourceProblem] = field(default_factory=list)
    news: list[str] = field(default_factory=list)
    is_done: bool = False

    def __post_init__(self) -> None:
        self._tail = Tail(self.path, news=self.news)
        self._rows = Rows(self.options, self.time)

    def batches(self, *, ended: bool = False) -> Iterator[list[Vote]]:
        """The votes of the lines that are new."""
        batch: list[Vote] = []
        if ended and not self.path.exists() and not self._tail.position.offset:
            raise VotesError("there is no such file", code="no_file").in_file(str(self.path))
        while True:
            before = self._tail.position.to_dict()
            for is_first, line in self._tail.lines():
                batch += self._votes(line, is_first)
                if len(batch) >= _BATCH:
                    yield batch
                    batch = []
            if self._tail.position.to_dict() == before:
                break
        if ended and self._tail.has_rest:
            self.news.append(f"{self.path}: the last line is not ended; it is read when it is")
        yield batch

    def _votes(self, line: bytes, is_first: bool) -> list[Vote]:
        try:
            return self._rows.votes(line, is_first=is_first)
        except VotesError as error:
            if is_first or error.code in _FATAL:  # the columns are no votes: every line would be refused
                raise error.in_file(str(self.path)) from None
            where = f"{self.path}, before byte {self._tail.position.offset:,}"
            self.problems.append(SourceProblem(where, " ".join(str(error).split())))
            return []

    def close(self) -> None:
        """Let the file go."""
        self._tail.close()

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types."""
        return {**self._tail.position.to_dict(), **self._rows.to_dict()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `to_dict`."""
        self._tail.position = Position(state["offset"], state["head"])
        self._rows.restore(state)


@dataclass
class StandardInput:
    """Lines that are piped in; they come once, so that a snapshot keeps only what was counted."""

    options: Reading
    time: str | None = None
    stream: BinaryIO | None = None
    problems: list[SourceProblem] = field(default_factory=list)
    news: list[str] = field(default_factory=list)
    is_done: bool = False

    def __post_init__(self) -> None:
        self._rows = Rows(self.options, self.time)
        self._lines: queue.Queue[bytes] = queue.Queue(maxsize=100_000)
        self._number = 0
        self._reader: threading.Thread | None = None

    def batches(self, *, ended: bool = False) -> Iterator[list[Vote]]:
        """What has come since; `ended`: all that comes until the input ends."""
        if self._reader is None:
            self._reader = threading.Thread(target=self._read, daemon=True)
            self._reader.start()
        batch: list[Vote] = []
        while not self.is_done:
            try:
                line = self._lines.get(block=ended)
            except queue.Empty:
                break
            self.is_done = not line
            batch += self._votes(line) if line else []
            if len(batch) >= _BATCH:
                yield batch
                batch = []
        yield batch

    def _read(self) -> None:
        for line in _raw_lines(self.stream or sys.stdin.buffer):
            self._lines.put(line)
        self._lines.put(b"")

    def _votes(self, line: bytes) -> list[Vote]:
        self._number += 1
        try:
            return self._rows.votes(line, is_first=self._number == 1)
        except VotesError as error:
            if self._number == 1 or error.code in _FATAL:
                raise error.in_file("standard input") from None
            where = f"standard input, line {self._number:,}"
            self.problems.append(SourceProblem(where, " ".join(str(error).split())))
            return []

    def close(self) -> None:
        """The input is not ours to close."""

    def to_dict(self) -> dict[str, Any]:
        """Nothing: what came through a pipe cannot be asked for again."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Nothing to restore."""


def _raw_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Lines of a pipe without a buffer of Python's, whose lock a thread would hold while the process ends."""
    try:
        place = stream.fileno()
    except OSError:  # no file behind it
        yield from stream
        return
    rest = b""
    while piece := os.read(place, 1 << 16):
        *lines, rest = (rest + piece).split(b"\n")
        yield from (line + b"\n" for line in lines)
    if rest:
        yield rest


@dataclass
class Folder:
    """A folder of logs: files of lines are followed as they grow, others are read when nobody writes them any more.

    A log that is read whole stands for itself: its items get its name in front, so that two runs of one test are two
    sets of items. One that is written anew corrects itself.
    """

    path: Path
    options: Reading
    time: str | None = None
    problems: list[SourceProblem] = field(default_factory=list)
    news: list[str] = field(default_factory=list)
    is_done: bool = False

    def __post_init__(self) -> None:
        self._growing: dict[str, GrowingFile] = {}
        self._read: dict[str, list[int]] = {}  # log -> size and time of change when it was read
        self._seen: dict[str, list[int]] = {}  # the same at the last look

    def batches(self, *, ended: bool = False) -> Iterator[list[Vote]]:
        """The votes in what grew, and in logs that are new or were written anew."""
        for name, path in self._files():
            if self._is_log(name, path):
                yield self._log(name, path, ended=ended)
            elif path.suffix.lower() in _LINES:
                yield from self._follow(name, path).batches(ended=ended)
                self._growing[name].close()  # a folder may hold more files than may be open
                self._gather(name)

    def _files(self) -> list[tuple[str, Path]]:
        if not self.path.is_dir():
            raise VotesError(f"{self.path}: the folder is gone", code="no_file")
        files = []
        for folder, inner, names in os.walk(self.path):
            inner[:] = sorted(one for one in inner if not one.startswith("."))
            files += [Path(folder) / one for one in sorted(names) if not one.startswith(".")]
        kept = [path for path in files if path.suffix.lower() in (*_LINES, *_LOGS) and path.is_file()]
        return [(path.relative_to(self.path).as_posix(), path) for path in kept if not path.name.endswith(_UNFINISHED)]

    def _is_log(self, name: str, path: Path) -> bool:
        """Whether a reader takes the file whole; spans, line by line, are followed."""
        if name in self._growing:
            return False
        if name in self._read or path.suffix.lower() in _LOGS:
            return True
        if path.suffix.lower() in (".csv", ".tsv") or not path.stat().st_size:
            return False
        reader = find_reader([path], self.path, self.options.tool)
        return reader is not None and reader[0] != "openinference"

    def _follow(self, name: str, path: Path) -> GrowingFile:
        if name not in self._growing:
            self._growing[name] = GrowingFile(path, self.options, self.time)
        return self._growing[name]

    def _gather(self, name: str) -> None:
        one = self._growing[name]
        self.problems += one.problems
        self.news += one.news
        one.problems.clear()
        one.news.clear()

    def _log(self, name: str, path: Path, *, ended: bool) -> list[Vote]:
        """The votes of a whole log, once it did not change between two looks."""
        about = path.stat()
        stamp = [about.st_size, about.st_mtime_ns]
        settled = ended or self._seen.get(name) == stamp
        self._seen[name] = stamp
        if not settled or self._read.get(name) == stamp:
            return []
        self._read[name] = stamp
        try:
            records, prefix = self._records(name, path)
            votes = heard(votes_of(records, prefix), self.options)
        except VotesError as error:
            if error.code in _FATAL:
                raise error.in_file(str(path)) from None
            self.problems.append(SourceProblem(str(path), " ".join(error.fault.split())))
            return []
        self.news += [f"{path}: {one.level}: {one.message}" for one in records.findings if one.level != "note"]
        return votes

    def _records(self, name: str, path: Path) -> tuple[Records, str]:
        files = Files((path,), self.path)
        reader = find_reader([path], self.path, self.options.tool)
        if reader is None:
            raise VotesError("no reader knows this file; name its tool with --from, or take it away")
        if reader[0] == "openinference":
            _, _, question = (self.options.tool or "").partition(":")
            return openinference.read_stream(files, question or None), ""
        records = read_records(files.paths, files.root, reader[1])
        if not isinstance(records, Records):
            raise VotesError("counts without items cannot be followed; leave them out")
        return records, f"{Path(name).with_suffix('').as_posix()}/"

    def close(self) -> None:
        """Every file is let go after each look."""

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types."""
        return {"growing": {name: one.to_dict() for name, one in self._growing.items()}, "read": self._read}

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `to_dict`."""
        self._read = dict(state["read"])
        for name, one in state["growing"].items():
            self._follow(name, self.path / name).restore(one)


def source_of(files: Sequence[str], options: Reading, time: str | None = None) -> VoteSource:
    """Standard input, a folder, or a file that may still be to come."""
    if options.repeat is not None or text_columns(options.join) or options.duplicates == "join":
        name = "repeat" if options.repeat is not None else "join" if text_columns(options.join) else "duplicates"
        message = (
            f"--{name} does not apply to a stream, where a juror's later vote corrects the earlier: grade the file"
        )
        raise OptionError(message, code="does_not_apply", name=name)
    if len(files) != 1:
        raise VotesError("one file, one folder or - is watched at a time; put several files into one folder")
    if options.transpose:
        raise OptionError("lines that come in cannot be turned; leave --transpose out", code="does_not_apply")
    if is_served(files[0]) or split_inside(files[0])[1] or named_format(files[0]) == "xlsx":
        raise VotesError("workbooks and databases do not grow line by line; `jurors grade` reads them as they are")
    if files[0] == "-":
        return StandardInput(options, time)
    path = Path(files[0])
    return Folder(path, options, time) if path.is_dir() else GrowingFile(path, options, time)
