"""Abstentions: answers that are no labels. Votes keep them apart; who counts or fits answers has them beside labels.

"Unsure" says something about the item and about the juror, but it is never the truth about an item. So no label is
called so, no prevalence counts it, and whoever ignores it sees a missing vote.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from jurors.errors import VotesError
from jurors.options import Label
from jurors.votes.label_codes import code_type
from jurors.votes.repeated.own_answers import Repeats
from jurors.votes.table import Votes

ABSTAINED = "\0abstained"  #: the label that abstaining is among answers, which nobody can type


def as_answers(votes: Votes) -> Votes:
    """The same votes with abstaining as one more label, the last; the very same where nobody abstained.

    Examples
    --------
    >>> votes = set_apart(Votes.from_matrix([["a", "b", ABSTAINED]], labels=("a", "b", ABSTAINED)))
    >>> votes.labels, votes.codes.tolist(), as_answers(votes).codes.tolist()
    (('a', 'b'), [[0, 1, -1]], [[0, 1, 2]])
    """
    if votes.abstained is None:
        return votes
    row, col = votes.abstained
    size = len(votes.labels)
    kind = code_type(size + 1)
    bare = replace(votes, labels=(*votes.labels, ABSTAINED), abstained=None)
    if votes.is_dense:
        codes = votes.codes.astype(kind)
        codes[row, col] = size
        return replace(bare, _dense=codes)
    rows, cols, said = votes.triples()
    place = np.searchsorted(_flat(rows, cols, votes), _flat(row, col, votes))
    triples = (np.insert(rows, place, row), np.insert(cols, place, col), np.insert(said.astype(kind), place, size))
    return replace(bare, _sparse=triples)


def in_words(votes: Votes) -> Votes:
    """The same votes with abstaining as a word among the labels, which reads back as abstaining."""
    return votes if votes.abstained is None else replace(as_answers(votes), labels=(*votes.labels, "abstained"))


def set_apart(answers: Votes) -> Votes:
    """The same votes with those of the last label as abstentions, where it stands for abstaining."""
    if not answers.labels or answers.labels[-1] != ABSTAINED:
        return answers
    labels = answers.labels[:-1]
    kind: type[np.signedinteger] = code_type(len(labels))
    row, col, code = answers.triples()
    away = code == len(labels)
    bare = replace(answers, labels=labels, abstained=(row[away], col[away]) if away.any() else None)
    if answers.is_dense:
        codes = answers.codes
        return replace(bare, _dense=np.where(codes == len(labels), -1, codes).astype(kind))
    spoke = ~away
    return replace(bare, _sparse=(row[spoke], col[spoke], code[spoke].astype(kind)))


def with_abstentions(votes: Votes, *labels: Label) -> Votes:
    """The same votes, where these labels mean that a juror abstained.

    Examples
    --------
    >>> votes = Votes.from_matrix([["yes", "unsure", "no"]], jurors=("ann", "bob", "cy"))
    >>> with_abstentions(votes, "unsure")
    Votes(1 items, 3 jurors, 2 votes, 1 abstentions, labels no, yes)
    """
    for label in labels:
        if label not in votes.labels:
            shown = ", ".join(map(str, votes.labels))
            raise VotesError(f"nobody says {label!r}, so nobody abstains by it; the labels are {shown}")
    answers = as_answers(votes)
    kept = tuple(label for label in votes.labels if label not in labels)
    place = np.array([kept.index(a) if a in kept else len(kept) for a in answers.labels] + [-1])
    kind = code_type(len(kept) + 1)
    again = np.append(place[: len(votes.labels)], len(kept))
    own = None if votes.repeats is None else votes.repeats.recoded(again)
    bare = replace(answers, labels=(*kept, ABSTAINED), repeats=own)
    if answers.is_dense:
        return set_apart(replace(bare, _dense=place[answers.codes].astype(kind)))
    row, col, code = answers.triples()
    return set_apart(replace(bare, _sparse=(row, col, place[code].astype(kind))))


def chosen_rows(votes: Votes, which: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]] | None:
    """The abstentions of these rows alone, which come once each, numbered by their places in `which`."""
    if votes.abstained is None:
        return None
    row, col = votes.abstained
    place = _places(votes.rows, which)
    kept = place[row] >= 0
    at, who = place[row[kept]], col[kept]
    order = np.lexsort((who, at))
    return (at[order], who[order]) if len(order) else None


def chosen_repeats(votes: Votes, which: NDArray[np.int64]) -> Repeats | None:
    """The repeats of these rows alone, numbered likewise."""
    return None if votes.repeats is None else votes.repeats.of_rows(_places(votes.rows, which))


def _places(rows: int, which: NDArray[np.int64]) -> NDArray[np.int64]:
    place = np.full(rows, -1, dtype=np.int64)
    place[which] = np.arange(len(which))
    return place


def _flat(row: NDArray[np.int64], col: NDArray[np.int32], votes: Votes) -> NDArray[np.int64]:
    return row.astype(np.int64) * len(votes.jurors) + col
