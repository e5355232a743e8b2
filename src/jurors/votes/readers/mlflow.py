"""MLflow assessments: what `mlflow.search_traces()` returned, as a frame or saved as JSON, JSON lines or Parquet.

A trace is an item, and whoever gave feedback on it a juror: the assessment's name, with its source where one name has
several. Then the names are questions, and `--from mlflow:NAME` chooses one. Expectations are answers, not votes;
feedback that failed, or was overridden, is none.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.names import nearest
from jurors.votes.files.faults import damaged_parquet
from jurors.votes.readers import Records
from jurors.votes.readers.log_files import HEAD, Files
from jurors.votes.readers.log_texts import LogTexts
from jurors.votes.readers.short_names import told_apart

TITLE = "table of MLflow traces"
ASKS = True
COLUMNS = ("trace_id", "assessments")
_SHOWN = {"request": "question", "response": "answer"}
_LINE = re.compile(rb'\{\s*"[^"]+":(?!\s*\{)')  # a record; a frame saved column by column goes on with another {


def recognises(files: Files) -> bool:
    """Whether one of the first files names a trace and its assessments."""
    return any(_is_traces(files, path) for path in files.paths[:20])


def _is_traces(files: Files, path: Path) -> bool:
    head = files.head(path).lstrip()
    if head.startswith(b"PAR1"):
        return all(name.encode() in _tail(path) for name in COLUMNS)
    return head.startswith((b"{", b"[")) and b'"trace_id"' in head and b"assessments" in head


def _tail(path: Path) -> bytes:
    """The last bytes, where Parquet keeps the names of its columns."""
    with path.open("rb") as file:
        file.seek(-min(HEAD, os.path.getsize(path)), os.SEEK_END)
        return file.read()


def read(files: Files, question: str | None = None) -> Records:
    """The feedback on every trace in the files that hold some; with a question, only the feedback of that name."""
    paths = files.own(lambda path: _is_traces(files, path), TITLE)
    if not paths:
        raise VotesError(f"this is no {TITLE}: expected the columns trace_id and assessments")
    texts = LogTexts()
    traces = (trace for path in paths for trace in _traces(files, path, texts))
    return replace(_records(traces, question, "--from mlflow:"), texts=texts.by_item)


def records_from_frame(frame: Any, question: str | None = None) -> Records:
    """The feedback in a dataframe with the columns trace_id and assessments, as `mlflow.search_traces()` returns it.

    >>> import pandas
    >>> feedback = {"assessment_name": "polite", "source": {"source_id": "gpt"}, "feedback": {"value": True}}
    >>> records_from_frame(pandas.DataFrame({"trace_id": ["tr-1"], "assessments": [[feedback]]}))
    Records(item=['tr-1'], juror=['polite'], label=[True])
    """
    import narwhals as nw

    table = nw.from_native(frame).lazy().select(*COLUMNS).collect()
    pairs = zip(table["trace_id"].to_list(), table["assessments"].to_list(), strict=True)
    return _records(((f"row {k}", *pair) for k, pair in enumerate(pairs, 1)), question, "label=")


def _traces(files: Files, path: Path, texts: LogTexts) -> Iterator[tuple[str, Any, Any]]:
    """Where it stands, the trace's id, its assessments; what was asked and answered goes into the texts."""
    for where, record in _rows(files, path):
        if not isinstance(record, dict) or "trace_id" not in record:
            raise VotesError(f"{where} has no 'trace_id'; expected what mlflow.search_traces() returns")
        texts.add(record["trace_id"], {name: record.get(column) for column, name in _SHOWN.items()})
        yield where, record["trace_id"], record.get("assessments")


