"""Votes counted apart, added up: the same jurors and labels, found by name, or one clear line why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from jurors.errors import SketchError
from jurors.names import and_more
from jurors.options import Label
from jurors.votes.abstentions import ABSTAINED, as_answers, set_apart
from jurors.votes.repeated.own_answers import put_together
from jurors.votes.scales.obey import grown
from jurors.votes.scales.recognition import recognised
from jurors.votes.scales.relabelled import relabelled
from jurors.votes.table import Votes


def merge_votes(parts: Sequence[tuple[str, Votes]], *, union_labels: bool = False) -> Votes:
    """One table of counts from several, each with the name that a message calls it by.

    The jurors must be the same; so must the labels, unless `union_labels` says that a label one part lacks was just
    never said there.

    Examples
    --------
    >>> monday = Votes.from_matrix([["a", "b"]], jurors=("ann", "bob"))
    >>> tuesday = Votes.from_matrix([["b", "b"], ["a", "b"]], jurors=("bob", "ann"))
    >>> merge_votes([("monday", monday), ("tuesday", tuesday)]).codes.tolist()
    [[0, 1], [1, 1], [1, 0]]

    """
    told_scale = [(name, votes) for name, votes in parts if votes.scale_told]
    name, first = (told_scale or parts)[0]
    for other, votes in parts:
        if votes is first:
            continue
        check_same(name, first.jurors, other, votes.jurors, "jurors")
        if not union_labels:
            check_same(name, first.labels, other, votes.labels, "labels")
    for other, votes in told_scale[1:]:
        _check_same_scale(name, first, other, votes)
    labels = _union([(name, first), *parts]) if union_labels else first.labels
    aligned = [_aligned(votes, first.jurors, labels) for _, votes in parts]
    if any(votes.abstained is not None for votes in aligned):
        labels = (*labels, ABSTAINED)
        aligned = [replace(as_answers(votes), labels=labels) for votes in aligned]
    counts = np.concatenate([v.weights for v in aligned])
    findings = tuple(dict.fromkeys(finding for _, votes in parts for finding in votes.findings))
    told = all(votes.labels_told for _, votes in parts)
    starts = np.cumsum([0, *(votes.rows for votes in aligned)])
    own = put_together([(int(at), votes.repeats) for at, votes in zip(starts, aligned, strict=False)])
    bare = Votes(
        jurors=first.jurors, labels=labels, rows=len(counts), counts=counts, findings=findings, labels_told=told,
        scale=first.scale, scale_why=first.scale_why, scale_told=first.scale_told, repeats=own,
    )  # fmt: skip
    if all(votes.is_dense for votes in aligned):
        return _known(set_apart(replace(bare, _dense=np.concatenate([votes.codes for votes in aligned]))))
    triples = [votes.triples() for votes in aligned]
    row = np.concatenate([row + start for (row, _, _), start in zip(triples, starts, strict=False)])
    col, code = (np.concatenate([triple[k] for triple in triples]) for k in (1, 2))
    return _known(set_apart(bare._with_triples(row, col, code)))


def _known(merged: Votes) -> Votes:
    """With the scale that was told, or that all of it shows: a part alone may show too little."""
    return merged if merged.scale_told else recognised(merged)


def check_same(name: str, left: Sequence[Any], other: str, right: Sequence[Any], what: str) -> None:
    """SketchError names what only one of two has."""
    only_left, only_right = _lacking(left, right), _lacking(right, left)
    if not only_left and not only_right:
        return
    alike = {str(value) for value in only_left} & {str(value) for value in only_right}
    shown = repr if alike or any(not str(v).strip() for v in (*only_left, *only_right)) else str
    differences = [
        f"only in {where}: {and_more(map(shown, values), 8)}"
        for where, values in ((name, only_left), (other, only_right))
        if values
    ]
    hint = "" if what == "jurors" else "; name all labels when counting (labels=…, --labels A,B)"
    if alike:
        hint = "; text and numbers are different labels: count both from the same kind of file"
    elif what == "labels":
        hint += ", or merge with union_labels (--union-labels) if such a label was just never said"
    raise SketchError(f"cannot merge sketches of different {what}: {'; '.join(differences)}{hint}")


def _check_same_scale(name: str, first: Votes, other: str, votes: Votes) -> None:
    """SketchError where one part holds another kind of answers, or the same levels in another order."""
    if first.scale != votes.scale:
        held = f"{name} holds {first.scale} votes, {other} {votes.scale} ones"
        hint = f"count both the same way (--scale {first.scale})"
        raise SketchError(f"cannot merge sketches of different scales: {held}; {hint}")
    if first.scale == "ordinal":
        shared = [label for label in votes.labels if label in first.labels]
        if shared != [label for label in first.labels if label in shared]:
            hint = "count both with the levels in one order (--labels low,mid,high)"
            raise SketchError(f"cannot merge sketches: the levels of {name} and {other} differ in order; {hint}")


def _lacking(some: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    known = set(map(_identity, others))
    return sorted((value for value in some if _identity(value) not in known), key=str)


def _identity(value: Any) -> tuple[bool, Any]:
    """True and 1 are equal to Python, but as labels they are two."""
    return isinstance(value, bool), value


def _union(parts: Sequence[tuple[str, Votes]]) -> tuple[Label, ...]:
    name, first = parts[0]
    if len({_identity(label)[0] for _, votes in parts for label in votes.labels}) > 1 or _mixes_text(parts):
        for other, votes in parts[1:]:
            check_same(name, first.labels, other, votes.labels, "labels")
    labels = list(dict.fromkeys(label for _, votes in parts for label in votes.labels))
    more = [label for label in labels if label not in first.labels]
    return grown(first if first.scale_told else replace(first, scale="nominal"), more) if more else first.labels


def _mixes_text(parts: Sequence[tuple[str, Votes]]) -> bool:
    return len({isinstance(label, str) for _, votes in parts for label in votes.labels}) > 1


def _aligned(votes: Votes, jurors: tuple[str, ...], labels: tuple[Label, ...]) -> Votes:
    votes = votes if votes.jurors == jurors else votes.take(jurors)
    return votes if votes.labels == labels else relabelled(votes, labels)
