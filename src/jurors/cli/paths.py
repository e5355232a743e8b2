"""What a command reads and what it writes: an output never takes the place of an input, nor of another output.

Every option that names a file has one of these types. The types look at each other's values while the command line is
parsed, so that a command cannot forget to.
"""

from __future__ import annotations

import glob
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jurors.errors import JurorsError, OutputError
from jurors.whole import check_writable

if TYPE_CHECKING:
    _ParamType = click.ParamType[str]
else:
    _ParamType = click.ParamType

_NAMED = "jurors.paths"


@dataclass(frozen=True)
class _Named:
    """A path on the command line."""

    option: str
    path: str
    is_written: bool


class PathType(_ParamType):
    """The name of a file that is read, of one that is written, or of a folder that is written into."""

    name = "path"

    def __init__(self, *, is_written: bool, is_folder: bool = False) -> None:
        self.is_written, self.is_folder = is_written, is_folder

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The path; OutputError where it cannot be written, or should not be."""
        path = "/dev/stdout" if self.is_written and value == "-" else str(value)
        _note(_Named(param.opts[0] if param is not None else "", path, self.is_written), ctx)
        if self.is_written and not self.is_folder:
            check_writable(Path(path))
        return path


class StoreType(PathType):
    """A server's store: a file, which no output may go over, or the address of a database."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The place as it was given."""
        return str(value) if "://" in str(value) else super().convert(value, param, ctx)


STORE = StoreType(is_written=False)
READS = PathType(is_written=False)
WRITES = PathType(is_written=True)
WRITES_INTO = PathType(is_written=True, is_folder=True)


def also_writes(option: str, path: Path) -> None:
    """A file that is written beside the one that an option names: it goes over nothing, either."""
    _note(_Named(option, str(path), is_written=True), click.get_current_context(silent=True))
    check_writable(path)


def _note(named: _Named, ctx: click.Context | None) -> None:
    """Compare a path with all others of this command line."""
    others = [] if ctx is None else ctx.meta.setdefault(_NAMED, [])
    for other in others:
        _refuse_same(named, other)
    others.append(named)


def _refuse_same(one: _Named, other: _Named) -> None:
    if one.is_written and other.is_written:
        _refuse_both(one, other)
    if one.is_written == other.is_written:
        return
    written, read = (one, other) if one.is_written else (other, one)
    for file in _files(read.path):
        if _is_same_file(file, written.path):
            shown = "standard input" if file == "-" else file
            raise OutputError(
                f"{written.option} {written.path} would write over {shown}, which is read; "
                f"give {written.option} another name"
            )


def _refuse_both(one: _Named, other: _Named) -> None:
    """Two outputs in one file, be it there already or not."""
    real = {os.path.realpath(named.path) for named in (one, other)}
    if _is_same_file(one.path, other.path) or (len(real) == 1 and not os.path.exists(*real)):
        raise OutputError(f"{one.option} and {other.option} would both write {one.path}; give one of them another name")


def _files(path: str) -> list[str]:
    """The files that a path names when it is read: one, or those of a folder or a pattern."""
    from jurors.votes.files.inside import split_inside

    path, _ = split_inside(path)
    if not os.path.isdir(path) and (os.path.exists(path) or not glob.has_magic(path)):
        return [path]
    from jurors.votes.files.locate import locate

    try:
        return [str(file) for file in locate(path, Path()).paths]
    except (JurorsError, OSError):  # told when it is read
        return []


def _is_same_file(read: str, written: str) -> bool:
    """Whether these are one file, whatever links and spellings lead to it; a device may well be both."""
    try:
        one, other = os.fstat(0) if read == "-" else os.stat(read), os.stat(written)
    except OSError:
        return False
    return stat.S_ISREG(one.st_mode) and os.path.samestat(one, other)
