"""Where a watcher's votes come from: a growing file, a folder in which files grow and appear, standard input.

`Tail` yields the complete lines of a growing file once each, `Rows` makes votes of lines, and the sources
(`source_of` selects one) hand on batches of votes. Each of them has a state that a snapshot stores, so that after a
restart every line is still read exactly once.
"""

from __future__ import annotations

import csv
import glob
import hashlib
import io
import json
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from jurors.errors import OptionError, VotesError
from jurors.monitor.ledger import TIME_WORDS
from jurors.options import Reading, text_columns
from jurors.votes.io.sources import is_served, named_format, split_inside
from jurors.votes.layout import Layout, bare_word, find_column, layout_by_words, quoted_names
from jurors.votes.readers import Records, find_reader, openinference, read_records
from jurors.votes.readers.base import Files, Node, parse_json
from jurors.votes.recode import Recoding
from jurors.votes.table import Votes

# -- the lines of a growing file ------------------------------------------------------------------------------

_HEAD = 4096  # bytes that distinguish one file from another
_CHUNK = 1 << 24  # bytes read in one go
_LONGEST = 1 << 26  # bytes of a line
_PATIENCE = 2  # polls of a rotated file, to which its writer may still write


@dataclass
class Position:
    """How much of a file was read, and a fingerprint by which it is recognised."""

    offset: int = 0
    head: str = ""  #: SHA-256 of the first bytes that were read, at most 4096

    def matches(self, file: BinaryIO) -> bool:
        """Whether this is the file, or a copy of it, that was read so far."""
        size = os.fstat(file.fileno()).st_size
        return size >= self.offset and _fingerprint(file, self.offset) == self.head


def _fingerprint(file: BinaryIO, taken: int) -> str:
    return hashlib.sha256(os.pread(file.fileno(), min(taken, _HEAD), 0)).hexdigest() if taken else ""


