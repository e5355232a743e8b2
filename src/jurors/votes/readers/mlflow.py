"""MLflow assessments: what `mlflow.search_traces()` returned, as a frame or saved as JSON, JSON lines or Parquet.

A trace is an item, and whoever gave feedback on it a juror: the assessment's name, with its source where one name has
several. Then the names are questions, and `--from mlflow:NAME` chooses one. Expectations are answers, not votes: of an
item, `expectations.NAME` tells them, beside its tags, metadata, state, request and response. Feedback that failed, or
was overridden, is none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.votes.readers import Records
from jurors.votes.readers.base import HEAD, Files, LogFields, LogTexts, Node, parsed
from jurors.votes.readers.feedback import Feedback, FeedbackQuestion, FeedbackSource

TITLE = "table of MLflow traces"
ASKS = True
COLUMNS = ("trace_id", "assessments")
_SHOWN = {"request": "question", "response": "answer"}
_TOLD = (*_SHOWN, "state", "tags", "trace_metadata")
_LINE = re.compile(rb'\{\s*"[^"]+":(?!\s*\{)')  # a record; a frame saved column by column goes on with another {


def recognises(files: Files) -> bool:
    """Whether one of the first files names a trace and its assessments."""
    return any(_is_traces(files, path) for path in files.first)


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
    traces = (trace for path in paths for trace in _traces(files, path))
    return _records(traces, question, "--from mlflow:")


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
    traces = (Node(dict(zip(COLUMNS, pair, strict=True)), f"row {k}: ") for k, pair in enumerate(pairs, 1))
    return _records(traces, question, "label=")


def _traces(files: Files, path: Path) -> Iterable[Node]:
    """The traces of a file, each with its id and its assessments."""
    head = files.head(path).lstrip()
    if head.startswith(b"PAR1"):
        return files.parquet(path, (*COLUMNS, *_TOLD))
    if _LINE.match(head):
        return files.lines(path)
    document = files.document(path)
    if document.is_record:  # pandas' to_json() unless told otherwise: column by column
        return _by_column(document, files.name(path))
    return [replace(trace, where=f"{files.name(path)}record {k}: ", path="") for k, trace in document.numbered()]


def _by_column(document: Node, where: str) -> Iterator[Node]:
    """The rows of a frame of which each column is a record."""
    for name in COLUMNS:
        if not document[name].is_record:
            raise VotesError(f"{where}this is no {TITLE}: expected the columns trace_id and assessments")
    columns = {name: document[name].value.values() for name in (*COLUMNS, *_TOLD) if document[name].is_record}
    for k, cells in enumerate(zip(*columns.values(), strict=False), 1):
        yield Node(dict(zip(columns, cells, strict=True)), f"{where}record {k}: ")


def _records(traces: Iterable[Node], question: str | None, how: str) -> Records:
    texts, fields, feedback = LogTexts(), LogFields(), list[Feedback]()
    for trace in traces:
        name, assessments = _trace_id(trace), _listed(trace)
        texts.add(name, {shown: trace[column].value for column, shown in _SHOWN.items()})
        fields.add(name, {"expectations": _expectations(assessments), **{part: trace[part].value for part in _TOLD}})
        votes = (_vote(assessment) for assessment in assessments)
        feedback += [Feedback(name, *vote) for vote in votes if vote is not None]
    records = FeedbackQuestion(question, "assessment", how, "mlflow").records(feedback, texts.by_item)
    return replace(records, fields=fields.by_name)


def _expectations(assessments: Sequence[Node]) -> dict[str, Any]:
    """What was expected of a trace, by the expectation's name."""
    expected = [one for one in assessments if one["expectation"].is_record and one["valid"].truth() is not False]
    return {one["assessment_name"].text(one["name"].text()): one["expectation"]["value"].value for one in expected}


def _trace_id(trace: Node) -> Any:
    name = trace["trace_id"].single()
    if name is None:
        raise trace["trace_id"].wrong("what mlflow.search_traces() returns")
    return name


def _listed(trace: Node) -> list[Node]:
    """The assessments of one trace, which may be text, or MLflow's own objects."""
    assessments = trace["assessments"]
    given = assessments.value
    if isinstance(given, str):
        given = parsed(given.encode("utf-8", "replace"), f"{trace.where}'assessments': ")
    elif hasattr(given, "tolist"):  # an array, as pandas reads Parquet
        given = given.tolist()
    if isinstance(given, float):  # NaN: an empty cell
        given = None
    if isinstance(given, (list, tuple)):
        given = [one.to_dictionary() if hasattr(one, "to_dictionary") else one for one in given]
    return list(replace(assessments, value=given).records())


def _vote(assessment: Node) -> tuple[FeedbackSource, Any] | None:
    """Who (name, source, kind of source) said what; None where it is an expectation or was overridden."""
    feedback = assessment["feedback"]
    if feedback.is_null or assessment["valid"].truth() is False:
        return None
    name = assessment["assessment_name"].text(assessment["name"].text())
    if not name:
        raise assessment["name"].wrong("the name of a feedback", "is this what mlflow.search_traces() returned?")
    source = assessment["source"]
    return (name, source["source_id"].text(), source["source_type"].text()), feedback["value"].single()
