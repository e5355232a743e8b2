"""What every reader of another tool's files stands on.

`Files` opens the files and recognises them by their first bytes; `Node` walks through their JSON and raises one clear
line wherever something else stands than was expected; `Archive` reads zip archives of JSON; `RecordsBuilder`
collects votes and what a log says of items beside them; `Records` is what a reader returns, and `Reader` is a reader.
"""

from __future__ import annotations

import gzip
import json
import math
import re
import reprlib
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, TypeAlias

from jurors.errors import VotesError
from jurors.options import Label
from jurors.votes.codes import Finding, python_value
from jurors.votes.io.local_files import damaged_gzip, damaged_parquet, opened, plainly_named
from jurors.votes.io.sources import OFFLINE, PIECES, WHOLE, UnpackLimit, named_format, unpacked
from jurors.votes.table import Votes

# -- checked JSON ---------------------------------------------------------------------------------------------

_BRIEF = reprlib.Repr()
_BRIEF.maxlevel = 2
_BRIEF.maxdict = _BRIEF.maxlist = 3
_BRIEF.maxstring = _BRIEF.maxlong = _BRIEF.maxother = 40


def shorten_value(value: Any) -> str:
    """Abbreviate a value, however long or deeply nested it is.

    Returns
    -------
    str
        Its `repr`, with at most three entries, two levels and 40 characters of text.

    Examples
    --------
    >>> shorten_value([[[["x"]]]] * 9), shorten_value("x" * 50)
    ('[[[...]], [[...]], [[...]], ...]', "'xxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxx'")
    """
    return _BRIEF.repr(value)


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a JSON document and the path to it.

    Its parts are nodes again; a part that is absent is null, all the way down. A value of another type than the
    caller expects raises a `VotesError` that names the file, the record, the path, and what was expected.

    Examples
    --------
    >>> task = Node({"id": 7, "result": [{"value": "yes"}, {"value": ["no"]}]}, "task 7: ")
    >>> [part["value"].value for part in task["result"].parts()], task["lead"]["time"].value
    (['yes', ['no']], None)
    >>> task["result"].parts()[1]["value"].single()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    jurors.errors.VotesError: task 7: 'result[1].value' is ['no']; expected a single value; correct it or write ...
    """

    value: Any
    where: str = ""  #: what a message begins with: the file and the record
    path: str = ""  #: from there to this value

    def __getitem__(self, key: str) -> Node:
        """The part under this key; null where there is none."""
        return self._at(key, self._record().get(key))

    def __contains__(self, key: str) -> bool:
        return key in self._record()

    @property
    def shown(self) -> str:
        """The value in a message, abbreviated."""
        return shorten_value(self.value)

    @property
    def is_null(self) -> bool:
        """Whether the value is null or absent."""
        return self.value is None

    @property
    def is_record(self) -> bool:
        """Whether the value is a JSON object."""
        return isinstance(self.value, dict)

    @property
    def is_list(self) -> bool:
        """Whether the value is a JSON array."""
        return isinstance(self.value, list)

    def entries(self) -> list[tuple[str, Node]]:
        """The key and value of each part of a record."""
        return [(self._whole_text(key), self._at(key, value)) for key, value in self._record().items()]

    def parts(self) -> list[Node]:
        """The parts of a list."""
        if self.value is not None and not self.is_list:
            raise self.wrong("a list")
        return [Node(value, self.where, f"{self.path}[{k}]") for k, value in enumerate(self.value or ())]

    def record_or_nothing(self) -> dict[str, Any]:
        """The record, or an empty one: for what is only displayed, no error is raised."""
        return self.value if self.is_record else {}

    def numbered(self, what: str = "record") -> Iterator[Node]:
        """The records of a list, each with its position from 1 at the beginning of messages."""
        for k, part in enumerate(self.records(), 1):
            yield Node(part.value, f"{self.where}{what} {k}: ")

    def records(self) -> Iterator[Node]:
        """The parts of a list, each of them a record."""
        for part in self.parts():
            if not part.is_record:
                raise part.wrong("a record")
            yield part

    def single(self) -> Label | None:
        """A vote, or an item's name: text, a number, true or false; None for null and NaN."""
        value = python_value(self.value)  # a frame may hold numpy scalars
        if isinstance(value, str):
            return self._whole_text(value)
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return None
        if not isinstance(value, (int, float)):
            raise self.wrong("a single value")
        return value

    def needed(self, expected: str) -> Label:
        """A single value that must be there, such as the item's name; VotesError where it is null."""
        value = self.single()
        if value is None:
            raise self.wrong(expected)
        return value

    def text(self, default: str = "") -> str:
        """A single value as text; the default where it is null or empty."""
        value = self.single()
        return default if value is None or value == "" else str(value)

    def name(self, expected: str, todo: str = "correct it or write the file again") -> str:
        """A single value as text; VotesError where it is null or empty."""
        text = self.text()
        if not text:
            raise self.wrong(expected, todo)
        return text

    def whole(self, default: int) -> int:
        """An integer; the default where it is null."""
        if self.value is not None and type(self.value) is not int:
            raise self.wrong("a whole number")
        return default if self.value is None else self.value

    def truth(self) -> bool | None:
        """True, false, or None for null."""
        if self.value is not None and not isinstance(self.value, bool):
            raise self.wrong("true, false or null")
        return self.value

    def wrong(self, expected: str, todo: str = "correct it or write the file again") -> VotesError:
        """The error for a value that is not what was expected here."""
        if self.is_null:
            return VotesError(f"{self.where}there is no {self.path!r}; expected {expected}; {todo}")
        place = repr(self.path) if self.path else "the record"
        return VotesError(f"{self.where}{place} is {self.shown}; expected {expected}; {todo}")

    def _record(self) -> dict[str, Any]:
        if self.value is not None and not self.is_record:
            raise self.wrong("a record")
        return self.value or {}

    def _at(self, key: str, value: Any) -> Node:
        return Node(value, self.where, f"{self.path}.{key}" if self.path else key)

    def _whole_text(self, text: str) -> str:
        """The text; a lone surrogate, which JSON can hold and no encoding can write, is refused."""
        try:
            text.encode()
        except UnicodeEncodeError:
            raise self.wrong("whole characters (a surrogate stands alone)") from None
        return text


