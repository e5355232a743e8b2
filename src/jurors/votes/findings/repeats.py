"""Rows that come again: a table put together with itself, one file under two names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from jurors.votes.findings.finding import Finding
from jurors.votes.findings.tuples import tuple_counts
from jurors.votes.table import Votes

_ENOUGH = 12  #: tuples, before a common divisor of their counts says anything


def repeated_rows(votes: Votes, *, distinct: bool = False) -> Iterator[Finding]:
    """Every tuple of votes comes an even number of times, or three times as often: the rows were pasted twice.

    Not to be asked of counts that the user gave. `distinct`: no two rows are the same tuple.
    """
    if not votes.is_dense or votes.rows < _ENOUGH:
        return
    counts = votes.weights if distinct else tuple_counts(votes)
    times = int(np.gcd.reduce(counts))
    if times > 1 and len(counts) >= _ENOUGH:
        often = {2: "twice", 3: "three times"}.get(times, f"{times} times")
        message = f"every row of votes comes {often} (or a multiple of it): was the file put together with itself?"
        yield Finding("repeated_rows", message, level="alarm", value=float(times))


def same_files(paths: Sequence[Path]) -> tuple[int, int] | None:
    """Positions of two files that hold the same bytes; only files of one size are read."""
    by_size: dict[int, list[int]] = {}
    for k, path in enumerate(paths):
        by_size.setdefault(path.stat().st_size, []).append(k)
    seen: dict[str, int] = {}
    for k in (k for group in by_size.values() if len(group) > 1 for k in group):
        with paths[k].open("rb") as file:
            mark = hashlib.file_digest(file, "sha256").hexdigest()
        if mark in seen:
            return seen[mark], k
        seen[mark] = k
    return None
