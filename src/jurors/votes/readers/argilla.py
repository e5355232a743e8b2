"""Argilla 2 exports: users who submitted a response, and the agents of suggestions, are the jurors.

    nested   {"id", "fields", "responses": {question: [{value, user_id}]}, "suggestions": {question: {value, agent}}}
    flat     {"id", "question.responses": […], "question.responses.users": […], "question.responses.status": […],
              "question.suggestion": …, "question.suggestion.agent": …}

as a JSON array, JSON lines or (flat) Parquet. Drafts and discarded responses are no votes; but Argilla's own `to_json`
leaves the status out, and then every response is one. Several labels given at once are the label "a+b".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.votes.files.faults import damaged_parquet
from jurors.votes.readers import Records
from jurors.votes.readers.log_files import Files
from jurors.votes.readers.log_texts import LogTexts
from jurors.votes.readers.questions import chosen_question, joined_label

TITLE = "Argilla export"
ASKS = True
_STATUSES = {"submitted": True, "draft": False, "discarded": False}
_PARQUET = b"PAR1"
_FLAT = re.compile(r"(.+)\.(?:responses|suggestion)")
_OWN = re.compile(r"^(id|status|_server_id)$|\.(responses|suggestion)(\.|$)")  # what is no field, where all is flat


@dataclass(frozen=True)
class _Answer:
    question: str
    item: Any
    juror: str
    value: Any


def recognises(files: Files) -> bool:
    """Whether the first record has fields, responses and suggestions, or the columns these are flattened to."""
    return any(_is_export(files, path) for path in files.telling)


def _is_export(files: Files, path: Path) -> bool:
    head = files.head(path)
    if not head.lstrip().startswith((b"[", b"{")):
        return False
    nested = all(key in head for key in (b'"fields"', b'"responses"', b'"suggestions"'))
    return nested or re.search(rb'"[^"]+\.(responses\.users|suggestion\.agent)"\s*:', head) is not None


def read(files: Files, question: str | None = None) -> Records:
    """The answers to one question: the only one that takes labels, or the one named."""
    answers: list[_Answer] = []
    texts = LogTexts()
    for place, record in enumerate(_records(files)):
        where = f"record {place + 1}"
        if record.get("id") is None:
            raise VotesError(f"{where} has no 'id'; this is no {TITLE} of version 2")
        nested = "responses" in record or "suggestions" in record
        answers += _nested(record, where) if nested else _flat(record, where)
        texts.add(record["id"], _fields(record) if nested else {k: record[k] for k in record if not _OWN.search(k)})
    values: dict[str, list[Any]] = {}
    for answer in answers:
        values.setdefault(answer.question, []).append(answer.value)
    labels = {question: all(map(_is_label, given)) for question, given in values.items()}
    question = chosen_question(labels, question, "argilla")
    kept = [answer for answer in answers if answer.question == question]
    return Records(
        item=[answer.item for answer in kept],
        juror=[answer.juror for answer in kept],
        label=[joined_label(answer.value) for answer in kept],
        texts=texts.by_item,
    )


def _fields(record: dict[str, Any]) -> dict[str, Any]:
    return fields if isinstance(fields := record.get("fields"), dict) else {}


def _records(files: Files) -> Iterator[dict[str, Any]]:
    for path in files.own(lambda path: _is_export(files, path) or _is_parquet(files, path), TITLE) or files.paths:
        head = files.head(path)
        if head.startswith(_PARQUET):
            yield from _parquet_rows(str(path))
        elif head.lstrip().startswith(b"["):
            yield from _dicts(files.document(path), files.name(path))
        elif head.strip() and not _begins_with_a_record(head):
            raise VotesError(
                f"{files.name(path)}this is no {TITLE}: expected a JSON array of records, or one record per line"
            )
        else:
            yield from (record for _, record in files.lines(path))


def _is_parquet(files: Files, path: Path) -> bool:
    return files.head(path).startswith(_PARQUET)


def _begins_with_a_record(head: bytes) -> bool:
    """Whether the first line is a whole record, or goes on beyond what was looked at."""
    line, ended, _ = head.strip().partition(b"\n")
    return line.startswith(b"{") and (not ended or line.rstrip().endswith(b"}"))


def _dicts(values: Iterable[Any], name: str) -> Iterator[dict[str, Any]]:
    for place, value in enumerate(values):
        if not isinstance(value, dict):
            raise VotesError(f"{name}record {place + 1} is {str(value)[:30]!r}, not a JSON record")
        yield value


def _parquet_rows(path: str) -> Iterator[dict[str, Any]]:
    import duckdb

    try:
        with duckdb.connect() as con:
            cursor = con.execute("SELECT * FROM read_parquet(?)", [path])
            names = [column[0] for column in cursor.description]
            while rows := cursor.fetchmany(1000):
                yield from (dict(zip(names, row, strict=True)) for row in rows)
    except duckdb.Error as error:
        raise damaged_parquet(error) from None


def _nested(record: dict[str, Any], where: str) -> Iterator[_Answer]:
    responses, suggestions = record.get("responses") or {}, record.get("suggestions") or {}
    if not isinstance(responses, dict) or not isinstance(suggestions, dict):
        raise VotesError(f"{where}: 'responses' are not sorted by question, as Argilla 1 had it; export with Argilla 2")
    for question, given in responses.items():
        for response in _dicts(given if isinstance(given, list) else [given], f"{where}: "):
            if _submitted(response.get("status", "submitted"), where, question):
                yield _Answer(question, record["id"], _user(response.get("user_id"), where), response.get("value"))
    for question, suggestion in suggestions.items():
        if not isinstance(suggestion, dict):
            raise VotesError(f"{where}: the suggestion for {question!r} is {str(suggestion)[:30]!r}, not a record")
        yield _Answer(question, record["id"], str(suggestion.get("agent") or "suggestion"), suggestion.get("value"))


def _flat(record: dict[str, Any], where: str) -> Iterator[_Answer]:
    questions = dict.fromkeys(match[1] for key in record if (match := _FLAT.fullmatch(key)))
    if not questions:
        raise VotesError(f"{where} has neither responses nor suggestions; this is no {TITLE} of version 2")
    for question in questions:
        column = f"{question}.responses"
        values, users = record.get(column) or [], record.get(f"{column}.users") or []
        statuses = record.get(f"{column}.status", ["submitted"] * len(values)) or []
        if not all(isinstance(cells, list) and len(cells) == len(values) for cells in (values, users, statuses)):
            raise VotesError(f"{where}: '{column}', '{column}.users' and '{column}.status' must be lists of one length")
        for value, user, status in zip(values, users, statuses, strict=True):
            if _submitted(status, where, question):
                yield _Answer(question, record["id"], _user(user, where), value)
        if (value := record.get(f"{question}.suggestion")) is not None:
            yield _Answer(
                question, record["id"], str(record.get(f"{question}.suggestion.agent") or "suggestion"), value
            )


def _submitted(status: Any, where: str, question: str) -> bool:
    if status not in _STATUSES:
        known = ", ".join(_STATUSES)
        raise VotesError(f"{where}: a response to {question!r} has the status {status!r}; expected {known}")
    return _STATUSES[status]


def _user(user: Any, where: str) -> str:
    if not user:
        raise VotesError(f"{where}: a response has no 'user_id': whose vote it is cannot be told")
    return str(user)


def _is_label(value: Any) -> bool:
    """Whether a value can be a label: not a ranking and not spans of text, which are lists of records."""
    cells = value if isinstance(value, list) else [value]
    return all(cell is None or isinstance(cell, (str, int, float)) for cell in cells)
