"""OpenInference annotations and OpenTelemetry evaluations: spans are items, whoever annotated them jurors.

Read are OTLP-JSON (one document, or one per line as file exporters write it), spans as an SDK's `to_json` gives them,
and annotations as Phoenix returns them. A label is the vote, else the score; a result that only explains is none. An
annotation of a whole trace or session has that as its item. A juror is the annotation's name, with its identifier where
one name has several. Then the names are questions, and `--from openinference:NAME` selects one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jurors.votes.readers.base import Files, Node, Records, RecordsBuilder, recogniser
from jurors.votes.readers.feedback import Feedback, feedback_records, records_of

TITLE = "file of OpenInference spans"
ASKS = True
_OTLP = (b'"resource(Spans|Logs)"',)
_SPAN = (b'"context"', b'"span_id"', b'"attributes"')
_ANNOTATION = (b'"annotator_kind"', b'"span_id"', b'"result"')
_ON_SPAN = re.compile(r"(trace\.|session\.|)(annotations|evaluations)\.(\d{1,6})\.(?:annotation|evaluation)\.(\w+)")
_EVENT = "gen_ai.evaluation.result"
_SHOWN = {"input.value": "question", "output.value": "answer"}


@dataclass(frozen=True)
class _Span:
    """A span or log record: its trace, its attributes, its events."""

    node: Node
    trace: str
    span: str
    attributes: dict[str, Node]
    events: list[tuple[str, dict[str, Node], Node]]  #: name, attributes, time
    time: Node

    def target(self, scope: str) -> str:
        """The item that a result of this scope is about."""
        if scope == "session.":
            session = self.attributes.get("session.id", Node(None, self.node.where, "session.id"))
            return session.name("the session that is annotated")
        name = self.trace if scope == "trace." else self.span
        if not name:
            raise self.node.wrong("a span with its id")
        return name


def _is_spans(files: Files, path: Path) -> bool:
    """Whether a file begins as spans or their annotations do."""
    return any(files.has((b"{", b"["), *keys, path=path) for keys in (_OTLP, _SPAN, _ANNOTATION))


recognises = recogniser(_is_spans)


def read(files: Files, question: str | None = None, *, is_stream: bool = False) -> Records:
    """Read the results on every span, trace and session; with a question, only those of that name.

    Where more files will come (`is_stream`), jurors are named by name and source, not by what distinguishes them.

    Returns
    -------
    Records
        One row per annotation or evaluation.
    """
    expected = "expected OTLP-JSON ('resourceSpans'), spans or annotations"
    paths = files.own(lambda path: _is_spans(files, path), TITLE, expected=expected)
    records = (record for path in paths for record in records_of(files, path))
    return records_from(records, question, is_stream=is_stream)


def records_from(records: Iterable[Node], question: str | None = None, *, is_stream: bool = True) -> Records:
    """Read the votes in parsed documents, such as were sent to a server.

    Parameters
    ----------
    records
        Batches of spans or logs, spans, annotations, or pages of these.
    question
        The name of the annotations to read, if not all.
    is_stream
        Whether more may come, so that a juror's name must not depend on the others.

    Returns
    -------
    Records
        One row per annotation or evaluation; of several of one source on one item, the last.

    Examples
    --------
    >>> sent = {"name": "polite", "annotator_kind": "LLM", "identifier": "m", "span_id": "a", "result": {"label": "no"}}
    >>> records_from([Node({"data": [sent]})])
    Records(item=['a'], juror=['polite:m'], label=['no'])
    >>> records_from([Node({"data": [sent]})], "polite")
    Records(item=['a'], juror=['m'], label=['no'])
    """
    log, feedback = RecordsBuilder(), dict[Any, Feedback]()
    for record in records:
        for one in _feedback(record, log):
            feedback[one.item, one.source] = one  # sent again, or corrected: the last counts
    given = list(feedback.values())
    return feedback_records(given, log, question, "annotation", "openinference", is_stream=is_stream)


def _feedback(record: Node, log: RecordsBuilder) -> Iterator[Feedback]:
    """The feedback in a record, which is a batch of spans or logs, a span, an annotation, or a page of these."""
    if "data" in record and "name" not in record:
        for part in record["data"].records():
            yield from _feedback(part, log)
    elif "annotator_kind" in record:
        place = next((key for key in ("span_id", "trace_id", "session_id") if key in record), "span_id")
        item = record[place].name("what is annotated")
        given = {key: record[key] for key in ("name", "identifier", "annotator_kind")}
        given |= {key: record["result"][key] for key in ("label", "score")}
        yield _result(item, given, None)
    else:
        for span in _spans(record):
            if span.span:
                texts = {_SHOWN[key]: node.value for key, node in span.attributes.items() if key in _SHOWN}
                log.describe(span.span, texts)
            groups: dict[tuple[str, str, str], dict[str, Node]] = {}
            for key, value in span.attributes.items():
                if match := _ON_SPAN.fullmatch(key):
                    groups.setdefault((match[1], match[2], match[3]), {})[match[4]] = value
            for (scope, _, _), given in groups.items():
                yield _result(span.target(scope), given, _seconds(span.time), span.node)
            for name, attributes, time in span.events:
                if name == _EVENT:
                    given = {
                        key: attributes[f"gen_ai.evaluation.{more}"]
                        for key, more in {"name": "name", "label": "score.label", "score": "score.value"}.items()
                        if f"gen_ai.evaluation.{more}" in attributes
                    }
                    yield _result(span.target(""), given, _seconds(time), span.node)


def _result(item: str, given: dict[str, Node], time: float | None, node: Node | None = None) -> Feedback:
    nothing = Node(None, "" if node is None else node.where, "name")
    name = given.get("name", nothing).name("the name of an annotation")
    label, score = given.get("label", nothing).single(), given.get("score", nothing).single()
    source = name, given.get("identifier", nothing).text(), given.get("annotator_kind", nothing).text()
    return Feedback(item, source, score if label is None else label, time)


# -- spans in their several shapes ------------------------------------------------------------------------------


def _spans(record: Node) -> Iterator[_Span]:
    """Every span, and every log record that stands for one, of a record."""
    if (
        "resourceSpans" not in record and "resourceLogs" not in record
    ):  # as `ReadableSpan.to_json()`, or Phoenix, has it
        trace, name = (record["context"][key].text().removeprefix("0x") for key in ("trace_id", "span_id"))
        attributes = dict(record["attributes"].entries())
        parts = record["events"].records()
        events = [(part["name"].text(), dict(part["attributes"].entries()), part["timestamp"]) for part in parts]
        yield _Span(record, trace, name, attributes, events, record["end_time"])
    for span in _otlp_parts(record, "resourceSpans", "scopeSpans", "spans"):
        parts = span["events"].records()
        events = [(part["name"].text(), _listed(part["attributes"]), part["timeUnixNano"]) for part in parts]
        trace, name, attributes = span["traceId"].text(), span["spanId"].text(), _listed(span["attributes"])
        yield _Span(span, trace, name, attributes, events, span["endTimeUnixNano"])
    for log in _otlp_parts(record, "resourceLogs", "scopeLogs", "logRecords"):
        # a span with one event: the evaluation of the span it was written in
        attributes, time = _listed(log["attributes"]), log["timeUnixNano"]
        event = log["eventName"].text(attributes["event.name"].text() if "event.name" in attributes else "")
        yield _Span(log, log["traceId"].text(), log["spanId"].text(), {}, [(event, attributes, time)], time)


def _otlp_parts(record: Node, outer: str, inner: str, last: str) -> Iterator[Node]:
    for resource in record[outer].records():
        for scope in resource[inner].records():
            yield from scope[last].records()


def _listed(attributes: Node) -> dict[str, Node]:
    """OTLP's list of keys and typed values as a record; a whole number may be written as text."""
    values: dict[str, Node] = {}
    for part in attributes.records():
        typed = part["value"]
        kind, value = next(iter(typed.entries()), ("", typed))
        if kind == "intValue" and isinstance(value.value, str) and re.fullmatch(r"-?\d{1,19}", value.value):
            value = replace(value, value=int(value.value))
        values[part["key"].text()] = value
    return values


def _seconds(time: Node) -> float | None:
    """A time as seconds since 1970: OTLP counts nanoseconds, an SDK writes a date; None where there is none."""
    from datetime import datetime

    value = time.value
    if isinstance(value, (str, int)) and re.fullmatch(r"\d{1,20}", str(value)):
        return int(value) / 1e9 or None
    try:
        return datetime.fromisoformat(value).timestamp() if isinstance(value, str) else None
    except (ValueError, OverflowError):
        return None