# -- files ----------------------------------------------------------------------------------------------------

_ROWS = 1000  # of Parquet, fetched at a time
HEAD = 1 << 16  #: bytes; enough to see the first keys of a log, however long its first record is
_GZIP, _BOM = b"\x1f\x8b", b"\xef\xbb\xbf"
MAX_FILES_SNIFFED = 20  #: files by whose first bytes a tool is recognised,
_MAX_FILES_LISTED = 100  # among the first so many of a folder
_LINES = re.compile(rb"\s*\{[^\n]*\}[^\S\n]*\n\s*\{")
_LOG_STARTS = (b"{", b"[", b"PK\x03\x04", b"\x93NUMPY", b"PAR1")


@dataclass(frozen=True)
class Files:
    """The files to read, and the folder that the user named (or that holds the file the user named)."""

    paths: tuple[Path, ...]
    root: Path
    named: frozenset[Path] = frozenset()  #: named by the user one by one: read or refused, never skipped
    allowed: int | None = None  #: bytes that a compressed file may expand to, where the user sets it
    findings: list[Finding] = field(default_factory=list, repr=False, compare=False)  #: appended to by the reader
    starts: Mapping[Path, bytes] = field(default_factory=dict, repr=False, compare=False)  #: as they lie there
    _heads: dict[Path, bytes] = field(default_factory=dict, repr=False, compare=False)

    def head(self, path: Path | None = None) -> bytes:
        """The first bytes of a file (default: the first), decompressed and without a byte order mark."""
        path = self.paths[0] if path is None else path
        if path not in self._heads:
            with self.open(path, only_head=True) as file:
                self._heads[path] = file.read(HEAD).removeprefix(_BOM)
        return self._heads[path]

    def has(self, starts: bytes | tuple[bytes, ...], *keys: bytes, path: Path | None = None) -> bool:
        """Whether a file (default: the first) begins so after blanks, and its first bytes match all these patterns."""
        head = self.head(path).lstrip()
        return head.startswith(starts) and all(re.search(key, head) for key in keys)

    def holds_lines(self, path: Path | None = None) -> bool:
        """Whether a file is JSON lines of at least two records rather than one document."""
        return _LINES.match(self.head(path)) is not None

    @property
    def first_and_named(self) -> list[Path]:
        """The first file, and the first of those that the user named one by one."""
        named = [path for path in self.paths if path in self.named]
        return list(dict.fromkeys((*self.paths[:1], *named[:MAX_FILES_SNIFFED])))

    @property
    def first(self) -> tuple[Path, ...]:
        """The first files that may be logs, by which a tool is recognised: of a folder of thousands, not all."""
        logs = (
            path
            for path in self.paths[:_MAX_FILES_LISTED]
            if "qrel" in path.name.lower() or self.head(path).lstrip().startswith(_LOG_STARTS)
        )
        return tuple(islice(logs, MAX_FILES_SNIFFED))

    def own(
        self,
        is_ours: Callable[[Path], bool],
        title: str,
        *,
        tables: bool = True,
        otherwise: str = "read it apart",
        expected: str | None = None,
    ) -> list[Path]:
        """Select the files of one tool.

        A folder may hold other files beside them (no tables, unless `tables`), but one that the user named, or that
        is empty where a file of the tool should be, is an error: a juror must not get lost without a word.

        Returns
        -------
        list of Path
            In the order of `paths`. If there is none, empty, or a VotesError that says what was `expected`.
        """
        ours = [path for path in self.paths if is_ours(path)]
        suffixes = {path.suffix for path in ours}
        for path in [path for path in self.paths if path not in set(ours)] if ours else ():
            if path.suffix in suffixes and not self.head(path).strip():
                raise VotesError(
                    f"{self.name(path)}the file is empty; download or write it again, or remove it", code="empty"
                )
            if path in self.named or not (tables or named_format(path.name) is None):
                raise VotesError(f"{self.name(path)}this is not a valid {title}, but others are; {otherwise}")
        if not ours and expected is not None:
            raise VotesError(f"this is not a valid {title}: {expected}")
        return ours

    def warn_newer_version(self, path: Path, title: str, version: Node, known: int) -> None:
        """Warn that a file has a newer format version than is known; it is read as the newest known one."""
        message = f"{self.name(path)}this {title} has version {version.shown}, and is read as version {known}"
        self.findings.append(Finding("newer_format", message, level="warning"))

    def document(self, path: Path | None = None) -> Node:
        """A whole file as JSON; bare NaN and Infinity, which logs hold, are floats."""
        path = self.paths[0] if path is None else path
        with self.open(path) as file:
            return Node(parse_json(file.read(), self.name(path)), self.name(path))

    def lines(self, path: Path) -> Iterator[Node]:
        """Each record of a JSON lines file."""
        size = path.stat().st_size
        longest = WHOLE.of(size, self.allowed)
        with self.open(path, PIECES) as file:
            for number, line in enumerate(iter(lambda: file.readline(longest + 1), b""), 1):
                WHOLE.check(len(line), size, self.allowed)
                if line.strip():
                    record = Node(parse_json(line, self.name(path), number), f"{self.name(path)}line {number}: ")
                    if not record.is_record:
                        raise record.wrong("a JSON record")
                    yield record

    def parquet(self, path: Path, columns: Sequence[str] = ()) -> Iterator[Node]:
        """Each row of a Parquet file, of all columns or of those of `columns` that exist."""
        import duckdb

        selected = f"COLUMNS('^({'|'.join(columns)})$')" if columns else "*"
        try:
            with plainly_named(path) as plain, duckdb.connect(config=OFFLINE) as con:
                (rows,) = con.execute("SELECT num_rows FROM parquet_file_metadata(?)", [str(plain)]).fetchall()[0]
                WHOLE.check(rows, path.stat().st_size, self.allowed)
                cursor = con.execute(f"SELECT {selected} FROM read_parquet(?)", [str(plain)])
                names = [column[0] for column in cursor.description]
                first = 1
                while block := cursor.fetchmany(_ROWS):
                    for number, row in enumerate(block, first):
                        yield Node(dict(zip(names, row, strict=True)), f"{self.name(path)}row {number}: ")
                    first += len(block)
        except duckdb.Error as error:
            raise damaged_parquet(error).after(self.name(path)) from None

    @contextmanager
    def open(self, path: Path, limit: UnpackLimit = WHOLE, *, only_head: bool = False) -> Iterator[Any]:
        """Open a file in binary mode, decompressed if it is gzipped; faults become a VotesError of one line."""
        try:
            start = self.starts.get(path, b"")
            with BytesIO(start) if start and only_head else opened(path, start) as file:
                is_packed = file.read(2) == _GZIP
                file.seek(0)
                yield unpacked(file, limit, self.allowed) if is_packed else file
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise damaged_gzip(error).after(self.name(path)) from None
        except OSError as error:
            raise VotesError(f"{self.name(path)}cannot be read: {error.strerror or error}") from None
        except VotesError as error:
            raise error.after(self.name(path)) if error.code == "too_large" else error from None

    def name(self, path: Path) -> str:
        """The prefix of a message: the file's name and a colon, where there are several files."""
        if len(self.paths) == 1:
            return ""
        if path in self.named and path.is_relative_to(here := Path.cwd()):  # as the user is likely to have named it
            return f"{path.relative_to(here)}: "
        return f"{path.relative_to(self.root) if path.is_relative_to(self.root) else path.name}: "


