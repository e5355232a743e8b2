"""Which files a source names: a path, a pattern, a folder, a stream, or several of them."""

from __future__ import annotations

import glob
import os
import select
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO, TextIO, TypeAlias

from jurors.errors import VotesError
from jurors.names import like
from jurors.quoting import without_secrets
from jurors.votes.files.formats import SUPPORTED, named_format
from jurors.votes.files.inside import is_served, split_inside

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
class Place:
    """Where a table is, and what the user calls it."""

    path: Path
    name: str
    inside: str = ""  #: which table or sheet of a file is meant; "" where nothing is said
    address: str = ""  #: of a database that a server keeps, and then of no file


@dataclass(frozen=True)
class Found:
    """The files of a source, in the order they are read."""

    paths: tuple[Path, ...]  #: every file, for the readers of other tools' logs
    root: Path  #: the folder the user named, or that holds the files the user named
    tables: tuple[Place, ...]  #: the files to read as tables
    named: frozenset[Path] = frozenset()  #: the files the user named one by one, which must not be passed over


def shown_source(source: Source) -> str:
    """What to call a source in a message.

    >>> shown_source("-"), shown_source(["a.csv", "b.csv", "c.csv"])
    ('standard input', 'a.csv and 2 more')
    """
    if isinstance(source, (list, tuple)):
        more = f" and {len(source) - 1} more" if len(source) > 1 else ""
        return f"{shown_source(source[0])}{more}" if source else "no file"
    if isinstance(source, (str, os.PathLike)):
        name = without_secrets(os.fspath(source))
        return "standard input" if name == "-" else name if name and name.isprintable() else ascii(name[:40])
    return str(getattr(source, "name", "the stream"))


def locate(source: Source, folder: Path) -> Found:
    """The files of a source; a stream is written into `folder` first. A VotesError names the file."""
    several = list(source) if isinstance(source, (list, tuple)) else [source]
    if not several:
        raise VotesError("no file is named; give at least one")
    if several.count("-") > 1:
        raise VotesError("standard input (-) is named twice; name it once")
    located = [_named_located(one, folder / f"stream{k}") for k, one in enumerate(several)]
    tables = tuple(table for one in located for table in one.tables)
    _refuse_repeats(tables)
    root = located[0].root if len(located) == 1 else _common_folder([one.root for one in located])
    paths = tuple(path for one in located for path in one.paths)
    return Found(paths, root, tables, frozenset().union(*(one.named for one in located)))


def reached(name: str) -> tuple[Path, ...]:
    """Every file that is read under a name: itself, what a pattern matches, what lies in a folder. None is opened."""
    file, _ = split_inside(name)
    path = Path(file).absolute()
    if path.is_dir():
        return tuple(_below(path))
    return _matching(file).paths if not path.exists() and glob.has_magic(file) else (path,)


def _named_located(source: Any, spool: Path) -> Found:
    try:
        return _located(source, spool)
    except VotesError as error:
        raise error.in_file(shown_source(source)) from None
    except OSError as error:
        fault = VotesError(f"cannot be read: {error.strerror or error}")
        raise fault.in_file(shown_source(source)) from None


def _located(source: Any, spool: Path) -> Found:
    name = shown_source(source)
    if not isinstance(source, (str, os.PathLike)) or source == "-":
        path = _spooled(standard_input() if source == "-" else source, spool)
        return _one_file(path, name)
    if is_served(source):
        return Found((), Path(), (Place(spool, name, address=str(source)),))
    if not os.fspath(source):
        raise VotesError("the name of the file is empty; name a file, or . for this folder")
    file, inside = split_inside(os.fspath(source))
    if inside:
        matches = _matching(file) if glob.has_magic(file) and not os.path.exists(file) else _located(file, spool)
        return replace(matches, paths=(), tables=tuple(replace(one, inside=inside) for one in matches.tables))
    path = Path(source).absolute()
    if "\n" in str(path) or "\0" in str(path):
        raise VotesError("there is no such file; in Python, io.StringIO(text) reads votes from a text", code="no_file")
    if path.is_dir():
        return _in_folder(path, os.fspath(source))
    if not path.exists() and glob.has_magic(str(path)):
        return _matching(os.fspath(source))
    _check_exists(path)
    if path.is_fifo():
        path = _from_pipe(path, spool)
    elif not path.is_file():
        raise VotesError("this is a device, not a file; name a file, or pipe the votes into -")
    return _one_file(path, name)


