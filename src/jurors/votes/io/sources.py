"""Which files a source names, their formats, and how much may be read.

A source is a path, a pattern, a folder, a stream, a table inside a file (`book.xlsx::Sheet2`, `votes.db::judged`,
`postgresql://host/db::judged`) or several of these; out come the files, in the order they are read (`locate`).

The limits guard against packed files made to fill the memory: a few megabytes can unpack to more than the machine has.
What becomes Python's objects all at once (a JSON document) takes up to twenty times its text; what is read piece by
piece (a table, the members of an archive) takes its text.
"""

from __future__ import annotations

import glob
import gzip
import io
import os
import re
import select
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path, PurePath
from typing import Any, BinaryIO, TextIO, TypeAlias

from jurors.errors import OptionError, VotesError, closest_name
from jurors.options import Format
from jurors.progress import report_progress
from jurors.results import without_secrets

TABLE_SEPARATOR = "::"
_SERVED = ("postgresql://", "postgres://")


def is_served(source: object) -> bool:
    """Whether a source is the address of a database that a server keeps.

    >>> is_served("postgresql://db.example/votes"), is_served("votes.db")
    (True, False)
    """
    return isinstance(source, str) and source.startswith(_SERVED)


def split_inside(name: str) -> tuple[str, str]:
    """Split a name into the file and the table inside it; a file of this very name is meant as a whole.

    Returns
    -------
    tuple of str
        The second is "" where no table is named.

    Examples
    --------
    >>> split_inside("book.xlsx::Sheet 2!B3"), split_inside("votes.csv")
    (('book.xlsx', 'Sheet 2!B3'), ('votes.csv', ''))
    """
    if TABLE_SEPARATOR not in name or os.path.exists(name):
        return name, ""
    file, _, inside = name.partition(TABLE_SEPARATOR)
    return file, inside


def split_address(url: str) -> tuple[str, str]:
    """Split the address of a PostgreSQL table, which is named after `::`.

    Returns
    -------
    tuple of str
        The address as PostgreSQL knows it, and the table ("" where none is named).

    Examples
    --------
    >>> split_address("postgresql://db.example/votes::judged")
    ('postgresql://db.example/votes', 'judged')
    """
    # an address of the sixth version, [2001::1], has colons of its own
    match = re.fullmatch(r"(.*[^\[\]:]|.*\])::([^\]]+)", url, re.DOTALL)
    return (match[1], match[2]) if match and not match[2].endswith("]") else (url, "")


def is_there(name: str) -> bool:
    """Whether a file, a table of one or an address is named, and not something else, such as a column.

    >>> is_there("postgresql://db.example/votes::truth"), is_there("gold")
    (True, False)
    """
    try:
        return is_served(name) or os.path.exists(split_inside(name)[0])
    except ValueError:  # what can be no name is none
        return False


# -- the formats of votes and the endings of their files' names: the only list of them ---------------------------------

ENDINGS: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
}
TITLES: dict[Format, str] = {
    "csv": "CSV", "tsv": "TSV", "json": "JSON array", "jsonl": "JSON lines", "parquet": "Parquet",
    "xlsx": "Excel workbook", "sqlite": "SQLite database", "duckdb": "DuckDB database",
    "postgresql": "PostgreSQL database",
}  # fmt: skip
CELLS: tuple[Format, ...] = ("csv", "tsv")  #: the formats whose cells are text between delimiters
WRITTEN: tuple[Format, ...] = ("csv", "tsv", "json", "jsonl", "parquet")  #: the formats that we write, too
SUPPORTED = "CSV, TSV, JSON lines, Parquet or Excel"
PACKED = ".gz"
SKETCH_ENDING = ".sketch.json"


def unpacked_name(name: str) -> str:
    """A file's name in small letters, as it would be without gzip.

    >>> unpacked_name("Votes.CSV.gz")
    'votes.csv'
    """
    return name.lower().removesuffix(PACKED)


def named_format(name: str) -> Format | None:
    """The format that a file's name says; None where it says none.

    >>> named_format("votes.tab.gz"), named_format("votes.docx")
    ('tsv', None)
    """
    return ENDINGS.get(PurePath(unpacked_name(name)).suffix)


def is_sketch_name(name: str) -> bool:
    """Whether a file of this name is written as a sketch.

    >>> is_sketch_name("monday.sketch.json.gz"), is_sketch_name("monday.json")
    (True, False)
    """
    return unpacked_name(name).endswith(SKETCH_ENDING)


# -- which files a source names ---------------------------------------------------------------------------------------

