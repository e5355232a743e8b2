"""Inspect, folders."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from jurors._files import temp_directory
from jurors.errors import JurorsError, VotesError
from jurors.evaluate import Alarm
from jurors.evaluate.consistency import self_agreement
from jurors.inspection.recognise import (
    FilePreview,
    OpenedVotes,
    columns_of,
    find_suspects,
    looks_like_key,
    open_votes,
    preview_file,
    suspicious_columns,
)
from jurors.inspection.result import (
    CountRange,
    Inspection,
    Overlap,
    Step,
    command_line,
    find_overlap,
    find_votes_file,
    grading_obstacles,
    next_steps,
)
from jurors.jury.inputs import as_votes
from jurors.numeric.data import numbers_of, repeatability
from jurors.options import (
    Grading,
    PairOptions,
    PairReading,
    Reading,
    ReadingOptions,
    TableOptions,
    column_names,
    item_name,
    text_columns,
)
from jurors.pairwise.data import Preferences, holds_pairs, preferences_of, read_pairs
from jurors.results import without_secrets
from jurors.sketch import Sketch
from jurors.uncertainty.trio_alarms import possible_repeat_alarms
from jurors.votes.codes import Finding
from jurors.votes.findings import find_findings
from jurors.votes.frame import is_frame, open_frame
from jurors.votes.io.duckdb_table import open_table
from jurors.votes.io.sources import NO_VOTES, TITLES, locate, named_format, no_tables, shown_source
from jurors.votes.pair_columns import FIRST, SECOND, TIE, PairColumns, certain_pair_columns, pair_columns
from jurors.votes.table import Votes, count_labels_by_juror, recode_labels

# What a folder holds that is not one table of votes, nor one tool's log: file by file, in a few words each.


_MOST_FILES = 30  #: looked into, one by one
_LARGEST = 50_000_000  #: bytes of a file that is looked into
_SUGGESTED = 3
_NAMED = 3
_FAULT_WIDTH = 90


@dataclass(frozen=True)
class Entry:
    """A file or folder: its name, what it is for programs ("votes", "key", "table", "folder" …) and for people."""

    name: str
    kind: str
    what: str
    steps: tuple[Step, ...] = ()
    fault: str | None = None


def list_folder(folder: str, look: Callable[[str], Inspection]) -> list[Entry]:
    """Every file and folder right below this one; `look` inspects a file."""
    entries = sorted((e for e in os.scandir(folder) if not e.name.startswith(NO_VOTES)), key=lambda e: e.name)
    files = [entry.name for entry in entries if entry.is_file()]
    looked = set(files[:_MOST_FILES])
    return [
        _contents_folder(entry.path, entry.name)
        if entry.is_dir()
        else _file(os.path.join(folder, entry.name), entry.name, look)
        if entry.name in looked and entry.stat().st_size <= _LARGEST
        else Entry(entry.name, "unseen", "not looked into: " + _why_unseen(entry.stat().st_size))
        for entry in entries
        if entry.is_dir() or entry.is_file()
    ]


def _why_unseen(size: int) -> str:
    return f"{size / 1e6:,.0f} MB" if size > _LARGEST else "there are many files"


def _contents_folder(path: str, name: str) -> Entry:
    names = sorted(one for one in os.listdir(path) if not one.startswith(NO_VOTES))
    tables = [one for one in names if named_format(one) is not None]
    shown = (tables + [one for one in names if one not in tables])[:_NAMED]
    more = f" and {len(names) - len(shown):,} more" if len(names) > len(shown) else ""
    return Entry(name, "folder", f"folder: {', '.join(shown)}{more}" if names else "folder: empty")


def _file(path: str, name: str, look: Callable[[str], Inspection]) -> Entry:
    try:
        glance = look(path)
    except JurorsError as error:
        if error.code == "damaged":
            return Entry(name, "damaged", f"cannot be read: {error.fault[:_FAULT_WIDTH]}", fault=error.fault)
        return Entry(name, "other", "not votes")
    score = tuple(step for step in glance.steps if step.command.startswith("jurors score "))
    if glance.layout == "key":
        return Entry(name, "key", f"answer key: {glance.items:,} items, {len(glance.labels)} labels")
    if glance.votes is not None and not glance.obstacles:
        what = glance.format.split(" (")[0] if glance.layout == "log" else "votes"
        return Entry(name, "votes", f"{what}: {glance.items:,} items, {len(glance.jurors):,} jurors", score)
    if glance.fault is None:
        return Entry(name, "table", f"{glance.format}, nothing to grade: {glance.obstacles[0].split(';')[0]}", score)
    if glance.format in ("text", "JSON document"):
        return Entry(name, "other", f"not votes ({glance.format})")
    return Entry(name, "damaged", f"{glance.format}, cannot be read: {glance.fault[:_FAULT_WIDTH]}", fault=glance.fault)


def folder_fault(folder: str, entries: Sequence[Entry]) -> str | None:
    """Why nothing in the folder can be read, or which file of it is broken; None where all is well."""
    broken = next((entry for entry in entries if entry.fault), None)
    if broken is not None:
        return f"{broken.name}: {broken.fault}"
    if any(entry.kind in ("votes", "key", "table", "unseen") for entry in entries):
        return None
    if any(_has_tables(Path(folder) / entry.name) for entry in entries if entry.kind == "folder"):
        return None
    return no_tables().fault


def folder_steps(folder: str, entries: Sequence[Entry]) -> Iterator[Step]:
    """What to look at next: the files of votes, else the folders that hold some."""
    files = [entry for entry in entries if entry.kind == "votes"]
    for entry in files[:_SUGGESTED]:
        yield Step(command_line("inspect", [os.path.join(folder, entry.name)], {}), f"what {entry.name} holds")
    yield from (step for entry in files[:_SUGGESTED] for step in entry.steps)
    below = [entry for entry in entries if entry.kind == "folder" and _has_tables(Path(folder) / entry.name)]
    if not files:
        for entry in sorted(below, key=lambda entry: "votes" not in entry.what)[:_SUGGESTED]:
            yield Step(command_line("inspect", [os.path.join(folder, entry.name)], {}), f"what {entry.name} holds")


def _has_tables(folder: Path) -> bool:
    return any(named_format(entry) is not None for entry in os.listdir(folder))


# A table that says which of two objects is better, which no command takes for votes: what it holds, what to run.


_SPOKEN = ("layout", "label", "count", "tool")  # who says these knows the columns of votes


def compared(source: Any, files: Sequence[str], reading: Mapping[str, Any]) -> Inspection | None:
    """What a table of pairs holds; None where this is none, and nobody says that it is."""
    options = Reading.of(reading)
    told = options.scale == "pairs"
    spoken = any(reading.get(name) not in ("auto", None) for name in _SPOKEN)
    if not told and (options.scale != "auto" or spoken):
        return None
    if not told and not holds_pairs(source, Reading(memory=options.memory, unpack=options.unpack)):
        return None
    given = {name: reading[name] for name in column_names(PairOptions) if reading.get(name)}
    asked = PairReading(**{**given, "item": item_name(options.item)})
    with open_table(source, options) as table:
        columns = pair_columns(table.names, table.facts, asked)
        pairs = preferences_of(table, asked)
        part = table.parts[0]
        return _shown(columns, table.names, pairs, TITLES[part.holder or part.format], files, told, asked)


def compared_frame(source: Any, options: Reading) -> Inspection | None:
    """The same of a dataframe in memory; what can be read only once is left to whoever reads it."""
    if isinstance(source, (Votes, Sketch)) or not hasattr(type(source), "columns") or not is_frame(source):
        return None
    told = options.scale == "pairs"
    spoken = any(getattr(options, name) not in ("auto", None) for name in _SPOKEN)
    if not told and (options.scale != "auto" or spoken):
        return None
    frame = open_frame(source)
    columns = certain_pair_columns(frame.names, frame.facts, text_columns(options.ignore))
    columns = pair_columns(frame.names, frame.facts, PairReading()) if columns is None and told else columns
    if columns is None:
        return None
    name = f"{type(source).__module__.split('.')[0]} {type(source).__name__}"
    asked = PairReading(map=options.map)
    return _shown(columns, frame.names, read_pairs(source, map=asked.map), name, (), told, asked)


def _shown(
    columns: PairColumns | None,
    names: Sequence[str],
    pairs: Preferences,
    title: str,
    files: Sequence[str],
    told: bool,
    asked: PairReading,
) -> Inspection:
    """What the preferences hold, and what to run."""
    roles = {} if columns is None else {r: getattr(columns, r) for r in ("left", "right", "winner", "juror", "item")}
    shown: dict[str, tuple[str, ...]] = {role: (names[k],) for role, k in roles.items() if k is not None}
    if columns is not None and columns.several is not None:
        shown["winner"] = tuple(names[k] for k in columns.answers)
    said = {"first": FIRST, "second": SECOND, "tie": TIE}
    return Inspection(
        files=tuple(files),
        format=title,
        layout="pairs",
        columns=shown,
        assumed={},
        items=len(pairs.objects),
        jurors=pairs.jurors,
        labels={word: int(np.sum(pairs.outcome == side)) for word, side in said.items()},
        scale="pairs",
        scale_why="as you say (--scale pairs)" if told else "two columns of objects, and one that says which is better",
        votes=len(pairs),
        steps=_steps(files, asked, {"duplicates": "join"} if pairs.has_repeats else {}) if files else (),
    )


def _steps(files: Sequence[str], asked: PairReading, joined: Mapping[str, str]) -> tuple[Step, ...]:
    """The same answers mean the same in all of them; `joined`: how several answers of a juror become one vote."""
    told = {"map": tuple(f"{old}={new}" for old, new in asked.names.items())} if asked.names else {}
    return (
        Step(command_line("rank", files, told), "which objects are better, with intervals"),
        Step(command_line("grade", files, told), "whose comparisons can be relied on"),
        Step(command_line("report", files, told, "-o", "report.html"), "both as one page to pass on"),
        Step(
            command_line("convert", files, {**told, **joined}, "-o", "votes.csv"),
            "votes on pairs: first, second or tie",
        ),
    )


# `inspect`: looks at files (or frames) of votes without grading, and survives what a reader would refuse.


_SHOWN_GROUPS = 8
_MOST_COMPARED = 100  # jurors
_UNLIKE = "the columns do not hold the same labels; leave out what is no juror (--ignore COLUMN)"


def inspect(source: Any, **reading: Unpack[ReadingOptions]) -> Inspection:
    """Say what some files hold, without grading: what each column is, who voted, what looks odd, what to run next.

    Where the votes cannot be read, it says what it sees and which option would help; VotesError is raised only where
    there is nothing to see. The options are those of `read_votes`; a dataframe, an items x jurors matrix, `Votes` or a
    `Sketch` will do too.
    """
    if (pairs := compared_frame(source, Reading.of(reading))) is not None:
        return pairs
    if (opened := _in_memory(source, reading)) is not None:
        return _inspection(opened, (), reading)
    with temp_directory() as folder:
        located = locate(source, folder)
        if not (located.paths or located.tables):
            raise VotesError(f"{shown_source(source)}: this folder holds no file")
        streams = any(folder in path.parents for path in located.paths)
        files = (shown_source(source),) if streams else tuple(map(without_secrets, _names(source)))
        where = list(located.paths) if streams else source
        try:
            pairs = compared(where, files if not streams else ("-",), reading)
        except JurorsError as error:
            raise _in_stream(error, files[0]) if streams else error from None
        if pairs is not None:
            return pairs
        try:
            opened = open_votes(where, reading)
        except JurorsError as error:
            if (named := _folder(source)) is not None:
                return _listing(named, reading, None)
            glimpse = preview_file(located.paths, located.root) if located.paths else None
            if glimpse is None:
                raise _in_stream(error, files[0]) if streams else error from None
            return _unread(files, glimpse, error)
        if opened.fault is not None and (named := _folder(source)) is not None:
            return _listing(named, reading, opened)
        return _inspection(opened, files if not streams else ("-",), reading)


def _in_stream(error: JurorsError, name: str) -> JurorsError:
    """The same error, without the name of the file that a stream was kept in."""
    bare = copy.copy(error)
    bare.args = (error.fault,)
    return bare.in_file(name)


def _in_memory(source: Any, reading: Mapping[str, Any]) -> OpenedVotes | None:
    from jurors.votes.frame import is_frame, open_frame

    if isinstance(source, Votes):
        return OpenedVotes(votes=as_votes(source, **reading), layout="votes", format="Votes")
    several = source if isinstance(source, (list, tuple)) else (source,)
    if all(isinstance(one, (str, os.PathLike)) or hasattr(one, "read") for one in several):
        return None
    if isinstance(source, Sketch):
        return OpenedVotes(votes=as_votes(source, **reading), layout="sketch", format="Sketch")
    if not is_frame(source):  # a matrix; whatever holds no votes is refused
        return OpenedVotes(votes=as_votes(source, **reading), layout="votes", format="matrix")
    name = f"{type(source).__module__.split('.')[0]} {type(source).__name__}"
    votes = Votes.from_frame(source, **reading)
    if not hasattr(type(source), "columns"):  # a stream, which can be read only once
        return OpenedVotes(votes=votes, layout="votes", format=name)
    frame = open_frame(source)
    if {"trace_id", "assessments"} <= set(frame.names):
        return OpenedVotes(votes=votes, layout="log", format=name)
    options = Reading.of(reading, TableOptions)
    if options.transpose:
        return OpenedVotes(votes=votes, layout="long", format=name)
    frame = frame.reaching(options)
    layout = frame.layout(options)
    return OpenedVotes(votes=votes, layout=layout.kind, format=name, columns=columns_of(frame.names, layout))


def _folder(source: Any) -> str | None:
    """The folder that was named, where it alone was."""
    one = source[0] if isinstance(source, (list, tuple)) and len(source) == 1 else source
    return os.fspath(one) if isinstance(one, (str, os.PathLike)) and os.path.isdir(one) else None


def _listing(folder: str, reading: Mapping[str, Any], log: OpenedVotes | None) -> Inspection:
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


def _chosen(files: Sequence[str], opened: OpenedVotes | None) -> tuple[Step, ...]:
    """Which of a log's questions or tasks to read, where it has several."""
    if opened is None or opened.choose is None:
        return ()
    return (Step(command_line("inspect", files, {"tool": opened.choose}), "one of those to choose from"),)


