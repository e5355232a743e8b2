"""Numbers from whatever votes are read from: each distinct label is taken for a number, or named as none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Unpack, cast

import numpy as np

from jurors.errors import OptionError, VotesError
from jurors.evaluate.alarm import Alarm
from jurors.options import ReadingOptions, SourceOptions, TableOptions, check_applies, names_of
from jurors.values.numbers_table import Numbers
from jurors.values.repeated_numbers import with_means
from jurors.votes import Votes, read_votes, votes_from_frame
from jurors.votes.files.locate import are_files
from jurors.votes.findings.about_scale import scale_taken
from jurors.votes.findings.about_words import similar_names
from jurors.votes.findings.repeats import repeated_rows
from jurors.votes.frame import is_frame
from jurors.votes.scales.numerals import numerals

_MOST_ITEMS = 10_000_000


def read_numbers(source: Any, **reading: Unpack[SourceOptions]) -> Numbers:
    r"""Read jurors' numbers: ratings, scores, probabilities, measurements.

    Parameters
    ----------
    source
        Whatever `read_votes` takes (a path, several, a file object), long or wide; a dataframe; a matrix of items x
        jurors, NaN where none was given; `Votes`; or `Numbers`. Options are those of `read_votes`; of a matrix `items`
        and `jurors`. Decimal commas are understood, where they can be nothing else, and per cent where all have it.

    Raises
    ------
    VotesError
        In one line: which cell is no number, and what to do.

    Examples
    --------
    >>> import io
    >>> read_numbers(io.StringIO("item;ann;bob;cy\n1;0,5;0,25;1\n2;1,5;;0,75\n"))
    Numbers(2 items, 3 jurors, 5 numbers from 0.25 to 1.5)
    """
    if isinstance(source, (Numbers, Votes)):
        check_applies(reading, (), "numbers that are read already")
        return source if isinstance(source, Numbers) else numbers_of(source)
    is_files = are_files(source)
    if not is_files and isinstance(source, (np.ndarray, list, tuple)):
        check_applies(reading, ("items", "jurors"), "a matrix of numbers")
        return Numbers.from_matrix(source, items=reading.get("items"), jurors=reading.get("jurors"))
    given: dict[str, Any] = {name: value for name, value in reading.items() if value is not None}
    if given.get("scale", "interval") not in ("auto", "interval"):
        raise OptionError("only votes on the scale 'interval' are numbers", code="does_not_apply", name="scale")
    given["scale"] = "nominal"  # what is no number is told here, with its place
    if not is_files and not isinstance(source, (str, Path)) and is_frame(source):
        check_applies(reading, names_of(TableOptions), "a dataframe")
        return numbers_of(votes_from_frame(source, **cast(TableOptions, given)))
    check_applies(reading, names_of(ReadingOptions), "files")
    return numbers_of(read_votes(source, **cast(ReadingOptions, given)))


def numbers_of(votes: Votes) -> Numbers:
    """The numbers in votes whose labels are numbers."""
    texts, remarks = _texts(votes)
    codes, items = votes.codes.astype(np.int64), votes.item_names()
    again = None
    if votes.repeats is not None:
        texts, codes, again = with_means(texts, codes, votes.repeats, is_counted=votes.counts is not None)
        remarks = (*remarks, "of numbers that a juror gave an item several times the mean is taken")
    if votes.counts is not None:
        if votes.total > _MOST_ITEMS:
            message = f"{votes.total:,} items are too many to be told apart; give a part of them"
            raise VotesError(message, code="too_large", given=votes.total, needed=_MOST_ITEMS)
        codes, items = np.repeat(codes, votes.counts, axis=0), np.arange(votes.total)
    recognised = {"scale_why": votes.scale_why} if votes.scale == "interval" and votes.scale_why else {}
    return Numbers(
        items=items,
        jurors=votes.jurors,
        distinct=tuple(texts),
        codes=codes,
        remarks=remarks,
        again=again,
        notes=tuple(_notes(votes)),
        **recognised,
    )


def _notes(votes: Votes) -> Iterator[Alarm]:
    """What the reader saw, what the votes were taken for, and names and rows that come twice."""
    again = () if votes.counts is not None else repeated_rows(votes)
    for finding in (*votes.findings, *scale_taken(votes), *similar_names("juror", votes.jurors), *again):
        if finding.kind != "repeats":  # which are told with how steady each juror is
            who = tuple(name for name in votes.jurors if name in finding.about)
            yield Alarm(finding.kind, finding.level, finding.message, finding.value, who)


def _texts(votes: Votes) -> tuple[list[str], tuple[str, ...]]:
    """The labels as Python writes numbers, and what was done to them; VotesError names the first that is none."""
    read = numerals(votes.labels)
    if read.doubtful is not None:
        raise VotesError(f"{_where(read.doubtful, votes)}: {read.doubt}", code="two_readings")
    texts = [text for text in read.texts if text is not None]
    if (sizes := read.sizes) and None in sizes:  # no number, or none that a float can hold
        label = votes.labels[sizes.index(None)]
        advice = f"mend it, or leave it out (--missing {label}); labels are graded with --scale nominal"
        raise VotesError(f"{_where(label, votes)}: {str(label)!r:.40} is no number; {advice}", code="bad_row")
    return texts, read.remarks


def _where(label: Any, votes: Votes) -> str:
    """The first cell that holds a label."""
    row, juror, code = votes.triples()
    places = np.flatnonzero(code == list(map(str, votes.labels)).index(str(label)))
    if not len(places):
        return "the labels"
    item = votes.item_names()[row[places[0]]]
    return f"juror {votes.jurors[juror[places[0]]]}, item {item}"
