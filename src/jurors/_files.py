"""Atomic writes and temporary directories.

**Temporary directories** are removed when their block ends, and after a crash when the next one is made: a live process
holds a lock on its directory, so a directory of this machine without a lock was left behind by a killed process.

**Atomic writes** go to a temporary file on the same disk, which is synced and renamed; those of an `atomic_group` are
renamed together. A symbolic link stays, and its target is written; a file keeps its mode and owner; a device or a pipe
is written to as the stream that it is.
"""

from __future__ import annotations

import gzip
import os
import platform
import shutil
import signal
import stat
import sys
import tempfile
import threading
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeAlias

from jurors.errors import OutputError

try:
    import fcntl
except ImportError:  # Windows, where nothing is cleaned up
    fcntl = None  # type: ignore[assignment]

#: the signals that terminate a process
ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

# With the machine in the name: on some shared disks a lock is visible on its own machine only.
_PREFIX = f"jurors-{zlib.crc32(platform.node().encode(errors='replace')):08x}-"

# They may lead to a file, which must not be replaced: output that was redirected there follows.
_STANDARD = {"/dev/stdout": "stdout", "/dev/stderr": "stderr"}


@contextmanager
def temp_directory(home: Path | None = None) -> Iterator[Path]:
    """A directory for this process alone, in the system's or hidden in `home`; removed at the end of the block.

    Yields
    ------
    Path
        With mode 700.

    Examples
    --------
    >>> with temp_directory() as folder:
    ...     _ = (folder / "votes.csv").write_text("item,ann")
    >>> folder.exists()
    False
    """
    parent = temporary_folder() if home is None else home
    prefix = _PREFIX if home is None else f".{_PREFIX}"
    _remove_orphans(parent, prefix)
    folder, locks = parent / f"{prefix}{os.urandom(8).hex()}", list[int]()
    try:  # before the directory is made: a signal may come at any moment
        folder.mkdir(mode=0o700)
        _lock(folder, locks)
        yield folder
    finally:
        with defer_signals():
            shutil.rmtree(folder, ignore_errors=True)
        for lock in locks:
            os.close(lock)


def temporary_folder() -> Path:
    """The system's temporary directory. Python's first call tests it with a file, which a signal would leave there."""
    with defer_signals():
        return Path(tempfile.gettempdir())


@contextmanager
def defer_signals() -> Iterator[None]:
    """Hold terminating signals back until the block ends."""
    if threading.current_thread() is not threading.main_thread():  # the only one that receives signals
        yield
        return
    pending: list[int] = []
    handled = [number for number in ENDING if signal.getsignal(number) not in (None, signal.SIG_IGN)]
    before = {number: signal.signal(number, lambda number, _: pending.append(number)) for number in handled}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in pending:
            signal.raise_signal(number)


def _lock(folder: Path, locks: list[int]) -> None:
    """Lock the directory, where there are locks. If another process removes it as an orphan: wait, make it again."""
    while fcntl is not None:
        with suppress(FileNotFoundError):
            lock = os.open(folder, os.O_RDONLY)
            locks.append(lock)
            with suppress(OSError):  # not every file system has locks
                fcntl.flock(lock, fcntl.LOCK_EX)  # held briefly by a process that is about to remove it
            if folder.exists():
                return
        folder.mkdir(mode=0o700, exist_ok=True)


