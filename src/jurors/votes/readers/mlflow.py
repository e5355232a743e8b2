"""MLflow assessments: what `mlflow.search_traces()` returned, as a frame or saved as JSON, JSON lines or Parquet.

A trace is an item, and whoever gave feedback on it a juror: the assessment's name, with its source where one name has
several. Then the names are questions, and `--from mlflow:NAME` selects one. Expectations are answers, not votes: they
are the item's field `expectations.NAME`, beside its tags, metadata, state, request and response. Feedback that failed,
or was overridden, is none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.votes.readers.base import HEAD, Files, Node, Records, RecordsBuilder, parse_json, recogniser
from jurors.votes.readers.feedback import Feedback, feedback_records

TITLE = "table of MLflow traces"
ASKS = True
COLUMNS = ("trace_id", "assessments")
_SHOWN = {"request": "question", "response": "answer"}
_FIELDS = (*_SHOWN, "state", "tags", "trace_metadata")
_EXPECTED = "expected the columns trace_id and assessments"
_LINE = re.compile(rb'\{\s*"[^"]+":(?!\s*\{)')  # a record; a frame saved column by column goes on with another {


def _is_traces(files: Files, path: Path) -> bool:
    """Whether a file names a trace and its assessments."""
    head = files.head(path).lstrip()
    if head.startswith(b"PAR1"):
        with path.open("rb") as file:  # Parquet stores the names of its columns in the last bytes
            file.seek(-min(HEAD, os.path.getsize(path)), os.SEEK_END)
            tail = file.read()
        return all(name.encode() in tail for name in COLUMNS)
    return files.has((b"{", b"["), b'"trace_id"', b"assessments", path=path)


recognises = recogniser(_is_traces)


def read(files: Files, question: str | None = None) -> Records:
    """Read the feedback on every trace in the files that hold some; with a question, the feedback of that name.

    Returns
    -------
    Records
        One row per assessment that is feedback.
    """
    paths = files.own(lambda path: _is_traces(files, path), TITLE, expected=_EXPECTED)
    return _records((trace for path in paths for trace in _traces(files, path)), question)


def records_from_frame(frame: Any, question: str | None = None) -> Records:
    """Read the feedback in a dataframe as `mlflow.search_traces()` returns it.

    Parameters
    ----------
    frame
        Any dataframe with the columns trace_id and assessments.
    question
        The name of the assessments to read, if not all.

    Returns
    -------
    Records
        One row per assessment that is feedback.

    Examples
    --------
    >>> import pandas
    >>> feedback = {"assessment_name": "polite", "source": {"source_id": "gpt"}, "feedback": {"value": True}}
    >>> records_from_frame(pandas.DataFrame({"trace_id": ["tr-1"], "assessments": [[feedback]]}))
    Records(item=['tr-1'], juror=['polite'], label=[True])
    """
    import narwhals as nw

    table = nw.from_native(frame).lazy().select(*COLUMNS).collect()
    pairs = zip(table["trace_id"].to_list(), table["assessments"].to_list(), strict=True)
    traces = (Node(dict(zip(COLUMNS, pair, strict=True)), f"row {k}: ") for k, pair in enumerate(pairs, 1))
    return _records(traces, question, "label='")


def _traces(files: Files, path: Path) -> Iterator[Node]:
    """The traces of a file, each with its id and its assessments."""
    head, where = files.head(path).lstrip(), files.name(path)
    if head.startswith(b"PAR1"):
        yield from files.parquet(path, (*COLUMNS, *_FIELDS))
        return
    if _LINE.match(head):
        yield from files.lines(path)
        return
    document = files.document(path)
    if not document.is_record:
        yield from list(document.numbered())
        return
    # the default of pandas' to_json(): a frame of which each column is a record
    if not all(document[name].is_record for name in COLUMNS):
        raise VotesError(f"{where}this is not a valid {TITLE}: {_EXPECTED}")
    columns = {name: document[name].value.values() for name in (*COLUMNS, *_FIELDS) if document[name].is_record}
    for k, cells in enumerate(zip(*columns.values(), strict=False), 1):
        yield Node(dict(zip(columns, cells, strict=True)), f"{where}record {k}: ")


def _records(traces: Iterable[Node], question: str | None, how: str = "") -> Records:
    log, feedback = RecordsBuilder(), list[Feedback]()
    for trace in traces:
        item = trace["trace_id"].needed("what mlflow.search_traces() returns")
        expectations = {}
        entries = trace["assessments"].value  # which may be text, or MLflow's own objects
        if isinstance(entries, str):
            entries = parse_json(entries.encode("utf-8", "replace"), f"{trace.where}'assessments': ")
        elif hasattr(entries, "tolist"):  # an array, as pandas reads Parquet
            entries = entries.tolist()
        if isinstance(entries, float):  # NaN: an empty cell
            entries = None
        if isinstance(entries, (list, tuple)):
            entries = [entry.to_dictionary() if hasattr(entry, "to_dictionary") else entry for entry in entries]
        for assessment in list(replace(trace["assessments"], value=entries).records()):
            expectation, given, source = (assessment[key] for key in ("expectation", "feedback", "source"))
            if (not expectation.is_record and given.is_null) or assessment["valid"].truth() is False:
                continue  # neither expectation nor feedback, or overridden
            name = assessment["assessment_name"].text(assessment["name"].text())
            if expectation.is_record:
                expectations[name] = expectation["value"].value
            if not given.is_null:
                if not name:
                    todo = "is this what mlflow.search_traces() returned?"
                    raise assessment["name"].wrong("the name of a feedback", todo)
                who = name, source["source_id"].text(), source["source_type"].text()
                feedback.append(Feedback(item, who, given["value"].single()))
        texts = {shown: trace[column].value for column, shown in _SHOWN.items()}
        log.describe(item, texts, {"expectations": expectations, **{name: trace[name].value for name in _FIELDS}})
    records = feedback_records(feedback, log, question, "assessment", "mlflow", how=how)
    questions = {item: texts["question"] for item, texts in records.texts.items() if "question" in texts}
    return replace(records, questions=questions)
