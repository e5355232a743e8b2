"""Where a page comes from: which files (with checksums), which version, which options, when."""

from __future__ import annotations

import hashlib
import os
import platform
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.quoting import without_secrets
from jurors.versions import VERSION
from jurors.votes.files.inside import is_served, split_inside
from jurors.votes.files.locate import are_files

VOTES = "votes"
_MOST_FILES = 200  # of a folder or pattern; the others are counted


@dataclass(frozen=True)
class Input:
    """A file that was read."""

    role: str  #: "votes", "answer key", "gold items"
    name: str
    size: int | None = None
    sha256: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"role": self.role, "name": self.name, "size": self.size, "sha256": self.sha256}


@dataclass(frozen=True)
class Provenance:
    """Everything needed to make the page again."""

    inputs: tuple[Input, ...]
    options: dict[str, str]
    command: str | None
    time: str
    version: str
    python: str
    platform: str


class Checksums:
    """Reads the inputs' checksums in a thread of its own while the votes are graded."""

    def __init__(self, inputs: Sequence[tuple[str, Any]]) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._found: list[Future[list[Input]]] = [self._pool.submit(_inputs, role, what) for role, what in inputs]
        self._pool.shutdown(wait=False)

    def result(self) -> tuple[Input, ...]:
        """The inputs, each with its size and checksum where it is a file."""
        return tuple(checked for future in self._found for checked in future.result())


def _inputs(role: str, source: Any) -> list[Input]:
    if source is None:
        return []
    if role == VOTES and are_files(source):
        return [read for one in source for read in _inputs(role, one)]
    if isinstance(source, str) and source == "-":
        return [Input(role, "standard input")]
    if not isinstance(source, (str, Path)):
        return [Input(role, f"{type(source).__name__} in memory")]
    files = _files(source)
    inputs = [_checked(role, path) for path in files[:_MOST_FILES]]
    if len(files) > _MOST_FILES:
        inputs.append(Input(role, f"… and {len(files) - _MOST_FILES:,} more files"))
    return inputs or [Input(role, _short(str(source)))]


def _files(source: str | Path) -> list[Path]:
    """The files that a path, a folder or a pattern names."""
    if is_served(source):
        return []
    path = Path(split_inside(str(source))[0])
    try:
        if path.is_dir():
            return sorted(one for one in path.rglob("*") if one.is_file() and not one.name.startswith("."))
        if path.exists():
            return [path] if path.is_file() else []
    except OSError:  # a name too long to be one
        return []
    import glob

    return sorted(Path(one) for one in glob.glob(str(path), recursive=True) if Path(one).is_file())


def _checked(role: str, path: Path) -> Input:
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            size = file.tell()
    except OSError as error:
        raise VotesError(f"cannot read {path}: {error.strerror or error}") from None
    return Input(role, path.name, size, digest)


def _short(text: str) -> str:
    """A path without the name of whose home it lies in; an address without a password."""
    home = os.path.expanduser("~")
    text = without_secrets(text)
    return text.replace(home + os.sep, f"~{os.sep}") if len(home) > 1 else text


def provenance(inputs: tuple[Input, ...], options: Mapping[str, Any], command: str | None) -> Provenance:
    """The provenance of a page made now; $SOURCE_DATE_EPOCH, where it is set, is "now"."""
    given = {name: value for name, value in options.items() if _is_given(value)}
    return Provenance(
        inputs=inputs,
        options={name: _option(value) for name, value in given.items()},
        command=None if command is None else _short(command),
        time=time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(_now())),
        version=VERSION,
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
    )


def _is_given(value: Any) -> bool:
    return not (value is None or value is False or (isinstance(value, (tuple, list)) and not value))


def _option(value: Any) -> str:
    if isinstance(value, (str, int, float, bool)):
        return _short(str(value))
    if isinstance(value, (list, tuple)) and len(value) <= 50:
        return ", ".join(without_secrets(str(one)) for one in value)
    return type(value).__name__


def _now() -> float:
    text = os.environ.get("SOURCE_DATE_EPOCH", "")
    return float(text) if text.isdigit() else time.time()
