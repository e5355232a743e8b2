"""`inspect`: looks at files (or frames) of votes without grading, and survives what a reader would refuse."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from jurors.doubt.voice_alarms import possible_repeat_alarms
from jurors.errors import JurorsError, VotesError
from jurors.evaluate import Alarm
from jurors.evaluate.voices.self_agreement import self_agreement
from jurors.jury.accept import as_votes
from jurors.look.compared import compared, compared_frame
from jurors.look.contents import folder_fault, folder_steps, list_folder
from jurors.look.inspection import Inspection, Spread
from jurors.look.overlap import Overlap, find_overlap
from jurors.look.peek import Glimpse, peek
from jurors.look.recognise import Opened, columns_of, recognise
from jurors.look.steps import Step, command_line, next_steps, obstacles, votes_beside
from jurors.look.suspects import find_suspects, looks_like_key, odd_columns
from jurors.options import Grading, Reading, ReadingOptions, TableOptions
from jurors.quoting import without_secrets
from jurors.scratch import scratch
from jurors.sketch import Sketch
from jurors.values.read_numbers import numbers_of
from jurors.values.repeatability import repeatability
from jurors.votes.files.locate import locate, shown_source
from jurors.votes.findings.find import find_all
from jurors.votes.findings.finding import Finding
from jurors.votes.findings.tuples import counts_said
from jurors.votes.scales.relabelled import relabelled
from jurors.votes.table import Votes

_SHOWN_GROUPS = 8
_MOST_COMPARED = 100  # jurors
_UNLIKE = "the columns do not hold the same labels; leave out what is no juror (--ignore COLUMN)"


def inspect(source: Any, **reading: Unpack[ReadingOptions]) -> Inspection:
    """Say what some files hold, without grading: what each column is, who voted, what looks odd, what to run next.

    Where the votes cannot be read, it says what it sees and which option would help; VotesError is raised only where
    there is nothing to see. The options are those of `read_votes`; a dataframe, a matrix, `Votes`, a `Sketch` will do.
    """
    if (pairs := compared_frame(source, Reading.of(reading))) is not None:
        return pairs
    if (opened := _in_memory(source, reading)) is not None:
        return _inspection(opened, (), reading)
    with scratch() as folder:
        located = locate(source, folder)
        if not (located.paths or located.tables):
            raise VotesError(f"{shown_source(source)}: this folder holds no file")
        streams = any(folder in path.parents for path in located.paths)
        files = (shown_source(source),) if streams else tuple(map(without_secrets, _names(source)))
        where = list(located.paths) if streams else source
        if (pairs := compared(where, files if not streams else ("-",), reading)) is not None:
            return pairs
        try:
            opened = recognise(where, reading)
        except JurorsError as error:
            if (named := _folder(source)) is not None:
                return _listing(named, reading, None)
            glimpse = peek(located.paths, located.root) if located.paths else None
            if glimpse is None:
                raise
            return _unread(files, glimpse, error)
        if opened.fault is not None and (named := _folder(source)) is not None:
            return _listing(named, reading, opened)
        return _inspection(opened, files if not streams else ("-",), reading)


def _in_memory(source: Any, reading: Mapping[str, Any]) -> Opened | None:
    from jurors.votes.frame import is_frame, open_frame

    if isinstance(source, Votes):
        return Opened(votes=as_votes(source, **reading), layout="votes", format="Votes")
    if isinstance(source, np.ndarray) or _are_rows(source):
        return Opened(votes=as_votes(source, **reading), layout="votes", format="matrix")
    if isinstance(source, (str, os.PathLike, list, tuple)) or hasattr(source, "read"):
        return None
    if isinstance(source, Sketch):
        return Opened(votes=as_votes(source, **reading), layout="sketch", format="Sketch")
    if not is_frame(source):
        return None
    name = f"{type(source).__module__.split('.')[0]} {type(source).__name__}"
    votes = Votes.from_frame(source, **reading)
    if not hasattr(type(source), "columns"):  # a stream, which can be read only once
        return Opened(votes=votes, layout="votes", format=name)
    frame = open_frame(source)
    if {"trace_id", "assessments"} <= set(frame.names):
        return Opened(votes=votes, layout="log", format=name)
    options = Reading.of(reading, TableOptions)
    if options.transpose:
        return Opened(votes=votes, layout="long", format=name)
    frame = frame.reaching(options)
    layout = frame.layout(options)
    return Opened(votes=votes, layout=layout.kind, format=name, columns=columns_of(frame.names, layout))


def _are_rows(source: Any) -> bool:
    """Whether a source is a matrix in lists, and no names of files."""
    if not isinstance(source, (list, tuple)) or not source:
        return False
    return all(isinstance(row, (list, tuple, np.ndarray)) for row in source)


def _folder(source: Any) -> str | None:
    """The folder that was named, where it alone was."""
    one = source[0] if isinstance(source, (list, tuple)) and len(source) == 1 else source
    return os.fspath(one) if isinstance(one, (str, os.PathLike)) and os.path.isdir(one) else None


def _listing(folder: str, reading: Mapping[str, Any], log: Opened | None) -> Inspection:
    """A folder that is not one table; `log`: the tool's log that its files look like, and what is wrong with it."""
    is_log = log is not None and log.is_log
    entries = list_folder(folder, lambda path: inspect(path, **reading))
    fault = log.fault if log is not None and is_log else folder_fault(folder, entries)
    note = "the files are not one table of votes: name the one to read"
    return Inspection(
        files=(folder,),
        format=log.format if log is not None and is_log else "folder",
        columns={},
        assumed={},
        labels={},
        findings=() if fault else (Finding("several_files", note),),
        fault=fault,
        contents=tuple((entry.name, entry.what) for entry in entries),
        steps=_chosen([folder], log) or tuple(folder_steps(folder, entries)),
    )


