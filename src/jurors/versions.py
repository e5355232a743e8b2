"""The versions of everything of ours that outlives a run: files, documents, a server's interface and tables.

A number grows when what an older version wrote is no longer read as it was, or an older version would misread what this
one writes; not when something is added that an older one may pass over. `jurors --version` shows them all.
"""

from __future__ import annotations

from pathlib import Path

VERSION = "0.2.0"  #: of the package
DOCUMENT = 2  #: of JSON documents, their key `schema`: grows when a key goes or changes its meaning
SKETCH = 1  #: of sketch files
SNAPSHOT = 2  #: of a monitor's snapshots, those of `jurors watch`, too
INTERFACE = 1  #: of the server's interface: its paths begin with /v1
TABLES = 6  #: of a server's tables and of backups: so many steps of `serve/database.py`


def versions() -> dict[str, str]:
    """Component -> its version, as `jurors --version` shows them.

    The juries that grades are calibrated on have no number: they are known by the checksum of their table.

    >>> versions()["sketch files"]
    'version 1'
    """
    import hashlib

    table = (Path(__file__).parent / "data" / "reference_juries.csv").read_bytes()
    juries = len(table.splitlines()) - 1
    return {
        "JSON documents": f"schema {DOCUMENT}",
        "sketch files": f"version {SKETCH}",
        "snapshots": f"version {SNAPSHOT}",
        "server": f"interface /v{INTERFACE}, tables {TABLES}",
        "reference juries": f"{juries}, sha256 {hashlib.sha256(table).hexdigest()[:12]}",
    }
