"""The Vega runtime that draws the charts: made by vl-convert once, kept in the user's cache, carried by every page.

The page carries it compressed (300 KB instead of 900) and its browser unpacks it; the page's policy allows exactly this
script, by its hash.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from jurors.errors import VotesError
from jurors.whole import whole_file

_SNIPPET = "window.vegaEmbed = vegaEmbed;"
_MAKE = f"import sys, vl_convert; sys.stdout.buffer.write(vl_convert.javascript_bundle({_SNIPPET!r}).encode())"


@dataclass(frozen=True)
class Runtime:
    """The script as the page carries it."""

    packed: str  #: gzip, then base64
    hash: str  #: as a content security policy writes it


class RuntimeMaker:
    """Starts making the script at once, beside whatever else is to be done; `result` waits for it.

    In a process of its own, because vl-convert keeps Python's lock for the second or two that it takes.
    """

    def __init__(self) -> None:
        self._cache = _cache_file()
        self._found = _read(self._cache)
        self._process: subprocess.Popen[bytes] | None = None
        if self._found is None and sys.executable:
            command = [sys.executable, "-c", _MAKE]
            try:
                self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # noqa: S603
            except OSError:  # no second process to be had: `result` makes it here
                self._process = None

    def result(self) -> Runtime:
        """The script, from the cache, the other process, or made here."""
        if self._found is None:
            script = b""
            if self._process is not None:
                script, _ = self._process.communicate()
                script = script if self._process.returncode == 0 else b""
            script = script or _make()
            self._found = gzip.compress(script, 9, mtime=0), script
            _keep(self._cache, self._found[0])
        packed, script = self._found
        digest = base64.b64encode(hashlib.sha256(script).digest()).decode()
        return Runtime(base64.b64encode(packed).decode(), f"sha256-{digest}")

    def close(self) -> None:
        """End the other process, if nobody waited for it."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.communicate()


def _make() -> bytes:
    import vl_convert

    script: str = vl_convert.javascript_bundle(_SNIPPET)
    return script.encode()


def _cache_file() -> Path | None:
    """Where this version's script is kept: None without a home."""
    from importlib.metadata import version

    folder = os.environ.get("XDG_CACHE_HOME", "")
    try:
        root = Path(folder) if os.path.isabs(folder) else Path.home() / ".cache"
    except RuntimeError:
        return None
    return root / "jurors" / f"vega-{version('vl-convert-python')}.js.gz"


def _read(path: Path | None) -> tuple[bytes, bytes] | None:
    """The packed and the plain script; None where there is none, or a broken one (gzip checks itself)."""
    try:
        packed = path.read_bytes() if path else b""
        script = gzip.decompress(packed)
    except (OSError, EOFError, ValueError):
        return None
    return (packed, script) if b"vegaEmbed" in script else None


def _keep(path: Path | None, packed: bytes) -> None:
    """Keep it for the next report; a page does not need it to succeed."""
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with whole_file(path) as draft:
            draft.write_bytes(packed)
    except (OSError, VotesError):
        return