def _chosen(files: Sequence[str], opened: Opened | None) -> tuple[Step, ...]:
    """Which of a log's questions or tasks to read, where it has several."""
    if opened is None or opened.choose is None:
        return ()
    return (Step(command_line("inspect", files, {"tool": opened.choose}), "one of those to choose from"),)


def _inspection(opened: Opened, files: Sequence[str], reading: Mapping[str, Any]) -> Inspection:
    votes = opened.votes
    if votes is None:
        return Inspection(
            files=tuple(files), format=opened.format, columns=opened.columns, assumed=opened.assumed, labels={},
            items=opened.rows, findings=opened.findings, obstacles=() if opened.fault else (_UNLIKE,),
            fault=opened.fault, sample=opened.sample, steps=_chosen(files, opened),
        )  # fmt: skip
    votes, repeats = _heard(votes)
    said = counts_said(votes)
    options = {**reading, **opened.assumed}
    names = [name for part in opened.columns.values() for name in part]
    is_key = opened.layout == "wide" and looks_like_key(votes, names)
    overlap = None if is_key else find_overlap(votes)
    findings = () if overlap is None else (*opened.findings, *_findings(votes, said, opened, overlap))
    graded = _graded(votes, findings)
    hindered = () if is_key else tuple(obstacles(graded))
    if any(finding.kind == "unlike_columns" for finding in findings):
        hindered = (*hindered, _UNLIKE)
    steps = (
        _key_steps(files)
        if is_key
        else tuple(next_steps(files, votes, graded, options, findings, hindered))
        if files
        else ()
    )
    weights = votes.weights
    by_row = np.bincount(votes.triples()[0], minlength=votes.rows)
    total = int(said.sum())
    return Inspection(
        files=tuple(files),
        format=opened.format,
        layout="key" if is_key else opened.layout,
        columns={**opened.columns, "label": opened.columns["jurors"], "jurors": ()} if is_key else opened.columns,
        assumed=opened.assumed,
        items=votes.total,
        jurors=votes.jurors,
        labels=dict(zip(votes.labels, said.sum(axis=0).tolist(), strict=True)),
        scale=votes.scale,
        scale_why=votes.scale_why,
        votes=total,
        density=total / max(votes.total * len(votes.jurors), 1),
        votes_per_juror=Spread.of(said.sum(axis=1)),
        votes_per_item=Spread.of(by_row[weights > 0], weights[weights > 0]) if votes.total else None,
        overlap=overlap,
        duplicates=opened.duplicates,
        repeats=repeats,
        findings=tuple(findings),
        obstacles=hindered,
        steps=steps,
    )


