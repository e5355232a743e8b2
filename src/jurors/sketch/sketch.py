"""`Sketch`: how often each decision tuple was seen. Small, mergeable, private, and all that grading needs.

`count_votes` counts votes, `merge_votes` adds counts of the same jurors and labels, matched by name. The other modules
of the package read and write sketches (`count`, `engines`, `file`) or sum over them (`pairs`, `moments`,
`connectivity`).
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from jurors._numeric import Integers, row_keys, unique_rows
from jurors.errors import SketchError, VotesError, format_first_names, format_names
from jurors.options import Label, Reading, TableOptions
from jurors.votes.codes import checked_counts, is_missing, ordered_labels, python_value
from jurors.votes.findings import repeated_rows
from jurors.votes.scale import detect_scale
from jurors.votes.table import (
    ABSTAINED,
    Votes,
    abstentions_as_label,
    concatenate_repeats,
    label_as_abstentions,
    recode_labels,
    with_findings,
)


def merge_votes(parts: Sequence[tuple[str, Votes]]) -> Votes:
    """One table of counts from several.

    Parameters
    ----------
    parts
        Votes, each with the name that a message calls it by.

    Returns
    -------
    Votes
        The rows of all parts, with the jurors of the first.

    Raises
    ------
    SketchError
        The jurors, labels or scales differ.

    Examples
    --------
    >>> monday = Votes.from_matrix([["a", "b"]], jurors=("ann", "bob"))
    >>> tuesday = Votes.from_matrix([["b", "b"], ["a", "b"]], jurors=("bob", "ann"))
    >>> merge_votes([("monday", monday), ("tuesday", tuesday)]).codes.tolist()
    [[0, 1], [1, 1], [1, 0]]
    """
    with_scale = [(name, votes) for name, votes in parts if votes.scale_told]
    name, first = (with_scale or parts)[0]
    for other, votes in parts:
        if votes is first:
            continue
        check_same(name, first.jurors, other, votes.jurors, "jurors")
        check_same(name, first.labels, other, votes.labels, "labels")
    for other, votes in with_scale[1:]:
        if first.scale != votes.scale:
            held = f"{name} has {first.scale} votes and {other} has {votes.scale} votes"
            hint = f"count both the same way (scale={first.scale!r})"
            raise SketchError(f"cannot merge sketches of different scales: {held}; {hint}")
        shared = [label for label in votes.labels if label in first.labels]
        if first.scale == "ordinal" and shared != [label for label in first.labels if label in shared]:
            hint = "count both with the levels in one order (labels=)"
            raise SketchError(f"cannot merge sketches: the levels of {name} and {other} differ in order; {hint}")
    labels = first.labels
    aligned = [votes if votes.jurors == first.jurors else votes.take(first.jurors) for _, votes in parts]
    aligned = [votes if votes.labels == labels else recode_labels(votes, labels) for votes in aligned]
    if any(votes.abstained is not None for votes in aligned):
        labels = (*labels, ABSTAINED)
        aligned = [replace(abstentions_as_label(votes), labels=labels) for votes in aligned]
    counts = np.concatenate([v.weights for v in aligned])
    findings = tuple(dict.fromkeys(finding for _, votes in parts for finding in votes.findings))
    starts = np.cumsum([0, *(votes.rows for votes in aligned)])
    merged = Votes(
        jurors=first.jurors,
        labels=labels,
        rows=len(counts),
        counts=counts,
        findings=findings,
        labels_told=all(votes.labels_told for _, votes in parts),
        scale=first.scale,
        scale_why=first.scale_why,
        scale_told=first.scale_told,
        repeats=concatenate_repeats([(int(at), votes.repeats) for at, votes in zip(starts, aligned, strict=False)]),
    )
    if all(votes.is_dense for votes in aligned):
        merged = replace(merged, _dense=np.concatenate([votes.codes for votes in aligned]))
    else:
        triples = [votes.triples() for votes in aligned]
        row = np.concatenate([row + start for (row, _, _), start in zip(triples, starts, strict=False)])
        col, code = (np.concatenate([triple[k] for triple in triples]) for k in (1, 2))
        merged = merged._with_triples(row, col, code)
    merged = label_as_abstentions(merged)
    return merged if merged.scale_told else detect_scale(merged)  # one part alone may show too little of the scale


def check_same(name: str, left: Sequence[Any], other: str, right: Sequence[Any], what: str) -> None:
    """SketchError names what only one of two has."""

    def lacking(values: Sequence[Any], others: Sequence[Any]) -> list[Any]:
        known = set(map(_identity, others))
        return sorted((value for value in values if _identity(value) not in known), key=str)

    only_left, only_right = lacking(left, right), lacking(right, left)
    if not only_left and not only_right:
        return
    alike = {str(value) for value in only_left} & {str(value) for value in only_right}
    shown = repr if alike or any(not str(v).strip() for v in (*only_left, *only_right)) else str
    differences = [
        f"only in {where}: {format_first_names(map(shown, values), 8)}"
        for where, values in ((name, only_left), (other, only_right))
        if values
    ]
    hint = "" if what == "jurors" else "; name all labels when counting with labels="
    if alike:
        hint = "; text and numbers are different labels: count both from the same kind of file"
    raise SketchError(f"cannot merge sketches of different {what}: {'; '.join(differences)}{hint}")


def _identity(value: Any) -> tuple[bool, Any]:
    """True and 1 are equal to Python, but as labels they are two."""
    return isinstance(value, bool), value


@dataclass(frozen=True, eq=False)
class Sketch:
    """Counts of decision tuples: for each combination of the jurors' votes, on how many items it was seen.

    Examples
    --------
    >>> sketch = Sketch.from_counts({"AAB": 3, "ABB": 2}, jurors=("ann", "bob", "cy"))
    >>> sketch["A", "A", "B"], sketch.items
    (3, 5)
    >>> (sketch + sketch)["A", "A", "B"]
    6
    >>> sketch.take(["cy", "ann"]).to_counts()
    {('B', 'A'): 5}
    """

    tuples: Votes  #: one row per distinct decision tuple, `tuples.counts` items each, in a fixed order

    # -- in -----------------------------------------------------------------------------------------

    @classmethod
    def from_votes(cls, votes: Votes) -> Sketch:
        """Count the decision tuples of some votes."""
        return count_votes(votes)[0]

    @classmethod
    def from_counts(
        cls, counts: Mapping[Any, int], *, jurors: Sequence[str] | None = None, labels: Sequence[Label] | None = None
    ) -> Sketch:
        """Make a sketch from counts by decision tuple. Write a tuple as "AAB" if every label is one character.

        Raises
        ------
        SketchError
            Tuples differ in length, or hold a label that is not among `labels`.
        """
        if not counts and (jurors is None or labels is None):
            raise SketchError("an empty mapping of counts needs jurors= and labels=")
        rows = [tuple(key) for key in counts]
        width = len(rows[0]) if jurors is None else len(jurors)
        for key, row in zip(counts, rows, strict=True):
            if len(row) != width:
                raise SketchError(f"decision tuple {key!r} has {len(row)} decisions, the others have {width}")
        cells = [python_value(value) for row in rows for value in row]
        are_given = labels is not None
        if labels is None:  # the cells are the labels themselves, even where they are negative numbers
            labels = ordered_labels(value for value in cells if not is_missing(value))
        places = {label: k for k, label in enumerate(labels)}
        if unknown := [value for value in cells if not is_missing(value) and value not in places]:
            raise SketchError(f"label {unknown[0]!r} is not among the labels {', '.join(map(str, labels))}")
        flat = [-1 if is_missing(value) else places[value] for value in cells]
        codes = np.array(flat, dtype=np.int64).reshape(len(rows), width)
        sizes = checked_counts(list(counts.values()), "counts")
        votes = Votes.from_matrix(
            codes, jurors=jurors, labels=labels, counts=sizes, scale="auto" if are_given else None
        )
        return cls.from_votes(votes if are_given else detect_scale(votes))

    @classmethod
    def from_frame(cls, frame: Any, **table: Unpack[TableOptions]) -> Sketch:
        """Count the votes of a dataframe in the engine that holds them; options as in `read_votes`.

        pandas, polars (also lazy), pyarrow, DuckDB, Dask, Spark, Ibis, Arrow streams: only counts come back.

        >>> import duckdb
        >>> relation = duckdb.sql("FROM (VALUES ('yes', 'no'), ('yes', 'no'), ('no', NULL)) votes(ann, bob)")
        >>> Sketch.from_frame(relation).to_counts()
        {('no', None): 1, ('yes', 'no'): 2}
        """
        from jurors.sketch.engines import count_frame

        return count_frame(frame, Reading.of(table, TableOptions))

    @classmethod
    def from_table(cls, table: Any, *, jurors: Sequence[str] | None = None, labels: Sequence[Label]) -> Sketch:
        """Make a sketch from an array with one axis per juror: `table[a, b, c]` items have the votes a, b and c."""
        array = np.asarray(table)
        size = len(labels)
        if any(side != size for side in array.shape):
            raise SketchError(f"{size} labels need every side of the table to be {size}, got {array.shape}")
        codes = np.array(list(itertools.product(range(size), repeat=array.ndim)))
        counts = checked_counts(array.ravel(), "counts")
        return cls.from_votes(Votes.from_matrix(codes, jurors=jurors, labels=labels, counts=counts))

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Sketch:
        """The inverse of `to_dict`. A wrong checksum is refused."""
        from jurors.sketch.file import from_document

        return cls.from_votes(from_document(document))

    @classmethod
    def from_json(cls, text: str) -> Sketch:
        """The inverse of `to_json`."""
        from jurors.votes.readers.base import parse_json

        return cls.from_dict(parse_json(text.encode("utf-8", "surrogatepass")))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Sketch:
        """The inverse of `to_file`: a sketch file, also gzipped."""
        from jurors.sketch.file import read
        from jurors.votes.readers.base import Files

        if not (file := Path(path)).is_file():
            raise VotesError("there is no such file", code="no_file").in_file(str(path))
        try:
            return cls.from_votes(read(Files((file,), file.parent)))
        except VotesError as error:
            raise error.in_file(str(path)) from None

    @classmethod
    def merge(cls, sketches: Sequence[Sketch]) -> Sketch:
        """Add up sketches of the same jurors.

        Parameters
        ----------
        sketches
            At least one.

        Raises
        ------
        SketchError
            The jurors, labels or scales differ.
        """
        if not sketches:
            raise SketchError("merge needs at least one sketch")
        ordinals = ("the first", "the second", *(f"sketch {k}" for k in range(3, len(sketches) + 1)))
        parts = [(name, sketch.tuples) for name, sketch in zip(ordinals, sketches, strict=False)]
        return cls.from_votes(merge_votes(parts))

    # -- what is there --------------------------------------------------------------------------------

    @property
    def jurors(self) -> tuple[str, ...]:
        """The jurors' names."""
        return self.tuples.jurors

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels, in a fixed order."""
        return self.tuples.labels

    @property
    def counts(self) -> Integers:
        """How many items each row of `tuples` represents."""
        return self.tuples.weights

    @cached_property
    def items(self) -> int:
        """How many items were counted."""
        return self.tuples.total

    @cached_property
    def cast(self) -> Integers:
        """How many jurors voted on each tuple."""
        if self.tuples.is_dense:
            return np.asarray((self.tuples.codes >= 0).sum(axis=1), dtype=np.int64)
        return np.bincount(self.tuples.triples()[0], minlength=self.tuples.rows).astype(np.int64)

    @cached_property
    def is_complete(self) -> bool:
        """Whether every juror voted on every item."""
        return self.tuples.n_votes == self.tuples.rows * len(self.jurors)

    def decisions(self) -> list[tuple[Label | None, ...]]:
        """The distinct decision tuples, None for no vote, in row order."""
        names = np.array([*self.labels, None], dtype=object)
        return [tuple(row) for row in names[self.tuples.codes].tolist()]

    def __getitem__(self, decisions: Iterable[Label | None]) -> int:
        return self.to_counts().get(tuple(decisions), 0)

    def table(self) -> Integers:
        """The counts as an array with one axis per juror; SketchError if votes are missing or cells are too many."""
        return self._table.copy()

    @cached_property
    def _table(self) -> Integers:
        if not self.is_complete:
            raise SketchError("some votes are missing; keep the complete items only with sketch.complete()")
        size, width = len(self.labels), len(self.jurors)
        if size**width > 1 << 26:
            raise SketchError(f"{size}^{width} cells are too many for a table")
        table = np.zeros(size**width, dtype=np.int64)
        np.add.at(table, row_keys(self.tuples.codes, size), self.counts)  # a sparse sketch may repeat a tuple
        return table.reshape((size,) * width)

    # -- other shapes -----------------------------------------------------------------------------------

    def take(self, jurors: Sequence[str]) -> Sketch:
        """Only these jurors, in this order: the counts summed over the others' votes."""
        return count_votes(self.tuples.take(jurors))[0]

    def complete(self) -> Sketch:
        """Only the items on which every juror voted."""
        if self.is_complete:
            return self
        is_full = self.cast == len(self.jurors)
        row, _, code = self.tuples.triples()  # sorted by row, then juror
        codes = code[is_full[row]].reshape(-1, len(self.jurors))
        tuples = replace(self.tuples, rows=len(codes), counts=self.counts[is_full], abstained=None, repeats=None)
        return Sketch(replace(tuples, _dense=codes, _sparse=None))

    def relabel(self, names: Mapping[Label, Label]) -> Sketch:
        """The same counts with labels renamed; other labels stay."""
        renamed = self.tuples.relabel(names)
        labels = tuple(renamed.labels if renamed.scale == "ordinal" else ordered_labels(renamed.labels))
        return Sketch(renamed) if labels == renamed.labels else count_votes(recode_labels(renamed, labels))[0]

    def rename(self, names: Mapping[str, str]) -> Sketch:
        """The same counts with jurors renamed; other jurors stay."""
        renamed = tuple(names.get(juror, juror) for juror in self.jurors)
        if len(set(renamed)) < len(renamed):
            raise SketchError(f"two jurors would share a name: {', '.join(renamed)}")
        return Sketch(replace(self.tuples, jurors=renamed))

    def __add__(self, other: Sketch) -> Sketch:
        if not isinstance(other, Sketch):
            return NotImplemented
        return Sketch.merge((self, other))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sketch):
            return NotImplemented
        return (
            self.jurors == other.jurors
            and self.tuples.scale == other.tuples.scale
            and set(self.labels) == set(other.labels)
            and self._answers().to_counts() == other._answers().to_counts()
        )

    __hash__ = None  # type: ignore[assignment]

    def _answers(self) -> Sketch:
        """With abstaining as one more label: itself where there are no abstentions."""
        return self if self.tuples.abstained is None else Sketch(abstentions_as_label(self.tuples))

    # -- out --------------------------------------------------------------------------------------------

    def to_counts(self) -> dict[tuple[Label | None, ...], int]:
        """Counts by decision tuple; tuples with count 0 are left out."""
        counts: dict[tuple[Label | None, ...], int] = {}
        for decisions, count in zip(self.decisions(), self.counts.tolist(), strict=True):
            if count:  # a sparse sketch may hold a tuple more than once
                counts[decisions] = counts.get(decisions, 0) + count
        return counts

    def to_dict(self) -> dict[str, Any]:
        """The sketch as a JSON document, versioned and with a checksum; equal sketches give equal documents.

        >>> document = Sketch.from_counts({"AB": 3, "BB": 2}, jurors=("ann", "bob")).to_dict()
        >>> document["labels"], document["decisions"], document["counts"]
        (['A', 'B'], ['01', '11'], [3, 2])
        """
        from jurors.sketch.file import to_document

        return to_document(self.tuples)

    def to_json(self) -> str:
        """The text of a sketch file."""
        from jurors.sketch.file import to_text

        return to_text(self.to_dict())

    def to_file(self, path: str | os.PathLike[str]) -> None:
        """Write a sketch file, gzipped if its name ends in .gz. `from_file` and every command read it."""
        from jurors._files import atomic_write

        atomic_write(Path(path), self.to_json())

    def to_frame(self) -> Any:
        """A dataframe in the counts layout: one column per juror, and `count`."""
        return replace(self.tuples, counts=self.counts).to_frame()

    def __repr__(self) -> str:
        shown = format_names(self.labels, 6)
        return f"Sketch({self.items:,} items, {len(self.jurors)} jurors, {self.tuples.rows:,} tuples, labels {shown})"

    def _repr_html_(self) -> str:
        commonest = np.argsort(-self.counts, kind="stable")[:10]
        return replace(self.tuples, counts=self.counts).head(commonest, repr(self)).to_html()


