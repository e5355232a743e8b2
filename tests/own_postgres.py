"""A PostgreSQL of our own in a temporary folder: it listens on a socket there alone, and never runs as root."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

_PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


def programs() -> Path | None:
    """The folder of PostgreSQL's programs, where there is one."""
    on_path = shutil.which("initdb")
    folders = [*_PLACES, *([Path(on_path).parent] if on_path else [])]
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


class OwnPostgres:
    """A server that can be stopped and started again."""

    def __init__(self, folder: Path, *, fsync: bool = False) -> None:
        there = programs()
        assert there is not None
        self.folder, self._bin = folder, there
        self._user = _user()
        if self._user is not None:
            shutil.chown(folder, self._user, self._user)
        self._settings = f"-k {folder} -c listen_addresses='' -c fsync={'on' if fsync else 'off'} -c max_connections=60"
        self._run("initdb", "-D", str(folder / "data"), "-A", "trust", "-U", "jurors", "--no-sync", "-E", "UTF8")
        self.start()

    @property
    def url(self) -> str:
        """The database that is always there."""
        return self.url_of("postgres")

    def url_of(self, database: str) -> str:
        """Another database."""
        return f"postgresql://jurors@/{database}?host={self.folder}"

    def make(self, database: str) -> str:
        """A new, empty database; its address."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{database}"'.encode())
        return self.url_of(database)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-l", log, "-o", self._settings, "-w", "start")

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Stop all its processes in their tracks while the block runs."""
        first = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(first, signal.SIGSTOP)
        children = subprocess.run(["pgrep", "-P", str(first)], capture_output=True, text=True, check=True).stdout
        for pid in map(int, children.split()):
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in (*map(int, children.split()), first):
                os.kill(pid, signal.SIGCONT)

    def stop(self, how: str = "fast") -> None:
        """Stop it; "immediate" is as if the machine had lost its power."""
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-m", how, "-w", "stop")

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(self._bin / program), *arguments], check=True, cwd=self.folder, user=self._user,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip


def _user() -> str | None:
    """The user to run as where we are root."""
    if os.getuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in known)


@contextmanager
def own_postgres(*, fsync: bool = False) -> Iterator[OwnPostgres]:
    """A server while the block runs."""
    folder = Path(tempfile.mkdtemp(prefix="jurors-pg-"))  # short: a socket's path may not be long
    folder.chmod(0o755)
    server = OwnPostgres(folder, fsync=fsync)
    try:
        yield server
    finally:
        server.stop("immediate")
        time.sleep(0.05)
        shutil.rmtree(folder, ignore_errors=True)
