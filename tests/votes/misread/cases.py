"""Every misreadable case: its files, and what may come of them; the true votes of each are known.

It may come out `right` (these votes are read), `refuse` (one line, exit status 2) or `alarm` (of one of these kinds).
"""

from __future__ import annotations

from pathlib import Path

from votes.misread import cell_alphabets, cell_words, no_jurors, tables_long, tables_wide
from votes.misread.making import CASES, FILES, Case

_MAKERS = (
    tables_long.long_tables, tables_long.judges, tables_wide.counts, tables_wide.wide_tables, cell_words.words,
    cell_alphabets.alphabets, no_jurors.keys, no_jurors.turned, no_jurors.twice,
)  # fmt: skip
for make in _MAKERS if not CASES else ():  # pytest may import this under two names
    make()

__all__ = ["CASES", "Case", "write_files"]


def write_files(folder: Path) -> None:
    """The files of all cases, the same bytes each time."""
    for name in sorted({file for case in CASES.values() for file in case["files"]}):
        (folder / name).write_bytes(FILES[name])
