"""OpenInference annotations and OpenTelemetry evaluations: spans are items, whoever annotated them jurors.

Read are OTLP-JSON (one document, or one per line as file exporters write it), spans as an SDK's `to_json` gives them,
and annotations as Phoenix returns them. A label is the vote, else the score; a result that only explains is none. What
is said of a whole trace or session is about that item. A juror is the annotation's name, with its identifier where one
name has several. Then the names are questions, and `--from openinference:NAME` chooses one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.votes.readers import Records
from jurors.votes.readers.base import Files, LogTexts, Node
from jurors.votes.readers.feedback import Feedback, FeedbackQuestion

TITLE = "file of OpenInference spans"
ASKS = True
_OTLP = (b'"resourceSpans"', b'"resourceLogs"')
_SPAN = (b'"context"', b'"span_id"', b'"attributes"')
_ANNOTATION = (b'"annotator_kind"', b'"span_id"', b'"result"')
_ON_SPAN = re.compile(r"(trace\.|session\.|)(annotations|evaluations)\.(\d{1,6})\.(?:annotation|evaluation)\.(\w+)")
_EVENT = "gen_ai.evaluation.result"
_SHOWN = {"input.value": "question", "output.value": "answer"}
_LINE_END = re.compile(rb"\}\s*\n\s*\{")  # records one below the other: JSON lines


@dataclass(frozen=True)
class _Span:
    """What a span, or a log record, says: where it belongs, its attributes, its events."""

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
            if not session.text():
                raise session.wrong("the session that is annotated")
            return session.text()
        name = self.trace if scope == "trace." else self.span
        if not name:
            raise self.node.wrong("a span with its id")
        return name


def recognises(files: Files) -> bool:
    """Whether one of the first files begins as spans or their annotations do."""
    return any(_is_spans(files, path) for path in files.first)


def _is_spans(files: Files, path: Path) -> bool:
    head = files.head(path).lstrip()
    if not head.startswith((b"{", b"[")):
        return False
    return any(key in head for key in _OTLP) or any(all(key in head for key in keys) for keys in (_SPAN, _ANNOTATION))


def read(files: Files, question: str | None = None) -> Records:
    """The results on every span, trace and session; with a question, only those of that name."""
    return records_from(_all_records(files), question, is_stream=False)


def read_stream(files: Files, question: str | None = None) -> Records:
    """The same where more files will come: each vote names its juror by itself."""
    return records_from(_all_records(files), question)


def _all_records(files: Files) -> Iterator[Node]:
    paths = files.own(lambda path: _is_spans(files, path), TITLE)
    if not paths:
        raise VotesError(f"this is no {TITLE}: expected OTLP-JSON ('resourceSpans'), spans or annotations")
    for path in paths:
        yield from _records(files, path)


def records_from(records: Iterable[Node], question: str | None = None, *, is_stream: bool = True) -> Records:
    """The votes in documents that are parsed already, such as were sent to a server; in a stream each names its juror.

    >>> said = {"name": "polite", "annotator_kind": "LLM", "identifier": "m", "span_id": "a", "result": {"label": "no"}}
    >>> records_from([Node({"data": [said]})])
    Records(item=['a'], juror=['polite:m'], label=['no'])
    >>> records_from([Node({"data": [said]})], "polite")
    Records(item=['a'], juror=['m'], label=['no'])
    """
    texts, feedback = LogTexts(), dict[Any, Feedback]()
    for record in records:
        for one in _feedback(record, texts):
            feedback[one.item, one.voice] = one  # sent again, or corrected: the later one holds
    asked = FeedbackQuestion(question, "annotation", "--from openinference:", "openinference", is_stream)
    return asked.records(list(feedback.values()), texts.by_item)


def _records(files: Files, path: Path) -> Iterable[Node]:
    if path.suffix == ".jsonl" or _LINE_END.search(files.head(path)):
        return files.lines(path)
    document = files.document(path)
    where = files.name(path)
    if document.is_list:
        return [replace(one, where=f"{where}record {k}: ", path="") for k, one in document.numbered()]
    if not document.is_record:
        raise VotesError(f"{where}this is no {TITLE}: it holds neither a record nor a list of them")
    return [document]


def _feedback(record: Node, texts: LogTexts) -> Iterator[Feedback]:
    """Everything one record says, be it a batch of spans or logs, a span, an annotation, or a page of these."""
    if "data" in record and "name" not in record:
        for part in record["data"].records():
            yield from _feedback(part, texts)
    elif "annotator_kind" in record:
        yield _annotation(record)
    else:
        for span in _spans(record):
            if span.span:
                texts.add(
                    span.span, {_SHOWN[key]: node.value for key, node in span.attributes.items() if key in _SHOWN}
                )
            yield from _on_span(span)


def _annotation(record: Node) -> Feedback:
    """An annotation as Phoenix returns it: of a span, a trace or a session."""
    place = next((key for key in ("span_id", "trace_id", "session_id") if key in record), "span_id")
    if not record[place].text():
        raise record[place].wrong("what is annotated")
    result = record["result"]
    given = {"name": record["name"], "identifier": record["identifier"], "annotator_kind": record["annotator_kind"]}
    return _result(record[place].text(), given | {"label": result["label"], "score": result["score"]}, None)


def _on_span(span: _Span) -> Iterator[Feedback]:
    """The annotations that a span carries, and the events that tell of an evaluation."""
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
    name = given.get("name", nothing)
    if not name.text():
        raise name.wrong("the name of an annotation")
    label, score = given.get("label", nothing).single(), given.get("score", nothing).single()
    who = (given.get(key, nothing).text() for key in ("identifier", "annotator_kind"))
    return Feedback(item, (name.text(), *who), score if label is None else label, time)  # type: ignore[arg-type]


# -- spans in their several shapes ------------------------------------------------------------------------------


def _spans(record: Node) -> Iterator[_Span]:
    """Every span, and every log record that stands for one, of a record."""
    if "resourceSpans" not in record and "resourceLogs" not in record:
        yield _sdk_span(record)
    for outer, inner, last in (("resourceSpans", "scopeSpans", "spans"), ("resourceLogs", "scopeLogs", "logRecords")):
        for resource in record[outer].records():
            for scope in resource[inner].records():
                for part in scope[last].records():
                    yield _otlp_log(part) if last == "logRecords" else _otlp_span(part)


def _otlp_span(span: Node) -> _Span:
    events = [(e["name"].text(), _listed(e["attributes"]), e["timeUnixNano"]) for e in span["events"].records()]
    time, attributes = span["endTimeUnixNano"], _listed(span["attributes"])
    return _Span(span, span["traceId"].text(), span["spanId"].text(), attributes, events, time)


def _otlp_log(record: Node) -> _Span:
    """A log record as a span with one event: the evaluation of the span it was written in."""
    attributes = _listed(record["attributes"])
    name = record["eventName"].text(attributes["event.name"].text() if "event.name" in attributes else "")
    event = (name, attributes, record["timeUnixNano"])
    return _Span(record, record["traceId"].text(), record["spanId"].text(), {}, [event], record["timeUnixNano"])


def _sdk_span(span: Node) -> _Span:
    """A span as `ReadableSpan.to_json()` of an SDK, or Phoenix, writes it."""
    context = span["context"]
    trace, name = (context[key].text().removeprefix("0x") for key in ("trace_id", "span_id"))
    attributes = dict(span["attributes"].entries())
    events = [(e["name"].text(), dict(e["attributes"].entries()), e["timestamp"]) for e in span["events"].records()]
    return _Span(span, trace, name, attributes, events, span["end_time"])


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
    """A time as seconds since 1970: OTLP counts nanoseconds, an SDK writes a date; None where none is told."""
    from datetime import datetime

    value = time.value
    if isinstance(value, (str, int)) and re.fullmatch(r"\d{1,20}", str(value)):
        return int(value) / 1e9 or None
    try:
        return datetime.fromisoformat(value).timestamp() if isinstance(value, str) else None
    except (ValueError, OverflowError):
        return None