@dataclass
class Tail:
    r"""The lines of a growing file, once each, whatever happens to the file; `position` is stored in snapshots.

    After a restart the position shows whether the file is still the same: a truncated file is read from its beginning,
    and of a rotated one (`votes.jsonl.1`) the rest is read first. An incomplete last line is left until it is complete,
    unless it is a whole JSON record; in a rotated file, to which nothing is written any more, it is taken as it is.

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
    notices: list[str] = field(default_factory=list)  #: what happened to the file, for people
    has_rest: bool = False  #: the last line was incomplete at the last poll
    _file: BinaryIO | None = field(default=None, repr=False)
    _idle: int = 0  # polls of a rotated file without a new line

    def lines(self) -> Iterator[tuple[bool, bytes]]:
        """The new complete lines up to the end of one file, and whether each is the first of its file."""
        self.has_rest = False
        if self._file is not None and not self.position.matches(self._file):  # truncated: a copy may have the rest
            self.close()
        file = self._file or self._open()
        if file is None:
            return
        try:
            rotated = not os.path.samestat(os.fstat(file.fileno()), self.path.stat())
        except FileNotFoundError:
            rotated = True
        is_idle = True
        for start, line in self._complete_lines(file, ended=rotated and self._idle >= _PATIENCE):
            is_idle = False
            yield start == 0, line
        self._idle = self._idle + 1 if rotated and is_idle else 0
        if rotated and is_idle and self._idle > _PATIENCE:
            # go on with the successor of the rotated file: the oldest of those written after it
            done = os.fstat(file.fileno())
            files = [path for path in (*reversed(self._rotated()), self.path) if path.exists()]
            ours = [k for k, path in enumerate(files) if os.path.samestat(path.stat(), done)]
            following = files[ours[0] + 1 :] if ours else files[-1:]
            if following:
                file.close()
                self._begin(following[0].open("rb"))

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _complete_lines(self, file: BinaryIO, *, ended: bool) -> Iterator[tuple[int, bytes]]:
        """Each line, and where it begins."""
        file.seek(self.position.offset)
        left = _CHUNK
        while left > 0 and (line := file.readline(_LONGEST)):
            if not line.endswith(b"\n"):
                if len(line) >= _LONGEST:
                    raise VotesError(
                        f"{self.path}: a line is longer than {_LONGEST:,} bytes; check that this is a file of votes"
                    )
                if not ended and not _is_record(line):
                    self.has_rest = True
                    return
            left -= len(line)
            start = self.position.offset
            self.position.offset += len(line)
            if start < _HEAD:
                self.position.head = _fingerprint(file, self.position.offset)
            yield start, line

    def _open(self) -> BinaryIO | None:
        """The file that the position is about: this one, or a rotated one; None where there is none."""
        for path in (self.path, *self._rotated()) if self.position.offset else (self.path,):
            try:
                file = path.open("rb")
            except FileNotFoundError:
                continue
            except OSError as error:
                raise VotesError(f"{self.path}: cannot be read: {error.strerror or error}", code="no_file") from None
            if self.position.matches(file):
                self._file = file
                return file
            file.close()
        if not self.path.is_file():
            return None
        self.notices.append(f"{self.path}: the file was truncated or replaced; reading it from the beginning")
        return self._begin(self.path.open("rb"))

    def _begin(self, file: BinaryIO) -> BinaryIO:
        self._file, self._idle, self.position = file, 0, Position()
        return file

    def _rotated(self) -> list[Path]:
        """The rotated files, the newest first: `votes.jsonl.1`, `votes.jsonl-20260101`."""
        names = self.path.parent.glob(f"{glob.escape(self.path.name)}[.-]*")
        files = [path for path in names if path.is_file() and path.suffix not in (".gz", ".xz", ".zst", ".bz2")]
        return sorted(files, key=lambda path: (-path.stat().st_mtime_ns, path.name))


def _is_record(line: bytes) -> bool:
    """Whether a line without an end is complete all the same: a JSON record closes its own bracket."""
    try:
        return line[:1] == b"{" and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):  # nested too deeply to be a vote
        return False


# -- lines as votes -------------------------------------------------------------------------------------------

Vote: TypeAlias = dict[str, Any]

_SPANS = (("resourceSpans",), ("resourceLogs",), ("annotator_kind", "result"), ("context", "attributes"))


@dataclass
class Rows:
    r"""Votes from the lines of one file: JSON lines, rows of a table, OpenInference spans; one line at a time.

    The role of a column follows from its name (or the options), never from the cells: it must not change from line to
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
    header: list[str] | None = None  #: of a table; None for JSON lines
    separator: str = ","
    pending: str = ""  #: the beginning of a row whose cells have line ends in them
    _layouts: dict[tuple[str, ...], tuple[Layout, int | None]] = field(default_factory=dict, repr=False)

    def votes(self, line: bytes, *, is_first: bool = False) -> list[Vote]:
        """The votes of the next line; VotesError where it holds something else."""
        line = line.removeprefix(b"\xef\xbb\xbf") if is_first else line
        if not line.strip():
            return []
        if is_first:
            self.pending, self.header = "", None
        if line.lstrip()[:1] in (b"{", b"[") and (self.header is None or is_first):
            return select_votes(self._from_json(line), self.options)
        try:
            text = line.decode()
        except UnicodeDecodeError:
            raise VotesError(f"not valid UTF-8: {line[:40]!r}; save the file as UTF-8") from None
        return select_votes(self._from_row(text, is_first=is_first), self.options)

    def to_dict(self) -> dict[str, Any]:
        """JSON-serialisable state."""
        return {"header": self.header, "separator": self.separator, "pending": self.pending}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore what `to_dict` returned."""
        self.header, self.separator, self.pending = state["header"], state["separator"], state["pending"]

    def _from_json(self, line: bytes) -> list[Vote]:
        record = Node(parse_json(line))
        if not record.is_record:
            raise record.wrong("a JSON record")
        if any(all(key in record for key in keys) for keys in _SPANS):
            _, _, question = (self.options.tool or "").partition(":")
            return votes_of(openinference.records_from([record], question or None))
        names = [name for name, _ in record.entries()]
        return self._from_cells(names, lambda k: record[names[k]].single())

    def _from_row(self, text: str, *, is_first: bool) -> list[Vote]:
        text = self.pending + text
        self.pending = ""
        if text.count('"') % 2:
            if len(text) > 1 << 20:  # characters of a row whose cells have line ends in them
                raise VotesError(f"a quotation mark is not closed: {text[:40]!r} …")
            self.pending = text
            return []
        if is_first or self.header is None:
            self.separator = max(",\t;|", key=text.count)
            self.header = [name.strip() for name in self._split(text)]
            self._layout(self.header)
            return []
        cells = self._split(text)
        if len(cells) != len(self.header):
            raise VotesError(
                f"the row has {len(cells)} cells, but the header has {len(self.header)}: {text.strip()[:60]!r}"
            )
        return self._from_cells(self.header, cells.__getitem__)

    def _split(self, text: str) -> list[str]:
        try:
            return next(csv.reader(io.StringIO(text), delimiter=self.separator, strict=True))
        except csv.Error as error:
            raise VotesError(f"not a valid row of CSV ({error}): {text.strip()[:60]!r}") from None

    def _layout(self, names: Sequence[str]) -> tuple[Layout, int | None]:
        """The role of each column, and the column of times."""
        key = tuple(names)
        if key not in self._layouts:
            if len(self._layouts) > 1000:  # records that are never alike
                self._layouts.clear()
            place = None if self.time is None else find_column(names, self.time)
            if place is None:
                place = next((k for k, name in enumerate(names) if bare_word(name) in TIME_WORDS), None)
            without_time = self.options if place is None else self.options.without(names[place])
            layout = layout_by_words(names, without_time, lambda _: True)
            if layout.kind == "counts":
                raise VotesError("these are counts, which have no items; a stream needs one vote or one item per line")
            if layout.item is None:
                raise VotesError(
                    f"no column of {quoted_names(names)} names the item, which a stream needs to recognize "
                    "repeated votes; name it with --item COLUMN"
                )
            self._layouts[key] = layout, place
        return self._layouts[key]

    def _from_cells(self, names: Sequence[str], cell: Callable[[int], Any]) -> list[Vote]:
        layout, time = self._layout(names)
        cells = {k: cell(k) for k in (*layout.used, *(() if time is None else (time,)))}  # the columns that are read
        when = {} if time is None else {"time": cells[time]}
        item = cells[layout.item] if layout.item is not None else None
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
_FATAL = ("several_questions",)  # errors that no later line can repair
_BATCH = 20_000  # votes handed on at a time


@dataclass(frozen=True)
class SourceProblem:
    """A line or a file that could not be read: where, and why."""

    where: str
    why: str


@dataclass(kw_only=True)
class VoteSource:
    """What a watcher reads; `to_dict` is stored in snapshots."""

    options: Reading
    time: str | None = None  #: the column of times, where the user names it
    problems: list[SourceProblem] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)  #: what happened to files, for people
    is_done: bool = False  #: whether nothing more can come

    def batches(self, *, ended: bool = False) -> Iterator[list[Vote]]:
        """The new votes, in batches; the state is that after the batch. `ended`: all that will ever come."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the files, where any are open between polls."""

    def to_dict(self) -> dict[str, Any]:
        """JSON-serialisable state."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore what `to_dict` returned."""

    def _votes(self, rows: Rows, line: bytes, source: str, place: str, *, is_first: bool) -> list[Vote]:
        """The votes of a line; none, and a problem, where it cannot be read."""
        try:
            return rows.votes(line, is_first=is_first)
        except VotesError as error:
            if is_first or error.code in _FATAL:  # the columns are no votes: every line would be refused
                raise error.in_file(source) from None
            self.problems.append(SourceProblem(f"{source}, {place}", " ".join(str(error).split())))
            return []


