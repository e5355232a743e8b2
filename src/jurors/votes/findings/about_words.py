"""What the labels and names of some votes show: words for no vote, words that may be one, names that look alike."""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.names import some
from jurors.options import Label
from jurors.votes.columns.answer_words import FIRST, SECOND, TIE, side_of
from jurors.votes.findings.finding import Finding, listed
from jurors.votes.findings.spelling import may_be_none


def missing_words(words: Sequence[str], times: Sequence[int]) -> Iterator[Finding]:
    """A note of the words that were taken for no vote, and how often they were said."""
    if words:
        shown = ", ".join(f"{word!r} ({n:,})" for word, n in zip(words, times, strict=True))
        message = f"taken for no vote: {shown}; where this is an answer, name all labels (--labels A,B)"
        yield Finding("missing_words", message, tuple(words), value=float(sum(times)))


def abstentions(
    jurors: Sequence[str], times: NDArray[np.int64], words: Sequence[str], assumed: Sequence[str]
) -> Iterator[Finding]:
    """A note of who abstained how often, by which words; the `assumed` ones nobody named."""
    order = [int(k) for k in np.argsort(-times, kind="stable") if times[k]]
    if order:
        shown = some((f"{jurors[k]!r} {times[k]:,}" for k in order), 8)
        said = ", ".join(map(repr, words))
        message = f"{said}: {times.sum():,} abstentions, which are never a true label ({shown})"
        if assumed:
            message += "; where this is an answer, name all labels (--labels A,B)"
        yield Finding("abstentions", message, tuple(jurors[k] for k in order), value=float(times.sum()))


def ambiguous_words(labels: Sequence[Label], counts: NDArray[np.int64]) -> Iterator[Finding]:
    """Labels that may be an answer, or mean that none was given."""
    total = max(int(counts.sum()), 1)
    odd = [k for k, label in enumerate(labels) if may_be_none(label, labels, counts[k] / total)]
    odd = [
        k for k in odd if not _is_tie(labels[k], [labels[other] for other in range(len(labels)) if other not in odd])
    ]
    if not odd or len(labels) - len(odd) < 2:
        return
    shown = ", ".join(f"{labels[k]!r} ({counts[k]:,})" for k in odd)
    missing, abstain = (" ".join(_flag(flag, labels[k]) for k in odd) for flag in ("--missing", "--abstain"))
    every = shlex.quote(",".join(map(str, labels)))
    message = (
        f"label {shown} may be an answer or none: say {missing} to leave it out, {abstain} to count it as abstaining, "
        f"or --labels {every} if it is an answer"
    )
    yield Finding("ambiguous_words", message, tuple(labels[k] for k in odd), "alarm", float(counts[odd].sum()))


def _is_tie(label: Label, others: Sequence[Label]) -> bool:
    """Whether a label says that neither of two is better, as the others say which is.

    >>> _is_tie("tie", ["model_a", "model_b"]), _is_tie("tie", ["pass", "fail"]), _is_tie("unsure", ["A", "B"])
    (True, False, False)
    """
    return side_of(str(label)) == TIE and sorted(side_of(str(other)) or 0 for other in others) == [SECOND, FIRST]


def _flag(flag: str, label: Label) -> str:
    return f"{flag}={shlex.quote(str(label))}" if str(label).startswith("-") else f"{flag} {shlex.quote(str(label))}"


def similar_names(what: str, names: Sequence[Any]) -> Iterator[Finding]:
    """Labels or jurors whose names differ only by case, blanks, width or how a letter is composed."""
    plain = "\n".join(map(str, names))
    if plain.isascii() and len(set(folded := plain.lower().split())) == len(folded) == len(names):
        return  # no blanks but those between names, and no two names alike: nearly always
    alike: dict[str, list[Any]] = {}
    for name in names:
        alike.setdefault(" ".join(unicodedata.normalize("NFKC", str(name)).split()).casefold(), []).append(name)
    groups = [group for group in alike.values() if len(group) > 1]
    if groups:
        shown = "; ".join(" and ".join(map(repr, group)) for group in groups[:6])
        message = f"{what}s differ only by case or blanks, and count as different ones: {shown}"
        about = tuple(name for group in groups for name in group)
        kind = "similar_labels" if what == "label" else "similar_jurors"
        yield Finding(kind, message, about, "alarm", float(len(groups)))


def columns_left(names: Sequence[str]) -> Iterator[Finding]:
    """A note of the columns beside the jurors' that are not read, although nobody said to leave them out."""
    if names:
        message = f"not read, since {'it is' if len(names) == 1 else 'they are'} no juror's: {listed(names)}"
        yield Finding("columns_left", f"{message} (--layout wide reads every column)", tuple(names))