def _heard(votes: Votes) -> tuple[Votes, dict[str, Any]]:
    """The votes, of numbers given several times the mean; and how steady everybody is who was asked again."""
    if votes.scale != "interval" or votes.repeats is None or votes.counts is not None:
        steady = self_agreement(votes, Grading.level)
        return votes, {} if steady is None else steady.to_dict()
    numbers = numbers_of(votes)
    cells = np.array([*numbers.distinct, None], dtype=object)[numbers.codes]
    means = Votes.from_matrix(cells, items=votes.items, jurors=votes.jurors, scale="interval")
    own = repeatability(votes.jurors, numbers.again, Grading.level)
    kept = replace(means, findings=votes.findings, scale_why=votes.scale_why, scale_told=votes.scale_told)
    return kept, {} if own is None else own.to_dict()


def _findings(votes: Votes, said: NDArray[np.int64], opened: Opened, overlap: Overlap) -> list[Finding]:
    weighted = opened.layout in ("counts", "sketch")
    findings = [*find_all(votes, weighted=weighted), *find_suspects(votes, said)]
    if opened.layout in ("wide", "counts"):
        findings += odd_columns(votes)
    findings += [Finding(a.kind, a.message, a.jurors, a.level, a.value) for a in _possible_repeats(votes)]
    by_row = np.bincount(votes.triples()[0], minlength=votes.rows)
    unseen = int(votes.weights[by_row == 0].sum())
    if unseen:
        findings.append(
            Finding("items_without_votes", f"{unseen:,} {'items have' if unseen > 1 else 'item has'} no vote")
        )
    if len(overlap.groups) > 1:
        sizes = ", ".join(f"{len(group):,}" for group in overlap.groups[:_SHOWN_GROUPS])
        message = (
            f"the jurors fall into {len(overlap.groups)} groups (of {sizes}) that share no item: grade each by itself"
        )
        findings.append(Finding("separate_groups", message))
    return findings


def _possible_repeats(votes: Votes) -> list[Alarm]:
    """Who may be one judge under several names, where grading would say it; many jurors are not compared in pairs."""
    return possible_repeat_alarms(Sketch.from_votes(votes)) if len(votes.jurors) <= _MOST_COMPARED else []


def _graded(votes: Votes, findings: Sequence[Finding]) -> Votes:
    """The votes as the suggested commands would read them."""
    absent = {label for finding in findings if finding.kind == "ambiguous_words" for label in finding.about}
    dropped = {j for finding in findings if finding.kind == "key_column" for j in finding.about}
    kept = [juror for juror in votes.jurors if juror not in dropped]
    taken = votes.take(kept) if dropped & set(votes.jurors) else votes
    if not absent:
        return taken
    labels = tuple(label for label in votes.labels if label not in absent)
    return relabelled(taken, labels, [None if label in absent else label for label in votes.labels])


def _key_steps(files: Sequence[str]) -> tuple[Step, ...]:
    votes = votes_beside(files[0]) if len(files) == 1 else None
    if votes is None:
        return ()
    return (Step(command_line("score", [votes], {}, "--key", files[0]), "the true grades of the votes beside it"),)


def _unread(files: Sequence[str], glimpse: Glimpse, error: JurorsError) -> Inspection:
    columns = {"columns": glimpse.columns} if glimpse.columns else {}
    fault = error.fault
    if glimpse.format == "JSON document":
        fault = "this is one JSON document, which no reader knows; records are written one {…} a line, or in an array"
    if glimpse.format == "text":
        fault = f"this does not look like a table ({fault.split(';')[0]})"
    return Inspection(
        files=tuple(files),
        format=glimpse.format,
        columns=columns,
        assumed={},
        labels={},
        fault=fault,
        sample=glimpse.rows,
    )


def _names(source: Any) -> tuple[str, ...]:
    return tuple(str(one) for one in source) if isinstance(source, (list, tuple)) else (str(source),)
