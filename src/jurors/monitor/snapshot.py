"""Snapshot files: a monitor as one JSON document, versioned and with a checksum.

{"format": "jurors monitor", "version": 1, "checksum": "sha256:…", "monitor": {…}}
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from jurors.errors import JurorsError, VotesError
from jurors.versions import SNAPSHOT

FORMAT = "jurors monitor"
_AGAIN = "take an earlier snapshot, or count the votes again"
T = TypeVar("T")


def text_of(state: dict[str, Any]) -> str:
    """The text of a snapshot."""
    body = _compact(state)
    head = json.dumps({"format": FORMAT, "version": SNAPSHOT, "checksum": _checksum(body)})
    return f'{head[:-1]},\n"monitor": {body}}}\n'


def read_snapshot(path: Path, restore: Callable[[dict[str, Any]], T]) -> T:
    """What a snapshot holds; VotesError says in a line what is wrong with it."""
    try:
        return restore(_state(_content(path)))
    except JurorsError as error:
        raise error.in_file(str(path)) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, zlib.error):
        raise VotesError(f"this snapshot does not fit together; {_AGAIN}", code="damaged").in_file(str(path)) from None


def _content(path: Path) -> bytes:
    try:
        raw = path.read_bytes()
        return gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except FileNotFoundError:
        raise VotesError("there is no such file", code="no_file") from None
    except (OSError, EOFError, zlib.error) as error:
        raise VotesError(f"cannot be read ({error}); {_AGAIN}", code="damaged") from None


def _state(raw: bytes) -> dict[str, Any]:
    try:
        document = json.loads(raw)
    except ValueError:
        raise VotesError(f"the JSON is broken or cut short; {_AGAIN}", code="damaged") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise VotesError('this is no snapshot of a monitor (there is no "format": "jurors monitor")')
    if type(version := document.get("version")) is not int or version > SNAPSHOT:
        raise VotesError(f"written by a newer jurors (version {version!r:.20}); update jurors (pip install -U jurors)")
    state = document.get("monitor")
    if not isinstance(state, dict) or _checksum(_compact(state)) != document.get("checksum"):
        raise VotesError(f"the checksum does not match: the file was changed or damaged; {_AGAIN}", code="damaged")
    return state


def _compact(state: dict[str, Any]) -> str:
    return json.dumps(state, separators=(",", ":"), allow_nan=False)


def _checksum(body: str) -> str:
    return f"sha256:{hashlib.sha256(body.encode()).hexdigest()}"
