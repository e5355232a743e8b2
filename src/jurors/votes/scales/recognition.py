"""What kind of answers votes are, by what their labels are called and how they disagree; and by what that is known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.options import KnownScale, Label
from jurors.votes.findings.tuples import counts_said
from jurors.votes.scales.closeness import Verdict, closeness, same_share
from jurors.votes.scales.numerals import numerals
from jurors.votes.scales.relabelled import relabelled
from jurors.votes.scales.word_scales import word_order
from jurors.votes.table import Votes

FEWEST_LEVELS = 3  #: two have no order to speak of
OF_A_STREAM = "the votes of a stream are labels; `jurors grade FILE` looks whether they are in an order"
_MOST_LEVELS = 11
_FEW_DECIMALS = 5  # 0, 0.5 and 1 are levels; six such numbers are measured
_FEWEST_NUMBERS = 6
_BINS = 8
_SELDOM = 0.3  # of two jurors' answers that are the same: those who name classes agree more often
_MOST_NUMBERS = 100_000  # distinct ones that are worth a look at how they disagree

_UNORDERED: dict[Verdict, str] = {
    "far": "whole numbers, but disagreeing votes lie no nearer than by chance",
    "gap": "whole numbers, but some neighbours are hardly ever said of one item",
    "rival": "whole numbers, but in another order disagreeing votes would lie nearer",
    "thin": "whole numbers, and too few votes disagree to show an order",
}


def recognised(votes: Votes) -> Votes:
    """The votes with the scale that they show; labels without order stay as they are.

    Examples
    --------
    >>> votes = recognised(Votes.from_matrix([["low", "high"], ["medium", "high"]], scale="nominal"))
    >>> votes.scale, votes.labels, votes.scale_why
    ('ordinal', ('low', 'medium', 'high'), 'words of an ordered scale')
    >>> recognised(Votes.from_matrix([["cat", "dog"], ["cow", "dog"]])).scale_why
    'the labels are words'
    """
    if len(votes.labels) < FEWEST_LEVELS:
        return _on(votes, "nominal", "two labels" if len(votes.labels) == 2 else "one label")
    if (words := word_order(votes.labels)) is not None:
        return _on_words(votes, words)
    sizes = _sizes(votes.labels)
    if sizes is None:
        return _on(votes, "nominal", "the labels are words")
    if np.array_equal(sizes, np.rint(sizes)):
        return _on(votes, *_whole_numbers(votes, sizes))
    if len(sizes) <= _FEW_DECIMALS:
        return _on(votes, "ordinal", f"{len(sizes)} numbers with decimals")
    return _on(votes, "interval", f"{len(sizes):,} numbers with decimals")


def as_labels(votes: Votes) -> Votes:
    """The votes of a stream, which are labels: whether they are in an order may change with the next vote."""
    if len(votes.labels) < FEWEST_LEVELS or (word_order(votes.labels) is None and _sizes(votes.labels) is None):
        return recognised(votes)
    return _on(votes, "nominal", OF_A_STREAM)


def _on(votes: Votes, scale: KnownScale, why: str) -> Votes:
    if scale == "ordinal" and (sizes := _sizes(votes.labels)) is not None and np.any(np.diff(sizes) <= 0):
        if votes.labels_told:
            return _on(votes, "nominal", "numbers, which are named in another order than their own")
        votes = relabelled(votes, tuple(votes.labels[k] for k in np.argsort(sizes)))
    return replace(votes, scale=scale, scale_why=why, scale_told=False)


def _on_words(votes: Votes, words: tuple[Label, ...]) -> Votes:
    """Ordered words, lowest first; where the caller named the labels, as named, from either end."""
    why = "words of an ordered scale"
    if not votes.labels_told:
        return _on(votes if votes.labels == words else relabelled(votes, words), "ordinal", why)
    if votes.labels in (words, words[::-1]):
        return _on(votes, "ordinal", why)
    return _on(votes, "nominal", f"{why}, which are named in another order")


def _sizes(labels: Sequence[Any]) -> NDArray[np.float64] | None:
    """The labels as numbers, where all are."""
    sizes = numerals(labels).sizes
    return None if None in sizes else np.array(sizes, dtype=np.float64)


def _whole_numbers(votes: Votes, sizes: NDArray[np.float64]) -> tuple[KnownScale, str]:
    """Whole numbers are levels where few, numbers where many, if disagreeing votes lie near each other."""
    if np.abs(sizes).max() > 2**53 or len(sizes) > _MOST_NUMBERS:
        return "nominal", "whole numbers too large or too many to be levels"
    wholes = sizes.astype(np.int64)
    step = reduce(math.gcd, (wholes - wholes.min()).tolist())
    are_levels = len(sizes) <= _MOST_LEVELS and (wholes.max() - wholes.min()) // max(step, 1) < _MOST_LEVELS
    if not are_levels and len(sizes) < _FEWEST_NUMBERS:
        return "nominal", "few whole numbers, far apart"
    verdict = closeness(votes, _level_of(votes, sizes)).verdict
    if verdict == "rival" and not are_levels and same_share(votes) < _SELDOM:
        verdict = "ordered"  # few answers to a class differ and mean the same; measured ones hardly ever meet
    if verdict != "ordered":
        return "nominal", _UNORDERED[verdict]
    if are_levels:
        return "ordinal", "whole numbers; disagreeing votes lie close together"
    return "interval", f"{len(sizes):,} whole numbers; disagreeing votes lie close together"


def _level_of(votes: Votes, sizes: NDArray[np.float64]) -> NDArray[np.int64]:
    """The level of each label: its rank, or where there are many labels, which eighth of the votes it is in."""
    order = np.argsort(sizes, kind="stable")
    rank = np.argsort(order, kind="stable")
    often = counts_said(votes).sum(axis=0)[order].astype(float)
    if len(sizes) <= _MOST_LEVELS:  # among those that are said: a level that nobody says shows nothing
        return np.asarray(np.maximum(np.cumsum(often > 0) - 1, 0))[rank]
    middle = (np.cumsum(often) - often / 2) / max(often.sum(), 1)
    eighth = np.minimum((middle * _BINS).astype(np.int64), _BINS - 1)
    _, level = np.unique(eighth, return_inverse=True)
    return np.asarray(level)[rank]
