"""Argilla 2 exports: users who submitted a response, and the agents of suggestions, are the jurors.

    nested   {"id", "fields", "responses": {question: [{value, user_id}]}, "suggestions": {question: {value, agent}}}
    flat     {"id", "question.responses": […], "question.responses.users": […], "question.responses.status": […],
              "question.suggestion": …, "question.suggestion.agent": …}

as a JSON array, JSON lines or (flat) Parquet. Drafts and discarded responses are no votes; but Argilla's own `to_json`
leaves the status out, and then every response is one. Several labels given at once are the label "a+b".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.votes.readers.base import Files, Node, Records, RecordsBuilder, recogniser
from jurors.votes.readers.feedback import Answer, answer_records

TITLE = "Argilla export"
ASKS = True
_STATUSES = {"submitted": True, "draft": False, "discarded": False}
_PARQUET = b"PAR1"
_FLAT = re.compile(r"(.+)\.(?:responses|suggestion)")
_NO_FIELD = re.compile(r"^(id|status|_server_id)$|\.(responses|suggestion)(\.|$)")  # columns of a flat record


def _is_export(files: Files, path: Path) -> bool:
    """Whether the first record has fields, responses and suggestions, or the columns these are flattened to."""
    nested = (b'"fields"', b'"responses"', b'"suggestions"')
    flat = rb'"[^"]+\.(responses\.users|suggestion\.agent)"\s*:'
    return files.has((b"[", b"{"), *nested, path=path) or files.has((b"[", b"{"), flat, path=path)


recognises = recogniser(_is_export, named=True)


def read(files: Files, question: str | None = None) -> Records:
    """Read the answers to one question: the only one that takes labels, or the one named.

    Returns
    -------
    Records
        One row per response or suggestion.
    """
    answers, log = list[Answer](), RecordsBuilder()
    for place, record in enumerate(_records(files), 1):
        record = replace(record, where=f"record {place}: ", path="")
        item = record["id"].single()
        if item is None:
            raise record["id"].wrong(f"the id of a record; this is not a valid {TITLE} of version 2", "export it again")
        nested = "responses" in record or "suggestions" in record
        answers += _nested(record, item) if nested else _flat(record, item)
        if nested:
            log.describe(item, record["fields"].record_or_nothing(), {"metadata": record["metadata"].value})
        else:
            columns = {key: value for key, value in record.value.items() if not _NO_FIELD.search(key)}
            log.describe(item, columns, columns)
    takes_labels: dict[str, bool] = {}
    for answer in answers:
        cells = answer.value if isinstance(answer.value, list) else [answer.value]
        are_labels = all(cell is None or isinstance(cell, (str, int, float)) for cell in cells)  # no ranking, no spans
        takes_labels[answer.question] = takes_labels.get(answer.question, True) and are_labels
    return answer_records(answers, takes_labels, question, "argilla", log)


def _records(files: Files) -> Iterator[Node]:
    def is_ours(path: Path) -> bool:
        return _is_export(files, path) or files.head(path).startswith(_PARQUET)

    for path in files.own(is_ours, TITLE) or files.paths:
        head = files.head(path)
        if head.startswith(_PARQUET):
            yield from files.parquet(path)
        elif head.lstrip().startswith(b"["):
            yield from files.document(path).records()
        else:
            # the first line is a whole record, or goes on beyond the first bytes
            line, ended, _ = head.strip().partition(b"\n")
            if line and not (line.startswith(b"{") and (not ended or line.rstrip().endswith(b"}"))):
                raise VotesError(
                    f"{files.name(path)}this is not a valid {TITLE}: expected an array of JSON records, or one per line"
                )
            yield from files.lines(path)


def _nested(record: Node, item: Any) -> Iterator[Answer]:
    for part in ("responses", "suggestions"):
        if record[part].is_list:
            message = f"{part!r} are not sorted by question, as Argilla 1 had it; export with Argilla 2"
            raise VotesError(f"{record.where}{message}")
    for question, given in record["responses"].entries():
        for response in given.records() if given.is_list else [given]:
            if _submitted(response["status"]):
                yield Answer(
                    question, item, response["user_id"].name("whose response it is"), _label(response["value"])
                )
    for question, suggestion in record["suggestions"].entries():
        if suggestion.is_null:
            raise suggestion.wrong("a record")
        yield Answer(question, item, suggestion["agent"].text("suggestion"), _label(suggestion["value"]))


def _flat(record: Node, item: Any) -> Iterator[Answer]:
    questions = dict.fromkeys(match[1] for key in record.value if (match := _FLAT.fullmatch(key)))
    if not questions:
        raise VotesError(f"{record.where}neither responses nor suggestions; this is not a valid {TITLE} of version 2")
    for question in questions:
        column = f"{question}.responses"
        values, users = record[column].parts(), record[f"{column}.users"].parts()
        has_status = f"{column}.status" in record
        statuses = record[f"{column}.status"].parts() if has_status else [Node("submitted")] * len(values)
        if not len(values) == len(users) == len(statuses):
            message = f"{column!r}, '{column}.users' and '{column}.status' must be lists of one length; export it again"
            raise VotesError(f"{record.where}{message}")
        for value, user, status in zip(values, users, statuses, strict=True):
            if _submitted(status):
                yield Answer(question, item, user.name("whose response it is"), _label(value))
        suggestion = record[f"{question}.suggestion"]
        if not suggestion.is_null:
            agent = record[f"{question}.suggestion.agent"].text("suggestion")
            yield Answer(question, item, agent, _label(suggestion))


def _submitted(status: Node) -> bool:
    name = status.text("submitted")
    if name not in _STATUSES:
        raise status.wrong(", ".join(_STATUSES))
    return _STATUSES[name]


def _label(value: Node) -> Any:
    """A label, or several; a ranking and spans of text, which are lists of records, are left as they are."""
    if value.is_list and not any(part.is_record or part.is_list for part in value.parts()):
        return [part.text() for part in value.parts() if not part.is_null]
    return value.value if value.is_list or value.is_record else value.single()