def recogniser(is_own: Callable[[Files, Path], bool], *, named: bool = False) -> Callable[[Files], bool]:
    """Make the function that recognises a tool by its first files, or by the first and those that the user named.

    Returns
    -------
    function
        Of `Files`: whether one of these is the tool's own.
    """
    return lambda files: any(is_own(files, path) for path in (files.first_and_named if named else files.first))


def parse_json(
    text: bytes, where: str = "", line: int | None = None, again: str = "write or download the file again"
) -> Any:
    """Parse a text, or line `line` of one, as JSON; a VotesError says what is wrong with it, and what to do.

    Returns
    -------
    object
        What `json.loads` returns.

    Examples
    --------
    >>> parse_json(b'{"a": [1, 2', "x.jsonl: ", 3)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    jurors.errors.VotesError: x.jsonl: line 3 is broken or cut short (Expecting ',' delimiter); write or download ...
    """
    what, at = "the JSON" if line is None else f"line {line}", ""
    try:
        return json.loads(text.removeprefix(_BOM))
    except json.JSONDecodeError as error:
        reason, at = error.msg, f" in line {error.lineno}" if line is None and b"\n" in text.strip() else ""
    except UnicodeDecodeError:
        raise VotesError(f"{where}{what} is not valid UTF-8; save the file as UTF-8") from None
    except RecursionError:
        raise VotesError(f"{where}{what} is nested too deeply to be a log") from None
    except ValueError:  # Python reads no number of thousands of digits
        reason = "a number has too many digits"
    message = f"{where}{what} is broken or cut short{at} ({reason}); {again}"
    raise VotesError(message, code="damaged")


