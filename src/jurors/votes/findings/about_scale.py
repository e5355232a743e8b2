"""What kind of answers votes were taken for, where nobody said it and it is not plain."""

from __future__ import annotations

from collections.abc import Iterator

from jurors.names import some
from jurors.votes.findings.finding import Finding
from jurors.votes.scales.numerals import numerals
from jurors.votes.scales.recognition import FEWEST_LEVELS, OF_A_STREAM
from jurors.votes.table import Votes

_MOST_SHOWN = 12


def scale_taken(votes: Votes) -> Iterator[Finding]:
    """A note of the scale that was recognised; nothing where the caller said it, or where labels are plain words.

    >>> [finding.message for finding in scale_taken(Votes.from_matrix([["low", "high"], ["mid", "high"]]))]
    ['taken for ordered levels, low < mid < high (words of an ordered scale); if they have no order: --scale nominal']
    """
    if votes.scale_told or not votes.scale_why or len(votes.labels) < FEWEST_LEVELS:
        return
    if votes.scale == "ordinal":
        levels = some(votes.labels, _MOST_SHOWN, between=" < ")
        what, otherwise = f"ordered levels, {levels}", "if they have no order: --scale nominal"
    elif votes.scale == "interval":
        what, otherwise = "numbers", "if they name classes: --scale nominal"
    elif None not in numerals(votes.labels).texts:
        what, otherwise = "labels without order", "if they are levels: --scale ordinal"
    else:
        return
    otherwise = "" if votes.scale_why == OF_A_STREAM else f"; {otherwise}"
    yield Finding("scale", f"taken for {what} ({votes.scale_why}){otherwise}", value=float(len(votes.labels)))
