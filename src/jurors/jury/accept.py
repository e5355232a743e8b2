"""Whatever the user has (a path, a frame, a matrix, votes, a sketch) becomes votes or a sketch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from jurors.errors import SketchError, VotesError
from jurors.evaluate import Alarm
from jurors.evaluate.panel.islands import FEWEST_VOICES
from jurors.names import and_more
from jurors.options import Reading, ReadingOptions, SourceOptions, TableOptions, check_applies, names_of
from jurors.sketch import Sketch, read_sketch
from jurors.votes import Key, Votes, read_votes, read_votes_with_key
from jurors.votes.findings.about_words import similar_names
from jurors.votes.findings.find import find_all
from jurors.votes.frame import eager, is_frame, open_frame
from jurors.votes.layout import find_column

_ABOUT_LABELS = ("ambiguous_words", "similar_labels", "rare_numbers")
_MOST_LABELS = 300  # an answer has jurors x labels² numbers, and takes time and memory by them
MATRIX_OPTIONS = ("items", "jurors", "labels", "counts")


def as_votes(source: Any, **reading: Unpack[SourceOptions]) -> Votes:
    """Votes from a Votes, Sketch, path, file object, array or dataframe; `reading` are `read_votes`' options."""
    accepted = accept(source, **reading)
    return accepted.tuples if isinstance(accepted, Sketch) else accepted


def as_sketch(source: Any, **reading: Unpack[SourceOptions]) -> Sketch:
    """The same as a sketch, counted by whoever holds the votes."""
    accepted = accept(source, by_item=False, **reading)
    return accepted if isinstance(accepted, Sketch) else Sketch.from_votes(accepted)


def accept(source: Any, *, by_item: bool = True, **reading: Unpack[SourceOptions]) -> Votes | Sketch:
    """Votes, or a sketch where that is what there is.

    Where nobody needs to know which item is which, `by_item=False` leaves the counting to the engine that holds them.
    """
    options: dict[str, Any] = dict(reading)
    if isinstance(source, Sketch):
        check_applies(reading, (), "a sketch, which is counted already")
        return source
    if isinstance(source, Votes):
        check_applies(reading, (), "votes that are read already")
        return source
    is_files = isinstance(source, (list, tuple)) and source and all(isinstance(one, (str, Path)) for one in source)
    if not is_files and isinstance(source, (np.ndarray, list, tuple)):
        votes = Votes.from_matrix(source, **_applicable(options, MATRIX_OPTIONS, "a matrix"))
        return replace(votes, labels_told=options.get("labels") is not None)
    if not is_files and not isinstance(source, (str, Path)) and is_frame(source):  # `read` may be one of its columns
        options = _applicable(options, names_of(TableOptions), "a dataframe")
        return Votes.from_frame(source, **options) if by_item else Sketch.from_frame(source, **options)
    if is_files or isinstance(source, (str, Path)) or hasattr(source, "read"):
        options = _applicable(options, names_of(ReadingOptions), "files")
        return read_votes(source, **options) if by_item else read_sketch(source, **options)
    raise VotesError(
        f"cannot read votes from {type(source).__name__}; give a path, a dataframe, a matrix, Votes or a Sketch"
    )


def _applicable(options: Mapping[str, Any], known: Sequence[str], what: str) -> dict[str, Any]:
    """The options that are for this kind of source; OptionError where another is given."""
    check_applies(options, known, what)
    return {name: value for name, value in options.items() if name in known}


