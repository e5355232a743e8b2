"""What `inspect` alone says of some votes: who is silent or always says the same, columns that are no jurors."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.errors import JurorsError, VotesError, format_names
from jurors.options import Reading, text_columns
from jurors.votes.codes import Finding, list_names
from jurors.votes.findings import unlike_columns
from jurors.votes.io.duckdb_table import SourceTable, ToolLog, open_source
from jurors.votes.io.sources import CELLS, TITLES, named_format
from jurors.votes.layout import JUROR_WORDS, LABEL_WORDS, TRUTH_WORDS, Layout, bare_word, guess_column
from jurors.votes.read import open_layout, votes_of, votes_of_log
from jurors.votes.readers import Records
from jurors.votes.readers.base import Files
from jurors.votes.readers.matrices import experiments
from jurors.votes.repeats import REPEAT_WORDS
from jurors.votes.table import Votes

# What `inspect` alone says of some votes: who is silent or always says the same, columns that are no jurors.


_SURE_KEYS = (
    "truth",
    "gold",
    "groundtruth",
    "truelabel",
    "goldlabel",
    "gt",
    "goldstandard",
    "expectedlabel",
    "answerkey",
)
_KEY_WORDS = (*_SURE_KEYS, *TRUTH_WORDS, "reference", "correct", "correctanswer", "expected")
_ENOUGH = 20  #: votes, before "always the same" says anything


def find_suspects(votes: Votes, said: NDArray[np.int64]) -> Iterator[Finding]:
    """What grading says in other words or has no need of; `said` counts each label by juror (jurors x labels)."""
    yield from _unsaid(votes, said.sum(axis=0))
    yield from _odd_jurors(votes, said)


def _unsaid(votes: Votes, counts: NDArray[np.int64]) -> Iterator[Finding]:
    if unsaid := [label for label, n in zip(votes.labels, counts.tolist(), strict=True) if not n]:
        yield Finding("unsaid_labels", f"nobody ever says {', '.join(map(repr, unsaid[:6]))}", tuple(unsaid))


# -- jurors ---------------------------------------------------------------------------------------------------


def _odd_jurors(votes: Votes, said: NDArray[np.int64]) -> Iterator[Finding]:
    heard = said.sum(axis=1)
    if len(silent := _names(votes, heard == 0)):
        yield Finding("silent_jurors", f"{list_names(silent)} never voted", silent)
    enough = _ENOUGH if votes.total >= _ENOUGH else 2  # of a few items, a juror's every vote is a good part
    constant = _names(votes, ((said > 0).sum(axis=1) == 1) & (heard >= enough)) if len(votes.labels) > 1 else ()
    if constant:
        yield Finding("constant_jurors", f"{list_names(constant)} always said the same label", constant)
    if votes.scale == "interval":
        return  # whoever measures in tens says fewer numbers than who measures in ones
    if (different := unlike((said > 0).sum(axis=1), heard)) is not None:
        yield different_counts([(votes.jurors[k], int((said[k] > 0).sum())) for k in different])


def unlike(used: NDArray[np.int64], heard: NDArray[np.int64]) -> tuple[int, int] | None:
    """Two jurors who use altogether different labels although each had the votes to use them all.

    `used` is how many labels each says, `heard` how many votes each gives.
    """
    able = np.flatnonzero(heard >= max(_ENOUGH, 5 * used.max(initial=0)))
    if len(able) < 2 or used[able].max() < 4 * used[able].min() or used[able].max() < 8:
        return None
    return int(able[np.argmax(used[able])]), int(able[np.argmin(used[able])])


def different_counts(examples: Sequence[tuple[str, int]]) -> Finding:
    """The finding about jurors and how many different labels each says."""
    return unlike_columns("; ".join(f"{name}: {used:,} different ones" for name, used in examples), "note")


# -- columns --------------------------------------------------------------------------------------------------


def suspicious_columns(votes: Votes) -> Iterator[Finding]:
    """Jurors of a wide table whose name says that the column is something else."""
    if (key := guess_column(votes.jurors, _KEY_WORDS)) is not None and len(votes.jurors) > 1:
        name = votes.jurors[key]
        yield Finding("key_column", f"column {name!r} looks like an answer key, not like a juror", (name,))


def key_column(names: Sequence[str], *, sure: bool = False) -> str | None:
    """The column that is called like an answer key, if any; `sure`: like hardly anything else."""
    place = guess_column(names, _SURE_KEYS if sure else _KEY_WORDS)
    return None if place is None else names[place]


def looks_like_key(votes: Votes, names: Sequence[str]) -> bool:
    """Whether a table of items and one more column is an answer key: item, label."""
    return len(votes.jurors) == 1 and len(names) <= 3 and guess_column(votes.jurors, (*_KEY_WORDS, *LABEL_WORDS)) == 0


def _names(votes: Votes, where: NDArray[Any]) -> tuple[str, ...]:
    return tuple(votes.jurors[k] for k in np.flatnonzero(where).tolist())


# Reads votes to be looked at: where a reader would refuse, it tries the option that the message names, and says so.


_MOST_TRIES = 6
_MANY_CELLS = 2_000_000  #: of a wide table, before its columns are compared without reading the cells


@dataclass(frozen=True, kw_only=True)
class OpenedVotes:
    """Votes and how they were read; or, where they were not, why."""

    format: str
    votes: Votes | None = None
    layout: str | None = None
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    assumed: dict[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    duplicates: int = 0
    fault: str | None = None
    sample: tuple[str, ...] = ()
    rows: int | None = None  #: of a table that was not read, since its columns are no jurors
    is_log: bool = False
    choose: str | None = None  #: `--from NAME:QUESTION` that reads one of a log's several questions


@dataclass(frozen=True)
class _Remedy:
    """Opened that may help, and what they say about the file."""

    options: dict[str, Any]
    finding: Finding | None = None
    duplicates: int = 0


def open_votes(source: Any, reading: Mapping[str, Any]) -> OpenedVotes:
    """The votes of some files, read with what options it takes; JurorsError where the files cannot even be opened."""
    assumed: dict[str, Any] = {}
    findings: tuple[Finding, ...] = ()
    duplicates = 0
    for _ in range(_MOST_TRIES):
        attempt = _attempt(source, {**reading, **assumed})
        if isinstance(attempt, OpenedVotes):
            break
        assumed |= attempt.options
        findings += () if attempt.finding is None else (attempt.finding,)
        duplicates += attempt.duplicates
    else:
        raise VotesError("no options were found that read these files")
    return replace(attempt, assumed=assumed, findings=(*findings, *attempt.findings), duplicates=duplicates)


def _attempt(source: Any, reading: dict[str, Any]) -> OpenedVotes | _Remedy:
    options = Reading.of(reading)
    with open_source(source, options) as opened:
        try:
            return _log(opened, options) if isinstance(opened, ToolLog) else _table(opened, options)
        except JurorsError as error:
            remedy = _remedy(error, options, None if isinstance(opened, ToolLog) else opened)
            if remedy is not None:
                return remedy
            fault, choose = " ".join(str(error).split()), error.about.get("tool")
            if isinstance(opened, ToolLog):
                return OpenedVotes(format=opened.reader.TITLE, fault=fault, is_log=True, choose=choose)
            columns = {"columns": opened.names}
            return OpenedVotes(format=_format(opened), columns=columns, fault=fault, sample=tuple(_rows(opened)))


def _log(log: ToolLog, options: Reading) -> OpenedVotes:
    records = log.read()
    votes = votes_of_log(log, options, records)
    findings = (*_about(log), *_told(records))
    return OpenedVotes(format=log.reader.TITLE, layout="log", votes=votes, findings=findings, is_log=True)


def _told(records: Records | Votes) -> Iterator[Finding]:
    """What else the log tells of items."""
    names = () if isinstance(records, Votes) else tuple(records.fields)
    if names:
        message = (
            f"the log tells of each item {format_names(names, 12)}: --key NAME for true labels, --by NAME for groups"
        )
        yield Finding("log_fields", message, names)


def _about(log: ToolLog) -> Iterator[Finding]:
    if log.tool != "by-true-label":
        return
    document = Files(log.found.paths, log.found.root).document().value
    if (several := len(experiments(document))) > 1:
        message = f"{several:,} experiments are counted together; where they drew the same records, items come again"
        yield Finding("experiments", message)
    if not isinstance(document, dict) or "by_true_label" in document or "observed" not in document:
        yield Finding("true_labels", "the true labels are in the file; the counts are summed over them, as if unknown")


def _table(table: SourceTable, options: Reading) -> OpenedVotes | _Remedy:
    if _is_prose(table, options):
        fault = "this does not look like a table: there is one column, whose name is a sentence or a headline"
        return OpenedVotes(format="text", fault=fault, sample=tuple(_rows(table)))
    table, layout = open_layout(table, options)
    jurors = [table.names[k] for k in layout.votes]
    if options.layout == "auto" and len(jurors) > 1 and (key := key_column(jurors, sure=True)) is not None:
        message = f"column {key!r} looks like an answer key, not like a juror"
        return _Remedy({"ignore": (*text_columns(options.ignore), key)}, Finding("key_column", message, (key,)))
    if (features := _features(table, layout, options)) is not None:
        return features
    votes = votes_of(table.keep(layout.used), layout, options)
    columns = columns_of(table.names, layout)
    left = [name for name in columns.get("ignored", ()) if name not in text_columns(options.ignore)]
    key = key_column(left)
    findings = () if key is None else (Finding("key_column", f"column {key!r} looks like an answer key", (key,)),)
    return OpenedVotes(format=_format(table), layout=layout.kind, votes=votes, columns=columns, findings=findings)


def columns_of(names: Sequence[str], layout: Layout) -> dict[str, tuple[str, ...]]:
    """What each column of a table with these names is."""
    places = {"item": layout.item, "juror": layout.juror, "label": layout.label, "count": layout.count}
    places["repeat"] = layout.repeat
    columns: dict[str, tuple[str, ...]] = {role: (names[k],) for role, k in places.items() if k is not None}
    if layout.votes:
        columns["jurors"] = tuple(names[k] for k in layout.votes)
    if ignored := tuple(name for k, name in enumerate(names) if k not in layout.used):
        columns["ignored"] = ignored
    return columns


def _format(table: SourceTable) -> str:
    kinds = dict.fromkeys(TITLES[part.holder or part.format] for part in table.parts)
    return " and ".join(kinds) + (f", {len(table.parts):,} files" if len(table.parts) > 1 else "")


def _rows(table: SourceTable) -> Iterator[str]:
    cells = ", ".join(f"c{k}::VARCHAR" for k in range(min(len(table.names), 12)))
    for row in table.con.execute(f"SELECT {cells} FROM {table.sql} LIMIT 3").fetchall():
        yield ", ".join("" if cell is None else " ".join(str(cell).split())[:30] for cell in row)


# -- tables that are none of votes ------------------------------------------------------------------------------


def _is_prose(table: SourceTable, options: Reading) -> bool:
    """Whether a file of text has one column, called by a sentence or a headline."""
    name = table.names[0]
    return table.types == ("CSV",) and options.layout == "auto" and (name.startswith("#") or len(name.split()) > 3)


def _features(table: SourceTable, layout: Layout, options: Reading) -> OpenedVotes | None:
    """A large wide table whose columns hold different values, told before its cells are read."""
    if layout.kind == "long" or options.layout != "auto" or len(layout.votes) < 2 or not _is_large(table):
        return None
    sizes = ", ".join(f"approx_count_distinct(c{k}), count(c{k})" for k in layout.votes)
    (rows, *counted) = table.watched(f"SELECT count(*), {sizes} FROM {table.sql}").fetchall()[0]
    used, heard = np.array(counted).reshape(-1, 2).T
    if (different := unlike(used, heard)) is None:
        return None
    pair = [layout.votes[k] for k in different]
    exact = table.watched(f"SELECT {', '.join(f'count(DISTINCT c{k})' for k in pair)} FROM {table.sql}").fetchall()[0]
    if unlike(np.array(exact), heard[list(different)]) is None:
        return None
    finding = different_counts([(table.names[k], n) for k, n in zip(pair, exact, strict=True)])
    columns = {"columns": table.names}
    sample = tuple(_rows(table))
    return OpenedVotes(format=_format(table), columns=columns, findings=(finding,), sample=sample, rows=rows)


def _is_large(table: SourceTable) -> bool:
    if all(part.format == "parquet" for part in table.parts):
        (rows,) = table.con.execute(f"SELECT count(*) FROM {table.sql}").fetchall()[0]
        return bool(rows * len(table.names) > _MANY_CELLS)
    return sum(part.path.stat().st_size for part in table.parts) > 2 * _MANY_CELLS  # a cell and a comma


# -- what may help --------------------------------------------------------------------------------------------


def _remedy(error: JurorsError, options: Reading, table: SourceTable | None) -> _Remedy | None:
    if error.code == "repeated_votes" and options.duplicates == "error":
        (juror,), item, repeated = error.about["jurors"], error.about["item"], error.about["repeated"]
        many = f"{repeated} repeated {'vote' if repeated == 1 else 'votes'} in all"
        kept = "the first is kept here (--duplicates first), `last` keeps the last, `join` makes one vote of all"
        message = f"juror {juror!r} votes more than once on item {item!r} ({many}); {kept}"
        return _Remedy({"duplicates": "first"}, Finding("duplicates", message), repeated)
    if error.code == "two_readings" and error.about.get("name") == "repeat":
        return _again(error.about["column"])
    if error.code == "key_column":
        key = error.about["column"]
        finding = Finding("key_column", f"column {key!r} looks like an answer key, not like a juror", (key,))
        return _Remedy({"ignore": (*text_columns(options.ignore), key)}, finding)
    if error.code == "two_items":
        one, two = error.about["columns"]
        message = f"columns {one!r} and {two!r} both look like the item; {one!r} is taken, the other left out"
        return _Remedy({"item": one, "ignore": (*text_columns(options.ignore), two)}, Finding("two_items", message))
    if error.code != "no_label_column" or table is None:
        return None
    guessed = error.about.get("columns")
    return _half_long(table, options) if guessed is None else _guessed(*guessed)


def _again(column: str) -> _Remedy | None:
    """A column that is called as repetitions are, and numbers votes of one juror on one item."""
    if re.fullmatch(rf"(?:{REPEAT_WORDS})s?", bare_word(column)) is None:
        return None
    message = f"column {column!r} is taken for the number of the repetition: a juror's votes on an item are one voice"
    return _Remedy({"repeat": column}, Finding("repeat_column", f"{message} (--repeat {column})", (column,)))


def _half_long(table: SourceTable, options: Reading) -> _Remedy | None:
    """A column of jurors without a column of labels that we know: of the others, the one that varies least."""
    juror = guess_column(table.names, JUROR_WORDS)
    others = [k for k, name in enumerate(table.names) if k != juror and name not in text_columns(options.ignore)]
    if juror is None or len(others) < 2 or options.juror or options.label:
        return None
    sizes = {k: table.con.execute(f"SELECT count(DISTINCT c{k}) FROM {table.sql}").fetchall()[0][0] for k in others}
    label, item = min(others, key=sizes.__getitem__), max(reversed(others), key=sizes.__getitem__)
    return _guessed(table.names[item], table.names[juror], table.names[label])


def _guessed(item: str, juror: str, label: str) -> _Remedy:
    chosen = {"item": item, "juror": juror, "label": label}
    guess = ", ".join(f"{name!r} for the {role}" for role, name in chosen.items())
    return _Remedy(chosen, Finding("guessed_columns", f"the columns are a guess: {guess}"))


# What a file shows that cannot be read as votes: its columns or keys, and its first lines.


_LARGEST = 50_000_000
_LINES = 3
_MOST_WORDS = 3  #: in the name of a column; more are a sentence


@dataclass(frozen=True)
class FilePreview:
    """A first look at a file."""

    format: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]  #: its first lines below the column names


def preview_file(paths: Sequence[Path], root: Path) -> FilePreview | None:
    """The columns and first lines of the first file; None where it is no text."""
    files = Files(tuple(paths[:1]), root)
    try:
        head = files.head()
        text = head[: head.rfind(b"\n") + 1 or len(head)].decode()
    except (VotesError, UnicodeDecodeError):
        return None
    if not text.strip() or "\0" in text:
        return None
    if text.lstrip()[0] in "{[":
        return _json_glimpse(files, text)
    lines = text.splitlines()
    choices = {mark: _header(text, mark) for mark in ",\t;|"}
    mark = max(choices, key=lambda mark: len(choices[mark]))
    columns = tuple(name.strip() for name in choices[mark])
    if not _is_table(paths[0].name, columns):
        return FilePreview("text", (), tuple(line for line in lines if line.strip())[:_LINES])
    return FilePreview("TSV" if mark == "\t" else "CSV", columns, tuple(lines[1 : 1 + _LINES]))


def _header(text: str, mark: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(text, newline=""), delimiter=mark), [])
    except csv.Error:
        return []


def _is_table(name: str, columns: Sequence[str]) -> bool:
    """Whether the first line names columns, or the file's name says that it does."""
    if named_format(name) in CELLS:
        return True
    return len(columns) > 1 and all(column and len(column.split()) <= _MOST_WORDS for column in columns)


def _json_glimpse(files: Files, text: str) -> FilePreview | None:
    what = "JSON document"
    try:
        if files.paths[0].stat().st_size > _LARGEST:
            raise VotesError("too large to look at whole")
        document: Any = files.document().value
    except VotesError:
        what = "JSON lines"
        try:
            document = json.loads(text.splitlines()[0])
        except (ValueError, RecursionError):
            return FilePreview("JSON", (), tuple(line[:100] for line in text.splitlines()[:_LINES]))
    if isinstance(document, list):
        what, document = f"JSON array of {len(document):,}", document[0] if document else {}
    if not isinstance(document, dict):
        return FilePreview(what, (), (_writable(str(document)[:100]),))
    rows = tuple(_writable(f"{key}: {_kind(value)}") for key, value in list(document.items())[:8])
    return FilePreview(what, tuple(map(_writable, document)), rows)


def _writable(text: str) -> str:
    """Text in which half a character, as JSON may hold, is spelled out."""
    return text.encode("utf-8", "backslashreplace").decode()


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        return f"an object with {', '.join(map(str, list(value)[:4]))}{' …' if len(value) > 4 else ''}"
    if isinstance(value, list):
        return f"a list of {len(value):,}"
    return str(value)[:60]