# -- archives -------------------------------------------------------------------------------------------------

_ZSTD = 93  # the method's number in zip files; Python's zipfile reads it from 3.14 on
_LOCAL_HEADER = 30  # bytes


class Archive:
    """A zip archive of JSON files; faults become one line that begins with `where`.

    `allowed` is how many bytes its members may expand to, where the user sets it.
    """

    def __init__(self, path: Path, where: str = "", allowed: int | None = None) -> None:
        self._path, self._where, self._allowed = path, where, allowed
        try:
            with zipfile.ZipFile(path) as archive:
                self._members = {info.filename: info for info in archive.infolist()}  # of two alike, the later counts
        except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError) as error:
            message = f"{where}the archive is cut short or damaged ({error}); download the file again"
            raise VotesError(message, code="damaged") from None
        self.names = tuple(self._members)
        self._size = path.stat().st_size
        PIECES.check(sum(member.file_size for member in self._members.values()), self._size, allowed, where)

    def document(self, name: str) -> Node:
        """A member as JSON; bare NaN and Infinity are floats."""
        member, where = self._members[name], f"{self._where}{name} in the archive"
        WHOLE.check(member.file_size, member.compress_size, self._allowed, self._where)
        try:
            content = self._content(member)
        except ImportError:
            message = f"{self._where}the archive is packed with zstd; to read it: pip install 'jurors[zstd]'"
            raise VotesError(message) from None
        except (OSError, zlib.error) as error:
            content, why = None, str(error)[:80]
        else:
            why = "its checksum does not match"
        if content is None or len(content) != member.file_size or zlib.crc32(content) != member.CRC:
            raise VotesError(f"{where} is damaged ({why}); download the file again", code="damaged")
        return Node(parse_json(content, f"{where}: "), f"{where}: ")

    def _content(self, member: zipfile.ZipInfo) -> bytes:
        """The bytes of a member, at most one more than the archive says there are."""
        with self._path.open("rb") as file:
            file.seek(member.header_offset)
            header = file.read(_LOCAL_HEADER)  # ends with the lengths of the name and of the extra field
            file.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
            packed = file.read(min(member.compress_size, self._size))
        if member.compress_type == zipfile.ZIP_STORED:
            return packed
        if member.compress_type == zipfile.ZIP_DEFLATED:
            return zlib.decompressobj(wbits=-15).decompress(packed, member.file_size + 1)
        if member.compress_type != _ZSTD:
            raise OSError(f"packed by method {member.compress_type}; known are 0, 8 and 93")
        from zstandard import ZstdDecompressor, ZstdError

        try:
            return bytes(ZstdDecompressor().stream_reader(packed, read_across_frames=True).read(member.file_size + 1))
        except ZstdError as error:
            raise OSError(str(error)) from None


