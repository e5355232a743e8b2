"""Atomic writes, temp dirs."""

from __future__ import annotations

import gzip
import os
import platform
import secrets
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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jurors.errors import OutputError

# Temporary folders that outlive nobody: gone when their block ends, and after a kill when the next one is made.
#
# A living process holds a lock on its folder; a folder of this machine that nobody holds was left by a process that was
# killed.


try:
    import fcntl
except ImportError:  # Windows, where nothing is swept
    fcntl = None  # type: ignore[assignment]

#: the signals that ask a process to end
ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

# With the machine in the name: on some shared disks a lock is seen by its own machine alone.
_MACHINE = zlib.crc32(platform.node().encode(errors="replace"))
_PREFIX = f"jurors-{_MACHINE:08x}-"


@contextmanager
def temp_directory(home: Path | None = None) -> Iterator[Path]:
    """A folder for this process alone, in the temporary folder or hidden in `home`, removed with all that it holds.

    >>> with temp_directory() as folder:
    ...     _ = (folder / "votes.csv").write_text("item,ann")
    >>> folder.exists()
    False
    """
    parent = temporary_folder() if home is None else home
    prefix = _PREFIX if home is None else f".{_PREFIX}"
    _sweep(parent, prefix)
    folder, locks = parent / f"{prefix}{secrets.token_hex(8)}", list[int]()
    try:  # before the folder is made: a signal may come at any moment
        folder.mkdir(mode=0o700)
        _hold(folder, locks)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        for lock in locks:
            os.close(lock)


def temporary_folder() -> Path:
    """Where temporary files go. Python tries the place with a file when it is first asked: a signal would leave it."""
    with undisturbed():
        return Path(tempfile.gettempdir())


@contextmanager
def undisturbed() -> Iterator[None]:
    """Signals that ask to end are heard after the block."""
    if threading.current_thread() is not threading.main_thread():  # which is the only one that hears them
        yield
        return
    heard: list[int] = []
    heeded = [number for number in ENDING if signal.getsignal(number) not in (None, signal.SIG_IGN)]
    before = {number: signal.signal(number, lambda number, _: heard.append(number)) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in heard:
            signal.raise_signal(number)


def _hold(folder: Path, locks: list[int]) -> None:
    """Hold the folder, where there are locks. Another process may have found it unheld: wait, and make it again."""
    while fcntl is not None:
        with suppress(FileNotFoundError):
            lock = os.open(folder, os.O_RDONLY)
            locks.append(lock)
            with suppress(OSError):  # not every file system has locks
                fcntl.flock(lock, fcntl.LOCK_EX)  # held for a moment by whoever is about to remove it, and nobody else
            if folder.exists():
                return
        folder.mkdir(mode=0o700, exist_ok=True)


def _sweep(parent: Path, prefix: str) -> None:
    """Remove what killed processes left there."""
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if fcntl is not None and entry.name.startswith(prefix):
                _remove_unheld(entry.path)


def _remove_unheld(folder: str) -> None:
    with suppress(OSError):  # held, somebody else's, or gone meanwhile
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            if os.fstat(lock).st_uid == os.getuid():
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)


# Files that are written whole or not at all: to a draft beside them, which is renamed; several of them together.
#
# A link stays, and what it points to is written; a file keeps its mode and owner; a device or a pipe is written to as
# the stream that it is.


# Where they lead may be a file, which is not to be replaced: what was redirected there goes on behind it.
_STANDARD = {"/dev/stdout": "stdout", "/dev/stderr": "stderr"}


@dataclass(frozen=True)
class _Batch:
    folders: ExitStack  #: which hold the drafts
    drafts: list[tuple[Path, Path]] = field(default_factory=list)  #: a draft, and the path that it is for


_current: ContextVar[_Batch | None] = ContextVar("batch", default=None)


@contextmanager
def atomic_group() -> Iterator[_Batch]:
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
def atomic_path(path: Path) -> Iterator[Path]:
    """A draft for `path`, in a folder of its own; what the block wrote there goes to `path` when all ends well."""
    with atomic_group() as batch, _naming(path):
        check_writable(path)
        draft = (
            batch.folders.enter_context(temp_directory(None if is_stream(path) else _followed(path).parent)) / "draft"
        )
        yield draft
        batch.drafts.append((draft, path))


def atomic_write(path: Path, content: str | bytes | Iterable[str]) -> None:
    """Write text (whole or in pieces, as UTF-8) or bytes; gzipped where the name ends in .gz, the same bytes each time.

    >>> with temp_directory() as folder:
    ...     atomic_write(folder / "votes.csv.gz", "item,juror,label")
    ...     gzip.decompress((folder / "votes.csv.gz").read_bytes())
    b'item,juror,label'
    """
    packed = path.suffix.lower() == ".gz"
    with atomic_path(path) as draft, draft.open("wb") as file:
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