@dataclass
class GrowingFile(VoteSource):
    """One file of lines."""

    path: Path

    def __post_init__(self) -> None:
        self._tail = Tail(self.path, notices=self.notices)
        self._rows = Rows(self.options, self.time)

    def batches(self, *, ended: bool = False) -> Iterator[list[Vote]]:
        """The votes of the new lines."""
        batch: list[Vote] = []
        if ended and not self.path.exists() and not self._tail.position.offset:
            raise VotesError("the file does not exist", code="no_file").in_file(str(self.path))
        while True:
            before = replace(self._tail.position)
            for is_first, line in self._tail.lines():
                place = f"before byte {self._tail.position.offset:,}"
                batch += self._votes(self._rows, line, str(self.path), place, is_first=is_first)
                if len(batch) >= _BATCH:
                    yield batch
                    batch = []
            if self._tail.position == before:
                break
        if ended and self._tail.has_rest:
            self.notices.append(f"{self.path}: the last line is incomplete and not read yet")
        yield batch

    def close(self) -> None:
        """Close the file."""
        self._tail.close()

    def to_dict(self) -> dict[str, Any]:
        """JSON-serialisable state."""
        return {**asdict(self._tail.position), **self._rows.to_dict()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore what `to_dict` returned."""
        self._tail.position = Position(state["offset"], state["head"])
        self._rows.restore(state)


@dataclass
class StandardInput(VoteSource):
    """Lines from a pipe; they come once and cannot be read again, so a snapshot stores only the counts."""

    def __post_init__(self) -> None:
        self._rows = Rows(self.options, self.time)
        self._lines: queue.Queue[bytes] = queue.Queue(maxsize=100_000)
        self._number = 0
        self._reader: threading.Thread | None = None

    def batches(self, *, ended: bool = False) -> Iterator[list[Vote]]:
        """The votes since the last poll; `ended`: all until the input ends."""
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
            if line:
                self._number += 1
                is_first, place = self._number == 1, f"line {self._number:,}"
                batch += self._votes(self._rows, line, "standard input", place, is_first=is_first)
            if len(batch) >= _BATCH:
                yield batch
                batch = []
        yield batch

    def _read(self) -> None:
        for line in _raw_lines():
            self._lines.put(line)
        self._lines.put(b"")


def _raw_lines() -> Iterator[bytes]:
    """Lines of standard input without Python's buffer, whose lock a thread would hold while the process ends."""
    try:
        descriptor = sys.stdin.buffer.fileno()
    except OSError:  # no file behind it
        yield from sys.stdin.buffer
        return
    rest = b""
    while piece := os.read(descriptor, 1 << 16):
        *lines, rest = (rest + piece).split(b"\n")
        yield from (line + b"\n" for line in lines)
    if rest:
        yield rest


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
        reader = find_reader([path], self.path, self.options.tool)
        return reader is not None and reader[0] != "openinference"

    def _follow(self, name: str, path: Path) -> GrowingFile:
        if name not in self._growing:
            shared: dict[str, Any] = {"problems": self.problems, "notices": self.notices}  # the folder's own lists
            self._growing[name] = GrowingFile(path, options=self.options, time=self.time, **shared)
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
        try:
            records, prefix = self._records(name, path)
            votes = select_votes(votes_of(records, prefix), self.options)
        except VotesError as error:
            if error.code in _FATAL:
                raise error.in_file(str(path)) from None
            self.problems.append(SourceProblem(str(path), " ".join(error.fault.split())))
            return []
        findings = [finding for finding in records.findings if finding.level != "note"]
        self.notices += [f"{path}: {finding.level}: {finding.message}" for finding in findings]
        return votes

    def _records(self, name: str, path: Path) -> tuple[Records, str]:
        """The records of a log, and the prefix of its items."""
        reader = find_reader([path], self.path, self.options.tool)
        if reader is None:
            raise VotesError("no reader recognizes this file; name its tool with --from, or remove the file")
        if reader[0] == "openinference":
            _, _, question = (self.options.tool or "").partition(":")
            return openinference.read_stream(Files((path,), self.path), question or None), ""
        records = read_records((path,), self.path, reader[1])
        if not isinstance(records, Records):
            raise VotesError("the file has counts instead of items, which cannot be watched; remove the file")
        return records, f"{Path(name).with_suffix('').as_posix()}/"

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
        message = (
            f"--{name} does not apply to a stream, where a later vote replaces the earlier one; use `jurors grade`"
        )
        raise OptionError(message, code="does_not_apply", name=name)
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