def _inspection(opened: OpenedVotes, files: Sequence[str], reading: Mapping[str, Any]) -> Inspection:
    votes = opened.votes
    if votes is None:
        return Inspection(
            files=tuple(files), format=opened.format, columns=opened.columns, assumed=opened.assumed, labels={},
            items=opened.rows, findings=opened.findings, obstacles=() if opened.fault else (_UNLIKE,),
            fault=opened.fault, sample=opened.sample, steps=_chosen(files, opened),
        )  # fmt: skip
    votes, repeats = _heard(votes)
    said = count_labels_by_juror(votes)
    options = {**reading, **opened.assumed}
    names = [name for part in opened.columns.values() for name in part]
    is_key = opened.layout == "wide" and looks_like_key(votes, names)
    overlap = None if is_key else find_overlap(votes)
    findings = () if overlap is None else (*opened.findings, *_findings(votes, said, opened, overlap))
    graded = _graded(votes, findings)
    hindered = () if is_key else tuple(grading_obstacles(graded))
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
        votes_per_juror=CountRange.of(said.sum(axis=1)) if votes.jurors else None,
        votes_per_item=CountRange.of(by_row[weights > 0], weights[weights > 0]) if votes.total else None,
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


def _findings(votes: Votes, said: NDArray[np.int64], opened: OpenedVotes, overlap: Overlap) -> list[Finding]:
    weighted = opened.layout in ("counts", "sketch")
    findings = [*find_findings(votes, weighted=weighted), *find_suspects(votes, said)]
    if opened.layout in ("wide", "counts"):
        findings += suspicious_columns(votes)
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
    return recode_labels(taken, labels, [None if label in absent else label for label in votes.labels])


def _key_steps(files: Sequence[str]) -> tuple[Step, ...]:
    votes = find_votes_file(files[0]) if len(files) == 1 else None
    if votes is None:
        return ()
    return (Step(command_line("score", [votes], {}, "--key", files[0]), "the true grades of the votes beside it"),)


def _unread(files: Sequence[str], glimpse: FilePreview, error: JurorsError) -> Inspection:
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


# `jurors inspect`: what files hold, told without grading anybody, and which commands would work next.


__all__ = ["Inspection", "inspect"]
