"""Files, Node (checked JSON), archives."""

from __future__ import annotations

import gzip
import json
import math
import re
import reprlib
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from jurors.errors import VotesError
from jurors.options import Label
from jurors.votes.codes import Finding, python_value
from jurors.votes.io.local_files import damaged_gzip, damaged_parquet, plainly_named
from jurors.votes.io.sources import OFFLINE, PIECES, WHOLE, UnpackLimit, named_format, unpacked

# Another tool's JSON, read step by step: each step says what it expects; anything else there is one clear line.
#
# A `Node` is a value and the way to it. Its parts are nodes again; what is absent is null, all the way down.


_BRIEF = reprlib.Repr()
_BRIEF.maxlevel = 2
_BRIEF.maxdict = _BRIEF.maxlist = 3
_BRIEF.maxstring = _BRIEF.maxlong = _BRIEF.maxother = 40


def shorten_value(value: Any) -> str:
    """A value in a few words, however long or deep it is.

    >>> shorten_value([[[["x"]]]] * 9), shorten_value("x" * 50)
    ('[[[...]], [[...]], [[...]], ...]', "'xxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxx'")
    """
    return _BRIEF.repr(value)


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a JSON document: where it stands, and what it may be.

    Examples
    --------
    >>> task = Node({"id": 7, "result": [{"value": "yes"}, {"value": ["no"]}]}, "task 7: ")
    >>> [part["value"].value for part in task["result"].parts()], task["lead"]["time"].value
    (['yes', ['no']], None)
    >>> task["result"].parts()[1]["value"].single()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    jurors.errors.VotesError: task 7: 'result[1].value' is ['no']; expected a single value; mend it or write ...
    """

    value: Any
    where: str = ""  #: what a message begins with: the file and the record
    path: str = ""  #: from there to this value

    def __getitem__(self, key: str) -> Node:
        """The part called so; null where there is none."""
        return self._at(key, self._record().get(key))

    def __contains__(self, key: str) -> bool:
        return key in self._record()

    @property
    def is_null(self) -> bool:
        """Whether nothing is said here."""
        return self.value is None

    @property
    def is_record(self) -> bool:
        """Whether it has parts under names."""
        return isinstance(self.value, dict)

    @property
    def is_list(self) -> bool:
        """Whether it has parts in order."""
        return isinstance(self.value, list)

    def entries(self) -> list[tuple[str, Node]]:
        """The parts of a record, under their names."""
        return [(self._whole_text(key), self._at(key, value)) for key, value in self._record().items()]

    def parts(self) -> list[Node]:
        """The parts of a list."""
        if self.value is not None and not self.is_list:
            raise self.wrong("a list")
        return [Node(value, self.where, f"{self.path}[{k}]") for k, value in enumerate(self.value or ())]

    def record_or_nothing(self) -> dict[str, Any]:
        """The record, where it is one: of what is only shown, nothing is refused."""
        return self.value if self.is_record else {}

    def numbered(self) -> Iterator[tuple[int, Node]]:
        """The records of a list, from 1."""
        return enumerate(self.records(), 1)

    def records(self) -> Iterator[Node]:
        """The parts of a list, each of them a record."""
        for part in self.parts():
            if not part.is_record:
                raise part.wrong("a record")
            yield part

    def single(self) -> Label | None:
        """A vote, or an item's name: text, a number, true or false; None where nothing is said (null, NaN)."""
        value = python_value(self.value)  # a frame may hold numpy's
        if isinstance(value, str):
            return self._whole_text(value)
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return None
        if not isinstance(value, (int, float)):
            raise self.wrong("a single value")
        return value

    def needed(self, expected: str) -> Label:
        """A single value without which there is no vote, such as the item's name; VotesError where nothing is said."""
        value = self.single()
        if value is None:
            raise self.wrong(expected)
        return value

    def text(self, default: str = "") -> str:
        """A name; the default where none is given."""
        value = self.single()
        return default if value is None or value == "" else str(value)

    def whole(self, default: int) -> int:
        """A whole number; the default where none is given."""
        if self.value is not None and type(self.value) is not int:
            raise self.wrong("a whole number")
        return default if self.value is None else self.value

    def truth(self) -> bool | None:
        """True, false, or nothing."""
        if self.value is not None and not isinstance(self.value, bool):
            raise self.wrong("true, false or null")
        return self.value

    def wrong(self, expected: str, todo: str = "mend it or write the file again") -> VotesError:
        """What to say where something else was expected here."""
        if self.is_null:
            return VotesError(f"{self.where}there is no {self.path!r}; expected {expected}; {todo}")
        place = repr(self.path) if self.path else "the record"
        return VotesError(f"{self.where}{place} is {shorten_value(self.value)}; expected {expected}; {todo}")

    def _record(self) -> dict[str, Any]:
        if self.value is not None and not self.is_record:
            raise self.wrong("a record")
        return self.value or {}

    def _at(self, key: str, value: Any) -> Node:
        return Node(value, self.where, f"{self.path}.{key}" if self.path else key)

    def _whole_text(self, text: str) -> str:
        """The text; half a character, which JSON can hold and nothing can write, is refused."""
        try:
            text.encode()
        except UnicodeEncodeError:
            raise self.wrong("whole characters (a surrogate stands alone)") from None
        return text


# The files a reader looks at: their first bytes to recognise them, their JSON to read them, faults as one line.