OneSource: TypeAlias = str | os.PathLike[str] | BinaryIO | TextIO
Source: TypeAlias = OneSource | Sequence[OneSource]

NO_VOTES = (".", "__pycache__")  #: what is hidden, and what Python keeps beside a script
_UNFINISHED = ("~", ".tmp", ".temp", ".part", ".partial", ".crdownload", ".swp")
_BLOCK = 1 << 20
_PATIENCE = 10  # seconds until a named pipe must say something


def are_files(source: object) -> bool:
    """Whether a source is several files by their names, and no matrix in lists.

    >>> are_files(("a.csv", Path("b.csv"))), are_files([["yes", "no"]]), are_files("a.csv")
    (True, False, False)
    """
    return isinstance(source, (list, tuple)) and bool(source) and all(isinstance(one, (str, Path)) for one in source)


@dataclass(frozen=True)
class StoredInput(os.PathLike[str]):
    """Standard input or a named pipe, written into a file so that it can be read more than once."""

    path: str
    name: str = "standard input"

    def __fspath__(self) -> str:
        return self.path


@dataclass(frozen=True)
class TablePlace:
    """Where a table is, and what the user calls it."""

    path: Path
    name: str
    inside: str = ""  #: which table or sheet of a file is meant; "" where none is named
    address: str = ""  #: of a database that a server keeps, and then of no file


@dataclass(frozen=True)
class FoundFiles:
    """The files of a source, in the order they are read."""

    paths: tuple[Path, ...]  #: every file, for the readers of other tools' logs
    root: Path  #: the folder the user named, or that holds the files the user named
    tables: tuple[TablePlace, ...]  #: the files to read as tables
    named: frozenset[Path] = frozenset()  #: the files the user named one by one, which must not be passed over


def shown_source(source: Source) -> str:
    """The name of a source in messages.

    >>> shown_source("-"), shown_source(["a.csv", "b.csv", "c.csv"])
    ('standard input', 'a.csv and 2 more')
    """
    if isinstance(source, (list, tuple)):
        more = f" and {len(source) - 1} more" if len(source) > 1 else ""
        return f"{shown_source(source[0])}{more}" if source else "no file"
    if isinstance(source, StoredInput):
        return source.name
    if isinstance(source, (str, os.PathLike)):
        name = without_secrets(os.fspath(source))
        return "standard input" if name == "-" else name if name and name.isprintable() else ascii(name[:40])
    return str(getattr(source, "name", "the stream"))


def locate(source: Source, folder: Path) -> FoundFiles:
    """Find the files of a source; a stream is written into `folder` first.

    Returns
    -------
    FoundFiles

    Raises
    ------
    VotesError
        Names the file that cannot be read, or that is named twice (every vote would count twice).
    """
    several = list(source) if isinstance(source, (list, tuple)) else [source]
    if not several:
        raise VotesError("no file is named; give at least one")
    if several.count("-") > 1:
        raise VotesError("standard input (-) is named twice; name it once")
    located = []
    for k, single in enumerate(several):
        try:
            located.append(_located(single, folder / f"stream{k}"))
        except VotesError as error:
            raise error.in_file(shown_source(single)) from None
        except OSError as error:
            fault = VotesError(f"cannot be read: {error.strerror or error}")
            raise fault.in_file(shown_source(single)) from None
    seen: dict[tuple[str, str], str] = {}
    for place in (table for files in located for table in files.tables):
        real, name = (place.address or str(place.path.resolve()), place.inside), place.name
        if real in seen:
            again = "" if seen[real] == name else f" (as {seen[real]} too)"
            raise VotesError(f"the file {name} is named twice{again}; name it once")
        seen[real] = name
    try:
        root = located[0].root if len(located) == 1 else Path(os.path.commonpath([files.root for files in located]))
    except ValueError:  # different drives
        root = located[0].root
    return _merged(located, root)


def _merged(located: Sequence[FoundFiles], root: Path) -> FoundFiles:
    """Several lots of files as one."""
    paths = tuple(path for files in located for path in files.paths)
    tables = tuple(table for files in located for table in files.tables)
    return FoundFiles(paths, root, tables, frozenset().union(*(files.named for files in located)))


def matching_files(name: str) -> tuple[Path, ...]:
    """Every file that is read under a name; none is opened.

    Returns
    -------
    tuple of Path
        The file itself, what a pattern matches, or what lies in a folder.
    """
    file, _ = split_inside(name)
    path = Path(file).absolute()
    if path.is_dir():
        return tuple(_below(path))
    return _matching(file).paths if not path.exists() and glob.has_magic(file) else (path,)


