"""Where votes come from: a growing file, a folder in which files grow and appear, standard input."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from jurors.errors import OptionError, VotesError
from jurors.options import Reading, texts
from jurors.votes.files.formats import named_format
from jurors.votes.files.inside import is_served, split_inside
from jurors.votes.readers import Records, find_reader, openinference, read_records
from jurors.votes.readers.log_files import Files
from jurors.watch.rows import Rows, Vote, heard, votes_of
from jurors.watch.tail import Position, Tail

_LINES = (".jsonl", ".ndjson", ".csv", ".tsv")
_LOGS = (".json", ".eval")
_UNFINISHED = (".tmp", ".part", ".partial", ".swp", "~")
_FATAL = ("several_questions",)  # what no later line can mend
_BATCH = 20_000  # votes handed on together


@dataclass(frozen=True)
class Problem:
    """A line or a file that could not be read: where, and why."""

    where: str
    why: str


class VoteSource(Protocol):
    """What a watcher reads; `state` is what a snapshot keeps of it."""

    problems: list[Problem]
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
    problems: list[Problem] = field(default_factory=list)
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
            self.problems.append(Problem(where, " ".join(str(error).split())))
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
    problems: list[Problem] = field(default_factory=list)
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
            self.problems.append(Problem(where, " ".join(str(error).split())))
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
    problems: list[Problem] = field(default_factory=list)
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
            self.problems.append(Problem(str(path), " ".join(error.fault.split())))
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
    if options.repeat is not None or texts(options.join) or options.duplicates == "join":
        name = "repeat" if options.repeat is not None else "join" if texts(options.join) else "duplicates"
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
