"""One file of a source as a file DuckDB can read in parallel, of known format.

Gzip, a byte order mark and mixed line ends go through a temporary copy; all else is read where it lies.
"""

from __future__ import annotations

import gzip
import re
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jurors.errors import VotesError
from jurors.options import Format
from jurors.scratch import scratch
from jurors.votes.files.formats import CELLS, named_format
from jurors.votes.files.sizes import PIECES, unpacked

_GZIP, _PARQUET, BOM = b"\x1f\x8b", b"PAR1", b"\xef\xbb\xbf"
# DuckDB fetches nothing from the network, whatever a file asks for.
OFFLINE: dict[str, str | bool | int | float | list[str]] = {"autoinstall_known_extensions": "false"}
HEAD = 1 << 20  # enough for a header of ten thousand jurors


def local_copy(path: Path, folder: Path, format: Format | None, allowed: int | None) -> tuple[Path, Format]:
    """A file DuckDB can read in parallel, and its format; `folder` is for the copies of this file alone."""
    try:
        hint = format or named_format(path.name)
        path = _unpacked(path, folder / "unpacked", allowed)
        with path.open("rb") as file:
            head = file.read(HEAD)
        kind = _format_of(head, hint)
        if kind in ("json", "jsonl") and head.startswith(BOM):
            path = _copy(path, folder / "bare", skip=len(BOM))
        if kind in CELLS and _mixes_newlines(path):
            path = _with_one_line_end(path, folder / "even")
        return _without_wildcards(path, folder / "file"), kind
    except OSError as error:
        raise VotesError(f"cannot be read: {error.strerror or error}") from None


def _unpacked(path: Path, target: Path, allowed: int | None) -> Path:
    with path.open("rb") as file:
        if file.read(2) != _GZIP:
            return path
    try:
        with unpacked(path, PIECES, allowed) as packed, target.open("wb") as file:
            shutil.copyfileobj(packed, file, HEAD)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise damaged_gzip(error) from None
    return target


def damaged_gzip(error: Exception) -> VotesError:
    """What to say of a file that cannot be unpacked."""
    message = f"the gzip data are cut short or damaged ({error}); fetch or write the file again"
    return VotesError(message, code="damaged")


@contextmanager
def plainly_named(path: Path) -> Iterator[Path]:
    """The same file under a name that DuckDB takes as it is, for as long as it takes to read it."""
    with scratch() as folder:
        yield _without_wildcards(path, folder / "file")


def _without_wildcards(path: Path, link: Path) -> Path:
    """The same file under a name that is text for DuckDB, and in which it sees no pattern, as in "votes[1].csv"."""
    if not re.search(r"[*?\[\ud800-\udfff]", str(path)):
        return path
    try:
        link.symlink_to(path)
    except OSError:  # not everybody may make links on Windows
        return _copy(path, link)
    return link


def _copy(path: Path, target: Path, *, skip: int = 0) -> Path:
    with path.open("rb") as file, target.open("wb") as out:
        file.seek(skip)
        shutil.copyfileobj(file, out, HEAD)
    return target


def _with_one_line_end(path: Path, target: Path) -> Path:
    """CR LF, CR and LF each as LF; in Latin-1 every byte is a character, so that nothing else changes."""
    with path.open(encoding="latin-1") as file, target.open("w", encoding="latin-1", newline="") as out:
        shutil.copyfileobj(file, out, HEAD)
    return target


def _mixes_newlines(path: Path) -> bool:
    """Whether lines end in more than one of CR LF, CR and LF, which DuckDB's strict reading refuses or misreads."""
    if not any(b"\r" in block for block in _blocks(path)):
        return False
    returns = feeds = both = 0
    before = b""
    for block in _blocks(path):
        returns, feeds = returns + block.count(b"\r"), feeds + block.count(b"\n")
        both += block.count(b"\r\n") + (before == b"\r" and block[:1] == b"\n")
        before = block[-1:]
    return feeds > 0 and not returns == feeds == both


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(HEAD):
            yield block


def _format_of(head: bytes, format: Format | None) -> Format:
    """What the bytes are: Parquet shows itself; of text, the name decides before the content does."""
    if head.startswith(_PARQUET):
        return "parquet"
    text = head.removeprefix(BOM).lstrip()
    if not text:
        raise VotesError("the file is empty", code="empty")
    if format == "parquet":
        raise VotesError("this is not a Parquet file (it does not begin with PAR1)")
    _check_text(head)
    if format is not None and not (format == "jsonl" and text.startswith(b"[")):
        return format
    return "json" if text.startswith(b"[") else "jsonl" if text.startswith(b"{") else "csv"


def _check_text(head: bytes) -> None:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise VotesError("the text is UTF-16; save it as UTF-8")
    if b"\0" in head or len(re.findall(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]", head)) > len(head) // 50:
        raise VotesError(
            "these are binary data, not text; supported are CSV, TSV, JSON lines and Parquet, text also .gz"
        )
    try:
        head.decode()
    except UnicodeDecodeError as error:
        if len(head) < HEAD or error.start < len(head) - 4:  # not just a character cut in two by our reading
            raise VotesError(not_utf8(head[: error.start].count(b"\n") + 1)) from None


def not_utf8(line: int | str) -> str:
    """What to say of a line that is not UTF-8."""
    return f"line {line} is not valid UTF-8; save the file as UTF-8"