def _rows(files: Files, path: Path) -> Iterator[tuple[str, Any]]:
    where, head = files.name(path), files.head(path).lstrip()
    if head.startswith(b"PAR1"):
        yield from ((f"{where}row {k}", row) for k, row in enumerate(_parquet(path, where), 1))
    elif _LINE.match(head):
        yield from ((f"{where}line {k}", record) for k, record in files.lines(path))
    else:
        document = files.document(path)
        if isinstance(document, dict):  # pandas' to_json() unless told otherwise: column by column
            columns = {n: column for n in (*COLUMNS, *_SHOWN) if isinstance(column := document.get(n), dict)}
            if not columns.keys() >= set(COLUMNS):
                raise VotesError(f"{where}this is no {TITLE}: expected the columns trace_id and assessments")
            cells = zip(*(column.values() for column in columns.values()), strict=False)
            document = [dict(zip(columns, row, strict=True)) for row in cells]
        yield from ((f"{where}record {k}", record) for k, record in enumerate(document, 1))


def _parquet(path: Path, where: str) -> list[dict[str, Any]]:
    import duckdb

    try:
        with duckdb.connect() as con:
            table = con.execute("SELECT COLUMNS('^(trace_id|assessments|request|response)$') FROM read_parquet(?)",
                                [str(path)])  # fmt: skip
            names = [column[0] for column in table.description]
            return [dict(zip(names, row, strict=True)) for row in table.fetchall()]
    except duckdb.Error as error:
        raise damaged_parquet(error).after(where) from None


def _records(traces: Iterable[tuple[str, Any, Any]], question: str | None, how: str) -> Records:
    feedback = [
        (trace, *vote)
        for where, trace, assessments in traces
        for assessment in _listed(assessments, where)
        if (vote := _vote(assessment, where)) is not None
    ]
    voices = list(dict.fromkeys(voice for _, voice, _ in feedback))
    questions = list(dict.fromkeys(voice[0] for _, voice, value in feedback if value is not None))
    if question is None and 1 < len(questions) < len(voices):
        names_of = ", ".join(sorted(questions)[:12])
        message = f"{len(questions)} assessments are given: {names_of}; choose one with {how}{questions[0]}"
        raise VotesError(message, code="several_questions", known=questions, tool=f"mlflow:{questions[0]}")
    if question is not None:
        chosen = nearest(question, questions, "assessment")
        voices = [voice for voice in voices if voice[0] == chosen]
    names = dict(zip(voices, told_apart(*zip(*voices, strict=True)), strict=True)) if voices else {}
    kept = [(trace, names[voice], value) for trace, voice, value in feedback if voice in names]
    return Records([trace for trace, _, _ in kept], [name for _, name, _ in kept], [value for _, _, value in kept])


def _listed(assessments: Any, where: str) -> list[Mapping[str, Any]]:
    """The assessments of one trace, which may be text, or MLflow's own objects."""
    if isinstance(assessments, str):
        try:
            assessments = json.loads(assessments)
        except ValueError:
            raise VotesError(f"{where}: 'assessments' is {assessments[:30]!r}, which is no JSON") from None
    entries = [] if assessments is None or assessments != assessments else assessments
    try:
        several = [one.to_dictionary() if hasattr(one, "to_dictionary") else one for one in entries]
    except TypeError:
        raise VotesError(f"{where}: 'assessments' is {str(assessments)[:30]!r}, not a list") from None
    if strange := [one for one in several if not isinstance(one, dict)]:
        raise VotesError(f"{where}: an assessment is {str(strange[0])[:30]!r}, not an object")
    return several


def _vote(assessment: Mapping[str, Any], where: str) -> tuple[tuple[str, str, str], Any] | None:
    """Who (name, source, kind of source) said what; None where it is an expectation or was overridden."""
    feedback = assessment.get("feedback")
    if not isinstance(feedback, dict) or assessment.get("valid") is False:
        return None
    name = assessment.get("assessment_name") or assessment.get("name")
    if not name:
        raise VotesError(f"{where}: a feedback has no name; is this what mlflow.search_traces() of MLflow 3 returned?")
    source = assessment.get("source") or {}
    value = feedback.get("value")
    if isinstance(value, (list, dict)):
        raise VotesError(f"{where}: the feedback {name!r} is {str(value)[:30]!r}; a vote is a single value")
    return (str(name), str(source.get("source_id") or ""), str(source.get("source_type") or "")), value