# -- what a log holds of each item beside the votes -----------------------------------------------------------


def as_text(value: Any) -> str:
    r"""Render a JSON value for people: messages one below the other, other records as indented JSON.

    Returns
    -------
    str
        Empty for None.

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
        content = value.get("content", value.get("text"))
        if content is None:
            return json.dumps(value, ensure_ascii=False, indent=1, default=str)
        return f"{value['role']}: {as_text(content)}" if "role" in value else as_text(content)
    return str(value)


_MAX_DEPTH = 4
_MAX_CHARACTERS = 1000  # of a value that can be a label or a group

Fields: TypeAlias = Mapping[str, list[tuple[Any, Any]]]  #: field name -> (item, value) pairs in order of appearance


class RecordsBuilder:
    """Collects the votes of a log, and what it says of the items beside them.

    Texts are for display (the question, the answer that was judged): a column with two different texts for one item is
    about jurors, not items, and is left out. Fields (the target, the metadata, the model under test) may serve as a key
    or as groups, so lists and texts of pages are left out; nested records have dotted names.

    Examples
    --------
    >>> builder = RecordsBuilder()
    >>> builder.describe("q1", {"question": "2 + 2?", "answer": "4"}, {"target": ["B"], "notes": None})
    >>> builder.describe("q1", {"question": "2 + 2?", "answer": "5"}, {"metadata": {"source": {"year": 1999}}})
    >>> builder.add("q1", "ann", "yes")
    >>> records = builder.build()
    >>> records, records.texts
    (Records(item=['q1'], juror=['ann'], label=['yes']), {'q1': {'question': '2 + 2?'}})
    >>> records.fields
    {'target': [('q1', 'B')], 'metadata.source.year': [('q1', 1999)]}
    """

    def __init__(self) -> None:
        self._votes: list[tuple[Any, str, Any]] = []
        self._texts: dict[Any, dict[str, str]] = {}
        self._contested: set[str] = set()
        self._fields: dict[str, list[tuple[Any, Any]]] = {}

    def add(self, item: Any, juror: str, label: Any) -> None:
        """Add a vote; a label of None is none."""
        self._votes.append((item, juror, label))

    def describe(
        self, item: Any, texts: Mapping[str, Any] | None = None, fields: Mapping[str, Any] | None = None
    ) -> None:
        """Add texts and fields of an item; empty texts are skipped."""
        if texts is not None:
            known = self._texts.setdefault(item, {})
            for name, value in texts.items():
                text = as_text(value)
                if text and known.setdefault(name, text) != text:
                    self._contested.add(name)
        for name, value in _flatten(fields or {}, "", _MAX_DEPTH):
            self._fields.setdefault(name, []).append((item, value))

    def build(self, **columns: Any) -> Records:
        """The records, with these columns besides."""
        texts = {
            item: {name: text for name, text in known.items() if name not in self._contested}
            for item, known in self._texts.items()
        }
        return Records.from_rows(self._votes, texts=texts, fields=self._fields, **columns)


def _flatten(fields: Mapping[Any, Any], prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
    for key, value in fields.items():
        if isinstance(value, list) and len(value) == 1:
            (value,) = value
        if isinstance(value, Mapping) and depth:
            yield from _flatten(value, f"{prefix}{key}.", depth - 1)
        elif isinstance(value, (bool, int, float)) or (isinstance(value, str) and len(value) <= _MAX_CHARACTERS):
            yield f"{prefix}{key}", value


def distinguishing_names(*details: Sequence[str]) -> list[str]:
    """Name things by as few of their details as tell them apart, the first details first.

    Parameters
    ----------
    details
        One sequence per detail, each with one text per thing.

    Returns
    -------
    list of str
        One name per thing; the first detail where they differ in none.

    Examples
    --------
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


