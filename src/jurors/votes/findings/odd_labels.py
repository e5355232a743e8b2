"""Labels that are hardly labels: free text, and what is said once in a thousand votes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from jurors.names import and_more
from jurors.votes.findings.alphabets import is_number
from jurors.votes.findings.finding import Finding
from jurors.votes.table import Votes

_RARE = 0.001
_LONG_TEXT = 60


def odd_labels(votes: Votes, counts: NDArray[np.int64]) -> Iterator[Finding]:
    """Very many or very long labels; otherwise those that hardly anybody says. `counts` are votes by label."""
    labels, total = votes.labels, int(counts.sum())
    if not labels or all(map(is_number, labels)):
        return
    if len(labels) > max(20, total // 10) or any(len(str(label)) > _LONG_TEXT for label in labels):
        longest = max(map(str, labels), key=len)
        message = f"{len(labels):,} different labels, such as {longest[:40]!r}, look like free text"
        yield Finding("free_text", message, level="warning", value=float(len(labels)))
        return
    rare = [k for k, n in enumerate(counts.tolist()) if 0 < n < _RARE * total]
    if rare:
        shown = and_more((f"{labels[k]!r} ({counts[k]:,})" for k in rare), 6)
        message = f"fewer than one vote in a thousand says {shown}: a slip?"
        yield Finding("rare_labels", message, tuple(labels[k] for k in rare), value=float(len(rare)))