def _located(source: Any, spool: Path) -> FoundFiles:
    """The files of a single source."""
    name = shown_source(source)
    if not isinstance(source, (str, os.PathLike)) or source == "-":
        if source == "-" and sys.stdin is None:
            raise VotesError("it is closed; pipe the votes into it, or name a file", code="no_file")
        return _one_file(store_stream(sys.stdin.buffer if source == "-" else source, spool), name)
    if is_served(source):
        return FoundFiles((), Path(), (TablePlace(spool, name, address=str(source)),))
    if not os.fspath(source):
        raise VotesError("the name of the file is empty; name a file, or . for this folder")
    file, inside = split_inside(os.fspath(source))
    if inside:
        matches = _matching(file) if glob.has_magic(file) and not os.path.exists(file) else _located(file, spool)
        return replace(matches, paths=(), tables=tuple(replace(table, inside=inside) for table in matches.tables))
    path = Path(source).absolute()
    if "\n" in str(path) or "\0" in str(path):
        raise VotesError("there is no such file; in Python, io.StringIO(text) reads votes from a text", code="no_file")
    if path.is_dir():
        return _in_folder(path, os.fspath(source))
    if not path.exists() and glob.has_magic(str(path)):
        return _matching(os.fspath(source))
    if not path.exists():
        siblings = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        stem = path.name.partition(".")[0]  # that both end in .csv makes no two names alike
        alike = [name for name in siblings if closest_name(stem, [name.partition(".")[0]], cutoff=0.7)]
        close = closest_name(path.name, alike, cutoff=0.7)
        hint = f"; did you mean {str(Path(source).with_name(close))!r}?" if close else ""
        raise VotesError(f"there is no such file{hint}", code="no_file")
    if path.is_fifo():
        path = store_pipe(path, spool)
    elif not path.is_file():
        raise VotesError("this is a device, not a file; name a file, or pipe the votes into -")
    return _one_file(path, name)


def _one_file(path: Path, name: str) -> FoundFiles:
    """A file that the user named."""
    return FoundFiles((path,), path.parent, (TablePlace(path, name),), frozenset((path,)))


def _in_folder(folder: Path, shown: str) -> FoundFiles:
    paths = tuple(sorted(_below(folder)))
    # engines keep their own notes in `_delta_log`, `_SUCCESS` and the like
    tables = tuple(
        TablePlace(path, shown_source(os.path.join(shown, inside)))
        for path, inside in ((path, path.relative_to(folder)) for path in paths)
        if not any(part.startswith("_") for part in inside.parts) and named_format(inside.name) is not None
    )
    return FoundFiles(paths, folder, tables)


def _below(folder: Path) -> Iterator[Path]:
    for entry in os.scandir(folder):
        if entry.name.startswith(NO_VOTES) or entry.name.lower().endswith(_UNFINISHED):
            continue
        if entry.is_dir():
            yield from _below(Path(entry.path))
        elif entry.is_file():
            yield Path(entry.path)


def _matching(pattern: str) -> FoundFiles:
    matches = sorted(glob.glob(pattern, recursive=True))
    whole_tree = "**" in pattern  # as a folder's name does, it names no file by itself
    located = []
    for match in matches:
        path = Path(match).absolute()
        if not path.is_dir():
            located.append(_one_file(path, shown_source(match)))
        elif not whole_tree:
            located.append(_in_folder(path, match))
    fixed = takewhile(lambda part: not glob.has_magic(part), Path(pattern).absolute().parts)
    files = _merged(located, Path(*fixed))
    if not files.paths:
        raise VotesError("no file matches this pattern", code="no_file")
    return replace(files, named=frozenset()) if whole_tree else files


def no_tables() -> VotesError:
    """The error about a folder in which nothing looks like votes."""
    return VotesError(f"this folder holds no file of votes ({SUPPORTED})", code="no_file")


def store_stream(stream: Any, target: Path) -> Path:
    """Write what a stream holds into a file, block by block.

    Returns
    -------
    Path
        The file.
    """
    with target.open("wb") as file:
        while block := stream.read(_BLOCK):
            report_progress(f"storing what is piped in, {file.tell() // _MEGABYTE:,} MB")
            file.write(block.encode("utf-8", "surrogateescape") if isinstance(block, str) else block)
    return target


def store_pipe(path: Path, target: Path) -> Path:
    """Write what a named pipe holds, such as `<(zcat votes.csv.gz)`, into a file: it can be read only once.

    Returns
    -------
    Path
        The file.
    """
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as pipe:
        if not select.select([pipe], [], [], _PATIENCE)[0]:
            raise VotesError(f"nothing was written into this pipe for {_PATIENCE} seconds; name a file, or pipe into -")
        os.set_blocking(pipe.fileno(), True)
        return store_stream(pipe, target)


