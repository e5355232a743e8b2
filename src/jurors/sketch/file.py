"""Sketch files: counts of decision tuples as one JSON document; equal counts give equal bytes.

    {"format": "jurors sketch", "version": 1, "items": 1000,
     "jurors": ["ann", "bob", "cy"], "labels": ["fail", "pass"],
     "decisions": ["00001111", "00110011", "01010101"],
     "counts": [97, 79, 23, 66, 56, 143, 40, 496],
     "checksum": "sha256:…"}

"decisions" has one text per juror: the position in "labels" of its vote on each tuple, in as many digits as the last
position has, and points for no vote. The third tuple above is (fail, pass, fail), seen on 23 items. "scale" is
"nominal", "ordinal" (the lowest label first) or "interval" where the user gave it; else it is detected from the counts,
as when they were made. Where most votes are missing, "votes" has how many jurors voted on each tuple, "voters" which
(positions in "jurors", tuple after tuple), and "decisions" is one text of their votes. Where "abstentions" is true, the
position after the last label is abstaining, which is no label. No item is named: a sketch can be shared where the votes
cannot.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from jurors.errors import VotesError
from jurors.options import KnownScale
from jurors.sketch.sketch import merge_votes
from jurors.versions import SKETCH
from jurors.votes.codes import NO_VOTE, python_value
from jurors.votes.readers.base import Files, shorten_value
from jurors.votes.scale import detect_scale
from jurors.votes.table import ABSTAINED, Votes, abstentions_as_label, group_rows, label_as_abstentions

TITLE = "sketch file"
FORMAT = "jurors sketch"
_MARK = re.compile(rb'"format"\s*:\s*"jurors sketch"')
_PARTS = ("items", "jurors", "labels", "decisions", "counts", "checksum")
_AGAIN = "count the votes again with `jurors convert`"
_POINT, _ZERO = ord("."), ord("0")
Whole: TypeAlias = NDArray[np.int64]
Triples: TypeAlias = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def recognises(files: Files) -> bool:
    """Whether any of these is a sketch file; `read` names one that is not."""
    return any(is_sketch_head(files.head(path)) for path in files.paths)


def is_sketch_head(head: bytes) -> bool:
    """Whether a file that begins so is a sketch file."""
    return head.lstrip()[:1] == b"{" and _MARK.search(head) is not None


def read(files: Files) -> Votes:
    """The counts of a sketch file; of several, added up. VotesError where one is none, or is there twice."""
    advice = "count the votes and merge the sketches with `jurors convert`"
    ours = files.own(lambda path: is_sketch_head(files.head(path)), TITLE, tables=False, otherwise=advice)
    parts, known = [], dict[str, Path]()
    for path in ours or files.paths:
        document = files.document(path).value
        try:
            parts.append((path.name, from_document(document)))
        except VotesError as error:
            raise error.after(files.name(path)) from None
        first = known.setdefault(document["checksum"], path)
        if first is not path:
            raise VotesError(
                f"{files.name(path)}the same counts are in {first.name}; name the file once, or add them up with "
                "`Sketch.merge` in Python if they are different items"
            )
    return parts[0][1] if len(parts) == 1 else merge_votes(parts)


# -- out ------------------------------------------------------------------------------------------------------


def to_document(votes: Votes) -> dict[str, Any]:
    """The counts of some votes as a JSON document, whatever the order of their rows.

    >>> votes = Votes.from_matrix([["b", "a"], ["a", None], ["b", "a"]], jurors=("ann", "bob"))
    >>> document = to_document(votes)
    >>> document["decisions"], document["counts"], document["checksum"][:13]
    (['01', '.0'], [1, 2], 'sha256:84cc86')
    """
    for label in votes.labels:
        _check_label(python_value(label))
    document = {
        "format": FORMAT,
        "version": SKETCH,
        "items": votes.total,
        "jurors": list(votes.jurors),
        "labels": [python_value(label) for label in votes.labels],
        **({"scale": votes.scale} if votes.scale_told else {}),
        **({} if votes.abstained is None else {"abstentions": True}),
        **_canonical(abstentions_as_label(votes)),
    }
    return {**document, "checksum": _checksum(document)}


def text_of(votes: Votes) -> str:
    """The text of a sketch file of some votes."""
    return to_text(to_document(votes))


def to_text(document: Mapping[str, Any]) -> str:
    """The document as JSON, one part per line."""
    lines = [f" {json.dumps(part)}: {_compact(value, ascii=False)}" for part, value in document.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _checksum(document: Mapping[str, Any]) -> str:
    """SHA-256 of the parts in alphabetic order, without blanks, in ASCII: reformatting the file changes nothing."""
    digest = hashlib.sha256()
    for part in sorted(document):
        if part != "checksum":
            digest.update(f"{json.dumps(part)}:{_compact(document[part], ascii=True)}\n".encode())
    return f"sha256:{digest.hexdigest()}"


def _compact(value: Any, *, ascii: bool) -> str:
    return json.dumps(value, ensure_ascii=ascii, separators=(",", ":"))


def _canonical(votes: Votes) -> dict[str, Any]:
    """The distinct tuples in a fixed order, with or without the voters named: whichever takes less."""
    counts = votes.weights
    labels, width = len(votes.labels), len(votes.jurors)
    if votes.is_dense:
        rows, sizes = group_rows(votes.codes[counts > 0], counts[counts > 0])
        at, col = np.nonzero(rows >= 0)
        triples: Triples = at, col, rows[at, col]
    else:
        triples, sizes = _by_length(votes.triples(), counts, labels)
    if 5 * len(triples[0]) < len(sizes) * width:  # a voter's position takes some four characters more than a point
        triples, sizes = _by_length(triples, sizes, labels)
        return {
            "votes": np.bincount(triples[0], minlength=len(sizes)).tolist(),
            "voters": triples[1].tolist(),
            "decisions": _digits(triples[2], labels),
            "counts": sizes.tolist(),
        }
    if not votes.is_dense:  # of sparse rows few may be distinct
        rows = np.full((len(sizes), width), NO_VOTE, dtype=np.int64)
        rows[triples[0], triples[1]] = triples[2]
        rows, sizes = group_rows(rows, sizes)
    return {"decisions": [_digits(column, labels) for column in rows.T], "counts": sizes.tolist()}


def _by_length(triples: Triples, counts: Whole, labels: int) -> tuple[Triples, Whole]:
    """The distinct tuples by their number of votes, then by jurors and labels, as triples; and their counts."""
    at, col, code = triples
    base = max(labels, 1)
    key = col.astype(np.int64) * base + code
    length = np.bincount(at, minlength=len(counts))
    start = np.cumsum(length) - length
    keys, lengths, sizes = ([np.zeros(0, dtype=np.int64)] for _ in range(3))
    for votes in np.unique(length[counts > 0]).tolist():
        where = np.flatnonzero((length == votes) & (counts > 0))
        rows, repeats = group_rows(key[start[where, None] + np.arange(votes)], counts[where])
        keys.append(rows.ravel())
        lengths.append(np.full(len(rows), votes))
        sizes.append(repeats)
    flat, cast = np.concatenate(keys), np.concatenate(lengths)
    return (np.repeat(np.arange(len(cast)), cast), flat // base, flat % base), np.concatenate(sizes)


def _digits(codes: NDArray[Any], labels: int) -> str:
    """Positions as digits of equal number, points for no vote.

    >>> _digits(np.array([3, -1, 11]), 12)
    '03..11'
    """
    digits = _width(labels)
    text = np.empty((len(codes), digits), dtype=np.uint8)
    for place in range(digits):
        text[:, digits - 1 - place] = codes // 10**place % 10 + _ZERO
    text[codes < 0] = _POINT
    return text.tobytes().decode("ascii")


def _width(labels: int) -> int:
    return len(str(max(labels - 1, 0)))


# -- in -------------------------------------------------------------------------------------------------------


def from_document(document: Any) -> Votes:
    """The counts in a sketch document; VotesError with the reason in one line where it is invalid.

    >>> from_document(to_document(Votes.from_matrix([["b", "a"], ["b", "a"]]))).counts.tolist()
    [2]
    """
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise VotesError(
            'this is not a sketch file (it has no "format": "jurors sketch"); make one with `jurors convert`'
        )
    version = document.get("version")
    if type(version) is not int or version < 1:
        raise VotesError(f'"version" must be a whole number from 1, found {shorten_value(version)}; {_AGAIN}')
    if version > SKETCH:
        raise VotesError(
            f"written by a newer jurors (version {shorten_value(version)}); update jurors (pip install -U jurors)"
        )
    for part in _PARTS:
        _require(part in document, f'"{part}" is missing from this sketch file')
    jurors = _distinct(document, "jurors", (str,))
    labels = _distinct(document, "labels", (str, int, float, bool))
    counts = _numbers(document, "counts", "a count")
    items = sum(counts.tolist())
    is_sum = type(document["items"]) is int and document["items"] == items
    _require(is_sum, f'"items" is {shorten_value(document["items"])}, but the counts add up to {items:,}')
    scale, scales = document.get("scale", "nominal"), get_args(KnownScale)
    _require(scale in scales, f'"scale" must be one of {", ".join(scales)}, found {shorten_value(scale)}')
    why = "the sketch file says so" if "scale" in document else ""
    abstentions = document.get("abstentions", False)
    _require(abstentions in (True, False), f'"abstentions" must be true or false, found {shorten_value(abstentions)}')
    answers = (*labels, ABSTAINED) if abstentions else labels
    bare = Votes(
        jurors=jurors, labels=answers, rows=len(counts), counts=counts, scale=scale, scale_why=why, scale_told=bool(why)
    )
    if "voters" in document:
        voted, col = _numbers(document, "votes", "a number of votes"), _numbers(document, "voters", "a position")
        fits = len(voted) == bare.rows and voted.sum() == len(col) and col.max(initial=-1) < len(jurors)
        _require(fits, '"votes", "voters" and "counts" are inconsistent')
        row = np.repeat(np.arange(bare.rows), voted)
        is_sorted = not ((row[1:] == row[:-1]) & (col[1:] <= col[:-1])).any()
        _require(is_sorted, '"voters" are not in order, or a juror is named twice')
        code = _codes(document["decisions"], len(col), len(answers))
        _require(not (code < 0).any(), '"decisions" has no decision for one of the voters')
        votes = bare._with_triples(row, col, code)
    else:
        texts = document["decisions"]
        fits = isinstance(texts, list) and len(texts) == len(jurors)
        _require(fits, f'"decisions" must be a list with one string for each of {len(jurors)} jurors')
        columns = [_codes(text, bare.rows, len(answers)) for text in texts]
        matrix = np.column_stack(columns) if columns else np.zeros((bare.rows, 0), dtype=np.int64)
        votes = replace(bare, _dense=Votes.from_matrix(matrix, jurors=jurors, labels=answers, scale=None).codes)
    if _checksum(document) != document["checksum"]:
        message = f"the checksum does not match: the file was changed or damaged after it was written; {_AGAIN}"
        raise VotesError(message, code="damaged")
    return label_as_abstentions(votes) if why else detect_scale(label_as_abstentions(votes))


def _require(holds: bool, problem: str) -> None:
    """VotesError where a part of a sketch file is not what it must be."""
    if not holds:
        raise VotesError(f"{problem}; {_AGAIN}")


def _list(document: Mapping[str, Any], part: str) -> list[Any]:
    values = document.get(part)
    _require(isinstance(values, list), f'"{part}" must be a list, found {shorten_value(values)}')
    return values  # type: ignore[return-value]


def _distinct(document: Mapping[str, Any], part: str, kinds: tuple[type, ...]) -> tuple[Any, ...]:
    values = _list(document, part)
    for value in values:
        if type(value) not in kinds:
            raise VotesError(f'"{part}" contains {shorten_value(value)}, which is not a {part[:-1]}; {_AGAIN}')
        _check_label(value)
    if len({(isinstance(value, bool), value) for value in values}) < len(values):
        twice = next(value for value in values if values.count(value) > 1)
        raise VotesError(f'"{part}" names {shorten_value(twice)} twice; {_AGAIN}')
    return tuple(values)


def _check_label(label: Any) -> None:
    if type(label) not in (str, int, float, bool) or (isinstance(label, float) and not math.isfinite(label)):
        raise VotesError(
            f"label {shorten_value(label)} cannot be stored in a sketch file; labels are text, finite "
            "numbers, true and false"
        )


def _numbers(document: Mapping[str, Any], part: str, what: str) -> Whole:
    """A list of whole numbers, none of them negative, whose sum is still a number to compute with."""
    values = _list(document, part)
    if not set(map(type, values)) <= {int} or min(values, default=0) < 0:
        at, value = next((k, v) for k, v in enumerate(values, 1) if type(v) is not int or v < 0)
        must = "not be negative" if type(value) is int else "be a whole number"
        raise VotesError(f'"{part}": {what} must {must}, number {at} is {shorten_value(value)}; {_AGAIN}')
    _require(sum(values) < 1 << 63, f'"{part}" adds up to {shorten_value(sum(values))}, more than 2^63')
    return np.array(values, dtype=np.int64)


def _codes(text: Any, votes: int, labels: int) -> Whole:
    """The inverse of `_digits`."""
    digits = _width(labels)
    is_text = isinstance(text, str) and text.isascii()
    _require(is_text, f'"decisions" must be strings of digits and points, found {shorten_value(text)}')
    size = votes * digits
    _require(len(text) == size, f'a string of "decisions" has {len(text):,} characters instead of {size:,}')
    cells = np.frombuffer(text.encode("ascii"), dtype=np.uint8).reshape(votes, digits).astype(np.int64) - _ZERO
    absent = (cells == _POINT - _ZERO).all(axis=1)
    code = cells @ 10 ** np.arange(digits)[::-1]
    code[absent] = NO_VOTE
    if (wrong := ~absent & (((cells < 0) | (cells > 9)).any(axis=1) | (code >= labels))).any():
        at = int(np.argmax(wrong))
        cell = text[at * digits : (at + 1) * digits]
        raise VotesError(f'"decisions" contains {cell!r}, but labels are numbered from 0 to {labels - 1}; {_AGAIN}')
    return code
