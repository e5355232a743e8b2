"""Votes with their scale: the one that the caller gave, else the one that they show; labels stand in its order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jurors.errors import OptionError, VotesError
from jurors.names import some
from jurors.options import KnownScale, Label, Reading
from jurors.votes.columns.other_tables import WITH_PAIRS
from jurors.votes.findings.finding import Finding
from jurors.votes.findings.tuples import counts_said
from jurors.votes.label_codes import ordered_labels
from jurors.votes.scales.numerals import numerals
from jurors.votes.scales.recognition import FEWEST_LEVELS, recognised
from jurors.votes.scales.relabelled import relabelled
from jurors.votes.scales.rewriting import FAIL, PASS, Rewriting, bin_order
from jurors.votes.scales.word_scales import word_order
from jurors.votes.table import Votes

_SAID = "as you say (--scale {})"


def scaled(votes: Votes, options: Reading) -> Votes:
    """The votes on the scale that was asked for, or that they show; VotesError where they cannot be on it.

    >>> scaled(Votes.from_matrix([[3, 1]]), Reading(scale="ordinal")).scale
    'ordinal'
    """
    if rewriting := Rewriting.of(options):
        votes = replace(votes, rewriting=rewriting)
    if rewriting.bins and options.labels is None:
        votes = relabelled(votes, bin_order(votes.labels))
    if options.scale == "auto" and (made := _made(rewriting, votes.labels)) is not None:
        return replace(
            votes, scale=made.scale, scale_why=made.why, scale_told=True, findings=(*votes.findings, made.said)
        )
    if options.scale == "auto":
        return votes if votes.scale_told else recognised(votes)
    if options.scale == "pairs":
        raise OptionError(f"which of two is better (scale 'pairs') is no vote: {WITH_PAIRS}", code="does_not_apply")
    if options.scale == "ordinal" and options.labels is None and not rewriting.bins:
        votes = _in_order(votes)
    if options.scale == "interval":
        _check_numbers(votes.labels)
    return replace(votes, scale=options.scale, scale_why=_SAID.format(options.scale), scale_told=True)


@dataclass(frozen=True)
class _Made:
    """The scale of what was made of numbers."""

    scale: KnownScale
    why: str

    @property
    def said(self) -> Finding:
        return Finding("scale", self.why)


def _made(rewriting: Rewriting, labels: Sequence[Label]) -> _Made | None:
    if rewriting.threshold is not None:
        cut = rewriting.threshold
        return _Made(
            "nominal", f"as you say (--threshold {cut}): numbers from {cut} on are {PASS}, smaller ones {FAIL}"
        )
    if not rewriting.bins:
        return None
    why = f"as you say (--bins): numbers are put into {some(labels, 12)}, each with its lower end"
    return _Made("ordinal" if len(labels) >= FEWEST_LEVELS else "nominal", why)


def rewritten(votes: Votes, options: Reading) -> Votes:
    """Votes that are read already, with labels as the caller would have them.

    >>> rewritten(Votes.from_matrix([[0.2, 0.5, 0.9]]), Reading(threshold=0.5)).codes.tolist()
    [[0, 1, 1]]
    """
    rewriting = Rewriting.of(options)
    if not rewriting:
        return votes
    often = counts_said(votes).sum(axis=0)
    values = rewriting.cells(list(votes.labels), often.tolist)
    said = [value for value, count in zip(values, often.tolist(), strict=True) if count or votes.labels_told]
    read = relabelled(votes, ordered_labels(said), [value if value in said else None for value in values])
    return replace(read, scale="nominal", scale_why="", scale_told=False)


def grown(votes: Votes, more: Sequence[Label]) -> tuple[Label, ...]:
    """The labels with some that nobody says, in order; VotesError where nobody can tell their place among levels.

    >>> grown(Votes.from_matrix([["low", "high"], ["mid", "low"]]), ["very high"])
    ('low', 'mid', 'high', 'very high')
    """
    labels = [*votes.labels, *more]
    if votes.scale != "ordinal":
        return ordered_labels(labels)
    if (numbers := _by_size(labels)) is not None:
        return numbers
    words = bin_order(labels) if votes.rewriting is not None and votes.rewriting.bins else word_order(labels)
    for order in () if words is None else (words, words[::-1]):
        if tuple(label for label in order if label in votes.labels) == votes.labels:
            return order
    message = f"nobody votes {some(map(repr, more), 4)}, and its place among the levels {some(votes.labels, 8)}"
    raise VotesError(f"{message} is not known; name all levels, the lowest first (labels=…, --labels low,mid,high)")


def _by_size(labels: Sequence[Label]) -> tuple[Label, ...] | None:
    """Labels that are numbers, the lowest first; None where one is not."""
    sizes = zip(labels, numerals(labels).sizes, strict=True)
    size = {label: known for label, known in sizes if known is not None}
    if len(size) < len(set(labels)):
        return None
    return tuple(sorted(size, key=lambda label: (size[label], str(label))))


def _in_order(votes: Votes) -> Votes:
    """The votes with their labels lowest first; VotesError where nobody can tell the order."""
    if (labels := _by_size(votes.labels)) is None:
        message = f"the order of the labels {some(votes.labels, 8)} is not known; name them, the lowest first"
        raise VotesError(f"{message} (labels=…, --labels low,mid,high)")
    return votes if labels == votes.labels else relabelled(votes, labels)


def _check_numbers(labels: Sequence[Label]) -> None:
    """VotesError names what is no number."""
    if odd := [label for label, text in zip(labels, numerals(labels).texts, strict=True) if text is None]:
        message = f"votes on the scale 'interval' are numbers, found {some(map(repr, odd), 4)}"
        raise VotesError(f"{message}; leave out what is no vote (--missing VALUE), or say --scale nominal")
