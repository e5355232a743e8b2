"""Runs a case in a process that has imported everything: the command line with its streams, in a folder of its own."""

from __future__ import annotations

import contextlib
import faulthandler
import io
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fuzz.cases import Case
from fuzz.contract import MOST_SECONDS, Outcome

from jurors.cli import main

_LONGEST_WAIT = 90.0  #: seconds by the clock, for what waits without working
_MOST_DATA = 8 << 30  #: bytes a process may ask for, used or not, before its requests fail


def prepare(folder: Path) -> None:
    """Make this process a worker: what hangs or crashes leaves its stack in `stack.txt` and ends."""
    stack = (folder / "stack.txt").open("w")
    faulthandler.enable(stack)
    faulthandler.register(signal.SIGPROF, stack, chain=True)
    resource.setrlimit(resource.RLIMIT_DATA, (_MOST_DATA, _MOST_DATA))
    warnings.simplefilter("always", RuntimeWarning)
    warnings.simplefilter("always", UserWarning)
    # OpenBLAS's, not ours, and no two runs have it at the same place: see pyproject.toml.
    warnings.filterwarnings("ignore", r"invalid value encountered in (matmul|dot)", RuntimeWarning)


def run(case: Case, folder: Path) -> Outcome:
    """Run a case in `folder`, which must be a worker's own."""
    place, spare = folder / "case", folder / "tmp"
    for one in (place, spare):
        shutil.rmtree(one, ignore_errors=True)
        one.mkdir(parents=True)
    for name, content in case.files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    (folder / "stdin").write_bytes(case.stdin or b"")
    os.chdir(place)
    tempfile.tempdir = str(spare)
    Path("/proc/self/clear_refs").write_text("5")  # the peak of memory starts anew
    with _streams(folder, case.encoding):
        outcome = _timed(case)
    outcome.stdout, outcome.stderr = (
        (folder / name).read_bytes().decode(case.encoding, "replace") for name in ("out", "err")
    )
    outcome.peak = held("VmHWM")
    outcome.written = {
        path.relative_to(place).as_posix(): path.read_bytes() for path in place.rglob("*") if path.is_file()
    }
    outcome.left = [path.name for path in spare.iterdir()]
    return outcome


def _timed(case: Case) -> Outcome:
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS * 1.5)
    faulthandler.dump_traceback_later(_LONGEST_WAIT, exit=True, file=_stack_file())
    start = time.process_time()
    try:
        status, trace = _status(case.args)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()
    return Outcome(status, trace=trace, seconds=time.process_time() - start)


def _stack_file() -> Any:
    return (Path.cwd().parent / "stack.txt").open("a")


def _status(args: list[str]) -> tuple[int, str]:
    """As a shell would see it, with the traceback that Python would print."""
    try:
        main(args, prog_name="jurors")
    except SystemExit as end:
        return (end.code if isinstance(end.code, int) else 0 if end.code is None else 1), ""
    except BaseException:
        return 1, traceback.format_exc()
    return 0, ""


@contextlib.contextmanager
def _streams(folder: Path, encoding: str) -> Iterator[None]:
    """Standard streams as files, also for what writes past Python."""
    kept = [os.dup(fd) for fd in range(3)]
    before = sys.stdin, sys.stdout, sys.stderr
    wanted = (folder / "stdin", os.O_RDONLY), (folder / "out", os.O_RDWR), (folder / "err", os.O_RDWR)
    for fd, (path, mode) in enumerate(wanted):
        opened = os.open(path, mode | (os.O_CREAT | os.O_TRUNC if fd else 0), 0o600)
        os.dup2(opened, fd)
        os.close(opened)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, "r", closefd=False)), encoding="utf-8")
    sys.stdout = _writer(1, encoding, "strict")
    sys.stderr = _writer(2, encoding, "backslashreplace")
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        sys.stdin, sys.stdout, sys.stderr = before
        for fd, old in enumerate(kept):
            os.dup2(old, fd)
            os.close(old)


def _writer(fd: int, encoding: str, errors: str) -> io.TextIOWrapper:
    raw = io.BufferedWriter(io.FileIO(fd, "w", closefd=False))
    return io.TextIOWrapper(raw, encoding=encoding, errors=errors, line_buffering=fd == 2)


def held(what: str) -> int:
    """Bytes of this process by the kernel's name for them: `VmHWM` at its peak, `VmData` now."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{what}:"):
            return int(line.split()[1]) << 10
    return 0