def short_names(jurors: Sequence[str]) -> list[str]:
    """Drop the beginning that the names of all jurors share, up to a colon or a slash.

    Returns
    -------
    list of str
        The same names where there is one juror, or where names have no such beginning in common.

    Examples
    --------
    >>> short_names(["model_graded_qa:openai/gpt-4o", "model_graded_qa:openai/gpt-4o-mini"])
    ['gpt-4o', 'gpt-4o-mini']
    >>> short_names(["model_graded_qa:gpt", "includes"]), short_names(["openai/gpt-4o"])
    (['model_graded_qa:gpt', 'includes'], ['openai/gpt-4o'])
    """
    distinct = sorted(set(jurors))
    if len(distinct) < 2:
        return list(jurors)
    letters = zip(distinct[0], distinct[-1], strict=False)
    shared = "".join(first for first, _ in takewhile(lambda pair: pair[0] == pair[1], letters))
    start = max(shared.rfind(":"), shared.rfind("/")) + 1
    return list(jurors) if start in map(len, distinct) else [name[start:] for name in jurors]


# -- records and readers --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Records:
    """Votes as a tool wrote them: three columns of equal length; a label of None is no vote."""

    item: Sequence[Any]
    juror: Sequence[str]
    label: Sequence[Any]
    #: item -> column -> text to display
    texts: Mapping[Any, Mapping[str, str]] = field(default_factory=dict, repr=False)
    #: when each vote was given, in seconds since 1970; empty where the tool does not record it
    time: Sequence[float | None] = field(default=(), repr=False)
    #: which repetition of the juror's vote on the item each one is; empty where there are none
    repetition: Sequence[Any] = field(default=(), repr=False)
    #: other fields of the items, by name: a key, or groups
    fields: Fields = field(default_factory=dict, repr=False)
    #: what the reader noticed that whoever uses the votes should know
    findings: tuple[Finding, ...] = field(default=(), repr=False)
    #: label -> the tool's word for it, where votes are letters
    words: Mapping[Any, str] = field(default_factory=dict, repr=False)
    #: item -> the question that it answers, where the item's name does not say so
    questions: Mapping[Any, str] = field(default_factory=dict, repr=False)

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[Any, Any, Any]], **columns: Any) -> Records:
        """Records of (item, juror, label) rows, with these columns besides."""
        rows = list(rows)
        return cls([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows], **columns)


@dataclass(frozen=True)
class Reader:
    """A reader of one tool's files; `jurors.votes.readers` says what each part does."""

    TITLE: str
    recognises: Callable[[Files], bool]
    read: Callable[..., Records | Votes]
    ASKS: bool = False
