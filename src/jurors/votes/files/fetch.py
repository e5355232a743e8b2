"""One file of a source as a file DuckDB can read in parallel, of known format.

Gzip, other encodings, a byte order mark, mixed line ends and what other programs hold (workbooks, databases) go through
a temporary copy; all else is read where it lies.
"""

from __future__ import annotations

import gzip
import re
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from jurors.errors import VotesError
from jurors.options import Format
from jurors.scratch import scratch
from jurors.votes.files.foreign.held import HELD, copied, holder_of
from jurors.votes.files.formats import CELLS, TITLES, named_format
from jurors.votes.files.sizes import PIECES, unpacked
from jurors.votes.files.text_encoding import is_windows_text, recoded, utf16_of
from jurors.votes.findings.about_files import windows_text
from jurors.votes.findings.finding import Finding

_GZIP, _PARQUET, BOM = b"\x1f\x8b", b"PAR1", b"\xef\xbb\xbf"
HEAD = 1 << 20  # enough for a header of ten thousand jurors


@dataclass(frozen=True)
class Local:
    """A file that DuckDB can read in parallel, and its format."""

    path: Path
    format: Format
    holder: Format | None = None  #: of what program's file it is a copy
    notes: tuple[Finding, ...] = ()  #: what whoever reads the votes should know


def local_copy(
    path: Path, folder: Path, format: Format | None, allowed: int | None, *, inside: str = "", name: str = ""
) -> Local:
    """A file DuckDB can read; `folder` is for the copies of this file alone, `inside` says what of it is meant."""
    try:
        hint = format or named_format(path.name)
        path = _unpacked(path, folder / "unpacked", allowed)
        holder = holder_of(_head(path))
        if holder is None and inside:
            raise VotesError(f"this file is one table; leave '::{inside}' out")
        if holder is not None:
            copy, kind, notes = copied(path, holder, inside, folder, allowed, name)
            return Local(copy, kind, holder, notes)
        path, notes = _in_utf8(path, folder / "utf8")
        head = _head(path)
        kind = _format_of(head, hint)
        if kind in ("json", "jsonl") and head.startswith(BOM):
            path = _copy(path, folder / "bare", skip=len(BOM))
        if kind in CELLS and _mixes_newlines(path):
            path = _with_one_line_end(path, folder / "even")
        return Local(_without_wildcards(path, folder / "file"), kind, None, notes)
    except OSError as error:
        raise VotesError(f"cannot be read: {error.strerror or error}") from None


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD)


def _in_utf8(path: Path, target: Path) -> tuple[Path, tuple[Finding, ...]]:
    """The file, or a copy of it in UTF-8; a guess at its encoding is told."""
    head = _head(path)
    if head.startswith(_PARQUET):
        return path, ()
    if (encoding := utf16_of(head)) is not None:
        return recoded(path, target, encoding), ()
    is_cells = b"\0" not in head and not head.lstrip().startswith((b"{", b"["))  # JSON is UTF-8, or not JSON
    if not is_cells or _broken_at(head) is None or not is_windows_text(head):
        return path, ()
    return recoded(path, target, "cp1252"), (windows_text(),)


def _broken_at(head: bytes) -> int | None:
    """Where the text stops being UTF-8; None where it does not."""
    try:
        head.decode()
    except UnicodeDecodeError as error:
        if len(head) < HEAD or error.start < len(head) - 4:  # not just a character cut in two by our reading
            return error.start
    return None


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
    if format in HELD:
        raise VotesError(f"this is no file of this kind ({TITLES[format]}); say which it is, or save it again")
    _check_text(head)
    if format is not None and not (format == "jsonl" and text.startswith(b"[")):
        return format
    return "json" if text.startswith(b"[") else "jsonl" if text.startswith(b"{") else "csv"


def _check_text(head: bytes) -> None:
    if b"\0" in head or len(re.findall(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]", head)) > len(head) // 50:
        raise VotesError(
            "these are binary data, not text; supported are CSV, TSV, JSON lines, Parquet, Excel, SQLite and DuckDB, "
            "text also .gz"
        )
    if (broken := _broken_at(head)) is not None:
        raise VotesError(not_utf8(head[:broken].count(b"\n") + 1))


def not_utf8(line: int | str) -> str:
    """What to say of a line that is not UTF-8."""
    return (
        f"line {line} is not valid UTF-8; save the file as UTF-8, or name its encoding: iconv -f CP1252 -t UTF-8 FILE"
    )
