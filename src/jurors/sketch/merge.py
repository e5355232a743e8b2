"""Votes counted apart, added up: the same jurors and labels, found by name, or one clear line why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from jurors.errors import SketchError
from jurors.names import and_more
from jurors.options import Label
from jurors.votes.read import relabelled
from jurors.votes.table import Votes, ordered_labels


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
    name, first = parts[0]
    for other, votes in parts[1:]:
        check_same(name, first.jurors, other, votes.jurors, "jurors")
        if not union_labels:
            check_same(name, first.labels, other, votes.labels, "labels")
    labels = _union(parts) if union_labels else first.labels
    aligned = [_aligned(votes, first.jurors, labels) for _, votes in parts]
    counts = np.concatenate([v.weights for v in aligned])
    findings = tuple(dict.fromkeys(finding for _, votes in parts for finding in votes.findings))
    told = all(votes.labels_told for _, votes in parts)
    bare = Votes(
        jurors=first.jurors, labels=labels, rows=len(counts), counts=counts, findings=findings, labels_told=told
    )
    if all(votes.is_dense for votes in aligned):
        return replace(bare, _dense=np.concatenate([votes.codes for votes in aligned]))
    starts = np.cumsum([0, *(votes.rows for votes in aligned)])
    triples = [votes.triples() for votes in aligned]
    row = np.concatenate([row + start for (row, _, _), start in zip(triples, starts, strict=False)])
    return bare._with_triples(row, np.concatenate([t[1] for t in triples]), np.concatenate([t[2] for t in triples]))


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
    return first.labels if len(labels) == len(first.labels) else ordered_labels(labels)


def _mixes_text(parts: Sequence[tuple[str, Votes]]) -> bool:
    return len({isinstance(label, str) for _, votes in parts for label in votes.labels}) > 1


def _aligned(votes: Votes, jurors: tuple[str, ...], labels: tuple[Label, ...]) -> Votes:
    votes = votes if votes.jurors == jurors else votes.take(jurors)
    return votes if votes.labels == labels else relabelled(votes, labels)
