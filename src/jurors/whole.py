"""A file that is written whole or not at all: to a temporary name first, then renamed."""

from __future__ import annotations

import gzip
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from jurors.errors import OutputError


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary name beside `path`; what the block wrote there takes the place of `path` when it ends well."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None
    os.close(handle)
    try:
        yield Path(name)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, path)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_whole(path: Path, content: str | bytes | Iterable[str]) -> None:
    """Write text (whole or in pieces, as UTF-8) or bytes; gzipped where the name ends in .gz, the same bytes each time.

    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "votes.csv.gz"
    >>> write_whole(path, "item,juror,label")
    >>> gzip.decompress(path.read_bytes())
    b'item,juror,label'
    >>> folder.cleanup()
    """
    packed = path.suffix.lower() == ".gz"
    with whole_file(path) as draft, draft.open("wb") as file:
        out = gzip.GzipFile("", "wb", 6, file, mtime=0) if packed else nullcontext(file)
        with out as target:
            for piece in (content,) if isinstance(content, (str, bytes)) else content:
                try:
                    target.write(piece if isinstance(piece, bytes) else piece.encode())
                except UnicodeEncodeError as error:
                    character = ascii(error.object[error.start])
                    raise OutputError(f"cannot write {path}: {character} is no valid character") from None
