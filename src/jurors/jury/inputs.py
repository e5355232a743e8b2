"""Inputs of the public functions: anything becomes `Votes` or a `Sketch`, and votes are counted once.

A path, a frame, a matrix, votes or a sketch come in; `CountedVotes` go out: the sketch to grade, and for each row of
the votes its tuple in the sketch. `label_refusals` says for what reasons votes cannot be graded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from jurors._lazy import lazy_fields
from jurors._numeric import Integers
from jurors.errors import SketchError, VotesError, format_first_names, format_names
from jurors.evaluate.alarms import Alarm
from jurors.jury.kinds import LABELS, NUMBERS, PREFERENCES, kind_of, numbers_refusal
from jurors.jury.leanings import names_order
from jurors.options import (
    PairOptions,
    Reading,
    ReadingOptions,
    SourceOptions,
    TableOptions,
    check_applies,
    column_names,
    text_columns,
)
from jurors.sketch.connectivity import MIN_JURORS
from jurors.sketch.count import read_counts
from jurors.sketch.sketch import Sketch, count_votes
from jurors.votes.codes import numerals
from jurors.votes.findings import find_findings, similar_labels
from jurors.votes.frame import collect, is_in_memory, is_table, open_frame, votes_in_memory
from jurors.votes.key import Key, as_key, has_two, read_votes_with_key
from jurors.votes.layout import find_column, item_parts
from jurors.votes.read import read_votes
from jurors.votes.scale import (
    SELECTION_OPTIONS,
    Recoding,
    apply_scale,
    detect_scale,
    merge_numbered_jurors,
    recode_votes,
    select_votes,
)
from jurors.votes.table import Votes

_ABOUT_LABELS = ("ambiguous_words", "similar_labels", "rare_numbers", "rare_labels")
_MOST_LABELS = 300  # a result has jurors x labels² numbers, and takes time and memory by them


def as_votes(source: Any, **reading: Unpack[SourceOptions]) -> Votes:
    """Read votes from a Votes, Sketch, path, file object, array or dataframe; options as in `read_votes`.

    Returns
    -------
    Votes
    """
    return source_votes(read_input(source, **reading))


def source_votes(source: Votes | Sketch) -> Votes:
    """The votes; of a sketch, its decision tuples with their counts.

    Returns
    -------
    Votes
    """
    return source.tuples if isinstance(source, Sketch) else source


def as_sketch(source: Any, **reading: Unpack[SourceOptions]) -> Sketch:
    """Read a sketch from the same sources, counted by the engine that holds the votes.

    Returns
    -------
    Sketch
    """
    accepted = read_input(source, by_item=False, **reading)
    return accepted if isinstance(accepted, Sketch) else Sketch.from_votes(accepted)


def read_input(source: Any, *, by_item: bool = True, **reading: Unpack[SourceOptions]) -> Votes | Sketch:
    """Read votes, or a sketch where the source is one.

    Parameters
    ----------
    by_item
        Whether items must be identified; if not, the engine that holds the votes counts them.

    Returns
    -------
    Votes or Sketch
    """
    options: dict[str, Any] = dict(reading)
    if isinstance(source, Sketch):
        selected = _select(source.tuples, reading, "a sketch, which is counted already")
        return source if selected is source.tuples else Sketch.from_votes(selected)
    if isinstance(source, Votes):
        return _select(source, reading, "votes that are read already")
    if is_in_memory(source):
        if by_item or not is_table(source):
            return votes_in_memory(source, options)
        from jurors.sketch.engines import read_frame

        return read_frame(source, Reading.of(check_applies(options, column_names(TableOptions), "a dataframe")))
    options = check_applies(options, column_names(ReadingOptions), "files")
    return read_votes(source, **options) if by_item else read_counts(source, **options)


def read_data(source: Any, *, by_item: bool = True, **reading: Unpack[SourceOptions]) -> Any:
    """Read data of any kind: votes or a sketch of labels, numbers, or preferences where the source holds pairs.

    Parameters
    ----------
    by_item
        As in `read_input`; numbers are always read by item.

    Returns
    -------
    Votes, Sketch, Numbers or Preferences
    """
    by_item = by_item or names_order(reading.get("item"))
    if isinstance(source, (Votes, Sketch)):
        return read_input(source, **reading)
    if kind_of(source) is not LABELS:  # `Numbers` or `Preferences`
        return source
    scale = reading.get("scale")
    others: Any = {name: value for name, value in reading.items() if name != "scale"}
    if scale == NUMBERS.scale:  # read as nominal: a cell that is no number is then reported with its place
        from jurors.numeric.data import numbers_of

        return numbers_of(as_votes(source, scale="nominal", **others))
    if scale != PREFERENCES.scale:
        try:
            data = read_input(source, by_item=by_item, **reading)
            if by_item or kind_of(data) is LABELS:
                return data
            return read_input(source, **reading)
        except VotesError as error:
            of_votes = set(others) - set(column_names(PairOptions))
            if error.code != "pairs" or of_votes or hasattr(source, "read"):  # a stream gives its content only once
                raise
    from jurors.pairwise.data import read_pairs

    return read_pairs(source, **others)


def _select(votes: Votes, options: Mapping[str, Any], what: str) -> Votes:
    """Apply the selection to votes that are read already, on the scale they show if it is not known.

    OptionError where another option is given.
    """
    given = check_applies(options, SELECTION_OPTIONS, what)
    reading = Reading(**{name: value for name, value in given.items() if value is not None})
    known = votes if votes.scale_why else detect_scale(votes)
    recoded = recode_votes(select_votes(known, reading), reading)
    return merge_numbered_jurors(apply_scale(recoded, reading) if Recoding.of(reading) else recoded, reading.join)


def votes_and_column(
    source: Any, column: str | None, what: str = "group", beside: Sequence[str] = (), **reading: Unpack[SourceOptions]
) -> tuple[Votes, NDArray[Any], dict[str, NDArray[Any]]]:
    """Read votes, and the value of another column of the same file or dataframe: a group, or a system.

    Where several systems answered one question, an item is named by both.

    Returns
    -------
    votes : Votes
    values : ndarray of object
        One for each row.
    others : dict
        The columns `beside` it, likewise.
    """
    if isinstance(source, (str, Path)) or hasattr(source, "read"):
        files = check_applies(reading, column_names(ReadingOptions), "files")
        votes, named = read_votes_with_key(source, column, what=what, beside=beside, **files)
        return votes, named.by_row(votes), {name: key.by_row(votes) for name, key in named.beside.items()}
    column = "system" if column is None else column
    given = check_applies(reading, column_names(TableOptions), "a dataframe")
    given["ignore"] = (*text_columns(given.get("ignore") or ()), *beside)
    parsed = Reading.of(given, TableOptions)
    opened, system = open_frame(source), column if what == "system" else None
    frame = replace(opened, table=collect(opened.table)).reaching(parsed, column, system=system)
    place = find_column(frame.names, column)
    options = parsed.without(frame.names[place])
    ignore = [name for name in text_columns(options.ignore) if name in opened.names]
    item = {"item": list(frame.item)} if frame.item else {}
    layout = frame.layout(options)
    names = None if layout.item is None or layout.kind == "counts" else frame.table[:, layout.item].to_list()
    columns = {name: frame.table[:, find_column(frame.names, name)].to_list() for name in (column, *beside)}
    if what == "system" and names is not None and layout.item is not None:
        parts = item_parts(frame.names, given.get("item")) or (frame.names[layout.item],)
        if frame.names[place] not in parts and has_two(names, columns[column]):
            joined: Any = {**reading, "item": [*parts, frame.names[place]]}
            return votes_and_column(source, column, what, beside, **joined)
    votes = Votes.from_frame(source, **{**given, **item, "ignore": (*ignore, *frame.homes)})
    keys = {
        name: Key.from_array(values) if names is None else Key.from_columns(names, values, what=what)
        for name, values in columns.items()
    }
    others = {name: key.by_row(votes) for name, key in keys.items()}
    return votes, others.pop(column), others


def check_gradable(votes: Votes, *, fewest: int = MIN_JURORS) -> None:
    """SketchError unless there are enough jurors and labels to grade."""
    for refusal in label_refusals(votes, fewest=fewest):
        raise refusal


def label_refusals(votes: Votes, *, fewest: int = MIN_JURORS) -> Iterator[SketchError]:
    """All reasons for which these votes cannot be graded as labels.

    Parameters
    ----------
    fewest
        How many jurors are needed.

    Yields
    ------
    SketchError
    """
    if not votes.total:
        yield SketchError("there is no item to grade", code="no_items")
    if len(votes.jurors) < fewest:
        counts_once = " A juror that answers several times counts once."
        repeated = "" if votes.repeats is None else counts_once
        yield SketchError(
            f"grading without an answer key needs at least {fewest} jurors, got {len(votes.jurors)}: "
            f"{', '.join(votes.jurors)}. With a key, `jurors score` grades any number; without "
            f"one, add a juror, or let a person label a few items (`jurors audit plan`).{repeated}",
            code="few_jurors",
            jurors=votes.jurors,
            needed=fewest,
            given=len(votes.jurors),
        )
    if len(votes.labels) < 2:
        shown = f"every vote is {votes.labels[0]!r}" if votes.labels else "there are no votes"
        message = f"grading needs at least two labels, and {shown}; add items on which jurors disagree"
        yield SketchError(message, code="few_labels", labels=votes.labels, needed=2, given=len(votes.labels))
    if (refusal := numbers_refusal(votes)) is not None:
        yield refusal
        return
    most = min(max(2, votes.total // 2), _MOST_LABELS)
    if len(votes.labels) > most:
        similar = "".join(
            f" ({finding.message})"
            for finding in similar_labels(votes.labels, np.zeros(len(votes.labels), dtype=np.int64))
        )
        whose = "can be graded" if most == _MOST_LABELS else f"{votes.total:,} items can support"
        are_numbers = None not in numerals(votes.labels).texts
        instead = "Use scale=interval if they are numbers, group them" if are_numbers else "Group them"
        yield SketchError(
            f"{len(votes.labels):,} labels are more than {whose} (at most {most:,}); they may be scores or free text. "
            f"{instead}, or leave out what is not a vote (missing=, ignore=){similar}",
            code="many_labels",
            needed=most,
            given=len(votes.labels),
            items=votes.total,
        )


def check_labels(votes: Votes) -> None:
    """SketchError where votes are numbers."""
    if (refusal := numbers_refusal(votes)) is not None:
        raise refusal


def input_alarms(votes: Votes, *, weighted: bool = False) -> list[Alarm]:
    """The findings about votes before any grading, as alarms.

    Parameters
    ----------
    weighted
        Whether the rows are distinct decision tuples with counts.

    Returns
    -------
    list of Alarm
    """
    alarms, jurors, labels = [], set(votes.jurors), set(votes.labels)
    for finding in find_findings(votes, weighted=weighted, twins=False):  # grading has better evidence of twins
        of_labels = finding.kind in _ABOUT_LABELS
        about_jurors = () if of_labels else tuple(str(name) for name in finding.about if name in jurors)
        about_labels = tuple(name for name in finding.about if name in labels) if of_labels else ()
        alarms.append(
            Alarm(finding.kind, finding.level, finding.message, finding.value, about_jurors, about_labels)
        )  # fmt: skip
    return alarms


def drop_silent_jurors(votes: Votes) -> tuple[Votes, list[Alarm]]:
    """Leave out jurors without any vote: there is nothing to grade them by.

    Returns
    -------
    votes : Votes
    alarms : list of Alarm
        A warning that names them, or none.
    """
    if votes.is_dense:
        voted = np.asarray((votes.codes >= 0).any(axis=0))
    else:
        voted = np.asarray(np.bincount(votes.triples()[1], minlength=len(votes.jurors)) > 0)
    if voted.all():
        return votes, []
    silent = tuple(name for name, has_voted in zip(votes.jurors, voted, strict=True) if not has_voted)
    message = (
        f"{format_first_names(map(repr, silent), 8)} never voted and {'is' if len(silent) == 1 else 'are'} left out"
    )
    others = [name for name, has_voted in zip(votes.jurors, voted, strict=True) if has_voted]
    return votes.take(others), [Alarm("no_votes", "warning", message, float(len(silent)), silent)]


@lazy_fields("alarms")
@dataclass(frozen=True, eq=False)
class CountedVotes:
    """The sketch to grade, and the decision tuple of each row."""

    votes: Votes  #: whose rows were counted; with the labels of a key, where one is aligned
    sketch: Sketch
    tuple_of_row: Integers  #: (rows,)
    alarms: tuple[Alarm, ...] = ()  #: about the votes: jurors without votes, words that may mean no vote …

    def align(self, key: Any) -> tuple[CountedVotes, Integers]:
        """Align an answer key; votes are counted again only if the key has labels that no juror used.

        Returns
        -------
        counted : CountedVotes
            With the labels of the key.
        truth : ndarray of int, (rows,)
            Each row's true label; -1: unknown.
        """
        votes, truth = as_key(key, self.votes).align(self.votes)
        if votes.labels == self.votes.labels:
            return self, np.asarray(truth)
        sketch, tuple_of_row = count_votes(votes)
        return CountedVotes(votes, sketch, tuple_of_row, self.alarms), np.asarray(truth)

    def align_gold(self, gold: Any) -> tuple[CountedVotes, Integers]:
        """Align gold items. Alarms name labels that no juror gives, and items that have no votes.

        Returns
        -------
        counted : CountedVotes
            With the labels of the gold items.
        known : ndarray of int, (rows,)
            Each row's gold label; -1: unknown.
        """
        key = as_key(gold, self.votes)
        aligned, known = self.align(key)
        later: Any = partial(_gold_alarms, self, aligned.votes, key, known)
        return replace(aligned, alarms=later), known

    def by_tuple(self, truth: Integers) -> Integers:
        """Count the items of each tuple by their true label, where that is known.

        Returns
        -------
        ndarray of int, (tuples, labels)
        """
        size, known = len(self.votes.labels), truth >= 0
        counted = np.zeros(self.sketch.tuples.rows * size, dtype=np.int64)
        np.add.at(counted, self.tuple_of_row[known] * size + truth[known], self.votes.weights[known])
        return counted.reshape(-1, size)


def count_rows(source: Votes | Sketch) -> CountedVotes:
    """Count votes; a sketch is counted already.

    Returns
    -------
    CountedVotes
    """
    if isinstance(source, Sketch):
        return CountedVotes(source.tuples, source, np.arange(source.tuples.rows))
    return CountedVotes(source, *count_votes(source))


def count_gradable(source: Votes | Sketch) -> CountedVotes:
    """Count votes without silent jurors; SketchError where they cannot be graded.

    Returns
    -------
    CountedVotes
    """
    counted = count_rows(source)
    voting, silent = drop_silent_jurors(counted.sketch.tuples)
    check_gradable(voting)
    if silent:
        counted = count_rows(counted.votes.take(voting.jurors))
    later: Any = partial(_alarms, counted.sketch.tuples, silent)
    return CountedVotes(counted.votes, counted.sketch, counted.tuple_of_row, later)


def _alarms(tuples: Votes, silent: list[Alarm]) -> tuple[Alarm, ...]:
    """Computed when first read; decision tuples are distinct, so no rows can be repeated."""
    return (*silent, *input_alarms(tuples, weighted=True))


def _gold_alarms(counted: CountedVotes, aligned: Votes, key: Key, known: Integers) -> tuple[Alarm, ...]:
    """With what of the gold items does not fit the votes: labels that no juror gives, and items that have no votes."""
    alarms, votes = [*counted.alarms], counted.votes
    if unused := tuple(label for label in aligned.labels if label not in votes.labels):
        is_unused = np.isin(known, [aligned.labels.index(label) for label in unused])
        share = float(votes.weights[is_unused].sum() / max(votes.weights[known >= 0].sum(), 1))
        message = (
            f"no juror gives {format_first_names(map(repr, unused), 8)}, the label of {share:.0%} of the gold items, "
            f"so every vote on them counts as wrong: write one of {format_names(votes.labels, 4)} if that is meant, or "
            "name it among the labels of the votes if not"
        )
        alarms.append(Alarm("rare_labels", "warning", message, float(len(unused)), labels=unused))
    return (*alarms, *unvoted_alarms(key.unvoted(votes), len(key.labels)))


def unvoted_alarms(unvoted: Sequence[Any], total: int) -> list[Alarm]:
    """A warning that names gold items that have no votes, of so many in total; none where all have some.

    Returns
    -------
    list of Alarm
    """
    if not unvoted:
        return []
    have = f"{len(unvoted):,} of {total:,} gold items {'has' if len(unvoted) == 1 else 'have'} no votes"
    message = f"{have} and so no effect: {format_first_names(map(repr, unvoted), 3)}"
    return [Alarm("unvoted_gold", "warning", message, float(len(unvoted)))]
