"""What `inspect` alone says of some votes: who is silent or always says the same, columns that are no jurors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.votes.findings.alphabets import unlike_columns
from jurors.votes.findings.finding import Finding, listed
from jurors.votes.layout import LABEL_WORDS, TRUTH_WORDS, guess_column
from jurors.votes.table import Votes

_SURE_KEYS = (
    "truth",
    "gold",
    "groundtruth",
    "truelabel",
    "goldlabel",
    "gt",
    "goldstandard",
    "expectedlabel",
    "answerkey",
)
_KEY_WORDS = (*_SURE_KEYS, *TRUTH_WORDS, "reference", "correct", "correctanswer", "expected")
_ENOUGH = 20  #: votes, before "always the same" says anything


def find_suspects(votes: Votes, said: NDArray[np.int64]) -> Iterator[Finding]:
    """What grading says in other words or has no need of; `said` counts each label by juror (jurors x labels)."""
    yield from _unsaid(votes, said.sum(axis=0))
    yield from _odd_jurors(votes, said)


def _unsaid(votes: Votes, counts: NDArray[np.int64]) -> Iterator[Finding]:
    if unsaid := [label for label, n in zip(votes.labels, counts.tolist(), strict=True) if not n]:
        yield Finding("unsaid_labels", f"nobody ever says {', '.join(map(repr, unsaid[:6]))}", tuple(unsaid))


# -- jurors ---------------------------------------------------------------------------------------------------


def _odd_jurors(votes: Votes, said: NDArray[np.int64]) -> Iterator[Finding]:
    heard = said.sum(axis=1)
    if len(silent := _names(votes, heard == 0)):
        yield Finding("silent_jurors", f"{listed(silent)} never voted", silent)
    enough = _ENOUGH if votes.total >= _ENOUGH else 2  # of a few items, a juror's every vote is a good part
    constant = _names(votes, ((said > 0).sum(axis=1) == 1) & (heard >= enough)) if len(votes.labels) > 1 else ()
    if constant:
        yield Finding("constant_jurors", f"{listed(constant)} always said the same label", constant)
    if votes.scale == "interval":
        return  # whoever measures in tens says fewer numbers than who measures in ones
    if (different := unlike((said > 0).sum(axis=1), heard)) is not None:
        yield different_counts([(votes.jurors[k], int((said[k] > 0).sum())) for k in different])


def unlike(used: NDArray[np.int64], heard: NDArray[np.int64]) -> tuple[int, int] | None:
    """Two jurors who use altogether different labels although each had the votes to use them all.

    `used` is how many labels each says, `heard` how many votes each gives.
    """
    able = np.flatnonzero(heard >= max(_ENOUGH, 5 * used.max(initial=0)))
    if len(able) < 2 or used[able].max() < 4 * used[able].min() or used[able].max() < 8:
        return None
    return int(able[np.argmax(used[able])]), int(able[np.argmin(used[able])])


def different_counts(examples: Sequence[tuple[str, int]]) -> Finding:
    """The finding about jurors and how many different labels each says."""
    return unlike_columns("; ".join(f"{name}: {used:,} different ones" for name, used in examples), "note")


# -- columns --------------------------------------------------------------------------------------------------


def odd_columns(votes: Votes) -> Iterator[Finding]:
    """Jurors of a wide table whose name says that the column is something else."""
    if (key := guess_column(votes.jurors, _KEY_WORDS)) is not None and len(votes.jurors) > 1:
        name = votes.jurors[key]
        yield Finding("key_column", f"column {name!r} looks like an answer key, not like a juror", (name,))


def key_column(names: Sequence[str], *, sure: bool = False) -> str | None:
    """The column that is called like an answer key, if any; `sure`: like hardly anything else."""
    place = guess_column(names, _SURE_KEYS if sure else _KEY_WORDS)
    return None if place is None else names[place]


def looks_like_key(votes: Votes, names: Sequence[str]) -> bool:
    """Whether a table of items and one more column is an answer key: item, label."""
    return len(votes.jurors) == 1 and len(names) <= 3 and guess_column(votes.jurors, (*_KEY_WORDS, *LABEL_WORDS)) == 0


def _names(votes: Votes, where: NDArray[Any]) -> tuple[str, ...]:
    return tuple(votes.jurors[k] for k in np.flatnonzero(where).tolist())