_ROWS = 1000  # of Parquet, fetched together
HEAD = 1 << 16  # enough to see the first keys of a log, however long its first record is
_GZIP, _BOM = b"\x1f\x8b", b"\xef\xbb\xbf"
MAX_FILES_SNIFFED = 20  #: so many files are asked which tool wrote them,
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
        return tuple(islice(filter(self._may_be_one, self.paths[:_LOOKED_AT]), MAX_FILES_SNIFFED))

    def _may_be_one(self, path: Path) -> bool:
        return "qrel" in path.name.lower() or self.head(path).lstrip().startswith(_LOG_STARTS)

    @property
    def telling(self) -> list[Path]:
        """The files that tell which tool wrote them: the first, and the first of those that were named one by one."""
        named = [path for path in self.paths if path in self.named]
        return list(dict.fromkeys((*self.paths[:1], *named[:MAX_FILES_SNIFFED])))

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
        message = (
            f"{self.name(path)}this {title} is of version {shorten_value(version)}, read as the newest known, {known}"
        )
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
    def reading(self, path: Path, room: UnpackLimit = WHOLE) -> Iterator[Any]:
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

    def _opened(self, path: Path, room: UnpackLimit) -> Any:
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


# A zip archive of JSON files whose members may be packed with zstd, which Python's zipfile learns in 3.14.


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

    def _check(self, room: UnpackLimit, unpacked: int, packed: int) -> None:
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


# What a log shows of each item: the question that was asked, the answer that was judged.


class LogTexts:
    """Texts by item and column. A column that one item has twice, differently, is about jurors, and is left out.

    Examples
    --------
    >>> texts = LogTexts()
    >>> texts.add("q1", question="2 + 2?", answer="4")
    >>> texts.add("q1", question="2 + 2?", answer="5")
    >>> texts.by_item
    {'q1': {'question': '2 + 2?'}}
    """

    def __init__(self) -> None:
        self._texts: dict[Any, dict[str, str]] = {}
        self._contested: set[str] = set()

    def add(self, item: Any, columns: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        """What is to be shown of an item; nothing where a value is empty."""
        own = self._texts.setdefault(item, {})
        for name, value in {**(columns or {}), **more}.items():
            text = as_text(value)
            if text and own.setdefault(name, text) != text:
                self._contested.add(name)

    @property
    def by_item(self) -> dict[Any, dict[str, str]]:
        """Item -> column -> text."""
        return {
            item: {name: text for name, text in own.items() if name not in self._contested}
            for item, own in self._texts.items()
        }


def as_text(value: Any) -> str:
    r"""A value of JSON as a person reads it: messages one below the other, other records as indented JSON.

    Examples
    --------
    >>> print(as_text([{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": [{"text": "4"}]}]))
    user: 2 + 2?
    <BLANKLINE>
    assistant: 4
    >>> as_text(["a", "b"]), as_text(None), as_text(7)
    ('a\n\nb', '', '7')
    """
    if value is None or isinstance(value, str):
        return (value or "").strip()
    if isinstance(value, list):
        return "\n\n".join(filter(None, map(as_text, value)))
    if isinstance(value, Mapping):
        said = value.get("content", value.get("text"))
        if said is None:
            return json.dumps(value, ensure_ascii=False, indent=1, default=str)
        return f"{value['role']}: {as_text(said)}" if "role" in value else as_text(said)
    return str(value)


# What a log tells of each item beside the votes: the target, the metadata, the model under test; by dotted names.


_DEEPEST = 4
_LONGEST = 1000  # characters of a value that can be a label or a group

Fields: TypeAlias = Mapping[str, list[tuple[Any, Any]]]  #: by name, items and what is told of them, in their order


class LogFields:
    """Values by name, each beside its item; what is a text of pages, or a list, can be no label and no group.

    Examples
    --------
    >>> fields = LogFields()
    >>> fields.add("q1", {"target": ["B"], "metadata": {"topic": "law", "source": {"year": 1999}}, "notes": None})
    >>> fields.by_name
    {'target': [('q1', 'B')], 'metadata.topic': [('q1', 'law')], 'metadata.source.year': [('q1', 1999)]}
    """

    def __init__(self) -> None:
        self.by_name: dict[str, list[tuple[Any, Any]]] = {}

    def add(self, item: Any, told: Mapping[str, Any]) -> None:
        """What is told of an item, records inside by dotted names."""
        for name, value in _flat(told, "", _DEEPEST):
            self.by_name.setdefault(name, []).append((item, value))


def _flat(told: Mapping[Any, Any], before: str, deep: int) -> Iterator[tuple[str, Any]]:
    for key, value in told.items():
        if isinstance(value, list) and len(value) == 1:
            (value,) = value
        if isinstance(value, Mapping) and deep:
            yield from _flat(value, f"{before}{key}.", deep - 1)
        elif isinstance(value, (bool, int, float)) or (isinstance(value, str) and len(value) <= _LONGEST):
            yield f"{before}{key}", value


# Short names that still tell things apart.


def distinguishing_names(*details: Sequence[str]) -> list[str]:
    """One name each from the first details in which they differ, as many as it takes; the first where none does.

    >>> distinguishing_names(["gpt", "gpt", "llama"], ["quiz", "quiz", "quiz"], ["run1", "run2", "run3"])
    ['gpt:run1', 'gpt:run2', 'llama:run3']
    >>> distinguishing_names(["gpt", "gpt"], ["quiz", "test"])
    ['quiz', 'test']
    >>> distinguishing_names(["gpt"], ["quiz"])
    ['gpt']
    """
    names: list[str] = [""] * len(details[0])
    for detail in details:
        if len(set(names)) == len(names) > 1:
            break
        if len(set(detail)) > 1:
            names = [":".join(filter(None, (name, more))) for name, more in zip(names, detail, strict=True)]
    return names if any(names) else list(details[0])
