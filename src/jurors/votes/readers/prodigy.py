"""Prodigy annotations (`prodigy db-out`): annotators are jurors; an item is a text, or a text with a label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jurors.errors import VotesError
from jurors.votes.readers import Records
from jurors.votes.readers.base import Files, LogFields, LogTexts, Node
from jurors.votes.readers.feedback import joined_label, records_of

TITLE = "Prodigy export"
_MARKS = (b'"_input_hash"', b'"_task_hash"')


def recognises(files: Files) -> bool:
    """Whether the first file has Prodigy's hashes."""
    return all(mark in files.head() for mark in _MARKS) and files.head().lstrip().startswith((b"{", b"["))


def read(files: Files) -> Records:
    """Options chosen, or accepted and rejected; what was ignored is no vote."""
    item, juror, label, texts = list[Any](), list[str](), list[Any](), LogTexts()
    fields = LogFields()
    for path in files.paths:
        for name, vote, task in _votes(records_of(files, path)):
            item.append(name)
            juror.append(_annotator(task))
            label.append(vote)
            texts.add(name, text=task["text"].value)
            fields.add(name, {"meta": task["meta"].value})
    return Records(item, juror, label, texts.by_item, fields=fields.by_name)


def _votes(tasks: Iterator[Node]) -> Iterator[tuple[Any, Any, Node]]:
    for task in tasks:
        answer = task["answer"].text()
        if answer not in ("accept", "reject", "ignore"):
            raise task["answer"].wrong("accept, reject or ignore")
        if task["accept"].is_list and task["options"].is_list:  # a choice: who rejects it has chosen nothing
            chosen = joined_label([part.text() for part in task["accept"].parts()])
            yield task["_input_hash"].needed("a number"), chosen if answer == "accept" else None, task
        elif task["label"].text() and not task["spans"].value:
            yield task["_task_hash"].needed("a number"), None if answer == "ignore" else answer, task
        else:
            raise VotesError(
                f"{task.where}this task asks for no label (view {task['_view_id'].text('unknown')!r}); votes are the "
                "options of `choice`, or `accept` and `reject` of one label per task"
            )


def _annotator(task: Node) -> str:
    name = task["_annotator_id"].text(task["_session_id"].text())
    if not name:
        raise VotesError(
            f"{task.where}nobody says who annotated: '_annotator_id' and '_session_id' are missing; let annotators "
            "open Prodigy with ?session=NAME"
        )
    return name