def votes_and_column(source: Any, column: str, **reading: Unpack[SourceOptions]) -> tuple[Votes, NDArray[Any]]:
    """Votes, and for each row what another column of the same file or dataframe says of it (a group)."""
    if isinstance(source, (str, Path)) or hasattr(source, "read"):
        given = _applicable(reading, names_of(ReadingOptions), "files")
        votes, named = read_votes_with_key(source, column, what="group", **given)
        return votes, named.by_row(votes)
    table = eager(source)
    names = [str(name) for name in table.columns]
    place = find_column(names, column)
    given = _applicable(reading, names_of(TableOptions), "a dataframe")
    options = Reading.of(given, TableOptions).without(names[place])
    votes = Votes.from_frame(source, **{**given, "ignore": options.ignore})
    layout = open_frame(table.to_native()).layout(options)
    values = table[:, place].to_list()
    if layout.item is None or layout.kind == "counts":
        return votes, Key.from_array(values).by_row(votes)
    return votes, Key.from_columns(table[:, layout.item].to_list(), values, what="group").by_row(votes)


def check_gradable(votes: Votes, *, fewest: int = FEWEST_VOICES) -> None:
    """SketchError unless there are enough jurors and labels to grade anybody."""
    for refusal in refusals(votes, fewest=fewest):
        raise refusal


def refusals(votes: Votes, *, fewest: int = FEWEST_VOICES) -> Iterator[SketchError]:
    """Everything for which these votes cannot be graded, whoever they are."""
    if not votes.total:
        yield SketchError("there is no item to grade", code="no_items")
    if len(votes.jurors) < fewest:
        yield SketchError(
            f"grading without an answer key needs at least {fewest} jurors, got {len(votes.jurors)}: "
            f"{', '.join(votes.jurors)}. With a key, `jurors score` grades any number.",
            code="few_jurors",
            jurors=votes.jurors,
            needed=fewest,
            given=len(votes.jurors),
        )
    if len(votes.labels) < 2:
        shown = f"only {votes.labels[0]!r} was ever said" if votes.labels else "nobody voted"
        message = f"grading needs at least two labels, {shown}; add the items where somebody disagrees"
        yield SketchError(message, code="few_labels", labels=votes.labels, needed=2, given=len(votes.labels))
    most = min(max(2, votes.total // 2), _MOST_LABELS)
    if len(votes.labels) > most:
        similar = "".join(f" ({finding.message})" for finding in similar_names("label", votes.labels))
        whose = "can be graded" if most == _MOST_LABELS else f"{votes.total:,} items can support"
        yield SketchError(
            f"{len(votes.labels):,} labels are more than {whose} (at most {most:,}): are these scores or free text? "
            f"Group them, or leave out what is no vote (--missing VALUE, --ignore COLUMN){similar}",
            code="many_labels",
            needed=most,
            given=len(votes.labels),
            items=votes.total,
        )


def vote_alarms(votes: Votes, *, weighted: bool = False) -> list[Alarm]:
    """What the votes show before anybody is graded, and what their reader saw, as alarms."""
    jurors, labels = set(votes.jurors), set(votes.labels)
    return [
        Alarm(
            finding.kind,
            finding.level,
            finding.message,
            finding.value,
            tuple(str(one) for one in finding.about if finding.kind not in _ABOUT_LABELS and one in jurors),
            tuple(one for one in finding.about if finding.kind in _ABOUT_LABELS and one in labels),
        )
        for finding in find_all(votes, weighted=weighted, twins=False)  # grading tells twins by more than their votes
    ]


def without_silent(votes: Votes) -> tuple[Votes, list[Alarm]]:
    """The votes of those who voted at all, and a warning that names the others: there is nothing to grade them by."""
    if votes.is_dense:
        heard = np.asarray((votes.codes >= 0).any(axis=0))
    else:
        heard = np.asarray(np.bincount(votes.triples()[1], minlength=len(votes.jurors)) > 0)
    if heard.all():
        return votes, []
    silent = tuple(name for name, voted in zip(votes.jurors, heard, strict=True) if not voted)
    message = f"{and_more(map(repr, silent), 8)} never voted, and {'is' if len(silent) == 1 else 'are'} left out"
    spoke = [name for name in votes.jurors if name not in set(silent)]
    return votes.take(spoke), [Alarm("no_votes", "warning", message, float(len(silent)), silent)]
