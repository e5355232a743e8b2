"""Files that are written whole or not at all: to a draft beside them, which is renamed; several of them together.

A link stays, and what it points to is written; a file keeps its mode and owner; a device or a pipe is written to as the
stream that it is.
"""

from __future__ import annotations

import gzip
import os
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jurors.errors import OutputError
from jurors.scratch import scratch, undisturbed

# Where they lead may be a file, which is not to be replaced: what was redirected there goes on behind it.
_STANDARD = {"/dev/stdout": "stdout", "/dev/stderr": "stderr"}


@dataclass(frozen=True)
class _Batch:
    folders: ExitStack  #: which hold the drafts
    drafts: list[tuple[Path, Path]] = field(default_factory=list)  #: a draft, and the path that it is for


_current: ContextVar[_Batch | None] = ContextVar("batch", default=None)


@contextmanager
def together() -> Iterator[_Batch]:
    """All the files that the block writes take their places when it ends well; otherwise none does."""
    if (outer := _current.get()) is not None:
        yield outer
        return
    with ExitStack() as folders:
        batch = _Batch(folders)
        token = _current.set(batch)
        try:
            yield batch
        finally:
            _current.reset(token)
        _put_in_place(batch.drafts)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A draft for `path`, in a folder of its own; what the block wrote there goes to `path` when all ends well."""
    with together() as batch, _naming(path):
        check_writable(path)
        draft = batch.folders.enter_context(scratch(None if is_stream(path) else _followed(path).parent)) / "draft"
        yield draft
        batch.drafts.append((draft, path))


def write_whole(path: Path, content: str | bytes | Iterable[str]) -> None:
    """Write text (whole or in pieces, as UTF-8) or bytes; gzipped where the name ends in .gz, the same bytes each time.

    >>> with scratch() as folder:
    ...     write_whole(folder / "votes.csv.gz", "item,juror,label")
    ...     gzip.decompress((folder / "votes.csv.gz").read_bytes())
    b'item,juror,label'
    """
    packed = path.suffix.lower() == ".gz"
    with whole_file(path) as draft, draft.open("wb") as file:
        out = gzip.GzipFile("", "wb", 6, file, mtime=0) if packed else nullcontext(file)
        with out as target:
            for piece in (content,) if isinstance(content, (str, bytes)) else content:
                target.write(piece if isinstance(piece, bytes) else encoded(piece, str(path)))


def encoded(text: str, place: str) -> bytes:
    """The text as UTF-8; OutputError where it holds half a character, which JSON and file names can."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise OutputError(f"cannot write {place}: {text[error.start]!a} is no valid character") from None


def is_stream(path: Path) -> bool:
    """Whether a path leads to a device, a pipe or a terminal, which nothing can take the place of.

    >>> is_stream(Path("/dev/stdout")), is_stream(Path("votes.csv"))
    (True, False)
    """
    if str(path) in _STANDARD:
        return True
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def check_writable(path: Path) -> None:
    """OutputError where nothing can be written at this path: to be told before the work, not after it."""
    if path.is_dir():
        raise OutputError(f"cannot write {path}: it is a folder; name a file in it")
    if is_stream(path):
        return
    target = _followed(path)
    if target.is_symlink():
        raise OutputError(f"cannot write {path}: its links lead back to it")
    if not target.parent.is_dir():
        raise OutputError(f"cannot write {path}: there is no folder {path.parent}")
    if not os.access(target.parent, os.W_OK) or (target.exists() and not os.access(target, os.W_OK)):
        raise OutputError(f"cannot write {path}: Permission denied")


def _followed(path: Path) -> Path:
    return Path(os.path.realpath(path))


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """What the system refuses, as one line that names the path."""
    try:
        yield
    except BrokenPipeError:  # whoever read the pipe has had enough
        raise
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None


# -- drafts into their places -----------------------------------------------------------------------------------


def _put_in_place(drafts: list[tuple[Path, Path]]) -> None:
    """Everything that can fail comes before the first of the renames, and no signal comes between them."""
    for draft, path in drafts:
        with _naming(path):
            if is_stream(path):
                _pour(draft, path)
            else:
                _make_ready(draft, _followed(path))
    with undisturbed():
        for draft, path in drafts:
            if not is_stream(path):
                with _naming(path):
                    os.replace(draft, _followed(path))


def _make_ready(draft: Path, target: Path) -> None:
    """On the disk, and with the mode and owner of what it takes the place of; a new file has those of any other."""
    with draft.open("r+b") as file:
        os.fsync(file.fileno())
    if target.exists():
        before = target.stat()
        if hasattr(os, "chown"):
            with suppress(PermissionError):
                os.chown(draft, before.st_uid, before.st_gid)
        os.chmod(draft, stat.S_IMODE(before.st_mode))


def _pour(draft: Path, path: Path) -> None:
    name = _STANDARD.get(str(path))
    with draft.open("rb") as file:
        if name is None:
            with path.open("wb") as out:
                shutil.copyfileobj(file, out)
            return
        stream: Any = getattr(sys, name)
        stream.flush()
        shutil.copyfileobj(file, stream.buffer)
        stream.flush()
