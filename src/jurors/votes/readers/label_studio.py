"""Label Studio exports: annotators and model versions are the jurors, tasks the items, one control tag the question.

    JSON       [{"id", "annotations": [{"completed_by", "was_cancelled", "result": […]}], "predictions": […], "data"}]
    JSON-MIN   [{…data, "id", tag: value …, "annotator", "annotation_id", …}]: one annotation per record

Cancelled annotations and drafts are no votes, an empty result is none either. Several choices made at once are the
label "a+b". Tags that mark regions (boxes, spans) say nothing about the whole item and cannot be votes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.votes.readers import Records
from jurors.votes.readers.base import Files, LogFields, LogTexts, Node
from jurors.votes.readers.feedback import joined_label, select_question

TITLE = "Label Studio export"
ASKS = True
#: what a control tag of each type says about the item, by the key of its value
_VALUES = {"choices": "choices", "rating": "rating", "number": "number", "pairwise": "selected", "taxonomy": "taxonomy"}
_REGION = frozenset(("start", "end", "x", "y", "startOffset", "ranges"))


@dataclass(frozen=True)
class _Answer:
    tag: str
    kind: str  #: the type of the control tag; "region" where it marks a part of the item
    item: Any
    juror: str
    value: Any


def recognises(files: Files) -> bool:
    """Whether the first record is a task with annotations or predictions, or a single annotation (JSON-MIN)."""
    return any(_is_export(files, path) for path in files.telling)


def _is_export(files: Files, path: Path) -> bool:
    head = files.head(path)
    if not head.lstrip().startswith(b"["):
        return False
    full = b'"annotations"' in head and any(key in head for key in (b'"completed_by"', b'"was_cancelled"', b'"drafts"'))
    return full or all(key in head for key in (b'"annotation_id"', b'"annotator"', b'"lead_time"'))


def read(files: Files, question: str | None = None) -> Records:
    """The answers to one question: the only tag that takes labels (or the only Choices), or the one named."""
    paths = files.own(lambda path: _is_export(files, path), TITLE) or files.paths
    texts, fields = LogTexts(), LogFields()
    answers = [answer for path in paths for answer in _answers(files.document(path), files.name(path), texts, fields)]
    kinds: dict[str, set[str]] = {}
    for answer in answers:
        kinds.setdefault(answer.tag, set()).add(answer.kind)
    labels = {tag: types <= set(_VALUES) for tag, types in kinds.items()}
    choices = [tag for tag, types in kinds.items() if types == {"choices"}]
    tag = choices[0] if len(choices) == 1 and question is None else select_question(labels, question, "label-studio")
    kept = [answer for answer in answers if answer.tag == tag]
    return Records(
        item=[answer.item for answer in kept],
        juror=[answer.juror for answer in kept],
        label=[joined_label(answer.value) for answer in kept],
        texts=texts.by_item,
        fields=fields.by_name,
    )


def _answers(document: Node, name: str, texts: LogTexts, fields: LogFields) -> Iterator[_Answer]:
    if not document.is_list:
        raise VotesError(f"{name}this is no {TITLE}: expected a list of tasks, as the JSON or JSON-MIN export has")
    for place, task in document.numbered():
        given = task["inner_id" if task["id"].is_null else "id"].single()
        item = place if given is None else given
        task = replace(task, where=f"{name}task {item}: ", path="")
        if "annotations" in task or "predictions" in task:
            texts.add(item, task["data"].record_or_nothing())
            fields.add(item, {"data": task["data"].record_or_nothing(), "meta": task["meta"].value})
            yield from _of_task(task, item)
        elif "annotator" in task:
            keys = list(task.value)
            texts.add(item, {key: task[key].value for key in keys[: keys.index("id") if "id" in keys else 0]})
            yield from _of_minimal(task, item)
        else:
            raise VotesError(f"{task.where}there are no 'annotations' and no 'annotator'; export as JSON or JSON-MIN")


def _of_task(task: Node, item: Any) -> Iterator[_Answer]:
    """What the annotators and the models say about one task."""
    for annotation in _records(task["annotations"]):
        if not annotation["was_cancelled"].truth():
            yield from _of_result(annotation["result"], item, _annotator(annotation["completed_by"]))
    for prediction in _records(task["predictions"]):
        yield from _of_result(prediction["result"], item, prediction["model_version"].text("prediction"))


def _records(values: Node) -> Iterator[Node]:
    yield from (value for value in values.parts() if value.is_record)  # some exports hold only their numbers


def _of_result(result: Node, item: Any, juror: str) -> Iterator[_Answer]:
    """Each control tag's value; a tag that appears twice labels parts of the item."""
    parts = [part for part in _records(result) if "from_name" in part]
    tags = [part["from_name"].text() for part in parts]
    for tag, part in zip(tags, parts, strict=True):
        kind, value = part["type"].text(), part["value"]
        if not value.is_record:
            raise value.wrong("a record")
        whole = tags.count(tag) == 1 and not _REGION & value.value.keys()
        yield _Answer(tag, kind if whole else "region", item, juror, _value(kind, value) if whole else None)


def _value(kind: str, value: Node) -> Any:
    said = value[_VALUES.get(kind, kind)]
    if kind == "taxonomy" and said.is_list:
        return ["/".join(one.text() for one in path.parts()) if path.is_list else path.text() for path in said.parts()]
    return [one.text() for one in said.parts()] if said.is_list else said.single() if kind in _VALUES else said.value


def _annotator(who: Node) -> str:
    """An address where the export has one, else "annotator 3"."""
    if who.is_record:
        who = who["email"] if who["email"].text() else who["id"]
    name = who.single()
    if name is None:
        raise who.wrong("who made the annotation")
    return f"annotator {name}" if isinstance(name, int) else str(name)


def _of_minimal(record: Node, item: Any) -> Iterator[_Answer]:
    """The tags of a JSON-MIN record are the keys that Label Studio writes between "id" and "annotator"."""
    keys = list(record.value)
    for tag in keys[keys.index("id") + 1 if "id" in keys else 0 : keys.index("annotator")]:
        kind, value = _of_cell(record[tag])
        yield _Answer(tag, kind, item, _annotator(record["annotator"]), value)


def _of_cell(cell: Node) -> tuple[str, Any]:
    """The type and value of a JSON-MIN cell: a choice (or text) as it is, all else as records of the tag's value."""
    if isinstance(cell.value, (str, int, float)):
        return "choices", cell.single()
    only = cell.parts()[0] if cell.is_list and len(cell.value) == 1 else cell
    if only.is_record and not _REGION & only.value.keys():
        for kind, key in _VALUES.items():
            if key in only:
                return kind, _value(kind, only)
    return "region", None