# -- limits -----------------------------------------------------------------------------------------------------------

_UNITS = {"": 0, "K": 3, "M": 6, "G": 9, "T": 12}
_LARGEST = (1 << 63) - 1
_MEGABYTE = 10**6
# DuckDB fetches nothing from the network, whatever a file asks for.
OFFLINE: dict[str, str | bool | int | float | list[str]] = {"autoinstall_known_extensions": "false"}


def in_bytes(size: str | int | None, option: str) -> int | None:
    """Read a size with a unit.

    Returns
    -------
    int or None
        In bytes; None where there is none.

    Raises
    ------
    OptionError
        If it is no size, or text without a unit: "2" could be anything.

    Examples
    --------
    >>> in_bytes("2 gb", "memory"), in_bytes("1.5GiB", "memory"), in_bytes(512, "memory"), in_bytes(None, "memory")
    (2000000000, 1610612736, 512, None)
    """
    if size is None:
        return None
    text = f"{size}B" if isinstance(size, int) else str(size)
    match = re.fullmatch(r"\s*(\d{1,20}(?:\.\d{1,20})?)\s*(?:([KMGT])(i?)B?|B)\s*", text, re.IGNORECASE)
    power = _UNITS[(match[2] or "").upper()] if match else 0
    whole = int(float(match[1]) * (1024 ** (power // 3) if match[3] else 10**power)) if match else 0
    if not 0 < whole <= _LARGEST:
        message = f"{option} must be a size such as 2GB or 500MB, at most 9,000,000TB, not {str(size)!r:.60}"
        raise OptionError(message, code="out_of_range", name=option, value=size)
    return whole


@dataclass(frozen=True)
class UnpackLimit:
    """How much may come out of a packed file: so many times its own size, at least so much, or what the user allows."""

    times: int
    least: int

    def of(self, packed: int, allowed: int | None) -> int:
        """The bytes that may come out of so many.

        >>> PIECES.of(10_000_000, None), WHOLE.of(10_000_000, None), WHOLE.of(10, 5_000_000_000)
        (1000000000, 300000000, 5000000000)
        """
        return max(self.times * packed, self.least) if allowed is None else allowed

    def check(self, unpacked: int, packed: int, allowed: int | None, where: str = "") -> None:
        """Refuse a file out of which more comes, or would by its own account; `where` begins the message."""
        if unpacked > (most := self.of(packed, allowed)):
            raise VotesError(
                f"{where}it is packed in {_shown(packed)} and holds more than {_shown(most)} unpacked, as a file made "
                f"to fill the memory would; if you trust it, allow more with unpack={_shown(10 * most)!r}",
                code="too_large",
                given=most,
            )


PIECES = UnpackLimit(100, 256 * _MEGABYTE)  #: tables, matrices, all members of an archive
WHOLE = UnpackLimit(30, 32 * _MEGABYTE)  #: a JSON document, which is held as a whole
#: the cells of a Parquet file, which can hold one value a billion times in a few bytes
REPEATED = UnpackLimit(100, 32 * _MEGABYTE)


def _shown(size: int) -> str:
    """A size in few digits.

    >>> _shown(10_485_760), _shown(300), _shown(3_000_000_000)
    ('10MB', '300B', '3GB')
    """
    power = min((len(str(size)) - 1) // 3, 4)
    return f"{size // 1000**power}{' KMGT'[power].strip()}B"


def unpacked(packed: BinaryIO, room: UnpackLimit, allowed: int | None = None) -> BinaryIO:
    """What an open gzipped file holds; reading ends in a VotesError once too much has come out for what was read."""
    return io.BufferedReader(_Measured(packed, room, allowed), 1 << 16)


class _Measured(io.RawIOBase):
    """A gzipped file that may hold so much."""

    def __init__(self, packed: BinaryIO, room: UnpackLimit, allowed: int | None) -> None:
        self._packed, self._size = packed, packed.seek(0, io.SEEK_END)
        packed.seek(0)
        self._file = gzip.GzipFile(fileobj=packed)
        self._room, self._allowed, self._read = room, allowed, 0

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """The next bytes."""
        size = self._file.readinto(buffer)
        self._read += size
        report_progress("unpacking", self._packed.tell() / self._size)
        self._room.check(self._read, self._packed.tell(), self._allowed)
        return size