def count_votes(votes: Votes) -> tuple[Sketch, Integers]:
    """Count the decision tuples of some votes.

    Sparse votes stay one row per item: with many jurors hardly two items share a tuple.

    Returns
    -------
    tuple
        The sketch, and for each row of the votes the row of its tuple in the sketch.
    """
    weights = votes.counts
    if votes.abstained is not None and votes.is_dense:  # abstentions are part of the tuple
        counted, places = count_votes(abstentions_as_label(votes))
        return Sketch(label_as_abstentions(counted.tuples)), places
    if not votes.is_dense or not len(votes.jurors):
        return Sketch(replace(votes, items=None, counts=votes.weights, confidence=None)), np.arange(votes.rows)
    distinct, inverse, sizes = unique_rows(votes.codes, len(votes.labels))
    # bincount with weights would round above 2^53, so counts are added as integers.
    if weights is not None:
        sizes = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(sizes, inverse, weights)
    repeats = None if votes.repeats is None else votes.repeats.counted(inverse)
    tuples = replace(
        votes, rows=len(distinct), items=None, counts=sizes, repeats=repeats, confidence=None,
        _dense=distinct, _sparse=None,
    )  # fmt: skip
    if weights is None:  # later it is unknown whether these are counts of rows
        tuples = with_findings(tuples, list(repeated_rows(tuples)))
    return Sketch(tuples), inverse