def _one_file(path: Path, name: str) -> Found:
    """A file that the user named."""
    return Found((path,), path.parent, (Place(path, name),), frozenset((path,)))


def _in_folder(folder: Path, shown: str) -> Found:
    paths = tuple(sorted(_below(folder)))
    tables = tuple(
        Place(path, shown_source(os.path.join(shown, path.relative_to(folder))))
        for path in paths
        if _is_table(path.relative_to(folder))
    )
    return Found(paths, folder, tables)


def _below(folder: Path) -> Iterator[Path]:
    for entry in os.scandir(folder):
        if entry.name.startswith(NO_VOTES) or entry.name.lower().endswith(_UNFINISHED):
            continue
        if entry.is_dir():
            yield from _below(Path(entry.path))
        elif entry.is_file():
            yield Path(entry.path)


def _is_table(path: Path) -> bool:
    """Whether the name is one of ours; engines keep their own notes in `_delta_log`, `_SUCCESS` and the like."""
    return not any(part.startswith("_") for part in path.parts) and (named_format(path.name) is not None)


def _matching(pattern: str) -> Found:
    matches = sorted(glob.glob(pattern, recursive=True))
    if not matches:
        raise VotesError("no file matches this pattern", code="no_file")
    located = [_match(match) for match in matches if "**" not in pattern or not os.path.isdir(match)]
    paths = tuple(path for one in located for path in one.paths)
    if not paths:
        raise VotesError("no file matches this pattern", code="no_file")
    fixed = takewhile(lambda part: not glob.has_magic(part), Path(pattern).absolute().parts)
    searched = "**" in pattern  # the whole tree, as a folder's name does
    named = frozenset() if searched else frozenset().union(*(one.named for one in located))
    return Found(paths, Path(*fixed), tuple(table for one in located for table in one.tables), named)


def _match(match: str) -> Found:
    path = Path(match).absolute()
    if path.is_dir():
        return _in_folder(path, match)
    return _one_file(path, shown_source(match))


def _check_exists(path: Path) -> None:
    if path.exists():
        return
    siblings = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    close = like(path.name, siblings, cutoff=0.7)
    hint = f"; did you mean {str(path.parent / close)!r}?" if close else ""
    raise VotesError(f"there is no such file{hint}", code="no_file")


def no_tables() -> VotesError:
    """What to say of a folder in which nothing looks like votes."""
    return VotesError(f"this folder holds no file of votes ({SUPPORTED})", code="no_file")


def standard_input() -> BinaryIO:
    """What is piped into the process; VotesError where nothing can be."""
    if sys.stdin is None:
        raise VotesError("it is closed; pipe the votes into it, or name a file", code="no_file")
    return sys.stdin.buffer


def _spooled(stream: Any, target: Path) -> Path:
    with target.open("wb") as file:
        while block := stream.read(_BLOCK):
            file.write(block.encode("utf-8", "surrogateescape") if isinstance(block, str) else block)
    return target


def _from_pipe(path: Path, target: Path) -> Path:
    """What is written into a named pipe, such as `<(zcat votes.csv.gz)`: it can be read only once, so into a file."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as pipe:
        if not select.select([pipe], [], [], _PATIENCE)[0]:
            raise VotesError(f"nothing was written into this pipe for {_PATIENCE} seconds; name a file, or pipe into -")
        os.set_blocking(pipe.fileno(), True)
        return _spooled(pipe, target)


def _refuse_repeats(tables: Sequence[Place]) -> None:
    """The same file twice would count every vote twice."""
    seen: dict[tuple[str, str], str] = {}
    for place in tables:
        real, name = (place.address or str(place.path.resolve()), place.inside), place.name
        if real in seen:
            again = "" if seen[real] == name else f" (as {seen[real]} too)"
            raise VotesError(f"the file {name} is named twice{again}; name it once")
        seen[real] = name


def _common_folder(folders: Sequence[Path]) -> Path:
    try:
        return Path(os.path.commonpath(folders))
    except ValueError:  # different drives
        return folders[0]
