"""What looks odd about some votes: labels that mean nothing was said, scores, copies, columns that are no jurors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.options import Label
from jurors.votes.layout import LABEL_WORDS, TRUTH_WORDS, guess_column
from jurors.votes.table import Votes

_MISSING_WORDS = {
    *(
        "na",
        "n/a",
        "#n/a",
        "<na>",
        "none",
        "null",
        "nil",
        "-",
        "--",
        "?",
        ".",
        "missing",
        "unknown",
        "nat",
        "undefined",
    ),
    *("no answer", "no vote", "no response", "skip", "skipped", "abstain", "error", "failed", "unparsed", "invalid"),
}
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
_RARE = 0.001
_MANY_NUMBERS = 12
_LONG_TEXT = 60
_ENOUGH = 20  #: votes, before "always the same" or "the same as another" says anything


@dataclass(frozen=True)
class Finding:
    """One thing to know about the votes: a name for programs, a sentence for people, whom or what it concerns."""

    kind: str
    message: str
    about: tuple[Label, ...] = ()


def find_suspects(votes: Votes, said: NDArray[np.int64]) -> Iterator[Finding]:
    """Everything odd about the votes; `said` counts each label by juror (jurors x labels)."""
    yield from _odd_labels(votes, said.sum(axis=0))
    yield from _odd_jurors(votes, said)


# -- labels ---------------------------------------------------------------------------------------------------


def _odd_labels(votes: Votes, counts: NDArray[np.int64]) -> Iterator[Finding]:
    labels, total = votes.labels, int(counts.sum())
    alike: dict[str, list[Label]] = {}
    for label in labels:
        alike.setdefault(" ".join(str(label).split()).casefold(), []).append(label)
    for names in (names for names in alike.values() if len(names) > 1):
        shown = " and ".join(map(repr, names))
        yield Finding("similar_labels", f"labels {shown} differ only by case or blanks: make them one", tuple(names))
    absent = [label for label, n in zip(labels, counts.tolist(), strict=True) if _is_absent(label, n, total, labels)]
    if absent:
        shown = ", ".join(f"{label!r} ({counts[labels.index(label)]:,})" for label in absent)
        options = " ".join(f"--missing {label}" for label in absent)
        yield Finding(
            "missing_labels", f"label {shown} may mean that no vote was given; then say {options}", tuple(absent)
        )
    if len(labels) > _MANY_NUMBERS and all(map(_is_number, labels)):
        low, high = min(map(float, labels)), max(map(float, labels))
        yield Finding(
            "scores",
            f"{len(labels):,} different numbers from {low:g} to {high:g} are scores, not labels: group them first",
        )
    elif len(labels) > max(20, total // 10) or any(len(str(label)) > _LONG_TEXT for label in labels):
        longest = max(map(str, labels), key=len)
        yield Finding("free_text", f"{len(labels):,} different labels, such as {longest[:40]!r}, look like free text")
    else:
        yield from _rare_labels(votes, counts, absent)


def _rare_labels(votes: Votes, counts: NDArray[np.int64], absent: Sequence[Label]) -> Iterator[Finding]:
    rare = [
        label
        for label, n in zip(votes.labels, counts.tolist(), strict=True)
        if 0 < n < _RARE * counts.sum() and label not in absent
    ]
    if rare:
        shown = ", ".join(f"{label!r} ({counts[votes.labels.index(label)]:,})" for label in rare[:6])
        more = f" and {len(rare) - 6} more" if len(rare) > 6 else ""
        yield Finding("rare_labels", f"fewer than one vote in a thousand says {shown}{more}: a slip?", tuple(rare))
    if unsaid := [label for label, n in zip(votes.labels, counts.tolist(), strict=True) if not n]:
        shown = ", ".join(map(repr, unsaid[:6]))
        yield Finding("unsaid_labels", f"nobody ever says {shown}", tuple(unsaid))


def _is_absent(label: Label, count: int, total: int, labels: Sequence[Label]) -> bool:
    text = str(label).strip().casefold()
    if text in ("n", "x"):  # beside A, B, C; but "y" and "n", or "o" and "x", are votes
        return len(labels) > 3 and 20 * count < total and not {"y", "o"} & {str(other).casefold() for other in labels}
    return text in _MISSING_WORDS and not (text == "unknown" and len(labels) <= 2)


def _is_number(label: Label) -> bool:
    try:
        return not isinstance(label, bool) and float(label) == float(label)
    except (TypeError, ValueError):
        return False


# -- jurors ---------------------------------------------------------------------------------------------------


def _odd_jurors(votes: Votes, said: NDArray[np.int64]) -> Iterator[Finding]:
    heard = said.sum(axis=1)
    if len(silent := _names(votes, heard == 0)):
        yield Finding("silent_jurors", f"{_listed(silent)} never voted", silent)
    enough = _ENOUGH if votes.total >= _ENOUGH else 2  # of a few items, a juror's every vote is a good part
    constant = _names(votes, ((said > 0).sum(axis=1) == 1) & (heard >= enough)) if len(votes.labels) > 1 else ()
    if constant:
        yield Finding("constant_jurors", f"{_listed(constant)} always said the same label", constant)
    for names, items in _copies(votes, heard, set(constant)):
        yield Finding(
            "copies", f"{_listed(names)} gave the same votes on the same {items:,} items: one juror twice?", names
        )
    if (different := unlike((said > 0).sum(axis=1), heard)) is not None:
        yield unlike_columns([(votes.jurors[k], int((said[k] > 0).sum())) for k in different])


def _copies(votes: Votes, heard: NDArray[np.int64], constant: set[str]) -> Iterator[tuple[tuple[str, ...], int]]:
    row, col, code = votes.triples()
    order = np.lexsort((row, col))
    ends = np.searchsorted(col[order], np.arange(len(votes.jurors) + 1))
    alike: dict[bytes, list[int]] = {}
    for k in range(len(votes.jurors)):
        mine = order[ends[k] : ends[k + 1]]
        if heard[k] >= _ENOUGH and votes.jurors[k] not in constant:
            alike.setdefault(row[mine].tobytes() + b"|" + code[mine].tobytes(), []).append(k)
    for group in alike.values():
        if len(group) > 1:
            yield tuple(votes.jurors[k] for k in group), int(heard[group[0]])


def unlike(used: NDArray[np.int64], heard: NDArray[np.int64]) -> tuple[int, int] | None:
    """Two jurors who use altogether different labels although each had the votes to use them all.

    `used` is how many labels each says, `heard` how many votes each gives.
    """
    able = np.flatnonzero(heard >= max(_ENOUGH, 5 * used.max(initial=0)))
    if len(able) < 2 or used[able].max() < 4 * used[able].min() or used[able].max() < 8:
        return None
    return int(able[np.argmax(used[able])]), int(able[np.argmin(used[able])])


def unlike_columns(examples: Sequence[tuple[str, int]]) -> Finding:
    """The finding about jurors and how many different labels each says."""
    shown = "; ".join(f"{name}: {used:,} different ones" for name, used in examples)
    return Finding(
        "unlike_columns", f"the jurors do not say the same labels ({shown}): a table of features, not of votes?"
    )


# -- columns --------------------------------------------------------------------------------------------------


def odd_columns(votes: Votes) -> Iterator[Finding]:
    """Jurors of a wide table whose name says that the column is something else."""
    if (key := guess_column(votes.jurors, _KEY_WORDS)) is not None and len(votes.jurors) > 1:
        name = votes.jurors[key]
        yield Finding("key_column", f"column {name!r} looks like an answer key, not like a juror", (name,))


def index_column(votes: Votes) -> str | None:
    """A juror of a wide table who says something else on every item, and nothing that the others say."""
    rows = votes.rows
    if votes.counts is not None or not votes.is_dense or len(votes.jurors) < 2 or not 4 <= rows <= len(votes.labels):
        return None
    for k, name in enumerate(votes.jurors):
        column = votes.codes[:, k]
        others = np.delete(votes.codes, k, axis=1)
        if column.min() >= 0 and len(np.unique(column)) == rows and not np.isin(column, others).any():
            return name
    return None


def key_column(names: Sequence[str], *, sure: bool = False) -> str | None:
    """The column that is called like an answer key, if any; `sure`: like hardly anything else."""
    found = guess_column(names, _SURE_KEYS if sure else _KEY_WORDS)
    return None if found is None else names[found]


def looks_like_key(votes: Votes, names: Sequence[str]) -> bool:
    """Whether a table of items and one more column is an answer key: item, label."""
    return len(votes.jurors) == 1 and len(names) <= 3 and guess_column(votes.jurors, (*_KEY_WORDS, *LABEL_WORDS)) == 0


def _names(votes: Votes, where: NDArray[Any]) -> tuple[str, ...]:
    return tuple(votes.jurors[k] for k in np.flatnonzero(where).tolist())


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    shown = list(map(repr, names[:6]))
    return ", ".join(shown) + more if more or len(shown) < 2 else f"{', '.join(shown[:-1])} and {shown[-1]}"
