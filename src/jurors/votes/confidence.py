"""Jurors' own confidence: how sure a juror is of each of its votes, read beside the votes.

A column `confidence` of one vote per row, or `judge_1_confidence` beside `judge_1`, is no juror. `Confidences` holds
its numbers by the names of items and jurors, so that votes may be selected and recoded without regard to it; whoever
needs them asks for those of some votes. Models that give every label a probability become votes with a confidence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Floats
from jurors.errors import OptionError, VotesError
from jurors.options import Label, Reading
from jurors.votes.codes import NO_VOTE, Finding, is_missing, numerals
from jurors.votes.layout import Layout, bare_word, find_column
from jurors.votes.table import Votes, with_findings

_WORDS = ("confidence", "confidencescore", "certainty")
_SUFFIX = re.compile(r"(.+?)[\s_.:-]*(confidence|certainty)([\s_.:-]*score)?", re.IGNORECASE)
_LIKERT = 10  # numbers above 1 and up to this may be levels, and no percentages


@dataclass(frozen=True, eq=False)
class Confidences:
    """How sure jurors are of their votes: one number from 0 to 1 for some pairs of item and juror."""

    items: NDArray[Any] | None  #: the items' names; None: they are numbered by the rows
    jurors: tuple[str, ...]
    row: NDArray[np.int64]  #: of each number, a position in `items`
    juror: NDArray[np.int64]
    value: Floats

    def of_votes(self, votes: Votes) -> Floats:
        """The confidence in each vote.

        Returns
        -------
        ndarray, (votes,)
            In the order of `votes.triples()`; NaN where a juror gave none, or two on one item.
        """
        row, juror, _ = votes.triples()
        found = np.full(len(row), np.nan)
        names = votes.item_names()
        if self.items is None or (len(self.items) == len(names) and bool(np.all(self.items == names))):
            place = np.arange(max(int(self.row.max(initial=-1)) + 1, votes.rows))
        else:
            known = {name: k for k, name in enumerate(names.tolist())}
            place = np.array([known.get(name, -1) for name in self.items.tolist()], dtype=np.int64)
        who = {name: k for k, name in enumerate(votes.jurors)}
        whose = np.array([who.get(name, -1) for name in self.jurors], dtype=np.int64)
        at, by = place[self.row], whose[self.juror]
        is_known = (at >= 0) & (at < votes.rows) & (by >= 0)
        keys, times = at[is_known] * len(votes.jurors) + by[is_known], self.value[is_known]
        distinct, first, repeated = np.unique(keys, return_index=True, return_counts=True)
        own = row * len(votes.jurors) + juror
        where = np.minimum(np.searchsorted(distinct, own), max(len(distinct) - 1, 0))
        if len(distinct):
            is_there = (distinct[where] == own) & (repeated[where] == 1)
            found[is_there] = times[first[where[is_there]]]
        return found

    def of_rows(self, rows: NDArray[np.int64], size: int) -> Confidences:
        """The confidences on these of `size` rows; items that have names are found by them anyway.

        Returns
        -------
        Confidences
        """
        if self.items is not None:
            return self
        inside = np.full(size, -1, dtype=np.int64)
        inside[rows] = np.arange(len(rows))
        at = inside[self.row]
        return replace(self, row=at[at >= 0], juror=self.juror[at >= 0], value=self.value[at >= 0])


def confidences_of(votes: Votes) -> Floats:
    """The confidence in each vote, also where votes have none.

    Returns
    -------
    ndarray, (votes,)
        In the order of `votes.triples()`; NaN where there is none.
    """
    return np.full(votes.n_votes, np.nan) if votes.confidence is None else votes.confidence.of_votes(votes)


def confidence_columns(names: Sequence[str], options: Reading) -> dict[int, int]:
    """The columns called after another one, such as `judge_1_confidence` beside `judge_1`.

    Returns
    -------
    dict
        Position of the column of confidences -> position of the votes that it is about.

    Examples
    --------
    >>> confidence_columns(["item", "ann", "Ann confidence", "confidence"], Reading())
    {2: 1}
    """
    own = {name.strip().casefold(): k for k, name in enumerate(names)}
    found = {k: _SUFFIX.fullmatch(name.strip()) for k, name in enumerate(names)}
    pairs = {k: own.get(match[1].casefold()) for k, match in found.items() if match is not None}
    named = () if options.confidence is None else (find_column(names, options.confidence),)
    return {k: base for k, base in pairs.items() if base is not None and base != k and k not in named}


def with_confidence_columns(layout: Layout, names: Sequence[str], pairs: Mapping[int, int], options: Reading) -> Layout:
    """The layout with the columns of confidences: the one that the caller names, or those called so.

    Returns
    -------
    Layout
    """
    if options.confidence is not None:
        column = find_column(names, options.confidence)
        if layout.kind != "long" or column in layout.used:
            what = "is the item, the juror or the label" if column in layout.used else "stands in a wide table"
            raise OptionError(
                f"confidence={names[column]!r} {what}: name the column of one vote per row, or call the columns of a "
                "wide table like the jurors' (judge_1_confidence)",
                code="does_not_apply",
                name="confidence",
            )
        return replace(layout, confidence=((column, column),))
    if layout.kind == "wide" and layout.repeat is None:
        votes = tuple((k, base) for k, base in pairs.items() if base in layout.votes)
        return replace(layout, confidence=votes) if votes else layout
    free = [k for k, name in enumerate(names) if k not in layout.used and bare_word(name) in _WORDS]
    label = [k for k, base in pairs.items() if base == layout.label]
    place = (free + label)[:1] if layout.kind == "long" else []
    return replace(layout, confidence=((place[0], place[0]),)) if place else layout


def attach_confidences(
    votes: Votes,
    columns: Sequence[tuple[str, Sequence[Any] | NDArray[Any], NDArray[Any]]],
    items: tuple[Sequence[Any] | NDArray[Any], NDArray[Any]] | None,
    jurors: tuple[Sequence[Any] | NDArray[Any], NDArray[Any]] | None,
    *,
    is_asked: bool,
) -> Votes:
    """The votes with the confidences of columns beside them.

    Parameters
    ----------
    columns
        Of each column the juror (or, of one vote per row, its own name), the distinct cells, and the code of each row.
    items
        The items' distinct names, and the code of each row; None: rows are items.
    jurors
        The same of the jurors of one vote per row; None: each column is a juror's.
    is_asked
        Whether the caller named the column: cells that are no probabilities are then an error, else a note.

    Returns
    -------
    Votes
    """
    parts = []
    for name, cells, code in columns:
        known = [cell for cell in cells if not is_missing(cell) and str(cell).strip()]
        sizes = iter(numerals(known).sizes)
        numbers = [next(sizes) if not is_missing(c) and str(c).strip() else np.nan for c in cells]
        odd = next((c for c, x in zip(cells, numbers, strict=True) if x is None), None)
        if odd is not None:
            return _not_read(votes, name, f"holds {str(odd)[:40]!r}", is_asked)
        part = np.array([*numbers, np.nan], dtype=float)[code]
        low, high = float(np.nanmin(part, initial=1.0)), float(np.nanmax(part, initial=0.0))
        is_percent = high > _LIKERT or (bool(known) and all("%" in str(cell) for cell in known))
        if low < 0 or high > 100 or (high > 1 and not is_percent):
            return _not_read(votes, name, f"reaches from {low:g} to {high:g}", is_asked)
        parts.append(part / 100 if is_percent else part)
    values = np.concatenate(parts)
    if not np.isfinite(values).any():
        return votes
    rows = np.tile(np.arange(len(parts[0])) if items is None else items[1], len(parts))
    if jurors is None:
        names, juror = [name for name, _, _ in columns], np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    else:
        names, juror = list(jurors[0]), jurors[1]
    kept = np.isfinite(values)
    ids = None if items is None else np.array(list(items[0]), dtype=object)
    found = Confidences(ids, tuple(map(str, names)), rows[kept].astype(np.int64), juror[kept], values[kept])
    return replace(votes, confidence=found)


def _not_read(votes: Votes, column: str, what: str, is_asked: bool) -> Votes:
    message = f"the confidence of {column!r} {what}, but a confidence is a number from 0 to 1 or a percentage"
    if is_asked:
        raise VotesError(message, code="out_of_range", column=column)
    return with_findings(votes, [Finding("columns_left", f"{message}: it is not read", (column,))])


def votes_from_probabilities(
    pred_probs: Any,
    *,
    labels: Sequence[Label] | None = None,
    jurors: Sequence[Any] | None = None,
    items: Sequence[Any] | NDArray[Any] | None = None,
) -> Votes:
    """Votes and confidences from the probabilities that models give to every label.

    Parameters
    ----------
    pred_probs
        Model -> array of items x labels, or one array of models x items x labels, as cleanlab has them. A row of NaN is
        no vote; a tie between the two likeliest labels is none either.
    labels, jurors, items
        Their names; numbers by default.

    Returns
    -------
    Votes
        Each model votes for its likeliest label, with that label's probability as its confidence.

    Examples
    --------
    >>> votes = votes_from_probabilities({"a": [[0.9, 0.1], [0.4, 0.6]], "b": [[0.8, 0.2], [0.5, 0.5]]})
    >>> votes.codes.tolist(), votes.confidence.of_votes(votes).tolist()
    ([[0, 0], [1, -1]], [0.9, 0.8, 0.6])
    """
    if isinstance(pred_probs, Mapping):
        jurors = tuple(pred_probs) if jurors is None else jurors
        pred_probs = list(pred_probs.values())
    try:
        array = np.asarray([np.asarray(one, dtype=float) for one in pred_probs])
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim != 3 or array.shape[2] < 2:
        raise VotesError(
            "probabilities need 3 dimensions, models x items x labels: one array of items x labels for each model, all "
            f"of one shape, got shape {array.shape}"
        )
    missing = np.isnan(array).all(axis=2)
    is_odd = ~missing & ~((np.abs(array.sum(axis=2) - 1) <= 0.01) & (array >= 0).all(axis=2))
    if is_odd.any():
        model, item = (int(k[0]) for k in np.nonzero(is_odd))
        who = model + 1 if jurors is None else list(jurors)[model]
        raise VotesError(
            f"the probabilities of model {who} for item {item + 1} are {array[model, item].tolist()}: they must lie "
            "between 0 and 1 and add up to 1"
        )
    top = np.sort(np.where(missing[..., None], 0.0, array), axis=2)
    codes = np.where(missing | (top[..., -1] == top[..., -2]), NO_VOTE, np.nan_to_num(array).argmax(axis=2)).T
    names = tuple(range(array.shape[2])) if labels is None else tuple(labels)
    if len(names) != array.shape[2]:
        raise VotesError(f"{array.shape[2]} columns of probabilities need {array.shape[2]} labels, got {len(names)}")
    votes = Votes.from_matrix(codes, labels=names, jurors=jurors, items=items, scale="nominal")
    row, juror = np.nonzero(codes >= 0)
    ids = None if votes.items is None else votes.items
    value = np.asarray(array[juror, row, codes[row, juror]])
    return replace(votes, confidence=Confidences(ids, votes.jurors, row, juror, value), labels_told=labels is not None)
