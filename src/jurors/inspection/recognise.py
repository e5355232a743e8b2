"""Opening files for inspection, and what looks odd in them.

`open_votes` reads votes as a reader does, but where that would refuse, it tries the option that the error names, and
records a finding. `odd_votes` and `suspicious_columns` find what only `inspect` reports: silent and constant jurors,
labels that are never used, answer keys among the columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.errors import JurorsError, VotesError, format_names
from jurors.inspection.result import Inspection
from jurors.jury.kinds import NUMBERS, kind_of
from jurors.options import Reading, text_columns
from jurors.votes.codes import Finding, list_names
from jurors.votes.findings import unlike_columns
from jurors.votes.io.duckdb_table import SourceTable, ToolLog, open_source
from jurors.votes.io.sources import TITLES
from jurors.votes.key import TRUTH_WORDS
from jurors.votes.layout import JUROR_WORDS, LABEL_WORDS, Layout, bare_word, guess_column, item_parts
from jurors.votes.read import open_layout, votes_of, votes_of_log
from jurors.votes.readers import Records
from jurors.votes.readers.matrices import experiments
from jurors.votes.scale import REPEAT_WORDS
from jurors.votes.table import Votes

# -- odd jurors, labels and columns ---------------------------------------------------------------------------

_SURE_KEYS = (
    *("truth", "gold", "groundtruth", "truelabel", "goldlabel", "gt", "goldstandard"),
    *("expectedlabel", "answerkey"),
)
_KEY_WORDS = (*_SURE_KEYS, *TRUTH_WORDS, "reference", "correct", "correctanswer", "expected")
_ENOUGH = 20  # votes, before "always the same" means anything


def odd_votes(votes: Votes, counts: NDArray[np.int64]) -> Iterator[Finding]:
    """Find labels that are never used, and jurors who are silent, constant, or use other labels than the rest.

    Parameters
    ----------
    votes
        The votes.
    counts
        How often each juror gives each label (jurors x labels).

    Returns
    -------
    iterator of Finding
        What grading words differently, or does not need.
    """
    totals, given, used = counts.sum(axis=0), counts.sum(axis=1), (counts > 0).sum(axis=1)
    if unused := [label for label, n in zip(votes.labels, totals.tolist(), strict=True) if not n]:
        yield Finding("unsaid_labels", f"no juror gives the label {', '.join(map(repr, unused[:6]))}", tuple(unused))
    if len(silent := _names(votes, given == 0)):
        yield Finding("silent_jurors", f"{list_names(silent)} never voted", silent)
    enough = _ENOUGH if votes.total >= _ENOUGH else 2  # of a few items, a juror's every vote is a good part
    constant = _names(votes, (used == 1) & (given >= enough)) if len(votes.labels) > 1 else ()
    if constant:
        yield Finding(
            "constant_jurors",
            f"{list_names(constant)} always vote{'s' * (len(constant) == 1)} for the same label",
            constant,
        )
    if kind_of(votes) is NUMBERS:
        return  # measuring in tens takes fewer different numbers than measuring in ones
    if (different := _unlike(used, given)) is not None:
        yield _unlike_finding([(votes.jurors[k], int(used[k])) for k in different])


def _unlike(used: NDArray[np.int64], given: NDArray[np.int64]) -> tuple[int, int] | None:
    """Two jurors who use altogether different labels although each gave enough votes to use them all.

    `used` is how many different labels each uses, `given` how many votes each gives.
    """
    able = np.flatnonzero(given >= max(_ENOUGH, 5 * used.max(initial=0)))
    if len(able) < 2 or used[able].max() < 4 * used[able].min() or used[able].max() < 8:
        return None
    return int(able[np.argmax(used[able])]), int(able[np.argmin(used[able])])


def _unlike_finding(examples: Sequence[tuple[str, int]]) -> Finding:
    return unlike_columns("; ".join(f"{name}: {used:,} different ones" for name, used in examples), "note")


def suspicious_columns(votes: Votes) -> Iterator[Finding]:
    """Find the juror of a wide table whose name is that of an answer key.

    Returns
    -------
    iterator of Finding
        At most one.
    """
    if len(votes.jurors) > 1 and (name := _key_column(votes.jurors)) is not None:
        yield _key_finding(name)


def _key_column(names: Sequence[str], words: Sequence[str] = _KEY_WORDS) -> str | None:
    """The column that is called like an answer key, if any."""
    place = guess_column(names, words)
    return None if place is None else names[place]


def _key_finding(name: str) -> Finding:
    return Finding("key_column", f"column {name!r} looks like an answer key, not a juror", (name,))


def looks_like_key(votes: Votes, names: Sequence[str]) -> bool:
    """Decide whether a table of items and one more column is an answer key: item, label.

    Returns
    -------
    bool
        By the number of columns and the name of the last.
    """
    return len(votes.jurors) == 1 and len(names) <= 3 and guess_column(votes.jurors, (*_KEY_WORDS, *LABEL_WORDS)) == 0


def _names(votes: Votes, where: NDArray[Any]) -> tuple[str, ...]:
    return tuple(votes.jurors[k] for k in np.flatnonzero(where).tolist())


# -- opening votes --------------------------------------------------------------------------------------------

_MOST_TRIES = 6
_MANY_CELLS = 2_000_000  # of a wide table, before its columns are compared without reading the cells


@dataclass(frozen=True)
class OpenedVotes:
    """Votes and how they were read; or why they could not be."""

    seen: Inspection  #: what opening the files shows, without their votes
    votes: Votes | None = None
    question: str | None = None  #: "tool:question" for `--from`, which reads one of a log's several questions


@dataclass(frozen=True)
class _Remedy:
    """Options that may help, and the finding that explains them."""

    options: dict[str, Any]
    finding: Finding
    duplicates: int = 0


def open_votes(source: Any, reading: Mapping[str, Any]) -> OpenedVotes:
    """Read votes with whatever options it takes.

    Returns
    -------
    OpenedVotes
        Without votes where no option helps; JurorsError is raised where the files cannot even be opened.
    """
    assumed: dict[str, Any] = {}
    findings: tuple[Finding, ...] = ()
    duplicates = 0
    for _ in range(_MOST_TRIES):
        attempt = _attempt(source, {**reading, **assumed})
        if isinstance(attempt, OpenedVotes):
            break
        assumed |= attempt.options
        findings += (attempt.finding,)
        duplicates += attempt.duplicates
    else:
        raise VotesError("no reading options fit these files")
    findings += attempt.seen.findings
    return replace(attempt, seen=replace(attempt.seen, assumed=assumed, findings=findings, duplicates=duplicates))


def _attempt(source: Any, reading: dict[str, Any]) -> OpenedVotes | _Remedy:
    options = Reading.of(reading)
    with open_source(source, options) as opened:
        try:
            return _read_log(opened, options) if isinstance(opened, ToolLog) else _read_table(opened, options)
        except JurorsError as error:
            remedy = _remedy(error, options, None if isinstance(opened, ToolLog) else opened)
            if remedy is not None:
                return remedy
            fault, question = " ".join(str(error).split()), error.about.get("tool")
            if isinstance(opened, ToolLog):
                return OpenedVotes(Inspection(format=opened.reader.TITLE, fault=fault), question=question)
            return OpenedVotes(_unread(opened, fault=fault))


def _read_log(log: ToolLog, options: Reading) -> OpenedVotes:
    records = log.read()
    votes = votes_of_log(log, options, records)
    findings = []
    if log.tool == "by-true-label":
        document = log.files.document().value
        if (number := len(experiments(document))) > 1:
            message = f"{number:,} experiments are counted together; records that several of them drew count repeatedly"
            findings.append(Finding("experiments", message))
        if not isinstance(document, dict) or "by_true_label" in document or "observed" not in document:
            message = "the file contains the true labels; the counts are summed over them"
            findings.append(Finding("true_labels", message))
    if isinstance(records, Records) and (names := tuple(records.fields)):
        message = (
            f"the log has these fields of each item: {format_names(names, 12)}; use key= for true labels, by= "
            "for groups"
        )
        findings.append(Finding("log_fields", message, names))
    return OpenedVotes(Inspection(format=log.reader.TITLE, layout="log", findings=tuple(findings)), votes)


def _read_table(table: SourceTable, options: Reading) -> OpenedVotes | _Remedy:
    name = table.names[0]
    is_heading = name.startswith("#") or len(name.split()) > 3
    if table.types == ("CSV",) and options.layout == "auto" and is_heading:
        fault = "this does not look like a table: its only column has a sentence or a heading for a name"
        return OpenedVotes(Inspection(format="text", fault=fault, sample=tuple(_rows(table))))
    table, layout = open_layout(table, options)
    jurors = [table.names[k] for k in layout.votes]
    if options.layout == "auto" and len(jurors) > 1 and (key := _key_column(jurors, _SURE_KEYS)) is not None:
        return _ignore_key(key, options)
    if (features := _open_features(table, layout, options)) is not None:
        return features
    votes = votes_of(table.keep(layout.used), layout, options)
    columns = columns_of(table.names, layout)
    key = _key_column([name for name in columns.get("ignored", ()) if name not in text_columns(options.ignore)])
    findings = () if key is None else (Finding("key_column", f"column {key!r} looks like an answer key", (key,)),)
    return OpenedVotes(Inspection(format=_format(table), layout=layout.kind, columns=columns, findings=findings), votes)


def columns_of(names: Sequence[str], layout: Layout) -> dict[str, tuple[str, ...]]:
    """Describe the columns of a table by a layout.

    Returns
    -------
    dict
        Role ("item", "juror", "label", "count", "repeat", "jurors", "confidence", "ignored") -> the columns' names.
    """
    places = {"item": layout.item, "juror": layout.juror, "label": layout.label, "count": layout.count}
    places["repeat"] = layout.repeat
    columns: dict[str, tuple[str, ...]] = {role: (names[k],) for role, k in places.items() if k is not None}
    if layout.votes:
        columns["jurors"] = tuple(names[k] for k in layout.votes)
    parts = item_parts((), columns["item"][0]) if "item" in columns else ()
    if len(parts) > 1 and set(parts) <= set(names):
        columns["item"] = parts
    if layout.confidence:
        columns["confidence"] = tuple(names[k] for k, _ in layout.confidence)
    if ignored := tuple(name for k, name in enumerate(names) if k not in layout.kept and name not in parts):
        columns["ignored"] = ignored
    return columns


def _format(table: SourceTable) -> str:
    kinds = dict.fromkeys(TITLES[part.holder or part.format] for part in table.parts)
    return " and ".join(kinds) + (f", {len(table.parts):,} files" if len(table.parts) > 1 else "")


def _unread(table: SourceTable, **about: Any) -> Inspection:
    """What a table shows whose votes are not read."""
    return Inspection(format=_format(table), columns={"columns": table.names}, sample=tuple(_rows(table)), **about)


def _rows(table: SourceTable) -> Iterator[str]:
    cells = ", ".join(f"c{k}::VARCHAR" for k in range(min(len(table.names), 12)))
    for row in table.con.execute(f"SELECT {cells} FROM {table.sql} LIMIT 3").fetchall():
        yield ", ".join("" if cell is None else " ".join(str(cell).split())[:30] for cell in row)


def _open_features(table: SourceTable, layout: Layout, options: Reading) -> OpenedVotes | None:
    """A large wide table whose columns hold different values, recognised before its cells are read."""
    if layout.kind == "long" or options.layout != "auto" or len(layout.votes) < 2:
        return None
    if all(part.format == "parquet" for part in table.parts):
        (rows,) = table.con.execute(f"SELECT count(*) FROM {table.sql}").fetchall()[0]
        is_large = rows * len(table.names) > _MANY_CELLS
    else:
        is_large = sum(part.path.stat().st_size for part in table.parts) > 2 * _MANY_CELLS  # a cell and a comma
    if not is_large:
        return None
    sizes = ", ".join(f"approx_count_distinct(c{k}), count(c{k})" for k in layout.votes)
    (rows, *counted) = table.watched(f"SELECT count(*), {sizes} FROM {table.sql}").fetchall()[0]
    used, given = np.array(counted).reshape(-1, 2).T
    if (different := _unlike(used, given)) is None:
        return None
    pair = [layout.votes[k] for k in different]
    exact = table.watched(f"SELECT {', '.join(f'count(DISTINCT c{k})' for k in pair)} FROM {table.sql}").fetchall()[0]
    if _unlike(np.array(exact), given[list(different)]) is None:
        return None
    finding = _unlike_finding([(table.names[k], n) for k, n in zip(pair, exact, strict=True)])
    return OpenedVotes(_unread(table, findings=(finding,), items=rows))


# -- options that may help ------------------------------------------------------------------------------------


def _remedy(error: JurorsError, options: Reading, table: SourceTable | None) -> _Remedy | None:
    if error.code == "repeated_votes" and options.duplicates == "error":
        (juror,), item, repeated = error.about["jurors"], error.about["item"], error.about["repeated"]
        many = f"{repeated} repeated {'vote' if repeated == 1 else 'votes'} in all"
        kept = "this inspection keeps the first; choose with duplicates= first, last or join"
        message = f"juror {juror!r} votes more than once on item {item!r} ({many}); {kept}"
        return _Remedy({"duplicates": "first"}, Finding("duplicates", message), repeated)
    if error.code == "two_readings" and error.about.get("name") == "repeat":
        column = error.about["column"]
        if re.fullmatch(rf"(?:{REPEAT_WORDS})s?", bare_word(column)) is None:  # not called as repetitions are
            return None
        message = f"column {column!r} is read as the number of the repetition: a juror's votes on an item count as one"
        return _Remedy({"repeat": column}, Finding("repeat_column", f"{message} (repeat={column!r})", (column,)))
    if error.code == "key_column" and table is not None and len(table.names) == 2:  # item and truth: a key itself
        return _Remedy({"layout": "wide"}, _key_finding(error.about["column"]))
    if error.code == "key_column":
        return _ignore_key(error.about["column"], options)
    if error.code == "two_items":
        item, other = error.about["columns"]
        message = f"columns {item!r} and {other!r} both look like the item; {item!r} is used, the other is left out"
        return _Remedy({"item": item, "ignore": (*text_columns(options.ignore), other)}, Finding("two_items", message))
    if error.code != "no_label_column" or table is None:
        return None
    columns = error.about.get("columns")
    if columns is None:  # only the juror's column has a known name: the label is what varies least
        judge = guess_column(table.names, JUROR_WORDS)
        others = [k for k, name in enumerate(table.names) if k != judge and name not in text_columns(options.ignore)]
        if judge is None or len(others) < 2 or options.juror or options.label:
            return None
        sizes = {k: table.con.execute(f"SELECT count(DISTINCT c{k}) FROM {table.sql}").fetchall()[0][0] for k in others}
        least, most = min(others, key=sizes.__getitem__), max(reversed(others), key=sizes.__getitem__)
        columns = (table.names[most], table.names[judge], table.names[least])
    roles = dict(zip(("item", "juror", "label"), columns, strict=True))
    guess = ", ".join(f"{name!r} for the {role}" for role, name in roles.items())
    return _Remedy(roles, Finding("guessed_columns", f"the columns are a guess: {guess}"))


def _ignore_key(column: str, options: Reading) -> _Remedy:
    return _Remedy({"ignore": (*text_columns(options.ignore), column)}, _key_finding(column))
