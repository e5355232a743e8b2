"""Votes apart by group: which group each row belongs to, and the votes of each group as a test of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.errors import VotesError
from jurors.jury.accept import as_votes, votes_and_column
from jurors.options import SourceOptions
from jurors.sketch import Sketch
from jurors.votes import Key, Votes
from jurors.votes.abstentions import chosen_repeats, chosen_rows
from jurors.votes.cells import tidy
from jurors.votes.key import series_key
from jurors.votes.label_codes import NO_VOTE
from jurors.votes.layout import COUNT_WORDS, guess_column


def split_votes(
    votes: Votes, groups: NDArray[Any], names: Sequence[Any]
) -> Iterator[tuple[Any, NDArray[np.int64], Votes]]:
    """Each group, its rows, and their votes; every row and vote is looked at once, however many groups there are."""
    place = {name: k for k, name in enumerate(names)}
    group = np.array([place.get(name, NO_VOTE) for name in groups.tolist()], dtype=np.int64)
    which = _by_code(group, len(place))
    if votes.is_dense:
        for name, own in zip(names, which, strict=True):
            yield name, own, replace(votes, _dense=votes.codes[own], **_kept(votes, own))
        return
    inside = np.full(votes.rows, NO_VOTE, dtype=np.int64)
    for own in which:
        inside[own] = np.arange(len(own))
    row, col, code = votes.triples()
    for name, own, at in zip(names, which, _by_code(group[row], len(place)), strict=True):
        yield name, own, replace(votes, _sparse=(inside[row[at]], col[at], code[at]), **_kept(votes, own))


def _by_code(codes: NDArray[np.int64], many: int) -> list[NDArray[np.int64]]:
    """The positions of 0, of 1, …, each in their order."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.searchsorted(codes[order], np.arange(many + 1)))[1:-1]


def _kept(votes: Votes, rows: NDArray[np.int64]) -> dict[str, Any]:
    return {
        "rows": len(rows),
        "abstained": chosen_rows(votes, rows),
        "repeats": chosen_repeats(votes, rows),
        "findings": (),  # which are about all the groups together
        "items": None if votes.items is None else votes.items[rows],
        "counts": None if votes.counts is None else votes.counts[rows],
    }


def prepared(source: Any, by: Any, column: str, reading: SourceOptions) -> tuple[Votes, NDArray[Any], str]:
    """The votes, each row's group, and what to call the column."""
    if isinstance(by, str):
        if isinstance(source, (Votes, Sketch, np.ndarray, list, tuple)):
            raise VotesError(
                f"there is no column {by!r} beside these votes; give one group per row, or a mapping by item"
            )
        if reading.get("layout", "auto") in ("auto", "counts") and guess_column([by], COUNT_WORDS) is not None:
            raise VotesError(f"column {by!r} counts items; name the column that holds their group")
        votes, groups = votes_and_column(source, by, **reading)
        return votes, _array(groups), by
    votes = as_votes(source, **reading)
    if isinstance(by, Mapping):
        by = Key.from_mapping(by)
    if hasattr(getattr(by, "index", None), "is_unique"):  # a pandas series
        by = series_key(by, what="group")
    if isinstance(by, Key):
        return votes, _array(by.by_row(votes)), column
    if not hasattr(by, "__iter__"):
        raise VotesError(f"groups are a column's name, one group per row or a mapping by item, not {type(by).__name__}")
    listed = list(by)
    if len(listed) != votes.rows:
        raise VotesError(f"the votes have {votes.rows:,} rows, but {len(listed):,} groups were given")
    return votes, _array(listed), column


def _array(groups: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    array = np.empty(len(groups), dtype=object)
    array[:] = tidy(list(groups), column="group")
    return array
