"""Jurors who speak otherwise than the rest, and labels that are hardly labels: numbers, free text, slips."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.names import and_more
from jurors.votes.findings.finding import Finding, Level, listed
from jurors.votes.findings.tuples import Said, components, sampled
from jurors.votes.scales.numerals import numerals
from jurors.votes.table import Votes

_MOST_LABELS = 1_000
_MANY_NUMBERS = 12
_RARE = 0.001
_LONG_TEXT = 60


def alphabets(votes: Votes, said: Said) -> Iterator[Finding]:
    """Groups of jurors who share no label: one says 1 and 0 where the others say yes and no."""
    if not 0 < len(votes.labels) <= _MOST_LABELS or votes.scale == "interval":  # whoever measures speaks alone
        return
    heard = said.sum(axis=1, keepdims=True)
    speaks = (said > 0) & (said >= min(0.1, 0.5 / max(len(votes.labels), 1)) * heard)
    if speaks.all(axis=0).any():  # most juries: there is a word that everybody uses
        return
    able = np.flatnonzero((heard[:, 0] >= min(5, max(2, votes.total // 2))) & speaks.any(axis=1))
    spoken = speaks[able].astype(np.int64)
    kin = _tongues(spoken.T @ spoken > 0)[spoken.argmax(axis=1)]
    groups = [able[kin == tongue] for tongue in dict.fromkeys(kin.tolist())]
    if len(groups) < 2:
        return
    main = max(groups, key=len)
    mends = {
        k: _mapping(votes, g, main, np.flatnonzero(speaks[g].any(axis=0)), np.flatnonzero(speaks[main].any(axis=0)))
        for k, g in enumerate(groups)
        if g is not main
    }
    if len(groups) > max(2, len(able) // 2) and not all(mends.values()):
        shown = "; ".join(f"{votes.jurors[g[0]]} says {_few(votes, speaks[g].any(axis=0))}" for g in groups[:3])
        yield unlike_columns(shown, "alarm")
        return
    for k, mended in mends.items():
        group, strange, usual = groups[k], speaks[groups[k]].any(axis=0), speaks[main].any(axis=0)
        names = tuple(votes.jurors[k] for k in group.tolist())
        says, them = ("says", "this juror") if len(names) == 1 else ("say", "these jurors")
        message = f"{listed(names)} {says} {_few(votes, strange)} where the others say {_few(votes, usual)}: "
        message += f"{mended}leave {them} out (--ignore COLUMN)"
        yield Finding("another_alphabet", message, names, "alarm", float(len(names)))


def unlike_columns(examples: str, level: Level) -> Finding:
    """That the jurors of a table are none, with what some of them say."""
    message = f"the jurors do not say the same labels ({examples}): a table of features, not of votes? "
    return Finding("unlike_columns", message + "Leave out what is no juror (--ignore COLUMN)", level=level)


def _tongues(near: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each label, which group of labels it belongs to, that somebody uses side by side."""
    tongue = np.empty(len(near), dtype=np.int64)
    for number, group in enumerate(components(near)):
        tongue[group] = number
    return tongue


def _mapping(votes: Votes, group: NDArray[Any], main: NDArray[Any], strange: NDArray[Any], usual: NDArray[Any]) -> str:
    """What each strange label most often stands for, by what the others say of the same items; empty if unclear."""
    if not votes.is_dense:
        return ""
    codes, counts = sampled(votes)
    theirs = np.stack([(codes[:, main] == label).sum(axis=1) for label in usual], axis=1)
    meant: dict[int, int] = {}
    for label in strange.tolist():
        where = (codes[:, group] == label).any(axis=1)
        meant[label] = int(usual[int(np.argmax((theirs[where] * counts[where, None]).sum(axis=0)))])
    if len(set(meant.values())) < len(meant):
        return ""  # no other words for the same, most likely
    return "write " + ", ".join(f"{votes.labels[new]} for {votes.labels[old]}" for old, new in meant.items()) + ", or "


def strange_numbers(votes: Votes, counts: NDArray[np.int64]) -> Iterator[Finding]:
    """Numbers among words or much smaller numbers, each said once or so: a line of totals; or scores, no labels.

    `counts` are votes by label.
    """
    sizes = np.array(numerals(votes.labels).sizes, dtype=np.float64)  # NaN where a label is no number
    numbers = ~np.isnan(sizes)
    if not numbers.any():
        return
    rare = numbers & (counts <= 2) & (counts > 0)
    if rare.any() and counts[~rare].sum() > 20 * counts[rare].sum() and _are_totals(sizes, rare, numbers):
        among = "far larger than the others" if numbers.all() else "among words"
        message = f"{_few(votes, rare)} {among}, said once or so: a line of totals? Take it out"
        about = tuple(votes.labels[k] for k in np.flatnonzero(rare).tolist())
        yield Finding("rare_numbers", message, about, "alarm", float(counts[rare].sum()))
    elif numbers.all() and len(votes.labels) > _MANY_NUMBERS and votes.scale != "interval":
        message = (
            f"{len(votes.labels):,} different numbers from {sizes.min():g} to {sizes.max():g} are scores, not labels: "
            "say --scale interval, or make labels of them (--threshold NUMBER, --bins ENDS)"
        )
        yield Finding("scores", message, level="warning", value=float(len(votes.labels)))


def _are_totals(sizes: NDArray[np.float64], rare: NDArray[np.bool_], numbers: NDArray[np.bool_]) -> bool:
    """Whether the rare numbers are the only ones, or far larger than all others."""
    if not numbers.all():
        return bool(rare.sum() == numbers.sum())
    return bool(abs(sizes[rare]).min() > 2 + 3 * abs(sizes[~rare]).max())


def odd_labels(votes: Votes, counts: NDArray[np.int64]) -> Iterator[Finding]:
    """Very many or very long labels; otherwise those that hardly anybody says. `counts` are votes by label."""
    labels, total = votes.labels, int(counts.sum())
    if None not in numerals(labels).sizes:
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


def _few(votes: Votes, which: NDArray[np.bool_]) -> str:
    names = [repr(votes.labels[k]) for k in np.flatnonzero(which)[:4].tolist()]
    return ", ".join(names) + (" …" if which.sum() > 4 else "")
