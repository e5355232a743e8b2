"""Which jurors are read: all of them, only some (`--only`), or all but some (`--drop`), whatever holds their votes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from jurors.errors import VotesError
from jurors.names import nearest, some
from jurors.options import Reading, texts
from jurors.votes.layout import Layout
from jurors.votes.scales.relabelled import relabelled
from jurors.votes.table import Votes

#: the options that apply to votes that are read already, too
CHOOSING = ("only", "drop", "join", "map", "ignore_case", "threshold", "bins")


def is_chosen(options: Reading) -> bool:
    """Whether the caller says which jurors to read."""
    return bool(texts(options.only) or texts(options.drop))


def chosen(jurors: Sequence[Any], options: Reading) -> list[int]:
    """The positions of the jurors to read, in their order; VotesError names the nearest of an unknown one.

    >>> chosen(["ann", "bob", "cy"], Reading(only=["cy", "ann"])), chosen(["ann", "bob", "cy"], Reading(drop="bob"))
    ([0, 2], [0, 2])
    """
    only = {nearest(name, jurors, "juror") for name in texts(options.only)}
    drop = {nearest(name, jurors, "juror") for name in texts(options.drop)}
    kept = [k for k, name in enumerate(jurors) if (not only or name in only) and name not in drop]
    if not kept:
        raise VotesError(f"only= and drop= (--only, --drop) leave none of the jurors {some(jurors, 12)}")
    return kept


def chosen_columns(layout: Layout, names: Sequence[str], options: Reading) -> Layout:
    """The layout of a table with one juror per column, of the chosen jurors alone; others are chosen by their rows."""
    if layout.kind == "long" or not is_chosen(options):
        return layout
    return replace(layout, votes=tuple(layout.votes[k] for k in chosen([names[k] for k in layout.votes], options)))


def chosen_votes(votes: Votes, options: Reading) -> Votes:
    """The votes of the chosen jurors, with the labels that these say (all labels, where the caller named them).

    >>> votes = Votes.from_matrix([["yes", "no", "unsure"], ["no", "no", "no"]], jurors=["ann", "bob", "cy"])
    >>> chosen_votes(votes, Reading(drop=["cy"]))
    Votes(2 items, 2 jurors, 4 votes, labels no, yes)
    """
    if not is_chosen(options):
        return votes
    taken = votes.take([votes.jurors[k] for k in chosen(votes.jurors, options)])
    return taken if votes.labels_told else said_here(taken)


def said_here(votes: Votes, also: np.ndarray[Any, Any] | None = None) -> Votes:
    """The same votes with only the labels that somebody said in them (or that are known): a test of its own."""
    codes = votes.codes if votes.is_dense else votes.triples()[2]
    said = np.union1d(codes[codes >= 0], () if also is None else also[also >= 0]).astype(int).tolist()
    if len(said) == len(votes.labels):
        return votes
    values = [a if k in set(said) else None for k, a in enumerate(votes.labels)]
    return relabelled(votes, tuple(votes.labels[k] for k in said), values)
