"""`jurors inspect`: what files (or frames) hold, without grading, and which commands would work next.

`inspect` also describes what a reader would refuse: a table of pairs (which of two objects is better) is described as
such, and of a table that cannot be read as votes it shows the columns and first lines. `inspection/recognise.py` opens
files and finds what looks odd in them; `inspection/result.py` is the result with its next commands.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from jurors._files import temp_directory
from jurors.errors import JurorsError, VotesError
from jurors.evaluate.consistency import self_agreement
from jurors.inspection.recognise import (
    OpenedVotes,
    columns_of,
    looks_like_key,
    odd_votes,
    open_votes,
    suspicious_columns,
)
from jurors.inspection.result import CountRange, Inspection, Step, find_overlap, grading_obstacles, next_steps
from jurors.jury.inputs import as_votes
from jurors.jury.kinds import NUMBERS, PREFERENCES, kind_of
from jurors.numeric.data import numbers_of
from jurors.options import (
    DEFAULTS,
    PairOptions,
    PairReading,
    Reading,
    ReadingOptions,
    TableOptions,
    column_names,
    command_line,
    item_name,
    text_columns,
    verb,
)
from jurors.pairwise.data import holds_pairs, preferences_of, read_pairs
from jurors.results import without_secrets
from jurors.sketch.sketch import Sketch
from jurors.uncertainty.trio_alarms import possible_repeat_alarms
from jurors.votes.codes import Finding
from jurors.votes.findings import find_findings
from jurors.votes.frame import is_frame, open_frame
from jurors.votes.io.duckdb_table import open_table
from jurors.votes.io.sources import TITLES, locate, shown_source
from jurors.votes.pair_columns import FIRST, SECOND, TIE, certain_pair_columns, pair_columns
from jurors.votes.table import Votes, count_labels_by_juror, recode_labels

__all__ = ["Inspection", "inspect"]

_MOST_COMPARED = 100  # jurors
_UNLIKE = "the columns do not hold the same labels; leave out columns that are no juror (ignore=)"


@verb(ReadingOptions, splits=True)
def inspect(source: Any, *, by: Any = None, **reading: Unpack[ReadingOptions]) -> Inspection:
    """Show what files hold: what each column is, who voted, what looks unusual, and what to run next.

    If a table cannot be read as votes, the result names the option that helps. A file that is not a table raises
    `VotesError`. Options as in `read_votes`.

    Parameters
    ----------
    source, by
        As in `grade`.

    Returns
    -------
    Inspection
        Prints as a card with the commands to run next.
    """
    is_table = not isinstance(source, (Votes, Sketch)) and hasattr(type(source), "columns") and is_frame(source)
    if is_table and (pairs := _inspect_pairs(source, (), reading)) is not None:
        return pairs
    if (opened := _open_in_memory(source, reading)) is not None:
        return _inspect_votes(opened, (), reading)
    with temp_directory() as folder:
        located = locate(source, folder)
        if not (located.paths or located.tables):
            raise VotesError(f"{shown_source(source)}: this folder holds no file")
        is_stream = any(folder in path.parents for path in located.paths)
        names = source if isinstance(source, (list, tuple)) else (source,)
        files = (shown_source(source),) if is_stream else tuple(without_secrets(str(name)) for name in names)
        shown_files = ("-",) if is_stream else files
        where = list(located.paths) if is_stream else source
        try:
            if (pairs := _inspect_pairs(where, shown_files, reading)) is not None:
                return pairs
            opened = open_votes(where, reading)
        except JurorsError as error:
            if not is_stream:
                raise
            bare = copy.copy(error)  # without the name of the temporary file that the stream was stored in
            bare.args = (error.fault,)
            raise bare.in_file(files[0]) from None
        return _inspect_votes(opened, shown_files, reading)


# -- votes ----------------------------------------------------------------------------------------------------


def _open_in_memory(source: Any, reading: Mapping[str, Any]) -> OpenedVotes | None:
    """The votes of an object in memory; None for files and streams."""
    parts = source if isinstance(source, (list, tuple)) else (source,)
    if all(isinstance(part, (str, os.PathLike)) or hasattr(part, "read") for part in parts):
        return None
    if isinstance(source, (Votes, Sketch)) or not is_frame(source):  # whatever holds no votes is refused
        formats = {Votes: ("votes", "Votes"), Sketch: ("sketch", "Sketch")}
        layout, name = formats.get(type(source), ("votes", "matrix"))
        return OpenedVotes(Inspection(layout=layout, format=name), as_votes(source, **reading))
    votes, seen = Votes.from_frame(source, **reading), Inspection(layout="votes", format=_frame_name(source))
    if not hasattr(type(source), "columns"):  # a stream, which can be read only once
        return OpenedVotes(seen, votes)
    frame, options = open_frame(source), Reading.of(reading, TableOptions)
    if {"trace_id", "assessments"} <= set(frame.names):
        return OpenedVotes(replace(seen, layout="log"), votes)
    if options.transpose:
        return OpenedVotes(replace(seen, layout="long"), votes)
    frame = frame.reaching(options)
    found = frame.layout(options)
    return OpenedVotes(replace(seen, layout=found.kind, columns=columns_of(frame.names, found)), votes)


def _frame_name(frame: Any) -> str:
    return f"{type(frame).__module__.split('.')[0]} {type(frame).__name__}"


def _inspect_votes(opened: OpenedVotes, files: Sequence[str], reading: Mapping[str, Any]) -> Inspection:
    votes, seen = opened.votes, replace(opened.seen, files=tuple(files))
    if votes is None:  # of a log with several questions or tasks, one can be read
        read_one = command_line("inspect", files, {"tool": opened.question})
        steps = () if opened.question is None else (Step(read_one, "read one of its questions"),)
        return replace(seen, obstacles=() if seen.fault else (_UNLIKE,), steps=steps)
    repeats: dict[str, Any] = {}
    if kind_of(votes) is not NUMBERS or votes.repeats is None or votes.counts is not None:
        if (consistency := self_agreement(votes, DEFAULTS["level"])) is not None:
            repeats = consistency.to_dict()
    else:  # repeated numbers are replaced by their mean
        numbers = numbers_of(votes)
        cells = [[None if x != x else f"{x:.15g}" for x in row] for row in numbers.values.tolist()]
        means = Votes.from_matrix(cells, items=votes.items, jurors=votes.jurors, scale="interval")
        votes = replace(means, findings=votes.findings, scale_why=votes.scale_why, scale_told=votes.scale_told)
    counts = count_labels_by_juror(votes)
    names = [name for part in seen.columns.values() for name in part]
    is_key = seen.layout == "wide" and looks_like_key(votes, names)
    if is_key:
        seen = replace(seen, layout="key", columns={**seen.columns, "label": seen.columns["jurors"], "jurors": ()})
    overlap = None if is_key else find_overlap(votes)
    weights, votes_by_row = votes.weights, np.bincount(votes.triples()[0], minlength=votes.rows)
    findings: list[Finding] = []
    if overlap is not None:  # what looks odd
        weighted = seen.layout in ("counts", "sketch")
        findings += [*seen.findings, *find_findings(votes, weighted=weighted), *odd_votes(votes, counts)]
        if seen.layout in ("wide", "counts"):
            findings += suspicious_columns(votes)
        if len(votes.jurors) <= _MOST_COMPARED:  # who may be one judge under several names, as grading would say
            alarms = possible_repeat_alarms(Sketch.from_votes(votes))
            findings += [Finding(a.reason, a.message, a.jurors, a.level, a.value) for a in alarms]
        if empty := int(weights[votes_by_row == 0].sum()):
            message = f"{empty:,} {'items have' if empty > 1 else 'item has'} no vote"
            findings.append(Finding("items_without_votes", message))
        if len(overlap.groups) > 1:
            sizes = ", ".join(f"{len(group):,}" for group in overlap.groups[:8])
            message = f"{len(overlap.groups)} groups of jurors (of {sizes}) share no item: grade each separately"
            findings.append(Finding("separate_groups", message))
    gradable = _without_suspects(votes, findings)
    obstacles = () if is_key else tuple(grading_obstacles(gradable))
    if any(finding.kind == "unlike_columns" for finding in findings):
        obstacles = (*obstacles, _UNLIKE)
    next_commands = next_steps(files, votes, gradable, {**reading, **seen.assumed}, findings, obstacles)
    total = int(counts.sum())
    return replace(
        seen,
        items=votes.total,
        jurors=votes.jurors,
        labels=dict(zip(votes.labels, counts.sum(axis=0).tolist(), strict=True)),
        scale=votes.scale,
        scale_why=votes.scale_why,
        votes=total,
        density=total / max(votes.total * len(votes.jurors), 1),
        votes_per_juror=CountRange.of(counts.sum(axis=1)) if votes.jurors else None,
        votes_per_item=CountRange.of(votes_by_row[weights > 0], weights[weights > 0]) if votes.total else None,
        overlap=overlap,
        repeats=repeats,
        findings=tuple(findings),
        obstacles=obstacles,
        steps=tuple(next_commands) if files and not is_key else (),
    )


def _without_suspects(votes: Votes, findings: Sequence[Finding]) -> Votes:
    """The votes as the suggested commands would read them: without key columns and words that mean no vote."""
    absent = {label for finding in findings if finding.kind == "ambiguous_words" for label in finding.about}
    keys = {juror for finding in findings if finding.kind == "key_column" for juror in finding.about}
    if keys & set(votes.jurors):
        votes = votes.take([juror for juror in votes.jurors if juror not in keys])
    if not absent:
        return votes
    labels = tuple(label for label in votes.labels if label not in absent)
    return recode_labels(votes, labels, [None if label in absent else label for label in votes.labels])


# -- tables of pairs, which no command takes for votes --------------------------------------------------------


def _inspect_pairs(source: Any, files: Sequence[str], reading: Mapping[str, Any]) -> Inspection | None:
    """What the preferences of a table of pairs hold, and what to run: the same answers mean the same in all commands.

    None where this is no such table, and the options do not say that it is.
    """
    options = Reading.of(reading)
    requested = options.scale == PREFERENCES.scale
    of_votes = (getattr(options, name) for name in ("scale", "layout", "label", "count", "tool"))
    if not requested and any(value not in ("auto", None) for value in of_votes):
        return None
    if hasattr(type(source), "columns"):  # a dataframe
        pair_reading, frame = PairReading(map=options.map), open_frame(source)
        columns = certain_pair_columns(frame.names, frame.facts, text_columns(options.ignore))
        if columns is None and not requested:
            return None
        columns = columns or pair_columns(frame.names, frame.facts, PairReading())
        names, pairs, title = frame.names, read_pairs(source, map=pair_reading.map), _frame_name(source)
    else:
        if not requested and not holds_pairs(source, Reading(memory=options.memory, unpack=options.unpack)):
            return None
        given = {name: reading[name] for name in column_names(PairOptions) if reading.get(name)}
        pair_reading = PairReading(**{**given, "item": item_name(options.item)})
        with open_table(source, options) as table:
            columns, names = pair_columns(table.names, table.facts, pair_reading), table.names
            pairs, _ = preferences_of(table, pair_reading)
            title = TITLES[table.parts[0].holder or table.parts[0].format]
    roles = {} if columns is None else {r: getattr(columns, r) for r in ("left", "right", "winner", "juror", "item")}
    shown: dict[str, tuple[str, ...]] = {role: (names[k],) for role, k in roles.items() if k is not None}
    if columns is not None and columns.several is not None:
        shown["winner"] = tuple(names[k] for k in columns.answers)
    given_names = tuple(f"{old}={new}" for old, new in pair_reading.names.items())
    mapped: dict[str, Any] = {"map": given_names} if given_names else {}
    joined = {"duplicates": "join"} if pairs.has_repeats else {}  # several answers of a juror become one vote
    convert = command_line("convert", files, {**mapped, **joined}, "-o", "votes.csv")
    steps = (
        Step(command_line("rank", files, mapped), "rank the objects, with intervals"),
        Step(command_line("grade", files, mapped), "grade the jurors"),
        Step(command_line("report", files, mapped, "-o", "report.html"), "write both to one HTML page"),
        Step(convert, "convert to votes: first, second or tie"),
    )
    sides = {"first": FIRST, "second": SECOND, "tie": TIE}
    why = "--scale pairs" if requested else "two columns of objects, and a column with the better one"
    return Inspection(
        files=tuple(files),
        format=title,
        layout="pairs",
        columns=shown,
        items=len(pairs.objects),
        jurors=pairs.jurors,
        labels={word: int(np.sum(pairs.outcome == side)) for word, side in sides.items()},
        scale=PREFERENCES.scale,
        scale_why=why,
        votes=len(pairs),
        steps=steps if files else (),
    )
