"""Temporary folders that outlive nobody: gone when their block ends, and after a kill when the next one is made.

A living process holds a lock on its folder; a folder of this machine that nobody holds was left by a process that was
killed.
"""

from __future__ import annotations

import os
import platform
import secrets
import shutil
import signal
import tempfile
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

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
def scratch(home: Path | None = None) -> Iterator[Path]:
    """A folder for this process alone, in the temporary folder or hidden in `home`, removed with all that it holds.

    >>> with scratch() as folder:
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