def _remove_orphans(parent: Path, prefix: str) -> None:
    """Remove the directories that killed processes left behind: ours, and not locked."""
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if not entry.name.startswith(prefix):
                continue
            with suppress(OSError):  # locked, another user's, or gone meanwhile
                lock = os.open(entry.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
                try:
                    if os.fstat(lock).st_uid == os.getuid():
                        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        shutil.rmtree(entry.path, ignore_errors=True)
                finally:
                    os.close(lock)


_Batch: TypeAlias = tuple[ExitStack, list[tuple[Path, Path]]]  #: temporary directories; drafts and their destinations
_current: ContextVar[_Batch | None] = ContextVar("batch", default=None)


@contextmanager
def atomic_group() -> Iterator[_Batch]:
    """Rename all files that the block writes when it succeeds; none if it raises. Groups may be nested."""
    if (outer := _current.get()) is not None:
        yield outer
        return
    with ExitStack() as folders:
        files: list[tuple[Path, Path]] = []
        token = _current.set((folders, files))
        try:
            yield folders, files
        finally:
            _current.reset(token)
        _commit(files)


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary path to write to; the file becomes `path` when the block, and its group, succeed.

    Raises
    ------
    OutputError
        `path` cannot be written, or the system refuses.
    """
    with atomic_group() as (folders, files), _as_output_error(path):
        check_writable(path)
        home = None if is_stream(path) else _resolved(path).parent
        temporary = folders.enter_context(temp_directory(home)) / "draft"
        yield temporary
        files.append((temporary, path))


def atomic_write(path: Path, content: str | bytes | Iterable[str]) -> None:
    """Write text (whole or in pieces, as UTF-8) or bytes; gzipped where the name ends in .gz, reproducibly.

    Raises
    ------
    OutputError
        As in `atomic_path`, or for text that is no valid Unicode.

    Examples
    --------
    >>> with temp_directory() as folder:
    ...     atomic_write(folder / "votes.csv.gz", "item,juror,label")
    ...     gzip.decompress((folder / "votes.csv.gz").read_bytes())
    b'item,juror,label'
    """
    is_gzip = path.suffix.lower() == ".gz"
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        out = gzip.GzipFile("", "wb", 6, file, mtime=0) if is_gzip else nullcontext(file)
        with out as target:
            for piece in (content,) if isinstance(content, (str, bytes)) else content:
                target.write(piece if isinstance(piece, bytes) else encoded(piece, str(path)))


def encoded(text: str, place: str) -> bytes:
    """The text as UTF-8; OutputError where it holds a lone surrogate, as JSON and file names can."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise OutputError(f"cannot write {place}: {text[error.start]!a} is not a valid character") from None


def is_stream(path: Path) -> bool:
    """Whether a path leads to a device, a pipe or a terminal, which cannot be replaced.

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
    """Raise OutputError where this path cannot be written: before the work is done, not after it."""
    if path.is_dir():
        raise OutputError(f"cannot write {path}: it is a folder; name a file in it")
    if is_stream(path):
        return
    target = _resolved(path)
    if target.is_symlink():
        raise OutputError(f"cannot write {path}: its links lead back to it")
    if not target.parent.is_dir():
        raise OutputError(f"cannot write {path}: there is no folder {path.parent}")
    if not os.access(target.parent, os.W_OK) or (target.exists() and not os.access(target, os.W_OK)):
        raise OutputError(f"cannot write {path}: Permission denied")


def _resolved(path: Path) -> Path:
    return Path(os.path.realpath(path))


@contextmanager
def _as_output_error(path: Path) -> Iterator[None]:
    """Turn an OSError into an OutputError of one line that names the path."""
    try:
        yield
    except BrokenPipeError:  # the reader has closed the pipe
        raise
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None


def _commit(files: list[tuple[Path, Path]]) -> None:
    """Rename temporary files: everything that can fail comes before the first rename, and no signal between them."""
    for temporary, path in files:
        with _as_output_error(path):
            if is_stream(path):
                standard: Any = getattr(sys, _STANDARD.get(str(path), ""), None)
                with temporary.open("rb") as file, nullcontext(standard) if standard else path.open("wb") as out:
                    out.flush()
                    shutil.copyfileobj(file, getattr(out, "buffer", out))
                    out.flush()
                continue
            with temporary.open("r+b") as file:
                os.fsync(file.fileno())
            target = _resolved(path)
            if target.exists():  # it keeps its mode and owner
                before = target.stat()
                if hasattr(os, "chown"):
                    with suppress(PermissionError):
                        os.chown(temporary, before.st_uid, before.st_gid)
                os.chmod(temporary, stat.S_IMODE(before.st_mode))
    with defer_signals():
        for temporary, path in files:
            if not is_stream(path):
                with _as_output_error(path):
                    os.replace(temporary, _resolved(path))
