"""Votes whose labels stand in another order, or have become others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from jurors.options import Label
from jurors.votes.label_codes import recode
from jurors.votes.table import Votes


def relabelled(votes: Votes, labels: tuple[Label, ...], values: Sequence[Label | None] | None = None) -> Votes:
    """The same votes with their codes as positions in `labels`, which has every label (or value of it) of theirs."""
    place = recode([*(votes.labels if values is None else values), None], labels)  # code -1 is the last
    own = None if votes.repeats is None else votes.repeats.recoded(np.r_[place[:-1], len(labels)])
    if votes.is_dense:
        return replace(votes, labels=labels, repeats=own, _dense=place[votes.codes])
    row, col, code = votes.triples()
    kept = (codes := place[code]) >= 0
    return replace(votes, labels=labels, repeats=own, _sparse=(row[kept], col[kept], codes[kept]))
