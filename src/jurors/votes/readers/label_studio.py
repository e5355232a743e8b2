"""Label Studio exports: annotators and model versions are the jurors, tasks the items, one control tag the question.

    JSON       [{"id", "annotations": [{"completed_by", "was_cancelled", "result": […]}], "predictions": […], "data"}]
    JSON-MIN   [{…data, "id", tag: value …, "annotator", "annotation_id", …}]: one annotation per record

Cancelled annotations and drafts are no votes, an empty result is none either. Several choices made at once are the
label "a+b". Tags that mark regions (boxes, spans) are not about the whole item and cannot be votes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.votes.codes import Finding, list_names
from jurors.votes.readers.base import Files, Node, Records, RecordsBuilder, recogniser
from jurors.votes.readers.feedback import Answer, answer_records

TITLE = "Label Studio export"
ASKS = True
#: the type of a control tag that labels the item -> the key of its value
_VALUES = {"choices": "choices", "rating": "rating", "number": "number", "pairwise": "selected", "taxonomy": "taxonomy"}
#: the keys of a JSON-MIN record that are neither data nor tags
_ABOUT_ANNOTATION = frozenset(
    ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "unique_id", "agreement", "comments")
)
_REGION = frozenset(("start", "end", "x", "y", "startOffset", "ranges"))


def _is_export(files: Files, path: Path) -> bool:
    """Whether the first record is a task with annotations or predictions, or a single annotation (JSON-MIN)."""
    full = (b'"annotations"', b'"(completed_by|was_cancelled|drafts)"')
    minimal = (b'"annotation_id"', b'"annotator"', b'"lead_time"')
    return files.has(b"[", *full, path=path) or files.has(b"[", *minimal, path=path)


recognises = recogniser(_is_export, named=True)


def read(files: Files, question: str | None = None) -> Records:
    """Read the answers to one question: the only tag that takes labels (or the only Choices), or the one named.

    Returns
    -------
    Records
        One row per annotation or prediction.
    """
    paths = files.own(lambda path: _is_export(files, path), TITLE) or files.paths
    log = RecordsBuilder()
    answers = [answer for path in paths for answer in _answers(files.document(path), files.name(path), log)]
    kinds: dict[str, set[str]] = {}
    for answer in answers:
        kinds.setdefault(answer.question, set()).add(answer.kind)
    labels = {tag: types <= set(_VALUES) for tag, types in kinds.items()}
    choices = [tag for tag, types in kinds.items() if types == {"choices"}]
    only = choices[0] if len(choices) == 1 else None
    others = [tag for tag, is_label in labels.items() if is_label and tag != only]
    if question is None and only is not None and others:
        message = (
            f"the question {only!r} is read, and not {list_names(others)}; choose another with "
            f"tool={'label-studio:' + str(others[0])!r}"
        )
        files.findings.append(Finding("other_questions", message, value=float(len(others))))
    return answer_records(answers, labels, question or only, "label-studio", log)


def _answers(document: Node, name: str, log: RecordsBuilder) -> Iterator[Answer]:
    if not document.is_list:
        raise VotesError(f"{name}this is not a valid {TITLE}: expected a list of tasks, as in JSON or JSON-MIN exports")
    for place, task in enumerate(document.records(), 1):
        given = task["inner_id" if task["id"].is_null else "id"].single()
        item = place if given is None else given
        task = replace(task, where=f"{name}task {item}: ", path="")
        if "annotations" in task or "predictions" in task:
            data = task["data"].record_or_nothing()
            log.describe(item, data, {"data": data, "meta": task["meta"].value})
            for annotation in _records(task["annotations"]):
                if not annotation["was_cancelled"].truth():
                    yield from _of_result(annotation["result"], item, _annotator(annotation["completed_by"]))
            for prediction in _records(task["predictions"]):
                yield from _of_result(prediction["result"], item, prediction["model_version"].text("prediction"))
        elif "annotator" in task:
            tags = _tags(list(task.value))
            log.describe(item, {key: task[key].value for key in task.value if key not in {*tags, *_ABOUT_ANNOTATION}})
            for tag in tags:
                kind, value = _of_cell(task[tag])
                yield Answer(tag, item, _annotator(task["annotator"]), value, kind)
        else:
            raise VotesError(f"{task.where}there are no 'annotations' and no 'annotator'; export as JSON or JSON-MIN")


def _tags(keys: list[str]) -> list[str]:
    """The tags of a JSON-MIN record: usually between "id" and "annotator", else anywhere after the first of these.

    >>> _tags(["text", "id", "label", "annotator"]), _tags(["text", "id", "annotator", "annotation_id", "label"])
    (['label'], ['label'])
    """
    places = {key: keys.index(key) for key in ("id", "annotator", "annotation_id") if key in keys}
    end = places["annotator"]
    start = min((place for key, place in places.items() if key != "annotator" and place < end), default=-1)
    between = [key for key in keys[start + 1 : end] if key not in _ABOUT_ANNOTATION]
    return between or [key for key in keys[min(places.values()) :] if key not in _ABOUT_ANNOTATION]


def _records(values: Node) -> Iterator[Node]:
    yield from (value for value in values.parts() if value.is_record)  # some exports hold only their numbers


def _of_result(result: Node, item: Any, juror: str) -> Iterator[Answer]:
    """Each control tag's value; a tag that appears twice labels parts of the item."""
    parts = [part for part in _records(result) if "from_name" in part]
    tags = [part["from_name"].text() for part in parts]
    for tag, part in zip(tags, parts, strict=True):
        kind, value = part["type"].text(), part["value"]
        if not value.is_record:
            raise value.wrong("a record")
        whole = tags.count(tag) == 1 and not _REGION & value.value.keys()
        yield Answer(tag, item, juror, _value(kind, value) if whole else None, kind if whole else "region")


def _value(kind: str, value: Node) -> Any:
    labels = value[_VALUES.get(kind, kind)]
    if kind == "taxonomy" and labels.is_list:
        return [
            "/".join(part.text() for part in path.parts()) if path.is_list else path.text() for path in labels.parts()
        ]
    if labels.is_list:
        return [label.text() for label in labels.parts()]
    return labels.single() if kind in _VALUES else labels.value


def _annotator(who: Node) -> str:
    """An address where the export has one, else "annotator 3"."""
    if who.is_record:
        who = who["email"] if who["email"].text() else who["id"]
    name = who.single()
    if name is None:
        raise who.wrong("who made the annotation")
    return f"annotator {name}" if isinstance(name, int) else str(name)


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
