"""Counts of decision tuples by true label, as the paper's Data S1 to S4 hold them: the truth is in the file.

    {"jurors": ["i", "j", "k"], "labels": ["a", "b"],
     "by_true_label": {"a": {"aab": 168, …}, "b": {"aab": 385, …}}}

or a list of such experiments; or only the inner part, {"a": {"aab": 168}, …}; or {"observed": {"aab": 553, …}} where
the truth is not known. A decision tuple is written with one character per juror, or with commas: "yes,no,yes".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from jurors.errors import VotesError
from jurors.options import Label
from jurors.votes.codes import ordered_labels
from jurors.votes.readers.base import Files, Node, shorten_value
from jurors.votes.table import Votes

TITLE = "file of decision counts (by true label, where it is known)"
_NAMED = re.compile(rb'"(?:by_true_label|observed)"\s*:\s*[{\[]')
_BARE = re.compile(rb'\[?\s*\{\s*"(?:[^"]"\s*:\s*\{\s*"[^",]{2,}|[^"]+"\s*:\s*\{\s*"[^",]+,[^"]+)"\s*:\s*\d+\s*[,}]')


def recognises(files: Files) -> bool:
    """Whether the file begins with counts by true label; a record per line, {"q": {"id": 7}, …}, may look alike."""
    head = files.head()
    if len(files.paths) != 1 or files.holds_lines():
        return False
    return _NAMED.search(head) is not None or _BARE.match(head.lstrip()) is not None


def read(files: Files) -> Votes:
    """The counts, summed over the true labels (and over the experiments, where there are several)."""
    return by_true_label(files.document().value)[0]


def by_true_label(document: Any) -> tuple[Votes, list[Label | None]]:
    """Counts of decision tuples, and the true label of each row (None where it is not known).

    >>> votes, truth = by_true_label({"a": {"aab": 2, "abb": 1}, "b": {"aab": 3}})
    >>> votes.total, votes.counts.tolist(), truth
    (6, [2, 1, 3], ['a', 'a', 'b'])
    """
    parts = [(label, key, count) for one in experiments(document) for label, key, count in _entries(one)]
    if not parts:
        raise VotesError("there are no counts in this file")
    named = document if isinstance(document, Mapping) else {}
    for part in ("jurors", "labels"):
        names = named.get(part, [])
        if not isinstance(names, list) or not all(isinstance(name, (str, int)) for name in names):
            raise VotesError(f'"{part}" must be a list of names, found {shorten_value(names)}')
        for name in names:
            Node(name, path=part).single()
    rows = [tuple(key.split(",")) if "," in key else tuple(key) for _, key, _ in parts]
    jurors = _jurors(named.get("jurors"), rows)
    said = {value for row in rows for value in row} | {label for label, _, _ in parts if label is not None}
    labels = tuple(map(str, named["labels"])) if "labels" in named else ordered_labels(said)
    if strangers := sorted(said - set(labels)):
        raise VotesError(
            f"label {strangers[0]!r} is counted, but is not among the labels {', '.join(map(str, labels))}"
        )
    place = {label: k for k, label in enumerate(labels)}
    codes = np.array([[place[value] for value in row] for row in rows])
    votes = Votes.from_matrix(codes, jurors=jurors, labels=labels, counts=[count for _, _, count in parts])
    return votes, [label for label, _, _ in parts]


def experiments(document: Any) -> list[Any]:
    """Each experiment of the file: a mapping from true label to counts by decision tuple."""
    if isinstance(document, list):
        return document
    if not isinstance(document, Mapping):
        raise VotesError(f"counts by true label are a JSON object, not {shorten_value(document)}")
    part = document.get("by_true_label", document.get("observed", document))
    if isinstance(part, list):
        return part
    return [part if part is not document.get("observed") else {None: part}]


def _entries(experiment: Any) -> Iterator[tuple[Label | None, str, int]]:
    if not isinstance(experiment, Mapping):
        raise VotesError(f"an experiment maps each true label to counts, found {shorten_value(experiment)}")
    for label, counts in experiment.items():
        Node(label, path="the true label").single()
        if not isinstance(counts, Mapping):
            raise VotesError(f"the counts of true label {label!r} must be an object, found {shorten_value(counts)}")
        for key, count in Node(counts).entries():
            if type(count.value) is not int or count.value < 0:
                raise VotesError(
                    f"the count of {key!r} must be a whole number, 0 or more; found {shorten_value(count.value)}"
                )
            yield label, key, count.value


def _jurors(names: Any, rows: list[tuple[str, ...]]) -> list[str] | None:
    width = len(rows[0]) if names is None else len(names)
    for row in rows:
        if len(row) != width:
            key = "".join(row) if all(len(value) == 1 for value in row) else ",".join(row)
            raise VotesError(f"decision tuple {key!r} has {len(row)} decisions, but there are {width} jurors")
    return None if names is None else [str(name) for name in names]
